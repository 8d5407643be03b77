//! Random graphs of kernels: kernels that loop, branch, spawn and emit into several channels, and how they are connected.
//!
//! The elements of a channel that a kernel consumes are pairs of a number and an item; what comes of an element has a lower number, so that every
//! graph ends. What kernels add to atomics, and which elements come to the outputs, does not depend on who is first.

use super::{
    choices::Choices,
    expr::may_read,
    function::{Gen, debug_argument},
    scope::{Kind, Var},
    shape::shape,
    types::{Func, Mode, Param, Shape, Ty, debug_value},
};

/// Greatest number of the first elements, and how many elements one may emit that are consumed: together they bound the number of all.
const BOUNDS: [(u32, u32); 4] = [(2, 6), (1, 8), (3, 4), (5, 3)];

/// A program, a graph of its kernels, and what it is run with.
#[derive(Clone, Debug)]
pub struct GraphSample {
    /// The text of a file.
    pub source: String,
    /// The channels: name, and type of the elements.
    pub channels: Vec<(String, String)>,
    /// The nodes.
    pub nodes: Vec<NodeSample>,
    /// The first elements: of which channel, and the value as `Debug` text.
    pub first: Vec<(usize, String)>,
    /// What overflow and bounds mean in it.
    pub mode: Mode,
}

/// A node of a graph.
#[derive(Clone, Debug)]
pub struct NodeSample {
    /// Its name.
    pub name: String,
    /// The kernel that it runs.
    pub kernel: String,
    /// The channel that it consumes.
    pub consumes: usize,
    /// The channels of its ports.
    pub produces: Vec<usize>,
    /// What its parameters are given, as `Debug` text.
    pub args: Vec<String>,
}

/// A channel that a kernel emits into.
#[derive(Clone, Debug)]
pub(super) struct Port {
    pub(super) name: String,
    pub(super) item: Ty,
    /// Whether a kernel consumes what comes into it.
    pub(super) inner: bool,
}

/// A kernel before it has a body.
struct Plan {
    item: Ty,
    ports: Vec<Port>,
    params: Vec<(String, Param)>,
}

/// A channel: what its elements carry, and whether a kernel consumes them.
struct Wire {
    item: Ty,
    inner: bool,
}

impl Wire {
    fn element(&self, shape: &Shape) -> String {
        if self.inner {
            format!("(u32, {})", shape.show(&self.item))
        } else {
            shape.show(&self.item)
        }
    }
}

/// Makes a graph.
#[must_use]
pub fn generate_graph(choices: &mut Choices) -> GraphSample {
    let mut shape = shape(choices, false);
    let (depth, emits) = choices.pick(&BOUNDS);
    (shape.depth, shape.fan) = (depth, shape.fan.min(3));
    let kernels = 1 + choices.below(3) as usize;
    let twice = choices.chance(30);
    let items: Vec<Ty> = (0..kernels).map(|_| choices.pick(&shape.palette)).collect();
    let mut wires: Vec<Wire> = Vec::new();
    let consumers = (0..kernels).chain(twice.then_some(0));
    wires.extend(consumers.clone().map(|k| Wire {
        item: items[k].clone(),
        inner: true,
    }));
    for _ in 0..choices.below(3) {
        let item = choices.pick(&shape.palette);
        wires.push(Wire { item, inner: false });
    }
    let mut plans = Vec::new();
    let mut connected = Vec::new();
    for item in items {
        let ports: Vec<usize> = (0..choices.pick(&[1, 2, 3, 4, 0]))
            .map(|_| choices.below(wires.len() as u32) as usize)
            .collect();
        let named = ports.iter().enumerate().map(|(i, w)| Port {
            name: format!("c{i}"),
            item: wires[*w].item.clone(),
            inner: wires[*w].inner,
        });
        let named = named.collect();
        plans.push(Plan {
            item,
            ports: named,
            params: bound(choices, &shape),
        });
        connected.push(ports);
    }
    let nodes = consumers.enumerate().map(|(i, k)| NodeSample {
        name: format!("node{i}"),
        kernel: format!("k{k}"),
        consumes: i,
        produces: connected[k].clone(),
        args: (plans[k].params.iter())
            .map(|(_, p)| debug_argument(choices, p, &shape))
            .collect(),
    });
    let nodes = nodes.collect();
    let first = (0..1 + choices.below(8)).map(|_| {
        let channel = choices.below(plans.len() as u32) as usize;
        let number = depth - choices.pick(&[0, 0, 1]);
        let item = debug_value(choices, &wires[channel].item, &shape);
        (channel, format!("({number}, {item})"))
    });
    let first = first.collect();
    let channels = wires.iter().enumerate();
    let channels = channels
        .map(|(i, w)| (format!("channel{i}"), w.element(&shape)))
        .collect();
    let mode = shape.mode;
    let mut g = Gen::new(choices, shape);
    let functions: Vec<String> = (0..g.shape.fns.len()).map(|i| g.function(i)).collect();
    let kernels = plans.into_iter().enumerate();
    let kernels: Vec<String> = kernels.map(|(i, plan)| g.kernel(i, plan, emits)).collect();
    let source = g.program(&(kernels.concat() + &functions.concat()));
    GraphSample {
        source,
        channels,
        nodes,
        first,
        mode,
    }
}

/// What is bound to a kernel: the atomics that its tasks want too, values, and memory that nobody writes.
fn bound(c: &mut Choices, shape: &Shape) -> Vec<(String, Param)> {
    let mut params: Vec<(String, Param)> = (shape.atomics.iter())
        .map(|(name, param, _)| (name.clone(), param.clone()))
        .collect();
    for i in 0..c.below(3) {
        let ty = c.pick(&shape.palette);
        let param = match c.below(4) {
            2 => Param::Slice {
                mutable: false,
                elem: ty,
            },
            3 => Param::Ref {
                mutable: false,
                target: ty,
            },
            _ => Param::Value(ty),
        };
        params.push((format!("p{i}"), param));
    }
    params
}

impl Gen<'_> {
    fn kernel(&mut self, i: usize, plan: Plan, emits: u32) -> String {
        let signature = Func {
            name: format!("k{i}"),
            task: true,
            params: plan.params,
            ret: None,
        };
        self.enter(self.shape.fns.len(), signature);
        self.emits_left = emits;
        let held = self.c.chance(30);
        let element = format!("(u32, {})", self.shape.show(&plan.item));
        let mut params = vec![if held {
            format!("src: Element<{element}>")
        } else {
            format!("(n, item): {element}")
        }];
        if held {
            self.line("let (n, item) = src.deq();");
        }
        self.declare("item", Kind::Value(plan.item), false);
        let ports = plan.ports.iter().map(|port| {
            let elem = Wire {
                item: port.item.clone(),
                inner: port.inner,
            };
            format!("{}: Channel<{}>", port.name, elem.element(&self.shape))
        });
        let ports: Vec<String> = ports.collect();
        let bound = self.parameters();
        // Channels stand before or behind what is bound.
        if self.c.chance(50) {
            params.extend(ports.into_iter().chain(bound));
        } else {
            params.extend(bound.into_iter().chain(ports));
        }
        self.ports = plan.ports;
        self.body();
        self.ports.clear();
        format!(
            "\n    #[kernel]\n    pub fn k{i}({}) {{\n{}    }}\n",
            params.join(", "),
            self.text()
        )
    }

    /// An element for one of the kernel's channels, in one of the ways there are to write it.
    pub(super) fn emit(&mut self) {
        let may = |p: &&Port| !p.inner || self.recurses && self.emits_left >= self.weight;
        let ports: Vec<Port> = self.ports.iter().filter(may).cloned().collect();
        if ports.is_empty() || !ports[0].inner && self.weight > 16 {
            return self.let_value();
        }
        let port = self.c.pick(&ports);
        let item = self.item(&port.item);
        let name = &port.name;
        if !port.inner {
            return self.line(&format!("{name}.emit({item});"));
        }
        self.emits_left -= self.weight;
        let less = self.c.pick(&["n - 1", "n / 2", "n.saturating_sub(2)"]);
        if self.c.chance(70) {
            return self.line(&format!("{name}.emit(({less}, {item}));"));
        }
        let place = self.name("ob");
        self.line(&format!("let mut {place} = {name}.talloc();"));
        if self.c.chance(80) {
            self.line(&format!("{place}.1 = {item};"));
        }
        self.line(&format!("{place}.0 = {less};"));
        self.line(&format!("{name}.enq({place});"));
    }

    /// What an element carries: often a variable as it is, which may have waited behind a sync for nothing else.
    fn item(&mut self, ty: &Ty) -> String {
        let fits = |v: &&Var| may_read(v) && v.kind == Kind::Value(ty.clone());
        let held: Vec<String> = self
            .vars
            .iter()
            .filter(fits)
            .map(|v| v.name.clone())
            .collect();
        if held.is_empty() || self.c.chance(40) {
            return self.expr(ty, 2);
        }
        self.c.pick(&held)
    }

    /// Whether an emit may come next. A function without channels makes no choice.
    pub(super) fn wants_emit(&mut self) -> bool {
        !self.ports.is_empty() && self.rounds.is_none() && self.c.chance(45)
    }
}
