//! A name may be declared again, in the same block or in an inner one.

#[millstream::program]
pub mod program {
    #[task]
    pub fn shadow(x: u32) -> f64 {
        let x = x + 1;
        {
            let x = x as f32 * 100.0;
            assert!(x >= 100.0);
        }
        let x = x as f64 / 2.0;
        for x in 0..3 {
            let _ = x;
        }
        x
    }
}

millstream_tests::cases! {
    shadow(4);
}
