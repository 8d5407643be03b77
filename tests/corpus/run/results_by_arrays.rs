//! Arrays and tuples of children's results in one `let`, under names or taken apart.

#[millstream::program]
pub mod program {
    #[task]
    pub fn count(n: u64) -> u64 {
        if n < 2 {
            return n + 1;
        }
        let [a, b] = [spawn!(count(n - 1)), spawn!(count(n - 2))];
        sync!();
        a + b
    }

    /// Names of parts of an array that one child gives.
    #[task]
    pub fn ends(low: u64, high: u64) -> [u64; 2] {
        if high - low < 3 {
            return [low % 7, high % 5];
        }
        let middle = (low + high) / 2;
        let [a, _] = spawn!(ends(low, middle));
        let [[_, b], [c, d]] = [spawn!(ends(middle, high)), spawn!(ends(low, middle))];
        sync!();
        [a + c, b + d]
    }

    /// The quarters of a square, again and again, behind a condition; the name is one of before.
    #[task]
    pub fn quarters(side: u32, seed: u32) -> u32 {
        if side == 0 {
            return seed;
        }
        let parts = [seed, seed + 1, seed ^ 5];
        let rest = seed % 3;
        let mut total = 0;
        for round in 0..2 {
            if (seed + round) % 3 == 0 {
                continue;
            }
            let parts = [
                spawn!(quarters(side - 1, parts[0])),
                spawn!(quarters(side / 2, parts[1] + round)),
                spawn!(quarters(side - 1, parts[2])),
                rest,
            ];
            sync!();
            total += parts[0] ^ parts[1] ^ parts[2] + parts[3];
        }
        total
    }

    fn next(state: &mut u64) -> u64 {
        *state = *state * 5 + 1;
        *state
    }

    /// What stands before the first child may change what the children are given.
    #[task]
    pub fn mixed(n: u64) -> u64 {
        let mut state = n;
        let mut all = (next(&mut state), spawn!(count(state % 8)), spawn!(ends(n, next(&mut state))), 7u8);
        let pair: [u64; 2] = [spawn!(count(n % 5)) * 2, n];
        let [x, y] = [spawn!(count(3)), n + 4];
        sync!();
        all.0 += pair[0];
        let [p, q] = all.2;
        all.0 + all.1 + p + q + all.3 as u64 + pair[1] + x + y + state
    }
}

millstream_tests::cases! {
    count(0);
    count(9);
    ends(3, 4);
    ends(3, 90);
    quarters(0, 4);
    quarters(4, 2);
    mixed(11);
    mixed(30);
}
