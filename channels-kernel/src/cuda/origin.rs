//! Where pointers come from, and which of them the compiler is not to know so well.
//!
//! NVRTC of CUDA 12 and 13.0 leaves out stores through a pointer that is a local array's address or some other, by the way that the program took, where
//! nothing reads the array after them: it takes the store for one to the array. (Of 12.0 to 13.5 those before 13.1 do so. What it takes is two such
//! arrays, one of them lent to a call, and a block between the choice and the store.) So a pointer that may have both origins is
//! hidden from it, by `hidden` of `device/prelude.cu`, where it is chosen: no instruction, and no worse code, for a chosen address is in no register's place.

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
    /// Memory that is no thread's own, or a pointer that is hidden.
    Elsewhere,
}

type Origins = BTreeSet<Origin>;

/// Whether a pointer of these origins has to be hidden.
fn are_mixed(origins: &Origins) -> bool {
    let arrays = |o: &Origin| matches!(o, Origin::Slot(_));
    // Of several arrays none is taken for another.
    origins.len() > 1 && !origins.iter().all(arrays)
}

/// What has to be hidden in a function.
#[derive(Debug)]
pub(super) struct Hidden {
    /// Locals whose values are.
    locals: Vec<bool>,
    /// Values that are stored, and results by their places.
    stored: bool,
    results: Vec<bool>,
    /// Locals that may be the address of an array of the thread.
    arrays: Vec<bool>,
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
                let found = given(stmt, &origins);
                let own = &mut origins[dst.index()];
                let before = own.len();
                own.extend(found);
                grown |= own.len() > before;
            }
            if !grown {
                break;
            }
        }
        let of = |operand: &Operand| match operand {
            Operand::Local(id) => seen(&origins, *id),
            Operand::Const(..) => Origins::new(),
        };
        let stores = function.stmts().filter_map(|s| match &s.kind {
            StmtKind::Store { value, .. } => Some(of(value)),
            _ => None,
        });
        let returned = function.blocks.iter().filter_map(|b| match &b.term {
            Terminator::Return(values) => Some(values),
            _ => None,
        });
        let most = returned.clone().map(Vec::len).max().unwrap_or(0);
        let result = |i: usize| returned.clone().filter_map(move |r| r.get(i));
        Self {
            stored: are_mixed(&stores.flatten().collect()),
            results: (0..most)
                .map(|i| are_mixed(&result(i).flat_map(of).collect()))
                .collect(),
            arrays: origins
                .iter()
                .map(|o| o.iter().any(|o| *o != Origin::Elsewhere))
                .collect(),
            locals: origins.iter().map(are_mixed).collect(),
        }
    }

    /// Whether what is assigned to a local is.
    pub(super) fn is_local(&self, id: LocalId) -> bool {
        self.locals[id.index()]
    }

    /// Whether a value is, where it is stored.
    pub(super) fn is_stored(&self, value: Operand) -> bool {
        self.stored && self.may_be_array(value)
    }

    /// Whether a result is, by its place among the function's.
    pub(super) fn is_result(&self, place: usize, value: Operand) -> bool {
        self.results.get(place) == Some(&true) && self.may_be_array(value)
    }

    fn may_be_array(&self, value: Operand) -> bool {
        matches!(value, Operand::Local(id) if self.arrays[id.index()] && !self.locals[id.index()])
    }
}

/// The origins that the compiler sees of a local.
fn seen(origins: &[Origins], id: LocalId) -> Origins {
    let own = &origins[id.index()];
    match are_mixed(own) {
        true => iter::once(Origin::Elsewhere).collect(),
        false => own.clone(),
    }
}

/// Those of what a statement gives.
fn given(stmt: &StmtKind, origins: &[Origins]) -> Origins {
    let of = |operand: &Operand| match operand {
        Operand::Local(id) => seen(origins, *id),
        // An address that is a number is nothing's.
        Operand::Const(..) => Origins::new(),
    };
    let elsewhere = || iter::once(Origin::Elsewhere).collect();
    match stmt {
        StmtKind::Assign { value, .. } => match value {
            Rvalue::SlotAddr(slot) => iter::once(Origin::Slot(*slot)).collect(),
            Rvalue::Use(a) | Rvalue::PtrAdd { base: a, .. } => of(a),
            Rvalue::Select(_, a, b) => [of(a), of(b)].into_iter().flatten().collect(),
            _ => elsewhere(),
        },
        // Of what it was lent, or something of its own.
        StmtKind::Call { args, .. } => {
            let lent: Origins = args.iter().flat_map(of).collect();
            match lent.iter().all(|o| *o == Origin::Elsewhere) {
                true => elsewhere(),
                false => lent,
            }
        }
        _ => elsewhere(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test ends there")]

    use super::Hidden;
    use millstream_graph::text::parse_program;

    /// The locals that are hidden, whether what is stored is, and which results, of a function whose locals 0 and 1 are what it is lent.
    fn hidden(body: &str, is_helper: bool) -> (Vec<usize>, bool, Vec<bool>) {
        let text = format!(
            "program p in \"p.rs\"\nfn f(a: &mut u32, b: &mut u32, c: bool) -> &mut u32 takes %0, %1, %2 {{\n    \
             let %0 a: ptr, %1 b: ptr, %2 c: bool, %3: ptr, %4: ptr, %5: ptr\n    slot $0: u32, $1: u32, $2: 8 align 8\n{body}\n}}\n"
        );
        let program = parse_program(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let found = Hidden::find(&program.functions[0], is_helper);
        let locals = found.locals.iter().enumerate();
        let locals = locals.filter(|(_, is)| **is).map(|(i, _)| i).collect();
        (locals, found.stored, found.results)
    }

    #[test]
    fn what_may_be_an_array_or_not_is_hidden_where_it_is_chosen() {
        let chosen = "b0:\n    branch %2 b1 b2\nb1:\n    %3 = addr $0\n    goto b3\nb2:\n    %3 = %1\n    goto b3\nb3:\n    %4 = ptr_add %3, 1usize * 4\n    return %4";
        assert_eq!(hidden(chosen, false), (vec![3], false, vec![false]));
        let selected =
            "b0:\n    %3 = addr $0\n    %4 = select %2, %3, %1\n    %5 = %4\n    return %5";
        assert_eq!(hidden(selected, false), (vec![4], false, vec![false]));
        // Neither of two arrays, nor what goes on in one.
        let arrays =
            "b0:\n    %3 = addr $0\n    %4 = addr $1\n    %5 = select %2, %3, %4\n    return %0";
        assert_eq!(hidden(arrays, false), (vec![], false, vec![false]));
        let steps = "b0:\n    %3 = addr $2\n    goto b1\nb1:\n    %3 = ptr_add %3, 1usize * 4\n    branch %2 b1 b2\nb2:\n    return %1";
        assert_eq!(hidden(steps, false), (vec![], false, vec![false]));
    }

    #[test]
    fn what_a_helper_is_lent_may_be_an_array_of_its_caller() {
        let selected = "b0:\n    %3 = select %2, %0, %1\n    return %3";
        assert_eq!(hidden(selected, true), (vec![3], false, vec![false]));
        assert_eq!(hidden(selected, false), (vec![], false, vec![false]));
        let returned = "b0:\n    branch %2 b1 b2\nb1:\n    return %0\nb2:\n    return %1";
        assert_eq!(hidden(returned, true), (vec![], false, vec![true]));
    }

    #[test]
    fn what_is_stored_is_hidden_if_memory_may_hold_both() {
        let stored = "b0:\n    %3 = addr $2\n    %4 = addr $0\n    store %4 -> %3\n    store %0 -> %3\n    return %0";
        assert_eq!(hidden(stored, false), (vec![], true, vec![false]));
        let one = "b0:\n    %3 = addr $2\n    %4 = addr $0\n    store %4 -> %3\n    return %0";
        assert_eq!(hidden(one, false), (vec![], false, vec![false]));
    }
}
