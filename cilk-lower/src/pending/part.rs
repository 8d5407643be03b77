//! The parts of variables that results go to, and which of them are known to differ.

use super::Touch;
use crate::hir::{Expr, ExprKind, Var, VarId};

/// A step on the way to a part of a variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Step {
    Field(usize),
    /// A known index.
    Element(u64),
    /// The index that a variable holds.
    At(VarId),
    /// One that the variable of a loop held in an earlier round, and holds in no later one.
    Before(VarId),
}

/// The part of a variable that a result goes to: the way there by fields and known indices.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Part {
    pub(super) steps: Vec<Step>,
    /// Whether it is all that lies there, not some element of it.
    pub(super) all: bool,
    /// Whether it is memory of the variable itself, not what the variable refers to.
    pub(super) own: bool,
}

/// The index, if it is told from others: a number, or a variable that changes nowhere unseen, perhaps as another type that has room for it.
fn known(index: &Expr, vars: &[Var]) -> Option<Step> {
    match &*index.kind {
        ExprKind::Int(i) => u64::try_from(*i).ok().map(Step::Element),
        ExprKind::Var(v) if !vars[v.0].addressed => Some(Step::At(*v)),
        ExprKind::Cast(from) => match (from.ty.scalar(), index.ty.scalar()) {
            (Some(a), Some(b)) if a.is_int() && a.bits() <= b.bits() => match known(from, vars) {
                Some(Step::At(v)) if matches!(*from.kind, ExprKind::Var(_)) => Some(Step::At(v)),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

impl Part {
    pub(super) fn of(place: &Expr, vars: &[Var]) -> Self {
        let (base, step) = match &*place.kind {
            ExprKind::Field(base, i) => (base, Some(Step::Field(*i))),
            ExprKind::Index(base, index) => (base, known(index, vars)),
            ExprKind::MatIndex(base, ..) => (base, None),
            // Behind a reference that is made there lies the same.
            ExprKind::Deref(base) | ExprKind::AddrOf(base) | ExprKind::Unsize(base) => {
                return Self::of(base, vars);
            }
            ExprKind::SubSlice { base, .. } => (base, None),
            _ => {
                return Self {
                    steps: Vec::new(),
                    all: true,
                    own: true,
                };
            }
        };
        let mut part = Self::of(base, vars);
        match step {
            Some(step) if part.all => part.steps.push(step),
            _ => part.all = false,
        }
        part
    }

    pub(super) fn covers(&self, other: &Self) -> bool {
        self.all && other.steps.starts_with(&self.steps)
    }

    /// Whether the two are known to differ, by rustc as well. It knows that of fields. Of elements it does not: it sees that the place of a result is lent to be
    /// read, so that others may be read and no other may be stored to; but where on one way a value is stored and on another a child's result, it sees the place
    /// of a result alone.
    pub(super) fn is_beside(&self, other: &Self, how: Touch) -> bool {
        let mut ways = self.steps.iter().zip(&other.steps);
        match ways.find(|(a, b)| a != b) {
            Some((Step::Field(_), Step::Field(_))) => true,
            Some((Step::Before(a), Step::At(b))) => {
                matches!(how, Touch::Way | Touch::Used) && a == b
            }
            Some((Step::Element(_), Step::Element(_))) => how == Touch::Used,
            _ => false,
        }
    }

    /// What is known of it where an index is another one from now on: `to`, or nothing.
    pub(super) fn where_changed(&self, from: Step, to: Option<Step>) -> Self {
        let mut part = self.clone();
        if let Some(at) = part.steps.iter().position(|s| *s == from) {
            match to {
                Some(to) => part.steps[at] = to,
                None => {
                    part.steps.truncate(at);
                    part.all = false;
                }
            }
        }
        part
    }
}
