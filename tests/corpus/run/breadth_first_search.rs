//! Distances in a graph, found by who comes first with the least.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU32, Ordering};

    #[task]
    pub fn visit(starts: &[u32], edges: &[u32], distance: &[AtomicU32], at: u32, d: u32) {
        if distance[at as usize].fetch_min(d, Ordering::Relaxed) <= d {
            return;
        }
        for i in starts[at as usize]..starts[at as usize + 1] {
            spawn!(visit(starts, edges, distance, edges[i as usize], d + 1));
        }
    }
}

millstream_tests::cases! {
    visit(&[0, 2, 4, 5, 7, 8, 8], &[1, 3, 2, 4, 5, 4, 0, 5], &(0..6).map(|_| std::sync::atomic::AtomicU32::new(u32::MAX)).collect::<Vec<_>>(), 0, 0);
}
