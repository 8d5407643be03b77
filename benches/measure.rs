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
        let outcome = contestant.run(program, &mut input, true)?;
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
        contestant.run(program, &mut input, false)?;
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
            let mut outcome = contestant.run(program, &mut input, *repeats == 1)?;
            for _ in 1..*repeats {
                contestant.run(program, &mut input, false)?;
            }
            let seconds = start.elapsed().as_secs_f64() / *repeats as f64;
            if *repeats > 1 {
                // The first run that tells has to fetch the code for that.
                contestant.run(program, &mut input, true)?;
                outcome = contestant.run(program, &mut input, true)?;
            }
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

/// Runs each in turn, round by round, after a warm-up, which is round 0; `run` looks at what it came to, too. Who gives none in the warm-up is left
/// out.
pub(crate) fn in_turn<C, T>(
    contestants: Vec<C>,
    rounds: usize,
    mut run: impl FnMut(&mut C, usize) -> Result<Option<T>, String>,
) -> Result<Vec<(C, Vec<T>)>, String> {
    let mut left = Vec::new();
    for mut contestant in contestants {
        if run(&mut contestant, 0)?.is_some() {
            left.push((contestant, Vec::new()));
        }
    }
    for round in 1..=rounds {
        for (contestant, took) in &mut left {
            took.extend(run(contestant, round)?);
        }
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_turn_in_each_round() {
        let mut turns = Vec::new();
        let found = in_turn(vec!['a', 'b', 'c'], 2, |who, round| {
            turns.push((*who, round));
            Ok((*who != 'b').then_some(round))
        });
        let left = [
            ('a', 0),
            ('b', 0),
            ('c', 0),
            ('a', 1),
            ('c', 1),
            ('a', 2),
            ('c', 2),
        ];
        assert_eq!(turns, left);
        assert_eq!(found, Ok(vec![('a', vec![1, 2]), ('c', vec![1, 2])]));
    }
}
