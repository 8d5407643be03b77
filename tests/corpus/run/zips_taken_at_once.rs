//! `zip` ended by what takes all of its items: of sides whose numbers Rust knows it makes as many as there are pairs, and else one more of the left ones.

#[millstream::program]
pub mod program {
    fn bump(x: &mut u32) -> u32 {
        *x += 1;
        *x
    }

    fn shares<'a>(a: &'a [u32], b: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
        a.iter().map(|x| 60 / x).zip(b.iter().rev()).map(|(x, y)| x * y)
    }

    #[task]
    pub fn made(a: &[u32], n: u32) -> ([u32; 12], u32, u32) {
        let (b, mut c, mut s) = ([n, 2], [0u32; 12], 0);
        let mut t = [4, 5, 6, n];
        let mut count = |at: usize, x: u32| { c[at] += 1; x };
        s += a.iter().map(|x| count(0, *x)).zip(a[..1].iter().rev()).map(|(x, y)| x * y).sum::<u32>();
        s += a.iter().map(|x| count(1, *x)).zip(b).map(|(x, y)| x * y).sum::<u32>();
        s += b.into_iter().map(|x| count(2, x)).zip(&a[..1]).filter(|(x, _)| *x > 1).count() as u32;
        s += a.iter().rev().map(|x| count(3, *x)).zip(&a[..1]).enumerate().fold(0, |s, (i, (x, y))| s + i as u32 + x * y);
        s += a.iter().take(3).map(|x| count(4, *x)).zip(&a[..1]).map(|(x, y)| x * y).max().unwrap_or(9);
        s += a.iter().map(|x| count(5, *x)).zip(0..=1u32).map(|(x, y)| x + y).last().unwrap_or(7);
        s += t.iter_mut().map(bump).zip(1..=2).map(|(x, y)| x * y).sum::<u32>();
        a.iter().rev().map(|x| count(6, *x)).zip(b).chain([(1, 2)]).for_each(|(x, y)| s += x * y);
        s += u32::from(a.iter().map(|x| count(7, *x)).zip(b).any(|(x, y)| x > 90 && y > 90));
        s += a.iter().map(|x| count(8, *x)).zip(b).take(9).map(|(x, y)| x * y).sum::<u32>();
        s += a.iter().filter(|x| **x > 0).map(|x| count(9, *x)).zip(b).map(|(x, y)| x * y).sum::<u32>();
        for (x, y) in a.iter().map(|x| count(10, *x)).zip(b) { s += x * y; }
        let mut named = a.iter().map(|x| count(11, *x)).zip(0..2u32);
        while let Some((x, y)) = named.next() { s += x * y; }
        (c, s, t.iter().sum())
    }

    /// What fails where it is not made.
    #[task]
    pub fn fails_not(a: &[u32], m: usize) -> (u32, u32, u32) {
        let (t, at) = ([5u32, 6, 7], [0usize, 1, 2, 99]);
        let picked = at.iter().map(|&i| t[i]).zip(a[..m].iter().rev()).map(|(x, y)| x * y).sum();
        let most = at.into_iter().map(|i| t[i]).zip(a[..m].iter()).map(|(x, y)| x + y).max().unwrap_or(0);
        (picked, most, shares(&[1, 2, 3, 0], &a[..m]).sum())
    }

    #[task]
    pub fn lent(n: u32) -> (u32, u32) {
        let mut r = 0..n;
        (r.by_ref().zip(1..3).map(|(x, y)| x * y).sum::<u32>(), r.start)
    }
}

millstream_tests::cases! {
    made(&[1, 2, 3, 4], 5);
    made(&[3], 0);
    fails_not(&[1, 2, 3], 3);
    fails_not(&[1, 2, 3], 1);
    lent(9);
    lent(1);
}
