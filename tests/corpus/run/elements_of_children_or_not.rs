//! Elements and fields that get a child's result on one way and a value on another, and fields that are used beside those which children write.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy)]
    struct Ends {
        low: u64,
        high: u64,
    }

    #[task]
    pub fn chain(n: u32) -> u64 {
        if n < 2 {
            return 1;
        }
        let x = spawn!(chain(n - 1));
        sync!();
        x + 1
    }

    #[task]
    pub fn lent(n: u32, out: &mut [u64]) {
        out[0] = if n > 2 { spawn!(chain(n)) } else { 1 };
        sync!();
        out[1] = match n {
            0 => 7,
            1 => out[0] + 8,
            _ => spawn!(chain(n / 2)),
        };
        sync!();
        out[0] += out[1];
    }

    #[task]
    pub fn own(n: u32) -> u64 {
        let mut r = [0u64; 3];
        r[2] = if n > 3 { spawn!(chain(n)) } else { 4 };
        sync!();
        let mut e = Ends { low: 0, high: 0 };
        e.low = if n > 0 { spawn!(chain(2 * n)) } else { 3 };
        e.high = if n % 2 == 0 { 5 } else { spawn!(chain(n + 1)) };
        sync!();
        r[2] * 10_000 + e.low * 100 + e.high
    }

    #[derive(Clone, Copy, Default)]
    struct Tally {
        sum: u64,
        turns: u64,
        last: (u32, u64),
    }

    /// What stands beside a field that children write may be used meanwhile.
    #[task]
    pub fn beside(n: u32) -> u64 {
        let mut t = Tally::default();
        let mut pair = (0u64, [1u32; 3]);
        for i in 0..n {
            t.turns += 1;
            t.last.0 = i + t.turns as u32;
            t.sum += spawn!(chain(i));
            if i % 2 == 1 {
                pair.1[i as usize % 3] += t.last.0;
            } else {
                pair.0 ^= spawn!(chain(pair.1[0] % 9));
            }
        }
        t.last.1 = spawn!(chain(n));
        let seen = t.turns + u64::from(t.last.0);
        sync!();
        let Tally { sum, turns, last } = t;
        sum + 100 * turns + 1000 * u64::from(last.0) + 10_000 * last.1 + 100_000 * seen + pair.0 * 7 + u64::from(pair.1[1])
    }

    #[task]
    fn count(n: u32, turns: &mut u64) {
        *turns += u64::from(n);
    }

    /// The same where it is lent, and a field beside is lent to a child.
    #[task]
    pub fn lent_tally(n: u32, all: &mut [u64]) {
        let mut t = Tally::default();
        add(n, &mut t);
        t.sum += spawn!(chain(n));
        spawn!(count(n, &mut t.turns));
        t.last = (3, 4);
        sync!();
        all[0] = t.sum * 1000 + t.turns * 100 + t.last.1;
    }

    fn add(n: u32, t: &mut Tally) {
        t.sum += u64::from(n);
        t.turns = 2;
    }

    /// Where a child was lent something before.
    #[task]
    pub fn both(n: u32, values: &mut [u64], out: &mut [u64]) {
        spawn!(lent(n, values));
        out[0] += if n > 4 { spawn!(chain(n)) } else { 2 };
        sync!();
        out[0] += values[0];
    }
}

millstream_tests::cases! {
    lent(0, &mut [0; 2]);
    lent(1, &mut [0; 2]);
    lent(2, &mut [0; 2]);
    lent(9, &mut [0; 2]);
    own(0);
    own(3);
    own(6);
    beside(0);
    beside(1);
    beside(8);
    lent_tally(0, &mut [0]);
    lent_tally(5, &mut [0]);
    both(2, &mut [0; 2], &mut [10]);
    both(7, &mut [0; 2], &mut [10]);
}
