//! Arrays of atomics behind a reference: what tasks write through it comes back.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU64, Ordering};

    #[task]
    pub fn count(depth: u32, seen: &[AtomicU64; 5]) {
        seen[(depth % 5) as usize].fetch_add(1, Ordering::Relaxed);
        if depth > 0 {
            spawn!(count(depth - 1, seen));
            spawn!(count(depth - 1, seen));
        }
    }

    #[task]
    pub fn rows(at: u64, table: &[[AtomicU64; 2]]) {
        if (at as usize) < table.len() {
            spawn!(rows(2 * at + 1, table));
            spawn!(rows(2 * at + 2, table));
            table[at as usize][0].fetch_add(at, Ordering::Relaxed);
            table[at as usize / 2][1].fetch_max(at, Ordering::Relaxed);
        }
    }
}

millstream_tests::cases! {
    count(6, &[0, 1, 2, 3, 4].map(std::sync::atomic::AtomicU64::new));
    rows(0, &(0..7).map(|i| [i, 1].map(std::sync::atomic::AtomicU64::new)).collect::<Vec<_>>());
}
