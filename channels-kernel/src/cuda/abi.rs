//! What the generated code and its host share, in layouts of C: the twins of the structs in `device/channel.cu`.

/// Why a run ended early; the value of [`Control::status`].
pub mod status {
    /// It did not.
    pub const OK: u32 = 0;
    /// A check failed: `site` is its number, `values` what its message names.
    pub const FAULT: u32 = 1;
    /// A channel is full: `site` is the number of its stack.
    pub const CHANNEL_FULL: u32 = 2;
    /// A helper called itself too deeply: `site` is the number of its function.
    pub const STACK_OVERFLOW: u32 = 3;
    /// The host's cancel flag was seen.
    pub const CANCELLED: u32 = 4;
    /// A thread or a block has been at one dispatch for longer than [`Control::watchdog`](super::Control::watchdog).
    pub const WATCHDOG: u32 = 5;
    /// There are more levels than the table of boundaries has room for.
    pub const LEVELS_FULL: u32 = 6;
}

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
    /// Of the persistent kernel; 0 at the start.
    pub epoch: u32,
    /// Blocks that have finished; 0 at the start.
    pub arrived: u32,
    /// How deep a recursive helper may go.
    pub max_depth: u32,
    /// How many levels `bounds` and `elements` have room for.
    pub levels: u32,
    /// Nanoseconds that one dispatch may take.
    pub watchdog: u64,
    /// Mapped host memory: a `u32`, not 0 when the run is to end.
    pub cancel: u64,
    /// `u32` per group, 0 at the start: [`Plan::groups`](super::Plan::groups) of them.
    pub counter: u64,
    /// Words per level, for each stack: where its elements begin; where they end; how many were pushed from this level; how many an
    /// element of the next level and all below it push. The last two are floats. The host writes how many root elements each stack
    /// has where level 0 begins.
    pub bounds: u64,
    /// `u64` per level, 0 at the start: entry elements consumed.
    pub elements: u64,
    /// `u32` per stack: most elements at once.
    pub peak: u64,
    /// `u64` per source, 0 at the start: elements consumed.
    pub consumed: u64,
    /// `u64` per stack, then per level and one more, 0 at the start: children that ended where they were spawned.
    pub leaves: u64,
    /// In: how many levels a run like this one reached, 0 if unknown. Out: how many this one reached.
    pub expected: u32,
    /// Out: the level it ended at.
    pub level: u32,
    /// Out: how many dispatches.
    pub dispatches: u64,
    /// Mapped host memory of the host-thread aggregator: the number of the dispatch that is done, `status`, then the counters.
    pub mailbox: u64,
    /// Of the persistent kernel; 0 at the start.
    pub beat: u32,
    /// Tiles taken in this dispatch beyond the first of each block; 0 at the start.
    pub ticket: u32,
    /// Tiles given back for want of room; 0 at the start.
    pub given: u32,
    /// Where the channel ended for the first tile that found no room; `u32::MAX` at the start.
    pub limit: u32,
    /// The tiles given back, then what moves where: [`LIST_WORDS`] of `u32`.
    pub list: u64,
}

/// Most blocks of a dispatch.
pub const MOST_BLOCKS: u32 = 2048;
/// Words of [`Control::list`]: two tiles a block, and their moves.
pub const LIST_WORDS: u32 = 6 * MOST_BLOCKS;

/// Names of the kernels.
pub mod kernel {
    /// The persistent aggregator: cooperative; its parameter is the address of a [`dispatch_words`](super::super::Plan::dispatch_words) record.
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
