//! Methods of slices, arrays, matrix views and atomics.

use super::{
    Checker, nearest,
    tries::{AS_ARRAY, AS_ARRAYS},
};
use crate::{
    generics::TemplateId,
    hir::{Builtin, Expr, ExprKind},
    library::{Of, is_nowhere},
    ty::{BOOL, Ty, USIZE},
};
use millstream_graph::{
    ir::{AtomicOp, Order},
    ty::Scalar,
};
use proc_macro2::Span;
use syn::{PathArguments, spanned::Spanned};

const SLICE_METHODS: &[&str] = &[
    "len",
    "is_empty",
    "split_at",
    "split_at_mut",
    "swap",
    "fill",
    "copy_from_slice",
    "clone_from_slice",
    "reverse",
    "rotate_left",
    "rotate_right",
    "contains",
    "as_slice",
    "as_mut_slice",
    "as_flattened",
    "as_flattened_mut",
];
/// Those of them that take `&mut self`.
const WRITING_METHODS: &[&str] = &[
    "split_at_mut",
    "swap",
    "fill",
    "copy_from_slice",
    "clone_from_slice",
    "reverse",
    "rotate_left",
    "rotate_right",
    "as_mut_slice",
    "as_flattened_mut",
];
/// What the library calls a method of slices.
fn in_library(name: &str) -> &str {
    match name {
        "sort_by_cached_key" => "sort_by_key",
        name => name,
    }
}

const MAT_METHODS: &[&str] = &[
    "rows",
    "cols",
    "row",
    "row_mut",
    "row_iter",
    "row_iter_mut",
    "quadrants",
    "quadrants_mut",
    "split_rows_at",
    "split_rows_at_mut",
    "split_cols_at",
    "split_cols_at_mut",
    "sub",
    "sub_mut",
    "reborrow",
    "as_mat",
];

impl Checker<'_> {
    pub(super) fn slice_method(
        &mut self,
        receiver: Expr,
        name: &str,
        args: &[&syn::Expr],
        want: Option<&Ty>,
        (at, span): (Span, Span),
    ) -> Expr {
        if let (AS_ARRAY | AS_ARRAYS, [len]) = (name, args) {
            return self.as_array(receiver, len, name == AS_ARRAYS, span);
        }
        let name = match (name, args) {
            ("as_ref", []) => "as_slice",
            ("as_mut", []) => "as_mut_slice",
            _ => name,
        };
        let mutable = WRITING_METHODS.contains(&name);
        let own = name == "contains" && self.has_own("eq", &receiver.ty);
        if own || !SLICE_METHODS.contains(&name) {
            let of_array = match self.shallow(&receiver.ty) {
                Ty::Ref { target, .. } => matches!(self.shallow(&target), Ty::Array(..)),
                ty => matches!(ty, Ty::Array(..)),
            };
            if of_array && let Some(id) = self.m.library(Of::Array, name) {
                let value = match self.takes_reference(id) {
                    Some(mutable) => self.borrow(receiver, mutable, span),
                    None => {
                        let value = self.behind_refs(receiver);
                        Self::copied(value)
                    }
                };
                return self.call_library(id, value, args, want, span);
            }
            if let Some(id) = self.m.library(Of::Slice, in_library(name)) {
                let Some((slice, _)) = self.as_slice(receiver, self.writes(id)) else {
                    return Self::broken(span);
                };
                let (id, args) = self.copied_part(id, name, args);
                let args: Vec<&syn::Expr> = args.iter().collect();
                return self.call_library(id, slice, &args, want, span);
            }
            let help = match name {
                "iter" | "iter_mut" | "into_iter" => {
                    return self.refuse(
                        at,
                        "an iterator stands only in a `for`",
                        "write a loop: `for x in a.iter() { .. }`, or take the slice apart: `while let [x, rest @ ..] = a { .. a = rest; }`",
                    );
                }
                _ if super::iteration::PARTS.contains(&name) => {
                    return self.refuse(
                        at,
                        "an iterator stands only in a `for`",
                        format!("write a loop: `for part in a.{name}(n) {{ .. }}`"),
                    );
                }
                "size" | "length" | "lenght" | "count" => "did you mean `len`?".to_owned(),
                "push" | "pop" | "insert" | "extend" => {
                    "an array has a fixed length: keep a count beside it".to_owned()
                }
                _ => nearest(name, SLICE_METHODS.iter().copied()).map_or_else(
                    || "write a loop over its indices".to_owned(),
                    |n| format!("did you mean `{n}`?"),
                ),
            };
            return self.refuse(at, format!("slices have no method `{name}`"), help);
        }
        let Some((slice, elem)) = self.as_slice(receiver, mutable) else {
            return Self::broken(span);
        };
        let slice_ty = |mutable: bool| Ty::Slice {
            mutable,
            elem: Box::new(elem.clone()),
        };
        let (builtin, ty, wanted) = match name {
            "len" => (Builtin::Len, USIZE, vec![]),
            "is_empty" => (Builtin::IsEmpty, BOOL, vec![]),
            "split_at" | "split_at_mut" => (
                Builtin::SplitAt,
                Ty::Tuple(vec![slice_ty(mutable), slice_ty(mutable)]),
                vec![USIZE],
            ),
            "swap" => (Builtin::Swap, Ty::unit(), vec![USIZE, USIZE]),
            "as_flattened" | "as_flattened_mut" => {
                let Ty::Array(inner, len) = self.shallow(&elem) else {
                    let shown = self.show(&elem);
                    return self.refuse(
                        at,
                        format!("`{name}` of a slice of `{shown}`"),
                        "its elements have to be arrays",
                    );
                };
                let ty = Ty::Slice {
                    mutable,
                    elem: inner,
                };
                (Builtin::Flattened(len), ty, vec![])
            }
            "fill" => (Builtin::Fill, Ty::unit(), vec![elem.clone()]),
            "copy_from_slice" | "clone_from_slice" => {
                (Builtin::CopyFromSlice, Ty::unit(), vec![slice_ty(false)])
            }
            "reverse" => (Builtin::Reverse, Ty::unit(), vec![]),
            "rotate_left" => (Builtin::RotateLeft, Ty::unit(), vec![USIZE]),
            "rotate_right" => (Builtin::RotateRight, Ty::unit(), vec![USIZE]),
            "contains" => {
                let target = Box::new(elem.clone());
                let wanted = Ty::Ref {
                    mutable: false,
                    target,
                };
                (Builtin::Contains, BOOL, vec![wanted])
            }
            _ => {
                return Expr {
                    ty: slice_ty(mutable),
                    ..slice
                };
            }
        };
        self.builtin(builtin, slice, name, &wanted, args, ty, span)
    }

    /// A slice, whose length was looked at, as a reference to an array, or as a slice of `several` of them.
    fn as_array(&mut self, receiver: Expr, len: &syn::Expr, several: bool, span: Span) -> Expr {
        let len = match len {
            syn::Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Int(len),
                ..
            }) => len.base10_parse().ok(),
            _ => None,
        };
        let (Some(len), Some((slice, elem))) = (len, self.as_slice(receiver, false)) else {
            return Self::broken(span);
        };
        let mutable = matches!(self.shallow(&slice.ty), Ty::Slice { mutable: true, .. });
        let array = Box::new(Ty::Array(Box::new(elem), len));
        let (builtin, ty) = match several {
            true => {
                let elem = array;
                (Builtin::AsArrays(len), Ty::Slice { mutable, elem })
            }
            false => {
                let target = array;
                (Builtin::AsArray, Ty::Ref { mutable, target })
            }
        };
        Expr::new(ExprKind::Method(builtin, vec![slice]), ty, span)
    }

    /// Calls a method of the library. What is wrong in its body is wrong with the call.
    pub(super) fn call_library(
        &mut self,
        id: TemplateId,
        receiver: Expr,
        args: &[&syn::Expr],
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let before = self.m.diags.0.len();
        let call = self.call_template(id, &PathArguments::None, Some(receiver), args, want, span);
        let said = self.m.diags.0.iter_mut().skip(before);
        for d in said.filter(|d| is_nowhere(d.span)) {
            d.span = span;
        }
        call
    }

    /// `copy_within` of a range that lacks an end, or has its last: what does the same with the range that the library's takes.
    fn copied_part(
        &mut self,
        id: TemplateId,
        name: &str,
        args: &[&syn::Expr],
    ) -> (TemplateId, Vec<syn::Expr>) {
        let given = || args.iter().map(|arg| (*arg).clone()).collect();
        let ("copy_within", [from, to]) = (name, args) else {
            return (id, given());
        };
        let syn::Expr::Range(range) = super::places::strip(from) else {
            return (id, given());
        };
        let (span, to) = (range.span(), (*to).clone());
        let start = range.start.as_ref().map_or_else(
            || syn::parse_quote_spanned!(span=> 0),
            |start| (**start).clone(),
        );
        let (of, from) = match (&range.end, range.limits) {
            (None, _) => ("_copy_behind", start),
            (Some(last), syn::RangeLimits::Closed(_)) => (
                "_copy_through",
                syn::parse_quote_spanned!(span=> (#start)..=(#last)),
            ),
            (Some(end), _) => (name, syn::parse_quote_spanned!(span=> (#start)..(#end))),
        };
        let id = self.m.library_part(Of::Slice, of).unwrap_or(id);
        (id, vec![from, to])
    }

    /// Whether a method of slices takes `&mut`.
    pub(super) fn is_writing(&mut self, name: &str) -> bool {
        let by_library = self.m.library(Of::Slice, in_library(name));
        WRITING_METHODS.contains(&name) || by_library.is_some_and(|id| self.writes(id))
    }

    /// Whether a method of the library takes `&mut`.
    fn writes(&self, id: TemplateId) -> bool {
        self.takes_reference(id) == Some(true)
    }

    /// Whether what a method of the library takes is mutable, if it takes a reference.
    fn takes_reference(&self, id: TemplateId) -> Option<bool> {
        match self.m.templates[id.0].inputs().next() {
            Some((_, syn::Type::Reference(r))) => Some(r.mutability.is_some()),
            _ => None,
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a call, once each")]
    fn builtin(
        &mut self,
        builtin: Builtin,
        receiver: Expr,
        name: &str,
        wanted: &[Ty],
        args: &[&syn::Expr],
        ty: Ty,
        span: Span,
    ) -> Expr {
        if wanted.len() != args.len() {
            let count = wanted.len();
            let s = if count == 1 { "" } else { "s" };
            return self.refuse(
                span,
                format!(
                    "`{name}` takes {count} argument{s}, here are {}",
                    args.len()
                ),
                "see docs/language.md",
            );
        }
        let mut all = vec![receiver];
        for (arg, want) in args.iter().zip(wanted) {
            all.push(self.expr_as(arg, want));
        }
        Expr::new(ExprKind::Method(builtin, all), ty, span)
    }

    pub(super) fn mat_method(
        &mut self,
        receiver: Expr,
        name: &str,
        args: &[&syn::Expr],
        at: Span,
        span: Span,
    ) -> Expr {
        let receiver = self.behind_refs(receiver);
        let Ty::Mat { elem, .. } = self.shallow(&receiver.ty) else {
            return Self::broken(span);
        };
        let to_write = name.ends_with("_mut") || name == "reborrow";
        if !self.lends_matrix(&receiver, to_write, name, at) {
            return Self::broken(span);
        }
        let mat = || Ty::Mat {
            mutable: to_write,
            elem: elem.clone(),
        };
        let (builtin, ty, wanted) = match name {
            "rows" => (Builtin::MatRows, USIZE, vec![]),
            "cols" => (Builtin::MatCols, USIZE, vec![]),
            "row" | "row_mut" => (
                Builtin::MatRow,
                Ty::Slice {
                    mutable: to_write,
                    elem: elem.clone(),
                },
                vec![USIZE],
            ),
            "quadrants" | "quadrants_mut" => (
                Builtin::MatQuadrants,
                Ty::Tuple(vec![mat(), mat(), mat(), mat()]),
                vec![],
            ),
            "split_rows_at" | "split_rows_at_mut" => (
                Builtin::MatSplitRows,
                Ty::Tuple(vec![mat(), mat()]),
                vec![USIZE],
            ),
            "split_cols_at" | "split_cols_at_mut" => (
                Builtin::MatSplitCols,
                Ty::Tuple(vec![mat(), mat()]),
                vec![USIZE],
            ),
            _ if super::iteration::ROWS.contains(&name) => {
                return self.refuse(
                    at,
                    "an iterator stands only in a `for`",
                    format!("write a loop: `for row in m.{name}() {{ .. }}`"),
                );
            }
            "sub" | "sub_mut" => (Builtin::MatSub, mat(), vec![USIZE; 4]),
            "reborrow" | "as_mat" => (Builtin::MatSame, mat(), vec![]),
            _ => {
                let help = nearest(name, MAT_METHODS.iter().copied()).map_or_else(
                    || "docs/language.md lists the methods".to_owned(),
                    |n| format!("did you mean `{n}`?"),
                );
                return self.refuse(at, format!("matrices have no method `{name}`"), help);
            }
        };
        self.builtin(builtin, receiver, name, &wanted, args, ty, span)
    }

    /// Whether a matrix may be looked at, or written to, by a method of this name; what is wrong is said.
    pub(super) fn lends_matrix(&mut self, of: &Expr, to_write: bool, name: &str, at: Span) -> bool {
        if to_write && !self.shallow(&of.ty).is_mutable(&self.m.structs) {
            let shown = self.show(&of.ty);
            self.error(at, format!("`{name}` of `{shown}`, which is shared"))
                .help("take it as `MatMut`");
            return false;
        }
        if to_write {
            self.writable(of);
        }
        true
    }

    /// A function of an atomic's type: one that makes such a value, or a method by its path.
    pub(super) fn atomic_call(
        &mut self,
        owner: &str,
        name: &str,
        args: &[&syn::Expr],
        path: &syn::Path,
        span: Span,
    ) -> Option<Expr> {
        let inner = owner
            .strip_prefix("Atomic")
            .and_then(|s| Scalar::from_name(&s.to_lowercase()))?;
        if name == "default" && args.is_empty() {
            return Some(self.default_of(&Ty::Atomic(inner), span));
        }
        // What tries gives a `Result`, which a call by a path is not looked at for.
        let has_path = !matches!(
            name,
            "new" | "from" | "fetch_update" | "compare_exchange" | "compare_exchange_weak"
        );
        if let ([receiver, rest @ ..], true) = (args, has_path) {
            let receiver = self.expr(receiver, Some(&Ty::Atomic(inner)));
            let receiver = self.behind_refs(receiver);
            self.same(receiver.span, &receiver.ty, &Ty::Atomic(inner));
            return Some(self.atomic_method(receiver, inner, name, rest, path.span(), span));
        }
        if !matches!((name, args), ("new" | "from", [_])) {
            return None;
        }
        let value = self.expr_as(args[0], &Ty::Scalar(inner));
        let kind = ExprKind::Method(Builtin::AtomicNew, vec![value]);
        Some(Expr::new(kind, Ty::Atomic(inner), span))
    }

    pub(super) fn atomic_method(
        &mut self,
        receiver: Expr,
        ty: Scalar,
        name: &str,
        args: &[&syn::Expr],
        at: Span,
        span: Span,
    ) -> Expr {
        let place = self.behind_refs(receiver);
        if name == "into_inner" && args.is_empty() {
            return Expr::new(
                ExprKind::Method(Builtin::AtomicInto, vec![place]),
                Ty::Scalar(ty),
                span,
            );
        }
        let op = match name {
            "load" => AtomicOp::Load,
            "store" => AtomicOp::Store,
            "swap" => AtomicOp::Swap,
            "fetch_add" if ty.is_int() => AtomicOp::Add,
            "fetch_sub" if ty.is_int() => AtomicOp::Sub,
            "fetch_and" => AtomicOp::And,
            "fetch_or" => AtomicOp::Or,
            "fetch_xor" => AtomicOp::Xor,
            "fetch_nand" => AtomicOp::Nand,
            "fetch_min" if ty.is_int() => AtomicOp::Min,
            "fetch_max" if ty.is_int() => AtomicOp::Max,
            "compare_exchange" | "compare_exchange_weak" => AtomicOp::CompareExchange,
            _ => {
                let known = [
                    "load",
                    "store",
                    "swap",
                    "fetch_add",
                    "fetch_sub",
                    "fetch_and",
                    "fetch_or",
                    "fetch_xor",
                    "fetch_nand",
                    "fetch_min",
                ];
                let help = nearest(
                    name,
                    known.into_iter().chain([
                        "fetch_max",
                        "fetch_update",
                        "compare_exchange",
                        "compare_exchange_weak",
                        "into_inner",
                    ]),
                )
                .map_or_else(
                    || "docs/language.md lists the methods".to_owned(),
                    |n| format!("did you mean `{n}`?"),
                );
                let shown = self.show(&Ty::Atomic(ty));
                return self.refuse(at, format!("`{shown}` has no method `{name}`"), help);
            }
        };
        let orders = if op == AtomicOp::CompareExchange {
            2
        } else {
            1
        };
        if args.len() != op.args() + orders {
            let count = op.args() + orders;
            let s = if count == 1 { "" } else { "s" };
            return self.refuse(
                at,
                format!(
                    "`{name}` takes {count} argument{s}, here are {}",
                    args.len()
                ),
                "the last is an `Ordering`",
            );
        }
        let values: Vec<Expr> = args[..op.args()]
            .iter()
            .map(|a| self.expr_as(a, &Ty::Scalar(ty)))
            .collect();
        let mut order = Order::SeqCst;
        for (i, arg) in args[op.args()..].iter().enumerate() {
            match self.ordering(arg) {
                Some(o) if i == 0 => order = o,
                _ => {}
            }
        }
        let wrong = match op {
            AtomicOp::Load => matches!(order, Order::Release | Order::AcqRel),
            AtomicOp::Store => matches!(order, Order::Acquire | Order::AcqRel),
            _ => false,
        };
        if wrong {
            return self.refuse(
                at,
                format!("a {name} cannot have this ordering"),
                "a load acquires, a store releases",
            );
        }
        let result = match op {
            AtomicOp::Store => Ty::unit(),
            AtomicOp::CompareExchange => Ty::CasResult,
            _ => Ty::Scalar(ty),
        };
        Expr::new(
            ExprKind::Atomic {
                op,
                order,
                place,
                args: values,
            },
            result,
            span,
        )
    }

    fn ordering(&mut self, e: &syn::Expr) -> Option<Order> {
        if let syn::Expr::Path(p) = super::places::strip(e)
            && let Some(last) = p.path.segments.last()
        {
            match last.ident.to_string().as_str() {
                "Relaxed" => return Some(Order::Relaxed),
                "Acquire" => return Some(Order::Acquire),
                "Release" => return Some(Order::Release),
                "AcqRel" => return Some(Order::AcqRel),
                "SeqCst" => return Some(Order::SeqCst),
                _ => {}
            }
        }
        self.error(e.span(), "expected an ordering")
            .help("write `Ordering::Relaxed`, `Acquire`, `Release`, `AcqRel` or `SeqCst`");
        None
    }
}
