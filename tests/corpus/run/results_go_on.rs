//! Values that are made of a child's result before they go to a place: game trees, cheapest ways, heights, weighted sums.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU32, Ordering};

    const PRIME: u64 = 1_000_007;

    #[derive(Clone, Copy)]
    pub struct Pair {
        a: u64,
        b: i32,
    }

    /// The best of three moves, each as good as it is bad for the other.
    #[task]
    pub fn negamax(state: u32, depth: u32) -> i32 {
        if depth == 0 {
            return (state % 37) as i32 - 18;
        }
        let mut best = -100;
        for step in 1..4 {
            best = best.max(-spawn!(negamax(state * 5 % 1009 + step, depth - 1)));
        }
        sync!();
        best
    }

    /// The cheapest way through all that is left.
    #[task]
    pub fn tour(costs: &[u32], n: usize, at: usize, left: u32) -> u32 {
        if left == 0 {
            return costs[at * n];
        }
        let mut best = 1000;
        for next in 0..n {
            if left & 1 << next != 0 {
                best = best.min(costs[at * n + next] + spawn!(tour(costs, n, next, left & !(1 << next))));
            }
        }
        sync!();
        best
    }

    #[task]
    pub fn height(n: u32) -> u32 {
        let mut h = 0;
        for i in 1..=n.min(3) {
            h = h.max(1 + spawn!(height(n - i)));
        }
        sync!();
        h
    }

    #[task]
    pub fn pair(n: u32) -> Pair {
        if n == 0 {
            return Pair { a: 1, b: -1 };
        }
        let a = spawn!(pair(n - 1)).a;
        let b: i32 = 2 + spawn!(pair(n / 2)).b;
        sync!();
        Pair { a: a + n as u64, b }
    }

    fn scaled(x: u64, y: u64) -> u64 {
        x * y % PRIME
    }

    #[task]
    pub fn weighted(n: u64, by: [u64; 3]) -> u64 {
        if n < 3 {
            return by[n as usize];
        }
        let (mut sum, mut any, mut out) = (0u64, false, [0u64; 3]);
        for i in 0..3 {
            sum += by[i] * scaled(spawn!(weighted(n - 1 - i as u64, by)), i as u64 + 1);
            any |= spawn!(height(n as u32 / 3)) > 1;
            out[i] = spawn!(pair(i as u32)).a as u64 + n;
        }
        let other = if n > 7 { scaled(spawn!(weighted(n - 3, by)), 2) } else { 5 };
        let (x, y) = (1 + spawn!(height(2)), spawn!(height(3)) * 2);
        let least = other_way(n).min(spawn!(height(4)));
        sync!();
        (sum + out.iter().sum::<u64>() + other + (x + y + least) as u64 + any as u64) % PRIME
    }

    fn other_way(n: u64) -> u32 {
        n as u32 % 7
    }

    /// What stands before a child is read before it, what stands behind it after it.
    #[task]
    pub fn in_order(n: u32) -> (u32, u32) {
        let calls = AtomicU32::new(0);
        let mut places = [7, 9];
        let x = places[0] * 100 + spawn!(first(&mut places, n));
        sync!();
        let y = spawn!(count(n, &calls)) + calls.load(Ordering::Relaxed) * 10;
        sync!();
        (x + places[0], y)
    }

    #[task]
    pub fn first(places: &mut [u32], n: u32) -> u32 {
        places[0] += n;
        n
    }

    #[task]
    pub fn count(n: u32, calls: &AtomicU32) -> u32 {
        calls.fetch_add(1, Ordering::Relaxed);
        if n == 0 { 1 } else { spawn!(count(n - 1, calls)) }
    }

    #[task]
    pub fn found(n: u32) -> Option<u32> {
        if n % 3 == 0 { None } else { Some(n) }
    }

    /// Names that a closure's arms declare, and memory that changes after the spawn: it is read in front of the child.
    #[task]
    pub fn arms(v: &mut [u32], n: u32) -> u32 {
        let mut sum = 0;
        for i in 0..n {
            let at = i as usize % v.len();
            sum += v[at] * spawn!(found(i)).map_or(1, |x| match (x, i % 2) {
                (y, 0) | (_, y) if y > 2 => y * 2,
                (y, z) => y + z,
            });
            v[at] = 0;
        }
        sync!();
        sum
    }

    /// Captured names that change after the spawn.
    #[task]
    pub fn changed(n: u32) -> u32 {
        let (mut sum, mut scale) = (0, 1);
        let add = |x: u32| x + n;
        for i in 0..n {
            sum += spawn!(height(i % 4)) * scale + add(i);
            scale += i;
        }
        sync!();
        sum
    }
}

millstream_tests::cases! {
    negamax(7, 0);
    negamax(7, 6);
    tour(&[0, 4, 9, 7, 4, 0, 3, 8, 9, 3, 0, 2, 7, 8, 2, 0], 4, 0, 0b1110);
    height(0);
    height(7);
    weighted(2, [1, 2, 3]);
    weighted(9, [1, 2, 3]);
    in_order(5);
    arms(&mut [5, 6, 7], 9);
    changed(6);
}
