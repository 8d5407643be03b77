//! Branches, loops, and what leaves them.

use super::{
    Checker, LoopScope,
    iteration::is_parallel_attribute,
    patterns::{ArmSyntax, BodySyntax},
};
use crate::{
    hir::{Expr, ExprKind},
    ty::{BOOL, Ty},
};
use syn::spanned::Spanned;

/// The conditions of `a && let p = b && c`, if there is a `let` among them.
fn chained(cond: &syn::Expr) -> Option<Vec<&syn::Expr>> {
    fn gather<'e>(e: &'e syn::Expr, out: &mut Vec<&'e syn::Expr>) {
        match e {
            syn::Expr::Binary(b) if matches!(b.op, syn::BinOp::And(_)) => {
                gather(&b.left, out);
                gather(&b.right, out);
            }
            e => out.push(e),
        }
    }
    let mut out = Vec::new();
    gather(cond, &mut out);
    let has_let = out.iter().any(|e| matches!(e, syn::Expr::Let(_)));
    (out.len() > 1 && has_let).then_some(out)
}

/// The same `if` as one in the other, in a block that is left with its value.
fn if_chain(conditions: &[&syn::Expr], i: &syn::ExprIf) -> syn::Expr {
    let (span, then) = (i.span(), &i.then_branch);
    let own = super::chains::own("chain", span).to_string();
    let label = syn::Lifetime::new(&format!("'{own}"), span);
    let inner = match &i.else_branch {
        Some(_) => quote::quote_spanned!(span=> { break #label #then; }),
        None => quote::quote_spanned!(span=> #then),
    };
    let nested = conditions.iter().rev().fold(
        inner,
        |inner, cond| quote::quote_spanned!(span=> { if #cond #inner }),
    );
    match &i.else_branch {
        Some((_, other)) => syn::parse_quote_spanned!(span=> #label: { #nested #other }),
        None => syn::parse_quote_spanned!(span=> #nested),
    }
}

impl Checker<'_> {
    pub(super) fn if_else(&mut self, i: &syn::ExprIf, want: Option<&Ty>) -> Expr {
        let span = i.span();
        if let Some(conditions) = chained(&i.cond) {
            let chain = if_chain(&conditions, i);
            return self.expr(&chain, want);
        }
        if let syn::Expr::Let(l) = &*i.cond {
            let (rest, nothing) = (
                syn::parse_quote_spanned!(span=> _),
                syn::parse_quote_spanned!(span=> {}),
            );
            let other = i
                .else_branch
                .as_ref()
                .map_or(BodySyntax::Block(&nothing), |(_, other)| {
                    BodySyntax::Expr(other)
                });
            let arms = [
                ArmSyntax::new(&l.pat, BodySyntax::Block(&i.then_branch)),
                ArmSyntax::new(&rest, other),
            ];
            return self.matching_of(&l.expr, &arms, want, span);
        }
        let cond = self.expr_as(&i.cond, &BOOL);
        let Some((_, other)) = &i.else_branch else {
            let then = self.block(&i.then_branch, Some(&Ty::unit()));
            let then = self.coerce(then, &Ty::unit());
            return Expr::new(ExprKind::If(cond, then, None), Ty::unit(), span);
        };
        let then = self.block(&i.then_branch, want);
        let hint = if matches!(self.shallow(&then.ty), Ty::Never) {
            want.cloned()
        } else {
            Some(then.ty.clone())
        };
        let other = self.expr(other, hint.as_ref());
        let (then, other, ty) = self.join(then, other, want);
        Expr::new(ExprKind::If(cond, then, Some(other)), ty, span)
    }

    /// One type for two ways to a value.
    pub(super) fn join(&mut self, a: Expr, b: Expr, want: Option<&Ty>) -> (Expr, Expr, Ty) {
        if matches!(self.shallow(&a.ty), Ty::Never) {
            let ty = b.ty.clone();
            return (a, b, ty);
        }
        if matches!(self.shallow(&b.ty), Ty::Never) {
            let ty = a.ty.clone();
            return (a, b, ty);
        }
        let ty = match want.map(|w| self.shallow(w)) {
            Some(w @ (Ty::Slice { .. } | Ty::Ref { .. })) => w,
            _ if self.literal_as_wide(&a, &b.ty).is_some() => b.ty.clone(),
            _ => a.ty.clone(),
        };
        let (a, b) = (self.coerce(a, &ty), self.coerce(b, &ty));
        (a, b, ty)
    }

    pub(super) fn enter(
        &mut self,
        label: Option<&syn::Label>,
        value: Option<Ty>,
        is_block: bool,
    ) -> crate::hir::LoopId {
        let id = self.fresh_loop();
        let label = label.map(|l| l.name.ident.to_string());
        self.loops.push(LoopScope {
            label,
            id,
            value,
            broken: false,
            is_block,
            parallel: false,
            whole: None,
        });
        id
    }

    pub(super) fn labelled_block(&mut self, b: &syn::ExprBlock, want: Option<&Ty>) -> Expr {
        if super::chains::is_closure(&b.attrs) {
            let body = syn::Expr::Block(syn::ExprBlock {
                attrs: Vec::new(),
                ..b.clone()
            });
            return self.closure_body(&body, None, want);
        }
        if super::chains::is_round(&b.attrs) {
            return self.round(b, want);
        }
        let Some(label) = &b.label else {
            return self.block(&b.block, want);
        };
        let ty = self.fresh_any();
        let id = self.enter(Some(label), Some(ty.clone()), true);
        let body = self.block(&b.block, want);
        self.loops.pop();
        if matches!(self.shallow(&body.ty), Ty::Never) {
            return Expr::new(ExprKind::Labelled(id, body), ty, b.span());
        }
        let body = self.coerce(body, &ty);
        Expr::new(ExprKind::Labelled(id, body), ty, b.span())
    }

    /// The body of a `for` that several stand for: what leaves it leaves the whole.
    fn round(&mut self, b: &syn::ExprBlock, want: Option<&Ty>) -> Expr {
        let whole = super::chains::whole_label();
        let label = b.label.as_ref().map(|l| l.name.ident.to_string());
        let innermost = self.find_loop(None, true).map(|at| self.loops[at].id);
        let whole = self
            .find_loop(Some(&whole), false)
            .map(|at| self.loops[at].id);
        let Some(id) = innermost else {
            return self.block(&b.block, want);
        };
        self.loops.push(LoopScope {
            label,
            id,
            value: None,
            broken: false,
            is_block: false,
            parallel: false,
            whole,
        });
        let body = self.block(&b.block, want);
        self.loops.pop();
        body
    }

    pub(super) fn loop_forever(&mut self, l: &syn::ExprLoop) -> Expr {
        self.only_for(&l.attrs);
        let ty = self.fresh_any();
        let id = self.enter(l.label.as_ref(), Some(ty.clone()), false);
        let body = self.block(&l.body, Some(&Ty::unit()));
        let body = self.coerce(body, &Ty::unit());
        let broken = self.loops.pop().is_some_and(|l| l.broken);
        let ty = if broken { ty } else { Ty::Never };
        Expr::new(ExprKind::Loop(id, body), ty, l.span())
    }

    pub(super) fn while_loop(&mut self, w: &syn::ExprWhile) -> Expr {
        self.only_for(&w.attrs);
        let id = self.enter(w.label.as_ref(), None, false);
        if let syn::Expr::Let(l) = &*w.cond {
            let (rest, end) = (
                syn::parse_quote_spanned!(w.span()=> _),
                syn::parse_quote_spanned!(w.span()=> break),
            );
            let arms = [
                ArmSyntax::new(&l.pat, BodySyntax::Block(&w.body)),
                ArmSyntax::new(&rest, BodySyntax::Expr(&end)),
            ];
            let round = self.matching_of(&l.expr, &arms, Some(&Ty::unit()), w.span());
            let round = self.coerce(round, &Ty::unit());
            self.loops.pop();
            return Expr::new(ExprKind::Loop(id, round), Ty::unit(), w.span());
        }
        if let Some(conditions) = chained(&w.cond) {
            self.loops.pop();
            let (span, body, label) = (w.span(), &w.body, &w.label);
            let chain = syn::ExprIf {
                attrs: Vec::new(),
                if_token: syn::Token![if](span),
                cond: w.cond.clone(),
                then_branch: body.clone(),
                else_branch: Some((
                    syn::Token![else](span),
                    Box::new(syn::parse_quote_spanned!(span=> { break; })),
                )),
            };
            let chain = if_chain(&conditions, &chain);
            let whole = syn::parse_quote_spanned!(span=> #label loop { #chain });
            return self.expr(&whole, None);
        }
        let cond = self.expr_as(&w.cond, &BOOL);
        let body = self.block(&w.body, Some(&Ty::unit()));
        let body = self.coerce(body, &Ty::unit());
        self.loops.pop();
        Expr::new(ExprKind::While(id, cond, body), Ty::unit(), w.span())
    }

    pub(super) fn break_out(&mut self, b: &syn::ExprBreak) -> Expr {
        let span = b.span();
        let name = b.label.as_ref().map(|l| l.ident.to_string());
        let at = match self.find_loop(name.as_deref(), false) {
            Some(at) if self.stays_inside(at, false) => at,
            Some(_) => return self.leaves_parallel(span, "break"),
            None => return self.no_loop(span, name, "break"),
        };
        self.loops[at].broken = true;
        let (id, value) = (self.loops[at].left(), self.loops[at].value.clone());
        let value = match (&b.expr, value) {
            (Some(e), Some(ty)) => Some(self.expr_as(e, &ty)),
            (Some(e), None) => {
                self.error(
                    e.span(),
                    "only `loop` and labelled blocks take a value from `break`",
                )
                .help("set a variable before the `break`");
                None
            }
            (None, Some(ty)) => {
                if !self.table.unify(&ty, &Ty::unit()) {
                    let shown = self.show(&ty);
                    self.error(
                        span,
                        format!("this `break` has no value, others have `{shown}`"),
                    );
                }
                None
            }
            (None, None) => None,
        };
        Expr::new(ExprKind::Break(id, value), Ty::Never, span)
    }

    pub(super) fn continue_with(&mut self, c: &syn::ExprContinue) -> Expr {
        let name = c.label.as_ref().map(|l| l.ident.to_string());
        let at = match self.find_loop(name.as_deref(), true) {
            Some(at) if self.stays_inside(at, true) => at,
            Some(_) => return self.leaves_parallel(c.span(), "continue"),
            None => return self.no_loop(c.span(), name, "continue"),
        };
        Expr::new(ExprKind::Continue(self.loops[at].id), Ty::Never, c.span())
    }

    fn find_loop(&self, label: Option<&str>, to_continue: bool) -> Option<usize> {
        self.loops.iter().rposition(|l| match label {
            Some(name) => l.label.as_deref() == Some(name) && !(to_continue && l.is_block),
            None => !l.is_block,
        })
    }

    /// Whether a jump to a loop leaves no parallel one; it may go on to the next round of one.
    fn stays_inside(&self, at: usize, to_continue: bool) -> bool {
        let left = if to_continue { at + 1 } else { at };
        !self.loops[left..].iter().any(|l| l.parallel)
    }

    fn leaves_parallel(&mut self, span: proc_macro2::Span, what: &str) -> Expr {
        self.refuse(
            span,
            format!("`{what}` leaves a parallel loop, whose rounds run side by side"),
            "go through all rounds, `continue` where there is nothing to do, and gather what was found; or leave out `#[parallel]`",
        )
    }

    fn no_loop(&mut self, span: proc_macro2::Span, label: Option<String>, what: &str) -> Expr {
        match label {
            Some(name) => self.refuse(
                span,
                format!("there is no loop `'{name}` around this `{what}`"),
                "put the label in front of the loop",
            ),
            None => self.refuse(
                span,
                format!("`{what}` outside a loop"),
                "use `return` to leave the function",
            ),
        }
    }

    pub(super) fn return_value(&mut self, r: &syn::ExprReturn) -> Expr {
        // Of a closure, or of a body that stands where it is called, it leaves no more than that.
        let of = self.returns_to;
        let left = self.loops.iter().rev();
        let mut left = left.take_while(|l| Some(l.id) != of);
        if left.any(|l| l.parallel) {
            return self.leaves_parallel(r.span(), "return");
        }
        let ret = self.ret.clone();
        let value = match &r.expr {
            Some(e) => Some(self.expr_as(e, &ret)),
            None if ret.is_unit() => None,
            None => {
                let shown = self.show(&ret);
                self.error(
                    r.span(),
                    format!("this `return` has no value; the function returns `{shown}`"),
                );
                None
            }
        };
        let kind = match self.returns_to {
            None => ExprKind::Return(value),
            Some(id) => {
                self.loops.iter_mut().for_each(|l| l.broken |= l.id == id);
                ExprKind::Break(id, value)
            }
        };
        Expr::new(kind, Ty::Never, r.span())
    }

    /// Refuses `#[parallel]` of what is no `for`.
    fn only_for(&mut self, attrs: &[syn::Attribute]) {
        if let Some(attr) = attrs.iter().find(|a| is_parallel_attribute(a)) {
            self.error(attr.span(), "only a `for` can be parallel")
                .help("its number of rounds is known before the first: write `for i in 0..n`");
        }
    }
}
