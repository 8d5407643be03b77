//! Puts the address of a slot or constant, and what a graph gives, next to where it is used, so that it is no value that lives across a sync, and so that the
//! frame is not asked for earlier than its first use.

use fixedbitset::FixedBitSet;
use millstream_graph::ir::{
    Arg, Block, Function, Local, LocalId, Operand, Rvalue, Stmt, StmtKind, Terminator,
};
use std::collections::BTreeMap;

/// In each block that uses a local which only ever holds one such value, computes that value anew. Uniforms are read once where no sync
/// could come between: a loop is not to read them each time.
pub(super) fn sink(function: &mut Function) {
    let syncs = function
        .blocks
        .iter()
        .any(|b| matches!(b.term, Terminator::Sync(_)));
    let addresses = addresses(function, syncs);
    let Function { locals, blocks, .. } = function;
    for block in blocks {
        let Block { stmts, term, span } = block;
        let mut here = BTreeMap::new();
        let mut out = Vec::with_capacity(stmts.len());
        for mut stmt in stmts.drain(..) {
            stmt.kind
                .operands_mut(|o| replace(o, &addresses, &mut here, locals, &mut out, stmt.span));
            out.push(stmt);
        }
        term.operands_mut(|o| replace(o, &addresses, &mut here, locals, &mut out, *span));
        *stmts = out;
    }
}

fn replace(
    operand: &mut Operand,
    addresses: &[Option<Rvalue>],
    here: &mut BTreeMap<LocalId, LocalId>,
    locals: &mut Vec<Local>,
    out: &mut Vec<Stmt>,
    span: millstream_graph::ir::Span,
) {
    let Operand::Local(id) = operand else { return };
    let Some(Some(value)) = addresses.get(id.index()) else {
        return;
    };
    let new = *here.entry(*id).or_insert_with(|| {
        locals.push(locals[id.index()].clone());
        let dst = LocalId::new(locals.len() - 1);
        out.push(Stmt {
            kind: StmtKind::Assign {
                dst,
                value: value.clone(),
            },
            span,
        });
        dst
    });
    *operand = Operand::Local(new);
}

/// For each local, the address or uniform that it holds whenever it holds anything.
fn addresses(function: &Function, uniforms: bool) -> Vec<Option<Rvalue>> {
    let mut out: Vec<Option<Rvalue>> = vec![None; function.locals.len()];
    let mut other = FixedBitSet::with_capacity(function.locals.len());
    other.extend(function.args.iter().filter_map(|a| match a {
        Arg::Local(id) => Some(id.index()),
        Arg::Slot(_) => None,
    }));
    for stmt in function.stmts() {
        match &stmt.kind {
            StmtKind::Assign { dst, value }
                if is_address(value, uniforms)
                    && out[dst.index()].as_ref().is_none_or(|v| v == value) =>
            {
                out[dst.index()] = Some(value.clone());
            }
            kind => other.extend(kind.def().map(LocalId::index)),
        }
    }
    out.into_iter()
        .enumerate()
        .map(|(i, v)| v.filter(|_| !other.contains(i)))
        .collect()
}

const fn is_address(value: &Rvalue, uniforms: bool) -> bool {
    match value {
        Rvalue::SlotAddr(_) | Rvalue::DataAddr(_) => true,
        Rvalue::Uniform { .. } => uniforms,
        _ => false,
    }
}
