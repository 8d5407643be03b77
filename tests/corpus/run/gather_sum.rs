//! A sum over children whose number only the data knows.

#[millstream::program]
pub mod program {
    #[task]
    pub fn nodes(depth: u32, seed: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        let mut total = 1;
        let children = seed % 4;
        for i in 0..children {
            total += spawn!(nodes(depth - 1, seed * 5 + i * 3 + 1));
        }
        sync!();
        total
    }
}

millstream_tests::cases! {
    nodes(0, 1);
    nodes(6, 3);
    nodes(10, 7);
}
