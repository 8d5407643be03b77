//! Levelized programs by hand.

use millstream_graph::{
    ir::{
        Arg, BinOp, Block, BlockId, Combine, Dest, FieldId, FuncId, Function, FunctionKind, Local,
        LocalId, Operand, Program, Rvalue, SegmentId, Slot, SlotId, Span, Stmt, StmtKind, TaskId,
        Terminator,
    },
    levelized::{Field, Levelized, LoweredSegment, LoweredTask, Push, StackRole, Tasks},
    ty::{Layout, PieceKind, Scalar, Type},
};

pub fn local(id: u32) -> Operand {
    Operand::Local(LocalId(id))
}

pub fn field(name: &str, ty: Scalar) -> Field {
    Field {
        name: name.into(),
        kind: PieceKind::Scalar(ty),
    }
}

pub fn blob(name: &str, size: u64, align: u64) -> Field {
    Field {
        name: name.into(),
        kind: PieceKind::Blob(Layout { size, align }),
    }
}

pub fn block(stmts: Vec<StmtKind>, term: Terminator) -> Block {
    let stmts = stmts
        .into_iter()
        .enumerate()
        .map(|(i, kind)| Stmt {
            kind,
            span: Span {
                line: i as u32 + 1,
                col: 1,
            },
        })
        .collect();
    Block {
        stmts,
        term,
        span: Span::default(),
    }
}

pub fn assign(dst: u32, value: Rvalue) -> StmtKind {
    StmtKind::Assign {
        dst: LocalId(dst),
        value,
    }
}

pub fn binary(dst: u32, op: BinOp, a: Operand, b: Operand) -> StmtKind {
    assign(dst, Rvalue::Binary(op, a, b))
}

pub fn goto(to: u32) -> Terminator {
    Terminator::Goto(BlockId(to))
}

pub fn branch(cond: u32, then: u32, other: u32) -> Terminator {
    Terminator::Branch {
        cond: local(cond),
        then: BlockId(then),
        other: BlockId(other),
    }
}

pub fn function(
    kind: FunctionKind,
    name: &str,
    ret: Type,
    args: &[Arg],
    locals: &[Scalar],
    blocks: Vec<Block>,
) -> Function {
    Function {
        name: name.into(),
        kind,
        rounds: false,
        team: None,
        params: Vec::new(),
        ret,
        args: args.to_vec(),
        locals: locals.iter().map(|&ty| Local { name: None, ty }).collect(),
        slots: Vec::new(),
        blocks,
        span: Span::default(),
    }
}

pub fn slot(size: u64, align: u64, scalar: Option<Scalar>) -> Slot {
    Slot {
        name: None,
        layout: Layout { size, align },
        scalar,
    }
}

pub fn args(count: u32) -> Vec<Arg> {
    (0..count).map(|i| Arg::Local(LocalId(i))).collect()
}

/// The task function of that name and return type that a lowered task came from; nothing looks into it.
pub fn original(name: &str, ret: Type) -> Function {
    function(
        FunctionKind::Task,
        name,
        ret,
        &[],
        &[],
        vec![block(vec![], Terminator::Unreachable)],
    )
}

pub fn program(functions: Vec<Function>) -> Program {
    Program {
        name: "test".into(),
        file: "test.rs".into(),
        functions,
        ..Program::default()
    }
}

/// A program of tasks of one segment each that spawn nothing: name, fields of the element, return type, body. The return address is
/// the last argument, if there is a return type.
pub fn leaves(
    mut program: Program,
    leaves: Vec<(String, Vec<Field>, Type, Function)>,
) -> Levelized {
    let mut tasks = Vec::new();
    for (name, element, ret, body) in leaves {
        let name = program.free_name(name, "'");
        let func = FuncId::new(program.functions.len());
        let last = body.args.last().and_then(|a| match a {
            Arg::Local(local) if !ret.is_unit() => Some(*local),
            _ => None,
        });
        program.functions.push(original(&name, ret));
        let segments = vec![LoweredSegment {
            body,
            ret: last,
            pushes: vec![],
        }];
        tasks.push(LoweredTask {
            func,
            name,
            combine: Combine::Store,
            element,
            frame: vec![],
            segments,
        });
    }
    Tasks { program, tasks }.levelized()
}

/// A task that takes scalars and returns what one assignment makes of them: argument `i` is `%i`, the value `%value` follows the
/// return address.
pub fn assignment(
    name: &str,
    types: &[Scalar],
    ret: Scalar,
    value: Rvalue,
) -> (String, Vec<Field>, Type, Function) {
    let result = types.len() as u32 + 1;
    let mut locals = types.to_vec();
    locals.extend([Scalar::Ptr, ret]);
    let element = locals[..locals.len() - 1]
        .iter()
        .map(|&ty| field("x", ty))
        .collect();
    let blocks = vec![block(
        vec![assign(result, value)],
        Terminator::Return(vec![local(result)]),
    )];
    let body = function(
        FunctionKind::Segment,
        name,
        Type::Scalar(ret),
        &args(result),
        &locals,
        blocks,
    );
    (name.into(), element, Type::Scalar(ret), body)
}

pub fn spawn(func: u32, args: &[u32], dest: u32) -> StmtKind {
    let args = args.iter().map(|&a| local(a)).collect();
    StmtKind::Spawn {
        func: FuncId(func),
        args,
        dest: Some(Dest {
            addr: local(dest),
            combine: Combine::Store,
        }),
        leaf: None,
    }
}

/// `fib(n: u32) -> u64`, a task a call. Pushes are counted if `counted`.
pub fn fib(counted: bool) -> Levelized {
    use Scalar::{Bool, Ptr, U32, U64};
    let u32_ = |v| Operand::Const(U32, v);
    let ret = Type::Scalar(U64);
    let entry = vec![
        block(
            vec![binary(2, BinOp::Lt, local(0), u32_(2))],
            branch(2, 1, 2),
        ),
        block(
            vec![assign(3, Rvalue::Cast(U64, local(0)))],
            Terminator::Return(vec![local(3)]),
        ),
        block(
            vec![
                StmtKind::FrameAlloc,
                StmtKind::FrameStore {
                    field: FieldId(2),
                    value: local(1),
                },
                binary(4, BinOp::Sub, local(0), u32_(1)),
                assign(5, Rvalue::FrameAddr(FieldId(0))),
                spawn(0, &[4], 5),
                binary(4, BinOp::Sub, local(0), u32_(2)),
                assign(5, Rvalue::FrameAddr(FieldId(1))),
                spawn(0, &[4], 5),
            ],
            Terminator::Continue(SegmentId(1)),
        ),
    ];
    let after = vec![block(
        vec![
            assign(0, Rvalue::FrameLoad(FieldId(0))),
            assign(1, Rvalue::FrameLoad(FieldId(1))),
            binary(0, BinOp::Add, local(0), local(1)),
            assign(2, Rvalue::FrameLoad(FieldId(2))),
        ],
        Terminator::Return(vec![local(0)]),
    )];
    let max = |n| if counted { Some(n) } else { None };
    let t = TaskId(0);
    let pushes = vec![
        Push {
            stack: StackRole::Entry(t),
            max: max(2),
        },
        Push {
            stack: StackRole::Frame(t),
            max: max(1),
        },
        Push {
            stack: StackRole::Continuation(t, SegmentId(1)),
            max: max(1),
        },
    ];
    let kind = FunctionKind::Segment;
    let segments = vec![
        LoweredSegment {
            body: function(
                kind,
                "fib",
                ret.clone(),
                &args(2),
                &[U32, Ptr, Bool, U64, U32, Ptr],
                entry,
            ),
            ret: Some(LocalId(1)),
            pushes,
        },
        LoweredSegment {
            body: function(kind, "fib", ret.clone(), &[], &[U64, U64, Ptr], after),
            ret: Some(LocalId(2)),
            pushes: vec![],
        },
    ];
    let task = LoweredTask {
        func: FuncId(0),
        name: "fib".into(),
        combine: Combine::Store,
        element: vec![field("n", U32), field("return", Ptr)],
        frame: vec![field("x", U64), field("y", U64), field("return", Ptr)],
        segments,
    };
    Tasks {
        program: program(vec![original("fib", ret)]),
        tasks: vec![task],
    }
    .levelized()
}

pub fn slot_addr(dst: u32, slot: u32) -> StmtKind {
    assign(dst, Rvalue::SlotAddr(SlotId(slot)))
}
