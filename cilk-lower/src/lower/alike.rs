//! A branch whose sides do the same is none: as that of a cut-off below which a task spawns its children as it does above ([`join`]). And what a task does
//! from two places on in the same way it does from one ([`rejoin`]).
//!
//! Two sides do the same if their blocks do, one by one, up to where both come to the same block or leave the function. They may name
//! other locals and slots, if nothing else looks at these: what one side computes in its own the other computes in its own.

use super::simplify;
use millstream_graph::flow::Liveness;
use millstream_graph::{
    flow::{BlockSet, Flow},
    ir::{
        Arg, Block, BlockId, Function, FunctionKind, LocalId, Operand, Program, Rvalue, SlotId,
        Stmt, StmtKind, Terminator,
    },
};
use std::collections::{BTreeMap, BTreeSet};

/// Takes out such branches of all tasks.
pub(crate) fn join(program: &mut Program) {
    for function in &mut program.functions {
        while function.kind == FunctionKind::Task && join_one(function) {
            simplify::simplify(function, None);
        }
    }
}

/// A task of more statements is left as it is, and so is one of which so many pairs of statements do not do the same: to compare them takes time.
const MOST_STEPS: usize = 4000;
/// See [`MOST_STEPS`].
const MOST_PAIRS: usize = 4000;

/// Where a task that spawns in a loop does the same from a place before it on as from one within it, it goes there.
///
/// A task goes other ways to its end as soon as it has spawned something (`ends.rs`), so that a loop which spawns stands in it twice. Behind a sync, or with a
/// frame, the second goes on otherwise; but a task whose children give their results to where it gives its own needs neither, and both are one and the
/// same. As two, lanes of a GPU that spawn at different turns are in different loops, and each loop waits for the lanes of the other.
///
/// `ret` is a local that each return reads.
pub(crate) fn rejoin(function: &mut Function, ret: Option<LocalId>) {
    let is_reducible = |function: &Function| {
        let flow = Flow::new(function);
        let dominators = flow.dominators();
        let mut closing = flow.back_edges().iter();
        closing.all(|(from, to)| dominators.dominates(*to, *from))
    };
    // Each time there is a statement less.
    while spawns_twice(function) {
        let mut steps = exploded(function);
        if steps.blocks.len() > MOST_STEPS {
            break;
        }
        let Some((from, to)) = same_from_within(&steps, ret) else {
            break;
        };
        for block in &mut steps.blocks {
            block
                .term
                .targets_mut(|t| *t = if *t == from { to } else { *t });
        }
        simplify::tidy(&mut steps, ret);
        // A loop has one way in.
        if !is_reducible(&steps) {
            break;
        }
        *function = steps;
    }
}

/// Whether one spawn of the source stands in the function twice.
fn spawns_twice(function: &Function) -> bool {
    let mut spawned = BTreeSet::new();
    let mut spawns = function
        .stmts()
        .filter(|s| matches!(s.kind, StmtKind::Spawn { .. }));
    spawns.any(|s| !spawned.insert((s.span.line, s.span.col)))
}

/// The function with a block for each statement, and one for each end of a block that is more than a jump.
fn exploded(function: &Function) -> Function {
    let is_jump = |block: &Block| matches!(block.term, Terminator::Goto(_));
    let mut heads = Vec::with_capacity(function.blocks.len());
    let mut count = 0;
    for block in &function.blocks {
        heads.push(BlockId::new(count));
        count += (block.stmts.len() + usize::from(!is_jump(block))).max(1);
    }
    let mut blocks = Vec::with_capacity(count);
    for block in &function.blocks {
        let mut end = block.term.clone();
        end.targets_mut(|t| *t = heads[t.index()]);
        let last = block.stmts.len().saturating_sub(1);
        for (i, stmt) in block.stmts.iter().enumerate() {
            let ends = i == last && is_jump(block);
            let next = Terminator::Goto(BlockId::new(blocks.len() + 1));
            blocks.push(Block {
                stmts: vec![stmt.clone()],
                term: if ends { end.clone() } else { next },
                span: block.span,
            });
        }
        if block.stmts.is_empty() || !is_jump(block) {
            blocks.push(Block {
                stmts: Vec::new(),
                term: end,
                span: block.span,
            });
        }
    }
    Function {
        blocks,
        ..function.clone()
    }
}

/// The first statement from which on the function does the same as from another one, which comes again.
fn same_from_within(steps: &Function, ret: Option<LocalId>) -> Option<(BlockId, BlockId)> {
    let facts = Facts::new(steps, ret);
    let mut like: BTreeMap<_, Vec<BlockId>> = BTreeMap::new();
    let of = |id: BlockId| {
        let stmt = steps.blocks[id.index()].stmts.first()?;
        Some((stmt.span.line, stmt.span.col))
    };
    let flow = Flow::new(steps);
    for id in flow.order() {
        if let Some(place) = of(*id) {
            like.entry(place).or_default().push(*id);
        }
    }
    let pairs = flow.order().iter().skip(1).flat_map(|from| {
        let others = of(*from).and_then(|place| like.get(&place));
        let again = others.into_iter().flatten();
        again.map(|to| (*from, *to))
    });
    pairs
        .filter(|(from, to)| from != to && facts.cyclic.contains(*to))
        .take(MOST_PAIRS)
        .find(|(from, to)| Sides::new(steps, &facts, *from, *to).same())
}

fn join_one(function: &mut Function) -> bool {
    let facts = Facts::new(function, None);
    let alike = function.blocks.iter().position(|block| match block.term {
        Terminator::Branch { then, other, .. } => Sides::new(function, &facts, then, other).alike(),
        _ => false,
    });
    if let Some(at) = alike
        && let Terminator::Branch { then, .. } = function.blocks[at].term
    {
        function.blocks[at].term = Terminator::Goto(then);
    }
    alike.is_some()
}

/// What is asked of a function.
struct Facts {
    liveness: Liveness,
    /// The blocks from which each block is come to.
    entered: Vec<Vec<BlockId>>,
    /// The blocks that can come again.
    cyclic: BlockSet,
    /// The blocks that name each slot; none of a slot that is an argument.
    slots: Vec<Option<Vec<BlockId>>>,
}

impl Facts {
    fn new(function: &Function, ret: Option<LocalId>) -> Self {
        let mut entered = vec![Vec::new(); function.blocks.len()];
        let mut slots = vec![Some(Vec::new()); function.slots.len()];
        for arg in &function.args {
            if let Arg::Slot(id) = arg {
                slots[id.index()] = None;
            }
        }
        for (i, block) in function.blocks.iter().enumerate() {
            let id = BlockId::new(i);
            for target in block.term.targets() {
                entered[target.index()].push(id);
            }
            for stmt in &block.stmts {
                if let Some(slot) = slot_of(&stmt.kind)
                    && let Some(named) = &mut slots[slot.index()]
                {
                    named.push(id);
                }
            }
        }
        Self {
            liveness: Liveness::new(function, ret),
            entered,
            cyclic: Flow::new(function).cyclic(),
            slots,
        }
    }
}

fn slot_of(kind: &StmtKind) -> Option<SlotId> {
    match kind {
        StmtKind::Assign {
            value: Rvalue::SlotAddr(slot),
            ..
        } => Some(*slot),
        _ => None,
    }
}

/// What is one in the first side and what in the other, both ways.
struct Pairs<T>(BTreeMap<T, T>, BTreeMap<T, T>);

impl<T: Copy + Ord> Pairs<T> {
    const fn new() -> Self {
        Self(BTreeMap::new(), BTreeMap::new())
    }

    /// Whether the two can be each other's.
    fn pair(&mut self, a: T, b: T) -> bool {
        *self.0.entry(a).or_insert(b) == b && *self.1.entry(b).or_insert(a) == a
    }

    fn contains(&self, a: T, b: T) -> bool {
        self.0.get(&a) == Some(&b)
    }

    /// The pairs of two that differ.
    fn renamed(&self) -> impl Iterator<Item = (T, T)> {
        self.0.iter().map(|(a, b)| (*a, *b)).filter(|(a, b)| a != b)
    }
}

/// The sides of a branch.
struct Sides<'a> {
    function: &'a Function,
    facts: &'a Facts,
    begin: (BlockId, BlockId),
    blocks: Pairs<BlockId>,
    locals: Pairs<LocalId>,
    slots: Pairs<SlotId>,
    /// Where both go.
    ends: Vec<BlockId>,
}

impl<'a> Sides<'a> {
    const fn new(function: &'a Function, facts: &'a Facts, a: BlockId, b: BlockId) -> Self {
        Self {
            function,
            facts,
            begin: (a, b),
            blocks: Pairs::new(),
            locals: Pairs::new(),
            slots: Pairs::new(),
            ends: Vec::new(),
        }
    }

    /// Whether the function does the same from both on, and may leave out the second.
    fn alike(&mut self) -> bool {
        self.same() && self.is_entered_once()
    }

    /// Whether it does the same from both on.
    fn same(&mut self) -> bool {
        let (a, b) = self.begin;
        a != b && self.same_from(a, b) && self.are_apart() && self.own_what_differs()
    }

    /// Whether two blocks do the same, and all that follows them.
    fn same_from(&mut self, a: BlockId, b: BlockId) -> bool {
        let mut left = vec![(a, b)];
        while let Some((a, b)) = left.pop() {
            if a == b {
                self.ends.push(a);
            } else if !self.blocks.contains(a, b) {
                if !self.blocks.pair(a, b) || !self.same_block(a, b) {
                    return false;
                }
                let [from, to] = [a, b].map(|id| self.function.blocks[id.index()].term.targets());
                left.extend(from.zip(to));
            }
        }
        true
    }

    /// Whether two blocks do the same up to where they lead.
    fn same_block(&mut self, a: BlockId, b: BlockId) -> bool {
        let function = self.function;
        let [x, y] = [a, b].map(|id| &function.blocks[id.index()]);
        let mut stmts = x.stmts.iter().zip(&y.stmts);
        if x.stmts.len() != y.stmts.len() || !stmts.all(|(s, t)| self.same_stmt(s, t)) {
            return false;
        }
        let [from, to] = [x, y].map(|block| block.term.targets().count());
        if !self.paired(&x.term.operands(), &y.term.operands()) || from != to {
            return false;
        }
        let mut term = x.term.clone();
        term.operands_mut(|o| *o = self.other(*o));
        // Arms and all but where they lead.
        let mut leads = y.term.targets();
        term.targets_mut(|t| *t = leads.next().unwrap_or(*t));
        term == y.term
    }

    fn same_stmt(&mut self, s: &Stmt, t: &Stmt) -> bool {
        // What is said of a fault names its place.
        let names_place = matches!(s.kind, StmtKind::Check { .. } | StmtKind::Call { .. });
        if names_place && s.span != t.span {
            return false;
        }
        let (mut a, mut b) = (Vec::new(), Vec::new());
        s.kind.each_operand(&mut |o| a.push(o));
        t.kind.each_operand(&mut |o| b.push(o));
        a.extend(s.kind.def().map(Operand::Local));
        b.extend(t.kind.def().map(Operand::Local));
        if !self.paired(&a, &b) {
            return false;
        }
        if let (Some(x), Some(y)) = (slot_of(&s.kind), slot_of(&t.kind)) {
            return self.slots.pair(x, y)
                && self.function.slots[x.index()].layout == self.function.slots[y.index()].layout
                && self.function.slots[x.index()].scalar == self.function.slots[y.index()].scalar;
        }
        let mut kind = s.kind.clone();
        kind.rename(|id| self.locals.0.get(&id).copied().unwrap_or(id));
        kind == t.kind
    }

    fn other(&self, operand: Operand) -> Operand {
        match operand {
            Operand::Local(id) => Operand::Local(self.locals.0.get(&id).copied().unwrap_or(id)),
            Operand::Const(..) => operand,
        }
    }

    fn paired(&mut self, a: &[Operand], b: &[Operand]) -> bool {
        let types = &self.function.locals;
        a.len() == b.len()
            && a.iter().zip(b).all(|pair| match pair {
                (Operand::Local(a), Operand::Local(b)) => {
                    types[a.index()].ty == types[b.index()].ty && self.locals.pair(*a, *b)
                }
                (a, b) => a == b,
            })
    }

    /// Whether the sides have no block in common.
    fn are_apart(&self) -> bool {
        let second = |id: &BlockId| self.blocks.1.contains_key(id);
        !self.blocks.0.keys().any(second)
    }

    /// Whether the second side is entered where it begins only: nobody misses it.
    fn is_entered_once(&self) -> bool {
        let second = |id: &BlockId| self.blocks.1.contains_key(id);
        let inside = |id: &BlockId| self.facts.entered[id.index()].iter().all(second);
        let mut all = self.blocks.1.keys();
        all.all(|id| *id == self.begin.1 || inside(id))
    }

    /// Whether nobody else looks at the locals and slots in which the sides differ.
    fn own_what_differs(&self) -> bool {
        let Facts {
            liveness,
            cyclic,
            slots,
            ..
        } = self.facts;
        let live = |at: BlockId, id: LocalId| liveness.live_in(at).contains(id.index());
        let looked_at = |at: BlockId, id| live(at, id) || self.ends.iter().any(|e| live(*e, id));
        let mut locals = self.locals.renamed();
        let own = locals.all(|(a, b)| !looked_at(self.begin.0, a) && !looked_at(self.begin.1, b));
        let within = |slot: SlotId, side: &BTreeMap<BlockId, BlockId>| {
            let named = slots[slot.index()].as_ref();
            named.is_some_and(|named| named.iter().all(|b| side.contains_key(b)))
        };
        let mut slots = self.slots.renamed();
        own && slots.all(|(a, b)| {
            // Nothing has written to them before.
            !cyclic.contains(self.begin.0)
                && !cyclic.contains(self.begin.1)
                && within(a, &self.blocks.0)
                && within(b, &self.blocks.1)
        })
    }
}
