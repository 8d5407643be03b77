//! One function for each way the result of a task is combined with what its destination holds, so that a return knows it statically.
//!
//! Each task keeps its function, which stores: root calls use it. (Tasks that were made have no root calls: one of them keeps it only if it is spawned so.) A task that some spawn combines otherwise gets a copy, `count+add`.

use millstream_graph::{
    flow::CallGraph,
    ir::{Combine, FuncId, Function, FunctionKind, Program, StmtKind},
};
use std::collections::BTreeMap;

/// Makes the copies and lets spawns name them. Gives the tasks with their ways of combining, in order of
/// their functions, those that can be called first.
pub(crate) fn specialise(program: &mut Program) -> Vec<(FuncId, Combine)> {
    // What was made of loops of a task that runs them itself is nobody's child.
    let spawns_of = CallGraph::of_spawns(program);
    let mut is_come_to = vec![false; program.functions.len()];
    for (id, _) in program.callable() {
        let reached = spawns_of.reached(id);
        is_come_to
            .iter_mut()
            .zip(reached)
            .for_each(|(all, one)| *all |= one);
    }
    let mut tasks: Vec<_> = program
        .tasks()
        // A graph's nodes have names of their own, and the graph runs them.
        .filter(|(id, task)| {
            !task.is_made()
                || !program.channels.is_empty()
                || (is_come_to[id.index()] && is_stored(program, *id))
        })
        .map(|(id, _)| (id, Combine::Store))
        .collect();
    // Those that can be called have the same numbers wherever the program is lowered for.
    tasks.sort_by_key(|(id, _)| program[*id].is_made());
    let mut copies: BTreeMap<(FuncId, Combine), FuncId> = BTreeMap::new();
    // A copy spawns what its original spawns; so the originals' spawns name all that is needed, and copies are made of rewritten ones.
    let is_needed = |(id, task): &(FuncId, &Function)| {
        !task.is_made() || !program.channels.is_empty() || is_come_to[id.index()]
    };
    let originals: Vec<FuncId> = program
        .tasks()
        .filter(is_needed)
        .map(|(id, _)| id)
        .collect();
    for caller in originals {
        for (func, combine) in spawns(program, caller) {
            copies.entry((func, combine)).or_insert_with(|| {
                let mut copy = program[func].clone();
                copy.name = program.free_name(format!("{}+{combine}", copy.name), "'");
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
                && let Some(copy) = copies.get(&(*func, dest.combine))
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
