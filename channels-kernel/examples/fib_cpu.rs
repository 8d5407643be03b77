//! fib, a task a call, on one thread's private stacks: nanoseconds a task for wavefronts of several widths.
//!
//! The driver is the smallest that keeps the rules of `src/cpu/README.md`: a wavefront's children first, then its continuations.
//! With `RUST_LOG=millstream::code=trace` it prints the machine code.

#[path = "../tests/cpu/support/mod.rs"]
mod support;

use millstream_channels_kernel::cpu::CompiledProgram;
use millstream_graph::ir::{SegmentId, TaskId};
use std::time::Instant;
use support::Machine;

const FIB: TaskId = TaskId(0);
/// The stacks of fib: entries, frames, continuations.
const STACKS: usize = 3;

/// A wavefront whose children are running: what lay on the stacks before it, and its elements.
struct Open {
    bottom: [u64; STACKS],
    consumed: u64,
}

fn tops(machine: &Machine<'_>) -> [u64; STACKS] {
    std::array::from_fn(|i| machine.states[i].top)
}

/// Runs all entry elements; gives how many there were, and how many wavefronts.
fn run(machine: &mut Machine<'_>, width: u64) -> (u64, u64) {
    let (mut open, mut tasks, mut wavefronts) = (Vec::<Open>::new(), 0, 0);
    let continuations = machine
        .base(machine.code.layouts().stacks[2].first_field)
        .cast::<u32>();
    loop {
        let before = tops(machine);
        let floor = open.last().map_or(0, |o| o.bottom[0]);
        let count = width.min(before[0] - floor);
        if count > 0 {
            let consumed = machine.call_entry(FIB, before[0] - count, count);
            wavefronts += 1;
            tasks += consumed;
            open.push(Open {
                bottom: before,
                consumed,
            });
            continue;
        }
        let Some(Open { bottom, consumed }) = open.pop() else {
            return (tasks, wavefronts);
        };
        let frames = machine.states[2].top - bottom[2];
        if frames > 0 {
            // SAFETY: so many references lie there; fib's continuation pushes nothing, so they stay as they are.
            let frames = unsafe {
                std::slice::from_raw_parts(continuations.add(bottom[2] as usize), frames as usize)
            };
            machine.call_continuation(FIB, SegmentId(1), frames);
        }
        for (state, bottom) in machine.states.iter_mut().zip(bottom) {
            state.top = bottom;
        }
        machine.states[0].top -= consumed;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt().without_time().init();
    let n = std::env::args()
        .nth(1)
        .map_or(Ok(35), |n| n.parse::<u64>())?;
    let start = Instant::now();
    let code = CompiledProgram::compile(&support::build::fib(true))?;
    println!("compiled in {:?}", start.elapsed());
    for width in [64, 256, 1024, 4096, 16384] {
        let mut machine = Machine::new(&code, (n + 4) * 2 * width, width);
        let (mut result, mut best, mut counts) = (0u64, f64::MAX, (0, 0));
        for _ in 0..7 {
            machine.push(FIB, &[n, (&raw mut result).addr() as u64]);
            let start = Instant::now();
            counts = run(&mut machine, width);
            best = best.min(start.elapsed().as_secs_f64());
        }
        let (tasks, wavefronts) = counts;
        let ns = best * 1e9 / tasks as f64;
        println!(
            "width {width}: fib({n}) = {result}, {tasks} tasks, {wavefronts} wavefronts, {:.1} ms, {ns:.2} ns a task",
            best * 1e3
        );
    }
    Ok(())
}
