//! Helpers, inlined and called.

use crate::support::{
    Machine,
    build::{
        self, args, assign, binary, blob, block, branch, field, function, goto, local, program,
        slot, slot_addr,
    },
    one::{PTR, T, U64, leaf, run, sum_loop, u64_},
};
use millstream_channels_kernel::cpu::{CompiledProgram, abi::status};
use millstream_graph::{
    ir::{
        Arg, BinOp, CheckKind, FuncId, Function, FunctionKind, LocalId, Rvalue, SlotId, StmtKind,
        Terminator,
    },
    levelized::Levelized,
    ty::{Scalar, Type},
};

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
