//! Slots come apart whose parts are never used together: each becomes a slot of its own, and a scalar one then lives in a register.
//!
//! ```text
//! Option<Board>   =>   bool, [Option<Player>; 9], Player
//! ```
//!
//! An `Option` of what is large is written and read by way of memory: whether it is there is asked of a register then, so that who makes it and looks
//! at once decides nothing twice, and what it holds is copied on its own.

use super::private::{Private, given};
use millstream_graph::{
    ir::{Arg, Function, Operand, Program, Rvalue, Slot, SlotId, Stmt, StmtKind},
    ty::{Layout, Scalar},
};
use std::collections::BTreeMap;
use std::ops::Range;

/// Gives the parts of slots slots of their own. Says whether there were any.
pub(crate) fn take_apart(program: &Program, function: &mut Function) -> bool {
    let private = Private::new(program, function);
    let mut parts: BTreeMap<SlotId, Vec<(Range<u64>, SlotId)>> = BTreeMap::new();
    for slot in private.slots.ones().map(SlotId::new) {
        if function.slots[slot.index()].scalar.is_some() || function.args.contains(&Arg::Slot(slot))
        {
            continue;
        }
        if let Some(units) = used(program, function, &private, slot)
            && units.len() > 1
        {
            let made = units.into_iter().map(|(range, ty)| {
                let id = add_slot(function, slot, &range, ty);
                (range, id)
            });
            parts.insert(slot, made.collect());
        }
    }
    if parts.is_empty() {
        return false;
    }
    for block in 0..function.blocks.len() {
        let old = std::mem::take(&mut function.blocks[block].stmts);
        let mut out = Vec::with_capacity(old.len());
        for stmt in old {
            point(program, function, &private, &parts, stmt, &mut out);
        }
        function.blocks[block].stmts = out;
    }
    true
}

/// The parts of a slot that are used at a time, with the type if that is one scalar. None if it is not known where something is used.
fn used(
    program: &Program,
    function: &Function,
    private: &Private,
    slot: SlotId,
) -> Option<Vec<(Range<u64>, Option<Scalar>)>> {
    let (mut out, mut zeroed) = (Vec::new(), Vec::new());
    let mut known = true;
    let size = function.slots[slot.index()].layout.size;
    for stmt in function.stmts() {
        let zeroes = matches!(stmt.kind, StmtKind::Zero { .. });
        let to = if zeroes { &mut zeroed } else { &mut out };
        let mut uses = |o: Operand, offset: u64, bytes: u64, ty: Option<Scalar>| {
            if private.slot(o) != Some(slot) {
                return;
            }
            match private.place(o) {
                Some((_, at)) if at.saturating_add(offset).saturating_add(bytes) <= size => {
                    let begin = at + offset;
                    to.push((begin..begin + bytes, ty));
                }
                _ => known = false,
            }
        };
        match &stmt.kind {
            StmtKind::Assign {
                value: Rvalue::Load { ty, addr, offset },
                ..
            } => uses(*addr, *offset, ty.size(), Some(*ty)),
            StmtKind::Store {
                addr,
                offset,
                value,
            } => {
                let ty = function.type_of(*value);
                uses(*addr, *offset, ty.size(), Some(ty));
            }
            StmtKind::Copy { dst, src, size } => {
                uses(*dst, 0, *size, None);
                uses(*src, 0, *size, None);
            }
            // The parts are set to zero one by one.
            StmtKind::Zero { dst, size: bytes } => {
                uses(*dst, 0, *bytes, None);
            }
            StmtKind::Call { func, args, .. } | StmtKind::Spawn { func, args, .. } => {
                for (value, bytes) in given(program, *func, args) {
                    uses(value, 0, bytes.unwrap_or_default(), None);
                }
                // All of it, as far as is known.
                if let StmtKind::Call {
                    ret_addr: Some(to), ..
                } = stmt.kind
                {
                    uses(to, 0, size, None);
                }
            }
            _ => {}
        }
    }
    let units = joined(out);
    // No scalar is set to zero in part.
    known &= units.iter().all(|(unit, ty)| {
        let cut = |(z, _): &(Range<u64>, _)| {
            let apart = z.end <= unit.start || unit.end <= z.start;
            !apart && (unit.start < z.start || z.end < unit.end)
        };
        ty.is_none() || !zeroed.iter().any(cut)
    });
    known.then_some(units)
}

/// Joins ranges that overlap.
fn joined(mut used: Vec<(Range<u64>, Option<Scalar>)>) -> Vec<(Range<u64>, Option<Scalar>)> {
    used.retain(|(range, _)| !range.is_empty());
    used.sort_by_key(|(range, _)| (range.start, range.end));
    let mut out: Vec<(Range<u64>, Option<Scalar>)> = Vec::new();
    for (range, ty) in used {
        match out.last_mut() {
            Some((last, of)) if range.start < last.end => {
                if *last != range || *of != ty {
                    *of = None;
                }
                last.end = last.end.max(range.end);
            }
            _ => out.push((range, ty)),
        }
    }
    out
}

fn add_slot(
    function: &mut Function,
    of: SlotId,
    range: &Range<u64>,
    scalar: Option<Scalar>,
) -> SlotId {
    let whole = &function.slots[of.index()];
    let size = range.end - range.start;
    // As well aligned as its place in the whole is.
    let place = 1 << range.start.trailing_zeros().min(6);
    let align = match (scalar, range.start) {
        (Some(_), _) => size,
        (None, 0) => whole.layout.align,
        _ => whole.layout.align.min(place),
    };
    let layout = Layout {
        size: size.next_multiple_of(align),
        align,
    };
    let slot = Slot {
        name: whole.name.clone(),
        layout,
        scalar,
    };
    function.slots.push(slot);
    SlotId::new(function.slots.len() - 1)
}

/// Has a statement use the parts.
fn point(
    program: &Program,
    function: &mut Function,
    private: &Private,
    parts: &BTreeMap<SlotId, Vec<(Range<u64>, SlotId)>>,
    mut stmt: Stmt,
    out: &mut Vec<Stmt>,
) {
    let span = stmt.span;
    let place = |o: Operand, offset: u64| {
        let (slot, at) = private.place(o)?;
        let at = at + offset;
        let mut of = parts.get(&slot)?.iter();
        let (range, part) = of.find(|(range, _)| range.contains(&at))?;
        Some((*part, at - range.start))
    };
    let address = |function: &mut Function, out: &mut Vec<Stmt>, part: SlotId, behind: u64| {
        let mut put = |value| {
            let dst = super::edit::add_local(function, None, Scalar::Ptr);
            let kind = StmtKind::Assign { dst, value };
            out.push(Stmt { kind, span });
            Operand::Local(dst)
        };
        let base = put(Rvalue::SlotAddr(part));
        match behind {
            0 => base,
            offset => put(Rvalue::PtrAdd {
                base,
                index: Operand::usize(0),
                scale: 1,
                offset,
            }),
        }
    };
    match &mut stmt.kind {
        StmtKind::Assign {
            value: Rvalue::Load { addr, offset, .. },
            ..
        }
        | StmtKind::Store { addr, offset, .. } => {
            if let Some((part, behind)) = place(*addr, *offset) {
                (*addr, *offset) = (address(function, out, part, 0), behind);
            }
        }
        StmtKind::Copy { dst, src, .. } => {
            for end in [dst, src] {
                if let Some((part, behind)) = place(*end, 0) {
                    *end = address(function, out, part, behind);
                }
            }
        }
        StmtKind::Zero { dst, size } => {
            if let Some((slot, at)) = private.place(*dst)
                && let Some(parts) = parts.get(&slot)
            {
                let end = at + *size;
                for (range, part) in parts {
                    let (begin, end) = (range.start.max(at), range.end.min(end));
                    if begin < end {
                        let dst = address(function, out, *part, begin - range.start);
                        let kind = match function.slots[part.index()].scalar {
                            Some(ty) => StmtKind::Store {
                                addr: dst,
                                offset: 0,
                                value: Operand::Const(ty, 0),
                            },
                            None => StmtKind::Zero {
                                dst,
                                size: end - begin,
                            },
                        };
                        out.push(Stmt { kind, span });
                    }
                }
                return;
            }
        }
        StmtKind::Call { func, args, .. } | StmtKind::Spawn { func, args, .. } => {
            let bytes: Vec<_> = given(program, *func, args).map(|g| g.1).collect();
            for (operand, bytes) in args.iter_mut().zip(bytes) {
                if bytes.is_some()
                    && let Some((part, behind)) = place(*operand, 0)
                {
                    *operand = address(function, out, part, behind);
                }
            }
        }
        _ => {}
    }
    out.push(stmt);
}
