//! `match` of a slice by its length and elements, `[first, rest @ ..]`: the tests and `let`s that it stands for.

use super::{
    Binding, Checker,
    chains::own,
    patterns::{ArmSyntax, is_reference},
};
use crate::{
    hir::{Expr, ExprKind, Pat, Stmt},
    ty::Ty,
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::spanned::Spanned;

/// Slices of a length that a pattern takes.
#[derive(Clone, Copy)]
enum Lengths {
    Is(usize),
    From(usize),
}

impl Lengths {
    const fn take(self, len: usize) -> bool {
        match self {
            Self::Is(n) => len == n,
            Self::From(n) => len >= n,
        }
    }
}

/// Whether a pattern is of a slice.
pub(super) fn is_of_slice(pat: &syn::Pat) -> bool {
    match pat {
        syn::Pat::Slice(_) => true,
        syn::Pat::Paren(p) => is_of_slice(&p.pat),
        syn::Pat::Or(o) => o.cases.iter().any(is_of_slice),
        _ => false,
    }
}

/// The patterns of elements in one.
fn elements(pat: &syn::Pat) -> Box<dyn Iterator<Item = &syn::Pat> + '_> {
    match pat {
        syn::Pat::Slice(s) => Box::new(s.elems.iter()),
        syn::Pat::Paren(p) => elements(&p.pat),
        syn::Pat::Or(o) => Box::new(o.cases.iter().flat_map(elements)),
        _ => Box::new(std::iter::empty()),
    }
}

/// What an arm asks, and what it does where that is so.
struct Asked {
    lengths: Vec<Lengths>,
    /// Whether it leaves none of these.
    all: bool,
    /// Tests of elements, and names of what needs none.
    elements: Vec<Element>,
}

enum Element {
    Let(TokenStream),
    If(TokenStream),
}

impl Asked {
    /// Whether the length is one of these.
    fn length(&self, len: &Ident) -> TokenStream {
        let span = len.span();
        let tests = self.lengths.iter().map(|l| match l {
            Lengths::Is(n) => quote_spanned!(span=> #len == #n),
            Lengths::From(0) => quote_spanned!(span=> true),
            Lengths::From(n) => quote_spanned!(span=> #len >= #n),
        });
        quote_spanned!(span=> #(#tests)||*)
    }

    /// What is done with the elements, if they are what is asked for.
    fn then(&self, body: TokenStream) -> TokenStream {
        let elements = self.elements.iter().rev();
        elements.fold(body, |body, element| match element {
            Element::Let(names) => quote::quote!(#names #body),
            Element::If(test) => quote::quote!(#test { #body }),
        })
    }
}

struct Names {
    slice: Ident,
    len: Ident,
    mutable: bool,
}

impl Checker<'_> {
    /// A `match` of a slice of which some arm names elements.
    pub(super) fn match_slice(
        &mut self,
        value: Expr,
        arms: &[ArmSyntax<'_>],
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let mutable = matches!(self.shallow(&value.ty), Ty::Slice { mutable: true, .. });
        let (slice, len) = (own("slice", span), own("len", span));
        let names = Names {
            slice,
            len,
            mutable,
        };
        let mut asked = Vec::new();
        for arm in arms {
            if let Some(twice) = elements(arm.pat).find(|elem| is_reference(elem)) {
                self.refuse_reference(twice);
                return Self::broken(span);
            }
            match self.asked(arm.pat, &names) {
                Some(mut of) => {
                    of.all &= arm.guard.is_none();
                    asked.push(of);
                }
                None => {
                    return self.refuse(
                        arm.pat.span(),
                        "this pattern of a slice is not part of the task language",
                        "write `[a, b, rest @ ..]`, with patterns of elements, `_` or a name; beside `|` of lengths alone",
                    );
                }
            }
        }
        let most = asked
            .iter()
            .flat_map(|of| &of.lengths)
            .fold(0, |most, l| match l {
                Lengths::Is(n) | Lengths::From(n) => most.max(*n),
            });
        let taken = |len: &usize| {
            let mut all = asked.iter().filter(|of| of.all);
            all.any(|of| of.lengths.iter().any(|l| l.take(*len)))
        };
        if let Some(missing) = (0..=most + 1).find(|len| !taken(len)) {
            return self.refuse(
                span,
                format!("this `match` has no arm for slices of length {missing}"),
                "add an arm for it, or `_ => ..` for all others",
            );
        }
        let block = tried(&names, &asked, arms, span);
        let var = self.add_var(&names.slice.to_string(), value.ty.clone());
        self.scoped(|c| {
            c.bind(&names.slice.to_string(), Binding::Var(var));
            let tried = c.expr(&block, want);
            let ty = tried.ty.clone();
            let stmts = vec![Stmt::Let(Pat::Var(var), Some(value))];
            Expr::new(ExprKind::Block(stmts, Some(tried)), ty, span)
        })
    }

    fn asked(&self, pat: &syn::Pat, names: &Names) -> Option<Asked> {
        let span = pat.span();
        let (slice, len) = (&names.slice, &names.len);
        let by = match names.mutable {
            true => quote_spanned!(span=> &mut),
            false => quote_spanned!(span=> &),
        };
        let mut out = Asked {
            lengths: vec![Lengths::From(0)],
            all: true,
            elements: Vec::new(),
        };
        match pat {
            syn::Pat::Paren(p) => return self.asked(&p.pat, names),
            syn::Pat::Wild(_) => {}
            syn::Pat::Ident(p) if !self.is_constant(&p.ident) && p.subpat.is_none() => {
                out.elements = vec![Element::Let(quote_spanned!(span=> let #p = #slice;))];
            }
            syn::Pat::Or(o) => {
                out.lengths.clear();
                for case in &o.cases {
                    let of = self.asked(case, names)?;
                    if !of.elements.is_empty() {
                        return None;
                    }
                    out.lengths.extend(of.lengths);
                }
            }
            syn::Pat::Slice(s) => {
                let mut rests = s.elems.iter().enumerate().filter(|(_, p)| is_rest(p));
                let rest = rests.next().map(|(i, _)| i);
                if rests.next().is_some() {
                    return None;
                }
                let (count, before) = (s.elems.len(), rest.unwrap_or(s.elems.len()));
                out.lengths = vec![rest.map_or(Lengths::Is(count), |_| Lengths::From(count - 1))];
                for (i, elem) in s.elems.iter().enumerate() {
                    let behind = count - i;
                    let at = match i < before {
                        true => quote_spanned!(span=> #i),
                        false => quote_spanned!(span=> #len - #behind),
                    };
                    let one = match elem {
                        _ if is_rest(elem) => {
                            let syn::Pat::Ident(syn::PatIdent {
                                ident, mutability, ..
                            }) = elem
                            else {
                                continue;
                            };
                            let behind = behind - 1;
                            Element::Let(
                                quote_spanned!(span=> let #mutability #ident = #by #slice[#i..#len - #behind];),
                            )
                        }
                        syn::Pat::Wild(_) => continue,
                        elem if self.asks(elem) => {
                            out.all = false;
                            Element::If(quote_spanned!(span=> if let #elem = #by #slice[#at]))
                        }
                        elem => Element::Let(quote_spanned!(span=> let #elem = #by #slice[#at];)),
                    };
                    out.elements.push(one);
                }
            }
            _ => return None,
        }
        Some(out)
    }
}

/// Whether a pattern stands for what the others of a slice leave.
fn is_rest(pat: &syn::Pat) -> bool {
    match pat {
        syn::Pat::Rest(_) => true,
        syn::Pat::Ident(p) => {
            let rest = p.subpat.as_ref().map(|(_, sub)| &**sub);
            matches!(rest, Some(syn::Pat::Rest(_)))
        }
        _ => false,
    }
}

/// The arms one after another, of which the last one takes all that is left.
fn tried(names: &Names, asked: &[Asked], arms: &[ArmSyntax<'_>], span: Span) -> syn::Expr {
    let Names { slice, len, .. } = names;
    let label = syn::Lifetime::new(&format!("'{}", own("found", span)), span);
    let (mut tests, mut last) = (TokenStream::new(), quote_spanned!(span=> unreachable!()));
    for (i, (of, arm)) in asked.iter().zip(arms).enumerate() {
        let body = &arm.body;
        if of.all && i + 1 == arms.len() {
            last = of.then(quote_spanned!(span=> (#body)));
            continue;
        }
        let mut found = quote_spanned!(span=> break #label (#body););
        if let Some(guard) = arm.guard {
            found = quote_spanned!(span=> if #guard { #found });
        }
        let (length, found) = (of.length(len), of.then(found));
        tests.extend(quote_spanned!(span=> if #length { #found }));
    }
    syn::parse_quote_spanned!(span=> #label: { let #len = #slice.len(); #tests #last })
}
