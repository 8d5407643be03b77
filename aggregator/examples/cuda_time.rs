//! Times programs of `examples/` on a GPU, from their sources; every result is checked.
//!
//! `cuda_time WHAT.. [KEY=VALUE..]`: `fib=40`, `queens=16`, `sort=100000000`, `strassen=4096`, `multiply=4096`, each as often as it is named,
//! by the settings that stand before it: `gib=8`, `blocks=4`, `times=5`, `host=1`, `persistent=1`, `grain=32` of a sort, `levels=4`
//! of matrix products, `from=FOLDER` of the sources, `CONSTANT:=64` (a constant of the program's source).

use millstream_aggregator::{
    Aggregator, Buffer, CudaOptions, Device, ErasedArg, ErasedCall, MemoryArg, RunReport,
};
use millstream_cilk_lower::{lower::lower, parse_file};
use millstream_graph::levelized::Levelized;
use std::{process::ExitCode, sync::Arc, time::Duration};

struct Settings {
    gib: f64,
    blocks: u32,
    times: usize,
    aggregator: Aggregator,
    grain: usize,
    levels: usize,
    from: String,
    constants: Vec<(String, String)>,
}

fn program(name: &str, settings: &Settings) -> Arc<Levelized> {
    let file = format!("{}/{name}.rs", settings.from);
    let mut text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{file}: {e}"));
    for (constant, value) in &settings.constants {
        let start = format!("const {constant}: usize = ");
        if let Some(at) = text.find(&start) {
            let from = at + start.len();
            let to = from
                + text[from..]
                    .find(';')
                    .expect("a constant ends with a semicolon");
            text.replace_range(from..to, value);
        }
    }
    let program = parse_file(&text, &file, Some(name)).unwrap_or_else(|e| panic!("{e}"));
    Arc::new(lower(&program).unwrap_or_else(|e| panic!("{e:?}")))
}

fn number<'a>(n: usize) -> ErasedArg<'a> {
    ErasedArg::Scalar(n as u64)
}

/// A buffer with the numbers that follow it.
fn pieces<'a>(buffer: MemoryArg<'a>, numbers: &[usize]) -> Vec<ErasedArg<'a>> {
    std::iter::once(ErasedArg::Memory(buffer))
        .chain(numbers.iter().map(|n| number(*n)))
        .collect()
}

fn random(count: usize) -> Vec<u32> {
    let mut state = 1u64;
    let next = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    };
    (0..count).map(next).collect()
}

fn device(settings: &Settings) -> Device {
    let memory = Some((settings.gib * (1u64 << 30) as f64) as u64);
    let options = CudaOptions {
        aggregator: settings.aggregator,
        memory,
        min_blocks: settings.blocks,
        watchdog: Duration::from_secs(5),
        early: false,
        ..CudaOptions::default()
    };
    Device::cuda_with(options).unwrap_or_else(|e| panic!("{e}"))
}

fn zeros(device: &Device, len: usize) -> Buffer<f32> {
    device.zeros(len).unwrap_or_else(|e| panic!("{e}"))
}

/// Runs it several times; `call` prepares the arguments, and `good` looks at the result.
fn time(
    device: &Device,
    what: &str,
    name: &str,
    task: &str,
    settings: &Settings,
    mut run: impl FnMut(&mut dyn FnMut(Vec<ErasedArg<'_>>) -> (Vec<u8>, RunReport)) -> (bool, RunReport),
) -> bool {
    let lowered = program(name, settings);
    let loaded = device.load(&lowered).unwrap_or_else(|e| panic!("{e}"));
    let id = lowered
        .find(task)
        .unwrap_or_else(|| panic!("no task {task}"));
    let mut launch = |args: Vec<ErasedArg<'_>>| {
        let mut calls = [ErasedCall::new(args)];
        let report = device
            .launch(&loaded, id, &mut calls)
            .unwrap_or_else(|e| panic!("{what}: {e}"));
        (std::mem::take(&mut calls[0].result), report)
    };
    let (mut good, mut times, mut last) = (true, Vec::new(), None);
    for _ in 0..settings.times {
        let (same, report) = run(&mut launch);
        good &= same;
        times.push(report.running.as_secs_f64() * 1e3);
        last = Some(report);
    }
    let Some(report) = last else { return false };
    let first = times[0];
    times.sort_by(f64::total_cmp);
    println!(
        "{} {what} {:?} {:.2} GiB {:?}: best {:.3} ms, median {:.3}, first {first:.3}; {} dispatches, {} tasks, {:.2} G/s, {} levels, peak {:.0} MB",
        if good { "ok  " } else { "FAIL" },
        settings.aggregator,
        settings.gib,
        settings.constants,
        times[0],
        times[times.len() / 2],
        report.dispatches,
        report.total,
        report.total as f64 / times[0] / 1e6,
        report.levels,
        report.peak as f64 / 1e6,
    );
    good
}

fn measure(what: &str, n: usize, settings: &Settings) -> bool {
    let title = format!("{what}({n})");
    let device = device(settings);
    match what {
        "fib" => {
            let expected = (0..n).fold((0u64, 1u64), |(a, b), _| (b, a + b)).0;
            time(&device, &title, "fib", "fib", settings, |launch| {
                let (result, report) = launch(vec![number(n)]);
                (result == expected.to_le_bytes(), report)
            })
        }
        "queens" => {
            let known = [
                1u64, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365_596, 2_279_184,
                14_772_512, 95_815_104,
            ];
            time(&device, &title, "queens", "queens", settings, |launch| {
                let (result, report) = launch(vec![number(n)]);
                (result == known[n].to_le_bytes(), report)
            })
        }
        "sort" => {
            let input: Vec<i32> = random(n).into_iter().map(|x| x as i32).collect();
            // The same numbers, whatever their order.
            let digest = |data: &[i32]| {
                data.iter().fold(0u64, |sum, x| {
                    sum.wrapping_add(
                        (*x as u64)
                            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                            .rotate_left(29),
                    )
                })
            };
            let expected = digest(&input);
            let mut data: Buffer<i32> = device.zeros(n).unwrap_or_else(|e| panic!("{e}"));
            let mut tmp: Buffer<i32> = device.zeros(n).unwrap_or_else(|e| panic!("{e}"));
            let title = format!("{title} by {}", settings.grain);
            time(&device, &title, "sort", "sort_by", settings, |launch| {
                data.try_write(&input).unwrap_or_else(|e| panic!("{e}"));
                let mut args = pieces(MemoryArg::buffer_mut(&mut data), &[n]);
                args.extend(pieces(
                    MemoryArg::buffer_mut(&mut tmp),
                    &[n, settings.grain],
                ));
                let (_, report) = launch(args);
                let sorted = data.try_read().unwrap_or_else(|e| panic!("{e}"));
                (sorted.is_sorted() && digest(&sorted) == expected, report)
            })
        }
        "strassen" | "multiply" => {
            let small = |x: u32| (x % 9) as f32 - 4.0;
            let all: Vec<f32> = random(2 * n * n).into_iter().map(small).collect();
            let (a, b) = all.split_at(n * n);
            fn scratch_len(n: usize, levels: usize) -> usize {
                if levels == 0 || n % 2 == 1 {
                    0
                } else {
                    7 * (3 * (n / 2) * (n / 2) + scratch_len(n / 2, levels - 1))
                }
            }
            let levels = if what == "strassen" {
                settings.levels
            } else {
                0
            };
            let len = scratch_len(n, levels);
            let (mut on_a, mut on_b) = (zeros(&device, n * n), zeros(&device, n * n));
            let (mut c, mut scratch) = (zeros(&device, n * n), zeros(&device, len));
            on_a.try_write(a)
                .and_then(|()| on_b.try_write(b))
                .unwrap_or_else(|e| panic!("{e}"));
            let title = format!("{title}, {levels} levels");
            // Small integers: sums are exact as long as they are small. Some numbers of the product are looked at.
            time(&device, &title, "strassen", what, settings, |launch| {
                c.try_write(&vec![f32::NAN; n * n])
                    .unwrap_or_else(|e| panic!("{e}"));
                let mut args = pieces(MemoryArg::buffer_mut(&mut c), &[n, n, n]);
                args.extend(pieces(MemoryArg::buffer(&on_a), &[n, n, n]));
                args.extend(pieces(MemoryArg::buffer(&on_b), &[n, n, n]));
                if what == "strassen" {
                    args.extend(pieces(MemoryArg::buffer_mut(&mut scratch), &[len]));
                }
                let (_, report) = launch(args);
                let c = c.try_read().unwrap_or_else(|e| panic!("{e}"));
                let at = |i: usize, j: usize| {
                    (0..n)
                        .map(|k| f64::from(a[i * n + k]) * f64::from(b[k * n + j]))
                        .sum::<f64>() as f32
                };
                let good = c.iter().all(|x| !x.is_nan())
                    && (0..n)
                        .step_by(37)
                        .all(|i| c[i * n + (i * 31) % n] == at(i, (i * 31) % n));
                (good, report)
            })
        }
        _ => panic!("nothing is called {what}"),
    }
}

fn main() -> ExitCode {
    let mut settings = Settings {
        gib: 8.0,
        blocks: CudaOptions::default().min_blocks,
        times: 5,
        aggregator: Aggregator::default(),
        grain: 64,
        levels: 4,
        from: "examples".to_owned(),
        constants: Vec::new(),
    };
    let mut good = true;
    for arg in std::env::args().skip(1) {
        if let Some((constant, value)) = arg.split_once(":=") {
            settings.constants.retain(|(c, _)| c != constant);
            settings
                .constants
                .push((constant.to_owned(), value.to_owned()));
            continue;
        }
        let (key, value) = arg
            .split_once('=')
            .unwrap_or_else(|| panic!("{arg}: not KEY=VALUE"));
        if key == "from" {
            value.clone_into(&mut settings.from);
            continue;
        }
        let number: f64 = value.parse().unwrap_or_else(|e| panic!("{arg}: {e}"));
        match key {
            "gib" => settings.gib = number,
            "blocks" => settings.blocks = number as u32,
            "times" => settings.times = number as usize,
            "host" if number == 1.0 => settings.aggregator = Aggregator::HostThread,
            "persistent" if number == 1.0 => settings.aggregator = Aggregator::Persistent,
            "grain" => settings.grain = number as usize,
            "levels" => settings.levels = number as usize,
            what => good &= measure(what, number as usize, &settings),
        }
    }
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
