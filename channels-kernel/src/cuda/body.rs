//! A function's body: registers, local memory, blocks and where they go.

use super::{
    analysis::{self, Taint},
    counting::Counting,
    flow,
    long::{Long, Turn},
    loops::{self, Loop},
    names,
    origin::Hidden,
    plan::{Mode, Plan},
    regions::{self, Crew, Version},
    team::{self, Rounds},
    types::{constant, ctype, unsigned},
    writer::Writer,
};
use millstream_graph::{
    flow::{Edge, Flow},
    ir::{
        Arg, Block, BlockId, FuncId, Function, LocalId, Operand, SegmentId, SlotId, Span, TaskId,
        Terminator,
    },
    ty::Scalar,
};
use std::collections::BTreeSet;

/// Whose body it is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    /// A helper; whether it may call itself.
    Helper {
        func: FuncId,
        recursive: bool,
        version: Version,
    },
    /// A segment, and which of its pushes is staged.
    Segment {
        task: TaskId,
        segment: SegmentId,
        staged: Option<usize>,
    },
    /// A kernel of a graph.
    Node { task: TaskId },
}

/// Who divides the turns of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Crowd {
    /// The lanes of a warp.
    Warp,
    /// A crew, in the text of its first lane, which hands them out.
    First,
    /// The same, in the text of those who serve.
    Served,
}

/// Writes one body.
#[derive(Debug)]
pub(super) struct Body<'a, 'w> {
    pub(super) plan: &'a Plan,
    pub(super) function: &'a Function,
    pub(super) role: Role,
    pub(super) out: &'w mut Writer,
    pub(super) taint: Taint,
    pub(super) hidden: Hidden,
    /// What a run that only counts goes by; all of it, if that is none.
    pub(super) counting: Option<Counting>,
    /// The edges that close a loop of many turns.
    back_edges: BTreeSet<Edge>,
    /// Loops whose ways out join, and the one that the code is in.
    pub(super) loops: Vec<Loop>,
    pub(super) inside: Option<usize>,
    pub(super) here: BlockId,
    /// Of elements that a warp runs together: the loops whose turns its lanes divide.
    pub(super) team: Vec<Rounds>,
    /// Who divides them.
    pub(super) crowd: Crowd,
    /// Loops that may be put off, for all lanes of the warp; and the turn of one that is being written.
    pub(super) long: Vec<Long>,
    pub(super) turn: Option<Turn>,
    /// Of a kernel of a graph: the channels that it emits into, in order of its ports.
    pub(super) ports: &'a [flow::Port],
}

impl<'a, 'w> Body<'a, 'w> {
    pub(super) fn new(
        plan: &'a Plan,
        function: &'a Function,
        role: Role,
        out: &'w mut Writer,
    ) -> Self {
        let flow = Flow::new(function);
        let team = match role {
            Role::Segment { task, segment, .. } => team_of(plan, function, task, segment),
            Role::Helper { func, version, .. } if version != Version::Plain => {
                let function = &plan.program.program[func];
                let rounds = regions::rounds(&plan.program, function, version);
                rounds.into_iter().collect()
            }
            Role::Helper { .. } | Role::Node { .. } => Vec::new(),
        };
        let crowd = match role {
            Role::Helper {
                version: Version::First(_),
                ..
            } => Crowd::First,
            Role::Helper {
                version: Version::Served(_),
                ..
            } => Crowd::Served,
            _ => Crowd::Warp,
        };
        let mut back_edges = flow.back_edges().clone();
        back_edges.retain(|edge| {
            // Lanes that divide a loop meet behind it, however short it is.
            team.iter().any(|r| r.header == edge.1)
                || (!analysis::is_short(*edge, function, &flow)
                    && !analysis::takes_bits(*edge, function, &flow))
        });
        let loops = loops::find(&plan.program.program, function, &flow, &back_edges);
        let inside: Vec<_> = loops.iter().map(|l| &l.inside).collect();
        // Of a team every lane counts what all do together.
        let counts = matches!(role, Role::Segment { .. }) && team.is_empty();
        let counting = counts.then(|| Counting::find(function, &inside)).flatten();
        Self {
            plan,
            function,
            role,
            out,
            taint: Taint::find(function),
            hidden: Hidden::find(function, matches!(role, Role::Helper { .. })),
            counting,
            back_edges,
            loops,
            inside: None,
            here: BlockId(0),
            team,
            crowd,
            long: Vec::new(),
            turn: None,
            ports: &[],
        }
    }

    /// Whether the code is where all lanes of a team do the same, so that one of them has to do what has an effect.
    pub(super) fn is_alike(&self) -> bool {
        self.crowd == Crowd::Warp
            && !self.team.is_empty()
            && !self.team.iter().any(|r| r.inside.contains(self.here))
    }

    /// The segment's local that holds the return address.
    pub(super) fn ret_local(&self) -> Option<LocalId> {
        match self.role {
            Role::Segment { task, segment, .. } => self.plan.program.segment(task, segment).ret,
            Role::Helper { .. } | Role::Node { .. } => None,
        }
    }

    /// Whether a register holds a short return address.
    pub(super) fn is_short(&self, id: LocalId) -> bool {
        matches!(self.role, Role::Segment { task, .. } if self.plan.short_returns[task.index()] && self.ret_local() == Some(id))
    }

    /// C++ type of a register.
    pub(super) fn local_type(&self, id: LocalId) -> &'static str {
        if self.is_short(id) {
            "u32"
        } else {
            ctype(self.function.locals[id.index()].ty)
        }
    }

    pub(super) fn local(&self, id: LocalId) -> String {
        names::local(self.function, id)
    }

    pub(super) fn slot(&self, id: SlotId) -> String {
        names::slot(self.function, id)
    }

    pub(super) fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Local(id) => self.local(id),
            Operand::Const(ty, bits) => constant(ty, bits),
        }
    }

    pub(super) fn type_of(&self, operand: Operand) -> Scalar {
        self.function.type_of(operand)
    }

    /// Code that leaves the function, when the run is over: each loop by where its ways out join.
    pub(super) fn leave(&self) -> String {
        match (self.inside, self.role) {
            (Some(l), _) => match self.meeting(self.loops[l].header) {
                Some(meet) => format!("{{ w.failed = true; goto {meet}; }}"),
                None => format!("{{ way{l} = 0; goto out{l}; }}"),
            },
            (None, Role::Helper { .. }) if self.result_type() != "void" => {
                format!("return {}()", self.result_type())
            }
            (None, _) => "return".to_owned(),
        }
    }

    /// The C++ type that the function returns: of a helper whose result is one scalar piece, that.
    pub(super) fn result_type(&self) -> &'static str {
        match self.role {
            Role::Helper {
                version: Version::Served(_),
                ..
            } => "void",
            Role::Helper { .. } => super::helper::result_type(self.plan, self.function),
            Role::Segment { .. } | Role::Node { .. } => "void",
        }
    }

    /// Declares registers and local memory; the arguments are parameters or come from the element.
    pub(super) fn declare(&mut self) {
        let args: BTreeSet<LocalId> = self
            .function
            .args
            .iter()
            .filter_map(|a| {
                if let Arg::Local(l) = a {
                    Some(*l)
                } else {
                    None
                }
            })
            .collect();
        let is_helper = matches!(self.role, Role::Helper { .. });
        for i in 0..self.function.locals.len() {
            let id = LocalId::new(i);
            if is_helper && args.contains(&id) {
                continue;
            }
            let line = format!(
                "[[maybe_unused]] {} {};",
                self.local_type(id),
                self.local(id)
            );
            self.out.line(&line);
        }
        self.declare_team();
        self.declare_neighbours();
        self.declare_together();
        for l in 0..self.loops.len() {
            self.out
                .line(&format!("u32 way{l};  // where a lane goes from a loop"));
        }
        for (i, slot) in self.function.slots.iter().enumerate() {
            let name = self.slot(SlotId::new(i));
            let (align, size) = (slot.layout.align.max(1), slot.layout.size.max(1));
            let line = match self.crew() {
                Crew::Lane => format!("[[maybe_unused]] alignas({align}) char {name}[{size}];"),
                crew => crew.holds(&name, align, size),
            };
            self.out.line(&line);
        }
    }

    /// Writes the blocks, after the arguments have arrived.
    pub(super) fn blocks(&mut self) {
        let reached = self.reached();
        let jumped = self.jumped(&reached);
        let pushing = analysis::pushing(self.function);
        let function = self.function;
        for (i, block) in function.blocks.iter().enumerate() {
            let id = BlockId::new(i);
            if !reached.contains(&id) {
                continue;
            }
            self.here = id;
            self.inside = loops::around(&self.loops, id);
            if jumped.contains(&id) {
                self.out.label(&format!("{id}:;"));
            }
            if self.looks(id, &reached) {
                self.out.line("w.begin_turns();");
                self.out.label(&format!("turn_{id}:;"));
            }
            if matches!(self.role, Role::Segment { .. }) && !pushing.contains(id) {
                let text = format!(
                    "if (!W::RUN) {};  // nothing to count from here on",
                    self.leave()
                );
                self.out.line(&text);
            } else if let Some(exit) = self.left_out() {
                let text = format!(
                    "if (!W::RUN) {}  // nothing to count in here",
                    self.go(exit)
                );
                self.out.line(&text);
            }
            if self.end_share() {
                continue;
            }
            for (at, stmt) in block.stmts.iter().enumerate() {
                self.place(stmt.span);
                if !self.team_stmt(at, &stmt.kind) {
                    self.stmt(at, &stmt.kind);
                }
            }
            self.place(block.span);
            self.begin_rounds(&block.term);
            self.put_off(&block.term);
            self.terminator(block);
        }
        self.ways_out();
        self.ends_of_turns(&reached);
    }

    /// Whether this is the first block of a loop whose lanes look, each by itself, whether the run is over.
    fn looks(&self, header: BlockId, reached: &BTreeSet<BlockId>) -> bool {
        let closes = |(from, to): &Edge| *to == header && reached.contains(from);
        self.meeting(header).is_none() && self.back_edges.iter().any(closes)
    }

    /// Where lanes end a turn of a loop, all at one place: those that went ways of their own meet there. After many turns they look whether the run is
    /// over, outside of the loop: within it the compiler would have all lanes join behind the look at each turn, and yield to each other, because there are
    /// atomics in it. That took a third of the time of a short turn (H100).
    fn ends_of_turns(&mut self, reached: &BTreeSet<BlockId>) {
        for header in reached {
            if !self.looks(*header, reached) {
                continue;
            }
            self.out.generated();
            self.inside = loops::around(&self.loops, *header);
            self.out.label(&format!("next_{header}:;"));
            self.out
                .line(&format!("if (--w.turns) goto turn_{header};"));
            let text = format!("if (w.is_over()) {};", self.leave());
            self.out.line(&text);
            self.out.line(&format!("goto {header};"));
        }
    }

    /// Where the ways out of each loop join, and where they lead from there.
    fn ways_out(&mut self) {
        for l in 0..self.loops.len() {
            self.out.generated();
            self.out.label(&format!("out{l}:;"));
            self.out.line("regroup();");
            self.inside = self.loops[l].parent;
            self.end_rounds(l);
            for (i, exit) in self.loops[l].exits.iter().enumerate() {
                let text = format!("if (way{l} == {}) {}", i + 1, self.go(*exit));
                self.out.line(&text);
            }
            let text = format!("{};", self.leave());
            self.out.line(&text);
        }
    }

    /// The blocks that are come to: of those who serve a region, none behind its rounds.
    fn reached(&self) -> BTreeSet<BlockId> {
        let mut reached = BTreeSet::from([BlockId(0)]);
        let mut more = vec![BlockId(0)];
        while let Some(b) = more.pop() {
            if self.shares_until(b).is_none() {
                let targets = self.function.blocks[b.index()].term.targets();
                more.extend(targets.filter(|to| reached.insert(*to)));
            }
        }
        reached
    }

    /// The blocks that something jumps to, rather than falls into.
    fn jumped(&self, reached: &BTreeSet<BlockId>) -> BTreeSet<BlockId> {
        let mut out = BTreeSet::new();
        for (i, block) in self.function.blocks.iter().enumerate() {
            if !reached.contains(&BlockId::new(i)) {
                continue;
            }
            let switch = matches!(block.term, Terminator::Switch { .. });
            out.extend(
                block
                    .term
                    .targets()
                    .filter(|to| switch || to.index() != i + 1),
            );
        }
        out.extend(self.loops.iter().flat_map(|l| l.exits.iter().copied()));
        out.extend(self.long.iter().map(|l| l.exit));
        if self.crowd == Crowd::First {
            out.extend(self.team.iter().map(|r| r.exit));
        }
        out
    }

    fn place(&mut self, span: Span) {
        self.out.place(span);
    }

    /// Code that goes to a block; at the back edge of a long loop by where a turn ends.
    fn goto(&self, to: BlockId) -> String {
        let text = self.go(to);
        if self.back_edges.contains(&(self.here, to)) {
            if self.meeting(to).is_none() {
                return format!("goto next_{to};");
            }
            // Where all meet at each turn, they leave together.
            let leave = match self.inside {
                Some(l) => format!("{{ way{l} = 0; goto out{l}; }}"),
                None => self.leave(),
            };
            format!("{{ if (any_lane(w.poll() || w.failed)) {leave}; {text} }}")
        } else if to.0 == self.here.0 + 1 && text.starts_with("goto") {
            // The next block follows.
            "{}".to_owned()
        } else {
            text
        }
    }

    /// Code that goes to a block: out of a loop by where its ways out join.
    pub(super) fn go(&self, to: BlockId) -> String {
        if let Some(l) = self.inside
            && let Some(way) = self.loops[l].exits.iter().position(|exit| *exit == to)
        {
            return format!("{{ way{l} = {}; goto out{l}; }}", way + 1);
        }
        format!("goto {to};")
    }

    /// Code that goes to a block from an arm of a `switch`.
    fn arm(&self, to: BlockId) -> String {
        let text = self.goto(to);
        if text == "{}" { self.go(to) } else { text }
    }

    /// Where a run that only counts goes on from here, if this is the first block of a loop that it leaves out.
    fn left_out(&self) -> Option<BlockId> {
        let (counting, this) = (self.counting.as_ref()?, &self.loops[self.inside?]);
        let leaves_out = this.header == self.here && counting.leaves_out(&this.inside);
        leaves_out.then(|| this.exits.first().copied())?
    }

    /// Which way it goes from a block where that does not matter.
    fn any_way(&self, block: &Block) -> Option<BlockId> {
        let is_free =
            block.term.targets().count() > 1 && self.counting.as_ref()?.is_free(self.here);
        let mut jumps = block.term.targets().filter(|to| to.0 != self.here.0 + 1);
        is_free.then(|| jumps.next())?
    }

    fn terminator(&mut self, block: &Block) {
        if let Some(way) = self.any_way(block) {
            let text = format!(
                "if (!W::RUN) {}  // all the same to who counts",
                self.go(way)
            );
            self.out.line(&text);
        }
        match &block.term {
            Terminator::Goto(to) => {
                let text = self.goto(*to);
                if text != "{}" {
                    self.out.line(&text);
                }
            }
            Terminator::Branch { cond, then, other } => {
                let cond = self.operand(*cond);
                match self.meeting(self.here) {
                    // Who has no turn waits where all meet.
                    Some(meet) => {
                        let text = format!("if (!{cond}) {}", self.go(*other));
                        self.out.line(&text);
                        let text = format!("if (!{}) goto {meet};", self.has_turn(self.here));
                        self.out.line(&text);
                        if then.0 != self.here.0 + 1 {
                            let text = self.go(*then);
                            self.out.line(&text);
                        }
                    }
                    None => self.branch(&cond, *then, *other),
                }
            }
            Terminator::Room {
                children,
                then,
                other,
            } => self.branch(&format!("w.room({children})"), *then, *other),
            Terminator::Switch { value, arms, other } => {
                let ty = self.type_of(*value);
                let text = format!("switch (({}){}) {{", unsigned(ty), self.operand(*value));
                self.out.open(&text);
                for (bits, to) in arms {
                    let text = format!(
                        "case {bits}{}: {}",
                        if ty.size() == 8 { "ull" } else { "u" },
                        self.arm(*to)
                    );
                    self.out.line(&text);
                }
                let text = format!("default: {}", self.arm(*other));
                self.out.line(&text);
                self.out.close("}");
            }
            Terminator::Return(values) => self.returns(values),
            Terminator::Continue(segment) => self.continues(*segment),
            Terminator::Sync(_) | Terminator::Unreachable => {
                let text = format!("{};", self.leave());
                self.out.line(&text);
            }
        }
    }

    fn branch(&mut self, cond: &str, then: BlockId, other: BlockId) {
        let (then_text, other_text) = (self.goto(then), self.goto(other));
        let text = match (then_text.as_str(), other_text.as_str()) {
            ("{}", "{}") => return,
            ("{}", _) => format!("if (!{cond}) {other_text}"),
            (_, "{}") => format!("if ({cond}) {then_text}"),
            _ => format!("if ({cond}) {then_text} else {other_text}"),
        };
        self.out.line(&text);
    }

    fn returns(&mut self, values: &[Operand]) {
        match self.role {
            Role::Helper {
                version: Version::Served(_),
                ..
            } => self.out.line("return;"),
            Role::Helper { recursive, .. } => {
                if recursive {
                    self.out.line("w.leave();");
                }
                self.helper_returns(values);
            }
            Role::Segment { task, .. } => self.task_returns(task, values),
            Role::Node { .. } => self.out.line("return;  // tfree"),
        }
    }
}

/// The loops that a team divides, of a segment that a warp runs together.
fn team_of(plan: &Plan, function: &Function, task: TaskId, segment: SegmentId) -> Vec<Rounds> {
    let is_it = |s: &&super::plan::Source| s.task == task && s.segment == segment;
    let source = plan.sources.iter().find(is_it);
    if !source.is_some_and(|s| matches!(s.mode, Mode::Team { .. })) {
        return Vec::new();
    }
    let key_of = |s: &_| plan.push_of(task, s);
    team::find(&plan.program.program, function, key_of).unwrap_or_default()
}
