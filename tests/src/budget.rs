//! The least memory that a run takes, and whether it runs in all that is more.

use millstream_aggregator::{CpuOptions, Device, RunError, RunReport};
use std::fmt::Debug;

/// Budgets that are tried from the least one to 64 times that.
pub const STEPS: u32 = 50;

/// A CPU with so many threads, and so much memory for a run.
#[must_use]
pub fn cpu(threads: u32, memory: u64) -> Device {
    Device::cpu_with(CpuOptions {
        threads: Some(threads),
        memory: Some(memory),
        ..CpuOptions::default()
    })
    .unwrap()
}

/// The least budget in which something runs, to a part in 64 where it is large, if there is one below 4 GiB.
///
/// # Errors
/// Another reason not to run than memory.
pub fn least<T>(run: &impl Fn(u64) -> Result<T, RunError>) -> Result<Option<u64>, RunError> {
    let fits = |budget| match run(budget) {
        Ok(_) => Ok(true),
        Err(e) if super::engine::is_memory(&e) => Ok(false),
        Err(e) => Err(e),
    };
    let mut enough = 16u64;
    while !fits(enough)? {
        enough *= 2;
        if enough > 4 << 30 {
            return Ok(None);
        }
    }
    let mut short = if enough == 16 { 0 } else { enough / 2 };
    while enough - short > 1 + enough / 64 {
        let middle = short.midpoint(enough);
        *(if fits(middle)? {
            &mut enough
        } else {
            &mut short
        }) = middle;
    }
    Ok(Some(enough))
}

/// Finds the least budget and tries [`STEPS`] from there to 64 times as much: each runs, comes to the same, and takes no more than
/// that. Gives the least one.
///
/// # Errors
/// What was different, and in which budget.
pub fn every_budget<T: PartialEq + Debug>(
    expected: &T,
    run: impl Fn(u64) -> Result<(T, RunReport), RunError>,
) -> Result<Option<u64>, String> {
    let Some(least) = least(&run).map_err(|e| e.to_string())? else {
        return Ok(None);
    };
    for step in 0..=STEPS {
        let budget = (least as f64 * 64f64.powf(f64::from(step) / f64::from(STEPS))) as u64;
        let (found, report) =
            run(budget).map_err(|e| format!("it runs in {least} bytes, but in {budget}: {e}"))?;
        if found != *expected {
            return Err(format!("in {budget} bytes: {found:?}, not {expected:?}"));
        }
        if report.peak > budget {
            return Err(format!("in {budget} bytes it took {}", report.peak));
        }
    }
    Ok(Some(least))
}
