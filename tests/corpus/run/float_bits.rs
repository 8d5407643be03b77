//! A float's bits as an integer, and back.

#[millstream::program]
pub mod program {
    #[task]
    pub fn next_up(x: f64) -> f64 {
        f64::from_bits(x.to_bits() + 1)
    }

    /// The old trick.
    #[task]
    pub fn inverse_root(x: f32) -> f32 {
        let half = 0.5 * x;
        let y = f32::from_bits(0x5f37_59df - (x.to_bits() >> 1));
        y * (1.5 - half * y * y)
    }
}

millstream_tests::cases! {
    next_up(1.0);
    next_up(0.0);
    inverse_root(4.0);
}
