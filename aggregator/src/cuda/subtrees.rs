//! Subtree dispatches: the tier inside the blocks. A dispatch across the device runs one segment over a run of elements; a subtree dispatch gives the
//! elements of an entry channel to *workers*, which run each with all that comes of it. A worker is a block with a range of each of the run's
//! stacks, above what lies there, and with the same policy for it (`device/workers.cu`).

use super::{
    decision::{Run as Chosen, Worked},
    framed::{self, Framed},
    launcher::{Kind, Launcher},
    policy::Policy,
    ranges::{FRAMED_UNITS, LEAST_UNITS, Ranges},
    run::{Counts, Run, words},
};
use crate::{error::RunError, gpus, report::SubtreesReport, timeline::now};
use millstream_channels_kernel::cuda::abi::{Crew, Gift, status};
use std::{ops::Range, sync::atomic::Ordering};

/// So many roots for each worker are enough, for then some can have less below them than others.
const ENOUGH_ROOTS: u32 = 16;
/// After so many dispatches without enough roots, there will not be more. A run with more levels than this is a deep one.
const PATIENCE: u64 = 32;
/// One worker in so many with a root is enough then: they divide among themselves what comes of it.
const FEW_ROOTS: u32 = 8;
/// A deep run is narrow if its level has at least as many elements as this, and its dispatches no more than that on an average: a dispatch across the
/// device takes longer than its elements. With fewer there is hardly one for each worker at a time, and one block, or one warp, is as fast.
const NARROW: Range<u32> = 128..16 << 10;
/// Where a run's stacks hold no more elements than this, and a level finds no room at once, dispatches across the device are of few hundred thousand at
/// most, each a part of a level, and take longer than the same inside the blocks. Where there is more room, they are as wide as the level, and faster.
const LITTLE_ROOM: u64 = 32 << 20;

/// How many dispatches across the device come after a subtree dispatch that was recalled, the so many-th: each time twice as many, so that a program whose
/// subtrees never find room loses little by them, and one that met a bad moment goes on inside the blocks.
fn rest(recalls: u64) -> u64 {
    PATIENCE << (recalls - 1).min(32)
}

/// How far a run is, for who asks whether a subtree dispatch is worth it.
struct SoFar {
    /// Workers that there would be.
    workers: u32,
    /// Levels, dispatches, and elements that they ran.
    levels: u32,
    dispatches: u64,
    ran: u64,
    /// Elements of the smallest stack that a subtree needs.
    room: u64,
    /// Whether workers have private stacks for the elements.
    private: bool,
}

/// How many elements of an entry channel's level are enough for a subtree dispatch, and whether only if they find no room at once across the device.
fn enough(policy: gpus::Policy, so_far: &SoFar) -> (u32, bool) {
    let mean = so_far.ran / so_far.dispatches.max(1);
    let deep = u64::from(so_far.levels) > PATIENCE;
    // Workers with private stacks are at least as fast as the other tier, whatever memory there is, as soon as each has a root. A level of a few elements is a
    // wavefront of one warp there, a fifth of a microsecond; and who has none soon gets some.
    if policy == gpus::Policy::Block || (policy == gpus::Policy::Auto && so_far.private) {
        let enough = match so_far.dispatches > PATIENCE {
            true => 1,
            false => so_far.workers,
        };
        return (enough, false);
    }
    match policy {
        gpus::Policy::Auto if deep && mean < NARROW.end.into() => {
            (so_far.workers.div_ceil(FEW_ROOTS).max(NARROW.start), false)
        }
        gpus::Policy::Auto if so_far.room <= LITTLE_ROOM => (ENOUGH_ROOTS * so_far.workers, true),
        _ => (u32::MAX, false),
    }
}

impl Counts {
    /// Dispatches across the device, but for those of workers with levels.
    pub(super) const fn across(&self) -> u64 {
        self.dispatches - self.workers.framed_count
    }
}

/// What became of a subtree dispatch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Subtrees {
    /// There was none.
    None,
    /// All that came of its roots is done.
    Done,
    /// The run has to end.
    Stopped,
}

/// What workers counted in a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Workers {
    pub(super) report: SubtreesReport,
    /// There is no subtree dispatch before so many dispatches.
    pub(super) not_before: u64,
    /// The same of tasks with frames; how many of these there were, and elements that workers ran in all of them.
    pub(super) framed: Framed,
    pub(super) framed_count: u64,
    framed_ran: u64,
    /// The most elements at once, of each stack; nothing if there was no such dispatch.
    pub(super) peak: Vec<u32>,
}

impl<L: Launcher> Run<'_, L> {
    /// Has workers run what the policy has on an entry channel of its level, if that is worth it.
    pub(super) fn subtrees(
        &self,
        policy: &mut Policy<'_>,
        counts: &mut Counts,
    ) -> Result<Subtrees, RunError> {
        if self.settings.policy == gpus::Policy::Device {
            return Ok(Subtrees::None);
        }
        if counts.dispatches >= counts.workers.not_before
            && self.inside.flat.contains(&true)
            && let Some((run, ranges)) = self.flat_roots(policy, counts)?
        {
            return self.work_inside(policy, counts, (Kind::Flat, run, &ranges));
        }
        if self.may_frame()
            && let Some((run, ranges)) = self.framed_roots(policy, counts)?
        {
            return self.work_inside(policy, counts, (Kind::Framed, run, &ranges));
        }
        Ok(Subtrees::None)
    }

    /// Roots of tasks without frames that are worth it.
    fn flat_roots(
        &self,
        policy: &mut Policy<'_>,
        counts: &Counts,
    ) -> Result<Option<(Chosen, Ranges)>, RunError> {
        let asked = self.settings.policy;
        let most = self.most_workers(Kind::Flat)?;
        if most == 0 {
            return Ok(None);
        }
        let threads = self.launcher.kernels().shape.block;
        let divide = |top: &[u32], _: u32| {
            let free = asked == gpus::Policy::Block || self.is_half_free(top);
            let kind = (Kind::Flat, LEAST_UNITS, threads);
            free.then(|| Ranges::new(self.plan(), &self.arena.capacities, top, most, kind))?
        };
        let so_far = |private| SoFar {
            workers: most,
            levels: policy.reached(),
            dispatches: counts.dispatches,
            ran: policy.consumed().iter().sum(),
            room: self.flat_room(),
            private,
        };
        // Of what has private stacks fewer roots are enough.
        let so_far = [true, false].map(so_far);
        let mut roots = |of: &[bool], so_far| {
            let (enough, short) = enough(asked, so_far);
            policy.roots(enough, short, of, divide)
        };
        let inside = &self.inside;
        let found = roots(&inside.private, &so_far[0]);
        Ok(found.or_else(|| roots(&inside.flat, &so_far[1])))
    }

    /// Roots of tasks with frames that are worth it.
    fn framed_roots(
        &self,
        policy: &mut Policy<'_>,
        counts: &Counts,
    ) -> Result<Option<(Chosen, Ranges)>, RunError> {
        let most = self.most_workers(Kind::Framed)?;
        let seen = &counts.workers;
        let so_far = framed::SoFar {
            workers: most,
            dispatches: counts.across(),
            ran: policy.consumed().iter().sum::<u64>() - seen.framed_ran,
        };
        if most == 0 {
            return Ok(None);
        }
        let asked = self.settings.policy;
        let divide = |top: &[u32], roots: u32| {
            let least = match self.settings.policy {
                gpus::Policy::Block => LEAST_UNITS,
                gpus::Policy::Auto | gpus::Policy::Device => FRAMED_UNITS,
            };
            let kind = (Kind::Framed, least, self.launcher.kernels().shape.block);
            let divide = |most| Ranges::new(self.plan(), &self.arena.capacities, top, most, kind);
            let all = divide(most)?;
            let enough = all.workers >= Framed::least_workers(asked, so_far);
            match all.workers > roots {
                _ if !enough => None,
                // So each has more.
                true => divide(roots),
                false => Some(all),
            }
        };
        let mut roots = |single: bool, of: &[bool]| {
            let enough = seen.framed.enough(self.settings.policy, single, so_far)?;
            policy.roots(enough, false, of, divide)
        };
        let found = roots(true, &self.inside.single);
        Ok(found.or_else(|| roots(false, &self.inside.framed)))
    }

    fn most_workers(&self, kind: Kind) -> Result<u32, RunError> {
        Ok(self.launcher.workers(kind)?.min(self.arena.tables.workers))
    }

    /// Whether workers may run tasks with frames: the run can be begun again, and none of this program was because of them.
    pub(super) fn may_frame(&self) -> bool {
        self.settings.policy != gpus::Policy::Device
            && self.can_begin_again
            && self.inside.framed.contains(&true)
            && !self.launcher.kernels().is_crowded()
    }

    /// Whether a run that was chosen is one of tasks with frames that workers may run.
    pub(super) fn may_be_roots(&self, run: &Chosen) -> bool {
        self.may_frame() && self.inside.framed[run.source]
    }

    /// Whether the first level with several elements may be roots already: the host thread decides from the beginning then.
    pub(super) fn begins_inside(&self) -> Result<bool, RunError> {
        Ok(self.inside.single.contains(&true) && self.has_framed()?)
    }

    /// Whether there are such workers.
    fn has_framed(&self) -> Result<bool, RunError> {
        Ok(self.may_frame() && self.most_workers(Kind::Framed)? > 0)
    }

    /// Has workers run roots with all that comes of them.
    fn work_inside(
        &self,
        policy: &mut Policy<'_>,
        counts: &mut Counts,
        (kind, run, ranges): (Kind, Chosen, &Ranges),
    ) -> Result<Subtrees, RunError> {
        let (begun, plan) = (now(), self.plan());
        // Relaxed: pairs with `CudaCancel::cancel`.
        if self.launcher.shared_word(0).load(Ordering::Relaxed) != 0 {
            return Err(RunError::Cancelled);
        }
        let (at, workers, crew) = (
            Crew::new(plan),
            ranges.workers,
            self.base + self.arena.tables.crew,
        );
        let marks = policy.marks() as u32;
        self.write(
            self.arena.tables.crew,
            &self.crew((kind, &run, ranges), marks),
        )?;
        self.watched.dispatch(&run, plan);
        self.watched.kernel_begins();
        // SAFETY: inside the run's memory.
        unsafe {
            let bytes = u64::from(workers) * size_of::<Gift>() as u64;
            self.launcher
                .zero(self.base + self.arena.tables.gifts, bytes)?;
            // What the record says is laid out so.
            self.launcher.subtrees(kind, crew, workers)?;
        }
        self.await_kernel()?;
        self.watched.kernel_ended();
        let read = || Ok::<_, RunError>(words(&self.read(self.arena.tables.crew, at.bytes())?));
        let mut record = read()?;
        let status = words(&self.read(self.arena.tables.control, 4)?)[0];
        let ended = status == status::OK;
        if kind == Kind::Framed && [status::CHANNEL_FULL, status::LEVELS_FULL].contains(&status) {
            self.launcher.kernels().crowd();
        }
        let recalled = ended && at.recall.get(&record) != 0;
        if recalled {
            tracing::debug!("a worker found no room: what is left goes on across the device");
            // SAFETY: as above; the workers have ended.
            unsafe { self.launcher.gather(crew, workers) }?;
            self.await_kernel()?;
            record = read()?;
        }
        let taken = at.ticket.get(&record).min(at.batches.get(&record));
        let worked = Worked {
            ran: at.consumed.all(&record),
            roots: taken.saturating_mul(at.batch.get(&record)).min(run.count),
            left: left(&at.returned.all(&record), ranges),
        };
        policy.took(&run, &worked);
        counts.dispatches += 1;
        let sums = &mut counts.workers;
        let report = &mut sums.report;
        report.count += 1;
        report.private |= plan.sources[run.source].private;
        report.workers = report.workers.max(workers);
        report.dispatches += at.dispatches.get(&record);
        report.donated += at.donated.get(&record);
        report.acquired += at.acquired.get(&record);
        if kind == Kind::Framed {
            sums.framed_count += 1;
            sums.framed_ran += worked.ran.iter().sum::<u64>();
            let each = at.dispatches.get(&record) / u64::from(run.count.min(workers).max(1));
            let across = counts.dispatches - sums.framed_count;
            sums.framed.did(each, across);
            report.framed = true;
        }
        if recalled {
            report.recalls += 1;
            sums.not_before = counts.dispatches + rest(report.recalls);
        }
        sums.peak.resize(ranges.base.len(), 0);
        let peaks = at.peak.all(&record);
        for ((most, peak), base) in sums.peak.iter_mut().zip(peaks).zip(&ranges.base) {
            *most = (*most).max(if peak > 0 { base + peak } else { 0 });
        }
        // Of what workers do nobody counts lanes.
        counts.unseen = true;
        if let Some(records) = &mut counts.records {
            records.push_subtrees(plan, run, worked, (begun, now()), workers);
        }
        self.watched.publish(policy, counts.dispatches);
        Ok(if ended {
            Subtrees::Done
        } else {
            Subtrees::Stopped
        })
    }

    /// After how many dispatches the persistent kernel asks whether narrow levels have become worth a subtree dispatch: the longer the run, the later, so
    /// that it costs nothing.
    pub(super) fn narrow_limit(&self, counts: &Counts) -> Result<u32, RunError> {
        let of = |dispatches: u64| u32::try_from(dispatches).unwrap_or(u32::MAX);
        if self.settings.policy == gpus::Policy::Device {
            return Ok(u32::MAX);
        }
        let flat = self.inside.flat.contains(&true).then(|| {
            let waits = counts.workers.not_before.saturating_sub(counts.dispatches);
            of((2 * PATIENCE).max(counts.dispatches).max(waits))
        });
        let framed = self.has_framed()?;
        let framed = framed.then(|| of(counts.workers.framed.limit(counts.across())));
        Ok(flat.into_iter().chain(framed).min().unwrap_or(u32::MAX))
    }

    /// Whether half of each stack that a subtree needs is free. Above levels that wait in more of it workers would soon find no room; a level further up has more.
    fn is_half_free(&self, top: &[u32]) -> bool {
        let (plan, capacities) = (self.plan(), &self.arena.capacities);
        let flat = plan.sources.iter().zip(&self.inside.flat).filter(|f| *f.1);
        flat.map(|(source, _)| source.stack as usize).all(|s| {
            u64::from(top[s]) * 2 <= capacities[s] || capacities[s] == plan.stacks[s].few()
        })
    }

    /// Whether workers, which are there, get what finds no room at once across the device.
    pub(super) fn take_over(&self) -> Result<bool, RunError> {
        let may = self.settings.policy == gpus::Policy::Auto
            && self.inside.flat.contains(&true)
            && (self.flat_room() <= LITTLE_ROOM || self.inside.is_private(self.plan(), self.task));
        Ok(may && self.launcher.workers(Kind::Flat)? > 0)
    }

    /// Elements of the smallest stack that a subtree needs, of those that have room for several.
    fn flat_room(&self) -> u64 {
        let plan = self.plan();
        let stacks = plan.sources.iter().zip(&self.inside.flat);
        let stacks = stacks
            .filter(|(_, flat)| **flat)
            .map(|(s, _)| s.stack as usize);
        let capacities = stacks.map(|s| (s, self.arena.capacities[s]));
        let large = capacities.filter(|(s, capacity)| *capacity != plan.stacks[*s].few());
        large.map(|(_, capacity)| capacity).min().unwrap_or(0)
    }

    /// The record that workers take.
    fn crew(&self, (kind, run, ranges): (Kind, &Chosen, &Ranges), marks: u32) -> Vec<u8> {
        let (plan, at) = (self.plan(), Crew::new(self.plan()));
        let mut words = at.zeroed();
        at.stack.set(&mut words, plan.sources[run.source].stack);
        at.level.set(&mut words, run.level);
        at.first.set(&mut words, run.first);
        at.count.set(&mut words, run.count);
        let batch = ranges.batch(kind, run.count, plan.sources[run.source].stack as usize);
        let batches = run.count.div_ceil(batch);
        at.batch.set(&mut words, batch);
        at.batches.set(&mut words, batches);
        at.alive.set(&mut words, batches);
        at.base.fill(&mut words, &ranges.base);
        at.share.fill(&mut words, &ranges.share);
        at.end.fill(&mut words, &ranges.end);
        // Above those of the run, which are the host's.
        let room = self.arena.tables.room.marks.saturating_sub(marks);
        at.marks.set(&mut words, self.base + self.mark(marks));
        at.marks_each.set(&mut words, room / ranges.workers);
        at.gifts
            .set(&mut words, self.base + self.arena.tables.gifts);
        at.rests
            .set(&mut words, self.base + self.arena.tables.rests);
        words.into_iter().flat_map(u32::to_le_bytes).collect()
    }
}

/// What `gather` has brought together.
fn left(returned: &[u32], ranges: &Ranges) -> Vec<(usize, u32, u32)> {
    let returned = returned.iter().enumerate();
    let some = returned.filter(|(_, count)| **count > 0);
    some.map(|(s, count)| (s, ranges.end[s], *count)).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends there")]
mod tests {
    use super::*;

    #[test]
    fn workers_are_for_little_memory_and_for_narrow_trees() {
        use gpus::Policy::{Auto, Block, Device};
        let so_far = |levels, dispatches, ran, room| SoFar {
            workers: 500,
            levels,
            dispatches,
            ran,
            room,
            private: false,
        };
        let (begins, small) = (so_far(3, 3, 100, 1 << 30), so_far(3, 3, 100, 1 << 24));
        let wide = so_far(40, 100, 1 << 30, 1 << 30);
        let (narrow, sort) = (
            so_far(40, 100, 1 << 18, 1 << 30),
            so_far(12, 100, 1 << 18, 1 << 30),
        );
        let never = (u32::MAX, false);
        for (policy, expected) in [
            (Device, [never; 5]),
            (Auto, [never, (8000, true), never, (128, false), never]),
            (Block, [500, 500, 1, 1, 1].map(|enough| (enough, false))),
        ] {
            let found = [&begins, &small, &wide, &narrow, &sort].map(|s| enough(policy, s));
            assert_eq!(found, expected, "{policy:?}");
        }
        // On private stacks they are at least as fast as the other tier.
        let private = |of: SoFar| SoFar {
            private: true,
            ..of
        };
        let found = [begins, wide, narrow].map(|s| enough(Auto, &private(s)));
        assert_eq!(found, [(500, false), (1, false), (1, false)]);
    }
}
