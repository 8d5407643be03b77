//! The levels of a run: where the elements lie of the one that it is at, what waits at those above, and what is known of the first ones.
//!
//! A level with nothing that waits takes no memory, and one with a frame and its continuation two marks; so a run may be as deep as its frames find room.

use crate::leaving::Lay;
use millstream_channels_kernel::cuda::{
    abi::{self, Mark, Standing},
    plan::{Plan, StackKind},
    rules::most_levels,
};

/// What is known of a level.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Known {
    /// What was pushed to each stack from this level, and what an element of the next level and all below it pushed.
    pub(super) pushed: Vec<f32>,
    pub(super) below: Vec<f32>,
    /// Entry elements consumed.
    pub(super) elements: u64,
}

impl Known {
    fn nothing(stacks: usize) -> Self {
        Self {
            pushed: vec![0.0; stacks],
            below: vec![0.0; stacks],
            elements: 0,
        }
    }
}

/// How much there may be to remember.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Room {
    /// Levels of which something is known: the first ones.
    pub(super) known: u32,
    /// Marks of what waits.
    pub(super) marks: u32,
}

/// What a mark says: where what waits at a level in a stack begins, where it ends, and where what waits above ends, if that is not where it begins.
const BEGIN: u32 = 0;
const END: u32 = 1;
const FLOOR: u32 = 2;
const KINDS: u32 = 3;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Levels {
    is_entry: Vec<bool>,
    room: Room,
    /// The level that the run is at, and how many it reached.
    level: u32,
    reached: u32,
    /// For each stack: where this level's elements begin and end. Where there are none, both are `floor`.
    pub(super) lo: Vec<u32>,
    pub(super) hi: Vec<u32>,
    /// Where the elements end that wait above. Below an entry run of all that the level has there may be free places from here on.
    pub(super) floor: Vec<u32>,
    /// Where the elements of all levels end.
    pub(super) top: Vec<u32>,
    /// So many of the last ones are of the next level, which has not begun: this level's runs pushed them.
    pub(super) young: Vec<u32>,
    marks: Vec<Mark>,
    /// So many marks are those that the kernel has.
    kept: usize,
    known: Vec<Known>,
    nothing: Known,
}

impl Levels {
    /// One level, with so many elements of each stack.
    pub(super) fn new(plan: &Plan, elements: Vec<u32>, room: Room) -> Self {
        let stacks = plan.stacks.len();
        Self {
            is_entry: plan
                .stacks
                .iter()
                .map(|s| s.kind == StackKind::Entry)
                .collect(),
            room,
            level: 0,
            reached: 1,
            lo: vec![0; stacks],
            hi: elements.clone(),
            floor: vec![0; stacks],
            top: elements,
            young: vec![0; stacks],
            marks: Vec::new(),
            kept: 0,
            known: vec![Known::nothing(stacks)],
            nothing: Known::nothing(stacks),
        }
    }

    pub(super) fn is_entry(&self, stack: usize) -> bool {
        self.is_entry[stack]
    }

    /// The level that the run is at.
    pub(super) const fn level(&self) -> u32 {
        self.level
    }

    /// How many levels it reached.
    pub(super) const fn reached(&self) -> u32 {
        self.reached
    }

    /// Elements of this level.
    pub(super) fn have(&self, stack: usize) -> u32 {
        self.hi[stack] - self.lo[stack]
    }

    /// What is known of this level; nothing, if it is not one of the first.
    pub(super) fn now(&self) -> &Known {
        self.known.get(self.level as usize).unwrap_or(&self.nothing)
    }

    /// The same, to be changed.
    pub(super) fn now_mut(&mut self) -> Option<&mut Known> {
        self.known.get_mut(self.level as usize)
    }

    /// Where nothing is left, what was consumed gives its space back.
    pub(super) fn settle(&mut self) {
        for s in 0..self.top.len() {
            if self.lo[s] == self.hi[s] {
                (self.lo[s], self.hi[s]) = (self.floor[s], self.floor[s]);
            }
        }
    }

    /// What was consumed is no more: what comes next lies above what waits, or behind the children that do.
    pub(super) fn sink(&mut self) {
        for s in 0..self.top.len() {
            if self.young[s] == 0 {
                self.top[s] = self.hi[s];
            }
        }
    }

    /// Takes in that children were pushed to an entry stack, behind those that were before.
    pub(super) fn born(&mut self, stack: usize, base: u32, count: u32) {
        self.young[stack] += count;
        self.top[stack] = base + count;
    }

    /// Whether children wait for their level to begin.
    pub(super) fn is_pending(&self) -> bool {
        self.young.iter().any(|n| *n > 0)
    }

    /// Goes down to the next level, which is the children. False if there is no room for another level.
    pub(super) fn down(&mut self) -> bool {
        for s in 0..self.top.len() {
            if self.have(s) > 0 {
                if self.is_entry[s] && self.floor[s] != self.lo[s] {
                    self.mark(s, FLOOR, self.floor[s]);
                }
                self.mark(s, BEGIN, self.lo[s]);
                if self.is_entry[s] {
                    self.mark(s, END, self.hi[s]);
                }
            }
        }
        for s in 0..self.top.len() {
            let (end, young) = (self.hi[s], std::mem::take(&mut self.young[s]));
            (self.lo[s], self.floor[s]) = (end, end);
            if young > 0 {
                (self.lo[s], self.hi[s]) = (self.top[s] - young, self.top[s]);
            }
        }
        self.sink();
        self.level += 1;
        self.reached = self.reached.max(self.level + 1);
        let stacks = self.top.len();
        if self.level < self.room.known && self.known.len() == self.level as usize {
            self.known.push(Known::nothing(stacks));
        }
        self.marks.len() <= self.room.marks as usize && self.level < most_levels(stacks)
    }

    fn mark(&mut self, stack: usize, kind: u32, at: u32) {
        let what = (self.level * KINDS + kind) * self.top.len() as u32 + stack as u32;
        self.marks.push(Mark { what, at });
    }

    /// Goes up to the level above, of which an element and all below it pushed so much to each stack.
    pub(super) fn up(&mut self, pushed: Vec<f32>) {
        self.level -= 1;
        if let Some(now) = self.now_mut() {
            now.below = pushed;
        }
        self.top.clone_from(&self.floor);
        self.lo.clone_from(&self.floor);
        self.hi.clone_from(&self.floor);
        let stacks = self.top.len() as u32;
        while let Some(mark) = self.marks.last()
            && mark.what / stacks / KINDS == self.level
        {
            let (s, at) = ((mark.what % stacks) as usize, mark.at);
            match mark.what / stacks % KINDS {
                BEGIN => (self.lo[s], self.hi[s], self.floor[s]) = (at, self.top[s], at),
                END => self.top[s] = at,
                _ => self.floor[s] = at,
            }
            self.marks.pop();
        }
        self.sink();
        self.kept = self.kept.min(self.marks.len());
    }

    /// Entry elements consumed, by level: of the first ones.
    pub(super) fn elements(&self) -> Vec<u64> {
        self.known.iter().map(|l| l.elements).collect()
    }

    /// What waits in each stack: how many elements, and the shallowest and the deepest level with some.
    pub(super) fn waiting(&self) -> Vec<Lay> {
        let stacks = self.top.len();
        let mut lay = vec![Lay::default(); stacks];
        // Of each stack the level and the beginning of what waits there, whose end is not known yet.
        let mut open: Vec<Option<(u64, u32)>> = vec![None; stacks];
        let close = |lay: &mut Lay, open: &mut Option<(u64, u32)>, end: u32| {
            if let Some((level, begin)) = open.take() {
                lay.add(level, u64::from(end.saturating_sub(begin)));
            }
        };
        for mark in &self.marks {
            let (s, what) = (mark.what as usize % stacks, mark.what / stacks as u32);
            if what % KINDS == FLOOR {
                continue;
            }
            // Frames and continuations end where those of the next level begin.
            close(&mut lay[s], &mut open[s], mark.at);
            if what % KINDS == BEGIN {
                open[s] = Some((u64::from(what / KINDS), mark.at));
            }
        }
        for s in 0..stacks {
            close(&mut lay[s], &mut open[s], self.lo[s]);
            lay[s].add(u64::from(self.level), u64::from(self.have(s)));
            lay[s].add(u64::from(self.level + 1), u64::from(self.young[s]));
        }
        lay
    }

    /// How many marks there are.
    pub(super) const fn marks(&self) -> usize {
        self.marks.len()
    }

    /// Forgets that there is not room for any number of marks.
    pub(super) const fn unbounded(&mut self) {
        self.room.marks = u32::MAX;
    }

    /// What a kernel is told of all this.
    pub(super) fn tell(&self, at: &Standing, words: &mut [u32]) {
        at.level.set(words, self.level);
        at.reached.set(words, self.reached);
        at.marks.set(words, self.marks.len() as u32);
        at.kept.set(words, self.marks.len() as u32);
        at.lo.fill(words, &self.lo);
        at.hi.fill(words, &self.hi);
        at.floor.fill(words, &self.floor);
        at.top.fill(words, &self.top);
        at.young.fill(words, &self.young);
    }

    /// The marks that the kernel does not have, and how many it has. It has all of them from now on.
    pub(super) fn news(&mut self) -> (usize, Vec<u32>) {
        let kept = std::mem::replace(&mut self.kept, self.marks.len());
        let words = |m: &Mark| [m.what, m.at];
        (kept, self.marks[kept..].iter().flat_map(words).collect())
    }

    /// What is known of the first levels, one behind another: an [`abi::Level`] each.
    pub(super) fn records(&self, plan: &Plan) -> Vec<u32> {
        let at = abi::Level::new(plan);
        let mut all = Vec::new();
        for known in &self.known {
            let mut words = at.zeroed();
            at.pushed.fill(&mut words, &known.pushed);
            at.below.fill(&mut words, &known.below);
            at.elements.set(&mut words, known.elements);
            all.extend(words);
        }
        all
    }

    /// Takes up what a kernel left: `standing`, the records of the first levels, and the marks that are not as they were.
    pub(super) fn resume(&mut self, plan: &Plan, standing: &[u32], records: &[u32], marks: &[u32]) {
        let (at, of) = (Standing::new(plan), abi::Level::new(plan));
        self.level = at.level.get(standing);
        self.reached = at.reached.get(standing);
        self.lo = at.lo.all(standing);
        self.hi = at.hi.all(standing);
        self.floor = at.floor.all(standing);
        self.top = at.top.all(standing);
        self.young = at.young.all(standing);
        let known = |words: &[u32]| Known {
            pushed: of.pushed.all(words),
            below: of.below.all(words),
            elements: of.elements.get(words),
        };
        self.known = records.chunks_exact(of.words()).map(known).collect();
        self.marks.truncate(at.kept.get(standing) as usize);
        let mark = |m: &[u32]| Mark {
            what: m[0],
            at: m[1],
        };
        self.marks.extend(marks.chunks_exact(2).map(mark));
        self.kept = self.marks.len();
    }
}
