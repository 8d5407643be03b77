//! What has to hold before a loop's first turn so that checks in it hold in every turn.

use super::{
    At, View,
    counters::{Counter, Order},
    facts::is_natural,
    sums::Sum,
    values::{Origin, Value},
};
use millstream_graph::{
    flow::Loop,
    ir::{BinOp, BlockId},
};
use std::{
    cell::{Cell, RefCell},
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap},
};

/// What is computed has so many bits less than its type, at the most: a counter goes beyond its end by a step, and nothing wraps.
const SPARE_BITS: u32 = 4;
/// For one check no more is looked at: what is computed of one value twice, again and again, is as much as there are ways to it.
const MOST_STEPS: u32 = 1 << 10;
/// Nor is what is computed of so many values one after the other.
pub(super) const MOST_DEPTH: u32 = 64;
/// Larger constants are no part of an index.
const MOST_NUMBER: u64 = 1 << 40;

/// What has to hold.
#[derive(Clone, Default)]
pub(super) struct Needs {
    /// These sums of values that the loop does not change are not negative.
    pub(super) natural: BTreeSet<Sum>,
    /// Values are smaller than 2 to the power of this.
    pub(super) sizes: BTreeMap<Value, u32>,
}

impl Needs {
    fn is_nothing(&self) -> bool {
        self.natural.is_empty() && self.sizes.is_empty()
    }

    fn and(&mut self, other: Self) {
        self.natural.extend(other.natural);
        for (value, bits) in other.sizes {
            let least = self.sizes.entry(value).or_insert(bits);
            *least = bits.min(*least);
        }
    }

    /// A sum is computed in so many bits and does not wrap.
    fn small(&mut self, sum: &Sum, bits: u32) -> Option<()> {
        let room = sum.room(bits - SPARE_BITS)?;
        let values = sum.terms().flat_map(|(product, _)| product);
        let sizes = values.map(|v| (*v, room)).collect();
        let natural = BTreeSet::new();
        self.and(Self { natural, sizes });
        Some(())
    }
}

/// The checks of a loop that hold if something does beforehand.
#[derive(Default)]
pub(super) struct Found {
    pub(super) checks: BTreeSet<At>,
    pub(super) needs: Needs,
    /// These are all, and each turn comes to all of them.
    pub(super) all: bool,
}

/// A loop, with those inside.
pub(super) struct Region<'a, 'v> {
    view: &'a View<'v>,
    of: &'a Loop,
    /// Those of outer loops first.
    counters: Vec<Counter>,
    fixed: RefCell<HashMap<Value, bool>>,
    /// How much more is looked at for one check, and how deep it is.
    steps: Cell<u32>,
    depth: Cell<u32>,
}

impl<'a, 'v> Region<'a, 'v> {
    pub(super) fn new(view: &'a View<'v>, of: &'a Loop) -> Self {
        let mut out = Self {
            view,
            of,
            counters: Vec::new(),
            fixed: RefCell::default(),
            steps: Cell::new(MOST_STEPS),
            depth: Cell::new(0),
        };
        let inside = view.loops.iter().filter(|l| of.blocks.contains(l.header));
        let mut inside: Vec<&Loop> = inside.filter(|l| view.is_natural_loop(l)).collect();
        inside.sort_by_key(|l| Reverse(l.blocks.len()));
        for each in inside {
            let mut needs = Vec::new();
            out.steps.set(MOST_STEPS);
            let mut found = view.counters(each, &mut |v| out.sum(v, each.header, &mut needs));
            found.iter_mut().for_each(|c| c.needs.extend(needs.clone()));
            out.counters.extend(found);
        }
        out
    }

    /// Finds the checks; those that need nothing are added to `needless`, and those that are there already are none.
    pub(super) fn find(&self, needless: &mut BTreeSet<At>) -> Found {
        let mut found = Found {
            all: true,
            ..Found::default()
        };
        for block in self.of.blocks.iter() {
            let each_turn = self.is_in_each_turn(block);
            self.view.each_check(block, |at, cond| {
                if needless.contains(&at) {
                    return;
                }
                match self.check(cond, block) {
                    Some(needs) if needs.is_nothing() => _ = needless.insert(at),
                    Some(needs) => {
                        found.checks.insert(at);
                        found.needs.and(needs);
                        found.all &= each_turn;
                    }
                    None => found.all = false,
                }
            });
        }
        found
    }

    fn is_in_each_turn(&self, block: BlockId) -> bool {
        let around = self.view.loops.iter().filter(|l| l.blocks.contains(block));
        let innermost = around.min_by_key(|l| l.blocks.len());
        innermost.is_some_and(|l| {
            let mut latches = l.latches.iter();
            latches.all(|latch| self.view.dominators.dominates(block, *latch))
        })
    }

    /// What a check needs, if it can be shown to hold.
    fn check(&self, cond: Value, at: BlockId) -> Option<Needs> {
        let Order { low, high, strict } = self.view.order(cond, true)?;
        self.steps.set(MOST_STEPS);
        let bits = self.view.values.ty(high).bits();
        let mut also = Vec::new();
        let (low, high) = (
            self.sum(low, at, &mut also)?,
            self.sum(high, at, &mut also)?,
        );
        let between = high.plus(&low, -1)?;
        also.push(between.plus(&Sum::number(i64::from(strict)), -1)?);
        let mut needs = Needs::default();
        // If the sums as integers are values of the type, they are what was computed.
        if !low.is_plain(bits) {
            also.push(low);
        }
        if !high.is_plain(bits) {
            needs.and(self.small(&high, bits)?);
        }
        for sum in also {
            needs.and(self.natural(&sum)?);
        }
        Some(needs)
    }

    /// A value as a sum of what loops count and of what they do not change, if those are between their bounds at a place; what is in `needs`
    /// must not be negative.
    fn sum(&self, value: Value, at: BlockId, needs: &mut Vec<Sum>) -> Option<Sum> {
        self.deeper(|| self.sum_of(value, at, needs))?
    }

    /// Looks one step further, if that is not too far.
    fn deeper<T>(&self, look: impl FnOnce() -> T) -> Option<T> {
        let (steps, depth) = (self.steps.get(), self.depth.get());
        if steps == 0 || depth == MOST_DEPTH {
            return None;
        }
        self.steps.set(steps - 1);
        self.depth.set(depth + 1);
        let out = look();
        self.depth.set(depth);
        Some(out)
    }

    fn sum_of(&self, value: Value, at: BlockId, needs: &mut Vec<Sum>) -> Option<Sum> {
        let values = self.view.values;
        let ty = values.ty(value);
        if !is_natural(ty) {
            return None;
        }
        if let Some(bits) = values.known(value) {
            return (bits < MOST_NUMBER).then_some(Sum::number(bits as i64));
        }
        if let Some(counter) = self.counters.iter().find(|c| c.value == value) {
            let holds = self.view.dominators.dominates(counter.inside, at);
            return holds.then(|| Sum::of(value));
        }
        if self.is_fixed(value) {
            return Some(Sum::of(value));
        }
        match values.origin(value) {
            _ if ty.bits() < 32 => None,
            Origin::Binary(BinOp::Add, a, b) => {
                let a = self.sum(a, at, needs)?;
                a.plus(&self.sum(b, at, needs)?, 1)
            }
            Origin::Binary(BinOp::Sub, a, b) => {
                let a = self.sum(a, at, needs)?;
                a.plus(&self.sum(b, at, needs)?, -1)
            }
            Origin::Binary(BinOp::Mul, a, b) => {
                let a = self.sum(a, at, needs)?;
                a.times(&self.sum(b, at, needs)?)
            }
            Origin::Binary(BinOp::Shl, a, by) => {
                let by = values.known(by).filter(|by| *by < 16)?;
                self.sum(a, at, needs)?.times(&Sum::number(1 << by))
            }
            Origin::Cast(a) if values.ty(a).bits() <= ty.bits() => {
                let sum = self.sum(a, at, needs)?;
                if !sum.is_plain(values.ty(a).bits()) && values.ty(a).bits() < ty.bits() {
                    let most = Sum::number((1 << values.ty(a).bits()) - 1);
                    needs.push(most.plus(&sum, -1)?);
                    needs.push(sum.clone());
                }
                Some(sum)
            }
            _ => None,
        }
    }

    /// Whether the loop does not change a value.
    fn is_fixed(&self, value: Value) -> bool {
        if let Some(known) = self.fixed.borrow().get(&value) {
            return *known;
        }
        let values = self.view.values;
        let fixed = match values.origin(value) {
            Origin::Const(_) | Origin::Start(_) => true,
            Origin::Meet(block, _) | Origin::Found(block, _) => !self.of.blocks.contains(block),
            // What is too far away may be anything.
            _ => self
                .deeper(|| values.parts(value).all(|part| self.is_fixed(part)))
                .unwrap_or(false),
        };
        self.fixed.borrow_mut().insert(value, fixed);
        fixed
    }

    /// What has to hold so that a sum is never negative.
    fn natural(&self, sum: &Sum) -> Option<Needs> {
        self.deeper(|| self.natural_by(sum))?
    }

    fn natural_by(&self, sum: &Sum) -> Option<Needs> {
        let mut needs = Needs::default();
        let least = self.least(sum, &mut needs)?;
        match least.known() {
            Some(number) => (number >= 0).then_some(())?,
            None if least.only_adds() => {}
            None => {
                let (less, more) = least.sides();
                for side in [less, more].iter().filter(|s| !s.is_plain(u64::BITS)) {
                    needs.small(side, u64::BITS)?;
                }
                needs.natural.insert(least);
            }
        }
        Some(needs)
    }

    /// What has to hold so that a sum is computed in so many bits and never wraps.
    fn small(&self, sum: &Sum, bits: u32) -> Option<Needs> {
        let mut needs = Needs::default();
        let most = Sum::default().plus(sum, -1)?;
        for end in [sum, &most] {
            let end = self.deeper(|| self.least(end, &mut needs))??;
            needs.small(&end, bits)?;
        }
        Some(needs)
    }

    /// The least that a sum can be, of values that the loop does not change; that counters are between their bounds has to hold.
    fn least(&self, sum: &Sum, needs: &mut Needs) -> Option<Sum> {
        let mut least = sum.clone();
        for counter in self.counters.iter().rev() {
            let (by, rest) = least.split(counter.value)?;
            let end = match by.known() {
                Some(0) => continue,
                _ if by.only_adds() => &counter.least,
                _ if by.only_takes_away() => &counter.most,
                _ => return None,
            };
            least = rest.plus(&by.times(end)?, 1)?;
            for sum in &counter.needs {
                needs.and(self.natural(sum)?);
            }
            let bits = self.view.values.ty(counter.value).bits();
            for sum in &counter.sized {
                needs.and(self.small(sum, bits)?);
            }
        }
        Some(least)
    }
}
