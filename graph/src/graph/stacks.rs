//! Levelized programs are graphs of stacks: a channel for each stack, a kernel for each segment, and tasks that tie them together.
//!
//! [`Graph::of`] makes the graph of a program that the lowering made, [`Graph::levelized`] the program of a graph, whoever made that.
//! Nothing is lost either way.

use super::{
    At, Body, Channel, ChannelKey, Code, Element, Graph, Kernel, KernelKey, Part, Problem,
    Protocol, Scope, Task,
};
use crate::{
    ir::{Function, FunctionKind, Program, SegmentId, TaskId},
    levelized::{Levelized, LoweredTask, Push, Segment, StackRef},
    text::{parse_function, print_function},
    ty::Field,
    verify::verify_levelized,
};
use std::collections::BTreeMap;

impl Graph {
    /// The graph of a levelized program: its stacks, segments and tasks. What the host may call is an input: of each group of tasks
    /// that no others spawn, the first that stores its result.
    #[must_use]
    pub fn of(program: &Levelized) -> Self {
        let mut graph = Self::new(&program.program.name);
        let roots = program.roots();
        let mut stacks = BTreeMap::new();
        for stack in program.stacks() {
            let key = graph.add_stack(program, stack);
            if let (StackRef::Entry(t), Some(channel)) = (stack, graph.channel_mut(key)) {
                channel.input = roots.contains(&t);
            }
            stacks.insert(stack, key);
        }
        for t in (0..program.tasks.len()).map(TaskId::new) {
            graph.add_stack_task(program, t, &stacks);
        }
        graph
    }

    /// A graph of kernels together with the stacks of the tasks that they spawn and of their own continuations, where `made` is what
    /// was made of it: the whole of what runs, to be drawn.
    #[must_use]
    pub fn with_tasks(&self, made: &Levelized, nodes: &[(KernelKey, TaskId)]) -> Self {
        let mut graph = self.clone();
        let own: Vec<ChannelKey> = self.channels().map(|(key, _)| key).collect();
        let node = |t: TaskId| nodes.iter().find(|n| n.1 == t).map(|n| n.0);
        let reached = made.reached(nodes.iter().map(|n| n.1));
        let mut stacks = BTreeMap::new();
        for stack in made.stacks() {
            let key = match stack {
                StackRef::Entry(t) | StackRef::Frame(t) | StackRef::Continuation(t, _)
                    if !reached.contains(&t) =>
                {
                    None
                }
                StackRef::Channel(c) => own.get(c.index()).copied(),
                StackRef::Entry(t) if node(t).is_some() => {
                    node(t).and_then(|k| self.kernel(k)?.consumes)
                }
                // A drawing shows no frames.
                StackRef::Frame(t) if node(t).is_some() => None,
                _ => Some(graph.add_stack(made, stack)),
            };
            stacks.extend(key.map(|key| (stack, key)));
        }
        for t in reached {
            let Some(kernel) = node(t) else {
                graph.add_stack_task(made, t, &stacks);
                continue;
            };
            for (s, segment) in made[t].segments.iter().enumerate() {
                if s > 0 {
                    graph.add_segment(made, segment, consumed(t, s), &stacks);
                } else if let Some(kernel) = graph.kernel_mut(kernel) {
                    let pushed = segment.pushes.iter().filter_map(|p| stacks.get(&p.stack));
                    let more: Vec<_> = pushed.filter(|c| !kernel.produces.contains(c)).collect();
                    kernel.produces.extend(more);
                }
            }
        }
        graph
    }

    fn add_stack(&mut self, program: &Levelized, stack: StackRef) -> ChannelKey {
        self.add_channel(Channel {
            element: Element::Fields(program.fields(stack)),
            protocol: Protocol::Stack,
            scope: Scope::Worker,
            ..Channel::new(program.name(stack), "")
        })
    }

    /// Adds the segments of a task, whose stacks are there, and what ties them together.
    fn add_stack_task(
        &mut self,
        program: &Levelized,
        t: TaskId,
        stacks: &BTreeMap<StackRef, ChannelKey>,
    ) {
        let task = &program[t];
        let segments = task.segments.iter().enumerate();
        let segments = segments
            .map(|(s, segment)| self.add_segment(program, segment, consumed(t, s), stacks))
            .collect();
        self.add_task(Task {
            name: task.name.clone(),
            combine: task.combine,
            calls: stacks[&StackRef::Entry(t)],
            frames: stacks.get(&StackRef::Frame(t)).copied(),
            segments,
        });
    }

    fn add_segment(
        &mut self,
        program: &Levelized,
        segment: &Segment,
        consumes: StackRef,
        stacks: &BTreeMap<StackRef, ChannelKey>,
    ) -> KernelKey {
        let pushes = segment.pushes.iter();
        let pushes = pushes.filter_map(|p| Some((*stacks.get(&p.stack)?, p.max)));
        let (produces, most) = pushes.unzip();
        self.add_kernel(Kernel {
            name: segment.body.name.clone(),
            body: Body::Segment(Code {
                text: print_function(&program.program, &segment.body),
                ret: segment.ret,
                most,
            }),
            consumes: stacks.get(&consumes).copied(),
            produces,
            args: Vec::new(),
        })
    }

    /// The levelized program that a graph of stacks is, where `program` has what its segments name: structs, constants, helpers, and a
    /// function for each task, whose parameters and result are the task's.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn levelized(&self, program: &Program) -> Result<Levelized, Vec<Problem>> {
        let mut reader = Reader {
            graph: self,
            program,
            stacks: self.stack_refs(),
            problems: Vec::new(),
        };
        let tasks = self.tasks().map(|(_, task)| reader.task(task)).collect();
        let problems = reader.problems;
        if !problems.is_empty() {
            return Err(problems);
        }
        let levelized = Levelized {
            program: program.clone(),
            tasks,
            wide: None,
        };
        match verify_levelized(&levelized) {
            Ok(()) => Ok(levelized),
            Err(errors) => Err(errors
                .iter()
                .map(|e| Problem::of_graph(e.to_string()))
                .collect()),
        }
    }

    /// What each stack of the graph's tasks is.
    pub(super) fn stack_refs(&self) -> BTreeMap<ChannelKey, StackRef> {
        let mut out = BTreeMap::new();
        for (t, (_, task)) in self.tasks().enumerate() {
            let t = TaskId::new(t);
            out.insert(task.calls, StackRef::Entry(t));
            out.extend(task.frames.map(|key| (key, StackRef::Frame(t))));
            for (s, key) in task.segments.iter().enumerate().skip(1) {
                let channel = self.kernel(*key).and_then(|k| k.consumes);
                out.extend(channel.map(|c| (c, consumed(t, s))));
            }
        }
        out
    }
}

/// The stack that a segment consumes.
fn consumed(task: TaskId, segment: usize) -> StackRef {
    match segment {
        0 => StackRef::Entry(task),
        s => StackRef::Continuation(task, SegmentId::new(s)),
    }
}

/// Reads the tasks of a graph.
struct Reader<'a> {
    graph: &'a Graph,
    program: &'a Program,
    stacks: BTreeMap<ChannelKey, StackRef>,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn task(&mut self, task: &Task) -> LoweredTask {
        let func = self.program.find(&task.name).unwrap_or_else(|| {
            let message = format!(
                "task `{}`: the program has no function of that name",
                task.name
            );
            self.problems.push(Problem::of_graph(message));
            crate::ir::FuncId(0)
        });
        LoweredTask {
            func,
            name: task.name.clone(),
            combine: task.combine,
            element: self.fields(task.calls),
            frame: task.frames.map_or_else(Vec::new, |key| self.fields(key)),
            segments: task
                .segments
                .iter()
                .filter_map(|key| self.segment(*key))
                .collect(),
        }
    }

    fn fields(&self, key: ChannelKey) -> Vec<Field> {
        let channel = self.graph.channel(key);
        let fields = channel.and_then(|c| c.fields(&self.program.structs));
        fields.unwrap_or_default()
    }

    fn segment(&mut self, key: KernelKey) -> Option<Segment> {
        let kernel = self.graph.kernel(key)?;
        let mut fail = |part, message: String| {
            let message = format!("kernel `{}`: {message}", kernel.name);
            self.problems
                .push(Problem::error(At::Kernel(key, part), message));
        };
        let Body::Segment(code) = &kernel.body else {
            fail(
                Part::Runs,
                "it is no segment, but a part of a task".to_owned(),
            );
            return None;
        };
        let body: Function = match parse_function(&code.text, self.program) {
            Ok(body) if body.kind == FunctionKind::Segment => body,
            Ok(_) => {
                fail(Part::Runs, "its text is no segment".to_owned());
                return None;
            }
            Err(e) => {
                fail(Part::Runs, format!("its text is no segment: {e}"));
                return None;
            }
        };
        let mut pushes = Vec::new();
        for (i, channel) in kernel.produces.iter().enumerate() {
            match self.stacks.get(channel) {
                Some(stack) => pushes.push(Push {
                    stack: *stack,
                    max: code.most.get(i).copied().flatten(),
                }),
                None => fail(
                    Part::Produces(i),
                    "it pushes to a channel that is no stack of a task".to_owned(),
                ),
            }
        }
        Some(Segment {
            body,
            ret: code.ret,
            pushes,
        })
    }
}
