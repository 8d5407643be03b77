//! Breadth-first search: how many steps lead from a vertex of a graph to each of the others.
//!
//! ```text
//!   0 ──► [ begins ] ──► begin ──► [ edges ] ──► follow ──► steps (atomics)
//!                                      ▲            │
//!                                      └─ vertices ─┘
//!                                         that are nearer now
//! ```
//!
//! No level waits for the one before. A vertex may be found by a way that is not the shortest; then its edges are followed once more when the
//! shortest is found, and the steps are the same in the end. The channel is first in, first out, so that this is rare.

#[millstream::program]
pub mod bfs {
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Edges that are followed at one go. A vertex of very many has many elements, so that no lane is busy with it alone.
    pub const MOST: u32 = 32;

    /// Some edges of a vertex that was reached.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Edges {
        /// The first of them.
        pub first: u32,
        /// Behind the last.
        pub end: u32,
        /// Steps from where the search began to where they lead.
        pub steps: u32,
    }

    /// How many vertices were reached, and how many steps the farthest takes.
    #[task]
    pub fn farthest(steps: &[AtomicU32]) -> (u32, u32) {
        let (mut count, mut most) = (0, 0);
        for vertex in steps {
            // Relaxed: the search is over.
            let found = vertex.load(Ordering::Relaxed);
            if found != u32::MAX {
                count += 1;
                most = most.max(found);
            }
        }
        (count, most)
    }

    /// Begins at a vertex.
    #[kernel]
    pub fn begin(vertex: u32, next: Channel<Edges>, offsets: &[u32], steps: &[AtomicU32]) {
        steps[vertex as usize].store(0, Ordering::Relaxed);
        let end = offsets[vertex as usize + 1];
        let mut first = offsets[vertex as usize];
        while first < end {
            let part = end.min(first + MOST);
            next.emit(Edges {
                first,
                end: part,
                steps: 1,
            });
            first = part;
        }
    }

    /// Follows edges. Vertices that are new, or nearer than was known, go on.
    #[kernel]
    pub fn follow(
        at: Edges,
        next: Channel<Edges>,
        offsets: &[u32],
        targets: &[u32],
        steps: &[AtomicU32],
    ) {
        for edge in at.first..at.end {
            let vertex = targets[edge as usize] as usize;
            // Relaxed: a vertex is only ever nearer than was read, and who makes it so emits its edges.
            if steps[vertex].load(Ordering::Relaxed) <= at.steps
                || steps[vertex].fetch_min(at.steps, Ordering::Relaxed) <= at.steps
            {
                continue;
            }
            let end = offsets[vertex + 1];
            let mut first = offsets[vertex];
            while first < end {
                let part = end.min(first + MOST);
                next.emit(Edges {
                    first,
                    end: part,
                    steps: at.steps + 1,
                });
                first = part;
            }
        }
    }
}

use bfs::Edges;
use millstream::{Device, Graph, csr::Csr};
use std::sync::atomic::{AtomicU32, Ordering};

/// The steps of vertices that no way leads to.
pub const NONE: u32 = u32::MAX;

/// The graph of the search, which leaves in `steps` how far each vertex is from one.
pub fn graph<'a>(csr: &'a Csr, from: u32, steps: &'a [AtomicU32]) -> Graph<'a> {
    let mut graph = Graph::new("bfs");
    let begins = graph.channel::<u32>("begins").width(64);
    // Room for the edges of all vertices at once: in the widest level it is most of them.
    let room = csr.vertices() + csr.targets.len() / bfs::MOST as usize + 64;
    let edges = graph.channel::<Edges>("edges").width(room as u32);
    graph
        .kernel(bfs::kernel::begin)
        .consumes(&begins)
        .produces(&edges)
        .arg(&csr.offsets)
        .arg(steps);
    graph
        .kernel(bfs::kernel::follow)
        .consumes(&edges)
        .produces(&edges)
        .arg(&csr.offsets)
        .arg(&csr.targets)
        .arg(steps);
    graph.send(&begins, [from]);
    graph
}

/// The same by one thread, vertex after vertex.
pub fn serial(csr: &Csr, from: u32) -> Vec<u32> {
    let mut steps = vec![NONE; csr.vertices()];
    steps[from as usize] = 0;
    let mut found = vec![from];
    let mut next = 0;
    while next < found.len() {
        let vertex = found[next];
        next += 1;
        for &target in &csr.targets[csr.edges(vertex)] {
            if steps[target as usize] == NONE {
                steps[target as usize] = steps[vertex as usize] + 1;
                found.push(target);
            }
        }
    }
    steps
}

/// Atomics that say of each vertex that no way leads there.
pub fn unknown(csr: &Csr) -> Vec<AtomicU32> {
    (0..csr.vertices()).map(|_| AtomicU32::new(NONE)).collect()
}

/// What they hold when the run is over.
pub fn values(atomics: &[AtomicU32]) -> Vec<u32> {
    // Relaxed: nobody writes any more.
    atomics.iter().map(|a| a.load(Ordering::Relaxed)).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::auto()?;
    let list = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/data/dependencies.edges"
    );
    for (what, csr) in [
        ("this workspace's dependencies", Csr::read(list.as_ref())?),
        ("R-MAT of 2^16 vertices", Csr::rmat(16, 16, 1)?),
        ("streets with 500 x 400 crossings", Csr::grid(500, 400, 1)?),
    ] {
        let steps = unknown(&csr);
        graph(&csr, 0, &steps).run(&device)?;
        let (count, most) = device.run(bfs::call::farthest(&steps))?;
        let steps = values(&steps);
        assert_eq!(steps, serial(&csr, 0));
        println!(
            "{what}: {count} of {} vertices, {most} steps at most",
            steps.len()
        );
    }
    Ok(())
}
