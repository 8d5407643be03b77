//! Loops whose lanes go on together when they have left.
//!
//! Lanes of a warp leave a loop at different turns. The compiler has them wait for each other where all ways out of the loop join; but one way out of nearly
//! every loop is the end of the whole function, for a check may fail and the run be over, and so each lane would go on to the end by itself. Here all ways
//! out of a loop lead to one place behind it (`regroup`), and from there each goes on.
//!
//! Lanes do not wait by a mask of their own: lanes that came to a loop at different times may meet in it, and would wait for each other's for good.
//! Loops that look at what an atomic operation found are left alone: a lane may wait in one for what another lane does behind it.

use millstream_graph::{
    flow::{BlockSet, Edge, Flow},
    ir::{
        BinOp, BlockId, FuncId, Function, LocalId, Operand, Program, Rvalue, StmtKind, Terminator,
    },
};
use std::collections::BTreeSet;

/// A loop whose ways out join.
#[derive(Debug)]
pub(super) struct Loop {
    /// Its only way in.
    pub header: BlockId,
    /// Its blocks.
    pub inside: BlockSet,
    /// Where its ways out lead.
    pub exits: Vec<BlockId>,
    /// The smallest loop around it, by its place in the list.
    pub parent: Option<usize>,
}

/// Finds them; `polled` are the edges that close a loop and may leave the function.
pub(super) fn find(
    program: &Program,
    function: &Function,
    flow: &Flow,
    polled: &BTreeSet<Edge>,
) -> Vec<Loop> {
    let headers: BTreeSet<BlockId> = polled.iter().map(|(_, to)| *to).collect();
    let mut loops: Vec<Loop> = headers
        .into_iter()
        .filter_map(|header| one(program, function, flow, header))
        .collect();
    for i in 0..loops.len() {
        loops[i].parent = smallest(&loops, |l| {
            l != i && loops[l].inside.contains(loops[i].header)
        });
    }
    loops
}

/// The smallest loop of the list that a block is in.
pub(super) fn around(loops: &[Loop], block: BlockId) -> Option<usize> {
    smallest(loops, |l| loops[l].inside.contains(block))
}

fn smallest(loops: &[Loop], is_meant: impl Fn(usize) -> bool) -> Option<usize> {
    (0..loops.len())
        .filter(|l| is_meant(*l))
        .min_by_key(|l| loops[*l].inside.len())
}

/// The loop with this header, if it has one way in and none of its lanes waits for another.
pub(super) fn one(
    program: &Program,
    function: &Function,
    flow: &Flow,
    header: BlockId,
) -> Option<Loop> {
    let waits = |l: &Loop| {
        let blocks = l.inside.iter();
        let mut stmts = blocks.flat_map(|b| &function.blocks[b.index()].stmts);
        stmts.any(|s| may_wait(program, function, &s.kind, &mut BTreeSet::new()))
    };
    whole(flow, header).filter(|l| !waits(l))
}

/// The same, whether its lanes wait for others or not.
pub(super) fn whole(flow: &Flow, header: BlockId) -> Option<Loop> {
    let closing = flow.back_edges().iter().filter(|(_, to)| *to == header);
    let inside = flow.natural_loop(header, closing.map(|(from, _)| *from));
    let one_way_in = header != BlockId(0)
        && !inside.contains(BlockId(0))
        && !flow
            .edges()
            .any(|(from, to)| !inside.contains(from) && inside.contains(to) && to != header);
    let exits: BTreeSet<BlockId> = inside
        .iter()
        .flat_map(|b| flow.targets(b).iter().copied())
        .filter(|to| !inside.contains(*to))
        .collect();
    one_way_in.then(|| Loop {
        header,
        exits: exits.into_iter().collect(),
        inside,
        parent: None,
    })
}

/// What the first block of a loop asks that goes on while a counter is below a limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// The counter.
    pub counter: LocalId,
    /// What it is to be below.
    pub limit: Operand,
    /// The place in the block where they are compared.
    pub at: usize,
    /// Where it goes on for another turn, and where for none.
    pub then: BlockId,
    pub exit: BlockId,
}

/// What this block asks, if it is that.
pub(super) fn asked(function: &Function, header: BlockId) -> Option<Asked> {
    let first = &function.blocks[header.index()];
    let Terminator::Branch {
        cond: Operand::Local(cond),
        then,
        other: exit,
    } = first.term
    else {
        return None;
    };
    let at = first
        .stmts
        .iter()
        .rposition(|s| s.kind.def() == Some(cond))?;
    let StmtKind::Assign {
        value: Rvalue::Binary(BinOp::Lt, Operand::Local(counter), limit),
        ..
    } = first.stmts[at].kind
    else {
        return None;
    };
    Some(Asked {
        counter,
        limit,
        at,
        then,
        exit,
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
                    .stmts()
                    .any(|s| may_wait(program, callee, &s.kind, seen))
        }
        _ => false,
    }
}
