//! What a `for` runs over.

use super::{Checker, chains::own, lets::is_taken_apart, places::strip};
use crate::{
    hir::{Builtin, By, Expr, ExprKind, For, Part, Pat, Step},
    ty::{Class, Ty, USIZE},
};
use millstream_graph::ir::Team;
use proc_macro2::Span;
use quote::quote_spanned;
use syn::{parse_quote_spanned, spanned::Spanned};

/// Methods of matrices that a `for` runs over.
pub(super) const ROWS: &[&str] = &["row_iter", "row_iter_mut"];

/// Methods of slices whose items are slices.
pub(super) const PARTS: &[&str] = &[
    "chunks",
    "chunks_mut",
    "chunks_exact",
    "chunks_exact_mut",
    "windows",
];

impl Checker<'_> {
    pub(super) fn for_loop(&mut self, f: &syn::ExprForLoop) -> Expr {
        if let Some(of) = self.made_iterator(&f.expr) {
            let mut f = f.clone();
            *f.expr = of;
            return self.for_loop(&f);
        }
        if let Some(held) = self.with_held(&f.expr) {
            let mut f = f.clone();
            *f.expr = held;
            return self.for_loop(&f);
        }
        if let Some((named, over)) = self.with_ranges_named(&f.expr) {
            let mut f = f.clone();
            *f.expr = over;
            return self.behind_names(&named, |c| c.for_loop(&f));
        }
        if is_taken_apart(&f.pat) {
            let f = self.taken_apart_within(f);
            return self.for_loop(&f);
        }
        if let Some(chained) = self.chained_for(f) {
            return chained;
        }
        let (mut pat, mut lets) = ((*f.pat).clone(), Vec::new());
        if self.name_pairs(&mut pat, &f.expr, &mut lets) {
            let mut f = f.clone();
            *f.pat = pat;
            f.body.stmts.splice(0..0, lets);
            return self.for_loop(&f);
        }
        let span = f.span();
        self.scopes.push(std::collections::BTreeMap::new());
        let over = self.iterated(&f.expr, &f.pat);
        if over.is_none() {
            self.bind_broken(&f.pat);
        }
        let id = self.enter(f.label.as_ref(), None, false);
        if let Some(team) = self.parallel_team(&f.attrs) {
            if self.depth > 0 || self.m.at.is_copied() {
                self.error(span, "a parallel loop in a function of which there are several")
                    .help("it stands in a function without parameters of types, numbers or closures, which may call such ones in its rounds");
            }
            self.loops.iter_mut().for_each(|l| l.parallel |= l.id == id);
            self.parallel.insert(id, team);
        }
        let body = self.block(&f.body, Some(&Ty::unit()));
        let body = self.coerce(body, &Ty::unit());
        self.loops.pop();
        self.scopes.pop();
        match over {
            Some(over) => Expr::new(ExprKind::For(id, over, body), Ty::unit(), span),
            None => Self::broken(span),
        }
    }

    /// The same loop with names for its items, or for their parts, which its body takes apart.
    fn taken_apart_within(&mut self, f: &syn::ExprForLoop) -> syn::ExprForLoop {
        let mut f = f.clone();
        let mut lets = Vec::new();
        self.hold_what_is_taken_apart(&mut f.pat, &mut lets);
        f.body.stmts.splice(0..0, lets);
        f
    }

    fn hold_what_is_taken_apart(&mut self, pat: &mut syn::Pat, lets: &mut Vec<syn::Stmt>) {
        match pat {
            _ if !is_taken_apart(pat) => {}
            syn::Pat::Tuple(tuple) => {
                for part in &mut tuple.elems {
                    self.hold_what_is_taken_apart(part, lets);
                }
            }
            _ => {
                let name = self.held_name(pat.span());
                let pat = std::mem::replace(pat, parse_quote_spanned!(name.span()=> #name));
                lets.push(parse_quote_spanned!(pat.span()=> let #pat = #name;));
            }
        }
    }

    /// Names for the parts of pairs that have one name, or none, where a `zip` or `enumerate` gives them; the body makes pairs of them. Says whether there
    /// were any.
    fn name_pairs(
        &mut self,
        pat: &mut syn::Pat,
        over: &syn::Expr,
        lets: &mut Vec<syn::Stmt>,
    ) -> bool {
        let syn::Expr::MethodCall(m) = strip(over) else {
            return false;
        };
        let (first, second) = match (m.method.to_string().as_str(), m.args.first()) {
            ("rev", None) => return self.name_pairs(pat, &m.receiver, lets),
            ("enumerate", None) if self.range_of(&m.receiver).is_none() => (None, &*m.receiver),
            ("zip", Some(other)) if m.args.len() == 1 => (Some(&*m.receiver), other),
            _ => return false,
        };
        let span = pat.span();
        let (mut named, mut any) = (None, true);
        match pat {
            syn::Pat::Paren(inner) => return self.name_pairs(&mut inner.pat, over, lets),
            syn::Pat::Tuple(pair) if pair.elems.len() == 2 => any = false,
            syn::Pat::Wild(_) => *pat = parse_quote_spanned!(span=> (_, _)),
            syn::Pat::Ident(_) => {
                let (one, other) = (self.held_name(span), self.held_name(span));
                let pair = std::mem::replace(pat, parse_quote_spanned!(span=> (#one, #other)));
                named = Some(parse_quote_spanned!(span=> let #pair = (#one, #other);));
            }
            _ => return false,
        }
        let syn::Pat::Tuple(pair) = pat else {
            return false;
        };
        if let Some(first) = first {
            any |= self.name_pairs(&mut pair.elems[0], first, lets);
        }
        any |= self.name_pairs(&mut pair.elems[1], second, lets);
        lets.extend(named);
        any
    }

    /// Of a loop under `#[parallel]`: who is to share it out on a GPU, if that is written.
    fn parallel_team(&mut self, attrs: &[syn::Attribute]) -> Option<Option<Team>> {
        let mut all = attrs.iter().filter(|a| is_parallel_attribute(a));
        let attr = all.next()?;
        if let Some(second) = all.next() {
            self.error(second.span(), "a loop is parallel once")
                .help("leave one of the two out");
        }
        let team = match &attr.meta {
            syn::Meta::Path(_) => return Some(None),
            syn::Meta::List(list) => list.parse_args_with(team).ok(),
            syn::Meta::NameValue(_) => None,
        };
        if let Some(Err(number)) = team {
            self.error(number, "no team has so many threads")
                .help(format!("there are at most {} to ask for, and a device takes what it has: `#[parallel(device)]`", u32::MAX));
            return Some(None);
        }
        let team = team.and_then(Result::ok);
        if team.is_none() {
            self.error(attr.span(), "this is no team that shares out a loop's rounds")
                .help("write `#[parallel]`, where it is chosen at run time, or one of `#[parallel(lane)]`, `(warp)`, `(block)`, `(device)` and `#[parallel(threads = 64)]`");
        }
        Some(team)
    }

    /// What a `for` runs over: a range or a slice, with the adaptors that the language has.
    fn iterated(&mut self, e: &syn::Expr, pat: &syn::Pat) -> Option<For> {
        let (mut revs, mut step, mut enumerate, mut from_end, mut base) =
            (Vec::new(), None, false, false, strip(e));
        // Adaptors from the outermost inwards.
        while let syn::Expr::MethodCall(m) = base {
            match m.method.to_string().as_str() {
                "rev" if m.args.is_empty() => {
                    revs.push(step.is_none());
                    from_end ^= enumerate;
                }
                "step_by" if m.args.len() == 1 && step.is_none() => step = Some(m.args[0].clone()),
                "enumerate" if m.args.is_empty() && !enumerate => enumerate = true,
                _ => break,
            }
            base = strip(&m.receiver);
        }
        if let Some(range) = &self.range_of(base) {
            if enumerate {
                self.error(e.span(), "`enumerate` of a range")
                    .help("count with the range itself");
                return None;
            }
            return self.iterated_range(range, pat, &revs, step);
        }
        if let Some(step) = step {
            self.error(step.span(), "`step_by` of a slice")
                .help("step through its indices: `for i in (0..a.len()).step_by(n)`");
            return None;
        }
        self.iterated_slices(base, pat, enumerate, revs.len() % 2 == 1, from_end)
    }

    /// `revs`: for each `.rev()` from the outermost, whether it stands behind the `.step_by`.
    fn iterated_range(
        &mut self,
        r: &syn::ExprRange,
        pat: &syn::Pat,
        revs: &[bool],
        step: Option<syn::Expr>,
    ) -> Option<For> {
        let (Some(lo), Some(hi)) = (&r.start, &r.end) else {
            self.error(r.span(), "a `for` needs both ends of its range")
                .help("write `lo..hi`, or use `loop`");
            return None;
        };
        let ty = self.table.fresh(Class::Int);
        let lo = self.expr_as(lo, &ty);
        let hi = self.expr_as(hi, &ty);
        let step = step.map(|s| self.expr_as(&s, &USIZE));
        let odd = |which: bool| revs.iter().filter(|r| **r == which).count() % 2 == 1;
        let (rev, step) = match step {
            None => (revs.len() % 2 == 1, None),
            Some(by) => (
                odd(false),
                Some(Step {
                    by,
                    then_rev: odd(true),
                }),
            ),
        };
        let var = self.pattern(pat, &ty);
        let inclusive = matches!(r.limits, syn::RangeLimits::Closed(_));
        Some(For::Range {
            var,
            lo,
            hi,
            inclusive,
            rev,
            step,
        })
    }

    fn iterated_slices(
        &mut self,
        base: &syn::Expr,
        pat: &syn::Pat,
        enumerate: bool,
        rev: bool,
        from_end: bool,
    ) -> Option<For> {
        let (items, mut index) = match strip_pat(pat) {
            syn::Pat::Tuple(t) if enumerate && t.elems.len() == 2 => {
                (&t.elems[1], Some(&t.elems[0]))
            }
            other if enumerate => {
                self.error(other.span(), "`enumerate` gives an index and an element")
                    .help("write `for (i, x) in ..`");
                return None;
            }
            other => (other, None),
        };
        let mut sources = Vec::new();
        self.sources(base, items, &mut sources, &mut index)?;
        if rev && sources.len() > 1 {
            self.error(base.span(), "`rev` of a `zip`")
                .help("run over the indices: `for i in (0..n).rev()`");
            return None;
        }
        let index = match index {
            None | Some(syn::Pat::Wild(_)) => None,
            Some(syn::Pat::Ident(i)) => {
                let var = self.add_var(&i.ident.to_string(), USIZE);
                self.fix(var, i);
                self.bind(&i.ident.to_string(), super::Binding::Var(var));
                Some(var)
            }
            Some(other) => {
                self.error(other.span(), "expected a name for the index");
                None
            }
        };
        let parts = sources
            .into_iter()
            .map(|source| self.bind_items(source))
            .collect();
        Some(For::Slices {
            parts,
            index,
            rev,
            from_end,
        })
    }

    /// The slices that a `for` runs over, each with the pattern of its items. What is counted beside one of them is the number of the round.
    fn sources<'e>(
        &mut self,
        base: &'e syn::Expr,
        pat: &'e syn::Pat,
        out: &mut Vec<Source<'e>>,
        index: &mut Option<&'e syn::Pat>,
    ) -> Option<()> {
        match strip(base) {
            syn::Expr::MethodCall(m) if m.method == "enumerate" && m.args.is_empty() => {
                let pair = match strip_pat(pat) {
                    syn::Pat::Tuple(pair) if pair.elems.len() == 2 => pair,
                    _ => {
                        self.error(pat.span(), "`enumerate` gives an index and an element")
                            .help("write `for ((i, x), y) in ..`");
                        return None;
                    }
                };
                if index.replace(&pair.elems[0]).is_some() {
                    self.error(m.method.span(), "rounds are counted twice")
                        .help("one `enumerate` is enough: all sides have the same index");
                    return None;
                }
                self.sources(&m.receiver, &pair.elems[1], out, index)
            }
            syn::Expr::MethodCall(m) if m.method == "zip" && m.args.len() == 1 => {
                let syn::Pat::Tuple(pair) = strip_pat(pat) else {
                    self.error(pat.span(), "`zip` gives pairs")
                        .help("write `for (x, y) in ..`");
                    return None;
                };
                if pair.elems.len() != 2 {
                    self.error(pat.span(), "`zip` gives pairs").help(
                        "write `for (x, y) in ..`, or `((x, y), z)` if there are two of them",
                    );
                    return None;
                }
                self.sources(&m.receiver, &pair.elems[0], out, index)?;
                self.sources(&m.args[0], &pair.elems[1], out, index)
            }
            syn::Expr::Range(r) => {
                self.error(r.span(), "a range beside a slice")
                    .help("count with `.enumerate()`, or run over the indices");
                None
            }
            base => {
                out.push(self.source(base, pat)?);
                Some(())
            }
        }
    }

    fn source<'e>(&mut self, base: &syn::Expr, pat: &'e syn::Pat) -> Option<Source<'e>> {
        let Sided {
            base,
            copied,
            rev,
            cuts,
        } = Sided::of(base);
        if !cuts.is_empty() {
            let Some(cut) = cut(base, &cuts) else {
                let (name, span) = (cuts[0].call.method.to_string(), cuts[0].call.method.span());
                self.error(
                    span,
                    format!("`{name}` of an iterator is not part of the task language"),
                )
                .help(instead_of_adaptor(&name).unwrap_or("write a loop"));
                return None;
            };
            let source = self.source(&cut, pat)?;
            let by_value = copied || source.by_value;
            return Some(Source {
                by_value,
                rev,
                ..source
            });
        }
        let name = if let syn::Expr::MethodCall(m) = base {
            m.method.to_string()
        } else {
            String::new()
        };
        if let syn::Expr::MethodCall(m) = base
            && m.args.is_empty()
            && ROWS.contains(&&*name)
        {
            if copied {
                return self.only_elements_are_copied(base);
            }
            return self.rows(m, pat).map(|rows| Source { rev, ..rows });
        }
        if let syn::Expr::MethodCall(m) = base
            && let syn::Expr::MethodCall(_) | syn::Expr::Range(_) = strip(&m.receiver)
            && let Some(help) = instead_of_adaptor(&name)
        {
            let message = match &*name {
                "rev" | "step_by" => format!("`{name}` of one side of a `zip`"),
                _ => format!("`{name}` of an iterator is not part of the task language"),
            };
            self.error(m.method.span(), message).help(help);
            return None;
        }
        let (receiver, size) = match base {
            syn::Expr::MethodCall(m)
                if m.args.is_empty() && matches!(&*name, "iter" | "iter_mut" | "into_iter") =>
            {
                (&*m.receiver, None)
            }
            syn::Expr::MethodCall(m) if m.args.len() == 1 && PARTS.contains(&&*name) => {
                (&*m.receiver, Some(&m.args[0]))
            }
            other => (other, None),
        };
        let mode =
            (!std::ptr::eq(receiver, base) && name != "into_iter").then(|| name.ends_with("_mut"));
        if copied && name != "iter" {
            return self.only_elements_are_copied(base);
        }
        let e = match mode {
            Some(mutable) => self.receiver(receiver, mutable),
            None => self.expr(receiver, None),
        };
        // By value only an array that stands there itself: `for x in [1, 2, 3]`.
        let keep = mode.is_none() && matches!(self.shallow(&e.ty), Ty::Array(..));
        let mutable = mode.unwrap_or_else(|| match self.shallow(&e.ty) {
            Ty::Slice { mutable, .. } | Ty::Ref { mutable, .. } => mutable,
            _ => false,
        });
        let (shown, of) = (self.show(&e.ty), self.shallow(&e.ty));
        let Some((slice, elem)) = self.as_slice(e, mutable) else {
            if shown != "?" {
                let help = match shown.as_str() {
                    "a number" | "usize" | "u64" | "u32" | "i64" | "i32" => "write a range: `0..n`",
                    _ if matches!(of, Ty::Mat { .. }) => {
                        "run over its rows: `for row in m.row_iter()`"
                    }
                    _ if shown.starts_with(crate::library::RANGE) => {
                        "give the range a name before: `let r = ..;`, then `for i in r`"
                    }
                    _ => "it runs over ranges, slices and arrays",
                };
                self.error(base.span(), format!("a `for` cannot run over `{shown}`"))
                    .help(help);
            }
            return None;
        };
        let by = match size {
            None => By::Element,
            Some(size) => {
                let size = self.expr_as(size, &USIZE);
                match &*name {
                    "windows" => By::Windows(size),
                    "chunks" | "chunks_mut" => By::Chunks(size),
                    _ => By::ExactChunks(size),
                }
            }
        };
        Some(Source {
            slice,
            elem,
            mutable,
            by,
            by_value: copied || keep,
            keep,
            rev,
            pat,
        })
    }

    fn only_elements_are_copied<T>(&mut self, base: &syn::Expr) -> Option<T> {
        self.error(base.span(), "only the elements of `.iter()` can be copied")
            .help("leave it out");
        None
    }

    /// The rows of a matrix.
    fn rows<'e>(&mut self, m: &syn::ExprMethodCall, pat: &'e syn::Pat) -> Option<Source<'e>> {
        let of = self.expr(&m.receiver, None);
        let of = self.behind_refs(of);
        let name = m.method.to_string();
        let Ty::Mat { elem, .. } = self.shallow(&of.ty) else {
            let shown = self.show(&of.ty);
            if shown != "?" {
                self.error(
                    m.method.span(),
                    format!("`{name}` of `{shown}`, which is no matrix"),
                )
                .help("make one of a slice, `Mat::new(data, rows, columns)`, or run over its parts: `for row in data.chunks(columns)`");
            }
            return None;
        };
        let mutable = name.ends_with("_mut");
        if !self.lends_matrix(&of, mutable, &name, m.method.span()) {
            return None;
        }
        let ty = Ty::Mat {
            mutable,
            elem: elem.clone(),
        };
        let same = ExprKind::Method(Builtin::MatSame, vec![of]);
        Some(Source {
            slice: Expr::new(same, ty, m.span()),
            elem: *elem,
            mutable,
            by: By::Rows,
            by_value: false,
            keep: false,
            rev: false,
            pat,
        })
    }

    /// Binds the names of a slice's items.
    fn bind_items(&mut self, source: Source<'_>) -> Part {
        let Source {
            slice,
            elem,
            mutable,
            by,
            by_value,
            keep,
            rev,
            pat,
        } = source;
        let item = match &by {
            By::Element if by_value => Pat::Deref(Box::new(self.pattern(pat, &elem))),
            By::Element => self.pattern(
                pat,
                &Ty::Ref {
                    mutable,
                    target: Box::new(elem),
                },
            ),
            _ => self.pattern(
                pat,
                &Ty::Slice {
                    mutable,
                    elem: Box::new(elem),
                },
            ),
        };
        Part {
            slice,
            by,
            item,
            rev,
            keep,
        }
    }
}

/// A slice that a `for` runs over, before the names of its items are bound.
struct Source<'e> {
    slice: Expr,
    elem: Ty,
    mutable: bool,
    by: By,
    by_value: bool,
    keep: bool,
    rev: bool,
    pat: &'e syn::Pat,
}

/// One side of a `zip`, and the adaptors that stand there.
struct Sided<'e> {
    base: &'e syn::Expr,
    copied: bool,
    rev: bool,
    /// From the innermost outwards.
    cuts: Vec<Cut<'e>>,
}

/// `skip(n)` or `take(n)`.
struct Cut<'e> {
    call: &'e syn::ExprMethodCall,
    /// Whether a `rev` stands before it.
    from_end: bool,
}

impl<'e> Sided<'e> {
    fn of(e: &'e syn::Expr) -> Self {
        let plain = Self {
            base: e,
            copied: false,
            rev: false,
            cuts: Vec::new(),
        };
        let syn::Expr::MethodCall(m) = e else {
            return plain;
        };
        let name = m.method.to_string();
        let known = matches!(
            (&*name, m.args.len()),
            ("copied" | "cloned" | "rev", 0) | ("skip" | "take", 1)
        );
        let inner = strip(&m.receiver);
        if !known || !matches!(inner, syn::Expr::MethodCall(_)) {
            return plain;
        }
        let mut of = Self::of(inner);
        match &*name {
            "rev" => of.rev = !of.rev,
            "skip" | "take" => of.cuts.push(Cut {
                call: m,
                from_end: of.rev,
            }),
            _ => of.copied = true,
        }
        of
    }
}

/// The items of a part of a slice, in place of those of the whole that `skip` and `take` leave; none if it is no slice's elements.
fn cut(base: &syn::Expr, cuts: &[Cut<'_>]) -> Option<syn::Expr> {
    let syn::Expr::MethodCall(m) = base else {
        return None;
    };
    let (of, method, span) = (&m.receiver, &m.method, m.span());
    let by = match method.to_string().as_str() {
        "iter" => quote_spanned!(span=> &),
        "iter_mut" => quote_spanned!(span=> &mut),
        _ => return None,
    };
    let (all, count) = (own("all", span), own("count", span));
    let cuts = cuts.iter().map(|cut| {
        let number = &cut.call.args[0];
        let part = part_left(cut.call, cut.from_end, &all, &count);
        quote_spanned!(span=> let #count: usize = #number; let #count = #count.min(#all.len()); let #all = #by #all[#part];)
    });
    Some(parse_quote_spanned!(span=> { let #all = #by (#of)[..]; #(#cuts)* #all }.#method()))
}

/// Which part of a slice so many elements leave that `skip` or `take` names, from its end or its beginning.
pub(super) fn part_left(
    cut: &syn::ExprMethodCall,
    from_end: bool,
    all: &syn::Ident,
    count: &syn::Ident,
) -> proc_macro2::TokenStream {
    let span = cut.span();
    match (cut.method == "skip", from_end) {
        (true, false) => quote_spanned!(span=> #count..),
        (true, true) => quote_spanned!(span=> ..#all.len() - #count),
        (false, false) => quote_spanned!(span=> ..#count),
        (false, true) => quote_spanned!(span=> #all.len() - #count..),
    }
}

/// Whether an attribute is `#[parallel]`, however its path is written.
pub(crate) fn is_parallel_attribute(attr: &syn::Attribute) -> bool {
    let last = attr.path().segments.last();
    last.is_some_and(|s| s.ident == "parallel")
}

/// What stands in `#[parallel(..)]`: a team by its name or by its threads, or a number of these that is too large.
fn team(input: syn::parse::ParseStream<'_>) -> syn::Result<Result<Team, Span>> {
    let name: syn::Ident = input.parse()?;
    let team = if name == "threads" {
        input.parse::<syn::Token![=]>()?;
        let number: syn::LitInt = input.parse()?;
        match number.base10_parse() {
            Ok(0) => return Err(syn::Error::new(number.span(), "no threads")),
            Ok(1) => Team::Lane,
            Ok(n) => Team::Threads(n),
            // Its digits are those of a number.
            Err(_) => {
                input.parse::<Option<syn::Token![,]>>()?;
                return Ok(Err(number.span()));
            }
        }
    } else {
        Team::named(&name.to_string()).ok_or_else(|| syn::Error::new(name.span(), "no team"))?
    };
    input.parse::<Option<syn::Token![,]>>()?;
    Ok(Ok(team))
}

/// What to write instead of an iterator's adaptor.
pub(super) fn instead_of_adaptor(name: &str) -> Option<&'static str> {
    Some(match name {
        "skip" => "run over what is left: `for x in &a[n..]`",
        "take" => "run over the first of them: `for x in &a[..n]`",
        "filter" | "skip_while" => "leave the others out in the loop: `if .. { continue; }`",
        "take_while" | "map_while" => "leave the loop where it ends: `if .. { break; }`",
        "map" | "filter_map" | "inspect" => "compute it in the loop's body",
        "flatten" | "flat_map" => "write a loop in the loop",
        "chain" => "write a loop for each",
        "cycle" => "run over the indices: `a[i % a.len()]`",
        "step_by" => "step through its indices: `for i in (0..a.len()).step_by(n)`",
        "rev" => "run over the indices: `for i in 0..n`, with `a[n - 1 - i]`",
        _ => return None,
    })
}

fn strip_pat(pat: &syn::Pat) -> &syn::Pat {
    match pat {
        syn::Pat::Paren(p) => strip_pat(&p.pat),
        _ => pat,
    }
}
