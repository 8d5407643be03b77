//! A job in the interpreter: the same run, one step after another, measured.

use super::{
    call::{Arg, View},
    data::Data,
    error::{JobError, Problem},
    run::{Outcome, Prepared, What},
};
use millstream_aggregator::{ErasedArg, RunError, RunReport};
use millstream_graph::{
    interp::{ArgValue, Interp, InterpError, Limits, Profile, Progress},
    ty::Structs,
};
use std::{collections::BTreeMap, sync::Arc};

/// What a profiled run gave.
#[derive(Debug)]
pub struct Profiled {
    /// What every run gives; of its report only the tasks.
    pub outcome: Outcome,
    /// What was measured.
    pub profile: Profile,
}

impl Prepared {
    /// Runs it in the interpreter, where it takes at most so many steps, and measures its work and span; else as [`run`](Self::run) does.
    ///
    /// # Errors
    /// If it is a graph of kernels, which has no span, or takes more steps, or if a run would fail.
    pub fn profile(mut self, steps: u64, progress: Arc<Progress>) -> Result<Profiled, JobError> {
        let [step] = &self.steps[..] else {
            return Err(no_span());
        };
        let What::Task(task) = step.what else {
            return Err(no_span());
        };
        let (program, name) = (&self.loaded.program, &self.loaded.lowered[task].name);
        let func = program
            .find(name)
            .ok_or_else(|| Problem::new(format!("there is no task `{name}`")))?;
        let mut interp = Interp::new(program).with_limits(Limits {
            steps,
            ..Limits::default()
        });
        let mut lent = BTreeMap::new();
        let mut pieces = Vec::new();
        for arg in &self.args[step.args.clone()] {
            let mut memory = |name: &str, data: &Data| {
                *lent.entry(name.to_owned()).or_insert_with(|| {
                    // Words, as on devices.
                    interp.alloc(data.bytes().to_vec(), 8)
                })
            };
            lend(
                arg,
                &self.buffers,
                &program.structs,
                &mut memory,
                &mut pieces,
            );
        }
        interp.measure(progress);
        let ran = interp.call(func, &pieces);
        let profile = interp.profile();
        for (name, address) in &lent {
            if let Some(data) = self.buffers.get_mut(name) {
                data.bytes_mut().copy_from_slice(interp.read(*address));
            }
        }
        let (Ok(result), Some(profile)) = (&ran, profile) else {
            return Err(self.refused(ran.err()));
        };
        let mut report = RunReport::default();
        report.total = profile.work.tasks;
        let outcome = self.finish(result, report)?;
        Ok(Profiled { outcome, profile })
    }

    /// Why the interpreter ended.
    fn refused(&self, error: Option<InterpError>) -> JobError {
        match error {
            Some(InterpError::Fault(fault)) => self.failed(&RunError::Fault(fault)),
            Some(
                error @ (InterpError::StepLimit(_)
                | InterpError::RecursionLimit(_)
                | InterpError::MemoryLimit(_)),
            ) => Problem::new(format!("{} is too large to be profiled: {error}", self.call()))
                .help("profile a smaller call: the interpreter runs it serially, and `--steps` says how far")
                .into(),
            Some(error) => Problem::new(error.to_string()).into(),
            None => Problem::new("the run was not measured").into(),
        }
    }
}

fn no_span() -> JobError {
    Problem::new("a graph of kernels cannot be profiled")
        .help(
            "its elements wait for nothing but room, so that it has no span: `millstream run --stats` says what its kernels and channels did",
        )
        .into()
}

/// The pieces of an argument.
fn lend(
    arg: &Arg,
    buffers: &BTreeMap<String, Data>,
    structs: &Structs,
    memory: &mut impl FnMut(&str, &Data) -> u64,
    out: &mut Vec<ArgValue>,
) {
    match arg {
        Arg::Value(bytes, ty) => {
            let pieces = Arg::value_pieces(bytes, ty, structs).into_iter();
            out.extend(pieces.filter_map(|piece| match piece {
                ErasedArg::Scalar(bits) => Some(ArgValue::Scalar(bits)),
                ErasedArg::Blob(bytes) => Some(ArgValue::Blob(bytes)),
                // A value holds no references.
                _ => None,
            }));
        }
        Arg::Parts(parts) => {
            for part in parts {
                lend(part, buffers, structs, memory, out);
            }
        }
        Arg::Buffer { name, view, .. } => {
            let address = buffers.get(name).map_or(0, |data| memory(name, data));
            out.push(ArgValue::Scalar(address));
            let sizes = match view {
                View::Ref => vec![],
                View::Slice(len) => vec![*len],
                View::Matrix(rows, cols) => vec![*rows, *cols, *cols],
            };
            out.extend(sizes.into_iter().map(ArgValue::Scalar));
        }
    }
}
