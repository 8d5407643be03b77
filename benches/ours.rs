//! Millstream itself: the examples' source, lowered and compiled when first asked for.

use super::program::{Contestant, Input, Outcome, Program};
use millstream_aggregator::{
    CpuOptions, Device, ErasedArg, ErasedCall, Loaded, MemoryArg, RunReport,
};
use millstream_cilk_lower::{lower::lower, parse_file};
use std::{collections::BTreeMap, sync::Arc};

/// A device of ours.
#[derive(Debug)]
pub(crate) struct Ours {
    device: Device,
    loaded: BTreeMap<&'static str, Loaded>,
}

impl Ours {
    /// The CPU with so many threads.
    pub(crate) fn cpu(threads: u32) -> Result<Self, String> {
        let options = CpuOptions {
            threads: Some(threads),
            ..CpuOptions::default()
        };
        let device = Device::cpu_with(options).map_err(|e| e.to_string())?;
        Ok(Self {
            device,
            loaded: BTreeMap::new(),
        })
    }

    fn load(&mut self, source: (&'static str, &'static str)) -> Result<Loaded, String> {
        let (file, text) = source;
        if let Some(loaded) = self.loaded.get(file) {
            return Ok(loaded.clone());
        }
        let program = parse_file(text, file, None).map_err(|e| e.to_string())?;
        let lowered = Arc::new(lower(&program).map_err(|e| e.to_string())?);
        let loaded = self.device.load(&lowered).map_err(|e| e.to_string())?;
        self.loaded.insert(file, loaded.clone());
        Ok(loaded)
    }
}

const FIB: (&str, &str) = ("fib.rs", include_str!("../examples/fib.rs"));
const QUEENS: (&str, &str) = ("queens.rs", include_str!("../examples/queens.rs"));
const SORT: (&str, &str) = ("sort.rs", include_str!("../examples/sort.rs"));
const STRASSEN: (&str, &str) = ("strassen.rs", include_str!("../examples/strassen.rs"));
const UNBALANCED: (&str, &str) = ("unbalanced.rs", include_str!("../examples/unbalanced.rs"));

/// The file that a program is in, and its text.
pub(crate) const fn source(program: Program) -> (&'static str, &'static str) {
    match program {
        Program::Fib(_) => FIB,
        Program::Queens(_) | Program::QueensTo(..) => QUEENS,
        Program::Sort(_) => SORT,
        Program::Strassen(_) | Program::Multiply(_) => STRASSEN,
        Program::Unbalanced(..) => UNBALANCED,
    }
}

/// The pieces of a number.
fn scalar<'a>(value: impl Into<u64>) -> ErasedArg<'a> {
    ErasedArg::Scalar(value.into())
}

/// The pieces of a slice's memory and length, or of a square matrix; then the numbers that follow.
pub(crate) fn pieces(
    memory: MemoryArg<'_>,
    sizes: impl IntoIterator<Item = usize>,
) -> Vec<ErasedArg<'_>> {
    let mut out = vec![ErasedArg::Memory(memory)];
    out.extend(sizes.into_iter().map(|s| ErasedArg::Scalar(s as u64)));
    out
}

impl Contestant for Ours {
    fn name(&self) -> &'static str {
        "millstream"
    }

    fn threads(&self) -> u32 {
        self.device.threads()
    }

    fn run(&mut self, program: Program, input: &mut Input, told: bool) -> Result<Outcome, String> {
        let (source, task, args) = match (program, input) {
            (Program::Fib(n), _) => (FIB, "fib", vec![scalar(n)]),
            (Program::Queens(n), _) => (QUEENS, "queens", vec![scalar(n)]),
            (Program::QueensTo(n, rows), _) => (QUEENS, "queens_to", vec![scalar(n), scalar(rows)]),
            (Program::Unbalanced(seed, branches), _) => {
                (UNBALANCED, "tree", vec![scalar(seed), scalar(branches)])
            }
            (Program::Sort(len), Input::Sort { data, tmp, .. }) => {
                let mut args = pieces(MemoryArg::exclusive(data), [len]);
                args.extend(pieces(MemoryArg::exclusive(tmp), [len]));
                (SORT, "sort", args)
            }
            (
                Program::Strassen(_),
                Input::Strassen {
                    n,
                    a,
                    b,
                    c,
                    scratch,
                },
            ) => {
                let n = *n;
                let mut args = pieces(MemoryArg::exclusive(c), [n, n, n]);
                args.extend(pieces(MemoryArg::shared(a), [n, n, n]));
                args.extend(pieces(MemoryArg::shared(b), [n, n, n]));
                let len = scratch.len();
                args.extend(pieces(MemoryArg::exclusive(scratch), [len]));
                (STRASSEN, "strassen", args)
            }
            (Program::Multiply(_), Input::Strassen { n, a, b, c, .. }) => {
                let n = *n;
                let mut args = pieces(MemoryArg::exclusive(c), [n, n, n]);
                args.extend(pieces(MemoryArg::shared(a), [n, n, n]));
                args.extend(pieces(MemoryArg::shared(b), [n, n, n]));
                (STRASSEN, "multiply", args)
            }
            (program, _) => return Err(format!("{program} got an input that is not its own")),
        };
        let loaded = self.load(source)?;
        let task = loaded
            .program()
            .find(task)
            .ok_or_else(|| format!("{} has no task `{task}`", source.0))?;
        let mut calls = [ErasedCall::new(args)];
        let report = match told {
            true => self.device.launch(&loaded, task, &mut calls),
            false => {
                let ran = self.device.launch_untold(&loaded, task, &mut calls);
                ran.map(|()| RunReport::default())
            }
        };
        let report = report.map_err(|e| e.to_string())?;
        let bytes: [u8; 8] = calls[0].result[..].try_into().unwrap_or_default();
        let busy = report.workers.iter().map(|w| w.busy).collect();
        Ok(Outcome {
            answer: u64::from_ne_bytes(bytes),
            tasks: report.total,
            busy,
        })
    }
}
