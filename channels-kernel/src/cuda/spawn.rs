//! `spawn`: an element of the child's channel is reserved, filled and enqueued.

use super::{
    body::{Body, Role},
    names,
    plan::Mode,
    types::ctype,
};
use crate::layout::stride;
use millstream_graph::{
    ir::{Arg, BlockId, Dest, FuncId, LocalId, Operand, SegmentId, Stmt, StmtKind, TaskId},
    levelized::StackRole,
    ty::PieceKind,
};
use std::collections::BTreeSet;

/// Two spawns whose elements are neighbours at an even number, so that each field is one store of twice the width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Neighbour {
    First,
    Second,
}

impl Body<'_, '_> {
    /// Whether a spawn of this block is one of two neighbours: the block's spawns on that channel are a whole unit of it, of an even number.
    fn neighbour(&self, block: BlockId, at: usize, func: FuncId) -> Option<Neighbour> {
        let Role::Segment {
            task,
            segment,
            staged,
        } = self.role
        else {
            return None;
        };
        let child = self.plan.program.task_of(func)?;
        let source = self
            .plan
            .sources
            .iter()
            .find(|s| s.task == task && s.segment == segment)?;
        let push = self.push_index(StackRole::Entry(child));
        let element = self.plan.program.element(child);
        let scalars = element
            .iter()
            .all(|f| matches!(f.kind, PieceKind::Scalar(_)));
        if !matches!(source.mode, Mode::Scanned { .. } | Mode::Team { .. })
            || staged == Some(push)
            || !scalars
            || element.is_empty()
        {
            return None;
        }
        let is_one =
            |s: &StmtKind| matches!(s, StmtKind::Spawn { func: f, leaf: None, .. } if *f == func);
        let stmts = &self.function.blocks[block.index()].stmts;
        let all = stmts.iter().filter(|s| is_one(&s.kind)).count() as u32;
        let rank = stmts[..at].iter().filter(|s| is_one(&s.kind)).count();
        (all == source.pushes[push].ratio && all.is_multiple_of(2)).then_some(if rank % 2 == 0 {
            Neighbour::First
        } else {
            Neighbour::Second
        })
    }

    /// Declares where the fields of the first of two neighbours wait for the second's.
    pub(super) fn declare_neighbours(&mut self) {
        let mut children: Vec<TaskId> = Vec::new();
        for (b, block) in self.function.blocks.iter().enumerate() {
            for (at, stmt) in block.stmts.iter().enumerate() {
                if let StmtKind::Spawn { func, .. } = stmt.kind
                    && self.neighbour(BlockId::new(b), at, func).is_some()
                    && let Some(child) = self.plan.program.task_of(func)
                    && !children.contains(&child)
                {
                    children.push(child);
                }
            }
        }
        for child in children {
            let stack =
                &self.plan.stacks[self.plan.number_of(StackRole::Entry(child), false) as usize];
            for (i, field) in stack.fields.iter().enumerate() {
                if let PieceKind::Scalar(ty) = field.kind {
                    let line = format!("[[maybe_unused]] {} first{}_{i};", ctype(ty), child.0);
                    self.out.line(&line);
                }
            }
        }
    }

    /// The block's spawns on one channel are reserved together where that takes an atomic, and lie side by side: which of them this is, and how
    /// many they are.
    fn together(&self, block: BlockId, at: usize, func: FuncId) -> Option<(usize, usize)> {
        let Role::Segment { task, segment, .. } = self.role else {
            return None;
        };
        let source = self
            .plan
            .sources
            .iter()
            .find(|s| s.task == task && s.segment == segment)?;
        let is_one =
            |s: &StmtKind| matches!(s, StmtKind::Spawn { func: f, leaf: None, .. } if *f == func);
        let stmts = &self.function.blocks[block.index()].stmts;
        let count = |stmts: &[Stmt]| stmts.iter().filter(|s| is_one(&s.kind)).count();
        // Much work is done as if it were direct where it is too little for all blocks.
        let direct = matches!(
            source.mode,
            Mode::Direct { .. } | Mode::Scanned { heavy: true, .. }
        );
        let found = direct && is_one(&stmts[at].kind) && count(stmts) > 1;
        found.then(|| (count(&stmts[..at]), count(stmts)))
    }

    /// Declares where the first of them lies.
    pub(super) fn declare_together(&mut self) {
        let blocks = self.function.blocks.iter().enumerate();
        let spawns = blocks.flat_map(|(b, block)| {
            block
                .stmts
                .iter()
                .enumerate()
                .map(move |(at, s)| (BlockId::new(b), at, &s.kind))
        });
        let mut pushes = BTreeSet::new();
        for (block, at, stmt) in spawns {
            if let StmtKind::Spawn { func, .. } = stmt
                && let Some(child) = self.plan.program.task_of(*func)
                && self.together(block, at, *func).is_some()
            {
                pushes.insert(self.push_index(StackRole::Entry(child)));
            }
        }
        for push in pushes {
            self.out.line(&format!(
                "u32 next{push};  // of children that lie side by side, the first one"
            ));
        }
    }

    /// Whether a spawn gives a field of its child the parent's own, unchanged, in a child of the same task.
    fn passes(&self, child: TaskId, field: usize, value: Operand) -> bool {
        let Role::Segment { task, segment, .. } = self.role else {
            return false;
        };
        let is_own = |l: LocalId| self.function.args.get(field) == Some(&Arg::Local(l));
        task == child && segment == SegmentId(0) && matches!(value, Operand::Local(l) if is_own(l))
    }

    pub(super) fn spawn(
        &mut self,
        at: usize,
        func: FuncId,
        (args, dest): (&[Operand], Option<Dest>),
        leaf: Option<Operand>,
    ) {
        let Role::Segment { staged, .. } = self.role else {
            return;
        };
        let Some(child) = self.plan.program.task_of(func) else {
            return;
        };
        let push = self.push_index(StackRole::Entry(child));
        let channel = self
            .plan
            .channel(self.plan.number_of(StackRole::Entry(child), false));
        let neighbour = match self.turn {
            Some(_) => None,
            None => self.neighbour(self.here, at, func),
        };
        let name = self.plan.program[child].name.replace('\n', " ");
        let guard = self.guard();
        match leaf {
            None => self.out.open(&format!("{guard}{{  // spawn {name}")),
            Some(leaf) => {
                let leaf = self.operand(leaf);
                self.out.line(&format!(
                    "if constexpr (W::RUN) {guard}w.leaf({push}, {leaf});"
                ));
                self.out
                    .open(&format!("{guard}if (!{leaf}) {{  // spawn {name}"));
            }
        }
        let place = self.turn.as_mut().map(|turn| turn.place(push));
        match self.together(self.here, at, func) {
            _ if place.is_some() => {
                let place = place.as_deref().unwrap_or_default();
                self.out.line(&format!("const u32 e = {place};"));
            }
            None => self.out.line(&format!("const u32 e = talloc(w, {push});")),
            Some((0, all)) => self.out.line(&format!(
                "const u32 e = next{push} = talloc(w, {push}, {all});"
            )),
            Some((rank, _)) => self
                .out
                .line(&format!("const u32 e = next{push} + {rank};")),
        }
        let reserves = self.together(self.here, at, func);
        if place.is_none() && reserves.is_none_or(|(rank, _)| rank == 0) {
            let no_room = self.no_room();
            self.out.line(&no_room);
        }
        if staged == Some(push) {
            self.out.open("if constexpr (W::STAGES) {");
            self.out
                .line("Staged& to = staged<W::EACH, W::STAGE_PARTS>(w.children(), e);");
            self.fill(child, args, dest, None, &|name| format!("to.{name}"));
            self.out.close("}");
            self.out.open("if constexpr (W::RUN && !W::STAGES) {");
        } else {
            self.out.open("if constexpr (W::RUN) {");
        }
        self.fill(child, args, dest, neighbour, &|name| {
            format!("ch.{channel}.{name}[e]")
        });
        self.out.line(&format!("enq(w, {push}, e);"));
        self.out.close("}");
        self.out.close("}");
    }

    /// Stores the fields of a child's element; `place` says where.
    fn fill(
        &mut self,
        child: TaskId,
        args: &[Operand],
        dest: Option<Dest>,
        neighbour: Option<Neighbour>,
        place: &dyn Fn(&str) -> String,
    ) {
        let number = self.plan.number_of(StackRole::Entry(child), false);
        let (stack, channel) = (
            &self.plan.stacks[number as usize],
            self.plan.channel(number),
        );
        let values = args.iter().copied().chain(dest.map(|d| d.addr));
        for (i, (value, field)) in values.zip(&stack.fields).enumerate() {
            let name = names::field(field, i);
            let text = if i < args.len() {
                self.operand(value)
            } else {
                self.destination(child, value)
            };
            if let PieceKind::Blob(layout) = field.kind {
                self.out.line(&format!(
                    "copy_bytes(ch.{channel}.{name} + (u64)e * {}ull, {text}, {});",
                    stride(field),
                    layout.size
                ));
                continue;
            }
            let first = format!("first{}_{i}", child.0);
            let store = match neighbour {
                None => format!("{} = {text};", place(&name)),
                Some(Neighbour::First) => format!("{first} = {text};"),
                Some(Neighbour::Second) => {
                    format!("put_two(ch.{channel}.{name} + (e - 1), {first}, {text});")
                }
            };
            let line = match stack.inherited[i] {
                None => store,
                Some(n) if self.passes(child, i, value) => {
                    format!("if (W::EACH && ch.each[{n}]) {store}")
                }
                // The value that all descendants inherit.
                Some(n) if neighbour == Some(Neighbour::First) => {
                    format!("{store} if (!ch.each[{n}]) ch.{channel}.{name}[0] = {text};")
                }
                Some(n) => format!(
                    "if (W::EACH && ch.each[{n}]) {store} else ch.{channel}.{name}[0] = {text};"
                ),
            };
            self.out.line(&line);
        }
    }

    /// A return address as a child's element holds it.
    fn destination(&self, child: TaskId, address: Operand) -> String {
        let text = self.operand(address);
        let own = matches!(address, Operand::Local(l) if self.is_short(l));
        let Role::Segment { task, .. } = self.role else {
            return text;
        };
        match (own, self.plan.short_returns[child.index()]) {
            // The parent's own: the same unit.
            (true, true) | (false, false) => text,
            (true, false) => format!(
                "ch.memory + (u64){text} * {}ull",
                self.plan.return_unit(task)
            ),
            (false, true) => format!(
                "(u32)((u64)({text} - ch.memory) / {}ull)",
                self.plan.return_unit(child)
            ),
        }
    }
}
