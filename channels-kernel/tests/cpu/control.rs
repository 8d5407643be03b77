//! Checks, loops and switches.

use crate::support::{
    Machine,
    build::{self, args, assign, binary, block, field, function, local, program},
    one::{PTR, T, U64, leaf, run, sum_loop, u64_},
};
use millstream_channels_kernel::cpu::{CompiledProgram, abi::status};
use millstream_graph::{
    ir::{BinOp, BlockId, CheckKind, FunctionKind, Operand, Rvalue, StmtKind, Terminator},
    ty::{Scalar, Type},
};
use std::sync::atomic::Ordering;

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
        // Relaxed: pairs with the load of compiled code, which only ends its loop.
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
