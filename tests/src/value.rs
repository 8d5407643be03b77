//! Between values as `Debug` text and as bytes in the task language's layout.

use millstream_graph::ty::{Scalar, StructDef, Structs, Type};
use std::{iter::Peekable, ops::Range, str::Chars};

/// A piece of an argument, as engines take it.
#[derive(Clone, PartialEq, Debug)]
pub enum Piece {
    /// The bits of a scalar.
    Scalar(u64),
    /// The bytes of an array.
    Blob(Vec<u8>),
    /// Memory that a reference or slice points at.
    Memory(Vec<u8>),
}

/// An argument: its pieces, and how its memory reads as text again.
#[derive(Clone, PartialEq, Debug)]
pub struct Argument {
    /// The pieces, in order.
    pub pieces: Vec<Piece>,
    /// Of a slice or reference: what its memory holds.
    pub memory: Option<Lent>,
}

/// What lent memory holds.
#[derive(Clone, PartialEq, Debug)]
pub struct Lent {
    /// One value or each element.
    pub elem: Type,
    /// Whether it is a list of elements.
    pub list: bool,
}

/// Reads an argument of that type.
#[must_use]
pub fn argument(text: &str, ty: &Type, structs: &Structs) -> Argument {
    let mut reader = Reader {
        chars: text.chars().peekable(),
        structs,
        text,
    };
    match ty {
        Type::Slice { elem, .. } => {
            let (bytes, count) = reader.list(elem);
            let memory = Some(Lent {
                elem: (**elem).clone(),
                list: true,
            });
            Argument {
                pieces: vec![Piece::Memory(bytes), Piece::Scalar(count)],
                memory,
            }
        }
        Type::Ref { target, .. } => {
            let memory = Some(Lent {
                elem: (**target).clone(),
                list: false,
            });
            Argument {
                pieces: vec![Piece::Memory(reader.value(target))],
                memory,
            }
        }
        _ => {
            let bytes = reader.value(ty);
            let pieces = ty.pieces(structs).into_iter().map(|piece| {
                let (at, size) = (piece.offset as usize, piece.kind.layout().size as usize);
                match piece.kind {
                    millstream_graph::ty::PieceKind::Scalar(_) => {
                        Piece::Scalar(bits(&bytes[at..at + size]))
                    }
                    millstream_graph::ty::PieceKind::Blob(_) => {
                        Piece::Blob(bytes[at..at + size].to_vec())
                    }
                }
            });
            Argument {
                pieces: pieces.collect(),
                memory: None,
            }
        }
    }
}

/// The memory of a value of that type.
#[must_use]
pub fn image(text: &str, ty: &Type, structs: &Structs) -> Vec<u8> {
    let chars = text.chars().peekable();
    let mut reader = Reader {
        chars,
        structs,
        text,
    };
    reader.value(ty)
}

fn bits(bytes: &[u8]) -> u64 {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(wide)
}

struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
    structs: &'a Structs,
    text: &'a str,
}

impl Reader<'_> {
    fn spaces(&mut self) {
        while self.chars.next_if(|c| c.is_whitespace()).is_some() {}
    }

    fn take(&mut self, c: char) -> bool {
        self.spaces();
        self.chars.next_if_eq(&c).is_some()
    }

    fn expect(&mut self, c: char) {
        assert!(
            self.take(c),
            "expected `{c}` in `{}`, at `{}`",
            self.text,
            self.chars.clone().collect::<String>()
        );
    }

    fn word(&mut self) -> String {
        self.spaces();
        let mut out = String::new();
        while let Some(c) = self
            .chars
            .next_if(|c| c.is_alphanumeric() || matches!(c, '-' | '+' | '.' | '_'))
        {
            out.push(c);
        }
        out
    }

    fn list(&mut self, elem: &Type) -> (Vec<u8>, u64) {
        let (mut bytes, mut count) = (Vec::new(), 0);
        self.expect('[');
        while !self.take(']') {
            bytes.extend(self.value(elem));
            count += 1;
            self.take(',');
        }
        (bytes, count)
    }

    /// A variant: its number, and its data if there are any.
    fn variant(&mut self, ty: &Type) -> Vec<u8> {
        let name = self.word();
        let variants = ty.variants(self.structs).into_owned();
        let variant = variants.into_iter().find(|v| v.name == name);
        let Some(v) = variant else {
            panic!("no {name} in `{}`", self.text)
        };
        let mut bytes = match (v.fields.is_empty(), v.names.is_empty()) {
            (true, _) => vec![0; ty.layout(self.structs).size as usize],
            (_, true) => self.fields(ty, v.fields, &[], '(', ')'),
            _ => self.fields(ty, v.fields, &v.names, '{', '}'),
        };
        let number = ty.fields(self.structs)[0].0.layout(self.structs).size as usize;
        bytes[..number].copy_from_slice(&v.number.to_le_bytes()[..number]);
        bytes
    }

    fn value(&mut self, ty: &Type) -> Vec<u8> {
        if !ty.variants(self.structs).is_empty() {
            return self.variant(ty);
        }
        match ty {
            Type::Scalar(s) | Type::Atomic(s) => self.scalar(*s),
            Type::Array(elem, len) => {
                let (bytes, count) = self.list(elem);
                assert_eq!(count, *len, "elements of `{}`", self.text);
                bytes
            }
            Type::Tuple(fields) => self.fields(ty, 0..fields.len(), &[], '(', ')'),
            Type::Struct(id) => {
                let def = self.structs[*id].clone();
                if def.is_range() {
                    return self.ends(ty);
                }
                let name = self.word();
                if def.wide().is_some() {
                    let negative = || name.parse::<i128>().map(i128::cast_unsigned);
                    let bits: u128 = name.parse().or_else(|_| negative()).unwrap();
                    return bits.to_le_bytes().to_vec();
                }
                assert_eq!(name, def.ident(), "in `{}`", self.text);
                match (def.fields.is_empty(), def.tuple) {
                    (true, _) => Vec::new(),
                    (_, true) => self.fields(ty, 0..def.fields.len(), &[], '(', ')'),
                    _ => {
                        let names: Vec<String> = def.fields.into_iter().map(|(n, _)| n).collect();
                        self.fields(ty, 0..names.len(), &names, '{', '}')
                    }
                }
            }
            other => panic!("no text of a {other:?} in memory"),
        }
    }

    /// Of a range, `1..4` or `1..=4`.
    fn ends(&mut self, ty: &Type) -> Vec<u8> {
        let first = self.word();
        let (low, high) = first.split_once("..").unwrap();
        let high = match self.take('=') {
            true => self.word(),
            false => high.to_owned(),
        };
        let mut bytes = vec![0; ty.layout(self.structs).size as usize];
        for ((end, at), text) in ty.fields(self.structs).into_iter().zip([low, &high]) {
            let value = image(text, &end, self.structs);
            bytes[at as usize..][..value.len()].copy_from_slice(&value);
        }
        bytes
    }

    fn fields(
        &mut self,
        ty: &Type,
        which: Range<usize>,
        names: &[String],
        open: char,
        close: char,
    ) -> Vec<u8> {
        let mut bytes = vec![0; ty.layout(self.structs).size as usize];
        self.expect(open);
        let fields = ty.fields(self.structs);
        for (i, (field, offset)) in fields[which].iter().enumerate() {
            if let Some(name) = names.get(i) {
                let found = self.word();
                assert_eq!(found, *name, "in `{}`", self.text);
                self.expect(':');
            }
            let value = self.value(field);
            bytes[*offset as usize..*offset as usize + value.len()].copy_from_slice(&value);
            self.take(',');
        }
        self.expect(close);
        bytes
    }

    fn scalar(&mut self, ty: Scalar) -> Vec<u8> {
        let word = self.word();
        let wrong = || -> ! { panic!("`{word}` is not a {ty}, in `{}`", self.text) };
        let bits = match ty {
            Scalar::Bool => u64::from(word.parse::<bool>().unwrap_or_else(|_| wrong())),
            Scalar::F32 => u64::from(word.parse::<f32>().unwrap_or_else(|_| wrong()).to_bits()),
            Scalar::F64 => word.parse::<f64>().unwrap_or_else(|_| wrong()).to_bits(),
            _ => word.parse::<i128>().unwrap_or_else(|_| wrong()) as u64,
        };
        bits.to_le_bytes()[..ty.size() as usize].to_vec()
    }
}

/// The `Debug` text of the value that these bytes are.
#[must_use]
pub fn show(bytes: &[u8], ty: &Type, structs: &Structs) -> String {
    let mut out = String::new();
    write(bytes, ty, structs, &mut out);
    out
}

/// The `Debug` text of lent memory.
#[must_use]
pub fn show_lent(bytes: &[u8], lent: &Lent, structs: &Structs) -> String {
    if !lent.list {
        return show(bytes, &lent.elem, structs);
    }
    let size = lent.elem.layout(structs).size as usize;
    let elems: Vec<String> = bytes
        .chunks(size.max(1))
        .map(|b| show(b, &lent.elem, structs))
        .collect();
    format!("[{}]", elems.join(", "))
}

fn write(bytes: &[u8], ty: &Type, structs: &Structs, out: &mut String) {
    let part = |field: &Type, offset: u64, out: &mut String| {
        let size = field.layout(structs).size;
        write(
            &bytes[offset as usize..(offset + size) as usize],
            field,
            structs,
            out,
        );
    };
    match ty {
        Type::Scalar(s) | Type::Atomic(s) => {
            out.push_str(&show_scalar(bits(&bytes[..s.size() as usize]), *s))
        }
        Type::Array(elem, len) => {
            let size = elem.layout(structs).size;
            out.push('[');
            for i in 0..*len {
                out.push_str(if i > 0 { ", " } else { "" });
                part(elem, i * size, out);
            }
            out.push(']');
        }
        Type::Tuple(fields) if fields.is_empty() => out.push_str("()"),
        Type::Tuple(_) | Type::Struct(_) | Type::Option(_) | Type::Result(..) => {
            let def = match ty {
                Type::Struct(id) => Some(&structs[*id]),
                _ => None,
            };
            if let Some(signed) = def.and_then(StructDef::wide) {
                let all = u128::from(bits(&bytes[..8])) | u128::from(bits(&bytes[8..16])) << 64;
                return match signed {
                    true => out.push_str(&all.cast_signed().to_string()),
                    false => out.push_str(&all.to_string()),
                };
            }
            let mut fields = ty.fields(structs);
            let mut names: Vec<String> = match def {
                Some(def) if !def.tuple => def.fields.iter().map(|(n, _)| n.clone()).collect(),
                _ => Vec::new(),
            };
            let mut name = def.map_or("", |d| d.ident());
            let variants = ty.variants(structs);
            if !variants.is_empty() {
                let size = fields[0].0.layout(structs).size as usize;
                let number = bits(&bytes[..size]);
                let variant = variants.iter().find(|v| v.number == number);
                let variant = variant.expect("a variant");
                name = &variant.name;
                names.clone_from(&variant.names);
                fields = fields[variant.fields.clone()].to_vec();
            }
            let named = !names.is_empty();
            out.push_str(name);
            if fields.is_empty() {
                return;
            }
            out.push_str(if named { " { " } else { "(" });
            for (i, (field, offset)) in fields.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                if named {
                    out.push_str(&names[i]);
                    out.push_str(": ");
                }
                part(field, *offset, out);
            }
            out.push_str(match (named, name.is_empty() && fields.len() == 1) {
                (true, _) => " }",
                (_, true) => ",)",
                _ => ")",
            });
        }
        other => panic!("no text of a {other:?} in memory"),
    }
}

fn show_scalar(bits: u64, ty: Scalar) -> String {
    // The message of a failed check shows numbers as `Debug` does.
    millstream_graph::fault::FaultValue { ty, bits }.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn text_and_bytes_agree() {
        let mut structs = Structs::default();
        let scalar = Type::Scalar;
        let fields = vec![
            ("on".to_owned(), scalar(Scalar::Bool)),
            (
                "at".to_owned(),
                Type::Array(Box::new(scalar(Scalar::F32)), 2),
            ),
        ];
        let id = structs.push(StructDef {
            name: "P".into(),
            fields,
            tuple: false,
            variants: Vec::new(),
        });
        let ty = Type::Tuple(vec![
            scalar(Scalar::I8),
            Type::Struct(id),
            scalar(Scalar::U64),
        ]);
        let text = "(-5, P { on: true, at: [1.5, -0.0] }, 18446744073709551615)";
        let mut reader = Reader {
            chars: text.chars().peekable(),
            structs: &structs,
            text,
        };
        let bytes = reader.value(&ty);
        assert_eq!(bytes.len() as u64, ty.layout(&structs).size);
        assert_eq!(show(&bytes, &ty, &structs), text);
        assert_eq!(argument(text, &ty, &structs).pieces.len(), 4);
    }
}
