//! Statements and terminators: rules 8 to 17.

use super::*;

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
        "only tasks and kernels spawn"
    );
    assert_eq!(
        reject("fn f() { b0: sync b1 b1: return }"),
        "only tasks and kernels sync"
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
    assert_eq!(
        stmts("spawn @pair() -> %4 each_add_max_or"),
        "`each_add_max_or` combines 3 scalars, not 2 pieces"
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
