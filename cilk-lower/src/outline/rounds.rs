//! The rounds of a parallel loop: how many there are, parts of them, and the loop over those of one piece.

use super::make::Make;
use crate::{
    diag::Diagnostics,
    hir::{Builtin, By, Expr, ExprKind, For, LoopId, Part, Pat, SliceRange, Stmt, Var, VarId},
    ty::{Ty, USIZE},
};
use millstream_graph::{ir::BinOp, ty::Scalar};
use proc_macro2::Span;

/// The rounds of a loop, in the function where it stands or in its task, where they are some of them.
#[derive(Clone)]
pub(super) struct Rounds {
    id: LoopId,
    over: Over,
}

#[derive(Clone)]
enum Over {
    Range {
        var: Pat,
        ty: Ty,
        from: VarId,
        /// The end, in the function where the loop stands, and whether it belongs to the range.
        to: Option<(VarId, bool)>,
        by: Option<VarId>,
    },
    Slices {
        parts: Vec<Items>,
        /// The variable with the number of the round.
        index: Option<VarId>,
        /// In the task: the number of its first round.
        first: Option<VarId>,
    },
}

/// One of the slices or matrices that a loop runs over.
#[derive(Clone)]
struct Items {
    slice: VarId,
    ty: Ty,
    are: Are,
    item: Pat,
}

/// What the items are. The variables hold how many elements an item has.
#[derive(Clone, Copy)]
enum Are {
    Elements,
    Rows,
    Chunks(VarId),
    ExactChunks(VarId),
    Windows(VarId),
}

impl Are {
    /// The same by another variable, where there is one.
    fn by(mut self, f: impl FnOnce(VarId) -> VarId) -> Self {
        if let Self::Chunks(n) | Self::ExactChunks(n) | Self::Windows(n) = &mut self {
            *n = f(*n);
        }
        self
    }

    const fn size(self) -> Option<VarId> {
        match self {
            Self::Elements | Self::Rows => None,
            Self::Chunks(n) | Self::ExactChunks(n) | Self::Windows(n) => Some(n),
        }
    }
}

impl Rounds {
    /// Binds what the loop's head says to variables of the function.
    pub(super) fn begin(
        id: LoopId,
        over: For,
        vars: &mut Vec<Var>,
        stmts: &mut Vec<Stmt>,
        span: Span,
        diags: &mut Diagnostics,
    ) -> Option<Self> {
        let make = Make(span);
        let mut bind = |name: &str, value: Expr, stmts: &mut Vec<Stmt>| {
            let var = make.fresh(vars, name, value.ty.clone());
            stmts.push(make.bind(var, value));
            var
        };
        let not_zero = |var: VarId, text: &str, stmts: &mut Vec<Stmt>| {
            let test = make.compare(BinOp::Ne, make.var(var, &USIZE), make.count(0));
            stmts.push(make.assert(text, test));
        };
        let backwards = match &over {
            For::Range { rev, step, .. } => *rev || step.as_ref().is_some_and(|s| s.then_rev),
            For::Slices { rev, parts, .. } => *rev || parts.iter().any(|part| part.rev),
        };
        if backwards {
            diags
                .error(span, "`rev` of a parallel loop")
                .help("its rounds run side by side, in no order: leave it out");
            return None;
        }
        let over = match over {
            For::Range {
                var,
                lo,
                hi,
                inclusive,
                step,
                ..
            } => {
                let ty = lo.ty.clone();
                let from = bind("from", lo, stmts);
                let to = Some((bind("to", hi, stmts), inclusive));
                let by = step.map(|step| {
                    let by = bind("step", step.by, stmts);
                    not_zero(by, "the step of a range is not zero", stmts);
                    by
                });
                Over::Range {
                    var,
                    ty,
                    from,
                    to,
                    by,
                }
            }
            For::Slices { parts, index, .. } => {
                let parts = parts.into_iter().map(
                    |Part {
                         slice, by, item, ..
                     }| {
                        let ty = slice.ty.clone();
                        let slice = bind("items", slice, stmts);
                        let mut size = |n| {
                            let n = bind("size", n, stmts);
                            not_zero(n, "the parts of a slice are not empty", stmts);
                            n
                        };
                        let are = match by {
                            By::Element => Are::Elements,
                            By::Rows => Are::Rows,
                            By::Chunks(n) => Are::Chunks(size(n)),
                            By::ExactChunks(n) => Are::ExactChunks(size(n)),
                            By::Windows(n) => Are::Windows(size(n)),
                        };
                        Items {
                            slice,
                            ty,
                            are,
                            item,
                        }
                    },
                );
                Over::Slices {
                    parts: parts.collect(),
                    index,
                    first: None,
                }
            }
        };
        Some(Self { id, over })
    }

    /// How many there are, in the function where the loop stands.
    pub(super) fn count(&self, make: &Make) -> Expr {
        match &self.over {
            Over::Range {
                ty, from, to, by, ..
            } => {
                let (to, inclusive) = to.map_or((*from, false), |to| to);
                let (lo, hi) = (make.var(*from, ty), make.var(to, ty));
                let any = if inclusive { BinOp::Le } else { BinOp::Lt };
                let any = make.compare(any, lo.clone(), hi.clone());
                let distance = make.raw(BinOp::Sub, hi, lo);
                let distance = make.cast(make.cast(distance, &unsigned(ty)), &USIZE);
                // The rounds after the first.
                let others = match (inclusive, by) {
                    (true, None) => distance,
                    (false, None) => {
                        return make.choose(any, distance, Some(make.count(0)));
                    }
                    (true, Some(by)) => make.raw(BinOp::Div, distance, make.var(*by, &USIZE)),
                    (false, Some(by)) => {
                        let last = make.raw(BinOp::Sub, distance, make.count(1));
                        make.raw(BinOp::Div, last, make.var(*by, &USIZE))
                    }
                };
                let all = make.raw(BinOp::Add, others, make.count(1));
                make.choose(any, all, Some(make.count(0)))
            }
            Over::Slices { parts, .. } => {
                let counts = parts.iter().map(|part| part.count(make));
                counts
                    .reduce(|a, b| make.raw(BinOp::Min, a, b))
                    .unwrap_or_else(|| make.count(0))
            }
        }
    }

    /// Arguments for all of them, in the function where the loop stands.
    pub(super) fn whole(&self, make: &Make) -> Vec<Expr> {
        match &self.over {
            Over::Range { ty, from, by, .. } => {
                let by = by.map(|by| make.var(by, &USIZE));
                [make.var(*from, ty)].into_iter().chain(by).collect()
            }
            Over::Slices { parts, index, .. } => {
                let mut args = Vec::new();
                for part in parts {
                    args.push(make.var(part.slice, &part.ty));
                    args.extend(part.are.size().map(|size| make.var(size, &USIZE)));
                }
                args.extend(index.map(|_| make.count(0)));
                args
            }
        }
    }

    /// The same rounds by the parameters of the task, in the order of the arguments.
    pub(super) fn params(&self, vars: &mut Vec<Var>, make: &Make) -> Self {
        let over = match &self.over {
            Over::Range { var, ty, by, .. } => Over::Range {
                var: var.clone(),
                ty: ty.clone(),
                from: make.fresh(vars, "from", ty.clone()),
                to: None,
                by: by.map(|_| make.fresh(vars, "step", USIZE)),
            },
            Over::Slices { parts, index, .. } => {
                let parts = parts.iter().map(|part| Items {
                    slice: make.fresh(vars, "items", part.ty.clone()),
                    are: part.are.by(|_| make.fresh(vars, "size", USIZE)),
                    ..part.clone()
                });
                Over::Slices {
                    parts: parts.collect(),
                    index: *index,
                    first: index.map(|_| make.fresh(vars, "first", USIZE)),
                }
            }
        };
        Self { id: self.id, over }
    }

    /// Arguments for `count` of the rounds from the round `from` on.
    pub(super) fn part(&self, from: &Expr, count: &Expr, make: &Make) -> Vec<Expr> {
        match &self.over {
            Over::Range {
                ty,
                from: start,
                by,
                ..
            } => {
                let by = by.map(|by| make.var(by, &USIZE));
                let away = match &by {
                    Some(by) => make.raw(BinOp::Mul, from.clone(), by.clone()),
                    None => from.clone(),
                };
                let start = make.raw(BinOp::Add, make.var(*start, ty), make.cast(away, ty));
                [start].into_iter().chain(by).collect()
            }
            Over::Slices {
                parts,
                first,
                index,
            } => {
                let mut args = Vec::new();
                for part in parts {
                    args.push(part.part(from, count, make));
                    args.extend(part.are.size().map(|size| make.var(size, &USIZE)));
                }
                // The first round of all has the number 0.
                let number = |first: Option<VarId>| match first {
                    Some(first) => make.raw(BinOp::Add, make.var(first, &USIZE), from.clone()),
                    None => from.clone(),
                };
                args.extend(index.map(|_| number(*first)));
                args
            }
        }
    }

    /// All of them one after the other, in the function where the loop stands.
    pub(super) fn here(&self, body: Expr, make: &Make) -> Stmt {
        let over = match &self.over {
            Over::Range {
                var,
                ty,
                from,
                to,
                by,
            } => {
                let (to, inclusive) = to.map_or((*from, false), |to| to);
                For::Range {
                    var: var.clone(),
                    lo: make.var(*from, ty),
                    hi: make.var(to, ty),
                    inclusive,
                    rev: false,
                    step: by.map(|by| crate::hir::Step {
                        by: make.var(by, &USIZE),
                        then_rev: false,
                    }),
                }
            }
            Over::Slices { parts, index, .. } => over_slices(parts, *index, make),
        };
        self.run(over, body, make)
    }

    /// In the task: the `count` rounds that it has, one after the other.
    pub(super) fn piece(
        &self,
        mut body: Expr,
        count: VarId,
        vars: &mut Vec<Var>,
        make: &Make,
    ) -> Stmt {
        let range = |var, hi| For::Range {
            var,
            lo: make.count(0),
            hi,
            inclusive: false,
            rev: false,
            step: None,
        };
        let mut before = Vec::new();
        let over = match &self.over {
            Over::Range {
                var, ty, from, by, ..
            } => {
                // Counted, so that nothing beyond the range is ever computed.
                let round = make.fresh(vars, "round", USIZE);
                let mut away = make.var(round, &USIZE);
                if let Some(by) = by {
                    away = make.raw(BinOp::Mul, away, make.var(*by, &USIZE));
                }
                let from = make.var(*from, ty);
                let value = make.raw(BinOp::Add, from, make.cast(away, ty));
                before.push(Stmt::Let(var.clone(), Some(value)));
                range(Pat::Var(round), make.var(count, &USIZE))
            }
            Over::Slices {
                parts,
                index,
                first,
            } => {
                let round = index.zip(*first).map(|(index, first)| {
                    let round = make.fresh(vars, "round", USIZE);
                    let [first, away] = [first, round].map(|v| make.var(v, &USIZE));
                    let number = make.raw(BinOp::Add, first, away);
                    before.push(make.bind(index, number));
                    round
                });
                over_slices(parts, round, make)
            }
        };
        if !before.is_empty() {
            before.push(Stmt::Expr(body));
            body = make.block(before);
        }
        self.run(over, body, make)
    }

    fn run(&self, over: For, body: Expr, make: &Make) -> Stmt {
        let kind = ExprKind::For(self.id, over, body);
        Stmt::Expr(Expr::new(kind, Ty::unit(), make.0))
    }

    /// Calls `f` on each variable that the loop's head declares.
    pub(super) fn declares(&mut self, f: &mut dyn FnMut(&mut VarId)) {
        match &mut self.over {
            Over::Range { var, .. } => var.vars(f),
            Over::Slices { parts, index, .. } => {
                parts.iter_mut().for_each(|part| part.item.vars(f));
                index.iter_mut().for_each(f);
            }
        }
    }
}

fn over_slices(parts: &[Items], index: Option<VarId>, make: &Make) -> For {
    let part = |items: &Items| {
        let size = |v: VarId| make.var(v, &USIZE);
        Part {
            slice: make.var(items.slice, &items.ty),
            by: match items.are {
                Are::Elements => By::Element,
                Are::Rows => By::Rows,
                Are::Chunks(n) => By::Chunks(size(n)),
                Are::ExactChunks(n) => By::ExactChunks(size(n)),
                Are::Windows(n) => By::Windows(size(n)),
            },
            item: items.item.clone(),
            rev: false,
            keep: false,
        }
    };
    For::Slices {
        parts: parts.iter().map(part).collect(),
        index,
        rev: false,
        from_end: false,
    }
}

impl Items {
    fn count(&self, make: &Make) -> Expr {
        let len = self.len(make);
        let size = |n: VarId| make.var(n, &USIZE);
        match self.are {
            Are::Elements | Are::Rows => len,
            Are::ExactChunks(n) => make.raw(BinOp::Div, len, size(n)),
            Are::Chunks(n) => {
                let size = size(n);
                let whole = make.raw(BinOp::Div, len.clone(), size.clone());
                let rest = make.raw(BinOp::Rem, len, size);
                let partial = make.compare(BinOp::Ne, rest, make.count(0));
                make.raw(BinOp::Add, whole, make.cast(partial, &USIZE))
            }
            Are::Windows(n) => {
                let size = size(n);
                let fits = make.compare(BinOp::Le, size.clone(), len.clone());
                let more = make.raw(BinOp::Sub, len, size);
                let all = make.raw(BinOp::Add, more, make.count(1));
                make.choose(fits, all, Some(make.count(0)))
            }
        }
    }

    /// What `count` items from the item `from` on lie in.
    fn part(&self, from: &Expr, count: &Expr, make: &Make) -> Expr {
        let end = make.raw(BinOp::Add, from.clone(), count.clone());
        let (lo, hi) = match self.are {
            Are::Rows => {
                let cols = self.ask(Builtin::MatCols, make);
                let rows = [from.clone(), make.count(0), count.clone(), cols];
                let args = [make.var(self.slice, &self.ty)].into_iter().chain(rows);
                let kind = ExprKind::Method(Builtin::MatSub, args.collect());
                return Expr::new(kind, self.ty.clone(), make.0);
            }
            Are::Elements => (from.clone(), end),
            Are::Chunks(n) | Are::ExactChunks(n) => {
                let size = make.var(n, &USIZE);
                let end = make.raw(BinOp::Mul, end, size.clone());
                // The last chunk may be a part of one.
                let end = make.raw(BinOp::Min, end, self.len(make));
                (make.raw(BinOp::Mul, from.clone(), size), end)
            }
            Are::Windows(n) => {
                let more = make.raw(BinOp::Sub, make.var(n, &USIZE), make.count(1));
                (from.clone(), make.raw(BinOp::Add, end, more))
            }
        };
        let kind = ExprKind::SubSlice {
            base: make.var(self.slice, &self.ty),
            range: SliceRange {
                lo: Some(lo),
                hi: Some(hi),
                inclusive: false,
            },
        };
        Expr::new(kind, self.ty.clone(), make.0)
    }

    /// How many elements there are, or rows.
    fn len(&self, make: &Make) -> Expr {
        match self.are {
            Are::Rows => self.ask(Builtin::MatRows, make),
            _ => self.ask(Builtin::Len, make),
        }
    }

    fn ask(&self, what: Builtin, make: &Make) -> Expr {
        let slice = make.var(self.slice, &self.ty);
        Expr::new(ExprKind::Method(what, vec![slice]), USIZE, make.0)
    }
}

fn unsigned(ty: &Ty) -> Ty {
    match ty.scalar() {
        Some(Scalar::I8) => Ty::Scalar(Scalar::U8),
        Some(Scalar::I16) => Ty::Scalar(Scalar::U16),
        Some(Scalar::I32) => Ty::Scalar(Scalar::U32),
        Some(Scalar::I64) => Ty::Scalar(Scalar::U64),
        _ => ty.clone(),
    }
}
