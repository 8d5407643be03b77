//! Loops over neighbouring elements in vector registers, several turns at once.
//!
//! In front of a loop that [`lanes`] found stand two more: one takes [`UNROLLED`] vectors a turn, one a single vector. They are entered
//! if, for all turns that are left, every check of the loop would hold, and nothing is stored within a vector's length of what is loaded from
//! elsewhere. The loop itself comes behind them as it was: it takes the turns that are left over, or all of them with their checks, so
//! that what fails fails as written.
//!
//! What turns gather is gathered in vectors, one for each that a turn of the first loop takes, and joined to what there was before when these loops are done.

use super::{
    body::{Gen, clif},
    lanes::{Lanes, Step},
};
use cranelift_codegen::ir::{
    Block, InstBuilder, MemFlagsData, Type, Value, condcodes::IntCC, types,
};
use cranelift_frontend::Variable;
use millstream_graph::{
    ir::{BinOp, LocalId, Operand},
    ty::Scalar,
};
use std::collections::BTreeMap;

/// Bytes of a vector register that every host has.
const VECTOR: u64 = 16;
/// Vectors that the first loop takes a turn.
const UNROLLED: u64 = 4;
/// Vectors lie wherever the elements do.
const ANYWHERE: MemFlagsData = MemFlagsData::new().with_notrap();

/// Values that are the same in every lane.
type Splats = BTreeMap<Key, Value>;
/// A local, or the type's name and bits of a constant: an operand that has an order.
type Key = (Option<LocalId>, &'static str, u64);

/// A variable that gathers, and the vectors in which it does meanwhile.
struct Gathered {
    into: LocalId,
    op: BinOp,
    ty: Scalar,
    vectors: Vec<Variable>,
}

const fn key(operand: Operand) -> Key {
    match operand {
        Operand::Local(local) => (Some(local), "", 0),
        Operand::Const(ty, bits) => (None, ty.name(), bits),
    }
}

fn vector_type(ty: Scalar) -> Type {
    clif(ty)
        .by((VECTOR / ty.size()) as u32)
        .expect("elements of up to 8 bytes fill a vector")
}

impl<'p> Gen<'_, 'p> {
    /// Writes the loops in front of the one that begins at `header`.
    pub(super) fn vector_loops(&mut self, lanes: &Lanes<'p>, entry: Block, header: Block) {
        let (guard, wide, narrow) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        let count = (VECTOR / lanes.element) as i64;
        self.b.switch_to_block(entry);
        let (at, end) = (
            self.operand(Operand::Local(lanes.counter)),
            self.operand(lanes.end),
        );
        let left = self.b.ins().isub(end, at);
        let some = self.b.ins().icmp(IntCC::UnsignedLessThan, at, end);
        let enough = self
            .b
            .ins()
            .icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, left, count);
        let enough = self.b.ins().band(some, enough);
        self.b.ins().brif(enough, guard, &[], header, &[]);

        self.b.switch_to_block(guard);
        let fine = self.all_checks_hold(lanes, left);
        let splats = self.splats(lanes);
        let gathered = self.begin_gathering(lanes);
        self.b.ins().brif(fine, wide, &[], header, &[]);

        let after = match gathered.is_empty() {
            true => header,
            false => self.b.create_block(),
        };
        let several = UNROLLED as i64 * count;
        self.vector_loop(lanes, (&splats, &gathered), (wide, narrow), several);
        self.vector_loop(lanes, (&splats, &gathered), (narrow, after), count);
        if after != header {
            self.b.switch_to_block(after);
            self.join_gathered(&gathered);
            self.b.ins().jump(header, &[]);
        }
    }

    /// Vectors for what turns gather, that change nothing yet.
    fn begin_gathering(&mut self, lanes: &Lanes<'p>) -> Vec<Gathered> {
        let mut out = Vec::new();
        for step in &lanes.steps {
            let &Step::Gather { into, op, ty, .. } = step else {
                continue;
            };
            let nothing = match op {
                // What was gathered before, once more.
                BinOp::And | BinOp::Or | BinOp::Min | BinOp::Max => {
                    self.operand(Operand::Local(into))
                }
                _ => self.constant(ty, 0),
            };
            let nothing = self.b.ins().splat(vector_type(ty), nothing);
            let vectors = (0..UNROLLED).map(|_| {
                let vector = self.b.declare_var(vector_type(ty));
                self.b.def_var(vector, nothing);
                vector
            });
            out.push(Gathered {
                into,
                op,
                ty,
                vectors: vectors.collect(),
            });
        }
        out
    }

    /// Joins what was gathered in vectors to what their variable holds.
    fn join_gathered(&mut self, gathered: &[Gathered]) {
        for &Gathered {
            into,
            op,
            ty,
            ref vectors,
        } in gathered
        {
            let vectors: Vec<Value> = vectors.iter().map(|v| self.b.use_var(*v)).collect();
            let joined = vectors.into_iter();
            let joined = joined.reduce(|a, b| self.binary(op, ty, a, b));
            let mut sum = self.operand(Operand::Local(into));
            for lane in 0..(VECTOR / ty.size()) as u8 {
                let one = joined.map(|vector| self.b.ins().extractlane(vector, lane));
                sum = one.map_or(sum, |one| self.binary(op, ty, sum, one));
            }
            self.set(into, sum);
        }
    }

    /// Whether all checks would hold in the `left` turns to come, and stores keep their distance. Writes what is the same in every turn.
    fn all_checks_hold(&mut self, lanes: &Lanes<'p>, left: Value) -> Value {
        let mut conditions = Vec::new();
        let mut touched: Vec<(Operand, u64, bool)> = Vec::new();
        for step in &lanes.steps {
            match *step {
                Step::Once(stmt) | Step::Steady(stmt) => self.stmt(stmt),
                Step::Holds(cond) => conditions.push(self.operand(cond)),
                Step::Below(index, bound) => {
                    // One more than the last index: it is no less than the first, unless it wraps.
                    let (first, bound) = (self.operand(index), self.operand(bound));
                    let last = self.b.ins().iadd(first, left);
                    conditions.push(self.b.ins().icmp(
                        IntCC::UnsignedGreaterThanOrEqual,
                        last,
                        first,
                    ));
                    conditions.push(
                        self.b
                            .ins()
                            .icmp(IntCC::UnsignedLessThanOrEqual, last, bound),
                    );
                }
                Step::Load { addr, offset, .. } => touched.push((addr, offset, false)),
                Step::Store { addr, offset, .. } => touched.push((addr, offset, true)),
                Step::Unary { .. } | Step::Binary { .. } | Step::Gather { .. } => {}
            }
        }
        let mut seen = Vec::new();
        for &(store, store_at, _) in touched.iter().filter(|t| t.2) {
            for &(other, at, _) in &touched {
                let pair = (store, store_at, other, at);
                if (store, store_at) != (other, at) && !seen.contains(&pair) {
                    seen.push(pair);
                    conditions.push(self.keeps_distance((store, store_at), (other, at)));
                }
            }
        }
        let mut fine = self.b.ins().iconst(types::I8, 1);
        for condition in conditions {
            fine = self.b.ins().band(fine, condition);
        }
        fine
    }

    /// Whether two addresses are the same, or so far apart that two vectors there do not overlap. All addresses of a loop move in step.
    fn keeps_distance(&mut self, a: (Operand, u64), b: (Operand, u64)) -> Value {
        let [a, b] = [a, b].map(|(addr, offset)| {
            let addr = self.operand(addr);
            self.b.ins().iadd_imm_u(addr, offset as i64)
        });
        let distance = self.b.ins().isub(a, b);
        let same = self.b.ins().icmp(IntCC::Equal, a, b);
        let shifted = self.b.ins().iadd_imm_u(distance, VECTOR as i64 - 1);
        let far =
            self.b
                .ins()
                .icmp_imm_u(IntCC::UnsignedGreaterThan, shifted, 2 * (VECTOR as i64 - 1));
        self.b.ins().bor(same, far)
    }

    /// Vectors of what is the same in every lane.
    fn splats(&mut self, lanes: &Lanes<'p>) -> Splats {
        let made = |o: Operand| {
            let by = |s: &Step<'_>| matches!(*s, Step::Load { dst, .. } | Step::Unary { dst, .. } | Step::Binary { dst, .. } if Operand::Local(dst) == o);
            lanes.steps.iter().any(by)
        };
        let mut splats = Splats::new();
        for step in &lanes.steps {
            let (operands, ty) = match *step {
                Step::Unary { a, ty, .. } | Step::Store { value: a, ty, .. } => (vec![a], ty),
                Step::Binary { a, b, ty, .. } => (vec![a, b], ty),
                _ => continue,
            };
            for operand in operands {
                if !made(operand) && !splats.contains_key(&key(operand)) {
                    let value = self.operand(operand);
                    splats.insert(key(operand), self.b.ins().splat(vector_type(ty), value));
                }
            }
        }
        splats
    }

    /// One of the loops: while `turns` are left it takes them at once.
    fn vector_loop(
        &mut self,
        lanes: &Lanes<'p>,
        (splats, gathered): (&Splats, &[Gathered]),
        (head, after): (Block, Block),
        turns: i64,
    ) {
        let (body, closing) = (self.b.create_block(), self.b.create_block());
        self.b.switch_to_block(head);
        self.are_left(lanes, turns, (body, after));

        self.b.switch_to_block(body);
        for step in &lanes.steps {
            if let Step::Steady(stmt) = step {
                self.stmt(stmt);
            }
        }
        let vectors = turns as u64 * lanes.element / VECTOR;
        for vector in 0..vectors {
            self.vector_turn(lanes, (splats, gathered), vector);
        }
        let at = self.operand(Operand::Local(lanes.counter));
        let next = self.b.ins().iadd_imm_u(at, turns);
        self.set(lanes.counter, next);
        self.b.ins().jump(closing, &[]);
        self.ends_turn(closing);
        self.are_left(lanes, turns, (body, after));
    }

    /// Goes on at one block while so many turns are left, else at another.
    fn are_left(&mut self, lanes: &Lanes<'p>, turns: i64, (body, after): (Block, Block)) {
        let (at, end) = (
            self.operand(Operand::Local(lanes.counter)),
            self.operand(lanes.end),
        );
        let left = self.b.ins().isub(end, at);
        let enough = self
            .b
            .ins()
            .icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, left, turns);
        self.b.ins().brif(enough, body, &[], after, &[]);
    }

    /// What a turn does to a vector, so many vectors from where the counter stands.
    fn vector_turn(
        &mut self,
        lanes: &Lanes<'p>,
        (splats, gathered): (&Splats, &[Gathered]),
        vector: u64,
    ) {
        let displaced = vector * VECTOR;
        let mut values: BTreeMap<LocalId, Value> = BTreeMap::new();
        let value = |values: &BTreeMap<LocalId, Value>, operand: Operand| match operand {
            Operand::Local(local) if values.contains_key(&local) => values[&local],
            _ => splats[&key(operand)],
        };
        for step in &lanes.steps {
            match *step {
                Step::Load {
                    dst,
                    ty,
                    addr,
                    offset,
                } => {
                    let addr = self.operand(addr);
                    let (addr, at) = self.displaced(addr, offset + displaced);
                    values.insert(dst, self.b.ins().load(vector_type(ty), ANYWHERE, addr, at));
                }
                Step::Unary { dst, op, ty, a } => {
                    let a = value(&values, a);
                    values.insert(dst, self.float_unary(op, ty, a));
                }
                Step::Binary { dst, op, ty, a, b } => {
                    let (a, b) = (value(&values, a), value(&values, b));
                    values.insert(dst, self.binary(op, ty, a, b));
                }
                Step::Store {
                    addr,
                    offset,
                    value: stored,
                    ..
                } => {
                    let stored = value(&values, stored);
                    let addr = self.operand(addr);
                    let (addr, at) = self.displaced(addr, offset + displaced);
                    self.b.ins().store(ANYWHERE, stored, addr, at);
                }
                Step::Gather {
                    into,
                    op,
                    ty,
                    value: of,
                } => {
                    let of = value(&values, of);
                    let own = gathered.iter().find(|g| g.into == into);
                    if let Some(own) = own.map(|g| g.vectors[vector as usize]) {
                        let before = self.b.use_var(own);
                        let after = self.binary(op, ty, before, of);
                        self.b.def_var(own, after);
                    }
                }
                Step::Once(_) | Step::Steady(_) | Step::Holds(_) | Step::Below(..) => {}
            }
        }
    }
}
