//! What a segment's control flow says about its pushes.

use super::stack::PushKey;
use millstream_graph::{
    flow::{BlockSet, Edge, Flow},
    ir::{
        BinOp, Block, BlockId, FieldId, Function, LocalId, Operand, Rvalue, Stmt, StmtKind,
        Terminator, UnOp,
    },
};
use std::collections::BTreeSet;

/// A set of ways through a body: how much each push is done on each. None if there are too many to tell.
type Ways = Option<BTreeSet<Vec<u32>>>;

/// More ways through a body than this are not told apart.
const MAX_WAYS: usize = 16;

/// The blocks from which a push can still come.
pub(super) fn pushing(function: &Function) -> BlockSet {
    let is_push = |s: &StmtKind| matches!(s, StmtKind::Spawn { .. } | StmtKind::FrameAlloc);
    let own = |b: &Block| {
        b.stmts.iter().any(|s| is_push(&s.kind)) || matches!(b.term, Terminator::Continue(_))
    };
    let blocks = function.blocks.iter().enumerate();
    let pushing = blocks.filter(|(_, b)| own(b)).map(|(i, _)| BlockId::new(i));
    Flow::new(function).reaching(pushing)
}

/// A loop of no more turns than this ends soon enough without being asked to.
const FEW_TURNS: u64 = 64;

/// Whether an edge that closes a loop is taken a few times at most before the loop is left: it leaves a block that counts an unsigned local up,
/// the loop goes on only while that is less than a constant, and nothing else in the loop changes it.
pub(super) fn is_short((from, to): Edge, function: &Function, flow: &Flow) -> bool {
    let head = &function.blocks[to.index()];
    let Terminator::Branch {
        cond: Operand::Local(cond),
        other,
        ..
    } = head.term
    else {
        return false;
    };
    let counted = match &changes(head, cond)[..] {
        [Some(Rvalue::Binary(BinOp::Lt, Operand::Local(id), Operand::Const(_, end)))]
            if *end <= FEW_TURNS =>
        {
            *id
        }
        _ => return false,
    };
    let ty = function.locals[counted.index()].ty;
    let up = |value: &Rvalue| match value {
        Rvalue::Binary(BinOp::Add, Operand::Local(id), Operand::Const(_, by)) => {
            *id == counted && (1..=FEW_TURNS).contains(by)
        }
        _ => false,
    };
    let inside = flow.natural_loop(to, [from]);
    let turns: Vec<_> = inside
        .iter()
        .flat_map(|b| {
            changes(&function.blocks[b.index()], counted)
                .into_iter()
                .map(move |v| (b, v))
        })
        .collect();
    let once = matches!(&turns[..], [(at, Some(value))] if *at == from && up(value));
    once && from != to && ty.is_int() && !ty.is_signed() && !inside.contains(other)
}

/// What a block does to a local: the expressions that it assigns, none where it is something else.
fn changes(block: &Block, id: LocalId) -> Vec<Option<Rvalue>> {
    let value = |s: &Stmt| match &s.kind {
        StmtKind::Assign { value, .. } => Some(value.clone()),
        _ => None,
    };
    block
        .stmts
        .iter()
        .filter(|s| s.kind.def() == Some(id))
        .map(value)
        .collect()
}

/// Whether a body is worth more than a lane of a tile: it calls helpers, or has a loop that spawns nothing.
pub(super) fn is_heavy(
    function: &Function,
    keys: &[PushKey],
    key_of: impl Fn(&StmtKind) -> Option<PushKey>,
) -> bool {
    let cyclic = Flow::new(function).cyclic();
    let calls = function
        .stmts()
        .any(|s| matches!(s.kind, StmtKind::Call { .. }));
    let in_loop = |b: &Block| {
        b.stmts
            .iter()
            .filter_map(|s| key_of(&s.kind))
            .any(|k| keys.contains(&k))
    };
    let spawning = cyclic.iter().any(|b| in_loop(&function.blocks[b.index()]));
    calls || (!cyclic.is_empty() && !spawning)
}

/// Whether the loop that a back edge closes ends by itself soon: each turn clears the lowest set bit of a word, and no turn begins without one.
pub(super) fn takes_bits((from, to): Edge, function: &Function, flow: &Flow) -> bool {
    let header = &function.blocks[to.index()];
    let Terminator::Branch {
        cond: Operand::Local(cond),
        then,
        other,
    } = header.term
    else {
        return false;
    };
    let Some(&(op, Operand::Local(word), end)) = last_binary(&header.stmts, cond).as_ref() else {
        return false;
    };
    let out = match op {
        BinOp::Ne => other,
        BinOp::Eq => then,
        _ => return false,
    };
    let inside = flow.natural_loop(to, [from]);
    if !matches!(end, Operand::Const(_, 0)) || inside.contains(out) {
        return false;
    }
    let stmts: Vec<(BlockId, usize, &Stmt)> = inside
        .iter()
        .flat_map(|b| {
            function.blocks[b.index()]
                .stmts
                .iter()
                .enumerate()
                .map(move |(at, s)| (b, at, s))
        })
        .collect();
    // A helper that calls itself may take long whatever its loops do.
    if stmts
        .iter()
        .any(|(_, _, s)| matches!(s.kind, StmtKind::Call { .. }))
    {
        return false;
    }
    let mut changes = stmts.iter().filter(|(_, _, s)| s.kind.def() == Some(word));
    let (Some(&(block, at, _)), None) = (changes.next(), changes.next()) else {
        return false;
    };
    clears_lowest_bit(&function.blocks[block.index()].stmts[..=at], word) && {
        // Every turn comes by.
        let passes = |b: BlockId| b != block && inside.contains(b);
        let onward = flow.reach([to], passes);
        !onward.into_iter().any(|b| b == from && passes(b))
    }
}

/// The operation that a local holds the result of after these statements, if it has two operands and they have not changed since.
fn last_binary(stmts: &[Stmt], local: LocalId) -> Option<(BinOp, Operand, Operand)> {
    let at = stmts.iter().rposition(|s| s.kind.def() == Some(local))?;
    let StmtKind::Assign {
        value: Rvalue::Binary(op, a, b),
        ..
    } = &stmts[at].kind
    else {
        return None;
    };
    let changed = |o: &Operand| matches!(o, Operand::Local(l) if *l != local && stmts[at + 1..].iter().any(|s| s.kind.def() == Some(*l)));
    (!changed(a) && !changed(b)).then_some((*op, *a, *b))
}

/// Whether the last of these statements, which changes `word`, clears its lowest set bit: `x ^ (x & -x)` or `x & (x - 1)`.
fn clears_lowest_bit(stmts: &[Stmt], word: LocalId) -> bool {
    let Some((last, before)) = stmts.split_last() else {
        return false;
    };
    let x = Operand::Local(word);
    // The word's new value may have been computed before it is stored.
    let (op, a, b, before) = match &last.kind {
        StmtKind::Assign {
            value: Rvalue::Binary(op, a, b),
            ..
        } => (*op, *a, *b, before),
        StmtKind::Assign {
            value: Rvalue::Use(Operand::Local(new)),
            ..
        } => match last_binary(before, *new) {
            Some((op, a, b)) => (op, a, b, before),
            None => return false,
        },
        _ => return false,
    };
    let other = |a: Operand, b: Operand| {
        if a == x {
            Some(b)
        } else {
            (b == x).then_some(a)
        }
    };
    let Some(Operand::Local(rest)) = other(a, b) else {
        return false;
    };
    match op {
        BinOp::Xor => {
            let Some((BinOp::And, a, b)) = last_binary(before, rest) else {
                return false;
            };
            let Some(Operand::Local(minus)) = other(a, b) else {
                return false;
            };
            let negation = before
                .iter()
                .rfind(|s| s.kind.def() == Some(minus))
                .map(|s| &s.kind);
            matches!(negation, Some(StmtKind::Assign { value: Rvalue::Unary(UnOp::Neg, of), .. }) if *of == x)
        }
        BinOp::And => {
            matches!(last_binary(before, rest), Some((BinOp::Sub, of, Operand::Const(_, 1))) if of == x)
        }
        _ => false,
    }
}

/// Whether a body does more than spawn and return: then a run of it cannot be forgotten.
pub(super) fn has_effects(function: &Function) -> bool {
    function.stmts().any(|s| {
        !matches!(
            s.kind,
            StmtKind::Assign { .. } | StmtKind::Spawn { .. } | StmtKind::Check { .. }
        )
    })
}

/// For each push how often each way through the body does it, of those pushes that are in no loop; `None` where there are too many ways.
/// `pushes_of` gives how often a block does each push, and how often at least: leaves are not pushed.
pub(super) fn ways(
    function: &Function,
    pushes_of: impl Fn(&Block) -> Vec<(u32, u32)>,
    looped: &[bool],
) -> Ways {
    let own: Option<Vec<BTreeSet<Vec<u32>>>> = function
        .blocks
        .iter()
        .map(|b| choices(&pushes_of(b), looped))
        .collect();
    let own = own?;
    let mut sets: Vec<BTreeSet<Vec<u32>>> = vec![BTreeSet::new(); function.blocks.len()];
    loop {
        let mut changed = false;
        for (i, block) in function.blocks.iter().enumerate().rev() {
            let mut targets = block.term.targets().peekable();
            let mut now = BTreeSet::new();
            if targets.peek().is_none() && !matches!(block.term, Terminator::Unreachable) {
                now.extend(own[i].iter().cloned());
            }
            for to in targets {
                let sum = |way: &Vec<u32>, own: &Vec<u32>| {
                    way.iter()
                        .zip(own)
                        .map(|(a, b)| a + b)
                        .collect::<Vec<u32>>()
                };
                now.extend(
                    sets[to.index()]
                        .iter()
                        .flat_map(|way| own[i].iter().map(move |own| sum(way, own))),
                );
            }
            if now.len() > MAX_WAYS {
                return None;
            }
            changed |= now != sets[i];
            sets[i] = now;
        }
        if !changed {
            return Some(sets.swap_remove(0));
        }
    }
}

/// What a block may push: each number of elements that is left when some of its children are leaves.
fn choices(pushes: &[(u32, u32)], looped: &[bool]) -> Ways {
    let mut out = BTreeSet::from([Vec::new()]);
    for ((most, least), looped) in pushes.iter().zip(looped) {
        let range = if *looped { 0..=0 } else { *least..=*most };
        out = out
            .iter()
            .flat_map(|way| {
                range
                    .clone()
                    .map(|n| way.iter().copied().chain([n]).collect())
            })
            .collect();
        if out.len() > MAX_WAYS {
            return None;
        }
    }
    Some(out)
}

/// The locals whose value a run of the body without its effects cannot tell.
#[derive(Debug)]
pub(super) struct Taint {
    locals: Vec<bool>,
}

impl Taint {
    /// Whether an operand's value is unknown without the body's effects.
    pub(super) fn of(&self, operand: Operand) -> bool {
        matches!(operand, Operand::Local(id) if self.locals[id.index()])
    }

    /// Finds them. A load is unknown in a body that writes to memory, an atomic operation and a call always.
    pub(super) fn find(function: &Function) -> Self {
        let stmts = || function.stmts().map(|s| &s.kind);
        let writes = stmts().any(|s| {
            matches!(
                s,
                StmtKind::Store { .. }
                    | StmtKind::Copy { .. }
                    | StmtKind::Zero { .. }
                    | StmtKind::Atomic { .. }
                    | StmtKind::Call { .. }
            )
        });
        let frame_is_new = stmts().any(|s| matches!(s, StmtKind::FrameAlloc));
        let stored: BTreeSet<FieldId> = stmts()
            .filter_map(|s| {
                if let StmtKind::FrameStore { field, .. } = s {
                    Some(*field)
                } else {
                    None
                }
            })
            .collect();
        let mut taint = Self {
            locals: vec![false; function.locals.len()],
        };
        loop {
            let mut found: Vec<LocalId> = Vec::new();
            for stmt in stmts() {
                let (dst, unknown) = match stmt {
                    StmtKind::Assign { dst, value } => {
                        let own = match value {
                            Rvalue::Load { .. } => writes,
                            Rvalue::FrameLoad(field) => {
                                writes || frame_is_new || stored.contains(field)
                            }
                            Rvalue::FrameAddr(_) | Rvalue::SlotAddr(_) => true,
                            _ => false,
                        };
                        let mut unknown = own;
                        value.clone().operands_mut(|o| unknown |= taint.of(*o));
                        (*dst, unknown)
                    }
                    StmtKind::Call { dst: Some(dst), .. }
                    | StmtKind::Atomic { dst: Some(dst), .. } => (*dst, true),
                    _ => continue,
                };
                if unknown && !taint.locals[dst.index()] {
                    found.push(dst);
                }
            }
            if found.is_empty() {
                break;
            }
            for dst in found {
                taint.locals[dst.index()] = true;
            }
        }
        taint
    }

    /// Whether such a value decides where one of these blocks goes.
    pub(super) fn decides(&self, function: &Function, among: impl Fn(BlockId) -> bool) -> bool {
        let mut blocks = function.blocks.iter().enumerate();
        blocks.any(|(i, b)| match &b.term {
            Terminator::Branch { cond: value, .. } | Terminator::Switch { value, .. } => {
                among(BlockId::new(i)) && self.of(*value)
            }
            _ => false,
        })
    }
}
