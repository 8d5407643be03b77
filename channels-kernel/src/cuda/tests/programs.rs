//! Programs that try what the code generator does differently from one construct to the next.

pub(super) const ALL: [(&str, &str); 6] = [
    ("queens", QUEENS),
    ("ops", OPS),
    ("helpers", HELPERS),
    ("atomics", ATOMICS),
    ("faults", FAULTS),
    ("chain", CHAIN),
];

/// Levels of one task each, down and up again, and then further down from where the first ones began.
pub(super) const CHAIN: &str = r#"program chain in "chain.rs"
task chain(n: u32, x: u64) -> u64 takes %0, %1 {
    let %0 n: u32, %1 x: u64, %2: bool, %3: u32, %4: u64, %5 total: ptr
    slot $0 total: u64
b0:
    %2 = eq %0, 0u32
    branch %2 b1 b2
b1:
    return %1
b2:
    %5 = addr $0
    store %1 -> %5
    %3 = sub %0, 1u32
    %4 = mul %1, 3u64
    spawn @chain(%3, %4) -> %5 xor
    sync b3
b3:
    %4 = load u64 %5
    return %4
}
task again(n: u32, x: u64) -> u64 takes %0, %1 {
    let %0 n: u32, %1 x: u64, %2: u32, %3: u64, %4 first: ptr, %5 second: ptr, %6: u64
    slot $0 first: u64
    slot $1 second: u64
b0:
    %4 = addr $0
    %5 = addr $1
    spawn @chain(%0, %1) -> %4 store
    sync b1
b1:
    %2 = mul %0, 2u32
    spawn @chain(%2, %1) -> %5 store
    sync b2
b2:
    %3 = load u64 %4
    %6 = load u64 %5
    %3 = mul %3, %6
    return %3
}
"#;

/// n-queens with a task for each placed queen: children in a loop, results gathered.
pub(super) const QUEENS: &str = r#"program queens in "queens.rs"
task queens(all: u32, cols: u32, left: u32, right: u32) -> u64 takes %0, %1, %2, %3 {
    let %0 all: u32, %1 cols: u32, %2 left: u32, %3 right: u32, %4: bool, %5 free: u32, %6 bit: u32, %7: u32, %8 total: ptr, %9: u64, %10: u32, %11: u32
    slot $0 total: u64
b0:
    %4 = eq %1, %0 @3:5
    branch %4 b1 b2
b1:
    return 1u64
b2:
    %8 = addr $0
    store 0u64 -> %8
    %5 = or %1, %2
    %5 = or %5, %3
    %5 = not %5
    %5 = and %5, %0
    goto b3
b3:
    %4 = ne %5, 0u32
    branch %4 b4 b5
b4:
    %6 = neg %5
    %6 = and %6, %5
    %5 = xor %5, %6
    %7 = or %1, %6
    %10 = or %2, %6
    %10 = shl %10, 1u32
    %11 = or %3, %6
    %11 = shr %11, 1u32
    spawn @queens(%0, %7, %10, %11) -> %8 add @9:1
    goto b3
b5:
    sync b6
b6:
    %9 = load u64 %8
    return %9
}
"#;

/// Arithmetic at the edges of its types; everything goes into one sum.
pub(super) const OPS: &str = r#"program ops in "ops.rs"
fn mix(h: u64, x: u64) -> u64 takes %0, %1 {
    let %0 h: u64, %1 x: u64
b0:
    %0 = rotl %0, 7u32
    %0 = xor %0, %1
    %0 = mul %0, 1099511628211u64
    return %0
}
task ops(a: i32, b: i32, s: u32, x: f64, y: f32) -> u64 takes %0, %1, %2, %3, %4 {
    let %0 a: i32, %1 b: i32, %2 s: u32, %3 x: f64, %4 y: f32, %5 h: u64, %6: i32, %7: u64, %8: i8, %9: i16, %10: u8, %11: i64, %12: f64, %13: f32, %14: bool, %15: u32, %16: u16
b0:
    %5 = 14695981039346656037u64
    %6 = add %0, %1
    %7 = cast u64 %6
    %5 = call @mix(%5, %7)
    %6 = mul %0, %1
    %7 = cast u64 %6
    %5 = call @mix(%5, %7)
    %6 = shl %0, %2
    %6 = sub %6, %1
    %6 = shr %6, 3u32
    %7 = cast u64 %6
    %5 = call @mix(%5, %7)
    %8 = cast i8 %0
    %8 = mul %8, %8
    %8 = neg %8
    %8 = shr %8, %2
    %7 = cast u64 %8
    %5 = call @mix(%5, %7)
    %9 = cast i16 %1
    %9 = add %9, 32767i16
    %9 = rotl %9, %2
    %7 = cast u64 %9
    %5 = call @mix(%5, %7)
    %10 = cast u8 %0
    %10 = not %10
    %10 = reverse_bits %10
    %15 = leading_zeros %10
    %7 = cast u64 %10
    %5 = call @mix(%5, %7)
    %7 = cast u64 %15
    %5 = call @mix(%5, %7)
    %16 = cast u16 %1
    %16 = swap_bytes %16
    %15 = trailing_zeros %16
    %7 = cast u64 %15
    %5 = call @mix(%5, %7)
    %15 = leading_zeros %9
    %7 = cast u64 %15
    %5 = call @mix(%5, %7)
    %14 = mul_overflows %0, %1
    %7 = cast u64 %14
    %5 = call @mix(%5, %7)
    %6 = saturating_add %0, %1
    %7 = cast u64 %6
    %5 = call @mix(%5, %7)
    %6 = saturating_sub %0, %1
    %7 = cast u64 %6
    %5 = call @mix(%5, %7)
    %6 = pow %0, %2
    %7 = cast u64 %6
    %5 = call @mix(%5, %7)
    %6 = abs %0
    %6 = min %6, %1
    %7 = cast u64 %6
    %5 = call @mix(%5, %7)
    %11 = cast i64 %3
    %7 = bitcast u64 %11
    %5 = call @mix(%5, %7)
    %10 = cast u8 %3
    %7 = cast u64 %10
    %5 = call @mix(%5, %7)
    %6 = cast i32 %4
    %7 = cast u64 %6
    %5 = call @mix(%5, %7)
    %12 = mul %3, %3
    %12 = add %12, 0.1f64
    %12 = sqrt %12
    %12 = powi %12, %1
    %7 = bitcast u64 %12
    %5 = call @mix(%5, %7)
    %12 = round %3
    %7 = bitcast u64 %12
    %5 = call @mix(%5, %7)
    %12 = rem %3, 0.7f64
    %7 = bitcast u64 %12
    %5 = call @mix(%5, %7)
    %12 = cast f64 %4
    %12 = max %12, %3
    %12 = mul_add %12, %12, -1.5f64
    %7 = bitcast u64 %12
    %5 = call @mix(%5, %7)
    %13 = cast f32 %5
    %13 = div %13, 3.0f32
    %15 = bitcast u32 %13
    %7 = cast u64 %15
    %5 = call @mix(%5, %7)
    return %5
}
"#;

/// Helpers: one that calls itself, one that returns a struct, one with a loop; and a switch.
pub(super) const HELPERS: &str = r#"program helpers in "helpers.rs"
struct Pair { a: u32, b: u64 }
data d0 TABLE align 4 "01000000 02000000 04000000"
fn ackermann(m: u64, n: u64) -> u64 takes %0, %1 {
    let %0 m: u64, %1 n: u64, %2: bool, %3: u64
b0:
    %2 = eq %0, 0u64
    branch %2 b1 b2
b1:
    %1 = add %1, 1u64
    return %1
b2:
    %3 = sub %0, 1u64
    %2 = eq %1, 0u64
    branch %2 b3 b4
b3:
    %1 = call @ackermann(%3, 1u64)
    return %1
b4:
    %1 = sub %1, 1u64
    %1 = call @ackermann(%0, %1)
    %1 = call @ackermann(%3, %1)
    return %1
}
fn pair(n: u32) -> Pair takes %0 {
    let %0 n: u32, %1: ptr, %2: usize, %3: u32, %4: u64
b0:
    %1 = addr d0
    %2 = cast usize %0
    %2 = rem %2, 3usize
    %1 = ptr_add %1, %2 * 4
    %3 = load u32 %1
    %4 = cast u64 %0
    return %3, %4
}
task main(n: u32) -> u64 takes %0 {
    let %0 n: u32, %1: ptr, %2: u32, %3: u64, %4: u64, %5: ptr, %6: u32
    slot $0 p: 16 align 8, $1 r: u64
b0:
    %1 = addr $0
    %5 = addr $1
    call @pair(%0) -> %1
    %2 = load u32 %1
    %3 = load u64 %1 + 8
    %6 = rem %0, 4u32
    switch %6 { 0: b1, 1: b2, _: b3 }
b1:
    %4 = call @ackermann(2u64, %3)
    return %4
b2:
    spawn @leaf(%2, %3) -> %5 store
    goto b4
b3:
    spawn @main(1u32) -> %5 store
    goto b4
b4:
    sync b5
b5:
    %4 = load u64 %5
    %3 = cast u64 %0
    %4 = add %4, %3
    return %4
}
task leaf(a: u32, b: u64) -> u64 takes %0, %1 {
    let %0 a: u32, %1 b: u64, %2: u64
b0:
    %2 = cast u64 %0
    %2 = mul %2, 1000u64
    %2 = add %2, %1
    return %2
}
"#;

/// Atomics of several widths on shared memory.
pub(super) const ATOMICS: &str = r#"program atomics in "atomics.rs"
task spread(n: u32, words: &[AtomicU32], bytes: &[AtomicU8], longs: &[AtomicI64]) takes %0, %1, %2, %3, %4, %5, %6 {
    let %0 n: u32, %1 words: ptr, %2: usize, %3 bytes: ptr, %4: usize, %5 longs: ptr, %6: usize, %7: bool, %8: usize, %9: ptr, %10: u8, %11: i64, %12: u32, %13: u32
b0:
    %8 = cast usize %0
    %8 = rem %8, %2
    %9 = ptr_add %1, %8 * 4
    %13 = atomic add u32 %9(%0) relaxed
    %8 = cast usize %0
    %8 = rem %8, %4
    %9 = ptr_add %3, %8 * 1
    %10 = cast u8 %0
    atomic xor u8 %9(%10) acq_rel
    atomic max i64 %5(9i64) seq_cst
    %9 = ptr_add %5, 1usize * 8
    %11 = cast i64 %0
    %11 = neg %11
    atomic min i64 %9(%11) relaxed
    %7 = lt %0, 2u32
    branch %7 b1 b2
b1:
    return
b2:
    %12 = div %0, 2u32
    spawn @spread(%12, %1, %2, %3, %4, %5, %6)
    %12 = sub %0, 2u32
    spawn @spread(%12, %1, %2, %3, %4, %5, %6)
    return
}
"#;

/// A check with values that may fail, and a loop that may never end.
pub(super) const FAULTS: &str = r#"program faults in "faults.rs"
task index(i: usize, cells: &[u32]) -> u32 takes %0, %1, %2 {
    let %0 i: usize, %1 cells: ptr, %2: usize, %3: bool, %4: ptr, %5: u32
b0:
    %3 = lt %0, %2 @3:7
    check %3 bounds(%0, %2) @3:7
    %4 = ptr_add %1, %0 * 4
    %5 = load u32 %4 @3:7
    return %5
}
task endless(n: u32) -> u32 takes %0 {
    let %0 n: u32, %1: ptr, %2: u32
    slot $0 x: u32
b0:
    %1 = addr $0
    %2 = add %0, 1u32
    spawn @endless(%2) -> %1 store
    sync b1
b1:
    %2 = load u32 %1
    return %2
}
task spin(n: u32) -> u32 takes %0 {
    let %0 n: u32
b0:
    goto b1
b1:
    %0 = add %0, 1u32
    goto b1
}
"#;
