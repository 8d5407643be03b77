//! Items of ranges with their last, and of what is turned, taken one by one; parts of slices by such ranges.

#[millstream::program]
pub mod program {
    #[task]
    pub fn closed(n: u32) -> (u32, u32, usize, u8, u32, u32, i32) {
        let mut r = 1..=n;
        let mut s = 0;
        while let Some(x) = r.next() {
            s = s * 2 + x;
            if x % 3 == 0 {
                if let Some(y) = r.next_back() {
                    s += y * 100;
                }
            }
        }
        let mut full = 0u8..=255;
        let first = full.nth(254).unwrap();
        let last = full.next().unwrap();
        let none = full.next().is_none();
        let a = [5u8, 6, 7, 8];
        let part = a.get(1..=2).map_or(99, |p| p.len())
            + a.get(..=3).map_or(9, <[u8]>::len) * 10
            + a.get(2..=4).map_or(7, |p| p.len()) * 100
            + a.get(3..=2).map_or(7, |p| p.len()) * 1000
            + a.get(4..=3).map_or(7, |p| p.len()) * 10000
            + a.get(0..=usize::MAX).map_or(3, |p| p.len()) * 100000;
        let mut it = (1..=n).rev().step_by(2).peekable();
        let mut t = 0;
        while let Some(v) = it.next() {
            t = t * 3 + v;
            if it.peek() == Some(&1) {
                t += 50;
            }
        }
        let mut ys = (-3..=3i32).filter(|x| x % 2 != 0);
        let y = ys.next().unwrap() * 100 + ys.next_back().unwrap() * 10 + ys.sum::<i32>();
        let mut z = (0..=n).zip(5..=9u32).map(|(a, b)| a * b);
        let u = z.by_ref().take(2).sum::<u32>() + z.next().unwrap_or(1000) * 7;
        (
            s,
            t,
            part,
            first ^ last ^ none as u8,
            u,
            r.is_empty() as u32,
            y,
        )
    }
    #[task]
    pub fn turned(n: u32) -> (u32, u32, u32, u32) {
        let a = [3u32, 1, 4, 1, 5, 9];
        let mut it = (0..n).rev();
        let x = it.next().unwrap() + it.by_ref().take(2).sum::<u32>() * 10;
        let y: u32 = it.map(|v| v * v).sum();
        let mut e = a.iter().map(|&v| v + n).rev().enumerate();
        let z = e.next().map_or(0, |(i, v)| i as u32 + v) + e.nth(1).unwrap().1;
        let mut f = (0..=n).rev().filter(|v| v % 2 == 0).map(|v| v + 1);
        let mut w = 0;
        while let Some(v) = f.next() {
            w = w * 7 + v;
        }
        (x, y, z, w)
    }
}

millstream_tests::cases! {
    closed(9);
    closed(2);
    turned(9);
    turned(2);
}
