//! What the command says: logs, results, errors.

use crate::{Failure, args::RunArgs, spans::Spans};
use miette::{GraphicalReportHandler, GraphicalTheme};
use std::io::{self, IsTerminal, Write};
use tracing_subscriber::{
    Layer,
    filter::{Targets, filter_fn},
    fmt,
    layer::SubscriberExt,
    registry,
    util::SubscriberInitExt,
};

/// The message of an output that nobody reads any more.
pub(crate) const CLOSED: &str = "output closed";

/// Logs to the error output: warnings, with `-v` steps, with `-vv` details. `MILLSTREAM_LOG` says it more finely.
/// Where spans are kept, all of our own are.
pub(crate) fn start_log(verbose: u8, spans: Option<Spans>) {
    let level = ["warn", "millstream=info,warn", "millstream=debug,warn"];
    let asked = std::env::var("MILLSTREAM_LOG").ok();
    let filter = asked.and_then(|a| a.parse::<Targets>().ok());
    let filter = filter.or_else(|| level[usize::from(verbose.min(2))].parse().ok());
    let log = fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .without_time()
        .with_target(verbose > 1)
        .with_filter(filter.unwrap_or_default());
    let ours = filter_fn(|about| about.is_span() && about.target().starts_with("millstream"));
    let spans = spans.map(|spans| spans.with_filter(ours));
    registry().with(log).with(spans).init();
}

/// Prints to the output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|e| match e.kind() {
            io::ErrorKind::BrokenPipe => Failure::Other(CLOSED.into()),
            _ => Failure::Other(format!("cannot write the output: {e}")),
        })
}

/// Refuses what says something of a run on a device, where there is none.
pub(crate) fn observes_nothing(args: &RunArgs) -> Result<(), Failure> {
    if args.stats.is_some() || args.trace.is_some() || args.plot.is_some() || args.dump.is_some() {
        let message = "`--stats`, `--trace`, `--plot` and `--dump` are about a run on a device: `millstream run` takes them";
        return Err(Failure::Other(message.into()));
    }
    Ok(())
}

/// Says something beside the results.
pub(crate) fn note(text: &str) {
    // Nothing can be done about an error output that is closed.
    let _ = writeln!(io::stderr().lock(), "note: {text}");
}

/// Says something of a run that did not end well.
pub(crate) fn tell(text: &str) {
    // As in `note`.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Prints what is wrong and gives the exit code.
pub(crate) fn failure(failure: &Failure) -> u8 {
    let fancy = io::stderr().is_terminal();
    let theme = if fancy {
        GraphicalTheme::unicode()
    } else {
        GraphicalTheme::unicode_nocolor()
    };
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_links(false)
        .with_width(terminal_width());
    let mut text = String::new();
    let code = match failure {
        Failure::Job(error) => {
            for problem in error.problems() {
                // Writing to a string does not fail; a source that cannot be read does, and then the plain text says what is wrong.
                if handler.render_report(&mut text, problem).is_err() {
                    text.push_str(&format!("error: {problem}\n"));
                }
            }
            if error.is_usage() { 2 } else { 1 }
        }
        Failure::Other(message) => {
            text = format!("error: {message}\n");
            1
        }
    };
    // Nothing can be done about an error output that is closed.
    let _ = io::stderr().lock().write_all(text.as_bytes());
    code
}

fn terminal_width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    columns.unwrap_or(110usize).clamp(60, 160)
}

/// A number with its thousands apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Something and how many of it there are.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        grouped(number),
        if number == 1 { one } else { many }
    )
}
