//! Checks what a worker of the CPU decided against the rules that every policy here follows, by a model that knows nothing of the worker.
//!
//! The model has levels with entries and continuations, and does with them what the record says was done. The rules:
//!
//! 1. The deepest level that has work is taken. But entries of one level may run in several wavefronts before their children do.
//! 2. The elements of a level's channel run in order, and all of them run.
//! 3. Entries run before continuations, unless a full wavefront of continuations waits or their frames take the room for entries.
//! 4. An element that has no room beside others runs when none of its level waits.
//! 5. No more memory is used than is granted.

use millstream_aggregator::{Decision, Reason};
use millstream_channels_kernel::layout::Layouts;
use millstream_graph::{ir::SegmentId, levelized::Levelized};
use std::collections::BTreeMap;

/// A level: of each task the first entry that did not run and how many there are, of each continuation's stack how many wait.
#[derive(Debug, Default)]
struct Level {
    entries: BTreeMap<usize, (u64, u64)>,
    waiting: BTreeMap<usize, u64>,
}

impl Level {
    fn has_entries(&self) -> bool {
        self.entries.values().any(|e| e.1 > 0)
    }

    fn has_continuations(&self) -> bool {
        self.waiting.values().any(|&n| n > 0)
    }
}

/// What a program's channels hold while the record is read.
#[derive(Debug)]
struct Model {
    levels: Vec<Level>,
    /// The task whose entries a stack holds, the stack of each task's entries, and that of each continuation.
    task_of: BTreeMap<usize, usize>,
    entries: Vec<usize>,
    continuations: Vec<usize>,
    budget: u64,
    width: u64,
}

/// Follows a worker's record of a whole run.
///
/// # Errors
/// The first decision that breaks a rule, and which.
pub fn check(
    program: &Levelized,
    decisions: &[Decision],
    budget: u64,
    width: u64,
) -> Result<(), String> {
    let layouts = Layouts::new(program);
    let entries = program.tasks().map(|(t, _)| layouts.entry(t).index());
    let entries: Vec<usize> = entries.collect();
    let continuations = program.tasks().flat_map(|(t, task)| {
        let segments = 1..task.segments.len();
        segments.map(move |s| (t, SegmentId::new(s)))
    });
    let mut model = Model {
        levels: Vec::new(),
        task_of: entries.iter().enumerate().map(|(t, &s)| (s, t)).collect(),
        continuations: continuations
            .map(|(t, s)| layouts.continuation(t, s).index())
            .collect(),
        entries,
        budget,
        width,
    };
    let mut last = None;
    for (i, decision) in decisions.iter().enumerate() {
        model
            .follow(decision, last)
            .map_err(|rule| format!("decision {i}: {rule}\n{decision:?}\n{model:?}"))?;
        last = Some(decision);
    }
    if model
        .levels
        .iter()
        .any(|l| l.has_entries() || l.has_continuations())
    {
        return Err(format!("the run ended with work left\n{model:?}"));
    }
    Ok(())
}

fn rule(holds: bool, text: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(text.to_owned()) }
}

impl Model {
    fn follow(&mut self, d: &Decision, last: Option<&Decision>) -> Result<(), String> {
        rule(d.used <= self.budget, "more memory is used than is granted")?;
        rule(d.count > 0, "nothing ran")?;
        let deeper = self.levels.iter().skip(d.level + 1);
        let drained = deeper
            .clone()
            .all(|l| !l.has_entries() && !l.has_continuations());
        let gathers = last.is_some_and(|l| {
            l.level == d.level && l.reason == Reason::Entries && d.reason == Reason::Entries
        });
        rule(drained || gathers, "a deeper level has work")?;
        if drained {
            self.levels.truncate(d.level + 1);
        }
        if d.reason == Reason::Batch {
            let above = self.levels.get(d.level);
            let free = above.is_none_or(|l| !l.has_entries() && !l.has_continuations());
            rule(free, "the level of a batch is in use")?;
            self.levels.truncate(d.level);
            self.levels.resize_with(d.level + 1, Level::default);
            let entries = &mut self.levels[d.level].entries;
            entries.insert(d.segment, (d.first, d.count));
            return Ok(());
        }
        rule(self.levels.len() > d.level, "there is no such level")?;
        if d.segment < self.entries.len() {
            self.entries(d)?;
        } else {
            self.continuations(d)?;
        }
        self.push(d)
    }

    fn entries(&mut self, d: &Decision) -> Result<(), String> {
        let level = &mut self.levels[d.level];
        if d.reason == Reason::Alone {
            rule(d.count == 1, "more than one ran where one has room")?;
            rule(!level.has_continuations(), "a sibling's frame is alive")?;
        } else {
            rule(
                d.reason == Reason::Entries,
                "entries ran for another reason",
            )?;
        }
        let (first, count) = level
            .entries
            .get_mut(&d.segment)
            .ok_or("the level has none of these entries")?;
        rule(*first == d.first, "entries ran out of order")?;
        rule(*count >= d.count, "more entries ran than there are")?;
        *first += d.count;
        *count -= d.count;
        Ok(())
    }

    fn continuations(&mut self, d: &Decision) -> Result<(), String> {
        let stack = self.continuations[d.segment - self.entries.len()];
        let level = &mut self.levels[d.level];
        let entries = level.has_entries();
        let waiting = level.waiting.entry(stack).or_default();
        match d.reason {
            Reason::Drained => rule(!entries, "entries come before continuations")?,
            Reason::Full => rule(*waiting >= self.width, "no full wavefront waits")?,
            Reason::Short => rule(entries && d.held > 0, "memory is not short")?,
            Reason::Batch | Reason::Entries | Reason::Alone => {
                rule(false, "continuations ran for another reason")?;
            }
        }
        rule(*waiting >= d.count, "more continuations ran than wait")?;
        *waiting -= d.count;
        Ok(())
    }

    /// Children go one level deeper, continuations to their own.
    fn push(&mut self, d: &Decision) -> Result<(), String> {
        for &(stack, first, count) in &d.pushed {
            if let Some(&task) = self.task_of.get(&stack) {
                if self.levels.len() < d.level + 2 {
                    self.levels.push(Level::default());
                }
                let children = self.levels[d.level + 1]
                    .entries
                    .entry(task)
                    .or_insert((first, 0));
                rule(
                    children.0 + children.1 == first,
                    "children do not lie together",
                )?;
                children.1 += count;
            } else if self.continuations.contains(&stack) {
                *self.levels[d.level].waiting.entry(stack).or_default() += count;
            }
        }
        Ok(())
    }
}
