//! Sorts that keep no order of what is equal, of slices of every kind and length: sorted, turned round, equal, of few values, up and down, and such that the middle is least.

#[millstream::program]
pub mod program {
    fn fill(a: &mut [u32], kind: u32) {
        let (n, mut x) = (a.len(), 99u32);
        for i in 0..n {
            x = x.wrapping_mul(1664525).wrapping_add(1013904223);
            a[i] = match kind {
                0 => x >> 8,
                1 => i as u32,
                2 => (n - i) as u32,
                3 => 7,
                4 => x >> 30,
                5 => i.min(n - i) as u32,
                6 => ((n / 2).abs_diff(i)) as u32,
                // All but the last few are in order.
                _ if i + 5 < n => 2 * i as u32,
                _ => x % n as u32,
            };
        }
    }

    fn seen(a: &[u32]) -> u64 {
        a.iter().enumerate().fold(7u64, |h, (i, x)| h.wrapping_mul(1_000_003).wrapping_add(*x as u64 ^ i as u64))
    }

    #[task]
    pub fn lengths(a: &mut [u32], kind: u32) -> u64 {
        let mut all = 0u64;
        for n in 0..a.len() {
            fill(&mut a[..n], kind);
            a[..n].sort_unstable();
            assert!(a[..n].is_sorted());
            all = all.rotate_left(5) ^ seen(&a[..n]);
        }
        all
    }

    #[task]
    pub fn ways(a: &mut [u32], pairs: &mut [[u32; 2]], kind: u32) -> (u64, u64, u64) {
        fill(a, kind);
        for (pair, x) in pairs.iter_mut().zip(&*a) {
            *pair = [*x % 17, *x];
        }
        let (low, high) = a.split_at_mut(a.len() / 3);
        low.sort_unstable_by(|x, y| y.cmp(x));
        high.sort_unstable_by_key(|x| (*x & 15, *x));
        pairs.sort();
        let by_pairs = pairs.iter().fold(3u64, |h, p| h.wrapping_mul(31) ^ (p[0] as u64) << 32 ^ p[1] as u64);
        (seen(low), seen(high), by_pairs)
    }

    /// Each has its own part.
    #[task]
    pub fn tree(a: &mut [u32], kind: u32) -> u64 {
        if a.len() <= 64 {
            fill(a, kind % 8);
            a.sort();
            return seen(a);
        }
        let (low, high) = a.split_at_mut(a.len() / 3);
        let mut sum = 0u64;
        sum ^= spawn!(tree(low, kind + 1));
        sum ^= spawn!(tree(high, kind + 3));
        sync!();
        a.sort_unstable();
        sum ^ seen(a)
    }
}

millstream_tests::cases! {
    lengths(&mut [0; 50], 0);
    lengths(&mut [0; 50], 4);
    lengths(&mut [0; 50], 7);
    ways(&mut [0; 700], &mut [[0, 0]; 300], 0);
    ways(&mut [0; 700], &mut [[0, 0]; 700], 1);
    ways(&mut [0; 700], &mut [[0, 0]; 700], 2);
    ways(&mut [0; 700], &mut [[0, 0]; 90], 3);
    ways(&mut [0; 700], &mut [[0, 0]; 400], 4);
    ways(&mut [0; 700], &mut [[0, 0]; 400], 5);
    ways(&mut [0; 700], &mut [[0, 0]; 400], 6);
    ways(&mut [0; 700], &mut [[0, 0]; 400], 7);
    tree(&mut [0; 600], 0);
}
