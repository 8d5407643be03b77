//! Conditions within the value that a task ends with, whose ways end with children or without.

#[millstream::program]
pub mod program {
    #[task]
    pub fn sums(n: u32) -> u64 {
        if n < 2 { n as u64 + 1 } else { 1 + spawn!(sums(n - 1)) + if n % 3 == 0 { 5 } else { spawn!(sums(n - 2)) } * 2 }
    }

    #[task]
    pub fn ways(n: i32) -> (i32, Option<i32>) {
        if n > 9 {
            return (
                n,
                match n % 4 {
                    0 => None,
                    1 if n > 20 => Some(-1),
                    2 => {
                        let half = n / 2;
                        Some(2 * spawn!(least(half)))
                    }
                    _ => Some(spawn!(least(n - 3))),
                },
            );
        }
        (if let Some(m) = n.checked_sub(3) { spawn!(least(m)) } else { 0 } - spawn!(least(n)), Some(n))
    }

    #[task]
    pub fn least(n: i32) -> i32 {
        n.min(7) * 3
    }
}

millstream_tests::cases! {
    sums(0);
    sums(2);
    sums(3);
    sums(13);
    ways(2);
    ways(9);
    ways(12);
    ways(13);
    ways(21);
    ways(22);
    ways(23);
}
