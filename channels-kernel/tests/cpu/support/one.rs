//! Programs of one task that is a leaf, and how to run them.

use super::{
    Machine,
    build::{self, args, assign, binary, block, branch, field, function, goto, local},
};
use millstream_channels_kernel::cpu::CompiledProgram;
use millstream_graph::{
    ir::{BinOp, FunctionKind, Operand, Program, Rvalue, TaskId, Terminator},
    levelized::Levelized,
    ty::{Scalar, Type},
};

pub const T: TaskId = TaskId(0);
pub const U64: Scalar = Scalar::U64;
pub const PTR: Scalar = Scalar::Ptr;

pub fn u64_(v: u64) -> Operand {
    Operand::Const(U64, v)
}

/// A task that takes `u64`s, then the return address, and returns a `u64`.
pub fn leaf(
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
pub fn run(levelized: &Levelized, all: &[&[u64]]) -> (u32, Vec<u64>) {
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

/// `while i < n { sum += i; i += 1 }`, endless if `n` is the greatest number.
pub fn sum_loop() -> Vec<millstream_graph::ir::Block> {
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
