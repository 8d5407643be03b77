//! Functions as values: where one is wanted, and where one is called.

use super::{Binding, Checker, chains, closures::Names, places::strip};
use crate::{
    hir::{Expr, ExprKind, FnId},
    items::Item,
    ty::{Class, Ty},
};
use millstream_graph::ty::Scalar;
use proc_macro2::Span;
use syn::spanned::Spanned;

impl Checker<'_> {
    /// Which type of functions that is, if it is one.
    pub(super) fn pointer_of(&self, ty: &Ty) -> Option<usize> {
        match self.shallow(ty) {
            Ty::Struct(id) => self.m.pointer(id),
            _ => None,
        }
    }

    /// Whether an expression is a value of a type of functions.
    pub(super) fn is_function(&mut self, e: &syn::Expr) -> bool {
        let ty = self.type_ahead(e);
        self.pointer_of(&ty).is_some()
    }

    /// A function by its name, or a closure, where a value of a type of functions is wanted; none if it is a value already.
    pub(super) fn as_pointer(&mut self, e: &syn::Expr, want: Option<&Ty>) -> Option<Expr> {
        let pointer = self.pointer_of(want?)?;
        let (e, span) = (strip(e), e.span());
        match e {
            syn::Expr::Closure(_) => {}
            syn::Expr::Path(p) => {
                let local = p.path.get_ident().and_then(|i| self.lookup(&i.to_string()));
                match local {
                    Some(Binding::Closure(named)) => {
                        // Another name of a function, or what captures nothing.
                        let closure = syn::Expr::Closure(named.syntax());
                        return self.as_pointer(&closure, want);
                    }
                    Some(_) => return None,
                    None => {}
                }
                let item = p.qself.is_none().then(|| self.m.item(&p.path)).flatten();
                if let Some(Item::Const(_)) = item {
                    return None;
                }
                let is_named = matches!(item, Some(Item::Fn(_) | Item::Template(_)));
                let ty = (!is_named).then(|| self.type_ahead(e));
                if ty.is_some_and(|ty| self.pointer_of(&ty).is_some()) {
                    return None;
                }
            }
            _ => return None,
        }
        let (id, inputs) = {
            let of = &self.m.pointers[pointer];
            (of.id, of.inputs.len())
        };
        if let syn::Expr::Closure(closure) = e
            && closure.inputs.len() != inputs
        {
            let gets = closure.inputs.len();
            return Some(self.refuse(
                span,
                format!("expected a closure that takes {inputs} arguments, this one takes {gets}"),
                "several in one are a tuple: `|(i, x)| ..`",
            ));
        }
        if let syn::Expr::Closure(closure) = e
            && let Some(name) = self.captured(closure)
        {
            return Some(self.refuse(
                span,
                format!("this closure captures `{name}`, and is a value of a type of functions"),
                "leave out the type where it has a name, `let f = |x| ..;`, or take `impl Fn(..) -> ..`",
            ));
        }
        let number = self.m.pointed(pointer, e);
        let number = Expr::new(
            ExprKind::Int(u128::from(number)),
            Ty::Scalar(Scalar::U32),
            span,
        );
        Some(Expr::structure(id, vec![(0, number)], span))
    }

    /// A variable around a closure that it names.
    fn captured(&self, closure: &syn::ExprClosure) -> Option<String> {
        let own = chains::bound_in(closure);
        let mut names = Names::of(&closure.body).into_iter();
        names.find(|name| !own.contains(name) && self.lookup(name).is_some())
    }

    /// Whether nothing is known of a type.
    pub(super) fn is_open(&self, ty: &Ty) -> bool {
        matches!(self.shallow(ty), Ty::Var(v) if self.table.class(v) == Class::Any)
    }

    /// A function as a value of its own type.
    pub(super) fn as_its_pointer(&mut self, path: &syn::ExprPath, id: FnId) -> Expr {
        let item = &self.m.fns[id.0];
        let inputs = item.params.iter().map(|(_, ty)| ty.clone()).collect();
        let ty = self.m.pointer_to(inputs, item.ret.clone());
        let of = syn::Expr::Path(path.clone());
        let value = self.as_pointer(&of, Some(&Ty::from_type(&ty)));
        value.unwrap_or_else(|| Self::broken(path.span()))
    }

    /// The call of a value that is a function; none if it is no such value.
    pub(super) fn call_pointer(
        &mut self,
        of: &syn::Expr,
        args: &[&syn::Expr],
        span: Span,
    ) -> Option<Expr> {
        let ty = self.type_ahead(of);
        let ty = match self.shallow(&ty) {
            Ty::Ref { target, .. } => *target,
            ty => ty,
        };
        let pointer = self.pointer_of(&ty)?;
        if self.kind.is_none() {
            return Some(self.refuse_in_constant(span));
        }
        let of = self.expr(of, None);
        let of = self.behind_refs(of);
        let (inputs, output) = {
            let of = &self.m.pointers[pointer];
            (of.inputs.clone(), of.output.clone())
        };
        let shown = self.show(&ty);
        let mut all = vec![of];
        all.extend(self.arguments(&shown, &inputs, args, span));
        let id = self.m.caller(pointer);
        Some(Expr::new(
            ExprKind::Call(id, all),
            Ty::from_type(&output),
            span,
        ))
    }
}
