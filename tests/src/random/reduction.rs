//! Ends of tasks that combine their children's results and return them: what the lowering turns into children that combine by themselves, in
//! every shape that is nearly so.

use super::{
    function::Gen,
    scope::{Gather, Kind, Part},
    types::{Mode, Ty},
};
use millstream_graph::ty::Scalar;

const BOOL: Ty = Ty::Scalar(Scalar::Bool);

impl Gen<'_> {
    /// Spawns, a sync, and the return of what came, combined; nothing if the task's result is no integer, `bool` or struct of these.
    pub(super) fn reduction(&mut self) {
        let Some(ty) = self.signature().ret.clone() else {
            return;
        };
        if !self.shape.gathers(&ty) || self.spawns_left < 2 {
            return;
        }
        let how = match ty {
            Ty::Struct(_) => Gather::Or,
            Ty::Scalar(Scalar::Bool) => self.c.pick(&[Gather::Or, Gather::And, Gather::Xor]),
            _ => self.c.pick(&[
                Gather::Add,
                Gather::Add,
                Gather::Xor,
                Gather::Max,
                Gather::Min,
                Gather::Or,
                Gather::And,
            ]),
        };
        if self.spawns_left >= 6 && self.c.chance(30) {
            let index = self.name("i");
            let head = format!("for {index} in 0..2u32 {{");
            return self.looped(2, false, |_| head, |g| g.combine(&ty, how, true));
        }
        self.combine(&ty, how, false);
    }

    /// One round of it; in a loop it does not always return.
    fn combine(&mut self, ty: &Ty, how: Gather, in_loop: bool) {
        let mut parts = Vec::new();
        for _ in 0..1 + self.c.below(3) {
            if !self.alive || self.spawns_left < self.weight {
                break;
            }
            let part = self.part(ty, how);
            parts.push(part);
            if self.c.chance(25) {
                self.sync();
                self.early(ty);
            }
        }
        self.sync();
        self.early(ty);
        let mut value = if !parts.is_empty() && self.c.chance(60) {
            parts.remove(0)
        } else {
            self.expr(ty, 1)
        };
        if self.c.chance(10) {
            parts.push(value.clone());
        }
        for next in parts {
            value = if self.c.chance(50) {
                self.combined(ty, how, &value, &next)
            } else {
                self.combined(ty, how, &next, &value)
            };
        }
        let back = format!("return {value};");
        if in_loop {
            let cond = self.expr(&BOOL, 1);
            return self.branch(&format!("if {cond} {{"), |g| {
                g.line(&back);
                g.alive = false;
            });
        }
        self.line(&back);
        self.alive = false;
    }

    fn combined(&mut self, ty: &Ty, how: Gather, a: &str, b: &str) -> String {
        let wraps = self.shape.mode == Mode::Checked && !self.shape.risky || self.c.chance(30);
        // Now and then another operator than the one that gathers.
        match how {
            _ if matches!(ty, Ty::Scalar(_)) && self.c.chance(5) => format!("({a} ^ {b})"),
            Gather::Add if wraps => format!("({a}).wrapping_add({b})"),
            Gather::Store | Gather::Add => format!("({a} + {b})"),
            Gather::Or => format!("({a} | {b})"),
            Gather::And => format!("({a} & {b})"),
            Gather::Xor => format!("({a} ^ {b})"),
            Gather::Min => format!("({a}).min({b})"),
            Gather::Max => format!("({a}).max({b})"),
            Gather::Mul => format!("({a}).wrapping_mul({b})"),
        }
    }

    /// A variable with the result of a child, or of several.
    fn part(&mut self, ty: &Ty, how: Gather) -> String {
        let typed = self.shape.show(ty);
        let name = self.name("q");
        let start = self.literal(ty);
        let way = self.c.below(9);
        if way < 4 {
            let child = self.own_child(ty);
            self.line(&format!("let mut {name} = {child};"));
            let id = self.declare(&name, Kind::Value(ty.clone()), true);
            self.vars[id].state.awaits(Part::Whole, Gather::Store);
            return self.copied(name, ty);
        }
        self.line(&format!("let mut {name}: {typed} = {start};"));
        let id = self.declare(&name, Kind::Value(ty.clone()), true);
        match way {
            4 | 5 => self.gathered(id, ty, how),
            6 => {
                let cond = self.expr(&BOOL, 1);
                self.branch(&format!("if {cond} {{"), |g| g.gathered(id, ty, how));
            }
            7 if self.spawns_left >= 4 * self.weight => {
                let index = self.name("i");
                let head = format!("for {index} in 0..{}u32 {{", 1 + self.c.below(2));
                self.looped(
                    2,
                    false,
                    |g| {
                        g.vars[id].state.awaits(Part::Whole, how);
                        head
                    },
                    |g| g.gathered(id, ty, how),
                );
            }
            _ => {
                let child = self.own_child(ty);
                self.line(&format!("{name} = {child};"));
                self.vars[id].state.awaits(Part::Whole, Gather::Store);
            }
        }
        self.copied(name, ty)
    }

    /// Perhaps a copy of what came, made before others come.
    fn copied(&mut self, name: String, ty: &Ty) -> String {
        if !self.c.chance(30) {
            return name;
        }
        self.sync();
        let copy = self.name("q");
        self.line(&format!("let {copy} = {name};"));
        self.declare(&copy, Kind::Value(ty.clone()), false);
        copy
    }

    fn gathered(&mut self, id: usize, ty: &Ty, how: Gather) {
        // What its result goes to is not lent to the child: rustc would say that it is borrowed.
        self.vars[id].state.awaits(Part::Whole, how);
        let child = self.own_child(ty);
        let name = self.vars[id].name.clone();
        self.line(&match how {
            Gather::Store => format!("{name} = {child};"),
            Gather::Add => format!("{name} += {child};"),
            Gather::Or => format!("{name} |= {child};"),
            Gather::And => format!("{name} &= {child};"),
            Gather::Xor => format!("{name} ^= {child};"),
            Gather::Min => format!("{name} = {name}.min({child});"),
            Gather::Max => format!("{name} = {name}.max({child});"),
            Gather::Mul => format!("{name} *= {child};"),
        });
        self.vars[id].state.awaits(Part::Whole, how);
    }

    /// A child with that result, mostly the task itself.
    fn own_child(&mut self, ty: &Ty) -> String {
        let others = self.tasks(Some(ty));
        let task = if self.c.chance(25) {
            self.c.pick(&others)
        } else {
            self.func
        };
        self.child(task)
    }

    /// Perhaps another way out.
    fn early(&mut self, ty: &Ty) {
        if self.c.chance(45) {
            let (cond, value) = (self.expr(&BOOL, 1), self.expr(ty, 1));
            self.branch(&format!("if {cond} {{"), |g| {
                g.line(&format!("return {value};"));
                g.alive = false;
            });
        }
    }
}
