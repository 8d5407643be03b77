//! The state of a search, copied into each child.

#[millstream::program]
pub mod program {
    #[task]
    pub fn derangements(used: u32, at: u32, n: u32) -> u32 {
        if at == n {
            return 1;
        }
        let mut found = 0;
        for i in 0..n {
            if i != at && used >> i & 1 == 0 {
                found += spawn!(derangements(used | 1 << i, at + 1, n));
            }
        }
        sync!();
        found
    }

    #[task]
    pub fn heaviest(list: [u8; 5], fixed: usize) -> u32 {
        if fixed == 5 {
            let mut weight = 0;
            for (i, &x) in list.iter().enumerate() {
                weight += (i as u32 + 1) * x as u32 % 7;
            }
            return weight;
        }
        let mut best = 0;
        for i in fixed..5 {
            let mut next = list;
            next.swap(fixed, i);
            best = best.max(spawn!(heaviest(next, fixed + 1)));
        }
        sync!();
        best
    }
}

millstream_tests::cases! {
    derangements(0, 0, 6);
    heaviest([3, 1, 4, 15, 9], 0);
}
