//! Structs that gather: operators which combine field by field, in the ways in which numbers gather.

#[millstream::program]
pub mod program {
    use std::ops::{Add, AddAssign, BitOr, BitOrAssign};

    /// What was found in a part of the search.
    #[derive(Clone, Copy, PartialEq, Debug, Default)]
    pub struct Tally {
        pub solutions: u64,
        pub dead_ends: u32,
        pub best: i16,
        pub any_odd: bool,
    }

    impl AddAssign for Tally {
        fn add_assign(&mut self, other: Self) {
            self.solutions += other.solutions;
            self.dead_ends = self.dead_ends + other.dead_ends;
            self.best = self.best.max(other.best);
            self.any_odd |= other.any_odd;
        }
    }

    impl Add for Tally {
        type Output = Tally;
        fn add(mut self, other: Tally) -> Tally {
            self += other;
            self
        }
    }

    /// Queens: a loop with as many children as there are places, each of which may be the end.
    #[task]
    pub fn queens(all: u32, columns: u32, left: u32, right: u32, depth: i16) -> Tally {
        if columns == all {
            return Tally { solutions: 1, best: depth, any_odd: left % 2 == 1, ..Tally::default() };
        }
        let mut free = all & !(columns | left | right);
        if free == 0 {
            return Tally { solutions: 0, dead_ends: 1, best: depth, any_odd: false };
        }
        let mut tally = Tally::default();
        while free != 0 {
            let queen = free & free.wrapping_neg();
            free ^= queen;
            tally += spawn!(queens(all, columns | queen, (left | queen) << 1, (right | queen) >> 1, depth + 1));
        }
        sync!();
        tally
    }

    /// The same in other words: `x = x + ..`, rounds with a sync, what is there before the children, and a call.
    #[task]
    pub fn rounds(n: u32) -> Tally {
        let mut tally = Tally { solutions: 5, dead_ends: 0, best: -3, any_odd: false };
        for round in 0..n {
            for size in 1..4 {
                if (round + size) % 3 == 0 {
                    continue;
                }
                tally = tally + spawn!(queens((1 << size) - 1, 0, 0, 0, round as i16));
            }
            if round % 2 == 0 {
                tally += spawn!(queens(31, 0, 0, 0, -9));
                sync!();
                tally.solutions %= 1000;
            }
        }
        sync!();
        tally + queens(15, 0, 0, 0, 1)
    }

    /// Least and greatest of what there is, a struct in a struct, a struct without names and a tuple.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Span(pub f32, pub f32);

    impl BitOr for Span {
        type Output = Self;
        fn bitor(self, other: Self) -> Self {
            Self(self.0.min(other.0), f32::max(other.1, self.1))
        }
    }

    impl BitOrAssign for Span {
        fn bitor_assign(&mut self, other: Self) {
            *self = *self | other;
        }
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Facts {
        pub span: Span,
        pub counts: (u8, u16),
        pub bits: u64,
        pub all: bool,
    }

    impl BitOrAssign for Facts {
        fn bitor_assign(&mut self, f: Facts) {
            self.span |= f.span;
            self.counts.0 = f.counts.0.wrapping_add(self.counts.0);
            self.counts.1 ^= f.counts.1;
            self.bits &= f.bits;
            self.all = self.all && f.all;
        }
    }

    const NOTHING: Facts = Facts { span: Span(f32::INFINITY, f32::NEG_INFINITY), counts: (0, 0), bits: !0, all: true };

    #[task]
    pub fn facts(data: &[f32]) -> Facts {
        if let [x] = data {
            let n = *x as u64;
            return Facts { span: Span(*x, *x), counts: (1, n as u16), bits: n | 8, all: *x > 2.0 };
        }
        let mut all = NOTHING;
        for part in data.chunks((data.len() / 3).max(1)) {
            all |= match part {
                [_, rest @ ..] if rest.len() > 4 => spawn!(facts(rest)),
                part => spawn!(facts(part)),
            };
        }
        sync!();
        all
    }

    /// In fields, in elements, and behind `&mut`; of a part of a result.
    #[derive(Clone, Copy, PartialEq, Debug, Default)]
    pub struct Pair<T> {
        pub a: T,
        pub b: T,
    }

    impl<T: Add<Output = T>> Add for Pair<T> {
        type Output = Self;
        fn add(self, o: Self) -> Self {
            Pair { a: self.a + o.a, b: self.b + o.b }
        }
    }

    impl AddAssign for Pair<u32> {
        fn add_assign(&mut self, o: Pair<u32>) {
            *self = *self + o;
        }
    }

    #[task]
    pub fn split(n: u32) -> (Pair<u32>, u64) {
        let mut sum = Pair { a: n % 3, b: 1 };
        for i in 1..n.min(4) {
            sum += spawn!(split(n - i - 1)).0;
        }
        sync!();
        (sum, n as u64)
    }

    #[task]
    pub fn pair(n: u32) -> Pair<u32> {
        let (pair, _) = spawn!(split(n));
        sync!();
        pair
    }

    #[task]
    pub fn places(n: u32, out: &mut [Pair<u32>]) -> Pair<u32> {
        let mut kept: [Pair<u32>; 3] = [Pair::default(); 3];
        let mut both: (Pair<u32>, u64) = (Pair { a: 1, b: 2 }, 7);
        for i in 0..n {
            kept[i as usize % 3] += spawn!(pair(i));
            out[i as usize % 2] += spawn!(pair(i + 1));
            both.0 += spawn!(pair(3));
        }
        sync!();
        kept[0] + kept[1] + kept[2] + both.0
    }

    /// Many children of one task, which only spawns.
    #[task]
    pub fn one(n: u32) -> Tally {
        Tally { solutions: n as u64 % 7, dead_ends: n & 1, best: (n % 1000) as i16, any_odd: n == 77 }
    }

    #[task]
    pub fn many(n: u32) -> Tally {
        let mut tally = Tally::default();
        for i in 0..n {
            tally += spawn!(one(i));
        }
        sync!();
        tally
    }
}

millstream_tests::cases! {
    queens(1, 0, 0, 0, 0);
    queens(15, 0, 0, 0, 2);
    queens(255, 0, 0, 0, 0);
    rounds(0);
    rounds(5);
    facts(&[3.0, 1.5, 9.0, 4.0, -2.0, 7.0, 8.0, 2.5, 6.0, 11.0, 13.0]);
    facts(&[3.0]);
    pair(0);
    pair(11);
    places(3, &mut [program::Pair { a: 1, b: 2 }, program::Pair { a: 3, b: 4 }]);
    places(9, &mut [program::Pair { a: 1, b: 2 }, program::Pair { a: 3, b: 4 }]);
    many(0);
    many(70);
    many(3000);
}
