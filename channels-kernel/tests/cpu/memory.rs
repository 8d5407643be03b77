//! Bytes, constants and variables in memory.

use crate::support::{
    build::{assign, binary, block, local, program, slot, slot_addr},
    one::{PTR, T, U64, leaf, run, u64_},
};
use millstream_graph::{
    ir::{BinOp, Data, DataId, Rvalue, StmtKind, Terminator},
    ty::Scalar,
};

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
        let code = levelized.entry(T).func.index();
        levelized.program.functions[code].slots = vec![slot(8, 8, Some(U64))];
        assert_eq!(
            run(&levelized, &[&[3], &[8]]).1,
            if escapes { [40, 40] } else { [4, 9] }
        );
    }
}
