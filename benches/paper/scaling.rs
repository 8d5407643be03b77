//! Figure 15 of the channels paper, and Figure 3 of GTaP's.

use super::{
    figure::{Figure, at, linear, lines, logarithmic, series},
    lab::{How, Lab, Measured, number},
};
use crate::plot::chart::{Point, Series};
use millstream_aggregator::{Aggregator, Policy};
use millstream_channels_kernel::cuda::abi::kernel::PERSISTENT;

/// **Channels, Figure 15; GTaP, Figure 3.** How the workloads scale. Varied: compute units, which are threads of the CPU, or blocks of the GPU's
/// persistent kernel. Held: sizes and memory. Time in milliseconds, and how many times as fast as one unit.
pub(crate) fn figure(lab: &Lab) -> Result<Figure, String> {
    let mut figure = Figure::new(
        "how the workloads scale with compute units",
        &[
            "workload",
            "units",
            "ms_median",
            "ms_min",
            "ms_max",
            "times_as_fast_as_one",
        ],
    );
    figure.say(match lab.gpu() {
        Some(gpu) => format!(
            "Channels paper, Figure 15: a compute unit is a block of 256 threads of the persistent kernel, whose first warp decides. The GPU puts one on each \
             multiprocessor first: up to {} the units are multiprocessors that hold one block, beyond that they share them.",
            gpu.multiprocessors
        ),
        None => "Channels paper, Figure 15: a compute unit is a thread, which is an aggregator of its own. There are no more of them than cores.".into(),
    });
    let (mut times, mut faster): (Vec<Series>, Vec<Series>) = (Vec::new(), Vec::new());
    let units = lab.units();
    for program in lab.workloads() {
        let (mut took, mut ratio) = (Vec::new(), Vec::new());
        let mut one = f64::NAN;
        for &n in &units {
            let how = How {
                units: Some(n),
                aggregator: Aggregator::Persistent,
                policy: Policy::Device,
                ..How::default()
            };
            let Measured {
                times: spread,
                report,
            } = lab.run(program, how)?;
            // A GPU may have room for fewer.
            let persistent = report.kernels.iter().find(|k| k.name == PERSISTENT);
            let n = persistent.map_or(n, |k| k.blocks.min(n));
            if took.last().is_some_and(|p: &Point| p.x >= f64::from(n)) {
                break;
            }
            if n == 1 {
                one = spread.median;
            }
            let speedup = spread.map(|ms| one / ms);
            let [median, least, most] = spread.cells();
            let name = program.to_string();
            figure.row([
                name,
                n.to_string(),
                median,
                least,
                most,
                number(speedup.median),
            ]);
            took.push(at(n.into(), spread));
            ratio.push(at(n.into(), speedup));
        }
        times.push(series(program.to_string(), took));
        faster.push(series(program.to_string(), ratio));
    }
    let ideal = units.iter().map(|n| f64::from(*n));
    let ideal: Vec<Point> = ideal.map(|n| super::figure::exactly(n, n)).collect();
    faster.push(series("as many times as units", ideal));
    let name = match lab.gpu() {
        Some(_) => "compute units: blocks",
        None => "compute units: threads",
    };
    let (across, whole) = (logarithmic(name), |x: f64| format!("{x:.0}"));
    figure.panels = vec![
        lines(
            "Times as fast as one unit",
            across,
            whole,
            if lab.is_gpu() {
                logarithmic("times")
            } else {
                linear("times")
            },
            faster,
        ),
        lines("Time", across, whole, logarithmic("ms"), times),
    ];
    Ok(figure)
}
