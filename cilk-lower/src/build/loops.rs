//! `for` over ranges and slices.

use super::{Builder, Target};
use crate::hir::{By, Expr, For, LoopId, Part, Pat, Step, VarId};
use millstream_graph::{
    ir::{BinOp, BlockId, CheckKind, LocalId, Operand, Rvalue},
    ty::{Scalar, Type},
};

impl Builder<'_, '_> {
    pub(super) fn for_loop(&mut self, id: LoopId, over: &For, body: &Expr) {
        match over {
            For::Range {
                var,
                lo,
                hi,
                inclusive,
                rev,
                step,
            } => {
                let ends = self.scalars(&[lo.clone(), hi.clone()]);
                let ends = self.snapshot(ends);
                match step {
                    Some(step) => {
                        self.stepped(id, var, [ends[0], ends[1]], *inclusive, *rev, step, body)
                    }
                    None if *inclusive => self.inclusive(id, var, [ends[0], ends[1]], *rev, body),
                    None => self.exclusive(id, var, [ends[0], ends[1]], *rev, body),
                }
            }
            For::Slices {
                parts,
                index,
                rev,
                from_end,
            } => self.over_slices(id, parts, index.map(|var| (var, *from_end)), *rev, body),
        }
    }

    fn counter(&mut self, start: Operand) -> LocalId {
        let local = self.local(self.type_of(start));
        self.assign(local, Rvalue::Use(start));
        local
    }

    /// The body of a loop; `continue` goes to `next`.
    fn inside(&mut self, id: LoopId, exit: BlockId, next: BlockId, body: &Expr) {
        self.targets.push(Target {
            id,
            exit,
            next: Some(next),
            result: Vec::new(),
        });
        self.value(body);
        self.targets.pop();
        self.goto(next);
        self.switch_to(next);
    }

    fn step_by_one(&mut self, counter: LocalId, op: BinOp) {
        let ty = self.locals[counter.index()].ty;
        let value = Rvalue::Binary(op, Operand::Local(counter), Operand::Const(ty, 1));
        self.assign(counter, value);
    }

    fn exclusive(&mut self, id: LoopId, var: &Pat, [lo, hi]: [Operand; 2], rev: bool, body: &Expr) {
        let ty = Type::Scalar(self.type_of(lo));
        let counter = self.counter(if rev { hi } else { lo });
        let (head, inside, next, exit) = (self.block(), self.block(), self.block(), self.block());
        self.goto(head);
        self.switch_to(head);
        let more = if rev {
            self.binary(BinOp::Gt, Operand::Local(counter), lo)
        } else {
            self.binary(BinOp::Lt, Operand::Local(counter), hi)
        };
        self.branch_to(more, inside, exit);
        self.switch_to(inside);
        if rev {
            self.step_by_one(counter, BinOp::Sub);
        }
        self.bind(var, &ty, &[Operand::Local(counter)]);
        self.inside(id, exit, next, body);
        if !rev {
            self.step_by_one(counter, BinOp::Add);
        }
        self.goto(head);
        self.switch_to(exit);
    }

    /// The last value is compared before the step, so that a range up to the type's bound ends.
    fn inclusive(&mut self, id: LoopId, var: &Pat, [lo, hi]: [Operand; 2], rev: bool, body: &Expr) {
        let ty = Type::Scalar(self.type_of(lo));
        let (first, last) = if rev { (hi, lo) } else { (lo, hi) };
        let counter = self.counter(first);
        let (inside, next, step, exit) = (self.block(), self.block(), self.block(), self.block());
        let any = self.binary(BinOp::Le, lo, hi);
        self.branch_to(any, inside, exit);
        self.switch_to(inside);
        self.bind(var, &ty, &[Operand::Local(counter)]);
        self.inside(id, exit, next, body);
        let done = self.binary(BinOp::Eq, Operand::Local(counter), last);
        self.branch_to(done, exit, step);
        self.switch_to(step);
        self.step_by_one(counter, if rev { BinOp::Sub } else { BinOp::Add });
        self.goto(inside);
        self.switch_to(exit);
    }

    /// With a step the rounds are counted, so that no value beyond the range is ever computed.
    #[expect(clippy::too_many_arguments, reason = "the parts of a loop, once each")]
    fn stepped(
        &mut self,
        id: LoopId,
        var: &Pat,
        [lo, hi]: [Operand; 2],
        inclusive: bool,
        rev: bool,
        step: &Step,
        body: &Expr,
    ) {
        let ty = self.type_of(lo);
        let by = self.value(&step.by)[0];
        let ok = self.binary(BinOp::Ne, by, Operand::usize(0));
        self.check(
            ok,
            CheckKind::Assert("the step of a range is not zero".into()),
            Vec::new(),
        );
        let any = self.binary(if inclusive { BinOp::Le } else { BinOp::Lt }, lo, hi);
        let distance = self.binary(BinOp::Sub, hi, lo);
        let distance = self.unsigned_distance(distance, ty);
        let distance = if inclusive {
            distance
        } else {
            self.binary(BinOp::Sub, distance, Operand::usize(1))
        };
        let rounds = self.binary(BinOp::Div, distance, by);
        let rounds = self.binary(BinOp::Add, rounds, Operand::usize(1));
        let rounds = self.select(any, rounds, Operand::usize(0));
        // The first value of the range in the direction in which it is stepped through.
        let first = match (rev, inclusive) {
            (false, _) => lo,
            (true, true) => hi,
            (true, false) => self.binary(BinOp::Sub, hi, Operand::Const(ty, 1)),
        };
        let last_round = self.binary(BinOp::Sub, rounds, Operand::usize(1));
        let counter = self.counter(Operand::usize(0));
        let (head, inside, next, exit) = (self.block(), self.block(), self.block(), self.block());
        self.goto(head);
        self.switch_to(head);
        let more = self.binary(BinOp::Lt, Operand::Local(counter), rounds);
        self.branch_to(more, inside, exit);
        self.switch_to(inside);
        let round = if step.then_rev {
            self.binary(BinOp::Sub, last_round, Operand::Local(counter))
        } else {
            Operand::Local(counter)
        };
        let away = self.binary(BinOp::Mul, round, by);
        let away = self.convert(ty, away);
        let value = self.binary(if rev { BinOp::Sub } else { BinOp::Add }, first, away);
        self.bind(var, &Type::Scalar(ty), &[value]);
        self.inside(id, exit, next, body);
        self.step_by_one(counter, BinOp::Add);
        self.goto(head);
        self.switch_to(exit);
    }

    /// The distance between two values of a type, as a `usize`.
    fn unsigned_distance(&mut self, distance: Operand, ty: Scalar) -> Operand {
        let unsigned = match ty {
            Scalar::I8 => Scalar::U8,
            Scalar::I16 => Scalar::U16,
            Scalar::I32 => Scalar::U32,
            other => other,
        };
        let distance = self.convert(unsigned, distance);
        self.convert(Scalar::Usize, distance)
    }

    /// Address and number of the elements of a slice value; of a copy if they are to be kept. All pieces of a matrix.
    fn elements(&mut self, slice: &Expr, keep: bool) -> Vec<Operand> {
        let pieces = self.value(slice);
        let mut pieces = self.snapshot(pieces);
        if let (Type::Slice { elem, .. }, Operand::Const(_, len)) = (slice.ty.to_type(), pieces[1])
            && keep
        {
            pieces[0] = self.held(pieces[0], &Type::Array(elem, len))[0];
        }
        pieces
    }

    /// The way through the items of a slice.
    fn walk(&mut self, data: Operand, len: Operand, by: &By) -> Walk {
        let (By::Chunks(size) | By::ExactChunks(size) | By::Windows(size)) = by else {
            return Walk {
                data,
                len,
                count: len,
                size: None,
                step: None,
            };
        };
        let size = self.value(size);
        let size = self.snapshot(size)[0];
        let ok = self.binary(BinOp::Ne, size, Operand::usize(0));
        self.check(
            ok,
            CheckKind::Assert("the parts of a slice are not empty".into()),
            Vec::new(),
        );
        let count = match by {
            By::Windows(_) => {
                let fits = self.binary(BinOp::Le, size, len);
                let more = self.binary(BinOp::Sub, len, size);
                let count = self.binary(BinOp::Add, more, Operand::usize(1));
                self.select(fits, count, Operand::usize(0))
            }
            By::Chunks(_) => {
                let (whole, rest) = (
                    self.binary(BinOp::Div, len, size),
                    self.binary(BinOp::Rem, len, size),
                );
                let partial = self.binary(BinOp::Ne, rest, Operand::usize(0));
                let partial = self.convert(Scalar::Usize, partial);
                self.binary(BinOp::Add, whole, partial)
            }
            _ => self.binary(BinOp::Div, len, size),
        };
        Walk {
            data,
            len,
            count,
            size: Some(size),
            step: (!matches!(by, By::Windows(_))).then_some(size),
        }
    }

    fn over_slices(
        &mut self,
        id: LoopId,
        parts: &[Part],
        index: Option<(VarId, bool)>,
        rev: bool,
        body: &Expr,
    ) {
        let mut over = Vec::new();
        let mut rounds = None;
        for part in parts {
            let walk = match self.elements(&part.slice, part.keep)[..] {
                [data, rows, cols, stride] => Walk {
                    data,
                    len: rows,
                    count: rows,
                    size: Some(cols),
                    step: Some(stride),
                },
                [data, len, ..] => self.walk(data, len, &part.by),
                _ => continue,
            };
            let count = walk.count;
            rounds = Some(rounds.map_or(count, |rounds| self.binary(BinOp::Min, rounds, count)));
            over.push((part, walk));
        }
        let rounds = rounds.unwrap_or(Operand::usize(0));
        let counter = self.counter(if rev { rounds } else { Operand::usize(0) });
        let (head, inside, next, exit) = (self.block(), self.block(), self.block(), self.block());
        self.goto(head);
        self.switch_to(head);
        let at = Operand::Local(counter);
        let more = if rev {
            self.binary(BinOp::Ne, at, Operand::usize(0))
        } else {
            self.binary(BinOp::Lt, at, rounds)
        };
        self.branch_to(more, inside, exit);
        self.switch_to(inside);
        if rev {
            self.step_by_one(counter, BinOp::Sub);
        }
        for (part, walk) in over {
            let at = match part.rev {
                true => {
                    let last = self.binary(BinOp::Sub, walk.count, Operand::usize(1));
                    self.binary(BinOp::Sub, last, at)
                }
                false => at,
            };
            self.bind_item(part, &walk, at);
        }
        if let Some((var, from_end)) = index {
            let number = if from_end {
                let last = self.binary(BinOp::Sub, rounds, Operand::usize(1));
                self.binary(BinOp::Sub, last, at)
            } else {
                at
            };
            self.bind(&Pat::Var(var), &Type::Scalar(Scalar::Usize), &[number]);
        }
        self.inside(id, exit, next, body);
        if !rev {
            self.step_by_one(counter, BinOp::Add);
        }
        self.goto(head);
        self.switch_to(exit);
    }

    /// Gives the variables of a slice's item their values in a round.
    fn bind_item(&mut self, part: &Part, walk: &Walk, round: Operand) {
        let (Type::Slice { elem, mutable } | Type::Mat { elem, mutable }) = part.slice.ty.to_type()
        else {
            return;
        };
        let scale = elem.layout(self.structs()).size;
        let start = match walk.step {
            Some(step) => self.binary(BinOp::Mul, round, step),
            None => round,
        };
        let addr = self.assign_new(
            Scalar::Ptr,
            Rvalue::PtrAdd {
                base: walk.data,
                index: start,
                scale,
                offset: 0,
            },
        );
        let Some(size) = walk.size else {
            let target = elem;
            return self.bind(&part.item, &Type::Ref { mutable, target }, &[addr]);
        };
        let count = if matches!(part.by, By::Chunks(_)) {
            let rest = self.binary(BinOp::Sub, walk.len, start);
            self.binary(BinOp::Min, rest, size)
        } else {
            size
        };
        self.bind(&part.item, &Type::Slice { mutable, elem }, &[addr, count]);
    }
}

/// The way of a `for` through the items of a slice, or through the rows of a matrix.
struct Walk {
    data: Operand,
    /// How many elements there are, or rows.
    len: Operand,
    /// How many items.
    count: Operand,
    /// How many elements an item has, if it is a slice itself.
    size: Option<Operand>,
    /// From an item to the next, if it is not one element.
    step: Option<Operand>,
}
