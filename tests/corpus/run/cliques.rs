//! k-cliques by ordered intersection of bit sets, and maximal cliques by Bron and Kerbosch with pivots.
#[millstream::program]
pub mod program {
    pub const W: usize = 2;
    type Set = [u64; W];

    fn edge(u: usize, v: usize, per_mille: u64) -> bool {
        if u == v { return false; }
        let (a, b) = if u < v { (u as u64, v as u64) } else { (v as u64, u as u64) };
        let mut h = a * 1_000_003 + b;
        h ^= h >> 13;
        h = h.wrapping_mul(0xff51_afd7_ed55_8ccd);
        h ^= h >> 29;
        h = h.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        (h >> 32) % 1000 < per_mille
    }

    #[task]
    fn adjacency(rows: &mut [Set], first: usize, n: usize, per_mille: u64) {
        if rows.len() > 4 {
            let (a, b) = rows.split_at_mut(rows.len() / 2);
            let m = a.len();
            spawn!(adjacency(a, first, n, per_mille));
            spawn!(adjacency(b, first + m, n, per_mille));
            return;
        }
        for (i, row) in rows.iter_mut().enumerate() {
            for v in 0..n {
                if edge(first + i, v, per_mille) { row[v / 64] |= 1 << (v % 64); }
            }
        }
    }

    fn and(a: &Set, b: &Set) -> Set {
        let mut c = [0; W];
        for i in 0..W { c[i] = a[i] & b[i]; }
        c
    }

    fn size(a: &Set) -> u32 { a[0].count_ones() + a[1].count_ones() }

    /// Those above `v`.
    fn above(v: usize) -> Set {
        if v < 63 { [!0 << (v + 1), !0] } else if v == 63 { [0, !0] } else if v < 127 { [0, !0 << (v - 63)] } else { [0, 0] }
    }

    #[task]
    pub fn clique(adjacent: &[Set], candidates: Set, k: u32) -> u64 {
        if k == 1 { return size(&candidates) as u64; }
        let mut count = 0;
        for w in 0..W {
            let mut bits = candidates[w];
            while bits != 0 {
                let v = w * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let next = and(&and(&candidates, &adjacent[v]), &above(v));
                if size(&next) + 1 >= k {
                    count += spawn!(clique(adjacent, next, k - 1));
                }
            }
        }
        sync!();
        count
    }

    /// How many maximal cliques there are, and how large they are.
    #[task]
    pub fn maximal(adjacent: &[Set], chosen: u32, mut p: Set, mut x: Set) -> (u64, u64, u32) {
        if p == [0; W] && x == [0; W] { return (1, chosen as u64, chosen); }
        let (mut pivot, mut most) = (0, 0);
        for v in 0..adjacent.len() {
            if (p[v / 64] | x[v / 64]) >> (v % 64) & 1 == 1 {
                let s = size(&and(&p, &adjacent[v])) + 1;
                if s > most { most = s; pivot = v; }
            }
        }
        let mut todo = p;
        for w in 0..W { todo[w] &= !adjacent[pivot][w]; }
        let mut total = (0u64, 0u64, 0u32);
        while todo != [0; W] {
            let mut found = [(0u64, 0u64, 0u32); 4];
            for slot in 0..4 {
                let v = if todo[0] != 0 { todo[0].trailing_zeros() as usize } else if todo[1] != 0 { 64 + todo[1].trailing_zeros() as usize } else { 128 };
                if v == 128 { break; }
                todo[v / 64] ^= 1 << (v % 64);
                found[slot] = spawn!(maximal(adjacent, chosen + 1, and(&p, &adjacent[v]), and(&x, &adjacent[v])));
                p[v / 64] ^= 1 << (v % 64);
                x[v / 64] |= 1 << (v % 64);
            }
            sync!();
            for (n, s, l) in found {
                total = (total.0 + n, total.1 + s, total.2.max(l));
            }
        }
        total
    }

    #[task]
    pub fn cliques(rows: &mut [Set], per_mille: u64, k: u32) -> (u64, (u64, u64, u32)) {
        let n = rows.len();
        assert!(n <= 128);
        spawn!(adjacency(rows, 0, n, per_mille));
        sync!();
        let all: Set = if n > 64 { [!0, !0 >> (128 - n)] } else { [!0 >> (64 - n), 0] };
        let of_k = spawn!(clique(rows, all, k));
        let m = spawn!(maximal(rows, 0, all, [0; W]));
        sync!();
        (of_k, m)
    }
}

millstream_tests::cases! {
    cliques(&mut vec![[0u64; 2]; 10], 500, 3);
}
