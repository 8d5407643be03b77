//! Parameters that a task passes on unchanged to all its own children, its return address among them: in a run that begins with one
//! value of it, every element holds the same, and it is kept once instead of with each element.

use super::plan::Plan;
use millstream_graph::{
    flow::Flow,
    ir::{Arg, BlockId, Dest, Function, LocalId, Operand, Rvalue, StmtKind, TaskId},
    levelized::{Levelized, Segment},
};

/// A spawn in a task's segment.
struct Site<'a> {
    parent: TaskId,
    segment: Segment<'a>,
    is_entry: bool,
    block: BlockId,
    args: &'a [Operand],
    dest: Option<Dest>,
}

impl Site<'_> {
    /// What a field of the child's element gets.
    fn operand(&self, field: usize) -> Option<Operand> {
        self.args.get(field).copied().or_else(|| {
            self.dest
                .filter(|_| field == self.args.len())
                .map(|d| d.addr)
        })
    }

    /// Whether a field of the child is this field of the parent, unchanged.
    fn passes(&self, field: usize) -> bool {
        let own = self.segment.body.args.get(field);
        self.is_entry
            && matches!((self.operand(field), own), (Some(Operand::Local(l)), Some(Arg::Local(own))) if l == *own && !is_assigned(self.segment.body, l))
    }

    /// Whether a run of the segment gives a field the same value each time the spawn comes.
    fn is_fixed(&self, field: usize) -> bool {
        let Some(operand) = self.operand(field) else {
            return false;
        };
        let Operand::Local(local) = operand else {
            return true;
        };
        let cyclic = Flow::new(self.segment.body).cyclic();
        let blocks = self.segment.body.blocks.iter().enumerate();
        let mut places = blocks.flat_map(|(i, b)| {
            let in_loop = cyclic.contains(BlockId::new(i));
            let own = b.stmts.iter().filter(|s| s.kind.def() == Some(local));
            // A run of a segment has one frame, wherever it asks where that is.
            own.map(move |s| in_loop && !is_address_of_frame(&s.kind))
        });
        match (
            self.segment.body.args.contains(&Arg::Local(local)),
            places.next(),
            places.next(),
        ) {
            (is_arg, None, _) => is_arg,
            (is_arg, Some(in_loop), None) => !is_arg && !in_loop,
            _ => false,
        }
    }
}

const fn is_address_of_frame(stmt: &StmtKind) -> bool {
    matches!(
        stmt,
        StmtKind::Assign {
            value: Rvalue::FrameAddr(_),
            ..
        }
    )
}

fn is_assigned(body: &Function, local: LocalId) -> bool {
    body.stmts().any(|s| s.kind.def() == Some(local))
}

/// The spawns of a task.
fn sites(program: &Levelized, child: TaskId) -> Vec<Site<'_>> {
    let mut out = Vec::new();
    for (parent, _) in program.tasks() {
        for (s, segment) in program.segments(parent).enumerate() {
            for (b, block) in segment.body.blocks.iter().enumerate() {
                for stmt in &block.stmts {
                    if let StmtKind::Spawn {
                        func, args, dest, ..
                    } = &stmt.kind
                        && *func == program.func(child)
                    {
                        out.push(Site {
                            parent,
                            segment,
                            is_entry: s == 0,
                            block: BlockId::new(b),
                            args,
                            dest: *dest,
                        });
                    }
                }
            }
        }
    }
    out
}

/// Whether a task passes a field of its element on to all its own children; it has some.
pub(super) fn is_inherited(program: &Levelized, task: TaskId, field: usize) -> bool {
    let own: Vec<Site<'_>> = sites(program, task)
        .into_iter()
        .filter(|s| s.parent == task)
        .collect();
    !own.is_empty() && own.iter().all(|s| s.passes(field))
}

impl Plan {
    /// For each inherited field whether a run of so many calls of a task keeps it once.
    #[must_use]
    pub fn kept_once(&self, entry: TaskId, roots: u64) -> Vec<bool> {
        let (single, reached) = (self.run_once(entry, roots), self.reached(entry));
        self.inherited
            .iter()
            .map(|(stack, field)| {
                let task = self.stacks[*stack as usize].task;
                let all = sites(&self.program, task);
                let mut seeds = all
                    .iter()
                    .filter(|s| s.parent != task && reached[s.parent.index()]);
                match (task == entry, seeds.next(), seeds.next()) {
                    (true, None, _) => roots == 1,
                    (false, Some(seed), None) => {
                        single[seed.parent.index()] && seed.is_fixed(*field)
                    }
                    _ => false,
                }
            })
            .collect()
    }

    /// The tasks that a run may have elements of.
    #[must_use]
    pub fn reached(&self, entry: TaskId) -> Vec<bool> {
        let mut reached = vec![false; self.program.len()];
        let mut work = vec![entry];
        while let Some(task) = work.pop() {
            if std::mem::replace(&mut reached[task.index()], true) {
                continue;
            }
            let pushes = self.program.segments(task).flat_map(Segment::pushes);
            work.extend(pushes.filter_map(|p| self.program.role(p.stack).child()));
        }
        reached
    }

    /// The tasks that a run has at most one element of.
    pub(super) fn run_once(&self, entry: TaskId, roots: u64) -> Vec<bool> {
        let reached = self.reached(entry);
        let of = |t| {
            sites(&self.program, TaskId::new(t))
                .into_iter()
                .filter(|s| reached[s.parent.index()])
                .collect()
        };
        let all: Vec<Vec<Site<'_>>> = (0..self.program.len()).map(of).collect();
        let mut single = vec![false; all.len()];
        single[entry.index()] = roots == 1 && all[entry.index()].is_empty();
        // As many rounds as tasks: each may hang on the one before.
        for _ in 0..all.len() {
            for (t, sites) in all.iter().enumerate() {
                if let [site] = sites.as_slice()
                    && t != entry.index()
                {
                    single[t] = single[site.parent.index()]
                        && !Flow::new(site.segment.body).cyclic().contains(site.block);
                }
            }
        }
        single
    }
}
