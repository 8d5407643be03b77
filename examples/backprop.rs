//! Back propagation: a network of two layers learns which points of a square lie in a disc, by what it got wrong.
//!
//! ```text
//!   learn ──► each point ── all ──► train: forward, layer by layer ──► what is wrong, layer by layer back ──► each weight: a step ─┐
//!                                     ▲                                                                                           │
//!                                     └─────────────────────────────────── next round ────────────────────────────────────────────┘
//! ```
//!
//! A row of a matrix is what one point is to a layer, or the weights of one unit, of which the last belongs to no input. Sums of floats are added up in one
//! order everywhere, and what squashes them is made of `+` and `/`: so all devices learn the same, to the last bit.

#[millstream::program]
pub mod backprop {
    /// What a unit makes of the sum of its inputs: a number between -1 and 1.
    fn squash(x: f32) -> f32 {
        x / (1.0 + x.abs())
    }

    /// How steep that is, where it gives `y`.
    fn slope(y: f32) -> f32 {
        let rest = 1.0 - y.abs();
        rest * rest
    }

    /// A number from -1 to 1, the same for the same `i`.
    fn random(i: u32) -> f32 {
        let mixed = (i ^ i >> 15).wrapping_mul(0x2c1b_3c6d);
        (mixed ^ mixed >> 12) as i32 as f32 / 2_147_483_648.0
    }

    /// Points of a square, and behind them what is wanted: whether they lie in a disc in its middle.
    fn generate(mut samples: MatMut<f32>) {
        #[parallel]
        for (i, sample) in samples.row_iter_mut().enumerate() {
            let (x, y) = (random(2 * i as u32 + 1), random(2 * i as u32 + 2));
            let wanted = if x * x + y * y < 0.5 { 0.8 } else { -0.8 };
            sample.copy_from_slice(&[x, y, wanted]);
        }
    }

    /// Weights to begin with, between `-most` and `most`.
    fn begin(mut weights: MatMut<f32>, most: f32) {
        let cols = weights.cols();
        for (i, row) in weights.row_iter_mut().enumerate() {
            for (j, weight) in row.iter_mut().enumerate() {
                *weight = most * random(0xabcd + (i * cols + j) as u32);
            }
        }
    }

    /// What a layer makes of all points.
    fn forward(inputs: Mat<f32>, weights: Mat<f32>, mut outputs: MatMut<f32>) {
        #[parallel]
        for (input, output) in inputs.row_iter().zip(outputs.row_iter_mut()) {
            for (weights, out) in weights.row_iter().zip(output.iter_mut()) {
                let mut sum = weights[input.len()];
                for (w, x) in weights.iter().zip(input) {
                    sum += w * x;
                }
                *out = squash(sum);
            }
        }
    }

    /// Puts in place of the outputs how much of them is wrong, and how much a step would change that; the sum of squares of what is wrong.
    fn compare(mut outputs: MatMut<f32>, wanted: Mat<f32>) -> f64 {
        let mut loss = 0.0;
        #[parallel]
        for (output, wanted) in outputs.row_iter_mut().zip(wanted.row_iter()) {
            for (out, want) in output.iter_mut().zip(wanted) {
                let off = want - *out;
                loss += f64::from(off) * f64::from(off);
                *out = off * slope(*out);
            }
        }
        loss
    }

    /// The same for the layer before: each of its units takes its part of what is wrong behind it.
    fn backward(wrong: Mat<f32>, weights: Mat<f32>, hidden: Mat<f32>, mut back: MatMut<f32>) {
        #[parallel]
        for (i, own) in back.row_iter_mut().enumerate() {
            for (j, out) in own.iter_mut().enumerate() {
                let mut sum = 0.0;
                for (off, weights) in wrong.row(i).iter().zip(weights.row_iter()) {
                    sum += off * weights[j];
                }
                *out = sum * slope(hidden[(i, j)]);
            }
        }
    }

    /// A step of all weights of a layer.
    fn adjust(mut weights: MatMut<f32>, inputs: Mat<f32>, wrong: Mat<f32>, rate: f32) {
        #[parallel]
        for (k, row) in weights.row_iter_mut().enumerate() {
            #[parallel]
            for (j, weight) in row.iter_mut().enumerate() {
                let mut sum = 0.0;
                #[parallel]
                for (input, wrong) in inputs.row_iter().zip(wrong.row_iter()) {
                    let x = if j < input.len() { input[j] } else { 1.0 };
                    sum += x * wrong[k];
                }
                *weight += rate * sum;
            }
        }
    }

    /// Makes samples and weights and learns in so many rounds; the mean square of what is wrong in the last one. `back` is as large as `hidden`.
    #[task]
    pub fn learn(
        mut samples: MatMut<f32>,
        mut first: MatMut<f32>,
        mut second: MatMut<f32>,
        mut hidden: MatMut<f32>,
        mut back: MatMut<f32>,
        mut outputs: MatMut<f32>,
        rounds: u32,
    ) -> f64 {
        generate(samples.reborrow());
        begin(first.reborrow(), 2.0);
        begin(second.reborrow(), 1.0);
        let (points, wanted) = samples.split_cols_at(2);
        let rate = 2.0 / points.rows() as f32;
        let mut loss = 0.0;
        for _ in 0..rounds {
            forward(points, first.as_mat(), hidden.reborrow());
            forward(hidden.as_mat(), second.as_mat(), outputs.reborrow());
            loss = compare(outputs.reborrow(), wanted);
            let (wrong, units) = (outputs.as_mat(), hidden.as_mat());
            backward(wrong, second.as_mat(), units, back.reborrow());
            adjust(second.reborrow(), units, wrong, rate);
            adjust(first.reborrow(), points, back.as_mat(), rate);
        }
        loss / points.rows() as f64
    }
}

/// The shapes of `samples`, `first`, `second`, `hidden`, `back` and `outputs`.
pub const fn shapes(samples: usize, units: usize) -> [(usize, usize); 6] {
    [
        (samples, 3),
        (units, 3),
        (1, units + 1),
        (samples, units),
        (samples, units),
        (samples, 1),
    ]
}

fn main() -> Result<(), millstream::Error> {
    use millstream::{Device, MatMut};
    let shapes = shapes(1000, 16);
    let memory = || shapes.map(|(rows, cols)| vec![0.0; rows * cols]);
    // What `learn` is called with, on a device or as a function.
    macro_rules! learn {
        ($learn:path, $memory:expr, $rounds:expr) => {{
            let mut views = $memory.iter_mut().zip(shapes);
            let [a, b, c, d, e, f] = std::array::from_fn(|_| {
                let (data, (rows, cols)) = views.next().expect("as many as there are shapes");
                MatMut::new(data, rows, cols)
            });
            $learn(a, b, c, d, e, f, $rounds)
        }};
    }
    let device = Device::auto()?;
    let (mut on_device, mut expected) = (memory(), memory());
    let before = learn!(backprop::learn, expected, 1);
    let after = learn!(backprop::learn, expected, 100);
    let (found, report) = device.run_with_report(learn!(backprop::call::learn, on_device, 100))?;
    assert_eq!(found.to_bits(), after.to_bits());
    assert_eq!(on_device, expected);
    assert!(after < 0.1 * before);
    println!(
        "wrong by {before:.3} at first, by {after:.3} after 100 rounds, {} tasks",
        report.total
    );
    Ok(())
}
