//! The programs, what they work on, and what tells that two contestants did the same.

use std::fmt;

/// A program and its size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Program {
    /// Fibonacci numbers, a task per call.
    Fib(u32),
    /// Placements of n queens, a task per placed queen.
    Queens(u32),
    /// The same with tasks for the first rows only: board and rows.
    QueensTo(u32, u32),
    /// Cilksort of so many random `i32`.
    Sort(usize),
    /// Strassen's product of two matrices of `f32` of so many rows.
    Strassen(usize),
    /// The ordinary product of the same matrices.
    Multiply(usize),
    /// Nodes of a random tree: seed, and children of its root.
    Unbalanced(u64, u32),
}

impl Program {
    /// A tree of 9.1 million nodes on 2476 levels.
    pub(crate) const TREE: Self = Self::Unbalanced(6, 8000);

    /// The table's rows: what is measured where nothing else is asked for.
    pub(crate) fn all(quick: bool) -> Vec<Self> {
        let mut all = vec![Self::Fib(35), Self::Queens(13), Self::QueensTo(13, 4)];
        all.extend([
            Self::Sort(10_000_000),
            Self::Strassen(1024),
            Self::TREE,
            Self::Fib(10),
        ]);
        if quick {
            all = vec![Self::Fib(30), Self::Queens(10), Self::QueensTo(11, 3)];
            all.extend([
                Self::Sort(300_000),
                Self::Strassen(256),
                Self::Unbalanced(1, 100),
                Self::Fib(10),
            ]);
        }
        all
    }

    /// The row of Fibonacci numbers: nanoseconds a task, from small runs to large ones.
    pub(crate) fn series(quick: bool) -> Vec<Self> {
        let last = if quick { 28 } else { 38 };
        (25..=last).map(Self::Fib).collect()
    }

    /// What the user calls it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Fib(_) => "fib",
            Self::Queens(_) => "queens",
            Self::QueensTo(..) => "queens-serial",
            Self::Sort(_) => "sort",
            Self::Strassen(_) => "strassen",
            Self::Multiply(_) => "multiply",
            Self::Unbalanced(..) => "unbalanced",
        }
    }

    /// What a run works on.
    pub(crate) fn input(self) -> Input {
        let mut state = 1u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state
        };
        match self {
            Self::Sort(len) => {
                let source: Vec<i32> = (0..len)
                    .map(|_| (random() ^ random() >> 16) as i32)
                    .collect();
                Input::Sort {
                    data: source.clone(),
                    tmp: vec![0; len],
                    source,
                }
            }
            Self::Strassen(n) | Self::Multiply(n) => {
                let mut matrix = || {
                    (0..n * n)
                        .map(|_| (random() >> 8) as f32 / (1 << 24) as f32 - 0.5)
                        .collect()
                };
                let (a, b) = (matrix(), matrix());
                let levels = if matches!(self, Self::Strassen(_)) {
                    LEVELS
                } else {
                    0
                };
                let scratch = vec![0.0; super::elision::strassen::scratch_len(n, levels)];
                Input::Strassen {
                    n,
                    a,
                    b,
                    c: vec![0.0; n * n],
                    scratch,
                }
            }
            _ => Input::None,
        }
    }
}

/// Most levels of Strassen's seven products; below, the ordinary product. Each takes 7/4 of the scratch memory of the one above.
const LEVELS: usize = 4;

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fib(n) => write!(f, "fib({n})"),
            Self::Queens(n) => write!(f, "queens({n})"),
            Self::QueensTo(n, rows) => write!(f, "queens({n}), tasks for {rows} rows"),
            Self::Sort(n) => write!(f, "sort of {n}"),
            Self::Strassen(n) => write!(f, "strassen {n} x {n}"),
            Self::Multiply(n) => write!(f, "multiply {n} x {n}"),
            Self::Unbalanced(_, branches) => write!(f, "unbalanced tree, {branches} branches"),
        }
    }
}

/// What a run works on.
#[derive(Debug)]
pub(crate) enum Input {
    /// Numbers only.
    None,
    /// What is sorted; `source` is what it was.
    Sort {
        source: Vec<i32>,
        data: Vec<i32>,
        tmp: Vec<i32>,
    },
    /// `c = a * b`.
    Strassen {
        n: usize,
        a: Vec<f32>,
        b: Vec<f32>,
        c: Vec<f32>,
        scratch: Vec<f32>,
    },
}

impl Input {
    /// As before the first run. What is written is touched, so that no contestant pays for the system's first touch.
    pub(crate) fn reset(&mut self) {
        match self {
            Self::None => {}
            Self::Sort { source, data, tmp } => {
                data.copy_from_slice(source);
                tmp.fill(0);
            }
            Self::Strassen { c, scratch, .. } => {
                c.fill(0.0);
                scratch.fill(0.0);
            }
        }
    }

    /// Whether a run needs no [`reset`](Self::reset).
    pub(crate) const fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// What a run left: equal for contestants that did the same.
    pub(crate) fn digest(&self) -> u64 {
        let mix = |h: u64, bits: u32| (h ^ u64::from(bits)).wrapping_mul(0x100_0000_01b3);
        match self {
            Self::None => 0,
            Self::Sort { data, .. } => data.iter().fold(0, |h, x| mix(h, *x as u32)),
            Self::Strassen { c, .. } => c.iter().fold(0, |h, x| mix(h, x.to_bits())),
        }
    }
}

/// What a contestant did in one run.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Outcome {
    /// The number it came to; 0 if it only wrote to its input.
    pub(crate) answer: u64,
    /// Tasks, if it counts them.
    pub(crate) tasks: u64,
    /// Share of the time that each of its threads was not asleep, if it knows.
    pub(crate) busy: Vec<f64>,
}

/// Somebody who runs the programs.
pub(crate) trait Contestant {
    /// Its name in the table.
    fn name(&self) -> &'static str;
    /// How many threads it uses.
    fn threads(&self) -> u32;
    /// Runs a program once. Which tasks ran and how busy threads were is to be told or not: who runs a program for its result does not ask.
    fn run(&mut self, program: Program, input: &mut Input, told: bool) -> Result<Outcome, String>;
}
