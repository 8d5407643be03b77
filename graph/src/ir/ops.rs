//! The operations of the IR: their names, operand counts and result types.

use crate::ty::Scalar;
use std::fmt;

macro_rules! ops {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name in the text form.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            /// The one of that name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|op| op.name() == name)
            }
        }
    };
}

ops! {
    /// Operations on one operand. The result has the operand's type but for the bit counts, which are `u32`.
    UnOp {
        /// Negation; wraps.
        Neg = "neg",
        /// Complement of an integer or a `bool`.
        Not = "not",
        /// Absolute value; wraps.
        Abs = "abs",
        /// Ones.
        CountOnes = "count_ones",
        /// Leading zeros; the width for 0.
        LeadingZeros = "leading_zeros",
        /// Trailing zeros; the width for 0.
        TrailingZeros = "trailing_zeros",
        /// Bytes in reverse.
        SwapBytes = "swap_bytes",
        /// Bits in reverse.
        ReverseBits = "reverse_bits",
        /// Square root.
        Sqrt = "sqrt",
        /// Toward minus infinity.
        Floor = "floor",
        /// Toward plus infinity.
        Ceil = "ceil",
        /// To nearest, half away from zero.
        Round = "round",
        /// To nearest, half to even.
        RoundTiesEven = "round_ties_even",
        /// Toward zero.
        Trunc = "trunc",
        /// e to the power.
        Exp = "exp",
        /// 2 to the power.
        Exp2 = "exp2",
        /// e to the power, less 1: exact where that is near 0.
        ExpM1 = "exp_m1",
        /// Natural logarithm.
        Ln = "ln",
        /// Natural logarithm of 1 more: exact where that is near 1.
        Ln1p = "ln_1p",
        /// Logarithm to base 2.
        Log2 = "log2",
        /// Logarithm to base 10.
        Log10 = "log10",
        /// Sine.
        Sin = "sin",
        /// Cosine.
        Cos = "cos",
        /// Tangent.
        Tan = "tan",
        /// Inverse sine.
        Asin = "asin",
        /// Inverse cosine.
        Acos = "acos",
        /// Inverse tangent.
        Atan = "atan",
        /// Hyperbolic sine.
        Sinh = "sinh",
        /// Hyperbolic cosine.
        Cosh = "cosh",
        /// Hyperbolic tangent.
        Tanh = "tanh",
        /// Cube root.
        Cbrt = "cbrt",
    }
}

impl UnOp {
    /// Type of the result.
    #[must_use]
    pub const fn result(self, operand: Scalar) -> Scalar {
        match self {
            Self::CountOnes | Self::LeadingZeros | Self::TrailingZeros => Scalar::U32,
            _ => operand,
        }
    }

    /// Whether it takes operands of this type.
    #[must_use]
    pub const fn accepts(self, ty: Scalar) -> bool {
        match self {
            Self::Neg | Self::Abs => ty.is_int() || ty.is_float(),
            Self::Not => ty.is_int() || matches!(ty, Scalar::Bool),
            Self::CountOnes
            | Self::LeadingZeros
            | Self::TrailingZeros
            | Self::SwapBytes
            | Self::ReverseBits => ty.is_int(),
            _ => ty.is_float(),
        }
    }
}

ops! {
    /// Operations on two operands. Both have one type, but for shifts, rotations and powers; comparisons and overflow tests give `bool`.
    BinOp {
        /// Sum; wraps.
        Add = "add",
        /// Difference; wraps.
        Sub = "sub",
        /// Product; wraps.
        Mul = "mul",
        /// Quotient toward zero; the divisor is not 0 and the quotient fits.
        Div = "div",
        /// Remainder with the sign of the dividend; the divisor is not 0 and the quotient fits. Exact for floats.
        Rem = "rem",
        /// Bitwise and; of `bool` too.
        And = "and",
        /// Bitwise or; of `bool` too.
        Or = "or",
        /// Bitwise exclusive or; of `bool` too.
        Xor = "xor",
        /// Shift left by a `u32`, modulo the width.
        Shl = "shl",
        /// Shift right by a `u32`, modulo the width; arithmetic for signed types.
        Shr = "shr",
        /// Rotation left by a `u32`.
        RotateLeft = "rotl",
        /// Rotation right by a `u32`.
        RotateRight = "rotr",
        /// The lesser; of floats, the one that is a number.
        Min = "min",
        /// The greater; of floats, the one that is a number.
        Max = "max",
        /// Equal.
        Eq = "eq",
        /// Not equal.
        Ne = "ne",
        /// Less.
        Lt = "lt",
        /// Less or equal.
        Le = "le",
        /// Greater.
        Gt = "gt",
        /// Greater or equal.
        Ge = "ge",
        /// Whether the sum wraps.
        AddOverflows = "add_overflows",
        /// Whether the difference wraps.
        SubOverflows = "sub_overflows",
        /// Whether the product wraps.
        MulOverflows = "mul_overflows",
        /// Sum, held at the type's bounds.
        SaturatingAdd = "saturating_add",
        /// Difference, held at the type's bounds.
        SaturatingSub = "saturating_sub",
        /// An integer to the power of a `u32`; wraps.
        Pow = "pow",
        /// A float to the power of an `i32`, by repeated squaring.
        Powi = "powi",
        /// A float to the power of a float.
        Powf = "powf",
        /// Angle of the point (second, first).
        Atan2 = "atan2",
        /// Length of the hypotenuse.
        Hypot = "hypot",
        /// The first with the sign of the second.
        Copysign = "copysign",
    }
}

impl BinOp {
    /// Type of the result.
    #[must_use]
    pub const fn result(self, first: Scalar) -> Scalar {
        if self.is_comparison()
            || matches!(
                self,
                Self::AddOverflows | Self::SubOverflows | Self::MulOverflows
            )
        {
            Scalar::Bool
        } else {
            first
        }
    }

    /// Whether it compares.
    #[must_use]
    pub const fn is_comparison(self) -> bool {
        matches!(
            self,
            Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge
        )
    }

    /// Type of the second operand.
    #[must_use]
    pub const fn second(self, first: Scalar) -> Scalar {
        match self {
            Self::Shl | Self::Shr | Self::RotateLeft | Self::RotateRight | Self::Pow => Scalar::U32,
            Self::Powi => Scalar::I32,
            _ => first,
        }
    }

    /// Whether it takes a first operand of this type.
    #[must_use]
    pub const fn accepts(self, ty: Scalar) -> bool {
        match self {
            Self::Add | Self::Sub | Self::Mul | Self::Div | Self::Rem | Self::Min | Self::Max => {
                ty.is_int() || ty.is_float()
            }
            Self::And | Self::Or | Self::Xor => ty.is_int() || matches!(ty, Scalar::Bool),
            Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge => true,
            Self::Powi | Self::Powf | Self::Atan2 | Self::Hypot | Self::Copysign => ty.is_float(),
            _ => ty.is_int(),
        }
    }
}

/// How a child's result reaches its destination.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Combine {
    /// It is written there.
    Store,
    /// It is added; wraps.
    Add,
    /// Bitwise or.
    Or,
    /// Bitwise and.
    And,
    /// Bitwise exclusive or.
    Xor,
    /// The lesser stays.
    Min,
    /// The greater stays.
    Max,
    /// Each of its pieces, which are scalars, in a way of its own.
    Each(Ways),
}

/// What is combined piece by piece: a way for each, of which none stores.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ways {
    /// Places in [`Combine::ALL`]; behind the last piece zeros.
    ways: [u8; Self::MOST],
    count: u8,
}

impl Ways {
    /// So many pieces are combined at most.
    pub const MOST: usize = 16;

    /// None if there are too many, or if one stores.
    #[must_use]
    pub fn new(of: &[Combine]) -> Option<Self> {
        let mut ways = [0; Self::MOST];
        for (i, way) in of.iter().enumerate() {
            way.op()?;
            let at = Combine::ALL.iter().position(|known| known == way)?;
            *ways.get_mut(i)? = u8::try_from(at).ok()?;
        }
        let count = u8::try_from(of.len()).ok()?;
        Some(Self { ways, count })
    }

    /// The way of each piece.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Combine> {
        let ways = self.ways[..usize::from(self.count)].iter();
        ways.map(|at| Combine::ALL[usize::from(*at)])
    }
}

impl fmt::Display for Combine {
    /// Its name in the text form: `add`, and `each_add_max` of two pieces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Store => "store",
            Self::Add => "add",
            Self::Or => "or",
            Self::And => "and",
            Self::Xor => "xor",
            Self::Min => "min",
            Self::Max => "max",
            Self::Each(ways) => {
                f.write_str("each")?;
                return ways.iter().try_for_each(|way| write!(f, "_{way}"));
            }
        })
    }
}

impl Combine {
    /// The ways of one scalar.
    pub const ALL: &'static [Self] = &[
        Self::Store,
        Self::Add,
        Self::Or,
        Self::And,
        Self::Xor,
        Self::Min,
        Self::Max,
    ];

    /// The one of that name in the text form.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let plain = |name: &str| Self::ALL.iter().copied().find(|c| c.to_string() == name);
        match name.strip_prefix("each_") {
            Some(names) => {
                let ways: Option<Vec<Self>> = names.split('_').map(plain).collect();
                Ways::new(&ways?).map(Self::Each)
            }
            None => plain(name),
        }
    }

    /// How the piece of that number gets there.
    #[must_use]
    pub fn of_piece(self, piece: usize) -> Self {
        match self {
            Self::Each(ways) => ways.iter().nth(piece).unwrap_or(Self::Store),
            whole => whole,
        }
    }

    /// The bits of the value that changes nothing when combined, where values may be combined in any order; none for a store, for a sum of floats, and for
    /// several pieces. The lesser or greater of a number and none is the number.
    #[must_use]
    pub const fn neutral(self, ty: Scalar) -> Option<u64> {
        match (self, ty) {
            (Self::Min | Self::Max, Scalar::F32) => return Some(f32::NAN.to_bits() as u64),
            (Self::Min | Self::Max, Scalar::F64) => return Some(f64::NAN.to_bits()),
            (_, Scalar::F32 | Scalar::F64 | Scalar::Ptr) => return None,
            _ => {}
        }
        let ones = if ty.bits() == 64 {
            u64::MAX
        } else {
            (1 << ty.bits()) - 1
        };
        let sign = if ty.is_signed() {
            1 << (ty.bits() - 1)
        } else {
            0
        };
        Some(match self {
            Self::Store | Self::Each(_) => return None,
            Self::Add | Self::Or | Self::Xor => 0,
            Self::And => ones,
            Self::Min => ones ^ sign,
            Self::Max => sign,
        })
    }

    /// The operation that combines what is there with a result; none for a store, and for several pieces.
    #[must_use]
    pub const fn op(self) -> Option<BinOp> {
        Some(match self {
            Self::Store | Self::Each(_) => return None,
            Self::Add => BinOp::Add,
            Self::Or => BinOp::Or,
            Self::And => BinOp::And,
            Self::Xor => BinOp::Xor,
            Self::Min => BinOp::Min,
            Self::Max => BinOp::Max,
        })
    }

    /// The way that combines by this operation, if one does.
    #[must_use]
    pub fn by(op: BinOp) -> Option<Self> {
        Self::ALL.iter().copied().find(|way| way.op() == Some(op))
    }
}

ops! {
    /// An atomic operation.
    AtomicOp {
        /// Reads.
        Load = "load",
        /// Writes.
        Store = "store",
        /// Writes and gives what was there.
        Swap = "swap",
        /// Adds; wraps.
        Add = "add",
        /// Subtracts; wraps.
        Sub = "sub",
        /// Bitwise and.
        And = "and",
        /// Bitwise or.
        Or = "or",
        /// Bitwise exclusive or.
        Xor = "xor",
        /// The complement of bitwise and.
        Nand = "nand",
        /// The lesser stays.
        Min = "min",
        /// The greater stays.
        Max = "max",
        /// Writes the second argument if memory holds the first.
        CompareExchange = "cas",
    }
}

impl AtomicOp {
    /// How many arguments it takes beside the address.
    #[must_use]
    pub const fn args(self) -> usize {
        match self {
            Self::Load => 0,
            Self::CompareExchange => 2,
            _ => 1,
        }
    }
}

ops! {
    /// The order of an atomic operation, as in `std::sync::atomic::Ordering`.
    Order {
        /// `Relaxed`
        Relaxed = "relaxed",
        /// `Acquire`
        Acquire = "acquire",
        /// `Release`
        Release = "release",
        /// `AcqRel`
        AcqRel = "acq_rel",
        /// `SeqCst`
        SeqCst = "seq_cst",
    }
}

/// What a check that fails says.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum CheckKind {
    /// Index and length.
    Bounds,
    /// Start and end of a range: the start lies behind the end.
    RangeOrder,
    /// End of a range, and length.
    RangeEnd,
    /// Split point and length.
    Split,
    /// Two lengths that should be equal.
    Lengths,
    /// The operation that overflows, with both operands.
    Overflow(BinOp),
    /// A negation or absolute value that overflows, with its operand.
    NegOverflow,
    /// The dividend.
    DivisionByZero,
    /// Dividend and divisor of a quotient that does not fit.
    DivisionOverflow,
    /// The dividend, of which the remainder was wanted.
    RemainderByZero,
    /// Dividend and divisor whose quotient does not fit, and of which the remainder was wanted.
    RemainderOverflow,
    /// `assert!` with its text, no values.
    Assert(String),
    /// `assert_eq!` with its text and both values.
    AssertEq(String),
    /// `assert_ne!` with its text and both values.
    AssertNe(String),
    /// `panic!` or `unreachable!` with its text.
    Panic(String),
}

impl CheckKind {
    /// How many values its message has.
    #[must_use]
    pub const fn values(&self) -> usize {
        match self {
            Self::Assert(_) | Self::Panic(_) => 0,
            Self::NegOverflow | Self::DivisionByZero | Self::RemainderByZero => 1,
            _ => 2,
        }
    }
}
