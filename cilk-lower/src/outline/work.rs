//! How much the rounds of a loop do, and so how many of them are a piece.

use crate::hir::{Body, Expr, ExprKind, FnId};

/// So many rounds that do little are one piece at least.
pub(super) const LEAST_LIGHT: u64 = 32;

/// So many that do more, where as much stands in them.
const LEAST_LARGE: u64 = 16;
const LARGE: usize = 61;

/// So much is written in the rounds that a child of a device that is not wide runs, at least: some microseconds, for a child there costs some ten
/// nanoseconds and has no lanes to fill. No more rounds than so many, as some of what is written takes long.
const WORTH: u64 = 1 << 14;
const MOST_WORTH: u64 = 1 << 10;

/// What rounds do.
#[derive(Clone, Copy, Default)]
pub(super) struct Does {
    pub(super) spawns: bool,
    pub(super) syncs: bool,
    work: Work,
}

/// How much is done, by how much is written, with what is called.
#[derive(Clone, Copy, Default)]
pub(super) struct Work {
    size: usize,
    /// There are loops in it, or it calls itself: it may be any amount.
    any: bool,
}

impl Work {
    /// What each function does, if it is called once.
    pub(super) fn of_all(bodies: &mut [Body]) -> Vec<Self> {
        let mut known = vec![None; bodies.len()];
        (0..bodies.len())
            .map(|i| Self::of_one(i, bodies, &mut known))
            .collect()
    }

    fn of_one(i: usize, bodies: &mut [Body], known: &mut [Option<Self>]) -> Self {
        if let Some(work) = known[i] {
            return work;
        }
        // Whoever comes here again before it is known calls itself.
        known[i] = Some(Self { size: 0, any: true });
        let mut called = Vec::new();
        let mut work = Self::default();
        work.look(&mut bodies[i].root, &mut called);
        for f in called {
            work.add(Self::of_one(f.0, bodies, known));
        }
        known[i] = Some(work);
        work
    }

    fn look(&mut self, e: &mut Expr, called: &mut Vec<FnId>) {
        self.size += 1;
        match &*e.kind {
            ExprKind::Call(f, _) => called.push(*f),
            ExprKind::Spawn { .. }
            | ExprKind::Sync
            | ExprKind::For(..)
            | ExprKind::While(..)
            | ExprKind::Loop(..) => self.any = true,
            _ => {}
        }
        e.children_mut(&mut |child| self.look(child, called));
    }

    fn add(&mut self, more: Self) {
        self.size += more.size;
        self.any |= more.any;
    }
}

impl Does {
    pub(super) fn of(e: &mut Expr, works: &[Work]) -> Self {
        let mut does = Self::default();
        let mut called = Vec::new();
        does.work.look(e, &mut called);
        for f in called {
            // A loop's task that is called is not among them.
            let unknown = Work { size: 0, any: true };
            does.work.add(works.get(f.0).copied().unwrap_or(unknown));
        }
        does.look(e);
        does
    }

    fn look(&mut self, e: &mut Expr) {
        self.spawns |= matches!(&*e.kind, ExprKind::Spawn { .. });
        self.syncs |= matches!(&*e.kind, ExprKind::Sync);
        e.children_mut(&mut |child| self.look(child));
    }

    /// Rounds of a piece: as many for each piece; one, where rounds wait for their own children.
    pub(super) const fn least(self) -> Option<u64> {
        match self {
            Self { syncs: true, .. } => None,
            Self {
                work: Work { any: true, .. },
                ..
            } => Some(1),
            Self {
                work: Work { size: LARGE.., .. },
                ..
            } => Some(LEAST_LARGE),
            _ => Some(LEAST_LIGHT),
        }
    }

    /// Rounds that a child runs at least where the device is not wide, if it is known how much they do.
    pub(super) fn worth(self) -> Option<u64> {
        let known = !self.spawns && !self.syncs && !self.work.any;
        let least = self.least().filter(|_| known)?;
        Some((WORTH / self.work.size.max(1) as u64).clamp(least, MOST_WORTH))
    }
}
