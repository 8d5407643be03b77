//! What asks how many items there are makes none and takes none: `len`, `eq` and `ne` of two that Rust can measure, and a `zip` that is taken at once.

#[millstream::program]
pub mod program {
    use std::ops::Range;

    /// Two that differ in how many items they have are not equal before one is made.
    #[task]
    pub fn compared(a: &[u32], n: u32) -> ([bool; 5], [u32; 6]) {
        let (mut l, mut m, mut p, mut q, mut k) = (0, 0, 0, 0, 0);
        let x = a.iter().map(|x| { l += 1; *x }).eq((1..n).map(|x| { m += 1; x }));
        let y = a.iter().map(|x| { p += 1; *x }).rev().take(3).ne([7, 6, 5]);
        let z = (1..=n).map(|x| { q += 1; x }).eq(a.iter().copied());
        let v = a.iter().map(|x| { k += 1; *x }).eq(a[..a.len() / 2].iter().copied().chain(n..n));
        let mut f = 0;
        let w = a.iter().filter(|x| { f += 1; **x > 2 }).copied().eq(3..8);
        ([x, y, z, v, w], [l, m, p, q, k, f])
    }

    fn same(r: &mut Range<u32>, a: &[u32]) -> bool { r.eq(a.iter().copied()) }
    fn same_beside(r: &mut Range<u32>, a: &[u32]) -> bool { a.iter().copied().eq(r) }
    fn other(r: &mut Range<u32>, a: &[u32]) -> bool { r.map(|x| x + 1).ne(a.iter().copied()) }

    #[task]
    pub fn lent(a: &[u32], n: u32) -> ([bool; 4], [u32; 4]) {
        let (mut r, mut q, mut p, mut o) = (1..8, 1..n, 0..7, 1..n);
        let x = same(&mut r, a);
        let y = same_beside(&mut q, a);
        let z = other(&mut p, a);
        let w = o.by_ref().eq(a.iter().copied());
        ([x, y, z, w], [r.start, q.start, p.start, o.start])
    }

    #[task]
    pub fn measured(a: &[u32], n: u32) -> ([usize; 9], u32, usize) {
        let (mut r, mut it) = (0..n, a.iter());
        let of_range = r.by_ref().map(|x| x + 1).len();
        let turned = r.by_ref().rev().skip(1).len();
        let of_slice = it.by_ref().map(|x| x + 1).len();
        let beside = a.iter().zip(r.by_ref()).len();
        let mut l = 0;
        let mut stepped = a.iter().map(|x| { l += x; x }).step_by(2);
        let s = stepped.len();
        stepped.next();
        let s1 = stepped.len();
        let mut back = (0..a.len()).rev();
        back.next();
        let mut some = a.iter().filter(|x| **x > 1).enumerate().peekable();
        some.next();
        let mut pairs = a.iter().map(|x| x + 1).skip(1).zip(0..n);
        pairs.next();
        let all = [of_range, turned, of_slice, beside, s, s1, back.len(), some.count(), pairs.len()];
        (all, r.start * 100 + r.end, it.len())
    }

    /// Neither side of a `zip` that is taken at once goes beyond the shorter one.
    #[task]
    pub fn paired(a: &[u32], n: u32) -> ([u32; 3], [u32; 6]) {
        let (mut r, mut q) = (0..n, 3..6);
        let (mut l, mut m, mut k) = (0, 0, 0);
        let x = r.by_ref().map(|x| { l += 1; x }).zip(q.by_ref().map(|x| { m += 1; x })).fold(0, |s, (x, y)| s * 3 + x * y);
        let p = &mut (0..n);
        let y = a.iter().map(|x| { k += x; x }).zip(p).map(|(x, y)| x * y).sum();
        let mut s = 0;
        let z = a.iter().map(|x| { s = s * 3 + x; x }).step_by(2).zip(0..n).map(|(x, y)| x + y).sum();
        ([x, y, z], [r.start, q.start, l, m, k, s])
    }

    /// Each draws from its own range, inside a side of another `zip`, too.
    #[task]
    pub fn nested(a: &[u32], n: u32) -> ([u32; 3], [u32; 7]) {
        let (mut q, mut r, mut o, mut p) = (1..n, 11..n + 10, 1..n, 11..n + 10);
        let (mut l, mut m, mut k) = (0, 0, 0);
        let x = (0..n).zip(q.by_ref().zip(r.by_ref().map(|x| { l = l * 7 + x; x }))).map(|(x, (y, z))| x * 10 + y * 3 + z).nth(2).unwrap_or(9);
        let y = (0..n).zip(o.by_ref().zip(p.by_ref().map(|x| { m = m * 7 + x; x }))).map(|(x, (y, z))| x * 10 + y * 3 + z).sum();
        let mut empty = 4..n.min(4);
        let mut s = 0;
        for (x, y) in (0..n).zip(empty.by_ref().map(|x| { k += 1; x })).zip(a) {
            s += x.0 * x.1 * y;
        }
        ([x, y, s], [q.start, r.start, o.start, p.start, l, m, k])
    }

    /// A copy of an iterator has what its closures changed until then.
    #[task]
    pub fn copied(a: &[u32], n: u32) -> [u32; 4] {
        let mut k = n;
        let mut it = a.iter().map(move |x| { k += x; k });
        let first = it.next().unwrap_or(1);
        let c = it.clone();
        let all = it.sum();
        [first, all, c.fold(0, |s, x| s * 3 + x), k]
    }
}

millstream_tests::cases! {
    compared(&[1, 2, 3, 4, 5, 6, 7], 5);
    compared(&[1, 2, 3, 4, 5, 6, 7], 8);
    compared(&[4], 4);
    compared(&[], 0);
    lent(&[1, 2, 3, 4, 5, 6, 7], 8);
    lent(&[1, 2, 3], 4);
    lent(&[5], 9);
    measured(&[1, 2, 3, 4, 5, 6, 7], 5);
    measured(&[4], 9);
    measured(&[], 0);
    paired(&[1, 2, 3, 4, 5, 6, 7], 2);
    paired(&[1, 2, 3], 9);
    paired(&[], 1);
    nested(&[1, 2, 3], 6);
    nested(&[1, 2, 3], 2);
    nested(&[], 0);
    copied(&[1, 2, 3, 4], 2);
    copied(&[5], 0);
}
