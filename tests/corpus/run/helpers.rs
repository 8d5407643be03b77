//! Helpers: recursive, mutually recursive, with results of every kind.

#[millstream::program]
pub mod program {
    fn ackermann(m: u32, n: u32) -> u32 {
        if m == 0 {
            n + 1
        } else if n == 0 {
            ackermann(m - 1, 1)
        } else {
            ackermann(m - 1, ackermann(m, n - 1))
        }
    }

    fn even(n: u32) -> bool {
        n == 0 || odd(n - 1)
    }

    fn odd(n: u32) -> bool {
        n != 0 && even(n - 1)
    }

    fn gcd(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { gcd(b, a % b) }
    }

    fn min_max(s: &[i32]) -> (i32, i32) {
        let mut out = (i32::MAX, i32::MIN);
        for &x in s {
            out = (out.0.min(x), out.1.max(x));
        }
        out
    }

    fn squares() -> [u32; 4] {
        let mut out = [0; 4];
        for i in 0..4 {
            out[i] = (i * i) as u32;
        }
        out
    }

    #[task]
    pub fn all(s: &[i32]) -> (u32, bool, u64, (i32, i32), [u32; 4]) {
        (ackermann(2, 3), even(101), gcd(48, 180), min_max(s), squares())
    }
}

millstream_tests::cases! {
    all(&[4, -7, 9]);
}
