//! Private channel stacks in machine code: `talloc` is a register that grows, `enq` the stores behind it.
//!
//! Registers are what the element loop is short of, so:
//! - The `top` of a stack that a segment pushes to lives in a register during the loop. Within a block the pushes so far are only
//!   counted (`Top::pending`), so that all of a block's stores share one index and differ in their displacement.
//! - Stacks that grow in step (a frame and its continuation) share one counter: the follower's base addresses take up the distance.
//! - As many bases of fields stay in registers as are left; the others are put aside, and read where they are used.

use super::{
    abi::{StackState, WorkerContext},
    body::{Gen, Kept, MEMORY, clif},
    room::Pushes,
};
use crate::layout::{StackIndex, stride};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::Variable;
use millstream_graph::{
    ir::{ChannelId, FuncId, LocalId, Operand, TaskId},
    levelized::Segment,
    ty::{Layout, PieceKind},
};
use std::{
    collections::BTreeMap,
    mem::{offset_of, size_of},
};

/// Registers that the allocator may hand out on the machine with the fewest, x86-64.
const REGISTERS: usize = 14;

/// A stack that the segment pushes to.
pub(super) struct Top {
    /// Elements on the stack at the start of the block, or on the one that it follows.
    pub(super) var: Variable,
    /// The stack that grows in step with this one, if that one has the counter.
    follows: Option<StackIndex>,
    /// Elements that the block has pushed since.
    pending: u64,
    /// The stack's limit, where pushes cannot be counted beforehand. It may grow within an element.
    pub(super) limit: Option<Kept>,
    /// Where some children are leaves: how many were spawned, pushed or not.
    spawned: Option<Variable>,
    /// How many of them the block has spawned.
    spawning: u64,
    /// Pushed to only where an element is given up for want of room: there its top is read, and written back at once.
    pub(super) rare: bool,
}

/// The channel stacks of a segment.
pub(super) struct Channels {
    task: TaskId,
    /// Where the return address is when the task ends.
    pub(super) ret: Option<LocalId>,
    pub(super) tops: BTreeMap<StackIndex, Top>,
    /// Whether it asks for room before it pushes what cannot be counted.
    restarts: bool,
    /// Base address of each field's array that the segment touches, by the field's number. Of a stack that follows another: what to
    /// add the other's index to.
    pub(super) bases: BTreeMap<u32, Kept>,
    /// This task's frame.
    pub(super) frame: Option<Variable>,
    /// The element that is being consumed, in an entry segment.
    pub(super) element: Option<Variable>,
}

/// Address of a stack's state within the array of states.
pub(super) fn state_offset(stack: StackIndex, field: usize) -> i32 {
    (stack.index() * size_of::<StackState>() + field) as i32
}

impl<'p> Gen<'_, 'p> {
    /// Loads what the loop needs of its channels: tops, and the bases of the fields it touches. Says whether registers are left for more.
    pub(super) fn open_channels(
        &mut self,
        task: TaskId,
        segment: Segment<'p>,
        entry: bool,
    ) -> bool {
        let layouts = self.unit.layouts;
        let pushed = self.pushed(task, segment);
        let own: Vec<StackIndex> = layouts
            .frame(task)
            .into_iter()
            .chain(entry.then(|| layouts.entry(task)))
            .collect();
        let ctx = self.ctx();
        let states = self.b.ins().load(
            types::I64,
            MEMORY,
            ctx,
            offset_of!(WorkerContext, stacks) as i32,
        );
        let arrays = self.b.ins().load(
            types::I64,
            MEMORY,
            ctx,
            offset_of!(WorkerContext, fields) as i32,
        );
        let mut channels = Channels {
            task,
            ret: segment.ret,
            tops: BTreeMap::new(),
            restarts: segment.body.restarts().is_some(),
            bases: BTreeMap::new(),
            frame: layouts.frame(task).map(|_| self.b.declare_var(types::I64)),
            element: entry.then(|| self.b.declare_var(types::I64)),
        };
        let touched = own.iter().chain(pushed.keys().filter(|s| !own.contains(s)));
        let is_rare = |s: &StackIndex| pushed.get(s).is_some_and(|p| p.rare);
        let fields: usize = touched
            .filter(|s| !is_rare(s))
            .map(|&s| layouts[s].fields.len())
            .sum();
        let tops = pushed.values().filter(|p| !p.rare).count();
        // The loop's two ends, a top for each stack, the arguments and one to compute with.
        let mut free = REGISTERS.saturating_sub(3 + tops + segment.body.args.len().max(2));
        let roomy = fields <= free + 1;
        // This task's own stacks first: they are used most, and have counters of their own.
        let others = pushed.keys().filter(|s| !own.contains(s));
        for &stack in own.iter().chain(others) {
            let distance = if pushed.contains_key(&stack) {
                let may_follow = !own.contains(&stack);
                self.open_top(&mut channels, states, stack, &pushed, may_follow)
            } else {
                None
            };
            let layout = &layouts[stack];
            if is_rare(&stack) {
                for number in (layout.first_field..).take(layout.fields.len()) {
                    let late = self.stack_slot(Layout { size: 8, align: 8 });
                    channels.bases.insert(number, Kept::Aside(late));
                }
                continue;
            }
            for (field, number) in layout.fields.iter().zip(layout.first_field..) {
                let mut base = self
                    .b
                    .ins()
                    .load(types::I64, MEMORY, arrays, number as i32 * 8);
                if let Some(distance) = distance {
                    let bytes = self.scaled(distance, stride(field));
                    base = self.b.ins().iadd(base, bytes);
                }
                channels
                    .bases
                    .insert(number, self.keep(base, roomy || free > 0));
                free = free.saturating_sub(1);
            }
        }
        self.channels = Some(channels);
        roomy
    }

    /// Loads the top of a stack that is pushed to. One that grows in step with another, as those may that are not the task's own, has no
    /// counter: then this is its distance from that one.
    fn open_top(
        &mut self,
        channels: &mut Channels,
        states: Value,
        stack: StackIndex,
        pushed: &BTreeMap<StackIndex, Pushes>,
        may_follow: bool,
    ) -> Option<Value> {
        let load = |this: &mut Self, field| {
            let at = state_offset(stack, field);
            this.b.ins().load(types::I64, MEMORY, states, at)
        };
        let pushes = &pushed[&stack];
        if pushes.rare {
            let top = Top {
                var: self.b.declare_var(types::I64),
                follows: None,
                pending: 0,
                limit: None,
                spawned: None,
                spawning: 0,
                rare: true,
            };
            channels.tops.insert(stack, top);
            return None;
        }
        let top = load(self, offset_of!(StackState, top));
        let in_step = |other: &StackIndex, of: &Top| {
            let theirs = &pushed[other];
            let counts = of.follows.is_none() && of.limit.is_none() && !theirs.leaves;
            counts && !theirs.rare && theirs.blocks == pushes.blocks
        };
        let lead = channels
            .tops
            .iter()
            .filter(|_| may_follow && pushes.max.is_some() && !pushes.leaves)
            .find(|(other, of)| in_step(other, of))
            .map(|(&other, of)| (other, of.var));
        let (var, follows, distance) = match lead {
            Some((lead, var)) => {
                let theirs = self.b.use_var(var);
                let distance = self.b.ins().isub(top, theirs);
                (var, Some(lead), Some(distance))
            }
            None => {
                let var = self.b.declare_var(types::I64);
                self.b.def_var(var, top);
                (var, None, None)
            }
        };
        let limit = pushes.max.is_none().then(|| {
            let limit = load(self, offset_of!(StackState, limit));
            Kept::Aside(self.put_aside(limit))
        });
        let spawned = pushes.leaves.then(|| {
            let spawned = self.b.declare_var(types::I64);
            let none = self.b.ins().iconst(types::I64, 0);
            self.b.def_var(spawned, none);
            spawned
        });
        let top = Top {
            var,
            follows,
            pending: 0,
            limit,
            spawned,
            spawning: 0,
            rare: false,
        };
        channels.tops.insert(stack, top);
        distance
    }

    /// The task whose segment this is.
    pub(super) fn task(&mut self) -> TaskId {
        self.channels().task
    }

    pub(super) fn channels(&mut self) -> &mut Channels {
        self.channels
            .as_mut()
            .expect("only segments touch channels")
    }

    /// Writes the tops back to the context. Where the loop is left within an element, they are those of the last block's start: the
    /// run is over then.
    pub(super) fn close_channels(&mut self) {
        let tops: Vec<_> = self
            .channels()
            .tops
            .iter()
            .filter(|(_, t)| !t.rare)
            .map(|(&s, t)| (s, t.var, t.follows, t.spawned))
            .collect();
        if tops.is_empty() {
            return;
        }
        let top_of = |stack| state_offset(stack, offset_of!(StackState, top));
        let ctx = self.ctx();
        let states = self.b.ins().load(
            types::I64,
            MEMORY,
            ctx,
            offset_of!(WorkerContext, stacks) as i32,
        );
        let mut new = Vec::new();
        for (stack, var, follows, spawned) in tops {
            let mut top = self.b.use_var(var);
            if let Some(spawned) = spawned {
                // What was spawned and not pushed.
                let leaves_of = state_offset(stack, offset_of!(StackState, leaves));
                let (old, before) = (
                    self.b.ins().load(types::I64, MEMORY, states, leaves_of),
                    self.b.ins().load(types::I64, MEMORY, states, top_of(stack)),
                );
                let pushed = self.b.ins().isub(top, before);
                let spawned = self.b.use_var(spawned);
                let leaves = self.b.ins().isub(spawned, pushed);
                let leaves = self.b.ins().iadd(old, leaves);
                self.b.ins().store(MEMORY, leaves, states, leaves_of);
            }
            if let Some(lead) = follows {
                // As far ahead of its old top as the stack that it follows.
                let (mine, theirs) = (
                    self.b.ins().load(types::I64, MEMORY, states, top_of(stack)),
                    self.b.ins().load(types::I64, MEMORY, states, top_of(lead)),
                );
                let distance = self.b.ins().isub(mine, theirs);
                top = self.b.ins().iadd(top, distance);
            }
            new.push((stack, top));
        }
        for (stack, top) in new {
            self.b.ins().store(MEMORY, top, states, top_of(stack));
        }
    }

    /// Adds the pushes of this block to the tops; at the end of a block of a segment.
    pub(super) fn flush(&mut self) {
        let Some(channels) = &mut self.channels else {
            return;
        };
        let mut rare = Vec::new();
        for (&stack, top) in &mut channels.tops {
            let (pushes, spawns) = (
                std::mem::take(&mut top.pending),
                std::mem::take(&mut top.spawning),
            );
            let grown = [
                (Some(top.var).filter(|_| top.follows.is_none()), pushes),
                (top.spawned, spawns),
            ];
            for (var, by) in grown.into_iter().filter(|g| g.1 > 0) {
                let Some(var) = var else { continue };
                let old = self.b.use_var(var);
                let new = self.b.ins().iadd_imm_u(old, by as i64);
                self.b.def_var(var, new);
                rare.extend(Some((stack, new)).filter(|_| top.rare));
            }
        }
        for (stack, top) in rare {
            let (states, at) = self.top_of(stack);
            self.b.ins().store(MEMORY, top, states, at);
        }
    }

    /// `talloc` of one element: its index as a value and what is to be added to it.
    pub(super) fn talloc(&mut self, stack: StackIndex) -> (Value, u64) {
        let top = self
            .channels()
            .tops
            .get_mut(&stack)
            .expect("`pushed` found every stack");
        let (var, at, limit) = (top.var, top.pending, top.limit);
        top.pending += 1;
        top.spawning += 1;
        let index = self.b.use_var(var);
        if let Some(limit) = limit.filter(|_| !self.channels().restarts) {
            let here = if at == 0 {
                index
            } else {
                self.b.ins().iadd_imm_u(index, at as i64)
            };
            let room = self.is_below(here, limit);
            let (more, after) = (self.b.create_block(), self.b.create_block());
            self.b.set_cold_block(more);
            self.b.ins().brif(room, after, &[], more, &[]);
            self.b.switch_to_block(more);
            self.ask_for_more(stack, here, limit);
            self.b.ins().jump(after, &[]);
            self.b.switch_to_block(after);
        }
        (index, at)
    }

    /// Address of an element's field: a register and a displacement.
    pub(super) fn field_at(
        &mut self,
        field: u32,
        index: Value,
        add: u64,
        layout: Layout,
    ) -> (Value, i32) {
        let base = self.channels().bases[&field];
        let base = self.kept(base);
        let stride = layout.size.next_multiple_of(layout.align);
        let scaled = self.scaled(index, stride);
        let addr = self.b.ins().iadd(base, scaled);
        self.displaced(addr, add * stride)
    }

    /// `index * scale`
    pub(super) fn scaled(&mut self, index: Value, scale: u64) -> Value {
        if scale.is_power_of_two() {
            self.b
                .ins()
                .ishl_imm_u(index, i64::from(scale.trailing_zeros()))
        } else {
            self.b.ins().imul_imm_u(index, scale as i64)
        }
    }

    /// `addr + offset` as a register and a displacement.
    pub(super) fn displaced(&mut self, addr: Value, offset: u64) -> (Value, i32) {
        match i32::try_from(offset) {
            Ok(small) => (addr, small),
            Err(_) => (self.b.ins().iadd_imm_u(addr, offset as i64), 0),
        }
    }

    pub(super) fn whole(&mut self, (addr, offset): (Value, i32)) -> Value {
        if offset == 0 {
            addr
        } else {
            self.b.ins().iadd_imm_u(addr, i64::from(offset))
        }
    }

    /// Reads the scalar fields of the element that is consumed, and binds them and its blobs as arguments.
    pub(super) fn load_element(&mut self) {
        let func = self.body().func;
        let task = self.task();
        let layout = &self.unit.layouts[self.unit.layouts.entry(task)];
        let index = self
            .channels()
            .element
            .expect("entry segments consume elements");
        let index = self.b.use_var(index);
        for (i, (arg, field)) in func.args.iter().zip(&layout.fields).enumerate() {
            if let (millstream_graph::ir::Arg::Local(local), PieceKind::Scalar(ty)) =
                (arg, field.kind)
            {
                let (addr, at) =
                    self.field_at(layout.first_field + i as u32, index, 0, field.kind.layout());
                let value = self.b.ins().load(clif(ty), MEMORY, addr, at);
                self.set(*local, value);
            }
        }
    }

    /// Address of a blob in the element that is consumed: nobody else touches it, so it is the argument's memory.
    pub(super) fn element_addr(&mut self, field: u32) -> Value {
        let task = self.task();
        let stack = &self.unit.layouts[self.unit.layouts.entry(task)];
        let layout = stack.fields[(field - stack.first_field) as usize]
            .kind
            .layout();
        let index = self
            .channels()
            .element
            .expect("entry segments consume elements");
        let index = self.b.use_var(index);
        let at = self.field_at(field, index, 0, layout);
        self.whole(at)
    }

    /// `talloc`, the stores of the fields, `enq`.
    pub(super) fn spawn(
        &mut self,
        func: FuncId,
        args: &[Operand],
        dest: Option<Operand>,
        leaf: Option<Operand>,
    ) {
        let task = self.unit.program.task_of(func).expect("spawns name tasks");
        let stack = self.unit.layouts.entry(task);
        let values: Vec<Value> = args.iter().chain(&dest).map(|&a| self.operand(a)).collect();
        if let Some(leaf) = leaf {
            let leaf = self.operand(leaf);
            self.spawn_unless(leaf, stack, &values);
            return;
        }
        let at = self.talloc(stack);
        self.fill(stack, at, &values);
    }

    /// The same for an element of a channel of the graph, on the stack that the worker empties into the channel.
    pub(super) fn emit(&mut self, channel: ChannelId, args: &[Operand]) {
        let stack = self.unit.layouts.channel(channel);
        let values: Vec<Value> = args.iter().map(|&a| self.operand(a)).collect();
        let at = self.talloc(stack);
        self.fill(stack, at, &values);
    }

    /// A spawn of a child that may be a leaf, without a branch: the element is written in any case, and the top goes above it if it is none.
    /// The place is there: it is one of those that are counted, or below the limit.
    fn spawn_unless(&mut self, leaf: Value, stack: StackIndex, values: &[Value]) {
        let top = self
            .channels()
            .tops
            .get_mut(&stack)
            .expect("`pushed` found every stack");
        top.spawning += 1;
        let (var, pending, limit) = (top.var, std::mem::take(&mut top.pending), top.limit);
        let mut index = self.b.use_var(var);
        if pending > 0 {
            index = self.b.ins().iadd_imm_u(index, pending as i64);
        }
        let one = self.b.ins().iconst(types::I8, 1);
        let grows = self.b.ins().bxor(leaf, one);
        let grows = self.b.ins().uextend(types::I64, grows);
        let above = self.b.ins().iadd(index, grows);
        self.b.def_var(var, above);
        let Some(limit) = limit.filter(|_| !self.channels().restarts) else {
            return self.fill(stack, (index, 0), values);
        };
        let room = self.is_below(index, limit);
        let (write, full, more, after) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        self.b.set_cold_block(full);
        self.b.set_cold_block(more);
        self.b.ins().brif(room, write, &[], full, &[]);
        self.b.switch_to_block(full);
        self.b.ins().brif(leaf, after, &[], more, &[]);
        self.b.switch_to_block(more);
        self.ask_for_more(stack, index, limit);
        self.b.ins().jump(write, &[]);
        self.b.switch_to_block(write);
        self.fill(stack, (index, 0), values);
        self.b.ins().jump(after, &[]);
        self.b.switch_to_block(after);
    }

    /// Writes the fields of an element, of which `at` is the number: a value and what is to be added to it.
    fn fill(&mut self, stack: StackIndex, (index, add): (Value, u64), values: &[Value]) {
        let layout = &self.unit.layouts[stack];
        for (i, (field, &value)) in layout.fields.iter().zip(values).enumerate() {
            let at = self.field_at(
                layout.first_field + i as u32,
                index,
                add,
                field.kind.layout(),
            );
            match field.kind {
                PieceKind::Scalar(_) => {
                    self.b.ins().store(MEMORY, value, at.0, at.1);
                }
                PieceKind::Blob(layout) => {
                    let to = self.whole(at);
                    self.copy_bytes(to, value, layout);
                }
            }
        }
    }
}
