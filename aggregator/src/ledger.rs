//! What a worker's levels hold and may hold: how many elements of a segment find room for what they push.

use crate::{
    dump::Doing,
    levels::Level,
    plan::Pushes,
    worker::{Stop, Worker},
};
use millstream_channels_kernel::layout::StackIndex;

/// What there is room for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Room {
    /// So many elements.
    For(u64),
    /// One, in deep memory: nothing of its level runs before its children have.
    Alone,
    /// None before the continuations that wait have run and their frames are free.
    After,
    /// Not for one.
    Never,
}

impl Worker<'_> {
    /// What the current level may hold to be run wide. Each batch that runs here has a number of its own, beside those of its levels.
    #[inline]
    pub(crate) fn allowance(&self) -> u64 {
        let number = self.current() + self.origins.len();
        self.run.pool.allowances.of(number)
    }

    /// Bytes that the current level holds: frames, references to them, and the children above with the record of their level.
    #[inline]
    pub(crate) fn held(&self) -> u64 {
        let held = self.live + self.stacks.levels.bytes() - self.opened;
        debug_assert_eq!(held, self.counted(), "all that comes and goes is in `live`");
        held
    }

    /// The same, counted stack by stack.
    #[inline]
    fn counted(&self) -> u64 {
        let (level, levels, bytes) = (self.current(), &self.stacks.levels, &self.plan.bytes);
        let (bases, states) = (levels.bases(level), &self.stacks.states);
        let mut held = levels.bytes() + self.children(level);
        for stack in &self.here.inner {
            let stack = stack.index();
            held += (states[stack].top - u64::from(bases[stack])) * bytes[stack];
        }
        held
    }

    /// The current level is the one that it was before its children's was closed.
    #[inline]
    pub(crate) fn reopen(&mut self) {
        self.opened = self.live + self.stacks.levels.bytes() - self.counted();
    }

    /// Bytes of the children above the current level.
    #[inline]
    fn children(&self, level: Level) -> u64 {
        let ends = self.stacks.levels.ends(level);
        let mut children = 0;
        for &(t, entry) in &self.here.entries {
            let above = self.stacks.top(entry) - u64::from(ends[t]);
            children += above * self.plan.bytes[entry.index()];
        }
        children
    }

    /// The same with what those who wait may still push (and what was emitted is not theirs): a continuation of an element that ran wide finds room without asking.
    #[inline]
    fn reserved(&self, level: Level) -> u64 {
        let levels = &self.stacks.levels;
        let above = |stack: StackIndex| self.stacks.top(stack) - levels.base(level, stack);
        let mut reserved = levels.bytes() + self.children(level);
        for &(frame, full) in &self.here.frames {
            reserved += above(frame) * full;
        }
        for &stack in &self.plan.staging {
            reserved += above(stack) * self.plan.bytes[stack.index()];
        }
        reserved
    }

    /// How many of `want` entries of a task find room, where others of their level have left something or not. Sets the limits of the stacks that
    /// they push to.
    #[inline]
    pub(crate) fn entry_room(
        &mut self,
        level: Level,
        task: usize,
        want: u64,
        left: bool,
    ) -> Result<Room, Stop> {
        let plan = &self.plan.tasks[task];
        let want = self.paced(task, want);
        if plan.full == 0 {
            self.stacks.note_tops(&plan.pushes, want);
            return Ok(Room::For(want));
        }
        let allowed = self.allowance();
        if plan.full + self.stacks.levels.bytes() > allowed {
            // One at a time, with nothing of its siblings in memory.
            return match left {
                true => Ok(Room::After),
                false => self.deep_room(&plan.pushes),
            };
        }
        let left = allowed.saturating_sub(self.reserved(level));
        let count = fitting(want, left, plan.full);
        let count = self.capped(&plan.pushes, count);
        if count == 0 {
            return Ok(Room::After);
        }
        self.set_limits(&plan.pushes, count);
        Ok(Room::For(count))
    }

    /// How many of `want` continuations find room: all, where their entries ran wide.
    #[inline]
    pub(crate) fn continuation_room(&mut self, which: usize, want: u64) -> Result<Room, Stop> {
        let pushes = &self.plan.continuations[which].pushes;
        let want = self.paced(self.plan.tasks.len() + which, want);
        if pushes.is_empty() {
            self.stacks.note_tops(pushes, want);
            return Ok(Room::For(want));
        }
        let left = self.allowance().saturating_sub(self.held());
        let count = fitting(want, left.saturating_sub(pushes.last), pushes.bytes.max(1));
        let count = self.capped(pushes, count);
        if count == 0 {
            return self.deep_room(pushes);
        }
        self.set_limits(pushes, count);
        Ok(Room::For(count))
    }

    /// With several workers a wavefront takes no longer than others may have to wait.
    #[inline]
    pub(crate) fn paced(&self, segment: usize, want: u64) -> u64 {
        if self.run.workers > 1 {
            want.min(self.stacks.pace[segment])
        } else {
            want
        }
    }

    /// Room for one element in the deep part.
    #[inline]
    fn deep_room(&mut self, pushes: &Pushes) -> Result<Room, Stop> {
        let need = pushes.bytes + pushes.last;
        let over = (self.held() + need).saturating_sub(self.allowance());
        if self.capped(pushes, 1) == 0 || !self.deepen(over)? {
            return Ok(Room::Never);
        }
        self.set_limits(pushes, 1);
        Ok(Room::Alone)
    }

    /// Sees to it that so much more of the deep part is this worker's.
    #[inline]
    pub(crate) fn deepen(&mut self, over: u64) -> Result<bool, Stop> {
        let missing = (self.deep + over).saturating_sub(self.granted);
        if missing == 0 {
            return Ok(true);
        }
        if self.run.workers == 1 {
            return Ok(false);
        }
        self.step(Doing::WaitsForMemory, 0, 0, None);
        let Some(taken) = self.run.take_or_wait(missing) else {
            return if self.run.stopped() {
                Err(Stop::Over)
            } else {
                Ok(false)
            };
        };
        self.granted += taken;
        Ok(true)
    }

    /// Gives back what is not used of the deep part and may be much.
    #[inline]
    pub(crate) fn give_back(&mut self) {
        let piece = self.run.pool.piece();
        if self.run.workers > 1 && self.granted > self.deep + 4 * piece {
            let kept = self.deep + piece;
            self.run.pool.give(self.granted - kept);
            self.granted = kept;
        }
    }

    /// Gives all back that is not used of the deep part, before it waits for something else than memory.
    pub(crate) fn give_all_back(&mut self) {
        if self.run.workers > 1 {
            self.run.pool.give(self.granted - self.deep);
            self.granted = self.deep;
        }
    }

    /// As many as the stacks have address space for.
    #[inline]
    fn capped(&self, pushes: &Pushes, mut count: u64) -> u64 {
        let memory = &self.stacks.memory;
        let room = |s: StackIndex| {
            memory
                .capacity(s.index())
                .saturating_sub(self.stacks.top(s))
        };
        for &(stack, max) in &pushes.counted {
            count = fitting(count, room(stack), max);
        }
        for &stack in &pushes.uncounted {
            count = fitting(count, room(stack), pushes.turn);
        }
        let is_full = |s: &StackIndex| room(*s) == 0;
        match pushes.rare.iter().any(is_full) {
            true => 0,
            false => count,
        }
    }

    /// Where pushes are counted, so many elements are sure of their room. Where they are not, the run has what is left of the allowance, and
    /// who needs more is given up until there is room again, or, without a restart point, gets what is left of the deep part.
    #[inline]
    fn set_limits(&mut self, pushes: &Pushes, count: u64) {
        self.stacks.note_tops(pushes, count);
        if pushes.uncounted.is_empty() {
            return;
        }
        let (allowed, needed) = (
            self.allowance(),
            self.held() + count * pushes.bytes + pushes.last,
        );
        let deep = self.deep + needed.saturating_sub(allowed);
        self.stacks.growth.room = self.granted.saturating_sub(deep);
        self.stacks.growth.alone = pushes.uncounted.len() == 1;
        let shares = pushes.uncounted.len() as u64;
        for &stack in &pushes.uncounted {
            let capacity = self.stacks.memory.capacity(stack.index());
            let share = allowed.saturating_sub(needed) / shares / self.plan.bytes[stack.index()];
            let state = &mut self.stacks.states[stack.index()];
            state.limit = (state.top + share + count * pushes.turn).min(capacity);
        }
    }
}

/// How many of so many elements find room where each takes up to `max` places.
#[inline]
const fn fitting(count: u64, room: u64, max: u64) -> u64 {
    // Nearly always all do, and a division takes as long as the rest.
    match count.checked_mul(max) {
        Some(places) if places <= room => count,
        _ => room / max,
    }
}
