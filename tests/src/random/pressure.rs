//! One program in every budget from the least that it runs in.

use super::{
    function::Sample,
    run::{PLENTY, interpret, launch},
};
use crate::{
    budget::{cpu, every_budget},
    decisions,
    engine::is_memory,
};
use millstream_aggregator::{CpuOptions, Device};
use millstream_cilk_lower::{lower::lower, parse_file};
use millstream_graph::{ir::FuncId, ir::Program, levelized::Levelized};
use std::sync::Arc;

/// A program, and its calls that fail no check.
struct Good<'a> {
    program: Program,
    levelized: Arc<Levelized>,
    func: FuncId,
    calls: Vec<&'a Vec<String>>,
    expected: Vec<Vec<String>>,
}

fn good(sample: &Sample) -> Result<Good<'_>, String> {
    let program = parse_file(&sample.source, "random.rs", None).map_err(|e| e.to_string())?;
    let levelized = Arc::new(lower(&program).map_err(|e| e.to_string())?);
    let func = program
        .find(&sample.task)
        .ok_or("the first task is not there")?;
    let (mut calls, mut expected) = (Vec::new(), Vec::new());
    for call in &sample.calls {
        if let Ok((outcome, _)) = interpret(&program, func, call) {
            calls.push(call);
            expected.push(outcome);
        }
    }
    Ok(Good {
        program,
        levelized,
        func,
        calls,
        expected,
    })
}

/// The least memory for all calls of a program that fail no check, if there are any; and that they come to the same in more.
///
/// # Errors
/// What they came to instead.
pub fn pressure(sample: &Sample) -> Result<Option<u64>, String> {
    let good = good(sample)?;
    if good.calls.is_empty() {
        return Ok(None);
    }
    let loaded = cpu(1, PLENTY).load(&good.levelized);
    let loaded = loaded.map_err(|e| e.to_string())?;
    every_budget(&good.expected, |budget| {
        launch(
            &cpu(1, budget),
            &loaded,
            &good.program,
            good.func,
            &good.calls,
        )
    })
}

/// Runs a program in so much memory, by wavefronts of so many elements, and follows what the worker decided. How many decisions that were.
///
/// # Errors
/// The decision that breaks a rule.
pub fn decide(sample: &Sample, memory: u64, width: u64) -> Result<usize, String> {
    let good = good(sample)?;
    let options = CpuOptions {
        threads: Some(1),
        memory: Some(memory),
        width: Some(width),
        decisions: true,
        ..CpuOptions::default()
    };
    let device = Device::cpu_with(options).map_err(|e| e.to_string())?;
    let loaded = device.load(&good.levelized).map_err(|e| e.to_string())?;
    match launch(&device, &loaded, &good.program, good.func, &good.calls) {
        Ok((found, report)) => {
            if found != good.expected {
                return Err(format!("{found:?}, not {:?}", good.expected));
            }
            let record = &report.workers[0].decisions;
            decisions::check(&good.levelized, record, memory, width)?;
            Ok(record.len())
        }
        Err(e) if is_memory(&e) => Ok(0),
        Err(e) => Err(e.to_string()),
    }
}
