//! A smallest worker: private stacks, levels by recursion, wavefronts of a given width. Obvious rather than fast.

#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "an example shares it, and uses a part"
)]
#![allow(clippy::unwrap_used, reason = "a test ends there")]

use millstream_channels_kernel::cpu::{
    CompiledProgram,
    abi::{StackState, WorkerContext, status},
};
use millstream_graph::{
    ir::{ChannelId, SegmentId, TaskId},
    levelized::StackRole,
};
use std::sync::atomic::AtomicU32;

pub mod build;
pub mod one;

/// The stacks have all their room from the start.
unsafe extern "C" fn no_more(_: *mut WorkerContext, _: u32, _: u64) -> u64 {
    0
}

/// One thread's stacks and context.
#[derive(Debug)]
pub struct Machine<'a> {
    pub code: &'a CompiledProgram,
    pub ctx: Box<WorkerContext>,
    pub states: Vec<StackState>,
    pub cancel: Box<AtomicU32>,
    pub tasks: u64,
    width: u64,
    uniforms: Vec<u64>,
    _arrays: Vec<Vec<u128>>,
    bases: Vec<*mut u8>,
}

impl<'a> Machine<'a> {
    pub fn new(code: &'a CompiledProgram, capacity: u64, width: u64) -> Self {
        let (mut arrays, mut bases) = (Vec::new(), Vec::new());
        for stack in &code.layouts().stacks {
            let (offsets, size) = stack.offsets(capacity);
            let mut memory = vec![0u128; size as usize / 16 + 9];
            let start = memory.as_mut_ptr().cast::<u8>();
            let start = start.wrapping_add(start.align_offset(128));
            bases.extend(offsets.iter().map(|&o| start.wrapping_add(o as usize)));
            arrays.push(memory);
        }
        let mut states = vec![
            StackState {
                top: 0,
                limit: capacity,
                leaves: 0
            };
            code.layouts().stacks.len()
        ];
        let cancel = Box::new(AtomicU32::new(0));
        let ctx = Box::new(WorkerContext {
            status: 0,
            site: 0,
            values: [0; 2],
            stack_limit: 0,
            stacks: states.as_mut_ptr(),
            fields: bases.as_ptr(),
            cancel: cancel.as_ptr(),
            uniforms: std::ptr::null(),
            more: no_more,
            growing: 0,
            granted: 0,
            owner: std::ptr::null_mut(),
        });
        Self {
            code,
            ctx,
            states,
            cancel,
            tasks: 0,
            width,
            uniforms: Vec::new(),
            _arrays: arrays,
            bases,
        }
    }

    pub fn base(&self, field: u32) -> *mut u8 {
        self.bases[field as usize]
    }

    /// Writes the scalar fields of a new element of the task's entry stack.
    pub fn push(&mut self, task: TaskId, fields: &[u64]) {
        let layouts = self.code.layouts();
        let stack = layouts.entry(task);
        let layout = &layouts[stack];
        let index = self.states[stack.index()].top;
        for (i, (field, bits)) in layout.fields.iter().zip(fields).enumerate() {
            let size = millstream_channels_kernel::layout::stride(field) as usize;
            let at = self
                .base(layout.first_field + i as u32)
                .wrapping_add(index as usize * size);
            // SAFETY: the array has room for `capacity` elements, of which this is one; scalars are at most 8 bytes.
            unsafe { std::ptr::copy_nonoverlapping(bits.to_le_bytes().as_ptr(), at, size) }
        }
        self.states[stack.index()].top += 1;
    }

    /// Sets what a graph gives to its kernels.
    pub fn set_uniforms(&mut self, uniforms: Vec<u64>) {
        self.uniforms = uniforms;
        self.ctx.uniforms = self.uniforms.as_ptr();
    }

    /// Takes what was emitted into a channel: the scalar fields of each element, in order.
    pub fn take(&mut self, channel: ChannelId) -> Vec<Vec<u64>> {
        let layouts = self.code.layouts();
        let stack = layouts.channel(channel);
        let layout = &layouts[stack];
        let count = std::mem::take(&mut self.states[stack.index()].top);
        let field = |index: u64, i: usize| {
            let size = millstream_channels_kernel::layout::stride(&layout.fields[i]) as usize;
            let base = self.base(layout.first_field + i as u32);
            let at = base.wrapping_add(index as usize * size);
            let mut bits = [0; 8];
            // SAFETY: compiled code has written the element; scalars are at most 8 bytes.
            unsafe { std::ptr::copy_nonoverlapping(at, bits.as_mut_ptr(), size) }
            u64::from_le_bytes(bits)
        };
        let element = |index| (0..layout.fields.len()).map(|i| field(index, i)).collect();
        (0..count).map(element).collect()
    }

    /// Runs an entry segment on elements of its stack.
    pub fn call_entry(&mut self, task: TaskId, first: u64, count: u64) -> u64 {
        // SAFETY: the context and all it points at live in `self`; arrays have room up to the limits.
        unsafe { (self.code.entry(task))(&mut *self.ctx, first, count) }
    }

    /// Runs a continuation segment on frames.
    pub fn call_continuation(&mut self, task: TaskId, segment: SegmentId, frames: &[u32]) -> u64 {
        // SAFETY: as above; the frames are a copy of their own.
        unsafe {
            (self.code.continuation(task, segment))(
                &mut *self.ctx,
                frames.as_ptr(),
                frames.len() as u64,
            )
        }
    }

    /// Runs everything that lies on the stacks. Gives the status.
    pub fn run(&mut self) -> u32 {
        let bottom = vec![0; self.states.len()];
        self.drain(&bottom);
        self.ctx.status
    }

    /// Runs all elements above `bounds` and what they make, deepest first; frames above it are free then.
    fn drain(&mut self, bounds: &[u64]) {
        let code = self.code;
        let stacks = &code.layouts().stacks;
        loop {
            let ready = |wanted: bool, s: &Self| {
                (0..stacks.len())
                    .filter(|&i| s.states[i].top > bounds[i])
                    .find(|&i| match stacks[i].role {
                        StackRole::Entry(_) => wanted,
                        StackRole::Continuation(..) => !wanted,
                        StackRole::Frame(_) | StackRole::Channel(_) => false,
                    })
            };
            if self.ctx.status != status::OK {
                return;
            }
            if let Some(i) = ready(true, self) {
                let StackRole::Entry(task) = stacks[i].role else {
                    unreachable!()
                };
                let end = self.states[i].top;
                let mut first = end - self.width.min(end - bounds[i]);
                let bottom = first;
                while first < end && self.ctx.status == status::OK {
                    let before: Vec<u64> = self.states.iter().map(|s| s.top).collect();
                    let consumed = self.call_entry(task, first, end - first);
                    self.tasks += consumed;
                    assert!(
                        consumed > 0 || self.ctx.status != status::OK,
                        "a wavefront without progress"
                    );
                    self.level(&before);
                    first += consumed;
                }
                self.states[i].top = bottom;
            } else if let Some(i) = ready(false, self) {
                let StackRole::Continuation(task, segment) = stacks[i].role else {
                    unreachable!()
                };
                let count = self.width.min(self.states[i].top - bounds[i]);
                let first = self.states[i].top - count;
                let array = self.base(stacks[i].first_field).cast::<u32>();
                // SAFETY: `first + count` elements are on the stack.
                let mut frames = unsafe {
                    std::slice::from_raw_parts(array.add(first as usize), count as usize)
                }
                .to_vec();
                self.states[i].top = first;
                while !frames.is_empty() && self.ctx.status == status::OK {
                    let before: Vec<u64> = self.states.iter().map(|s| s.top).collect();
                    let consumed = self.call_continuation(task, segment, &frames);
                    assert!(
                        consumed > 0 || self.ctx.status != status::OK,
                        "a wavefront without progress"
                    );
                    frames.drain(..consumed as usize);
                    self.children(&before);
                }
            } else {
                return;
            }
        }
    }

    /// Runs what a wavefront made, then frees its frames.
    fn level(&mut self, before: &[u64]) {
        self.drain(before);
        for (i, layout) in self.code.layouts().stacks.iter().enumerate() {
            if matches!(layout.role, StackRole::Frame(_)) {
                self.states[i].top = before[i];
            }
        }
    }

    /// Runs the children that a continuation made; what it pushed at its own level stays.
    fn children(&mut self, before: &[u64]) {
        let mut bounds: Vec<u64> = self.states.iter().map(|s| s.top).collect();
        for (i, layout) in self.code.layouts().stacks.iter().enumerate() {
            if matches!(layout.role, StackRole::Entry(_)) {
                bounds[i] = before[i];
            }
        }
        self.drain(&bounds);
    }
}
