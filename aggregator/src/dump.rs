//! What a run was at that was stopped or cannot go on: what lies in each channel, and each worker's last event.
//!
//! Who works writes two words of its own a dispatch ([`Board`](crate::live::Board)), and more of what it knows when it leaves a run that ends so. So a
//! dump is had when the run is over, and with less in it from a run that does not end.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What a run was at. Times are in nanoseconds.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Dump {
    /// Why there is one: the error that the run ended with. None if it goes on.
    pub why: Option<String>,
    /// What ran: the graph's name, if it is one of kernels.
    pub graph: Option<String>,
    /// How long it had run.
    pub running_ns: u64,
    /// Tasks that had run, or elements of a graph's channels.
    pub done: u64,
    /// How deep it had been, in levels.
    pub levels: u64,
    /// Wavefronts; none where nobody counted them.
    pub dispatches: Option<u64>,
    /// Bytes that elements and frames took, and might take.
    pub bytes: u64,
    /// The budget in bytes.
    pub budget: u64,
    /// Each channel.
    pub channels: Vec<ChannelState>,
    /// Each who took part: threads, host nodes, the caller; of a GPU who decides.
    pub workers: Vec<WorkerState>,
    /// What is not known, and why.
    pub missing: Vec<String>,
}

/// What a channel is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChannelKind {
    /// A stack of a level's elements.
    #[default]
    Stack,
    /// A ring of a graph, in which a producer waits for room.
    Ring,
    /// One that grows instead, or drops its oldest elements.
    Elastic,
}

/// A channel, as it was.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChannelState {
    /// Its name, as in drawings of the graph.
    pub name: String,
    /// What it is.
    pub kind: ChannelKind,
    /// Elements that waited there; none if that is not known. Those that a worker had in hand are counted there.
    pub waiting: Option<u64>,
    /// Slots of a ring that were not free: of what waited, and of what was being run.
    pub held: Option<u64>,
    /// How many elements it has room for; none where memory alone bounds it.
    pub capacity: Option<u64>,
    /// Bytes of an element.
    pub element_bytes: u64,
    /// The shallowest and the deepest level with elements, if there are some.
    pub between: Option<(u64, u64)>,
    /// Who puts elements in, of a graph; [`CALLER`] is who runs it.
    pub from: Vec<String>,
    /// Who takes them out.
    pub to: Option<String>,
    /// The program's own predicate that says when they are worth a wavefront, if there is one.
    pub predicate: Option<String>,
}

/// Who runs a graph, feeds it and drains it.
pub const CALLER: &str = "the caller";

/// What somebody does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doing {
    /// Nothing yet.
    #[default]
    Nothing,
    /// It runs a wavefront: on the host a closure.
    Runs,
    /// It waits for work, or for those who have some.
    WaitsForWork,
    /// It waits for memory that others have.
    WaitsForMemory,
    /// It waits for room in a channel.
    WaitsForRoom,
    /// It copies to or from the device.
    Copies,
    /// It left the run.
    Left,
}

impl Doing {
    pub(crate) const ALL: [Self; 7] = [
        Self::Nothing,
        Self::Runs,
        Self::WaitsForWork,
        Self::WaitsForMemory,
        Self::WaitsForRoom,
        Self::Copies,
        Self::Left,
    ];
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "has done nothing yet",
            Self::Runs => "runs",
            Self::WaitsForWork => "waits for work",
            Self::WaitsForMemory => "waits for memory",
            Self::WaitsForRoom => "waits for room",
            Self::Copies => "copies",
            Self::Left => "left the run",
        })
    }
}

/// The last that somebody did.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Event {
    /// What.
    pub doing: Doing,
    /// The node whose elements it runs, or the channel that it waits for.
    pub at: Option<String>,
    /// Their level.
    pub level: Option<u64>,
    /// How many they are.
    pub elements: Option<u64>,
    /// How long ago that began, at least; none if nobody looked at the clock.
    pub ago_ns: Option<u64>,
}

/// Elements that are somewhere, by name.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Held {
    /// The channel.
    pub channel: String,
    /// How many.
    pub elements: u64,
}

/// One who took part, as it was.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WorkerState {
    /// Its name: `worker 0`.
    pub name: String,
    /// The last that it did.
    pub last: Event,
    /// Tasks that it had run.
    pub done: u64,
    /// Wavefronts that it had begun.
    pub dispatches: Option<u64>,
    /// Bytes on its stacks.
    pub bytes: u64,
    /// What waits on its own stacks.
    pub stacks: Vec<Held>,
    /// Elements that it had taken out of a graph's channel and not run to their end.
    pub in_hand: Vec<Held>,
    /// What it has for a channel that had no room.
    pub no_room: Vec<Held>,
    /// Batches that it gave to others and that are not back.
    pub lent: u64,
}

/// Something of which a dump can be taken while it runs, from any thread.
pub(crate) trait Sight: Send + Sync {
    /// What can be seen of it.
    fn sight(&self) -> Dump;
}
