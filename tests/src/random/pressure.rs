//! One program in every budget from the least that it runs in.

use super::{
    function::Sample,
    run::{interpret, launch},
};
use crate::budget::{cpu, every_budget};
use millstream_cilk_lower::{lower::lower, parse_file};
use std::sync::Arc;

/// The least memory for all calls of a program that fail no check, if there are any; and that they come to the same in more.
///
/// # Errors
/// What they came to instead.
pub fn pressure(sample: &Sample) -> Result<Option<u64>, String> {
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
    if calls.is_empty() {
        return Ok(None);
    }
    every_budget(&expected, |budget| {
        launch(&cpu(1, budget), &program, &levelized, func, &calls)
    })
}
