//! The program's enums, `Option` and `Result`: their variants, as expressions and as patterns, and `?`. A value of such a type has its number for its first part, then the data of
//! all variants, zeros where it is another variant. What is asked of an `Option` or a `Result` is in [`super::chains`], with what is asked of a search.

use super::{
    Checker, answers, chains,
    expr::member_name,
    fields::named_fields,
    patterns::{ArmSyntax, BodySyntax},
    refutable::Matched,
};
use crate::{
    enums::Owner,
    generics::FamilyId,
    hir::{Builtin, Expr, ExprKind, Path, Projection, Test},
    items::Item,
    ty::{BOOL, Ty},
};
use millstream_graph::{
    ir::{FunctionKind, UnOp},
    ty::{Scalar, StructId, Type, Variant},
};
use proc_macro2::{Ident, Span};
use syn::{punctuated::Punctuated, spanned::Spanned};

/// What to do with an `Option` or a `Result` where its value is needed.
pub(super) const TAKE_APART: &str = "take it apart: `if let Some(x) = ..`, or say what it is where there is nothing: `.unwrap_or(..)`";

/// A type of several variants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sum {
    Option,
    Result,
    Enum(StructId),
    /// An enum with parameters, where a variant is named without them.
    Open(FamilyId),
}

impl Sum {
    /// That of a type.
    pub(super) fn of(ty: &Ty, checker: &Checker<'_>) -> Option<Self> {
        match checker.shallow(ty) {
            Ty::Option(_) => Some(Self::Option),
            Ty::Result(..) => Some(Self::Result),
            Ty::Struct(id) if checker.m.structs[id].is_enum() => Some(Self::Enum(id)),
            _ => None,
        }
    }
}

impl Sum {
    /// What to do with one where another is needed.
    fn help(of: Option<Self>, help: &str) -> Option<String> {
        matches!(of, Some(Self::Option | Self::Result)).then(|| help.to_owned())
    }
}

/// A variant that is named.
#[derive(Clone)]
pub(super) struct Named {
    pub(super) sum: Sum,
    pub(super) variant: Variant,
    /// As messages show it.
    shown: String,
    /// The parameters that are written, `None::<u32>`.
    written: Option<syn::AngleBracketedGenericArguments>,
}

/// What stands behind the name of a variant in a pattern.
pub(super) enum Parts<'p> {
    Nothing,
    Tuple(&'p Punctuated<syn::Pat, syn::Token![,]>),
    Fields(&'p syn::PatStruct),
}

/// Whether a pattern is the item of a chain, of which `flatten` and its kin make another.
fn is_item(pat: &syn::Pat) -> bool {
    matches!(pat, syn::Pat::Ident(p) if p.ident == chains::own("item", p.ident.span()))
}

impl Checker<'_> {
    /// The variant that a path names: of an enum of the program, or one of Rust's that nothing in the program has the name of.
    pub(super) fn variant_named(&self, path: &syn::Path) -> Option<Named> {
        if let Some((owner, variant)) = self.m.variant(path) {
            let own = path.segments.last().map(|s| &s.arguments);
            let (sum, name, written) = match &owner {
                Owner::Enum(id) => (Sum::Enum(*id), &self.m.structs[*id].name, None),
                Owner::Family(id, args) => {
                    let written = [own, Some(args)].into_iter().flatten();
                    let mut written = written.filter_map(|args| match args {
                        syn::PathArguments::AngleBracketed(args) => Some(args.clone()),
                        _ => None,
                    });
                    (Sum::Open(*id), &self.m.families[id.0].name, written.next())
                }
            };
            let shown = format!("{name}::{}", variant.name);
            return Some(Named {
                sum,
                variant,
                shown,
                written,
            });
        }
        // An enum may be called as a variant is: only values hide that.
        let hidden = |name: &str| match self.m.named(name) {
            Some(Item::Struct(id)) => !self.m.structs[id].is_enum(),
            Some(Item::Alias(_) | Item::Trait(_)) => false,
            Some(_) => true,
            None => self.lookup(name).is_some(),
        };
        let is = |name: &str, owner: &str| match &path.segments.iter().collect::<Vec<_>>()[..] {
            [one] => {
                one.ident == name && !hidden(name)
                    || one.ident == chains::own(name, one.ident.span())
            }
            [.., of, last] => {
                last.ident == name && of.ident == owner && self.m.named(owner).is_none()
            }
            [] => false,
        };
        [(Sum::Option, "Option"), (Sum::Result, "Result")]
            .into_iter()
            .find_map(|(sum, owner)| {
                let mut variants = self.variants(sum).into_iter();
                let variant = variants.find(|v| is(&v.name, owner))?;
                let shown = variant.name.clone();
                let mut segments = path.segments.iter().rev().take(2);
                let written = segments.find_map(|s| match &s.arguments {
                    syn::PathArguments::AngleBracketed(args) => Some(args.clone()),
                    _ => None,
                });
                Some(Named {
                    sum,
                    variant,
                    shown,
                    written,
                })
            })
    }

    /// The variants of such a type.
    pub(super) fn variants(&self, sum: Sum) -> Vec<Variant> {
        let unit = || Box::new(Type::unit());
        let ty = match sum {
            Sum::Option => Type::Option(unit()),
            Sum::Result => Type::Result(unit(), unit()),
            Sum::Enum(id) => Type::Struct(id),
            Sum::Open(id) => {
                let shape = self.m.families[id.0].shape();
                return shape.map_or_else(Vec::new, |shape| shape.variants);
            }
        };
        ty.variants(&self.m.structs).into_owned()
    }

    /// The type of a variant that is named, of data that are not known yet where the name does not say them.
    fn type_of(&mut self, named: &Named) -> Ty {
        let count = match named.sum {
            Sum::Option => 1,
            Sum::Result => 2,
            Sum::Enum(id) => return Ty::Struct(id),
            Sum::Open(_) => return Ty::Error,
        };
        let types = named.written.as_ref().map(|written| {
            let of = written.args.iter().map(|arg| match arg {
                syn::GenericArgument::Type(ty) => self.annotated(ty),
                other => {
                    self.error(other.span(), "expected a type here");
                    Ty::Error
                }
            });
            (of.collect::<Vec<_>>(), written.span())
        });
        let mut types = match types {
            Some((types, span)) if types.len() != count => {
                let message = format!("{} parameters where there are {count}", types.len());
                self.error(span, message);
                vec![Ty::Error; count]
            }
            Some((types, _)) => types,
            None => (0..count).map(|_| self.fresh_any()).collect(),
        }
        .into_iter();
        match (types.next(), types.next()) {
            (Some(ok), Some(err)) => Ty::result(ok, err),
            (Some(some), None) => Ty::option(some),
            _ => Ty::Error,
        }
    }

    /// The types of the parts that a value consists of.
    pub(super) fn parts_of(&self, ty: &Ty) -> Vec<Ty> {
        match self.shallow(ty) {
            Ty::Tuple(types) => types,
            Ty::Option(some) => vec![BOOL, *some],
            Ty::Result(ok, err) => vec![BOOL, *ok, *err],
            Ty::Struct(id) => {
                let fields = self.m.structs[id].fields.iter();
                fields.map(|(_, t)| Ty::from_type(t)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The variant that a pattern is of, and what stands behind its name.
    pub(super) fn variant_pattern<'p>(&self, pat: &'p syn::Pat) -> Option<(Named, Parts<'p>)> {
        match pat {
            syn::Pat::TupleStruct(s) => {
                Some((self.variant_named(&s.path)?, Parts::Tuple(&s.elems)))
            }
            syn::Pat::Struct(s) => Some((self.variant_named(&s.path)?, Parts::Fields(s))),
            syn::Pat::Path(p) => Some((self.variant_named(&p.path)?, Parts::Nothing)),
            syn::Pat::Ident(p) if p.subpat.is_none() && p.by_ref.is_none() => {
                Some((self.variant_named(&p.ident.clone().into())?, Parts::Nothing))
            }
            _ => None,
        }
    }

    /// Whether a path is that of `Option`'s `Some`.
    pub(super) fn is_some(&self, path: &syn::Path) -> bool {
        self.variant_named(path)
            .is_some_and(|named| named.sum == Sum::Option && named.variant.name == "Some")
    }

    /// Whether a pattern is `Option`'s `None`.
    pub(super) fn is_none_pattern(&self, pat: &syn::Pat) -> bool {
        let named = self.variant_pattern(pat);
        named.is_some_and(|(named, _)| named.sum == Sum::Option && named.variant.name == "None")
    }

    /// A variant without data as a value.
    pub(super) fn variant_value(&mut self, named: &Named, want: Option<&Ty>, span: Span) -> Expr {
        if !named.variant.fields.is_empty() {
            let message = format!("the variant `{}` has data", named.shown);
            return self.refuse(span, message, format!("write {}", named.written()));
        }
        self.variant_of(named, Vec::new(), want, span)
    }

    /// `Some(value)`, `Shape::Circle(radius)`.
    pub(super) fn variant_call(
        &mut self,
        named: &Named,
        args: &[&syn::Expr],
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let Variant { fields, names, .. } = &named.variant;
        if args.len() != fields.len() || !names.is_empty() {
            let shown = &named.shown;
            let message = match (names.is_empty(), fields.len()) {
                (false, _) => format!("the data of `{shown}` have names"),
                (_, 1) => format!("`{shown}` takes 1 argument, here are {}", args.len()),
                (_, n) => format!("`{shown}` takes {n} arguments, here are {}", args.len()),
            };
            let help = match named.sum {
                Sum::Enum(_) | Sum::Open(_) => format!("write {}", named.written()),
                _ => format!("several values in one are a tuple: `{shown}((a, b))`"),
            };
            return self.refuse(span, message, help);
        }
        let given = args.iter().zip(fields.clone());
        self.variant_of(named, given.map(|(e, i)| (i, *e)).collect(), want, span)
    }

    /// `Shape::Rect { w, h }`.
    pub(super) fn variant_structure(
        &mut self,
        named: &Named,
        s: &syn::ExprStruct,
        want: Option<&Ty>,
    ) -> Expr {
        let span = s.span();
        if let Some(rest) = &s.rest {
            return self.refuse(
                rest.span(),
                "the data of a variant are not taken from another value",
                format!("write {}", named.written()),
            );
        }
        let mut given: Vec<(usize, &syn::Expr)> = Vec::new();
        for field in &s.fields {
            let Some(i) = self.member(named, &field.member) else {
                return Self::broken(span);
            };
            if given.iter().any(|(g, _)| *g == i) {
                let member = member_name(&field.member);
                self.error(
                    field.member.span(),
                    format!("the field `{member}` is given twice"),
                );
            } else {
                given.push((i, &field.expr));
            }
        }
        if given.len() < named.variant.fields.len() {
            let message = format!("`{}` lacks some of its data", named.shown);
            return self.refuse(span, message, format!("write {}", named.written()));
        }
        self.variant_of(named, given, want, span)
    }

    /// Which part of the type a field of a variant is.
    fn member(&mut self, named: &Named, member: &syn::Member) -> Option<usize> {
        let (variant, name) = (&named.variant, member_name(member));
        let found = match variant.names.is_empty() {
            true => name.parse().ok().filter(|i| *i < variant.fields.len()),
            false => variant.names.iter().position(|n| *n == name),
        };
        if found.is_none() {
            let message = format!("`{}` has no field `{name}`", named.shown);
            self.error(member.span(), message)
                .help(format!("write {}", named.written()));
        }
        Some(variant.fields.start + found?)
    }

    /// A variant of these data, each by the number of the part that it is.
    fn variant_of(
        &mut self,
        named: &Named,
        given: Vec<(usize, &syn::Expr)>,
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        if let Sum::Open(family) = named.sum {
            let written = match &named.written {
                Some(args) => syn::PathArguments::AngleBracketed(args.clone()),
                None => syn::PathArguments::None,
            };
            let made = self.copy_of(family, &written, given, want, span);
            let Some((id, parts)) = made else {
                return self.unknown_value(span);
            };
            return self.sum_value(&named.variant, parts, Ty::Struct(id), span);
        }
        let known = want.filter(|want| Sum::of(want, self) == Some(named.sum));
        let ty = match known.filter(|_| named.written.is_none()) {
            Some(known) => known.clone(),
            None => self.type_of(named),
        };
        let parts = self.parts_of(&ty);
        let given = given
            .into_iter()
            .map(|(i, e)| (i, self.expr_as(e, &parts[i])));
        let given = given.collect();
        self.sum_value(&named.variant, given, ty, span)
    }

    /// A value of a type of several variants: this one, with these parts.
    pub(super) fn sum_value(
        &mut self,
        variant: &Variant,
        mut given: Vec<(usize, Expr)>,
        ty: Ty,
        span: Span,
    ) -> Expr {
        let parts = self.parts_of(&ty);
        let zeroed = |ty: Ty| Expr::new(ExprKind::Method(Builtin::Zeroed, Vec::new()), ty, span);
        let Ty::Struct(id) = self.shallow(&ty) else {
            let has = Expr::new(ExprKind::Bool(variant.number != 0), BOOL, span);
            let data = parts.into_iter().enumerate().skip(1).map(|(i, part)| {
                let at = given.iter().position(|(g, _)| *g == i);
                at.map_or_else(|| zeroed(part), |at| given.swap_remove(at).1)
            });
            let all = std::iter::once(has).chain(data).collect();
            return Expr::new(ExprKind::Tuple(all), ty, span);
        };
        let base = (given.len() + 1 < parts.len()).then(|| zeroed(ty.clone()));
        given.insert(0, (0, number(&parts[0], variant.number, span)));
        let kind = ExprKind::Struct {
            id,
            fields: given,
            base,
        };
        Expr::new(kind, ty, span)
    }

    /// `None` of a type: all of it is zero.
    pub(super) fn none_of(&mut self, some: &Ty, span: Span) -> Expr {
        let ty = Ty::option(some.clone());
        Expr::new(ExprKind::Method(Builtin::Zeroed, Vec::new()), ty, span)
    }

    /// Learns from what `?` is asked of whether a closure gives an `Option` or a `Result`, if nothing has said so before.
    fn learn_return(&mut self, of: &syn::Expr) {
        let Ty::Var(_) = self.shallow(&self.ret.clone()) else {
            return;
        };
        let of = self.type_ahead(of);
        let value = self.fresh_any();
        let ty = match self.shallow(&of) {
            Ty::Option(_) => Ty::option(value),
            Ty::Result(_, err) => Ty::result(value, *err),
            _ => return,
        };
        let ret = self.ret.clone();
        self.table.unify(&ret, &ty);
    }

    /// `value?`
    pub(super) fn or_return(&mut self, t: &syn::ExprTry, want: Option<&Ty>) -> Expr {
        let span = t.span();
        if self.kind.is_some_and(FunctionKind::spawns) && answers::may_spawn(&t.expr) {
            return self.refuse(
                t.question_token.span(),
                "`?` asks for a child's result where it is spawned, but it comes with the next `sync!()`",
                "put the `?` behind the `sync!()`: `let r = spawn!(..); sync!(); let x = r?;`",
            );
        }
        let tried = self.tried_for(&t.expr, want);
        let of = tried.as_ref().unwrap_or(&t.expr);
        self.learn_return(of);
        let ret = Sum::of(&self.ret.clone(), self);
        let names = ["value", "Some", "None", "Ok", "Err"];
        let [value, some, none, ok, err] = names.map(|name| chains::own(name, span));
        let taken = match ret.filter(|_| self.kind.is_some()) {
            Some(Sum::Option) => syn::parse_quote_spanned!(span=> match (#of) {
                #some(#value) => #value,
                #none => return #none,
            }),
            Some(Sum::Result) => {
                let result = self.expr(of, None);
                let mut left: syn::Expr = syn::parse_quote_spanned!(span=> return #err(#value));
                if let (Ty::Result(_, have), Ty::Result(_, want)) =
                    (self.shallow(&result.ty), self.shallow(&self.ret.clone()))
                    && !self.table.unify(&have, &want)
                {
                    left = syn::parse_quote_spanned!(span=> return #err(#value.into()));
                    if !self.is_converted(&have, &want) {
                        let help = match *want {
                            Ty::Struct(_) => {
                                "make one of the other: `.map_err(|e| ..)?`, or say how by `impl From`"
                            }
                            _ => "make one of the other: `.map_err(|e| ..)?`",
                        };
                        let (have, want) = (self.show(&have), self.show(&want));
                        return self.refuse(
                            span,
                            format!("the error is `{have}`, and the function returns `{want}`"),
                            help,
                        );
                    }
                }
                let (found, failed) = (own_pat(&ok, &value), own_pat(&err, &value));
                let taken = syn::parse_quote_spanned!(span=> #value);
                let arms = [
                    ArmSyntax::new(&found, BodySyntax::Expr(&taken)),
                    ArmSyntax::new(&failed, BodySyntax::Expr(&left)),
                ];
                return self.matching(result, &arms, want, span);
            }
            _ => {
                return self.refuse(
                    span,
                    "`?` stands in a function that returns an `Option` or a `Result`",
                    "say what happens where there is nothing: `let Some(x) = .. else { .. };`",
                );
            }
        };
        self.expr(&taken, want)
    }

    /// Asks whether a value is a variant, and what the patterns of its data ask of these.
    pub(super) fn variant_tests(
        &mut self,
        named: &Named,
        parts: &Parts<'_>,
        ty: &Ty,
        whole: &syn::Pat,
        path: &mut Path,
        out: &mut Matched,
    ) {
        let Some(inner) = self.variant_parts(named, parts, ty, whole.span()) else {
            return self.bind_as_broken(whole);
        };
        path.push(Projection::Field(0));
        let number = self.parts_of(ty).first().and_then(Ty::scalar);
        let number = wide(number.unwrap_or(Scalar::U8), named.variant.number);
        let test = Test::Is(number as u64);
        out.ask(path, test);
        path.pop();
        for (i, pat, ty) in inner {
            self.part_tests(Projection::Field(i), pat, &ty, path, out);
        }
    }

    /// The patterns of a variant's data, with the numbers and types of the parts that they are of; none if something is wrong, and has been said.
    pub(super) fn variant_parts<'p>(
        &mut self,
        named: &Named,
        parts: &Parts<'p>,
        ty: &Ty,
        span: Span,
    ) -> Option<Vec<(usize, &'p syn::Pat, Ty)>> {
        if let Ty::Error | Ty::Never = self.shallow(ty) {
            return None;
        }
        let known = match (named.sum, self.shallow(ty)) {
            (Sum::Open(family), Ty::Struct(id)) if self.family_of(id) == Some(family) => {
                Some(Named {
                    sum: Sum::Enum(id),
                    ..named.clone()
                })
            }
            (Sum::Open(_), _) => {
                let (have, shown) = (self.show(ty), &named.shown);
                self.error(span, format!("expected `{have}`, found `{shown}`"));
                return None;
            }
            _ => None,
        };
        let named = known.as_ref().unwrap_or(named);
        let whole = self.type_of(named);
        let mut wrong = !self.table.unify(ty, &whole);
        if wrong {
            let (have, want) = (self.show(ty), self.show(&whole));
            let other = Sum::of(ty, self);
            match named.sum {
                Sum::Enum(_) | Sum::Open(_) => {
                    self.error(span, format!("expected `{have}`, found `{want}`"));
                }
                Sum::Option => self.no_option(ty, parts, span),
                Sum::Result => {
                    let d = self.error(span, format!("a pattern of a `Result` for `{have}`"));
                    d.help = Sum::help(other, "make one of it: `.ok_or(..)`");
                }
            }
        }
        let types = self.parts_of(&whole);
        let variant = &named.variant;
        let mut out: Vec<(usize, &'p syn::Pat)> = Vec::new();
        let all;
        match parts {
            Parts::Nothing => all = variant.fields.is_empty(),
            Parts::Tuple(pats) if variant.names.is_empty() && !variant.fields.is_empty() => {
                let fields = named_fields(pats, Some(variant.fields.len()));
                all = fields.len == variant.fields.len();
                let start = variant.fields.start;
                out = fields
                    .named
                    .into_iter()
                    .map(|(i, p)| (start + i, p))
                    .collect();
            }
            Parts::Tuple(_) => all = false,
            Parts::Fields(s) => {
                for field in &s.fields {
                    match self.member(named, &field.member) {
                        Some(i) => out.push((i, &*field.pat)),
                        None => wrong = true,
                    }
                }
                all = wrong || s.rest.is_some() || out.len() == variant.fields.len();
            }
        }
        if !all {
            let message = match (parts, variant.fields.len()) {
                (Parts::Tuple(_), 0) => format!("the variant `{}` has no data", named.shown),
                (Parts::Tuple(pats), n) if variant.names.is_empty() => {
                    let here = pats.len();
                    match n {
                        1 => format!("`{}` has one value, here are {here}", named.shown),
                        n => format!("`{}` has {n} values, here are {here}", named.shown),
                    }
                }
                (Parts::Tuple(_), _) => format!("the data of `{}` have names", named.shown),
                (Parts::Fields(_), _) => "the pattern does not name all fields".to_owned(),
                (Parts::Nothing, _) => format!("the variant `{}` has data", named.shown),
            };
            self.error(span, message).help(match parts {
                Parts::Fields(_) => "end it with `..`".to_owned(),
                _ => format!("write {}", named.written()),
            });
            wrong = true;
        }
        (!wrong).then(|| {
            let typed = out.into_iter().map(|(i, p)| (i, p, types[i].clone()));
            typed.collect()
        })
    }

    /// Says that there is no `Option` where a pattern has one; it is no pattern of the source's where a chain wants an item of each item.
    fn no_option(&mut self, ty: &Ty, parts: &Parts<'_>, span: Span) {
        let (have, other) = (self.show(ty), Sum::of(ty, self));
        let of_items = matches!(parts, Parts::Tuple(pats) if pats.iter().any(is_item));
        let message = match of_items {
            true => format!("expected an `Option` of an item, found `{have}`"),
            false => format!("a pattern of an `Option` for `{have}`"),
        };
        let bare = match self.shallow(ty) {
            Ty::Ref { target, .. } => self.shallow(&target),
            ty => ty,
        };
        let help = match bare {
            Ty::Array(..) | Ty::Slice { .. } if of_items => {
                Some("run over each of them: `for row in grid { for x in row { .. } }`".to_owned())
            }
            _ if of_items && other.is_none() => {
                Some("let the closure give `Some(..)` or `None`".to_owned())
            }
            _ => Sum::help(other, "make one of it: `.ok()`"),
        };
        self.error(span, message).help = help;
    }

    /// Says that a pattern which has to match leaves other variants.
    pub(super) fn leaves_others(&mut self, named: &Named, span: Span) {
        let mut all = self.variants(named.sum).into_iter();
        let other = all.find(|v| v.name != named.variant.name);
        let other = other.map_or_else(String::new, |v| v.name);
        let written = named.written();
        self.error(span, format!("this pattern leaves `{other}`"))
            .help(format!(
                "say what happens there: `let {} = .. else {{ .. }};`, or `if let`",
                written.trim_matches('`')
            ));
    }
}

impl Named {
    /// How it is written.
    fn written(&self) -> String {
        let Variant { fields, names, .. } = &self.variant;
        let data = match (fields.len(), names.is_empty()) {
            (0, _) => String::new(),
            (1, true) => "(x)".to_owned(),
            (2, true) => "(x, y)".to_owned(),
            (_, true) => "(x, y, ..)".to_owned(),
            (_, false) => format!(" {{ {} }}", names.join(", ")),
        };
        format!("`{}{data}`", self.shown)
    }
}

/// A variant of one part, and the name of that.
fn own_pat(variant: &Ident, name: &Ident) -> syn::Pat {
    syn::parse_quote!(#variant(#name))
}

/// The number of a variant as a value of its type.
pub(super) fn number(ty: &Ty, bits: u64, span: Span) -> Expr {
    let scalar = ty.scalar().unwrap_or(Scalar::U8);
    let number = wide(scalar, bits);
    let magnitude = Expr::new(ExprKind::Int(number.unsigned_abs()), ty.clone(), span);
    match number < 0 {
        true => Expr::new(ExprKind::Unary(UnOp::Neg, magnitude), ty.clone(), span),
        false => magnitude,
    }
}

/// The number that these bits are.
pub(super) fn wide(scalar: Scalar, bits: u64) -> i128 {
    match scalar.is_signed() {
        true => {
            let above = 64 - scalar.bits();
            i128::from((bits << above).cast_signed() >> above)
        }
        false => bits.into(),
    }
}
