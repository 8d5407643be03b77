//! A tree of hashes by SHA-256, whose constants are computed and which is given one byte after the other: a large helper of many calls.
#[millstream::program]
pub mod program {
    use std::ops::Deref;
    const K: [u32; 64] = {
        // fractional parts of the cube roots of the first 64 primes, by integer cube roots
        let mut k = [0u32; 64];
        let mut n = 2u64;
        let mut i = 0;
        while i < 64 {
            let mut p = true;
            let mut d = 2;
            while d * d <= n { if n % d == 0 { p = false; } d += 1; }
            if p { k[i] = frac_root(n); i += 1; }
            n += 1;
        }
        k
    };
    const fn frac_root(n: u64) -> u32 {
        // the largest x with (x / 2^32)^3 <= n, by bits; products by halves to stay within u64
        let mut lo = 0u64;
        let mut bit = 34;
        loop {
            let x = lo | 1 << bit;
            if le_cube(x, n) { lo = x; }
            if bit == 0 { break; }
            bit -= 1;
        }
        lo as u32
    }
    const fn le_cube(x: u64, n: u64) -> bool {
        // x^3 <= n << 96, in base 2^16 digits
        let xd = [x & 0xffff, x >> 16 & 0xffff, x >> 32];
        let mut sq = [0u64; 6];
        let mut i = 0;
        while i < 3 { let mut j = 0; while j < 3 { sq[i + j] += xd[i] * xd[j]; j += 1; } i += 1; }
        let mut c = 0;
        let mut i = 0;
        while i < 6 { let t = sq[i] + c; sq[i] = t & 0xffff; c = t >> 16; i += 1; }
        let mut cu = [0u64; 9];
        let mut i = 0;
        while i < 6 { let mut j = 0; while j < 3 { cu[i + j] += sq[i] * xd[j]; j += 1; } i += 1; }
        let mut c = 0;
        let mut i = 0;
        while i < 9 { let t = cu[i] + c; cu[i] = t & 0xffff; c = t >> 16; i += 1; }
        let top = cu[6] | cu[7] << 16 | cu[8] << 32;
        top < n || (top == n && cu[0] | cu[1] | cu[2] | cu[3] | cu[4] | cu[5] == 0)
    }
    const IV: [u32; 8] = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct Digest(pub [u32; 8]);
    impl Deref for Digest { type Target = [u32; 8]; fn deref(&self) -> &[u32; 8] { &self.0 } }

    struct Sha { h: [u32; 8], block: [u8; 64], len: usize }
    impl Sha {
        fn new() -> Self { Sha { h: IV, block: [0; 64], len: 0 } }
        fn compress(&mut self) {
            let mut w = [0u32; 64];
            for (w, b) in w.iter_mut().zip(self.block.chunks_exact(4)) { *w = u32::from_be_bytes(b.try_into().unwrap()); }
            for i in 16..64 {
                let s = |x: u32, a, b, c: u32| x.rotate_right(a) ^ x.rotate_right(b) ^ x >> c;
                w[i] = w[i - 16].wrapping_add(s(w[i - 15], 7, 18, 3)).wrapping_add(w[i - 7]).wrapping_add(s(w[i - 2], 17, 19, 10));
            }
            let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = self.h;
            for (&k, &w) in K.iter().zip(&w) {
                let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
                let t1 = h.wrapping_add(s1).wrapping_add((e & f) ^ (!e & g)).wrapping_add(k).wrapping_add(w);
                let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
                let t2 = s0.wrapping_add((a & b) ^ (a & c) ^ (b & c));
                (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(t1), c, b, a, t1.wrapping_add(t2));
            }
            for (h, x) in self.h.iter_mut().zip([a, b, c, d, e, f, g, h]) { *h = h.wrapping_add(x); }
        }
        fn push(&mut self, byte: u8) {
            self.block[self.len % 64] = byte;
            self.len += 1;
            if self.len.is_multiple_of(64) { self.compress(); }
        }
        fn update(&mut self, bytes: impl IntoIterator<Item = u8>) -> &mut Self { for b in bytes { self.push(b); } self }
        fn finish(mut self) -> Digest {
            let bits = 8 * self.len as u64;
            self.push(0x80);
            while self.len % 64 != 56 { self.push(0); }
            self.update(bits.to_be_bytes());
            Digest(self.h)
        }
    }

    #[task]
    pub fn tree(data: &[u8], leaf: usize) -> Digest {
        let mut sha = Sha::new();
        if data.len() <= leaf {
            sha.push(0);
            sha.update(data.iter().copied());
            return sha.finish();
        }
        let half = data.len().next_power_of_two() / 2;
        let (l, r) = data.split_at(half);
        let (l, r) = (spawn!(tree(l, leaf)), spawn!(tree(r, leaf)));
        sync!();
        sha.push(1);
        for d in [l, r] { for w in d.iter() { sha.update(w.to_be_bytes()); } }
        sha.finish()
    }

    #[task]
    pub fn hash(data: &[u8]) -> [u32; 8] {
        let mut s = Sha::new();
        s.update(data.iter().cloned());
        *s.finish()
    }
}
millstream_tests::cases! {
    hash(&b"abc".to_vec());
    tree(&(0..1000u32).map(|i| (i * i) as u8).collect::<Vec<_>>(), 64);
}
