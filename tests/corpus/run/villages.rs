//! BOTS' health: a tree of villages, each with a hospital; patients who cannot be helped go up the tree. Villages lie in preorder.
#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Default, PartialEq, Debug)]
    pub struct Village {
        pub level: u32,
        pub seed: u64,
        pub healthy: u32,
        pub waiting: u32,
        pub assess: [u32; 4],
        pub inside: [u32; 4],
        pub free: u32,
        pub visits: u64,
        pub cured: u64,
    }

    const BRANCH: usize = 4;

    fn draw(seed: &mut u64) -> u32 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) as u32
    }

    /// How many villages a tree of so many levels has.
    fn size(level: u32) -> usize {
        if level == 0 { 0 } else { 1 + BRANCH * size(level - 1) }
    }

    #[task]
    pub fn build(tree: &mut [Village], level: u32, seed: u64) {
        let (root, below) = tree.split_at_mut(1);
        let people = 1 << level;
        root[0] = Village { level, seed: seed ^ 0x5555, healthy: people, free: 1 << (level / 2), ..Default::default() };
        if level == 1 { return; }
        for (i, part) in below.chunks_exact_mut(size(level - 1)).enumerate() {
            spawn!(build(part, level - 1, seed.wrapping_mul(31).wrapping_add(i as u64)));
        }
    }

    fn day(v: &mut Village, arrived: u32) -> u32 {
        let mut seed = v.seed;
        // Those inside get better.
        v.healthy += v.inside[0];
        v.cured += v.inside[0] as u64;
        v.free += v.inside[0];
        for i in 0..3 { v.inside[i] = v.inside[i + 1]; }
        v.inside[3] = 0;
        // Those assessed go home, stay, or go up.
        let mut up = 0;
        for _ in 0..v.assess[0] {
            let x = draw(&mut seed) % 100;
            if x < 50 { v.healthy += 1; v.free += 1; }
            else if x < 80 || v.level == 0 { v.inside[3] += 1; }
            else { up += 1; v.free += 1; }
        }
        v.assess = [v.assess[1], v.assess[2], v.assess[3], 0];
        v.waiting += arrived;
        let take = v.waiting.min(v.free);
        v.waiting -= take;
        v.free -= take;
        v.assess[2] += take;
        // Some fall ill.
        let mut ill = 0;
        for _ in 0..v.healthy {
            if draw(&mut seed) % 20 == 0 { ill += 1; }
        }
        v.healthy -= ill;
        v.waiting += ill;
        v.visits += ill as u64;
        v.seed = seed;
        up
    }

    /// One day; returns how many are sent up.
    #[task]
    pub fn simulate(tree: &mut [Village], level: u32) -> u32 {
        let mut arrived = 0u32;
        let (root, below) = tree.split_at_mut(1);
        if level > 1 {
            let part = size(level - 1);
            let mut at = below;
            while !at.is_empty() {
                let (one, rest) = at.split_at_mut(part);
                arrived += spawn!(simulate(one, level - 1));
                at = rest;
            }
        }
        sync!();
        day(&mut root[0], arrived)
    }

    #[task]
    pub fn totals(tree: &[Village]) -> (u64, u64, u64) {
        if tree.len() <= 3 {
            let mut t = (0, 0, 0);
            for v in tree {
                t.0 += v.visits;
                t.1 += v.cured;
                t.2 += (v.healthy + v.waiting) as u64;
            }
            return t;
        }
        let (l, r) = tree.split_at(tree.len() / 2);
        let (a, b, c) = spawn!(totals(l));
        let (d, e, f) = spawn!(totals(r));
        sync!();
        (a + d, b + e, c + f)
    }

    #[task]
    pub fn health(tree: &mut [Village], levels: u32, days: u32) -> (u64, u64, u64) {
        assert_eq!(tree.len(), size(levels));
        spawn!(build(tree, levels, 23));
        sync!();
        for _ in 0..days {
            let sent = spawn!(simulate(tree, levels));
            sync!();
            tree[0].healthy += sent;
        }
        let all = spawn!(totals(tree));
        sync!();
        all
    }
}

millstream_tests::cases! {
    health(&mut vec![program::Village::default(); 21], 3, 4);
}
