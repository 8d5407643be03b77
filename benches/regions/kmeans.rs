//! k-means, beside one that sums up the points of all centres in one pass.

use super::{
    super::{
        elision::kmeans::{self, Point},
        nvidia::{Gpu, Param},
    },
    Came, Region,
};
use millstream_aggregator::{Device, RunError, RunReport};
use rayon::iter::{
    IndexedParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator, ParallelIterator,
};
use std::time::Instant;

/// Points that one of rayon's threads looks at, at least.
const LEAST: usize = 1024;
/// Most centres of the plain kernel, which has a place in a block's shared memory for each.
const CENTRES: usize = 64;

/// Random points of a square. Their coordinates have 24 bits behind the point, so that sums of all of them have no more than an `f64` has, and come to the
/// same in any order.
pub(super) struct KMeans {
    points: Vec<Point>,
    start: Vec<Point>,
    centres: Vec<Point>,
    nearest: Vec<u32>,
    most_rounds: u32,
    rounds: u32,
}

impl KMeans {
    pub(super) fn new(count: u32, centres: usize, most_rounds: u32) -> Self {
        let mix = |i: u32| (i ^ i >> 15).wrapping_mul(0x2c1b_3c6d);
        let random = |i: u32| ((mix(i) ^ mix(i) >> 12) >> 8) as f32 / 16_777_216.0;
        let point = |i| Point {
            x: random(2 * i + 1),
            y: random(2 * i + 2),
        };
        let points: Vec<Point> = (0..count).map(point).collect();
        let each = points.len() / centres.clamp(1, CENTRES);
        let start: Vec<Point> = points.iter().step_by(each).take(centres).copied().collect();
        Self {
            centres: start.clone(),
            start,
            nearest: vec![u32::MAX; points.len()],
            points,
            most_rounds,
            rounds: 0,
        }
    }

    /// Gives each point its nearest centre; how many got another one.
    fn assign(&mut self) -> usize {
        let centres = &self.centres;
        let own = self.points.par_iter().zip(self.nearest.par_iter_mut());
        let changed = own.with_min_len(LEAST).filter_map(|(point, own)| {
            let mut best = (0, distance(*point, centres[0]));
            for (i, centre) in (1..).zip(&centres[1..]) {
                let distance = distance(*point, *centre);
                if distance < best.1 {
                    best = (i, distance);
                }
            }
            (std::mem::replace(own, best.0) != best.0).then_some(())
        });
        changed.count()
    }

    fn advance(&mut self) {
        let none = || vec![(0.0f64, 0.0f64, 0u32); self.start.len()];
        let pairs = self.points.par_iter().zip(self.nearest.par_iter());
        let sums = pairs
            .with_min_len(LEAST)
            .fold(none, |mut sums, (point, own)| {
                let sum = &mut sums[*own as usize];
                *sum = (
                    sum.0 + f64::from(point.x),
                    sum.1 + f64::from(point.y),
                    sum.2 + 1,
                );
                sums
            });
        let sums = sums.reduce(none, |mut sums, others| {
            for (sum, other) in sums.iter_mut().zip(others) {
                *sum = (sum.0 + other.0, sum.1 + other.1, sum.2 + other.2);
            }
            sums
        });
        for (centre, (x, y, count)) in self.centres.iter_mut().zip(sums) {
            if count > 0 {
                *centre = Point {
                    x: (x / f64::from(count)) as f32,
                    y: (y / f64::from(count)) as f32,
                };
            }
        }
    }
}

fn distance(a: Point, b: Point) -> f32 {
    let (x, y) = (a.x - b.x, a.y - b.y);
    x * x + y * y
}

fn words(points: &[Point]) -> Vec<u32> {
    let words = points.iter().flat_map(|p| [p.x.to_bits(), p.y.to_bits()]);
    words.collect()
}

impl Region for KMeans {
    fn name(&self) -> String {
        format!(
            "kmeans of {} points, {} centres, {} rounds",
            self.points.len(),
            self.start.len(),
            self.most_rounds
        )
    }

    fn reset(&mut self) {
        self.centres.copy_from_slice(&self.start);
        self.nearest.fill(u32::MAX);
        self.rounds = 0;
    }

    fn ours(&mut self, device: &Device) -> Result<RunReport, RunError> {
        let Self {
            points,
            centres,
            nearest,
            ..
        } = self;
        let call = kmeans::call::kmeans(&*points, centres, nearest, self.most_rounds);
        let (rounds, report) = device.run_with_report(call)?;
        self.rounds = rounds;
        Ok(report)
    }

    fn serial(&mut self) {
        self.rounds = kmeans::kmeans(
            &self.points,
            &mut self.centres,
            &mut self.nearest,
            self.most_rounds,
        );
    }

    fn rayon(&mut self) {
        while self.rounds < self.most_rounds && self.assign() > 0 {
            self.advance();
            self.rounds += 1;
        }
    }

    fn came(&self) -> Came {
        let numbers = words(&self.centres).into_iter().chain([self.rounds]);
        Came::exactly(numbers.chain(self.nearest.iter().copied()).map(u64::from))
    }

    fn plain(&self) -> Option<&'static str> {
        Some("CUDA, sums by atomics of blocks")
    }

    fn cuda(&mut self, gpu: &Gpu) -> Result<f64, String> {
        gpu.enter()?;
        let (assign, advance) = (gpu.kernel("assign")?, gpu.kernel("advance")?);
        let (count, k) = (self.points.len() as u32, self.start.len() as u32);
        if k as usize > CENTRES {
            return Err(format!("the kernel has room for {CENTRES} centres"));
        }
        let (points, centres) = (
            gpu.words(&words(&self.points))?,
            gpu.words(&words(&self.centres))?,
        );
        let nearest = gpu.words(&self.nearest)?;
        // An `f64` is two words.
        let sums = gpu.words(&vec![0; 4 * k as usize])?;
        let (counts, changed) = (gpu.words(&vec![0; k as usize])?, gpu.words(&[0])?);
        let start = Instant::now();
        while self.rounds < self.most_rounds {
            changed.fill(0)?;
            let mut of_points = [
                Param::Words(points),
                Param::Number(count),
                Param::Words(centres),
                Param::Number(k),
                Param::Words(nearest),
                Param::Words(sums),
                Param::Words(counts),
                Param::Words(changed),
            ];
            // SAFETY: as `assign` declares them; there are two coordinates to a point, and no more centres than it has room for.
            unsafe { gpu.launch(assign, count, &mut of_points) }?;
            let mut moved = [0];
            changed.read(&mut moved)?;
            if moved == [0] {
                break;
            }
            let mut of_centres = [
                Param::Words(centres),
                Param::Number(k),
                Param::Words(sums),
                Param::Words(counts),
            ];
            // SAFETY: as `advance` declares them.
            unsafe { gpu.launch(advance, k, &mut of_centres) }?;
            self.rounds += 1;
        }
        gpu.wait()?;
        let seconds = start.elapsed().as_secs_f64();
        let mut found = vec![0; 2 * k as usize];
        centres.read(&mut found)?;
        for (centre, found) in self.centres.iter_mut().zip(found.chunks_exact(2)) {
            *centre = Point {
                x: f32::from_bits(found[0]),
                y: f32::from_bits(found[1]),
            };
        }
        nearest.read(&mut self.nearest)?;
        for memory in [points, centres, nearest, sums, counts, changed] {
            memory.free()?;
        }
        Ok(seconds)
    }
}
