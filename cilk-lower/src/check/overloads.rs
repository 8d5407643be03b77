//! What a program's own types do by Rust's traits: operators that it writes an `impl` of, and the order that it derives, which tuples have by themselves.

use super::{Checker, own_orders};
use crate::{
    generics::{Bound, Known},
    hir::{Expr, ExprKind, FnId, Pat, Stmt},
    ty::{BOOL, Class, Ty},
};
use millstream_graph::{ir::BinOp, ty::Type};
use proc_macro2::Span;
use syn::{Token, parse_quote_spanned};

/// The method of an operator's trait.
pub(super) const fn method(op: BinOp) -> Option<&'static str> {
    Some(match op {
        BinOp::Add => "add",
        BinOp::Sub => "sub",
        BinOp::Mul => "mul",
        BinOp::Div => "div",
        BinOp::Rem => "rem",
        BinOp::And => "bitand",
        BinOp::Or => "bitor",
        BinOp::Xor => "bitxor",
        BinOp::Shl => "shl",
        BinOp::Shr => "shr",
        _ => return None,
    })
}

/// The trait of an operator's method.
fn trait_of(method: &str) -> &'static str {
    match method {
        "add" => "Add",
        "sub" => "Sub",
        "mul" => "Mul",
        "div" => "Div",
        "rem" => "Rem",
        "bitand" => "BitAnd",
        "bitor" => "BitOr",
        "bitxor" => "BitXor",
        "shl" => "Shl",
        "shr" => "Shr",
        "neg" => "Neg",
        _ => "Not",
    }
}

/// What an operator's function is of these, as `Mul::mul(a, b)` is `a * b`; none if it is no such function.
pub(super) fn by_name(of: &str, name: &str, args: &[&syn::Expr], span: Span) -> Option<syn::Expr> {
    let known = of == trait_of(name) && (name == "not") == (of == "Not");
    let op: syn::BinOp = match (name, args) {
        _ if !known => return None,
        ("neg", [a]) => return Some(parse_quote_spanned!(span=> -(#a))),
        ("not", [a]) => return Some(parse_quote_spanned!(span=> !(#a))),
        ("add", _) => syn::BinOp::Add(Token![+](span)),
        ("sub", _) => syn::BinOp::Sub(Token![-](span)),
        ("mul", _) => syn::BinOp::Mul(Token![*](span)),
        ("div", _) => syn::BinOp::Div(Token![/](span)),
        ("rem", _) => syn::BinOp::Rem(Token![%](span)),
        ("bitand", _) => syn::BinOp::BitAnd(Token![&](span)),
        ("bitor", _) => syn::BinOp::BitOr(Token![|](span)),
        ("bitxor", _) => syn::BinOp::BitXor(Token![^](span)),
        ("shl", _) => syn::BinOp::Shl(Token![<<](span)),
        ("shr", _) => syn::BinOp::Shr(Token![>>](span)),
        _ => return None,
    };
    match args {
        [a, b] => Some(parse_quote_spanned!(span=> (#a) #op (#b))),
        _ => None,
    }
}

/// The operand's type that a bound like `Mul<f32, Output = T>` says, and the output's.
fn operand_and_output(path: &syn::Path) -> (Option<&syn::Type>, Option<&syn::Type>) {
    let args = match path.segments.last().map(|s| &s.arguments) {
        Some(syn::PathArguments::AngleBracketed(args)) => args.args.iter(),
        _ => return (None, None),
    };
    let (mut operand, mut output) = (None, None);
    for arg in args {
        match arg {
            syn::GenericArgument::Type(ty) => operand = Some(ty),
            syn::GenericArgument::AssocType(of) if of.ident == "Output" => output = Some(&of.ty),
            _ => {}
        }
    }
    (operand, output)
}

impl Checker<'_> {
    /// What the source says of an operator's value: what the bound of the left operand says.
    pub(super) fn output_said(
        &mut self,
        mut value: Expr,
        method: Option<&str>,
        left: &Expr,
        right: Option<&Expr>,
    ) -> Expr {
        let (Some(method), true) = (method, self.has_bounds(&left.ty)) else {
            return value;
        };
        let (Some(known), Some(ret)) = (self.closed(&left.ty), self.closed(&value.ty)) else {
            return value;
        };
        let right = right.and_then(|right| self.closed(&right.ty));
        for bound in self.bounds_of(&left.ty, &known) {
            let Bound::Rusts(path, at) = bound else {
                continue;
            };
            if path
                .segments
                .last()
                .is_none_or(|s| s.ident != trait_of(method))
            {
                continue;
            }
            let this = Known::Type(known.clone());
            let g = self.knowing([("Self".to_owned(), this, Some(left.ty.clone()))]);
            let (operand, output) = operand_and_output(&path);
            let is_other = operand.is_some_and(|ty| {
                let ty = self.there(&at, |c| c.open(ty, &g));
                ty.and_then(|ty| self.closed(&ty)) != right
            });
            if is_other {
                continue;
            }
            value.ty = match output {
                Some(ty) => self.there(&at, |c| c.said(ty, &ret, &g)),
                None => Ty::from_type(&ret),
            };
            return value;
        }
        value
    }

    /// Has the operators of an operand's type read that have this name: whether it is a type of the program, and there are such.
    fn read_operators(&mut self, method: &str, ty: &Ty) -> bool {
        let ty = match self.shallow(ty) {
            Ty::Ref { target, .. } => self.shallow(&target),
            ty => ty,
        };
        let Ty::Struct(id) = ty else {
            return false;
        };
        self.m.operators_of(id, method);
        self.m.operators.iter().any(|(name, _)| name == method)
    }

    /// The function of the program that a method of one of Rust's traits is for these operands, if there is one; of several that which takes references where these are.
    pub(super) fn operator(
        &mut self,
        method: &str,
        operands: &[&Ty],
        lent: &[bool],
    ) -> Option<FnId> {
        for ty in operands {
            self.read_operators(method, ty);
        }
        if let [left, right] = operands
            && let Ty::Struct(id) = self.shallow(left)
            && let Some(right) = self.closed(right)
        {
            self.m.operators_beside(id, method, &right);
        }
        let fits = |id: &FnId| {
            // Constants are read before it is known what functions take.
            let Some(item) = self.m.fns.get(id.0) else {
                return false;
            };
            let params = &item.params;
            params.len() == operands.len()
                && params
                    .iter()
                    .zip(operands)
                    .all(|((_, of), ty)| self.is_type(ty, of))
        };
        let others = |id: &FnId| {
            let takes = self.m.fns[id.0].params.iter().zip(lent);
            let other = takes.filter(|((_, ty), lent)| matches!(ty, Type::Ref { .. }) != **lent);
            other.count()
        };
        let named = self.m.operators.iter().filter(|(name, _)| name == method);
        let fitting = named.map(|(_, id)| *id).filter(fits);
        fitting.min_by_key(others)
    }

    /// Whether what an operator is for stands behind a reference.
    pub(super) fn is_reference(&self, e: &Expr) -> bool {
        matches!(self.shallow(&e.ty), Ty::Ref { .. })
    }

    /// The call that an operator is for these operands, if the program says so.
    pub(super) fn overloaded(&mut self, method: &str, args: &[&Expr], span: Span) -> Option<Expr> {
        let lent: Vec<bool> = args.iter().map(|arg| self.is_reference(arg)).collect();
        self.overloaded_by(method, args, &lent, span)
    }

    /// The same of values which were lent, or were not.
    pub(super) fn overloaded_by(
        &mut self,
        method: &str,
        args: &[&Expr],
        lent: &[bool],
        span: Span,
    ) -> Option<Expr> {
        let operands: Vec<&Ty> = args.iter().map(|arg| &arg.ty).collect();
        // No operator of a program is `const`, and constants are known before functions are.
        if self.kind.is_none() {
            let own = |ty: &&Ty| self.read_operators(method, ty) || self.is_noted(method, ty);
            let refused = operands.iter().any(own);
            let of_halves = operands.iter().any(|ty| self.wide_sign(ty).is_some());
            return refused.then(|| match of_halves {
                true => self.refuse(
                    span,
                    "a constant does not compute with `u128` or `i128`",
                    "write out what it comes to, or compute it in a helper",
                ),
                false => self.refuse_in_constant(span),
            });
        }
        let id = self.operator(method, &operands, lent)?;
        let item = self.m.fns[id.0].clone();
        let args = args.iter().zip(&item.params).map(|(arg, (_, ty))| {
            let arg = match ty {
                Type::Ref { mutable, .. } => self.borrow((*arg).clone(), *mutable, span),
                _ => (*arg).clone(),
            };
            self.coerce(arg, &Ty::from_type(ty))
        });
        let args = args.collect();
        Some(Expr::new(
            ExprKind::Call(id, args),
            Ty::from_type(&item.ret),
            span,
        ))
    }

    /// An operator by its name, `a.add(b)`.
    pub(super) fn operator_named(
        &mut self,
        name: &str,
        receiver: &Expr,
        args: &[&syn::Expr],
        span: Span,
    ) -> Option<Expr> {
        let left = self.behind_refs(receiver.clone());
        if let Ty::Struct(id) = self.shallow(&left.ty) {
            self.m.operators_of(id, name);
        }
        if !self.m.operators.iter().any(|(n, _)| n == name) {
            return None;
        }
        let mut lent = vec![self.is_reference(receiver)];
        let mut types = Vec::new();
        for arg in args {
            let ty = self.type_ahead(arg);
            lent.push(matches!(ty, Ty::Ref { .. }));
            types.push(match ty {
                Ty::Ref { target, .. } => *target,
                ty => ty,
            });
        }
        let operands: Vec<&Ty> = [&left.ty].into_iter().chain(&types).collect();
        self.operator(name, &operands, &lent)?;
        let args: Vec<Expr> = args
            .iter()
            .map(|arg| {
                let arg = self.expr(arg, None);
                self.behind_refs(arg)
            })
            .collect();
        let args: Vec<&Expr> = [&left].into_iter().chain(&args).collect();
        self.overloaded_by(name, &args, &lent, span)
    }

    /// Whether an operand is of that type, or of what it refers to.
    pub(super) fn is_type(&self, arg: &Ty, ty: &Type) -> bool {
        let ty = match Ty::from_type(ty) {
            Ty::Ref { target, .. } => *target,
            ty => ty,
        };
        match (self.shallow(arg), ty) {
            (Ty::Var(v), Ty::Scalar(s)) => match self.table.class(v) {
                Class::Any => false,
                Class::Int => s.is_int(),
                Class::Float => s.is_float(),
            },
            (a, b) => self.table.resolve(&a) == b,
        }
    }

    /// The parts that are compared one after another where values of that type are.
    pub(super) fn ordered_parts(&self, ty: &Ty) -> Option<Vec<Ty>> {
        match self.shallow(ty) {
            Ty::Tuple(types) if !types.is_empty() => Some(types),
            Ty::Option(some) => Some(vec![BOOL, *some]),
            Ty::Result(ok, err) => Some(vec![BOOL, *ok, *err]),
            Ty::Struct(id) if self.m.derives_order(id, "PartialOrd") => {
                let fields = &self.m.structs[id].fields;
                (!fields.is_empty()).then(|| fields.iter().map(|(_, t)| Ty::from_type(t)).collect())
            }
            _ => None,
        }
    }

    /// A comparison of two values of several parts: that of the first which are not equal. None if they have no such order.
    pub(super) fn ordered(&mut self, op: BinOp, left: &Expr, right: &Expr) -> Option<Expr> {
        if let Some(own) = self.compared_in_parts(op, left, right) {
            return Some(own);
        }
        self.ordered_parts(&left.ty)?;
        let span = left.span;
        let ([left, right], stmts) = self.named([left.clone(), right.clone()]);
        let ordered = self.by_parts(op, &left, &right);
        Some(Expr::new(ExprKind::Block(stmts, Some(ordered)), BOOL, span))
    }

    /// `a.max(b)`, or `min`, of these.
    pub(super) fn greater(&mut self, name: &str, left: Expr, right: Expr) -> Option<Expr> {
        let (ty, span) = (left.ty.clone(), left.span);
        if let Some(own) = self.overloaded(name, &[&left, &right], span) {
            return Some(own);
        }
        let ([left, right], stmts) = self.named([left, right]);
        let greater = match self.compared_by_own(BinOp::Gt, &left, &right, span) {
            Some(own) => own,
            None if matches!(self.shallow(&ty), Ty::Array(..)) => {
                self.comparison(BinOp::Gt, left.clone(), right.clone(), span, span)
            }
            None => self.ordered(BinOp::Gt, &left, &right)?,
        };
        let (then, other) = match name {
            "max" => (left, right),
            _ => (right, left),
        };
        let value = Expr::new(ExprKind::If(greater, then, Some(other)), ty.clone(), span);
        Some(Expr::new(ExprKind::Block(stmts, Some(value)), ty, span))
    }

    /// Values as variables, which may be read more than once.
    pub(super) fn named(&mut self, values: [Expr; 2]) -> ([Expr; 2], Vec<Stmt>) {
        let mut stmts = Vec::new();
        let named = values.map(|value| {
            let (ty, span) = (value.ty.clone(), value.span);
            let var = self.add_var("ordered", ty.clone());
            stmts.push(Stmt::Let(Pat::Var(var), Some(value)));
            Expr::new(ExprKind::Var(var), ty, span)
        });
        (named, stmts)
    }

    pub(super) fn by_parts(&mut self, op: BinOp, left: &Expr, right: &Expr) -> Expr {
        let span = left.span;
        if let (Ty::Array(..), Some(name)) = (self.shallow(&left.ty), own_orders::method(op)) {
            return self.elements_compared(name, left.clone(), right.clone());
        }
        let Some(parts) = self.ordered_parts(&left.ty) else {
            return Expr::new(
                ExprKind::Binary(op, left.clone(), right.clone()),
                BOOL,
                span,
            );
        };
        let strict = match op {
            BinOp::Le => BinOp::Lt,
            BinOp::Ge => BinOp::Gt,
            strict => strict,
        };
        let lazy = |and, left, right| Expr::new(ExprKind::Lazy { and, left, right }, BOOL, span);
        let mut rest: Option<Expr> = None;
        for (i, ty) in parts.into_iter().enumerate().rev() {
            // `Ok` comes before `Err`, and has the greater number.
            let turned = i == 0 && matches!(self.shallow(&left.ty), Ty::Result(..));
            let sides = if turned { [right, left] } else { [left, right] };
            let [a, b] = sides.map(|side| {
                let part = Expr::new(ExprKind::Field(side.clone(), i), ty.clone(), span);
                self.behind_refs(part)
            });
            rest = Some(match rest {
                None => self.by_parts(op, &a, &b),
                Some(rest) => {
                    let first = self.by_parts(strict, &a, &b);
                    let same = self.same_parts(a, b);
                    lazy(false, first, lazy(true, same, rest))
                }
            });
        }
        rest.unwrap_or_else(|| Self::broken(span))
    }

    /// Whether two values are equal.
    pub(super) fn same_parts(&mut self, left: Expr, right: Expr) -> Expr {
        let (span, equal) = (left.span, true);
        let kind = match self.shallow(&left.ty) {
            Ty::Scalar(_) | Ty::Var(_) => ExprKind::Binary(BinOp::Eq, left, right),
            _ => ExprKind::SameFields { equal, left, right },
        };
        Expr::new(kind, BOOL, span)
    }
}
