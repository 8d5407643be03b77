//! What a statement may do with each variable: the borrows that children hold, and the results that it awaits.
//!
//! This is the generator's own account of the rules that keep programs free of races: memory lent to a child is left alone until the next
//! sync, a result is not looked at before it, and where control flows together, what holds on one way holds on both.

use super::types::Ty;
use millstream_graph::ty::Scalar;
use std::collections::BTreeMap;

/// How a child's result is combined with what its destination holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Gather {
    Store,
    Add,
    /// In parallel loops alone.
    Mul,
    Or,
    And,
    Xor,
    Min,
    Max,
}

/// The part of a variable that awaits a result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Part {
    /// All of it.
    Whole,
    /// A field, or an element at a known index.
    At(u32),
    /// Some element.
    Any,
}

/// What is outstanding for a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// Nothing.
    Free,
    /// Children read it.
    Shared,
    /// Children write it, or nobody can tell.
    Excl,
    /// It awaits results.
    Awaits(BTreeMap<Part, Gather>),
}

impl State {
    /// What holds where two ways meet.
    pub(super) fn join(&self, other: &Self) -> Self {
        match (self, other) {
            (a, b) if a == b => a.clone(),
            (Self::Free, x) | (x, Self::Free) => x.clone(),
            (Self::Awaits(a), Self::Awaits(b))
                if a.iter().all(|(p, g)| b.get(p).is_none_or(|h| h == g)) =>
            {
                Self::Awaits(a.iter().chain(b).map(|(p, g)| (*p, *g)).collect())
            }
            _ => Self::Excl,
        }
    }

    /// Whether one more result may go there.
    pub(super) fn takes(&self, part: Part, how: Gather) -> bool {
        match self {
            Self::Free => true,
            Self::Awaits(all) => all.iter().all(|(p, g)| {
                let apart = matches!((p, part), (Part::At(a), Part::At(b)) if *a != b);
                // A struct's own operator is another than that of its field.
                let alike = (*p == Part::Whole) == (part == Part::Whole);
                apart || alike && *g == how && how != Gather::Store
            }),
            _ => false,
        }
    }

    /// Adds a result.
    pub(super) fn awaits(&mut self, part: Part, how: Gather) {
        match self {
            Self::Awaits(all) => drop(all.insert(part, how)),
            _ => *self = Self::Awaits([(part, how)].into()),
        }
    }
}

/// What a variable is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Value(Ty),
    Slice {
        mutable: bool,
        elem: Ty,
    },
    Ref {
        mutable: bool,
        target: Ty,
    },
    Atomics(Scalar),
    Atomic(Scalar),
    /// An array of two shared slices.
    Views(Ty),
    /// An atomic that is a local variable.
    OwnAtomic(Scalar),
}

/// A variable.
#[derive(Clone, Debug)]
pub(super) struct Var {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) state: State,
    /// Whether statements may change it.
    pub(super) writable: bool,
    /// A sum of small whole numbers, so that the order of adding floats does not matter.
    pub(super) exact: bool,
    /// The variables whose memory it is a part of; they are out of reach as long as this is there.
    pub(super) origins: Vec<usize>,
    /// How many others are parts of it.
    pub(super) hidden: u32,
}

/// A loop or labelled block around the statement.
#[derive(Clone, Debug)]
pub(super) struct Around {
    pub(super) label: Option<String>,
    /// How many variables there were before it.
    pub(super) vars: usize,
    /// What each way back to the start must not exceed.
    pub(super) assumed: Vec<State>,
    /// What holds behind it, if anything leaves it.
    pub(super) exits: Option<Vec<State>>,
    pub(super) block: bool,
    /// What `break` gives it.
    pub(super) value: Option<Ty>,
}

/// Joins variable by variable.
pub(super) fn join_all(into: &mut Option<Vec<State>>, other: &[State]) {
    match into {
        None => *into = Some(other.to_vec()),
        Some(states) => states
            .iter_mut()
            .zip(other)
            .for_each(|(a, b)| *a = a.join(b)),
    }
}
