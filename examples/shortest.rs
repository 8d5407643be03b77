//! Shortest paths: how long the shortest way from a vertex of a graph to each of the others is.
//!
//! ```text
//!                                                               priority
//!   0 ──► [ near ]   ──► relax ──► ways (atomics)                   3
//!         [ middle ] ──► relax                                      2
//!         [ far ]    ──► relax    each emits into all four,         1
//!         [ rest ]   ──► relax    by the length of the way          0
//! ```
//!
//! Bellman and Ford's relaxation, in the order of delta-stepping's first buckets (Meyer and Sanders 2003): one kernel is four nodes, and
//! what is near goes first, so that few ways are found that a shorter one replaces. Without priorities the ways are the same, and the work is more.

#[millstream::program]
pub mod shortest {
    use std::sync::atomic::{AtomicU32, Ordering};

    /// A vertex that a way of this length leads to.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Reached {
        /// The vertex.
        pub vertex: u32,
        /// The length of the way.
        pub length: u32,
    }

    /// To how many vertices there is a way, and how long the longest of the shortest is.
    #[task]
    pub fn farthest(ways: &[AtomicU32]) -> (u32, u32) {
        let (mut count, mut most) = (0, 0);
        for way in ways {
            // Relaxed: the search is over.
            let length = way.load(Ordering::Relaxed);
            if length != u32::MAX {
                count += 1;
                most = most.max(length);
            }
        }
        (count, most)
    }

    /// Goes on from a vertex, unless a shorter way was found since. What lies within `delta` goes before what lies within twice that,
    /// and so on: nodes of this kernel consume these channels, whose priorities say so.
    #[kernel]
    #[allow(clippy::too_many_arguments, reason = "four of them are channels")]
    pub fn relax(
        at: Reached,
        near: Channel<Reached>,
        middle: Channel<Reached>,
        far: Channel<Reached>,
        rest: Channel<Reached>,
        offsets: &[u32],
        targets: &[u32],
        lengths: &[u32],
        ways: &[AtomicU32],
        delta: u32,
    ) {
        let vertex = at.vertex as usize;
        // Relaxed: a way only ever becomes shorter, and who finds it emits it.
        if ways[vertex].fetch_min(at.length, Ordering::Relaxed) < at.length {
            return;
        }
        for edge in offsets[vertex]..offsets[vertex + 1] {
            let target = targets[edge as usize];
            let length = at.length + lengths[edge as usize];
            if ways[target as usize].load(Ordering::Relaxed) <= length
                || ways[target as usize].fetch_min(length, Ordering::Relaxed) <= length
            {
                continue;
            }
            let next = Reached {
                vertex: target,
                length,
            };
            match length / delta {
                0 => near.emit(next),
                1 => middle.emit(next),
                2 => far.emit(next),
                _ => rest.emit(next),
            }
        }
    }
}

use millstream::{Device, Graph, csr::Csr};
use shortest::Reached;
use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    sync::atomic::{AtomicU32, Ordering},
};

/// The length of a way that there is not.
pub const NONE: u32 = u32::MAX;

/// The graph of the search, which leaves in `ways` how long the shortest way is to each vertex.
pub fn graph<'a>(csr: &'a Csr, from: u32, delta: u32, ways: &'a [AtomicU32]) -> Graph<'a> {
    let mut graph = Graph::new("shortest");
    let names = ["near", "middle", "far", "rest"];
    let room = csr.targets.len() as u32 + 64;
    let channels = [0, 1, 2, 3].map(|i| {
        let channel = graph.channel::<Reached>(names[i]);
        channel.width(room).priority(3 - i as i32)
    });
    for (i, channel) in channels.iter().enumerate() {
        let [near, middle, far, rest] = &channels;
        graph
            .kernel(shortest::kernel::relax)
            .named(format!("relax {}", names[i]))
            .consumes(channel)
            .produces(near)
            .produces(middle)
            .produces(far)
            .produces(rest)
            .arg(&csr.offsets)
            .arg(&csr.targets)
            .arg(&csr.lengths)
            .arg(ways)
            .arg(delta);
    }
    let start = Reached {
        vertex: from,
        length: 0,
    };
    graph.send(&channels[0], [start]);
    graph
}

/// The same by one thread, the nearest vertex first (Dijkstra).
pub fn serial(csr: &Csr, from: u32) -> Vec<u32> {
    let mut ways = vec![NONE; csr.vertices()];
    let mut heap = BinaryHeap::from([(Reverse(0), from)]);
    ways[from as usize] = 0;
    while let Some((Reverse(way), vertex)) = heap.pop() {
        if ways[vertex as usize] < way {
            continue;
        }
        for edge in csr.edges(vertex) {
            let (target, length) = (csr.targets[edge], way + csr.lengths[edge]);
            if length < ways[target as usize] {
                ways[target as usize] = length;
                heap.push((Reverse(length), target));
            }
        }
    }
    ways
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::auto()?;
    for (what, csr, delta) in [
        ("R-MAT of 2^16 vertices", Csr::rmat(16, 16, 1)?, 64),
        (
            "streets with 300 x 200 crossings",
            Csr::grid(300, 200, 1)?,
            10_000,
        ),
    ] {
        let ways: Vec<_> = (0..csr.vertices()).map(|_| AtomicU32::new(NONE)).collect();
        graph(&csr, 0, delta, &ways).run(&device)?;
        let (count, most) = device.run(shortest::call::farthest(&ways))?;
        // Relaxed: the run is over.
        let ways: Vec<u32> = ways.iter().map(|w| w.load(Ordering::Relaxed)).collect();
        assert_eq!(ways, serial(&csr, 0));
        println!(
            "{what}: ways to {count} of {} vertices, {most} at most",
            ways.len()
        );
    }
    Ok(())
}
