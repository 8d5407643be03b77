//! What holds where a block starts: states that are passed along the edges until nothing changes.

use super::Flow;
use crate::ir::BlockId;

impl Flow {
    /// Passes states along the edges from the entry, which starts with `entry`. `step` takes a block and the state where it starts, and
    /// sends a state to each block that it may go to; `meet` joins one with what came there before. None for blocks that nothing came to.
    pub fn forward<S: Clone + PartialEq>(
        &self,
        entry: S,
        mut step: impl FnMut(BlockId, S, &mut dyn FnMut(BlockId, S)),
        meet: impl Fn(&mut S, S),
    ) -> Vec<Option<S>> {
        let mut states: Vec<Option<S>> = vec![None; self.len()];
        if self.is_empty() {
            return states;
        }
        states[0] = Some(entry);
        // Those whose state has changed since it was sent on: what is sent on again changes nothing.
        let mut due = vec![false; self.len()];
        due[0] = true;
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &block in self.order() {
                if !std::mem::take(&mut due[block.index()]) {
                    continue;
                }
                let Some(state) = states[block.index()].clone() else {
                    continue;
                };
                step(block, state, &mut |to, state| {
                    let is_new = match &mut states[to.index()] {
                        Some(old) => {
                            let before = old.clone();
                            meet(old, state);
                            *old != before
                        }
                        none => {
                            *none = Some(state);
                            true
                        }
                    };
                    due[to.index()] |= is_new;
                    changed |= is_new;
                });
            }
        }
        states
    }

    /// [`forward`](Self::forward) where a block sends one state to all of its targets: the one at its end.
    pub fn forward_all<S: Clone + PartialEq>(
        &self,
        entry: S,
        mut end: impl FnMut(BlockId, S) -> S,
        meet: impl Fn(&mut S, S),
    ) -> Vec<Option<S>> {
        let step = |block: BlockId, state: S, send: &mut dyn FnMut(BlockId, S)| {
            let state = end(block, state);
            self.targets(block)
                .iter()
                .for_each(|to| send(*to, state.clone()));
        };
        self.forward(entry, step, meet)
    }

    /// Passes states against the edges. `step` takes a block and what its targets' states join to, `nothing` where it has none, and makes of
    /// it the state where the block starts.
    pub fn backward<S: Clone + PartialEq>(
        &self,
        nothing: &S,
        mut step: impl FnMut(BlockId, &mut S),
        join: impl Fn(&mut S, &S),
    ) -> Vec<S> {
        let mut states = vec![nothing.clone(); self.len()];
        let (mut state, mut changed) = (nothing.clone(), true);
        while std::mem::take(&mut changed) {
            for &block in self.order().iter().rev() {
                state.clone_from(nothing);
                for to in self.targets(block) {
                    join(&mut state, &states[to.index()]);
                }
                step(block, &mut state);
                if states[block.index()] != state {
                    states[block.index()].clone_from(&state);
                    changed = true;
                }
            }
        }
        states
    }
}
