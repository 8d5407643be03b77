//! Which slots must outlive a segment: those become fields of the frame.
//!
//! A slot does if its address leaves the segment (in a spawn's destination or arguments, in memory outside, in a local that is live
//! across a sync, in a slot that does), or if what was written to it before a sync may be read after it.
//!
//! Where that is so at restart points alone, the slot stays with the segment, and its bytes are copied to the frame and back: most tasks never
//! wait there, and shall have no frame for it.

use super::points_to::{PointsTo, blob_args};
use crate::lower::restart;
use fixedbitset::FixedBitSet;
use millstream_graph::flow::Liveness;
use millstream_graph::{
    flow::Flow,
    ir::{
        Arg, BlockId, Combine, Function, Operand, Program, Rvalue, SlotId, Stmt, StmtKind,
        Terminator,
    },
};
use std::collections::BTreeMap;

/// The slots of a task whose bytes must outlive a segment.
#[derive(Debug)]
pub(super) struct Persistent {
    /// Those that do so with their address.
    pub(super) slots: FixedBitSet,
    /// Those that are copied, by the block at which a restart goes on.
    pub(super) copied: BTreeMap<BlockId, FixedBitSet>,
}

/// Finds them.
pub(super) fn persistent(
    program: &Program,
    function: &Function,
    points_to: &PointsTo,
    live: &Liveness,
) -> Persistent {
    let memory = SlotLiveness::new(program, function, points_to);
    let written = written(function, points_to);
    let mut out = FixedBitSet::with_capacity(function.slots.len());
    out.extend(points_to.escaped().map(SlotId::index));
    let mut copied: BTreeMap<BlockId, FixedBitSet> = BTreeMap::new();
    for (i, block) in function.blocks.iter().enumerate() {
        if let Terminator::Sync(target) = block.term {
            for local in live.live_in(target).ones() {
                out.extend(
                    points_to
                        .slots(Operand::Local(millstream_graph::ir::LocalId::new(local)))
                        .map(SlotId::index),
                );
            }
            let bytes = memory.live_in[target.index()].intersection(&written[i]);
            if restart::is_restart(&function.blocks, target) {
                copied
                    .entry(target)
                    .or_default()
                    .union_with(&bytes.collect());
            } else {
                out.extend(bytes);
            }
        }
    }
    loop {
        let all = out.ones().chain(copied.values().flat_map(|c| c.ones()));
        let held: Vec<SlotId> = all
            .flat_map(|s| points_to.contents(SlotId::new(s)))
            .collect();
        if held.iter().all(|s| out.contains(s.index())) {
            break;
        }
        out.extend(held.into_iter().map(SlotId::index));
    }
    copied.values_mut().for_each(|c| c.difference_with(&out));
    Persistent { slots: out, copied }
}

/// The slots whose contents may still be read.
#[derive(Debug)]
pub(super) struct SlotLiveness {
    live_in: Vec<FixedBitSet>,
}

impl SlotLiveness {
    /// Of a task.
    pub(super) fn new(program: &Program, function: &Function, points_to: &PointsTo) -> Self {
        let nothing = FixedBitSet::with_capacity(function.slots.len());
        let start = |id: BlockId, live: &mut FixedBitSet| {
            let block = &function.blocks[id.index()];
            block.term.each_operand(&mut |o| reach(live, points_to, o));
            for stmt in block.stmts.iter().rev() {
                step(live, program, function, points_to, stmt);
            }
        };
        Self {
            live_in: Flow::new(function).backward(&nothing, start, |a, b| a.union_with(b)),
        }
    }
}

/// From the slots that are live after a statement to those that are live before it.
fn step(
    live: &mut FixedBitSet,
    program: &Program,
    function: &Function,
    points_to: &PointsTo,
    stmt: &Stmt,
) {
    if let Some(slot) = overwritten(function, points_to, stmt) {
        live.set(slot.index(), false);
    }
    match &stmt.kind {
        StmtKind::Assign {
            value: Rvalue::Load { addr, .. },
            ..
        }
        | StmtKind::Atomic { addr, .. } => reach(live, points_to, *addr),
        StmtKind::Copy { src, .. } => reach(live, points_to, *src),
        StmtKind::Call { args, .. } => args.iter().for_each(|a| reach(live, points_to, *a)),
        StmtKind::Spawn {
            func, args, dest, ..
        } => {
            let blobs = args.iter().zip(blob_args(program, &program[*func]));
            blobs
                .filter(|(_, blob)| *blob)
                .for_each(|(a, _)| reach(live, points_to, *a));
            if let Some(dest) = dest
                && dest.combine != Combine::Store
            {
                reach(live, points_to, dest.addr);
            }
        }
        // Pieces that are no arrays are no addresses either.
        StmtKind::Emit { args, .. } => args.iter().for_each(|a| reach(live, points_to, *a)),
        _ => {}
    }
}

fn reach(live: &mut FixedBitSet, points_to: &PointsTo, addr: Operand) {
    for slot in points_to.slots(addr) {
        live.insert(slot.index());
        live.extend(points_to.contents(slot).map(SlotId::index));
    }
}

/// The slot of which a statement writes every byte.
fn overwritten(function: &Function, points_to: &PointsTo, stmt: &Stmt) -> Option<SlotId> {
    let (addr, size) = match &stmt.kind {
        StmtKind::Store {
            addr,
            offset: 0,
            value,
        } => (*addr, function.type_of(*value).size()),
        StmtKind::Copy { dst, size, .. } | StmtKind::Zero { dst, size } => (*dst, *size),
        StmtKind::Spawn {
            dest: Some(dest), ..
        } if dest.combine == Combine::Store => {
            let slot = points_to.direct(dest.addr)?;
            return function.slots[slot.index()]
                .scalar
                .is_some()
                .then_some(slot);
        }
        _ => return None,
    };
    let slot = points_to.direct(addr)?;
    (size >= function.slots[slot.index()].layout.size).then_some(slot)
}

/// For each block, the slots that may have been written when it ends.
fn written(function: &Function, points_to: &PointsTo) -> Vec<FixedBitSet> {
    let mut own = vec![FixedBitSet::with_capacity(function.slots.len()); function.blocks.len()];
    for arg in &function.args {
        if let Arg::Slot(slot) = arg {
            own[0].insert(slot.index());
        }
    }
    for (set, block) in own.iter_mut().zip(&function.blocks) {
        for stmt in &block.stmts {
            let mut write = |o: Operand| set.extend(points_to.slots(o).map(SlotId::index));
            match &stmt.kind {
                StmtKind::Store { addr: o, .. }
                | StmtKind::Copy { dst: o, .. }
                | StmtKind::Zero { dst: o, .. } => write(*o),
                StmtKind::Atomic { addr: o, .. } => write(*o),
                StmtKind::Call { .. } => stmt.kind.each_operand(&mut |o| reach(set, points_to, o)),
                StmtKind::Spawn {
                    dest: Some(dest), ..
                } => write(dest.addr),
                _ => {}
            }
        }
    }
    let flow = Flow::new(function);
    let end = |id: BlockId, mut set: FixedBitSet| {
        set.union_with(&own[id.index()]);
        set
    };
    let nothing = FixedBitSet::with_capacity(function.slots.len());
    let start = flow.forward_all(nothing, end, |a, b| a.union_with(&b));
    for (own, start) in own.iter_mut().zip(start) {
        own.union_with(&start.unwrap_or_default());
    }
    own
}
