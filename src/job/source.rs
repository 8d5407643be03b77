//! The program of a job: from its source file to a levelized program.

use super::{
    error::{JobError, Problem, Result, Source, Text},
    graph::{self, Placed},
    spec::{GraphSpec, Spec},
};
use millstream_cilk_lower::{
    Diagnostics, ParallelLoop, Parsed, SourceError, lower, parse_module, read_file,
};
use millstream_graph::{
    graph::{Graph, nearest},
    ir::{Options, Program},
    levelized::Levelized,
    text::parse_program,
    verify::{VerifyError, verify, verify_but_segments},
};
use std::{fs, path::Path, sync::Arc};

/// What the user wants instead of what `#[program(..)]` says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Modes {
    /// Overflow is an error, or is not.
    pub checked: Option<bool>,
    /// No bounds checks, or all of them.
    pub unchecked: Option<bool>,
    /// Floating point may be contracted and reordered, or may not.
    pub fast_math: Option<bool>,
}

impl Modes {
    /// These where they say something, else the others.
    pub(crate) fn or(self, other: Self) -> Self {
        // Asking for one of the two opposites takes back the other.
        let opposite = |own: Option<bool>, other: Option<bool>| {
            own.or(if other == Some(true) {
                Some(false)
            } else {
                None
            })
        };
        Self {
            checked: opposite(self.checked, self.unchecked).or(other.checked),
            unchecked: opposite(self.unchecked, self.checked).or(other.unchecked),
            fast_math: self.fast_math.or(other.fast_math),
        }
    }

    fn apply(self, own: Options) -> Options {
        let all = self.or(Self {
            checked: Some(own.checked),
            unchecked: Some(own.unchecked),
            fast_math: Some(own.fast_math),
        });
        let is = |mode: Option<bool>| mode == Some(true);
        Options {
            checked: is(all.checked),
            unchecked: is(all.unchecked),
            fast_math: is(all.fast_math),
        }
    }
}

/// Files that are named where one is missing.
const SHOWN: usize = 6;

/// A program with its source.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub(crate) source: Arc<Source>,
    pub(crate) program: Program,
    /// Its parallel loops, as the source has them.
    pub(crate) loops: Vec<ParallelLoop>,
    pub(crate) lowered: Arc<Levelized>,
    /// The graph, if the job has one.
    pub(crate) graph: Option<Graph>,
    /// What its user should know.
    pub(crate) warnings: Vec<Problem>,
    /// That graph for a device, if it has kernels rather than tasks.
    pub(crate) placed: Option<Arc<Placed>>,
}

/// Reads a file as text.
pub(crate) fn read_text(path: &Path, named_at: Option<&Text>) -> Result<String> {
    let bytes = fs::read(path).map_err(|e| unreadable(path, named_at, &e.to_string()))?;
    String::from_utf8(bytes).map_err(|_| unreadable(path, named_at, "it is not UTF-8 text").into())
}

/// A file that cannot be used; with the name that was probably meant if it is not there.
pub(crate) fn unreadable(path: &Path, named_at: Option<&Text>, why: &str) -> Problem {
    let message = format!("cannot read `{}`: {why}", path.display());
    let problem = named_at
        .map_or_else(
            || Problem::new(&message),
            |at| at.problem(&message, "named here"),
        )
        .of_data();
    match instead_of(path) {
        Some(help) => problem.help(help),
        None => problem,
    }
}

/// What is there where a file is missing: one with nearly its name, or the others of its kind.
fn instead_of(path: &Path) -> Option<String> {
    if path.exists() {
        return None;
    }
    let name = path.file_name()?.to_str()?;
    let parent = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let Ok(entries) = fs::read_dir(parent) else {
        return Some(format!("there is no folder `{}`", parent.display()));
    };
    let names = entries.filter_map(|e| e.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    if let Some(near) = nearest(name, &known) {
        return Some(format!("did you mean `{near}`?"));
    }
    let kind = path.extension()?;
    let alike = |n: &&&str| Path::new(n).extension() == Some(kind);
    let others: Vec<String> = known
        .iter()
        .filter(alike)
        .take(SHOWN)
        .map(|n| format!("`{n}`"))
        .collect();
    let place = match parent == Path::new(".") {
        true => "this folder".to_owned(),
        false => format!("`{}`", parent.display()),
    };
    let kind = kind.to_string_lossy();
    Some(
        match (known.iter().filter(alike).count(), others.join(", ")) {
            (0, _) => format!("{place} has no file whose name ends with `.{kind}`"),
            (n, some) if n > SHOWN => format!("{place} has {some} and {} more", n - SHOWN),
            (_, all) => format!("{place} has {all}"),
        },
    )
}

/// Reads, checks and lowers a job's program.
pub(crate) fn load(spec: &Spec) -> Result<Loaded> {
    let (source, Parsed { program, loops }) = match &spec.ir {
        Some(text) => {
            let has_tasks = |graph: &GraphSpec| !graph.written.tasks.0.is_empty();
            let program = from_ir(text, spec.graph.as_ref().is_some_and(has_tasks))?;
            let loops = Vec::new();
            (text.source().clone(), Parsed { program, loops })
        }
        None => from_rust(spec)?,
    };
    tracing::debug!(
        file = program.file,
        program = program.name,
        functions = program.functions.len(),
        "read"
    );
    let (graph, warnings) = match &spec.graph {
        Some(written) => {
            let (graph, warnings) = graph::resolve(written, &program)?;
            (Some(graph), warnings)
        }
        None => (None, Vec::new()),
    };
    let internal = |e: String| JobError::from(Problem::new(e));
    let (lowered, placed) = match &graph {
        Some(graph) if !graph.tasks().is_empty() => {
            let lowered = Levelized::new(program.clone(), graph.clone());
            // What is wrong with it was said before.
            let first = |p: Vec<millstream_graph::graph::Problem>| {
                internal(p.first().map(ToString::to_string).unwrap_or_default())
            };
            (Arc::new(lowered.map_err(first)?), None)
        }
        // What a job of kernels calls before its graph and after it are tasks, for whom there is no graph.
        kernels => {
            let placed = kernels.as_ref().map(|g| graph::place(g, &program));
            let lowered = lower::lower(&program).map_err(|e| internal(e.to_string()))?;
            (Arc::new(lowered), placed.transpose()?.map(Arc::new))
        }
    };
    tracing::debug!(
        tasks = lowered.len(),
        stacks = lowered.stacks().len(),
        "lowered"
    );
    Ok(Loaded {
        source,
        program,
        loops,
        lowered,
        graph,
        warnings,
        placed,
    })
}

/// The program of a Rust file.
fn from_rust(spec: &Spec) -> Result<(Arc<Source>, Parsed)> {
    let path = &spec.source.path;
    let shown = path.display().to_string();
    let mut text = read_text(path, Some(&spec.source.named_at))?;
    if text.starts_with('\u{feff}') {
        // Places are counted without it.
        text.remove(0);
    }
    let source = Source::file(&shown, text);
    let name = spec.program.as_ref().map(Text::as_str);
    let (module, own) = read_file(source.text(), name).map_err(|e| diagnostics(&e, &source))?;
    let parsed = parse_module(&module, spec.modes.apply(own), &shown)
        .map_err(|e| source_error(&e, &source))?;
    Ok((source, parsed))
}

/// The program of a text of the IR, which has segments only where a graph has tasks.
fn from_ir(text: &Text, has_tasks: bool) -> Result<Program> {
    let program = parse_program(text.as_str()).map_err(|e| {
        let lines = text.as_str().split_inclusive('\n');
        let before: usize = lines
            .take(e.line.saturating_sub(1) as usize)
            .map(str::len)
            .sum();
        let rest = &text.as_str()[before.min(text.as_str().len())..];
        let at = rest.char_indices().nth(e.column.saturating_sub(1) as usize);
        let at = before + at.map_or(rest.len(), |(i, _)| i);
        let message = format!("`ir` is no program: {}", e.message);
        JobError::from(text.problem_at(at..at, message, "here"))
    })?;
    let right = match has_tasks {
        true => verify_but_segments(&program),
        false => verify(&program),
    };
    match right {
        Ok(()) => Ok(program),
        Err(errors) => {
            let problem = |e: &VerifyError| {
                text.problem_at(0..0, format!("`ir` is no right program: {e}"), "in this")
            };
            Err(JobError::new(errors.iter().map(problem).collect()))
        }
    }
}

/// The module of a program that was read from this source.
pub(crate) fn module(source: &Arc<Source>, name: &str) -> Result<syn::ItemMod> {
    let (module, _) = read_file(source.text(), Some(name)).map_err(|e| diagnostics(&e, source))?;
    Ok(module)
}

fn source_error(error: &SourceError, source: &Arc<Source>) -> JobError {
    match error {
        SourceError::Source(d) => diagnostics(d, source),
        SourceError::Internal(_) => Problem::new(error.to_string()).into(),
    }
}

fn diagnostics(diagnostics: &Diagnostics, source: &Arc<Source>) -> JobError {
    let problems = diagnostics.0.iter().map(|d| {
        let mut problem = Problem::new(&d.message).at(source, d.span.byte_range(), "");
        if let Some((span, note)) = &d.note {
            problem = problem.at(source, span.byte_range(), note);
        }
        match &d.help {
            Some(help) => problem.help(help),
            None => problem,
        }
    });
    JobError::new(problems.collect())
}

/// The bytes of a source at a line and column, both from 1; to the end of the word that stands there.
pub(crate) fn place(source: &Source, line: u32, column: u32) -> Option<std::ops::Range<usize>> {
    let text = source.text();
    let start: usize = text
        .split_inclusive('\n')
        .take(line.checked_sub(1)? as usize)
        .map(str::len)
        .sum();
    let rest = text.get(start..)?;
    let (at, _) = rest.char_indices().nth(column.checked_sub(1)? as usize)?;
    let word: usize = rest[at..]
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .map(char::len_utf8)
        .sum();
    Some(start + at..start + at + word.max(1))
}
