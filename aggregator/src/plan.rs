//! What a worker needs of a program: its stacks and segments as tables of numbers and function pointers.

use crate::{policy, reach::Reaches};
use millstream_channels_kernel::{
    cpu::abi::{ContinuationFn, EntryFn},
    layout::{Layouts, StackIndex, StackLayout, stride},
};
use millstream_graph::{
    fault::Fault,
    flow::Flow,
    ir::{Combine, Function, SegmentId, Stmt, StmtKind, TaskId},
    levelized::{Levelized, Segment, StackRole},
    ty::{PieceKind, Scalar},
};
use std::{fmt::Debug, ops::Range};

/// Elements that run in a few microseconds where none loops, calls or moves much.
pub(crate) const SHORT_WIDTH: u64 = 64;
/// Bytes that are not much to move.
const SHORT_MOVE: u64 = 4 << 10;

/// The compiled segments of a program.
pub(crate) trait Code: Send + Sync + Debug {
    /// The entry segment of a task.
    fn entry(&self, task: TaskId) -> EntryFn;
    /// A continuation segment.
    fn continuation(&self, task: TaskId, segment: SegmentId) -> ContinuationFn;
    /// The check that failed.
    fn fault(&self, site: u32, values: [u64; 2]) -> Fault;
    /// The helper that ran out of stack.
    fn function_name(&self, function: u32) -> String;
}

/// What the elements of a segment push.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Pushes {
    /// Stacks and how many elements each consumed element pushes at most.
    pub(crate) counted: Vec<(StackIndex, u64)>,
    /// Stacks where that is not known.
    pub(crate) uncounted: Vec<StackIndex>,
    /// Of a segment with restart points: an element that finds room for so many in each of those gets on, and otherwise it is given up and not in want.
    pub(crate) turn: u64,
    /// Those of a frame and its continuation that only an element takes which is given up at a restart point: the last one of its run.
    pub(crate) rare: Vec<StackIndex>,
    /// Of the counted, the uncounted and the rare, in this order: bytes of an element, and whether it is a child.
    pub(crate) each: Vec<(u64, bool)>,
    /// Whose the children are.
    pub(crate) spawned: Vec<usize>,
    /// Bytes of all counted pushes of one element, and of a turn's.
    pub(crate) bytes: u64,
    /// Bytes of what the last element of a run may push beside them.
    pub(crate) last: u64,
}

impl Pushes {
    pub(crate) const fn is_empty(&self) -> bool {
        self.counted.is_empty() && self.uncounted.is_empty()
    }
}

/// How results of a task reach their destination.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ResultPlan {
    /// Size in bytes of the return type's memory.
    pub(crate) size: u64,
    /// Bytes from one result slot of a batch to the next.
    pub(crate) stride: u64,
    /// What is combined, piece by piece; nothing if it is stored.
    pub(crate) combined: Vec<CombinedPiece>,
}

/// A scalar of a result that is combined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CombinedPiece {
    pub(crate) way: Combine,
    pub(crate) ty: Scalar,
    pub(crate) offset: u64,
}

/// A task.
#[derive(Debug)]
pub(crate) struct TaskPlan {
    pub(crate) name: String,
    /// Whether its elements lie in a channel of a graph.
    pub(crate) in_channel: bool,
    pub(crate) entry: StackIndex,
    pub(crate) frame: Option<StackIndex>,
    /// Its continuations in [`Plan::continuations`].
    pub(crate) continuations: Range<usize>,
    pub(crate) code: EntryFn,
    pub(crate) pushes: Pushes,
    /// Bytes that one element may come to hold at its level: its frame, and the most that one of its segments pushes beside it. Twice that
    /// where something is not counted. 0 if it pushes nothing.
    pub(crate) full: u64,
    /// None if it returns nothing.
    pub(crate) result: Option<ResultPlan>,
    /// Bytes of an entry element.
    pub(crate) bytes: u64,
    pub(crate) width: u64,
}

/// A continuation segment.
#[derive(Debug)]
pub(crate) struct ContinuationPlan {
    pub(crate) task: usize,
    pub(crate) stack: StackIndex,
    pub(crate) code: ContinuationFn,
    pub(crate) pushes: Pushes,
    pub(crate) width: u64,
}

/// A program, ready for workers.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) layouts: Layouts,
    pub(crate) tasks: Vec<TaskPlan>,
    pub(crate) continuations: Vec<ContinuationPlan>,
    /// What each level may use.
    pub(crate) reaches: Reaches,
    /// The segments' names for readers: the kernels of a drawing. Entries of all tasks, then continuations.
    pub(crate) nodes: Vec<String>,
    /// Of each of them, how many elements the first wavefront of a run has at most, where others may wait for it: many only if none can take long.
    pub(crate) first: Vec<u64>,
    /// What drawings call the stacks.
    pub(crate) channels: Vec<String>,
    /// Bytes of an element of each stack.
    pub(crate) bytes: Vec<u64>,
    /// The stacks' names for readers.
    names: Vec<String>,
    /// Where what is emitted into channels lies until it gets there.
    pub(crate) staging: Vec<StackIndex>,
}

impl Plan {
    /// Makes the tables. A width of the user's replaces that of the policy. The elements of some tasks lie in channels, not on a worker's stacks.
    pub(crate) fn new(
        program: &Levelized,
        in_channels: &[TaskId],
        code: &dyn Code,
        width: Option<u64>,
    ) -> Self {
        let layouts = Layouts::new(program);
        let mut bytes: Vec<u64> = layouts
            .stacks
            .iter()
            .map(StackLayout::element_bytes)
            .collect();
        for &task in in_channels {
            bytes[layouts.entry(task).index()] = 0;
        }
        let indices = (0..layouts.stacks.len() as u32).map(StackIndex);
        let of_channel = |i: &StackIndex| matches!(layouts[*i].role, StackRole::Channel(_));
        let staging: Vec<StackIndex> = indices.filter(of_channel).collect();
        let mut continuations = Vec::new();
        let tasks = program.tasks().map(|(id, task)| {
            let i = id.index();
            let first = continuations.len();
            let frame = layouts.frame(id).map_or(0, |f| bytes[f.index()]);
            for (s, segment) in program.segments(id).enumerate().skip(1) {
                let segment_id = SegmentId::new(s);
                let pushes = pushes(&layouts, &bytes, segment);
                let touched = pushes.bytes + frame + 4;
                continuations.push(ContinuationPlan {
                    task: i,
                    stack: layouts.continuation(id, segment_id),
                    code: code.continuation(id, segment_id),
                    width: width.unwrap_or_else(|| policy::width(touched)),
                    pushes,
                });
            }
            let entry = layouts.entry(id);
            let element = layouts[entry].element_bytes();
            let pushes = pushes(&layouts, &bytes, program.entry(id));
            let rest = &continuations[first..];
            let most = rest
                .iter()
                .map(|c: &ContinuationPlan| frame + c.pushes.bytes + c.pushes.last);
            let full = most.fold(pushes.bytes + pushes.last, u64::max);
            let counted = |p: &Pushes| p.uncounted.is_empty();
            let counted = counted(&pushes) && rest.iter().all(|c| counted(&c.pushes));
            TaskPlan {
                name: task.source_name().to_owned(),
                in_channel: in_channels.contains(&id),
                entry,
                frame: layouts.frame(id),
                continuations: first..continuations.len(),
                code: code.entry(id),
                result: result(program, id),
                bytes: bytes[entry.index()],
                full: if counted { full } else { 2 * full.max(1) },
                width: width.unwrap_or_else(|| policy::width(pushes.bytes + element)),
                pushes,
            }
        });
        let tasks: Vec<TaskPlan> = tasks.collect();
        Self {
            nodes: segments(program).map(|s| s.kernel.name.clone()).collect(),
            first: segments(program).map(|s| first(s.body)).collect(),
            reaches: Reaches::new(&tasks, &continuations, &staging),
            tasks,
            continuations,
            channels: layouts
                .stacks
                .iter()
                .map(|s| program.name(s.channel).to_owned())
                .collect(),
            names: layouts.stacks.iter().map(|s| name(program, s)).collect(),
            bytes,
            staging,
            layouts,
        }
    }

    /// The stack's name for readers.
    pub(crate) fn stack_name(&self, stack: StackIndex) -> String {
        self.names[stack.index()].clone()
    }

    /// Bytes that one element of this task's entry stack takes as the root of a batch: itself, its return address, its result.
    pub(crate) fn batch_bytes(&self, task: usize) -> u64 {
        let task = &self.tasks[task];
        task.bytes + task.result.as_ref().map_or(0, |r| 8 + r.stride)
    }
}

/// Entries of all tasks, then continuations.
fn segments(program: &Levelized) -> impl Iterator<Item = Segment<'_>> {
    let entries = program.tasks().map(|(t, _)| program.entry(t));
    let rest = program
        .tasks()
        .flat_map(|(t, _)| program.segments(t).skip(1));
    entries.chain(rest)
}

/// Nobody knows how long an element takes that loops, calls or moves much; each may take a second, and nobody else runs what is in a wavefront.
fn first(body: &Function) -> u64 {
    let is_long = |stmt: &Stmt| match stmt.kind {
        StmtKind::Call { .. } => true,
        StmtKind::Copy { size, .. } | StmtKind::Zero { size, .. } => size > SHORT_MOVE,
        _ => false,
    };
    match body.stmts().any(is_long) || !Flow::new(body).back_edges().is_empty() {
        true => 1,
        false => SHORT_WIDTH,
    }
}

/// All ways of combining a task's result share the names of its stacks.
fn name(program: &Levelized, stack: &StackLayout) -> String {
    let name = program.name(stack.channel);
    match stack.role {
        StackRole::Entry(t) | StackRole::Frame(t) | StackRole::Continuation(t, _) => {
            let task = &program[t];
            name.replacen(&task.name, task.source_name(), 1)
        }
        StackRole::Channel(_) => name.to_owned(),
    }
}

fn pushes(layouts: &Layouts, bytes: &[u64], segment: Segment<'_>) -> Pushes {
    let mut out = Pushes {
        turn: segment.body.restarts().map_or(0, u64::from),
        ..Pushes::default()
    };
    for push in segment.pushes() {
        let stack = layouts.of(push.stack);
        let role = layouts[stack].role;
        match push.max {
            Some(max) if segment.is_rare(role) => {
                out.rare.push(stack);
                out.last += u64::from(max) * bytes[stack.index()];
            }
            Some(max) => {
                out.counted.push((stack, u64::from(max)));
                out.bytes += u64::from(max) * bytes[stack.index()];
            }
            None => {
                out.uncounted.push(stack);
                out.bytes += out.turn * bytes[stack.index()];
            }
        }
        if let Some(task) = role.child() {
            out.spawned.push(task.index());
        }
    }
    let counted = out.counted.iter().map(|c| c.0);
    let all = counted.chain(out.uncounted.iter().chain(&out.rare).copied());
    let each = all.map(|s| (bytes[s.index()], layouts[s].role.child().is_some()));
    out.each = each.collect();
    out
}

fn result(program: &Levelized, task: TaskId) -> Option<ResultPlan> {
    program.entry(task).ret?;
    let structs = &program.program.structs;
    let ty = &program.program[program.func(task)].ret;
    let layout = ty.layout(structs);
    let pieces = ty.pieces(structs);
    let way = program[task].combine;
    let combined: Vec<CombinedPiece> = match way {
        Combine::Store => Vec::new(),
        combine => (pieces.iter().enumerate())
            .filter_map(|(i, piece)| match piece.kind {
                PieceKind::Scalar(ty) => Some(CombinedPiece {
                    way: combine.of_piece(i),
                    ty,
                    offset: piece.offset,
                }),
                PieceKind::Blob(_) => None,
            })
            .collect(),
    };
    debug_assert!(
        way == Combine::Store || combined.len() == pieces.len(),
        "only scalars can be combined"
    );
    debug_assert_eq!(
        program.element(task).last().map(stride),
        Some(8),
        "the return address is the last field"
    );
    Some(ResultPlan {
        size: layout.size,
        stride: layout.size.next_multiple_of(layout.align.max(8)),
        combined,
    })
}
