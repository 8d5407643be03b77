//! Children that each turn of a loop waits for, though nothing but sums is made of their results: these gather, and are waited for behind the loop.
//!
//! ```text
//! for x in items {                           let mut all = (0, 0);
//!     let (count, hash) = spawn!(f(*x));     for x in items { each_add_xor(all, spawn!(f(*x))); }
//!     sync!();                          =>   sync!();
//!     total += count;                        total += all.0;
//!     mixed ^= hash;                         mixed ^= all.1;
//! }
//! ```
//!
//! Child by child such a loop is a chain: a dispatch for each child where a device would run thousands at once. What is made of the results may be more
//! than a sum of each, `if r.found { count += 1; best = best.max(r.value); }`: then [`super::mapped`] makes a task of that.
//!
//! Where results go into something that has an order, turn by turn, `if score > best { best = score; chosen = i; }`, turns are run in strips ([`strips`]).
//!
//! Nobody can tell the difference, as
//! - a child that is lent nothing to write to, and no atomics, changes nothing but its result;
//! - what it is lent to read lies outside the loop, which does not change it;
//! - the variables that gather are named for nothing else in the loop, so that no turn goes by an earlier one's results;
//! - the loop has no other children, and nothing leaves it for what is around it.

mod strips;

use super::{
    Known,
    gather::{self, Gather},
    make::Make,
    replace,
    respelled::respell,
    settle,
    spread::{self, Helpers, Path, part_of},
};
use crate::{
    diag::Diagnostics,
    hir::{Body, Expr, ExprKind, FnId, For, LoopId, Pat, Stmt, Then, Var, VarId},
    items::Module,
    ty::Ty,
};
use millstream_graph::{
    ir::{BinOp, Combine, FunctionKind, Team, Ways},
    ty::{Scalar, Type},
};
use std::collections::{BTreeMap, BTreeSet};

/// Lets children of all tasks' loops run side by side that can.
pub(super) fn program(m: &Module, bodies: &mut [Body]) {
    let helpers = Helpers::of(m, bodies);
    for (item, body) in m.fns.iter().zip(bodies) {
        let children = count(&mut body.root, is_spawn);
        if item.kind == FunctionKind::Task && children > 0 {
            let mut finder = Finder {
                m,
                helpers: &helpers,
                vars: std::mem::take(&mut body.vars),
                parallel: &body.parallel,
                children,
            };
            finder.look(&mut body.root);
            body.vars = finder.vars;
        }
    }
}

struct Finder<'a> {
    m: &'a Module,
    helpers: &'a Helpers,
    /// The function's variables.
    vars: Vec<Var>,
    parallel: &'a BTreeMap<LoopId, Option<Team>>,
    /// How many children are spawned in the function, in so many places.
    children: usize,
}

/// What the results of the children in one place gather in, and what comes of it.
struct All {
    var: VarId,
    /// What it holds at first.
    nothing: Expr,
    parts: Vec<Gathered>,
    /// What the children are lent, and what is read for what is made of their results: it stays as it is.
    lent: Vec<Expr>,
}

/// A variable of the function, how it gathers, and the part of the result that it gathers.
type Gathered = (VarId, BinOp, Path);

/// Results that gather as they are: what changes nothing, the way of each scalar, and where it goes.
struct Direct {
    nothing: Expr,
    ways: Vec<Combine>,
    parts: Vec<Gathered>,
}

/// A block of a turn that spawns children and waits for them.
struct Site {
    /// What it does before.
    before: Vec<Stmt>,
    /// Each child's function, the variable that takes its result, and its arguments.
    children: Vec<Child>,
    /// What stands behind the first of them, up to the sync.
    after: Vec<Stmt>,
    /// What stands behind the sync, and whether it goes by their results.
    rest: Vec<(bool, Stmt)>,
}

type Child = (FnId, VarId, Vec<Expr>);

impl Site {
    /// What the turn does between the first child and what goes by their results.
    fn meanwhile(&self) -> Vec<Stmt> {
        let last = self.rest.iter().rposition(|(made, _)| *made).unwrap_or(0);
        let others = self.rest[..last].iter().filter(|(made, _)| !made);
        let others = others.map(|(_, stmt)| stmt);
        self.after.iter().chain(others).cloned().collect()
    }
}

impl Finder<'_> {
    fn look(&mut self, e: &mut Expr) {
        let is_loop = match &*e.kind {
            ExprKind::For(id, ..) => !self.parallel.contains_key(id),
            ExprKind::While(..) | ExprKind::Loop(..) => e.ty.is_unit(),
            _ => false,
        };
        // Of several loops in each other the outermost has most children.
        match is_loop.then(|| self.together(e)).flatten() {
            Some(together) => *e = together,
            None => e.children_mut(&mut |child| self.look(child)),
        }
    }

    /// A loop whose children gather; none if it makes a difference.
    fn together(&mut self, e: &Expr) -> Option<Expr> {
        let (make, mut whole) = (Make(e.span), e.clone());
        let children = count(&mut whole, is_spawn);
        if children == 0 || self.is_parallel(&mut whole) || leaves(&mut whole, &mut Vec::new()) {
            return None;
        }
        let known = self.vars.clone();
        self.helpers.spread(&mut whole, &mut self.vars);
        let mut inside = BTreeMap::new();
        declared(&mut whole, &mut inside);
        let is_around = |var| !inside.contains_key(&var);
        let (front, behind) = spread::parts(&mut whole, is_around, &mut self.vars, make);
        let mut found = Vec::new();
        self.gather_in(&mut whole, &mut found);
        let together = self.joined(whole, &found, make).map(|stmts| {
            // Those that may be on their way here were waited for by the first turn.
            let before = (children < self.children).then(|| make.sync());
            let all = before.into_iter().chain(front).chain(stmts).chain(behind);
            let mut together = make.block(all.collect());
            settle(&mut together, &self.m.structs);
            together
        });
        if together.is_none() {
            self.vars = known;
            return self.in_strips(e);
        }
        together
    }

    /// Whether there are parallel loops in it, whose rounds gather by themselves.
    fn is_parallel(&self, e: &mut Expr) -> bool {
        let mut found = matches!(&*e.kind, ExprKind::For(id, ..) if self.parallel.contains_key(id));
        e.children_mut(&mut |child| found |= self.is_parallel(child));
        found
    }

    /// The loop, in whose blocks children gather, with what stands around it; none if it does something else too.
    fn joined(&self, mut whole: Expr, found: &[All], make: Make) -> Option<Vec<Stmt>> {
        let others = count(&mut whole, is_spawn) != found.len() || count(&mut whole, is_sync) > 0;
        if others || found.is_empty() {
            return None;
        }
        let mut inside = BTreeMap::new();
        declared(&mut whole, &mut inside);
        let mut gathers: BTreeMap<VarId, BinOp> = BTreeMap::new();
        for (var, op, _) in found.iter().flat_map(|all| &all.parts) {
            if inside.contains_key(var) || *gathers.entry(*var).or_insert(*op) != *op {
                return None;
            }
        }
        let around: Vec<VarId> = gathers.keys().copied().collect();
        let own = self.gathers(&mut whole, &around)?;
        // Nothing of the loop reads one: beside these it is named for the same.
        let same = |var: &VarId| match own.iter().find(|g| g.var == *var) {
            Some(own) => own.op == gathers[var],
            None => !whole.mentions(*var),
        };
        if !around.iter().all(same) {
            return None;
        }
        let mut stays = Stays {
            finder: self,
            whole: whole.clone(),
            inside,
            known: BTreeMap::new(),
        };
        if !found.iter().flat_map(|all| &all.lent).all(|e| stays.all(e)) {
            return None;
        }
        let start = found
            .iter()
            .map(|all| make.bind(all.var, all.nothing.clone()));
        let mut stmts: Vec<Stmt> = start.chain([Stmt::Expr(whole), make.sync()]).collect();
        for all in found {
            let result = make.var(all.var, &self.vars[all.var.0].ty);
            for (var, op, path) in &all.parts {
                let place = make.var(*var, &self.vars[var.0].ty);
                let part = self.part(result.clone(), path, &place.ty);
                stmts.push(make.assign(place.clone(), make.raw(*op, place, part)));
            }
        }
        Some(stmts)
    }

    /// The part of a value at the end of a path.
    fn part(&self, value: Expr, path: &[usize], ty: &Ty) -> Expr {
        let last = path.len().wrapping_sub(1);
        path.iter().enumerate().fold(value, |value, (i, field)| {
            let ty = if i == last {
                ty.clone()
            } else {
                self.fields(&value.ty)[*field].clone()
            };
            let span = value.span;
            Expr::new(ExprKind::Field(value, *field), ty, span)
        })
    }

    /// The types of the fields of what is a tuple or a struct.
    fn fields(&self, ty: &Ty) -> Vec<Ty> {
        match ty {
            Ty::Tuple(types) => types.clone(),
            Ty::Struct(id) if !self.m.structs[*id].is_enum() => {
                let fields = self.m.structs[*id].fields.iter();
                fields.map(|(_, ty)| Ty::from_type(ty)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// What an expression gathers in variables from around it; none if it does anything else with them.
    fn gathers(&self, e: &mut Expr, around: &[VarId]) -> Option<Vec<Gather>> {
        let mut wrong = Diagnostics::default();
        let found = gather::find(e, around, &self.vars, &self.m.structs, &mut wrong);
        // What is stored is checked where a program is, and what gathers is not.
        let adds = |g: &Gather| g.op == BinOp::Add && self.m.options.checked;
        let right = wrong.is_empty() && found.iter().all(|g| g.joins() && !adds(g));
        right.then_some(found)
    }

    /// Whether an expression may change a variable from around it, or what that leads to.
    fn changes(&self, e: &mut Expr, var: VarId) -> bool {
        let (structs, ty) = (&self.m.structs, &self.vars[var.0].ty);
        // What is written by way of a part is not told.
        let whole = matches!(ty, Ty::Slice { .. } | Ty::Ref { .. } | Ty::Mat { .. });
        if !whole && ty.is_mutable(structs) && e.mentions(var) {
            return true;
        }
        let mut wrong = Diagnostics::default();
        let found = gather::find(e, &[var], &self.vars, structs, &mut wrong);
        !found.is_empty() || !wrong.is_empty()
    }

    /// Lets children gather in each block that spawns some, waits, and then adds up what they give.
    fn gather_in(&mut self, e: &mut Expr, found: &mut Vec<All>) {
        if let ExprKind::Block(stmts, tail) = &mut *e.kind
            && let Some((block, all)) = self.block(stmts, tail.as_ref(), Make(e.span))
        {
            (*stmts, *tail) = (block, None);
            found.push(all);
        }
        e.children_mut(&mut |child| self.gather_in(child, found));
    }

    /// The block of a turn, whose children gather.
    fn block(
        &mut self,
        stmts: &[Stmt],
        tail: Option<&Expr>,
        make: Make,
    ) -> Option<(Vec<Stmt>, All)> {
        let site = self.site(stmts, tail, make)?;
        let after = make.block(site.meanwhile());
        let (made, others): (Vec<_>, Vec<_>) = site.rest.into_iter().partition(|(made, _)| *made);
        let [made, others] = [made, others].map(|s| s.into_iter().map(|(_, s)| s));
        let (mut children, mut args) = (Vec::new(), Vec::new());
        for (func, result, given) in site.children {
            children.push((func, result));
            args.extend(given);
        }
        let (spawn, mut all) = self.made(children, args, made.collect(), after, make)?;
        let mut block = site.before;
        block.push(spawn);
        block.extend(others);
        all.lent
            .retain(|e| e.ty.to_type().has_addresses(&self.m.structs));
        Some((block, all))
    }

    /// What a block does that spawns children, waits, and then makes something of what they give; none of another.
    fn site(&self, stmts: &[Stmt], tail: Option<&Expr>, make: Make) -> Option<Site> {
        let sync = stmts.iter().position(|s| is(s, is_sync))?;
        let (front, rest) = (&stmts[..sync], &stmts[sync + 1..]);
        let tail = match tail {
            Some(e) if !e.ty.is_unit() => return None,
            tail => tail.cloned().map(Stmt::Expr),
        };
        let (mut children, mut first) = (Vec::new(), None);
        let mut before = Vec::new();
        for (i, stmt) in front.iter().enumerate() {
            match self.child(stmt, front) {
                Some(child) => {
                    children.push(child);
                    first.get_or_insert(i);
                }
                None if matches!(stmt, Stmt::Let(Pat::Var(_), None)) => {}
                // Arguments are evaluated at the last child.
                None if first.is_some() => return None,
                None => before.push(stmt.clone()),
            }
        }
        let first = first?;
        let is_result = |v: VarId| children.iter().any(|(_, result, _)| *result == v);
        let declared = front.iter().filter(|s| match s {
            Stmt::Let(Pat::Var(v), None) => !is_result(*v),
            _ => false,
        });
        before.splice(0..0, declared.cloned());
        let mut from: BTreeSet<VarId> = children.iter().map(|(_, result, _)| *result).collect();
        let rest = rest.iter().cloned().chain(tail).map(|mut stmt| {
            let of_them = from.iter().any(|v| mentions(&mut stmt, *v));
            if let (true, Stmt::Let(pat, _)) = (of_them, &mut stmt) {
                pat.vars(&mut |v| {
                    from.insert(*v);
                });
            }
            (of_them, stmt)
        });
        let rest: Vec<(bool, Stmt)> = rest.collect();
        is_in_order(&rest, make).then(|| Site {
            before,
            children,
            after: front[first..].to_vec(),
            rest,
        })
    }

    /// A child that changes nothing but its result, which a variable of its own takes: its function, the variable and its arguments.
    fn child(&self, stmt: &Stmt, before: &[Stmt]) -> Option<Child> {
        let Stmt::Expr(e) = stmt else { return None };
        let ExprKind::Spawn {
            func,
            args,
            dest: Some((place, Combine::Store)),
            then: None,
        } = &*e.kind
        else {
            return None;
        };
        let ExprKind::Var(var) = *place.kind else {
            return None;
        };
        let is_own = |s: &Stmt| matches!(s, Stmt::Let(Pat::Var(v), None) if *v == var);
        let structs = &self.m.structs;
        let changes =
            |ty: &Type| Ty::from_type(ty).is_mutable(structs) || ty.shares_atomics(structs);
        let plain = !self.m.fns[func.0].params.iter().any(|(_, ty)| changes(ty));
        (plain && before.iter().any(is_own)).then(|| (*func, var, args.clone()))
    }

    /// The children, whose results gather in a variable. `after`: what stands behind the first of them, but what is made of the results.
    fn made(
        &mut self,
        children: Vec<(FnId, VarId)>,
        args: Vec<Expr>,
        made: Vec<Stmt>,
        mut after: Expr,
        make: Make,
    ) -> Option<(Stmt, All)> {
        let mut whole = make.block(made);
        let (mut own, mut around) = (BTreeMap::new(), Vec::new());
        declared(&mut whole, &mut own);
        respell(&mut whole, &|v| !own.contains_key(&v));
        named(&mut whole, &mut around);
        around.retain(|v| !own.contains_key(v) && !children.iter().any(|(_, r)| r == v));
        if count(&mut whole, does_more) > 0 {
            return None;
        }
        let gathers = self.gathers(&mut whole, &around)?;
        if gathers.is_empty() {
            return None;
        }
        let mut lent = args.clone();
        let mut new = BTreeMap::new();
        declared(&mut after, &mut new);
        for var in around {
            if gathers.iter().any(|g| g.var == var) {
                continue;
            }
            let ty = self.vars[var.0].ty.clone();
            let shared = ty.to_type().shares_atomics(&self.m.structs);
            if shared || new.contains_key(&var) || after.changes(var) {
                return None;
            }
            lent.push(make.var(var, &ty));
        }
        let func = children[0].0;
        let direct = match &children[..] {
            [(_, result)] => self.direct(*result, &mut whole, &gathers, make),
            _ => None,
        };
        let (ty, nothing, ways, parts, then) = match direct {
            Some(Direct {
                nothing,
                ways,
                parts,
            }) => (nothing.ty.clone(), nothing, ways, parts, None),
            None => {
                let (value, nothing) = self.value(whole, &gathers, make);
                let ways: Option<Vec<Combine>> = gathers.iter().map(Gather::combine).collect();
                let path = |i| if gathers.len() == 1 { vec![] } else { vec![i] };
                let parts = gathers.iter().enumerate();
                let parts = parts.map(|(i, g)| (g.var, g.op, path(i))).collect();
                let then = Then { children, value };
                (gather::result(&gathers), nothing, ways?, parts, Some(then))
            }
        };
        let way = match &ways[..] {
            [way] if ty.scalar().is_some() => *way,
            ways => Combine::Each(Ways::new(ways)?),
        };
        let var = make.fresh(&mut self.vars, "gathered", ty.clone());
        self.vars[var.0].awaits = true;
        let all = All {
            var,
            nothing,
            parts,
            lent,
        };
        let kind = ExprKind::Spawn {
            func,
            args,
            dest: Some((make.var(var, &ty), way)),
            then,
        };
        Some((Stmt::Expr(Expr::new(kind, Ty::unit(), make.0)), all))
    }

    /// What is made of results, by variables of its own that start from nothing; and nothing.
    fn value(&mut self, mut whole: Expr, gathers: &[Gather], make: Make) -> (Expr, Expr) {
        let (mut stmts, known) = gather::start(gathers, &make, &mut self.vars, |_| false);
        replace(&mut whole, &known, &self.vars);
        stmts.push(Stmt::Expr(whole));
        let value = gather::value(gathers, &make, &known);
        let nothing = gather::value(gathers, &make, &BTreeMap::<VarId, Known>::new());
        (make.valued(stmts, value), nothing)
    }

    /// Where each part of a result is added to one variable at most, as it is.
    fn direct(
        &self,
        result: VarId,
        whole: &mut Expr,
        gathers: &[Gather],
        make: Make,
    ) -> Option<Direct> {
        let ExprKind::Block(stmts, None) = &*whole.kind else {
            return None;
        };
        let mut parts: Vec<Gathered> = Vec::new();
        for stmt in stmts {
            let Stmt::Expr(e) = stmt else { return None };
            let (var, way, _, value) = e.added()?;
            let (part, path) = part_of(value)?;
            if part != result || parts.iter().any(|(v, _, p)| *v == var || *p == path) {
                return None;
            }
            parts.push((var, way.op()?, path));
        }
        let mut ways = Vec::new();
        let ty = self.vars[result.0].ty.clone();
        let nothing = self.nothing(&ty, &mut Vec::new(), &parts, &mut ways, &make)?;
        (parts.len() == gathers.len()).then_some(Direct {
            nothing,
            ways,
            parts,
        })
    }

    /// A value that changes nothing, part by part, and the ways of its scalars.
    fn nothing(
        &self,
        ty: &Ty,
        path: &mut Path,
        parts: &[Gathered],
        ways: &mut Vec<Combine>,
        make: &Make,
    ) -> Option<Expr> {
        if let Some(scalar) = ty.scalar() {
            let own = parts.iter().find(|(.., at)| at == path);
            // What nobody looks at comes in any way.
            let op = own.map_or(BinOp::Max, |(_, op, _)| *op);
            let op = if own.is_none() && scalar == Scalar::Bool {
                BinOp::Or
            } else {
                op
            };
            ways.push(Combine::by(op)?);
            return Some(gather::nothing(op, ty, make));
        }
        let types = self.fields(ty);
        if types.is_empty() {
            return None;
        }
        let mut fields = Vec::new();
        for (i, ty) in types.iter().enumerate() {
            path.push(i);
            fields.push(self.nothing(ty, path, parts, ways, make)?);
            path.pop();
        }
        Some(match ty {
            Ty::Struct(id) => {
                Expr::structure(*id, fields.into_iter().enumerate().collect(), make.0)
            }
            _ => Expr::new(ExprKind::Tuple(fields), ty.clone(), make.0),
        })
    }
}

/// Whether what is lent stays as it is while a loop runs.
struct Stays<'a> {
    finder: &'a Finder<'a>,
    /// The loop.
    whole: Expr,
    /// The variables that it declares, and what each has its value from.
    inside: BTreeMap<VarId, Option<Expr>>,
    known: BTreeMap<VarId, bool>,
}

impl Stays<'_> {
    fn all(&mut self, e: &Expr) -> bool {
        let mut vars = Vec::new();
        named(&mut e.clone(), &mut vars);
        vars.into_iter().all(|var| self.one(var))
    }

    fn one(&mut self, var: VarId) -> bool {
        if let Some(stays) = self.known.get(&var) {
            return *stays;
        }
        // Whoever comes here again before it is known goes round.
        self.known.insert(var, false);
        let (finder, v) = (self.finder, &self.finder.vars[var.0]);
        let leads = v.ty.to_type().has_addresses(&finder.m.structs);
        let stays = match self.inside.get(&var).cloned() {
            // The turn's own memory is gone behind it; its values are taken where the child is spawned.
            Some(_) if !leads => !v.addressed,
            Some(Some(value)) => !finder.changes(&mut self.whole, var) && self.all(&value),
            Some(None) => false,
            None => {
                (v.ty.scalar().is_some() && !v.addressed) || !finder.changes(&mut self.whole, var)
            }
        };
        self.known.insert(var, stays);
        stays
    }
}

const fn is_spawn(e: &Expr) -> bool {
    matches!(*e.kind, ExprKind::Spawn { .. })
}

const fn is_sync(e: &Expr) -> bool {
    matches!(*e.kind, ExprKind::Sync)
}

/// Whether a statement names a variable.
fn mentions(stmt: &mut Stmt, var: VarId) -> bool {
    match stmt {
        Stmt::Let(_, value) => value.as_mut().is_some_and(|e| e.mentions(var)),
        Stmt::Expr(e) => e.mentions(var),
    }
}

/// Whether all that goes by results is done in every turn that comes to its sync.
fn is_in_order(rest: &[(bool, Stmt)], make: Make) -> bool {
    let last = rest.iter().rposition(|(made, _)| *made).unwrap_or(0);
    let before = rest[..last].iter().map(|(_, stmt)| stmt.clone());
    count(&mut make.block(before.collect()), goes_elsewhere) == 0
}

fn is(stmt: &Stmt, what: fn(&Expr) -> bool) -> bool {
    matches!(stmt, Stmt::Expr(e) if what(e))
}

/// Whether control goes elsewhere from an expression.
const fn goes_elsewhere(e: &Expr) -> bool {
    use ExprKind as K;
    matches!(*e.kind, K::Return(_) | K::Break(..) | K::Continue(_))
}

/// Whether an expression does, by itself, what only the task does whose turn it is.
fn does_more(e: &Expr) -> bool {
    use ExprKind as K;
    let more = matches!(
        *e.kind,
        K::Spawn { .. } | K::Sync | K::Emit(..) | K::Atomic { .. }
    );
    more || goes_elsewhere(e)
}

/// In how many places an expression has something.
fn count(e: &mut Expr, what: fn(&Expr) -> bool) -> usize {
    let mut found = usize::from(what(e));
    e.children_mut(&mut |child| found += count(child, what));
    found
}

/// Whether something in a loop goes on with, or leaves, a loop around it.
fn leaves(e: &mut Expr, inside: &mut Vec<LoopId>) -> bool {
    let known = inside.len();
    let mut found = match &*e.kind {
        ExprKind::Break(id, _) | ExprKind::Continue(id) => !inside.contains(id),
        ExprKind::For(id, ..)
        | ExprKind::While(id, ..)
        | ExprKind::Loop(id, _)
        | ExprKind::Labelled(id, _) => {
            inside.push(*id);
            false
        }
        _ => false,
    };
    e.children_mut(&mut |child| found |= leaves(child, inside));
    inside.truncate(known);
    found
}

/// The variables that an expression names.
fn named(e: &mut Expr, out: &mut Vec<VarId>) {
    if let ExprKind::Var(v) = *e.kind
        && !out.contains(&v)
    {
        out.push(v);
    }
    e.children_mut(&mut |child| named(child, out));
}

/// The variables that an expression declares, and what each has its value from, if that is one thing.
fn declared(e: &mut Expr, out: &mut BTreeMap<VarId, Option<Expr>>) {
    let mut bind = |pat: &mut Pat, value: Option<&Expr>| {
        pat.vars(&mut |v| {
            out.insert(*v, value.cloned());
        });
    };
    match &mut *e.kind {
        ExprKind::Block(stmts, _) => {
            for stmt in stmts {
                if let Stmt::Let(pat, value) = stmt {
                    bind(pat, value.as_ref());
                }
            }
        }
        ExprKind::For(_, For::Slices { parts, index, .. }, _) => {
            for part in parts {
                bind(&mut part.item, Some(&part.slice));
            }
            index.iter().for_each(|v| bind(&mut Pat::Var(*v), None));
        }
        ExprKind::For(_, For::Range { var, .. }, _) => bind(var, None),
        ExprKind::Match(value, arms) => {
            let cases = arms.iter_mut().flat_map(|arm| &mut arm.cases);
            for (pat, _) in cases.flat_map(|case| &mut case.binds) {
                bind(pat, Some(value));
            }
        }
        _ => {}
    }
    e.children_mut(&mut |child| declared(child, out));
}
