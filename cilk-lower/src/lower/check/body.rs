//! The rules about one segment's body.

use super::CheckError;
use fixedbitset::FixedBitSet;
use millstream_graph::{
    flow::Flow,
    ir::{
        Arg, Block, BlockId, ChannelId, FuncId, FunctionKind, LocalId, Operand, Rvalue, SegmentId,
        StmtKind, TaskId, Terminator,
    },
    levelized::{Levelized, Segment},
    ty::{PieceKind, Scalar},
};
use std::collections::BTreeSet;

/// Checks one segment.
pub(super) fn check(program: &Levelized, task: TaskId, index: usize, errors: &mut Vec<CheckError>) {
    let segment = program.segment(task, SegmentId::new(index));
    let mut this = Checker {
        program,
        task,
        segment,
        entry: index == 0,
        errors,
    };
    if !this.well_formed() {
        return;
    }
    this.arguments();
    this.types();
    this.assigned_before_use();
    this.frame_once();
    this.slots_stay();
    this.room_first();
}

struct Checker<'a> {
    program: &'a Levelized,
    task: TaskId,
    segment: Segment<'a>,
    entry: bool,
    errors: &'a mut Vec<CheckError>,
}

/// Whether the frame is there: on no path, on every path, on some.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Frame {
    No,
    Yes,
    Some,
}

impl Frame {
    fn meet(self, other: Self) -> Self {
        if self == other { self } else { Self::Some }
    }
}

impl Checker<'_> {
    fn error(&mut self, what: impl Into<String>) {
        self.errors.push(CheckError {
            segment: self.segment.kernel.name.clone(),
            what: what.into(),
        });
    }

    fn blocks(&self) -> &[Block] {
        &self.segment.body.blocks
    }

    /// Ids are in range and terminators are those of segments. The other rules ask for this.
    fn well_formed(&mut self) -> bool {
        let before = self.errors.len();
        let body = self.segment.body;
        if body.kind != FunctionKind::Segment || body.blocks.is_empty() {
            self.error("not a segment");
            return false;
        }
        for (i, block) in body.blocks.iter().enumerate() {
            for target in block.term.targets() {
                if target.index() == 0 || target.index() >= body.blocks.len() {
                    self.error(format!("b{i} goes to {target}"));
                }
            }
            match block.term {
                Terminator::Sync(_) => self.error("a sync is left"),
                Terminator::Continue(s)
                    if s.index() == 0 || s.index() >= self.program[self.task].segments.len() =>
                {
                    self.error(format!("continues at {s}, which is no continuation"));
                }
                _ => {}
            }
            let mut locals: Vec<LocalId> = Vec::new();
            for stmt in &block.stmts {
                stmt.kind.each_operand(&mut |o| locals.extend(o.local()));
                locals.extend(stmt.kind.def());
                match &stmt.kind {
                    StmtKind::Assign {
                        value: Rvalue::FrameLoad(f) | Rvalue::FrameAddr(f),
                        ..
                    }
                    | StmtKind::FrameStore { field: f, .. }
                        if f.index() >= self.program.frame(self.task).len() =>
                    {
                        self.error(format!("the frame has no field {f}"));
                    }
                    StmtKind::Assign {
                        value: Rvalue::SlotAddr(s),
                        ..
                    } if s.index() >= body.slots.len() => {
                        self.error(format!("no slot {s}"));
                    }
                    _ => {}
                }
            }
            block.term.each_operand(&mut |o| locals.extend(o.local()));
            locals.extend(self.segment.ret);
            if let Some(local) = locals.into_iter().find(|l| l.index() >= body.locals.len()) {
                self.error(format!("no local {local}"));
            }
        }
        self.errors.len() == before
    }

    /// An entry's arguments are the element's fields; a return gives the pieces of the result.
    fn arguments(&mut self) {
        let body = self.segment.body;
        let kinds = body.args.iter().map(|arg| match arg {
            Arg::Local(id) => PieceKind::Scalar(body.locals[id.index()].ty),
            Arg::Slot(id) => PieceKind::Blob(body.slots[id.index()].layout),
        });
        let kinds: Vec<_> = kinds.collect();
        let fields: Vec<_> = self
            .program
            .element(self.task)
            .iter()
            .map(|f| f.kind)
            .collect();
        if self.entry && kinds != fields {
            self.error("the arguments are not the fields of the element");
        }
        if !self.entry && !kinds.is_empty() {
            self.error("a continuation has arguments");
        }
        let pieces = self.program.program[self.program.func(self.task)]
            .ret
            .pieces(&self.program.program.structs);
        let returns = body
            .blocks
            .iter()
            .any(|b| matches!(b.term, Terminator::Return(_)));
        if self.segment.ret.is_some() && pieces.is_empty() {
            self.error("a return address, but no result");
        }
        if self.segment.ret.is_none() && !pieces.is_empty() && (returns || self.entry) {
            self.error("a result, but no return address");
        }
        if let Some(ret) = self
            .segment
            .ret
            .filter(|r| body.locals[r.index()].ty != Scalar::Ptr)
        {
            self.error(format!(
                "{ret} of type {} is no address",
                body.locals[ret.index()].ty
            ));
        }
        if self.entry
            && self.segment.ret.is_some()
            && body.args.last() != self.segment.ret.map(Arg::Local).as_ref()
        {
            self.error("the return address is not the last argument");
        }
        for block in body.blocks.iter() {
            if let Terminator::Return(values) = &block.term {
                let types: Vec<_> = values.iter().map(|v| body.type_of(*v)).collect();
                let wanted: Vec<_> = pieces.iter().map(|p| scalar(p.kind)).collect();
                if types != wanted {
                    self.error(format!("returns {types:?}, not {wanted:?}"));
                }
            }
        }
    }

    fn types(&mut self) {
        let body = self.segment.body;
        for stmt in body.stmts() {
            match &stmt.kind {
                StmtKind::Assign { dst, value } => {
                    let field = |f: millstream_graph::ir::FieldId| {
                        scalar(self.program.frame(self.task)[f.index()].kind)
                    };
                    let (ty, wanted) = (
                        body.type_of_value(value, field),
                        body.locals[dst.index()].ty,
                    );
                    let blob = matches!(value, Rvalue::FrameLoad(f) if matches!(self.program.frame(self.task)[f.index()].kind, PieceKind::Blob(_)));
                    if ty != wanted || blob {
                        self.error(format!("{dst} of type {wanted} is set to a {ty}"));
                    }
                }
                StmtKind::FrameStore { field, value }
                    if self.program.frame(self.task)[field.index()].kind
                        != PieceKind::Scalar(body.type_of(*value)) =>
                {
                    self.error(format!(
                        "a {} is stored in field {field}",
                        body.type_of(*value)
                    ));
                }
                StmtKind::Spawn {
                    func, args, dest, ..
                } => self.spawn(*func, args, *dest),
                StmtKind::Emit { channel, args } => self.emit(*channel, args),
                _ => {}
            }
        }
    }

    fn spawn(
        &mut self,
        func: millstream_graph::ir::FuncId,
        args: &[Operand],
        dest: Option<millstream_graph::ir::Dest>,
    ) {
        let Some(child) = self.program.task_of(func) else {
            self.error(format!("spawns {func}, which is no task"));
            return;
        };
        let callee = &self.program[child];
        if dest.is_some_and(|d| d.combine != callee.combine) {
            self.error(format!(
                "`{}` does not combine as the spawn wants",
                callee.name
            ));
        }
        let body = self.segment.body;
        let types: Vec<_> = args
            .iter()
            .copied()
            .chain(dest.map(|d| d.addr))
            .map(|o| body.type_of(o))
            .collect();
        let wanted = self.program.element(child).iter();
        let wanted: Vec<_> = wanted.map(|f| scalar(f.kind)).collect();
        if types != wanted {
            self.error(format!(
                "gives {types:?} to `{}`, which takes {wanted:?}",
                callee.name
            ));
        }
    }

    fn emit(&mut self, channel: ChannelId, args: &[Operand]) {
        let Some(channel) = self.program.program.channels.get(channel.index()) else {
            self.error(format!("emits into {channel}, which is no channel"));
            return;
        };
        let types: Vec<_> = args.iter().map(|o| self.segment.body.type_of(*o)).collect();
        let wanted: Vec<_> = channel.fields.iter().map(|f| scalar(f.kind)).collect();
        if types != wanted {
            self.error(format!(
                "emits {types:?} into `{}`, which takes {wanted:?}",
                channel.name
            ));
        }
    }

    /// Each local is assigned on every path before it is read.
    fn assigned_before_use(&mut self) {
        let body = self.segment.body;
        let mut start = FixedBitSet::with_capacity(body.locals.len());
        start.extend(body.args.iter().filter_map(|a| match a {
            Arg::Local(id) => Some(id.index()),
            Arg::Slot(_) => None,
        }));
        let end = |id: BlockId, mut set: FixedBitSet| {
            let stmts = body.blocks[id.index()].stmts.iter();
            set.extend(stmts.filter_map(|s| s.kind.def()).map(LocalId::index));
            set
        };
        let at = Flow::new(body).forward_all(start, end, |a, b| a.intersect_with(&b));
        let mut wrong = FixedBitSet::with_capacity(body.locals.len());
        let mut read = |o: Operand, set: &FixedBitSet| {
            let local = o.local().map(LocalId::index);
            wrong.extend(local.filter(|l| !set.contains(*l)));
        };
        for (block, set) in body.blocks.iter().zip(at) {
            let Some(mut set) = set else { continue };
            for stmt in &block.stmts {
                stmt.kind.each_operand(&mut |o| read(o, &set));
                set.extend(stmt.kind.def().map(LocalId::index));
            }
            block.term.each_operand(&mut |o| read(o, &set));
            if let (Terminator::Return(_), Some(ret)) = (&block.term, self.segment.ret) {
                read(Operand::Local(ret), &set);
            }
        }
        for local in wrong.ones() {
            self.error(format!(
                "{} may be read before it is assigned",
                LocalId::new(local)
            ));
        }
    }

    /// The frame is reserved once before it is used, by the entry alone.
    fn frame_once(&mut self) {
        let blocks = self.blocks();
        let end = |id: BlockId, now: Frame| {
            let mut stmts = blocks[id.index()].stmts.iter();
            match stmts.any(|s| s.kind == StmtKind::FrameAlloc) {
                true => Frame::Yes,
                false => now,
            }
        };
        let entry = if self.entry { Frame::No } else { Frame::Yes };
        let at = Flow::new(self.segment.body).forward_all(entry, end, |a, b| *a = a.meet(b));
        let mut errors = BTreeSet::new();
        for (block, now) in blocks.iter().zip(at) {
            let Some(mut now) = now else { continue };
            for stmt in &block.stmts {
                match &stmt.kind {
                    StmtKind::FrameAlloc if now != Frame::No => {
                        errors.insert("the frame may be reserved twice");
                    }
                    StmtKind::FrameAlloc => now = Frame::Yes,
                    kind if kind.uses_frame() && now != Frame::Yes => {
                        errors.insert("the frame may be used before it is reserved");
                    }
                    _ => {}
                }
            }
            if matches!(block.term, Terminator::Continue(_)) && now != Frame::Yes {
                errors.insert("may continue without a frame");
            }
        }
        errors.into_iter().for_each(|e| self.error(e));
    }

    /// Where there are restart points, every push of what a loop spawns has room that one has found.
    fn room_first(&mut self) {
        if self.segment.body.restarts().is_none() {
            return;
        }
        let blocks = self.blocks();
        let flow = Flow::new(self.segment.body);
        let spawned = |b: BlockId| {
            let stmts = blocks[b.index()].stmts.iter();
            stmts.filter_map(|s| match s.kind {
                StmtKind::Spawn { func, .. } => Some(func),
                _ => None,
            })
        };
        let looped: BTreeSet<FuncId> = flow.cyclic().iter().flat_map(spawned).collect();
        let pushes = |b: BlockId| spawned(b).filter(|f| looped.contains(f)).count() as u32;
        let step = |b: BlockId, room: u32, send: &mut dyn FnMut(BlockId, u32)| {
            if let Terminator::Room {
                children,
                then,
                other,
            } = blocks[b.index()].term
            {
                send(then, children);
                send(other, 0);
            } else {
                let left = room.saturating_sub(pushes(b));
                flow.targets(b).iter().for_each(|t| send(*t, left));
            }
        };
        let room = flow.forward(0, step, |a, b| *a = (*a).min(b));
        let short = (0..blocks.len()).map(BlockId::new).find(|b| {
            let room = room[b.index()];
            room.is_some_and(|room| pushes(*b) > room)
        });
        if let Some(block) = short {
            self.error(format!("{block} spawns what has no room"));
        }
    }

    /// No address of a slot goes to a child or to the frame.
    fn slots_stay(&mut self) {
        let body = self.segment.body;
        let mut derived = FixedBitSet::with_capacity(body.locals.len());
        let stmts = || body.stmts();
        let mut changed = true;
        while changed {
            changed = false;
            for stmt in stmts() {
                if let StmtKind::Assign { dst, value } = &stmt.kind
                    && body.locals[dst.index()].ty == Scalar::Ptr
                    && !derived.contains(dst.index())
                {
                    let mut from = matches!(value, Rvalue::SlotAddr(_));
                    if !matches!(value, Rvalue::Load { .. }) {
                        value.each_operand(&mut |o| {
                            from |= o.local().is_some_and(|l| derived.contains(l.index()))
                        });
                    }
                    if from {
                        derived.insert(dst.index());
                        changed = true;
                    }
                }
            }
        }
        let is = |o: Operand| o.local().is_some_and(|l| derived.contains(l.index()));
        let mut errors = Vec::new();
        for stmt in stmts() {
            match &stmt.kind {
                StmtKind::Spawn {
                    func, args, dest, ..
                } => {
                    let element = self
                        .program
                        .task_of(*func)
                        .map_or(&[][..], |t| self.program.element(t));
                    let lent = args
                        .iter()
                        .zip(element)
                        .any(|(a, f)| matches!(f.kind, PieceKind::Scalar(_)) && is(*a));
                    if lent || dest.is_some_and(|d| is(d.addr)) {
                        errors.push("the address of a segment's slot goes to a child");
                    }
                }
                StmtKind::FrameStore { value, .. } if is(*value) => {
                    errors.push("the address of a segment's slot goes to the frame")
                }
                _ => {}
            }
        }
        errors.into_iter().for_each(|e| self.error(e));
    }
}

/// The type of the operand that a piece is passed as.
const fn scalar(kind: PieceKind) -> Scalar {
    match kind {
        PieceKind::Scalar(ty) => ty,
        PieceKind::Blob(_) => Scalar::Ptr,
    }
}
