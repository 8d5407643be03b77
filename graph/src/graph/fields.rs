//! The fields of elements: an array of its own in a channel's memory for each piece of a value.

use super::{Channel, Element};
use crate::{
    levelized::Field,
    text::parse_type,
    ty::{StructId, Structs, Type},
};

/// The fields of an element of this type, in the order of [`Type::pieces`]: those of a struct have its fields' names, that of a scalar
/// or array is `value`.
#[must_use]
pub fn element_fields(ty: &Type, structs: &Structs) -> Vec<Field> {
    match ty {
        Type::Struct(_) | Type::Tuple(_) | Type::Option(_) | Type::Result(..) => {
            let parts = ty.fields(structs).into_iter().enumerate();
            parts
                .flat_map(|(i, (part, _))| {
                    Field::pieces(&field_name(structs, ty, i), &part, structs)
                })
                .collect()
        }
        _ => Field::pieces("value", ty, structs),
    }
}

impl Channel {
    /// The fields of its elements, if the program has their type.
    #[must_use]
    pub fn fields(&self, structs: &Structs) -> Option<Vec<Field>> {
        match &self.element {
            Element::Fields(fields) => Some(fields.clone()),
            Element::Type(ty) => Some(element_fields(&parse_type(ty, structs).ok()?, structs)),
        }
    }
}

impl Field {
    /// The fields that hold a value of this type, in the order of [`Type::pieces`], each named by the way to it from `name`.
    #[must_use]
    pub fn pieces(name: &str, ty: &Type, structs: &Structs) -> Vec<Self> {
        let mut out = Vec::new();
        add_pieces(structs, name, ty, &mut out);
        out
    }
}

fn add_pieces(structs: &Structs, name: &str, ty: &Type, out: &mut Vec<Field>) {
    let suffixes: &[&str] = match ty {
        Type::Slice { .. } => &["", ".len"],
        Type::Mat { .. } => &["", ".rows", ".cols", ".stride"],
        Type::Struct(_) | Type::Tuple(_) | Type::Option(_) | Type::Result(..) => {
            for (i, (field, _)) in ty.fields(structs).iter().enumerate() {
                add_pieces(
                    structs,
                    &format!("{name}.{}", field_name(structs, ty, i)),
                    field,
                    out,
                );
            }
            return;
        }
        _ => &[""],
    };
    for (piece, suffix) in ty.pieces(structs).iter().zip(suffixes) {
        out.push(Field {
            name: format!("{name}{suffix}"),
            kind: piece.kind,
        });
    }
}

fn field_name(structs: &Structs, ty: &Type, i: usize) -> String {
    match ty {
        Type::Struct(StructId(id)) => structs[StructId(*id)].fields[i].0.clone(),
        _ => i.to_string(),
    }
}
