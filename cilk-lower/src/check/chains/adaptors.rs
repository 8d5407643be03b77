//! What a chain's adaptors make of its loop.

use super::{
    Refused, apply, item,
    loops::{FOLDED, Loop, UNTIL, is_head, last_of},
    own, refused, returns,
    turned::turns_parts,
    what_leaves,
};
use crate::{
    check::{Checker, iteration::instead_of_adaptor, places::strip},
    ty::Ty,
};
use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::{parse_quote_spanned, spanned::Spanned};

/// How many loops a chain may stand for.
const MOST: usize = 64;

/// Where a chain's loop stands.
#[derive(Clone, Copy, Default)]
pub(super) struct Place<'l> {
    /// What runs over its items, and how many of these are around it in all.
    pub(super) around: Option<&'l Loop>,
    pub(super) depth: usize,
    /// How many variables those beside it have.
    pub(super) made: usize,
    /// Whether what ends it takes all of its items at once.
    pub(super) folds: bool,
}

/// Whether something among these takes items one by one, whatever ends it.
fn takes_singly(adaptors: &[&syn::ExprMethodCall]) -> bool {
    const SINGLY: &[&str] = &[
        "take",
        "take_while",
        "map_while",
        "scan",
        "step_by",
        "cycle",
    ];
    adaptors
        .iter()
        .any(|m| SINGLY.iter().any(|name| m.method == name))
}

/// Whether an expression is a range without an end.
fn is_open(e: &syn::Expr) -> bool {
    matches!(strip(e), syn::Expr::Range(r) if r.end.is_none())
}

fn is_range(e: &syn::Expr) -> bool {
    matches!(strip(e), syn::Expr::Range(_))
}

/// Which of an adaptor's arguments is a closure, if one is.
fn code_of(name: &str) -> Option<usize> {
    match name {
        "map" | "filter" | "filter_map" | "flat_map" | "map_while" | "inspect" | "take_while"
        | "skip_while" => Some(0),
        "scan" => Some(1),
        _ => None,
    }
}

impl Checker<'_> {
    /// The loop of what stands before the last method; none if that is no iterator.
    pub(super) fn loop_over(&mut self, e: &syn::Expr, span: Span) -> Option<Result<Loop, Refused>> {
        self.loop_at(e, span, Place::default())
    }

    /// The same of what a method ends.
    pub(super) fn loop_ended(
        &mut self,
        e: &syn::Expr,
        end: &syn::ExprMethodCall,
        span: Span,
    ) -> Option<Result<Loop, Refused>> {
        const FOLDS: &[&str] = &[
            "sum",
            "product",
            "count",
            "fold",
            "for_each",
            "min",
            "max",
            "min_by",
            "max_by",
            "min_by_key",
            "max_by_key",
            "last",
            "reduce",
        ];
        let folds = FOLDS.iter().any(|name| end.method == name);
        let place = Place {
            folds,
            ..Place::default()
        };
        self.loop_at(e, span, place)
    }

    pub(super) fn loop_at<'l>(
        &mut self,
        e: &syn::Expr,
        span: Span,
        place: Place<'l>,
    ) -> Option<Result<Loop, Refused>> {
        let mut adaptors = Vec::new();
        let base = self.links(e, &mut adaptors)?;
        let behind = |place: Place<'l>, adaptors: &[&syn::ExprMethodCall]| Place {
            folds: place.folds && !takes_singly(adaptors),
            ..place
        };
        let made = self.of_one(base);
        let made = made.or_else(|| self.range_of(base).map(syn::Expr::Range));
        let mut over = made.as_ref().unwrap_or(base);
        if let Some(last) = adaptors.iter().rposition(|m| m.method == "chain")
            && adaptors[last].args.len() == 1
        {
            if let Some(turned) = self.turned_chain(e, adaptors[last], &adaptors[last + 1..]) {
                return self.loop_at(&turned, span, place);
            }
            let all = self.chained(adaptors[last], span, behind(place, &adaptors[last + 1..]));
            return Some(all.and_then(|mut all| {
                all.folds = place.folds;
                self.adapted(all, &adaptors[last + 1..])
            }));
        }
        if let Some(last) = turns_parts(&adaptors)
            && self.is_turned(&adaptors)
        {
            let all = Self::turned(adaptors[last], span, place);
            return Some(self.adapted(all, &adaptors[last + 1..]));
        }
        if let Some(one) = self.begins_optional(base) {
            let one = parse_quote_spanned!(span=> [#one].into_iter());
            let mut all = Loop::new(&one, span, place, false, true);
            self.flatten(&mut all, span);
            return Some(self.adapted(all, &adaptors));
        }
        if made.is_none() && self.is_given(base) {
            let mut all = Loop::over_given(base, span, behind(place, &adaptors));
            all.folds = place.folds;
            return Some(self.adapted(all, &adaptors));
        }
        // What is counted beside what a `for` runs over goes on with that.
        let counts = is_open(base)
            && adaptors
                .iter()
                .any(|m| m.method == "zip" && !m.args.iter().any(is_range));
        if let Some(call) = self.draws_from(base).filter(|_| !counts) {
            let all = self.drawing_from(&call, span, place);
            return Some(self.adapted(all, &adaptors));
        }
        if made.is_none() && self.is_own_iterator(base) {
            if let Some(last) = adaptors.iter().rposition(|m| m.method == "rev")
                && self.has_next_back(base, &adaptors[..last])
            {
                let all = Self::from_behind(&self.lent_whole(base), span, place);
                let others: Vec<_> = [&adaptors[..last], &adaptors[last + 1..]].concat();
                return Some(self.adapted(all, &others));
            }
            let all = Loop::drawing(&self.lent_whole(base), span, place);
            return Some(self.adapted(all, &adaptors));
        }
        // A `for` leaves out in front of a `zip` by itself.
        let heads = adaptors.iter().any(|m| m.method == "zip")
            && adaptors
                .iter()
                .all(|m| is_head(m, &adaptors, over) && m.method != "step_by");
        if made.is_none()
            && !heads
            && let Some((all, known)) = self.jumping(base, &adaptors, span, place)
        {
            return Some(self.adapted(all, &adaptors[known..]));
        }
        let is_range = is_range(over);
        let head = |m: &syn::ExprMethodCall| {
            let name = m.method.to_string();
            let direct = std::ptr::eq(strip(&m.receiver), base);
            is_head(m, &adaptors, over)
                && !(name == "enumerate" && is_range)
                && (name != "step_by" || is_range)
                && (direct || !matches!(&*name, "copied" | "cloned"))
        };
        let mut known = 0;
        while known < adaptors.len()
            && head(adaptors[known])
            && !self.is_beside_own(adaptors[known])
        {
            known += 1;
        }
        let element = matches!(over, syn::Expr::MethodCall(m) if m.method == "iter" || m.method == "iter_mut");
        let refers = element
            && adaptors[..known]
                .iter()
                .all(|m| m.method == "rev" || m.method == "step_by");
        let turns = !adaptors[..known].iter().any(|m| m.method == "zip");
        if let Some(last) = adaptors[..known].last() {
            over = last_of(e, last);
        }
        let all = Loop::new(over, span, place, refers, turns);
        Some(self.adapted(all, &adaptors[known..]))
    }

    pub(super) fn adapted(
        &mut self,
        mut all: Loop,
        adaptors: &[&syn::ExprMethodCall],
    ) -> Result<Loop, Refused> {
        let folds = all.folds;
        for (at, m) in adaptors.iter().enumerate() {
            all.folds = folds && !takes_singly(&adaptors[at + 1..]);
            self.adapt(&mut all, m)?;
            if all.count() > MOST {
                let help = "write a loop in the loop";
                return refused(m.method.span(), "too many iterators in one", help);
            }
        }
        all.folds = folds;
        Ok(all)
    }

    /// What runs over the items of one and then of another.
    fn chained(
        &mut self,
        m: &syn::ExprMethodCall,
        span: Span,
        place: Place<'_>,
    ) -> Result<Loop, Refused> {
        let mut inside = Place {
            depth: place.depth + 1,
            ..place
        };
        let first = self.beside(&m.receiver, span, inside)?;
        inside.made = first.made;
        let optional = self.over_optional(&m.args[0]);
        let second = optional.or_else(|| self.lent_chain(&m.args[0]));
        let second = self.beside(second.as_ref().unwrap_or(&m.args[0]), span, inside)?;
        Ok(first.and_then(second))
    }

    /// The loop of a chain, or of what a `for` runs over.
    pub(super) fn beside(
        &mut self,
        e: &syn::Expr,
        span: Span,
        place: Place<'_>,
    ) -> Result<Loop, Refused> {
        self.loop_at(e, span, place)
            .unwrap_or_else(|| Ok(Loop::new(e, span, place, false, true)))
    }

    fn adapt(&mut self, all: &mut Loop, m: &syn::ExprMethodCall) -> Result<(), Refused> {
        let (span, name) = (m.span(), m.method.to_string());
        let (item, leave) = (item(span), all.leave());
        let mut args: Vec<syn::Expr> = m.args.iter().cloned().collect();
        if let Some(f) = code_of(&name).and_then(|at| args.get_mut(at)) {
            *f = self.taken_at_first(all, f)?;
        }
        let args: Vec<&syn::Expr> = args.iter().collect();
        let kept = matches!(
            &*name,
            "map" | "copied" | "cloned" | "inspect" | "enumerate" | "zip"
        );
        let turns = matches!(
            &*name,
            "map" | "copied" | "cloned" | "inspect" | "filter" | "filter_map" | "rev"
        );
        let rest = match (&*name, &args[..]) {
            ("map", [f]) => {
                let value = apply(f, &[(&item, false)])?;
                all.refers = false;
                quote_spanned!(span=> let #item = #value;)
            }
            ("filter_map" | "map_while", [f]) => {
                let (some, value) = (own("Some", span), apply(f, &[(&item, false)])?);
                let leave = match &*name {
                    "map_while" => leave,
                    _ => quote_spanned!(span=> continue),
                };
                all.refers = false;
                quote_spanned!(span=> let #some(#item) = (#value) else { #leave; };)
            }
            ("flatten", []) => {
                self.flatten(all, span);
                return Ok(());
            }
            ("flat_map", [f]) => return self.flat_map(all, f, span),
            ("inspect", [f]) => {
                let value = apply(f, &[(&item, true)])?;
                quote_spanned!(span=> #value;)
            }
            ("filter", [f]) => {
                let test = apply(f, &[(&item, true)])?;
                quote_spanned!(span=> if !#test { continue; })
            }
            ("take_while", [f]) => {
                let test = apply(f, &[(&item, true)])?;
                quote_spanned!(span=> if !#test { #leave; })
            }
            ("scan", [first, f]) => {
                let (state, lent) = (all.variable("state"), own("state", span));
                all.before
                    .extend(quote_spanned!(span=> let mut #state = #first;));
                let (some, value) = (
                    own("Some", span),
                    apply(f, &[(&lent, false), (&item, false)])?,
                );
                all.refers = false;
                quote_spanned!(span=>
                    let #lent = &mut #state; let #some(#item) = (#value) else { #leave; };)
            }
            ("skip_while", [f]) => {
                let test = apply(f, &[(&item, true)])?;
                let skips = all.variable("skips");
                all.before
                    .extend(quote_spanned!(span=> let mut #skips = true;));
                quote_spanned!(span=> if #skips { if #test { continue; } #skips = false; })
            }
            ("skip", [count]) => {
                let left = all.variable("left");
                all.before
                    .extend(quote_spanned!(span=> let mut #left: usize = #count;));
                quote_spanned!(span=> if #left > 0 { #left -= 1; continue; })
            }
            ("take", [count]) => {
                let left = all.variable("left");
                all.before
                    .extend(quote_spanned!(span=> let mut #left: usize = #count;));
                // Before anything else is done with an item that is not taken.
                all.ends_if(&parse_quote_spanned!(span=> #left == 0));
                quote_spanned!(span=> #left -= 1;)
            }
            (UNTIL, [test]) => {
                all.ends_if(test);
                TokenStream::new()
            }
            (FOLDED, []) => TokenStream::new(),
            ("enumerate", []) => {
                let at = all.variable("at");
                all.before
                    .extend(quote_spanned!(span=> let mut #at: usize = 0;));
                all.refers = false;
                quote_spanned!(span=> let #item = (#at, #item); #at += 1;)
            }
            ("copied" | "cloned", []) => {
                all.refers = false;
                quote_spanned!(span=> let #item = *#item;)
            }
            ("step_by", [by]) => {
                let (left, step) = (all.variable("left"), all.variable("step"));
                all.before.extend(
                    quote_spanned!(span=> let mut #left = 0; let #step: usize = #by; assert!(#step != 0);),
                );
                quote_spanned!(span=> if #left > 0 { #left -= 1; continue; } #left = #step - 1;)
            }
            ("rev", []) if all.turn() => TokenStream::new(),
            ("rev", _) => {
                return refused(
                    m.method.span(),
                    "`rev` behind another adaptor",
                    "put it next to what is run over: `a.iter().rev().map(..)`",
                );
            }
            ("zip", [other]) => return self.zipped(all, other, m),
            _ => {
                return refused(
                    m.method.span(),
                    format!("`{name}` of an iterator is not part of the task language"),
                    instead_of_adaptor(&name).unwrap_or("write a loop"),
                );
            }
        };
        all.then(&rest);
        all.steady &= kept;
        all.turns &= turns;
        Ok(())
    }

    /// What the items have in them: `Option`s and `Result`s one value or none, all else what a `for` over it has.
    fn flatten(&mut self, all: &mut Loop, span: Span) {
        let item = item(span);
        let mut ty = self.type_ahead(&all.last_item());
        let mut lent = false;
        while let Ty::Ref { target, .. } = self.shallow(&ty) {
            (ty, lent) = (*target, true);
        }
        let variant = match self.shallow(&ty) {
            Ty::Option(_) => Some("Some"),
            Ty::Result(..) => Some("Ok"),
            _ => None,
        };
        let Some(variant) = variant else {
            let lent = lent || matches!(self.shallow(&ty), Ty::Slice { .. });
            let over = parse_quote_spanned!(span=> #item);
            let inner = Loop::new(&over, span, all.inside(), lent, true);
            return all.nest(&inner);
        };
        let variant = own(variant, span);
        all.then(&quote_spanned!(span=> let #variant(#item) = #item else { continue; };));
        all.steady = false;
    }

    /// The items of what a closure makes of each item.
    fn flat_map(&mut self, all: &mut Loop, f: &syn::Expr, span: Span) -> Result<(), Refused> {
        let item = item(span);
        if let syn::Expr::Closure(closure) = strip(f)
            && closure.inputs.len() == 1
        {
            let (stmts, value) = match strip(&closure.body) {
                syn::Expr::Block(b) if b.label.is_none() => match b.block.stmts.split_last() {
                    Some((syn::Stmt::Expr(value, None), stmts)) => (stmts, value),
                    _ => (&[][..], &*closure.body),
                },
                value => (&[][..], value),
            };
            let (pat, before) = (&closure.inputs[0], all.clone());
            all.then(&quote_spanned!(span=> let #pat = #item; #(#stmts)*));
            if let Some(inner) = self.loop_at(value, span, all.inside()) {
                if let Some(why) = what_leaves(&closure.body) {
                    return Err(why);
                }
                if returns(&closure.body) {
                    let help = "write a loop in the loop";
                    return refused(f.span(), "a closure that returns an iterator early", help);
                }
                let inner = inner?;
                all.nest(&inner);
                return Ok(());
            }
            *all = before;
        }
        let value = apply(f, &[(&item, false)])?;
        all.then(&quote_spanned!(span=> let #item = #value;));
        all.refers = false;
        self.flatten(all, span);
        all.turns = false;
        Ok(())
    }
}
