//! Kernels of a graph that spawn: a program of tasks, which the devices of such programs run.
//!
//! A node that runs over a ring in one kernel with all others has no stacks for what it spawns. So the elements of its channel leave the ring, and
//! become the roots of a run of tasks. What they emit are children there, of a task that does nothing, one for each channel: a *sink*. All that is
//! right for children is right for them, counted or not, given back or at a restart point, and the host takes the elements of a sink out of its entry
//! channel instead of having them run.

use millstream_graph::{
    graph::{Graph, KernelKey},
    ir::{
        Arg, Block, ChannelId, Combine, FuncId, Function, FunctionKind, Local, LocalId, Param,
        Slot, SlotId, Span, StmtKind, TaskId, Terminator,
    },
    levelized::{Field, Levelized, LoweredTask, Segment, StackRef},
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
    let task = &program[task];
    let mut pushes = task.segments[0].pushes.iter();
    let is_stack = |stack| !matches!(stack, StackRef::Channel(_));
    task.segments.len() > 1 || !task.frame.is_empty() || pushes.any(|p| is_stack(p.stack))
}

/// The sinks that there are: by channel, what spawns name, and the task.
type Sinks = BTreeMap<ChannelId, (FuncId, TaskId)>;

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
        mut nodes: Vec<(usize, TaskId)>,
        element: impl Fn(ChannelId) -> Option<Type>,
    ) -> Self {
        let kept: Vec<TaskId> = whole
            .reached(nodes.iter().map(|n| n.1))
            .into_iter()
            .collect();
        let number = |task: TaskId| {
            kept.iter()
                .position(|k| *k == task)
                .map_or(task, TaskId::new)
        };
        for (_, task) in &mut nodes {
            *task = number(*task);
        }
        let mut program = Levelized {
            program: whole.program.clone(),
            tasks: kept.iter().map(|t| whole[*t].clone()).collect(),
            wide: None,
        };
        let mut sinks = Sinks::new();
        let mut made = Vec::new();
        for segment in program.tasks.iter_mut().flat_map(|t| &mut t.segments) {
            for push in &mut segment.pushes {
                push.stack = match push.stack {
                    StackRef::Entry(task) => StackRef::Entry(number(task)),
                    StackRef::Frame(task) => StackRef::Frame(number(task)),
                    StackRef::Continuation(task, to) => StackRef::Continuation(number(task), to),
                    StackRef::Channel(channel) => {
                        let next = || {
                            let ids = (
                                FuncId::new(whole.program.functions.len() + made.len()),
                                TaskId::new(kept.len() + made.len()),
                            );
                            made.push(channel);
                            ids
                        };
                        StackRef::Entry(sinks.entry(channel).or_insert_with(next).1)
                    }
                };
            }
            spawn_what_is_emitted(segment, &sinks);
        }
        for channel in made {
            let fields = program.program.channels[channel.index()].fields.clone();
            let ty = element(channel).unwrap_or(Type::unit());
            let (function, task) = sink(channel, &fields, ty, sinks[&channel].0);
            program.program.functions.push(function);
            program.tasks.push(task);
        }
        program.program.channels.clear();
        Self {
            program,
            nodes,
            sinks: sinks
                .iter()
                .map(|(channel, ids)| (channel.index(), ids.1))
                .collect(),
        }
    }
}

fn spawn_what_is_emitted(segment: &mut Segment, sinks: &Sinks) {
    for stmt in segment.body.blocks.iter_mut().flat_map(|b| &mut b.stmts) {
        if let StmtKind::Emit { channel, args } = &mut stmt.kind {
            stmt.kind = StmtKind::Spawn {
                func: sinks[channel].0,
                args: std::mem::take(args),
                dest: None,
                leaf: None,
            };
        }
    }
}

/// The task of a channel's elements, and what spawns of it name.
fn sink(channel: ChannelId, fields: &[Field], ty: Type, func: FuncId) -> (Function, LoweredTask) {
    // No name of a source has a dot.
    let name = format!("emit.{}", channel.index());
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
    let function = Function {
        name: name.clone(),
        kind: FunctionKind::Task,
        rounds: false,
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
    };
    let body = Function {
        kind: FunctionKind::Segment,
        params: Vec::new(),
        ..function.clone()
    };
    let task = LoweredTask {
        func,
        name,
        combine: Combine::Store,
        element: fields.to_vec(),
        frame: Vec::new(),
        segments: vec![Segment {
            body,
            ret: None,
            pushes: Vec::new(),
        }],
    };
    (function, task)
}
