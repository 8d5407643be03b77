//! How long the compiler takes for a text, about, before it is asked.

use super::{
    parts::{Image, Part},
    plan::{Mode, Plan},
};
use std::time::Duration;

/// What a text is. Programs of tasks are in parts and compile soon; what takes long is one kernel that is large.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    /// Segments of tasks that spawn.
    Tasks,
    /// A task whose loops all blocks share out: each loop is written for blocks, warps and lanes.
    SharedOut,
    /// A graph of kernels and channels.
    Graph,
}

/// Bytes that every text of tasks has: what is for the device.
const OF_TASKS: usize = 90 << 10;
/// And every text of a graph.
const OF_GRAPHS: usize = 64 << 10;

/// What takes longer is compiled quickly at first. It is the effort on a fast core, and others need twice as long.
const LONG: Duration = Duration::from_millis(1200);

impl Written {
    /// What a part of a program is.
    #[must_use]
    pub fn of(plan: &Plan, part: &Part) -> Self {
        let shared = |n: &usize| plan.sources.get(*n).is_some_and(|s| s.mode == Mode::Master);
        let is_shared = match part {
            Part::Dispatches(of) | Part::Segments(_, of) => of.iter().any(shared),
            // Narrow levels run any segment.
            Part::Kernels(Image::Persistent) => (0..plan.sources.len()).any(|n| shared(&n)),
            Part::Kernels(Image::Workers) => false,
        };
        match is_shared {
            true => Self::SharedOut,
            false => Self::Tasks,
        }
    }

    /// About how long a text of so many bytes takes on a fast core: of the examples that take a second and more, between about half of that and twice that
    /// (docs/measurements.md).
    #[must_use]
    pub fn effort(self, bytes: usize) -> Duration {
        // Milliseconds for a KiB that only this text has.
        let (common, each) = match self {
            Self::Tasks => (OF_TASKS, 14),
            Self::SharedOut => (OF_TASKS, 10),
            Self::Graph => (OF_GRAPHS, 30),
        };
        Duration::from_millis(((bytes.saturating_sub(common) * each) >> 10) as u64)
    }

    /// Whether a text of so many bytes is worth to be compiled [quickly](super::nvrtc::How::quick) at first, and in full when it runs: it takes 0.3 to 0.6
    /// of the time then. Of tasks a fifth is gained, which is not worth slower code.
    #[must_use]
    pub fn takes_long(self, bytes: usize) -> bool {
        self != Self::Tasks && self.effort(bytes) > LONG
    }
}
