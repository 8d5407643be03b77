//! Checks a levelized program, knowing nothing of how it was made.
//!
//! - Control flow: blocks exist, nothing jumps to the first, no sync is left, a continue names a continuation of the task.
//! - Arguments are the fields of the element, in order and type; a continuation has none.
//! - Each local is assigned on every path before it is read, with a value of its type.
//! - An entry reserves its frame at most once on each path, and before it uses it; a continuation never does.
//! - A scalar field is loaded only where every path of the task has written it: a store, or a child's result and the sync behind it.
//! - The return address comes from the element or from one field of the frame that holds nothing else, and nothing overwrites it; each path
//!   ends in a return with the pieces of the result, or in a continue.
//! - No address of a segment's slot goes to a child, to the frame, or to another segment.
//! - Where there are restart points, room is asked for before each push of what a loop spawns.
//! - Spawns name tasks that combine as the spawn wants, with the element's pieces; emits name channels, with theirs.

mod body;
mod fields;

use millstream_graph::levelized::Levelized;

/// A rule that a levelized program breaks.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{segment}`: {what}")]
pub struct CheckError {
    /// The segment, or the task if it is about all of its segments.
    pub segment: String,
    /// What is wrong.
    pub what: String,
}

/// Gives every rule that the program breaks.
#[must_use]
pub fn check(program: &Levelized) -> Vec<CheckError> {
    let mut errors = Vec::new();
    for (t, task) in program.tasks() {
        let before = errors.len();
        if task.segments.is_empty() {
            errors.push(CheckError {
                segment: task.name.clone(),
                what: "no entry segment".into(),
            });
            continue;
        }
        for i in 0..task.segments.len() {
            body::check(program, t, i, &mut errors);
        }
        // The other rules are about programs whose blocks, locals and fields exist.
        if errors.len() == before {
            fields::check(program, t, &mut errors);
        }
    }
    errors
}
