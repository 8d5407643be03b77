//! From a job to its results: buffers, the call, the run, what was expected, the files.

use super::{
    Problem,
    call::{self, Arg, Entry, Use, View},
    data::{self, Contents, Data, File},
    error::{JobError, Result, Text},
    eval::{self, Scope, Written},
    npy::{self, Form},
    output,
    source::{self, Loaded},
    spec::{self, Expected, Named, Spec},
    types, value,
};
use millstream_aggregator::{Device, ErasedArg, ErasedCall, MemoryArg, RunError, RunReport};
use millstream_graph::{
    ir::TaskId,
    ty::{Structs, Type},
};
use std::{collections::BTreeMap, time::Instant};
use syn::Expr;

/// Elements of a buffer that are shown.
const SHOWN: u64 = 10;

/// A job whose buffers are made and whose arguments fit.
#[derive(Debug)]
pub struct Prepared {
    loaded: Loaded,
    task: TaskId,
    call: String,
    args: Vec<Arg>,
    buffers: BTreeMap<String, Data>,
    outputs: Vec<Named<File>>,
    /// What must come out, and where the job says so.
    result: Option<(Vec<u8>, Text)>,
    after: Vec<(Named<Expected>, Data)>,
    tolerance: f64,
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

/// See [`Job::prepare`](super::Job::prepare).
pub(crate) fn prepare(spec: &Spec, loaded: &Loaded) -> Result<Prepared> {
    let structs = &loaded.program.structs;
    let entry = Entry::read(spec.entry.as_ref(), &loaded.program)?;
    let params = spec
        .params
        .iter()
        .map(|p| (p.name.as_str().to_owned(), p.value.clone()))
        .collect();
    let uses = entry.uses(&loaded.program)?;
    let mut making = Making {
        spec,
        uses: &uses,
        scope: Scope {
            structs,
            params: &params,
            shapes: BTreeMap::new(),
        },
        made: BTreeMap::new(),
        open: Vec::new(),
    };
    for used in &uses {
        making.buffer(used.name.as_str())?;
        making.check_use(used)?;
    }
    for (name, array, elem) in call::inline_arrays(&entry, &loaded.program)? {
        let data = making.values(&array, Some(elem), "an array in the call")?;
        making.add(name, data);
    }
    nothing_unused(spec, &entry, &uses, loaded)?;
    let args = entry.bind(&loaded.program, &making.scope)?;
    call::no_aliases(&entry, &args)?;
    let task = loaded
        .lowered
        .find(&entry.task)
        .ok_or_else(|| Problem::new(format!("there is no task `{}`", entry.task)))?;
    let result =
        making.expected_result(&loaded.program[loaded.lowered[task].func].ret, &entry.task)?;
    let after = making.expected_buffers()?;
    let buffers = making.made;
    for Named { name, value, .. } in &spec.outputs {
        let known = || uses.iter().map(|u| u.name.as_str());
        let data = buffers
            .get(name.as_str())
            .ok_or_else(|| spec::unknown(name, "buffer", known()))?;
        output::check(value, data, structs)?;
    }
    let call = entry.shown(&args, structs);
    let (outputs, tolerance) = (spec.outputs.clone(), spec.tolerance);
    Ok(Prepared {
        loaded: loaded.clone(),
        task,
        call,
        args,
        buffers,
        outputs,
        result,
        after,
        tolerance,
    })
}

/// What the command gives and the call does not use is a mistake of the command; in a RON file another entry may want it.
fn nothing_unused(spec: &Spec, entry: &Entry, uses: &[Use], loaded: &Loaded) -> Result<()> {
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
            let problem = name.problem(
                format!(
                    "`{}` does not use the buffer `{}`",
                    entry.task,
                    name.as_str()
                ),
                "not used",
            );
            return Err(problem
                .meant(name.as_str(), uses.iter().map(|u| u.name.as_str()))
                .into());
        }
        tracing::warn!(buffer = name.as_str(), "not used by the entry call");
    }
    let mut words: Vec<String> = entry.args.iter().flat_map(Written::names).collect();
    let texts = spec
        .params
        .iter()
        .map(|p| &p.value)
        .chain(spec.buffers.iter().flat_map(|b| b.value.texts()));
    for text in texts.chain(&spec.result) {
        words.extend(Written::parse(text).map(|w| w.names()).unwrap_or_default());
    }
    for param in spec
        .params
        .iter()
        .filter(|p| !words.iter().any(|w| w == p.name.as_str()))
    {
        let name = &param.name;
        if param.by_command {
            let known = call::task(&loaded.program, &entry.task)
                .into_iter()
                .flat_map(|f| &f.params)
                .map(|p| p.name.as_str());
            let known = known
                .chain(words.iter().map(String::as_str))
                .collect::<std::collections::BTreeSet<_>>();
            let problem = name.problem(
                format!("nothing uses the parameter `{}`", name.as_str()),
                "not used",
            );
            return Err(problem.meant(name.as_str(), known).into());
        }
        tracing::warn!(param = name.as_str(), "not used by the entry call");
    }
    Ok(())
}

/// Buffers in the making.
struct Making<'a> {
    spec: &'a Spec,
    uses: &'a [Use],
    scope: Scope<'a>,
    made: BTreeMap<String, Data>,
    /// Those that wait for another that they are like.
    open: Vec<String>,
}

impl Making<'_> {
    fn structs(&self) -> &Structs {
        self.scope.structs
    }

    fn add(&mut self, name: String, data: Data) {
        self.scope.shapes.insert(name.clone(), data.shape.clone());
        self.made.insert(name, data);
    }

    /// Makes the buffer of that name unless it is made.
    fn buffer(&mut self, name: &str) -> Result<()> {
        if self.made.contains_key(name) {
            return Ok(());
        }
        let spec = self.spec;
        let Some(named) = spec.buffers.iter().find(|b| b.name.as_str() == name) else {
            let known: Vec<&str> = spec.buffers.iter().map(|b| b.name.as_str()).collect();
            return match self.uses.iter().find(|u| u.name.as_str() == name) {
                Some(used) => Err(call::no_buffer(used, &known, self.structs())),
                None => Err(Problem::new(format!("there is no buffer `{name}`")).into()),
            };
        };
        let used = self.uses.iter().find(|u| u.name.as_str() == name);
        if let Contents::Like(of) = &named.value {
            if self.open.iter().any(|o| o == name) {
                return Err(of
                    .problem(format!("the buffer `{name}` is like itself"), "here")
                    .into());
            }
            self.open.push(name.to_owned());
            if spec.buffers.iter().all(|b| b.name.as_str() != of.as_str()) {
                return Err(spec::unknown(
                    of,
                    "buffer",
                    spec.buffers.iter().map(|b| b.name.as_str()),
                )
                .into());
            }
            self.buffer(of.as_str())?;
        }
        let data = self.contents(&named.value, used, name, Some(&named.name))?;
        tracing::debug!(buffer = name, shape = ?data.shape, "made");
        self.add(name.to_owned(), data);
        Ok(())
    }

    /// What a buffer holds at first.
    fn contents(
        &self,
        contents: &Contents,
        used: Option<&Use>,
        name: &str,
        at: Option<&Text>,
    ) -> Result<Data> {
        let structs = self.structs();
        let what = format!("buffer `{name}`");
        let elem = |ty: &Option<Text>| match (ty, used) {
            (Some(text), _) => types::parse(text, structs),
            (None, Some(used)) => Ok(used.elem.clone()),
            (None, None) => {
                let message =
                    format!("{what} needs a type, because the entry call does not use it");
                Err(at
                    .map_or_else(
                        || Problem::new(&message),
                        |t| t.problem(&message, "of which type?"),
                    )
                    .into())
            }
        };
        let zeros = |ty: &Option<Text>, shape: &Text| {
            let shape_of = self.shape(shape, &what)?;
            Data::zeros(elem(ty)?, shape_of, structs).map_err(|e| {
                JobError::from(shape.problem(format!("{what}: {e}"), "too much").of_data())
            })
        };
        match contents {
            Contents::Zeros { ty, shape } => zeros(ty, shape),
            Contents::Iota { ty, shape } => {
                let mut data = zeros(ty, shape)?;
                data.iota(structs);
                Ok(data)
            }
            Contents::Random { ty, shape, seed } => {
                let seed = match seed {
                    Some(seed) => eval::evaluate_usize(
                        &Written::parse(seed)?,
                        &format!("seed of {what}"),
                        &self.scope,
                    )?,
                    None => 0,
                };
                let mut data = zeros(ty, shape)?;
                data.random(structs, seed);
                Ok(data)
            }
            Contents::Like(of) => match self.made.get(of.as_str()) {
                Some(other) => Data::zeros(other.elem.clone(), other.shape.clone(), structs)
                    .map_err(|e| of.problem(e, "here").into()),
                None => {
                    Err(spec::unknown(of, "buffer", self.made.keys().map(String::as_str)).into())
                }
            },
            Contents::Npy(file) => npy::read(
                file,
                used.map(|u| &u.elem),
                used.map_or(Form::Any, |u| u.form),
                structs,
            ),
            Contents::Raw { file, ty, shape } => {
                let shape = shape.as_ref().map(|s| self.shape(s, &what)).transpose()?;
                data::read_raw(file, elem(ty)?, shape, structs)
            }
            Contents::Values { ty, values } => {
                self.values(&Written::parse(values)?, elem(ty).map(Some)?, &what)
            }
        }
    }

    /// A shape: a length, or `[rows, columns]`.
    fn shape(&self, text: &Text, what: &str) -> Result<Vec<u64>> {
        let written = Written::parse(text)?;
        let what = format!("length of {what}");
        let one = |e: &Expr| eval::evaluate_usize(&written.sub(e), &what, &self.scope);
        match &written.expr {
            Expr::Array(array) if (1..=2).contains(&array.elems.len()) => {
                array.elems.iter().map(one).collect()
            }
            Expr::Array(_) => Err(written
                .problem(format!("{what}: a buffer has one dimension or two"), "here")
                .into()),
            other => Ok(vec![one(other)?]),
        }
    }

    /// Values that are written out: `[1, 2, 3]`, `[[1, 2], [3, 4]]` for two dimensions, `[0; 100]`.
    fn values(&self, written: &Written, elem: Option<Type>, what: &str) -> Result<Data> {
        let structs = self.structs();
        let Some(elem) = elem else {
            return Err(written
                .problem(format!("{what} needs a type"), "here")
                .into());
        };
        let rows: Vec<&Expr> = match &written.expr {
            Expr::Array(array) => array.elems.iter().collect(),
            Expr::Repeat(repeat) => {
                let len = eval::evaluate_usize(&written.sub(&repeat.len), what, &self.scope)?;
                let one = eval::evaluate(&written.sub(&repeat.expr), &elem, what, &self.scope)?;
                return self.filled(written, elem, vec![len], |_| one.clone());
            }
            _ => {
                return Err(written
                    .problem(
                        format!("{what}: values are written as `[1, 2, 3]`"),
                        "not an array",
                    )
                    .into());
            }
        };
        // Arrays in the array are rows of a matrix, unless they are the elements.
        let is_matrix =
            !matches!(elem, Type::Array(..)) && rows.iter().any(|r| matches!(r, Expr::Array(_)));
        let (shape, cells) = if is_matrix {
            let cols = |r: &&Expr| {
                if let Expr::Array(a) = r {
                    a.elems.len()
                } else {
                    0
                }
            };
            let width = rows.first().map_or(0, cols);
            if let Some(odd) = rows
                .iter()
                .find(|r| !matches!(r, Expr::Array(a) if a.elems.len() == width))
            {
                return Err(written
                    .sub(odd)
                    .problem(
                        format!("{what}: each row has {width} values"),
                        "a row of another length",
                    )
                    .into());
            }
            let cells = rows
                .iter()
                .flat_map(|r| {
                    if let Expr::Array(a) = r {
                        a.elems.iter().collect()
                    } else {
                        Vec::new()
                    }
                })
                .collect();
            (vec![rows.len() as u64, width as u64], cells)
        } else {
            (vec![rows.len() as u64], rows)
        };
        let values = cells
            .into_iter()
            .map(|c| eval::evaluate(&written.sub(c), &elem, what, &self.scope));
        let mut values = values.collect::<Result<Vec<_>>>()?;
        let data = self.filled(written, elem, shape, |i| {
            std::mem::take(&mut values[i as usize])
        })?;
        debug_assert!(data.validate(structs).is_ok());
        Ok(data)
    }

    fn filled(
        &self,
        written: &Written,
        elem: Type,
        shape: Vec<u64>,
        mut value: impl FnMut(u64) -> Vec<u8>,
    ) -> Result<Data> {
        let stride = elem.layout(self.structs()).size as usize;
        let mut data =
            Data::zeros(elem, shape, self.structs()).map_err(|e| written.problem(e, "too much"))?;
        for i in 0..data.len() {
            data.bytes_mut()[i as usize * stride..][..stride].copy_from_slice(&value(i));
        }
        Ok(data)
    }

    /// A buffer has the type that the task wants.
    fn check_use(&self, used: &Use) -> Result<()> {
        let Some(data) = self.made.get(used.name.as_str()) else {
            return Ok(());
        };
        if plain(&data.elem) == plain(&used.elem) {
            return Ok(());
        }
        let (found, wanted) = (
            data.elem.display(self.structs()),
            used.elem.display(self.structs()),
        );
        let message = format!(
            "{}: the buffer `{}` holds `{found}`, but `{wanted}` is wanted",
            used.what,
            used.name.as_str()
        );
        let problem = used.name.problem(message, format!("`{wanted}` is wanted"));
        Err(match used.form {
            Form::One => problem.help(format!("make a buffer of one element: `zeros:{wanted}:1`")),
            _ => problem,
        }
        .into())
    }

    fn expected_result(&self, ret: &Type, task: &str) -> Result<Option<(Vec<u8>, Text)>> {
        let Some(text) = &self.spec.result else {
            return Ok(None);
        };
        if ret.is_unit() {
            return Err(text
                .problem(
                    format!("task `{task}` returns nothing, so no result can be expected"),
                    "here",
                )
                .into());
        }
        Ok(Some((
            eval::evaluate(&Written::parse(text)?, ret, "expected result", &self.scope)?,
            text.clone(),
        )))
    }

    fn expected_buffers(&self) -> Result<Vec<(Named<Expected>, Data)>> {
        let mut out = Vec::new();
        for named in &self.spec.after {
            let name = named.name.as_str();
            let Some(first) = self.made.get(name) else {
                return Err(spec::unknown(
                    &named.name,
                    "buffer",
                    self.uses.iter().map(|u| u.name.as_str()),
                )
                .into());
            };
            let used = self.uses.iter().find(|u| u.name.as_str() == name);
            let wanted = match &named.value {
                Expected::Is(contents) => self.contents(contents, used, name, Some(&named.name))?,
                Expected::Sorted if data::scalar(&first.elem).is_none() => {
                    let elem = first.elem.display(self.structs());
                    return Err(named
                        .name
                        .problem(format!("there is no order of `{elem}`"), "cannot be sorted")
                        .into());
                }
                Expected::Sorted => {
                    let mut sorted = first.clone();
                    sorted.sort(self.structs());
                    sorted
                }
            };
            out.push((named.clone(), wanted));
        }
        Ok(out)
    }
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
        let loaded = device
            .load(&self.loaded.lowered)
            .map_err(|e| self.failed(&e))?;
        let started = Instant::now();
        let (report, result) = {
            let structs = &self.loaded.program.structs;
            let mut lent: BTreeMap<&str, Lent<'_>> = self
                .buffers
                .iter_mut()
                .map(|(n, d)| (n.as_str(), Lent::Free(d)))
                .collect();
            let pieces = self
                .args
                .iter()
                .map(|a| lend(a, &mut lent, structs))
                .collect::<Result<Vec<_>>>()?;
            let mut call = [ErasedCall::new(pieces.into_iter().flatten().collect())];
            let launched = device.launch(&loaded, self.task, &mut call);
            let [call] = call;
            (launched, call.result)
        };
        let report = report.map_err(|e| self.failed(&e))?;
        tracing::debug!(elapsed = ?started.elapsed(), "launched");
        self.check(&result)?;
        let outputs: Vec<(&File, &Data)> = self
            .outputs
            .iter()
            .filter_map(|o| Some((&o.value, self.buffers.get(o.name.as_str())?)))
            .collect();
        output::write_all(&outputs)?;
        let structs = &self.loaded.program.structs;
        let ret = &self.loaded.lowered.program[self.loaded.lowered[self.task].func].ret;
        Ok(Outcome {
            result: (!ret.is_unit()).then(|| value::text(&result, ret, structs)),
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

    fn shown_buffers(&self) -> Vec<String> {
        let structs = &self.loaded.program.structs;
        let written = |name: &str| {
            self.args
                .iter()
                .flat_map(Arg::buffers)
                .any(|(n, mutable)| n == name && mutable)
        };
        let to_file = |name: &str| self.outputs.iter().any(|o| o.name.as_str() == name);
        let shown = self
            .buffers
            .iter()
            .filter(|(name, _)| written(name) && !to_file(name));
        let label = |name: &str| {
            if name.starts_with('[') {
                "the array".to_owned()
            } else {
                name.to_owned()
            }
        };
        shown
            .map(|(name, data)| {
                let (shape, elem) = (shape_text(&data.shape), data.elem.display(structs));
                format!(
                    "{} = {}  ({shape} x {elem})",
                    label(name),
                    data.preview(SHOWN, structs)
                )
            })
            .collect()
    }

    /// Compares with what was expected.
    fn check(&self, result: &[u8]) -> Result<()> {
        let structs = &self.loaded.program.structs;
        let ret = &self.loaded.lowered.program[self.loaded.lowered[self.task].func].ret;
        let mut problems = Vec::new();
        if let Some((wanted, at)) = &self.result
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
            } else if let Some(i) = (0..found.len()).find(differs) {
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
    fn failed(&self, error: &RunError) -> JobError {
        let problem = Problem::new(error.to_string());
        let source = &self.loaded.source;
        match error {
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

/// A type with numbers for its atomics: the same memory.
fn plain(ty: &Type) -> Type {
    match ty {
        Type::Atomic(s) => Type::Scalar(*s),
        Type::Array(elem, len) => Type::Array(Box::new(plain(elem)), *len),
        other => other.clone(),
    }
}

fn shape_text(shape: &[u64]) -> String {
    shape
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(" x ")
}

/// A buffer on its way into a call.
enum Lent<'a> {
    Free(&'a mut Data),
    Shared(&'a Data),
    Gone,
}

/// The pieces of an argument. That a buffer which is written is passed once was checked.
fn lend<'a>(
    arg: &Arg,
    lent: &mut BTreeMap<&str, Lent<'a>>,
    structs: &Structs,
) -> Result<Vec<ErasedArg<'a>>> {
    match arg {
        Arg::Value(bytes, ty) => Ok(Arg::value_pieces(bytes, ty, structs)),
        Arg::Parts(parts) => Ok(parts
            .iter()
            .map(|p| lend(p, lent, structs))
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
