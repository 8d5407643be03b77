//! The table of a GPU: all aggregators and both tiers, beside rayon on all cores of the host and the elision on one.
//!
//! *Kernel* is the time between two events on the GPU's stream around the run. *Whole* is what the caller waits for: arguments in, the run,
//! results out; what is sorted or multiplied is copied from the host's memory and back, scratch memory lies on the GPU. Strassen's product stands
//! beside the ordinary one, by the same source's `multiply` on the whole matrices.
//!
//! The *policy* says on which tier: across the device, inside the blocks, or as the run is at. Its rows are taken in turn, round by round, and stand
//! beside *device* by the same aggregator. A program of which nothing runs inside the blocks has no row for these.

use super::{
    elision::Elision,
    feed::{self, Fed},
    gpu_rings, graphs_gpu,
    held::{Ready, lowered},
    measure::in_turn,
    program::{Contestant, Input, Program},
    rayon_join::Rayon,
    regions,
    report::{Header, say},
    rings::{Cost, Delivered, Passed, Rate},
};
use millstream_aggregator::{
    Aggregator, Bytes, CudaOptions, Device, ErasedArg, ErasedCall, Policy, RunReport,
    SubtreesReport, cuda::driver_version,
};
use millstream_channels_kernel::cuda::nvrtc::Arch;
use serde::Serialize;
use std::time::Instant;

const MIB: u64 = 1 << 20;
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

/// Who decides, and on which tier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct By {
    aggregator: Aggregator,
    policy: Policy,
}

impl By {
    const PERSISTENT: Self = Self::new(Aggregator::Persistent, Policy::Device);
    const HOST_THREAD: Self = Self::new(Aggregator::HostThread, Policy::Device);
    const DEVICE: Self = Self::new(Aggregator::Auto, Policy::Device);
    const BLOCK: Self = Self::new(Aggregator::Auto, Policy::Block);
    /// As a user gets it.
    const AUTO: Self = Self::new(Aggregator::Auto, Policy::Auto);

    /// The aggregators alone, for what knows one tier only.
    pub(super) const AGGREGATORS: [Self; 3] = [Self::PERSISTENT, Self::HOST_THREAD, Self::AUTO];

    const fn new(aggregator: Aggregator, policy: Policy) -> Self {
        Self { aggregator, policy }
    }

    /// Who is measured with so many bytes of channels: where they are few, it is the tiers that differ.
    fn with(memory: u64) -> Vec<Self> {
        let mut all = vec![Self::DEVICE, Self::BLOCK, Self::AUTO];
        if memory >= GIB {
            all.splice(0..0, [Self::PERSISTENT, Self::HOST_THREAD]);
        }
        all
    }

    pub(super) const fn aggregator(self) -> &'static str {
        match self.aggregator {
            Aggregator::Persistent => "persistent",
            Aggregator::HostThread => "host thread",
            Aggregator::Auto => "auto",
        }
    }

    const fn policy(self) -> &'static str {
        match self.policy {
            Policy::Device => "device",
            Policy::Block => "block",
            Policy::Auto => "auto",
        }
    }
}

/// A program on the GPU by one aggregator and policy. Times in milliseconds.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub(crate) struct Record {
    pub(super) program: String,
    pub(super) gpu: String,
    pub(super) aggregator: &'static str,
    pub(super) policy: &'static str,
    pub(super) memory: u64,
    pub(super) kernel_ms: f64,
    pub(super) kernel_median_ms: f64,
    pub(super) whole_ms: f64,
    pub(super) whole_median_ms: f64,
    /// The best kernel time over that of policy device, by the same aggregator in the same rounds.
    pub(super) to_device: Option<f64>,
    /// rayon's best time, and its threads.
    pub(super) rayon_ms: Option<f64>,
    pub(super) rayon_threads: u32,
    /// The elision's best time.
    pub(super) serial_ms: Option<f64>,
    /// Another rival, of graphs and of parallel loops, and its best time.
    pub(super) rival: Option<&'static str>,
    pub(super) rival_ms: Option<f64>,
    pub(super) tasks: u64,
    pub(super) levels: u64,
    pub(super) dispatches: u64,
    /// What ran inside the blocks.
    pub(super) subtrees: SubtreesReport,
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
    /// What a look and a wavefront cost there.
    costs: Vec<Cost>,
    /// What came through rings of all widths.
    delivered: Vec<Delivered>,
    /// What went through a graph, by each aggregator.
    fed: Vec<Fed>,
    pub(super) records: Vec<Record>,
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

/// Seconds that runs took as a whole, and their reports.
pub(super) type Runs = Vec<(f64, RunReport)>;

impl Record {
    /// What is known of a program's runs alone.
    pub(super) fn of(program: &str, gpu: &str, by: By, memory: u64, runs: &Runs) -> Self {
        let of =
            |seconds: fn(&(f64, RunReport)) -> f64| best(&Vec::from_iter(runs.iter().map(seconds)));
        let (kernel_ms, kernel_median_ms) = of(|run| run.1.running.as_secs_f64());
        let (whole_ms, whole_median_ms) = of(|run| run.0);
        let mut record = Self {
            program: program.to_owned(),
            gpu: gpu.to_owned(),
            aggregator: by.aggregator(),
            policy: by.policy(),
            memory,
            kernel_ms,
            kernel_median_ms,
            whole_ms,
            whole_median_ms,
            ..Self::default()
        };
        if let Some((_, last)) = runs.last() {
            record.tasks = last.total;
            record.levels = last.levels;
            record.dispatches = last.dispatches;
            record.subtrees = last.subtrees;
            record.peak = last.peak;
        }
        record
    }

    /// Best and median of the kernel's time for the table, with the ratio to policy device, and of the whole.
    fn times(&self) -> String {
        let ratio = self.to_device.map_or("-".to_owned(), |r| format!("{r:.2}"));
        format!(
            "{:.3} ({:.3}) | {ratio} | {:.3} ({:.3})",
            self.kernel_ms, self.kernel_median_ms, self.whole_ms, self.whole_median_ms
        )
    }
}

/// Says of records that were taken in turn how they compare with policy device.
fn compare(records: &mut [Record]) {
    let device: Vec<(&str, f64)> = records
        .iter()
        .filter(|r| r.policy == By::DEVICE.policy())
        .map(|r| (r.aggregator, r.kernel_ms))
        .collect();
    for record in records {
        let beside = device.iter().find(|(by, _)| *by == record.aggregator);
        record.to_device = beside.map(|(_, ms)| record.kernel_ms / ms);
    }
}

/// Whether a run says something of its policy: inside the blocks it does if something ran there.
fn says(by: By, report: &RunReport) -> bool {
    by.policy != Policy::Block || report.subtrees.count > 0
}

/// A program in the table.
struct Row {
    program: Program,
    /// Bytes of channels.
    budgets: Vec<u64>,
    /// How often rayon runs it, and the elision.
    rounds: usize,
    /// Whether the elision is worth waiting for.
    serial: bool,
}

fn rows(quick: bool) -> Vec<Row> {
    let row = |program, budgets: &[u64], rounds| Row {
        program,
        budgets: budgets.to_vec(),
        rounds,
        serial: true,
    };
    if quick {
        return vec![
            row(Program::Fib(25), &[GIB, 16 * MIB], 1),
            row(Program::Queens(9), &[GIB, 16 * MIB], 1),
            row(Program::QueensTo(9, 3), &[GIB], 1),
            row(Program::Unbalanced(1, 100), &[GIB], 1),
            row(Program::Sort(100_000), &[GIB], 1),
            row(Program::Strassen(256), &[GIB], 1),
            row(Program::Multiply(256), &[GIB], 1),
            row(Program::Fib(10), &[GIB], 1),
        ];
    }
    vec![
        row(Program::Fib(40), &[8 * GIB, GIB, 128 * MIB, 16 * MIB], 3),
        row(Program::Queens(16), &[8 * GIB, 128 * MIB, 16 * MIB], 1),
        // What the elision takes is that of the row above.
        Row {
            serial: false,
            ..row(Program::QueensTo(16, 7), &[GIB], 1)
        },
        row(Program::TREE, &[GIB], 3),
        row(Program::Sort(100_000_000), &[8 * GIB], 1),
        // A minute each on one core.
        Row {
            serial: false,
            ..row(Program::Strassen(4096), &[8 * GIB], 1)
        },
        Row {
            serial: false,
            ..row(Program::Multiply(4096), &[8 * GIB], 1)
        },
        row(Program::Fib(10), &[GIB], 9),
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
    passed: &Passed,
) -> Result<Report, String> {
    let make = |by: By, memory| {
        Device::cuda_with(CudaOptions {
            ordinal,
            aggregator: by.aggregator,
            policy: by.policy,
            memory: Some(memory),
            early: false,
            ..CudaOptions::default()
        })
    };
    let gpu = make(By::AUTO, GIB).map_err(|e| e.to_string())?;
    let gpu = gpu.gpu().ok_or("no GPU")?.clone();
    let (major, minor) = driver_version().map_err(|e| e.to_string())?;
    let name = format!("{}, sm_{}, {}", gpu.name, gpu.arch, Bytes(gpu.memory));
    let report = Report {
        header: Header::here(rounds),
        gpu: name,
        driver: format!("CUDA {major}.{minor}"),
        records: Vec::new(),
        rings: Vec::new(),
        costs: Vec::new(),
        delivered: Vec::new(),
        fed: Vec::new(),
    };
    say!(
        "{}, driver for {}; host: {}\n",
        report.gpu,
        report.driver,
        report.header.line()
    );
    let devices = |by: &[By], memory| {
        by.iter()
            .map(|by| make(*by, memory).map(|device| (*by, device)))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|e| e.to_string())
    };
    let mut report = fill(report, &devices, rounds, quick, wanted)?;
    if passed.rings {
        report.rings = gpu_rings::rates(ordinal, gpu.arch, rounds, quick)?;
        report.costs = gpu_rings::costs(ordinal, gpu.arch, quick)?;
    }
    if let Some(count) = passed.delivered {
        report.delivered = gpu_rings::deliver(ordinal, gpu.arch, count)?;
    }
    if let Some(time) = passed.fed {
        feed::head();
        let device = make(By::AUTO, GIB).map_err(|e| e.to_string())?;
        report.fed.push(feed::feed(&device, &gpu.name, time)?);
    }
    let here = Some((ordinal, Arch(gpu.arch)));
    graphs_gpu::rows(&mut report, &devices, here, rounds, quick, wanted)?;
    if wanted(regions::REGIONS) {
        regions::gpu::rows(&mut report, &devices, here, rounds, quick)?;
    }
    Ok(report)
}

pub(super) type Devices<'a> = &'a dyn Fn(&[By], u64) -> Result<Vec<(By, Device)>, String>;

/// The rows of a report, on devices that a memory budget gives.
fn fill(
    mut report: Report,
    devices: Devices<'_>,
    rounds: usize,
    quick: bool,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Report, String> {
    let rows = rows(quick);
    if rows.iter().any(|r| wanted(r.program.name())) {
        say!(
            "| program | channels | aggregator | policy | kernel, ms | to device | whole, ms | rayon, ms | rayon / whole | serial, ms | tasks | levels | \
             dispatches | inside the blocks | donated | peak |"
        );
        say!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    }
    let mut rayon = Rayon::new(std::thread::available_parallelism().map_or(1, usize::from) as u32)?;
    for row in rows.iter().filter(|r| wanted(r.program.name())) {
        program(&mut report, &mut rayon, devices, row, rounds)?;
    }
    for strassen in report
        .records
        .iter()
        .filter(|r| r.program.starts_with("strassen"))
    {
        let plain = strassen.program.replace("strassen", "multiply");
        for plain in report.records.iter().filter(|r| {
            (&r.program, r.aggregator, r.policy) == (&plain, strassen.aggregator, strassen.policy)
        }) {
            let ratio = strassen.kernel_ms / plain.kernel_ms;
            say!(
                "\n{} takes {ratio:.2} of the time of {}, the ordinary product ({}, policy {})",
                strassen.program,
                plain.program,
                plain.aggregator,
                plain.policy
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

/// A program's rows: with each budget all devices in turn.
fn program(
    report: &mut Report,
    rayon: &mut Rayon,
    devices: Devices<'_>,
    row: &Row,
    rounds: usize,
) -> Result<(), String> {
    let program = row.program;
    let mut input = program.input();
    let (on_rayon, expected) = cpu(rayon, program, &mut input, row.rounds)?;
    let mut on_one = None;
    if row.serial {
        let (ms, same) = cpu(&mut Elision, program, &mut input, row.rounds)?;
        if same != expected {
            return Err(format!(
                "{program}: the elision came to {same:?}, rayon to {expected:?}"
            ));
        }
        on_one = Some(ms);
    }
    let serial = on_one.map_or("-".to_owned(), |ms| format!("{ms:.3}"));
    for &memory in &row.budgets {
        let devices = devices(&By::with(memory), memory)?;
        let ready = devices.iter().map(|(by, device)| {
            let ready = Ready::new(device, program, &input)?;
            Ok((*by, ready))
        });
        let ready = ready.collect::<Result<Vec<_>, String>>()?;
        let found = in_turn(ready, rounds, |(by, ready), round| {
            let start = Instant::now();
            let (report, answer) = ready
                .run(&mut input)
                .map_err(|e| format!("{program} by {by:?} in {}: {e}", Bytes(memory)))?;
            let whole = start.elapsed().as_secs_f64();
            // What is written is long, and looked at once.
            let written = if round == 0 {
                input.digest()
            } else {
                expected.1
            };
            let came = (answer, written);
            if came != expected {
                return Err(format!(
                    "{program} by {by:?} in {} came to {came:?}, rayon to {expected:?}",
                    Bytes(memory)
                ));
            }
            Ok(says(*by, &report).then_some((whole, report)))
        })?;
        let mut records: Vec<Record> = found
            .into_iter()
            .map(|((by, _), runs)| Record {
                rayon_ms: Some(on_rayon),
                rayon_threads: rayon.threads(),
                serial_ms: on_one,
                ..Record::of(&program.to_string(), &report.gpu, by, memory, &runs)
            })
            .collect();
        compare(&mut records);
        for r in &records {
            say!(
                "| {program} | {} | {} | {} | {} | {on_rayon:.3} | {:.1} | {serial} | {} | {} | {} | {} | {} | {} |",
                Bytes(memory),
                r.aggregator,
                r.policy,
                r.times(),
                on_rayon / r.whole_ms,
                r.tasks,
                r.levels,
                r.dispatches,
                r.subtrees.dispatches,
                r.subtrees.donated,
                Bytes(r.peak)
            );
        }
        report.records.extend(records);
    }
    Ok(())
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
        let outcome = contestant.run(program, input, true)?;
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
        "\n| chain of {n} | policy | kernel, ms | to device | whole, ms | dispatches | by one warp | inside the blocks | us a dispatch |\n|---|---|---|---|---|---|---|---|---|"
    );
    let expected = (0..u64::from(n)).fold(u64::from(n), |y, x| y ^ x);
    let devices = devices(&By::with(GIB), GIB)?;
    let loaded = devices.iter().map(|(by, device)| {
        let loaded = device.load(&text).map_err(|e| e.to_string())?;
        Ok((*by, device, loaded))
    });
    let loaded = loaded.collect::<Result<Vec<_>, String>>()?;
    let found = in_turn(loaded, rounds, |(by, device, loaded), _| {
        let mut calls = [ErasedCall::new(vec![
            ErasedArg::Scalar(n.into()),
            ErasedArg::Scalar(0),
        ])];
        let start = Instant::now();
        let found = device
            .launch(loaded, task, &mut calls)
            .map_err(|e| format!("chain by {by:?}: {e}"))?;
        let whole = start.elapsed().as_secs_f64();
        if calls[0].result != expected.to_le_bytes() {
            return Err(format!(
                "chain by {by:?} came to {:?}, not {expected}",
                calls[0].result
            ));
        }
        Ok(says(*by, &found).then_some((whole, found)))
    })?;
    let program = format!("chain of {n}");
    let narrow: Vec<u64> = found
        .iter()
        .map(|(_, runs)| runs.last().map_or(0, |(_, r)| r.narrow))
        .collect();
    let mut records: Vec<Record> = found
        .iter()
        .map(|((by, ..), runs)| Record::of(&program, &report.gpu, *by, GIB, runs))
        .collect();
    compare(&mut records);
    for (r, narrow) in records.iter().zip(narrow) {
        say!(
            "| {} | {} | {} | {} | {narrow} | {} | {:.2} |",
            r.aggregator,
            r.policy,
            r.times(),
            r.dispatches,
            r.subtrees.dispatches,
            // Those of a worker are its own.
            r.kernel_ms * 1e3 / r.dispatches.max(r.subtrees.dispatches).max(1) as f64
        );
    }
    report.records.extend(records);
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
            costs: Vec::new(),
            delivered: Vec::new(),
            fed: Vec::new(),
        };
        let cpu = |by: &[By], memory| {
            let options = CpuOptions {
                threads: Some(1),
                memory: Some(memory),
                ..CpuOptions::default()
            };
            let device = |by: &By| Device::cpu_with(options).map(|device| (*by, device));
            by.iter()
                .map(device)
                .collect::<Result<Vec<_>, _>>()
                .map_err(|e| e.to_string())
        };
        let report = std::thread::Builder::new()
            .stack_size(1 << 30)
            .spawn(move || {
                let mut report = fill(report, &cpu, 1, true, &|_| true)?;
                graphs_gpu::rows(&mut report, &cpu, None, 1, true, &|_| true)?;
                regions::gpu::rows(&mut report, &cpu, None, 1, true)?;
                Ok::<_, String>(report)
            })
            .expect("a thread")
            .join()
            .expect("no panic")
            .expect("all agree");
        // Nothing runs inside the blocks of a CPU. A chain, of graphs two searches and a picture, seven of loops.
        let each = |memory| By::with(memory).len() - 1;
        let programs: usize = rows(true)
            .iter()
            .flat_map(|row| row.budgets.iter().map(|memory| each(*memory)))
            .sum();
        assert_eq!(
            report.records.len(),
            programs + each(GIB) + (3 + 7) * By::AGGREGATORS.len()
        );
        assert!(report.records.iter().all(|r| r.policy != "block"));
        assert!(
            report
                .records
                .iter()
                .all(|r| r.tasks > 0 && r.whole_ms > 0.0 && r.kernel_ms > 0.0),
            "{report:?}"
        );
    }

    #[test]
    fn policies_stand_beside_device_by_the_same_aggregator() {
        let record = |by: By, ms: u64, inside| {
            let mut run = RunReport::default();
            run.running = std::time::Duration::from_millis(ms);
            run.subtrees.count = inside;
            let told = says(by, &run);
            (told, Record::of("fib", "none", by, GIB, &vec![(1.0, run)]))
        };
        let (told, mut records): (Vec<bool>, Vec<Record>) = [
            record(By::PERSISTENT, 2, 0),
            record(By::DEVICE, 8, 0),
            record(By::BLOCK, 4, 1),
            record(By::BLOCK, 4, 0),
            record(By::AUTO, 16, 0),
        ]
        .into_iter()
        .unzip();
        assert_eq!(told, [true, true, true, false, true]);
        compare(&mut records);
        let ratios: Vec<Option<f64>> = records.iter().map(|r| r.to_device).collect();
        let [one, half] = [Some(1.0), Some(0.5)];
        assert_eq!(ratios, [one, one, half, half, Some(2.0)]);
        // Nobody to be compared with.
        compare(&mut records[2..]);
        assert!(records[2].to_device.is_none());
        let json = serde_json::to_string(&records[1]).expect("JSON");
        for part in [
            "\"policy\":\"device\"",
            "\"to_device\":1.0",
            "\"subtrees\":{\"count\":0",
        ] {
            assert!(json.contains(part), "{json}");
        }
    }
}
