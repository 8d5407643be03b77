//! Graphs of kernels beside what their users would otherwise write: breadth-first search, by rayon level after level, and by one thread.

use super::{
    measure::Times,
    program::Outcome,
    report::{Record, records},
};
use bfs_rs::{NONE, graph, serial};
use millstream::csr::Csr;
use millstream_aggregator::{CpuOptions, Device, RunReport};
use rayon::{ThreadPoolBuilder, iter::ParallelIterator, slice::ParallelSlice};
use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Instant,
};

#[path = "../examples/bfs.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "an example is a program of its own, and its `main` is not wanted"
)]
pub(crate) mod bfs_rs;

/// What it is called in the table.
pub(crate) const BFS: &str = "bfs";

/// Vertices that one of rayon's threads takes at a time: few enough that a hub among them does not keep the others waiting.
const CHUNK: usize = 64;

/// Measures the search on R-MAT with so many threads: ours, rayon's and one thread's in turn.
pub(crate) fn bfs(threads: u32, rounds: usize, quick: bool) -> Result<Vec<Record>, String> {
    let scale = if quick { 12 } else { 20 };
    let csr = Csr::rmat(scale, 16, 1).map_err(|e| e.to_string())?;
    let times = measure(&csr, threads, rounds)?;
    Ok(records(&format!("bfs of R-MAT 2^{scale} x 16"), &times))
}

fn measure(csr: &Csr, threads: u32, rounds: usize) -> Result<Vec<Times>, String> {
    let expected = serial(csr, 0);
    let options = CpuOptions {
        threads: Some(threads),
        ..CpuOptions::default()
    };
    let device = Device::cpu_with(options).map_err(|e| e.to_string())?;
    let pool = ThreadPoolBuilder::new().num_threads(threads as usize);
    let pool = pool.build().map_err(|e| e.to_string())?;
    let steps: Vec<AtomicU32> = (0..csr.vertices()).map(|_| AtomicU32::new(NONE)).collect();
    let mut ours = graph(csr, 0, &steps);
    let mut times =
        [("millstream", threads), ("rayon", threads), ("serial", 1)].map(|(name, threads)| Times {
            name,
            threads,
            seconds: Vec::new(),
            outcome: Outcome::default(),
        });
    // The first round is a warm-up.
    for round in 0..=rounds {
        for times in &mut times {
            clear(&steps);
            let start = Instant::now();
            let (mut report, mut found) = (RunReport::default(), None);
            match times.name {
                "millstream" => report = ours.run(&device).map_err(|e| e.to_string())?,
                "rayon" => pool.install(|| levels(csr, 0, &steps)),
                _ => found = Some(serial(csr, 0)),
            }
            let seconds = start.elapsed().as_secs_f64();
            let came = found.unwrap_or_else(|| values(&steps));
            if came != expected {
                return Err(format!("{} finds other steps than one thread", times.name));
            }
            if round > 0 {
                times.seconds.push(seconds);
                times.outcome.tasks = report.total;
            }
        }
    }
    for times in &mut times {
        times.seconds.sort_by(f64::total_cmp);
    }
    Ok(times.into())
}

/// The search level by level: the vertices of a level are shared by the pool's threads, and no level begins before the last has ended.
fn levels(csr: &Csr, from: u32, steps: &[AtomicU32]) {
    // Relaxed, here and below: whoever finds a vertex on a level writes the same, and the end of the level orders it before the next.
    steps[from as usize].store(0, Ordering::Relaxed);
    let (mut level, mut next) = (vec![from], 1);
    while !level.is_empty() {
        let found = level.par_chunks(CHUNK).map(|vertices| {
            let mut found = Vec::new();
            for vertex in vertices {
                for &target in &csr.targets[csr.edges(*vertex)] {
                    let seen = &steps[target as usize];
                    let is_new = seen.load(Ordering::Relaxed) == NONE
                        && seen
                            .compare_exchange(NONE, next, Ordering::Relaxed, Ordering::Relaxed)
                            .is_ok();
                    if is_new {
                        found.push(target);
                    }
                }
            }
            found
        });
        level = found.collect::<Vec<_>>().concat();
        next += 1;
    }
}

pub(crate) fn clear(steps: &[AtomicU32]) {
    // Relaxed, and below: no run is under way.
    steps.iter().for_each(|s| s.store(NONE, Ordering::Relaxed));
}

fn values(steps: &[AtomicU32]) -> Vec<u32> {
    steps.iter().map(|s| s.load(Ordering::Relaxed)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_find_the_same_steps() {
        let found = bfs(2, 2, true).expect("they agree");
        let rivals: Vec<&str> = found.iter().map(|r| r.rival).collect();
        assert_eq!(rivals, ["rayon", "serial"]);
        assert!(
            found.iter().all(|r| r.tasks > 1000 && r.ratio > 0.0),
            "{found:?}"
        );
    }
}
