//! The table of a GPU: all aggregators, beside rayon on all cores of the host and the elision on one.
//!
//! *Kernel* is the time between two events on the GPU's stream around the run. *Whole* is what the caller waits for: arguments in, the run,
//! results out; what is sorted or multiplied is copied from the host's memory and back, scratch memory lies on the GPU. Strassen's product stands
//! beside the ordinary one, by the same source's `multiply` on the whole matrices.

use super::{
    elision::Elision,
    gpu_rings, graphs_gpu,
    held::{Ready, lowered},
    program::{Contestant, Input, Program},
    rayon_join::Rayon,
    report::{Header, say},
    rings::{Delivered, Rate},
};
use millstream_aggregator::{
    Aggregator, Bytes, CudaOptions, Device, ErasedArg, ErasedCall, RunReport, cuda::driver_version,
};
use millstream_channels_kernel::cuda::nvrtc::Arch;
use serde::Serialize;
use std::time::Instant;

const GIB: u64 = 1 << 30;

/// A level of one element after another: what a dispatch costs.
const CHAIN: (&str, &str) = (
    "chain.rs",
    "#[millstream::program] mod chain {
        #[task] pub fn chain(n: u32, x: u64) -> u64 {
            if n == 0 { return x; }
            let y = spawn!(chain(n - 1, x + 1));
            sync!();
            y ^ x
        }
    }",
);

/// A program on the GPU by one aggregator. Times in milliseconds.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub(crate) struct Record {
    pub(super) program: String,
    pub(super) gpu: String,
    pub(super) aggregator: &'static str,
    pub(super) memory: u64,
    pub(super) kernel_ms: f64,
    pub(super) kernel_median_ms: f64,
    pub(super) whole_ms: f64,
    pub(super) whole_median_ms: f64,
    /// rayon's best time, and its threads.
    pub(super) rayon_ms: Option<f64>,
    pub(super) rayon_threads: u32,
    /// The elision's best time.
    pub(super) serial_ms: Option<f64>,
    /// Another rival, of graphs, and its best time.
    pub(super) rival: Option<&'static str>,
    pub(super) rival_ms: Option<f64>,
    pub(super) tasks: u64,
    pub(super) levels: u64,
    pub(super) dispatches: u64,
    /// Most bytes of channels in use.
    pub(super) peak: u64,
}

/// What `--json` writes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Report {
    header: Header,
    pub(super) gpu: String,
    driver: String,
    /// Elements a second through ring channels.
    rings: Vec<Rate>,
    /// What came through rings of all widths.
    delivered: Vec<Delivered>,
    pub(super) records: Vec<Record>,
}

/// Times of some runs.
#[derive(Default)]
struct Runs {
    kernel: Vec<f64>,
    whole: Vec<f64>,
    report: RunReport,
}

/// The best and the median, in milliseconds.
pub(super) fn best(seconds: &[f64]) -> (f64, f64) {
    let mut sorted = seconds.to_vec();
    sorted.sort_by(f64::total_cmp);
    (
        sorted.first().copied().unwrap_or(f64::NAN) * 1e3,
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN) * 1e3,
    )
}

/// Runs a program on a device, after a warm-up; gives its times, and what it came to.
fn time(
    device: &Device,
    program: Program,
    input: &mut Input,
    rounds: usize,
) -> Result<(Runs, (u64, u64)), String> {
    let mut ready = Ready::new(device, program, input)?;
    let (mut runs, mut came) = (Runs::default(), (0, 0));
    for round in 0..=rounds {
        let start = Instant::now();
        let (report, answer) = ready
            .run(input)
            .map_err(|e| format!("{program} on {}: {e}", device.name()))?;
        let whole = start.elapsed().as_secs_f64();
        if round == 0 {
            came = (answer, input.digest());
            continue;
        }
        runs.kernel.push(report.running.as_secs_f64());
        runs.whole.push(whole);
        runs.report = report;
    }
    Ok((runs, came))
}

/// A row of the table.
struct Row {
    program: Program,
    /// Bytes of channels.
    memory: u64,
    /// How often rayon runs it, and the elision.
    rounds: usize,
    /// Whether the elision is worth waiting for.
    serial: bool,
}

fn rows(quick: bool) -> Vec<Row> {
    let row = |program, memory, rounds| Row {
        program,
        memory,
        rounds,
        serial: true,
    };
    if quick {
        return vec![
            row(Program::Fib(25), GIB, 1),
            row(Program::Queens(9), GIB, 1),
            row(Program::Sort(100_000), GIB, 1),
            row(Program::Strassen(256), GIB, 1),
            row(Program::Multiply(256), GIB, 1),
            row(Program::Fib(10), GIB, 1),
        ];
    }
    vec![
        row(Program::Fib(40), GIB, 3),
        row(Program::Fib(40), 8 * GIB, 3),
        row(Program::Queens(16), 8 * GIB, 1),
        row(Program::Sort(100_000_000), 8 * GIB, 1),
        // A minute each on one core.
        Row {
            serial: false,
            ..row(Program::Strassen(4096), 8 * GIB, 1)
        },
        Row {
            serial: false,
            ..row(Program::Multiply(4096), 8 * GIB, 1)
        },
        row(Program::Fib(10), GIB, 9),
    ]
}

/// The number of the GPU that `--device` names; none for the CPU.
pub(crate) fn ordinal(device: &str) -> Result<Option<u32>, String> {
    match (device, device.strip_prefix("cuda:").map(str::parse)) {
        ("cpu", _) => Ok(None),
        ("cuda", _) => Ok(Some(0)),
        (_, Some(Ok(ordinal))) => Ok(Some(ordinal)),
        _ => Err(format!(
            "there is no device `{device}`; there are cpu and cuda:0"
        )),
    }
}

/// Names of the programs in the table.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    rows(true).into_iter().map(|r| r.program.name())
}

/// Measures on the GPU of that number, prints the table, and gives what goes to a file.
pub(crate) fn table(
    ordinal: u32,
    rounds: usize,
    quick: bool,
    wanted: &dyn Fn(&str) -> bool,
    (rings, delivered): (bool, Option<u64>),
) -> Result<Report, String> {
    let make = |aggregator, memory| {
        Device::cuda_with(CudaOptions {
            ordinal,
            aggregator,
            memory: Some(memory),
            early: false,
            ..CudaOptions::default()
        })
    };
    let gpu = make(Aggregator::Auto, GIB).map_err(|e| e.to_string())?;
    let gpu = gpu.gpu().ok_or("no GPU")?.clone();
    let (major, minor) = driver_version().map_err(|e| e.to_string())?;
    let name = format!("{}, sm_{}, {}", gpu.name, gpu.arch, Bytes(gpu.memory));
    let report = Report {
        header: Header::here(rounds),
        gpu: name,
        driver: format!("CUDA {major}.{minor}"),
        records: Vec::new(),
        rings: Vec::new(),
        delivered: Vec::new(),
    };
    say!(
        "{}, driver for {}; host: {}\n",
        report.gpu,
        report.driver,
        report.header.line()
    );
    let devices = |memory| {
        [
            ("persistent", Aggregator::Persistent),
            ("host thread", Aggregator::HostThread),
            ("auto", Aggregator::Auto),
        ]
        .map(|(name, aggregator)| make(aggregator, memory).map(|device| (name, device)))
        .into_iter()
        .collect::<Result<Vec<_>, _>>()
        .map_err(|e| e.to_string())
    };
    let mut report = fill(report, &devices, rounds, quick, wanted)?;
    if rings {
        report.rings = gpu_rings::rates(ordinal, gpu.arch, rounds, quick)?;
    }
    if let Some(count) = delivered {
        report.delivered = gpu_rings::deliver(ordinal, gpu.arch, count)?;
    }
    let here = Some((ordinal, Arch(gpu.arch)));
    graphs_gpu::rows(&mut report, &devices, here, rounds, quick, wanted)?;
    Ok(report)
}

pub(super) type Devices<'a> = &'a dyn Fn(u64) -> Result<Vec<(&'static str, Device)>, String>;

/// The rows of a report, on devices that a memory budget gives.
fn fill(
    mut report: Report,
    devices: Devices<'_>,
    rounds: usize,
    quick: bool,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Report, String> {
    say!(
        "| program | channels | aggregator | kernel, ms | whole, ms | rayon, ms | rayon / whole | serial, ms | tasks | levels | dispatches | peak |"
    );
    say!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut rayon = Rayon::new(std::thread::available_parallelism().map_or(1, usize::from) as u32)?;
    for Row {
        program,
        memory,
        rounds: cpu_rounds,
        serial,
    } in rows(quick).into_iter().filter(|r| wanted(r.program.name()))
    {
        let mut input = program.input();
        let (on_rayon, expected) = cpu(&mut rayon, program, &mut input, cpu_rounds)?;
        let mut on_one = None;
        if serial {
            let (ms, same) = cpu(&mut Elision, program, &mut input, cpu_rounds)?;
            if same != expected {
                return Err(format!(
                    "{program}: the elision came to {same:?}, rayon to {expected:?}"
                ));
            }
            on_one = Some(ms);
        }
        let serial = on_one.map_or("-".to_owned(), |ms| format!("{ms:.3}"));
        for (aggregator, device) in devices(memory)? {
            let (runs, came) = time(&device, program, &mut input, rounds)?;
            if came != expected {
                return Err(format!(
                    "{program} by {aggregator} came to {came:?}, rayon to {expected:?}"
                ));
            }
            let ((kernel_ms, kernel_median_ms), (whole_ms, whole_median_ms)) =
                (best(&runs.kernel), best(&runs.whole));
            let r = runs.report;
            say!(
                "| {program} | {} | {aggregator} | {kernel_ms:.3} ({kernel_median_ms:.3}) | {whole_ms:.3} ({whole_median_ms:.3}) | {on_rayon:.3} | \
                 {:.1} | {serial} | {} | {} | {} | {} |",
                Bytes(memory),
                on_rayon / whole_ms,
                r.total,
                r.levels,
                r.dispatches,
                Bytes(r.peak)
            );
            report.records.push(Record {
                program: program.to_string(),
                gpu: report.gpu.clone(),
                aggregator,
                memory,
                kernel_ms,
                kernel_median_ms,
                whole_ms,
                whole_median_ms,
                rayon_ms: Some(on_rayon),
                rayon_threads: rayon.threads(),
                serial_ms: on_one,
                rival: None,
                rival_ms: None,
                tasks: r.total,
                levels: r.levels,
                dispatches: r.dispatches,
                peak: r.peak,
            });
        }
    }
    for strassen in report
        .records
        .iter()
        .filter(|r| r.program.starts_with("strassen"))
    {
        let plain = strassen.program.replace("strassen", "multiply");
        for plain in report
            .records
            .iter()
            .filter(|r| r.program == plain && r.aggregator == strassen.aggregator)
        {
            let ratio = strassen.kernel_ms / plain.kernel_ms;
            say!(
                "\n{} takes {ratio:.2} of the time of {}, the ordinary product ({})",
                strassen.program,
                plain.program,
                plain.aggregator
            );
        }
    }
    if wanted("chain") {
        chain(
            &mut report,
            devices,
            rounds,
            if quick { 50 } else { 10_000 },
        )?;
    }
    Ok(report)
}

/// A contestant on the CPU: its best time in milliseconds, and what it came to.
fn cpu(
    contestant: &mut dyn Contestant,
    program: Program,
    input: &mut Input,
    rounds: usize,
) -> Result<(f64, (u64, u64)), String> {
    let (mut seconds, mut came) = (Vec::new(), (0, 0));
    for _ in 0..rounds {
        input.reset();
        let start = Instant::now();
        let outcome = contestant.run(program, input)?;
        seconds.push(start.elapsed().as_secs_f64());
        came = (outcome.answer, input.digest());
    }
    Ok((best(&seconds).0, came))
}

/// What a dispatch of a narrow level costs: levels of one element, down and up again.
fn chain(report: &mut Report, devices: Devices<'_>, rounds: usize, n: u32) -> Result<(), String> {
    let text = lowered(CHAIN)?;
    let task = text.find("chain").ok_or("chain has no task")?;
    say!(
        "\n| chain of {n} | kernel, ms | dispatches | by one warp | us a dispatch |\n|---|---|---|---|---|"
    );
    for (aggregator, device) in devices(GIB)? {
        let loaded = device.load(&text).map_err(|e| e.to_string())?;
        let mut runs = Runs::default();
        for round in 0..=rounds {
            let mut calls = [ErasedCall::new(vec![
                ErasedArg::Scalar(n.into()),
                ErasedArg::Scalar(0),
            ])];
            let start = Instant::now();
            let found = device
                .launch(&loaded, task, &mut calls)
                .map_err(|e| e.to_string())?;
            let expected = (0..u64::from(n)).fold(u64::from(n), |y, x| y ^ x);
            if calls[0].result != expected.to_le_bytes() {
                return Err(format!(
                    "chain by {aggregator} came to {:?}, not {expected}",
                    calls[0].result
                ));
            }
            if round > 0 {
                runs.kernel.push(found.running.as_secs_f64());
                runs.whole.push(start.elapsed().as_secs_f64());
                runs.report = found;
            }
        }
        let ((kernel_ms, kernel_median_ms), (whole_ms, whole_median_ms)) =
            (best(&runs.kernel), best(&runs.whole));
        let r = runs.report;
        say!(
            "| {aggregator} | {kernel_ms:.3} ({kernel_median_ms:.3}) | {} | {} | {:.2} |",
            r.dispatches,
            r.narrow,
            kernel_ms * 1e3 / r.dispatches.max(1) as f64
        );
        report.records.push(Record {
            program: format!("chain of {n}"),
            gpu: report.gpu.clone(),
            aggregator,
            memory: GIB,
            kernel_ms,
            kernel_median_ms,
            whole_ms,
            whole_median_ms,
            rayon_ms: None,
            rayon_threads: 0,
            serial_ms: None,
            rival: None,
            rival_ms: None,
            tasks: r.total,
            levels: r.levels,
            dispatches: r.dispatches,
            peak: r.peak,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use millstream_aggregator::CpuOptions;

    /// The CPU stands for the GPU: all programs run, and come to what rayon comes to.
    #[test]
    fn every_row_is_measured_and_checked() {
        let report = Report {
            header: Header::here(1),
            gpu: "none".into(),
            driver: "none".into(),
            records: Vec::new(),
            rings: Vec::new(),
            delivered: Vec::new(),
        };
        let cpu = |memory| {
            let options = CpuOptions {
                threads: Some(1),
                memory: Some(memory),
                ..CpuOptions::default()
            };
            Ok(vec![(
                "stand-in",
                Device::cpu_with(options).map_err(|e| e.to_string())?,
            )])
        };
        let report = std::thread::Builder::new()
            .stack_size(1 << 30)
            .spawn(move || {
                let mut report = fill(report, &cpu, 1, true, &|_| true)?;
                graphs_gpu::rows(&mut report, &cpu, None, 1, true, &|_| true)?;
                Ok::<_, String>(report)
            })
            .expect("a thread")
            .join()
            .expect("no panic")
            .expect("all agree");
        // A chain, and of graphs two searches and a picture.
        assert_eq!(report.records.len(), rows(true).len() + 1 + 3);
        assert!(
            report
                .records
                .iter()
                .all(|r| r.tasks > 0 && r.whole_ms > 0.0 && r.kernel_ms > 0.0),
            "{report:?}"
        );
    }
}
