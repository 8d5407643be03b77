//! Programs, functions and their flow: rules 1 to 7.

use super::*;

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
    let of_enum = |rest: &str| reject(&format!("enum E{rest}"));
    let integer = "enum `E`: its first field is an integer";
    assert_eq!(of_enum("() { a: 0 }"), integer);
    assert_eq!(of_enum("(0: f32) { a: 0 }"), integer);
    assert_eq!(
        of_enum("(0: u8, 1: u8) { a: 0 }"),
        "enum `E`: the data of `a` are not where they should be"
    );
    assert_eq!(
        of_enum("(0: u8) { a: 0, a: 1 }"),
        "enum `E`: two variants are called `a`"
    );
    assert_eq!(
        of_enum("(0: u8) { a: 0, b: 3, c: 3 }"),
        "enum `E`: two variants have the same number"
    );
    assert_eq!(
        of_enum("(0: u8) { a: 0, b: 256 }"),
        "enum `E`: 256 does not fit `u8`"
    );
    assert_eq!(
        of_enum("(0: u8) { a: 1 }"),
        "enum `E`: no variant has the number 0"
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
