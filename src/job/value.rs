//! Values in memory whose type is known only when the command runs: read, written, printed and compared.

use millstream_graph::ty::{Scalar, Structs, Type, Variant};
use std::fmt::Write;

/// The scalars of a type and where they stand in its memory.
pub(crate) fn leaves(ty: &Type, structs: &Structs) -> Vec<(u64, Scalar)> {
    let mut out = Vec::new();
    add_leaves(ty, structs, 0, &mut out);
    out
}

fn add_leaves(ty: &Type, structs: &Structs, base: u64, out: &mut Vec<(u64, Scalar)>) {
    match ty {
        Type::Scalar(s) | Type::Atomic(s) => out.push((base, *s)),
        Type::Array(elem, len) => {
            let stride = elem.layout(structs).size;
            (0..*len).for_each(|i| add_leaves(elem, structs, base + i * stride, out));
        }
        Type::Tuple(_) | Type::Struct(_) | Type::Option(_) | Type::Result(..) => {
            for (field, offset) in ty.fields(structs) {
                add_leaves(&field, structs, base + offset, out);
            }
        }
        Type::Slice { .. } | Type::Ref { .. } | Type::Mat { .. } | Type::Channel(_) => {}
    }
}

/// A place in a type's memory where not all bits are a value.
pub(crate) enum Bound {
    /// 0 or 1.
    Bool,
    /// The number of a variant of the type of that name.
    Variant(Scalar, String, Vec<OneOf>),
}

/// A variant in memory.
pub(crate) struct OneOf {
    pub(crate) number: u64,
    /// Where the data of the others lie, from the number on, and how long they are: zeros.
    pub(crate) others: Vec<(u64, u64)>,
}

/// Those of a type, and where they stand.
pub(crate) fn bounds(ty: &Type, structs: &Structs) -> Vec<(u64, Bound)> {
    let mut out = Vec::new();
    add_bounds(ty, structs, 0, &mut out);
    out
}

fn add_bounds(ty: &Type, structs: &Structs, base: u64, out: &mut Vec<(u64, Bound)>) {
    match ty {
        Type::Scalar(Scalar::Bool) | Type::Atomic(Scalar::Bool) => out.push((base, Bound::Bool)),
        Type::Array(elem, len) => {
            let stride = elem.layout(structs).size;
            (0..*len).for_each(|i| add_bounds(elem, structs, base + i * stride, out));
        }
        _ => {
            let (fields, variants) = (ty.fields(structs), ty.variants(structs));
            if let (false, Some((Type::Scalar(number), _))) = (variants.is_empty(), fields.first())
            {
                let all = variants.iter().map(|variant| OneOf {
                    number: variant.number,
                    others: (1..fields.len())
                        .filter(|i| !variant.fields.contains(i))
                        .map(|i| (fields[i].1, fields[i].0.layout(structs).size))
                        .collect(),
                });
                let name = ty.display(structs).to_string();
                out.push((base, Bound::Variant(*number, name, all.collect())));
            }
            for (field, offset) in fields.iter().skip(usize::from(!variants.is_empty())) {
                add_bounds(field, structs, base + offset, out);
            }
        }
    }
}

/// The bits of a scalar in memory, zero-extended.
pub(crate) fn read_bits(bytes: &[u8], offset: u64, ty: Scalar) -> u64 {
    let (at, size) = (offset as usize, ty.size() as usize);
    let mut word = [0; 8];
    word[..size].copy_from_slice(&bytes[at..at + size]);
    u64::from_le_bytes(word)
}

/// Writes a scalar's bits.
pub(crate) fn write_bits(bytes: &mut [u8], offset: u64, ty: Scalar, bits: u64) {
    let (at, size) = (offset as usize, ty.size() as usize);
    bytes[at..at + size].copy_from_slice(&bits.to_le_bytes()[..size]);
}

/// A scalar as Rust writes it.
pub(crate) fn scalar_text(ty: Scalar, bits: u64) -> String {
    millstream_graph::fault::FaultValue { ty, bits }.to_string()
}

/// A value as Rust writes it.
pub(crate) fn text(bytes: &[u8], ty: &Type, structs: &Structs) -> String {
    let mut out = String::new();
    write_value(&mut out, bytes, 0, ty, structs);
    out
}

fn write_value(out: &mut String, bytes: &[u8], at: u64, ty: &Type, structs: &Structs) {
    if let Some(variant) = variant_at(bytes, at, ty, structs) {
        out.push_str(&variant.name);
        let fields = &ty.fields(structs)[variant.fields];
        if variant.names.is_empty() && !fields.is_empty() {
            write_fields(out, bytes, at, fields, structs);
        } else if !fields.is_empty() {
            let names: Vec<&str> = variant.names.iter().map(String::as_str).collect();
            write_named(out, bytes, at, &names, fields, structs);
        }
        return;
    }
    match ty {
        Type::Scalar(s) | Type::Atomic(s) => {
            out.push_str(&scalar_text(*s, read_bits(bytes, at, *s)))
        }
        Type::Array(elem, len) => {
            let stride = elem.layout(structs).size;
            out.push('[');
            for i in 0..*len {
                out.push_str(if i > 0 { ", " } else { "" });
                write_value(out, bytes, at + i * stride, elem, structs);
            }
            out.push(']');
        }
        Type::Tuple(_) => {
            let fields = ty.fields(structs);
            write_fields(out, bytes, at, &fields, structs);
            if fields.len() == 1 {
                out.insert(out.len() - 1, ',');
            }
        }
        Type::Struct(id) => {
            let (def, fields) = (&structs[*id], ty.fields(structs));
            if let Some(signed) = def.wide() {
                let half = |at| u128::from(read_bits(bytes, at, Scalar::U64));
                let bits = half(at) | half(at + 8) << 64;
                return match signed {
                    true => out.push_str(&bits.cast_signed().to_string()),
                    false => out.push_str(&bits.to_string()),
                };
            }
            out.push_str(def.ident());
            if def.tuple {
                return write_fields(out, bytes, at, &fields, structs);
            }
            let names: Vec<&str> = def.fields.iter().map(|(n, _)| n.as_str()).collect();
            write_named(out, bytes, at, &names, &fields, structs);
        }
        Type::Option(_) | Type::Result(..) => out.push('_'),
        Type::Slice { .. } | Type::Ref { .. } | Type::Mat { .. } | Type::Channel(_) => {
            out.push('_')
        }
    }
}

/// The variant that a value is, if its type has variants.
fn variant_at(bytes: &[u8], at: u64, ty: &Type, structs: &Structs) -> Option<Variant> {
    let variants = ty.variants(structs);
    let number = ty.fields(structs).first()?.0.scalar()?;
    let bits = read_bits(bytes, at, number);
    variants.iter().find(|v| v.number == bits).cloned()
}

fn write_named(
    out: &mut String,
    bytes: &[u8],
    at: u64,
    names: &[&str],
    fields: &[(Type, u64)],
    structs: &Structs,
) {
    out.push_str(" {");
    for (i, (name, (field, offset))) in names.iter().zip(fields).enumerate() {
        let _ = write!(out, "{} {name}: ", if i > 0 { "," } else { "" });
        write_value(out, bytes, at + offset, field, structs);
    }
    out.push_str(if fields.is_empty() { "}" } else { " }" });
}

fn write_fields(
    out: &mut String,
    bytes: &[u8],
    at: u64,
    fields: &[(Type, u64)],
    structs: &Structs,
) {
    out.push('(');
    for (i, (field, offset)) in fields.iter().enumerate() {
        out.push_str(if i > 0 { ", " } else { "" });
        write_value(out, bytes, at + offset, field, structs);
    }
    out.push(')');
}

/// Whether two values are the same: bit by bit (but any NaN is any other), or floats within so much of each other, absolutely or relatively.
pub(crate) fn same(found: &[u8], wanted: &[u8], leaves: &[(u64, Scalar)], tolerance: f64) -> bool {
    leaves.iter().all(|&(at, ty)| {
        let (a, b) = (read_bits(found, at, ty), read_bits(wanted, at, ty));
        let float = |bits: u64| {
            if ty == Scalar::F32 {
                f64::from(f32::from_bits(bits as u32))
            } else {
                f64::from_bits(bits)
            }
        };
        a == b || (ty.is_float() && close(float(a), float(b), tolerance))
    })
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a.is_nan() && b.is_nan())
        || (tolerance > 0.0 && (a - b).abs() <= tolerance * 1f64.max(a.abs().min(b.abs())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use millstream_graph::ty::StructDef;

    #[test]
    fn values_print_as_rust_writes_them() {
        let mut structs = Structs::default();
        let fields = vec![
            ("x".into(), Type::Scalar(Scalar::F32)),
            ("on".into(), Type::Scalar(Scalar::Bool)),
        ];
        let p = structs.push(StructDef {
            name: "P".into(),
            fields,
            tuple: false,
            variants: Vec::new(),
        });
        let ty = Type::Tuple(vec![
            Type::Array(Box::new(Type::Scalar(Scalar::I16)), 2),
            Type::Struct(p),
            Type::Tuple(vec![Type::unit()]),
            Type::Option(Box::new(Type::Scalar(Scalar::U8))),
            Type::Option(Box::new(Type::Scalar(Scalar::U8))),
        ]);
        let mut bytes = vec![0; ty.layout(&structs).size as usize];
        for ((at, s), bits) in leaves(&ty, &structs).into_iter().zip([
            (-3i16) as u16 as u64,
            7,
            1.5f32.to_bits().into(),
            1,
            1,
            9,
            0,
            0,
        ]) {
            write_bits(&mut bytes, at, s, bits);
        }
        assert_eq!(
            text(&bytes, &ty, &structs),
            "([-3, 7], P { x: 1.5, on: true }, ((),), Some(9), None)"
        );
    }

    #[test]
    fn floats_are_close_absolutely_or_relatively() {
        let leaf = [(0, Scalar::F64)];
        let is = |a: f64, b: f64, t| same(&a.to_le_bytes(), &b.to_le_bytes(), &leaf, t);
        assert!(is(1e9, 1e9 + 1.0, 1e-8) && !is(1e9, 1e9 + 100.0, 1e-8));
        assert!(is(0.0, 1e-9, 1e-8) && !is(0.0, 1e-9, 0.0));
        assert!(is(f64::NAN, -f64::NAN, 0.0) && !is(f64::NAN, 0.0, 1.0));
    }
}
