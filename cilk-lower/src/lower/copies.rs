//! What is copied and copied again is copied once: who reads a copy reads what it is a copy of, as long as neither has changed, and what nobody reads
//! is not written.
//!
//! ```text
//! let next = board.play(at);          // `self` by value, an `Option` of it, what is in it
//! spawn!(games(next));                // one copy of `board`, which `play` changes, and one into the element
//! ```
//!
//! Arrays and structs that are given by value and returned are copies in the IR, and calls that are inlined leave these behind. It is about slots
//! whose address goes nowhere: who writes there is seen.

use super::{
    edit,
    private::{Private, given},
};
use fixedbitset::FixedBitSet;
use millstream_graph::{
    flow::Flow,
    ir::{BlockId, Function, Operand, Program, Rvalue, SlotId, Span, Stmt, StmtKind, Terminator},
    ty::Scalar,
};

/// Has what is read from copies be read from where they come from, and takes out writes that nobody reads. Says whether there was anything.
pub(crate) fn forward(program: &Program, function: &mut Function) -> bool {
    let copies = |s: &Stmt| matches!(s.kind, StmtKind::Copy { .. });
    if function.slots.is_empty() || !function.stmts().any(copies) {
        return false;
    }
    let changed = read_sources(program, function);
    changed | drop_unread(program, function)
}

/// Bytes of a private slot that are a copy of others.
#[derive(Clone)]
struct Copied {
    slot: SlotId,
    at: u64,
    size: u64,
    of: Origin,
}

/// Where bytes come from: as far behind this address.
#[derive(Clone, Copy)]
struct Origin {
    from: Operand,
    behind: u64,
    source: Source,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// It never changes.
    Table,
    Slot(SlotId),
    /// Whoever writes to memory may change it.
    Memory,
}

impl Copied {
    fn covers(&self, slot: SlotId, at: u64, size: u64) -> bool {
        self.slot == slot && self.at <= at && at + size <= self.at + self.size
    }
}

/// Has who reads from a copy read from where it comes from.
fn read_sources(program: &Program, function: &mut Function) -> bool {
    let private = Private::new(program, function);
    if private.slots.is_clear() {
        return false;
    }
    let flow = Flow::new(function);
    let mut at_end: Vec<Option<Vec<Copied>>> = vec![None; function.blocks.len()];
    let mut changed = false;
    for id in flow.order().to_vec() {
        // What is known where a block begins is what was where the one before it ended.
        let before = match flow.sources(id) {
            [one] if id != BlockId(0) => at_end[one.index()].clone(),
            _ => None,
        };
        let mut forward = Forward {
            program,
            private: &private,
            known: before.unwrap_or_default(),
            out: Vec::new(),
            changed: false,
        };
        for stmt in std::mem::take(&mut function.blocks[id.index()].stmts) {
            forward.statement(function, stmt);
        }
        changed |= forward.changed;
        let block = &mut function.blocks[id.index()];
        block.stmts = forward.out;
        let goes_on = !matches!(block.term, Terminator::Sync(_) | Terminator::Room { .. });
        at_end[id.index()] = goes_on.then_some(forward.known);
    }
    changed
}

struct Forward<'a> {
    program: &'a Program,
    private: &'a Private,
    known: Vec<Copied>,
    out: Vec<Stmt>,
    changed: bool,
}

impl Forward<'_> {
    fn statement(&mut self, function: &mut Function, mut stmt: Stmt) {
        let mut from = None;
        match &mut stmt.kind {
            StmtKind::Assign {
                value: Rvalue::Load { ty, addr, offset },
                ..
            } => {
                // Memory is read as often as the copy was: that is not better.
                if let Some(of) = self.source(*addr, *offset, ty.size())
                    && of.source != Source::Memory
                {
                    (*addr, *offset) = (of.from, of.behind);
                    self.changed = true;
                }
            }
            StmtKind::Copy { dst, src, size } => {
                from = self.source(*src, 0, *size).filter(|of| match of.source {
                    Source::Table => true,
                    // What is copied does not overlap with where it goes.
                    Source::Slot(slot) => self.private.slot(*dst) != Some(slot),
                    Source::Memory => self.private.private(*dst).is_some(),
                });
                match from {
                    Some(of) => *src = self.address(function, of, stmt.span),
                    None => from = self.plain(*src),
                }
            }
            // Its bytes are read while the element is made.
            StmtKind::Spawn { func, args, .. } => {
                let bytes: Vec<_> = given(self.program, *func, args).map(|g| g.1).collect();
                for (value, bytes) in args.iter_mut().zip(bytes) {
                    if let Some(bytes) = bytes
                        && let Some(of) = self.source(*value, 0, bytes)
                    {
                        *value = self.address(function, of, stmt.span);
                    }
                }
            }
            _ => {}
        }
        self.forget(&stmt.kind);
        if let Some(from) = from {
            self.note(&stmt.kind, from);
        }
        self.out.push(stmt);
    }

    /// What lies at an address, as a copy of itself.
    fn plain(&self, from: Operand) -> Option<Origin> {
        let source = match self.private.slot(from) {
            Some(slot) if self.private.slots.contains(slot.index()) => Source::Slot(slot),
            _ if self.private.in_table.contains(from.local()?.index()) => Source::Table,
            _ => Source::Memory,
        };
        Some(Origin {
            from,
            behind: 0,
            source,
        })
    }

    /// Where so many bytes come from.
    fn source(&self, addr: Operand, offset: u64, size: u64) -> Option<Origin> {
        let (slot, at) = self.private.place(addr)?;
        let at = at.wrapping_add(offset);
        let of = self.known.iter().find(|c| c.covers(slot, at, size))?;
        Some(Origin {
            behind: of.of.behind + (at - of.at),
            ..of.of
        })
    }

    fn address(&mut self, function: &mut Function, of: Origin, span: Span) -> Operand {
        self.changed = true;
        if of.behind == 0 {
            return of.from;
        }
        let dst = edit::add_local(function, None, Scalar::Ptr);
        let value = Rvalue::PtrAdd {
            base: of.from,
            index: Operand::usize(0),
            scale: 1,
            offset: of.behind,
        };
        let kind = StmtKind::Assign { dst, value };
        self.out.push(Stmt { kind, span });
        Operand::Local(dst)
    }

    /// Forgets what a statement changes.
    fn forget(&mut self, kind: &StmtKind) {
        if let Some(dst) = kind.def() {
            self.known.retain(|c| c.of.from != Operand::Local(dst));
        }
        match kind {
            StmtKind::Assign { .. } | StmtKind::Check { .. } | StmtKind::FrameAlloc => {}
            // A scalar has at most eight bytes.
            StmtKind::Store { addr, offset, .. } => self.written(*addr, Some((*offset, 8))),
            StmtKind::Copy { dst, size, .. } | StmtKind::Zero { dst, size } => {
                self.written(*dst, Some((0, *size)));
            }
            StmtKind::Call { ret_addr, .. } => {
                ret_addr.iter().for_each(|to| self.written(*to, None));
                self.known.retain(|c| c.of.source != Source::Memory);
            }
            _ => self.known.retain(|c| c.of.source != Source::Memory),
        }
    }

    /// Forgets what lies where something is written, from an offset on so many bytes, or anywhere in the slot.
    fn written(&mut self, to: Operand, range: Option<(u64, u64)>) {
        let Some(slot) = self.private.private(to) else {
            self.known.retain(|c| c.of.source != Source::Memory);
            return;
        };
        let range = range.and_then(|(offset, size)| {
            let (_, at) = self.private.place(to)?;
            let begin = at.wrapping_add(offset);
            Some(begin..begin.saturating_add(size))
        });
        let touches = |of: SlotId, at: Option<u64>, size: u64| {
            of == slot
                && match (&range, at) {
                    (Some(r), Some(at)) => at < r.end && r.start < at + size,
                    _ => true,
                }
        };
        let private = self.private;
        self.known.retain(|c| {
            let from = private.place(c.of.from).map(|(_, at)| at + c.of.behind);
            let source = matches!(c.of.source, Source::Slot(s) if touches(s, from, c.size));
            !source && !touches(c.slot, Some(c.at), c.size)
        });
    }

    /// Takes note of a copy.
    fn note(&mut self, kind: &StmtKind, of: Origin) {
        if let StmtKind::Copy { dst, size, .. } = kind
            && let Some((slot, at)) = self.private.place(*dst)
            && of.source != Source::Slot(slot)
        {
            self.known.push(Copied {
                slot,
                at,
                size: *size,
                of,
            });
        }
    }
}

/// Takes out what is written to private slots that nobody reads.
fn drop_unread(program: &Program, function: &mut Function) -> bool {
    let mut changed = false;
    loop {
        let private = Private::new(program, function);
        let mut read = FixedBitSet::with_capacity(function.slots.len());
        for stmt in function.stmts() {
            let mut reads = |o: Operand| {
                if let Some(slot) = private.slot(o) {
                    read.insert(slot.index());
                }
            };
            match &stmt.kind {
                StmtKind::Assign {
                    value: Rvalue::Load { addr, .. },
                    ..
                } => reads(*addr),
                StmtKind::Copy { src, .. } => reads(*src),
                StmtKind::Call { func, args, .. } | StmtKind::Spawn { func, args, .. } => {
                    given(program, *func, args).for_each(|(o, _)| reads(o));
                }
                _ => {}
            }
        }
        let unread = |to: Operand| {
            private
                .private(to)
                .is_some_and(|s| !read.contains(s.index()))
        };
        let mut any = false;
        for block in &mut function.blocks {
            block.stmts.retain(|s| {
                let drop = match &s.kind {
                    StmtKind::Store { addr: to, .. }
                    | StmtKind::Copy { dst: to, .. }
                    | StmtKind::Zero { dst: to, .. } => unread(*to),
                    _ => false,
                };
                any |= drop;
                !drop
            });
        }
        changed |= any;
        if !any {
            return changed;
        }
    }
}
