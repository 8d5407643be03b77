//! Floats with exact sums, gathered in any order.

#[millstream::program]
pub mod program {
    #[task]
    pub fn quarter(i: i32) -> f64 {
        i as f64 * 0.25
    }

    #[task]
    pub fn single(i: i32) -> f32 {
        (i - 5) as f32 * 0.5
    }

    #[task]
    pub fn gather(n: i32) -> (f64, f32, f64, f64) {
        let mut sum = 0.5;
        let mut small = 0.0;
        let mut low = f64::INFINITY;
        let mut high = f64::NEG_INFINITY;
        for i in 0..n {
            sum += spawn!(quarter(i));
            small += spawn!(single(i));
            low = low.min(spawn!(quarter(-i)));
            high = high.max(spawn!(quarter(i * i)));
        }
        sync!();
        (sum, small, low, high)
    }
}

millstream_tests::cases! {
    gather(0);
    gather(20);
}
