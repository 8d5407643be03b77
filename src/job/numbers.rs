//! What values call: sizes of buffers, methods of whole numbers, and casts from one sort of these to another.

use super::{
    error::Result,
    eval::{Eval, Written, bounds, name_of},
};
use millstream_graph::ty::Scalar;

/// An integer of 128 bits, as it is written: its bits, if it fits.
pub(super) fn wide(e: &syn::Expr, signed: bool) -> Option<u128> {
    let (e, negative) = match e {
        syn::Expr::Paren(inner) => return wide(&inner.expr, signed),
        syn::Expr::Group(inner) => return wide(&inner.expr, signed),
        syn::Expr::Unary(syn::ExprUnary {
            op: syn::UnOp::Neg(_),
            expr,
            ..
        }) if signed => (&**expr, true),
        e => (e, false),
    };
    let syn::Expr::Lit(syn::ExprLit {
        lit: syn::Lit::Int(n),
        ..
    }) = e
    else {
        return None;
    };
    let name = if signed { "i128" } else { "u128" };
    let is_one = n.suffix().is_empty() || n.suffix() == name;
    let bits: u128 = n.base10_digits().parse().ok().filter(|_| is_one)?;
    let most = i128::MAX.cast_unsigned() + u128::from(negative);
    match (signed, negative) {
        (true, _) if bits > most => None,
        (_, true) => Some(bits.wrapping_neg()),
        _ => Some(bits),
    }
}

/// What is asked of numbers.
const METHODS: &str = "`div_ceil`, `next_multiple_of`, `next_power_of_two`, `pow`, `min`, `max`, `abs_diff`, `isqrt` and `ilog2`";

/// What a method of a number gives, if there is one and it has a value.
fn of_number(name: &str, x: i128, args: &[i128]) -> Option<Option<i128>> {
    let natural = |x: i128| u128::try_from(x).ok();
    let whole = |x: u128| i128::try_from(x).ok();
    let two = |f: fn(u128, u128) -> Option<u128>, y| {
        natural(x)
            .zip(natural(y))
            .and_then(|(x, y)| whole(f(x, y)?))
    };
    Some(match (name, args) {
        ("div_ceil", [y]) => two(|x, y| (y > 0).then(|| x.div_ceil(y)), *y),
        ("next_multiple_of", [y]) => two(|x, y| x.checked_next_multiple_of(y), *y),
        ("next_power_of_two", []) => natural(x).and_then(|x| whole(x.checked_next_power_of_two()?)),
        ("pow", [y]) => u32::try_from(*y).ok().and_then(|y| x.checked_pow(y)),
        ("min", [y]) => Some(x.min(*y)),
        ("max", [y]) => Some(x.max(*y)),
        ("abs_diff", [y]) => whole(x.abs_diff(*y)),
        ("isqrt", []) => x.checked_isqrt(),
        ("ilog2", []) => x.checked_ilog2().map(i128::from),
        _ => return None,
    })
}

impl Eval<'_, '_> {
    /// `data.len()`, `n.div_ceil(16)`.
    pub(super) fn method(
        &mut self,
        w: &Written,
        call: &syn::ExprMethodCall,
        ty: Scalar,
    ) -> Result<i128> {
        let name = call.method.to_string();
        if matches!(&*name, "len" | "rows" | "cols") && call.args.is_empty() {
            return self.size(w, call);
        }
        let x = self.int(&w.sub(&call.receiver), ty)?;
        let args = call.args.iter().map(|arg| self.int(&w.sub(arg), ty));
        let args: Vec<i128> = args.collect::<Result<_>>()?;
        match of_number(&name, x, &args) {
            Some(Some(value)) => Ok(value),
            Some(None) => Err(w
                .problem(
                    format!("{}: `{}` has no value", self.what, w.shown()),
                    "here",
                )
                .into()),
            None => Err(w
                .problem(
                    format!("{}: `{name}` cannot be asked of a number so", self.what),
                    "here",
                )
                .help(format!(
                    "there are {METHODS}, and `len`, `rows` and `cols` of buffers"
                ))
                .into()),
        }
    }

    /// `n as usize`: what fits, as it is.
    pub(super) fn cast(&mut self, w: &Written, cast: &syn::ExprCast, ty: Scalar) -> Result<i128> {
        let number = self.int(&w.sub(&cast.expr), ty)?;
        let to = match &*cast.ty {
            syn::Type::Path(p) => p.path.get_ident().map(ToString::to_string),
            _ => None,
        };
        let whole = |s: &Scalar| !s.is_float() && !matches!(s, Scalar::Bool | Scalar::Ptr);
        let Some(to) = to.and_then(|name| Scalar::from_name(&name)).filter(whole) else {
            let message = format!("{}: only whole numbers are cast here", self.what);
            return Err(w.problem(message, "to what?").into());
        };
        self.fitting(w, number, to)
    }

    /// The same number, if the type has it.
    pub(super) fn fitting(&self, w: &Written, number: i128, ty: Scalar) -> Result<i128> {
        let (least, most) = bounds(ty);
        if (least..=most).contains(&number) {
            return Ok(number);
        }
        let message = format!("{}: {number} is no `{ty}`", self.what);
        let problem = w.problem(message, "out of range");
        Err(problem
            .help(format!("a `{ty}` is from {least} to {most}"))
            .into())
    }

    /// `data.len()`, `m.rows()`, `m.cols()`.
    fn size(&self, w: &Written, call: &syn::ExprMethodCall) -> Result<i128> {
        let name = name_of(&call.receiver).unwrap_or_default();
        let Some(shape) = self.scope.shapes.get(&name) else {
            let problem = w.problem(
                format!(
                    "{}: there is no buffer `{name}` to ask for its size",
                    self.what
                ),
                "no such buffer",
            );
            return Err(problem
                .meant(&name, self.scope.shapes.keys().map(String::as_str))
                .into());
        };
        let dimension = |i: usize| shape.get(i).copied().filter(|_| shape.len() == 2);
        let size = match call.method.to_string().as_str() {
            "len" => Some(shape.iter().product()),
            "rows" => dimension(0),
            "cols" => dimension(1),
            _ => None,
        };
        let wrong = || {
            w.problem(
                format!(
                    "{}: `{}` cannot be asked of a buffer of shape {shape:?}",
                    self.what, call.method
                ),
                "here",
            )
        };
        size.map(i128::from).ok_or_else(|| {
            wrong()
                .help("there are `len`, and `rows` and `cols` of what has two dimensions")
                .into()
        })
    }
}
