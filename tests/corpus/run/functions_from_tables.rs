//! Functions out of tables and fields, given to what ends a chain.

#[millstream::program]
pub mod program {
    fn add(a: u32, b: u32) -> u32 {
        a + b
    }

    fn join(a: u32, b: u32) -> u32 {
        a * 3 + b
    }

    fn is_odd(x: u32) -> bool {
        x % 2 == 1
    }

    fn is_large(x: u32) -> bool {
        x > 3
    }

    fn half(x: &u32) -> u32 {
        x / 2
    }

    fn low(x: &u32) -> u32 {
        x % 4
    }

    const STEPS: [fn(u32, u32) -> u32; 2] = [add, join];

    #[derive(Clone, Copy)]
    struct Rule {
        step: fn(u32, u32) -> u32,
        test: fn(u32) -> bool,
    }

    #[task]
    pub fn folded(n: u32, i: usize) -> (u32, u32, u32) {
        let steps = [join, add];
        let rule = Rule { step: STEPS[i], test: if i == 0 { is_odd } else { is_large } };
        let keys: [fn(&u32) -> u32; 2] = [half, low];
        let folded = (1..n).fold(n, STEPS[i]);
        let reduced = (1..n).reduce(steps[i]).unwrap_or(0) + [n, 2, 3].into_iter().map(|x| x + 1).reduce(rule.step).unwrap_or(9);
        let found = (0..n).any(rule.test) as u32 + (0..n).position(rule.test).map_or(50, |i| i as u32) + (0..n).max_by_key(keys[i]).unwrap_or(7);
        (folded, reduced, found)
    }
}

millstream_tests::cases! {
    folded(5, 0);
    folded(6, 1);
    folded(0, 1);
}
