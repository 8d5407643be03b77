//! Elements that the lanes of a warp run together: those of parallel loops, whose rounds may run side by side (`Function::rounds`).
//!
//! All lanes run the body of one element alike. What has an effect beyond registers is done by the first of them, but of each outermost loop every lane
//! has a part of the turns: children are reserved and written side by side, and neighbouring lanes look at neighbouring memory. What turns add to a
//! local is joined when all have left the loop, or turn by turn where the order shows. A lane for each element takes as many steps as there are turns,
//! and each step of a warp touches as many lines of memory as it has lanes.
//!
//! [`find`] says of which bodies that is right: where nothing but such a loop's turns differs between lanes.

use super::{loops, stack::PushKey};
use millstream_graph::{
    flow::{BlockSet, Flow},
    ir::{
        Arg, BinOp, BlockId, Combine, Function, LocalId, Operand, Program, Rvalue, SlotId, Stmt,
        StmtKind, Terminator,
    },
    ty::Scalar,
};
use std::collections::BTreeSet;

/// A statement: its block and its place there.
pub(super) type At = (BlockId, usize);

/// A loop whose turns are divided among the lanes.
#[derive(Debug)]
pub(super) struct Rounds {
    /// Its first block, which asks whether there is another turn.
    pub header: BlockId,
    pub inside: BlockSet,
    /// Where it goes on when there is none.
    pub exit: BlockId,
    /// Counts the turns, up to the limit.
    pub counter: LocalId,
    pub limit: Operand,
    /// Where they are compared, and where it is counted on.
    pub test: At,
    pub turn: At,
    pub share: Share,
    /// What the turns add to.
    pub gathers: Vec<Gather>,
}

/// Which turns a lane has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Share {
    /// Every 32nd, so that lanes are at neighbouring ones at the same time.
    Strided,
    /// As many in succession as all others, so that children lie in the order of the turns.
    Parts,
    /// Every 32nd, and after each all lanes meet: what they gather is joined in the order of the turns.
    Meeting,
}

/// A local that turns add to.
#[derive(Debug)]
pub(super) struct Gather {
    pub local: LocalId,
    pub op: BinOp,
    /// What changes nothing, where lanes may join what they have in any order; none where the order shows.
    pub neutral: Option<u64>,
    /// Where something is added, and where that is only copied to the local.
    pub at: Vec<At>,
    pub copies: Vec<At>,
}

/// The loops of a body that the lanes of a warp can run together; none if they cannot, or there is none.
pub(super) fn find(
    program: &Program,
    function: &Function,
    key_of: impl Fn(&StmtKind) -> Option<PushKey>,
) -> Option<Vec<Rounds>> {
    look(program, function, Meeting::Behind, key_of)
}

/// The same for lanes that do not meet behind a loop.
pub(super) fn find_apart(program: &Program, function: &Function) -> Option<Vec<Rounds>> {
    look(program, function, Meeting::Never, |_| None)
}

/// Whether lanes meet behind a loop, and so none may wait for another in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meeting {
    Behind,
    Never,
}

fn look(
    program: &Program,
    function: &Function,
    meeting: Meeting,
    key_of: impl Fn(&StmtKind) -> Option<PushKey>,
) -> Option<Vec<Rounds>> {
    if !function.rounds {
        return None;
    }
    let flow = Flow::new(function);
    let headers: BTreeSet<BlockId> = flow.back_edges().iter().map(|(_, to)| *to).collect();
    let inside = |header: BlockId| {
        let closing = flow.back_edges().iter().filter(|(_, to)| *to == header);
        flow.natural_loop(header, closing.map(|(from, _)| *from))
    };
    let all: Vec<(BlockId, BlockSet)> = headers.iter().map(|h| (*h, inside(*h))).collect();
    let is_outer = |h: BlockId| !all.iter().any(|(g, set)| *g != h && set.contains(h));
    let look = Look {
        program,
        function,
        live: live(function, &flow),
        flow: &flow,
        meeting,
    };
    let outer = headers.iter().filter(|h| is_outer(**h));
    let rounds: Option<Vec<Rounds>> = outer.map(|h| look.rounds(*h, &key_of)).collect();
    rounds.filter(|all| !all.is_empty() && look.is_alike(all) && look.slots_are_apart(all))
}

/// A body that is looked at.
struct Look<'a> {
    program: &'a Program,
    function: &'a Function,
    flow: &'a Flow,
    /// Of each block, what is still read from its beginning on.
    live: Vec<BTreeSet<LocalId>>,
    meeting: Meeting,
}

fn live(function: &Function, flow: &Flow) -> Vec<BTreeSet<LocalId>> {
    let read = |live: &mut BTreeSet<LocalId>, o: Operand| live.extend(o.local());
    let step = |id: BlockId, live: &mut BTreeSet<LocalId>| {
        let block = &function.blocks[id.index()];
        block.term.each_operand(&mut |o| read(live, o));
        for stmt in block.stmts.iter().rev() {
            if let Some(dst) = stmt.kind.def() {
                live.remove(&dst);
            }
            stmt.kind.each_operand(&mut |o| read(live, o));
        }
    };
    flow.backward(&BTreeSet::new(), step, |all, more| all.extend(more))
}

impl Look<'_> {
    fn stmts<'b>(&'b self, blocks: &'b BlockSet) -> impl Iterator<Item = (At, &'b Stmt)> + 'b {
        blocks.iter().flat_map(|b| {
            let stmts = self.function.blocks[b.index()].stmts.iter();
            stmts.enumerate().map(move |(i, s)| ((b, i), s))
        })
    }

    /// The loop with this header, if its turns can be divided.
    fn rounds(
        &self,
        header: BlockId,
        key_of: impl Fn(&StmtKind) -> Option<PushKey>,
    ) -> Option<Rounds> {
        let found = match self.meeting {
            Meeting::Behind => loops::one(self.program, self.function, self.flow, header),
            Meeting::Never => loops::whole(self.flow, header),
        };
        let inside = found?.inside;
        let loops::Asked {
            counter,
            limit,
            at: asks,
            then,
            exit,
        } = loops::asked(self.function, header)?;
        let first = &self.function.blocks[header.index()];
        // Lanes ask beyond the last turn, too.
        let is_plain = |s: &Stmt| matches!(&s.kind, StmtKind::Assign { value, .. } if !matches!(value, Rvalue::Load { .. } | Rvalue::FrameLoad { .. }));
        let leaves = inside.iter().flat_map(|b| self.flow.targets(b));
        let one_way_out = leaves.filter(|to| !inside.contains(**to)).eq([&exit]);
        if !one_way_out
            || !inside.contains(then)
            || !first.stmts.iter().all(is_plain)
            || self.function.locals[counter.index()].ty != Scalar::Usize
        {
            return None;
        }
        // It is counted on in one place, which all turns come to last.
        let mut closing = self
            .flow
            .back_edges()
            .iter()
            .filter(|(_, to)| *to == header);
        let (Some((latch, _)), None) = (closing.next(), closing.next()) else {
            return None;
        };
        let counts = |(_, s): &(At, &Stmt)| s.kind.def() == Some(counter);
        let counted: Vec<(At, &Stmt)> = self.stmts(&inside).filter(counts).collect();
        let [(turn, by)] = counted[..] else {
            return None;
        };
        let by_one = matches!(
            by.kind,
            StmtKind::Assign { value: Rvalue::Binary(BinOp::Add, Operand::Local(c), Operand::Const(_, 1)), .. } if c == counter
        );
        let behind = &self.function.blocks[latch.index()].stmts[turn.1 + 1..];
        if !by_one || turn.0 != *latch || header == *latch || !behind.is_empty() {
            return None;
        }
        // Who comes in does nothing but that.
        let comes_in = |b: &&BlockId| !inside.contains(**b);
        let plain =
            |b: &BlockId| matches!(self.function.blocks[b.index()].term, Terminator::Goto(_));
        if !self.flow.sources(header).iter().filter(comes_in).all(plain) {
            return None;
        }
        let changed: BTreeSet<LocalId> = self
            .stmts(&inside)
            .filter_map(|(_, s)| s.kind.def())
            .collect();
        let fixed = limit.local().is_none_or(|l| !changed.contains(&l));
        if !fixed || self.live[exit.index()].contains(&counter) {
            return None;
        }
        let carried = self.live[header.index()].intersection(&changed);
        let gathers: Option<Vec<Gather>> = carried
            .filter(|l| **l != counter)
            .map(|l| {
                let one = self.gather(*l, &inside);
                one.or_else(|| self.gather_in_steps(*l, &inside))
            })
            .collect();
        let gathers = gathers?;
        let spawns = self.stmts(&inside).any(|(_, s)| key_of(&s.kind).is_some());
        let share = if gathers.iter().any(|g| g.neutral.is_none()) {
            Share::Meeting
        } else if spawns {
            Share::Parts
        } else {
            Share::Strided
        };
        Some(Rounds {
            header,
            inside,
            exit,
            counter,
            limit,
            test: (header, asks),
            turn,
            share,
            gathers,
        })
    }

    /// How turns add to a local that is all they hand on.
    fn gather(&self, local: LocalId, inside: &BlockSet) -> Option<Gather> {
        let is_it = |o: Operand| o == Operand::Local(local);
        // What was computed is copied to it perhaps.
        let sum = |s: &Stmt| match &s.kind {
            StmtKind::Assign {
                dst,
                value: Rvalue::Binary(op, a, b),
            } if is_it(*a) != is_it(*b) && (*dst == local || self.only_copied(*dst, local)) => {
                Some(*op)
            }
            _ => None,
        };
        let is_copy = |s: &Stmt| match &s.kind {
            StmtKind::Assign {
                dst,
                value: Rvalue::Use(Operand::Local(of)),
            } => *dst == local && self.only_copied(*of, local),
            _ => false,
        };
        let (mut at, mut ops, mut copies) = (Vec::new(), Vec::new(), Vec::new());
        for (place, stmt) in self.stmts(inside) {
            if let Some(op) = sum(stmt) {
                at.push(place);
                ops.push(op);
            } else if is_copy(stmt) {
                copies.push(place);
            } else if stmt.kind.def() == Some(local) || stmt.kind.operands().into_iter().any(is_it)
            {
                return None;
            }
        }
        let read_at_end = |b: BlockId| {
            let operands = self.function.blocks[b.index()].term.operands();
            operands.into_iter().any(is_it)
        };
        let ty = self.function.locals[local.index()].ty;
        // What is taken away from integers is added up, too.
        let is_left = |(place, s): &(At, &Stmt)| {
            !at.contains(place)
                || matches!(&s.kind, StmtKind::Assign { value: Rvalue::Binary(_, a, _), .. } if is_it(*a))
        };
        let takes = |o: &BinOp| matches!(o, BinOp::Add | BinOp::Sub);
        let is_sum =
            ty.is_int() && ops.iter().all(takes) && self.stmts(inside).all(|s| is_left(&s));
        if is_sum {
            ops.fill(BinOp::Add);
        }
        let op = *ops.first()?;
        if ops.iter().any(|o| *o != op) || inside.iter().any(read_at_end) {
            return None;
        }
        let neutral = neutral(op, ty);
        // In order, what a turn has is added at its end: so there may be one such place, and each turn may come by it once.
        let once = |(block, _): &At| at.len() == 1 && !self.comes_again(*block, inside);
        (neutral.is_some() || at.iter().all(once)).then_some(Gather {
            local,
            op,
            neutral,
            at,
            copies,
        })
    }

    /// The same where a turn adds several times, by values on the way that only lead to the local again: whatever it was when the turn began, the turn
    /// adds the same to it. Only where the order does not show.
    fn gather_in_steps(&self, local: LocalId, inside: &BlockSet) -> Option<Gather> {
        let mut all = BTreeSet::from([local]);
        let is_one =
            |all: &BTreeSet<LocalId>, o: &Operand| o.local().is_some_and(|l| all.contains(&l));
        let sum = |all: &BTreeSet<LocalId>, s: &Stmt| match &s.kind {
            StmtKind::Assign {
                dst,
                value: Rvalue::Binary(op, a, b),
            } if is_one(all, a) != is_one(all, b) && (*op != BinOp::Sub || is_one(all, a)) => {
                Some((*dst, *op))
            }
            _ => None,
        };
        loop {
            let sums = self.stmts(inside).filter_map(|(_, s)| sum(&all, s));
            let more: Vec<LocalId> = sums
                .map(|(dst, _)| dst)
                .filter(|l| !all.contains(l))
                .collect();
            if more.is_empty() {
                break;
            }
            all.extend(more);
        }
        let (mut at, mut ops, mut copies) = (Vec::new(), Vec::new(), Vec::new());
        for (i, block) in self.function.blocks.iter().enumerate() {
            let here = BlockId::new(i);
            for (n, stmt) in block.stmts.iter().enumerate() {
                let is_copy = matches!(&stmt.kind, StmtKind::Assign { dst, value: Rvalue::Use(o) } if *dst == local && is_one(&all, o));
                if !inside.contains(here) {
                    // Elsewhere values on the way are nothing.
                    let is_way = |l: LocalId| l != local && all.contains(&l);
                    let reads = stmt.kind.operands().into_iter().filter_map(Operand::local);
                    if reads.chain(stmt.kind.def()).any(is_way) {
                        return None;
                    }
                } else if let Some((_, op)) = sum(&all, stmt) {
                    at.push((here, n));
                    ops.push(op);
                } else if is_copy {
                    copies.push((here, n));
                } else if stmt.kind.operands().iter().any(|o| is_one(&all, o))
                    || stmt.kind.def().is_some_and(|l| all.contains(&l))
                {
                    return None;
                }
            }
            let ends = block.term.operands();
            let inner = inside.contains(here);
            if ends
                .iter()
                .any(|o| is_one(&all, o) && (inner || o.local() != Some(local)))
            {
                return None;
            }
        }
        let ty = self.function.locals[local.index()].ty;
        if ty.is_int() && ops.iter().all(|o| matches!(o, BinOp::Add | BinOp::Sub)) {
            ops.fill(BinOp::Add);
        }
        let op = *ops.first()?;
        let neutral = neutral(op, ty).filter(|_| ops.iter().all(|o| *o == op));
        neutral.is_some().then_some(Gather {
            local,
            op,
            neutral,
            at,
            copies,
        })
    }

    /// Whether a value is only computed to be copied to a local, by the next statement.
    fn only_copied(&self, value: LocalId, to: LocalId) -> bool {
        let blocks = self.function.blocks.iter();
        let (mut defs, mut reads, mut copied) = (0, 0, true);
        for block in blocks {
            let is_it = |o: &Operand| o.local() == Some(value);
            for (i, stmt) in block.stmts.iter().enumerate() {
                reads += stmt.kind.operands().iter().filter(|o| is_it(o)).count();
                if stmt.kind.def() == Some(value) {
                    defs += 1;
                    copied &= block.stmts.get(i + 1).is_some_and(|s| {
                        matches!(&s.kind, StmtKind::Assign { dst, value: Rvalue::Use(o) } if *dst == to && is_it(o))
                    });
                }
            }
            reads += block.term.operands().iter().filter(|o| is_it(o)).count();
        }
        defs == 1 && reads == 1 && copied
    }

    /// Whether a block is in a loop inside a loop.
    fn comes_again(&self, block: BlockId, inside: &BlockSet) -> bool {
        self.flow.back_edges().iter().any(|(from, to)| {
            inside.contains(*to)
                && self.flow.natural_loop(*to, [*from]).contains(block)
                && self.flow.natural_loop(*to, [*from]).len() < inside.len()
        })
    }

    /// Whether lanes do the same outside of the loops: nothing that another value may come of the second time.
    fn is_alike(&self, rounds: &[Rounds]) -> bool {
        let outside = |b: BlockId| !rounds.iter().any(|r| r.inside.contains(b));
        let mut frame = true;
        let mut loads = false;
        let mut stores = false;
        for (i, block) in self.function.blocks.iter().enumerate() {
            let alone = outside(BlockId::new(i));
            for stmt in &block.stmts {
                match &stmt.kind {
                    StmtKind::Assign { value, .. } => {
                        frame &= !matches!(value, Rvalue::FrameLoad { .. });
                        loads |= alone && matches!(value, Rvalue::Load { .. });
                    }
                    StmtKind::Check { .. } | StmtKind::Spawn { .. } => {}
                    StmtKind::FrameAlloc | StmtKind::FrameStore { .. } => frame &= alone,
                    StmtKind::Store { .. } | StmtKind::Copy { .. } | StmtKind::Zero { .. } => {
                        stores |= alone;
                    }
                    StmtKind::Call { .. } | StmtKind::Atomic { .. } => frame &= !alone,
                    StmtKind::Emit { .. } => return false,
                }
            }
            frame &= !matches!(block.term, Terminator::Room { .. } | Terminator::Sync(_));
        }
        frame && !(loads && stores)
    }

    /// Whether local memory that turns write to is theirs alone: each lane has its own.
    fn slots_are_apart(&self, rounds: &[Rounds]) -> bool {
        (0..self.function.slots.len()).all(|i| {
            let slot = SlotId::new(i);
            let leads = self.leads_to(slot);
            let is_one = |o: Operand| o.local().is_some_and(|l| leads.contains(&l));
            let touches = |s: &Stmt| {
                s.kind.operands().into_iter().any(is_one)
                    || matches!(s.kind, StmtKind::Assign { value: Rvalue::SlotAddr(of), .. } if of == slot)
            };
            let reads = |s: &Stmt| match &s.kind {
                StmtKind::Assign { .. } => true,
                StmtKind::Copy { dst, .. } => !is_one(*dst),
                _ => false,
            };
            let is_arg = self.function.args.contains(&Arg::Slot(slot));
            let (mut places, mut written) = (usize::from(is_arg), false);
            let mut outside = false;
            for (b, block) in self.function.blocks.iter().enumerate() {
                let of = rounds.iter().any(|r| r.inside.contains(BlockId::new(b)));
                let touching = block.stmts.iter().filter(|s| touches(s));
                for stmt in touching {
                    outside |= !of;
                    written |= !reads(stmt);
                }
                let returned = block.term.operands().into_iter().any(is_one);
                written |= returned;
                outside |= returned;
            }
            let users = rounds
                .iter()
                .filter(|r| self.stmts(&r.inside).any(|(_, s)| touches(s)));
            places += users.count() + usize::from(outside);
            !written || (places <= 1 && !outside)
        })
    }

    /// The locals that may hold an address in a slot.
    fn leads_to(&self, slot: SlotId) -> BTreeSet<LocalId> {
        let mut found = BTreeSet::new();
        loop {
            let before = found.len();
            for stmt in self.function.stmts() {
                if let StmtKind::Assign { dst, value } = &stmt.kind {
                    let mut from = matches!(value, Rvalue::SlotAddr(of) if *of == slot);
                    if !matches!(value, Rvalue::Load { .. }) {
                        value.each_operand(&mut |o| {
                            from |= o.local().is_some_and(|l| found.contains(&l));
                        });
                    }
                    if from {
                        found.insert(*dst);
                    }
                }
            }
            if found.len() == before {
                return found;
            }
        }
    }
}

/// What changes nothing when it is joined with something by an operation whose order does not show; none where it shows.
fn neutral(op: BinOp, ty: Scalar) -> Option<u64> {
    let combine = match op {
        BinOp::Mul => return (ty.is_int()).then_some(1),
        BinOp::Add => Combine::Add,
        BinOp::And => Combine::And,
        BinOp::Or => Combine::Or,
        BinOp::Xor => Combine::Xor,
        BinOp::Min => Combine::Min,
        BinOp::Max => Combine::Max,
        _ => return None,
    };
    combine.neutral(ty)
}
