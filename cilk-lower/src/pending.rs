//! Variables that may not be touched yet: one that a child writes to, until the next `sync!()`, and one that was declared without a
//! value, until it gets one.
//!
//! A walk along the control flow of a function with the variables that await a result and those without a value, again and again until
//! nothing new comes back to the head of any loop: a walk goes once through each loop, however deep it lies. What is lent to a child by
//! reference is rustc's affair (see `rust::race`); this is about the places that results go to.

mod part;

use crate::{
    diag::{Diagnostics, start},
    hir::{Body, Builtin, By, Expr, ExprKind, For, LoopId, Pat, Stmt, VarId},
};
use millstream_graph::ir::{BinOp, Combine};
use part::{Part, Step};
use proc_macro2::Span;
use std::collections::{BTreeMap, BTreeSet};

/// What is done to a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Touch {
    Used,
    Assigned,
    /// An element of it gets a value.
    Element,
    /// The same, where on another way it would get a child's result.
    Way,
    /// Something is added to it.
    Added,
}

/// The variables that may not be touched.
#[derive(Clone, Debug, Default)]
struct State {
    /// Those that await a result, by its parts: where it was spawned, and how it is combined.
    awaiting: BTreeMap<VarId, BTreeMap<Part, (Span, Combine)>>,
    /// Those that are new in this round of a loop, while a child of an earlier round may still write to them.
    late: BTreeMap<VarId, Span>,
    /// Those that may hold what such a child wrote.
    doubtful: BTreeMap<VarId, Span>,
    /// Those that have no value on some way here.
    unset: BTreeSet<VarId>,
}

/// Reports each use of a result before its sync, and of a variable before it has a value. Gives where the task itself adds to what results are gathered in, in the same
/// way: that is one more result.
pub(crate) fn check(body: &Body, diags: &mut Diagnostics) -> BTreeSet<(usize, usize)> {
    let (mut heads, mut adds) = (BTreeMap::new(), BTreeSet::new());
    loop {
        let mut walk = Walk {
            body,
            diags: Diagnostics::default(),
            state: Some(State::default()),
            loops: Vec::new(),
            heads,
            adds,
            news: false,
            child: None,
            given: None,
        };
        walk.expr(&body.root);
        if !walk.news {
            diags.0.extend(walk.diags.0);
            return walk.adds;
        }
        (heads, adds) = (walk.heads, walk.adds);
    }
}

struct Scope {
    id: LoopId,
    breaks: Vec<State>,
    continues: Vec<State>,
}

struct Walk<'a> {
    body: &'a Body,
    diags: Diagnostics,
    /// None where control does not come.
    state: Option<State>,
    loops: Vec<Scope>,
    /// What comes back to the head of each loop.
    heads: BTreeMap<LoopId, State>,
    /// Where something is added to what results are gathered in.
    adds: BTreeSet<(usize, usize)>,
    /// Whether more comes back than the walk before found.
    news: bool,
    /// The child whose arguments these are.
    child: Option<Span>,
    /// The variable that is given this value, which is made of a child's result.
    given: Option<VarId>,
}

fn merge(into: &mut Option<State>, other: Option<State>) {
    match (into.as_mut(), other) {
        (_, None) => {}
        (None, other) => *into = other,
        (Some(state), Some(other)) => drop(state.add(other)),
    }
}

impl State {
    /// Adds what may not be touched on another way here; whether it is more than before.
    fn add(&mut self, other: Self) -> bool {
        fn absent<K: Ord, V>(into: &mut BTreeMap<K, V>, from: BTreeMap<K, V>) -> bool {
            let before = into.len();
            for (key, value) in from {
                into.entry(key).or_insert(value);
            }
            into.len() > before
        }
        let mut more = false;
        for (var, parts) in other.awaiting {
            more |= absent(self.awaiting.entry(var).or_default(), parts);
        }
        more |= absent(&mut self.late, other.late);
        more |= absent(&mut self.doubtful, other.doubtful);
        let before = self.unset.len();
        self.unset.extend(other.unset);
        more | (self.unset.len() > before)
    }
}

impl Walk<'_> {
    /// The variable has another value from here on than the places were told by.
    fn changed(&mut self, from: Step, to: Option<Step>) {
        let awaiting = self.state.iter_mut().flat_map(|s| s.awaiting.values_mut());
        for parts in awaiting {
            if parts.keys().any(|part| part.steps.contains(&from)) {
                let before = std::mem::take(parts);
                for (part, child) in before {
                    parts.entry(part.where_changed(from, to)).or_insert(child);
                }
            }
        }
    }

    /// The same where it is no loop's next round.
    fn changes(&mut self, var: VarId) {
        self.changed(Step::At(var), None);
        self.changed(Step::Before(var), None);
    }

    /// Where the first child was spawned that a part of a variable awaits.
    fn awaiting(&self, var: VarId, part: &Part, how: Touch) -> Option<Span> {
        let parts = self.state.as_ref()?.awaiting.get(&var)?;
        parts
            .iter()
            .filter(|(awaiting, _)| !awaiting.is_beside(part, how))
            .map(|(_, (span, _))| *span)
            .min_by_key(|s| start(*s))
    }

    /// Something is done to a place of a variable.
    fn touch(&mut self, var: VarId, place: &Expr, how: Touch) {
        let span = place.span;
        if let Some(spawned) = self.awaiting(var, &Part::of(place, &self.body.vars), how) {
            if self.given == Some(var) {
                return self.not_gathered(var, span, spawned);
            }
            let name = &self.body.vars[var.0].name;
            let own = self.child.is_some_and(|c| start(c) == start(spawned));
            let help = match (own, how) {
                // A sync for each child would make them run one after another.
                (true, _) => {
                    "let the children of this loop write to a second variable, and read the first"
                }
                (_, Touch::Added) => {
                    "add this to a second variable, and both together after the `sync!()`"
                }
                // Nor would one for each round.
                (_, Touch::Element) if !self.loops.is_empty() => {
                    "let one assignment give an element either of its values, `r[i] = if .. { spawn!(..) } else { .. }`; or give elements their values before the loop, and let children write over them; or put a `sync!()` in between"
                }
                (_, Touch::Way) if !self.loops.is_empty() => {
                    "give elements their values before the loop, and let children write over them; or put a `sync!()` in between"
                }
                _ => "put a `sync!()` in between",
            };
            let what = if how == Touch::Used {
                "used"
            } else {
                "assigned"
            };
            self.diags
                .error(span, format!("`{name}` is {what} before its `sync!()`"))
                .note(spawned, "a child that may still run writes to it")
                .help(help);
        }
        if self.state.as_ref().is_some_and(|s| s.unset.contains(&var)) {
            let name = &self.body.vars[var.0].name;
            self.diags
                .error(span, format!("`{name}` may have no value yet"))
                .help("give it one where it is declared, or on every way here");
            self.set(var);
        }
    }

    /// `t = t.saturating_add(spawn!(..))` while `t` awaits a result.
    fn not_gathered(&mut self, var: VarId, span: Span, spawned: Span) {
        let name = &self.body.vars[var.0].name;
        self.diags
            .error(span, format!("`{name}` cannot gather results this way"))
            .note(spawned, "a child that may still run writes to it")
            .help("results are gathered by `+=`, `|=`, `&=`, `^=`, `.min(..)`, `.max(..)` and `.wrapping_add(..)`; else keep each in a name or an element of its own, and combine them after the `sync!()`");
        // All has been said.
        if let Some(state) = &mut self.state {
            state.awaiting.remove(&var);
        }
    }

    /// Whether all that a variable awaits is gathered in this way, and goes to it as a whole.
    fn gathers(&self, var: VarId, way: Combine) -> bool {
        let parts = self.state.as_ref().and_then(|s| s.awaiting.get(&var));
        parts.is_some_and(|p| {
            p.iter()
                .all(|(part, (_, how))| *how == way && part.steps.is_empty() && part.all)
        })
    }

    /// Something is added to a variable: to what results are gathered in, as one more result. Whether it is that.
    fn adds(&mut self, e: &Expr) -> bool {
        let Some((var, way, _, value)) = e.added() else {
            return false;
        };
        if !self.adds.contains(&start(e.span)) {
            if !self.gathers(var, way) {
                return false;
            }
            self.adds.insert(start(e.span));
            self.news = true;
        }
        self.expr(value);
        if let ExprKind::AssignOp(_, place, _) | ExprKind::Assign(place, _) = &*e.kind {
            self.spawn(place, way, e.span);
        }
        true
    }

    /// What a variable holds is looked at.
    fn read(&mut self, var: VarId, span: Span) {
        let doubtful = self.state.as_mut().and_then(|s| s.doubtful.remove(&var));
        if let Some(spawned) = doubtful {
            let name = &self.body.vars[var.0].name;
            self.diags
                .error(
                    span,
                    format!("`{name}` may hold the result of a child of an earlier round"),
                )
                .note(
                    spawned,
                    "that child may still run when the next round begins",
                )
                .help("put a `sync!()` at the end of the loop's body, on every way round");
        }
    }

    /// The variable has a value from here on.
    fn set(&mut self, var: VarId) {
        if let Some(state) = &mut self.state {
            state.unset.remove(&var);
            match state.late.get(&var) {
                Some(span) => state.doubtful.insert(var, *span),
                None => state.doubtful.remove(&var),
            };
        }
    }

    /// The parts of a place that are evaluated, its root variable left out.
    fn inside(&mut self, place: &Expr) {
        match &*place.kind {
            ExprKind::Var(_) | ExprKind::Const(_) => {}
            ExprKind::Field(base, _)
            | ExprKind::Deref(base)
            | ExprKind::AddrOf(base)
            | ExprKind::Unsize(base) => self.inside(base),
            ExprKind::Index(base, index) => {
                self.inside(base);
                self.expr(index);
            }
            ExprKind::MatIndex(base, row, col) => {
                self.inside(base);
                self.expr(row);
                self.expr(col);
            }
            _ => self.expr(place),
        }
    }

    fn write(&mut self, place: &Expr) {
        self.inside(place);
        if let Some((var, _)) = place.root() {
            if matches!(*place.kind, ExprKind::Var(_)) {
                self.set(var);
                self.changes(var);
            }
            let how = match *place.kind {
                ExprKind::Var(_) => Touch::Assigned,
                _ if self.body.ways.contains(&start(place.span)) => Touch::Way,
                ExprKind::Index(..) | ExprKind::MatIndex(..) => Touch::Element,
                _ => Touch::Assigned,
            };
            self.touch(var, place, how);
        }
    }

    fn spawn(&mut self, dest: &Expr, combine: Combine, span: Span) {
        self.inside(dest);
        let Some((var, behind)) = dest.root() else {
            return;
        };
        let whole = matches!(*dest.kind, ExprKind::Var(_));
        let part = Part {
            own: !behind,
            ..Part::of(dest, &self.body.vars)
        };
        let others = self
            .state
            .iter()
            .flat_map(|s| s.awaiting.get(&var))
            .flatten();
        let meets = |(other, (_, how)): &(&Part, &(Span, Combine))| {
            let apart = *how == combine && combine != Combine::Store;
            !apart && (part.covers(other) || other.covers(&part))
        };
        if let Some(spawned) = others
            .filter(meets)
            .map(|(_, (span, _))| *span)
            .min_by_key(|s| start(*s))
        {
            let name = &self.body.vars[var.0].name;
            self.diags
                .error(span, format!("{}`{name}` already awaits the result of a child", if whole { "" } else { "this part of " }))
                .note(spawned, if start(spawned) == start(span) { "this one, in the round before" } else { "this one" })
                .help("put a `sync!()` in between, take it in another variable, or gather both in the same way");
        }
        if whole {
            self.changes(var);
        }
        if whole && combine == Combine::Store {
            self.set(var);
        } else if self.state.as_ref().is_some_and(|s| s.unset.contains(&var)) {
            self.touch(var, dest, Touch::Assigned);
        }
        if let Some(state) = &mut self.state {
            let parts = state.awaiting.entry(var).or_default();
            let first = parts.entry(part).or_insert((span, combine));
            // What is shown is a child, if there is one.
            if self.adds.contains(&start(first.0)) {
                first.0 = span;
            }
        }
    }

    /// At the end of a parallel loop the children of its rounds are done; others may still run.
    fn wait_for_rounds(&mut self, before: Option<State>) {
        let (Some(state), Some(before)) = (&mut self.state, before) else {
            return;
        };
        for (var, parts) in &mut state.awaiting {
            let earlier = before.awaiting.get(var);
            parts.retain(|part, _| earlier.is_some_and(|e| e.contains_key(part)));
        }
        state.awaiting.retain(|_, parts| !parts.is_empty());
        state.late.retain(|var, _| before.late.contains_key(var));
    }

    fn all<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) {
        for e in exprs {
            self.expr(e);
        }
    }

    fn expr(&mut self, e: &Expr) {
        use ExprKind as K;
        match &*e.kind {
            K::Int(_)
            | K::Float(_)
            | K::Bool(_)
            | K::Const(_)
            | K::Wide
            | K::Spawns
            | K::Lanes
            | K::Error => {}
            K::Var(var) => {
                self.touch(*var, e, Touch::Used);
                self.read(*var, e.span);
            }
            K::Field(..) | K::Index(..) if let Some((var, _)) = e.root() => {
                self.inside(e);
                self.touch(var, e, Touch::Used);
                self.read(var, e.span);
            }
            // The length of what awaits results is known all the while.
            K::Method(
                Builtin::Len | Builtin::IsEmpty | Builtin::MatRows | Builtin::MatCols,
                args,
            ) => args.iter().for_each(|a| self.inside(a)),
            K::Field(a, _)
            | K::Deref(a)
            | K::AddrOf(a)
            | K::Unsize(a)
            | K::Unary(_, a)
            | K::RawUnary(_, a) => self.expr(a),
            K::Cast(a)
            | K::Bitcast(a)
            | K::Repeat(a, _)
            | K::Emit(_, a)
            | K::Assert { cond: a, .. } => self.expr(a),
            K::Index(a, b) | K::Binary(_, a, b) | K::RawBinary(_, a, b) => self.all([a, b]),
            K::SameFields { left, right, .. } | K::AssertCmp { left, right, .. } => {
                self.all([left, right])
            }
            K::MatIndex(a, b, c) | K::MulAdd(a, b, c) => self.all([a, b, c]),
            K::SubSlice { base, range } => {
                self.expr(base);
                self.all(range.lo.iter().chain(&range.hi));
            }
            K::Lazy { left, right, .. } => {
                self.expr(left);
                let before = self.state.clone();
                self.expr(right);
                merge(&mut self.state, before);
            }
            K::Call(_, args) | K::Method(_, args) | K::Tuple(args) | K::Array(args) => {
                self.all(args)
            }
            K::Atomic { place, args, .. } => {
                self.expr(place);
                self.all(args);
            }
            K::Struct { fields, base, .. } => self.all(fields.iter().map(|(_, e)| e).chain(base)),
            K::Assign(..) | K::AssignOp(..) if self.adds(e) => {}
            K::Assign(place, value) => {
                self.expr(value);
                self.write(place);
            }
            K::AssignOp(op, place, value) => {
                self.expr(value);
                self.inside(place);
                if let Some((var, _)) = place.root() {
                    let how = match op {
                        BinOp::Add => Touch::Added,
                        _ => Touch::Assigned,
                    };
                    self.touch(var, place, how);
                    self.read(var, place.span);
                    if matches!(*place.kind, K::Var(_)) {
                        self.changes(var);
                    }
                }
            }
            K::Spawn {
                args, dest, then, ..
            } => {
                let around = self.child.replace(e.span);
                self.all(args);
                self.child = around;
                if let Some(then) = then {
                    self.given = dest.as_ref().and_then(|(d, _)| Some(d.root()?.0));
                    self.expr(&then.value);
                    self.given = None;
                }
                if let Some((dest, combine)) = dest {
                    self.spawn(dest, *combine, e.span);
                }
            }
            K::Sync => {
                if let Some(state) = &mut self.state {
                    state.awaiting.clear();
                    state.late.clear();
                }
            }
            K::Panic(_) => self.state = None,
            K::Return(value) => {
                self.all(value);
                self.state = None;
            }
            _ => self.control(e),
        }
    }

    fn control(&mut self, e: &Expr) {
        use ExprKind as K;
        match &*e.kind {
            K::If(cond, then, other) => {
                self.expr(cond);
                let before = self.state.clone();
                self.expr(then);
                let after = std::mem::replace(&mut self.state, before);
                self.all(other);
                merge(&mut self.state, after);
            }
            K::Match(value, arms) => {
                self.expr(value);
                let before = self.state.clone();
                let mut after = None;
                for arm in arms {
                    self.state.clone_from(&before);
                    self.all(&arm.guard);
                    self.expr(&arm.body);
                    merge(&mut after, self.state.take());
                }
                self.state = after;
            }
            K::Block(stmts, tail) => {
                for stmt in stmts {
                    match stmt {
                        Stmt::Let(pat, init) => {
                            self.all(init);
                            self.declare(pat, init.is_some());
                        }
                        Stmt::Expr(e) => self.expr(e),
                    }
                }
                self.all(tail);
            }
            K::Labelled(id, body) => {
                self.loops.push(Scope {
                    id: *id,
                    breaks: Vec::new(),
                    continues: Vec::new(),
                });
                self.expr(body);
                self.leave();
            }
            K::Loop(id, body) => self.repeat(*id, None, body, true, &|_| {}),
            K::While(id, cond, body) => self.repeat(*id, Some(cond), body, false, &|_| {}),
            K::For(id, over, body) => {
                match over {
                    For::Range { lo, hi, step, .. } => {
                        self.all([lo, hi].into_iter().chain(step.as_ref().map(|s| &s.by)))
                    }
                    For::Slices { parts, .. } => parts.iter().for_each(|part| {
                        self.expr(&part.slice);
                        if let By::Chunks(n) | By::ExactChunks(n) | By::Windows(n) = &part.by {
                            self.expr(n);
                        }
                    }),
                }
                let before = self
                    .body
                    .parallel
                    .contains_key(id)
                    .then(|| self.state.clone());
                let counts = match over {
                    For::Range {
                        var: Pat::Var(var), ..
                    } => Some(*var),
                    For::Range { .. } => None,
                    For::Slices { index, .. } => *index,
                };
                // What its body may give another value counts nothing.
                let counts = counts.filter(|var| self.body.vars[var.0].fixed.is_some());
                if let Some(var) = counts {
                    self.changes(var);
                }
                self.repeat(*id, None, body, false, &|walk| {
                    if let Some(var) = counts {
                        walk.changed(Step::At(var), Some(Step::Before(var)));
                    }
                    match over {
                        For::Range { var, .. } => walk.declare(var, true),
                        For::Slices { parts, index, .. } => {
                            parts.iter().for_each(|part| walk.declare(&part.item, true));
                            index.iter().for_each(|i| walk.declare_var(*i, true));
                        }
                    }
                });
                if let Some(before) = before {
                    self.wait_for_rounds(before);
                }
            }
            K::Break(id, value) => {
                self.all(value);
                self.jump(*id, true);
            }
            K::Continue(id) => self.jump(*id, false),
            _ => {}
        }
    }

    /// A variable that is declared anew awaits nothing; but if its memory still awaits a child of an earlier round, what it will hold
    /// is not known before a sync and a new value.
    fn declare(&mut self, pat: &Pat, has_value: bool) {
        match pat {
            Pat::Wild => {}
            Pat::Var(var) => self.declare_var(*var, has_value),
            Pat::Fields(fields) => fields.iter().for_each(|(_, p)| self.declare(p, has_value)),
            Pat::Deref(inner) | Pat::Behind(inner) => self.declare(inner, has_value),
            Pat::Elements(elems) => elems.iter().for_each(|p| self.declare(p, has_value)),
        }
    }

    fn declare_var(&mut self, var: VarId, has_value: bool) {
        self.changed(Step::At(var), None);
        let Some(state) = &mut self.state else { return };
        // What a reference of an earlier round refers to is not what this one does.
        let earlier = state
            .awaiting
            .remove(&var)
            .and_then(|parts| parts.into_iter().find(|(p, _)| p.own));
        if let Some((_, (span, _))) = earlier {
            state.late.insert(var, span);
        }
        match state.late.get(&var) {
            Some(span) => state.doubtful.insert(var, *span),
            None => state.doubtful.remove(&var),
        };
        if has_value || self.body.vars[var.0].guarded {
            state.unset.remove(&var);
        } else {
            state.unset.insert(var);
        }
    }

    fn jump(&mut self, id: LoopId, is_break: bool) {
        let Some(state) = self.state.take() else {
            return;
        };
        if let Some(scope) = self.loops.iter_mut().rfind(|s| s.id == id) {
            if is_break {
                scope.breaks.push(state)
            } else {
                scope.continues.push(state)
            }
        }
    }

    fn leave(&mut self) {
        if let Some(scope) = self.loops.pop() {
            scope
                .breaks
                .into_iter()
                .for_each(|s| merge(&mut self.state, Some(s)));
        }
    }

    /// Once round a loop, from what comes to its head: from before it, and from its end as the last walk found it. `begin` begins the
    /// round.
    fn repeat(
        &mut self,
        id: LoopId,
        cond: Option<&Expr>,
        body: &Expr,
        endless: bool,
        begin: &dyn Fn(&mut Self),
    ) {
        merge(&mut self.state, self.heads.get(&id).cloned());
        self.loops.push(Scope {
            id,
            breaks: Vec::new(),
            continues: Vec::new(),
        });
        self.all(cond);
        let mut out = self.state.clone().filter(|_| !endless);
        begin(self);
        self.expr(body);
        if let Some(scope) = self.loops.pop() {
            let leaving = |into: &mut _, states: Vec<State>| {
                states.into_iter().for_each(|s| merge(into, Some(s)));
            };
            leaving(&mut self.state, scope.continues);
            leaving(&mut out, scope.breaks);
        }
        if let Some(back) = self.state.take() {
            self.news |= self.heads.entry(id).or_default().add(back);
        }
        self.state = out;
    }
}
