//! Takes out parameters of tasks that are only handed on: a cut-off that decides nothing any more travels with every element otherwise.
//!
//! What the host calls keeps all of its own, and so do the nodes of a graph. A parameter of another task goes if it is one scalar that is read
//! for no more than to be a parameter of a task that goes as well.

use super::simplify;
use millstream_graph::{
    ir::{Arg, Combine, FuncId, Function, FunctionKind, LocalId, Operand, Program, StmtKind},
    ty::Type,
};
use std::collections::{BTreeMap, BTreeSet};

/// Arguments: their task and their number.
type Params = BTreeSet<(FuncId, usize)>;

/// Takes them out. `tasks` are those that are lowered, and how each gives its result.
pub(crate) fn drop(program: &mut Program, tasks: &[(FuncId, Combine)]) {
    let unread = unread(program, tasks);
    if unread.is_empty() {
        return;
    }
    let scalars: Vec<_> = program
        .functions
        .iter()
        .map(|f| scalars(program, f))
        .collect();
    for (i, function) in program.functions.iter_mut().enumerate() {
        if function.kind != FunctionKind::Task {
            continue;
        }
        let id = FuncId::new(i);
        let mut param = 0..;
        function.params.retain(|_| {
            let arg = param.next().and_then(|p| scalars[i].get(&p));
            arg.is_none_or(|arg| !unread.contains(&(id, *arg)))
        });
        keep(&mut function.args, id, &unread);
        for stmt in function.blocks.iter_mut().flat_map(|b| &mut b.stmts) {
            if let StmtKind::Spawn { func, args, .. } = &mut stmt.kind {
                keep(args, *func, &unread);
            }
        }
        simplify::simplify(function, None);
    }
}

/// The parameters that are one scalar, and which argument each is.
fn scalars(program: &Program, function: &Function) -> BTreeMap<usize, usize> {
    let mut arg = 0;
    let mut out = BTreeMap::new();
    for (i, param) in function.params.iter().enumerate() {
        if matches!(param.ty, Type::Scalar(_)) {
            out.insert(i, arg);
        }
        arg += param.ty.pieces(&program.structs).len();
    }
    out
}

fn keep<T>(list: &mut Vec<T>, func: FuncId, unread: &Params) {
    let mut next = 0..;
    list.retain(|_| next.next().is_none_or(|i| !unread.contains(&(func, i))));
}

/// The most parameters that can go together.
fn unread(program: &Program, tasks: &[(FuncId, Combine)]) -> Params {
    let mut out = Params::new();
    for (func, combine) in tasks {
        let function = &program[*func];
        let called =
            *combine == Combine::Store && (!function.is_made() || !program.channels.is_empty());
        if !called {
            out.extend(scalars(program, function).into_values().map(|i| (*func, i)));
        }
    }
    loop {
        let read: Vec<_> = out
            .iter()
            .copied()
            .filter(|(func, i)| match program[*func].args[*i] {
                Arg::Local(local) => reads(&program[*func], local, &out),
                Arg::Slot(_) => true,
            })
            .collect();
        if read.is_empty() {
            return out;
        }
        out.retain(|p| !read.contains(p));
    }
}

/// Whether a function does more with a parameter than to hand it on to those that go.
fn reads(function: &Function, param: LocalId, unread: &Params) -> bool {
    let is = |o: Operand| o == Operand::Local(param);
    let mut found = false;
    for block in &function.blocks {
        for stmt in &block.stmts {
            let mut named = 0usize;
            stmt.kind.each_operand(&mut |o| named += usize::from(is(o)));
            if let StmtKind::Spawn { func, args, .. } = &stmt.kind {
                let handed = |(i, o): (usize, &Operand)| is(*o) && unread.contains(&(*func, i));
                named -= args.iter().enumerate().filter(|a| handed(*a)).count();
            }
            found |= named > 0 || stmt.kind.def() == Some(param);
        }
        block.term.each_operand(&mut |o| found |= is(o));
    }
    found
}
