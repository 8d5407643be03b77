//! Loops that add to one place of memory: what may be kept in a register meanwhile, and what may not.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU32, Ordering};

    #[derive(Clone, Copy, Debug)]
    pub struct Pair {
        pub re: i32,
        pub im: i32,
    }

    /// The place is there for all of the inner loop.
    #[task]
    pub fn product(c: &mut [f32], a: &[f32], b: &[f32], n: usize) {
        for i in 0..n {
            for j in 0..n {
                for k in 0..n {
                    c[i * n + j] += a[i * n + k] * b[k * n + j];
                }
            }
        }
    }

    /// Where it is is asked for twice.
    #[task]
    pub fn written_out(c: &mut [i64], a: &[i64], n: usize) {
        for i in 0..n {
            for k in 0..n {
                c[n * i + 1] = c[n * i + 1] * 3 + a[k] - c[n * i];
                c[n * i + 2] = c[n * i + 1] ^ c[n * i + 2];
            }
        }
    }

    /// A loop of no turns asks nothing of its place, which may not be there.
    #[task]
    pub fn of_no_turns(out: &mut [u64], of: &[u64], rows: usize, lo: usize, hi: usize) -> usize {
        let mut turns = 0;
        for i in 0..rows {
            for j in lo..hi {
                out[i] += of[j];
                turns += 1;
            }
        }
        turns
    }

    /// Left in its middle, and gone on with: each time by another way out.
    #[task]
    pub fn left_early(out: &mut [u32], of: &[u32], most: u32) -> u32 {
        let mut left = 0;
        'all: for i in 0..out.len() {
            for j in 0..of.len() {
                out[i] += of[j];
                if of[j] == most {
                    left += 1;
                    break;
                }
                if out[i] > 10 * most {
                    left += 100;
                    continue 'all;
                }
                if of[j] > 2 * most {
                    break 'all;
                }
            }
            out[i] *= 2;
        }
        left
    }

    /// What is added lies in the same slice, and sometimes is the place itself.
    #[task]
    pub fn of_itself(a: &mut [u32], i: usize) {
        for j in 0..a.len() {
            a[i] += 2 * a[j] + 1;
        }
    }

    /// Two places side by side, of which one is made of the other.
    #[task]
    pub fn pairs(out: &mut [Pair], of: &[Pair]) {
        for i in 0..out.len() {
            for x in of {
                out[i].re += x.re * x.im;
                out[i].im -= out[i].re + x.im;
            }
        }
    }

    /// Only now and then is anything written.
    #[task]
    pub fn sometimes(out: &mut [i64], of: &[i64], from: i64) {
        for i in 0..out.len() {
            for j in 0..of.len() {
                let now = out[i];
                if of[j] > from && now % 3 != 1 {
                    out[i] = now + of[j];
                }
            }
        }
    }

    /// Which slice is written to changes by the turn.
    #[task]
    pub fn in_turn(a: &mut [u32], b: &mut [u32], n: u32) {
        let (mut x, mut y) = (a, b);
        for i in 0..n {
            x[0] += y[0] + i;
            (x, y) = (y, x);
        }
    }

    /// The loop's own condition reads the place, or what lies before it.
    #[task]
    pub fn while_less(out: &mut [u8], of: &[u8]) -> usize {
        let mut k = 0;
        while k < of.len() && of[k] != 0 {
            out[1] = out[1].wrapping_add(of[k]);
            k += 1;
        }
        while out[0] < 200 {
            out[0] += 7;
        }
        k
    }

    /// The loop's condition counts by itself.
    #[task]
    pub fn counted_in_front(out: &mut [u32], of: &[u32]) -> usize {
        let mut k = 0;
        let mut last;
        while {
            last = k;
            k += 2;
            k <= of.len()
        } {
            out[1] = out[1] * 3 + of[k - 1];
            out[1] ^= of[last];
        }
        k * 10 + last
    }

    #[task]
    pub fn counted_alone(out: &mut [u32; 2], of: &[u32; 8]) {
        let mut k = 0;
        while {
            k += 1;
            k < 8
        } {
            out[1] = out[1].wrapping_mul(3) + of[k & 7];
        }
    }

    fn add_all(to: &mut [f64], of: &[f64]) {
        for i in 0..to.len() {
            for x in of {
                to[i] += x;
            }
        }
    }

    /// Halves of one slice, by a helper.
    #[task]
    pub fn halves(data: &mut [f64]) {
        let (a, b) = data.split_at_mut(data.len() / 2);
        add_all(a, b);
        add_all(b, a);
    }

    /// A place in the middle of a row that the loop also reads.
    #[task]
    pub fn rows(m: &mut [[i16; 4]], of: &[i16]) {
        for i in 0..m.len() {
            for x in of {
                m[i][1] = m[i][1].wrapping_add(x.wrapping_mul(m[i][2]));
                m[i][3] = m[i][1];
            }
        }
    }

    /// What children wrote is added up, behind a sync, and each adds in rounds of its own.
    #[task]
    pub fn behind_a_sync(sums: &mut [u64], data: &mut [u64], n: usize) {
        if data.len() <= n {
            for i in 0..data.len() {
                for j in 0..n {
                    data[i] += (i * j) as u64;
                }
            }
            for x in data.iter() {
                sums[0] += x;
            }
            return;
        }
        let (a, b) = data.split_at_mut(data.len() / 2);
        let (s, rest) = sums.split_at_mut(1);
        let (of_a, of_b) = rest.split_at_mut(rest.len() / 2);
        spawn!(behind_a_sync(of_a, a, n));
        spawn!(behind_a_sync(of_b, b, n));
        sync!();
        for i in 0..2 {
            s[0] += of_a[0] * i;
            for x in of_b.iter() {
                s[0] += x;
            }
        }
    }

    /// Each round has a place of its own.
    #[task]
    pub fn by_rounds(out: &mut [u32], of: &[u32]) -> u32 {
        let mut all = 0;
        #[parallel]
        for (i, x) in out.iter_mut().enumerate() {
            for j in 0..of.len() {
                *x += of[(i + j) % of.len()] ^ j as u32;
            }
            all += *x;
        }
        all
    }

    /// Others count meanwhile.
    #[task]
    pub fn beside_atomics(out: &mut [u32], count: &AtomicU32, n: u32) -> u32 {
        for i in 0..n {
            out[0] += i;
            count.fetch_add(out[0], Ordering::Relaxed);
        }
        count.load(Ordering::Relaxed)
    }
}

millstream_tests::cases! {
    product(&mut [1.0; 9], &[1.0, 2.5, -3.0, 0.5, 4.0, 1.0, 9.0, -2.0, 7.0], &[2.0, 0.0, 1.0, 1.5, -1.0, 3.0, 0.25, 8.0, 5.0], 3);
    product(&mut [], &[], &[], 0);
    written_out(&mut [1, 2, 3, 4, 5, 6, 7, 8, 9], &[10, 20, 30], 3);
    of_no_turns(&mut [], &[], 3, 0, 0);
    of_no_turns(&mut [], &[1, 2], 3, 2, 1);
    of_no_turns(&mut [5, 6, 7], &[1, 2, 3, 4], 3, 1, 4);
    left_early(&mut [1, 2, 3, 4], &[3, 1, 4, 1, 5, 9, 2, 6], 9);
    left_early(&mut [1, 200, 3, 4], &[3, 1, 4, 1, 5, 9, 2, 6], 7);
    left_early(&mut [1, 2, 3], &[3, 1, 15, 1], 7);
    of_itself(&mut [1, 2, 3, 4, 5], 2);
    of_itself(&mut [1, 2, 3, 4, 5], 0);
    pairs(&mut [program::Pair { re: 1, im: 2 }, program::Pair { re: -3, im: 4 }], &[program::Pair { re: 5, im: 6 }, program::Pair { re: 7, im: -8 }, program::Pair { re: 0, im: 1 }]);
    sometimes(&mut [1, 2, 3], &[3, -1, 4, 1, -5, 9], 0);
    sometimes(&mut [1, 2, 3], &[3, -1, 4], 5);
    in_turn(&mut [3, 1], &mut [4], 7);
    while_less(&mut [3, 250], &[9, 8, 0, 7]);
    while_less(&mut [201, 0], &[]);
    counted_in_front(&mut [3, 250], &[9, 8, 0, 7, 5]);
    counted_in_front(&mut [3, 250], &[]);
    counted_alone(&mut [3, 250], &[9, 8, 0, 7, 5, 1, 2, 4]);
    halves(&mut [1.0, 2.0, 3.5, -4.0, 5.25, 6.0, 7.0]);
    rows(&mut [[1, 2, 3, 4], [5, 6, -7, 8]], &[2, 3, -5]);
    behind_a_sync(&mut [0; 32], &mut [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], 4);
    by_rounds(&mut [3; 70], &[1, 2, 3, 5, 8, 13]);
    beside_atomics(&mut [1, 2], &std::sync::atomic::AtomicU32::new(5), 6);
}
