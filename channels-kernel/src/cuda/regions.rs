//! Parallel regions: which loops are shared out by all blocks, by some of them or by a warp, and their texts (`device/regions.cu` has the protocol).
//!
//! A helper whose rounds may run side by side ([`Function::rounds`]) is a region if its loop's turns can be divided ([`team`](super::team)). Who comes to
//! one, from a task's segment on, is run by the first lane of a [`Crew`], which hands the rounds out to its crew: at first to all blocks. If there are
//! regions in the rounds, each round is given to a smaller crew, whose first lane runs it and hands out what it comes to.
//!
//! So a function has a text for all lanes that call it by themselves, in which loops are run turn by turn, one for the first lane of each crew that comes
//! to it, and a region one for each crew that takes single rounds of it. What such a lane has in local memory is where its crew sees it.
//!
//! A helper in whose rounds the order shows is a region for warps alone, if there is none in its rounds: the lanes take neighbouring rounds, and meet after each.

mod text;

pub(super) use text::{declare, masters, write, write_first_met};

use super::{
    abi,
    lanes::answered,
    team::{self, Rounds, Share},
};
use millstream_graph::{
    flow::CallGraph,
    ir::{Arg, BinOp, BlockId, Combine, FuncId, Function, FunctionKind, StmtKind, TaskId, Team},
    levelized::{Levelized, Segment},
};
use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

/// Who share out the rounds of a loop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Crew {
    Lane,
    Warp,
    /// Some blocks, or one.
    Blocks,
    Device,
}

impl Crew {
    /// What [`Rvalue::Lanes`](millstream_graph::ir::Rvalue::Lanes) says: of blocks, more than one has; of the device, more than a few blocks have.
    const fn lanes(self) -> u64 {
        match self {
            Self::Lane => 1,
            Self::Warp => 32,
            Self::Blocks => 1 << 10,
            Self::Device => 1 << 16,
        }
    }

    /// The function as its first lane runs it.
    pub(super) fn code(self, function: &Function) -> Cow<'_, Function> {
        answered(function, self.lanes())
    }

    /// How many there are at most that have local memory.
    const fn most(self) -> u64 {
        match self {
            Self::Lane | Self::Device => 1,
            Self::Warp => abi::HOLDING_BLOCKS as u64 * (abi::kernel::BLOCK / 32) as u64,
            Self::Blocks => abi::HOLDING_BLOCKS as u64,
        }
    }

    /// As names of texts have it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Lane => "lane",
            Self::Warp => "warp",
            Self::Blocks => "blocks",
            Self::Device => "device",
        }
    }

    /// Declares local memory of its first lane where all of it see it.
    pub(super) fn holds(self, name: &str, align: u64, size: u64) -> String {
        let memory = format!("[[maybe_unused]] alignas({align}) static __device__ char");
        match self {
            Self::Lane | Self::Device => format!("{memory} {name}[{size}];"),
            Self::Warp | Self::Blocks => format!(
                "{memory} {name}_of_all[{}][{}]; const ptr {name} = {name}_of_all[{}::number()];",
                self.most(),
                size.next_multiple_of(align),
                self.structure()
            ),
        }
    }

    /// What says that it takes single rounds.
    const fn taking(self) -> &'static str {
        match self {
            Self::Lane | Self::Device => "BY_LANES",
            Self::Warp => "BY_WARPS",
            Self::Blocks => "BY_BLOCKS",
        }
    }

    /// Its type in `device/regions.cu`.
    const fn structure(self) -> &'static str {
        match self {
            Self::Lane => "OfLane",
            Self::Warp => "OfWarp",
            Self::Blocks => "OfBlocks",
            Self::Device => "OfDevice",
        }
    }
}

/// Which text of a helper.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Version {
    /// What any lane calls.
    Plain,
    /// What the first lane of a crew calls, of what comes to a region; of a region, that hands it out.
    First(Crew),
    /// Rounds of a region, each by such a crew: by its first lane.
    Served(Crew),
    /// What all lanes of a warp run together, as [`team`](super::team) has it: rounds of which the order shows in what they gather.
    Met,
}

impl Version {
    /// Whose first lane runs it.
    pub(super) const fn crew(self) -> Crew {
        match self {
            Self::Plain | Self::Met => Crew::Lane,
            Self::First(crew) | Self::Served(crew) => crew,
        }
    }

    /// The function as it is there.
    pub(super) fn of(self, function: &Function) -> Cow<'_, Function> {
        self.crew().code(function)
    }
}

/// All bytes of one function's local memory that may lie where crews see it, for all crews of a kind.
const MOST_HELD: u64 = 64 << 20;

/// The regions of a program, and the texts that they need.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Regions {
    /// By number.
    all: Vec<FuncId>,
    /// Of each function whether it is a region; and whether it is one whose lanes meet.
    are: Vec<bool>,
    met: Vec<bool>,
    /// Of each whether it comes to one or is one.
    comes: Vec<bool>,
    /// Of each whether some lane calls it by itself; empty where that is so of all.
    plain: Vec<bool>,
    /// The tasks that one lane runs.
    masters: BTreeSet<TaskId>,
    /// The texts beside the plain ones.
    texts: BTreeSet<(FuncId, Version)>,
    /// Loops that the master runs by itself, though their rounds may run side by side.
    left: Vec<FuncId>,
    /// Of each crew, the numbers of what it is handed.
    handed: BTreeMap<Crew, BTreeMap<usize, Handed>>,
}

/// How a crew shares out the rounds of a region.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Handed {
    /// Who takes single rounds, where there are not too many for that.
    to: BTreeSet<Crew>,
    /// These are no more than one for each warp; else, than one for each lane.
    once: bool,
    /// No more rounds than so many are run by the crew's first lane, one after the other, so that the crew shares out what is in them.
    in_turn: u64,
    /// So many blocks take part, where single rounds are given to blocks or warps.
    most: u32,
    /// No more threads than these, where the source says who is to share it out.
    team: Option<u32>,
}

/// How many threads a team has, at most.
fn threads(team: Team) -> u32 {
    match team {
        Team::Lane => 1,
        Team::Warp => 32,
        Team::Block => abi::kernel::BLOCK,
        Team::Device => u32::MAX,
        Team::Threads(n) => n.max(32),
    }
}

/// No more rounds than so many are run one after the other, where there is something to share out in them, and no crews of blocks for it.
const FEW: u64 = 8;

impl Regions {
    pub(super) fn find(program: &Levelized) -> Self {
        let calls = CallGraph::of_calls(&program.program);
        let functions = &program.program.functions;
        let mut out = Self {
            are: vec![false; functions.len()],
            met: vec![false; functions.len()],
            comes: vec![false; functions.len()],
            plain: vec![false; functions.len()],
            ..Self::default()
        };
        for &f in calls.callees_first() {
            let function = &functions[f.index()];
            let is_one = function.kind == FunctionKind::Helper && !calls.is_recursive(f);
            let is_region = rounds(program, function, Version::Served(Crew::Lane)).is_some();
            let below = calls.callees(f).iter().any(|c| out.comes[c.index()]);
            let is_met = !below && rounds(program, function, Version::Met).is_some();
            let is_shared = is_one && function.team != Some(Team::Lane);
            out.are[f.index()] = is_shared && is_region;
            out.met[f.index()] = is_shared && is_met;
            out.comes[f.index()] = is_shared && (is_region || is_met) || is_one && below;
        }
        out.masters = out.find_masters(program);
        for (task, segment) in program.all_segments() {
            let crew = out.crew_of(task);
            out.follow(program, &calls, &crew.code(segment.body), crew);
        }
        out
    }

    /// Finds the texts that code needs which the first lane of a crew runs.
    fn follow(&mut self, program: &Levelized, calls: &CallGraph, code: &Function, crew: Crew) {
        for stmt in code.stmts() {
            let StmtKind::Call { func, .. } = stmt.kind else {
                continue;
            };
            let function = &program.program[func];
            if !self.is_first(function, func, crew) {
                let asked = function.team == Some(Team::Lane);
                if crew == Crew::Device && function.rounds && !code.rounds && !asked {
                    self.left.push(func);
                }
                let all = calls.reached(func).into_iter();
                self.plain.iter_mut().zip(all).for_each(|(p, r)| *p |= r);
                self.plain[func.index()] = true;
                continue;
            }
            if !self.texts.insert((func, Version::First(crew))) {
                continue;
            }
            self.follow(program, calls, &Version::First(crew).of(function), crew);
            if self.are[func.index()] {
                self.hand_out(program, calls, func, crew);
            }
            if self.met[func.index()] {
                let number = self.numbered(func);
                self.texts.insert((func, Version::Met));
                let handed = Handed {
                    to: BTreeSet::new(),
                    once: false,
                    in_turn: 0,
                    most: 0,
                    team: None,
                };
                self.handed.entry(crew).or_default().insert(number, handed);
                self.follow(program, calls, &Version::Met.of(function), Crew::Lane);
            }
        }
    }

    /// A region that is handed out to a crew.
    fn hand_out(&mut self, program: &Levelized, calls: &CallGraph, region: FuncId, crew: Crew) {
        let function = &program.program[region];
        let number = self.numbered(region);
        let (depth, meet) = self.inside(program, function, Crew::Warp);
        let smaller: &[Crew] = match (crew, depth) {
            (Crew::Device, 2..) => &[Crew::Blocks],
            (Crew::Device, 1) => &[Crew::Warp, Crew::Blocks],
            (Crew::Blocks, 1..) => &[Crew::Warp],
            (Crew::Device | Crew::Blocks, 0) if meet => &[Crew::Warp],
            _ => &[],
        };
        let team = function.team.map(threads);
        let can = |c: &Crew| {
            let fits = *c != Crew::Blocks || team.is_none_or(|n| n >= abi::kernel::BLOCK);
            fits && is_held(function, *c)
                && rounds(program, function, Version::Served(*c)).is_some()
                && self.inside(program, function, *c) != (0, false)
        };
        let to: BTreeSet<Crew> = smaller.iter().copied().filter(can).collect();
        for by in to.iter().copied().chain([Crew::Lane]) {
            if self.texts.insert((region, Version::Served(by))) {
                self.follow(program, calls, &Version::Served(by).of(function), by);
            }
        }
        let most = match to
            .iter()
            .any(|by| self.has_memory(program, function, Version::Served(*by)))
        {
            true => abi::HOLDING_BLOCKS,
            false => abi::REGION_BLOCKS,
        };
        let most = team.map_or(most, |n| most.min(n.div_ceil(abi::kernel::BLOCK)));
        let handed = Handed {
            in_turn: match depth > 0 && !to.contains(&Crew::Blocks) {
                true => FEW,
                false => 1,
            },

            to,
            once: depth == 0,
            most,
            team,
        };
        self.handed.entry(crew).or_default().insert(number, handed);
    }

    /// Whether the first lane of a crew has local memory that its crew sees, in a text or in what that calls or hands out.
    fn has_memory(&self, program: &Levelized, function: &Function, version: Version) -> bool {
        let (crew, code) = (version.crew(), version.of(function));
        if crew == Crew::Lane {
            return false;
        }
        let below = |func: FuncId| {
            let callee = &program.program[func];
            let handed = self
                .number(func)
                .and_then(|n| self.handed.get(&crew)?.get(&n));
            let to = handed.iter().flat_map(|h| &h.to);
            self.is_first(callee, func, crew)
                && (self.has_memory(program, callee, Version::First(crew))
                    || to
                        .into_iter()
                        .any(|by| self.has_memory(program, callee, Version::Served(*by))))
        };
        code.slots.iter().any(|s| s.layout.size > 0)
            || code
                .stmts()
                .any(|s| matches!(s.kind, StmtKind::Call { func, .. } if below(func)))
    }

    fn numbered(&mut self, region: FuncId) -> usize {
        self.number(region).unwrap_or_else(|| {
            self.all.push(region);
            self.all.len() - 1
        })
    }

    /// How many regions lie in each other in a function, at most, but for those whose lanes meet; and whether there are such.
    fn inside(&self, program: &Levelized, function: &Function, crew: Crew) -> (u32, bool) {
        let code = crew.code(function);
        let below = code.stmts().filter_map(|s| match s.kind {
            StmtKind::Call { func, .. } => Some(func),
            _ => None,
        });
        let below = below.filter(|f| self.is_first(&program.program[*f], *f, crew));
        below.fold((0, false), |(most, any), f| {
            let (depth, meet) = self.inside(program, &program.program[f], crew);
            let own = depth + u32::from(self.are[f.index()]);
            (most.max(own), any || meet || self.met[f.index()])
        })
    }

    /// Whether a call of a function by the first lane of a crew is one of the text that hands out.
    fn is_first(&self, function: &Function, id: FuncId, crew: Crew) -> bool {
        let is_there = match self.met[id.index()] {
            true => crew == Crew::Warp,
            false => crew != Crew::Lane,
        };
        is_there && self.comes[id.index()] && is_held(function, crew)
    }

    /// The text that is called.
    pub(super) fn called(&self, id: FuncId, crew: Crew) -> Version {
        match self.texts.contains(&(id, Version::First(crew))) {
            true => Version::First(crew),
            false => Version::Plain,
        }
    }

    /// Whether the plain text of a helper is called.
    pub(super) fn is_plain(&self, id: FuncId) -> bool {
        self.plain.get(id.index()) != Some(&false)
    }

    /// The texts of a helper that are called, beside the plain one.
    pub(super) fn texts(&self, id: FuncId) -> impl Iterator<Item = Version> + '_ {
        let of_it = (id, Version::Plain)..=(id, Version::Met);
        self.texts.range(of_it).map(|(_, version)| *version)
    }

    /// Whether blocks run rounds so for several crews. Then the text is there once for these, and is called, which a warp has no time for.
    fn is_shared(&self, number: usize, by: Crew) -> bool {
        [Crew::Blocks, Crew::Device].iter().all(|crew| {
            let handed = self.handed.get(crew).and_then(|all| all.get(&number));
            handed.is_some_and(|h| by == Crew::Lane || h.to.contains(&by))
        })
    }

    /// Whether it is a region whose lanes meet.
    pub(super) fn is_met(&self, id: FuncId) -> bool {
        self.met.get(id.index()) == Some(&true)
    }

    pub(super) fn number(&self, f: FuncId) -> Option<usize> {
        self.all.iter().position(|r| *r == f)
    }

    /// Loops that the master runs by itself, though their rounds may run side by side.
    pub(super) fn left(&self) -> &[FuncId] {
        &self.left
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The tasks that are run by one lane, for which all blocks are there: those that come to a region, are no task's children, and have none. A task with children,
    /// or that is one of many, has lanes enough.
    fn find_masters(&self, program: &Levelized) -> BTreeSet<TaskId> {
        let segments = program.all_segments().map(|s| s.1);
        let spawned: BTreeSet<TaskId> = segments
            .flat_map(Segment::pushes)
            .filter_map(|p| program.role(p.stack).child())
            .collect();
        let comes = |body: &Function| {
            body.stmts()
                .any(|s| matches!(s.kind, StmtKind::Call { func, .. } if self.comes[func.index()]))
        };
        let is_master = |task: &TaskId| {
            let (mut segments, entry) = (program.segments(*task), program.entry(*task));
            segments.len() == 1
                && segments.all(|s| s.pushes().len() == 0)
                && !spawned.contains(task)
                && comes(entry.body)
        };
        program.tasks().map(|t| t.0).filter(is_master).collect()
    }

    /// Whose first lane runs a task's segments.
    pub(super) fn crew_of(&self, task: TaskId) -> Crew {
        match self.masters.contains(&task) {
            true => Crew::Device,
            false => Crew::Lane,
        }
    }
}

/// Whether what a function has in local memory may lie where each such crew sees its own.
fn is_held(function: &Function, crew: Crew) -> bool {
    let code = crew.code(function);
    let bytes: u64 = code.slots.iter().map(|s| s.layout.size).sum();
    crew == Crew::Device || bytes * crew.most() <= MOST_HELD
}

/// How two values are joined by this operation; none where lanes cannot join theirs.
fn combine(op: BinOp) -> Option<Combine> {
    let all = [
        Combine::Add,
        Combine::And,
        Combine::Or,
        Combine::Xor,
        Combine::Min,
        Combine::Max,
    ];
    all.into_iter().find(|c| c.op() == Some(op))
}

/// The one loop of a text of a function that is a region.
pub(super) fn rounds(program: &Levelized, function: &Function, version: Version) -> Option<Rounds> {
    if function.kind != FunctionKind::Helper {
        return None;
    }
    let function = &*version.of(function);
    let mut found = match version {
        Version::Met => team::find(&program.program, function, |_| None)?,
        _ => team::find_apart(&program.program, function)?,
    };
    let (one, None) = (found.pop()?, found.pop()) else {
        return None;
    };
    let outside = function.blocks.iter().enumerate();
    let outside = outside.filter(|(i, _)| !one.inside.contains(BlockId::new(*i)));
    let plain = outside
        .flat_map(|(_, b)| &b.stmts)
        .all(|s| matches!(s.kind, StmtKind::Assign { .. } | StmtKind::Check { .. }));
    let scalars = function.args.iter().all(|a| matches!(a, Arg::Local(_)));
    let fits = function.args.len() <= abi::REGION_ARGS && one.gathers.len() <= abi::REGION_GATHERS;
    let joins = one
        .gathers
        .iter()
        .all(|g| g.neutral.is_some() && combine(g.op).is_some());
    let is_it = match version {
        Version::Met => one.share == Share::Meeting,
        _ => one.share == Share::Strided && joins,
    };
    (is_it && plain && scalars && fits).then_some(one)
}
