//! Every kind of expression: what is simple here, the rest in its file.

use super::{Binding, Checker};
use crate::{
    consts::{self, Lent},
    generics::Known,
    hir::{ConstId, Expr, ExprKind, SliceRange},
    items::Item,
    ty::{BOOL, Class, Ty, USIZE},
};
use millstream_graph::ty::Scalar;
use proc_macro2::Span;
use syn::spanned::Spanned;

impl Checker<'_> {
    /// Checks an expression whose value has to be of that type.
    pub(super) fn expr_as(&mut self, e: &syn::Expr, want: &Ty) -> Expr {
        let checked = self.expr(e, Some(want));
        if self.is_lent(e, &checked)
            && let (
                Ty::Scalar(_)
                | Ty::Var(_)
                | Ty::Tuple(_)
                | Ty::Struct(_)
                | Ty::Array(..)
                | Ty::Option(_)
                | Ty::Result(..),
                Ty::Ref { .. } | Ty::Slice { .. },
            ) = (self.shallow(&checked.ty), self.shallow(want))
        {
            let lent = self.borrow(checked, false, e.span());
            return self.coerce(lent, want);
        }
        self.coerce(checked, want)
    }

    /// Checks an expression. `want` is what its value will be used as: a hint that need not hold.
    pub(super) fn expr(&mut self, e: &syn::Expr, want: Option<&Ty>) -> Expr {
        let span = e.span();
        if let syn::Expr::Path(_) | syn::Expr::Closure(_) = e
            && let Some(function) = self.as_pointer(e, want)
        {
            return function;
        }
        match e {
            syn::Expr::Paren(p) => self.expr(&p.expr, want),
            syn::Expr::Group(g) => self.expr(&g.expr, want),
            syn::Expr::Lit(l) => self.literal(&l.lit, want),
            syn::Expr::Path(p) => self.path_value(p, want),
            syn::Expr::Unary(u) => self.unary(u, want),
            syn::Expr::Binary(b) => self.binary(b, want),
            syn::Expr::Cast(c) => self.cast(c),
            syn::Expr::Call(c) => self.call(c, want),
            syn::Expr::MethodCall(m) => match self.with_held(e) {
                Some(held) => self.expr(&held, want),
                None => match self.chain(e, m, want) {
                    Some(value) => value,
                    None => self.method_call(m, want),
                },
            },
            syn::Expr::Field(f) => self.field(f),
            syn::Expr::Index(i) => self.index(i),
            syn::Expr::Reference(r) => self.reference(r, want),
            syn::Expr::Tuple(t) => self.tuple(t, want),
            syn::Expr::Array(a) => self.array(a, want),
            syn::Expr::Repeat(r) => self.repeat(r, want),
            syn::Expr::Struct(s) => self.structure(s, want),
            syn::Expr::Block(b) => self.labelled_block(b, want),
            syn::Expr::If(i) => self.if_else(i, want),
            syn::Expr::Match(m) => self.match_expr(m, want),
            syn::Expr::Loop(l) => self.loop_forever(l),
            syn::Expr::While(w) => self.while_loop(w),
            syn::Expr::ForLoop(f) => self.for_loop(f),
            syn::Expr::Break(b) => self.break_out(b),
            syn::Expr::Continue(c) => self.continue_with(c),
            syn::Expr::Return(r) => self.return_value(r),
            syn::Expr::Assign(_) if want.is_some_and(|want| *want == BOOL) => {
                self.refuse(span, "this assigns, and a condition is wanted", "compare by `==`")
            }
            syn::Expr::Assign(a) => self.assign(a),
            syn::Expr::Macro(m) => self.macro_value(&m.mac, want),
            syn::Expr::Range(r) => self.range(r, want),
            syn::Expr::Let(_) => self.refuse(
                span,
                "a `let` among other conditions is not part of the task language",
                "nest an `if` in the `if let`, or use `match` with a guard",
            ),
            syn::Expr::Closure(_) => self.refuse(
                span,
                "a closure as a value is not part of the task language",
                "give it a name, `let f = |x| ..;`, and call that; or write it where a chain takes it",
            ),
            syn::Expr::Try(t) => self.or_return(t, want),
            syn::Expr::Const(c) => {
                let value = self.block(&c.block, want);
                match *value.kind {
                    ExprKind::Block(ref stmts, Some(ref tail)) if stmts.is_empty() => tail.clone(),
                    _ => value,
                }
            }
            syn::Expr::Unsafe(_) => self.refuse(
                span,
                "`unsafe` is not part of the task language",
                "for speed without bounds checks: `#[program(unchecked)]`",
            ),
            syn::Expr::Async(_) | syn::Expr::Await(_) => self.refuse(
                span,
                "`async` is not part of the task language",
                "use `spawn!` and `sync!`",
            ),
            _ => self.refuse(
                span,
                "this expression is not part of the task language",
                "docs/language.md lists what there is",
            ),
        }
    }

    /// An expression followed by a semicolon: here, and only here, a spawn may give its result to a place.
    pub(super) fn statement(&mut self, e: &syn::Expr) -> Expr {
        match e {
            syn::Expr::Macro(m) => self.macro_statement(&m.mac),
            syn::Expr::Group(g) => self.statement(&g.expr),
            _ => (self.dropped_exchange(e)).unwrap_or_else(|| self.expr(e, None)),
        }
    }

    pub(super) fn literal(&mut self, lit: &syn::Lit, want: Option<&Ty>) -> Expr {
        let span = lit.span();
        match lit {
            syn::Lit::Bool(b) => Expr::new(ExprKind::Bool(b.value), Ty::Scalar(Scalar::Bool), span),
            syn::Lit::Byte(b) => Expr::new(
                ExprKind::Int(u128::from(b.value())),
                Ty::Scalar(Scalar::U8),
                span,
            ),
            // A reference to an array, as in Rust.
            syn::Lit::ByteStr(text) => {
                let u8 = Ty::Scalar(Scalar::U8);
                let bytes: Vec<Expr> = text
                    .value()
                    .iter()
                    .map(|b| Expr::new(ExprKind::Int(u128::from(*b)), u8.clone(), span))
                    .collect();
                let array = Ty::Array(Box::new(u8), bytes.len() as u64);
                let reference = Ty::Ref {
                    mutable: false,
                    target: Box::new(array.clone()),
                };
                Expr::new(
                    ExprKind::AddrOf(Expr::new(ExprKind::Array(bytes), array, span)),
                    reference,
                    span,
                )
            }
            syn::Lit::Int(i) => self.int_literal(i, want),
            syn::Lit::Float(f) => {
                let Ok(value) = f.base10_digits().parse::<f64>() else {
                    return self.refuse(
                        span,
                        "this is not a number",
                        "write a float as `1.5` or `1e-3`",
                    );
                };
                let ty = self.suffix_type(f.suffix(), span, Class::Float);
                Expr::new(ExprKind::Float(value), ty, span)
            }
            _ => self.refuse(
                span,
                "text is not part of the task language",
                "use `u8` values: `b'x'`, or an array of them",
            ),
        }
    }

    fn suffix_type(&mut self, suffix: &str, span: Span, class: Class) -> Ty {
        match Scalar::from_name(suffix) {
            _ if suffix.is_empty() => self.table.fresh(class),
            Some(s) if s != Scalar::Ptr && s != Scalar::Bool => Ty::Scalar(s),
            _ => {
                self.error(
                    span,
                    format!("`{suffix}` is not a number type of the task language"),
                );
                Ty::Error
            }
        }
    }

    fn int_literal(&mut self, lit: &syn::LitInt, want: Option<&Ty>) -> Expr {
        let span = lit.span();
        // In a pattern the sign belongs to the literal.
        if let Some(digits) = lit.base10_digits().strip_prefix('-') {
            let positive = syn::LitInt::new(&format!("{digits}{}", lit.suffix()), span);
            let inner = self.int_literal(&positive, want);
            let ty = inner.ty.clone();
            return Expr::new(
                ExprKind::Unary(millstream_graph::ir::UnOp::Neg, inner),
                ty,
                span,
            );
        }
        let Ok(value) = lit.base10_digits().parse::<u128>() else {
            return self.refuse(
                span,
                "this integer is too large",
                "the widest integers are 64 bits",
            );
        };
        if let Some(wide) = self.wide_literal(lit, value, want, span) {
            return wide;
        }
        let ty = self.suffix_type(lit.suffix(), span, Class::Int);
        if let Ty::Scalar(s) = ty
            && s.is_float()
        {
            return Expr::new(ExprKind::Float(value as f64), ty, span);
        }
        // The hint decides only what nothing else will: `1 as u64` is a u64.
        if let (Ty::Var(_), Some(want)) = (&ty, want)
            && matches!(self.shallow(want), Ty::Scalar(s) if s.is_int())
        {
            self.table.unify(&ty, want);
        }
        Expr::new(ExprKind::Int(value), ty, span)
    }

    fn path_value(&mut self, p: &syn::ExprPath, want: Option<&Ty>) -> Expr {
        let span = p.span();
        if let Some(value) = self.qualified_value(p) {
            return value;
        }
        let Some(path) = self.bare_path(p) else {
            return Self::broken(span);
        };
        let Some(ident) = path.get_ident() else {
            return self.associated(&path, want);
        };
        let name = ident.to_string();
        match self.lookup(&name) {
            Some(Binding::Element(_)) => return self.handle_value(&name, true, span),
            Some(Binding::Var(v)) if matches!(self.vars[v.0].ty, Ty::Channel(_)) => {
                return self.handle_value(&name, false, span);
            }
            Some(Binding::Var(v)) => {
                let v = *v;
                return Expr::new(ExprKind::Var(v), self.vars[v.0].ty.clone(), span);
            }
            Some(Binding::Place(place)) => {
                let mut place = place.clone();
                place.span = span;
                return place;
            }
            Some(Binding::Closure(_)) => {
                return self.refuse(
                    span,
                    format!("the closure `{name}` is used as a value"),
                    format!("call it: `{name}(..)`"),
                );
            }
            Some(Binding::Chain(_)) => {
                return self.refuse(
                    span,
                    match super::chains::is_own(&name) {
                        true => "this iterator is used as a value".to_owned(),
                        false => format!("the iterator `{name}` is used as a value"),
                    },
                    "run over it by a `for`, or end it by a method, where the names in it mean what they meant where it was named",
                );
            }
            None => {}
        }
        match self.m.known(&path).cloned() {
            Some(Known::Number(Scalar::Bool, bits)) => {
                return Expr::new(ExprKind::Bool(bits != 0), Ty::Scalar(Scalar::Bool), span);
            }
            Some(Known::Number(s, bits)) => {
                let bits = match s.is_signed() {
                    true => self.m.signed(bits, s) as u128,
                    false => u128::from(bits),
                };
                return Expr::new(ExprKind::Int(bits), Ty::Scalar(s), span);
            }
            _ => {}
        }
        match self.m.named(&name) {
            Some(Item::Const(id)) => {
                let value = self.constant(id, span);
                self.itself(value)
            }
            Some(Item::Fn(id)) if want.is_none_or(|want| self.is_open(want)) => {
                self.as_its_pointer(p, id)
            }
            Some(Item::Fn(_) | Item::Template(_)) => self.refuse(
                span,
                format!("the function `{name}` is used as a value"),
                format!("call it: `{name}(..)`"),
            ),
            Some(Item::Struct(id)) if self.m.structs[id].fields.is_empty() => {
                Expr::structure(id, Vec::new(), span)
            }
            None if self.variant_named(&path).is_some() || self.m.whole_path(&path).is_some() => {
                self.associated(&path, want)
            }
            Some(Item::Family(_)) if self.struct_at(&path, want).is_some() => {
                self.associated(&path, want)
            }
            _ => {
                let of_constants =
                    "a constant or an array's length is made of literals and other constants"
                        .to_owned();
                let help = self
                    .suggestion(&name)
                    .or_else(|| self.kind.is_none().then_some(of_constants));
                let d = self.error(span, format!("there is no `{name}` here"));
                d.help = help;
                Self::broken(span)
            }
        }
    }

    /// A constant where it is named.
    pub(super) fn constant(&mut self, id: ConstId, span: Span) -> Expr {
        if let Some(rows) = self.m.consts[id.0].rows.clone() {
            return self.rows_of(&rows, None, span);
        }
        let Some((ty, _)) = consts::value(self.m, id, span) else {
            return Self::broken(span);
        };
        let ty = Ty::from_type(&ty);
        let place = Expr::new(ExprKind::Const(id), ty.clone(), span);
        let Some(lent) = self.m.consts[id.0].lent else {
            return place;
        };
        let reference = Ty::Ref {
            mutable: false,
            target: Box::new(ty.clone()),
        };
        let reference = Expr::new(ExprKind::AddrOf(place), reference, span);
        match (lent, ty) {
            (Lent::Slice, Ty::Array(elem, _)) => {
                let slice = Ty::Slice {
                    mutable: false,
                    elem,
                };
                self.coerce(reference, &slice)
            }
            _ => reference,
        }
    }

    fn tuple(&mut self, t: &syn::ExprTuple, want: Option<&Ty>) -> Expr {
        let want = match want.map(|w| self.shallow(w)) {
            Some(Ty::Tuple(w)) if w.len() == t.elems.len() => w.into_iter().map(Some).collect(),
            _ => vec![None; t.elems.len()],
        };
        let elems: Vec<Expr> = t
            .elems
            .iter()
            .zip(want)
            .map(|(e, w)| self.expr_hint(e, w.as_ref()))
            .collect();
        let ty = Ty::Tuple(elems.iter().map(|e| e.ty.clone()).collect());
        Expr::new(ExprKind::Tuple(elems), ty, t.span())
    }

    /// Checks with a hint and, where the hint is known, coerces to it.
    fn expr_hint(&mut self, e: &syn::Expr, want: Option<&Ty>) -> Expr {
        match want {
            Some(want) => self.expr_as(e, want),
            None => self.expr(e, None),
        }
    }

    fn array(&mut self, a: &syn::ExprArray, want: Option<&Ty>) -> Expr {
        let elem = match want.map(|w| self.shallow(w)) {
            Some(Ty::Array(e, _)) => *e,
            _ => self.table.fresh(Class::Any),
        };
        let elems: Vec<Expr> = a.elems.iter().map(|e| self.expr_as(e, &elem)).collect();
        let ty = Ty::Array(Box::new(elem), elems.len() as u64);
        Expr::new(ExprKind::Array(elems), ty, a.span())
    }

    fn repeat(&mut self, r: &syn::ExprRepeat, want: Option<&Ty>) -> Expr {
        let elem = match want.map(|w| self.shallow(w)) {
            Some(Ty::Array(e, _)) => *e,
            _ => self.table.fresh(Class::Any),
        };
        let value = self.expr_as(&r.expr, &elem);
        let Some(len) = consts::eval_usize(self.m, &r.len) else {
            return Self::broken(r.span());
        };
        Expr::new(
            ExprKind::Repeat(value, len),
            Ty::Array(Box::new(elem), len),
            r.span(),
        )
    }

    fn structure(&mut self, s: &syn::ExprStruct, want: Option<&Ty>) -> Expr {
        let span = s.span();
        if let Some(named) = self.variant_named(&s.path) {
            return self.variant_structure(&named, s, want);
        }
        let name = s
            .path
            .segments
            .last()
            .map(|s| s.ident.to_string())
            .unwrap_or_default();
        let mut id = self.struct_at(&s.path, want);
        if id.is_none()
            && let Some(family) = self.family_at(&s.path)
            && let Some(base) = &s.rest
        {
            match self.struct_by_base(family, s, base) {
                Ok(of) => id = Some(of),
                Err(value) => return value,
            }
        }
        if id.is_none()
            && let Some(family) = self.family_at(&s.path)
        {
            let fields = s.fields.iter();
            let fields: Vec<_> = fields.map(|f| (member_name(&f.member), &f.expr)).collect();
            let Some((id, fields)) = self.struct_by_fields(family, &fields, want, span) else {
                return self.unknown_value(span);
            };
            return Expr::structure(id, fields, span);
        }
        let Some(id) = id else {
            let known = self.m.structs.iter().map(|(_, d)| d.name.as_str());
            let elsewhere = self.m.known_elsewhere(&name);
            let help = elsewhere
                .or_else(|| super::nearest(&name, known).map(|n| format!("did you mean `{n}`?")))
                .unwrap_or_else(|| "define it in this module".to_owned());
            return self.refuse(
                s.path.span(),
                format!("there is no struct `{name}` in this program"),
                help,
            );
        };
        let def = self.m.structs[id].clone();
        let mut fields: Vec<(usize, Expr)> = Vec::new();
        for field in &s.fields {
            let member = member_name(&field.member);
            let Some(index) = def.fields.iter().position(|(n, _)| *n == member) else {
                let known: Vec<String> = def.fields.iter().map(|(n, _)| format!("`{n}`")).collect();
                let help = format!("its fields are {}", known.join(", "));
                self.error(
                    field.member.span(),
                    format!("the struct `{name}` has no field `{member}`"),
                )
                .help(help);
                continue;
            };
            let value = self.expr_as(&field.expr, &Ty::from_type(&def.fields[index].1));
            if fields.iter().any(|(i, _)| *i == index) {
                self.error(
                    field.member.span(),
                    format!("the field `{member}` is given twice"),
                );
            }
            fields.push((index, value));
        }
        let base = s.rest.as_ref().map(|e| self.expr_as(e, &Ty::Struct(id)));
        let given = |i: usize| fields.iter().any(|(g, _)| *g == i);
        let missing: Vec<String> = (0..def.fields.len())
            .filter(|i| !given(*i))
            .map(|i| format!("`{}`", def.fields[i].0))
            .collect();
        if base.is_none() && !missing.is_empty() {
            self.error(
                span,
                format!("the struct `{name}` lacks {}", missing.join(", ")),
            )
            .help("give every field, or take the rest from another: `..other`");
        }
        Expr::new(ExprKind::Struct { id, fields, base }, Ty::Struct(id), span)
    }

    /// A range as a value.
    fn range(&mut self, r: &syn::ExprRange, want: Option<&Ty>) -> Expr {
        let (Some(ranges), Some(start), Some(end)) = (self.m.ranges, &r.start, &r.end) else {
            return self.refuse(
                r.span(),
                "only a range with two ends, `a..b` or `a..=b`, is a value",
                "elsewhere it stands in a `for`, an index or a pattern",
            );
        };
        let names = match r.limits {
            syn::RangeLimits::HalfOpen(_) => ["start", "end"],
            syn::RangeLimits::Closed(_) => ["first", "last"],
        };
        let [first, last] = names.map(str::to_owned);
        let (family, fields) = (ranges.with(&r.limits), [(first, &**start), (last, &**end)]);
        let Some((id, fields)) = self.struct_by_fields(family, &fields, want, r.span()) else {
            return self.unknown_value(r.span());
        };
        Expr::structure(id, fields, r.span())
    }

    /// The type of a variable, or of a part of one, if it can be written twice without a difference: with no calls in it.
    pub(super) fn type_of_place(&self, e: &syn::Expr) -> Option<Ty> {
        let behind = |mut ty: Ty| {
            while let Ty::Ref { target, .. } = ty {
                ty = self.shallow(&target);
            }
            ty
        };
        let ty = match super::places::strip(e) {
            syn::Expr::Path(p) => match self.lookup(&p.path.get_ident()?.to_string())? {
                super::Binding::Var(var) => self.vars[var.0].ty.clone(),
                super::Binding::Place(place) => place.ty.clone(),
                _ => return None,
            },
            syn::Expr::Field(f) => {
                let name = member_name(&f.member);
                match behind(self.type_of_place(&f.base)?) {
                    Ty::Struct(id) => {
                        let mut fields = self.m.structs[id].fields.iter();
                        Ty::from_type(&fields.find(|(field, _)| *field == name)?.1)
                    }
                    Ty::Tuple(types) => types.get(name.parse::<usize>().ok()?)?.clone(),
                    _ => return None,
                }
            }
            syn::Expr::Index(i) => {
                let simple = match super::places::strip(&i.index) {
                    syn::Expr::Lit(_) => true,
                    index => self
                        .type_of_place(index)
                        .is_some_and(|ty| self.shallow(&ty) == USIZE),
                };
                match behind(self.type_of_place(&i.expr)?) {
                    Ty::Array(elem, _) | Ty::Slice { elem, .. } if simple => *elem,
                    _ => return None,
                }
            }
            syn::Expr::Unary(u) if matches!(u.op, syn::UnOp::Deref(_)) => {
                match self.type_of_place(&u.expr)? {
                    Ty::Ref { target, .. } => *target,
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some(self.shallow(&ty))
    }

    /// The range that stands here, or that the variable has which stands here.
    pub(super) fn range_of(&self, e: &syn::Expr) -> Option<syn::ExprRange> {
        let mut e = super::places::strip(e);
        if let syn::Expr::Range(r) = e {
            return Some(r.clone());
        }
        if let syn::Expr::MethodCall(m) = e
            && m.method == "clone"
        {
            e = super::places::strip(&m.receiver);
        }
        let mut ty = self.type_of_place(e)?;
        if let Ty::Ref { target, .. } = ty {
            ty = self.shallow(&target);
        }
        let family = match ty {
            Ty::Struct(id) => self.family_of(id)?,
            // One whose numbers are not known yet.
            ty => self.family_looked_for(&ty)?,
        };
        Some(match self.m.ranges?.is_closed(family)? {
            false => syn::parse_quote_spanned!(e.span()=> #e.start..#e.end),
            true => syn::parse_quote_spanned!(e.span()=> #e.first..=#e.last),
        })
    }

    /// The range between the brackets of an index.
    pub(super) fn slice_range(&mut self, r: &syn::ExprRange) -> SliceRange {
        if let Some(given) = self.slice_range_given(r) {
            return given;
        }
        let mut end = |e: &Option<Box<syn::Expr>>| e.as_ref().map(|e| self.expr_as(e, &USIZE));
        let (lo, hi) = (end(&r.start), end(&r.end));
        SliceRange {
            lo,
            hi,
            inclusive: matches!(r.limits, syn::RangeLimits::Closed(_)),
        }
    }
}

/// The name of a field as the structs of a program keep it.
pub(super) fn member_name(member: &syn::Member) -> String {
    match member {
        syn::Member::Named(n) => n.to_string(),
        syn::Member::Unnamed(i) => i.index.to_string(),
    }
}
