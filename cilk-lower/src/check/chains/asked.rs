//! What methods ask of an `Option` or a `Result`, and make of it: as of a search that has been, whose parts are those of a variable.

use super::{
    super::{Binding, Checker, nearest, places::strip, sums::Sum},
    Refused, apply, own, refused,
    search::Found,
};
use crate::{
    hir::{Builtin, Expr, ExprKind, Pat, Stmt},
    ty::{BOOL, Ty},
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{parse_quote_spanned, spanned::Spanned};

/// What is asked of an `Option`.
pub(super) const OF_OPTION: &[&str] = &[
    "unwrap",
    "expect",
    "unwrap_or",
    "unwrap_or_default",
    "unwrap_or_else",
    "map_or",
    "map_or_else",
    "is_some",
    "is_none",
    "is_some_and",
    "is_none_or",
    "and_then",
    "and",
    "or",
    "or_else",
    "filter",
    "ok_or",
    "ok_or_else",
    "inspect",
    "transpose",
];

/// What makes another `Option` of one, or borrows it.
const MAKE_OPTION: &[&str] = &[
    "map",
    "copied",
    "cloned",
    "take",
    "replace",
    "as_ref",
    "as_mut",
    "insert",
    "get_or_insert",
    "get_or_insert_with",
    "take_if",
    "zip",
    "unzip",
    "xor",
    "flatten",
];

/// The methods of a `Result`.
const OF_RESULT: &[&str] = &[
    "is_ok",
    "is_err",
    "is_ok_and",
    "is_err_and",
    "ok",
    "err",
    "unwrap",
    "expect",
    "unwrap_err",
    "expect_err",
    "unwrap_or",
    "unwrap_or_default",
    "unwrap_or_else",
    "map",
    "map_err",
    "map_or",
    "map_or_else",
    "and_then",
    "and",
    "or",
    "or_else",
    "copied",
    "cloned",
    "as_ref",
    "as_mut",
    "inspect",
    "inspect_err",
    "flatten",
    "transpose",
];

impl Found {
    /// What is asked of it.
    pub(super) fn asked(&self, asked: &syn::ExprMethodCall) -> Result<syn::Expr, Refused> {
        let Self {
            span,
            some,
            best,
            value,
            err,
            ..
        } = self;
        let (span, asks) = (*span, asked.method.to_string());
        let args: Vec<&syn::Expr> = asked.args.iter().collect();
        let or = |then: &TokenStream, other: &TokenStream| quote_spanned!(span=> if #some { #then } else { #other });
        // What a function makes of what was found,
        let made = |f: &syn::Expr| -> Result<TokenStream, Refused> {
            let made = apply(f, &[(best, false)])?;
            Ok(quote_spanned!(span=> let #best = #value; #made))
        };
        // and what another makes of what there is instead.
        let instead: Vec<(&Ident, bool)> = err.iter().map(|err| (err, false)).collect();
        let other_made = |f: &syn::Expr| apply(f, &instead);
        // As in Rust an argument is evaluated in any case, which shows where that does something.
        let eager = |then: TokenStream, e: &syn::Expr, in_other: bool| {
            let simple = is_simple(e);
            let name = own("other", span);
            let e_or_name = match simple {
                true => quote_spanned!(span=> (#e)),
                false => name.to_token_stream(),
            };
            let chosen = match in_other {
                true => or(&then, &e_or_name),
                false => or(&e_or_name, &then),
            };
            match simple {
                true => chosen,
                // It becomes what stands in the other place: an `if` that never goes there says so.
                false if in_other && is_into(e) => {
                    quote_spanned!(span=> let #name = if false { #then } else { #e }; #chosen)
                }
                false => quote_spanned!(span=> let #name = #e; #chosen),
            }
        };
        let [some_of, none, ok_of, err_of] =
            ["Some", "None", "Ok", "Err"].map(|name| own(name, span).into_token_stream());
        let (wrap, rest) = match err {
            None => (&some_of, none.clone()),
            Some(err) => (&ok_of, quote_spanned!(span=> #err_of(#err))),
        };
        let something = quote_spanned!(span=> #wrap(#value));
        let bool = |b: bool| quote_spanned!(span=> #b);
        let named = own("made", span);
        let wrapped = |wrap: &TokenStream, made: TokenStream| quote_spanned!(span=> let #named = { #made }; #wrap(#named));
        let text = |otherwise: &str| match args.first() {
            Some(syn::Expr::Lit(text)) => text.to_token_stream(),
            _ => otherwise.to_token_stream(),
        };
        let value = match (&*asks, &args[..], err) {
            ("unwrap", [], _) | ("expect", [_], _) => {
                let text = match err {
                    None => text("nothing was found"),
                    Some(_) => text("the result is an error"),
                };
                let none = quote_spanned!(asked.span()=> if !#some { panic!(#text); });
                quote_spanned!(span=> #none #value)
            }
            ("unwrap_err", [], Some(err)) | ("expect_err", [_], Some(err)) => {
                let text = text("the result is no error");
                let some = quote_spanned!(asked.span()=> if #some { panic!(#text); });
                quote_spanned!(span=> #some #err)
            }
            ("unwrap_or", [other], _) => eager(value.clone(), other, true),
            ("unwrap_or_default", [], _) => or(value, &quote_spanned!(span=> Default::default())),
            ("unwrap_or_else", [f], _) => or(value, &other_made(f)?),
            ("map_or", [other, f], _) => eager(made(f)?, other, true),
            ("map_or_else", [other, f], _) => or(&made(f)?, &other_made(other)?),
            ("is_some", [], None) | ("is_ok", [], Some(_)) => some.to_token_stream(),
            ("is_none", [], None) | ("is_err", [], Some(_)) => quote_spanned!(span=> !#some),
            ("map", [f], _) => or(&wrapped(wrap, made(f)?), &rest),
            ("map_err", [f], Some(_)) => or(&something, &wrapped(&err_of, other_made(f)?)),
            ("copied" | "cloned", [], _) => or(&quote_spanned!(span=> #wrap(*#value)), &rest),
            ("and_then", [f], _) => or(&made(f)?, &rest),
            ("and", [other], _) => eager(rest, other, false),
            ("or", [other], _) => eager(something, other, true),
            ("or_else", [f], _) => or(&something, &other_made(f)?),
            ("filter", [f], None) => {
                let test = apply(f, &[(best, true)])?;
                or(
                    &quote_spanned!(span=> let #best = #value; if #test { #some_of(#best) } else { #none }),
                    &none,
                )
            }
            ("flatten", [], _) => or(value, &rest),
            ("inspect", [f], _) => {
                let look = apply(f, &[(best, true)])?;
                or(
                    &quote_spanned!(span=> let #best = #value; #look; #wrap(#best)),
                    &rest,
                )
            }
            ("inspect_err", [f], Some(err)) => {
                let look = apply(f, &[(err, true)])?;
                or(&something, &quote_spanned!(span=> #look; #rest))
            }
            ("unzip", [], None) => {
                let both = quote_spanned!(span=> let #named = #value; (#some_of(#named.0), #some_of(#named.1)));
                or(&both, &quote_spanned!(span=> (#none, #none)))
            }
            ("transpose", [], None) => or(
                &quote_spanned!(span=> match #value {
                    #ok_of(#named) => #ok_of(#some_of(#named)),
                    #err_of(#named) => #err_of(#named),
                }),
                &quote_spanned!(span=> #ok_of(#none)),
            ),
            ("transpose", [], Some(err)) => or(
                &quote_spanned!(span=> match #value {
                    #some_of(#named) => #some_of(#ok_of(#named)),
                    #none => #none,
                }),
                &quote_spanned!(span=> #some_of(#err_of(#err))),
            ),
            ("zip" | "xor", [other], None) => self.beside(&asks, other),
            ("is_some_and", [f], None) | ("is_ok_and", [f], Some(_)) => or(&made(f)?, &bool(false)),
            ("is_none_or", [f], None) => or(&made(f)?, &bool(true)),
            ("is_err_and", [f], Some(_)) => or(&bool(false), &other_made(f)?),
            ("ok_or", [other], None) => {
                let ok = quote_spanned!(span=> #ok_of(#value));
                let other = quote_spanned!(other.span()=> (#other));
                match is_simple(&parse_quote_spanned!(span=> #other)) {
                    true => or(&ok, &quote_spanned!(span=> #err_of #other)),
                    false => {
                        let chosen = or(&ok, &quote_spanned!(span=> #err_of(#named)));
                        quote_spanned!(span=> let #named = #other; #chosen)
                    }
                }
            }
            ("ok_or_else", [f], None) => or(
                &quote_spanned!(span=> #ok_of(#value)),
                &wrapped(&err_of, other_made(f)?),
            ),
            ("ok", [], Some(_)) => or(&quote_spanned!(span=> #some_of(#value)), &none),
            ("err", [], Some(err)) => or(&none, &quote_spanned!(span=> #some_of(#err))),
            _ => {
                return refused(
                    asked.method.span(),
                    format!("`{asks}` takes other arguments"),
                    "write `.unwrap()` or `.unwrap_or(value)`",
                );
            }
        };
        Ok(self.block(&value))
    }

    /// `zip` or `xor` of an `Option` and another.
    fn beside(&self, asks: &str, other: &syn::Expr) -> TokenStream {
        let (span, has, value) = (self.span, &self.some, &self.value);
        let [some, none, item, both] =
            ["Some", "None", "other", "both"].map(|name| own(name, span));
        let asked = match asks {
            "zip" => quote_spanned!(span=> match #item {
                #some(#both) if #has => #some((#value, #both)),
                _ => #none,
            }),
            _ => quote_spanned!(span=>
                if !#has { #item } else if let #some(_) = #item { #none } else { #some(#value) }
            ),
        };
        // The other has names of its own for what is asked of it, which are those of this one: they end where it is held.
        quote_spanned!(span=> let #item = #other; #asked)
    }
}

/// Whether what it becomes is said by where it goes: `x.into()`, and `Some(x.into())`.
pub(super) fn is_into(e: &syn::Expr) -> bool {
    match strip(e) {
        syn::Expr::MethodCall(m) => m.method == "into" && m.args.is_empty(),
        syn::Expr::Call(c) => c.args.iter().any(is_into),
        syn::Expr::Tuple(t) => t.elems.iter().any(is_into),
        _ => false,
    }
}

/// Whether evaluating it does nothing that shows.
fn is_simple(e: &syn::Expr) -> bool {
    match strip(e) {
        syn::Expr::Lit(_) | syn::Expr::Path(_) => true,
        syn::Expr::Unary(u) => matches!(u.op, syn::UnOp::Neg(_)) && is_simple(&u.expr),
        syn::Expr::Reference(r) => is_simple(&r.expr),
        syn::Expr::Field(f) => is_simple(&f.base),
        syn::Expr::Tuple(t) => t.elems.iter().all(is_simple),
        // Its type comes from where it goes.
        syn::Expr::Call(c) => {
            c.args.is_empty()
                && matches!(&*c.func, syn::Expr::Path(p) if p.path.segments.last().is_some_and(|s| s.ident == "default"))
        }
        _ => false,
    }
}

impl Checker<'_> {
    /// A method of an `Option` or a `Result`.
    pub(in super::super) fn option_method(
        &mut self,
        asked: &syn::ExprMethodCall,
        receiver: Expr,
    ) -> Expr {
        let span = asked.span();
        let args: Vec<&syn::Expr> = asked.args.iter().collect();
        let name = asked.method.to_string();
        let sum = match self.shallow(&receiver.ty) {
            Ty::Ref { target, .. } => Sum::of(&target, self),
            ty => Sum::of(&ty, self),
        };
        let result = sum == Some(Sum::Result);
        match (&*name, &args[..]) {
            ("take", []) if !result => return self.exchanged(receiver, None, asked),
            ("replace", [new]) if !result => return self.exchanged(receiver, Some(new), asked),
            ("as_ref" | "as_mut", []) => {
                return self.borrowed_parts(receiver, name == "as_mut", asked);
            }
            ("take_if", [test]) if !result => return self.taken_if_so(receiver, test, asked),
            ("insert" | "get_or_insert" | "get_or_insert_with", [new]) if !result => {
                return self.inserted(receiver, &name, new, asked);
            }
            _ => {}
        }
        let known = match result {
            true => [OF_RESULT, &[]],
            false => [OF_OPTION, MAKE_OPTION],
        };
        let option = self.behind_refs(receiver);
        if !known.iter().any(|known| known.contains(&&*name)) {
            let shown = self.show(&option.ty);
            let help = match &*name {
                "as_deref" => "leave it out: it is copied".to_owned(),
                _ => nearest(&name, known.concat().into_iter()).map_or_else(
                    || "take it apart: `if let Some(x) = ..`, or `match`".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                ),
            };
            return self.refuse(
                asked.method.span(),
                format!("`{shown}` has no method `{name}`"),
                help,
            );
        }
        let (ty, best) = (option.ty.clone(), own("best", span));
        let var = self.add_var("option", ty.clone());
        let found = Found {
            span,
            run: TokenStream::new(),
            some: own("some", span),
            value: best.to_token_stream(),
            best,
            err: result.then(|| own("err", span)),
        };
        let asked = found.asked(asked);
        let parts = self.parts_of(&ty);
        let value = self.scoped(|c| {
            let names = [Some(&found.some), Some(&found.best), found.err.as_ref()];
            for (i, (name, part)) in names.into_iter().flatten().zip(parts).enumerate() {
                let whole = Expr::new(ExprKind::Var(var), ty.clone(), span);
                let part = Expr::new(ExprKind::Field(whole, i), part, span);
                c.bind(&name.to_string(), Binding::Place(part));
            }
            match asked {
                Ok(block) => c.expr(&block, None),
                Err(why) => c.refuse_why(why),
            }
        });
        let (value_ty, stmts) = (
            value.ty.clone(),
            vec![Stmt::Let(Pat::Var(var), Some(option))],
        );
        Expr::new(ExprKind::Block(stmts, Some(value)), value_ty, span)
    }

    /// A reference to what a method is called on.
    fn referred(&mut self, receiver: Expr, mutable: bool, span: Span) -> Expr {
        match self.shallow(&receiver.ty) {
            Ty::Ref { target, .. } => {
                let want = Ty::Ref { mutable, target };
                self.coerce(receiver, &want)
            }
            _ => self.borrow(receiver, mutable, span),
        }
    }

    /// `take`, and with a value `replace`: what was there.
    fn exchanged(
        &mut self,
        receiver: Expr,
        new: Option<&syn::Expr>,
        asked: &syn::ExprMethodCall,
    ) -> Expr {
        let (span, wrap) = (asked.span(), own("Some", asked.span()));
        let reference = self.referred(receiver, true, asked.receiver.span());
        let Ty::Ref { target, .. } = self.shallow(&reference.ty) else {
            return Self::broken(span);
        };
        let new = match new {
            Some(new) => self.expr_as(&parse_quote_spanned!(span=> #wrap(#new)), &target),
            None => self.default_of(&target, span),
        };
        let kind = ExprKind::Method(Builtin::MemReplace, vec![reference, new]);
        Expr::new(kind, *target, span)
    }

    /// `take_if`: what was there, if it is such a one.
    fn taken_if_so(
        &mut self,
        receiver: Expr,
        test: &syn::Expr,
        asked: &syn::ExprMethodCall,
    ) -> Expr {
        let span = asked.span();
        let (lent, place) = self.lent(receiver, true, asked.receiver.span());
        let [of, best, some, none, take] =
            ["option", "best", "Some", "None", "take"].map(|name| own(name, span));
        let value = match apply(test, &[(&best, false)]) {
            Ok(test) => self.scoped(|c| {
                c.bind(&of.to_string(), Binding::Place(place));
                let taken = parse_quote_spanned!(span=>
                    if let #some(#best) = &mut #of && #test { #of.#take() } else { #none });
                c.expr(&taken, None)
            }),
            Err(why) => self.refuse_why(why),
        };
        let ty = value.ty.clone();
        Expr::new(ExprKind::Block(vec![lent], Some(value)), ty, span)
    }

    /// The same as a variable, and the place behind it.
    pub(in super::super) fn lent(
        &mut self,
        receiver: Expr,
        mutable: bool,
        span: Span,
    ) -> (Stmt, Expr) {
        let reference = self.referred(receiver, mutable, span);
        let ty = reference.ty.clone();
        let var = self.add_var("option", ty.clone());
        let place = self.behind_refs(Expr::new(ExprKind::Var(var), ty, span));
        (Stmt::Let(Pat::Var(var), Some(reference)), place)
    }

    /// Part of a place.
    fn part_of(place: &Expr, i: usize, ty: &Ty) -> Expr {
        let kind = ExprKind::Field(place.clone(), i);
        Expr::new(kind, ty.clone(), place.span)
    }

    /// A reference to a place.
    fn lent_place(&mut self, part: Expr, mutable: bool) -> Expr {
        let (ty, span) = (part.ty.clone(), part.span);
        if let shown @ Ty::Mat { .. } = self.shallow(&ty) {
            let shown = self.show(&shown);
            return self.refuse(
                span,
                format!("a reference to `{shown}` is not part of the task language"),
                "take it as it is: it is copied",
            );
        }
        let target = Box::new(ty);
        Expr::new(ExprKind::AddrOf(part), Ty::Ref { mutable, target }, span)
    }

    /// `as_ref` and `as_mut`: the same of references to what there is.
    fn borrowed_parts(
        &mut self,
        receiver: Expr,
        mutable: bool,
        asked: &syn::ExprMethodCall,
    ) -> Expr {
        let span = asked.span();
        let (lent, place) = self.lent(receiver, mutable, asked.receiver.span());
        let Some(sum) = Sum::of(&place.ty, self) else {
            return Self::broken(span);
        };
        let parts = self.parts_of(&place.ty);
        let lent_parts: Vec<Expr> = (1..parts.len())
            .map(|i| self.lent_place(Self::part_of(&place, i, &parts[i]), mutable))
            .collect();
        let ty = match &lent_parts[..] {
            [ok, err] => Ty::result(ok.ty.clone(), err.ty.clone()),
            parts => Ty::option(parts[0].ty.clone()),
        };
        let has = Self::part_of(&place, 0, &BOOL);
        let mut ways = Vec::new();
        for number in [1, 0] {
            let variants = self.variants(sum).into_iter();
            for variant in variants.filter(|v| v.number == number) {
                let given = variant
                    .fields
                    .clone()
                    .map(|i| (i, lent_parts[i - 1].clone()));
                ways.push(self.sum_value(&variant, given.collect(), ty.clone(), span));
            }
        }
        let other = ways.pop();
        let Some(then) = ways.pop() else {
            return Self::broken(span);
        };
        let value = Expr::new(ExprKind::If(has, then, other), ty.clone(), span);
        Expr::new(ExprKind::Block(vec![lent], Some(value)), ty, span)
    }

    /// `insert`, `get_or_insert` and `get_or_insert_with`: a reference to what is there then.
    fn inserted(
        &mut self,
        receiver: Expr,
        name: &str,
        new: &syn::Expr,
        asked: &syn::ExprMethodCall,
    ) -> Expr {
        let span = asked.span();
        let (lent, place) = self.lent(receiver, true, asked.receiver.span());
        let Some(some) = self.parts_of(&place.ty).into_iter().nth(1) else {
            return Self::broken(span);
        };
        let (mut stmts, wrap) = (vec![lent], own("Some", span));
        let new: syn::Expr = match name {
            "get_or_insert_with" => match apply(new, &[]) {
                Ok(made) => parse_quote_spanned!(span=> #wrap(#made)),
                Err(why) => return self.refuse_why(why),
            },
            _ => parse_quote_spanned!(span=> #wrap(#new)),
        };
        let mut new = self.expr_as(&new, &place.ty.clone());
        if name == "get_or_insert" {
            let var = self.add_var("new", new.ty.clone());
            let ty = new.ty.clone();
            stmts.push(Stmt::Let(Pat::Var(var), Some(new)));
            new = Expr::new(ExprKind::Var(var), ty, span);
        }
        let mut put = Expr::new(ExprKind::Assign(place.clone(), new), Ty::unit(), span);
        if name != "insert" {
            let has = Self::part_of(&place, 0, &BOOL);
            let lacks = Expr::new(
                ExprKind::Unary(millstream_graph::ir::UnOp::Not, has),
                BOOL,
                span,
            );
            put = Expr::new(ExprKind::If(lacks, put, None), Ty::unit(), span);
        }
        stmts.push(Stmt::Expr(put));
        let value = self.lent_place(Self::part_of(&place, 1, &some), true);
        let ty = value.ty.clone();
        Expr::new(ExprKind::Block(stmts, Some(value)), ty, span)
    }
}
