//! All contestants in turn, round by round, so that what else the machine does meets each of them alike.

use super::program::{Contestant, Outcome, Program};
use std::time::Instant;

/// A run shorter than this is repeated, and the mean taken.
const SHORT: f64 = 2e-3;

/// What a contestant took for a program.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Times {
    /// The contestant.
    pub(crate) name: &'static str,
    /// Its threads.
    pub(crate) threads: u32,
    /// Seconds of each round, the shortest first.
    pub(crate) seconds: Vec<f64>,
    /// What its fastest round did.
    pub(crate) outcome: Outcome,
}

impl Times {
    /// Milliseconds of the fastest round.
    pub(crate) fn best(&self) -> f64 {
        self.seconds[0] * 1e3
    }

    /// Milliseconds of the median round.
    pub(crate) fn median(&self) -> f64 {
        self.seconds[self.seconds.len() / 2] * 1e3
    }
}

/// Runs a program with each contestant, after a warm-up, `rounds` times, and checks that all came to the same.
pub(crate) fn measure(
    program: Program,
    contestants: &mut [&mut dyn Contestant],
    rounds: usize,
) -> Result<Vec<Times>, String> {
    let mut input = program.input();
    let mut times: Vec<(Times, usize)> = Vec::new();
    let mut expected = None;
    for contestant in &mut *contestants {
        // The warm-up is also the run whose result is checked, and says how often a short run is repeated.
        input.reset();
        let outcome = contestant.run(program, &mut input)?;
        let result = (outcome.answer, input.digest());
        let expected = expected.get_or_insert(result);
        if *expected != result {
            return Err(format!(
                "{program}: {} came to {result:?}, {} to {expected:?}",
                contestant.name(),
                times[0].0.name
            ));
        }
        input.reset();
        let start = Instant::now();
        contestant.run(program, &mut input)?;
        let took = start.elapsed().as_secs_f64();
        let repeats = if took < SHORT && input.is_none() {
            (SHORT / took.max(1e-7)).ceil() as usize
        } else {
            1
        };
        times.push((
            Times {
                name: contestant.name(),
                threads: contestant.threads(),
                seconds: Vec::new(),
                outcome,
            },
            repeats,
        ));
    }
    for _ in 0..rounds {
        for (contestant, (times, repeats)) in contestants.iter_mut().zip(&mut times) {
            input.reset();
            let start = Instant::now();
            let mut outcome = contestant.run(program, &mut input)?;
            for _ in 1..*repeats {
                outcome = contestant.run(program, &mut input)?;
            }
            let seconds = start.elapsed().as_secs_f64() / *repeats as f64;
            if times.seconds.iter().all(|s| seconds < *s) {
                times.outcome = outcome;
            }
            times.seconds.push(seconds);
        }
    }
    Ok(times
        .into_iter()
        .map(|(mut times, _)| {
            times.seconds.sort_by(f64::total_cmp);
            times
        })
        .collect())
}
