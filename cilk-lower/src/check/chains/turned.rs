//! Iterators that are taken from behind: `rev` of what adaptors cut out of a slice or put beside each other, and `next_back` of one that has a name.

use super::{
    super::{Binding, Checker, places::strip},
    adaptors::Place,
    given::{begun, is_drawn_once},
    loops::Loop,
    own,
};
use crate::ty::Ty;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::{parse_quote_spanned, spanned::Spanned};

/// Adaptors that look at one item alone.
const ALONE: &[&str] = &["map", "filter", "filter_map", "inspect", "copied", "cloned"];

/// What takes the same from the front, of a method that takes from behind.
fn from_front(name: &str) -> Option<&'static str> {
    Some(match name {
        "next_back" => "next",
        "nth_back" => "nth",
        "rfind" => "find",
        "rfold" => "fold",
        _ => return None,
    })
}

/// The last `rev` of what a `for` does not turn by itself, as the items that it begins with are not all there: behind `zip`, `skip` or `take`.
pub(super) fn turns_parts(adaptors: &[&syn::ExprMethodCall]) -> Option<usize> {
    let last = adaptors.iter().rposition(|m| m.method == "rev")?;
    let (before, behind) = (&adaptors[..last], &adaptors[last + 1..]);
    let is_zip = |m: &&syn::ExprMethodCall| m.method == "zip";
    let is_cut = |m: &&syn::ExprMethodCall| m.method == "skip" || m.method == "take";
    // What is stepped through next to a slice is turned with that.
    let mut mapped = before.iter().skip_while(|m| m.method != "map");
    let steps = mapped.any(|m| m.method == "step_by");
    let turns = before.iter().any(is_zip)
        || (steps || before.iter().any(is_cut)) && !behind.iter().any(is_zip);
    turns.then_some(last)
}

impl Checker<'_> {
    /// Whether there is such a `rev`, and all before it has numbers.
    pub(super) fn is_turned(&mut self, adaptors: &[&syn::ExprMethodCall]) -> bool {
        turns_parts(adaptors).is_some_and(|last| self.has_back(&adaptors[last].receiver))
    }

    /// Whether an iterator of the program's has a `next_back`, and each adaptor looks at one item alone.
    pub(super) fn has_next_back(
        &mut self,
        base: &syn::Expr,
        adaptors: &[&syn::ExprMethodCall],
    ) -> bool {
        let is_alone = |m: &&syn::ExprMethodCall| ALONE.iter().any(|name| m.method == name);
        if self.takes_from_range(base) {
            return adaptors.iter().all(is_alone);
        }
        let ty = self.type_ahead(base);
        match self.shallow(&ty) {
            Ty::Struct(id) => {
                adaptors.iter().all(is_alone) && self.m.member(id, "next_back").is_some()
            }
            _ => false,
        }
    }

    /// Its loop: what it is called on has a name, and is taken from behind.
    pub(super) fn turned(m: &syn::ExprMethodCall, span: Span, place: Place<'_>) -> Loop {
        Self::from_behind(&m.receiver, span, place)
    }

    pub(super) fn from_behind(of: &syn::Expr, span: Span, place: Place<'_>) -> Loop {
        let mut all = Loop::drawing(&parse_quote_spanned!(span=> (#of)), span, place);
        let from = all.variable("turned");
        all.draw(
            quote_spanned!(span=> let mut #from = #of;),
            &quote_spanned!(span=> #from.next_back()),
        );
        all
    }

    /// `a.chain(b).map(f).rev()` as `b.rev().chain(a.rev()).map(f)`; none if no `rev` stands behind what looks at one item alone.
    pub(super) fn turned_chain(
        &mut self,
        e: &syn::Expr,
        chain: &syn::ExprMethodCall,
        behind: &[&syn::ExprMethodCall],
    ) -> Option<syn::Expr> {
        let last = behind.iter().position(|m| m.method == "rev")?;
        let is_alone = |m: &&syn::ExprMethodCall| ALONE.iter().any(|name| m.method == name);
        if !behind[..last].iter().all(is_alone) {
            return None;
        }
        let (span, first, second) = (chain.span(), &chain.receiver, &chain.args[0]);
        let second: syn::Expr = match self.over_optional(second) {
            // One item is the same from behind.
            Some(one) => one,
            None if self.of_one(second).is_some() => second.clone(),
            None if self.links(second, &mut Vec::new()).is_some() => {
                parse_quote_spanned!(span=> (#second).rev())
            }
            None => parse_quote_spanned!(span=> (#second).into_iter().rev()),
        };
        let turned = parse_quote_spanned!(span=> (#second).chain((#first).rev()));
        let turn = syn::Expr::MethodCall(behind[last].clone());
        let of = begun(&turn, &syn::Expr::MethodCall(chain.clone()), &turned);
        let syn::Expr::MethodCall(of) = of else {
            return None;
        };
        Some(begun(e, &turn, &of.receiver))
    }

    /// Whether the items of a chain have numbers, but for what is done to each of them alone.
    fn has_back(&mut self, chain: &syn::Expr) -> bool {
        let mut chain = strip(chain);
        loop {
            match chain {
                syn::Expr::MethodCall(m)
                    if ["map", "filter", "filter_map", "inspect"]
                        .iter()
                        .any(|name| m.method == name) =>
                {
                    chain = strip(&m.receiver);
                }
                chain => {
                    return self.by_number(chain).is_some() || self.drawable(chain) == Some(true);
                }
            }
        }
    }

    /// The body of a closure that takes items from behind as an adaptor does, of an iterator that has a name and a length: `from`. What is counted of it stands in
    /// the others.
    pub(super) fn taking_from_behind(
        &self,
        m: &syn::ExprMethodCall,
        [from, step, left]: [&Ident; 3],
    ) -> Option<TokenStream> {
        let (span, some, none) = (m.span(), own("Some", m.span()), own("None", m.span()));
        let method = m.method.to_string();
        if !self.has_own_back(from) {
            return None;
        }
        match (&*method, self.lookup(&from.to_string())) {
            ("rev", _) => return Some(quote_spanned!(span=> #from.next())),
            ("chain", _) => {
                let one = own("one", span);
                return self.has_own_back(step).then(|| {
                    quote_spanned!(span=>
                        if let #some(#one) = #step.next_back() { return #some(#one); }
                        #from.next_back())
                });
            }
            // Their length is asked.
            (_, Some(Binding::Chain(held))) if !is_drawn_once(&held.chain) => {}
            _ => return None,
        }
        Some(match &*method {
            "skip" => quote_spanned!(span=>
                if #from.len() > #left { return #from.next_back(); } #none),
            "take" => {
                let count = own("count", span);
                quote_spanned!(span=>
                    if #left == 0 { return #none; }
                    let #count = #from.len().saturating_sub(#left);
                    #left -= 1;
                    #from.nth_back(#count))
            }
            "step_by" => {
                let count = own("count", span);
                quote_spanned!(span=>
                    let #count = #from.len() % #step;
                    let #count = if #left > 0 { #count } else if #count == 0 { #step - 1 } else { #count - 1 };
                    #from.nth_back(#count))
            }
            _ => return None,
        })
    }

    /// Whether what has this name is taken from behind: a named iterator that can be, or a range.
    fn has_own_back(&self, name: &Ident) -> bool {
        match self.lookup(&name.to_string()) {
            Some(Binding::Chain(held)) => held.back.is_some(),
            Some(Binding::Var(_)) => self
                .range_of(&parse_quote_spanned!(name.span()=> #name))
                .is_some(),
            _ => false,
        }
    }

    /// The same method of what has the items of a named iterator in the other order, of one that takes them from behind.
    pub(super) fn taken_from_behind(
        m: &syn::ExprMethodCall,
        back: Option<&syn::Expr>,
    ) -> Option<syn::Expr> {
        let back = back?;
        if m.method == "rev" && m.args.is_empty() {
            return Some(back.clone());
        }
        let name = from_front(&m.method.to_string())?;
        let (name, args) = (syn::Ident::new(name, m.method.span()), &m.args);
        Some(parse_quote_spanned!(m.span()=> (#back).#name(#args)))
    }
}
