//! Takes out what computes a value that nothing reads. No value faults, so none is needed for its effect.

use millstream_graph::flow::Liveness;
use millstream_graph::ir::{Function, LocalId, Operand, Rvalue, StmtKind};

/// Takes out dead statements. Says whether there was any.
pub(crate) fn eliminate(function: &mut Function, ret: Option<LocalId>) -> bool {
    let liveness = Liveness::new(function, ret);
    let mut changed = false;
    for block in &mut function.blocks {
        let mut live = liveness.live_out(block);
        let mut keep = vec![true; block.stmts.len()];
        for (stmt, keep) in block.stmts.iter().zip(&mut keep).rev() {
            *keep = match &stmt.kind {
                StmtKind::Assign {
                    dst,
                    value: Rvalue::Use(Operand::Local(src)),
                } if dst == src => false,
                StmtKind::Assign { dst, .. } => live.contains(dst.index()),
                StmtKind::Check {
                    cond: Operand::Const(_, bits),
                    ..
                } => *bits == 0,
                StmtKind::Copy { dst, src, size } => dst != src && *size > 0,
                StmtKind::Zero { size: 0, .. } => false,
                _ => true,
            };
            if *keep {
                Liveness::step(&mut live, &stmt.kind);
            }
        }
        if keep.contains(&false) {
            let mut keep = keep.into_iter();
            block.stmts.retain(|_| keep.next().unwrap_or(true));
            changed = true;
        }
    }
    changed
}
