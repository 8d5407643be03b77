//! The memory of a run: one block of bytes on the device, and where everything lies in it.

use super::{levels::Room, records};
use millstream_channels_kernel::{
    cuda::{
        abi::{
            Channels, Control, Crew, Dispatch, Gift, Level, MOST_BLOCKS, Mark, Rest, Standing,
            Tiles,
        },
        plan::Plan,
    },
    layout::{FIELD_ALIGN, stride},
};
use millstream_graph::{
    ir::TaskId,
    levelized::StackRef,
    ty::{Layout, PieceKind},
};

/// One part in so many of the budget is for what is known of the first levels.
const LEVELS_SHARE: u64 = 16;
/// And of so many for what workers tell each other.
const WORKERS_SHARE: u64 = 256;
/// So few these are, and so many.
const FIRST_LEVELS: (u64, u64) = (16, 1024);

/// Where everything lies, as offsets from the block's beginning.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Arena {
    /// The task that the host calls.
    pub(super) entry: TaskId,
    /// How many calls.
    pub(super) roots: u64,
    /// Elements of each stack.
    pub(super) capacities: Vec<u64>,
    /// The array of each field.
    pub(super) fields: Vec<u64>,
    /// The results of the calls, one behind another.
    pub(super) results: u64,
    /// Size and alignment of a result.
    pub(super) result: Layout,
    /// The control record.
    pub(super) control: u64,
    /// The published dispatch record.
    pub(super) dispatch: u64,
    /// The tables that the control record points at.
    pub(super) counter: u64,
    /// See [`Control::tiles`].
    pub(super) tiles: u64,
    /// See [`Control::standing`].
    pub(super) standing: u64,
    /// See [`Control::levels`].
    pub(super) levels_at: u64,
    /// See [`Control::waiting`].
    pub(super) waiting: u64,
    /// The records of decisions ([`records`](super::records)); 0 bytes where none are kept.
    pub(super) records: u64,
    /// The shares of blocks, behind them.
    pub(super) shares: u64,
    /// Bytes of both.
    pub(super) records_bytes: u64,
    /// See [`Control::leaves`].
    pub(super) leaves: u64,
    /// The record of a subtree dispatch's workers, what they offer, what they leave, and how many there is room for.
    pub(super) crew: u64,
    pub(super) gifts: u64,
    pub(super) rests: u64,
    pub(super) workers: u32,
    /// How much of the levels there is room to remember.
    pub(super) room: Room,
    /// What lies before this offset is to be zero when a run begins.
    pub(super) zeroed: u64,
    /// For each inherited field whether it is kept once.
    pub(super) once: Vec<bool>,
    /// Bytes of the block.
    pub(super) size: u64,
    /// Where everything lies in the module's global.
    channels: Channels,
}

impl Arena {
    /// Divides a block of `budget` bytes for `roots` calls of a task. None if it is too small.
    pub(super) fn new(
        plan: &Plan,
        budget: u64,
        entry: TaskId,
        roots: u64,
        records: u32,
    ) -> Option<Self> {
        let result = plan.ret(entry).layout(&plan.program.program.structs);
        // A record, and a count of leaves.
        let level = Level::new(plan).bytes();
        let known = (budget / LEVELS_SHARE / (level + 8)).clamp(FIRST_LEVELS.0, FIRST_LEVELS.1);
        let mut at = 0u64;
        let mut take = |bytes: u64| {
            let here = at;
            at = at.saturating_add(bytes).next_multiple_of(FIELD_ALIGN);
            here
        };
        let results = take(roots.checked_mul(result.size.max(1))?);
        let control = take(size_of::<Control>() as u64);
        let dispatch = take(Dispatch::new(plan).bytes());
        let counter = take(8 * plan.groups() as u64);
        let standing = take(Standing::new(plan).bytes());
        let leaves = take(8 * (plan.stacks.len() as u64 + known + 1));
        let zeroed = at;
        let mut take = |bytes: u64| {
            let here = at;
            at = at.saturating_add(bytes).next_multiple_of(FIELD_ALIGN);
            here
        };
        let tiles = take(if plan.gives_back() {
            Tiles::new(plan).bytes()
        } else {
            0
        });
        let levels_at = take(level * known);
        let crew = take(Crew::new(plan).bytes());
        let rests_of = (plan.stacks.len() * size_of::<Rest>()) as u64;
        let worker = size_of::<Gift>() as u64 + rests_of;
        let workers = (budget / WORKERS_SHARE / worker).min(MOST_BLOCKS.into());
        let gifts = take(workers * size_of::<Gift>() as u64);
        let rests = take(workers * rests_of);
        let once = plan.kept_once(entry, roots);
        let left = budget.checked_sub(at)?.checked_sub(FIELD_ALIGN)?;
        let (capacities, marks) = plan.capacities(left, entry, roots, &once)?;
        let waiting = at;
        at = (at + marks * size_of::<Mark>() as u64).next_multiple_of(FIELD_ALIGN);
        let mut fields = Vec::new();
        for (stack, capacity) in plan.stacks.iter().zip(&capacities) {
            let (offsets, size) = stack.offsets(*capacity, &once);
            fields.extend(offsets.iter().map(|o| at + o));
            at += size;
        }
        if at > budget {
            return None;
        }
        // Records lie outside of the budget: they change nothing.
        let (records, shares, records_bytes) = match records {
            0 => (0, 0, 0),
            n => {
                let shares = (at + records::bytes(plan, n)).next_multiple_of(FIELD_ALIGN);
                let end = shares + records::share_bytes(plan, records::shares(n));
                (at, shares, end - at)
            }
        };
        Some(Self {
            entry,
            roots,
            capacities,
            fields,
            results,
            result,
            control,
            dispatch,
            counter,
            tiles,
            standing,
            levels_at,
            waiting,
            records,
            shares,
            records_bytes,
            leaves,
            crew,
            gifts,
            rests,
            workers: workers as u32,
            room: Room {
                known: known as u32,
                marks: marks as u32,
            },
            zeroed,
            once,
            size: at,
            channels: Channels::new(plan),
        })
    }

    /// The module's global, for a block at that address.
    pub(super) fn channels(&self, base: u64) -> Vec<u8> {
        let at = &self.channels;
        let mut words = at.zeroed();
        at.control.set(&mut words, base + self.control);
        at.memory.set(&mut words, base);
        let fields: Vec<u64> = self.fields.iter().map(|f| base + f).collect();
        at.fields.fill(&mut words, &fields);
        let capacities: Vec<u32> = self.capacities.iter().map(|c| *c as u32).collect();
        at.capacity.fill(&mut words, &capacities);
        let each = self
            .once
            .iter()
            .map(|once| if *once { 0 } else { u32::MAX });
        at.each.fill(&mut words, &each.collect::<Vec<u32>>());
        at.known.set(&mut words, self.room.known);
        if self.records_bytes > 0 {
            at.records.set(&mut words, base + self.records);
            at.shares.set(&mut words, base + self.shares);
        }
        words.into_iter().flat_map(u32::to_le_bytes).collect()
    }

    /// The control record at the start of a run, for a block at that address; the fields that are the host's are still to be filled:
    /// `max_depth`, `watchdog`, `cancel`, `mailbox`.
    pub(super) fn control(&self, base: u64) -> Control {
        Control {
            marks: self.room.marks,
            counter: base + self.counter,
            tiles: base + self.tiles,
            limit: u32::MAX,
            standing: base + self.standing,
            levels: base + self.levels_at,
            waiting: base + self.waiting,
            leaves: base + self.leaves,
            ..Control::default()
        }
    }

    /// The arrays of the root elements: offset and bytes, one for each field. `args` are the pieces of each call, scalars little-endian.
    ///
    /// # Panics
    /// If they are not the pieces of the task's parameters.
    pub(super) fn root_elements(
        &self,
        plan: &Plan,
        base: u64,
        args: &[Vec<Vec<u8>>],
    ) -> Vec<(u64, Vec<u8>)> {
        let stack = &plan.stacks[plan.number_of(StackRef::Entry(self.entry), false) as usize];
        let returns = plan.program[self.entry].segments[0].ret.is_some();
        let mut out = Vec::new();
        for (i, field) in stack.fields.iter().enumerate() {
            let mut bytes = Vec::new();
            for (root, call) in args.iter().enumerate() {
                let own = if returns && i + 1 == stack.fields.len() {
                    let offset = self.results + root as u64 * self.result.size;
                    if plan.short_returns[self.entry.index()] {
                        ((offset / plan.return_unit(self.entry)) as u32)
                            .to_le_bytes()
                            .to_vec()
                    } else {
                        (base + offset).to_le_bytes().to_vec()
                    }
                } else {
                    call[i].clone()
                };
                let size = match field.kind {
                    PieceKind::Scalar(s) => s.size(),
                    PieceKind::Blob(layout) => layout.size,
                };
                assert_eq!(own.len() as u64, size, "a piece of the parameter's size");
                bytes.extend(own);
                bytes.resize(((root as u64 + 1) * stride(field)) as usize, 0);
            }
            out.push((self.fields[stack.first_field as usize + i], bytes));
        }
        out
    }
}
