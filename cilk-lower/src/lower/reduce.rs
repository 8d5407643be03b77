//! Associative reductions: a task that only combines its children's results need not wait for them.
//!
//! [`gather`] turns `let x = spawn!(f(..)); let y = spawn!(f(..)); sync!(); x + y` of a recursive task into one gathered sum, so that the
//! children are of the kind that adds its result. [`forward`] then looks at tasks of that kind: if what they gather is only returned,
//! their children may add to where the task itself would, and nothing is left to do after the sync. So a recursion that counts, sums,
//! or looks for a least or greatest number runs without frames and continuations, but for its outermost call.
//!
//! Integers, `bool`, and the least or greatest of floats: there the order does not matter to the bits. Sums that are checked for overflow
//! stay as they are, because the check reads them.

use super::{edit, simplify};
use millstream_graph::{
    flow::{BlockSet, CallGraph, Dominators, Flow},
    ir::{
        BinOp, BlockId, Combine, Dest, FuncId, Function, FunctionKind, LocalId, Operand, Program,
        Rvalue, SlotId, Stmt, StmtKind, Terminator,
    },
    ty::{PieceKind, Scalar, Structs},
};
use std::collections::{BTreeMap, BTreeSet};

/// A statement: its block and its place in it.
type At = (BlockId, usize);

/// The value that changes nothing when combined.
fn neutral(op: BinOp, ty: Scalar) -> Option<Operand> {
    let bits = Combine::by(op)?.neutral(ty)?;
    op.accepts(ty).then_some(Operand::Const(ty, bits))
}

/// What the two passes ask of a function.
struct Facts {
    /// Where each local is assigned, if that is one place only.
    def: Vec<Option<At>>,
    uses: Vec<u32>,
    flow: Flow,
    dominators: Dominators,
    /// The blocks that can come again.
    cyclic: BlockSet,
    slots: Vec<SlotUse>,
}

/// Who touches a slot, or parts of it. `other` if its address goes anywhere else.
#[derive(Clone, Default)]
struct SlotUse {
    loads: Vec<At>,
    stores: Vec<At>,
    spawns: Vec<At>,
    other: bool,
}

impl Facts {
    fn new(function: &Function) -> Self {
        let count = function.locals.len();
        let flow = Flow::new(function);
        let mut facts = Self {
            def: vec![None; count],
            uses: vec![0; count],
            dominators: flow.dominators(),
            cyclic: flow.cyclic(),
            flow,
            slots: vec![SlotUse::default(); function.slots.len()],
        };
        let mut defs = vec![0u32; count];
        for arg in &function.args {
            match arg {
                millstream_graph::ir::Arg::Local(id) => defs[id.index()] += 1,
                millstream_graph::ir::Arg::Slot(id) => facts.slots[id.index()].other = true,
            }
        }
        for (at, stmt) in statements(function) {
            if let Some(dst) = stmt.kind.def() {
                defs[dst.index()] += 1;
                facts.def[dst.index()] = Some(at);
            }
            stmt.kind.each_operand(&mut |o| facts.used(o));
        }
        for block in &function.blocks {
            block.term.each_operand(&mut |o| facts.used(o));
        }
        for (def, count) in facts.def.iter_mut().zip(defs) {
            *def = def.filter(|_| count == 1);
        }
        facts.find_slots(function);
        facts
    }

    fn used(&mut self, operand: Operand) {
        if let Some(id) = operand.local() {
            self.uses[id.index()] += 1;
        }
    }

    /// The slot whose address an operand is.
    fn slot_of(&self, function: &Function, operand: Operand) -> Option<SlotId> {
        match self.value(function, operand)? {
            Rvalue::SlotAddr(slot) => Some(*slot),
            _ => None,
        }
    }

    /// What an operand was assigned, if that happened in one place.
    fn value<'f>(&self, function: &'f Function, operand: Operand) -> Option<&'f Rvalue> {
        let (block, at) = self.def[operand.local()?.index()]?;
        match &function.blocks[block.index()].stmts[at].kind {
            StmtKind::Assign { value, .. } => Some(value),
            _ => None,
        }
    }

    fn find_slots(&mut self, function: &Function) {
        let mut slots = std::mem::take(&mut self.slots);
        for (at, stmt) in statements(function) {
            let mut others = Vec::new();
            match &stmt.kind {
                StmtKind::Assign {
                    value: Rvalue::Load { addr, .. },
                    ..
                } => match self.slot_of(function, *addr) {
                    Some(slot) => slots[slot.index()].loads.push(at),
                    None => others.push(*addr),
                },
                StmtKind::Store { addr, value, .. } => {
                    others.push(*value);
                    match self.slot_of(function, *addr) {
                        Some(slot) => slots[slot.index()].stores.push(at),
                        None => others.push(*addr),
                    }
                }
                StmtKind::Spawn {
                    args,
                    dest: Some(dest),
                    ..
                } => {
                    others.extend(args);
                    match self.slot_of(function, dest.addr) {
                        Some(slot) => slots[slot.index()].spawns.push(at),
                        None => others.push(dest.addr),
                    }
                }
                // An address in a local that has other values too is one that is not followed.
                StmtKind::Assign {
                    dst,
                    value: Rvalue::SlotAddr(slot),
                } => slots[slot.index()].other |= self.def[dst.index()].is_none(),
                kind => kind.each_operand(&mut |o| others.push(o)),
            }
            for slot in others.into_iter().filter_map(|o| self.slot_of(function, o)) {
                slots[slot.index()].other = true;
            }
        }
        self.slots = slots;
    }

    fn dominates(&self, (a, i): At, (b, j): At) -> bool {
        if a == b {
            i < j
        } else {
            self.dominators.dominates(a, b)
        }
    }

    fn once(&self, at: At) -> bool {
        !self.cyclic.contains(at.0)
    }

    /// The loads of slots that a value combines with `op`, each counted once; other parts are left aside.
    fn leaves(&self, function: &Function, value: Operand, op: BinOp, out: &mut Vec<(SlotId, At)>) {
        let Some(id) = value.local() else {
            return;
        };
        if self.uses[id.index()] != 1 {
            return;
        }
        match self.value(function, value) {
            Some(Rvalue::Use(a)) => self.leaves(function, *a, op, out),
            Some(Rvalue::Binary(found, a, b)) if *found == op => {
                self.leaves(function, *a, op, out);
                self.leaves(function, *b, op, out);
            }
            Some(Rvalue::Load { addr, .. }) => {
                if let (Some(slot), Some(at)) =
                    (self.slot_of(function, *addr), self.def[id.index()])
                {
                    out.push((slot, at));
                }
            }
            _ => {}
        }
    }
}

fn statements(function: &Function) -> impl Iterator<Item = (At, &Stmt)> {
    let blocks = function.blocks.iter().enumerate();
    blocks.flat_map(|(b, block)| {
        block
            .stmts
            .iter()
            .enumerate()
            .map(move |(i, s)| ((BlockId::new(b), i), s))
    })
}

/// Whether every way from a spawn to a return goes over the load of its result.
fn always_loaded(function: &Function, flow: &Flow, spawn: At, load: At) -> bool {
    let returns = |b: BlockId| matches!(function.blocks[b.index()].term, Terminator::Return(_));
    let onward = flow.reach(flow.targets(spawn.0).iter().copied(), |b| b != load.0);
    !onward.into_iter().any(|b| b != load.0 && returns(b)) && !returns(spawn.0)
}

/// The values that a task returns as one integer or `bool`.
fn returned(function: &Function) -> Vec<Operand> {
    let values = function.blocks.iter().filter_map(|b| match &b.term {
        Terminator::Return(values) if values.len() == 1 => Some(values[0]),
        _ => None,
    });
    values.filter(|v| v.local().is_some()).collect()
}

/// Makes one gathered result of those that a recursive task combines only to return them. A task that waits for another child's result by itself, `2 * a + b`,
/// keeps all of them: else there were children of two kinds on each level, whose elements run one kind after the other, and what comes of each by itself.
pub(crate) fn gather(program: &mut Program) {
    let spawns = CallGraph::of_spawns(program);
    for i in 0..program.functions.len() {
        let id = FuncId::new(i);
        if program[id].kind != FunctionKind::Task || !spawns.is_recursive(id) {
            continue;
        }
        let comes_back = |func: FuncId| func == id || spawns.reached(func)[i];
        let function = &mut program.functions[i];
        let before = function.clone();
        for value in returned(function) {
            let facts = Facts::new(function);
            if let Some(Rvalue::Binary(op, ..)) = facts.value(function, value) {
                gather_one(function, &facts, value, *op, &comes_back);
            }
        }
        // A child whose result is the task's own is one of those that it combines elsewhere.
        if let Some(op) = gathers_by(function) {
            for value in returned(function) {
                let facts = Facts::new(function);
                if let Some(Rvalue::Load { .. }) = facts.value(function, value) {
                    let recurses = |func| spawns.is_recursive(func);
                    gather_one(function, &facts, value, op, &recurses);
                }
            }
        }
        let (stored, gathered) = ways(&before, &comes_back);
        let (still, _) = ways(function, &comes_back);
        if gathered == 0 && (1..stored).contains(&still) {
            *function = before;
        }
        simplify::simplify(function, None);
    }
}

/// How many of the children that `comes_back` to the task store their results, and how many of them are gathered.
fn ways(function: &Function, comes_back: &impl Fn(FuncId) -> bool) -> (usize, usize) {
    let mut count = (0, 0);
    for stmt in function.stmts() {
        match &stmt.kind {
            StmtKind::Spawn {
                func,
                dest: Some(dest),
                ..
            } if comes_back(*func) => match dest.combine {
                Combine::Store => count.0 += 1,
                _ => count.1 += 1,
            },
            _ => {}
        }
    }
    count
}

/// How the task combines what its children give, if it does so in one way.
fn gathers_by(function: &Function) -> Option<BinOp> {
    let mut ways = function.stmts().filter_map(|s| match &s.kind {
        StmtKind::Spawn {
            dest: Some(dest), ..
        } => dest.combine.op(),
        _ => None,
    });
    let first = ways.next()?;
    ways.all(|op| op == first).then_some(first)
}

/// Gathers the parts of one value, `wanted` saying whose.
fn gather_one(
    function: &mut Function,
    facts: &Facts,
    value: Operand,
    op: BinOp,
    wanted: &impl Fn(FuncId) -> bool,
) {
    let (Some(neutral), Some(combine)) = (neutral(op, function.type_of(value)), Combine::by(op))
    else {
        return;
    };
    let mut leaves = Vec::new();
    facts.leaves(function, value, op, &mut leaves);
    // Results that exactly one child stores, once, and that are loaded once, on every way from there.
    let mut parts: Vec<Part> = Vec::new();
    for (slot, load) in leaves {
        let used = &facts.slots[slot.index()];
        if function.slots[slot.index()].scalar.is_none() {
            continue;
        }
        if let ([spawn], [_], false) = (used.spawns.as_slice(), used.loads.as_slice(), used.other)
            && let StmtKind::Spawn {
                func,
                dest: Some(dest),
                ..
            } = &function.blocks[spawn.0.index()].stmts[spawn.1].kind
            && dest.combine == Combine::Store
            && wanted(*func)
            && facts.once(*spawn)
            && (facts.dominates(*spawn, load) || !used.stores.is_empty())
            && always_loaded(function, &facts.flow, *spawn, load)
            && is_nothing_before(function, facts, used, *spawn, neutral)
        {
            parts.push(Part {
                slot,
                spawn: *spawn,
                load,
                stores: used.stores.clone(),
            });
        }
    }
    // All looked at in one block: when it begins, every one of them has come.
    let block = parts.first().map(|part| part.load.0);
    parts.retain(|part| Some(part.load.0) == block);
    let begins = |at: At| {
        parts
            .iter()
            .all(|p| facts.dominates(at, p.load) && (at == p.spawn || facts.dominates(at, p.spawn)))
    };
    // The sum begins with the first child, or where it is said to be nothing before, or where it is decided which children there are.
    let first = parts.iter().find_map(|part| match part.stores[..] {
        [] => begins(part.spawn).then_some((part.slot, part.spawn)),
        [store] => (facts.once(store) && begins(store)).then_some((part.slot, store)),
        _ => None,
    });
    let decided = || {
        let blocks = (0..function.blocks.len()).map(BlockId::new);
        let ends = blocks.map(|b| (b, function.blocks[b.index()].stmts.len()));
        let all: Vec<At> = ends.filter(|at| facts.once(*at) && begins(*at)).collect();
        let last = |at: &&At| {
            all.iter()
                .all(|other| other == *at || facts.dominates(*other, **at))
        };
        Some((parts.first()?.slot, *all.iter().find(last)?))
    };
    let Some((sum, first)) = first.or_else(decided) else {
        return;
    };
    for part in &parts {
        if part.slot != sum
            && let StmtKind::Assign { value, .. } =
                &mut function.blocks[part.load.0.index()].stmts[part.load.1].kind
        {
            *value = Rvalue::Use(neutral);
        }
        // Nothing loads the others any more, and the sum begins once.
        for (b, i) in &part.stores {
            function.blocks[b.index()].stmts[*i].kind = NOTHING;
        }
    }
    let addr = Operand::Local(edit::add_local(function, None, Scalar::Ptr));
    for part in &parts {
        let (b, i) = part.spawn;
        if let StmtKind::Spawn { dest, .. } = &mut function.blocks[b.index()].stmts[i].kind {
            *dest = Some(Dest { addr, combine });
        }
    }
    let Operand::Local(dst) = addr else { return };
    let block = &mut function.blocks[first.0.index()];
    let span = block.stmts.get(first.1).map_or(block.span, |s| s.span);
    let begin = [
        StmtKind::Assign {
            dst,
            value: Rvalue::SlotAddr(sum),
        },
        StmtKind::Store {
            addr,
            offset: 0,
            value: neutral,
        },
    ];
    block
        .stmts
        .splice(first.1..first.1, begin.map(|kind| Stmt { kind, span }));
    drop_nothing(function);
}

/// A child's result that is a part of a sum.
struct Part {
    slot: SlotId,
    spawn: At,
    load: At,
    /// Where it is said to be what changes nothing, if there is no child.
    stores: Vec<At>,
}

/// Whether all that is stored to a slot is what changes nothing, and before its child is spawned, or where it is not.
fn is_nothing_before(
    function: &Function,
    facts: &Facts,
    used: &SlotUse,
    spawn: At,
    neutral: Operand,
) -> bool {
    let behind = facts
        .flow
        .reach(facts.flow.targets(spawn.0).iter().copied(), |_| true);
    used.stores.iter().all(|(b, i)| {
        let stored = &function.blocks[b.index()].stmts[*i].kind;
        let is_neutral = matches!(stored, StmtKind::Store { value, .. } if *value == neutral);
        is_neutral && !behind.contains(b) && (*b != spawn.0 || *i < spawn.1)
    })
}

/// Stands where a statement is taken out, so that the places of the others still hold.
const NOTHING: StmtKind = StmtKind::Zero {
    dst: Operand::Const(Scalar::Ptr, 0),
    size: 0,
};

fn drop_nothing(function: &mut Function) {
    for block in &mut function.blocks {
        block.stmts.retain(|s| s.kind != NOTHING);
    }
}

/// A scalar of what a task returns: where it lies, and how it is combined.
struct Piece {
    offset: u64,
    ty: Scalar,
    op: BinOp,
}

/// The scalars of what a task returns, if they are combined and the order does not matter to their bits; else nothing.
fn combined(function: &Function, structs: &Structs, combine: Combine) -> Vec<Piece> {
    let pieces = function.ret.pieces(structs).into_iter().enumerate();
    let pieces = pieces.map(|(i, piece)| match (piece.kind, combine.of_piece(i).op()) {
        (PieceKind::Scalar(ty), Some(op)) => neutral(op, ty).map(|_| Piece {
            offset: piece.offset,
            ty,
            op,
        }),
        _ => None,
    });
    pieces.collect::<Option<_>>().unwrap_or_default()
}

/// A return whose value has a load of a slot as a part: of which piece, and where it is loaded.
struct Given {
    end: BlockId,
    piece: usize,
    load: At,
}

/// Lets the children of a task that combines its result combine theirs at the same place, where they are only gathered to be returned.
/// `ret` is the local of the task's return address.
/// Gives its new number.
pub(crate) fn forward(
    function: &mut Function,
    structs: &Structs,
    mut ret: LocalId,
    combine: Combine,
) -> LocalId {
    let pieces = combined(function, structs, combine);
    if !pieces.is_empty() {
        forward_all(function, ret, &pieces, combine);
        ret = simplify::simplify(function, Some(ret)).unwrap_or(ret);
    }
    // A sync may stand right before another: the one that a task ends with.
    while return_early(function) {
        ret = simplify::simplify(function, Some(ret)).unwrap_or(ret);
    }
    ret
}

fn forward_all(function: &mut Function, ret: LocalId, pieces: &[Piece], combine: Combine) {
    let facts = Facts::new(function);
    let mut parts: BTreeMap<SlotId, Vec<Given>> = BTreeMap::new();
    for (i, block) in function.blocks.iter().enumerate() {
        let Terminator::Return(values) = &block.term else {
            continue;
        };
        for (piece, (value, of)) in values.iter().zip(pieces).enumerate() {
            let mut leaves = Vec::new();
            facts.leaves(function, *value, of.op, &mut leaves);
            for (slot, load) in leaves {
                let end = BlockId::new(i);
                parts
                    .entry(slot)
                    .or_default()
                    .push(Given { end, piece, load });
            }
        }
    }
    for (slot, given) in parts {
        let Some(starts) = only_gathered(function, &facts, slot, &given, pieces, combine) else {
            continue;
        };
        for (b, i) in &facts.slots[slot.index()].spawns {
            if let StmtKind::Spawn {
                dest: Some(dest), ..
            } = &mut function.blocks[b.index()].stmts[*i].kind
            {
                dest.addr = Operand::Local(ret);
            }
        }
        // What the slot began with is part of what is returned, on whichever way.
        for Given { piece, load, .. } in given {
            let (b, i) = load;
            if let StmtKind::Assign { value, .. } = &mut function.blocks[b.index()].stmts[i].kind {
                *value = Rvalue::Use(starts[piece].1);
            }
        }
        // Nothing loads the slot any more.
        for ((b, i), _) in starts {
            function.blocks[b.index()].stmts[i].kind = NOTHING;
        }
    }
    drop_nothing(function);
}

/// Where each piece of a slot begins and with what, if what children gather there is returned, by these returns with these loads, and nothing else.
fn only_gathered(
    function: &Function,
    facts: &Facts,
    slot: SlotId,
    given: &[Given],
    pieces: &[Piece],
    combine: Combine,
) -> Option<Vec<(At, Operand)>> {
    let used = &facts.slots[slot.index()];
    let same_way = used.spawns.iter().all(
        |(b, i)| matches!(&function.blocks[b.index()].stmts[*i].kind, StmtKind::Spawn { dest: Some(d), .. } if d.combine == combine),
    );
    let fits = !used.other
        && same_way
        && !used.spawns.is_empty()
        && used.loads.len() == given.len()
        && used.stores.len() == pieces.len();
    if !fits {
        return None;
    }
    let mut starts = Vec::new();
    for (i, piece) in pieces.iter().enumerate() {
        let (start, initial) = (used.stores.iter()).find_map(|at| {
            match function.blocks[at.0.index()].stmts[at.1].kind {
                StmtKind::Store { offset, value, .. } if offset == piece.offset => {
                    (function.type_of(value) == piece.ty).then_some((*at, value))
                }
                _ => None,
            }
        })?;
        let is_loaded = |(b, i): At| {
            let kind = &function.blocks[b.index()].stmts[i].kind;
            matches!(kind, StmtKind::Assign { value: Rvalue::Load { ty, offset, .. }, .. } if *ty == piece.ty && *offset == piece.offset)
        };
        let constant = initial
            .local()
            .is_none_or(|id| facts.def[id.index()].is_some());
        let in_order = |at: At| facts.dominates(start, at);
        let returns: Vec<(BlockId, At)> = (given.iter().filter(|g| g.piece == i))
            .map(|g| (g.end, g.load))
            .collect();
        let loaded =
            |(_, load): &(BlockId, At)| is_loaded(*load) && facts.once(*load) && in_order(*load);
        let ends: BTreeSet<BlockId> = returns.iter().map(|(end, _)| *end).collect();
        let fits = constant
            && ends.len() == returns.len()
            && facts.once(start)
            && returns.iter().all(loaded)
            && used
                .spawns
                .iter()
                .all(|s| in_order(*s) && comes_to(function, &facts.flow, *s, &returns));
        if !fits {
            return None;
        }
        starts.push((start, initial));
    }
    Some(starts)
}

/// Whether every return that a spawn may come to is one of these, and its load stands on every way there.
fn comes_to(function: &Function, flow: &Flow, spawn: At, returns: &[(BlockId, At)]) -> bool {
    let reached = flow.reach([spawn.0], |_| true);
    let mut ends = reached
        .into_iter()
        .filter(|b| matches!(function.blocks[b.index()].term, Terminator::Return(_)));
    ends.all(|end| {
        let Some((_, load)) = returns.iter().find(|(at, _)| *at == end) else {
            return false;
        };
        let onward = flow.reach(flow.targets(spawn.0).iter().copied(), |b| b != load.0);
        end != spawn.0 && (end == load.0 || !onward.contains(&end))
    })
}

/// A result that is known before the sync need not wait for it.
fn return_early(function: &mut Function) -> bool {
    let mut changed = false;
    let pure = |s: &Stmt| match &s.kind {
        StmtKind::Assign { value, .. } => !matches!(
            value,
            Rvalue::Load { .. } | Rvalue::SlotAddr(_) | Rvalue::PtrAdd { .. }
        ),
        _ => false,
    };
    for i in 0..function.blocks.len() {
        let Terminator::Sync(target) = function.blocks[i].term else {
            continue;
        };
        let next = &function.blocks[target.index()];
        let scalars =
            |values: &[Operand]| values.iter().all(|v| function.type_of(*v) != Scalar::Ptr);
        if matches!(&next.term, Terminator::Return(values) if scalars(values))
            && next.stmts.iter().all(pure)
        {
            function.blocks[i].term = Terminator::Goto(target);
            changed = true;
        }
    }
    changed
}
