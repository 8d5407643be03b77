//! What a running program can die of, the same on every engine.

use crate::{
    ir::{BinOp, CheckKind, Span},
    ty::Scalar,
};
use std::fmt;

/// A value in the message of a [`Fault`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FaultValue {
    /// Its type.
    pub ty: Scalar,
    /// Its bits, zero-extended.
    pub bits: u64,
}

impl fmt::Display for FaultValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ty {
            Scalar::Bool => write!(f, "{}", self.bits != 0),
            Scalar::F32 => write!(f, "{:?}", f32::from_bits(self.bits as u32)),
            Scalar::F64 => write!(f, "{:?}", f64::from_bits(self.bits)),
            Scalar::Ptr => write!(f, "{:#x}", self.bits),
            ty => {
                let shift = 64 - ty.bits();
                if ty.is_signed() {
                    write!(f, "{}", ((self.bits << shift) as i64) >> shift)
                } else {
                    write!(f, "{}", (self.bits << shift) >> shift)
                }
            }
        }
    }
}

/// A check of the program that failed while it ran.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// What was wrong.
    pub kind: CheckKind,
    /// The values that the message names.
    pub values: Vec<FaultValue>,
    /// The function it happened in, or what was made of it: `run.loop1` of `run`.
    pub function: String,
    /// The source file.
    pub file: String,
    /// Where in the file.
    pub span: Span,
}

impl std::error::Error for Fault {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message(f)?;
        // What was made of it differs between devices, and its name is nowhere in the source.
        let written = self.function.split('.').next().unwrap_or_default();
        let Span { line, col, .. } = self.span;
        write!(f, ", in `{written}` at {}:{line}:{col}", self.file)
    }
}

impl Fault {
    fn message(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let v = |i: usize| {
            self.values
                .get(i)
                .map_or_else(|| "?".to_owned(), ToString::to_string)
        };
        match &self.kind {
            CheckKind::Bounds => write!(
                f,
                "index out of bounds: the length is {} but the index is {}",
                v(1),
                v(0)
            ),
            CheckKind::RangeOrder => write!(f, "range starts at {} but ends at {}", v(0), v(1)),
            CheckKind::RangeEnd => write!(
                f,
                "range out of bounds: it ends at {} but the length is {}",
                v(0),
                v(1)
            ),
            CheckKind::Split => write!(f, "split point {} lies beyond the length {}", v(0), v(1)),
            CheckKind::Lengths => write!(f, "lengths differ: {} and {}", v(0), v(1)),
            CheckKind::Overflow(op) => {
                let sign = match op {
                    BinOp::Add => "+",
                    BinOp::Sub => "-",
                    BinOp::Mul => "*",
                    BinOp::Shl => "<<",
                    BinOp::Shr => ">>",
                    other => other.name(),
                };
                write!(f, "overflow: {} {sign} {}", v(0), v(1))
            }
            CheckKind::NegOverflow => write!(f, "overflow: negation of {}", v(0)),
            CheckKind::DivisionByZero => write!(f, "division by zero: {} / 0", v(0)),
            CheckKind::DivisionOverflow => write!(f, "overflow: {} / {}", v(0), v(1)),
            CheckKind::RemainderByZero => write!(f, "division by zero: {} % 0", v(0)),
            CheckKind::RemainderOverflow => write!(f, "overflow: {} % {}", v(0), v(1)),
            CheckKind::Assert(text) => write!(f, "assertion failed: {text}"),
            CheckKind::AssertEq(text) => write!(
                f,
                "assertion failed: {text}: left is {}, right is {}",
                v(0),
                v(1)
            ),
            CheckKind::AssertNe(text) => write!(f, "assertion failed: {text}: both are {}", v(0)),
            CheckKind::Panic(text) => write!(f, "panic: {text}"),
        }
    }
}
