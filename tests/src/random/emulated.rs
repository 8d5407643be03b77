//! Random programs on the emulated GPU.

use super::{
    choices::Choices,
    function::Sample,
    run::{interpret, places},
};
use crate::{
    emulator::{Emulator, How},
    engine::{emulate, is_memory, prepare},
};
use millstream_aggregator::{Aggregator, Policy, RunError};
use millstream_channels_kernel::cuda::Plan;
use millstream_cilk_lower::SourceError;
use millstream_graph::{interp::InterpError, levelized::Levelized, ty::Type};

/// Calls of more tasks are left out: threads of this computer take their time at barriers.
const MOST_TASKS: u64 = 400;
/// Bytes of a run: room for all, and so little that most is given back, moved and tried again.
const MEMORY: [u64; 4] = [4 << 20, 64 << 10, 24 << 10, 10 << 10];

/// How a program's text is made ready for the emulated GPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Emulated {
    /// As it is.
    Plain,
    /// With its accesses of memory watched.
    Watched,
    /// Single rounds of its parallel loops are always taken by such a team, where the loop can be shared out so.
    By(Team),
}

/// Who takes single rounds of a parallel loop: a GPU decides by how many there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Team {
    /// A lane.
    Lane,
    /// A warp, which shares out the loops in a round.
    Warp,
    /// One block or several.
    Blocks,
}

impl Team {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Lane, Self::Warp, Self::Blocks];

    /// A program's text where it takes all rounds that it can, however many there are.
    fn force(self, text: &str) -> String {
        let own = match self {
            Self::Lane => "BY_LANES",
            Self::Warp => "BY_WARPS",
            Self::Blocks => "BY_BLOCKS",
        };
        let line = |line: &str| {
            let mut parts: Vec<&str> = line.split(", ").collect();
            // The crew, whether the master's own block may have it, which loop, who takes rounds.
            if line.trim_start().starts_with("share_out<") && parts[3].contains(own) {
                parts[3] = own;
            }
            parts.join(", ") + "\n"
        };
        text.lines().map(line).collect()
    }
}

impl Emulated {
    fn make(self, program: &Levelized) -> Result<Emulator, String> {
        match self {
            Self::Plain => Emulator::new(program),
            Self::Watched => Emulator::watched(program),
            Self::By(team) => Emulator::with_text(program, |text| team.force(&text)),
        }
    }
}

/// Runs a program by all who decide, some of it in little memory, in interleavings that `seed` says: how many runs ended well, or what differs from the
/// interpreter. None run of a program that is to be run by some team and shares nothing out.
///
/// # Errors
/// What is wrong.
///
/// # Panics
/// If there is no C++ compiler.
pub fn emulate_sample(sample: &Sample, seed: u64, text: Emulated) -> Result<u64, String> {
    let prepared = prepare(&sample.source, "random.rs").map_err(|e| match e {
        SourceError::Source(all) => format!("the front end refuses it:\n{}", places(&all)),
        e => format!("the front end refuses it: {e}"),
    })?;
    let func = prepared.program.find(&sample.task).unwrap();
    let most_blocks = match text {
        Emulated::Plain | Emulated::Watched => 3,
        Emulated::By(_) if !Plan::new(&prepared.levelized, MEMORY[0]).has_regions() => {
            return Ok(0);
        }
        // Crews of one block and of several, and several of them.
        Emulated::By(_) => 7,
    };
    let mut emulator = None;
    let (mut c, mut ran) = (Choices::seeded(seed ^ 0xe3), 0);
    for call in &sample.calls {
        let expected = match interpret(&prepared.program, func, call) {
            Ok((_, tasks)) if tasks > MOST_TASKS => continue,
            Ok((outcome, _)) => Some(outcome),
            Err(InterpError::Fault(_)) => None,
            Err(_) => continue,
        };
        if emulator.is_none() {
            emulator = Some(text.make(&prepared.levelized)?);
        }
        let emulator = emulator.as_mut().unwrap();
        let inside = if c.chance(30) {
            Policy::Block
        } else {
            Policy::Device
        };
        for (i, (aggregator, policy)) in [
            (Aggregator::Persistent, Policy::Device),
            (Aggregator::HostThread, Policy::Device),
            (Aggregator::Auto, inside),
        ]
        .into_iter()
        .enumerate()
        {
            let how = How {
                policy,
                ..How::new(aggregator, 1 + c.below(most_blocks), c.pick(&MEMORY))
                    .interleaved(seed + i as u64)
            };
            let found = emulate(emulator, how, &prepared, &sample.task, call);
            match (found, &expected) {
                (Ok((found, _)), Some(outcome)) => {
                    let after = found.after.iter().zip(&prepared.program[func].params);
                    let lent = after.filter(|(_, param)| {
                        matches!(param.ty, Type::Slice { .. } | Type::Ref { .. })
                    });
                    let found: Vec<String> = std::iter::once(&found.result)
                        .chain(lent.map(|(text, _)| text))
                        .cloned()
                        .collect();
                    if found != *outcome {
                        return Err(format!(
                            "call({}), {how:?}\n  interpreter: {}\n  emulated:    {}",
                            call.join(", "),
                            outcome.join(" | "),
                            found.join(" | ")
                        ));
                    }
                    ran += 1;
                }
                (Err(RunError::Fault(_)), None) => ran += 1,
                (Err(e), _) if how.memory < MEMORY[0] && is_memory(&e) => {}
                (found, _) => {
                    let found = found.map(|(outcome, _)| outcome);
                    return Err(format!("call({}), {how:?}: {found:?}", call.join(", ")));
                }
            }
        }
    }
    Ok(ran)
}
