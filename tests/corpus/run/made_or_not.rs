//! Which items are made where what makes them counts, or fails for those that are not to be made: beside others in a `zip`, left out, from behind, and asked for
//! their number.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU32, Ordering};

    fn bump(x: &mut u32) -> u32 {
        *x += 1;
        *x
    }

    /// Rust takes both sides by number where these are slices and ranges, and makes as many as there are pairs; else one more of the left ones.
    #[task]
    pub fn beside(a: &[u32]) -> (u32, [u32; 12]) {
        let (b, mut c, mut s) = ([1u32, 2], [0u32; 12], 0);
        let mut count = |at: usize, x: u32| { c[at] += 1; x };
        for (i, x) in (0..2u32).zip(a.iter().map(|x| count(0, *x))) { s += i + x; }
        for (i, x) in (0..=1u32).rev().zip(a.iter().map(|x| count(1, *x))) { s += i * x; }
        for (x, i) in a.iter().map(|x| count(2, *x)).zip(0..2u32) { s += i + x; }
        for (x, i) in a.iter().map(|x| count(3, *x)).zip(0..=1u32) { s += i + x; }
        for (x, y) in a.iter().map(|x| count(4, *x)).zip(&b) { s += x * y; }
        for (x, y) in a.iter().map(|x| count(5, *x)).zip(b) { s += x * y; }
        for (x, y) in (0..=3u32).map(|x| count(6, x)).zip(b.iter()) { s += x * y; }
        for (x, y) in (0..2u32).zip(a.iter().filter(|x| count(7, **x) > 1)) { s += x * y; }
        for (x, y) in a.iter().rev().map(|x| count(8, *x)).zip(b.iter()) { s += x * y; }
        for (x, y) in a.iter().map(|x| count(9, *x)).skip(1).zip(b.iter().rev()) { s += x * y; }
        for (x, y) in a.iter().map(|x| count(10, *x)).zip((0..9u32).take(2)) { s += x * y; }
        let mut pairs = a.iter().map(|x| count(11, *x)).zip(b);
        while let Some((x, y)) = pairs.next() { s += x * y; }
        (s, c)
    }

    /// What makes them on both sides does so in turn.
    #[task]
    pub fn in_turn(a: &[u32]) -> u32 {
        let order = AtomicU32::new(0);
        let note = |x: u32| {
            order.store(order.load(Ordering::Relaxed) * 10 + x, Ordering::Relaxed);
            x
        };
        let mut s = 0;
        for (x, y) in (5..9u32).map(|x| note(x)).zip(a.iter().map(|y| note(*y))) { s += x * y; }
        for (x, y) in (1..=2u32).map(|x| note(x)).zip(a.iter().map(|y| note(*y))) { s += x * y; }
        s + order.load(Ordering::Relaxed)
    }

    /// An index that is none fails only where its element is made.
    #[task]
    pub fn picked(a: &[u32], at: &[usize]) -> (u32, u32, u32, u32) {
        let ranks: u32 = (0..2u32).zip(at.iter().map(|i| a[*i])).map(|(i, x)| i * 10 + x).sum();
        let scaled: u32 = at.iter().map(|i| a[*i]).zip(1..3u32).map(|(x, i)| i * x).sum();
        let mut skipped = at.iter().map(|i| a[*i]).skip(1);
        let mut stepped = at[..2].iter().map(|i| a[*i]).step_by(2);
        (ranks, scaled, skipped.next().unwrap_or(0), stepped.next_back().unwrap_or(0))
    }

    #[task]
    pub fn left_out(n: u32) -> [[u32; 7]; 5] {
        let mut all = [[1, 2, 3, 4, 5, 6, n]; 5];
        let mut it = all[0].iter_mut().map(bump).skip(2);
        let x = it.next().unwrap_or(0);
        all[0][6] += x;
        let mut it = all[1].iter_mut().map(bump).step_by(2);
        let x = it.next().unwrap_or(0) + 10 * it.next().unwrap_or(0);
        all[1][6] += x;
        let mut it = all[2].iter_mut().map(bump).skip(2);
        let x = it.next_back().unwrap_or(0) + 10 * it.next().unwrap_or(0);
        all[2][6] += x;
        let mut it = all[3].iter_mut().map(bump).step_by(3);
        let x = it.next_back().unwrap_or(0) + 10 * it.next().unwrap_or(0) + 100 * it.next_back().unwrap_or(0);
        all[3][6] += x;
        let mut it = all[4].iter_mut().map(bump).take(3);
        let x = it.next_back().unwrap_or(0) + 10 * it.next().unwrap_or(0);
        all[4][6] += x;
        all
    }

    /// A number of items is known without any.
    #[task]
    pub fn numbers(a: &[u32]) -> (usize, usize, usize, u32, u32) {
        let mut c = 0;
        let mut it = a.iter().map(|x| { c += 1; *x });
        let mut sum = it.len() * 100 + it.next().unwrap_or(0) as usize + it.len();
        sum += it.len();
        let more = a.iter().inspect(|_| c += 10).enumerate().rev().len() + (0..5usize).map(|x| { c += 10; x }).step_by(2).len();
        let pairs = a.iter().map(|x| { c += 100; *x }).skip(1).zip([1, 2]).len();
        let behind = a.iter().map(|x| { c += 1000; *x }).skip(2).rev().fold(0, |s, x| s * 10 + x);
        let stepped = a.iter().map(|x| { c += 10_000; *x }).step_by(3).rev().fold(0, |s, x| s * 10 + x) + (1..9u32).map(|x| x * x).step_by(3).rev().fold(0, |s, x| s * 10 + x);
        (sum, more, pairs, behind + stepped, c)
    }
}

millstream_tests::cases! {
    beside(&[1, 2, 3, 4]);
    beside(&[2]);
    in_turn(&[1, 2, 3, 4]);
    picked(&[1, 2, 3, 4], &[3, 0]);
    picked(&[1, 2, 3, 4], &[3, 0, 9]);
    left_out(7);
    numbers(&[1, 2, 3, 4]);
    numbers(&[]);
}
