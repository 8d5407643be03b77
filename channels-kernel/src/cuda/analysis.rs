//! What a segment's control flow says about its pushes.

use super::plan::PushKey;
use millstream_graph::ir::{BinOp, Block, BlockId, Function, LocalId, Operand, Rvalue, StmtKind, Terminator};
use std::collections::BTreeSet;

/// A set of ways through a body: how much each push is done on each. None if there are too many to tell.
type Ways = Option<BTreeSet<Vec<u32>>>;

/// More ways through a body than this are not told apart.
const MAX_WAYS: usize = 16;

/// The blocks that lie on a cycle.
pub(super) fn cyclic_blocks(function: &Function) -> Vec<bool> {
    let next: Vec<Vec<BlockId>> = function.blocks.iter().map(|b| b.term.targets()).collect();
    (0..next.len())
        .map(|from| {
            let mut seen = vec![false; next.len()];
            let mut stack: Vec<BlockId> = next[from].clone();
            while let Some(at) = stack.pop() {
                if !std::mem::replace(&mut seen[at.index()], true) {
                    stack.extend(&next[at.index()]);
                }
            }
            seen[from]
        })
        .collect()
}

/// The blocks from which a push can still come.
pub(super) fn pushing(function: &Function) -> Vec<bool> {
    let is_push = |s: &StmtKind| matches!(s, StmtKind::Spawn { .. } | StmtKind::FrameAlloc);
    let own = |b: &Block| b.stmts.iter().any(|s| is_push(&s.kind)) || matches!(b.term, Terminator::Continue(_));
    let mut out: Vec<bool> = function.blocks.iter().map(own).collect();
    let mut again = true;
    while std::mem::take(&mut again) {
        for (i, block) in function.blocks.iter().enumerate() {
            if !out[i] && block.term.targets().iter().any(|t| out[t.index()]) {
                (out[i], again) = (true, true);
            }
        }
    }
    out
}

/// The edges that close a loop: `(from, to)` where `to` is being visited when `from` is left.
pub(super) fn back_edges(function: &Function) -> BTreeSet<(BlockId, BlockId)> {
    let mut out = BTreeSet::new();
    // 0: not seen, 1: on the path, 2: done.
    let mut state = vec![0u8; function.blocks.len()];
    let mut path: Vec<(BlockId, Vec<BlockId>)> = vec![(BlockId(0), function.blocks[0].term.targets())];
    state[0] = 1;
    while let Some((at, rest)) = path.last_mut() {
        let at = *at;
        match rest.pop() {
            Some(to) if state[to.index()] == 1 => {
                out.insert((at, to));
            }
            Some(to) if state[to.index()] == 0 => {
                state[to.index()] = 1;
                path.push((to, function.blocks[to.index()].term.targets()));
            }
            Some(_) => {}
            None => {
                state[at.index()] = 2;
                path.pop();
            }
        }
    }
    out
}

/// A loop of no more turns than this ends soon enough without being asked to.
const FEW_TURNS: u64 = 64;

/// Whether an edge that closes a loop is taken a few times at most before the loop is left: it leaves a block that counts an unsigned local up,
/// the loop goes on only while that is less than a constant, and nothing else in the loop changes it.
pub(super) fn is_short((from, to): (BlockId, BlockId), function: &Function) -> bool {
    let head = &function.blocks[to.index()];
    let Terminator::Branch { cond: Operand::Local(cond), other, .. } = head.term else { return false };
    let assigned =
        |block: &Block, id: LocalId| -> Vec<Option<Rvalue>> { block.stmts.iter().filter_map(|s| assignment(&s.kind, id)).collect() };
    let counted = match &assigned(head, cond)[..] {
        [Some(Rvalue::Binary(BinOp::Lt, Operand::Local(id), Operand::Const(_, end)))] if *end <= FEW_TURNS => *id,
        _ => return false,
    };
    let ty = function.locals[counted.index()].ty;
    let up = |value: &Rvalue| match value {
        Rvalue::Binary(BinOp::Add, Operand::Local(id), Operand::Const(_, by)) => *id == counted && (1..=FEW_TURNS).contains(by),
        _ => false,
    };
    let inside = between(function, to, from);
    let changes: Vec<_> = inside.iter().flat_map(|b| assigned(&function.blocks[b.index()], counted).into_iter().map(|v| (*b, v))).collect();
    let once = matches!(&changes[..], [(at, Some(value))] if *at == from && up(value));
    once && from != to && ty.is_int() && !ty.is_signed() && !inside.contains(&other)
}

/// What a statement assigns to a local, if it does; `Some(None)` if it is not an expression.
fn assignment(stmt: &StmtKind, id: LocalId) -> Option<Option<Rvalue>> {
    match stmt {
        StmtKind::Assign { dst, value } => (*dst == id).then(|| Some(value.clone())),
        StmtKind::Call { dst: Some(dst), .. } | StmtKind::Atomic { dst: Some(dst), .. } => (*dst == id).then_some(None),
        _ => None,
    }
}

/// The blocks of the loop from `head` to `last`.
fn between(function: &Function, head: BlockId, last: BlockId) -> BTreeSet<BlockId> {
    let mut inside = BTreeSet::from([head]);
    let mut again = vec![last];
    while let Some(at) = again.pop() {
        if inside.insert(at) {
            let before = function.blocks.iter().enumerate().filter(|(_, b)| b.term.targets().contains(&at));
            again.extend(before.map(|(i, _)| BlockId::new(i)));
        }
    }
    inside
}

/// Whether a body is worth more than a lane of a tile: it calls helpers, or has a loop that spawns nothing.
pub(super) fn is_heavy(function: &Function, keys: &[PushKey], key_of: impl Fn(&StmtKind) -> Option<PushKey>) -> bool {
    let cyclic = cyclic_blocks(function);
    let calls = function.blocks.iter().flat_map(|b| &b.stmts).any(|s| matches!(s.kind, StmtKind::Call { .. }));
    let in_loop = |b: &Block| b.stmts.iter().filter_map(|s| key_of(&s.kind)).any(|k| keys.contains(&k));
    let loops = cyclic.iter().any(|c| *c);
    let spawning = function.blocks.iter().zip(&cyclic).any(|(b, c)| *c && in_loop(b));
    calls || (loops && !spawning)
}

/// Whether a body does more than spawn and return: then a run of it cannot be forgotten.
pub(super) fn has_effects(function: &Function) -> bool {
    function
        .blocks
        .iter()
        .flat_map(|b| &b.stmts)
        .any(|s| !matches!(s.kind, StmtKind::Assign { .. } | StmtKind::Spawn { .. } | StmtKind::Check { .. }))
}

/// For each push how often each way through the body does it, of those pushes that are in no loop; `None` where there are too many ways.
pub(super) fn ways(function: &Function, pushes_of: impl Fn(&Block) -> Vec<u32>, looped: &[bool]) -> Ways {
    let own: Vec<Vec<u32>> =
        function.blocks.iter().map(|b| pushes_of(b).into_iter().zip(looped).map(|(n, l)| if *l { 0 } else { n }).collect()).collect();
    let mut sets: Vec<BTreeSet<Vec<u32>>> = vec![BTreeSet::new(); function.blocks.len()];
    loop {
        let mut changed = false;
        for (i, block) in function.blocks.iter().enumerate().rev() {
            let targets = block.term.targets();
            let mut now = BTreeSet::new();
            if targets.is_empty() && !matches!(block.term, Terminator::Unreachable) {
                now.insert(own[i].clone());
            }
            for to in targets {
                now.extend(sets[to.index()].iter().map(|way| way.iter().zip(&own[i]).map(|(a, b)| a + b).collect::<Vec<u32>>()));
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

/// The locals whose value a run of the body without its effects cannot tell, and whether such a value decides where the body goes.
#[derive(Debug)]
pub(super) struct Taint {
    locals: Vec<bool>,
    /// Whether control flow depends on one of them.
    pub(super) control: bool,
}

impl Taint {
    /// Whether an operand's value is unknown without the body's effects.
    pub(super) fn of(&self, operand: Operand) -> bool {
        matches!(operand, Operand::Local(id) if self.locals[id.index()])
    }

    /// Finds them. A load is unknown in a body that writes to memory, an atomic operation and a call always.
    pub(super) fn find(function: &Function) -> Self {
        let stmts = || function.blocks.iter().flat_map(|b| &b.stmts).map(|s| &s.kind);
        let writes = stmts().any(|s| {
            matches!(
                s,
                StmtKind::Store { .. } | StmtKind::Copy { .. } | StmtKind::Zero { .. } | StmtKind::Atomic { .. } | StmtKind::Call { .. }
            )
        });
        let frame_writes = stmts().any(|s| matches!(s, StmtKind::FrameAlloc | StmtKind::FrameStore { .. }));
        let mut taint = Self { locals: vec![false; function.locals.len()], control: false };
        loop {
            let mut found: Vec<LocalId> = Vec::new();
            for stmt in stmts() {
                let (dst, unknown) = match stmt {
                    StmtKind::Assign { dst, value } => {
                        let own = match value {
                            Rvalue::Load { .. } => writes,
                            Rvalue::FrameLoad(_) => writes || frame_writes,
                            Rvalue::FrameAddr(_) | Rvalue::SlotAddr(_) => true,
                            _ => false,
                        };
                        let mut unknown = own;
                        value.clone().operands_mut(|o| unknown |= taint.of(*o));
                        (*dst, unknown)
                    }
                    StmtKind::Call { dst: Some(dst), .. } | StmtKind::Atomic { dst: Some(dst), .. } => (*dst, true),
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
        taint.control = function.blocks.iter().any(|b| match &b.term {
            Terminator::Branch { cond: value, .. } | Terminator::Switch { value, .. } => taint.of(*value),
            _ => false,
        });
        taint
    }
}
