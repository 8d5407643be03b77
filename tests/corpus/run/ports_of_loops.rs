//! Known parallel algorithms as they are ported: an edit distance by diagonals between three buffers, a bitonic sort, a merge by its diagonals, what is even by blocks.

#[millstream::program]
pub mod program {
    #[task]
    pub fn distance<'a>(
        a: &[u8],
        b: &[u8],
        mut before: &'a mut [u32],
        mut last: &'a mut [u32],
        mut next: &'a mut [u32],
    ) -> u32 {
        let (n, m) = (a.len(), b.len());
        // Cell i of diagonal d is (i, d - i).
        for d in 0..=n + m {
            let lo = d.saturating_sub(m);
            let hi = d.min(n);
            #[parallel]
            for (k, cell) in next[lo..=hi].iter_mut().enumerate() {
                let i = lo + k;
                let j = d - i;
                *cell = if i == 0 {
                    j as u32
                } else if j == 0 {
                    i as u32
                } else {
                    let change = before[i - 1] + (a[i - 1] != b[j - 1]) as u32;
                    change.min(last[i - 1] + 1).min(last[i] + 1)
                };
            }
            (before, last, next) = (last, next, before);
        }
        last[n]
    }

    #[task]
    pub fn bitonic(data: &mut [u32]) {
        let n = data.len();
        assert!(n.is_power_of_two());
        let mut size = 2;
        while size <= n {
            let mut stride = size / 2;
            while stride > 0 {
                #[parallel]
                for (block, part) in data.chunks_exact_mut(2 * stride).enumerate() {
                    let ascending = block * 2 * stride & size == 0;
                    let (low, high) = part.split_at_mut(stride);
                    for (a, b) in low.iter_mut().zip(high) {
                        if (*a > *b) == ascending {
                            std::mem::swap(a, b);
                        }
                    }
                }
                stride /= 2;
            }
            size *= 2;
        }
    }

    fn rank(data: &[u32], x: u32, equal: bool) -> usize {
        let (mut lo, mut hi) = (0, data.len());
        while lo < hi {
            let mid = lo + (hi - lo) / 2;
            if data[mid] < x || equal && data[mid] == x {
                lo = mid + 1;
            } else {
                hi = mid;
            }
        }
        lo
    }
    /// Each block's output is a piece of `out`: from the bottom up.
    #[task]
    pub fn merge(a: &[u32], b: &[u32], out: &mut [u32]) {
        #[parallel]
        for (k, chunk) in out.chunks_mut(16).enumerate() {
            let (from, to) = (k * 16, k * 16 + chunk.len());
            // Where on the diagonal the merge is cut.
            let (mut lo, mut hi) = (from.saturating_sub(b.len()), from.min(a.len()));
            while lo < hi {
                let mid = (lo + hi) / 2;
                if a[mid] <= b[from - mid - 1] {
                    lo = mid + 1;
                } else {
                    hi = mid;
                }
            }
            let (mut i, mut j) = (lo, from - lo);
            for x in chunk {
                if j >= b.len() || i < a.len() && a[i] <= b[j] {
                    *x = a[i];
                    i += 1;
                } else {
                    *x = b[j];
                    j += 1;
                }
            }
            assert!(i + j == to);
        }
    }
    #[task]
    pub fn keep_even(data: &[u32], counts: &mut [usize], out: &mut [u32]) -> usize {
        const B: usize = 32;
        #[parallel]
        for (part, n) in data.chunks(B).zip(counts.iter_mut()) {
            *n = 0;
            for x in part {
                *n += (x % 2 == 0) as usize;
            }
        }
        let mut rest = out;
        let mut total = 0;
        for (part, n) in data.chunks(B).zip(counts.iter()) {
            let (own, after) = rest.split_at_mut(*n);
            spawn!(copy(part, own));
            rest = after;
            total += n;
        }
        sync!();
        total
    }
    #[task]
    pub fn copy(part: &[u32], own: &mut [u32]) {
        let mut at = 0;
        for &x in part {
            if x % 2 == 0 {
                own[at] = x;
                at += 1;
            }
        }
    }
    #[task]
    pub fn ranks(data: &[u32], sorted: &[u32]) -> u64 {
        let mut sum = 0u64;
        #[parallel]
        for x in data.iter().copied() {
            sum += (rank(sorted, x, false) * 3 + rank(sorted, x, true)) as u64;
        }
        sum
    }
}

fn numbers(n: u32) -> Vec<u32> {
    (0..n).map(|i| i.wrapping_mul(2_654_435_769) >> 20).collect()
}

fn sorted(n: u32) -> Vec<u32> {
    let mut all = numbers(n);
    all.sort_unstable();
    all
}

fn letters(n: u32) -> Vec<u8> {
    numbers(n).into_iter().map(|x| b"acgt"[(x % 4) as usize]).collect()
}

millstream_tests::cases! {
    distance(b"", b"", &mut [0; 1], &mut [0; 1], &mut [0; 1]);
    distance(b"kitten", b"sitting", &mut [0; 7], &mut [0; 7], &mut [0; 7]);
    distance(&letters(60), &letters(70), &mut [0; 61], &mut [0; 61], &mut [0; 61]);
    bitonic(&mut numbers(2));
    bitonic(&mut numbers(128));
    merge(&[1, 3, 5], &[], &mut [0; 3]);
    merge(&sorted(50), &sorted(70), &mut [0; 120]);
    keep_even(&numbers(100), &mut [0; 4], &mut [0; 100]);
    ranks(&numbers(90), &sorted(40));
}
