//! The RON file of a run.
//!
//! Plain structs and enums; unknown and repeated names are errors. A value of the task language (`30`, `[1, 2]`, `n * 2`) is kept as the
//! text it is, so that it is typed by the task it goes to and an error in it has its place in the file. A flow graph of kernels and
//! channels has these in the form of [`Written`].

use super::{
    data::{self, Contents, File, Part},
    error::{JobError, Problem, Result, Source, Text},
    source::{Modes, read_text},
    spec::{self, Expected, GraphSpec, MOST_THREADS, Named, Place, Spec},
};
use millstream_cilk_lower::nesting;
use millstream_graph::graph::{Names, Written, WrittenChannel, WrittenKernel, WrittenTask};
use ron::{
    error::{Error, SpannedError},
    extensions::Extensions,
    value::RawValue,
};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use std::{
    borrow::Cow,
    fmt,
    marker::PhantomData,
    path::{Path, PathBuf},
    sync::Arc,
};

/// What a RON file describes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
enum Run<'a> {
    /// A run of a program of tasks.
    #[serde(borrow)]
    Program(Program<'a>),
    /// A run of a graph of kernels and channels.
    #[serde(borrow)]
    Graph(Program<'a>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Program<'a> {
    /// The `.rs` file, relative to this one.
    #[serde(borrow, default)]
    source: Option<Str<'a>>,
    /// In place of that: the program as text of the IR.
    #[serde(borrow, default)]
    ir: Option<Str<'a>>,
    /// The program, where the file has several.
    #[serde(borrow, default)]
    program: Option<Str<'a>>,
    /// The call.
    #[serde(borrow, default)]
    entry: Option<Str<'a>>,
    /// Parameters and their defaults.
    #[serde(borrow, default)]
    params: Entries<'a, Value<'a>>,
    #[serde(borrow, default)]
    buffers: Entries<'a, Buffer<'a>>,
    /// Buffers that are written to files after the run.
    #[serde(borrow, default)]
    outputs: Entries<'a, Str<'a>>,
    #[serde(default)]
    device: Device,
    #[serde(borrow, default)]
    threads: Option<Value<'a>>,
    #[serde(borrow, default)]
    memory: Option<Str<'a>>,
    /// Who decides on a GPU.
    #[serde(default)]
    aggregator: Option<Aggregator>,
    /// On which tier a GPU runs tasks.
    #[serde(default)]
    policy: Option<Policy>,
    #[serde(default)]
    checked: Option<bool>,
    #[serde(default)]
    unchecked: Option<bool>,
    #[serde(default)]
    fast_math: Option<bool>,
    /// What must come out.
    #[serde(borrow, default)]
    expect: Option<Expect<'a>>,
    /// Of a graph: its name, if it is not the program's.
    #[serde(borrow, default)]
    name: Option<Str<'a>>,
    #[serde(borrow, default)]
    channels: Names<Str<'a>, WrittenChannel<Str<'a>>>,
    #[serde(borrow, default)]
    kernels: Names<Str<'a>, WrittenKernel<Str<'a>>>,
    /// What ties stacks and segments together.
    #[serde(borrow, default)]
    tasks: Names<Str<'a>, WrittenTask<Str<'a>>>,
    /// Elements that are in channels at first.
    #[serde(borrow, default)]
    send: Entries<'a, Value<'a>>,
    /// Calls of tasks before a graph runs: what makes its buffers, say.
    #[serde(borrow, default)]
    first: Vec<Str<'a>>,
    /// A call of a task when it has run; its result is the run's.
    #[serde(borrow, default)]
    then: Option<Str<'a>>,
}

#[derive(Deserialize, Default)]
enum Device {
    #[default]
    Auto,
    Cpu,
    Cuda(u32),
}

#[derive(Deserialize)]
enum Policy {
    Auto,
    Device,
    Block,
}

#[derive(Deserialize)]
enum Aggregator {
    Auto,
    Persistent,
    Host,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
enum Buffer<'a> {
    Zeros {
        #[serde(borrow, default)]
        ty: Option<Str<'a>>,
        #[serde(borrow)]
        len: Value<'a>,
    },
    Random {
        #[serde(borrow, default)]
        ty: Option<Str<'a>>,
        #[serde(borrow)]
        len: Value<'a>,
        #[serde(borrow, default)]
        seed: Option<Value<'a>>,
    },
    Iota {
        #[serde(borrow, default)]
        ty: Option<Str<'a>>,
        #[serde(borrow)]
        len: Value<'a>,
    },
    #[serde(borrow)]
    Like(Str<'a>),
    #[serde(borrow)]
    Npy(Str<'a>),
    Raw {
        #[serde(borrow)]
        file: Str<'a>,
        #[serde(borrow, default)]
        ty: Option<Str<'a>>,
        #[serde(borrow, default)]
        len: Option<Value<'a>>,
    },
    Values {
        #[serde(borrow, default)]
        ty: Option<Str<'a>>,
        #[serde(borrow)]
        values: Value<'a>,
    },
    #[serde(borrow)]
    Offsets(Edges<'a>),
    #[serde(borrow)]
    Targets(Edges<'a>),
    #[serde(borrow)]
    Lengths(Edges<'a>),
}

/// The edges of a graph in compressed rows.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
enum Edges<'a> {
    #[serde(borrow)]
    List(Str<'a>),
    Rmat {
        #[serde(borrow)]
        scale: Value<'a>,
        #[serde(borrow)]
        degree: Value<'a>,
        #[serde(borrow, default)]
        seed: Option<Value<'a>>,
    },
    Grid {
        #[serde(borrow)]
        width: Value<'a>,
        #[serde(borrow)]
        height: Value<'a>,
        #[serde(borrow, default)]
        seed: Option<Value<'a>>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect<'a> {
    #[serde(borrow, default)]
    result: Option<Value<'a>>,
    #[serde(borrow, default)]
    buffers: Entries<'a, After<'a>>,
    /// How far floats may be off, absolutely or relatively.
    #[serde(default)]
    tolerance: f64,
}

#[derive(Deserialize)]
enum After<'a> {
    #[serde(borrow)]
    Is(Buffer<'a>),
    Sorted,
}

/// A string, where it stands if it has no escapes.
struct Str<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Both;
        impl<'de> Visitor<'de> for Both {
            type Value = Cow<'de, str>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, v: &'de str) -> std::result::Result<Self::Value, E> {
                Ok(Cow::Borrowed(v))
            }
            fn visit_str<E>(self, v: &str) -> std::result::Result<Self::Value, E> {
                Ok(Cow::Owned(v.to_owned()))
            }
        }
        deserializer.deserialize_str(Both).map(Str)
    }
}

/// A value of the task language: the text of RON's value, or what a string says.
#[derive(Deserialize)]
#[serde(transparent)]
struct Value<'a>(#[serde(borrow)] &'a RawValue);

/// A map in the order of the file.
struct Entries<'a, V>(Vec<(Str<'a>, V)>);

impl<V> Default for Entries<'_, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de: 'a, 'a, V: Deserialize<'de>> Deserialize<'de> for Entries<'a, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct All<'a, V>(PhantomData<(&'a (), V)>);
        impl<'de: 'a, 'a, V: Deserialize<'de>> Visitor<'de> for All<'a, V> {
            type Value = Entries<'a, V>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from names: { \"name\": .. }")
            }
            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Self::Value, A::Error> {
                let mut out = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    out.push(entry);
                }
                Ok(Entries(out))
            }
        }
        deserializer.deserialize_map(All(PhantomData))
    }
}

/// Reads a RON file.
pub(crate) fn read(path: &Path) -> Result<Spec> {
    let source = Source::file(&path.display().to_string(), read_text(path, None)?);
    let options = ron::Options::default()
        .with_default_extension(Extensions::IMPLICIT_SOME | Extensions::UNWRAP_VARIANT_NEWTYPES);
    let run = options
        .from_str(source.text())
        .map_err(|e| syntax(&e, &source))?;
    let reader = Reader {
        source: &source,
        folder: path.parent().unwrap_or(Path::new("")),
    };
    match run {
        Run::Program(program) => {
            let of_graph = [
                program.name.as_ref(),
                program.channels.0.first().map(|c| &c.0),
                program.kernels.0.first().map(|k| &k.0),
                program.tasks.0.first().map(|t| &t.0),
                program.ir.as_ref(),
                program.send.0.first().map(|s| &s.0),
                program.first.first(),
                program.then.as_ref(),
            ];
            if let Some(part) = of_graph.into_iter().flatten().next() {
                let problem = reader.text(part).problem("this is of a graph", "here");
                return Err(problem
                    .help("a run of a graph is written `Graph(source: .., ..)`")
                    .into());
            }
            reader.program(program)
        }
        Run::Graph(mut program) => {
            if let (Some(entry), true) = (&program.entry, program.tasks.is_empty()) {
                let problem = reader
                    .text(entry)
                    .problem("a graph has no entry call", "here");
                let help = "elements are put into its channels: `send: { \"calls\": \"[..]\" }`; tasks are called before and after it by `first: [..]` and `then: ..`";
                return Err(problem.help(help).into());
            }
            let graph = reader.graph(&mut program)?;
            let mut spec = reader.program(program)?;
            spec.graph = Some(graph);
            Ok(spec)
        }
    }
}

struct Reader<'s> {
    source: &'s Arc<Source>,
    folder: &'s Path,
}

impl Reader<'_> {
    fn program(&self, p: Program<'_>) -> Result<Spec> {
        if p.checked == Some(true) && p.unchecked == Some(true) {
            let at = self.source.text().find("unchecked").unwrap_or_default();
            let problem = Problem::new("`checked` and `unchecked` exclude each other");
            return Err(problem
                .at(self.source, at..at + "unchecked".len(), "here")
                .help("leave out one of them")
                .into());
        }
        let threads = p.threads.map(|v| self.threads(&v)).transpose()?;
        let memory = p.memory.map(|m| spec::bytes(&self.text(&m))).transpose()?;
        let expect = p.expect.unwrap_or(Expect {
            result: None,
            buffers: Entries::default(),
            tolerance: 0.0,
        });
        let ir = p.ir.map(|t| self.text(&t));
        let source = match (&p.source, &ir) {
            (Some(source), None) => self.file(source),
            (None, Some(_)) => File {
                path: PathBuf::from(self.source.name()),
                named_at: Text::whole(self.source),
            },
            (None, None) => {
                let problem = Problem::new("the field `source` is missing");
                return Err(problem
                    .at(self.source, 0..0, "in this file")
                    .help("name the Rust file: `source: \"fib.rs\"`")
                    .into());
            }
            (Some(source), Some(_)) => {
                let problem = self
                    .text(source)
                    .problem("`source` and `ir` exclude each other", "here");
                return Err(problem.help("leave out one of them").into());
            }
        };
        Ok(Spec {
            source,
            ir,
            program: p.program.map(|t| self.text(&t)),
            entry: p.entry.map(|t| self.text(&t)),
            params: self.entries(p.params, |v| self.value(&v))?,
            buffers: self.entries(p.buffers, |b| self.buffer(b))?,
            outputs: self.entries(p.outputs, |f| self.file(&f))?,
            device: match p.device {
                Device::Auto => Place::Auto,
                Device::Cpu => Place::Cpu,
                Device::Cuda(n) => Place::Cuda(n),
            },
            threads,
            memory,
            aggregator: p.aggregator.map(|a| match a {
                Aggregator::Auto => millstream_aggregator::Aggregator::Auto,
                Aggregator::Persistent => millstream_aggregator::Aggregator::Persistent,
                Aggregator::Host => millstream_aggregator::Aggregator::HostThread,
            }),
            policy: p.policy.map(|a| match a {
                Policy::Auto => millstream_aggregator::Policy::Auto,
                Policy::Device => millstream_aggregator::Policy::Device,
                Policy::Block => millstream_aggregator::Policy::Block,
            }),
            observe: millstream_aggregator::Observe::default(),
            modes: Modes {
                checked: p.checked,
                unchecked: p.unchecked,
                fast_math: p.fast_math,
            },
            result: expect.result.map(|v| self.value(&v)),
            after: self.entries(expect.buffers, |a| match a {
                After::Is(buffer) => Expected::Is(self.buffer(buffer)),
                After::Sorted => Expected::Sorted,
            })?,
            tolerance: expect.tolerance,
            graph: None,
        })
    }

    /// Takes what a graph has beside a program.
    fn graph(&self, p: &mut Program<'_>) -> Result<GraphSpec> {
        let written = Written {
            name: p.name.take(),
            channels: std::mem::take(&mut p.channels),
            kernels: std::mem::take(&mut p.kernels),
            tasks: std::mem::take(&mut p.tasks),
        };
        Ok(GraphSpec {
            written: written.map(|s| self.text(&s)),
            send: self.entries(std::mem::take(&mut p.send), |v| self.value(&v))?,
            first: p.first.iter().map(|call| self.text(call)).collect(),
            then: p.then.as_ref().map(|call| self.text(call)),
        })
    }

    fn buffer(&self, buffer: Buffer<'_>) -> Contents {
        let ty = |t: Option<Str<'_>>| t.map(|t| self.text(&t));
        match buffer {
            Buffer::Zeros { ty: t, len } => Contents::Zeros {
                ty: ty(t),
                shape: self.value(&len),
            },
            Buffer::Iota { ty: t, len } => Contents::Iota {
                ty: ty(t),
                shape: self.value(&len),
            },
            Buffer::Random { ty: t, len, seed } => Contents::Random {
                ty: ty(t),
                shape: self.value(&len),
                seed: seed.map(|s| self.value(&s)),
            },
            Buffer::Like(name) => Contents::Like(self.text(&name)),
            Buffer::Npy(file) => Contents::Npy(self.file(&file)),
            Buffer::Raw { file, ty: t, len } => Contents::Raw {
                file: self.file(&file),
                ty: ty(t),
                shape: len.map(|s| self.value(&s)),
            },
            Buffer::Values { ty: t, values } => Contents::Values {
                ty: ty(t),
                values: self.value(&values),
            },
            Buffer::Offsets(edges) => Contents::Graph(Part::Offsets, self.edges(&edges)),
            Buffer::Targets(edges) => Contents::Graph(Part::Targets, self.edges(&edges)),
            Buffer::Lengths(edges) => Contents::Graph(Part::Lengths, self.edges(&edges)),
        }
    }

    fn edges(&self, edges: &Edges<'_>) -> data::Edges {
        let seed = |seed: &Option<Value<'_>>| seed.as_ref().map(|s| self.value(s));
        match edges {
            Edges::List(file) => data::Edges::List(self.file(file)),
            Edges::Rmat {
                scale,
                degree,
                seed: s,
            } => data::Edges::Rmat {
                scale: self.value(scale),
                degree: self.value(degree),
                seed: seed(s),
            },
            Edges::Grid {
                width,
                height,
                seed: s,
            } => data::Edges::Grid {
                width: self.value(width),
                height: self.value(height),
                seed: seed(s),
            },
        }
    }

    fn threads(&self, value: &Value<'_>) -> Result<(u32, Option<Text>)> {
        let text = self.value(value);
        let number = text.as_str().parse().map_err(|_| {
            let message = format!("`threads` is a number, not `{}`", text.as_str());
            JobError::from(text.problem(message, "expected a number"))
        })?;
        if number > MOST_THREADS {
            let message = format!("a run has no more than {MOST_THREADS} threads, not {number}");
            return Err(text.problem(message, "expected fewer").into());
        }
        Ok((number, Some(text)))
    }

    fn entries<V, T>(
        &self,
        entries: Entries<'_, V>,
        mut value: impl FnMut(V) -> T,
    ) -> Result<Vec<Named<T>>> {
        let named = |(name, v): (Str<'_>, V)| Named {
            name: self.text(&name),
            value: value(v),
            by_command: false,
        };
        let out: Vec<Named<T>> = entries.0.into_iter().map(named).collect();
        spec::unique(&out)?;
        Ok(out)
    }

    fn text(&self, text: &Str<'_>) -> Text {
        Text::within(self.source, &text.0)
    }

    fn file(&self, text: &Str<'_>) -> File {
        spec::file_at(&self.text(text), self.folder)
    }

    fn value(&self, value: &Value<'_>) -> Text {
        let raw = value.0.get_ron();
        match ron::from_str::<Str<'_>>(raw) {
            Ok(string) => self.text(&string),
            Err(_) => Text::within(self.source, raw).trimmed(),
        }
    }
}

/// What RON says is wrong, with its place and the name that was probably meant.
fn syntax(error: &SpannedError, source: &Arc<Source>) -> JobError {
    let text = source.text();
    let offset = |at: ron::error::Position| {
        let line: usize = text
            .split_inclusive('\n')
            .take(at.line.saturating_sub(1))
            .map(str::len)
            .sum();
        let rest = &text[line.min(text.len())..];
        line + rest
            .char_indices()
            .nth(at.col.saturating_sub(1))
            .map_or(rest.len(), |(i, _)| i)
    };
    let (start, end) = (offset(error.span.start), offset(error.span.end));
    let (name, expected): (_, &[&str]) = match &error.code {
        Error::NoSuchStructField {
            expected, found, ..
        }
        | Error::NoSuchEnumVariant {
            expected, found, ..
        } => (found.as_str(), expected),
        _ => ("", &[]),
    };
    let span = &text[start.min(end)..end];
    let range = match span.rfind(name).filter(|_| !name.is_empty()) {
        Some(at) => start + at..start + at + name.len(),
        None => {
            // The cursor stands behind the white space that follows what is wrong.
            let first = start + (span.len() - span.trim_start().len());
            let last = start.max(first) + span.trim().len();
            first.min(last)..last
        }
    };
    let graph = text
        .split(|c: char| !c.is_alphanumeric())
        .any(|w| w == "Graph")
        && !text.contains("Program(");
    let of = |outer: &Option<String>| {
        let outer = outer
            .as_ref()
            .map(|o| if graph && o == "Program" { "Graph" } else { o });
        outer.map(|o| format!(" in `{o}`")).unwrap_or_default()
    };
    let message = match &error.code {
        Error::NoSuchStructField { found, outer, .. } => {
            format!("there is no field `{found}`{}", of(outer))
        }
        Error::NoSuchEnumVariant { found, .. } => format!("there is no `{found}` here"),
        Error::MissingStructField { field, outer } => {
            format!("the field `{field}` is missing{}", of(outer))
        }
        Error::ExpectedIdentifier => "a name is expected".to_owned(),
        Error::SuggestRawIdentifier(_) | Error::InvalidIdentifier(_) => {
            "the name of a field is expected".to_owned()
        }
        Error::ExpectedString => "text in quotes is expected".to_owned(),
        Error::ExceededRecursionLimit => nesting::TOO_DEEP.to_owned(),
        code => code.to_string(),
    };
    let problem = Problem::new(message)
        .at(source, range.clone(), "here")
        .meant(name, expected.iter().copied());
    match &error.code {
        Error::ExpectedIdentifier | Error::Eof if text[..range.start].trim().is_empty() => {
            problem.help("a run is written `Program(source: .., ..)` or `Graph(source: .., ..)`")
        }
        Error::ExceededRecursionLimit => problem.help(nesting::TOO_DEEP_HELP),
        Error::SuggestRawIdentifier(_) | Error::InvalidIdentifier(_) => {
            problem.help("what stands in round brackets has names: `Zeros(len: 4)`, `(consumes: \"in\")`")
        }
        Error::ExpectedString => {
            problem.help("names, types and expressions stand in quotes: `args: [\"&total\", \"1250\"]`")
        }
        Error::ExpectedComma if text[range.start..].starts_with(['+', '-', '*', '/', '%', '<', '>', '.']) => {
            problem.help("an expression stands in a string: `len: \"2 * n\"`")
        }
        Error::ExpectedIdentifier => {
            problem.help("contents of buffers have names: `Values(values: [1, 2])`, `Like(\"data\")`, and in `expect` `Sorted`")
        }
        _ => problem,
    }
    .into()
}
