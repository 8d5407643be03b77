//! A dispatch: room for what a wavefront pushes, then the call of its compiled code.

use crate::{
    error::RunError,
    plan::Pushes,
    policy::{self, LONG_DISPATCH},
    worker::{Stop, Worker},
};
use millstream_channels_kernel::{
    cpu::abi::{WorkerContext, status},
    layout::StackIndex,
};
use std::{ptr, time::Instant};

/// A pace beyond any width.
const MOST: u64 = 1 << 32;

impl Worker<'_> {
    /// Bytes that this worker may still use.
    pub(crate) fn free(&self) -> u64 {
        self.granted.saturating_sub(self.live)
    }

    /// Sees to it that so many bytes are free, from the common memory if need be.
    pub(crate) fn grow(&mut self, bytes: u64) -> bool {
        let free = self.free();
        if free >= bytes {
            return true;
        }
        // A worker that goes deep comes again: it takes a good piece if there is one.
        let missing = bytes - free;
        let piece = missing.max(self.run.pool.budget() / 64);
        let taken = [piece, missing]
            .into_iter()
            .find(|&b| self.run.pool.take(b));
        self.granted += taken.unwrap_or(0);
        taken.is_some()
    }

    /// How many of `want` elements of a segment find room for what they push. Sets the limits of the stacks it pushes to, so that
    /// the stacks together never exceed what this worker may use.
    pub(crate) fn room(&mut self, pushes: &Pushes, want: u64, segment: usize) -> u64 {
        let record = self.stacks.levels.bytes();
        let pace = self.stacks.pace[segment];
        let want = if self.run.workers > 1 {
            want.min(pace.width)
        } else {
            want
        };
        let need = pushes.bytes;
        let guess = if pushes.uncounted.is_empty() {
            0
        } else {
            pace.uncounted
        };
        let wide = policy::wide(self.granted, self.live + record);
        let mut count = want.min(wide.checked_div(need + guess).unwrap_or(want));
        if count == 0 {
            // Depth first: one element, with all that is left.
            if !self.grow(record + need) {
                return 0;
            }
            count = 1;
            if guess > 0 {
                self.granted += self.run.pool.take_half();
            }
        }
        let count = self.capped(pushes, count);
        let rest = self.free().saturating_sub(record + count * need);
        self.stacks.note_tops(pushes);
        for &(stack, max) in &pushes.counted {
            let state = &mut self.stacks.states[stack.index()];
            state.limit = state.top + max * count;
        }
        let shares = pushes.uncounted.len() as u64;
        for &stack in &pushes.uncounted {
            let capacity = self.stacks.memory.capacity(stack.index());
            let state = &mut self.stacks.states[stack.index()];
            state.limit =
                (state.top + rest / shares / self.plan.bytes[stack.index()]).min(capacity);
        }
        count
    }

    /// As many as the stacks have address space for.
    fn capped(&self, pushes: &Pushes, count: u64) -> u64 {
        let rooms = pushes
            .counted
            .iter()
            .filter(|p| p.1 > 0)
            .map(|&(stack, max)| {
                let capacity = self.stacks.memory.capacity(stack.index());
                capacity.saturating_sub(self.stacks.top(stack)) / max
            });
        rooms.fold(count, u64::min)
    }

    /// Counts what the wavefront pushed; returns how many of it are children.
    pub(crate) fn settle(&mut self, pushes: &Pushes) -> u64 {
        let (mut bytes, mut children) = (0, 0);
        for i in 0..self.stacks.before.len() {
            let (stack, before) = self.stacks.before[i];
            let pushed = self.stacks.top(stack) - before;
            bytes += pushed * self.plan.bytes[stack.index()];
            if pushes.children.contains(&stack) {
                children += pushed;
            }
        }
        self.use_bytes(bytes);
        children
    }

    /// Runs the entries `first..first + count` of a task; returns how many were consumed.
    pub(crate) fn dispatch_entry(
        &mut self,
        task: usize,
        first: u64,
        count: u64,
    ) -> Result<u64, Stop> {
        let plan = &self.plan.tasks[task];
        self.timed(task, task, &plan.pushes, count, |context| {
            // SAFETY: the code was compiled for this program, whose layouts the context's stacks have. The elements lie on the task's entry
            // stack: they were pushed by compiled code or copied in, and nobody consumed them. Every stack that the code pushes to has
            // its limit within its capacity. The context's pointers are valid as `new_context` and `timed` made them, and no other
            // thread touches these stacks but through addresses of frame slots that it was given by a batch.
            unsafe { (plan.code)(context, first, count) }
        })
    }

    /// Takes `count` frame references off a continuation's stack and runs them; what was not consumed goes back.
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
        let consumed = self.timed(
            self.plan.tasks.len() + which,
            plan.task,
            &plan.pushes,
            count,
            |context| {
                // SAFETY: as in `dispatch_entry`; the references name live frames of the task, since they waited on its stack, and the
                // scratch array is not touched meanwhile.
                unsafe { (plan.code)(context, frames, count) }
            },
        )?;
        if consumed < count {
            let stacks = &mut **self.stacks;
            let rest = (count - consumed) as usize;
            let top = stacks.states[stack].top;
            stacks
                .memory
                .write_frames(&self.plan.layouts, stack, top, &stacks.scratch[..rest]);
            stacks.states[stack].top = top + rest as u64;
            for pushed in &mut stacks.before {
                if pushed.0 == plan.stack {
                    pushed.1 += rest as u64;
                }
            }
        }
        Ok(consumed)
    }

    /// Calls compiled code, looks at its status and at its pace.
    fn timed(
        &mut self,
        segment: usize,
        task: usize,
        pushes: &Pushes,
        count: u64,
        call: impl FnOnce(*mut WorkerContext) -> u64,
    ) -> Result<u64, Stop> {
        self.tally.dispatches += 1;
        self.context.status = status::OK;
        self.context.stacks = self.stacks.states.as_mut_ptr();
        let start = (self.run.workers > 1).then(Instant::now);
        let consumed = call(ptr::from_mut(&mut self.context));
        if self.context.status != status::OK {
            return Err(self.stopped_by_code(task));
        }
        debug_assert!(consumed <= count, "no more can be consumed than there is");
        if let Some(start) = start {
            let took = start.elapsed().as_nanos() as u64;
            let pace = &mut self.stacks.pace[segment];
            if took > LONG_DISPATCH {
                pace.width = (consumed.max(1) * LONG_DISPATCH / took).max(1);
            } else if consumed >= pace.width / 2 && took < LONG_DISPATCH / 2 {
                pace.width = (pace.width * 2).min(MOST);
            }
        }
        if !pushes.uncounted.is_empty() && consumed > 0 {
            let pushed = |s: &StackIndex| {
                let before = self
                    .stacks
                    .before
                    .iter()
                    .find(|b| b.0 == *s)
                    .map_or(0, |b| b.1);
                (self.stacks.states[s.index()].top - before) * self.plan.bytes[s.index()]
            };
            let bytes: u64 = pushes.uncounted.iter().map(pushed).sum();
            let pace = &mut self.stacks.pace[segment];
            pace.uncounted = pace.uncounted.max(2 * bytes.div_ceil(consumed));
        }
        Ok(consumed)
    }

    /// The error that compiled code reports.
    fn stopped_by_code(&self, task: usize) -> Stop {
        let site = self.context.site;
        match self.context.status {
            status::FAULT => RunError::Fault(self.run.code.fault(site, self.context.values)).into(),
            status::STACK_OVERFLOW => RunError::StackOverflow {
                function: self.run.code.function_name(site),
            }
            .into(),
            status::CHANNEL_FULL => {
                let stack = StackIndex(site);
                let limit = self.stacks.states.get(stack.index()).map_or(0, |s| s.limit);
                RunError::ChannelFull {
                    task: self.plan.tasks[task].name.clone(),
                    depth: self.current_depth(),
                    channel: self.plan.stack_name(stack),
                    limit,
                    budget: self.run.pool.budget(),
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
        let (task, budget) = (self.plan.tasks[task].name.clone(), self.run.pool.budget());
        RunError::OutOfMemory {
            task,
            depth,
            need,
            budget,
        }
        .into()
    }
}
