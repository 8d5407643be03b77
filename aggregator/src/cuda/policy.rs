//! The levelized policy: which run of elements comes next. This is its specification, and what the host thread decides by. The persistent
//! kernel has it in `device/policy.cu`, for a warp, and once more for narrow levels in `device/levels.cu`; what they decide is compared with
//! this one by one ([`records`](super::records)). The numbers lie in `rules`.

use super::launcher::Shape;
use millstream_channels_kernel::cuda::{
    abi::{self, Dispatch, Mailbox, Standing},
    plan::{Plan, StackKind},
    rules::{
        FILL, GUESS, GUESS_LEVELS, GUESS_YIELDS, LEAST_PUSHED, NEIGHBOURS, RESERVE, RETRY,
        SMALL_SHARE,
    },
};

/// Of a dispatch whose kernel is done: what the mailbox says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Done {
    /// Units of the group that depends on data, until the first tile found no room.
    pub(super) limit: u32,
    /// Where elements lie that were not consumed.
    pub(super) bottom: u32,
    /// How many.
    pub(super) left: u32,
    /// How many tiles are to be moved to make that so.
    pub(super) moves: u32,
    /// Units of each group.
    pub(super) counters: Vec<u32>,
}

impl Done {
    /// From the mailbox's words.
    pub(super) fn from_words(at: &Mailbox, words: &[u32]) -> Self {
        Self {
            limit: at.limit.get(words),
            bottom: at.bottom.get(words),
            left: at.left.get(words),
            moves: at.moves.get(words),
            counters: at.counter.all(words),
        }
    }
}

/// What is to be run next: the fields of a dispatch record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Run {
    /// Which source.
    pub(super) source: usize,
    /// At which level.
    pub(super) level: u32,
    /// First element.
    pub(super) first: u32,
    /// How many.
    pub(super) count: u32,
    /// For each push: the first free element of the stack.
    pub(super) base: Vec<u32>,
    /// For each push: how many more the stack holds.
    pub(super) room: Vec<u32>,
}

impl Run {
    /// What a record says that a kernel chose.
    pub(super) fn from_words(plan: &Plan, words: &[u32]) -> Self {
        let at = Dispatch::new(plan);
        let source = at.source.get(words) as usize;
        let pushes = plan.sources[source].pushes.len();
        Self {
            source,
            level: at.level.get(words),
            first: at.first.get(words),
            count: at.count.get(words),
            base: at.base.first(words, pushes),
            room: at.room.first(words, pushes),
        }
    }

    /// The record that a kernel takes.
    pub(super) fn words(&self, plan: &Plan, number: u32) -> Vec<u32> {
        let at = Dispatch::new(plan);
        let mut words = at.zeroed();
        at.source.set(&mut words, self.source as u32);
        at.level.set(&mut words, self.level);
        at.first.set(&mut words, self.first);
        at.count.set(&mut words, self.count);
        at.number.set(&mut words, number);
        at.base.fill(&mut words, &self.base);
        at.room.fill(&mut words, &self.room);
        words
    }
}

/// What the policy says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Decision {
    /// Run this.
    Run(Run),
    /// All is done.
    Done,
    /// Tiles that found no room are to be moved together: the record of the dispatch that does it.
    Move(Vec<u32>),
    /// Nothing that is left finds room: the stack that is full.
    Full(u32),
    /// The run is deeper than there is room for levels.
    Deep,
}

/// Elements of a level, and what is known of it.
#[derive(Clone, PartialEq, Debug)]
struct Level {
    /// For each stack: where its elements begin and end.
    lo: Vec<u32>,
    hi: Vec<u32>,
    /// What was pushed to each stack from this level, and what an element of the next level and all below it pushed.
    pushed: Vec<f32>,
    below: Vec<f32>,
    /// Entry elements consumed.
    elements: u64,
}

impl Level {
    fn new(stacks: usize) -> Self {
        Self {
            lo: vec![0; stacks],
            hi: vec![0; stacks],
            pushed: vec![0.0; stacks],
            below: vec![0.0; stacks],
            elements: 0,
        }
    }
}

/// The policy's state.
#[derive(Clone, Debug)]
pub(super) struct Policy<'a> {
    plan: &'a Plan,
    capacities: &'a [u64],
    shape: Shape,
    level: usize,
    /// How many levels the run is expected to have.
    expected: u32,
    levels: Vec<Level>,
    top: Vec<u32>,
    average: Vec<u32>,
    /// Elements that a run may take: few after one that found no room for any.
    most: u32,
    moves: Option<Vec<u32>>,
    full: Option<u32>,
    /// How many levels there may be.
    most_levels: usize,
    deep: bool,
    peak: Vec<u32>,
    consumed: Vec<u64>,
}

impl<'a> Policy<'a> {
    /// A run of `roots` elements on one stack. `expected` is how many levels a run like this one reached, 0 if unknown; it may
    /// have `most_levels`.
    pub(super) fn new(
        plan: &'a Plan,
        capacities: &'a [u64],
        entry: u32,
        roots: u32,
        expected: u32,
        shape: Shape,
        most_levels: u32,
    ) -> Self {
        let stacks = plan.stacks.len();
        let mut top = vec![0; stacks];
        top[entry as usize] = roots;
        Self {
            plan,
            capacities,
            shape,
            level: 0,
            expected,
            levels: vec![Level {
                hi: top.clone(),
                ..Level::new(stacks)
            }],
            peak: top.clone(),
            top,
            average: vec![0; plan.sources.len()],
            most: u32::MAX,
            moves: None,
            full: None,
            most_levels: most_levels as usize,
            deep: false,
            consumed: vec![0; plan.sources.len()],
        }
    }

    fn now(&mut self) -> &mut Level {
        &mut self.levels[self.level]
    }

    /// What a run left over stands in its channel again.
    fn put_back(&mut self, run: &Run, done: &Done, number: u32) {
        let source = &self.plan.sources[run.source];
        let stack = source.stack as usize;
        let taken = run.count - done.left;
        if done.left > 0 {
            let now = self.now();
            if now.lo[stack] == run.first {
                now.lo[stack] = done.bottom;
            }
            now.hi[stack] = done.bottom + done.left;
            if !source.is_entry() {
                self.top[stack] = done.bottom + done.left;
            }
        }
        self.most = if taken > 0 {
            u32::MAX
        } else {
            (run.count / RETRY).max(1)
        };
        if taken == 0 && run.count == 1 {
            self.full = source
                .pushes
                .iter()
                .rfind(|p| p.max.is_none())
                .map(|p| p.stack);
        }
        self.consumed[run.source] += u64::from(taken);
        if source.is_entry() {
            self.now().elements += u64::from(taken);
        }
        if done.moves > 0 {
            let moves = Run {
                source: self.plan.sources.len(),
                level: done.moves,
                base: vec![source.stack],
                room: vec![source.tile(self.shape.block)],
                ..*run
            };
            self.moves = Some(moves.words(self.plan, number));
        }
    }

    /// Whether that can have come of a run: no more was pushed than there was room for, and what was not consumed lies where the level still is.
    pub(super) fn fits(&self, run: &Run, done: &Done) -> Result<(), String> {
        let source = &self.plan.sources[run.source];
        for (push, room) in source.pushes.iter().zip(&run.room) {
            let mut units = done.counters[push.group as usize];
            if source.gives_back() && push.max.is_none() {
                units = units.min(done.limit);
            }
            if u64::from(units) * u64::from(push.ratio) > u64::from(*room) {
                return Err(format!("{units} units find no room in {room}"));
            }
        }
        if done.left == 0 {
            return Ok(());
        }
        let low = self.levels[self.level].lo[source.stack as usize];
        let inside = done.bottom >= run.first && done.bottom + done.left <= run.first + run.count;
        // What lies between elements that wait is waiting too.
        if !inside || (done.bottom > run.first && low < run.first) {
            return Err(format!(
                "{} elements from {} on are left of {} from {} on, in a level that begins at {low}",
                done.left, done.bottom, run.count, run.first
            ));
        }
        Ok(())
    }

    /// Takes in what a run did. `number` is that of the next dispatch.
    pub(super) fn take(&mut self, run: &Run, done: &Done, number: u32) {
        self.put_back(run, done, number);
        let source = &self.plan.sources[run.source];
        let taken = run.count - done.left;
        let mut opened = Vec::new();
        for (i, push) in source.pushes.iter().enumerate() {
            let stack = push.stack as usize;
            let mut units = done.counters[push.group as usize];
            if source.gives_back() && push.max.is_none() {
                units = units.min(done.limit);
            }
            let pushed = units * push.ratio;
            if !self.is_entry(stack) {
                self.top[stack] += pushed;
            } else if pushed > 0 {
                self.top[stack] = run.base[i] + pushed;
                opened.push((stack, run.base[i]));
            }
            self.now().pushed[stack] += pushed as f32;
            self.peak[stack] = self.peak[stack].max(self.top[stack]);
            if push.max.is_none() && taken > 0 {
                self.average[run.source] = self.average[run.source].max(pushed.div_ceil(taken));
            }
        }
        for s in 0..self.top.len() {
            if !self.is_entry(s) {
                self.levels[self.level].hi[s] = self.top[s];
            }
        }
        if opened.is_empty() {
            self.top.clone_from(&self.levels[self.level].hi);
            return;
        }
        if self.level + 1 >= self.most_levels {
            self.deep = true;
            return;
        }
        self.level += 1;
        if self.levels.len() == self.level {
            self.levels.push(Level::new(self.top.len()));
        }
        let (lo, hi) = (self.top.clone(), self.top.clone());
        let now = self.now();
        (now.lo, now.hi) = (lo, hi);
        for (stack, base) in opened {
            now.lo[stack] = base;
        }
        self.expected = self.expected.max(self.level as u32 + 1);
    }

    /// What comes next.
    pub(super) fn decide(&mut self) -> Decision {
        if self.deep {
            return Decision::Deep;
        }
        if let Some(stack) = self.full {
            return Decision::Full(stack);
        }
        if let Some(words) = self.moves.take() {
            return Decision::Move(words);
        }
        if !self.climb() {
            return Decision::Done;
        }
        let (mut best, mut blocked, share) = ([(0u32, 0usize); 2], 0, self.share());
        for s in 0..self.plan.sources.len() {
            let (count, by) = self.run_of(s, share);
            if self.have(s) > 0 && count == 0 {
                blocked = blocked.max(by);
            }
            let kind = usize::from(!self.plan.sources[s].is_entry());
            if count > best[kind].0 {
                best[kind] = (count, s);
            }
        }
        let [entry, other] = best;
        // Entries first, unless they are short of room and continuations are not.
        let entries = entry.0 != 0 && (entry.0 >= other.0 || entry.0 >= SMALL_SHARE);
        let (count, source) = if entries { entry } else { other };
        if count == 0 {
            Decision::Full(blocked)
        } else {
            Decision::Run(self.start(source, count))
        }
    }

    fn start(&mut self, source: usize, count: u32) -> Run {
        let from = &self.plan.sources[source];
        let stack = from.stack as usize;
        self.now().hi[stack] -= count;
        if !from.is_entry() {
            self.top[stack] -= count;
        }
        let base = from.pushes.iter().map(|p| self.base(p.stack)).collect();
        let room = from
            .pushes
            .iter()
            .map(|p| self.room(p.stack))
            .map(|r| if count > 1 { r - r / RESERVE } else { r })
            .collect();
        Run {
            source,
            level: self.level as u32,
            first: self.levels[self.level].hi[stack],
            count,
            base,
            room,
        }
    }

    fn is_entry(&self, stack: usize) -> bool {
        self.plan.stacks[stack].kind == StackKind::Entry
    }

    /// Where the next elements of a stack go. Neighbouring children are stored together, so that a level begins at a number that they divide.
    fn base(&self, stack: u32) -> u32 {
        let top = self.top[stack as usize];
        if self.is_entry(stack as usize) {
            top.next_multiple_of(NEIGHBOURS)
        } else {
            top
        }
    }

    fn room(&self, stack: u32) -> u32 {
        (self.capacities[stack as usize] as u32).saturating_sub(self.base(stack))
    }

    fn have(&self, source: usize) -> u32 {
        let (now, stack) = (
            &self.levels[self.level],
            self.plan.sources[source].stack as usize,
        );
        now.hi[stack] - now.lo[stack]
    }

    /// What was pushed to entry channels from this level. The order of the sum is that of the warp that decides on a device.
    fn children(&self) -> f32 {
        let pushed = &self.levels[self.level].pushed;
        let mut lanes = vec![0.0; (self.shape.warp as usize).min(pushed.len())];
        for s in (0..pushed.len()).filter(|s| self.is_entry(*s)) {
            lanes[s % self.shape.warp as usize] += pushed[s];
        }
        let mut step = 1;
        while step < lanes.len() {
            for l in (0..lanes.len() - step).step_by(2 * step) {
                lanes[l] += lanes[l + step];
            }
            step *= 2;
        }
        lanes[0]
    }

    /// Goes up to the deepest level that has work.
    fn climb(&mut self) -> bool {
        loop {
            let work = (0..self.plan.sources.len()).any(|s| self.have(s) > 0);
            for s in 0..self.top.len() {
                // Frames that no continuation of this level waits for are done.
                let now = &mut self.levels[self.level];
                if let Some(waiting) = self.plan.waiting(s)
                    && (s + 1..=s + waiting).all(|w| now.hi[w] == now.lo[w])
                {
                    now.hi[s] = now.lo[s];
                    self.top[s] = now.lo[s];
                }
            }
            if work || self.level == 0 {
                return work;
            }
            // In this order, as `narrow_up` has it: an estimate's last bit may decide on an element.
            let elements = self.now().elements.max(1) as f32;
            let children = self.children();
            let now = self.now();
            let need = now
                .pushed
                .iter()
                .zip(&now.below)
                .map(|(pushed, below)| (pushed + children * below) / elements)
                .collect();
            self.level -= 1;
            self.now().below = need;
            self.top.clone_from(&self.levels[self.level].hi);
        }
    }

    /// How many elements of this level find room with all that they and everything below them push; all ones if that is not known.
    fn share(&self) -> u32 {
        let now = &self.levels[self.level];
        if now.elements == 0 {
            return u32::MAX;
        }
        let children = self.children();
        let mut share = 4e9f32;
        for s in 0..self.top.len() {
            let need = (now.pushed[s] + children * now.below[s]) / now.elements as f32;
            if need > 0.0 {
                share = share.min(FILL * (self.capacities[s] as u32 - self.top[s]) as f32 / need);
            }
        }
        share as u32
    }

    /// How many elements of a source may run now, and which stack bounds that.
    fn run_of(&self, source: usize, share: u32) -> (u32, u32) {
        let (from, have, now) = (
            &self.plan.sources[source],
            self.have(source),
            &self.levels[self.level],
        );
        let (mut room, mut blocked) = (u32::MAX, 0);
        for push in &from.pushes {
            // Something is left for the levels below, whatever the estimates say.
            let left = self.room(push.stack) - self.room(push.stack) / RESERVE;
            let fit = match push.max {
                Some(max) => left / max,
                // What finds no room is given back.
                None if from.gives_back() && now.elements > 0 => {
                    (left as f32
                        / (now.pushed[push.stack as usize] / now.elements as f32).max(LEAST_PUSHED))
                        as u32
                }
                None if self.average[source] > 0 => left / (2 * self.average[source]),
                None => {
                    left / if from.gives_back() {
                        GUESS_YIELDS
                    } else {
                        GUESS
                    }
                }
            };
            let fit = if push.max.is_none() {
                fit.max(u32::from(left > 0))
            } else {
                fit
            };
            if fit < room {
                (room, blocked) = (fit, push.stack);
            }
        }
        if room == u32::MAX || have == 0 {
            return (have, blocked);
        }
        let level = self.level as u32;
        let unknown = room
            / if self.expected > level + 1 {
                self.expected - level
            } else {
                GUESS_LEVELS
            };
        let share = if share == u32::MAX { unknown } else { share };
        // However little it is, the levels below find room too.
        let small = (room / RESERVE + u32::from(room < RESERVE)).min(SMALL_SHARE);
        let run = room.min(share.max(small)).min(self.most);
        // Only a run that goes down to the last element may have a tile that is not full.
        let run = if run >= have {
            have
        } else if from.gives_back() && run > from.tile(self.shape.block) {
            run / from.tile(self.shape.block) * from.tile(self.shape.block)
        } else {
            run
        };
        (run, blocked)
    }

    /// Whether a kernel can take it up: nothing is to be moved, and nothing is full.
    pub(super) const fn rests(&self) -> bool {
        self.moves.is_none() && self.full.is_none() && !self.deep
    }

    /// How far the run is, as the kernel takes it up: an [`abi::Standing`].
    pub(super) fn standing(&self) -> Vec<u32> {
        let at = Standing::new(self.plan);
        let mut words = at.zeroed();
        at.consumed.fill(&mut words, &self.consumed);
        at.level.set(&mut words, self.level as u32);
        at.reached.set(&mut words, self.levels.len() as u32);
        at.expected.set(&mut words, self.expected);
        at.most.set(&mut words, self.most);
        at.top.fill(&mut words, &self.top);
        at.peak.fill(&mut words, &self.peak);
        at.average.fill(&mut words, &self.average);
        words
    }

    /// What is known of a level, as the kernel takes it up: an [`abi::Level`]. None of a level that was not reached.
    pub(super) fn record(&self, level: usize) -> Option<Vec<u32>> {
        let (level, at) = (self.levels.get(level)?, abi::Level::new(self.plan));
        let mut words = at.zeroed();
        at.lo.fill(&mut words, &level.lo);
        at.hi.fill(&mut words, &level.hi);
        at.pushed.fill(&mut words, &level.pushed);
        at.below.fill(&mut words, &level.below);
        at.elements.set(&mut words, level.elements);
        Some(words)
    }

    /// Levels that a [`standing`](Self::standing) has records of.
    pub(super) fn reached(plan: &Plan, standing: &[u32]) -> usize {
        Standing::new(plan).reached.get(standing) as usize
    }

    /// Takes up what a kernel left: its standing, and the records of all levels, one behind another.
    pub(super) fn resume(&mut self, standing: &[u32], records: &[u32]) {
        let (at, of) = (Standing::new(self.plan), abi::Level::new(self.plan));
        self.consumed = at.consumed.all(standing);
        self.level = at.level.get(standing) as usize;
        self.expected = at.expected.get(standing);
        self.most = at.most.get(standing);
        self.top = at.top.all(standing);
        self.peak = at.peak.all(standing);
        self.average = at.average.all(standing);
        let level = |words: &[u32]| Level {
            lo: of.lo.all(words),
            hi: of.hi.all(words),
            pushed: of.pushed.all(words),
            below: of.below.all(words),
            elements: of.elements.get(words),
        };
        self.levels = records.chunks_exact(of.words()).map(level).collect();
    }

    /// How many levels the run has reached.
    pub(super) const fn levels(&self) -> u32 {
        self.expected
    }

    /// The level it is at.
    pub(super) const fn level(&self) -> u32 {
        self.level as u32
    }

    /// Most elements at once, by stack.
    pub(super) fn peak(&self) -> &[u32] {
        &self.peak
    }

    /// Elements consumed, by source.
    pub(super) fn consumed(&self) -> &[u64] {
        &self.consumed
    }

    /// Entry elements consumed, by level.
    pub(super) fn elements(&self) -> Vec<u64> {
        self.levels.iter().map(|l| l.elements).collect()
    }
}
