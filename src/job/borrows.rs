//! Borrows of a program in a file, checked by rustc, if there is one: data races among them.
//!
//! rustc is shown a crate of one file that needs nothing else, see [`millstream_cilk_lower::rust::borrows`]; what it says is said of the
//! program's own file.

use super::{
    error::{JobError, Problem, Result, Source},
    source::{self, Loaded},
};
use millstream_cilk_lower::rust::borrows::Crate;
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    fs, io,
    ops::Range,
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

/// How long rustc may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// What a program finds under the name `millstream`.
const SUPPORT: &str = concat!(
    "extern crate self as millstream;\nmod mat {\n",
    include_str!("../mat.rs"),
    "}\nmod rounds {\n",
    include_str!("../rounds.rs"),
    "}\nmod race {\n",
    include_str!("../race.rs"),
    "}\nmod channel {\n",
    include_str!("../channel.rs"),
    "}\npub use {channel::{Channel, Element}, mat::{Mat, MatMut}};
pub fn on_gpu() -> bool { false }
pub trait TaskValue: Sized { const SIZE: usize = 0; fn read(_: &[u8]) -> Self { unimplemented!() } }
impl<T> TaskValue for T {}
#[macro_export] macro_rules! spawn { ($call:expr $(,)?) => { $call }; }
#[macro_export] macro_rules! sync { () => { () }; }
pub mod kernel {}
pub mod task {}
pub mod program {}
pub mod prelude { pub use crate::{Channel, Element, Mat, MatMut, kernel, spawn, sync, task}; }
pub mod __private { pub use crate::{race::{Children, Tried}, rounds::{Gather, Gathered, beside, rounds}}; }
"
);
/// What helps where rustc itself says nothing.
const LENT: &str = "what a child was lent stays borrowed up to the next `sync!()`";

/// Codes of errors about what another crate would have to be there for.
const ELSEWHERE: [&str; 3] = ["E0432", "E0433", "E0463"];

/// Whether the borrows of a program were checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Borrows {
    /// They were, and nothing is wrong.
    Checked,
    /// They were not, and why.
    Unchecked(String),
}

/// A message of rustc's.
#[derive(Deserialize)]
struct Message {
    message: String,
    level: String,
    code: Option<Code>,
    spans: Vec<Place>,
    #[serde(default)]
    children: Vec<Message>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct Place {
    byte_start: usize,
    byte_end: usize,
    is_primary: bool,
    label: Option<String>,
    expansion: Option<Box<Expansion>>,
}

#[derive(Deserialize)]
struct Expansion {
    span: Place,
}

/// Has rustc check a program.
pub(crate) fn check(loaded: &Loaded) -> Result<Borrows> {
    let rustc = match std::env::var_os("MILLSTREAM_RUSTC") {
        Some(off) if off == "off" => {
            return Ok(Borrows::Unchecked("MILLSTREAM_RUSTC is `off`".into()));
        }
        Some(rustc) => rustc,
        None => std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()),
    };
    let module = source::module(&loaded.source, &loaded.program.name)?;
    let shown = Crate::new(&module, &loaded.program, &loaded.loops, SUPPORT);
    let said = match ask(Path::new(&rustc), shown.text()) {
        Ok(Some(said)) => said,
        Ok(None) => {
            let why = format!("rustc took more than {} s", PATIENCE.as_secs());
            return Ok(Borrows::Unchecked(why));
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let why = format!("there is no `{}` here", rustc.display());
            return Ok(Borrows::Unchecked(why));
        }
        Err(e) => return Ok(Borrows::Unchecked(format!("rustc cannot be asked: {e}"))),
    };
    judge(&said, &shown, &loaded.source)
}

/// What rustc says of a crate; none if it takes too long.
fn ask(rustc: &Path, text: &str) -> io::Result<Option<Vec<Message>>> {
    let folder = tempfile::tempdir()?;
    let (file, said) = (folder.path().join("program.rs"), folder.path().join("said"));
    fs::write(&file, text)?;
    let mut child = Command::new(rustc)
        .args([
            "--edition",
            "2024",
            "--crate-type",
            "lib",
            "--emit",
            "metadata",
        ])
        .args([
            "--error-format",
            "json",
            "--cap-lints",
            "allow",
            // Integers wrap, in the functions of constants too.
            "-C",
            "overflow-checks=off",
            "--out-dir",
            ".",
        ])
        .arg(&file)
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(&said)?)
        .spawn()?;
    let begin = Instant::now();
    let ended = loop {
        if let Some(ended) = child.try_wait()? {
            break ended;
        }
        if begin.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    if ended.success() {
        return Ok(Some(Vec::new()));
    }
    let said = fs::read_to_string(&said)?;
    let messages = said
        .lines()
        .filter_map(|l| serde_json::from_str::<Message>(l).ok());
    let errors: Vec<Message> = messages.filter(|m| m.level.starts_with("error")).collect();
    match errors.is_empty() {
        // An old rustc, or something that is none.
        true => Err(io::Error::other(
            said.lines().next().unwrap_or("it failed").to_owned(),
        )),
        false => Ok(Some(errors)),
    }
}

/// What rustc's errors mean for the program's file.
fn judge(said: &[Message], shown: &Crate, source: &Arc<Source>) -> Result<Borrows> {
    // By place and code: of a task's two versions each may be wrong in the same way.
    let mut problems: BTreeMap<(usize, &str), Problem> = BTreeMap::new();
    for message in said {
        let code = message.code.as_ref().map_or("", |c| c.code.as_str());
        if ELSEWHERE.contains(&code) {
            return Ok(Borrows::Unchecked(format!(
                "rustc says: {}",
                message.message
            )));
        }
        if let Some((at, problem)) = problem(message, code, shown, source) {
            problems.entry((at, code)).or_insert(problem);
        }
    }
    match (problems.is_empty(), said.first()) {
        (true, None) => Ok(Borrows::Checked),
        (true, Some(first)) => Ok(Borrows::Unchecked(format!("rustc says: {}", first.message))),
        _ => Err(JobError::new(problems.into_values().collect())),
    }
}

/// An error at its place in the program's file, if it has one: where that begins.
fn problem(
    message: &Message,
    code: &str,
    shown: &Crate,
    source: &Arc<Source>,
) -> Option<(usize, Problem)> {
    let (primary, others): (Vec<&Place>, Vec<&Place>) =
        message.spans.iter().partition(|s| s.is_primary);
    let at = primary.iter().find_map(|p| in_file(p, shown))?;
    let text = match code {
        "" => ours(&message.message),
        code => format!("{} [{code}]", ours(&message.message)),
    };
    let mut problem = Problem::new(text);
    for place in primary.into_iter().chain(others) {
        if let Some(at) = in_file(place, shown) {
            let label = place.label.as_deref().map(ours).unwrap_or_default();
            problem = problem.at(source, at, label);
        }
    }
    let helps = |c: &&Message| c.level == "help" && c.spans.is_empty();
    if let Some(help) = message.children.iter().find(helps) {
        problem = problem.help(ours(&help.message));
    } else if (code.starts_with("E05") || code == "E0716") && is_of_child(message, shown, source) {
        problem = problem.help(LENT);
    }
    Some((at.start, problem))
}

/// Whether what is wrong has to do with what a child was lent: rustc names what we hold for children, or a place of it stands in a `spawn!`.
fn is_of_child(message: &Message, shown: &Crate, source: &Source) -> bool {
    let labels = message.spans.iter().filter_map(|s| s.label.as_deref());
    let mut said = labels.chain([&*message.message]);
    let in_spawn = |place: &Place| {
        in_file(place, shown).is_some_and(|at| {
            let before = source.text().get(..at.start).unwrap_or_default();
            let statement = before.rfind([';', '{', '}']).map_or(0, |i| i + 1);
            let up_to_it = source.text().get(statement..at.end);
            up_to_it.is_some_and(|text| text.contains("spawn!"))
        })
    };
    said.any(|text| text.contains("millstream_children")) || message.spans.iter().any(in_spawn)
}

/// Where a place lies in the program's file: of what a macro made, where it was called.
fn in_file(place: &Place, shown: &Crate) -> Option<Range<usize>> {
    shown
        .place(&(place.byte_start..place.byte_end))
        .or_else(|| in_file(&place.expansion.as_ref()?.span, shown))
}

/// A text of rustc's without the names that are ours.
fn ours(text: &str) -> String {
    if text.contains("millstream_children") {
        return "a child that was lent it may run up to here".to_owned();
    }
    text.replace("millstream_spawn_", "")
        .replace("millstream_check_", "")
}
