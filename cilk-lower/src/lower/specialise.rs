//! One function for each way the result of a task is combined with what its destination holds, so that a return knows it statically.
//!
//! Each task keeps its function, which stores: root calls use it. (Tasks that were made have no root calls: one of them keeps it only if it is spawned so.) A task that some spawn combines otherwise gets a copy, `count+add`.

use millstream_graph::ir::{Combine, FuncId, FunctionKind, Program, StmtKind};
use std::collections::BTreeMap;

/// Makes the copies and lets spawns name them. Gives the tasks with their ways of combining, in order of their functions.
pub(crate) fn specialise(program: &mut Program) -> Vec<(FuncId, Combine)> {
    let mut tasks: Vec<_> = program
        .tasks()
        // A graph's nodes have names of their own, and the graph runs them.
        .filter(|(id, task)| {
            !task.is_made() || !program.channels.is_empty() || is_stored(program, *id)
        })
        .map(|(id, _)| (id, Combine::Store))
        .collect();
    let mut copies: BTreeMap<(FuncId, &'static str), FuncId> = BTreeMap::new();
    // A copy spawns what its original spawns; so the originals' spawns name all that is needed, and copies are made of rewritten ones.
    let originals: Vec<FuncId> = program.tasks().map(|(id, _)| id).collect();
    for caller in originals {
        for (func, combine) in spawns(program, caller) {
            copies.entry((func, combine.name())).or_insert_with(|| {
                let mut copy = program[func].clone();
                copy.name = format!("{}+{}", copy.name, combine.name());
                program.functions.push(copy);
                let id = FuncId::new(program.functions.len() - 1);
                tasks.push((id, combine));
                id
            });
        }
    }
    for function in program
        .functions
        .iter_mut()
        .filter(|f| f.kind == FunctionKind::Task)
    {
        for stmt in function.blocks.iter_mut().flat_map(|b| &mut b.stmts) {
            if let StmtKind::Spawn {
                func,
                dest: Some(dest),
                ..
            } = &mut stmt.kind
                && let Some(copy) = copies.get(&(*func, dest.combine.name()))
            {
                *func = *copy;
            }
        }
    }
    tasks
}

/// Whether some child of the task stores its result, or has none.
fn is_stored(program: &Program, task: FuncId) -> bool {
    program.functions.iter().any(|f| {
        f.stmts().any(|s| match &s.kind {
            StmtKind::Spawn { func, dest, .. } => {
                let way = dest.as_ref().map_or(Combine::Store, |dest| dest.combine);
                *func == task && way == Combine::Store
            }
            _ => false,
        })
    })
}

/// The tasks that a task spawns with another way of combining than a store.
fn spawns(program: &Program, caller: FuncId) -> Vec<(FuncId, Combine)> {
    let stmts = program[caller].stmts();
    stmts
        .filter_map(|s| match &s.kind {
            StmtKind::Spawn {
                func,
                dest: Some(dest),
                ..
            } if dest.combine != Combine::Store => Some((*func, dest.combine)),
            _ => None,
        })
        .collect()
}
