//! Programs in the text form that the lowering is tried on.

pub(crate) const ALL: [&str; 13] = [
    FIB,
    SYNCS,
    SYNC_LOOP,
    GATHER,
    BRANCH,
    EARLY,
    LENT,
    ELEMENTS,
    MUTUAL,
    QUEENS,
    PARAM_ARRAY,
    PAIRS,
    SHADOW,
];

pub(crate) const FIB: &str = include_str!("fib.ir");

/// Three syncs one behind another, a value from before the first used after the last.
pub(crate) const SYNCS: &str = r#"program chain in "chain.rs"
task chain(n: u64) -> u64 takes %0 {
    let %0 n: u64, %1 before: u64, %2: ptr, %3: ptr, %4 a: u64, %5: u64, %6 b: u64, %7: u64, %8: bool
    slot $0 x: u64, $1 y: u64
b0:
    %1 = add %0, 100u64
    %2 = addr $0
    %3 = addr $1
    %8 = eq %0, 0u64
    branch %8 b6 b1
b1:
    %5 = sub %0, 1u64
    spawn @chain(%5) -> %2 store
    sync b2
b2:
    %4 = load u64 %2
    %7 = div %0, 2u64
    spawn @chain(%7) -> %2 store
    sync b3
b3:
    %6 = load u64 %2
    spawn @chain(0u64) -> %3 store
    sync b4
b4:
    %5 = load u64 %3
    %5 = add %5, %4
    %5 = mul %5, 3u64
    %5 = add %5, %6
    %5 = add %5, %1
    goto b5
b5:
    sync b7
b6:
    %5 = add %1, 1u64
    goto b5
b7:
    return %5
}
"#;

pub(crate) const SYNC_LOOP: &str = r#"program sum in "sum.rs"
task sum(n: u64) -> u64 takes %0 {
    let %0 n: u64, %1 i: u64, %2 acc: u64, %3: ptr, %4: bool, %5: u64
    slot $0 x: u64
b0:
    %1 = 0u64
    %2 = 0u64
    %3 = addr $0
    goto b1
b1:
    %4 = lt %1, %0
    branch %4 b2 b4
b2:
    spawn @leaf(%1) -> %3 store
    sync b3
b3:
    %5 = load u64 %3
    %2 = add %2, %5
    %1 = add %1, 1u64
    goto b1
b4:
    sync b5
b5:
    return %2
}
task leaf(n: u64) -> u64 takes %0 {
    let %0 n: u64, %1: u64
b0:
    %1 = mul %0, %0
    return %1
}
"#;

pub(crate) const GATHER: &str = r#"program count in "count.rs"
task count(n: u64) -> u64 takes %0 {
    let %0 n: u64, %1 i: u64, %2: ptr, %3: bool, %4: u64
    slot $0 total: u64
b0:
    %2 = addr $0
    store 0u64 -> %2
    %3 = eq %0, 0u64
    branch %3 b1 b2
b1:
    %4 = 1u64
    goto b7
b2:
    %1 = 0u64
    goto b3
b3:
    %3 = lt %1, %0
    branch %3 b4 b5
b4:
    spawn @count(%1) -> %2 add
    %1 = add %1, 1u64
    goto b3
b5:
    sync b6
b6:
    %4 = load u64 %2
    goto b7
b7:
    sync b8
b8:
    return %4
}
"#;

/// A spawn in one branch only; both meet before the sync.
pub(crate) const BRANCH: &str = r#"program maybe in "maybe.rs"
task maybe(n: u64) -> u64 takes %0 {
    let %0 n: u64, %1: u64, %2: ptr, %3: bool, %4: u64, %5 k: u64
    slot $0 x: u64
b0:
    %2 = addr $0
    store 5u64 -> %2
    %5 = mul %0, 7u64
    %1 = and %0, 1u64
    %3 = eq %1, 1u64
    branch %3 b1 b2
b1:
    %4 = sub %0, 1u64
    spawn @maybe(%4) -> %2 store
    goto b3
b2:
    %5 = add %5, 1u64
    goto b3
b3:
    sync b4
b4:
    %4 = load u64 %2
    %4 = add %4, %5
    return %4
}
"#;

/// After a spawn, one way returns early, another writes what comes back.
pub(crate) const EARLY: &str = r#"program early in "early.rs"
task early(n: u64, out: &mut [u64]) -> u64 takes %0, %1, %2 {
    let %0 n: u64, %1: ptr, %2: usize, %3: bool, %4: u64, %5: ptr, %6: u64, %7: usize, %8: ptr
    slot $0 x: u64
b0:
    %5 = addr $0
    %3 = eq %0, 0u64
    branch %3 b1 b2
b1:
    return 1u64
b2:
    %4 = sub %0, 1u64
    spawn @early(%4, %1, %2) -> %5 store
    %3 = gt %0, 4u64
    branch %3 b3 b4
b3:
    %6 = 77u64
    sync b6
b4:
    sync b5
b5:
    %6 = load u64 %5
    %6 = add %6, %0
    %7 = cast usize %0
    %3 = lt %7, %2
    check %3 bounds(%7, %2)
    %8 = ptr_add %1, %7 * 8
    store %6 -> %8
    goto b6
b6:
    return %6
}
"#;

/// Halves of a local array are lent to children, and it is summed after the sync.
pub(crate) const LENT: &str = r#"program lent in "lent.rs"
task main(n: u64) -> u64 takes %0 {
    let %0 n: u64, %1: ptr, %2: ptr, %3: u64, %4: u64, %5: u64, %6: bool
    slot $0 a: 32 align 8
b0:
    %6 = eq %0, 0u64
    branch %6 b3 b1
b1:
    %1 = addr $0
    zero %1 32
    %2 = ptr_add %1, 0usize * 8 + 16
    spawn @fill(%1, 2usize, %0)
    %3 = add %0, 9u64
    spawn @fill(%2, 2usize, %3)
    sync b2
b2:
    %3 = load u64 %1 + 8
    %4 = load u64 %2 + 8
    %5 = sub %4, %3
    goto b4
b3:
    %5 = 3u64
    goto b4
b4:
    sync b5
b5:
    return %5
}
task fill(out: &mut [u64], v: u64) takes %0, %1, %2 {
    let %0: ptr, %1: usize, %2: u64, %3 i: usize, %4: bool, %5: ptr
b0:
    %3 = 0usize
    goto b1
b1:
    %4 = lt %3, %1
    branch %4 b2 b3
b2:
    %5 = ptr_add %0, %3 * 8
    store %2 -> %5
    %2 = add %2, 1u64
    %3 = add %3, 1usize
    goto b1
b3:
    sync b4
b4:
    return
}
"#;

/// Results go to the elements of a local array, and to those of a buffer.
pub(crate) const ELEMENTS: &str = r#"program elements in "elements.rs"
task main(n: u64, out: &mut [u64]) -> u64 takes %0, %1, %2 {
    let %0 n: u64, %1: ptr, %2: usize, %3: ptr, %4 i: usize, %5: bool, %6: ptr, %7: u64, %8 sum: u64, %9: ptr
    slot $0 r: 64 align 8
b0:
    %3 = addr $0
    zero %3 64
    %4 = 0usize
    goto b1
b1:
    %7 = cast u64 %4
    %5 = lt %7, %0
    branch %5 b2 b3
b2:
    %6 = ptr_add %3, %4 * 8
    spawn @leaf(%7) -> %6 store
    %5 = lt %4, %2
    check %5 bounds(%4, %2)
    %9 = ptr_add %1, %4 * 8
    %7 = add %7, %0
    spawn @leaf(%7) -> %9 add
    %4 = add %4, 1usize
    goto b1
b3:
    sync b4
b4:
    %4 = 0usize
    %8 = 0u64
    goto b5
b5:
    %5 = lt %4, 8usize
    branch %5 b6 b7
b6:
    %6 = ptr_add %3, %4 * 8
    %7 = load u64 %6
    %8 = add %8, %7
    %4 = add %4, 1usize
    goto b5
b7:
    return %8
}
task leaf(n: u64) -> u64 takes %0 {
    let %0 n: u64, %1: u64
b0:
    %1 = mul %0, %0
    return %1
}
"#;

pub(crate) const MUTUAL: &str = r#"program mutual in "mutual.rs"
task even(n: u32) -> bool takes %0 {
    let %0 n: u32, %1: bool, %2: u32, %3: ptr
    slot $0 r: bool
b0:
    %1 = eq %0, 0u32
    branch %1 b1 b2
b1:
    return true
b2:
    %2 = sub %0, 1u32
    %3 = addr $0
    spawn @odd(%2) -> %3 store
    sync b3
b3:
    %1 = load bool %3
    return %1
}
task odd(n: u32) -> bool takes %0 {
    let %0 n: u32, %1: bool, %2: u32, %3: ptr
    slot $0 r: bool
b0:
    %1 = eq %0, 0u32
    branch %1 b1 b2
b1:
    return false
b2:
    %2 = sub %0, 1u32
    %3 = addr $0
    spawn @even(%2) -> %3 store
    sync b3
b3:
    %1 = load bool %3
    return %1
}
"#;

/// 6 queens: a board of bytes by value, a helper that tests a place, a count that is gathered.
pub(crate) const QUEENS: &str = r#"program queens in "queens.rs"
task queens(board: [u8; 8], row: usize) -> u64 takes $0, %0 {
    let %0 row: usize, %1: bool, %2: ptr, %3 col: usize, %4: ptr, %5: ptr, %6: ptr, %7: u8, %8: usize, %9: u64
    slot $0 board: 8 align 1, $1 total: u64, $2 next: 8 align 1
b0:
    %2 = addr $1
    %4 = addr $0
    %5 = addr $2
    %1 = eq %0, 6usize
    branch %1 b1 b2
b1:
    return 1u64
b2:
    store 0u64 -> %2
    %3 = 0usize
    goto b3
b3:
    %1 = lt %3, 6usize
    branch %1 b4 b7
b4:
    %1 = call @safe(%4, 8usize, %0, %3)
    branch %1 b5 b6
b5:
    copy %4 -> %5 8
    %6 = ptr_add %5, %0 * 1
    %7 = cast u8 %3
    store %7 -> %6
    %8 = add %0, 1usize
    spawn @queens(%5, %8) -> %2 add
    goto b6
b6:
    %3 = add %3, 1usize
    goto b3
b7:
    sync b8
b8:
    %9 = load u64 %2
    return %9
}
fn safe(board: &[u8], row: usize, col: usize) -> bool takes %0, %1, %2, %3 {
    let %0: ptr, %1: usize, %2 row: usize, %3 col: usize, %4 i: usize, %5: bool, %6: ptr, %7: u8, %8: usize, %9: usize, %10: usize
b0:
    %4 = 0usize
    goto b1
b1:
    %5 = lt %4, %2
    branch %5 b2 b7
b2:
    %5 = lt %4, %1
    check %5 bounds(%4, %1)
    %6 = ptr_add %0, %4 * 1
    %7 = load u8 %6
    %8 = cast usize %7
    %5 = eq %8, %3
    branch %5 b6 b3
b3:
    %9 = sub %2, %4
    %10 = add %8, %9
    %5 = eq %10, %3
    branch %5 b6 b4
b4:
    %10 = add %3, %9
    %5 = eq %10, %8
    branch %5 b6 b5
b5:
    %4 = add %4, 1usize
    goto b1
b6:
    return false
b7:
    return true
}
"#;

/// A parameter array is changed before the sync and read behind it.
pub(crate) const PARAM_ARRAY: &str = r#"program param in "param.rs"
task main(a: [u64; 2], deep: bool) -> u64 takes $0, %0 {
    let %0 deep: bool, %1: ptr, %2: ptr, %3: u64, %4: u64
    slot $0 a: 16 align 8, $1 x: u64
b0:
    branch %0 b1 b2
b1:
    %1 = addr $0
    %2 = addr $1
    store 4u64 -> %1
    spawn @main(%1, false) -> %2 store
    sync b3
b2:
    %1 = addr $0
    %3 = load u64 %1 + 8
    return %3
b3:
    %3 = load u64 %1
    %4 = load u64 %1 + 8
    %3 = add %3, %4
    %4 = load u64 %2
    %3 = mul %3, %4
    return %3
}
"#;

/// A result of two pieces, one of them an array; helpers that return one.
pub(crate) const PAIRS: &str = r#"program pairs in "pairs.rs"
struct P { a: u64, t: [u32; 3] }
fn make(n: u64) -> P takes %0 {
    let %0 n: u64, %1: ptr, %2: u32
    slot $0: 12 align 4
b0:
    %1 = addr $0
    zero %1 12
    %2 = cast u32 %0
    store %2 -> %1 + 4
    return %0, %1
}
task walk(n: u64) -> P takes %0 {
    let %0 n: u64, %1: bool, %2: ptr, %3: ptr, %4: u64, %5: u64, %6: ptr, %7: u32
    slot $0 p: 24 align 8, $1 q: 24 align 8
b0:
    %2 = addr $0
    %3 = addr $1
    call @make(%0) -> %3
    %1 = eq %0, 0u64
    branch %1 b1 b2
b1:
    %4 = load u64 %3
    %6 = ptr_add %3, 0usize * 1 + 8
    return %4, %6
b2:
    %4 = sub %0, 1u64
    spawn @walk(%4) -> %2 store
    sync b3
b3:
    %4 = load u64 %2
    %5 = load u64 %3
    %4 = add %4, %5
    %7 = load u32 %2 + 12
    store %7 -> %3 + 16
    %6 = ptr_add %3, 0usize * 1 + 8
    return %4, %6
}
"#;

pub(crate) const TAIL: &str = r#"program fill in "fill.rs"
task fill(out: &mut [u64], i: usize) takes %0, %1, %2 {
    let %0: ptr, %1: usize, %2 i: usize, %3: bool, %4: ptr, %5: usize
b0:
    %3 = lt %2, %1
    branch %3 b1 b2
b1:
    %4 = ptr_add %0, %2 * 8
    store 5u64 -> %4
    %5 = mul %2, 2usize
    %5 = add %5, 1usize
    spawn @fill(%0, %1, %5)
    %5 = add %5, 1usize
    spawn @fill(%0, %1, %5)
    goto b2
b2:
    sync b3
b3:
    %3 = true
    return
}
"#;

/// Scalar slots written before the frame exists on one path of two, and again behind it.
pub(crate) const SHADOW: &str = r#"program shadow in "shadow.rs"
task main(n: u64) -> u64 takes %0 {
    let %0 n: u64, %1: bool, %2: ptr, %3: ptr, %4: u64, %5: u64, %6: u64
    slot $0 x: u64, $1 y: u64
b0:
    %2 = addr $0
    %3 = addr $1
    store 1u64 -> %2
    %1 = lt %0, 2u64
    branch %1 b1 b2
b1:
    store 11u64 -> %2
    goto b3
b2:
    store 21u64 -> %3
    goto b3
b3:
    %4 = load u64 %2
    %5 = add %4, 2u64
    store %5 -> %2
    %1 = lt %0, 5u64
    branch %1 b5 b4
b4:
    %6 = sub %0, 3u64
    spawn @main(%6) -> %2 add
    spawn @main(1u64) -> %3 add
    goto b5
b5:
    sync b6
b6:
    %4 = load u64 %2
    %1 = lt %0, 2u64
    branch %1 b8 b7
b7:
    %5 = load u64 %3
    %4 = add %4, %5
    store %4 -> %2
    %6 = 1u64
    spawn @main(%6) -> %2 max
    sync b8
b8:
    %5 = load u64 %2
    %5 = mul %5, 3u64
    return %5
}
"#;
