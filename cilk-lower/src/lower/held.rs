//! Keeps in a local what a loop adds up in one place of memory, as `c[i] += a[j] * b[j]` in a loop over `j`.
//!
//! ```text
//! for j in lo..hi {                       if lo < hi {
//!     *p = *p + x(j);                         let mut sum = *p;
//! }                                =>         for j in lo..hi { sum = sum + x(j); }
//!                                             *p = sum;
//!                                         }
//! ```
//!
//! The place is loaded in the block behind the loop's header, where each turn comes first: so it is there if the loop is entered at all. It is written wherever the
//! loop is left. Nothing else may be seen of it meanwhile: the loop calls, spawns, checks and waits for nothing, and all else that it reads and writes lies
//! elsewhere. That it does is shown by where addresses come from:
//!
//! - Two parameters do not reach the same memory if a loop writes through one of them: that one is a `&mut`, or a part of one, whose loan lasts for all of the
//!   loop, as each of its blocks can come to the write again, and Rust lends nothing twice. The return address is none of these: it may lie in what is lent.
//! - A slot of the function is none of its parameters' memory, and no other slot's.
//! - Of one address, bytes that do not overlap.
//!
//! What a segment has from its frame, or reads from memory, may point anywhere. A device's compiler does none of this, as it does not know what Rust
//! promises. It is done where checks are taken out ([`super::bounds`]), and behind that.

use super::{edit, simplify};
use fixedbitset::FixedBitSet;
use millstream_graph::{
    flow::{Flow, Liveness, Loop},
    ir::{
        Arg, BinOp, Block, BlockId, DataId, Function, LocalId, Operand, Rvalue, SlotId, Stmt,
        StmtKind, Terminator,
    },
    ty::Scalar,
};
use std::collections::{BTreeMap, BTreeSet};

/// So many places of a loop are kept at most: more would not find registers.
const MOST_PLACES: usize = 8;
/// Loops that read and write oftener are let be: each place is compared with all others.
const MOST_ACCESSES: usize = 256;

/// What an address lies in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Root {
    /// What a parameter points to.
    Arg(LocalId),
    /// A slot.
    Slot(SlotId),
    /// A constant table.
    Table(DataId),
    /// Anything.
    Unknown,
}

/// A scalar in memory: the local that holds its address, and bytes to add.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Place {
    addr: LocalId,
    offset: u64,
}

/// A load or store of a loop.
#[derive(Clone, Copy, Debug)]
struct Access {
    place: Place,
    ty: Scalar,
    stores: bool,
    block: BlockId,
}

/// What is kept: a place, what it holds, and where.
#[derive(Clone, Copy, Debug)]
struct Kept {
    place: Place,
    ty: Scalar,
    local: LocalId,
}

/// A loop, and what may be kept in locals while it runs.
struct Plan {
    of: Loop,
    /// The block behind the header, where each turn goes on.
    first: BlockId,
    places: Vec<(Place, Scalar)>,
    /// The statements of the loop that make the addresses, in order.
    chain: Vec<Stmt>,
    /// Of locals that hold the same address in all turns, the one that stands for them.
    same: BTreeMap<LocalId, LocalId>,
}

/// Does so in a helper or a segment. `ret`, if there is one, is a local that each return reads.
pub(crate) fn keep(function: &mut Function, ret: Option<LocalId>) {
    let stores = |s: &Stmt| matches!(s.kind, StmtKind::Store { .. });
    if !function.stmts().any(stores) {
        return;
    }
    let flow = Flow::new(function);
    let loops = flow.loops();
    if loops.is_empty() {
        return;
    }
    let liveness = Liveness::with_flow(&flow, function, ret);
    let times = edit::times_set(function);
    let known = Known {
        roots: roots(function, &times, ret),
        times,
        liveness,
        flow,
    };
    let plans: Vec<Plan> = loops
        .iter()
        .filter(|l| is_innermost(l, &loops) && !is_of_rounds(function, l, &loops))
        .filter_map(|l| plan(function, &known, l))
        .collect();
    if plans.is_empty() {
        return;
    }
    for plan in &plans {
        write(function, plan);
    }
    edit::drop_unreachable(function);
    simplify::sweep(function, ret);
}

fn is_innermost(of: &Loop, all: &[Loop]) -> bool {
    !all.iter()
        .any(|l| l.header != of.header && of.blocks.contains(l.header))
}

/// Turns of an outermost loop that are rounds may run side by side.
fn is_of_rounds(function: &Function, of: &Loop, all: &[Loop]) -> bool {
    let around = |l: &Loop| l.header != of.header && l.blocks.contains(of.header);
    function.rounds && !all.iter().any(around)
}

/// What is known of a function.
struct Known {
    flow: Flow,
    liveness: Liveness,
    /// How often each local is set.
    times: Vec<u32>,
    /// What each points into.
    roots: Vec<Root>,
}

/// What each local points into; `ret` is the return address.
fn roots(function: &Function, times: &[u32], ret: Option<LocalId>) -> Vec<Root> {
    let mut of = vec![Root::Unknown; function.locals.len()];
    for arg in &function.args {
        if let Arg::Local(id) = arg
            && times[id.index()] == 1
            && ret != Some(*id)
        {
            of[id.index()] = Root::Arg(*id);
        }
    }
    // In the order of the blocks; what is made of what comes later stays unknown.
    for stmt in function.stmts() {
        if let StmtKind::Assign { dst, value } = &stmt.kind
            && times[dst.index()] == 1
        {
            of[dst.index()] = match value {
                Rvalue::SlotAddr(slot) => Root::Slot(*slot),
                Rvalue::DataAddr(data) => Root::Table(*data),
                Rvalue::Use(base) | Rvalue::PtrAdd { base, .. } => {
                    base.local().map_or(Root::Unknown, |b| of[b.index()])
                }
                _ => Root::Unknown,
            };
        }
    }
    of
}

/// Whether accesses to two places never meet, of which one is written.
fn apart(roots: &[Root], a: (Place, Scalar), b: (Place, Scalar)) -> bool {
    let ((a, size_of_a), (b, size_of_b)) = ((a.0, a.1.size()), (b.0, b.1.size()));
    if a.addr == b.addr {
        return a.offset + size_of_a <= b.offset || b.offset + size_of_b <= a.offset;
    }
    match (roots[a.addr.index()], roots[b.addr.index()]) {
        (Root::Unknown, _) | (_, Root::Unknown) => false,
        (a, b) => a != b,
    }
}

fn plan(function: &Function, known: &Known, of: &Loop) -> Option<Plan> {
    let inside = |b: &BlockId| of.blocks.contains(*b);
    let enters_elsewhere = |b: BlockId| b != of.header && !known.flow.sources(b).iter().all(inside);
    let header = &function.blocks[of.header.index()];
    let Terminator::Branch { then, other, .. } = header.term else {
        return None;
    };
    let (first, end) = match (inside(&then), inside(&other)) {
        (true, false) => (then, other),
        (false, true) => (other, then),
        _ => return None,
    };
    // What the header does is done in front of the loop too, and what it sets there has other names: so it reads nothing that it set the turn before,
    // and sets nothing for what comes behind the loop.
    let mut set = header.stmts.iter().map(|s| match s.kind {
        StmtKind::Assign { dst, .. } => Some(dst),
        _ => None,
    });
    let lives = |at: BlockId, l: LocalId| known.liveness.live_in(at).contains(l.index());
    let only_here = |l: Option<LocalId>| l.is_some_and(|l| !lives(of.header, l) && !lives(end, l));
    if first == of.header || !set.all(only_here) || of.blocks.iter().any(enters_elsewhere) {
        return None;
    }
    let mut chain = Chain::new(function, &known.times, of, first);
    let mut accesses = accesses(function, of).filter(|all| all.len() <= MOST_ACCESSES)?;
    // What is made where turns begin stands for what is made elsewhere.
    accesses.sort_by_key(|a| a.block != of.header && a.block != first);
    for access in &mut accesses {
        access.place.addr = chain.same(access.place.addr);
    }
    let mut places: BTreeMap<Place, Scalar> = BTreeMap::new();
    for access in accesses.iter().filter(|a| a.block == first && !a.stores) {
        places.insert(access.place, access.ty);
    }
    places.retain(|place, ty| {
        let mine = |a: &&Access| a.place == *place;
        let mut others = accesses.iter().filter(|a| a.place != *place);
        accesses.iter().filter(mine).any(|a| a.stores)
            && accesses
                .iter()
                .filter(mine)
                .all(|a| a.ty == *ty && a.block != of.header)
            && others.all(|a| apart(&known.roots, (*place, *ty), (a.place, a.ty)))
    });
    places.retain(|place, _| chain.take(place.addr));
    (!places.is_empty()).then(|| Plan {
        of: of.clone(),
        first,
        places: places.into_iter().take(MOST_PLACES).collect(),
        chain: chain.stmts(),
        same: chain.same,
    })
}

/// All loads and stores of a loop, if it does nothing else to memory and only goes from block to block. A frame's fields are loaded by what is no access here: what
/// such a load and a kept place could share is a scalar that is stored by [`StmtKind::FrameStore`] alone.
fn accesses(function: &Function, of: &Loop) -> Option<Vec<Access>> {
    let mut out = Vec::new();
    for block in of.blocks.iter() {
        let of_block = &function.blocks[block.index()];
        let goes_on = matches!(
            of_block.term,
            Terminator::Goto(_) | Terminator::Branch { .. } | Terminator::Switch { .. }
        );
        if !goes_on {
            return None;
        }
        for stmt in &of_block.stmts {
            let (addr, offset, ty, stores) = match &stmt.kind {
                StmtKind::Assign {
                    value: Rvalue::Load { ty, addr, offset },
                    ..
                } => (*addr, *offset, *ty, false),
                StmtKind::Store {
                    addr,
                    offset,
                    value,
                } => (*addr, *offset, function.type_of(*value), true),
                StmtKind::Assign { .. } => continue,
                _ => return None,
            };
            let addr = addr.local()?;
            let place = Place { addr, offset };
            out.push(Access {
                place,
                ty,
                stores,
                block,
            });
        }
    }
    Some(out)
}

/// So many blocks are come to in each turn before any other: the header, and the one behind it.
const BEGIN: usize = 2;

/// What the addresses that stay the same in a loop are made of.
struct Chain<'a> {
    function: &'a Function,
    /// The locals that the loop sets.
    set: FixedBitSet,
    /// How often the function sets each.
    times: &'a [u32],
    /// Its blocks: where each turn begins, the header and the one behind it, then the others.
    blocks: Vec<BlockId>,
    /// Which of their statements sets a local.
    at: BTreeMap<LocalId, (usize, usize)>,
    /// Statements of its beginning that are needed, by their place.
    needed: BTreeSet<(usize, usize)>,
    /// What was asked for by [`Self::is_fixed`].
    fixed: BTreeMap<LocalId, bool>,
    /// What was asked for by [`Self::same`].
    same: BTreeMap<LocalId, LocalId>,
    values: Vec<(Rvalue, LocalId)>,
}

impl<'a> Chain<'a> {
    fn new(function: &'a Function, times: &'a [u32], of: &Loop, first: BlockId) -> Self {
        let mut set = FixedBitSet::with_capacity(function.locals.len());
        let blocks = of.blocks.iter().map(|b| &function.blocks[b.index()]);
        let locals = blocks.flat_map(|b| b.stmts.iter().filter_map(|s| s.kind.def()));
        set.extend(locals.map(LocalId::index));
        let mut blocks = vec![of.header, first];
        blocks.extend(of.blocks.iter().filter(|b| *b != of.header && *b != first));
        let stmts = blocks.iter().enumerate().flat_map(|(i, b)| {
            let stmts = function.blocks[b.index()].stmts.iter().enumerate();
            stmts.map(move |(j, s)| (s.kind.def(), (i, j)))
        });
        Self {
            function,
            set,
            times,
            at: stmts.filter_map(|(local, at)| Some((local?, at))).collect(),
            blocks,
            needed: BTreeSet::new(),
            fixed: BTreeMap::new(),
            same: BTreeMap::new(),
            values: Vec::new(),
        }
    }

    /// The local that stands for all that are made in the same way of what stays the same: `c[i] = c[i] + x` asks twice where `c[i]` is.
    fn same(&mut self, local: LocalId) -> LocalId {
        if let Some(same) = self.same.get(&local) {
            return *same;
        }
        let mut value = match self.set_by(local) {
            Some((_, value)) if self.is_fixed(local) => value.clone(),
            _ => return local,
        };
        value.operands_mut(|o| {
            if let Operand::Local(of) = o {
                *of = self.same(*of);
            }
        });
        let same = if let Rvalue::Use(Operand::Local(of)) = value {
            of
        } else if let Some((_, of)) = self.values.iter().find(|(v, _)| *v == value) {
            *of
        } else {
            self.values.push((value, local));
            local
        };
        self.same.insert(local, same);
        same
    }

    /// Where a turn sets a local, and to what.
    fn set_by(&self, local: LocalId) -> Option<((usize, usize), &'a Rvalue)> {
        let at = *self.at.get(&local)?;
        let block = &self.function.blocks[self.blocks[at.0].index()];
        match &block.stmts[at.1].kind {
            StmtKind::Assign { value, .. } => Some((at, value)),
            _ => None,
        }
    }

    /// Whether a local is the same in all turns, and made where they begin; what it is made of is needed then.
    fn take(&mut self, local: LocalId) -> bool {
        let (mut todo, mut needed) = (vec![local], BTreeSet::new());
        while let Some(local) = todo.pop() {
            if !self.set.contains(local.index()) {
                continue;
            }
            match self.set_by(local) {
                Some((at, value)) if at.0 < BEGIN && self.is_fixed(local) => {
                    if needed.insert(at) {
                        value.each_operand(&mut |o| todo.extend(o.local()));
                    }
                }
                _ => return false,
            }
        }
        self.needed.extend(needed);
        true
    }

    /// Whether a local is the same in all turns, wherever it is read.
    fn is_fixed(&mut self, local: LocalId) -> bool {
        if !self.set.contains(local.index()) {
            return true;
        }
        if let Some(fixed) = self.fixed.get(&local) {
            return *fixed;
        }
        // What is made of itself is not.
        self.fixed.insert(local, false);
        let fixed = self.is_made_of_fixed(local);
        self.fixed.insert(local, fixed);
        fixed
    }

    fn is_made_of_fixed(&mut self, local: LocalId) -> bool {
        // What is set elsewhere too may be read before the loop sets it.
        let once = self.times[local.index()] == 1;
        let Some((at, value)) = self.set_by(local).filter(|_| once) else {
            return false;
        };
        let plain = match value {
            Rvalue::Use(_) | Rvalue::Cast(..) | Rvalue::PtrAdd { .. } => true,
            // That of a scalar variable stands in one place.
            Rvalue::SlotAddr(slot) => self.function.slots[slot.index()].scalar.is_none(),
            Rvalue::Binary(op, ..) => matches!(
                op,
                BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Min | BinOp::Max
            ),
            _ => false,
        };
        let mut fixed = plain;
        value.each_operand(&mut |o| {
            let Some(of) = o.local() else { return };
            // Each is made of what is set before it: of others it would have what the turn before left.
            let is_before = self
                .at
                .get(&of)
                .is_none_or(|of| *of < at && (of.0 < BEGIN || of.0 == at.0));
            fixed = fixed && is_before && self.is_fixed(of);
        });
        fixed
    }

    fn stmts(&self) -> Vec<Stmt> {
        let stmt = |(i, j): &(usize, usize)| {
            let block = self.blocks[*i];
            self.function.blocks[block.index()].stmts[*j].clone()
        };
        self.needed.iter().map(stmt).collect()
    }
}

/// Other locals for what statements set.
fn anew(function: &mut Function, stmts: &mut [Stmt]) -> BTreeMap<LocalId, LocalId> {
    let mut names = BTreeMap::new();
    for local in stmts.iter().filter_map(|s| s.kind.def()) {
        let of = function.locals[local.index()].clone();
        names.insert(local, edit::add_local(function, of.name, of.ty));
    }
    for stmt in stmts {
        stmt.kind.rename(|id| names.get(&id).copied().unwrap_or(id));
    }
    names
}

fn write(function: &mut Function, plan: &Plan) {
    let header = plan.of.header;
    let kept: Vec<Kept> = plan
        .places
        .iter()
        .map(|(place, ty)| Kept {
            place: *place,
            ty: *ty,
            local: edit::add_local(function, None, *ty),
        })
        .collect();
    let (guard, before) = (
        BlockId::new(function.blocks.len()),
        BlockId::new(function.blocks.len() + 1),
    );
    for (i, block) in function.blocks.iter_mut().enumerate() {
        if !plan.of.blocks.contains(BlockId::new(i)) {
            let enter = |t: &mut BlockId| {
                if *t == header {
                    *t = guard;
                }
            };
            block.term.targets_mut(enter);
        }
    }
    let mut asks = function.blocks[header.index()].clone();
    let names = anew(function, &mut asks.stmts);
    let name = |id: LocalId| names.get(&id).copied().unwrap_or(id);
    asks.term.operands_mut(|o| o.rename(name));
    asks.term.targets_mut(|t| {
        if *t == plan.first {
            *t = before;
        }
    });
    let span = asks.span;
    function.blocks.push(asks);

    let mut stmts = plan.chain.clone();
    let names = anew(function, &mut stmts);
    let at = |place: Place| {
        let addr = names.get(&place.addr).copied().unwrap_or(place.addr);
        (Operand::Local(addr), place.offset)
    };
    let stmt = |kind| Stmt { kind, span };
    stmts.extend(kept.iter().map(|k| {
        let (addr, offset) = at(k.place);
        let (dst, ty) = (k.local, k.ty);
        let value = Rvalue::Load { ty, addr, offset };
        stmt(StmtKind::Assign { dst, value })
    }));
    function.blocks.push(Block {
        stmts,
        term: Terminator::Goto(header),
        span,
    });
    hold(function, plan, &kept);
    // Behind the loop, on each way out.
    let mut behind: BTreeMap<BlockId, BlockId> = BTreeMap::new();
    for block in plan.of.blocks.iter() {
        let mut term = function.blocks[block.index()].term.clone();
        term.targets_mut(|t| {
            if !plan.of.blocks.contains(*t) {
                let new = *behind.entry(*t).or_insert_with(|| {
                    let stores = kept.iter().map(|k| {
                        let (addr, offset) = at(k.place);
                        let value = Operand::Local(k.local);
                        stmt(StmtKind::Store {
                            addr,
                            offset,
                            value,
                        })
                    });
                    function.blocks.push(Block {
                        stmts: stores.collect(),
                        term: Terminator::Goto(*t),
                        span,
                    });
                    BlockId::new(function.blocks.len() - 1)
                });
                *t = new;
            }
        });
        function.blocks[block.index()].term = term;
    }
}

/// Within the loop the places are locals.
fn hold(function: &mut Function, plan: &Plan, kept: &[Kept]) {
    let local = |addr: Operand, offset: u64| {
        let addr = addr.local()?;
        let addr = plan.same.get(&addr).copied().unwrap_or(addr);
        let place = Place { addr, offset };
        kept.iter().find(|k| k.place == place).map(|k| k.local)
    };
    for block in plan.of.blocks.iter() {
        for stmt in &mut function.blocks[block.index()].stmts {
            match &mut stmt.kind {
                StmtKind::Assign { value, .. } => {
                    if let Rvalue::Load { addr, offset, .. } = value
                        && let Some(held) = local(*addr, *offset)
                    {
                        *value = Rvalue::Use(Operand::Local(held));
                    }
                }
                StmtKind::Store {
                    addr,
                    offset,
                    value,
                } => {
                    if let Some(dst) = local(*addr, *offset) {
                        let value = Rvalue::Use(*value);
                        stmt.kind = StmtKind::Assign { dst, value };
                    }
                }
                _ => {}
            }
        }
    }
}
