//! Operands without a value, as the task ends there: what has them ends too, and what comes before them is done.

#[millstream::program]
#[allow(unreachable_code, unused_assignments, unused_variables, clippy::diverging_sub_expression)]
pub mod program {
    fn same(n: u64) -> u64 {
        n
    }

    #[task]
    pub fn run(n: u64, a: &mut [u64; 4]) -> u64 {
        let mut t = 0;
        match n {
            0 => t = same(return 1),
            1 => {
                let (x, y): (u64, u64) = (
                    {
                        a[0] = 9;
                        a[0]
                    },
                    return 2,
                );
                t = x + y;
            }
            2 => {
                let all: [u64; 2] = [a[1], return 3];
                t = all[0];
            }
            3 => t = (return 4) as u64,
            4 => {
                t |= if a[2] > 2 {
                    return 5;
                } else {
                    3
                }
            }
            5 => {
                a[2] = (n + 1)
                    * match a[1] {
                        2 => return 6,
                        k => k,
                    }
            }
            _ => {}
        }
        t + a[1] + a[2]
    }
}

millstream_tests::cases! {
    run(0, &mut [1, 2, 3, 4]);
    run(1, &mut [1, 2, 3, 4]);
    run(2, &mut [1, 2, 3, 4]);
    run(3, &mut [1, 2, 3, 4]);
    run(4, &mut [1, 2, 3, 4]);
    run(5, &mut [1, 2, 3, 4]);
    run(4, &mut [1, 2, 2, 4]);
    run(5, &mut [1, 3, 3, 4]);
    run(6, &mut [1, 2, 3, 4]);
}
