//! Each way to a task's end gets a return of its own: `if n < 2 { n } else { let x = spawn!(..); ..; sync!(); x + y }` is as good as the same with a `return n;`.
//!
//! The value of an `if` or `match` is one local that several ways assign, and one return reads. What is done with a value that a task returns
//! ([`reduce`](super::reduce)) is known of a value that is assigned once.

use super::simplify;
use millstream_graph::ir::{
    BlockId, Function, FunctionKind, Program, Rvalue, Stmt, StmtKind, Terminator,
};
use std::collections::BTreeSet;

/// So many copies are made on the way to an end, at most.
const MOST: usize = 4;

/// Gives the syncs of each task that lead to one return a return each.
pub(crate) fn part(program: &mut Program) {
    let tasks = program.functions.iter_mut();
    for task in tasks.filter(|f| f.kind == FunctionKind::Task) {
        if part_one(task) {
            simplify::simplify(task, None);
        }
    }
}

fn part_one(function: &mut Function) -> bool {
    let mut changed = false;
    // What is chosen in a choice is copied once more.
    while copy_ends(function) {
        changed = true;
    }
    let mut seen = BTreeSet::new();
    for i in 0..function.blocks.len() {
        let Terminator::Sync(end) = function.blocks[i].term else {
            continue;
        };
        if is_return(function, end) && !seen.insert(end) {
            let own = BlockId::new(function.blocks.len());
            let copy = function.blocks[end.index()].clone();
            function.blocks.push(copy);
            function.blocks[i].term = Terminator::Sync(own);
            changed = true;
        }
    }
    changed
}

/// A block that does nothing but return.
fn is_return(function: &Function, block: BlockId) -> bool {
    let block = &function.blocks[block.index()];
    block.stmts.is_empty() && matches!(block.term, Terminator::Return(_))
}

/// Puts a block that only copies the value, syncs and returns where something jumps to it.
fn copy_ends(function: &mut Function) -> bool {
    let mut changed = false;
    for i in 0..function.blocks.len() {
        let Terminator::Goto(to) = function.blocks[i].term else {
            continue;
        };
        let end = function.blocks[to.index()].clone();
        let copies = |s: &Stmt| {
            let StmtKind::Assign { value, .. } = &s.kind else {
                return false;
            };
            matches!(value, Rvalue::Use(_))
        };
        let ends = matches!(end.term, Terminator::Sync(last) if is_return(function, last));
        if ends && end.stmts.len() <= MOST && end.stmts.iter().all(copies) {
            let block = &mut function.blocks[i];
            block.stmts.extend(end.stmts);
            block.term = end.term;
            changed = true;
        }
    }
    changed
}
