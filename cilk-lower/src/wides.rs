//! Constants of integers of 128 bits, whose halves are computed with by functions that no constant calls: what is written of numbers, operators and other
//! constants is computed here.

use crate::{
    consts,
    items::{Item, Module},
};
use millstream_graph::ty::Type;
use syn::spanned::Spanned;

/// The memory of such a constant, if the type is one of these and the value is made of what is known here.
pub(crate) fn value(m: &mut Module, e: &syn::Expr, ty: &Type) -> Option<Vec<u8>> {
    let signed = sign(m, ty)?;
    let value = Wide { m, signed }.of(e)?;
    Some(value.to_le_bytes().to_vec())
}

/// Whether a type of two halves has a sign.
fn sign(m: &Module, ty: &Type) -> Option<bool> {
    match ty {
        Type::Struct(id) => m.structs[*id].wide(),
        _ => None,
    }
}

/// Computes with numbers of one type, by their bits.
struct Wide<'m> {
    m: &'m mut Module,
    signed: bool,
}

impl Wide<'_> {
    fn of(&mut self, e: &syn::Expr) -> Option<u128> {
        match e {
            syn::Expr::Paren(p) => self.of(&p.expr),
            syn::Expr::Group(g) => self.of(&g.expr),
            syn::Expr::Lit(l) => match &l.lit {
                syn::Lit::Int(i) => i.base10_parse().ok(),
                _ => None,
            },
            syn::Expr::Unary(u) => {
                let x = self.of(&u.expr)?;
                match u.op {
                    syn::UnOp::Neg(_) if self.signed => Some(x.wrapping_neg()),
                    syn::UnOp::Not(_) => Some(!x),
                    _ => None,
                }
            }
            syn::Expr::Cast(c) => {
                let to = match &*c.ty {
                    syn::Type::Path(p) => p.path.get_ident()?.to_string(),
                    _ => return None,
                };
                if to != "u128" && to != "i128" {
                    return None;
                }
                let of = Wide {
                    m: &mut *self.m,
                    signed: to == "i128",
                };
                of.cast(&c.expr)
            }
            syn::Expr::Path(p) => self.named(&p.path),
            syn::Expr::Binary(b) => {
                let (x, y) = (self.of(&b.left)?, self.of(&b.right)?);
                self.binary(&b.op, x, y)
            }
            syn::Expr::MethodCall(m) if m.method == "pow" && m.args.len() == 1 => {
                let (x, by) = (self.of(&m.receiver)?, self.of(&m.args[0])?);
                let by = u32::try_from(by).ok()?;
                match self.signed {
                    true => x.cast_signed().checked_pow(by).map(i128::cast_unsigned),
                    false => x.checked_pow(by),
                }
            }
            _ => None,
        }
    }

    /// What goes beyond the type is none, as in Rust.
    fn binary(&self, op: &syn::BinOp, x: u128, y: u128) -> Option<u128> {
        use syn::BinOp::{Add, BitAnd, BitOr, BitXor, Div, Mul, Rem, Shl, Shr, Sub};
        let by = u32::try_from(y).ok().filter(|by| *by < 128);
        match op {
            BitAnd(_) => return Some(x & y),
            BitOr(_) => return Some(x | y),
            BitXor(_) => return Some(x ^ y),
            Shl(_) => return Some(x << by?),
            _ => {}
        }
        if !self.signed {
            return match op {
                Add(_) => x.checked_add(y),
                Sub(_) => x.checked_sub(y),
                Mul(_) => x.checked_mul(y),
                Div(_) => x.checked_div(y),
                Rem(_) => x.checked_rem(y),
                Shr(_) => Some(x >> by?),
                _ => None,
            };
        }
        let (x, y) = (x.cast_signed(), y.cast_signed());
        let value = match op {
            Add(_) => x.checked_add(y),
            Sub(_) => x.checked_sub(y),
            Mul(_) => x.checked_mul(y),
            Div(_) => x.checked_div(y),
            Rem(_) => x.checked_rem(y),
            Shr(_) => Some(x >> by?),
            _ => None,
        };
        value.map(i128::cast_unsigned)
    }

    /// Another constant of the type, or its limits.
    fn named(&mut self, path: &syn::Path) -> Option<u128> {
        let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        match (&*names.concat(), self.signed) {
            ("u128MAX", false) => return Some(u128::MAX),
            ("u128MIN", false) => return Some(0),
            ("i128MAX", true) => return Some(i128::MAX.cast_unsigned()),
            ("i128MIN", true) => return Some(i128::MIN.cast_unsigned()),
            _ => {}
        }
        let Some(Item::Const(id)) = self.m.item(path) else {
            return None;
        };
        let (ty, bytes) = consts::value(self.m, id, path.span())?;
        (sign(self.m, &ty)? == self.signed).then_some(())?;
        Some(u128::from_le_bytes(bytes.try_into().ok()?))
    }

    /// What stands before an `as`: a literal, a constant of some integer, or a number of this kind.
    fn cast(mut self, e: &syn::Expr) -> Option<u128> {
        let e = match e {
            syn::Expr::Paren(p) => return self.cast(&p.expr),
            e => e,
        };
        if let syn::Expr::Path(p) = e
            && let Some(Item::Const(id)) = self.m.item(&p.path)
        {
            let (ty, bytes) = consts::value(self.m, id, e.span())?;
            let Some(scalar) = ty.scalar() else {
                sign(self.m, &ty)?;
                return Some(u128::from_le_bytes(bytes.try_into().ok()?));
            };
            if !scalar.is_int() {
                return None;
            }
            let negative = scalar.is_signed() && bytes.last()? >> 7 != 0;
            let mut all = [if negative { 0xff } else { 0 }; 16];
            all.get_mut(..bytes.len())?.copy_from_slice(&bytes);
            return Some(u128::from_le_bytes(all));
        }
        match e {
            // A number that is written has no other type by itself.
            syn::Expr::Lit(_) | syn::Expr::Cast(_) | syn::Expr::Unary(_) => self.of(e),
            _ => None,
        }
    }
}
