//! One segment: the blocks from its start to the next syncs, with loads from the frame before them and stores to it behind them.

use super::{frame, plan::Plan};
use crate::lower::{restart, simplify};
use fixedbitset::FixedBitSet;
use millstream_graph::{
    flow::Flow,
    ir::{
        Arg, Block, BlockId, Function, FunctionKind, Local, LocalId, Operand, Rvalue, SegmentId,
        Span, Stmt, StmtKind, Terminator,
    },
    levelized::LoweredSegment,
    ty::Scalar,
};
use std::collections::BTreeMap;

/// Makes the segment of that number.
pub(super) fn make(function: &Function, plan: &Plan, id: SegmentId) -> LoweredSegment {
    let entry = id.index() == 0;
    let start = plan.starts[id.index()];
    let region = region(function, start);
    let number: BTreeMap<BlockId, BlockId> = region
        .iter()
        .enumerate()
        .map(|(i, b)| (*b, BlockId::new(i + 1)))
        .collect();

    let mut prologue = Block {
        stmts: Vec::new(),
        term: Terminator::Goto(BlockId(1)),
        span: function.span,
    };
    let mut assigned = FixedBitSet::with_capacity(function.locals.len());
    if entry {
        assigned.extend(function.args.iter().filter_map(|a| match a {
            Arg::Local(id) => Some(id.index()),
            Arg::Slot(_) => None,
        }));
    } else {
        let loads = plan.kept(start).map(|(dst, field)| StmtKind::Assign {
            dst,
            value: Rvalue::FrameLoad(field),
        });
        prologue.stmts.extend(loads.map(|kind| Stmt {
            kind,
            span: Span::default(),
        }));
    }
    let mut locals = function.locals.clone();
    if !entry {
        let copies = copies(&mut locals, plan, start, false);
        prologue.stmts.extend(copies.map(|kind| Stmt {
            kind,
            span: Span::default(),
        }));
    }
    let assigned = assigned_at_end(function, &region, assigned);

    let mut blocks = vec![prologue];
    for (i, id) in region.iter().enumerate() {
        let mut block = function.blocks[id.index()].clone();
        block
            .stmts
            .iter_mut()
            .for_each(|s| to_frame(function, plan, &mut s.kind));
        if let Terminator::Sync(target) = block.term {
            for (local, field) in plan
                .kept(target)
                .filter(|(l, _)| assigned[i].contains(l.index()))
            {
                block.stmts.push(Stmt {
                    kind: StmtKind::FrameStore {
                        field,
                        value: Operand::Local(local),
                    },
                    span: block.span,
                });
            }
            let span = block.span;
            let copies = copies(&mut locals, plan, target, true);
            block.stmts.extend(copies.map(|kind| Stmt { kind, span }));
            block.term = Terminator::Continue(plan.segment_at(target));
        } else {
            block.term.targets_mut(|t| *t = number[t]);
        }
        blocks.push(block);
    }

    let mut body = Function {
        kind: FunctionKind::Segment,
        params: Vec::new(),
        blocks,
        locals,
        ..function.clone()
    };
    restart::settle(&mut body);
    if entry {
        simplify::tidy(&mut body, plan.ret);
        frame::allocate(&mut body, plan);
    } else {
        body.args = Vec::new();
        body.rounds = false;
        body.team = None;
    }
    let returns = body
        .blocks
        .iter()
        .any(|b| matches!(b.term, Terminator::Return(_)));
    let ret = plan.ret.filter(|_| entry || returns);
    let ret = simplify::simplify(&mut body, ret);
    LoweredSegment {
        body,
        ret,
        pushes: Vec::new(),
    }
}

/// Copies the slots that a task keeps where it waits for room, to the frame or back.
fn copies(
    locals: &mut Vec<Local>,
    plan: &Plan,
    start: BlockId,
    out: bool,
) -> impl Iterator<Item = StmtKind> {
    let mut kinds = Vec::new();
    for &(slot, field) in plan.copied(start) {
        let mut address = |value| {
            locals.push(Local {
                name: None,
                ty: Scalar::Ptr,
            });
            let dst = LocalId::new(locals.len() - 1);
            kinds.push(StmtKind::Assign { dst, value });
            Operand::Local(dst)
        };
        let (there, here) = (
            address(Rvalue::FrameAddr(field)),
            address(Rvalue::SlotAddr(slot)),
        );
        let (dst, src) = if out { (there, here) } else { (here, there) };
        kinds.push(StmtKind::Copy {
            dst,
            src,
            size: plan.frame[field.index()].kind.layout().size,
        });
    }
    kinds.into_iter()
}

/// The blocks of a segment: those that its start reaches without passing a sync, the start first.
fn region(function: &Function, start: BlockId) -> Vec<BlockId> {
    let is_sync = |b: BlockId| matches!(function.blocks[b.index()].term, Terminator::Sync(_));
    Flow::new(function).reach([start], |b| !is_sync(b))
}

/// For each block of a region, the locals that may have been assigned since its start when the block ends.
fn assigned_at_end(
    function: &Function,
    region: &[BlockId],
    at_start: FixedBitSet,
) -> Vec<FixedBitSet> {
    let index: BTreeMap<BlockId, usize> = region.iter().enumerate().map(|(i, b)| (*b, i)).collect();
    let block = |i: BlockId| &function.blocks[region[i.index()].index()];
    let targets = |i| {
        let term = &block(BlockId::new(i)).term;
        let goes_on = !matches!(term, Terminator::Sync(_));
        let targets = goes_on.then(|| term.targets()).into_iter().flatten();
        targets.map(|t| BlockId::new(index[&t]))
    };
    let end = |i: BlockId, mut set: FixedBitSet| {
        let defs = block(i).stmts.iter().filter_map(|s| s.kind.def());
        set.extend(defs.map(LocalId::index));
        set
    };
    let flow = Flow::from_targets((0..region.len()).map(targets));
    let start = flow.forward_all(at_start, end, |a, b| a.union_with(&b));
    let start = start.into_iter().enumerate();
    start
        .map(|(i, set)| end(BlockId::new(i), set.unwrap_or_default()))
        .collect()
}

/// Makes an access to a slot that became a field one to the frame.
fn to_frame(function: &Function, plan: &Plan, kind: &mut StmtKind) {
    match kind {
        StmtKind::Assign { value, .. } => match value {
            Rvalue::SlotAddr(slot) => {
                if let Some(field) = plan.slot(*slot) {
                    *value = Rvalue::FrameAddr(field);
                }
            }
            Rvalue::Load {
                ty,
                addr,
                offset: 0,
            } => {
                if let Some(field) = plan.scalar_at(*addr, *ty) {
                    *value = Rvalue::FrameLoad(field);
                }
            }
            _ => {}
        },
        StmtKind::Store {
            addr,
            offset: 0,
            value,
        } => {
            if let Some(field) = plan.scalar_at(*addr, function.type_of(*value)) {
                *kind = StmtKind::FrameStore {
                    field,
                    value: *value,
                };
            }
        }
        _ => {}
    }
}
