//! The least and the greatest of floats, from children and from the rounds of loops: in whichever order they come, zeros and what is no number too. Which
//! zero is the greater rustc leaves open, so none is returned with its sign.

#[millstream::program]
pub mod program {
    #[task]
    pub fn least(low: f64, high: f64, depth: u32) -> f64 {
        if depth == 0 {
            return low * low - high;
        }
        let middle = 0.5 * (low + high);
        let mut best = f64::INFINITY;
        best = best.min(spawn!(least(low, middle, depth - 1)));
        best = best.min(spawn!(least(middle, high, depth - 1)));
        sync!();
        best
    }

    /// Leaves that are no numbers, and zeros of both signs.
    #[task]
    pub fn greatest(n: u32) -> f32 {
        if n < 3 {
            return [f32::NAN, -0.0, 0.0][n as usize];
        }
        let mut best = f32::NAN;
        for i in 0..n {
            best = best.max(spawn!(greatest(i)));
        }
        sync!();
        best.max(n as f32 * -0.5) + 0.0
    }

    #[task]
    pub fn of_all(data: &[f32], start: f32) -> (f32, f32) {
        let (mut most, mut least) = (start, start);
        #[parallel]
        for x in data {
            most = most.max(*x);
        }
        #[parallel]
        for x in data {
            least = x.min(least);
        }
        (most + 0.0, least + 0.0)
    }

    /// By rows, beside a sum of floats, where the order shows.
    #[task]
    pub fn of_rows(data: &[f64], width: usize, extremes: &mut [f64]) -> (f64, f64) {
        let (mut sum, mut most) = (0.0, f64::NEG_INFINITY);
        #[parallel]
        for (row, extreme) in data.chunks(width).zip(extremes.iter_mut()) {
            let mut least = f64::INFINITY;
            #[parallel]
            for (i, x) in row.iter().enumerate() {
                least = least.min(x * (i as f64 - 20.0));
            }
            *extreme = least;
            sum += least / 3.0;
            most = most.max(least);
        }
        (sum, most)
    }
}

fn numbers(n: u32) -> Vec<f64> {
    let mixed = |i: u32| f64::from(i.wrapping_mul(2_654_435_761) >> 12) / 1024.0 - 512.0;
    (0..n).map(mixed).collect()
}

millstream_tests::cases! {
    least(-1.0, 1.0, 9);
    greatest(10);
    greatest(2);
    of_all(&[1.0, -0.0, 3.5, 0.0], f32::NAN);
    of_all(&[-0.0, 0.0, -0.0], -0.0);
    of_all(&[0.0, -0.0, f32::NAN], 0.0);
    of_all(&[f32::NAN, f32::NAN], f32::NAN);
    of_all(&[], 2.5);
    of_rows(&numbers(5000), 70, &mut vec![0.0; 72]);
    of_rows(&numbers(200), 200, &mut vec![0.0; 1]);
}
