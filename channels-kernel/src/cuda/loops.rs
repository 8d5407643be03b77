//! Loops whose lanes go on together when they have left.
//!
//! Lanes of a warp leave a loop at different turns. The compiler has them wait for each other where all ways out of the loop join; but one way out of nearly
//! every loop is the end of the whole function, for a check may fail and the run be over, and so each lane would go on to the end by itself. Here all ways
//! out of a loop lead to one place behind it (`regroup`), and from there each goes on.
//!
//! Lanes do not wait by a mask of their own: lanes that came to a loop at different times may meet in it, and would wait for each other's for good.
//! Loops that look at what an atomic operation found are left alone: a lane may wait in one for what another lane does behind it.

use super::analysis;
use millstream_graph::ir::{BlockId, FuncId, Function, Operand, Program, StmtKind};
use std::collections::BTreeSet;

/// A loop whose ways out join.
#[derive(Debug)]
pub(super) struct Loop {
    /// Its only way in.
    pub header: BlockId,
    /// For each block whether it is one of the loop's.
    pub inside: Vec<bool>,
    /// Where its ways out lead.
    pub exits: Vec<BlockId>,
    /// The smallest loop around it, by its place in the list.
    pub parent: Option<usize>,
}

/// Finds them; `polled` are the edges that close a loop and may leave the function.
pub(super) fn find(
    program: &Program,
    function: &Function,
    polled: &BTreeSet<(BlockId, BlockId)>,
) -> Vec<Loop> {
    let headers: BTreeSet<BlockId> = polled.iter().map(|(_, to)| *to).collect();
    let mut loops: Vec<Loop> = headers
        .into_iter()
        .filter_map(|header| one(program, function, header))
        .collect();
    for i in 0..loops.len() {
        loops[i].parent = smallest(&loops, |l| {
            l != i && loops[l].inside[loops[i].header.index()]
        });
    }
    loops
}

/// The smallest loop of the list that a block is in.
pub(super) fn around(loops: &[Loop], block: BlockId) -> Option<usize> {
    smallest(loops, |l| loops[l].inside[block.index()])
}

fn smallest(loops: &[Loop], is_meant: impl Fn(usize) -> bool) -> Option<usize> {
    (0..loops.len())
        .filter(|l| is_meant(*l))
        .min_by_key(|l| loops[*l].inside.iter().filter(|x| **x).count())
}

fn one(program: &Program, function: &Function, header: BlockId) -> Option<Loop> {
    let mut inside = vec![false; function.blocks.len()];
    for (from, _) in analysis::back_edges(function)
        .into_iter()
        .filter(|(_, to)| *to == header)
    {
        for (i, also) in analysis::loop_blocks(function, from, header)
            .into_iter()
            .enumerate()
        {
            inside[i] |= also;
        }
    }
    let blocks = || function.blocks.iter().enumerate();
    let enters = |from: usize, to: BlockId| !inside[from] && inside[to.index()] && to != header;
    let one_way_in = header != BlockId(0)
        && !inside[0]
        && !blocks().any(|(i, b)| b.term.targets().into_iter().any(|to| enters(i, to)));
    let own = || blocks().filter(|(i, _)| inside[*i]).map(|(_, b)| b);
    let waits = own()
        .flat_map(|b| &b.stmts)
        .any(|s| may_wait(program, function, &s.kind, &mut BTreeSet::new()));
    let exits: BTreeSet<BlockId> = own()
        .flat_map(|b| b.term.targets())
        .filter(|to| !inside[to.index()])
        .collect();
    (one_way_in && !waits).then(|| Loop {
        header,
        exits: exits.into_iter().collect(),
        inside,
        parent: None,
    })
}

/// Whether a statement in a loop may be what it waits for others by: it asks what an atomic operation found.
fn may_wait(
    program: &Program,
    function: &Function,
    stmt: &StmtKind,
    seen: &mut BTreeSet<FuncId>,
) -> bool {
    match stmt {
        StmtKind::Atomic {
            dst: Some(found), ..
        } => {
            let asks = |operands: Vec<Operand>| operands.contains(&Operand::Local(*found));
            function
                .blocks
                .iter()
                .any(|b| b.stmts.iter().any(|s| asks(s.kind.operands())) || asks(b.term.operands()))
        }
        StmtKind::Call { func, .. } => {
            let callee = &program[*func];
            seen.insert(*func)
                && callee
                    .blocks
                    .iter()
                    .flat_map(|b| &b.stmts)
                    .any(|s| may_wait(program, callee, &s.kind, seen))
        }
        _ => false,
    }
}
