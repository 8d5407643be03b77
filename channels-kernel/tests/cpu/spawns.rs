//! Children: where they go, what they bring back, and how many find room.

use crate::support::{
    Machine,
    build::{
        self, args, assign, binary, blob, block, branch, field, function, goto, local, program,
        slot, slot_addr,
    },
    one::{PTR, T, U64, run, u64_},
};
use millstream_channels_kernel::cpu::{
    CompiledProgram,
    abi::{WorkerContext, status},
};
use millstream_graph::{
    ir::{
        Arg, BinOp, Combine, Dest, FieldId, FuncId, Function, FunctionKind, LocalId, Operand,
        Rvalue, SegmentId, SlotId, StmtKind, TaskId, Terminator,
    },
    levelized::{Levelized, LoweredSegment, LoweredTask, Push, StackRole, Tasks},
    ty::{Layout, PieceKind, Scalar, Type},
};

/// `fan(n)`: spawns `one(i) -> i` for i below n into one frame slot, combined; returns the slot. The number of spawns depends on data.
fn fan(combine: Combine, ty: Scalar, start: u64) -> Levelized {
    let (fan, one) = (TaskId(0), TaskId(1));
    let ret = Type::Scalar(ty);
    let spawn = StmtKind::Spawn {
        func: FuncId(1),
        args: vec![local(3)],
        dest: Some(Dest {
            addr: local(4),
            combine,
        }),
        leaf: None,
    };
    let entry = vec![
        block(
            vec![
                StmtKind::FrameAlloc,
                StmtKind::FrameStore {
                    field: FieldId(1),
                    value: local(1),
                },
                StmtKind::FrameStore {
                    field: FieldId(0),
                    value: Operand::Const(ty, start),
                },
                assign(2, Rvalue::Use(u64_(0))),
            ],
            goto(1),
        ),
        block(
            vec![binary(5, BinOp::Lt, local(2), local(0))],
            branch(5, 2, 3),
        ),
        block(
            vec![
                assign(3, Rvalue::Cast(ty, local(2))),
                assign(4, Rvalue::FrameAddr(FieldId(0))),
                spawn,
                binary(2, BinOp::Add, local(2), u64_(1)),
            ],
            goto(1),
        ),
        block(vec![], Terminator::Continue(SegmentId(1))),
    ];
    let after = vec![block(
        vec![
            assign(0, Rvalue::FrameLoad(FieldId(0))),
            assign(1, Rvalue::FrameLoad(FieldId(1))),
        ],
        Terminator::Return(vec![local(0)]),
    )];
    let pushes = vec![
        Push {
            stack: StackRole::Entry(one),
            max: None,
        },
        Push {
            stack: StackRole::Frame(fan),
            max: Some(1),
        },
        Push {
            stack: StackRole::Continuation(fan, SegmentId(1)),
            max: Some(1),
        },
    ];
    let kind = FunctionKind::Segment;
    let types = [U64, PTR, U64, ty, PTR, Scalar::Bool];
    let segments = vec![
        LoweredSegment {
            body: function(kind, "fan", ret.clone(), &args(2), &types, entry),
            ret: Some(LocalId(1)),
            pushes,
        },
        LoweredSegment {
            body: function(kind, "fan", ret.clone(), &[], &[ty, PTR], after),
            ret: Some(LocalId(1)),
            pushes: vec![],
        },
    ];
    let fan = LoweredTask {
        func: FuncId(0),
        name: "fan".into(),
        combine: Combine::Store,
        element: vec![field("n", U64), field("return", PTR)],
        frame: vec![field("slot", ty), field("return", PTR)],
        segments,
    };
    let body = function(
        kind,
        "one",
        ret.clone(),
        &args(2),
        &[ty, PTR],
        vec![block(vec![], Terminator::Return(vec![local(0)]))],
    );
    let one = LoweredTask {
        func: FuncId(1),
        name: "one".into(),
        combine,
        element: vec![field("i", ty), field("return", PTR)],
        frame: vec![],
        segments: vec![LoweredSegment {
            body,
            ret: Some(LocalId(1)),
            pushes: vec![],
        }],
    };
    let program = program(vec![
        build::original("fan", ret.clone()),
        build::original("one", ret),
    ]);
    Tasks {
        program,
        tasks: vec![fan, one],
    }
    .levelized()
}

#[test]
fn results_are_combined_at_their_destination() {
    let bits = |ty: Scalar, v: f64| match ty {
        Scalar::F32 => u64::from((v as f32).to_bits()),
        Scalar::F64 => v.to_bits(),
        _ => v as i64 as u64,
    };
    for ty in [
        Scalar::U8,
        Scalar::I32,
        Scalar::U64,
        Scalar::F32,
        Scalar::F64,
    ] {
        let all = [
            (Combine::Add, 1.0, 46.0),
            (Combine::Min, 5.0, 0.0),
            (Combine::Max, 5.0, 9.0),
            (Combine::Or, 16.0, 31.0),
        ];
        for (combine, start, expected) in all {
            if ty.is_float() && combine == Combine::Or {
                continue;
            }
            let (status, results) = run(&fan(combine, ty, bits(ty, start)), &[&[10], &[10]]);
            assert_eq!(status, status::OK);
            assert_eq!(results, [bits(ty, expected); 2], "{combine} of {ty}");
        }
    }
}

#[test]
fn a_stack_whose_pushes_are_not_counted_says_that_it_is_full() {
    let code = CompiledProgram::compile(&fan(Combine::Add, U64, 0)).unwrap();
    let mut machine = Machine::new(&code, 8, 8);
    let mut result = 0u64;
    machine.push(T, &[0, (&raw mut result).addr() as u64]);
    machine.push(T, &[9, (&raw mut result).addr() as u64]);
    assert_eq!(machine.call_entry(T, 0, 2), 1);
    assert_eq!(machine.ctx.status, status::CHANNEL_FULL);
    assert_eq!(machine.ctx.site, code.layouts().entry(TaskId(1)).0);
}

#[test]
fn the_element_that_asks_for_more_room_is_the_last_of_its_run() {
    unsafe extern "C" fn two_more(_: *mut WorkerContext, _: u32, top: u64) -> u64 {
        top + 2
    }
    let code = CompiledProgram::compile(&fan(Combine::Add, U64, 0)).unwrap();
    let children = code.layouts().entry(TaskId(1)).index();
    let mut machine = Machine::new(&code, 40, 8);
    machine.ctx.more = two_more;
    let mut result = 0u64;
    for n in [3, 4, 5, 0, 6] {
        machine.push(T, &[n, (&raw mut result).addr() as u64]);
    }
    // Those of 3 and some of 4 find room; then what asks gets it, and nothing runs after it.
    machine.states[children].limit = 5;
    let mut first = 0;
    for (consumed, top) in [(2, 7), (1, 12), (2, 18)] {
        assert_eq!(machine.call_entry(T, first, 5 - first), consumed);
        assert_eq!(machine.ctx.status, status::OK);
        assert_eq!(machine.states[children].top, top);
        first += consumed;
    }
    // A run that asks for nothing more goes to its end.
    machine.states[children].limit = 40;
    assert_eq!(machine.call_entry(T, 0, 5), 5);
    assert_eq!(machine.states[children].top, 36);
}

#[test]
fn a_run_is_cut_to_the_elements_that_find_room() {
    let code = CompiledProgram::compile(&build::fib(true)).unwrap();
    let [entry, frame, continuation] = [0, 1, 2];
    for (limits, consumed) in [
        ([30, 30, 30], 5),
        ([11, 30, 30], 3),
        ([30, 2, 30], 2),
        ([30, 30, 1], 1),
        ([6, 30, 30], 0),
        ([2, 30, 30], 0),
    ] {
        let mut machine = Machine::new(&code, 32, 8);
        let mut result = 0u64;
        for _ in 0..5 {
            machine.push(T, &[9, (&raw mut result).addr() as u64]);
        }
        for (state, limit) in machine.states.iter_mut().zip(limits) {
            state.limit = limit;
        }
        assert_eq!(machine.call_entry(T, 0, 5), consumed, "limits {limits:?}");
        assert_eq!(machine.ctx.status, status::OK);
        assert_eq!(machine.states[entry].top, 5 + 2 * consumed);
        assert_eq!(machine.states[frame].top, consumed);
        assert_eq!(machine.states[continuation].top, consumed);
    }
    // The continuation's frame references need not lie as far up as the frames.
    let mut machine = Machine::new(&code, 32, 8);
    let mut result = 0u64;
    machine.push(T, &[9, (&raw mut result).addr() as u64]);
    machine.states[frame].top = 7;
    assert_eq!(machine.call_entry(T, 0, 1), 1);
    assert_eq!(
        (machine.states[frame].top, machine.states[continuation].top),
        (8, 1)
    );
    assert_eq!(
        // SAFETY: one continuation element was pushed.
        unsafe {
            machine
                .base(code.layouts().stacks[continuation].first_field)
                .cast::<u32>()
                .read()
        },
        7
    );
}

#[test]
fn uncounted_fib_is_the_same() {
    let code = CompiledProgram::compile(&build::fib(false)).unwrap();
    let mut machine = Machine::new(&code, 1000, 16);
    let mut result = 0u64;
    machine.push(T, &[15, (&raw mut result).addr() as u64]);
    assert_eq!(machine.run(), status::OK);
    assert_eq!(std::hint::black_box(result), 610);
}

#[test]
fn blobs_travel_through_spawns() {
    // pass(a: [u8; 5], n) spawns take(a) -> [u8; 5] into its return address.
    let ret = Type::Array(Box::new(Type::Scalar(Scalar::U8)), 5);
    let kind = FunctionKind::Segment;
    let params = [Arg::Slot(SlotId(0)), Arg::Local(LocalId(0))];
    let spawn = StmtKind::Spawn {
        func: FuncId(1),
        args: vec![local(1)],
        dest: Some(Dest {
            addr: local(0),
            combine: Combine::Store,
        }),
        leaf: None,
    };
    let task = |func, name: &str, body: Function, ret, pushes| LoweredTask {
        func: FuncId(func),
        name: name.into(),
        combine: Combine::Store,
        element: vec![blob("a", 5, 1), field("return", PTR)],
        frame: vec![],
        segments: vec![LoweredSegment { body, ret, pushes }],
    };
    let mut pass = function(
        kind,
        "pass",
        Type::unit(),
        &params,
        &[PTR, PTR],
        vec![block(
            vec![slot_addr(1, 0), spawn],
            Terminator::Return(vec![]),
        )],
    );
    pass.slots = vec![slot(5, 1, None)];
    let stmts = vec![
        slot_addr(1, 0),
        StmtKind::Store {
            addr: local(1),
            offset: 4,
            value: Operand::Const(Scalar::U8, 99),
        },
    ];
    let mut take = function(
        kind,
        "take",
        ret.clone(),
        &params,
        &[PTR, PTR],
        vec![block(stmts, Terminator::Return(vec![local(1)]))],
    );
    take.slots = vec![slot(5, 1, None)];
    let pushes = vec![Push {
        stack: StackRole::Entry(TaskId(1)),
        max: Some(1),
    }];
    let levelized = Tasks {
        program: program(vec![
            build::original("pass", Type::unit()),
            build::original("take", ret),
        ]),
        tasks: vec![
            task(0, "pass", pass, None, pushes),
            task(1, "take", take, Some(LocalId(0)), vec![]),
        ],
    }
    .levelized();
    assert_eq!(
        levelized.element(TaskId(1))[0].kind,
        PieceKind::Blob(Layout { size: 5, align: 1 })
    );
    let code = CompiledProgram::compile(&levelized).unwrap();
    let mut machine = Machine::new(&code, 8, 8);
    let mut results = [[0u8; 5]; 3];
    let base = results.as_mut_ptr();
    for i in 0..3usize {
        machine.push(T, &[]);
        // SAFETY: the arrays have room for eight elements of these fields.
        unsafe {
            machine
                .base(0)
                .cast::<[u8; 5]>()
                .add(i)
                .write([i as u8 + 1; 5]);
            machine
                .base(1)
                .cast::<u64>()
                .add(i)
                .write(base.wrapping_add(i).addr() as u64);
        }
    }
    assert_eq!(machine.run(), status::OK);
    assert_eq!(
        std::hint::black_box(results),
        [[1, 1, 1, 1, 99], [2, 2, 2, 2, 99], [3, 3, 3, 3, 99]]
    );
}

#[test]
fn compiled_programs_cross_threads() {
    fn check<T: Send + Sync>(_: &T) {}
    let code = CompiledProgram::compile(&build::fib(true)).unwrap();
    check(&code);
}
