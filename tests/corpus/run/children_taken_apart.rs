//! Children's results that an assignment takes, and elements of one that a pattern leaves out.

#[millstream::program]
pub mod program {
    #[task]
    pub fn least(n: i32) -> i32 {
        n.min(7) * 3
    }

    #[task]
    pub fn sorted(a: [u8; 4]) -> [u8; 4] {
        let mut b = a;
        b.sort();
        b
    }

    #[derive(Clone, Copy, Default)]
    struct Kept {
        n: i32,
        all: [i32; 3],
    }

    #[task]
    pub fn apart(n: i32) -> (i32, i32, u32) {
        let (mut a, mut b, mut c) = (0, 0, 0);
        let mut kept = Kept::default();
        if n > 0 {
            (a, b) = (spawn!(least(n)), spawn!(least(n + 1)));
            [kept.n, kept.all[1]] = [spawn!(least(n)), if n > 3 { spawn!(least(2)) } else { n }];
            (_, c) = (spawn!(least(n)), 4);
        }
        let [x, y, ..] = spawn!(sorted([n as u8, 3, 1, 9]));
        let [.., z] = spawn!(sorted([2, 8, n as u8, 1]));
        let [w, _, .., v] = spawn!(sorted([6, 5, 4, 7]));
        sync!();
        (a * 100 + b, kept.n + kept.all[1] * 10 + c, x as u32 * 10 + y as u32 + z as u32 * 100 + (w + v) as u32 * 1000)
    }
}

millstream_tests::cases! {
    apart(0);
    apart(2);
    apart(8);
}
