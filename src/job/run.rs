//! From a job to its results: buffers, the call, the run, what was expected, the files.

use super::{
    Problem,
    call::{self, Arg, Entry, Given, Inline, Use, View},
    data::{Contents, Data, File},
    error::{JobError, Result, Text},
    eval::{Scope, Written},
    graph::{self, Failed, Feed, Placed},
    making::Making,
    output,
    source::{self, Loaded},
    spec::{self, Expected, GraphSpec, Named, Spec},
    value,
};
use millstream_aggregator::{
    Device, ErasedArg, ErasedCall, LoadedGraph, MemoryArg, RunError, RunReport, SliceArg,
};
use millstream_graph::{
    ir::TaskId,
    ty::{Structs, Type},
};
use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{Arc, atomic::AtomicU64},
    thread,
    time::Instant,
};

/// Elements of a buffer that are shown.
const SHOWN: u64 = 10;

/// A job whose buffers are made and whose arguments fit.
#[derive(Debug)]
pub struct Prepared {
    pub(super) loaded: Loaded,
    /// One call, or a graph and what is called before and after it.
    pub(super) steps: Vec<Step>,
    call: String,
    pub(super) args: Vec<Arg>,
    pub(super) buffers: BTreeMap<String, Data>,
    /// What those that are written into a call are called for readers.
    labels: BTreeMap<String, String>,
    outputs: Vec<Named<File>>,
    /// What must come out, and where the job says so.
    result: Option<(Vec<u8>, Text)>,
    after: Vec<(Named<Expected>, Data)>,
    tolerance: f64,
}

/// A part of a run, and which of the arguments are its own.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) what: What,
    pub(super) args: Range<usize>,
}

/// What is run.
#[derive(Debug)]
pub(super) enum What {
    Task(TaskId),
    Graph(Feed),
}

/// What is run, before its arguments have values.
enum Called<'a> {
    Task(Entry),
    Graph(&'a GraphSpec, Arc<Placed>, graph::Whose),
}

impl Called<'_> {
    /// For messages: ``the graph `fib` ``.
    fn name(&self) -> String {
        match self {
            Self::Task(entry) => format!("`{}`", entry.task),
            Self::Graph(_, placed, _) => format!("the graph `{}`", placed.program.graph.name),
        }
    }
}

/// What a run gave.
#[derive(Debug)]
pub struct Outcome {
    call: String,
    result: Option<String>,
    written: Vec<String>,
    buffers: Vec<String>,
    report: RunReport,
}

impl Outcome {
    /// The call: `fib(30)`.
    #[must_use]
    pub fn call(&self) -> &str {
        &self.call
    }

    /// The result as Rust writes it, if the task returns something.
    #[must_use]
    pub fn result(&self) -> Option<&str> {
        self.result.as_deref()
    }

    /// The buffers that the tasks may have written and that went to no file: name, first elements, type.
    #[must_use]
    pub fn buffers(&self) -> &[String] {
        &self.buffers
    }

    /// The files that were written.
    #[must_use]
    pub fn written(&self) -> &[String] {
        &self.written
    }

    /// What the run did.
    #[must_use]
    pub const fn report(&self) -> &RunReport {
        &self.report
    }
}

/// What the job runs, in order, and what each is given.
fn called<'a>(spec: &'a Spec, loaded: &Loaded) -> Result<Vec<(Called<'a>, Vec<Given>)>> {
    let program = &loaded.program;
    let call = |text: Option<&Text>| {
        let entry = Entry::read(text, program)?;
        let given = entry.given(program)?;
        Ok((Called::Task(entry), given))
    };
    let (Some(written), Some(placed)) = (&spec.graph, &loaded.placed) else {
        return Ok(vec![call(spec.entry.as_ref())?]);
    };
    let mut out: Vec<_> = written
        .first
        .iter()
        .map(|text| call(Some(text)))
        .collect::<Result<_>>()?;
    let (given, whose) = graph::given(written, placed, program)?;
    out.push((Called::Graph(written, placed.clone(), whose), given));
    out.extend(
        written
            .then
            .as_ref()
            .map(|text| call(Some(text)))
            .transpose()?,
    );
    Ok(out)
}

/// See [`Job::prepare`](super::Job::prepare).
pub(crate) fn prepare(spec: &Spec, loaded: &Loaded) -> Result<Prepared> {
    let (program, structs) = (&loaded.program, &loaded.program.structs);
    let mut given = Vec::new();
    let mut calls: Vec<(Called<'_>, Range<usize>)> = Vec::new();
    for (called, own) in called(spec, loaded)? {
        let first = given.len();
        let call = calls.len();
        given.extend(own.into_iter().map(|one| Given { call, ..one }));
        calls.push((called, first..given.len()));
    }
    let params = spec
        .params
        .iter()
        .map(|p| (p.name.as_str().to_owned(), p.value.clone()))
        .collect();
    let mut uses = call::uses(&given, structs)?;
    for (called, _) in &calls {
        if let Called::Graph(written, placed, _) = called {
            uses.extend(graph::sent_buffers(written, placed, program)?);
        }
    }
    let scope = Scope {
        structs,
        params: &params,
        shapes: BTreeMap::new(),
    };
    let mut making = Making::new(spec, &uses, scope);
    for used in &uses {
        making.buffer(used.name.as_str())?;
        making.check_use(used)?;
    }
    let inlines = call::inlines(&given);
    let labels = labels(&inlines, &uses);
    for inline in inlines {
        let data = making.inline(&inline)?;
        making.add(inline.name, data);
    }
    let main = calls.iter().map(|(called, _)| called.name());
    let main = main.max_by_key(|name| name.starts_with("the graph"));
    nothing_unused(spec, &main.unwrap_or_default(), &given, &uses)?;
    let args = call::bind(&given, &making.scope)?;
    let (mut steps, mut call, mut result) = (Vec::new(), String::new(), None);
    for (called, range) in calls {
        let (own, whose) = (&args[range.clone()], &given[range.clone()]);
        call::no_aliases(whose, own, matches!(called, Called::Graph(..)))?;
        let what = match called {
            Called::Task(entry) => {
                let task = loaded
                    .lowered
                    .find(&entry.task)
                    .ok_or_else(|| Problem::new(format!("there is no task `{}`", entry.task)))?;
                let lowered = &loaded.lowered;
                let ret = &lowered.program[lowered.func(task)].ret;
                // A call whose result nobody asks for leaves the run its name.
                if call.is_empty() || !ret.is_unit() {
                    call = entry.shown(own, structs);
                }
                result = Some((ret.clone(), entry.task));
                What::Task(task)
            }
            Called::Graph(written, placed, args) => {
                call = format!("graph {}", placed.program.graph.name);
                let sent = graph::sent(written, &placed, program, &making)?;
                let outputs = graph::outputs(&placed, program, &spec.buffers, &mut making)?;
                result = None;
                What::Graph(Feed {
                    placed,
                    args,
                    sent,
                    outputs,
                })
            }
        };
        steps.push(Step { what, args: range });
    }
    let result = match result {
        Some((ret, task)) => making.expected_result(&ret, &task)?,
        None => match &spec.result {
            Some(text) => {
                let problem = text.problem(
                    "a graph returns nothing, so no result can be expected",
                    "here",
                );
                return Err(problem
                    .help("call a task when it has run, `then: \"total(&sums)\"`: its result is the run's")
                    .into());
            }
            None => None,
        },
    };
    let after = making.expected_buffers()?;
    let buffers = making.made;
    for Named { name, value, .. } in &spec.outputs {
        let known = || {
            buffers
                .keys()
                .map(String::as_str)
                .filter(|n| !n.starts_with('['))
        };
        let data = buffers
            .get(name.as_str())
            .ok_or_else(|| spec::unknown(name, "buffer", known()))?;
        output::check(value, data, structs)?;
    }
    Ok(Prepared {
        loaded: loaded.clone(),
        steps,
        call,
        args,
        buffers,
        labels,
        outputs: spec.outputs.clone(),
        result,
        after,
        tolerance: spec.tolerance,
    })
}

/// A buffer that is written into a call goes by the name of its parameter; by all that is known of it where another goes by that name.
fn labels(inlines: &[Inline], uses: &[Use]) -> BTreeMap<String, String> {
    let names = uses.iter().map(|u| u.name.as_str());
    let names = names.chain(inlines.iter().map(|i| i.param.as_str()));
    let names: Vec<&str> = names.collect();
    let label = |i: &Inline| match names.iter().filter(|n| **n == i.param).count() {
        1 => i.param.clone(),
        _ => i.what.clone(),
    };
    inlines.iter().map(|i| (i.name.clone(), label(i))).collect()
}

/// What the command gives and the call does not use is a mistake of the command; in a RON file another entry may want it, so that nothing is said of a call
/// that the command makes in place of the file's.
fn nothing_unused(spec: &Spec, name: &str, given: &[Given], uses: &[Use]) -> Result<()> {
    let caller = name;
    let of_file = !spec.entry.as_ref().is_some_and(Text::is_by_command);
    let used = |name: &Text| uses.iter().any(|u| u.name.as_str() == name.as_str());
    let liked = |name: &Text| {
        spec.buffers
            .iter()
            .any(|b| matches!(&b.value, Contents::Like(of) if of.as_str() == name.as_str()))
    };
    for buffer in &spec.buffers {
        let name = &buffer.name;
        if used(name) || liked(name) {
            continue;
        }
        if buffer.by_command {
            let message = format!("{caller} does not use the buffer `{}`", name.as_str());
            let problem = name.problem(message, "not used");
            return Err(problem
                .meant(name.as_str(), uses.iter().map(|u| u.name.as_str()))
                .into());
        }
        if of_file {
            tracing::warn!(buffer = name.as_str(), "not used by {caller}");
        }
    }
    let mut words: Vec<String> = given.iter().flat_map(|g| g.arg.names()).collect();
    let texts = spec
        .params
        .iter()
        .map(|p| &p.value)
        .chain(spec.buffers.iter().flat_map(|b| b.value.texts()));
    let sent = spec.graph.iter().flat_map(|g| &g.send).map(|s| &s.value);
    for text in texts.chain(&spec.result).chain(sent) {
        words.extend(Written::parse(text).map(|w| w.names()).unwrap_or_default());
    }
    for param in spec
        .params
        .iter()
        .filter(|p| !words.iter().any(|w| w == p.name.as_str()))
    {
        let name = &param.name;
        if param.by_command {
            let known = given.iter().map(|g| g.param.name.as_str());
            let known = known
                .chain(words.iter().map(String::as_str))
                .collect::<std::collections::BTreeSet<_>>();
            let problem = name.problem(
                format!("nothing uses the parameter `{}`", name.as_str()),
                "not used",
            );
            let name = name.as_str();
            let told = given.iter().any(|g| g.param.name.as_str() == name);
            let help = || {
                format!(
                    "the call says what `{name}` is: write `{name}` there instead, or leave this out"
                )
            };
            return Err(match told {
                true => problem.help(help()),
                false => problem.meant(name, known),
            }
            .into());
        }
        if of_file {
            tracing::warn!(param = name.as_str(), "not used by {caller}");
        }
    }
    Ok(())
}

impl Prepared {
    /// The call, with its values: `fib(30)`.
    #[must_use]
    pub fn call(&self) -> &str {
        &self.call
    }

    /// The buffers as they are before the run: name, type, shape.
    pub fn buffers(&self) -> impl Iterator<Item = String> + '_ {
        let structs = &self.loaded.program.structs;
        let named = self
            .buffers
            .iter()
            .filter(|(name, _)| !name.starts_with('['));
        named.map(move |(name, data)| {
            format!(
                "{name}: {} x {}",
                shape_text(&data.shape),
                data.elem.display(structs)
            )
        })
    }

    /// Runs it, checks what was expected and writes the outputs.
    ///
    /// # Errors
    /// If the run fails, something else comes out than was expected, or a file cannot be written; then no file is.
    pub fn run(mut self, device: &Device) -> std::result::Result<Outcome, JobError> {
        let started = Instant::now();
        let structs = &self.loaded.program.structs;
        let (mut report, mut result) = (None, Vec::new());
        let mut graphs = self.load(device).into_iter();
        for step in &self.steps {
            let _span = tracing::debug_span!("launch").entered();
            let (args, buffers) = (&self.args[step.args.clone()], &mut self.buffers);
            let ran = match &step.what {
                What::Task(task) => launch(&self.loaded, *task, args, buffers, device),
                What::Graph(feed) => {
                    let graph = graphs.next().unwrap_or_else(|| feed.load(device));
                    let ran = graph.map_err(Failed::from);
                    let ran = ran.and_then(|graph| feed.run(args, buffers, &graph, structs));
                    ran.map(|report| (report, Vec::new()))
                }
            };
            let (of_step, came) = ran.map_err(|e| match e {
                Failed::Run(e) => self.failed(&e),
                Failed::Job(e) => e,
            })?;
            result = came;
            // What is called before and after a graph is small beside it.
            if report.is_none() || matches!(step.what, What::Graph(_)) {
                report = Some(of_step);
            }
        }
        tracing::debug!(elapsed = ?started.elapsed(), "launched");
        self.finish(&result, report.unwrap_or_default())
    }

    /// Makes the graphs of the steps ready, and at the same time what else there is: each takes a GPU's compiler long. What cannot be made ready is
    /// said by the step that wants it.
    fn load(&self, device: &Device) -> Vec<std::result::Result<LoadedGraph, RunError>> {
        let graphs = self.steps.iter().filter_map(|step| match &step.what {
            What::Graph(feed) => Some(feed),
            What::Task(_) => None,
        });
        let has_tasks = |step: &Step| matches!(step.what, What::Task(_));
        thread::scope(|scope| {
            if self.steps.len() > 1 && self.steps.iter().any(has_tasks) {
                scope.spawn(|| device.load(&self.loaded.lowered).map(drop));
            }
            graphs.map(|feed| feed.load(device)).collect()
        })
    }

    /// When all has run: what was expected, and the files.
    pub(super) fn finish(
        self,
        result: &[u8],
        report: RunReport,
    ) -> std::result::Result<Outcome, JobError> {
        let structs = &self.loaded.program.structs;
        let _span = tracing::debug_span!("check and write").entered();
        self.check(result)?;
        let outputs: Vec<(&File, &Data)> = self
            .outputs
            .iter()
            .filter_map(|o| Some((&o.value, self.buffers.get(o.name.as_str())?)))
            .collect();
        output::write_all(&outputs)?;
        let ret = self.returned().filter(|ret| !ret.is_unit());
        Ok(Outcome {
            result: ret.map(|ret| value::text(result, ret, structs)),
            written: outputs
                .iter()
                .map(|(file, data)| {
                    format!(
                        "{}: {} x {}",
                        file.path.display(),
                        shape_text(&data.shape),
                        data.elem.display(structs)
                    )
                })
                .collect(),
            buffers: self.shown_buffers(),
            call: self.call,
            report,
        })
    }

    /// What the last task returns; none if the graph is last.
    fn returned(&self) -> Option<&Type> {
        let What::Task(task) = self.steps.last()?.what else {
            return None;
        };
        let lowered = &self.loaded.lowered;
        Some(&lowered.program[lowered.func(task)].ret)
    }

    /// What the tasks may have written, in the order in which the calls name it, and what came out of the graph.
    fn shown_buffers(&self) -> Vec<String> {
        let structs = &self.loaded.program.structs;
        let args = self.args.iter().flat_map(Arg::buffers);
        let written = args.filter_map(|(name, mutable)| mutable.then_some(name));
        let came_out = self.buffers.keys().map(String::as_str);
        let mut names: Vec<&str> = Vec::new();
        for name in written.chain(came_out.filter(|name| self.is_output(name))) {
            let to_file = self.outputs.iter().any(|o| o.name.as_str() == name);
            if !to_file && !names.contains(&name) {
                names.push(name);
            }
        }
        let shown = |name: &str| {
            let data = self.buffers.get(name)?;
            let (shape, elem) = (shape_text(&data.shape), data.elem.display(structs));
            let label = self.labels.get(name).map_or(name, String::as_str);
            let held = data.preview(SHOWN, structs);
            Some(format!("{label} = {held}  ({shape} x {elem})"))
        };
        names.into_iter().filter_map(shown).collect()
    }

    /// Whether a buffer has what came out of a channel of the graph.
    fn is_output(&self, name: &str) -> bool {
        self.steps.iter().any(|s| match &s.what {
            What::Graph(feed) => feed.outputs().any(|o| o == name),
            What::Task(_) => false,
        })
    }

    /// Compares with what was expected.
    fn check(&self, result: &[u8]) -> Result<()> {
        let structs = &self.loaded.program.structs;
        let mut problems = Vec::new();
        if let (Some((wanted, at)), Some(ret)) = (&self.result, self.returned())
            && !value::same(result, wanted, &value::leaves(ret, structs), self.tolerance)
        {
            let (found, wanted) = (
                value::text(result, ret, structs),
                value::text(wanted, ret, structs),
            );
            problems.push(at.problem(
                format!("{} is {found}, but {wanted} was expected", self.call),
                "expected here",
            ));
        }
        for (named, wanted) in &self.after {
            let (name, at) = (named.name.as_str(), &named.name);
            let Some(found) = self.buffers.get(name) else {
                continue;
            };
            // What comes out of a channel has no order.
            let (found, wanted) = match self.is_output(name) {
                true => (&found.arranged(structs), &wanted.arranged(structs)),
                false => (found, wanted),
            };
            let leaves = value::leaves(&found.elem, structs);
            let differs = |i: &u64| {
                !value::same(
                    found.element(*i, structs),
                    wanted.element(*i, structs),
                    &leaves,
                    self.tolerance,
                )
            };
            if found.shape != wanted.shape || found.elem != wanted.elem {
                let shown =
                    |d: &Data| format!("{} x {}", shape_text(&d.shape), d.elem.display(structs));
                problems.push(at.problem(
                    format!(
                        "the buffer `{name}` is {}, but {} was expected",
                        shown(found),
                        shown(wanted)
                    ),
                    "",
                ));
            } else if found.bytes() != wanted.bytes()
                && let Some(i) = (0..found.len()).find(differs)
            {
                let shown = |d: &Data| value::text(d.element(i, structs), &d.elem, structs);
                let count = (0..found.len()).filter(differs).count();
                let message = format!(
                    "the buffer `{name}` is not as expected: element {i} is {}, not {}",
                    shown(found),
                    shown(wanted)
                );
                problems.push(at.problem(
                    message,
                    format!("{count} of {} elements differ", found.len()),
                ));
            }
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(JobError::new(problems))
        }
    }

    /// A run's error, with its place in the program if it has one.
    pub(super) fn failed(&self, error: &RunError) -> JobError {
        let problem = Problem::new(error.to_string());
        let source = &self.loaded.source;
        let cause = match error {
            RunError::Node { error, .. } => error,
            error => error,
        };
        match cause {
            RunError::Fault(fault) if fault.file == source.name() => {
                match source::place(source, fault.span.line, fault.span.col) {
                    Some(range) => problem.at(source, range, "here").into(),
                    None => problem.into(),
                }
            }
            _ => problem.into(),
        }
    }
}

fn shape_text(shape: &[u64]) -> String {
    shape
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(" x ")
}

/// Runs a call of a task; gives its result.
fn launch(
    loaded: &Loaded,
    task: TaskId,
    args: &[Arg],
    buffers: &mut BTreeMap<String, Data>,
    device: &Device,
) -> Result<(RunReport, Vec<u8>), Failed> {
    let structs = &loaded.program.structs;
    let program = device.load(&loaded.lowered)?;
    let mut lent: BTreeMap<&str, Lent<'_>> = buffers
        .iter_mut()
        .map(|(n, d)| (n.as_str(), Lent::Free(d)))
        .collect();
    let mut pieces = Vec::new();
    for arg in args {
        pieces.extend(lend(arg, &mut lent, structs, false)?);
    }
    let mut call = [ErasedCall::new(pieces)];
    let report = device.launch(&program, task, &mut call)?;
    let [call] = call;
    Ok((report, call.result))
}

/// A buffer on its way into a call.
pub(super) enum Lent<'a> {
    Free(&'a mut Data),
    Shared(&'a Data),
    /// For kernels that take it for atomics.
    Atomic(&'a [AtomicU64]),
    Gone,
}

/// The pieces of an argument. That a buffer which is written is passed once was checked, unless it is shared by kernels, for whom it holds
/// atomics.
pub(super) fn lend<'a>(
    arg: &Arg,
    lent: &mut BTreeMap<&str, Lent<'a>>,
    structs: &Structs,
    shared: bool,
) -> Result<Vec<ErasedArg<'a>>> {
    match arg {
        Arg::Value(bytes, ty) => Ok(Arg::value_pieces(bytes, ty, structs)),
        Arg::Parts(parts) => Ok(parts
            .iter()
            .map(|p| lend(p, lent, structs, shared))
            .collect::<Result<Vec<_>>>()?
            .into_iter()
            .flatten()
            .collect()),
        Arg::Buffer {
            name,
            mutable,
            view,
            ..
        } => {
            let gone = || Problem::new(format!("the buffer `{name}` cannot be passed twice"));
            let slot = lent.get_mut(name.as_str()).ok_or_else(gone)?;
            let memory = match (std::mem::replace(slot, Lent::Gone), mutable) {
                (Lent::Free(data), true) if shared => {
                    let atomics = data.atomics();
                    *slot = Lent::Atomic(atomics);
                    atomics.slice().0
                }
                (Lent::Atomic(atomics), true) => {
                    *slot = Lent::Atomic(atomics);
                    atomics.slice().0
                }
                (Lent::Free(data), true) => MemoryArg::exclusive(data.words_mut()),
                (Lent::Free(data), false) => {
                    *slot = Lent::Shared(data);
                    MemoryArg::shared(data.words())
                }
                (Lent::Shared(data), false) => {
                    *slot = Lent::Shared(data);
                    MemoryArg::shared(data.words())
                }
                _ => return Err(gone().into()),
            };
            let mut pieces = vec![ErasedArg::Memory(memory)];
            match view {
                View::Ref => {}
                View::Slice(len) => pieces.push(ErasedArg::Scalar(*len)),
                View::Matrix(rows, cols) => {
                    pieces.extend([*rows, *cols, *cols].map(ErasedArg::Scalar))
                }
            }
            Ok(pieces)
        }
    }
}
