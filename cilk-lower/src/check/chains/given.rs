//! Iterators and closures that functions give, `fn row(&self, y: usize) -> impl Iterator<Item = u32>`, and iterators that they take. Such a function's body
//! stands in the place of its call, and what it gives is a chain or a closure under a name that nothing else has: `let` binds it, and what runs over a call
//! binds it first.

use super::{
    super::{Binding, Checker, closures::Names, places::strip},
    drawn::NUMBER,
    own, parts,
};
use crate::{
    generics::{Code, Template},
    hir::{Expr, ExprKind, Stmt},
    ty::Ty,
};
use proc_macro2::{Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use std::collections::{BTreeMap, BTreeSet};
use syn::{
    parse_quote_spanned,
    spanned::Spanned,
    visit::{self, Visit},
};

/// How the names begin that stand for parts of chains.
const HELD: &str = "__chain_held_";

/// What the call of a function gives: the name of it, and what that and the names in it stand for.
#[derive(Debug)]
pub(in super::super) struct Given {
    name: Ident,
    bindings: Vec<(String, Binding)>,
}

/// A function of `std::iter` that draws its items from a closure.
struct Source {
    /// What stands before it, and the closure.
    before: TokenStream,
    closure: syn::Expr,
}

impl Checker<'_> {
    /// What the function that is called gives, if that is a piece of code.
    pub(in super::super) fn gives(&mut self, e: &syn::Expr) -> Option<Code> {
        match strip(e) {
            syn::Expr::Call(call) => {
                let syn::Expr::Path(p) = strip(&call.func) else {
                    return None;
                };
                let name = p.path.segments.last()?.ident.to_string();
                if let Some(name) = p.path.get_ident()
                    && let Some(Binding::Closure(named)) = self.lookup(&name.to_string())
                {
                    let (named, args) = (std::rc::Rc::clone(named), call.args.iter());
                    let gives = self.gives_chain(&named, &args.collect::<Vec<_>>());
                    return gives.then_some(Code::Iterator);
                }
                let code = *self.m.codes.get(&name)?;
                let is_local = p.path.get_ident().is_some() && self.lookup(&name).is_some();
                (!is_local).then_some(code)
            }
            syn::Expr::MethodCall(m) => {
                let code = *self.m.codes.get(&m.method.to_string())?;
                self.is_own_method(m).then_some(code)
            }
            _ => None,
        }
    }

    /// Whether a chain begins with what a function gives.
    pub(super) fn is_given(&mut self, e: &syn::Expr) -> bool {
        self.gives(e) == Some(Code::Iterator)
    }

    /// The names of parts of chains in sight.
    pub(in super::super) fn held_names(&self) -> Vec<(String, Binding)> {
        let all = self.scopes.iter().flatten();
        let held = all.filter(|(name, _)| name.starts_with(HELD));
        held.map(|(name, binding)| (name.clone(), binding.clone()))
            .collect()
    }

    /// The body of a function that gives a piece of code, in the place of its call.
    pub(in super::super) fn give(&mut self, template: &Template, code: Code) -> Vec<Stmt> {
        let (mut stmts, mut body) = (Vec::new(), (*template.item.block).clone());
        let span = template.item.sig.output.span();
        let Some(syn::Stmt::Expr(value, None)) = body.stmts.pop() else {
            self.error(span, "what this function gives stands at its end")
                .help("end it with the iterator or closure, without a `return`");
            return stmts;
        };
        let said = self.m.diags.0.len();
        let constants = self.constants_of(&body);
        let before = self.block_in_scope(&body, None);
        flatten(before, &mut stmts);
        let mut name = self.held_name(span);
        let pat: syn::Pat = parse_quote_spanned!(span=> #name);
        let is_given = match code {
            Code::Iterator => self.let_iterator(&name, &value, &mut stmts),
            Code::Closure => self.let_closure(&pat, &value, &mut stmts),
        };
        if let (Code::Iterator, true, Some(item)) = (code, is_given, template.item_given()) {
            name = self.with_items(name, &item, &mut stmts);
        }
        for name in constants {
            self.m.names.remove(&name);
        }
        if !is_given {
            let what = match code {
                Code::Iterator => "an iterator",
                Code::Closure => "a closure",
            };
            if self.m.diags.0.len() == said {
                self.error(value.span(), format!("this function gives {what}, which has to stand here"))
                    .help("write it here, not in a branch, and what it needs above it; what differs from call to call may stand in its closures");
            }
            // Nothing more is said of its uses.
            let broken = self.add_var(&name.to_string(), Ty::Error);
            self.bind(&name.to_string(), Binding::Var(broken));
        }
        let bindings = self.held_names();
        self.giving = Some(Some(Given { name, bindings }));
        stmts
    }

    /// Whether a piece of code is wanted of what is called.
    pub(in super::super) const fn wants_chain(&self) -> bool {
        matches!(self.giving, Some(None))
    }

    /// Gives the iterator that a closure ends with.
    pub(in super::super) fn give_chain(
        &mut self,
        before: &[syn::Stmt],
        value: &syn::Expr,
        stmts: &mut Vec<Stmt>,
    ) {
        let span = value.span();
        let block: syn::Block = parse_quote_spanned!(span=> { #(#before)* });
        let before = self.block_in_scope(&block, None);
        flatten(before, stmts);
        let name = self.held_name(span);
        let around = std::mem::replace(&mut self.gives_away, true);
        let is_given = self.let_iterator(&name, value, stmts);
        self.gives_away = around;
        if !is_given {
            let broken = self.add_var(&name.to_string(), Ty::Error);
            self.bind(&name.to_string(), Binding::Var(broken));
            self.error(
                span,
                "this closure gives an iterator, which cannot have a name here",
            )
            .help("write the iterator where it is used");
        }
        let bindings = self.held_names();
        self.giving = Some(Some(Given { name, bindings }));
    }

    /// Binds a name to an iterator: to a chain, or to a range or a value of the program's own type.
    pub(super) fn let_iterator(
        &mut self,
        name: &Ident,
        value: &syn::Expr,
        stmts: &mut Vec<Stmt>,
    ) -> bool {
        let span = value.span();
        let pat = parse_quote_spanned!(span=> #name);
        if let Some(call) = self.draws_from(value) {
            return self.let_chain(&pat, &syn::Expr::Call(call), stmts);
        }
        if self.let_chain(&pat, value, stmts) || self.let_range(name, value, stmts) {
            return true;
        }
        let is_branch = matches!(
            strip(value),
            syn::Expr::If(_) | syn::Expr::Match(_) | syn::Expr::Block(_)
        );
        let is_value = |c: &mut Self| c.range_of(value).is_some() || c.is_own_iterator(value);
        if is_branch || !is_value(self) {
            return false;
        }
        let stmt: syn::Stmt = parse_quote_spanned!(span=> let mut #name = #value;);
        if let syn::Stmt::Local(local) = &stmt {
            self.local(local, stmts);
        }
        true
    }

    /// Whether items of a chain can be taken one by one where it has a name.
    pub(super) fn is_drawable(&mut self, chain: &syn::Expr) -> bool {
        self.drawable(chain).is_some()
    }

    /// Whether they can be taken from behind; none if not even from the front.
    pub(super) fn drawable(&mut self, chain: &syn::Expr) -> Option<bool> {
        self.links(chain, &mut Vec::new())?;
        let (vars, diags) = (self.vars.len(), self.m.diags.0.len());
        let name = self.held_name(chain.span());
        let pat = parse_quote_spanned!(chain.span()=> mut #name);
        let drawn = self.scoped(|c| {
            let is_drawn = c.let_chain(&pat, chain, &mut Vec::new());
            match c.lookup(&name.to_string()) {
                Some(Binding::Chain(held)) if is_drawn => Some(held.back.is_some()),
                _ => None,
            }
        });
        self.vars.truncate(vars);
        self.m.diags.0.truncate(diags);
        drawn
    }

    /// Calls a function that gives a piece of code: the name under which that is in sight here; none if the function gives something else.
    pub(in super::super) fn given_by(
        &mut self,
        call: &syn::Expr,
        stmts: &mut Vec<Stmt>,
    ) -> Option<Ident> {
        let around = self.giving.replace(None);
        let value = self.expr(call, None);
        let given = std::mem::replace(&mut self.giving, around).flatten();
        flatten(value, stmts);
        let Given { name, bindings } = given?;
        for (name, binding) in bindings {
            self.bind(&name, binding);
        }
        Some(name)
    }

    /// A chain that begins with a name in place of the call that it begins with; none if that gives no iterator.
    pub(super) fn with_given(
        &mut self,
        chain: &syn::Expr,
        stmts: &mut Vec<Stmt>,
    ) -> Option<syn::Expr> {
        let base = self.links(chain, &mut Vec::new())?.clone();
        if !self.is_given(&base) {
            return None;
        }
        let name = self.given_by(&base, stmts)?;
        let span = base.span();
        let chain = begun(chain, &base, &parse_quote_spanned!(span=> #name));
        Some(self.with_held(&chain).unwrap_or(chain))
    }

    /// The name of a chain that is an argument; none if it is a value, which is passed as others are.
    pub(in super::super) fn given_to(
        &mut self,
        arg: &syn::Expr,
        stmts: &mut Vec<Stmt>,
    ) -> Option<syn::Expr> {
        let span = arg.span();
        let chain = self.with_held(arg).unwrap_or_else(|| arg.clone());
        let chain = self.with_ranges_let(&chain, stmts).unwrap_or(chain);
        let mut adaptors = Vec::new();
        let base = self.links(&chain, &mut adaptors)?;
        let is_value = adaptors.is_empty()
            && matches!(strip(base), syn::Expr::Path(_) | syn::Expr::Field(_))
            && (self.range_of(base).is_some() || self.is_own_iterator(base));
        if is_value {
            return None;
        }
        let name = self.held_name(span);
        self.let_iterator(&name, &chain, stmts)
            .then(|| parse_quote_spanned!(span=> #name))
    }

    /// The type of the items of a chain.
    pub(in super::super) fn item_of_chain(&mut self, chain: &syn::Expr) -> Ty {
        let held = self.with_held(chain).unwrap_or_else(|| chain.clone());
        match self.loop_over(&held, held.span()) {
            Some(Ok(over)) => self.type_ahead(&over.last_item()),
            _ => {
                let over = super::loops::Loop::new(
                    &held,
                    held.span(),
                    super::adaptors::Place::default(),
                    false,
                    true,
                );
                self.type_ahead(&over.last_item())
            }
        }
    }

    /// The same closure of a loop in a loop with names for what it captures that mean the same elsewhere. What it takes it has variables of its own for.
    pub(super) fn carried(
        &mut self,
        closure: &syn::ExprClosure,
        stmts: &mut Vec<Stmt>,
    ) -> Option<syn::Expr> {
        let mut names = BTreeMap::new();
        // What it names itself has other names than what is around it elsewhere.
        for name in bound_in(closure) {
            names.insert(name, self.held_name(closure.span()));
        }
        for name in Names::of(&closure.body) {
            let Some(mut binding) = self.lookup(&name).cloned() else {
                // What `Self` and parameters are is known here alone.
                if self.m.at.env.contains_key(&name) || !self.means_the_same(&name) {
                    self.error(closure.span(), format!("`{name}` means something else where this iterator is used"))
                        .help("write the loops there, or give the function a name of its own: what stands in a `flat_map` runs where the iterator is used");
                    return None;
                }
                continue;
            };
            if let (true, Binding::Var(var)) = (closure.capture.is_some(), &binding) {
                binding = Binding::Var(self.taken(*var, closure.span(), stmts));
            }
            // One name for both, where it names again what it captures.
            let carried = match names.get(&name) {
                Some(known) => known.clone(),
                None => self.held_name(closure.span()),
            };
            self.bind(&carried.to_string(), binding);
            names.insert(name, carried);
        }
        syn::parse2(renamed(closure.to_token_stream(), &names)).ok()
    }

    /// Whether a name of the program is the same item for who calls the function that is read.
    fn means_the_same(&mut self, name: &str) -> bool {
        let Some(caller) = self.callers.last().cloned() else {
            return true;
        };
        let name = [name.to_owned()];
        let here = self.m.full(&name);
        here == self.m.elsewhere(&caller, |m| m.full(&name))
    }

    /// What one of Rust's functions for iterators draws from.
    pub(super) fn draws_from(&mut self, e: &syn::Expr) -> Option<syn::ExprCall> {
        let span = e.span();
        let call = match strip(e) {
            syn::Expr::Call(call) => call,
            // Parts of a slice between elements, or as long as neighbours belong together.
            syn::Expr::MethodCall(m) if m.args.len() == 1 => {
                let name = m.method.to_string();
                let is_part = parts::takes(&name).is_some() && !self.is_own_method(m);
                let (of, f, name) = (&m.receiver, &m.args[0], Ident::new(&name, span));
                return is_part.then(|| parse_quote_spanned!(span=> ::std::iter::#name(#of, #f)));
            }
            // All of a slice or range, again and again.
            syn::Expr::MethodCall(m) if m.method == "cycle" && m.args.is_empty() => {
                return self.cycled(m);
            }
            // Numbers that no `for` counts by itself.
            syn::Expr::Range(r) if self.wide_ends(r).is_some() => {
                let (signed, one_more) = (
                    self.wide_ends(r)?,
                    matches!(r.limits, syn::RangeLimits::Closed(_)),
                );
                let ty = Ident::new(if signed { "i128" } else { "u128" }, span);
                let (low, high) = (&r.start, &r.end);
                return Some(
                    parse_quote_spanned!(span=> ::std::iter::numbers(#low as #ty, #high as #ty, #one_more)),
                );
            }
            // Without an end.
            syn::Expr::Range(r) if r.end.is_none() => {
                let start = r.start.as_ref()?;
                return Some(parse_quote_spanned!(span=> ::std::iter::count_from(#start)));
            }
            _ => return None,
        };
        let name = self.of_iter(call)?;
        let takes = match name.as_str() {
            "empty" => 0,
            "once_with" | "from_fn" | "repeat_with" | "repeat" | "count_from" => 1,
            "successors" | "repeat_n" => 2,
            _ => return None,
        };
        (call.args.len() == takes).then(|| {
            let mut call = call.clone();
            let (span, name) = (call.func.span(), Ident::new(&name, call.func.span()));
            let written = match strip(&call.func) {
                syn::Expr::Path(p) => p.path.segments.last().map(|s| s.arguments.clone()),
                _ => None,
            };
            *call.func = parse_quote_spanned!(span=> ::std::iter::#name #written);
            call
        })
    }

    /// The function of `std::iter` that is called.
    pub(super) fn of_iter(&self, call: &syn::ExprCall) -> Option<String> {
        let syn::Expr::Path(p) = strip(&call.func) else {
            return None;
        };
        let whole = self.m.whole_path(&p.path);
        let mut names = whole.as_ref().unwrap_or(&p.path).segments.iter().rev();
        let name = names.next()?.ident.to_string();
        (names.next()?.ident == "iter").then_some(name)
    }

    /// What runs over one value: `std::iter::once(x)`.
    pub(super) fn of_one(&self, e: &syn::Expr) -> Option<syn::Expr> {
        let syn::Expr::Call(call) = strip(e) else {
            return None;
        };
        let value = call.args.first().filter(|_| call.args.len() == 1)?;
        (self.of_iter(call)? == "once")
            .then(|| parse_quote_spanned!(e.span()=> [#value].into_iter()))
    }

    /// Whether a range is of integers of 128 bits, and these have a sign then.
    fn wide_ends(&mut self, range: &syn::ExprRange) -> Option<bool> {
        self.m.wide()?;
        let (start, end) = (range.start.as_ref()?, range.end.as_ref()?);
        [end, start].into_iter().find_map(|end| {
            let ty = self.type_ahead(end);
            self.wide_sign(&ty)
        })
    }

    /// What `cycle` draws from, if it is called on a range, or on the elements of a slice or array: `::std::iter::cycle(0..n)`, or with these, how many there
    /// are and the one of a number.
    fn cycled(&mut self, m: &syn::ExprMethodCall) -> Option<syn::ExprCall> {
        let (span, mut adaptors) = (m.span(), Vec::new());
        let base = self.links(&m.receiver, &mut adaptors)?.clone();
        if let (Some(range), true) = (self.range_of(&base), adaptors.is_empty()) {
            range.end.as_ref()?;
            return Some(parse_quote_spanned!(span=> ::std::iter::cycle(#range)));
        }
        let syn::Expr::MethodCall(begins) = &base else {
            return None;
        };
        let all = own("whole", span);
        let mut begun = parse_quote_spanned!(span=> #all.iter());
        if begins.method == "into_iter"
            && let Ty::Array(..) = self.type_ahead(&begins.receiver)
        {
            begun = parse_quote_spanned!(span=> #all.iter().copied());
        } else if !matches!(&*begins.method.to_string(), "iter" | "into_iter") {
            return None;
        }
        for adaptor in adaptors {
            let name = &adaptor.method;
            if !adaptor.args.is_empty() {
                return None;
            }
            begun = parse_quote_spanned!(span=> #begun.#name());
        }
        let (len, item) = self.by_number(&begun)?;
        let of = &begins.receiver;
        Some(parse_quote_spanned!(span=> ::std::iter::cycle(#of, #len, #item)))
    }

    /// The loop that draws items from there.
    pub(super) fn drawing_from(
        &mut self,
        call: &syn::ExprCall,
        span: Span,
        place: super::adaptors::Place<'_>,
    ) -> super::loops::Loop {
        let Source { before, closure } = source(call, span);
        super::loops::Loop::drawing_by(&before, &closure, span, place)
    }

    /// The same with names for what it draws from.
    pub(super) fn hold_source(
        &mut self,
        call: &syn::ExprCall,
        stmts: &mut Vec<Stmt>,
    ) -> Option<syn::Expr> {
        let span = call.span();
        let Source { before, closure } = source(call, span);
        let block: syn::Block = parse_quote_spanned!(span=> { #before });
        for stmt in &block.stmts {
            if let syn::Stmt::Local(local) = stmt {
                self.local(local, stmts);
            }
        }
        let name = self.held_name(span);
        let pat = parse_quote_spanned!(span=> #name);
        self.let_closure(&pat, &closure, stmts)
            .then(|| parse_quote_spanned!(span=> ::std::iter::from_fn(#name)))
    }
}

/// Whether an expression draws from a closure that is there once: a copy of it would draw from the same.
pub(super) fn is_drawn_once(chain: &syn::Expr) -> bool {
    Names::of(chain).contains("from_fn")
}

/// The closure that the items come from.
fn source(call: &syn::ExprCall, span: Span) -> Source {
    let name = match strip(&call.func) {
        syn::Expr::Path(p) => p.path.segments.last().map(|s| s.ident.to_string()),
        _ => None,
    };
    let (some, none, args) = (own("Some", span), own("None", span), &call.args);
    let (before, closure) = match (name.as_deref(), args.first(), args.get(1)) {
        (Some("successors"), Some(first), Some(f)) => {
            let [at, next, one] = ["successor", "successors", "one"].map(|name| own(name, span));
            (
                quote_spanned!(span=> let mut #at = #first; let #next = #f;),
                parse_quote_spanned!(span=> move || { let #one = #at?; #at = #next(&#one); #some(#one) }),
            )
        }
        (Some("repeat_with"), Some(f), _) => {
            let one = own("one", span);
            (
                quote_spanned!(span=> let #one = #f;),
                parse_quote_spanned!(span=> || #some(#one())),
            )
        }
        (Some(by), Some(of), Some(f)) if parts::takes(by).is_some() => {
            parts::source(by, of, f, span)
        }
        (Some("once_with"), Some(f), _) => {
            let [one, left] = ["one", "left"].map(|name| own(name, span));
            (
                quote_spanned!(span=> let #one = #f; let mut #left = true;),
                parse_quote_spanned!(span=> || {
                    if !#left { return #none; }
                    #left = false;
                    #some(#one())
                }),
            )
        }
        // What an `Option` holds.
        (Some("taken"), Some(of), _) => {
            let [left, take] = ["left", "take"].map(|name| own(name, span));
            (
                quote_spanned!(span=> let mut #left = #of;),
                parse_quote_spanned!(span=> || #left.#take()),
            )
        }
        (Some("empty"), ..) => {
            let written = match strip(&call.func) {
                syn::Expr::Path(p) => p.path.segments.last().map(|s| s.arguments.clone()),
                _ => None,
            };
            (
                TokenStream::new(),
                parse_quote_spanned!(span=> || ::std::option::Option::None #written),
            )
        }
        (Some("repeat_n"), Some(x), Some(count)) => {
            let [one, left] = ["one", "left"].map(|name| own(name, span));
            (
                quote_spanned!(span=> let #one = #x; let mut #left: usize = #count;),
                parse_quote_spanned!(span=> || {
                    if #left == 0 { return #none; }
                    #left -= 1;
                    #some(#one)
                }),
            )
        }
        (Some("numbers"), Some(low), Some(high)) => {
            let [next, last, left, one] =
                ["next", "last", "left", "one"].map(|name| own(name, span));
            let first = match call.args.get(2) {
                Some(closed) if closed.to_token_stream().to_string() == "true" => {
                    quote_spanned!(span=> let mut #left = #next <= #last;)
                }
                _ => quote_spanned!(span=> let mut #left = #next < #last; #last -= 1;),
            };
            (
                quote_spanned!(span=> let mut #next = #low; let mut #last = #high; #first),
                parse_quote_spanned!(span=> || {
                    if !#left { return #none; }
                    let #one = #next;
                    if #one == #last { #left = false; } else { #next += 1; }
                    #some(#one)
                }),
            )
        }
        (Some("cycle"), Some(syn::Expr::Range(range)), _) => {
            let [first, last, next, one] =
                ["first", "last", "next", "one"].map(|name| own(name, span));
            let (low, high) = (&range.start, &range.end);
            let closure = match range.limits {
                syn::RangeLimits::HalfOpen(_) => parse_quote_spanned!(span=> || {
                    if #first >= #last { return #none; }
                    let #one = #next;
                    #next += 1;
                    if #next == #last { #next = #first; }
                    #some(#one)
                }),
                syn::RangeLimits::Closed(_) => parse_quote_spanned!(span=> || {
                    if #first > #last { return #none; }
                    let #one = #next;
                    if #one == #last { #next = #first; } else { #next += 1; }
                    #some(#one)
                }),
            };
            (
                quote_spanned!(span=> let (#first, #last) = (#low, #high); let mut #next = #first;),
                closure,
            )
        }
        (Some("cycle"), Some(of), Some(len)) => {
            let [all, next] = ["whole", "next"].map(|name| own(name, span));
            let (number, item) = (own(NUMBER, span), call.args.get(2));
            (
                quote_spanned!(span=> let #all = &(#of)[..]; let mut #next: usize = 0;),
                parse_quote_spanned!(span=> || {
                    if #len == 0 { return #none; }
                    let #number = #next;
                    #next = if #number + 1 == #len { 0 } else { #number + 1 };
                    #some(#item)
                }),
            )
        }
        (Some("count_from"), Some(first), _) => {
            let [at, one] = ["counted", "one"].map(|name| own(name, span));
            (
                quote_spanned!(span=> let mut #at = #first;),
                parse_quote_spanned!(span=> || { let #one = #at; #at += 1; #some(#one) }),
            )
        }
        (Some("repeat"), Some(x), _) => {
            let one = own("one", span);
            (
                quote_spanned!(span=> let #one = #x;),
                parse_quote_spanned!(span=> || #some(#one)),
            )
        }
        (_, Some(f), _) => (TokenStream::new(), f.clone()),
        (_, None, _) => (TokenStream::new(), syn::Expr::Call(call.clone())),
    };
    Source { before, closure }
}

/// The names of variables that a closure and those in it bind.
pub(in super::super) fn bound_in(closure: &syn::ExprClosure) -> BTreeSet<String> {
    struct Bound(BTreeSet<String>);
    impl Visit<'_> for Bound {
        fn visit_pat_ident(&mut self, p: &syn::PatIdent) {
            let name = p.ident.to_string();
            if name.starts_with(|c: char| c.is_lowercase() || c == '_') {
                self.0.insert(name);
            }
            visit::visit_pat_ident(self, p);
        }
    }
    let mut bound = Bound(BTreeSet::new());
    bound.visit_expr_closure(closure);
    bound.0
}

/// The chain with another beginning.
pub(super) fn begun(chain: &syn::Expr, base: &syn::Expr, with: &syn::Expr) -> syn::Expr {
    let chain = strip(chain);
    match chain {
        syn::Expr::MethodCall(m) if chain != base => {
            let mut m = m.clone();
            *m.receiver = begun(&m.receiver, base, with);
            syn::Expr::MethodCall(m)
        }
        _ => with.clone(),
    }
}

/// Puts what a call has done among statements.
fn flatten(value: Expr, stmts: &mut Vec<Stmt>) {
    match *value.kind {
        ExprKind::Block(more, tail) => {
            stmts.extend(more);
            if let Some(tail) = tail {
                flatten(tail, stmts);
            }
        }
        _ => stmts.push(Stmt::Expr(value)),
    }
}

/// Tokens with other names: of values, not of fields and methods.
fn renamed(tokens: TokenStream, names: &BTreeMap<String, Ident>) -> TokenStream {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is = |at: Option<usize>, c: char| match at.and_then(|at| tokens.get(at)) {
        Some(TokenTree::Punct(p)) => p.as_char() == c,
        _ => false,
    };
    let one = |(i, token): (usize, &TokenTree)| match token {
        TokenTree::Ident(name) => {
            let is_part = is(i.checked_sub(1), '.') && !is(i.checked_sub(2), '.');
            let is_joint = matches!(tokens.get(i + 1), Some(TokenTree::Punct(p)) if p.spacing() == Spacing::Joint);
            let is_field = is(Some(i + 1), ':') && !is_joint;
            match names.get(&name.to_string()) {
                Some(other) if !is_part && !is_field => {
                    TokenTree::Ident(Ident::new(&other.to_string(), name.span()))
                }
                _ => token.clone(),
            }
        }
        TokenTree::Group(g) => {
            let mut group = proc_macro2::Group::new(g.delimiter(), renamed(g.stream(), names));
            group.set_span(g.span());
            TokenTree::Group(group)
        }
        other => other.clone(),
    };
    tokens.iter().enumerate().map(one).collect()
}
