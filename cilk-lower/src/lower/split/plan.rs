//! The frame of a task and the list of its segments.

use super::{persist, points_to::PointsTo};
use crate::lower::edit;
use fixedbitset::FixedBitSet;
use millstream_graph::flow::Liveness;
use millstream_graph::{
    flow::Flow,
    ir::{
        Arg, BlockId, FieldId, Function, LocalId, Operand, Program, SegmentId, SlotId, Terminator,
    },
    levelized::Field,
    ty::{PieceKind, Scalar},
};
use std::collections::{BTreeMap, BTreeSet};

/// What every segment of a task must agree on.
#[derive(Debug)]
pub(super) struct Plan {
    /// The fields of the frame: first those of slots, then those of locals.
    pub(super) frame: Vec<Field>,
    /// Which field a slot became.
    slots: Vec<Option<FieldId>>,
    /// Which field keeps a local across syncs.
    locals: Vec<Option<FieldId>>,
    /// The slots that are copied where a task waits for room, by the block at which it goes on, with their fields.
    copied: BTreeMap<BlockId, Vec<(SlotId, FieldId)>>,
    /// The block each segment starts at; the first is the entry.
    pub(super) starts: Vec<BlockId>,
    /// Which locals live, where.
    pub(super) live: Liveness,
    /// Where pointers point.
    points_to: PointsTo,
    /// The local of the return address, if the task returns something.
    pub(super) ret: Option<LocalId>,
}

impl Plan {
    /// For a task whose useless syncs are gone and whose last argument is the return address `ret`, if it has one.
    pub(super) fn new(program: &Program, function: &Function, ret: Option<LocalId>) -> Self {
        let live = Liveness::new(function, ret);
        let points_to = PointsTo::new(program, function);
        let persist::Persistent {
            slots: persistent,
            copied,
        } = persist::persistent(program, function, &points_to, &live);
        let starts = starts(function);
        let mut crossing = FixedBitSet::with_capacity(function.locals.len());
        starts
            .iter()
            .skip(1)
            .for_each(|b| crossing.union_with(live.live_in(*b)));

        let mut names = BTreeSet::new();
        let mut frame: Vec<Field> = Vec::new();
        let mut slots = vec![None; function.slots.len()];
        let mut locals = vec![None; function.locals.len()];
        for i in persistent.ones() {
            let slot = &function.slots[i];
            slots[i] = Some(FieldId::new(frame.len()));
            let kind = slot
                .scalar
                .map_or(PieceKind::Blob(slot.layout), PieceKind::Scalar);
            frame.push(Field {
                name: unique(&mut names, slot.name.as_deref(), "slot"),
                kind,
            });
        }
        for i in crossing.ones() {
            let local = &function.locals[i];
            locals[i] = Some(FieldId::new(frame.len()));
            frame.push(Field {
                name: unique(&mut names, local.name.as_deref(), "value"),
                kind: PieceKind::Scalar(local.ty),
            });
        }
        let mut fields = BTreeMap::new();
        for i in copied.values().flat_map(|c| c.ones()) {
            let slot = &function.slots[i];
            fields.entry(i).or_insert_with(|| {
                frame.push(Field {
                    name: unique(&mut names, slot.name.as_deref(), "slot"),
                    kind: PieceKind::Blob(slot.layout),
                });
                FieldId::new(frame.len() - 1)
            });
        }
        let with_field = |slots: FixedBitSet| {
            let slots = slots.ones().map(|i| (SlotId::new(i), fields[&i]));
            slots.collect()
        };
        let copied = copied.into_iter().map(|(at, s)| (at, with_field(s)));
        Self {
            copied: copied.collect(),
            frame,
            slots,
            locals,
            starts,
            live,
            points_to,
            ret,
        }
    }

    /// The field that a slot became, if it is persistent.
    pub(super) fn slot(&self, slot: SlotId) -> Option<FieldId> {
        self.slots[slot.index()]
    }

    /// The scalar field of which an operand is the address and no other place's.
    pub(super) fn scalar_at(&self, addr: Operand, ty: Scalar) -> Option<FieldId> {
        let field = self.slot(self.points_to.direct(addr)?)?;
        (self.frame[field.index()].kind == PieceKind::Scalar(ty)).then_some(field)
    }

    /// Whether a field is one that a scalar slot became.
    pub(super) fn is_scalar_slot(&self, field: FieldId) -> bool {
        self.slots.contains(&Some(field))
            && matches!(self.frame[field.index()].kind, PieceKind::Scalar(_))
    }

    /// The segment that starts at a sync's target.
    pub(super) fn segment_at(&self, start: BlockId) -> SegmentId {
        SegmentId::new(
            self.starts
                .iter()
                .skip(1)
                .position(|b| *b == start)
                .map_or(0, |i| i + 1),
        )
    }

    /// The slots that are copied to the frame before a continuation, and back where it starts.
    pub(super) fn copied(&self, start: BlockId) -> &[(SlotId, FieldId)] {
        self.copied.get(&start).map_or(&[], Vec::as_slice)
    }

    /// The locals that a continuation finds in its frame, with their fields.
    pub(super) fn kept(&self, start: BlockId) -> impl Iterator<Item = (LocalId, FieldId)> + '_ {
        self.live
            .live_in(start)
            .ones()
            .filter_map(|i| Some((LocalId::new(i), self.locals[i]?)))
    }
}

fn starts(function: &Function) -> Vec<BlockId> {
    let mut out = vec![BlockId(0)];
    for id in Flow::new(function).order() {
        if let Terminator::Sync(target) = function.blocks[id.index()].term
            && !out[1..].contains(&target)
        {
            out.push(target);
        }
    }
    out
}

fn unique(names: &mut BTreeSet<String>, name: Option<&str>, or: &str) -> String {
    let base = name.unwrap_or(or);
    let mut out = base.to_owned();
    let mut n = 1;
    while !names.insert(out.clone()) {
        n += 1;
        out = format!("{base}.{n}");
    }
    out
}

/// The fields of an entry element of a task: the pieces of its parameters, then the return address.
pub(super) fn element(program: &Program, function: &Function, ret: Option<LocalId>) -> Vec<Field> {
    let mut out = Vec::new();
    for param in &function.params {
        out.extend(Field::pieces(&param.name, &param.ty, &program.structs));
    }
    if ret.is_some() {
        out.push(Field {
            name: "return".into(),
            kind: PieceKind::Scalar(Scalar::Ptr),
        });
    }
    debug_assert_eq!(out.len(), function.args.len());
    out
}

/// Gives a task its return address, as last argument, if it returns something.
pub(super) fn add_return_address(program: &Program, function: &mut Function) -> Option<LocalId> {
    if function.ret.pieces(&program.structs).is_empty() {
        return None;
    }
    let ret = edit::add_local(function, Some("return".into()), Scalar::Ptr);
    function.args.push(Arg::Local(ret));
    Some(ret)
}
