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
//! - Spawns name tasks that combine as the spawn wants, with the element's pieces.
//!
//! Apart from these, [`missing_spawns`] asks whether each spawn of a task stands in some segment.

mod body;
mod fields;

use millstream_graph::{
    flow::Flow,
    ir::{FuncId, Function, Span, StmtKind},
    levelized::Levelized,
};
use std::collections::BTreeMap;

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
    for task in &program.tasks {
        let before = errors.len();
        if task.segments.is_empty() {
            errors.push(CheckError {
                segment: task.name.clone(),
                what: "no entry segment".into(),
            });
            continue;
        }
        for i in 0..task.segments.len() {
            body::check(program, task, i, &mut errors);
        }
        // The other rules are about programs whose blocks, locals and fields exist.
        if errors.len() == before {
            fields::check(task, &mut errors);
        }
    }
    errors
}

/// Gives the spawns of each task that stand in none of its segments; of several in one place of the source, too few. A right lowering may
/// drop a spawn too: one that a segment, knowing where it starts, finds to be unreachable. So this is for tests.
#[must_use]
pub fn missing_spawns(program: &Levelized) -> Vec<CheckError> {
    let mut errors = Vec::new();
    for task in &program.tasks {
        let mut kept = BTreeMap::new();
        for segment in &task.segments {
            spawn_sites(&segment.body)
                .into_iter()
                .for_each(|(site, n)| *kept.entry(site).or_insert(0) += n);
        }
        for ((func, span), n) in spawn_sites(&program.program[task.func]) {
            if kept.get(&(func, span)).is_none_or(|k| *k < n) {
                let what = format!(
                    "a spawn of `{}` at {}:{} is gone",
                    program.program[func].name, span.line, span.col
                );
                errors.push(CheckError {
                    segment: task.name.clone(),
                    what,
                });
            }
        }
    }
    errors
}

fn spawn_sites(function: &Function) -> BTreeMap<(FuncId, Span), usize> {
    let mut out = BTreeMap::new();
    for block in Flow::new(function).order() {
        for stmt in &function.blocks[block.index()].stmts {
            if let StmtKind::Spawn { func, .. } = stmt.kind {
                *out.entry((func, stmt.span)).or_insert(0) += 1;
            }
        }
    }
    out
}
