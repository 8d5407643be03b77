//! The loop that a chain stands for, as far as its adaptors say it: several in each other where items are run over themselves, and one behind another where
//! chains are.

use super::{adaptors::Place, item, own};
use crate::{
    check::{
        Checker,
        iteration::{PARTS, ROWS},
        places::strip,
    },
    ty::Ty,
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{parse_quote_spanned, spanned::Spanned};

/// What a `for` knows by itself, next to what it runs over.
const HEAD: &[&str] = &["zip", "enumerate", "rev", "step_by", "copied", "cloned"];
/// Methods that make an iterator of another.
pub(super) const ADAPTORS: &[&str] = &[
    "zip",
    "enumerate",
    "rev",
    "step_by",
    "copied",
    "cloned",
    "map",
    "filter",
    "inspect",
    "skip",
    "take",
    "skip_while",
    "take_while",
    "flatten",
    "flat_map",
    "filter_map",
    "map_while",
    "chain",
    "scan",
    "cycle",
    UNTIL,
    FOLDED,
];

/// What ends an iterator that a function gives before its next item is made: no program writes it.
pub(super) const UNTIL: &str = "__chain_until";

/// What says that one that a function gives is ended by what takes all of its items: no program writes it.
pub(super) const FOLDED: &str = "__chain_folded";

/// A chain without that; none if that is not there.
pub(super) fn unmarked(chain: &syn::Expr) -> Option<syn::Expr> {
    let syn::Expr::MethodCall(m) = strip(chain) else {
        return None;
    };
    if m.method == FOLDED {
        return Some(strip(&m.receiver).clone());
    }
    let mut m = m.clone();
    *m.receiver = unmarked(&m.receiver)?;
    Some(syn::Expr::MethodCall(m))
}

/// A chain's loop.
#[derive(Clone)]
pub(super) struct Loop {
    pub(super) span: Span,
    /// How many chains it stands in, whose items it runs over.
    pub(super) depth: usize,
    /// What stands before it.
    pub(super) before: TokenStream,
    /// One behind another.
    pub(super) rounds: Vec<Rounds>,
    /// Whether the items are references to elements.
    pub(super) refers: bool,
    /// Whether there is an item for each that it runs over; and whether those from behind are the same in the other order.
    pub(super) steady: bool,
    pub(super) turns: bool,
    /// Whether what ends it takes all of its items at once, as Rust's `fold` does, and not one by one.
    pub(super) folds: bool,
    /// Variables so far.
    pub(super) made: usize,
    /// What it stands in.
    around: Option<Box<Loop>>,
}

/// A `for`.
#[derive(Clone)]
pub(super) struct Rounds {
    /// What leaves it alone goes there, if it is one among others.
    pub(super) label: Option<syn::Lifetime>,
    /// What it runs over, the pattern of the items there, and the same as a value.
    pub(super) over: syn::Expr,
    pub(super) pat: TokenStream,
    pub(super) value: TokenStream,
    /// What the body begins with: what ends the loop, then, behind `item`, what the adaptors make of it.
    pub(super) first: TokenStream,
    pub(super) rest: TokenStream,
    /// Those that run over an item.
    pub(super) inner: Vec<Rounds>,
    /// What gives the next item, if that is no `for`'s affair: the program's own `next`, or a closure.
    pub(super) drawn: Option<TokenStream>,
    /// Whether it runs over what a function gives: what makes an item stands in that.
    pub(super) given: bool,
}

impl Rounds {
    /// The innermost ones.
    fn each(&mut self, f: &mut dyn FnMut(&mut Self)) {
        match &mut self.inner[..] {
            [] => f(self),
            inner => inner.iter_mut().for_each(|rounds| rounds.each(f)),
        }
    }

    /// All of them.
    fn all(&mut self, f: &mut dyn FnMut(&mut Self)) {
        f(self);
        self.inner.iter_mut().for_each(|rounds| rounds.all(f));
    }

    fn count(&self) -> usize {
        1 + self.inner.iter().map(Self::count).sum::<usize>()
    }

    pub(super) fn new(over: &syn::Expr, span: Span) -> Self {
        let (pat, value) = shape(over, span, &mut 0);
        Self {
            label: None,
            over: over.clone(),
            pat,
            value,
            first: TokenStream::new(),
            rest: TokenStream::new(),
            inner: Vec::new(),
            drawn: None,
            given: false,
        }
    }

    fn with(&self, span: Span, label: Option<&syn::Label>, body: &TokenStream) -> TokenStream {
        let Self {
            over,
            pat,
            value,
            first,
            rest,
            inner,
            drawn,
            ..
        } = self;
        let named = self
            .label
            .iter()
            .map(|label| quote_spanned!(span=> #label:));
        let (label, item) = (
            label.map_or_else(
                || quote_spanned!(span=> #(#named)*),
                ToTokens::to_token_stream,
            ),
            item(span),
        );
        let body = match &inner[..] {
            [] => body.clone(),
            inner => inner
                .iter()
                .map(|rounds| rounds.with(span, None, body))
                .collect(),
        };
        if let Some(next) = drawn {
            // What ends the loop before an item is taken leaves that to others.
            let some = own("Some", span);
            return quote_spanned!(span=> #label loop {
                #first let #some(#pat) = #next else { break; }; let #item = #value; #rest #body });
        }
        quote_spanned!(span=> #label for #pat in (#over) { #first let #item = #value; #rest #body })
    }
}

impl Checker<'_> {
    /// What an adaptor is called on, from the chain's beginning, and what it begins with.
    pub(super) fn links<'e>(
        &mut self,
        e: &'e syn::Expr,
        adaptors: &mut Vec<&'e syn::ExprMethodCall>,
    ) -> Option<&'e syn::Expr> {
        let e = strip(e);
        if self.is_given(e) {
            adaptors.clear();
            return Some(e);
        }
        if let syn::Expr::MethodCall(m) = e {
            let name = m.method.to_string();
            if name == "cycle" && self.draws_from(e).is_some() {
                adaptors.clear();
                return Some(e);
            }
            if ADAPTORS.contains(&&*name) {
                let base = self.links(&m.receiver, adaptors)?;
                if !self.is_own_iterator(base) || !self.is_own_method(m) {
                    adaptors.push(m);
                    return Some(base);
                }
                adaptors.clear();
            }
            let runs = matches!(&*name, "iter" | "iter_mut" | "into_iter")
                || ROWS.contains(&&*name)
                || PARTS.contains(&&*name);
            if name == "into_iter"
                && (self.range_of(&m.receiver).is_some()
                    || self.takes_from_range(&m.receiver)
                    || self.is_given(&m.receiver))
            {
                return Some(strip(&m.receiver));
            }
            if runs && !self.is_own_method(m) {
                return Some(e);
            }
        }
        let begins = matches!(e, syn::Expr::Range(_)) || self.of_one(e).is_some();
        let begins = begins || self.draws_from(e).is_some();
        (begins || self.range_of(e).is_some() || self.is_own_iterator(e)).then_some(e)
    }

    /// Whether an adaptor runs in step with an iterator of the program's.
    pub(super) fn is_beside_own(&mut self, m: &syn::ExprMethodCall) -> bool {
        m.method == "zip" && m.args.iter().any(|other| self.is_drawn_beside(other))
    }

    /// Whether what stands there gives its items by `next`.
    pub(super) fn is_drawn_beside(&mut self, other: &syn::Expr) -> bool {
        let base = self.links(other, &mut Vec::new()).cloned();
        let is_code =
            base.is_some_and(|base| self.is_given(&base) || self.draws_from(&base).is_some());
        is_code || self.is_own_iterator(other) || self.is_lent_range(other)
    }

    /// What takes items from an iterator by reference, `r.by_ref()`, as that reference; all else as it is.
    pub(super) fn lent_whole(&mut self, e: &syn::Expr) -> syn::Expr {
        match strip(e) {
            syn::Expr::MethodCall(m) if m.method == "by_ref" => {
                let (of, span) = (&m.receiver, m.span());
                let ty = self.type_ahead(of);
                match self.shallow(&ty) {
                    Ty::Ref { .. } => parse_quote_spanned!(span=> &mut *#of),
                    _ => parse_quote_spanned!(span=> &mut #of),
                }
            }
            e => e.clone(),
        }
    }

    /// Whether a value is of a type for which the program has an `impl Iterator`, or behind `&mut`; or takes numbers from a range.
    pub(super) fn is_own_iterator(&mut self, e: &syn::Expr) -> bool {
        if self.takes_from_range(e) {
            return true;
        }
        let Some(id) = self.m.iterators else {
            return false;
        };
        let ty = match strip(e) {
            syn::Expr::Range(_) | syn::Expr::Closure(_) => return false,
            syn::Expr::MethodCall(m) if m.method == "by_ref" => self.type_ahead(&m.receiver),
            e => self.type_ahead(e),
        };
        let of = match self.shallow(&ty) {
            Ty::Ref {
                mutable: true,
                target,
            } => self.shallow(&target),
            ty => ty,
        };
        let of = match of {
            Ty::Struct(_) => self.closed(&of),
            _ => None,
        };
        of.is_some_and(|of| !self.m.impls_of(id, &of).is_empty())
    }
}

/// Whether a `for` knows an adaptor by itself. What is left out in front of a `zip` is left out of the slice.
pub(super) fn is_head(
    m: &syn::ExprMethodCall,
    adaptors: &[&syn::ExprMethodCall],
    over: &syn::Expr,
) -> bool {
    let name = m.method.to_string();
    let mut from = adaptors.iter().skip_while(|of| !std::ptr::eq(**of, m));
    let mut before = adaptors.iter().take_while(|of| !std::ptr::eq(**of, m));
    let cuts = matches!(&*name, "skip" | "take")
        && is_of_elements(over)
        && !before.any(|of| of.method == "enumerate");
    match &*name {
        "zip" => !matches!(over, syn::Expr::Range(_)) && m.args.iter().all(is_side),
        _ => {
            HEAD.contains(&&*name)
                || cuts && from.any(|of| of.method == "zip" && is_side(&of.args[0]))
        }
    }
}

/// Whether a chain is of a slice's elements, and not of parts of it.
fn is_of_elements(e: &syn::Expr) -> bool {
    match strip(e) {
        syn::Expr::MethodCall(m) => match &*m.method.to_string() {
            "iter" | "iter_mut" => true,
            name => ADAPTORS.contains(&name) && is_of_elements(&m.receiver),
        },
        _ => false,
    }
}

/// Whether a `for` knows by itself what stands beside another in a `zip`.
pub(super) fn is_side(e: &syn::Expr) -> bool {
    match strip(e) {
        syn::Expr::Range(_) => false,
        syn::Expr::MethodCall(m) => match &*m.method.to_string() {
            "zip" => is_side(&m.receiver) && m.args.iter().all(is_side),
            "step_by" => false,
            "skip" | "take" => is_side(&m.receiver) && is_of_elements(&m.receiver),
            name if HEAD.contains(&name) => is_side(&m.receiver),
            name => !ADAPTORS.contains(&name),
        },
        _ => true,
    }
}

impl Loop {
    pub(super) fn new(
        over: &syn::Expr,
        span: Span,
        place: Place<'_>,
        refers: bool,
        turns: bool,
    ) -> Self {
        Self {
            span,
            depth: place.depth,
            before: TokenStream::new(),
            rounds: vec![Rounds::new(over, span)],
            refers,
            steady: true,
            turns,
            folds: place.folds,
            made: place.made,
            around: place.around.cloned().map(Box::new),
        }
    }

    /// What takes items from an iterator of the program's, as long as there are any.
    pub(super) fn drawing(over: &syn::Expr, span: Span, place: Place<'_>) -> Self {
        let mut all = Self::new(over, span, place, false, false);
        let from = all.variable("from");
        all.before = quote_spanned!(span=> let mut #from = #over;);
        all.rounds = vec![Rounds {
            drawn: Some(quote_spanned!(span=> #from.next())),
            ..Rounds::new(&parse_quote_spanned!(span=> #from), span)
        }];
        all.steady = false;
        all
    }

    /// Lets its items come from there, behind these statements.
    pub(super) fn draw(&mut self, before: TokenStream, next: &TokenStream) {
        self.before = before;
        for rounds in &mut self.rounds {
            rounds.drawn = Some(next.clone());
        }
    }

    /// What takes items from a closure, as long as there are any.
    pub(super) fn drawing_by(
        before: &TokenStream,
        closure: &syn::Expr,
        span: Span,
        place: Place<'_>,
    ) -> Self {
        let mut all = Self::new(closure, span, place, false, false);
        let from = all.variable("from");
        all.before = quote_spanned!(span=> #before let #from = #closure;);
        all.rounds = vec![Rounds {
            drawn: Some(quote_spanned!(span=> #from())),
            ..Rounds::new(&parse_quote_spanned!(span=> #from), span)
        }];
        all.steady = false;
        all
    }

    /// What runs over the iterator that a function gives.
    pub(super) fn over_given(call: &syn::Expr, span: Span, place: Place<'_>) -> Self {
        let mut all = Self::new(call, span, place, false, true);
        let given = all.variable("given");
        all.before = quote_spanned!(span=> let #given = #call;);
        let over = match place.folds {
            true => {
                let folded = Ident::new(FOLDED, span);
                parse_quote_spanned!(span=> #given.#folded())
            }
            false => parse_quote_spanned!(span=> #given),
        };
        all.rounds = vec![Rounds {
            given: true,
            ..Rounds::new(&over, span)
        }];
        all.steady = false;
        all
    }

    /// Where what runs over its items stands,
    pub(super) fn inside(&self) -> Place<'_> {
        Place {
            around: Some(self),
            depth: self.depth + 1,
            made: self.made,
            folds: self.folds,
        }
    }

    /// and what goes on beside it.
    pub(super) fn place(&self) -> Place<'_> {
        Place {
            around: self.around.as_deref(),
            depth: self.depth,
            made: self.made,
            folds: self.folds,
        }
    }

    /// A variable that lives as long as the loop.
    pub(super) fn variable(&mut self, name: &str) -> Ident {
        self.made += 1;
        own(&format!("{name}_{}_{}", self.depth, self.made), self.span)
    }

    /// The `for`, if there is but one.
    pub(super) fn only(&self) -> Option<&Rounds> {
        match &self.rounds[..] {
            [one] if one.inner.is_empty() => Some(one),
            _ => None,
        }
    }

    fn label(&self) -> syn::Lifetime {
        let name = own(&format!("leave_{}", self.depth), self.span);
        syn::Lifetime::new(&format!("'{name}"), self.span)
    }

    /// Whether a `break` in it leaves all of it.
    pub(super) fn is_plain(&self) -> bool {
        self.depth == 0 && self.only().is_some()
    }

    /// What leaves it: all of it.
    pub(super) fn leave(&self) -> TokenStream {
        let label = (!self.is_plain()).then(|| self.label());
        quote_spanned!(self.span=> break #label)
    }

    pub(super) fn then(&mut self, rest: &TokenStream) {
        for rounds in &mut self.rounds {
            rounds.each(&mut |rounds| rounds.rest.extend(rest.clone()));
        }
    }

    /// What ends it, asked before anything else is done in a round.
    pub(super) fn ends_if(&mut self, test: &syn::Expr) {
        let (span, leave) = (self.span, self.leave());
        let until = Ident::new(UNTIL, span);
        for rounds in &mut self.rounds {
            rounds.all(&mut |rounds| {
                if rounds.given {
                    let over = &rounds.over;
                    rounds.over = parse_quote_spanned!(span=> #over.#until(#test));
                }
                let first = quote_spanned!(span=> if #test { #leave; });
                rounds.first.extend(first);
            });
        }
    }

    /// Goes on with the rounds of another loop in each round.
    pub(super) fn nest(&mut self, inner: &Self) {
        self.then(&inner.before);
        for rounds in &mut self.rounds {
            rounds.each(&mut |rounds| rounds.inner = vec![inner.as_one()]);
        }
        self.refers = inner.refers;
        (self.steady, self.turns) = (false, false);
    }

    /// Goes on with the rounds of another loop when it ends. Both are of the same depth, one more than that of the whole.
    pub(super) fn and_then(self, other: Self) -> Self {
        let rounds = vec![self.as_one(), other.as_one()];
        let mut before = self.before;
        before.extend(other.before);
        Self {
            depth: self.depth - 1,
            before,
            rounds,
            refers: self.refers && other.refers,
            steady: false,
            turns: false,
            made: other.made,
            ..self
        }
    }

    /// Its rounds as those of one `for`, with its label.
    fn as_one(&self) -> Rounds {
        let mut one = match &self.rounds[..] {
            [one] => one.clone(),
            several => Rounds {
                inner: several.to_vec(),
                ..Rounds::new(&parse_quote_spanned!(self.span=> 0..1), self.span)
            },
        };
        one.label = Some(self.label());
        one
    }

    pub(super) fn count(&self) -> usize {
        self.rounds.iter().map(Rounds::count).sum()
    }

    /// The loop, with what is done with `item`.
    pub(super) fn with(&self, label: Option<&syn::Label>, body: &TokenStream) -> TokenStream {
        let span = self.span;
        match &self.rounds[..] {
            [one] if self.is_plain() => one.with(span, label, body),
            [_] => self.as_one().with(span, None, body),
            several => {
                let label = self.label();
                let several = several.iter().map(|rounds| rounds.with(span, None, body));
                quote_spanned!(span=> #label: { #(#several)* })
            }
        }
    }

    /// A block that runs the loop, and what it comes to.
    pub(super) fn block(
        &self,
        before: &TokenStream,
        body: &TokenStream,
        value: &TokenStream,
    ) -> syn::Expr {
        let (own, run) = (&self.before, self.with(None, body));
        parse_quote_spanned!(self.span=> { #own #before #run #value })
    }

    /// Whether it runs in a round of another.
    pub(super) const fn is_inside(&self) -> bool {
        self.around.is_some()
    }

    /// A value in front of the loop, as a block of all that it stands in.
    pub(super) fn there(&self, value: &syn::Expr) -> syn::Expr {
        let Some(around) = &self.around else {
            return value.clone();
        };
        let (span, there) = (around.span, own("there", around.span));
        let block = around.block(
            &quote_spanned!(span=> let mut #there;),
            &quote_spanned!(span=> #there = #value;),
            &there.to_token_stream(),
        );
        around.there(&block)
    }

    /// The same, which comes to the last item: as it stands in all that it stands in.
    pub(super) fn last_item(&self) -> syn::Expr {
        if let Some(around) = &self.around {
            let mut around = (**around).clone();
            around.nest(self);
            return around.last_item();
        }
        let (item, last) = (item(self.span), own("last", self.span));
        self.block(
            &quote_spanned!(self.span=> let mut #last;),
            &quote_spanned!(self.span=> #last = #item;),
            &last.to_token_stream(),
        )
    }

    /// Begins again from the end.
    pub(super) fn turn(&mut self) -> bool {
        let turns = self.turns;
        match &mut self.rounds[..] {
            [one] if one.inner.is_empty() && turns => {
                let over = &one.over;
                one.over = parse_quote_spanned!(self.span=> (#over).rev());
                true
            }
            _ => false,
        }
    }
}

/// The expression of `e` that this method call is.
pub(super) fn last_of<'e>(e: &'e syn::Expr, m: &syn::ExprMethodCall) -> &'e syn::Expr {
    let mut at = strip(e);
    while let syn::Expr::MethodCall(call) = at {
        if std::ptr::eq(call, m) {
            break;
        }
        at = strip(&call.receiver);
    }
    at
}

/// A pattern for the items of what a `for` runs over, and the same as a value.
pub(super) fn shape(e: &syn::Expr, span: Span, parts: &mut usize) -> (TokenStream, TokenStream) {
    let mut part = || {
        *parts += 1;
        own(&format!("part_{parts}"), span).into_token_stream()
    };
    let syn::Expr::MethodCall(m) = strip(e) else {
        let part = part();
        return (part.clone(), part);
    };
    match m.method.to_string().as_str() {
        "zip" if m.args.len() == 1 => {
            let (a, x) = shape(&m.receiver, span, parts);
            let (b, y) = shape(&m.args[0], span, parts);
            (
                quote_spanned!(span=> (#a, #b)),
                quote_spanned!(span=> (#x, #y)),
            )
        }
        "enumerate" => {
            let at = part();
            let (a, x) = shape(&m.receiver, span, parts);
            (
                quote_spanned!(span=> (#at, #a)),
                quote_spanned!(span=> (#at, #x)),
            )
        }
        "rev" | "step_by" => shape(&m.receiver, span, parts),
        _ => {
            let part = part();
            (part.clone(), part)
        }
    }
}
