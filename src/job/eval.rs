//! Values that stand in a job as Rust expressions: literals, arrays, tuples, structs, parameters by name, arithmetic, `data.len()`.
//!
//! The type that is wanted decides what an expression means, so `1` may be a `u8` or an `f32`; what does not fit is refused.

use super::{
    byte_texts::ByteTexts,
    error::{Problem, Result, Text},
    numbers,
    types::ends,
    unparsed::unparsed,
    value,
};
use millstream_cilk_lower::nesting;
use millstream_graph::ty::{Scalar, Structs, Type};
use std::collections::BTreeMap;
use syn::{BinOp, Expr, Lit, UnOp, spanned::Spanned, visit_mut::VisitMut};

/// An expression that belongs to a text.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) text: Text,
    pub(crate) expr: Expr,
}

impl Written {
    pub(crate) fn parse(text: &Text) -> Result<Self> {
        match nesting::parse(text.as_str()) {
            Ok(mut expr) => {
                ByteTexts.visit_expr_mut(&mut expr);
                let text = text.clone();
                Ok(Self { text, expr })
            }
            Err(error) => Err(unparsed(text, &error).into()),
        }
    }

    pub(crate) fn sub(&self, expr: &Expr) -> Self {
        Self {
            text: self.text.clone(),
            expr: expr.clone(),
        }
    }

    pub(crate) fn problem(&self, message: impl Into<String>, label: impl Into<String>) -> Problem {
        self.text
            .problem_at(self.expr.span().byte_range(), message, label)
    }

    /// The names in it, of parameters and of anything else.
    pub(crate) fn names(&self) -> Vec<String> {
        struct Names(Vec<String>);
        impl<'ast> syn::visit::Visit<'ast> for Names {
            fn visit_expr_path(&mut self, e: &'ast syn::ExprPath) {
                self.0.extend(e.path.get_ident().map(ToString::to_string));
            }

            // What is called is a function, not a name of the job's.
            fn visit_expr_call(&mut self, e: &'ast syn::ExprCall) {
                e.args.iter().for_each(|arg| self.visit_expr(arg));
            }
        }
        let mut names = Names(Vec::new());
        syn::visit::visit_expr(&mut names, &self.expr);
        names.0
    }

    pub(crate) fn shown(&self) -> &str {
        self.text
            .as_str()
            .get(self.expr.span().byte_range())
            .unwrap_or("..")
    }
}

/// The name that an expression is, if it is just that.
pub(crate) fn name_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(p) if p.qself.is_none() => p.path.get_ident().map(ToString::to_string),
        Expr::Paren(p) => name_of(&p.expr),
        Expr::Group(g) => name_of(&g.expr),
        _ => None,
    }
}

/// What names mean while an expression is evaluated.
#[derive(Debug)]
pub(crate) struct Scope<'a> {
    pub(crate) structs: &'a Structs,
    pub(crate) params: &'a BTreeMap<String, Text>,
    /// Shapes of the buffers that are there, for `data.len()`.
    pub(crate) shapes: BTreeMap<String, Vec<u64>>,
}

/// An evaluation: for whom, and the parameters that are being looked up.
pub(super) struct Eval<'s, 'a> {
    pub(super) scope: &'s Scope<'a>,
    pub(super) what: &'s str,
    open: Vec<String>,
}

/// The memory of a value. `what` begins the messages: ``argument `n` ``.
pub(crate) fn evaluate(
    written: &Written,
    ty: &Type,
    what: &str,
    scope: &Scope<'_>,
) -> Result<Vec<u8>> {
    let size = ty.layout(scope.structs).size;
    let mut bytes = vec![0; size as usize];
    Eval {
        scope,
        what,
        open: Vec::new(),
    }
    .value(written, ty, &mut bytes, 0)?;
    Ok(bytes)
}

/// A length or another `usize`.
pub(crate) fn evaluate_usize(written: &Written, what: &str, scope: &Scope<'_>) -> Result<u64> {
    let bytes = evaluate(written, &Type::Scalar(Scalar::Usize), what, scope)?;
    Ok(value::read_bits(&bytes, 0, Scalar::Usize))
}

impl Eval<'_, '_> {
    fn value(&mut self, w: &Written, ty: &Type, out: &mut [u8], at: u64) -> Result<()> {
        match &w.expr {
            Expr::Paren(inner) => return self.value(&w.sub(&inner.expr), ty, out, at),
            Expr::Group(inner) => return self.value(&w.sub(&inner.expr), ty, out, at),
            _ => {}
        }
        // A variant's name is no parameter's.
        let variants = ty.variants(self.scope.structs);
        let variant = |name: &str| variants.iter().any(|v| v.name == name);
        if let (Some(name), false) = (
            name_of(&w.expr).filter(|name| !variant(name)),
            matches!(ty, Type::Scalar(_) | Type::Atomic(_)),
        ) {
            let (param, open) = self.open_param(w, &name, ty)?;
            self.value(&param, ty, out, at)?;
            self.open.truncate(open);
            return Ok(());
        }
        if !variants.is_empty() {
            return self.variant(w, ty, out, at);
        }
        match ty {
            Type::Scalar(s) | Type::Atomic(s) => {
                let bits = self.scalar(w, *s)?;
                value::write_bits(out, at, *s, bits);
                Ok(())
            }
            Type::Array(elem, len) => self.array(w, ty, (elem, *len), out, at),
            Type::Tuple(_) => {
                let Expr::Tuple(tuple) = &w.expr else {
                    return Err(self.mismatch(w, ty).into());
                };
                let fields = ty.fields(self.scope.structs);
                self.positional(w, ty, tuple.elems.iter().collect(), &fields, out, at)
            }
            Type::Struct(_) => self.structure(w, ty, out, at),
            Type::Option(_)
            | Type::Result(..)
            | Type::Slice { .. }
            | Type::Ref { .. }
            | Type::Mat { .. }
            | Type::Channel(_) => Err(self.mismatch(w, ty).into()),
        }
    }

    fn array(
        &mut self,
        w: &Written,
        ty: &Type,
        (elem, len): (&Type, u64),
        out: &mut [u8],
        at: u64,
    ) -> Result<()> {
        let stride = elem.layout(self.scope.structs).size;
        match &w.expr {
            Expr::Array(array) => {
                if array.elems.len() as u64 != len {
                    return Err(self.mismatch(w, ty).into());
                }
                (0..)
                    .zip(&array.elems)
                    .try_for_each(|(i, e)| self.value(&w.sub(e), elem, out, at + i * stride))
            }
            Expr::Repeat(repeat) => {
                let count = self.int(&w.sub(&repeat.len), Scalar::Usize)?;
                if count != i128::from(len) {
                    return Err(self.mismatch(w, ty).into());
                }
                (0..len)
                    .try_for_each(|i| self.value(&w.sub(&repeat.expr), elem, out, at + i * stride))
            }
            _ => Err(self.mismatch(w, ty).into()),
        }
    }

    /// `Some(value)`, `Shape::Rect { w: 1.0, h: 2.0 }`, `Colour::Red`.
    fn variant(&mut self, w: &Written, ty: &Type, out: &mut [u8], at: u64) -> Result<()> {
        let structs = self.scope.structs;
        let path = match &w.expr {
            Expr::Path(p) => &p.path,
            Expr::Call(call) => match &*call.func {
                Expr::Path(p) => &p.path,
                _ => return Err(self.mismatch(w, ty).into()),
            },
            Expr::Struct(literal) if literal.rest.is_none() => &literal.path,
            _ => return Err(self.mismatch(w, ty).into()),
        };
        let of = match ty {
            Type::Option(_) => "Option",
            Type::Result(..) => "Result",
            Type::Struct(id) => &structs[*id].name,
            _ => "",
        };
        let name = path.segments.last().map(|s| s.ident.to_string());
        let (name, variants) = (name.unwrap_or_default(), ty.variants(structs));
        if !is_variant(path, of) {
            return Err(self.mismatch(w, ty).into());
        }
        let Some(variant) = variants.iter().find(|v| v.name == name) else {
            let message = format!("{}: `{of}` has no variant `{name}`", self.what);
            let known = variants.iter().map(|v| v.name.as_str());
            return Err(w.problem(message, "").meant(&name, known).into());
        };
        let all = ty.fields(structs);
        if let Some((Type::Scalar(number), _)) = all.first() {
            value::write_bits(out, at, *number, variant.number);
        }
        let fields = &all[variant.fields.clone()];
        let names: Vec<&str> = variant.names.iter().map(String::as_str).collect();
        match &w.expr {
            Expr::Path(_) if fields.is_empty() => Ok(()),
            Expr::Call(call) if names.is_empty() && !fields.is_empty() => {
                self.positional(w, ty, call.args.iter().collect(), fields, out, at)
            }
            Expr::Struct(literal) if !names.is_empty() => {
                self.named(w, ty, literal, &name, &names, fields, out, at)
            }
            _ => Err(self.mismatch(w, ty).into()),
        }
    }

    fn positional(
        &mut self,
        w: &Written,
        ty: &Type,
        given: Vec<&Expr>,
        fields: &[(Type, u64)],
        out: &mut [u8],
        at: u64,
    ) -> Result<()> {
        if given.len() != fields.len() {
            return Err(self.wrong_count(w, ty, given.len(), fields).into());
        }
        given
            .into_iter()
            .zip(fields)
            .try_for_each(|(e, (field, offset))| self.value(&w.sub(e), field, out, at + offset))
    }

    /// Says how many values a struct or a variant takes, and of which types.
    fn wrong_count(&self, w: &Written, ty: &Type, given: usize, fields: &[(Type, u64)]) -> Problem {
        let called = match &w.expr {
            Expr::Call(call) => match &*call.func {
                Expr::Path(p) => p.path.segments.last(),
                _ => None,
            },
            _ => None,
        };
        let Some(name) = called.map(|segment| &segment.ident) else {
            return self.mismatch(w, ty);
        };
        let types = fields
            .iter()
            .map(|(ty, _)| ty.display(self.scope.structs).to_string());
        let types: Vec<String> = types.collect();
        let takes = match types.len() {
            1 => "1 value".to_owned(),
            n => format!("{n} values"),
        };
        let here = match given {
            1 => "here is 1".to_owned(),
            n => format!("here are {n}"),
        };
        let message = format!("{}: `{name}` takes {takes}, {here}", self.what);
        let wanted = format!("expected `{name}({})`", types.join(", "));
        w.problem(message, wanted)
    }

    /// `Name { field: value, .. }`, with these fields.
    #[expect(
        clippy::too_many_arguments,
        reason = "what is written, and what it is to be"
    )]
    fn named(
        &mut self,
        w: &Written,
        ty: &Type,
        literal: &syn::ExprStruct,
        of: &str,
        names: &[&str],
        fields: &[(Type, u64)],
        out: &mut [u8],
        at: u64,
    ) -> Result<()> {
        let mut missing = names.to_vec();
        for given in &literal.fields {
            let syn::Member::Named(name) = &given.member else {
                return Err(self.mismatch(w, ty).into());
            };
            let name = name.to_string();
            let there = |message: String| {
                w.text
                    .problem_at(given.member.span().byte_range(), message, "")
            };
            let Some(i) = names.iter().position(|n| *n == name) else {
                let problem = there(format!("{}: `{}` has no field `{name}`", self.what, of));
                return Err(problem.meant(&name, names.iter().copied()).into());
            };
            if !missing.contains(&name.as_str()) {
                return Err(
                    there(format!("{}: the field `{name}` is given twice", self.what)).into(),
                );
            }
            missing.retain(|m| *m != name);
            self.value(&w.sub(&given.expr), &fields[i].0, out, at + fields[i].1)?;
        }
        if missing.is_empty() {
            return Ok(());
        }
        Err(w
            .problem(
                format!("{}: `{}` lacks `{}`", self.what, of, missing.join("`, `")),
                "",
            )
            .into())
    }

    fn structure(&mut self, w: &Written, ty: &Type, out: &mut [u8], at: u64) -> Result<()> {
        let Type::Struct(id) = ty else {
            return Err(self.mismatch(w, ty).into());
        };
        let (def, fields) = (&self.scope.structs[*id], ty.fields(self.scope.structs));
        if let Some(ends) = ends(&w.expr, def) {
            return self.positional(w, ty, ends, &fields, out, at);
        }
        if let Some(signed) = def.wide() {
            let bits = match (numbers::wide(&w.expr, signed), &w.expr) {
                (Some(bits), _) => Some(bits),
                (None, Expr::Lit(_) | Expr::Unary(_)) => None,
                // What is computed has as many bits as other numbers.
                _ => {
                    let x = self.int(w, Scalar::U64)?;
                    (signed || x >= 0).then(|| x.cast_unsigned())
                }
            };
            let Some(bits) = bits else {
                return Err(self.mismatch(w, ty).into());
            };
            value::write_bits(out, at, Scalar::U64, bits as u64);
            value::write_bits(out, at + 8, Scalar::U64, (bits >> 64) as u64);
            return Ok(());
        }
        let is = |path: &syn::Path| path.segments.last().is_some_and(|s| s.ident == def.ident());
        match &w.expr {
            Expr::Call(call)
                if def.tuple && matches!(&*call.func, Expr::Path(p) if is(&p.path)) =>
            {
                self.positional(w, ty, call.args.iter().collect(), &fields, out, at)
            }
            Expr::Struct(literal) if !def.tuple && is(&literal.path) && literal.rest.is_none() => {
                let names: Vec<&str> = def.fields.iter().map(|(n, _)| n.as_str()).collect();
                self.named(w, ty, literal, &def.name, &names, &fields, out, at)
            }
            _ => Err(self.mismatch(w, ty).into()),
        }
    }

    fn scalar(&mut self, w: &Written, ty: Scalar) -> Result<u64> {
        if let Some(name) = name_of(&w.expr) {
            let (param, open) = self.open_param(w, &name, &Type::Scalar(ty))?;
            let bits = self.scalar(&param, ty)?;
            self.open.truncate(open);
            return Ok(bits);
        }
        match ty {
            Scalar::Bool => match &w.expr {
                Expr::Lit(syn::ExprLit {
                    lit: Lit::Bool(b), ..
                }) => Ok(b.value.into()),
                _ => Err(self.mismatch(w, &Type::Scalar(ty)).into()),
            },
            Scalar::F32 => Ok((self.float(w, ty)? as f32).to_bits().into()),
            Scalar::F64 => Ok(self.float(w, ty)?.to_bits()),
            Scalar::Ptr => Err(self.mismatch(w, &Type::Scalar(ty)).into()),
            _ => {
                let number = self.int(w, ty)?;
                self.fitting(w, number, ty)?;
                Ok((number as u64) & (u64::MAX >> (64 - ty.bits())))
            }
        }
    }

    /// An integer, in more bits than the type has, so that `-(128)` and `2 * n - 1` are not cut short.
    pub(super) fn int(&mut self, w: &Written, ty: Scalar) -> Result<i128> {
        let mismatch = |this: &Self| this.mismatch(w, &Type::Scalar(ty)).into();
        let whole = |this: &mut Self, e: &Expr| this.int(&w.sub(e), ty);
        match &w.expr {
            Expr::Paren(inner) => whole(self, &inner.expr),
            Expr::Group(inner) => whole(self, &inner.expr),
            Expr::Lit(syn::ExprLit {
                lit: Lit::Byte(b), ..
            }) if ty == Scalar::U8 => Ok(b.value().into()),
            Expr::Lit(syn::ExprLit {
                lit: Lit::Int(n), ..
            }) if n.suffix().is_empty() || n.suffix() == ty.name() => {
                n.base10_digits().parse().map_err(|_| {
                    w.problem(format!("{}: {n} is no `{ty}`", self.what), "out of range")
                        .into()
                })
            }
            Expr::Unary(syn::ExprUnary {
                op: UnOp::Neg(_),
                expr,
                ..
            }) => Ok(-whole(self, expr)?),
            Expr::Binary(b) => {
                let (x, y) = (whole(self, &b.left)?, whole(self, &b.right)?);
                let shift = u32::try_from(y).ok().filter(|s| *s < 64);
                let result = match b.op {
                    BinOp::Add(_) => x.checked_add(y),
                    BinOp::Sub(_) => x.checked_sub(y),
                    BinOp::Mul(_) => x.checked_mul(y),
                    BinOp::Div(_) => x.checked_div(y),
                    BinOp::Rem(_) => x.checked_rem(y),
                    BinOp::Shl(_) => shift.and_then(|s| x.checked_mul(1 << s)),
                    BinOp::Shr(_) => shift.map(|s| x >> s),
                    _ => return Err(mismatch(self)),
                };
                result.ok_or_else(|| {
                    w.problem(
                        format!("{}: `{}` has no value", self.what, w.shown()),
                        "here",
                    )
                    .into()
                })
            }
            Expr::MethodCall(call) => self.method(w, call, ty),
            Expr::Cast(cast) => self.cast(w, cast, ty),
            Expr::Path(p) => match name_of(&w.expr) {
                Some(name) => {
                    let (param, open) = self.open_param(w, &name, &Type::Scalar(ty))?;
                    let number = self.int(&param, ty)?;
                    self.open.truncate(open);
                    Ok(number)
                }
                None => limit(&p.path)
                    .filter(|(of, _)| *of == ty)
                    .map(|(_, n)| n)
                    .ok_or_else(|| mismatch(self)),
            },
            _ => Err(mismatch(self)),
        }
    }

    /// A float. In `f64` even where an `f32` is wanted: for `+ - * /` rounding twice gives the same.
    fn float(&mut self, w: &Written, ty: Scalar) -> Result<f64> {
        let whole = |this: &mut Self, e: &Expr| this.float(&w.sub(e), ty);
        let round = |x: f64| {
            if ty == Scalar::F32 {
                f64::from(x as f32)
            } else {
                x
            }
        };
        let fits = |suffix: &str| suffix.is_empty() || suffix == ty.name();
        let literal = |digits: &str| match ty {
            Scalar::F32 => digits.parse::<f32>().ok().map(f64::from),
            _ => digits.parse::<f64>().ok(),
        };
        let number = match &w.expr {
            Expr::Paren(inner) => Some(whole(self, &inner.expr)?),
            Expr::Group(inner) => Some(whole(self, &inner.expr)?),
            Expr::Lit(syn::ExprLit {
                lit: Lit::Float(x), ..
            }) if fits(x.suffix()) => literal(x.base10_digits()),
            Expr::Lit(syn::ExprLit {
                lit: Lit::Int(n), ..
            }) if fits(n.suffix()) => literal(n.base10_digits()),
            Expr::Unary(syn::ExprUnary {
                op: UnOp::Neg(_),
                expr,
                ..
            }) => Some(-whole(self, expr)?),
            Expr::Binary(b) => {
                let (x, y) = (whole(self, &b.left)?, whole(self, &b.right)?);
                match b.op {
                    BinOp::Add(_) => Some(round(x + y)),
                    BinOp::Sub(_) => Some(round(x - y)),
                    BinOp::Mul(_) => Some(round(x * y)),
                    BinOp::Div(_) => Some(round(x / y)),
                    _ => None,
                }
            }
            Expr::Path(p) => match name_of(&w.expr) {
                Some(name) => {
                    let (param, open) = self.open_param(w, &name, &Type::Scalar(ty))?;
                    let number = self.float(&param, ty)?;
                    self.open.truncate(open);
                    Some(number)
                }
                None => float_limit(&p.path, ty),
            },
            _ => None,
        };
        // A literal that is too large rustc refuses too.
        if let Expr::Lit(syn::ExprLit {
            lit: Lit::Float(n), ..
        }) = &w.expr
            && number.is_some_and(f64::is_infinite)
        {
            let message = format!("{}: {n} is no `{}`", self.what, ty.name());
            return Err(w.problem(message, "out of range").into());
        }
        number.ok_or_else(|| self.mismatch(w, &Type::Scalar(ty)).into())
    }

    /// The expression that a parameter stands for, and how many were open before it.
    fn open_param(&mut self, w: &Written, name: &str, ty: &Type) -> Result<(Written, usize)> {
        let Some(text) = self.scope.params.get(name) else {
            let ty = ty.display(self.scope.structs);
            let problem = w.problem(
                format!("{}: there is no parameter `{name}`", self.what),
                format!("expected a `{ty}`"),
            );
            let known: Vec<&str> = self.scope.params.keys().map(String::as_str).collect();
            let others = if known.is_empty() {
                String::new()
            } else {
                format!("; there is `{}`", known.join("`, `"))
            };
            return Err(match millstream_graph::graph::nearest(name, &known) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None => problem.help(format!("give it a value: `--set {name}=..`{others}")),
            }
            .into());
        };
        if self.open.iter().any(|o| o == name) {
            return Err(w
                .problem(
                    format!("the parameter `{name}` is defined by itself"),
                    "here",
                )
                .into());
        }
        self.open.push(name.to_owned());
        Ok((Written::parse(text)?, self.open.len() - 1))
    }

    fn mismatch(&self, w: &Written, ty: &Type) -> Problem {
        let wanted = ty.display(self.scope.structs);
        let found = found(w);
        let problem = w.problem(
            format!("{}: expected `{wanted}`, found {found}", self.what),
            format!("expected `{wanted}`"),
        );
        match self.how_written(ty) {
            Some(help) => problem.help(help),
            None => problem,
        }
    }

    /// How a value of a type is written that has few.
    fn how_written(&self, ty: &Type) -> Option<String> {
        let variants = ty.variants(self.scope.structs);
        let written = variants.iter().map(|v| {
            let data = match (v.fields.is_empty(), v.names.is_empty()) {
                (true, _) => String::new(),
                (_, true) => "(..)".to_owned(),
                _ => format!(" {{ {}: .. }}", v.names.join(": .., ")),
            };
            format!("`{}{data}`", v.name)
        });
        let written: Vec<String> = written.collect();
        (!variants.is_empty()).then(|| format!("there are {}", written.join(", ")))
    }
}

/// Whether a path may name a variant of that enum: `Red`, `Colour::Red`.
fn is_variant(path: &syn::Path, of: &str) -> bool {
    let owner = path.segments.iter().rev().nth(1);
    let of = of.rsplit("::").next();
    owner.is_none_or(|owner| of.is_some_and(|of| owner.ident == of))
}

/// Least and most of an integer type.
pub(super) const fn bounds(ty: Scalar) -> (i128, i128) {
    let bits = ty.bits();
    if ty.is_signed() {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    }
}

/// `u32::MAX` and its like.
fn limit(path: &syn::Path) -> Option<(Scalar, i128)> {
    let [ty, name] = &path
        .segments
        .iter()
        .map(|s| s.ident.to_string())
        .collect::<Vec<_>>()[..]
    else {
        return None;
    };
    let ty = Scalar::from_name(ty).filter(|t| t.is_int())?;
    match name.as_str() {
        "MIN" => Some((ty, bounds(ty).0)),
        "MAX" => Some((ty, bounds(ty).1)),
        _ => None,
    }
}

fn float_limit(path: &syn::Path, ty: Scalar) -> Option<f64> {
    let [of, name] = &path
        .segments
        .iter()
        .map(|s| s.ident.to_string())
        .collect::<Vec<_>>()[..]
    else {
        return None;
    };
    let pick = |single: f32, double: f64| {
        if ty == Scalar::F32 {
            f64::from(single)
        } else {
            double
        }
    };
    (of == ty.name()).then_some(())?;
    match name.as_str() {
        "MAX" => Some(pick(f32::MAX, f64::MAX)),
        "MIN" => Some(pick(f32::MIN, f64::MIN)),
        "EPSILON" => Some(pick(f32::EPSILON, f64::EPSILON)),
        "INFINITY" => Some(f64::INFINITY),
        "NEG_INFINITY" => Some(f64::NEG_INFINITY),
        "NAN" => Some(f64::NAN),
        _ => None,
    }
}

/// What an expression is, for a message.
fn found(w: &Written) -> String {
    let shown = w.shown();
    let sort = match &w.expr {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(n) if !n.suffix().is_empty() => {
                return format!("`{shown}`, of type `{}`", n.suffix());
            }
            Lit::Float(n) if !n.suffix().is_empty() => {
                return format!("`{shown}`, of type `{}`", n.suffix());
            }
            Lit::Int(_) => "the integer",
            Lit::Float(_) => "the float",
            Lit::Bool(_) => "the bool",
            Lit::Str(_) => "the string",
            _ => "",
        },
        Expr::Array(a) => return format!("an array of {}", a.elems.len()),
        Expr::Repeat(_) => "the array",
        Expr::Tuple(t) if t.elems.is_empty() => return "`()`".into(),
        Expr::Tuple(t) => return format!("a tuple of {}", t.elems.len()),
        Expr::Reference(_) => "the reference",
        Expr::Struct(_) => "the struct",
        Expr::Call(_) | Expr::MethodCall(_) => "the call",
        _ => "",
    };
    if sort.is_empty() {
        format!("`{shown}`")
    } else {
        format!("{sort} `{shown}`")
    }
}
