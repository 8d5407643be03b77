//! One run of a graph: kernel after kernel, and between two of them the host feeds and drains its channels.

use super::{
    arena::{Arena, Place},
    bind::{Bound, GraphArgs},
    launcher::{FlowKernels, FlowLauncher},
    rings::HostRing,
    sight::Watched,
    timeline::FlowSpans,
};
use crate::{
    cuda::{
        batch::{Batch, Fields, Ran},
        copies::Copies,
        run::Settings,
        waits::Awaited,
    },
    error::RunError,
    gpus::{Aggregator, Policy},
    policy::Bytes,
    report::{ChannelReport, ChannelTally, NodeReport, RunReport, by_name},
};
use millstream_channels_kernel::cuda::{
    abi::{
        Control, Line,
        flow::{FlowState, RingWords, Wave, how, stop},
        status,
    },
    flow::Channel,
};
use millstream_graph::{
    fault::{Fault, FaultValue},
    graph::{self, Graph, WhenFull},
    ir::{Program, TaskId},
    ty::PieceKind,
};
use std::{
    cell::Cell,
    mem::offset_of,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

/// The shared word by which the host asks for a pause; the first is the cancel flag.
const ASKED: usize = 1;
const RUNNING: &str = "running the graph";

/// How large a channel is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RingSize {
    /// Elements that it has room for.
    pub width: u32,
    /// Neighbouring elements that share a word of done marks, at most 64.
    pub group: u32,
    /// Whether it may become wider.
    pub grows: bool,
}

impl RingSize {
    /// A size that the device knows: a mark is a bit of a word.
    fn new(channel: &graph::Channel) -> Self {
        Self {
            width: channel.width.max(1),
            group: channel.group.clamp(1, 64),
            grows: channel.full == WhenFull::Grow,
        }
    }
}

/// How a graph is to be run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowSettings {
    /// Bytes that its channels may take.
    pub memory: u64,
    /// How long a body may take, and nobody may find anything to do.
    pub watchdog: Duration,
    /// Whether this thread launches a kernel for what is ready, again and again; else one kernel runs until there is nothing more.
    pub host_thread: bool,
    /// So many spans of the host's thread are kept, and the wavefronts that the kernel was made to write down.
    pub timeline: Option<u32>,
}

impl FlowSettings {
    /// Bytes of the memory that runs of tasks may take, where kernels of the graph spawn: half of it.
    const fn for_tasks(&self) -> u64 {
        self.memory / 2
    }
}

/// Why a kernel ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// Nothing is alive.
    Done,
    /// The host asked for a pause.
    Paused,
    /// Something is alive, and no block found anything to do.
    Still,
}

/// What batches came to together.
#[derive(Debug, Default)]
struct Batches {
    tasks: Vec<(String, u64)>,
    nodes: Vec<NodeReport>,
    dispatches: u64,
    levels: u64,
    leaves: u64,
    peak: u64,
}

impl Batches {
    fn add(&mut self, report: RunReport) {
        let tasks = std::mem::take(&mut self.tasks);
        self.tasks = by_name(tasks.into_iter().chain(report.tasks));
        for node in report.nodes {
            match self.nodes.iter_mut().find(|n| n.name == node.name) {
                Some(known) => known.elements += node.elements,
                None => self.nodes.push(node),
            }
        }
        self.dispatches += report.dispatches;
        self.levels = self.levels.max(report.levels);
        self.leaves += report.leaves;
        self.peak = self.peak.max(report.peak);
    }
}

/// A graph in the memory of a machine.
#[derive(Debug)]
pub struct FlowRun<'a, L> {
    launcher: &'a mut L,
    name: String,
    settings: FlowSettings,
    pub(super) arena: Arena,
    base: u64,
    copies: Copies,
    copied: u64,
    uniforms: Vec<u64>,
    words: Vec<RingWords>,
    state: FlowState,
    wavefronts: u64,
    /// What batches of kernels that spawn came to.
    batches: Batches,
    /// How long kernels ran, as the host sees it.
    in_kernels: Cell<Duration>,
    pub(super) spans: Option<FlowSpans>,
    pub(super) watched: Watched,
}

fn bytes_of<T>(value: &[T]) -> &[u8] {
    // SAFETY: plain words without gaps, or gaps that were zeroed with them and that nobody reads.
    unsafe { std::slice::from_raw_parts(value.as_ptr().cast(), size_of_val(value)) }
}

fn bytes_of_mut<T>(value: &mut [T]) -> &mut [u8] {
    // SAFETY: plain words: any bytes are values.
    unsafe { std::slice::from_raw_parts_mut(value.as_mut_ptr().cast(), size_of_val(value)) }
}

impl<'a, L: FlowLauncher> FlowRun<'a, L> {
    /// Lays a graph out and copies its arguments in: those of the kernels of `source`, of which `graph` was made.
    ///
    /// # Errors
    /// If arguments do not fit, there is no room, or the machine fails.
    pub fn new(
        launcher: &'a mut L,
        settings: FlowSettings,
        (source, graph): (&Program, &Graph),
        args: &GraphArgs<'_>,
    ) -> Result<Self, RunError> {
        let mut bound = Bound::new(source, graph, args, launcher.home())?;
        let sizes: Vec<RingSize> = graph.channels().map(|(_, c)| RingSize::new(c)).collect();
        let kernels = launcher.flow();
        let memory = match &kernels.spawning {
            Some(_) => settings.memory - settings.for_tasks(),
            None => settings.memory,
        };
        let arena = Arena::new(&kernels.plan, kernels.blocks, &sizes, memory);
        if arena.size > memory {
            return Err(RunError::Device(format!(
                "the channels of the graph take {}, and of the budget of {} there is {} for them; make them narrower, or give the run more memory",
                Bytes(arena.size),
                Bytes(settings.memory),
                Bytes(memory)
            )));
        }
        let kinds: Vec<PieceKind> = kernels
            .plan
            .plan
            .program
            .program
            .uniforms
            .iter()
            .map(|u| u.kind)
            .collect();
        let arena = arena.with_waves(launcher.flow().waves);
        let base = launcher.channels(arena.bytes())?;
        let (uniforms, copied) = bound.place(launcher, &kinds)?;
        let words = arena.places.iter().map(|place| RingWords {
            room: Line(place.size.width),
            ..RingWords::default()
        });
        let channels = (graph, &launcher.flow().plan, &arena);
        let watched = Watched::new(launcher.live(), channels, settings);
        let run = Self {
            uniforms,
            watched,
            words: words.collect(),
            launcher,
            name: graph.name.clone(),
            settings,
            arena,
            base,
            copies: bound.copies,
            copied,
            state: FlowState::default(),
            wavefronts: 0,
            batches: Batches::default(),
            in_kernels: Cell::default(),
            spans: settings.timeline.map(FlowSpans::new),
        };
        run.prepare()?;
        Ok(run)
    }

    fn prepare(&self) -> Result<(), RunError> {
        let launcher = &*self.launcher;
        // SAFETY: inside the device's memory.
        unsafe { launcher.zero(self.base, self.arena.zeroed) }?;
        let control = Control {
            max_depth: launcher.flow().max_depth,
            watchdog: u64::try_from(self.settings.watchdog.as_nanos()).unwrap_or(u64::MAX),
            cancel: launcher.shared_address(),
            ..Control::default()
        };
        self.write(self.arena.control, &[control])?;
        launcher.set_graph(&self.arena.global(self.base, &self.uniforms))?;
        launcher.wait("copying the arguments")
    }

    fn write<T>(&self, at: u64, values: &[T]) -> Result<(), RunError> {
        let bytes = bytes_of(values);
        assert!(at + bytes.len() as u64 <= self.arena.bytes());
        // SAFETY: inside the device's memory; what is written lives until it is waited for.
        unsafe {
            self.launcher
                .copy_in(self.base + at, bytes.as_ptr(), bytes.len())
        }
    }

    pub(super) fn read<T>(&self, at: u64, values: &mut [T]) -> Result<(), RunError> {
        let bytes = bytes_of_mut(values);
        assert!(at + bytes.len() as u64 <= self.arena.bytes());
        // SAFETY: inside the device's memory; it is waited for.
        unsafe {
            self.launcher
                .copy_out(bytes.as_mut_ptr(), self.base + at, bytes.len())
        }?;
        self.launcher.wait("copying from the device")
    }

    fn ring(&mut self, channel: usize) -> HostRing<'_, L> {
        HostRing {
            machine: &*self.launcher,
            base: self.base,
            place: &self.arena.places[channel],
            words: &mut self.words[channel],
        }
    }

    /// Puts elements into a channel, from number `from` on, as many as find room; says how many. No kernel runs.
    ///
    /// # Errors
    /// As the machine fails.
    pub fn send(
        &mut self,
        channel: usize,
        fields: &Fields,
        from: u32,
        all: u32,
    ) -> Result<u32, RunError> {
        let sent = self.ring(channel).push(fields, from, all)?;
        if self.launcher.flow().plan.consumer(channel).is_some() {
            self.state.alive.0 += u64::from(sent);
        }
        Ok(sent)
    }

    /// Elements that wait in a channel for the host. No kernel runs.
    #[must_use]
    pub fn waiting(&self, channel: usize) -> u32 {
        match self.launcher.flow().plan.consumer(channel) {
            Some(_) => 0,
            None => self.words[channel].ready.0,
        }
    }

    /// Takes elements out of a channel that no kernel consumes, `most` at most. No kernel runs.
    ///
    /// # Errors
    /// As the machine fails.
    pub fn receive(&mut self, channel: usize, most: u32) -> Result<(Fields, u32), RunError> {
        if self.ring(channel).waiting() == 0 {
            return Ok((Vec::new(), 0));
        }
        self.ring(channel).pop(most)
    }

    /// Whether a task of the kernels that spawn comes to emit into the channel of a sink.
    pub(super) fn emits(&self, task: TaskId, sink: TaskId) -> bool {
        let spawning = self.launcher.flow().spawning.as_ref();
        spawning.is_some_and(|s| s.program.reached(std::iter::once(task)).contains(&sink))
    }

    /// Takes elements out of the channel of a kernel that spawns, as many as a run of its tasks finds room for, and runs them with all that comes of them. Gives
    /// what they emitted, sink by sink, and how much that is. No kernel runs.
    ///
    /// # Errors
    /// If the kernel or a task of its fails, one element finds no room, the run is cancelled, or the machine fails.
    pub(super) fn spawn(&mut self, node: usize) -> Result<Vec<(Fields, u32)>, RunError> {
        let settings = Settings {
            memory: self.settings.for_tasks(),
            aggregator: Aggregator::HostThread,
            policy: Policy::Device,
            watchdog: self.settings.watchdog,
            compare: false,
            timeline: None,
        };
        let Some(spawning) = &self.launcher.flow().spawning else {
            return Err(RunError::Graph("no kernel of the graph spawns".to_owned()));
        };
        let (channel, task) = spawning.nodes[node];
        let sinks: Vec<_> = spawning.sinks.iter().map(|s| s.1).collect();
        let name = spawning.program[task].source_name().to_owned();
        let waits = self.waiting(channel);
        let most = self.launcher.most_roots(settings.memory, task, waits);
        let (elements, count) = self.receive(channel, most.max(1))?;
        let batch = Batch {
            task,
            count,
            elements: &elements,
            uniforms: &self.uniforms,
            sinks: &sinks,
        };
        let ran = self.launcher.run_batch(settings, batch);
        let of_node = |error| match error {
            error @ RunError::Fault(_) => RunError::Node {
                node: name,
                element: None,
                error: Box::new(error),
            },
            other => other,
        };
        let Ran { emitted, report } = ran.map_err(of_node)?;
        self.batches.add(report);
        Ok(emitted)
    }

    /// Runs the graph's kernel to its end, or until `asks` says, of how long it has run, that it is to pause.
    ///
    /// # Errors
    /// If a kernel of the graph fails, the run is cancelled, or the machine fails.
    pub fn go(&mut self, asks: impl Fn(Duration) -> bool) -> Result<Ended, RunError> {
        // Relaxed: no kernel runs.
        self.launcher.shared_word(ASKED).store(0, Ordering::Relaxed);
        let before = self.state;
        let address = self.launcher.shared_address() + 4 * ASKED as u64;
        let state = FlowState {
            alive: before.alive,
            wavefronts: before.wavefronts,
            kept: before.kept,
            asked: address,
            held: self.base + self.arena.held,
            ran: self.base + self.arena.ran,
            dropped: self.base + self.arena.dropped,
            told: self.base + self.arena.told,
            waves: self.base + self.arena.waves,
            waves_room: self.launcher.flow().waves,
            waves_kept: before.waves_kept,
            ..FlowState::default()
        };
        self.write(self.arena.state, &[state])?;
        self.write(self.arena.words, &self.words)?;
        self.launcher.wait("starting the graph")?;
        let (control, state) = self.kernels(&asks)?;
        let mut words = std::mem::take(&mut self.words);
        let read = self.read(self.arena.words, &mut words);
        self.words = words;
        read?;
        self.wavefronts = state.wavefronts - before.wavefronts;
        self.state = state;
        self.watched.kernel_ended(&self.state, control.status);
        self.failed(&control)?;
        match state.stop.0 {
            stop::ALL_DONE => Ok(Ended::Done),
            stop::PAUSED => Ok(Ended::Paused),
            stop::STANDS_STILL if state.waiting > 0 => Err(self.stalled(&self.name)),
            stop::STANDS_STILL => Ok(Ended::Still),
            other => Err(RunError::Stuck {
                state: format!("the graph's kernel ended by code {other}"),
            }),
        }
    }

    /// One kernel, or as many as find something to do.
    fn kernels(&self, asks: &impl Fn(Duration) -> bool) -> Result<(Control, FlowState), RunError> {
        let mut how = match self.settings.host_thread {
            true => how::ONCE,
            false => how::PERSISTENT,
        };
        let (start, mut done) = (Instant::now(), self.state.wavefronts);
        loop {
            self.watched.kernel_begins();
            let started = Instant::now();
            // SAFETY: the run's memory is laid out as the kernel expects.
            unsafe { self.launcher.start(how) }?;
            self.await_kernel(asks)?;
            let took = started.elapsed();
            self.in_kernels.set(self.in_kernels.get() + took);
            let mut control = [Control::default()];
            self.read(self.arena.control, &mut control)?;
            let mut state = [FlowState::default()];
            self.read(self.arena.state, &mut state)?;
            let ([control], [mut state]) = (control, state);
            if let Some(spans) = &self.spans {
                spans.kernel(started, took, state.waves_kept.min(state.waves_room));
            }
            let over = state.stop.0 != stop::GOES_ON || control.status != status::OK;
            if over || how == how::PERSISTENT {
                return Ok((control, state));
            }
            let found = state.wavefronts > done;
            done = state.wavefronts;
            let paused = state.pausing != 0 || asks(start.elapsed());
            if paused || (!found && how == how::LAST) {
                state.stop.0 = if paused {
                    stop::PAUSED
                } else {
                    stop::STANDS_STILL
                };
                return Ok((control, state));
            }
            how = if found { how::ONCE } else { how::LAST };
        }
    }

    /// Waits for the kernel, for as long as blocks find something to do now and then, and has it pause when it is to.
    fn await_kernel(&self, asks: &impl Fn(Duration) -> bool) -> Result<(), RunError> {
        let kernel = Awaited {
            machine: &*self.launcher,
            what: RUNNING,
            watchdog: self.settings.watchdog,
        };
        let idle = self.arena.state + offset_of!(FlowState, idle) as u64;
        let meanwhile = |running, long: bool| {
            if asks(running) {
                // Relaxed: pairs with the load of whoever looks.
                self.launcher.shared_word(ASKED).store(1, Ordering::Relaxed);
            }
            if long {
                self.glance();
            }
        };
        kernel.wait(|| self.peek(idle), meanwhile, || self.look_at_hung())
    }

    /// A word of the graph's memory while a kernel runs, if the device says it in time.
    pub(super) fn peek(&self, at: u64) -> Result<Option<u32>, RunError> {
        assert!(at + 4 <= self.arena.size);
        // SAFETY: inside the device's memory; records lie aligned.
        unsafe { self.launcher.peek(self.base + at) }
    }

    /// The words of all rings, as the last kernel left them.
    pub(super) fn rings(&self) -> &[RingWords] {
        &self.words
    }

    /// Blocks of a kernel.
    pub(super) fn blocks(&self) -> usize {
        self.launcher.flow().blocks as usize
    }

    /// How long of a run the device waited for the host, which is known where the host starts each kernel: one that goes on by itself has blocks that
    /// look for work.
    pub(super) fn blocked(&self, running: Duration) -> Option<Duration> {
        let host = self.settings.host_thread;
        host.then(|| running.saturating_sub(self.in_kernels.get()))
    }

    /// How many wavefronts there were before the kernel that runs.
    pub(super) const fn wavefronts_so_far(&self) -> u64 {
        self.state.wavefronts
    }

    /// Whether the last kernel brought the graph on.
    #[must_use]
    pub const fn went_on(&self) -> bool {
        self.wavefronts > 0
    }

    /// The error that the kernel ended with, if it did.
    fn failed(&self, control: &Control) -> Result<(), RunError> {
        let kernels = self.launcher.flow();
        let program = &kernels.plan.plan.program.program;
        let site = control.site as usize;
        match control.status {
            status::OK => Ok(()),
            status::CANCELLED => Err(RunError::Cancelled),
            status::WATCHDOG => Err(RunError::Watchdog {
                limit: self.settings.watchdog,
                depth: 0,
                dispatches: self.state.wavefronts,
                channels: self.counts(),
            }),
            status::STACK_OVERFLOW => {
                let name = program.functions.get(site).map(|f| f.name.clone());
                Err(RunError::StackOverflow {
                    function: name.unwrap_or_default(),
                })
            }
            status::FAULT if site < kernels.sites.len() => Err(self.fault(site, control.values)),
            other => Err(RunError::Stuck {
                state: format!("status {other}, channels: {}", self.counts()),
            }),
        }
    }

    /// A check that failed, in the body of a node or in a helper.
    fn fault(&self, number: usize, values: [u64; 2]) -> RunError {
        let kernels = self.launcher.flow();
        let site = &kernels.sites[number];
        let values = site.types.iter().zip(values);
        let error = RunError::Fault(Fault {
            kind: site.kind.clone(),
            values: values
                .map(|(ty, bits)| FaultValue { ty: *ty, bits })
                .collect(),
            function: site.function.clone(),
            file: kernels.plan.plan.program.program.file.clone(),
            span: site.span,
        });
        let plan = &kernels.plan;
        let teller = (self.state.teller as usize).checked_sub(1);
        let known = teller.and_then(|n| plan.nodes.get(n));
        let name = known.map(|node| plan.plan.program[node.task].source_name().to_owned());
        match name.or_else(|| plan.node_of(&site.function)) {
            Some(node) => RunError::Node {
                node,
                element: known.and_then(|node| self.told(&plan.channels[node.consumes])),
                error: Box::new(error),
            },
            None => error,
        }
    }

    /// The element in whose body a check failed, as people read it.
    fn told(&self, channel: &Channel) -> Option<String> {
        let mut bits = vec![0u64; channel.fields.len()];
        self.read(self.arena.told, &mut bits).ok()?;
        let values = channel.fields.iter().zip(bits);
        let values = values.map(|(field, bits)| match field.kind {
            PieceKind::Scalar(ty) => format!("{}: {}", field.name, FaultValue { ty, bits }),
            PieceKind::Blob(_) => format!("{}: ..", field.name),
        });
        Some(format!("({})", values.collect::<Vec<_>>().join(", ")))
    }

    /// Each channel with what waits in it and what it has room for.
    fn counts(&self) -> String {
        let channels = self.launcher.flow().plan.channels.iter();
        let counts = channels.zip(&self.arena.places).zip(&self.words);
        let one = |((channel, place), words): ((&Channel, &Place), &RingWords)| {
            let waits = words.reserve_tail.0 - words.control_head.0;
            format!("`{}` {waits} of {}", channel.name, place.size.width)
        };
        counts.map(one).collect::<Vec<_>>().join(", ")
    }

    /// The error of a graph of which nobody can go on.
    #[must_use]
    pub fn stalled(&self, graph: &str) -> RunError {
        RunError::Stalled {
            graph: graph.to_owned(),
            channels: self.counts(),
        }
    }

    /// Whether somebody cancelled the run while no kernel ran.
    #[must_use]
    pub fn cancelled(&self) -> bool {
        // Relaxed: pairs with `CudaCancel::cancel`.
        self.launcher.shared_word(0).swap(0, Ordering::Relaxed) != 0
    }

    /// Whether no channel holds anything, nor a block for one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.state.kept == 0 && self.words.iter().all(|w| w.ready.0 == 0)
    }

    /// The wavefronts that kernels wrote down, and how many there were beside these.
    pub(super) fn waves(&self) -> Result<(Vec<Wave>, u64), RunError> {
        let (kept, room) = (self.state.waves_kept, self.launcher.flow().waves);
        let mut waves = vec![Wave::default(); kept.min(room) as usize];
        if !waves.is_empty() {
            self.read(self.arena.waves, &mut waves)?;
        }
        Ok((waves, u64::from(kept.saturating_sub(room))))
    }

    /// What kernels were made of.
    pub(super) fn flow(&self) -> &FlowKernels {
        self.launcher.flow()
    }

    /// Copies what kernels may have written back to its owners, and says what happened.
    ///
    /// # Errors
    /// As the machine fails.
    pub fn finish(self) -> Result<RunReport, RunError> {
        // SAFETY: the caller lends the memory for the whole run, and the copy has its place.
        unsafe { self.copies.copy(&*self.launcher, self.copied, true) }?;
        let kernels = self.launcher.flow();
        let mut ran = vec![0u64; kernels.plan.nodes.len()];
        self.read(self.arena.ran, &mut ran)?;
        let mut dropped = vec![0u64; self.words.len()];
        self.read(self.arena.dropped, &mut dropped)?;
        let program = &kernels.plan.plan.program;
        let nodes = kernels.plan.nodes.iter().zip(&ran);
        let tasks = nodes.map(|(node, ran)| (program[node.task].source_name().to_owned(), *ran));
        let channels = kernels
            .plan
            .channels
            .iter()
            .zip(&self.arena.places)
            .zip(self.words.iter().zip(&dropped));
        let channels = channels.map(|((channel, place), (words, dropped))| {
            let tally = ChannelTally {
                elements: words.reserve_tail.0,
                dropped: *dropped,
                ..ChannelTally::default()
            };
            ChannelReport::sum(channel.name.clone(), place.size.width, [&tally].into_iter())
        });
        let nodes = kernels.plan.nodes.iter().zip(&ran);
        let nodes = nodes.map(|(node, &elements)| NodeReport {
            name: program[node.task].source_name().to_owned(),
            entry: true,
            elements,
            ..NodeReport::default()
        });
        Ok(RunReport {
            total: ran
                .iter()
                .chain(self.batches.tasks.iter().map(|t| &t.1))
                .sum(),
            nodes: nodes
                .filter(|n| n.elements > 0)
                .chain(self.batches.nodes)
                .collect(),
            tasks: by_name(tasks.chain(self.batches.tasks)),
            levels: self.batches.levels,
            leaves: self.batches.leaves,
            dispatches: self.state.wavefronts + self.batches.dispatches,
            peak: self.arena.size + self.batches.peak,
            budget: self.settings.memory,
            compiling: kernels.compiling,
            channels: channels.collect(),
            ..RunReport::default()
        })
    }
}
