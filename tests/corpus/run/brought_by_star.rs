//! Names of Rust's library that a `use` with `*` brings in, or one by name; arrays that take a value apart; a task by its path.

#[millstream::program]
pub mod program {
    use std::cmp::*;
    use std::f64::consts::*;
    use std::mem::*;
    use std::ops::*;

    mod within {
        use std::iter::{once, successors};
        use std::array::*;

        pub fn powers(n: u32) -> u64 {
            let all = successors(Some(1u64), |x| (*x < 1000).then(|| x * 3));
            let cubes: [u64; 4] = from_fn(|i| (i * i * i) as u64);
            all.chain(once(n as u64)).sum::<u64>() + cubes[3] + once(n).map(|x| x as u64).sum::<u64>()
        }
    }

    /// What the program has of its own goes first.
    fn take(n: u32) -> u32 {
        n + 1
    }

    fn long(r: Range<u32>) -> u32 {
        r.end - r.start
    }

    #[task]
    pub fn twice(n: u32) -> u32 {
        2 * n
    }

    #[task]
    pub fn angles(x: f64) -> f64 {
        (x * PI).sin() + FRAC_PI_2 * E + LOG2_10 - FRAC_2_SQRT_PI
    }

    #[task]
    pub fn numbers(n: u32) -> (u32, u32, u64, u64, i32) {
        let least = if n.cmp(&3) == Ordering::Less { min(n, 2) } else { max(n, 7) };
        let mut a = 1;
        let old = replace(&mut a, n);
        let child = spawn!(self::twice(n));
        let mut pair = [1u64, 1];
        for _ in 0..n % 40 {
            [pair[0], pair[1]] = [pair[1], pair[0] + pair[1]];
        }
        let (mut c, mut d) = (3, -4);
        [c, _, d] = [d, 9, c - d];
        sync!();
        let wide: Option<u64> = (n > 5).then_some(n.into());
        let each: [u64; 3] = [n, 2, a].map(|x| x.into());
        let letter = 'z' as u32 + b'\n' as u32 + ('a' as u8) as u32;
        (
            take(least) + old + child + letter,
            long(3..n + 4),
            within::powers(n) + wide.unwrap_or(1) + each[2],
            pair[1],
            c * 100 + d,
        )
    }
}

millstream_tests::cases! {
    angles(0.25);
    numbers(2);
    numbers(11);
}
