//! Elements of four words through one ring, by many at once: on the device, until the time is known.

use super::{
    super::{
        gpu_rings,
        rings::{self, Lie, Passing},
    },
    lab::{Lab, Spread},
};
use std::cell::Cell;

/// What passing elements took.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Passed {
    /// Millions of elements a second.
    pub(crate) rate: Spread,
    /// How often a producer found no room, for each million elements, in the last round.
    pub(crate) yields: f64,
}

/// As channels are where nothing is said.
pub(crate) const fn usual(lab: &Lab) -> Passing {
    let gpu = lab.is_gpu();
    Passing {
        width: if gpu { 1 << 20 } else { 4096 },
        group: 64,
        batch: if gpu { gpu_rings::TILE } else { 64 },
        lie: Lie::Arrays,
        whole: true,
    }
}

/// Elements that are passed, so that it takes some ten milliseconds at least.
pub(crate) const fn elements(lab: &Lab) -> u64 {
    match (lab.quick, lab.is_gpu()) {
        (true, _) => 1 << 16,
        (false, false) => 1 << 20,
        (false, true) => 1 << 26,
    }
}

/// Who passes them.
pub(crate) fn who(lab: &Lab) -> String {
    match lab.is_gpu() {
        true => "all blocks that the GPU has room for, each producer and consumer".into(),
        false => {
            let threads = producers(lab);
            format!("{threads} producer and {threads} consumer thread(s)")
        }
    }
}

fn producers(lab: &Lab) -> u32 {
    lab.cores().max(2) / 2
}

/// Passes so many elements, until the time is known.
pub(crate) fn pass(lab: &Lab, passing: Passing, count: u64) -> Result<Passed, String> {
    let yields = Cell::new(0);
    let gpu = match lab.gpu() {
        Some(gpu) => Some(gpu_rings::Passage::new(gpu, passing)?),
        None => None,
    };
    let seconds = lab.repeat(|| {
        let (seconds, yielded) = match &gpu {
            Some(gpu) => gpu.pass(count)?,
            None => rings::pass(passing, producers(lab), count)?,
        };
        yields.set(yielded);
        Ok(seconds)
    })?;
    Ok(Passed {
        rate: seconds.map(|s| count as f64 / s / 1e6),
        yields: yields.get() as f64 * 1e6 / count as f64,
    })
}
