//! Buffers: the memory that slices, references and matrix views of the entry call lie in, and what it holds at first.

use super::{
    error::{Problem, Result, Text},
    shared, source,
    value::{self, Bound},
};
use crate::csr::Csr;
use millstream_graph::ty::{Scalar, Structs, Type};
use std::{path::PathBuf, sync::atomic::AtomicU64};

/// What a buffer holds at first. Types may be left out where the entry call says them.
#[derive(Clone, Debug)]
pub(crate) enum Contents {
    /// Zeros.
    Zeros { ty: Option<Text>, shape: Text },
    /// Numbers that look random, the same for the same seed on every machine.
    Random {
        ty: Option<Text>,
        shape: Text,
        seed: Option<Text>,
    },
    /// 0, 1, 2, ..
    Iota { ty: Option<Text>, shape: Text },
    /// Zeros, of the type and shape of another buffer.
    Like(Text),
    /// A NumPy file.
    Npy(File),
    /// A file of the bytes alone.
    Raw {
        file: File,
        ty: Option<Text>,
        shape: Option<Text>,
    },
    /// Written out: an array.
    Values { ty: Option<Text>, values: Text },
    /// A part of a graph in compressed rows.
    Graph(Part, Edges),
}

/// One of the three arrays of a graph in compressed rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// Where each vertex's edges begin.
    Offsets,
    /// Where each edge leads.
    Targets,
    /// How long each edge is.
    Lengths,
}

/// Where the edges of a graph come from.
#[derive(Clone, Debug)]
pub(crate) enum Edges {
    /// A file with a line an edge.
    List(File),
    /// Random, a few vertices with very many.
    Rmat {
        scale: Text,
        degree: Text,
        seed: Option<Text>,
    },
    /// Streets of a town.
    Grid {
        width: Text,
        height: Text,
        seed: Option<Text>,
    },
}

impl Part {
    /// The one that the command calls so.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "offsets" => Some(Self::Offsets),
            "targets" => Some(Self::Targets),
            "lengths" => Some(Self::Lengths),
            _ => None,
        }
    }

    /// It of a graph.
    pub(crate) fn of(self, graph: Csr) -> Vec<u32> {
        match self {
            Self::Offsets => graph.offsets,
            Self::Targets => graph.targets,
            Self::Lengths => graph.lengths,
        }
    }
}

impl Edges {
    fn texts(&self) -> Vec<&Text> {
        match self {
            Self::List(_) => Vec::new(),
            Self::Rmat {
                scale: a,
                degree: b,
                seed,
            }
            | Self::Grid {
                width: a,
                height: b,
                seed,
            } => [a, b].into_iter().chain(seed).collect(),
        }
    }
}

impl Contents {
    /// The values in it that may name parameters.
    pub(crate) fn texts(&self) -> Vec<&Text> {
        match self {
            Self::Zeros { shape, .. } | Self::Iota { shape, .. } => vec![shape],
            Self::Random { shape, seed, .. } => std::iter::once(shape).chain(seed).collect(),
            Self::Raw { shape, .. } => shape.iter().collect(),
            Self::Values { values, .. } => vec![values],
            Self::Graph(_, edges) => edges.texts(),
            Self::Like(_) | Self::Npy(_) => Vec::new(),
        }
    }
}

/// A file, and where the job names it.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) path: PathBuf,
    pub(crate) named_at: Text,
}

/// Memory of one element type.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Data {
    pub(crate) elem: Type,
    /// In elements: one dimension, or two for a matrix.
    pub(crate) shape: Vec<u64>,
    /// Whole words, so that every element type is aligned.
    words: Vec<u64>,
    size: usize,
}

impl Data {
    /// Zeros.
    pub(crate) fn zeros(
        elem: Type,
        shape: Vec<u64>,
        structs: &Structs,
    ) -> std::result::Result<Self, String> {
        let stride = elem.layout(structs).size;
        let size = shape
            .iter()
            .try_fold(stride, |n, d| n.checked_mul(*d))
            .unwrap_or(u64::MAX);
        let none = || format!("there is no memory for {shape:?} elements of {stride} bytes");
        // The default budget is a quarter of what the machine has left.
        if size / 4 > millstream_aggregator::default_memory() {
            return Err(none());
        }
        let size = usize::try_from(size).map_err(|_| none())?;
        let mut words = Vec::new();
        words
            .try_reserve_exact(size.div_ceil(8))
            .map_err(|_| none())?;
        words.resize(size.div_ceil(8), 0);
        Ok(Self {
            elem,
            shape,
            words,
            size,
        })
    }

    /// The elements that lie one behind another in these bytes.
    pub(crate) fn of_bytes(
        elem: Type,
        bytes: &[u8],
        structs: &Structs,
    ) -> std::result::Result<Self, String> {
        let count = bytes.len() as u64 / elem.layout(structs).size.max(1);
        let mut data = Self::zeros(elem, vec![count], structs)?;
        data.bytes_mut().copy_from_slice(bytes);
        Ok(data)
    }

    /// Numbers.
    pub(crate) fn numbers(numbers: &[u32], structs: &Structs) -> std::result::Result<Self, String> {
        let shape = vec![numbers.len() as u64];
        let mut data = Self::zeros(Type::Scalar(Scalar::U32), shape, structs)?;
        data.bytes_mut()
            .copy_from_slice(bytemuck::cast_slice(numbers));
        Ok(data)
    }

    pub(crate) fn len(&self) -> u64 {
        self.shape.iter().product()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.size]
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.size]
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// The memory as atomics, of which many may have it.
    pub(crate) fn atomics(&mut self) -> &[AtomicU64] {
        shared::atomics(&mut self.words)
    }

    /// The bytes of one element.
    pub(crate) fn element(&self, index: u64, structs: &Structs) -> &[u8] {
        let stride = self.elem.layout(structs).size as usize;
        &self.bytes()[index as usize * stride..][..stride]
    }

    /// Sets each scalar of each element to what `next` gives for its type and its element's number.
    fn fill(&mut self, structs: &Structs, mut next: impl FnMut(Scalar, u64) -> u64) {
        let (leaves, stride) = (
            value::leaves(&self.elem, structs),
            self.elem.layout(structs).size,
        );
        let len = self.len();
        let bytes = self.bytes_mut();
        for i in 0..len {
            for (at, ty) in &leaves {
                value::write_bits(bytes, i * stride + at, *ty, next(*ty, i));
            }
        }
    }

    /// 0, 1, 2, .., wrapping in small types.
    pub(crate) fn iota(&mut self, structs: &Structs) {
        self.fill(structs, |ty, i| match ty {
            Scalar::F32 => (i as f32).to_bits().into(),
            Scalar::F64 => (i as f64).to_bits(),
            Scalar::Bool => i & 1,
            _ => i,
        });
        self.settle(structs);
    }

    /// Integers from all of their range, floats from 0 to 1 (1 left out), by the generator `SplitMix64`.
    pub(crate) fn random(&mut self, structs: &Structs, seed: u64) {
        let mut state = seed;
        self.fill(structs, |ty, _| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^= z >> 31;
            match ty {
                Scalar::F32 => (((z >> 40) as f32) / (1u64 << 24) as f32).to_bits().into(),
                Scalar::F64 => (((z >> 11) as f64) / (1u64 << 53) as f64).to_bits(),
                Scalar::Bool => z & 1,
                _ => z,
            }
        });
        self.settle(structs);
    }

    /// Makes values of bytes that were drawn by lot, or counted: of an enum's or an Option's number one of its variants', and zeros of the data of the others.
    fn settle(&mut self, structs: &Structs) {
        let (elem, stride) = (self.elem.clone(), self.elem.layout(structs).size as usize);
        let bounds = value::bounds(&elem, structs);
        let bounds: Vec<_> = bounds
            .iter()
            .filter(|(_, of)| !matches!(of, Bound::Bool))
            .collect();
        if bounds.is_empty() {
            return;
        }
        for element in self.bytes_mut().chunks_exact_mut(stride) {
            for (at, of) in &bounds {
                if let Bound::Variant(ty, _, variants) = of {
                    let which = value::read_bits(element, *at, *ty) as usize;
                    let one = &variants[which % variants.len()];
                    value::write_bits(element, *at, *ty, one.number);
                    for (behind, size) in &one.others {
                        element[(at + behind) as usize..][..*size as usize].fill(0);
                    }
                }
            }
        }
    }

    /// Refuses bytes that are no values of the type: a `bool` that is neither 0 nor 1, a number that no variant has, something behind a `None`.
    pub(crate) fn validate(&self, structs: &Structs) -> std::result::Result<(), String> {
        let bounds = value::bounds(&self.elem, structs);
        for i in 0..if bounds.is_empty() { 0 } else { self.len() } {
            let element = self.element(i, structs);
            for (at, of) in &bounds {
                let at = *at as usize;
                match of {
                    Bound::Bool if element[at] > 1 => {
                        return Err(format!("element {i} has a `bool` that is neither 0 nor 1"));
                    }
                    Bound::Variant(ty, name, variants) => {
                        let number = value::read_bits(element, at as u64, *ty);
                        let Some(one) = variants.iter().find(|v| v.number == number) else {
                            return Err(format!(
                                "element {i} has {}, which no variant of `{name}` has for a number",
                                value::scalar_text(*ty, number),
                            ));
                        };
                        let data = |(behind, size): &(u64, u64)| {
                            &element[at + *behind as usize..][..*size as usize]
                        };
                        if one.others.iter().any(|of| data(of).iter().any(|b| *b != 0)) {
                            return Err(format!(
                                "element {i} has something in another variant of `{name}` than it is: there all is zeros"
                            ));
                        }
                    }
                    Bound::Bool => {}
                }
            }
        }
        Ok(())
    }

    /// The elements in order, for scalars.
    pub(crate) fn sort(&mut self, structs: &Structs) {
        let Some(ty) = scalar(&self.elem) else { return };
        let order = Order::of(ty);
        let size = ty.size() as usize;
        let all = self.bytes().chunks_exact(size);
        let mut all: Vec<u64> = all.map(|e| order.key(value::read_bits(e, 0, ty))).collect();
        all.sort_unstable();
        let mut sorted = all.into_iter();
        self.fill(structs, |_, _| {
            sorted.next().map_or(0, |key| order.bits(key))
        });
    }

    /// The same elements in an order that depends on them alone.
    pub(crate) fn arranged(&self, structs: &Structs) -> Self {
        let mut elements: Vec<&[u8]> = (0..self.len()).map(|i| self.element(i, structs)).collect();
        elements.sort_unstable();
        let mut out = self.clone();
        out.bytes_mut().copy_from_slice(&elements.concat());
        out
    }

    /// The elements as Rust writes them; at most so many.
    pub(crate) fn preview(&self, most: u64, structs: &Structs) -> String {
        let shown: Vec<String> = (0..self.len().min(most))
            .map(|i| value::text(self.element(i, structs), &self.elem, structs))
            .collect();
        format!(
            "[{}{}]",
            shown.join(", "),
            if self.len() > most { ", .." } else { "" }
        )
    }
}

/// The scalar that an element is.
pub(crate) const fn scalar(elem: &Type) -> Option<Scalar> {
    match elem {
        Type::Scalar(s) | Type::Atomic(s) => Some(*s),
        _ => None,
    }
}

/// How a type's values are ordered: as unsigned numbers that their bits are made.
#[derive(Clone, Copy)]
enum Order {
    Unsigned,
    /// With the sign at this bit.
    Signed(u32),
    /// The total order of floats, with the sign at this bit.
    Float(u32),
}

impl Order {
    const fn of(ty: Scalar) -> Self {
        let sign = ty.bits() - 1;
        match ty {
            Scalar::F32 | Scalar::F64 => Self::Float(sign),
            _ if ty.is_signed() => Self::Signed(sign),
            _ => Self::Unsigned,
        }
    }

    const fn key(self, bits: u64) -> u64 {
        match self {
            Self::Unsigned => bits,
            Self::Signed(sign) => bits ^ (1 << sign),
            // The more negative, the greater the bits.
            Self::Float(sign) if bits >> sign != 0 => !bits & (u64::MAX >> (63 - sign)),
            Self::Float(sign) => bits | (1 << sign),
        }
    }

    const fn bits(self, key: u64) -> u64 {
        match self {
            Self::Unsigned => key,
            Self::Signed(sign) => key ^ (1 << sign),
            Self::Float(sign) if key >> sign == 0 => !key & (u64::MAX >> (63 - sign)),
            Self::Float(sign) => key ^ (1 << sign),
        }
    }
}

/// Reads a file of bytes.
pub(crate) fn read_bytes(file: &File) -> Result<Vec<u8>> {
    std::fs::read(&file.path).map_err(|e| unreadable(file, &e.to_string()).into())
}

/// A file that cannot be used.
pub(crate) fn unreadable(file: &File, why: &str) -> Problem {
    source::unreadable(&file.path, Some(&file.named_at), why)
}

/// A raw file: the bytes of the elements and nothing else.
pub(crate) fn read_raw(
    file: &File,
    elem: Type,
    shape: Option<Vec<u64>>,
    structs: &Structs,
) -> Result<Data> {
    let bytes = read_bytes(file)?;
    let stride = elem.layout(structs).size.max(1);
    let wanted = shape.as_ref().map(|s| {
        s.iter()
            .try_fold(stride, |n, d| n.checked_mul(*d))
            .unwrap_or(u64::MAX)
    });
    let size = bytes.len() as u64;
    if !size.is_multiple_of(stride) || wanted.is_some_and(|w| w != size) {
        let elem = elem.display(structs);
        let of = shape.map_or_else(
            || format!("elements of `{elem}`, {stride} bytes each"),
            |s| format!("{s:?} of `{elem}`, {stride} bytes each"),
        );
        return Err(unreadable(file, &format!("it has {size} bytes, which are not {of}")).into());
    }
    let mut data = Data::zeros(elem, shape.unwrap_or_else(|| vec![size / stride]), structs)
        .map_err(|e| unreadable(file, &e))?;
    data.bytes_mut().copy_from_slice(&bytes);
    data.validate(structs).map_err(|e| unreadable(file, &e))?;
    Ok(data)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends there")]
mod tests {
    use super::*;
    use millstream_graph::ty::StructDef;

    #[test]
    fn random_values_depend_on_the_seed_alone() {
        let structs = Structs::default();
        let make = |seed| {
            let mut data = Data::zeros(Type::Scalar(Scalar::F32), vec![100], &structs).unwrap();
            data.random(&structs, seed);
            data
        };
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
        let mut ints = Data::zeros(Type::Scalar(Scalar::U64), vec![1], &structs).unwrap();
        ints.random(&structs, 0);
        // The first number that SplitMix64 gives for the seed 0.
        assert_eq!(
            ints.preview(1, &structs),
            format!("[{}]", 0xe220_a839_7b1d_cdafu64)
        );
    }

    #[test]
    fn sorting_is_by_the_order_of_rust() {
        let structs = Structs::default();
        let sorted = |ty, values: &[u64]| {
            let shape = vec![values.len() as u64];
            let mut data = Data::zeros(Type::Scalar(ty), shape, &structs).unwrap();
            data.fill(&structs, |_, i| values[i as usize]);
            data.sort(&structs);
            let bytes = data.bytes().chunks_exact(ty.size() as usize);
            bytes
                .map(|b| value::read_bits(b, 0, ty))
                .collect::<Vec<_>>()
        };
        let mut doubles = [
            0.0,
            -0.0,
            1.5,
            -1.5,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            -f64::NAN,
            f64::MIN_POSITIVE,
        ];
        let found = sorted(Scalar::F64, &doubles.map(f64::to_bits));
        doubles.sort_by(f64::total_cmp);
        assert_eq!(found, doubles.map(f64::to_bits));
        let mut longs = [0, -1, 1, i64::MIN, i64::MAX];
        let found = sorted(Scalar::I64, &longs.map(|n| n as u64));
        longs.sort_unstable();
        assert_eq!(found, longs.map(|n| n as u64));
        assert_eq!(sorted(Scalar::U64, &[u64::MAX, 0, 7]), [0, 7, u64::MAX]);
    }

    #[test]
    fn sorting_knows_signs_and_floats() {
        let structs = Structs::default();
        for (ty, bits, sorted) in [
            (Scalar::I8, [0xff, 1, 0x80], "[-128, -1, 1]"),
            (
                Scalar::F32,
                [0x3f80_0000, 0xbf80_0000, 0],
                "[-1.0, 0.0, 1.0]",
            ),
        ] {
            let mut data = Data::zeros(Type::Scalar(ty), vec![3], &structs).unwrap();
            data.fill(&structs, |_, i| bits[i as usize]);
            data.sort(&structs);
            assert_eq!(data.preview(9, &structs), sorted);
        }
    }

    /// Structs with an enum and an Option each: `Kind` is 0, or 7 with a number, and `Pair` has one, and perhaps a number.
    fn bounded() -> (Structs, Type) {
        let mut structs = Structs::default();
        let mut kind = StructDef::new_enum("Kind", Type::Scalar(Scalar::U8));
        kind.add_variant("No", 0, Vec::new(), Vec::new());
        kind.add_variant("Yes", 7, vec![Type::Scalar(Scalar::U16)], Vec::new());
        let kind = structs.push(kind);
        let some = Type::Option(Box::new(Type::Scalar(Scalar::U32)));
        let pair = structs.push(StructDef {
            name: "Pair".into(),
            fields: vec![("kind".into(), Type::Struct(kind)), ("some".into(), some)],
            tuple: false,
            variants: Vec::new(),
        });
        (structs, Type::Struct(pair))
    }

    #[test]
    fn what_is_drawn_by_lot_is_a_value() {
        let (structs, pair) = bounded();
        let mut data = Data::zeros(pair, vec![64], &structs).unwrap();
        data.random(&structs, 3);
        assert_eq!(data.validate(&structs), Ok(()));
        let text = data.preview(64, &structs);
        for part in ["Yes(", "No", "None", "Some("] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn bytes_that_are_no_value_are_refused() {
        let (structs, pair) = bounded();
        let spoiled = |at: usize, byte| {
            let mut data = Data::zeros(pair.clone(), vec![2], &structs).unwrap();
            let stride = data.bytes().len() / 2;
            data.bytes_mut()[stride + at] = byte;
            data.validate(&structs).unwrap_err()
        };
        assert!(spoiled(0, 3).starts_with("element 1 has 3, which no variant of `Kind`"));
        assert!(spoiled(2, 3).starts_with("element 1 has something in another variant of `Kind`"));
        assert!(spoiled(4, 2).contains("which no variant of `Option<u32>`"));
        assert!(spoiled(8, 1).starts_with("element 1 has something in another variant of `Option"));
    }
}
