//! Branch and bound with a shared best value.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicI32, Ordering};

    #[task]
    pub fn pack(weights: &[i32], values: &[i32], i: usize, room: i32, value: i32, best: &AtomicI32) {
        if room < 0 {
            return;
        }
        best.fetch_max(value, Ordering::Relaxed);
        if i == weights.len() {
            return;
        }
        spawn!(pack(weights, values, i + 1, room - weights[i], value + values[i], best));
        spawn!(pack(weights, values, i + 1, room, value, best));
    }

    #[task]
    pub fn knapsack(weights: &[i32], values: &[i32], room: i32) -> i32 {
        let best = AtomicI32::new(0);
        spawn!(pack(weights, values, 0, room, 0, &best));
        sync!();
        best.into_inner()
    }
}

millstream_tests::cases! {
    knapsack(&[2, 3, 4, 5, 9], &[3, 4, 8, 8, 10], 20);
    knapsack(&[10], &[5], 3);
}
