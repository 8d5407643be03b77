//! Fields, indices, references, and the coercions between types of references.

use super::{Checker, expr::member_name};
use crate::{
    hir::{Expr, ExprKind},
    library::is_nowhere,
    ty::{Class, Ty, USIZE},
};
use syn::spanned::Spanned;

impl Checker<'_> {
    /// Checks an expression that is assigned to or borrowed.
    pub(super) fn place(&mut self, e: &syn::Expr) -> Expr {
        let place = self.expr(e, None);
        let place = self.as_written(place);
        if !place.is_place() && !matches!(*place.kind, ExprKind::Error) {
            return self.refuse(
                e.span(),
                "this cannot be assigned to",
                "assign to a variable, a field, an element or `*reference`",
            );
        }
        if matches!(*place.kind, ExprKind::Const(_)) {
            return self.refuse(
                e.span(),
                "a constant cannot be assigned to",
                "copy it to a variable first",
            );
        }
        self.writable(&place);
        place
    }

    /// Says so if a place lies behind a shared reference.
    pub(super) fn writable(&mut self, place: &Expr) {
        let base = match &*place.kind {
            ExprKind::Field(base, _) => return self.writable(base),
            ExprKind::Index(base, _) | ExprKind::MatIndex(base, ..) | ExprKind::Deref(base) => base,
            ExprKind::Var(var) => return self.is_mut(*var, place),
            _ => return,
        };
        match self.shallow(&base.ty) {
            Ty::Slice { mutable: false, .. }
            | Ty::Ref { mutable: false, .. }
            | Ty::Mat { mutable: false, .. } => {
                let shown = self.show(&base.ty);
                let help = if let Ty::Mat { .. } = self.shallow(&base.ty) {
                    "take it as `MatMut`".to_owned()
                } else {
                    shown.replacen('&', "take it as `&mut ", 1) + "`"
                };
                self.error(
                    place.span,
                    format!("this cannot be written: it lies behind `{shown}`"),
                )
                .help(help);
            }
            // Writing through a `MatMut` borrows the view itself.
            Ty::Array(..) | Ty::Mat { .. } => self.writable(base),
            // `&mut` in a struct that is shared is shared itself.
            Ty::Slice { .. } | Ty::Ref { .. } if matches!(*base.kind, ExprKind::Field(..)) => {
                self.unshared(base);
            }
            _ => {}
        }
    }

    /// Says so if a place from which something is written to lies behind what is shared. Variables need not be `mut` for that.
    fn unshared(&mut self, place: &Expr) {
        match &*place.kind {
            ExprKind::Var(_) => {}
            ExprKind::Field(base, _) => self.unshared(base),
            _ => self.writable(place),
        }
    }

    /// Says so if a variable keeps the value it was declared with.
    fn is_mut(&mut self, var: crate::hir::VarId, place: &Expr) {
        let (name, fixed) = (self.vars[var.0].name.clone(), self.vars[var.0].fixed);
        if let Some(declared) = fixed {
            self.error(
                place.span,
                format!("`{name}` cannot be changed: it is not declared `mut`"),
            )
            .note(declared, "it is declared here")
            .help(format!("write `mut {name}` there"));
            // Once is enough.
            self.vars[var.0].fixed = None;
        }
    }

    pub(super) fn field(&mut self, f: &syn::ExprField) -> Expr {
        let base = self.expr(&f.base, None);
        self.field_of(base, f)
    }

    fn field_of(&mut self, base: Expr, f: &syn::ExprField) -> Expr {
        let base = self.behind_refs(base);
        let member = member_name(&f.member);
        let span = f.span();
        match self.shallow(&base.ty) {
            Ty::Struct(id) if self.m.structs[id].is_enum() => self.refuse(
                f.member.span(),
                format!("the enum `{}` has no fields", self.m.structs[id].name),
                match self.m.structs[id].has_data() {
                    true => "take it apart by `match` or `if let`",
                    false => "its number is `.. as u32`; what it is a `match` says",
                },
            ),
            Ty::Struct(id) => {
                let def = &self.m.structs[id];
                if let Some(i) = def.fields.iter().position(|(n, _)| *n == member) {
                    let ty = self.field_type(&base.ty, id, i);
                    return Expr::new(ExprKind::Field(base, i), ty, span);
                }
                if let Some(behind) = self.dereferenced(&base) {
                    return self.field_of(behind, f);
                }
                let def = &self.m.structs[id];
                let (name, known): (String, Vec<String>) = (
                    def.name.clone(),
                    def.fields.iter().map(|(n, _)| format!("`{n}`")).collect(),
                );
                self.refuse(
                    f.member.span(),
                    format!("the struct `{name}` has no field `{member}`"),
                    format!("its fields are {}", known.join(", ")),
                )
            }
            Ty::Tuple(fields) => match member
                .parse::<usize>()
                .ok()
                .and_then(|i| fields.get(i).map(|t| (i, t.clone())))
            {
                Some((i, ty)) => Expr::new(ExprKind::Field(base, i), ty, span),
                None => {
                    let shown = self.show(&base.ty);
                    self.refuse(
                        f.member.span(),
                        format!("`{shown}` has no field `{member}`"),
                        "the fields of a tuple are `.0`, `.1`, ..",
                    )
                }
            },
            Ty::Error | Ty::Never => Self::broken(span),
            other => {
                if let Some(field) = self.field_of_hole(&other, &member, &f.base) {
                    return field;
                }
                let shown = self.show(&other);
                self.refuse(
                    f.member.span(),
                    format!("`{shown}` has no field `{member}`"),
                    "only structs and tuples have fields",
                )
            }
        }
    }

    pub(super) fn index(&mut self, i: &syn::ExprIndex) -> Expr {
        let span = i.span();
        if let syn::Expr::Path(p) = strip(&i.expr)
            && let Some(rows) = self.rows_named(&p.path)
        {
            return self.rows_of(&rows, Some(&i.index), span);
        }
        let base = self.indexed(&i.expr, None);
        self.index_of(base, i)
    }

    fn index_of(&mut self, base: Expr, i: &syn::ExprIndex) -> Expr {
        let span = i.span();
        let base = self.behind_refs(base);
        if self.index_range(&i.index).is_some() {
            return self.refuse(
                span,
                "a sub-slice needs a reference in front",
                "write `&a[lo..hi]` or `&mut a[lo..hi]`",
            );
        }
        match self.shallow(&base.ty) {
            Ty::Array(elem, _) | Ty::Slice { elem, .. } => {
                let index = self.expr(&i.index, Some(&USIZE));
                let index = self.behind_refs(index);
                if !self.table.unify(&index.ty, &USIZE) {
                    let shown = self.show(&index.ty);
                    let help = match shown.starts_with(crate::library::RANGE) {
                        true => "give the range a name before: `let r = ..;`, then `&a[r]`",
                        false => "an index is a `usize`: write `i as usize`",
                    };
                    return self.refuse(i.index.span(), format!("the index is `{shown}`"), help);
                }
                Expr::new(ExprKind::Index(base, index), *elem, span)
            }
            Ty::Mat { elem, .. } => {
                let syn::Expr::Tuple(t) = strip(&i.index) else {
                    return self.refuse(
                        i.index.span(),
                        "a matrix is indexed by row and column",
                        "write `m[(i, j)]`",
                    );
                };
                if t.elems.len() != 2 {
                    return self.refuse(
                        i.index.span(),
                        "a matrix is indexed by row and column",
                        "write `m[(i, j)]`",
                    );
                }
                let row = self.expr_as(&t.elems[0], &USIZE);
                let col = self.expr_as(&t.elems[1], &USIZE);
                Expr::new(ExprKind::MatIndex(base, row, col), *elem, span)
            }
            Ty::Error | Ty::Never => Self::broken(span),
            other => {
                if let Some(own) = self.index_of_own(&base, &i.index, span) {
                    return own;
                }
                if let Some(behind) = self.dereferenced(&base) {
                    return self.index_of(behind, i);
                }
                let shown = self.show(&other);
                self.refuse(
                    span,
                    format!("`{shown}` cannot be indexed"),
                    "arrays, slices and matrices can",
                )
            }
        }
    }

    pub(super) fn reference(&mut self, r: &syn::ExprReference, want: Option<&Ty>) -> Expr {
        let span = r.span();
        let mutable = r.mutability.is_some();
        if let syn::Expr::Index(i) = strip(&r.expr)
            && let Some(range) = &self.index_range(&i.index)
        {
            return self.sub_slice(i, range, mutable, span);
        }
        let hint = match want.map(|w| self.shallow(w)) {
            Some(Ty::Ref { target, .. }) => Some(*target),
            _ => None,
        };
        let e = self.expr(&r.expr, hint.as_ref());
        self.borrow(e, mutable, span)
    }

    /// `&e` or `&mut e`, of what is checked already.
    pub(super) fn borrow(&mut self, e: Expr, mutable: bool, span: proc_macro2::Span) -> Expr {
        if matches!(self.shallow(&e.ty), Ty::Slice { .. } | Ty::Mat { .. }) {
            // `&mut *slice`, `&slice`: the same view again.
            let e = match mutable {
                true => self.as_written(e),
                false => e,
            };
            return match self.shallow(&e.ty) {
                Ty::Error => e,
                _ => self.reborrow(e, mutable),
            };
        }
        if let ExprKind::Deref(inner) = &*e.kind
            && matches!(self.shallow(&inner.ty), Ty::Ref { mutable: m, .. } if m == mutable)
        {
            return inner.clone();
        }
        let e = match mutable {
            true => self.as_written(e),
            false => e,
        };
        let e = match &*e.kind {
            // A constant is a value of its own wherever it stands.
            ExprKind::Const(_) if mutable => {
                let ty = e.ty.clone();
                Expr::new(ExprKind::Block(Vec::new(), Some(e)), ty, span)
            }
            _ => e,
        };
        if mutable && e.is_place() {
            self.writable(&e);
        }
        let ty = Ty::Ref {
            mutable,
            target: Box::new(e.ty.clone()),
        };
        Expr::new(ExprKind::AddrOf(e), ty, span)
    }

    /// A slice or matrix view of the same memory with that mutability.
    fn reborrow(&mut self, mut e: Expr, mutable: bool) -> Expr {
        match &mut e.ty {
            Ty::Slice { mutable: m, .. } | Ty::Mat { mutable: m, .. } if *m || !mutable => {
                *m = mutable;
                e
            }
            Ty::Slice { .. } | Ty::Mat { .. } => {
                let shown = self.show(&e.ty);
                let help = match e.is_place() {
                    true => {
                        "take it as `&mut`; if the variable is to name another part, say so of each: `if c { a = rest } else { b = rest }`"
                    }
                    false => "take it as `&mut`",
                };
                self.refuse(
                    e.span,
                    format!("`{shown}` is shared and cannot be borrowed as `&mut`"),
                    help,
                )
            }
            _ => {
                e.ty = self.shallow(&e.ty);
                self.reborrow(e, mutable)
            }
        }
    }

    /// What a method is called on. Rust borrows it by itself, so that `a[lo..hi].fill(0)` needs no `&mut`.
    pub(super) fn receiver(&mut self, e: &syn::Expr, mutable: bool) -> Expr {
        self.unborrowed(e, mutable, None)
    }

    /// A side of `==`: a part of a slice may stand there itself, `a[1..] == b[1..]`.
    pub(super) fn compared_part(&mut self, e: &syn::Expr, want: Option<&Ty>) -> Expr {
        self.unborrowed(e, false, want)
    }

    /// Any expression; a part of a slice needs no reference in front.
    fn unborrowed(&mut self, e: &syn::Expr, mutable: bool, want: Option<&Ty>) -> Expr {
        match strip(e) {
            syn::Expr::Index(i) => match &self.index_range(&i.index) {
                Some(range) => self.sub_slice(i, range, mutable, e.span()),
                None => self.expr(e, want),
            },
            _ => self.expr(e, want),
        }
    }

    /// What is indexed: a part of a slice may stand there itself, `a[1..][..n]` and `a[1..][i]`. It is as mutable as `mutable` says, or else as its
    /// memory.
    fn indexed(&mut self, e: &syn::Expr, mutable: Option<bool>) -> Expr {
        let syn::Expr::Index(i) = strip(e) else {
            return self.expr(e, None);
        };
        let Some(range) = &self.index_range(&i.index) else {
            return self.expr(e, None);
        };
        let base = self.indexed(&i.expr, mutable);
        let base = self.behind_refs(base);
        let mutable = mutable.unwrap_or_else(|| self.lies_mutable(&base));
        self.sub_slice_of(base, range, mutable, e.span())
    }

    /// Whether what is indexed can be written to, as far as types and `mut` say.
    fn lies_mutable(&self, base: &Expr) -> bool {
        match (&self.shallow(&base.ty), &*base.kind) {
            (Ty::Slice { mutable, .. }, _) => *mutable,
            (_, ExprKind::Var(var)) => self.vars[var.0].fixed.is_none(),
            (_, ExprKind::Field(base, _)) => self.lies_mutable(base),
            (_, ExprKind::Deref(base) | ExprKind::Index(base, _)) => match self.shallow(&base.ty) {
                Ty::Ref { mutable, .. } | Ty::Slice { mutable, .. } => mutable,
                _ => self.lies_mutable(base),
            },
            _ => false,
        }
    }

    fn sub_slice(
        &mut self,
        i: &syn::ExprIndex,
        range: &syn::ExprRange,
        mutable: bool,
        span: proc_macro2::Span,
    ) -> Expr {
        let base = self.indexed(&i.expr, Some(mutable));
        let base = self.behind_refs(base);
        self.sub_slice_of(base, range, mutable, span)
    }

    fn sub_slice_of(
        &mut self,
        base: Expr,
        syntax: &syn::ExprRange,
        mutable: bool,
        span: proc_macro2::Span,
    ) -> Expr {
        let base = self.behind_refs(base);
        if !self.has_own_index(&base.ty)
            && let (Ty::Struct(_), Some(behind)) =
                (self.shallow(&base.ty), self.dereferenced(&base))
        {
            return self.sub_slice_of(behind, syntax, mutable, span);
        }
        let range = self.slice_range(syntax);
        let base = match mutable {
            true => self.as_written(base),
            false => base,
        };
        let elem = match self.shallow(&base.ty) {
            Ty::Array(elem, _) => {
                if mutable {
                    self.writable(&base);
                }
                *elem
            }
            Ty::Slice { mutable: m, elem } => {
                if mutable && !m {
                    let shown = self.show(&base.ty);
                    return self.refuse(
                        span,
                        format!("`{shown}` is shared and cannot be borrowed as `&mut`"),
                        "take it as `&mut`",
                    );
                }
                *elem
            }
            Ty::Error => return Self::broken(span),
            other => {
                let shown = self.show(&other);
                return self.refuse(
                    span,
                    format!("`{shown}` has no sub-slices"),
                    "arrays and slices have",
                );
            }
        };
        Expr::new(
            ExprKind::SubSlice { base, range },
            Ty::Slice {
                mutable,
                elem: Box::new(elem),
            },
            span,
        )
    }

    /// Makes a value fit the type it is used as, or says that it does not.
    pub(super) fn coerce(&mut self, e: Expr, want: &Ty) -> Expr {
        let (have, target) = (self.shallow(&e.ty), self.shallow(want));
        let span = e.span;
        if let Some(wide) = self.literal_as_wide(&e, want) {
            return wide;
        }
        if let Ty::Ref { target: inner, .. } = &have
            && self.looks_through(inner, &target)
        {
            let one = Expr::new(ExprKind::Deref(e), (**inner).clone(), span);
            return self.coerce(one, want);
        }
        match (&have, &target) {
            (
                Ty::Ref {
                    mutable: m,
                    target: inner,
                },
                Ty::Slice { mutable: n, elem },
            ) if *m || !*n => {
                if let Ty::Array(from, _) = self.shallow(inner)
                    && self.table.unify(&from, elem)
                {
                    return Expr::new(ExprKind::Unsize(e), target, span);
                }
            }
            (
                Ty::Slice {
                    mutable: true,
                    elem: a,
                },
                Ty::Slice {
                    mutable: false,
                    elem: b,
                },
            )
            | (
                Ty::Ref {
                    mutable: true,
                    target: a,
                },
                Ty::Ref {
                    mutable: false,
                    target: b,
                },
            ) if self.table.unify(a, b) => {
                return Expr { ty: target, ..e };
            }
            _ if self.table.unify(&e.ty, want) => {
                // A value that never comes fits everywhere, but keeps its type, so that blocks know they end there.
                return e;
            }
            _ => {}
        }
        if let Some(behind) = self.dereferenced_as(&e, &have, &target) {
            return self.coerce(behind, want);
        }
        let (have, wanted) = (self.show(&have), self.show(&target));
        let help = mismatch_help(&have, &wanted, &e);
        let source = tail(&e);
        let (span, no_value) = (
            source.span,
            matches!(*source.kind, ExprKind::Block(_, None)) && have == "()",
        );
        let message = if no_value {
            format!("this block ends without a value, and `{wanted}` is expected")
        } else {
            format!("expected `{wanted}`, found `{have}`")
        };
        let d = self.error(span, message);
        d.help = if no_value {
            Some("end it with a value, without a `;` behind it".to_owned())
        } else {
            help
        };
        Self::broken(span)
    }

    /// Whether a reference to a reference is one to what that refers to, where this is wanted.
    fn looks_through(&self, inner: &Ty, want: &Ty) -> bool {
        let is_reference =
            |ty: &Ty| matches!(ty, Ty::Ref { .. } | Ty::Slice { .. } | Ty::Mat { .. });
        let is_shared = match self.shallow(inner) {
            Ty::Ref { mutable, .. } | Ty::Slice { mutable, .. } | Ty::Mat { mutable, .. } => {
                !mutable
            }
            _ => false,
        };
        is_shared
            && match want {
                Ty::Slice { mutable, .. } => !mutable,
                Ty::Ref { mutable, target } => {
                    let target = self.shallow(target);
                    !mutable && !is_reference(&target) && !matches!(target, Ty::Var(_))
                }
                _ => false,
            }
    }

    /// A method's receiver as a slice value, if it is an array or a slice.
    pub(super) fn as_slice(&mut self, receiver: Expr, mutable: bool) -> Option<(Expr, Ty)> {
        let receiver = self.behind_refs(receiver);
        let receiver = match mutable {
            true => self.as_written(receiver),
            false => receiver,
        };
        match self.shallow(&receiver.ty) {
            Ty::Slice { elem, mutable: m } => {
                if mutable && !m {
                    let shown = self.show(&receiver.ty);
                    self.error(
                        receiver.span,
                        format!("this cannot be written: it is `{shown}`"),
                    )
                    .help("take it as `&mut`");
                }
                Some((receiver, *elem))
            }
            Ty::Array(elem, _) => {
                if mutable {
                    self.writable(&receiver);
                }
                let span = receiver.span;
                let reference = Ty::Ref {
                    mutable,
                    target: Box::new(receiver.ty.clone()),
                };
                let slice = Ty::Slice {
                    mutable,
                    elem: elem.clone(),
                };
                let reference = Expr::new(ExprKind::AddrOf(receiver), reference, span);
                Some((Expr::new(ExprKind::Unsize(reference), slice, span), *elem))
            }
            Ty::Struct(_) => {
                let behind = self.dereferenced(&receiver)?;
                self.as_slice(behind, mutable)
            }
            _ => None,
        }
    }

    pub(super) fn fresh_any(&mut self) -> Ty {
        self.table.fresh(Class::Any)
    }
}

/// Where the value of a block comes from.
fn tail(e: &Expr) -> &Expr {
    match &*e.kind {
        ExprKind::Block(_, Some(last)) if !is_nowhere(last.span) => tail(last),
        _ => e,
    }
}

/// What would be right where a value of another type is wanted.
pub(super) fn mismatch_help(have: &str, wanted: &str, e: &Expr) -> Option<String> {
    let is_float = |s: &str| matches!(s, "f32" | "f64" | "a float");
    let number = |s: &str| is_float(s) || s.starts_with(['i', 'u']) && s.len() <= 5;
    if is_float(wanted) && have == "an integer" {
        return Some(match *tail(e).kind {
            ExprKind::Int(v) => format!("write `{v}.0`"),
            _ => format!(
                "convert it: `.. as {}`",
                if wanted == "a float" { "f64" } else { wanted }
            ),
        });
    }
    let some = |of: &str| {
        of.strip_prefix("Option<")?
            .strip_suffix('>')
            .map(str::to_owned)
    };
    match (some(have), some(wanted)) {
        (None, Some(of)) if of == have || of == "_" || have.starts_with("an ") => {
            return Some("write `Some(..)`".to_owned());
        }
        (Some(of), None) if of == wanted => return Some(super::sums::TAKE_APART.to_owned()),
        _ => {}
    }
    if number(have) && number(wanted) && wanted != "a float" {
        return Some(format!("convert it: `.. as {wanted}`"));
    }
    if wanted == "bool" && (number(have) || have == "an integer") {
        return Some("compare it: `.. != 0`".to_owned());
    }
    if wanted == "()" {
        return matches!(*e.kind, ExprKind::Block(..))
            .then(|| "put a `;` behind it, or `return` it".to_owned());
    }
    if have == "()" {
        return Some("this has no value; end the block with one".to_owned());
    }
    let (mutable, target) = match wanted.strip_prefix("&mut ") {
        Some(target) => ("&mut ", target),
        None => ("&", wanted.strip_prefix('&')?),
    };
    // An array is borrowed as a slice.
    let is_target = |s: &str| {
        s == target
            || target.starts_with('[')
                && !target.contains(';')
                && s.starts_with('[')
                && s.contains(';')
    };
    if is_target(have) {
        return Some(format!("borrow it: `{mutable}..`"));
    }
    (mutable == "&mut " && have.strip_prefix('&').is_some_and(is_target)).then(|| match *e.kind {
        ExprKind::AddrOf(_) | ExprKind::SubSlice { .. } => "borrow it as `&mut ..`".to_owned(),
        _ => format!("it is shared: take it as `{wanted}` where it is declared"),
    })
}

/// An expression without the parentheses around it.
pub(super) fn strip(e: &syn::Expr) -> &syn::Expr {
    match e {
        syn::Expr::Paren(p) => strip(&p.expr),
        syn::Expr::Group(g) => strip(&g.expr),
        _ => e,
    }
}
