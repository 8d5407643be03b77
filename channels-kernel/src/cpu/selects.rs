//! Short ways of a branch that only compute are gone whichever way is meant, and what was asked selects what comes of them. A processor that guesses a branch wrong
//! loses more time than a few instructions take, and in a loop over data half of the guesses may be wrong.
//!
//! ```text
//! if a < b { n = n + 1; }        =>  m = n + 1; n = select(a < b, m, n)
//! ```
//!
//! Questions that are asked one after the other, `x > 0 && x < y`, stay branches: most are guards, and guessed right. On a GPU the compiler of its driver does all this.

use millstream_graph::{
    flow::{Flow, Liveness},
    ir::{
        BinOp, Block, BlockId, Function, FunctionKind, Local, LocalId, Operand, Rvalue, Stmt,
        StmtKind, Terminator, UnOp,
    },
    levelized::Levelized,
    ty::Scalar,
};
use std::collections::{BTreeMap, BTreeSet};

/// So many statements of both ways are done whichever is meant, at most.
const MOST_STATEMENTS: usize = 6;
/// And so many values selected.
const MOST_SELECTED: usize = 3;
/// Ways within ways are found from the innermost outwards, so deep.
const MOST_DEEP: usize = 8;

/// A program with selections in place of branches, where they are faster.
pub(super) fn selected(program: &Levelized) -> Levelized {
    let segments: Vec<_> = program
        .all_segments()
        .map(|(_, s)| (s.func, s.ret))
        .collect();
    let mut program = program.clone();
    let functions = &mut program.program.functions;
    for helper in functions
        .iter_mut()
        .filter(|f| f.kind == FunctionKind::Helper)
    {
        select(helper, None);
    }
    for (func, ret) in segments {
        select(&mut functions[func.index()], ret);
    }
    program
}

/// `ret`, if there is one, is read by each return.
fn select(function: &mut Function, ret: Option<LocalId>) {
    let places = places(function);
    for _ in 0..MOST_DEEP {
        let flow = Flow::new(function);
        let liveness = Liveness::with_flow(&flow, function, ret);
        let mut changed = false;
        // Inner ways first. What is known of sources and of what is read stays true: a block gets no more of either.
        for &id in flow.order().iter().rev() {
            let selects = Selects {
                function,
                flow: &flow,
                liveness: &liveness,
                places: &places,
            };
            if let Some(made) = selects.ways(id) {
                function.locals = made.locals;
                let block = &mut function.blocks[id.index()];
                block.stmts.extend(made.stmts);
                block.term = made.term;
                changed = true;
            }
        }
        if !changed {
            return;
        }
        join(function);
    }
}

/// The locals that say where something is loaded or stored. What a way makes of these is worth guessing: a load from there need not wait for the answer.
fn places(function: &Function) -> BTreeSet<LocalId> {
    let mut places = BTreeSet::new();
    for stmt in function.stmts() {
        match &stmt.kind {
            StmtKind::Assign {
                value: Rvalue::Load { addr, .. },
                ..
            } => places.extend(addr.local()),
            StmtKind::Assign { .. } => {}
            // What is called or written with it is not looked at.
            other => places.extend(other.operands().into_iter().filter_map(|o| o.local())),
        }
    }
    let mut before = 0;
    while places.len() > before {
        before = places.len();
        for stmt in function.stmts() {
            if let StmtKind::Assign { dst, value } = &stmt.kind
                && places.contains(dst)
            {
                value.clone().operands_mut(|o| places.extend(o.local()));
            }
        }
    }
    places
}

/// Blocks that follow one another, and no others, become one.
fn join(function: &mut Function) {
    let flow = Flow::new(function);
    let reached: BTreeSet<BlockId> = flow.order().iter().copied().collect();
    for &id in flow.order() {
        while let Terminator::Goto(next) = function.blocks[id.index()].term
            && flow.sources(next).len() == 1
            && next != id
            && next != BlockId(0)
        {
            let next = &mut function.blocks[next.index()];
            let stmts = std::mem::take(&mut next.stmts);
            let term = std::mem::replace(&mut next.term, Terminator::Unreachable);
            let block = &mut function.blocks[id.index()];
            block.stmts.extend(stmts);
            block.term = term;
        }
    }
    for id in (0..function.blocks.len()).map(BlockId::new) {
        if !reached.contains(&id) {
            let block = &mut function.blocks[id.index()];
            block.stmts.clear();
            block.term = Terminator::Unreachable;
        }
    }
}

struct Selects<'f> {
    function: &'f Function,
    flow: &'f Flow,
    liveness: &'f Liveness,
    places: &'f BTreeSet<LocalId>,
}

/// How many statements a processor has something to do for.
fn cost(stmts: &[Stmt]) -> usize {
    let copies = |s: &&Stmt| {
        matches!(
            &s.kind,
            StmtKind::Assign {
                value: Rvalue::Use(_),
                ..
            }
        )
    };
    stmts.len() - stmts.iter().filter(copies).count()
}

/// What a block ends with instead.
struct Made {
    locals: Vec<Local>,
    stmts: Vec<Stmt>,
    term: Terminator,
}

impl<'f> Selects<'f> {
    fn block(&self, id: BlockId) -> &'f Block {
        &self.function.blocks[id.index()]
    }

    /// The statements of a block that nothing else leads to, if they only compute.
    fn computes(&self, from: BlockId, id: BlockId) -> Option<&'f [Stmt]> {
        let stmts = &self.block(id).stmts;
        let only = self.flow.sources(id) == [from] && id != BlockId(0);
        (only && stmts.iter().all(|s| self.is_cheap(s))).then_some(stmts)
    }

    /// A branch whose ways meet again, or of which one is only a way round.
    fn ways(&self, id: BlockId) -> Option<Made> {
        let Terminator::Branch { cond, then, other } = self.block(id).term else {
            return None;
        };
        let way = |to: BlockId| match self.block(to).term {
            Terminator::Goto(end) => Some((self.computes(id, to)?, end)),
            _ => None,
        };
        let none: &[Stmt] = &[];
        let (a, b, end) = match (way(then), way(other)) {
            (Some((a, end)), Some((b, also))) if end == also => (a, b, end),
            (Some((a, end)), _) if end == other => (a, none, end),
            (_, Some((b, end))) if end == then => (none, b, end),
            _ => return None,
        };
        let live = self.liveness.live_in(end);
        let defs = a.iter().chain(b).filter_map(|s| s.kind.def());
        let read: BTreeSet<LocalId> = defs.filter(|l| live.contains(l.index())).collect();
        let is_guessed =
            |l: &LocalId| self.places.contains(l) || self.function.locals[l.index()].ty.is_float();
        if read.iter().any(is_guessed)
            || then == other
            || end == id
            || cost(a) + cost(b) > MOST_STATEMENTS
            || read.len() > MOST_SELECTED
        {
            return None;
        }
        let mut made = Made {
            locals: self.function.locals.clone(),
            stmts: Vec::new(),
            term: Terminator::Goto(end),
        };
        let (a, b) = (made.done(a), made.done(b));
        let span = self.block(id).span;
        // One of what is selected may be what was asked.
        let cond = match cond {
            Operand::Local(local) if read.contains(&local) => {
                made.add(Scalar::Bool, Rvalue::Use(cond), span)
            }
            cond => cond,
        };
        for dst in read {
            let of = |way: &BTreeMap<LocalId, Operand>| way.get(&dst).copied();
            let own = Operand::Local(dst);
            let value = Rvalue::Select(cond, of(&a).unwrap_or(own), of(&b).unwrap_or(own));
            let kind = StmtKind::Assign { dst, value };
            made.stmts.push(Stmt { kind, span });
        }
        Some(made)
    }

    /// Whether a statement does nothing but compute, quickly, and cannot fail.
    fn is_cheap(&self, stmt: &Stmt) -> bool {
        let StmtKind::Assign { value, .. } = &stmt.kind else {
            return false;
        };
        let is_float = |o: Operand| self.function.type_of(o).is_float();
        match value {
            Rvalue::Use(_)
            | Rvalue::Select(..)
            | Rvalue::Bitcast(..)
            | Rvalue::PtrAdd { .. }
            | Rvalue::Unary(UnOp::Neg | UnOp::Not, _) => true,
            Rvalue::Cast(_, of) => !is_float(*of),
            Rvalue::Binary(op, a, b) => match op {
                // A shift, or a mask.
                BinOp::Div | BinOp::Rem => {
                    let unsigned = self.function.type_of(*a).is_int()
                        && !self.function.type_of(*a).is_signed();
                    unsigned && matches!(b, Operand::Const(_, by) if by.is_power_of_two())
                }
                BinOp::Add | BinOp::Sub | BinOp::Mul => true,
                BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Shl | BinOp::Shr => true,
                BinOp::Min | BinOp::Max => !is_float(*a),
                op => op.is_comparison(),
            },
            _ => false,
        }
    }
}

impl Made {
    fn add(&mut self, ty: Scalar, value: Rvalue, span: millstream_graph::ir::Span) -> Operand {
        let dst = LocalId::new(self.locals.len());
        self.locals.push(Local { name: None, ty });
        let kind = StmtKind::Assign { dst, value };
        self.stmts.push(Stmt { kind, span });
        Operand::Local(dst)
    }

    /// Does what a way does, on locals of its own, and gives what the function's are then.
    fn done(&mut self, way: &[Stmt]) -> BTreeMap<LocalId, Operand> {
        let mut now = BTreeMap::new();
        for stmt in way {
            let StmtKind::Assign { dst, value } = &stmt.kind else {
                unreachable!("a way only computes");
            };
            let mut value = value.clone();
            value.operands_mut(|o| {
                if let Operand::Local(local) = o {
                    *o = now.get(local).copied().unwrap_or(*o);
                }
            });
            let ty = self.locals[dst.index()].ty;
            now.insert(*dst, self.add(ty, value, stmt.span));
        }
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many branches the only task of a program has, and how many with selections.
    fn branches(body: &str) -> (usize, usize) {
        let source = format!(
            "#[millstream::program] mod ways {{ #[task] pub fn way(n: u32, a: i32, b: i32, data: &[u32]) -> i32 {{ {body} }} }}"
        );
        let program = millstream_cilk_lower::parse_file(&source, "ways.rs", None)
            .unwrap_or_else(|e| panic!("{e}"));
        let before =
            millstream_cilk_lower::lower::lower(&program).unwrap_or_else(|e| panic!("{e}"));
        let count = |program: &Levelized| {
            let blocks = &program
                .entry(program.find("way").expect("the task"))
                .body
                .blocks;
            let branches = blocks
                .iter()
                .filter(|b| matches!(b.term, Terminator::Branch { .. }));
            branches.count()
        };
        (count(&before), count(&selected(&before)))
    }

    #[test]
    fn ways_that_only_compute_are_selected() {
        let body = "let mut k = 0;
            for i in 0..n { if i >> 3 & 1 == 1 { k += a; } else if i & 2 == 0 { k ^= b; } }
            k";
        assert_eq!(branches(body), (3, 1), "the loop's");
        let body = "let mut k = n;
            while k != 1 { k = if k % 2 == 0 { k / 2 } else { 3 * k + 1 }; }
            k as i32";
        assert_eq!(branches(body), (2, 1), "the loop's");
        let body = "let (mut k, mut l) = (a, b); if k > l { (k, l) = (l, k); } k * 3 + l";
        assert_eq!(branches(body), (1, 0));
    }

    #[test]
    fn ways_that_may_fail_or_take_long_stay() {
        let body = "let mut k = b; if a > 0 { k = a / b; } k";
        let (before, after) = branches(body);
        assert_eq!(before, after);
        let body = "let mut k = b; if a > 0 { k = data[a as usize] as i32; } k";
        let (before, after) = branches(body);
        assert_eq!(before, after);
        let body = "let mut k = b;
            if a > 0 { k = k * a + k; k = k * k + b; k = (k >> 3) ^ k; k = k * k + a; }
            k";
        assert_eq!(branches(body), (1, 1));
    }
}
