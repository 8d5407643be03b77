//! One run: arguments go in, one of the aggregators works, results come out.

use super::{
    copies::Copies,
    device::{Aggregator, CudaLoaded, Inner, MAILBOX, Workspace},
    driver::Stopwatch,
};
use crate::{
    args::{self, ErasedCall},
    error::RunError,
    report::RunReport,
};
use millstream_channels_kernel::cuda::{
    abi::{Control, Dispatch, Mailbox, kernel, status},
    arena::Arena,
    plan::{Mode, Source, StackKind},
    policy::{Decision, Done, Policy, Run as Chosen},
};
use millstream_graph::{
    fault::{Fault, FaultValue},
    ir::TaskId,
    levelized::StackRef,
};
use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

/// After so many narrow runs in succession, each launched by the host, one block takes over: as long as these took, that takes too.
const NARROW_RUNS: u32 = 4;

/// A run that is about to begin.
pub(super) struct Run<'a> {
    device: &'a Inner,
    loaded: &'a CudaLoaded,
    base: u64,
    arena: Arena,
    task: TaskId,
    roots: u32,
    copies: Copies,
    /// Where the copies lie.
    copied: u64,
    copying: Duration,
}

/// What the aggregator counted.
#[derive(Default)]
struct Counts {
    dispatches: u64,
    narrow: u64,
    levels: u32,
    level: u32,
    consumed: Vec<u64>,
    elements: Vec<u64>,
    /// Children that ended where they were spawned, by stack and by level.
    leaves: (Vec<u64>, Vec<u64>),
    peak: Vec<u32>,
    kernel: Duration,
}

impl<'a> Run<'a> {
    /// Checks the arguments, divides the memory, and copies everything in.
    pub(super) fn new(
        device: &'a Inner,
        loaded: &'a CudaLoaded,
        workspace: &mut Workspace,
        task: TaskId,
        calls: &[ErasedCall<'_>],
    ) -> Result<Self, RunError> {
        let start = Instant::now();
        let Some(lowered) = loaded.plan.program.tasks.get(task.index()) else {
            return Err(RunError::BadArguments(format!(
                "the program has no task {task}"
            )));
        };
        let function = &loaded.plan.program.program[lowered.func];
        let home = device.context.shared.id;
        let (mut pieces, mut regions, mut owners) = (Vec::new(), Vec::new(), Vec::new());
        for (number, call) in calls.iter().enumerate() {
            let mut fields = vec![Vec::new(); lowered.element.len()];
            args::push(
                function,
                &loaded.plan.program.program.structs,
                &call.args,
                home,
                &mut fields,
                Some(&mut regions),
            )?;
            owners.resize(regions.len(), number);
            pieces.push(fields);
        }
        let addresses: Vec<_> = regions.iter().map(|r| (r.piece, r.address)).collect();
        let copies = Copies::new(regions);
        let copied = workspace.copies(&device.context, copies.bytes())?;
        for ((piece, address), owner) in addresses.into_iter().zip(owners) {
            let at: &mut Vec<u8> = &mut pieces[owner][piece];
            *at = (copied + copies.offset(address)).to_le_bytes().to_vec();
        }
        let memory = workspace.arena(&device.context, device.memory)?;
        let too_small = || RunError::OutOfMemory {
            task: lowered.name.clone(),
            depth: 0,
            need: 0,
            budget: device.memory,
        };
        let arena = Arena::new(&loaded.plan, device.memory, task, calls.len() as u64)
            .ok_or_else(too_small)?;
        let run = Self {
            device,
            loaded,
            base: memory,
            arena,
            task,
            roots: calls.len() as u32,
            copies,
            copied,
            copying: Duration::ZERO,
        };
        run.prepare(&pieces)?;
        device.context.wait("copying the arguments")?;
        Ok(Self {
            copying: start.elapsed(),
            ..run
        })
    }

    /// Copies to an offset of the run's memory. What is copied lives until the stream is waited for: the driver has taken pageable memory
    /// before it returns.
    fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), RunError> {
        debug_assert!(offset + bytes.len() as u64 <= self.arena.size);
        // SAFETY: pageable memory is staged by the driver before the call returns; the arena lies inside the device memory.
        unsafe {
            self.device
                .context
                .copy_in(self.base + offset, bytes.as_ptr(), bytes.len())
        }
    }

    fn read(&self, offset: u64, bytes: u64) -> Result<Vec<u8>, RunError> {
        let mut out = vec![0; bytes as usize];
        // SAFETY: the arena lies inside the device memory; it is waited for.
        unsafe {
            self.device
                .context
                .copy_out(out.as_mut_ptr(), self.base + offset, out.len())
        }?;
        self.device.context.wait("copying from the device")?;
        Ok(out)
    }

    fn prepare(&self, pieces: &[Vec<Vec<u8>>]) -> Result<(), RunError> {
        let (device, plan) = (self.device, &self.loaded.plan);
        // SAFETY: the caller lends the memory for the whole run, and the copy has its place.
        unsafe { self.copies.copy(&device.context, self.copied, false) }?;
        // SAFETY: inside the device memory.
        unsafe { device.context.zero(self.base, self.arena.zeroed) }?;
        let control = Control {
            max_depth: self.loaded.max_depth,
            watchdog: u64::try_from(device.options.watchdog.as_nanos()).unwrap_or(u64::MAX),
            cancel: device.shared.device(),
            mailbox: device.shared.device() + 4 * MAILBOX as u64,
            ..self.arena.control(self.base)
        };
        // SAFETY: plain words.
        let bytes = unsafe {
            std::slice::from_raw_parts((&raw const control).cast::<u8>(), size_of::<Control>())
        };
        self.write(self.arena.control, bytes)?;
        if device.options.aggregator != Aggregator::HostThread {
            self.hand_over(&self.policy())?;
        }
        for (offset, bytes) in self.arena.root_elements(plan, self.base, pieces) {
            self.write(offset, &bytes)?;
        }
        let channels = self.arena.channels(self.base);
        let (at, size) = self.loaded.channels;
        if channels.len() > size {
            return Err(RunError::Device(format!(
                "the program's table of channels takes {size} bytes, not {}",
                channels.len()
            )));
        }
        // SAFETY: the module's global, as long as that; pageable memory is staged before the call returns.
        unsafe {
            device
                .context
                .copy_in(at, channels.as_ptr(), channels.len())
        }
    }

    /// Runs, and copies everything out.
    pub(super) fn execute(mut self, calls: &mut [ErasedCall<'_>]) -> Result<RunReport, RunError> {
        let watch = Stopwatch::start(&self.device.context)?;
        let result = self.aggregate(&watch);
        // Relaxed: pairs with `CudaCancel::cancel`; a cancelled run takes its request with it.
        self.device.shared_word(0).store(0, Ordering::Relaxed);
        let (control, counts) = result?;
        self.ended(&control, &counts)?;
        self.loaded.expected.store(counts.levels, Ordering::Relaxed);
        let start = Instant::now();
        // SAFETY: the caller lends the memory for the whole run, and the copy has its place.
        unsafe { self.copies.copy(&self.device.context, self.copied, true) }?;
        let size = self.arena.result.size;
        let results = self.read(self.arena.results, size * calls.len() as u64)?;
        for (i, call) in calls.iter_mut().enumerate() {
            call.result.clear();
            call.result
                .extend_from_slice(&results[i * size as usize..][..size as usize]);
        }
        self.copying += start.elapsed();
        Ok(self.report(counts))
    }

    /// The policy where a run begins.
    fn policy(&self) -> Policy<'_> {
        let plan = &self.loaded.plan;
        let stack = plan.number_of(StackRef::Entry(self.task), false);
        Policy::new(
            plan,
            &self.arena.capacities,
            stack,
            self.roots,
            self.loaded.expected.load(Ordering::Relaxed),
        )
    }

    /// Gives the persistent kernel what it is to take up.
    fn hand_over(&self, policy: &Policy<'_>) -> Result<(), RunError> {
        let bytes = |words: &[u32]| {
            words
                .iter()
                .flat_map(|w| w.to_le_bytes())
                .collect::<Vec<u8>>()
        };
        let records: Vec<u32> = (0..self.arena.levels as usize)
            .map_while(|level| policy.record(level))
            .flatten()
            .collect();
        self.write(self.arena.standing, &bytes(&policy.standing()))?;
        self.write(self.arena.records, &bytes(&records))
    }

    /// Launches the persistent kernel on what it has been given, waits for it, and takes up what it leaves. One block ends with the first run that
    /// is more than it does, which is given back; or when all is done, as all blocks do.
    fn kernel(
        &self,
        policy: &mut Policy<'_>,
        one: bool,
        watch: &Stopwatch,
        counts: &mut Counts,
    ) -> Result<(Control, Option<Chosen>), RunError> {
        let (context, plan) = (&self.device.context, &self.loaded.plan);
        let (mut published, mut small) = (self.base + self.arena.dispatch, u32::from(one));
        let blocks = if one { 1 } else { self.loaded.blocks };
        let mut params = [(&raw mut published).cast(), (&raw mut small).cast()];
        // SAFETY: the kernel takes the address of a dispatch record and a word; the run's memory is laid out as it expects.
        unsafe {
            context.launch(
                self.loaded.persistent.0,
                blocks,
                kernel::BLOCK,
                !one,
                &mut params,
            )
        }?;
        // Marked again if the run goes on.
        watch.stop(context)?;
        context.wait("running the program")?;
        let words = |bytes: &[u8]| {
            bytes
                .chunks_exact(4)
                .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
                .collect::<Vec<u32>>()
        };
        // One copy: the control record, and what lies behind it.
        let start = self.arena.control;
        let all = self.read(start, self.arena.standing + plan.standing_bytes() - start)?;
        let at = |offset: u64, size: u64| &all[(offset - start) as usize..][..size as usize];
        let control = self.control_in(at(start, size_of::<Control>() as u64));
        let standing = words(at(self.arena.standing, plan.standing_bytes()));
        let reached = Policy::reached(plan, &standing).min(self.arena.levels as usize);
        policy.resume(
            &standing,
            &words(&self.read(self.arena.records, reached as u64 * plan.record_bytes())?),
        );
        let over = control.over != 0 && control.status == status::OK;
        // One that is given back is yet to be dispatched.
        counts.dispatches += control.dispatches - u64::from(over);
        counts.narrow += control.narrow;
        let chosen = || {
            Chosen::from_words(
                plan,
                &words(at(self.arena.dispatch, 4 * plan.dispatch_words() as u64)),
            )
        };
        Ok((control, over.then(chosen)))
    }

    fn control_in(&self, bytes: &[u8]) -> Control {
        assert_eq!(bytes.len(), size_of::<Control>());
        // SAFETY: plain words, as many as the record has; read unaligned.
        unsafe { bytes.as_ptr().cast::<Control>().read_unaligned() }
    }

    /// Runs everything.
    fn aggregate(&self, watch: &Stopwatch) -> Result<(Control, Counts), RunError> {
        let (mut policy, mut counts) = (self.policy(), Counts::default());
        let control = match self.device.options.aggregator {
            Aggregator::Persistent => self.kernel(&mut policy, false, watch, &mut counts)?.0,
            Aggregator::HostThread => self.host_thread(&mut policy, None, watch, &mut counts)?,
            Aggregator::Auto => {
                let (control, chosen) = self.kernel(&mut policy, true, watch, &mut counts)?;
                if let Some(chosen) = chosen {
                    self.host_thread(&mut policy, Some(chosen), watch, &mut counts)?
                } else {
                    control
                }
            }
        };
        counts = Counts {
            levels: policy.levels(),
            level: policy.level(),
            consumed: policy.consumed().to_vec(),
            elements: policy.elements(),
            leaves: self.leaves(policy.levels())?,
            peak: policy.peak().to_vec(),
            kernel: watch.elapsed()?,
            ..counts
        };
        Ok((control, counts))
    }

    fn words(&self, offset: u64, count: u64) -> Result<Vec<u64>, RunError> {
        let word = |c: &[u8]| c.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b));
        Ok(self
            .read(offset, 8 * count)?
            .chunks_exact(8)
            .map(word)
            .collect())
    }

    /// The counts of leaves of a run that has so many levels of elements, by stack and by level: leaves may lie one below.
    fn leaves(&self, levels: u32) -> Result<(Vec<u64>, Vec<u64>), RunError> {
        let stacks = self.loaded.plan.stacks.len();
        let mut by_stack = self.words(
            self.arena.leaves,
            stacks as u64 + u64::from(levels.min(self.arena.levels)) + 1,
        )?;
        let by_level = by_stack.split_off(stacks);
        Ok((by_stack, by_level))
    }

    /// Launches a kernel a run, from the one that is given on; without one from the beginning, and all of them.
    fn host_thread(
        &self,
        policy: &mut Policy<'_>,
        mut chosen: Option<Chosen>,
        watch: &Stopwatch,
        counts: &mut Counts,
    ) -> Result<Control, RunError> {
        let (context, plan, shares) = (&self.device.context, &self.loaded.plan, chosen.is_some());
        let (mut number, mut narrow) = (0u32, 0);
        let (dispatch, told) = (Dispatch::new(plan), Mailbox::new(plan));
        // Relaxed: no kernel is running.
        self.device
            .shared_word(MAILBOX + told.number.at())
            .store(0, Ordering::Relaxed);
        let mut full = None;
        loop {
            if shares && narrow >= NARROW_RUNS && policy.rests() {
                narrow = 0;
                self.hand_over(policy)?;
                let (control, next) = self.kernel(policy, true, watch, counts)?;
                if next.is_none() {
                    return Ok(control);
                }
                chosen = next;
            }
            let decision = chosen.take().map_or_else(|| policy.decide(), Decision::Run);
            number = number.wrapping_add(1).max(1);
            let (mut words, which, blocks) = match &decision {
                Decision::Run(run) => (
                    run.words(plan, number),
                    run.source,
                    self.blocks_for(run.source, run.count),
                ),
                Decision::Move(words) => {
                    (words.clone(), plan.sources.len(), dispatch.level.get(words))
                }
                Decision::Done => break,
                Decision::Full(stack) => {
                    full = Some(*stack);
                    break;
                }
            };
            if self.device.shared_word(0).load(Ordering::Relaxed) != 0 {
                return Err(RunError::Cancelled);
            }
            let mut params = [words.as_mut_ptr().cast()];
            let blocks = blocks.clamp(1, self.loaded.dispatch_blocks[which].max(1));
            // SAFETY: the kernel takes a dispatch record by value; the run's memory is laid out as it expects.
            unsafe {
                context.launch(
                    self.loaded.dispatches[which].0,
                    blocks,
                    kernel::BLOCK,
                    false,
                    &mut params,
                )
            }?;
            counts.dispatches += 1;
            self.await_dispatch(number)?;
            // Relaxed: `await_dispatch` has acquired them.
            let word = |at| {
                self.device
                    .shared_word(MAILBOX + at)
                    .load(Ordering::Relaxed)
            };
            if word(told.status.at()) != status::OK {
                break;
            }
            if let Decision::Run(run) = &decision {
                let words: Vec<u32> = (0..told.words()).map(word).collect();
                let done = Done::from_words(plan, &words);
                policy.take(run, &done, number.wrapping_add(1).max(1));
                narrow = if run.count <= plan.sources[run.source].alone(kernel::BLOCK) {
                    narrow + 1
                } else {
                    0
                };
            }
        }
        watch.stop(context)?;
        context.wait("running the program")?;
        let mut control =
            self.control_in(&self.read(self.arena.control, size_of::<Control>() as u64)?);
        if let Some(stack) = full
            && control.status == status::OK
        {
            (control.status, control.site) = (status::CHANNEL_FULL, stack);
        }
        Ok(control)
    }

    fn blocks_for(&self, source: usize, count: u32) -> u32 {
        match self.loaded.plan.sources[source].mode {
            // A warp for each few elements.
            Mode::Scanned { heavy: true, .. } | Mode::Direct { heavy: true } => count.div_ceil(8),
            Mode::Scanned { items, .. } | Mode::Tried { items } => {
                count.div_ceil(items * kernel::BLOCK)
            }
            Mode::Direct { heavy: false } => count.div_ceil(kernel::BLOCK),
        }
    }

    /// Waits for the mailbox. The kernel ends itself if it takes too long; a lost context is seen by asking the stream.
    fn await_dispatch(&self, number: u32) -> Result<(), RunError> {
        let done = MAILBOX + Mailbox::new(&self.loaded.plan).number.at();
        for spins in 1u64.. {
            // Acquire: pairs with the release of the kernel's last block.
            if self.device.shared_word(done).load(Ordering::Acquire) == number {
                break;
            }
            if spins % 4096 == 0
                && self.device.context.is_done("running the program")?
                && self.device.shared_word(done).load(Ordering::Acquire) != number
            {
                return Err(RunError::Stuck {
                    state: format!("dispatch {number} ended without a word"),
                });
            }
            std::hint::spin_loop();
        }
        Ok(())
    }

    /// The error that a run ended with, if it did.
    fn ended(&self, control: &Control, counts: &Counts) -> Result<(), RunError> {
        let plan = &self.loaded.plan;
        let (site, depth, budget) = (
            control.site as usize,
            u64::from(counts.level),
            self.arena.size,
        );
        match control.status {
            status::OK => Ok(()),
            status::FAULT => Err(self.fault(site, control.values)),
            status::CHANNEL_FULL => {
                let site = site.min(plan.stacks.len() - 1);
                let stack = &plan.stacks[site];
                let task = plan.program[stack.task].source_name().to_owned();
                let pushes = plan
                    .sources
                    .iter()
                    .flat_map(|s| &s.pushes)
                    .filter(|p| p.stack as usize == site);
                let most = pushes.map(|p| p.max).max().flatten();
                let looped = plan
                    .sources
                    .iter()
                    .flat_map(|s| &s.pushes)
                    .any(|p| p.stack as usize == site && p.max.is_none());
                Err(if looped && stack.kind == StackKind::Entry {
                    RunError::ChannelFull {
                        task,
                        depth,
                        channel: plan.stack_name(site as u32),
                        limit: self.arena.capacities[site],
                        budget,
                    }
                } else {
                    RunError::OutOfMemory {
                        task,
                        depth,
                        need: u64::from(most.unwrap_or(1)) * stack.element_bytes(),
                        budget,
                    }
                })
            }
            status::LEVELS_FULL => {
                let task = plan.program[self.task].source_name().to_owned();
                Err(RunError::TooManyLevels {
                    task,
                    levels: u64::from(self.arena.levels),
                    budget,
                })
            }
            status::STACK_OVERFLOW => {
                let function = plan
                    .program
                    .program
                    .functions
                    .get(site)
                    .map_or_else(String::new, |f| f.name.clone());
                Err(RunError::StackOverflow { function })
            }
            status::CANCELLED => Err(RunError::Cancelled),
            status::WATCHDOG => Err(RunError::Watchdog {
                limit: self.device.options.watchdog,
                depth,
                dispatches: counts.dispatches,
                channels: self.channels(counts),
            }),
            other => Err(RunError::Stuck {
                state: format!("status {other}, channels: {}", self.channels(counts)),
            }),
        }
    }

    fn fault(&self, site: usize, values: [u64; 2]) -> RunError {
        let plan = &self.loaded.plan;
        let Some(site) = self.loaded.sites.get(site) else {
            return RunError::Stuck {
                state: format!("check {site} failed, which the program does not have"),
            };
        };
        RunError::Fault(Fault {
            kind: site.kind.clone(),
            values: site
                .types
                .iter()
                .zip(values)
                .map(|(ty, bits)| FaultValue { ty: *ty, bits })
                .collect(),
            function: site.function.clone(),
            file: plan.program.program.file.clone(),
            span: site.span,
        })
    }

    fn channels(&self, counts: &Counts) -> String {
        let plan = &self.loaded.plan;
        let one = |(i, peak): (usize, &u32)| {
            format!(
                "{} {peak} of {}",
                plan.stack_name(i as u32),
                self.arena.capacities[i]
            )
        };
        counts
            .peak
            .iter()
            .enumerate()
            .map(one)
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn report(&self, counts: Counts) -> RunReport {
        let plan = &self.loaded.plan;
        let (leaves, leaves_at) = counts.leaves;
        let counts_of = plan
            .sources
            .iter()
            .zip(&counts.consumed)
            .filter(|(source, _)| source.is_entry());
        let ran = |(source, n): (&Source, &u64)| {
            (
                plan.program[source.task].source_name().to_owned(),
                n + leaves[source.stack as usize],
            )
        };
        let tasks = crate::report::by_name(counts_of.map(ran));
        let levels = counts.elements.len().max(
            leaves_at
                .iter()
                .rposition(|n| *n > 0)
                .map_or(0, |last| last + 1),
        );
        let at = |counts: &[u64], level| counts.get(level).copied().unwrap_or(0);
        let elements: Vec<u64> = (0..levels)
            .map(|l| at(&counts.elements, l) + at(&leaves_at, l))
            .collect();
        RunReport {
            total: tasks.iter().map(|(_, n)| n).sum(),
            tasks,
            levels: elements.iter().take_while(|n| **n > 0).count() as u64,
            elements,
            dispatches: counts.dispatches,
            narrow: counts.narrow,
            peak: plan
                .stacks
                .iter()
                .zip(&counts.peak)
                .map(|(s, n)| s.element_bytes() * u64::from(*n))
                .sum(),
            budget: self.arena.size,
            compiling: self.loaded.compiling,
            copying: self.copying,
            running: counts.kernel,
            ..RunReport::default()
        }
    }
}
