//! A graph as it is written in a file: names in place of keys, and nothing that is as it would be anyway.
//!
//! [`Written`] is generic over its strings, so that a reader may keep the place of each in its file. What serde reads and writes as a
//! [`Graph`] is this form; `from(to(g)) == g`.

use super::{
    Body, Channel, ChannelKey, Code, Element, GROUP, Graph, Kernel, KernelKey, Predicate, Protocol,
    Scope, Task, WIDTH, WhenFull,
    problem::{At, Part, Problem, meant},
};
use crate::{
    ir::{Combine, LocalId, Ways},
    text::{parse_piece, piece_text},
    ty::{Field, PieceKind, Scalar},
};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, MapAccess, Visitor},
    ser::SerializeMap,
};
use std::{collections::BTreeMap, fmt, marker::PhantomData};

/// A graph with names in place of keys.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(
    rename = "Graph",
    deny_unknown_fields,
    bound(serialize = "S: Serialize", deserialize = "S: Deserialize<'de>")
)]
pub struct Written<S = String> {
    /// The graph's name.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub name: Option<S>,
    /// The channels.
    #[serde(default)]
    pub channels: Names<S, WrittenChannel<S>>,
    /// The kernels.
    #[serde(default)]
    pub kernels: Names<S, WrittenKernel<S>>,
    /// The tasks.
    #[serde(default, skip_serializing_if = "Names::is_empty")]
    pub tasks: Names<S, WrittenTask<S>>,
}

/// A channel but for its name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(
    rename = "Channel",
    deny_unknown_fields,
    bound(serialize = "S: Serialize", deserialize = "S: Deserialize<'de>")
)]
pub struct WrittenChannel<S = String> {
    /// The type of [`Channel::element`].
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub element: Option<S>,
    /// In place of the type, or to be compared with it: the fields, each a scalar or a size and an alignment.
    #[serde(default, skip_serializing_if = "Names::is_empty")]
    pub fields: Names<S, S>,
    /// [`Channel::protocol`]
    #[serde(default, skip_serializing_if = "is_default")]
    pub protocol: Protocol,
    /// [`Channel::scope`]
    #[serde(default, skip_serializing_if = "is_default")]
    pub scope: Scope,
    /// [`Channel::width`]
    #[serde(default = "width", skip_serializing_if = "is_width")]
    pub width: u32,
    /// [`Channel::group`]
    #[serde(default = "group", skip_serializing_if = "is_group")]
    pub group: u32,
    /// [`Channel::predicate`]
    #[serde(default, skip_serializing_if = "is_default")]
    pub predicate: Predicate,
    /// [`Channel::priority`]
    #[serde(default, skip_serializing_if = "is_default")]
    pub priority: i32,
    /// [`Channel::full`]
    #[serde(default, skip_serializing_if = "is_default")]
    pub full: WhenFull,
    /// [`Channel::input`]
    #[serde(default, skip_serializing_if = "is_default")]
    pub input: bool,
    /// [`Channel::output`]
    #[serde(default, skip_serializing_if = "is_default")]
    pub output: bool,
}

/// A kernel but for its name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(
    rename = "Kernel",
    deny_unknown_fields,
    bound(serialize = "S: Serialize", deserialize = "S: Deserialize<'de>")
)]
pub struct WrittenKernel<S = String> {
    /// The program's kernel, if it has another name than the node.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub runs: Option<S>,
    /// In place of that: the program's segment.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub segment: Option<S>,
    /// [`Code::ret`]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<u32>,
    /// Whether it is a host node.
    #[serde(default, skip_serializing_if = "is_default")]
    pub host: bool,
    /// The channel that it consumes.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub consumes: Option<S>,
    /// The channels of its ports.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub produces: Vec<S>,
    /// [`Code::most`]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub most: Vec<Option<u32>>,
    /// What its bound parameters get.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<S>,
}

/// A task but for its name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(
    rename = "Task",
    deny_unknown_fields,
    bound(serialize = "S: Serialize", deserialize = "S: Deserialize<'de>")
)]
pub struct WrittenTask<S = String> {
    /// [`Task::combine`]
    #[serde(default, skip_serializing_if = "is_default")]
    pub combine: Combined,
    /// [`Task::calls`]
    pub calls: S,
    /// [`Task::frames`]
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub frames: Option<S>,
    /// [`Task::segments`]
    pub segments: Vec<S>,
}

/// How a task's result is combined.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs, reason = "`Combine` says it")]
pub enum Combined {
    #[default]
    Store,
    Add,
    Or,
    And,
    Xor,
    Min,
    Max,
    Each(Vec<Self>),
}

/// The ways of one scalar, each with what it stands for.
const COMBINED: [(Combined, Combine); 7] = [
    (Combined::Store, Combine::Store),
    (Combined::Add, Combine::Add),
    (Combined::Or, Combine::Or),
    (Combined::And, Combine::And),
    (Combined::Xor, Combine::Xor),
    (Combined::Min, Combine::Min),
    (Combined::Max, Combine::Max),
];

impl From<Combine> for Combined {
    fn from(combine: Combine) -> Self {
        if let Combine::Each(ways) = combine {
            return Self::Each(ways.iter().map(Self::from).collect());
        }
        let of = COMBINED.iter().find(|(_, known)| *known == combine);
        of.map_or(Self::Store, |(written, _)| written.clone())
    }
}

impl Combined {
    /// What it stands for; none of several if one stores, or if there are too many.
    fn combine(&self) -> Option<Combine> {
        if let Self::Each(ways) = self {
            let ways: Option<Vec<Combine>> = ways.iter().map(Self::combine).collect();
            return Ways::new(&ways?).map(Combine::Each);
        }
        let of = COMBINED.iter().find(|(written, _)| written == self);
        of.map(|(_, combine)| *combine)
    }
}

/// What names stand for, in the order of the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Names<S, V>(pub Vec<(S, V)>);

/// A graph from its written form, as far as its names are known.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The graph. What an unknown name stood for is a key that no channel has.
    pub graph: Graph,
    /// The names that nothing has.
    pub problems: Vec<Problem>,
}

impl<S> Written<S> {
    /// The same with other strings.
    pub fn map<T>(self, mut f: impl FnMut(S) -> T) -> Written<T> {
        let name = self.name.map(&mut f);
        let channels = self.channels.0.into_iter().map(|(name, c)| {
            let fields = c.fields.0.into_iter().map(|(name, ty)| (f(name), f(ty)));
            let fields = Names(fields.collect());
            let channel = WrittenChannel {
                fields,
                element: c.element.map(&mut f),
                protocol: c.protocol,
                scope: c.scope,
                width: c.width,
                group: c.group,
                predicate: c.predicate,
                priority: c.priority,
                full: c.full,
                input: c.input,
                output: c.output,
            };
            (f(name), channel)
        });
        let channels = Names(channels.collect());
        let kernels = self.kernels.0.into_iter().map(|(name, k)| {
            let kernel = WrittenKernel {
                runs: k.runs.map(&mut f),
                segment: k.segment.map(&mut f),
                returns: k.returns,
                most: k.most,
                host: k.host,
                consumes: k.consumes.map(&mut f),
                produces: k.produces.into_iter().map(&mut f).collect(),
                args: k.args.into_iter().map(&mut f).collect(),
            };
            (f(name), kernel)
        });
        let kernels = Names(kernels.collect());
        let tasks = self.tasks.0.into_iter().map(|(name, t)| {
            let task = WrittenTask {
                combine: t.combine,
                calls: f(t.calls),
                frames: t.frames.map(&mut f),
                segments: t.segments.into_iter().map(&mut f).collect(),
            };
            (f(name), task)
        });
        let tasks = Names(tasks.collect());
        Written {
            name,
            channels,
            kernels,
            tasks,
        }
    }

    /// What a problem of the graph is about: the string that stands there, or the name of the node.
    #[must_use]
    pub fn at(&self, graph: &Graph, at: At) -> Option<&S> {
        match at {
            At::Graph => self.name.as_ref(),
            At::Channel(key, part) => {
                let index = graph.channels().position(|(k, _)| k == key)?;
                let (name, channel) = self.channels.0.get(index)?;
                Some(match part {
                    Part::Element => channel.element.as_ref().unwrap_or(name),
                    _ => name,
                })
            }
            At::Kernel(key, part) => {
                let index = graph.kernels().position(|(k, _)| k == key)?;
                let (name, kernel) = self.kernels.0.get(index)?;
                let written = match part {
                    Part::Runs => kernel.runs.as_ref().or(kernel.segment.as_ref()),
                    Part::Consumes => kernel.consumes.as_ref(),
                    Part::Produces(i) => kernel.produces.get(i),
                    Part::Arg(i) => kernel.args.get(i),
                    _ => None,
                };
                Some(written.unwrap_or(name))
            }
        }
    }
}

impl<S: AsRef<str>> Written<S> {
    /// The graph that it is; its name, if it says none, is `name`.
    #[must_use]
    pub fn resolve(&self, name: &str) -> Resolved {
        let name = self.name.as_ref().map_or(name, |n| n.as_ref());
        let mut resolver = Resolver {
            graph: Graph::new(name),
            channels: BTreeMap::new(),
            kernels: BTreeMap::new(),
            problems: Vec::new(),
        };
        for (name, channel) in &self.channels.0 {
            resolver.channel(name.as_ref(), channel);
        }
        for (name, kernel) in &self.kernels.0 {
            resolver.kernel(name.as_ref(), kernel);
        }
        for (name, task) in &self.tasks.0 {
            resolver.task(name.as_ref(), task);
        }
        Resolved {
            graph: resolver.graph,
            problems: resolver.problems,
        }
    }
}

/// Looks up names.
struct Resolver<'w> {
    graph: Graph,
    channels: BTreeMap<&'w str, ChannelKey>,
    kernels: BTreeMap<&'w str, KernelKey>,
    problems: Vec<Problem>,
}

impl<'w> Resolver<'w> {
    fn channel<S: AsRef<str>>(&mut self, name: &'w str, c: &WrittenChannel<S>) {
        let mut problems = Vec::new();
        let fields = c.fields.0.iter().map(|(name, kind)| {
            let name = name.as_ref().to_owned();
            let kind = parse_piece(kind.as_ref()).unwrap_or_else(|_| {
                problems.push(format!(
                    "field `{name}` is no scalar and no size with an alignment, but `{}`",
                    kind.as_ref()
                ));
                PieceKind::Scalar(Scalar::U32)
            });
            Field { name, kind }
        });
        let fields: Vec<Field> = fields.collect();
        let (element, layout) = match &c.element {
            Some(element) => {
                let layout = Some(fields).filter(|f| !f.is_empty());
                (Element::Type(element.as_ref().to_owned()), layout)
            }
            None => {
                if c.protocol == Protocol::Ring {
                    problems.push("what its elements are is not said (`element`)".to_owned());
                }
                (Element::Fields(fields), None)
            }
        };
        let key = self.graph.add_channel(Channel {
            name: name.to_owned(),
            element,
            layout,
            protocol: c.protocol,
            scope: c.scope,
            width: c.width,
            group: c.group,
            predicate: c.predicate.clone(),
            priority: c.priority,
            full: c.full,
            input: c.input,
            output: c.output,
        });
        self.channels.entry(name).or_insert(key);
        let at = At::Channel(key, Part::Element);
        let problems = problems
            .into_iter()
            .map(|p| format!("channel `{name}`: {p}"));
        self.problems
            .extend(problems.map(|p| Problem::error(at, p)));
    }

    fn kernel<S: AsRef<str>>(&mut self, name: &'w str, k: &WrittenKernel<S>) {
        let body = match (&k.segment, k.host) {
            (Some(function), _) => Body::Segment(Code {
                function: function.as_ref().to_owned(),
                ret: k.returns.map(LocalId),
                most: k.most.clone(),
            }),
            (None, true) => Body::Host,
            (None, false) => Body::Device(k.runs.as_ref().map_or(name, |r| r.as_ref()).to_owned()),
        };
        let key = self.graph.add_kernel(Kernel {
            name: name.to_owned(),
            body,
            consumes: None,
            produces: Vec::new(),
            args: k.args.iter().map(|a| a.as_ref().to_owned()).collect(),
        });
        self.kernels.entry(name).or_insert(key);
        let whose = format!("kernel `{name}`");
        let consumes = k
            .consumes
            .as_ref()
            .map(|c| self.find_channel(c.as_ref(), At::Kernel(key, Part::Consumes), &whose));
        let produces = k.produces.iter().enumerate().map(|(i, c)| {
            self.find_channel(c.as_ref(), At::Kernel(key, Part::Produces(i)), &whose)
        });
        let produces = produces.collect();
        if let Some(kernel) = self.graph.kernel_mut(key) {
            kernel.consumes = consumes;
            kernel.produces = produces;
        }
    }

    fn task<S: AsRef<str>>(&mut self, name: &'w str, t: &WrittenTask<S>) {
        let whose = format!("task `{name}`");
        let calls = self.find_channel(t.calls.as_ref(), At::Graph, &whose);
        let frames = t
            .frames
            .as_ref()
            .map(|f| self.find_channel(f.as_ref(), At::Graph, &whose));
        let mut segments = Vec::new();
        for segment in &t.segments {
            let segment = segment.as_ref();
            let found = self.kernels.get(segment).copied();
            if found.is_none() {
                let message = format!("{whose}: there is no kernel `{segment}`");
                let help = meant(segment, self.kernels.keys().copied());
                self.problems
                    .push(Problem::error(At::Graph, message).helped(help));
            }
            segments.push(found.unwrap_or_default());
        }
        let combine = t.combine.combine().unwrap_or_else(|| {
            let message = format!("{whose}: these ways do not combine a result");
            let help = format!(
                "there are `Add`, `Or`, `And`, `Xor`, `Min` and `Max`, of {} pieces at most",
                Ways::MOST
            );
            self.problems
                .push(Problem::error(At::Graph, message).helped(Some(help)));
            Combine::Store
        });
        self.graph.add_task(Task {
            name: name.to_owned(),
            combine,
            calls,
            frames,
            segments,
        });
    }

    fn find_channel(&mut self, name: &str, at: At, whose: &str) -> ChannelKey {
        let found = self.channels.get(name).copied();
        if found.is_none() {
            let message = format!("{whose}: there is no channel `{name}`");
            let help = meant(name, self.channels.keys().copied());
            self.problems.push(Problem::error(at, message).helped(help));
        }
        found.unwrap_or_default()
    }
}

impl From<&Graph> for Written {
    fn from(graph: &Graph) -> Self {
        let channels = graph.channels().map(|(_, c)| {
            let (element, fields) = match &c.element {
                Element::Type(ty) => (Some(ty.clone()), c.layout.as_deref().unwrap_or_default()),
                Element::Fields(fields) => (None, fields.as_slice()),
            };
            let fields = fields.iter().map(|f| (f.name.clone(), piece_text(f.kind)));
            let written = WrittenChannel {
                element,
                fields: Names(fields.collect()),
                protocol: c.protocol,
                scope: c.scope,
                width: c.width,
                group: c.group,
                predicate: c.predicate.clone(),
                priority: c.priority,
                full: c.full,
                input: c.input,
                output: c.output,
            };
            (c.name.clone(), written)
        });
        let channel = |key: ChannelKey| {
            graph
                .channel(key)
                .map_or_else(String::new, |c| c.name.clone())
        };
        let kernel = |key: KernelKey| {
            graph
                .kernel(key)
                .map_or_else(String::new, |k| k.name.clone())
        };
        let kernels = graph.kernels().map(|(_, k)| {
            let code = k.code();
            let written = WrittenKernel {
                runs: k.function().filter(|f| *f != k.name).map(str::to_owned),
                segment: code.map(|c| c.function.clone()),
                returns: code.and_then(|c| c.ret).map(|local| local.0),
                most: code.map_or_else(Vec::new, |c| c.most.clone()),
                host: k.body == Body::Host,
                consumes: k.consumes.map(channel),
                produces: k.produces.iter().map(|c| channel(*c)).collect(),
                args: k.args.clone(),
            };
            (k.name.clone(), written)
        });
        let tasks = graph.tasks().iter().map(|t| {
            let written = WrittenTask {
                combine: t.combine.into(),
                calls: channel(t.calls),
                frames: t.frames.map(channel),
                segments: t.segments.iter().map(|k| kernel(*k)).collect(),
            };
            (t.name.clone(), written)
        });
        Self {
            name: Some(graph.name.clone()),
            channels: Names(channels.collect()),
            kernels: Names(kernels.collect()),
            tasks: Names(tasks.collect()),
        }
    }
}

/// Two graphs are the same if they are written the same way: keys are of one graph each.
impl PartialEq for Graph {
    fn eq(&self, other: &Self) -> bool {
        Written::from(self) == Written::from(other)
    }
}

impl Serialize for Graph {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Graph {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let resolved = Written::<String>::deserialize(deserializer)?.resolve("graph");
        match resolved.problems.first() {
            None => Ok(resolved.graph),
            Some(problem) => Err(D::Error::custom(&problem.message)),
        }
    }
}

impl<S, V> Names<S, V> {
    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<S, V> Default for Names<S, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<S: Serialize, V: Serialize> Serialize for Names<S, V> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de, S: Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for Names<S, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All<S, V>(PhantomData<(S, V)>);
        impl<'de, S: Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for All<S, V> {
            type Value = Names<S, V>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from names: { \"name\": .. }")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut out = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    out.push(entry);
                }
                Ok(Names(out))
            }
        }
        deserializer.deserialize_map(All(PhantomData))
    }
}

const fn none<S>() -> Option<S> {
    None
}

const fn width() -> u32 {
    WIDTH
}

const fn group() -> u32 {
    GROUP
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_width(width: &u32) -> bool {
    *width == WIDTH
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_group(group: &u32) -> bool {
    *group == GROUP
}
