//! Tasks that are given ranges, and divide them.
#[millstream::program]
pub mod program {
    use std::ops::{Range, RangeInclusive};

    /// Of numbers whose digits in base 3 are all below 2.
    #[task]
    pub fn sparse(numbers: Range<u32>) -> usize {
        if numbers.len() <= 5 {
            let is_sparse = |n: &u32| std::iter::successors(Some(*n), |n| (*n > 2).then_some(n / 3)).all(|digit| digit % 3 < 2);
            return numbers.filter(is_sparse).count();
        }
        let middle = numbers.start.midpoint(numbers.end);
        let low = spawn!(sparse(numbers.start..middle));
        let high = spawn!(sparse(middle..numbers.end));
        sync!();
        low + high
    }

    #[task]
    pub fn inside(xs: Range<i32>, ys: RangeInclusive<i32>, within: i64) -> u64 {
        if xs.is_empty() || ys.is_empty() {
            return 0;
        }
        if xs.len() <= 2 && ys.end() - ys.start() <= 2 {
            let mut count = 0;
            for x in xs {
                count += ys.clone().filter(|y| i64::from(x * x + y * y) < within).count() as u64;
            }
            return count;
        }
        let (x, y) = (xs.start + (xs.end - xs.start) / 2, ys.start() + (ys.end() - ys.start()) / 2);
        let mut count = 0;
        for left in [true, false] {
            let part = if left { xs.start..x } else { x..xs.end };
            count += spawn!(inside(part.clone(), *ys.start()..=y, within));
            count += spawn!(inside(part, y + 1..=*ys.end(), within));
        }
        sync!();
        count
    }

    /// Among the elements of a part.
    #[task]
    pub fn greatest(a: &[i16], part: Range<usize>) -> Option<(i16, usize)> {
        let Range { start, end } = part.clone();
        match part.len() {
            0 => None,
            1..=3 => part.map(|i| (a[i], i)).max(),
            n => {
                let low = spawn!(greatest(a, start..start + n / 2));
                let high = spawn!(greatest(a, start + n / 2..end));
                sync!();
                low.max(high)
            }
        }
    }
}
millstream_tests::cases! {
    sparse(0..100);
    sparse(7..7);
    inside(-4..6, -5..=5, 17);
    inside(3..1, 0..=0, 17);
    greatest(&vec![3, -1, 9, 4, 9, 2, 0], 1..6);
    greatest(&vec![], 0..0);
}
