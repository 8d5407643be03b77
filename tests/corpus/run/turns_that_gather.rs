//! Loops that wait for a child in each turn: those whose results only gather may run their children at once, and others may not.
#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    #[derive(Clone, Copy, Debug)]
    pub struct Seen {
        pub nodes: u64,
        pub best: i32,
        pub least: u8,
        pub odd: bool,
    }

    /// Each part of the result to a variable, in another order.
    #[task]
    pub fn tree(n: u32, seed: u32) -> (u64, u32, u64) {
        let (mut count, mut hash, mut most) = (1, seed as u64, seed % 100);
        for i in 0..3 {
            if n == 0 || (seed + i) % 5 == 0 {
                continue;
            }
            let (c, m, h) = spawn!(tree(n - 1, seed % 1000 * 7 + i));
            sync!();
            hash ^= h;
            count += c;
            most = most.max(m);
        }
        (count, most, hash * 3)
    }

    /// What is made of the result, in a loop that counts by itself.
    #[task]
    pub fn look(n: u32, seed: u32) -> Seen {
        let mut seen = Seen { nodes: 1, best: seed as i32 % 91 - 45, least: seed as u8, odd: seed % 2 == 1 };
        let (mut nodes, mut best, mut least, mut odd) = (0, seen.best, seen.least, seen.odd);
        let mut left = if n == 0 { 0 } else { 0b1011u32 };
        while left != 0 {
            let bit = left.trailing_zeros();
            left &= left - 1;
            let of = spawn!(look(n - 1, seed * 5 + bit));
            sync!();
            if of.nodes > 1 || bit == 1 {
                nodes += of.nodes;
                if of.best > best {
                    best = of.best;
                }
                if least > of.least {
                    least = of.least;
                }
            } else {
                nodes += 1;
            }
            if of.odd {
                odd = true;
            }
        }
        seen.nodes += nodes;
        (seen.best, seen.least, seen.odd) = (best, least, odd);
        seen
    }

    /// Lent to read from what may be written to, in loops in each other, one of which is left.
    #[task]
    pub fn parts(items: &[u32], depth: u32) -> u64 {
        if depth == 0 || items.len() < 4 {
            return items.iter().map(|x| *x as u64).sum();
        }
        let mut total = 0;
        for (i, half) in items.chunks(items.len() / 2).enumerate() {
            for k in 0..4 {
                let (from, to) = (k * half.len() / 2, (k + 1) * half.len() / 2);
                if to > half.len() {
                    break;
                }
                let x = spawn!(parts(&half[from..to], depth - 1));
                sync!();
                total += x * (i as u64 + 1);
            }
        }
        total
    }

    /// The same, where a turn changes what the next one reads: one after the other.
    #[task]
    pub fn changed(items: &mut [u32], own: u32) -> (u64, u64) {
        let mut buffer = [own; 4];
        let (mut total, mut of_own) = (0, 0);
        for i in 0..items.len().min(4) {
            let x = spawn!(parts(&items[..], 1));
            sync!();
            total += x;
            items[i] += i as u32 + 1;
        }
        for i in 0..4 {
            buffer[i] += i as u32;
            let x = spawn!(parts(&buffer, 1));
            sync!();
            of_own += x;
        }
        for i in 0..4 {
            let turn = [i, own, 7, i * 2];
            let x = spawn!(parts(&turn, 1));
            sync!();
            of_own += x;
        }
        (total, of_own)
    }

    /// And where it is read alone.
    #[task]
    pub fn lent(items: &mut [u32], own: u32) -> (u64, u64) {
        let mut buffer = [own, 1, 2, 3, 4];
        buffer[2] += 5;
        let (mut total, mut of_own) = (0, 0);
        for i in 0..items.len() {
            let x = spawn!(parts(&items[i..], 2));
            sync!();
            total += x;
            let y = spawn!(parts(&items[..i], 1));
            sync!();
            total += y;
        }
        for i in 0..buffer.len() {
            let x = spawn!(parts(&buffer[i..], 2));
            sync!();
            of_own += x;
        }
        buffer[0] = 9;
        items.fill(buffer[0]);
        (total, of_own + buffer.iter().map(|x| *x as u64).sum::<u64>())
    }

    /// By what came of earlier turns: one after the other.
    #[task]
    pub fn bound(n: u32, limit: u32) -> u32 {
        if n == 0 {
            return limit % 7 + limit;
        }
        let mut best = limit;
        for i in 0..3 {
            let r = spawn!(bound(n - 1, best + i));
            sync!();
            best = best.max(r);
        }
        best
    }

    #[task]
    pub fn sooner(n: u32, seed: u32) -> (u32, u32) {
        let (mut sum, mut turns) = (seed, 0);
        for i in 0..if n == 0 { 0 } else { 5 } {
            let (s, t) = spawn!(sooner(n - 1, seed + i));
            sync!();
            turns += t + 1;
            if sum > 40 {
                continue;
            }
            sum += s;
            if turns > 30 {
                break;
            }
        }
        (sum, turns)
    }

    /// Two children of a turn, others before it, and what a loop around it does.
    #[task]
    pub fn pairs(n: u32, seed: u32) -> (u64, i64, u32) {
        if n == 0 {
            return (1, seed as i64 % 11 - 5, seed & 7);
        }
        let (mut sum, mut dot, mut bits) = (0, 0, 0);
        let first = spawn!(pairs(n - 1, seed));
        for j in 0..2 {
            'inner: for i in 0..3 {
                if (i + j) % 4 == 3 {
                    continue 'inner;
                }
                let a = spawn!(pairs(n - 1, seed + i));
                let (s, d, b) = spawn!(pairs(n - 1, seed * 2 + j));
                sync!();
                let weight = (a.1 + i as i64) * d;
                dot += weight;
                sum += a.0 + s;
                bits |= a.2 & b;
                sum -= 1;
            }
            bits += 1;
        }
        sync!();
        (sum + first.0, dot - first.1, bits | first.2 & 1)
    }

    /// Floats of which the least stays, results that may not be there, and a way that is taken sometimes.
    #[task]
    pub fn nearest(points: &[[f32; 2]], at: (f32, f32), bits: u32) -> (f32, Option<u32>) {
        if points.len() <= 2 {
            let far = |p: &[f32; 2]| (p[0] - at.0) * (p[0] - at.0) + (p[1] - at.1) * (p[1] - at.1);
            let least = points.iter().map(far).fold(f32::INFINITY, f32::min);
            return (least, if least < 9.0 { Some(bits) } else { None });
        }
        let (left, right) = points.split_at(points.len() / 2);
        let (mut least, mut code, mut near) = (f32::INFINITY, 0, false);
        for (i, part) in [left, right].iter().enumerate() {
            if part.is_empty() {
                continue;
            }
            let (far, found) = spawn!(nearest(part, at, bits * 2 + i as u32));
            sync!();
            least = least.min(far);
            if let Some(bits) = found {
                code ^= bits;
                near = true;
            }
        }
        (least, if near { Some(code) } else { None })
    }

    fn marked(marks: &mut [u32; 4], x: u32) -> u32 {
        marks[x as usize % 4] += x;
        marks[0] ^ marks[3]
    }

    /// What is made of a result by helpers, with memory of its own and of the turn's.
    #[task]
    pub fn helped(n: u32, seed: u32) -> u32 {
        if n == 0 {
            return seed;
        }
        let (mut mixed, mut marks) = (0, [seed; 4]);
        for i in 0..4 {
            let weights = [i, i + 1, seed % 5];
            let r = spawn!(helped(n - 1, seed / 2 + i));
            sync!();
            let mut own = [r, 1, 2, i];
            mixed ^= marked(&mut own, r) * weights[r as usize % 3];
        }
        for i in 0..4 {
            let r = spawn!(helped(n - 1, i));
            sync!();
            mixed ^= marked(&mut marks, r);
        }
        mixed
    }

    #[task]
    fn counted(n: u32, hits: &AtomicU32) -> u32 {
        hits.fetch_add(n, Relaxed) + n
    }

    /// Children that count in an atomic see it in their order.
    #[task]
    pub fn shared(n: u32) -> u32 {
        let hits = AtomicU32::new(1);
        let mut sum = 0;
        for i in 0..n {
            let seen = spawn!(counted(i, &hits));
            sync!();
            sum += seen * i;
        }
        sum
    }

    #[task]
    fn push(n: u32, into: &mut [u32]) -> u32 {
        into[0] = into[0] * 3 + n;
        into[0]
    }

    /// And so do those that write.
    #[task]
    pub fn written(n: u32, into: &mut [u32]) -> (u32, u32) {
        let (mut sum, mut mixed) = (0, 0);
        for i in 0..n {
            let seen = spawn!(push(i, into));
            sync!();
            sum += seen;
            mixed ^= seen;
        }
        (sum, mixed)
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Tally {
        pub nodes: u64,
        pub best: i32,
        pub any: bool,
        pub pair: (u32, u8),
    }

    impl Tally {
        fn of(seed: u32) -> Self {
            Self { nodes: 1, best: seed as i32 % 1000 - 500, any: seed % 97 == 3, pair: (seed, seed as u8) }
        }

        fn merge(&mut self, other: &Self) {
            self.nodes += other.nodes;
            self.best = self.best.max(other.best);
            self.any |= other.any;
            self.pair.0 ^= other.pair.0;
            if other.pair.1 > self.pair.1 {
                self.pair.1 = other.pair.1;
            }
        }

        fn merged(self, Self { nodes, best, any, pair }: Self) -> Self {
            let least = self.pair.1.min(pair.1);
            Self { nodes: self.nodes + nodes, best: self.best.max(best), any: self.any | any, pair: (self.pair.0 ^ pair.0, least) }
        }

        /// One part goes by another.
        fn mixed(&mut self, other: Self) {
            self.nodes += other.nodes;
            self.best += other.best + self.nodes as i32 % 3;
        }
    }

    impl std::ops::AddAssign for Tally {
        fn add_assign(&mut self, other: Self) {
            self.merge(&other);
        }
    }

    impl std::ops::Add for Tally {
        type Output = Self;

        fn add(self, other: Self) -> Self {
            self.merged(other)
        }
    }

    #[task]
    pub fn tallied(n: u32, seed: u32, how: u32) -> Tally {
        let mut all = Tally::of(seed);
        if n == 0 {
            return all;
        }
        let next = |i: u32| (n - 1, seed * 3 + i, how + i);
        match how % 6 {
            0 => {
                for i in 0..3 {
                    let (n, seed, how) = next(i);
                    let one = spawn!(tallied(n, seed, how));
                    sync!();
                    all.nodes += one.nodes;
                    all.best = all.best.max(one.best);
                    if one.any {
                        all.any = true;
                    }
                    all.pair.0 ^= one.pair.0;
                }
            }
            1 => {
                for i in 0..3 {
                    let one = spawn!(tallied(n - 1, seed * 3 + i, how + i));
                    sync!();
                    all.merge(&one);
                }
            }
            2 => {
                for i in 0..3 {
                    let one = spawn!(tallied(n - 1, seed * 3 + i, how + i));
                    sync!();
                    all += one;
                }
            }
            3 => {
                for i in 0..3 {
                    let one = spawn!(tallied(n - 1, seed * 3 + i, how + i));
                    sync!();
                    all = all + one;
                }
            }
            4 => {
                for i in 0..3 {
                    let one = spawn!(tallied(n - 1, seed * 3 + i, how + i));
                    sync!();
                    all.mixed(one);
                }
            }
            // The one with the best of all, whole.
            _ => {
                for i in 0..3 {
                    let one = spawn!(tallied(n - 1, seed * 3 + i, how + i));
                    sync!();
                    if one.best > all.best {
                        all = one;
                    }
                }
            }
        }
        all
    }

    /// A variable that is added to beside the children's results, one that gathers in two ways, and a loop that the task leaves.
    #[task]
    pub fn beside(n: u32, seed: u32) -> (u32, u32, u32) {
        let (mut total, mut mixed, mut steps) = (0, seed, 0);
        if n > 0 {
            for i in 0..6 {
                if (seed + i) % 9 == 8 {
                    return (total, 77, steps);
                }
                steps += 1;
                let (t, m, s) = spawn!(beside(n - 1, seed + 3 * i));
                sync!();
                total += t;
                mixed ^= m;
                steps += s;
            }
            for i in 0..2 {
                let (t, m, _) = spawn!(beside(n - 1, seed + i));
                sync!();
                total ^= t;
                mixed = mixed.wrapping_mul(3) + m;
            }
        }
        (total + 1, mixed, steps)
    }
}

millstream_tests::cases! {
    tree(0, 4);
    tree(6, 3);
    look(0, 9);
    look(5, 3);
    parts(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13], 3);
    changed(&mut [5, 6, 7, 8, 9, 10], 3);
    lent(&mut [5, 6, 7, 8, 9, 10, 11], 3);
    bound(5, 1);
    sooner(3, 5);
    pairs(3, 5);
    nearest(&[[0.0, 1.0], [2.5, 3.0], [4.0, -1.0], [7.0, 7.0], [-3.0, 2.0]], (3.0, 3.0), 1);
    nearest(&[], (3.0, 3.0), 1);
    helped(4, 100);
    shared(9);
    written(9, &mut [1, 2]);
    tallied(4, 1, 0);
    tallied(4, 2, 1);
    tallied(4, 3, 2);
    tallied(4, 4, 3);
    tallied(4, 5, 4);
    tallied(4, 6, 5);
    beside(4, 1);
    beside(3, 7);
}
