//! Back propagation, beside one that takes each point through all layers and back before it takes the next.

use super::{super::elision::backprop, Came, Region};
use millstream::MatMut;
use millstream_aggregator::{Device, RunError, RunReport};
use rayon::{iter::ParallelIterator, slice::ParallelSlice};

/// Points that one of rayon's threads adds up, at least.
const CHUNK: usize = 64;
/// The sums of a round are of all points, in `f32`: the order shows in its last bits, which go on into the next round.
pub(super) const WITHIN: f64 = 1e-3;

/// A network of two layers with so many hidden units, and the points it learns from.
pub(super) struct Backprop {
    shapes: [(usize, usize); 6],
    memory: [Vec<f32>; 6],
    units: usize,
    rounds: u32,
    loss: f64,
}

impl Backprop {
    pub(super) fn new(samples: usize, units: usize, rounds: u32) -> Self {
        let shapes = super::super::elision::shapes(samples, units);
        Self {
            memory: shapes.map(|(rows, cols)| vec![0.0; rows * cols]),
            shapes,
            units,
            rounds,
            loss: 0.0,
        }
    }

    fn views(&mut self) -> [MatMut<'_, f32>; 6] {
        let mut shapes = self.shapes.iter();
        self.memory.each_mut().map(|data| {
            let (rows, cols) = shapes.next().copied().unwrap_or_default();
            MatMut::new(data, rows, cols)
        })
    }
}

fn squash(x: f32) -> f32 {
    x / (1.0 + x.abs())
}

fn slope(y: f32) -> f32 {
    let rest = 1.0 - y.abs();
    rest * rest
}

fn random(i: u32) -> f32 {
    let mixed = (i ^ i >> 15).wrapping_mul(0x2c1b_3c6d);
    (mixed ^ mixed >> 12) as i32 as f32 / 2_147_483_648.0
}

/// What a round adds up: how wrong it is, and what the weights of both layers are to change by.
struct Sums {
    loss: f64,
    first: Vec<f32>,
    second: Vec<f32>,
}

impl Sums {
    fn none(units: usize) -> Self {
        Self {
            loss: 0.0,
            first: vec![0.0; 3 * units],
            second: vec![0.0; units + 1],
        }
    }

    fn join(mut self, other: &Self) -> Self {
        self.loss += other.loss;
        let add = |to: &mut [f32], from: &[f32]| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        };
        add(&mut self.first, &other.first);
        add(&mut self.second, &other.second);
        self
    }

    /// A point, forward and back; `hidden` is what the units make of it.
    fn learn(&mut self, sample: &[f32], first: &[f32], second: &[f32], hidden: &mut [f32]) {
        let [x, y, wanted] = [sample[0], sample[1], sample[2]];
        let (weights, bias) = second.split_at(hidden.len());
        let mut sum = bias[0];
        for ((unit, of_unit), weight) in hidden.iter_mut().zip(first.chunks_exact(3)).zip(weights) {
            *unit = squash(of_unit[2] + of_unit[0] * x + of_unit[1] * y);
            sum += weight * *unit;
        }
        let out = squash(sum);
        let off = wanted - out;
        self.loss += f64::from(off) * f64::from(off);
        let wrong = off * slope(out);
        let (to_second, to_bias) = self.second.split_at_mut(hidden.len());
        to_bias[0] += wrong;
        let units = hidden.iter().zip(weights).zip(to_second);
        for (((unit, weight), to), first) in units.zip(self.first.chunks_exact_mut(3)) {
            *to += unit * wrong;
            let back = wrong * weight * slope(*unit);
            first[0] += x * back;
            first[1] += y * back;
            first[2] += back;
        }
    }
}

impl Region for Backprop {
    fn name(&self) -> String {
        format!(
            "backprop, {} points, {} units, {} rounds",
            self.shapes[0].0, self.units, self.rounds
        )
    }

    fn reset(&mut self) {
        // All that is read is made anew.
        self.loss = 0.0;
    }

    fn ours(&mut self, device: &Device) -> Result<RunReport, RunError> {
        let rounds = self.rounds;
        let [a, b, c, d, e, f] = self.views();
        let call = backprop::call::learn(a, b, c, d, e, f, rounds);
        let (loss, report) = device.run_with_report(call)?;
        self.loss = loss;
        Ok(report)
    }

    fn serial(&mut self) {
        let rounds = self.rounds;
        let [a, b, c, d, e, f] = self.views();
        self.loss = backprop::learn(a, b, c, d, e, f, rounds);
    }

    fn rayon(&mut self) {
        let (units, points) = (self.units, self.shapes[0].0);
        let [samples, first, second, ..] = &mut self.memory;
        for (sample, i) in samples.chunks_exact_mut(3).zip(0..) {
            let (x, y) = (random(2 * i + 1), random(2 * i + 2));
            let wanted = if x * x + y * y < 0.5 { 0.8 } else { -0.8 };
            sample.copy_from_slice(&[x, y, wanted]);
        }
        for (weights, most) in [(&mut *first, 2.0), (&mut *second, 1.0)] {
            for (weight, i) in weights.iter_mut().zip(0xabcd..) {
                *weight = most * random(i);
            }
        }
        let rate = 2.0 / points as f32;
        let mut loss = 0.0;
        for _ in 0..self.rounds {
            let parts = samples.par_chunks(3 * CHUNK).fold(
                || (Sums::none(units), vec![0.0; units]),
                |(mut sums, mut hidden), samples| {
                    for sample in samples.chunks_exact(3) {
                        sums.learn(sample, first, second, &mut hidden);
                    }
                    (sums, hidden)
                },
            );
            let sums = parts
                .map(|(sums, _)| sums)
                .reduce(|| Sums::none(units), |sums, other| sums.join(&other));
            loss = sums.loss;
            for (weights, by) in [(&mut *first, sums.first), (&mut *second, sums.second)] {
                let steps = weights.iter_mut().zip(by);
                steps.for_each(|(weight, by)| *weight += rate * by);
            }
        }
        self.loss = loss / points as f64;
    }

    fn came(&self) -> Came {
        let [_, first, second, ..] = &self.memory;
        let weights = || first.iter().chain(second);
        let bits = weights().map(|w| u64::from(w.to_bits()));
        Came {
            floats: weights()
                .map(|w| f64::from(*w))
                .chain([self.loss])
                .collect(),
            ..Came::exactly(bits.chain([self.loss.to_bits()]))
        }
    }

    fn within(&self) -> f64 {
        WITHIN
    }
}
