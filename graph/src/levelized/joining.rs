//! Whether a graph is one of stacks: what its tasks name is there, and each stack and each segment has one place.

use super::{Field, StackRole};
use crate::{
    graph::{
        At, Body, ChannelKey, Element, Graph, Kernel, KernelKey, Part, Problem, Protocol, Task,
        meant,
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
        code: BTreeSet::new(),
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
    joining.strays();
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
    code: BTreeSet<FuncId>,
    problems: Vec<Problem>,
}

impl Joining<'_> {
    fn fail(&mut self, message: String) {
        self.problems.push(Problem::of_graph(message));
    }

    fn fail_at(
        &mut self,
        key: KernelKey,
        kernel: &Kernel,
        part: Part,
        message: &str,
        help: Option<String>,
    ) {
        let message = format!("kernel `{}`: {message}", kernel.name);
        let problem = Problem::error(At::Kernel(key, part), message);
        self.problems.push(problem.helped(help));
    }

    fn named(&self, channel: ChannelKey) -> String {
        let name = self.graph.channel(channel).map_or("?", |c| &c.name);
        format!("`{name}`")
    }

    fn stack(&mut self, task: &Task, key: ChannelKey, role: StackRole) {
        let Some(channel) = self.graph.channel(key) else {
            let message = format!("task `{}`: the graph has no stack for {role:?}", task.name);
            return self.fail(message);
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
            Element::Fields(fields) if !fields.iter().all(|f| f.kind.layout().is_sound()) => {
                "has a field without a layout: a size is a multiple of its alignment, a power of two"
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
        for (c, channel) in self.program.channels.iter().enumerate() {
            let kinds = |fields: &[Field]| fields.iter().map(|f| f.kind).collect::<Vec<_>>();
            let key = others.get(c).copied();
            let stack = key.and_then(|key| self.graph.channel(key)?.fields(&self.program.structs));
            match key {
                Some(key) if stack.is_some_and(|s| kinds(&s) == kinds(&channel.fields)) => {
                    self.stacks.push(key);
                    let role = StackRole::Channel(ChannelId::new(c));
                    self.roles.insert(key, role);
                }
                _ => self.fail(format!(
                    "the program emits into `{}`, and the graph has no stack of such elements",
                    channel.name
                )),
            }
        }
    }

    /// Nobody would run a segment that is no task's.
    fn strays(&mut self) {
        for (key, kernel) in self.graph.kernels() {
            if kernel.code().is_some() && !self.segments.contains(&key) {
                self.fail_at(key, kernel, Part::Name, "it is a segment of no task", None);
            }
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
            let name = &self.graph.tasks()[t.index()].name;
            self.fail(format!("task `{name}`: a segment is not there"));
            return None;
        };
        if !self.segments.insert(key) {
            let message = "it is a segment twice";
            self.fail_at(key, kernel, Part::Name, message, None);
        }
        match (kernel.consumes, consumes) {
            (None, _) => self.fail_at(key, kernel, Part::Name, "it consumes nothing", None),
            (Some(own), Some(calls)) if own != calls => {
                let message = format!(
                    "it is its task's first segment and consumes {}, not the `calls`, {}",
                    self.named(own),
                    self.named(calls)
                );
                self.fail_at(key, kernel, Part::Consumes, &message, None);
            }
            _ => {}
        }
        let Body::Segment(code) = &kernel.body else {
            let message = "it is no segment, but a part of a task";
            self.fail_at(key, kernel, Part::Runs, message, None);
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
            self.fail_at(key, kernel, Part::Produces(i), &message, None);
        }
        let found = self.program.find(&code.function);
        let found = found.filter(|f| self.program[*f].kind == FunctionKind::Segment);
        let (message, help) = match found {
            Some(func) if self.code.insert(func) => return found,
            Some(_) => (
                format!("segment `{}` is another kernel's", code.function),
                None,
            ),
            None if code.function.contains('{') => {
                let help = "let the code stand in `ir`, and say its name here: docs/graph.md";
                (
                    "it says its code, and not the name of a segment".to_owned(),
                    Some(help.to_owned()),
                )
            }
            None => {
                let all = self.program.functions.iter();
                let all = all.filter(|f| f.kind == FunctionKind::Segment);
                (
                    format!("the program has no segment `{}`", code.function),
                    meant(&code.function, all.map(|f| f.name.as_str())),
                )
            }
        };
        self.fail_at(key, kernel, Part::Runs, &message, help);
        None
    }
}

/// Whether continuations are anything but references to frames.
fn is_wrong(role: StackRole, fields: &[Field]) -> bool {
    let is_reference = |f: &Field| f.kind == PieceKind::Scalar(Scalar::U32);
    matches!(role, StackRole::Continuation(..)) && !matches!(fields, [one] if is_reference(one))
}
