//! Which loops can take several turns at once: innermost ones that count up by one and do the same to neighbouring elements.
//!
//! Such a loop is a header that compares a counter with an end, and one block of statements. Each of its values is one of:
//! - *once*: the same in every turn, since it depends on nothing that the loop changes;
//! - *steady*: an index or address that grows by the same number of bytes each turn;
//! - *lane*: what is loaded from a steady address, or computed of lanes and of what is the same in every turn.
//!
//! A turn may leave nothing behind but its stores, and numbers that it gathers, `sum += x`: whole ones, of which the order does not show. Its checks must be ones that can be asked for all turns beforehand. Whether they hold,
//! and whether what is stored is far enough from what is loaded, is found out when the loop is entered; see [`vector`](super::vector).

use millstream_graph::{
    ir::{
        BinOp, Block, BlockId, Function, LocalId, Operand, Rvalue, Stmt, StmtKind, Terminator, UnOp,
    },
    ty::Scalar,
};
use std::collections::BTreeMap;

/// A loop that can take several turns at once.
#[derive(Clone, Debug)]
pub(super) struct Lanes<'p> {
    /// The block of one turn.
    pub(super) body: BlockId,
    /// Counts the turns, up by one.
    pub(super) counter: LocalId,
    /// The loop ends when the counter is no less.
    pub(super) end: Operand,
    /// Bytes of the elements.
    pub(super) element: u64,
    /// What a turn does.
    pub(super) steps: Vec<Step<'p>>,
}

/// A step of a turn.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'p> {
    /// The same in every turn.
    Once(&'p Stmt),
    /// An index or address that grows each turn.
    Steady(&'p Stmt),
    /// A check of something that is the same in every turn.
    Holds(Operand),
    /// A check that an index, which grows by one each turn, is below a bound.
    Below(Operand, Operand),
    Load {
        dst: LocalId,
        ty: Scalar,
        addr: Operand,
        offset: u64,
    },
    Unary {
        dst: LocalId,
        op: UnOp,
        ty: Scalar,
        a: Operand,
    },
    Binary {
        dst: LocalId,
        op: BinOp,
        ty: Scalar,
        a: Operand,
        b: Operand,
    },
    Store {
        addr: Operand,
        offset: u64,
        ty: Scalar,
        value: Operand,
    },
    /// What `into` gathers of each turn.
    Gather {
        into: LocalId,
        op: BinOp,
        ty: Scalar,
        value: Operand,
    },
}

/// What a value is from turn to turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Once,
    /// Grows by so many bytes, or by so much.
    Steady(u64),
    /// Whether an index is below a bound.
    Below(Operand, Operand),
    Lane(Scalar),
    /// What that variable had gathered before this turn; and with this turn's value, by that operation.
    Gathered(LocalId),
    Gathers(LocalId, BinOp, Operand),
}

/// The loops of a function that can take several turns at once, by their headers.
pub(super) fn find(func: &Function) -> BTreeMap<BlockId, Lanes<'_>> {
    let headers = (0..func.blocks.len()).map(BlockId::new);
    headers
        .filter_map(|header| Some((header, Finder::new(func, header)?.find()?)))
        .collect()
}

struct Finder<'p> {
    func: &'p Function,
    block: &'p Block,
    kinds: BTreeMap<LocalId, Kind>,
    /// Locals that the body assigns.
    assigned: Vec<LocalId>,
    /// Those of them that come from the turn before and are not gathered yet; and those that are.
    carried: Vec<LocalId>,
    gathered: Vec<LocalId>,
    found: Lanes<'p>,
}

impl<'p> Finder<'p> {
    fn new(func: &'p Function, header: BlockId) -> Option<Self> {
        let Block { stmts, term, .. } = &func.blocks[header.index()];
        let &Terminator::Branch {
            cond: Operand::Local(cond),
            then: body,
            ..
        } = term
        else {
            return None;
        };
        let [
            Stmt {
                kind:
                    StmtKind::Assign {
                        dst,
                        value: Rvalue::Binary(BinOp::Lt, Operand::Local(counter), end),
                    },
                ..
            },
        ] = stmts[..]
        else {
            return None;
        };
        let block = &func.blocks[body.index()];
        let ty = func.locals[counter.index()].ty;
        let others = func
            .blocks
            .iter()
            .enumerate()
            .filter(|(i, b)| *i != header.index() && b.term.targets().any(|to| to == body));
        if dst != cond
            || body == header
            || block.term != Terminator::Goto(header)
            || others.count() > 0
            || !is_size(ty)
        {
            return None;
        }
        let assigned: Vec<LocalId> = block.stmts.iter().filter_map(|s| s.kind.def()).collect();
        let mut once = assigned.clone();
        once.sort();
        once.dedup();
        let constant = |o: Operand| {
            matches!(o, Operand::Const(..))
                || matches!(o, Operand::Local(l) if !assigned.contains(&l))
        };
        if once.len() != assigned.len() || !constant(end) || assigned.contains(&cond) {
            return None;
        }
        let found = Lanes {
            body,
            counter,
            end,
            element: 0,
            steps: Vec::new(),
        };
        Some(Self {
            func,
            block,
            kinds: BTreeMap::from([(counter, Kind::Steady(1))]),
            assigned,
            carried: Vec::new(),
            gathered: Vec::new(),
            found,
        })
    }

    fn find(mut self) -> Option<Lanes<'p>> {
        let (last, stmts) = self.block.stmts.split_last()?;
        let counter = self.found.counter;
        let step = Rvalue::Binary(
            BinOp::Add,
            Operand::Local(counter),
            Operand::Const(self.func.locals[counter.index()].ty, 1),
        );
        if last.kind
            != (StmtKind::Assign {
                dst: counter,
                value: step,
            })
        {
            return None;
        }
        for stmt in stmts {
            self.stmt(stmt)?;
        }
        let leaves = |s: &Step<'_>| matches!(s, Step::Store { .. } | Step::Gather { .. });
        let found = self.found.steps.iter().any(leaves);
        (found && self.carried.is_empty() && !self.is_read_elsewhere()).then_some(self.found)
    }

    /// Whether a turn leaves another value behind.
    fn is_read_elsewhere(&self) -> bool {
        let left = |l: LocalId| l == self.found.counter || self.gathered.contains(&l);
        let read =
            |o: Operand| matches!(o, Operand::Local(l) if !left(l) && self.assigned.contains(&l));
        let others = self
            .func
            .blocks
            .iter()
            .enumerate()
            .filter(|(i, _)| *i != self.found.body.index());
        others.into_iter().any(|(_, b)| {
            b.stmts
                .iter()
                .any(|s| s.kind.operands().into_iter().any(read))
                || b.term.operands().into_iter().any(read)
        })
    }

    /// What an operand is; nothing if it was gathered before in this turn.
    fn kind(&mut self, operand: Operand) -> Option<Kind> {
        match operand {
            Operand::Local(local) if self.assigned.contains(&local) => {
                let known = self.kinds.get(&local).copied();
                if known.is_some() || self.gathered.contains(&local) {
                    return known;
                }
                // It comes from the turn before, and has to be gathered in this one.
                if !self.carried.contains(&local) {
                    self.carried.push(local);
                }
                Some(Kind::Gathered(local))
            }
            _ => Some(Kind::Once),
        }
    }

    fn stmt(&mut self, stmt: &'p Stmt) -> Option<()> {
        match &stmt.kind {
            StmtKind::Assign { dst, value } => {
                let kind = self.assign(stmt, *dst, value)?;
                self.keep(*dst, kind)?;
            }
            &StmtKind::Store {
                addr,
                offset,
                value,
            } => {
                let ty = self.func.type_of(value);
                self.touches(addr, ty)?;
                self.lane(value, ty)?;
                self.found.steps.push(Step::Store {
                    addr,
                    offset,
                    ty,
                    value,
                });
            }
            &StmtKind::Check { cond, .. } => {
                let step = match self.kind(cond)? {
                    Kind::Once => Step::Holds(cond),
                    Kind::Below(index, bound) => Step::Below(index, bound),
                    _ => return None,
                };
                self.found.steps.push(step);
            }
            _ => return None,
        }
        Some(())
    }

    /// A local has a value of that kind now.
    fn keep(&mut self, dst: LocalId, kind: Kind) -> Option<()> {
        match kind {
            Kind::Gathers(into, op, value) if into == dst => {
                // Once a turn, and looked at for nothing else.
                self.carried.retain(|l| *l != into);
                self.gathered.push(into);
                let ty = self.func.locals[into.index()].ty;
                let step = Step::Gather {
                    into,
                    op,
                    ty,
                    value,
                };
                self.found.steps.push(step);
            }
            _ if self.carried.contains(&dst) => return None,
            _ => {
                self.kinds.insert(dst, kind);
            }
        }
        Some(())
    }

    fn assign(&mut self, stmt: &'p Stmt, dst: LocalId, value: &'p Rvalue) -> Option<Kind> {
        let mut kinds = Vec::new();
        value.clone().operands_mut(|o| kinds.push(self.kind(*o)));
        let kinds: Vec<Kind> = kinds.into_iter().collect::<Option<_>>()?;
        let all_once = kinds.iter().all(|k| *k == Kind::Once);
        let ty = self.func.locals[dst.index()].ty;
        let (step, kind) = match (value, &kinds[..]) {
            // A division that a check guards must not come before it.
            (Rvalue::Binary(BinOp::Div | BinOp::Rem, ..), _) if !ty.is_float() => return None,
            (Rvalue::Load { ty, addr, offset }, _) => {
                self.touches(*addr, *ty)?;
                (
                    Step::Load {
                        dst,
                        ty: *ty,
                        addr: *addr,
                        offset: *offset,
                    },
                    Kind::Lane(*ty),
                )
            }
            (Rvalue::SlotAddr(_) | Rvalue::FrameLoad(_) | Rvalue::FrameAddr(_), _) => return None,
            _ if all_once => (Step::Once(stmt), Kind::Once),
            (Rvalue::Use(_), [kind @ (Kind::Gathered(_) | Kind::Gathers(..))]) => {
                return Some(*kind);
            }
            (&Rvalue::Binary(op, gathered, value), [Kind::Gathered(into), Kind::Lane(_)])
            | (&Rvalue::Binary(op, value, gathered), [Kind::Lane(_), Kind::Gathered(into)]) => {
                let same = self.func.type_of(gathered) == ty && self.func.type_of(value) == ty;
                return (same && gathers(op, ty)).then_some(Kind::Gathers(*into, op, value));
            }
            (Rvalue::Use(_), [kind @ Kind::Steady(_)]) => (Step::Steady(stmt), *kind),
            (
                Rvalue::Binary(BinOp::Add, ..),
                [Kind::Steady(by), Kind::Once] | [Kind::Once, Kind::Steady(by)],
            ) if is_size(ty) => (Step::Steady(stmt), Kind::Steady(*by)),
            (Rvalue::Binary(BinOp::Sub, ..), [Kind::Steady(by), Kind::Once]) if is_size(ty) => {
                (Step::Steady(stmt), Kind::Steady(*by))
            }
            (Rvalue::PtrAdd { scale, .. }, [Kind::Once, Kind::Steady(by)]) => {
                (Step::Steady(stmt), Kind::Steady(by.checked_mul(*scale)?))
            }
            (Rvalue::PtrAdd { .. }, [Kind::Steady(by), Kind::Once]) => {
                (Step::Steady(stmt), Kind::Steady(*by))
            }
            (Rvalue::Binary(BinOp::Lt, index, bound), [Kind::Steady(1), Kind::Once])
                if is_size(self.func.type_of(*index)) =>
            {
                return Some(Kind::Below(*index, *bound));
            }
            (&Rvalue::Unary(op, a), [Kind::Lane(of)]) if unary_lanes(op, *of) => {
                (Step::Unary { dst, op, ty, a }, Kind::Lane(*of))
            }
            (&Rvalue::Binary(op, a, b), _) if binary_lanes(op, ty) => {
                self.lane(a, ty)?;
                self.lane(b, ty)?;
                (Step::Binary { dst, op, ty, a, b }, Kind::Lane(ty))
            }
            _ => return None,
        };
        self.found.steps.push(step);
        Some(kind)
    }

    /// Whether neighbouring turns touch neighbouring elements there, of the size that all others have.
    fn touches(&mut self, addr: Operand, ty: Scalar) -> Option<()> {
        let size = ty.size();
        let fits = self.kind(addr)? == Kind::Steady(size)
            && (self.found.element == 0 || self.found.element == size);
        self.found.element = size;
        (fits && ty != Scalar::Ptr).then_some(())
    }

    /// Whether a value has a lane for each turn, or is the same in all.
    fn lane(&mut self, operand: Operand, ty: Scalar) -> Option<()> {
        (self.func.type_of(operand) == ty
            && matches!(self.kind(operand)?, Kind::Once | Kind::Lane(_)))
        .then_some(())
    }
}

/// Whether turns are counted in it.
const fn is_size(ty: Scalar) -> bool {
    matches!(ty, Scalar::Usize | Scalar::U64)
}

/// Whether an operation is one instruction on lanes, with the bits that it has one by one.
const fn unary_lanes(op: UnOp, ty: Scalar) -> bool {
    matches!(op, UnOp::Neg | UnOp::Abs | UnOp::Sqrt) && ty.is_float()
}

/// Whether the order of turns does not show in what is gathered so, and it is one instruction on lanes.
const fn gathers(op: BinOp, ty: Scalar) -> bool {
    let order = match op {
        BinOp::Add | BinOp::And | BinOp::Or | BinOp::Xor => true,
        BinOp::Min | BinOp::Max => ty.size() <= 4,
        _ => false,
    };
    order && ty.is_int()
}

/// The same of operations on two operands.
const fn binary_lanes(op: BinOp, ty: Scalar) -> bool {
    match op {
        BinOp::Add | BinOp::Sub => true,
        BinOp::Mul => ty.is_float() || matches!(ty.size(), 2 | 4),
        BinOp::Div => ty.is_float(),
        BinOp::And | BinOp::Or | BinOp::Xor => ty.is_int(),
        BinOp::Min | BinOp::Max => ty.is_int() && ty.size() <= 4,
        _ => false,
    }
}
