//! Atomic operations of the program, and the combining of results.

use super::{
    body::Body,
    types::{ctype, is_other, unsigned},
};
use millstream_graph::{
    ir::{AtomicOp, Combine, LocalId, Operand, Order},
    ty::Scalar,
};

const fn order_name(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "__NV_ATOMIC_RELAXED",
        Order::Acquire => "__NV_ATOMIC_ACQUIRE",
        Order::Release => "__NV_ATOMIC_RELEASE",
        Order::AcqRel => "__NV_ATOMIC_ACQ_REL",
        Order::SeqCst => "__NV_ATOMIC_SEQ_CST",
    }
}

/// The order of the load of a compare-exchange that fails.
const fn failure(order: Order) -> Order {
    match order {
        Order::Relaxed | Order::Release => Order::Relaxed,
        Order::Acquire | Order::AcqRel => Order::Acquire,
        Order::SeqCst => Order::SeqCst,
    }
}

const SCOPE: &str = "__NV_THREAD_SCOPE_DEVICE";

/// The built-in's name, if the hardware has the operation on this type.
const fn builtin(op: AtomicOp, ty: Scalar) -> Option<&'static str> {
    if ty.size() < 4 {
        return None;
    }
    Some(match op {
        AtomicOp::Add => "__nv_atomic_fetch_add",
        AtomicOp::Sub if ty.is_int() => "__nv_atomic_fetch_sub",
        AtomicOp::And if ty.is_int() => "__nv_atomic_fetch_and",
        AtomicOp::Or if ty.is_int() => "__nv_atomic_fetch_or",
        AtomicOp::Xor if ty.is_int() => "__nv_atomic_fetch_xor",
        AtomicOp::Min if ty.is_int() => "__nv_atomic_fetch_min",
        AtomicOp::Max if ty.is_int() => "__nv_atomic_fetch_max",
        _ => return None,
    })
}

/// The type that the hardware operates on: there is no sum of signed 64-bit integers, and the unsigned one has the same bits.
fn operated(op: AtomicOp, ty: Scalar) -> &'static str {
    let sum = matches!(op, AtomicOp::Add | AtomicOp::Sub);
    if sum && ty.is_int() {
        unsigned(ty)
    } else {
        ctype(ty)
    }
}

/// What an operation makes of the value `old` that memory holds.
fn updated(op: AtomicOp, ty: Scalar, arg: &str) -> String {
    let t = ctype(ty);
    match op {
        AtomicOp::Add if ty.is_float() => format!("old + {arg}"),
        AtomicOp::Sub if ty.is_float() => format!("old - {arg}"),
        AtomicOp::Add | AtomicOp::Sub => format!("{}(old, {arg})", op.name()),
        AtomicOp::And => format!("({t})(old & {arg})"),
        AtomicOp::Or => format!("({t})(old | {arg})"),
        AtomicOp::Xor => format!("({t})(old ^ {arg})"),
        AtomicOp::Nand if matches!(ty, Scalar::Bool) => format!("!(old && {arg})"),
        AtomicOp::Nand => format!("({t})~(old & {arg})"),
        AtomicOp::Min | AtomicOp::Max => format!("{}_of(old, {arg})", op.name()),
        _ => arg.to_owned(),
    }
}

fn update(op: AtomicOp, ty: Scalar, address: &str, arg: &str) -> String {
    let t = ctype(ty);
    if ty.is_float() {
        let u = unsigned(ty);
        format!(
            "atomic_update_float<{t}, {u}>({address}, [&]({t} old) -> {t} {{ return {}; }})",
            updated(op, ty, arg)
        )
    } else {
        format!(
            "atomic_update<{t}>({address}, [&]([[maybe_unused]] {t} old) -> {t} {{ return {}; }})",
            updated(op, ty, arg)
        )
    }
}

impl Body<'_, '_> {
    /// An atomic operation as an expression of the old value, or as a statement.
    pub(super) fn atomic(
        &self,
        op: AtomicOp,
        ty: Scalar,
        addr: Operand,
        args: &[Operand],
        dst: Option<LocalId>,
        order: Order,
    ) -> Vec<String> {
        let (t, address) = (ctype(ty), self.operand(addr));
        let arg = |i: usize| args.get(i).map_or_else(String::new, |a| self.operand(*a));
        let order_text = order_name(order);
        let set = |value: String| match dst {
            Some(dst) => format!("{} = {value};", self.local(dst)),
            None => format!("{value};"),
        };
        let wide = ty.size() >= 4 && !matches!(ty, Scalar::Ptr);
        let (raw, is_float) = (if ty.is_float() { unsigned(ty) } else { t }, ty.is_float());
        let to_raw = |value: String| {
            if is_float {
                format!("bitcast<{raw}>({value})")
            } else {
                value
            }
        };
        let from_raw = |value: String| {
            if is_float {
                format!("bitcast<{t}>({value})")
            } else {
                value
            }
        };
        match op {
            AtomicOp::Load if wide => vec![set(from_raw(format!(
                "__nv_atomic_load_n(({raw}*)({address}), {order_text}, {SCOPE})"
            )))],
            AtomicOp::Store if wide => {
                vec![format!(
                    "__nv_atomic_store_n(({raw}*)({address}), {}, {order_text}, {SCOPE});",
                    to_raw(arg(0))
                )]
            }
            AtomicOp::Swap if wide => {
                vec![set(from_raw(format!(
                    "__nv_atomic_exchange_n(({raw}*)({address}), {}, {order_text}, {SCOPE})",
                    to_raw(arg(0))
                )))]
            }
            AtomicOp::CompareExchange if wide => {
                let fail = order_name(failure(order));
                let mut out = vec![
                    format!("{raw} old = {};", to_raw(arg(0))),
                    format!(
                        "__nv_atomic_compare_exchange_n(({raw}*)({address}), &old, {}, false, {order_text}, {fail}, {SCOPE});",
                        to_raw(arg(1))
                    ),
                ];
                out.extend(
                    dst.map(|dst| format!("{} = {};", self.local(dst), from_raw("old".into()))),
                );
                out
            }
            AtomicOp::Load => vec![set(format!(
                "atomic_update<{t}>({address}, []({t} old) -> {t} {{ return old; }})"
            ))],
            AtomicOp::CompareExchange => {
                let body = format!("old == {} ? {} : old", arg(0), arg(1));
                vec![set(format!(
                    "atomic_update<{t}>({address}, [&]({t} old) -> {t} {{ return {body}; }})"
                ))]
            }
            _ => match builtin(op, ty) {
                Some(name) => {
                    let raw = operated(op, ty);
                    vec![set(format!(
                        "({t}){name}(({raw}*)({address}), ({raw})({}), {order_text}, {SCOPE})",
                        arg(0)
                    ))]
                }
                None => vec![set(update(op, ty, &address, &arg(0)))],
            },
        }
    }
}

/// Combines a scalar of a result with what its destination in a memory holds. Relaxed: the parent reads after the dispatch's barrier.
pub(super) fn combine_text(
    memory: &str,
    combine: Combine,
    ty: Scalar,
    value: &str,
    address: &str,
) -> String {
    let op = match combine {
        Combine::Store => return format!("store({address}, {value});"),
        Combine::Add => AtomicOp::Add,
        Combine::Or => AtomicOp::Or,
        Combine::Xor => AtomicOp::Xor,
        Combine::And => AtomicOp::And,
        Combine::Min => AtomicOp::Min,
        Combine::Max => AtomicOp::Max,
        Combine::Each(_) => unreachable!("one scalar is combined in one way"),
    };
    let code = match builtin(op, ty) {
        Some(_) => {
            let raw = if matches!(op, AtomicOp::Min | AtomicOp::Max) || ty.is_float() {
                ctype(ty)
            } else {
                unsigned(ty)
            };
            format!(
                "{memory}::combine_{}(({raw}*)({address}), ({raw})({value}));",
                op.name()
            )
        }
        None => format!("{memory}::template {};", update(op, ty, address, value)),
    };
    // What changes nothing is nothing to do: most leaves of a search find nothing.
    match combine.neutral(ty) {
        Some(none) => format!("if ({}) {code}", is_other(value, ty, none)),
        None => code,
    }
}
