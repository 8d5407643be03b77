//! How a worker's stacks run elements that lie in a ring, and what they hold of what those emit.

use super::channel::{FlowChannel, Offered};
use crate::worker::{Origin, Stop, Worker};
use millstream_channels_kernel::{
    layout::{StackIndex, stride},
    ring::Ring,
};
use millstream_graph::{fault::FaultValue, levelized::Field, ty::PieceKind};

impl Worker<'_> {
    /// Runs elements of a ring where they lie, with all that comes of them; says how many of them, from the first one up. Those that find
    /// no room beside what is emitted stay; none runs only if something emitted before takes the room.
    pub(super) fn run_in_place(
        &mut self,
        task: usize,
        ring: &Ring,
        first: u64,
        count: u64,
    ) -> Result<u64, Stop> {
        let plan = self.plan;
        let entry = plan.tasks[task].entry;
        let layout = &plan.layouts[entry];
        for field in 0..layout.fields.len() {
            let at = layout.first_field as usize + field;
            self.stacks.memory.point(at, ring.field(field));
        }
        let staged = self.staged_bytes() > 0;
        self.origins.push(Origin {
            base: 0,
            depth: 0,
            root: task,
            task,
            floor: first,
            rest: true,
        });
        self.look_around();
        self.stacks.states[entry.index()].top = first;
        self.open_bases();
        for &stack in &plan.staging {
            self.stacks.levels.set_base(0, stack, 0);
        }
        self.stacks.states[entry.index()].top = first + count;
        self.deep = 0;
        self.descend(self.staged_beyond());
        self.drain(0)?;
        let next = self.stacks.levels.base(0, entry);
        if next == first && !staged {
            return Err(self.no_room(task, &plan.tasks[task].pushes));
        }
        self.origins.pop();
        self.look_around();
        Ok(next - first)
    }

    /// Bytes that were emitted and lie here yet.
    fn staged_bytes(&self) -> u64 {
        let stacks = self.plan.staging.iter();
        stacks
            .map(|&s| self.stacks.top(s) * self.plan.bytes[s.index()])
            .sum()
    }

    /// Those of them that the first level's allowance does not cover.
    pub(crate) fn staged_beyond(&self) -> u64 {
        self.staged_bytes()
            .saturating_sub(self.run.pool.allowances.of(0))
    }

    /// Puts what was emitted into a channel there, and keeps what finds no room.
    pub(super) fn flush_staged(
        &mut self,
        stack: StackIndex,
        into: &FlowChannel,
        alone: bool,
    ) -> Offered {
        let layout = &self.plan.layouts[stack];
        let count = self.stacks.top(stack);
        let memory = &mut self.stacks.memory;
        let field = |field| memory.values(layout, stack.index(), field, count);
        let offered = into.offer(count, field, alone);
        memory.drop_first(layout, stack.index(), offered.taken, count);
        self.stacks.note_room(stack);
        self.stacks.states[stack.index()].top = count - offered.taken;
        self.live -= offered.taken * self.plan.bytes[stack.index()];
        self.deep = self.staged_beyond();
        self.give_back();
        offered
    }

    /// Lets what is emitted next have all room of a stack.
    pub(super) fn regain_room(&mut self, stack: StackIndex) {
        let (layout, count) = (&self.plan.layouts[stack], self.stacks.top(stack));
        self.stacks.memory.move_back(layout, stack.index(), count);
        self.stacks.note_room(stack);
    }

    /// An element of a ring for a message: its fields by name.
    pub(super) fn element(&self, ring: &Ring, fields: &[Field], slot: u64) -> String {
        let values = fields.iter().enumerate().map(|(f, field)| {
            let PieceKind::Scalar(ty) = field.kind else {
                return format!("{}: ..", field.name);
            };
            let mut bits = [0; 8];
            let size = stride(field) as usize;
            // SAFETY: this worker has the element in hand, which lies in the field's array.
            unsafe {
                let from = ring.field(f).add(slot as usize * size);
                from.copy_to_nonoverlapping(bits.as_mut_ptr(), size);
            }
            let bits = u64::from_ne_bytes(bits);
            format!("{}: {}", field.name, FaultValue { ty, bits })
        });
        let values: Vec<String> = values.collect();
        format!("({})", values.join(", "))
    }
}
