//! Where an entry segment reserves its frame: as late as it can, so that a base case takes none.
//!
//! A path needs the frame at the first address of a field and where it goes on to a continuation. Where paths meet of which one has the
//! frame and another has not, the other reserves it on its edge, unless nothing from there on touches a frame. Before the frame
//! exists, a field that was a scalar slot lives in a local; reserving writes it to its field.

use super::plan::Plan;
use crate::lower::edit;
use fixedbitset::FixedBitSet;
use millstream_graph::flow::Liveness;
use millstream_graph::{
    flow::Flow,
    ir::{
        Arg, Block, BlockId, FieldId, Function, LocalId, Operand, Rvalue, Span, Stmt, StmtKind,
        Terminator,
    },
    levelized::Field,
    ty::PieceKind,
};
use std::collections::BTreeMap;

/// Puts [`StmtKind::FrameAlloc`] where it belongs in the body of an entry segment.
pub(super) fn allocate(body: &mut Function, plan: &Plan) {
    let has = frame_at_start(body, plan);
    let mut shadows = Shadows {
        fields: BTreeMap::new(),
        frame: &plan.frame,
    };
    for (i, has) in (0..body.blocks.len()).zip(&has) {
        let need = if *has {
            Some(0)
        } else {
            first_need(&body.blocks[i], plan)
        };
        let stmts = std::mem::take(&mut body.blocks[i].stmts);
        let span = body.blocks[i].span;
        let mut out = Vec::with_capacity(stmts.len() + 1);
        let end = stmts.len();
        for (at, mut stmt) in stmts.into_iter().enumerate() {
            if !*has && need == Some(at) {
                out.push(Stmt {
                    kind: StmtKind::FrameAlloc,
                    span: stmt.span,
                });
            }
            if need.is_none_or(|n| at < n) {
                shadows.keep(body, plan, &mut stmt.kind);
            }
            out.push(stmt);
        }
        if !*has && need == Some(end) {
            out.push(Stmt {
                kind: StmtKind::FrameAlloc,
                span,
            });
        }
        body.blocks[i].stmts = out;
    }
    allocate_on_edges(body, plan, &has);
    spill(body, plan, &shadows.fields);
    initialize(body, plan, &shadows.fields);
}

/// The first statement of a block that needs the frame; the number of statements if only the terminator does.
fn first_need(block: &Block, plan: &Plan) -> Option<usize> {
    let needs = |kind: &StmtKind| match kind {
        StmtKind::Assign {
            value: Rvalue::FrameAddr(_),
            ..
        } => true,
        StmtKind::FrameStore { field, .. } => !plan.is_scalar_slot(*field),
        _ => false,
    };
    let stmt = block.stmts.iter().position(|s| needs(&s.kind));
    stmt.or_else(|| matches!(block.term, Terminator::Continue(_)).then_some(block.stmts.len()))
}

/// For each block, whether the frame is there when it starts.
fn frame_at_start(body: &Function, plan: &Plan) -> Vec<bool> {
    let flow = Flow::new(body);
    let block = |id: BlockId| &body.blocks[id.index()];
    let all = (0..body.blocks.len()).map(BlockId::new);
    let wants = flow.reaching(all.filter(|id| touches(block(*id))));
    let step = |id: BlockId, has: bool, send: &mut dyn FnMut(BlockId, bool)| {
        let has = has || first_need(block(id), plan).is_some();
        for target in flow.targets(id) {
            send(*target, has && wants.contains(*target));
        }
    };
    let has = flow.forward(false, step, |a, b| *a |= b);
    has.into_iter().map(|has| has == Some(true)).collect()
}

fn touches(block: &Block) -> bool {
    let frame = |kind: &StmtKind| {
        matches!(
            kind,
            StmtKind::FrameStore { .. }
                | StmtKind::Assign {
                    value: Rvalue::FrameAddr(_) | Rvalue::FrameLoad(_),
                    ..
                }
        )
    };
    matches!(block.term, Terminator::Continue(_)) || block.stmts.iter().any(|s| frame(&s.kind))
}

/// Reserves the frame on each edge from a block that has none at its end to one that has it at its start.
fn allocate_on_edges(body: &mut Function, plan: &Plan, has: &[bool]) {
    for i in 0..has.len() {
        let allocates = body.blocks[i]
            .stmts
            .iter()
            .any(|s| s.kind == StmtKind::FrameAlloc);
        if has[i] || allocates {
            continue;
        }
        debug_assert!(first_need(&body.blocks[i], plan).is_none());
        let span = body.blocks[i].span;
        let mut term = std::mem::replace(&mut body.blocks[i].term, Terminator::Unreachable);
        term.targets_mut(|t| {
            if has[t.index()] {
                let stmts = vec![Stmt {
                    kind: StmtKind::FrameAlloc,
                    span,
                }];
                body.blocks.push(Block {
                    stmts,
                    term: Terminator::Goto(*t),
                    span,
                });
                *t = BlockId::new(body.blocks.len() - 1);
            }
        });
        body.blocks[i].term = term;
    }
}

/// The locals that hold fields while there is no frame.
struct Shadows<'a> {
    fields: BTreeMap<FieldId, LocalId>,
    frame: &'a [Field],
}

impl Shadows<'_> {
    /// Makes an access to a field that was a scalar slot one to its local.
    fn keep(&mut self, body: &mut Function, plan: &Plan, kind: &mut StmtKind) {
        match kind {
            StmtKind::Assign {
                value: value @ Rvalue::FrameLoad(_),
                ..
            } => {
                let Rvalue::FrameLoad(field) = *value else {
                    return;
                };
                *value = Rvalue::Use(Operand::Local(self.local(body, field)));
            }
            StmtKind::FrameStore { field, value } if plan.is_scalar_slot(*field) => {
                *kind = StmtKind::Assign {
                    dst: self.local(body, *field),
                    value: Rvalue::Use(*value),
                };
            }
            _ => {}
        }
    }

    fn local(&mut self, body: &mut Function, field: FieldId) -> LocalId {
        let Field { name, kind } = &self.frame[field.index()];
        *self.fields.entry(field).or_insert_with(|| match kind {
            PieceKind::Scalar(ty) => edit::add_local(body, Some(name.clone()), *ty),
            PieceKind::Blob(_) => unreachable!("only fields of scalar slots are kept in locals"),
        })
    }
}

/// Behind each [`StmtKind::FrameAlloc`], writes the fields that were set before it.
fn spill(body: &mut Function, plan: &Plan, shadows: &BTreeMap<FieldId, LocalId>) {
    let assigned = assigned_at_start(body);
    let copies = body.args.iter().filter_map(|a| match a {
        Arg::Slot(slot) => plan.slot(*slot).map(|field| (*slot, field)),
        Arg::Local(_) => None,
    });
    let copies: Vec<_> = copies.collect();
    for (i, assigned) in assigned.iter().enumerate() {
        let Some(at) = body.blocks[i]
            .stmts
            .iter()
            .position(|s| s.kind == StmtKind::FrameAlloc)
        else {
            continue;
        };
        let mut set = assigned.clone();
        set.extend(
            body.blocks[i].stmts[..at]
                .iter()
                .filter_map(|s| s.kind.def())
                .map(LocalId::index),
        );
        let mut kinds = Vec::new();
        for (&field, &local) in shadows {
            if set.contains(local.index()) {
                kinds.push(StmtKind::FrameStore {
                    field,
                    value: Operand::Local(local),
                });
            }
        }
        for &(slot, field) in &copies {
            let dst = edit::add_local(body, None, millstream_graph::ty::Scalar::Ptr);
            let src = edit::add_local(body, None, millstream_graph::ty::Scalar::Ptr);
            kinds.push(StmtKind::Assign {
                dst,
                value: Rvalue::FrameAddr(field),
            });
            kinds.push(StmtKind::Assign {
                dst: src,
                value: Rvalue::SlotAddr(slot),
            });
            let size = plan.frame[field.index()].kind.layout().size;
            kinds.push(StmtKind::Copy {
                dst: Operand::Local(dst),
                src: Operand::Local(src),
                size,
            });
        }
        let span = body.blocks[i].stmts[at].span;
        let stmts = kinds.into_iter().map(|kind| Stmt { kind, span });
        body.blocks[i].stmts.splice(at + 1..=at, stmts);
    }
}

/// For each block, the locals that may have been assigned when it starts.
fn assigned_at_start(body: &Function) -> Vec<FixedBitSet> {
    let nothing = FixedBitSet::with_capacity(body.locals.len());
    let end = |id: BlockId, mut set: FixedBitSet| {
        let defs = body.blocks[id.index()].stmts.iter();
        set.extend(defs.filter_map(|s| s.kind.def()).map(LocalId::index));
        set
    };
    let start = Flow::new(body).forward_all(nothing.clone(), end, |a, b| a.union_with(&b));
    let start = start.into_iter();
    start
        .map(|s| s.unwrap_or_else(|| nothing.clone()))
        .collect()
}

/// Gives a value to the locals that a path may read or spill without having set them: then the slot's bytes were undefined.
fn initialize(body: &mut Function, plan: &Plan, shadows: &BTreeMap<FieldId, LocalId>) {
    let live = Liveness::new(body, plan.ret);
    let unset = shadows
        .values()
        .filter(|l| live.live_in(BlockId(0)).contains(l.index()));
    let stmts: Vec<_> = unset
        .map(|&dst| {
            let zero = Operand::Const(body.locals[dst.index()].ty, 0);
            Stmt {
                kind: StmtKind::Assign {
                    dst,
                    value: Rvalue::Use(zero),
                },
                span: Span::default(),
            }
        })
        .collect();
    body.blocks[0].stmts.splice(0..0, stmts);
}
