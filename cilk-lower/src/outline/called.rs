//! Tasks that are called rather than spawned, as serial cut-offs do: a device that is [wide](ExprKind::Wide) spawns them, since one lane
//! would run what they call alone while others have nothing to do.
//!
//! ```text
//! let a = fib(n - 1);              if wide { a = spawn!(fib(n - 1)); b = spawn!(fib(n - 2)); sync!(); }
//! let b = fib(n - 2);        =>    else { a = fib(n - 1); b = fib(n - 2); }
//! while .. { sum += f(i); }        if wide { while .. { sum += spawn!(f(i)); } sync!(); } else { while .. { sum += f(i); } }
//! ```
//!
//! Both ways give the same: the callee recurses (others are helpers in all but name), and all that it is given it can only read, and so
//! can its caller: values, and what the caller's own parameters refer to. The calls are several, next to each other or in a loop, so that
//! there is something to run side by side; a loop gathers integers in variables that it names for nothing else. A single call is a child
//! where its value is the function's, `return f(i)`, and its callee has several children.

use super::{Known, Outliner, gather::mentions, make::Make, replace};
use crate::{
    hir::{Body, Expr, ExprKind, FnId, LoopId, Pat, Stmt, VarId},
    ty::{BOOL, Ty},
};
use millstream_graph::{
    ir::{BinOp, Combine, FunctionKind},
    ty::Scalar,
};
use std::collections::{BTreeMap, BTreeSet};

/// The tasks that have several children: by spawns, or by calls of what comes back to them.
pub(super) fn spawners(bodies: &mut [Body], reach: &[BTreeSet<FnId>]) -> BTreeSet<FnId> {
    let mut out = BTreeSet::new();
    for (i, body) in bodies.iter_mut().enumerate() {
        let comes_back = |func: &FnId| reach.get(func.0).is_some_and(|r| r.contains(&FnId(i)));
        if !body.parallel.is_empty() || children(&mut body.root, &comes_back) > 1 {
            out.insert(FnId(i));
        }
    }
    out
}

/// How many children an expression has at least, those of a loop counted twice.
fn children(e: &mut Expr, comes_back: &impl Fn(&FnId) -> bool) -> usize {
    let own = match &*e.kind {
        ExprKind::Spawn { .. } => 1,
        ExprKind::Call(func, _) => usize::from(comes_back(func)),
        _ => 0,
    };
    let mut inside = 0;
    e.children_mut(&mut |child| inside += children(child, comes_back));
    let rounds = match &*e.kind {
        ExprKind::While(..) | ExprKind::For(..) | ExprKind::Loop(..) => 2,
        _ => 1,
    };
    own + rounds * inside
}

/// What a loop gathers of calls, by the variable.
type Gathers = BTreeMap<VarId, (Combine, usize)>;

impl Outliner<'_> {
    /// Lets the calls of an expression be spawns where the device is wide. `ends`: its value is the function's.
    pub(super) fn spawn_calls(&mut self, e: &mut Expr, reach: &[BTreeSet<FnId>], ends: bool) {
        if matches!(
            *e.kind,
            ExprKind::While(..) | ExprKind::For(..) | ExprKind::Loop(..)
        ) && let Some(gathers) = self.gathered_calls(e, reach)
        {
            let mut plain = e.clone();
            let spawning = self.spawning(e.clone(), &gathers);
            self.beside(&mut plain, &gathers);
            *e = self.either(spawning, plain);
            return;
        }
        if let ExprKind::Block(stmts, tail) = &mut *e.kind {
            let (old, mut new) = (std::mem::take(stmts), Vec::new());
            let mut calls = Vec::new();
            for stmt in old {
                match stmt {
                    // One behind the other, and nothing in between.
                    Stmt::Let(Pat::Var(var), Some(value)) if self.is_child(&value, reach) => {
                        if calls.iter().any(|(v, _)| value.clone().mentions(*v)) {
                            self.flush(&mut calls, &mut new);
                        }
                        calls.push((var, value));
                    }
                    Stmt::Expr(e) if calls.len() > 1 && matches!(*e.kind, ExprKind::Return(_)) => {
                        let either = self.flush_into(&mut calls, e);
                        new.push(Stmt::Expr(either));
                    }
                    mut other => {
                        self.flush(&mut calls, &mut new);
                        match &mut other {
                            Stmt::Let(_, Some(value)) => self.hoist(value, reach, false),
                            Stmt::Let(_, None) => {}
                            Stmt::Expr(value) => match &mut *value.kind {
                                ExprKind::Return(Some(result)) => {
                                    self.hoist(result, reach, true);
                                    // Where the calls are children each way returns by itself.
                                    if matches!(result.ty, Ty::Never) {
                                        *value = result.clone();
                                    }
                                }
                                ExprKind::Assign(_, value) => self.hoist(value, reach, false),
                                _ => self.spawn_calls(value, reach, false),
                            },
                        }
                        new.push(other);
                    }
                }
            }
            match tail {
                Some(last) if calls.len() > 1 && is_short(last) => {
                    *last = self.flush_into(&mut calls, last.clone());
                }
                Some(tail) => {
                    self.flush(&mut calls, &mut new);
                    self.hoist(tail, reach, ends);
                }
                None => self.flush(&mut calls, &mut new),
            }
            *stmts = new;
            return;
        }
        if let ExprKind::If(cond, then, other) = &mut *e.kind {
            self.spawn_calls(cond, reach, false);
            self.hoist(then, reach, ends);
            return other.iter_mut().for_each(|e| self.hoist(e, reach, ends));
        }
        e.children_mut(&mut |child| self.spawn_calls(child, reach, false));
    }

    /// Whether an expression is a call that may be a child.
    fn is_child(&self, e: &Expr, reach: &[BTreeSet<FnId>]) -> bool {
        let ExprKind::Call(func, args) = &*e.kind else {
            return false;
        };
        let item = &self.m.fns[func.0];
        item.kind == FunctionKind::Task
            && !item.is_made()
            && reach.get(func.0).is_some_and(|r| r.contains(func))
            && !e.ty.is_unit()
            && args.iter().all(|arg| !arg.assigns && self.is_frozen(arg))
    }

    /// Whether a call is one of a task that has several children itself.
    fn has_children(&self, call: &Expr) -> bool {
        matches!(&*call.kind, ExprKind::Call(func, _) if self.spawners.contains(func))
    }

    /// Whether nobody writes to what a value refers to while the caller runs.
    fn is_frozen(&self, value: &Expr) -> bool {
        match &value.ty {
            Ty::Slice { mutable, .. } | Ty::Ref { mutable, .. } | Ty::Mat { mutable, .. } => {
                let root = value.root().map(|(v, _)| v);
                let is_atomic = matches!(&value.ty, Ty::Ref { target, .. } | Ty::Slice { elem: target, .. } if target.holds_atomics());
                let param = root
                    .filter(|v| v.0 < self.params)
                    .map(|v| &self.vars[v.0].ty);
                let shared = param.is_some_and(|ty| {
                    matches!(
                        ty,
                        Ty::Slice { mutable: false, .. }
                            | Ty::Ref { mutable: false, .. }
                            | Ty::Mat { mutable: false, .. }
                    )
                });
                !mutable && !is_atomic && shared
            }
            ty @ Ty::Struct(_) => !ty.to_type().has_addresses(&self.m.structs),
            Ty::Tuple(parts) => parts.iter().all(|ty| {
                matches!(ty, Ty::Scalar(_) | Ty::Array(..) | Ty::Struct(_))
                    && !ty.to_type().has_addresses(&self.m.structs)
            }),
            Ty::Scalar(_) | Ty::Array(..) | Ty::Option(_) | Ty::Result(..) => true,
            _ => false,
        }
    }

    /// Calls behind each other, as children or as calls, and what may stand behind them.
    fn flush(&mut self, calls: &mut Vec<(VarId, Expr)>, stmts: &mut Vec<Stmt>) {
        let calls = std::mem::take(calls);
        if calls.len() < 2 {
            let one = |(var, call)| Stmt::Let(Pat::Var(var), Some(call));
            return stmts.extend(calls.into_iter().map(one));
        }
        let make = Make(calls[0].1.span);
        let (mut wide, mut plain, mut taken) = (Vec::new(), Vec::new(), Vec::new());
        for (var, call) in calls {
            // What is called had better stay in registers, so the child's result has a variable of its own.
            let (_, result) = self.child(&call, &mut wide);
            let place = make.var(var, &call.ty);
            stmts.push(Stmt::Let(Pat::Var(var), None));
            taken.push(make.assign(place.clone(), result));
            plain.push(make.assign(place, call));
        }
        wide.push(make.sync());
        wide.extend(taken);
        let either = self.either(make.block(wide), make.block(plain));
        stmts.push(Stmt::Expr(either));
    }

    /// The same with the value of a block, or what leaves it, right behind the calls: in each way by itself, so that what is only passed on is.
    fn flush_into(&mut self, calls: &mut Vec<(VarId, Expr)>, last: Expr) -> Expr {
        let calls = std::mem::take(calls);
        let make = Make(calls[0].1.span);
        let (mut wide, mut plain, mut known) = (Vec::new(), Vec::new(), BTreeMap::new());
        for (var, call) in calls {
            let (own, _) = self.child(&call, &mut wide);
            known.insert(var, Known::As(own));
            plain.push(Stmt::Let(Pat::Var(var), Some(call)));
        }
        wide.push(make.sync());
        let mut renamed = last.clone();
        replace(&mut renamed, &known, &self.vars);
        let wide = make.valued(wide, renamed);
        self.either(wide, make.valued(plain, last))
    }

    /// Takes the calls out of an expression whose parts are all evaluated, if there are several, where the device is wide.
    fn hoist(&mut self, e: &mut Expr, reach: &[BTreeSet<FnId>], ends: bool) {
        let mut found = 0;
        self.each_call(e, reach, &mut |_, _| found += 1);
        let handed_over = ends && self.is_child(e, reach) && self.has_children(e);
        if (found < 2 && !handed_over) || e.assigns {
            return self.spawn_calls(e, reach, ends);
        }
        let make = Make(e.span);
        let (plain, mut stmts) = (e.clone(), Vec::new());
        self.each_call(e, reach, &mut |this, call| {
            let (_, place) = this.child(call, &mut stmts);
            *call = place;
        });
        stmts.push(make.sync());
        *e = if ends {
            // Each way returns by itself, so that what is only passed on is.
            stmts.push(make.give(Some(e.clone())));
            let plain = make.block(vec![make.give(Some(plain))]);
            let mut either = self.either(make.block(stmts), plain);
            either.ty = Ty::Never;
            either
        } else {
            self.either(make.valued(stmts, e.clone()), plain)
        };
    }

    /// Lets a call be a child: its result's variable and place.
    fn child(&mut self, call: &Expr, stmts: &mut Vec<Stmt>) -> (VarId, Expr) {
        let make = Make(call.span);
        let var = make.fresh(&mut self.vars, "child", call.ty.clone());
        self.vars[var.0].awaits = true;
        let place = make.var(var, &call.ty);
        stmts.push(Stmt::Let(Pat::Var(var), None));
        if let ExprKind::Call(func, args) = &*call.kind {
            let dest = (place.clone(), Combine::Store);
            stmts.push(make.spawn(*func, args.clone(), Some(dest)));
        }
        (var, place)
    }

    /// Calls `f` on each call that may be a child and is evaluated in any case, in their order.
    fn each_call(
        &mut self,
        e: &mut Expr,
        reach: &[BTreeSet<FnId>],
        f: &mut dyn FnMut(&mut Self, &mut Expr),
    ) {
        use ExprKind as K;
        if self.is_child(e, reach) {
            return f(self, e);
        }
        match &mut *e.kind {
            K::Binary(_, a, b) | K::RawBinary(_, a, b) => {
                self.each_call(a, reach, f);
                self.each_call(b, reach, f);
            }
            K::Unary(_, a) | K::RawUnary(_, a) | K::Cast(a) => self.each_call(a, reach, f),
            K::Tuple(parts) => parts
                .iter_mut()
                .for_each(|part| self.each_call(part, reach, f)),
            K::Struct {
                fields, base: None, ..
            } => {
                fields
                    .iter_mut()
                    .for_each(|(_, part)| self.each_call(part, reach, f));
            }
            _ => {}
        }
    }

    /// What a loop gathers of calls, if they may be children.
    fn gathered_calls(&self, e: &Expr, reach: &[BTreeSet<FnId>]) -> Option<Gathers> {
        let mut search = Search {
            outliner: self,
            reach,
            gathers: Gathers::new(),
            loops: Vec::new(),
            only: true,
        };
        let mut e = e.clone();
        search.look(&mut e);
        let Search { gathers, only, .. } = search;
        let alone =
            |(var, (_, own)): (&VarId, &(Combine, usize))| mentions(&mut e.clone(), *var) == *own;
        (only && !gathers.is_empty() && gathers.iter().all(alone)).then_some(gathers)
    }

    /// The variable whose value is the function's, if it is gathered in and looked at only for that.
    pub(super) fn find_sum(&mut self, root: &mut Expr) {
        let ExprKind::Block(_, Some(tail)) = &*root.kind else {
            return;
        };
        if let ExprKind::Var(sum) = *tail.kind
            && sum.0 >= self.params
        {
            let mut ways = Vec::new();
            let gathers = gathers_of(root, sum, &mut ways);
            // Of several ways the order would show.
            let one_way = ways.windows(2).all(|pair| pair[0] == pair[1]);
            if one_way && mentions(root, sum) == 1 + gathers {
                self.sum = Some((sum, None));
            }
        }
    }

    /// Lets what is gathered of calls beside children come to the function's value.
    pub(super) fn add_sum(&mut self, root: &mut Expr) {
        let Some((sum, Some((own, op)))) = self.sum else {
            return;
        };
        let ty = self.vars[sum.0].ty.clone();
        let ExprKind::Block(stmts, Some(tail)) = &mut *root.kind else {
            return;
        };
        let make = Make(tail.span);
        stmts.insert(0, make.bind(own, super::gather::nothing(op, &ty, &make)));
        *tail = make.raw(op, tail.clone(), make.var(own, &ty));
    }

    /// Calls that are gathered in the function's sum are gathered in a variable beside it: what a child adds to has no other use then, and
    /// children of children may add to it at once (`lower::reduce`).
    fn beside(&mut self, plain: &mut Expr, gathers: &Gathers) {
        let Some((sum, own)) = self.sum else { return };
        let Some(op) = gathers.get(&sum).and_then(|(combine, _)| combine.op()) else {
            return;
        };
        let make = Make(plain.span);
        let ty = self.vars[sum.0].ty.clone();
        let own = match own {
            Some((own, before)) if before == op => own,
            Some(_) => return,
            None => make.fresh(&mut self.vars, "called", ty),
        };
        self.sum = Some((sum, Some((own, op))));
        replace(plain, &BTreeMap::from([(sum, Known::As(own))]), &self.vars);
    }

    /// The loop with children in place of calls, and what waits for them.
    fn spawning(&mut self, mut e: Expr, gathers: &Gathers) -> Expr {
        let make = Make(e.span);
        gathers
            .keys()
            .for_each(|var| self.vars[var.0].awaits = true);
        respawn(&mut e, gathers);
        make.block(vec![Stmt::Expr(e), make.sync()])
    }

    fn either(&mut self, wide: Expr, plain: Expr) -> Expr {
        self.changed = true;
        let make = Make(plain.span);
        make.choose(
            Expr::new(ExprKind::Wide, BOOL, plain.span),
            wide,
            Some(plain),
        )
    }
}

/// Whether an expression is no more than operations.
fn is_short(e: &Expr) -> bool {
    use ExprKind as K;
    match &*e.kind {
        K::Var(_) | K::Int(_) | K::Float(_) | K::Bool(_) => true,
        K::Binary(_, a, b) | K::RawBinary(_, a, b) => is_short(a) && is_short(b),
        K::Unary(_, a) | K::RawUnary(_, a) | K::Cast(a) => is_short(a),
        K::Tuple(parts) => parts.iter().all(is_short),
        _ => false,
    }
}

/// The variable, the way of combining and the call, if an expression gathers a call's result.
fn gathered(e: &mut Expr) -> Option<(VarId, Combine, &mut Expr)> {
    match &mut *e.kind {
        ExprKind::AssignOp(op, place, call) => {
            let ExprKind::Var(var) = *place.kind else {
                return None;
            };
            let combine = match op {
                BinOp::Add => Combine::Add,
                BinOp::Or => Combine::Or,
                BinOp::And => Combine::And,
                BinOp::Xor => Combine::Xor,
                _ => return None,
            };
            Some((var, combine, call))
        }
        ExprKind::Assign(place, value) => {
            let ExprKind::Var(var) = *place.kind else {
                return None;
            };
            let ExprKind::RawBinary(op, from, call) = &mut *value.kind else {
                return None;
            };
            let combine = match op {
                BinOp::Add => Combine::Add,
                BinOp::Min => Combine::Min,
                BinOp::Max => Combine::Max,
                _ => return None,
            };
            matches!(*from.kind, ExprKind::Var(v) if v == var).then_some((var, combine, call))
        }
        _ => None,
    }
}

struct Search<'a, 'm> {
    outliner: &'a Outliner<'m>,
    reach: &'a [BTreeSet<FnId>],
    gathers: Gathers,
    loops: Vec<LoopId>,
    only: bool,
}

impl Search<'_, '_> {
    fn look(&mut self, e: &mut Expr) {
        let checked = self.outliner.m.options.checked;
        let own = 1 + usize::from(matches!(*e.kind, ExprKind::Assign(..)));
        if let Some((var, combine, call)) = gathered(e)
            && self.outliner.is_child(call, self.reach)
        {
            let ty = call.ty.scalar();
            let unordered = ty.is_some_and(|s| s.is_int() || s == Scalar::Bool);
            self.only &= unordered && !(checked && combine == Combine::Add);
            let found = self.gathers.entry(var).or_insert((combine, 0));
            self.only &= found.0 == combine;
            found.1 += own;
        }
        match &*e.kind {
            ExprKind::Spawn { .. } | ExprKind::Sync | ExprKind::Emit(..) | ExprKind::Return(_) => {
                self.only = false;
            }
            ExprKind::For(id, ..) | ExprKind::While(id, ..) => self.loops.push(*id),
            ExprKind::Loop(id, _) | ExprKind::Labelled(id, _) => self.loops.push(*id),
            ExprKind::Break(id, _) | ExprKind::Continue(id) => self.only &= self.loops.contains(id),
            _ => {}
        }
        e.children_mut(&mut |child| self.look(child));
    }
}

/// In how many places a variable is named to gather in it, and in which ways it is.
fn gathers_of(e: &mut Expr, var: VarId, ways: &mut Vec<Combine>) -> usize {
    let own = 1 + usize::from(matches!(*e.kind, ExprKind::Assign(..)));
    let is_call = |call: &Expr| matches!(*call.kind, ExprKind::Call(..));
    let mut found = match gathered(e) {
        Some((v, combine, call)) if v == var && is_call(call) => {
            ways.push(combine);
            own
        }
        _ => 0,
    };
    if let ExprKind::Spawn {
        dest: Some((place, combine)),
        ..
    } = &*e.kind
        && *combine != Combine::Store
        && matches!(*place.kind, ExprKind::Var(v) if v == var)
    {
        ways.push(*combine);
        found += 1;
    }
    e.children_mut(&mut |child| found += gathers_of(child, var, ways));
    found
}

/// Puts spawns in the place of the calls that are gathered.
fn respawn(e: &mut Expr, gathers: &Gathers) {
    let span = e.span;
    if let Some((var, combine, call)) = gathered(e)
        && gathers.contains_key(&var)
        && let ExprKind::Call(func, args) = &mut *call.kind
    {
        let place = Expr::new(ExprKind::Var(var), call.ty.clone(), span);
        let kind = ExprKind::Spawn {
            func: *func,
            args: std::mem::take(args),
            dest: Some((place, combine)),
            then: None,
        };
        *e = Expr::new(kind, Ty::unit(), span);
        return;
    }
    e.children_mut(&mut |child| respawn(child, gathers));
}
