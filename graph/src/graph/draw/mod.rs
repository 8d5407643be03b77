//! Drawings of a graph: what is drawn is what runs.
//!
//! Kernels are boxes, channels dashed ones with the fields of their elements, as in the paper's Figure 11; `host` is the caller, who sends
//! elements and receives them. A frame stack has no box of its own: its fields stand with the continuations that refer to frames. Dotted
//! edges are results that are written into frames.

mod layers;
mod render;
mod returns;

use super::{
    Body, Channel, ChannelKey, Element, Graph, Kernel, KernelKey, Node, Predicate, Protocol,
    WhenFull,
};
use crate::{ir::Program, levelized::StackRole, ty::Field};
use std::collections::BTreeMap;

/// A graph, laid out as boxes and what is written in them and between them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Drawing {
    name: String,
    boxes: Vec<Box>,
    arrows: Vec<Arrow>,
}

/// A node.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Box {
    /// None for the host.
    node: Option<Node>,
    lines: Vec<String>,
}

/// An edge.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Arrow {
    from: usize,
    to: usize,
    label: String,
    /// A result that goes into a frame.
    dotted: bool,
}

impl Drawing {
    /// Of a graph of kernels of this program, or of tasks whose functions are there.
    #[must_use]
    pub fn new(graph: &Graph, program: &Program) -> Self {
        Drawer {
            graph,
            program,
            stacks: graph.stack_roles(),
            boxes: Vec::new(),
            channels: BTreeMap::new(),
            kernels: BTreeMap::new(),
        }
        .draw()
    }

    /// What is written in the boxes, and from where to where arrows lead, with what is written on them: for tests.
    pub fn arrows(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        let first = |b: usize| self.boxes[b].lines[0].as_str();
        self.arrows
            .iter()
            .map(move |a| (first(a.from), first(a.to), a.label.as_str()))
    }
}

struct Drawer<'a> {
    graph: &'a Graph,
    program: &'a Program,
    stacks: BTreeMap<ChannelKey, StackRole>,
    boxes: Vec<Box>,
    channels: BTreeMap<ChannelKey, usize>,
    kernels: BTreeMap<KernelKey, usize>,
}

impl Drawer<'_> {
    fn draw(mut self) -> Drawing {
        let graph = self.graph;
        let outside = |c: &Channel| c.input || c.output;
        if graph.channels().any(|(_, c)| outside(c)) {
            let lines = vec!["host".to_owned()];
            self.boxes.push(Box { node: None, lines });
        }
        // A channel stands before the kernel that consumes it.
        for (key, kernel) in graph.kernels() {
            if let Some(channel) = kernel.consumes {
                self.add_channel(channel);
            }
            self.kernels.insert(key, self.boxes.len());
            let lines = vec![self.kernel_line(kernel)];
            let node = Some(Node::Kernel(key));
            self.boxes.push(Box { node, lines });
        }
        for (key, _) in graph.channels() {
            if !matches!(self.stacks.get(&key), Some(StackRole::Frame(_))) {
                self.add_channel(key);
            }
        }
        let arrows = self.arrows();
        Drawing {
            name: graph.name.clone(),
            boxes: self.boxes,
            arrows,
        }
    }

    fn add_channel(&mut self, key: ChannelKey) {
        if let (None, Some(channel)) = (self.channels.get(&key), self.graph.channel(key)) {
            self.channels.insert(key, self.boxes.len());
            let lines = self.channel_lines(key, channel);
            let node = Some(Node::Channel(key));
            self.boxes.push(Box { node, lines });
        }
    }

    fn kernel_line(&self, kernel: &Kernel) -> String {
        match &kernel.body {
            Body::Host => format!("host node {}", kernel.name),
            Body::Device(function) if *function != kernel.name => {
                format!("kernel {} ({function})", kernel.name)
            }
            Body::Device(_) | Body::Segment(_) => format!("kernel {}", kernel.name),
        }
    }

    fn channel_lines(&self, key: ChannelKey, c: &Channel) -> Vec<String> {
        let fields = c.fields(&self.program.structs).unwrap_or_default();
        let size = bytes(&fields);
        let mut out = match c.protocol {
            Protocol::Stack => vec![format!("stack {} ({size} B)", c.name)],
            Protocol::Ring => vec![format!("ring {} ({size} B \u{d7} {})", c.name, c.width)],
        };
        match &c.element {
            Element::Type(ty) if fields.len() != 1 || fields[0].name != "value" => {
                out.push(format!("{ty}: {}", listed(&fields)));
            }
            Element::Type(ty) => out.push(ty.clone()),
            Element::Fields(_) => out.push(listed(&fields)),
        }
        let mut said = Vec::new();
        match &c.predicate {
            Predicate::Full => {}
            Predicate::AtLeast(n) => said.push(format!("at least {n}")),
            Predicate::Any => said.push("any".to_owned()),
            Predicate::Own(name) => said.push(format!("when {name}")),
        }
        if c.priority != 0 {
            said.push(format!("priority {}", c.priority));
        }
        match c.full {
            WhenFull::Wait => {}
            WhenFull::Grow => said.push("grows".to_owned()),
            WhenFull::DropOldest => said.push("drops the oldest".to_owned()),
        }
        if !said.is_empty() {
            out.push(said.join(", "));
        }
        out.extend(self.frame_line(key));
        out
    }

    /// The frame that a continuation stack's elements refer to; or an entry stack's, if its task has no continuation.
    fn frame_line(&self, key: ChannelKey) -> Option<String> {
        let (task, continues) = match self.stacks.get(&key)? {
            StackRole::Continuation(t, _) => (*t, true),
            StackRole::Entry(t) => (*t, false),
            StackRole::Frame(_) | StackRole::Channel(_) => return None,
        };
        let task = self.graph.tasks().get(task.index())?;
        if !continues && task.segments.len() > 1 {
            return None;
        }
        let fields = self
            .graph
            .channel(task.frames?)?
            .fields(&self.program.structs)?;
        let fields = Some(fields).filter(|f| !f.is_empty())?;
        Some(format!("frame ({} B): {}", bytes(&fields), listed(&fields)))
    }

    fn arrows(&self) -> Vec<Arrow> {
        let mut out = Vec::new();
        let mut add = |from: usize, to: usize, label: &str, dotted| {
            let label = label.to_owned();
            out.push(Arrow {
                from,
                to,
                label,
                dotted,
            });
        };
        for (key, kernel) in self.graph.kernels() {
            if let Some(channel) = kernel.consumes.and_then(|c| self.channels.get(&c)) {
                add(*channel, self.kernels[&key], "", false);
            }
        }
        for (key, kernel) in self.graph.kernels() {
            let mut drawn = Vec::new();
            for (port, channel) in kernel.produces.iter().enumerate() {
                let (Some(to), false) = (self.channels.get(channel), drawn.contains(channel))
                else {
                    continue;
                };
                drawn.push(*channel);
                add(
                    self.kernels[&key],
                    *to,
                    &self.produce_label(kernel, port),
                    false,
                );
            }
        }
        for (key, channel) in self.graph.channels() {
            let Some(&at) = self.channels.get(&key) else {
                continue;
            };
            if channel.input {
                let label = if self.stacks.contains_key(&key) {
                    "call"
                } else {
                    "send"
                };
                add(0, at, label, false);
            }
            if channel.output {
                add(at, 0, "receive", false);
            }
        }
        for (kernel, channel) in returns::returns(self.graph, self.program) {
            if let (Some(from), Some(to)) = (self.kernels.get(&kernel), self.channels.get(&channel))
            {
                add(*from, *to, "return", true);
            }
        }
        out
    }

    /// What goes from a kernel to a channel, by all ports that lead there.
    fn produce_label(&self, kernel: &Kernel, port: usize) -> String {
        let channel = kernel.produces[port];
        let times = |n: Option<u32>| match n {
            Some(1) => String::new(),
            Some(n) => format!(" \u{d7}{n}"),
            None => " \u{d7}n".to_owned(),
        };
        let ring = |c: &Channel| c.protocol == Protocol::Ring;
        match (&kernel.body, self.stacks.get(&channel)) {
            (Body::Segment(code), Some(StackRole::Entry(_))) => {
                format!("spawn{}", times(code.most.get(port).copied().flatten()))
            }
            (_, Some(StackRole::Entry(_))) => "spawn".to_owned(),
            _ if self.graph.channel(channel).is_some_and(ring) => "emit".to_owned(),
            _ => "continue".to_owned(),
        }
    }
}

fn listed(fields: &[Field]) -> String {
    let shown: Vec<String> = fields
        .iter()
        .map(|f| format!("{}: {}", f.name, piece(f)))
        .collect();
    shown.join(", ")
}

fn piece(field: &Field) -> String {
    match field.kind {
        crate::ty::PieceKind::Scalar(ty) => ty.name().to_owned(),
        crate::ty::PieceKind::Blob(layout) => format!("{} bytes", layout.size),
    }
}

/// Bytes that an element takes in all of its arrays.
fn bytes(fields: &[Field]) -> u64 {
    let stride = |f: &Field| f.kind.layout().size.next_multiple_of(f.kind.layout().align);
    fields.iter().map(stride).sum()
}
