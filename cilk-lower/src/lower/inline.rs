//! Puts helpers into their callers: a call inside the loop over a wavefront's elements costs more than most helpers do.
//!
//! Small helpers, and those called once, are inlined as long as the caller stays small enough; recursive ones never, nor those
//! whose rounds may run side by side. The callee's locals and
//! slots become the caller's, its checks keep their places in the source.

use super::edit;
use millstream_graph::{
    flow::CallGraph,
    ir::{
        Arg, Block, BlockId, Function, FunctionKind, Local, LocalId, Operand, Program, Rvalue,
        SlotId, Stmt, StmtKind, Terminator,
    },
    ty::{PieceKind, Scalar},
};

/// A helper of at most so many statements is inlined wherever it is called.
const SMALL: usize = 60;
/// One that is called once, up to this size.
const ONCE: usize = 600;
/// No caller grows beyond this by inlining.
const CALLER: usize = 3000;

/// Inlines in every function, callees first. What is to be done to a function before it comes into its callers, `then` does.
pub(crate) fn inline(program: &mut Program, then: impl Fn(&Program, &mut Function)) {
    let graph = CallGraph::of_calls(program);
    let mut calls = vec![0u32; program.functions.len()];
    for stmt in program.functions.iter().flat_map(Function::stmts) {
        if let StmtKind::Call { func, .. } = stmt.kind {
            calls[func.index()] += 1;
        }
    }
    for &caller in graph.callees_first() {
        let mut function = program[caller].clone();
        let mut block = 0;
        while block < function.blocks.len() {
            let call = function.blocks[block]
                .stmts
                .iter()
                .position(|s| match s.kind {
                    StmtKind::Call { func, .. } => {
                        let size = edit::size(&program[func]);
                        let limit = if calls[func.index()] == 1 {
                            ONCE
                        } else {
                            SMALL
                        };
                        func != caller
                            && !program[func].rounds
                            && !graph.is_recursive(func)
                            && size <= limit
                            && edit::size(&function) + size <= CALLER
                    }
                    _ => false,
                });
            match call {
                // What follows the call moves to a block of its own, which this loop comes to later.
                Some(at) => expand(program, &mut function, BlockId::new(block), at),
                None => block += 1,
            }
        }
        then(program, &mut function);
        program.functions[caller.index()] = function;
    }
}

/// Puts the callee's body in the place of one call.
fn expand(program: &Program, caller: &mut Function, block: BlockId, at: usize) {
    let rest = caller.blocks[block.index()].stmts.split_off(at + 1);
    let Some(Stmt {
        kind:
            StmtKind::Call {
                func,
                args,
                dst,
                ret_addr,
            },
        span,
    }) = caller.blocks[block.index()].stmts.pop()
    else {
        unreachable!("the statement at this place is a call")
    };
    let callee = &program[func];
    debug_assert_eq!(callee.kind, FunctionKind::Helper);
    let first_local = caller.locals.len();
    let first_slot = caller.slots.len();
    let first_block = caller.blocks.len();
    caller.locals.extend(callee.locals.iter().cloned());
    caller.slots.extend(callee.slots.iter().cloned());
    let local = |id: LocalId| LocalId::new(first_local + id.index());
    let slot = |id: SlotId| SlotId::new(first_slot + id.index());
    let after = BlockId::new(first_block + callee.blocks.len());

    for (arg, value) in callee.args.iter().zip(args) {
        let kind = match arg {
            Arg::Local(id) => StmtKind::Assign {
                dst: local(*id),
                value: Rvalue::Use(value),
            },
            Arg::Slot(id) => {
                let addr = edit::add_local(caller, None, Scalar::Ptr);
                let address = StmtKind::Assign {
                    dst: addr,
                    value: Rvalue::SlotAddr(slot(*id)),
                };
                caller.blocks[block.index()].stmts.push(Stmt {
                    kind: address,
                    span,
                });
                StmtKind::Copy {
                    dst: Operand::Local(addr),
                    src: value,
                    size: callee.slots[id.index()].layout.size,
                }
            }
        };
        caller.blocks[block.index()].stmts.push(Stmt { kind, span });
    }
    let entry = Terminator::Goto(BlockId::new(first_block));
    let term = std::mem::replace(&mut caller.blocks[block.index()].term, entry);
    let term_span = std::mem::replace(&mut caller.blocks[block.index()].span, span);

    for old in &callee.blocks {
        let mut new = old.clone();
        for stmt in &mut new.stmts {
            stmt.kind.rename(local);
            if let StmtKind::Assign {
                value: Rvalue::SlotAddr(id),
                ..
            } = &mut stmt.kind
            {
                *id = slot(*id);
            }
        }
        new.term.operands_mut(|o| o.rename(local));
        new.term
            .targets_mut(|t| *t = BlockId::new(first_block + t.index()));
        if let Terminator::Return(values) = &new.term {
            let kinds = give(program, callee, values, (dst, ret_addr), &mut caller.locals);
            new.stmts.extend(kinds.into_iter().map(|kind| Stmt {
                kind,
                span: new.span,
            }));
            new.term = Terminator::Goto(after);
        }
        caller.blocks.push(new);
    }
    caller.blocks.push(Block {
        stmts: rest,
        term,
        span: term_span,
    });
}

/// Where a call wants its value.
type Wanted = (Option<LocalId>, Option<Operand>);

/// What a return does: the value goes to the call's local, or piece by piece to its memory.
fn give(
    program: &Program,
    callee: &Function,
    values: &[Operand],
    wanted: Wanted,
    locals: &mut Vec<Local>,
) -> Vec<StmtKind> {
    match (wanted, values) {
        ((Some(dst), _), [value]) => vec![StmtKind::Assign {
            dst,
            value: Rvalue::Use(*value),
        }],
        ((_, Some(addr)), _) => {
            let mut out = Vec::new();
            for (piece, &value) in callee.ret.pieces(&program.structs).iter().zip(values) {
                match piece.kind {
                    PieceKind::Scalar(_) => out.push(StmtKind::Store {
                        addr,
                        offset: piece.offset,
                        value,
                    }),
                    PieceKind::Blob(layout) => {
                        locals.push(Local {
                            name: None,
                            ty: Scalar::Ptr,
                        });
                        let dst = LocalId::new(locals.len() - 1);
                        let place = Rvalue::PtrAdd {
                            base: addr,
                            index: Operand::usize(0),
                            scale: 1,
                            offset: piece.offset,
                        };
                        out.push(StmtKind::Assign { dst, value: place });
                        out.push(StmtKind::Copy {
                            dst: Operand::Local(dst),
                            src: value,
                            size: layout.size,
                        });
                    }
                }
            }
            out
        }
        _ => Vec::new(),
    }
}
