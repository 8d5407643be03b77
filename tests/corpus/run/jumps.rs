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
}
