//! Ranges with their end and without that are held in variables: in a `for`, as arguments, and what is asked of them.

#[millstream::program]
pub mod program {
    use std::ops::{Range, RangeInclusive};

    fn sum(r: RangeInclusive<u32>) -> u32 {
        let mut s = 0;
        for i in r {
            s += i;
        }
        s
    }

    fn len(r: &Range<u32>) -> usize {
        r.len()
    }

    fn has(r: &RangeInclusive<i32>, x: i32) -> bool {
        r.contains(&x) && !r.is_empty()
    }

    #[task]
    pub fn ranges(n: u32) -> [u32; 9] {
        let r = 1..=n;
        let q = 2..n;
        let mut s = 0;
        for i in r.clone() {
            s += i;
        }
        let mut t = 0;
        for i in q.clone().rev().step_by(2) {
            t = t * 3 + i;
        }
        let mut u = 0;
        for i in r.clone().rev() {
            u = u * 2 + i;
        }
        let both = r.contains(&3) as u32 + 2 * q.contains(&n) as u32 + 4 * r.is_empty() as u32;
        let of = -3..=n as i32;
        let held = has(&of, -3) as u32 + 2 * has(&of, n as i32) as u32 + 4 * has(&of, n as i32 + 1) as u32;
        let window = (q.clone(), 0..=u32::MAX);
        let len = len(&window.0) as u32 + window.1.contains(&n) as u32;
        [s, t, u, both, *r.start() + 10 * *r.end(), sum(r.clone()), sum(0..=n), held, len]
    }
}

millstream_tests::cases! {
    ranges(0);
    ranges(7);
}
