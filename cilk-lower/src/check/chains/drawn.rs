//! Iterators of which items are taken one by one, `let mut it = a.iter().enumerate();`: over a variable that has the numbers of those that are left, or what
//! draws them from a closure.

use super::{
    super::{Binding, Checker, places::strip},
    given::begun,
    held::Held,
    loops::ADAPTORS,
    own,
};
use crate::{hir::Stmt, ty::Ty};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use std::rc::Rc;
use syn::{parse_quote_spanned, spanned::Spanned};

/// The number of an item of these.
pub(super) const NUMBER: &str = "number";

/// An iterator whose items are taken one by one.
pub(super) struct Drawn {
    /// As it begins with a copy of what says which items are left.
    pub(super) chain: syn::Expr,
    /// As it takes from that.
    pub(super) left: syn::Expr,
    /// As it takes from that from behind, if it can.
    pub(super) back: Option<syn::Expr>,
    /// How many are left, of one whose items are drawn from a closure, if that is known.
    pub(super) len: Option<syn::Expr>,
    /// Whether its numbers do not say what Rust makes from behind.
    pub(super) uneven: bool,
}

/// Whether a range is a value that has its next number.
fn is_counted(e: &syn::Expr) -> bool {
    let syn::Expr::Range(r) = strip(e) else {
        return false;
    };
    r.start.is_some() && r.end.is_some()
}

/// What has as many items, each by its number.
struct Numbered {
    len: TokenStream,
    item: TokenStream,
    /// Whether who makes an item may change something by that. One that may merely fail is made where it is asked for: what is numbered can be copied and measured.
    acts: bool,
    /// Whether that shows from behind, where Rust makes what the longer side has more.
    uneven: bool,
}

/// How many items are left of what an adaptor draws from what it is called on, if that is known.
fn left_of(
    m: &syn::ExprMethodCall,
    [from, left]: [&Ident; 2],
    step: &Ident,
    beside: &TokenStream,
) -> Option<syn::Expr> {
    let span = m.span();
    Some(match &*m.method.to_string() {
        "rev" | "enumerate" => parse_quote_spanned!(span=> #from.len()),
        "skip" => parse_quote_spanned!(span=> #from.len().saturating_sub(#left)),
        "take" => parse_quote_spanned!(span=> #from.len().min(#left)),
        "step_by" => {
            parse_quote_spanned!(span=> #from.len().saturating_sub(#left).div_ceil(#step))
        }
        "zip" => parse_quote_spanned!(span=> #from.len().min(#beside)),
        _ => return None,
    })
}

impl Checker<'_> {
    /// A chain whose items are taken one by one: over a variable that has the numbers of those that are left.
    pub(super) fn drawn(&mut self, held: &syn::Expr, stmts: &mut Vec<Stmt>) -> Option<Drawn> {
        let drawn = |chain, left| Drawn {
            chain,
            left,
            back: None,
            len: None,
            uneven: false,
        };
        let span = held.span();
        let mut adaptors = Vec::new();
        let base = self.links(held, &mut adaptors)?.clone();
        let adaptors: Vec<syn::ExprMethodCall> = adaptors.into_iter().cloned().collect();
        let is_range = self.range_of(&base).is_some();
        let is_closure = self.draws_from(&base).is_some();
        let (mut numbered, mut known) = (self.numbered(&base), 0);
        while let (Some(all), Some(m)) = (&numbered, adaptors.get(known)) {
            let Some(next) = self.numbered_by(all, m) else {
                break;
            };
            (numbered, known) = (Some(next), known + 1);
        }
        let stateless = ["map", "filter", "filter_map", "inspect", "copied", "cloned"];
        let is_stateful = |m: &syn::ExprMethodCall| !stateless.iter().any(|name| m.method == name);
        if let Some(last) = adaptors[known..].iter().rposition(is_stateful) {
            let behind = &adaptors[known + last + 1..];
            let keeps = !behind
                .iter()
                .any(|m| m.method == "filter" || m.method == "filter_map");
            let last = &adaptors[known + last];
            let (from, back, len) = self.drawn_by(last, stmts)?;
            let of = syn::Expr::MethodCall(last.clone());
            let chain = begun(held, &of, &from);
            return Some(Drawn {
                back: back.map(|back| begun(held, &of, &back)),
                len: len.filter(|_| keeps),
                uneven: false,
                left: chain.clone(),
                chain,
            });
        }
        if is_closure {
            return Some(drawn(held.clone(), held.clone()));
        }
        if numbered.is_none() && !is_range && self.is_own_iterator(&base) {
            let from = parse_quote_spanned!(span=> (&mut #base));
            return Some(drawn(held.clone(), begun(held, &base, &from)));
        }
        let left = self.held_name(span);
        let numbers = match &numbered {
            Some(Numbered { len, .. }) => quote_spanned!(span=> 0..#len),
            None if is_range => quote_spanned!(span=> #base),
            None => return None,
        };
        self.local_range(&left, &numbers, stmts);
        let is_uneven = numbered.as_ref().is_some_and(|all| all.uneven);
        let over = |from: TokenStream| {
            let mut chain: syn::Expr = match &numbered {
                Some(Numbered { item, .. }) => {
                    let at = own(NUMBER, span);
                    parse_quote_spanned!(span=> #from.map(|#at| #item))
                }
                None => parse_quote_spanned!(span=> #from),
            };
            for m in &adaptors[known..] {
                let mut next = m.clone();
                *next.receiver = chain;
                chain = syn::Expr::MethodCall(next);
            }
            chain
        };
        Some(Drawn {
            chain: over(quote_spanned!(span=> #left.clone())),
            left: over(quote_spanned!(span=> #left.by_ref())),
            back: (!is_uneven)
                .then(|| over(quote_spanned!(span=> ::std::iter::from_fn(|| #left.next_back())))),
            len: None,
            uneven: is_uneven,
        })
    }

    /// What draws from a closure as an adaptor takes items of what it is called on; what does so from behind, if it can; and how many are left, if that is known.
    fn drawn_by(
        &mut self,
        m: &syn::ExprMethodCall,
        stmts: &mut Vec<Stmt>,
    ) -> Option<(syn::Expr, Option<syn::Expr>, Option<syn::Expr>)> {
        let (span, of) = (m.span(), &m.receiver);
        let [from, beside, left] = [(); 3].map(|()| self.held_name(span));
        let [some, none, one, other] = ["Some", "None", "one", "other"].map(|name| own(name, span));
        let arg = m.args.first();
        let mut besides = quote_spanned!(span=> #beside.next());
        let mut its_len = quote_spanned!(span=> #beside.len());
        let (before, closure) = match (&*m.method.to_string(), arg) {
            ("skip", Some(n)) => (
                quote_spanned!(span=> let mut #left: usize = #n;),
                quote_spanned!(span=> while #left > 0 { #left -= 1; let _ = #from.next()?; } #from.next()),
            ),
            ("take", Some(n)) => (
                quote_spanned!(span=> let mut #left: usize = #n;),
                quote_spanned!(span=> if #left == 0 { return #none; } #left -= 1; #from.next()),
            ),
            ("step_by", Some(n)) => (
                quote_spanned!(span=> let #beside: usize = #n; assert!(#beside != 0); let mut #left: usize = 0;),
                quote_spanned!(span=>
                    while #left > 0 { #left -= 1; let _ = #from.next()?; }
                    #left = #beside - 1; #from.next()),
            ),
            ("rev", None) => (TokenStream::new(), quote_spanned!(span=> #from.next_back())),
            ("enumerate", None) => (
                quote_spanned!(span=> let mut #left: usize = 0;),
                quote_spanned!(span=>
                    let #one = #from.next()?; #left += 1; #some((#left - 1, #one))),
            ),
            ("take_while", Some(test)) => (
                quote_spanned!(span=> let mut #left = true;),
                quote_spanned!(span=>
                    if !#left { return #none; }
                    let #one = #from.next()?;
                    if #test(&#one) { return #some(#one); } #left = false; #none),
            ),
            ("skip_while", Some(test)) => (
                quote_spanned!(span=> let mut #left = true;),
                quote_spanned!(span=>
                if !#left { return #from.next(); }
                loop {
                    let #one = #from.next()?;
                    if !#test(&#one) { #left = false; return #some(#one); }
                }),
            ),
            ("zip" | "chain", Some(with)) => {
                let is_chain = self.links(with, &mut Vec::new()).is_some();
                let ty = (!is_chain).then(|| self.type_ahead(with));
                let is_option = ty.is_some_and(|ty| matches!(self.shallow(&ty), Ty::Option(_)));
                if is_option || is_counted(with) {
                    if is_option {
                        besides = quote_spanned!(span=> #beside.take());
                        its_len = quote_spanned!(span=> usize::from(#beside.is_some()));
                    }
                    let mut with = with.clone();
                    // Literals are what the items before them are.
                    if let (true, syn::Expr::Range(r)) = (m.method == "chain", strip(&with))
                        && let item = self.item_of_chain(of)
                        && let Some(scalar) = self.shallow(&item).scalar()
                    {
                        let ty = Ident::new(scalar.name(), span);
                        let (low, high) = (&r.start, &r.end);
                        let limits = &r.limits;
                        with = parse_quote_spanned!(span=> (#low as #ty) #limits (#high as #ty));
                    }
                    self.local_range(&beside, &with.to_token_stream(), stmts);
                } else {
                    let with = match self.draws_from(with) {
                        Some(call) => syn::Expr::Call(call),
                        None if is_chain => with.clone(),
                        None => parse_quote_spanned!(span=> #with.into_iter()),
                    };
                    let pat = parse_quote_spanned!(span=> mut #beside);
                    if !self.let_chain(&pat, &with, stmts) {
                        return None;
                    }
                }
                // Where Rust takes both by number it makes no item that has no number beside it.
                let is_indexed =
                    is_counted(with) && self.is_indexed(&syn::Expr::MethodCall(m.clone()));
                match m.method == "zip" {
                    true if is_indexed => (
                        TokenStream::new(),
                        quote_spanned!(span=>
                            let #other = #besides?; let #one = #from.next()?; #some((#one, #other))),
                    ),
                    true => (
                        TokenStream::new(),
                        quote_spanned!(span=>
                            let #one = #from.next()?; let #other = #besides?; #some((#one, #other))),
                    ),
                    false => (
                        quote_spanned!(span=> let mut #left = true;),
                        quote_spanned!(span=>
                            if #left {
                                if let #some(#one) = #from.next() { return #some(#one); }
                                #left = false;
                            }
                            #besides),
                    ),
                }
            }
            _ => return None,
        };
        let pat = parse_quote_spanned!(span=> mut #from);
        if !self.let_chain(&pat, of, stmts) {
            let is_range = matches!(strip(of), syn::Expr::Range(r) if r.end.is_some());
            if !is_range && !self.is_own_iterator(of) && self.range_of(of).is_none() {
                return None;
            }
            // A value like others.
            self.local_range(&from, &of.to_token_stream(), stmts);
        }
        let before: syn::Block = parse_quote_spanned!(span=> { #before });
        for stmt in &before.stmts {
            match stmt {
                syn::Stmt::Local(local) => self.local(local, stmts),
                other => {
                    let block = parse_quote_spanned!(span=> { #other });
                    let done = self.block_in_scope(&block, None);
                    stmts.push(Stmt::Expr(done));
                }
            }
        }
        let name = self.held_name(span);
        let front = self.drawing_closure(&name, &closure, stmts)?;
        let back = self.taking_from_behind(m, [&from, &beside, &left]);
        let name = Ident::new(&format!("{name}_back"), span);
        let back = back.and_then(|back| self.drawing_closure(&name, &back, stmts));
        let len = left_of(m, [&from, &left], &beside, &its_len);
        Some((front, back, len))
    }

    /// What draws from a closure with this body, which has a name.
    fn drawing_closure(
        &mut self,
        name: &Ident,
        body: &TokenStream,
        stmts: &mut Vec<Stmt>,
    ) -> Option<syn::Expr> {
        let span = name.span();
        let pat = parse_quote_spanned!(span=> #name);
        self.let_closure(&pat, &parse_quote_spanned!(span=> || { #body }), stmts)
            .then(|| parse_quote_spanned!(span=> ::std::iter::from_fn(#name)))
    }

    /// The items of what a chain begins with by their numbers, if that is a slice or an array, or parts of one.
    fn numbered(&mut self, base: &syn::Expr) -> Option<Numbered> {
        let syn::Expr::MethodCall(m) = base else {
            return None;
        };
        if self.begins_optional(base).is_some() {
            return None;
        }
        let (span, of, at) = (m.span(), &m.receiver, own(NUMBER, m.span()));
        let len = quote_spanned!(span=> #of.len());
        let by = match m.method.to_string().ends_with("_mut") {
            true => quote_spanned!(span=> &mut),
            false => quote_spanned!(span=> &),
        };
        let (len, item) = match (m.method.to_string().as_str(), m.args.first()) {
            ("iter" | "iter_mut", None) => (len, quote_spanned!(span=> #by #of[#at])),
            ("into_iter", None) => {
                let ty = self.type_ahead(of);
                match self.shallow(&ty) {
                    Ty::Array(..) => (len, quote_spanned!(span=> #of[#at])),
                    Ty::Slice { mutable: false, .. } | Ty::Ref { mutable: false, .. } => {
                        (len, quote_spanned!(span=> &#of[#at]))
                    }
                    _ => return None,
                }
            }
            ("chunks" | "chunks_mut", Some(n)) => (
                quote_spanned!(span=> #len.div_ceil(#n)),
                quote_spanned!(span=> #by #of[#at * #n..(#at * #n).saturating_add(#n).min(#len)]),
            ),
            ("chunks_exact" | "chunks_exact_mut", Some(n)) => (
                quote_spanned!(span=> #len / #n),
                quote_spanned!(span=> #by #of[#at * #n..#at * #n + #n]),
            ),
            ("windows", Some(n)) => (
                quote_spanned!(span=> { assert!(#n != 0); (#len + 1).saturating_sub(#n) }),
                quote_spanned!(span=> &#of[#at..#at + #n]),
            ),
            _ => return None,
        };
        Some(Numbered {
            len,
            item,
            acts: false,
            uneven: false,
        })
    }

    /// How many items a chain has, and the one of a number, if it is over elements or parts of a slice and each adaptor keeps their order or turns it.
    pub(super) fn by_number(&mut self, chain: &syn::Expr) -> Option<(TokenStream, TokenStream)> {
        let all = self.numbered_chain(chain)?;
        (!all.uneven).then_some((all.len, all.item))
    }

    fn numbered_chain(&mut self, chain: &syn::Expr) -> Option<Numbered> {
        let (mut base, mut adaptors) = (chain, Vec::new());
        while let syn::Expr::MethodCall(m) = base
            && ADAPTORS.iter().any(|name| m.method == name)
        {
            adaptors.push(m);
            base = strip(&m.receiver);
        }
        let mut all = self.numbered(base)?;
        for m in adaptors.into_iter().rev() {
            all = self.numbered_by(&all, m)?;
        }
        Some(all)
    }

    /// The same of what an adaptor makes of them.
    fn numbered_by(&mut self, all: &Numbered, m: &syn::ExprMethodCall) -> Option<Numbered> {
        let (span, at, Numbered { len, item, .. }) = (m.span(), own(NUMBER, m.span()), all);
        let (mut acts, mut uneven) = (all.acts, all.uneven);
        let moved = |to: TokenStream| quote_spanned!(span=> { let #at = #to; #item });
        let (len, item) = match (m.method.to_string().as_str(), m.args.first()) {
            ("copied" | "cloned", None) => (len.clone(), quote_spanned!(span=> *#item)),
            // Of a closure that has a name.
            ("map", Some(f @ syn::Expr::Path(_))) => {
                // A copy of the iterator has copies of those that change what they took: they stand by themselves.
                if self.has_state(f) {
                    return None;
                }
                let of_lent = item.to_string().contains("& mut");
                acts |= self.acts(f, of_lent);
                (len.clone(), quote_spanned!(span=> #f(#item)))
            }
            ("enumerate", None) => (len.clone(), quote_spanned!(span=> (#at, #item))),
            ("rev", None) => (len.clone(), moved(quote_spanned!(span=> #len - 1 - #at))),
            // Rust makes what is left out, too.
            ("skip" | "step_by", Some(_)) if acts => return None,
            // From behind, too.
            ("take", Some(_)) if acts => return None,
            ("skip", Some(n)) => (
                quote_spanned!(span=> (#len).saturating_sub(#n)),
                moved(quote_spanned!(span=> #at + #n)),
            ),
            ("take", Some(n)) => (quote_spanned!(span=> (#len).min(#n)), item.clone()),
            ("step_by", Some(n)) => (
                quote_spanned!(span=> (#len).div_ceil(#n)),
                moved(quote_spanned!(span=> #at * #n)),
            ),
            ("zip", Some(other)) => {
                // Rust makes an item that has none beside it.
                if acts && !self.is_indexed(&syn::Expr::MethodCall(m.clone())) {
                    return None;
                }
                let beside = match strip(other) {
                    other @ syn::Expr::MethodCall(_) => self.numbered_chain(other),
                    other => {
                        self.numbered_chain(&parse_quote_spanned!(span=> (#other).into_iter()))
                    }
                }?;
                acts |= beside.acts;
                uneven |= acts || beside.uneven;
                let (its_len, its_item) = (beside.len, beside.item);
                (
                    quote_spanned!(span=> (#len).min(#its_len)),
                    quote_spanned!(span=> (#item, #its_item)),
                )
            }
            _ => return None,
        };
        Some(Numbered {
            len,
            item,
            acts,
            uneven,
        })
    }

    /// The same iterator with a place for the item that it was asked for and that is not taken yet.
    pub(super) fn keeping_next(
        &mut self,
        of: Held,
        span: Span,
        stmts: &mut Vec<Stmt>,
    ) -> Option<Held> {
        let [from, kept, is_kept, take, look] = [(); 5].map(|()| self.held_name(span));
        self.bind(&from.to_string(), Binding::Chain(Rc::new(of)));
        let none = own("None", span);
        let block: syn::Block = parse_quote_spanned!(span=> {
            let mut #kept = #none;
            let mut #is_kept = false;
        });
        for stmt in &block.stmts {
            if let syn::Stmt::Local(local) = stmt {
                self.local(local, stmts);
            }
        }
        let closures: [(Ident, syn::Expr); 2] = [
            (
                look.clone(),
                parse_quote_spanned!(span=> || {
                    if !#is_kept { #kept = #from.next(); #is_kept = true; }
                    #kept
                }),
            ),
            (
                take.clone(),
                parse_quote_spanned!(span=> || {
                    if !#is_kept { return #from.next(); }
                    #is_kept = false;
                    #kept
                }),
            ),
        ];
        for (name, closure) in closures {
            let pat = parse_quote_spanned!(span=> #name);
            if !self.let_closure(&pat, &closure, stmts) {
                return None;
            }
        }
        let chain: syn::Expr = parse_quote_spanned!(span=> ::std::iter::from_fn(#take));
        Some(Held {
            names: self.named_in(&chain),
            left: Some(chain.clone()),
            chain,
            next: Some(parse_quote_spanned!(span=> #look())),
            rest: None,
            back: None,
            len: Some(
                parse_quote_spanned!(span=> #from.len() + usize::from(#is_kept && #kept.is_some())),
            ),
            uneven: false,
        })
    }

    /// `it.next_if(f)` and `it.next_if_eq(&x)`, which take the next item if it is such a one.
    pub(super) fn taken_if(m: &syn::ExprMethodCall, next: &syn::Expr) -> syn::Expr {
        let (span, left, by) = (m.span(), &m.receiver, &m.args[0]);
        let [is, none, one] = ["is", "None", "one"].map(|name| own(name, span));
        let test = match m.method == "next_if" {
            true => quote_spanned!(span=> #by),
            false => quote_spanned!(span=> |#one| *#one == *#by),
        };
        parse_quote_spanned!(span=> {
            let #is = #next.as_ref().is_some_and(#test);
            if #is { #left.next() } else { #none }
        })
    }
}
