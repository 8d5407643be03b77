//! A graph that one thread feeds and another drains for as long as is said: nothing is lost, and nothing comes twice.

use super::report::say;
use millstream::{Device, Graph, RunError};
use serde::Serialize;
use std::{
    thread,
    time::{Duration, Instant},
};

#[millstream::program]
pub(crate) mod steps {
    /// An element on its way.
    #[kernel]
    pub(crate) fn step(number: u64, next: Channel<u64>) {
        next.emit(number + 1);
    }
}

/// What it is called in the table.
pub(crate) const FEED: &str = "feed";

/// How long a graph is fed.
pub(crate) const FED: Duration = Duration::from_secs(60);
/// The same to see that it works.
pub(crate) const QUICK: Duration = Duration::from_secs(1);

/// Elements that are sent at once, and that each channel holds.
const BATCH: u32 = 16_384;

/// What went through a graph.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Fed {
    device: String,
    elements: u64,
    seconds: f64,
}

/// What is known of elements in any order: how many there are, their sum, and the sum of their scrambled squares, all but their low bits left out. A number
/// that is lost, changed or there twice shows in one of them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Seen {
    count: u64,
    sum: u64,
    scrambled: u64,
}

impl Seen {
    fn add(&mut self, number: u64) {
        let mixed = (number ^ number >> 7).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.count += 1;
        self.sum = self.sum.wrapping_add(number);
        self.scrambled = self.scrambled.wrapping_add(mixed.wrapping_mul(mixed) >> 8);
    }
}

/// Says what the lines below are.
pub(crate) fn head() {
    say!(
        "\nA graph of two kernels that one thread feeds and another drains: each element comes out once\n\n\
         | device | elements | seconds | M/s |\n|---|---|---|---|"
    );
}

/// Feeds a graph on a device for so long.
pub(crate) fn feed(device: &Device, name: &str, time: Duration) -> Result<Fed, String> {
    let mut graph = Graph::new(FEED);
    let first = graph.channel("first").width(BATCH).input();
    let second = graph.channel("second").width(BATCH);
    let last = graph.channel("last").width(BATCH).output();
    let step = || steps::kernel::step;
    let node = graph.kernel(step()).named("one");
    node.consumes(&first).produces(&second);
    let node = graph.kernel(step()).named("two");
    node.consumes(&second).produces(&last);
    let (came, _) = graph
        .start(device, |run| {
            // The graph is compiled by now.
            let start = Instant::now();
            thread::scope(|scope| {
                let fed = scope.spawn(|| {
                    let (mut sent, mut next) = (Seen::default(), 0);
                    while start.elapsed() < time {
                        let batch = next..next + u64::from(BATCH);
                        next = batch.end;
                        run.send(&first, batch.clone())?;
                        batch.for_each(|number| sent.add(number + 2));
                    }
                    run.close();
                    Ok::<Seen, RunError>(sent)
                });
                let mut found = Seen::default();
                loop {
                    let some = run.receive(&last)?;
                    if some.is_empty() {
                        break;
                    }
                    some.into_iter().for_each(|number| found.add(number));
                }
                let sent = fed.join().unwrap_or(Err(RunError::Cancelled))?;
                Ok((sent, found, start.elapsed().as_secs_f64()))
            })
        })
        .map_err(|e| e.to_string())?;
    let (sent, found, seconds) = came;
    if sent != found {
        return Err(format!(
            "{name}: {found:?} came out of the graph, and {sent:?} should have"
        ));
    }
    say!(
        "| {name} | {} | {seconds:.1} | {:.1} |",
        found.count,
        found.count as f64 / seconds / 1e6
    );
    Ok(Fed {
        device: name.to_owned(),
        elements: found.count,
        seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_or_there_twice_shows() {
        let of = |numbers: &[u64]| {
            let mut seen = Seen::default();
            numbers.iter().for_each(|n| seen.add(*n));
            seen
        };
        assert_eq!(of(&[1, 2, 3]), of(&[3, 1, 2]));
        for wrong in [&[1, 2][..], &[1, 2, 3, 3], &[1, 3, 2, 0], &[2, 2, 2]] {
            assert_ne!(of(&[1, 2, 3]), of(wrong));
        }
    }

    #[test]
    fn everything_comes_out() {
        let device = Device::cpu().expect("a CPU");
        let fed = feed(&device, "cpu", Duration::from_millis(200)).expect("nothing is lost");
        assert!(fed.elements > 0);
    }
}
