//! Methods of `Option`, `Result` and `Ordering` by their paths, as calls and where a closure stands.

#[millstream::program]
pub mod program {
    use std::cmp::Ordering;

    fn half(n: u32) -> Result<u32, u8> {
        if n % 2 == 0 { Ok(n / 2) } else { Err(n as u8) }
    }

    #[task]
    pub fn asked(cells: [Option<u8>; 4]) -> (bool, bool, usize) {
        let sum = cells.iter().copied().map(Option::unwrap_or_default);
        (
            cells.iter().any(Option::is_none),
            Option::is_some(&cells[0]),
            sum.map(usize::from).sum(),
        )
    }

    #[task]
    pub fn halves(numbers: [u32; 3]) -> (bool, u32) {
        let even = numbers.iter().map(|n| half(*n)).all(|r| Result::is_ok(&r));
        let sum = numbers.iter().filter_map(|n| half(*n).ok());
        (even, sum.sum::<u32>() + Result::unwrap_or(half(numbers[0]), 100))
    }

    #[task]
    pub fn rises(numbers: [u32; 4]) -> (bool, Ordering) {
        let pairs = numbers.windows(2).map(|w| w[0].cmp(&w[1]));
        let rises = pairs.clone().all(Ordering::is_lt);
        (rises, Ordering::reverse(numbers[0].cmp(&numbers[3])))
    }
}

millstream_tests::cases! {
    asked([Some(3), None, Some(4), Some(1)]);
    asked([None, Some(5), Some(4), Some(1)]);
    halves([2, 4, 6]);
    halves([3, 4, 6]);
    rises([1, 2, 3, 4]);
    rises([4, 2, 3, 4]);
}
