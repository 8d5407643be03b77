//! What hangs on the names of types and modules: `u32::MAX`, `AtomicU32::new(0)`, `Point::new(x, y)`, `inner::f(x)`.

use super::{Checker, named::Call};
use crate::{
    enums::is_of_atomics,
    generics::{FamilyId, Known, MemberItem},
    hir::{Builtin, Expr, ExprKind, Stmt},
    items::{Item, split_path},
    library::Of,
    ty::{BOOL, Class, Ty, U32, USIZE},
};
use millstream_graph::{
    ir::FunctionKind,
    ty::{Scalar, StructId, Type},
};
use proc_macro2::Span;
use std::rc::Rc;
use syn::spanned::Spanned;

impl Checker<'_> {
    /// A path of several segments as a value: a constant of a type.
    pub(super) fn associated(&mut self, path: &syn::Path, want: Option<&Ty>) -> Expr {
        let span = path.span();
        let path = &self.m.whole_path(path).unwrap_or_else(|| path.clone());
        if let Some(named) = self.variant_named(path) {
            return self.variant_value(&named, want, span);
        }
        match self.m.item(path) {
            Some(Item::Const(id)) => return self.constant(id, span),
            Some(Item::Struct(id)) if self.m.structs[id].fields.is_empty() => {
                return Expr::structure(id, Vec::new(), span);
            }
            Some(Item::Family(_)) => {
                if let Some(id) = self.struct_at(path, want)
                    && self.m.structs[id].fields.is_empty()
                {
                    return Expr::structure(id, Vec::new(), span);
                }
            }
            _ => {}
        }
        let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        let [.., owner, name] = names.as_slice() else {
            return Self::broken(span);
        };
        if owner == "consts"
            && let Some(value) = float_const(name)
        {
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
        if let Some((owner, name)) = split_path(path)
            && let Some(family) = self.family_at(&owner)
            && self.is_of_family(family, &name.ident)
            && let Some(value) = self.known_later(family, &owner, want, span)
        {
            return value;
        }
        let errors = self.m.diags.0.len();
        let of = self.owner_of(path, want, span);
        if self.m.diags.0.len() > errors {
            return Self::broken(span);
        }
        if let Some(known) = &of
            && let Some(value) = self.value_of(path, known, span)
        {
            return value;
        }
        if let Some(Type::Struct(id)) = of {
            let owner = self.m.structs[id].name.clone();
            return match () {
                () if self
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
                () => {
                    let help =
                        self.member_help(&owner, name, "write it in an `impl` block of the struct");
                    self.refuse(span, format!("`{owner}` has no constant `{name}`"), help)
                }
            };
        }
        let Some(scalar) = of.and_then(|of| of.scalar()) else {
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

    /// What stands for a value of a struct whose parameters may follow from what stands behind it: `let mut set = Set::EMPTY;`.
    fn known_later(
        &mut self,
        family: FamilyId,
        owner: &syn::Path,
        want: Option<&Ty>,
        span: Span,
    ) -> Option<Expr> {
        if self.struct_at(owner, want).is_some() || !self.ahead.leaves_open() {
            return None;
        }
        let params = self.m.families[family.0].params.clone();
        let known = self.guesses(&params);
        self.note_unknown(family, known);
        Some(self.unknown_value(span))
    }

    /// Whether a constant of a family's structs is one of them.
    fn is_of_family(&self, family: FamilyId, name: &syn::Ident) -> bool {
        let is_own = |ty: &syn::Type| matches!(ty, syn::Type::Path(p) if p.path.is_ident("Self") || self.family_at(&p.path) == Some(family));
        self.m.members.iter().any(|m| {
            m.family == family
                && name == &m.name
                && matches!(&m.item, MemberItem::Const(c) if is_own(&c.ty))
        })
    }

    /// The type in front of the last name of a path. Of a struct with parameters these may follow from what is wanted.
    fn owner_of(&mut self, path: &syn::Path, want: Option<&Ty>, span: Span) -> Option<Type> {
        let (owner, _) = split_path(path)?;
        if let Some(Known::Type(ty)) = self.m.known(&owner) {
            return Some(ty.clone());
        }
        let ty = syn::Type::Path(syn::TypePath {
            attrs: Vec::new(),
            qself: None,
            path: owner.clone(),
        });
        match self.m.item(&owner) {
            Some(Item::Family(family)) => match self.struct_at(&owner, want) {
                Some(id) => Some(Type::Struct(id)),
                None => {
                    let name = self.m.families[family.0].name.clone();
                    self.error(span, format!("the parameters of `{name}` are not known here"))
                        .help(format!("write them: `{name}::<..>::name`, or the type of the variable that the value goes to"));
                    None
                }
            },
            Some(Item::Struct(_) | Item::Alias(_)) => Some(self.m.resolve_type(&ty)),
            Some(_) => None,
            None if owner.segments.last()?.ident == "Ordering" && !is_of_atomics(&owner) => {
                Some(Type::Struct(self.m.ordering()))
            }
            None => {
                let last = owner.segments.last()?.ident.to_string();
                let scalar = Scalar::from_name(&last).filter(|s| *s != Scalar::Ptr);
                scalar
                    .map(Type::Scalar)
                    .or_else(|| self.m.part_named(&owner))
            }
        }
    }

    pub(super) fn associated_call(
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
        let written = last_arguments(path);
        let call = Call { args, want, span };
        match self.m.item(path) {
            Some(Item::Fn(id)) => return self.call_fn(id, args, span),
            Some(Item::Template(id)) => {
                return self.call_template(id, &written, None, args, want, span);
            }
            _ if self.is_constructor(path) => return self.construct(path, args, want, span),
            _ => {}
        }
        if let Some((of, last)) = split_path(path)
            && let Some(Item::Trait(id)) = self.m.item(&of)
        {
            return self.trait_call(id, &of, &last, call);
        }
        if self.m.item(path).is_none()
            && let Some(value) = self.rusts_function(owner, name, call)
        {
            return value;
        }
        if let Some(value) = self.known_call((owner, name), path, call) {
            return value;
        }
        if let Some(call) = self.family_call(path, args, want, span) {
            return call;
        }
        if name == "default"
            && args.is_empty()
            && let Some((owner, _)) = split_path(path)
            && let Some(family) = self.family_at(&owner)
            && let Some(value) = self.known_later(family, &owner, want, span)
        {
            return value;
        }
        let errors = self.m.diags.0.len();
        let of = self.owner_of(path, want, span);
        if self.m.diags.0.len() > errors {
            return Self::broken(span);
        }
        if let Some(known) = &of
            && let Some(value) = self.call_of(path, known, call)
        {
            return value;
        }
        match &of {
            Some(Type::Struct(id)) => {
                return self.struct_call(*id, name, path.span(), call);
            }
            // Of what they hold nothing is said.
            None if matches!(owner.as_str(), "Option" | "Result" | "Ordering") => {
                if let Some(call) = as_method(path, args, span) {
                    return self.expr(&call, want);
                }
            }
            Some(Type::Scalar(_)) | None => {}
            Some(ty) if name == "default" && args.is_empty() => {
                return self.default_of(&Ty::from_type(ty), span);
            }
            Some(_) => {
                if let Some(call) = as_method(path, args, span) {
                    return self.expr(&call, want);
                }
            }
        }
        match of.and_then(|of| of.scalar()) {
            Some(scalar) => self.scalar_call(scalar, name, path, call),
            None => {
                let shown = names.join("::");
                self.refuse(
                    path.span(),
                    format!("there is no function `{shown}` in the task language"),
                    match owner.as_str() {
                        "Vec" | "Box" | "Rc" | "Arc" | "String" | "VecDeque" | "HashMap"
                        | "BTreeMap" | "HashSet" | "BTreeSet" | "BinaryHeap" | "LinkedList" => {
                            "nothing is allocated in a task: use an array, or pass a slice"
                        }
                        _ => "a program calls its own functions",
                    },
                )
            }
        }
    }

    /// `std::cmp::min(a, b)` and `max`, of the type that is written, or that either of the two has.
    fn min_or_max(
        &mut self,
        name: &str,
        path: &syn::Path,
        args: &[&syn::Expr],
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let said = match last_arguments(path) {
            syn::PathArguments::AngleBracketed(said) => match said.args.first() {
                Some(syn::GenericArgument::Type(ty)) => Some(self.annotated(ty)),
                _ => None,
            },
            _ => None,
        };
        let first = self.expr(args[0], said.as_ref().or(want));
        if let Some(said) = &said {
            self.table.unify(&first.ty, said);
        }
        if matches!(self.shallow(&first.ty), Ty::Var(v) if self.table.class(v) == Class::Any) {
            // Both are of one type, which the other may say.
            let other = self.type_ahead(args[1]);
            self.table.unify(&first.ty, &other);
        }
        let ty = self.shallow(&first.ty);
        if let Some(greater) = self.greater_of(name, &first, &ty, args[1]) {
            return greater;
        }
        let at = (path.span(), span);
        self.scalar_method(first, name, &args[1..], want, at)
    }

    /// A function that the language knows by the last two names of its path.
    fn known_call(
        &mut self,
        (owner, name): (&str, &str),
        path: &syn::Path,
        Call { args, want, span }: Call<'_>,
    ) -> Option<Expr> {
        match (owner, name) {
            ("array", "from_fn") => {
                if let Some(id) = self.m.library(Of::Array, name) {
                    let written = last_arguments(path);
                    // How many there are is said where the array goes.
                    let is_unsaid = match want.map(|want| self.shallow(want)) {
                        None | Some(Ty::Var(_)) => matches!(written, syn::PathArguments::None),
                        Some(_) => false,
                    };
                    if is_unsaid && self.leaves_open() {
                        self.note_open();
                        return Some(self.unknown_value(span));
                    }
                    return Some(self.call_template(id, &written, None, args, want, span));
                }
            }
            ("cmp", "min" | "max") if args.len() == 2 => {
                return Some(self.min_or_max(name, path, args, want, span));
            }
            // Of what is equal the first is least and the last greatest, as in an iterator.
            ("cmp", "min_by" | "min_by_key" | "max_by" | "max_by_key") if args.len() == 3 => {
                let (method, a, b, by) = (syn::Ident::new(name, span), args[0], args[1], args[2]);
                let one: syn::Expr =
                    syn::parse_quote_spanned!(span=> [#a, #b].into_iter().#method(#by).unwrap());
                return Some(self.expr(&one, want));
            }
            ("mem", "swap" | "replace") if args.len() == 2 => {
                return Some(self.mem_call(name, args, span));
            }
            ("mem", "size_of") if args.is_empty() => {
                let written = last_arguments(path);
                let syn::PathArguments::AngleBracketed(written) = &written else {
                    return None;
                };
                let Some(syn::GenericArgument::Type(ty)) = written.args.first() else {
                    return None;
                };
                let ty = self.m.resolve_type(ty);
                // Rust does not say how others lie in memory.
                if !crate::rust::types::is_pod(&ty, &self.m.structs) {
                    return None;
                }
                let size = ty.layout(&self.m.structs).size;
                return Some(Expr::new(ExprKind::Int(u128::from(size)), USIZE, span));
            }
            ("Option" | "Result", "from") if self.m.named(owner).is_none() => {
                let made = match owner {
                    "Option" => "write `Some(..)`",
                    _ => "write `Ok(..)` or `Err(..)`",
                };
                let message = format!("`{owner}::from` is not part of the task language");
                return Some(self.refuse(path.span(), message, made));
            }
            ("hint", "black_box") if args.len() == 1 => return Some(self.expr(args[0], want)),
            ("hint", "select_unpredictable") if args.len() == 3 => {
                return Some(self.selected([args[0], args[1], args[2]], want, span));
            }
            ("mem", "drop") if args.len() == 1 => {
                let value = self.expr(args[0], None);
                let kind = ExprKind::Block(vec![Stmt::Expr(value)], None);
                return Some(Expr::new(kind, Ty::unit(), span));
            }
            ("mem", "take") if args.len() == 1 => return Some(self.mem_call(name, args, span)),
            ("Default", "default") if args.is_empty() => {
                let ty = want.cloned().unwrap_or_else(|| self.fresh_any());
                return Some(self.default_of(&ty, span));
            }
            ("Mat" | "MatMut", "new") if self.m.named(owner).is_none() => {
                return Some(self.mat_new(owner == "MatMut", args, span));
            }
            ("millstream", "on_gpu") if args.is_empty() => {
                if self.kind == Some(FunctionKind::Task) {
                    return Some(Expr::new(ExprKind::Wide, BOOL, span));
                }
                return Some(self.refuse(
                    span,
                    "only a task asks for the device that it runs on",
                    "ask in the task, and pass what depends on it",
                ));
            }
            _ => {}
        }
        self.atomic_call(owner, name, args, path, span)
    }

    /// A function of a number's type.
    fn scalar_call(
        &mut self,
        scalar: Scalar,
        name: &str,
        path: &syn::Path,
        Call {
            args,
            want: _,
            span,
        }: Call<'_>,
    ) -> Expr {
        let ty = Ty::Scalar(scalar);
        match (name, args) {
            ("from", [value]) => {
                let value = self.expr(value, None);
                let value = self.behind_refs(value);
                self.lossless(&value, scalar);
                Expr::new(ExprKind::Cast(value), ty, span)
            }
            // As they were called before there were constants of types.
            ("max_value" | "min_value", []) if scalar.is_int() => {
                let limit = if name == "max_value" { "MAX" } else { "MIN" };
                let value = int_limit(scalar, limit).unwrap_or_default();
                Expr::new(ExprKind::Int(value), ty, span)
            }
            ("from_bits", [value]) if scalar.is_float() => {
                let value = self.expr_as(value, &Ty::Scalar(bits_of(scalar)));
                Expr::new(ExprKind::Bitcast(value), ty, span)
            }
            // Devices have the low byte first.
            ("from_be_bytes" | "from_le_bytes" | "from_ne_bytes", [bytes])
                if scalar.is_int() || scalar.is_float() =>
            {
                let array = Ty::Array(
                    Box::new(Ty::Scalar(Scalar::U8)),
                    u64::from(scalar.bits() / 8),
                );
                let bytes = self.expr_as(bytes, &array);
                let big = name == "from_be_bytes";
                let bits = bits_of(scalar);
                let kind = ExprKind::Method(Builtin::FromBytes { big }, vec![bytes]);
                let made = Expr::new(kind, Ty::Scalar(bits), span);
                if bits == scalar {
                    made
                } else {
                    Expr::new(ExprKind::Bitcast(made), ty, span)
                }
            }
            ("from_be" | "from_le", [value]) if scalar.is_int() => {
                let value = self.expr_as(value, &ty);
                match name {
                    "from_be" => {
                        self.scalar_method(value, "swap_bytes", &[], None, (path.span(), span))
                    }
                    _ => value,
                }
            }
            ("default", []) => self.default_of(&ty, span),
            (name, [one, other]) if super::orders::COMPARE.contains(&name) => {
                let one = self.expr(one, None);
                let one = self.behind_refs(one);
                let one = self.coerce(one, &ty);
                self.compared(name, one, other, path.span())
            }
            ("try_from", [x]) if scalar.is_int() => self.try_from(x, scalar, span),
            // As methods they are known by their names.
            ("checked_add" | "checked_sub" | "checked_mul", [one, other]) if scalar.is_int() => {
                let (held, method) = (self.held_name(span), syn::Ident::new(name, path.span()));
                let ty = syn::Ident::new(scalar.name(), span);
                let call: syn::Expr = syn::parse_quote_spanned!(span=> {
                    let #held: #ty = #one;
                    #held.#method(#other)
                });
                self.expr(&call, None)
            }
            (_, [receiver, rest @ ..]) => {
                let mut receiver = self.expr(receiver, Some(&ty));
                // These take `&self`.
                if name.contains("ascii") {
                    receiver = self.behind_refs(receiver);
                }
                let receiver = self.coerce(receiver, &ty);
                self.scalar_method(receiver, name, rest, None, (path.span(), span))
            }
            _ => self.refuse(
                path.span(),
                format!("`{scalar}` has no function `{name}`"),
                "docs/language.md lists what there is",
            ),
        }
    }

    /// A function of a struct's `impl` blocks.
    fn struct_call(&mut self, id: StructId, name: &str, span: Span, call: Call<'_>) -> Expr {
        let args = call.args;
        if let [this, rest @ ..] = args {
            for of in super::dispatch::TRAITS {
                if let Some(value) = self.rusts_function(of, name, call) {
                    return value;
                }
            }
            if self.is_ordering(&Ty::Struct(id)) {
                let method = syn::Ident::new(name, span);
                let m = syn::parse_quote_spanned!(span=> (#this).#method(#(#rest),*));
                let receiver = self.expr_as(this, &Ty::Struct(id));
                return self.ordering_method(&m, receiver);
            }
            self.m.operators_of(id, name);
            if self.m.operators.iter().any(|(n, _)| n == name) {
                let receiver = self.expr(this, None);
                if let Some(value) = self.operator_named(name, &receiver, rest, span) {
                    return value;
                }
            }
        }
        match name {
            "default" if args.is_empty() => self.default_of(&Ty::Struct(id), span),
            _ => {
                let owner = self.m.structs[id].name.clone();
                let known: Vec<String> = self.m.structs[id]
                    .variants
                    .iter()
                    .map(|v| format!("`{}`", v.name))
                    .collect();
                let otherwise = match known.is_empty() {
                    true => "write it in an `impl` block of the struct".to_owned(),
                    false => format!("there are the variants {}", known.join(", ")),
                };
                let help = self.member_help(&owner, name, &otherwise);
                self.refuse(span, format!("`{owner}` has no function `{name}`"), help)
            }
        }
    }

    /// A function of a struct with parameters that are not written: what they are follows from its arguments.
    fn family_call(
        &mut self,
        path: &syn::Path,
        args: &[&syn::Expr],
        want: Option<&Ty>,
        span: Span,
    ) -> Option<Expr> {
        let (owner, last) = split_path(path)?;
        let family = self.family_at(&owner)?;
        let written = last_arguments(&owner);
        if !has_open(&written) && self.struct_at(&owner, want).is_some() {
            return None;
        }
        let name = last.ident.to_string();
        let of = self.m.members.iter();
        let member = of
            .filter(|m| m.family == family && m.name == name && m.by.is_none())
            .find_map(|m| match &m.item {
                MemberItem::Fn(f) => Some((m.clone(), Rc::clone(f))),
                MemberItem::Const(_) | MemberItem::Type(_) => None,
            });
        let (member, item) = member?;
        let template = self.m.open_member(&member, &item);
        // `Stack::<_, 8>::new()`: the parameters of the struct come first.
        let written = match (&written, &last.arguments) {
            (syn::PathArguments::None, own) => own,
            (written, syn::PathArguments::None) if member.in_order() => written,
            _ => {
                let message = "these parameters cannot be told apart here";
                let help = "write the type of the variable that the value goes to";
                return Some(self.refuse(span, message, help));
            }
        };
        Some(self.call_template(template, written, None, args, want, span))
    }
}

/// The integer that has the bits of a number.
const fn bits_of(number: Scalar) -> Scalar {
    match number {
        Scalar::F32 => Scalar::U32,
        Scalar::F64 => Scalar::U64,
        int => int,
    }
}

/// Whether a `_` stands among these.
pub(super) fn has_open(written: &syn::PathArguments) -> bool {
    let infer =
        |a: &syn::GenericArgument| matches!(a, syn::GenericArgument::Type(syn::Type::Infer(_)));
    match written {
        syn::PathArguments::AngleBracketed(args) => args.args.iter().any(infer),
        _ => false,
    }
}

/// What stands in angle brackets behind a path.
pub(super) fn last_arguments(path: &syn::Path) -> syn::PathArguments {
    let last = path.segments.last();
    last.map_or(syn::PathArguments::None, |s| s.arguments.clone())
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

/// One of `std::f64::consts`.
pub(crate) fn float_const(name: &str) -> Option<f64> {
    use std::f64::consts as c;
    Some(match name {
        "PI" => c::PI,
        "TAU" => c::TAU,
        "E" => c::E,
        "SQRT_2" => c::SQRT_2,
        "FRAC_1_SQRT_2" => c::FRAC_1_SQRT_2,
        "LN_2" => c::LN_2,
        "LN_10" => c::LN_10,
        "LOG2_E" => c::LOG2_E,
        "LOG2_10" => c::LOG2_10,
        "LOG10_E" => c::LOG10_E,
        "LOG10_2" => c::LOG10_2,
        "FRAC_PI_2" => c::FRAC_PI_2,
        "FRAC_PI_3" => c::FRAC_PI_3,
        "FRAC_PI_4" => c::FRAC_PI_4,
        "FRAC_PI_6" => c::FRAC_PI_6,
        "FRAC_PI_8" => c::FRAC_PI_8,
        "FRAC_1_PI" => c::FRAC_1_PI,
        "FRAC_2_PI" => c::FRAC_2_PI,
        "FRAC_2_SQRT_PI" => c::FRAC_2_SQRT_PI,
        _ => return None,
    })
}

/// `Owner::method(this, ..)` as `this.method(..)`.
fn as_method(path: &syn::Path, args: &[&syn::Expr], span: Span) -> Option<syn::Expr> {
    let [this, rest @ ..] = args else { return None };
    let method = &path.segments.last()?.ident;
    Some(syn::parse_quote_spanned!(span=> (#this).#method(#(#rest),*)))
}
