//! Segments: rules 18 to 23.

use super::*;

/// fib, levelized by hand.
fn fib() -> Tasks {
    let mut program = parse(crate::graph::FIB);
    let field = |name: &str, ty| Field {
        name: name.into(),
        kind: PieceKind::Scalar(ty),
    };
    let join = program.functions.pop().unwrap();
    let entry = program.functions.pop().unwrap();
    let push = |stack| Push {
        stack,
        max: Some(2),
    };
    let stacks = [
        StackRole::Entry(TaskId(0)),
        StackRole::Frame(TaskId(0)),
        StackRole::Continuation(TaskId(0), SegmentId(1)),
    ];
    let task = LoweredTask {
        func: FuncId(0),
        name: "fib".into(),
        combine: millstream_graph::ir::Combine::Store,
        element: vec![field("n", Scalar::U32), field("ret", Scalar::Ptr)],
        frame: vec![
            field("x", Scalar::U64),
            field("y", Scalar::U64),
            field("ret", Scalar::Ptr),
        ],
        segments: vec![
            LoweredSegment {
                body: entry,
                ret: Some(LocalId(1)),
                pushes: stacks.map(push).to_vec(),
            },
            LoweredSegment {
                body: join,
                ret: Some(LocalId(2)),
                pushes: Vec::new(),
            },
        ],
    };
    Tasks {
        program,
        tasks: vec![task],
    }
}

/// All that is wrong after this change with the entry (0) or the continuation (1).
fn all(segment: u32, change: impl FnOnce(&mut Tasks)) -> Vec<String> {
    let mut tasks = fib();
    change(&mut tasks);
    let levelized = tasks.levelized();
    messages(verify_segment(&levelized, TaskId(0), SegmentId(segment)))
}

/// The one thing that is wrong after this change.
fn changed(segment: u32, change: impl FnOnce(&mut LoweredTask)) -> String {
    let errors = all(segment, |l| change(&mut l.tasks[0]));
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors.into_iter().next().unwrap()
}

/// The kind of a statement of a segment.
fn kind(task: &mut LoweredTask, segment: usize, block: usize, stmt: usize) -> &mut StmtKind {
    &mut task.segments[segment].body.blocks[block].stmts[stmt].kind
}

#[test]
fn a_right_segment_is_accepted() {
    let levelized = fib().levelized();
    verify_levelized(&levelized).unwrap();
    assert!(
        millstream_graph::text::print_levelized(&levelized)
            .contains("// s0 pushes: 2 to fib, 2 to fib.frame, 2 to fib.1; returns through %1")
    );
    assert_eq!(
        messages(verify_segment(&levelized, TaskId(7), SegmentId(0))),
        ["there is no task t7"]
    );
    assert_eq!(
        messages(verify_segment(&levelized, TaskId(0), SegmentId(7))),
        ["task t0 has no segment s7"]
    );
}

#[test]
fn rule_18_signatures_of_segments() {
    let mut made = fib().levelized();
    let code = made.entry(TaskId(0)).func;
    made.program.functions[code.index()].kind = FunctionKind::Helper;
    assert_eq!(
        messages(verify_segment(&made, TaskId(0), SegmentId(0)))[0],
        "a segment is the code of a task"
    );
    assert_eq!(
        all(1, |l| l.program.functions[0].kind = FunctionKind::Helper)[0],
        "a segment is the code of a task"
    );
    let param = Param {
        name: "n".into(),
        ty: Type::Scalar(Scalar::U32),
    };
    assert_eq!(
        changed(1, |t| t.segments[1].body.params.push(param)),
        "a segment has no params"
    );
    assert_eq!(
        all(1, |l| l.program.functions[0].ret =
            Type::Scalar(Scalar::I64)),
        ["a segment returns what its task returns"]
    );
    let nothing = all(1, |l| l.program.functions[0].ret = Type::unit());
    assert_eq!(
        nothing,
        [
            "a segment returns what its task returns",
            "the task returns nothing, so there is no return address"
        ]
    );
    assert_eq!(
        changed(0, |t| _ = t.segments[0].body.args.pop()),
        "1 args for 2 pieces of the element"
    );
    assert_eq!(
        changed(1, |t| t.segments[1].body.args.push(Arg::Local(LocalId(0)))),
        "1 args for 0 pieces of the element"
    );
    let element = "the element is not the pieces of the params and the return address";
    assert_eq!(
        all(0, |l| _ = l.tasks[0].element.pop()),
        ["2 args for 1 pieces of the element", element]
    );
    assert_eq!(
        changed(0, |t| t.segments[0].body.blocks[2].term =
            Terminator::Sync(BlockId(1))),
        "only tasks and kernels sync"
    );
}

#[test]
fn rule_19_return_address() {
    assert_eq!(
        changed(0, |t| t.segments[0].ret = None),
        "a segment that returns something needs the return address"
    );
    assert_eq!(
        changed(0, |t| t.segments[0].ret = Some(LocalId(3))),
        "the return address %3 is used before it is assigned"
    );
    assert_eq!(
        changed(1, |t| _ = t.segments[1].body.blocks[0].stmts.pop()),
        "the return address %2 is used before it is assigned"
    );
    assert_eq!(
        changed(0, |t| t.segments[0].ret = Some(LocalId(0))),
        "the return address is not an address"
    );
}

#[test]
fn rule_20_frames() {
    let nothing = || StmtKind::Assign {
        dst: LocalId(4),
        value: Rvalue::Use(Operand::Const(Scalar::U32, 0)),
    };
    let again = |t: &mut LoweredTask| *kind(t, 0, 2, 3) = StmtKind::FrameAlloc;
    assert_eq!(
        changed(0, |t| {
            again(t);
            t.segments[0].body.blocks[0]
                .stmts
                .push(millstream_graph::ir::Stmt {
                    kind: nothing(),
                    span: Span::default(),
                });
        }),
        "the frame is allocated twice on one path"
    );
    assert_eq!(
        changed(0, |t| t.segments[0].body.blocks[2].term =
            Terminator::Goto(BlockId(2))),
        "the frame is allocated twice on one path"
    );
    let errors = all(0, |l| *kind(&mut l.tasks[0], 0, 2, 0) = nothing());
    // A store, two addresses and the continuation.
    assert_eq!(errors, ["the frame is used before it is allocated"; 4]);
    assert_eq!(
        changed(1, |t| t.segments[1].body.blocks[0].stmts[0].kind =
            StmtKind::FrameAlloc),
        "a continuation has its frame already"
    );
}

#[test]
fn rule_21_fields_and_continuations() {
    let blob = PieceKind::Blob(Layout { size: 8, align: 8 });
    assert_eq!(
        changed(1, |t| *kind(t, 1, 0, 0) = StmtKind::Assign {
            dst: LocalId(0),
            value: Rvalue::FrameLoad(FieldId(9))
        }),
        "the frame has no field .9"
    );
    assert_eq!(
        changed(1, |t| t.frame[0].kind = blob),
        "an array in the frame has no value, only an address"
    );
    assert_eq!(
        changed(1, |t| t.frame[0].kind = PieceKind::Scalar(Scalar::F64)),
        "a value of type f64 for a local of type u64"
    );
    assert_eq!(
        changed(0, |t| t.frame[2].kind = PieceKind::Scalar(Scalar::U64)),
        "a value of type ptr for a field of type u64"
    );
    assert_eq!(
        changed(0, |t| t.frame[2].kind = blob),
        "an array in the frame has no value, only an address"
    );
    assert_eq!(
        changed(0, |t| t.segments[0].body.blocks[2].term =
            Terminator::Continue(SegmentId(0))),
        "the task has no continuation s0"
    );
    assert_eq!(
        changed(0, |t| t.segments[0].body.blocks[2].term =
            Terminator::Continue(SegmentId(2))),
        "the task has no continuation s2"
    );
}

#[test]
fn rule_22_spawns_in_segments() {
    let errors = all(0, |l| {
        l.tasks[0].combine = millstream_graph::ir::Combine::Add
    });
    assert_eq!(errors, ["the task combines by `add`, not by `store`"; 2]);
    let errors = all(0, |l| {
        l.tasks[0].segments[0].body.blocks[2]
            .stmts
            .iter_mut()
            .for_each(|s| {
                if let StmtKind::Spawn { func, .. } = &mut s.kind {
                    *func = FuncId(9);
                }
            })
    });
    assert_eq!(errors, ["there is no function f9"; 2]);
    let errors = all(0, |l| {
        let twin = Function {
            name: "twin".into(),
            ..l.program.functions[0].clone()
        };
        l.program.functions.push(twin);
        for stmt in &mut l.tasks[0].segments[0].body.blocks[2].stmts {
            if let StmtKind::Spawn { func, .. } = &mut stmt.kind {
                *func = FuncId(1);
            }
        }
    });
    assert_eq!(errors, ["no task was made of this function"; 2]);
    let made = fib().levelized();
    let mut program = made.program.clone();
    program.functions[0].name = "other".into();
    let problems = Levelized::new(program, made.graph().clone()).unwrap_err();
    assert_eq!(
        problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["task `fib`: the program has no function of that name"]
    );
}

#[test]
fn rule_23_pushes() {
    for (i, count, stack) in [
        (0, 2, "Entry(TaskId(0))"),
        (1, 1, "Frame(TaskId(0))"),
        (2, 1, "Continuation(TaskId(0), SegmentId(1))"),
    ] {
        let errors = all(0, |l| _ = l.tasks[0].segments[0].pushes.remove(i));
        assert_eq!(
            errors,
            vec![format!("{stack} is not in the list of pushes"); count]
        );
    }
}
