//! What the generated code and its host share, in layouts of C: the twins of the structs in `device/channel.cu`.

pub use crate::status;

/// What a run shares with its host; lies in device memory. Pointers are device addresses.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Control {
    /// One of [`status`], set once.
    pub status: u32,
    /// Which check, stack or helper.
    pub site: u32,
    /// Values of a failed check, zero-extended.
    pub values: [u64; 2],
    /// How deep a recursive helper may go.
    pub max_depth: u32,
    /// How many levels `records` has room for.
    pub levels: u32,
    /// Nanoseconds that one dispatch may take.
    pub watchdog: u64,
    /// Mapped host memory: a `u32`, not 0 when the run is to end.
    pub cancel: u64,
    /// `u32` per group, 0 at the start: [`Plan::groups`](super::Plan::groups) of them.
    pub counter: u64,
    /// The persistent aggregator's: how far the run is, in the words of [`Policy::standing`](super::policy::Policy::standing).
    pub standing: u64,
    /// The persistent aggregator's: what is known of each level, in the words of [`Policy::record`](super::policy::Policy::record).
    pub records: u64,
    /// `u64` per stack, then per level and one more, 0 at the start: children that ended where they were spawned.
    pub leaves: u64,
    /// Out: how many dispatches.
    pub dispatches: u64,
    /// Out: those of them that one warp did by itself.
    pub narrow: u64,
    /// Mapped host memory of the host-thread aggregator: the number of the dispatch that is done, `status`, then the counters.
    pub mailbox: u64,
    /// The tiles given back, then what moves where: [`LIST_WORDS`] of `u32`.
    pub list: u64,
    /// Of the persistent kernel; 0 at the start.
    pub beat: u32,
    /// Out: 1 if the persistent kernel ended because its next dispatch is the host's to launch.
    pub over: u32,
    /// Tiles taken in this dispatch beyond the first of each block; 0 at the start.
    pub ticket: u32,
    /// Tiles given back for want of room; 0 at the start.
    pub given: u32,
    /// Where the channel ended for the first tile that found no room; `u32::MAX` at the start.
    pub limit: u32,
    /// Of the persistent kernel; 0 at the start.
    pub epoch: Line,
    /// Blocks that have finished; 0 at the start.
    pub arrived: Line,
}

/// A word that many wait for, in a line of the cache of its own.
#[repr(C, align(128))]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Line(pub u32);

/// Most blocks of a dispatch.
pub const MOST_BLOCKS: u32 = 2048;
/// Words of [`Control::list`]: two tiles a block, and their moves.
pub const LIST_WORDS: u32 = 6 * MOST_BLOCKS;

/// Names of the kernels.
pub mod kernel {
    /// The persistent aggregator: cooperative, unless it is launched with one block. Its parameters are the address of a
    /// [`dispatch_words`](super::super::Plan::dispatch_words) record, and a word that says whether it is to end with a run that one block does not do.
    pub const PERSISTENT: &str = "persistent";
    /// One dispatch of the source of that number: its parameter is the dispatch record, by value.
    #[must_use]
    pub fn dispatch(source: usize) -> String {
        format!("dispatch_{source}")
    }
    /// The module's global that the host fills: [`Plan::channel_words`](super::super::Plan::channel_words).
    pub const CHANNELS: &str = "ch";
    /// Threads of a block.
    pub const BLOCK: u32 = 256;
}
