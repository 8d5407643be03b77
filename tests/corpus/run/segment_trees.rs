//! A segment tree with lazy sums, and merging of intervals.
#[millstream::program]
pub mod program {
    use std::ops::Range;

    const SIZE: usize = 16;

    trait Monoid: Copy {
        const IDENTITY: Self;
        fn combine(self, other: Self) -> Self;
    }

    #[derive(Clone, Copy)]
    struct Sum(i64);
    #[derive(Clone, Copy)]
    struct Max(i64);

    impl Monoid for Sum {
        const IDENTITY: Self = Sum(0);
        fn combine(self, other: Self) -> Self {
            Sum(self.0 + other.0)
        }
    }

    impl Monoid for Max {
        const IDENTITY: Self = Max(i64::MIN);
        fn combine(self, other: Self) -> Self {
            Max(self.0.max(other.0))
        }
    }

    struct SegmentTree<M: Monoid> {
        nodes: [M; 2 * SIZE],
    }

    impl<M: Monoid> SegmentTree<M> {
        fn build(values: &[i64], make: impl Fn(i64) -> M) -> Self {
            let mut nodes = [M::IDENTITY; 2 * SIZE];
            for (i, &v) in values.iter().enumerate() {
                nodes[SIZE + i] = make(v);
            }
            for i in (1..SIZE).rev() {
                nodes[i] = nodes[2 * i].combine(nodes[2 * i + 1]);
            }
            Self { nodes }
        }

        fn query(&self, range: Range<usize>) -> M {
            let (mut lo, mut hi) = (range.start + SIZE, range.end + SIZE);
            let (mut left, mut right) = (M::IDENTITY, M::IDENTITY);
            while lo < hi {
                if lo % 2 == 1 {
                    left = left.combine(self.nodes[lo]);
                    lo += 1;
                }
                if hi % 2 == 1 {
                    hi -= 1;
                    right = self.nodes[hi].combine(right);
                }
                lo /= 2;
                hi /= 2;
            }
            left.combine(right)
        }
    }

    fn merged(intervals: &mut [(u32, u32)]) -> usize {
        intervals.sort();
        let mut count = 0;
        let mut end = None;
        for &(lo, hi) in intervals.iter() {
            match end {
                Some(e) if lo <= e => end = Some(e.max(hi)),
                _ => {
                    count += 1;
                    end = Some(hi);
                }
            }
        }
        count
    }

    #[task]
    pub fn queries(values: &[i64]) -> (i64, i64, usize) {
        let sums = SegmentTree::build(values, Sum);
        let maxima = SegmentTree::build(values, |v| Max(v));
        let mut spans = [(5, 8), (1, 3), (2, 4), (10, 12), (8, 9)];
        (sums.query(2..values.len()).0, maxima.query(0..3).0, merged(&mut spans))
    }

    #[task]
    pub fn halves(values: &[i64]) -> i64 {
        let (a, b) = values.split_at(values.len() / 2);
        let (x, y, _) = spawn!(queries(a));
        let (z, w, _) = spawn!(queries(b));
        sync!();
        x + y - z + w
    }
}
millstream_tests::cases! {
    queries(&[3, 1, 4, 1, 5, 9, 2, 6]);
    halves(&[3, 1, 4, 1, 5, 9, 2, 6]);
}
