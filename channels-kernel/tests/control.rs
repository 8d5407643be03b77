//! Control flow, checks, helpers, memory: what segments do besides computing values.

#![allow(missing_docs, clippy::unwrap_used)]

mod support;

use millstream_channels_kernel::cpu::{
    CompiledProgram,
    abi::{WorkerContext, status},
};
use millstream_graph::{
    ir::{
        Arg, BinOp, BlockId, CheckKind, Combine, Data, DataId, Dest, FieldId, FuncId, Function,
        FunctionKind, LocalId, Operand, Program, Rvalue, SegmentId, SlotId, StmtKind, TaskId,
        Terminator,
    },
    levelized::{Levelized, LoweredTask, Push, Segment, StackRef},
    ty::{Layout, PieceKind, Scalar, Type},
};
use std::sync::atomic::Ordering;
use support::{
    Machine,
    build::{
        self, args, assign, binary, blob, block, branch, field, function, goto, local, program,
        slot, slot_addr,
    },
};

const T: TaskId = TaskId(0);
const U64: Scalar = Scalar::U64;
const PTR: Scalar = Scalar::Ptr;

fn u64_(v: u64) -> Operand {
    Operand::Const(U64, v)
}

/// A task that takes `u64`s, then the return address, and returns a `u64`.
fn leaf(
    params: u32,
    locals: &[Scalar],
    blocks: Vec<millstream_graph::ir::Block>,
    program: Program,
) -> Levelized {
    let mut types = vec![U64; params as usize];
    types.push(PTR);
    let element = types.iter().map(|&t| field("x", t)).collect();
    types.extend(locals);
    let body = function(
        FunctionKind::Segment,
        "leaf",
        Type::Scalar(U64),
        &args(params + 1),
        &types,
        blocks,
    );
    build::leaves(
        program,
        vec![("leaf".into(), element, Type::Scalar(U64), body)],
    )
}

/// Runs task 0 once for each list of arguments, in one wavefront.
fn run(levelized: &Levelized, all: &[&[u64]]) -> (u32, Vec<u64>) {
    let code = CompiledProgram::compile(levelized).unwrap();
    let mut machine = Machine::new(&code, 64, 64);
    let mut results = vec![0u64; all.len()];
    let base = results.as_mut_ptr();
    for (i, args) in all.iter().enumerate() {
        let ret = base.wrapping_add(i).addr() as u64;
        machine.push(T, &[args, &[ret][..]].concat());
    }
    let status = machine.run();
    std::hint::black_box(base);
    (status, results)
}

#[test]
fn a_failed_check_names_its_values_and_stops_the_run() {
    let check = StmtKind::Check {
        cond: local(2),
        kind: CheckKind::Bounds,
        values: vec![local(0), u64_(10)],
    };
    let blocks = vec![block(
        vec![binary(2, BinOp::Lt, local(0), u64_(10)), check],
        Terminator::Return(vec![local(0)]),
    )];
    let code =
        CompiledProgram::compile(&leaf(1, &[Scalar::Bool], blocks, program(vec![]))).unwrap();
    let mut machine = Machine::new(&code, 8, 8);
    let mut result = 77u64;
    for value in [1, 2, 12, 3, 4] {
        machine.push(T, &[value, (&raw mut result).addr() as u64]);
    }
    // 1 and 2 are consumed; 12 stops the run.
    assert_eq!(machine.call_entry(T, 0, 5), 2);
    assert_eq!(machine.ctx.status, status::FAULT);
    let fault = code.fault(machine.ctx.site, machine.ctx.values);
    assert_eq!(
        fault.to_string(),
        "index out of bounds: the length is 10 but the index is 12, in `leaf` at test.rs:2:1"
    );
    assert_eq!(std::hint::black_box(result), 2);
    assert_eq!(code.site(machine.ctx.site).types, [U64, U64]);
}

#[test]
fn values_of_a_check_are_zero_extended() {
    let types = [Scalar::I16, PTR, Scalar::F32, Scalar::Bool];
    let stmts = vec![
        assign(2, Rvalue::Cast(Scalar::F32, local(0))),
        StmtKind::Check {
            cond: Operand::bool(false),
            kind: CheckKind::AssertEq("x".into()),
            values: vec![local(0), local(2)],
        },
    ];
    let blocks = vec![block(stmts, Terminator::Return(vec![local(0)]))];
    let body = function(
        FunctionKind::Segment,
        "leaf",
        Type::Scalar(Scalar::I16),
        &args(2),
        &types,
        blocks,
    );
    let element = vec![field("x", Scalar::I16), field("return", PTR)];
    let code = CompiledProgram::compile(&build::leaves(
        program(vec![]),
        vec![("leaf".into(), element, Type::Scalar(Scalar::I16), body)],
    ))
    .unwrap();
    let mut machine = Machine::new(&code, 8, 8);
    machine.push(T, &[(-3i16) as u16 as u64, 8]);
    assert_eq!(machine.run(), status::FAULT);
    assert_eq!(machine.ctx.values, [0xfffd, u64::from((-3.0f32).to_bits())]);
    assert!(
        code.fault(machine.ctx.site, machine.ctx.values)
            .to_string()
            .contains("left is -3, right is -3.0")
    );
}

/// `while i < n { sum += i; i += 1 }`, endless if `n` is the greatest number.
fn sum_loop() -> Vec<millstream_graph::ir::Block> {
    vec![
        block(
            vec![
                assign(2, Rvalue::Use(u64_(0))),
                assign(3, Rvalue::Use(u64_(0))),
            ],
            goto(1),
        ),
        block(
            vec![binary(4, BinOp::Lt, local(2), local(0))],
            branch(4, 2, 3),
        ),
        block(
            vec![
                binary(3, BinOp::Add, local(3), local(2)),
                binary(2, BinOp::Add, local(2), u64_(1)),
            ],
            goto(1),
        ),
        block(vec![], Terminator::Return(vec![local(3)])),
    ]
}

#[test]
fn loops_run_and_can_be_cancelled() {
    let levelized = leaf(1, &[U64, U64, Scalar::Bool], sum_loop(), program(vec![]));
    assert_eq!(
        run(&levelized, &[&[0], &[1], &[10], &[1000]]),
        (status::OK, vec![0, 0, 45, 499_500])
    );
    let code = CompiledProgram::compile(&levelized).unwrap();
    let mut machine = Machine::new(&code, 8, 8);
    let mut result = 0u64;
    machine.push(T, &[u64::MAX, (&raw mut result).addr() as u64]);
    let cancel = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    machine.ctx.cancel = cancel.as_ptr();
    let other = cancel.clone();
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(20));
        other.store(1, Ordering::Relaxed);
    });
    assert_eq!(machine.call_entry(T, 0, 1), 0);
    assert_eq!(machine.ctx.status, status::CANCELLED);
    canceller.join().unwrap();
}

#[test]
fn switches_take_the_arm_of_the_bits() {
    let arms = vec![
        (0, BlockId(1)),
        (7, BlockId(2)),
        (u64::MAX, BlockId(3)),
        (1 << 40, BlockId(1)),
    ];
    let give = |v| block(vec![], Terminator::Return(vec![u64_(v)]));
    let blocks = vec![
        block(
            vec![],
            Terminator::Switch {
                value: local(0),
                arms,
                other: BlockId(4),
            },
        ),
        give(10),
        give(17),
        give(99),
        give(1),
    ];
    let levelized = leaf(1, &[], blocks, program(vec![]));
    assert_eq!(
        run(&levelized, &[&[0], &[7], &[u64::MAX], &[1 << 40], &[8]]).1,
        [10, 17, 99, 10, 1]
    );
}

/// `f(n) = if n == 0 { 0 } else { n + f(n - 1) }`: recursive, so never inlined.
fn recursive() -> Function {
    let call = StmtKind::Call {
        func: FuncId(0),
        args: vec![local(2)],
        dst: Some(LocalId(3)),
        ret_addr: None,
    };
    let blocks = vec![
        block(
            vec![binary(1, BinOp::Eq, local(0), u64_(0))],
            branch(1, 1, 2),
        ),
        block(vec![], Terminator::Return(vec![u64_(0)])),
        block(
            vec![
                binary(2, BinOp::Sub, local(0), u64_(1)),
                call,
                binary(3, BinOp::Add, local(3), local(0)),
            ],
            Terminator::Return(vec![local(3)]),
        ),
    ];
    function(
        FunctionKind::Helper,
        "down",
        Type::Scalar(U64),
        &args(1),
        &[U64, Scalar::Bool, U64, U64],
        blocks,
    )
}

fn calls_helper(helper: Function) -> Levelized {
    let call = StmtKind::Call {
        func: FuncId(0),
        args: vec![local(0)],
        dst: Some(LocalId(2)),
        ret_addr: None,
    };
    let blocks = vec![block(vec![call], Terminator::Return(vec![local(2)]))];
    leaf(1, &[U64], blocks, program(vec![helper]))
}

#[test]
fn recursive_helpers_call_themselves_until_the_stack_ends() {
    let levelized = calls_helper(recursive());
    assert_eq!(
        run(&levelized, &[&[0], &[10], &[1000]]),
        (status::OK, vec![0, 55, 500_500])
    );
    let code = CompiledProgram::compile(&levelized).unwrap();
    let mut machine = Machine::new(&code, 8, 8);
    let (mut result, here) = (0u64, 0u8);
    machine.ctx.stack_limit = (&raw const here).addr() as u64 - 64 * 1024;
    machine.push(T, &[100, (&raw mut result).addr() as u64]);
    machine.push(T, &[u64::MAX, (&raw mut result).addr() as u64]);
    assert_eq!(machine.call_entry(T, 0, 2), 1);
    assert_eq!(machine.ctx.status, status::STACK_OVERFLOW);
    assert_eq!(code.function_name(machine.ctx.site), "down");
}

/// `sum_loop` with a check and a copy of its own, too large to inline if `pad` says so.
fn checked_helper(pad: usize) -> Function {
    let kind = CheckKind::Assert("small".into());
    let mut blocks = sum_loop();
    blocks[0].stmts.insert(
        0,
        build::block(
            vec![StmtKind::Check {
                cond: local(5),
                kind,
                values: vec![],
            }],
            goto(0),
        )
        .stmts
        .remove(0),
    );
    blocks[0].stmts.insert(
        0,
        build::block(vec![binary(5, BinOp::Lt, local(0), u64_(1000))], goto(0))
            .stmts
            .remove(0),
    );
    blocks[3] = block(
        vec![binary(3, BinOp::Add, local(3), u64_(1)); pad],
        Terminator::Return(vec![local(3)]),
    );
    function(
        FunctionKind::Helper,
        "total",
        Type::Scalar(U64),
        &args(1),
        &[U64, PTR, U64, U64, Scalar::Bool, Scalar::Bool],
        blocks,
    )
}

#[test]
fn helpers_do_the_same_inlined_and_called() {
    for pad in [1, 500] {
        let levelized = calls_helper(checked_helper(pad));
        let pad = pad as u64;
        assert_eq!(
            run(&levelized, &[&[0], &[10], &[999]]),
            (status::OK, vec![pad, 45 + pad, 498_501 + pad])
        );
        let code = CompiledProgram::compile(&levelized).unwrap();
        let mut machine = Machine::new(&code, 8, 8);
        let mut result = 5u64;
        machine.push(T, &[2, (&raw mut result).addr() as u64]);
        machine.push(T, &[1000, (&raw mut result).addr() as u64]);
        assert_eq!(machine.call_entry(T, 0, 2), 1);
        assert_eq!(machine.ctx.status, status::FAULT);
        assert_eq!(
            code.fault(machine.ctx.site, machine.ctx.values).to_string(),
            "assertion failed: small, in `total` at test.rs:1:1"
        );
        assert_eq!(std::hint::black_box(result), 1 + pad);
    }
}

/// Takes `(a: [u64; 3], k: u64)` and returns `(k, [a0 + k, a1, a2])`: a blob in, a record out. It writes to its copy of the blob.
fn record_helper(pad: usize) -> Function {
    let ret = Type::Tuple(vec![
        Type::Scalar(U64),
        Type::Array(Box::new(Type::Scalar(U64)), 3),
    ]);
    let mut stmts = vec![
        slot_addr(1, 0),
        assign(
            2,
            Rvalue::Load {
                ty: U64,
                addr: local(1),
                offset: 0,
            },
        ),
        binary(2, BinOp::Add, local(2), local(0)),
        StmtKind::Store {
            addr: local(1),
            offset: 0,
            value: local(2),
        },
    ];
    stmts.extend(vec![assign(2, Rvalue::Use(local(0))); pad]);
    let blocks = vec![block(stmts, Terminator::Return(vec![local(0), local(1)]))];
    let mut f = function(
        FunctionKind::Helper,
        "record",
        ret,
        &[Arg::Slot(SlotId(0)), Arg::Local(LocalId(0))],
        &[U64, PTR, U64],
        blocks,
    );
    f.slots = vec![slot(24, 8, None)];
    f
}

#[test]
fn blobs_are_copied_in_and_records_written_out() {
    for pad in [0, 200] {
        // The element holds the blob; the helper gets it twice; the task returns the sum of all.
        let mut stmts = vec![slot_addr(2, 0), slot_addr(3, 1)];
        for offset in [0, 32] {
            stmts.push(assign(
                4,
                Rvalue::PtrAdd {
                    base: local(3),
                    index: u64_(0),
                    scale: 8,
                    offset,
                },
            ));
            let call = StmtKind::Call {
                func: FuncId(0),
                args: vec![local(2), local(0)],
                dst: None,
                ret_addr: Some(local(4)),
            };
            stmts.push(call);
        }
        stmts.push(assign(5, Rvalue::Use(u64_(0))));
        for offset in (0..64).step_by(8) {
            stmts.push(assign(
                6,
                Rvalue::Load {
                    ty: U64,
                    addr: local(3),
                    offset,
                },
            ));
            stmts.push(binary(5, BinOp::Mul, local(5), u64_(10)));
            stmts.push(binary(5, BinOp::Add, local(5), local(6)));
        }
        let blocks = vec![block(stmts, Terminator::Return(vec![local(5)]))];
        let args = [
            Arg::Slot(SlotId(0)),
            Arg::Local(LocalId(0)),
            Arg::Local(LocalId(1)),
        ];
        let mut body = function(
            FunctionKind::Segment,
            "leaf",
            Type::Scalar(U64),
            &args,
            &[U64, PTR, PTR, PTR, PTR, U64, U64],
            blocks,
        );
        body.slots = vec![slot(24, 8, None), slot(64, 8, None)];
        let element = vec![blob("a", 24, 8), field("k", U64), field("return", PTR)];
        let levelized = build::leaves(
            program(vec![record_helper(pad)]),
            vec![("leaf".into(), element, Type::Scalar(U64), body)],
        );
        let code = CompiledProgram::compile(&levelized).unwrap();
        let mut machine = Machine::new(&code, 8, 8);
        let mut result = 0u64;
        for (a, k) in [([1u64, 2, 3], 5), ([4, 5, 6], 1)] {
            let index = machine.states[0].top as usize;
            machine.push(T, &[]);
            // SAFETY: the arrays have room for eight elements of these fields.
            unsafe {
                machine.base(0).cast::<[u64; 3]>().add(index).write(a);
                machine.base(1).cast::<u64>().add(index).write(k);
                machine
                    .base(2)
                    .cast::<u64>()
                    .add(index)
                    .write((&raw mut result).addr() as u64);
            }
        }
        assert_eq!(machine.call_entry(T, 1, 1), 1);
        assert_eq!(std::hint::black_box(result), 15_561_556);
        assert_eq!(machine.call_entry(T, 0, 1), 1);
        assert_eq!(std::hint::black_box(result), 56_235_623);
    }
}

#[test]
fn copy_and_zero_touch_their_bytes_only() {
    for size in [0, 1, 2, 3, 7, 8, 15, 24, 31, 127, 128, 129, 1000] {
        let stmts = vec![
            assign(2, Rvalue::Bitcast(PTR, local(0))),
            assign(
                3,
                Rvalue::PtrAdd {
                    base: local(2),
                    index: u64_(3),
                    scale: 1000,
                    offset: 24,
                },
            ),
            StmtKind::Copy {
                dst: local(2),
                src: local(3),
                size,
            },
            StmtKind::Copy {
                dst: local(2),
                src: local(2),
                size,
            },
            StmtKind::Zero {
                dst: local(3),
                size,
            },
        ];
        let blocks = vec![block(stmts, Terminator::Return(vec![local(0)]))];
        let levelized = leaf(1, &[PTR, PTR], blocks, program(vec![]));
        let mut memory: Vec<u8> = (0..5000u32).map(|i| (i % 251) as u8 | 1).collect();
        let before = memory.clone();
        run(&levelized, &[&[memory.as_mut_ptr().addr() as u64]]);
        let (memory, size) = (std::hint::black_box(memory), size as usize);
        assert_eq!(memory[..size], before[3024..3024 + size]);
        assert_eq!(memory[size..3024], before[size..3024]);
        assert!(memory[3024..3024 + size].iter().all(|&b| b == 0));
        assert_eq!(memory[3024 + size..], before[3024 + size..]);
    }
}

#[test]
fn constants_lie_where_they_are_aligned() {
    let stmts = vec![
        assign(2, Rvalue::DataAddr(DataId(1))),
        assign(
            3,
            Rvalue::PtrAdd {
                base: local(2),
                index: local(0),
                scale: 4,
                offset: 4,
            },
        ),
        assign(
            4,
            Rvalue::Load {
                ty: Scalar::U32,
                addr: local(3),
                offset: 0,
            },
        ),
        assign(5, Rvalue::Cast(U64, local(4))),
        assign(6, Rvalue::Bitcast(U64, local(2))),
        binary(6, BinOp::And, local(6), u64_(63)),
        binary(6, BinOp::Mul, local(6), u64_(1 << 32)),
        binary(5, BinOp::Add, local(5), local(6)),
    ];
    let mut p = program(vec![]);
    p.data.push(Data {
        name: "EMPTY".into(),
        align: 1,
        bytes: vec![],
    });
    p.data.push(Data {
        name: "TABLE".into(),
        align: 64,
        bytes: [7u32, 8, 9, 10]
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect(),
    });
    let blocks = vec![block(stmts, Terminator::Return(vec![local(5)]))];
    let levelized = leaf(1, &[PTR, PTR, Scalar::U32, U64, U64], blocks, p);
    assert_eq!(run(&levelized, &[&[0], &[1], &[2]]).1, [8, 9, 10]);
}

#[test]
fn a_slot_of_one_scalar_is_a_register_unless_its_address_escapes() {
    for escapes in [false, true] {
        let mut stmts = vec![
            slot_addr(2, 0),
            StmtKind::Store {
                addr: local(2),
                offset: 0,
                value: local(0),
            },
            assign(
                3,
                Rvalue::Load {
                    ty: U64,
                    addr: local(2),
                    offset: 0,
                },
            ),
            binary(3, BinOp::Add, local(3), u64_(1)),
            StmtKind::Store {
                addr: local(2),
                offset: 0,
                value: local(3),
            },
        ];
        if escapes {
            stmts.push(assign(
                4,
                Rvalue::PtrAdd {
                    base: local(2),
                    index: u64_(0),
                    scale: 1,
                    offset: 0,
                },
            ));
            stmts.push(StmtKind::Store {
                addr: local(4),
                offset: 0,
                value: u64_(40),
            });
        }
        stmts.push(assign(
            3,
            Rvalue::Load {
                ty: U64,
                addr: local(2),
                offset: 0,
            },
        ));
        let mut levelized = leaf(
            1,
            &[PTR, U64, PTR],
            vec![block(stmts, Terminator::Return(vec![local(3)]))],
            program(vec![]),
        );
        levelized.tasks[0].segments[0].body.slots = vec![slot(8, 8, Some(U64))];
        assert_eq!(
            run(&levelized, &[&[3], &[8]]).1,
            if escapes { [40, 40] } else { [4, 9] }
        );
    }
}

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
            stack: StackRef::Entry(one),
            max: None,
        },
        Push {
            stack: StackRef::Frame(fan),
            max: Some(1),
        },
        Push {
            stack: StackRef::Continuation(fan, SegmentId(1)),
            max: Some(1),
        },
    ];
    let kind = FunctionKind::Segment;
    let types = [U64, PTR, U64, ty, PTR, Scalar::Bool];
    let segments = vec![
        Segment {
            body: function(kind, "fan", ret.clone(), &args(2), &types, entry),
            ret: Some(LocalId(1)),
            pushes,
        },
        Segment {
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
        segments: vec![Segment {
            body,
            ret: Some(LocalId(1)),
            pushes: vec![],
        }],
    };
    let program = program(vec![
        build::original("fan", ret.clone()),
        build::original("one", ret),
    ]);
    Levelized {
        program,
        tasks: vec![fan, one],
    }
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
            assert_eq!(
                results,
                [bits(ty, expected); 2],
                "{} of {ty}",
                combine.name()
            );
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
    // SAFETY: one continuation element was pushed.
    assert_eq!(
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
        segments: vec![Segment { body, ret, pushes }],
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
        stack: StackRef::Entry(TaskId(1)),
        max: Some(1),
    }];
    let levelized = Levelized {
        program: program(vec![
            build::original("pass", Type::unit()),
            build::original("take", ret),
        ]),
        tasks: vec![
            task(0, "pass", pass, None, pushes),
            task(1, "take", take, Some(LocalId(0)), vec![]),
        ],
    };
    assert_eq!(
        levelized.tasks[1].element[0].kind,
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
