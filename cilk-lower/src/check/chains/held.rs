//! Iterators that have a name, `let odd = a.iter().filter(|x| **x % 2 == 1);`: the chain that the name stands for, which runs where it is used. What it
//! begins with and takes is evaluated where it is named.

use super::{
    super::{Binding, Checker, closures::Names, places::strip},
    drawn::Drawn,
    given::is_drawn_once,
    is_own,
    loops::ADAPTORS,
    may_be_chain, own, parts,
};
use crate::{
    hir::{Stmt, VarId},
    ty::Ty,
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use std::rc::Rc;
use syn::{parse_quote_spanned, spanned::Spanned};

/// Methods that take items from behind.
const TURNING: &[&str] = &["next_back", "nth_back", "rfind", "rfold", "rev"];

/// A chain that has a name.
#[derive(Debug)]
pub(in super::super) struct Held {
    pub(super) chain: syn::Expr,
    /// What names in it stand for, where it was named: elsewhere they may mean something else.
    pub(super) names: Vec<(String, Option<Meaning>)>,
    /// Of one that is `mut`, the same over the numbers that are left: what takes some of its items leaves the others.
    pub(super) left: Option<syn::Expr>,
    /// Of what draws its items and is looked at: the next of them, which it keeps.
    pub(super) next: Option<syn::Expr>,
    /// Of whole parts of a slice: what is left behind the last of them.
    pub(super) rest: Option<syn::Expr>,
    /// Of one that is `mut` and has numbers: what takes those that are left from behind.
    pub(super) back: Option<syn::Expr>,
    /// Of one that draws its items: how many are left, if that is known.
    pub(super) len: Option<syn::Expr>,
    /// Whether its numbers do not say what Rust makes from behind.
    pub(super) uneven: bool,
}

/// What a name stands for, as far as it has to be told from others.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Meaning {
    Var(VarId),
    Code(usize),
    Place,
}

impl Checker<'_> {
    /// `let name = ..;` of an iterator that no method ends, if it is that.
    pub(in super::super) fn let_chain(
        &mut self,
        pat: &syn::Pat,
        value: &syn::Expr,
        stmts: &mut Vec<Stmt>,
    ) -> bool {
        let syn::Pat::Ident(name) = pat else {
            return false;
        };
        let is_named =
            matches!(strip(value), syn::Expr::Path(_)) && self.with_held(value).is_some();
        if !is_named && !matches!(strip(value), syn::Expr::MethodCall(_) | syn::Expr::Call(_)) {
            return false;
        }
        let plain = name.by_ref.is_none() && name.subpat.is_none();
        let is_drawn = name.mutability.is_some();
        let (value, is_looked_at) = match strip(value) {
            syn::Expr::MethodCall(m) if m.method == "peekable" && is_drawn => (&*m.receiver, true),
            value => (value, false),
        };
        let value = self.with_held(value).unwrap_or_else(|| value.clone());
        let value = self.with_ranges_let(&value, stmts).unwrap_or(value);
        let value = self.with_given(&value, stmts).unwrap_or(value);
        let value = self.lent_chain(&value).unwrap_or(value);
        let mut adaptors = Vec::new();
        let begins = self.links(&value, &mut adaptors).cloned();
        // What takes from a range keeps the item that it was asked for.
        let keeps = begins.as_ref().is_some_and(|of| self.takes_from_range(of));
        if is_looked_at && !keeps {
            self.may_run_again(&value);
        }
        let is_own = begins.as_ref().is_some_and(|of| self.is_own_iterator(of));
        // A value like others.
        if adaptors.is_empty() && is_own && !is_looked_at {
            return false;
        }
        let is_value = match strip(&value) {
            syn::Expr::MethodCall(m) => m.method == "clone" && !is_drawn || self.is_own_method(m),
            _ => false,
        };
        if !plain || is_value || begins.is_none() {
            return false;
        }
        let Some(held) = self.hold(&value, is_drawn, stmts) else {
            return false;
        };
        let rest = remainder(&held);
        let (chain, left, back, len, uneven) = match is_drawn {
            false => (held, None, None, None, false),
            true => match self.drawn(&held, stmts) {
                Some(Drawn {
                    chain,
                    left,
                    back,
                    len,
                    uneven,
                }) => (chain, Some(left), back, len, uneven),
                None => return false,
            },
        };
        let mut held = Held {
            names: self.named_in(&chain),
            chain,
            left,
            next: None,
            rest,
            back,
            len,
            uneven,
        };
        if is_looked_at && (is_own || is_drawn_once(&held.chain)) {
            let Some(keeping) = self.keeping_next(held, name.span(), stmts) else {
                return false;
            };
            held = keeping;
        }
        self.bind(&name.ident.to_string(), Binding::Chain(Rc::new(held)));
        true
    }

    /// Binds a name to a range that is written there, whose type what it is used for may still say.
    pub(super) fn let_range(
        &mut self,
        name: &Ident,
        value: &syn::Expr,
        stmts: &mut Vec<Stmt>,
    ) -> bool {
        let syn::Expr::Range(range) = strip(value) else {
            return false;
        };
        if range.start.is_none() || range.end.is_none() {
            return false;
        }
        let Some(chain) = self.hold(value, false, stmts) else {
            return false;
        };
        let held = Held {
            names: self.named_in(&chain),
            chain,
            left: None,
            next: None,
            rest: None,
            back: None,
            len: None,
            uneven: false,
        };
        self.bind(&name.to_string(), Binding::Chain(Rc::new(held)));
        true
    }

    /// Whether an iterator stands there that no method ends.
    pub(in super::super) fn begins_chain(&mut self, e: &syn::Expr) -> bool {
        let e = self.with_held(e).unwrap_or_else(|| e.clone());
        let mut adaptors = Vec::new();
        let Some(base) = self.links(&e, &mut adaptors).cloned() else {
            return false;
        };
        !adaptors.is_empty() || !self.is_own_iterator(&base)
    }

    /// Says so where a chain's closures may change something: who looks at the next item runs them, and who takes it does again.
    fn may_run_again(&mut self, chain: &syn::Expr) {
        let mut links = Vec::new();
        self.links(chain, &mut links);
        let may_change = |name: &String| match self.lookup(name) {
            Some(Binding::Var(var)) => {
                let var = &self.vars[var.0];
                var.fixed.is_none() || !is_plain(&var.ty)
            }
            other => other.is_some(),
        };
        let is_closure = |arg: &syn::Expr| match arg {
            syn::Expr::Closure(_) => true,
            syn::Expr::Path(p) => p.path.get_ident().is_some_and(|name| {
                matches!(self.lookup(&name.to_string()), Some(Binding::Closure(_)))
            }),
            _ => false,
        };
        let mut closures = links
            .iter()
            .flat_map(|m| &m.args)
            .filter(|arg| is_closure(arg));
        let changing = closures.find(|closure| Names::of(closure).iter().any(may_change));
        if let Some(span) = changing.map(Spanned::span) {
            self.error(span, "`peekable` behind a closure that may change something")
                .help("`peek` would run the closure once more: take the items first, and use in the loop what the closure does");
        }
    }

    /// The same chain of names that nothing else has.
    pub(super) fn hold(
        &mut self,
        e: &syn::Expr,
        is_drawn: bool,
        stmts: &mut Vec<Stmt>,
    ) -> Option<syn::Expr> {
        let (e, span) = (strip(e), e.span());
        if let Some(of) = self.of_one(e) {
            let syn::Expr::MethodCall(m) = &of else {
                return None;
            };
            let value = self.evaluated(&m.receiver.to_token_stream(), None, span, stmts);
            return Some(parse_quote_spanned!(span=> #value.into_iter()));
        }
        if let Some(of) = self.begins_optional(e) {
            if is_drawn {
                let call = parse_quote_spanned!(span=> ::std::iter::taken(#of));
                return self.hold_source(&call, stmts);
            }
            let value = self.evaluated(&of.to_token_stream(), None, span, stmts);
            return Some(parse_quote_spanned!(span=> #value.into_iter()));
        }
        if self.is_given(e) {
            let name = self.given_by(e, stmts)?;
            let given = parse_quote_spanned!(span=> #name);
            return Some(self.with_held(&given).unwrap_or(given));
        }
        if let Some(call) = self.draws_from(e) {
            return match self.begins_anew(e) && !is_drawn {
                true => self.hold_parts(e, stmts),
                false => self.hold_source(&call, stmts),
            };
        }
        match e {
            syn::Expr::Range(r) => {
                let mut end = |e: &Option<Box<syn::Expr>>| {
                    let e = e.as_ref()?.to_token_stream();
                    Some(self.evaluated(&e, None, span, stmts))
                };
                let (low, limits, high) = (end(&r.start), &r.limits, end(&r.end));
                Some(parse_quote_spanned!(span=> (#low #limits #high)))
            }
            syn::Expr::MethodCall(m) if ADAPTORS.iter().any(|name| m.method == name) => {
                let mut held = m.clone();
                *held.receiver = self.hold(&m.receiver, is_drawn, stmts)?;
                for (i, arg) in held.args.iter_mut().enumerate() {
                    *arg = match i == 0 && m.method == "scan" {
                        // What it begins with.
                        true => self.evaluated(&arg.to_token_stream(), None, span, stmts),
                        false => self.hold_argument(&m.method, arg, is_drawn, stmts)?,
                    };
                }
                Some(syn::Expr::MethodCall(held))
            }
            e @ syn::Expr::MethodCall(m)
                if !self.is_own_method(m) && m.method != "by_ref" && self.range_of(e).is_none() =>
            {
                let (name, of) = (m.method.to_string(), &m.receiver);
                let of = match name.as_str() {
                    "row_iter_mut" => return None,
                    "into_iter" | "row_iter" => of.to_token_stream(),
                    name if name.ends_with("_mut") => quote_spanned!(span=> &mut (#of)[..]),
                    _ => quote_spanned!(span=> &(#of)[..]),
                };
                let mut held = m.clone();
                *held.receiver = self.evaluated(&of, None, span, stmts);
                for arg in &mut held.args {
                    *arg = self.evaluated(&arg.to_token_stream(), Some("usize"), span, stmts);
                }
                Some(syn::Expr::MethodCall(held))
            }
            e if self.range_of(e).is_some() && !self.is_lent_range(e) => {
                let range = self.range_of(e)?;
                self.hold(&syn::Expr::Range(range), is_drawn, stmts)
            }
            // The program's own: a copy of it, which goes on from where that is.
            e => {
                let name = self.held_name(span);
                let is_lent = self.is_lent_range(e);
                let is_own = is_lent || self.is_own_iterator(e);
                let of = match is_lent {
                    true => parse_quote_spanned!(span=> &mut *#e),
                    false => self.lent_whole(e),
                };
                let stmt: syn::Stmt = parse_quote_spanned!(span=> let mut #name = #of;);
                if let (true, syn::Stmt::Local(local)) = (is_own, &stmt) {
                    self.local(local, stmts);
                }
                is_own.then(|| parse_quote_spanned!(span=> #name))
            }
        }
    }

    /// Whether what draws its items there does so from their beginning each time that it is written: the parts of a slice, or a slice again and again.
    fn begins_anew(&self, e: &syn::Expr) -> bool {
        let syn::Expr::MethodCall(m) = strip(e) else {
            return false;
        };
        let moves =
            |arg: &syn::Expr| matches!(strip(arg), syn::Expr::Closure(c) if c.capture.is_some());
        !m.args.iter().any(moves)
    }

    /// The same of names that nothing else has.
    fn hold_parts(&mut self, e: &syn::Expr, stmts: &mut Vec<Stmt>) -> Option<syn::Expr> {
        let (span, mut held) = (e.span(), strip(e).clone());
        let syn::Expr::MethodCall(m) = &mut held else {
            return None;
        };
        if m.method == "cycle" {
            *m.receiver = self.hold(&m.receiver, false, stmts)?;
            return Some(held);
        }
        let of = &m.receiver;
        *m.receiver = self.evaluated(&quote_spanned!(span=> &(#of)[..]), None, span, stmts);
        for arg in &mut m.args {
            let takes = parts::takes(&m.method.to_string())?;
            if takes == 0 {
                *arg = self.evaluated(&arg.to_token_stream(), Some("usize"), span, stmts);
                continue;
            }
            let named = self.closure_of(arg, takes, stmts)?;
            let name = self.held_name(span);
            self.bind(&name.to_string(), Binding::Closure(Rc::new(named)));
            *arg = parse_quote_spanned!(span=> #name);
        }
        Some(held)
    }

    fn hold_argument(
        &mut self,
        method: &Ident,
        arg: &syn::Expr,
        is_drawn: bool,
        stmts: &mut Vec<Stmt>,
    ) -> Option<syn::Expr> {
        let span = arg.span();
        if let syn::Expr::Closure(closure) = strip(arg) {
            if method == "flat_map" {
                let goes_away = self.depth > 0 || self.gives_away;
                return match goes_away || !self.stays(closure) {
                    true => self.carried(closure, stmts),
                    false => Some(arg.clone()),
                };
            }
            self.may_stand(closure);
            let named = self.closure_named(closure, stmts);
            let name = self.held_name(span);
            self.bind(&name.to_string(), Binding::Closure(Rc::new(named)));
            return Some(parse_quote_spanned!(span=> #name));
        }
        // A closure by its name, which means something else where the iterator goes.
        if method != "flat_map"
            && let syn::Expr::Path(p) = strip(arg)
            && let Some(of) = p.path.get_ident()
            && let Some(Binding::Closure(named)) = self.lookup(&of.to_string()).cloned()
        {
            let named = match self.is_copied_closure(arg) {
                true => Rc::new(self.closure_copied(&named, span, stmts)),
                false => named,
            };
            let name = self.held_name(span);
            self.bind(&name.to_string(), Binding::Closure(named));
            return Some(parse_quote_spanned!(span=> #name));
        }
        if method == "zip" || method == "chain" {
            if self.links(arg, &mut Vec::new()).is_some() {
                return self.hold(arg, is_drawn, stmts);
            }
            return Some(self.evaluated(&arg.to_token_stream(), None, span, stmts));
        }
        match method.to_string().as_str() {
            "take" | "skip" | "step_by" => {
                Some(self.evaluated(&arg.to_token_stream(), Some("usize"), span, stmts))
            }
            _ if self.holds_function(arg, None) => {
                Some(self.evaluated(&arg.to_token_stream(), None, span, stmts))
            }
            // A function of the program: elsewhere its name may mean something else.
            _ if self.depth > 0 => {
                let named = self.closure_of(arg, 1, stmts)?;
                let name = self.held_name(span);
                self.bind(&name.to_string(), Binding::Closure(Rc::new(named)));
                Some(parse_quote_spanned!(span=> #name))
            }
            _ => Some(arg.clone()),
        }
    }

    /// Whether a closure means the same wherever it stands as long as its names are in sight: it takes no copy of what may change.
    pub(super) fn stays(&self, closure: &syn::ExprClosure) -> bool {
        let names = Names::of(&closure.body).into_iter();
        let mut bound = names.filter_map(|name| self.lookup(&name));
        bound.all(|binding| match binding {
            Binding::Var(var) => closure.capture.is_none() || self.vars[var.0].fixed.is_some(),
            _ => true,
        })
    }

    /// The variables that an expression names.
    pub(super) fn named_in(&self, e: &syn::Expr) -> Vec<(String, Option<Meaning>)> {
        let names = Names::of(e).into_iter().filter(|name| !is_own(name));
        let meaning = |name: &String| {
            Some(match self.lookup(name)? {
                Binding::Var(var) | Binding::Element(var) => Meaning::Var(*var),
                Binding::Closure(named) => Meaning::Code(Rc::as_ptr(named).addr()),
                Binding::Chain(held) => Meaning::Code(Rc::as_ptr(held).addr()),
                Binding::Place(_) => Meaning::Place,
            })
        };
        names.map(|name| (name.clone(), meaning(&name))).collect()
    }

    /// What is left of an iterator that is `mut`, as one of its own, and the next item of it, which it keeps.
    fn whole_held(&self, e: &syn::Expr) -> Option<(syn::Expr, syn::Expr)> {
        let held = self.held_mut(e)?;
        let whole = held.chain.clone();
        let next = match &held.next {
            Some(next) => next.clone(),
            None => parse_quote_spanned!(e.span()=> #whole.next()),
        };
        Some((whole, next))
    }

    /// An iterator that is `mut`, by its name.
    fn held_mut(&self, e: &syn::Expr) -> Option<Rc<Held>> {
        let syn::Expr::Path(p) = strip(e) else {
            return None;
        };
        match self.lookup(&p.path.get_ident()?.to_string()) {
            Some(Binding::Chain(held)) if held.left.is_some() => Some(Rc::clone(held)),
            _ => None,
        }
    }

    pub(in super::super) fn held_name(&mut self, span: Span) -> Ident {
        own(&format!("held_{}", self.fresh_loop().0), span)
    }

    /// A variable that has a value from here on.
    pub(in super::super) fn evaluated(
        &mut self,
        value: &TokenStream,
        ty: Option<&str>,
        span: Span,
        stmts: &mut Vec<Stmt>,
    ) -> syn::Expr {
        let name = self.held_name(span);
        let ty = ty.map(|ty| Ident::new(ty, span));
        let ty = ty.map(|ty| quote_spanned!(span=> : #ty));
        let stmt: syn::Stmt = parse_quote_spanned!(span=> let #name #ty = #value;);
        if let syn::Stmt::Local(local) = &stmt {
            self.local(local, stmts);
        }
        parse_quote_spanned!(span=> #name)
    }

    /// Whether an iterator of Rust's is written there, whatever stands around it.
    fn is_written_chain(&self, e: &syn::Expr) -> bool {
        match strip(e) {
            syn::Expr::Range(_) => true,
            syn::Expr::MethodCall(m) => {
                may_be_chain(m) && !self.m.has_methods(&m.method.to_string())
            }
            _ => false,
        }
    }

    /// An expression with the chains that its names stand for; none if there are none.
    pub(in super::super) fn with_held(&self, e: &syn::Expr) -> Option<syn::Expr> {
        match strip(e) {
            syn::Expr::Path(p) => match self.lookup(&p.path.get_ident()?.to_string()) {
                Some(Binding::Chain(held)) if self.named_in(&held.chain) == held.names => {
                    Some(held.left.as_ref().unwrap_or(&held.chain).clone())
                }
                _ => None,
            },
            syn::Expr::Call(call) if call.args.len() == 2 => {
                if self.of_iter(call)? != "zip" {
                    return None;
                }
                let [one, other] = [0, 1].map(|i| {
                    self.with_held(&call.args[i])
                        .unwrap_or(call.args[i].clone())
                });
                let one = match self.is_written_chain(&one) {
                    true => one,
                    false => parse_quote_spanned!(one.span()=> (#one).into_iter()),
                };
                Some(parse_quote_spanned!(call.span()=> (#one).zip(#other)))
            }
            syn::Expr::Reference(r) if r.mutability.is_some() => {
                let of = strip(&r.expr);
                if self.is_held(of) && self.range_of(of).is_some() {
                    return Some(parse_quote_spanned!(of.span()=> #of.by_ref()));
                }
                self.whole_held(of).and_then(|_| self.with_held(of))
            }
            syn::Expr::MethodCall(m) if m.method == "remainder" && m.args.is_empty() => {
                let syn::Expr::Path(p) = strip(&m.receiver) else {
                    return remainder(strip(&m.receiver));
                };
                match self.lookup(&p.path.get_ident()?.to_string()) {
                    Some(Binding::Chain(held)) => held.rest.clone(),
                    _ => None,
                }
            }
            syn::Expr::MethodCall(m) => {
                let of = match strip(&m.receiver) {
                    syn::Expr::MethodCall(by) if by.method == "by_ref" => &by.receiver,
                    _ => &m.receiver,
                };
                let held = self.held_mut(of);
                if m.method == "len"
                    && m.args.is_empty()
                    && let Some(len) = held.as_ref().and_then(|held| held.len.clone())
                {
                    return Some(len);
                }
                let is_back = TURNING.iter().any(|name| m.method == name);
                if is_back && held.as_ref().is_some_and(|held| held.uneven) {
                    return None;
                }
                if let Some(taken) =
                    held.and_then(|held| Self::taken_from_behind(m, held.back.as_ref()))
                {
                    return Some(taken);
                }
                if let Some((whole, next)) = self.whole_held(&m.receiver) {
                    match m.method.to_string().as_str() {
                        "clone" if is_drawn_once(&whole) => return None,
                        "clone" => return Some(self.with_copies(&whole)),
                        "by_ref" => return self.with_held(&m.receiver),
                        // Those that are left stay.
                        "len" if m.args.is_empty() && !is_drawn_once(&whole) => {
                            return Some(parse_quote_spanned!(m.span()=> #whole.len()));
                        }
                        "peek" => {
                            return Some(parse_quote_spanned!(m.span()=> #next.as_ref()));
                        }
                        "next_if" | "next_if_eq" if m.args.len() == 1 => {
                            return Some(Self::taken_if(m, &next));
                        }
                        _ => {}
                    }
                }
                let receiver = self.with_held(&m.receiver);
                if m.method == "into_iter" {
                    if receiver.is_some() {
                        return receiver;
                    }
                    // An iterator is run over by itself.
                    if m.args.is_empty() && self.is_written_chain(&m.receiver) {
                        return Some(strip(&m.receiver).clone());
                    }
                }
                if m.method == "clone" && receiver.is_some() {
                    return receiver
                        .filter(|of| !is_drawn_once(of))
                        .map(|of| self.with_copies(&of));
                }
                let beside = m.method == "zip" || m.method == "chain";
                let args: Vec<_> = m.args.iter().map(|arg| self.with_held(arg)).collect();
                if receiver.is_none() && !(beside && args.iter().any(Option::is_some)) {
                    return None;
                }
                let mut held = m.clone();
                if let Some(receiver) = receiver {
                    *held.receiver = receiver;
                }
                if beside {
                    for (arg, with) in held.args.iter_mut().zip(args) {
                        *arg = with.unwrap_or_else(|| arg.clone());
                    }
                }
                Some(syn::Expr::MethodCall(held))
            }
            _ => None,
        }
    }
}

/// What `chunks_exact` leaves behind its last part; none of what is no such one.
fn remainder(chain: &syn::Expr) -> Option<syn::Expr> {
    let syn::Expr::MethodCall(m) = strip(chain) else {
        return None;
    };
    let (of, n) = (&m.receiver, m.args.first()?);
    let is_it = m.method == "chunks_exact" && m.args.len() == 1;
    is_it.then(|| {
        let (span, all) = (m.span(), own("all", m.span()));
        parse_quote_spanned!(span=> { let #all = &(#of)[..]; &#all[#all.len() - #all.len() % #n..] })
    })
}

/// Whether nothing can be changed by way of a value that is not `mut`.
fn is_plain(ty: &Ty) -> bool {
    match ty {
        Ty::Scalar(_) => true,
        Ty::Slice { mutable, elem } | Ty::Mat { mutable, elem } => !mutable && is_plain(elem),
        Ty::Ref { mutable, target } => !mutable && is_plain(target),
        Ty::Array(elem, _) => is_plain(elem),
        Ty::Tuple(fields) => fields.iter().all(is_plain),
        _ => false,
    }
}
