//! How many lanes of a wavefront would go the same way: what branches and loops of different lengths leave of it.
//!
//! Tasks of one kind and level are one wavefront after another, in the order of the serial run, which is that in which they are pushed; each part between two
//! syncs is a wavefront of its own, and a sync that waits for nothing is none. Its lanes go together wherever they can: the k-th turn through a block is one for all lanes that come through it k
//! times. A machine that joins lanes later has fewer of them active.

use crate::ir::{BlockId, FuncId, Program};
use std::collections::BTreeMap;

/// A block, among those of all functions.
type Place = usize;
/// Where elements wait for others of their kind: the level, the task, and the block that the part of it begins with.
type Kind = (usize, FuncId, BlockId);

/// Steps of wavefronts by the lanes that take them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lanes {
    /// Whether tasks that spawn nothing are in no wavefront, as where they end when they are spawned.
    leaves_apart: bool,
    /// The first block of each function.
    firsts: Vec<Place>,
    /// Steps of each block.
    steps: Vec<u64>,
    /// Tasks that have not ended.
    running: Vec<Part>,
    waves: BTreeMap<Kind, Wave>,
    /// By the number of lanes, from 1.
    active: Vec<u64>,
    /// Steps times the lanes that are there, active or not.
    there: u64,
}

/// What a task did since it began, or since its last sync.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Part {
    func: FuncId,
    begin: BlockId,
    spawned: bool,
    /// How often it came through each block.
    turns: BTreeMap<Place, u64>,
}

/// Lanes that wait for others to make a full wavefront.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Wave {
    lanes: usize,
    turns: BTreeMap<Place, Vec<u64>>,
}

impl Lanes {
    pub(super) fn new(program: &Program, lanes: usize, leaves_apart: bool) -> Self {
        let (mut firsts, mut steps) = (Vec::new(), Vec::new());
        for function in &program.functions {
            firsts.push(steps.len());
            let blocks = function.blocks.iter();
            steps.extend(blocks.map(|block| block.stmts.len() as u64 + 1));
        }
        Self {
            leaves_apart,
            firsts,
            steps,
            running: Vec::new(),
            waves: BTreeMap::new(),
            active: vec![0; lanes],
            there: 0,
        }
    }

    /// A task begins.
    pub(super) fn task(&mut self, func: FuncId) {
        if let Some(parent) = self.running.last_mut() {
            parent.spawned = true;
        }
        self.running.push(Part::new(func, BlockId(0)));
    }

    /// A block begins, of the innermost task or of what it calls.
    pub(super) fn block(&mut self, func: FuncId, block: BlockId) {
        if let Some(part) = self.running.last_mut() {
            let place = self.firsts[func.index()] + block.index();
            *part.turns.entry(place).or_default() += 1;
        }
    }

    /// The innermost task waits, and goes on with that block: at once, if it has spawned nothing.
    pub(super) fn sync(&mut self, next: BlockId) {
        let level = self.running.len();
        if let Some(part) = self.running.last_mut().filter(|p| p.spawned) {
            let next = Part::new(part.func, next);
            let ended = std::mem::replace(part, next);
            self.arrive(level, ended);
        }
    }

    /// The innermost task ends.
    pub(super) fn end(&mut self) {
        let level = self.running.len();
        if let Some(ended) = self.running.pop() {
            let is_leaf = ended.begin == BlockId(0) && !ended.spawned;
            if !(is_leaf && self.leaves_apart) {
                self.arrive(level, ended);
            }
        }
    }

    fn arrive(&mut self, level: usize, part: Part) {
        let kind = (level, part.func, part.begin);
        let wave = self.waves.entry(kind).or_default();
        wave.lanes += 1;
        for (place, turns) in part.turns {
            wave.turns.entry(place).or_default().push(turns);
        }
        if wave.lanes == self.active.len() {
            let full = std::mem::take(wave);
            self.run(full);
        }
    }

    fn run(&mut self, wave: Wave) {
        for (place, mut turns) in wave.turns {
            turns.sort_unstable_by_key(|t| std::cmp::Reverse(*t));
            self.there += self.steps[place] * turns[0] * wave.lanes as u64;
            turns.push(0);
            for (lanes, pair) in turns.windows(2).enumerate() {
                self.active[lanes] += self.steps[place] * (pair[0] - pair[1]);
            }
        }
    }

    /// Those that still wait for others run as they are.
    pub(super) fn done(mut self) -> Self {
        for wave in std::mem::take(&mut self.waves).into_values() {
            self.run(wave);
        }
        self
    }

    /// Steps of wavefronts that so many lanes took: the first is of those of one.
    #[must_use]
    pub fn by_active(&self) -> &[u64] {
        &self.active
    }

    /// Of all lanes, how many took a step, as a mean over the steps of wavefronts; from 0 to 1.
    #[must_use]
    pub fn share_of_all(&self) -> f64 {
        let steps: u64 = self.active.iter().sum();
        self.taken() as f64 / (steps * self.active.len() as u64).max(1) as f64
    }

    /// The same of those that have an element: what branches and loops alone leave.
    #[must_use]
    pub fn share_of_those_there(&self) -> f64 {
        self.taken() as f64 / self.there.max(1) as f64
    }

    fn taken(&self) -> u64 {
        (1..).zip(&self.active).map(|(n, steps)| n * steps).sum()
    }
}

impl Part {
    const fn new(func: FuncId, begin: BlockId) -> Self {
        Self {
            func,
            begin,
            spawned: false,
            turns: BTreeMap::new(),
        }
    }
}
