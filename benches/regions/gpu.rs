//! The table of a GPU: ours by each aggregator and the plain kernels in turn, and rayon on all cores and the elision on one.
//!
//! Ours is called with the host's memory. *Kernel* and *whole* are as in the table of programs; the plain kernels work on what lies on the GPU already, so
//! that they stand beside our kernel's time. Theirs is by the host's clock: where the host waits between two of them that is in it, as it is in ours.

use super::{
    super::{
        gpu::{By, Devices, Record, Report, best},
        measure::in_turn,
        nvidia::Gpu,
        report::say,
    },
    Region, Who, note, once, regions,
};
use millstream_channels_kernel::cuda::nvrtc::Arch;
use rayon::{ThreadPool, ThreadPoolBuilder};

const MEMORY: u64 = 2 << 30;
/// How often rayon runs a program, and the elision.
const ROUNDS: usize = 3;

/// The rivals' kernels.
const LOOPS: &str = include_str!("loops.cu");

/// The rows of parallel loops, on devices that a memory budget gives. Without a GPU there is no rival of CUDA.
pub(crate) fn rows(
    report: &mut Report,
    devices: Devices<'_>,
    gpu: Option<(u32, Arch)>,
    rounds: usize,
    quick: bool,
) -> Result<(), String> {
    say!(
        "\n| parallel loops | aggregator | kernel, ms | whole, ms | rayon, ms | rayon / whole | serial, ms | serial / whole | rival | its, ms | kernel / its | \
         tasks | dispatches |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    );
    let pool = ThreadPoolBuilder::new().build();
    let pool = pool.map_err(|e| e.to_string())?;
    let plain = match gpu {
        Some((ordinal, arch)) => Some(Gpu::new(ordinal, arch, LOOPS)?),
        None => None,
    };
    for mut region in regions(true, quick) {
        measure(
            report,
            devices,
            (&pool, plain.as_ref()),
            rounds,
            region.as_mut(),
        )?;
    }
    say!("{}", note());
    Ok(())
}

fn measure(
    report: &mut Report,
    devices: Devices<'_>,
    (pool, plain): (&ThreadPool, Option<&Gpu>),
    rounds: usize,
    region: &mut dyn Region,
) -> Result<(), String> {
    let (name, rival) = (region.name(), region.plain().filter(|_| plain.is_some()));
    let mut expected = None;
    let cpu = vec![Who::Serial, Who::Rayon(pool)];
    let cpu = in_turn(cpu, rounds.min(ROUNDS), |who, _| {
        once(region, who, &mut expected).map(Some)
    })?;
    let mut ms = cpu.into_iter().map(|(_, runs)| {
        let seconds: Vec<f64> = runs.iter().map(|run| run.0).collect();
        best(&seconds).0
    });
    let (serial_ms, rayon_ms) = (ms.next(), ms.next());
    let devices = devices(&By::AGGREGATORS, MEMORY)?;
    let mut who: Vec<(Option<By>, Who<'_>)> = devices
        .iter()
        .map(|(by, device)| (Some(*by), Who::Ours(device)))
        .collect();
    if let (Some(gpu), Some(_)) = (plain, rival) {
        who.push((None, Who::Cuda(gpu)));
    }
    let found = in_turn(who, rounds, |(_, who), _| {
        once(region, who, &mut expected).map(Some)
    })?;
    let theirs = found.iter().find(|((by, _), _)| by.is_none());
    let theirs = theirs.map(|(_, runs)| best(&Vec::from_iter(runs.iter().map(|run| run.0))));
    for ((by, _), runs) in &found {
        let Some(by) = by else {
            continue;
        };
        let record = Record {
            rayon_ms,
            rayon_threads: pool.current_num_threads() as u32,
            serial_ms,
            rival,
            rival_ms: theirs.map(|t| t.0),
            ..Record::of(&name, &report.gpu, *by, MEMORY, runs)
        };
        line(&record, theirs);
        report.records.push(record);
    }
    Ok(())
}

/// A row; `theirs` is best and median of the rival of CUDA.
fn line(r: &Record, theirs: Option<(f64, f64)>) {
    let host = |ms: Option<f64>| {
        let ms = ms.unwrap_or(f64::NAN);
        format!("{ms:.3} | {:.2}", ms / r.whole_ms)
    };
    let plain = match (r.rival, theirs) {
        (Some(rival), Some((best, median))) => {
            format!(
                "{rival} | {best:.3} ({median:.3}) | {:.2}",
                r.kernel_ms / best
            )
        }
        _ => "- | - | -".to_owned(),
    };
    say!(
        "| {} | {} | {:.3} ({:.3}) | {:.3} ({:.3}) | {} | {} | {plain} | {} | {} |",
        r.program,
        r.aggregator,
        r.kernel_ms,
        r.kernel_median_ms,
        r.whole_ms,
        r.whole_median_ms,
        host(r.rayon_ms),
        host(r.serial_ms),
        r.tasks,
        r.dispatches
    );
}

#[cfg(test)]
mod tests {
    use super::super::super::nvidia::compile;
    use super::*;
    use millstream_channels_kernel::cuda::nvrtc;

    #[test]
    fn the_rivals_of_cuda_compile() {
        if let Err(missing) = nvrtc::find() {
            return eprintln!("SKIPPED: {missing}");
        }
        compile(LOOPS, Arch(90)).expect("it is CUDA");
    }
}
