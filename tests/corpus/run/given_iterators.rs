//! Iterators and closures that functions give and take, comparisons of iterators, sums of what may be missing, parts of slices, and selection.

#[millstream::program]
pub mod program {
    use std::cmp::Ordering;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    fn odd(mut n: u32) -> impl Iterator<Item = u32> { std::iter::from_fn(move || { n += 2; (n < 20).then_some(n) }) }
    fn collatz(n: u64) -> impl Iterator<Item = u64> { std::iter::successors(Some(n), |&x| if x == 1 { None } else if x % 2 == 0 { Some(x / 2) } else { Some(3 * x + 1) }) }
    fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> { (0..n).flat_map(move |i| (i + 1..n).map(move |j| (i, j))) }
    fn evens<'a>(a: &'a [u32]) -> impl DoubleEndedIterator<Item = &'a u32> + 'a { a.iter().filter(|x| **x % 2 == 0) }
    fn twice(f: impl Fn(u32) -> u32) -> impl Fn(u32) -> u32 { move |x| f(f(x)) }
    fn total(it: impl Iterator<Item = u32>) -> u32 { let mut t = 0; for x in it { t = t * 3 + x; } t }
    fn largest<T: PartialOrd + Copy>(mut it: impl Iterator<Item = T>) -> Option<T> {
        let first = it.next()?;
        Some(it.fold(first, |a, b| if b > a { b } else { a }))
    }
    fn apply_n(f: fn(u32) -> u32, n: u32, x: u32) -> u32 { (0..n).fold(x, |a, _| f(a)) }
    fn inc(x: u32) -> u32 { x + 1 }
    fn triple(x: u32) -> u32 { x.wrapping_mul(3) }
    fn prefix<'a>(a: &'a [u32], k: usize) -> std::iter::Take<std::slice::Iter<'a, u32>> { a.iter().take(k) }

    #[task]
    pub fn iters(a: [u32; 8], n: u32) -> [u64; 14] {
        let mut out = [0u64; 14];
        out[0] = odd(n).map(u64::from).sum();
        out[1] = collatz(u64::from(n) + 6).count() as u64;
        out[2] = pairs(5).filter(|&(i, j)| (i + j) % 2 == 0).count() as u64;
        out[3] = evens(&a).rev().fold(0, |h, &x| h * 10 + x as u64);
        out[4] = twice(|x| x * n)(3) as u64;
        let f = twice(inc);
        out[5] = f(5) as u64;
        out[6] = total(a.iter().copied().skip(1)) as u64 + total(odd(3)) as u64 + total(0..n) as u64;
        out[7] = largest(a.iter().map(|&x| x as f64 / 2.0)).map_or(0, |x| (x * 2.0) as u64);
        out[8] = (apply_n(inc, n, 1) + apply_n(triple, 2, n)) as u64;
        out[9] = prefix(&a, 3).sum::<u32>() as u64;
        for (i, (p, q)) in pairs(4).enumerate() { out[10] += (i * (p + 1) * (q + 2)) as u64; }
        out[11] = a.iter().zip(odd(1)).map(|(x, y)| u64::from(x * y)).sum();
        out[12] = (0..4usize).flat_map(|i| pairs(i).map(move |(x, y)| x * i + y)).sum::<usize>() as u64;
        let mut it = collatz(7);
        let first = it.next().unwrap();
        let rest: u64 = it.by_ref().take(3).sum();
        out[13] = first * 1000 + rest + it.max().unwrap_or(0);
        out
    }

    #[task]
    pub fn compare(a: [i32; 6], b: [i32; 4]) -> ([bool; 8], Ordering, Option<Ordering>) {
        let (x, y) = (&a[..], &b[..]);
        (
            [
                a[1..3] < b[..2],
                a[..] >= b[..],
                x.iter().eq(y),
                x.iter().rev().eq([6, 5, 4, 3, 2, 1].iter()),
                x.iter().take(4).eq(b.iter()),
                x.iter().lt(y.iter()),
                x.iter().map(|v| v / 2).ne(y.iter().copied()),
                x.iter().ge(b.iter().rev()),
            ],
            x.iter().rev().cmp(y.iter().rev()),
            x.iter().map(|&v| v as f64).partial_cmp(y.iter().map(|&v| v as f64 + 0.5)),
        )
    }

    fn merge(a: &[u32], b: &[u32], out: &mut [u32]) {
        let (mut i, mut j) = (a.iter().copied().peekable(), b.iter().copied().peekable());
        for slot in out.iter_mut() {
            *slot = match (i.peek(), j.peek()) {
                (Some(&x), Some(&y)) if x <= y => { i.next(); x }
                (_, Some(&y)) => { j.next(); y }
                (Some(&x), None) => { i.next(); x }
                (None, None) => unreachable!(),
            };
        }
    }
    fn parse(b: u8) -> Option<u32> { b.is_ascii_digit().then(|| u32::from(b - b'0')) }
    fn check(b: u8) -> Result<u32, u8> { parse(b).ok_or(b) }

    #[task]
    pub fn more(seed: u32) -> ([u32; 8], Option<u32>, Option<u32>, Result<u32, u8>, [usize; 6], [u32; 5]) {
        let mut m = [0; 8];
        merge(&[1, 4, 6, seed], &[2, 3, 9, 50], &mut m);
        let text = b"one two,,three 4";
        let words = text.split(|&c| c == b' ' || c == b',').filter(|w| !w.is_empty()).count();
        let longest = text.split(|c| !c.is_ascii_alphabetic()).map(|w| w.len()).max().unwrap_or(0);
        let runs = [1, 1, 2, 3, 3, 3, 1];
        let groups = runs.chunk_by(|a, b| a == b).map(|g| g.len()).fold(0, |h, n| h * 10 + n);
        let mut v: [u32; 40] = std::array::from_fn(|i| (i as u32 * 7919 + seed) % 101);
        let (l, k, r) = v.select_nth_unstable(17);
        let (kk, ok) = (*k, l.iter().all(|x| *x <= *k) && r.iter().all(|x| *x >= *k));
        v.select_nth_unstable_by(5, |a, b| b.cmp(a));
        let five = v[5];
        v.select_nth_unstable_by_key(30, |&x| x % 10);
        let mut r = 0..seed as usize + 10;
        let a = r.find(|x| x % 7 == 5);
        let last = r.next();
        let sums = [3u32, 1, 4, 1, 5];
        let mut acc = [0; 5];
        for (o, s) in sums.iter().scan(0, |st, &x| { *st += x; Some(*st) }).enumerate() { acc[o] = s; }
        let mut w = sums.windows(2);
        let w0 = w.next().map_or(0, |p| p[0] - p[1]);
        let drop = sums.windows(2).rposition(|w| w[0] > w[1]).unwrap_or(9);
        let until = sums.iter().scan(10u32, |left, &x| { *left = left.checked_sub(x)?; Some(*left) }).last().unwrap_or(77);
        (
            m,
            b"1234".iter().map(|&b| parse(b)).sum(),
            b"12x4".iter().map(|&b| parse(b)).product(),
            b"12x4".iter().map(|&b| check(b)).sum::<Result<u32, u8>>(),
            [words, longest, groups, a.unwrap_or(0) * 100 + last.unwrap_or(0), drop + w0 as usize, kk as usize + usize::from(ok) * 1000 + five as usize + v[30] as usize % 10 + until as usize],
            acc,
        )
    }
    fn noted<'a>(n: u32, seen: &'a AtomicU32) -> impl Iterator<Item = u32> + 'a { (0..n + 2).map(move |x| { seen.fetch_add(1, Relaxed); x }) }
    #[task]
    pub fn none_is_made_that_is_not_taken(n: u32) -> ([u32; 4], u32) {
        let seen = AtomicU32::new(0);
        let mut out = [0; 4];
        for x in noted(n, &seen).take(2) { out[0] += x; }
        out[1] = noted(n, &seen).map(|x| x + 1).take(0).sum();
        out[2] = (0..n).flat_map(|x| noted(x, &seen)).take(3).sum();
        out[3] = noted(n, &seen).filter(|x| x % 2 == 1).take(1).sum();
        (out, seen.load(Relaxed))
    }
    #[task]
    pub fn counted(n: u32) -> u32 {
        let mut t = 0;
        for i in n.. { if i % 13 == 0 { break; } t += i; }
        for (i, x) in (1u32..).zip([4, 5, 6]) { t += i * x; }
        t + (0..).step_by(3).take_while(|x| x * x < 200).last().unwrap_or(0) + std::iter::repeat(2).take(4).product::<u32>()
    }
}

millstream_tests::cases! {
    iters([3, 8, 1, 6, 2, 9, 4, 4], 5);
    compare([1, 2, 3, 4, 5, 6], [1, 2, 3, 4]);
    compare([1, 2, 3, 4, 5, 6], [2, 3, 9, 9]);
    more(7);
    more(33);
    none_is_made_that_is_not_taken(4);
    counted(5);
}
