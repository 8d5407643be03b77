//! Parallel loops: the examples of wide tasks beside what one would write with rayon's parallel iterators, beside their elision, and on a GPU beside
//! plain kernels of CUDA.
//!
//! - [`Region`]: what all of them have; a module for each program, with its rivals and what it works on
//! - `gpu`: the table of a GPU; `loops.cu`: the rivals' kernels there
//!
//! Ours and the elision have to come to the same bits. So have the rivals, but for sums of floats that they add up in another order: of these a program
//! says how far they may be apart ([`Region::within`]), and the table says of which. What k-means adds up has so few bits that no order shows.

use super::{
    measure::{Times, in_turn},
    nvidia::Gpu,
    program::Outcome,
    report::{Record, records, row, say},
};
use millstream_aggregator::{CpuOptions, Device, RunError, RunReport};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::time::Instant;

mod backprop;
mod floyd;
pub(crate) mod gpu;
mod heat;
mod histogram;
mod kmeans;
mod prefix_sum;
mod quickhull;

/// What they are called in the table.
pub(crate) const REGIONS: &str = "regions";

/// What a run came to.
#[derive(Clone, PartialEq, Debug)]
struct Came {
    /// Of all bits that were written.
    digest: u64,
    /// Floats that depend on the order of sums, if there are any.
    floats: Vec<f64>,
}

impl Came {
    /// Of results whose bits no order changes.
    fn exactly(words: impl IntoIterator<Item = u64>) -> Self {
        let mix = |h: u64, word: u64| (h ^ word).wrapping_mul(0x100_0000_01b3);
        Self {
            digest: words.into_iter().fold(0, mix),
            floats: Vec::new(),
        }
    }

    /// Whether a rival's floats are no farther from these than that, of 1 or of their size; where there are none, or nothing is allowed, bits decide.
    fn agrees(&self, rival: &Self, within: f64) -> bool {
        if within == 0.0 {
            return self.digest == rival.digest;
        }
        let near = |(x, y): (&f64, &f64)| (x - y).abs() <= within * x.abs().max(1.0);
        self.floats.len() == rival.floats.len() && self.floats.iter().zip(&rival.floats).all(near)
    }
}

/// An example with what it works on.
trait Region: Send {
    /// What it is, with its size.
    fn name(&self) -> String;
    /// As before the first run.
    fn reset(&mut self);
    /// By a device of ours.
    fn ours(&mut self, device: &Device) -> Result<RunReport, RunError>;
    /// The elision: rustc's code of the same file.
    fn serial(&mut self);
    /// By rayon's parallel iterators, in the pool that it is called in.
    fn rayon(&mut self);
    /// What the last run came to.
    fn came(&self) -> Came;

    /// How far the rivals' floats may be from ours; 0: they have the same bits.
    fn within(&self) -> f64 {
        0.0
    }

    /// What the rival of CUDA is, if somebody wrote it.
    fn plain(&self) -> Option<&'static str> {
        None
    }

    /// By CUDA's plain kernels, on what lies on the GPU already: the seconds from the first launch to the end of the last, by the host's clock.
    fn cuda(&mut self, _: &Gpu) -> Result<f64, String> {
        Err(format!("{} has no kernels", self.name()))
    }
}

/// Who runs a program.
enum Who<'a> {
    Ours(&'a Device),
    Rayon(&'a ThreadPool),
    Serial,
    Cuda(&'a Gpu),
}

/// Runs a program once: its seconds and its report. What it came to is compared with what is expected, which is what the first one came to.
fn once(
    region: &mut dyn Region,
    who: &Who<'_>,
    expected: &mut Option<Came>,
) -> Result<(f64, RunReport), String> {
    let name = region.name();
    region.reset();
    let start = Instant::now();
    let (mut report, mut seconds) = (RunReport::default(), None);
    match who {
        Who::Ours(device) => {
            let run = region.ours(device);
            report = run.map_err(|e| format!("{name} on {}: {e}", device.name()))?;
        }
        Who::Rayon(pool) => pool.install(|| region.rayon()),
        Who::Serial => region.serial(),
        Who::Cuda(gpu) => seconds = Some(region.cuda(gpu)?),
    }
    let seconds = seconds.unwrap_or_else(|| start.elapsed().as_secs_f64());
    let came = region.came();
    let (who, within) = match who {
        Who::Ours(device) => (device.name(), 0.0),
        Who::Rayon(_) => ("rayon", region.within()),
        Who::Serial => ("the elision", 0.0),
        Who::Cuda(_) => ("the rival of CUDA", region.within()),
    };
    let expected = expected.get_or_insert_with(|| came.clone());
    if expected.agrees(&came, within) {
        return Ok((seconds, report));
    }
    let floats = expected.floats.iter().zip(&came.floats);
    let apart = floats.map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    Err(format!(
        "{name}: what {who} came to has other bits than what the first one came to; floats are {apart:e} apart"
    ))
}

/// The programs: as large as the examples' files have them, or as the measurements on paper; on a GPU those that memory bounds in a large size, too.
fn regions(gpu: bool, quick: bool) -> Vec<Box<dyn Region>> {
    if quick {
        return vec![
            Box::new(quickhull::Quickhull::new(20_000)),
            Box::new(floyd::Floyd::new(70)),
            Box::new(histogram::Histogram::new(100_000, 50)),
            Box::new(kmeans::KMeans::new(5_000, 8, 5)),
            Box::new(heat::Heat::new(60, 40, 5)),
            Box::new(backprop::Backprop::new(200, 8, 10)),
            Box::new(prefix_sum::PrefixSum::new(100_000)),
        ];
    }
    let mut all: Vec<Box<dyn Region>> = vec![
        Box::new(quickhull::Quickhull::new(1_000_000)),
        // A second a run on one core, if it were as large as on a GPU.
        Box::new(floyd::Floyd::new(if gpu { 1024 } else { 512 })),
        Box::new(histogram::Histogram::new(1_000_000, 500)),
        Box::new(kmeans::KMeans::new(100_000, 8, 20)),
        Box::new(heat::Heat::new(200, 150, 40)),
        // Not the file's hundred rounds: in these what the order of sums changes grows from the last bit to a hundredth.
        Box::new(backprop::Backprop::new(1000, 16, 20)),
        Box::new(prefix_sum::PrefixSum::new(1_000_000)),
    ];
    if gpu {
        all.push(Box::new(histogram::Histogram::new(100_000_000, 4000)));
        all.push(Box::new(heat::Heat::new(2048, 2048, 10)));
        all.push(Box::new(prefix_sum::PrefixSum::new(16_000_000)));
    }
    all
}

/// What the table says of results.
pub(crate) fn note() -> String {
    format!(
        "\nOf the parallel loops all rivals come to our bits, but backprop's: they add up its floats in another order, and loss and weights agree within {}.",
        backprop::WITHIN
    )
}

/// Measures all of them on so many threads, prints a row for each and gives the records.
pub(crate) fn rows(threads: u32, rounds: usize, quick: bool) -> Result<Vec<Record>, String> {
    let options = CpuOptions {
        threads: Some(threads),
        ..CpuOptions::default()
    };
    let device = Device::cpu_with(options).map_err(|e| e.to_string())?;
    let pool = ThreadPoolBuilder::new().num_threads(threads as usize);
    let pool = pool.build().map_err(|e| e.to_string())?;
    let mut found = Vec::new();
    for mut region in regions(false, quick) {
        let mut expected = None;
        let who = vec![
            ("millstream", threads, Who::Ours(&device)),
            ("rayon", threads, Who::Rayon(&pool)),
            ("serial elision", 1, Who::Serial),
        ];
        let taken = in_turn(who, rounds, |(.., who), _| {
            once(region.as_mut(), who, &mut expected).map(Some)
        })?;
        let times = taken.into_iter().map(|((name, threads, _), runs)| {
            let mut seconds: Vec<f64> = runs.iter().map(|run| run.0).collect();
            seconds.sort_by(f64::total_cmp);
            let report = runs.into_iter().map(|run| run.1).next_back();
            let report = report.unwrap_or_default();
            Times {
                name,
                threads,
                seconds,
                outcome: Outcome {
                    tasks: report.total,
                    busy: report.workers.iter().map(|w| w.busy).collect(),
                    ..Outcome::default()
                },
            }
        });
        let records = records(&region.name(), &Vec::from_iter(times));
        say!("{}", row(&records));
        found.extend(records);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_come_to_the_same() {
        let found = rows(2, 1, true).expect("they agree");
        assert_eq!(found.len(), 2 * regions(false, true).len());
        for pair in found.chunks(2) {
            assert_eq!(pair[0].program, pair[1].program);
            assert_eq!([pair[0].rival, pair[1].rival], ["rayon", "serial elision"]);
            assert!(
                pair.iter().all(|r| r.tasks > 10 && r.ratio > 0.0),
                "{pair:?}"
            );
        }
    }

    #[test]
    fn rivals_may_differ_by_the_order_of_sums_alone() {
        let came = |digest, float| Came {
            digest,
            floats: vec![float],
        };
        assert!(came(1, 2.0).agrees(&came(2, 2.001), 1e-3));
        assert!(!came(1, 2.0).agrees(&came(1, 2.1), 1e-3));
        assert!(!came(1, 2.0).agrees(&came(2, 2.0), 0.0));
        assert!(!came(1, 2.0).agrees(&came(1, f64::NAN), 1e-3));
        assert_ne!(Came::exactly([1, 2]), Came::exactly([2, 1]));
    }
}
