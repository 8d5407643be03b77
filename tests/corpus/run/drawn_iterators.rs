//! Iterators whose items are taken one by one: `let mut it = a.iter();`.

#[millstream::program]
pub mod program {
    #[task]
    fn square(x: u32) -> u32 { x * x }

    fn number(text: &[u8]) -> (u32, u32) {
        let mut it = text.iter().copied().enumerate().peekable();
        let (mut sum, mut signs) = (0, 0);
        while let Some((at, c)) = it.next() {
            if c.is_ascii_digit() {
                let mut v = (c - b'0') as u32;
                while let Some(&(_, d)) = it.peek() {
                    if !d.is_ascii_digit() { break; }
                    v = v * 10 + (d - b'0') as u32;
                    it.next();
                }
                sum += v;
            } else if c == b'-' {
                signs += at as u32;
            }
        }
        (sum, signs)
    }

    #[task]
    pub fn drawn(k: u32) -> ([u32; 10], (u32, u32)) {
        let data = [3u32, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8];
        let mut it = data.iter();
        let first = *it.next().unwrap();
        let mut pairs = 0;
        while let (Some(a), Some(b)) = (it.next(), it.next()) { pairs += a * b; }
        let mut odd = data.iter().filter(|x| **x % 2 == 1).map(|x| x * k);
        let (a, b) = (odd.next(), odd.next());
        let mut n = 0;
        while let Some(x) = odd.next() { n = n * 3 + x; if odd.any(|y| y == 15) { n += 1000; } }
        let mut rev = data.iter().enumerate().rev().skip(2).step_by(3);
        let mut r = 0;
        while let Some((i, x)) = rev.next() { r += i as u32 * x; }
        for (i, x) in (3..20u32).rev().step_by(4).enumerate() { r += i as u32 * x; }
        let mut parts = data.chunks(5);
        let mut p = 0;
        let head = parts.next().map_or(0, |p| p.len());
        for part in parts { p = p * 10 + part.iter().max().unwrap(); }
        let mut buffer = [0u32; 7];
        let mut out = buffer.iter_mut();
        if let Some(o) = out.next() { *o = 7; }
        for (i, o) in out.enumerate() { *o = i as u32; }
        let mut halves = buffer.chunks_exact_mut(3);
        if let (Some(a), Some(b)) = (halves.next(), halves.next()) { a[0] += b[2]; b[1] += 100; }
        let mut numbers = (0..k * 4).filter(|x| x % 3 != 0);
        let mut q = 0;
        while let Some(x) = numbers.next() {
            q += spawn!(square(x));
            numbers.next();
        }
        sync!();
        let mut w = data.iter().zip(&buffer).take(5);
        let w1 = w.find(|(a, b)| a < b).map_or(0, |(a, b)| a * 10 + b);
        let copy = w.clone().count() as u32;
        let last = w.by_ref().take(1).map(|(a, _)| *a).sum::<u32>() * 10 + w.count() as u32;
        let mut empty = data[..0].iter().copied().peekable();
        let e = empty.peek().is_none() as u32 + empty.next().is_none() as u32;
        let mut range = 3..9u32;
        while let Some(x) = range.next() { if x == 5 { break; } }
        let hash = buffer.iter().fold(0u32, |h, x| h.wrapping_mul(31).wrapping_add(*x));
        ([first, pairs, a.unwrap_or(0) * 100 + b.unwrap_or(0), n, r, p * 10 + head as u32, q, w1 * 10 + copy, last * 10 + e, hash ^ range.start], number(b"12-7--305 9"))
    }
}

millstream_tests::cases! {
    drawn(3);
    drawn(1);
}
