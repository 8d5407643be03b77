//! Slices that an element without children walks through, step by step.
//!
//! Each lane of a warp has a slice of its own, so that a step of all touches as many lines of memory as there are lanes, and the lines of all
//! warps are soon more than the first-level cache holds: most of what is fetched is fetched again at the next step. Such slices are brought
//! into shared memory by the whole warp, line by line, before the elements run, and taken back afterwards (`device/direct.cu`).
//!
//! It changes nothing that a program can see: nobody else writes to what a task borrows, and what it borrows mutably nobody else reads. Slices
//! of atomics stay where they are.

use super::source::{Mode, Source, Walked};
use millstream_graph::{
    flow::{BlockSet, Flow},
    ir::{Arg, BinOp, BlockId, FuncId, Function, LocalId, Operand, Program, Rvalue, StmtKind},
    levelized::Levelized,
    ty::{Structs, Type},
};
use std::collections::BTreeSet;

/// The slices that a source's elements walk through; none if the elements have children, who could keep them.
pub(super) fn walked(levelized: &Levelized, source: &Source) -> Vec<Walked> {
    let program = &levelized.program;
    let body = levelized.segment(source.task, source.segment).body;
    if !source.is_entry()
        || !source.pushes.is_empty()
        || !matches!(source.mode, Mode::Direct { .. })
    {
        return Vec::new();
    }
    let mut out = Vec::new();
    let mut field = 0;
    for param in &program[levelized.func(source.task)].params {
        if let (Type::Slice { mutable, elem }, Some(Arg::Local(at))) =
            (&param.ty, body.args.get(field))
        {
            let layout = elem.layout(&program.structs);
            if layout.size > 0
                && is_plain(elem, &program.structs)
                && Walk::new(program, body).is_through(*at)
            {
                out.push(Walked {
                    field,
                    size: layout.size,
                    unit: layout.align.min(8),
                    mutable: *mutable,
                });
            }
        }
        field += param.ty.pieces(&program.structs).len();
    }
    out
}

fn is_plain(ty: &Type, structs: &Structs) -> bool {
    match ty {
        Type::Scalar(_) => true,
        Type::Array(elem, _) => is_plain(elem, structs),
        Type::Tuple(_) | Type::Struct(_) | Type::Option(_) | Type::Result(..) => {
            ty.fields(structs).iter().all(|(t, _)| is_plain(t, structs))
        }
        Type::Slice { .. }
        | Type::Ref { .. }
        | Type::Mat { .. }
        | Type::Atomic(_)
        | Type::Channel(_) => false,
    }
}

/// A look at a function and those that it calls.
struct Walk<'a> {
    program: &'a Program,
    function: &'a Function,
    cyclic: BlockSet,
    /// Helpers that have been looked at, and for which of their pieces.
    seen: BTreeSet<(FuncId, usize)>,
}

impl<'a> Walk<'a> {
    fn new(program: &'a Program, function: &'a Function) -> Self {
        Self {
            program,
            function,
            cyclic: Flow::new(function).cyclic(),
            seen: BTreeSet::new(),
        }
    }

    /// Whether a loop reads or writes, by an index that it counts, what this local points at.
    fn is_through(&mut self, base: LocalId) -> bool {
        // Addresses in the slice, and whether a loop moves them.
        let mut addresses = vec![(base, false)];
        let mut next = 0;
        while let Some(&(address, moves)) = addresses.get(next) {
            next += 1;
            let is_it = |o: &Operand| *o == Operand::Local(address);
            for (i, block) in self.function.blocks.iter().enumerate() {
                let cyclic = self.cyclic.contains(BlockId::new(i));
                for stmt in &block.stmts {
                    let found = match &stmt.kind {
                        StmtKind::Assign {
                            dst,
                            value: Rvalue::Use(of),
                        } if is_it(of) => Some((*dst, moves)),
                        StmtKind::Assign {
                            dst,
                            value: Rvalue::PtrAdd { base, index, .. },
                        } if is_it(base) => {
                            Some((*dst, moves || self.counts(*index, &mut BTreeSet::new())))
                        }
                        StmtKind::Assign {
                            value: Rvalue::Load { addr, .. },
                            ..
                        }
                        | StmtKind::Store { addr, .. }
                            if moves && cyclic && is_it(addr) =>
                        {
                            return true;
                        }
                        StmtKind::Copy { dst, src, .. }
                            if moves && cyclic && (is_it(dst) || is_it(src)) =>
                        {
                            return true;
                        }
                        StmtKind::Call { func, args, .. } => {
                            let through = |piece| {
                                self.seen.insert((*func, piece))
                                    && self.is_through_call(*func, piece)
                            };
                            if args
                                .iter()
                                .enumerate()
                                .filter(|(_, a)| is_it(a))
                                .map(|(i, _)| i)
                                .any(through)
                            {
                                return true;
                            }
                            None
                        }
                        _ => None,
                    };
                    addresses.extend(found.filter(|f| !addresses.contains(f)));
                }
            }
        }
        false
    }

    fn is_through_call(&mut self, func: FuncId, piece: usize) -> bool {
        let function = &self.program[func];
        let Some(Arg::Local(at)) = function.args.get(piece) else {
            return false;
        };
        let mut inner = Self {
            function,
            cyclic: Flow::new(function).cyclic(),
            seen: std::mem::take(&mut self.seen),
            ..*self
        };
        let through = inner.is_through(*at);
        self.seen = inner.seen;
        through
    }

    /// Whether an index is a sum with a counter in it: one that a search halves, say, is not.
    fn counts(&self, index: Operand, seen: &mut BTreeSet<LocalId>) -> bool {
        let Operand::Local(id) = index else {
            return false;
        };
        if !seen.insert(id) {
            return false;
        }
        self.is_counter(id)
            || self.values(id).any(|(value, _)| match value {
                Rvalue::Use(a) | Rvalue::Cast(_, a) => self.counts(*a, seen),
                Rvalue::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, a, b) => {
                    self.counts(*a, seen) || self.counts(*b, seen)
                }
                _ => false,
            })
    }

    /// Whether a loop adds to a local or takes away from it.
    fn is_counter(&self, id: LocalId) -> bool {
        let is_step = |value: &Rvalue| match value {
            Rvalue::Binary(BinOp::Add | BinOp::Sub, a, b) => {
                [a, b].into_iter().any(|o| *o == Operand::Local(id))
            }
            _ => false,
        };
        self.values(id).any(|(value, cyclic)| {
            cyclic
                && match value {
                    Rvalue::Use(Operand::Local(new)) => self.values(*new).any(|(v, _)| is_step(v)),
                    other => is_step(other),
                }
        })
    }

    /// What a local is set to, and whether in a loop.
    fn values(&self, id: LocalId) -> impl Iterator<Item = (&'a Rvalue, bool)> {
        let blocks = self.function.blocks.iter().enumerate();
        blocks.flat_map(move |(i, block)| {
            let cyclic = self.cyclic.contains(BlockId::new(i));
            block.stmts.iter().filter_map(move |s| match &s.kind {
                StmtKind::Assign { dst, value } if *dst == id => Some((value, cyclic)),
                _ => None,
            })
        })
    }
}
