//! Passes on constants and copies, forward over the control-flow graph, folds what they make known, and goes past branches whose outcome
//! the way there decides.

use super::fold;
use crate::lower::edit;
use fixedbitset::FixedBitSet;
use millstream_graph::flow::Liveness;
use millstream_graph::{
    flow::{BlockSet, Flow},
    ir::{Arg, Block, BlockId, Function, LocalId, Operand, Rvalue, StmtKind, Terminator},
};

/// A block of more statements is not gone round.
const MOST_PASSED: usize = 8;

/// What locals are known to equal: a constant, or another local that has not changed since. By the local's number, in a row: what is known where a block begins is
/// copied to each that follows, again and again, and a tree's copy takes ten times as long.
#[derive(Clone, PartialEq, Default)]
struct Known(Vec<(LocalId, Operand)>);

impl Known {
    fn place(&self, id: LocalId) -> Result<usize, usize> {
        self.0.binary_search_by_key(&id, |(id, _)| *id)
    }

    fn get(&self, id: LocalId) -> Option<Operand> {
        self.place(id).ok().map(|at| self.0[at].1)
    }

    fn insert(&mut self, id: LocalId, value: Operand) {
        match self.place(id) {
            Ok(at) => self.0[at].1 = value,
            Err(at) => self.0.insert(at, (id, value)),
        }
    }

    fn remove(&mut self, id: LocalId) {
        if let Ok(at) = self.place(id) {
            self.0.remove(at);
        }
    }

    /// Keeps what the other knows too. Both are in order, so each is gone through once.
    fn meet(&mut self, other: &Self) {
        let mut there = other.0.iter().peekable();
        self.0.retain(|(id, value)| {
            while there.next_if(|(other, _)| other < id).is_some() {}
            there.peek() == Some(&&(*id, *value))
        });
    }
}

/// Passes on what is known. Says whether anything changed.
pub(super) fn propagate(function: &mut Function, ret: Option<LocalId>) -> bool {
    let always = always(function);
    let mut changed = false;
    for block in &mut function.blocks {
        let mut put = |o: &mut Operand| {
            if let Operand::Local(id) = *o
                && let Some(value) = always[id.index()]
            {
                *o = value;
                changed = true;
            }
        };
        block
            .stmts
            .iter_mut()
            .for_each(|s| s.kind.operands_mut(&mut put));
        block.term.operands_mut(put);
    }
    let flow = Flow::new(function);
    let liveness = Liveness::with_flow(&flow, function, ret);
    let at_start = known_at_start(function, &flow, &liveness);
    let mut headers = BlockSet::new(function.blocks.len());
    for (_, header) in flow.back_edges() {
        headers.insert(*header);
    }
    for (i, known) in at_start.into_iter().enumerate() {
        let Some(mut known) = known else { continue };
        changed |= rewrite(function, BlockId::new(i), &mut known);
        changed |= thread(function, (BlockId::new(i), &known), &headers, &liveness);
    }
    changed
}

/// Locals that hold the same constant, or the same argument, whenever they hold anything.
fn always(function: &Function) -> Vec<Option<Operand>> {
    let defs = edit::times_set(function);
    let mut arg = FixedBitSet::with_capacity(function.locals.len());
    for a in &function.args {
        if let Arg::Local(id) = a {
            arg.insert(id.index());
        }
    }
    let mut out = vec![None; function.locals.len()];
    for stmt in function.stmts() {
        if let StmtKind::Assign {
            dst,
            value: Rvalue::Use(value),
        } = stmt.kind
            && defs[dst.index()] == 1
            && value
                .local()
                .is_none_or(|id| arg.contains(id.index()) && defs[id.index()] == 1)
        {
            out[dst.index()] = Some(value);
        }
    }
    out
}

/// What is known where each block starts; none for blocks that nothing reaches.
fn known_at_start(function: &Function, flow: &Flow, liveness: &Liveness) -> Vec<Option<Known>> {
    let step = |id: BlockId, mut known: Known, send: &mut dyn FnMut(BlockId, Known)| {
        let block = &function.blocks[id.index()];
        let mut named = named_by(function, &known);
        for stmt in &block.stmts {
            let value = match &stmt.kind {
                StmtKind::Assign { value, .. } => {
                    Some(simpler(function, value, &known).unwrap_or_else(|| value.clone()))
                }
                _ => None,
            };
            if let Some(dst) = stmt.kind.def() {
                assign(&mut known, &mut named, dst, value.as_ref());
            }
        }
        for target in possible(&block.term, &known) {
            // What nothing reads any more need not be known: there is much of it where loops were written out.
            let live = liveness.live_in(target);
            let read = known.0.iter().filter(|(id, _)| live.contains(id.index()));
            let mut edge = Known(read.copied().collect());
            learn(&mut edge, &block.term, target);
            send(target, edge);
        }
    };
    let mut states = flow.forward(Known::default(), step, |old, edge| old.meet(&edge));
    // What came to a block first, a counter's first value say, was held against what came later. Where a block is come to from one other alone, what is
    // known there in the end is all that counts.
    for id in flow.order() {
        let Some(known) = states[id.index()].clone() else {
            continue;
        };
        step(*id, known, &mut |target, edge| {
            if target != BlockId(0) && flow.sources(target).len() == 1 {
                states[target.index()] = Some(edge);
            }
        });
    }
    states
}

/// The blocks that a terminator may go to, by what is known before it.
fn possible(term: &Terminator, known: &Known) -> Vec<BlockId> {
    let mut term = term.clone();
    term.operands_mut(|o| {
        put(o, known);
    });
    super::jumps::decided(&term).map_or_else(|| term.targets().collect(), |only| vec![only])
}

/// What a branch tells those whom it goes to.
fn learn(known: &mut Known, term: &Terminator, target: BlockId) {
    if let Terminator::Branch {
        cond: Operand::Local(cond),
        then,
        other,
    } = term
        && then != other
    {
        let value = Operand::bool(*then == target);
        for (_, held) in &mut known.0 {
            if *held == Operand::Local(*cond) {
                *held = value;
            }
        }
        known.insert(*cond, value);
    }
}

/// The locals that others are known to equal, and perhaps more.
fn named_by(function: &Function, known: &Known) -> FixedBitSet {
    let mut named = FixedBitSet::with_capacity(function.locals.len());
    let values = known.0.iter().filter_map(|(_, v)| v.local());
    named.extend(values.map(LocalId::index));
    named
}

/// `named` has the locals that others may be known to equal: most are none of them, and nothing has to be looked for then.
fn assign(known: &mut Known, named: &mut FixedBitSet, dst: LocalId, value: Option<&Rvalue>) {
    known.remove(dst);
    if named.contains(dst.index()) {
        known.0.retain(|(_, v)| *v != Operand::Local(dst));
        named.set(dst.index(), false);
    }
    if let Some(Rvalue::Use(value)) = value
        && *value != Operand::Local(dst)
    {
        known.insert(dst, *value);
        if let Some(other) = value.local() {
            named.insert(other.index());
        }
    }
}

fn put(operand: &mut Operand, known: &Known) -> bool {
    match operand {
        Operand::Local(id) => match known.get(*id) {
            Some(value) => {
                *operand = value;
                true
            }
            None => false,
        },
        Operand::Const(..) => false,
    }
}

/// The value with what is known put in and folded, if that changes it.
fn simpler(function: &Function, value: &Rvalue, known: &Known) -> Option<Rvalue> {
    let mut new = value.clone();
    let mut changed = false;
    new.operands_mut(|o| changed |= put(o, known));
    while let Some(folded) = fold::fold(function, &new) {
        new = folded;
        changed = true;
    }
    changed.then_some(new)
}

fn rewrite(function: &mut Function, id: BlockId, known: &mut Known) -> bool {
    let mut changed = false;
    let mut stmts = std::mem::take(&mut function.blocks[id.index()].stmts);
    let mut named = named_by(function, known);
    for stmt in &mut stmts {
        if let StmtKind::Assign { dst, value } = &mut stmt.kind {
            if let Some(new) = simpler(function, value, known) {
                *value = new;
                changed = true;
            }
            assign(known, &mut named, *dst, Some(value));
        } else {
            stmt.kind.operands_mut(|o| changed |= put(o, known));
            if let Some(dst) = stmt.kind.def() {
                assign(known, &mut named, dst, None);
            }
        }
    }
    let block = &mut function.blocks[id.index()];
    block.stmts = stmts;
    block.term.operands_mut(|o| changed |= put(o, known));
    changed
}

/// Goes straight to where the blocks behind this one lead, if what they ask is known here and all else that they do is of no use there.
fn thread(
    function: &mut Function,
    (id, known): (BlockId, &Known),
    headers: &BlockSet,
    liveness: &Liveness,
) -> bool {
    let term = &function.blocks[id.index()].term;
    if matches!(term, Terminator::Sync(_) | Terminator::Room { .. }) {
        return false;
    }
    let mut moved = Vec::new();
    for target in term.targets() {
        let mut edge = known.clone();
        learn(&mut edge, term, target);
        let mut set = Vec::new();
        let mut to = target;
        // Nothing on the way leads back: at the latest a loop's first block ends it.
        while !headers.contains(to)
            && let Some(next) = passed(function, to, &mut edge, &mut set)
        {
            to = next;
            // What was set on the way is not, if it is gone round.
            let live = liveness.live_in(to);
            if set.iter().all(|l: &LocalId| !live.contains(l.index())) {
                moved.push((target, to));
            }
        }
    }
    let targets: Vec<BlockId> = function.blocks[id.index()].term.targets().collect();
    for target in targets {
        let last = moved.iter().rev().find(|(from, _)| *from == target);
        if let Some((_, to)) = last.filter(|(from, to)| from != to) {
            function.blocks[id.index()].term.targets_mut(|t| {
                if *t == target {
                    *t = *to;
                }
            });
        }
    }
    !moved.is_empty()
}

/// Where a block leads that only computes and asks what is then known. What it sets comes to `set`.
fn passed(
    function: &Function,
    id: BlockId,
    known: &mut Known,
    set: &mut Vec<LocalId>,
) -> Option<BlockId> {
    let Block { stmts, term, .. } = &function.blocks[id.index()];
    if stmts.len() > MOST_PASSED || matches!(term, Terminator::Sync(_) | Terminator::Room { .. }) {
        return None;
    }
    let mut named = named_by(function, known);
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Assign { dst, value } if only_computes(value) => {
                let simpler = simpler(function, value, known);
                assign(
                    known,
                    &mut named,
                    *dst,
                    Some(simpler.as_ref().unwrap_or(value)),
                );
                set.push(*dst);
            }
            _ => return None,
        }
    }
    let mut term = term.clone();
    term.operands_mut(|o| {
        put(o, known);
    });
    let to = match term {
        Terminator::Goto(to) => to,
        _ => super::jumps::decided(&term)?,
    };
    learn(known, &function.blocks[id.index()].term, to);
    Some(to)
}

/// Whether a value is made of operands alone.
fn only_computes(value: &Rvalue) -> bool {
    matches!(
        value,
        Rvalue::Use(_)
            | Rvalue::Unary(..)
            | Rvalue::Binary(..)
            | Rvalue::MulAdd(..)
            | Rvalue::Select(..)
            | Rvalue::Cast(..)
            | Rvalue::Bitcast(..)
            | Rvalue::PtrAdd { .. }
    )
}
