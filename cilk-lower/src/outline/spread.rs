//! Parts of structs and tuples as variables of their own while a loop runs, so that each gathers by itself.
//!
//! ```text
//! for x in items {                              let (mut nodes, mut best) = (total.nodes, total.best);
//!     let one = spawn!(f(*x));                  for x in items {
//!     sync!();                                      let one = spawn!(f(*x));
//!     total.merge(&one);                   =>       sync!();
//! }                                                 nodes += one.nodes;
//!                                                   best = best.max(one.best);
//!                                               }
//!                                               (total.nodes, total.best) = (nodes, best);
//! ```
//!
//! Small helpers that only compute, as methods and operators that combine two values do, stand where they are called.

use super::{Known, bring, make::Make, replace};
use crate::{
    hir::{Body, Expr, ExprKind, FnId, Stmt, Var, VarId},
    items::Module,
    ty::Ty,
};
use millstream_graph::ir::FunctionKind;
use std::collections::{BTreeMap, BTreeSet};

/// The way to a part of a value, by numbers of fields.
pub(super) type Path = Vec<usize>;

/// So much is written in a helper that stands where it is called.
const SMALL: usize = 80;

/// So deep do helpers stand in each other: one may call itself.
const DEPTH: usize = 4;

/// The helpers of a program that may stand where they are called: they go one way, to their end.
pub(super) struct Helpers(BTreeMap<FnId, Body>);

impl Helpers {
    pub(super) fn of(m: &Module, bodies: &mut [Body]) -> Self {
        let mut small = BTreeMap::new();
        for ((i, item), body) in m.fns.iter().enumerate().zip(bodies) {
            let mut size = 0;
            if item.kind == FunctionKind::Helper && is_plain(&mut body.root, &mut size) {
                small.insert(FnId(i), body.clone());
            }
        }
        Self(small)
    }

    /// Lets helpers stand in a loop where a statement is a call, or gives a variable what a call makes of it.
    pub(super) fn spread(&self, e: &mut Expr, vars: &mut Vec<Var>) {
        if let ExprKind::Block(stmts, tail) = &mut *e.kind {
            let last = tail.take().map(Stmt::Expr);
            let is_unit = e.ty.is_unit();
            let mut out = Vec::new();
            for stmt in stmts.drain(..) {
                match stmt {
                    Stmt::Expr(e) => self.statements(e, vars, DEPTH, &mut out),
                    stmt => out.push(stmt),
                }
            }
            match last {
                Some(Stmt::Expr(e)) if is_unit => self.statements(e, vars, DEPTH, &mut out),
                Some(Stmt::Expr(e)) => *tail = Some(e),
                _ => {}
            }
            *stmts = out;
        }
        e.children_mut(&mut |child| self.spread(child, vars));
    }

    /// The statement, or those of what it calls.
    fn statements(&self, e: Expr, vars: &mut Vec<Var>, depth: usize, out: &mut Vec<Stmt>) {
        let known = vars.len();
        let spread = match &*e.kind {
            ExprKind::Call(func, args) => self.called(*func, args, vars, Make(e.span)),
            ExprKind::Assign(place, value) => match (&*place.kind, &*value.kind) {
                (ExprKind::Var(var), ExprKind::Call(func, args)) => {
                    let called = self.called(*func, args, vars, Make(e.span));
                    called.and_then(|called| assigned(place, *var, called))
                }
                _ => None,
            },
            _ => None,
        };
        match spread.filter(|_| depth > 0).map(|e| *e.kind) {
            Some(ExprKind::Block(stmts, None)) => {
                for stmt in stmts {
                    match stmt {
                        Stmt::Expr(e) => self.statements(e, vars, depth - 1, out),
                        stmt => out.push(stmt),
                    }
                }
            }
            _ => {
                vars.truncate(known);
                out.push(Stmt::Expr(e));
            }
        }
    }

    /// The body of a helper for a call of it.
    fn called(&self, func: FnId, args: &[Expr], vars: &mut Vec<Var>, make: Make) -> Option<Expr> {
        let body = self.0.get(&func)?;
        let first = vars.len();
        let param = |i: usize| VarId(first + i);
        let mut known: BTreeMap<VarId, Known> = (0..args.len())
            .map(|i| (VarId(i), Known::As(param(i))))
            .collect();
        vars.extend_from_slice(&body.vars[..args.len()]);
        let mut root = body.root.clone();
        bring(&mut root, &body.vars, &mut known, vars);
        replace(&mut root, &known, vars);
        let referred = |var: VarId| {
            let mut places = args.iter().filter_map(place_of);
            places.any(|mut place| place.mentions(var))
        };
        let mut stmts = Vec::new();
        for (i, arg) in args.iter().enumerate() {
            match (place_of(arg), &*arg.kind) {
                (Some(place), _) => refer(&mut root, param(i), &place),
                // A value that is only read is the variable that it comes from, if that stays as it is.
                (None, ExprKind::Var(var)) if !root.changes(param(i)) && !referred(*var) => {
                    vars[var.0].addressed |= body.vars[i].addressed;
                    replace(
                        &mut root,
                        &BTreeMap::from([(param(i), Known::As(*var))]),
                        vars,
                    );
                }
                _ => stmts.push(make.bind(param(i), arg.clone())),
            }
        }
        let ty = root.ty.clone();
        let (more, tail) = match *root.kind {
            ExprKind::Block(more, tail) => (more, tail),
            _ => (Vec::new(), Some(root)),
        };
        stmts.extend(more);
        let tail = match tail {
            Some(e) if e.ty.is_unit() => {
                stmts.push(Stmt::Expr(e));
                None
            }
            tail => tail,
        };
        Some(Expr::new(ExprKind::Block(stmts, tail), ty, make.0))
    }
}

/// The place that a reference is made to.
fn place_of(arg: &Expr) -> Option<Expr> {
    match &*arg.kind {
        ExprKind::AddrOf(place) => part_of(place).map(|_| place.clone()),
        _ => None,
    }
}

/// Lets what a reference refers to be named by its place.
fn refer(e: &mut Expr, reference: VarId, place: &Expr) {
    let is_it = |e: &Expr| matches!(*e.kind, ExprKind::Var(v) if v == reference);
    match &*e.kind {
        ExprKind::Deref(of) if is_it(of) => e.kind.clone_from(&place.kind),
        ExprKind::Var(_) if is_it(e) => *e.kind = ExprKind::AddrOf(place.clone()),
        _ => e.children_mut(&mut |child| refer(child, reference, place)),
    }
}

/// `x = S { a: .., b: .. }` as `x.a = ..; x.b = ..;`, where what each is made of is no other part of `x`.
fn assigned(place: &Expr, var: VarId, mut called: Expr) -> Option<Expr> {
    let ExprKind::Block(stmts, tail) = &mut *called.kind else {
        return None;
    };
    let value = tail.take()?;
    // What a call gives is looked at next.
    let known = matches!(
        *value.kind,
        ExprKind::Struct { .. } | ExprKind::Tuple(_) | ExprKind::Call(..)
    );
    if !known {
        return None;
    }
    give(place.clone(), var, &mut Vec::new(), value, stmts)?;
    called.ty = Ty::unit();
    Some(called)
}

/// Gives a part of a variable a value, part by part where it is written so.
fn give(
    place: Expr,
    var: VarId,
    path: &mut Path,
    mut value: Expr,
    out: &mut Vec<Stmt>,
) -> Option<()> {
    let span = value.span;
    let fields = match *value.kind {
        ExprKind::Struct {
            fields, base: None, ..
        } => fields,
        ExprKind::Tuple(fields) => fields.into_iter().enumerate().collect(),
        _ => {
            out.push(Make(span).assign(place, value.clone()));
            return (path.is_empty() || names_only(&mut value, var, path)).then_some(());
        }
    };
    for (field, value) in fields {
        let part = ExprKind::Field(place.clone(), field);
        path.push(field);
        give(
            Expr::new(part, value.ty.clone(), span),
            var,
            path,
            value,
            out,
        )?;
        path.pop();
    }
    Some(())
}

/// Whether an expression names a variable by no other part than this.
fn names_only(e: &mut Expr, var: VarId, path: &Path) -> bool {
    match part_of(e) {
        Some((v, part)) => v != var || part.starts_with(path),
        None => {
            let mut only = true;
            e.children_mut(&mut |child| only &= names_only(child, var, path));
            only
        }
    }
}

/// Whether an expression goes one way, to its end, and does nothing but compute, look and change what it is lent. Adds how much is written there.
fn is_plain(e: &mut Expr, size: &mut usize) -> bool {
    use ExprKind as K;
    *size += 1;
    let leaves = matches!(
        *e.kind,
        K::Return(_) | K::Break(..) | K::Continue(_) | K::Error
    );
    let loops = matches!(
        *e.kind,
        K::For(..) | K::While(..) | K::Loop(..) | K::Labelled(..) | K::Later(_)
    );
    let does = matches!(
        *e.kind,
        K::Spawn { .. } | K::Sync | K::Emit(..) | K::Atomic { .. } | K::Spawns | K::Wide | K::Lanes
    );
    let mut plain = !leaves && !loops && !does && *size <= SMALL;
    e.children_mut(&mut |child| plain = plain && is_plain(child, size));
    plain
}

/// The variable that an expression names, or a part of one, and the way to that.
pub(super) fn part_of(e: &Expr) -> Option<(VarId, Path)> {
    match &*e.kind {
        ExprKind::Var(var) => Some((*var, Vec::new())),
        ExprKind::Field(base, field) => {
            let (var, mut path) = part_of(base)?;
            path.push(*field);
            Some((var, path))
        }
        _ => None,
    }
}

/// What parts of variables a loop names.
#[derive(Default)]
struct Named {
    /// Scalars of a variable, each with the expression that names it.
    parts: BTreeMap<VarId, BTreeMap<Path, Expr>>,
    /// Variables that are named in other ways too.
    other: BTreeSet<VarId>,
    /// Variables of which a part is given a value.
    changed: BTreeSet<VarId>,
}

impl Named {
    fn look(&mut self, e: &mut Expr) {
        if let ExprKind::Assign(place, _) | ExprKind::AssignOp(_, place, _) = &*e.kind
            && let Some((var, _)) = part_of(place)
        {
            self.changed.insert(var);
        }
        match part_of(e) {
            Some((var, path)) if e.ty.scalar().is_some() && !path.is_empty() => {
                let parts = self.parts.entry(var).or_default();
                parts.entry(path).or_insert_with(|| e.clone());
            }
            Some((var, _)) => {
                self.other.insert(var);
            }
            None => e.children_mut(&mut |child| self.look(child)),
        }
    }
}

/// Lets a loop have the parts of variables from around it as variables of their own, where it names scalars of them alone. Gives what stands in front of it then,
/// and behind it.
pub(super) fn parts(
    whole: &mut Expr,
    is_around: impl Fn(VarId) -> bool,
    vars: &mut Vec<Var>,
    make: Make,
) -> (Vec<Stmt>, Vec<Stmt>) {
    let mut named = Named::default();
    named.look(whole);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (var, parts) in named.parts {
        if !is_around(var) || named.other.contains(&var) || !named.changed.contains(&var) {
            continue;
        }
        for (path, place) in parts {
            let name = format!("{}.{}", vars[var.0].name, path.len());
            let own = make.fresh(vars, &name, place.ty.clone());
            instead(whole, var, &path, own);
            before.push(make.bind(own, place.clone()));
            let value = make.var(own, &place.ty);
            after.push(make.assign(place, value));
        }
    }
    (before, after)
}

/// Lets a part of a variable be a variable.
fn instead(e: &mut Expr, var: VarId, path: &Path, own: VarId) {
    match part_of(e) {
        Some((v, p)) => {
            if v == var && p == *path {
                *e.kind = ExprKind::Var(own);
            }
        }
        None => e.children_mut(&mut |child| instead(child, var, path, own)),
    }
}
