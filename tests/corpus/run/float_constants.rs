//! The constants of the float types, and those of `std::f64::consts`.

#[millstream::program]
pub mod program {
    use std::f64::consts::PI;

    const TURN: f64 = 2.0 * PI;

    #[task]
    pub fn limits() -> [f64; 5] {
        [f64::MAX, f64::MIN, f64::EPSILON, f64::MIN_POSITIVE, f64::INFINITY]
    }

    #[task]
    pub fn area(r: f64) -> f64 {
        TURN / 2.0 * r * r
    }

    #[task]
    pub fn half() -> f32 {
        std::f32::consts::PI / 2.0
    }
}

millstream_tests::cases! {
    limits();
    area(1.5);
    half();
}
