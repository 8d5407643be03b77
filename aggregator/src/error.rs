//! What can go wrong with a run.

use crate::policy::Bytes;
use millstream_graph::{fault::Fault, graph::GraphError};
use std::time::Duration;

/// Why a run ended without a result.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A check of the program failed.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The channels would outgrow the memory budget.
    #[error(
        "out of channel memory: task `{task}` at depth {depth} needs {} more, and the budget of {} is used up; \
         give the run more memory{}", Bytes(*need), Bytes(*budget), endless(*depth)
    )]
    OutOfMemory {
        /// The task whose spawns find no room.
        task: String,
        /// Its depth: 0 is the call.
        depth: u64,
        /// Bytes that one element of it needs for what it pushes.
        need: u64,
        /// The budget in bytes.
        budget: u64,
    },
    /// A task spawned more children than there was room for, and how many it spawns cannot be known beforehand.
    #[error(
        "out of channel memory: a loop of task `{task}` at depth {depth} filled the channel `{channel}` with {limit} elements, \
         all that the budget of {} allows; give the run more memory{}", Bytes(*budget), halves(*depth, *limit)
    )]
    ChannelFull {
        /// The task that spawned.
        task: String,
        /// Its depth: 0 is the call.
        depth: u64,
        /// The channel that is full.
        channel: String,
        /// How many elements it held.
        limit: u64,
        /// The budget in bytes.
        budget: u64,
    },
    /// The run is deeper than the memory budget has room for records of levels.
    #[error(
        "too many levels: the run of task `{task}` is {levels} levels deep, and the budget of {} has no room for the record of another; \
         give the run more memory{}", Bytes(*budget), endless(*levels)
    )]
    TooManyLevels {
        /// The task that was called.
        task: String,
        /// How many levels there are.
        levels: u64,
        /// The budget in bytes.
        budget: u64,
    },
    /// One dispatch took longer than the watchdog allows: a loop of a task that never ends, or a bug of Millstream.
    #[error(
        "the watchdog ended the run: one dispatch took longer than {limit:?}, at level {depth} after {dispatches} dispatches; \
         most elements that each channel held: {channels}"
    )]
    Watchdog {
        /// How long a dispatch may take.
        limit: Duration,
        /// The level it was at.
        depth: u64,
        /// How many dispatches there were.
        dispatches: u64,
        /// Each channel with the most elements it held, and its room.
        channels: String,
    },
    /// The GPU's context failed for good, with all that was in it. The device takes a new one for its next run; buffers are lost.
    #[error("the GPU's context is lost: {0}")]
    Lost(String),
    /// A recursive helper used up the thread's stack.
    #[error(
        "stack overflow in the helper function `{function}`: only tasks can recurse without bound; make it a task, or bound its depth"
    )]
    StackOverflow {
        /// The helper.
        function: String,
    },
    /// [`Cancel::cancel`](crate::Cancel::cancel) was called.
    #[error("the run was cancelled")]
    Cancelled,
    /// Every worker waits for another: a bug of Millstream.
    #[error(
        "the run is stuck, which is a bug of Millstream; please report it with this state: {state}"
    )]
    Stuck {
        /// Each worker's stacks.
        state: String,
    },
    /// A decision of a run was not the policy's: a bug of Millstream. Only runs that keep record of their decisions look.
    #[error("a decision differs from the policy's, which is a bug of Millstream: {0}")]
    Differs(String),
    /// A worker panicked: a bug of Millstream.
    #[error("a worker panicked, which is a bug of Millstream: {message}")]
    Panicked {
        /// What the panic said.
        message: String,
    },
    /// The program cannot be compiled for this device.
    #[error("cannot compile for this device: {0}")]
    Compile(String),
    /// A kernel of a graph could not go on.
    #[error("node `{node}`{}: {error}", element.as_ref().map_or_else(String::new, |e| format!(", element {e}")))]
    Node {
        /// The node.
        node: String,
        /// The element that it ran, where that is known: an element that had spawned tasks is not.
        element: Option<String>,
        /// Why.
        error: Box<RunError>,
    },
    /// A node of a graph on the host said that something is wrong, or panicked.
    #[error("host node `{node}`: {message}")]
    HostNode {
        /// The node.
        node: String,
        /// What it said.
        message: String,
    },
    /// Elements are left in a graph, and nobody can go on: channels are full in a circle, or a predicate never says yes.
    #[error(
        "the graph `{graph}` cannot go on: what waits in each channel, of what there is room for, is {channels}; \
         give full channels more width or let them grow, and look for a predicate that is never true"
    )]
    Stalled {
        /// The graph.
        graph: String,
        /// Each channel with what waits and its width.
        channels: String,
    },
    /// A channel of a graph may grow, and the memory budget is used up.
    #[error(
        "the channel `{channel}` cannot grow beyond the {count} elements that it holds: what the budget of {} leaves for that is used up; \
         give the run more memory", Bytes(*budget)
    )]
    NoGrowth {
        /// The channel.
        channel: String,
        /// How many elements it holds.
        count: u64,
        /// The budget in bytes.
        budget: u64,
    },
    /// A graph is done, and elements of an output were not received.
    #[error(
        "{count} elements of the channel `{channel}` were not received: an output is drained before the graph is left"
    )]
    Undelivered {
        /// The output.
        channel: String,
        /// How many elements it holds.
        count: u64,
    },
    /// The graph that was to be fed or drained is done.
    #[error("the graph is done")]
    Over,
    /// A graph cannot be run as it is.
    #[error("{0}")]
    Graph(String),
    /// A graph is wrong.
    #[error(transparent)]
    InvalidGraph(#[from] GraphError),
    /// The arguments do not fit the task.
    #[error("{0}")]
    BadArguments(String),
    /// The device is of a kind that was left out of this build.
    #[error("this build has no {device}: build it with the feature `{feature}`")]
    NotBuilt {
        /// Which kind.
        device: &'static str,
        /// The feature of the crate that it comes with.
        feature: &'static str,
    },
    /// The device cannot be made or has no memory for what is asked.
    #[error("{0}")]
    Device(String),
}

impl RunError {
    /// Whether the run was stopped from outside, or could not go on: then its device has a [`Dump`](crate::Dump) of it.
    #[must_use]
    pub const fn leaves_dump(&self) -> bool {
        matches!(
            self,
            Self::Cancelled
                | Self::Stuck { .. }
                | Self::Stalled { .. }
                | Self::Watchdog { .. }
                | Self::Lost(_)
        )
    }
}

/// A recursion that is no deeper may well be meant.
const DEEP: u64 = 1000;
/// A loop that filled a channel with no more elements would do so in halves too.
const MANY: u64 = 256;

/// What else may be wrong where memory does not last for so many levels.
const fn endless(levels: u64) -> &'static str {
    if levels >= DEEP {
        ", or look for a recursion that never ends"
    } else {
        ""
    }
}

/// The same where a loop filled a channel with so many elements.
const fn halves(depth: u64, elements: u64) -> &'static str {
    if depth < DEEP && elements >= MANY {
        ", or spawn in halves"
    } else {
        endless(depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_given_where_it_may_help() {
        let endless = "a recursion that never ends";
        let memory = |depth| RunError::OutOfMemory {
            task: "f".into(),
            depth,
            need: 96,
            budget: 4096,
        };
        assert!(memory(100_000).to_string().contains(endless));
        assert!(memory(3).to_string().ends_with("give the run more memory"));
        let full = |depth, limit| RunError::ChannelFull {
            task: "f".into(),
            depth,
            channel: "f".into(),
            limit,
            budget: 4096,
        };
        assert!(full(2, 10_000).to_string().ends_with("or spawn in halves"));
        assert!(full(5, 7).to_string().ends_with("give the run more memory"));
        assert!(full(5000, 7).to_string().contains(endless));
        let levels = |levels| RunError::TooManyLevels {
            task: "f".into(),
            levels,
            budget: 4096,
        };
        assert!(levels(4681).to_string().contains(endless));
        assert!(levels(60).to_string().ends_with("give the run more memory"));
    }
}
