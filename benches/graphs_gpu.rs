//! Graphs of kernels on a GPU beside what one would write there: breadth-first search beside a kernel a level, the path tracer beside a task
//! that traces a pixel from its first path to its last.

use super::{
    gpu::{By, Devices, Record, Report, Runs, best},
    graphs::bfs_rs,
    nvidia::{Gpu, Param, Words},
    report::say,
};
use millstream::csr::Csr;
use millstream_aggregator::{Device, RunReport};
use millstream_channels_kernel::cuda::nvrtc::Arch;
use std::time::Instant;
use tracer_rs::film::{Film, Scene, graph as tracer_graph, paint};

#[path = "../examples/tracer.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "an example is a program of its own, and its `main` is not wanted"
)]
mod tracer_rs;

/// What the tracer is called in the table.
pub(crate) const TRACER: &str = "tracer";

const MEMORY: u64 = 8 << 30;

/// The kernel that `bfs` is measured beside.
const LEVEL: &str = include_str!("bfs.cu");

/// The rows of graphs, on devices that a memory budget gives. Without a GPU one thread stands in for the rival of CUDA.
pub(crate) fn rows(
    report: &mut Report,
    devices: Devices<'_>,
    gpu: Option<(u32, Arch)>,
    rounds: usize,
    quick: bool,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<(), String> {
    let (search, trace) = (wanted(super::graphs::BFS), wanted(TRACER));
    if search || trace {
        say!(
            "\n| graph | aggregator | kernel, ms | whole, ms | rival | its, ms | kernel / its | elements |\n|---|---|---|---|---|---|---|---|"
        );
    }
    if search {
        let (scale, side) = if quick { (10, 40) } else { (22, 4096) };
        let rmat = Csr::rmat(scale, 16, 1).map_err(|e| e.to_string())?;
        bfs(
            report,
            devices,
            gpu,
            rounds,
            &format!("bfs of R-MAT 2^{scale} x 16"),
            &rmat,
        )?;
        drop(rmat);
        let grid = Csr::grid(side, side, 1).map_err(|e| e.to_string())?;
        bfs(
            report,
            devices,
            gpu,
            rounds,
            &format!("bfs of streets, {side} x {side}"),
            &grid,
        )?;
    }
    if trace {
        let size = if quick { (16, 10, 2) } else { (1280, 800, 16) };
        tracer(report, devices, rounds, size)?;
    }
    Ok(())
}

/// Runs and times it; none if it is the warm-up.
fn time(
    round: usize,
    run: impl FnOnce() -> Result<RunReport, String>,
) -> Result<Option<(f64, RunReport)>, String> {
    let start = Instant::now();
    let report = run()?;
    Ok((round > 0).then(|| (start.elapsed().as_secs_f64(), report)))
}

fn record(
    report: &mut Report,
    program: &str,
    by: By,
    runs: &Runs,
    (rival, seconds): (&'static str, &[f64]),
) {
    let (rival_ms, rival_median_ms) = best(seconds);
    let channels = runs.last().map_or(&[][..], |(_, r)| &r.channels);
    let record = Record {
        rival: Some(rival),
        rival_ms: Some(rival_ms),
        tasks: channels.iter().map(|c| c.elements).sum(),
        ..Record::of(program, &report.gpu, by, MEMORY, runs)
    };
    say!(
        "| {program} | {} | {:.3} ({:.3}) | {:.3} ({:.3}) | {rival} | {rival_ms:.3} ({rival_median_ms:.3}) | {:.2} | {} |",
        record.aggregator,
        record.kernel_ms,
        record.kernel_median_ms,
        record.whole_ms,
        record.whole_median_ms,
        record.kernel_ms / rival_ms,
        record.tasks
    );
    report.records.push(record);
}

fn bfs(
    report: &mut Report,
    devices: Devices<'_>,
    gpu: Option<(u32, Arch)>,
    rounds: usize,
    what: &str,
    csr: &Csr,
) -> Result<(), String> {
    let expected = bfs_rs::serial(csr, 0);
    let (rival, seconds) = match gpu {
        Some((ordinal, arch)) => {
            let levels = Levels::new(ordinal, arch, csr)?;
            let mut seconds = Vec::new();
            for round in 0..=rounds {
                let (took, found) = levels.search(0)?;
                if found != expected {
                    return Err(format!(
                        "{what}: a kernel a level finds other steps than one thread"
                    ));
                }
                seconds.extend((round > 0).then_some(took));
            }
            ("CUDA, a kernel a level", seconds)
        }
        None => {
            let start = Instant::now();
            bfs_rs::serial(csr, 0);
            ("one thread", vec![start.elapsed().as_secs_f64()])
        }
    };
    for (by, device) in devices(&By::AGGREGATORS, MEMORY)? {
        let aggregator = by.aggregator();
        let steps = bfs_rs::unknown(csr);
        let mut ours = bfs_rs::graph(csr, 0, &steps);
        let mut runs = Runs::new();
        for round in 0..=rounds {
            super::graphs::clear(&steps);
            runs.extend(time(round, || {
                ours.run(&device)
                    .map_err(|e| format!("{what} by {aggregator}: {e}"))
            })?);
            if bfs_rs::values(&steps) != expected {
                return Err(format!(
                    "{what} by {aggregator} finds other steps than one thread"
                ));
            }
        }
        record(report, what, by, &runs, (rival, &seconds));
    }
    Ok(())
}

/// The rival: its graph, and its two lists of vertices.
struct Levels {
    gpu: Gpu,
    offsets: Words,
    targets: Words,
    steps: Words,
    lists: [Words; 2],
    found: Words,
    vertices: usize,
}

impl Levels {
    fn new(ordinal: u32, arch: Arch, csr: &Csr) -> Result<Self, String> {
        let gpu = Gpu::new(ordinal, arch, LEVEL)?;
        let vertices = vec![0; csr.vertices()];
        Ok(Self {
            offsets: gpu.words(&csr.offsets)?,
            targets: gpu.words(&csr.targets)?,
            steps: gpu.words(&vertices)?,
            lists: [gpu.words(&vertices)?, gpu.words(&vertices)?],
            found: gpu.words(&[0])?,
            vertices: vertices.len(),
            gpu,
        })
    }

    /// Searches; the seconds from the first launch to the end of the last, and the steps.
    fn search(&self, from: u32) -> Result<(f64, Vec<u32>), String> {
        self.gpu.enter()?;
        let kernel = self.gpu.kernel("level")?;
        let mut steps = vec![bfs_rs::NONE; self.vertices];
        steps[from as usize] = 0;
        self.steps.write(&steps)?;
        self.lists[0].write(&[from])?;
        let start = Instant::now();
        let (mut count, mut step) = (1, 1);
        while count > 0 {
            let (level, next) = (
                self.lists[(step as usize + 1) % 2],
                self.lists[step as usize % 2],
            );
            self.found.fill(0)?;
            let mut params = [
                Param::Words(self.offsets),
                Param::Words(self.targets),
                Param::Words(self.steps),
                Param::Words(level),
                Param::Number(count),
                Param::Words(next),
                Param::Words(self.found),
                Param::Number(step),
            ];
            // SAFETY: as `level` declares them; each vertex is found once, so that a list has room for all.
            unsafe { self.gpu.launch(kernel, count, &mut params) }?;
            let mut found = [0];
            self.found.read(&mut found)?;
            count = found[0];
            step += 1;
        }
        let seconds = start.elapsed().as_secs_f64();
        self.steps.read(&mut steps)?;
        Ok((seconds, steps))
    }
}

fn tracer(
    report: &mut Report,
    devices: Devices<'_>,
    rounds: usize,
    size: (u32, u32, u32),
) -> Result<(), String> {
    let (width, height, samples) = size;
    let what = format!("tracer, {width} x {height} pixels, {samples} paths each");
    for (by, device) in devices(&By::AGGREGATORS, MEMORY)? {
        let aggregator = by.aggregator();
        let failed = |e: millstream::Error| format!("{what} by {aggregator}: {e}");
        let scene = Scene::new(&device).map_err(failed)?;
        let [film, other] = [(); 2].map(|()| Film::new(width, height, samples));
        let mut ours = tracer_graph(&scene, &film);
        let (mut runs, mut rival) = (Runs::new(), Vec::new());
        for round in 0..=rounds {
            film.clear();
            other.clear();
            runs.extend(time(round, || ours.run(&device).map_err(failed))?);
            let painted = time(round, || painted(&device, &scene, &other).map_err(failed))?;
            rival.extend(painted.map(|(_, report)| report.running.as_secs_f64()));
            if film.pixels() != other.pixels() {
                return Err(format!(
                    "{what} by {aggregator}: the graph and the task a pixel differ"
                ));
            }
        }
        record(report, &what, by, &runs, ("a task a pixel", &rival));
    }
    Ok(())
}

fn painted(device: &Device, scene: &Scene, film: &Film) -> Result<RunReport, millstream::Error> {
    device
        .run_with_report(paint(scene, film))
        .map(|((), report)| report)
}

#[cfg(test)]
mod tests {
    use super::super::nvidia::compile;
    use millstream_channels_kernel::cuda::nvrtc::{self, Arch};

    #[test]
    fn the_rival_of_cuda_compiles() {
        if let Err(missing) = nvrtc::find() {
            return eprintln!("SKIPPED: {missing}");
        }
        compile(super::LEVEL, Arch(90)).expect("it is CUDA");
    }
}
