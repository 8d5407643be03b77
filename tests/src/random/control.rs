//! Branches, loops, and what leaves them.

use super::{
    expr::may_read,
    function::Gen,
    scope::{Around, Gather, Kind, Part, State, Var, join_all},
    stmt::may_write,
    types::{INTS, Ty},
};
use millstream_graph::ty::Scalar;

const BOOL: Ty = Ty::Scalar(Scalar::Bool);

impl Gen<'_> {
    /// One arm: the states behind it, if it ends.
    pub(super) fn arm(
        &mut self,
        before: &[State],
        f: impl FnOnce(&mut Self),
    ) -> Option<Vec<State>> {
        self.restore(before);
        self.alive = true;
        f(self);
        self.leave(before.len());
        self.alive.then(|| self.states(before.len()))
    }

    /// What holds behind arms.
    pub(super) fn merge(&mut self, arms: impl IntoIterator<Item = Option<Vec<State>>>) {
        let mut all = None;
        for arm in arms.into_iter().flatten() {
            join_all(&mut all, &arm);
        }
        self.alive = all.is_some();
        if let Some(states) = all {
            self.restore(&states);
        }
    }

    /// `if .. { }`
    pub(super) fn branch(&mut self, head: &str, f: impl FnOnce(&mut Self)) {
        let before = self.states(self.vars.len());
        self.open(head);
        let arm = self.arm(&before, f);
        self.close("}");
        self.merge([arm, Some(before)]);
    }

    pub(super) fn if_statement(&mut self) {
        let cond = self.expr(&BOOL, 2);
        let ways = self.c.below(3);
        let head = format!("if {cond} {{");
        if ways == 0 {
            return self.branch(&head, |g| g.block(4));
        }
        let second = (ways == 2).then(|| self.expr(&BOOL, 1));
        let before = self.states(self.vars.len());
        self.open(&head);
        let mut arms = vec![self.arm(&before, |g| g.block(4))];
        if let Some(cond) = second {
            self.between(&format!("}} else if {cond} {{"));
            arms.push(self.arm(&before, |g| g.block(3)));
        }
        self.between("} else {");
        arms.push(self.arm(&before, |g| g.block(4)));
        self.close("}");
        self.merge(arms);
    }

    pub(super) fn match_statement(&mut self) {
        let int = self.c.pick(&INTS);
        let value = self.expr(&Ty::Scalar(int), 2);
        let name = self.name("m");
        let before = self.states(self.vars.len());
        self.open(&format!("match {value} & 15 {{"));
        let heads = [
            "0 => {".to_owned(),
            "1..=4 | 7 => {".to_owned(),
            format!("{name} if {name} > 9 => {{"),
            "_ => {".to_owned(),
        ];
        let mut arms = Vec::new();
        for (i, head) in heads.iter().enumerate() {
            if i == 1 && self.c.chance(40) {
                continue;
            }
            self.open(head);
            arms.push(self.arm(&before, |g| {
                if i == 2 {
                    g.declare(&name, Kind::Value(Ty::Scalar(int)), false);
                }
                g.block(3);
            }));
            self.close("}");
        }
        self.close("}");
        self.merge(arms);
    }

    /// Sums that children spawned in a loop add to, over all its turns: nothing looks at them from its start to a sync.
    fn reserve(&mut self, times: u32) {
        if !self.task || !self.recurses || self.spawns_left < self.weight * times {
            return;
        }
        for i in 0..self.vars.len() {
            let v = &self.vars[i];
            let sum = matches!(&v.kind, Kind::Value(Ty::Scalar(s)) if s.is_int());
            if sum && may_write(v) && self.c.chance(40) {
                let how = self.c.pick(&[
                    Gather::Add,
                    Gather::Xor,
                    Gather::Max,
                    Gather::Or,
                    Gather::Min,
                    Gather::And,
                ]);
                self.vars[i].state.awaits(Part::Whole, how);
            }
        }
    }

    /// A loop that runs at most so often. `head` and `body` are written with what holds at the start of every turn.
    pub(super) fn looped(
        &mut self,
        times: u32,
        endless: bool,
        head: impl FnOnce(&mut Self) -> String,
        body: impl FnOnce(&mut Self),
    ) {
        let label = self.c.chance(40).then(|| self.name("'l"));
        let mark = self.vars.len();
        let text = head(self);
        let assumed = self.states(mark);
        self.open(&format!(
            "{}{text}",
            label.as_ref().map_or(String::new(), |l| format!("{l}: "))
        ));
        self.around.push(Around {
            label,
            vars: mark,
            assumed,
            exits: None,
            block: false,
            value: None,
        });
        self.weight *= times;
        body(self);
        if self.alive && (self.must_sync(mark) || self.exceeds(self.around.len() - 1)) {
            self.sync();
        }
        self.leave(mark);
        self.close("}");
        self.weight /= times;
        let Some(around) = self.around.pop() else {
            return;
        };
        let normal = (!endless).then_some(around.assumed);
        self.merge([around.exits, normal]);
    }

    /// Whether the way back to the start of a loop needs a sync.
    fn exceeds(&self, at: usize) -> bool {
        let assumed = &self.around[at].assumed;
        assumed
            .iter()
            .zip(&self.vars)
            .any(|(a, v)| a.join(&v.state) != *a)
    }

    pub(super) fn for_range(&mut self) {
        let int = self.c.pick(&[
            Scalar::U32,
            Scalar::Usize,
            Scalar::I64,
            Scalar::U8,
            Scalar::I8,
        ]);
        let (name, count) = (self.name("i"), 1 + self.c.below(4));
        let (range, times) = match self.c.below(7) {
            0 | 1 => (format!("0..{count}{}", int.name()), count),
            2 => (format!("0..={}{}", count - 1, int.name()), count),
            3 => (format!("(0..{count}{}).rev()", int.name()), count),
            4 => (
                format!("(1..{}{}).step_by(3)", 1 + 3 * count, int.name()),
                count,
            ),
            5 => (
                format!("{0}::MAX - {1}..={0}::MAX", int.name(), count - 1),
                count,
            ),
            _ if int.is_signed() => (
                format!("(-2..={}{}).rev().step_by(2)", count, int.name()),
                count,
            ),
            _ => (
                format!("0..{} % {}", self.expr(&Ty::Scalar(int), 1), count + 1),
                count,
            ),
        };
        let head = format!("for {name} in {range} {{");
        self.looped(
            times.max(2),
            false,
            |g| {
                g.reserve(times);
                head
            },
            |g| {
                g.declare(&name, Kind::Value(Ty::Scalar(int)), false);
                g.block(4);
            },
        );
    }

    pub(super) fn for_slice(&mut self) {
        let fits = |v: &Var| match &v.kind {
            Kind::Value(Ty::Array(elem, len)) => {
                may_read(v).then(|| ((**elem).clone(), *len, may_write(v)))
            }
            Kind::Slice { elem, .. } => may_read(v).then(|| (elem.clone(), 8, may_write(v))),
            _ => None,
        };
        let found: Vec<(usize, (Ty, u32, bool))> = self
            .vars
            .iter()
            .enumerate()
            .filter_map(|(i, v)| Some((i, fits(v)?)))
            .collect();
        let (name, index) = (self.name("e"), self.name("i"));
        if found.is_empty() {
            return self.let_value();
        }
        let (i, (elem, times, writable)) = self.c.pick(&found);
        let over = self.vars[i].name.clone();
        let enumerated = self.c.chance(40);
        let mutable = writable && self.c.chance(50);
        let copied = !mutable && self.c.chance(60);
        let pattern = format!("{}{name}", if copied { "&" } else { "" });
        let iter = if mutable { "iter_mut" } else { "iter" };
        let head = match (enumerated, self.c.chance(30)) {
            (true, _) => format!("for ({index}, {pattern}) in {over}.{iter}().enumerate() {{"),
            (false, true) => format!("for {pattern} in {over}.{iter}().rev() {{"),
            (false, false) => format!("for {pattern} in {over}.{iter}() {{"),
        };
        let lends = mutable && self.task && self.c.chance(50);
        self.looped(
            times.max(2),
            false,
            |g| {
                g.reserve(times);
                if lends {
                    // Each turn has an element of its own, so children may keep them over several turns.
                    g.lend(i, true);
                }
                head
            },
            |g| {
                if enumerated {
                    g.declare(&index, Kind::Value(Ty::Scalar(Scalar::Usize)), false);
                }
                let kind = if copied {
                    Kind::Value(elem.clone())
                } else {
                    Kind::Ref {
                        mutable,
                        target: elem.clone(),
                    }
                };
                g.declare_part(&name, kind, mutable, &[i]);
                g.block(4);
            },
        );
    }

    /// `while` and `loop` with a count, the latter also for its value.
    pub(super) fn counted_loop(&mut self) {
        let (count, limit) = (self.name("w"), 1 + self.c.below(4));
        let way = self.c.below(3);
        let ty = self.c.pick(&self.shape.palette.clone());
        self.line(&format!("let mut {count} = 0u32;"));
        self.declare(&count, Kind::Value(Ty::Scalar(Scalar::U32)), false);
        let step = format!("{count} += 1;");
        match way {
            0 => self.looped(
                limit.max(2),
                false,
                |g| {
                    g.reserve(limit);
                    let cond = if g.c.chance(40) {
                        format!(" && {}", g.expr(&BOOL, 1))
                    } else {
                        String::new()
                    };
                    format!("while {count} < {limit}{cond} {{")
                },
                |g| {
                    g.line(&step);
                    g.block(4);
                },
            ),
            1 => self.looped(
                limit.max(2),
                true,
                |g| {
                    g.reserve(limit);
                    "loop {".to_owned()
                },
                |g| {
                    let at = g.around.len() - 1;
                    g.branch(&format!("if {count} >= {limit} {{"), |g| g.jump(at, false));
                    g.line(&step);
                    g.block(4);
                },
            ),
            _ => {
                let name = self.name("v");
                self.line(&format!("let mut {name}: {};", self.shape.show(&ty)));
                self.line(&format!("{name} ="));
                let declared = ty.clone();
                self.looped(
                    limit.max(2),
                    true,
                    |_| "loop {".to_owned(),
                    |g| {
                        let at = g.around.len() - 1;
                        g.around[at].value = Some(ty);
                        g.branch(&format!("if {count} >= {limit} {{"), |g| g.jump(at, false));
                        g.line(&step);
                        g.block(3);
                    },
                );
                self.line(";");
                self.declare(&name, Kind::Value(declared), true);
            }
        }
    }

    pub(super) fn labelled_block(&mut self) {
        let label = self.name("'b");
        let value = self
            .c
            .chance(50)
            .then(|| self.c.pick(&self.shape.palette.clone()));
        let name = self.name("v");
        let mark = self.vars.len();
        let head = value.as_ref().map_or(String::new(), |ty| {
            format!("let mut {name}: {} = ", self.shape.show(ty))
        });
        self.open(&format!("{head}{label}: {{"));
        let assumed = self.states(mark);
        self.around.push(Around {
            label: Some(label),
            vars: mark,
            assumed,
            exits: None,
            block: true,
            value: value.clone(),
        });
        self.block(5);
        if self.alive && self.must_sync(mark) {
            self.sync();
        }
        if let Some(ty) = &value {
            let tail = self.expr(ty, 1);
            self.line(&tail);
        }
        self.leave(mark);
        self.close(if value.is_some() { "};" } else { "}" });
        let here = self.alive.then(|| self.states(mark));
        let exits = self.around.pop().and_then(|a| a.exits);
        self.merge([exits, here]);
        if let Some(ty) = value {
            self.declare(&name, Kind::Value(ty), true);
        }
    }

    /// `break` or `continue`, under a condition.
    pub(super) fn leave_loop(&mut self) {
        let cond = self.expr(&BOOL, 1);
        let target = self.c.below(self.around.len() as u32) as usize;
        let back = self.c.chance(40);
        self.branch(&format!("if {cond} {{"), |g| {
            g.block(1);
            if g.alive {
                g.jump(target, back);
            }
        });
    }

    /// `break` out of the loop or block of that number, or `continue` with it.
    fn jump(&mut self, target: usize, back: bool) {
        let inner = self.around.iter().rposition(|a| !a.block);
        // Without a label only the innermost loop can be left, and not out of a labelled block.
        let named = |at: usize| self.around[at].label.is_some();
        let target = match inner {
            Some(inner) if !named(target) && (named(inner) || inner + 1 == self.around.len()) => {
                inner
            }
            _ if named(target) => target,
            _ => self.around.len() - 1,
        };
        let around = self.around[target].clone();
        // A round of a parallel loop is left by `continue` alone.
        let round = self.rounds == Some(around.vars) && target == 0;
        let back = (back || round) && !around.block;
        if self.must_sync(around.vars) || back && !round && self.exceeds(target) {
            self.sync();
        }
        let label = around.label.filter(|_| {
            inner != Some(target)
                || self.around[target..].iter().any(|a| a.block)
                || self.c.chance(30)
        });
        let label = label.map_or(String::new(), |l| format!(" {l}"));
        if back {
            self.line(&format!("continue{label};"));
        } else {
            let value = around
                .value
                .map_or(String::new(), |ty| format!(" {}", self.expr(&ty, 1)));
            self.line(&format!("break{label}{value};"));
            let states = self.states(around.vars);
            join_all(&mut self.around[target].exits, &states);
        }
        self.alive = false;
    }
}
