//! Each operation beside the Rust operator or method it stands for, over values at the edges of each type.

use millstream_graph::{eval::*, ir::*, ty::*};
use std::hint::black_box;

macro_rules! int_test {
    ($test:ident $t:ident $scalar:ident) => {
        #[test]
        fn $test() {
            const TY: Scalar = Scalar::$scalar;
            let bits = |x: $t| truncate(TY, x as u64);
            let edges: Vec<$t> = [
                $t::MIN,
                $t::MAX,
                $t::MIN + 1,
                $t::MAX - 1,
                $t::MAX / 2,
                $t::MIN / 2,
                0,
                1,
                2,
                3,
                7,
                10,
                100,
                (0 as $t).wrapping_sub(1),
            ]
            .into();
            for &x in &edges {
                let un = |op| eval_unary(op, TY, bits(x));
                assert_eq!(un(UnOp::Neg), bits(x.wrapping_neg()));
                assert_eq!(un(UnOp::Not), bits(!x));
                assert_eq!(
                    un(UnOp::Abs),
                    bits(if (x as i128) < 0 { x.wrapping_neg() } else { x })
                );
                assert_eq!(un(UnOp::CountOnes), u64::from(x.count_ones()));
                assert_eq!(un(UnOp::LeadingZeros), u64::from(x.leading_zeros()));
                assert_eq!(un(UnOp::TrailingZeros), u64::from(x.trailing_zeros()));
                assert_eq!(un(UnOp::SwapBytes), bits(x.swap_bytes()));
                assert_eq!(un(UnOp::ReverseBits), bits(x.reverse_bits()));
                assert_eq!(
                    eval_cast(TY, Scalar::I8, bits(x)),
                    truncate(Scalar::I8, x as i8 as u64)
                );
                assert_eq!(eval_cast(TY, Scalar::U16, bits(x)), u64::from(x as u16));
                assert_eq!(eval_cast(TY, Scalar::U32, bits(x)), u64::from(x as u32));
                assert_eq!(eval_cast(TY, Scalar::I64, bits(x)), x as i64 as u64);
                assert_eq!(eval_cast(TY, Scalar::Usize, bits(x)), x as u64);
                assert_eq!(
                    eval_cast(TY, Scalar::F32, bits(x)),
                    u64::from((x as f32).to_bits())
                );
                assert_eq!(eval_cast(TY, Scalar::F64, bits(x)), (x as f64).to_bits());
                for n in [0u32, 1, 2, 7, 8, 31, 32, 33, 63, 64, 65, 1000, u32::MAX] {
                    let bin = |op| eval_binary(op, TY, bits(x), u64::from(n)).unwrap();
                    assert_eq!(bin(BinOp::Shl), bits(x.wrapping_shl(n)));
                    assert_eq!(bin(BinOp::Shr), bits(x.wrapping_shr(n)));
                    assert_eq!(bin(BinOp::RotateLeft), bits(x.rotate_left(n)));
                    assert_eq!(bin(BinOp::RotateRight), bits(x.rotate_right(n)));
                    assert_eq!(bin(BinOp::Pow), bits(x.wrapping_pow(n)));
                }
                for &y in &edges {
                    let bin = |op| eval_binary(op, TY, bits(x), bits(y));
                    let some = |v: $t| Some(bits(v));
                    assert_eq!(bin(BinOp::Add), some(x.wrapping_add(y)));
                    assert_eq!(bin(BinOp::Sub), some(x.wrapping_sub(y)));
                    assert_eq!(bin(BinOp::Mul), some(x.wrapping_mul(y)));
                    assert_eq!(bin(BinOp::Div), x.checked_div(y).map(bits));
                    assert_eq!(bin(BinOp::Rem), x.checked_rem(y).map(bits));
                    assert_eq!(bin(BinOp::And), some(x & y));
                    assert_eq!(bin(BinOp::Or), some(x | y));
                    assert_eq!(bin(BinOp::Xor), some(x ^ y));
                    assert_eq!(bin(BinOp::Min), some(x.min(y)));
                    assert_eq!(bin(BinOp::Max), some(x.max(y)));
                    assert_eq!(bin(BinOp::SaturatingAdd), some(x.saturating_add(y)));
                    assert_eq!(bin(BinOp::SaturatingSub), some(x.saturating_sub(y)));
                    assert_eq!(
                        bin(BinOp::AddOverflows),
                        Some(u64::from(x.overflowing_add(y).1))
                    );
                    assert_eq!(
                        bin(BinOp::SubOverflows),
                        Some(u64::from(x.overflowing_sub(y).1))
                    );
                    assert_eq!(
                        bin(BinOp::MulOverflows),
                        Some(u64::from(x.overflowing_mul(y).1))
                    );
                    let comparisons = [x == y, x != y, x < y, x <= y, x > y, x >= y];
                    let ops = [
                        BinOp::Eq,
                        BinOp::Ne,
                        BinOp::Lt,
                        BinOp::Le,
                        BinOp::Gt,
                        BinOp::Ge,
                    ];
                    assert_eq!(ops.map(bin), comparisons.map(|b| Some(u64::from(b))));
                }
            }
        }
    };
}

int_test!(i8_is_rusts i8 I8);
int_test!(i16_is_rusts i16 I16);
int_test!(i32_is_rusts i32 I32);
int_test!(i64_is_rusts i64 I64);
int_test!(isize_is_rusts isize Isize);
int_test!(u8_is_rusts u8 U8);
int_test!(u16_is_rusts u16 U16);
int_test!(u32_is_rusts u32 U32);
int_test!(u64_is_rusts u64 U64);
int_test!(usize_is_rusts usize Usize);

macro_rules! float_test {
    ($test:ident $t:ident $scalar:ident) => {
        #[test]
        fn $test() {
            const TY: Scalar = Scalar::$scalar;
            let bits = |x: $t| u64::from(x.to_bits());
            let same = |got: u64, want: $t, what: &str| {
                let x = $t::from_bits(got as _);
                assert!(
                    x.to_bits() == want.to_bits() || (x.is_nan() && want.is_nan()),
                    "{what}: {x:?} but Rust has {want:?}"
                );
            };
            let edges: [$t; 26] = [
                0.0,
                -0.0,
                1.0,
                -1.0,
                0.5,
                -0.5,
                1.5,
                2.5,
                -2.5,
                3.7,
                -3.7,
                100.25,
                127.9,
                -128.9,
                255.5,
                1e-5,
                3e9,
                -3e9,
                1e20,
                -1e20,
                1e38,
                $t::EPSILON,
                $t::MIN_POSITIVE / 2.0,
                $t::MAX,
                $t::INFINITY,
                $t::NAN,
            ];
            for x in edges.map(black_box) {
                let un = |op: UnOp, want: $t| same(eval_unary(op, TY, bits(x)), want, op.name());
                un(UnOp::Neg, -x);
                un(UnOp::Abs, x.abs());
                un(UnOp::Sqrt, x.sqrt());
                un(UnOp::Floor, x.floor());
                un(UnOp::Ceil, x.ceil());
                un(UnOp::Round, x.round());
                un(UnOp::RoundTiesEven, x.round_ties_even());
                un(UnOp::Trunc, x.trunc());
                un(UnOp::Exp, x.exp());
                un(UnOp::Exp2, x.exp2());
                un(UnOp::ExpM1, x.exp_m1());
                un(UnOp::Ln, x.ln());
                un(UnOp::Ln1p, x.ln_1p());
                un(UnOp::Log2, x.log2());
                un(UnOp::Log10, x.log10());
                un(UnOp::Sin, x.sin());
                un(UnOp::Cos, x.cos());
                un(UnOp::Tan, x.tan());
                un(UnOp::Asin, x.asin());
                un(UnOp::Acos, x.acos());
                un(UnOp::Atan, x.atan());
                un(UnOp::Sinh, x.sinh());
                un(UnOp::Cosh, x.cosh());
                un(UnOp::Tanh, x.tanh());
                un(UnOp::Cbrt, x.cbrt());
                let cast = |to| eval_cast(TY, to, bits(x));
                assert_eq!(cast(Scalar::I8), truncate(Scalar::I8, x as i8 as u64));
                assert_eq!(cast(Scalar::I16), truncate(Scalar::I16, x as i16 as u64));
                assert_eq!(cast(Scalar::I32), truncate(Scalar::I32, x as i32 as u64));
                assert_eq!(cast(Scalar::I64), x as i64 as u64);
                assert_eq!(cast(Scalar::Isize), x as isize as u64);
                assert_eq!(cast(Scalar::U8), u64::from(x as u8));
                assert_eq!(cast(Scalar::U16), u64::from(x as u16));
                assert_eq!(cast(Scalar::U32), u64::from(x as u32));
                assert_eq!(cast(Scalar::U64), x as u64);
                assert_eq!(cast(Scalar::Usize), x as usize as u64);
                let (narrow, wide) = (
                    f32::from_bits(cast(Scalar::F32) as u32),
                    f64::from_bits(cast(Scalar::F64)),
                );
                assert!(
                    narrow.to_bits() == (x as f32).to_bits() || (narrow.is_nan() && x.is_nan())
                );
                assert!(wide.to_bits() == (x as f64).to_bits() || (wide.is_nan() && x.is_nan()));
                for n in [
                    0,
                    1,
                    2,
                    3,
                    5,
                    8,
                    100,
                    1000,
                    -1,
                    -2,
                    -7,
                    -100,
                    i32::MAX,
                    i32::MIN,
                ] {
                    let got = eval_binary(BinOp::Powi, TY, bits(x), u64::from(n as u32)).unwrap();
                    same(got, x.powi(black_box(n)), &format!("{x:?}.powi({n})"));
                }
                for y in edges.map(black_box) {
                    let bin = |op: BinOp, want: $t| {
                        same(
                            eval_binary(op, TY, bits(x), bits(y)).unwrap(),
                            want,
                            &format!("{x:?} {} {y:?}", op.name()),
                        )
                    };
                    bin(BinOp::Add, x + y);
                    bin(BinOp::Sub, x - y);
                    bin(BinOp::Mul, x * y);
                    bin(BinOp::Div, x / y);
                    bin(BinOp::Rem, x % y);
                    // Of two zeros, Rust lets the machine choose.
                    if x != y {
                        bin(BinOp::Min, x.min(y));
                        bin(BinOp::Max, x.max(y));
                    }
                    bin(BinOp::Powf, x.powf(y));
                    bin(BinOp::Atan2, x.atan2(y));
                    bin(BinOp::Hypot, x.hypot(y));
                    bin(BinOp::Copysign, x.copysign(y));
                    same(
                        eval_mul_add(TY, bits(x), bits(y), bits(1.5)),
                        x.mul_add(y, 1.5),
                        "mul_add",
                    );
                    let comparisons = [x == y, x != y, x < y, x <= y, x > y, x >= y];
                    let ops = [
                        BinOp::Eq,
                        BinOp::Ne,
                        BinOp::Lt,
                        BinOp::Le,
                        BinOp::Gt,
                        BinOp::Ge,
                    ];
                    assert_eq!(
                        ops.map(|op| eval_binary(op, TY, bits(x), bits(y))),
                        comparisons.map(|b| Some(u64::from(b)))
                    );
                }
            }
            for (x, y) in [(0.0, -0.0), (-0.0, 0.0)] {
                same(
                    eval_binary(BinOp::Min, TY, bits(x), bits(y)).unwrap(),
                    -0.0,
                    "min of zeros",
                );
                same(
                    eval_binary(BinOp::Max, TY, bits(x), bits(y)).unwrap(),
                    0.0,
                    "max of zeros",
                );
            }
        }
    };
}

float_test!(f32_is_rusts f32 F32);
float_test!(f64_is_rusts f64 F64);

#[test]
fn bools_and_pointers() {
    for a in [0, 1] {
        assert_eq!(eval_unary(UnOp::Not, Scalar::Bool, a), 1 - a);
        assert_eq!(eval_cast(Scalar::Bool, Scalar::I8, a), a);
        for b in [0, 1] {
            let bin = |op| eval_binary(op, Scalar::Bool, a, b).unwrap();
            assert_eq!(
                [BinOp::And, BinOp::Or, BinOp::Xor, BinOp::Lt].map(bin),
                [a & b, a | b, a ^ b, u64::from(a < b)]
            );
            assert_eq!(
                eval_atomic(AtomicOp::Nand, Scalar::Bool, a, &[b]),
                Some(1 - (a & b))
            );
        }
    }
    assert_eq!(eval_binary(BinOp::Lt, Scalar::Ptr, 1, u64::MAX), Some(1));
}

#[test]
fn atomics_and_results() {
    use std::sync::atomic::{AtomicI16, Ordering::Relaxed};
    for (old, arg) in [(5i16, 3i16), (i16::MIN, -1), (i16::MAX, 1), (-7, 7), (0, 0)] {
        let bits = |x: i16| u64::from(x as u16);
        let check = |op: AtomicOp, run: fn(&AtomicI16, i16)| {
            let cell = AtomicI16::new(old);
            run(&cell, arg);
            let got = eval_atomic(op, Scalar::I16, bits(old), &[bits(arg)]).unwrap_or(bits(old));
            assert_eq!(
                got,
                bits(cell.load(Relaxed)),
                "{} of {old} and {arg}",
                op.name()
            );
        };
        check(AtomicOp::Load, |_, _| ());
        check(AtomicOp::Store, |c, x| c.store(x, Relaxed));
        check(AtomicOp::Swap, |c, x| _ = c.swap(x, Relaxed));
        check(AtomicOp::Add, |c, x| _ = c.fetch_add(x, Relaxed));
        check(AtomicOp::Sub, |c, x| _ = c.fetch_sub(x, Relaxed));
        check(AtomicOp::And, |c, x| _ = c.fetch_and(x, Relaxed));
        check(AtomicOp::Or, |c, x| _ = c.fetch_or(x, Relaxed));
        check(AtomicOp::Xor, |c, x| _ = c.fetch_xor(x, Relaxed));
        check(AtomicOp::Nand, |c, x| _ = c.fetch_nand(x, Relaxed));
        check(AtomicOp::Min, |c, x| _ = c.fetch_min(x, Relaxed));
        check(AtomicOp::Max, |c, x| _ = c.fetch_max(x, Relaxed));
    }
    assert_eq!(
        eval_atomic(AtomicOp::CompareExchange, Scalar::U8, 4, &[4, 9]),
        Some(9)
    );
    assert_eq!(
        eval_atomic(AtomicOp::CompareExchange, Scalar::U8, 5, &[4, 9]),
        None
    );
    assert_eq!(eval_combine(Combine::Store, Scalar::U8, 250, 10), 10);
    assert_eq!(eval_combine(Combine::Add, Scalar::U8, 250, 10), 4);
    assert_eq!(eval_combine(Combine::Max, Scalar::I8, 0xff, 1), 1);
    assert_eq!(
        eval_combine(
            Combine::Add,
            Scalar::F32,
            u64::from(1.5f32.to_bits()),
            u64::from(2.0f32.to_bits())
        ),
        u64::from(3.5f32.to_bits())
    );
}
