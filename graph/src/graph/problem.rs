//! What is wrong with a graph.

use super::{ChannelKey, KernelKey};
use std::fmt;

/// One thing that is wrong with a graph, or that its user should know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Which node it is about, and what of it.
    pub at: At,
    /// Whether the graph can be run all the same.
    pub warning: bool,
    /// What is wrong. It has the node's name.
    pub message: String,
    /// What could be done, or the name that was probably meant.
    pub help: Option<String>,
}

/// What a problem is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum At {
    /// The graph as a whole.
    Graph,
    /// A channel.
    Channel(ChannelKey, Part),
    /// A kernel.
    Kernel(KernelKey, Part),
}

/// Which part of a node's description.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// Its name, or all of it.
    Name,
    /// The type of a channel's elements.
    Element,
    /// How many elements a channel has room for.
    Width,
    /// How many elements share a done count.
    Group,
    /// When a channel's elements are worth a dispatch.
    Predicate,
    /// What a kernel runs.
    Runs,
    /// The channel that a kernel consumes.
    Consumes,
    /// The channel of a port.
    Produces(usize),
    /// What a bound parameter gets.
    Arg(usize),
}

/// Why a graph cannot be run: all that is wrong with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GraphError {
    /// The graph's name.
    pub graph: String,
    /// What is wrong; never empty, and no warnings.
    pub problems: Vec<Problem>,
}

impl Problem {
    /// A problem of the graph as a whole.
    #[must_use]
    pub fn of_graph(message: impl Into<String>) -> Self {
        Self::error(At::Graph, message.into())
    }

    pub(crate) const fn error(at: At, message: String) -> Self {
        Self {
            at,
            warning: false,
            message,
            help: None,
        }
    }

    pub(crate) fn helped(self, help: impl Into<Option<String>>) -> Self {
        Self {
            help: help.into(),
            ..self
        }
    }

    pub(crate) fn warned(self) -> Self {
        Self {
            warning: true,
            ..self
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the graph `{}` cannot be run", self.graph)?;
        for problem in &self.problems {
            write!(f, "\n  {problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for GraphError {}

/// The name that is nearest to a misspelled one, if one is near.
#[must_use]
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let limit = 1 + name.len() / 4;
    let distances = known
        .iter()
        .map(|k| (strsim::damerau_levenshtein(name, k), *k));
    distances
        .filter(|(d, k)| *d <= limit && *d < k.len())
        .min()
        .map(|(_, k)| k)
}

/// Says the name that was probably meant, or all that there are.
#[must_use]
pub fn meant<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let known: Vec<&str> = known.into_iter().collect();
    match (nearest(name, &known), known.len()) {
        (Some(near), _) => Some(format!("did you mean `{near}`?")),
        (None, 0) => None,
        (None, 1) => Some(format!("there is `{}`", known[0])),
        (None, _) => Some(format!("there are `{}`", known.join("`, `"))),
    }
}
