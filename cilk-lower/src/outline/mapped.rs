//! Children whose results go on through a computation: what goes to a place is made of the results by a task of its own, which waits for the children.
//!
//! ```text
//! best = best.max(-spawn!(f(x)));          =>   best = best.max(spawn!(f.then1(x)));
//!
//!                                               task f.then1(x) -> i32 { let result = spawn!(f(x)); sync!(); -result }
//!
//! let n = spawn!(f(x)) * spawn!(g(y, z));  =>   let n = spawn!(f.then2(x, y, z));
//!
//!                                               task f.then2(x, y, z) -> u64 { let a = spawn!(f(x)); let b = spawn!(g(y, z)); sync!(); a * b }
//! ```
//!
//! What the computation reads comes as an argument, so it has the value of when the children are spawned; an atomic comes by reference. It changes nothing, and reads
//! nothing that the function may change meanwhile: the function goes on while it waits.
//!
//! What a function itself adds to what results are gathered in is one more result, of a task that gives what it gets: a leaf, which ends where it is spawned.
//!
//! ```text
//! sum += spawn!(f(x)); sum += 1;   =>   sum += spawn!(f(x)); sum += spawn!(f.own1(1));
//! ```

use super::{Known, bring, make::Make, replace, settle, uses, wild};
use crate::{
    diag::start,
    generics::At,
    hir::{Body, Expr, ExprKind, FnId, Pat, Stmt, Var, VarId},
    items::{FnItem, Module},
    ty::Ty,
};
use millstream_graph::{
    ir::{Combine, FunctionKind},
    ty::{Scalar, Type},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

/// Makes the tasks of a program: adds them to the module, and their bodies behind the others.
pub(super) fn program(m: &mut Module, bodies: &mut Vec<Body>) {
    let mut made = Vec::new();
    for (i, body) in bodies.iter_mut().enumerate() {
        let mut maker = Maker {
            owner: FnId(i),
            vars: std::mem::take(&mut body.vars),
            adds: std::mem::take(&mut body.adds),
            m,
            made: &mut made,
            found: 0,
            given: BTreeMap::new(),
        };
        maker.look(&mut body.root);
        body.vars = maker.vars;
    }
    bodies.extend(made);
}

struct Maker<'a> {
    owner: FnId,
    /// The function's variables.
    vars: Vec<Var>,
    /// Where it adds to what results are gathered in.
    adds: BTreeSet<(usize, usize)>,
    m: &'a mut Module,
    made: &'a mut Vec<Body>,
    found: usize,
    /// The tasks that give what they get.
    given: BTreeMap<Scalar, FnId>,
}

impl Maker<'_> {
    fn look(&mut self, e: &mut Expr) {
        e.children_mut(&mut |child| self.look(child));
        let span = e.span;
        if self.adds.contains(&start(span))
            && let Some((var, way, scalar, value)) = e.added()
        {
            let (value, make) = (value.clone(), Make(span));
            let place = make.var(var, &self.vars[var.0].ty);
            *e.kind = ExprKind::Spawn {
                func: self.gives(scalar, make),
                args: vec![value],
                dest: Some((place, way)),
                then: None,
            };
            e.assigns = true;
            return;
        }
        let ExprKind::Spawn {
            func, args, then, ..
        } = &mut *e.kind
        else {
            return;
        };
        let Some(then) = then.take() else { return };
        let (mut value, mut declared, mut used) = (then.value, BTreeSet::new(), Vec::new());
        uses(&mut value, &mut declared, &mut used);
        let is_result = |v: &VarId| then.children.iter().any(|(_, result)| result == v);
        used.retain(|v| !declared.contains(v) && !is_result(v));
        let make = Make(span);
        self.refuse_changes(&mut value, &used);
        for var in &used {
            let is_shared = self.is_shared(*var);
            let read = &mut self.vars[var.0];
            let value = make.var(*var, &read.ty);
            read.addressed |= is_shared;
            args.push(if is_shared {
                make.address(value)
            } else {
                value
            });
        }
        *func = self.task(&then.children, value, &used, make);
    }

    /// The task that runs children and gives what is made of their results.
    fn task(
        &mut self,
        children: &[(FnId, VarId)],
        mut value: Expr,
        used: &[VarId],
        make: Make,
    ) -> FnId {
        let (mut vars, mut known) = (Vec::new(), BTreeMap::new());
        let mut args: Vec<Vec<Expr>> = Vec::new();
        for (func, _) in children {
            let given = self.m.fns[func.0].params.iter();
            let given = given.map(|(_, ty)| {
                let (name, ty) = (format!("given_{}", vars.len()), Ty::from_type(ty));
                make.var(make.fresh(&mut vars, &name, ty.clone()), &ty)
            });
            args.push(given.collect());
        }
        for var in used {
            let (old, to) = (self.vars[var.0].clone(), VarId(vars.len()));
            let (ty, known_as) = match self.is_shared(*var) {
                true => (make.reference(&old.ty), Known::Behind(to)),
                false => (old.ty, Known::As(to)),
            };
            known.insert(*var, known_as);
            vars.push(Var {
                ty,
                awaits: false,
                addressed: false,
                ..old
            });
        }
        let params = (vars.iter().map(|v| (wild(), v.ty.to_type()))).collect();
        bring(&mut value, &self.vars, &mut known, &mut vars);
        let mut stmts = Vec::new();
        for ((func, result), args) in children.iter().zip(args) {
            let ty = self.vars[result.0].ty.clone();
            let own = make.fresh(&mut vars, "result", ty.clone());
            vars[own.0].awaits = true;
            vars[own.0].addressed = self.vars[result.0].addressed;
            known.insert(*result, Known::As(own));
            let dest = Some((make.var(own, &ty), Combine::Store));
            stmts.push(Stmt::Let(Pat::Var(own), None));
            stmts.push(make.spawn(*func, args, dest));
        }
        stmts.push(make.sync());
        replace(&mut value, &known, &vars);
        let ret = value.ty.to_type();
        let mut root = make.valued(stmts, value);
        settle(&mut root, &self.m.structs);
        self.made.push(Body::made(vars, root));
        self.add("then", (params, ret), make)
    }

    /// The task that gives what it gets.
    fn gives(&mut self, scalar: Scalar, make: Make) -> FnId {
        if let Some(id) = self.given.get(&scalar) {
            return *id;
        }
        let (mut vars, ty) = (Vec::new(), Ty::Scalar(scalar));
        let value = make.fresh(&mut vars, "value", ty.clone());
        let root = make.valued(Vec::new(), make.var(value, &ty));
        self.made.push(Body::made(vars, root));
        let params = vec![(wild(), Type::Scalar(scalar))];
        let id = self.add("own", (params, Type::Scalar(scalar)), make);
        self.given.insert(scalar, id);
        id
    }

    /// Adds a task of these parameters and this result, whose body was made.
    fn add(
        &mut self,
        kind: &str,
        (params, ret): (Vec<(syn::Pat, Type)>, Type),
        make: Make,
    ) -> FnId {
        let owner = &self.m.fns[self.owner.0];
        self.found += 1;
        let item = FnItem {
            name: format!("{}.{kind}{}", owner.name, self.found),
            span: make.0,
            kind: FunctionKind::Task,
            rounds: false,
            team: None,
            alone: false,
            params,
            held: false,
            ret,
            sig: None,
            block: Rc::clone(&owner.block),
            at: At::default(),
            used: None,
            lifted: None,
        };
        self.m.fns.push(item);
        FnId(self.m.fns.len() - 1)
    }

    /// Says where a computation changes what it is made of, or reads what the function may change before it comes to that.
    fn refuse_changes(&mut self, value: &mut Expr, used: &[VarId]) {
        let changes = used.iter().any(|v| value.changes(*v));
        let mut types = used.iter().map(|v| &self.vars[v.0].ty);
        let message = if changes {
            "what is made of a child's result cannot change a variable: it is made when the child is done"
        } else if types.any(|ty| ty.is_mutable(&self.m.structs)) {
            "what is made of a child's result cannot come to memory by a `&mut`: it is made when the child is done, and the task may have changed that by then"
        } else {
            return;
        };
        self.m.diags.error(value.span, message).help(
            "take the result by `let x = spawn!(..)` and do this after the `sync!()`; or let what is read stand in front of the child, where it is read at once",
        );
    }

    /// Whether a variable is an atomic or has some: children that were lent it change it.
    fn is_shared(&self, var: VarId) -> bool {
        self.vars[var.0].ty.to_type().has_atomics(&self.m.structs)
    }
}
