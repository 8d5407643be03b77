//! A graph that a job describes: its nodes' arguments, the elements that are sent, what comes out.

use super::{
    Problem,
    call::{self, Given},
    data::Data,
    error::{JobError, Result, Text},
    eval::Written,
    making::Making,
    source::Loaded,
    spec::{self, GraphSpec, Named, Spec},
};
use millstream_cilk_lower::{Instance, InstantiateError, instantiate};
use millstream_graph::{
    graph::{self, ChannelKey, Graph, KernelKey},
    ir::{Function, Param, Program},
    ty::Type,
};
use std::{collections::BTreeMap, ops::Range};

/// A graph that can be run.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) graph: Graph,
    pub(crate) instance: Instance,
    /// What its user should know.
    pub(crate) warnings: Vec<Problem>,
}

/// What a run of a graph is given.
#[derive(Clone, Debug)]
pub(super) struct Feed {
    /// Which of the arguments are whose.
    pub(super) args: Vec<(KernelKey, Range<usize>)>,
    /// The elements that are there at first.
    pub(super) sent: Vec<(ChannelKey, Data)>,
}

/// The graph that is written, if it is one of this program.
pub(crate) fn place(spec: &GraphSpec, program: &Program) -> Result<Placed> {
    let mut written = spec.written.clone();
    for named in &spec.send {
        // A name that no channel has is found when its elements are read.
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
        let message = format!("host node `{}` is a closure, which no file has", name.as_str());
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
    let warnings = warnings.into_iter().map(shown).collect();
    let instance = instantiate(program, &resolved.graph).map_err(|e| match e {
        InstantiateError::Graph(e) => Problem::new(e.to_string()),
        InstantiateError::Lower(e) => Problem::new(e.to_string()),
    })?;
    Ok(Placed {
        graph: resolved.graph,
        instance,
        warnings,
    })
}

fn named_mut<'a, V>(entries: &'a mut [(Text, V)], name: &str) -> Option<&'a mut (Text, V)> {
    entries.iter_mut().find(|(n, _)| n.as_str() == name)
}

/// The bound parameters of the graph's kernels and what each is given, and which are whose.
#[expect(clippy::type_complexity, reason = "two lists of one walk")]
pub(super) fn given(
    spec: &GraphSpec,
    placed: &Placed,
    program: &Program,
) -> Result<(Vec<Given>, Vec<(KernelKey, Range<usize>)>)> {
    let (mut out, mut whose) = (Vec::new(), Vec::new());
    for ((key, kernel), (_, written)) in placed.graph.kernels().zip(&spec.written.kernels.0) {
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
pub(super) fn sent_buffers(spec: &GraphSpec, placed: &Placed, program: &Program) -> Result<Vec<call::Use>> {
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
) -> Result<Vec<(ChannelKey, Data)>> {
    let mut out = Vec::new();
    for named in &spec.send {
        let Some((key, elem)) = element(placed, program, &named.name) else {
            continue;
        };
        let written = Written::parse(&named.value)?;
        let data = match super::eval::name_of(&written.expr).and_then(|n| making.made.get(&n)) {
            Some(data) => data.clone(),
            None => {
                let what = format!("elements sent to `{}`", named.name.as_str());
                making.values(&written, Some(elem), &what)?
            }
        };
        out.push((key, data));
    }
    Ok(out)
}

fn element(placed: &Placed, program: &Program, name: &Text) -> Option<(ChannelKey, Type)> {
    let key = placed.graph.find_channel(name.as_str())?;
    Some((key, placed.graph.element(key, program)?))
}

/// An empty buffer for each channel whose elements come out, by its name.
pub(super) fn outputs(placed: &Placed, program: &Program) -> Result<BTreeMap<String, (ChannelKey, Data)>> {
    let mut out = BTreeMap::new();
    for (key, channel) in placed.graph.channels().filter(|(_, c)| c.output) {
        if let Some(elem) = placed.graph.element(key, program) {
            let data = Data::zeros(elem, vec![0], &program.structs).map_err(Problem::new)?;
            out.insert(channel.name.clone(), (key, data));
        }
    }
    Ok(out)
}
