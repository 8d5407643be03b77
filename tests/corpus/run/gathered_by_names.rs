//! Structs that gather by operators which give names to the parts of their values.
#[millstream::program]
pub mod program {
    use std::ops::{Add, AddAssign, BitOrAssign};

    #[derive(Clone, Copy, PartialEq, Debug, Default)]
    pub struct Stats {
        pub nodes: u64,
        pub leaves: u64,
        pub deepest: u32,
    }

    /// In the parameter.
    impl AddAssign for Stats {
        fn add_assign(&mut self, Stats { nodes, leaves, deepest: depth }: Stats) {
            self.nodes += nodes;
            self.leaves += leaves;
            self.deepest = self.deepest.max(depth);
        }
    }

    /// Of both values, in front.
    impl Add for Stats {
        type Output = Self;
        fn add(self, other: Self) -> Self {
            let Self { nodes, leaves, deepest } = self;
            let Stats { nodes: more, .. } = other;
            Self { nodes: nodes + more, leaves: other.leaves + leaves, deepest: deepest.max(other.deepest) }
        }
    }

    #[derive(Clone, Copy, PartialEq, Debug, Default)]
    pub struct Found(pub u32, pub Stats);

    /// Of what is behind the reference, and of a part that has an operator of its own.
    impl BitOrAssign for Found {
        fn bitor_assign(&mut self, Found(set, stats): Found) {
            let Found(own, all) = self;
            *own |= set;
            *all = *all + stats;
        }
    }

    #[task]
    pub fn tree(n: u32, depth: u32) -> Stats {
        let mut stats = Stats { nodes: 1, leaves: u64::from(n < 2), deepest: depth };
        if n >= 2 {
            stats += spawn!(tree(n / 2, depth + 1));
            stats += spawn!(tree(n / 3, depth + 1));
        }
        sync!();
        stats
    }

    #[task]
    pub fn twice(n: u32) -> Stats {
        let mut stats = Stats::default();
        for i in 0..n {
            stats = stats + spawn!(tree(i, i));
        }
        sync!();
        stats
    }

    #[task]
    pub fn found(n: u32) -> Found {
        let mut found = Found(1 << n, Stats { nodes: 1, leaves: 0, deepest: n * 7 % 5 });
        for i in 0..n {
            found |= spawn!(found_at(i));
        }
        sync!();
        found
    }

    #[task]
    pub fn found_at(n: u32) -> Found {
        Found(2 << n, Stats { nodes: 2, leaves: u64::from(n), deepest: n * 3 % 7 })
    }
}
millstream_tests::cases! {
    tree(40, 0);
    twice(9);
    found(0);
    found(11);
}
