//! Loops of which the order shows in what they gather, where all lanes of a device share out the rounds ([`alone`](super::alone)): what parts gather is
//! kept, and joined in the order in which the children's results would be.
//!
//! A task divides its pieces among [`ORDERED_PARTS`] children, these theirs, and so on. The nodes of one generation have a place each in an array,
//! by the digits of the way to them: of the first in which all are single pieces, or of the last for which there is room. A node that is a single piece
//! sooner has the place of its first child. So all of that generation are computed side by side, then those of the one before from theirs, up to the first.
//! The lanes of a warp run the rounds of a piece together, where it has several: to them few pieces are given one after the other.

use super::{
    Outliner, Pieces, TEAM, gather, make::Make, parts::ORDERED_PARTS, rounds::Rounds, work::Does,
};
use crate::{
    hir::{Expr, ExprKind, FnId, For, LoopId, Pat, Stmt, VarId},
    ty::{BOOL, Ty, U32, USIZE},
};
use millstream_graph::ir::{BinOp, UnOp};

/// Of so many generations nodes have places, where more lanes than so many share them out: of a warp, of blocks, of the device.
const DEEP: [(u64, u32); 3] = [(1, 2), (TEAM, 3), DEEPEST];
const DEEPEST: (u64, u32) = (1 << 12, 4);

/// No more pieces than so many are given to a warp one after the other: of more each lane takes its own.
const FEW_PIECES: u64 = 8;

/// Bits of a digit: a child's number.
const DIGIT: u32 = ORDERED_PARTS.ilog2();

/// A node on the way down: what is known of it.
struct Node {
    /// Its first piece, how many it has, and whether there is such a node.
    first: Expr,
    pieces: Expr,
    there: Expr,
}

/// What is known of all nodes.
struct Nodes {
    /// The array of places, and what is in it.
    results: Expr,
    result: Ty,
    /// How many rounds a piece has, if that is not one, and how many there are.
    each: Option<Expr>,
    count: Expr,
    /// How many pieces there are.
    pieces: Expr,
    /// Bits of the way to a node that has a place.
    depth: Expr,
}

impl Nodes {
    fn place(&self, make: &Make, at: Expr) -> Expr {
        let at = ExprKind::Index(self.results.clone(), at);
        Expr::new(at, self.result.clone(), make.0)
    }
}

impl Outliner<'_> {
    /// Puts into `dest` what a loop's task would give for all of its rounds, where many lanes share them out; `otherwise` elsewhere. `each`: how many
    /// rounds a piece has, if that is not one.
    pub(super) fn kept(
        &mut self,
        of: &Pieces,
        task: FnId,
        (each, count): (Option<&Expr>, &Expr),
        dest: &Expr,
        otherwise: Expr,
    ) -> Expr {
        let make = Make(of.span);
        let mut stmts = Vec::new();
        let nodes = self.nodes(&make, of, (each, count), &mut stmts);
        self.below(&make, of, task, &nodes, &mut stmts);
        // Then from generation to generation.
        let bits = make.fresh(&mut self.vars, "bits", U32);
        stmts.push(make.bind(bits, nodes.depth.clone()));
        let bits = make.var(bits, &U32);
        let above = make.raw(BinOp::Sub, bits.clone(), number(&make, DIGIT));
        let mut up = vec![make.assign(bits.clone(), above)];
        let all = shifted(&make, make.count(1), BinOp::Shl, bits.clone());
        let below = make.raw(BinOp::Sub, nodes.depth.clone(), bits.clone());
        let own = make.fresh(&mut self.vars, "number", USIZE);
        let (mut round, mut there) = (Vec::new(), Vec::new());
        let node = self.descend(&make, &make.var(own, &USIZE), &nodes, &bits, &mut round);
        let at = make.fresh(&mut self.vars, "at", USIZE);
        let first = shifted(&make, make.var(own, &USIZE), BinOp::Shl, below.clone());
        there.push(make.bind(at, first));
        let at = make.var(at, &USIZE);
        self.join_children(&make, of, &nodes, (&node.pieces, &at, &below), &mut there);
        round.push(Stmt::Expr(make.choose(node.there, make.block(there), None)));
        let joined = self.side_by_side(&make, (own, all.clone()), make.block(round));
        // With fewer pieces no such node has children.
        let has_any = make.compare(BinOp::Gt, nodes.pieces.clone(), all);
        up.push(Stmt::Expr(make.choose(
            has_any,
            make.block(vec![joined]),
            None,
        )));
        let generation = make.fresh(&mut self.vars, "generation", USIZE);
        let others = make.raw(BinOp::Sub, nodes.depth.clone(), number(&make, DIGIT));
        let others = make.raw(BinOp::Div, others, number(&make, DIGIT));
        stmts.push(make.times(generation, make.cast(others, &USIZE), up));
        let root = (&nodes.pieces, &make.count(0), &nodes.depth);
        self.join_children(&make, of, &nodes, root, &mut stmts);
        let value = nodes.place(&make, make.count(0));
        stmts.push(make.assign(dest.clone(), value));
        make.choose(make.more_lanes(1), make.block(stmts), Some(otherwise))
    }

    /// The array, and how deep it goes.
    fn nodes(
        &mut self,
        make: &Make,
        of: &Pieces,
        (each, count): (Option<&Expr>, &Expr),
        stmts: &mut Vec<Stmt>,
    ) -> Nodes {
        let result = gather::result(&of.gathers);
        let mut array = |depth: u32| {
            let ty = Ty::Array(Box::new(result.clone()), ORDERED_PARTS.pow(depth));
            let var = make.fresh(&mut self.vars, "results", ty.clone());
            self.vars[var.0].addressed = true;
            stmts.push(Stmt::Let(Pat::Var(var), None));
            let all = make.address(make.var(var, &ty));
            let slice = Ty::Slice {
                mutable: true,
                elem: Box::new(result.clone()),
            };
            Expr::new(ExprKind::Unsize(all), slice, make.0)
        };
        let arrays = DEEP.map(|(lanes, deep)| (lanes, array(deep), number(make, DIGIT * deep)));
        let mut keep = |name, value: Expr| {
            let ty = value.ty.clone();
            let var = make.fresh(&mut self.vars, name, ty.clone());
            stmts.push(make.bind(var, value));
            make.var(var, &ty)
        };
        // The last of those for so many lanes.
        let [first, others @ ..] = arrays;
        let (mut results, mut most) = (first.1, first.2);
        for (lanes, array, bits) in others {
            results = make.choose(make.more_lanes(lanes), array, Some(results));
            most = make.choose(make.more_lanes(lanes), bits, Some(most));
        }
        let results = keep("results", results);
        let rounds = each.cloned().unwrap_or_else(|| make.count(1));
        let pieces = keep("pieces", make.up(count.clone(), rounds));
        let most = keep("most", most);
        let depth = keep("depth", number(make, DIGIT));
        // One deeper, while some node has several pieces.
        let all = shifted(make, make.count(1), BinOp::Shl, depth.clone());
        let is_short = make.compare(BinOp::Gt, pieces.clone(), all);
        let has_room = make.compare(BinOp::Lt, depth.clone(), most);
        let deeper = make.raw(BinOp::Add, depth.clone(), number(make, DIGIT));
        let deeper = make.block(vec![make.assign(depth.clone(), deeper)]);
        let test = make.choose(make.raw(BinOp::And, is_short, has_room), deeper, None);
        let generation = make.fresh(&mut self.vars, "generation", USIZE);
        let others = make.count(u64::from(DEEPEST.1 - 1));
        stmts.push(make.times(generation, others, vec![Stmt::Expr(test)]));
        Nodes {
            results,
            result,
            each: each.cloned(),
            count: count.clone(),
            pieces,
            depth,
        }
    }

    /// Gives all nodes with a place theirs.
    fn below(
        &mut self,
        make: &Make,
        of: &Pieces,
        task: FnId,
        nodes: &Nodes,
        stmts: &mut Vec<Stmt>,
    ) {
        let is_single = make.fresh(&mut self.vars, "is_single", BOOL);
        let all = shifted(make, make.count(1), BinOp::Shl, nodes.depth.clone());
        let fits = make.compare(BinOp::Le, nodes.pieces.clone(), all.clone());
        stmts.push(make.bind(is_single, fits));
        let is_single = make.var(is_single, &BOOL);
        // A task calls itself, and so nobody helps in what is in its rounds.
        let is_team = nodes.each.is_some();
        let piece = match of.does.spawns || is_team {
            true => self.task(of, true),
            false => task,
        };
        let single = |this: &mut Self, number: &Expr| {
            let mut stmts = Vec::new();
            let at = this.place_of(make, nodes, number, &mut stmts);
            let node = (number.clone(), make.count(1));
            let value = this.given(make, of, piece, nodes, node, &mut stmts);
            stmts.push(make.assign(nodes.place(make, at), value));
            stmts
        };
        let own = make.fresh(&mut self.vars, "number", USIZE);
        let number = make.var(own, &USIZE);
        let mut several = Vec::new();
        let node = self.descend(make, &number, nodes, &nodes.depth, &mut several);
        let mut there = Vec::new();
        let of_node = (node.first, node.pieces);
        let value = self.given(make, of, task, nodes, of_node, &mut there);
        there.push(make.assign(nodes.place(make, number.clone()), value));
        several.push(Stmt::Expr(make.choose(node.there, make.block(there), None)));
        let one = make.block(single(self, &number));
        let round = make.choose(is_single.clone(), one, Some(make.block(several)));
        let rounds = make.choose(is_single.clone(), nodes.pieces.clone(), Some(all));
        let all = self.side_by_side(make, (own, rounds), make.block(vec![Stmt::Expr(round)]));
        if !is_team {
            stmts.push(all);
            return;
        }
        let own = make.fresh(&mut self.vars, "number", USIZE);
        let in_turn = single(self, &make.var(own, &USIZE));
        let in_turn = make.times(own, nodes.pieces.clone(), in_turn);
        let is_wide = make.more_lanes(TEAM);
        let several = Expr::new(ExprKind::RawUnary(UnOp::Not, is_single), BOOL, make.0);
        let many = make.compare(BinOp::Gt, nodes.pieces.clone(), make.count(FEW_PIECES));
        let is_wide = make.raw(BinOp::Or, is_wide, make.raw(BinOp::Or, several, many));
        let (all, in_turn) = (make.block(vec![all]), make.block(vec![in_turn]));
        stmts.push(Stmt::Expr(make.choose(is_wide, all, Some(in_turn))));
    }

    /// The place of a piece, where all have one.
    fn place_of(
        &mut self,
        make: &Make,
        nodes: &Nodes,
        piece: &Expr,
        stmts: &mut Vec<Stmt>,
    ) -> Expr {
        let mut keep = |name, value: Expr, stmts: &mut Vec<Stmt>| {
            let ty = value.ty.clone();
            let var = make.fresh(&mut self.vars, name, ty.clone());
            stmts.push(make.bind(var, value));
            make.var(var, &ty)
        };
        let at = keep("at", make.count(0), stmts);
        let left = keep("left", nodes.depth.clone(), stmts);
        let rest = keep("rest", piece.clone(), stmts);
        let pieces = keep("pieces", nodes.pieces.clone(), stmts);
        let mut way = Vec::new();
        let less = make.raw(BinOp::Sub, left.clone(), number(make, DIGIT));
        way.push(make.assign(left.clone(), less));
        let size = make.up(pieces.clone(), make.count(ORDERED_PARTS));
        let size = keep("size", size, &mut way);
        let digit = make.raw(BinOp::Div, rest.clone(), size.clone());
        let digit = keep("digit", digit, &mut way);
        let before = make.raw(BinOp::Mul, digit.clone(), size.clone());
        let before = keep("before", before, &mut way);
        let behind = make.raw(BinOp::Sub, rest.clone(), before.clone());
        way.push(make.assign(rest, behind));
        let others = make.raw(BinOp::Sub, pieces.clone(), before);
        way.push(make.assign(pieces, make.raw(BinOp::Min, size, others)));
        let away = shifted(make, digit, BinOp::Shl, left);
        way.push(make.assign(at.clone(), make.raw(BinOp::Add, at.clone(), away)));
        let digits = make.raw(BinOp::Div, nodes.depth.clone(), number(make, DIGIT));
        let digit = make.fresh(&mut self.vars, "digit", USIZE);
        stmts.push(make.times(digit, make.cast(digits, &USIZE), way));
        at
    }

    /// What so many pieces give from one on, by the loop's task or by what runs a piece.
    fn given(
        &mut self,
        make: &Make,
        of: &Pieces,
        by: FnId,
        nodes: &Nodes,
        (first, pieces): (Expr, Expr),
        stmts: &mut Vec<Stmt>,
    ) -> Expr {
        let rounds = nodes.each.clone().unwrap_or_else(|| make.count(1));
        let from = make.fresh(&mut self.vars, "from", USIZE);
        stmts.push(make.bind(from, make.raw(BinOp::Mul, first, rounds.clone())));
        let from = make.var(from, &USIZE);
        let rest = make.raw(BinOp::Sub, nodes.count.clone(), from.clone());
        let many = make.raw(BinOp::Mul, pieces, rounds);
        let many = make.raw(BinOp::Min, many, rest);
        let mut args: Vec<Expr> = nodes.each.iter().cloned().chain([many.clone()]).collect();
        args.extend(of.rounds.part(&from, &many, make));
        args.extend(self.passed(of));
        Expr::new(ExprKind::Call(by, args), nodes.result.clone(), make.0)
    }

    /// Follows the digits of a node's number, which has so many bits, down from all pieces.
    fn descend(
        &mut self,
        make: &Make,
        own: &Expr,
        nodes: &Nodes,
        bits: &Expr,
        stmts: &mut Vec<Stmt>,
    ) -> Node {
        let mut keep = |name, value: Expr, stmts: &mut Vec<Stmt>| {
            let ty = value.ty.clone();
            let var = make.fresh(&mut self.vars, name, ty.clone());
            stmts.push(make.bind(var, value));
            make.var(var, &ty)
        };
        let left = keep("left", bits.clone(), stmts);
        let node = Node {
            first: keep("first", make.count(0), stmts),
            pieces: keep("pieces", nodes.pieces.clone(), stmts),
            there: keep(
                "there",
                Expr::new(ExprKind::Bool(true), BOOL, make.0),
                stmts,
            ),
        };
        let mut way = Vec::new();
        let less = make.raw(BinOp::Sub, left.clone(), number(make, DIGIT));
        way.push(make.assign(left.clone(), less));
        let digit = shifted(make, own.clone(), BinOp::Shr, left);
        let digit = make.raw(BinOp::And, digit, make.count(ORDERED_PARTS - 1));
        let size = make.up(node.pieces.clone(), make.count(ORDERED_PARTS));
        let size = keep("size", size, &mut way);
        let before = keep(
            "before",
            make.raw(BinOp::Mul, digit, size.clone()),
            &mut way,
        );
        let is_there = make.compare(BinOp::Lt, before.clone(), node.pieces.clone());
        let is_there = keep("is_there", is_there, &mut way);
        let rest = make.raw(BinOp::Sub, node.pieces.clone(), before.clone());
        let rest = make.choose(is_there.clone(), rest, Some(make.count(1)));
        let first = make.raw(BinOp::Add, node.first.clone(), before);
        way.push(make.assign(node.first.clone(), first));
        let pieces = make.raw(BinOp::Min, size, rest);
        way.push(make.assign(node.pieces.clone(), pieces));
        let there = make.raw(BinOp::And, node.there.clone(), is_there);
        way.push(make.assign(node.there.clone(), there));
        let digits = make.raw(BinOp::Div, bits.clone(), number(make, DIGIT));
        let digit = make.fresh(&mut self.vars, "digit", USIZE);
        stmts.push(make.times(digit, make.cast(digits, &USIZE), way));
        node
    }

    /// Joins what the children of a node gathered into its own place, which is that of the first: the way to a place goes on from the node by so many bits.
    fn join_children(
        &mut self,
        make: &Make,
        of: &Pieces,
        nodes: &Nodes,
        (pieces, at, below): (&Expr, &Expr, &Expr),
        stmts: &mut Vec<Stmt>,
    ) {
        let size = make.up(pieces.clone(), make.count(ORDERED_PARTS));
        let children = make.up(pieces.clone(), size);
        let child = make.fresh(&mut self.vars, "child", USIZE);
        let next = make.raw(BinOp::Add, make.var(child, &USIZE), make.count(1));
        let digits = make.raw(BinOp::Sub, below.clone(), number(make, DIGIT));
        let away = shifted(make, next, BinOp::Shl, digits);
        let next = nodes.place(make, make.raw(BinOp::Add, at.clone(), away));
        let first = nodes.place(make, at.clone());
        let sum = make.fresh(&mut self.vars, "gathered", nodes.result.clone());
        stmts.push(make.bind(sum, first.clone()));
        let sum = make.var(sum, &nodes.result);
        let joined = gather::join(&of.gathers, make, [sum.clone(), next]);
        let others = make.raw(BinOp::Sub, children, make.count(1));
        stmts.push(make.times(child, others, vec![make.assign(sum.clone(), joined)]));
        stmts.push(make.assign(first, sum));
    }

    /// So many rounds that may run side by side, as a call: of memory around them they write to places of their own alone.
    fn side_by_side(&mut self, make: &Make, (number, count): (VarId, Expr), body: Expr) -> Stmt {
        let over = For::Range {
            var: Pat::Var(number),
            lo: make.count(0),
            hi: count,
            inclusive: false,
            rev: false,
            step: None,
        };
        let id = LoopId(usize::MAX);
        let mut whole = Expr::new(
            ExprKind::For(id, over.clone(), body.clone()),
            Ty::unit(),
            make.0,
        );
        let captured = self.with_references(self.used_from_around(&mut whole), &[]);
        let mut stmts = Vec::new();
        let rounds = Rounds::begin(
            id,
            over,
            &mut self.vars,
            &mut stmts,
            make.0,
            &mut self.m.diags,
        );
        let Some(rounds) = rounds else {
            return Stmt::Expr(whole);
        };
        let pieces = Pieces {
            span: make.0,
            rounds,
            body,
            captured,
            does: Does::default(),
            least: None,
            waits: true,
            gathers: Vec::new(),
        };
        let many = pieces.rounds.count(make);
        let task = self.task(&pieces, true);
        let args = self.arguments(&pieces, None, &many);
        let call = Expr::new(ExprKind::Call(task, args), Ty::unit(), make.0);
        stmts.push(Stmt::Expr(call));
        Stmt::Expr(make.block(stmts))
    }
}

/// A number of bits.
fn number(make: &Make, n: u32) -> Expr {
    make.cast(make.count(u64::from(n)), &U32)
}

fn shifted(make: &Make, n: Expr, way: BinOp, bits: Expr) -> Expr {
    make.raw(way, n, bits)
}
