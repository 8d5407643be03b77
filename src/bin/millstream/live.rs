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
    let mut last = (Duration::ZERO, SoFar::default());
    move |elapsed| {
        let now = so_far();
        let since = (elapsed - last.0).as_secs_f64().max(1e-3);
        let rate = |now: u64, before: u64| {
            let rate = now.saturating_sub(before) as f64 / since;
            format!("({} a second)", grouped(rate as u64))
        };
        let mut parts = Vec::new();
        // A kernel of a GPU that decides by itself says only how many dispatches there were.
        if now.tasks > 0 || now.dispatches.is_none() {
            let done = match graph {
                true => count(now.tasks, "element", "elements"),
                false => count(now.tasks, "task", "tasks"),
            };
            parts.push(format!("{done} {}", rate(now.tasks, last.1.tasks)));
        }
        if let Some(dispatches) = now.dispatches {
            let before = last.1.dispatches.unwrap_or(0);
            let rate = rate(dispatches, before);
            parts.push(format!(
                "{} {rate}",
                count(dispatches, "dispatch", "dispatches")
            ));
        }
        if !graph {
            parts.push(format!("{} deep", count(now.levels, "level", "levels")));
        }
        if let Some(alive) = now.alive {
            parts.push(format!("{} alive", count(alive, "element", "elements")));
        }
        let memory = Bytes(now.bytes);
        parts.push(match graph && now.alive.is_some() {
            true => format!("{memory} of channels"),
            false => format!("{memory} on stacks"),
        });
        last = (elapsed, now);
        format!("{} s: {}", elapsed.as_secs(), parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test ends there")]

    use super::*;

    #[test]
    fn a_long_run_is_told_of_until_it_is_over_and_a_short_one_is_not() {
        let mut out = Vec::new();
        let (said, heard) = mpsc::channel();
        let mut seen = 0;
        let line = |_| {
            seen += 1;
            said.send(()).unwrap();
            format!("line {seen}")
        };
        let done = told(&mut out, Duration::from_millis(1), line, || {
            (0..2).for_each(|_| heard.recv().unwrap());
            7
        });
        assert_eq!(done, 7);
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("\rline 1\x1b[K\rline 2\x1b[K"), "{text:?}");
        assert!(text.ends_with("\x1b[K\r\x1b[K"), "{text:?}");

        let mut out = Vec::new();
        told(&mut out, Duration::from_secs(60), |_| "late".into(), || ());
        assert!(out.is_empty());
    }

    #[test]
    fn a_gpu_is_told_of_by_what_its_host_knows() {
        let so_far = std::cell::Cell::new(SoFar {
            tasks: 1_000_000,
            levels: 17,
            bytes: 2 << 30,
            alive: Some(60_000),
            dispatches: Some(500),
        });
        let mut line = of_run(false, || so_far.get());
        assert_eq!(
            line(Duration::from_secs(1)),
            "1 s: 1,000,000 tasks (1,000,000 a second), 500 dispatches (500 a second), 17 levels deep, 60,000 elements alive, 2 GiB on stacks"
        );
        so_far.set(SoFar {
            dispatches: Some(90_500),
            ..so_far.get()
        });
        assert!(
            line(Duration::from_secs(2))
                .contains("(0 a second), 90,500 dispatches (90,000 a second)")
        );
        so_far.set(SoFar {
            tasks: 0,
            bytes: 1 << 20,
            ..so_far.get()
        });
        let mut line = of_run(true, || so_far.get());
        assert_eq!(
            line(Duration::from_secs(10)),
            "10 s: 90,500 dispatches (9,050 a second), 60,000 elements alive, 1 MiB of channels"
        );
    }

    #[test]
    fn the_rate_is_that_since_the_last_line() {
        let tasks = std::cell::Cell::new(4_000_000);
        let mut line = of_run(false, || SoFar {
            tasks: tasks.get(),
            levels: 30,
            bytes: 3 << 20,
            ..SoFar::default()
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
            ..SoFar::default()
        });
        let said = "1 s: 1 element (1 a second), 0 bytes on stacks";
        assert_eq!(line(Duration::from_secs(1)), said);
    }
}
