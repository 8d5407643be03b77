//! A line on the terminal that says how far a run is, and goes away when it is over. It is one line of text, so it is written by hand.

use crate::report::{count, grouped};
use millstream::{Bytes, SoFar};
use std::{
    io::{self, IsTerminal, Write},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

/// Runs that are over before are not told of.
const FIRST: Duration = Duration::from_secs(1);
/// How often it is said anew.
const EVERY: Duration = Duration::from_millis(250);

/// Whether somebody looks: nothing is said where output goes to a file or to another program.
pub(crate) fn wanted(quiet: bool) -> bool {
    !quiet && io::stderr().is_terminal() && io::stdout().is_terminal()
}

/// Works, and says on a terminal how far it is: what `line` gives for the time since it began. Where nobody wants to hear it, it is asked all the
/// same: who is asked again and again knows what stands still.
pub(crate) fn watched<T>(
    wanted: bool,
    line: impl FnMut(Duration) -> String + Send,
    work: impl FnOnce() -> T,
) -> T {
    if wanted {
        told(&mut io::stderr(), FIRST, line, work)
    } else {
        told(&mut io::sink(), FIRST, line, work)
    }
}

fn told<T>(
    out: &mut (impl Write + Send),
    first: Duration,
    mut line: impl FnMut(Duration) -> String + Send,
    work: impl FnOnce() -> T,
) -> T {
    let begin = Instant::now();
    thread::scope(|scope| {
        let (over, ended) = mpsc::channel::<()>();
        scope.spawn(move || {
            let (mut wait, mut said) = (first.min(EVERY), false);
            while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                let elapsed = begin.elapsed();
                let now = line(elapsed);
                wait = EVERY;
                if elapsed >= first {
                    said = true;
                    // A terminal that is gone is told nothing.
                    let _ = write!(out, "\r{now}\x1b[K").and_then(|()| out.flush());
                }
            }
            if said {
                let _ = write!(out, "\r\x1b[K").and_then(|()| out.flush());
            }
        });
        let worked = work();
        drop(over);
        worked
    })
}

/// What a run on a device is told as, of tasks or of a graph of kernels; it knows what it said last.
pub(crate) fn of_run(graph: bool, so_far: impl Fn() -> SoFar) -> impl FnMut(Duration) -> String {
    let mut last = (Duration::ZERO, 0);
    move |elapsed| {
        let now = so_far();
        let since = (elapsed - last.0).as_secs_f64().max(1e-3);
        let rate = now.tasks.saturating_sub(last.1) as f64 / since;
        last = (elapsed, now.tasks);
        let (done, deep) = match graph {
            true => (count(now.tasks, "element", "elements"), String::new()),
            false => (
                count(now.tasks, "task", "tasks"),
                format!(", {} deep", count(now.levels, "level", "levels")),
            ),
        };
        let (seconds, rate) = (elapsed.as_secs(), grouped(rate as u64));
        let memory = Bytes(now.bytes);
        format!("{seconds} s: {done} ({rate} a second){deep}, {memory} on stacks")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test ends there")]

    use super::*;

    #[test]
    fn a_long_run_is_told_of_until_it_is_over_and_a_short_one_is_not() {
        let mut out = Vec::new();
        let mut seen = 0;
        let line = |_| {
            seen += 1;
            format!("line {seen}")
        };
        let done = told(&mut out, Duration::from_millis(1), line, || {
            thread::sleep(Duration::from_millis(400));
            7
        });
        assert_eq!(done, 7);
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("\rline 1\x1b[K\rline 2\x1b[K"), "{text:?}");
        assert!(text.ends_with("\x1b[K\r\x1b[K"), "{text:?}");

        let mut out = Vec::new();
        told(&mut out, FIRST, |_| "late".into(), || ());
        assert!(out.is_empty());
    }

    #[test]
    fn the_rate_is_that_since_the_last_line() {
        let tasks = std::cell::Cell::new(4_000_000);
        let mut line = of_run(false, || SoFar {
            tasks: tasks.get(),
            levels: 30,
            bytes: 3 << 20,
            alive: None,
        });
        assert_eq!(
            line(Duration::from_secs(2)),
            "2 s: 4,000,000 tasks (2,000,000 a second), 30 levels deep, 3 MiB on stacks"
        );
        tasks.set(4_500_000);
        assert_eq!(
            line(Duration::from_millis(2500)),
            "2 s: 4,500,000 tasks (1,000,000 a second), 30 levels deep, 3 MiB on stacks"
        );
        let mut line = of_run(true, || SoFar {
            tasks: 1,
            levels: 1,
            bytes: 0,
            alive: None,
        });
        let said = "1 s: 1 element (1 a second), 0 bytes on stacks";
        assert_eq!(line(Duration::from_secs(1)), said);
    }
}
