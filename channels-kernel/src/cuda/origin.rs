//! Where pointers come from, and which of them the compiler is not to know so well.
//!
//! NVRTC of CUDA 12 and 13.0 leaves out stores through a pointer that is a local array's address or some other, by the way that the program took, where
//! nothing reads the array after them: it takes the store for one to the array. (Of 12.0 to 13.5 those before 13.1 do so. What it takes is two such
//! arrays, one of them lent to a call, and a block between the choice and the store.) So a pointer that may be an array's address is hidden from it, by
//! `hidden` of `device/prelude.cu`, where it is chosen beside one of another origin: no instruction, and no worse code, for a chosen address is in no
//! register's place. What goes through a thread's own memory is hidden where it is loaded, for the compiler sees through that.

use millstream_graph::{
    ir::{Arg, Function, LocalId, Operand, Rvalue, SlotId, StmtKind, Terminator},
    ty::Scalar,
};
use std::{collections::BTreeSet, iter};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Origin {
    /// An array of this function.
    Slot(SlotId),
    /// What a helper was given, which its caller may have in an array.
    Argument(LocalId),
    /// What the call gave whose result this local takes: what the helper was lent, or something else.
    Result(LocalId),
    /// Memory that is no thread's own, or a pointer that is hidden.
    Elsewhere,
}

type Origins = BTreeSet<Origin>;

/// Whether a pointer of these origins has to be hidden.
fn are_mixed(origins: &Origins) -> bool {
    // Of several arrays none is taken for another.
    origins.len() > 1 && !origins.iter().all(|o| matches!(o, Origin::Slot(_)))
}

/// Whether it is no array of the thread, that the compiler sees.
fn are_elsewhere(origins: &Origins) -> bool {
    origins.iter().all(|o| *o == Origin::Elsewhere)
}

/// What has to be hidden in a function.
#[derive(Debug)]
pub(super) struct Hidden {
    origins: Vec<Origins>,
    /// Whether it returns pointers of several origins.
    result: bool,
}

impl Hidden {
    /// Of a helper, or of what is none.
    pub(super) fn find(function: &Function, is_helper: bool) -> Self {
        let mut origins = vec![Origins::new(); function.locals.len()];
        let is_pointer = |id: LocalId| function.locals[id.index()].ty == Scalar::Ptr;
        for arg in &function.args {
            if let Arg::Local(id) = arg
                && is_pointer(*id)
            {
                origins[id.index()].insert(match is_helper {
                    true => Origin::Argument(*id),
                    false => Origin::Elsewhere,
                });
            }
        }
        let defs: Vec<(LocalId, &StmtKind)> = function
            .stmts()
            .filter_map(|s| Some((s.kind.def()?, &s.kind)))
            .filter(|(dst, _)| is_pointer(*dst))
            .collect();
        loop {
            let mut grown = false;
            for (dst, stmt) in &defs {
                let found = given(stmt, *dst, &origins);
                let own = &mut origins[dst.index()];
                let before = own.len();
                own.extend(found);
                grown |= own.len() > before;
            }
            if !grown {
                break;
            }
        }
        let results = function.blocks.iter().filter_map(|b| match &b.term {
            Terminator::Return(values) => values.first(),
            _ => None,
        });
        let result = results.flat_map(|value| seen(&origins, *value)).collect();
        Self {
            result: are_mixed(&result),
            origins,
        }
    }

    /// Whether what a local is assigned, or given as an argument, is.
    pub(super) fn is_local(&self, id: LocalId) -> bool {
        are_mixed(&self.origins[id.index()])
    }

    /// Whether the value of an assignment is.
    pub(super) fn is_assigned(&self, dst: LocalId, value: &Rvalue) -> bool {
        self.is_local(dst) || is_loaded(value, &self.origins)
    }

    /// Whether a result that is one value is.
    pub(super) fn is_result(&self, value: Operand) -> bool {
        self.result && !are_elsewhere(&seen(&self.origins, value))
    }
}

/// The origins that the compiler sees of a value. An address that is a number is nothing's.
fn seen(origins: &[Origins], value: Operand) -> Origins {
    let Operand::Local(id) = value else {
        return Origins::new();
    };
    let own = &origins[id.index()];
    match are_mixed(own) {
        true => iter::once(Origin::Elsewhere).collect(),
        false => own.clone(),
    }
}

/// Whether it is a pointer that a thread's own memory holds.
fn is_loaded(value: &Rvalue, origins: &[Origins]) -> bool {
    match value {
        Rvalue::Load {
            ty: Scalar::Ptr,
            addr,
            ..
        } => !are_elsewhere(&seen(origins, *addr)),
        _ => false,
    }
}

/// The origins of what a statement gives to a local.
fn given(stmt: &StmtKind, dst: LocalId, origins: &[Origins]) -> Origins {
    let only = |origin| iter::once(origin).collect();
    match stmt {
        StmtKind::Assign { value, .. } => match value {
            Rvalue::SlotAddr(slot) => only(Origin::Slot(*slot)),
            Rvalue::Use(a) | Rvalue::PtrAdd { base: a, .. } => seen(origins, *a),
            Rvalue::Select(_, a, b) => [a, b].iter().flat_map(|o| seen(origins, **o)).collect(),
            _ => only(Origin::Elsewhere),
        },
        StmtKind::Call { args, .. } => {
            let lent: Origins = args.iter().flat_map(|a| seen(origins, *a)).collect();
            match are_elsewhere(&lent) {
                true => only(Origin::Elsewhere),
                false => only(Origin::Result(dst)),
            }
        }
        _ => only(Origin::Elsewhere),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test ends there")]

    use super::Hidden;
    use millstream_graph::{
        ir::{LocalId, StmtKind},
        text::parse_program,
    };

    /// The locals to which something is assigned that is hidden, and whether the result is, of a function whose locals 0 and 1 are what it is lent.
    fn hidden(body: &str, is_helper: bool) -> (Vec<u32>, bool) {
        let text = format!(
            "program p in \"p.rs\"\nfn f(a: &mut u32, b: &mut u32, c: bool) -> &mut u32 takes %0, %1, %2 {{\n    \
             let %0 a: ptr, %1 b: ptr, %2 c: bool, %3: ptr, %4: ptr, %5: ptr\n    slot $0: u32, $1: u32, $2: 8 align 8\n{body}\n}}\n"
        );
        let program = parse_program(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let function = &program.functions[0];
        let found = Hidden::find(function, is_helper);
        let mut locals: Vec<u32> = (0..3).filter(|i| found.is_local(LocalId(*i))).collect();
        for stmt in function.stmts() {
            let (StmtKind::Assign { dst, .. } | StmtKind::Call { dst: Some(dst), .. }) = &stmt.kind
            else {
                continue;
            };
            let is_hidden = match &stmt.kind {
                StmtKind::Assign { value, .. } => found.is_assigned(*dst, value),
                _ => found.is_local(*dst),
            };
            if is_hidden && !locals.contains(&dst.0) {
                locals.push(dst.0);
            }
        }
        (locals, found.result)
    }

    #[test]
    fn what_may_be_an_array_or_not_is_hidden_where_it_is_chosen() {
        let chosen = "b0:\n    branch %2 b1 b2\nb1:\n    %3 = addr $0\n    goto b3\nb2:\n    %3 = %1\n    goto b3\nb3:\n    %4 = ptr_add %3, 1usize * 4\n    return %4";
        assert_eq!(hidden(chosen, false), (vec![3], false));
        let selected =
            "b0:\n    %3 = addr $0\n    %4 = select %2, %3, %1\n    %5 = %4\n    return %5";
        assert_eq!(hidden(selected, false), (vec![4], false));
        // Neither of two arrays, nor what goes on in one.
        let arrays =
            "b0:\n    %3 = addr $0\n    %4 = addr $1\n    %5 = select %2, %3, %4\n    return %0";
        assert_eq!(hidden(arrays, false), (vec![], false));
        let steps = "b0:\n    %3 = addr $2\n    goto b1\nb1:\n    %3 = ptr_add %3, 1usize * 4\n    branch %2 b1 b2\nb2:\n    return %1";
        assert_eq!(hidden(steps, false), (vec![], false));
    }

    #[test]
    fn what_a_helper_is_lent_may_be_an_array_of_its_caller() {
        let selected = "b0:\n    %3 = select %2, %0, %1\n    return %3";
        assert_eq!(hidden(selected, true), (vec![3], false));
        assert_eq!(hidden(selected, false), (vec![], false));
        let returned = "b0:\n    branch %2 b1 b2\nb1:\n    return %0\nb2:\n    return %1";
        assert_eq!(hidden(returned, true), (vec![], true));
        // What it is given, too, if it becomes something else.
        let changed = "b0:\n    branch %2 b1 b2\nb1:\n    %0 = %1\n    goto b2\nb2:\n    return %0";
        assert_eq!(hidden(changed, true), (vec![0], false));
        let steps = "b0:\n    %0 = ptr_add %0, 1usize * 4\n    branch %2 b0 b1\nb1:\n    return %1";
        assert_eq!(hidden(steps, true), (vec![], false));
    }

    #[test]
    fn what_a_call_gives_may_be_what_it_was_lent_or_not() {
        let called = "b0:\n    %3 = addr $0\n    %4 = call @f(%3, %0, %2)\n    %5 = select %2, %4, %3\n    return %4";
        assert_eq!(hidden(called, false), (vec![5], false));
        let elsewhere =
            "b0:\n    %4 = call @f(%1, %0, %2)\n    %5 = select %2, %4, %1\n    return %5";
        assert_eq!(hidden(elsewhere, false), (vec![], false));
    }

    #[test]
    fn what_goes_through_own_memory_is_hidden_where_it_is_loaded() {
        let loaded = "b0:\n    %3 = addr $2\n    store %1 -> %3\n    %4 = load ptr %3\n    %5 = load ptr %1\n    return %4";
        assert_eq!(hidden(loaded, false), (vec![4], false));
        assert_eq!(hidden(loaded, true), (vec![4, 5], false));
    }
}
