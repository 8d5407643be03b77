//! Chains of an iterator's methods: `a.iter().map(|x| ..).sum()` is the loop that it stands for, and is checked as that loop. What a closure says stands
//! in the loop's body, so nothing is called and nothing is passed.
//!
//! A chain begins with what a `for` runs over, goes on with adaptors, and ends with a method that asks for all of its items, or in the head of a `for`.
//! What is asked, or taken apart, where it stands is never an `Option`: `.max().unwrap_or(0)`.

mod adaptors;
mod asked;
mod closure;
mod compared;
mod drawn;
mod first;
mod gathered;
mod given;
mod held;
mod jumps;
mod lent;
mod loops;
mod parts;
mod ranges;
mod rewritten;
mod search;
mod shows;
mod slices;
mod sources;
mod taken;
mod turned;
mod typed;
mod zips;

use super::{
    Checker,
    iteration::{instead_of_adaptor, is_parallel_attribute},
    places::strip,
    sums::Sum,
};
use crate::{
    hir::Expr,
    ty::{Class, Ty},
};
use adaptors::Place;
use closure::closure_block;
pub(super) use closure::{apply, is_closure, is_lent, returns, what_leaves};
pub(super) use given::{Given, bound_in};
pub(super) use held::Held;
use loops::{ADAPTORS, Loop, is_head, unmarked};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use sources::is_search;
pub(super) use sources::total_key;
use syn::{parse_quote_spanned, spanned::Spanned};
pub(super) use taken::changed_names;

/// Something in a chain that is not part of the task language, and what to write instead.
pub(super) struct Refused {
    pub(super) span: Span,
    pub(super) message: String,
    pub(super) help: &'static str,
    /// Whether it may follow from another error.
    follows: bool,
}

impl Checker<'_> {
    /// Says why a chain is refused.
    pub(super) fn refuse_why(&mut self, why: Refused) -> Expr {
        let said = self.error(why.span, why.message).help(why.help);
        said.follows = why.follows;
        Self::broken(why.span)
    }
}

fn refused<T>(span: Span, message: impl Into<String>, help: &'static str) -> Result<T, Refused> {
    Err(Refused {
        span,
        message: message.into(),
        help,
        follows: false,
    })
}

/// What names begin with that no program has.
const OWN: &str = "__chain_";

/// An attribute of a block that is a round of several loops which stand for one: what leaves that leaves all of them.
const ROUND: &str = "round";

/// Whether a block has it.
pub(super) fn is_round(attrs: &[syn::Attribute]) -> bool {
    let round = own(ROUND, Span::call_site());
    attrs.iter().any(|a| a.path().is_ident(&round))
}

/// The label of what is left then.
pub(super) fn whole_label() -> String {
    own("leave_0", Span::call_site()).to_string()
}

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

impl Checker<'_> {
    /// The value of a chain; none if this method does not end one.
    pub(super) fn chain(
        &mut self,
        e: &syn::Expr,
        m: &syn::ExprMethodCall,
        want: Option<&Ty>,
    ) -> Option<Expr> {
        if let Some((named, all)) = self.with_ranges_before(m) {
            return Some(self.behind_names(&named, |c| c.expr(&all, want)));
        }
        if let Some(named) = self.with_own_variables(m) {
            return Some(match named {
                Ok(named) => self.expr(&named, want),
                Err(why) => self.refuse_why(why),
            });
        }
        if let Some(value) = self.with_parts_at_first(e, |c, e| c.expr(e, want)) {
            return Some(value);
        }
        if let Some(taken) = self.taken_into(m, want) {
            return Some(self.expr(&taken, want));
        }
        if let Some(begun) = self.begun_by_reference(&m.receiver) {
            let mut m = m.clone();
            *m.receiver = begun;
            return Some(self.expr(&syn::Expr::MethodCall(m), want));
        }
        if let Some(found) = self.search(m, want) {
            return Some(found);
        }
        if let Some(whole) = self.whole_slice(m, want) {
            return Some(whole);
        }
        if let Some(gathered) = self.gathered(m, want) {
            return Some(gathered);
        }
        if let Some(other) = self.rewritten(m, want) {
            return Some(self.expr(&other, want));
        }
        let ends = match (&*m.method.to_string(), m.args.len()) {
            ("sum" | "product" | "count", 0)
            | ("any" | "all" | "for_each" | "try_for_each", 1)
            | ("fold" | "try_fold", 2) => true,
            _ => is_search(m),
        };
        if !ends {
            return self.unended(m);
        }
        if self.goes_on(m) {
            return None;
        }
        let of = self.taken_from(m);
        let over = self.loop_ended(&of, m, m.span())?;
        let made = over.and_then(|over| self.all_of(&over, m, want));
        Some(match made {
            Ok(block) => self.expr(&block, want),
            Err(why) => self.refuse_why(why),
        })
    }

    /// Whether a method takes some items of a range that a variable has, which has the others afterwards; or is the own one of an iterator of the program's.
    pub(super) fn goes_on(&mut self, m: &syn::ExprMethodCall) -> bool {
        if self.is_own_iterator(&m.receiver) {
            return self.is_own_method(m);
        }
        borrows(m) && self.is_held(&m.receiver)
    }

    /// Whether that is a name, or a part of what has one that is a range.
    pub(super) fn is_held(&self, e: &syn::Expr) -> bool {
        match strip(e) {
            syn::Expr::Path(_) => true,
            e @ (syn::Expr::Field(_) | syn::Expr::Index(_) | syn::Expr::Unary(_)) => {
                self.range_of(e).is_some()
            }
            _ => false,
        }
    }

    /// What a method takes items from: an iterator of the program's own has those that it does not take afterwards.
    pub(super) fn taken_from(&mut self, m: &syn::ExprMethodCall) -> syn::Expr {
        let of = strip(&m.receiver);
        if let Some(lent) = self.lent_chain(of) {
            return lent;
        }
        let is_place = matches!(
            of,
            syn::Expr::Path(_) | syn::Expr::Field(_) | syn::Expr::Index(_)
        );
        let is_own = is_place && borrows(m) && self.is_own_iterator(of);
        match is_own && !matches!(self.type_ahead(of), Ty::Ref { .. }) {
            true => parse_quote_spanned!(of.span()=> (&mut #of)),
            false => of.clone(),
        }
    }

    /// What is wrong with an iterator that no method ends; none if this is no iterator.
    fn unended(&mut self, m: &syn::ExprMethodCall) -> Option<Expr> {
        let (name, mut adaptors) = (m.method.to_string(), Vec::new());
        let base = self.links(&m.receiver, &mut adaptors)?;
        let is_own = self.is_own_iterator(base);
        let is_known = ADAPTORS.contains(&&*name);
        if is_own && adaptors.is_empty() && (!is_known || self.is_own_method(m)) {
            return None;
        }
        if is_known {
            return Some(self.refuse(
                m.method.span(),
                "an iterator stands only in a `for`, or where a method ends it",
                "write a loop, or end it by `sum`, `product`, `count`, `fold`, `any`, `all`, `for_each`, or by `min`, `max`, `position`, `find` and what is asked of these",
            ));
        }
        if adaptors.is_empty() && self.range_of(base).is_some() {
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
                let (ty, float) = self.sum_type(over, m, want)?;
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
                let ty = match asked::is_into(first) {
                    true => self.folded(f, want, span),
                    false => TokenStream::new(),
                };
                over.block(
                    &quote_spanned!(span=> let mut #all #ty = #first;),
                    &quote_spanned!(span=> #all = #next;),
                    &value,
                )
            }
            ("for_each", [f]) => {
                let body = apply(f, &[(&item, false)])?;
                over.block(&none, &quote_spanned!(span=> #body;), &none)
            }
            ("try_fold", [first, f]) => {
                let next = apply(f, &[(&all, false), (&item, false)])?;
                self.tried(over, Some(first), &next, want, m)?
            }
            ("try_for_each", [f]) => {
                let next = apply(f, &[(&item, false)])?;
                self.tried(over, None, &next, want, m)?
            }
            ("any" | "all", [f]) => {
                let test = apply(f, &[(&item, false)])?;
                let (test, first, last) = match &*name {
                    "any" => (test, false, true),
                    _ => (quote_spanned!(span=> !#test), true, false),
                };
                let leave = over.leave();
                over.block(
                    &quote_spanned!(span=> let mut #all = #first;),
                    &quote_spanned!(span=> if #test { #all = #last; #leave; }),
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

    /// The type of what is folded, as it is written behind a name, where the closure or what it is used as says it.
    fn folded(&self, f: &syn::Expr, want: Option<&Ty>, span: Span) -> TokenStream {
        if let syn::Expr::Closure(closure) = f
            && let Some(syn::Pat::Type(typed)) = closure.inputs.first()
        {
            let ty = &typed.ty;
            return quote_spanned!(span=> : #ty);
        }
        match want.map(|want| self.shallow(want)) {
            Some(Ty::Scalar(s)) => {
                let ty = Ident::new(s.name(), span);
                quote_spanned!(span=> : #ty)
            }
            _ => TokenStream::new(),
        }
    }

    /// The block of a `fold` that ends where a step comes to nothing or to an error.
    fn tried(
        &mut self,
        over: &Loop,
        first: Option<&syn::Expr>,
        next: &TokenStream,
        want: Option<&Ty>,
        m: &syn::ExprMethodCall,
    ) -> Result<syn::Expr, Refused> {
        let (span, all, step) = (over.span, own("all", over.span), own("step", over.span));
        let (first, put) = match first {
            Some(first) => (
                quote_spanned!(span=> let mut #all = #first;),
                quote_spanned!(span=> #all =),
            ),
            None => (TokenStream::new(), TokenStream::new()),
        };
        let ahead = over.block(
            &quote_spanned!(span=> let mut #step; #first),
            &quote_spanned!(span=> #step = #next;),
            &step.to_token_stream(),
        );
        let known = match want.and_then(|want| Sum::of(want, self)) {
            Some(sum) => Some(sum),
            None => {
                let ty = self.type_ahead(&ahead);
                let sum = Sum::of(&ty, self);
                if sum.is_none() && !matches!(self.shallow(&ty), Ty::Error | Ty::Never) {
                    let (name, shown) = (&m.method, self.show(&ty));
                    return refused(
                        m.method.span(),
                        format!("what `{name}` takes gives `{shown}`"),
                        "it gives an `Option` or a `Result`: where it goes on, and where it ends",
                    );
                }
                sum
            }
        };
        let wrap = match known {
            Some(Sum::Result) => own("Ok", span),
            _ => own("Some", span),
        };
        let value = match put.is_empty() {
            true => quote_spanned!(span=> ()),
            false => all.to_token_stream(),
        };
        let block = over.block(
            &first,
            &quote_spanned!(span=> #put (#next)?;),
            &quote_spanned!(span=> #wrap(#value)),
        );
        Ok(closure_block(&block, span))
    }

    /// The type of a sum, as it is written behind a name, and whether it is a float: what is written there, or what it is used as, as Rust asks for too.
    fn sum_type(
        &mut self,
        over: &Loop,
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
        if let Some(signed) = want.and_then(|want| self.wide_sign(want)) {
            let ty = Ident::new(if signed { "i128" } else { "u128" }, span);
            return Ok((quote_spanned!(span=> : #ty), false));
        }
        match want.map(|want| self.shallow(want)) {
            Some(Ty::Scalar(s)) => {
                let ty = Ident::new(s.name(), span);
                Ok((quote_spanned!(span=> : #ty), s.is_float()))
            }
            // That of what is summed, which is that of a literal elsewhere.
            Some(Ty::Var(v)) if self.table.class(v) != Class::Any => {
                Ok((TokenStream::new(), self.table.class(v) == Class::Float))
            }
            // Nothing has said it yet: there are no sums but of what they are of.
            None | Some(Ty::Var(_)) => {
                let item = self.type_ahead(&over.last_item());
                let mut ty = self.shallow(&item);
                while let Ty::Ref { target, .. } = ty {
                    ty = self.shallow(&target);
                }
                match ty {
                    Ty::Scalar(s) if s.is_int() || s.is_float() => {
                        let ty = Ident::new(s.name(), span);
                        Ok((quote_spanned!(span=> : #ty), s.is_float()))
                    }
                    Ty::Var(v) if self.table.class(v) != Class::Any => {
                        Ok((TokenStream::new(), self.table.class(v) == Class::Float))
                    }
                    _ => unknown_sum(&name, span),
                }
            }
            _ => unknown_sum(&name, span),
        }
    }

    /// A `for` over a chain that is more than a `for` knows by itself, as one that is not; none if it does, or if the chain is none.
    pub(super) fn chained_for(&mut self, f: &syn::ExprForLoop) -> Option<Expr> {
        let with_parts = self.with_parts_at_first(&f.expr, |c, over| {
            let mut f = f.clone();
            *f.expr = over.clone();
            c.expr(&syn::Expr::ForLoop(f), Some(&Ty::unit()))
        });
        if with_parts.is_some() {
            return with_parts;
        }
        if let Some(over) = self.over_optional(&f.expr) {
            let mut f = f.clone();
            *f.expr = over;
            return self.chained_for(&f);
        }
        if let Some(over) = unmarked(&f.expr) {
            let mut f = f.clone();
            *f.expr = over;
            return Some(match self.chained_for_as(&f, true) {
                Some(chained) => chained,
                None => self.for_loop(&f),
            });
        }
        self.chained_for_as(f, false)
    }

    /// The same of what has no parts that are to be evaluated in front; `folds` says that it stands for what takes all items at once.
    fn chained_for_as(&mut self, f: &syn::ExprForLoop, folds: bool) -> Option<Expr> {
        if let Some(lent) = self.lent_chain(&f.expr) {
            let mut f = f.clone();
            *f.expr = lent;
            return self.chained_for_as(&f, folds);
        }
        let span = f.expr.span();
        let mut adaptors = Vec::new();
        let over = self.links(&f.expr, &mut adaptors)?;
        let is_range = self.range_of(over).is_some();
        let known = adaptors.iter().all(|m| {
            let counts = is_range && m.method == "enumerate";
            let steps = !is_range && m.method == "step_by";
            let beside = is_range && m.method == "zip";
            let other = counts || steps || beside;
            is_head(m, &adaptors, over) && !other && !self.is_beside_own(m)
        });
        let is_drawn = self.is_own_iterator(over) || self.draws_from(over).is_some();
        let is_optional = self.begins_optional(over).is_some();
        let is_plain = !is_drawn && !is_optional && !self.is_given(over);
        if known && is_plain && !self.is_turned(&adaptors) {
            return None;
        }
        let place = Place {
            folds,
            ..Place::default()
        };
        let made = self.loop_at(&f.expr, span, place)?;
        if let (Some(attr), Ok(_)) = (f.attrs.iter().find(|a| is_parallel_attribute(a)), &made) {
            let help = adaptors.iter().find_map(|m| match &*m.method.to_string() {
                "zip" if self.range_of(over).is_some() || m.args.iter().any(|other| self.range_of(other).is_some()) => {
                    Some("rounds are counted by `.enumerate()`: `for (i, x) in a.iter_mut().enumerate()`")
                }
                name @ ("skip" | "take" | "step_by") => instead_of_adaptor(name),
                _ => None,
            });
            return Some(self.refuse(
                attr.span(),
                "a parallel loop over what adaptors make of its items",
                help.unwrap_or("do it in the loop's body"),
            ));
        }
        let made = made.map(|over| -> syn::Expr {
            let (pat, body, item) = (&f.pat, &f.body, item(span));
            let (label, round) = (&f.label, own(ROUND, span));
            let body = quote_spanned!(span=> let #pat = #item; #body);
            let run = match over.is_plain() {
                true => over.with(label.as_ref(), &body),
                false => over.with(None, &quote_spanned!(span=> #[#round] #label { #body })),
            };
            let before = &over.before;
            parse_quote_spanned!(span=> { #before #run })
        });
        Some(match made {
            Ok(block) => self.expr(&block, Some(&Ty::unit())),
            Err(why) => self.refuse_why(why),
        })
    }
}

/// Whether what a method gives may be an iterator that nothing ends.
pub(super) fn may_be_chain(m: &syn::ExprMethodCall) -> bool {
    let name = m.method.to_string();
    ADAPTORS.contains(&&*name)
        || super::iteration::PARTS.contains(&&*name)
        || matches!(&*name, "iter" | "iter_mut" | "into_iter")
}

/// Whether a method of an iterator takes it by `&mut`.
fn borrows(m: &syn::ExprMethodCall) -> bool {
    const BORROW: &[&str] = &[
        "any",
        "all",
        "next",
        "nth",
        "find",
        "find_map",
        "position",
        "try_fold",
        "try_for_each",
    ];
    BORROW.iter().any(|name| m.method == name)
}

fn unknown_sum<T>(name: &str, span: Span) -> Result<T, Refused> {
    Err(Refused {
        span,
        message: format!("the type of this `{name}` must be known here"),
        help: "write it: `.sum::<u64>()`",
        follows: true,
    })
}
