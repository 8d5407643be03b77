//! Iterators beside others: compared where one of them cannot be taken one by one, in order, and beside a range that has a name.
#[millstream::program]
pub mod program {
    use std::ops::Range;

    #[derive(Clone, Copy)]
    struct Odd(u32);

    impl Iterator for Odd {
        type Item = u32;

        fn next(&mut self) -> Option<u32> {
            self.0 += 2;
            Some(self.0)
        }
    }

    /// The lengths of runs of ones.
    fn has_runs(row: u32, runs: &[u8]) -> bool {
        let ended = (0..=8).scan(0u8, |run, i| {
            let was = *run;
            *run = if row >> i & 1 == 1 { was + 1 } else { 0 };
            Some(if *run == 0 { was } else { 0 })
        });
        ended.filter(|&run| run > 0).eq(runs.iter().copied())
    }

    #[task]
    pub fn rows(runs: &[u8]) -> u32 {
        (0..256).filter(|&row| has_runs(row, runs)).map(|row| row + 1).sum()
    }

    #[task]
    pub fn number(numbers: Range<usize>, out: &mut [usize]) -> usize {
        if numbers.len() > 2 {
            let (low, high) = out.split_at_mut(numbers.len() / 2);
            let middle = numbers.start + low.len();
            let (a, b) = (spawn!(number(numbers.start..middle, low)), spawn!(number(middle..numbers.end, high)));
            sync!();
            return a + b;
        }
        for (i, slot) in numbers.clone().zip(out.iter_mut()) {
            *slot = i * i;
        }
        numbers.zip(out.iter()).map(|(i, x)| i + x).sum()
    }

    #[task]
    pub fn compared(a: &[u32], from: u32) -> (u32, u32, [bool; 6]) {
        let odd = Odd(from);
        let each = |a: &[u32], by: u32| a.iter().take(3).map(|x| x * by).sum::<u32>();
        let nested = a.iter().flat_map(|x| 0..*x);
        let same = [
            a.iter().copied().eq(odd.take(a.len())),
            odd.skip(1).take(2).lt([from + 4, from + 7]),
            nested.clone().eq([0, 0, 1, 0, 1, 2]),
            nested.clone().partial_cmp([0, 0, 2]) == Some(std::cmp::Ordering::Less),
            a.iter().rev().is_sorted(),
            a.iter().map(|x| x / 2).is_sorted(),
        ];
        (each(a, 2), nested.count() as u32, same)
    }

    fn filled<T: From<u8> + Copy, const N: usize>(with: u8) -> [T; N] {
        [T::from(with); N]
    }

    fn ends(a: &[u64; 3]) -> u64 {
        a[0] + a[2]
    }

    /// What a function gives, as far as only its use says what that is.
    #[task]
    pub fn arrays(n: u8) -> (u64, i64) {
        let (x, y): ([i64; 2], _) = (filled(n), filled(n + 1));
        let z = filled(3);
        (ends(&y) + ends(&z), x[1])
    }
}
millstream_tests::cases! {
    rows(&vec![2, 1]);
    rows(&vec![]);
    number(3..14, &mut vec![0; 11]);
    compared(&vec![3, 5, 7], 1);
    compared(&vec![1, 2, 3], 0);
    compared(&vec![], 4);
    arrays(7);
}
