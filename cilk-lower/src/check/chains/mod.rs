//! Chains of an iterator's methods: `a.iter().map(|x| ..).sum()` is the loop that it stands for, and is checked as that loop. What a closure says stands
//! in the loop's body, so nothing is called and nothing is passed.
//!
//! A chain begins with what a `for` runs over, goes on with adaptors, and ends with a method that asks for all of its items, or in the head of a `for`.
//! What is asked, or taken apart, where it stands is never an `Option`: `.max().unwrap_or(0)`.

mod asked;
mod closure;
mod search;
mod slices;
mod sources;

use super::{
    Checker,
    iteration::{PARTS, ROWS, instead_of_adaptor, is_parallel_attribute},
    places::strip,
};
use crate::{
    hir::Expr,
    ty::{Class, Ty},
};
pub(super) use closure::{apply, is_lent, what_leaves};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use sources::is_search;
pub(super) use sources::total_key;
use syn::{parse_quote_spanned, spanned::Spanned};

/// What a `for` knows by itself, next to what it runs over.
const HEAD: &[&str] = &["zip", "enumerate", "rev", "step_by", "copied", "cloned"];
/// Methods that make an iterator of another.
const ADAPTORS: &[&str] = &[
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
    "cycle",
];
/// Something in a chain that is not part of the task language, and what to write instead.
pub(super) struct Refused {
    pub(super) span: Span,
    pub(super) message: String,
    pub(super) help: &'static str,
}

fn refused<T>(span: Span, message: impl Into<String>, help: &'static str) -> Result<T, Refused> {
    Err(Refused {
        span,
        message: message.into(),
        help,
    })
}

/// A chain's loop, as far as its adaptors say it.
struct Loop {
    span: Span,
    /// What it runs over, and the pattern of the items there.
    over: syn::Expr,
    pat: TokenStream,
    /// What stands before the loop.
    before: TokenStream,
    /// What the body begins with: what ends the loop, then what makes `item` of what it runs over.
    first: TokenStream,
    rest: TokenStream,
    /// Whether the items are references to elements.
    refers: bool,
    /// Variables before the loop.
    made: usize,
}

/// What names begin with that no program has.
const OWN: &str = "__chain_";

/// Such a name.
pub(super) fn own(name: &str, span: Span) -> Ident {
    Ident::new(&format!("{OWN}{name}"), span)
}

/// Whether a variable is one of a chain's loop. Those that are declared without a value are read behind a test alone.
pub(super) fn is_own(name: &str) -> bool {
    name.starts_with(OWN)
}

/// A method's name without that, which stands for Rust's whatever the program calls its own.
pub(super) fn rusts_name(name: &Ident) -> Option<Ident> {
    let text = name.to_string();
    Some(Ident::new(text.strip_prefix(OWN)?, name.span()))
}

fn item(span: Span) -> Ident {
    own("item", span)
}

/// What an adaptor is called on, from the chain's beginning, and what it begins with.
fn links<'e>(
    e: &'e syn::Expr,
    adaptors: &mut Vec<&'e syn::ExprMethodCall>,
) -> Option<&'e syn::Expr> {
    let base = match strip(e) {
        syn::Expr::MethodCall(m) => {
            let name = m.method.to_string();
            if ADAPTORS.contains(&&*name) {
                let base = links(&m.receiver, adaptors)?;
                adaptors.push(m);
                return Some(base);
            }
            let runs = matches!(&*name, "iter" | "iter_mut" | "into_iter")
                || ROWS.contains(&&*name)
                || PARTS.contains(&&*name);
            runs.then(|| strip(e))?
        }
        range @ syn::Expr::Range(_) => range,
        _ => return None,
    };
    Some(base)
}

/// Whether a `for` knows an adaptor by itself. What is left out in front of a `zip` is left out of the slice.
fn is_head(m: &syn::ExprMethodCall, adaptors: &[&syn::ExprMethodCall], over: &syn::Expr) -> bool {
    let name = m.method.to_string();
    let mut from = adaptors.iter().skip_while(|of| !std::ptr::eq(**of, m));
    let cuts = matches!(&*name, "skip" | "take") && matches!(over, syn::Expr::MethodCall(_));
    HEAD.contains(&&*name) || cuts && from.any(|of| of.method == "zip")
}

impl Loop {
    /// Reads what stands before the last method; none if that is no iterator.
    fn new(e: &syn::Expr, span: Span) -> Option<Result<Self, Refused>> {
        let mut adaptors = Vec::new();
        let mut over = links(e, &mut adaptors)?;
        let is_range = matches!(over, syn::Expr::Range(_));
        let head = |m: &&&syn::ExprMethodCall| {
            let name = m.method.to_string();
            let direct = std::ptr::eq(strip(&m.receiver), over);
            is_head(m, &adaptors, over)
                && !(name == "enumerate" && is_range)
                && (direct || !matches!(&*name, "copied" | "cloned"))
        };
        let known = adaptors.iter().take_while(head).count();
        let element = matches!(over, syn::Expr::MethodCall(m) if m.method == "iter" || m.method == "iter_mut");
        let refers = element
            && adaptors[..known]
                .iter()
                .all(|m| m.method == "rev" || m.method == "step_by");
        if let Some(last) = adaptors[..known].last() {
            over = last_of(e, last);
        }
        let mut out = Self {
            span,
            over: over.clone(),
            pat: TokenStream::new(),
            before: TokenStream::new(),
            first: TokenStream::new(),
            rest: TokenStream::new(),
            refers,
            made: 0,
        };
        let (pat, value) = shape(over, span, &mut 0);
        let item = item(span);
        out.rest = quote_spanned!(span=> let #item = #value;);
        out.pat = pat;
        for m in &adaptors[known..] {
            if let Err(why) = out.adapt(m) {
                return Some(Err(why));
            }
        }
        Some(Ok(out))
    }

    /// A variable that lives as long as the loop.
    fn variable(&mut self, name: &str) -> Ident {
        self.made += 1;
        own(&format!("{name}_{}", self.made), self.span)
    }

    fn adapt(&mut self, m: &syn::ExprMethodCall) -> Result<(), Refused> {
        let (span, name) = (m.span(), m.method.to_string());
        let item = item(span);
        let args: Vec<&syn::Expr> = m.args.iter().collect();
        let rest = match (&*name, &args[..]) {
            ("map", [f]) => {
                let value = apply(f, &[(&item, false)])?;
                self.refers = false;
                quote_spanned!(span=> let #item = #value;)
            }
            ("filter_map" | "map_while", [f]) => {
                let (some, value) = (own("Some", span), apply(f, &[(&item, false)])?);
                let leave = match &*name {
                    "map_while" => quote_spanned!(span=> break),
                    _ => quote_spanned!(span=> continue),
                };
                self.refers = false;
                quote_spanned!(span=> let #some(#item) = (#value) else { #leave; };)
            }
            // Of `Option`s.
            ("flatten", []) => {
                let some = own("Some", span);
                quote_spanned!(span=> let #some(#item) = #item else { continue; };)
            }
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
                quote_spanned!(span=> if !#test { break; })
            }
            ("skip_while", [f]) => {
                let test = apply(f, &[(&item, true)])?;
                let skips = self.variable("skips");
                self.before
                    .extend(quote_spanned!(span=> let mut #skips = true;));
                quote_spanned!(span=> if #skips { if #test { continue; } #skips = false; })
            }
            ("skip", [count]) => {
                let left = self.variable("left");
                self.before
                    .extend(quote_spanned!(span=> let mut #left: usize = #count;));
                quote_spanned!(span=> if #left > 0 { #left -= 1; continue; })
            }
            ("take", [count]) => {
                let left = self.variable("left");
                self.before
                    .extend(quote_spanned!(span=> let mut #left: usize = #count;));
                // Before anything else is done with an item that is not taken.
                self.first
                    .extend(quote_spanned!(span=> if #left == 0 { break; }));
                quote_spanned!(span=> #left -= 1;)
            }
            ("enumerate", []) => {
                let at = self.variable("at");
                self.before
                    .extend(quote_spanned!(span=> let mut #at: usize = 0;));
                self.refers = false;
                quote_spanned!(span=> let #item = (#at, #item); #at += 1;)
            }
            ("copied" | "cloned", []) => {
                self.refers = false;
                quote_spanned!(span=> let #item = *#item;)
            }
            ("step_by", [by]) => {
                let (left, step) = (self.variable("left"), self.variable("step"));
                self.before.extend(
                    quote_spanned!(span=> let mut #left = 0; let #step: usize = #by; assert!(#step != 0);),
                );
                quote_spanned!(span=> if #left > 0 { #left -= 1; continue; } #left = #step - 1;)
            }
            ("rev" | "zip", _) => {
                let help = match &*name {
                    "rev" => "put it next to what is run over: `a.iter().rev().map(..)`",
                    _ => "put it next to what is run over: `a.iter().zip(b).map(..)`",
                };
                return refused(
                    m.method.span(),
                    format!("`{name}` behind another adaptor"),
                    help,
                );
            }
            _ => {
                return refused(
                    m.method.span(),
                    format!("`{name}` of an iterator is not part of the task language"),
                    instead_of_adaptor(&name).unwrap_or("write a loop"),
                );
            }
        };
        self.rest.extend(rest);
        Ok(())
    }

    /// The loop, with what is done with `item`.
    fn with(&self, label: Option<&syn::Label>, body: &TokenStream) -> TokenStream {
        let Self {
            span,
            over,
            pat,
            first,
            rest,
            ..
        } = self;
        quote_spanned!(*span=> #label for #pat in (#over) { #first #rest #body })
    }

    /// A block that runs the loop, and what it comes to.
    fn block(&self, before: &TokenStream, body: &TokenStream, value: &TokenStream) -> syn::Expr {
        let (own, run) = (&self.before, self.with(None, body));
        parse_quote_spanned!(self.span=> { #own #before #run #value })
    }
}

/// The expression of `e` that this method call is.
fn last_of<'e>(e: &'e syn::Expr, m: &syn::ExprMethodCall) -> &'e syn::Expr {
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
fn shape(e: &syn::Expr, span: Span, parts: &mut usize) -> (TokenStream, TokenStream) {
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

impl Checker<'_> {
    /// The value of a chain; none if this method does not end one.
    pub(super) fn chain(&mut self, m: &syn::ExprMethodCall, want: Option<&Ty>) -> Option<Expr> {
        if let Some(found) = self.search(m, want) {
            return Some(found);
        }
        if let Some(whole) = self.whole_slice(m, want) {
            return Some(whole);
        }
        let ends = match (&*m.method.to_string(), m.args.len()) {
            ("sum" | "product" | "count", 0) | ("any" | "all" | "for_each", 1) | ("fold", 2) => {
                true
            }
            _ => is_search(m),
        };
        if !ends {
            return self.unended(m);
        }
        let made = Loop::new(&m.receiver, m.span())?.and_then(|over| self.all_of(&over, m, want));
        Some(match made {
            Ok(block) => self.expr(&block, want),
            Err(why) => self.refuse(why.span, why.message, why.help),
        })
    }

    /// What is wrong with an iterator that no method ends; none if this is no iterator.
    fn unended(&mut self, m: &syn::ExprMethodCall) -> Option<Expr> {
        let (name, mut adaptors) = (m.method.to_string(), Vec::new());
        let base = links(&m.receiver, &mut adaptors)?;
        if ADAPTORS.contains(&&*name) {
            return Some(self.refuse(
                m.method.span(),
                "an iterator stands only in a `for`, or where a method ends it",
                "write a loop, or end it by `sum`, `product`, `count`, `fold`, `any`, `all`, `for_each`, or by `min`, `max`, `position`, `find` and what is asked of these",
            ));
        }
        if adaptors.is_empty() && matches!(base, syn::Expr::Range(_)) {
            return None;
        }
        let help = match &*name {
            "collect" | "to_vec" | "partition" | "unzip" => {
                "nothing is allocated in a task: write to an array, or to a slice that is lent"
            }
            "is_sorted" => "ask the neighbours: `a.windows(2).all(|w| w[0] <= w[1])`",
            "eq" | "ne" => "compare the slices themselves: `a == b`",
            "rposition" => "run backwards, and count from the end: `.rev().position(..)`",
            _ => "write a loop, or end it by `sum`, `count`, `fold`, `any` or `all`",
        };
        Some(self.refuse(
            m.method.span(),
            format!("`{name}` of an iterator is not part of the task language"),
            help,
        ))
    }

    /// The block of a method that has a value for any number of items.
    fn all_of(
        &mut self,
        over: &Loop,
        m: &syn::ExprMethodCall,
        want: Option<&Ty>,
    ) -> Result<syn::Expr, Refused> {
        let (span, item, all) = (m.span(), item(m.span()), own("all", m.span()));
        let name = m.method.to_string();
        let args: Vec<&syn::Expr> = m.args.iter().collect();
        let none = TokenStream::new();
        let value = all.to_token_stream();
        Ok(match (&*name, &args[..]) {
            ("sum" | "product", []) => {
                let (ty, float) = self.sum_type(m, want)?;
                // As Rust begins: what is added to it keeps its sign, if that is all there is.
                let first = match (&*name, float) {
                    ("sum", true) => quote_spanned!(span=> -0.0),
                    ("sum", false) => quote_spanned!(span=> 0),
                    (_, true) => quote_spanned!(span=> 1.0),
                    (_, false) => quote_spanned!(span=> 1),
                };
                let clone = own("clone", span);
                let step = match &*name {
                    "sum" => quote_spanned!(span=> #all += #item.#clone();),
                    _ => quote_spanned!(span=> #all *= #item.#clone();),
                };
                let before = quote_spanned!(span=> let mut #all #ty = #first;);
                over.block(&before, &step, &value)
            }
            ("count", []) => over.block(
                &quote_spanned!(span=> let mut #all: usize = 0;),
                &quote_spanned!(span=> #all += 1;),
                &value,
            ),
            ("fold", [first, f]) => {
                let next = apply(f, &[(&all, false), (&item, false)])?;
                over.block(
                    &quote_spanned!(span=> let mut #all = #first;),
                    &quote_spanned!(span=> #all = #next;),
                    &value,
                )
            }
            ("for_each", [f]) => {
                let body = apply(f, &[(&item, false)])?;
                over.block(&none, &quote_spanned!(span=> #body;), &none)
            }
            ("any" | "all", [f]) => {
                let test = apply(f, &[(&item, false)])?;
                let (test, first, last) = match &*name {
                    "any" => (test, false, true),
                    _ => (quote_spanned!(span=> !#test), true, false),
                };
                over.block(
                    &quote_spanned!(span=> let mut #all = #first;),
                    &quote_spanned!(span=> if #test { #all = #last; break; }),
                    &value,
                )
            }
            _ => {
                return refused(
                    m.method.span(),
                    format!(
                        "`{name}` of an iterator, where a method of this program has that name"
                    ),
                    "write a loop, or give the method another name",
                );
            }
        })
    }

    /// The type of a sum, as it is written behind a name, and whether it is a float: what is written there, or what it is used as, as Rust asks for too.
    fn sum_type(
        &mut self,
        m: &syn::ExprMethodCall,
        want: Option<&Ty>,
    ) -> Result<(TokenStream, bool), Refused> {
        let span = m.method.span();
        if let Some(turbofish) = &m.turbofish {
            let ty = turbofish.args.to_token_stream();
            let float = ty.to_string().starts_with('f');
            return Ok((quote_spanned!(span=> : #ty), float));
        }
        let name = m.method.to_string();
        match want.map(|want| self.shallow(want)) {
            Some(Ty::Scalar(s)) => {
                let ty = Ident::new(s.name(), span);
                Ok((quote_spanned!(span=> : #ty), s.is_float()))
            }
            // That of what is summed, which is that of a literal elsewhere.
            Some(Ty::Var(v)) if self.table.class(v) != Class::Any => {
                Ok((TokenStream::new(), self.table.class(v) == Class::Float))
            }
            _ => refused(
                span,
                format!("the type of this `{name}` must be known here"),
                "write it: `.sum::<u64>()`",
            ),
        }
    }

    /// A `for` over a chain that is more than a `for` knows by itself, as one that is not; none if it does, or if the chain is none.
    pub(super) fn chained_for(&mut self, f: &syn::ExprForLoop) -> Option<Expr> {
        let span = f.expr.span();
        let mut adaptors = Vec::new();
        let over = links(&f.expr, &mut adaptors)?;
        if adaptors.iter().all(|m| is_head(m, &adaptors, over)) {
            return None;
        }
        let made = Loop::new(&f.expr, span)?;
        if let (Some(attr), Ok(_)) = (f.attrs.iter().find(|a| is_parallel_attribute(a)), &made) {
            return Some(self.refuse(
                attr.span(),
                "a parallel loop over what adaptors make of its items",
                "do it in the loop's body",
            ));
        }
        let made = made.map(|over| -> syn::Expr {
            let (pat, body, item) = (&f.pat, &f.body, item(span));
            let body = quote_spanned!(span=> let #pat = #item; #body);
            let (before, run) = (&over.before, over.with(f.label.as_ref(), &body));
            parse_quote_spanned!(span=> { #before #run })
        });
        Some(match made {
            Ok(block) => self.expr(&block, Some(&Ty::unit())),
            Err(why) => self.refuse(why.span, why.message, why.help),
        })
    }
}
