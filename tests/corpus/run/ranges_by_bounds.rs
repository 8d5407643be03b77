//! Ranges of either kind for one parameter.

#[millstream::program]
pub mod program {
    use std::ops::{Range, RangeBounds};
    fn count(values: &[u32], within: impl RangeBounds<u32>) -> usize {
        values.iter().filter(|x| within.contains(*x)).count()
    }
    fn total<R>(values: &[i64], within: &R) -> i64
    where
        R: RangeBounds<i64>,
    {
        let mut sum = 0;
        for x in values {
            if within.contains(x) {
                sum += x;
            }
        }
        sum
    }
    fn first<T: Copy + PartialOrd, R: RangeBounds<T>>(values: &[T], within: R) -> Option<usize> {
        values.iter().position(|x| within.contains(x))
    }
    #[task]
    pub fn ranges(n: u32, low: i64) -> (usize, usize, i64, Option<usize>, Option<usize>) {
        let values = [n, 1, 9, n / 2, 4, 7];
        let signed = [low, -3, 5, low * 2, 8];
        let span: Range<u32> = n / 2..n;
        (
            count(&values, 2..=7),
            count(&values, span),
            total(&signed, &(low..6)),
            first(&values, 5..8),
            first(&[0.5, 2.5, n as f64], 2.0..=3.0),
        )
    }
}

millstream_tests::cases! {
    ranges(6, -4);
    ranges(0, 0);
    ranges(20, 3);
}
