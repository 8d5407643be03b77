//! What the policy says and what it is told: the words between it and whoever runs a dispatch.

use millstream_channels_kernel::cuda::{
    abi::{Dispatch, Mailbox},
    plan::{Plan, Source, SourcePush},
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
    /// How many elements one of the segment's pushes pushed.
    pub(super) fn pushed(&self, source: &Source, push: &SourcePush) -> u32 {
        let units = self.counters[push.group as usize];
        let units = if source.gives_back() && push.max.is_none() {
            units.min(self.limit)
        } else {
            units
        };
        units * push.ratio
    }

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

/// What came of a subtree dispatch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Worked {
    /// Elements consumed, by source.
    pub(super) ran: Vec<u64>,
    /// Roots that were taken: the first ones.
    pub(super) roots: u32,
    /// What workers left in entry channels: the stack, where it lies, and how many. Behind roots that nobody took, where there are some.
    pub(super) left: Vec<(usize, u32, u32)>,
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
