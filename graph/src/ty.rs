//! The types of the task language and their layout in memory.
//!
//! One layout serves every engine: the host, the CPU device and the CUDA device. Structs and tuples are laid out as C does
//! (`repr(C)`), `usize` is 64 bits, a slice is a pointer and a length, a matrix view is a pointer, rows, columns and the
//! distance between two rows in elements.

use std::{borrow::Cow, fmt, ops::Range};

/// A value that fits one register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Scalar {
    /// `bool`: one byte, 0 or 1.
    Bool,
    /// `i8`
    I8,
    /// `i16`
    I16,
    /// `i32`
    I32,
    /// `i64`
    I64,
    /// `isize`: 64 bits on every device.
    Isize,
    /// `u8`
    U8,
    /// `u16`
    U16,
    /// `u32`
    U32,
    /// `u64`
    U64,
    /// `usize`: 64 bits on every device.
    Usize,
    /// `f32`
    F32,
    /// `f64`
    F64,
    /// An address. It has no name in the task language; references, slices and matrix views are made of it.
    Ptr,
}

impl Scalar {
    /// Every scalar, in the order of declaration.
    pub const ALL: [Self; 14] = [
        Self::Bool,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::Isize,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::Usize,
        Self::F32,
        Self::F64,
        Self::Ptr,
    ];

    /// Size in bytes; also the alignment.
    #[must_use]
    pub const fn size(self) -> u64 {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::Isize | Self::U64 | Self::Usize | Self::F64 | Self::Ptr => 8,
        }
    }

    /// Width in bits of the value (1 for `bool`).
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::Bool => 1,
            other => (other.size() * 8) as u32,
        }
    }

    /// Whether this is an integer type (not `bool`, not an address).
    #[must_use]
    pub const fn is_int(self) -> bool {
        !matches!(self, Self::Bool | Self::F32 | Self::F64 | Self::Ptr)
    }

    /// Whether this is `f32` or `f64`.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// Whether this is a signed integer.
    #[must_use]
    pub const fn is_signed(self) -> bool {
        matches!(
            self,
            Self::I8 | Self::I16 | Self::I32 | Self::I64 | Self::Isize
        )
    }

    /// The name in the task language and in the text form of the IR.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::Isize => "isize",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::Usize => "usize",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Ptr => "ptr",
        }
    }

    /// The scalar of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.name() == name)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which struct of the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct StructId(pub u32);

/// A type of the task language.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// One register.
    Scalar(Scalar),
    /// `(A, B, ..)`; the empty tuple is the unit type.
    Tuple(Vec<Type>),
    /// `[T; N]`
    Array(Box<Type>, u64),
    /// `Option<T>`: whether there is a value, and the value, all zeros where there is none. So memory of zeros is `None`, and two that are `None` are the same
    /// in all their parts.
    Option(Box<Type>),
    /// `Result<T, E>`: whether it is `Ok`, the value, and the error, of which the one that is not there is all zeros.
    Result(Box<Type>, Box<Type>),
    /// A plain struct of the program.
    Struct(StructId),
    /// `&[T]` or `&mut [T]`
    Slice {
        /// Whether it is `&mut`.
        mutable: bool,
        /// What it holds.
        elem: Box<Type>,
    },
    /// `&T` or `&mut T`
    Ref {
        /// Whether it is `&mut`.
        mutable: bool,
        /// What it points at.
        target: Box<Type>,
    },
    /// `Mat<T>` or `MatMut<T>`
    Mat {
        /// Whether it is `MatMut`.
        mutable: bool,
        /// What it holds: a scalar.
        elem: Box<Type>,
    },
    /// `AtomicU32` and its kin; stands behind a reference or in a slice.
    Atomic(Scalar),
    /// `Channel<T>`: only a parameter of a kernel, and no value.
    Channel(Box<Type>),
}

/// A struct of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StructDef {
    /// Its name: its path in the program, with the arguments that it was made for, `shapes::Pair<u32, f32>`.
    pub name: String,
    /// Name and type of each field; `0`, `1`, .. in a tuple struct.
    pub fields: Vec<(String, Type)>,
    /// Whether it is written `S(a, b)`.
    pub tuple: bool,
    /// Of an enum, whose first field is the number of its variant: its variants, whose data are the other fields. Empty in a struct.
    pub variants: Vec<Variant>,
}

/// A variant of an enum, of an `Option` or of a `Result`. The data of those that a value is not are all zeros in it, so that two values of one variant are the same
/// if all their parts are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// The bits of its number.
    pub number: u64,
    /// Which of the type's fields are its own.
    pub fields: Range<usize>,
    /// The names of these, if they have names: `Rect { w: f32, h: f32 }`.
    pub names: Vec<String>,
}

impl Variant {
    fn of(name: &str, number: u64, fields: Range<usize>) -> Self {
        Self {
            name: name.to_owned(),
            number,
            fields,
            names: Vec::new(),
        }
    }
}

impl StructDef {
    /// An enum without variants, whose number is such an integer.
    #[must_use]
    pub fn new_enum(name: &str, number: Type) -> Self {
        Self {
            name: name.to_owned(),
            fields: vec![("0".to_owned(), number)],
            tuple: true,
            variants: Vec::new(),
        }
    }

    /// Adds a variant: its name, the bits of its number, and the types of its data, with their names or none.
    pub fn add_variant(&mut self, name: &str, number: u64, data: Vec<Type>, names: Vec<String>) {
        let start = self.fields.len();
        for (i, ty) in data.into_iter().enumerate() {
            let field = names.get(i).map_or_else(|| i.to_string(), Clone::clone);
            self.fields.push((format!("{name}.{field}"), ty));
        }
        self.variants.push(Variant {
            names,
            ..Variant::of(name, number, start..self.fields.len())
        });
    }

    /// Whether it is an enum.
    #[must_use]
    pub const fn is_enum(&self) -> bool {
        !self.variants.is_empty()
    }

    /// Its name alone, as a value of it is written.
    #[must_use]
    pub fn ident(&self) -> &str {
        let path = self.name.split('<').next().unwrap_or_default();
        path.rsplit("::").next().unwrap_or_default()
    }

    /// Whether it is a type of Rust's own, which has its whole path for a name: `std::cmp::Ordering`.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        self.name.starts_with("std::") || self.is_function()
    }

    /// Whether it is a type of functions, `fn(u32) -> u32`, of which a device has a number.
    #[must_use]
    pub fn is_function(&self) -> bool {
        self.name.starts_with("fn(")
    }

    /// Whether it is one of Rust's types of ranges, whose fields are its ends.
    #[must_use]
    pub fn is_range(&self) -> bool {
        self.name.starts_with("std::ops::Range")
    }

    /// Of an integer of 128 bits, which is two halves: whether it has a sign.
    #[must_use]
    pub fn wide(&self) -> Option<bool> {
        match &*self.name {
            "std::wide::Wide<false>" => Some(false),
            "std::wide::Wide<true>" => Some(true),
            _ => None,
        }
    }

    /// Its name as a program writes it, with its path.
    #[must_use]
    pub fn shown(&self) -> String {
        by_rusts_names(&self.name)
    }

    /// Whether it is an enum of which some variant has data.
    #[must_use]
    pub const fn has_data(&self) -> bool {
        self.is_enum() && self.fields.len() > 1
    }

    /// The variant of that name.
    #[must_use]
    pub fn named(&self, variant: &str) -> Option<&Variant> {
        self.variants.iter().find(|v| v.name == variant)
    }

    /// The variant that has these bits for a number.
    #[must_use]
    pub fn numbered(&self, bits: u64) -> Option<&Variant> {
        self.variants.iter().find(|v| v.number == bits)
    }
}

/// The structs of a program: what a layout needs to know.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Structs {
    defs: Vec<StructDef>,
}

impl Structs {
    /// Adds a struct.
    pub fn push(&mut self, def: StructDef) -> StructId {
        self.defs.push(def);
        StructId(u32::try_from(self.defs.len() - 1).unwrap_or(u32::MAX))
    }

    /// The structs in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = (StructId, &StructDef)> {
        self.defs
            .iter()
            .enumerate()
            .map(|(i, d)| (StructId(i as u32), d))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.defs.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.defs.is_empty()
    }

    /// The struct of that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<StructId> {
        self.iter().find(|(_, d)| d.name == name).map(|(id, _)| id)
    }
}

impl std::ops::Index<StructId> for Structs {
    type Output = StructDef;
    fn index(&self, id: StructId) -> &StructDef {
        &self.defs[id.0 as usize]
    }
}

impl std::ops::IndexMut<StructId> for Structs {
    fn index_mut(&mut self, id: StructId) -> &mut StructDef {
        &mut self.defs[id.0 as usize]
    }
}

/// Size and alignment in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Size, a multiple of the alignment.
    pub size: u64,
    /// Alignment, a power of two.
    pub align: u64,
}

impl Layout {
    /// No type, slot or field has this many bytes.
    pub const MAX: u64 = 1 << 40;

    /// Whether it is one: an alignment that is a power of two, and a size that is a multiple of it and not beyond all measure.
    #[must_use]
    pub const fn is_sound(self) -> bool {
        self.align.is_power_of_two()
            && self.size.is_multiple_of(self.align)
            && self.size < Self::MAX
    }
}

/// What a piece of a flattened value is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PieceKind {
    /// One register.
    Scalar(Scalar),
    /// An array: it is passed as the address of its bytes, and the callee has a copy of its own.
    Blob(Layout),
}

impl std::hash::Hash for Layout {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.size, self.align).hash(state);
    }
}

impl PieceKind {
    /// Size and alignment of the piece.
    #[must_use]
    pub const fn layout(self) -> Layout {
        match self {
            Self::Scalar(s) => Layout {
                size: s.size(),
                align: s.size(),
            },
            Self::Blob(layout) => layout,
        }
    }
}

/// One piece of a flattened value: what is passed in one register, in one field of a channel element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Where it stands in the value's memory.
    pub offset: u64,
    /// What it is.
    pub kind: PieceKind,
}

/// A field of a channel element or of a frame: an array of its own in the channel's memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// For readers: the variable's name.
    pub name: String,
    /// What it holds.
    pub kind: PieceKind,
}

impl Type {
    /// The unit type.
    #[must_use]
    pub const fn unit() -> Self {
        Self::Tuple(Vec::new())
    }

    /// Whether this is the unit type.
    #[must_use]
    pub fn is_unit(&self) -> bool {
        matches!(self, Self::Tuple(t) if t.is_empty())
    }

    /// The scalar, if it is one.
    #[must_use]
    pub const fn scalar(&self) -> Option<Scalar> {
        match self {
            Self::Scalar(s) => Some(*s),
            _ => None,
        }
    }

    /// Size and alignment in memory.
    #[must_use]
    pub fn layout(&self, structs: &Structs) -> Layout {
        match self {
            Self::Scalar(s) | Self::Atomic(s) => Layout {
                size: s.size(),
                align: s.size(),
            },
            Self::Tuple(fields) => record(fields.iter(), structs).0,
            Self::Option(some) => record([&HAS, &**some].into_iter(), structs).0,
            Self::Result(ok, err) => record([&HAS, &**ok, &**err].into_iter(), structs).0,
            Self::Struct(id) => record(structs[*id].fields.iter().map(|(_, t)| t), structs).0,
            Self::Array(elem, len) => {
                let elem = elem.layout(structs);
                Layout {
                    size: elem.size.saturating_mul(*len),
                    align: elem.align,
                }
            }
            Self::Slice { .. } => Layout { size: 16, align: 8 },
            Self::Ref { .. } => Layout { size: 8, align: 8 },
            Self::Mat { .. } => Layout { size: 32, align: 8 },
            Self::Channel(_) => Layout { size: 0, align: 1 },
        }
    }

    /// Types and offsets of the fields of a tuple, struct, `Option` or `Result`; empty for every other type.
    #[must_use]
    pub fn fields(&self, structs: &Structs) -> Vec<(Type, u64)> {
        let types: Vec<Type> = match self {
            Self::Tuple(fields) => fields.clone(),
            Self::Option(some) => vec![HAS, (**some).clone()],
            Self::Result(ok, err) => vec![HAS, (**ok).clone(), (**err).clone()],
            Self::Struct(id) => structs[*id].fields.iter().map(|(_, t)| t.clone()).collect(),
            _ => return Vec::new(),
        };
        let offsets = record(types.iter(), structs).1;
        types.into_iter().zip(offsets).collect()
    }

    /// The variants of an enum, an `Option` or a `Result`; empty for every other type. The first of the type's fields is the number of that which a value is.
    #[must_use]
    pub fn variants<'s>(&self, structs: &'s Structs) -> Cow<'s, [Variant]> {
        match self {
            Self::Option(_) => {
                vec![Variant::of("None", 0, 1..1), Variant::of("Some", 1, 1..2)].into()
            }
            Self::Result(..) => {
                vec![Variant::of("Ok", 1, 1..2), Variant::of("Err", 0, 2..3)].into()
            }
            Self::Struct(id) => Cow::Borrowed(&structs[*id].variants),
            _ => Cow::Borrowed(&[]),
        }
    }

    /// Whether a value of this type is an atomic or holds one, without what it points at: then it is written through a shared reference.
    #[must_use]
    pub fn has_atomics(&self, structs: &Structs) -> bool {
        match self {
            Self::Atomic(_) => true,
            Self::Array(elem, _) => elem.has_atomics(structs),
            _ => self
                .fields(structs)
                .iter()
                .any(|(field, _)| field.has_atomics(structs)),
        }
    }

    /// Whether a value of this type is, holds, or points at an atomic, however far away.
    #[must_use]
    pub fn shares_atomics(&self, structs: &Structs) -> bool {
        match self {
            Self::Atomic(_) => true,
            Self::Array(of, _)
            | Self::Slice { elem: of, .. }
            | Self::Ref { target: of, .. }
            | Self::Mat { elem: of, .. } => of.shares_atomics(structs),
            _ => self
                .fields(structs)
                .iter()
                .any(|(field, _)| field.shares_atomics(structs)),
        }
    }

    /// Whether a value of this type is or holds an address, which means nothing to anybody else: no file and no channel can have it.
    #[must_use]
    pub fn has_addresses(&self, structs: &Structs) -> bool {
        match self {
            Self::Scalar(s) => *s == Scalar::Ptr,
            Self::Atomic(_) => false,
            Self::Slice { .. } | Self::Ref { .. } | Self::Mat { .. } | Self::Channel(_) => true,
            Self::Array(elem, _) => elem.has_addresses(structs),
            Self::Tuple(_) | Self::Struct(_) | Self::Option(_) | Self::Result(..) => {
                let fields = self.fields(structs);
                fields.iter().any(|(field, _)| field.has_addresses(structs))
            }
        }
    }

    /// Whether a value of this type is a function, or has one in it.
    #[must_use]
    pub fn has_functions(&self, structs: &Structs) -> bool {
        match self {
            Self::Struct(id) if structs[*id].is_function() => true,
            Self::Array(elem, _) => elem.has_functions(structs),
            Self::Tuple(_) | Self::Struct(_) | Self::Option(_) | Self::Result(..) => {
                let fields = self.fields(structs);
                fields.iter().any(|(field, _)| field.has_functions(structs))
            }
            _ => false,
        }
    }

    /// The pieces of a value of this type, in order: scalars of structs, tuples and enums one by one, an array as one blob, a slice as
    /// pointer and length, a matrix as pointer, rows, columns and row distance. A type without size has none.
    #[must_use]
    pub fn pieces(&self, structs: &Structs) -> Vec<Piece> {
        let mut out = Vec::new();
        self.add_pieces(structs, 0, &mut out);
        out
    }

    fn add_pieces(&self, structs: &Structs, base: u64, out: &mut Vec<Piece>) {
        let mut scalar = |offset, s| {
            out.push(Piece {
                offset: base + offset,
                kind: PieceKind::Scalar(s),
            })
        };
        match self {
            Self::Scalar(s) | Self::Atomic(s) => scalar(0, *s),
            Self::Ref { .. } => scalar(0, Scalar::Ptr),
            Self::Slice { .. } => {
                scalar(0, Scalar::Ptr);
                scalar(8, Scalar::Usize);
            }
            Self::Mat { .. } => {
                scalar(0, Scalar::Ptr);
                for i in 1..4 {
                    scalar(8 * i, Scalar::Usize);
                }
            }
            Self::Array(..) => {
                let layout = self.layout(structs);
                if layout.size > 0 {
                    out.push(Piece {
                        offset: base,
                        kind: PieceKind::Blob(layout),
                    });
                }
            }
            Self::Tuple(_) | Self::Struct(_) | Self::Option(_) | Self::Result(..) => {
                for (ty, offset) in self.fields(structs) {
                    ty.add_pieces(structs, base + offset, out);
                }
            }
            Self::Channel(_) => {}
        }
    }

    /// The type as the user would write it.
    #[must_use]
    pub fn display<'a>(&'a self, structs: &'a Structs) -> impl fmt::Display + 'a {
        DisplayType { ty: self, structs }
    }
}

/// A text in which integers of two halves are called as in Rust.
#[must_use]
pub fn by_rusts_names(text: &str) -> String {
    let text = text.replace("std::wide::Wide<false>", "u128");
    text.replace("std::wide::Wide<true>", "i128")
}

/// The first part of an `Option` or a `Result`: whether there is a value.
pub(crate) const HAS: Type = Type::Scalar(Scalar::Bool);

fn record<'a>(fields: impl Iterator<Item = &'a Type>, structs: &Structs) -> (Layout, Vec<u64>) {
    let (mut size, mut align, mut offsets) = (0u64, 1u64, Vec::new());
    for ty in fields {
        let layout = ty.layout(structs);
        size = size.next_multiple_of(layout.align);
        offsets.push(size);
        size = size.saturating_add(layout.size);
        align = align.max(layout.align);
    }
    (
        Layout {
            size: size.next_multiple_of(align),
            align,
        },
        offsets,
    )
}

struct DisplayType<'a> {
    ty: &'a Type,
    structs: &'a Structs,
}

impl fmt::Display for DisplayType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sub = |ty| DisplayType {
            ty,
            structs: self.structs,
        };
        let m = |mutable: &bool| if *mutable { "mut " } else { "" };
        match self.ty {
            Type::Scalar(s) => write!(f, "{s}"),
            Type::Atomic(s) => {
                let name = s.name();
                write!(f, "Atomic{}{}", name[..1].to_uppercase(), &name[1..])
            }
            Type::Struct(id) => f.write_str(&self.structs[*id].shown()),
            Type::Array(elem, len) => write!(f, "[{}; {len}]", sub(elem)),
            Type::Slice { mutable, elem } => write!(f, "&{}[{}]", m(mutable), sub(elem)),
            Type::Ref { mutable, target } => write!(f, "&{}{}", m(mutable), sub(target)),
            Type::Mat { mutable, elem } => {
                write!(f, "Mat{}<{}>", if *mutable { "Mut" } else { "" }, sub(elem))
            }
            Type::Channel(elem) => write!(f, "Channel<{}>", sub(elem)),
            Type::Option(some) => write!(f, "Option<{}>", sub(some)),
            Type::Result(ok, err) => write!(f, "Result<{}, {}>", sub(ok), sub(err)),
            Type::Tuple(fields) => {
                f.write_str("(")?;
                for (i, ty) in fields.iter().enumerate() {
                    write!(f, "{}{}", if i > 0 { ", " } else { "" }, sub(ty))?;
                }
                f.write_str(if fields.len() == 1 { ",)" } else { ")" })
            }
        }
    }
}
