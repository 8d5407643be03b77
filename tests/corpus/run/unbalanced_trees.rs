//! Unbalanced Tree Search, binomial trees: each node's state is a SHA-1 digest, of its parent's digest and its number among the children.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Debug, Default)]
    pub struct Stats {
        pub nodes: u64,
        pub leaves: u64,
        pub depth: u32,
    }

    type Digest = [u32; 5];

    /// One block of SHA-1.
    fn compress(state: Digest, words: [u32; 16]) -> Digest {
        let mut w = [0u32; 80];
        w[..16].copy_from_slice(&words);
        for t in 16..80 {
            w[t] = (w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16]).rotate_left(1);
        }
        let [mut a, mut b, mut c, mut d, mut e] = state;
        for t in 0..80 {
            let (f, k) = match t / 20 {
                0 => ((b & c) | (!b & d), 0x5a82_7999),
                1 => (b ^ c ^ d, 0x6ed9_eba1),
                2 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
                _ => (b ^ c ^ d, 0xca62_c1d6u32),
            };
            let temp = a.rotate_left(5).wrapping_add(f).wrapping_add(e).wrapping_add(k).wrapping_add(w[t]);
            e = d;
            d = c;
            c = b.rotate_left(30);
            b = a;
            a = temp;
        }
        [
            state[0].wrapping_add(a),
            state[1].wrapping_add(b),
            state[2].wrapping_add(c),
            state[3].wrapping_add(d),
            state[4].wrapping_add(e),
        ]
    }

    fn child_digest(parent: &Digest, number: u32) -> Digest {
        let mut block = [0u32; 16];
        for (b, p) in block.iter_mut().zip(parent) {
            *b = *p;
        }
        block[5] = number;
        block[6] = 0x8000_0000;
        block[15] = 24 * 8;
        compress([0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0], block)
    }

    fn chance(digest: &Digest) -> u32 {
        digest[4] & 0x7fff_ffff
    }

    #[task]
    pub fn search(digest: Digest, depth: u32, q: u32, m: u32) -> Stats {
        if chance(&digest) >= q {
            return Stats { nodes: 1, leaves: 1, depth };
        }
        let mut below = [Stats::default(); 8];
        for i in 0..m {
            below[i as usize] = spawn!(search(child_digest(&digest, i), depth + 1, q, m));
        }
        sync!();
        let mut all = Stats { nodes: 1, ..Stats::default() };
        for s in &below {
            all.nodes += s.nodes;
            all.leaves += s.leaves;
            all.depth = all.depth.max(s.depth);
        }
        all
    }

    /// The root has `b0` children.
    #[task]
    pub fn uts(seed: u32, b0: u32, q: f64, m: u32) -> Stats {
        let root = child_digest(&[0, 0, 0, 0, seed], 0);
        let limit = (q * 2147483648.0) as u32;
        let (mut nodes, mut leaves, mut depth) = (1, 0, 0);
        let mut done = 0;
        while done < b0 {
            let mut some = [Stats::default(); 16];
            for k in 0..16 {
                if done + k < b0 {
                    some[k as usize] = spawn!(search(child_digest(&root, done + k), 1, limit, m));
                }
            }
            sync!();
            for s in some {
                nodes += s.nodes;
                leaves += s.leaves;
                depth = s.depth.max(depth);
            }
            done += 16;
        }
        Stats { nodes, leaves, depth }
    }
}

millstream_tests::cases! {
    uts(42, 20, 0.12, 5);
}
