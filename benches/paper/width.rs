//! Figure 18 of the channels paper, and Figure 8 of the donation paper: as much memory as channels may take.

use super::{
    super::program::Program,
    figure::{Figure, at, exactly, linear, lines, logarithmic, series},
    lab::{How, Lab, Measured, number},
};
use millstream_aggregator::{Bytes, Observe, RunReport};

/// Bytes for a mark of an axis.
fn bytes(x: f64) -> String {
    Bytes(x as u64).to_string()
}

/// Budgets of channels, the smallest first.
fn budgets(lab: &Lab) -> Vec<u64> {
    let (powers, step) = match (lab.quick, lab.is_gpu()) {
        (true, _) => (22..=24, 2),
        (false, false) => (16..=28, 1),
        (false, true) => (20..=32, 2),
    };
    powers.step_by(step).map(|p| 1 << p).collect()
}

/// Elements that found no room at first: of the CPU those that ran alone with all that came of them, of a GPU wavefronts that were given back.
fn yields(report: &RunReport) -> u64 {
    report.alone + report.nodes.iter().map(|n| n.yields).sum::<u64>()
}

/// **Channels, Figure 18.** What narrow channels cost, and how often they make wavefronts yield. Varied: the bytes that channels may take, which is what
/// bounds our stacks in place of a width. Held: sizes, threads or blocks. Time in milliseconds, and relative to each workload's best.
///
/// A GPU tells which wavefronts were given back only with a timeline, for which programs are compiled anew: there the yields are those of another run of the
/// same call, and that run is not timed.
pub(crate) fn widths(lab: &Lab) -> Result<Figure, String> {
    let mut figure = Figure::new(
        "what narrow channels cost, and how often they yield",
        &[
            "workload",
            "memory_bytes",
            "ms_median",
            "ms_min",
            "ms_max",
            "peak_bytes",
            "tasks",
            "yields",
        ],
    );
    figure.say(
        "Channels paper, Figure 18. Our stacks have no width of their own: what is bounded, and varied here, is the memory of all of them together. \
         Where a line does not begin at the left, less is not enough for a single element.",
    );
    figure.say(match lab.is_gpu() {
        true => "A yield is a wavefront of which elements were given back.",
        false => {
            "A yield is an element that ran alone, with all that came of it, as there was no room for what it spawns; \
             below 4 MiB one thread runs, as each needs 2."
        }
    });
    let (mut slower, mut yielded) = (Vec::new(), Vec::new());
    for program in lab.workloads() {
        let (mut took, mut alone) = (Vec::new(), Vec::new());
        for memory in budgets(lab) {
            let how = How {
                memory: Some(memory),
                ..How::default()
            };
            let Some(measured) = lab.try_run(program, how)? else {
                continue;
            };
            let count = match lab.is_gpu() {
                true => counted(lab, program, how)?,
                false => Some(yields(&measured.report)),
            };
            let Measured { times, report } = measured;
            let [median, least, most] = times.cells();
            figure.row([
                program.to_string(),
                memory.to_string(),
                median,
                least,
                most,
                report.peak.to_string(),
                report.total.to_string(),
                count.map_or(String::new(), |c| c.to_string()),
            ]);
            took.push((memory as f64, times));
            if let Some(count) = count {
                let share = 1e6 * count as f64 / report.total.max(1) as f64;
                alone.push(exactly(memory as f64, share));
            }
        }
        let best = took
            .iter()
            .map(|(_, t)| t.median)
            .fold(f64::INFINITY, f64::min);
        let relative = took.iter().map(|(x, t)| at(*x, t.map(|ms| ms / best)));
        slower.push(series(program.to_string(), relative.collect()));
        yielded.push(series(program.to_string(), alone));
    }
    let across = logarithmic("memory for channels");
    figure.panels = vec![
        lines(
            "Time, of the best",
            across,
            bytes,
            logarithmic("times the best"),
            slower,
        ),
        lines("Yields", across, bytes, linear("yields / M tasks"), yielded),
    ];
    Ok(figure)
}

/// The wavefronts that a GPU gave back in a run that keeps a timeline; not known if there were more than it has room for.
fn counted(lab: &Lab, program: Program, how: How) -> Result<Option<u64>, String> {
    let how = How {
        observe: Observe::TIMELINE,
        ..how
    };
    let report = lab.once(program, how)?;
    Ok((report.timeline.missing() == 0).then(|| yields(&report)))
}

/// **Donation, Figure 8.** What bounded memory costs an irregular workload whose threads donate. Varied: the bytes that channels may take, in place of the
/// size of a bin. Held: the tree and the threads. Time in milliseconds, peak memory in bytes, what was donated: batches of threads, elements of a GPU's
/// workers inside the blocks.
///
/// The paper's other scheme, bins that grow, is not built.
pub(crate) fn memory(lab: &Lab) -> Result<Figure, String> {
    let program = lab.irregular();
    let mut figure = Figure::new(
        "an irregular tree in bounded memory",
        &[
            "memory_bytes",
            "ms_median",
            "ms_min",
            "ms_max",
            "peak_bytes",
            "donated",
            "elements_alone",
            "share_idle",
        ],
    );
    figure.say(format!(
        "Donation paper, Figure 8, for the {program}: the memory of all channels in place of a bin's. {}",
        match lab.is_gpu() {
            true => "Inside the blocks a worker that has nothing is donated elements; how long it waited for them is not known.",
            false => "Threads that are idle are donated batches. Below 4 MiB one thread runs.",
        }
    ));
    let (mut time, mut peak, mut donated) = (Vec::new(), Vec::new(), Vec::new());
    for memory in budgets(lab) {
        let how = How {
            memory: Some(memory),
            ..How::default()
        };
        let Some(Measured { times, report }) = lab.try_run(program, how)? else {
            continue;
        };
        let [median, least, most] = times.cells();
        let batches: u64 = report.workers.iter().map(|w| w.donated).sum();
        let given = batches + report.subtrees.donated;
        let idle: f64 = report.workers.iter().map(|w| w.idle.as_secs_f64()).sum();
        let whole = report.running.as_secs_f64() * report.workers.len() as f64;
        // Threads are its workers; a GPU's are not looked at one by one.
        let idle = match report.workers.is_empty() {
            true => String::new(),
            false => number(idle / whole),
        };
        figure.row([
            memory.to_string(),
            median,
            least,
            most,
            report.peak.to_string(),
            given.to_string(),
            report.alone.to_string(),
            idle,
        ]);
        let x = memory as f64;
        time.push(at(x, times));
        peak.push(exactly(x, report.peak as f64 / f64::from(1 << 20)));
        donated.push(exactly(x, given as f64));
    }
    let across = logarithmic("memory for channels");
    figure.panels = vec![
        lines(
            "Time",
            across,
            bytes,
            linear("ms"),
            vec![series("median", time)],
        ),
        lines(
            "Memory in use",
            across,
            bytes,
            linear("MiB"),
            vec![series("most at one time", peak)],
        ),
    ];
    let of = if lab.is_gpu() { "elements" } else { "batches" };
    figure.panels.push(lines(
        "Donation",
        across,
        bytes,
        linear(of),
        vec![series("donated, last round", donated)],
    ));
    Ok(figure)
}
