//! Blocked Floyd-Warshall: all shortest ways in a graph, with syncs inside the loop over the blocks of the diagonal.
//!
//! ```text
//!   floyd ──► for each k: [ relax ] on the diagonal ── sync ── [ relax ] on its row and column ── sync ── [ relax ] on the rest ── sync ─┐
//!     ▲                                                                                                                          │
//!     └──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────┘
//! ```

#[millstream::program]
pub mod floyd {
    use std::sync::atomic::{AtomicU32, Ordering};

    const BLOCK: u32 = 16;

    /// Shortens the ways of block (`bi`, `bj`) by the vertices of block `bk`; how often. Tasks that run at the same time write only to
    /// blocks of their own.
    #[task]
    pub fn relax(distances: &[AtomicU32], n: u32, bi: u32, bj: u32, bk: u32) -> u64 {
        let mut shortened = 0;
        for k in bk * BLOCK..n.min((bk + 1) * BLOCK) {
            for i in bi * BLOCK..n.min((bi + 1) * BLOCK) {
                // Relaxed, here and below: one task writes a block, and the sync between rounds orders it before those that read it.
                let first = distances[(i * n + k) as usize].load(Ordering::Relaxed);
                for j in bj * BLOCK..n.min((bj + 1) * BLOCK) {
                    let way = first
                        .saturating_add(distances[(k * n + j) as usize].load(Ordering::Relaxed));
                    if way < distances[(i * n + j) as usize].load(Ordering::Relaxed) {
                        distances[(i * n + j) as usize].store(way, Ordering::Relaxed);
                        shortened += 1;
                    }
                }
            }
        }
        shortened
    }

    /// Replaces the lengths of edges by the lengths of shortest ways; `u32::MAX` is no way. Returns how often one was shortened.
    #[task]
    pub fn floyd(distances: &[AtomicU32], n: u32) -> u64 {
        let mut shortened = 0;
        let blocks = n.div_ceil(BLOCK);
        for k in 0..blocks {
            shortened += spawn!(relax(distances, n, k, k, k));
            sync!();
            for other in 0..blocks {
                if other != k {
                    shortened += spawn!(relax(distances, n, k, other, k));
                    shortened += spawn!(relax(distances, n, other, k, k));
                }
            }
            sync!();
            for i in 0..blocks {
                for j in 0..blocks {
                    if i != k && j != k {
                        shortened += spawn!(relax(distances, n, i, j, k));
                    }
                }
            }
            sync!();
        }
        shortened
    }
}

fn main() -> Result<(), millstream::Error> {
    use std::sync::atomic::{AtomicU32, Ordering};
    let n = 75u32;
    let edge = |i: u32, j: u32| {
        let hash = (i * n + j).wrapping_mul(2_654_435_761) >> 16;
        if i == j {
            0
        } else if hash.is_multiple_of(7) {
            hash % 100 + 1
        } else {
            u32::MAX
        }
    };
    let graph = || {
        (0..n * n)
            .map(|at| AtomicU32::new(edge(at / n, at % n)))
            .collect::<Vec<_>>()
    };
    let (distances, expected) = (graph(), graph());

    let device = millstream::Device::auto()?;
    let shortened = device.run(floyd::call::floyd(&distances, n))?;
    assert_eq!(shortened, floyd::floyd(&expected, n));
    // Relaxed: the run has ended.
    let read = |v: &[AtomicU32]| {
        v.iter()
            .map(|d| d.load(Ordering::Relaxed))
            .collect::<Vec<_>>()
    };
    assert_eq!(read(&distances), read(&expected));
    println!(
        "shortened {shortened} times; from 0 to {} it is {} now",
        n - 1,
        read(&distances)[n as usize - 1]
    );
    Ok(())
}
