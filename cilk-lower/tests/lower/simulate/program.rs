//! The function that stands for a segment in the simulator's program.

use millstream_graph::{
    ir::{
        Arg, BinOp, Block, Combine, FieldId, Function, FunctionKind, Local, LocalId, Operand,
        Rvalue, SegmentId, Stmt, StmtKind, TaskId, Terminator,
    },
    levelized::{Field, Levelized},
    ty::{PieceKind, Scalar, Type},
};

/// Room for what one element may push.
pub(super) const LOG_BYTES: usize = 1 << 20;

/// Fields one behind another, each aligned.
#[derive(Debug)]
pub(super) struct Record {
    /// Where each stands.
    pub(super) offsets: Vec<u64>,
    /// Of all, a multiple of 8.
    pub(super) size: u64,
}

impl Record {
    pub(super) fn new(fields: &[Field]) -> Self {
        let mut size = 0u64;
        let offsets = fields.iter().map(|f| {
            let layout = f.kind.layout();
            let at = size.next_multiple_of(layout.align);
            size = at + layout.size;
            at
        });
        let offsets = offsets.collect();
        Self {
            offsets,
            size: size.next_multiple_of(8),
        }
    }
}

/// What a segment did, apart from its children, and may do: six words in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// Bytes in the log.
    pub(super) bytes: u64,
    /// Frames reserved; from the start one in a continuation.
    pub(super) frames: u64,
    /// Number of the segment to continue at; 0 if none.
    pub(super) next: u64,
    /// Whether the frame was used before it was reserved.
    pub(super) early: u64,
    /// Children that ended where they were spawned.
    pub(super) leaves: u64,
    /// How many restart points will find room.
    pub(super) rooms: u64,
}

const BYTES: u64 = 0;
const FRAMES: u64 = 8;
const NEXT: u64 = 16;
const EARLY: u64 = 24;
const LEAVES: u64 = 32;
const ROOMS: u64 = 40;

impl Head {
    pub(super) const fn new(rooms: u64) -> Self {
        Self {
            rooms,
            bytes: 0,
            frames: 0,
            next: 0,
            early: 0,
            leaves: 0,
        }
    }

    pub(super) fn bytes(self) -> Vec<u8> {
        let words = [
            self.bytes,
            self.frames,
            self.next,
            self.early,
            self.leaves,
            self.rooms,
        ];
        words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }

    pub(super) fn read(bytes: &[u8]) -> Self {
        let word = |at: u64| {
            u64::from_le_bytes(
                bytes[at as usize..at as usize + 8]
                    .try_into()
                    .unwrap_or_default(),
            )
        };
        Self {
            bytes: word(BYTES),
            frames: word(FRAMES),
            next: word(NEXT),
            early: word(EARLY),
            leaves: word(LEAVES),
            rooms: word(ROOMS),
        }
    }
}

fn add_local(function: &mut Function, name: Option<String>, ty: Scalar) -> LocalId {
    function.locals.push(Local { name, ty });
    LocalId::new(function.locals.len() - 1)
}

/// The function of a segment: it takes the segment's arguments, then the addresses of its frame, of a [`Head`] and of the log.
pub(super) fn function(levelized: &Levelized, task: TaskId, id: SegmentId) -> Function {
    let segment = levelized.segment(task, id);
    let mut body = segment.body.clone();
    body.name = format!("segment {}", segment.kernel.name);
    // What it emits goes to the channels of the program, as a task's does.
    body.kind = FunctionKind::Task;
    body.ret = Type::unit();
    let [frame, head, log] =
        ["frame", "head", "log"].map(|name| add_local(&mut body, Some(name.into()), Scalar::Ptr));
    body.args.extend([frame, head, log].map(Arg::Local));
    let fields = Record::new(levelized.frame(task));
    let mut out = Writer {
        levelized,
        task,
        ret: segment.ret,
        frame,
        head,
        log,
        fields,
        body,
        stmts: Vec::new(),
    };
    for i in 0..out.body.blocks.len() {
        let Block { stmts, term, span } = out.body.blocks[i].clone();
        for stmt in stmts {
            let from = out.stmts.len();
            out.statement(stmt.kind);
            out.stmts[from..]
                .iter_mut()
                .for_each(|s| s.span = stmt.span);
        }
        let term = out.terminator(term);
        out.body.blocks[i] = Block {
            stmts: std::mem::take(&mut out.stmts),
            term,
            span,
        };
    }
    out.body
}

struct Writer<'a> {
    levelized: &'a Levelized,
    task: TaskId,
    ret: Option<LocalId>,
    frame: LocalId,
    head: LocalId,
    log: LocalId,
    fields: Record,
    body: Function,
    stmts: Vec<Stmt>,
}

impl Writer<'_> {
    fn put(&mut self, kind: StmtKind) {
        self.stmts.push(Stmt {
            kind,
            span: millstream_graph::ir::Span::default(),
        });
    }

    fn set(&mut self, ty: Scalar, value: Rvalue) -> Operand {
        let dst = add_local(&mut self.body, None, ty);
        self.put(StmtKind::Assign { dst, value });
        Operand::Local(dst)
    }

    fn word(&mut self, offset: u64) -> Operand {
        self.set(
            Scalar::U64,
            Rvalue::Load {
                ty: Scalar::U64,
                addr: Operand::Local(self.head),
                offset,
            },
        )
    }

    fn set_word(&mut self, offset: u64, value: Operand) {
        self.put(StmtKind::Store {
            addr: Operand::Local(self.head),
            offset,
            value,
        });
    }

    /// Notes it if there is no frame yet.
    fn need_frame(&mut self) {
        let frames = self.word(FRAMES);
        let early = self.word(EARLY);
        let none = self.set(
            Scalar::Bool,
            Rvalue::Binary(BinOp::Eq, frames, Operand::Const(Scalar::U64, 0)),
        );
        let early = self.set(
            Scalar::U64,
            Rvalue::Select(none, Operand::Const(Scalar::U64, 1), early),
        );
        self.set_word(EARLY, early);
    }

    fn field(&self, field: FieldId) -> u64 {
        self.fields.offsets[field.index()]
    }

    fn statement(&mut self, kind: StmtKind) {
        match kind {
            StmtKind::FrameAlloc => {
                let frames = self.word(FRAMES);
                let frames = self.set(
                    Scalar::U64,
                    Rvalue::Binary(BinOp::Add, frames, Operand::Const(Scalar::U64, 1)),
                );
                self.set_word(FRAMES, frames);
            }
            StmtKind::FrameStore { field, value } => {
                self.need_frame();
                let offset = self.field(field);
                self.put(StmtKind::Store {
                    addr: Operand::Local(self.frame),
                    offset,
                    value,
                });
            }
            StmtKind::Assign {
                dst,
                value: Rvalue::FrameLoad(field),
            } => {
                self.need_frame();
                let PieceKind::Scalar(ty) = self.levelized.frame(self.task)[field.index()].kind
                else {
                    unreachable!("only scalar fields are loaded")
                };
                let value = Rvalue::Load {
                    ty,
                    addr: Operand::Local(self.frame),
                    offset: self.field(field),
                };
                self.put(StmtKind::Assign { dst, value });
            }
            StmtKind::Assign {
                dst,
                value: Rvalue::FrameAddr(field),
            } => {
                self.need_frame();
                let value = self.place(
                    Operand::Local(self.frame),
                    Operand::usize(0),
                    self.field(field),
                );
                self.put(StmtKind::Assign { dst, value });
            }
            StmtKind::Spawn {
                func,
                args,
                dest,
                leaf,
            } => {
                let task = self
                    .levelized
                    .task_of(func)
                    .unwrap_or_else(|| unreachable!("spawns name tasks"));
                let element = self.levelized.element(task);
                let record = Record::new(element);
                let bytes = self.word(BYTES);
                let at = self.set(Scalar::Usize, Rvalue::Cast(Scalar::Usize, bytes));
                let base = self.place(Operand::Local(self.log), at, 0);
                let base = self.set(Scalar::Ptr, base);
                self.put(StmtKind::Store {
                    addr: base,
                    offset: 0,
                    value: Operand::Const(Scalar::U64, u64::from(task.0)),
                });
                let values = args.into_iter().chain(dest.map(|d| d.addr));
                for ((field, offset), value) in element.iter().zip(&record.offsets).zip(values) {
                    self.give(field.kind, base, 8 + offset, value);
                }
                // What was written of a leaf is written over.
                let mut more = Operand::Const(Scalar::U64, 8 + record.size);
                if let Some(leaf) = leaf {
                    more = self.set(
                        Scalar::U64,
                        Rvalue::Select(leaf, Operand::Const(Scalar::U64, 0), more),
                    );
                    let (leaf, leaves) = (
                        self.set(Scalar::U64, Rvalue::Cast(Scalar::U64, leaf)),
                        self.word(LEAVES),
                    );
                    let leaves = self.set(Scalar::U64, Rvalue::Binary(BinOp::Add, leaves, leaf));
                    self.set_word(LEAVES, leaves);
                }
                let bytes = self.set(Scalar::U64, Rvalue::Binary(BinOp::Add, bytes, more));
                self.set_word(BYTES, bytes);
            }
            other => self.put(other),
        }
    }

    fn place(&self, base: Operand, index: Operand, offset: u64) -> Rvalue {
        Rvalue::PtrAdd {
            base,
            index,
            scale: 1,
            offset,
        }
    }

    /// Writes a piece to memory.
    fn give(&mut self, kind: PieceKind, addr: Operand, offset: u64, value: Operand) {
        match kind {
            PieceKind::Scalar(_) => self.put(StmtKind::Store {
                addr,
                offset,
                value,
            }),
            PieceKind::Blob(layout) => {
                let place = self.place(addr, Operand::usize(0), offset);
                let dst = self.set(Scalar::Ptr, place);
                self.put(StmtKind::Copy {
                    dst,
                    src: value,
                    size: layout.size,
                });
            }
        }
    }

    fn terminator(&mut self, term: Terminator) -> Terminator {
        match term {
            Terminator::Continue(segment) => {
                self.set_word(NEXT, Operand::Const(Scalar::U64, u64::from(segment.0)));
                Terminator::Return(Vec::new())
            }
            Terminator::Room { then, other, .. } => {
                let rooms = self.word(ROOMS);
                let number = |n| Operand::Const(Scalar::U64, n);
                let cond = self.set(Scalar::Bool, Rvalue::Binary(BinOp::Ne, rooms, number(0)));
                let less = self.set(Scalar::U64, Rvalue::Binary(BinOp::Sub, rooms, number(1)));
                self.set_word(ROOMS, less);
                Terminator::Branch { cond, then, other }
            }
            Terminator::Return(values) => {
                if let Some(ret) = self.ret {
                    self.deliver(Operand::Local(ret), &values);
                }
                Terminator::Return(Vec::new())
            }
            other => other,
        }
    }

    /// The pieces of a result go through the return address.
    fn deliver(&mut self, ret: Operand, values: &[Operand]) {
        let pieces = self
            .levelized
            .entry(self.task)
            .body
            .ret
            .pieces(&self.levelized.program.structs);
        for (i, (piece, &value)) in pieces.iter().zip(values).enumerate() {
            match (self.levelized[self.task].combine.of_piece(i), piece.kind) {
                (Combine::Store, kind) => self.give(kind, ret, piece.offset, value),
                (combine, PieceKind::Scalar(ty)) => {
                    let old = self.set(
                        ty,
                        Rvalue::Load {
                            ty,
                            addr: ret,
                            offset: piece.offset,
                        },
                    );
                    let op = combine
                        .op()
                        .unwrap_or_else(|| unreachable!("a store was given above"));
                    let new = self.set(ty, Rvalue::Binary(op, old, value));
                    self.put(StmtKind::Store {
                        addr: ret,
                        offset: piece.offset,
                        value: new,
                    });
                }
                (_, PieceKind::Blob(_)) => unreachable!("arrays are not combined"),
            }
        }
    }
}
