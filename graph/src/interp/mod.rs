//! The reference interpreter: runs a [`Program`] as the front end wrote it, before any lowering. It is the oracle of every test, so
//! it is written to be obvious.
//!
//! - Spawns run at once and to their end, in the order of the program, as in the serial elision; a result is combined with what its
//!   destination holds when the child ends, and a sync goes on. Atomics are plain accesses.
//! - What a kernel emits is kept in the order in which it was, for who called it ([`Interp::take_emitted`]); a graph of kernels is run one element
//!   after another ([`SerialGraph`]).
//! - What an operation does to bits, [`crate::eval`] says.
//! - It is memory-safe whatever the program does. A pointer is the number of an allocation in its high 24 bits and an offset in the low
//!   40; each access is checked against the table of allocations. An access that is out of bounds, to memory that is gone, misaligned,
//!   to bytes that nobody wrote, or a write to a constant is an error of the front end ([`InterpError::Wild`]), never undefined.
//! - Recursion uses no stack of the host's. Steps, depth and memory are limited ([`Limits`]).
//! - What it runs can be measured ([`Interp::measure`]): work, span, and the lines that did it ([`Profile`]); and how full wavefronts of its tasks
//!   would be ([`Interp::count_lanes`]).
//!
//! It runs programs that [`verify`](crate::verify::verify) accepts; on others it may panic.

mod lanes;
mod machine;
mod memory;
mod profile;
mod serial;

pub use lanes::Lanes;
pub use memory::Problem;
pub use profile::{Amount, BURDEN, LineWork, OnPath, Profile, Progress};
pub use serial::SerialGraph;

use crate::{
    fault::Fault,
    ir::{Arg, ChannelId, FuncId, Program, Span},
    ty::{Layout, Piece},
};
use machine::{Activation, Done, Trap};
use memory::Memory;
use profile::Recorder;
use std::sync::Arc;

/// How far a run may go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Statements and terminators, over all calls of an interpreter.
    pub steps: u64,
    /// Activations of functions at one time.
    pub depth: usize,
    /// Bytes of live allocations, the host's included. More than 16 million allocations are too much at any limit.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 10_000_000_000,
            depth: 1_000_000,
            memory: 4 << 30,
        }
    }
}

/// What has been run so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Statements and terminators.
    pub steps: u64,
    /// Tasks, those that the host called included.
    pub tasks: u64,
    /// Greatest number of activations at one time.
    pub depth: usize,
}

/// A piece of an argument ([`Type::pieces`](crate::ty::Type::pieces)).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ArgValue {
    /// The bits of a scalar, zero-extended.
    Scalar(u64),
    /// The bytes of an array.
    Blob(Vec<u8>),
}

/// An element that was put into a channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Emitted {
    /// Where: as the function that emitted names it.
    pub channel: ChannelId,
    /// The pieces of the element.
    pub element: Vec<ArgValue>,
}

/// Why a call did not return.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InterpError {
    /// A check of the program failed.
    #[error(transparent)]
    Fault(Fault),
    /// More steps than [`Limits::steps`].
    #[error("the program ran for more than {0} steps")]
    StepLimit(u64),
    /// Deeper than [`Limits::depth`].
    #[error("the program recursed deeper than {0} calls")]
    RecursionLimit(usize),
    /// More memory than [`Limits::memory`].
    #[error("the program used more than {0} bytes of memory")]
    MemoryLimit(u64),
    /// An access to memory that the program has no right to: an error of who made the IR.
    #[error("access to {size} bytes at {address:#x}: {problem}, in `{function}` at {}:{}", span.line, span.col)]
    Wild {
        /// The pointer.
        address: u64,
        /// Bytes from there.
        size: u64,
        /// What is wrong with it.
        problem: Problem,
        /// The function that did it.
        function: String,
        /// Where in the source.
        span: Span,
    },
    /// A division of integers without a result, or a terminator that should not be reached: an error of who made the IR.
    #[error("{what}, in `{function}` at {}:{}", span.line, span.col)]
    Invalid {
        /// What went wrong.
        what: &'static str,
        /// The function that did it.
        function: String,
        /// Where in the source.
        span: Span,
    },
    /// The arguments of a call are not the pieces of the function's parameters.
    #[error("`{function}` takes {expected}")]
    Arguments {
        /// The function.
        function: String,
        /// What was expected.
        expected: String,
    },
}

/// An interpreter of one program, with the memory of its host.
#[derive(Debug)]
pub struct Interp<'a> {
    program: &'a Program,
    memory: Memory,
    /// Address of each constant array.
    data: Vec<u64>,
    /// Pieces and layout of each function's result.
    results: Vec<(Vec<Piece>, Layout)>,
    limits: Limits,
    stats: Stats,
    stack: Vec<Activation>,
    uniforms: Vec<u64>,
    emitted: Vec<Emitted>,
    recorder: Option<Box<Recorder>>,
    lanes: Option<Box<Lanes>>,
}

impl<'a> Interp<'a> {
    /// An interpreter of a program that the verifier accepts.
    #[must_use]
    pub fn new(program: &'a Program) -> Self {
        let mut memory = Memory::new(Limits::default().memory);
        let data = program
            .data
            .iter()
            .map(|d| memory.constant(d.bytes.clone(), d.align))
            .collect();
        let result =
            |ty: &crate::ty::Type| (ty.pieces(&program.structs), ty.layout(&program.structs));
        let results = program.functions.iter().map(|f| result(&f.ret)).collect();
        Self {
            program,
            memory,
            data,
            results,
            limits: Limits::default(),
            stats: Stats::default(),
            stack: Vec::new(),
            uniforms: Vec::new(),
            emitted: Vec::new(),
            recorder: None,
            lanes: None,
        }
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.set_limits(limits);
        self
    }

    /// Sets other limits.
    pub fn set_limits(&mut self, limits: Limits) {
        self.memory.set_limit(limits.memory);
        self.limits = limits;
    }

    /// Sets what a graph gives to its kernels: the bits of each uniform, of a blob its address.
    pub fn set_uniforms(&mut self, uniforms: Vec<u64>) {
        self.uniforms = uniforms;
    }

    /// Measures what is run from now on, says how far it is, and counts [`stats`](Self::stats) from here.
    pub fn measure(&mut self, progress: Arc<Progress>) {
        self.recorder = Some(Box::new(Recorder::new(self.program, progress)));
        self.stats = Stats::default();
    }

    /// Counts from now on which lanes of wavefronts of so many would go the same way; `leaves_apart` if tasks that spawn nothing are in none.
    /// The device that it plays is wide then, as one with lanes is.
    pub fn count_lanes(&mut self, lanes: usize, leaves_apart: bool) {
        self.lanes = Some(Box::new(Lanes::new(self.program, lanes, leaves_apart)));
    }

    /// What was counted since [`count_lanes`](Self::count_lanes).
    pub fn take_lanes(&mut self) -> Option<Lanes> {
        self.lanes.take().map(|lanes| lanes.done())
    }

    /// What was measured, unless a call did not return.
    #[must_use]
    pub fn profile(&self) -> Option<Profile> {
        let recorder = self.recorder.as_ref()?;
        Some(recorder.profile(self.program))
    }

    /// What was emitted since this was last asked.
    pub fn take_emitted(&mut self) -> Vec<Emitted> {
        std::mem::take(&mut self.emitted)
    }

    /// Makes memory of these bytes and gives its address. It stays until [`free`](Self::free).
    pub fn alloc(&mut self, bytes: Vec<u8>, align: u64) -> u64 {
        self.memory.host(bytes, align)
    }

    /// The bytes from this address to the end of its allocation; none if there is no such memory.
    #[must_use]
    pub fn read(&self, address: u64) -> &[u8] {
        self.memory.rest(address)
    }

    /// Gives memory back that [`alloc`](Self::alloc) made.
    pub fn free(&mut self, address: u64) {
        self.memory.free(address);
    }

    /// What has been run so far.
    #[must_use]
    pub const fn stats(&self) -> Stats {
        self.stats
    }

    /// Calls a function with a value for each piece of its parameters and gives the memory image of its result. Padding is zero.
    ///
    /// # Errors
    /// Why it did not return. The interpreter can be used again; memory of the host's holds what the program had written by then.
    pub fn call(&mut self, func: FuncId, args: &[ArgValue]) -> Result<Vec<u8>, InterpError> {
        let mut blobs = Vec::new();
        let bits = self.bits_of(func, args, &mut blobs);
        let result = bits.and_then(|bits| {
            let layout = self.results[func.index()].1;
            let result = self
                .memory
                .host(vec![0; layout.size as usize], layout.align);
            blobs.push(result);
            self.run(func, &bits, Done::Memory(result))?;
            Ok(self.memory.rest(result).to_vec())
        });
        blobs.into_iter().for_each(|b| self.memory.free(b));
        result
    }

    /// The bits that the arguments arrive as; a blob gets an address, which is added to `blobs`.
    fn bits_of(
        &mut self,
        func: FuncId,
        args: &[ArgValue],
        blobs: &mut Vec<u64>,
    ) -> Result<Vec<u64>, InterpError> {
        let function = &self.program[func];
        let wrong = |expected: String| InterpError::Arguments {
            function: function.name.clone(),
            expected,
        };
        if args.len() != function.args.len() {
            return Err(wrong(format!(
                "{} pieces, not {}",
                function.args.len(),
                args.len()
            )));
        }
        let mut out = Vec::new();
        for (i, (value, arg)) in args.iter().zip(&function.args).enumerate() {
            out.push(match (value, arg) {
                (ArgValue::Scalar(bits), Arg::Local(_)) => *bits,
                (ArgValue::Blob(bytes), Arg::Slot(slot)) => {
                    let layout = function.slots[slot.index()].layout;
                    if bytes.len() as u64 != layout.size {
                        return Err(wrong(format!(
                            "{} bytes as piece {i}, not {}",
                            layout.size,
                            bytes.len()
                        )));
                    }
                    blobs.push(self.memory.host(bytes.clone(), layout.align));
                    blobs[blobs.len() - 1]
                }
                (_, Arg::Local(_)) => return Err(wrong(format!("a scalar as piece {i}"))),
                (_, Arg::Slot(_)) => return Err(wrong(format!("an array as piece {i}"))),
            });
        }
        Ok(out)
    }

    fn run(&mut self, func: FuncId, args: &[u64], done: Done) -> Result<(), InterpError> {
        let mut outcome = self.enter(func, args, done);
        while outcome.is_ok() && !self.stack.is_empty() {
            outcome = self.step();
        }
        let result = outcome.map_err(|trap| self.error(trap));
        if result.is_err() {
            // It says nothing about a run that did not end.
            self.recorder = None;
        }
        while let Some(activation) = self.stack.pop() {
            activation
                .slots
                .into_iter()
                .for_each(|s| self.memory.free(s));
        }
        result
    }

    /// Says where a trap happened.
    fn error(&self, trap: Trap) -> InterpError {
        let (function, span) = self.stack.last().map_or_else(Default::default, |a| {
            (self.program[a.func].name.clone(), a.span(self.program))
        });
        match trap {
            Trap::Check { kind, values } => {
                let file = self.program.file.clone();
                InterpError::Fault(Fault {
                    kind,
                    values,
                    function,
                    file,
                    span,
                })
            }
            Trap::Steps => InterpError::StepLimit(self.limits.steps),
            Trap::Depth => InterpError::RecursionLimit(self.limits.depth),
            Trap::Memory => InterpError::MemoryLimit(self.limits.memory),
            Trap::Wild {
                address,
                size,
                problem,
            } => InterpError::Wild {
                address,
                size,
                problem,
                function,
                span,
            },
            Trap::Invalid(what) => InterpError::Invalid {
                what,
                function,
                span,
            },
        }
    }
}
