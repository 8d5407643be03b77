//! One run: arguments go in, one of the aggregators works, results come out. What starts the kernels is a [`Launcher`].

use super::{
    again::{is_crowd, leaves_nothing},
    arena::Arena,
    batch::Outlet,
    copies::{Copies, Pieces, arguments},
    decision::{Decision, Done, Run as Chosen},
    inside::Inside,
    launcher::{Launcher, MAILBOX, Turn},
    policy::Policy,
    records::{self, Records},
    sight::Watched,
    subtrees::{Subtrees, Workers},
    timeline::Spans,
    turns::Turns,
};
use crate::{
    args::ErasedCall,
    error::RunError,
    gpus::{self, Aggregator},
    report::{Lanes, RunReport},
    timeline::{Host, What, now},
};
use millstream_channels_kernel::cuda::{
    abi::{Control, Dispatch, Level, Mailbox, Mark, Standing, status},
    plan::{Mode, Plan},
};
use millstream_graph::{ir::TaskId, levelized::StackRole};
use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

/// What the host waits for when kernels are under way.
pub(super) const RUNNING: &str = "running the program";

/// How a run is to be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Bytes that its channels may take.
    pub memory: u64,
    /// Who decides.
    pub aggregator: Aggregator,
    /// On which tier. Only the host thread makes subtree dispatches.
    pub policy: gpus::Policy,
    /// How long one dispatch may take.
    pub watchdog: Duration,
    /// Whether decisions are compared with the policy's, where the kernels keep record of them.
    pub compare: bool,
    /// So many spans of each who decides are kept, of what there are records of.
    pub timeline: Option<u32>,
}

/// A run that is about to begin.
#[derive(Debug)]
pub(super) struct Run<'a, L> {
    pub(super) launcher: &'a mut L,
    pub(super) settings: Settings,
    pub(super) arena: Arena,
    pub(super) task: TaskId,
    pub(super) host: Host,
    pub(super) base: u64,
    roots: u32,
    /// Whether nothing is seen of the run if it ends with an error.
    pub(super) can_begin_again: bool,
    /// Of which sources workers may run what comes of them.
    pub(super) inside: Inside,
    /// How many levels there will be across the device; 0 if nobody knows.
    expected: u32,
    copies: Copies,
    /// Where the copies lie.
    copied: u64,
    pub(super) watched: Watched,
    pub(super) outlet: Outlet,
}

/// Children that ended where they were spawned.
#[derive(Debug, Default)]
pub(super) struct Leaves {
    pub(super) by_stack: Vec<u64>,
    /// Of the first levels.
    pub(super) by_level: Vec<u64>,
    /// How many levels there are with those below; 0 if there are none.
    pub(super) deepest: u64,
}

/// What the aggregator counted.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) dispatches: u64,
    pub(super) narrow: u64,
    pub(super) level: u32,
    pub(super) consumed: Vec<u64>,
    /// By level, of the first ones.
    pub(super) elements: Vec<u64>,
    pub(super) leaves: Leaves,
    pub(super) peak: Vec<u32>,
    pub(super) roots: u32,
    pub(super) kernel: Duration,
    pub(super) compared: u64,
    pub(super) reached: u32,
    /// Whether the persistent kernel was not there at the beginning.
    pub(super) early: bool,
    /// Of each source, of dispatches of the host's, and how long the device waited for them; whether there were others.
    pub(super) lanes: Vec<Lanes>,
    pub(super) blocked: Duration,
    pub(super) unseen: bool,
    /// Dispatches that all blocks of the persistent kernel heard of.
    epoch: u32,
    expected: u32,
    pub(super) workers: Workers,
    pub(super) records: Option<Records>,
}

/// Runs calls of a task, all in one run, and waits for it. The results are in the calls afterwards.
///
/// # Errors
/// If the arguments do not fit the task, or the run ends without a result.
pub fn run(
    launcher: &mut impl Launcher,
    settings: Settings,
    task: TaskId,
    calls: &mut [ErasedCall<'_>],
) -> Result<RunReport, RunError> {
    launcher.live().0.clear();
    let frames = !launcher.kernels().is_crowded();
    let ended = Run::new(launcher, settings, task, calls)?.execute(calls);
    if !frames || !launcher.kernels().is_crowded() || !ended.as_ref().is_err_and(is_crowd) {
        return ended;
    }
    tracing::info!(
        "a worker with levels found no room; the run is begun again without such workers"
    );
    launcher.live().0.clear();
    Run::new(launcher, settings, task, calls)?.execute(calls)
}

/// How much more than a budget that is too small is enough, to a 256th.
fn least_more(budget: u64, fits: impl Fn(u64) -> bool) -> u64 {
    let mut high = budget.max(1 << 12);
    while !fits(high) && high < 1 << 50 {
        high *= 2;
    }
    let mut low = budget;
    while high - low > high / 256 {
        let middle = low.midpoint(high);
        if fits(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high - budget
}

impl<'a, L: Launcher> Run<'a, L> {
    /// Checks the arguments, divides the memory, and copies everything in.
    fn new(
        launcher: &'a mut L,
        settings: Settings,
        task: TaskId,
        calls: &[ErasedCall<'_>],
    ) -> Result<Self, RunError> {
        let (pieces, copies) = arguments(&launcher.kernels().plan, launcher.home(), task, calls)?;
        let run = Self::with(launcher, settings, task, pieces, copies, Outlet::default())?;
        Ok(Self {
            can_begin_again: leaves_nothing(calls),
            ..run
        })
    }

    /// The same of roots whose pieces these are.
    pub(super) fn with(
        launcher: &'a mut L,
        settings: Settings,
        task: TaskId,
        pieces: Pieces,
        copies: Copies,
        outlet: Outlet,
    ) -> Result<Self, RunError> {
        let start = Instant::now();
        let copied = launcher.copies(copies.bytes())?;
        let plan = &launcher.kernels().plan;
        let roots = pieces.len() as u64;
        let divide = |budget| Arena::new(plan, budget, task, roots, launcher.kernels().records);
        let arena = divide(settings.memory).ok_or_else(|| RunError::OutOfMemory {
            task: plan.program[task].source_name().to_owned(),
            depth: 0,
            need: least_more(settings.memory, |budget| divide(budget).is_some()),
            budget: settings.memory,
        })?;
        let base = launcher.channels(settings.memory + arena.records_bytes)?;
        let plan = &launcher.kernels().plan;
        let inside = Inside::of(plan);
        let sizes = (&arena.capacities[..], &arena.once[..], arena.tables.size);
        let mut run = Self {
            watched: Watched::new(plan, launcher.live(), sizes),
            launcher,
            settings,
            arena,
            task,
            host: Host::default(),
            base,
            roots: roots as u32,
            inside,
            can_begin_again: false,
            expected: 0,
            copies,
            copied,
            outlet,
        };
        // Where workers take over what finds no room, the levels below them need none of the memory, and room that was left for these would go to nobody.
        if !run.take_over()? {
            run.expected = run.launcher.kernels().expected();
        }
        run.prepare(pieces)?;
        run.launcher.wait("copying the arguments")?;
        run.host.spent(What::Copy, start);
        Ok(run)
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.launcher.kernels().plan
    }

    /// Copies to an offset of the run's memory. What is copied lives until the launcher is waited for: one that waits later has taken it before it
    /// returns.
    pub(super) fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), RunError> {
        assert!(offset + bytes.len() as u64 <= self.arena.tables.size + self.arena.records_bytes);
        // SAFETY: what is written is small, and staged by the driver before the call returns; the arena lies inside the device memory.
        unsafe {
            self.launcher
                .copy_in(self.base + offset, bytes.as_ptr(), bytes.len())
        }
    }

    pub(super) fn read(&self, offset: u64, bytes: u64) -> Result<Vec<u8>, RunError> {
        assert!(offset + bytes <= self.arena.tables.size + self.arena.records_bytes);
        let mut out = vec![0; bytes as usize];
        // SAFETY: the arena lies inside the device memory; it is waited for.
        unsafe {
            self.launcher
                .copy_out(out.as_mut_ptr(), self.base + offset, out.len())
        }?;
        self.launcher.wait("copying from the device")?;
        Ok(out)
    }

    fn prepare(&self, pieces: Pieces) -> Result<(), RunError> {
        let (launcher, kernels) = (&*self.launcher, self.launcher.kernels());
        let mut pieces = pieces;
        self.copies.place(self.copied, &mut pieces);
        // SAFETY: the caller lends the memory for the whole run, and the copy has its place.
        unsafe { self.copies.copy(launcher, self.copied, false) }?;
        // SAFETY: inside the device memory.
        unsafe { launcher.zero(self.base, self.arena.tables.zeroed) }?;
        let control = Control {
            max_depth: launcher.max_depth(self.task)?,
            watchdog: u64::try_from(self.settings.watchdog.as_nanos()).unwrap_or(u64::MAX),
            cancel: launcher.shared_address(),
            mailbox: launcher.shared_address() + 4 * MAILBOX as u64,
            ..self.arena.control(self.base)
        };
        // SAFETY: plain words.
        let bytes = unsafe {
            std::slice::from_raw_parts((&raw const control).cast::<u8>(), size_of::<Control>())
        };
        self.write(self.arena.tables.control, bytes)?;
        if self.settings.aggregator != Aggregator::HostThread {
            self.hand_over(&mut self.policy())?;
        }
        if kernels.records > 0 {
            self.write(
                self.arena.records,
                &records::header(&kernels.plan, kernels.records),
            )?;
            let shares = records::shares(kernels.records);
            self.write(self.arena.shares, &records::header(&kernels.plan, shares))?;
        }
        for (offset, bytes) in self.arena.root_elements(&kernels.plan, self.base, &pieces) {
            self.write(offset, &bytes)?;
        }
        launcher.set_channels(&self.arena.channels(self.base, &self.outlet.uniforms))
    }

    /// Runs, and says what came of it.
    fn execute(mut self, calls: &mut [ErasedCall<'_>]) -> Result<RunReport, RunError> {
        let counts = self.work(calls);
        // Relaxed: pairs with `CudaCancel::cancel`; a cancelled run takes its request with it.
        let cancelled = self.launcher.shared_word(0).swap(0, Ordering::Relaxed) != 0;
        // Who asked when there was no room any more is not told of that: such a run might be begun again.
        let counts = counts.map_err(|error| match cancelled && is_crowd(&error) {
            true => RunError::Cancelled,
            false => error,
        });
        let board = &self.launcher.live().0;
        board.ends(counts.as_ref().err(), || self.watched.left());
        counts.map(|counts| self.report(counts))
    }

    /// Runs, and copies everything out.
    pub(super) fn work(&mut self, calls: &mut [ErasedCall<'_>]) -> Result<Counts, RunError> {
        let start = Instant::now();
        let mut result = self.aggregate();
        self.host.spent(What::Run, start);
        if let Ok((_, counts)) = &mut result {
            self.shares(counts)?;
        }
        let (control, mut counts) = result?;
        self.ended(&control, &counts)?;
        if let Some(records) = counts.records.as_ref().filter(|_| self.settings.compare) {
            counts.compared = records
                .compare(self.policy().unbounded(), &self.inside)
                .map_err(|e| RunError::Differs(e.to_string()))?;
        }
        self.launcher.kernels().expect(counts.expected);
        let start = Instant::now();
        // SAFETY: the caller lends the memory for the whole run, and the copy has its place.
        unsafe { self.copies.copy(&*self.launcher, self.copied, true) }?;
        let size = self.arena.result.size;
        let results = self.read(self.arena.tables.results, size * calls.len() as u64)?;
        for (i, call) in calls.iter_mut().enumerate() {
            call.result.clear();
            call.result
                .extend_from_slice(&results[i * size as usize..][..size as usize]);
        }
        self.host.spent(What::Copy, start);
        Ok(counts)
    }

    /// The policy where a run begins.
    fn policy(&self) -> Policy<'_> {
        let kernels = self.launcher.kernels();
        let stack = kernels.plan.number_of(StackRole::Entry(self.task), false);
        Policy::new(
            &kernels.plan,
            &self.arena.capacities,
            stack,
            self.roots,
            self.expected,
            kernels.shape,
            self.arena.tables.room,
        )
    }

    /// Gives the persistent kernel what it is to take up.
    fn hand_over(&self, policy: &mut Policy<'_>) -> Result<(), RunError> {
        let bytes = |words: &[u32]| {
            words
                .iter()
                .flat_map(|w| w.to_le_bytes())
                .collect::<Vec<u8>>()
        };
        self.write(self.arena.tables.standing, &bytes(&policy.standing()))?;
        if policy.has_begun() {
            self.write(self.arena.tables.levels, &bytes(&policy.records()))?;
        }
        let (kept, marks) = policy.news();
        if marks.is_empty() {
            return Ok(());
        }
        self.write(self.mark(kept as u32), &bytes(&marks))
    }

    /// Where a mark of what waits lies.
    pub(super) fn mark(&self, number: u32) -> u64 {
        self.arena.tables.waiting + u64::from(number) * size_of::<Mark>() as u64
    }

    /// Launches the persistent kernel on what it has been given, waits for it, and takes up what it leaves. With a limit it ends with the first run that
    /// is for the host, which is given back; or when all is done.
    fn kernel(
        &self,
        policy: &mut Policy<'_>,
        (all, limit): (bool, Option<u32>),
        counts: &mut Counts,
    ) -> Result<(Control, Option<Chosen>), RunError> {
        let plan = self.plan();
        let launched = now();
        self.watched.kernel_begins();
        let (began, tables) = (counts.epoch, &self.arena.tables);
        // SAFETY: the run's memory is laid out as the kernel expects.
        unsafe {
            self.launcher.persistent(
                [tables.dispatch, tables.standing].map(|at| self.base + at),
                Turn { all, limit, began },
            )
        }?;
        // Marked again if the run goes on.
        self.launcher.mark(true)?;
        self.await_kernel()?;
        let ended = now();
        // One copy: the control record, and what lies behind it.
        let start = self.arena.tables.control;
        let standing_bytes = Standing::new(plan).bytes();
        let all = self.read(start, self.arena.tables.standing + standing_bytes - start)?;
        let at = |offset: u64, size: u64| &all[(offset - start) as usize..][..size as usize];
        let control = control_in(at(start, size_of::<Control>() as u64));
        let standing = words(at(self.arena.tables.standing, standing_bytes));
        let of = Standing::new(plan);
        let known = of.reached.get(&standing).min(self.arena.tables.room.known);
        let levels = self.read(
            self.arena.tables.levels,
            u64::from(known) * Level::new(plan).bytes(),
        )?;
        let (kept, marks) = (of.kept.get(&standing), of.marks.get(&standing));
        let marks = match marks.saturating_sub(kept) {
            0 => Vec::new(),
            new => self.read(self.mark(kept), u64::from(new) * size_of::<Mark>() as u64)?,
        };
        policy.resume(&standing, &words(&levels), &words(&marks));
        if let Some(records) = &mut counts.records {
            let head = words(&self.read(self.arena.records, records::bytes(plan, 0))?);
            let bytes = records::written(plan, &head);
            let words = words(&self.read(self.arena.records, bytes)?);
            records.take_in(plan, &words, (launched, ended));
            let header = records::header(plan, self.launcher.kernels().records);
            self.write(self.arena.records, &header)?;
        }
        if control.status == status::OK {
            self.watched.kernel_ended();
        }
        counts.epoch = control.epoch.0;
        let over = control.over != 0 && control.status == status::OK;
        // One that is given back is yet to be dispatched.
        counts.dispatches += control.dispatches - u64::from(over);
        counts.unseen |= control.dispatches > u64::from(over);
        counts.narrow += control.narrow;
        let chosen = || {
            Chosen::from_words(
                plan,
                &words(at(self.arena.tables.dispatch, Dispatch::new(plan).bytes())),
            )
        };
        Ok((control, over.then(chosen)))
    }

    /// Runs everything.
    fn aggregate(&self) -> Result<(Control, Counts), RunError> {
        let mut policy = self.policy();
        let mut counts = Counts {
            records: self.records(),
            roots: self.roots,
            lanes: vec![Lanes::default(); self.plan().sources.len()],
            ..Counts::default()
        };
        self.launcher.mark(false)?;
        let control = self.decide(&mut policy, &mut counts);
        if control.as_ref().map_or(true, |c| c.status != status::OK) {
            self.watched.leave(&policy, &counts);
        }
        let control = control?;
        counts = Counts {
            expected: policy.expected(),
            reached: policy.reached(),
            level: policy.level(),
            consumed: policy.consumed().to_vec(),
            elements: policy.elements(),
            leaves: self.leaves(policy.reached())?,
            peak: policy.peak().to_vec(),
            kernel: self.launcher.elapsed()?,
            ..counts
        };
        for (all, workers) in counts.peak.iter_mut().zip(&counts.workers.peak) {
            *all = (*all).max(*workers);
        }
        Ok((control, counts))
    }

    /// The same, by whom the settings say.
    fn decide(&self, policy: &mut Policy<'_>, counts: &mut Counts) -> Result<Control, RunError> {
        match self.settings.aggregator {
            Aggregator::Persistent => Ok(self.kernel(policy, (true, None), counts)?.0),
            Aggregator::HostThread => self.host_thread(policy, None, counts),
            Aggregator::Auto => {
                let is_ready = self.launcher.is_ready()?;
                counts.early = !is_ready;
                if !is_ready || self.begins_inside()? {
                    return self.host_thread(policy, None, counts);
                }
                let limit = self.narrow_limit(counts)?;
                match self.kernel(policy, (false, Some(limit)), counts)? {
                    (_, Some(chosen)) => self.host_thread(policy, Some(chosen), counts),
                    (control, None) => Ok(control),
                }
            }
        }
    }

    /// What records are kept in, if the kernels make any.
    fn records(&self) -> Option<Records> {
        let spans = self.settings.timeline;
        let spans =
            spans.map(|most| Spans::new(self.plan(), most, self.launcher.kernels().shape.warp));
        let kept = self.launcher.kernels().records > 0;
        kept.then(|| Records::new(self.settings.compare, spans))
    }

    /// When each block worked on what, if that is asked for.
    fn shares(&self, counts: &mut Counts) -> Result<(), RunError> {
        let spans = counts.records.as_mut().and_then(|r| r.spans.as_mut());
        let Some(spans) = spans else { return Ok(()) };
        let plan = self.plan();
        let head = words(&self.read(self.arena.shares, records::share_bytes(plan, 0))?);
        let (written, lost) = records::written_shares(plan, &head);
        let bytes = records::share_bytes(plan, written);
        let all = words(&self.read(self.arena.shares, bytes)?);
        spans.take_shares(plan, &all[head.len()..], lost);
        Ok(())
    }

    /// The counts of leaves of a run that has so many levels of elements.
    fn leaves(&self, levels: u32) -> Result<Leaves, RunError> {
        let (stacks, known) = (self.plan().stacks.len(), self.arena.tables.room.known);
        // They may lie one below.
        let deep = levels >= known;
        let count = stacks as u64 + u64::from((levels + 1).min(known)) + u64::from(deep);
        let word = |c: &[u8]| c.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b));
        let bytes = self.read(self.arena.tables.leaves, 8 * count)?;
        let mut by_stack: Vec<u64> = bytes.chunks_exact(8).map(word).collect();
        let mut by_level = by_stack.split_off(stacks);
        Ok(Leaves {
            deepest: if deep { by_level.pop().unwrap_or(0) } else { 0 },
            by_stack,
            by_level,
        })
    }

    /// Launches a kernel a run, from the one that is given on, or from the beginning. If both decide, it leaves narrow levels to the persistent
    /// kernel as soon as that is there.
    fn host_thread(
        &self,
        policy: &mut Policy<'_>,
        mut chosen: Option<Chosen>,
        counts: &mut Counts,
    ) -> Result<Control, RunError> {
        let shares = self.settings.aggregator == Aggregator::Auto;
        let (mut number, mut turns) = (0u32, Turns::default());
        let for_workers =
            self.settings.policy != gpus::Policy::Device && self.inside.flat.contains(&true);
        let mut cramped = false;
        let told = Mailbox::new(self.plan());
        // Relaxed: no kernel is running.
        self.launcher
            .shared_word(MAILBOX + told.number.at())
            .store(0, Ordering::Relaxed);
        let mut over;
        let mut answered = now();
        loop {
            let due = turns.due().filter(|_| {
                let near = counts.workers.framed.is_near(counts.across());
                shares && policy.rests() && !near
            });
            if let Some(all) = due
                && self.launcher.is_ready()?
            {
                let before = counts.dispatches;
                self.hand_over(policy)?;
                let turn = (all, Some(self.narrow_limit(counts)?));
                let (control, next) = self.kernel(policy, turn, counts)?;
                if next.is_none() {
                    return Ok(control);
                }
                turns.did(all, counts.dispatches - before);
                chosen = next;
                answered = now();
            }
            // What the persistent kernel chose last may be roots.
            if let Some(run) = chosen.take_if(|run| self.may_be_roots(run)) {
                policy.undo(&run);
            }
            if chosen.is_none() {
                match self.subtrees(policy, counts)? {
                    Subtrees::None => {}
                    Subtrees::Done => {
                        answered = now();
                        continue;
                    }
                    Subtrees::Stopped => {
                        over = None;
                        break;
                    }
                }
            }
            let decision = chosen.take().map_or_else(|| policy.decide(), Decision::Run);
            over = match decision {
                Decision::Full(stack) => Some((status::CHANNEL_FULL, stack)),
                Decision::Deep => Some((status::LEVELS_FULL, 0)),
                Decision::Run(_) | Decision::Move(_) | Decision::Done => None,
            };
            if let Decision::Run(run) = &decision
                && let Some(done) = self.take_out(run)?
            {
                policy.take(run, &done, number.wrapping_add(1).max(1));
                continue;
            }
            number = number.wrapping_add(1).max(1);
            let begun = now();
            counts.blocked += Duration::from_nanos(begun - answered);
            if !self.dispatch(&decision, number)? {
                break;
            }
            counts.dispatches += 1;
            answered = now();
            let Decision::Run(run) = decision else {
                continue;
            };
            let words: Vec<u32> = (0..told.words()).map(|at| self.answer(at)).collect();
            let done = Done::from_words(&told, &words);
            // In a run that wants room its dispatches are short, but workers do better, and who decides on a device does not ask for them.
            cramped |= for_workers && policy.have(run.source) > 0;
            policy.take(&run, &done, number.wrapping_add(1).max(1));
            self.watched.publish(policy, counts.dispatches);
            let source = &self.plan().sources[run.source];
            let (shape, blocks) = (self.launcher.kernels().shape, self.launcher.blocks());
            let alone = source.alone(shape);
            let short = !cramped
                && u64::from(run.count) <= u64::from(alone) * u64::from(blocks)
                && Duration::from_nanos(answered - begun) <= L::SHORT;
            turns.saw(run.count <= alone, short);
            let consumed = run.count - done.left;
            let warp = self.launcher.kernels().shape.warp;
            counts.lanes[run.source].add((run.count.into(), consumed.into()), warp.into());
            if let Some(records) = &mut counts.records {
                records.push(self.plan(), run, done, (begun, answered));
            }
        }
        self.launcher.mark(true)?;
        self.launcher.wait(RUNNING)?;
        let mut control =
            control_in(&self.read(self.arena.tables.control, size_of::<Control>() as u64)?);
        if let Some(why) = over
            && control.status == status::OK
        {
            (control.status, control.site) = why;
        }
        Ok(control)
    }

    /// Does what the policy says, as the dispatch of that number, and waits for it. False when the run is over.
    fn dispatch(&self, decision: &Decision, number: u32) -> Result<bool, RunError> {
        let kernels = self.launcher.kernels();
        let (mut words, kernel, blocks) = match decision {
            Decision::Run(run) => {
                self.watched.dispatch(run, &kernels.plan);
                let blocks = self.blocks_for(run.source, run.count);
                (run.words(&kernels.plan, number), run.source, blocks)
            }
            Decision::Move(words) => (
                words.clone(),
                kernels.plan.sources.len(),
                Dispatch::new(&kernels.plan).level.get(words),
            ),
            Decision::Done | Decision::Full(_) | Decision::Deep => return Ok(false),
        };
        // Relaxed: pairs with `CudaCancel::cancel`.
        if self.launcher.shared_word(0).load(Ordering::Relaxed) != 0 {
            return Err(RunError::Cancelled);
        }
        let form = kernels.forms[kernel].of(blocks);
        // SAFETY: the run's memory is laid out as the kernel expects, and the record has all its words.
        unsafe { self.launcher.dispatch(kernel, form, &mut words) }?;
        self.await_dispatch(number)?;
        let told = Mailbox::new(&kernels.plan);
        kernels.forms[kernel].saw(self.answer(told.walks_far.at()) != 0);
        Ok(self.answer(told.status.at()) == status::OK)
    }

    /// A word of the mailbox, of a dispatch that has been waited for.
    fn answer(&self, at: usize) -> u32 {
        // Relaxed: ordered by the acquire of the mailbox's number.
        (self.launcher.shared_word(MAILBOX + at)).load(Ordering::Relaxed)
    }

    fn blocks_for(&self, source: usize, count: u32) -> u32 {
        let kernels = self.launcher.kernels();
        let source = &kernels.plan.sources[source];
        match source.mode {
            // A warp for each few elements.
            Mode::Scanned { heavy: true, .. } | Mode::Direct { heavy: true } => count.div_ceil(8),
            // All that fit at once.
            Mode::Master => u32::MAX,
            _ => count.div_ceil(source.tile(kernels.shape)),
        }
    }
}

pub(super) fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks_exact(4)
        .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
        .collect()
}

fn control_in(bytes: &[u8]) -> Control {
    assert_eq!(bytes.len(), size_of::<Control>());
    // SAFETY: plain words, as many as the record has; read unaligned.
    unsafe { bytes.as_ptr().cast::<Control>().read_unaligned() }
}
