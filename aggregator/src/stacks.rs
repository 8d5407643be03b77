//! What a worker keeps from run to run of one program: its stacks and level records.

use crate::{
    dispatch::Growth,
    levels::Levels,
    memory::StackMemory,
    plan::{Plan, Pushes},
    report::Tally,
};
use millstream_channels_kernel::{cpu::abi::StackState, layout::StackIndex};
use std::io;

/// Touched memory beyond this goes back to the system after a run.
const KEEP: u64 = 64 << 20;

/// The stacks of one worker.
#[derive(Debug)]
pub(crate) struct Stacks {
    pub(crate) memory: StackMemory,
    pub(crate) states: Vec<StackState>,
    pub(crate) levels: Levels,
    /// Frame references of the continuations that run now.
    pub(crate) scratch: Vec<u32>,
    /// Of each task's entry segment, then of each continuation: so many elements run in about the time that a dispatch should take.
    pub(crate) pace: Vec<u64>,
    /// Tops before the dispatch of the stacks that the segment pushes to.
    pub(crate) before: Vec<(StackIndex, u64)>,
    /// What compiled code may have of deep memory while it runs.
    pub(crate) growth: Growth,
    /// Where it counts, between two runs.
    pub(crate) tally: Option<Tally>,
}

impl Stacks {
    /// Stacks for a program and a budget.
    pub(crate) fn new(plan: &Plan, budget: u64) -> io::Result<Self> {
        let count = plan.layouts.stacks.len();
        let memory = StackMemory::reserve(&plan.layouts, budget)?;
        Ok(Self {
            growth: Growth::new(plan, &memory),
            memory,
            states: vec![StackState::default(); count],
            levels: Levels::new(count, plan.tasks.len()),
            scratch: Vec::new(),
            pace: plan.first.clone(),
            before: Vec::with_capacity(8),
            tally: None,
        })
    }

    #[inline]
    pub(crate) fn top(&self, stack: StackIndex) -> u64 {
        self.states[stack.index()].top
    }

    /// Lets a stack that grows while it runs do so by the room that it has as it lies now.
    pub(crate) fn note_room(&mut self, stack: StackIndex) {
        let capacity = self.memory.capacity(stack.index());
        self.growth.set_capacity(stack.index(), capacity);
    }

    /// Empties everything; `peak` bytes were in use.
    pub(crate) fn clear(&mut self, plan: &Plan, peak: u64) {
        self.states.fill(StackState::default());
        for &stack in &plan.staging {
            self.memory
                .move_back(&plan.layouts[stack], stack.index(), 0);
            self.note_room(stack);
        }
        self.levels.clear();
        self.pace.copy_from_slice(&plan.first);
        if peak > KEEP {
            self.memory.release();
        }
    }

    /// Notes the tops of the stacks that so many elements of a segment push to, and sets the limits of those whose pushes are counted.
    #[inline]
    pub(crate) fn note_tops(&mut self, pushes: &Pushes, count: u64) {
        let (states, before) = (&mut self.states, &mut self.before);
        before.clear();
        before.extend(pushes.counted.iter().map(|&(stack, max)| {
            let state = &mut states[stack.index()];
            state.limit = state.top + max * count;
            (stack, state.top)
        }));
        if pushes.each.len() > pushes.counted.len() {
            let others = pushes.uncounted.iter().chain(&pushes.rare);
            before.extend(others.map(|&stack| (stack, states[stack.index()].top)));
        }
    }
}
