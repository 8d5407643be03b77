//! Spawns, where their results go, and syncs.

use super::{
    function::Gen,
    scope::{Gather, Kind, Part, State, Var},
    types::{Mode, Ty},
};
use millstream_graph::ty::Scalar;

/// Where a result may go.
#[derive(Clone, Debug)]
struct Dest {
    var: usize,
    place: String,
    part: Part,
    how: Gather,
}

impl Gen<'_> {
    pub(super) fn spawning(&mut self) {
        if self.spawns_left < self.weight || self.c.chance(22) {
            return self.sync();
        }
        match self.c.below(8) {
            6 => self.fan_out(),
            7 => self.spawn_to_slice(),
            _ => self.spawn(None),
        }
    }

    /// A task, and a spawn of it up to its last argument. What is lent to it is marked.
    pub(super) fn child(&mut self, task: usize) -> String {
        let f = self.shape.fns[task].clone();
        self.spawns_left = self.spawns_left.saturating_sub(self.weight);
        let n = self
            .c
            .pick(&["n - 1", "n - 1", "n - 1", "n / 2", "n.saturating_sub(2)"])
            .to_owned();
        let (args, _) = self.arguments(&f, n);
        format!("spawn!({}({args}))", f.name)
    }

    pub(super) fn tasks(&self, ret: Option<&Ty>) -> Vec<usize> {
        let fits = |i: &usize| {
            self.shape.fns[*i].task
                && ret.is_none_or(|r| self.shape.fns[*i].ret.as_ref() == Some(r))
        };
        (0..self.shape.fns.len()).filter(fits).collect()
    }

    /// A spawn, of a task with that result if one is given.
    fn spawn(&mut self, ret: Option<&Ty>) {
        let tasks = self.tasks(ret);
        if tasks.is_empty() {
            return self.sync();
        }
        let task = self.c.pick(&tasks);
        let ty = self.shape.fns[task].ret.clone();
        let child = self.child(task);
        let Some(ty) = ty else {
            return self.line(&format!("{child};"));
        };
        match self.c.below(8) {
            0 => self.line(&format!("{child};")),
            1 => self.line(&format!("let _ = {child};")),
            2 | 3 => self.new_result(&child, &ty),
            _ => {
                let dests = self.dests(&ty);
                if dests.is_empty() {
                    return self.new_result(&child, &ty);
                }
                let dest = self.c.pick(&dests);
                self.give(&dest, &child);
            }
        }
    }

    /// A new variable for a result, or several.
    fn new_result(&mut self, child: &str, ty: &Ty) {
        let store = |v: &mut Var| v.state.awaits(Part::Whole, Gather::Store);
        if let Ty::Tuple(fields) = ty
            && self.c.chance(70)
        {
            let names: Vec<String> = fields.iter().map(|_| self.name("d")).collect();
            self.line(&format!(
                "let ({}{}) = {child};",
                names.join(", "),
                if names.len() == 1 { "," } else { "" }
            ));
            for (name, field) in names.iter().zip(fields) {
                // They are parts of one variable, so they are not given results of their own.
                let id = self.declare(name, Kind::Value(field.clone()), false);
                store(&mut self.vars[id]);
            }
            return;
        }
        let is_float = matches!(ty, Ty::Scalar(s) if s.is_float());
        let (name, typed) = (self.name("s"), self.shape.show(ty));
        if is_float && self.c.chance(50) {
            let start = self.c.below(9);
            self.line(&format!("let mut {name}: {typed} = {start}.0;"));
            let id = self.declare(&name, Kind::Value(ty.clone()), true);
            self.vars[id].exact = true;
            let how = self.c.pick(&[Gather::Add, Gather::Max, Gather::Min]);
            return self.give(
                &Dest {
                    var: id,
                    place: name,
                    part: Part::Whole,
                    how,
                },
                child,
            );
        }
        let annotated = if self.c.chance(50) {
            format!(": {typed}")
        } else {
            String::new()
        };
        self.line(&format!("let mut {name}{annotated} = {child};"));
        let id = self.declare(&name, Kind::Value(ty.clone()), true);
        store(&mut self.vars[id]);
    }

    /// The ways in which results of a type may be gathered.
    fn ways(&self, ty: &Ty, exact: bool) -> &'static [Gather] {
        use Gather::{Add, And, Max, Min, Or, Store, Xor};
        match ty {
            Ty::Scalar(s) if s.is_float() && exact => &[Add, Max, Min],
            Ty::Scalar(s) if s.is_float() => &[Store],
            Ty::Scalar(Scalar::Bool) => &[Store, Or, And, Xor],
            Ty::Scalar(_) => &[Store, Add, Or, And, Xor, Min, Max],
            ty if self.shape.gathers(ty) => &[Store, Or],
            _ => &[Store],
        }
    }

    fn dests(&mut self, ty: &Ty) -> Vec<Dest> {
        let mut out = Vec::new();
        for var in 0..self.vars.len() {
            let v = self.vars[var].clone();
            if v.hidden > 0 || !v.writable {
                continue;
            }
            for &how in self.ways(ty, v.exact) {
                let mut add = |place: String, part: Part| {
                    if v.state.takes(part, how) {
                        out.push(Dest {
                            var,
                            place,
                            part,
                            how,
                        });
                    }
                };
                match &v.kind {
                    Kind::Value(t) if t == ty => add(v.name.clone(), Part::Whole),
                    Kind::Ref { target, .. } if target == ty => {
                        add(format!("*{}", v.name), Part::Whole)
                    }
                    Kind::Value(Ty::Array(elem, len)) if **elem == *ty => {
                        add(format!("{}[{}]", v.name, len / 2), Part::At(len / 2));
                        add(format!("{}[0]", v.name), Part::At(0));
                        if how != Gather::Store {
                            add(format!("{}[#{len}]", v.name), Part::Any);
                        }
                    }
                    Kind::Value(t) | Kind::Ref { target: t, .. } => {
                        for (i, (field, of)) in self.shape.fields(t).into_iter().enumerate() {
                            if of == *ty {
                                add(format!("{}.{field}", v.name), Part::At(i as u32));
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        out
    }

    /// Lets a child's result go to a place.
    fn give(&mut self, dest: &Dest, child: &str) {
        let mut place = dest.place.clone();
        if let Some((head, len)) = place.clone().split_once('#') {
            let index = self.expr(&Ty::Scalar(Scalar::Usize), 1);
            place = format!("{head}{index} % {len}");
        }
        // `*r = r.max(..)` would not be the same place twice.
        let how = match dest.how {
            Gather::Min | Gather::Max if place.starts_with('*') => Gather::Store,
            how => how,
        };
        if how != dest.how && !self.vars[dest.var].state.takes(dest.part, how) {
            return self.line(&format!("{child};"));
        }
        let scalar = match &self.vars[dest.var].kind {
            Kind::Value(Ty::Scalar(s)) if dest.part == Part::Whole => Some(*s),
            _ => None,
        };
        let is_int = !scalar.is_some_and(Scalar::is_float);
        let wrapping = self.shape.mode == Mode::Checked || self.c.chance(20);
        let wraps = is_int && wrapping && !place.starts_with('*');
        self.line(&given(how, &place, child, wraps));
        self.vars[dest.var].state.awaits(dest.part, how);
        // What the task itself adds goes along.
        if let Some(scalar) = scalar.filter(|s| !s.is_float() && how != Gather::Store)
            && self.c.chance(30)
        {
            let own = self.expr(&Ty::Scalar(scalar), 1);
            self.line(&given(how, &place, &own, wraps));
        }
        for origin in self.vars[dest.var].origins.clone() {
            self.lend(origin, true);
        }
    }

    /// A result to an element of a slice.
    fn spawn_to_slice(&mut self) {
        let fits = |i: &usize| {
            let v = &self.vars[*i];
            v.hidden == 0
                && v.writable
                && matches!(v.kind, Kind::Slice { mutable: true, .. })
                && matches!(v.state, State::Free | State::Awaits(_))
        };
        let found: Vec<usize> = (0..self.vars.len()).filter(fits).collect();
        if found.is_empty() {
            return self.spawn(None);
        }
        let var = self.c.pick(&found);
        let Kind::Slice { elem, .. } = self.vars[var].kind.clone() else {
            return;
        };
        let tasks = self.tasks(Some(&elem));
        if tasks.is_empty() {
            return self.spawn(None);
        }
        let ways = self.ways(&elem, false);
        let (task, at, how) = (self.c.pick(&tasks), self.c.below(3), self.c.pick(ways));
        let name = self.vars[var].name.clone();
        self.branch(&format!("if {name}.len() > {at} {{"), |g| {
            let child = g.child(task);
            let dest = Dest {
                var,
                place: format!("{name}[{at}]"),
                part: Part::At(at),
                how,
            };
            if g.vars[var].state.takes(dest.part, how) {
                g.give(&dest, &child)
            } else {
                g.line(&format!("{child};"))
            }
        });
    }

    /// A loop with a child for each element of an array.
    fn fan_out(&mut self) {
        let tasks: Vec<usize> = self
            .tasks(None)
            .into_iter()
            .filter(|&i| self.shape.fns[i].ret.is_some())
            .collect();
        let len = 1 + self.c.below(4);
        if tasks.is_empty() || self.spawns_left < self.weight * len.max(2) {
            return self.spawn(None);
        }
        let task = self.c.pick(&tasks);
        let Some(elem) = self.shape.fns[task].ret.clone() else {
            return;
        };
        let ty = Ty::Array(Box::new(elem.clone()), len);
        let (name, value) = (self.name("v"), self.literal(&elem));
        self.line(&format!(
            "let mut {name}: {} = [{value}; {len}];",
            self.shape.show(&ty)
        ));
        let var = self.declare(&name, Kind::Value(ty), true);
        let index = self.name("i");
        let head = match self.c.below(3) {
            0 => format!("for {index} in 0..{len}usize {{"),
            1 => format!("for {index} in (0..{len}usize).rev() {{"),
            _ => format!("for {index} in 0..{name}.len() {{"),
        };
        let store = Gather::Store;
        self.looped(
            len.max(2),
            false,
            |g| {
                g.vars[var].state.awaits(Part::Whole, store);
                head
            },
            |g| {
                g.declare(&index, Kind::Value(Ty::Scalar(Scalar::Usize)), false);
                g.block(2);
                if !g.alive {
                    return;
                }
                let child = g.child(task);
                let all = State::Awaits([(Part::Whole, store)].into());
                if g.vars[var].state != State::Free && g.vars[var].state != all {
                    return g.line(&format!("{child};"));
                }
                g.give(
                    &Dest {
                        var,
                        place: format!("{name}[{index}]"),
                        part: Part::Whole,
                        how: store,
                    },
                    &child,
                );
            },
        );
    }
}

/// The statement by which a value comes to a place.
fn given(how: Gather, place: &str, value: &str, wraps: bool) -> String {
    match how {
        Gather::Store => format!("{place} = {value};"),
        Gather::Add if wraps => format!("{place} = {place}.wrapping_add({value});"),
        Gather::Add => format!("{place} += {value};"),
        Gather::Mul => format!("{place} *= {value};"),
        Gather::Or => format!("{place} |= {value};"),
        Gather::And => format!("{place} &= {value};"),
        Gather::Xor => format!("{place} ^= {value};"),
        Gather::Min => format!("{place} = {place}.min({value});"),
        Gather::Max => format!("{place} = {place}.max({value});"),
    }
}
