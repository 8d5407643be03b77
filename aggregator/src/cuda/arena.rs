//! The memory of a run: one block of bytes on the device, and where everything lies in it.

use super::{levels::Room, records};
use millstream_channels_kernel::{
    cuda::{
        abi::{
            Channels, Control, Crew, Dispatch, Gift, Level, MOST_BLOCKS, Mark, Regions, Rest,
            Standing, Tiles,
        },
        division::Division,
        plan::Plan,
    },
    layout::{FIELD_ALIGN, stride},
};
use millstream_graph::{
    ir::TaskId,
    levelized::StackRole,
    ty::{Layout, PieceKind},
};

/// For what is known of the first levels there is one part in so many of what stacks and marks take.
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
    /// Everything else.
    pub(super) tables: Tables,
    /// Size and alignment of a result.
    pub(super) result: Layout,
    /// The records of decisions ([`records`](super::records)); 0 bytes where none are kept.
    pub(super) records: u64,
    /// The shares of blocks, behind them.
    pub(super) shares: u64,
    /// Bytes of both.
    pub(super) records_bytes: u64,
    /// For each inherited field whether it is kept once.
    pub(super) once: Vec<bool>,
    /// Where everything lies in the module's global.
    channels: Channels,
}

/// Where everything lies that is no stack, and how much there is of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tables {
    /// The results of the calls, one behind another.
    pub(super) results: u64,
    /// The control record.
    pub(super) control: u64,
    /// The published dispatch record.
    pub(super) dispatch: u64,
    /// The tables that the control record points at.
    pub(super) counter: u64,
    /// How far the run is, when the persistent kernel begins and when it ends.
    pub(super) standing: u64,
    /// See [`Control::leaves`].
    pub(super) leaves: u64,
    /// See [`Control::regions`].
    pub(super) regions: u64,
    /// What lies before this offset is to be zero when a run begins.
    pub(super) zeroed: u64,
    /// See [`Control::tiles`].
    pub(super) tiles: u64,
    /// See [`Control::levels`].
    pub(super) levels: u64,
    /// The record of a subtree dispatch's workers, what they offer, what they leave, and how many there is room for.
    pub(super) crew: u64,
    pub(super) gifts: u64,
    pub(super) rests: u64,
    pub(super) workers: u32,
    /// See [`Control::waiting`].
    pub(super) waiting: u64,
    /// How much of the levels there is room to remember.
    pub(super) room: Room,
    /// The stacks.
    stacks: u64,
    /// Bytes of the block.
    pub(super) size: u64,
}

/// How much each of these takes.
struct Sizes {
    result: Layout,
    results: u64,
    dispatch: u64,
    counter: u64,
    standing: u64,
    stacks: u64,
    tiles: u64,
    regions: u64,
    level: u64,
    crew: u64,
    rests: u64,
}

impl Sizes {
    fn new(plan: &Plan, entry: TaskId, roots: u64) -> Option<Self> {
        let result = plan.ret(entry).layout(&plan.program.program.structs);
        Some(Self {
            result,
            results: roots.checked_mul(result.size.max(1))?,
            dispatch: Dispatch::new(plan).bytes(),
            counter: 8 * plan.groups() as u64,
            standing: Standing::new(plan).bytes(),
            stacks: plan.stacks.len() as u64,
            tiles: match plan.gives_back() {
                true => Tiles::new(plan).bytes(),
                false => 0,
            },
            regions: match plan.has_regions() {
                true => size_of::<Regions>() as u64,
                false => 0,
            },
            level: Level::new(plan).bytes(),
            crew: Crew::new(plan).bytes(),
            rests: (plan.stacks.len() * size_of::<Rest>()) as u64,
        })
    }

    /// Lays everything out for so many units. No part of it, and so nothing behind it, is smaller for more of them.
    fn lay(&self, division: &Division<'_>, units: u64) -> Tables {
        let (stacks, marks) = (division.bytes(units), division.marks(units));
        let marks_bytes = marks * size_of::<Mark>() as u64;
        let shared = stacks.saturating_add(marks_bytes);
        // A record, and a count of leaves.
        let known =
            (shared / LEVELS_SHARE / (self.level + 8)).clamp(FIRST_LEVELS.0, FIRST_LEVELS.1);
        let worker = size_of::<Gift>() as u64 + self.rests;
        let workers = (shared / WORKERS_SHARE / worker).min(MOST_BLOCKS.into());
        let mut at = 0u64;
        let mut take = |bytes: u64| {
            let here = at;
            at = at.saturating_add(bytes.next_multiple_of(FIELD_ALIGN));
            here
        };
        let results = take(self.results);
        let control = take(size_of::<Control>() as u64);
        let dispatch = take(self.dispatch);
        let counter = take(self.counter);
        let standing = take(self.standing);
        let leaves = take(8 * (self.stacks + known + 1));
        let regions = take(self.regions);
        let zeroed = take(0);
        Tables {
            results,
            control,
            dispatch,
            counter,
            standing,
            leaves,
            regions,
            zeroed,
            tiles: take(self.tiles),
            levels: take(self.level * known),
            crew: take(self.crew),
            gifts: take(workers * size_of::<Gift>() as u64),
            rests: take(workers * self.rests),
            workers: workers as u32,
            waiting: take(marks_bytes),
            room: Room {
                known: known as u32,
                marks: marks.min(u64::from(u32::MAX)) as u32,
            },
            stacks: take(stacks),
            size: take(0),
        }
    }
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
        let once = plan.kept_once(entry, roots);
        let division = Division::new(plan, entry, roots, &once);
        let sizes = Sizes::new(plan, entry, roots)?;
        let fits = |units| {
            let tables = sizes.lay(&division, units);
            (tables.size <= budget).then_some(tables)
        };
        // The most units that find room.
        let (mut units, mut over) = (
            division.least(),
            budget.max(division.least()).saturating_add(1),
        );
        let mut tables = fits(units)?;
        while over - units > 1 {
            let middle = units.midpoint(over);
            match fits(middle) {
                Some(more) => (units, tables) = (middle, more),
                None => over = middle,
            }
        }
        let (mut at, mut capacities, mut fields) = (tables.stacks, Vec::new(), Vec::new());
        for (s, stack) in plan.stacks.iter().enumerate() {
            let capacity = division.capacity(s, units);
            capacities.push(capacity);
            for array in stack.arrays(capacity, &once) {
                fields.push(at);
                at += array;
            }
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
            tables,
            result: sizes.result,
            records,
            shares,
            records_bytes,
            once,
            channels: Channels::new(plan),
        })
    }

    /// The module's global, for a block at that address, and for tasks to which these words are bound.
    pub(super) fn channels(&self, base: u64, uniforms: &[u64]) -> Vec<u8> {
        let at = &self.channels;
        let mut words = at.zeroed();
        at.control.set(&mut words, base + self.tables.control);
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
        at.known.set(&mut words, self.tables.room.known);
        at.uniforms.fill(&mut words, uniforms);
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
            marks: self.tables.room.marks,
            counter: base + self.tables.counter,
            tiles: base + self.tables.tiles,
            limit: u32::MAX,
            levels: base + self.tables.levels,
            waiting: base + self.tables.waiting,
            leaves: base + self.tables.leaves,
            regions: base + self.tables.regions,
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
        let stack = &plan.stacks[plan.number_of(StackRole::Entry(self.entry), false) as usize];
        let returns = plan.program.entry(self.entry).ret.is_some();
        let mut out = Vec::new();
        for (i, field) in stack.fields.iter().enumerate() {
            let mut bytes = Vec::new();
            for (root, call) in args.iter().enumerate() {
                let own = if returns && i + 1 == stack.fields.len() {
                    let offset = self.tables.results + root as u64 * self.result.size;
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
