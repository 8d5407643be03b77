//! Dumps as files: what a run was at that was stopped or could not go on, and what looks wrong with it. `docs/observe.md` has the names.

pub use millstream_aggregator::dump::{
    CALLER, ChannelKind, ChannelState, Doing, Dump, Event, Held, WorkerState,
};

use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, time::Duration};

/// The version of the form, which a file says under this name.
const MARK: &str = "millstream_dump";
const VERSION: u64 = 1;
/// Who does the same for so long may never be done.
const LONG: Duration = Duration::from_secs(1);
/// A recursion that is no deeper may well be meant.
const DEEP: u64 = 100_000;

/// A dump with what run it is of.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DumpFile {
    /// The program's file.
    pub program: String,
    /// The call: `fib(30)`.
    pub call: String,
    /// `cpu`, `cuda:0`.
    pub device: String,
    /// The name of the GPU, if it is one.
    pub gpu: Option<String>,
    /// Threads of the CPU.
    pub threads: u32,
    /// What the run was at.
    pub dump: Dump,
}

/// Why a file is no dump.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// It is no JSON, or only the beginning of some.
    #[error("it is no JSON, or not whole: {0}")]
    Broken(serde_json::Error),
    /// It is something else.
    #[error(
        "it is JSON, but no dump of a run: a dump has `{MARK}`, and comes of Ctrl-C or of a run that is stuck"
    )]
    Foreign,
    /// It is one of another version of Millstream.
    #[error("it is a dump of form {0}, and this version of Millstream reads form {VERSION}")]
    Version(String),
    /// Something in it is not as it should be.
    #[error("it is a dump, but broken: {0}")]
    Wrong(serde_json::Error),
}

#[derive(Serialize)]
struct Marked<'a> {
    millstream_dump: u64,
    #[serde(flatten)]
    file: &'a DumpFile,
}

impl DumpFile {
    /// As a file has it.
    #[must_use]
    pub fn json(&self) -> String {
        let marked = Marked {
            millstream_dump: VERSION,
            file: self,
        };
        // Names are strings and the rest are numbers: nothing that JSON does not have.
        serde_json::to_string_pretty(&marked).unwrap_or_default() + "\n"
    }

    /// From a file's bytes.
    ///
    /// # Errors
    /// If they are no dump, or one of another version.
    pub fn read(bytes: &[u8]) -> Result<Self, DumpError> {
        let value: serde_json::Value = serde_json::from_slice(bytes).map_err(DumpError::Broken)?;
        match value.get(MARK) {
            None => Err(DumpError::Foreign),
            Some(form) if form.as_u64() != Some(VERSION) => {
                Err(DumpError::Version(form.to_string()))
            }
            Some(_) => serde_json::from_value(value).map_err(DumpError::Wrong),
        }
    }
}

/// Names, as one writes them in a sentence.
fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|n| format!("`{n}`")).collect();
    names.join(", ")
}

/// What looks wrong with a run, in sentences; the likeliest reason first.
#[must_use]
pub fn suspicions(dump: &Dump) -> Vec<String> {
    let mut out: Vec<String> = circle(dump).into_iter().collect();
    out.extend(full_channels(dump));
    out.extend(unwanted(dump));
    out.extend(dump.workers.iter().filter_map(|w| stays(dump, w)));
    if dump.levels >= DEEP {
        let levels = dump.levels;
        out.push(format!(
            "the run is {levels} levels deep: look for a recursion that never ends"
        ));
    }
    out
}

fn is_full(channel: &ChannelState) -> bool {
    let lies = channel.held.max(channel.waiting).unwrap_or(0);
    channel.kind == ChannelKind::Ring && channel.capacity.is_some_and(|c| c > 0 && lies >= c)
}

/// Full channels whose consumers wait for one another.
fn circle(dump: &Dump) -> Option<String> {
    let full: Vec<&ChannelState> = dump.channels.iter().filter(|c| is_full(c)).collect();
    // Behind a full channel is each full one that its consumer fills.
    let behind = |c: &ChannelState| {
        let to = c.to.clone();
        let next = full
            .iter()
            .filter(move |n| to.as_ref().is_some_and(|to| n.from.contains(to)));
        next.map(|n| n.name.as_str()).collect::<Vec<_>>()
    };
    for first in &full {
        // The way is short: graphs have few channels.
        let (mut ways, mut seen) = (vec![vec![first.name.as_str()]], BTreeSet::new());
        while let Some(way) = ways.pop() {
            let last = full.iter().find(|c| Some(&c.name.as_str()) == way.last())?;
            for next in behind(last) {
                if next == first.name {
                    let hops = way
                        .iter()
                        .filter_map(|n| full.iter().find(|c| c.name == *n));
                    let hops = hops
                        .map(|c| format!("`{}` -> {} -> ", c.name, c.to.as_deref().unwrap_or("?")));
                    return Some(format!(
                        "channels are full in a circle, so that nobody can go on: {}`{next}`; give one of them more width, or let it grow",
                        hops.collect::<String>()
                    ));
                }
                if seen.insert(next) {
                    ways.push(way.iter().copied().chain([next]).collect());
                }
            }
        }
    }
    None
}

/// Channels without room, and who waits for some.
fn full_channels(dump: &Dump) -> Vec<String> {
    let full = dump.channels.iter().filter(|c| is_full(c));
    let sentence = |channel: &ChannelState| {
        let name = &channel.name;
        let lies = channel.held.max(channel.waiting).unwrap_or(0);
        let waits = |w: &&WorkerState| {
            w.no_room.iter().any(|h| h.channel == *name)
                || (w.last.doing == Doing::WaitsForRoom && w.last.at.as_ref() == Some(name))
        };
        let waiting: Vec<&str> = dump
            .workers
            .iter()
            .filter(waits)
            .map(|w| &*w.name)
            .collect();
        let waiting = match (waiting.is_empty(), channel.from.is_empty()) {
            (false, _) if waiting.len() > 1 => {
                format!("{} wait for room in it", waiting.join(" and "))
            }
            (false, _) => format!("{} waits for room in it", waiting.join("")),
            (true, false) => format!(
                "what comes from {} waits for room in it",
                listed(channel.from.iter().map(String::as_str))
            ),
            (true, true) => "who fills it waits".into(),
        };
        let to = match channel.to.as_deref() {
            Some(CALLER) => format!("; {CALLER} is to receive what it has"),
            Some(to) => format!("; `{to}` is to take what it has"),
            None => String::new(),
        };
        let of = channel.capacity.unwrap_or(0);
        format!("the channel `{name}` is full, {lies} of {of}: {waiting}{to}")
    };
    full.map(sentence).collect()
}

/// Elements of which a predicate says that they are worth no wavefront, while nobody runs any.
fn unwanted(dump: &Dump) -> Vec<String> {
    if dump.workers.iter().any(|w| w.last.doing == Doing::Runs) {
        return Vec::new();
    }
    let left = dump.channels.iter().filter(|c| !is_full(c));
    let left = left.filter_map(|channel| {
        let (waiting, asked) = (channel.waiting.filter(|n| *n > 0)?, channel.predicate.as_ref()?);
        Some(format!(
            "{waiting} elements of `{}` wait, nobody runs anything, and its predicate `{asked}` does not say that they are worth a wavefront",
            channel.name
        ))
    });
    left.collect()
}

/// Somebody who does the same for long.
fn stays(dump: &Dump, worker: &WorkerState) -> Option<String> {
    let name = &worker.name;
    let ago = worker.last.ago_ns.map(Duration::from_nanos);
    match worker.last.doing {
        Doing::Runs if ago? >= LONG => Some(format!(
            "{name} runs one wavefront of `{}` for {:.1} s: look for a loop in it that never ends",
            worker.last.at.as_deref()?,
            ago?.as_secs_f64()
        )),
        Doing::WaitsForMemory => Some(format!(
            "{name} waits for memory that others have, of {} bytes in all: give the run more memory",
            dump.budget
        )),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends there")]
mod tests {
    use super::*;

    /// From JSON, as a file has it: what fields leave out is as if nothing were known.
    fn dump(channels: &str, workers: &str) -> Dump {
        let mut all = serde_json::to_value(Dump::default()).unwrap();
        let fill = |texts: &str, empty: serde_json::Value| {
            let given: Vec<serde_json::Map<_, _>> = serde_json::from_str(texts).unwrap();
            let whole = given.into_iter().map(|fields| {
                let mut one = empty.clone();
                one.as_object_mut().unwrap().extend(fields);
                one
            });
            serde_json::Value::Array(whole.collect())
        };
        all["channels"] = fill(
            channels,
            serde_json::to_value(ChannelState::default()).unwrap(),
        );
        all["workers"] = fill(
            workers,
            serde_json::to_value(WorkerState::default()).unwrap(),
        );
        serde_json::from_value(all).unwrap()
    }

    const CIRCLE: &str = r#"[
        {"name": "a", "kind": "ring", "waiting": 4, "capacity": 4, "from": ["g", "the caller"], "to": "f"},
        {"name": "b", "kind": "ring", "waiting": 2, "held": 8, "capacity": 8, "from": ["f"], "to": "g"},
        {"name": "c", "kind": "ring", "waiting": 3, "capacity": 8, "from": ["f"], "to": "h", "predicate": "many"}
    ]"#;

    #[test]
    fn a_file_comes_back_and_what_is_none_is_refused() {
        let file = DumpFile {
            program: "fib.rs".into(),
            call: "fib(3)".into(),
            device: "cpu".into(),
            gpu: None,
            threads: 2,
            dump: dump(CIRCLE, "[]"),
        };
        let text = file.json();
        assert_eq!(DumpFile::read(text.as_bytes()).unwrap(), file);

        let refused = |text: &str| DumpFile::read(text.as_bytes()).unwrap_err().to_string();
        let half = refused(&text[..text.len() / 2]);
        assert!(
            half.starts_with("it is no JSON, or not whole: EOF"),
            "{half}"
        );
        assert!(refused("").starts_with("it is no JSON, or not whole"));
        assert!(refused("{}").starts_with("it is JSON, but no dump of a run"));
        assert!(refused("[1]").starts_with("it is JSON, but no dump of a run"));
        let newer = text.replace("\"millstream_dump\": 1", "\"millstream_dump\": 2");
        assert_eq!(
            refused(&newer),
            "it is a dump of form 2, and this version of Millstream reads form 1"
        );
        let wrong = text.replace("\"threads\": 2", "\"threads\": \"two\"");
        let said = refused(&wrong);
        assert!(
            said.starts_with("it is a dump, but broken: invalid type: string \"two\""),
            "{said}"
        );
    }

    #[test]
    fn full_channels_are_named_with_their_circle_and_who_waits() {
        let stuck = dump(
            CIRCLE,
            r#"[{"name": "worker 0", "no_room": [{"channel": "a", "elements": 3}]},
                {"name": "worker 1", "last": {"doing": "waits_for_room", "at": "a", "level": null, "elements": 8, "ago_ns": 7}}]"#,
        );
        let says = suspicions(&stuck);
        assert_eq!(
            says,
            [
                "channels are full in a circle, so that nobody can go on: `a` -> f -> `b` -> g -> `a`; give one of them more width, or let it grow",
                "the channel `a` is full, 4 of 4: worker 0 and worker 1 wait for room in it; `f` is to take what it has",
                "the channel `b` is full, 8 of 8: what comes from `f` waits for room in it; `g` is to take what it has",
                "3 elements of `c` wait, nobody runs anything, and its predicate `many` does not say that they are worth a wavefront",
            ]
        );
        // One that grows, or drops elements, holds nobody back.
        let grows = dump(&CIRCLE.replace("ring", "elastic"), "[]");
        assert_eq!(suspicions(&grows).len(), 1);
    }

    #[test]
    fn who_stays_where_he_is_is_named_and_what_goes_on_is_not() {
        let event = |doing: &str, ago: u64| {
            format!(
                r#"[{{"name": "worker 1", "last": {{"doing": "{doing}", "at": "walk", "level": 2, "elements": 5, "ago_ns": {ago}}}}}]"#
            )
        };
        let says = |doing: &str, ago: u64| suspicions(&dump("[]", &event(doing, ago)));
        let long = "worker 1 runs one wavefront of `walk` for 2.5 s: look for a loop in it that never ends";
        assert_eq!(says("runs", 2_500_000_000), [long]);
        assert!(says("runs", 900_000_000).is_empty());
        assert!(says("waits_for_work", 9_000_000_000).is_empty());
        assert_eq!(says("waits_for_memory", 1).len(), 1);
        let mut deep = dump("[]", "[]");
        deep.levels = 100_000;
        assert_eq!(
            suspicions(&deep),
            ["the run is 100000 levels deep: look for a recursion that never ends"]
        );
    }
}
