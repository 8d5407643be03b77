//! Scalars and constants in C++.

use millstream_graph::ty::Scalar;

/// The C++ type of a scalar, as `prelude.cu` names it.
pub(super) const fn ctype(ty: Scalar) -> &'static str {
    match ty {
        Scalar::Bool => "bool",
        Scalar::I8 => "i8",
        Scalar::I16 => "i16",
        Scalar::I32 => "i32",
        Scalar::I64 | Scalar::Isize => "i64",
        Scalar::U8 => "u8",
        Scalar::U16 => "u16",
        Scalar::U32 => "u32",
        Scalar::U64 | Scalar::Usize => "u64",
        Scalar::F32 => "f32",
        Scalar::F64 => "f64",
        Scalar::Ptr => "ptr",
    }
}

/// The unsigned type of the same size.
pub(super) const fn unsigned(ty: Scalar) -> &'static str {
    match ty.size() {
        1 => "u8",
        2 => "u16",
        4 => "u32",
        _ => "u64",
    }
}

/// A constant of exactly its type.
pub(super) fn constant(ty: Scalar, bits: u64) -> String {
    let signed = |width: u32| ((bits << (64 - width)) as i64) >> (64 - width);
    match ty {
        Scalar::Bool => (bits != 0).to_string(),
        Scalar::I8 | Scalar::I16 => format!("({}){}", ctype(ty), signed(ty.bits())),
        Scalar::U8 | Scalar::U16 => format!("({}){bits}", ctype(ty)),
        Scalar::I32 if bits as u32 == 0x8000_0000 => "(-2147483647 - 1)".to_owned(),
        Scalar::I32 => signed(32).to_string(),
        Scalar::I64 | Scalar::Isize if bits == 1 << 63 => "(-9223372036854775807LL - 1)".to_owned(),
        Scalar::I64 | Scalar::Isize => format!("{}LL", bits as i64),
        Scalar::U32 => format!("{}u", bits as u32),
        Scalar::U64 | Scalar::Usize => format!("{bits}ull"),
        Scalar::F32 => match f32::from_bits(bits as u32) {
            x if x.is_finite() => decimal(&format!("{x:?}f")),
            _ => format!("bitcast<f32>({}u)", bits as u32),
        },
        Scalar::F64 => match f64::from_bits(bits) {
            x if x.is_finite() => decimal(&format!("{x:?}")),
            _ => format!("bitcast<f64>({bits}ull)"),
        },
        Scalar::Ptr => format!("(ptr){bits}ull"),
    }
}

/// Whether a value is another than this constant; one that is a number, if this is none.
pub(super) fn is_other(value: &str, ty: Scalar, bits: u64) -> String {
    let is_nan = match ty {
        Scalar::F32 => f32::from_bits(bits as u32).is_nan(),
        Scalar::F64 => f64::from_bits(bits).is_nan(),
        _ => false,
    };
    match is_nan {
        true => format!("{value} == {value}"),
        false => format!("{value} != {}", constant(ty, bits)),
    }
}

/// Rust's shortest text of a float reads back as the same bits in C++ too; a negative one is to stay one operand.
fn decimal(text: &str) -> String {
    if text.starts_with('-') {
        format!("({text})")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_keep_their_bits() {
        assert_eq!(constant(Scalar::I32, 0x8000_0000), "(-2147483647 - 1)");
        assert_eq!(constant(Scalar::I16, 0xffff), "(i16)-1");
        assert_eq!(constant(Scalar::F64, (-0.0f64).to_bits()), "(-0.0)");
        assert_eq!(
            constant(Scalar::F32, 0x7fc0_0001),
            "bitcast<f32>(2143289345u)"
        );
        assert_eq!(constant(Scalar::F32, (-1.5f32).to_bits().into()), "(-1.5f)");
        assert_eq!(constant(Scalar::F32, 1e-45f32.to_bits().into()), "1e-45f");
    }
}
