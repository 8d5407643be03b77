//! What a job says, before anything of it is looked up: the RON file and the command's arguments come together here.

use super::{
    data::{Contents, Edges, File, Part},
    error::{JobError, Problem, Result, Source, Text},
    file, output,
    source::Modes,
};
use millstream_aggregator::{Aggregator, Observe, Policy};
use millstream_graph::graph::Written;
use std::path::{Path, PathBuf};

/// Threads of a run on a CPU, at most.
pub const MOST_THREADS: u32 = 1024;

/// What the command says beside the file: it goes before what a RON file says.
///
/// The texts are as the command takes them; what is wrong in one is an error whose place is in it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Settings {
    /// The call: `sort(&mut data, &mut tmp)`, or a task's name alone.
    pub entry: Option<String>,
    /// The program, where a source file has several.
    pub program: Option<String>,
    /// Parameters: `n=40`.
    pub params: Vec<String>,
    /// Buffers from files: `data=FILE.npy`.
    pub inputs: Vec<String>,
    /// Other buffers: `tmp=like:data`.
    pub buffers: Vec<String>,
    /// Buffers to files: `data=FILE.npy`.
    pub outputs: Vec<String>,
    /// `cpu`, `auto`, `cuda:0`.
    pub device: Option<String>,
    /// Threads of the CPU device.
    pub threads: Option<u32>,
    /// Channel memory: `256 MiB`.
    pub memory: Option<String>,
    /// Who decides on a GPU which wavefront runs next.
    pub aggregator: Option<Aggregator>,
    /// On which tier a GPU runs tasks.
    pub policy: Option<Policy>,
    /// Modes of the program.
    pub modes: Modes,
    /// What the run's report says beside what is counted anyway.
    pub observe: Observe,
}

/// Where a job runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Place {
    /// The best that there is.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// A GPU by its number.
    Cuda(u32),
}

/// Something with a name.
#[derive(Clone, Debug)]
pub(crate) struct Named<T> {
    pub(crate) name: Text,
    pub(crate) value: T,
    /// Given by the command rather than by a RON file.
    pub(crate) by_command: bool,
}

/// What a buffer is expected to hold after the run.
#[derive(Clone, Debug)]
pub(crate) enum Expected {
    /// What another buffer would hold at first.
    Is(Contents),
    /// What it held at first, sorted.
    Sorted,
}

/// A graph as it is written.
#[derive(Clone, Debug)]
pub(crate) struct GraphSpec {
    pub(crate) written: Written<Text>,
    /// Elements that are in channels at first: an array, or a buffer's name.
    pub(crate) send: Vec<Named<Text>>,
    /// Calls of tasks before the graph runs.
    pub(crate) first: Vec<Text>,
    /// A call of a task when the graph has run, whose result is the run's.
    pub(crate) then: Option<Text>,
}

/// A job as it is written.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub(crate) source: File,
    /// The program itself, in place of a source file.
    pub(crate) ir: Option<Text>,
    pub(crate) program: Option<Text>,
    pub(crate) entry: Option<Text>,
    pub(crate) params: Vec<Named<Text>>,
    pub(crate) buffers: Vec<Named<Contents>>,
    pub(crate) outputs: Vec<Named<File>>,
    pub(crate) device: Place,
    pub(crate) threads: Option<(u32, Option<Text>)>,
    pub(crate) memory: Option<u64>,
    pub(crate) aggregator: Option<Aggregator>,
    pub(crate) policy: Option<Policy>,
    pub(crate) modes: Modes,
    pub(crate) observe: Observe,
    pub(crate) result: Option<Text>,
    pub(crate) after: Vec<Named<Expected>>,
    pub(crate) tolerance: f64,
    /// None for a program of tasks.
    pub(crate) graph: Option<GraphSpec>,
}

impl Spec {
    /// A job of a source file alone.
    fn of_source(path: &Path) -> Self {
        let named_at = Text::whole(&Source::argument("FILE", &path.display().to_string()));
        Self {
            source: File {
                path: path.to_owned(),
                named_at,
            },
            ir: None,
            program: None,
            entry: None,
            params: Vec::new(),
            buffers: Vec::new(),
            outputs: Vec::new(),
            device: Place::Auto,
            threads: None,
            memory: None,
            aggregator: None,
            policy: None,
            modes: Modes::default(),
            observe: Observe::default(),
            result: None,
            after: Vec::new(),
            tolerance: 0.0,
            graph: None,
        }
    }

    /// Reads a `.rs` or `.ron` file and puts the settings over it.
    pub(crate) fn read(path: &Path, settings: &Settings) -> Result<Self> {
        let mut spec = match path.extension().and_then(|e| e.to_str()) {
            Some("rs") => Self::of_source(path),
            Some("ron") => file::read(path)?,
            _ => {
                let source = Source::argument("FILE", &path.display().to_string());
                let problem =
                    Text::whole(&source).problem("neither a `.rs` nor a `.ron` file", "here");
                return Err(problem
                    .help("give a Rust file with a program, or a RON file that describes a run")
                    .into());
            }
        };
        spec.apply(settings)?;
        Ok(spec)
    }

    fn apply(&mut self, settings: &Settings) -> Result<()> {
        self.expect_less(settings);
        let text = |name: &str, value: &Option<String>| {
            value
                .as_ref()
                .map(|v| Text::whole(&Source::argument(name, v)))
        };
        self.entry = text("--entry", &settings.entry).or(self.entry.take());
        self.program = text("--program", &settings.program).or(self.program.take());
        self.threads = settings
            .threads
            .map(|n| (n, text("--threads", &Some(n.to_string()))))
            .or(self.threads.take());
        if let Some(device) = text("--device", &settings.device) {
            self.device = device_named(&device)?;
        }
        if let Some(memory) = text("--memory", &settings.memory) {
            self.memory = Some(bytes(&memory)?);
        }
        self.aggregator = settings.aggregator.or(self.aggregator);
        self.policy = settings.policy.or(self.policy);
        self.modes = settings.modes.or(self.modes);
        self.observe = settings.observe;
        let params = pairs("--set", &settings.params, "n=40", |_, value| Ok(value))?;
        merge(&mut self.params, params);
        let mut buffers = pairs("--input", &settings.inputs, "data=FILE.npy", |_, value| {
            contents_of_file(&value)
        })?;
        buffers.extend(pairs(
            "--buffer",
            &settings.buffers,
            "tmp=zeros:i32:1000",
            |_, value| contents(&value),
        )?);
        unique(&buffers)?;
        merge(&mut self.buffers, buffers);
        let outputs = pairs(
            "--output",
            &settings.outputs,
            "data=FILE.npy",
            |_, value| Ok(file_at(&value, Path::new(""))),
        )?;
        merge(&mut self.outputs, outputs);
        self.distinct_outputs()
    }

    /// What a file expects is of the run that it describes. Of another run only what holds for any data is still expected.
    fn expect_less(&mut self, s: &Settings) {
        let same_run = s.entry.is_none()
            && s.program.is_none()
            && s.params.is_empty()
            && s.inputs.is_empty()
            && s.buffers.is_empty();
        if !same_run {
            let before = self.after.len() + usize::from(self.result.is_some());
            self.result = None;
            self.after.retain(|a| matches!(a.value, Expected::Sorted));
            if self.after.len() < before {
                tracing::info!(
                    "the command changes the run, so that not all that the file expects is checked"
                );
            }
        }
    }

    /// No file is written twice.
    fn distinct_outputs(&self) -> Result<()> {
        for (i, output) in self.outputs.iter().enumerate() {
            output::Format::of_file(&output.value)?;
            let before = &self.outputs[..i];
            if before.iter().any(|o| o.value.path == output.value.path)
                && !output::is_written_through(&output.value.path)
            {
                let file = &output.value;
                return Err(file
                    .named_at
                    .problem(
                        format!("`{}` would be written twice", file.path.display()),
                        "the second time",
                    )
                    .into());
            }
        }
        Ok(())
    }
}

/// Puts what the command names in place of what the file names.
fn merge<T>(old: &mut Vec<Named<T>>, new: Vec<Named<T>>) {
    old.retain(|o| new.iter().all(|n| n.name.as_str() != o.name.as_str()));
    old.extend(new);
}

/// Refuses a name that is given twice.
pub(crate) fn unique<T>(entries: &[Named<T>]) -> Result<()> {
    for (i, entry) in entries.iter().enumerate() {
        if entries[..i]
            .iter()
            .any(|e| e.name.as_str() == entry.name.as_str())
        {
            return Err(entry
                .name
                .problem(
                    format!("`{}` is given twice", entry.name.as_str()),
                    "the second time",
                )
                .into());
        }
    }
    Ok(())
}

/// Arguments of the form `NAME=VALUE`.
fn pairs<T>(
    option: &str,
    given: &[String],
    example: &str,
    mut read: impl FnMut(&Text, Text) -> Result<T>,
) -> Result<Vec<Named<T>>> {
    let mut out = Vec::new();
    for argument in given {
        let whole = Text::whole(&Source::argument(option, argument));
        let (name, value) = match argument.find('=') {
            Some(at) => (
                whole.part(0..at).trimmed(),
                whole.part(at + 1..argument.len()).trimmed(),
            ),
            None => (whole.part(0..0), whole.part(0..0)),
        };
        if syn::parse_str::<syn::Ident>(name.as_str()).is_err() || value.as_str().is_empty() {
            let problem = whole.problem(
                format!("`{option}` takes a name and a value"),
                "not NAME=VALUE",
            );
            return Err(problem
                .help(format!("for example `{option} {example}`"))
                .into());
        }
        let value = read(&name, value)?;
        out.push(Named {
            name,
            value,
            by_command: true,
        });
    }
    unique(&out)?;
    Ok(out)
}

/// A file that a text names, relative to a folder.
pub(crate) fn file_at(text: &Text, folder: &Path) -> File {
    let path = Path::new(text.as_str());
    let path = if path.is_absolute() || folder.as_os_str().is_empty() {
        PathBuf::from(path)
    } else {
        folder.join(path)
    };
    File {
        path,
        named_at: text.clone(),
    }
}

/// `FILE.npy`, `FILE.bin` or `TYPE:FILE.bin`.
fn contents_of_file(value: &Text) -> Result<Contents> {
    let text = value.as_str();
    // A colon may belong to the file's name: of `C:\data.bin`, say.
    let drive = |at: usize| cfg!(windows) && at == 1;
    let split = text.find(':').filter(|at| {
        !drive(*at) && output::Format::of(Path::new(text)) == Some(output::Format::Raw)
    });
    let (ty, file) = match split {
        Some(at) if !Path::new(text).exists() => {
            (Some(value.part(0..at)), value.part(at + 1..text.len()))
        }
        _ => (None, value.clone()),
    };
    let file = file_at(&file, Path::new(""));
    Ok(match output::Format::of_file(&file)? {
        output::Format::Npy => Contents::Npy(file),
        output::Format::Raw => Contents::Raw {
            file,
            ty,
            shape: None,
        },
        output::Format::Png => {
            let problem = file
                .named_at
                .problem("a picture can be written, but not read", "here");
            return Err(problem.help("read a `.npy` or a `.bin` file").into());
        }
    })
}

/// What may stand before the first colon of what a buffer holds.
pub(super) const KINDS: [&str; 8] = [
    "zeros", "random", "iota", "like", "values", "offsets", "targets", "lengths",
];

/// `like:data`, `zeros:i32:1000`, `random:i32:1000:seed`, `iota:i32:1000`, `values:[1, 2, 3]`; the type may be left out.
fn contents(value: &Text) -> Result<Contents> {
    let parts = colon_parts(value);
    let wrong = |label: &str| {
        let problem = value.problem(
            format!("`{}` does not say what a buffer holds", value.as_str()),
            label,
        );
        problem.help("write `zeros:TYPE:LENGTH`, `random:TYPE:LENGTH:SEED`, `iota:TYPE:LENGTH`, `like:BUFFER`, `values:TYPE:[1, 2, 3]`, or `offsets:FILE`, `targets:FILE` and `lengths:FILE` of an edge list")
    };
    let kind = parts[0].as_str();
    let Some(rest) = parts
        .get(1..)
        .filter(|r| !r.is_empty() && r.iter().all(|p| !p.as_str().is_empty()))
    else {
        return Err(wrong("too short").into());
    };
    // A length begins with a digit or a bracket of numbers, or is a parameter where a type stands before it.
    let is_length = |t: &Text| {
        t.as_str().starts_with(|c: char| c.is_ascii_digit())
            || (t.as_str().starts_with('[') && !t.as_str().contains(';'))
    };
    // A file's name may have colons of its own.
    if let Some(part) = Part::named(kind) {
        let file = value.part(kind.len() + 1..value.as_str().len()).trimmed();
        let edges = Edges::List(file_at(&file, Path::new("")));
        return Ok(Contents::Graph(part, edges));
    }
    let (ty, rest) = if rest.len() > 1 && !is_length(&rest[0]) {
        (Some(rest[0].clone()), &rest[1..])
    } else {
        (None, rest)
    };
    match (kind, rest) {
        ("zeros", [shape]) => Ok(Contents::Zeros {
            ty,
            shape: shape.clone(),
        }),
        ("iota", [shape]) => Ok(Contents::Iota {
            ty,
            shape: shape.clone(),
        }),
        ("random", [shape]) => Ok(Contents::Random {
            ty,
            shape: shape.clone(),
            seed: None,
        }),
        ("random", [shape, seed]) => Ok(Contents::Random {
            ty,
            shape: shape.clone(),
            seed: Some(seed.clone()),
        }),
        ("like", [name]) if ty.is_none() => Ok(Contents::Like(name.clone())),
        ("values", [values]) => Ok(Contents::Values {
            ty,
            values: values.clone(),
        }),
        (kind, _) if KINDS.contains(&kind) => Err(wrong("too long").into()),
        (kind, _) => Err(parts[0]
            .problem(format!("a buffer cannot be `{kind}`"), "here")
            .meant(kind, KINDS)
            .into()),
    }
}

/// The parts between colons that no bracket encloses; `::` is no such colon.
fn colon_parts(text: &Text) -> Vec<Text> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0i32);
    let bytes = text.as_str().as_bytes();
    for (i, c) in bytes.iter().enumerate() {
        depth +=
            i32::from(matches!(c, b'[' | b'(' | b'{')) - i32::from(matches!(c, b']' | b')' | b'}'));
        let double = bytes.get(i + 1) == Some(&b':') || (i > 0 && bytes[i - 1] == b':');
        if *c == b':' && depth == 0 && !double {
            parts.push(text.part(start..i).trimmed());
            start = i + 1;
        }
    }
    parts.push(text.part(start..bytes.len()).trimmed());
    parts
}

/// `cpu`, `auto`, `cuda`, `cuda:1`.
pub(crate) fn device_named(text: &Text) -> Result<Place> {
    let name = text.as_str();
    match (name, name.strip_prefix("cuda:").map(str::parse)) {
        ("auto", _) => Ok(Place::Auto),
        ("cpu", _) => Ok(Place::Cpu),
        ("cuda", _) => Ok(Place::Cuda(0)),
        (_, Some(Ok(n))) => Ok(Place::Cuda(n)),
        _ => Err(text
            .problem(format!("there is no device `{name}`"), "here")
            .meant(name, ["cpu", "auto", "cuda:0"])
            .into()),
    }
}

/// A number of bytes.
pub(crate) fn bytes(text: &Text) -> Result<u64> {
    millstream_aggregator::parse_bytes(text.as_str())
        .map_err(|e| JobError::from(text.problem(e, "here")))
}

/// The problem of something that is not there, with the name that was probably meant.
pub(crate) fn unknown<'a>(
    name: &Text,
    sort: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Problem {
    name.problem(
        format!("there is no {sort} `{}`", name.as_str()),
        "not there",
    )
    .meant(name.as_str(), known)
}
