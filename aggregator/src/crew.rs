//! The threads of a device beside those that call it: made when first needed, asleep when there is no run.

use crate::{
    share::WorkerId,
    sync::{Condvar, Mutex},
};
use std::{
    fmt,
    sync::Arc,
    thread::{Builder, JoinHandle},
};

/// Stack of a worker's thread: for recursive helpers.
const STACK_BYTES: usize = 16 << 20;

/// What a crew takes part in.
pub(crate) trait Job: Send + Sync {
    /// What its thread of that number does in it: 1 and up.
    fn serve(&self, id: WorkerId);
}

/// Who takes part in runs.
#[derive(Debug)]
pub(crate) struct Crew {
    state: Mutex<State>,
    wake: Condvar,
}

struct State {
    /// The run to take part in, and its number.
    run: Option<Arc<dyn Job>>,
    number: u64,
    handles: Vec<JoinHandle<()>>,
    closing: bool,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State")
            .field("number", &self.number)
            .field("threads", &self.handles.len())
            .finish_non_exhaustive()
    }
}

impl Crew {
    /// A crew without threads yet.
    pub(crate) fn new() -> Arc<Self> {
        let state = State {
            run: None,
            number: 0,
            handles: Vec::new(),
            closing: false,
        };
        Arc::new(Self {
            state: Mutex::new(state),
            wake: Condvar::new(),
        })
    }

    /// Calls everyone to a run, so many threads at least; says how many there are, for one that cannot be made is missed, no more.
    pub(crate) fn call(self: &Arc<Self>, run: Arc<dyn Job>, threads: u32) -> u32 {
        let mut state = self.state.lock();
        while (state.handles.len() as u32) < threads {
            let (crew, id) = (self.clone(), state.handles.len() as u32 + 1);
            let thread = Builder::new()
                .name(format!("millstream-{id}"))
                .stack_size(STACK_BYTES);
            match thread.spawn(move || crew.serve(WorkerId(id))) {
                Ok(handle) => state.handles.push(handle),
                Err(error) => {
                    tracing::warn!(%error, "a worker thread could not be made");
                    break;
                }
            }
        }
        state.run = Some(run);
        state.number += 1;
        let threads = state.handles.len() as u32;
        drop(state);
        self.wake.notify_all();
        threads
    }

    /// The run is over.
    pub(crate) fn dismiss(&self) {
        self.state.lock().run = None;
    }

    /// Ends the threads and waits for them.
    pub(crate) fn close(&self) {
        let handles = {
            let mut state = self.state.lock();
            state.closing = true;
            std::mem::take(&mut state.handles)
        };
        self.wake.notify_all();
        for handle in handles {
            // A worker's panic was caught and reported by its run.
            let _ = handle.join();
        }
    }

    fn serve(&self, id: WorkerId) {
        let mut seen = 0;
        let mut state = self.state.lock();
        while !state.closing {
            match &state.run {
                Some(run) if state.number > seen => {
                    seen = state.number;
                    let run = run.clone();
                    drop(state);
                    run.serve(id);
                    drop(run);
                    state = self.state.lock();
                }
                _ => state = self.wake.wait(state),
            }
        }
    }
}
