//! What a graph on a GPU is at, for who watches it and for a dump.

use super::{
    arena::Arena,
    launcher::FlowLauncher,
    run::{FlowRun, FlowSettings},
};
use crate::{
    cuda::sight::{GpuSight, HOST, KERNEL, NOWHERE},
    dump::{CALLER, ChannelKind, ChannelState, Doing, Dump, Held, Sight},
    live::{Live, SoFar},
};
use millstream_channels_kernel::cuda::{
    abi::{
        flow::{FlowState, RingWords},
        status,
    },
    flow::FlowPlan,
};
use millstream_graph::graph::{Graph, Predicate, WhenFull};
use std::{
    cell::{Cell, RefCell},
    mem::offset_of,
    sync::Arc,
    time::{Duration, Instant},
};

/// How often the memory of a kernel that runs is looked at.
const GLANCE: Duration = Duration::from_millis(250);

/// What lies in a ring: elements that wait, and slots that are not free.
type Lies = (u64, u64);

/// What a run keeps for its sight.
#[derive(Debug)]
pub(super) struct Watched {
    sight: Arc<GpuSight>,
    /// Bytes of the whole.
    bytes: u64,
    looked: Cell<Option<Instant>>,
    /// Of a kernel that was given up: what its rings held, if that could be read.
    hung: RefCell<Option<Option<Vec<Lies>>>>,
}

impl Watched {
    pub(super) fn new(
        live: &Live,
        (graph, plan, arena): (&Graph, &FlowPlan, &Arena),
        settings: FlowSettings,
    ) -> Self {
        let channels = graph.channels().zip(&arena.places).zip(&plan.channels);
        let channels = channels.map(|(((key, channel), place), on_device)| {
            let producers = graph.kernels().filter(|(_, k)| k.produces.contains(&key));
            let mut from: Vec<String> = producers.map(|(_, k)| k.name.clone()).collect();
            if channel.input {
                from.push(CALLER.into());
            }
            let consumer = graph.consumers(key).next().and_then(|k| graph.kernel(k));
            ChannelState {
                name: channel.name.clone(),
                kind: match channel.full {
                    WhenFull::Wait => ChannelKind::Ring,
                    WhenFull::Grow | WhenFull::DropOldest => ChannelKind::Elastic,
                },
                capacity: Some(place.size.width.into()),
                element_bytes: on_device.bytes(),
                from,
                to: Some(consumer.map_or_else(|| CALLER.into(), |k| k.name.clone())),
                predicate: match &channel.predicate {
                    Predicate::Own(helper) => Some(helper.clone()),
                    Predicate::Any | Predicate::Full | Predicate::AtLeast(_) => None,
                },
                ..ChannelState::default()
            }
        });
        let names = (Some(graph.name.clone()), "the graph's kernel");
        let about = (Vec::new(), channels.collect());
        Self {
            sight: GpuSight::new(live, names, about, settings.memory),
            bytes: arena.size,
            looked: Cell::default(),
            hung: RefCell::default(),
        }
    }

    fn publish(&self, wavefronts: u64, alive: u64) {
        let so_far = SoFar {
            bytes: self.bytes,
            alive: Some(alive),
            dispatches: Some(wavefronts),
            ..SoFar::default()
        };
        self.sight.live.0.publish(HOST, so_far);
    }

    /// The graph's kernel is started.
    pub(super) fn kernel_begins(&self) {
        self.looked.set(Some(Instant::now()));
        self.sight.step(KERNEL, Doing::Runs, (NOWHERE, 0), 0);
        self.sight.step(HOST, Doing::WaitsForWork, (NOWHERE, 0), 0);
    }

    /// It has ended, with that status.
    pub(super) fn kernel_ended(&self, state: &FlowState, status: u32) {
        self.publish(state.wavefronts, state.alive.0);
        if status == status::OK {
            self.sight
                .step(KERNEL, Doing::WaitsForWork, (NOWHERE, 0), 0);
            self.sight.step(HOST, Doing::Copies, (NOWHERE, 0), 0);
        }
    }
}

impl<L: FlowLauncher> FlowRun<'_, L> {
    /// Looks now and then at how many elements are alive while the kernel runs.
    pub(super) fn glance(&self) {
        let looked = self.watched.looked.get();
        if looked.is_none_or(|l| l.elapsed() < GLANCE) {
            return;
        }
        // What cannot be read now may be later, and nobody depends on it.
        let at = self.arena.state + offset_of!(FlowState, alive) as u64;
        if let Ok(Some(alive)) = self.peek(at) {
            self.watched.publish(self.wavefronts_so_far(), alive.into());
        }
        self.watched.looked.set(Some(Instant::now()));
    }

    /// A kernel does not end: notes what can be read of its rings before it is given up.
    pub(super) fn look_at_hung(&self) {
        let rings = 0..self.arena.places.len() as u64;
        let rings = rings.map(|c| {
            let words = self.arena.words + c * size_of::<RingWords>() as u64;
            // The lower half is enough: what lies between two positions is less.
            let word = |at: usize| self.peek(words + at as u64).ok().flatten();
            let head = word(offset_of!(RingWords, head))?;
            let tail = word(offset_of!(RingWords, tail))?;
            let taken = word(offset_of!(RingWords, control_head))?;
            let put = word(offset_of!(RingWords, reserve_tail))?;
            Some((
                put.wrapping_sub(taken).into(),
                tail.wrapping_sub(head).into(),
            ))
        });
        *self.watched.hung.borrow_mut() = Some(rings.collect());
    }

    /// What the graph is at. No kernel runs, or it was given up.
    pub(super) fn state(&self) -> Dump {
        let mut dump = self.watched.sight.sight();
        dump.missing.clear();
        let hung = self.watched.hung.borrow();
        let known = |words: &RingWords| {
            let waiting = words.reserve_tail.0 - words.control_head.0;
            (waiting, words.tail.0 - words.head.0)
        };
        let lies: Vec<Lies> = match &*hung {
            Some(Some(peeked)) => peeked.clone(),
            Some(None) | None => self.rings().iter().map(known).collect(),
        };
        for (channel, (waiting, held)) in dump.channels.iter_mut().zip(lies) {
            (channel.waiting, channel.held) = (Some(waiting), Some(held));
        }
        match &*hung {
            Some(Some(_)) => dump.missing.push(
                "the kernel was given up: the channels are as a second stream saw them, and what its blocks have in hand is not known".into(),
            ),
            Some(None) => dump.missing.push(
                "the GPU's memory can not be read any more: the channels are as they were before the kernel was started".into(),
            ),
            None => {
                let kept = self.kept_by_blocks(&dump.channels);
                let worker = dump.workers.iter_mut().find(|w| w.name == self.watched.sight.kernel);
                if let Some(worker) = worker {
                    worker.no_room = kept;
                }
            }
        }
        dump
    }

    /// What blocks keep for channels that had no room.
    fn kept_by_blocks(&self, channels: &[ChannelState]) -> Vec<Held> {
        let mut held = vec![0u32; channels.len() * self.blocks()];
        if self.read(self.arena.held, &mut held).is_err() {
            return Vec::new();
        }
        let of = |c: usize| held.iter().skip(c).step_by(channels.len());
        let kept = channels.iter().enumerate().map(|(c, channel)| Held {
            channel: channel.name.clone(),
            elements: of(c).map(|n| u64::from(*n)).sum(),
        });
        kept.filter(|h| h.elements > 0).collect()
    }
}
