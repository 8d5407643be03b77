//! Ranges of literals in variables: what is done with them says what their numbers are.

#[millstream::program]
pub mod program {
    use std::ops::Range;

    fn width(of: Range<usize>) -> usize {
        of.end - of.start
    }

    #[task]
    pub fn indices(a: &[u32]) -> u32 {
        let r = 1..3;
        let mut sum = 0;
        for i in r {
            sum += a[i];
        }
        sum
    }

    /// As the places of a queue.
    #[task]
    pub fn queue(a: &[u64], n: usize) -> u64 {
        let mut waits = 0..1;
        let mut sum = 0;
        while let Some(at) = waits.next() {
            sum = sum * 3 + a[at];
            if waits.end < n {
                waits.end += 1;
            }
        }
        sum
    }

    #[task]
    pub fn parts(a: &[u32]) -> usize {
        let mut r = 0..3;
        r.end = a.len();
        let inner = 1..2;
        a[r.clone()].len() * 100 + r.start + width(inner.clone()) + a[inner].len()
    }

    #[task]
    pub fn asked(n: u64, x: i8) -> (bool, bool, bool) {
        let (small, closed) = (2..5, -3..=3);
        let other = 10..20;
        (small.contains(&n), closed.contains(&x), other.contains(&(n * 5)))
    }

    /// Sums of other types, and of what nothing says.
    #[task]
    pub fn sums() -> (i64, u8, i32, usize) {
        let (mut long, mut short) = (0i64, 0u8);
        let r = 0..40;
        for i in r {
            long += i * i;
        }
        let back = 1..=9;
        for i in back.rev() {
            short = short.wrapping_mul(3) + i;
        }
        let plain = 0..7;
        let mut all = 0;
        for i in plain {
            all += i;
        }
        let few = 0..6;
        (long, short, all, few.len())
    }
}

millstream_tests::cases! {
    indices(&[1, 20, 300, 4]);
    queue(&[3, 1, 4, 1, 5], 5);
    queue(&[3, 1, 4, 1, 5], 2);
    parts(&[1, 2, 3, 4, 5]);
    asked(4, -3);
    asked(2, 4);
    sums();
}
