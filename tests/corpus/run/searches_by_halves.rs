//! Searches by halves: which of equal elements they find, what they ask, and selections without a branch.

#[millstream::program]
pub mod program {
    use std::hint::select_unpredictable;

    /// Where each of the numbers up to `most` is, by each search, mixed into one.
    #[task]
    pub fn found(data: &[u32], most: u32) -> (u64, u64, u64, u64) {
        let (mut plain, mut by, mut key, mut parts) = (1u64, 1u64, 1u64, 1u64);
        for x in 0..=most {
            let number = |r: Result<usize, usize>| match r {
                Ok(i) => 2 * i as u64,
                Err(i) => 2 * i as u64 + 1,
            };
            plain = plain.wrapping_mul(31) ^ number(data.binary_search(&x));
            by = by.wrapping_mul(31) ^ number(data.binary_search_by(|y| (y / 2).cmp(&x)));
            key = key.wrapping_mul(31) ^ number(data.binary_search_by_key(&x, |y| y / 3));
            parts = parts.wrapping_mul(31) ^ data.partition_point(|&y| y < x) as u64;
        }
        (plain, by, key, parts)
    }

    /// What a search asks, in order.
    #[task]
    pub fn asked(data: &[u32], x: u32) -> (usize, u32, u64) {
        let (mut turns, mut seen) = (0, 0u64);
        let at = data.partition_point(|&y| {
            turns += 1;
            seen = seen.wrapping_mul(1000) + y as u64;
            y <= x
        });
        (at, turns, seen)
    }

    fn search(data: &[u32], x: u32) -> Option<usize> {
        let at = data.partition_point(|&y| y + 1 < x + 1);
        (data.get(at)? == &x).then_some(at)
    }

    #[task]
    pub fn chosen(a: i32, b: i32, data: &[u32]) -> (i32, f64, (u8, bool), Option<usize>, u32) {
        let least = select_unpredictable(a < b, a, b);
        let float = std::hint::select_unpredictable(a > b, 1.5, a as f64);
        let pair = select_unpredictable(least == a, (1, a > 3), (2, false));
        let mut count = 0;
        for x in data {
            count = select_unpredictable(*x % 3 == 1, count + x, count);
        }
        (least, float, pair, search(data, a as u32), count)
    }
}

millstream_tests::cases! {
    found(&[], 3);
    found(&[2], 3);
    found(&[1, 1, 1, 1, 1], 2);
    found(&[0, 2, 2, 2, 3, 5, 5, 9, 9, 9, 9, 9, 12], 14);
    found(&(0..97).map(|i| i * i / 50).collect::<Vec<u32>>(), 190);
    asked(&[], 3);
    asked(&[7], 7);
    asked(&(0..61).collect::<Vec<u32>>(), 44);
    chosen(3, 9, &[1, 3, 4]);
    chosen(9, -3, &[1, 3, 9, 13]);
}
