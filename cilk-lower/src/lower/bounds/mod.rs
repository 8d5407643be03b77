//! Takes out checks that hold whenever they are come to, and writes small loops twice, where asking once before the first turn shows that all of
//! their turns' checks hold.
//!
//! ```text
//! for i in lo..hi {                       if hi <= a.len() {
//!     check(i < a.len());                     for i in lo..hi { a[i] = x; }
//!     a[i] = x;                   =>      } else {
//! }                                           for i in lo..hi { check(i < a.len()); a[i] = x; }
//!                                         }
//! ```
//!
//! A check that fails has to fail where it did, behind all that was done before it. So none is moved: it stays, or it is taken out where it is
//! shown to hold.
//!
//! - It is the same condition as one that was checked, or that a branch asked, on every way there; or it follows from such: a chain of integers
//!   none of which is greater than the next ([`facts`]). Sums may wrap: a step over one is taken only where it does not.
//! - Or it is about an index that is a sum of products of what the loops around it count, and of values that they do not change ([`counters`],
//!   [`sums`]). The least and the greatest that it can be are sums of values which are there before the first turn. If no more is to be known, the check
//!   goes; else the loop stands there twice, and the copy without these checks is run if all that is to be known of its checks holds ([`twice`]). It does
//!   not matter then which of them a turn comes to, whether the loop is left early, and what it does to memory. Whatever may wrap makes the
//!   question fail.
//!
//! It is done where functions are small pieces of machine code, for all devices alike: behind the split, on segments and helpers.

mod counters;
mod facts;
mod region;
mod sums;
mod twice;
mod values;

use super::simplify;
use facts::Facts;
use millstream_graph::{
    flow::{Dominators, Flow, Loop},
    ir::{BlockId, Function, LocalId, Stmt, StmtKind},
};
use std::collections::BTreeSet;
use values::Values;

/// A statement: its block and its place there.
type At = (BlockId, usize);

/// A function as it is, and what is known of its flow and its values.
struct View<'a> {
    function: &'a Function,
    flow: &'a Flow,
    loops: &'a [Loop],
    dominators: &'a Dominators,
    values: &'a Values,
}

/// Takes out checks of a helper or a segment. `ret`, if there is one, is a local that each return reads.
pub(crate) fn remove(function: &mut Function, ret: Option<LocalId>) {
    if !function.stmts().any(|s| is_check(&s.kind)) {
        return;
    }
    let flow = Flow::new(function);
    let (loops, dominators) = (flow.loops(), flow.dominators());
    let values = Values::new(function, &flow, &loops, &dominators);
    let view = View {
        function,
        flow: &flow,
        loops: &loops,
        dominators: &dominators,
        values: &values,
    };
    let (mut needless, facts) = view.known();
    let mut plans = view.plans(ret, &facts, &mut needless);
    if needless.is_empty() && plans.all.is_empty() {
        return;
    }
    plans
        .all
        .iter_mut()
        .for_each(|p| p.without.extend(&needless));
    let blocks = function.blocks.len();
    twice::write(function, plans);
    for block in (0..blocks).map(BlockId::new) {
        take_out(function, block, block, &needless);
    }
    simplify::sweep(function, ret);
}

/// Takes checks out of a block, which are named as statements of the block that it is a copy of.
fn take_out(function: &mut Function, block: BlockId, of: BlockId, checks: &BTreeSet<At>) {
    let mut numbers = 0..;
    let keep = |_: &Stmt| {
        let number = numbers.next().unwrap_or_default();
        !checks.contains(&(of, number))
    };
    function.blocks[block.index()].stmts.retain(keep);
}

impl<'a> View<'a> {
    /// The checks that hold by what was checked and asked before, and all that is known where.
    fn known(&self) -> (BTreeSet<At>, Facts<'a>) {
        let mut facts = Facts::new(self.values, self.flow, self.loops, self.dominators);
        let mut needless = BTreeSet::new();
        for &block in self.flow.order() {
            let function = self.function;
            facts.enter(
                block,
                |from| &function.blocks[from.index()].term,
                |from| self.condition(from),
            );
            self.each_check(block, |at, cond| {
                if facts.holds(block, cond) {
                    needless.insert(at);
                } else {
                    facts.learn(block, cond, true);
                }
            });
        }
        (needless, facts)
    }

    /// Whether a loop is entered at its header alone.
    fn is_natural_loop(&self, of: &Loop) -> bool {
        of.blocks
            .iter()
            .all(|b| self.dominators.dominates(of.header, b))
    }

    /// The checks of a block and the values of their conditions.
    fn each_check(&self, block: BlockId, mut f: impl FnMut(At, values::Value)) {
        let mut state = self.values.start(block).clone();
        for (i, stmt) in self.function.blocks[block.index()].stmts.iter().enumerate() {
            if let StmtKind::Check { cond, .. } = &stmt.kind
                && let Some(cond) = self.values.held(&state, *cond)
            {
                f((block, i), cond);
            }
            self.values.step(&mut state, (block, i), stmt);
        }
    }
}

const fn is_check(kind: &StmtKind) -> bool {
    matches!(kind, StmtKind::Check { .. })
}
