//! Kruskal with union-find over edges; forests by halves.
#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
    pub struct Edge {
        pub weight: u32,
        pub from: u16,
        pub to: u16,
    }

    struct UnionFind<const N: usize> {
        parent: [usize; N],
        size: [usize; N],
    }

    impl<const N: usize> UnionFind<N> {
        fn new() -> Self {
            let mut parent = [0; N];
            for (i, p) in parent.iter_mut().enumerate() {
                *p = i;
            }
            Self { parent, size: [1; N] }
        }

        fn find(&mut self, mut x: usize) -> usize {
            while self.parent[x] != x {
                self.parent[x] = self.parent[self.parent[x]];
                x = self.parent[x];
            }
            x
        }

        fn union(&mut self, a: usize, b: usize) -> bool {
            let (mut a, mut b) = (self.find(a), self.find(b));
            if a == b {
                return false;
            }
            if self.size[a] < self.size[b] {
                (a, b) = (b, a);
            }
            self.parent[b] = a;
            self.size[a] += self.size[b];
            true
        }
    }

    #[task]
    pub fn sort(edges: &mut [Edge]) {
        if edges.len() <= 4 {
            edges.sort_by_key(|e| e.weight);
            return;
        }
        let pivot = edges[edges.len() / 2].weight;
        let mut i = 0;
        let mut end = edges.len();
        let mut k = 0;
        while k < end {
            let w = edges[k].weight;
            if w < pivot {
                edges.swap(i, k);
                i += 1;
                k += 1;
            } else if w > pivot {
                end -= 1;
                edges.swap(k, end);
            } else {
                k += 1;
            }
        }
        let (low, rest) = edges.split_at_mut(i);
        let (_, high) = rest.split_at_mut(end - i);
        spawn!(sort(low));
        spawn!(sort(high));
        sync!();
    }

    #[task]
    pub fn kruskal(edges: &mut [Edge]) -> (u32, usize) {
        spawn!(sort(edges));
        sync!();
        let mut uf = UnionFind::<32>::new();
        let mut total = 0;
        let mut count = 0;
        for e in edges.iter() {
            if uf.union(e.from as usize, e.to.into()) {
                total += e.weight;
                count += 1;
            }
        }
        (total, count)
    }
}
millstream_tests::cases! {
    kruskal(&mut vec![program::Edge { weight: 7, from: 0, to: 1 }, program::Edge { weight: 5, from: 1, to: 2 }, program::Edge { weight: 8, from: 0, to: 2 }, program::Edge { weight: 9, from: 1, to: 3 }, program::Edge { weight: 1, from: 3, to: 4 }, program::Edge { weight: 3, from: 2, to: 4 }]);
}
