//! A graph's run with all who take part: a thread that drives the device, one for each host node, and the caller's.

use super::{
    bind::GraphArgs,
    hub::{Consumer, Hub, Next, Outer},
    launcher::FlowLauncher,
    run::{Ended, FlowRun, FlowSettings},
};
use crate::{
    cuda::batch::Fields,
    error::RunError,
    flow::{GraphCall, GraphProgram, HostFn, Running, image::Image, running::Feed},
    live::Live,
    report::RunReport,
    timeline::{Host, What},
};
use millstream_graph::{
    graph::{Body, ChannelKey},
    ir::TaskId,
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    thread,
    time::Instant,
};

/// What a device is asked for while a graph runs.
pub(super) struct Job<'j, 'a> {
    pub(super) program: &'j GraphProgram,
    pub(super) args: GraphArgs<'a>,
    pub(super) hub: &'j Hub,
}

/// Runs a graph on a machine while `with` feeds and drains it; waits until it is done.
///
/// # Errors
/// As [`LoadedGraph::run`](crate::LoadedGraph::run).
pub fn run_graph<L: FlowLauncher + Send, R>(
    launcher: &mut L,
    settings: FlowSettings,
    program: &GraphProgram,
    call: GraphCall<'_>,
    with: impl FnOnce(&Running<'_>) -> Result<R, RunError>,
) -> Result<(R, RunReport), RunError> {
    let live = launcher.live().clone();
    serve(
        &live,
        program,
        call,
        |job| drive(launcher, settings, &job),
        with,
    )
}

/// The same on a device that is got ready by the thread that drives it.
pub(super) fn serve<R>(
    live: &Live,
    program: &GraphProgram,
    call: GraphCall<'_>,
    device: impl FnOnce(Job<'_, '_>) -> Result<RunReport, RunError> + Send,
    with: impl FnOnce(&Running<'_>) -> Result<R, RunError>,
) -> Result<(R, RunReport), RunError> {
    live.0.clear();
    let GraphCall {
        args,
        mut hosts,
        patience,
    } = call;
    let graph = &program.graph;
    let number = |key: ChannelKey| graph.channels().position(|c| c.0 == key).unwrap_or(0);
    let mut nodes: Vec<(&str, Option<usize>, Vec<usize>, HostFn<'_>)> = Vec::new();
    for (key, kernel) in graph.kernels().filter(|k| k.1.body == Body::Host) {
        let code = hosts.remove(&key).ok_or_else(|| {
            RunError::Graph(format!("the host node `{}` has no closure", kernel.name))
        })?;
        let ports = kernel.produces.iter().map(|c| number(*c)).collect();
        nodes.push((&kernel.name, kernel.consumes.map(number), ports, code));
    }
    let sources = nodes.iter().filter(|n| n.1.is_none()).count();
    let hub = Hub::new(graph.name.clone(), outer(program)?, sources, patience);
    let (result, report) = thread::scope(|scope| {
        let hub = &hub;
        // Whatever becomes of `with`: nobody touches its caller's memory afterwards.
        let end = End(hub);
        let driver = scope.spawn(move || {
            // Who waits for a device that panicked is told, too.
            let work = AssertUnwindSafe(|| device(Job { program, args, hub }));
            let done = catch_unwind(work).unwrap_or_else(|panic| {
                Err(RunError::Panicked {
                    message: crate::run::message(&*panic),
                })
            });
            if let Err(error) = &done {
                hub.fail(error.clone());
            }
            done
        });
        for (name, consumes, ports, code) in nodes {
            scope.spawn(move || hub.serve_host((name, consumes, &ports), code));
        }
        let result = with(&Running::of(hub));
        match &result {
            Ok(_) => {
                hub.close();
                // Why it failed is said below.
                let _why = hub.wait_over();
            }
            Err(_) => hub.fail(RunError::Cancelled),
        }
        drop(end);
        let report = driver.join();
        (result, report)
    });
    let report = report.unwrap_or_else(|panic| {
        Err(RunError::Panicked {
            message: crate::run::message(&*panic),
        })
    });
    let done = match (hub.error(), result) {
        // What `with` gave up for is why the graph was cancelled.
        (Some(RunError::Cancelled), Err(error)) => Err(error),
        (Some(error), _) | (None, Err(error)) => Err(error),
        (None, Ok(result)) => {
            let delivered = hub.all_delivered();
            delivered.and_then(|()| Ok((result, report?)))
        }
    };
    let left = hub.left();
    live.0
        .ends(done.as_ref().err(), || left.unwrap_or_default());
    done
}

/// Ends a graph when its caller is done with it or panics.
struct End<'h>(&'h Hub);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.fail(RunError::Cancelled);
    }
}

fn outer(program: &GraphProgram) -> Result<Vec<Outer>, RunError> {
    let GraphProgram { graph, source, .. } = program;
    let channels = graph.channels().map(|(key, channel)| {
        let ty = graph.element(key, source).ok_or_else(|| {
            RunError::Graph(format!(
                "the program has no type `{}` for the channel `{}`",
                channel.element, channel.name
            ))
        })?;
        let consumer = graph.consumers(key).next().and_then(|k| graph.kernel(k));
        Ok(Outer {
            key,
            name: channel.name.clone(),
            image: Image::new(&ty, &source.structs),
            width: channel.width,
            input: channel.input,
            consumer: match consumer.map(|k| &k.body) {
                None => Consumer::Outside,
                Some(Body::Host) => Consumer::Host,
                Some(Body::Device(_) | Body::Segment(_)) => Consumer::Kernel,
            },
        })
    });
    channels.collect()
}

/// Runs the graph's kernel as often as there is something to do, and moves elements between it and the hub.
pub(super) fn drive<L: FlowLauncher>(
    launcher: &mut L,
    settings: FlowSettings,
    job: &Job<'_, '_>,
) -> Result<RunReport, RunError> {
    let hub = job.hub;
    let begun = Instant::now();
    let mut run = FlowRun::new(
        launcher,
        settings,
        (&job.program.source, &job.program.graph),
        &job.args,
    )?;
    let copying = begun.elapsed();
    let start = Instant::now();
    let moved = exchange(&mut run, hub);
    let running = start.elapsed();
    // A cancelled run takes its request with it.
    let _was_asked_for = run.cancelled();
    if moved.is_err() || hub.error().is_some() {
        hub.leave(run.state());
        return Err(moved.err().unwrap_or(RunError::Cancelled));
    }
    let (mut blocked, waves) = (run.blocked(running), run.waves()?);
    let spans = run.spans.take();
    let (names, compiled, blocks) = run.about();
    let mut report = run.finish()?;
    if let Some(spans) = spans {
        let mut host = Host::default();
        host.add(What::Compile, compiled, report.compiling);
        host.add(What::Copy, begun, copying);
        host.add(What::Run, start, running);
        let worked = spans.tell(&mut report, names, waves, host);
        let idle = worked.map(|worked| running.saturating_sub(worked / blocks.max(1)));
        blocked = idle.or(blocked);
    }
    (report.copying, report.running, report.blocked) = (copying, running, blocked);
    Ok(report)
}

/// Elements of a channel that found no room in it yet: their fields, how many of them are there, and how many they are.
#[derive(Clone, Debug, Default)]
struct Pending {
    fields: Fields,
    there: u32,
    all: u32,
}

impl Pending {
    const fn is_empty(&self) -> bool {
        self.there == self.all
    }
}

/// Kernel after kernel, until the graph is over.
fn exchange<L: FlowLauncher>(run: &mut FlowRun<'_, L>, hub: &Hub) -> Result<(), RunError> {
    let channels = hub.channels.len();
    let mut pending = vec![Pending::default(); channels];
    // What is sent comes first.
    let mut dry = true;
    loop {
        let free: Vec<bool> = pending.iter().map(Pending::is_empty).collect();
        let (mut moved, mut fed, begin) = (false, 0, Instant::now());
        for (c, bytes) in hub.outgoing(&free).into_iter().enumerate() {
            let image = &hub.channels[c].image;
            let waits = &mut pending[c];
            if !bytes.is_empty() {
                *waits = Pending {
                    fields: image.scatter(&bytes),
                    there: 0,
                    all: image.count(&bytes) as u32,
                };
            }
            if !waits.is_empty() {
                let sent = run.send(c, &waits.fields, waits.there, waits.all)?;
                waits.there += sent;
                fed += u64::from(sent);
            }
        }
        moved |= fed > 0;
        run.spent(What::Feed, begin, fed);
        // A kernel for nothing says nothing.
        let mut ended = Ended::Done;
        if moved || !dry {
            ended = run.go(|running| hub.asks(running))?;
            moved |= run.went_on() || ended == Ended::Paused;
        }
        let (mut drained, begin) = (0, Instant::now());
        for (c, outer) in hub.channels.iter().enumerate() {
            if outer.consumer == Consumer::Kernel {
                continue;
            }
            let (fields, count) = run.receive(c, hub.wants(c))?;
            if count > 0 {
                let mut elements = Vec::new();
                outer.image.gather(&fields, count as usize, &mut elements);
                hub.incoming(c, &elements);
                drained += u64::from(count);
            }
        }
        moved |= drained > 0;
        run.spent(What::Drain, begin, drained);
        moved |= spawn(run, &mut pending)?;
        dry = ended == Ended::Done && run.is_empty();
        let idle = dry && pending.iter().all(Pending::is_empty);
        // What waits for a kernel that spawns is not the host's: that either went on, or has no room.
        let waits = |(c, outer): (usize, &Outer)| match outer.consumer {
            Consumer::Kernel => 0,
            Consumer::Host | Consumer::Outside => run.waiting(c),
        };
        let waiting: Vec<u32> = hub.channels.iter().enumerate().map(waits).collect();
        let next = hub.next(
            (idle, moved),
            &waiting,
            || run.cancelled(),
            || run.stalled(&hub.name),
        );
        if next == Next::Over {
            return Ok(());
        }
    }
}

/// Runs what waits for kernels that spawn, those whose channels hold nothing back of what was emitted before. Whether there was any.
fn spawn<L: FlowLauncher>(
    run: &mut FlowRun<'_, L>,
    pending: &mut [Pending],
) -> Result<bool, RunError> {
    let Some(spawning) = &run.flow().spawning else {
        return Ok(false);
    };
    let (nodes, sinks) = (spawning.nodes.clone(), spawning.sinks.clone());
    let mut moved = false;
    for (node, (channel, task)) in nodes.into_iter().enumerate() {
        let held = |(c, sink): &(usize, TaskId)| !pending[*c].is_empty() && run.emits(task, *sink);
        if run.waiting(channel) == 0 || sinks.iter().any(held) {
            continue;
        }
        let emitted = run.spawn(node)?;
        moved = true;
        for ((c, _), (fields, all)) in sinks.iter().zip(emitted) {
            if all > 0 {
                pending[*c] = Pending {
                    fields,
                    there: 0,
                    all,
                };
            }
        }
    }
    Ok(moved)
}

impl Feed for Hub {
    fn send(&self, channel: ChannelKey, elements: &[u8]) -> Result<(), RunError> {
        self.put_all(self.input(channel, elements)?, elements)
    }

    fn try_send(&self, channel: ChannelKey, elements: &[u8]) -> Result<usize, RunError> {
        self.put_some(self.input(channel, elements)?, elements)
    }

    fn receive(&self, channel: ChannelKey, most: u32) -> Result<Option<Vec<u8>>, RunError> {
        self.take(self.output(channel)?, most, true)
    }

    fn try_receive(&self, channel: ChannelKey, most: u32) -> Result<Option<Vec<u8>>, RunError> {
        self.take(self.output(channel)?, most, false)
    }

    fn close(&self) {
        Self::close(self);
    }

    fn wait_for_done(&self) -> Result<(), RunError> {
        Self::close(self);
        self.wait_over()
    }

    fn cancel(&self) {
        self.fail(RunError::Cancelled);
    }
}

impl Hub {
    fn input(&self, key: ChannelKey, elements: &[u8]) -> Result<usize, RunError> {
        let channel = self.number(key)?;
        let Outer {
            name, image, input, ..
        } = &self.channels[channel];
        let why = if !input {
            format!("nothing can be sent to the channel `{name}`: it is no input")
        } else if !elements.len().is_multiple_of(image.size) {
            format!(
                "{} bytes are no elements of the channel `{name}`, which take {} each",
                elements.len(),
                image.size
            )
        } else if self.is_closed() {
            format!("nothing can be sent to the channel `{name}`: the graph was closed")
        } else {
            return Ok(channel);
        };
        Err(RunError::Graph(why))
    }

    fn output(&self, key: ChannelKey) -> Result<usize, RunError> {
        let channel = self.number(key)?;
        let outer = &self.channels[channel];
        if outer.consumer == Consumer::Outside {
            return Ok(channel);
        }
        Err(RunError::Graph(format!(
            "nothing can be received from the channel `{}`: a node consumes it",
            outer.name
        )))
    }
}
