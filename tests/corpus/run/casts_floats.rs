//! Floats to integers saturate, and no number becomes 0.

#[millstream::program]
pub mod program {
    #[task]
    pub fn to_ints(x: f64) -> (i8, u8, i32, u32, i64, u64) {
        (x as i8, x as u8, x as i32, x as u32, x as i64, x as u64)
    }

    #[task]
    pub fn single(x: f32) -> (i32, u64, f64) {
        (x as i32, x as u64, x as f64)
    }

    #[task]
    pub fn to_floats(a: i64, b: u64) -> (f32, f64, f32, f64) {
        (a as f32, a as f64, b as f32, b as f64)
    }
}

millstream_tests::cases! {
    to_ints(3.99);
    to_ints(-3.99);
    to_ints(1e300);
    to_ints(-1e300);
    to_ints(f64::NAN);
    to_ints(255.5);
    single(1e10);
    single(-0.5);
    to_floats(i64::MIN, u64::MAX);
    to_floats(-16777217, 9007199254740993);
}
