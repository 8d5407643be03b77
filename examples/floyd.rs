//! Blocked Floyd-Warshall: all shortest ways in a graph, by the vertices of a block at a time.
//!
//! ```text
//!   floyd ──► for each block: ways within it, by one task ──► ways from it to all vertices ── all ──► all ways by it ── all ─┐
//!     ▲                                                                                                                    │
//!     └────────────────────────────────────────────────────────────────────────────────────────────────────────────────────┘
//! ```

#[millstream::program]
pub mod floyd {
    /// Vertices that ways are shortened by at a time, and neighbouring ways that are looked at together, in registers.
    const BLOCK: usize = 16;

    /// Shortens `ways`, those from a vertex to neighbouring ones, by the vertices of a block: `first` are the vertex's ways to these, and row k
    /// of `rows` has the ways on from the k-th, `n` to a row, those that are asked for from `at`. How many became shorter.
    #[allow(
        clippy::manual_memcpy,
        reason = "an array whose elements are named one by one lives in registers"
    )]
    fn shorten(ways: &mut [u32], first: &[u32], rows: &[u32], n: usize, at: usize) -> u64 {
        let mut shortened = 0;
        if ways.len() == BLOCK {
            let mut best = [0; BLOCK];
            for j in 0..BLOCK {
                best[j] = ways[j];
            }
            for (k, first) in first.iter().enumerate() {
                let row = &rows[k * n + at..k * n + at + BLOCK];
                for j in 0..BLOCK {
                    best[j] = best[j].min(first.saturating_add(row[j]));
                }
            }
            for j in 0..BLOCK {
                shortened += (best[j] < ways[j]) as u64;
                ways[j] = best[j];
            }
            return shortened;
        }
        for (j, way) in ways.iter_mut().enumerate() {
            let mut best = *way;
            for (k, first) in first.iter().enumerate() {
                best = best.min(first.saturating_add(rows[k * n + at + j]));
            }
            shortened += (best < *way) as u64;
            *way = best;
        }
        shortened
    }

    /// Shortens the ways within a block, vertex by vertex.
    fn close(distances: &mut [u32], row: &mut [u32], n: usize, from: usize, to: usize) -> u64 {
        let mut shortened = 0;
        for k in from..to {
            row[..to - from].copy_from_slice(&distances[k * n + from..k * n + to]);
            for i in from..to {
                let first = [distances[i * n + k]];
                shortened += shorten(&mut distances[i * n + from..i * n + to], &first, row, n, 0);
            }
        }
        shortened
    }

    /// What one lane does for [`floyd`] before the ways by a block: copies the ways of a vertex to the block's, and shortens neighbouring ways
    /// from these within the block, at `at` of the block's rows. A part of them may begin in one row and end in the next.
    fn prepare(
        rows: &[u32],
        line: &[u32],
        there: &mut [u32],
        back: &mut [u32],
        n: usize,
        at: usize,
        from: usize,
    ) -> u64 {
        let size = rows.len() / n;
        there[..size].copy_from_slice(&line[from..from + size]);
        let (mut rest, mut at, mut shortened) = (back, at, 0);
        while !rest.is_empty() && at < rows.len() {
            let (i, j) = (at / n, at % n);
            let (ways, more) = rest.split_at_mut(rest.len().min(n - j));
            ways.copy_from_slice(&rows[at..at + ways.len()]);
            let first = &rows[i * n + from..i * n + from + size];
            shortened += shorten(ways, first, rows, n, j);
            at += ways.len();
            rest = more;
        }
        shortened
    }

    /// What it does then: shortens neighbouring ways by the block.
    fn pass(
        part: &mut [u32],
        there: &[u32],
        back: &[u32],
        n: usize,
        at: usize,
        from: usize,
        to: usize,
    ) -> u64 {
        let (mut rest, mut at, mut shortened) = (part, at, 0);
        while !rest.is_empty() {
            let (i, j) = (at / n, at % n);
            let (ways, more) = rest.split_at_mut(rest.len().min(n - j));
            if i >= from && i < to {
                let own = (i - from) * n + j;
                ways.copy_from_slice(&back[own..own + ways.len()]);
            } else {
                let first = &there[i * BLOCK..i * BLOCK + to - from];
                shortened += shorten(ways, first, back, n, j);
            }
            at += ways.len();
            rest = more;
        }
        shortened
    }

    /// Replaces the lengths of edges by the lengths of shortest ways; `u32::MAX` is no way. Returns how often one was shortened, by the vertices
    /// of a block at a time. `scratch` holds `32 * n` numbers, which are lost.
    #[task]
    pub fn floyd(distances: &mut [u32], scratch: &mut [u32], n: usize) -> u64 {
        let mut shortened = 0u64;
        let (there, back) = scratch[..2 * BLOCK * n].split_at_mut(BLOCK * n);
        let mut from = 0;
        while from < n {
            let to = n.min(from + BLOCK);
            shortened += close(distances, back, n, from, to);
            let rows = &distances[from * n..to * n];
            #[parallel]
            for (i, ((line, there), back)) in distances
                .chunks(n)
                .zip(there.chunks_mut(BLOCK))
                .zip(back.chunks_mut(BLOCK))
                .enumerate()
            {
                shortened += prepare(rows, line, there, back, n, i * BLOCK, from);
            }
            #[parallel]
            for (i, part) in distances.chunks_mut(BLOCK).enumerate() {
                shortened += pass(part, there, back, n, i * BLOCK, from, to);
            }
            from = to;
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
    let mut scratch = vec![0; 32 * n];

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
