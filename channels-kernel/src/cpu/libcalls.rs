//! Functions that machine code calls back for what has no instruction: the same that [`millstream_graph::eval`] calls.

use cranelift_codegen::ir::{Type, types};
use millstream_graph::eval;

/// A function of this process that compiled code may call.
#[derive(Debug)]
pub(super) struct LibCall {
    /// Its symbol.
    pub(super) name: &'static str,
    /// Its address.
    pub(super) address: usize,
    /// Types of its parameters.
    pub(super) params: &'static [Type],
    /// Type of its result, if it has one.
    pub(super) result: Option<Type>,
}

macro_rules! floats {
    ($($op:ident ($($arg:ident),*) = $body:expr;)*) => {
        mod f32_ops { $(pub(super) extern "C" fn $op($($arg: f32),*) -> f32 { $body })* }
        mod f64_ops { $(pub(super) extern "C" fn $op($($arg: f64),*) -> f64 { $body })* }

        fn float_calls(out: &mut Vec<LibCall>) {
            $(
                out.push(LibCall {
                    name: concat!("f32.", stringify!($op)),
                    address: f32_ops::$op as *const () as usize,
                    params: &[$({ let _ = stringify!($arg); types::F32 }),*],
                    result: Some(types::F32),
                });
                out.push(LibCall {
                    name: concat!("f64.", stringify!($op)),
                    address: f64_ops::$op as *const () as usize,
                    params: &[$({ let _ = stringify!($arg); types::F64 }),*],
                    result: Some(types::F64),
                });
            )*
        }
    };
}

// The names are those of `UnOp::name` and `BinOp::name`.
floats! {
    exp(a) = a.exp();
    exp2(a) = a.exp2();
    exp_m1(a) = a.exp_m1();
    ln(a) = a.ln();
    ln_1p(a) = a.ln_1p();
    log2(a) = a.log2();
    log10(a) = a.log10();
    sin(a) = a.sin();
    cos(a) = a.cos();
    tan(a) = a.tan();
    asin(a) = a.asin();
    acos(a) = a.acos();
    atan(a) = a.atan();
    sinh(a) = a.sinh();
    cosh(a) = a.cosh();
    tanh(a) = a.tanh();
    cbrt(a) = a.cbrt();
    rem(a, b) = a % b;
    powf(a, b) = a.powf(b);
    atan2(a, b) = a.atan2(b);
    hypot(a, b) = a.hypot(b);
    mul_add(a, b, c) = a.mul_add(b, c);
    floor(a) = a.floor();
    ceil(a) = a.ceil();
    trunc(a) = a.trunc();
    round_ties_even(a) = a.round_ties_even();
}

extern "C" fn powi_f32(a: f32, n: i32) -> f32 {
    eval::powi_f32(a, n)
}

extern "C" fn powi_f64(a: f64, n: i32) -> f64 {
    eval::powi_f64(a, n)
}

extern "C" fn pow_int(a: u64, n: u32) -> u64 {
    a.wrapping_pow(n)
}

unsafe extern "C" fn copy(dst: *mut u8, src: *const u8, size: u64) {
    // SAFETY: the program's `copy` statement promises that many bytes at both; `copy` allows that they are the same.
    unsafe { std::ptr::copy(src, dst, size as usize) }
}

unsafe extern "C" fn zero(dst: *mut u8, size: u64) {
    // SAFETY: the program's `zero` statement promises that many bytes.
    unsafe { std::ptr::write_bytes(dst, 0, size as usize) }
}

/// All of them.
pub(super) fn all() -> Vec<LibCall> {
    use types::{F32, F64, I32, I64};
    let call = |name, address, params, result| LibCall {
        name,
        address,
        params,
        result,
    };
    let mut out = vec![
        call(
            "f32.powi",
            powi_f32 as *const () as usize,
            &[F32, I32],
            Some(F32),
        ),
        call(
            "f64.powi",
            powi_f64 as *const () as usize,
            &[F64, I32],
            Some(F64),
        ),
        call(
            "int.pow",
            pow_int as *const () as usize,
            &[I64, I32],
            Some(I64),
        ),
        call("copy", copy as *const () as usize, &[I64, I64, I64], None),
        call("zero", zero as *const () as usize, &[I64, I64], None),
    ];
    float_calls(&mut out);
    out
}

/// The name by which Cranelift's own calls, made where the computer lacks an instruction, find ours.
pub(super) fn cranelift_name(call: cranelift_codegen::ir::LibCall) -> String {
    use cranelift_codegen::ir::LibCall as L;
    let name = match call {
        L::CeilF32 => "f32.ceil",
        L::CeilF64 => "f64.ceil",
        L::FloorF32 => "f32.floor",
        L::FloorF64 => "f64.floor",
        L::TruncF32 => "f32.trunc",
        L::TruncF64 => "f64.trunc",
        L::NearestF32 => "f32.round_ties_even",
        L::NearestF64 => "f64.round_ties_even",
        L::FmaF32 => "f32.mul_add",
        L::FmaF64 => "f64.mul_add",
        other => return cranelift_module::default_libcall_names()(other),
    };
    name.to_owned()
}
