//! Whether each spawn of a task stands in some segment.

use super::apart::apart;
use millstream_cilk_lower::lower::check::CheckError;
use millstream_graph::{
    flow::Flow,
    ir::{FuncId, Function, Span, StmtKind},
    levelized::Levelized,
};
use std::collections::BTreeMap;

/// Gives the spawns of each task that stand in none of its segments; of several in one place of the source, too few. A right lowering may
/// drop a spawn too: one that a segment, knowing where it starts, finds to be unreachable.
pub(super) fn missing_spawns(program: &Levelized) -> Vec<CheckError> {
    let mut errors = Vec::new();
    for task in &apart(program).tasks {
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
