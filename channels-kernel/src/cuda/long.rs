//! Loops of an element that only spawn, where they have many turns: all lanes of the warp run them together.
//!
//! One lane takes some 280 ns for a child, a third of a second for a million of them, while 31 others wait for it; and of irregular trees some task has as
//! many. Of such a loop it is known beforehand what it pushes: turns times what one turn does. So whoever counts does not run it at all. Who runs it
//! reserves for all of its turns at once, puts the loop off, and goes on behind it; when all lanes of the warp are through, they divide its turns
//! (`run_long` of `device/long.cu`). Children lie where the lane alone would have put them.
//!
//! [`find`] says of which loops that is right: a counter, no ways within it, and nothing in a turn that is seen outside but its children.

use super::{
    body::{Body, Role},
    loops,
    plan::Plan,
    source::{Mode, Source},
    types::ctype,
};
use millstream_graph::{
    flow::{Flow, Liveness},
    ir::{BinOp, BlockId, Function, LocalId, Operand, Rvalue, Stmt, StmtKind, TaskId, Terminator},
    levelized::StackRole,
    ty::Scalar,
};
use std::collections::{BTreeMap, BTreeSet};

/// A statement: its block and its place there.
type At = (BlockId, usize);

/// A loop that may be put off.
#[derive(Clone, Debug)]
pub(super) struct Long {
    /// Its first block, which asks whether there is another turn.
    pub header: BlockId,
    /// All of its blocks in the order of a turn, the first one among them.
    pub blocks: Vec<BlockId>,
    /// Where it goes on when there is no other turn.
    pub exit: BlockId,
    /// Counts the turns by one, up to the limit.
    counter: LocalId,
    limit: Operand,
    /// What a turn leaves out: where it is asked whether there is one, and where the counter gets its next value.
    left_out: [At; 2],
    /// What a turn reads of what was there before.
    read: BTreeSet<LocalId>,
    /// Children of a turn, by push.
    pushes: BTreeMap<usize, u32>,
}

/// The loops of a segment that may be put off.
pub(super) fn find(plan: &Plan, source: &Source, function: &Function) -> Vec<Long> {
    // Others reserve for each child, or share their loops out already.
    if !matches!(source.mode, Mode::Scanned { .. } | Mode::Tried { .. }) || source.restarts() {
        return Vec::new();
    }
    let flow = Flow::new(function);
    let ret = plan.program.segment(source.task, source.segment).ret;
    let look = Look {
        plan,
        source,
        function,
        flow: &flow,
        liveness: Liveness::new(function, ret),
    };
    let headers: BTreeSet<BlockId> = flow.back_edges().iter().map(|(_, to)| *to).collect();
    headers.into_iter().filter_map(|h| look.at(h)).collect()
}

struct Look<'a> {
    plan: &'a Plan,
    source: &'a Source,
    function: &'a Function,
    flow: &'a Flow,
    liveness: Liveness,
}

impl Look<'_> {
    fn at(&self, header: BlockId) -> Option<Long> {
        let loops::Asked {
            counter,
            limit,
            at,
            then,
            exit,
        } = loops::asked(self.function, header)?;
        let first = &self.function.blocks[header.index()].stmts;
        let blocks = self.turn(header, then)?;
        let inside: BTreeSet<BlockId> = blocks.iter().copied().collect();
        let comes_in = self.flow.sources(header).iter();
        let plain = |b: &BlockId| {
            let term = &self.function.blocks[b.index()].term;
            inside.contains(b) || matches!(term, Terminator::Goto(_))
        };
        let is_int = self.function.locals[counter.index()].ty.is_int();
        if !is_int || inside.contains(&exit) || !comes_in.clone().all(plain) {
            return None;
        }
        // The first block is come to once more than there are turns.
        let only_asks = |s: &Stmt| matches!(s.kind, StmtKind::Assign { .. });
        let counts = self.counts(&blocks, counter)?;
        if !first.iter().all(only_asks) || counts.0 == header {
            return None;
        }
        let left_out = [(header, at), counts];
        let cond = first[at].kind.def();
        let (read, made) = self.reads(&blocks, counter, left_out);
        let fixed = limit
            .local()
            .is_none_or(|l| l != counter && !made.contains(&l));
        let behind = self.liveness.live_in(exit);
        let known_behind = |l: &LocalId| behind.contains(l.index());
        // What was asked is not known in a turn, nor behind.
        if !fixed
            || made.iter().any(known_behind)
            || cond.iter().any(|l| known_behind(l) || read.contains(l))
            || !read.is_disjoint(&made)
        {
            return None;
        }
        let pushes = self.pushes(&blocks, exit, &read)?;
        Some(Long {
            header,
            blocks,
            exit,
            counter,
            limit,
            left_out,
            read,
            pushes,
        })
    }

    /// The blocks of a turn, if it goes one way.
    fn turn(&self, header: BlockId, then: BlockId) -> Option<Vec<BlockId>> {
        let (mut blocks, mut next) = (vec![header], then);
        while next != header {
            let Terminator::Goto(to) = self.function.blocks[next.index()].term else {
                return None;
            };
            if self.flow.sources(next).len() != 1 || blocks.contains(&next) {
                return None;
            }
            blocks.push(next);
            next = to;
        }
        Some(blocks)
    }

    fn stmts<'b>(&'b self, blocks: &'b [BlockId]) -> impl Iterator<Item = (At, &'b StmtKind)> {
        blocks.iter().flat_map(|b| {
            let stmts = self.function.blocks[b.index()].stmts.iter();
            stmts.enumerate().map(|(i, s)| ((*b, i), &s.kind))
        })
    }

    /// Where the counter gets its next value: as the last thing that is done with it, and one more.
    fn counts(&self, blocks: &[BlockId], counter: LocalId) -> Option<At> {
        let mut found = None;
        let mut more = BTreeSet::new();
        for (at, stmt) in self.stmts(blocks) {
            if found.is_some() && stmt.operands().contains(&Operand::Local(counter)) {
                return None;
            }
            let StmtKind::Assign { dst, value } = stmt else {
                continue;
            };
            let counted = match value {
                Rvalue::Binary(BinOp::Add, Operand::Local(l), Operand::Const(_, 1)) => {
                    *l == counter
                }
                Rvalue::Use(Operand::Local(l)) => *dst == counter && more.contains(l),
                _ => false,
            };
            match (*dst == counter, counted) {
                (true, true) if found.is_none() => found = Some(at),
                (true, _) => return None,
                (false, true) => drop(more.insert(*dst)),
                (false, false) => drop(more.remove(dst)),
            }
        }
        found
    }

    /// What a turn reads of what it has not made, and all that it makes.
    fn reads(
        &self,
        blocks: &[BlockId],
        counter: LocalId,
        left_out: [At; 2],
    ) -> (BTreeSet<LocalId>, BTreeSet<LocalId>) {
        let (mut read, mut made) = (BTreeSet::new(), BTreeSet::new());
        for (_, stmt) in self.stmts(blocks).filter(|(at, _)| !left_out.contains(at)) {
            let operands = stmt.operands().into_iter().filter_map(Operand::local);
            read.extend(operands.filter(|l| *l != counter && !made.contains(l)));
            made.extend(stmt.def().filter(|l| *l != counter));
        }
        (read, made)
    }

    /// What a turn pushes, if it does nothing else that is seen outside, nor sees what is done behind the loop.
    fn pushes(
        &self,
        blocks: &[BlockId],
        exit: BlockId,
        read: &BTreeSet<LocalId>,
    ) -> Option<BTreeMap<usize, u32>> {
        let mut pushes = BTreeMap::new();
        let (mut looks, mut looks_at_frame) = (false, false);
        for (_, stmt) in self.stmts(blocks) {
            match stmt {
                // Local memory is a lane's own.
                StmtKind::Assign {
                    value: Rvalue::SlotAddr(_),
                    ..
                } => return None,
                StmtKind::Assign { value, .. } => {
                    looks |= matches!(value, Rvalue::Load { .. });
                    looks_at_frame |= matches!(value, Rvalue::FrameLoad(_));
                }
                StmtKind::Check { .. } => looks = true,
                StmtKind::Spawn {
                    func, leaf: None, ..
                } => {
                    let child = self.plan.program.task_of(*func)?;
                    *pushes.entry(self.push(child)?).or_insert(0) += 1;
                }
                _ => return None,
            }
        }
        // An address may be one of a slot.
        let own = |l: &LocalId| self.function.locals[l.index()].ty == Scalar::Ptr;
        let is_lent = !self.function.slots.is_empty() && read.iter().any(own);
        let behind = self.flow.reach([exit], |_| true);
        let effect = |s: &&Stmt| match &s.kind {
            StmtKind::Assign { .. } | StmtKind::Spawn { .. } | StmtKind::FrameAlloc => false,
            StmtKind::FrameStore { .. } => looks_at_frame,
            _ => looks,
        };
        let mut later = behind
            .iter()
            .flat_map(|b| &self.function.blocks[b.index()].stmts);
        (!pushes.is_empty() && !is_lent && !later.any(|s| effect(&s))).then_some(pushes)
    }

    fn push(&self, child: TaskId) -> Option<usize> {
        let segment = self
            .plan
            .program
            .segment(self.source.task, self.source.segment);
        let stack = self.plan.program.stack(StackRole::Entry(child));
        let mut pushes = segment.pushes();
        pushes.position(|p| Some(p.stack) == stack)
    }
}

impl Body<'_, '_> {
    /// Before the loop that a block goes to: whoever counts goes past it, and if it has many turns it is put off.
    pub(super) fn put_off(&mut self, term: &Terminator) {
        let Terminator::Goto(to) = term else { return };
        let mut all = self.long.iter().enumerate();
        let Some((i, long)) = all.find(|(_, l)| l.header == *to && !l.blocks.contains(&self.here))
        else {
            return;
        };
        let (counter, limit) = (self.local(long.counter), self.operand(long.limit));
        let most = long.pushes.values().max().copied().unwrap_or(1);
        let past = format!(
            "if ({counter} < {limit}) {counter} = {limit}; {}",
            self.go(long.exit)
        );
        let claims = long
            .pushes
            .iter()
            .map(|(p, n)| (p, format!("talloc(w, {p}, turns * {n})")));
        let claims: Vec<_> = claims.collect();
        let counted: String = claims.iter().map(|(_, text)| format!("{text}; ")).collect();
        let at_once: String = long
            .pushes
            .iter()
            .map(|(p, n)| format!(" && w.counts({p}, turns * {n})"))
            .collect();
        let first: String = claims
            .iter()
            .map(|(p, text)| format!("to.first_{p} = {text}; "))
            .collect();
        let read: String = long
            .read
            .iter()
            .map(|l| format!("to.{0} = {0}; ", self.local(*l)))
            .collect();
        let lines = [
            format!(
                "{{ const u32 turns = turns_of<{}>({counter}, {limit}, {most});  // of a loop that only spawns",
                ctype(self.function.locals[long.counter.index()].ty)
            ),
            format!(
                "if constexpr (!W::RUN) {{ if (turns != ~0u{at_once}) {{ {counted}{past} }} }}"
            ),
            format!(
                "if constexpr (W::LONG) {{ if (!w.later.which && is_long(turns)) {{ auto& to = w.later; to.which = {}; to.turns = turns; to.frame = w.frame; \
                 to.from_{i} = {counter}; {read}{first}{past} }} }}",
                i + 1
            ),
            "}".to_owned(),
        ];
        for line in lines {
            self.out.line(&line);
        }
    }

    /// What lanes know of loops that were put off, how one lane tells the others, and a turn.
    pub(super) fn long_rounds(&mut self) {
        let any = !self.long.is_empty();
        let declared = format!(
            "static constexpr bool LONG = {any};  // loops that only spawn may be run by all lanes together"
        );
        self.out.line(&declared);
        if !any {
            return self.out.line("struct Later {};");
        }
        let (mut members, mut told, mut fits) = (Vec::new(), Vec::new(), Vec::new());
        let staged = match self.role {
            Role::Segment { staged, .. } => staged,
            Role::Helper { .. } | Role::Node { .. } => None,
        };
        for (i, long) in self.long.iter().enumerate() {
            members.push((
                ctype(self.function.locals[long.counter.index()].ty),
                format!("from_{i}"),
            ));
            members.extend(
                long.read
                    .iter()
                    .map(|l| (self.local_type(*l), self.local(*l))),
            );
            members.extend(long.pushes.keys().map(|p| ("u32", format!("first_{p}"))));
            fits.extend(long.pushes.iter().filter(|(p, _)| staged == Some(**p)).map(|(p, n)| {
                format!("if (W::STAGES && of.which == {} && (u64)of.first_{p} + (u64)of.turns * {n} > capacity<W::EACH, W::STAGE_PARTS>()) return false;", i + 1)
            }));
        }
        let mut seen = BTreeSet::new();
        members.retain(|(_, name)| seen.insert(name.clone()));
        let mut all = String::from("struct Later { u32 which = 0, turns = 0, frame = 0;");
        for (ty, name) in &members {
            all += &format!(" {ty} {name} = {{}};");
            told.push(format!("of.{name} = from_lane(own.{name}, lane);"));
        }
        let lines = [
            all + " };  // of a loop that is put off: what its turns read",
            format!(
                "FN_IN static Later told(const Later& own, u32 lane) {{ Later of; of.which = from_lane(own.which, lane); of.turns = from_lane(own.turns, lane); of.frame = from_lane(own.frame, lane); {} return of; }}",
                told.join(" ")
            ),
            "template <class W>".to_owned(),
            format!(
                "FN_IN static bool fits([[maybe_unused]] const Later& of) {{ {} return true; }}",
                fits.join(" ")
            ),
            "template <class W>".to_owned(),
        ];
        for line in lines {
            self.out.line(&line);
        }
        self.out
            .open("FN_IN static void turn_of(W& w, const Later& of, u32 turn) {");
        self.out
            .line("[[maybe_unused]] const auto& ch = *W::Memory::channels;");
        for i in 0..self.long.len() {
            self.long_turn(i);
        }
        self.out.generated();
        self.out.close("}");
    }

    fn long_turn(&mut self, i: usize) {
        let long = self.long[i].clone();
        self.out.open(&format!("if (of.which == {}) {{", i + 1));
        let mut declared: BTreeSet<LocalId> = long.read.clone();
        declared.insert(long.counter);
        let made = stmts_of(self.function, &long.blocks);
        let made = made.filter(|(at, _)| !long.left_out.contains(at));
        declared.extend(made.filter_map(|(_, stmt)| stmt.kind.def()));
        for local in declared {
            let (ty, name) = (self.local_type(local), self.local(local));
            let line = match (local == long.counter, long.read.contains(&local)) {
                (true, _) => {
                    format!("[[maybe_unused]] {ty} {name} = ({ty})((u64)of.from_{i} + turn);")
                }
                (_, true) => format!("[[maybe_unused]] const {ty} {name} = of.{name};"),
                _ => format!("[[maybe_unused]] {ty} {name};"),
            };
            self.out.line(&line);
        }
        self.turn = Some(Turn {
            pushes: long.pushes.clone(),
            done: BTreeMap::new(),
        });
        // A check that fails leaves the turn alone: here the loop is around it no more.
        self.inside = None;
        let function = self.function;
        for (at, stmt) in stmts_of(function, &long.blocks) {
            if long.left_out.contains(&at) {
                continue;
            }
            self.here = at.0;
            self.out.place(stmt.span);
            self.stmt(at.1, &stmt.kind);
        }
        self.turn = None;
        self.out.close("}");
    }
}

fn stmts_of<'a>(
    function: &'a Function,
    blocks: &'a [BlockId],
) -> impl Iterator<Item = (At, &'a Stmt)> {
    blocks.iter().flat_map(|b| {
        let stmts = function.blocks[b.index()].stmts.iter();
        stmts.enumerate().map(|(i, s)| ((*b, i), s))
    })
}

/// The turn of a long loop that is being written.
#[derive(Debug)]
pub(super) struct Turn {
    /// Children of a turn, by push.
    pushes: BTreeMap<usize, u32>,
    /// How many of them were written.
    done: BTreeMap<usize, u32>,
}

impl Turn {
    /// Where the next child of this push lies.
    pub(super) fn place(&mut self, push: usize) -> String {
        let all = self.pushes.get(&push).copied().unwrap_or(1);
        let rank = self.done.entry(push).or_insert(0);
        let text = format!("of.first_{push} + turn * {all} + {rank}");
        *rank += 1;
        text
    }
}
