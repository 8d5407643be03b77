//! What slices and arrays can do besides, and parts of parts.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug, PartialEq, Default)]
    pub struct Spot {
        pub at: [u8; 3],
        pub weight: f32,
    }

    #[task]
    pub fn rotate(data: &mut [u32], by: usize) {
        data.rotate_left(by);
        let (low, high) = data.split_at_mut(by);
        low.rotate_right(low.len() / 2);
        high[..].rotate_left(0);
    }

    #[task]
    pub fn rotate_spots(spots: &mut [Spot]) -> bool {
        let last = spots[spots.len() - 1];
        spots.rotate_right(1);
        spots[1..].contains(&last)
    }

    #[task]
    pub fn contains(data: &[u32], x: u32) -> (bool, bool, bool) {
        let pair = [[x, 1], [2, 3]];
        (data.contains(&x), data[..data.len() / 2].contains(&x), pair.contains(&[2, x]))
    }

    #[task]
    pub fn parts(data: &mut [u32], n: usize) -> (u32, u32, usize) {
        let rows = [[1, 2, 3], [4, 5, 6]];
        data[1..][0] += 10;
        data[2..][..n][1..][0] = 7;
        let tail = &mut data[1..][1..];
        tail[0] += 1;
        let mut copy = [0; 4];
        copy[..n][1..].copy_from_slice(&data[n..][..n - 1]);
        copy[..3][0] = 5;
        (data[1..][1], rows[1][1..][1] + copy[..2][1] + (&data[1..])[0], data[1..][1..=2].len())
    }

    #[task]
    pub fn taken(mut spot: Spot, counts: &mut [u32]) -> (Spot, Spot, u32) {
        let old = std::mem::take(&mut spot.at);
        let count = std::mem::take(&mut counts[0]);
        let whole = std::mem::take(&mut spot);
        (Spot { at: old, ..whole }, spot, count)
    }
}

use program::Spot;

millstream_tests::cases! {
    rotate(&mut vec![1, 2, 3, 4, 5, 6, 7], 3);
    rotate(&mut vec![1, 2, 3], 0);
    rotate(&mut vec![1, 2, 3], 3);
    rotate_spots(&mut vec![Spot { at: [1, 2, 3], weight: 1.5 }, Spot::default(), Spot { at: [1, 2, 3], weight: f32::NAN }]);
    rotate_spots(&mut vec![Spot { at: [1, 2, 3], weight: 1.5 }, Spot::default(), Spot { at: [1, 2, 3], weight: 1.5 }, Spot { at: [1, 2, 3], weight: 1.5 }]);
    contains(&[5, 6, 7, 3], 3);
    contains(&[3, 6, 7, 3], 3);
    contains(&[], 0);
    parts(&mut vec![1, 2, 3, 4, 5, 6], 3);
    taken(Spot { at: [1, 2, 3], weight: 1.5 }, &mut vec![9]);
}
