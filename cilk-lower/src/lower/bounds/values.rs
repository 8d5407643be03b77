//! Which locals hold the same value: integers and `bool`s are numbered as in static single assignment form, beside the function.
//!
//! Two operands of one number are equal wherever both can be read, and what was once found of numbers holds in all that the place dominates.
//! A local that is set in one place has one number; of the others it is known block by block.

use fixedbitset::FixedBitSet;
use millstream_graph::{
    flow::{Dominators, Flow, Loop},
    ir::{Arg, BinOp, BlockId, Function, LocalId, Operand, Rvalue, Stmt, StmtKind, UnOp},
    ty::Scalar,
};
use std::collections::HashMap;

/// The number of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Value(u32);

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Origin {
    /// Its bits.
    Const(u64),
    /// A local holds it where the function starts.
    Start(LocalId),
    /// A local holds it where several ways come to a block.
    Meet(BlockId, LocalId),
    /// A statement finds it; the statement's number in its block.
    Found(BlockId, usize),
    /// It is computed of others.
    Unary(UnOp, Value),
    Binary(BinOp, Value, Value),
    Cast(Value),
    Select(Value, Value, Value),
}

/// What the locals that are set in several places hold.
pub(super) type State = Vec<Value>;

/// The values of a function.
#[derive(Debug)]
pub(super) struct Values {
    all: Vec<(Scalar, Origin)>,
    numbers: HashMap<(Scalar, Origin), Value>,
    /// Of each local that is set in several places its place in a [`State`].
    places: Vec<Option<usize>>,
    changing: Vec<LocalId>,
    /// What each other local holds once it is set, and where that is.
    fixed: Vec<Option<(Value, BlockId)>>,
    starts: Vec<State>,
    ends: Vec<State>,
    /// By block and statement: what is set there.
    set: Vec<Vec<Option<Value>>>,
}

impl Values {
    pub(super) fn new(
        function: &Function,
        flow: &Flow,
        loops: &[Loop],
        dominators: &Dominators,
    ) -> Self {
        let mut defs = vec![0u32; function.locals.len()];
        let args = || {
            let locals = function.args.iter().filter_map(|a| match a {
                Arg::Local(id) => Some(*id),
                Arg::Slot(_) => None,
            });
            locals.filter(|id| is_numbered(function.locals[id.index()].ty))
        };
        args().for_each(|id| defs[id.index()] += 1);
        let set = function.stmts().filter_map(|s| s.kind.def());
        set.for_each(|id| defs[id.index()] += 1);
        let mut changing = Vec::new();
        let places = defs.iter().enumerate().map(|(i, count)| {
            (*count > 1 && is_numbered(function.locals[i].ty)).then(|| {
                changing.push(LocalId::new(i));
                changing.len() - 1
            })
        });
        let mut out = Self {
            all: Vec::new(),
            numbers: HashMap::new(),
            places: places.collect(),
            changing,
            fixed: vec![None; function.locals.len()],
            starts: vec![Vec::new(); function.blocks.len()],
            ends: vec![Vec::new(); function.blocks.len()],
            set: vec![Vec::new(); function.blocks.len()],
        };
        for id in args().filter(|id| defs[id.index()] == 1) {
            let value = out.number(function.locals[id.index()].ty, Origin::Start(id));
            out.fixed[id.index()] = Some((value, BlockId(0)));
        }
        let changed: HashMap<BlockId, FixedBitSet> = loops
            .iter()
            .map(|l| (l.header, changed(function, dominators, l)))
            .collect();
        for &block in flow.order() {
            let mut state = out.at_start(function, flow, changed.get(&block), block);
            out.starts[block.index()] = state.clone();
            for (i, stmt) in function.blocks[block.index()].stmts.iter().enumerate() {
                let value = out.found(function, &state, (block, i), stmt);
                out.set[block.index()].push(value);
                if let (Some(dst), Some(value)) = (stmt.kind.def(), value)
                    && out.places[dst.index()].is_none()
                {
                    out.fixed[dst.index()] = Some((value, block));
                }
                out.step(&mut state, (block, i), stmt);
            }
            out.ends[block.index()] = state;
        }
        out.fill(function, flow);
        out
    }

    /// Where nothing leads anything may be held.
    fn fill(&mut self, function: &Function, flow: &Flow) {
        let mut led = vec![false; function.blocks.len()];
        flow.order().iter().for_each(|b| led[b.index()] = true);
        for (at, block) in function
            .blocks
            .iter()
            .enumerate()
            .filter(|(at, _)| !led[*at])
        {
            let changing = self.changing.clone();
            let any = changing.iter().map(|&id| {
                let ty = function.locals[id.index()].ty;
                self.number(ty, Origin::Meet(BlockId::new(at), id))
            });
            let any: State = any.collect();
            self.starts[at] = any.clone();
            self.ends[at] = any;
            self.set[at] = vec![None; block.stmts.len()];
        }
    }

    /// What is held where a block starts whose sources are done, but for those that a loop which begins there comes back from: it sets what is
    /// `changed`.
    fn at_start(
        &mut self,
        function: &Function,
        flow: &Flow,
        changed: Option<&FixedBitSet>,
        block: BlockId,
    ) -> State {
        let changes = |id: LocalId| changed.is_some_and(|all| all.contains(id.index()));
        let ty = |id: LocalId| function.locals[id.index()].ty;
        let before: Vec<BlockId> = flow.sources(block).to_vec();
        let done = |b: &&BlockId| !flow.back_edges().contains(&(**b, block));
        let changing = self.changing.clone();
        let held = changing.iter().enumerate().map(|(i, &id)| {
            if block.index() == 0 {
                return self.number(ty(id), Origin::Start(id));
            }
            let mut values = before.iter().filter(done);
            let first = values.next().and_then(|b| self.ends[b.index()].get(i));
            match first.copied() {
                Some(value)
                    if !changes(id)
                        && values.all(|b| self.ends[b.index()].get(i) == Some(&value)) =>
                {
                    value
                }
                _ => self.number(ty(id), Origin::Meet(block, id)),
            }
        });
        held.collect()
    }

    /// The value that a statement sets a local to, if it is numbered.
    fn found(
        &mut self,
        function: &Function,
        state: &State,
        (block, i): (BlockId, usize),
        stmt: &Stmt,
    ) -> Option<Value> {
        let dst = stmt.kind.def()?;
        let ty = function.locals[dst.index()].ty;
        if !is_numbered(ty) {
            return None;
        }
        let mut read = |o: Operand| match o {
            Operand::Const(ty, bits) => {
                is_numbered(ty).then(|| self.number(ty, Origin::Const(bits)))
            }
            Operand::Local(_) => self.held(state, o),
        };
        let origin = match &stmt.kind {
            StmtKind::Assign { value, .. } => match *value {
                Rvalue::Use(a) => return read(a),
                Rvalue::Unary(op, a) => read(a).map(|a| Origin::Unary(op, a)),
                Rvalue::Binary(op, a, b) => {
                    read(a).zip(read(b)).map(|(a, b)| Origin::Binary(op, a, b))
                }
                Rvalue::Cast(_, a) => read(a).map(Origin::Cast),
                Rvalue::Select(c, a, b) => match [read(c), read(a), read(b)] {
                    [Some(c), Some(a), Some(b)] => Some(Origin::Select(c, a, b)),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        };
        Some(self.number(ty, origin.unwrap_or(Origin::Found(block, i))))
    }

    fn number(&mut self, ty: Scalar, origin: Origin) -> Value {
        let next = Value(self.all.len() as u32);
        let value = *self.numbers.entry((ty, origin)).or_insert(next);
        if value == next {
            self.all.push((ty, origin));
        }
        value
    }

    pub(super) fn ty(&self, value: Value) -> Scalar {
        self.all[value.0 as usize].0
    }

    pub(super) fn origin(&self, value: Value) -> Origin {
        self.all[value.0 as usize].1
    }

    /// The integer that a value is, if it is a constant.
    pub(super) fn known(&self, value: Value) -> Option<u64> {
        match self.origin(value) {
            Origin::Const(bits) => Some(bits),
            _ => None,
        }
    }

    /// The values of which it is computed.
    pub(super) fn parts(&self, value: Value) -> impl Iterator<Item = Value> + use<> {
        let parts = match self.origin(value) {
            Origin::Unary(_, a) | Origin::Cast(a) => [Some(a), None, None],
            Origin::Binary(_, a, b) => [Some(a), Some(b), None],
            Origin::Select(a, b, c) => [Some(a), Some(b), Some(c)],
            Origin::Const(_) | Origin::Start(_) | Origin::Meet(..) | Origin::Found(..) => [None; 3],
        };
        parts.into_iter().flatten()
    }

    /// What is held where a block starts, and where it ends.
    pub(super) fn start(&self, block: BlockId) -> &State {
        &self.starts[block.index()]
    }

    pub(super) fn end(&self, block: BlockId) -> &State {
        &self.ends[block.index()]
    }

    /// The locals of a [`State`], in its order.
    pub(super) fn changing(&self) -> &[LocalId] {
        &self.changing
    }

    /// The locals that are set in one place: to what, and where.
    pub(super) fn fixed(&self) -> impl Iterator<Item = (LocalId, Value, BlockId)> + '_ {
        let all = self.fixed.iter().enumerate();
        all.filter_map(|(i, f)| f.map(|(value, at)| (LocalId::new(i), value, at)))
    }

    /// The value of an operand, if it is numbered.
    pub(super) fn held(&self, state: &State, operand: Operand) -> Option<Value> {
        match operand {
            Operand::Const(ty, bits) => self.numbers.get(&(ty, Origin::Const(bits))).copied(),
            Operand::Local(id) => match self.places[id.index()] {
                Some(place) => Some(state[place]),
                None => self.fixed[id.index()].map(|(value, _)| value),
            },
        }
    }

    /// From what is held before a statement to what is held behind it.
    pub(super) fn step(&self, state: &mut State, (block, i): (BlockId, usize), stmt: &Stmt) {
        if let Some(dst) = stmt.kind.def()
            && let Some(place) = self.places[dst.index()]
            && let Some(value) = self.set[block.index()][i]
        {
            state[place] = value;
        }
    }
}

/// The locals that a loop sets; all, if it can be entered elsewhere than at its header.
fn changed(function: &Function, dominators: &Dominators, of: &Loop) -> FixedBitSet {
    let mut out = FixedBitSet::with_capacity(function.locals.len());
    if of.blocks.iter().all(|b| dominators.dominates(of.header, b)) {
        let blocks = of.blocks.iter().map(|b| &function.blocks[b.index()]);
        let set = blocks.flat_map(|b| b.stmts.iter().filter_map(|s| s.kind.def()));
        out.extend(set.map(LocalId::index));
    } else {
        out.insert_range(..);
    }
    out
}

/// Whether values of a type are numbered.
const fn is_numbered(ty: Scalar) -> bool {
    ty.is_int() || matches!(ty, Scalar::Bool)
}
