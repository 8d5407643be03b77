//! Branches, loops, and what leaves them.

use super::{
    Checker, LoopScope,
    patterns::{ArmSyntax, BodySyntax},
    places::strip,
};
use crate::{
    hir::{Builtin, By, Expr, ExprKind, For, Part, Pat, Step},
    ty::{BOOL, Class, Ty, USIZE},
};
use syn::spanned::Spanned;

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

/// The conditions of `a && let p = b && c`, if there is a `let` among them.
fn chained(cond: &syn::Expr) -> Option<Vec<&syn::Expr>> {
    fn gather<'e>(e: &'e syn::Expr, out: &mut Vec<&'e syn::Expr>) {
        match e {
            syn::Expr::Binary(b) if matches!(b.op, syn::BinOp::And(_)) => {
                gather(&b.left, out);
                gather(&b.right, out);
            }
            e => out.push(e),
        }
    }
    let mut out = Vec::new();
    gather(cond, &mut out);
    let has_let = out.iter().any(|e| matches!(e, syn::Expr::Let(_)));
    (out.len() > 1 && has_let).then_some(out)
}

/// The same `if` as one in the other, in a block that is left with its value.
fn if_chain(conditions: &[&syn::Expr], i: &syn::ExprIf) -> syn::Expr {
    let (span, then) = (i.span(), &i.then_branch);
    let own = super::chains::own("chain", span).to_string();
    let label = syn::Lifetime::new(&format!("'{own}"), span);
    let inner = match &i.else_branch {
        Some(_) => quote::quote_spanned!(span=> { break #label #then; }),
        None => quote::quote_spanned!(span=> #then),
    };
    let nested = conditions.iter().rev().fold(
        inner,
        |inner, cond| quote::quote_spanned!(span=> { if #cond #inner }),
    );
    match &i.else_branch {
        Some((_, other)) => syn::parse_quote_spanned!(span=> #label: { #nested #other }),
        None => syn::parse_quote_spanned!(span=> #nested),
    }
}

impl Checker<'_> {
    pub(super) fn if_else(&mut self, i: &syn::ExprIf, want: Option<&Ty>) -> Expr {
        let span = i.span();
        if let Some(conditions) = chained(&i.cond) {
            let chain = if_chain(&conditions, i);
            return self.expr(&chain, want);
        }
        if let syn::Expr::Let(l) = &*i.cond {
            let (rest, nothing) = (
                syn::parse_quote_spanned!(span=> _),
                syn::parse_quote_spanned!(span=> {}),
            );
            let other = i
                .else_branch
                .as_ref()
                .map_or(BodySyntax::Block(&nothing), |(_, other)| {
                    BodySyntax::Expr(other)
                });
            let arms = [
                ArmSyntax::new(&l.pat, BodySyntax::Block(&i.then_branch)),
                ArmSyntax::new(&rest, other),
            ];
            return self.matching_of(&l.expr, &arms, want, span);
        }
        let cond = self.expr_as(&i.cond, &BOOL);
        let Some((_, other)) = &i.else_branch else {
            let then = self.block(&i.then_branch, Some(&Ty::unit()));
            let then = self.coerce(then, &Ty::unit());
            return Expr::new(ExprKind::If(cond, then, None), Ty::unit(), span);
        };
        let then = self.block(&i.then_branch, want);
        let hint = if matches!(self.shallow(&then.ty), Ty::Never) {
            want.cloned()
        } else {
            Some(then.ty.clone())
        };
        let other = self.expr(other, hint.as_ref());
        let (then, other, ty) = self.join(then, other, want);
        Expr::new(ExprKind::If(cond, then, Some(other)), ty, span)
    }

    /// One type for two ways to a value.
    pub(super) fn join(&mut self, a: Expr, b: Expr, want: Option<&Ty>) -> (Expr, Expr, Ty) {
        if matches!(self.shallow(&a.ty), Ty::Never) {
            let ty = b.ty.clone();
            return (a, b, ty);
        }
        if matches!(self.shallow(&b.ty), Ty::Never) {
            let ty = a.ty.clone();
            return (a, b, ty);
        }
        let ty = match want.map(|w| self.shallow(w)) {
            Some(w @ (Ty::Slice { .. } | Ty::Ref { .. })) => w,
            _ => a.ty.clone(),
        };
        let (a, b) = (self.coerce(a, &ty), self.coerce(b, &ty));
        (a, b, ty)
    }

    fn enter(
        &mut self,
        label: Option<&syn::Label>,
        value: Option<Ty>,
        is_block: bool,
    ) -> crate::hir::LoopId {
        let id = self.fresh_loop();
        let label = label.map(|l| l.name.ident.to_string());
        self.loops.push(LoopScope {
            label,
            id,
            value,
            broken: false,
            is_block,
            parallel: false,
        });
        id
    }

    pub(super) fn labelled_block(&mut self, b: &syn::ExprBlock, want: Option<&Ty>) -> Expr {
        let Some(label) = &b.label else {
            return self.block(&b.block, want);
        };
        let ty = self.fresh_any();
        let id = self.enter(Some(label), Some(ty.clone()), true);
        let body = self.block(&b.block, want);
        self.loops.pop();
        if matches!(self.shallow(&body.ty), Ty::Never) {
            return Expr::new(ExprKind::Labelled(id, body), ty, b.span());
        }
        let body = self.coerce(body, &ty);
        Expr::new(ExprKind::Labelled(id, body), ty, b.span())
    }

    pub(super) fn loop_forever(&mut self, l: &syn::ExprLoop) -> Expr {
        self.only_for(&l.attrs);
        let ty = self.fresh_any();
        let id = self.enter(l.label.as_ref(), Some(ty.clone()), false);
        let body = self.block(&l.body, Some(&Ty::unit()));
        let body = self.coerce(body, &Ty::unit());
        let broken = self.loops.pop().is_some_and(|l| l.broken);
        let ty = if broken { ty } else { Ty::Never };
        Expr::new(ExprKind::Loop(id, body), ty, l.span())
    }

    pub(super) fn while_loop(&mut self, w: &syn::ExprWhile) -> Expr {
        self.only_for(&w.attrs);
        let id = self.enter(w.label.as_ref(), None, false);
        if let syn::Expr::Let(l) = &*w.cond {
            let (rest, end) = (
                syn::parse_quote_spanned!(w.span()=> _),
                syn::parse_quote_spanned!(w.span()=> break),
            );
            let arms = [
                ArmSyntax::new(&l.pat, BodySyntax::Block(&w.body)),
                ArmSyntax::new(&rest, BodySyntax::Expr(&end)),
            ];
            let round = self.matching_of(&l.expr, &arms, Some(&Ty::unit()), w.span());
            let round = self.coerce(round, &Ty::unit());
            self.loops.pop();
            return Expr::new(ExprKind::Loop(id, round), Ty::unit(), w.span());
        }
        if let Some(conditions) = chained(&w.cond) {
            self.loops.pop();
            let (span, body, label) = (w.span(), &w.body, &w.label);
            let chain = syn::ExprIf {
                attrs: Vec::new(),
                if_token: syn::Token![if](span),
                cond: w.cond.clone(),
                then_branch: body.clone(),
                else_branch: Some((
                    syn::Token![else](span),
                    Box::new(syn::parse_quote_spanned!(span=> { break; })),
                )),
            };
            let chain = if_chain(&conditions, &chain);
            let whole = syn::parse_quote_spanned!(span=> #label loop { #chain });
            return self.expr(&whole, None);
        }
        let cond = self.expr_as(&w.cond, &BOOL);
        let body = self.block(&w.body, Some(&Ty::unit()));
        let body = self.coerce(body, &Ty::unit());
        self.loops.pop();
        Expr::new(ExprKind::While(id, cond, body), Ty::unit(), w.span())
    }

    pub(super) fn break_out(&mut self, b: &syn::ExprBreak) -> Expr {
        let span = b.span();
        let name = b.label.as_ref().map(|l| l.ident.to_string());
        let at = match self.find_loop(name.as_deref(), false) {
            Some(at) if self.stays_inside(at, false) => at,
            Some(_) => return self.leaves_parallel(span, "break"),
            None => return self.no_loop(span, name, "break"),
        };
        self.loops[at].broken = true;
        let (id, value) = (self.loops[at].id, self.loops[at].value.clone());
        let value = match (&b.expr, value) {
            (Some(e), Some(ty)) => Some(self.expr_as(e, &ty)),
            (Some(e), None) => {
                self.error(
                    e.span(),
                    "only `loop` and labelled blocks take a value from `break`",
                )
                .help("set a variable before the `break`");
                None
            }
            (None, Some(ty)) => {
                if !self.table.unify(&ty, &Ty::unit()) {
                    let shown = self.show(&ty);
                    self.error(
                        span,
                        format!("this `break` has no value, others have `{shown}`"),
                    );
                }
                None
            }
            (None, None) => None,
        };
        Expr::new(ExprKind::Break(id, value), Ty::Never, span)
    }

    pub(super) fn continue_with(&mut self, c: &syn::ExprContinue) -> Expr {
        let name = c.label.as_ref().map(|l| l.ident.to_string());
        let at = match self.find_loop(name.as_deref(), true) {
            Some(at) if self.stays_inside(at, true) => at,
            Some(_) => return self.leaves_parallel(c.span(), "continue"),
            None => return self.no_loop(c.span(), name, "continue"),
        };
        Expr::new(ExprKind::Continue(self.loops[at].id), Ty::Never, c.span())
    }

    fn find_loop(&self, label: Option<&str>, to_continue: bool) -> Option<usize> {
        self.loops.iter().rposition(|l| match label {
            Some(name) => l.label.as_deref() == Some(name) && !(to_continue && l.is_block),
            None => !l.is_block,
        })
    }

    /// Whether a jump to a loop leaves no parallel one; it may go on to the next round of one.
    fn stays_inside(&self, at: usize, to_continue: bool) -> bool {
        let left = if to_continue { at + 1 } else { at };
        !self.loops[left..].iter().any(|l| l.parallel)
    }

    fn leaves_parallel(&mut self, span: proc_macro2::Span, what: &str) -> Expr {
        self.refuse(
            span,
            format!("`{what}` leaves a parallel loop, whose rounds run side by side"),
            "go through all rounds, `continue` where there is nothing to do, and gather what was found; or leave out `#[parallel]`",
        )
    }

    fn no_loop(&mut self, span: proc_macro2::Span, label: Option<String>, what: &str) -> Expr {
        match label {
            Some(name) => self.refuse(
                span,
                format!("there is no loop `'{name}` around this `{what}`"),
                "put the label in front of the loop",
            ),
            None => self.refuse(
                span,
                format!("`{what}` outside a loop"),
                "use `return` to leave the function",
            ),
        }
    }

    pub(super) fn return_value(&mut self, r: &syn::ExprReturn) -> Expr {
        if self.loops.iter().any(|l| l.parallel) {
            return self.leaves_parallel(r.span(), "return");
        }
        let ret = self.ret.clone();
        let value = match &r.expr {
            Some(e) => Some(self.expr_as(e, &ret)),
            None if ret.is_unit() => None,
            None => {
                let shown = self.show(&ret);
                self.error(
                    r.span(),
                    format!("this `return` has no value; the function returns `{shown}`"),
                );
                None
            }
        };
        let kind = match self.returns_to {
            None => ExprKind::Return(value),
            Some(id) => {
                self.loops.iter_mut().for_each(|l| l.broken |= l.id == id);
                ExprKind::Break(id, value)
            }
        };
        Expr::new(kind, Ty::Never, r.span())
    }

    pub(super) fn for_loop(&mut self, f: &syn::ExprForLoop) -> Expr {
        if let Some(chained) = self.chained_for(f) {
            return chained;
        }
        let span = f.span();
        self.scopes.push(std::collections::BTreeMap::new());
        let over = self.iterated(&f.expr, &f.pat);
        if over.is_none() {
            self.bind_broken(&f.pat);
        }
        let id = self.enter(f.label.as_ref(), None, false);
        if self.is_parallel(&f.attrs) {
            if self.depth > 0 || self.m.at.is_copied() {
                self.error(span, "a parallel loop in a function of which there are several")
                    .help("it stands in a function without parameters of types, numbers or closures, which may call such ones in its rounds");
            }
            self.loops.iter_mut().for_each(|l| l.parallel |= l.id == id);
            self.parallel.insert(id);
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

    fn is_parallel(&mut self, attrs: &[syn::Attribute]) -> bool {
        let Some(attr) = attrs.iter().find(|a| is_parallel_attribute(a)) else {
            return false;
        };
        if !matches!(attr.meta, syn::Meta::Path(_)) {
            self.error(attr.span(), "`#[parallel]` takes no arguments")
                .help("how many rounds one lane or thread takes is chosen at run time, by how many there are");
        }
        true
    }

    fn only_for(&mut self, attrs: &[syn::Attribute]) {
        if let Some(attr) = attrs.iter().find(|a| is_parallel_attribute(a)) {
            self.error(attr.span(), "only a `for` can be parallel")
                .help("its number of rounds is known before the first: write `for i in 0..n`");
        }
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

    fn source<'e>(&mut self, base: &'e syn::Expr, pat: &'e syn::Pat) -> Option<Source<'e>> {
        let (base, copied) = match base {
            syn::Expr::MethodCall(m)
                if m.args.is_empty() && (m.method == "copied" || m.method == "cloned") =>
            {
                (strip(&m.receiver), true)
            }
            other => (other, false),
        };
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
            return self.rows(m, pat);
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
        let shown = self.show(&e.ty);
        let Some((slice, elem)) = self.as_slice(e, mutable) else {
            if shown != "?" {
                let help = match shown.as_str() {
                    "a number" | "usize" | "u64" | "u32" | "i64" | "i32" => "write a range: `0..n`",
                    _ if shown.starts_with("Mat") => "run over its rows: `for row in m.row_iter()`",
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
    pat: &'e syn::Pat,
}

/// Whether an attribute is `#[parallel]`, however its path is written.
pub(crate) fn is_parallel_attribute(attr: &syn::Attribute) -> bool {
    let last = attr.path().segments.last();
    last.is_some_and(|s| s.ident == "parallel")
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
