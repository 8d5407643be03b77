//! Recursion through parallel loops, of tasks and of helpers.

#[millstream::program]
pub mod program {
    #[task]
    pub fn tree(depth: u32, width: u32) -> u64 {
        let mut nodes = 1;
        if depth > 0 {
            #[parallel]
            for i in 0..width {
                nodes += spawn!(tree(depth - 1, i));
            }
            #[parallel]
            for i in 0..2 {
                nodes += branches(depth - 1, i);
            }
        }
        nodes
    }

    fn branches(depth: u32, width: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        let mut all = 0;
        #[parallel]
        for i in 0..width {
            all += branches(depth - 1, i + 1) + tree(depth - 1, 1);
        }
        all
    }
}

millstream_tests::cases! {
    tree(0, 3);
    tree(3, 4);
    tree(2, 70);
}
