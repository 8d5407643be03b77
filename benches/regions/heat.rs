//! Heat in a plate, beside the same by rows.

use super::{
    super::{
        elision::heat,
        nvidia::{Gpu, Param},
    },
    Came, Region,
};
use millstream_aggregator::{Device, RunError, RunReport};
use rayon::{
    iter::{IndexedParallelIterator, ParallelIterator},
    slice::ParallelSliceMut,
};
use std::time::Instant;

/// When it is still: never, in so few steps.
const STILL: f32 = 1e-6;

/// A plate that begins at random.
pub(super) struct Heat {
    width: usize,
    height: usize,
    pairs: u32,
    source: Vec<f32>,
    plate: Vec<f32>,
    other: Vec<f32>,
    steps: u32,
}

impl Heat {
    /// So many cells, and so many times two steps.
    pub(super) fn new(width: usize, height: usize, pairs: u32) -> Self {
        let random = |i: u32| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / 16_777_216.0;
        let source: Vec<f32> = (1..=(width * height) as u32).map(random).collect();
        Self {
            width,
            height,
            pairs,
            plate: source.clone(),
            source,
            other: vec![0.0; width * height],
            steps: 0,
        }
    }
}

/// A step by rows, and the most that a cell changed.
fn step(from: &[f32], to: &mut [f32], width: usize) -> f32 {
    let height = from.len() / width;
    let rows = to.par_chunks_mut(width).enumerate().map(|(y, row)| {
        let here = &from[y * width..(y + 1) * width];
        if y == 0 || y == height - 1 || width < 3 {
            row.copy_from_slice(here);
            return 0.0;
        }
        let (above, below) = (
            &from[(y - 1) * width..][..width],
            &from[(y + 1) * width..][..width],
        );
        (row[0], row[width - 1]) = (here[0], here[width - 1]);
        let mut most = 0.0f32;
        for x in 1..width - 1 {
            let around = here[x - 1] + here[x + 1] + above[x] + below[x];
            row[x] = 0.25 * around;
            most = most.max((row[x] - here[x]).abs());
        }
        most
    });
    rows.reduce(|| 0.0, f32::max)
}

fn words(cells: &[f32]) -> Vec<u32> {
    cells.iter().map(|x| x.to_bits()).collect()
}

impl Region for Heat {
    fn name(&self) -> String {
        format!(
            "heat, {} x {} cells, {} steps",
            self.width,
            self.height,
            2 * self.pairs
        )
    }

    fn reset(&mut self) {
        self.plate.copy_from_slice(&self.source);
        self.steps = 0;
    }

    fn ours(&mut self, device: &Device) -> Result<RunReport, RunError> {
        let Self { plate, other, .. } = self;
        let call = heat::call::heat(plate, other, self.width, self.pairs, STILL);
        let (steps, report) = device.run_with_report(call)?;
        self.steps = steps;
        Ok(report)
    }

    fn serial(&mut self) {
        let Self { plate, other, .. } = self;
        self.steps = heat::heat(plate, other, self.width, self.pairs, STILL);
    }

    fn rayon(&mut self) {
        for _ in 0..self.pairs {
            step(&self.plate, &mut self.other, self.width);
            self.steps += 2;
            if step(&self.other, &mut self.plate, self.width) <= STILL {
                break;
            }
        }
    }

    fn came(&self) -> Came {
        let cells = self.plate.iter().map(|x| x.to_bits());
        Came::exactly(cells.chain([self.steps]).map(u64::from))
    }

    fn plain(&self) -> Option<&'static str> {
        Some("CUDA, a kernel a step")
    }

    fn cuda(&mut self, gpu: &Gpu) -> Result<f64, String> {
        gpu.enter()?;
        let kernel = gpu.kernel("step")?;
        let (width, height) = (self.width as u32, self.height as u32);
        let [plate, other] = [&self.plate, &self.other].map(|cells| gpu.words(&words(cells)));
        let (plate, other, most) = (plate?, other?, gpu.words(&[0])?);
        let start = Instant::now();
        for _ in 0..self.pairs {
            for (from, to) in [(plate, other), (other, plate)] {
                most.fill(0)?;
                let mut params = [
                    Param::Words(from),
                    Param::Words(to),
                    Param::Number(width),
                    Param::Number(height),
                    Param::Words(most),
                ];
                // SAFETY: as `step` declares them; both have a cell for each thread that writes.
                unsafe { gpu.launch(kernel, width * height, &mut params) }?;
            }
            self.steps += 2;
            let mut bits = [0];
            most.read(&mut bits)?;
            if f32::from_bits(bits[0]) <= STILL {
                break;
            }
        }
        gpu.wait()?;
        let seconds = start.elapsed().as_secs_f64();
        let mut bits = vec![0; self.plate.len()];
        plate.read(&mut bits)?;
        let cells = self.plate.iter_mut().zip(bits);
        cells.for_each(|(cell, bits)| *cell = f32::from_bits(bits));
        for memory in [plate, other, most] {
            memory.free()?;
        }
        Ok(seconds)
    }
}
