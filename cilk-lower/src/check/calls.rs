//! Calls of functions, constructors of structs, and what hangs on the names of types: `u32::MAX`, `AtomicU32::new(0)`.

use super::{Binding, Checker, nearest, sums::Sum};
use crate::{
    hir::{Builtin, Expr, ExprKind, FnId},
    impls::full_name,
    items::{Item, ident},
    ty::{BOOL, Ty, U32, USIZE},
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
            return self.refuse(
                c.func.span(),
                "only functions can be called, by their name",
                "there are no function values",
            );
        };
        let args: Vec<&syn::Expr> = c.args.iter().collect();
        let Some(path) = self.bare_path(p) else {
            return Self::broken(span);
        };
        let Some(ident) = path.get_ident() else {
            return self.associated_call(&path, &args, want, span);
        };
        let name = ident.to_string();
        if let Some(Binding::Closure(named)) = self.lookup(&name) {
            let named = Rc::clone(named);
            return self.call_closure(&named, &args, want, span);
        }
        match self.m.names.get(&name).copied() {
            _ if self.lookup(&name).is_some() => self.refuse(
                ident.span(),
                format!("`{name}` is a variable, not a function"),
                "there are no function values",
            ),
            Some(Item::Fn(id)) => self.call_fn(id, &args, span),
            Some(Item::Struct(id)) if self.m.structs[id].tuple && !self.m.structs[id].is_enum() => {
                let types: Vec<Type> = self.m.structs[id]
                    .fields
                    .iter()
                    .map(|(_, t)| t.clone())
                    .collect();
                let args = self.arguments(&name, &types, &args, span);
                let fields = args.into_iter().enumerate().collect();
                Expr::new(
                    ExprKind::Struct {
                        id,
                        fields,
                        base: None,
                    },
                    Ty::Struct(id),
                    span,
                )
            }
            None if self.variant_named(&path).is_some() || self.m.whole_path(&path).is_some() => {
                self.associated_call(&path, &args, want, span)
            }
            _ if super::macros::KNOWN.contains(&name.as_str()) => self.refuse(
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

    /// A path without brackets: `<u32>::MAX` is `u32::MAX`.
    pub(super) fn bare_path(&mut self, p: &syn::ExprPath) -> Option<syn::Path> {
        let path = match &p.qself {
            None => p.path.clone(),
            Some(q) => match &*q.ty {
                syn::Type::Path(t) if q.position == 0 && t.qself.is_none() => {
                    let mut path = t.path.clone();
                    path.segments.extend(p.path.segments.iter().cloned());
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
            return self.refuse(
                span,
                "a constant cannot call a function of the program",
                "write the value out",
            );
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

    /// A path of several segments as a value: a constant of a type.
    pub(super) fn associated(&mut self, path: &syn::Path, want: Option<&Ty>) -> Expr {
        let span = path.span();
        let path = &self.m.whole_path(path).unwrap_or_else(|| path.clone());
        if let Some(named) = self.variant_named(path) {
            return self.variant_value(&named, want, span);
        }
        let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        let [.., owner, name] = names.as_slice() else {
            return Self::broken(span);
        };
        if let Some(value) = float_const(&names) {
            let ty = names
                .iter()
                .find_map(|n| Scalar::from_name(n))
                .unwrap_or(Scalar::F64);
            let value = if ty == Scalar::F32 {
                f64::from(value as f32)
            } else {
                value
            };
            return Expr::new(ExprKind::Float(value), Ty::Scalar(ty), span);
        }
        if let Some(owner) = self.struct_named(owner) {
            return match self.m.names.get(&full_name(&owner, name)).copied() {
                Some(Item::Const(id)) => self.constant(id, span),
                Some(_) => self.refuse(
                    span,
                    format!("the function `{owner}::{name}` is used as a value"),
                    format!("call it: `{owner}::{name}(..)`"),
                ),
                None if self
                    .m
                    .structs
                    .find(&owner)
                    .is_some_and(|id| self.m.structs[id].is_enum()) =>
                {
                    let known: Vec<String> = self
                        .m
                        .structs
                        .find(&owner)
                        .into_iter()
                        .flat_map(|id| &self.m.structs[id].variants)
                        .map(|v| format!("`{}`", v.name))
                        .collect();
                    self.refuse(
                        span,
                        format!("the enum `{owner}` has no variant `{name}`"),
                        format!("there are {}", known.join(", ")),
                    )
                }
                None => {
                    let help =
                        self.member_help(&owner, name, "write it in an `impl` block of the struct");
                    self.refuse(span, format!("`{owner}` has no constant `{name}`"), help)
                }
            };
        }
        let Some(scalar) = self.type_named(owner) else {
            if owner == "self" || owner == "super" || owner == "crate" {
                return self.refuse(
                    span,
                    "a program uses only its own items",
                    format!("define `{name}` in this module"),
                );
            }
            return self.refuse(
                span,
                format!("there is no `{owner}::{name}` in the task language"),
                "docs/language.md lists what there is",
            );
        };
        if name == "BITS" && scalar.is_int() {
            return Expr::new(ExprKind::Int(u128::from(scalar.bits())), U32, span);
        }
        if let Some(value) = int_limit(scalar, name) {
            return Expr::new(ExprKind::Int(value), Ty::Scalar(scalar), span);
        }
        if let Some(value) = float_limit(scalar, name) {
            return Expr::new(ExprKind::Float(value), Ty::Scalar(scalar), span);
        }
        self.refuse(
            span,
            format!("`{scalar}` has no constant `{name}`"),
            "there are MIN, MAX and BITS; of floats EPSILON, INFINITY, NAN and more",
        )
    }

    /// The scalar type of that name, through aliases.
    fn type_named(&mut self, name: &str) -> Option<Scalar> {
        if let Some(s) = Scalar::from_name(name).filter(|s| *s != Scalar::Ptr) {
            return Some(s);
        }
        if let Some(Item::Alias(_)) = self.m.names.get(name) {
            return self.named_type(name).scalar();
        }
        None
    }

    /// What the name of a type stands for.
    fn named_type(&mut self, name: &str) -> Type {
        let ident = ident(name, Span::call_site());
        self.m.resolve_type(&syn::parse_quote!(#ident))
    }

    /// The struct of that name, through aliases.
    fn struct_named(&mut self, name: &str) -> Option<String> {
        let id = match self.m.names.get(name)? {
            Item::Struct(id) => *id,
            Item::Alias(_) => match self.named_type(name) {
                Type::Struct(id) => id,
                _ => return None,
            },
            _ => return None,
        };
        Some(self.m.structs[id].name.clone())
    }

    fn associated_call(
        &mut self,
        path: &syn::Path,
        args: &[&syn::Expr],
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let path = &self.m.whole_path(path).unwrap_or_else(|| path.clone());
        if let Some(named) = self.variant_named(path) {
            return self.variant_call(&named, args, want, span);
        }
        let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        let [.., owner, name] = names.as_slice() else {
            return Self::broken(span);
        };
        match (owner.as_str(), name.as_str()) {
            ("cmp", "min" | "max") if args.len() == 2 => {
                let first = self.expr(args[0], want);
                if let Ty::Tuple(_) | Ty::Struct(_) = self.shallow(&first.ty) {
                    let ty = first.ty.clone();
                    let second = self.expr_as(args[1], &ty);
                    if let Some(greater) = self.greater(name, first.clone(), second) {
                        return greater;
                    }
                }
                return self.scalar_method(first, name, &args[1..], path.span(), span);
            }
            ("mem", "swap" | "replace") if args.len() == 2 => {
                return self.mem_call(name, args, span);
            }
            ("mem", "take") if args.len() == 1 => return self.mem_call(name, args, span),
            ("Default", "default") if args.is_empty() => {
                let ty = want.cloned().unwrap_or_else(|| self.fresh_any());
                return self.default_of(&ty, span);
            }
            ("Mat" | "MatMut", "new") => return self.mat_new(owner == "MatMut", args, span),
            ("millstream", "on_gpu") if args.is_empty() => {
                if self.kind == Some(FunctionKind::Task) {
                    return Expr::new(ExprKind::Wide, BOOL, span);
                }
                return self.refuse(
                    span,
                    "only a task asks for the device that it runs on",
                    "ask in the task, and pass what depends on it",
                );
            }
            _ => {}
        }
        if let Some(inner) = owner
            .strip_prefix("Atomic")
            .and_then(|s| Scalar::from_name(&s.to_lowercase()))
            && name == "new"
            && args.len() == 1
        {
            let value = self.expr_as(args[0], &Ty::Scalar(inner));
            return Expr::new(
                ExprKind::Method(Builtin::AtomicNew, vec![value]),
                Ty::Atomic(inner),
                span,
            );
        }
        if let Some(owner) = self.struct_named(owner) {
            return match self.m.names.get(&full_name(&owner, name)).copied() {
                Some(Item::Fn(id)) => self.call_fn(id, args, span),
                _ if name == "default" && args.is_empty() => match self.m.structs.find(&owner) {
                    Some(id) => self.default_of(&Ty::Struct(id), span),
                    None => Self::broken(span),
                },
                _ => {
                    let known: Vec<String> = match self.m.structs.find(&owner) {
                        Some(id) => self.variants(Sum::Enum(id)),
                        None => Vec::new(),
                    }
                    .into_iter()
                    .map(|v| format!("`{}`", v.name))
                    .collect();
                    let otherwise = match known.is_empty() {
                        true => "write it in an `impl` block of the struct".to_owned(),
                        false => format!("there are the variants {}", known.join(", ")),
                    };
                    let help = self.member_help(&owner, name, &otherwise);
                    self.refuse(
                        path.span(),
                        format!("`{owner}` has no function `{name}`"),
                        help,
                    )
                }
            };
        }
        let Some(scalar) = self.type_named(owner) else {
            let shown = names.join("::");
            return self.refuse(
                path.span(),
                format!("there is no function `{shown}` in the task language"),
                match owner.as_str() {
                    "Vec" | "Box" | "Rc" | "Arc" | "String" | "VecDeque" | "HashMap"
                    | "BTreeMap" | "HashSet" | "BTreeSet" => {
                        "nothing is allocated in a task: use an array, or pass a slice"
                    }
                    _ => "a program calls its own functions",
                },
            );
        };
        let ty = Ty::Scalar(scalar);
        match (name.as_str(), args) {
            ("from", [value]) => {
                let value = self.expr(value, None);
                let value = self.behind_refs(value);
                self.lossless(&value, scalar);
                Expr::new(ExprKind::Cast(value), ty, span)
            }
            ("from_bits", [value]) if scalar.is_float() => {
                let bits = if scalar == Scalar::F32 {
                    Scalar::U32
                } else {
                    Scalar::U64
                };
                let value = self.expr_as(value, &Ty::Scalar(bits));
                Expr::new(ExprKind::Bitcast(value), ty, span)
            }
            ("from_be_bytes" | "from_le_bytes", [bytes]) if scalar.is_int() => {
                let array = Ty::Array(
                    Box::new(Ty::Scalar(Scalar::U8)),
                    u64::from(scalar.bits() / 8),
                );
                let bytes = self.expr_as(bytes, &array);
                let big = name == "from_be_bytes";
                Expr::new(
                    ExprKind::Method(Builtin::FromBytes { big }, vec![bytes]),
                    ty,
                    span,
                )
            }
            ("default", []) => self.default_of(&ty, span),
            ("try_from", [_]) => self.refuse(
                path.span(),
                format!("`{scalar}` has no function `try_from`"),
                format!("compare with `{scalar}::MAX`, then write `.. as {scalar}`"),
            ),
            (_, [receiver, rest @ ..]) => {
                let mut receiver = self.expr(receiver, Some(&ty));
                // These take `&self`.
                if name.contains("ascii") {
                    receiver = self.behind_refs(receiver);
                }
                let receiver = self.coerce(receiver, &ty);
                self.scalar_method(receiver, name, rest, path.span(), span)
            }
            _ => self.refuse(
                path.span(),
                format!("`{scalar}` has no function `{name}`"),
                "docs/language.md lists what there is",
            ),
        }
    }

    /// `T::from(x)` only where Rust has it: where no value is lost.
    fn lossless(&mut self, value: &Expr, to: Scalar) {
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

    fn mem_call(&mut self, name: &str, args: &[&syn::Expr], span: Span) -> Expr {
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

    fn mat_new(&mut self, mutable: bool, args: &[&syn::Expr], span: Span) -> Expr {
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

fn int_limit(ty: Scalar, name: &str) -> Option<u128> {
    if !ty.is_int() {
        return None;
    }
    let all = (1u128 << ty.bits()) - 1;
    Some(match (name, ty.is_signed()) {
        ("MAX", false) => all,
        ("MAX", true) => all >> 1,
        ("MIN", false) => 0,
        // Two's complement in the type's width.
        ("MIN", true) => (all >> 1) + 1,
        _ => return None,
    })
}

fn float_limit(ty: Scalar, name: &str) -> Option<f64> {
    let pick = |single: f32, double: f64| match ty {
        Scalar::F32 => Some(f64::from(single)),
        Scalar::F64 => Some(double),
        _ => None,
    };
    match name {
        "MAX" => pick(f32::MAX, f64::MAX),
        "MIN" => pick(f32::MIN, f64::MIN),
        "MIN_POSITIVE" => pick(f32::MIN_POSITIVE, f64::MIN_POSITIVE),
        "EPSILON" => pick(f32::EPSILON, f64::EPSILON),
        "INFINITY" => pick(f32::INFINITY, f64::INFINITY),
        "NEG_INFINITY" => pick(f32::NEG_INFINITY, f64::NEG_INFINITY),
        "NAN" => pick(f32::NAN, f64::NAN),
        _ => None,
    }
}

fn float_const(path: &[String]) -> Option<f64> {
    use std::f64::consts as c;
    let [.., module, name] = path else {
        return None;
    };
    if module != "consts" {
        return None;
    }
    Some(match name.as_str() {
        "PI" => c::PI,
        "TAU" => c::TAU,
        "E" => c::E,
        "SQRT_2" => c::SQRT_2,
        "FRAC_1_SQRT_2" => c::FRAC_1_SQRT_2,
        "LN_2" => c::LN_2,
        "LN_10" => c::LN_10,
        "LOG2_E" => c::LOG2_E,
        "FRAC_PI_2" => c::FRAC_PI_2,
        "FRAC_PI_3" => c::FRAC_PI_3,
        "FRAC_PI_4" => c::FRAC_PI_4,
        "FRAC_PI_6" => c::FRAC_PI_6,
        "FRAC_PI_8" => c::FRAC_PI_8,
        "FRAC_1_PI" => c::FRAC_1_PI,
        "FRAC_2_PI" => c::FRAC_2_PI,
        _ => return None,
    })
}
