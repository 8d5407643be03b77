//! Longest common subsequence by rows; batches of pairs in parallel.
#[millstream::program]
pub mod program {
    const MAX: usize = 64;

    fn lcs(a: &[u8], b: &[u8]) -> usize {
        let mut prev = [0usize; MAX + 1];
        for &x in a {
            let mut cur = [0; MAX + 1];
            for (j, &y) in b.iter().enumerate() {
                cur[j + 1] = if x == y { prev[j] + 1 } else { std::cmp::max(prev[j + 1], cur[j]) };
            }
            prev = cur;
        }
        prev[b.len()]
    }

    #[task]
    pub fn pair(a: &[u8], b: &[u8], out: &mut u32) {
        *out = lcs(a, b) as u32;
    }

    #[task]
    pub fn all(words: &[u8], width: usize, out: &mut [u32]) {
        let first = &words[..width];
        for (word, slot) in words.chunks_exact(width).zip(out.iter_mut()) {
            spawn!(pair(first, word, slot));
        }
    }
}
millstream_tests::cases! {
    all(b"AGGTABGXTXAYBAAGGTAB".as_slice(), 5, &mut vec![0; 4]);
}
