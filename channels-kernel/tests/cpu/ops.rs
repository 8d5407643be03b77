//! Every operation on every type it takes, over values at the edges, against the one definition of its meaning.

use crate::support::{
    Machine,
    build::{self, args, block, field, function, local},
};
use millstream_channels_kernel::cpu::{CompiledProgram, abi::status};
use millstream_graph::{
    eval::{eval_atomic, eval_binary, eval_cast, eval_mul_add, eval_unary, truncate},
    ir::{
        AtomicOp, BinOp, Function, FunctionKind, LocalId, Operand, Order, Rvalue, StmtKind, TaskId,
        Terminator, UnOp,
    },
    levelized::Field,
    ty::{Scalar, Type},
};

fn edges(ty: Scalar) -> Vec<u64> {
    match ty {
        Scalar::Bool => vec![0, 1],
        Scalar::F32 => floats()
            .into_iter()
            .map(|x| u64::from((x as f32).to_bits()))
            .chain(f32_edges())
            .collect(),
        Scalar::F64 => floats().into_iter().map(f64::to_bits).collect(),
        _ => {
            let (top, wide) = (1u64 << (ty.bits() - 1), u64::MAX);
            let all = [
                0,
                1,
                2,
                3,
                7,
                31,
                32,
                33,
                63,
                64,
                65,
                100,
                top,
                top - 1,
                top + 1,
                top - 2,
                wide,
                wide - 1,
                wide - 2,
                0x1234_5678_9abc_def0,
            ];
            let mut all: Vec<u64> = all.iter().map(|&b| truncate(ty, b)).collect();
            all.sort_unstable();
            all.dedup();
            all
        }
    }
}

fn floats() -> Vec<f64> {
    let mut out = vec![
        0.0,
        0.3,
        0.5,
        0.5f64.next_down(),
        1.0,
        1.5,
        2.0,
        2.5,
        3.7,
        127.5,
        128.0,
        255.5,
        256.0,
        32768.0,
        65535.9,
        2147483647.5,
        2147483648.0,
        4294967295.5,
        4294967296.0,
        4503599627370495.5,
        4503599627370497.0,
        9007199254740993.0,
        9223372036854774784.0,
        9223372036854775808.0,
        18446744073709549568.0,
        18446744073709551616.0,
        1e-310,
        1e300,
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::INFINITY,
        f64::NAN,
    ];
    out.extend(out.clone().into_iter().map(|x| -x));
    out
}

fn f32_edges() -> Vec<u64> {
    let edges = [
        0.5f32.next_down(),
        -0.5f32.next_down(),
        8388607.5,
        8388609.0,
        2147483520.0,
        f32::MIN_POSITIVE,
        f32::MAX,
        1e-40,
    ];
    edges.iter().map(|x| u64::from(x.to_bits())).collect()
}

type Leaf = (String, Vec<Field>, Type, Function);

/// Operands, and what the operation makes of them.
type Case = (Vec<u64>, u64);

/// Compiles the tasks, runs each on its cases, in one wavefront, and compares.
fn agree(leaves: Vec<(Leaf, Scalar, Vec<Case>)>) {
    let (tasks, cases): (Vec<_>, Vec<_>) = leaves
        .into_iter()
        .map(|(leaf, ty, cases)| (leaf, (ty, cases)))
        .unzip();
    let names: Vec<String> = tasks.iter().map(|t| t.0.clone()).collect();
    let code = CompiledProgram::compile(&build::leaves(build::program(vec![]), tasks)).unwrap();
    let most = cases.iter().map(|c| c.1.len()).max().unwrap() as u64;
    let mut machine = Machine::new(&code, most, most);
    for (i, (ty, cases)) in cases.iter().enumerate() {
        let mut results = vec![0u64; cases.len()];
        let base = results.as_mut_ptr();
        for (j, (operands, _)) in cases.iter().enumerate() {
            let mut fields = operands.clone();
            fields.push(base.wrapping_add(j).addr() as u64);
            machine.push(TaskId::new(i), &fields);
        }
        assert_eq!(machine.run(), status::OK);
        std::hint::black_box(base);
        for ((operands, expected), &result) in cases.iter().zip(&results) {
            assert!(
                same(*ty, *expected, result),
                "{} of {operands:x?}: {result:#x} instead of {expected:#x}",
                names[i]
            );
        }
    }
}

/// NaNs are equal, whatever their bits.
fn same(ty: Scalar, a: u64, b: u64) -> bool {
    let nan = |bits: u64| match ty {
        Scalar::F32 => f32::from_bits(bits as u32).is_nan(),
        Scalar::F64 => f64::from_bits(bits).is_nan(),
        _ => false,
    };
    a == b || nan(a) && nan(b)
}

fn pairs(a: &[u64], b: &[u64]) -> Vec<(u64, u64)> {
    a.iter()
        .flat_map(|&a| b.iter().map(move |&b| (a, b)))
        .collect()
}

#[test]
fn unary_operations() {
    let mut leaves = Vec::new();
    for &op in UnOp::ALL {
        for ty in Scalar::ALL.into_iter().filter(|&ty| op.accepts(ty)) {
            let ret = op.result(ty);
            let leaf = build::assignment(
                &format!("{} {ty}", op.name()),
                &[ty],
                ret,
                Rvalue::Unary(op, local(0)),
            );
            leaves.push((
                leaf,
                ret,
                edges(ty)
                    .into_iter()
                    .map(|a| (vec![a], eval_unary(op, ty, a)))
                    .collect(),
            ));
        }
    }
    agree(leaves);
}

#[test]
fn binary_operations() {
    let mut leaves = Vec::new();
    for &op in BinOp::ALL {
        for ty in Scalar::ALL.into_iter().filter(|&ty| op.accepts(ty)) {
            let (second, ret) = (op.second(ty), op.result(ty));
            let leaf = build::assignment(
                &format!("{} {ty}", op.name()),
                &[ty, second],
                ret,
                Rvalue::Binary(op, local(0), local(1)),
            );
            let cases = pairs(&edges(ty), &edges(second)).into_iter();
            let cases: Vec<_> = cases
                .filter_map(|(a, b)| Some((vec![a, b], eval_binary(op, ty, a, b)?)))
                .collect();
            assert!(!cases.is_empty());
            leaves.push((leaf, ret, cases));
        }
    }
    agree(leaves);
}

#[test]
fn binary_operations_with_a_constant() {
    let mut leaves = Vec::new();
    for &op in BinOp::ALL {
        for ty in Scalar::ALL.into_iter().filter(|&ty| op.accepts(ty)) {
            let (second, ret) = (op.second(ty), op.result(ty));
            let constants = [
                0,
                1,
                2,
                3,
                5,
                13,
                64,
                65,
                u64::MAX,
                u64::MAX - 2,
                edges(second)[2 % edges(second).len()],
            ];
            for b in constants.map(|b| truncate(second, b)) {
                let value = Rvalue::Binary(op, local(0), Operand::Const(second, b));
                let leaf =
                    build::assignment(&format!("{} {ty} by {b}", op.name()), &[ty], ret, value);
                let cases: Vec<_> = edges(ty)
                    .into_iter()
                    .filter_map(|a| Some((vec![a], eval_binary(op, ty, a, b)?)))
                    .collect();
                // A program that divides by the constant 0 never gets past its check.
                if !cases.is_empty() {
                    leaves.push((leaf, ret, cases));
                }
            }
        }
    }
    agree(leaves);
}

#[test]
fn casts() {
    let mut leaves = Vec::new();
    let castable = |from: Scalar, to: Scalar| {
        from != Scalar::Ptr && (to.is_int() || to.is_float() && from != Scalar::Bool)
    };
    for from in Scalar::ALL {
        for to in Scalar::ALL.into_iter().filter(|&to| castable(from, to)) {
            let leaf = build::assignment(
                &format!("{from} as {to}"),
                &[from],
                to,
                Rvalue::Cast(to, local(0)),
            );
            leaves.push((
                leaf,
                to,
                edges(from)
                    .into_iter()
                    .map(|a| (vec![a], eval_cast(from, to, a)))
                    .collect(),
            ));
        }
    }
    for (from, to) in [
        (Scalar::F32, Scalar::U32),
        (Scalar::I64, Scalar::F64),
        (Scalar::U8, Scalar::I8),
    ] {
        let leaf = build::assignment(
            &format!("{from} bits {to}"),
            &[from],
            to,
            Rvalue::Bitcast(to, local(0)),
        );
        leaves.push((
            leaf,
            to,
            edges(from).into_iter().map(|a| (vec![a], a)).collect(),
        ));
    }
    agree(leaves);
}

#[test]
fn mul_add_and_select() {
    let mut leaves = Vec::new();
    for ty in [Scalar::F32, Scalar::F64] {
        let leaf = build::assignment(
            &format!("mul_add {ty}"),
            &[ty; 3],
            ty,
            Rvalue::MulAdd(local(0), local(1), local(2)),
        );
        let (all, third) = (edges(ty), [3, 10, 20, 33].map(|i| edges(ty)[i]));
        let cases = pairs(&all, &all)
            .into_iter()
            .flat_map(|(a, b)| third.map(|c| (vec![a, b, c], eval_mul_add(ty, a, b, c))))
            .collect();
        leaves.push((leaf, ty, cases));
    }
    for ty in Scalar::ALL {
        let leaf = build::assignment(
            &format!("select {ty}"),
            &[Scalar::Bool, ty, ty],
            ty,
            Rvalue::Select(local(0), local(1), local(2)),
        );
        leaves.push((leaf, ty, vec![(vec![0, 0, 1], 1), (vec![1, 0, 1], 0)]));
    }
    agree(leaves);
}

/// A task (address, x, y, return address) that does one atomic operation and returns what memory held.
fn atomic(op: AtomicOp, ty: Scalar) -> Leaf {
    let name = format!("{} {ty}", op.name());
    let operands = (0..op.args() as u32).map(|i| local(1 + i)).collect();
    let dst = (op != AtomicOp::Store).then_some(LocalId(4));
    let stmts = vec![
        build::assign(4, Rvalue::Use(local(1))),
        StmtKind::Atomic {
            op,
            ty,
            addr: local(0),
            args: operands,
            dst,
            order: Order::SeqCst,
        },
    ];
    let types = [Scalar::Ptr, ty, ty, Scalar::Ptr, ty];
    let blocks = vec![block(stmts, Terminator::Return(vec![local(4)]))];
    let body = function(
        FunctionKind::Segment,
        &name,
        Type::Scalar(ty),
        &args(4),
        &types,
        blocks,
    );
    (
        name,
        types[..4].iter().map(|&t| field("x", t)).collect(),
        Type::Scalar(ty),
        body,
    )
}

#[test]
fn atomic_operations() {
    let accepted = |op, ty: Scalar| match op {
        AtomicOp::Add | AtomicOp::Sub | AtomicOp::Min | AtomicOp::Max => ty.is_int(),
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor | AtomicOp::Nand => {
            ty.is_int() || ty == Scalar::Bool
        }
        _ => true,
    };
    let ops = AtomicOp::ALL
        .iter()
        .flat_map(|&op| Scalar::ALL.map(|ty| (op, ty)))
        .filter(|&(op, ty)| accepted(op, ty));
    let ops: Vec<_> = ops.collect();
    let tasks = ops.iter().map(|&(op, ty)| atomic(op, ty)).collect();
    let code = CompiledProgram::compile(&build::leaves(build::program(vec![]), tasks)).unwrap();
    let mut machine = Machine::new(&code, 1, 1);
    for (i, (op, ty)) in ops.into_iter().enumerate() {
        for (old, x) in pairs(&edges(ty), &edges(ty)) {
            for y in [edges(ty)[1], old] {
                // The bytes behind the scalar must stay.
                let around = if ty.size() == 8 {
                    0
                } else {
                    u64::MAX << (ty.size() * 8)
                };
                let (mut memory, mut result) = (old | around, 0u64);
                machine.push(
                    TaskId::new(i),
                    &[
                        (&raw mut memory).addr() as u64,
                        x,
                        y,
                        (&raw mut result).addr() as u64,
                    ],
                );
                assert_eq!(machine.run(), status::OK);
                let (memory, result) = std::hint::black_box((memory, result));
                // The first argument is what is compared with, in a compare-exchange.
                let new = eval_atomic(op, ty, old, &[x, y]).unwrap_or(old);
                assert_eq!(
                    memory,
                    new | around,
                    "{} {ty} of {old:#x} with {x:#x}, {y:#x}",
                    op.name()
                );
                if op != AtomicOp::Store {
                    assert_eq!(
                        result,
                        old,
                        "{} {ty} of {old:#x} with {x:#x}, {y:#x}",
                        op.name()
                    );
                }
            }
        }
    }
}
