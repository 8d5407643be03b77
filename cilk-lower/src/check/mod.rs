//! The checker: from the syntax of a function to its typed tree.
//!
//! It resolves names, infers types as rustc does (integers that nothing decides are `i32`, floats `f64`), makes every coercion and
//! dereference explicit, and refuses what the task language does not have with a word on what to write instead. One file a
//! kind of expression; this one has the state and the way through a body.

mod ahead;
mod answers;
mod associated;
mod calls;
mod chains;
mod channels;
mod closures;
mod control;
mod conversions;
mod defaults;
mod dispatch;
mod exchange;
mod exhaustive;
mod expr;
mod fields;
mod fieldwise;
mod finish;
mod generics;
mod indices;
mod iteration;
mod let_spawns;
mod lets;
mod macros;
mod memory;
mod methods;
mod named;
mod numbers;
mod operators;
mod orders;
mod overloads;
mod own_methods;
mod own_orders;
mod patterns;
mod places;
mod pointers;
mod refutable;
mod sums;
mod tables;
mod tries;
mod wide;

pub(crate) use associated::float_const;
pub(crate) use iteration::is_parallel_attribute;
pub(crate) use let_spawns::one_by_one;

pub(crate) use exhaustive::fits;
pub(crate) use generics::{Lifted, Made as MadeLifted, endless};

/// A name that stands for Rust's own, whatever the program calls so.
pub(crate) fn own_name(name: &str, span: Span) -> proc_macro2::Ident {
    chains::own(name, span)
}

use generics::Guesses;

use crate::{
    consts,
    diag::Diagnostic,
    hir::{Body, Expr, ExprKind, FnId, LoopId, Stmt, Var, VarId},
    items::{FnItem, Item, Module},
    names::within,
    ty::{Table, Ty},
};
use millstream_graph::{
    ir::{FunctionKind, Team},
    ty::Type,
};
use proc_macro2::Span;
use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};
use syn::spanned::Spanned;

/// Checks a function. The first variables of the body are the parameters.
pub(crate) fn function(module: &mut Module, id: FnId) -> Option<Body> {
    let item = module.fns[id.0].clone();
    module.at = item.at.clone();
    let mut c = Checker::new(module, Some(item.kind), Ty::from_type(&item.ret));
    if let Some(syn::ReturnType::Type(_, ty)) = item.sig.as_ref().map(|sig| &sig.output) {
        c.ret = c.said(ty, &item.ret, &Guesses::default());
    }
    let types = c.types_of(&item);
    let mut prologue = Vec::new();
    c.held = item.held;
    // All parameters before the parts of those that are taken apart.
    let vars: Vec<VarId> = item
        .params
        .iter()
        .zip(&types)
        .enumerate()
        .map(|(i, ((pat, _), ty))| c.parameter(i, pat, ty))
        .collect();
    for (((pat, _), ty), var) in item.params.iter().zip(&types).zip(vars) {
        c.take_apart(pat, ty, var, &mut prologue);
    }
    c.bind_lifted(&item);
    let ret = c.ret.clone();
    c.lends_holders = item
        .params
        .iter()
        .any(|(_, ty)| finish::lends_holder(ty, &c.m.structs));
    let settled = (item.kind.spawns())
        .then(|| answers::settle(&item.block, ret.is_unit()))
        .flatten();
    let mut root = c.block(settled.as_ref().unwrap_or(&item.block), Some(&ret));
    root = c.coerce(root, &ret);
    if !prologue.is_empty() {
        let (ty, span) = (root.ty.clone(), root.span);
        root = Expr::new(ExprKind::Block(prologue, Some(root)), ty, span);
    }
    c.finish(root)
}

/// Checks the expression of a constant.
pub(crate) fn constant(module: &mut Module, expr: &syn::Expr, ty: &Type) -> Option<Body> {
    let ty = Ty::from_type(ty);
    let mut c = Checker::new(module, None, ty.clone());
    let root = c.expr_as(expr, &ty);
    c.finish(root)
}

/// The name nearest to a misspelled one, if one is near.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    // Of a name of one letter every other is a misspelling.
    let limit = (1 + name.len() / 4).min(name.len() - 1);
    let lower = name.to_lowercase();
    candidates
        .map(|c| (distance(&lower, &c.to_lowercase()), c))
        .filter(|(d, _)| *d <= limit)
        .min()
        .map(|(_, c)| c)
}

fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let next = (diagonal + usize::from(x != *y))
                .min(row[j] + 1)
                .min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j + 1] = next;
        }
    }
    row[b.len()]
}

/// What a name in scope stands for.
#[derive(Clone, Debug)]
enum Binding {
    Var(VarId),
    /// An element that a kernel has not taken yet.
    Element(VarId),
    /// Part of a hidden variable: the names of `let (a, b) = spawn!(..)`.
    Place(Expr),
    Closure(Rc<closures::Named>),
    /// An iterator that nothing ends where it is named.
    Chain(Rc<chains::Held>),
}

#[derive(Debug)]
struct LoopScope {
    label: Option<String>,
    id: LoopId,
    /// The type that `break` gives it; none for `while` and `for`, whose `break` has no value.
    value: Option<Ty>,
    /// Whether a `break` was seen.
    broken: bool,
    /// A labelled block takes `break` only with its label, and no `continue`.
    is_block: bool,
    /// A parallel loop is left by nothing but its end.
    parallel: bool,
    /// What a `break` leaves instead, of one that is part of several which stand for one.
    whole: Option<LoopId>,
}

impl LoopScope {
    /// What a `break` leaves.
    fn left(&self) -> LoopId {
        self.whole.unwrap_or(self.id)
    }
}

struct Checker<'m> {
    m: &'m mut Module,
    /// None in a constant.
    kind: Option<FunctionKind>,
    /// Whether the first parameter is an `Element`.
    held: bool,
    table: Table,
    vars: Vec<Var>,
    scopes: Vec<BTreeMap<String, Binding>>,
    loops: Vec<LoopScope>,
    next_loop: usize,
    parallel: BTreeMap<LoopId, Option<Team>>,
    ways: BTreeSet<(usize, usize)>,
    ret: Ty,
    /// Whether a pattern stands for what lies behind a reference that is not there.
    lends: bool,
    /// Calls of closures so far.
    closure_calls: usize,
    /// Functions whose bodies stand in the place of their calls so far, and around what is checked.
    inlined: usize,
    /// Whether something in the body is wrong, which has been said.
    broken: bool,
    depth: usize,
    /// Of these those that take closures, with the closures' texts.
    around: Vec<(crate::generics::TemplateId, Vec<String>)>,
    /// Where a `return` goes in such a body.
    returns_to: Option<LoopId>,
    /// Where the names are looked up of those around that such bodies stand in.
    callers: Vec<crate::generics::At>,
    /// Where the iterator or closure is wanted that a function gives: that, when it is there.
    giving: Option<Option<chains::Given>>,
    /// Whether an iterator gets a name that a closure ends with, which runs elsewhere.
    gives_away: bool,
    /// Whether a reference to what holds references may be written to what the function is lent.
    lends_holders: bool,
    /// Types of variables that are looked for in what stands behind these.
    ahead: ahead::Ahead,
}

impl<'m> Checker<'m> {
    fn new(m: &'m mut Module, kind: Option<FunctionKind>, ret: Ty) -> Self {
        let scopes = vec![BTreeMap::new()];
        Self {
            m,
            kind,
            held: false,
            table: Table::default(),
            vars: Vec::new(),
            scopes,
            loops: Vec::new(),
            next_loop: 0,
            parallel: BTreeMap::new(),
            ways: BTreeSet::new(),
            ret,
            lends: false,
            closure_calls: 0,
            inlined: 0,
            broken: false,
            depth: 0,
            around: Vec::new(),
            returns_to: None,
            callers: Vec::new(),
            giving: None,
            gives_away: false,
            lends_holders: false,
            ahead: ahead::Ahead::default(),
        }
    }

    /// The types of a function's parameters, as its signature says them.
    fn types_of(&mut self, item: &FnItem) -> Vec<Ty> {
        let inputs = item.sig.iter().flat_map(|sig| &sig.inputs);
        let written = inputs.filter_map(|input| match input {
            syn::FnArg::Typed(p) => Some(&*p.ty),
            syn::FnArg::Receiver(_) => None,
        });
        match item.kind {
            FunctionKind::Helper if item.sig.is_some() => {
                let mut types: Vec<Ty> = written
                    .zip(&item.params)
                    .map(|(written, (_, ty))| self.said(written, ty, &Guesses::default()))
                    .collect();
                let more = item.params.iter().skip(types.len());
                types.extend(more.map(|(_, ty)| Ty::from_type(ty)));
                types
            }
            _ => item
                .params
                .iter()
                .map(|(_, ty)| Ty::from_type(ty))
                .collect(),
        }
    }

    /// The variable of a parameter; one that is only a name is bound to it.
    fn parameter(&mut self, index: usize, pat: &syn::Pat, ty: &Ty) -> VarId {
        let name = plain_name(pat).unwrap_or_else(|| format!("arg{index}"));
        let var = self.add_var(&name, ty.clone());
        if let syn::Pat::Ident(p) = pat
            && plain_name(pat).is_some()
        {
            self.fix(var, p);
            let binding = if self.held && index == 0 {
                Binding::Element(var)
            } else {
                Binding::Var(var)
            };
            self.bind(&name, binding);
        }
        var
    }

    /// Notes that a variable which is declared without `mut` keeps its value.
    fn fix(&mut self, var: VarId, pat: &syn::PatIdent) {
        self.vars[var.0].fixed = pat.mutability.is_none().then(|| pat.ident.span());
    }

    fn take_apart(&mut self, pat: &syn::Pat, ty: &Ty, var: VarId, prologue: &mut Vec<Stmt>) {
        if plain_name(pat).is_some() || matches!(pat, syn::Pat::Wild(_)) {
            return;
        }
        let value = Expr::new(ExprKind::Var(var), ty.clone(), pat.span());
        self.let_argument(pat, ty, value, false, prologue);
    }

    fn add_var(&mut self, name: &str, ty: Ty) -> VarId {
        self.vars.push(Var {
            name: name.to_owned(),
            ty,
            addressed: false,
            awaits: false,
            fixed: None,
            guarded: false,
            lent: false,
        });
        VarId(self.vars.len() - 1)
    }

    fn bind(&mut self, name: &str, binding: Binding) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), binding);
        }
    }

    fn lookup(&self, name: &str) -> Option<&Binding> {
        self.scopes.iter().rev().find_map(|s| s.get(name))
    }

    fn scoped<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(BTreeMap::new());
        let value = f(self);
        self.scopes.pop();
        value
    }

    fn error(&mut self, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.m.diags.error(span, message)
    }

    /// An expression that stands for something wrong.
    fn broken(span: Span) -> Expr {
        Expr::new(ExprKind::Error, Ty::Error, span)
    }

    fn refuse(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) -> Expr {
        self.error(span, message).help(help);
        Self::broken(span)
    }

    /// Says that a type has to be known where it stands.
    fn unknown_here(&mut self, span: Span) -> Expr {
        self.error(span, "the type must be known here")
            .help("write the type where the variable is declared")
            .may_follow();
        Self::broken(span)
    }

    fn show(&self, ty: &Ty) -> String {
        self.table.show(ty, &self.m.structs)
    }

    fn shallow(&self, ty: &Ty) -> Ty {
        self.table.shallow(ty)
    }

    /// Names in scope that a misspelled one may have meant.
    fn suggestion(&self, name: &str) -> Option<String> {
        let locals = self
            .scopes
            .iter()
            .flat_map(|s| s.keys().map(String::as_str));
        let items = self
            .m
            .names
            .iter()
            .filter(|(_, i)| !matches!(i, Item::Alias(_)))
            .map(|(n, _)| n.as_str());
        self.m
            .known_elsewhere(name)
            .or_else(|| nearest(name, locals.chain(items)).map(|n| format!("did you mean `{n}`?")))
    }

    fn block(&mut self, block: &syn::Block, want: Option<&Ty>) -> Expr {
        let constants = self.constants_of(block);
        let value = self.scoped(|c| c.block_in_scope(block, want));
        for name in constants {
            self.m.names.remove(&name);
        }
        value
    }

    /// Lets a block's own constants be known, which its statements before them may name, too. They have names that nothing else has, so that nothing
    /// of the program means something else in this block.
    fn constants_of(&mut self, block: &syn::Block) -> Vec<String> {
        let (mut names, mut ids) = (Vec::new(), Vec::new());
        for stmt in &block.stmts {
            let syn::Stmt::Item(syn::Item::Const(c)) = stmt else {
                continue;
            };
            let (name, full) = (
                c.ident.to_string(),
                within(&self.m.at.here, &c.ident.to_string()),
            );
            if self.m.named(&name).is_some() || self.lookup(&name).is_some() {
                self.error(
                    c.ident.span(),
                    format!("the name `{name}` is defined more than once here"),
                )
                .help("give the constant of this block a name of its own");
            } else if name != "_" {
                ids.push((self.m.declare_const(&full, c.clone()), c.ident.span()));
                names.push(full);
            }
        }
        for (id, span) in ids {
            consts::value(self.m, id, span);
        }
        names
    }

    fn block_in_scope(&mut self, block: &syn::Block, want: Option<&Ty>) -> Expr {
        let (mut stmts, mut tail, mut diverges, mut broken) = (Vec::new(), None, false, false);
        let last = block.stmts.len().wrapping_sub(1);
        for (i, stmt) in block.stmts.iter().enumerate() {
            match stmt {
                syn::Stmt::Local(local) => {
                    self.local_before(local, &block.stmts[i + 1..], want, &mut stmts);
                }
                syn::Stmt::Item(syn::Item::Use(u)) => self.m.import(u),
                syn::Stmt::Item(syn::Item::Const(_)) => {}
                syn::Stmt::Item(item) if self.m.is_inside(item) => {}
                // A semicolon too many.
                syn::Stmt::Expr(syn::Expr::Verbatim(nothing), Some(_)) if nothing.is_empty() => {}
                syn::Stmt::Item(item) => {
                    self.error(item.span(), "an item inside a block")
                        .help("move it to the top of the function, or of the program's module");
                }
                syn::Stmt::Expr(e, None) if i == last => tail = Some(self.expr(e, want)),
                syn::Stmt::Macro(m) if i == last && m.semi_token.is_none() => {
                    tail = Some(self.macro_value(&m.mac, want))
                }
                syn::Stmt::Expr(e, semi) => {
                    let e = if semi.is_some() {
                        self.statement_before(e, &block.stmts[i + 1..], want)
                    } else {
                        self.expr_as(e, &Ty::unit())
                    };
                    diverges |= matches!(self.shallow(&e.ty), Ty::Never);
                    broken |= matches!(self.shallow(&e.ty), Ty::Error);
                    stmts.push(Stmt::Expr(e));
                }
                syn::Stmt::Macro(m) => {
                    let e = self.macro_statement(&m.mac);
                    diverges |= matches!(self.shallow(&e.ty), Ty::Never);
                    broken |= matches!(self.shallow(&e.ty), Ty::Error);
                    stmts.push(Stmt::Expr(e));
                }
            }
        }
        let ty = match &tail {
            _ if diverges => Ty::Never,
            Some(e) => e.ty.clone(),
            // A statement that is wrong may have been the way out.
            None if broken => Ty::Error,
            None => Ty::unit(),
        };
        Expr::new(
            ExprKind::Block(stmts, tail),
            ty,
            block.brace_token.span.close(),
        )
    }

    fn fresh_loop(&mut self) -> LoopId {
        self.next_loop += 1;
        LoopId(self.next_loop - 1)
    }
}

/// The name, if a pattern is nothing but one.
fn plain_name(pat: &syn::Pat) -> Option<String> {
    match pat {
        syn::Pat::Ident(p) if p.subpat.is_none() && p.by_ref.is_none() => Some(p.ident.to_string()),
        _ => None,
    }
}
