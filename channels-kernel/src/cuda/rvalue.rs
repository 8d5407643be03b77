//! Values: what a register can be set to.

use super::{
    body::{Body, Role},
    names,
    types::{ctype, unsigned},
};
use crate::layout::stride;
use millstream_graph::{
    ir::{BinOp, FieldId, Operand, Rvalue, UnOp},
    levelized::StackRole,
    ty::{PieceKind, Scalar},
};

impl Body<'_, '_> {
    /// C++ expression of a value.
    pub(super) fn rvalue(&self, value: &Rvalue) -> String {
        match value {
            Rvalue::Use(a) => self.operand(*a),
            Rvalue::Unary(op, a) => unary(*op, self.type_of(*a), &self.operand(*a)),
            Rvalue::Binary(op, a, b) => {
                binary(*op, self.type_of(*a), &self.operand(*a), &self.operand(*b))
            }
            Rvalue::MulAdd(a, b, c) => {
                let name = if self.type_of(*a) == Scalar::F32 {
                    "fmaf"
                } else {
                    "fma"
                };
                format!(
                    "{name}({}, {}, {})",
                    self.operand(*a),
                    self.operand(*b),
                    self.operand(*c)
                )
            }
            Rvalue::Select(c, a, b) => format!(
                "{} ? {} : {}",
                self.operand(*c),
                self.operand(*a),
                self.operand(*b)
            ),
            Rvalue::Cast(ty, a) => cast(*ty, self.type_of(*a), &self.operand(*a)),
            Rvalue::Bitcast(ty, a) => bitcast(*ty, self.type_of(*a), &self.operand(*a)),
            Rvalue::Load { ty, addr, offset } => {
                format!("load<{}>({})", ctype(*ty), self.address(*addr, *offset))
            }
            Rvalue::SlotAddr(id) => self.slot(*id),
            Rvalue::DataAddr(id) => format!("(ptr)d{}", id.0),
            Rvalue::Lanes => "1ull".to_owned(),
            Rvalue::Wide => unreachable!("the lowering has decided for each device"),
            Rvalue::Uniform { id, ty } => {
                let of = match self.role {
                    Role::Node { .. } => "device_flow",
                    Role::Segment { .. } | Role::Helper { .. } => "ch",
                };
                format!("from_bits<{}>({of}.uniforms[{}])", ctype(*ty), id.index())
            }
            Rvalue::PtrAdd {
                base,
                index,
                scale,
                offset,
            } => {
                let index = match scale {
                    1 => self.operand(*index),
                    n => format!("{} * {n}ull", self.operand(*index)),
                };
                if *offset == 0 {
                    format!("{} + {index}", self.operand(*base))
                } else {
                    format!("{} + ({index} + {offset}ull)", self.operand(*base))
                }
            }
            Rvalue::FrameLoad(field) => self.frame_field(*field),
            Rvalue::FrameAddr(field) => self.frame_address(*field),
        }
    }

    /// `addr + offset`
    pub(super) fn address(&self, addr: Operand, offset: u64) -> String {
        if offset == 0 {
            self.operand(addr)
        } else {
            format!("{} + {offset}", self.operand(addr))
        }
    }

    /// A scalar field of this task's frame, as something to read or to assign to.
    pub(super) fn frame_field(&self, field: FieldId) -> String {
        let Role::Segment { task, .. } = self.role else {
            return String::new();
        };
        let channel = self
            .plan
            .channel(self.plan.number_of(StackRole::Frame(task), false));
        let frame = self.plan.program.frame(task);
        format!(
            "ch.{channel}.{}[w.frame]",
            names::field(&frame[field.index()], field.index())
        )
    }

    fn frame_address(&self, field: FieldId) -> String {
        let Role::Segment { task, .. } = self.role else {
            return String::new();
        };
        let of = &self.plan.program.frame(task)[field.index()];
        match of.kind {
            PieceKind::Scalar(_) => format!("(ptr)&{}", self.frame_field(field)),
            PieceKind::Blob(_) => {
                let text = self.frame_field(field);
                let array = text.trim_end_matches("[w.frame]");
                format!("{array} + (u64)w.frame * {}ull", stride(of))
            }
        }
    }
}

/// Whether C++'s own operators mean the same on this type: it is not promoted, and it wraps.
const fn is_plain(ty: Scalar) -> bool {
    matches!(
        ty,
        Scalar::U32 | Scalar::U64 | Scalar::Usize | Scalar::F32 | Scalar::F64
    )
}

fn unary(op: UnOp, ty: Scalar, a: &str) -> String {
    let f = if ty == Scalar::F32 { "f" } else { "" };
    match op {
        UnOp::Neg if ty.is_float() => format!("-{a}"),
        UnOp::Neg => format!("neg({a})"),
        UnOp::Not if ty == Scalar::Bool => format!("!{a}"),
        UnOp::Not => format!("({})~{a}", ctype(ty)),
        UnOp::Abs => format!("abs_of({a})"),
        UnOp::CountOnes
        | UnOp::LeadingZeros
        | UnOp::TrailingZeros
        | UnOp::SwapBytes
        | UnOp::ReverseBits => format!("{}({a})", op.name()),
        UnOp::RoundTiesEven => format!("rint{f}({a})"),
        UnOp::ExpM1 => format!("expm1{f}({a})"),
        UnOp::Ln => format!("log{f}({a})"),
        UnOp::Ln1p => format!("log1p{f}({a})"),
        _ => format!("{}{f}({a})", op.name()),
    }
}

/// C++ expression of an operation on two operands.
pub(super) fn binary(op: BinOp, ty: Scalar, a: &str, b: &str) -> String {
    let f = if ty == Scalar::F32 { "f" } else { "" };
    let infix = |sign: &str| format!("{a} {sign} {b}");
    match op {
        BinOp::Add if is_plain(ty) => infix("+"),
        BinOp::Sub if is_plain(ty) => infix("-"),
        BinOp::Mul if is_plain(ty) => infix("*"),
        BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl => format!("{}({a}, {b})", op.name()),
        BinOp::Shr => format!("shr({a}, {b})"),
        BinOp::Div => format!("({})({a} / {b})", ctype(ty)),
        BinOp::Rem if ty.is_float() => format!("rem_of({a}, {b})"),
        BinOp::Rem => format!("({})({a} % {b})", ctype(ty)),
        BinOp::And => format!("({})({a} & {b})", ctype(ty)),
        BinOp::Or => format!("({})({a} | {b})", ctype(ty)),
        BinOp::Xor => format!("({})({a} ^ {b})", ctype(ty)),
        BinOp::RotateLeft | BinOp::RotateRight => format!("{}({a}, {b})", op.name()),
        BinOp::Min | BinOp::Max | BinOp::Pow | BinOp::Powi => format!("{}_of({a}, {b})", op.name()),
        BinOp::Eq => infix("=="),
        BinOp::Ne => infix("!="),
        BinOp::Lt => infix("<"),
        BinOp::Le => infix("<="),
        BinOp::Gt => infix(">"),
        BinOp::Ge => infix(">="),
        BinOp::AddOverflows
        | BinOp::SubOverflows
        | BinOp::MulOverflows
        | BinOp::SaturatingAdd
        | BinOp::SaturatingSub => {
            format!("{}({a}, {b})", op.name())
        }
        BinOp::Powf => format!("pow{f}({a}, {b})"),
        BinOp::Atan2 | BinOp::Hypot | BinOp::Copysign => format!("{}{f}({a}, {b})", op.name()),
    }
}

fn cast(to: Scalar, from: Scalar, a: &str) -> String {
    if from.is_float() && to.is_int() {
        format!("to_{}({a})", ctype(to))
    } else if to == Scalar::Bool {
        format!("{a} != 0")
    } else {
        format!("({}){a}", ctype(to))
    }
}

fn bitcast(to: Scalar, from: Scalar, a: &str) -> String {
    if from == Scalar::Bool || to == Scalar::Bool {
        format!("({}){a}", ctype(to))
    } else if to.is_int() && from.is_int() {
        format!("({})({}){a}", ctype(to), unsigned(from))
    } else {
        format!("bitcast<{}>({a})", ctype(to))
    }
}
