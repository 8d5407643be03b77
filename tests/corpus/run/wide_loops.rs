//! Loops that spawn so many children that their rounds are shared out, though nothing asks for it; and some that are not.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU32, Ordering};

    #[task]
    pub fn digit(n: u64) -> u64 {
        n % 10
    }

    #[task]
    pub fn mark(at: u32, seen: &[AtomicU32]) {
        seen[at as usize % seen.len()].fetch_add(at | 1, Ordering::Relaxed);
    }

    #[task]
    pub fn sum(n: u64) -> u64 {
        let mut total = 3;
        for i in 0..n {
            if i % 7 == 2 {
                continue;
            }
            let twice = i * 2;
            total += spawn!(digit(twice));
        }
        sync!();
        total
    }

    /// The last thing of a task, over a slice, in a branch.
    #[task]
    pub fn marks(data: &[u32], seen: &[AtomicU32], by: u32) {
        if data.len() > 2 {
            for (i, x) in data.iter().enumerate() {
                spawn!(mark(x / by + i as u32, seen));
            }
        }
    }

    /// To elements; of an array of its own too.
    #[task]
    pub fn fill(out: &mut [u64]) -> u64 {
        for i in 0..out.len() {
            out[i] = spawn!(digit(i as u64 * 3));
        }
        sync!();
        let mut own = [0; 300];
        for i in 0..300 {
            own[i] = spawn!(digit(i as u64));
        }
        sync!();
        own[299] * 100 + own[123]
    }

    /// In two variables.
    #[task]
    pub fn both(n: u64) -> (u64, u64) {
        let (mut sum, mut most) = (5, 1);
        for i in 0..n {
            sum += spawn!(digit(i));
            most = most.max(spawn!(digit(i / 3 + 1)));
        }
        sync!();
        (sum, most)
    }

    /// These stay where they are: what is read behind them, a way out, and what comes back.
    #[task]
    pub fn others(n: u64) -> u64 {
        let (mut a, mut b, mut rounds) = (0, 0, 0);
        for i in 0..n {
            a += spawn!(digit(i));
            rounds += 1;
        }
        sync!();
        for i in 0..n {
            if i == n - 3 {
                break;
            }
            a += spawn!(digit(i));
        }
        sync!();
        for i in 0..n {
            b = b.max(spawn!(back(i, n / 2)));
        }
        sync!();
        a * 1000 + b + rounds
    }

    #[task]
    pub fn back(i: u64, n: u64) -> u64 {
        if n < 200 {
            return i;
        }
        let x = spawn!(others(2));
        sync!();
        x
    }
}

millstream_tests::cases! {
    sum(5);
    sum(256);
    sum(257);
    sum(3000);
    marks(&[7, 8, 9, 10], &[1, 2, 3].map(std::sync::atomic::AtomicU32::new), 2);
    marks(&(0..400).collect::<Vec<u32>>(), &[1, 2, 3].map(std::sync::atomic::AtomicU32::new), 3);
    fill(&mut [7; 10]);
    fill(&mut [7; 270]);
    both(7);
    both(256);
    both(3000);
    others(300);
    others(420);
}
