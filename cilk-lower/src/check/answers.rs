//! Children whose results are, or are part of, the value that a task ends with: `return spawn!(f(x))`, or `1 + spawn!(f(x))` as its last expression.
//!
//! A task ends with a sync, and its value is what is there then. So children that stand in that value are spawned in their order, the task syncs, and the value is
//! made of what they gave:
//!
//! ```text
//! return a[i].max(spawn!(f(x))) + spawn!(g(y));   =>   { let r0 = a[i]; let r1 = spawn!(f(x)); let r2 = spawn!(g(y)); sync!(); return r0.max(r1) + r2 }
//! ```
//!
//! A condition within the value, whose ways end with children or without, is given a name as a child is: `let r1 = if c { 5 } else { spawn!(g(y)) };`.
//!
//! What Rust evaluates before a child is evaluated before it, but for names that stand in no child and in nothing that may change them: they may themselves be
//! results that come with the sync. Where a child may not come to be at all, behind `&&`, in what a condition asks or behind the `?` of another child's result,
//! all stay where they are, and are refused there.

use super::{
    chains::own,
    let_spawns::may_be_spawn,
    macros::{is, spawn_macro},
};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeSet;
use syn::{
    Block, Expr, Stmt, parse_quote_spanned,
    spanned::Spanned,
    visit_mut::{self, VisitMut},
};

/// The body of a task with the syncs that its values want; none if it has no such value. `unit`: its value is `()`, so that a child as the last statement is one
/// that it does not wait for.
pub(super) fn settle(body: &Block, unit: bool) -> Option<Block> {
    let mut found = Found(false);
    let mut body = body.clone();
    found.visit_block_mut(&mut body);
    if !found.0 {
        return None;
    }
    let mut ends = Ends {
        unit,
        at_once: false,
        count: 0,
    };
    ends.visit_block_mut(&mut body);
    if !unit {
        ends.tail(&mut body);
    }
    Some(body)
}

/// A value with children in it: `a[i] + spawn!(f(x))`.
pub(super) struct Mapped {
    /// What Rust evaluates before the first child.
    pub(super) before: Vec<syn::Local>,
    /// The children, by the names of their results in the value.
    pub(super) children: Vec<(syn::Ident, syn::Macro)>,
    pub(super) value: Expr,
}

/// A value that is made of the results of children, which are sure to be spawned: none if the value is that of one, or is a tuple or an array of several, which
/// places take one by one.
pub(super) fn mapped(e: &Expr) -> Option<Mapped> {
    let mut count = Spawns(0);
    let mut value = e.clone();
    count.visit_expr_mut(&mut value);
    let are_taken = count.0 > 1 && matches!(e, Expr::Tuple(_) | Expr::Array(_));
    if are_taken || spawn_macro(e).is_some() || !has_child(&mut value) || !goes_on(&mut value) {
        return None;
    }
    let mut ends = Ends {
        unit: false,
        at_once: true,
        count: 0,
    };
    // The task goes on, and may change what its names lead to before the value is made.
    let (mut told, mut stmts) = (BTreeSet::new(), Vec::new());
    names_in(e.to_token_stream(), &mut told);
    ends.take(&mut value, false, &told, &mut stmts);
    let (mut before, mut children) = (Vec::new(), Vec::new());
    for stmt in stmts {
        let Stmt::Local(local) = stmt else { continue };
        let mac = local.init.as_ref().and_then(|init| spawn_macro(&init.expr));
        match (mac, &local.pat) {
            (Some(mac), syn::Pat::Ident(name)) => children.push((name.ident.clone(), mac.clone())),
            _ if children.is_empty() => before.push(local),
            // What stands between two children is evaluated between them.
            _ => return None,
        }
    }
    (children.len() == count.0).then_some(Mapped {
        before,
        children,
        value,
    })
}

/// Whether a child's result, or what is made of it, is a value.
pub(super) fn may_spawn(e: &Expr) -> bool {
    spawn_macro(e).is_some() || mapped(e).is_some()
}

/// An order in which the parts of a value can be given, those that are no child's result first; or a part whose value might be another one then.
pub(super) fn plain_first(parts: &[&Expr]) -> Result<Vec<usize>, usize> {
    let mut told = BTreeSet::new();
    for part in parts {
        names_used(&mut (*part).clone(), &mut told);
    }
    let (children, mut order): (Vec<_>, Vec<_>) =
        (0..parts.len()).partition(|i| may_spawn(parts[*i]));
    let is_behind = |i: &usize| children.first().is_some_and(|first| first < i);
    match (order.iter()).find(|i| is_behind(i) && !stays(parts[**i], &told)) {
        Some(i) => Err(*i),
        None => {
            order.extend(children);
            Ok(order)
        }
    }
}

/// Whether nothing that is evaluated behind the first child leaves the task or spawns, but for other children.
fn goes_on(e: &mut Expr) -> bool {
    if spawn_macro(e).is_some() {
        return true;
    }
    let mut parts = parts(e);
    let Some(child) = parts.iter_mut().position(|e| has_child(e)) else {
        return false;
    };
    let behind = parts.split_off(child);
    let mut behind = behind.into_iter();
    behind.all(|e| match has_child(e) {
        true => goes_on(e),
        false => is_plain(e),
    }) && !matches!(e, Expr::Try(_))
}

/// Whether a statement gives a child's result a name.
fn is_child(stmt: &Stmt) -> bool {
    let Stmt::Local(local) = stmt else {
        return false;
    };
    (local.init.as_ref()).is_some_and(|init| spawn_macro(&init.expr).is_some())
}

/// Whether an expression is computed and nothing else.
fn is_plain(e: &mut Expr) -> bool {
    match e {
        Expr::Lit(_) | Expr::Path(_) | Expr::Closure(_) => true,
        Expr::Try(_) => false,
        Expr::Binary(b) => is_plain(&mut b.left) && is_plain(&mut b.right),
        Expr::Reference(r) if r.mutability.is_some() => false,
        e => {
            let parts = parts(e);
            !parts.is_empty() && parts.into_iter().all(is_plain)
        }
    }
}

/// Counts children, wherever they stand.
struct Spawns(usize);

impl VisitMut for Spawns {
    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        self.0 += usize::from(is(mac, "spawn"));
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Looks for a child that stands where a value does.
struct Found(bool);

impl VisitMut for Found {
    fn visit_expr_mut(&mut self, e: &mut Expr) {
        self.0 |= spawn_macro(e).is_some();
        visit_mut::visit_expr_mut(self, e);
    }

    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        if let Stmt::Macro(m) = stmt {
            self.0 |= m.semi_token.is_none() && is(&m.mac, "spawn");
        }
        visit_mut::visit_stmt_mut(self, stmt);
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// The ways out of a task.
struct Ends {
    unit: bool,
    /// A name by itself stands for the value that it has before the children.
    at_once: bool,
    /// Names that were made.
    count: usize,
}

impl VisitMut for Ends {
    fn visit_expr_mut(&mut self, e: &mut Expr) {
        visit_mut::visit_expr_mut(self, e);
        let Expr::Return(r) = e else { return };
        let Some(value) = &mut r.expr else { return };
        if self.unit {
            if let Some(mac) = spawn_macro(value) {
                let at = r.return_token.span;
                *e = parse_quote_spanned!(at=> { #mac; return });
            }
        } else if matches!(**value, Expr::If(_) | Expr::Match(_) | Expr::Block(_)) {
            self.value(value);
        } else if may_settle(value) {
            let before = self.before(value);
            *e = parse_quote_spanned!(r.return_token.span=> { #(#before)* #r });
        }
    }

    // What returns there leaves the closure alone.
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Ends {
    /// A block whose value is the task's.
    fn tail(&mut self, block: &mut Block) {
        if let Some(Stmt::Macro(m)) = block.stmts.last()
            && m.semi_token.is_none()
        {
            let mac = m.mac.clone();
            block.stmts.pop();
            let attrs = Vec::new();
            let value = Expr::Macro(syn::ExprMacro { attrs, mac });
            block.stmts.push(Stmt::Expr(value, None));
        }
        if let Some(Stmt::Expr(value, None)) = block.stmts.last_mut() {
            self.value(value);
        }
    }

    /// An expression whose value is the task's.
    fn value(&mut self, e: &mut Expr) {
        match e {
            Expr::If(i) => {
                self.tail(&mut i.then_branch);
                if let Some((_, other)) = &mut i.else_branch {
                    self.value(other);
                }
            }
            Expr::Match(m) => m.arms.iter_mut().for_each(|arm| self.value(&mut arm.body)),
            Expr::Block(b) if b.label.is_none() => self.tail(&mut b.block),
            e => {
                if may_settle(e) {
                    let before = self.before(e);
                    *e = parse_quote_spanned!(e.span()=> { #(#before)* #e });
                }
            }
        }
    }

    /// What stands before a value that has children, which has names in their places then.
    fn before(&mut self, e: &mut Expr) -> Vec<Stmt> {
        let (mut told, mut stmts) = (BTreeSet::new(), Vec::new());
        names_used(e, &mut told);
        let at = e.span();
        self.take(e, false, &told, &mut stmts);
        let sync: Stmt = parse_quote_spanned!(at=> sync!(););
        stmts.push(sync);
        stmts
    }

    /// Takes out of an expression what is to be evaluated before the sync. `more`: a child comes behind it.
    fn take(&mut self, e: &mut Expr, more: bool, told: &BTreeSet<String>, out: &mut Vec<Stmt>) {
        if !has_child(e) {
            // What is only computed stays between children, too.
            let is_known = self.at_once
                && (matches!(e, Expr::Path(_)) || out.iter().any(is_child) && is_plain(e));
            if more && !is_known && !stays(e, told) {
                self.name(e, out);
            }
            return;
        }
        if spawn_macro(e).is_some() || has_ways(e) {
            return self.name(e, out);
        }
        let mut parts = parts(e);
        let last = parts.iter_mut().rposition(|e| has_child(e));
        for (i, part) in parts.into_iter().enumerate() {
            self.take(part, more || last.is_some_and(|l| i < l), told, out);
        }
    }

    /// Gives an expression a name.
    fn name(&mut self, e: &mut Expr, out: &mut Vec<Stmt>) {
        let at = e.span();
        let name = own(
            &format!("part_{}", self.count),
            Span::call_site().located_at(at),
        );
        self.count += 1;
        let stmt: Stmt = parse_quote_spanned!(at=> let #name = #e;);
        out.push(stmt);
        *e = parse_quote_spanned!(at=> #name);
    }
}

/// Whether a child is sure to be spawned where an expression is evaluated.
fn has_child(e: &mut Expr) -> bool {
    spawn_macro(e).is_some() || has_ways(e) || parts(e).into_iter().any(has_child)
}

/// Whether an expression is a condition some of whose ways end with a child, and which asks none.
fn has_ways(e: &mut Expr) -> bool {
    let mut asked = Spawns(0);
    match e {
        Expr::If(i) => asked.visit_expr_mut(&mut i.cond),
        Expr::Match(m) => {
            asked.visit_expr_mut(&mut m.expr);
            // Guards stand in patterns.
            (m.arms.iter_mut()).for_each(|arm| asked.visit_pat_mut(&mut arm.pat));
        }
        _ => return false,
    }
    asked.0 == 0 && may_be_spawn(e)
}

/// The parts of an expression that are evaluated whenever it is, in their order.
fn parts(e: &mut Expr) -> Vec<&mut Expr> {
    match e {
        Expr::Binary(b) if !matches!(b.op, syn::BinOp::And(_) | syn::BinOp::Or(_)) => {
            vec![&mut b.left, &mut b.right]
        }
        Expr::MethodCall(m) => std::iter::once(&mut *m.receiver)
            .chain(&mut m.args)
            .collect(),
        Expr::Call(c) => c.args.iter_mut().collect(),
        Expr::Tuple(t) => t.elems.iter_mut().collect(),
        Expr::Array(a) => a.elems.iter_mut().collect(),
        Expr::Struct(s) => s.fields.iter_mut().map(|f| &mut f.expr).collect(),
        Expr::Index(i) => vec![&mut i.expr, &mut i.index],
        Expr::Paren(p) => vec![&mut p.expr],
        Expr::Group(g) => vec![&mut g.expr],
        Expr::Unary(u) => vec![&mut u.expr],
        Expr::Cast(c) => vec![&mut c.expr],
        Expr::Field(f) => vec![&mut f.base],
        Expr::Try(t) => vec![&mut t.expr],
        Expr::Reference(r) => vec![&mut r.expr],
        _ => Vec::new(),
    }
}

/// Whether a value has children, and each of them is sure to come to be: none behind the `?` of another's result.
fn may_settle(e: &mut Expr) -> bool {
    has_child(e) && !leaves_between(e, &mut false)
}

/// Whether a child stands behind what may leave the task by another's result. `left`: something before may.
fn leaves_between(e: &mut Expr, left: &mut bool) -> bool {
    if spawn_macro(e).is_some() || has_ways(e) {
        return *left;
    }
    let asks = matches!(e, Expr::Try(_)) && has_child(e);
    let found = parts(e).into_iter().any(|part| leaves_between(part, left));
    *left |= asks;
    found
}

/// The names that stand in what children are given, and in what may change them beside.
fn names_used(e: &mut Expr, names: &mut BTreeSet<String>) {
    if let Some(mac) = spawn_macro(e) {
        return names_in(mac.tokens.clone(), names);
    }
    if has_ways(e) {
        return names_in(e.to_token_stream(), names);
    }
    if !has_child(e) {
        if !stays(e, &BTreeSet::new()) {
            names_in(e.to_token_stream(), names);
        }
        return;
    }
    for part in parts(e) {
        names_used(part, names);
    }
}

fn names_in(tokens: TokenStream, names: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(i) => drop(names.insert(i.to_string())),
            TokenTree::Group(g) => names_in(g.stream(), names),
            _ => {}
        }
    }
}

/// Whether an expression has the same value, and no effect, before a sync and behind it.
fn stays(e: &Expr, told: &BTreeSet<String>) -> bool {
    match e {
        Expr::Lit(_) | Expr::Closure(_) => true,
        Expr::Path(_) => {
            let mut names = BTreeSet::new();
            names_in(e.to_token_stream(), &mut names);
            names.is_disjoint(told)
        }
        Expr::Field(f) => stays(&f.base, told),
        Expr::Paren(p) => stays(&p.expr, told),
        Expr::Group(g) => stays(&g.expr, told),
        Expr::Cast(c) => stays(&c.expr, told),
        Expr::Unary(u) => !matches!(u.op, syn::UnOp::Deref(_)) && stays(&u.expr, told),
        Expr::Reference(r) => r.mutability.is_none() && stays(&r.expr, told),
        _ => false,
    }
}

/// The task that a path in a `spawn!` names: `task`, `self::task`.
pub(super) fn called(path: &syn::Path) -> Option<&syn::Ident> {
    let last = path.segments.last()?;
    let is_alone = match path.segments.len() {
        1 => true,
        2 => path.leading_colon.is_none() && path.segments[0].ident == "self",
        _ => false,
    };
    (is_alone && last.arguments.is_none()).then_some(&last.ident)
}
