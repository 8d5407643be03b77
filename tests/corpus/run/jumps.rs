//! `skip`, `step_by`, `nth` and `last` next to a slice: in every order, and beyond its end.

#[millstream::program]
pub mod program {
    /// Digits of what is run over, so that their order counts.
    fn put(sum: u64, x: u32) -> u64 {
        sum.wrapping_mul(31).wrapping_add(u64::from(x) + 1)
    }

    #[task]
    pub fn elements(a: &[u32], n: usize, k: usize) -> [u64; 16] {
        let mut out = [0u64; 16];
        out[0] = a.iter().skip(n).fold(0, |s, &x| put(s, x));
        out[1] = a.iter().step_by(k).fold(0, |s, x| put(s, *x));
        out[2] = a.iter().rev().step_by(k).copied().fold(0, put);
        out[3] = a.iter().rev().skip(n).fold(0, |s, &x| put(s, x));
        out[4] = a.iter().skip(n).step_by(k).map(|x| x + 1).fold(0, put);
        out[5] = a.iter().skip(n).rev().step_by(k).copied().fold(0, put);
        out[6] = a.iter().step_by(k).skip(1).fold(0, |s, x| put(s, *x));
        out[7] = a.iter().take(n + 3).skip(n).take(2).fold(0, |s, &x| put(s, x));
        out[8] = a.iter().rev().take(n + 3).skip(n).fold(0, |s, &x| put(s, x));
        out[9] = a.iter().step_by(k).rev().fold(0, |s, &x| put(s, x));
        for (i, x) in a.iter().skip(n).enumerate() {
            out[10] = put(out[10], *x).wrapping_add(i as u64);
        }
        for (x, y) in a.iter().step_by(k).zip(a.iter().skip(n)) {
            out[11] = put(put(out[11], *x), *y);
        }
        out[12] = a
            .iter()
            .step_by(k)
            .zip(a.iter().skip(n).step_by(k))
            .fold(0, |s, (x, y)| put(put(s, *x), *y));
        for x in a[n.min(a.len())..].iter().step_by(k) {
            out[13] = put(out[13], *x);
        }
        out[14] = (a.iter().count() + a.iter().len() + a.iter().skip(n).count()) as u64;
        out[15] = a.iter().step_by(k).map(|x| x * 3).rev().take(2).fold(0, put);
        out
    }

    #[task]
    pub fn parts(a: &[u32], n: usize, k: usize) -> [u64; 10] {
        let mut out = [0u64; 10];
        out[0] = a.windows(3).skip(n).fold(0, |s, w| put(s, w[0] + w[2]));
        out[1] = a.windows(3).step_by(k).fold(0, |s, w| put(s, w[0] + w[2]));
        out[2] = a.chunks(3).skip(n).fold(0, |s, c| put(s, c[0] + c.len() as u32));
        out[3] = a.chunks(3).step_by(k).fold(0, |s, c| put(s, c[0] + c.len() as u32));
        out[4] = a.chunks_exact(3).skip(n).step_by(k).fold(0, |s, c| put(s, c[2]));
        out[5] = a.windows(2).skip(1).take(n).fold(0, |s, w| put(s, w[1]));
        out[6] = a.chunks(2).take(n).skip(1).fold(0, |s, c| put(s, c[0]));
        out[7] = a.windows(n + 1).step_by(k).count() as u64;
        out[8] = a.chunks_exact(n + 1).skip(k).count() as u64;
        for c in a.chunks(4).skip(1).step_by(2) {
            for x in c.iter().step_by(3) {
                out[9] = put(out[9], *x);
            }
        }
        out
    }

    #[task]
    pub fn found(a: &[u32], n: usize, k: usize) -> [Option<u32>; 9] {
        [
            a.iter().nth(n).copied(),
            a.iter().last().copied(),
            a.iter().rev().nth(n).copied(),
            a.iter().skip(n).last().copied(),
            a.iter().step_by(k).last().copied(),
            a.iter().step_by(k).nth(n).copied(),
            a.chunks(3).nth(n).map(|c| c[0]),
            a.windows(2).nth(n).map(|w| w[1]),
            a.iter().take(n).last().copied(),
        ]
    }

    #[task]
    pub fn written(a: &mut [u32], n: usize, k: usize) {
        for x in a.iter_mut().step_by(k) {
            *x += 100;
        }
        for x in a.iter_mut().skip(n) {
            *x += 1000;
        }
        a.iter_mut().rev().skip(1).step_by(k).for_each(|x| *x *= 2);
        for (i, c) in a.chunks_mut(3).step_by(k).enumerate() {
            c[0] += i as u32;
        }
        if let Some(x) = a.iter_mut().nth(n) {
            *x = 7;
        }
    }

    /// Behind numbers and copies.
    #[task]
    pub fn numbered(a: &mut [u32], n: usize) -> [u64; 12] {
        let mut out = [0; 12];
        let pair = |s: u64, i: usize, x: u32| put(put(s, i as u32), x);
        for (i, x) in a.iter().enumerate().skip(n) {
            out[0] = pair(out[0], i, *x);
        }
        for (i, x) in a.iter().rev().enumerate().skip(n).take(3) {
            out[1] = pair(out[1], i, *x);
        }
        for (i, x) in a.iter().skip(1).enumerate().take(7).skip(n).skip(1) {
            out[2] = pair(out[2], i, *x);
        }
        out[3] = a.iter().copied().enumerate().skip(n).fold(0, |s, (i, x)| pair(s, i, x));
        out[4] = a.iter().copied().skip(n).take(4).fold(0, put);
        for (i, part) in a.chunks(3).enumerate().skip(n) {
            out[5] = pair(out[5], i, part[part.len() - 1]);
        }
        for (i, part) in a.windows(2).enumerate().skip(n).take(2) {
            out[6] = pair(out[6], i, part[1]);
        }
        out[7] = a.iter().enumerate().nth(n).map_or(5, |(i, x)| pair(0, i, *x));
        out[8] = a.iter().copied().nth(n).map_or(5, |x| put(0, x));
        out[9] = a.iter().enumerate().skip(2).enumerate().skip(n).fold(0, |s, (i, (k, x))| pair(pair(s, i, *x), k, 1));
        for (i, x) in a.iter_mut().enumerate().skip(n).step_by(2) {
            *x += i as u32;
        }
        for (i, x) in a.iter_mut().enumerate().skip(n).filter(|(i, _)| i % 3 == 0) {
            *x ^= i as u32 + 8;
        }
        out[10] = a.iter().enumerate().skip(n).zip(a.iter()).fold(0, |s, ((i, x), y)| put(pair(s, i, *x), *y));
        out[11] = a.iter().enumerate().skip(n).position(|(i, x)| i as u32 == *x).map_or(77, |at| at as u64);
        out
    }
}

millstream_tests::cases! {
    elements(&[3, 1, 4, 1, 5, 9, 2, 6, 5, 3], 2, 3);
    elements(&[3, 1, 4, 1, 5, 9, 2, 6, 5, 3], 0, 1);
    elements(&[3, 1, 4, 1, 5, 9, 2, 6, 5], 8, 2);
    elements(&[3, 1, 4, 1, 5], 5, 4);
    elements(&[3, 1, 4, 1, 5], 9, 100);
    elements(&[7], 0, 1);
    elements(&[7], 1, usize::MAX);
    parts(&[3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5], 2, 3);
    parts(&[3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8], 0, 1);
    parts(&[3, 1, 4, 1], 1, 2);
    parts(&[3, 1], 5, 7);
    found(&[3, 1, 4, 1, 5, 9, 2, 6, 5], 2, 3);
    found(&[3, 1, 4], 0, 1);
    found(&[3, 1, 4], 3, 2);
    found(&[3], 1, 9);
    written(&mut [3, 1, 4, 1, 5, 9, 2, 6, 5], 2, 3);
    written(&mut [3, 1, 4, 1], 4, 2);
    numbered(&mut [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5], 2);
    numbered(&mut [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8], 0);
    numbered(&mut [3, 1, 4], 3);
    numbered(&mut [3, 1, 4], usize::MAX);
    numbered(&mut [], 1);
}
