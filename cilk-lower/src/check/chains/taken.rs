//! What Rust copies where a chain is made, and what is done with the copy shows: what a closure with `move` takes of variables that may change, and functions
//! that are values. Such a closure has a name in front of the loop, and the variables of one that has a name are its own.

use super::{
    super::{Binding, Checker, closures::Names, places::strip},
    Refused,
    given::bound_in,
    is_own,
    loops::{ADAPTORS, Loop},
    refused,
};
use crate::ty::Ty;
use millstream_graph::ty::Type;
use proc_macro2::TokenStream;
use quote::quote_spanned;
use std::collections::BTreeSet;
use syn::{
    parse_quote_spanned,
    spanned::Spanned,
    visit::{self, Visit},
};

/// Methods of arrays and slices that change nothing.
const READS: &[&str] = &[
    "len", "is_empty", "iter", "get", "first", "last", "contains", "windows", "chunks", "clone",
];

impl Checker<'_> {
    /// What an adaptor takes, by a name in front of the loop if that is copied there; all else is the same at each item.
    pub(super) fn taken_at_first(
        &mut self,
        all: &mut Loop,
        f: &syn::Expr,
    ) -> Result<syn::Expr, Refused> {
        let is_copied = match strip(f) {
            // What it names may be a variable of the closures around it, which nothing else sees.
            syn::Expr::Closure(closure) => {
                !self.stays(closure) || all.is_inside() && !self.changed_by(closure).is_empty()
            }
            f => self.is_copied_closure(f) || self.holds_function(f, Some(all)),
        };
        if !is_copied {
            return Ok(f.clone());
        }
        let names = Names::of(f);
        let runs_over = all
            .rounds
            .iter()
            .flat_map(|rounds| self.certainly_changed_in(&rounds.over));
        let is_var = |name: &String| !matches!(self.lookup(name), Some(Binding::Closure(_)));
        let mut changed = runs_over.filter(is_var);
        if let Some(name) = changed.find(|name| names.contains(name)) {
            return refused(
                f.span(),
                format!("this takes `{name}`, which what is run over changes"),
                "give that a name before: `let n = next(&mut seed);`",
            );
        }
        let (span, name) = (f.span(), all.variable("taken"));
        all.before.extend(quote_spanned!(span=> let #name = #f;));
        Ok(parse_quote_spanned!(span=> #name))
    }

    /// Whether that is the name of a closure which changes what it took: what it is given to has a copy. What an iterator with a name takes is its own, and
    /// in parentheses where it is a copy's.
    pub(in super::super) fn is_copied_closure(&self, f: &syn::Expr) -> bool {
        let syn::Expr::Path(p) = strip(f) else {
            return false;
        };
        p.path.get_ident().is_some_and(|name| {
            let is_copy = matches!(f, syn::Expr::Paren(_)) || !is_own(&name.to_string());
            is_copy && self.has_state(f)
        })
    }

    /// Whether that is the name of a closure which changes what it took.
    pub(super) fn has_state(&self, f: &syn::Expr) -> bool {
        let syn::Expr::Path(p) = strip(f) else {
            return false;
        };
        p.path.get_ident().is_some_and(|name| {
            matches!(self.lookup(&name.to_string()), Some(Binding::Closure(named)) if !named.state().is_empty())
        })
    }

    /// A copy of an iterator that has a name.
    pub(super) fn with_copies(&self, chain: &syn::Expr) -> syn::Expr {
        match strip(chain) {
            syn::Expr::MethodCall(m) => {
                let mut m = m.clone();
                *m.receiver = self.with_copies(&m.receiver);
                for arg in &mut m.args {
                    *arg = self.with_copies(arg);
                }
                syn::Expr::MethodCall(m)
            }
            e @ syn::Expr::Path(_) => {
                let copy = parse_quote_spanned!(e.span()=> (#e));
                match self.is_copied_closure(&copy) {
                    true => copy,
                    false => e.clone(),
                }
            }
            e => e.clone(),
        }
    }

    /// Whether a function's value is there, in what may have another one later; in front of a loop, if it is one's.
    pub(super) fn holds_function(&mut self, f: &syn::Expr, of_loop: Option<&Loop>) -> bool {
        let is_inside = of_loop.is_some_and(Loop::is_inside);
        let of = match strip(f) {
            syn::Expr::Reference(r) => strip(&r.expr),
            f => f,
        };
        if let syn::Expr::Path(p) = of {
            let Some(name) = p.path.get_ident() else {
                return false;
            };
            match self.lookup(&name.to_string()) {
                Some(Binding::Closure(_)) => return false,
                Some(Binding::Var(var)) if self.vars[var.0].fixed.is_some() => return false,
                // A function of the program, where it is no variable of what is around.
                None if !is_inside || self.m.named(&name.to_string()).is_some() => return false,
                _ => {}
            }
        }
        let there = of_loop.map_or_else(|| f.clone(), |all| all.there(f));
        let ty = self.type_ahead(&there);
        let ty = match self.shallow(&ty) {
            Ty::Ref { target, .. } => *target,
            ty => ty,
        };
        self.pointer_of(&ty).is_some()
    }

    /// The same call with names for the closures that change what they take, and what binds these in front of it; none if it has no such ones.
    pub(super) fn with_own_variables(
        &mut self,
        call: &syn::ExprMethodCall,
    ) -> Option<Result<syn::Expr, Refused>> {
        if !takes_by_move(call) {
            return None;
        }
        let mut named = call.clone();
        let (mut at, mut before) = (Some(&mut named), TokenStream::new());
        while let Some(m) = at {
            let ends = !ADAPTORS.iter().any(|name| m.method == name);
            for arg in &mut m.args {
                let span = arg.span();
                let is_function = ends && is_place_within(arg) && self.holds_function(arg, None);
                if is_function || self.is_copied_closure(arg) {
                    let name = self.held_name(span);
                    before.extend(quote_spanned!(span=> let #name = #arg;));
                    *arg = parse_quote_spanned!(span=> #name);
                    continue;
                }
                let syn::Expr::Closure(closure) = strip(arg) else {
                    continue;
                };
                let changed = self.changed_by(closure);
                if changed.is_empty() || self.stays(closure) || m.method == "flat_map" {
                    continue;
                }
                let others = self.certainly_changed_in(&syn::Expr::MethodCall(call.clone()));
                if let Some(name) = changed.iter().find(|name| others.contains(*name)) {
                    return Some(refused(
                        span,
                        format!("this closure has a copy of `{name}`, which is changed beside it"),
                        "give the closure a name before, `let mut f = move |x| ..;`, or what it is called on",
                    ));
                }
                let name = self.held_name(span);
                before.extend(quote_spanned!(span=> let #name = #arg;));
                *arg = parse_quote_spanned!(span=> #name);
            }
            at = match &mut *m.receiver {
                syn::Expr::MethodCall(m) => Some(m),
                _ => None,
            };
        }
        let span = call.span();
        (!before.is_empty()).then(|| Ok(parse_quote_spanned!(span=> { #before #named })))
    }

    /// The variables of its own that a closure with `move` may change.
    fn changed_by(&self, closure: &syn::ExprClosure) -> BTreeSet<String> {
        if closure.capture.is_none() {
            return BTreeSet::new();
        }
        let mut changed = self.changed_in(&closure.body);
        for name in bound_in(closure) {
            changed.remove(&name);
        }
        changed
    }

    /// Of what may be changed where an expression is evaluated, what is: assigned to, lent by `&mut`, or what has a method of the program called that
    /// takes it so. Of other methods it is not known here, and what they are called on is seldom changed.
    fn certainly_changed_in(&self, e: &syn::Expr) -> BTreeSet<String> {
        let mut changed = Changed::default();
        changed.visit_expr(e);
        let changes = |method: &String| {
            self.m.fns.iter().any(|f| {
                let is_it = f.name.rsplit("::").next() == Some(method);
                let first = f.params.first().map(|(_, ty)| ty);
                is_it && matches!(first, Some(Type::Ref { mutable: true, .. }))
            })
        };
        let may = self.changed_in(e);
        let called = changed.called.into_iter();
        let called = called.filter(|(of, by)| changes(by) && may.contains(of));
        let mut names = changed.names;
        names.extend(called.map(|(name, _)| name));
        names
    }

    /// The names of what may be changed where an expression is evaluated.
    pub(super) fn changed_in(&self, e: &syn::Expr) -> BTreeSet<String> {
        let mut changed = Changed::default();
        changed.visit_expr(e);
        let Changed { mut names, called } = changed;
        let may_change = |name: &String, method: &String| {
            let var = match self.lookup(name) {
                Some(Binding::Var(var)) => var,
                Some(Binding::Closure(_)) => return true,
                _ => return !method.is_empty(),
            };
            let (var, is_read) = (&self.vars[var.0], READS.contains(&method.as_str()));
            match self.shallow(&var.ty) {
                Ty::Scalar(_) => false,
                Ty::Ref { mutable, .. } | Ty::Mat { mutable, .. } => mutable,
                Ty::Slice { mutable, .. } => mutable && !is_read,
                _ if method.is_empty() || var.fixed.is_some() => false,
                Ty::Array(..) => !is_read,
                _ => true,
            }
        };
        let called = called.into_iter().filter(|(of, by)| may_change(of, by));
        names.extend(called.map(|(name, _)| name));
        names
    }
}

/// The names of what may be changed where an expression is evaluated, whatever they stand for.
pub(in super::super) fn changed_names(e: &syn::Expr) -> BTreeSet<String> {
    let mut changed = Changed::default();
    changed.visit_expr(e);
    let Changed { mut names, called } = changed;
    names.extend(called.into_iter().map(|(name, _)| name));
    names
}

/// Whether that is an element or a field, which may hold a function: `FNS[i]`, `rule.step`.
fn is_place_within(e: &syn::Expr) -> bool {
    matches!(strip(e), syn::Expr::Index(_) | syn::Expr::Field(_))
}

/// Whether a closure with `move`, or what may be the name of one, is an argument of a method, or of one that what it is called on comes from.
fn takes_by_move(m: &syn::ExprMethodCall) -> bool {
    let by_move = |arg: &syn::Expr| match strip(arg) {
        syn::Expr::Closure(c) => c.capture.is_some(),
        arg => matches!(arg, syn::Expr::Path(_)) || is_place_within(arg),
    };
    m.args.iter().any(by_move)
        || matches!(&*m.receiver, syn::Expr::MethodCall(m) if takes_by_move(m))
}

/// What may be changed where an expression is evaluated. What a closure with `move` changes is its own.
#[derive(Default)]
struct Changed {
    /// What is assigned to, or lent by `&mut`.
    names: BTreeSet<String>,
    /// What has methods called, and these; what is an argument or is called itself, with none.
    called: BTreeSet<(String, String)>,
}

impl Changed {
    /// The variables that places are, or are parts of.
    fn note(mut place: &syn::Expr, names: &mut BTreeSet<String>) {
        loop {
            place = match strip(place) {
                syn::Expr::Field(f) => &f.base,
                syn::Expr::Index(i) => &i.expr,
                syn::Expr::Unary(u) => &u.expr,
                syn::Expr::Tuple(parts) => {
                    return parts.elems.iter().for_each(|part| Self::note(part, names));
                }
                syn::Expr::Array(parts) => {
                    return parts.elems.iter().for_each(|part| Self::note(part, names));
                }
                syn::Expr::Path(p) => {
                    names.extend(p.path.get_ident().map(ToString::to_string));
                    return;
                }
                _ => return,
            };
        }
    }
}

impl<'e> Visit<'e> for Changed {
    fn visit_expr_assign(&mut self, a: &'e syn::ExprAssign) {
        Self::note(&a.left, &mut self.names);
        visit::visit_expr_assign(self, a);
    }

    fn visit_expr_binary(&mut self, b: &'e syn::ExprBinary) {
        if is_assignment(b.op) {
            Self::note(&b.left, &mut self.names);
        }
        visit::visit_expr_binary(self, b);
    }

    fn visit_expr_reference(&mut self, r: &'e syn::ExprReference) {
        if r.mutability.is_some() {
            Self::note(&r.expr, &mut self.names);
        }
        visit::visit_expr_reference(self, r);
    }

    fn visit_expr_method_call(&mut self, m: &'e syn::ExprMethodCall) {
        let (mut of, by) = (BTreeSet::new(), m.method.to_string());
        Self::note(&m.receiver, &mut of);
        self.called
            .extend(of.into_iter().map(|of| (of, by.clone())));
        visit::visit_expr_method_call(self, m);
    }

    fn visit_expr_call(&mut self, c: &'e syn::ExprCall) {
        let mut lent = BTreeSet::new();
        Self::note(&c.func, &mut lent);
        c.args.iter().for_each(|arg| Self::note(arg, &mut lent));
        self.called
            .extend(lent.into_iter().map(|of| (of, String::new())));
        visit::visit_expr_call(self, c);
    }

    fn visit_expr_closure(&mut self, c: &'e syn::ExprClosure) {
        if c.capture.is_none() {
            visit::visit_expr_closure(self, c);
        }
    }
}

const fn is_assignment(op: syn::BinOp) -> bool {
    use syn::BinOp::{
        AddAssign, BitAndAssign, BitOrAssign, BitXorAssign, DivAssign, MulAssign, RemAssign,
        ShlAssign, ShrAssign, SubAssign,
    };
    matches!(
        op,
        AddAssign(_)
            | SubAssign(_)
            | MulAssign(_)
            | DivAssign(_)
            | RemAssign(_)
            | BitXorAssign(_)
            | BitAndAssign(_)
            | BitOrAssign(_)
            | ShlAssign(_)
            | ShrAssign(_)
    )
}
