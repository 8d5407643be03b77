//! Ranges and the program's own iterators behind `&mut`, of which a function takes some items and leaves the others.

#[millstream::program]
pub mod program {
    use std::ops::{Range, RangeInclusive};

    #[derive(Clone)]
    struct Countdown(u32);

    impl Iterator for Countdown {
        type Item = u32;

        fn next(&mut self) -> Option<u32> {
            self.0 = self.0.checked_sub(1)?;
            Some(self.0)
        }
    }

    fn third(r: &mut Range<u32>) -> u32 {
        r.nth(2).unwrap_or(99)
    }

    fn has_four(r: &mut Range<u32>) -> bool {
        r.any(|x| x == 4)
    }

    fn two(r: &mut Range<u32>) -> u32 {
        r.by_ref().take(2).sum::<u32>() * 10 + r.next().unwrap_or(7)
    }

    fn searched(r: &mut Range<u32>) -> u32 {
        let found = r.find(|x| x % 3 == 2).unwrap_or(9);
        found * 100 + r.position(|x| x > 8).map_or(80, |i| i as u32) + u32::from(r.all(|x| x < 12))
    }

    fn closed(r: &mut RangeInclusive<u32>) -> u32 {
        r.nth(1).unwrap_or(99)
    }

    fn own(r: &mut Countdown) -> u32 {
        let mut sum = r.by_ref().take(2).sum::<u32>() * 10;
        for x in r.by_ref() {
            sum += x;
            if x < 3 {
                break;
            }
        }
        sum + r.nth(0).unwrap_or(50)
    }

    /// What runs beside them takes as many as it needs, and one more if it stands in front.
    #[task]
    pub fn beside(a: &[u32], n: u32) -> (u32, u32, u32, u32) {
        let (mut r, mut c, mut s) = (0..n, Countdown(n), 0);
        for (x, y) in a.iter().zip(r.by_ref()) {
            s += x * y;
        }
        let behind = r.start;
        for (x, y) in r.by_ref().zip(a) {
            s += x * y;
        }
        for (x, y) in a.iter().zip(c.by_ref()) {
            s += x * y;
        }
        (s, behind, r.start, c.0)
    }

    #[task]
    pub fn taken(n: u32) -> (u32, u32, u32, u32) {
        let (mut r, mut s, mut c) = (0..n, 0..=n, Countdown(n));
        let first = third(&mut r) * 10 + u32::from(has_four(&mut r));
        let next = two(&mut r);
        let more = searched(&mut r);
        (first, next * 1000 + more, closed(&mut s) + s.next().unwrap_or(40) * 100, own(&mut c) + 1000 * c.0)
    }
}

millstream_tests::cases! {
    beside(&[1, 2, 3], 9);
    beside(&[1, 2, 3], 4);
    taken(15);
    taken(9);
    taken(2);
}
