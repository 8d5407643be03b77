//! Channels and elements in kernels: `emit`, and the paper's `talloc`, `enq`, `deq` and `tfree`.

use super::{Binding, Checker, nearest};
use crate::{
    hir::{Builtin, Expr, ExprKind, VarId},
    ty::Ty,
};
use proc_macro2::Span;
use syn::spanned::Spanned;

const CHANNEL_METHODS: &[&str] = &["emit", "talloc", "enq"];
const ELEMENT_METHODS: &[&str] = &["deq", "tfree"];

/// What `emit` is called elsewhere.
const PUTS: &[&str] = &[
    "send",
    "try_send",
    "push",
    "push_back",
    "put",
    "insert",
    "enqueue",
];

/// What a method is called on that only kernels have.
enum Handle {
    Channel(VarId),
    Element(VarId),
}

impl Checker<'_> {
    /// The channel or held element that an expression names, if it does.
    fn handle(&self, e: &syn::Expr) -> Option<Handle> {
        let syn::Expr::Path(p) = super::places::strip(e) else {
            return None;
        };
        match self.lookup(&p.path.get_ident()?.to_string())? {
            Binding::Var(v) if matches!(self.vars[v.0].ty, Ty::Channel(_)) => {
                Some(Handle::Channel(*v))
            }
            Binding::Element(v) => Some(Handle::Element(*v)),
            _ => None,
        }
    }

    /// A method of a channel or of a held element; none if the receiver is neither.
    pub(super) fn handle_method(&mut self, m: &syn::ExprMethodCall) -> Option<Expr> {
        let handle = self.handle(&m.receiver)?;
        let (span, name) = (m.span(), m.method.to_string());
        let args: Vec<&syn::Expr> = m.args.iter().collect();
        Some(match (handle, name.as_str(), args.as_slice()) {
            (Handle::Channel(channel), "emit" | "enq", [value]) => self.emit(channel, value, span),
            (Handle::Channel(channel), "talloc", []) => {
                let ty = self.element_of(channel);
                Expr::new(ExprKind::Method(Builtin::Zeroed, Vec::new()), ty, span)
            }
            (Handle::Element(var), "deq", []) => {
                Expr::new(ExprKind::Var(var), self.vars[var.0].ty.clone(), span)
            }
            // What is left of an element when its kernel has it is for those who run the kernel to free.
            (Handle::Element(_), "tfree", []) => {
                Expr::new(ExprKind::Tuple(Vec::new()), Ty::unit(), span)
            }
            (Handle::Channel(_), ..) => self.no_handle_method("a channel", m, CHANNEL_METHODS),
            (Handle::Element(_), ..) => self.no_handle_method("an element", m, ELEMENT_METHODS),
        })
    }

    fn emit(&mut self, channel: VarId, value: &syn::Expr, span: Span) -> Expr {
        let ty = self.element_of(channel);
        let value = self.expr_as(value, &ty);
        // Parameters are the first variables, in order.
        let before = &self.vars[..channel.0];
        let number = before.iter().filter(|v| matches!(v.ty, Ty::Channel(_)));
        Expr::new(ExprKind::Emit(number.count(), value), Ty::unit(), span)
    }

    fn element_of(&self, channel: VarId) -> Ty {
        match &self.vars[channel.0].ty {
            Ty::Channel(elem) => (**elem).clone(),
            _ => Ty::Error,
        }
    }

    fn no_handle_method(&mut self, what: &str, m: &syn::ExprMethodCall, known: &[&str]) -> Expr {
        let (at, name) = (m.method.span(), m.method.to_string());
        if known.contains(&name.as_str()) {
            let takes = if matches!(name.as_str(), "emit" | "enq") {
                "one argument, an element"
            } else {
                "no argument"
            };
            return self.refuse(
                at,
                format!("`{name}` takes {takes}"),
                format!("here are {}", m.args.len()),
            );
        }
        let help = match nearest(&name, known.iter().copied()) {
            _ if what == "a channel" && PUTS.contains(&name.as_str()) => {
                "did you mean `emit`?".to_owned()
            }
            Some(near) => format!("did you mean `{near}`?"),
            None if what == "a channel" => {
                "a kernel puts elements in, by `emit(..)`: `talloc()`, then `enq(..)`, is the same"
                    .to_owned()
            }
            None => "an element is taken by `deq()`".to_owned(),
        };
        self.refuse(at, format!("{what} has no method `{name}`"), help)
    }

    /// A channel or held element that stands where a value is wanted.
    pub(super) fn handle_value(&mut self, name: &str, element: bool, span: Span) -> Expr {
        let (what, help) = if element {
            ("is an element that is still in its channel", "deq()")
        } else {
            ("is a channel, and no value", "emit(..)")
        };
        self.refuse(
            span,
            format!("`{name}` {what}"),
            format!("write `{name}.{help}`"),
        )
    }
}
