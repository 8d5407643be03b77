//! What a task makes of its children's results before it adds them up: of one more than of another, by ways that do not all add.
#[millstream::program]
pub mod program {
    /// Ways to part `n` things into `k` heaps.
    #[task]
    pub fn stirling(n: u64, k: u64) -> u64 {
        match (n, k) {
            (0, 0) => 1,
            (0, _) | (_, 0) => 0,
            _ => k * spawn!(stirling(n - 1, k)) + spawn!(stirling(n - 1, k - 1)),
        }
    }

    #[task]
    pub fn thrice(n: u32) -> u64 {
        if n < 2 {
            return n as u64;
        }
        let a = spawn!(thrice(n - 1));
        let b = spawn!(thrice(n - 2));
        sync!();
        (3 * a) % 1_000_003 + b
    }

    /// Adds at some nodes, and at others does not.
    #[task]
    pub fn mixed(n: u32) -> i64 {
        match n % 3 {
            _ if n < 3 => n as i64 - 1,
            0 => spawn!(mixed(n - 1)) + spawn!(mixed(n - 2)) + spawn!(mixed(n - 3)),
            1 => 2 * spawn!(mixed(n - 1)) + spawn!(mixed(n - 3)),
            _ => -spawn!(mixed(n - 2)) + 7,
        }
    }

    /// The second child depends on the first.
    #[task]
    pub fn after(n: u32) -> u32 {
        if n == 0 {
            return 1;
        }
        let a = spawn!(after(n - 1));
        sync!();
        spawn!(after(n / 2)) + spawn!(after((n - 1) / 2)) + a % 5
    }

    /// One gathers, and calls one that keeps what that gives.
    #[task]
    pub fn sums(n: u32) -> u64 {
        if n < 2 {
            return 1;
        }
        spawn!(sums(n - 1)) + spawn!(parts(n - 2))
    }

    #[task]
    pub fn parts(n: u32) -> u64 {
        if n < 2 {
            return 2;
        }
        let a = spawn!(parts(n - 1));
        let b = spawn!(sums(n - 2));
        sync!();
        (a ^ 3) + b
    }
}

millstream_tests::cases! {
    stirling(0, 0);
    stirling(14, 4);
    stirling(60, 2);
    thrice(1);
    thrice(18);
    mixed(2);
    mixed(17);
    mixed(19);
    after(0);
    after(15);
    sums(3);
    sums(16);
    parts(15);
}
