//! The programs on any device: what they work on stays there from run to run.

use super::{
    ours::{self, source},
    program::{Input, Program},
};
use millstream_aggregator::{
    Buffer, Device, ErasedArg, ErasedCall, Loaded, MemoryArg, RunError, RunReport,
};
use millstream_cilk_lower::{lower::lower, parse_file};
use millstream_graph::levelized::Levelized;
use std::sync::Arc;

/// A program's file, lowered.
pub(super) fn lowered(
    (file, text): (&'static str, &'static str),
) -> Result<Arc<Levelized>, String> {
    let program = parse_file(text, file, None).map_err(|e| e.to_string())?;
    lower(&program).map(Arc::new).map_err(|e| e.to_string())
}

/// A program that is loaded on a device, with memory there for what it works on.
#[derive(Debug)]
pub(crate) struct Ready<'d> {
    device: &'d Device,
    program: Program,
    loaded: Loaded,
    held: Held,
}

impl<'d> Ready<'d> {
    pub(crate) fn new(device: &'d Device, program: Program, input: &Input) -> Result<Self, String> {
        let text = lowered(source(program))?;
        let failed = |e: RunError| format!("{program} on {}: {e}", device.name());
        Ok(Self {
            device,
            program,
            loaded: device.load(&text).map_err(failed)?,
            held: Held::new(device, input).map_err(failed)?,
        })
    }

    /// Copies the input there, runs, copies back what was written, and gives the number that it came to, 0 if it only wrote.
    pub(crate) fn run(&mut self, input: &mut Input) -> Result<(RunReport, u64), RunError> {
        let Self {
            device,
            program,
            loaded,
            held,
        } = self;
        held.copy_in(input)?;
        let (task, args) = held.args(*program);
        let task = loaded.program().find(task);
        let task =
            task.ok_or_else(|| RunError::Device(format!("{program} has not the task it has")))?;
        let mut calls = [ErasedCall::new(args)];
        let report = device.launch(loaded, task, &mut calls)?;
        let [call] = calls;
        let answer = u64::from_le_bytes(call.result[..].try_into().unwrap_or_default());
        held.copy_out(input)?;
        Ok((report, answer))
    }
}

/// What a program works on, on its device.
#[derive(Debug)]
enum Held {
    None,
    Sort {
        data: Buffer<i32>,
        tmp: Buffer<i32>,
    },
    Strassen {
        a: Buffer<f32>,
        b: Buffer<f32>,
        c: Buffer<f32>,
        scratch: Buffer<f32>,
    },
}

impl Held {
    fn new(device: &Device, input: &Input) -> Result<Self, RunError> {
        Ok(match input {
            Input::None => Self::None,
            Input::Sort { data, tmp, .. } => Self::Sort {
                data: device.zeros(data.len())?,
                tmp: device.zeros(tmp.len())?,
            },
            Input::Strassen {
                a, b, c, scratch, ..
            } => Self::Strassen {
                a: device.zeros(a.len())?,
                b: device.zeros(b.len())?,
                c: device.zeros(c.len())?,
                scratch: device.zeros(scratch.len())?,
            },
        })
    }

    fn copy_in(&mut self, input: &Input) -> Result<(), RunError> {
        match (self, input) {
            (Self::Sort { data, .. }, Input::Sort { source, .. }) => data.try_write(source),
            (
                Self::Strassen { a, b, .. },
                Input::Strassen {
                    a: from_a,
                    b: from_b,
                    ..
                },
            ) => a.try_write(from_a).and_then(|()| b.try_write(from_b)),
            _ => Ok(()),
        }
    }

    fn copy_out(&self, input: &mut Input) -> Result<(), RunError> {
        match (self, input) {
            (Self::Sort { data, .. }, Input::Sort { data: to, .. }) => *to = data.try_read()?,
            (Self::Strassen { c, .. }, Input::Strassen { c: to, .. }) => *to = c.try_read()?,
            _ => {}
        }
        Ok(())
    }

    fn args(&mut self, program: Program) -> (&'static str, Vec<ErasedArg<'_>>) {
        let number = |n: u64| ErasedArg::Scalar(n);
        match (self, program) {
            (Self::Sort { data, tmp }, _) => {
                let (n, m) = (data.len(), tmp.len());
                let mut args = ours::pieces(MemoryArg::buffer_mut(data), [n]);
                args.extend(ours::pieces(MemoryArg::buffer_mut(tmp), [m]));
                ("sort", args)
            }
            (Self::Strassen { a, b, c, scratch }, Program::Strassen(n)) => {
                let len = scratch.len();
                let mut args = ours::pieces(MemoryArg::buffer_mut(c), [n, n, n]);
                args.extend(ours::pieces(MemoryArg::buffer(a), [n, n, n]));
                args.extend(ours::pieces(MemoryArg::buffer(b), [n, n, n]));
                args.extend(ours::pieces(MemoryArg::buffer_mut(scratch), [len]));
                ("strassen", args)
            }
            (Self::Strassen { a, b, c, .. }, Program::Multiply(n)) => {
                let mut args = ours::pieces(MemoryArg::buffer_mut(c), [n, n, n]);
                args.extend(ours::pieces(MemoryArg::buffer(a), [n, n, n]));
                args.extend(ours::pieces(MemoryArg::buffer(b), [n, n, n]));
                ("multiply", args)
            }
            (_, Program::Fib(n)) => ("fib", vec![number(n.into())]),
            (_, Program::Queens(n)) => ("queens", vec![number(n.into())]),
            (_, Program::QueensTo(n, rows)) => {
                ("queens_to", vec![number(n.into()), number(rows.into())])
            }
            (_, Program::Unbalanced(seed, branches)) => {
                ("tree", vec![number(seed), number(branches.into())])
            }
            (_, Program::Sort(_) | Program::Strassen(_) | Program::Multiply(_)) => {
                unreachable!("each has an input of its own")
            }
        }
    }
}
