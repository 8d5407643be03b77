//! Recursions of one task a level: as deep as memory allows, and as quick as a level can be.

/// One task, with a frame and a continuation.
pub const CHAIN: &str = "#[millstream::program] mod chain {
    #[task] pub fn chain(n: u32) -> u64 {
        if n == 0 { return 1; }
        let y = spawn!(chain(n - 1));
        sync!();
        y.wrapping_mul(3)
    }
}";

/// Tasks of a few instructions each that recurse in different ways: `start` says in which.
pub const FIVE: &str = "#[millstream::program] mod five {
    #[task] pub fn start(way: u32, n: u32) -> u64 {
        let mut sum = 0u64;
        if way == 0 { sum += spawn!(chain(n)); }
        if way == 1 { sum += spawn!(even(n)); }
        if way == 2 { sum += spawn!(fan(n)); }
        if way == 3 { sum += spawn!(helped(n)); }
        sync!();
        sum
    }
    fn step(n: u32) -> u32 {
        let mut steps = 1;
        while steps < n % 4 { steps += 1; }
        steps.min(1)
    }
    #[task] pub fn helped(n: u32) -> u64 {
        if n == 0 { return 1; }
        let y = spawn!(helped(n - step(n)));
        sync!();
        y.wrapping_mul(3) + step(n) as u64
    }
    #[task] pub fn chain(n: u32) -> u64 {
        if n == 0 { return 1; }
        let y = spawn!(chain(n - 1));
        sync!();
        y.wrapping_mul(3)
    }
    #[task] pub fn even(n: u32) -> u64 {
        if n == 0 { return 1; }
        let y = spawn!(odd(n - 1));
        sync!();
        y.wrapping_mul(3)
    }
    #[task] pub fn odd(n: u32) -> u64 {
        if n == 0 { return 2; }
        let y = spawn!(even(n - 1));
        sync!();
        y.wrapping_mul(5)
    }
    #[task] pub fn fan(n: u32) -> u64 {
        let mut sum = 1u64;
        for i in 0..n.min(1) {
            sum += spawn!(fan(n - 1 - i));
        }
        sync!();
        sum
    }
}";

/// A task without result and frame: nothing of it waits.
pub const LINE: &str = "#[millstream::program] mod line {
    use std::sync::atomic::{AtomicU64, Ordering};
    #[task] pub fn line(n: u32, seen: &AtomicU64) {
        seen.fetch_add(1, Ordering::Relaxed);
        if n > 0 { spawn!(line(n - 1, seen)); }
    }
}";

/// Chains side by side.
pub const CHAINS: &str = "#[millstream::program] mod chains {
    #[task] pub fn chains(count: u32, n: u32) -> u64 {
        let mut sum = 0u64;
        for i in 0..count {
            sum += spawn!(chain(n));
        }
        sync!();
        sum
    }
    #[task] pub fn chain(n: u32) -> u64 {
        if n == 0 { return 1; }
        let y = spawn!(chain(n - 1));
        sync!();
        y.wrapping_mul(3)
    }
}";
