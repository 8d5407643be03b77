//! `millstream inspect`: a dump for people. `docs/observe.md` says what there is in one.

use crate::{
    Failure,
    report::{count, grouped, print},
    run::time,
};
use millstream::{
    Bytes,
    dump::{CALLER, ChannelState, Doing, DumpFile, Event, Held, WorkerState, suspicions},
};
use std::{fmt::Write, fs, path::Path, time::Duration};

/// Workers that are shown where there is little room.
const FEW: usize = 4;

pub(crate) fn inspect(file: &Path) -> Result<(), Failure> {
    let cannot = |why: String| Failure::Other(format!("cannot read `{}`: {why}", file.display()));
    let bytes = fs::read(file).map_err(|e| cannot(e.to_string()))?;
    let dump = DumpFile::read(&bytes).map_err(|e| cannot(e.to_string()))?;
    print(&text(&dump))
}

/// All of it.
pub(crate) fn text(file: &DumpFile) -> String {
    let mut out = head(file);
    channels(&mut out, &file.dump.channels);
    workers(&mut out, &file.dump.workers, usize::MAX);
    section(&mut out, "not known", &file.dump.missing);
    section(&mut out, "what looks wrong", &suspicions(&file.dump));
    out
}

/// The same in a few lines.
pub(crate) fn short(file: &DumpFile) -> String {
    let mut out = head(file);
    workers(&mut out, &file.dump.workers, FEW);
    section(&mut out, "not known", &file.dump.missing);
    section(&mut out, "what looks wrong", &suspicions(&file.dump));
    out
}

fn head(file: &DumpFile) -> String {
    let dump = &file.dump;
    let on = match (&file.gpu, file.threads) {
        (Some(gpu), _) => gpu.clone(),
        (None, threads) => count(threads.into(), "thread", "threads"),
    };
    let why = dump.why.as_deref().unwrap_or("the run is not over");
    let done = match &dump.graph {
        Some(_) => count(dump.done, "element", "elements"),
        None => format!(
            "{}, {} deep",
            count(dump.done, "task", "tasks"),
            count(dump.levels, "level", "levels")
        ),
    };
    let dispatches = dump.dispatches.map_or_else(String::new, |n| {
        format!(", {}", count(n, "dispatch", "dispatches"))
    });
    format!(
        "{} of {} on {} ({on}): {why}\n{done}{dispatches} in {}; {} of {}\n",
        file.call,
        file.program,
        file.device,
        time(Duration::from_nanos(dump.running_ns)),
        Bytes(dump.bytes),
        Bytes(dump.budget)
    )
}

fn section(out: &mut String, title: &str, lines: &[String]) {
    if !lines.is_empty() {
        let _ = writeln!(out, "{title}");
    }
    for line in lines {
        let _ = writeln!(out, "  {line}");
    }
}

fn channels(out: &mut String, channels: &[ChannelState]) {
    let names = channels.iter().map(|c| c.name.chars().count());
    let width = names.chain(["channel".len()]).max().unwrap_or(0);
    let _ = writeln!(
        out,
        "{:<w$}  {:>13} {:>13} {:>13} {:>11}  from and to",
        "channel",
        "waiting",
        "room for",
        "bytes",
        "levels",
        w = width + 2
    );
    for channel in channels {
        let known = |n: Option<u64>| n.map_or_else(|| "?".into(), grouped);
        let levels = match channel.between {
            Some((low, high)) if low == high => low.to_string(),
            Some((low, high)) => format!("{low} to {high}"),
            None => String::new(),
        };
        let bytes = channel
            .waiting
            .map(|n| Bytes(n * channel.element_bytes).to_string());
        let capacity = channel.capacity.map_or_else(String::new, grouped);
        let line = format!(
            "  {:<width$}  {:>13} {capacity:>13} {:>13} {levels:>11}  {}",
            channel.name,
            known(channel.waiting),
            bytes.unwrap_or_default(),
            ends(channel)
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

/// Who is at a channel's ends, if it is one of a graph.
fn ends(channel: &ChannelState) -> String {
    match &channel.to {
        Some(to) => format!("{} -> {to}", channel.from.join(", ")),
        None => String::new(),
    }
}

fn workers(out: &mut String, workers: &[WorkerState], most: usize) {
    // Of the caller it is known only that it waits for room.
    let told = |w: &&WorkerState| w.name != CALLER || w.last.doing == Doing::WaitsForRoom;
    let all: Vec<&WorkerState> = workers.iter().filter(told).collect();
    let names = all.iter().map(|w| w.name.chars().count());
    let width = names.max().unwrap_or(0);
    let _ = writeln!(out, "who");
    for worker in all.iter().take(most) {
        let mut line = format!("  {:<width$}  {}", worker.name, event(&worker.last));
        if worker.done > 0 || worker.bytes > 0 {
            let _ = write!(line, "; {} done", grouped(worker.done));
            if let Some(dispatches) = worker.dispatches {
                let _ = write!(line, ", {}", count(dispatches, "dispatch", "dispatches"));
            }
            let _ = write!(line, ", {}", Bytes(worker.bytes));
        }
        let _ = writeln!(out, "{line}");
        for (what, held) in [
            ("on its stacks", &worker.stacks),
            ("in hand of", &worker.in_hand),
            ("without room in", &worker.no_room),
        ] {
            if !held.is_empty() && most == usize::MAX {
                let _ = writeln!(out, "  {:width$}  {what}: {}", "", listed(held));
            }
        }
        if worker.lent > 0 && most == usize::MAX {
            let lent = count(worker.lent, "batch", "batches");
            let _ = writeln!(out, "  {:width$}  {lent} lent to others", "");
        }
    }
    if all.len() > most {
        let _ = writeln!(out, "  .. and {} more", all.len() - most);
    }
}

fn listed(held: &[Held]) -> String {
    let one = |h: &Held| format!("{} {}", h.channel, grouped(h.elements));
    held.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn event(last: &Event) -> String {
    let mut out = last.doing.to_string();
    if let Some(at) = &last.at {
        let _ = match last.doing {
            Doing::WaitsForRoom => write!(out, " in {at}"),
            _ => write!(out, " {at}"),
        };
    }
    if let Some(level) = last.level {
        let _ = write!(out, " at level {}", grouped(level));
    }
    if let Some(elements) = last.elements {
        let _ = write!(out, ", {}", count(elements, "element", "elements"));
    }
    if let Some(ago) = last.ago_ns {
        let _ = write!(out, ", since {}", time(Duration::from_nanos(ago)));
    }
    out
}
