//! `break` and `continue` of an outer loop by its label.

#[millstream::program]
pub mod program {
    #[task]
    pub fn first_pair(target: u32) -> (u32, u32) {
        let mut found = (0, 0);
        'outer: for a in 1..100u32 {
            for b in a..100 {
                if a * b > target {
                    continue 'outer;
                }
                if a * a + b * b == target {
                    found = (a, b);
                    break 'outer;
                }
            }
        }
        found
    }

    #[task]
    pub fn block(n: i32) -> i32 {
        let kind = 'pick: {
            if n < 0 {
                break 'pick -1;
            }
            if n == 0 {
                break 'pick 0;
            }
            1
        };
        kind * 10
    }
}

millstream_tests::cases! {
    first_pair(25);
    first_pair(5000);
    first_pair(3);
    block(-4);
    block(0);
    block(4);
}
