//! The memory of a run: one block of bytes on the device, and where everything lies in it.

use super::{
    abi::{Channels, Control, Dispatch, LIST_WORDS, Level, Standing},
    plan::Plan,
};
use crate::layout::{FIELD_ALIGN, stride};
use millstream_graph::{
    ir::TaskId,
    levelized::StackRef,
    ty::{Layout, PieceKind},
};

/// Levels are counted up to this, if memory is plenty.
const MOST_LEVELS: u64 = 1 << 20;

/// Where everything lies, as offsets from the block's beginning.
#[derive(Clone, PartialEq, Debug)]
pub struct Arena {
    /// The task that the host calls.
    pub entry: TaskId,
    /// How many calls.
    pub roots: u64,
    /// Elements of each stack.
    pub capacities: Vec<u64>,
    /// The array of each field.
    pub fields: Vec<u64>,
    /// The results of the calls, one behind another.
    pub results: u64,
    /// Size and alignment of a result.
    pub result: Layout,
    /// The control record.
    pub control: u64,
    /// The published dispatch record.
    pub dispatch: u64,
    /// The tables that the control record points at.
    pub counter: u64,
    /// See [`Control::list`].
    pub list: u64,
    /// See [`Control::standing`].
    pub standing: u64,
    /// See [`Control::records`].
    pub records: u64,
    /// See [`Control::leaves`].
    pub leaves: u64,
    /// How many levels there is room for.
    pub levels: u32,
    /// What lies before this offset is to be zero when a run begins.
    pub zeroed: u64,
    /// For each inherited field whether it is kept once.
    pub once: Vec<bool>,
    /// Where everything lies in the module's global.
    channels: Channels,
    /// Bytes of the block.
    pub size: u64,
}

impl Arena {
    /// Divides a block of `budget` bytes for `roots` calls of a task. None if it is too small.
    #[must_use]
    pub fn new(plan: &Plan, budget: u64, entry: TaskId, roots: u64) -> Option<Self> {
        let result = plan.ret(entry).layout(&plan.program.program.structs);
        // A record, and a count of leaves.
        let record = Level::new(plan).bytes();
        let levels = (budget / 64 / (record + 8)).clamp(64, MOST_LEVELS);
        let mut at = 0u64;
        let mut take = |bytes: u64| {
            let here = at;
            at = at.saturating_add(bytes).next_multiple_of(FIELD_ALIGN);
            here
        };
        let results = take(roots.checked_mul(result.size.max(1))?);
        let control = take(size_of::<Control>() as u64);
        let dispatch = take(Dispatch::new(plan).bytes());
        let counter = take(4 * plan.groups() as u64);
        let standing = take(Standing::new(plan).bytes());
        let leaves = take(8 * (plan.stacks.len() as u64 + levels + 1));
        let zeroed = at;
        let mut take = |bytes: u64| {
            let here = at;
            at = at.saturating_add(bytes).next_multiple_of(FIELD_ALIGN);
            here
        };
        let list = take(if plan.gives_back() {
            4 * u64::from(LIST_WORDS)
        } else {
            0
        });
        let records = take(record * levels);
        let once = plan.kept_once(entry, roots);
        let capacities = plan.capacities(budget.checked_sub(at)?, entry, roots, &once)?;
        let mut fields = Vec::new();
        for (stack, capacity) in plan.stacks.iter().zip(&capacities) {
            let (offsets, size) = stack.offsets(*capacity, &once);
            fields.extend(offsets.iter().map(|o| at + o));
            at += size;
        }
        (at <= budget).then_some(Self {
            entry,
            roots,
            capacities,
            fields,
            results,
            result,
            control,
            dispatch,
            counter,
            list,
            standing,
            records,
            leaves,
            levels: levels as u32,
            zeroed,
            once,
            channels: Channels::new(plan),
            size: at,
        })
    }

    /// The module's global, for a block at that address.
    #[must_use]
    pub fn channels(&self, base: u64) -> Vec<u8> {
        let at = &self.channels;
        let mut words = at.zeroed();
        at.control.set(&mut words, base + self.control);
        at.memory.set(&mut words, base);
        let fields: Vec<u64> = self.fields.iter().map(|f| base + f).collect();
        at.fields.fill(&mut words, &fields);
        let capacities: Vec<u32> = self.capacities.iter().map(|c| *c as u32).collect();
        at.capacity.fill(&mut words, &capacities);
        let each: Vec<u32> = self
            .once
            .iter()
            .map(|o| if *o { 0 } else { u32::MAX })
            .collect();
        at.each.fill(&mut words, &each);
        words.into_iter().flat_map(u32::to_le_bytes).collect()
    }

    /// The control record at the start of a run, for a block at that address; the fields that are the host's are still to be filled:
    /// `max_depth`, `watchdog`, `cancel`, `mailbox`.
    #[must_use]
    pub fn control(&self, base: u64) -> Control {
        Control {
            levels: self.levels,
            counter: base + self.counter,
            list: base + self.list,
            limit: u32::MAX,
            standing: base + self.standing,
            records: base + self.records,
            leaves: base + self.leaves,
            ..Control::default()
        }
    }

    /// The arrays of the root elements: offset and bytes, one for each field. `args` are the pieces of each call, scalars little-endian.
    ///
    /// # Panics
    /// If they are not the pieces of the task's parameters.
    #[must_use]
    pub fn root_elements(
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
                    if plan.narrow[self.entry.index()] {
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
