//! Loops that wait for a child in each turn, and do with its result what has an order: their turns may run in strips where none goes by what an earlier one changed.
#[millstream::program]
pub mod program {
    /// The first of the best, in turns of which some are left out.
    #[task]
    pub fn minimax(n: u32, state: u32, player: bool) -> (i32, u32) {
        if n == 0 {
            return ((state.wrapping_mul(2654435761) >> 24) as i32 - 128, 99);
        }
        let (mut best, mut chosen) = (if player { -10000 } else { 10000 }, 7);
        for m in 0..4 {
            if state % 7 == m {
                continue;
            }
            let (score, _) = spawn!(minimax(n - 1, state % 1000 * 5 + m, !player));
            sync!();
            if player && score > best || !player && score < best {
                best = score;
                chosen = m;
            }
        }
        (best, chosen)
    }

    /// Sums of floats, in their order, of more turns than a strip has.
    #[task]
    pub fn series(n: u32, turns: u32, x: f64) -> f64 {
        if n == 0 {
            return 1.0 / x;
        }
        let (mut sum, mut i) = (0.5, 0);
        while i < turns {
            let r = spawn!(series(n - 1, turns / 3, x * 1.5 + i as f64));
            sync!();
            sum = sum * 0.99 + r * i as f64;
            i += 1;
        }
        sum
    }

    #[task]
    pub fn collatz(n: u64, steps: u32) -> Option<u32> {
        match n {
            1 => Some(steps),
            _ if steps > 60 => None,
            _ if n % 2 == 0 => {
                let r = spawn!(collatz(n / 2, steps + 1));
                sync!();
                r
            }
            _ => {
                let r = spawn!(collatz(3 * n + 1, steps + 1));
                sync!();
                r
            }
        }
    }

    /// What is written to is lent to no child; a turn's own number, array and struct are kept.
    #[task]
    pub fn table(out: &mut [u32], weights: &[u32]) -> (u32, u32) {
        let (mut missed, mut longest) = (0, 0);
        for i in 0..out.len() {
            let own = [i as u32, weights[i % weights.len()], 3];
            let steps = spawn!(collatz(i as u64 + 1, 0));
            sync!();
            match steps {
                Some(s) => {
                    out[i] = s * own[1] + own[0];
                    if i > 0 {
                        out[i] ^= out[i - 1];
                    }
                    if s > longest {
                        longest = s;
                    }
                }
                None => missed += own[2],
            }
        }
        (missed, longest)
    }

    /// A turn that reads what an earlier one wrote, and one that ends the loop: one after the other.
    #[task]
    pub fn ordered(out: &mut [u32]) -> u32 {
        let mut last = 1;
        for i in 1..out.len() {
            let steps = spawn!(collatz(out[i - 1] as u64 % 9 + 1, last % 3));
            sync!();
            out[i] = steps.unwrap_or(5) + i as u32;
            last = last * 3 + out[i];
            if last > 5000 {
                break;
            }
        }
        last
    }

    /// Two children of a turn, in loops in each other, of which the inner one begins anew with a variable of the outer one's.
    #[task]
    pub fn rows(n: u32, seed: u32) -> (u32, u32) {
        if n == 0 {
            return (seed % 17, seed % 5);
        }
        let (mut all, mut last) = (seed, 0);
        for row in 0..3 {
            let mut kept = row;
            let mut left = 5;
            loop {
                if left == 0 {
                    break;
                }
                left -= 1;
                let a = spawn!(rows(n - 1, seed % 100 + left));
                let (b, c) = spawn!(rows(n - 1, seed % 50 + row * left));
                sync!();
                kept = kept * 3 + a.0;
                let d = b - b / 2;
                last = d * 2 + c;
                kept ^= last + left;
            }
            all = all.rotate_left(3) ^ kept;
        }
        (all, last)
    }
}

millstream_tests::cases! {
    minimax(5, 3, true);
    minimax(6, 11, false);
    series(2, 40, 3.0);
    series(3, 9, 0.25);
    table(&mut [0; 50], &[3, 1, 4]);
    table(&mut [0; 16], &[7]);
    ordered(&mut [3; 20]);
    rows(2, 1234);
}
