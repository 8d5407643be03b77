//! Runs a levelized program on the interpreter, one element at a time, as the module doc of [`millstream_graph::levelized`] says: the
//! deepest level first, its entries before its continuations. The oracle for the lowering alone, without any code generator.
//!
//! Each segment becomes an ordinary function of the interpreter's program. It finds its frame and a log behind pointers that come as
//! further arguments; what it pushes it writes to the log, and the simulator reads that and pushes it. So all memory is the
//! interpreter's, and an access to a frame of a level that is gone is found.

mod program;

use millstream_graph::{
    interp::{ArgValue, Emitted, Interp, InterpError},
    ir::{FuncId, Program, SegmentId, TaskId},
    levelized::{Field, Levelized},
    ty::{Layout, PieceKind},
};
use program::{Head, LOG_BYTES, Record};

/// A levelized program, made ready to run.
#[derive(Debug)]
pub(super) struct Simulation {
    program: Program,
    tasks: Vec<SimTask>,
}

#[derive(Debug)]
struct SimTask {
    name: String,
    /// The function of each segment.
    segments: Vec<FuncId>,
    element: Vec<Field>,
    frame: Record,
    result: Layout,
}

/// Why a simulated call did not return.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum SimulateError {
    /// The program has no such task.
    #[error("no task `{0}`")]
    NoTask(String),
    /// What the interpreter says of a segment.
    #[error(transparent)]
    Interp(#[from] InterpError),
    /// A segment broke a rule of levelized programs.
    #[error("{0}, in `{1}`")]
    Rule(&'static str, String),
}

impl Simulation {
    /// Of a levelized program.
    #[must_use]
    pub(super) fn new(levelized: &Levelized) -> Self {
        let mut program = levelized.program.clone();
        let tasks = levelized.tasks().map(|(t, task)| {
            let segments = (0..task.segments.len()).map(|s| {
                program
                    .functions
                    .push(program::function(levelized, t, SegmentId::new(s)));
                FuncId::new(program.functions.len() - 1)
            });
            SimTask {
                name: task.name.clone(),
                segments: segments.collect(),
                element: levelized.element(t).to_vec(),
                frame: Record::new(levelized.frame(t)),
                result: program[levelized.func(t)]
                    .ret
                    .layout(&levelized.program.structs),
            }
        });
        let tasks = tasks.collect();
        Self { program, tasks }
    }

    /// A machine that runs it, with memory of its own.
    #[must_use]
    pub(super) fn machine(&self) -> Machine<'_> {
        let mut interp = Interp::new(&self.program);
        let log = interp.alloc(vec![0; LOG_BYTES], 8);
        Machine {
            simulation: self,
            interp,
            log,
            levels: Vec::new(),
            stats: Stats::default(),
            lots: None,
        }
    }
}

/// What has been run so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Stats {
    /// Tasks that ran: entry elements consumed, and children that ended where they were spawned.
    pub(super) tasks: u64,
    /// Continuation elements consumed.
    pub(super) continuations: u64,
    /// Frames reserved.
    pub(super) frames: u64,
    /// Deepest level, from 1.
    pub(super) levels: usize,
}

/// The channel stacks of one run and the memory of its host.
#[derive(Debug)]
pub(super) struct Machine<'a> {
    simulation: &'a Simulation,
    interp: Interp<'a>,
    /// Address of the log that a segment writes its pushes to.
    log: u64,
    levels: Vec<Level>,
    stats: Stats,
    /// Where restart points find no room, by lot: none if all find some.
    lots: Option<u64>,
}

/// What the stacks hold of one level.
#[derive(Debug, Default)]
struct Level {
    entries: Vec<(TaskId, Vec<ArgValue>)>,
    continuations: Vec<(TaskId, SegmentId, u64)>,
    /// Addresses of the frames; they go when the level is drained.
    frames: Vec<u64>,
}

impl Machine<'_> {
    /// Makes memory of these bytes and gives its address.
    pub(super) fn alloc(&mut self, bytes: Vec<u8>, align: u64) -> u64 {
        self.interp.alloc(bytes, align)
    }

    /// From now on an element passes none, one or two restart points before it finds no room, as the lot says.
    pub(super) const fn short_of_room(&mut self, seed: u64) {
        self.lots = Some(seed);
    }

    /// How many restart points the next element passes.
    fn rooms(&mut self) -> u64 {
        let Some(lots) = &mut self.lots else {
            return u64::MAX;
        };
        *lots = lots
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*lots >> 60) % 3
    }

    /// The bytes from this address to the end of its allocation.
    #[must_use]
    pub(super) fn read(&self, address: u64) -> &[u8] {
        self.interp.read(address)
    }

    /// Sets what a graph gives to its kernels.
    pub(super) fn set_uniforms(&mut self, uniforms: Vec<u64>) {
        self.interp.set_uniforms(uniforms);
    }

    /// What was emitted since this was last asked.
    pub(super) fn take_emitted(&mut self) -> Vec<Emitted> {
        self.interp.take_emitted()
    }

    /// What has been run so far.
    #[must_use]
    pub(super) const fn stats(&self) -> Stats {
        self.stats
    }

    /// Runs the task of that name with a value for each piece of its parameters; gives the memory image of its result.
    ///
    /// # Errors
    /// Why it did not return.
    pub(super) fn call(&mut self, task: &str, args: &[ArgValue]) -> Result<Vec<u8>, SimulateError> {
        let found = self.simulation.tasks.iter().position(|t| t.name == task);
        let id = TaskId::new(found.ok_or_else(|| SimulateError::NoTask(task.to_owned()))?);
        let task = &self.simulation.tasks[id.index()];
        let result = self
            .interp
            .alloc(vec![0; task.result.size as usize], task.result.align);
        let mut args = args.to_vec();
        if args.len() + 1 == task.element.len() {
            args.push(ArgValue::Scalar(result));
        }
        self.levels = vec![Level {
            entries: vec![(id, args)],
            ..Level::default()
        }];
        let outcome = self.drain();
        let bytes = self.interp.read(result)[..task.result.size as usize].to_vec();
        self.interp.free(result);
        outcome.map(|()| bytes)
    }

    /// Runs until every level is drained.
    fn drain(&mut self) -> Result<(), SimulateError> {
        while let Some(level) = self.levels.last_mut() {
            if let Some((task, args)) = level.entries.pop() {
                self.entry(task, args)?;
            } else if let Some((task, segment, frame)) = level.continuations.pop() {
                self.continuation(task, segment, frame)?;
            } else {
                let frames = std::mem::take(&mut level.frames);
                frames.into_iter().for_each(|f| self.interp.free(f));
                self.levels.pop();
            }
        }
        Ok(())
    }

    fn entry(&mut self, task: TaskId, mut args: Vec<ArgValue>) -> Result<(), SimulateError> {
        self.stats.tasks += 1;
        self.stats.levels = self.stats.levels.max(self.levels.len());
        let record = &self.simulation.tasks[task.index()].frame;
        // What nobody has written is no value that a right program could use.
        let frame = self
            .interp
            .alloc(vec![0xa5; record.size.max(1) as usize], 16);
        let head = Head::new(self.rooms());
        let head = self.interp.alloc(head.bytes(), 8);
        args.extend([frame, head, self.log].map(ArgValue::Scalar));
        let outcome = self
            .interp
            .call(self.simulation.tasks[task.index()].segments[0], &args);
        let done = self.finish(task, SegmentId(0), frame, head);
        outcome?;
        done
    }

    fn continuation(
        &mut self,
        task: TaskId,
        segment: SegmentId,
        frame: u64,
    ) -> Result<(), SimulateError> {
        self.stats.continuations += 1;
        let head = Head {
            frames: 1,
            ..Head::new(self.rooms())
        };
        let head = self.interp.alloc(head.bytes(), 8);
        let args = [frame, head, self.log].map(ArgValue::Scalar);
        let outcome = self.interp.call(
            self.simulation.tasks[task.index()].segments[segment.index()],
            &args,
        );
        let done = self.finish(task, segment, frame, head);
        outcome?;
        done
    }

    fn top(&mut self) -> &mut Level {
        let top = self.levels.len() - 1;
        &mut self.levels[top]
    }

    /// Pushes what a segment wrote to the log: its frame and continuation at its own level, its children one deeper.
    fn finish(
        &mut self,
        task: TaskId,
        segment: SegmentId,
        frame: u64,
        head: u64,
    ) -> Result<(), SimulateError> {
        let read = Head::read(self.interp.read(head));
        self.interp.free(head);
        let rule = |what| {
            let id = self.simulation.tasks[task.index()].segments[segment.index()];
            Err(SimulateError::Rule(
                what,
                self.simulation.program[id].name.clone(),
            ))
        };
        if read.frames > 1 {
            return rule("a task reserved two frames");
        }
        if read.early != 0 || (read.next != 0 && read.frames == 0) {
            return rule("a frame was used before it was reserved");
        }
        let children = self.children(read.bytes);
        if read.leaves > 0 {
            self.stats.tasks += read.leaves;
            self.stats.levels = self.stats.levels.max(self.levels.len() + 1);
        }
        if read.frames == 0 {
            self.interp.free(frame);
        } else if segment.index() == 0 {
            self.stats.frames += 1;
            self.top().frames.push(frame);
        }
        if read.next != 0 {
            self.top()
                .continuations
                .push((task, SegmentId(read.next as u32), frame));
        }
        if !children.is_empty() {
            self.levels.push(Level {
                entries: children,
                ..Level::default()
            });
        }
        Ok(())
    }

    /// The elements that stand in the log.
    fn children(&self, bytes: u64) -> Vec<(TaskId, Vec<ArgValue>)> {
        let log = self.interp.read(self.log);
        let word = |at: u64| {
            u64::from_le_bytes(
                log[at as usize..at as usize + 8]
                    .try_into()
                    .unwrap_or_default(),
            )
        };
        let mut out = Vec::new();
        let mut at = 0;
        while at < bytes {
            let task = TaskId(word(at) as u32);
            let element = &self.simulation.tasks[task.index()].element;
            let record = Record::new(element);
            let args = element.iter().zip(&record.offsets).map(|(field, offset)| {
                let place = (at + 8 + offset) as usize;
                let bytes = &log[place..place + field.kind.layout().size as usize];
                match field.kind {
                    PieceKind::Blob(_) => ArgValue::Blob(bytes.to_vec()),
                    PieceKind::Scalar(_) => {
                        let mut word = [0; 8];
                        word[..bytes.len()].copy_from_slice(bytes);
                        ArgValue::Scalar(u64::from_le_bytes(word))
                    }
                }
            });
            out.push((task, args.collect()));
            at += 8 + record.size;
        }
        out
    }
}
