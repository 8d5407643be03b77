//! A branch whose sides do the same is none: as that of a cut-off below which a task spawns its children as it does above.
//!
//! Two sides do the same if their blocks do, one by one, up to where both come to the same block or leave the function. They may name
//! other locals and slots, if nothing else looks at these: what one side computes in its own the other computes in its own.

use super::simplify;
use millstream_graph::flow::Liveness;
use millstream_graph::{
    flow::{BlockSet, Flow},
    ir::{
        Arg, BlockId, Function, FunctionKind, LocalId, Operand, Program, Rvalue, SlotId, Stmt,
        StmtKind, Terminator,
    },
};
use std::collections::BTreeMap;

/// Takes out such branches of all tasks.
pub(crate) fn join(program: &mut Program) {
    for function in &mut program.functions {
        while function.kind == FunctionKind::Task && join_one(function) {
            simplify::simplify(function, None);
        }
    }
}

fn join_one(function: &mut Function) -> bool {
    let facts = Facts::new(function);
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
    fn new(function: &Function) -> Self {
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
            liveness: Liveness::new(function, None),
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

    fn alike(mut self) -> bool {
        let (a, b) = self.begin;
        a != b && self.same_from(a, b) && self.are_apart() && self.own_what_differs()
    }

    /// Whether two blocks do the same, and all that follows them.
    fn same_from(&mut self, a: BlockId, b: BlockId) -> bool {
        if a == b {
            self.ends.push(a);
            return true;
        }
        if self.blocks.contains(a, b) {
            return true;
        }
        if !self.blocks.pair(a, b) {
            return false;
        }
        let function = self.function;
        let [x, y] = [a, b].map(|id| &function.blocks[id.index()]);
        if x.stmts.len() != y.stmts.len()
            || !x.stmts.iter().zip(&y.stmts).all(|(s, t)| self.same(s, t))
        {
            return false;
        }
        let (from, to) = (x.term.targets(), y.term.targets());
        if !self.paired(&x.term.operands(), &y.term.operands()) || from.len() != to.len() {
            return false;
        }
        let mut term = x.term.clone();
        term.operands_mut(|o| *o = self.other(*o));
        // Arms and all but where they lead.
        let mut leads = to.iter().copied();
        term.targets_mut(|t| *t = leads.next().unwrap_or(*t));
        term == y.term && from.into_iter().zip(to).all(|(a, b)| self.same_from(a, b))
    }

    fn same(&mut self, s: &Stmt, t: &Stmt) -> bool {
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

    /// Whether the sides have no block in common, and the second is entered where it begins only: nobody misses it.
    fn are_apart(&self) -> bool {
        let second = |id: &BlockId| self.blocks.1.contains_key(id);
        let inside = |id: &BlockId| self.facts.entered[id.index()].iter().all(second);
        !self.blocks.0.keys().any(second)
            && self
                .blocks
                .1
                .keys()
                .all(|id| *id == self.begin.1 || inside(id))
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
