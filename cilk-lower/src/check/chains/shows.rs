//! Whether it shows that an iterator makes an item: a closure changes something then, or may fail. Where it does, an item that Rust makes and does not use, as the
//! last of the longer side of a `zip`, is made too, and one that it does not make is not.

use super::{
    super::{
        Binding, Checker, closures::Names, fieldwise::is_constructor, iteration::PARTS,
        places::strip,
    },
    given::bound_in,
    loops::ADAPTORS,
    parts,
};
use crate::{items::Item, ty::Ty};
use syn::visit::{self, Visit};

/// Methods of Rust's own that may fail, whatever the program's options.
const FAILING: &[&str] = &[
    "unwrap",
    "expect",
    "unwrap_err",
    "expect_err",
    "div_euclid",
    "rem_euclid",
    "div_ceil",
    // Of a number with a sign; that is not known here.
    "isqrt",
    "ilog",
    "ilog2",
    "ilog10",
    "clamp",
    "split_at",
    "split_at_mut",
    "copy_from_slice",
    "clone_from_slice",
    "copy_within",
    "swap",
    "chunks",
    "chunks_exact",
    "rchunks",
    "rchunks_exact",
    "windows",
    "step_by",
    "row",
    "get_disjoint_mut",
    "rotate_left",
    "rotate_right",
    "next_multiple_of",
];

/// Methods of atomics that change them.
const ATOMIC: &[&str] = &["store", "swap", "compare_exchange", "compare_exchange_weak"];

impl Checker<'_> {
    /// Whether a closure may change something when it is called. `of_lent` says that it is given what it may change.
    pub(super) fn acts(&self, f: &syn::Expr, of_lent: bool) -> bool {
        let f = strip(f);
        let named = match f {
            syn::Expr::Closure(closure) => Some(closure.clone()),
            syn::Expr::Path(p) => match p
                .path
                .get_ident()
                .map(|name| self.lookup(&name.to_string()))
            {
                Some(Some(Binding::Closure(named))) => Some(named.syntax()),
                _ => None,
            },
            _ => return true,
        };
        let Some(closure) = named else {
            // A function changes what it is given alone.
            return of_lent || self.takes_atomics(f);
        };
        let mut changed = self.changed_in(&closure.body);
        // What is lent to it to be changed has names of its own.
        if !of_lent {
            let bound = bound_in(&closure);
            changed.retain(|name| !bound.contains(name));
        }
        let mut calls = Failing::default();
        calls.visit_expr(&closure.body);
        !changed.is_empty() || calls.atomics || calls.calls && self.names_atomics(&closure)
    }

    /// Whether a function of the program takes atomics; one whose parameters are not known may.
    fn takes_atomics(&self, f: &syn::Expr) -> bool {
        let syn::Expr::Path(p) = f else {
            return true;
        };
        match self.m.item(&p.path) {
            Some(Item::Fn(id)) => {
                let params = self.m.fns.get(id.0).map(|f| &f.params);
                params
                    .into_iter()
                    .flatten()
                    .any(|(_, ty)| Ty::from_type(ty).holds_atomics())
            }
            _ => false,
        }
    }

    /// Whether a closure names atomics, or what refers to them.
    fn names_atomics(&self, closure: &syn::ExprClosure) -> bool {
        Names::of(&closure.body)
            .iter()
            .any(|name| match self.lookup(name) {
                Some(Binding::Var(var)) => self.shallow(&self.vars[var.0].ty).holds_atomics(),
                _ => false,
            })
    }

    /// Whether it may show that a closure is called: it changes something, or may fail.
    pub(super) fn shows(&self, f: &syn::Expr, of_lent: bool) -> bool {
        if self.acts(f, of_lent) {
            return true;
        }
        let body = match strip(f) {
            syn::Expr::Closure(closure) => (*closure.body).clone(),
            syn::Expr::Path(p) => match p
                .path
                .get_ident()
                .map(|name| self.lookup(&name.to_string()))
            {
                Some(Some(Binding::Closure(named))) => (*named.syntax().body).clone(),
                _ => return !only_makes(f),
            },
            _ => return true,
        };
        let options = self.m.options;
        let mut failing = Failing {
            checked: options.checked,
            unchecked: options.unchecked,
            ..Failing::default()
        };
        failing.visit_expr(&body);
        failing.fails || failing.methods.iter().any(|name| self.m.has_methods(name))
    }

    /// Whether it may show that a chain makes an item: what it begins with draws that from code, or an adaptor's closure shows.
    pub(super) fn makes_visibly(&mut self, chain: &syn::Expr) -> bool {
        self.makes_by(chain, Self::shows)
    }

    /// Whether a chain may change something when it makes an item.
    pub(super) fn makes_by_changes(&mut self, chain: &syn::Expr) -> bool {
        self.makes_by(chain, Self::acts)
    }

    fn makes_by(
        &mut self,
        chain: &syn::Expr,
        is_such: fn(&Self, &syn::Expr, of_lent: bool) -> bool,
    ) -> bool {
        let mut adaptors = Vec::new();
        let Some(base) = self.links(chain, &mut adaptors) else {
            return false;
        };
        let draws = self.is_given(base) || self.draws_from(base).is_some();
        let draws = draws || self.is_own_iterator(base);
        if draws && !is_parts(base) && !matches!(strip(base), syn::Expr::Range(_)) {
            return true;
        }
        let of_lent =
            matches!(base, syn::Expr::MethodCall(m) if m.method.to_string().ends_with("_mut"));
        adaptors.into_iter().any(|m| match &*m.method.to_string() {
            "zip" | "chain" => m.args.iter().any(|other| self.makes_by(other, is_such)),
            "skip" | "take" | "step_by" => false,
            _ => m.args.iter().any(|f| is_such(self, f, of_lent)),
        })
    }

    /// Whether Rust takes the items of a chain by their numbers: beside another such one in a `zip`, no item is made that has none beside it.
    pub(super) fn is_indexed(&mut self, e: &syn::Expr) -> bool {
        if let Some(range) = self.range_of(e) {
            return range.end.is_some()
                && matches!(range.limits, syn::RangeLimits::HalfOpen(_))
                && self.draws_from(e).is_none()
                && !self.is_lent_range(e);
        }
        match strip(e) {
            syn::Expr::MethodCall(m) if self.is_own_method(m) => false,
            syn::Expr::MethodCall(m) => match (m.method.to_string().as_str(), m.args.len()) {
                ("map" | "skip", 1) | ("copied" | "cloned" | "enumerate", 0) => {
                    self.is_indexed(&m.receiver)
                }
                ("zip", 1) => self.is_indexed(&m.receiver) && self.is_indexed(&m.args[0]),
                ("iter" | "iter_mut", 0) => self.begins_optional(e).is_none(),
                ("into_iter", 0) => self.is_indexed(&m.receiver),
                ("rchunks" | "rchunks_exact" | "rchunks_mut" | "rchunks_exact_mut", 1) => true,
                (name, 1) => PARTS.contains(&name),
                _ => false,
            },
            e => {
                let ty = self.type_ahead(e);
                match self.shallow(&ty) {
                    Ty::Slice { .. } => true,
                    Ty::Ref { target, .. } => {
                        matches!(self.shallow(&target), Ty::Array(..) | Ty::Slice { .. })
                    }
                    _ => false,
                }
            }
        }
    }

    /// Whether Rust knows of a chain how many items it has: what takes all of two such ones beside each other takes as many of each as there are pairs.
    pub(super) fn is_trusted(&mut self, e: &syn::Expr) -> bool {
        if self.is_indexed(e) || self.range_of(e).is_some() || self.of_one(e).is_some() {
            return true;
        }
        match strip(e) {
            syn::Expr::MethodCall(m) if self.is_own_method(m) => false,
            syn::Expr::MethodCall(m) => match (m.method.to_string().as_str(), m.args.len()) {
                ("map" | "take", 1)
                | ("copied" | "cloned" | "enumerate" | "rev" | "by_ref" | "peekable", 0) => {
                    self.is_trusted(&m.receiver)
                }
                ("step_by", 1) => self.is_indexed(&m.receiver),
                ("zip" | "chain", 1) => self.is_trusted(&m.receiver) && self.is_trusted(&m.args[0]),
                ("iter" | "iter_mut", 0) => true,
                ("into_iter", 0) => self.is_trusted(&m.receiver),
                _ => false,
            },
            e => {
                let ty = self.type_ahead(e);
                matches!(self.shallow(&ty), Ty::Array(..) | Ty::Option(_))
            }
        }
    }

    /// What has as many items as a chain whose number of items is known before any is made, without what makes them, and takes none from what has them afterwards.
    pub(super) fn unmade(&mut self, chain: &syn::Expr) -> syn::Expr {
        let syn::Expr::MethodCall(m) = strip(chain) else {
            return self.copied_chain(chain);
        };
        let name = m.method.to_string();
        if !ADAPTORS.contains(&&*name) || self.is_own_method(m) {
            return self.copied_chain(chain);
        }
        let is_code =
            |f: &syn::Expr| matches!(strip(f), syn::Expr::Closure(_) | syn::Expr::Path(_));
        let of = self.unmade(&m.receiver);
        match name.as_str() {
            "copied" | "cloned" | "enumerate" | "rev" | "peekable" => of,
            "map" | "inspect" if m.args.iter().all(is_code) => of,
            _ => {
                let mut m = m.clone();
                *m.receiver = of;
                if name == "zip" || name == "chain" {
                    m.args = m.args.iter().map(|other| self.unmade(other)).collect();
                }
                syn::Expr::MethodCall(m)
            }
        }
    }
}

/// Whether that draws the parts of a slice which no `for` knows.
fn is_parts(e: &syn::Expr) -> bool {
    matches!(strip(e), syn::Expr::MethodCall(m) if parts::takes(&m.method.to_string()) == Some(0))
}

/// Whether that names what makes a value of its parts, or of another type, and no more: `Some`, `Point`, `u64::from`.
fn only_makes(e: &syn::Expr) -> bool {
    let syn::Expr::Path(p) = strip(e) else {
        return false;
    };
    let segments = &p.path.segments;
    let is_from = segments.len() == 2 && segments.last().is_some_and(|last| last.ident == "from");
    is_constructor(strip(e)) || is_from
}

/// What in a closure's body may fail or not end.
#[derive(Default)]
struct Failing {
    checked: bool,
    unchecked: bool,
    fails: bool,
    /// Whether it calls anything, and changes atomics itself.
    calls: bool,
    atomics: bool,
    /// Methods that may be the program's.
    methods: Vec<String>,
}

impl<'e> Visit<'e> for Failing {
    fn visit_expr(&mut self, e: &'e syn::Expr) {
        match e {
            syn::Expr::Index(_) => self.fails |= !self.unchecked,
            syn::Expr::Macro(_)
            | syn::Expr::While(_)
            | syn::Expr::Loop(_)
            | syn::Expr::ForLoop(_) => self.fails = true,
            syn::Expr::Binary(b) => {
                let divides = matches!(
                    b.op,
                    syn::BinOp::Div(_)
                        | syn::BinOp::Rem(_)
                        | syn::BinOp::DivAssign(_)
                        | syn::BinOp::RemAssign(_)
                );
                let by_literal = matches!(strip(&b.right), syn::Expr::Lit(_));
                let compares = matches!(
                    b.op,
                    syn::BinOp::Eq(_)
                        | syn::BinOp::Ne(_)
                        | syn::BinOp::Lt(_)
                        | syn::BinOp::Le(_)
                        | syn::BinOp::Gt(_)
                        | syn::BinOp::Ge(_)
                        | syn::BinOp::And(_)
                        | syn::BinOp::Or(_)
                );
                self.fails |= divides && !by_literal || self.checked && !compares;
            }
            syn::Expr::Unary(u) => self.fails |= self.checked && matches!(u.op, syn::UnOp::Neg(_)),
            syn::Expr::Call(call) => {
                self.calls = true;
                self.fails |= !only_makes(&call.func);
            }
            syn::Expr::MethodCall(m) => {
                let name = m.method.to_string();
                self.calls = true;
                self.atomics |= name.starts_with("fetch_") || ATOMIC.contains(&&*name);
                self.fails |= self.checked || FAILING.contains(&&*name);
                self.methods.push(name);
            }
            _ => {}
        }
        visit::visit_expr(self, e);
    }

    fn visit_stmt_macro(&mut self, _: &'e syn::StmtMacro) {
        self.fails = true;
    }
}
