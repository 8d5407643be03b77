use millstream_graph::ir::*;
use millstream_graph::text::*;
use millstream_graph::ty::*;

/// Everything the text form knows, in the form that the printer gives it.
const EVERYTHING: &str = r#"program everything in "a \"b\".rs" checked unchecked fast_math
struct Point { x: f64, tail: [Pair; 3] }
struct Pair(0: i32, 1: (u8,))
struct "task" {}
struct Odd { "a b": "task", "01": MatMut<f32>, "": &mut [AtomicU64] }
data d0 TABLE align 4 "01020304 05060708 090a"
data d1 EMPTY align 1 ""

fn helper(p: &Point, q: "task", b: [u8; 4]) -> (u32, Point) takes %0, $0 {
    let %0 p: ptr, %1: u64
    slot $0 b: 4 align 1, $1 x: u64, $2: u64 16 align 8
b0:
    call @helper(%0, %0) -> %1
    return 1u32, -0.0f64, %0
}

task main(n: u32, a: &mut [AtomicBool], m: Mat<f64>, r: &[f32; 2]) -> u64 takes %0, %1, %2 @3:9 {
    let %0 n: u32, %1: ptr, %2: usize, %3: bool, %4: f32, %5 "two words": i32, %6: f64
    slot $0: 24 align 8
b0:
    %0 = %0 @1:1
    %4 = f32#7fc00001
    %4 = -1.5e-7f32
    %6 = 1e300f64
    %6 = f64#fff0000000000000
    %5 = -2147483648i32
    %5 = i32#100000000
    %3 = true
    %3 = bool#2
    %1 = 0ptr
    %0 = count_ones %0 @4:9
    %0 = add %0, 4294967295u32
    %4 = mul_add %4, 1.0f32, 0.1f32
    %0 = select %3, %0, 7u32
    %4 = cast f32 %0
    %0 = bitcast u32 %4
    %0 = load u32 %1
    %0 = load u32 %1 + 8
    store %0 -> %1
    store 3u8 -> %1 + 16
    %1 = addr $0
    %1 = addr d1
    %1 = ptr_add %1, %2 * 8
    %1 = ptr_add %1, 2usize * 8 + 4
    copy %1 -> 8ptr 24
    zero %1 24 @9:1
    %0 = call @helper(%1, %1)
    call @helper()
    spawn @main(%0) -> %1 max
    spawn @main()
    check %3 bounds(%2, 3usize) @7:3
    check %3 overflow add(%0, %0)
    check false panic "tab\t quote\" back\\ nul\u{0} é"()
    check %3 assert_eq "a == b"(%0, 1u32)
    %0 = atomic cas u32 %1(%0, 1u32) acq_rel
    atomic store u32 %1(%0) release
    %0 = atomic load u32 %1() relaxed
    goto b1 @5:6
b1:
    branch %3 b2 b3
b2:
    switch %0 { 0: b3, 18446744073709551615: b4, _: b5 }
b3:
    switch %0 { _: b4 } @1:2
b4:
    sync b5
b5:
    return
b6:
    unreachable
}

segment s() {
b0:
    frame_alloc
    %0 = load .0
    %0 = addr .12
    store %0 -> .3
    continue s2
}

task turns(n: u32) takes %0 rounds @7:5 {
    let %0: u32
b0:
    return
}

task "turns of a warp"(n: u32) takes %0 rounds warp {
    let %0: u32
b0:
    return
}

fn "turns of some"(n: u32) takes %0 rounds 96 {
    let %0: u32
b0:
    return
}
"#;

#[test]
fn prints_what_it_reads() {
    let program = parse_program(EVERYTHING).unwrap();
    assert_eq!(print_program(&program), EVERYTHING);
    assert_eq!(parse_program(&print_program(&program)).unwrap(), program);
}

#[test]
fn reads_the_right_things() {
    let program = parse_program(EVERYTHING).unwrap();
    assert_eq!(program.file, "a \"b\".rs");
    assert_eq!(program.data[0].bytes, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    let main = &program[program.find("main").unwrap()];
    assert_eq!(main.span, Span { line: 3, col: 9 });
    assert_eq!(main.locals[5].name.as_deref(), Some("two words"));
    let value = |i: usize| match &main.blocks[0].stmts[i].kind {
        StmtKind::Assign {
            value: Rvalue::Use(Operand::Const(ty, bits)),
            ..
        } => (*ty, *bits),
        other => panic!("{other:?}"),
    };
    assert_eq!(value(1), (Scalar::F32, 0x7fc0_0001));
    assert_eq!(value(2), (Scalar::F32, u64::from((-1.5e-7f32).to_bits())));
    assert_eq!(value(3), (Scalar::F64, 1e300f64.to_bits()));
    assert_eq!(value(5), (Scalar::I32, 0x8000_0000));
    assert_eq!(
        main.blocks[0].stmts[23].kind,
        StmtKind::Assign {
            dst: LocalId(1),
            value: Rvalue::PtrAdd {
                base: Operand::Local(LocalId(1)),
                index: Operand::usize(2),
                scale: 8,
                offset: 4
            }
        }
    );
    assert_eq!(main.blocks[0].stmts[25].span, Span { line: 9, col: 1 });
    let turns = |name| {
        let of = &program[program.find(name).unwrap()];
        (of.rounds, of.team)
    };
    assert_eq!(turns("main"), (false, None));
    assert_eq!(turns("turns"), (true, None));
    assert_eq!(turns("turns of a warp"), (true, Some(Team::Warp)));
    assert_eq!(turns("turns of some"), (true, Some(Team::Threads(96))));
    assert_eq!(
        program.functions[0].slots[2],
        Slot {
            name: None,
            layout: Layout { size: 16, align: 8 },
            scalar: Some(Scalar::U64)
        }
    );
}

/// A function with one block of these statements.
fn one_block(kinds: Vec<StmtKind>) -> Program {
    let span = Span::default();
    let stmts = kinds.into_iter().map(|kind| Stmt { kind, span }).collect();
    let block = Block {
        stmts,
        term: Terminator::Unreachable,
        span,
    };
    let function = Function {
        name: "f".into(),
        kind: FunctionKind::Helper,
        rounds: false,
        team: None,
        params: Vec::new(),
        ret: Type::unit(),
        args: Vec::new(),
        locals: Vec::new(),
        slots: Vec::new(),
        blocks: vec![block],
        span,
    };
    Program {
        name: "p".into(),
        functions: vec![function],
        ..Program::default()
    }
}

fn assert_round_trip(kinds: Vec<StmtKind>) {
    let program = one_block(kinds);
    let text = print_program(&program);
    assert_eq!(
        parse_program(&text).unwrap_or_else(|e| panic!("{e}\n{text}")),
        program,
        "{text}"
    );
}

fn assign(value: Rvalue) -> StmtKind {
    StmtKind::Assign {
        dst: LocalId(0),
        value,
    }
}

#[test]
fn every_operation_round_trips() {
    let x = Operand::Local(LocalId(7));
    let mut kinds: Vec<StmtKind> = UnOp::ALL
        .iter()
        .map(|op| assign(Rvalue::Unary(*op, x)))
        .collect();
    kinds.extend(
        BinOp::ALL
            .iter()
            .map(|op| assign(Rvalue::Binary(*op, x, x))),
    );
    let each = Ways::new(&Combine::ALL[1..]).map(Combine::Each);
    kinds.extend(
        Combine::ALL
            .iter()
            .copied()
            .chain(each)
            .map(|combine| StmtKind::Spawn {
                func: FuncId(0),
                args: vec![],
                dest: Some(Dest { addr: x, combine }),
                leaf: (combine != Combine::Store).then_some(x),
            }),
    );
    for op in AtomicOp::ALL {
        for order in Order::ALL {
            let args = vec![x; op.args()];
            kinds.push(StmtKind::Atomic {
                op: *op,
                ty: Scalar::U64,
                addr: x,
                args,
                dst: None,
                order: *order,
            });
        }
    }
    kinds.push(StmtKind::Emit {
        channel: ChannelId(3),
        args: vec![x, Operand::bool(true)],
    });
    kinds.push(assign(Rvalue::Uniform {
        id: UniformId(12),
        ty: Scalar::Ptr,
    }));
    let text = "x \"<= y\"\n".to_owned();
    let checks = [
        CheckKind::Bounds,
        CheckKind::RangeOrder,
        CheckKind::RangeEnd,
        CheckKind::Split,
        CheckKind::Lengths,
        CheckKind::NegOverflow,
        CheckKind::DivisionByZero,
        CheckKind::DivisionOverflow,
        CheckKind::RemainderByZero,
        CheckKind::RemainderOverflow,
        CheckKind::Assert(text.clone()),
        CheckKind::AssertEq(text.clone()),
        CheckKind::AssertNe(text.clone()),
        CheckKind::Panic(text),
    ];
    let overflows = BinOp::ALL.iter().map(|op| CheckKind::Overflow(*op));
    kinds.extend(
        checks
            .into_iter()
            .chain(overflows)
            .map(|kind| StmtKind::Check {
                cond: x,
                values: vec![x; kind.values()],
                kind,
            }),
    );
    assert_round_trip(kinds);
}

#[test]
fn kernels_channels_and_uniforms_round_trip() {
    let text = "program p in \"p.rs\"
struct Step(0: u32, 1: [u8; 6])
channel c0 \"a b\"(n: u32, path: 6 align 1)
channel c1 \"task\"()
uniform a0 \"kernel.out\": ptr
uniform a1 \"\": 8 align 4

kernel walk(from: Step, next: Channel<(u32,)>, out: &AtomicU32) takes %0, $0, %1 @3:4 {
    let %0: u32, %1: ptr
    slot $0: 6 align 1
b0:
    emit c0(%0) @4:5
    return
}
";
    assert_eq!(print_program(&parse_program(text).unwrap()), text);
}

#[test]
fn every_constant_keeps_its_bits() {
    let mut kinds = Vec::new();
    // A generator of bits that favours the edges: runs of ones and zeros.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for ty in Scalar::ALL {
        let edges = [
            0,
            1,
            2,
            0x7f,
            0x80,
            0xff,
            0x7fff,
            0x8000,
            0xffff,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_ffff,
            1 << 63,
            u64::MAX >> 1,
            u64::MAX,
        ];
        let floats = [
            0.1f64,
            -0.0,
            1.0,
            1e16,
            1e-7,
            123_456_789.125,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
            f64::INFINITY,
            f64::NAN,
            -f64::NAN,
        ];
        let random = (0..200).map(|_| random() >> (random() % 64));
        let bits = edges
            .into_iter()
            .chain(floats.map(f64::to_bits))
            .chain(floats.map(|x| u64::from((x as f32).to_bits())))
            .chain(random);
        kinds.extend(bits.map(|bits| assign(Rvalue::Use(Operand::Const(ty, bits)))));
    }
    assert_round_trip(kinds);
}

#[test]
fn names_and_types_round_trip() {
    let names = [
        "",
        "a",
        "_",
        "_1",
        "0",
        "1",
        "01",
        "10",
        "1234567890",
        "é",
        "a b",
        "r#fn",
        "\"",
        "\\u{1}",
        "mut",
        "u32",
        "Mat",
        "b0",
        "-1",
        "//x",
    ];
    let mut program = one_block(Vec::new());
    program.functions.clear();
    for (i, name) in names.iter().enumerate() {
        let mut def = StructDef {
            name: (*name).into(),
            fields: vec![((*name).into(), Type::Struct(StructId(0)))],
            tuple: i % 2 == 0 || i == 1,
            variants: Vec::new(),
        };
        if i == 1 {
            let data = || vec![Type::Scalar(Scalar::U8), Type::Struct(StructId(1))];
            def.add_variant(name, 0, Vec::new(), Vec::new());
            def.add_variant("b", 1 << 63, data(), Vec::new());
            def.add_variant("c", 2, data(), vec!["mut".into(), (*name).into()]);
        }
        program.structs.push(def);
        program.data.push(Data {
            name: (*name).into(),
            align: 1 << i,
            bytes: vec![i as u8; i * 20],
        });
    }
    for (i, name) in names.iter().enumerate() {
        let mut function = one_block(Vec::new()).functions.remove(0);
        let this = Type::Struct(StructId(i as u32));
        let boxed = || Box::new(this.clone());
        function.name = (*name).into();
        function.ret = this.clone();
        let types = [
            Type::Atomic(Scalar::ALL[i % 14]),
            Type::Tuple(vec![this.clone()]),
            Type::Tuple(vec![this.clone(), Type::unit()]),
            Type::Array(Box::new(Type::Array(boxed(), 0)), u64::MAX),
            Type::Ref {
                mutable: true,
                target: Box::new(Type::Slice {
                    mutable: false,
                    elem: boxed(),
                }),
            },
            Type::Slice {
                mutable: true,
                elem: Box::new(Type::Ref {
                    mutable: false,
                    target: Box::new(Type::Array(boxed(), 3)),
                }),
            },
            Type::Mat {
                mutable: i % 2 == 0,
                elem: boxed(),
            },
        ];
        function.params = types
            .into_iter()
            .map(|ty| Param {
                name: (*name).into(),
                ty,
            })
            .collect();
        function.locals = vec![
            Local {
                name: Some((*name).into()),
                ty: Scalar::ALL[i % 14]
            };
            12
        ];
        function.slots = vec![
            Slot {
                name: Some((*name).into()),
                layout: Layout { size: 8, align: 8 },
                scalar: Some(Scalar::ALL[i % 14])
            };
            12
        ];
        program.functions.push(function);
    }
    let text = print_program(&program);
    assert_eq!(
        parse_program(&text).unwrap_or_else(|e| panic!("{e}\n{text}")),
        program
    );
}

#[test]
fn errors_say_where_and_what() {
    let reject = |body: &str| {
        let source = format!("program p in \"f\"\nfn f() {{\n  let %0: u32\nb0:\n  {body}\n}}\n");
        parse_program(&source).expect_err(body).to_string()
    };
    assert_eq!(
        reject("%0 = plus %0, %0 return"),
        "5:8: expected an operation, found `plus`"
    );
    assert_eq!(reject("%0 = add %0 %0"), "5:15: expected `,`, found `%0`");
    assert_eq!(
        reject("%0 = 300u8 return"),
        "5:8: expected a constant with its type, found `300u8`"
    );
    assert_eq!(reject("call @g() return"), "5:9: there is no function `g`");
    assert_eq!(
        reject("check %0 boundz(%0)"),
        "5:12: expected a kind of check, found `boundz`"
    );
    assert_eq!(reject("goto c1"), "5:8: expected a block, found `c1`");
    assert_eq!(reject("store %0 %0"), "5:12: expected `->`, found `%0`");
    assert_eq!(reject("%0 = add %0, é"), "5:16: unexpected character `é`");
    assert_eq!(
        reject("check %0 panic \"oh"),
        "5:18: this string has no end"
    );
    assert_eq!(
        reject("check %0 panic \"\\x\"()"),
        "5:18: this string has an escape that is not \\n, \\r, \\t, \\\", \\\\ or \\u{..}"
    );
    assert_eq!(
        reject("return }"),
        "6:1: expected `struct`, `data` or a function (structs stand before constants, constants before channels, uniforms and functions), found `}`"
    );
    assert_eq!(reject("%0 = 1u32"), "6:1: expected a statement, found `}`");
    assert_eq!(reject("return b2:"), "5:10: expected `b1`, found `b2`");
    let top = |source: &str| parse_program(source).expect_err(source).to_string();
    assert_eq!(
        top(""),
        "1:1: expected `program`, found the end of the text"
    );
    assert_eq!(
        top("program p in \"f\" fn f(x: S) {}"),
        "1:26: there is no struct `S`"
    );
    assert_eq!(
        top("program p in \"f\" fn f() {} fn f() {}"),
        "1:31: the name `f` is used twice"
    );
    assert_eq!(
        top("program p in \"f\" fn f() { let %1: u8 }"),
        "1:31: expected `%0`, found `%1`"
    );
    assert_eq!(
        top("program p in \"f\" data d0 X align 1 \"0\""),
        "1:36: expected pairs of hex digits"
    );
}

/// No text makes the parser panic, and no program the verifier: every prefix of a program, and every program with one byte missing.
#[test]
fn damaged_text_is_an_error_or_a_program() {
    let mut programs = 0;
    let mut read = |text: &str| {
        if let Ok(program) = parse_program(text) {
            programs += 1;
            let _ = millstream_graph::verify::verify(&program);
            assert_eq!(parse_program(&print_program(&program)).unwrap(), program);
        }
    };
    for (i, c) in EVERYTHING.char_indices() {
        read(&EVERYTHING[..i]);
        read(&format!(
            "{}{}",
            &EVERYTHING[..i],
            &EVERYTHING[i + c.len_utf8()..]
        ));
    }
    assert!(programs > 500, "{programs}");
}
