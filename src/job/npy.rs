//! NumPy files: one array of scalars, in the order of C. An element that is an array takes the last dimensions.

use super::{
    data::{self, Data, File},
    error::{Problem, Result},
};
use millstream_graph::ty::{Scalar, Structs, Type};
use npyz::{DType, Endianness, NpyHeader, Order, TypeChar, WriterBuilder};
use std::io::{self, Write};

/// How a buffer will be used, so far as its shape matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// A slice: one dimension.
    Slice,
    /// A matrix view: two dimensions.
    Matrix,
    /// A reference: one element.
    One,
    /// A reference to an array of so many: that many elements.
    Array(u64),
    /// Memory of a matrix whose shape the call says: one dimension or two.
    Any,
}

/// Reads a file whose elements are to be of a type; of the file's own type if none is wanted.
pub(crate) fn read(
    file: &File,
    elem: Option<&Type>,
    form: Form,
    structs: &Structs,
) -> Result<Data> {
    let bytes = data::read_bytes(file)?;
    let mut rest = bytes.as_slice();
    let header = NpyHeader::from_reader(&mut rest)
        .map_err(|e| data::unreadable(file, &format!("it is not a NumPy file: {e}")))?;
    let found = scalar_of(&header.dtype());
    let (inner, wanted) = match elem {
        Some(elem) => {
            let (dims, scalar) = flatten(elem).ok_or_else(|| {
                let elem = elem.display(structs);
                let problem = data::unreadable(
                    file,
                    &format!("elements of `{elem}` cannot come from a NumPy file"),
                );
                problem.help("write the bytes of the structs to a raw `.bin` file")
            })?;
            (dims, Some(scalar))
        }
        None => (Vec::new(), None),
    };
    let shape_text = python_tuple(header.shape());
    let (scalar, big) = match (found, wanted) {
        (Some((s, big)), None) => (s, big),
        // NumPy has no `usize`: it is what has its size and sign.
        (Some((s, big)), Some(w)) if dtype(s) == dtype(w) => (w, big),
        (_, wanted) => {
            let has = format!(
                "it holds {} of shape {shape_text}",
                dtype_text(&header.dtype())
            );
            let Some(wanted) = wanted else {
                return Err(
                    data::unreadable(file, &format!("{has}, which tasks do not know")).into(),
                );
            };
            let problem = data::unreadable(
                file,
                &format!(
                    "{has}, but {} is wanted, for `{wanted}`",
                    numpy_name(wanted)
                ),
            );
            return Err(problem
                .help(format!(
                    "convert it in Python: `a.astype(numpy.{})`",
                    numpy_name(wanted)
                ))
                .into());
        }
    };
    if header.order() == Order::Fortran && header.shape().len() > 1 {
        let problem = data::unreadable(
            file,
            &format!("it is in Fortran order, of shape {shape_text}; the order of C is wanted"),
        );
        return Err(problem
            .help("convert it in Python: `numpy.ascontiguousarray(a)`")
            .into());
    }
    let shape = outer_shape(header.shape(), &inner, form).map_err(|wanted| {
        let elem = elem.map_or_else(|| scalar.to_string(), |e| e.display(structs).to_string());
        data::unreadable(
            file,
            &format!("its shape is {shape_text}, but {wanted} of `{elem}` is wanted"),
        )
    })?;
    let elem = elem.cloned().unwrap_or(Type::Scalar(scalar));
    let stride = elem.layout(structs).size;
    let needed = shape
        .iter()
        .try_fold(stride, |n, d| n.checked_mul(*d))
        .unwrap_or(u64::MAX);
    if needed != rest.len() as u64 {
        let why = format!(
            "an array of shape {shape_text} has {needed} bytes, but {} follow the header",
            rest.len()
        );
        return Err(data::unreadable(file, &why).into());
    }
    let mut out = Data::zeros(elem, shape, structs).map_err(|e| data::unreadable(file, &e))?;
    out.bytes_mut().copy_from_slice(rest);
    if big != cfg!(target_endian = "big") {
        out.bytes_mut()
            .chunks_exact_mut(scalar.size() as usize)
            .for_each(<[u8]>::reverse);
    }
    out.validate(structs)
        .map_err(|e| data::unreadable(file, &e))?;
    Ok(out)
}

/// The dimensions that are the buffer's; of the element the last ones. Else what would be right.
fn outer_shape(shape: &[u64], inner: &[u64], form: Form) -> std::result::Result<Vec<u64>, String> {
    let outer = shape.strip_suffix(inner);
    let right = outer.filter(|outer| match form {
        Form::Slice => outer.len() == 1,
        Form::Matrix => outer.len() == 2,
        Form::One => outer.iter().product::<u64>() == 1 && outer.len() <= 1,
        Form::Array(len) => *outer == [len],
        Form::Any => (1..=2).contains(&outer.len()),
    });
    right
        .map(|outer| {
            if outer.is_empty() {
                vec![1]
            } else {
                outer.to_vec()
            }
        })
        .ok_or_else(|| match form {
            Form::Slice => "one dimension".to_owned(),
            Form::Matrix => "a matrix of two dimensions".to_owned(),
            Form::One => "one element".to_owned(),
            Form::Array(len) => format!("one dimension of {len}"),
            Form::Any => "one dimension or two".to_owned(),
        })
}

/// Writes a buffer. It is one that [`writable`] accepts.
pub(crate) fn write(out: &mut (impl Write + ?Sized), data: &Data) -> io::Result<()> {
    let (inner, scalar) =
        flatten(&data.elem).ok_or_else(|| io::Error::other("structs have no NumPy type"))?;
    let shape: Vec<u64> = data.shape.iter().copied().chain(inner).collect();
    let dtype = DType::new_scalar(dtype(scalar).parse().map_err(io::Error::other)?);
    npyz::WriteOptions::new_header_only()
        .dtype(dtype)
        .shape(&shape)
        .writer(&mut *out)
        .write_header_only()?;
    out.write_all(data.bytes())
}

/// Why a buffer of such elements cannot be written as a NumPy file, if it cannot.
pub(crate) fn writable(elem: &Type, structs: &Structs) -> std::result::Result<(), Problem> {
    if flatten(elem).is_some() {
        return Ok(());
    }
    let problem = Problem::new(format!(
        "elements of `{}` cannot be written to a NumPy file",
        elem.display(structs)
    ));
    Err(problem.help("write them to a raw `.bin` file"))
}

/// Dimensions and scalar of an element that is a scalar or an array of such.
fn flatten(elem: &Type) -> Option<(Vec<u64>, Scalar)> {
    match elem {
        Type::Array(inner, len) => {
            let (mut dims, scalar) = flatten(inner)?;
            dims.insert(0, *len);
            Some((dims, scalar))
        }
        other => Some((Vec::new(), data::scalar(other)?)),
    }
}

/// The type string of a scalar, in this machine's byte order.
const fn dtype(ty: Scalar) -> &'static str {
    match ty {
        Scalar::Bool => "|b1",
        Scalar::I8 => "|i1",
        Scalar::U8 => "|u1",
        Scalar::I16 => "<i2",
        Scalar::U16 => "<u2",
        Scalar::I32 => "<i4",
        Scalar::U32 => "<u4",
        Scalar::I64 | Scalar::Isize => "<i8",
        Scalar::U64 | Scalar::Usize | Scalar::Ptr => "<u8",
        Scalar::F32 => "<f4",
        Scalar::F64 => "<f8",
    }
}

/// A shape as Python writes it.
fn python_tuple(shape: &[u64]) -> String {
    let shown: Vec<String> = shape.iter().map(ToString::to_string).collect();
    format!(
        "({}{})",
        shown.join(", "),
        if shape.len() == 1 { "," } else { "" }
    )
}

const fn numpy_name(ty: Scalar) -> &'static str {
    match ty {
        Scalar::Bool => "bool_",
        Scalar::I8 => "int8",
        Scalar::U8 => "uint8",
        Scalar::I16 => "int16",
        Scalar::U16 => "uint16",
        Scalar::I32 => "int32",
        Scalar::U32 => "uint32",
        Scalar::I64 | Scalar::Isize => "int64",
        Scalar::U64 | Scalar::Usize | Scalar::Ptr => "uint64",
        Scalar::F32 => "float32",
        Scalar::F64 => "float64",
    }
}

/// The scalar of a type string, and whether the first byte is the high one.
fn scalar_of(dtype: &DType) -> Option<(Scalar, bool)> {
    let DType::Plain(ty) = dtype else { return None };
    let scalar = match (ty.type_char(), ty.size_field()) {
        (TypeChar::Bool, 1) => Scalar::Bool,
        (TypeChar::Int, 1) => Scalar::I8,
        (TypeChar::Int, 2) => Scalar::I16,
        (TypeChar::Int, 4) => Scalar::I32,
        (TypeChar::Int, 8) => Scalar::I64,
        (TypeChar::Uint, 1) => Scalar::U8,
        (TypeChar::Uint, 2) => Scalar::U16,
        (TypeChar::Uint, 4) => Scalar::U32,
        (TypeChar::Uint, 8) => Scalar::U64,
        (TypeChar::Float, 4) => Scalar::F32,
        (TypeChar::Float, 8) => Scalar::F64,
        _ => return None,
    };
    Some((scalar, ty.endianness() == Endianness::Big))
}

fn dtype_text(dtype: &DType) -> String {
    match scalar_of(dtype) {
        Some((scalar, big)) => format!(
            "{}{}",
            if big { "big-endian " } else { "" },
            numpy_name(scalar)
        ),
        None => format!("the dtype {}", dtype.descr()),
    }
}
