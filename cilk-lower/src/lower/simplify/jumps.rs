//! Jumps: goes straight to where a jump to an empty block leads, decides branches on constants, joins blocks in a chain.

use crate::lower::edit;
use millstream_graph::ir::{Block, BlockId, Function, Operand, Terminator};

/// Straightens the control flow of a function. Says whether anything changed.
pub(crate) fn straighten(function: &mut Function) -> bool {
    let before = function.blocks.len();
    let mut changed = false;
    for i in 0..function.blocks.len() {
        let mut term = std::mem::replace(&mut function.blocks[i].term, Terminator::Unreachable);
        term.targets_mut(|t| {
            let to = follow(&function.blocks, *t);
            changed |= to != *t;
            *t = to;
        });
        if let Some(next) = decided(&term) {
            term = Terminator::Goto(next);
            changed = true;
        }
        if let Terminator::Goto(next) = term
            && next.index() != i
            && function.blocks[next.index()].stmts.is_empty()
            && matches!(
                function.blocks[next.index()].term,
                Terminator::Return(_) | Terminator::Sync(_) | Terminator::Continue(_)
            )
        {
            let target = &function.blocks[next.index()];
            term = target.term.clone();
            function.blocks[i].span = target.span;
            changed = true;
        }
        function.blocks[i].term = term;
    }
    edit::drop_unreachable(function);
    join(function);
    changed || function.blocks.len() != before
}

/// Where a jump to a block ends up, past blocks that do nothing but jump on.
fn follow(blocks: &[Block], mut block: BlockId) -> BlockId {
    for _ in 0..blocks.len() {
        match &blocks[block.index()] {
            Block {
                stmts,
                term: Terminator::Goto(next),
                ..
            } if stmts.is_empty() => block = *next,
            _ => break,
        }
    }
    block
}

/// The one block that a branch or switch can go to.
pub(super) fn decided(term: &Terminator) -> Option<BlockId> {
    match term {
        Terminator::Branch { then, other, .. } if then == other => Some(*then),
        Terminator::Branch {
            cond: Operand::Const(_, bits),
            then,
            other,
        } => Some(if *bits != 0 { *then } else { *other }),
        Terminator::Switch {
            value: Operand::Const(_, bits),
            arms,
            other,
        } => Some(
            arms.iter()
                .find(|(b, _)| b == bits)
                .map_or(*other, |(_, b)| *b),
        ),
        Terminator::Switch { arms, other, .. } if arms.iter().all(|(_, b)| b == other) => {
            Some(*other)
        }
        _ => None,
    }
}

/// Joins each block with the one it goes to, if nothing else goes there.
fn join(function: &mut Function) {
    let mut entries = vec![0u32; function.blocks.len()];
    for block in &function.blocks {
        block.term.targets().for_each(|t| entries[t.index()] += 1);
    }
    for i in 0..function.blocks.len() {
        while let Terminator::Goto(next) = function.blocks[i].term {
            if entries[next.index()] != 1 || next.index() == i || next.index() == 0 {
                break;
            }
            let tail = std::mem::replace(
                &mut function.blocks[next.index()],
                Block {
                    stmts: Vec::new(),
                    term: Terminator::Unreachable,
                    span: millstream_graph::ir::Span::default(),
                },
            );
            // The joined block is gone; nothing goes to it any more.
            entries[next.index()] = 0;
            let block = &mut function.blocks[i];
            block.stmts.extend(tail.stmts);
            block.term = tail.term;
            block.span = tail.span;
        }
    }
    edit::drop_unreachable(function);
}
