//! The table and the records.

use super::{
    feed::Fed,
    measure::Times,
    rings::{Delivered, Rate},
};
use serde::Serialize;
use std::{fmt::Write, fs, process::Command};

/// Prints a line. Who has closed the pipe has seen enough: what is measured then still goes to the file.
macro_rules! say {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stdout(), $($words)*);
    }};
}
pub(crate) use say;

/// One program on one device beside one rival. Times in milliseconds; `ratio` is of the best ones.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Record {
    pub(crate) program: String,
    pub(crate) device: &'static str,
    pub(crate) threads: u32,
    pub(crate) rival: &'static str,
    pub(crate) rival_threads: u32,
    pub(crate) ours_ms: f64,
    pub(crate) ours_median_ms: f64,
    pub(crate) rival_ms: f64,
    pub(crate) rival_median_ms: f64,
    pub(crate) ratio: f64,
    pub(crate) tasks: u64,
    pub(crate) tasks_per_s: f64,
    pub(crate) ns_per_task: f64,
    pub(crate) busy: Vec<f64>,
}

/// The profile by which rivals are optimised as well as they can be.
const MEASURE: &str = "measure";

/// Where and when it was measured.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct Header {
    pub(crate) machine: String,
    pub(crate) cores: usize,
    pub(crate) date: String,
    pub(crate) commit: String,
    pub(crate) rounds: usize,
    /// The profile of Cargo's that the command was built by.
    pub(crate) profile: &'static str,
    /// Load of the machine when it began: above 0 somebody else was at work.
    pub(crate) load: String,
}

/// What is printed by `--json`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) header: Header,
    pub(crate) records: Vec<Record>,
    /// Elements a second through ring channels.
    pub(crate) rings: Vec<Rate>,
    /// What came through rings of all widths.
    pub(crate) delivered: Vec<Delivered>,
    /// What went through a graph.
    pub(crate) fed: Vec<Fed>,
}

impl Header {
    /// Of this machine, now.
    pub(crate) fn here(rounds: usize) -> Self {
        let first = |command: &str, args: &[&str]| {
            let output = Command::new(command)
                .args(args)
                .output()
                .ok()
                .filter(|o| o.status.success());
            output.map_or_else(
                || "unknown".to_owned(),
                |o| String::from_utf8_lossy(&o.stdout).trim().to_owned(),
            )
        };
        let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpu.lines().find_map(|l| {
            l.strip_prefix("model name")?
                .split_once(':')
                .map(|m| m.1.trim().to_owned())
        });
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Self {
            machine: model.unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            date: first("date", &["-u", "+%Y-%m-%d %H:%M UTC"]),
            // Where the sources are not a repository, who copied them says which.
            commit: std::env::var("MILLSTREAM_COMMIT")
                .unwrap_or_else(|_| first("git", &["rev-parse", "--short", "HEAD"])),
            rounds,
            profile: env!("MILLSTREAM_PROFILE"),
            load: load.split(' ').next().unwrap_or("unknown").to_owned(),
        }
    }

    /// One line for readers.
    pub(crate) fn line(&self) -> String {
        let Self {
            machine,
            cores,
            date,
            commit,
            rounds,
            profile,
            load,
        } = self;
        format!(
            "{machine}, {cores} cores, load {load}; {date}; commit {commit}, by profile {profile}; best (median) of {rounds} rounds, in turn, after a warm-up{}",
            self.warning().unwrap_or_default()
        )
    }

    /// What is to be said where rivals are slower than they have to be.
    fn warning(&self) -> Option<String> {
        (self.profile != MEASURE).then(|| {
            format!(
                "\n\nNot to be cited: rivals are not optimised as they can be by this profile. \
                 `cargo run --profile {MEASURE} -- bench` does that."
            )
        })
    }
}

/// The records of a program: ours, which come first, beside each of the others.
pub(crate) fn records(program: &str, times: &[Times]) -> Vec<Record> {
    let [ours, rivals @ ..] = times else {
        return Vec::new();
    };
    let seconds = ours.seconds[0].max(1e-12);
    let record = |rival: &Times| Record {
        program: program.to_owned(),
        device: "cpu",
        threads: ours.threads,
        rival: rival.name,
        rival_threads: rival.threads,
        ours_ms: ours.best(),
        ours_median_ms: ours.median(),
        rival_ms: rival.best(),
        rival_median_ms: rival.median(),
        ratio: ours.best() / rival.best(),
        tasks: ours.outcome.tasks,
        tasks_per_s: ours.outcome.tasks as f64 / seconds,
        ns_per_task: seconds * 1e9 / ours.outcome.tasks.max(1) as f64,
        busy: ours.outcome.busy.clone(),
    };
    rivals.iter().map(record).collect()
}

/// Head of the table.
pub(crate) fn head() -> String {
    "| program | threads | ours, ms | rayon, ms | ratio | serial, ms | ratio | tasks | ns/task | busy |\n|---|---|---|---|---|---|---|---|---|---|"
        .to_owned()
}

/// A row of the table, from the records of one program.
pub(crate) fn row(records: &[Record]) -> String {
    let mut out = String::new();
    let Some(first) = records.first() else {
        return out;
    };
    let ms = |best: f64, median: f64| {
        let digits = if best < 1.0 {
            4
        } else if best < 100.0 {
            2
        } else {
            0
        };
        format!("{best:.digits$} ({median:.digits$})")
    };
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "| {} | {} | {} |",
        first.program,
        first.threads,
        ms(first.ours_ms, first.ours_median_ms)
    );
    for r in records {
        let _ = write!(
            out,
            " {} | {:.2} |",
            ms(r.rival_ms, r.rival_median_ms),
            r.ratio
        );
    }
    let busy: Vec<String> = first
        .busy
        .iter()
        .map(|b| format!("{:.0} %", b * 100.0))
        .collect();
    let _ = write!(
        out,
        " {} | {:.2} | {} |",
        first.tasks,
        first.ns_per_task,
        busy.join(" ")
    );
    out
}
