//! What a chain evaluates before its first item, in Rust's order: `for i in (0..k).chain(k..n) { k += 1; }` runs over what `k` was. The loops of a chain evaluate
//! what they run over where they stand, one behind another, and behind what their adaptors count. Where that shows, all of it has names in front of the chain.

use super::{
    super::{
        Binding, Checker,
        closures::Names,
        iteration::{PARTS, ROWS},
        places::strip,
    },
    given::begun,
    is_own,
    loops::ADAPTORS,
    parts,
};
use crate::{
    hir::{Expr, ExprKind},
    ty::Ty,
};
use syn::spanned::Spanned;

impl Checker<'_> {
    /// The value of an expression that ends a chain, or of a `for` over one, as of the same expression with names for what the chain begins with; none if it
    /// does not show when that is evaluated, or there can be no names for it.
    pub(super) fn with_parts_at_first(
        &mut self,
        e: &syn::Expr,
        value: impl FnOnce(&mut Self, &syn::Expr) -> Expr,
    ) -> Option<Expr> {
        let mut parts = Vec::new();
        let is_chained = parts_of(e, &mut parts);
        let changing = parts.iter().filter(|e| self.may_change(e)).count();
        let mut parts = parts.into_iter();
        let shows =
            changing > 0 && is_chained || changing > 1 && parts.any(|e| self.changes_first(e));
        if !shows {
            return None;
        }
        let (chain, span) = (self.chain_within(e)?.clone(), e.span());
        let mut begins_with = Vec::new();
        parts_of(&chain, &mut begins_with);
        // All else is evaluated behind it.
        if !begins_with.into_iter().any(|e| self.may_change(e)) {
            return None;
        }
        self.scoped(|c| {
            let mut stmts = Vec::new();
            let held = c.hold(&chain, false, &mut stmts)?;
            let all = value(c, &begun(e, &chain, &held));
            let ty = all.ty.clone();
            Some(Expr::new(ExprKind::Block(stmts, Some(all)), ty, span))
        })
    }

    /// The iterator in an expression that ends it.
    fn chain_within<'e>(&mut self, e: &'e syn::Expr) -> Option<&'e syn::Expr> {
        match strip(e) {
            syn::Expr::MethodCall(m) if is_link(m) && !ADAPTORS.iter().any(|a| m.method == a) => {
                self.chain_within(&m.receiver)
            }
            e => self.links(e, &mut Vec::new()).is_some().then_some(e),
        }
    }

    /// Whether what a chain begins with changes something when it is evaluated, and not item by item.
    fn changes_first(&self, e: &syn::Expr) -> bool {
        match strip(e) {
            syn::Expr::MethodCall(m) if !is_link(m) => {
                self.changes_first(&m.receiver) || m.args.iter().any(|arg| self.changes_first(arg))
            }
            syn::Expr::Reference(r) => self.changes_first(&r.expr),
            syn::Expr::Closure(_) => false,
            e => !self.changed_in(e).is_empty(),
        }
    }

    /// Whether an expression may have another value later. What is borrowed stays.
    fn may_change(&self, e: &syn::Expr) -> bool {
        if let syn::Expr::MethodCall(m) = strip(e)
            && m.method != "into_iter"
            && m.args.is_empty()
            && let syn::Expr::Path(p) = strip(&m.receiver)
            && let Some(name) = p.path.get_ident()
            && let Some(Binding::Var(var)) = self.lookup(&name.to_string())
            && let Ty::Array(..) | Ty::Slice { mutable: true, .. } | Ty::Mat { mutable: true, .. } =
                self.shallow(&self.vars[var.0].ty)
        {
            return false;
        }
        let is_changing = |name: &String| match self.lookup(name) {
            Some(Binding::Var(var)) => {
                let var = &self.vars[var.0];
                let is_lent = matches!(
                    self.shallow(&var.ty),
                    Ty::Ref { mutable: true, .. }
                        | Ty::Slice { mutable: true, .. }
                        | Ty::Mat { mutable: true, .. }
                );
                var.fixed.is_none() || is_lent
            }
            // Its call may be another one.
            Some(Binding::Closure(_)) => true,
            _ => false,
        };
        let names = Names::of(e);
        names.iter().any(|name| !is_own(name) && is_changing(name))
    }
}

/// What an expression that ends a chain evaluates for it at first, but closures. Whether it runs over one after another.
fn parts_of<'e>(e: &'e syn::Expr, parts: &mut Vec<&'e syn::Expr>) -> bool {
    match strip(e) {
        syn::Expr::MethodCall(m) if is_link(m) => {
            let mut is_chained = parts_of(&m.receiver, parts) || m.method == "chain";
            for arg in &m.args {
                match strip(arg) {
                    syn::Expr::Closure(_) => {}
                    arg => is_chained |= parts_of(arg, parts),
                }
            }
            is_chained
        }
        e => {
            parts.push(e);
            false
        }
    }
}

/// Whether a method is called on an iterator or on what one comes to, and not on what it begins with.
pub(super) fn is_link(m: &syn::ExprMethodCall) -> bool {
    let name = m.method.to_string();
    let begins = matches!(&*name, "iter" | "iter_mut" | "into_iter" | "cycle")
        || ROWS.contains(&&*name)
        || PARTS.contains(&&*name)
        || parts::takes(&name).is_some();
    !begins
}
