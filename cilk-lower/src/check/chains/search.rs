//! Chains that may find nothing: their value is an `Option`. What is asked of one, or taken apart, where it stands is never made.

use super::{
    super::{
        Checker,
        dispatch::Meant,
        patterns::{ArmSyntax, BodySyntax},
        places::strip,
        refutable::{Needs, needs_of},
    },
    Refused, apply,
    asked::OF_OPTION,
    jumps::first_of,
    own, refused,
    sources::{is_part, is_search, part},
};
use crate::{
    hir::{Expr, ExprKind},
    ty::Ty,
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{parse_quote_spanned, spanned::Spanned};

/// A method that may find nothing, and what is made of what it finds.
struct Search<'e> {
    end: &'e syn::ExprMethodCall,
    made: Vec<&'e syn::ExprMethodCall>,
    /// Whether the program has orders of its own, so that the `cmp` of a closure may be one of these.
    own_orders: bool,
}

impl<'e> Search<'e> {
    fn new(e: &'e syn::Expr) -> Option<Self> {
        let syn::Expr::MethodCall(m) = strip(e) else {
            return None;
        };
        if is_search(m) || is_part(m) {
            return Some(Self {
                end: m,
                made: Vec::new(),
                own_orders: false,
            });
        }
        match (&*m.method.to_string(), m.args.len()) {
            ("copied" | "cloned", 0) | ("map", 1) => {
                let mut search = Self::new(&m.receiver)?;
                search.made.push(m);
                Some(search)
            }
            _ => None,
        }
    }

    /// What a method asks, if it asks a search.
    fn asked(m: &'e syn::ExprMethodCall) -> Option<Self> {
        OF_OPTION
            .contains(&&*m.method.to_string())
            .then(|| Self::new(&m.receiver))?
    }
}

/// What may be nothing.
pub(super) struct Found {
    pub(super) span: Span,
    /// Behind these statements `some` tells whether there is something, and `best` is that.
    pub(super) run: TokenStream,
    pub(super) some: Ident,
    pub(super) best: Ident,
    /// What is made of it.
    pub(super) value: TokenStream,
    /// Of a `Result`: what is there instead.
    pub(super) err: Option<Ident>,
}

impl Found {
    pub(super) fn block(&self, value: &TokenStream) -> syn::Expr {
        let run = &self.run;
        parse_quote_spanned!(self.span=> { #run #value })
    }

    /// It as a value: an `Option`.
    fn option(&self) -> syn::Expr {
        let (has, value) = (&self.some, &self.value);
        let (some, none) = (own("Some", self.span), own("None", self.span));
        self.block(&quote_spanned!(self.span=> if #has { #some(#value) } else { #none }))
    }

    /// A `match` of it.
    fn matched(&self, arms: &Arms<'_>) -> syn::Expr {
        let Self {
            span, some, value, ..
        } = self;
        let (span, other) = (*span, &arms.other);
        let block = match &arms.some[..] {
            [(inner, arm)] if arm.guard.is_none() && !arms.asks => {
                let body = &arm.body;
                quote_spanned!(span=> if #some { let #inner = #value; #body } else { #other })
            }
            // What is left by all of these arms goes to the other one, which stands there once.
            several => {
                let label = syn::Lifetime::new(&format!("'{}", own("found", span)), span);
                let several = several.iter().map(|(inner, arm)| {
                    let (guard, body) = (arm.guard.iter(), &arm.body);
                    quote_spanned!(span=> #inner #(if #guard)* => break #label #body,)
                });
                let rest = arms.wild.then(|| quote_spanned!(span=> _ => {}));
                quote_spanned!(span=> #label: { if #some { match (#value) { #(#several)* #rest } } #other })
            }
        };
        self.block(&block)
    }
}

/// The arms of a `match` of a search.
struct Arms<'s> {
    /// Those of `Some(pattern)`, with that pattern.
    some: Vec<(&'s syn::Pat, &'s ArmSyntax<'s>)>,
    /// Whether these may leave something.
    asks: bool,
    other: BodySyntax<'s>,
    /// Whether the other one is for what these leave too.
    wild: bool,
}

impl<'s> Arms<'s> {
    /// None if they ask for more than whether something was found.
    fn new(checker: &Checker<'_>, arms: &'s [ArmSyntax<'s>]) -> Option<Self> {
        let (mut some, mut other) = (Vec::new(), None);
        let (mut asks, mut wild) = (false, false);
        for arm in arms {
            match strip_parens(arm.pat) {
                syn::Pat::TupleStruct(t)
                    if checker.is_some(&t.path) && t.elems.len() == 1 && !wild =>
                {
                    asks |= checker.asks(&t.elems[0]);
                    some.push((&t.elems[0], arm));
                }
                pat if other.is_none()
                    && arm.guard.is_none()
                    && (checker.is_none_pattern(pat) || is_wild(pat)) =>
                {
                    wild = is_wild(pat);
                    other = Some(arm.body);
                }
                // Behind `None` it is `Some(_)`.
                pat if is_wild(pat) && !wild => some.push((pat, arm)),
                _ => return None,
            }
        }
        let other = other.filter(|_| wild || !some.is_empty())?;
        Some(Self {
            some,
            asks,
            other,
            wild,
        })
    }
}

fn strip_parens(pat: &syn::Pat) -> &syn::Pat {
    match pat {
        syn::Pat::Paren(p) => strip_parens(&p.pat),
        pat => pat,
    }
}

fn is_wild(pat: &syn::Pat) -> bool {
    matches!(pat, syn::Pat::Wild(_))
}

impl Checker<'_> {
    /// Whether a pattern may leave something.
    pub(in super::super) fn asks(&self, pat: &syn::Pat) -> bool {
        match pat {
            _ if self.variant_pattern(pat).is_some() => true,
            syn::Pat::Wild(_) | syn::Pat::Rest(_) => false,
            syn::Pat::Ident(p) => self.is_constant(&p.ident) || p.subpat.is_some(),
            syn::Pat::Paren(p) => self.asks(&p.pat),
            syn::Pat::Reference(r) => self.asks(&r.pat),
            syn::Pat::Tuple(t) => t.elems.iter().any(|p| self.asks(p)),
            syn::Pat::TupleStruct(t) => t.elems.iter().any(|p| self.asks(p)),
            syn::Pat::Struct(s) => s.fields.iter().any(|f| self.asks(&f.pat)),
            _ => true,
        }
    }

    /// Reads a search; none if what it runs over is no iterator, and it is no part of anything else either.
    fn found(&mut self, search: &Search<'_>, span: Span) -> Option<Result<Found, Refused>> {
        if self.goes_on(search.end) {
            return None;
        }
        let (some, best) = (own("some", span), own("best", span));
        let first = first_of(search.end).filter(|first| {
            let syn::Expr::MethodCall(cut) = strip(&first.receiver) else {
                return false;
            };
            match search.end.method == "nth" {
                true => self.jumps_at_most(&first.receiver),
                false => self.only_jumps(&cut.receiver) && self.only_jumps(&first.receiver),
            }
        });
        let end = first.as_ref().unwrap_or(search.end);
        let (of, by) = (&end.receiver, &end.method);
        if by == "rposition" && !Self::has_numbers(of) {
            let why = "`rposition` of what is no slice's `iter`";
            let help = "run over the numbers from behind: `(0..n).rev().find(..)`";
            return Some(refused(by.span(), why, help));
        }
        let over = match by == "rposition" {
            true => self.loop_over(
                &parse_quote_spanned!(by.span()=> (#of).enumerate().rev()),
                span,
            ),
            false => {
                let of = self.taken_from(end);
                self.loop_ended(&of, end, span)
            }
        };
        let over = over.filter(|_| is_search(end));
        let run = match over {
            Some(over) => over.and_then(|over| over.finding(end, &some, &best, search.own_orders)),
            None if is_part(end) => part(end, &some, &best),
            None => return None,
        };
        Some(run.and_then(|run| {
            let mut value = best.to_token_stream();
            for m in &search.made {
                value = match m.args.first() {
                    Some(f) => {
                        let made = apply(f, &[(&best, false)])?;
                        quote_spanned!(span=> { let #best = #value; #made })
                    }
                    None => quote_spanned!(span=> *#value),
                };
            }
            Ok(Found {
                span,
                run,
                some,
                best,
                value,
                err: None,
            })
        }))
    }

    /// Whether a method is one that the program has written for what it is called on.
    pub(super) fn is_own_method(&mut self, m: &syn::ExprMethodCall) -> bool {
        if !self.m.has_methods(&m.method.to_string()) {
            return false;
        }
        let ty = self.type_ahead(&m.receiver);
        let receiver = Expr::new(ExprKind::Error, ty, m.span());
        let before = self.m.diags.0.len();
        let meant = self.meant(m, &receiver, None);
        // It is said where it is called.
        self.m.diags.0.truncate(before);
        !matches!(meant, Meant::Rusts)
    }

    /// A search, unless it is a method of the program's.
    fn of_rusts<'e>(&mut self, search: Option<Search<'e>>) -> Option<Search<'e>> {
        let search = search.filter(|search| !self.is_own(search))?;
        let orders = ["cmp", "partial_cmp", "total_cmp"];
        Some(Search {
            own_orders: orders.iter().any(|name| self.m.has_methods(name)),
            ..search
        })
    }

    /// Whether what looks like a search is a method of the program's.
    fn is_own(&mut self, search: &Search<'_>) -> bool {
        is_part(search.end) && self.is_own_method(search.end)
    }

    /// A `match`, or what is one under another name, of a search or of any other value.
    pub(in super::super) fn matching_of(
        &mut self,
        e: &syn::Expr,
        arms: &[ArmSyntax<'_>],
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        if let syn::Expr::MethodCall(_) = strip(e)
            && let Some(held) = self.with_held(e)
        {
            return self.matching_of(&held, arms, want, span);
        }
        if let syn::Expr::MethodCall(m) = strip(e)
            && let Some((named, of)) = self.with_ranges_before(m)
        {
            return self.behind_names(&named, |c| c.matching_of(&of, arms, want, span));
        }
        if let Some(matched) = self.matched_exchange(e, arms, want, span) {
            return matched;
        }
        let search = self.of_rusts(Search::new(e));
        // Arms that ask for more than whether something was found are those of an `Option`.
        let plain = Arms::new(self, arms);
        let found = search.filter(|_| plain.is_some());
        match (
            found.and_then(|search| self.found(&search, e.span())),
            plain,
        ) {
            (Some(Ok(found)), Some(arms)) => self.expr(&found.matched(&arms), want),
            (Some(Err(why)), _) => self.refuse_why(why),
            _ => match self.slice_itself(e, arms) {
                Some((value, mutable)) => {
                    let pats: Vec<syn::Pat> = arms
                        .iter()
                        .map(|arm| of_elements(arm.pat, mutable))
                        .collect();
                    let arms = arms
                        .iter()
                        .zip(&pats)
                        .map(|(arm, pat)| ArmSyntax { pat, ..*arm });
                    self.matching(value, &arms.collect::<Vec<_>>(), want, span)
                }
                None => {
                    let value = self.scrutinee(e, arms);
                    self.matching(value, arms, want, span)
                }
            },
        }
    }

    /// The slice that a `match` of `*slice` or `a[lo..hi]` is of, whose elements patterns name themselves and not references to them; and whether it is `&mut`.
    fn slice_itself(&mut self, e: &syn::Expr, arms: &[ArmSyntax<'_>]) -> Option<(Expr, bool)> {
        let is_place = match strip(e) {
            syn::Expr::Unary(u) => matches!(u.op, syn::UnOp::Deref(_)),
            syn::Expr::Index(i) => self.index_range(&i.index).is_some(),
            _ => false,
        };
        let ty = is_place.then(|| self.type_ahead(&syn::parse_quote_spanned!(e.span()=> (&#e))));
        let Ty::Slice { .. } = self.shallow(&ty?) else {
            return None;
        };
        let writes = |arm: &ArmSyntax<'_>| needs_of(arm.pat) == Needs::Memory { mutable: true };
        let mutable = arms.iter().any(writes);
        let value = match mutable {
            true => self.expr(&syn::parse_quote_spanned!(e.span()=> (&mut #e)), None),
            false => self.expr(&syn::parse_quote_spanned!(e.span()=> (&#e)), None),
        };
        Some((value, mutable))
    }

    /// What a `match` is of. What a closure is lent is a reference there, where names need that.
    fn scrutinee(&mut self, e: &syn::Expr, arms: &[ArmSyntax<'_>]) -> Expr {
        let names = arms.iter().any(|arm| needs_of(arm.pat) > Needs::Nothing);
        match strip(e) {
            syn::Expr::Tuple(t) if names => {
                let parts = t.elems.iter();
                let parts: Vec<Expr> = parts.map(|part| self.scrutinee(part, arms)).collect();
                let ty = Ty::Tuple(parts.iter().map(|part| part.ty.clone()).collect());
                Expr::new(ExprKind::Tuple(parts), ty, e.span())
            }
            _ => {
                let value = self.expr(e, None);
                match names && self.is_lent(e, &value) {
                    true => self.borrow(value, false, e.span()),
                    false => value,
                }
            }
        }
    }

    /// What a method asks of a search; none if it asks none.
    pub(super) fn search(
        &mut self,
        asked: &syn::ExprMethodCall,
        want: Option<&Ty>,
    ) -> Option<Expr> {
        let made = match self.of_rusts(Search::asked(asked)) {
            Some(search) => self
                .found(&search, asked.span())?
                .and_then(|found| found.asked(asked)),
            None => {
                let whole = syn::Expr::MethodCall(asked.clone());
                let search = self.of_rusts(Search::new(&whole))?;
                self.found(&search, asked.span())?
                    .map(|found| found.option())
            }
        };
        Some(match made {
            Ok(block) => self.expr(&block, want),
            Err(why) => self.refuse_why(why),
        })
    }
}

/// A pattern of a slice itself as one of what refers to it.
fn of_elements(pat: &syn::Pat, mutable: bool) -> syn::Pat {
    let mut pat = pat.clone();
    match &mut pat {
        syn::Pat::Or(or) => or
            .cases
            .iter_mut()
            .for_each(|case| *case = of_elements(case, mutable)),
        syn::Pat::Paren(p) => *p.pat = of_elements(&p.pat, mutable),
        syn::Pat::Slice(s) => {
            pat = match mutable {
                true => syn::parse_quote_spanned!(s.span()=> &mut #s),
                false => syn::parse_quote_spanned!(s.span()=> &#s),
            };
        }
        _ => {}
    }
    pat
}
