//! Spawns in blocks in loops in branches.

#[millstream::program]
pub mod program {
    #[task]
    pub fn add(x: u32, y: u32) -> u32 {
        x + y
    }

    #[task]
    pub fn nested(n: u32) -> u32 {
        let mut total = 0;
        if n > 2 {
            for i in 0..n {
                {
                    let base = i * 10;
                    let mut j = 0;
                    while j < i {
                        if (i + j) % 2 == 1 {
                            total += spawn!(add(base, j));
                        }
                        j += 1;
                    }
                }
            }
        }
        sync!();
        total
    }
}

millstream_tests::cases! {
    nested(2);
    nested(3);
    nested(8);
}
