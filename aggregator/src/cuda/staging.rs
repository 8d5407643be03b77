//! Copies of large slices, by way of pinned memory.
//!
//! The driver takes pageable memory through a buffer of its own and with one thread: 0.8 GB took 0.3 s on the host of an H200
//! (`docs/measurements.md`, 2026-11-21), whose bus carries several times as much. Here some threads do the same, each with two buffers: while
//! one is on its way, the other is filled or emptied.

use super::{driver::Context, memory::Pinned};
use crate::error::RunError;
use std::{num::NonZero, thread};

/// Slices of at least so many bytes go this way.
pub(super) const LARGE: usize = 16 << 20;
/// Bytes of a buffer: long enough that starting a copy is nothing to it.
const CHUNK: usize = 4 << 20;
/// Four took 89 ms for that, and eight 57 (`docs/measurements.md`, 2026-11-22).
const THREADS: usize = 8;

/// The buffers of each thread.
#[derive(Debug)]
pub(super) struct Staging {
    buffers: Vec<[Pinned; 2]>,
}

/// What is copied: between the host's memory at `host` and the device's at `device`.
#[derive(Clone, Copy)]
struct Request {
    host: *mut u8,
    device: u64,
    bytes: usize,
    out: bool,
}

// SAFETY: the threads that share it copy different parts.
unsafe impl Send for Request {}

impl Staging {
    /// The context is entered.
    pub(super) fn new(context: &Context) -> Result<Self, RunError> {
        let threads = thread::available_parallelism()
            .map_or(1, NonZero::get)
            .min(THREADS);
        let two = |_| Ok([Pinned::new(context, CHUNK)?, Pinned::new(context, CHUNK)?]);
        Ok(Self {
            buffers: (0..threads).map(two).collect::<Result<_, RunError>>()?,
        })
    }

    /// Copies to the device, or `out` of it, after all that the stream holds. All is done when it returns.
    ///
    /// # Safety
    /// `host` is valid for reads, or for writes, of `bytes`; `device` is memory of the device of that size. The context is entered.
    pub(super) unsafe fn copy(
        &mut self,
        context: &Context,
        host: *mut u8,
        device: u64,
        bytes: usize,
        out: bool,
    ) -> Result<(), RunError> {
        let request = Request {
            host,
            device,
            bytes,
            out,
        };
        let step = self.buffers.len() * CHUNK;
        thread::scope(|scope| {
            let mut threads = Vec::new();
            for (i, buffers) in self.buffers.iter().enumerate() {
                let work = move || {
                    context.bind()?;
                    // SAFETY: the caller's promise; no other thread has these parts.
                    unsafe { { request }.parts(context, buffers, (i * CHUNK..bytes).step_by(step)) }
                };
                threads.push(
                    thread::Builder::new()
                        .name("millstream-copy".into())
                        .spawn_scoped(scope, work),
                );
            }
            // Every thread is waited for before the first error is given.
            let ended = threads.into_iter().map(|thread| {
                match thread.map(thread::ScopedJoinHandle::join) {
                    Ok(Ok(result)) => result,
                    Ok(Err(_)) => Err(RunError::Device("a thread that copies panicked".into())),
                    Err(e) => Err(RunError::Device(format!(
                        "no thread could be started to copy: {e}"
                    ))),
                }
            });
            ended.collect::<Vec<_>>().into_iter().collect()
        })
    }
}

impl Request {
    /// Copies the parts that begin at these bytes, by turns through the buffers.
    ///
    /// # Safety
    /// As for [`Staging::copy`].
    unsafe fn parts(
        self,
        context: &Context,
        buffers: &[Pinned; 2],
        parts: impl Iterator<Item = usize>,
    ) -> Result<(), RunError> {
        let mut under_way = [None; 2];
        for (at, turn) in parts.zip([0, 1].into_iter().cycle()) {
            if let Some(before) = under_way[turn].take() {
                // SAFETY: the caller's promise.
                unsafe { self.finish(&buffers[turn], before) }?;
            }
            // SAFETY: the caller's promise; the buffer's last copy is finished.
            unsafe { self.begin(context, &buffers[turn], at) }?;
            under_way[turn] = Some(at);
        }
        for (at, buffer) in under_way.into_iter().zip(buffers) {
            if let Some(at) = at {
                // SAFETY: the caller's promise.
                unsafe { self.finish(buffer, at) }?;
            }
        }
        Ok(())
    }

    fn part(self, at: usize) -> usize {
        CHUNK.min(self.bytes - at)
    }

    unsafe fn begin(self, context: &Context, buffer: &Pinned, at: usize) -> Result<(), RunError> {
        let (bytes, device) = (self.part(at), self.device + at as u64);
        if self.out {
            // SAFETY: `parts` has the device's memory from its caller.
            return unsafe { buffer.fetch(context, device, bytes) };
        }
        // SAFETY: `parts` has the host's memory from its caller; the buffer is as long as a part and no copy of it is under way.
        unsafe {
            buffer
                .address()
                .copy_from_nonoverlapping(self.host.add(at), bytes);
            buffer.send(context, device, bytes)
        }
    }

    unsafe fn finish(self, buffer: &Pinned, at: usize) -> Result<(), RunError> {
        buffer.wait()?;
        if self.out {
            // SAFETY: as in `begin`.
            unsafe {
                self.host
                    .add(at)
                    .copy_from_nonoverlapping(buffer.address(), self.part(at))
            };
        }
        Ok(())
    }
}
