//! A graph as it is written in a file: names in place of keys, and nothing that is as it would be anyway.
//!
//! [`Written`] is generic over its strings, so that a reader may keep the place of each in its file. What serde reads and writes as a
//! [`Graph`] is this form; `from(to(g)) == g`.

use super::{
    Body, Channel, ChannelKey, Element, GROUP, Graph, Kernel, Predicate, Protocol, Scope, WIDTH,
    WhenFull,
    problem::{At, Part, Problem, meant},
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
}

/// A channel but for its name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(
    rename = "Channel",
    deny_unknown_fields,
    bound(serialize = "S: Serialize", deserialize = "S: Deserialize<'de>")
)]
pub struct WrittenChannel<S = String> {
    /// [`Channel::element`]
    pub element: S,
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
    /// Whether it is a host node.
    #[serde(default, skip_serializing_if = "is_default")]
    pub host: bool,
    /// The channel that it consumes.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub consumes: Option<S>,
    /// The channels of its ports.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub produces: Vec<S>,
    /// What its bound parameters get.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<S>,
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
            let channel = WrittenChannel {
                element: f(c.element),
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
                host: k.host,
                consumes: k.consumes.map(&mut f),
                produces: k.produces.into_iter().map(&mut f).collect(),
                args: k.args.into_iter().map(&mut f).collect(),
            };
            (f(name), kernel)
        });
        let kernels = Names(kernels.collect());
        Written {
            name,
            channels,
            kernels,
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
                    Part::Element => &channel.element,
                    _ => name,
                })
            }
            At::Kernel(key, part) => {
                let index = graph.kernels().position(|(k, _)| k == key)?;
                let (name, kernel) = self.kernels.0.get(index)?;
                let written = match part {
                    Part::Runs => kernel.runs.as_ref(),
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
        let mut graph = Graph::new(self.name.as_ref().map_or(name, |n| n.as_ref()));
        let mut channels: BTreeMap<&str, ChannelKey> = BTreeMap::new();
        for (name, c) in &self.channels.0 {
            let key = graph.add_channel(c.resolve(name.as_ref()));
            channels.entry(name.as_ref()).or_insert(key);
        }
        let mut problems = Vec::new();
        for (name, written) in &self.kernels.0 {
            let name = name.as_ref();
            let mut kernel = if written.host {
                Kernel::host(name)
            } else {
                let function = written.runs.as_ref().map_or(name, |r| r.as_ref());
                Kernel {
                    name: name.to_owned(),
                    ..Kernel::device(function)
                }
            };
            kernel.args = written.args.iter().map(|a| a.as_ref().to_owned()).collect();
            let key = graph.add_kernel(kernel);
            let mut find = |channel: &S, part| {
                let channel = channel.as_ref();
                let found = channels.get(channel).copied();
                if found.is_none() {
                    let message = format!("kernel `{name}`: there is no channel `{channel}`");
                    problems.push(
                        Problem::error(At::Kernel(key, part), message)
                            .helped(meant(channel, channels.keys().copied())),
                    );
                }
                found.unwrap_or_default()
            };
            let consumes = written.consumes.as_ref().map(|c| find(c, Part::Consumes));
            let produces = written.produces.iter().enumerate();
            let produces = produces.map(|(i, c)| find(c, Part::Produces(i))).collect();
            if let Some(kernel) = graph.kernel_mut(key) {
                kernel.consumes = consumes;
                kernel.produces = produces;
            }
        }
        Resolved { graph, problems }
    }
}

impl<S: AsRef<str>> WrittenChannel<S> {
    fn resolve(&self, name: &str) -> Channel {
        Channel {
            name: name.to_owned(),
            element: Element(self.element.as_ref().to_owned()),
            protocol: self.protocol,
            scope: self.scope,
            width: self.width,
            group: self.group,
            predicate: self.predicate.clone(),
            priority: self.priority,
            full: self.full,
            input: self.input,
            output: self.output,
        }
    }
}

impl From<&Graph> for Written {
    fn from(graph: &Graph) -> Self {
        let channels = graph.channels().map(|(_, c)| {
            let written = WrittenChannel {
                element: c.element.0.clone(),
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
        let named = |key: ChannelKey| {
            graph
                .channel(key)
                .map_or_else(String::new, |c| c.name.clone())
        };
        let kernels = graph.kernels().map(|(_, k)| {
            let written = WrittenKernel {
                runs: k.function().filter(|f| *f != k.name).map(str::to_owned),
                host: k.body == Body::Host,
                consumes: k.consumes.map(named),
                produces: k.produces.iter().map(|c| named(*c)).collect(),
                args: k.args.clone(),
            };
            (k.name.clone(), written)
        });
        Self {
            name: Some(graph.name.clone()),
            channels: Names(channels.collect()),
            kernels: Names(kernels.collect()),
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
