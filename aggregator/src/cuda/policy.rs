//! The levelized policy: which run of elements comes next. This is its specification, and what the host thread decides by. The persistent
//! kernel has it in `device/policy.cu`, for a warp, and once more for narrow levels in `device/levels.cu`; what they decide is compared with
//! this one by one ([`records`](super::records)). The numbers lie in `rules`.

mod join;
mod roots;

use super::{
    decision::{Decision, Done, Run},
    levels::{Levels, Room},
};
use crate::{leaving::Lay, live::SoFar};
use millstream_channels_kernel::cuda::{
    abi::Standing,
    plan::{Plan, Shape, Source, SourcePush, StackKind},
    rules::{
        FILL, GUESS, GUESS_LEVELS, GUESS_YIELDS, LEAST_PUSHED, NEIGHBOURS, RESERVE, RETRY,
        SMALL_SHARE,
    },
};

/// The policy's state.
#[derive(Clone, Debug)]
pub(super) struct Policy<'a> {
    plan: &'a Plan,
    capacities: &'a [u64],
    shape: Shape,
    /// How many levels the run is expected to have.
    expected: u32,
    levels: Levels,
    average: Vec<u32>,
    /// Elements that a run may take: few after one that found no room for any.
    most: u32,
    moves: Option<Vec<u32>>,
    full: Option<u32>,
    deep: bool,
    peak: Vec<u32>,
    consumed: Vec<u64>,
    /// Elements that wait to be run.
    alive: u64,
}

impl<'a> Policy<'a> {
    /// A run of `roots` elements on one stack. `expected` is how many levels a run like this one reached, 0 if unknown.
    pub(super) fn new(
        plan: &'a Plan,
        capacities: &'a [u64],
        entry: u32,
        roots: u32,
        expected: u32,
        shape: Shape,
        room: Room,
    ) -> Self {
        let stacks = plan.stacks.len();
        let mut top = vec![0; stacks];
        top[entry as usize] = roots;
        Self {
            plan,
            capacities,
            shape,
            expected,
            peak: top.clone(),
            levels: Levels::new(plan, top, room),
            average: vec![0; plan.sources.len()],
            most: u32::MAX,
            moves: None,
            full: None,
            deep: false,
            consumed: vec![0; plan.sources.len()],
            alive: roots.into(),
        }
    }

    /// The same, with room for any number of marks: who decides on a device looks for room now and then only.
    pub(super) const fn unbounded(mut self) -> Self {
        self.levels.unbounded();
        self
    }

    /// What a run left over stands in its channel again.
    fn put_back(&mut self, run: &Run, done: &Done, number: u32) {
        let source = &self.plan.sources[run.source];
        let stack = source.stack as usize;
        let taken = run.count - done.left;
        if done.left > 0 {
            let now = &mut self.levels;
            // One element that was the first.
            let ordered = now.lo[stack] > run.first;
            if ordered || now.lo[stack] == run.first {
                now.lo[stack] = done.bottom;
            }
            if !ordered {
                now.hi[stack] = done.bottom + done.left;
            }
            if !source.is_entry() {
                now.top[stack] = done.bottom + done.left;
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
        if let Some(known) = self.levels.now_mut()
            && source.is_entry()
        {
            known.elements += u64::from(taken);
        }
        if done.moves > 0 {
            let moves = Run {
                source: self.plan.sources.len(),
                level: done.moves,
                base: vec![source.stack],
                room: vec![source.tile(self.shape)],
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
        let low = self.levels.lo[source.stack as usize];
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
        self.alive = self.alive.saturating_sub(taken.into());
        for (i, push) in source.pushes.iter().enumerate() {
            let stack = push.stack as usize;
            let pushed = done.pushed(source, push);
            if self.plan.stacks[stack].kind != StackKind::Frame {
                self.alive += u64::from(pushed);
            }
            let mut top = self.levels.top[stack] + pushed;
            if !self.levels.is_entry(stack) {
                self.levels.top[stack] = top;
            } else if pushed > 0 {
                self.levels.born(stack, run.base[i], pushed);
                top = self.levels.top[stack];
            }
            if let Some(known) = self.levels.now_mut() {
                known.pushed[stack] += pushed as f32;
            }
            self.peak[stack] = self.peak[stack].max(top);
            if push.max.is_none() && taken > 0 {
                self.average[run.source] = self.average[run.source].max(pushed.div_ceil(taken));
            }
        }
        for s in 0..self.plan.stacks.len() {
            if !self.levels.is_entry(s) {
                self.levels.hi[s] = self.levels.top[s];
            }
        }
        self.levels.settle();
        self.levels.sink();
        if self.levels.is_pending() && (self.have(run.source) > 0 || !self.others_join()) {
            self.down();
        }
    }

    /// Goes down to the children.
    fn down(&mut self) {
        self.deep = !self.levels.down();
        self.expected = self.expected.max(self.levels.level() + 1);
    }

    /// Takes in that what was to be moved has been, by whoever decided.
    pub(super) fn moved(&mut self) {
        self.moves = None;
    }

    /// What comes next.
    pub(super) fn decide(&mut self) -> Decision {
        if let Some((source, count)) = self.join() {
            return Decision::Run(self.start(source, count));
        }
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
        let (mut best, mut blocked, share) = ([(0u32, false, 0usize); 2], 0, self.share());
        let mut alone = false;
        for s in 0..self.plan.sources.len() {
            let (have, is_entry) = (self.have(s), self.plan.sources[s].is_entry());
            let (mut count, by) = self.run_of(s, share);
            let shares = count > 0;
            if have > 0 && count == 0 {
                count = u32::from(self.one_fits(s));
                alone |= count == 1 && is_entry;
            }
            if have > 0 && count == 0 {
                blocked = blocked.max(by);
            }
            // What takes nothing of the promised room goes before what does.
            let kind = usize::from(!is_entry);
            if (count, shares) > (best[kind].0, best[kind].1) {
                best[kind] = (count, shares, s);
            }
        }
        let [entry, other] = best;
        // Entries first, unless they are short of room, or fewer than continuations are; or if one would be the second that is under way by itself.
        let second = alone && entry.0 == 1 && other.0 > 0;
        let short = entry.0 < self.have(entry.2) || entry.0 < other.0;
        let waits = other.0 > 0 && entry.0 < SMALL_SHARE && short;
        let entries = entry.0 != 0 && !second && !waits;
        let (count, _, source) = if entries { entry } else { other };
        if count == 0 {
            Decision::Full(blocked)
        } else {
            Decision::Run(self.start(source, count))
        }
    }

    fn start(&mut self, source: usize, count: u32) -> Run {
        let from = &self.plan.sources[source];
        let stack = from.stack as usize;
        let first = if self.in_order(from, count) {
            self.levels.lo[stack] += count;
            self.levels.lo[stack] - count
        } else {
            self.levels.hi[stack] -= count;
            self.levels.hi[stack]
        };
        if !from.is_entry() {
            self.levels.top[stack] -= count;
        }
        let place = |p: &SourcePush| {
            if p.stack == from.stack
                && let Some(gap) = self.gap(from, count)
            {
                return gap;
            }
            let room = if count > 1 {
                let room = self.room(p.stack);
                room - room / RESERVE
            } else if p.turn > 0 {
                // It goes on later, so that half is for the levels below.
                (self.room(p.stack) / 2).max(p.turn)
            } else {
                self.all_room(p.stack)
            };
            (self.base(p.stack), room)
        };
        let (base, room) = from.pushes.iter().map(place).unzip();
        Run {
            source,
            level: self.levels.level(),
            first,
            count,
            base,
            room,
        }
    }

    /// Whether a run takes the first element of its level, which was spawned first, and not the last ones: one by one they run in order. Of several the last
    /// ones go, so that their places are free for what comes of the others.
    fn in_order(&self, from: &Source, count: u32) -> bool {
        from.is_entry() && count == 1 && self.levels.have(from.stack as usize) > 1
    }

    /// Where the next elements of a stack go. Neighbouring children are stored together, so that a level begins at a number that they divide; those of a
    /// level lie one behind another.
    fn base(&self, stack: u32) -> u32 {
        let top = self.levels.top[stack as usize];
        if self.levels.is_entry(stack as usize) && self.levels.young[stack as usize] == 0 {
            top.next_multiple_of(NEIGHBOURS)
        } else {
            top
        }
    }

    /// Below an entry run of all that its level has there are free places, those of the level before last: where children of the same channel go if all of
    /// them find room, so that a chain does not climb. Where they begin, and how many.
    fn gap(&self, from: &Source, count: u32) -> Option<(u32, u32)> {
        let stack = from.stack as usize;
        let (first, low) = (
            self.levels.hi[stack],
            self.levels.floor[stack].next_multiple_of(NEIGHBOURS),
        );
        let (whole, most) = (self.levels.lo[stack] == first, u64::from(from.most()));
        let fits = u64::from(low) + u64::from(count) * most <= u64::from(first);
        let free = whole && self.levels.young[stack] == 0;
        (from.is_entry() && free && most > 0 && fits).then(|| (low, first - low))
    }

    /// What a stack holds where several elements run at a time.
    fn wide(&self, stack: usize) -> u32 {
        self.plan.stacks[stack].wide(self.capacities[stack]) as u32
    }

    /// How many more it holds, where several run.
    fn room(&self, stack: u32) -> u32 {
        self.wide(stack as usize).saturating_sub(self.base(stack))
    }

    /// How many more it holds for one that runs alone.
    fn all_room(&self, stack: u32) -> u32 {
        (self.capacities[stack as usize] as u32).saturating_sub(self.base(stack))
    }

    /// Whether an element of a source finds room that runs alone.
    fn one_fits(&self, source: usize) -> bool {
        let mut pushes = self.plan.sources[source].pushes.iter();
        pushes.all(|p| p.max.unwrap_or(p.turn.max(1)) <= self.all_room(p.stack))
    }

    /// Elements that a source has at this level, beside those that run.
    pub(super) fn have(&self, source: usize) -> u32 {
        self.levels.have(self.plan.sources[source].stack as usize)
    }

    /// What was pushed to entry channels from this level. The order of the sum is that of the warp that decides on a device.
    fn children(&self) -> f32 {
        let pushed = &self.levels.now().pushed;
        let mut lanes = vec![0.0; (self.shape.warp as usize).min(pushed.len())];
        for s in (0..pushed.len()).filter(|s| self.levels.is_entry(*s)) {
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
            for s in 0..self.plan.stacks.len() {
                // Frames that no continuation of this level waits for are done.
                let now = &mut self.levels;
                if let Some(waiting) = self.plan.waiting(s)
                    && (s + 1..=s + waiting).all(|w| now.have(w) == 0)
                {
                    now.hi[s] = now.lo[s];
                    now.top[s] = now.lo[s];
                }
            }
            if work || self.levels.level() == 0 {
                return work;
            }
            // In this order, as `narrow_up` has it: an estimate's last bit may decide on an element.
            let children = self.children();
            let now = self.levels.now();
            let elements = now.elements.max(1) as f32;
            let need = now
                .pushed
                .iter()
                .zip(&now.below)
                .map(|(pushed, below)| (pushed + children * below) / elements)
                .collect();
            self.levels.up(need);
        }
    }

    /// How many elements of this level find room with all that they and everything below them push; all ones if that is not known.
    fn share(&self) -> u32 {
        let now = self.levels.now();
        // Of a level whose children have not begun nothing is known of what lies below.
        let first = self.levels.is_pending() && self.levels.reached() == self.levels.level() + 1;
        if now.elements == 0 || first {
            return u32::MAX;
        }
        let children = self.children();
        let young = self.levels.young.iter().sum::<u32>() as f32;
        let mut share = 4e9f32;
        for s in 0..self.plan.stacks.len() {
            let need = (now.pushed[s] + children * now.below[s]) / now.elements as f32;
            if need > 0.0 {
                // What children push that wait already, and all below them, has its room too.
                let room = self.wide(s).saturating_sub(self.levels.top[s]) as f32;
                share = share.min((FILL * room - young * now.below[s]).max(0.0) / need);
            }
        }
        share as u32
    }

    /// How many elements of a source may run now, and which stack bounds that.
    fn run_of(&self, source: usize, share: u32) -> (u32, u32) {
        let (from, have, now) = (
            &self.plan.sources[source],
            self.have(source),
            self.levels.now(),
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
                // Who finds no room at a restart point waits there. And so many that one at least gets on.
                None if push.turn > 0 && now.elements > 0 => {
                    let each = now.pushed[push.stack as usize] / now.elements as f32;
                    (left as f32 / (2.0 * each.max(push.turn as f32))) as u32
                }
                None if self.average[source] > 0 => {
                    left / (2 * self.average[source].max(push.turn))
                }
                None => {
                    left / if from.gives_back() {
                        GUESS_YIELDS
                    } else {
                        GUESS.max(2 * push.turn)
                    }
                }
            };
            let fit = if push.max.is_none() {
                fit.max(u32::from(left >= push.turn.max(1)))
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
        let level = self.levels.level();
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
        let tile = match from.gives_back() && run > from.tile(self.shape) {
            true => from.tile(self.shape),
            false => 1,
        };
        (even(have, run, tile), blocked)
    }

    /// Whether a kernel can take it up: nothing is to be moved, and nothing is full.
    pub(super) const fn rests(&self) -> bool {
        self.moves.is_none() && self.full.is_none() && !self.deep
    }

    /// How many marks there are of what waits above.
    pub(super) const fn marks(&self) -> usize {
        self.levels.marks()
    }

    /// How far the run is, as the kernel takes it up: a [`Standing`].
    pub(super) fn standing(&self) -> Vec<u32> {
        let at = Standing::new(self.plan);
        let mut words = at.zeroed();
        at.consumed.fill(&mut words, &self.consumed);
        at.expected.set(&mut words, self.expected);
        at.most.set(&mut words, self.most);
        at.begun.set(&mut words, self.has_begun().into());
        at.peak.fill(&mut words, &self.peak);
        at.average.fill(&mut words, &self.average);
        self.levels.tell(&at, &mut words);
        words
    }

    /// Whether anything has run.
    pub(super) fn has_begun(&self) -> bool {
        self.reached() > 1 || self.consumed.iter().any(|n| *n > 0)
    }

    /// What is known of the first levels, as the kernel takes it up.
    pub(super) fn records(&self) -> Vec<u32> {
        self.levels.records(self.plan)
    }

    /// The marks that the kernel does not have, and how many it has. It has all of them from now on.
    pub(super) fn news(&mut self) -> (usize, Vec<u32>) {
        self.levels.news()
    }

    /// Takes up what a kernel left: its standing, the records of the first levels, one behind another, and the marks that are not as they were.
    pub(super) fn resume(&mut self, standing: &[u32], records: &[u32], marks: &[u32]) {
        let at = Standing::new(self.plan);
        self.consumed = at.consumed.all(standing);
        self.expected = at.expected.get(standing);
        self.most = at.most.get(standing);
        self.peak = at.peak.all(standing);
        self.average = at.average.all(standing);
        self.levels.resume(self.plan, standing, records, marks);
        let waiting = self.levels.waiting().into_iter().zip(&self.plan.stacks);
        let waiting = waiting.filter(|(_, stack)| stack.kind != StackKind::Frame);
        self.alive = waiting.map(|(lay, _)| lay.elements).sum();
    }

    /// What waits in each stack.
    pub(super) fn waiting(&self) -> Vec<Lay> {
        self.levels.waiting()
    }

    /// How far the run is, for who watches: elements that ran, levels, bytes, elements that wait.
    pub(super) fn so_far(&self, bytes: &[u64]) -> SoFar {
        let ran = self.plan.sources.iter().zip(&self.consumed);
        let lies = self.levels.top.iter().zip(bytes);
        SoFar {
            tasks: ran.filter(|r| r.0.is_entry()).map(|r| r.1).sum(),
            levels: self.reached().into(),
            bytes: lies.map(|(&top, bytes)| u64::from(top) * bytes).sum(),
            alive: Some(self.alive),
            ..SoFar::default()
        }
    }

    /// How many levels a run like this one is expected to have.
    pub(super) const fn expected(&self) -> u32 {
        self.expected
    }

    /// How many levels the run has reached.
    pub(super) const fn reached(&self) -> u32 {
        self.levels.reached()
    }

    /// The level it is at.
    pub(super) const fn level(&self) -> u32 {
        self.levels.level()
    }

    /// Most elements at once, by stack.
    pub(super) fn peak(&self) -> &[u32] {
        &self.peak
    }

    /// Elements consumed, by source.
    pub(super) fn consumed(&self) -> &[u64] {
        &self.consumed
    }

    /// Entry elements consumed, by level: of the first ones.
    pub(super) fn elements(&self) -> Vec<u64> {
        self.levels.elements()
    }
}

/// Of elements that do not all find room at once as many are run each time, in whole tiles: what would be left for last is few elements, and so is all that comes of
/// them, level by level.
fn even(have: u32, most: u32, tile: u32) -> u32 {
    if have <= most || most == 0 {
        return have.min(most);
    }
    let runs = have.div_ceil(most / tile * tile);
    have.div_ceil(runs).next_multiple_of(tile)
}

#[cfg(test)]
mod tests {
    use super::even;

    #[test]
    fn runs_of_a_level_that_finds_no_room_at_once_are_as_large() {
        let all = |mut have, most, tile| {
            let mut runs = Vec::new();
            while have > 0 {
                let run = even(have, most, tile);
                runs.push(run);
                have -= run;
            }
            runs
        };
        assert_eq!(even(7, 0, 1), 0);
        assert_eq!(all(7, 9, 1), [7]);
        assert_eq!(all(10, 9, 1), [5, 5]);
        assert_eq!(all(100, 33, 1), [25; 4]);
        assert_eq!(all(100, 64, 32), [64, 36]);
        assert_eq!(all(300, 290, 64), [192, 108]);
        assert_eq!(all(300, 300, 64), [300]);
        assert_eq!(all(300, 128, 64), [128, 128, 44]);
        for have in 1..400 {
            for most in 32..400 {
                let run = even(have, most, 32);
                assert!(run <= most && (run == have || run.is_multiple_of(32)));
            }
        }
    }
}
