//! Calls of functions, and constructors of structs.

use super::{Binding, Checker, associated::last_arguments, named::Call, nearest};
use crate::{
    generics::Known,
    hir::{Builtin, Expr, ExprKind, FnId},
    items::Item,
    ty::{BOOL, Ty, USIZE},
};
use millstream_graph::{
    ir::FunctionKind,
    ty::{Scalar, Type},
};
use proc_macro2::Span;
use std::rc::Rc;
use syn::spanned::Spanned;

impl Checker<'_> {
    pub(super) fn call(&mut self, c: &syn::ExprCall, want: Option<&Ty>) -> Expr {
        let span = c.span();
        let syn::Expr::Path(p) = super::places::strip(&c.func) else {
            // What the call of a function gives is called, or a closure where it stands.
            let mut stmts = Vec::new();
            let named = match super::places::strip(&c.func) {
                syn::Expr::Closure(closure) => Some(self.closure_named(closure, &mut stmts)),
                func => self.given_closure(func, &mut stmts),
            };
            if let Some(named) = named {
                let args: Vec<&syn::Expr> = c.args.iter().collect();
                let value = self.call_closure(&named, &args, want, span);
                let ty = value.ty.clone();
                return Expr::new(ExprKind::Block(stmts, Some(value)), ty, span);
            }
            let args: Vec<&syn::Expr> = c.args.iter().collect();
            if let Some(value) = self.call_pointer(&c.func, &args, span) {
                return value;
            }
            return self.refuse(
                c.func.span(),
                "only functions can be called, by their name",
                "a function is a value where a type says so, `fn(..) -> ..`",
            );
        };
        let args: Vec<&syn::Expr> = c.args.iter().collect();
        let call = Call {
            args: &args,
            want,
            span,
        };
        if let Some(value) = self.qualified_call(p, call) {
            return value;
        }
        let Some(path) = self.bare_path(p) else {
            return Self::broken(span);
        };
        // `f::<u32>(..)` is a name alone, too.
        let Some(ident) = (path.segments.len() == 1)
            .then(|| path.segments.first())
            .flatten()
            .map(|s| s.ident.clone())
        else {
            return self.associated_call(&path, &args, want, span);
        };
        let name = ident.to_string();
        if let Some(Binding::Closure(named)) = self.lookup(&name) {
            let named = Rc::clone(named);
            return self.call_closure(&named, &args, want, span);
        }
        let is_place = self.lookup(&name).is_some();
        let is_constant = !is_place && matches!(self.m.named(&name), Some(Item::Const(_)));
        if (is_place || is_constant)
            && let Some(value) = self.call_pointer(&c.func, &args, span)
        {
            return value;
        }
        match self.m.named(&name) {
            _ if is_place => self.refuse(
                ident.span(),
                format!("`{name}` is a variable, not a function"),
                "a function is a value where a type says so, `fn(..) -> ..`",
            ),
            Some(Item::Fn(id)) => {
                let value = self.call_fn(id, &args, span);
                self.itself(value)
            }
            Some(Item::Template(id)) => {
                let written = last_arguments(&path);
                self.call_template(id, &written, None, &args, want, span)
            }
            _ if self.variant_named(&path).is_some() => {
                self.associated_call(&path, &args, want, span)
            }
            _ if self.is_constructor(&path) => self.construct(&path, &args, want, span),
            None if self.m.whole_path(&path).is_some() => {
                self.associated_call(&path, &args, want, span)
            }
            // Rust's prelude has it.
            None if name == "size_of" && args.is_empty() => {
                let written = last_arguments(&path);
                let path = syn::parse_quote_spanned!(span=> ::std::mem::size_of #written);
                self.associated_call(&path, &args, want, span)
            }
            None if name == "drop" && args.len() == 1 => {
                let path = syn::parse_quote_spanned!(span=> ::std::mem::drop);
                self.associated_call(&path, &args, want, span)
            }
            None if name == "zeroed" && self.m.in_library() => {
                let ty = want.cloned().unwrap_or_else(|| self.fresh_any());
                Expr::new(ExprKind::Method(Builtin::Zeroed, Vec::new()), ty, span)
            }
            _ if crate::expanded::KNOWN.contains(&name.as_str()) => self.refuse(
                ident.span(),
                format!("`{name}` is a macro"),
                format!("write `{name}!(..)`"),
            ),
            _ => {
                let fns = self
                    .m
                    .names
                    .iter()
                    .filter(|(_, i)| matches!(i, Item::Fn(_)))
                    .map(|(n, _)| n.as_str());
                let help = match nearest(&name, fns) {
                    _ if self.m.known_elsewhere(&name).is_some() => {
                        self.m.known_elsewhere(&name).unwrap_or_default()
                    }
                    Some(n) => format!("did you mean `{n}`?"),
                    None => {
                        "a program calls its own functions; define it in this module".to_owned()
                    }
                };
                self.refuse(
                    ident.span(),
                    format!("there is no function `{name}` in this program"),
                    help,
                )
            }
        }
    }

    /// Whether a path names a struct without names of its fields, which is made like a function's result.
    pub(super) fn is_constructor(&self, path: &syn::Path) -> bool {
        if let Some(Known::Type(Type::Struct(id))) = self.m.known(path) {
            return self.m.structs[*id].tuple && !self.m.structs[*id].is_enum();
        }
        match self.m.item(path) {
            Some(Item::Struct(id)) => self.m.structs[id].tuple && !self.m.structs[id].is_enum(),
            Some(Item::Family(id)) => self.m.families[id.0].is_tuple(),
            _ => false,
        }
    }

    pub(super) fn construct(
        &mut self,
        path: &syn::Path,
        args: &[&syn::Expr],
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let Some(id) = self.struct_at(path, want) else {
            let fields = args.iter().enumerate();
            let fields: Vec<_> = fields.map(|(i, e)| (i.to_string(), *e)).collect();
            let made = self
                .family_at(path)
                .and_then(|family| self.struct_by_fields(family, &fields, want, span));
            let Some((id, fields)) = made else {
                return self.unknown_value(span);
            };
            return Expr::structure(id, fields, span);
        };
        let def = self.m.structs[id].clone();
        let types: Vec<Type> = def.fields.iter().map(|(_, t)| t.clone()).collect();
        let args = self.arguments(&def.name, &types, args, span);
        let fields = args.into_iter().enumerate().collect();
        let value = Expr::structure(id, fields, span);
        match self.m.known(path) {
            Some(_) => value,
            None => self.itself(value),
        }
    }

    /// A path without brackets: `<u32>::MAX` is `u32::MAX`, `<T as Shape>::SIDES` is `T::SIDES`.
    pub(super) fn bare_path(&mut self, p: &syn::ExprPath) -> Option<syn::Path> {
        let path = match &p.qself {
            None => p.path.clone(),
            Some(q) => match &*q.ty {
                syn::Type::Path(t) if t.qself.is_none() => {
                    let mut path = t.path.clone();
                    let rest = p.path.segments.iter().skip(q.position);
                    path.segments.extend(rest.cloned());
                    path
                }
                _ => {
                    self.error(
                        p.span(),
                        "a path of this form is not part of the task language",
                    )
                    .help("write `Type::name`");
                    return None;
                }
            },
        };
        if path.segments.len() == 1 && path.leading_colon.is_some() {
            self.error(p.span(), "a program uses only its own items")
                .help("leave out the `::` in front");
            return None;
        }
        Some(path)
    }

    pub(super) fn call_fn(&mut self, id: FnId, args: &[&syn::Expr], span: Span) -> Expr {
        if self.kind.is_none() {
            return match self.m.const_fns.get(&id).copied() {
                Some(of) => {
                    self.call_template(of, &syn::PathArguments::None, None, args, None, span)
                }
                None => self.refuse_in_constant(span),
            };
        }
        if self.m.fns[id.0].kind == FunctionKind::Kernel {
            self.refuse_kernel(id, span);
            return Self::broken(span);
        }
        let (args, ret) = self.fn_arguments(id, args, span);
        Expr::new(ExprKind::Call(id, args), ret, span)
    }

    /// Says that a kernel is neither called nor spawned.
    pub(super) fn refuse_kernel(&mut self, id: FnId, span: Span) {
        let (name, at) = (self.m.fns[id.0].name.clone(), self.m.fns[id.0].span);
        self.error(
            span,
            format!("`{name}` is a kernel: a graph runs it, over the elements of a channel"),
        )
        .help(
            "emit an element into the channel that it consumes, or move what both need to a helper",
        )
        .note(at, "it is defined here");
    }

    /// The checked arguments of a function of the program, and what it returns.
    pub(super) fn fn_arguments(
        &mut self,
        id: FnId,
        args: &[&syn::Expr],
        span: Span,
    ) -> (Vec<Expr>, Ty) {
        let item = self.m.fns[id.0].clone();
        let types: Vec<Type> = item.params.iter().map(|(_, t)| t.clone()).collect();
        (
            self.arguments(&item.name, &types, args, span),
            Ty::from_type(&item.ret),
        )
    }

    pub(super) fn arguments(
        &mut self,
        name: &str,
        types: &[Type],
        args: &[&syn::Expr],
        span: Span,
    ) -> Vec<Expr> {
        if types.len() != args.len() {
            let takes = types
                .iter()
                .map(|t| format!("`{}`", t.display(&self.m.structs)))
                .collect::<Vec<_>>()
                .join(", ");
            let count = |n: usize| {
                if n == 1 {
                    "1 argument".to_owned()
                } else {
                    format!("{n} arguments")
                }
            };
            self.error(
                span,
                format!(
                    "`{name}` takes {}, here are {}",
                    count(types.len()),
                    args.len()
                ),
            )
            .help(format!("it takes ({takes})"));
        }
        let mut out = Vec::new();
        for (i, arg) in args.iter().enumerate() {
            match types.get(i) {
                Some(ty) => out.push(self.expr_as(arg, &Ty::from_type(ty))),
                None => drop(self.expr(arg, None)),
            }
        }
        out
    }

    /// `T::from(x)` only where Rust has it: where no value is lost.
    pub(super) fn lossless(&mut self, value: &Expr, to: Scalar) {
        let Ty::Scalar(from) = self.shallow(&value.ty) else {
            // A literal: `u64::from(1)` takes whatever fits; rustc picks the type.
            let hint = if to.is_float() {
                Ty::Scalar(to)
            } else {
                self.shallow(&value.ty)
            };
            self.table.unify(&value.ty, &hint);
            return;
        };
        let mantissa = |s: Scalar| if s == Scalar::F32 { 24 } else { 53 };
        let sized = |s: Scalar| !matches!(s, Scalar::Usize | Scalar::Isize);
        let fits = from == to
            || match (from, to) {
                (Scalar::Bool, to) => to.is_int(),
                (Scalar::U8, Scalar::Usize | Scalar::Isize)
                | (Scalar::U16, Scalar::Usize)
                | (Scalar::I16 | Scalar::I8, Scalar::Isize) => true,
                (from, to) if from.is_int() && to.is_int() => {
                    let room = to.bits() > from.bits() && (to.is_signed() || !from.is_signed());
                    sized(from) && sized(to) && room
                }
                (from, to) if from.is_int() && to.is_float() => {
                    from.bits() <= mantissa(to) && sized(from)
                }
                (Scalar::F32, Scalar::F64) => true,
                _ => false,
            };
        if !fits {
            self.error(
                value.span,
                format!("`{to}::from` does not take `{from}`: a value could be lost"),
            )
            .help(format!("write `.. as {to}`"));
        }
    }

    pub(super) fn mem_call(&mut self, name: &str, args: &[&syn::Expr], span: Span) -> Expr {
        let place = match super::places::strip(args[0]) {
            syn::Expr::Reference(r)
                if r.mutability.is_some() && !matches!(&*r.expr, syn::Expr::Index(_)) =>
            {
                let place = self.expr(&r.expr, None);
                if let Ty::Slice { .. } | Ty::Ref { .. } | Ty::Mat { .. } = self.shallow(&place.ty)
                    && place.is_place()
                {
                    // Two references change places, as buffers do that take turns.
                    if name == "swap"
                        && let syn::Expr::Reference(other) = super::places::strip(args[1])
                        && other.mutability.is_some()
                    {
                        let (a, b) = (&r.expr, &other.expr);
                        let swap: syn::Expr = syn::parse_quote_spanned!(span=> (#a, #b) = (#b, #a));
                        return self.expr(&swap, None);
                    }
                    let of_slice = matches!(self.shallow(&place.ty), Ty::Slice { .. });
                    let new = match args.get(1) {
                        Some(new) => Some((*new).clone()),
                        None if of_slice => Some(syn::parse_quote_spanned!(span=> &mut [])),
                        None => None,
                    };
                    if name != "swap"
                        && let Some(new) = new
                    {
                        let of = &r.expr;
                        let replace = syn::parse_quote_spanned! {span=> {
                            let (old, new) = (#of, #new);
                            #of = new;
                            old
                        }};
                        return self.expr(&replace, None);
                    }
                    let shown = self.show(&place.ty);
                    let help = match name {
                        "swap" => "write `(a, b) = (b, a)`",
                        _ => "write `let old = a; a = new;`",
                    };
                    let message = format!("there is no `&mut` of a `{shown}` for `mem::{name}`");
                    return self.refuse(args[0].span(), message, help);
                }
                self.borrow(place, true, r.span())
            }
            _ => self.expr(args[0], None),
        };
        let Ty::Ref {
            mutable: true,
            target,
        } = self.shallow(&place.ty)
        else {
            return self.refuse(
                args[0].span(),
                format!("`mem::{name}` takes `&mut` places"),
                "write `&mut a`",
            );
        };
        let (want, builtin, ty) = match name {
            "swap" => (place.ty.clone(), Builtin::MemSwap, Ty::unit()),
            _ => ((*target).clone(), Builtin::MemReplace, (*target).clone()),
        };
        let other = match args.get(1) {
            Some(other) => self.expr_as(other, &want),
            None => self.default_of(&want, span),
        };
        Expr::new(ExprKind::Method(builtin, vec![place, other]), ty, span)
    }

    pub(super) fn mat_new(&mut self, mutable: bool, args: &[&syn::Expr], span: Span) -> Expr {
        let [data, rows, cols] = args else {
            return self.refuse(
                span,
                "a matrix view is made of a slice, its rows and its columns",
                "write `Mat::new(data, rows, cols)`",
            );
        };
        let elem = self.fresh_any();
        let data = self.expr_as(
            data,
            &Ty::Slice {
                mutable,
                elem: Box::new(elem.clone()),
            },
        );
        let rows = self.expr_as(rows, &USIZE);
        let cols = self.expr_as(cols, &USIZE);
        Expr::new(
            ExprKind::Method(Builtin::MatNew, vec![data, rows, cols]),
            Ty::Mat {
                mutable,
                elem: Box::new(elem),
            },
            span,
        )
    }

    /// A `bool` from a value.
    pub(super) fn to_bool(kind: ExprKind, span: Span) -> Expr {
        Expr::new(kind, BOOL, span)
    }
}
