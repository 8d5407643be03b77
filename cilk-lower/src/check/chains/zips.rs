//! `zip` that a `for` does not know by itself: beside ranges, and of what adaptors make.

use super::{
    Refused,
    adaptors::Place,
    item,
    loops::{Loop, Rounds, is_side, shape},
    own, refused,
};
use crate::{
    check::{Checker, places::strip},
    ty::Ty,
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{parse_quote_spanned, spanned::Spanned};

impl Checker<'_> {
    /// What goes on beside it, item by item.
    pub(super) fn zipped(
        &mut self,
        all: &mut Loop,
        other: &syn::Expr,
        m: &syn::ExprMethodCall,
    ) -> Result<(), Refused> {
        let lent = self.lent_chain(other);
        let other = lent.as_ref().unwrap_or(other);
        // Rust takes the two by number, or all at once, and makes no item that has none beside it; or the left one first, and one more of them than there are pairs.
        let is_indexed = self.is_indexed(&syn::Expr::MethodCall(m.clone()))
            || all.folds && self.is_trusted(&m.receiver) && self.is_trusted(other);
        let is_seen = self.makes_visibly(&m.receiver);
        let taken = (is_indexed && is_seen).then(|| self.range_taken_beside(other));
        let is_indexed = match taken.flatten() {
            Some(range) => {
                all.ends_if(&parse_quote_spanned!(m.span()=> (#range).is_empty()));
                false
            }
            None => is_indexed,
        };
        match self.put_beside(all, other, m, (is_indexed, is_seen)) {
            // One more that may fail, and changes nothing, is left out where it cannot be made.
            Err(_) if is_seen && !self.makes_by_changes(&m.receiver) => {
                self.put_beside(all, other, m, (is_indexed, false))
            }
            made => made,
        }
    }

    /// The same; whether no item is made that has none beside it, and whether it shows that one is.
    fn put_beside(
        &mut self,
        all: &mut Loop,
        other: &syn::Expr,
        m: &syn::ExprMethodCall,
        (is_indexed, is_seen): (bool, bool),
    ) -> Result<(), Refused> {
        let (span, item) = (m.span(), item(m.span()));
        let [left, right] = ["left", "right"].map(|name| own(name, span));
        if let Some(range) = self.range_of(other) {
            let Counted { at, ends, next } = counted(all, &range, false, span)?;
            all.ends_beside(ends.as_ref(), is_indexed && is_seen);
            all.then(&quote_spanned!(span=> #next let #item = (#item, #at);));
            all.go_on(true, false);
            return Ok(());
        }
        if self.is_drawn_beside(other) {
            let other = self.lent_whole(other);
            let (from, leave, some) = (all.variable("from"), all.leave(), own("Some", span));
            all.before
                .extend(quote_spanned!(span=> let mut #from = #other;));
            all.then(&quote_spanned!(span=>
                let #some(#right) = #from.next() else { #leave; }; let #item = (#item, #right);));
            all.go_on(true, false);
            return Ok(());
        }
        // A `for` knows more of what stands beside another than of what stands alone.
        let in_step = all.steady && (is_indexed || !is_seen);
        if in_step && is_side(other) && counts(all.only()).is_none() {
            let side = Loop::new(other, span, all.place(), false, false);
            if all.join(&side) {
                return Ok(());
            }
        }
        let mut beside = self.side(other, span, all.place())?;
        if let (true, Some((range, from_end))) = (beside.steady, counts(beside.only())) {
            let Counted { at, ends, next } = counted(all, &range, from_end, span)?;
            let made = beside.item_of(&at, span);
            all.before.extend(beside.before);
            all.made = all.made.max(beside.made);
            all.then(&quote_spanned!(span=> let #left = #item;));
            all.ends_beside(ends.as_ref(), is_indexed && is_seen);
            all.then(&quote_spanned!(span=> #next #made let #item = (#left, #item);));
            all.go_on(true, false);
            return Ok(());
        }
        let changes = self.makes_by_changes(&m.receiver);
        let in_order = changes && self.makes_by_changes(other);
        if let (true, Some((range, from_end))) = (in_step, counts(all.only()))
            && (beside.steady || !in_order)
        {
            // What is counted goes on beside what is run over.
            let Counted { at, ends, next } = counted(&mut beside, &range, from_end, span)?;
            let made = all.item_of(&at, span);
            beside.before.extend(std::mem::take(&mut all.before));
            beside.then(&quote_spanned!(span=> let #right = #item;));
            beside.ends_beside(ends.as_ref(), is_seen || self.makes_visibly(other));
            let made = match in_order {
                // Before what is made beside it.
                true => {
                    let first = beside.variable("first");
                    let making = quote_spanned!(span=> let #first = { #next #made #item };);
                    for rounds in &mut beside.rounds {
                        rounds.first.extend(making.clone());
                    }
                    quote_spanned!(span=> let #item = #first;)
                }
                false => quote_spanned!(span=> #next #made),
            };
            beside.then(&quote_spanned!(span=> #made let #item = (#item, #right);));
            beside.go_on(true, false);
            *all = beside;
            return Ok(());
        }
        if in_step && beside.steady && all.join(&beside) {
            return Ok(());
        }
        let elements = self.elements_of(&beside, other);
        if let (true, Some((elements, lent))) = (beside.steady, elements) {
            let [of, at, one] = ["of", "at", "one"].map(|name| all.variable(name));
            let (made, leave) = (beside.item_of(&one, span), all.leave());
            all.before.extend(beside.before);
            all.before
                .extend(quote_spanned!(span=> let #of = #elements; let mut #at: usize = 0;));
            let is_over = quote_spanned!(span=> #at >= #of.len());
            let is_first = is_indexed && is_seen;
            let ends = match is_first {
                true => None,
                false => Some(quote_spanned!(span=> if #is_over { #leave; })),
            };
            if is_first {
                all.ends_if(&parse_quote_spanned!(span=> #is_over));
            }
            all.then(&quote_spanned!(span=>
                #ends let #left = #item; let #one = #lent #of[#at]; #at += 1;
                #made let #item = (#left, #item);));
            all.go_on(true, false);
            return Ok(());
        }
        let drawn = match self.links(other, &mut Vec::new()) {
            Some(_) => other.clone(),
            None => parse_quote_spanned!(span=> (#other).into_iter()),
        };
        if !(is_indexed && changes) && self.is_drawable(&drawn) {
            let (from, leave, some) = (all.variable("from"), all.leave(), own("Some", span));
            all.before
                .extend(quote_spanned!(span=> let mut #from = #drawn;));
            all.then(&quote_spanned!(span=>
                let #some(#right) = #from.next() else { #leave; }; let #item = (#item, #right);));
            all.go_on(true, false);
            return Ok(());
        }
        refused(
            m.method.span(),
            "`zip` behind another adaptor, or beside one",
            "of parts, `flatten` and `flat_map`, neither side may be: run over the parts in step, `a.iter().zip(b).flat_map(|(r, s)| r.iter().zip(s))`; other adaptors stand behind it, `a.iter().zip(b).map(..)`",
        )
    }

    /// The loop of what stands beside another: with all that a `for` knows there.
    fn side(&mut self, e: &syn::Expr, span: Span, place: Place<'_>) -> Result<Loop, Refused> {
        let (mut base, mut behind) = (strip(e), Vec::new());
        while let syn::Expr::MethodCall(m) = base
            && !is_side(base)
        {
            behind.push(m);
            base = strip(&m.receiver);
        }
        // What draws its items has a name of its own in the loop, which one that a `for` made would take for another.
        let is_known = is_side(base) && !self.is_drawn_beside(base);
        if !is_known || behind.iter().any(|m| m.method == "chain") {
            return self.beside(e, span, place);
        }
        behind.reverse();
        self.adapted(Loop::new(base, span, place, false, false), &behind)
    }

    /// The slice or array whose elements stand beside others, and what refers to one of them.
    fn elements_of(
        &mut self,
        beside: &Loop,
        other: &syn::Expr,
    ) -> Option<(TokenStream, Option<TokenStream>)> {
        let span = beside.span;
        let slice = beside.only().and_then(slice_of);
        let slice = slice.map(|(of, mutable)| (of.clone(), mutable));
        let slice = slice.or_else(|| Some((other.clone(), self.lends_slice(other)?)));
        let of_slice = slice.map(|(slice, mutable)| {
            let lent = match mutable {
                true => quote_spanned!(span=> &mut),
                false => quote_spanned!(span=> &),
            };
            (quote_spanned!(span=> #lent (#slice)[..]), Some(lent))
        });
        // An array goes along as it is now.
        of_slice.or_else(|| Some((self.array_of(other)?.to_token_stream(), None)))
    }

    /// The array that stands beside others, if it is one and not a reference to it.
    fn array_of(&mut self, e: &syn::Expr) -> Option<syn::Expr> {
        let of = match strip(e) {
            syn::Expr::MethodCall(m) if m.method == "into_iter" && m.args.is_empty() => {
                strip(&m.receiver)
            }
            e => e,
        };
        let named = matches!(
            of,
            syn::Expr::Path(_) | syn::Expr::Array(_) | syn::Expr::Field(_)
        );
        let ty = named.then(|| self.type_ahead(of))?;
        matches!(self.shallow(&ty), Ty::Array(..)).then(|| of.clone())
    }

    /// Whether the elements of a slice that stands beside others may be changed; none if that is no slice.
    fn lends_slice(&mut self, e: &syn::Expr) -> Option<bool> {
        if !matches!(
            strip(e),
            syn::Expr::Path(_) | syn::Expr::Reference(_) | syn::Expr::Field(_)
        ) {
            return None;
        }
        let ty = self.type_ahead(e);
        match self.shallow(&ty) {
            Ty::Slice { mutable, .. } => Some(mutable),
            Ty::Ref { mutable, target } => {
                matches!(self.shallow(&target), Ty::Array(..)).then_some(mutable)
            }
            _ => None,
        }
    }
}

/// The range that is counted through, and whether it is from its end.
fn counts(rounds: Option<&Rounds>) -> Option<(syn::ExprRange, bool)> {
    let (mut over, mut from_end) = (strip(&rounds?.over), false);
    while let syn::Expr::MethodCall(m) = over
        && m.method == "rev"
    {
        (over, from_end) = (strip(&m.receiver), !from_end);
    }
    match over {
        syn::Expr::Range(range) if range.start.is_some() && (range.end.is_some() || !from_end) => {
            Some((range.clone(), from_end))
        }
        _ => None,
    }
}

/// The slice whose elements are run over by reference, and whether they may be changed.
fn slice_of(rounds: &Rounds) -> Option<(&syn::Expr, bool)> {
    match strip(&rounds.over) {
        syn::Expr::MethodCall(m) if m.args.is_empty() => match &*m.method.to_string() {
            "iter" => Some((&m.receiver, false)),
            "iter_mut" => Some((&m.receiver, true)),
            _ => None,
        },
        _ => None,
    }
}

/// What counts through a range beside a loop: the name of the number, whether there is none any more, and what gives it its value in a round.
struct Counted {
    at: Ident,
    ends: Option<syn::Expr>,
    next: TokenStream,
}

fn counted(
    all: &mut Loop,
    range: &syn::ExprRange,
    from_end: bool,
    span: Span,
) -> Result<Counted, Refused> {
    let Some(low) = &range.start else {
        let help = "write `lo..hi`, or `lo..`";
        return refused(range.span(), "a range without a beginning", help);
    };
    let [next, end, number] = ["next", "end", "number"].map(|name| all.variable(name));
    all.before
        .extend(quote_spanned!(span=> let mut #next = #low;));
    let Some(high) = &range.end else {
        return Ok(Counted {
            next: quote_spanned!(span=> let #number = #next; #next += 1;),
            at: number,
            ends: None,
        });
    };
    all.before
        .extend(quote_spanned!(span=> let mut #end = #high;));
    let (at, to, way) = match from_end {
        false => (&next, &end, quote_spanned!(span=> +=)),
        true => (&end, &next, quote_spanned!(span=> -=)),
    };
    let (ends, step) = match range.limits {
        syn::RangeLimits::HalfOpen(_) => {
            let step = quote_spanned!(span=> #at #way 1;);
            let (before, behind) = match from_end {
                false => (None, Some(&step)),
                true => (Some(&step), None),
            };
            (
                parse_quote_spanned!(span=> #next >= #end),
                quote_spanned!(span=> #before let #number = #at; #behind),
            )
        }
        // Behind the last number of a type there is none.
        syn::RangeLimits::Closed(_) => {
            let over = all.variable("over");
            all.before
                .extend(quote_spanned!(span=> let mut #over = #next > #end;));
            (
                parse_quote_spanned!(span=> #over),
                quote_spanned!(span=>
                    let #number = #at;
                    if #at == #to { #over = true; } else { #at #way 1; }),
            )
        }
    };
    Ok(Counted {
        at: number,
        ends: Some(ends),
        next: step,
    })
}

impl Loop {
    /// Lets it end with what is counted beside it: before an item is made, or behind that.
    fn ends_beside(&mut self, ends: Option<&syn::Expr>, is_first: bool) {
        match ends {
            Some(ends) if is_first => self.ends_if(ends),
            Some(ends) => {
                let leave = self.leave();
                self.then(&quote_spanned!(self.span=> if #ends { #leave; }));
            }
            None => {}
        }
    }

    /// What makes an item of what its only `for` would run over.
    fn item_of(&self, one: &Ident, span: Span) -> TokenStream {
        let Some(Rounds {
            pat, value, rest, ..
        }) = self.only()
        else {
            return TokenStream::new();
        };
        let item = item(span);
        quote_spanned!(span=> let #pat = #one; let #item = #value; #rest)
    }

    /// Runs over both in step, if each is one `for`.
    fn join(&mut self, other: &Self) -> bool {
        let (Some(a), Some(b)) = (self.only(), other.only()) else {
            return false;
        };
        if !is_side(&a.over) || !is_side(&b.over) {
            return false;
        }
        let (span, item, left) = (self.span, item(self.span), own("left", self.span));
        let mut parts = 0;
        let (pat, value) = shape(&a.over, span, &mut parts);
        let (beside, its_value) = shape(&b.over, span, &mut parts);
        let (over, with) = (&a.over, &b.over);
        let (mut first, (rest, more)) = (a.first.clone(), (&a.rest, &b.rest));
        first.extend(b.first.clone());
        let rounds = Rounds {
            label: None,
            over: parse_quote_spanned!(span=> (#over).zip(#with)),
            pat: quote_spanned!(span=> (#pat, #beside)),
            value,
            first,
            rest: quote_spanned!(span=>
                #rest let #left = #item; let #item = #its_value; #more let #item = (#left, #item);),
            inner: Vec::new(),
            given: false,
            drawn: None,
        };
        self.rounds = vec![rounds];
        self.before.extend(other.before.clone());
        self.made = self.made.max(other.made);
        self.go_on(true, false);
        true
    }

    /// Notes what has become of its items.
    fn go_on(&mut self, steady: bool, turns: bool) {
        self.refers = false;
        self.steady &= steady;
        self.turns &= turns;
    }
}
