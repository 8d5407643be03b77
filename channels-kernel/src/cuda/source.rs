//! Sources of work: segments with the channels that they take from, and how they reserve what they push.

use super::abi::kernel;
use millstream_graph::ir::{SegmentId, TaskId};

/// How many threads go together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Threads of a block.
    pub block: u32,
    /// Threads of a warp.
    pub warp: u32,
}

impl Default for Shape {
    /// A GPU's.
    fn default() -> Self {
        Self {
            block: kernel::BLOCK,
            warp: kernel::WARP,
        }
    }
}

/// A push of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourcePush {
    /// Number of the stack.
    pub stack: u32,
    /// At most so many an element; none where that depends on data.
    pub max: Option<u32>,
    /// Where it does: if so many find room an element gets on, and it is given up at a restart point where no more do. 0 if it has none.
    pub turn: u32,
    /// Which counter it is reserved with.
    pub group: u32,
    /// Elements for each unit of the counter.
    pub ratio: u32,
}

/// How a segment reserves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Counted beforehand, once a tile.
    Scanned {
        /// Elements a thread.
        items: u32,
        /// Which push is staged in shared memory.
        staged: Option<usize>,
        /// Whether an element is much work: then a run too short for all blocks is run as if it were direct.
        heavy: bool,
    },
    /// Not counted: what a tile spawns is staged in shared memory, and what it does beside that can be forgotten.
    Tried {
        /// Elements a thread.
        items: u32,
    },
    /// Counted beforehand, once a tile, and run by a warp each: [`team`](super::team).
    Team {
        /// Which push is staged in shared memory.
        staged: Option<usize>,
    },
    /// By one lane, which all others help in [regions](super::regions): it pushes nothing.
    Master,
    /// Lanes that spawn together reserve together.
    Direct {
        /// Whether an element is much work.
        heavy: bool,
    },
}

/// A channel that feeds a segment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// The task.
    pub task: TaskId,
    /// The segment.
    pub segment: SegmentId,
    /// The channel's number.
    pub stack: u32,
    /// Whether this is the second channel of a segment that waits for itself.
    pub twin: bool,
    /// What the segment pushes.
    pub pushes: Vec<SourcePush>,
    /// For each group: its first push, and whether a unit is 0 or 1 for each element.
    pub groups: Vec<(usize, bool)>,
    /// How it reserves.
    pub mode: Mode,
    /// The slices that its elements walk through.
    pub walked: Vec<Walked>,
    /// Whether workers may run its elements on private stacks (`device/private.cu`): all that they push lies where they do, and what they do beside
    /// that can be forgotten.
    pub private: bool,
}

impl Source {
    /// Whether the channel holds entry elements.
    #[must_use]
    pub const fn is_entry(&self) -> bool {
        self.segment.0 == 0
    }

    /// Whether its elements walk through slices, which are brought into shared memory.
    #[must_use]
    pub const fn walks(&self) -> bool {
        !self.walked.is_empty()
    }

    /// Which push is staged in shared memory.
    #[must_use]
    pub const fn staged(&self) -> Option<usize> {
        match self.mode {
            Mode::Scanned { staged, .. } | Mode::Team { staged } => staged,
            Mode::Tried { .. } => Some(0),
            Mode::Direct { .. } | Mode::Master => None,
        }
    }

    /// Which push may lie in shared memory, in tiles that stage it or on private stacks.
    #[must_use]
    pub const fn in_shared(&self) -> Option<usize> {
        match self.private {
            true => Some(0),
            false => self.staged(),
        }
    }

    /// Of a segment that gives tiles back for want of room: the groups whose units depend on data.
    #[must_use]
    pub fn loose(&self) -> Vec<u32> {
        let counted = matches!(
            self.mode,
            Mode::Scanned { heavy: false, .. } | Mode::Tried { .. } | Mode::Team { .. }
        );
        let pushes = self.pushes.iter().filter(|p| counted && p.max.is_none());
        let mut groups: Vec<u32> = pushes.map(|p| p.group).collect();
        groups.dedup();
        groups
    }

    /// Elements of a tile: what a block runs at once.
    #[must_use]
    pub const fn tile(&self, shape: Shape) -> u32 {
        match self.mode {
            Mode::Scanned { items, .. } | Mode::Tried { items } => items * shape.block,
            Mode::Team { .. } => shape.block / shape.warp,
            Mode::Direct { .. } | Mode::Master => shape.block,
        }
    }

    /// Whether tiles may be given back.
    #[must_use]
    pub fn gives_back(&self) -> bool {
        !self.loose().is_empty()
    }

    /// Whether its elements go on at restart points.
    #[must_use]
    pub fn restarts(&self) -> bool {
        self.pushes.iter().any(|p| p.turn > 0)
    }

    /// What an element pushes to one channel, at most; 0 where that depends on data.
    #[must_use]
    pub fn most(&self) -> u32 {
        let mut most = self.pushes.iter().map(|p| p.max);
        most.try_fold(1, |most, max| Some(max?.max(most)))
            .unwrap_or(0)
    }

    /// Whether an element is much work: few are spread over a block.
    #[must_use]
    pub const fn is_heavy(&self) -> bool {
        matches!(
            self.mode,
            Mode::Scanned { heavy: true, .. }
                | Mode::Direct { heavy: true }
                | Mode::Team { .. }
                | Mode::Master
        )
    }

    /// A run of at most so many elements stays in one block: a grid barrier or a kernel would cost more than it gains.
    #[must_use]
    pub const fn alone(&self, shape: Shape) -> u32 {
        match self.mode {
            Mode::Master => 0,
            Mode::Scanned { heavy: true, .. } | Mode::Direct { heavy: true } => 4,
            // One tile: what it leaves over lies where it did.
            Mode::Scanned { .. } | Mode::Tried { .. } | Mode::Team { .. } => self.tile(shape),
            Mode::Direct { .. } => 4 * shape.block,
        }
    }
}

/// A slice that is walked through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Walked {
    /// The channel's field with its address; the next one holds its length.
    pub field: usize,
    /// Bytes of one of its elements.
    pub size: u64,
    /// Bytes that are copied at once.
    pub unit: u64,
    /// Whether it may be written to.
    pub mutable: bool,
}
