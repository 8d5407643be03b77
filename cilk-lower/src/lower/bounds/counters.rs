//! What loops count, and between which sums it lies.

use super::{
    View,
    facts::is_natural,
    sums::Sum,
    values::{Origin, Value},
};
use millstream_graph::{
    flow::Loop,
    ir::{BinOp, BlockId, Terminator},
};

/// A value that a loop counts up or down by a constant.
#[derive(Clone, Debug)]
pub(super) struct Counter {
    pub(super) value: Value,
    pub(super) least: Sum,
    pub(super) most: Sum,
    /// Where that is so, and in all that this block dominates.
    pub(super) inside: BlockId,
    /// It is so only where none of these sums is so large that it might wrap.
    pub(super) sized: Vec<Sum>,
    /// And where these are not negative.
    pub(super) needs: Vec<Sum>,
}

/// A comparison that holds: less, or no greater.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    pub(super) low: Value,
    pub(super) high: Value,
    pub(super) strict: bool,
}

impl View<'_> {
    /// What it says of two unsigned integers that a condition holds or not.
    pub(super) fn order(&self, cond: Value, holds: bool) -> Option<Order> {
        let Origin::Binary(op, a, b) = self.values.origin(cond) else {
            return None;
        };
        let (low, high, strict) = match (op, holds) {
            (BinOp::Lt, true) | (BinOp::Ge, false) => (a, b, true),
            (BinOp::Le, true) | (BinOp::Gt, false) => (a, b, false),
            (BinOp::Gt, true) | (BinOp::Le, false) => (b, a, true),
            (BinOp::Ge, true) | (BinOp::Lt, false) => (b, a, false),
            _ => return None,
        };
        is_natural(self.values.ty(a)).then_some(Order { low, high, strict })
    }

    /// The value of a branch's condition.
    pub(super) fn condition(&self, block: BlockId) -> Option<Value> {
        match self.function.blocks[block.index()].term {
            Terminator::Branch { cond, .. } => self.values.held(self.values.end(block), cond),
            _ => None,
        }
    }

    /// What a loop counts, as sums of what `sum` makes of values that it does not change.
    pub(super) fn counters(
        &self,
        of: &Loop,
        sum: &mut impl FnMut(Value) -> Option<Sum>,
    ) -> Vec<Counter> {
        let changing = self.values.changing().iter().enumerate();
        let counted = changing.filter_map(|(place, _)| {
            let value = self.values.start(of.header)[place];
            let ty = self.values.ty(value);
            let counts = matches!(self.values.origin(value), Origin::Meet(at, _) if at == of.header)
                && is_natural(ty)
                && ty.bits() >= 32;
            let mut steps = of
                .latches
                .iter()
                .map(|l| self.step(value, self.values.end(*l)[place]));
            let step = steps.next().flatten().filter(|_| counts)?;
            let outside = self.flow.sources(of.header).iter();
            let mut outside = outside.filter(|b| !of.latches.contains(b));
            let entry = self.values.end(*outside.next()?)[place];
            (steps.all(|s| s == Some(step)) && outside.all(|b| self.values.end(*b)[place] == entry))
                .then_some((value, entry, step))
        });
        let counted: Vec<_> = counted.collect();
        let counters = counted.into_iter().filter_map(|(value, entry, step)| {
            let entry = sum(entry)?;
            match step {
                (BinOp::Add, by) => self
                    .counts_up(of, value, &entry, by, sum)
                    .or_else(|| self.counts_to(of, value, &entry, by, sum)),
                (_, 1) => self.counts_down(of, value, &entry, sum),
                _ => None,
            }
        });
        counters.collect()
    }

    /// By how much a value is more or less than another.
    fn step(&self, from: Value, to: Value) -> Option<(BinOp, u64)> {
        match self.values.origin(to) {
            Origin::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) if a == from => {
                let by = self.values.known(b)?;
                (1..1 << 16).contains(&by).then_some((op, by))
            }
            _ => None,
        }
    }

    /// What a loop asks before each turn, and where it goes on if that holds.
    fn asked(&self, of: &Loop) -> Option<(Value, bool, BlockId)> {
        let Terminator::Branch { then, other, .. } = self.function.blocks[of.header.index()].term
        else {
            return None;
        };
        let holds = of.blocks.contains(then);
        let inside = if holds { then } else { other };
        let leaves = holds != of.blocks.contains(other);
        let alone = self.flow.sources(inside).len() == 1;
        let each_turn = |l: &BlockId| self.dominators.dominates(inside, *l);
        (leaves && alone && of.latches.iter().all(each_turn)).then_some((
            self.condition(of.header)?,
            holds,
            inside,
        ))
    }

    /// `while value + ahead < end`, or `<=`. Where the value grows by more than one, or the sum might wrap, all must be small.
    fn counts_up(
        &self,
        of: &Loop,
        value: Value,
        entry: &Sum,
        by: u64,
        sum: &mut impl FnMut(Value) -> Option<Sum>,
    ) -> Option<Counter> {
        let (cond, holds, inside) = self.asked(of)?;
        let Order { low, high, strict } = self.order(cond, holds)?;
        let ahead = match self.step(value, low) {
            _ if low == value => 0,
            Some((BinOp::Add, ahead)) => ahead,
            _ => return None,
        };
        let end = sum(high)?;
        let most = end.plus(&Sum::number(ahead as i64 + i64::from(strict)), -1)?;
        let bits = self.values.ty(value).bits();
        let plain = |s: &Sum| s.is_plain(bits);
        let exact = ahead == 0 && by == 1 && strict && plain(entry) && plain(&end);
        let wrapped = |s: &&Sum| !plain(s);
        Some(Counter {
            value,
            needs: [entry, &end].into_iter().filter(wrapped).cloned().collect(),
            sized: if exact {
                Vec::new()
            } else {
                vec![entry.clone(), end, most.clone()]
            },
            least: entry.clone(),
            most,
            inside,
        })
    }

    /// The loop of an inclusive range: it ends behind the turn of `last`, which is no less than the first.
    fn counts_to(
        &self,
        of: &Loop,
        value: Value,
        entry: &Sum,
        by: u64,
        sum: &mut impl FnMut(Value) -> Option<Sum>,
    ) -> Option<Counter> {
        let [latch] = of.latches[..] else { return None };
        // Behind the question there may be a block that only counts.
        let (at, to) = match self.flow.sources(latch) {
            [before] if self.condition(latch).is_none() => (*before, latch),
            _ => (latch, of.header),
        };
        let Terminator::Branch { then, other, .. } = self.function.blocks[at.index()].term else {
            return None;
        };
        let last = match self.values.origin(self.condition(at)?) {
            Origin::Binary(BinOp::Eq, a, last) if a == value && other == to && then != to => last,
            Origin::Binary(BinOp::Ne, a, last) if a == value && then == to && other != to => last,
            _ => return None,
        };
        let last = sum(last)?;
        let bits = self.values.ty(value).bits();
        (by == 1 && entry.is_plain(bits) && last.is_plain(bits)).then_some(())?;
        Some(Counter {
            value,
            needs: vec![last.plus(entry, -1)?],
            sized: Vec::new(),
            least: entry.clone(),
            most: last,
            inside: of.header,
        })
    }

    /// `while value > end`, down by one, or until it is 0.
    fn counts_down(
        &self,
        of: &Loop,
        value: Value,
        entry: &Sum,
        sum: &mut impl FnMut(Value) -> Option<Sum>,
    ) -> Option<Counter> {
        let (cond, holds, inside) = self.asked(of)?;
        let bits = self.values.ty(value).bits();
        let least = match self.order(cond, holds) {
            Some(order) if order.high == value && order.strict => {
                let end = sum(order.low)?;
                end.is_plain(bits).then_some(())?;
                end.plus(&Sum::number(1), 1)?
            }
            _ => match (self.values.origin(cond), holds) {
                (Origin::Binary(BinOp::Ne, a, zero), true)
                | (Origin::Binary(BinOp::Eq, a, zero), false)
                    if a == value && self.values.known(zero) == Some(0) =>
                {
                    Sum::number(1)
                }
                _ => return None,
            },
        };
        entry.is_plain(bits).then_some(Counter {
            value,
            needs: Vec::new(),
            sized: Vec::new(),
            least,
            most: entry.clone(),
            inside,
        })
    }
}
