//! Which elements workers may run with all that comes of them: what is seen in a program beforehand.

use millstream_channels_kernel::cuda::plan::{Mode, Plan, Source, SourcePush, StackKind};
use millstream_graph::ir::TaskId;

/// Of which sources workers may run elements with all that comes of them, by the source's number.
#[derive(Debug)]
pub(super) struct Inside {
    /// Entry elements of tasks without frames, whose children are such too.
    pub(super) flat: Vec<bool>,
    /// Those of them that have private stacks there, and so nothing else below them.
    pub(super) private: Vec<bool>,
    /// Entry elements of the others, where levels multiply.
    pub(super) framed: Vec<bool>,
    /// Those of them that have one child at a time, and so have their children and theirs.
    pub(super) single: Vec<bool>,
}

impl Inside {
    /// What cannot be counted before it has run needs all the room that there is.
    pub(super) fn of(plan: &Plan) -> Self {
        let ends_well = |source: &Source| {
            let entries = source
                .pushes
                .iter()
                .all(|p| plan.stacks[p.stack as usize].kind == StackKind::Entry);
            let counted = !matches!(
                source.mode,
                Mode::Direct { .. } | Mode::Scanned { heavy: true, .. }
            ) || source.pushes.iter().all(|p| p.max.is_some());
            source.is_entry() && entries && counted
        };
        let may = |source: &Source| {
            let reached = plan.reached(source.task);
            let of = || plan.sources.iter().filter(|s| reached[s.task.index()]);
            // What does not recurse is few levels, and wide.
            let deep = of().any(|s| plan.recurses(s));
            source.is_entry() && deep && of().all(ends_well)
        };
        let flat: Vec<bool> = plan.sources.iter().map(may).collect();
        let private = plan.sources.iter().zip(&flat);
        let private = private.map(|(source, flat)| *flat && source.private);
        let framed = plan.framed.iter().zip(&flat);
        let framed: Vec<bool> = framed.map(|(framed, flat)| *framed && !*flat).collect();
        let is_entry = |p: &&SourcePush| plan.stacks[p.stack as usize].kind == StackKind::Entry;
        let has_one = |source: &Source| {
            let children = source.pushes.iter().filter(is_entry).map(|p| p.max);
            children.sum::<Option<u32>>().is_some_and(|most| most <= 1)
        };
        let single = plan.sources.iter().zip(&framed).map(|(source, framed)| {
            let reached = plan.reached(source.task);
            let mut of = plan.sources.iter().filter(|s| reached[s.task.index()]);
            *framed && of.all(has_one)
        });
        Self {
            private: private.collect(),
            single: single.collect(),
            framed,
            flat,
        }
    }

    /// Whether there are any.
    pub(super) fn has_some(&self) -> bool {
        self.flat.contains(&true) || self.framed.contains(&true)
    }

    /// Those among which a source is chosen for roots.
    pub(super) fn beside(&self, source: usize) -> &[bool] {
        let kinds = [&self.private, &self.single, &self.framed];
        let of = kinds.into_iter().find(|kind| kind[source]);
        of.unwrap_or(&self.flat)
    }

    /// Whether all that recurses below a task, of what workers may run, has private stacks.
    pub(super) fn is_private(&self, plan: &Plan, task: TaskId) -> bool {
        let reached = plan.reached(task);
        let sources = plan.sources.iter().zip(self.flat.iter().zip(&self.private));
        let mut below = sources
            .filter(|(s, (flat, _))| **flat && reached[s.task.index()] && plan.recurses(s))
            .peekable();
        below.peek().is_some() && below.all(|(_, (_, private))| *private)
    }

    /// Whether all that recurses below a task has private stacks, so that a run goes inside the blocks as soon as it is more than a few elements.
    pub(super) fn is_all_private(&self, plan: &Plan, task: TaskId) -> bool {
        let reached = plan.reached(task);
        let mut below = plan
            .sources
            .iter()
            .filter(|s| reached[s.task.index()] && plan.recurses(s));
        self.is_private(plan, task) && below.all(|s| s.is_entry() && s.private)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends there")]
mod tests {
    use super::*;

    #[test]
    fn what_recurses_on_private_stacks_alone_is_told() {
        let source = "#[millstream::program] mod kinds {
            #[task] pub fn fib(n: u32) -> u64 {
                if n < 2 { return n as u64; }
                let (a, b) = (spawn!(fib(n - 1)), spawn!(fib(n - 2)));
                sync!();
                a + b
            }
            #[task] pub fn chain(n: u32) -> u64 {
                if n == 0 { return 1; }
                let y = spawn!(chain(n - 1));
                sync!();
                y.wrapping_mul(3)
            }
            #[task] pub fn mixed(n: u32) -> u64 {
                if n == 0 { return 1; }
                let (a, b) = (spawn!(mixed(n - 1)), spawn!(fib(n)));
                sync!();
                a.wrapping_mul(3) ^ b
            }
            #[task] pub fn loops(n: u32) -> u64 {
                let mut all = 0;
                for i in 0..n % 7 { all += spawn!(fib(i)); }
                sync!();
                all
            }
        }";
        let program = millstream_cilk_lower::parse_file(source, "kinds.rs", None).unwrap();
        let lowered = millstream_cilk_lower::lower::lower(&program).unwrap();
        let plan = Plan::new(&lowered, 1 << 30);
        let flat = Inside::of(&plan);
        // A loop's pieces recurse too: its halves spawn halves.
        for (task, is_so) in [
            ("fib", true),
            ("chain", false),
            ("mixed", false),
            ("loops", false),
        ] {
            let task = lowered.find(task).unwrap();
            assert_eq!(flat.is_all_private(&plan, task), is_so, "{task:?}");
        }
    }

    #[test]
    fn levels_multiply_where_a_task_waits_and_spawns_its_kind_again() {
        let source = "#[millstream::program] mod kinds {
            #[task] pub fn once(n: u32) -> u64 {
                if n < 2 { return n as u64; }
                let (a, b) = (spawn!(once(n - 1)), spawn!(once(n - 2)));
                sync!();
                (a ^ 3).wrapping_mul(b)
            }
            #[task] pub fn twice(n: u32) -> u64 {
                if n < 2 { return n as u64; }
                let a = spawn!(twice(n - 1));
                sync!();
                let b = spawn!(twice(n - 2 - (a % 2) as u32));
                sync!();
                a ^ b
            }
            #[task] pub fn turns(n: u32) -> u64 {
                let mut all = 1;
                for i in 0..n {
                    all ^= spawn!(turns(i));
                    sync!();
                }
                all
            }
            #[task] pub fn leaves(n: u32) -> u64 {
                let mut all = 1;
                for i in 0..n {
                    all ^= spawn!(once(i));
                    sync!();
                }
                all
            }
            #[task] pub fn above(n: u32) -> u64 {
                let (a, b) = (spawn!(turns(n)), spawn!(once(n)));
                sync!();
                a ^ b
            }
        }";
        let program = millstream_cilk_lower::parse_file(source, "kinds.rs", None).unwrap();
        let lowered = millstream_cilk_lower::lower::lower(&program).unwrap();
        let inside = Inside::of(&Plan::new(&lowered, 1 << 30));
        let plan = Plan::new(&lowered, 1 << 30);
        for (task, is_so) in [
            ("once", false),
            ("twice", true),
            ("turns", true),
            ("leaves", false),
            ("above", true),
        ] {
            let task = lowered.find(task).unwrap();
            let source = plan
                .sources
                .iter()
                .position(|s| s.task == task && s.is_entry());
            assert_eq!(inside.framed[source.unwrap()], is_so, "{task:?}");
        }
    }
}
