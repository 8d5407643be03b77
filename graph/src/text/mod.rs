//! The text form of the IR: what `lower --emit ir` shows, what tests are written in, and what the attribute macro puts into a
//! user's binary.
//!
//! [`parse_program`] reads exactly what [`print_program`] writes: `parse(print(p)) == p`, down to the bits of a NaN, for every program
//! whose functions and structs have names of their own and whose ids are in range. White space and `//` comments are free.
//!
//! ```text
//! program fib in "examples/fib.rs" checked
//! struct Point { x: f64, y: f64 }                    // a tuple struct: struct Pair(0: i32, 1: f64)
//! data d0 TABLE align 4 "01000000 02000000"          // bytes in hex
//!
//! channel c0 "calls"(n: u32, path: 8 align 1)        // made of a graph: its channels, and the pieces of the arguments that it gives
//! uniform a0 "result": ptr
//!
//! task fib(n: u32) -> u64 takes %0 @3:9 {            // task, fn, kernel or segment; where the pieces arrive; where it is declared
//!     let %0 n: u32, %1: bool, %2: u32, %3: ptr
//!     slot $0 x: u64, $1: 32 align 8                 // of one scalar variable, or size and alignment
//! b0:
//!     %1 = lt %0, 2u32 @4:8                          // each statement may end in its place in the source
//!     branch %1 b1 b2
//!     ...
//! }
//! ```
//!
//! | statement | text |
//! |---|---|
//! | a copy, an operation | `%1 = %0`, `%1 = sub %0, 1u32`, `%1 = mul_add %0, %2, %3`, `%1 = select %c, %a, %b` |
//! | conversions | `%1 = cast u64 %0`, `%1 = bitcast f32 %0` |
//! | memory | `%1 = load u64 %3 + 8`, `store %1 -> %3 + 8`, `copy %src -> %dst 24`, `zero %dst 24` |
//! | addresses | `%1 = addr $0`, `%1 = addr d0`, `%1 = ptr_add %base, %index * 8 + 16` |
//! | the device | `%1 = wide` |
//! | calls | `%1 = call @f(%0, 1u32)`, `call @g(%0) -> %addr`, `spawn @fib(%2) -> %3 store` |
//! | channels | `emit c0(%0, %1)`, `%1 = uniform a0 ptr` |
//! | checks | `check %1 bounds(%i, %n)`, `check %1 overflow add(%a, %b)`, `check %1 assert "i < n"()` |
//! | atomics | `%1 = atomic add u32 %p(1u32) relaxed` |
//! | in segments | `frame_alloc`, `%1 = load .0`, `%1 = addr .0`, `store %1 -> .0`, `spawn @fib(%2) -> %3 add unless %4` |
//! | ends of blocks | `goto b1`, `branch %1 b1 b2`, `switch %1 { 0: b1, _: b2 }`, `return %1`, `sync b3`, `continue s1`, `unreachable` |
//!
//! Behind `takes`, `rounds` says that the function runs rounds of a parallel loop, and `rounds warp` or `rounds 96` who is to share them out.
//!
//! A constant is a number with its type (`-1i32`, `0.5f64`, `true`); where that would lose bits, the type and the bits: `f32#7fc00001`.
//! A name that is not an identifier stands in quotes.

mod lex;
mod parse;
mod parse_body;
mod print;

pub use parse::{parse_piece, parse_program, parse_type};
pub use print::{piece_text, print_function, print_levelized, print_program};
pub(crate) use print::{stmt_text, terminator};

/// Why a text is not a program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What was expected and what stands there.
    pub message: String,
}

/// Whether a struct's name would be read as something else where a type stands.
fn reserved(name: &str) -> bool {
    matches!(
        name,
        "struct"
            | "enum"
            | "task"
            | "fn"
            | "kernel"
            | "segment"
            | "mut"
            | "Mat"
            | "MatMut"
            | "Channel"
            | "Option"
            | "Result"
            | "takes"
    ) || name.starts_with("Atomic")
        || crate::ty::Scalar::from_name(name).is_some()
}
