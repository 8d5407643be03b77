//! What the rounds of a parallel loop gather in variables from around it, and what they may not do with others.
//!
//! A gather is `x += e`, `x -= e`, `x *= e`, `x |= e`, `x &= e`, `x ^= e`, `x = x.max(e)`, `x = x.min(e)`, `x = x.wrapping_add(e)`, `x = x + e` and its
//! kin, with `x` on either side, or one of these of a child's result, where nothing else in the loop names `x`. Each piece of the loop starts from what
//! changes nothing. What `-=` takes away in a piece is a sum like that of `+=`: so both may stand in one loop.

use super::{Known, make::Make};
use crate::{
    diag::Diagnostics,
    hir::{Expr, ExprKind, For, Stmt, Var, VarId},
    rust::Gathered,
    ty::Ty,
};
use millstream_graph::{
    ir::{BinOp, Combine},
    ty::{Scalar, Structs},
};
use proc_macro2::Span;
use std::collections::BTreeMap;

/// A variable that rounds gather in.
pub(super) struct Gather {
    pub(super) var: VarId,
    pub(super) ty: Ty,
    /// How what pieces gathered is joined.
    pub(super) op: BinOp,
    /// Whether all that it gathers are results of children.
    pub(super) by_children: bool,
}

/// What is gathered, and what is wrong with what the rounds do to the variables from around them.
pub(super) fn find(
    body: &mut Expr,
    around: &[VarId],
    vars: &[Var],
    structs: &Structs,
    wrong: &mut Diagnostics,
) -> Vec<Gather> {
    let mut search = Search {
        around,
        vars,
        structs,
        found: BTreeMap::new(),
        wrong,
    };
    search.expr(body);
    let mut out = Vec::new();
    for (var, found) in search.found {
        let Found { op, own, span, .. } = found;
        if mentions(body, var) > own {
            let name = &vars[var.0].name;
            wrong
                .error(span, format!("`{name}` is gathered in a parallel loop that also reads it"))
                .help("rounds run side by side: read it after the loop, or gather in a second variable");
        }
        let ty = vars[var.0].ty.clone();
        let by_children = found.by_children;
        out.push(Gather {
            var,
            ty,
            op,
            by_children,
        });
    }
    out
}

/// A variable that is gathered: how, and in how many places it is named for that.
struct Found {
    op: BinOp,
    own: usize,
    span: Span,
    by_children: bool,
}

struct Search<'a> {
    around: &'a [VarId],
    vars: &'a [Var],
    structs: &'a Structs,
    found: BTreeMap<VarId, Found>,
    wrong: &'a mut Diagnostics,
}

impl Search<'_> {
    fn expr(&mut self, e: &mut Expr) {
        match &*e.kind {
            ExprKind::AssignOp(op, place, _) => match (joined_by(*op), self.whole(place)) {
                (Some(op), Some(var)) => self.gather(var, op, 1, e.span),
                (Some(_), None) => self.changes_by(place, e.span, gathered_in(place)),
                _ => self.changes(place, e.span),
            },
            ExprKind::Assign(place, value) => match (self.whole(place), combined(value)) {
                (Some(var), Some((op, of))) if of.iter().any(|e| self.whole(e) == Some(var)) => {
                    self.gather(var, op, 2, e.span);
                }
                (Some(var), _) => {
                    let name = &self.vars[var.0].name;
                    let help = match *value.kind {
                        ExprKind::Bool(true) => format!("gather whether it is so: `{name} |= ..`"),
                        ExprKind::Bool(false) => format!("gather whether it is so: `{name} &= ..`"),
                        _ => HOW.to_owned(),
                    };
                    self.changes_by(place, e.span, &help);
                }
                _ => self.changes_by(place, e.span, written_in(place)),
            },
            ExprKind::Spawn { args, dest, .. } => {
                for arg in args {
                    self.lends(arg);
                }
                match dest {
                    // To an element: each round writes to one of its own.
                    Some((place, Combine::Store)) if self.is_element(place) => {}
                    Some((place, combine)) => match (self.whole(place), combine.op()) {
                        (Some(var), Some(op)) => self.gather(var, op, 0, e.span),
                        (_, None) if *combine != Combine::Store => {
                            self.changes_by(place, e.span, "here numbers gather, each in a variable of its own: `let r = spawn!(..); sync!();`, and then `x += r.x;` for each field; or leave out `#[parallel]`");
                        }
                        _ => self.changes(place, e.span),
                    },
                    None => {}
                }
            }
            ExprKind::AddrOf(place) | ExprKind::SubSlice { base: place, .. }
                if e.ty.is_mutable(self.structs) =>
            {
                self.changes(place, e.span);
            }
            ExprKind::Call(_, args) => args.iter().for_each(|arg| self.lends(arg)),
            // `out.fill(0)`, `out.split_at_mut(n)`, `m.row_mut(i)`
            ExprKind::Method(_, args)
                if e.writes(self.structs) || e.ty.is_mutable(self.structs) =>
            {
                args.iter().for_each(|arg| self.lends(arg));
            }
            ExprKind::For(_, For::Slices { parts, .. }, _) => {
                for part in parts {
                    let mut written = false;
                    let is_mutable = |v: &mut VarId| self.vars[v.0].ty.is_mutable(self.structs);
                    part.item.clone().vars(&mut |v| written |= is_mutable(v));
                    if written {
                        self.lends(&part.slice);
                    }
                }
            }
            ExprKind::Block(stmts, _) => {
                for stmt in stmts {
                    if let Stmt::Let(_, Some(value)) = stmt {
                        self.lends(value);
                    }
                }
            }
            ExprKind::Emit(..) => {
                self.wrong
                    .error(e.span, "a parallel loop cannot emit")
                    .help("emit in a loop without `#[parallel]`");
            }
            _ => {}
        }
        e.children_mut(&mut |child| self.expr(child));
    }

    /// The variable from around that a place is, whole.
    fn whole(&self, place: &Expr) -> Option<VarId> {
        match *place.kind {
            ExprKind::Var(var) if self.around.contains(&var) => Some(var),
            _ => None,
        }
    }

    /// Whether a place is an element of an array or slice, or a part of one.
    fn is_element(&self, place: &Expr) -> bool {
        match &*place.kind {
            ExprKind::Index(..) | ExprKind::MatIndex(..) => true,
            ExprKind::Field(base, _) => self.is_element(base),
            _ => false,
        }
    }

    /// `named`: how often it is named for that, beside the place itself; none for a child's result.
    fn gather(&mut self, var: VarId, op: BinOp, named: usize, span: Span) {
        let found = self.found.entry(var).or_insert(Found {
            op,
            own: 0,
            span,
            by_children: true,
        });
        found.own += named.max(1);
        found.by_children &= named == 0;
        if found.op != op {
            let name = &self.vars[var.0].name;
            self.wrong
                .error(span, format!("`{name}` is gathered in two ways"))
                .note(found.span, "this is the other one")
                .help("use a variable for each");
        }
    }

    /// A value that may be written through goes elsewhere.
    fn lends(&mut self, value: &Expr) {
        if value.ty.is_mutable(self.structs) && matches!(*value.kind, ExprKind::Var(_)) {
            self.changes(value, value.span);
        }
    }

    fn changes(&mut self, place: &Expr, span: Span) {
        self.changes_by(place, span, HOW);
    }

    fn changes_by(&mut self, place: &Expr, span: Span, help: &str) {
        let Some((var, _)) = place.root() else { return };
        if !self.around.contains(&var) {
            return;
        }
        let name = &self.vars[var.0].name;
        self.wrong
            .error(
                span,
                format!("`{name}` is changed by several rounds of a parallel loop at once"),
            )
            .help(help);
    }
}

/// What to write instead of a change of what rounds share.
const HOW: &str = "gather in a variable (`x += ..`, `x = x.max(..)`), run over what is written to (`for x in out.iter_mut()`, with `zip` and `enumerate`), or share atomics";

/// The same where something is written to a part of what rounds share.
fn written_in(place: &Expr) -> &'static str {
    match &*place.kind {
        ExprKind::Index(..) => {
            "run over what is written to, so that each round has an item of its own (`for (i, x) in out.iter_mut().enumerate()`, several by `zip`), or share atomics"
        }
        ExprKind::MatIndex(..) => {
            "run over the rows, so that each round has one of its own: `for (i, row) in m.row_iter_mut().enumerate()`"
        }
        _ => HOW,
    }
}

/// The same where something is gathered, but not in a variable.
fn gathered_in(place: &Expr) -> &'static str {
    match &*place.kind {
        ExprKind::Field(..) | ExprKind::Deref(..) => {
            "only a whole variable is gathered in: write `let mut sum = 0;` in front of the loop, gather in `sum`, and add it here behind the loop"
        }
        _ => {
            "elements are not gathered in: share atomics (`a[i].fetch_add(..)`), run over what is written to (`for x in a.iter_mut()`), or gather in a variable each"
        }
    }
}

/// How what was gathered by an operator in pieces is joined.
const fn joined_by(op: BinOp) -> Option<BinOp> {
    use BinOp::{Add, And, Max, Min, Mul, Or, Sub, Xor};
    match op {
        Add | Sub => Some(Add),
        Mul | Or | And | Xor | Min | Max => Some(op),
        _ => None,
    }
}

/// `x.max(e)`, `x + e` and their kin: how pieces are joined, and where `x` may stand.
fn combined(value: &Expr) -> Option<(BinOp, Vec<&Expr>)> {
    let (ExprKind::RawBinary(op, a, b) | ExprKind::Binary(op, a, b)) = &*value.kind else {
        return None;
    };
    let from = match op {
        BinOp::Sub => vec![a],
        _ => vec![a, b],
    };
    Some((joined_by(*op)?, from))
}

/// Lets gathers wrap around in checked programs too: what a piece has on its way says nothing about the whole.
pub(super) fn wrap(e: &mut Expr, gathers: &[Gather]) {
    e.children_mut(&mut |child| wrap(child, gathers));
    let gathered = |place: &Expr| matches!(*place.kind, ExprKind::Var(v) if gathers.iter().any(|g| g.var == v));
    match &mut *e.kind {
        ExprKind::AssignOp(op, place, value) if gathered(place) => {
            let sum = Make(e.span).raw(*op, place.clone(), value.clone());
            *e.kind = ExprKind::Assign(place.clone(), sum);
        }
        ExprKind::Assign(place, value) if gathered(place) => {
            if let ExprKind::Binary(op, a, b) = &*value.kind {
                *value.kind = ExprKind::RawBinary(*op, a.clone(), b.clone());
            }
        }
        _ => {}
    }
}

/// In how many places a variable is named.
pub(super) fn mentions(e: &mut Expr, var: VarId) -> usize {
    let mut found = usize::from(matches!(*e.kind, ExprKind::Var(v) if v == var));
    e.children_mut(&mut |child| found += mentions(child, var));
    found
}

impl Gather {
    /// Whether the order in which values come shows in the result. In what is the least or the greatest it does not: of two zeros it is always the same one.
    pub(super) fn is_ordered(&self) -> bool {
        let is_one_of_them = matches!(self.op, BinOp::Min | BinOp::Max);
        self.ty.scalar().is_some_and(Scalar::is_float) && !is_one_of_them
    }

    /// Whether it makes no difference in which order values are joined, so that all lanes of a device may join theirs.
    pub(super) fn joins(&self) -> bool {
        !self.is_ordered() && self.combine().is_some()
    }

    /// How children's results are combined so; none if no child's are.
    pub(super) fn combine(&self) -> Option<Combine> {
        Combine::by(self.op)
    }

    fn nothing(&self, make: &Make) -> Expr {
        nothing(self.op, &self.ty, make)
    }

    pub(super) fn summary(&self, vars: &[Var]) -> Gathered {
        Gathered {
            name: vars[self.var.0].name.clone(),
            op: self.op,
            ordered: self.is_ordered(),
        }
    }

    /// Combines a value with what the variable holds.
    pub(super) fn add(&self, make: &Make, value: Expr) -> Stmt {
        let place = make.var(self.var, &self.ty);
        let sum = make.raw(self.op, place.clone(), value);
        make.assign(place, sum)
    }
}

/// What changes nothing, combined in this way.
pub(super) fn nothing(op: BinOp, ty: &Ty, make: &Make) -> Expr {
    let scalar = ty.scalar().unwrap_or(Scalar::Bool);
    let top = 1u128 << (scalar.bits().max(1) - 1);
    let kind = match (op, scalar) {
        (BinOp::And, Scalar::Bool) => ExprKind::Bool(true),
        (_, Scalar::Bool) => ExprKind::Bool(false),
        // Minus zero and whatever is whatever, also if that is minus zero; the greater of a number and none is the number.
        (BinOp::Add, s) if s.is_float() => ExprKind::Float(-0.0),
        (BinOp::Mul, s) if s.is_float() => ExprKind::Float(1.0),
        (_, s) if s.is_float() => ExprKind::Float(f64::NAN),
        (BinOp::Mul, _) => ExprKind::Int(1),
        (BinOp::And, _) => ExprKind::Int(u128::from(u64::MAX)),
        (BinOp::Min, s) if s.is_signed() => ExprKind::Int(top - 1),
        (BinOp::Min, _) => ExprKind::Int(u128::from(u64::MAX)),
        (BinOp::Max, s) if s.is_signed() => ExprKind::Int(top),
        _ => ExprKind::Int(0),
    };
    Expr::new(kind, ty.clone(), make.0)
}

/// Whether the results of parts are kept, to be joined in their order: there are several, or the order shows, or children cannot join theirs in this way.
pub(super) fn is_kept(gathers: &[Gather]) -> bool {
    !gathers.is_empty() && at_once(gathers).is_none()
}

/// The variable that children may add to one by one, and how: where there is one, and the order does not show.
pub(super) fn at_once(gathers: &[Gather]) -> Option<(VarId, Combine)> {
    match gathers {
        [one] if !one.is_ordered() => Some((one.var, one.combine()?)),
        _ => None,
    }
}

/// What a piece gives: a value, or a tuple of several.
pub(super) fn result(gathers: &[Gather]) -> Ty {
    match gathers {
        [one] => one.ty.clone(),
        several => Ty::Tuple(several.iter().map(|g| g.ty.clone()).collect()),
    }
}

/// The part of a result that is a gather's.
fn part(gathers: &[Gather], i: usize, result: &Expr) -> Expr {
    match gathers {
        [_] => result.clone(),
        several => Expr::new(
            ExprKind::Field(result.clone(), i),
            several[i].ty.clone(),
            result.span,
        ),
    }
}

/// Variables for what a piece gathers, which hold nothing yet, and which they stand for.
pub(super) fn start(
    gathers: &[Gather],
    make: &Make,
    vars: &mut Vec<Var>,
    awaits: impl Fn(VarId) -> bool,
) -> (Vec<Stmt>, BTreeMap<VarId, Known>) {
    let (mut stmts, mut known) = (Vec::new(), BTreeMap::new());
    for gather in gathers {
        let own = make.fresh(vars, "gathered", gather.ty.clone());
        vars[own.0].awaits = awaits(gather.var);
        stmts.push(make.bind(own, gather.nothing(make)));
        known.insert(gather.var, Known::As(own));
    }
    (stmts, known)
}

/// What a piece gives, from its own variables.
pub(super) fn value(gathers: &[Gather], make: &Make, known: &BTreeMap<VarId, Known>) -> Expr {
    let own = |g: &Gather| match known.get(&g.var) {
        Some(Known::As(own)) => make.var(*own, &g.ty),
        _ => g.nothing(make),
    };
    match gathers {
        [one] => own(one),
        several => Expr::new(
            ExprKind::Tuple(several.iter().map(own).collect()),
            result(gathers),
            make.0,
        ),
    }
}

/// Of two results one.
pub(super) fn join(gathers: &[Gather], make: &Make, [a, b]: [Expr; 2]) -> Expr {
    let ty = a.ty.clone();
    let sum = |(i, g): (usize, &Gather)| make.raw(g.op, part(gathers, i, &a), part(gathers, i, &b));
    let mut sums: Vec<Expr> = gathers.iter().enumerate().map(sum).collect();
    match gathers {
        [_] => sums.remove(0),
        _ => Expr::new(ExprKind::Tuple(sums), ty, make.0),
    }
}

/// Combines a result with what the variables hold.
pub(super) fn add(gathers: &[Gather], make: &Make, result: &Expr) -> Vec<Stmt> {
    let each = gathers.iter().enumerate();
    each.map(|(i, g)| g.add(make, part(gathers, i, result)))
        .collect()
}
