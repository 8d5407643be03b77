//! The kernel IR: a typed control-flow graph per function.
//!
//! A [`Program`] holds tasks and helpers as [`Function`]s: blocks of statements on typed *locals* (mutable registers) and
//! *slots* (local memory with an address), each block ended by a [`Terminator`]. The front end writes it, the interpreter runs it
//! as it stands, and the lowering splits its tasks into segments ([`crate::levelized`]), whose bodies are functions of the same
//! form with a few more statements. [`super::verify`] has the list of what must hold.
//!
//! Conventions:
//! - A parameter is passed as its pieces ([`Type::pieces`]): an [`Arg`] each. A blob (array) is passed as the address of its bytes, and
//!   the callee owns a copy in the slot that the argument names.
//! - [`Terminator::Return`] has one operand for each piece of the return type; a blob again as the address of its bytes. A helper whose
//!   return type is one scalar piece gives it to [`StmtKind::Call`]'s `dst`; any other value is written to `ret_addr` in its memory layout.
//! - A task's result goes to the [`Dest`] of its spawn. A spawn has a `dest` if and only if the callee returns something; the front end
//!   makes a slot for a result that nobody wants.
//! - A kernel's first parameter is the element that it consumes. Its channels have no pieces; [`StmtKind::Emit`] names them by their number among the
//!   parameters that are channels. A *graph* gives its kernels what they emit into and the other arguments: a program that was made of one
//!   has its channels and uniforms in [`Program`], and tasks in place of kernels.
//! - Shift and rotate amounts are `u32` and are taken modulo the width. Integer arithmetic wraps. The front end has put a
//!   [`StmtKind::Check`] before each division, index and, in checked mode, before what may overflow.

mod entity;
mod ops;
mod visit;

pub use entity::{
    BlockId, ChannelId, DataId, FieldId, FuncId, LocalId, SegmentId, SlotId, TaskId, UniformId,
};
pub use ops::{AtomicOp, BinOp, CheckKind, Combine, Order, UnOp, Ways};

use crate::ty::{Field, Layout, Piece, PieceKind, Scalar, Structs, Type};
use std::fmt;

/// A place in the program's source file: line and column, both from 1; 0 where there is none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Span {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub col: u32,
}

/// What the program asked for in `#[program(..)]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Overflow is an error too.
    pub checked: bool,
    /// No bounds checks.
    pub unchecked: bool,
    /// Floating point may be contracted and reordered.
    pub fast_math: bool,
}

/// A whole program.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Program {
    /// Its name: that of the module.
    pub name: String,
    /// The source file, as errors name it.
    pub file: String,
    /// What it asked for.
    pub options: Options,
    /// Its structs.
    pub structs: Structs,
    /// Constant arrays.
    pub data: Vec<Data>,
    /// Made of a graph: its channels.
    pub channels: Vec<ChannelDef>,
    /// Made of a graph: the pieces of the arguments that it gives to its kernels. A blob is the address of its bytes.
    pub uniforms: Vec<Field>,
    /// Tasks, helpers and kernels; [`FuncId`] is the index.
    pub functions: Vec<Function>,
}

/// A channel of a graph: what code that emits into it knows of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelDef {
    /// Its name.
    pub name: String,
    /// The fields of its elements: the pieces of their type.
    pub fields: Vec<Field>,
}

/// A constant array: read-only memory that outlives the run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Data {
    /// The constant's name.
    pub name: String,
    /// Alignment in bytes.
    pub align: u64,
    /// The bytes, little-endian.
    pub bytes: Vec<u8>,
}

/// What a function is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FunctionKind {
    /// May spawn and sync; is called by spawn.
    Task,
    /// An ordinary function: calls only helpers.
    Helper,
    /// Runs over the elements of a channel; a graph connects it. May do what a task may, and emit.
    Kernel,
    /// The code of a task between two syncs, after the lowering.
    Segment,
}

impl FunctionKind {
    /// Whether it may spawn and sync.
    #[must_use]
    pub const fn spawns(self) -> bool {
        matches!(self, Self::Task | Self::Kernel)
    }
}

/// A parameter as the user declared it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// Where a piece of a parameter arrives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arg {
    /// A scalar piece, in this local.
    Local(LocalId),
    /// A blob, copied to this slot.
    Slot(SlotId),
}

/// Who shares out a loop's rounds on a GPU: no more than these.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Team {
    /// Nobody: one lane runs them in turn.
    Lane,
    /// The lanes of a warp.
    Warp,
    /// The threads of a block.
    Block,
    /// All blocks.
    Device,
    /// So many threads; what is no whole warp counts as one.
    Threads(u32),
}

impl Team {
    /// Those that have names.
    pub const NAMED: [(&str, Self); 4] = [
        ("lane", Self::Lane),
        ("warp", Self::Warp),
        ("block", Self::Block),
        ("device", Self::Device),
    ];

    /// By its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let mut all = Self::NAMED.iter();
        all.find(|(of, _)| *of == name).map(|(_, team)| *team)
    }
}

impl fmt::Display for Team {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, Self::NAMED.iter().find(|(_, team)| team == self)) {
            (Self::Threads(n), _) => n.fmt(f),
            (_, name) => f.write_str(name.map_or("", |(name, _)| name)),
        }
    }
}

/// A function.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Its name; unique in the program.
    pub name: String,
    /// What it is.
    pub kind: FunctionKind,
    /// It runs rounds of a parallel loop: its outermost loops, up to the first sync, may run their turns side by side or in any order, but for what a
    /// turn adds to a local. Of a task; and of a helper that is the serial version of one, where a wide device may run it by itself
    /// ([`Rvalue::Lanes`]).
    pub rounds: bool,
    /// Who is to share these rounds out on a GPU, where the source says so.
    pub team: Option<Team>,
    /// The parameters as declared; empty for a segment.
    pub params: Vec<Param>,
    /// What it returns.
    pub ret: Type,
    /// Where the pieces of the parameters arrive, in order. Of an entry segment: the fields of the channel element.
    pub args: Vec<Arg>,
    /// Registers. They hold nothing until assigned.
    pub locals: Vec<Local>,
    /// Local memory.
    pub slots: Vec<Slot>,
    /// The blocks; the first is the entry and nothing jumps to it.
    pub blocks: Vec<Block>,
    /// Where it is declared.
    pub span: Span,
}

/// A register.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Local {
    /// The user's name for it, if it has one; for readers only.
    pub name: Option<String>,
    /// What it holds.
    pub ty: Scalar,
}

/// Local memory with an address. Its bytes are undefined until written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slot {
    /// The user's name for it, if it has one.
    pub name: Option<String>,
    /// Size and alignment.
    pub layout: Layout,
    /// The scalar it holds if it is the memory of one scalar variable: only whole loads, stores and spawn results touch it.
    pub scalar: Option<Scalar>,
}

/// A block: statements, then where to go.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    /// What it does.
    pub stmts: Vec<Stmt>,
    /// Where it goes.
    pub term: Terminator,
    /// Where the terminator stands in the source.
    pub span: Span,
}

/// A statement and where it came from.
#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where it stands in the source.
    pub span: Span,
}

/// A register or a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// The value of a local.
    Local(LocalId),
    /// A constant: its type and its bits, zero-extended. Floats by `to_bits`.
    Const(Scalar, u64),
}

impl Operand {
    /// A `usize` constant.
    #[must_use]
    pub const fn usize(value: u64) -> Self {
        Self::Const(Scalar::Usize, value)
    }

    /// A `bool` constant.
    #[must_use]
    pub const fn bool(value: bool) -> Self {
        Self::Const(Scalar::Bool, value as u64)
    }
}

/// Where a child's result goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dest {
    /// Address of memory with the layout of the callee's return type.
    pub addr: Operand,
    /// How the result gets there. Anything but [`Combine::Store`] needs a return type of scalars: one, or with [`Combine::Each`] as many as that has ways.
    pub combine: Combine,
}

/// What a statement does.
#[derive(Clone, PartialEq, Debug)]
pub enum StmtKind {
    /// `dst = value`
    Assign {
        /// The local that is written.
        dst: LocalId,
        /// What it gets.
        value: Rvalue,
    },
    /// Writes a scalar to `addr + offset`.
    Store {
        /// Base address.
        addr: Operand,
        /// Bytes to add.
        offset: u64,
        /// What is written; the type is the operand's.
        value: Operand,
    },
    /// Copies `size` bytes from `src` to `dst`, which are the same or do not overlap.
    Copy {
        /// Where to.
        dst: Operand,
        /// Where from.
        src: Operand,
        /// How many bytes.
        size: u64,
    },
    /// Sets `size` bytes to zero.
    Zero {
        /// Where.
        dst: Operand,
        /// How many bytes.
        size: u64,
    },
    /// Calls a helper and waits for it.
    Call {
        /// The helper.
        func: FuncId,
        /// A piece each.
        args: Vec<Operand>,
        /// Gets the result if it is one scalar piece.
        dst: Option<LocalId>,
        /// Memory for any other result.
        ret_addr: Option<Operand>,
    },
    /// Makes a child: `talloc`, stores and `enq` on the entry channel of the task, one level deeper.
    Spawn {
        /// The task.
        func: FuncId,
        /// A piece each.
        args: Vec<Operand>,
        /// Where its result goes, if it has one.
        dest: Option<Dest>,
        /// Segments only: if this `bool` holds, the child has ended where it was spawned. It counts as a task that ran and no element is
        /// made: the segment itself has done what the child would have done.
        leaf: Option<Operand>,
    },
    /// Puts an element into a channel: `talloc`, stores and `enq`.
    Emit {
        /// Of a kernel, its n-th channel; of a program that was made of a graph, the graph's.
        channel: ChannelId,
        /// A piece each.
        args: Vec<Operand>,
    },
    /// Ends the run with an error unless `cond` holds.
    Check {
        /// What must hold.
        cond: Operand,
        /// What is wrong if it does not.
        kind: CheckKind,
        /// Values for the message; how many, the kind says ([`CheckKind::values`]).
        values: Vec<Operand>,
    },
    /// An atomic operation on a scalar in memory.
    Atomic {
        /// Which.
        op: AtomicOp,
        /// What memory holds.
        ty: Scalar,
        /// Where.
        addr: Operand,
        /// None for a load, the new or other value, or expected and new.
        args: Vec<Operand>,
        /// Gets the value that memory held before; unused by a store.
        dst: Option<LocalId>,
        /// Memory order; of a compare-exchange, that of success (a failure is a load of matching strength).
        order: Order,
    },
    /// Segments only: `talloc` of this task's frame. Every [`Rvalue::FrameLoad`], [`Rvalue::FrameAddr`], [`StmtKind::FrameStore`] and
    /// [`Terminator::Continue`] of an entry segment comes after it; a continuation has its frame from the start.
    FrameAlloc,
    /// Segments only: writes a scalar field of this task's frame.
    FrameStore {
        /// The field.
        field: FieldId,
        /// What it gets.
        value: Operand,
    },
}

/// What a local can be set to.
#[derive(Clone, PartialEq, Debug)]
pub enum Rvalue {
    /// A copy.
    Use(Operand),
    /// One operand.
    Unary(UnOp, Operand),
    /// Two operands.
    Binary(BinOp, Operand, Operand),
    /// `a * b + c`, rounded once.
    MulAdd(Operand, Operand, Operand),
    /// The second if the first (a `bool`) holds, else the third.
    Select(Operand, Operand, Operand),
    /// Rust's `as`.
    Cast(Scalar, Operand),
    /// The same bits as another type of the same size.
    Bitcast(Scalar, Operand),
    /// Reads a scalar from `addr + offset`.
    Load {
        /// What is read.
        ty: Scalar,
        /// Base address.
        addr: Operand,
        /// Bytes to add.
        offset: u64,
    },
    /// Address of a slot. In a segment: of one that does not outlive the segment.
    SlotAddr(SlotId),
    /// Address of a constant array.
    DataAddr(DataId),
    /// `bool`: whether the device runs so many tasks side by side that one which could be called had better be spawned. A GPU does; the
    /// interpreter and the CPU do not. Tasks only, before they are lowered.
    Wide,
    /// `usize`: how many lanes a device has for the rounds of a loop that this code comes to, where rounds of one loop may run side by side
    /// ([`Function::rounds`]): 1 everywhere but where a GPU runs a task alone. Helpers only, before they are inlined.
    Lanes,
    /// Made of a graph: an argument that the graph gives, the same for all elements of a run.
    Uniform {
        /// Which.
        id: UniformId,
        /// What is read: the uniform's scalar, `ptr` for a blob.
        ty: Scalar,
    },
    /// `base + index * scale + offset`, in bytes; the index is a `usize`.
    PtrAdd {
        /// Base address.
        base: Operand,
        /// How many elements.
        index: Operand,
        /// Bytes an element.
        scale: u64,
        /// Bytes to add.
        offset: u64,
    },
    /// Segments only: reads a scalar field of this task's frame.
    FrameLoad(FieldId),
    /// Segments only: address of a field of this task's frame, valid until the task ends.
    FrameAddr(FieldId),
}

/// How a block ends.
#[derive(Clone, PartialEq, Debug)]
pub enum Terminator {
    /// To this block.
    Goto(BlockId),
    /// To `then` if `cond` (a `bool`) holds, else to `other`.
    Branch {
        /// What is asked.
        cond: Operand,
        /// If it holds.
        then: BlockId,
        /// If it does not.
        other: BlockId,
    },
    /// To the arm with the value's bits (zero-extended, of an integer or `bool`), else to `other`.
    Switch {
        /// What is asked.
        value: Operand,
        /// Bits and block; no bits twice.
        arms: Vec<(u64, BlockId)>,
        /// Otherwise.
        other: BlockId,
    },
    /// The function ends with these pieces. In a segment: the task ends, and the pieces go through its return address.
    Return(Vec<Operand>),
    /// Tasks only: go on at this block when all children are done.
    Sync(BlockId),
    /// Segments only: a restart point. To `then` if so many more children find room, which then is kept for them; else to `other`, which gives the
    /// element up until there is.
    Room {
        /// How many may be spawned before this is asked again, of all tasks that a loop of the segment spawns.
        children: u32,
        /// If there is room.
        then: BlockId,
        /// If there is none.
        other: BlockId,
    },
    /// Segments only: the frame goes to the continuation channel of this segment of the same task.
    Continue(SegmentId),
    /// Never reached.
    Unreachable,
}

impl Program {
    /// The function of that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<FuncId> {
        self.functions
            .iter()
            .position(|f| f.name == name)
            .map(|i| FuncId(i as u32))
    }

    /// The name, or that with so much behind it that no function has it.
    #[must_use]
    pub fn free_name(&self, mut name: String, more: &str) -> String {
        while self.find(&name).is_some() {
            name.push_str(more);
        }
        name
    }

    /// The tasks that the source has, in order: those that can be called.
    pub fn callable(&self) -> impl Iterator<Item = (FuncId, &Function)> {
        self.tasks().filter(|(_, f)| !f.is_made())
    }

    /// The tasks, in order.
    pub fn tasks(&self) -> impl Iterator<Item = (FuncId, &Function)> {
        let all = self
            .functions
            .iter()
            .enumerate()
            .map(|(i, f)| (FuncId(i as u32), f));
        all.filter(|(_, f)| f.kind == FunctionKind::Task)
    }

    /// The pieces of an element of a channel, as a function names it ([`StmtKind::Emit`]); none if it has no such channel.
    #[must_use]
    pub fn element(&self, function: &Function, channel: ChannelId) -> Option<Vec<PieceKind>> {
        let kinds = |pieces: Vec<Piece>| pieces.iter().map(|p| p.kind).collect();
        match function.kind {
            FunctionKind::Helper => None,
            FunctionKind::Kernel => {
                let ty = function.ports().nth(channel.index())?;
                Some(kinds(ty.pieces(&self.structs)))
            }
            FunctionKind::Task | FunctionKind::Segment => {
                let channel = self.channels.get(channel.index())?;
                Some(channel.fields.iter().map(|f| f.kind).collect())
            }
        }
    }

    /// The kernels, in order.
    pub fn kernels(&self) -> impl Iterator<Item = (FuncId, &Function)> {
        let all = self
            .functions
            .iter()
            .enumerate()
            .map(|(i, f)| (FuncId(i as u32), f));
        all.filter(|(_, f)| f.kind == FunctionKind::Kernel)
    }
}

impl std::ops::Index<FuncId> for Program {
    type Output = Function;
    fn index(&self, id: FuncId) -> &Function {
        &self.functions[id.index()]
    }
}

impl Function {
    /// Whether the source has it, or it was made of a part of it: a parallel loop, or a task as a function. No name of a source has a dot.
    #[must_use]
    pub fn is_made(&self) -> bool {
        self.name.contains('.')
    }

    /// Of a kernel: the types of the elements of the channels that it emits into.
    pub fn ports(&self) -> impl Iterator<Item = &Type> {
        self.params.iter().filter_map(|p| match &p.ty {
            Type::Channel(elem) => Some(elem.as_ref()),
            _ => None,
        })
    }

    /// All statements, block by block.
    pub fn stmts(&self) -> impl DoubleEndedIterator<Item = &Stmt> {
        self.blocks.iter().flat_map(|b| &b.stmts)
    }

    /// Type of an operand.
    #[must_use]
    pub fn type_of(&self, operand: Operand) -> Scalar {
        match operand {
            Operand::Local(id) => self.locals[id.index()].ty,
            Operand::Const(ty, _) => ty,
        }
    }

    /// Type of a value. The field types of this task's frame are asked of `field`.
    #[must_use]
    pub fn type_of_value(&self, value: &Rvalue, field: impl Fn(FieldId) -> Scalar) -> Scalar {
        match value {
            Rvalue::Use(a) | Rvalue::MulAdd(a, ..) | Rvalue::Select(_, a, _) => self.type_of(*a),
            Rvalue::Unary(op, a) => op.result(self.type_of(*a)),
            Rvalue::Binary(op, a, _) => op.result(self.type_of(*a)),
            Rvalue::Cast(ty, _)
            | Rvalue::Bitcast(ty, _)
            | Rvalue::Load { ty, .. }
            | Rvalue::Uniform { ty, .. } => *ty,
            Rvalue::SlotAddr(_)
            | Rvalue::DataAddr(_)
            | Rvalue::PtrAdd { .. }
            | Rvalue::FrameAddr(_) => Scalar::Ptr,
            Rvalue::FrameLoad(id) => field(*id),
            Rvalue::Wide => Scalar::Bool,
            Rvalue::Lanes => Scalar::Usize,
        }
    }
}
