//! The arguments of a call whose task is known only when the program runs, and how they become a channel element.
//!
//! One argument for each piece of the parameters ([`Type::pieces`](millstream_graph::ty::Type::pieces)). They are checked against the task's
//! types here, lengths against memory too, so that no safe caller can hand a task memory that is not there.

use crate::{
    buffer::{Buffer, Pod},
    error::RunError,
};
use millstream_graph::{
    ir::{Function, Param},
    ty::{PieceKind, Scalar, Structs, Type},
};
use std::{fmt, marker::PhantomData};

/// Memory that a task reads or writes: the address of a slice, reference or matrix view.
#[derive(Debug)]
pub struct MemoryArg<'a> {
    address: *mut u8,
    bytes: usize,
    mutable: bool,
    /// The device that it is a buffer of; none for plain memory of the host.
    home: Option<u64>,
    borrow: PhantomData<&'a mut [u8]>,
}

// SAFETY: it stands for a `&mut [T]` or `&[T]` of a `T` that is `Send` and `Sync`, or for what the caller of `raw` vouched for.
unsafe impl Send for MemoryArg<'_> {}

impl<'a> MemoryArg<'a> {
    /// Memory of the host that tasks read.
    #[must_use]
    pub const fn shared<T: Pod>(values: &'a [T]) -> Self {
        let (address, bytes) = (values.as_ptr().cast::<u8>().cast_mut(), size_of_val(values));
        Self {
            address,
            bytes,
            mutable: false,
            home: None,
            borrow: PhantomData,
        }
    }

    /// Memory of the host that tasks write.
    #[must_use]
    pub const fn exclusive<T: Pod>(values: &'a mut [T]) -> Self {
        let bytes = size_of_val(values);
        Self {
            address: values.as_mut_ptr().cast(),
            bytes,
            mutable: true,
            home: None,
            borrow: PhantomData,
        }
    }

    /// A buffer of the device that tasks read.
    #[must_use]
    pub fn buffer<T: Pod>(buffer: &'a Buffer<T>) -> Self {
        Self {
            address: buffer.address(),
            bytes: buffer.len() * size_of::<T>(),
            mutable: false,
            home: Some(buffer.home()),
            borrow: PhantomData,
        }
    }

    /// A buffer of the device that tasks write.
    #[must_use]
    pub fn buffer_mut<T: Pod>(buffer: &'a mut Buffer<T>) -> Self {
        Self {
            mutable: true,
            ..Self::buffer(buffer)
        }
    }

    /// Any memory: of atomics, say, which tasks write through a shared reference (`mutable` is true for them).
    ///
    /// # Safety
    /// The memory is there for as long as `'a`, may be sent to other threads, and holds values of the type that the task's parameter
    /// has. If `mutable`, nobody else touches it meanwhile, or touches it only by atomics.
    #[must_use]
    pub const unsafe fn raw(address: *mut u8, bytes: usize, mutable: bool) -> Self {
        Self {
            address,
            bytes,
            mutable,
            home: None,
            borrow: PhantomData,
        }
    }
}

/// The device that [`MemoryArg`]s of the CPU's buffers name.
pub(crate) const CPU: u64 = 0;

/// Memory of the host that tasks reach through one argument: rows of it, one for a slice. What lies between them is not the task's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Region {
    /// Which piece of the call its address is.
    pub(crate) piece: usize,
    pub(crate) address: *mut u8,
    pub(crate) rows: usize,
    /// Bytes of a row.
    pub(crate) bytes: usize,
    /// Bytes from one row to the next.
    pub(crate) distance: usize,
    /// Whether tasks may write to it.
    pub(crate) written: bool,
}

/// One piece of a call's arguments.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErasedArg<'a> {
    /// A scalar: its bits, zero-extended; floats by `to_bits`. Also lengths, rows, columns and distances of slices and views.
    Scalar(u64),
    /// An array: its bytes.
    Blob(Vec<u8>),
    /// The address of a slice, reference or view.
    Memory(MemoryArg<'a>),
}

impl ErasedArg<'_> {
    /// The same argument for as long as this one is lent.
    pub fn reborrow(&mut self) -> ErasedArg<'_> {
        match self {
            Self::Scalar(bits) => ErasedArg::Scalar(*bits),
            Self::Blob(bytes) => ErasedArg::Blob(bytes.clone()),
            Self::Memory(memory) => ErasedArg::Memory(MemoryArg {
                borrow: PhantomData,
                ..*memory
            }),
        }
    }

    /// The bits that a kernel of a graph finds: those of a scalar, the address of everything else.
    pub(crate) fn bits(&self) -> u64 {
        match self {
            Self::Scalar(bits) => *bits,
            Self::Blob(bytes) => bytes.as_ptr() as u64,
            Self::Memory(memory) => memory.address as u64,
        }
    }
}

/// One call of a task.
#[derive(Debug, Default)]
pub struct ErasedCall<'a> {
    /// One for each piece of the parameters.
    pub args: Vec<ErasedArg<'a>>,
    /// After the run: the memory of the return value, in its type's layout.
    pub result: Vec<u8>,
}

impl<'a> ErasedCall<'a> {
    /// A call with these arguments.
    #[must_use]
    pub const fn new(args: Vec<ErasedArg<'a>>) -> Self {
        Self {
            args,
            result: Vec::new(),
        }
    }

    /// Whether tasks write to memory that is not copied for the run.
    #[cfg(feature = "cuda")]
    pub(crate) fn writes_where_it_lies(&self) -> bool {
        let lies = |arg: &ErasedArg<'_>| matches!(arg, ErasedArg::Memory(m) if m.mutable && m.home.is_some());
        self.args.iter().any(lies)
    }
}

/// Appends a call's arguments to the bytes of each field, after checking them. `home` is the device that is to run it; what lies in
/// the host's memory goes to `regions`, for a device that copies.
pub(crate) fn push(
    function: &Function,
    structs: &Structs,
    args: &[ErasedArg<'_>],
    home: u64,
    fields: &mut [Vec<u8>],
    regions: Option<&mut Vec<Region>>,
) -> Result<(), RunError> {
    let of = format_args!("task `{}`", function.name);
    check(function.params.iter(), of, structs, args, home, regions)?;
    let pieces = function.params.iter().flat_map(|p| p.ty.pieces(structs));
    for ((arg, piece), field) in args.iter().zip(pieces).zip(fields) {
        match (arg, piece.kind) {
            (ErasedArg::Scalar(bits), PieceKind::Scalar(ty)) => {
                field.extend_from_slice(&bits.to_ne_bytes()[..ty.size() as usize])
            }
            (ErasedArg::Memory(memory), _) => {
                field.extend_from_slice(&(memory.address as u64).to_ne_bytes())
            }
            (ErasedArg::Blob(bytes), PieceKind::Blob(layout)) => {
                field.extend_from_slice(bytes);
                field.resize(
                    field.len()
                        + (layout.size.next_multiple_of(layout.align) - layout.size) as usize,
                    0,
                );
            }
            _ => unreachable!("checked above"),
        }
    }
    Ok(())
}

/// Checks arguments by the parameters that they are for; see [`push`].
pub(crate) fn check<'c>(
    params: impl Iterator<Item = &'c Param>,
    of: fmt::Arguments<'_>,
    structs: &Structs,
    args: &[ErasedArg<'_>],
    home: u64,
    regions: Option<&mut Vec<Region>>,
) -> Result<(), RunError> {
    let mut check = Check {
        structs,
        args: args.iter(),
        pieces: args.len(),
        home,
        regions,
        param: "",
    };
    for param in params {
        check.param = &param.name;
        check.value(&param.ty).map_err(|m| {
            RunError::BadArguments(format!("argument `{}` of {of}: {m}", param.name))
        })?;
    }
    if check.args.next().is_some() {
        return Err(RunError::BadArguments(format!(
            "too many arguments for {of}"
        )));
    }
    Ok(())
}

struct Check<'c, 'a> {
    structs: &'c Structs,
    args: std::slice::Iter<'c, ErasedArg<'a>>,
    pieces: usize,
    home: u64,
    regions: Option<&'c mut Vec<Region>>,
    param: &'c str,
}

type Checked<T> = Result<T, String>;

impl<'c, 'a> Check<'c, 'a> {
    fn value(&mut self, ty: &Type) -> Checked<()> {
        match ty {
            Type::Scalar(Scalar::Ptr) | Type::Atomic(_) | Type::Channel(_) => {
                Err("such a value cannot be passed".into())
            }
            Type::Scalar(s) => {
                let bits = self.scalar()?;
                if s.bits() < 64 && bits >> s.bits() != 0 {
                    return Err(format!("{bits:#x} is not a `{s}`"));
                }
                Ok(())
            }
            Type::Tuple(_) | Type::Struct(_) | Type::Option(_) | Type::Result(..) => ty
                .fields(self.structs)
                .iter()
                .try_for_each(|(field, _)| self.value(field)),
            Type::Array(elem, _) => self.blob(ty, elem),
            Type::Ref { mutable, target } => {
                let (memory, piece) = self.memory(*mutable, target)?;
                self.fits(memory, [1, 1, 1], target)?;
                self.region(memory, piece, [1, 1, 1], *mutable, target);
                Ok(())
            }
            Type::Slice { mutable, elem } => {
                let (memory, piece) = self.memory(*mutable, elem)?;
                let len = self.scalar()?;
                self.fits(memory, [1, len, len], elem)?;
                self.region(memory, piece, [1, len, len], *mutable, elem);
                Ok(())
            }
            Type::Mat { mutable, elem } => {
                let (memory, piece) = self.memory(*mutable, elem)?;
                let (rows, cols, distance) = (self.scalar()?, self.scalar()?, self.scalar()?);
                if distance < cols && rows > 1 {
                    return Err(format!(
                        "rows of {cols} elements cannot be {distance} apart"
                    ));
                }
                self.fits(memory, [rows, cols, distance], elem)?;
                self.region(memory, piece, [rows, cols, distance], *mutable, elem);
                Ok(())
            }
        }
    }

    fn next(&mut self) -> Checked<&'c ErasedArg<'a>> {
        self.args.next().ok_or_else(|| "is missing".into())
    }

    fn scalar(&mut self) -> Checked<u64> {
        match self.next()? {
            ErasedArg::Scalar(bits) => Ok(*bits),
            _ => Err("a number was expected".into()),
        }
    }

    fn blob(&mut self, ty: &Type, elem: &Type) -> Checked<()> {
        let size = ty.layout(self.structs).size;
        if size == 0 {
            return Ok(());
        }
        if elem.has_addresses(self.structs) {
            return Err("an array of references cannot be passed to the first task".into());
        }
        match self.next()? {
            ErasedArg::Blob(bytes) if bytes.len() as u64 == size => Ok(()),
            ErasedArg::Blob(bytes) => Err(format!(
                "an array of {size} bytes was expected, and {} bytes came",
                bytes.len()
            )),
            _ => Err("an array was expected".into()),
        }
    }

    fn memory(&mut self, mutable: bool, elem: &Type) -> Checked<(&'c MemoryArg<'a>, usize)> {
        if elem.has_addresses(self.structs) {
            return Err("a slice of references cannot be passed to the first task".into());
        }
        let written = mutable || elem.has_atomics(self.structs);
        let piece = self.pieces - self.args.len();
        match self.next()? {
            ErasedArg::Memory(memory) if memory.home.is_some_and(|h| h != self.home) => {
                Err("it is a buffer of another device".into())
            }
            ErasedArg::Memory(memory) if memory.mutable || !written => Ok((memory, piece)),
            ErasedArg::Memory(_) => {
                Err("the task writes to it, so it must be passed as mutable".into())
            }
            _ => Err("an array in memory was expected".into()),
        }
    }

    /// The memory has room for rows of elements: how many, how many in each, how far apart.
    fn fits(
        &self,
        memory: &MemoryArg<'_>,
        [rows, cols, distance]: [u64; 3],
        elem: &Type,
    ) -> Checked<()> {
        let layout = elem.layout(self.structs);
        let last = rows
            .saturating_sub(1)
            .checked_mul(distance)
            .and_then(|l| l.checked_add(cols));
        let count = if rows == 0 {
            0
        } else {
            last.unwrap_or(u64::MAX)
        };
        if count
            .checked_mul(layout.size)
            .is_none_or(|bytes| bytes > memory.bytes as u64)
        {
            return Err(format!(
                "{count} elements of {} bytes do not fit the {} bytes that were passed",
                layout.size, memory.bytes
            ));
        }
        if count > 0 && !(memory.address as u64).is_multiple_of(layout.align) {
            return Err(format!(
                "its memory is not aligned to {} bytes",
                layout.align
            ));
        }
        Ok(())
    }

    /// Notes memory of the host; it fits.
    fn region(
        &mut self,
        memory: &MemoryArg<'_>,
        piece: usize,
        [rows, cols, distance]: [u64; 3],
        mutable: bool,
        elem: &Type,
    ) {
        let size = elem.layout(self.structs).size as usize;
        if let (Some(regions), None) = (&mut self.regions, memory.home) {
            let (rows, bytes, distance) = (
                rows as usize,
                cols as usize * size,
                distance as usize * size,
            );
            let (rows, bytes, distance) = if rows > 0 && distance == bytes {
                (1, rows * bytes, rows * bytes)
            } else {
                (rows, bytes, distance)
            };
            let written = mutable || elem.has_atomics(self.structs);
            regions.push(Region {
                piece,
                address: memory.address,
                rows,
                bytes,
                distance,
                written,
            });
        }
    }
}
