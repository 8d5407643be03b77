//! Where workers' ranges lie: pieces of the run's own stacks, above what lies there.

use super::launcher::Kind;
use millstream_channels_kernel::cuda::{plan::Plan, rules::NEIGHBOURS};

/// A worker's ranges begin at numbers that this divides, so that its warps read whole lines.
const ALIGNED: u32 = 32;
/// So many elements of each stack that a program needs one of a worker has at least, for each that one element pushes.
pub(super) const LEAST_UNITS: u64 = 64;
/// And so many of a worker with levels, which cannot hand back what finds no room, unless somebody wants all of it inside the blocks.
pub(super) const FRAMED_UNITS: u64 = 1024;
/// So many for each of its threads, where there is that much, of a stack whose elements run on private ones. Each warp of a worker may have as many elements as
/// find room in its part of the worker's range, and that is then a full wavefront for each of some dozen levels: with less, more workers at a time take longer,
/// for a wavefront of few elements takes as long as a full one.
const PRIVATE_UNITS: u64 = 8;
/// So many batches of roots there are for each worker, so that they end at about the same time.
const BATCHES: u32 = 4;
/// Roots of a batch at most: a wavefront.
const MOST_ROOTS: u32 = 256;

/// Where the workers' ranges lie.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Ranges {
    pub(super) workers: u32,
    /// Of each stack.
    pub(super) base: Vec<u32>,
    pub(super) share: Vec<u32>,
    /// Where the stack ended before.
    pub(super) end: Vec<u32>,
}

impl Ranges {
    /// Divides what is above `top` in stacks of these capacities among so many workers at most, blocks of so many threads; fewer, if there is little. None
    /// if there is not enough for one. What is promised to elements that run one at a time is not theirs: of a recall all that they have comes to lie
    /// below it.
    pub(super) fn new(
        plan: &Plan,
        capacities: &[u64],
        top: &[u32],
        most: u32,
        (kind, least_units, threads): (Kind, u64, u32),
    ) -> Option<Self> {
        let unit = u64::from(ALIGNED);
        // Of what a run has one element at most nothing is pushed below the first level that has several.
        let is_few = |s: usize| capacities[s] == plan.stacks[s].few();
        let base: Vec<u64> = (0..top.len())
            .map(|s| match is_few(s) {
                true => 0,
                false => u64::from(top[s]).next_multiple_of(unit),
            })
            .collect();
        let left = |s: usize| plan.stacks[s].wide(capacities[s]).saturating_sub(base[s]);
        let full = least_units.max(PRIVATE_UNITS * u64::from(threads));
        let is_private = |s: usize| {
            let mut sources = plan.sources.iter();
            kind == Kind::Flat && sources.any(|of| of.private && of.stack as usize == s)
        };
        let units = |s: usize, units: u64| (units * plan.stacks[s].weight).next_multiple_of(unit);
        let room_for = |s: usize| {
            let (room, least) = (left(s), units(s, least_units));
            match is_private(s) && room >= least {
                true => (room / units(s, full)).max(1),
                false => room / least,
            }
        };
        let large = (0..top.len()).filter(|s| !is_few(*s));
        let workers = large.map(room_for).fold(most.into(), u64::min);
        if workers == 0 {
            return None;
        }
        let share = |s: usize| match is_few(s) {
            true => capacities[s],
            false => left(s) / workers / unit * unit,
        };
        Some(Self {
            workers: workers as u32,
            share: (0..top.len()).map(|s| share(s) as u32).collect(),
            base: base.into_iter().map(|at| at as u32).collect(),
            end: top.to_vec(),
        })
    }

    /// So many roots of a stack are taken at a time, of `count`: not so many that they fill half of a worker's range, for where roots take most of the
    /// memory that may be few.
    pub(super) fn batch(&self, kind: Kind, count: u32, stack: usize) -> u32 {
        let even = count.div_ceil(BATCHES * self.workers).min(MOST_ROOTS);
        let even = match kind {
            Kind::Flat => even.next_multiple_of(NEIGHBOURS),
            Kind::Framed => even,
        };
        even.min(self.share[stack] / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_of_roots_finds_room_in_the_range_of_a_worker() {
        let ranges = |workers, share| Ranges {
            workers,
            base: vec![0],
            share: vec![share],
            end: vec![0],
        };
        assert_eq!(
            ranges(500, 1 << 20).batch(Kind::Flat, 1_000_000, 0),
            MOST_ROOTS
        );
        assert_eq!(ranges(500, 1 << 20).batch(Kind::Flat, 3000, 0), 4);
        // Children of roots with levels lie beside each other whatever number the first root has.
        assert_eq!(ranges(500, 1 << 20).batch(Kind::Framed, 1000, 0), 1);
        // As long as the range once, or twice as long.
        assert_eq!(ranges(3, 256).batch(Kind::Flat, 5000, 0), 128);
        assert_eq!(ranges(3, 128).batch(Kind::Flat, 5000, 0), 64);
    }
}
