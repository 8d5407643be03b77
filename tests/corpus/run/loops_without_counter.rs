//! Loops that spawn and do not ask which turn it is.

#[millstream::program]
pub mod program {
    /// The number of leaves of a tree whose tasks have `wide` children each.
    #[task]
    pub fn leaves(depth: u32, wide: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        let mut sum = 0;
        for _ in 0..wide {
            sum += spawn!(leaves(depth - 1, wide));
        }
        sync!();
        sum
    }

    /// The same, where each turn is counted by nobody but the loop, in steps.
    #[task]
    pub fn steps(depth: u32, wide: i8) -> i32 {
        let mut sum = depth as i32;
        if depth > 0 {
            #[parallel]
            for _ in (1..wide).step_by(3) {
                sum = sum.wrapping_add(spawn!(steps(depth / 2, wide)));
            }
        }
        sync!();
        sum
    }
}

millstream_tests::cases! {
    leaves(0, 7);
    leaves(3, 20);
    leaves(2, 300);
    steps(4, 19);
    steps(9, 40);
}
