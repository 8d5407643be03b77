//! Blocks, branches and loops that have a value.

#[millstream::program]
pub mod program {
    #[task]
    pub fn blocks(n: i32) -> i32 {
        let a = {
            let t = n * 2;
            t + 1
        };
        let b = if a > 10 {
            a - 10
        } else if a > 5 {
            a
        } else {
            -a
        };
        let c = match b {
            0 => 100,
            x if x < 0 => {
                let y = -x;
                y * y
            }
            x => x,
        };
        a + b * c
    }
}

millstream_tests::cases! {
    blocks(0);
    blocks(3);
    blocks(10);
}
