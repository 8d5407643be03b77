//! A dispatch: the call of a wavefront's compiled code, and what it may ask of the worker meanwhile.

use crate::{
    dump::Doing,
    error::RunError,
    memory::StackMemory,
    plan::{Plan, Pushes},
    policy::LONG_DISPATCH,
    run::Run,
    worker::{Stop, Worker},
};
use millstream_channels_kernel::{
    cpu::abi::{WorkerContext, status},
    layout::StackIndex,
};
use std::{ptr, time::Instant};

/// A pace beyond any width.
const MOST: u64 = 1 << 32;

/// The deep memory that compiled code may have while it runs, for pushes that cannot be counted. The worker does not touch it meanwhile.
#[derive(Debug)]
pub(crate) struct Growth {
    /// Not null during a run.
    run: *const Run,
    /// Bytes of an element of each stack, and how many it can hold.
    stacks: Vec<(u64, u64)>,
    /// Bytes that are left.
    pub(crate) room: u64,
    /// What was taken from the other workers' during the call.
    taken: u64,
    /// Whether only one stack grows.
    pub(crate) alone: bool,
    /// Elements of the stack that found no more room.
    full: u64,
}

// SAFETY: the run's address is used by the worker that began it alone, while it is in the run.
unsafe impl Send for Growth {}

impl Growth {
    pub(crate) fn new(plan: &Plan, memory: &StackMemory) -> Self {
        let bytes = plan.bytes.iter().enumerate();
        Self {
            run: ptr::null(),
            stacks: bytes.map(|(s, &b)| (b, memory.capacity(s))).collect(),
            room: 0,
            taken: 0,
            alone: true,
            full: 0,
        }
    }

    /// A stack has room for so many elements from now on.
    pub(crate) fn set_capacity(&mut self, stack: usize, capacity: u64) {
        self.stacks[stack].1 = capacity;
    }

    /// From now on the worker is one of this run.
    pub(crate) const fn begin(&mut self, run: &Run) {
        self.run = run;
    }

    /// A greater limit for a stack: all that there is, unless another stack of the segment may need it.
    fn more(&mut self, stack: usize, top: u64) -> u64 {
        let (bytes, capacity) = self.stacks[stack];
        if self.room < bytes {
            self.ask(bytes - self.room);
        }
        let most = if self.alone { u64::MAX } else { 1 };
        let count = (self.room / bytes)
            .min(capacity.saturating_sub(top))
            .min(most);
        self.room -= count * bytes;
        if count == 0 {
            self.full = top;
        }
        top + count
    }

    /// Takes so much more of the deep memory, if it is to be had.
    fn ask(&mut self, missing: u64) {
        // SAFETY: the worker called `begin`, and lives no longer than its run.
        let run = unsafe { &*self.run };
        if run.workers > 1 {
            let taken = run.take_or_wait(missing).unwrap_or(0);
            self.room += taken;
            self.taken += taken;
        }
    }
}

/// Compiled code came to the limit of a stack whose pushes cannot be counted.
pub(crate) unsafe extern "C" fn more(ctx: *mut WorkerContext, stack: u32, top: u64) -> u64 {
    // SAFETY: the context is the one that `timed` called with, where the worker's `growth` is its owner; nobody else holds it during the call.
    let growth = unsafe { &mut *(*ctx).owner.cast::<Growth>() };
    growth.more(stack as usize, top)
}

impl Worker<'_> {
    /// Counts what the wavefront pushed; returns how many of it are children.
    #[inline]
    pub(crate) fn settle(&mut self, pushes: &Pushes) -> u64 {
        let within = |s: &StackIndex| {
            let state = &self.stacks.states[s.index()];
            state.top <= state.limit
        };
        debug_assert!(
            pushes.counted.iter().all(|(stack, _)| within(stack)),
            "no more is pushed than was counted"
        );
        let (mut bytes, mut children) = (0, 0);
        let (stacks, tally) = (&**self.stacks, &mut self.tally);
        for (&(stack, before), &(each, is_child)) in stacks.before.iter().zip(&pushes.each) {
            let top = stacks.top(stack);
            tally.saw(stack, top);
            let pushed = top - before;
            bytes += pushed * each;
            children += if is_child { pushed } else { 0 };
        }
        self.use_bytes(bytes);
        children
    }

    /// Runs the entries `first..first + count` of a task; returns how many were consumed.
    #[inline]
    pub(crate) fn dispatch_entry(
        &mut self,
        task: usize,
        first: u64,
        count: u64,
    ) -> Result<u64, Stop> {
        let plan = &self.plan.tasks[task];
        let mut consumed = 0;
        let done = self.timed(task, task, (count, plan.width), |context| {
            // SAFETY: the code was compiled for this program, whose layouts the context's stacks have. The elements lie on the task's entry
            // stack: they were pushed by compiled code or copied in, and nobody consumed them. Every stack that the code pushes to has
            // its limit within its capacity. The context's pointers are valid as `new_context` and `timed` made them, and no other
            // thread touches these stacks but through addresses of frame slots that it was given by a batch.
            consumed = unsafe { (plan.code)(context, first, count) };
            consumed
        });
        if done.is_err() {
            self.stopped_at = Some((task, first + consumed));
        }
        done
    }

    /// Takes `count` frame references off a continuation's stack and runs them; what was not consumed goes back.
    #[inline]
    pub(crate) fn dispatch_continuation(&mut self, which: usize, count: u64) -> Result<u64, Stop> {
        let plan = &self.plan.continuations[which];
        let stack = plan.stack.index();
        let stacks = &mut **self.stacks;
        let first = stacks.states[stack].top - count;
        stacks.scratch.resize(count as usize, 0);
        stacks
            .memory
            .read_frames(&self.plan.layouts, stack, first, &mut stacks.scratch);
        stacks.states[stack].top = first;
        for pushed in &mut stacks.before {
            if pushed.0 == plan.stack {
                pushed.1 = first;
            }
        }
        let frames = stacks.scratch.as_ptr();
        let segment = self.plan.tasks.len() + which;
        let consumed = self.timed(segment, plan.task, (count, plan.width), |context| {
            // SAFETY: as in `dispatch_entry`; the references name live frames of the task, since they waited on its stack, and the
            // scratch array is not touched meanwhile.
            unsafe { (plan.code)(context, frames, count) }
        })?;
        if consumed < count {
            let stacks = &mut **self.stacks;
            let rest = &stacks.scratch[consumed as usize..];
            let top = stacks.states[stack].top;
            stacks
                .memory
                .write_frames(&self.plan.layouts, stack, top, rest);
            let rest = rest.len() as u64;
            stacks.states[stack].top = top + rest;
            for pushed in &mut stacks.before {
                if pushed.0 == plan.stack {
                    pushed.1 += rest;
                }
            }
        }
        Ok(consumed)
    }

    /// Calls compiled code for so many elements of a node whose wavefronts are so wide, looks at its status and at its pace.
    #[inline]
    fn timed(
        &mut self,
        segment: usize,
        task: usize,
        (count, width): (u64, u64),
        call: impl FnOnce(*mut WorkerContext) -> u64,
    ) -> Result<u64, Stop> {
        self.context.status = status::OK;
        self.context.stacks = self.stacks.states.as_mut_ptr();
        self.context.owner = ptr::from_mut(&mut self.stacks.growth).cast();
        let begin = self.clock(segment, count);
        self.step(Doing::Runs, segment, count, begin);
        let consumed = call(ptr::from_mut(&mut self.context));
        self.granted += std::mem::take(&mut self.stacks.growth.taken);
        if self.context.status != status::OK {
            return Err(self.stopped_by_code(task));
        }
        debug_assert!(consumed <= count, "no more can be consumed than there is");
        self.tally.dispatched(segment, (count, consumed), width);
        let Some(begin) = begin else {
            return Ok(consumed);
        };
        self.now = Instant::now();
        let took = self.now - begin;
        if let Some(watch) = &mut self.watch {
            watch.took(segment, begin, took);
        }
        if self.run.workers > 1 {
            let took = took.as_nanos() as u64;
            let pace = &mut self.stacks.pace[segment];
            if took > LONG_DISPATCH {
                *pace = (consumed.max(1) * LONG_DISPATCH / took).max(1);
            } else if consumed >= *pace / 2 && took < LONG_DISPATCH / 2 {
                *pace = (*pace * 2).min(MOST);
            }
        }
        Ok(consumed)
    }

    /// The error that compiled code reports.
    fn stopped_by_code(&self, task: usize) -> Stop {
        let site = self.context.site;
        match self.context.status {
            status::FAULT => {
                RunError::Fault(self.run.loaded.code.fault(site, self.context.values)).into()
            }
            status::STACK_OVERFLOW => RunError::StackOverflow {
                function: self.run.loaded.code.function_name(site),
            }
            .into(),
            status::CHANNEL_FULL => {
                let stack = StackIndex(site);
                RunError::ChannelFull {
                    task: self.plan.tasks[task].name.clone(),
                    depth: self.current_depth(),
                    channel: self.plan.stack_name(stack),
                    limit: self.stacks.growth.full,
                    budget: self.run.granted,
                }
                .into()
            }
            _ => Stop::Over,
        }
    }

    /// The error for a task of the current level whose pushes find no room.
    pub(crate) fn no_room(&self, task: usize, pushes: &Pushes) -> Stop {
        self.out_of_memory(
            task,
            self.current_depth(),
            pushes.bytes + self.stacks.levels.bytes(),
        )
    }

    /// The error for a task that needs more than there is.
    pub(crate) fn out_of_memory(&self, task: usize, depth: u64, need: u64) -> Stop {
        let (task, budget) = (self.plan.tasks[task].name.clone(), self.run.granted);
        RunError::OutOfMemory {
            task,
            depth,
            need,
            budget,
        }
        .into()
    }
}
