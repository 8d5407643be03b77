//! The aggregator of one worker: it decides which wavefront runs next on its private stacks.
//!
//! Deepest level first; of a level, entries in order and before continuations, unless a full wavefront of continuations waits or memory is
//! short: then an element runs with all that comes of it before the next one begins, so that no two siblings have frames at one time.
//! A level whose entries and continuations are gone and whose lent batches are back is drained: everything above its base is free.
//! Nothing here touches compiled code or raw memory: that is [`dispatch`](crate::dispatch).

use crate::{
    batch::Batch,
    decisions::Reason,
    donate::Patience,
    error::RunError,
    flow::Bell,
    ledger::Room,
    levels::Level,
    live::SoFar,
    plan::{Plan, Pushes},
    policy::run_of,
    reach::Reach,
    report::{Tally, WorkerReport},
    run::Run,
    share::WorkerId,
    stacks::Stacks,
    watch::Watch,
};
use millstream_channels_kernel::{cpu::abi::WorkerContext, layout::StackIndex};
use std::{
    mem::ManuallyDrop,
    time::{Duration, Instant},
};

/// Why a worker stops before its work is done.
#[derive(Debug)]
pub(crate) enum Stop {
    /// This worker found out why the run must end.
    Failed(Box<RunError>),
    /// Somebody else ended it.
    Over,
}

impl From<RunError> for Stop {
    fn from(error: RunError) -> Self {
        Self::Failed(Box::new(error))
    }
}

/// A run that takes longer than this calls for the other workers.
const ALONE: Duration = Duration::from_micros(30);
/// While somebody who wants work is on its way, a wavefront takes one in so many elements of a level: one that took all of them would leave nothing to give,
/// for as long as they take.
const PIECES: u64 = 8;

/// Where elements run that are nobody's children here: a batch, or a wavefront of a channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// The elements' level.
    pub(crate) base: Level,
    /// Their depth in the run's tree of tasks.
    pub(crate) depth: u64,
    /// The task that they all descend from.
    pub(crate) root: usize,
    /// Their task, and what lay on its stack before.
    pub(crate) task: usize,
    pub(crate) floor: u64,
    /// Whether elements that find no room may stay where they are: then the others end, and what they emitted goes on its way.
    pub(crate) rest: bool,
}

/// A worker inside a run.
#[derive(Debug)]
pub(crate) struct Worker<'r> {
    pub(crate) run: &'r Run,
    pub(crate) plan: &'r Plan,
    pub(crate) id: WorkerId,
    /// Never dropped, only given back: when a worker panics, others may still write to its frames.
    pub(crate) stacks: ManuallyDrop<Box<Stacks>>,
    pub(crate) context: WorkerContext,
    /// How many levels are open; the last is the current one, and when a wavefront has run, its children lie above.
    pub(crate) open: usize,
    /// What the current level may use, and the next one.
    pub(crate) here: &'r Reach,
    pub(crate) below: &'r Reach,
    /// Below this level there is no entry.
    pub(crate) shallow: Level,
    /// The batches that run here, the innermost last.
    pub(crate) origins: Vec<Origin>,
    /// Bytes in use on the stacks and by level records.
    pub(crate) live: u64,
    /// Those of them that are not the current level's to hold: what there was when it was opened.
    pub(crate) opened: u64,
    /// When it gives others what it has.
    pub(crate) patience: Patience,
    /// Bytes of batches that are not back.
    pub(crate) lent: u64,
    /// Bytes that levels hold beyond their allowances: the part of `live` that lies in deep memory.
    pub(crate) deep: u64,
    /// Deep memory that is this worker's.
    pub(crate) granted: u64,
    pub(crate) tally: Tally,
    pub(crate) parked: Duration,
    entered: Instant,
    /// When it last looked at the clock: where there are several, behind each dispatch and whatever else takes long.
    pub(crate) now: Instant,
    /// Elements that ran since, of segments where none takes long.
    pub(crate) unseen: u64,
    /// Whether the others are to be called if this takes long.
    pub(crate) alone: bool,
    /// Where workers of a graph sleep.
    pub(crate) bell: Option<&'r Bell>,
    /// The task and the element on its entry stack that the run stopped at.
    pub(crate) stopped_at: Option<(usize, u64)>,
    /// What it tells of each dispatch, if that is asked for.
    pub(crate) watch: Option<Box<Watch>>,
    /// How many steps it took, and when it began the last one, if it looked at the clock.
    pub(crate) steps: u32,
    pub(crate) begun: Option<Instant>,
}

impl<'r> Worker<'r> {
    pub(crate) fn new(
        run: &'r Run,
        id: WorkerId,
        mut stacks: Box<Stacks>,
        mut context: WorkerContext,
    ) -> Self {
        context.fields = stacks.memory.fields();
        let plan = &run.loaded.plan;
        stacks.growth.begin(run);
        let tally = stacks.tally.take();
        let tally = tally.map_or_else(|| Tally::new(plan), Tally::cleared);
        // Who calls is there from the beginning.
        let entered = match id {
            WorkerId(0) => run.begun,
            _ => Instant::now(),
        };
        Self {
            run,
            plan,
            id,
            stacks: ManuallyDrop::new(stacks),
            context,
            open: 0,
            here: plan.reaches.of(0, 0),
            below: plan.reaches.of(0, 0),
            shallow: 0,
            origins: Vec::new(),
            live: 0,
            opened: 0,
            patience: Patience::new(entered),
            lent: 0,
            deep: 0,
            granted: run.pool.own(),
            tally,
            parked: Duration::ZERO,
            entered,
            now: entered,
            unseen: 0,
            alone: id == WorkerId(0) && run.workers > 1,
            bell: None,
            stopped_at: None,
            watch: Watch::new(run.watched, plan),
            steps: 0,
            begun: None,
        }
    }

    /// Gives the stacks back and says what was done, if somebody wants to know.
    pub(crate) fn finish(mut self) -> (Box<Stacks>, Option<WorkerReport>) {
        self.run.pool.give(self.granted - self.run.pool.own());
        self.publish();
        self.stacks.clear(self.plan, self.tally.peak);
        let mut stacks = ManuallyDrop::into_inner(self.stacks);
        if !self.run.told {
            stacks.tally = Some(self.tally);
            return (stacks, None);
        }
        let inside = self.entered.elapsed();
        let mut report = WorkerReport::new(self.id.0, inside, self.parked, self.tally);
        if let Some(watch) = self.watch {
            watch.tell(&mut report);
        }
        (stacks, Some(report))
    }

    /// Tells who watches the run how far this worker is.
    #[inline]
    fn publish(&self) {
        let so_far = SoFar {
            tasks: self.tally.done,
            levels: self.tally.deepest,
            bytes: self.live + self.lent,
            ..SoFar::default()
        };
        self.run.board().publish(self.id.0 as usize, so_far);
    }

    /// Runs a batch to its end, on top of whatever is on the stacks.
    pub(crate) fn run_batch(&mut self, batch: &Batch) -> Result<(), Stop> {
        let base = self.open;
        let outer = self.shallow;
        let entry = self.plan.tasks[batch.task].entry;
        self.origins.push(Origin {
            base,
            depth: batch.depth,
            root: batch.root,
            task: batch.task,
            floor: self.stacks.top(entry),
            rest: false,
        });
        self.look_around();
        let mut done = 0;
        while done < batch.count {
            done += self.push_batch(batch, done)?;
            self.drain(base)?;
        }
        self.origins.pop();
        self.look_around();
        self.shallow = self.shallow.min(outer);
        Ok(())
    }

    /// Opens a level and puts as many of a batch's elements there as memory allows.
    fn push_batch(&mut self, batch: &Batch, done: u64) -> Result<u64, Stop> {
        let task = &self.plan.tasks[batch.task];
        let record = self.stacks.levels.bytes();
        let number = self.open + self.origins.len() - 1;
        let allowed = self.run.pool.allowances.of(number);
        let fits = allowed.saturating_sub(record) / task.bytes;
        let mut count = fits.clamp(1, batch.count - done);
        let over = (record + count * task.bytes).saturating_sub(allowed);
        if !self.deepen(over)? {
            return Err(self.out_of_memory(batch.task, batch.depth, record + task.bytes));
        }
        let top = self.stacks.top(task.entry);
        count = count.min(
            self.stacks
                .memory
                .capacity(task.entry.index())
                .saturating_sub(top),
        );
        if count == 0 {
            return Err(self.out_of_memory(batch.task, batch.depth, task.bytes));
        }
        self.open_bases();
        self.stacks.memory.copy_in(
            &self.plan.layouts,
            task.entry.index(),
            top,
            &batch.fields,
            done,
            count,
        );
        self.stacks.states[task.entry.index()].top = top + count;
        self.use_bytes(count * task.bytes);
        self.tally.saw(task.entry, top + count);
        if self.watched() {
            self.observe(Reason::Batch, (self.open, batch.task), (top, count), (0, 0));
        }
        self.descend(over);
        Ok(count)
    }

    /// Runs until everything from this level up is done and the level is closed.
    pub(crate) fn drain(&mut self, base: Level) -> Result<(), Stop> {
        self.look_at_the_clock();
        loop {
            if self.run.stopped() {
                return Err(Stop::Over);
            }
            if self.alone && self.now - self.entered > ALONE {
                self.alone = false;
                self.run.call_others();
            }
            if self.is_asked() {
                self.offer();
            }
            self.publish();
            let level = self.current();
            let waiting = self.most_continuations(level);
            let entry = self.most_entries(level);
            match (entry, waiting) {
                (Some(task), waiting)
                    if waiting.is_none_or(|(c, n)| n < self.plan.continuations[c].width) =>
                {
                    match (self.entries(level, task, waiting.is_some())?, waiting) {
                        (true, _) => {}
                        (false, Some((continuation, _))) => {
                            self.continuations(level, continuation, Reason::Short)?
                        }
                        (false, None) if self.may_rest(level) => {
                            self.ascend(base);
                            return Ok(());
                        }
                        (false, None) => {
                            return Err(self.no_room(task, &self.plan.tasks[task].pushes));
                        }
                    }
                }
                (entry, Some((continuation, _))) => {
                    let reason = entry.map_or(Reason::Drained, |_| Reason::Full);
                    self.continuations(level, continuation, reason)?;
                }
                (_, None) if self.stacks.levels.lent(level) > 0 => self.wait(level)?,
                (_, None) => {
                    self.ascend(base);
                    if level == base {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Whether the entries of a level may stay where they are.
    fn may_rest(&self, level: Level) -> bool {
        self.origins
            .last()
            .is_some_and(|o| o.rest && o.base == level)
    }

    /// The task with most entries at the current level.
    #[inline]
    fn most_entries(&self, level: Level) -> Option<usize> {
        self.most_of(self.here, level, true)
    }

    /// That at any level, of those whose entries do not lie in channels.
    pub(crate) fn most_to_give(&self, level: Level) -> Option<usize> {
        self.most_of(self.reach(level), level, false)
    }

    #[inline]
    fn most_of(&self, reach: &Reach, level: Level, in_channels: bool) -> Option<usize> {
        let levels = &self.stacks.levels;
        let (bases, ends) = (levels.bases(level), levels.ends(level));
        let (mut most, mut which) = (0, None);
        for &(t, entry) in &reach.entries {
            let count = ends[t] - bases[entry.index()];
            if count > 0 && count >= most && (in_channels || !self.plan.tasks[t].in_channel) {
                (most, which) = (count, Some(t));
            }
        }
        which
    }

    /// The continuation with most frames waiting at the current level, and how many.
    #[inline]
    fn most_continuations(&self, level: Level) -> Option<(usize, u64)> {
        let bases = self.stacks.levels.bases(level);
        let mut most: Option<(usize, u64)> = None;
        for &(i, stack) in &self.here.waiting {
            let count = self.stacks.top(stack) - u64::from(bases[stack.index()]);
            if count > 0 && most.is_none_or(|m| count >= m.1) {
                most = Some((i, count));
            }
        }
        most
    }

    /// Runs wavefronts of entries of the current level until there are children enough, and descends to them. False if there was no room
    /// for any.
    fn entries(&mut self, level: Level, first: usize, mut waits: bool) -> Result<bool, Stop> {
        if !waits {
            self.free_all_frames(level);
        }
        self.open_bases();
        let (mut task, mut children, mut ran) = (first, 0, false);
        // The last one ran alone and left nothing: what it had room for, the next one has.
        let mut left_nothing = false;
        loop {
            let plan = &self.plan.tasks[task];
            let begin = self.stacks.levels.base(level, plan.entry);
            let count = self.stacks.levels.end(level, task) - begin;
            let mut want = run_of(count, plan.width);
            if self.run.shared.coming() {
                want = want.min(count.div_ceil(PIECES));
            }
            let room = match left_nothing {
                true => Room::Alone,
                false => self.entry_room(level, task, want, waits || children > 0)?,
            };
            let (room, reason) = match room {
                Room::For(room) => (room, Reason::Entries),
                Room::Alone => (1, Reason::Alone),
                Room::After | Room::Never if ran => break,
                Room::After | Room::Never => return Ok(false),
            };
            let (held, live) = (self.held_if_told(), self.live);
            let consumed = self.dispatch_entry(task, begin, room)?;
            self.stacks
                .levels
                .set_base(level, plan.entry, begin + consumed);
            self.tally.count(task, self.depth(level), consumed);
            self.count_leaves(level, &plan.pushes);
            let pushed = self.settle(&plan.pushes);
            children += pushed;
            ran = true;
            if self.watched() {
                self.observe(reason, (level, task), (begin, consumed), (held, pushed));
            }
            self.tally.alone += u64::from(reason == Reason::Alone);
            if consumed == 0 {
                return Err(self.no_room(task, &plan.pushes));
            }
            left_nothing = reason == Reason::Alone && self.live == live && count > consumed;
            if left_nothing && !self.run.stopped() && !self.is_asked() {
                continue;
            }
            let enough = plan.continuations.clone().any(|c| {
                let c = &self.plan.continuations[c];
                self.stacks.top(c.stack) - self.stacks.levels.base(level, c.stack) >= c.width
            });
            // Where memory is short, what there is has to last for the levels below.
            if enough
                || reason == Reason::Alone
                || room < want
                || children * 2 > plan.width
                || self.run.stopped()
                || self.is_asked()
            {
                break;
            }
            match self.most_entries(level) {
                Some(next) => task = next,
                None => break,
            }
            waits = self.most_continuations(level).is_some();
        }
        if children > 0 {
            self.descend(self.over());
        }
        Ok(true)
    }

    /// Counts the children of a segment that ended where they were spawned.
    #[inline]
    fn count_leaves(&mut self, level: Level, pushes: &Pushes) {
        for &task in &pushes.spawned {
            let leaves = &mut self.stacks.states[self.plan.tasks[task].entry.index()].leaves;
            if *leaves > 0 {
                let leaves = std::mem::take(leaves);
                self.tally.count(task, self.depth(level) + 1, leaves);
                self.tally.leaves += leaves;
            }
        }
    }

    /// Runs a wavefront of continuations of the current level.
    fn continuations(&mut self, level: Level, which: usize, reason: Reason) -> Result<(), Stop> {
        self.open_bases();
        let plan = &self.plan.continuations[which];
        let top = self.stacks.top(plan.stack);
        let count = run_of(top - self.stacks.levels.base(level, plan.stack), plan.width);
        let room = match self.continuation_room(which, count)? {
            Room::For(room) => room,
            Room::Alone => 1,
            Room::After | Room::Never => return Err(self.no_room(plan.task, &plan.pushes)),
        };
        let held = self.held_if_told();
        let consumed = self.dispatch_continuation(which, room)?;
        self.count_leaves(level, &plan.pushes);
        if consumed == 0 {
            return Err(self.no_room(plan.task, &plan.pushes));
        }
        let children = self.settle(&plan.pushes);
        if self.watched() {
            let segment = self.plan.tasks.len() + which;
            self.observe(reason, (level, segment), (0, consumed), (held, children));
        }
        self.live -= consumed * self.plan.bytes[plan.stack.index()];
        if children > 0 {
            self.descend(self.over());
        } else {
            self.free_frames(level, plan.task);
        }
        Ok(())
    }

    /// What the current level holds beyond its allowance.
    fn over(&self) -> u64 {
        self.held().saturating_sub(self.allowance())
    }

    /// All frames of a task at the current level are free when none of them waits and there are no children.
    fn free_frames(&mut self, level: Level, task: usize) {
        let task = &self.plan.tasks[task];
        let mut waiting = self.plan.continuations[task.continuations.clone()].iter();
        if let Some(frame) = task.frame
            && waiting.all(|c| self.stacks.top(c.stack) == self.stacks.levels.base(level, c.stack))
        {
            self.lower(frame, self.stacks.levels.base(level, frame));
        }
    }

    /// All frames of the current level are free when no continuation of it waits.
    fn free_all_frames(&mut self, level: Level) {
        if self.live == self.opened {
            return;
        }
        for &stack in &self.here.levelled {
            let base = self.stacks.levels.base(level, stack);
            if self.stacks.top(stack) > base {
                self.lower(stack, base);
            }
        }
    }

    /// Marks where the children of the current level will begin.
    #[inline]
    pub(crate) fn open_bases(&mut self) {
        let level = self.open;
        let stacks = &mut **self.stacks;
        stacks.levels.ensure(level);
        let bases = stacks.levels.bases_mut(level);
        for &(_, entry) in &self.below.entries {
            bases[entry.index()] = stacks.states[entry.index()].top as u32;
        }
    }

    /// Makes the children's level the current one, for which so much deep memory was needed. Frames and continuations below it belong to their
    /// parents.
    pub(crate) fn descend(&mut self, over: u64) {
        let level = self.open;
        let stacks = &mut **self.stacks;
        let bases = stacks.levels.bases_mut(level);
        for &stack in &self.below.inner {
            bases[stack.index()] = stacks.states[stack.index()].top as u32;
        }
        let ends = stacks.levels.ends_mut(level);
        for &(t, entry) in &self.below.entries {
            ends[t] = stacks.states[entry.index()].top as u32;
        }
        stacks.levels.set_lent(level, 0);
        stacks.levels.set_over(level, over);
        self.deep += over;
        debug_assert!(self.deep <= self.granted, "deep memory was taken before");
        self.open += 1;
        self.here = self.below;
        self.below = self.reach(self.open);
        self.shallow = self.shallow.min(level);
        self.use_bytes(self.stacks.levels.bytes());
        self.opened = self.live;
    }

    /// Closes the current level, which is drained: what it held is free, and so are the holes below it.
    fn ascend(&mut self, base: Level) {
        let level = self.current();
        self.free_all_frames(level);
        let origin = self.origins.last().filter(|_| level == base).copied();
        self.below = self.here;
        self.open -= 1;
        self.here = self.reach(self.current());
        match origin {
            // Of what the level above has, others may have taken some meanwhile.
            None => {
                for &(t, entry) in &self.here.entries {
                    self.lower(entry, self.stacks.levels.end(level - 1, t));
                }
            }
            Some(origin) => {
                for &(t, entry) in &self.below.entries {
                    let floor = match origin.task == t {
                        true => origin.floor,
                        false => self.stacks.levels.base(level, entry),
                    };
                    self.lower(entry, floor);
                }
            }
        }
        self.shallow = self.shallow.min(self.open.saturating_sub(1));
        self.live -= self.stacks.levels.bytes();
        self.deep -= self.stacks.levels.over(level);
        if self.open > 0 {
            self.reopen();
        }
        match origin {
            Some(origin) if origin.rest => self.deep = self.staged_beyond(),
            _ => self.give_back(),
        }
    }

    /// Takes a stack's top down.
    #[inline]
    pub(crate) fn lower(&mut self, stack: StackIndex, to: u64) {
        let state = &mut self.stacks.states[stack.index()];
        debug_assert!(to <= state.top, "a top only comes down");
        self.live -= (state.top - to) * self.plan.bytes[stack.index()];
        state.top = to;
    }

    #[inline]
    pub(crate) fn use_bytes(&mut self, bytes: u64) {
        self.live += bytes;
        let used = self.live + self.lent;
        self.tally.peak = self.tally.peak.max(used);
        let taken = self.granted - self.run.pool.own();
        self.tally.own_peak = self.tally.own_peak.max(used.saturating_sub(taken));
    }

    /// What a level may use.
    #[inline]
    pub(crate) fn reach(&self, level: Level) -> &'r Reach {
        let (root, base) = self.origin(level).map_or((0, 0), |o| (o.task, o.base));
        self.plan.reaches.of(root, level.saturating_sub(base))
    }

    /// Another level is the current one, or the next one is to be of another batch.
    #[inline]
    pub(crate) fn look_around(&mut self) {
        self.here = self.reach(self.current());
        self.below = self.reach(self.open);
    }

    /// The current level.
    pub(crate) const fn current(&self) -> Level {
        self.open.saturating_sub(1)
    }

    /// The batch that a level is of.
    #[inline]
    pub(crate) fn origin(&self, level: Level) -> Option<&Origin> {
        self.origins.iter().rev().find(|o| o.base <= level)
    }

    /// Depth of a level in the run's tree of tasks.
    #[inline]
    pub(crate) fn depth(&self, level: Level) -> u64 {
        let origin = self.origin(level);
        origin.map_or(0, |o| o.depth + (level - o.base) as u64)
    }

    /// The current level's depth.
    pub(crate) fn current_depth(&self) -> u64 {
        self.depth(self.current())
    }

    /// The stacks that hold something, for a report of a bug.
    pub(crate) fn describe(&self) -> String {
        let stacks = (0..self.stacks.states.len() as u32)
            .map(StackIndex)
            .filter(|&s| self.stacks.top(s) > 0);
        let stacks: Vec<_> = stacks
            .map(|s| format!("{}: {}", self.plan.stack_name(s), self.stacks.top(s)))
            .collect();
        let lent: u32 = (0..self.open).map(|l| self.stacks.levels.lent(l)).sum();
        format!(
            "worker {}, {} levels, {lent} batches lent, {}",
            self.id.0,
            self.open,
            stacks.join(", ")
        )
    }
}
