//! Table 3 of the channels paper.

use super::{
    figure::{Figure, bars, exactly, linear, logarithmic, series},
    lab::{How, Lab, number},
};
use millstream_aggregator::{Aggregator, Observe, Policy};

/// **Channels, Table 3.** What the workloads are made of. Held: everything. Kernel nodes, registers of a GPU thread, elements of the widest wavefront,
/// wavefronts, and nanoseconds a wavefront, which the paper gives in cycles of one that runs alone: ours run beside others.
pub(crate) fn figure(lab: &Lab) -> Result<Figure, String> {
    let mut figure = Figure::of_one_round(
        "the workloads",
        &[
            "workload",
            "tasks",
            "leaves",
            "levels",
            "kernel_nodes",
            "registers_a_thread",
            "wavefronts",
            "elements_a_wavefront",
            "ns_a_wavefront",
            "ns_an_element",
            "peak_bytes",
            "ms",
        ],
    );
    figure.say(
        "Channels paper, Table 3. Leaves are tasks that end where they are spawned: they are in no wavefront. Time of wavefronts is that inside of dispatches, \
         all workers' added up, of one round that looks at the clock, after a warm-up.",
    );
    figure.say(match lab.is_gpu() {
        true => "By the persistent aggregator, whose wavefronts last from one decision to the next. Registers: of each kernel that could run a part of it.",
        false => "Registers are a GPU's: on the CPU each loop over elements has all of the processor's.",
    });
    let programs = lab.workloads();
    let (mut each, mut wide) = (Vec::new(), Vec::new());
    for (&program, i) in programs.iter().zip(0u32..) {
        let how = How {
            // A GPU tells the times of nodes with a timeline only.
            observe: if lab.is_gpu() {
                Observe::TIMELINE
            } else {
                Observe::Times
            },
            aggregator: Aggregator::Persistent,
            policy: Policy::Device,
            ..How::default()
        };
        let report = lab.once(program, how)?;
        let ran = || report.nodes.iter().filter(|n| n.elements > 0);
        let elements: u64 = ran().map(|n| n.elements).sum();
        let time: Option<f64> = ran().map(|n| n.time.map(|t| t.as_nanos() as f64)).sum();
        let wavefronts = report.dispatches.max(1) as f64;
        let registers = report
            .kernels
            .iter()
            .map(|k| format!("{}: {}", k.name, k.registers));
        let told = |value: Option<f64>| value.map_or(String::new(), number);
        figure.row([
            program.to_string(),
            report.total.to_string(),
            report.leaves.to_string(),
            report.levels.to_string(),
            ran().count().to_string(),
            Vec::from_iter(registers).join("; "),
            report.dispatches.to_string(),
            number(elements as f64 / wavefronts),
            told(time.map(|t| t / wavefronts)),
            told(time.map(|t| t / elements.max(1) as f64)),
            report.peak.to_string(),
            number(report.running.as_secs_f64() * 1e3),
        ]);
        if let Some(time) = time {
            each.push(exactly(i.into(), time / wavefronts / 1e3));
        }
        wide.push(exactly(i.into(), elements as f64 / wavefronts));
    }
    let names: Vec<String> = programs.iter().map(ToString::to_string).collect();
    figure.panels = vec![
        bars(
            "Time of a wavefront",
            names.clone(),
            linear("us"),
            vec![series("mean", each)],
        ),
        bars(
            "Elements of a wavefront",
            names,
            logarithmic("elements"),
            vec![series("mean", wide)],
        ),
    ];
    Ok(figure)
}
