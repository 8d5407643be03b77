//! Graphs of vertices and edges as programs take them: compressed rows.
//!
//! The edges of vertex `v` are those from `offsets[v]` up to `offsets[v + 1]`; edge `e` leads to `targets[e]` and is `lengths[e]` long.
//!
//! ```
//! let graph = millstream::csr::Csr::parse("0 1\n0 2 5 # five long\n2 0\n")?;
//! assert_eq!(graph.offsets, [0, 2, 2, 3]);
//! assert_eq!(graph.targets, [1, 2, 0]);
//! assert_eq!(graph.lengths, [1, 5, 1]);
//! # Ok::<(), millstream::csr::CsrError>(())
//! ```

use std::{io, ops::Range, path::Path};

/// A graph of vertices that are numbers from 0 on, and edges that lead one way.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Csr {
    /// Where each vertex's edges begin, and after the last vertex where they all end.
    pub offsets: Vec<u32>,
    /// Where each edge leads.
    pub targets: Vec<u32>,
    /// How long each edge is.
    pub lengths: Vec<u32>,
}

/// Why there is no graph.
#[derive(Debug, thiserror::Error)]
pub enum CsrError {
    /// A line of an edge list is wrong.
    #[error("line {line}: {why}")]
    Line {
        /// Which, counted from 1.
        line: usize,
        /// The bytes of what is wrong, in the whole text.
        span: Range<usize>,
        /// What is wrong with it.
        why: String,
    },
    /// There are more vertices or edges than 32 bits count, or than there is memory for.
    #[error("there is no room for {0}")]
    TooLarge(String),
    /// A file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A file is no edge list.
    #[error("{file}: {source}")]
    File {
        /// The file.
        file: String,
        /// What is wrong with it.
        source: Box<Self>,
    },
}

/// An edge: from, to, length.
pub type Edge = (u32, u32, u32);

impl Csr {
    /// From edges, which are asked for twice: once to be counted, once to be put in their places.
    ///
    /// # Errors
    /// If there are more edges than 32 bits count.
    ///
    /// # Panics
    /// If an edge comes from or leads to a vertex that there is not.
    pub fn from_edges<I: IntoIterator<Item = Edge>>(
        vertices: u32,
        edges: impl Fn() -> I,
    ) -> Result<Self, CsrError> {
        let mut offsets = zeros(vertices as usize + 1, || format!("{vertices} vertices"))?;
        let mut count = 0u64;
        for (from, to, _) in edges() {
            assert!(to < vertices, "edges lead to vertices");
            let degree = &mut offsets[from as usize + 1];
            *degree = degree.wrapping_add(1);
            count += 1;
        }
        let room = || format!("{count} edges");
        if count > u32::MAX.into() {
            return Err(CsrError::TooLarge(room()));
        }
        for v in 1..offsets.len() {
            offsets[v] += offsets[v - 1];
        }
        let mut next = offsets.clone();
        let mut graph = Self {
            offsets,
            targets: zeros(count as usize, room)?,
            lengths: zeros(count as usize, room)?,
        };
        for (from, to, length) in edges() {
            let at = &mut next[from as usize];
            graph.targets[*at as usize] = to;
            graph.lengths[*at as usize] = length;
            *at += 1;
        }
        Ok(graph)
    }

    /// From an edge list: a line an edge, `FROM TO` or `FROM TO LENGTH`; what follows a `#` is a remark. Without a length it is 1.
    ///
    /// # Errors
    /// If a line is no edge.
    pub fn parse(text: &str) -> Result<Self, CsrError> {
        let mut edges: Vec<Edge> = Vec::new();
        let mut vertices = 0u32;
        let mut start = 0;
        for (number, line) in text.split_inclusive('\n').enumerate() {
            if let Some(edge) = parse_edge(line, start, number + 1)? {
                // The number itself is less than 2^32 - 1, so that the count of vertices has 32 bits.
                vertices = vertices.max(edge.0 + 1).max(edge.1 + 1);
                edges.push(edge);
            }
            start += line.len();
        }
        Self::from_edges(vertices, || edges.iter().copied())
    }

    /// Reads an edge list from a file.
    ///
    /// # Errors
    /// If the file cannot be read, or a line is no edge; the error names file and line.
    pub fn read(path: &Path) -> Result<Self, CsrError> {
        let read = || Self::parse(&std::fs::read_to_string(path)?);
        read().map_err(|source| CsrError::File {
            file: path.display().to_string(),
            source: Box::new(source),
        })
    }

    /// A random graph of the kind R-MAT (Chakrabarti et al. 2004): 2^`scale` vertices, `degree` edges for each, a few vertices with very many. The
    /// same for the same seed on every machine. The vertex 0 has the most.
    ///
    /// # Errors
    /// If there are more vertices or edges than 32 bits count.
    pub fn rmat(scale: u32, degree: u32, seed: u64) -> Result<Self, CsrError> {
        let vertices = 1u32
            .checked_shl(scale)
            .ok_or_else(|| CsrError::TooLarge(format!("2^{scale} vertices")))?;
        let edges = u64::from(vertices) * u64::from(degree);
        Self::from_edges(vertices, || {
            let mut random = Random(seed);
            (0..edges).map(move |_| rmat_edge(scale, &mut random))
        })
    }

    /// Streets: a grid of crossings of which every eighth street is closed. The same for the same seed on every machine.
    ///
    /// # Errors
    /// If there are more crossings or streets than 32 bits count.
    pub fn grid(width: u32, height: u32, seed: u64) -> Result<Self, CsrError> {
        let vertices = width
            .checked_mul(height)
            .filter(|v| *v < u32::MAX / 4)
            .ok_or_else(|| CsrError::TooLarge(format!("{width} x {height} vertices")))?;
        // A street has the number of its crossing to the left or above, twice, and its direction; both ways have its length.
        let street = move |at: u32, down: u32| {
            let mut random = Random(seed ^ (u64::from(at) * 2 + u64::from(down)) << 20);
            let bits = random.next();
            (bits & 7 != 0).then_some(((bits >> 8) & 0xff) as u32 + 1)
        };
        Self::from_edges(vertices, || {
            (0..vertices).flat_map(move |at| {
                let (x, y) = (at % width, at / width);
                let left = (x > 0).then(|| (at - 1, street(at - 1, 0)));
                let right = (x + 1 < width).then(|| (at + 1, street(at, 0)));
                let up = (y > 0).then(|| (at - width, street(at - width, 1)));
                let down = (y + 1 < height).then(|| (at + width, street(at, 1)));
                let streets = [left, right, up, down].into_iter().flatten();
                streets.filter_map(move |(to, length)| Some((at, to, length?)))
            })
        })
    }

    /// How many vertices there are.
    #[must_use]
    pub const fn vertices(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The edges of a vertex.
    ///
    /// # Panics
    /// If there is no such vertex.
    #[must_use]
    pub fn edges(&self, vertex: u32) -> Range<usize> {
        let vertex = vertex as usize;
        self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize
    }
}

/// Memory, if there is so much: how much is for a reader of files to say.
fn zeros(len: usize, what: impl Fn() -> String) -> Result<Vec<u32>, CsrError> {
    let mut out = Vec::new();
    out.try_reserve_exact(len)
        .map_err(|_| CsrError::TooLarge(what()))?;
    out.resize(len, 0);
    Ok(out)
}

/// One edge of a line that begins at the byte `start`; none if the line is empty.
fn parse_edge(line: &str, start: usize, number: usize) -> Result<Option<Edge>, CsrError> {
    let said = line.split('#').next().unwrap_or_default();
    let wrong = |part: &str, why: String| CsrError::Line {
        line: number,
        span: {
            // A part of the line, by where it lies in memory.
            let at = start + (part.as_ptr() as usize - line.as_ptr() as usize);
            at..at + part.len()
        },
        why,
    };
    let words: Vec<&str> = said.split_whitespace().collect();
    let number_of = |word: &str, most: u32, what: &str| match word.parse() {
        Ok(n) if n <= most => Ok(n),
        _ => {
            let why = format!("`{word}` is no {what}: a number up to {most}");
            Err(wrong(word, why))
        }
    };
    let vertex = |word| number_of(word, u32::MAX - 1, "vertex");
    match words[..] {
        [] => Ok(None),
        [from, to] => Ok(Some((vertex(from)?, vertex(to)?, 1))),
        [from, to, length] => {
            let length = number_of(length, u32::MAX, "length")?;
            Ok(Some((vertex(from)?, vertex(to)?, length)))
        }
        _ => {
            let why = format!("`{}` is no edge: FROM TO, or FROM TO LENGTH", said.trim());
            Err(wrong(said.trim(), why))
        }
    }
}

/// The generator `SplitMix64`.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// An edge falls into one of four quarters of the matrix, and in there again: with the chances 57, 19, 19 and 5 of a hundred.
fn rmat_edge(scale: u32, random: &mut Random) -> Edge {
    const CHANCES: [u64; 3] = [37_355, 49_807, 62_259]; // of 65,536, summed up
    let (mut from, mut to) = (0u32, 0u32);
    let mut bits = 0;
    for level in 0..scale {
        // A random number is good for four levels.
        bits = if level % 4 == 0 {
            random.next()
        } else {
            bits >> 16
        };
        let part = bits & 0xffff;
        let quarter = CHANCES.iter().filter(|c| part >= **c).count() as u32;
        from = from << 1 | quarter >> 1;
        to = to << 1 | quarter & 1;
    }
    // Neighbours in number are to be none in the graph: a bijection scatters them.
    let mask = (1u64 << scale) as u32;
    let scatter = |v: u32| v.wrapping_mul(0x9e37_79b1) & mask.wrapping_sub(1);
    (
        scatter(from),
        scatter(to),
        (random.next() & 0xff) as u32 + 1,
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends there")]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_and_a_bad_line_named() {
        let graph = Csr::parse("# two edges\n\n1 0\n 0\t2 7\n").unwrap();
        assert_eq!(graph.vertices(), 3);
        assert_eq!(graph.edges(0), 0..1);
        assert_eq!(
            (&graph.targets[..], &graph.lengths[..]),
            (&[2, 0][..], &[7, 1][..])
        );
        assert_eq!(Csr::parse("").unwrap().vertices(), 0);
        let errors = [
            (
                "0 1\n0 one\n",
                "line 2: `one` is no vertex: a number up to 4294967294",
                6..9,
            ),
            (
                "0 4294967295",
                "line 1: `4294967295` is no vertex: a number up to 4294967294",
                2..12,
            ),
            (
                "0 1 -3",
                "line 1: `-3` is no length: a number up to 4294967295",
                4..6,
            ),
            (
                "7",
                "line 1: `7` is no edge: FROM TO, or FROM TO LENGTH",
                0..1,
            ),
            (
                " 1 2 3 4 # x",
                "line 1: `1 2 3 4` is no edge: FROM TO, or FROM TO LENGTH",
                1..8,
            ),
        ];
        for (text, expected, place) in errors {
            let error = Csr::parse(text).unwrap_err();
            assert_eq!(error.to_string(), expected);
            assert!(
                matches!(error, CsrError::Line { span, .. } if span == place),
                "{text}"
            );
        }
        let error = Csr::read(Path::new("/nowhere/roads.edges")).unwrap_err();
        assert!(
            error.to_string().starts_with("/nowhere/roads.edges: "),
            "{error}"
        );
    }

    #[test]
    fn random_graphs_have_the_shape_that_they_are_named_for() {
        let graph = Csr::rmat(10, 16, 1).unwrap();
        assert_eq!((graph.vertices(), graph.targets.len()), (1024, 16 * 1024));
        assert_eq!(graph, Csr::rmat(10, 16, 1).unwrap());
        assert_ne!(graph, Csr::rmat(10, 16, 2).unwrap());
        let degrees: Vec<usize> = (0..1024).map(|v| graph.edges(v).len()).collect();
        assert_eq!(degrees.iter().max(), Some(&degrees[0]));
        assert!(degrees[0] > 300, "{}", degrees[0]);
        assert!(Csr::rmat(32, 1, 0).is_err());

        let grid = Csr::grid(30, 20, 1).unwrap();
        assert_eq!(grid.vertices(), 600);
        // Of 1,150 streets about an eighth is closed; each is open both ways, and as long there as back.
        assert!(
            (1900..2100).contains(&grid.targets.len()),
            "{}",
            grid.targets.len()
        );
        for v in 0..600 {
            for e in grid.edges(v) {
                let (to, length) = (grid.targets[e], grid.lengths[e]);
                let mut back = grid.edges(to).filter(|b| grid.targets[*b] == v);
                assert!(back.any(|b| grid.lengths[b] == length), "{v} to {to}");
            }
        }
    }
}
