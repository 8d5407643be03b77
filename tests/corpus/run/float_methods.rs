//! Rounding, roots and powers.

#[millstream::program]
pub mod program {
    #[task]
    pub fn round(x: f64) -> [f64; 6] {
        [x.floor(), x.ceil(), x.round(), x.trunc(), x.round_ties_even(), x.fract()]
    }

    #[task]
    pub fn power(x: f64, n: i32) -> (f64, f64, f64, f64) {
        (x.abs().sqrt(), x.powi(n), x.mul_add(x, 1.0), x.recip())
    }

    #[task]
    pub fn sign(x: f32, y: f32) -> (f32, f32, f32, bool) {
        (x.abs(), x.signum(), x.copysign(y), x.is_sign_negative())
    }

    #[task]
    pub fn angles(x: f64, y: f32) -> (f64, f32, f64, f32) {
        (x.to_degrees(), y.to_degrees(), x.to_radians(), y.to_radians())
    }

    #[task]
    pub fn quotients(x: f64, y: f64) -> (f64, f64, bool) {
        (x.div_euclid(y), x.rem_euclid(y), y.is_sign_positive())
    }

    #[task]
    pub fn exact() -> (f64, (f32, f32)) {
        (1f64.log(10.0), 0f32.sin_cos())
    }
}

millstream_tests::cases! {
    round(2.5);
    round(-2.5);
    round(3.5);
    round(-0.4);
    power(3.0, 4);
    power(-2.0, -3);
    sign(-1.5, 2.0);
    sign(2.0, -0.0);
    angles(1.0, 1.0);
    angles(-3.7, 200.5);
    quotients(7.5, 2.0);
    quotients(-7.5, 2.0);
    quotients(7.5, -2.0);
    quotients(-7.5, -2.0);
    exact();
}
