//! A graph that a job describes: its nodes' arguments, the elements that are sent, what comes out.

use super::{
    Problem,
    call::{self, Arg, Given},
    data::{Contents, Data},
    error::{JobError, Result, Text},
    eval::Written,
    making::Making,
    run::{Lent, lend},
    spec::{self, GraphSpec, Named},
};
use crate::graph::feed;
use millstream_aggregator::{Device, GraphCall, GraphProgram, LoadedGraph, RunError, RunReport};
use millstream_cilk_lower::instantiate::instantiate;
use millstream_graph::{
    graph::{self, ChannelKey, Graph, KernelKey},
    ir::{Function, Param, Program},
    ty::{Structs, Type},
};
use std::{collections::BTreeMap, ops::Range, sync::Arc};

/// A graph that can be run.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) program: Arc<GraphProgram>,
}

/// Which of the arguments are whose.
pub(super) type Whose = Vec<(KernelKey, Range<usize>)>;

/// What a run of a graph is given, and what it gives.
#[derive(Debug)]
pub(super) struct Feed {
    pub(super) placed: Arc<Placed>,
    pub(super) args: Whose,
    /// The elements that are there at first.
    pub(super) sent: Vec<(ChannelKey, Sent)>,
    /// The channels whose elements become buffers of the same name.
    pub(super) outputs: Vec<ChannelKey>,
}

/// The graph that is written, if it is one of this program; and what its user should know.
pub(crate) fn resolve(spec: &GraphSpec, program: &Program) -> Result<(Graph, Vec<Problem>)> {
    let mut written = spec.written.clone();
    for named in &spec.send {
        // A name that no channel has is told below.
        if let Some((_, channel)) = named_mut(&mut written.channels.0, named.name.as_str()) {
            channel.input = true;
        }
    }
    let resolved = written.resolve(&program.name);
    let shown = |p: &graph::Problem| {
        let problem = match written.at(&resolved.graph, p.at) {
            Some(text) => text.problem(&p.message, "here"),
            None => Problem::new(&p.message),
        };
        match &p.help {
            Some(help) => problem.help(help),
            None => problem,
        }
    };
    let all = resolved.validate(program);
    let (warnings, errors): (Vec<_>, Vec<_>) = all.iter().partition(|p| p.warning);
    let mut errors: Vec<Problem> = errors.into_iter().map(shown).collect();
    for (name, _) in written.kernels.0.iter().filter(|(_, k)| k.host) {
        let message = format!(
            "host node `{}` is a closure, which no file has",
            name.as_str()
        );
        let help = "let the channel be an output, or build the graph in Rust";
        errors.push(name.problem(message, "here").help(help));
    }
    for named in &spec.send {
        if resolved.graph.find_channel(named.name.as_str()).is_none() {
            let known = written.channels.0.iter().map(|(name, _)| name.as_str());
            errors.push(spec::unknown(&named.name, "channel", known));
        }
    }
    if !errors.is_empty() {
        return Err(JobError::new(errors));
    }
    let mut warnings: Vec<Problem> = warnings.into_iter().map(shown).collect();
    let is_sent = |name: &Text| spec.send.iter().any(|s| s.name.as_str() == name.as_str());
    // A graph of tasks is called.
    let inputs = spec.written.channels.0.iter();
    let inputs = inputs.filter(|(_, c)| c.input && spec.written.tasks.0.is_empty());
    for (name, _) in inputs.filter(|(name, _)| !is_sent(name)) {
        let channel = name.as_str();
        let message = format!(
            "nothing is sent to channel `{channel}`: `send` says what, and only a program in Rust feeds a graph while it runs"
        );
        warnings.push(name.problem(message, "an input"));
    }
    Ok((resolved.graph, warnings))
}

/// A graph of kernels for a device.
pub(crate) fn place(graph: &Graph, program: &Program) -> Result<Placed> {
    let instance = instantiate(program, graph).map_err(|e| Problem::new(e.to_string()))?;
    Ok(Placed {
        program: Arc::new(GraphProgram {
            graph: graph.clone(),
            source: Arc::new(program.clone()),
            levelized: Arc::new(instance.program),
            kernels: instance.kernels,
        }),
    })
}

fn named_mut<'a, V>(entries: &'a mut [(Text, V)], name: &str) -> Option<&'a mut (Text, V)> {
    entries.iter_mut().find(|(n, _)| n.as_str() == name)
}

/// The bound parameters of the graph's kernels and what each is given, and which are whose.
pub(super) fn given(
    spec: &GraphSpec,
    placed: &Placed,
    program: &Program,
) -> Result<(Vec<Given>, Whose)> {
    let (mut out, mut whose) = (Vec::new(), Vec::new());
    for ((key, kernel), (_, written)) in placed.program.graph.kernels().zip(&spec.written.kernels.0)
    {
        let function = kernel.function().and_then(|name| program.find(name));
        let Some(function) = function.map(|id| &program[id]) else {
            continue;
        };
        let first = out.len();
        for (param, text) in bound(function).zip(&written.args) {
            let arg = Written::parse(text)?;
            out.push(Given::new(param, arg, &kernel.name, function, program));
        }
        whose.push((key, first..out.len()));
    }
    Ok((out, whose))
}

/// The parameters that are neither the element nor channels.
fn bound(function: &Function) -> impl Iterator<Item = &Param> {
    let params = function.params.iter().skip(1);
    params.filter(|p| !matches!(p.ty, Type::Channel(_)))
}

/// The buffers whose elements are sent, by the type that they must have.
pub(super) fn sent_buffers(
    spec: &GraphSpec,
    placed: &Placed,
    program: &Program,
) -> Result<Vec<call::Use>> {
    let mut out = Vec::new();
    for named in &spec.send {
        let written = Written::parse(&named.value)?;
        let element = element(placed, program, &named.name);
        if let (Some(_), Some((_, elem))) = (super::eval::name_of(&written.expr), element) {
            out.push(call::Use {
                name: named.value.clone(),
                elem,
                form: super::npy::Form::Slice,
                what: format!("channel `{}`", named.name.as_str()),
            });
        }
    }
    Ok(out)
}

/// The elements that are there at first. Their buffers have been made.
pub(super) fn sent(
    spec: &GraphSpec,
    placed: &Placed,
    program: &Program,
    making: &Making<'_>,
) -> Result<Vec<(ChannelKey, Sent)>> {
    let mut out = Vec::new();
    for named in &spec.send {
        let Some((key, elem)) = element(placed, program, &named.name) else {
            continue;
        };
        let written = Written::parse(&named.value)?;
        let buffer = super::eval::name_of(&written.expr);
        let sent = match buffer.filter(|name| making.made.contains_key(name)) {
            Some(name) => Sent::Buffer(name),
            None => {
                let what = format!("elements sent to `{}`", named.name.as_str());
                Sent::Values(making.values(&written, Some(elem), &what)?)
            }
        };
        out.push((key, sent));
    }
    Ok(out)
}

fn element(placed: &Placed, program: &Program, name: &Text) -> Option<(ChannelKey, Type)> {
    let key = placed.program.graph.find_channel(name.as_str())?;
    Some((key, placed.program.graph.element(key, program)?))
}

/// Makes an empty buffer of its name for each channel whose elements come out.
pub(super) fn outputs(
    placed: &Placed,
    program: &Program,
    buffers: &[Named<Contents>],
    making: &mut Making<'_>,
) -> Result<Vec<ChannelKey>> {
    let mut out = Vec::new();
    let graph = &placed.program.graph;
    for (key, channel) in graph.channels().filter(|(_, c)| c.output) {
        let Some(elem) = graph.element(key, program) else {
            continue;
        };
        if let Some(buffer) = buffers.iter().find(|b| b.name.as_str() == channel.name) {
            let message = format!("a buffer is called `{}`, as an output is", channel.name);
            let problem = buffer.name.problem(message, "here");
            return Err(problem.help("give one of them another name").into());
        }
        let data = Data::zeros(elem, vec![0], &program.structs).map_err(Problem::new)?;
        making.add(channel.name.clone(), data);
        out.push(key);
    }
    Ok(out)
}

/// What is sent into a channel before the graph runs.
#[derive(Debug)]
pub(super) enum Sent {
    /// What the buffer of this name holds then.
    Buffer(String),
    /// What the file says.
    Values(Data),
}

impl Feed {
    /// The names of the channels whose elements come out.
    pub(super) fn outputs(&self) -> impl Iterator<Item = &str> {
        let graph = &self.placed.program.graph;
        self.outputs
            .iter()
            .filter_map(|key| graph.channel(*key).map(|c| c.name.as_str()))
    }

    /// Makes the graph ready for a device.
    pub(super) fn load(&self, device: &Device) -> Result<LoadedGraph, RunError> {
        device.load_graph(&self.placed.program)
    }

    /// Runs the graph that was made ready; what came out is in the buffers of the channels' names.
    pub(super) fn run(
        &self,
        args: &[Arg],
        buffers: &mut BTreeMap<String, Data>,
        loaded: &LoadedGraph,
        structs: &Structs,
    ) -> Result<RunReport, Failed> {
        // What is called before the graph may have written what is sent.
        let sent = self.sent.iter().filter_map(|(key, sent)| {
            let data = match sent {
                Sent::Buffer(name) => buffers.get(name)?,
                Sent::Values(data) => data,
            };
            Some((*key, data.bytes().to_vec()))
        });
        let sent: Vec<(ChannelKey, Vec<u8>)> = sent.collect();
        let mut lent: BTreeMap<&str, Lent<'_>> = buffers
            .iter_mut()
            .map(|(n, d)| (n.as_str(), Lent::Free(d)))
            .collect();
        let mut call = GraphCall::default();
        for (kernel, range) in &self.args {
            let mut pieces = Vec::new();
            for arg in &args[range.clone()] {
                pieces.extend(lend(arg, &mut lent, structs, true)?);
            }
            call.args.insert(*kernel, pieces);
        }
        let sent: Vec<_> = sent.iter().map(|(key, bytes)| (*key, &bytes[..])).collect();
        let (received, report) = loaded.run(call, |running| feed(running, &sent, &self.outputs))?;
        for (name, bytes) in self.outputs().zip(received) {
            if let Some(data) = buffers.get_mut(name) {
                *data = Data::of_bytes(data.elem.clone(), &bytes, structs).map_err(Problem::new)?;
            }
        }
        Ok(report)
    }
}

/// Why a run of a graph gave nothing.
#[derive(Debug)]
pub(super) enum Failed {
    Run(RunError),
    Job(JobError),
}

impl From<RunError> for Failed {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

impl From<JobError> for Failed {
    fn from(error: JobError) -> Self {
        Self::Job(error)
    }
}

impl From<Problem> for Failed {
    fn from(problem: Problem) -> Self {
        Self::Job(problem.into())
    }
}
