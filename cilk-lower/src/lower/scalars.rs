//! Small arrays whose elements are all named by known numbers live in locals, an element each: registers, if there are enough.
//!
//! A slot qualifies if its address goes nowhere: it is only added to, by constants, and loaded from, stored to, copied and zeroed. What is
//! loaded and stored there says what its *cells* are; a copy from slot to slot makes both have the same ones, and what is copied or zeroed
//! beside them is cut into words. One that is copied from or to memory more than it is used stays there: by words that takes fewer loads and stores than
//! cell by cell.

use super::{
    edit,
    places::{self, Base},
};
use fixedbitset::FixedBitSet;
use millstream_graph::{
    flow::{Flow, Liveness},
    ir::{Arg, BlockId, Function, LocalId, Operand, Rvalue, SlotId, Span, Stmt, StmtKind},
    ty::Scalar,
};
use std::collections::BTreeMap;

/// A larger slot stays in memory.
const MOST_BYTES: u64 = 256;
/// As does one of more cells.
const MOST_CELLS: usize = 32;

/// So many turns a loop has, if nobody knows, and so often a block runs at most.
const A_LOOP: u64 = 8;
const MOST_OFTEN: u64 = 1 << 20;

/// What a slot consists of, by where in it.
type Cells = BTreeMap<u64, Scalar>;

/// A byte of a slot.
type Place = (SlotId, u64);

/// Puts locals in the place of such slots. Says whether there was any.
pub(crate) fn replace(function: &mut Function) -> bool {
    let places = Places::new(function);
    let cells = places.cells(function);
    if cells.iter().all(Option::is_none) {
        return false;
    }
    let mut locals: BTreeMap<Place, LocalId> = BTreeMap::new();
    for (i, cells) in cells.iter().enumerate() {
        for (at, ty) in cells.iter().flatten() {
            let name = function.slots[i].name.clone();
            let local = edit::add_local(function, name, *ty);
            locals.insert((SlotId::new(i), *at), local);
        }
    }
    let rewriter = Rewriter {
        places: &places,
        cells: &cells,
        locals: &locals,
    };
    for block in &mut function.blocks {
        let old = std::mem::take(&mut block.stmts);
        for stmt in old {
            rewriter.rewrite(stmt, &mut block.stmts);
        }
    }
    initialize(function, &locals);
    true
}

/// Whether a slot could live in locals, if only all numbers were known.
pub(crate) fn may_fit(function: &Function, slot: SlotId) -> bool {
    let of = &function.slots[slot.index()];
    of.scalar.is_none()
        && of.layout.size <= MOST_BYTES
        && !function.args.contains(&Arg::Slot(slot))
        && !escapes(function, slot)
}

/// The locals that may hold an address inside a slot.
pub(crate) fn addresses_in(function: &Function, slot: SlotId) -> FixedBitSet {
    places::within(function, |value| *value == Rvalue::SlotAddr(slot))
}

/// Whether the address of a slot goes anywhere but to loads, stores, copies and zeroes.
fn escapes(function: &Function, slot: SlotId) -> bool {
    let within = addresses_in(function, slot);
    let inside = |o: Operand| o.local().is_some_and(|l| within.contains(l.index()));
    let mut found = function
        .args
        .iter()
        .any(|a| matches!(a, Arg::Local(l) if within.contains(l.index())));
    for block in &function.blocks {
        for stmt in &block.stmts {
            match &stmt.kind {
                StmtKind::Store { value, .. } => found |= inside(*value),
                StmtKind::Copy { .. } | StmtKind::Zero { .. } => {}
                StmtKind::Assign {
                    value: Rvalue::Load { .. } | Rvalue::Use(_) | Rvalue::PtrAdd { .. },
                    ..
                } => {}
                kind => kind.each_operand(&mut |o| found |= inside(o)),
            }
        }
        block.term.each_operand(&mut |o| found |= inside(o));
    }
    found
}

/// Where each local points, if that is always the same place of one slot.
struct Places {
    of: Vec<Option<Place>>,
    /// The slots that qualify.
    slots: FixedBitSet,
}

impl Places {
    fn new(function: &Function) -> Self {
        let mut this = Self {
            of: vec![None; function.locals.len()],
            slots: FixedBitSet::with_capacity(function.slots.len()),
        };
        let all = (0..function.slots.len()).map(SlotId::new);
        let fitting = all.filter(|s| may_fit(function, *s)).map(SlotId::index);
        this.slots.extend(fitting);
        if this.slots.is_clear() {
            return this;
        }
        let mut again = true;
        while std::mem::take(&mut again) {
            for stmt in function.stmts() {
                if let StmtKind::Assign { dst, value } = &stmt.kind
                    && this.of[dst.index()].is_none()
                    && let Some(place) = this.place(value)
                {
                    this.of[dst.index()] = Some(place);
                    again = true;
                }
            }
        }
        this.leave_unknown(function);
        this
    }

    fn at(&self, operand: Operand) -> Option<Place> {
        self.of[operand.local()?.index()]
    }

    fn place(&self, value: &Rvalue) -> Option<Place> {
        let of = |id: LocalId| self.of[id.index()].map(|(slot, at)| (Base::Slot(slot), at));
        match places::place(value, of)? {
            (Base::Slot(slot), at) => Some((slot, at)),
            (Base::Table(_), _) => None,
        }
    }

    /// Leaves out the slots of which some address is not known.
    fn leave_unknown(&mut self, function: &Function) {
        for i in 0..function.slots.len() {
            let slot = SlotId::new(i);
            if !self.slots.contains(i) {
                continue;
            }
            let within = addresses_in(function, slot);
            let known = |dst: &LocalId, value: &Rvalue| {
                let place = self.place(value);
                place.is_some_and(|(s, _)| s == slot) && place == self.of[dst.index()]
            };
            let all = function.stmts().all(|s| match &s.kind {
                StmtKind::Assign { dst, value } => {
                    !within.contains(dst.index()) || known(dst, value)
                }
                kind => kind.def().is_none_or(|dst| !within.contains(dst.index())),
            });
            self.slots.set(i, all);
        }
    }

    /// The place that an operand points at, if its slot qualifies.
    fn place_of(&self, operand: Operand) -> Option<Place> {
        self.at(operand)
            .filter(|(slot, _)| self.slots.contains(slot.index()))
    }

    /// What the slots consist of that qualify.
    fn cells(&self, function: &Function) -> Vec<Option<Cells>> {
        let mut found = Finder {
            cells: (0..function.slots.len())
                .map(|i| self.slots.contains(i).then(Cells::new))
                .collect(),
            copies: Vec::new(),
            ranges: Vec::new(),
            accesses: Vec::new(),
            often: 1,
            function,
        };
        for (block, often) in function.blocks.iter().zip(how_often(function)) {
            found.often = often;
            for stmt in &block.stmts {
                found.look(self, &stmt.kind);
            }
        }
        found.spread();
        // Only copied: it is a part of something.
        for cells in &mut found.cells {
            *cells = cells.take().filter(|c| !c.is_empty());
        }
        found.fill(true);
        found.fill(false);
        for cells in &mut found.cells {
            *cells = cells.take().filter(|c| c.len() <= MOST_CELLS);
        }
        found.only_whole();
        found.only_worth();
        found.cells
    }
}

/// How often each block runs, about: what lies in a loop more often than what is around it.
fn how_often(function: &Function) -> Vec<u64> {
    let mut often = vec![1u64; function.blocks.len()];
    for of in Flow::new(function).loops() {
        for block in of.blocks.iter() {
            let often = &mut often[block.index()];
            *often = often.saturating_mul(A_LOOP).min(MOST_OFTEN);
        }
    }
    often
}

/// Finds the cells of slots.
struct Finder<'a> {
    /// None for slots that do not qualify.
    cells: Vec<Option<Cells>>,
    copies: Vec<Copied>,
    /// What is copied from or to memory, or, where that is false, zeroed, and how often.
    ranges: Vec<(Place, u64, bool, u64)>,
    /// Loads and stores, and how often.
    accesses: Vec<(SlotId, u64)>,
    /// How often what is looked at runs, about.
    often: u64,
    function: &'a Function,
}

/// A copy from slot to slot.
#[derive(Clone, Copy)]
struct Copied {
    to: Place,
    from: Place,
    size: u64,
    often: u64,
}

impl Copied {
    fn ends(&self) -> [(Place, u64); 2] {
        [(self.to, self.size), (self.from, self.size)]
    }
}

impl Finder<'_> {
    fn look(&mut self, places: &Places, kind: &StmtKind) {
        match kind {
            StmtKind::Assign {
                value: Rvalue::Load { ty, addr, offset },
                ..
            } => self.access(places.place_of(*addr), *offset, *ty),
            StmtKind::Store {
                addr,
                offset,
                value,
            } => self.access(
                places.place_of(*addr),
                *offset,
                self.function.type_of(*value),
            ),
            StmtKind::Copy { dst, src, size } => {
                let (to, from) = (places.place_of(*dst), places.place_of(*src));
                match (to, from) {
                    (Some(to), Some(from)) => self.copies.push(Copied {
                        to,
                        from,
                        size: *size,
                        often: self.often,
                    }),
                    (to, from) => {
                        let ranges = to.into_iter().chain(from);
                        let often = self.often;
                        self.ranges
                            .extend(ranges.map(|at| (at, *size, true, often)));
                    }
                }
            }
            StmtKind::Zero { dst, size } => {
                let to = places.place_of(*dst);
                self.ranges
                    .extend(to.map(|at| (at, *size, false, self.often)));
            }
            _ => {}
        }
    }

    fn access(&mut self, place: Option<Place>, offset: u64, ty: Scalar) {
        if let Some((slot, at)) = place {
            self.accesses.push((slot, self.often));
            self.add(slot, at.wrapping_add(offset), ty);
        }
    }

    /// Adds a cell, or gives the slot up where it has another there. Says whether anything changed.
    fn add(&mut self, slot: SlotId, at: u64, ty: Scalar) -> bool {
        let layout = self.function.slots[slot.index()].layout;
        let Some(cells) = &mut self.cells[slot.index()] else {
            return false;
        };
        let end = at.saturating_add(ty.size());
        let before = cells.range(..end).next_back();
        let apart = before.is_none_or(|(b, t)| b + t.size() <= at);
        if cells.get(&at) == Some(&ty) {
            return false;
        }
        if apart && end <= layout.size && ty.size() <= layout.align && at.is_multiple_of(ty.size())
        {
            cells.insert(at, ty);
        } else {
            self.cells[slot.index()] = None;
        }
        true
    }

    /// Lets both ends of each copy have the same cells.
    fn spread(&mut self) {
        let mut again = true;
        while std::mem::take(&mut again) {
            for copied in self.copies.clone() {
                let (a, b) = (copied.to, copied.from);
                // What is copied from or to a slot that stays in memory.
                if self.cells[a.0.index()].is_none() || self.cells[b.0.index()].is_none() {
                    continue;
                }
                for (from, to) in [(a, b), (b, a)] {
                    let cells = self.cells[from.0.index()].clone().unwrap_or_default();
                    for (at, ty) in cells.range(from.1..from.1 + copied.size) {
                        again |= self.add(to.0, to.1 + (at - from.1), *ty);
                    }
                }
            }
        }
    }

    /// Cuts what is copied beside cells into words, or what is zeroed.
    fn fill(&mut self, copied: bool) {
        let ends = self.copies.iter().flat_map(Copied::ends);
        let both = ends.filter(|_| copied);
        let ranges = self.ranges.iter().filter(|r| r.2 == copied);
        let ranges: Vec<_> = ranges.map(|r| (r.0, r.1)).chain(both).collect();
        for (place, size) in ranges {
            self.fill_range(place, size, copied);
            self.spread();
        }
    }

    fn fill_range(&mut self, (slot, first): Place, size: u64, copied: bool) {
        let Some(cells) = self.cells[slot.index()].clone() else {
            return;
        };
        let end = first + size;
        // Memory is as well aligned as the cells say that what is copied is.
        let sizes = cells.range(first..end).map(|(_, ty)| ty.size());
        let aligned = if copied { sizes.max().unwrap_or(1) } else { 8 };
        let word = aligned.min(self.function.slots[slot.index()].layout.align);
        let mut at = first;
        while at < end {
            let next = cells.range(at..).next().map_or(end, |(c, _)| *c).min(end);
            if next == at {
                at += cells[&at].size();
                continue;
            }
            let fits = |ty: &Scalar| {
                let size = ty.size();
                size <= word && at.is_multiple_of(size) && at + size <= next
            };
            let words = [Scalar::U64, Scalar::U32, Scalar::U16, Scalar::U8];
            let ty = words.into_iter().find(fits).unwrap_or(Scalar::U8);
            self.add(slot, at, ty);
            at += ty.size();
        }
    }

    /// Gives up the slots of which part of a cell is copied or zeroed.
    fn only_whole(&mut self) {
        let mut again = true;
        while std::mem::take(&mut again) {
            let both = self.copies.iter().flat_map(Copied::ends);
            let ranges = self.ranges.iter().map(|r| (r.0, r.1));
            let all: Vec<_> = ranges.chain(both).collect();
            for ((slot, first), size) in all {
                let cells = self.cells[slot.index()].as_ref();
                if cells.is_some_and(|c| !covers(c, first, first + size)) {
                    self.cells[slot.index()] = None;
                    again = true;
                }
            }
        }
    }

    /// Gives up the slots that are copied from and to memory more than they are used: cell by cell that takes longer than by words.
    fn only_worth(&mut self) {
        loop {
            let worth = (0..self.cells.len()).map(|slot| self.worth(SlotId::new(slot)));
            match worth.enumerate().min_by_key(|(_, worth)| *worth) {
                Some((slot, worth)) if worth < 0 => self.cells[slot] = None,
                _ => return,
            }
        }
    }

    /// How many loads and stores less a slot takes if it lives in locals.
    fn worth(&self, slot: SlotId) -> i64 {
        let Some(cells) = &self.cells[slot.index()] else {
            return 0;
        };
        let used = self.accesses.iter().filter(|(s, _)| *s == slot);
        let saved: u64 = used.map(|(_, often)| often).sum();
        let in_memory = self.copies.iter().flat_map(|c| {
            let kept = |at: Place| self.cells[at.0.index()].is_some();
            let one = |at, other| (!kept(other)).then_some((at, c.size, c.often));
            one(c.to, c.from).into_iter().chain(one(c.from, c.to))
        });
        let ranges = self.ranges.iter().filter(|r| r.2);
        let copied = ranges.map(|r| (r.0, r.1, r.3)).chain(in_memory);
        let copied = copied.filter(|(at, ..)| at.0 == slot);
        let lost: i64 = copied
            .map(|((_, at), size, often)| {
                // By words, each of them is loaded and stored.
                let by_words = 2 * size.div_ceil(8);
                let by_cells = cells.range(at..at + size).count() as u64;
                often as i64 * (by_cells as i64 - by_words as i64)
            })
            .sum();
        saved as i64 - lost
    }
}

/// Whether cells make up a range, none beyond it.
fn covers(cells: &Cells, first: u64, end: u64) -> bool {
    let mut at = first;
    while at < end {
        let Some(ty) = cells.get(&at) else {
            return false;
        };
        at += ty.size();
    }
    at == end
}

/// Puts locals in the place of slots in statements.
struct Rewriter<'a> {
    places: &'a Places,
    cells: &'a [Option<Cells>],
    locals: &'a BTreeMap<Place, LocalId>,
}

impl Rewriter<'_> {
    fn place(&self, operand: Operand) -> Option<Place> {
        self.places
            .place_of(operand)
            .filter(|(slot, _)| self.cells[slot.index()].is_some())
    }

    fn local(&self, (slot, at): Place, offset: u64) -> Option<LocalId> {
        self.locals.get(&(slot, at.wrapping_add(offset))).copied()
    }

    /// The cells of a range: how far in, what, and their locals.
    fn range(&self, (slot, at): Place, size: u64) -> Vec<(u64, Scalar, LocalId)> {
        let cells = self.cells[slot.index()].iter();
        let cells = cells.flat_map(|c| c.range(at..at + size));
        cells
            .map(|(c, ty)| (c - at, *ty, self.locals[&(slot, *c)]))
            .collect()
    }

    fn rewrite(&self, mut stmt: Stmt, out: &mut Vec<Stmt>) {
        let span = stmt.span;
        let mut put = |kind| out.push(Stmt { kind, span });
        let use_of = |local| Rvalue::Use(Operand::Local(local));
        match &mut stmt.kind {
            StmtKind::Assign { value, .. } => {
                if let Rvalue::Load { addr, offset, .. } = value
                    && let Some(place) = self.place(*addr)
                    && let Some(local) = self.local(place, *offset)
                {
                    *value = use_of(local);
                }
            }
            StmtKind::Store {
                addr,
                offset,
                value,
            } => {
                if let Some(place) = self.place(*addr)
                    && let Some(dst) = self.local(place, *offset)
                {
                    let value = Rvalue::Use(*value);
                    stmt.kind = StmtKind::Assign { dst, value };
                }
            }
            StmtKind::Zero { dst, size } => {
                if let Some(place) = self.place(*dst) {
                    for (_, ty, dst) in self.range(place, *size) {
                        let value = Rvalue::Use(Operand::Const(ty, 0));
                        put(StmtKind::Assign { dst, value });
                    }
                    return;
                }
            }
            StmtKind::Copy { dst, src, size } => {
                match (self.place(*dst), self.place(*src)) {
                    (Some(to), Some(from)) => {
                        let pairs = self
                            .range(to, *size)
                            .into_iter()
                            .zip(self.range(from, *size));
                        for ((_, _, dst), (_, _, src)) in pairs {
                            put(StmtKind::Assign {
                                dst,
                                value: use_of(src),
                            });
                        }
                    }
                    (Some(to), None) => {
                        for (offset, ty, dst) in self.range(to, *size) {
                            let addr = *src;
                            let value = Rvalue::Load { ty, addr, offset };
                            put(StmtKind::Assign { dst, value });
                        }
                    }
                    (None, Some(from)) => {
                        for (offset, _, src) in self.range(from, *size) {
                            put(StmtKind::Store {
                                addr: *dst,
                                offset,
                                value: Operand::Local(src),
                            });
                        }
                    }
                    (None, None) => put(stmt.kind),
                }
                return;
            }
            _ => {}
        }
        out.push(stmt);
    }
}

/// Gives a value to those locals that a path may read without having set them: there the slot's bytes were undefined.
fn initialize(function: &mut Function, locals: &BTreeMap<Place, LocalId>) {
    let live = Liveness::new(function, None);
    let unset = locals
        .values()
        .filter(|l| live.live_in(BlockId(0)).contains(l.index()));
    let zeros = unset.map(|dst| {
        let value = Rvalue::Use(Operand::Const(function.locals[dst.index()].ty, 0));
        let kind = StmtKind::Assign { dst: *dst, value };
        let span = Span::default();
        Stmt { kind, span }
    });
    let zeros: Vec<_> = zeros.collect();
    function.blocks[0].stmts.splice(0..0, zeros);
}
