//! How a graph is made ready for the CPU, and one run of it from its first thread to its report.

use super::{Flow, HostNode, Line, Running, bell::Bell, channel::FlowChannel, wiring::{Consumer, Wiring}};
use crate::{
    args::{self, ErasedArg},
    cpu::{CpuDevice, CpuLoaded},
    error::RunError,
    policy::Bytes,
    report::{ChannelReport, ChannelTally, RunReport, WorkerReport},
    run::Run,
    share::Shared,
    sync::Mutex,
};
use millstream_graph::{graph::{Body, Graph}, levelized::Levelized};
use std::{
    sync::{Arc, atomic::AtomicBool},
    thread,
    time::{Duration, Instant},
};

/// One of so many parts of a device's memory is for rings, at most.
const RINGS: u64 = 2;

/// What a graph is run with.
#[derive(Debug)]
pub struct GraphCall<'a> {
    /// The arguments of each kernel of the graph, in order: one for each piece of its bound parameters.
    pub args: Vec<Vec<ErasedArg<'a>>>,
    /// The graph's host nodes.
    pub hosts: Vec<HostNode<'a>>,
    /// How long nobody may be able to go on, while another thread of the caller might still send or receive.
    pub patience: Duration,
}

impl Default for GraphCall<'_> {
    fn default() -> Self {
        Self { args: Vec::new(), hosts: Vec::new(), patience: Duration::from_secs(10) }
    }
}

/// A graph on a device, compiled. A clone is the same.
#[derive(Clone, Debug)]
pub(crate) struct CpuGraph {
    loaded: CpuLoaded,
    graph: Arc<Graph>,
    wiring: Arc<Wiring>,
}

impl CpuGraph {
    pub(crate) const fn program(&self) -> &Arc<Levelized> {
        self.loaded.program()
    }
}

impl CpuDevice {
    /// Compiles a graph's program for this device, unless it is loaded already.
    pub(crate) fn load_graph(&self, graph: &Arc<Graph>, program: &Arc<Levelized>) -> Result<CpuGraph, RunError> {
        let loaded = self.load(program)?;
        let wiring = Arc::new(Wiring::new(graph, program, loaded.plan())?);
        let graph = graph.clone();
        Ok(CpuGraph { loaded, graph, wiring })
    }

    /// Runs a graph while `with` feeds and drains it; waits until it is done.
    pub(crate) fn run_graph<R>(
        &self,
        loaded: &CpuGraph,
        call: GraphCall<'_>,
        with: impl FnOnce(&Running<'_>) -> Result<R, RunError>,
    ) -> Result<(R, RunReport), RunError> {
        let _turn = self.turn();
        let start = Instant::now();
        let GraphCall { args, mut hosts, patience } = call;
        let uniforms = loaded.uniforms(&args)?;
        let flow = Arc::new(self.flow(loaded, uniforms, &hosts)?);
        let copying = start.elapsed();
        let start = Instant::now();
        let result = thread::scope(|scope| {
            // Whatever becomes of `with`, nobody touches its caller's memory after it.
            let end = End(&flow);
            let nodes = &loaded.wiring.hosts;
            for (i, &node) in nodes.iter().enumerate() {
                let at = hosts.iter().position(|h| h.name == loaded.wiring.nodes[node].name);
                let mut host = hosts.swap_remove(at.unwrap_or(0));
                let (flow, seat) = (&*flow, flow.run.workers as usize + i);
                scope.spawn(move || flow.serve_host(node, seat, &mut host));
            }
            let crew = self.crew().call(flow.clone(), flow.run.workers);
            if crew < flow.run.workers {
                flow.fail(RunError::Device("the threads of the graph's workers cannot be made".into()));
            }
            let running = Running::new(&flow, patience);
            let result = with(&running);
            if result.is_err() && !flow.bell.over() {
                running.cancel();
            }
            running.finish();
            drop(end);
            result
        });
        let workers = flow.run.close();
        let running = start.elapsed();
        let workers = match (workers, &result) {
            // What the caller's part says is the reason, if it says one.
            (Err(RunError::Cancelled), Err(error)) => return Err(error.clone()),
            (Err(error), _) => return Err(error),
            (Ok(workers), _) => workers,
        };
        let result = result?;
        flow.all_delivered()?;
        Ok((result, self.report(loaded, &flow, workers, (running, copying))))
    }

    fn flow(&self, loaded: &CpuGraph, uniforms: Vec<u64>, hosts: &[HostNode<'_>]) -> Result<Flow, RunError> {
        let wiring = &loaded.wiring;
        wiring.matches(hosts)?;
        let rings = wiring.channels.iter().map(|plan| {
            FlowChannel::new(plan).map_err(|e| RunError::Graph(format!("the channel `{}`: {e}", plan.name)))
        });
        let channels: Vec<FlowChannel> = self.room_for(wiring).and_then(|()| rings.collect())?;
        let run = self.begin(&loaded.loaded, wiring.bytes()?, Shared::empty);
        let sources = hosts.iter().filter(|h| h.is_source()).count();
        let seats = run.workers as usize + hosts.len();
        let flag = |_: usize| AtomicBool::new(false);
        Ok(Flow {
            bell: Bell::new(run.workers, hosts.len() as u32, 1 + sources as u64),
            run,
            program: loaded.program().clone(),
            wiring: wiring.clone(),
            uniforms,
            doing: (0..seats).map(|_| Line::default()).collect(),
            ended: (0..wiring.nodes.len()).map(flag).collect(),
            closed: AtomicBool::new(false),
            outer: Mutex::new(vec![ChannelTally::default(); channels.len()]),
            tallies: Mutex::new(Vec::new()),
            channels,
        })
    }
}
