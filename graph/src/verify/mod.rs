//! The verifier: what must hold of a program, and of the bodies of segments. It looks at what the
//! front end built and, where debug assertions are on, as in tests, at what each pass of the lowering left.
//!
//! **Program**
//! 1. Functions have names of their own, and so have structs. No struct contains itself. `Mat` holds scalars. Types stay below 2^40 bytes.
//! 2. Constants and slots have an alignment that is a power of two and sizes that are multiples of it (of a constant: any size).
//! 3. A program holds tasks, helpers and kernels; only a levelized program has segments.
//!
//! **Function**
//! 4. It has a block. Ids of locals, slots, blocks, functions, constants and fields are in range.
//! 5. Its args are the pieces of its params: a local of the type for a scalar, a slot of the layout, not one of a scalar variable,
//!    for a blob. None is used twice.
//! 6. Nothing goes to the entry block.
//! 7. On every path a local is assigned before it is used; args are assigned.
//!
//! **Statements and terminators**
//! 8. Each operand has the type that its place asks for, each assignment the type of its local. The bits of a constant fit its type.
//! 9. `return` has the pieces of the return type, a blob as an address.
//! 10. `call` names a helper, `spawn` a task; arguments are the pieces of its params, a blob as an address.
//! 11. A call of a helper that returns one scalar may have a `dst` of that type; of one that returns anything else it has a `ret_addr`;
//!     of one that returns nothing (no piece) neither.
//! 12. Only tasks and kernels spawn and sync. A spawn has a `dest` if and only if the task returns something (a piece). To combine in other ways than by
//!     `store` takes one scalar piece that the operation accepts, or several, each of which its operation accepts.
//! 13. A check has as many values as its kind asks for.
//! 14. An atomic works on integers and `bool` with operations that the type has, has as many arguments as its operation takes, no `dst` for a
//!     store, and an order that Rust would take.
//! 15. The arms of a `switch` are different and fit the type of an integer or `bool`.
//! 16. The slot of a scalar variable is touched only through locals that are set once, to its address: by loads and stores of the whole
//!     scalar and as destination of spawns that give that scalar. The address goes nowhere else.
//! 17. Statements, values and terminators of segments stand only in segments.
//!
//! **Kernels and what is made of graphs**
//! 24. A kernel has a first parameter, which has no addresses and no atomics: the element that it consumes. It returns nothing. Only its other parameters
//!     are channels, and channels are nothing else; their elements have none either.
//! 25. `emit` has the pieces of an element, a blob as an address, of a channel of the kernel; in a task or a segment, of a channel of the program.
//! 26. `uniform` reads a uniform of the program as what it is, a blob as an address. Kernels have none.
//! 27. `wide` stands only in tasks: the lowering decides it for each device.
//!
//! **Segment** ([`verify_segment`]): the same, and
//! 18. It has no params and no `sync`; it returns what its task returns. An entry takes the fields of the element, which are the pieces of
//!     the task's params and the return address, a continuation takes nothing.
//! 19. Where it returns something, the local of the return address is assigned.
//! 20. In an entry the frame is allocated once, and before it is used, on every path. A continuation never allocates it.
//! 21. Fields of the frame that are loaded and stored are scalars of the right type. `continue` names a continuation.
//! 22. A spawn combines as the task does that its function belongs to.
//! 23. Each stack that it pushes to is in its list of pushes. Whether a child is a leaf is a `bool`.

mod flow;
mod kernels;
mod segment;
mod slots;
mod stmts;
mod types;

pub use segment::{verify_levelized, verify_segment};

use crate::{
    eval::truncate,
    ir::{Arg, BlockId, Function, FunctionKind, LocalId, Operand, Program, SlotId, Span},
    text,
    ty::{Layout, Piece, PieceKind, Scalar, Type},
};
use segment::SegmentContext;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// Something that does not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// The function; empty if it is about the whole program.
    pub function: String,
    /// The block.
    pub block: Option<BlockId>,
    /// The statement or terminator, in the text form; empty if it is about the whole function.
    pub code: String,
    /// Where in the source.
    pub span: Span,
    /// What is wrong.
    pub message: String,
}

impl std::error::Error for VerifyError {}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.function.is_empty() {
            write!(f, "{}", self.function)?;
            self.block.map_or(Ok(()), |b| write!(f, ", {b}"))?;
            if !self.code.is_empty() {
                write!(f, ", `{}`", self.code)?;
            }
            if self.span != Span::default() {
                write!(f, " at {}:{}", self.span.line, self.span.col)?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}

/// Checks a program.
///
/// # Errors
/// Everything that does not hold, in the order of the program.
pub fn verify(program: &Program) -> Result<(), Vec<VerifyError>> {
    verify_but(program, |segment| {
        let mut checker = Checker::new(program, segment, None);
        checker.fail("a segment stands only in a levelized program");
        checker.errors
    })
}

/// Checks what is no segment in the program of a graph of tasks: segments are verified with the graph that says whose they are
/// ([`verify_levelized`]).
///
/// # Errors
/// Everything that does not hold, in the order of the program.
pub fn verify_but_segments(program: &Program) -> Result<(), Vec<VerifyError>> {
    verify_but(program, |_| Vec::new())
}

/// Checks a program, and segments in this way.
fn verify_but(
    program: &Program,
    check_segment: impl Fn(&Function) -> Vec<VerifyError>,
) -> Result<(), Vec<VerifyError>> {
    let mut errors = types::check_program(program);
    // Layouts exist only where the structs are sound.
    if errors.is_empty() {
        for function in &program.functions {
            if function.kind == FunctionKind::Segment {
                errors.append(&mut check_segment(function));
                continue;
            }
            let mut checker = Checker::new(program, function, None);
            checker.check_params();
            checker.check_args();
            checker.check_body();
            errors.append(&mut checker.errors);
        }
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

/// The signature of a callee.
struct Signature {
    /// Type of each argument.
    args: Vec<Scalar>,
    /// Pieces of the result.
    ret: Vec<Piece>,
}

/// What a piece is passed as: a blob as an address.
const fn passed(kind: PieceKind) -> Scalar {
    match kind {
        PieceKind::Scalar(s) => s,
        PieceKind::Blob(_) => Scalar::Ptr,
    }
}

/// Checks one function.
struct Checker<'a> {
    program: &'a Program,
    function: &'a Function,
    /// Where a segment belongs.
    segment: Option<SegmentContext<'a>>,
    errors: Vec<VerifyError>,
    block: Option<BlockId>,
    /// Statement of the block; the terminator after the last.
    stmt: usize,
}

impl<'a> Checker<'a> {
    const fn new(
        program: &'a Program,
        function: &'a Function,
        segment: Option<SegmentContext<'a>>,
    ) -> Self {
        Self {
            program,
            function,
            segment,
            errors: Vec::new(),
            block: None,
            stmt: 0,
        }
    }

    /// Notes an error at the current place.
    fn fail(&mut self, message: impl Into<String>) {
        let block = self.block.and_then(|b| self.function.blocks.get(b.index()));
        let (code, span) = match block {
            None => (String::new(), self.function.span),
            Some(block) => match block.stmts.get(self.stmt) {
                Some(stmt) => (
                    text::stmt_text(self.program, &stmt.kind).to_string(),
                    stmt.span,
                ),
                None => (text::terminator(&block.term).to_string(), block.span),
            },
        };
        let function = self.function.name.clone();
        self.errors.push(VerifyError {
            function,
            block: self.block,
            code,
            span,
            message: message.into(),
        });
    }

    fn local(&mut self, id: LocalId) -> Option<Scalar> {
        let local = self.function.locals.get(id.index());
        if local.is_none() {
            self.fail(format!("there is no local {id}"));
        }
        local.map(|l| l.ty)
    }

    fn slot(&mut self, id: SlotId) -> Option<Layout> {
        let slot = self.function.slots.get(id.index());
        if slot.is_none() {
            self.fail(format!("there is no slot {id}"));
        }
        slot.map(|s| s.layout)
    }

    /// Type of an operand, if it is one.
    fn operand(&mut self, operand: Operand) -> Option<Scalar> {
        match operand {
            Operand::Local(id) => self.local(id),
            Operand::Const(ty, bits) => {
                if truncate(ty, bits) != bits {
                    self.fail(format!("the bits {bits:#x} do not fit {ty}"));
                }
                Some(ty)
            }
        }
    }

    /// The operand has to have this type.
    fn expect(&mut self, operand: Operand, ty: Scalar, what: &str) {
        if let Some(found) = self.operand(operand).filter(|found| *found != ty) {
            self.fail(format!("{what} is {found}, not {ty}"));
        }
    }

    /// The operands have to have these types.
    fn expect_all(&mut self, operands: &[Operand], types: &[Scalar], what: &str) {
        if operands.len() != types.len() {
            self.fail(format!("{} {what}s, not {}", operands.len(), types.len()));
        }
        for (i, (operand, ty)) in operands.iter().zip(types).enumerate() {
            self.expect(*operand, *ty, &format!("{what} {i}"));
        }
    }

    fn pieces(&self, ty: &Type) -> Vec<Piece> {
        ty.pieces(&self.program.structs)
    }

    /// Rule 5: the args are the pieces of the params.
    fn check_args(&mut self) {
        let pieces = self
            .function
            .params
            .iter()
            .flat_map(|p| self.pieces(&p.ty))
            .map(|p| p.kind)
            .collect::<Vec<_>>();
        self.check_arrivals(&pieces, "params");
    }

    /// The args are places for these pieces.
    fn check_arrivals(&mut self, pieces: &[PieceKind], of: &str) {
        let args = &self.function.args;
        if args.len() != pieces.len() {
            self.fail(format!(
                "{} args for {} pieces of the {of}",
                args.len(),
                pieces.len()
            ));
        }
        let mut seen = BTreeSet::new();
        for (i, (arg, piece)) in args.iter().zip(pieces).enumerate() {
            let (key, ok) = match (*arg, *piece) {
                (Arg::Local(id), PieceKind::Scalar(ty)) => {
                    ((0, id.0), self.local(id).is_none_or(|found| found == ty))
                }
                (Arg::Slot(id), PieceKind::Blob(layout)) => {
                    let scalar = self
                        .function
                        .slots
                        .get(id.index())
                        .is_some_and(|s| s.scalar.is_some());
                    (
                        (1, id.0),
                        !scalar && self.slot(id).is_none_or(|found| found == layout),
                    )
                }
                (Arg::Local(id), PieceKind::Blob(_)) => ((0, id.0), false),
                (Arg::Slot(id), PieceKind::Scalar(_)) => ((1, id.0), false),
            };
            if !ok {
                self.fail(format!("arg {i} is not a place for piece {i} of the {of}"));
            }
            if !seen.insert(key) {
                self.fail(format!("arg {i} is a place that another arg has"));
            }
        }
    }

    /// Rules 2, 4 and 6 to 17, of everything inside the function.
    fn check_body(&mut self) {
        if self.function.blocks.is_empty() {
            self.fail("a function has at least one block");
        }
        for (i, slot) in self.function.slots.iter().enumerate() {
            let Layout { size, align } = slot.layout;
            if !slot.layout.is_sound() {
                self.fail(format!(
                    "slot ${i} has no layout: size {size}, alignment {align}"
                ));
            }
            if slot
                .scalar
                .is_some_and(|s| PieceKind::Scalar(s).layout() != slot.layout)
            {
                self.fail(format!(
                    "slot ${i} of a scalar variable does not have the scalar's layout"
                ));
            }
        }
        for (i, block) in self.function.blocks.iter().enumerate() {
            self.block = Some(BlockId::new(i));
            for (i, stmt) in block.stmts.iter().enumerate() {
                self.stmt = i;
                self.check_stmt(&stmt.kind);
            }
            self.stmt = block.stmts.len();
            self.check_terminator(&block.term);
        }
        // The analyses go by ids, which have to be in range.
        if self.errors.is_empty() {
            self.check_scalar_slots();
            self.check_flow();
        }
        self.block = None;
    }

    fn signature(&self, function: &Function) -> Signature {
        let args = function
            .params
            .iter()
            .flat_map(|p| self.pieces(&p.ty))
            .map(|p| passed(p.kind))
            .collect();
        Signature {
            args,
            ret: self.pieces(&function.ret),
        }
    }

    /// Goes over all statements of the function; the current place follows.
    fn each_stmt(&mut self, mut f: impl FnMut(&mut Self, &'a crate::ir::StmtKind)) {
        let function = self.function;
        for (i, block) in function.blocks.iter().enumerate() {
            self.block = Some(BlockId::new(i));
            for (i, stmt) in block.stmts.iter().enumerate() {
                self.stmt = i;
                f(self, &stmt.kind);
            }
        }
    }
}

/// How often each name occurs that occurs more than once.
fn repeated<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut counts = BTreeMap::new();
    names.for_each(|n| *counts.entry(n).or_insert(0) += 1);
    counts
        .into_iter()
        .filter(|(_, n)| *n > 1)
        .map(|(name, _)| name)
        .collect()
}
