//! Blocked Floyd-Warshall: all shortest ways in a graph, by the vertices of a block at a time.
//!
//! ```text
//!   floyd ──► for each block: ways within it, by one task ──► ways from it to all vertices ── all ──► all ways by it ── all ─┐
//!     ▲                                                                                                                    │
//!     └────────────────────────────────────────────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! It works on *strips*: a vertex's ways to the vertices of a block, which stay in registers. They lie in memory by the block that they lead to, so
//! that neighbouring lanes of a GPU, which have the ways of neighbouring vertices to one block, read the same ways on from there.

#[millstream::program]
pub mod floyd {
    /// Vertices of a block.
    const BLOCK: usize = 16;
    /// Ways within a block.
    const INNER: usize = BLOCK * BLOCK;

    /// How many numbers of scratch memory are used for `n` vertices.
    pub fn scratch_len(n: usize) -> usize {
        let n = n.next_multiple_of(BLOCK);
        n * (n + 2 * BLOCK)
    }

    /// Shortens a strip by the vertices of a block: `there` is the strip to these, and `on` has theirs to where the strip leads. How many ways
    /// became shorter.
    #[allow(
        clippy::manual_memcpy,
        reason = "an array whose elements are named one by one lives in registers"
    )]
    fn shorten(strip: &mut [u32], there: &[u32], on: &[u32]) -> u64 {
        let strip = &mut strip[..BLOCK];
        let mut best = [0; BLOCK];
        for j in 0..BLOCK {
            best[j] = strip[j];
        }
        for (first, on) in there.iter().zip(on.chunks_exact(BLOCK)) {
            for j in 0..BLOCK {
                best[j] = best[j].min(first.saturating_add(on[j]));
            }
        }
        let mut shortened = 0;
        for j in 0..BLOCK {
            shortened += (best[j] < strip[j]) as u64;
            strip[j] = best[j];
        }
        shortened
    }

    /// Shortens the ways within a block, vertex by vertex.
    fn close(inner: &mut [u32], row: &mut [u32]) -> u64 {
        let mut shortened = 0;
        for k in 0..BLOCK {
            row.copy_from_slice(&inner[k * BLOCK..(k + 1) * BLOCK]);
            #[parallel]
            for strip in inner.chunks_mut(BLOCK) {
                let first = [strip[k]];
                shortened += shorten(strip, &first, row);
            }
        }
        shortened
    }

    /// Replaces the lengths of edges by the lengths of shortest ways; `u32::MAX` is no way. Returns how often one was shortened, by the vertices
    /// of a block at a time. `scratch` holds [`scratch_len`] numbers, which are lost.
    #[task]
    pub fn floyd(distances: &mut [u32], scratch: &mut [u32], n: usize) -> u64 {
        let mut shortened = 0u64;
        let all = n.next_multiple_of(BLOCK);
        let (strips, rest) = scratch.split_at_mut(all * all);
        let (there, on) = rest[..2 * BLOCK * all].split_at_mut(BLOCK * all);
        #[parallel]
        for (number, strip) in strips.chunks_mut(BLOCK).enumerate() {
            let (i, to) = (number % all, number / all * BLOCK);
            strip.fill(u32::MAX);
            if i < n {
                let row = &distances[i * n + to..i * n + n.min(to + BLOCK)];
                strip[..row.len()].copy_from_slice(row);
            }
        }
        for k in (0..all).step_by(BLOCK) {
            // Strips to the block, the first of a vertex of its own.
            let (own, first) = (k * all, k * all + k * BLOCK);
            shortened += close(&mut strips[first..first + INNER], &mut on[..BLOCK]);
            #[parallel]
            for (i, (there, on)) in there
                .chunks_mut(BLOCK)
                .zip(on.chunks_mut(BLOCK))
                .enumerate()
            {
                there.copy_from_slice(&strips[own + i * BLOCK..own + (i + 1) * BLOCK]);
                // Of the block's vertices, too, all to one block before those to the next.
                let (i, to) = (i % BLOCK * BLOCK, i / BLOCK * BLOCK * all + k * BLOCK);
                on.copy_from_slice(&strips[to + i..to + i + BLOCK]);
                let inner = &strips[first + i..first + i + BLOCK];
                shortened += shorten(on, inner, &strips[to..to + INNER]);
            }
            #[parallel]
            for (number, strip) in strips.chunks_mut(BLOCK).enumerate() {
                let (i, to) = (number % all, number / all * INNER);
                if i >= k && i < k + BLOCK {
                    let from = to + (i - k) * BLOCK;
                    strip.copy_from_slice(&on[from..from + BLOCK]);
                } else {
                    let there = &there[i * BLOCK..(i + 1) * BLOCK];
                    shortened += shorten(strip, there, &on[to..to + INNER]);
                }
            }
        }
        #[parallel]
        for (at, way) in distances.iter_mut().enumerate() {
            let (i, j) = (at / n, at % n);
            *way = strips[(j / BLOCK * all + i) * BLOCK + j % BLOCK];
        }
        shortened
    }
}

fn main() -> Result<(), millstream::Error> {
    let n = 75;
    let edge = |i: usize, j: usize| {
        let hash = ((i * n + j) as u32).wrapping_mul(2_654_435_761) >> 16;
        if i == j {
            0
        } else if hash.is_multiple_of(7) {
            hash % 100 + 1
        } else {
            u32::MAX
        }
    };
    let mut distances: Vec<u32> = (0..n * n).map(|at| edge(at / n, at % n)).collect();
    let mut expected = distances.clone();
    let mut scratch = vec![0; floyd::scratch_len(n)];

    let device = millstream::Device::auto()?;
    let shortened = device.run(floyd::call::floyd(&mut distances, &mut scratch, n))?;
    assert_eq!(shortened, floyd::floyd(&mut expected, &mut scratch, n));
    assert_eq!(distances, expected);
    println!(
        "shortened {shortened} times; from 0 to {} it is {} now",
        n - 1,
        distances[n - 1]
    );
    Ok(())
}
