//! The typed tree of a function: what the checker makes of its syntax, and what the builder makes IR of.
//!
//! Every name is resolved, every coercion and auto-dereference is explicit. While the checker works, types may hold inference
//! variables; when it is done, [`crate::check`] has replaced them all.

mod asked;

use crate::{generics::Template, ty::Ty};
use millstream_graph::{
    ir::{AtomicOp, BinOp, Combine, Order, Team, UnOp},
    ty::{Scalar, StructId},
};
use proc_macro2::Span;
use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

/// A variable of a function; parameters come first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct VarId(pub(crate) usize);

/// A loop or labelled block of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct LoopId(pub(crate) usize);

/// A function of the program, in the order of the source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct FnId(pub(crate) usize);

/// A constant of the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct ConstId(pub(crate) usize);

/// A variable.
#[derive(Clone, Debug)]
pub(crate) struct Var {
    pub(crate) name: String,
    pub(crate) ty: Ty,
    /// Whether its address is taken.
    pub(crate) addressed: bool,
    /// Whether a child writes its result to it.
    pub(crate) awaits: bool,
    /// Where it is declared, if it has a value from the start and is not `mut`.
    pub(crate) fixed: Option<Span>,
    /// Whether it is read only behind a test that says that it has a value: the front end's own, which no analysis looks through.
    pub(crate) guarded: bool,
    /// Whether its syntax takes it for a reference to what it is: a closure's parameter, whose argument is lent to it.
    pub(crate) lent: bool,
}

/// The body of a function or constant.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) vars: Vec<Var>,
    pub(crate) root: Expr,
    /// The loops under `#[parallel]`; [`crate::outline`] makes tasks of them.
    /// Each with who is to share it out on a GPU, if that is written.
    pub(crate) parallel: BTreeMap<LoopId, Option<Team>>,
    /// Where the places stand that get a child's result on one way and a value on another.
    pub(crate) ways: BTreeSet<(usize, usize)>,
    /// Where the task itself adds to what results are gathered in; [`crate::outline`] makes tasks of them.
    pub(crate) adds: BTreeSet<(usize, usize)>,
}

impl Body {
    /// One that no source has: nothing in it is left to be made of it.
    pub(crate) const fn made(vars: Vec<Var>, root: Expr) -> Self {
        Self {
            vars,
            root,
            parallel: BTreeMap::new(),
            ways: BTreeSet::new(),
            adds: BTreeSet::new(),
        }
    }
}

/// An expression.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: Box<ExprKind>,
    pub(crate) ty: Ty,
    pub(crate) span: Span,
    /// Whether it may change variables or what they refer to; known when the body is finished.
    pub(crate) assigns: bool,
}

/// What is made of children's results: a value, by variables that stand for the results in it and nowhere else.
#[derive(Clone, Debug)]
pub(crate) struct Then {
    /// The children in their order, each with its result. Their arguments follow each other in those of the spawn.
    pub(crate) children: Vec<(FnId, VarId)>,
    pub(crate) value: Expr,
}

/// What an expression is. *Places* are `Var`, `Field`, `Index`, `MatIndex`, `Deref` and `Const` of an array.
#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    /// An integer: its value, negative ones as two's complement.
    Int(u128),
    Float(f64),
    Bool(bool),
    Var(VarId),
    Const(ConstId),
    Field(Expr, usize),
    /// Of an array place or a slice value.
    Index(Expr, Expr),
    /// Of a matrix value: row and column.
    MatIndex(Expr, Expr, Expr),
    Deref(Expr),
    /// `&place`, `&mut place`; also what a method's receiver becomes.
    AddrOf(Expr),
    /// `&base[range]`: base is an array place or a slice value.
    SubSlice {
        base: Expr,
        range: SliceRange,
    },
    /// From a reference to an array to a slice.
    Unsize(Expr),
    /// An operator; in checked mode, negation is checked.
    Unary(UnOp, Expr),
    /// An operator: division is checked, in checked mode the rest too.
    Binary(BinOp, Expr, Expr),
    /// A method that is one operation and never fails.
    RawUnary(UnOp, Expr),
    RawBinary(BinOp, Expr, Expr),
    /// `==` or `!=` of tuples and structs, field by field.
    SameFields {
        equal: bool,
        left: Expr,
        right: Expr,
    },
    MulAdd(Expr, Expr, Expr),
    /// `a && b` / `a || b`
    Lazy {
        and: bool,
        left: Expr,
        right: Expr,
    },
    Cast(Expr),
    Bitcast(Expr),
    Call(FnId, Vec<Expr>),
    /// A call of a function with parameters that are not known yet: only while types are inferred.
    Later(LaterCall),
    Method(Builtin, Vec<Expr>),
    Atomic {
        op: AtomicOp,
        order: Order,
        place: Expr,
        args: Vec<Expr>,
    },
    Tuple(Vec<Expr>),
    /// Fields in the order of evaluation, and what the rest comes from.
    Struct {
        id: StructId,
        fields: Vec<(usize, Expr)>,
        base: Option<Expr>,
    },
    Array(Vec<Expr>),
    Repeat(Expr, u64),
    If(Expr, Expr, Option<Expr>),
    Match(Expr, Vec<Arm>),
    Block(Vec<Stmt>, Option<Expr>),
    /// A labelled block or `loop`; its value comes with `break`.
    Labelled(LoopId, Expr),
    Loop(LoopId, Expr),
    While(LoopId, Expr, Expr),
    For(LoopId, For, Expr),
    Break(LoopId, Option<Expr>),
    Continue(LoopId),
    Return(Option<Expr>),
    Assign(Expr, Expr),
    /// `place op= value`
    AssignOp(BinOp, Expr, Expr),
    /// A child. `dest` is a place; none where the callee returns nothing or nobody wants it. `then`: what goes there instead of its result, and whose else; it is gone once
    /// [`crate::outline`] has made tasks.
    Spawn {
        func: FnId,
        args: Vec<Expr>,
        dest: Option<(Expr, Combine)>,
        then: Option<Then>,
    },
    Sync,
    /// Whether the device is wide: see [`millstream_graph::ir::Rvalue::Wide`]. In a source `millstream::on_gpu()`.
    Wide,
    /// Whether a spawn makes a child here: not in the serial version of a task.
    Spawns,
    /// How many lanes share out the rounds of loops here: see [`millstream_graph::ir::Rvalue::Lanes`].
    Lanes,
    /// An element for the kernel's channel of this number.
    Emit(usize, Expr),
    /// `assert!` and its kin: the text, the condition, and the two values of `assert_eq!` (true) or `assert_ne!` (false).
    Assert {
        text: String,
        cond: Expr,
        debug: bool,
    },
    AssertCmp {
        text: String,
        equal: bool,
        left: Expr,
        right: Expr,
        debug: bool,
    },
    Panic(String),
    /// Something is wrong here and has been said.
    Error,
}

/// A call of a copy that cannot be named yet.
#[derive(Clone, Debug)]
pub(crate) struct LaterCall {
    pub(crate) template: Rc<Template>,
    pub(crate) given: Vec<Given>,
    pub(crate) args: Vec<Expr>,
}

/// What a parameter stands for.
#[derive(Clone, Debug)]
pub(crate) enum Given {
    Type(Ty),
    Number(Scalar, u64),
}

/// A statement.
#[derive(Clone, Debug)]
pub(crate) enum Stmt {
    Let(Pat, Option<Expr>),
    Expr(Expr),
}

/// A pattern that always matches.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Pat {
    Wild,
    Var(VarId),
    /// Of a tuple or struct: field and pattern.
    Fields(Vec<(usize, Pat)>),
    /// Of an array: a pattern each.
    Elements(Vec<Pat>),
    /// `&x`: of what a reference refers to.
    Deref(Box<Pat>),
    /// The same as `Fields` and `Elements` of what a reference refers to: references to the parts.
    Behind(Box<Pat>),
}

/// An arm of a `match`.
#[derive(Clone, Debug)]
pub(crate) struct Arm {
    /// One of these has to fit.
    pub(crate) cases: Vec<Case>,
    pub(crate) guard: Option<Expr>,
    pub(crate) body: Expr,
}

/// One of the patterns of an arm.
#[derive(Clone, Default, Debug)]
pub(crate) struct Case {
    /// Tests of parts of the value, all of which have to hold.
    pub(crate) tests: Vec<(Path, Test)>,
    /// Variables, the same in each case of an arm, and the parts of the value that they get: as they are, or what they refer to.
    pub(crate) binds: Vec<(Pat, Path)>,
}

/// The way from a value to a part of it.
pub(crate) type Path = Vec<Projection>;

/// A step of such a way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Projection {
    Field(usize),
    /// What a reference refers to.
    Deref,
    /// The length of a slice.
    Len,
    /// An element of an array or slice.
    Element(usize),
    /// An element of a slice, counted from behind its end.
    FromEnd(usize),
    /// An array or slice without so many elements in front and at the end.
    Rest(usize, usize),
    /// A reference to what lies in memory: the last step.
    Borrow,
}

/// A test of a `match` on an integer or `bool`. Bounds are two's complement in the matched type.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Test {
    Is(u64),
    /// From the first to the second, both included; none: open.
    Range(Option<u64>, Option<u64>),
}

/// What a `for` runs over.
#[derive(Clone, Debug)]
pub(crate) enum For {
    Range {
        var: Pat,
        lo: Expr,
        hi: Expr,
        inclusive: bool,
        rev: bool,
        step: Option<Step>,
    },
    /// The items of slices, in step with each other: as many as the one that has fewest.
    Slices {
        parts: Vec<Part>,
        index: Option<VarId>,
        rev: bool,
        /// Whether the index counts from the end: `.rev().enumerate()`.
        from_end: bool,
    },
}

/// One of the slices or matrices that a `for` runs over.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) slice: Expr,
    pub(crate) by: By,
    pub(crate) item: Pat,
    /// Whether it alone is run over from its end: `.rev()` of one side of a `zip`.
    pub(crate) rev: bool,
    /// Whether it is an array's own value that has to be kept, since the body may change the array; known when the body is finished.
    pub(crate) keep: bool,
}

/// What the items of a slice are.
#[derive(Clone, Debug)]
pub(crate) enum By {
    /// References to its elements.
    Element,
    /// Slices of so many elements; the last one may have fewer.
    Chunks(Expr),
    /// Slices of so many elements; what is left over is left out.
    ExactChunks(Expr),
    /// Slices of so many elements, one for each place where one can begin.
    Windows(Expr),
    /// The rows of a matrix, which stands where the slice does.
    Rows,
}

/// `.step_by(n)`
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) by: Expr,
    /// Whether `.rev()` came after it.
    pub(crate) then_rev: bool,
}

/// The range of a sub-slice.
#[derive(Clone, Debug)]
pub(crate) struct SliceRange {
    pub(crate) lo: Option<Expr>,
    pub(crate) hi: Option<Expr>,
    pub(crate) inclusive: bool,
}

/// Methods of the built-in types that are more than one operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Builtin {
    // Slices.
    Len,
    IsEmpty,
    /// A slice as a reference to an array of as many elements.
    AsArray,
    /// The same as a slice of arrays of so many elements, and a slice of such arrays as one of their elements.
    AsArrays(u64),
    Flattened(u64),
    SplitAt,
    Swap,
    Fill,
    CopyFromSlice,
    Reverse,
    RotateLeft,
    RotateRight,
    Contains,
    // Bytes, and integers as bytes.
    /// Whether it lies in one of these ranges.
    IsAscii(&'static [(u8, u8)]),
    ToAsciiLowercase,
    ToAsciiUppercase,
    ToBytes {
        big: bool,
    },
    FromBytes {
        big: bool,
    },
    /// One of two numbers, by what is asked, without a branch.
    Select,
    // Integers and floats.
    Abs,
    AbsDiff,
    UnsignedAbs,
    Signum,
    RemEuclid,
    DivEuclid,
    DivCeil,
    IsMultipleOf,
    IsPowerOfTwo,
    NextPowerOfTwo,
    Pow,
    Ilog2,
    Ilog,
    Isqrt,
    NextMultipleOf,
    SaturatingMul,
    Overflowing(BinOp),
    Clamp,
    IsNan,
    IsFinite,
    IsInfinite,
    IsSignNegative,
    Fract,
    Recip,
    ToDegrees,
    ToRadians,
    SinCos,
    /// What `talloc` gives: all bits zero.
    Zeroed,
    // `std::mem`.
    MemSwap,
    MemReplace,
    // Matrix views.
    MatNew,
    MatRows,
    MatCols,
    MatRow,
    MatQuadrants,
    MatSplitRows,
    MatSplitCols,
    MatSub,
    /// The same memory with the result's mutability.
    MatSame,
    // Atomics.
    /// An atomic from its value.
    AtomicNew,
    /// The value of an atomic that nobody shares any more.
    AtomicInto,
    /// Whether a compare-exchange succeeded: its expected value is compared with what it found.
    CasOk,
    CasErr,
}

impl Expr {
    pub(crate) fn new(kind: ExprKind, ty: Ty, span: Span) -> Self {
        Self {
            kind: Box::new(kind),
            ty,
            span,
            assigns: false,
        }
    }

    /// The value `()`.
    pub(crate) fn nothing() -> Self {
        Self::new(ExprKind::Tuple(Vec::new()), Ty::unit(), Span::call_site())
    }

    /// A struct of these fields, in the order of their evaluation.
    pub(crate) fn structure(id: StructId, fields: Vec<(usize, Expr)>, span: Span) -> Self {
        let kind = ExprKind::Struct {
            id,
            fields,
            base: None,
        };
        Self::new(kind, Ty::Struct(id), span)
    }
}
