//! What must hold of a graph before it runs. All that is wrong is said at once, each with the node's name.
//!
//! 1. Channels have names of their own, and so have kernels.
//! 2. An element is a type of the program without addresses, not empty, with the fields that the graph says, if it does. A channel has room for an element, a group holds 1 to 64.
//! 3. A predicate can come true; one of the user's own is a helper `fn(waiting: u32, width: u32, more: bool) -> bool`.
//! 4. A channel has one consumer, or is an output and has none. Elements come into it from a kernel or from outside.
//! 5. A node on the device runs a kernel of the program, consumes a channel of its element's type, has a channel of the right type for each
//!    port, and something for each bound parameter. A node on the host has no parameters.
//! 6. Every node can be reached by elements from outside or from a node on the host.
//!
//! That a cycle of kernels has no way out, each always emitting into it, is a warning: such a graph runs until it is cancelled.

use super::{
    At, Body, Channel, ChannelKey, Element, Graph, GraphError, Kernel, KernelKey, Node, Part,
    Predicate, Problem, Protocol, Resolved, WhenFull, element_fields, meant,
};
use crate::{
    ir::{BlockId, Function, FunctionKind, Param, Program, Stmt, StmtKind, Terminator},
    levelized::Levelized,
    text::parse_type,
    ty::{Field, Scalar, Type},
};
use petgraph::{algo::tarjan_scc, visit::EdgeRef};
use std::collections::{BTreeMap, BTreeSet};

/// No channel has room for more elements: a ring's tickets count to twice its width.
pub const MAX_WIDTH: u32 = 1 << 30;
/// Elements of a ring that share a done count at most: a bit of a word each.
pub const MAX_GROUP: u32 = u64::BITS;

impl Graph {
    /// All that is wrong with the graph for this program, and what its user should know.
    #[must_use]
    pub fn validate(&self, program: &Program) -> Vec<Problem> {
        Checker::new(self, program).check(true)
    }

    /// The graph's warnings, if nothing is wrong with it.
    ///
    /// # Errors
    /// If something is; with all that is.
    pub fn checked(&self, program: &Program) -> Result<Vec<Problem>, GraphError> {
        split(&self.name, self.validate(program))
    }

    /// The type of a channel's elements, if the program has it.
    #[must_use]
    pub fn element(&self, channel: ChannelKey, program: &Program) -> Option<Type> {
        match &self.channel(channel)?.element {
            Element::Type(ty) => parse_type(ty, &program.structs).ok(),
            Element::Fields(_) => None,
        }
    }
}

impl Resolved {
    /// All that is wrong with the graph for this program, names included.
    #[must_use]
    pub fn validate(&self, program: &Program) -> Vec<Problem> {
        let mut out = self.problems.clone();
        let mut more = Checker::new(&self.graph, program).check(out.is_empty());
        if !out.is_empty() {
            // Where a name is unknown, that nothing leads there is no news.
            more.retain(|p| !matches!(p.at, At::Channel(_, Part::Name)));
        }
        out.extend(more);
        out
    }
}

/// The warnings, if there is nothing else.
///
/// # Errors
/// Of all that is no warning, if anything is.
pub fn split(graph: &str, problems: Vec<Problem>) -> Result<Vec<Problem>, GraphError> {
    let (warnings, problems): (Vec<_>, Vec<_>) = problems.into_iter().partition(|p| p.warning);
    if problems.is_empty() {
        return Ok(warnings);
    }
    Err(GraphError {
        graph: graph.to_owned(),
        problems,
    })
}

struct Checker<'a> {
    graph: &'a Graph,
    program: &'a Program,
    problems: Vec<Problem>,
    /// The types of the channels' elements, as far as the program has them.
    elements: BTreeMap<ChannelKey, Type>,
    /// The channels that are stacks of tasks: what is true of them the verifier of levelized programs says.
    stacks: BTreeSet<ChannelKey>,
}

impl<'a> Checker<'a> {
    fn new(graph: &'a Graph, program: &'a Program) -> Self {
        Self {
            graph,
            program,
            problems: Vec::new(),
            elements: BTreeMap::new(),
            stacks: graph.stack_roles().into_keys().collect(),
        }
    }

    /// The channels that are no stacks of tasks.
    fn channels(&self) -> Vec<(ChannelKey, &'a Channel)> {
        let all = self.graph.channels();
        all.filter(|(key, _)| !self.stacks.contains(key)).collect()
    }

    /// Tasks are looked at where all that the graph names is there.
    fn check(mut self, all_there: bool) -> Vec<Problem> {
        self.names();
        for (key, channel) in self.channels() {
            self.channel(key, channel);
        }
        if all_there
            && !self.graph.tasks().is_empty()
            && let Err(problems) = Levelized::new(self.program.clone(), self.graph.clone())
        {
            self.problems.extend(problems);
        }
        for (key, kernel) in self.graph.kernels() {
            match &kernel.body {
                Body::Device(function) => self.device(key, kernel, function),
                Body::Host => self.host(key, kernel),
                // Tasks are verified as a whole.
                Body::Segment(_) => {}
            }
        }
        for (key, channel) in self.channels() {
            self.ends(key, channel);
        }
        self.reach();
        self.cycles();
        self.problems
    }

    fn fail(&mut self, at: At, message: String, help: impl Into<Option<String>>) {
        self.problems.push(Problem::error(at, message).helped(help));
    }

    fn names(&mut self) {
        let mut seen = BTreeSet::new();
        for (key, c) in self.graph.channels() {
            if !seen.insert(c.name.as_str()) {
                let message = format!("two channels are called `{}`", c.name);
                self.fail(At::Channel(key, Part::Name), message, None);
            }
        }
        seen.clear();
        for (key, k) in self.graph.kernels() {
            if !seen.insert(k.name.as_str()) {
                let message = format!("two kernels are called `{}`", k.name);
                let help = k
                    .function()
                    .map(|f| format!("to use `{f}` twice, give one of the nodes another name"));
                self.fail(At::Kernel(key, Part::Name), message, help);
            }
        }
    }

    fn channel(&mut self, key: ChannelKey, c: &Channel) {
        let name = &c.name;
        let Element::Type(element) = &c.element else {
            let message = format!("channel `{name}` is a stack of no task");
            let help = "flow graphs have rings, whose elements have a type".to_owned();
            return self.fail(At::Channel(key, Part::Element), message, help);
        };
        if c.protocol == Protocol::Stack {
            let message = format!("channel `{name}` is a stack, but of no task");
            let help = "leave out `protocol`: flow graphs have rings".to_owned();
            self.fail(At::Channel(key, Part::Element), message, help);
        }
        match parse_type(element, &self.program.structs) {
            Err(_) => {
                let message = format!("channel `{name}`: the program has no type `{}`", element);
                let known = Scalar::ALL
                    .iter()
                    .filter(|s| **s != Scalar::Ptr)
                    .map(|s| s.name());
                let known = known.chain(self.program.structs.iter().map(|(_, d)| d.name.as_str()));
                let help = meant(element, known);
                self.fail(At::Channel(key, Part::Element), message, help);
            }
            Ok(ty)
                if ty.has_addresses(&self.program.structs)
                    || ty.has_atomics(&self.program.structs) =>
            {
                let message = format!("channel `{name}`: a `{}` is no element", element);
                let help = "elements are values without references and atomics".to_owned();
                self.fail(At::Channel(key, Part::Element), message, help);
            }
            Ok(ty) if ty.pieces(&self.program.structs).is_empty() => {
                let message = format!("channel `{name}`: a `{}` holds nothing", element);
                self.fail(At::Channel(key, Part::Element), message, None);
            }
            Ok(ty) => {
                let fields = element_fields(&ty, &self.program.structs);
                if let Some(layout) = c.layout.as_ref().filter(|l| **l != fields) {
                    let shown = |fields: &[Field]| Element::Fields(fields.to_vec()).to_string();
                    let message = format!(
                        "channel `{name}`: a `{element}` of the source has the fields `{}`, and not `{}`",
                        shown(&fields),
                        shown(layout)
                    );
                    self.fail(At::Channel(key, Part::Element), message, None);
                }
                self.elements.insert(key, ty);
            }
        }
        let at = At::Channel(key, Part::Width);
        if c.width == 0 {
            self.fail(
                at,
                format!("channel `{name}` has width 0: no element has room in it"),
                None,
            );
        } else if c.width > MAX_WIDTH {
            let message = format!(
                "channel `{name}` has width {}: {MAX_WIDTH} is the most",
                c.width
            );
            self.fail(at, message, None);
        }
        if c.group == 0 || c.group > MAX_GROUP {
            let message = format!(
                "channel `{name}` has done counts for groups of {} elements: 1 to {MAX_GROUP} share one",
                c.group
            );
            self.fail(At::Channel(key, Part::Group), message, None);
        }
        self.predicate(key, c);
    }

    fn predicate(&mut self, key: ChannelKey, c: &Channel) {
        let at = At::Channel(key, Part::Predicate);
        match &c.predicate {
            Predicate::Full | Predicate::Any => {}
            Predicate::AtLeast(0) => {
                let message = format!("channel `{}` waits for at least 0 elements", c.name);
                self.fail(at, message, "say `Any` to run whatever there is".to_owned());
            }
            Predicate::AtLeast(n) if *n > c.width && c.full != WhenFull::Grow => {
                let message = format!(
                    "the predicate of channel `{}` can never be true: it waits for {n} elements, and there is room for {}",
                    c.name, c.width
                );
                self.fail(at, message, None);
            }
            Predicate::AtLeast(_) => {}
            Predicate::Own(name) => self.own_predicate(at, &c.name, name),
        }
    }

    fn own_predicate(&mut self, at: At, channel: &str, name: &str) {
        const SHAPE: &str =
            "it is written `fn ready(waiting: u32, width: u32, more: bool) -> bool`";
        let helpers = || {
            self.program
                .functions
                .iter()
                .filter(|f| f.kind == FunctionKind::Helper)
        };
        let Some(function) = helpers().find(|f| f.name == name) else {
            let message = format!(
                "channel `{channel}`: the program has no helper `{name}` to be its predicate"
            );
            let help = meant(name, helpers().map(|f| f.name.as_str()));
            return self.fail(at, message, help.or_else(|| Some(SHAPE.to_owned())));
        };
        let scalar = |s| Some(s);
        let params = function.params.iter().map(|p| p.ty.scalar());
        let wanted = [Scalar::U32, Scalar::U32, Scalar::Bool].map(scalar);
        if !params.eq(wanted) || function.ret.scalar() != Some(Scalar::Bool) {
            let message = format!("channel `{channel}`: `{name}` is no predicate");
            self.fail(at, message, SHAPE.to_owned());
        }
    }

    fn device(&mut self, key: KernelKey, k: &Kernel, name: &str) {
        let Some(function) = self.function(key, k, name) else {
            return;
        };
        let element = function.params.first();
        match (k.consumes, element) {
            (None, _) => {
                let message = format!("kernel `{}` consumes no channel", k.name);
                self.fail(At::Kernel(key, Part::Name), message, None);
            }
            (Some(channel), Some(param)) => {
                if let Some((held, wanted, channel)) = self.disagree(channel, &param.ty) {
                    let message = format!(
                        "kernel `{}` takes `{wanted}`, but channel `{channel}` holds `{held}`",
                        k.name
                    );
                    self.fail(At::Kernel(key, Part::Consumes), message, None);
                }
            }
            (Some(_), None) => {}
        }
        let (ports, bound): (Vec<&Param>, Vec<&Param>) = function
            .params
            .iter()
            .skip(1)
            .partition(|p| matches!(p.ty, Type::Channel(_)));
        self.ports(key, k, &ports);
        self.args(key, k, &bound);
    }

    /// The program's kernel of that name.
    fn function(&mut self, key: KernelKey, k: &Kernel, name: &str) -> Option<&'a Function> {
        let found = self.program.functions.iter().find(|f| f.name == name);
        match found {
            Some(f) if f.kind == FunctionKind::Kernel => return Some(f),
            Some(f) => {
                let kernel = Some("put `#[kernel]` in front of it");
                let (is, help) = match f.kind {
                    FunctionKind::Task => ("a task", kernel),
                    FunctionKind::Segment => ("a segment", Some("name it by `segment`")),
                    FunctionKind::Helper | FunctionKind::Kernel => ("a helper", kernel),
                };
                let message = format!("kernel `{}`: `{name}` is {is}, not a kernel", k.name);
                self.fail(
                    At::Kernel(key, Part::Runs),
                    message,
                    help.map(str::to_owned),
                );
            }
            None => {
                let message = format!("kernel `{}`: the program has no kernel `{name}`", k.name);
                let help = meant(name, self.program.kernels().map(|(_, f)| f.name.as_str()));
                self.fail(At::Kernel(key, Part::Runs), message, help);
            }
        }
        None
    }

    fn ports(&mut self, key: KernelKey, k: &Kernel, ports: &[&Param]) {
        for (i, port) in ports.iter().enumerate() {
            let Type::Channel(wanted) = &port.ty else {
                continue;
            };
            let Some(channel) = k.produces.get(i) else {
                let message = format!(
                    "kernel `{}`: its port `{}` (`{}`) is connected to no channel",
                    k.name,
                    port.name,
                    port.ty.display(&self.program.structs)
                );
                self.fail(At::Kernel(key, Part::Name), message, None);
                continue;
            };
            if let Some((held, wanted, channel)) = self.disagree(*channel, wanted) {
                let message = format!(
                    "kernel `{}` emits `{wanted}` by its port `{}`, but channel `{channel}` holds `{held}`",
                    k.name, port.name
                );
                self.fail(At::Kernel(key, Part::Produces(i)), message, None);
            }
        }
        if k.produces.len() > ports.len() {
            let message = format!(
                "kernel `{}` has {}, and is given {}",
                k.name,
                count(ports.len(), "port"),
                count(k.produces.len(), "channel")
            );
            let help = listed("its ports are", ports);
            self.fail(At::Kernel(key, Part::Produces(ports.len())), message, help);
        }
    }

    fn args(&mut self, key: KernelKey, k: &Kernel, bound: &[&Param]) {
        for param in bound.iter().skip(k.args.len()) {
            let message = format!(
                "kernel `{}`: its parameter `{}` (`{}`) is given nothing",
                k.name,
                param.name,
                param.ty.display(&self.program.structs)
            );
            self.fail(At::Kernel(key, Part::Name), message, None);
        }
        if k.args.len() > bound.len() {
            let message = format!(
                "kernel `{}` has {} besides its element and ports, and is given {}",
                k.name,
                count(bound.len(), "parameter"),
                count(k.args.len(), "argument")
            );
            let help = listed("its parameters are", bound);
            self.fail(At::Kernel(key, Part::Arg(bound.len())), message, help);
        }
    }

    fn host(&mut self, key: KernelKey, k: &Kernel) {
        if k.consumes.is_none() && k.produces.is_empty() {
            let message = format!("host node `{}` is connected to no channel", k.name);
            self.fail(At::Kernel(key, Part::Name), message, None);
        }
        if !k.args.is_empty() {
            let message = format!("host node `{}` has no parameters to be given", k.name);
            self.fail(At::Kernel(key, Part::Arg(0)), message, None);
        }
    }

    /// What a channel holds, what is wanted of it, and its name, if these differ.
    fn disagree(&self, key: ChannelKey, wanted: &Type) -> Option<(String, String, &'a str)> {
        let structs = &self.program.structs;
        let held = self.elements.get(&key).filter(|held| *held != wanted)?;
        let name = &self.graph.channel(key)?.name;
        Some((
            held.display(structs).to_string(),
            wanted.display(structs).to_string(),
            name,
        ))
    }

    /// Who puts elements into a channel, and who takes them.
    fn ends(&mut self, key: ChannelKey, c: &Channel) {
        let consumers: Vec<KernelKey> = self.graph.consumers(key).collect();
        let named = |k: &KernelKey| self.graph.kernel(*k).map_or("", |k| k.name.as_str());
        let names: Vec<String> = consumers
            .iter()
            .map(|k| format!("`{}`", named(k)))
            .collect();
        match consumers[..] {
            [] if !c.output => {
                let message = format!("nothing consumes channel `{}`", c.name);
                let help = "make it an output, or let a node consume it".to_owned();
                self.fail(At::Channel(key, Part::Name), message, help);
            }
            [_, second, ..] => {
                let message = format!(
                    "channel `{}` is consumed by {}, but a channel has one consumer",
                    c.name,
                    names.join(" and ")
                );
                self.fail(At::Kernel(second, Part::Consumes), message, None);
            }
            [one] if c.output => {
                let message = format!(
                    "channel `{}` is an output, but {} consumes it",
                    c.name, names[0]
                );
                self.fail(At::Kernel(one, Part::Consumes), message, None);
            }
            _ => {}
        }
        if !c.input && self.graph.producers(key).next().is_none() {
            let message = format!("nothing comes into channel `{}`", c.name);
            let help = "send elements to it (an input), or let a node produce into it".to_owned();
            self.fail(At::Channel(key, Part::Name), message, help);
        }
    }

    /// Finds what no element can reach. Channels that nothing comes into have been named; what hangs on them is not named again.
    fn reach(&mut self) {
        let graph = self.graph;
        let mut channels: Vec<ChannelKey> = graph
            .channels()
            .filter(|(key, c)| c.input || graph.producers(*key).next().is_none())
            .map(|(key, _)| key)
            .collect();
        let sources = graph.kernels().filter(|(_, k)| k.consumes.is_none());
        channels.extend(sources.flat_map(|(_, k)| k.produces.iter().copied()));
        let mut reached: BTreeSet<ChannelKey> = BTreeSet::new();
        while let Some(channel) = channels.pop() {
            if reached.insert(channel) {
                let consumers = graph.consumers(channel).filter_map(|k| graph.kernel(k));
                channels.extend(consumers.flat_map(|k| k.produces.iter().copied()));
            }
        }
        for (key, c) in self
            .channels()
            .into_iter()
            .filter(|(key, _)| !reached.contains(key))
        {
            let producers = graph.producers(key).filter_map(|(k, _)| graph.kernel(k));
            let names: BTreeSet<String> = producers.map(|k| format!("`{}`", k.name)).collect();
            let names: Vec<String> = names.into_iter().collect();
            let message = format!(
                "no element can reach channel `{}`: it is fed by {} alone, which no element reaches",
                c.name,
                names.join(" and ")
            );
            let help = "send elements to one of the channels before it".to_owned();
            self.fail(At::Channel(key, Part::Name), message, help);
        }
    }

    /// Warns of cycles that elements never leave.
    fn cycles(&mut self) {
        let drawn = self.graph.drawn();
        for cycle in tarjan_scc(&drawn) {
            let members: BTreeSet<_> = cycle.iter().copied().collect();
            let loops = cycle.len() > 1
                && drawn
                    .edge_references()
                    .any(|e| members.contains(&e.source()) && members.contains(&e.target()));
            if !loops {
                continue;
            }
            let mut channels = BTreeSet::new();
            let mut kernels = BTreeSet::new();
            for node in &cycle {
                match drawn[*node] {
                    Node::Channel(c) => _ = channels.insert(c),
                    Node::Kernel(k) => _ = kernels.insert(k),
                }
            }
            let stays = |key: &KernelKey| {
                self.graph
                    .kernel(*key)
                    .is_some_and(|k| self.always_emits(k, &channels))
            };
            if let Some(first) = kernels
                .first()
                .copied()
                .filter(|_| kernels.iter().all(stays))
            {
                let names = kernels.iter().filter_map(|k| self.graph.kernel(*k));
                let names: Vec<String> = names.map(|k| format!("`{}`", k.name)).collect();
                let message = match names.len() {
                    1 => format!(
                        "kernel {} feeds itself without an end: it always emits again",
                        names[0]
                    ),
                    _ => format!(
                        "kernels {} feed each other without an end: each always emits again",
                        names.join(", ")
                    ),
                };
                let problem = Problem::error(At::Kernel(first, Part::Name), message).warned();
                self.problems
                    .push(problem.helped("the run ends only if it is cancelled".to_owned()));
            }
        }
    }

    /// Whether a kernel emits into one of these channels on each way through it.
    fn always_emits(&self, k: &Kernel, channels: &BTreeSet<ChannelKey>) -> bool {
        let function = k.function().and_then(|name| self.program.find(name));
        let Some(function) = function.map(|id| &self.program[id]) else {
            return false;
        };
        let into = |port: usize| k.produces.get(port).is_some_and(|c| channels.contains(c));
        !may_end(function, into)
    }
}

/// Whether a function can return without an emit by one of these ports.
fn may_end(function: &Function, into: impl Fn(usize) -> bool) -> bool {
    let mut seen = vec![false; function.blocks.len()];
    let mut next = vec![BlockId(0)];
    while let Some(id) = next.pop() {
        let Some(block) = function.blocks.get(id.index()) else {
            continue;
        };
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        let emits =
            |s: &Stmt| matches!(&s.kind, StmtKind::Emit { channel, .. } if into(channel.index()));
        if block.stmts.iter().any(emits) {
            continue;
        }
        if matches!(block.term, Terminator::Return(_)) {
            return true;
        }
        next.extend(block.term.targets());
    }
    false
}

fn count(n: usize, what: &str) -> String {
    match n {
        0 => format!("no {what}"),
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

fn listed(intro: &str, params: &[&Param]) -> Option<String> {
    let names: Vec<&str> = params.iter().map(|p| p.name.as_str()).collect();
    (!names.is_empty()).then(|| format!("{intro} `{}`", names.join("`, `")))
}
