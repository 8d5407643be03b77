//! A search whose first child leads: who takes the items in order of their worth finds a good knapsack first, and leaves out most of the rest.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU64, Ordering};

    /// The most that a knapsack with so much room can still be worth, were the items from `i` on divisible.
    fn bound(worth: &[u64], weight: &[u64], i: usize, room: u64) -> u64 {
        let mut left = room;
        let mut sum = 0;
        for k in i..worth.len() {
            if weight[k] >= left {
                return sum + worth[k] * left / weight[k] + 1;
            }
            left -= weight[k];
            sum += worth[k];
        }
        sum
    }

    /// Packs the items from `i` on, which are sorted by worth per weight.
    #[task]
    pub fn pack(worth: &[u64], weight: &[u64], i: usize, room: u64, sum: u64, best: &AtomicU64) {
        best.fetch_max(sum, Ordering::Relaxed);
        if i == worth.len() || sum + bound(worth, weight, i, room) <= best.load(Ordering::Relaxed) {
            return;
        }
        if weight[i] <= room {
            spawn!(pack(worth, weight, i + 1, room - weight[i], sum + worth[i], best));
        }
        spawn!(pack(worth, weight, i + 1, room, sum, best));
    }
}

fn items(count: u64) -> Vec<(u64, u64)> {
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 40
    };
    let mut items: Vec<(u64, u64)> = (0..count)
        .map(|_| {
            let weight = 1000 + next() % 1000;
            (weight + 100 + next() % 20, weight)
        })
        .collect();
    items.sort_by(|a, b| (b.0 * a.1).cmp(&(a.0 * b.1)));
    items
}

fn worth(count: u64) -> Vec<u64> {
    items(count).iter().map(|i| i.0).collect()
}

fn weight(count: u64) -> Vec<u64> {
    items(count).iter().map(|i| i.1).collect()
}

millstream_tests::cases! {
    pack(&worth(8), &weight(8), 0, 4000, 0, &std::sync::atomic::AtomicU64::new(0));
    pack(&worth(24), &weight(24), 0, 15_000, 0, &std::sync::atomic::AtomicU64::new(0));
}
