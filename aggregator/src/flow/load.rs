//! How a graph is made ready for the CPU, and one run of it from its first thread to its report.

use super::{
    Flow, HostFn, Line, Running,
    bell::Bell,
    channel::{FlowChannel, Stock},
    running::{CpuRunning, Feed},
    wiring::{Consumer, Wiring},
};
use crate::{
    args::{self, ErasedArg},
    cpu::{CpuDevice, CpuLoaded},
    dump::Sight,
    error::RunError,
    native::Native,
    policy::Bytes,
    report::{ChannelReport, ChannelTally, RunReport, WorkerReport},
    share::Shared,
    sync::Mutex,
    timeline::{Host, What},
};
use millstream_channels_kernel::ring::RingLayout;
use millstream_graph::{
    graph::{Graph, KernelKey, WhenFull},
    ir::{Program, TaskId},
    levelized::Levelized,
    ty::Type,
};
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU32},
    },
    thread,
    time::{Duration, Instant},
};

/// One of so many parts of a device's memory is for rings, at most.
const RINGS: u64 = 2;

/// One of so many parts of what is left is for channels that grow, if there are any.
const GROWTH: u64 = 2;

/// A graph with what was made of it for devices.
#[derive(Debug)]
pub struct GraphProgram {
    /// The graph, of which nothing is wrong.
    pub graph: Graph,
    /// The program that its kernels are of.
    pub source: Arc<Program>,
    /// Its kernels as tasks, whose elements are the channels', with what they spawn.
    pub levelized: Arc<Levelized>,
    /// Which task a kernel became. Channels and uniforms are numbered in the graph's order.
    pub kernels: Vec<(KernelKey, TaskId)>,
}

/// What a graph is run with.
pub struct GraphCall<'a> {
    /// The arguments of kernels: one for each piece of their bound parameters.
    pub args: BTreeMap<KernelKey, Vec<ErasedArg<'a>>>,
    /// The host nodes' closures.
    pub hosts: BTreeMap<KernelKey, HostFn<'a>>,
    /// How long nobody may be able to go on while the caller might still send or receive.
    pub patience: Duration,
}

impl Default for GraphCall<'_> {
    fn default() -> Self {
        Self {
            args: BTreeMap::new(),
            hosts: BTreeMap::new(),
            patience: Duration::from_secs(10),
        }
    }
}

impl std::fmt::Debug for GraphCall<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GraphCall")
            .field("args", &self.args)
            .field("hosts", &self.hosts.len())
            .finish_non_exhaustive()
    }
}

/// A graph on the CPU, compiled. A clone is the same.
#[derive(Clone, Debug)]
pub(crate) struct CpuGraph {
    program: Arc<GraphProgram>,
    loaded: Arc<CpuLoaded>,
    wiring: Arc<Wiring>,
}

/// The channels of a graph whose run left them empty, for its next one: their memory has been touched.
pub(crate) type Kept = Option<(Arc<GraphProgram>, Arc<[FlowChannel]>)>;

impl CpuGraph {
    pub(crate) const fn program(&self) -> &Arc<GraphProgram> {
        &self.program
    }

    pub(crate) fn compiling(&self) -> Duration {
        self.loaded.compiling()
    }

    /// What kernels find as their bound arguments, after checking them.
    fn uniforms(
        &self,
        args: &BTreeMap<KernelKey, Vec<ErasedArg<'_>>>,
    ) -> Result<Vec<u64>, RunError> {
        let GraphProgram { graph, source, .. } = &*self.program;
        let mut uniforms = Vec::new();
        for (key, kernel) in graph.kernels() {
            let Some(function) = kernel.function().and_then(|f| source.find(f)) else {
                continue;
            };
            let params = source[function].params.iter().skip(1);
            let bound = params.filter(|p| !matches!(p.ty, Type::Channel(_)));
            let args = args.get(&key).map_or(&[][..], |a| &a[..]);
            let of = format_args!("kernel `{}`", kernel.name);
            args::check(bound, of, &source.structs, args, args::CPU, None)?;
            uniforms.extend(args.iter().map(ErasedArg::bits));
        }
        Ok(uniforms)
    }
}

impl CpuDevice {
    /// Compiles a graph's program for this device, unless it is loaded already.
    pub(crate) fn load_graph(&self, program: &Arc<GraphProgram>) -> Result<CpuGraph, RunError> {
        let tasks: Vec<TaskId> = program.kernels.iter().map(|k| k.1).collect();
        let loaded = self.load_with(&program.levelized, &tasks, || {
            Ok(Arc::new(Native::compile(&program.levelized)?))
        })?;
        let wiring = Arc::new(Wiring::new(program, &loaded.plan)?);
        Ok(CpuGraph {
            program: program.clone(),
            loaded,
            wiring,
        })
    }

    /// Runs a graph while `with` feeds and drains it; waits until it is done.
    pub(crate) fn run_graph<R>(
        &self,
        loaded: &CpuGraph,
        call: GraphCall<'_>,
        with: impl FnOnce(&Running<'_>) -> Result<R, RunError>,
    ) -> Result<(R, RunReport), RunError> {
        let _turn = self.turn();
        self.board().clear();
        let start = Instant::now();
        let GraphCall {
            args,
            mut hosts,
            patience,
        } = call;
        let flow = Arc::new(self.flow(loaded, loaded.uniforms(&args)?)?);
        let hosts = loaded.wiring.hosts.iter().map(|&n| {
            let node = &loaded.wiring.nodes[n];
            let code = hosts.remove(&node.key).ok_or_else(|| {
                RunError::Graph(format!("the host node `{}` has no closure", node.name))
            });
            Ok((n, code?))
        });
        let hosts: Vec<(usize, HostFn<'_>)> = hosts.collect::<Result<_, RunError>>()?;
        let mut host = Host::default();
        host.spent(What::Copy, start);
        let start = Instant::now();
        let sight: Weak<Flow> = Arc::downgrade(&flow);
        self.board().begins(sight);
        let result = thread::scope(|scope| {
            // Whatever becomes of `with`: nobody touches its caller's memory afterwards.
            let end = End(Some(&flow));
            for (i, (node, code)) in hosts.into_iter().enumerate() {
                let (flow, seat) = (&*flow, flow.run.workers as usize + i);
                scope.spawn(move || flow.serve_host(node, seat, code));
            }
            if self.crew().call(flow.clone(), flow.run.workers) < flow.run.workers {
                let error = "the threads of a graph's workers cannot be made";
                flow.fail(RunError::Device(error.into()));
            }
            let running = CpuRunning::new(&flow, patience);
            let result = with(&Running::of(&running));
            if result.is_err() {
                running.cancel();
            }
            running.finish();
            (result, end.close())
        });
        host.spent(What::Run, start);
        let result = match result {
            // What `with` gave up for is why the graph was cancelled.
            (Err(error), Err(RunError::Cancelled)) => Err(error),
            (_, Err(error)) | (Err(error), _) => Err(error),
            (Ok(result), Ok(workers)) => Ok((result, workers)),
        };
        self.board().ends(result.as_ref().err(), || flow.sight());
        let (result, workers) = result?;
        flow.all_delivered()?;
        *self.kept_channels() = Some((loaded.program.clone(), flow.channels.clone()));
        let mut report = self.report(&loaded.loaded, &flow.run, workers, (host, 0));
        report.channels = flow.channel_reports();
        report.peak += flow.bytes();
        Ok((result, report))
    }

    fn flow(&self, loaded: &CpuGraph, uniforms: Vec<u64>) -> Result<Flow, RunError> {
        let wiring = &loaded.wiring;
        let bytes = wiring.bytes(self.memory())?;
        let grows = wiring.channels.iter().any(|c| c.full == WhenFull::Grow);
        let stock = if grows {
            (self.memory() - bytes) / GROWTH
        } else {
            0
        };
        // Another graph's are dropped before these are made.
        let kept = self.kept_channels().take();
        let kept = kept.filter(|k| Arc::ptr_eq(&k.0, &loaded.program));
        let channels = kept.map_or_else(|| wiring.make_channels(stock), |k| Ok(k.1))?;
        let run = self.begin(&loaded.loaded, bytes + stock, true, Shared::empty);
        let hosts = wiring.hosts.len();
        let sources = wiring
            .hosts
            .iter()
            .filter(|n| wiring.nodes[**n].consumes.is_none());
        let feeders = 1 + sources.count() as u64;
        let seats = run.workers as usize + hosts;
        Ok(Flow {
            bell: Bell::new(run.workers, hosts as u32, feeders),
            run,
            program: loaded.program.levelized.clone(),
            wiring: wiring.clone(),
            uniforms,
            doing: (0..seats).map(|_| Line::default()).collect(),
            wants: (0..=seats).map(|_| Line::default()).collect(),
            hands: Mutex::new(Vec::new()),
            ended: wiring
                .nodes
                .iter()
                .map(|_| AtomicBool::new(false))
                .collect(),
            closed: AtomicBool::new(false),
            taking: AtomicU32::new(0),
            outer: Mutex::new(vec![ChannelTally::default(); channels.len()]),
            tallies: Mutex::new(Vec::new()),
            channels,
        })
    }
}

/// Ends a graph, and waits for its workers, when its caller is done with it or panics.
struct End<'f>(Option<&'f Flow>);

impl End<'_> {
    fn close(mut self) -> Result<Vec<WorkerReport>, RunError> {
        self.0
            .take()
            .map_or(Ok(Vec::new()), |flow| flow.run.close())
    }
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        if let Some(flow) = self.0 {
            flow.fail(RunError::Cancelled);
            // Why it ended is the panic.
            let _ = flow.run.close();
        }
    }
}

impl Wiring {
    /// The graph's channels, empty, which may grow by so many bytes.
    fn make_channels(&self, stock: u64) -> Result<Arc<[FlowChannel]>, RunError> {
        let stock = Arc::new(Stock::new(stock));
        let channels = self.channels.iter().map(|plan| {
            let channel = FlowChannel::new(plan, &stock);
            channel.map_err(|e| RunError::Graph(format!("the channel `{}`: {e}", plan.name)))
        });
        channels.collect()
    }

    /// Bytes of all rings, if they leave the device enough.
    fn bytes(&self, memory: u64) -> Result<u64, RunError> {
        let layouts = self.channels.iter().map(|c| {
            let layout = RingLayout::new(&c.fields, c.width, c.group);
            let layout =
                layout.map_err(|e| RunError::Graph(format!("the channel `{}`: {e}", c.name)))?;
            Ok((layout.bytes, c))
        });
        let layouts: Vec<_> = layouts.collect::<Result<_, RunError>>()?;
        let all = layouts.iter().map(|l| l.0).sum();
        let most = memory / RINGS;
        match layouts.iter().max_by_key(|l| l.0) {
            Some((bytes, channel)) if all > most => Err(RunError::Graph(format!(
                "the channels take {} of memory, and the budget of {} has {} for them; the largest is `{}` with {} for {} elements: \
                 give the run more memory, or the channels less width",
                Bytes(all),
                Bytes(memory),
                Bytes(most),
                channel.name,
                Bytes(*bytes),
                channel.width
            ))),
            _ => Ok(all),
        }
    }
}

impl Flow {
    /// Nothing that was delivered is forgotten.
    fn all_delivered(&self) -> Result<(), RunError> {
        let mut outputs = self.wiring.channels.iter().zip(&*self.channels);
        let left = outputs.find(|c| c.0.consumer == Consumer::Outside && c.1.waiting() > 0);
        left.map_or(Ok(()), |(plan, channel)| {
            Err(RunError::Undelivered {
                channel: plan.name.clone(),
                count: channel.waiting(),
            })
        })
    }

    /// The most bytes that its channels took.
    fn bytes(&self) -> u64 {
        let rings: u64 = self.channels.iter().map(|c| c.ring.layout().bytes).sum();
        let grown = self.channels.iter().map(FlowChannel::most_grown).max();
        rings + grown.unwrap_or(0)
    }

    fn channel_reports(&self) -> Vec<ChannelReport> {
        let mut tallies = std::mem::take(&mut *self.tallies.lock());
        tallies.push(self.outer.lock().clone());
        let plans = self.wiring.channels.iter().enumerate();
        let reports = plans.map(|(c, plan)| {
            let all = tallies.iter().map(|t| &t[c]);
            ChannelReport::sum(plan.name.clone(), plan.width, all)
        });
        reports.collect()
    }
}
