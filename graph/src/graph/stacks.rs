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
        let stacks: BTreeMap<StackRef, ChannelKey> = program
            .stacks()
            .into_iter()
            .map(|stack| {
                let channel = Channel {
                    element: Element::Fields(program.fields(stack)),
                    protocol: Protocol::Stack,
                    scope: Scope::Worker,
                    input: matches!(stack, StackRef::Entry(t) if roots.contains(&t)),
                    ..Channel::new(program.name(stack), "")
                };
                (stack, graph.add_channel(channel))
            })
            .collect();
        for (t, task) in program.tasks.iter().enumerate() {
            let t = TaskId::new(t);
            let segments = task.segments.iter().enumerate().map(|(s, segment)| {
                let stack = consumed(t, s);
                let pushes = segment.pushes.iter();
                graph.add_kernel(Kernel {
                    name: segment.body.name.clone(),
                    body: Body::Segment(Code {
                        text: print_function(&program.program, &segment.body),
                        ret: segment.ret,
                        most: pushes.clone().map(|p| p.max).collect(),
                    }),
                    consumes: Some(stacks[&stack]),
                    produces: pushes.map(|p| stacks[&p.stack]).collect(),
                    args: Vec::new(),
                })
            });
            let segments = segments.collect();
            graph.add_task(Task {
                name: task.name.clone(),
                combine: task.combine,
                calls: stacks[&StackRef::Entry(t)],
                frames: stacks.get(&StackRef::Frame(t)).copied(),
                segments,
            });
        }
        graph
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
