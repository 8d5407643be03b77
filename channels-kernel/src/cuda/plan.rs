//! What a program looks like on the device: its channels, its sources of work, and how each segment reserves what it pushes.
//!
//! Differences from the contract of [`crate::layout`]: a return address is 32 bits wide where all destinations of a task lie in the
//! run's own memory, and a continuation that waits for itself (a sync in a loop) has two channels, so that a run of one goes to the other.

pub use super::{
    source::{Mode, Shape, Source, SourcePush, Walked},
    stack::{Stack, StackKind},
};

use super::{
    abi::kernel,
    analysis, inherit, names,
    regions::{Crew, Regions},
    segment,
    stack::PushKey,
    team, walk,
};
use millstream_graph::{
    flow::Flow,
    ir::{
        Block, Combine, Dest, FieldId, FuncId, Function, LocalId, Operand, Rvalue, SegmentId,
        StmtKind, TaskId, Terminator,
    },
    levelized::{Levelized, Segment, StackRole},
    ty::{PieceKind, Scalar, Type},
};

/// The plan of a program.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// The program.
    pub program: Levelized,
    /// Its channels: of each task the entries, the frames, the continuations.
    pub stacks: Vec<Stack>,
    /// What feeds its segments, in order of the stacks.
    pub sources: Vec<Source>,
    /// For each task: whether its return addresses are 32 bits wide.
    pub short_returns: Vec<bool>,
    /// Fields that a task passes on to its own children unchanged: stack and number of the field.
    pub inherited: Vec<(u32, usize)>,
    /// For each source: whether workers may run its elements level by level, and levels multiply there ([`framed`](super::framed)).
    pub framed: Vec<bool>,
    /// Its parallel regions.
    pub(super) regions: Regions,
}

impl Plan {
    /// Plans a program, as it is for a wide device, for runs of so many bytes: short return addresses reach 2^32 times the result's
    /// alignment.
    #[must_use]
    pub fn new(program: &Levelized, memory: u64) -> Self {
        let program = program.on_wide();
        let mut plan = Self {
            program: program.clone(),
            stacks: Vec::new(),
            sources: Vec::new(),
            short_returns: Vec::new(),
            inherited: Vec::new(),
            framed: Vec::new(),
            regions: Regions::find(program),
        };
        plan.short_returns = (program.tasks().map(|t| t.0))
            .map(|t| can_be_short(program, t) && memory <= plan.return_unit(t) << 32)
            .collect();
        plan.widen();
        plan.add_stacks();
        plan.add_sources();
        plan.framed = plan.find_framed();
        plan.limit_framed();
        plan.limit_private();
        plan.weigh();
        plan
    }

    /// A program of which only bodies are written: a graph's, whose channels are not stacks.
    pub(super) fn bare(program: &Levelized) -> Self {
        Self {
            program: program.clone(),
            stacks: Vec::new(),
            sources: Vec::new(),
            short_returns: vec![false; program.len()],
            inherited: Vec::new(),
            framed: Vec::new(),
            regions: Regions::default(),
        }
    }

    /// Where a task passes its own return address on, a short one can only come from a short one.
    fn widen(&mut self) {
        let mut again = true;
        while std::mem::take(&mut again) {
            for t in (0..self.program.len()).map(TaskId::new) {
                let func = self.program.func(t);
                let wide = self.program.all_segments().any(|(parent, segment)| {
                    spawns(segment.body, func).any(|dest| {
                        segment
                            .ret
                            .is_some_and(|ret| dest.addr == Operand::Local(ret))
                            && (!self.short_returns[parent.index()]
                                || self.return_unit(parent) != self.return_unit(t))
                    })
                });
                again |= self.short_returns[t.index()] && wide;
                self.short_returns[t.index()] &= !wide;
            }
        }
    }

    fn add_stacks(&mut self) {
        let mut first_field = 0u32;
        for &channel in self.program.stacks() {
            let role = self.program.role(channel);
            let (task, kind) = match role {
                StackRole::Entry(t) => (t, StackKind::Entry),
                StackRole::Frame(t) => (t, StackKind::Frame),
                StackRole::Continuation(t, segment) => (
                    t,
                    StackKind::Continuation {
                        segment,
                        twin: false,
                    },
                ),
                StackRole::Channel(_) => unreachable!("a program of tasks has no channels"),
            };
            let mut fields = self.program.fields(channel).to_vec();
            for (i, field) in fields.iter_mut().enumerate() {
                let short = match kind {
                    StackKind::Entry => {
                        self.short_returns[task.index()]
                            && i + 1 == self.program.element(task).len()
                    }
                    StackKind::Frame => self.is_short_field(task, FieldId::new(i)),
                    StackKind::Continuation { .. } => false,
                };
                if short {
                    field.kind = PieceKind::Scalar(Scalar::U32);
                }
            }
            let mut inherited = vec![None; fields.len()];
            for (i, field) in fields.iter().enumerate() {
                if kind == StackKind::Entry
                    && matches!(field.kind, PieceKind::Scalar(_))
                    && inherit::is_inherited(&self.program, task, i)
                {
                    inherited[i] = Some(self.inherited.len() as u32);
                    self.inherited.push((self.stacks.len() as u32, i));
                }
            }
            let mut push = |kind| {
                self.stacks.push(Stack {
                    task,
                    kind,
                    fields: fields.clone(),
                    first_field,
                    weight: 1,
                    inherited: inherited.clone(),
                });
                first_field += fields.len() as u32;
            };
            push(kind);
            if let StackRole::Continuation(t, segment) = role
                && waits_for_itself(self.program.segment(t, segment))
            {
                push(StackKind::Continuation {
                    segment,
                    twin: true,
                });
            }
        }
    }

    fn add_sources(&mut self) {
        for number in 0..self.stacks.len() {
            let (task, kind) = (self.stacks[number].task, self.stacks[number].kind);
            let (segment, twin) = match kind {
                StackKind::Entry => (SegmentId(0), false),
                StackKind::Frame => continue,
                StackKind::Continuation { segment, twin } => (segment, twin),
            };
            let body = self.program.segment(task, segment);
            let mut pushes: Vec<SourcePush> = Vec::new();
            for push in body.pushes() {
                let own = kind != StackKind::Entry && body.kernel.consumes == Some(push.stack);
                let stack = self.number_of(self.program.role(push.stack), own && !twin);
                pushes.push(SourcePush {
                    stack,
                    max: push.max,
                    turn: match push.max {
                        None => body.body.restarts().unwrap_or(0),
                        Some(_) => 0,
                    },
                    group: 0,
                    ratio: 1,
                });
            }
            let (groups, mode) = self.reservation(task, body, &mut pushes);
            let mut source = Source {
                task,
                segment,
                stack: number as u32,
                twin,
                pushes,
                groups,
                mode,
                walked: Vec::new(),
                private: false,
            };
            source.walked = walk::walked(&self.program, &source);
            source.private = source.walked.is_empty() && self.is_private(&source, body);
            self.sources.push(source);
        }
    }

    /// Decides how a segment reserves, and which of its pushes share a counter.
    fn reservation(
        &self,
        task: TaskId,
        segment: Segment<'_>,
        pushes: &mut [SourcePush],
    ) -> (Vec<(usize, bool)>, Mode) {
        let body = segment.body;
        if self.regions.crew_of(task) == Crew::Device {
            return (Vec::new(), Mode::Master);
        }
        let keys: Vec<PushKey> = segment
            .pushes()
            .map(|p| self.program.role(p.stack))
            .collect();
        let key_of = |s: &StmtKind| self.push_of(task, s);
        let heavy = analysis::is_heavy(body, &keys, key_of);
        let scalars = self
            .program
            .element(task)
            .iter()
            .all(|f| matches!(f.kind, PieceKind::Scalar(_)));
        let is_entry = segment.kernel.consumes == Some(self.program[task].calls);
        let (taint, pushing) = (analysis::Taint::find(body), analysis::pushing(body));
        let counts = !pushes.is_empty() && (!is_entry || scalars);
        let countable = counts && !taint.decides(body, |_| true);
        // What may be given up in the middle has to be direct: the others run as a whole or not at all.
        let restarts = segment.body.restarts().is_some();
        // Tiles of a team are small, and of two kinds of children in numbers that data decides one tile at a time reserves. What no push comes after is
        // not asked when they are counted.
        let team = counts
            && pushes.iter().filter(|p| p.max.is_none()).count() <= 1
            && !restarts
            && !taint.decides(body, |b| pushing.contains(b))
            && team::find(&self.program.program, body, key_of).is_some();
        if !team && (heavy || !countable || restarts) {
            let mut groups = Vec::new();
            for (i, push) in pushes.iter_mut().enumerate() {
                push.group = i as u32;
                groups.push((i, false));
            }
            // What no loop pushes is known before the work is done.
            let fixed = pushes.iter().all(|p| p.max.is_some());
            return (
                groups,
                if countable && fixed && !restarts {
                    Mode::Scanned {
                        items: 1,
                        staged: None,
                        heavy,
                    }
                } else {
                    Mode::Direct { heavy }
                },
            );
        }
        let cyclic = Flow::new(body).cyclic();
        // How often a block does each push: at most, and if all children that may be leaves are.
        let count = |b: &Block| -> Vec<(u32, u32)> {
            let may_end = |s: &StmtKind| matches!(s, StmtKind::Spawn { leaf: Some(_), .. });
            let mut done: Vec<(PushKey, bool)> = b
                .stmts
                .iter()
                .filter_map(|s| Some((key_of(&s.kind)?, !may_end(&s.kind))))
                .collect();
            if let Terminator::Continue(s) = b.term {
                done.push((StackRole::Continuation(task, s), true));
            }
            let times = |k, least: bool| {
                done.iter()
                    .filter(|(d, sure)| d == k && (*sure || !least))
                    .count() as u32
            };
            keys.iter()
                .map(|k| (times(k, false), times(k, true)))
                .collect()
        };
        let looped: Vec<bool> = (0..keys.len())
            .map(|p| {
                cyclic
                    .iter()
                    .any(|b| count(&body.blocks[b.index()])[p].0 > 0)
            })
            .collect();
        let ways = analysis::ways(body, count, &looped);
        let groups = group(pushes, &looped, ways.as_ref());
        let staged = (0..pushes.len()).find(|p| {
            let stack = &self.stacks[pushes[*p].stack as usize];
            looped[*p]
                && stack.kind == StackKind::Entry
                && stack
                    .fields
                    .iter()
                    .all(|f| matches!(f.kind, PieceKind::Scalar(_)))
        });
        let bytes: u64 = if is_entry {
            self.varying_bytes(task)
        } else {
            4
        };
        let items = match (staged, bytes) {
            (Some(_), 0..=16) => 4,
            (Some(_), 17..=32) => 2,
            (Some(_), _) => 1,
            (None, 0..=12) => 8,
            (None, 13..=32) => 4,
            _ => 2,
        };
        let results_join = segment.ret.is_none() || self.joined(task).is_some();
        let tried = is_entry
            && pushes.len() == 1
            && staged.is_some()
            && results_join
            && !analysis::has_effects(body);
        (
            groups,
            if team {
                Mode::Team { staged }
            } else if tried {
                Mode::Tried { items }
            } else {
                Mode::Scanned {
                    items,
                    staged,
                    heavy: false,
                }
            },
        )
    }

    /// A private stack holds some wavefronts, or there is none.
    fn limit_private(&mut self) {
        let warps = u64::from(kernel::BLOCK / kernel::WARP);
        let bytes = self.stage_bytes() / warps;
        for source in &mut self.sources {
            let (_, element) = segment::staged_bytes(&self.stacks[source.stack as usize]);
            source.private &= bytes / element > 4 * u64::from(kernel::WARP);
        }
    }

    /// Whether a source's elements may run on private stacks.
    fn is_private(&self, source: &Source, segment: Segment<'_>) -> bool {
        let [push] = source.pushes.as_slice() else {
            return false;
        };
        let fields = &self.stacks[source.stack as usize].fields;
        let is_scalar = fields
            .iter()
            .all(|f| matches!(f.kind, PieceKind::Scalar(_)));
        let mode = matches!(source.mode, Mode::Tried { .. } | Mode::Scanned { .. });
        let results_join = segment.ret.is_none() || self.joined(source.task).is_some();
        mode && is_scalar
            && push.stack == source.stack
            && results_join
            && !analysis::has_effects(segment.body)
    }

    /// Bytes of a task's element without what it inherits.
    fn varying_bytes(&self, task: TaskId) -> u64 {
        let stack = &self.stacks[self.number_of(StackRole::Entry(task), false) as usize];
        stack.bytes(&vec![true; self.inherited.len()])
    }

    /// The stack that a statement of a task's segment pushes to.
    pub(super) fn push_of(&self, task: TaskId, stmt: &StmtKind) -> Option<PushKey> {
        match stmt {
            StmtKind::Spawn { func, .. } => self.program.task_of(*func).map(StackRole::Entry),
            StmtKind::FrameAlloc => Some(StackRole::Frame(task)),
            _ => None,
        }
    }

    /// The number of a stack.
    ///
    /// # Panics
    /// If it is not of this program.
    #[must_use]
    pub fn number_of(&self, stack: StackRole, second: bool) -> u32 {
        let found = self.stacks.iter().position(|s| match (stack, s.kind) {
            (StackRole::Entry(t), StackKind::Entry) | (StackRole::Frame(t), StackKind::Frame) => {
                t == s.task
            }
            (StackRole::Continuation(t, w), StackKind::Continuation { segment, twin }) => {
                t == s.task && w == segment && twin == second
            }
            _ => false,
        });
        found.expect("a stack of this program") as u32
    }

    /// How many elements of each stack go together, roughly: what a run pushes at most.
    fn weigh(&mut self) {
        for source in &self.sources {
            for push in &source.pushes {
                let weight = u64::from(push.max.unwrap_or(push.turn.max(4)).max(1));
                let stack = &mut self.stacks[push.stack as usize];
                stack.weight = stack.weight.max(weight);
            }
        }
    }

    /// The parallel loops of tasks that a GPU runs alone, but that are not shared out: one lane runs them. There should be none.
    #[must_use]
    pub fn loops_of_one_lane(&self) -> Vec<&str> {
        let names = self
            .regions
            .left()
            .iter()
            .map(|f| &self.program.program[*f].name);
        names.map(String::as_str).collect()
    }

    /// Whether some loop is shared out by all blocks.
    #[must_use]
    pub fn has_regions(&self) -> bool {
        !self.regions.is_empty()
    }

    /// The return type of a task.
    #[must_use]
    pub fn ret(&self, task: TaskId) -> &Type {
        &self.program.program[self.program.func(task)].ret
    }

    /// How results of a task are joined before they are handed over: none if each is stored, or if the order would show.
    pub(super) fn joined(&self, task: TaskId) -> Option<(Combine, Scalar)> {
        let (combine, ty) = (self.program[task].combine, self.ret(task).scalar()?);
        combine.neutral(ty).map(|_| (combine, ty))
    }

    /// Bytes that a short return address of this task counts in.
    #[must_use]
    pub fn return_unit(&self, task: TaskId) -> u64 {
        self.ret(task).layout(&self.program.program.structs).align
    }

    /// Whether a frame field holds nothing but this task's short return address.
    pub(super) fn is_short_field(&self, task: TaskId, field: FieldId) -> bool {
        self.short_returns[task.index()] && return_fields(&self.program, task).contains(&field)
    }

    /// How many counters a run needs: [`Control::counter`](super::abi::Control::counter).
    #[must_use]
    pub fn groups(&self) -> usize {
        // One more counts what elements with restart points are granted.
        self.sources
            .iter()
            .map(|s| s.groups.len() + usize::from(s.restarts()))
            .max()
            .unwrap_or(0)
            .max(1)
    }

    /// The most pushes of any source.
    #[must_use]
    pub fn pushes(&self) -> usize {
        self.sources
            .iter()
            .map(|s| s.pushes.len())
            .max()
            .unwrap_or(0)
            .max(1)
    }

    /// How many field arrays there are in all stacks.
    #[must_use]
    pub fn fields(&self) -> usize {
        self.stacks.iter().map(|s| s.fields.len()).sum()
    }

    /// The channel's name as readers know it.
    #[must_use]
    pub fn stack_name(&self, stack: u32) -> String {
        let stack = &self.stacks[stack as usize];
        let channel = self.program.stack(stack.kind.role(stack.task));
        channel.map_or("?", |key| self.program.name(key)).to_owned()
    }

    /// The C++ name of a stack's member of `ch`.
    pub(super) fn channel(&self, stack: u32) -> String {
        let stack = &self.stacks[stack as usize];
        names::channel(&self.program, stack.task, stack.kind)
    }
}

/// Puts pushes that grow in a fixed ratio into one group.
fn group(
    pushes: &mut [SourcePush],
    looped: &[bool],
    ways: Option<&std::collections::BTreeSet<Vec<u32>>>,
) -> Vec<(usize, bool)> {
    fn gcd(a: u32, b: u32) -> u32 {
        if b == 0 { a } else { gcd(b, a % b) }
    }
    // The units of each push on each way, and how many elements a unit is.
    let units: Vec<Option<(Vec<u32>, u32)>> = (0..pushes.len())
        .map(|p| {
            let counts: Vec<u32> = ways?.iter().map(|w| w[p]).collect();
            let ratio = counts.iter().copied().fold(0, gcd);
            (!looped[p] && ratio > 0).then(|| (counts.iter().map(|c| c / ratio).collect(), ratio))
        })
        .collect();
    let mut groups: Vec<(usize, bool)> = Vec::new();
    for p in 0..pushes.len() {
        let known = groups
            .iter()
            .position(|(lead, _)| match (&units[*lead], &units[p]) {
                (Some((a, _)), Some((b, _))) => a == b,
                _ => false,
            });
        pushes[p].ratio = units[p].as_ref().map_or(1, |(_, ratio)| *ratio);
        pushes[p].group = known.unwrap_or(groups.len()) as u32;
        if known.is_none() {
            groups.push((
                p,
                units[p]
                    .as_ref()
                    .is_some_and(|(u, _)| u.iter().all(|n| *n <= 1)),
            ));
        }
    }
    groups
}

fn waits_for_itself(segment: Segment<'_>) -> bool {
    let mut pushes = segment.pushes();
    pushes.any(|p| Some(p.stack) == segment.kernel.consumes)
}

/// The destinations that a segment gives to children of a function.
fn spawns(body: &Function, child: FuncId) -> impl Iterator<Item = Dest> {
    body.blocks
        .iter()
        .flat_map(|b| &b.stmts)
        .filter_map(move |stmt| match &stmt.kind {
            StmtKind::Spawn {
                func,
                dest: Some(dest),
                ..
            } if *func == child => Some(*dest),
            _ => None,
        })
}

/// Whether every destination of a task lies in a frame or is its parent's own, and its return address is only kept, returned through and
/// passed on.
fn can_be_short(program: &Levelized, task: TaskId) -> bool {
    if program.entry(task).ret.is_none() {
        return false;
    }
    let func = program.func(task);
    let spawned_into_frames = program.all_segments().all(|(_, s)| {
        let is_own = |addr| s.ret.is_some_and(|ret| addr == Operand::Local(ret));
        spawns(s.body, func).all(|dest| is_own(dest.addr) || is_frame_address(s.body, dest.addr))
    });
    let fields = return_fields(program, task);
    let only_kept = program.segments(task).all(|s| {
        s.ret.is_none_or(|ret| {
            let kept = s
                .body
                .blocks
                .iter()
                .flat_map(|b| &b.stmts)
                .all(|stmt| match &stmt.kind {
                    StmtKind::FrameStore {
                        value: Operand::Local(l),
                        ..
                    } if *l == ret => true,
                    StmtKind::Assign {
                        dst,
                        value: Rvalue::FrameLoad(f),
                    } if *dst == ret => fields.contains(f),
                    StmtKind::Spawn { args, .. } => args.iter().all(|o| *o != Operand::Local(ret)),
                    other => {
                        let mut used = other.def() == Some(ret);
                        other
                            .clone()
                            .operands_mut(|o| used |= *o == Operand::Local(ret));
                        !used
                    }
                });
            kept && s.body.blocks.iter().all(|b| {
                let mut used = false;
                b.term
                    .clone()
                    .operands_mut(|o| used |= *o == Operand::Local(ret));
                !used
            })
        })
    });
    spawned_into_frames
        && only_kept
        && fields
            .iter()
            .all(|f| field_is_only_return(program, task, *f))
}

/// The frame fields that the return address is stored to.
fn return_fields(program: &Levelized, task: TaskId) -> Vec<FieldId> {
    let mut out = Vec::new();
    for s in program.segments(task) {
        for stmt in s.body.blocks.iter().flat_map(|b| &b.stmts) {
            if let StmtKind::FrameStore {
                field,
                value: Operand::Local(l),
            } = stmt.kind
                && s.ret == Some(l)
                && !out.contains(&field)
            {
                out.push(field);
            }
        }
    }
    out
}

fn field_is_only_return(program: &Levelized, task: TaskId, field: FieldId) -> bool {
    program.segments(task).all(|s| {
        let is_ret = |l: LocalId| s.ret == Some(l);
        s.body
            .blocks
            .iter()
            .flat_map(|b| &b.stmts)
            .all(|stmt| match &stmt.kind {
                StmtKind::FrameStore { field: f, value } if *f == field => {
                    matches!(value, Operand::Local(l) if is_ret(*l))
                }
                StmtKind::Assign {
                    dst,
                    value: Rvalue::FrameLoad(f),
                } if *f == field => is_ret(*dst),
                StmtKind::Assign {
                    value: Rvalue::FrameAddr(f),
                    ..
                } => *f != field,
                _ => true,
            })
    })
}

/// Whether an operand is a frame's address, or one computed from such.
fn is_frame_address(body: &Function, operand: Operand) -> bool {
    let Operand::Local(local) = operand else {
        return false;
    };
    let mut seen = vec![false; body.locals.len()];
    let mut work = vec![local];
    while let Some(at) = work.pop() {
        if std::mem::replace(&mut seen[at.index()], true) {
            continue;
        }
        let mut assigned = false;
        for stmt in body
            .blocks
            .iter()
            .flat_map(|b| &b.stmts)
            .filter(|s| s.kind.def() == Some(at))
        {
            assigned = true;
            match &stmt.kind {
                StmtKind::Assign {
                    value: Rvalue::FrameAddr(_),
                    ..
                } => {}
                StmtKind::Assign {
                    value:
                        Rvalue::Use(Operand::Local(l))
                        | Rvalue::PtrAdd {
                            base: Operand::Local(l),
                            ..
                        },
                    ..
                } => {
                    work.push(*l);
                }
                _ => return false,
            }
        }
        if !assigned {
            return false;
        }
    }
    true
}
