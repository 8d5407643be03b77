//! Whether a graph is one of stacks: what its tasks name is there, and each stack and each segment has one place.

use super::{Field, StackRole};
use crate::{
    graph::{
        At, Body, ChannelKey, Element, Graph, Kernel, KernelKey, Part, Problem, Protocol, Task,
    },
    ir::{ChannelId, FuncId, FunctionKind, Program, TaskId},
    ty::{PieceKind, Scalar},
};
use std::collections::{BTreeMap, BTreeSet};

/// What a graph's tasks name.
pub(super) struct Joined {
    /// Of each task its function and those of its segments.
    pub(super) functions: Vec<(FuncId, Vec<FuncId>)>,
    /// In the order of [`super::Levelized::stacks`].
    pub(super) stacks: Vec<ChannelKey>,
    pub(super) roles: BTreeMap<ChannelKey, StackRole>,
}

/// Looks up what the tasks of a graph name. Behind this nothing is missing, whatever the code does.
pub(super) fn join(program: &Program, graph: &Graph) -> Result<Joined, Vec<Problem>> {
    let mut joining = Joining {
        graph,
        program,
        stacks: Vec::new(),
        roles: BTreeMap::new(),
        segments: BTreeSet::new(),
        problems: Vec::new(),
    };
    for (t, task) in graph.tasks().iter().enumerate() {
        // A segment that consumes nothing is told with the segments.
        for (stack, role) in graph.stacks_of(TaskId::new(t)) {
            joining.stack(task, stack, role);
        }
    }
    joining.emitted();
    let tasks = graph.tasks().iter().enumerate();
    let functions = tasks.map(|(t, task)| joining.task(TaskId::new(t), task));
    let functions = functions.collect();
    match joining.problems {
        problems if problems.is_empty() => Ok(Joined {
            functions,
            stacks: joining.stacks,
            roles: joining.roles,
        }),
        problems => Err(problems),
    }
}

struct Joining<'a> {
    graph: &'a Graph,
    program: &'a Program,
    stacks: Vec<ChannelKey>,
    roles: BTreeMap<ChannelKey, StackRole>,
    /// Those that were met.
    segments: BTreeSet<KernelKey>,
    problems: Vec<Problem>,
}

impl Joining<'_> {
    fn fail(&mut self, message: String) {
        self.problems.push(Problem::of_graph(message));
    }

    fn fail_at(&mut self, key: KernelKey, kernel: &Kernel, part: Part, message: &str) {
        let message = format!("kernel `{}`: {message}", kernel.name);
        self.problems
            .push(Problem::error(At::Kernel(key, part), message));
    }

    fn named(&self, channel: ChannelKey) -> String {
        let name = self.graph.channel(channel).map_or("?", |c| &c.name);
        format!("`{name}`")
    }

    fn stack(&mut self, task: &Task, key: ChannelKey, role: StackRole) {
        let Some(channel) = self.graph.channel(key) else {
            return self.fail(format!("task `{}`: a stack is not there", task.name));
        };
        let name = &channel.name;
        if self.roles.insert(key, role).is_some() {
            self.fail(format!(
                "task `{}`: channel `{name}` is a stack of something else already",
                task.name
            ));
        } else {
            self.stacks.push(key);
        }
        let wrong = match &channel.element {
            _ if channel.protocol == Protocol::Ring => {
                "is a ring, and no stack (`protocol: Stack`)"
            }
            Element::Type(_) => "has elements of a type, and no `fields`",
            Element::Fields(fields) if is_wrong(role, fields) => {
                "holds continuations: an element is one `u32`, the number of a frame"
            }
            Element::Fields(_) => return,
        };
        self.fail(format!("task `{}`: channel `{name}` {wrong}", task.name));
    }

    /// Of the other stacks as many as there are channels that are emitted into.
    fn emitted(&mut self) {
        let others = self.graph.channels();
        let others = others.filter(|(key, c)| {
            let is_fields = matches!(c.element, Element::Fields(_));
            c.protocol == Protocol::Stack && is_fields && !self.roles.contains_key(key)
        });
        let others = others.map(|(key, _)| key);
        let others: Vec<_> = others.take(self.program.channels.len()).collect();
        for (c, key) in others.into_iter().enumerate() {
            self.stacks.push(key);
            self.roles
                .insert(key, StackRole::Channel(ChannelId::new(c)));
        }
    }

    fn task(&mut self, t: TaskId, task: &Task) -> (FuncId, Vec<FuncId>) {
        let name = &task.name;
        let func = self.program.find(name).unwrap_or_else(|| {
            self.fail(format!(
                "task `{name}`: the program has no function of that name"
            ));
            FuncId(0)
        });
        if self.graph.tasks()[..t.index()]
            .iter()
            .any(|o| o.name == *name)
        {
            self.fail(format!("two tasks are called `{name}`"));
        }
        match (task.segments.len(), task.frames) {
            (0, _) => self.fail(format!("task `{name}` has no segment")),
            (1, _) | (_, Some(_)) => {}
            (_, None) => self.fail(format!(
                "task `{name}` goes on after its first segment, and has no `frames`"
            )),
        }
        let segments = task.segments.iter().enumerate();
        let functions = segments.filter_map(|(s, key)| {
            let consumes = (s == 0).then_some(task.calls);
            self.segment(t, *key, consumes)
        });
        (func, functions.collect())
    }

    /// A segment, which consumes that stack, if it is known which.
    fn segment(
        &mut self,
        t: TaskId,
        key: KernelKey,
        consumes: Option<ChannelKey>,
    ) -> Option<FuncId> {
        let Some(kernel) = self.graph.kernel(key) else {
            self.fail("a segment is not there".to_owned());
            return None;
        };
        if !self.segments.insert(key) {
            let message = "it is a segment twice";
            self.fail_at(key, kernel, Part::Name, message);
        }
        match (kernel.consumes, consumes) {
            (None, _) => self.fail_at(key, kernel, Part::Name, "it consumes nothing"),
            (Some(own), Some(calls)) if own != calls => {
                let message = format!(
                    "it is its task's first segment and consumes {}, not the `calls`, {}",
                    self.named(own),
                    self.named(calls)
                );
                self.fail_at(key, kernel, Part::Consumes, &message);
            }
            _ => {}
        }
        let Body::Segment(code) = &kernel.body else {
            let message = "it is no segment, but a part of a task";
            self.fail_at(key, kernel, Part::Runs, message);
            return None;
        };
        for (i, channel) in kernel.produces.iter().enumerate() {
            let message = match self.roles.get(channel) {
                None => "it pushes to a channel that is no stack of a task".to_owned(),
                Some(StackRole::Frame(of) | StackRole::Continuation(of, _)) if *of != t => {
                    format!("{} is a stack of another task", self.named(*channel))
                }
                Some(_) if kernel.produces[..i].contains(channel) => {
                    format!("it pushes to {} by two ports", self.named(*channel))
                }
                Some(_) => continue,
            };
            self.fail_at(key, kernel, Part::Produces(i), &message);
        }
        let found = self.program.find(&code.function);
        let found = found.filter(|f| self.program[*f].kind == FunctionKind::Segment);
        if found.is_none() {
            let message = match code.function.contains('{') {
                true => "it names a segment by its code, which stands in the program".to_owned(),
                false => format!("the program has no segment `{}`", code.function),
            };
            self.fail_at(key, kernel, Part::Runs, &message);
        }
        found
    }
}

/// Whether continuations are anything but references to frames.
fn is_wrong(role: StackRole, fields: &[Field]) -> bool {
    let is_reference = |f: &Field| f.kind == PieceKind::Scalar(Scalar::U32);
    matches!(role, StackRole::Continuation(..)) && !matches!(fields, [one] if is_reference(one))
}
