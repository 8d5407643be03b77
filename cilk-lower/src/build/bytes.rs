//! Methods of bytes, and of integers as bytes.

use super::Builder;
use crate::{
    diag::ir_span,
    hir::{Builtin, Expr},
};
use millstream_graph::{
    ir::{BinOp, Operand},
    ty::{Scalar, Type},
};

const UPPER: &[(u8, u8)] = &[(b'A', b'Z')];
const LOWER: &[(u8, u8)] = &[(b'a', b'z')];

/// The bytes that a method like `is_ascii_digit` is true of.
pub(crate) fn ascii_class(name: &str) -> Option<&'static [(u8, u8)]> {
    Some(match name {
        "is_ascii" => &[(0, 127)],
        "is_ascii_digit" => &[(b'0', b'9')],
        "is_ascii_uppercase" => UPPER,
        "is_ascii_lowercase" => LOWER,
        "is_ascii_alphabetic" => &[(b'A', b'Z'), (b'a', b'z')],
        "is_ascii_alphanumeric" => &[(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')],
        "is_ascii_hexdigit" => &[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')],
        "is_ascii_whitespace" => &[(b'\t', b'\n'), (0xc, b'\r'), (b' ', b' ')],
        "is_ascii_punctuation" => &[(b'!', b'/'), (b':', b'@'), (b'[', b'`'), (b'{', b'~')],
        "is_ascii_graphic" => &[(b'!', b'~')],
        "is_ascii_control" => &[(0, 31), (127, 127)],
        _ => return None,
    })
}

impl Builder<'_, '_> {
    pub(super) fn byte_builtin(
        &mut self,
        builtin: Builtin,
        args: &[Expr],
        e: &Expr,
    ) -> Vec<Operand> {
        let value = self.operands(args)[0][0];
        self.at = ir_span(e.span);
        vec![match builtin {
            Builtin::IsAscii(class) => self.is_in(value, class),
            Builtin::ToAsciiLowercase => self.other_case(value, UPPER),
            Builtin::ToAsciiUppercase => self.other_case(value, LOWER),
            Builtin::ToBytes { big } => self.bytes_of(value, big, &e.ty.to_type()),
            Builtin::FromBytes { big } => self.of_bytes(value, big, self.scalar_of(e)),
            _ => value,
        }]
    }

    fn is_in(&mut self, byte: Operand, class: &[(u8, u8)]) -> Operand {
        let constant = |x: u8| Operand::Const(Scalar::U8, u64::from(x));
        let mut any = Operand::bool(false);
        for (lo, hi) in class {
            let above = self.binary(BinOp::Sub, byte, constant(*lo));
            let one = self.binary(BinOp::Le, above, constant(hi - lo));
            any = self.binary(BinOp::Or, any, one);
        }
        any
    }

    /// The two cases of a letter differ in one bit.
    fn other_case(&mut self, byte: Operand, class: &[(u8, u8)]) -> Operand {
        let changes = self.is_in(byte, class);
        let bit = self.convert(Scalar::U8, changes);
        let bit = self.binary(BinOp::Shl, bit, Operand::Const(Scalar::U32, 5));
        self.binary(BinOp::Xor, byte, bit)
    }

    /// Where each byte of an integer lies, and by how much it is shifted there.
    fn shifts(bytes: u64, big: bool) -> impl Iterator<Item = (u64, Operand)> {
        (0..bytes).map(move |i| {
            let from = if big { bytes - 1 - i } else { i };
            (i, Operand::Const(Scalar::U32, 8 * from))
        })
    }

    fn bytes_of(&mut self, value: Operand, big: bool, array: &Type) -> Operand {
        let base = self.temporary(array);
        let bytes = u64::from(self.type_of(value).bits() / 8);
        for (at, shift) in Self::shifts(bytes, big) {
            let byte = self.binary(BinOp::Shr, value, shift);
            let byte = self.convert(Scalar::U8, byte);
            self.store(base, at, &Type::Scalar(Scalar::U8), &[byte]);
        }
        base
    }

    /// Byte by byte: an array of bytes is not aligned as an integer is.
    fn of_bytes(&mut self, base: Operand, big: bool, to: Scalar) -> Operand {
        let mut whole = Operand::Const(to, 0);
        for (at, shift) in Self::shifts(u64::from(to.bits() / 8), big) {
            let byte = self.load(Scalar::U8, base, at);
            let wide = self.convert(to, byte);
            let there = self.binary(BinOp::Shl, wide, shift);
            whole = self.binary(BinOp::Or, whole, there);
        }
        whole
    }
}
