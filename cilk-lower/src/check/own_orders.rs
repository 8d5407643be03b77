//! Comparisons by what the program says of Rust's `PartialEq`, `PartialOrd` and `Ord`: of types that have such a block, and of what holds such types. As in Rust an order goes on to
//! the next part where the parts' own order calls them equal, whatever `==` says of them.
//!
//! On the way an order is a number: -1, 0, 1, or [`NONE`].

use super::{
    Binding, Checker,
    chains::own,
    sums::{self, Sum},
};
use crate::{
    hir::{Expr, ExprKind, Pat, Stmt},
    library::Of,
    ty::{BOOL, Ty},
};
use millstream_graph::{
    ir::{BinOp, UnOp},
    ty::{Scalar, StructId, Structs, Type, Variant},
};
use proc_macro2::Span;

/// The number of what has no order.
const NONE: u128 = 2;

const I8: Ty = Ty::Scalar(Scalar::I8);

/// The method of a comparison.
pub(super) const fn method(op: BinOp) -> Option<&'static str> {
    Some(match op {
        BinOp::Eq => "eq",
        BinOp::Ne => "ne",
        BinOp::Lt => "lt",
        BinOp::Le => "le",
        BinOp::Gt => "gt",
        BinOp::Ge => "ge",
        _ => return None,
    })
}

/// The comparison of a method.
pub(super) fn comparison(method: &str) -> Option<BinOp> {
    use BinOp::{Eq, Ge, Gt, Le, Lt, Ne};
    let all = [Eq, Ne, Lt, Le, Gt, Ge];
    all.into_iter().find(|op| self::method(*op) == Some(method))
}

/// The method that a comparison asks.
const fn asked(op: BinOp) -> &'static str {
    match op {
        BinOp::Eq | BinOp::Ne => "eq",
        _ => "partial_cmp",
    }
}

fn number(value: u128, span: Span) -> Expr {
    Expr::new(ExprKind::Int(value), I8, span)
}

fn test(op: BinOp, a: Expr, b: Expr) -> Expr {
    let span = a.span;
    Expr::new(ExprKind::RawBinary(op, a, b), BOOL, span)
}

fn not(value: Expr) -> Expr {
    let span = value.span;
    Expr::new(ExprKind::RawUnary(UnOp::Not, value), BOOL, span)
}

fn choose(cond: Expr, then: Expr, other: Expr) -> Expr {
    let (ty, span) = (then.ty.clone(), then.span);
    Expr::new(ExprKind::If(cond, then, Some(other)), ty, span)
}

fn lazy(and: bool, left: Expr, right: Expr) -> Expr {
    let span = left.span;
    Expr::new(ExprKind::Lazy { and, left, right }, BOOL, span)
}

impl Checker<'_> {
    /// A comparison of values of which a block of the program says what it is. They need not be of one type.
    pub(super) fn compared_by_own(
        &mut self,
        op: BinOp,
        left: &Expr,
        right: &Expr,
        span: Span,
    ) -> Option<Expr> {
        if let Some(call) = method(op).and_then(|name| self.overloaded(name, &[left, right], span))
        {
            return Some(call);
        }
        let by = self.overloaded(asked(op), &[left, right], span)?;
        Some(self.answer(op, by))
    }

    /// The same of values of one type that hold such ones; none if they hold none.
    pub(super) fn compared_in_parts(
        &mut self,
        op: BinOp,
        left: &Expr,
        right: &Expr,
    ) -> Option<Expr> {
        let equality = matches!(op, BinOp::Eq | BinOp::Ne);
        let is_asked = self.has_own(asked(op), &left.ty);
        if !is_asked && (!equality || !self.holds_shared(&left.ty)) {
            return None;
        }
        let span = left.span;
        let ([left, right], stmts) = self.named([left.clone(), right.clone()]);
        let value = match op {
            BinOp::Eq => self.same_by_own(left, right),
            BinOp::Ne => not(self.same_by_own(left, right)),
            _ => {
                let sign = self.sign("partial_cmp", left, right);
                self.told(op, sign)
            }
        };
        Some(Expr::new(ExprKind::Block(stmts, Some(value)), BOOL, span))
    }

    /// What a comparison is, by what `eq` or `partial_cmp` gave.
    fn answer(&mut self, op: BinOp, by: Expr) -> Expr {
        match op {
            BinOp::Eq => self.coerce(by, &BOOL),
            BinOp::Ne => not(self.coerce(by, &BOOL)),
            _ => {
                let sign = self.sign_of("partial_cmp", by);
                self.told(op, sign)
            }
        }
    }

    /// Whether the order that a number stands for is that of a comparison.
    fn told(&mut self, op: BinOp, sign: Expr) -> Expr {
        let span = sign.span;
        let zero = number(0, span);
        match op {
            BinOp::Gt => test(BinOp::Eq, sign, number(1, span)),
            BinOp::Ge => {
                let byte = Ty::Scalar(Scalar::U8);
                let none = Expr::new(ExprKind::Int(NONE), byte.clone(), span);
                test(BinOp::Lt, Expr::new(ExprKind::Cast(sign), byte, span), none)
            }
            op => test(op, sign, zero),
        }
    }

    /// Whether a function of the program says how values of a type are compared by that method, or parts of them.
    pub(super) fn has_own(&mut self, method: &str, ty: &Ty) -> bool {
        let is_named = |name: &str| name == method;
        if !self.m.operators.iter().any(|(name, _)| is_named(name))
            && !self
                .m
                .members
                .iter()
                .any(|m| m.by.is_some() && is_named(&m.name))
        {
            return false;
        }
        match self.shallow(ty) {
            Ty::Array(elem, _) | Ty::Slice { elem, .. } => self.has_own(method, &elem),
            Ty::Ref { target, .. } => self.has_own(method, &target),
            ty => {
                self.operator(method, &[&ty, &ty], &[]).is_some()
                    || self.kind.is_none() && self.is_noted(method, &ty)
                    || self
                        .parts_of(&ty)
                        .iter()
                        .any(|part| self.has_own(method, part))
            }
        }
    }

    /// Whether values of a type are, or hold, structs or enums that hold what they share, which is compared as what it refers to. Not if a type is reached
    /// from itself so: that takes a function.
    fn holds_shared(&self, ty: &Ty) -> bool {
        let Some(ty) = self.closed(ty) else {
            return false;
        };
        let structs = &self.m.structs;
        has_borrowing(&ty, structs) && has_end(&ty, structs, &mut Vec::new())
    }

    /// Whether a type has a block with that method, be it known yet what that takes or not.
    pub(super) fn is_noted(&self, method: &str, ty: &Ty) -> bool {
        let of = match method {
            "eq" => "PartialEq",
            "partial_cmp" | "cmp" => order_of(method),
            _ => return false,
        };
        matches!(self.shallow(ty), Ty::Struct(id) if self.m.writes_order(id, of))
    }

    /// `a.cmp(&b)` or `a.partial_cmp(&b)` of such values of one type.
    pub(super) fn ordered_by_own(&mut self, method: &str, left: Expr, right: Expr) -> Expr {
        let span = left.span;
        let ([left, right], mut stmts) = self.named([left, right]);
        let sign = self.sign(method, left, right);
        let sign = self.once(sign, &mut stmts);
        let id = self.m.ordering();
        let mut value = Expr::structure(id, vec![(0, sign.clone())], span);
        if method == "partial_cmp" {
            let has = test(BinOp::Ne, sign, number(NONE, span));
            let ty = Ty::option(value.ty.clone());
            let none = self.none_of(&value.ty.clone(), span);
            let some = Expr::new(ExprKind::Bool(true), BOOL, span);
            let some = Expr::new(ExprKind::Tuple(vec![some, value]), ty, span);
            value = choose(has, some, none);
        }
        let ty = value.ty.clone();
        Expr::new(ExprKind::Block(stmts, Some(value)), ty, span)
    }

    /// A value as a variable that is declared there.
    fn once(&mut self, value: Expr, stmts: &mut Vec<Stmt>) -> Expr {
        let (ty, span) = (value.ty.clone(), value.span);
        let var = self.add_var("ordered", ty.clone());
        stmts.push(Stmt::Let(Pat::Var(var), Some(value)));
        Expr::new(ExprKind::Var(var), ty, span)
    }

    /// The order of two places, by `cmp` or `partial_cmp`.
    fn sign(&mut self, method: &str, left: Expr, right: Expr) -> Expr {
        let (left, right) = (self.behind_refs(left), self.behind_refs(right));
        let span = left.span;
        if let Some(call) = self.overloaded(method, &[&left, &right], span) {
            return self.sign_of(method, call);
        }
        let field = |of: &Expr, i: usize, ty: &Ty| {
            Expr::new(ExprKind::Field(of.clone(), i), ty.clone(), span)
        };
        let ty = self.shallow(&left.ty);
        let parts = self.parts_of(&ty);
        match ty {
            Ty::Array(..) | Ty::Slice { .. } => {
                let call = self.elements_compared(method, left, right);
                self.sign_of(method, call)
            }
            Ty::Struct(id) if !self.m.derives_order(id, order_of(method)) => {
                let (shown, of) = (self.show(&ty), order_of(method));
                self.refuse(
                    span,
                    format!("`{shown}` does not have `{of}`"),
                    format!("derive it, or write `impl {of} for {shown} {{ .. }}`"),
                )
            }
            Ty::Tuple(_) | Ty::Struct(_) | Ty::Option(_) | Ty::Result(..) => {
                let variants = self.variants_with_data(&ty);
                let Some((variants, kind)) = variants else {
                    let all = 0..parts.len();
                    let parts: Vec<_> = all
                        .map(|i| (field(&left, i, &parts[i]), field(&right, i, &parts[i])))
                        .collect();
                    return self.sign_of_parts(method, parts, span);
                };
                let [a, b] = [&left, &right].map(|of| field(of, 0, &kind));
                // `Ok` comes before `Err`, and has the greater number.
                let numbers = match ty {
                    Ty::Result(..) => (b, a.clone()),
                    _ => (a.clone(), b),
                };
                let mut rest = number(0, span);
                for variant in variants.iter().rev() {
                    let fields = variant.fields.clone();
                    let parts: Vec<_> = fields
                        .map(|i| (field(&left, i, &parts[i]), field(&right, i, &parts[i])))
                        .collect();
                    let data = self.sign_of_parts(method, parts, span);
                    rest = choose(Self::is_variant(&a, variant.number), data, rest);
                }
                let first = self.sign(method, numbers.0, numbers.1);
                self.first_of(first, rest)
            }
            _ => {
                let [above, below] = [BinOp::Gt, BinOp::Lt].map(|op| {
                    let kind = ExprKind::Binary(op, left.clone(), right.clone());
                    Expr::new(ExprKind::Cast(Expr::new(kind, BOOL, span)), I8, span)
                });
                let sign = Expr::new(ExprKind::RawBinary(BinOp::Sub, above, below), I8, span);
                if !self.has_floats(&left.ty) {
                    return sign;
                }
                let [none, same] = [BinOp::Ne, BinOp::Eq].map(|op| {
                    let sides = match op {
                        BinOp::Ne => (left.clone(), left.clone()),
                        _ => (right.clone(), right.clone()),
                    };
                    Expr::new(ExprKind::Binary(op, sides.0, sides.1), BOOL, span)
                });
                let none = lazy(false, none, not(same));
                choose(none, number(NONE, span), sign)
            }
        }
    }

    /// The order of the first parts that have one and are not equal in it.
    fn sign_of_parts(&mut self, method: &str, parts: Vec<(Expr, Expr)>, span: Span) -> Expr {
        let mut rest = None;
        for (left, right) in parts.into_iter().rev() {
            let sign = self.sign(method, left, right);
            rest = Some(match rest {
                Some(rest) => self.first_of(sign, rest),
                None => sign,
            });
        }
        rest.unwrap_or_else(|| number(0, span))
    }

    fn first_of(&mut self, first: Expr, rest: Expr) -> Expr {
        let (span, mut stmts) = (first.span, Vec::new());
        let first = self.once(first, &mut stmts);
        let equal = test(BinOp::Eq, first.clone(), number(0, span));
        let value = choose(equal, rest, first);
        Expr::new(ExprKind::Block(stmts, Some(value)), I8, span)
    }

    /// The number for what `cmp` or `partial_cmp` gave.
    fn sign_of(&mut self, method: &str, call: Expr) -> Expr {
        let span = call.span;
        let ordering = Ty::Struct(self.m.ordering());
        let number_of = |of| Expr::new(ExprKind::Field(of, 0), I8, span);
        if method == "cmp" {
            return number_of(self.coerce(call, &ordering));
        }
        let mut stmts = Vec::new();
        let call = self.coerce(call, &Ty::option(ordering.clone()));
        let call = self.once(call, &mut stmts);
        let has = Expr::new(ExprKind::Field(call.clone(), 0), BOOL, span);
        let some = Expr::new(ExprKind::Field(call, 1), ordering, span);
        let value = choose(has, number_of(some), number(NONE, span));
        Expr::new(ExprKind::Block(stmts, Some(value)), I8, span)
    }

    /// Whether two places are equal. Parts are asked in their order, and those behind one that differs are not.
    fn same_by_own(&mut self, left: Expr, right: Expr) -> Expr {
        let (left, right) = (self.behind_refs(left), self.behind_refs(right));
        let span = left.span;
        if let Some(call) = self.overloaded("eq", &[&left, &right], span) {
            return self.coerce(call, &BOOL);
        }
        let ty = self.shallow(&left.ty);
        if !self.has_own("eq", &ty) && !self.holds_shared(&ty) {
            return self.same_parts(left, right);
        }
        if let Ty::Array(..) | Ty::Slice { .. } = ty {
            return self.elements_compared("eq", left, right);
        }
        let parts = self.parts_of(&ty);
        let field =
            |of: &Expr, i: usize| Expr::new(ExprKind::Field(of.clone(), i), parts[i].clone(), span);
        let all_same = |c: &mut Self, of: std::ops::Range<usize>| {
            let mut all: Option<Expr> = None;
            for i in of {
                let same = c.same_by_own(field(&left, i), field(&right, i));
                all = Some(match all {
                    Some(all) => lazy(true, all, same),
                    None => same,
                });
            }
            all.unwrap_or_else(|| Expr::new(ExprKind::Bool(true), BOOL, span))
        };
        let Some((variants, _)) = self.variants_with_data(&ty) else {
            return all_same(self, 0..parts.len());
        };
        let mut all = all_same(self, 0..1);
        for variant in variants {
            let data = all_same(self, variant.fields.clone());
            let other = not(Self::is_variant(&field(&left, 0), variant.number));
            all = lazy(true, all, lazy(false, other, data));
        }
        all
    }

    /// The variants of a type that have data, and the type of their numbers; none if it has no variants.
    fn variants_with_data(&self, ty: &Ty) -> Option<(Vec<Variant>, Ty)> {
        let variants = self.variants(Sum::of(ty, self)?).into_iter();
        let kind = self.parts_of(ty).into_iter().next()?;
        Some((variants.filter(|v| !v.fields.is_empty()).collect(), kind))
    }

    /// Whether a variant's number is that.
    fn is_variant(of: &Expr, bits: u64) -> Expr {
        match of.ty {
            Ty::Scalar(Scalar::Bool) if bits == 0 => not(of.clone()),
            Ty::Scalar(Scalar::Bool) => of.clone(),
            _ => {
                let bits = sums::number(&of.ty, bits, of.span);
                test(BinOp::Eq, of.clone(), bits)
            }
        }
    }

    /// Two arrays or slices by a method of the library.
    pub(super) fn elements_compared(&mut self, name: &str, left: Expr, right: Expr) -> Expr {
        let span = left.span;
        let ([left, right], stmts) = self.named([left, right]);
        let (Some((slice, _)), Some((other, _)), Some(id)) = (
            self.as_slice(left, false),
            self.as_slice(right, false),
            self.m.library(Of::Slice, name),
        ) else {
            return Self::broken(span);
        };
        let value = self.scoped(|c| {
            let name = own("other", span);
            c.bind(&name.to_string(), Binding::Place(other));
            let other = syn::parse_quote_spanned!(span=> #name);
            c.call_library(id, slice, &[&other], None, span)
        });
        let ty = value.ty.clone();
        Expr::new(ExprKind::Block(stmts, Some(value)), ty, span)
    }
}

/// Whether a type is, or has as a part, a struct or enum that holds references.
fn has_borrowing(ty: &Type, structs: &Structs) -> bool {
    match ty {
        Type::Struct(_) => ty.has_addresses(structs),
        Type::Tuple(_) | Type::Option(_) | Type::Result(..) => {
            let fields = ty.fields(structs);
            fields
                .iter()
                .any(|(field, _)| has_borrowing(field, structs))
        }
        _ => false,
    }
}

/// Whether values of a type are compared by what their parts refer to, and that has an end.
fn has_end(ty: &Type, structs: &Structs, around: &mut Vec<StructId>) -> bool {
    match ty {
        Type::Scalar(_) => true,
        Type::Slice { elem, .. } | Type::Array(elem, _) => !elem.has_addresses(structs),
        Type::Ref { target, .. } => has_end(target, structs, around),
        Type::Struct(id) if around.contains(id) || structs[*id].is_function() => false,
        Type::Tuple(_) | Type::Option(_) | Type::Result(..) | Type::Struct(_) => {
            let depth = around.len();
            if let Type::Struct(id) = ty {
                around.push(*id);
            }
            let fields = ty.fields(structs);
            let all = fields.iter().all(|(of, _)| has_end(of, structs, around));
            around.truncate(depth);
            all
        }
        Type::Mat { .. } | Type::Channel(_) | Type::Atomic(_) => false,
    }
}

/// The trait of a method that orders.
fn order_of(method: &str) -> &'static str {
    match method {
        "cmp" => "Ord",
        _ => "PartialOrd",
    }
}
