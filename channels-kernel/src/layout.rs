//! The layout of channel stacks in memory: structure of arrays, the one source for every device.
//!
//! A stack of capacity `c` is one array a field, each of `c` times the field's stride, each aligned to [`FIELD_ALIGN`]. The
//! stacks of a program are numbered as [`Levelized::stacks`] lists them, their fields in order behind one another.

use millstream_graph::{
    graph::ChannelKey,
    ir::{ChannelId, FieldId, SegmentId, TaskId},
    levelized::{Field, Levelized, StackRole},
};

/// Alignment of a field's array in bytes: a cache line, and what a wavefront loads at once.
pub const FIELD_ALIGN: u64 = 128;

/// Which stack of the program, in the order of [`Levelized::stacks`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct StackIndex(pub u32);

impl StackIndex {
    /// As an index into a table of stacks. Every dispatch asks for all of a program's, in another crate.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The layout of one stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StackLayout {
    /// The channel.
    pub channel: ChannelKey,
    /// What it holds.
    pub role: StackRole,
    /// Its fields.
    pub fields: Vec<Field>,
    /// Number of its first field, counted over all stacks.
    pub first_field: u32,
}

impl StackLayout {
    /// Bytes an element takes, all fields together. A frame without fields still counts one byte, so that memory bounds it.
    #[must_use]
    pub fn element_bytes(&self) -> u64 {
        self.fields.iter().map(stride).sum::<u64>().max(1)
    }

    /// Offset of each field's array in the memory of a stack of that capacity, and the whole size.
    #[must_use]
    pub fn offsets(&self, capacity: u64) -> (Vec<u64>, u64) {
        let mut at = 0u64;
        let offsets = self.fields.iter().map(|f| {
            let here = at;
            at = (at + stride(f) * capacity).next_multiple_of(FIELD_ALIGN);
            here
        });
        let offsets = offsets.collect();
        (offsets, at)
    }
}

/// Bytes from one element of a field's array to the next.
#[must_use]
pub fn stride(field: &Field) -> u64 {
    let layout = field.kind.layout();
    layout.size.next_multiple_of(layout.align)
}

/// The layouts of all stacks of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layouts {
    /// In the order of [`Levelized::stacks`].
    pub stacks: Vec<StackLayout>,
    /// How many fields there are in all stacks.
    pub fields: u32,
}

impl Layouts {
    /// The layouts of a program.
    #[must_use]
    pub fn new(program: &Levelized) -> Self {
        let mut next = 0u32;
        let stacks = program.stacks().iter().map(|&channel| {
            let fields = program.fields(channel).to_vec();
            let first_field = next;
            next += fields.len() as u32;
            StackLayout {
                channel,
                role: program.role(channel),
                fields,
                first_field,
            }
        });
        let stacks = stacks.collect();
        Self {
            stacks,
            fields: next,
        }
    }

    fn position(&self, of: impl Fn(&StackLayout) -> bool) -> Option<StackIndex> {
        let found = self.stacks.iter().position(of);
        found.map(|i| StackIndex(i as u32))
    }

    /// A channel of the program.
    ///
    /// # Panics
    /// If it is none of its stacks.
    #[must_use]
    pub fn of(&self, channel: ChannelKey) -> StackIndex {
        self.position(|s| s.channel == channel)
            .expect("a segment pushes only to stacks of its program")
    }

    /// The entry stack of a task.
    ///
    /// # Panics
    /// If the task is not of this program.
    #[must_use]
    pub fn entry(&self, task: TaskId) -> StackIndex {
        self.position(|s| s.role == StackRole::Entry(task))
            .expect("every task has an entry stack")
    }

    /// The frame stack of a task, if it has frames.
    #[must_use]
    pub fn frame(&self, task: TaskId) -> Option<StackIndex> {
        self.position(|s| s.role == StackRole::Frame(task))
    }

    /// The continuation stack of a segment.
    ///
    /// # Panics
    /// If the segment is not a continuation of this program.
    #[must_use]
    pub fn continuation(&self, task: TaskId, segment: SegmentId) -> StackIndex {
        self.position(|s| s.role == StackRole::Continuation(task, segment))
            .expect("every continuation segment has a stack")
    }

    /// The stack of what is emitted into a channel of the graph.
    ///
    /// # Panics
    /// If the channel is not of this program.
    #[must_use]
    pub fn channel(&self, channel: ChannelId) -> StackIndex {
        self.position(|s| s.role == StackRole::Channel(channel))
            .expect("every channel of a graph has a stack")
    }

    /// Number of a frame field, counted over all stacks.
    ///
    /// # Panics
    /// If the task has no frames.
    #[must_use]
    pub fn frame_field(&self, task: TaskId, field: FieldId) -> u32 {
        let stack = self
            .frame(task)
            .expect("only tasks with frames have frame fields");
        self.stacks[stack.index()].first_field + field.0
    }
}

impl std::ops::Index<StackIndex> for Layouts {
    type Output = StackLayout;
    fn index(&self, stack: StackIndex) -> &StackLayout {
        &self.stacks[stack.index()]
    }
}
