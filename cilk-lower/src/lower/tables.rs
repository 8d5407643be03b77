//! What is read of a constant table at a known place is known; and a loop with few turns that goes over a table is written out, so that the places
//! are known.
//!
//! ```text
//! for [a, b, c] in LINES {                               if cell[0] == cell[1] && cell[1] == cell[2] { .. }
//!     if cell[a] == cell[b] && cell[b] == cell[c] { .. }     =>      if cell[3] == cell[4] && cell[4] == cell[5] { .. }
//! }                                                      ..
//! ```
//!
//! Numbers that are known make others known: indices that need no check, elements that are registers, masks that are constants. A copy of a table that
//! nothing changes is the table.

use super::{
    edit, loops,
    places::{self, Base, Place},
    private::Private,
    simplify, turns,
};
use fixedbitset::FixedBitSet;
use millstream_graph::{
    flow::{BlockSet, Flow, Loop},
    ir::{Arg, Data, DataId, Function, LocalId, Operand, Program, Rvalue, SlotId, StmtKind},
    ty::Scalar,
};
use std::collections::BTreeMap;

/// A loop of more turns stays.
const MOST_TURNS: u32 = 16;
/// As do those that would take more statements.
const MOST_STATEMENTS: usize = 512;
/// As does each loop that would make the function larger than this.
const MOST_IN_ALL: usize = 1536;

/// Puts in what is known of the tables of a function that is simplified.
pub(crate) fn look_up(program: &Program, function: &mut Function) {
    let data = &program.data;
    if !places(function).iter().any(Option::is_some) {
        return;
    }
    if point(program, function) {
        simplify::settle(function, None);
    }
    settle(function, data);
    if !function.rounds {
        write_out(function, data);
    }
    edit::drop_unused(function, None);
}

/// Puts what is read of tables at known places in, and what follows of it.
fn settle(function: &mut Function, data: &[Data]) {
    while read(function, data) {
        simplify::settle(function, None);
    }
}

/// Where each local points, if that is a known place of a table.
fn places(function: &Function) -> Vec<Option<(DataId, u64)>> {
    let table = |place: Option<Place>| match place? {
        (Base::Table(data), at) => Some((data, at)),
        (Base::Slot(_), _) => None,
    };
    places::places(function).into_iter().map(table).collect()
}

/// Puts constants in the place of what is read of tables at known places. Says whether there was anything.
fn read(function: &mut Function, data: &[Data]) -> bool {
    let places = places(function);
    let mut any = false;
    for stmt in function.blocks.iter_mut().flat_map(|b| &mut b.stmts) {
        if let StmtKind::Assign { value, .. } = &mut stmt.kind
            && let Rvalue::Load { ty, addr, offset } = value
            && let Some((table, begin)) = addr.local().and_then(|l| places[l.index()])
            && let Some(bits) = bits(&data[table.index()].bytes, begin.wrapping_add(*offset), *ty)
            && let constant = Rvalue::Use(Operand::Const(*ty, bits))
            && !simplify::is_nan(*ty, bits)
        {
            *value = constant;
            any = true;
        }
    }
    any
}

/// What lies at a place. None beyond the table's end: a check in front of it fails.
fn bits(bytes: &[u8], at: u64, ty: Scalar) -> Option<u64> {
    let begin = usize::try_from(at).ok()?;
    let of = bytes.get(begin..begin.checked_add(ty.size() as usize)?)?;
    let mut whole = [0; 8];
    whole[..of.len()].copy_from_slice(of);
    Some(u64::from_le_bytes(whole))
}

/// Has what only ever holds a copy of a table point at the table. Says whether there was any.
fn point(program: &Program, function: &mut Function) -> bool {
    let private = Private::new(program, function);
    let places = places(function);
    let tables: BTreeMap<SlotId, DataId> = private
        .slots
        .ones()
        .map(SlotId::new)
        .filter_map(|slot| Some((slot, copy_of(function, &private, &places, slot)?)))
        .collect();
    for block in &mut function.blocks {
        let copies = |dst: Operand| private.slot(dst).is_some_and(|s| tables.contains_key(&s));
        block
            .stmts
            .retain(|s| !matches!(s.kind, StmtKind::Copy { dst, .. } if copies(dst)));
        for stmt in &mut block.stmts {
            if let StmtKind::Assign { value, .. } = &mut stmt.kind
                && let Rvalue::SlotAddr(slot) = value
                && let Some(table) = tables.get(slot)
            {
                *value = Rvalue::DataAddr(*table);
            }
        }
    }
    !tables.is_empty()
}

/// The table that a private slot holds, if nothing else is ever written to it.
fn copy_of(
    function: &Function,
    private: &Private,
    places: &[Option<(DataId, u64)>],
    slot: SlotId,
) -> Option<DataId> {
    let of = &function.slots[slot.index()];
    if of.scalar.is_some() || function.args.contains(&Arg::Slot(slot)) {
        return None;
    }
    let inside = |o: Operand| private.slot(o) == Some(slot);
    let mut table = None;
    for stmt in function.stmts() {
        match &stmt.kind {
            StmtKind::Copy { dst, src, size } if inside(*dst) => {
                let (data, begin) = places[src.local()?.index()]?;
                if begin != 0 || *size != of.layout.size || table.is_some_and(|t| t != data) {
                    return None;
                }
                table = Some(data);
            }
            StmtKind::Store { addr: to, .. }
            | StmtKind::Zero { dst: to, .. }
            | StmtKind::Call {
                ret_addr: Some(to), ..
            } if inside(*to) => return None,
            _ => {}
        }
    }
    table
}

/// Writes out loops that go over tables, the smallest first.
fn write_out(function: &mut Function, data: &[Data]) {
    while let Some(over) = OverTable::least(function) {
        let OverTable { of, turns, .. } = over;
        loops::take_off(function, None, (of.header, &of.blocks), turns);
        simplify::settle(function, None);
        settle(function, data);
    }
}

/// A loop that may be written out and looks up what lies in a table where its counter says.
struct OverTable {
    of: Loop,
    turns: u32,
    size: usize,
}

impl OverTable {
    fn least(function: &Function) -> Option<Self> {
        let places = places(function);
        let (flow, in_all) = (Flow::new(function), edit::size(function));
        let over = flow.loops().into_iter().filter_map(|of| {
            if !loops::may_be_copied(function, &of.blocks) {
                return None;
            }
            let (turns, counter) = turns::exactly(function, &flow, &of)?;
            let size = loops::size(function, &of.blocks);
            let more = size * turns as usize;
            let fits = (1..=MOST_TURNS).contains(&turns)
                && more <= MOST_STATEMENTS
                && in_all + more <= MOST_IN_ALL;
            (fits && looks_up(function, &of.blocks, &places, counter)).then_some(Self {
                of,
                turns,
                size,
            })
        });
        over.min_by_key(|o| o.size)
    }
}

/// Whether some place of a table is named there by the counter of these turns, or by what is made of it and of constants alone.
fn looks_up(
    function: &Function,
    blocks: &BlockSet,
    places: &[Option<(DataId, u64)>],
    counter: LocalId,
) -> bool {
    let inside = || {
        let blocks = blocks.iter().map(|b| &function.blocks[b.index()]);
        blocks.flat_map(|b| &b.stmts)
    };
    let times = edit::times_set(function);
    let mut known = FixedBitSet::with_capacity(function.locals.len());
    known.insert(counter.index());
    loop {
        let before = known.count_ones(..);
        for stmt in inside() {
            if let StmtKind::Assign { dst, value } = &stmt.kind {
                let mut all = matches!(
                    value,
                    Rvalue::Use(_)
                        | Rvalue::Unary(..)
                        | Rvalue::Binary(..)
                        | Rvalue::Cast(..)
                        | Rvalue::Select(..)
                );
                value.each_operand(&mut |o| {
                    all &= o.local().is_none_or(|l| known.contains(l.index()));
                });
                if all && times[dst.index()] == 1 {
                    known.insert(dst.index());
                }
            }
        }
        if known.count_ones(..) == before {
            break;
        }
    }
    inside().any(|s| {
        matches!(&s.kind, StmtKind::Assign {
            value: Rvalue::PtrAdd { base: Operand::Local(base), index: Operand::Local(index), .. },
            ..
        } if places[base.index()].is_some() && known.contains(index.index()))
    })
}
