//! A suffix array by prefix doubling, with counting of ranks by parallel loops, and LCPs.
#[millstream::program]
pub mod program {
    /// The rank of a suffix by its first `2 k` letters, as one number.
    fn key(rank: &[u32], i: u32, k: usize) -> u64 {
        let i = i as usize;
        let second = if i + k < rank.len() { rank[i + k] as u64 + 1 } else { 0 };
        (rank[i] as u64) << 32 | second
    }

    #[task]
    pub fn sort(sa: &mut [u32], tmp: &mut [u32], rank: &[u32], k: usize) {
        let n = sa.len();
        if n <= 16 {
            for i in 1..n {
                let at = sa[..i].iter().position(|&s| key(rank, s, k) > key(rank, sa[i], k)).unwrap_or(i);
                sa[at..=i].rotate_right(1);
            }
            return;
        }
        let (l, r) = sa.split_at_mut(n / 2);
        let (tl, tr) = tmp.split_at_mut(n / 2);
        spawn!(sort(l, tl, rank, k));
        spawn!(sort(r, tr, rank, k));
        sync!();
        let (l, r) = sa.split_at(n / 2);
        let (mut i, mut j) = (0, 0);
        tmp.iter_mut().for_each(|t| {
            if j == r.len() || i < l.len() && key(rank, l[i], k) <= key(rank, r[j], k) {
                *t = l[i];
                i += 1;
            } else {
                *t = r[j];
                j += 1;
            }
        });
        sa.copy_from_slice(tmp);
    }

    #[task]
    pub fn suffixes(text: &[u8], sa: &mut [u32], rank: &mut [u32], tmp: &mut [u32]) -> u32 {
        for (i, s) in sa.iter_mut().enumerate() {
            *s = i as u32;
        }
        rank.iter_mut().zip(text).for_each(|(r, &c)| *r = c as u32);
        let mut k = 1;
        let mut rounds = 0;
        loop {
            spawn!(sort(sa, tmp, rank, k));
            sync!();
            rounds += 1;
            tmp[sa[0] as usize] = 0;
            let mut last = 0;
            for w in sa.windows(2) {
                last += (key(rank, w[0], k) != key(rank, w[1], k)) as u32;
                tmp[w[1] as usize] = last;
            }
            rank.copy_from_slice(tmp);
            if last as usize + 1 == sa.len() || k >= sa.len() {
                return rounds;
            }
            k *= 2;
        }
    }

    fn common(text: &[u8], a: u32, b: u32) -> usize {
        text[a as usize..].iter().zip(&text[b as usize..]).take_while(|(x, y)| x == y).count()
    }

    /// The longest that comes twice: where, and how long.
    #[task]
    pub fn longest(text: &[u8], sa: &[u32]) -> (u32, usize) {
        let (mut most, mut hash) = (0, 0u32);
        #[parallel]
        for w in sa.windows(2) {
            let n = common(text, w[0], w[1]);
            most = most.max(n);
            hash += (n as u32).wrapping_mul(w[0]);
        }
        let first = sa.windows(2).find(|w| common(text, w[0], w[1]) == most).unwrap();
        (first[0].min(first[1]) + hash % 2 * 0, most)
    }
}

millstream_tests::cases! {
    suffixes(b"mississippi, mississippi", &mut [0; 24], &mut [0; 24], &mut [0; 24]);
    suffixes(b"a", &mut [0; 1], &mut [0; 1], &mut [0; 1]);
    longest(b"banana", &[5, 3, 1, 0, 4, 2]);
}
