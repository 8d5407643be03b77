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
//! device. `rust::rounds` makes the serial elision add in this order too. A device that is not [wide](ExprKind::Wide) gets larger pieces where the order does not
//! show, and where it does it calls parts that are not worth a child; how much is worth one says [`Does::worth`].
//!
//! In a task that is called the spawns are calls, as everywhere: in a loop's too, whose rounds are then run where they are. [`alone`] says of which tasks
//! a wide device runs that version, sharing out the rounds, and [`kept`] what it does where the order shows; [`together`] says which loops need not wait in each turn, [`promote`] what helpers do, and [`spawning`] which loops are shared out
//! without being asked for. A kernel runs its loops round by round.

mod alone;
mod called;
mod gather;
mod kept;
mod make;
mod mapped;
mod parts;
mod promote;
mod respelled;
mod rounds;
mod spawning;
mod spread;
mod together;
mod work;

use crate::{
    diag::{Diagnostics, start},
    generics::At,
    hir::{Body, Expr, ExprKind, FnId, LoopId, Pat, Stmt, Var, VarId},
    items::{FnItem, Module},
    rust::ParallelLoop,
    ty::{Ty, USIZE},
};
use gather::Gather;
use make::Make;
use millstream_graph::{
    ir::{BinOp, Combine, FunctionKind, Team},
    ty::{PieceKind, Structs, Type},
};
use parts::Parts;
use proc_macro2::Span;
use rounds::Rounds;
use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};
use work::{Does, LEAST_LIGHT, Work};

/// A loop is cut into at most so many pieces, give or take one in two: enough for every lane of a GPU, few for a CPU.
pub(crate) const PIECES: u64 = 1 << 16;

/// Where there are pieces for so many teams, they grow until each has so many rounds: the lanes of a GPU's warp run them side by side.
const TEAMS: u64 = 1 << 12;
const TEAM: u64 = 32;

/// Where the device is not wide and the order does not show, there are no more pieces than so many: enough for its threads.
const NARROW_PIECES: u64 = 1 << 8;

/// Makes tasks of the loops of all functions: adds them to the module, and their bodies behind the others.
pub(crate) fn program(m: &mut Module, bodies: &mut Vec<Body>) -> Vec<ParallelLoop> {
    together::program(m, bodies);
    mapped::program(m, bodies);
    let alone = alone::find(m, bodies);
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
            team: None,
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
            settle(&mut body.root, &m.structs);
        }
    }
    bodies.extend(made);
    alone::call(&alone, m, bodies);
    loops
}

/// Parallel loops, and who is to share each out on a GPU, where that is written.
type Parallel = BTreeMap<LoopId, Option<Team>>;

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
    /// Of the loop that is outlined: who is to share it out, if that is written.
    team: Option<Team>,
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

impl Pieces {
    /// Whether it makes no difference in which order they are joined.
    fn joins(&self) -> bool {
        self.gathers.iter().all(Gather::joins)
    }
}

impl Outliner<'_> {
    /// Finds what parallel loops gather, and what is wrong with them, while all of them are as they were written.
    fn examine(&mut self, e: &mut Expr, parallel: &Parallel) {
        e.children_mut(&mut |child| self.examine(child, parallel));
        if let ExprKind::For(id, ..) = *e.kind
            && parallel.contains_key(&id)
        {
            let used = self.used_from_around(e);
            if let ExprKind::For(_, _, body) = &mut *e.kind {
                let gathers = self.gathers(body, &used);
                self.gathered.insert(id, gathers);
            }
        }
    }

    fn walk(&mut self, e: &mut Expr, parallel: &Parallel) {
        // Loops inside loops first: what they leave is a statement of the outer one's rounds.
        e.children_mut(&mut |child| self.walk(child, parallel));
        if let ExprKind::For(id, ..) = &*e.kind
            && let Some(team) = parallel.get(id)
        {
            self.team = *team;
            if let Some(outlined) = self.outline(e, None) {
                *e = outlined;
            }
            self.team = None;
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
        let captured = self.with_references(used, &gathers);
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
                at: start(span),
                least,
                gathers: gathers.iter().map(|g| g.summary(&self.vars)).collect(),
            });
        }
        let (most, make) = (spawning::few(&mut body), Make(span));
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
            (Some(_), _) => Some((make.count(most), self.as_it_was(&pieces))),
            (None, Some(least)) => self.few(&pieces, least),
            (None, None) => None,
        };
        Some(self.stand_in(&pieces, before, few))
    }

    /// Variables that rounds know but for what they gather in, and whether by reference.
    fn with_references(&self, used: Vec<VarId>, gathers: &[Gather]) -> Vec<(VarId, bool)> {
        used.into_iter()
            .filter(|v| !gathers.iter().any(|g| g.var == *v))
            .map(|v| (v, self.by_reference(&self.vars[v.0].ty)))
            .collect()
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
        let found = gather::find(body, used, &self.vars, &self.m.structs, &mut wrong);
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
        few: Option<(Expr, Expr)>,
    ) -> Expr {
        let make = Make(pieces.span);
        let count = make.fresh(&mut self.vars, "rounds", USIZE);
        stmts.push(make.bind(count, pieces.rounds.count(&make)));
        let many = make.var(count, &USIZE);
        let spawned = self.spawned(pieces, &many);
        let (most, few) = few.map_or((make.count(0), None), |(most, few)| (most, Some(few)));
        let test = make.compare(BinOp::Gt, many.clone(), most);
        let all = make.choose(test, spawned, few);
        stmts.push(Stmt::Expr(all));
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
        let task = self.task(pieces, false);
        let each = pieces.least.map(|least| {
            let share = |of| make.raw(BinOp::Div, count.clone(), make.count(of));
            let max = |a, b| make.raw(BinOp::Max, a, b);
            let team = make.raw(BinOp::Min, share(TEAMS), make.count(TEAM));
            let each = max(max(share(PIECES), make.count(least)), team);
            match self.may_grow(pieces) {
                true => {
                    let worth = make.count(pieces.does.worth().unwrap_or(0));
                    let more = max(share(NARROW_PIECES), worth);
                    make.narrow(max(each.clone(), more), each)
                }
                false => each,
            }
        });
        let mut stmts = Vec::new();
        let each = each.map(|each| {
            let var = make.fresh(&mut self.vars, "rounds_each", USIZE);
            stmts.push(make.bind(var, each));
            make.var(var, &USIZE)
        });
        let args = self.arguments(pieces, each.clone(), count);
        if self.kind != FunctionKind::Task {
            return self.called(pieces, task, args, stmts);
        }
        if let Some((var, combine)) = gather::at_once(&pieces.gathers) {
            self.vars[var.0].awaits = true;
            let place = make.var(var, &self.vars[var.0].ty);
            stmts.push(make.spawn(task, args, Some((place, combine))));
            self.wait(pieces, &mut stmts);
            return make.block(stmts);
        }
        let result = gather::result(&pieces.gathers);
        let called = (!pieces.joins()).then(|| {
            let worth = pieces.does.worth()?;
            let few = make.compare(BinOp::Le, count.clone(), make.count(worth));
            let few = make.narrow(few, make.bool(false));
            Some((few, self.called(pieces, task, args.clone(), Vec::new())))
        });
        let before = std::mem::take(&mut stmts);
        let dest = (!result.is_unit()).then(|| {
            let var = make.fresh(&mut self.vars, "gathered", result.clone());
            self.vars[var.0].awaits = true;
            stmts.push(Stmt::Let(Pat::Var(var), None));
            make.var(var, &result)
        });
        let stored = dest.clone().map(|place| (place, Combine::Store));
        let spawn = make.spawn(task, args, stored);
        stmts.push(match &dest {
            Some(dest) if !pieces.gathers.iter().all(Gather::joins) => {
                let spawn = make.block(vec![spawn]);
                Stmt::Expr(self.kept(pieces, task, (each.as_ref(), count), dest, spawn))
            }
            _ => spawn,
        });
        self.wait(pieces, &mut stmts);
        stmts.extend(
            dest.iter()
                .flat_map(|dest| gather::add(&pieces.gathers, &make, dest)),
        );
        let spawned = make.block(stmts);
        let all = match called.flatten() {
            Some((few, called)) => make.choose(few, called, Some(spawned)),
            None => spawned,
        };
        let all = before.into_iter().chain([Stmt::Expr(all)]);
        make.block(all.collect())
    }

    /// The arguments for all rounds of a loop's task.
    fn arguments(&mut self, pieces: &Pieces, each: Option<Expr>, count: &Expr) -> Vec<Expr> {
        let make = Make(pieces.span);
        let mut args: Vec<Expr> = each.into_iter().chain([count.clone()]).collect();
        args.extend(pieces.rounds.whole(&make));
        args.extend(self.passed(pieces));
        args
    }

    /// Of these what the rounds know of what is around them.
    fn passed(&mut self, pieces: &Pieces) -> Vec<Expr> {
        let make = Make(pieces.span);
        let mut args = Vec::new();
        for (var, by_reference) in &pieces.captured {
            let value = make.var(*var, &self.vars[var.0].ty);
            self.vars[var.0].addressed |= by_reference;
            args.push(match by_reference {
                true => make.address(value),
                false => value,
            });
        }
        args
    }

    /// All rounds by a call, in a function that spawns nothing.
    fn called(
        &mut self,
        pieces: &Pieces,
        func: FnId,
        args: Vec<Expr>,
        mut stmts: Vec<Stmt>,
    ) -> Expr {
        let make = Make(pieces.span);
        let result = gather::result(&pieces.gathers);
        let call = Expr::new(ExprKind::Call(func, args), result.clone(), pieces.span);
        if result.is_unit() {
            stmts.push(Stmt::Expr(call));
            return make.block(stmts);
        }
        let var = make.fresh(&mut self.vars, "gathered", result.clone());
        stmts.push(make.bind(var, call));
        stmts.extend(gather::add(&pieces.gathers, &make, &make.var(var, &result)));
        make.block(stmts)
    }

    fn wait(&self, pieces: &Pieces, stmts: &mut Vec<Stmt>) {
        if !pieces.waits {
            stmts.push(Make(pieces.span).sync());
        }
    }

    /// Whether pieces may have more rounds on a device that is not wide: children of a task, whose order does not show, and that only compute.
    fn may_grow(&self, pieces: &Pieces) -> bool {
        let computes = !pieces.does.spawns && !pieces.does.syncs;
        self.kind == FunctionKind::Task && pieces.joins() && computes
    }

    /// What is run in place of a loop's task that has so many rounds a piece at least, and for how many rounds at most: where the order does not show, it is more
    /// on a device that is not wide.
    fn few(&mut self, pieces: &Pieces, least: u64) -> Option<(Expr, Expr)> {
        let make = Make(pieces.span);
        let worth = pieces.does.worth().filter(|_| self.may_grow(pieces));
        match (least == LEAST_LIGHT, worth) {
            (true, None) => Some((make.count(least), self.here(pieces))),
            (true, Some(worth)) => {
                let most = make.narrow(make.count(worth), make.count(least));
                Some((most, self.here(pieces)))
            }
            (false, Some(worth)) => {
                let most = make.narrow(make.count(worth), make.count(0));
                let narrow = make.narrow(make.bool(true), make.bool(false));
                Some((most, make.choose(narrow, self.here(pieces), None)))
            }
            (false, None) => None,
        }
    }

    /// All rounds where the loop stands. What is gathered is added up as in one piece.
    fn here(&mut self, pieces: &Pieces) -> Expr {
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

    /// The task of a loop; or a function that runs all of the rounds that it is given.
    fn task(&mut self, pieces: &Pieces, is_called: bool) -> FnId {
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
                FunctionKind::Task if !is_called => FunctionKind::Task,
                _ => FunctionKind::Helper,
            },
            rounds: self.kind == FunctionKind::Task,
            team: self.team,
            alone: false,
            params: vars.iter().map(|v| (wild(), v.ty.to_type())).collect(),
            held: false,
            ret: result.to_type(),
            sig: None,
            block: Rc::clone(&self.block),
            at: At::default(),
            used: None,
            lifted: None,
        });
        let parts = Parts {
            id,
            grain,
            count,
            worth: pieces.does.worth(),
            rounds: &rounds,
            captured,
        };
        let parts = (!is_called).then(|| parts.spawn(&pieces.gathers, &mut vars, &make));
        let awaits = |v: VarId| self.vars[v.0].awaits;
        let (own, renamed) = gather::start(&pieces.gathers, &make, &mut vars, awaits);
        known.extend(renamed);
        let mut body = pieces.body.clone();
        rounds.declares(&mut |v| bring_var(v, &self.vars, &mut known, &mut vars));
        bring(&mut body, &self.vars, &mut known, &mut vars);
        replace(&mut body, &known, &vars);
        let mut stmts: Vec<Stmt> = parts.map(Stmt::Expr).into_iter().collect();
        stmts.extend(own);
        stmts.push(rounds.piece(body, count, &mut vars, &make));
        if pieces.does.spawns && !pieces.gathers.is_empty() {
            stmts.push(make.sync());
        }
        let value = gather::value(&pieces.gathers, &make, &known);
        let mut root = make.valued(stmts, value);
        settle(&mut root, &self.m.structs);
        self.made.push(Body::made(vars, root));
        id
    }
}

/// Gives a task variables, `vars`, for those that an expression declares of a function's, `from`.
fn bring(e: &mut Expr, from: &[Var], known: &mut BTreeMap<VarId, Known>, vars: &mut Vec<Var>) {
    e.declares(&mut |v| bring_var(v, from, known, vars));
    e.children_mut(&mut |child| bring(child, from, known, vars));
}

fn bring_var(v: &mut VarId, from: &[Var], known: &mut BTreeMap<VarId, Known>, vars: &mut Vec<Var>) {
    let to = match known.get(v) {
        // The arms of a `match` may declare one several times.
        Some(Known::As(to) | Known::Behind(to)) => *to,
        None => {
            vars.push(from[v.0].clone());
            VarId(vars.len() - 1)
        }
    };
    known.insert(*v, Known::As(to));
    *v = to;
}

/// Says of each expression whether it assigns, as the checker does.
fn settle(e: &mut Expr, structs: &Structs) {
    let mut assigns = false;
    e.children_mut(&mut |child| {
        settle(child, structs);
        assigns |= child.assigns;
    });
    e.assigns = assigns || e.writes(structs);
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
