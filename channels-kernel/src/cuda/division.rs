//! How a run's memory is divided among its stacks: by *units*. A unit of a stack is what an element pushes to it at most, so that a level on which one
//! element runs by itself takes one of each, and as many levels find room as there are units. Everything grows with their number, and nothing else
//! depends on the budget: so a larger budget gives no stack less than a smaller one does.

use super::{
    plan::{Plan, StackKind},
    rules,
    stack::{FEW, Stack},
};
use millstream_graph::{ir::TaskId, levelized::StackRole};

/// Of so many levels each may have something that waits in the stacks of each task with a frame.
const MANY_LEVELS: u64 = 1 << 21;
/// Numbers of elements are 32 bits wide, and twice a number is to be one too.
const MOST_ELEMENTS: u64 = 0x7fff_ff00;

/// Of a run: what each number of units gives its stacks.
#[derive(Debug)]
pub struct Division<'a> {
    plan: &'a Plan,
    once: &'a [bool],
    /// Stacks of tasks that the run does not reach, or has one element of: they take next to nothing.
    small: Vec<bool>,
    /// Marks of what waits at one level, at most.
    marks: u64,
    /// And of a level that has an element of each kind, which has been run.
    chain: u64,
    /// So few units give each stack room for the calls.
    least: u64,
}

impl<'a> Division<'a> {
    /// For `roots` calls of a task, which keep these inherited fields once.
    #[must_use]
    pub fn new(plan: &'a Plan, entry: TaskId, roots: u64, once: &'a [bool]) -> Self {
        let (reached, single) = (plan.reached(entry), plan.run_once(entry, roots));
        let small: Vec<bool> = plan
            .stacks
            .iter()
            .map(|s| single[s.task.index()] || !reached[s.task.index()])
            .collect();
        let first = plan.number_of(StackRole::Entry(entry), false) as usize;
        let least = match small[first] {
            true => 0,
            false => roots.div_ceil(plan.stacks[first].weight),
        };
        let waits = |kinds: &dyn Fn(StackKind) -> u64| -> u64 {
            let large = plan.stacks.iter().zip(&small).filter(|s| !*s.1);
            large.map(|(s, _)| kinds(s.kind)).sum()
        };
        // Of an entry interval there may be three marks.
        let marks = waits(&|kind| match kind {
            StackKind::Entry => 3,
            StackKind::Frame | StackKind::Continuation { .. } => 1,
        });
        let chain = waits(&|kind| match kind {
            StackKind::Frame => 2,
            StackKind::Entry | StackKind::Continuation { .. } => 0,
        });
        Self {
            plan,
            once,
            small,
            marks: marks.max(2),
            chain: chain.max(2),
            // By its capacity the device tells which stacks are hardly used.
            least: least.max(FEW + 1),
        }
    }

    /// The fewest units that there may be.
    #[must_use]
    pub const fn least(&self) -> u64 {
        self.least
    }

    /// Elements of a stack.
    #[must_use]
    pub fn capacity(&self, stack: usize, units: u64) -> u64 {
        let of: &Stack = &self.plan.stacks[stack];
        match self.small[stack] {
            true => of.few(),
            false => of.weight.saturating_mul(units).min(MOST_ELEMENTS),
        }
    }

    /// Bytes of all stacks.
    #[must_use]
    pub fn bytes(&self, units: u64) -> u64 {
        let stacks = self.plan.stacks.iter().enumerate();
        let sizes = stacks.map(|(s, of)| of.size(self.capacity(s, units), self.once));
        sizes.fold(0, u64::saturating_add)
    }

    /// How many marks there is room for of what waits: of each level of chains, one of each kind of task, side by side, those of their frames and continuations, and
    /// of as many levels as are promised to find room all that there can be.
    #[must_use]
    pub fn marks(&self, units: u64) -> u64 {
        let promised = u64::from(rules::promised(units.min(MOST_ELEMENTS) as u32, 1));
        (self.chain * units.min(MANY_LEVELS)).max(self.marks * promised) + self.marks
    }
}
