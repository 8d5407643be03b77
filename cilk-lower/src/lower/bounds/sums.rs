//! Sums of products of values: what an index is, as an integer.

use super::values::Value;
use std::collections::BTreeMap;

/// More products are not followed.
const MOST_TERMS: usize = 8;
/// Nor are ones of more values.
const MOST_FACTORS: usize = 3;

/// A sum of products, each so many times; a product of nothing is 1.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Sum(BTreeMap<Vec<Value>, i64>);

impl Sum {
    pub(super) fn of(value: Value) -> Self {
        Self(BTreeMap::from([(vec![value], 1)]))
    }

    pub(super) fn number(number: i64) -> Self {
        let mut out = Self::default();
        if number != 0 {
            out.0.insert(Vec::new(), number);
        }
        out
    }

    /// This and so many times another; none if that is too much to follow.
    pub(super) fn plus(&self, other: &Self, times: i64) -> Option<Self> {
        let mut out = self.clone();
        for (product, count) in &other.0 {
            let at = out.0.entry(product.clone()).or_default();
            *at = at.checked_add(count.checked_mul(times)?)?;
        }
        out.0.retain(|_, count| *count != 0);
        (out.0.len() <= MOST_TERMS).then_some(out)
    }

    pub(super) fn times(&self, other: &Self) -> Option<Self> {
        let mut out = Self::default();
        for (product, count) in &self.0 {
            let mut one = Self::default();
            for (with, times) in &other.0 {
                let mut both = [&product[..], with].concat();
                both.sort_unstable();
                if both.len() > MOST_FACTORS {
                    return None;
                }
                one.0.insert(both, count.checked_mul(*times)?);
            }
            out = out.plus(&one, 1)?;
        }
        Some(out)
    }

    /// What a value is multiplied by, and what is left; none if it is multiplied by itself.
    pub(super) fn split(&self, value: Value) -> Option<(Self, Self)> {
        let (mut by, mut rest) = (Self::default(), Self::default());
        for (product, count) in &self.0 {
            let others: Vec<Value> = product.iter().copied().filter(|v| *v != value).collect();
            match product.len() - others.len() {
                0 => rest.0.insert(others, *count),
                1 => by.0.insert(others, *count),
                _ => return None,
            };
        }
        Some((by, rest))
    }

    /// Whether no product is taken away.
    pub(super) fn only_adds(&self) -> bool {
        self.0.values().all(|count| *count > 0)
    }

    pub(super) fn only_takes_away(&self) -> bool {
        self.0.values().all(|count| *count < 0)
    }

    /// The number that it is, if it has no values.
    pub(super) fn known(&self) -> Option<i64> {
        match self.0.iter().next() {
            None => Some(0),
            Some((product, count)) if product.is_empty() && self.0.len() == 1 => Some(*count),
            Some(_) => None,
        }
    }

    /// Whether it is one value, or a number that fits so many bits: then it is what was computed in them.
    pub(super) fn is_plain(&self, bits: u32) -> bool {
        let one = |(product, count): (&Vec<Value>, &i64)| product.len() == 1 && *count == 1;
        let fits = |n: i64| n >= 0 && (bits >= 63 || n < 1 << bits);
        self.known().is_some_and(fits) || self.0.len() == 1 && self.0.iter().all(one)
    }

    /// What is taken away, and what it is taken away from.
    pub(super) fn sides(&self) -> (Self, Self) {
        let side = |sign: i64| {
            let of = self.0.iter().filter(|(_, count)| count.signum() == sign);
            Self(
                of.map(|(product, count)| (product.clone(), count * sign))
                    .collect(),
            )
        };
        (side(-1), side(1))
    }

    /// The products and how often each is added.
    pub(super) fn terms(&self) -> impl Iterator<Item = (&[Value], i64)> {
        self.0.iter().map(|(product, count)| (&product[..], *count))
    }

    /// How many bits its values may have so that it, and each part of it, has no more than `bits`.
    pub(super) fn room(&self, bits: u32) -> Option<u32> {
        let counts = self.0.values().map(|count| count.unsigned_abs());
        let all = counts.fold(0u64, u64::saturating_add);
        let factors = self.0.keys().map(Vec::len).max().unwrap_or(0).max(1);
        let own = u64::BITS - all.leading_zeros();
        Some(bits.checked_sub(own)? / factors as u32)
    }
}
