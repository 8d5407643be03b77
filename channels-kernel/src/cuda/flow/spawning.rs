//! Kernels of a graph that spawn: a program of tasks, which the devices of such programs run.
//!
//! A node that runs over a ring in one kernel with all others has no stacks for what it spawns. So the elements of its channel leave the ring, and
//! become the roots of a run of tasks. What they emit are children there, of a task that does nothing, one for each channel: a *sink*. All that is
//! right for children is right for them, counted or not, given back or at a restart point, and the host takes the elements of a sink out of its entry
//! channel instead of having them run.

use millstream_graph::{
    graph::{Body, ChannelKey, Code, Graph, Kernel, KernelKey, Task},
    ir::{
        Arg, Block, ChannelId, Combine, FuncId, Function, FunctionKind, Local, LocalId, Param,
        Program, Slot, SlotId, Span, StmtKind, TaskId, Terminator,
    },
    levelized::{Field, Levelized, StackRole},
    ty::{PieceKind, Type},
};
use std::collections::BTreeMap;

/// The kernels of a graph that spawn, with all that they spawn.
#[derive(Clone, PartialEq, Debug)]
pub struct Spawning {
    /// The tasks. They emit nothing; their uniforms are numbered as the graph's.
    pub program: Levelized,
    /// The kernels: the number of the channel that each consumes, and its task here.
    pub nodes: Vec<(usize, TaskId)>,
    /// Of each channel that they emit into, its number, and the task whose elements are its.
    pub sinks: Vec<(usize, TaskId)>,
}

/// Whether the task that a kernel became needs stacks.
pub(super) fn spawns(program: &Levelized, task: TaskId) -> bool {
    let mut pushes = program.entry(task).pushes();
    let is_stack = |stack| !matches!(program.role(stack), StackRole::Channel(_));
    program.segments(task).len() > 1
        || !program.frame(task).is_empty()
        || pushes.any(|p| is_stack(p.stack))
}

impl Spawning {
    /// Those of a graph whose kernels became these tasks of a program; none if no kernel spawns.
    #[must_use]
    pub fn of(graph: &Graph, program: &Levelized, kernels: &[(KernelKey, TaskId)]) -> Option<Self> {
        let consumes = |key: KernelKey| {
            let channel = graph.kernel(key)?.consumes?;
            graph.channels().position(|c| c.0 == channel)
        };
        let kernels = kernels.iter().filter(|k| spawns(program, k.1));
        let wide = program.on_wide();
        let nodes: Vec<(usize, TaskId)> = kernels
            .filter_map(|(key, task)| Some((consumes(*key)?, wide.find(&program[*task].name)?)))
            .collect();
        let element = |channel: ChannelId| {
            let (key, _) = graph.channels().nth(channel.index())?;
            graph.element(key, &program.program)
        };
        (!nodes.is_empty()).then(|| Self::new(wide, nodes, element))
    }

    fn new(
        whole: &Levelized,
        nodes: Vec<(usize, TaskId)>,
        element: impl Fn(ChannelId) -> Option<Type>,
    ) -> Self {
        let kept = whole.reached(nodes.iter().map(|n| n.1));
        let mut graph = Graph::new(&whole.program.name);
        let mut stacks = BTreeMap::new();
        let mut emitted: Vec<(ChannelKey, ChannelId)> = Vec::new();
        for segment in kept.iter().flat_map(|t| whole.segments(*t)) {
            for key in segment.pushes().map(|p| p.stack) {
                match whole.role(key) {
                    StackRole::Channel(c) if !emitted.contains(&(key, c)) => emitted.push((key, c)),
                    _ => {}
                }
            }
        }
        let own = |key: &ChannelKey| match whole.role(*key) {
            StackRole::Entry(t) | StackRole::Frame(t) | StackRole::Continuation(t, _) => {
                kept.contains(&t)
            }
            StackRole::Channel(_) => false,
        };
        let own = whole.stacks().iter().copied().filter(own);
        for key in own.chain(emitted.iter().map(|e| e.0)) {
            if let Some(channel) = whole.graph().channel(key) {
                stacks.insert(key, graph.add_channel(channel.clone()));
            }
        }
        let mut program = whole.program.clone();
        let first = FuncId::new(program.functions.len());
        let sink_of = |channel: ChannelId| {
            let number = emitted.iter().position(|e| e.1 == channel);
            FuncId(first.0 + number.map_or(0, |n| n as u32))
        };
        let mut numbers = BTreeMap::new();
        for &task in &kept {
            numbers.insert(task, graph.add_task_of(whole, task, &stacks));
            for segment in whole.segments(task) {
                spawn_what_is_emitted(&mut program.functions[segment.func.index()], sink_of);
            }
        }
        let sinks = emitted.iter().map(|&(key, channel)| {
            let fields = whole.fields(key);
            let ty = element(channel).unwrap_or(Type::unit());
            let name = whole
                .program
                .free_name(format!("emit.{}", channel.index()), "'");
            let function = sink(name, fields, ty);
            (channel.index(), (stacks[&key], function))
        });
        let sinks: Vec<_> = sinks.collect();
        let functions = sinks.iter().map(|(_, (_, function))| function.clone());
        program.functions.extend(functions);
        let sinks = sinks.into_iter().map(|(channel, (stack, function))| {
            (channel, add_sink(&mut program, &mut graph, stack, function))
        });
        let mut sinks: Vec<_> = sinks.collect();
        sinks.sort_by_key(|sink| sink.0);
        program.channels.clear();
        let nodes = nodes.into_iter().map(|(c, task)| (c, numbers[&task]));
        Self {
            nodes: nodes.collect(),
            program: Levelized::unverified(program, graph).expect("all names are there"),
            sinks,
        }
    }
}

fn spawn_what_is_emitted(code: &mut Function, sink_of: impl Fn(ChannelId) -> FuncId) {
    for stmt in code.blocks.iter_mut().flat_map(|b| &mut b.stmts) {
        if let StmtKind::Emit { channel, args } = &mut stmt.kind {
            stmt.kind = StmtKind::Spawn {
                func: sink_of(*channel),
                args: std::mem::take(args),
                dest: None,
                leaf: None,
            };
        }
    }
}

/// What spawns of a channel's elements name.
fn sink(name: String, fields: &[Field], ty: Type) -> Function {
    let (mut args, mut locals, mut slots) = (Vec::new(), Vec::new(), Vec::new());
    for field in fields {
        let name = Some(field.name.clone());
        args.push(match field.kind {
            PieceKind::Scalar(ty) => {
                locals.push(Local { name, ty });
                Arg::Local(LocalId::new(locals.len() - 1))
            }
            PieceKind::Blob(layout) => {
                slots.push(Slot {
                    name,
                    layout,
                    scalar: None,
                });
                Arg::Slot(SlotId::new(slots.len() - 1))
            }
        });
    }
    let span = Span::default();
    Function {
        name,
        kind: FunctionKind::Task,
        rounds: false,
        team: None,
        params: vec![Param {
            name: "element".into(),
            ty,
        }],
        ret: Type::unit(),
        args,
        locals,
        slots,
        blocks: vec![Block {
            stmts: Vec::new(),
            term: Terminator::Return(Vec::new()),
            span,
        }],
        span,
    }
}

/// The task of a channel's elements, which does nothing: its entry elements are what was emitted.
fn add_sink(program: &mut Program, graph: &mut Graph, stack: ChannelKey, of: Function) -> TaskId {
    let body = Function {
        name: program.free_name(format!("{}/0", of.name), "'"),
        kind: FunctionKind::Segment,
        params: Vec::new(),
        ..of.clone()
    };
    if let Some(channel) = graph.channel_mut(stack) {
        channel.name.clone_from(&of.name);
    }
    let segment = graph.add_kernel(Kernel {
        name: of.name.clone(),
        body: Body::Segment(Code {
            function: body.name.clone(),
            ret: None,
            most: Vec::new(),
        }),
        consumes: Some(stack),
        produces: Vec::new(),
        args: Vec::new(),
    });
    program.functions.push(body);
    graph.add_task(Task {
        name: of.name,
        combine: Combine::Store,
        calls: stack,
        frames: None,
        segments: vec![segment],
    })
}
