//! Cliques, colourings and paths over sets of vertices: `impl IntoIterator` and `FromIterator`.

#[millstream::program]
pub mod program {
    const V: usize = 20;

    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct VertexSet(u32);

    impl VertexSet {
        const EMPTY: Self = VertexSet(0);
        fn all(n: usize) -> Self { VertexSet((1u32 << n) - 1) }
        fn contains(self, v: usize) -> bool { self.0 >> v & 1 == 1 }
        fn insert(&mut self, v: usize) -> bool { let new = !self.contains(v); self.0 |= 1 << v; new }
        fn remove(&mut self, v: usize) { self.0 &= !(1 << v); }
        fn len(self) -> usize { self.0.count_ones() as usize }
        fn is_empty(self) -> bool { self.0 == 0 }
        fn first(self) -> Option<usize> { (!self.is_empty()).then(|| self.0.trailing_zeros() as usize) }
    }
    impl std::ops::BitAnd for VertexSet { type Output = Self; fn bitand(self, rhs: Self) -> Self { Self(self.0 & rhs.0) } }
    impl std::ops::BitOr for VertexSet { type Output = Self; fn bitor(self, rhs: Self) -> Self { Self(self.0 | rhs.0) } }
    impl std::ops::Sub for VertexSet { type Output = Self; fn sub(self, rhs: Self) -> Self { Self(self.0 & !rhs.0) } }
    impl std::ops::BitOrAssign for VertexSet { fn bitor_assign(&mut self, rhs: Self) { self.0 |= rhs.0 } }
    impl IntoIterator for VertexSet {
        type Item = usize;
        type IntoIter = Members;
        fn into_iter(self) -> Members { Members(self) }
    }
    impl FromIterator<usize> for VertexSet {
        fn from_iter<I: IntoIterator<Item = usize>>(iter: I) -> Self {
            let mut s = Self::EMPTY;
            for v in iter { s.insert(v); }
            s
        }
    }
    pub struct Members(VertexSet);
    impl Iterator for Members {
        type Item = usize;
        fn next(&mut self) -> Option<usize> {
            let v = self.0.first()?;
            self.0.remove(v);
            Some(v)
        }
    }

    #[derive(Clone, Copy)]
    pub struct Graph { adj: [VertexSet; V], n: usize }
    impl Graph {
        fn random(n: usize, percent: u32, seed: u32) -> Self {
            let mut g = Graph { adj: [VertexSet::EMPTY; V], n };
            let mut h = seed;
            for u in 0..n {
                for v in 0..u {
                    h = (h ^ (u * 31 + v) as u32).wrapping_mul(0x01000193).rotate_left(7);
                    if h % 100 < percent { g.adj[u].insert(v); g.adj[v].insert(u); }
                }
            }
            g
        }
    }

    /// Bron-Kerbosch with pivot
    #[task]
    pub fn cliques(g: &Graph, r: VertexSet, mut p: VertexSet, mut x: VertexSet) -> (u64, usize) {
        if p.is_empty() && x.is_empty() { return (1, r.len()); }
        let Some(pivot) = (p | x).into_iter().max_by_key(|&u| (p & g.adj[u]).len()) else { return (0, 0) };
        let mut out = [(0, 0); V];
        for v in p - g.adj[pivot] {
            out[v] = spawn!(cliques(g, r | VertexSet(1 << v), p & g.adj[v], x & g.adj[v]));
            p.remove(v);
            x.insert(v);
        }
        sync!();
        out.iter().copied().reduce(|(a, b), (c, d)| (a + c, b.max(d))).unwrap()
    }

    #[task]
    pub fn colourings(g: &Graph, v: usize, colours: [u8; V], k: u8) -> u64 {
        if v == g.n { return 1; }
        let used: u32 = g.adj[v].into_iter().filter(|&u| u < v).fold(0, |m, u| m | 1 << colours[u]);
        let mut total = 0;
        for c in (0..k).filter(|c| used >> c & 1 == 0) {
            let mut next = colours;
            next[v] = c;
            total += spawn!(colourings(g, v + 1, next, k));
        }
        sync!();
        total
    }

    #[task]
    pub fn hamiltonian(g: &Graph, at: usize, seen: VertexSet) -> u64 {
        if seen == VertexSet::all(g.n) { return 1; }
        let mut paths = 0;
        for next in g.adj[at] - seen {
            let mut seen = seen;
            seen.insert(next);
            paths += spawn!(hamiltonian(g, next, seen));
        }
        sync!();
        paths
    }

    #[task]
    pub fn run(n: usize, percent: u32, seed: u32) -> ((u64, usize), u64, u64, usize) {
        let g = Graph::random(n, percent, seed);
        let c = spawn!(cliques(&g, VertexSet::EMPTY, VertexSet::all(n), VertexSet::EMPTY));
        let k = spawn!(colourings(&g, 0, [0; V], 3));
        let h = spawn!(hamiltonian(&g, 0, VertexSet(1)));
        sync!();
        let even: VertexSet = (0..n).filter(|v| v % 2 == 0).collect();
        (c, k, h, even.len())
    }
}

millstream_tests::cases! {
    run(9, 50, 3);
    run(8, 70, 8);
}
