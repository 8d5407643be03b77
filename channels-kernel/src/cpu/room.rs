//! Room for what a segment pushes: what is known of it beforehand, restart points, and what is asked for while it runs.

use super::{
    abi::{StackState, WorkerContext, status},
    body::{Gen, Kept, MEMORY},
    channel::state_offset,
};
use crate::layout::StackIndex;
use cranelift_codegen::ir::{AbiParam, InstBuilder, Value, condcodes::IntCC, types};
use cranelift_module::Module;
use millstream_graph::{
    flow::Flow,
    ir::{BlockId, StmtKind, TaskId, Terminator},
    levelized::Segment,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    mem::offset_of,
};

/// What a segment's code pushes to a stack.
pub(super) struct Pushes {
    /// At most so many for each element that it consumes; none if that depends on data.
    pub(super) max: Option<u64>,
    /// How many each block pushes.
    pub(super) blocks: Vec<u64>,
    /// Whether some of them are pushed only if they are no leaves.
    pub(super) leaves: bool,
    /// Whether none is pushed where elements find room at their restart points.
    pub(super) rare: bool,
}

impl Gen<'_, '_> {
    /// The stacks that the segment's code pushes to, how often each block does, and at most, as [`Segment::pushes`] says.
    pub(super) fn pushed(
        &self,
        task: TaskId,
        segment: Segment<'_>,
    ) -> BTreeMap<StackIndex, Pushes> {
        let (program, layouts) = (self.unit.program, self.unit.layouts);
        let blocks = &segment.body.blocks;
        let mut out: BTreeMap<StackIndex, Pushes> = BTreeMap::new();
        let mut push = |stack, block: usize, leaves: bool| {
            let pushes = out.entry(stack).or_insert_with(|| {
                let declared = segment.pushes().find(|p| p.stack == layouts[stack].channel);
                let max = declared.and_then(|p| p.max).map(u64::from);
                Pushes {
                    max,
                    blocks: vec![0; blocks.len()],
                    leaves: false,
                    rare: segment.is_rare(layouts[stack].role),
                }
            });
            pushes.blocks[block] += 1;
            pushes.leaves |= leaves;
        };
        for (i, block) in blocks.iter().enumerate() {
            for stmt in &block.stmts {
                match &stmt.kind {
                    StmtKind::Spawn { func, leaf, .. } => {
                        push(
                            layouts.entry(program.task_of(*func).expect("spawns name tasks")),
                            i,
                            leaf.is_some(),
                        );
                    }
                    StmtKind::Emit { channel, .. } => push(layouts.channel(*channel), i, false),
                    StmtKind::FrameAlloc => push(
                        layouts
                            .frame(task)
                            .expect("a task that allocates a frame has some"),
                        i,
                        false,
                    ),
                    _ => {}
                }
            }
            if let Terminator::Continue(next) = block.term {
                push(layouts.continuation(task, next), i, false);
            }
        }
        out
    }

    /// Reads what is known of the stacks that are pushed to only from here on.
    pub(super) fn open_rare(&mut self) {
        let tops = self.channels().tops.iter().filter(|(_, t)| t.rare);
        let rare: Vec<_> = tops.map(|(&stack, top)| (stack, top.var)).collect();
        let layouts = self.unit.layouts;
        for (stack, var) in rare {
            let (states, at) = self.top_of(stack);
            let top = self.b.ins().load(types::I64, MEMORY, states, at);
            self.b.def_var(var, top);
            let (ctx, at) = (self.ctx(), offset_of!(WorkerContext, fields) as i32);
            let arrays = self.b.ins().load(types::I64, MEMORY, ctx, at);
            let layout = &layouts[stack];
            for number in (layout.first_field..).take(layout.fields.len()) {
                let at = number as i32 * 8;
                let base = self.b.ins().load(types::I64, MEMORY, arrays, at);
                let late = self.channels().bases[&number];
                self.change(late, base);
            }
        }
    }

    /// Where the worker has a stack's top.
    pub(super) fn top_of(&mut self, stack: StackIndex) -> (Value, i32) {
        let ctx = self.ctx();
        let at = offset_of!(WorkerContext, stacks) as i32;
        let states = self.b.ins().load(types::I64, MEMORY, ctx, at);
        (states, state_offset(stack, offset_of!(StackState, top)))
    }

    /// How many elements may be consumed, at most `count`: as many as find room for all pushes that can be counted.
    pub(super) fn room_for(&mut self, task: TaskId, segment: Segment<'_>, count: Value) -> Value {
        let ctx = self.ctx();
        let states = self.b.ins().load(
            types::I64,
            MEMORY,
            ctx,
            offset_of!(WorkerContext, stacks) as i32,
        );
        let mut allowed = count;
        for (stack, pushes) in self.pushed(task, segment) {
            // Of those the worker has seen to one, for the element with which the run ends.
            let Some(max) = pushes.max.filter(|&max| max > 0 && !pushes.rare) else {
                continue;
            };
            let top = self.b.ins().load(
                types::I64,
                MEMORY,
                states,
                state_offset(stack, offset_of!(StackState, top)),
            );
            let limit = self.b.ins().load(
                types::I64,
                MEMORY,
                states,
                state_offset(stack, offset_of!(StackState, limit)),
            );
            let room = self.b.ins().isub(limit, top);
            // A stack above its limit, which the aggregator lowered since: no room.
            let over = self.b.ins().icmp(IntCC::UnsignedLessThan, limit, top);
            let none = self.b.ins().iconst(types::I64, 0);
            let room = self.b.ins().select(over, none, room);
            let elements = match max {
                1 => room,
                _ => {
                    let max = self.b.ins().iconst(types::I64, max as i64);
                    self.b.ins().udiv(room, max)
                }
            };
            allowed = self.b.ins().umin(allowed, elements);
        }
        allowed
    }

    pub(super) fn is_below(&mut self, top: Value, limit: Kept) -> Value {
        let limit = self.kept(limit);
        self.b.ins().icmp(IntCC::UnsignedLessThan, top, limit)
    }

    /// Whether so many more children find room in each of the stacks that a restart point asks for, which leads to `then`. None where all that are pushed to
    /// were counted beforehand, and so have room.
    pub(super) fn has_room(&mut self, children: u32, then: BlockId) -> Option<Value> {
        let stacks = self.pushed_from(then);
        let tops = self.channels().tops.iter();
        let uncounted: Vec<_> = tops
            .filter(|(stack, _)| stacks.contains(stack))
            .filter_map(|(_, t)| Some((t.var, t.limit?)))
            .collect();
        let mut room = None;
        for (var, limit) in uncounted {
            // The last of them is below the limit: of one, that is the place where it goes.
            let mut last = self.b.use_var(var);
            if children > 1 {
                last = self.b.ins().iadd_imm_u(last, i64::from(children - 1));
            }
            let fits = self.is_below(last, limit);
            room = Some(match room {
                Some(others) => self.b.ins().band(others, fits),
                None => fits,
            });
        }
        room
    }

    /// The entry stacks that are pushed to from a block on, up to the next restart points.
    pub(super) fn pushed_from(&mut self, from: BlockId) -> BTreeSet<StackIndex> {
        let (program, layouts) = (self.unit.program, self.unit.layouts);
        let blocks = &self.body().func.blocks;
        let asks = |b: BlockId| matches!(blocks[b.index()].term, Terminator::Room { .. });
        let until = Flow::new(self.body().func).reach([from], |b| !asks(b));
        let stmts = until.iter().flat_map(|b| &blocks[b.index()].stmts);
        let spawned = stmts.filter_map(|s| match s.kind {
            StmtKind::Spawn { func, .. } => program.task_of(func),
            _ => None,
        });
        spawned.map(|task| layouts.entry(task)).collect()
    }

    /// The element that is consumed is the last one of the run.
    pub(super) fn end_run_here(&mut self) {
        let elements = self.elements.expect("only segments push");
        let here = self.b.use_var(elements.index);
        self.change(elements.last, here);
    }

    /// Asks the worker for a greater limit; leaves if there is none. The element that asks is the last one of the run.
    pub(super) fn ask_for_more(&mut self, stack: StackIndex, top: Value, limit: Kept) {
        self.end_run_here();
        let (number, ctx) = (
            self.b.ins().iconst(types::I32, i64::from(stack.0)),
            self.ctx(),
        );
        let ask = self.unit.ask_for_more();
        let ask = self.func_ref(ask);
        // By way of the context: arguments in registers would take these from the loop.
        let growing = offset_of!(WorkerContext, growing) as i32;
        self.b.ins().store(MEMORY, number, ctx, growing);
        let granted = offset_of!(WorkerContext, granted) as i32;
        self.b.ins().store(MEMORY, top, ctx, granted);
        self.b.ins().call(ask, &[ctx]);
        let ctx = self.ctx();
        let granted = self.b.ins().load(types::I64, MEMORY, ctx, granted);
        self.change(limit, granted);
        let full = self
            .b
            .ins()
            .icmp(IntCC::UnsignedGreaterThanOrEqual, top, granted);
        self.leave_if(full, |g| g.say(status::CHANNEL_FULL, stack.0));
    }

    /// Asks the worker, as [`Self::ask_for_more`] calls it: by a convention that preserves every register, so that the loop that asks is no
    /// slower for it. Such a function has no result: it lies in the context.
    pub(super) fn ask_worker(&mut self) {
        let entry = self.b.current_block().expect("in the entry block");
        let ctx = self.b.block_params(entry)[0];
        let mut signature = self.unit.module.make_signature();
        let params = [types::I64, types::I32, types::I64];
        signature.params.extend(params.map(AbiParam::new));
        signature.returns.push(AbiParam::new(types::I64));
        let signature = self.b.import_signature(signature);
        let more = offset_of!(WorkerContext, more) as i32;
        let more = self.b.ins().load(types::I64, MEMORY, ctx, more);
        let growing = offset_of!(WorkerContext, growing) as i32;
        let stack = self.b.ins().load(types::I32, MEMORY, ctx, growing);
        let at = offset_of!(WorkerContext, granted) as i32;
        let top = self.b.ins().load(types::I64, MEMORY, ctx, at);
        let call = self
            .b
            .ins()
            .call_indirect(signature, more, &[ctx, stack, top]);
        let granted = self.b.inst_results(call)[0];
        self.b.ins().store(MEMORY, granted, ctx, at);
        self.b.ins().return_(&[]);
        // Nothing stops here.
        let stop = self.stop;
        self.b.switch_to_block(stop);
        self.b.ins().return_(&[]);
    }

    /// Whether the segment pushes to a stack whose pushes cannot be counted.
    pub(super) fn has_uncounted(&self) -> bool {
        let channels = self.channels.as_ref();
        channels.is_some_and(|c| c.tops.values().any(|t| t.limit.is_some()))
    }
}
