//! Parallel loops: each becomes a task of its own, which divides its rounds among children until they are few, and then runs these.
//!
//! ```text
//! #[parallel]                          task f.loop1(grain, count, data, by) -> u64 {
//! for x in data.iter_mut() {               let mut sum = 0;
//!     *x = g(*x, by);            =>        if count > grain {
//!     sum += h(*x);                            for (count, data) in parts { sum += spawn!(f.loop1(grain, count, data, by)); }
//! }                                            sync!(); return sum;
//!                                          }
//!                                          for x in data { .. } sum
//!                                      }
//! ```
//!
//! So whoever runs tasks runs parallel loops: a team is a wavefront of the pieces' channel, as wide as the device makes it, and memory
//! bounds it as it bounds every recursion. What the rounds read comes as an argument: by value, and arrays and atomics by reference.
//! What they gather ([`gather`]) starts from nothing in each piece and is added up piece by piece.
//!
//! How many rounds a piece has depends on their number alone ([`work`], [`PIECES`], [`TEAMS`]), and so does how they are divided. Where the
//! order of additions shows, the results of parts are kept and joined in their order: so sums of floats have the same bits on every
//! device. `rust::rounds` makes the serial elision add in this order too.
//!
//! In a task that is called the spawns are calls, as everywhere; [`promote`] says what helpers do, and [`spawning`] which loops are shared out
//! without being asked for. A kernel runs its loops round by round.

mod called;
mod gather;
mod make;
mod promote;
mod rounds;
mod spawning;
mod work;

use crate::{
    diag::Diagnostics,
    generics::At,
    hir::{Body, Expr, ExprKind, FnId, LoopId, Pat, Stmt, Var, VarId},
    items::{FnItem, Module},
    rust::{ParallelLoop, place},
    ty::{Ty, USIZE},
};
use gather::Gather;
use make::Make;
use millstream_graph::{
    ir::{BinOp, Combine, FunctionKind},
    ty::{PieceKind, Type},
};
use proc_macro2::Span;
use rounds::Rounds;
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    rc::Rc,
};
use work::{Does, LEAST_LIGHT, Work};

/// A loop is cut into at most so many pieces, give or take one in two: enough for every lane of a GPU, few for a CPU.
pub(crate) const PIECES: u64 = 1 << 16;

/// Where there are pieces for so many teams, they grow until each has so many rounds: the lanes of a GPU's warp run them side by side.
const TEAMS: u64 = 1 << 12;
const TEAM: u64 = 32;

/// A task divides its rounds among at most so many children: three levels of them make a quarter of a million pieces.
const PARTS: u64 = 64;

/// The same where their results are kept until they are joined.
const ORDERED_PARTS: u64 = 16;

/// Makes tasks of the loops of all functions: adds them to the module, and their bodies behind the others.
pub(crate) fn program(m: &mut Module, bodies: &mut Vec<Body>) -> Vec<ParallelLoop> {
    promote::promote(m, bodies);
    let reach = spawning::recursive(bodies);
    let spawners = Rc::new(called::spawners(bodies, &reach));
    let works = Rc::new(Work::of_all(bodies));
    let (mut made, mut loops) = (Vec::new(), Vec::new());
    for (i, body) in bodies.iter_mut().enumerate() {
        let parallel = std::mem::take(&mut body.parallel);
        let item = &m.fns[i];
        let kind = item.kind;
        let mut outliner = Outliner {
            id: FnId(i),
            kind,
            owner: item.name.trim_end_matches(".task").to_owned(),
            block: Rc::clone(&item.block),
            params: item.params.len(),
            found: 0,
            changed: false,
            sum: None,
            spawners: Rc::clone(&spawners),
            works: Rc::clone(&works),
            vars: std::mem::take(&mut body.vars),
            m,
            made: &mut made,
            loops: &mut loops,
            gathered: BTreeMap::new(),
        };
        if !parallel.is_empty() {
            outliner.examine(&mut body.root, &parallel);
            outliner.walk(&mut body.root, &parallel);
        }
        if kind == FunctionKind::Task {
            outliner.share(&mut body.root, &reach, true);
            outliner.find_sum(&mut body.root);
            outliner.spawn_calls(&mut body.root, &reach, true);
            outliner.add_sum(&mut body.root);
        }
        let changed = outliner.changed;
        body.vars = outliner.vars;
        if changed {
            settle(&mut body.root);
        }
    }
    bodies.extend(made);
    loops
}

struct Outliner<'a> {
    m: &'a mut Module,
    made: &'a mut Vec<Body>,
    loops: &'a mut Vec<ParallelLoop>,
    id: FnId,
    kind: FunctionKind,
    owner: String,
    block: Rc<syn::Block>,
    /// How many of the variables are parameters.
    params: usize,
    /// How many loops became tasks.
    found: usize,
    changed: bool,
    /// The tasks that have several children.
    spawners: Rc<BTreeSet<FnId>>,
    works: Rc<Vec<Work>>,
    /// The variable whose value the function has, and what is gathered of calls beside it, and how.
    sum: Option<(VarId, Option<(VarId, BinOp)>)>,
    /// The function's variables.
    vars: Vec<Var>,
    /// What its parallel loops gather; none where there is something wrong with one.
    gathered: BTreeMap<LoopId, Option<Vec<Gather>>>,
}

/// How a variable from around a loop is known inside its task.
enum Known {
    As(VarId),
    /// By a reference to it.
    Behind(VarId),
}

/// What a task is made of.
struct Pieces {
    span: Span,
    rounds: Rounds,
    body: Expr,
    /// What its rounds use of what is around it, and whether by reference.
    captured: Vec<(VarId, bool)>,
    gathers: Vec<Gather>,
    /// What the rounds do beside computing.
    does: Does,
    /// Rounds of a piece, at least; none if it is one round.
    least: Option<u64>,
    /// Whether a sync follows, so that none is needed here.
    waits: bool,
}

impl Outliner<'_> {
    /// Finds what parallel loops gather, and what is wrong with them, while all of them are as they were written.
    fn examine(&mut self, e: &mut Expr, parallel: &BTreeSet<LoopId>) {
        e.children_mut(&mut |child| self.examine(child, parallel));
        if let ExprKind::For(id, ..) = *e.kind
            && parallel.contains(&id)
        {
            let used = self.used_from_around(e);
            if let ExprKind::For(_, _, body) = &mut *e.kind {
                let gathers = self.gathers(body, &used);
                self.gathered.insert(id, gathers);
            }
        }
    }

    fn walk(&mut self, e: &mut Expr, parallel: &BTreeSet<LoopId>) {
        // Loops inside loops first: what they leave is a statement of the outer one's rounds.
        e.children_mut(&mut |child| self.walk(child, parallel));
        if let ExprKind::For(id, ..) = &*e.kind
            && parallel.contains(id)
            && let Some(outlined) = self.outline(e, None)
        {
            *e = outlined;
        }
    }

    /// What stands for a loop; none if there is something wrong with it, which has been said. `shared`: it only spawns, and a sync follows it; so
    /// many of its rounds are one piece at least.
    fn outline(&mut self, e: &Expr, shared: Option<u64>) -> Option<Expr> {
        let span = e.span;
        let ExprKind::For(id, over, body) = &*e.kind else {
            return None;
        };
        let (over, mut body) = (over.clone(), body.clone());
        let used = self.used_from_around(&mut e.clone());
        let gathers = match self.gathered.remove(id) {
            Some(gathers) => gathers?,
            None => self.gathers(&mut body, &used)?,
        };
        gather::wrap(&mut body, &gathers);
        let captured = used
            .into_iter()
            .filter(|v| !gathers.iter().any(|g| g.var == *v))
            .map(|v| (v, self.by_reference(&self.vars[v.0].ty)))
            .collect();
        let mut before = Vec::new();
        let rounds = Rounds::begin(
            *id,
            over,
            &mut self.vars,
            &mut before,
            span,
            &mut self.m.diags,
        )?;
        let does = Does::of(&mut body, &self.works);
        let least = shared.or_else(|| does.least());
        if shared.is_none() {
            self.loops.push(ParallelLoop {
                at: place(span),
                least,
                gathers: gathers.iter().map(|g| g.summary(&self.vars)).collect(),
            });
        }
        let most = spawning::few(&mut body);
        let pieces = Pieces {
            span,
            rounds,
            body,
            captured,
            does,
            least,
            // What several variables gather comes as one result, and is added to them behind a sync of its own.
            waits: shared.is_some() && gathers.len() <= 1,
            gathers,
        };
        let few = match (shared, least) {
            (Some(_), _) => Some((most, self.as_it_was(&pieces))),
            (None, Some(LEAST_LIGHT)) => Some((LEAST_LIGHT, self.few(&pieces))),
            _ => None,
        };
        Some(self.stand_in(&pieces, before, few))
    }

    /// The variables that the rounds use and do not declare, in the order in which they are first used.
    fn used_from_around(&self, e: &mut Expr) -> Vec<VarId> {
        let (mut declared, mut used) = (BTreeSet::new(), Vec::new());
        e.declares(&mut |v| {
            declared.insert(*v);
        });
        let ExprKind::For(_, _, body) = &mut *e.kind else {
            return used;
        };
        uses(body, &mut declared, &mut used);
        used.retain(|v| !declared.contains(v));
        used
    }

    /// What the rounds gather, by the variables from around that they assign to.
    fn gathers(&mut self, body: &mut Expr, used: &[VarId]) -> Option<Vec<Gather>> {
        let mut wrong = Diagnostics::default();
        let found = gather::find(body, used, &self.vars, &mut wrong);
        let right = wrong.is_empty();
        self.m.diags.0.extend(wrong.0);
        right.then_some(found)
    }

    /// Whether rounds know a variable by reference: what lies in memory anyway.
    fn by_reference(&self, ty: &Ty) -> bool {
        let ty = ty.to_type();
        let blob = |kind| matches!(kind, PieceKind::Blob(_));
        matches!(ty, Type::Atomic(_)) || ty.pieces(&self.m.structs).iter().any(|p| blob(p.kind))
    }

    /// What stands where the loop stood. `few`: what is run in its place for so many rounds at most.
    fn stand_in(
        &mut self,
        pieces: &Pieces,
        mut stmts: Vec<Stmt>,
        few: Option<(u64, Expr)>,
    ) -> Expr {
        let make = Make(pieces.span);
        let count = make.fresh(&mut self.vars, "rounds", USIZE);
        stmts.push(make.bind(count, pieces.rounds.count(&make)));
        let many = make.var(count, &USIZE);
        let spawned = self.spawned(pieces, &many);
        let (most, few) = few.map_or((0, None), |(most, few)| (most, Some(few)));
        let test = make.compare(BinOp::Gt, many, make.count(most));
        stmts.push(Stmt::Expr(make.choose(test, spawned, few)));
        make.block(stmts)
    }

    /// The loop itself.
    fn as_it_was(&self, pieces: &Pieces) -> Expr {
        let make = Make(pieces.span);
        make.block(vec![pieces.rounds.here(pieces.body.clone(), &make)])
    }

    /// All rounds as children.
    fn spawned(&mut self, pieces: &Pieces, count: &Expr) -> Expr {
        let make = Make(pieces.span);
        let task = self.task(pieces);
        let mut args = Vec::new();
        if let Some(least) = pieces.least {
            let share = |of| make.raw(BinOp::Div, count.clone(), make.count(of));
            let team = make.raw(BinOp::Min, share(TEAMS), make.count(TEAM));
            let share = make.raw(BinOp::Max, share(PIECES), make.count(least));
            args.push(make.raw(BinOp::Max, share, team));
        }
        args.push(count.clone());
        args.extend(pieces.rounds.whole(&make));
        for (var, by_reference) in &pieces.captured {
            let value = make.var(*var, &self.vars[var.0].ty);
            self.vars[var.0].addressed |= by_reference;
            args.push(match by_reference {
                true => make.address(value),
                false => value,
            });
        }
        if self.kind != FunctionKind::Task {
            return self.called(pieces, task, args);
        }
        let mut stmts = Vec::new();
        if let Some((var, combine)) = gather::at_once(&pieces.gathers) {
            self.vars[var.0].awaits = true;
            let place = make.var(var, &self.vars[var.0].ty);
            stmts.push(make.spawn(task, args, Some((place, combine))));
            self.wait(pieces, &mut stmts);
            return make.block(stmts);
        }
        let result = gather::result(&pieces.gathers);
        let dest = (!result.is_unit()).then(|| {
            let var = make.fresh(&mut self.vars, "gathered", result.clone());
            self.vars[var.0].awaits = true;
            stmts.push(Stmt::Let(Pat::Var(var), None));
            make.var(var, &result)
        });
        let stored = dest.clone().map(|place| (place, Combine::Store));
        stmts.push(make.spawn(task, args, stored));
        self.wait(pieces, &mut stmts);
        stmts.extend(
            dest.iter()
                .flat_map(|dest| gather::add(&pieces.gathers, &make, dest)),
        );
        make.block(stmts)
    }

    /// All rounds by a call, in a function that spawns nothing.
    fn called(&mut self, pieces: &Pieces, func: FnId, args: Vec<Expr>) -> Expr {
        let make = Make(pieces.span);
        let result = gather::result(&pieces.gathers);
        let call = Expr::new(ExprKind::Call(func, args), result.clone(), pieces.span);
        if result.is_unit() {
            return make.block(vec![Stmt::Expr(call)]);
        }
        let var = make.fresh(&mut self.vars, "gathered", result.clone());
        let mut stmts = vec![make.bind(var, call)];
        stmts.extend(gather::add(&pieces.gathers, &make, &make.var(var, &result)));
        make.block(stmts)
    }

    fn wait(&self, pieces: &Pieces, stmts: &mut Vec<Stmt>) {
        if !pieces.waits {
            stmts.push(Make(pieces.span).sync());
        }
    }

    /// All rounds where the loop stands. What is gathered is added up as in one piece.
    fn few(&mut self, pieces: &Pieces) -> Expr {
        let make = Make(pieces.span);
        let (mut stmts, own) = gather::start(&pieces.gathers, &make, &mut self.vars, |_| false);
        let mut body = pieces.body.clone();
        replace(&mut body, &own, &self.vars);
        stmts.push(pieces.rounds.here(body, &make));
        let value = gather::value(&pieces.gathers, &make, &own);
        let result = gather::result(&pieces.gathers);
        if !result.is_unit() {
            let var = make.fresh(&mut self.vars, "gathered", result.clone());
            stmts.push(make.bind(var, value));
            stmts.extend(gather::add(&pieces.gathers, &make, &make.var(var, &result)));
        }
        make.block(stmts)
    }

    /// The task of a loop.
    fn task(&mut self, pieces: &Pieces) -> FnId {
        let make = Make(pieces.span);
        let (mut vars, mut known) = (Vec::new(), BTreeMap::new());
        let grain = (pieces.least.is_some()).then(|| make.fresh(&mut vars, "rounds_each", USIZE));
        let count = make.fresh(&mut vars, "rounds", USIZE);
        let mut rounds = pieces.rounds.params(&mut vars, &make);
        let captured = vars.len();
        for (var, by_reference) in &pieces.captured {
            let old = self.vars[var.0].clone();
            let to = VarId(vars.len());
            if *by_reference {
                let ty = make.reference(&old.ty);
                vars.push(Var {
                    ty,
                    addressed: false,
                    ..old
                });
                known.insert(*var, Known::Behind(to));
            } else {
                vars.push(old);
                known.insert(*var, Known::As(to));
            }
        }
        let captured = captured..vars.len();
        let result = gather::result(&pieces.gathers);
        let id = FnId(self.m.fns.len());
        (self.found, self.changed) = (self.found + 1, true);
        self.m.fns.push(FnItem {
            name: format!("{}.loop{}", self.owner, self.found),
            span: pieces.span,
            // In a function that spawns nothing it is called.
            kind: match self.kind {
                FunctionKind::Task => FunctionKind::Task,
                _ => FunctionKind::Helper,
            },
            rounds: self.kind == FunctionKind::Task,
            params: vars.iter().map(|v| (wild(), v.ty.to_type())).collect(),
            held: false,
            ret: result.to_type(),
            sig: None,
            block: Rc::clone(&self.block),
            at: At::default(),
            used: None,
        });
        let parts = Parts {
            id,
            grain,
            count,
            rounds: &rounds,
            captured,
        };
        let parts = parts.spawn(&pieces.gathers, &mut vars, &make);
        let awaits = |v: VarId| self.vars[v.0].awaits;
        let (own, renamed) = gather::start(&pieces.gathers, &make, &mut vars, awaits);
        known.extend(renamed);
        let mut body = pieces.body.clone();
        rounds.declares(&mut |v| self.bring_var(v, &mut known, &mut vars));
        self.bring(&mut body, &mut known, &mut vars);
        replace(&mut body, &known, &vars);
        let mut stmts = vec![Stmt::Expr(parts)];
        stmts.extend(own);
        stmts.push(rounds.piece(body, count, &mut vars, &make));
        if pieces.does.spawns && !pieces.gathers.is_empty() {
            stmts.push(make.sync());
        }
        let value = gather::value(&pieces.gathers, &make, &known);
        let mut root = make.valued(stmts, value);
        settle(&mut root);
        self.made.push(Body {
            vars,
            root,
            parallel: BTreeSet::new(),
        });
        id
    }

    /// Gives the task variables for those that the rounds declare.
    fn bring(&self, e: &mut Expr, known: &mut BTreeMap<VarId, Known>, vars: &mut Vec<Var>) {
        e.declares(&mut |v| self.bring_var(v, known, vars));
        e.children_mut(&mut |child| self.bring(child, known, vars));
    }

    fn bring_var(&self, v: &mut VarId, known: &mut BTreeMap<VarId, Known>, vars: &mut Vec<Var>) {
        let to = match known.get(v) {
            // The arms of a `match` may declare one several times.
            Some(Known::As(to) | Known::Behind(to)) => *to,
            None => {
                vars.push(self.vars[v.0].clone());
                VarId(vars.len() - 1)
            }
        };
        known.insert(*v, Known::As(to));
        *v = to;
    }
}

/// Children with parts of a task's rounds.
struct Parts<'a> {
    id: FnId,
    grain: Option<VarId>,
    count: VarId,
    rounds: &'a Rounds,
    /// The parameters that are passed on.
    captured: Range<usize>,
}

impl Parts<'_> {
    /// Spawns them, where there are more rounds than one piece has.
    fn spawn(&self, gathers: &[Gather], vars: &mut Vec<Var>, make: &Make) -> Expr {
        let count = make.var(self.count, &USIZE);
        let grain = self.grain.map(|g| make.var(g, &USIZE));
        let each = grain.clone().unwrap_or_else(|| make.count(1));
        let ordered = gather::is_kept(gathers);
        let most = if ordered { ORDERED_PARTS } else { PARTS };
        let up = |n: Expr, by: &Expr| {
            let less = make.raw(BinOp::Sub, by.clone(), make.count(1));
            make.raw(BinOp::Div, make.raw(BinOp::Add, n, less), by.clone())
        };
        // Of whole pieces, as many in each part.
        let pieces = up(up(count.clone(), &each), &make.count(most));
        let size = make.fresh(vars, "part", USIZE);
        let parts = make.fresh(vars, "parts", USIZE);
        let mut stmts = vec![make.bind(size, make.raw(BinOp::Mul, pieces, each.clone()))];
        let size = make.var(size, &USIZE);
        stmts.push(make.bind(parts, up(count.clone(), &size)));
        let parts = make.var(parts, &USIZE);
        let number = make.fresh(vars, "number", USIZE);
        let (from, rounds) = (
            make.fresh(vars, "from", USIZE),
            make.fresh(vars, "rounds", USIZE),
        );
        let number = (number, make.var(number, &USIZE));
        let start = make.raw(BinOp::Mul, number.1.clone(), size.clone());
        let mut child = vec![make.bind(from, start)];
        let from = make.var(from, &USIZE);
        let rest = make.raw(BinOp::Sub, count.clone(), from.clone());
        child.push(make.bind(rounds, make.raw(BinOp::Min, size, rest)));
        let rounds = make.var(rounds, &USIZE);
        let which = self.rounds.part(&from, &rounds, make);
        let passed = self.captured.clone();
        let passed = passed.map(|i| make.var(VarId(i), &vars[i].ty));
        let args = grain.into_iter().chain([rounds]);
        let args: Vec<Expr> = args.chain(which).chain(passed).collect();
        if ordered {
            let results = Results::new(gathers, &parts, vars, make);
            stmts.push(results.declared());
            child.push(make.spawn(self.id, args, Some((results.of(number.1), Combine::Store))));
            stmts.push(make.times(number.0, parts, child));
            stmts.push(make.sync());
            results.join(gathers, vars, make, &mut stmts);
        } else if let Some(gather) = gathers.first() {
            let (start, own) = gather::start(gathers, make, vars, |_| true);
            stmts.extend(start);
            let place = gather::value(gathers, make, &own);
            let dest = gather.combine().map(|combine| (place.clone(), combine));
            child.push(make.spawn(self.id, args, dest));
            stmts.push(make.times(number.0, parts, child));
            stmts.push(make.sync());
            stmts.push(make.give(Some(place)));
        } else {
            child.push(make.spawn(self.id, args, None));
            stmts.push(make.times(number.0, parts, child));
            stmts.push(make.give(None));
        }
        let many = make.compare(BinOp::Gt, count, each);
        make.choose(many, make.block(stmts), None)
    }
}

/// The results of parts, kept until they are joined in their order.
struct Results {
    array: VarId,
    ty: Ty,
    each: Ty,
    count: Expr,
}

impl Results {
    fn new(gathers: &[Gather], count: &Expr, vars: &mut Vec<Var>, make: &Make) -> Self {
        let each = gather::result(gathers);
        let ty = Ty::Array(Box::new(each.clone()), ORDERED_PARTS);
        let array = make.fresh(vars, "results", ty.clone());
        vars[array.0].awaits = true;
        Self {
            array,
            ty,
            each,
            count: count.clone(),
        }
    }

    fn declared(&self) -> Stmt {
        Stmt::Let(Pat::Var(self.array), None)
    }

    /// The place of a part's result.
    fn of(&self, number: Expr) -> Expr {
        let span = number.span;
        let array = Expr::new(ExprKind::Var(self.array), self.ty.clone(), span);
        Expr::new(ExprKind::Index(array, number), self.each.clone(), span)
    }

    /// Gives the first result with all others joined to it.
    fn join(&self, gathers: &[Gather], vars: &mut Vec<Var>, make: &Make, stmts: &mut Vec<Stmt>) {
        let sum = make.fresh(vars, "gathered", self.each.clone());
        let number = make.fresh(vars, "number", USIZE);
        stmts.push(make.bind(sum, self.of(make.count(0))));
        let sum = make.var(sum, &self.each);
        let next = make.raw(BinOp::Add, make.var(number, &USIZE), make.count(1));
        let joined = gather::join(gathers, make, [sum.clone(), self.of(next)]);
        let others = make.raw(BinOp::Sub, self.count.clone(), make.count(1));
        let add = make.assign(sum.clone(), joined);
        stmts.push(make.times(number, others, vec![add]));
        stmts.push(make.give(Some(sum)));
    }
}

/// Says of each expression whether it assigns, as the checker does.
fn settle(e: &mut Expr) {
    let mut assigns = false;
    e.children_mut(&mut |child| {
        settle(child);
        assigns |= child.assigns;
    });
    e.assigns = assigns || e.writes();
}

/// A parameter's pattern, where its name is that of its variable.
fn wild() -> syn::Pat {
    syn::Pat::Wild(syn::PatWild {
        attrs: Vec::new(),
        underscore_token: syn::token::Underscore::default(),
    })
}

fn uses(e: &mut Expr, declared: &mut BTreeSet<VarId>, used: &mut Vec<VarId>) {
    if let ExprKind::Var(v) = *e.kind
        && !used.contains(&v)
    {
        used.push(v);
    }
    e.declares(&mut |v| {
        declared.insert(*v);
    });
    e.children_mut(&mut |child| uses(child, declared, used));
}

/// Lets an expression name variables as they are known elsewhere. Patterns have been seen to.
fn replace(e: &mut Expr, known: &BTreeMap<VarId, Known>, vars: &[Var]) {
    e.children_mut(&mut |child| replace(child, known, vars));
    let ExprKind::Var(v) = *e.kind else { return };
    match known.get(&v) {
        Some(Known::As(to)) => *e.kind = ExprKind::Var(*to),
        Some(Known::Behind(to)) => {
            let reference = Expr::new(ExprKind::Var(*to), vars[to.0].ty.clone(), e.span);
            *e.kind = ExprKind::Deref(reference);
        }
        None => {}
    }
}
