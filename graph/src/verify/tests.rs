#![allow(clippy::unwrap_used)]
//! For each rule, programs that break it and what the verifier says.

use super::*;
use crate::{
    ir::{
        Arg, FieldId, FuncId, LocalId, Operand, Param, Rvalue, SegmentId, SlotId, StmtKind, TaskId,
        Terminator,
    },
    levelized::{Field, Levelized, LoweredTask, Push, Segment, StackRef},
    text::parse_program,
};

fn parse(items: &str) -> Program {
    parse_program(&format!("program p in \"p.rs\"\n{items}"))
        .unwrap_or_else(|e| panic!("{e}\n{items}"))
}

fn messages(result: Result<(), Vec<VerifyError>>) -> Vec<String> {
    result
        .err()
        .unwrap_or_default()
        .into_iter()
        .map(|e| e.message)
        .collect()
}

/// The one thing that is wrong with this program.
fn wrong(program: &Program) -> String {
    let errors = messages(verify(program));
    assert_eq!(
        errors.len(),
        1,
        "{errors:?}\n{}",
        crate::text::print_program(program)
    );
    errors.into_iter().next().unwrap()
}

fn reject(items: &str) -> String {
    wrong(&parse(items))
}

/// Helpers and tasks to call, and the statements in the first block of task `t`; the last has to end the block. All locals but `%9` are set.
fn source(body: &str) -> String {
    format!(
        "struct One(0: u32)
        struct Two {{ a: u32, b: [u8; 4] }}
        data d0 D align 1 \"00\"
        fn nothing() {{ b0: return }}
        fn one(a: u32) -> One takes %0 {{ let %0: u32 b0: return %0 }}
        fn two(a: Two) -> Two takes %0, $0 {{ let %0: u32, %1: ptr slot $0: 4 align 1 b0: %1 = addr $0 return %0, %1 }}
        task quiet() {{ b0: return }}
        task flag() -> bool {{ b0: return true }}
        task pair() -> Two {{ let %0: ptr slot $0: 4 align 1 b0: %0 = addr $0 return 1u32, %0 }}
        task t(a: u32, b: bool, c: f32, d: usize, p: &[u8], q: i32, r: u8) -> u32 takes %0, %1, %2, %3, %4, %5, %6, %7 {{
            let %0: u32, %1: bool, %2: f32, %3: usize, %4: ptr, %5: usize, %6: i32, %7: u8, %8: ptr, %9: u32
            slot $0 x: u32, $1: 8 align 4
        b0:
            {body}
        }}"
    )
}

fn body(body: &str) -> String {
    reject(&source(body))
}

/// Statements in front of a `return`.
fn stmts(stmts: &str) -> String {
    body(&format!("{stmts} return %0"))
}

fn accept(stmts: &str) {
    verify(&parse(&source(&format!("{stmts} return %0"))))
        .unwrap_or_else(|e| panic!("{stmts}: {e:?}"));
}

#[test]
fn right_programs_are_accepted() {
    accept(
        "%8 = addr $0 store %0 -> %8 spawn @t(%0, %1, %2, %3, %4, %5, %6, %7) -> %8 add %9 = load u32 %8",
    );
    accept(
        "%9 = call @one(%0) call @one(%0) call @nothing() %8 = addr $1 call @two(%0, %8) -> %8 spawn @pair() -> %8 store spawn @quiet()",
    );
    accept(
        "%9 = cast u32 %2 %2 = cast f32 %7 %9 = cast u32 %1 %9 = bitcast u32 %2 %8 = bitcast ptr %3 %9 = select %1, %0, 1u32",
    );
    accept(
        "%1 = eq %8, 0ptr %8 = ptr_add %8, %3 * 4"
            .replace("%8", "%4")
            .as_str(),
    );
    accept(
        "%2 = powi %2, %6 %2 = min %2, %2 %1 = and %1, true %0 = shl %0, %0 %0 = count_ones %7 %2 = mul_add %2, %2, %2",
    );
    accept(
        "check %1 overflow add(%0, %7) %1 = atomic nand bool %4(true) seq_cst %7 = atomic cas u8 %4(1u8, 2u8) acq_rel",
    );
}

#[test]
fn rule_1_names_and_types() {
    let twice = |items: &str, from: &str| {
        let mut program = parse(items);
        program
            .functions
            .iter_mut()
            .for_each(|f| f.name = f.name.replace(from, "same"));
        let ids: Vec<_> = program.structs.iter().map(|(id, _)| id).collect();
        ids.into_iter().for_each(|id| {
            program.structs[id].name = program.structs[id].name.replace(from, "same")
        });
        wrong(&program)
    };
    assert_eq!(
        twice(
            "fn same() { b0: return } fn other() { b0: return }",
            "other"
        ),
        "two functions are called `same`"
    );
    assert_eq!(
        twice("struct same {} struct other {}", "other"),
        "two structs are called `same`"
    );
    assert_eq!(
        reject("struct A { b: [A; 2] }"),
        "struct `A`: it contains itself"
    );
    assert_eq!(
        reject("struct A { b: Mat<(u8,)> }"),
        "struct `A`: matrices hold scalars"
    );
    assert_eq!(
        reject("struct A { b: &AtomicF32 }"),
        "struct `A`: atomics hold integers and bools"
    );
    assert_eq!(
        reject("struct A { b: [[u64; 4294967296]; 4294967296] }"),
        "struct `A`: it is too large"
    );
    assert_eq!(
        reject("fn f(a: [[u8; 0]; 9], b: [u8; 1099511627776]) { b0: return }"),
        "type of b of `f`: it is too large"
    );
    assert_eq!(
        messages(verify(&parse("struct A { b: B } struct B { a: A }"))).len(),
        2
    );
    verify(&parse("struct A { b: &A, c: B } struct B { d: u8 }")).unwrap();
}

#[test]
fn rule_2_layouts() {
    assert_eq!(
        reject("data d0 D align 3 \"\""),
        "constant d0 has alignment 3"
    );
    assert_eq!(
        reject("fn f() { slot $0: 8 align 3 b0: return }"),
        "slot $0 has no layout: size 8, alignment 3"
    );
    assert_eq!(
        reject("fn f() { slot $0: 8 align 0 b0: return }"),
        "slot $0 has no layout: size 8, alignment 0"
    );
    assert_eq!(
        reject("fn f() { slot $0: 6 align 4 b0: return }"),
        "slot $0 has no layout: size 6, alignment 4"
    );
    assert_eq!(
        reject("fn f() { slot $0: u32 8 align 4 b0: return }"),
        "slot $0 of a scalar variable does not have the scalar's layout"
    );
}

#[test]
fn rule_3_no_segments() {
    assert_eq!(
        reject("segment s() { b0: return }"),
        "a segment stands only in a levelized program"
    );
}

#[test]
fn rule_4_ids() {
    assert_eq!(reject("fn f() {}"), "a function has at least one block");
    assert_eq!(stmts("%0 = %33"), "there is no local %33");
    assert_eq!(stmts("%33 = 1u32"), "there is no local %33");
    assert_eq!(stmts("%8 = addr $9"), "there is no slot $9");
    assert_eq!(stmts("%8 = addr d9"), "there is no constant d9");
    assert_eq!(body("goto b9"), "there is no block b9");
    let mut program = parse(&source("call @nothing() return %0"));
    if let StmtKind::Call { func, .. } =
        &mut program.functions.last_mut().unwrap().blocks[0].stmts[0].kind
    {
        *func = FuncId(99);
    }
    let errors = verify(&program).unwrap_err();
    assert_eq!(
        errors[0].to_string(),
        "t, b0, `call @?f99()`: there is no function f99"
    );
    assert_eq!(
        reject("fn f(a: u8) takes %4 { b0: return }"),
        "there is no local %4"
    );
    assert_eq!(
        messages(verify(&parse("fn f(a: [u8; 1]) takes $4 { b0: return }"))),
        ["there is no slot $4"]
    );
}

#[test]
fn rule_5_args() {
    let mut program = parse(&source("return %0"));
    let args = program.functions.last().unwrap().args.clone();
    let mut with = |new: Vec<Arg>| {
        program.functions.last_mut().unwrap().args = new;
        messages(verify(&program)).remove(0)
    };
    assert_eq!(
        with(args[1..].to_vec()),
        "7 args for 8 pieces of the params"
    );
    let replaced = |i: usize, arg: Arg| {
        args.iter()
            .enumerate()
            .map(|(j, a)| if i == j { arg } else { *a })
            .collect::<Vec<_>>()
    };
    assert_eq!(
        with(replaced(0, Arg::Local(LocalId(3)))),
        "arg 0 is not a place for piece 0 of the params"
    );
    assert_eq!(
        with(replaced(0, Arg::Slot(SlotId(1)))),
        "arg 0 is not a place for piece 0 of the params"
    );
    assert_eq!(
        with(replaced(5, Arg::Local(LocalId(3)))),
        "arg 5 is a place that another arg has"
    );
    let blob = |slot: &str, arg: &str| {
        reject(&format!(
            "fn f(a: [u32; 1]) takes {arg} {{ let %0: ptr slot $0: {slot} b0: return }}"
        ))
    };
    assert_eq!(
        blob("8 align 4", "$0"),
        "arg 0 is not a place for piece 0 of the params"
    );
    assert_eq!(
        blob("u32", "$0"),
        "arg 0 is not a place for piece 0 of the params"
    );
    assert_eq!(
        blob("4 align 4", "%0"),
        "arg 0 is not a place for piece 0 of the params"
    );
}

#[test]
fn rule_6_entry_block() {
    assert_eq!(body("goto b0"), "nothing goes to the entry block");
    assert_eq!(body("sync b0"), "nothing goes to the entry block");
    assert_eq!(
        body("branch %1 b1 b0 b1: return %0"),
        "nothing goes to the entry block"
    );
    assert_eq!(
        body("switch %0 { 1: b0, _: b1 } b1: return %0"),
        "nothing goes to the entry block"
    );
}

#[test]
fn rule_7_assignment_before_use() {
    assert_eq!(stmts("%0 = %9"), "%9 is used before it is assigned");
    assert_eq!(body("return %9"), "%9 is used before it is assigned");
    assert_eq!(
        body("branch %1 b1 b2 b1: %9 = 1u32 goto b3 b2: goto b3 b3: return %9"),
        "%9 is used before it is assigned"
    );
    assert_eq!(
        body("goto b1 b1: branch %1 b2 b3 b2: %9 = add %9, 1u32 goto b1 b3: %9 = 0u32 goto b1"),
        "%9 is used before it is assigned"
    );
    assert_eq!(
        stmts("spawn @t(%9, %1, %2, %3, %4, %5, %6, %7) -> %4 store"),
        "%9 is used before it is assigned"
    );
    let right = [
        "branch %1 b1 b2 b1: %9 = 1u32 goto b3 b2: %9 = 2u32 goto b3 b3: return %9",
        "%9 = 1u32 goto b1 b1: branch %1 b1 b2 b2: %9 = add %9, %9 return %9",
        // A block that is never reached may do what it likes.
        "return %0 b1: return %9",
        "%9 = atomic add u32 %4(1u32) relaxed sync b1 b1: return %9",
    ];
    right
        .into_iter()
        .for_each(|b| verify(&parse(&source(b))).unwrap_or_else(|e| panic!("{b}: {e:?}")));
}

#[test]
fn rule_8_types() {
    assert_eq!(
        stmts("%0 = 1u64"),
        "a value of type u64 for a local of type u32"
    );
    assert_eq!(stmts("%1 = bool#2"), "the bits 0x2 do not fit bool");
    assert_eq!(
        stmts("%6 = i32#100000000"),
        "the bits 0x100000000 do not fit i32"
    );
    assert_eq!(
        stmts("%0 = count_ones %2"),
        "there is no `count_ones` of f32"
    );
    assert_eq!(
        stmts("%7 = count_ones %7"),
        "a value of type u32 for a local of type u8"
    );
    assert_eq!(stmts("%1 = add %1, %1"), "there is no `add` of bool");
    assert_eq!(
        stmts("%0 = add %0, 1u8"),
        "the second operand is u8, not u32"
    );
    assert_eq!(
        stmts("%7 = shl %7, %7"),
        "the second operand is u8, not u32"
    );
    assert_eq!(
        stmts("%0 = lt %0, %0"),
        "a value of type bool for a local of type u32"
    );
    assert_eq!(
        stmts("%0 = mul_add %0, %0, %0"),
        "there is no `mul_add` of u32"
    );
    assert_eq!(
        stmts("%2 = mul_add %2, %2, 1.0f64"),
        "the third operand is f64, not f32"
    );
    assert_eq!(
        stmts("%2 = mul_add %2, 1.0f64, %2"),
        "the second operand is f64, not f32"
    );
    assert_eq!(
        stmts("%0 = select %0, %0, %0"),
        "the condition is u32, not bool"
    );
    assert_eq!(
        stmts("%0 = select %1, %0, %7"),
        "the third operand is u8, not u32"
    );
    assert_eq!(
        stmts("%1 = cast bool %0"),
        "there is no cast from u32 to bool"
    );
    assert_eq!(
        stmts("%2 = cast f32 %1"),
        "there is no cast from bool to f32"
    );
    assert_eq!(
        stmts("%3 = cast usize %4"),
        "there is no cast from ptr to usize"
    );
    assert_eq!(
        stmts("%3 = bitcast usize %0"),
        "the bits of u32 are not those of usize"
    );
    assert_eq!(
        stmts("%1 = bitcast bool %7"),
        "the bits of u8 are not those of bool"
    );
    assert_eq!(stmts("%0 = load u32 %3"), "the address is usize, not ptr");
    assert_eq!(stmts("store 1u8 -> %3"), "the address is usize, not ptr");
    assert_eq!(
        stmts("%8 = ptr_add %3, %3 * 4"),
        "the base is usize, not ptr"
    );
    assert_eq!(
        stmts("%8 = ptr_add %4, %0 * 4"),
        "the index is u32, not usize"
    );
    assert_eq!(stmts("copy %3 -> %4 1"), "the source is usize, not ptr");
    assert_eq!(
        stmts("copy %4 -> %3 1"),
        "the destination is usize, not ptr"
    );
    assert_eq!(stmts("zero %3 1"), "the destination is usize, not ptr");
    assert_eq!(
        body("branch %0 b1 b1 b1: return %0"),
        "the condition is u32, not bool"
    );
}

#[test]
fn rule_9_returns() {
    assert_eq!(body("return"), "0 returned pieces, not 1");
    assert_eq!(body("return %7"), "returned piece 0 is u8, not u32");
    assert_eq!(
        reject("fn f(p: &u8) -> (u8, [u8; 2]) takes %0 { let %0: ptr b0: return 1u8, 2u8 }"),
        "returned piece 1 is u8, not ptr"
    );
}

#[test]
fn rule_10_callees_and_arguments() {
    assert_eq!(stmts("call @quiet()"), "only helpers are called");
    assert_eq!(stmts("spawn @nothing()"), "only tasks are spawned");
    assert_eq!(stmts("call @one()"), "0 arguments, not 1");
    assert_eq!(stmts("call @one(%7)"), "argument 0 is u8, not u32");
    assert_eq!(
        stmts("call @two(%0, 1u32) -> %4"),
        "argument 1 is u32, not ptr"
    );
    assert_eq!(stmts("spawn @t(%0) -> %4 store"), "1 arguments, not 8");
}

#[test]
fn rule_11_results_of_calls() {
    assert_eq!(stmts("%0 = call @nothing()"), "this helper returns nothing");
    assert_eq!(
        stmts("call @nothing() -> %4"),
        "this helper returns nothing"
    );
    assert_eq!(
        stmts("call @one(%0) -> %4"),
        "a result of one scalar goes to a local"
    );
    assert_eq!(
        stmts("%7 = call @one(%0)"),
        "a result of type u32 for a local of type u8"
    );
    assert_eq!(
        stmts("call @two(%0, %4)"),
        "a result that is not one scalar goes to memory"
    );
    assert_eq!(
        stmts("%0 = call @two(%0, %4) -> %4"),
        "a result that is not one scalar goes to memory"
    );
    assert_eq!(
        stmts("call @two(%0, %4) -> %3"),
        "the address of the result is usize, not ptr"
    );
}

#[test]
fn rule_12_spawns_and_syncs() {
    assert_eq!(
        reject("task t() { b0: return } fn f() { b0: spawn @t() return }"),
        "only tasks spawn"
    );
    assert_eq!(
        reject("fn f() { b0: sync b1 b1: return }"),
        "only tasks sync"
    );
    assert_eq!(
        stmts("spawn @flag()"),
        "this task returns something: the spawn needs a destination"
    );
    assert_eq!(
        stmts("spawn @quiet() -> %4 store"),
        "this task returns nothing: the spawn has no destination"
    );
    assert_eq!(
        stmts("spawn @flag() -> %3 store"),
        "the destination is usize, not ptr"
    );
    assert_eq!(
        stmts("spawn @flag() -> %4 add"),
        "`add` does not combine values of type bool"
    );
    assert_eq!(
        stmts("spawn @pair() -> %4 max"),
        "`max` combines one scalar, not 2 pieces"
    );
    accept("spawn @flag() -> %4 xor");
}

#[test]
fn rule_13_checks() {
    assert_eq!(
        stmts("check %1 bounds(%0)"),
        "1 values for a check that has 2"
    );
    assert_eq!(
        stmts("check %1 panic \"no\"(%0)"),
        "1 values for a check that has 0"
    );
    assert_eq!(
        stmts("check %0 panic \"no\"()"),
        "the condition is u32, not bool"
    );
}

#[test]
fn rule_14_atomics() {
    assert_eq!(
        stmts("%2 = atomic load f32 %4() relaxed"),
        "there is no atomic `load` of f32"
    );
    assert_eq!(
        stmts("atomic add bool %4(true) relaxed"),
        "there is no atomic `add` of bool"
    );
    assert_eq!(
        stmts("%0 = atomic load u32 %4(1u32) relaxed"),
        "1 arguments, not 0"
    );
    assert_eq!(
        stmts("atomic cas u32 %4(1u32) relaxed"),
        "1 arguments, not 2"
    );
    assert_eq!(
        stmts("atomic swap u32 %4(1u8) relaxed"),
        "argument 0 is u8, not u32"
    );
    assert_eq!(
        stmts("atomic swap u32 %3(1u32) relaxed"),
        "the address is usize, not ptr"
    );
    assert_eq!(
        stmts("%0 = atomic store u32 %4(1u32) relaxed"),
        "an atomic store gives nothing"
    );
    assert_eq!(
        stmts("%7 = atomic load u32 %4() relaxed"),
        "a value of type u32 for a local of type u8"
    );
    assert_eq!(
        stmts("%0 = atomic load u32 %4() release"),
        "an atomic `load` cannot be `release`"
    );
    assert_eq!(
        stmts("atomic store u32 %4(1u32) acquire"),
        "an atomic `store` cannot be `acquire`"
    );
}

#[test]
fn rule_15_switches() {
    assert_eq!(
        body("switch %0 { 1: b1, 1: b1, _: b1 } b1: return %0"),
        "the arm 1 stands there twice"
    );
    assert_eq!(
        body("switch %7 { 256: b1, _: b1 } b1: return %0"),
        "the arm 256 does not fit u8"
    );
    assert_eq!(
        body("switch %2 { _: b1 } b1: return %0"),
        "there is no switch on f32"
    );
}

#[test]
fn rule_16_scalar_variables() {
    let escapes =
        "$0 is a scalar variable: its address goes nowhere else than to loads, stores and spawns";
    let with = |code: &str| stmts(&format!("%8 = addr $0 {code}"));
    assert_eq!(with("store %8 -> %4"), escapes);
    assert_eq!(with("copy %8 -> %4 4"), escapes);
    assert_eq!(with("zero %8 4"), escapes);
    assert_eq!(with("call @two(%0, %4) -> %8"), escapes);
    assert_eq!(with("%4 = ptr_add %8, %3 * 4"), escapes);
    assert_eq!(with("%4 = %8"), escapes);
    assert_eq!(with("%0 = atomic load u32 %8() relaxed"), escapes);
    assert_eq!(
        with("spawn @t(%0, %1, %2, %3, %8, %5, %6, %7) -> %4 store"),
        escapes
    );
    assert_eq!(
        reject("fn f() -> &u8 { let %0: ptr slot $0: u8 b0: %0 = addr $0 return %0 }"),
        escapes
    );
    assert_eq!(
        with("%7 = load u8 %8"),
        "$0 is a scalar variable and is loaded only as a whole"
    );
    assert_eq!(
        with("%0 = load u32 %8 + 4"),
        "$0 is a scalar variable and is loaded only as a whole"
    );
    assert_eq!(
        with("store %7 -> %8"),
        "$0 is a scalar variable and is stored only as a whole"
    );
    assert_eq!(
        with("store %0 -> %8 + 4"),
        "$0 is a scalar variable and is stored only as a whole"
    );
    assert_eq!(
        with("spawn @flag() -> %8 store"),
        "$0 is a scalar variable of another type than the result"
    );
    assert_eq!(
        with("spawn @pair() -> %8 store"),
        "$0 is a scalar variable of another type than the result"
    );
    assert_eq!(
        stmts("%4 = addr $0"),
        "%4 is the address of the scalar variable $0 and is set more than once"
    );
}

#[test]
fn rule_17_segment_code() {
    assert_eq!(stmts("frame_alloc"), "only segments have a frame");
    assert_eq!(stmts("store %0 -> .0"), "only segments have a frame");
    assert_eq!(stmts("%0 = load .0"), "only segments have a frame");
    assert_eq!(stmts("%8 = addr .0"), "only segments have a frame");
    assert_eq!(body("continue s1"), "only segments continue");
}

/// fib, levelized by hand.
fn levelized() -> Levelized {
    let program = parse(
        "task fib(n: u32) -> u64 takes %0 { let %0: u32 b0: return 0u64 }
        segment entry() -> u64 takes %0, %1 {
            let %0 n: u32, %1 ret: ptr, %2: bool, %3: ptr, %4: u32
        b0:
            %2 = lt %0, 2u32
            branch %2 b1 b2
        b1:
            return 1u64
        b2:
            frame_alloc
            store %1 -> .2
            %3 = addr .0
            %4 = sub %0, 1u32
            spawn @fib(%4) -> %3 store
            %3 = addr .1
            spawn @fib(%4) -> %3 store
            continue s1
        }
        segment join() -> u64 {
            let %0: u64, %1: u64, %2: ptr
        b0:
            %0 = load .0
            %1 = load .1
            %0 = add %0, %1
            %2 = load .2
            return %0
        }",
    );
    let field = |name: &str, ty| Field {
        name: name.into(),
        kind: PieceKind::Scalar(ty),
    };
    let mut program = program;
    let join = program.functions.pop().unwrap();
    let entry = program.functions.pop().unwrap();
    let push = |stack| Push {
        stack,
        max: Some(2),
    };
    let stacks = [
        StackRef::Entry(TaskId(0)),
        StackRef::Frame(TaskId(0)),
        StackRef::Continuation(TaskId(0), SegmentId(1)),
    ];
    let task = LoweredTask {
        func: FuncId(0),
        name: "fib".into(),
        combine: crate::ir::Combine::Store,
        element: vec![field("n", Scalar::U32), field("ret", Scalar::Ptr)],
        frame: vec![
            field("x", Scalar::U64),
            field("y", Scalar::U64),
            field("ret", Scalar::Ptr),
        ],
        segments: vec![
            Segment {
                body: entry,
                ret: Some(LocalId(1)),
                pushes: stacks.map(push).to_vec(),
            },
            Segment {
                body: join,
                ret: Some(LocalId(2)),
                pushes: Vec::new(),
            },
        ],
    };
    Levelized {
        program,
        tasks: vec![task],
    }
}

/// All that is wrong after this change with the entry (0) or the continuation (1).
fn all(segment: u32, change: impl FnOnce(&mut Levelized)) -> Vec<String> {
    let mut levelized = levelized();
    change(&mut levelized);
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
    verify_levelized(&levelized()).unwrap();
    assert!(
        crate::text::print_levelized(&levelized())
            .contains("// s0 pushes: 2 to fib, 2 to fib.frame, 2 to fib.s1; returns through %1")
    );
    assert_eq!(
        messages(verify_segment(&levelized(), TaskId(7), SegmentId(0))),
        ["there is no task t7"]
    );
    assert_eq!(
        messages(verify_segment(&levelized(), TaskId(0), SegmentId(7))),
        ["task t0 has no segment s7"]
    );
}

#[test]
fn rule_18_signatures_of_segments() {
    assert_eq!(
        all(0, |l| l.tasks[0].segments[0].body.kind =
            FunctionKind::Helper)[0],
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
        "only tasks sync"
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
            t.segments[0].body.blocks[0].stmts.push(crate::ir::Stmt {
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
    let mut early = levelized();
    *kind(&mut early.tasks[0], 0, 2, 0) = nothing();
    let errors = messages(verify_segment(&early, TaskId(0), SegmentId(0)));
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
    let errors = all(0, |l| l.tasks[0].combine = crate::ir::Combine::Add);
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
    let errors = all(0, |l| l.tasks[0].func = FuncId(9));
    assert_eq!(errors, ["task t0 is f9, which does not exist"]);
}

#[test]
fn rule_23_pushes() {
    for (i, count, stack) in [
        (0, 2, "Entry(TaskId(0))"),
        (1, 1, "Frame(TaskId(0))"),
        (2, 1, "Continuation(TaskId(0), SegmentId(1))"),
    ] {
        let mut levelized = levelized();
        levelized.tasks[0].segments[0].pushes.remove(i);
        let errors = messages(verify_segment(&levelized, TaskId(0), SegmentId(0)));
        assert_eq!(
            errors,
            vec![format!("{stack} is not in the list of pushes"); count]
        );
    }
}
