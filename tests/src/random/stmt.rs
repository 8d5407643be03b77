//! Statements that neither branch nor spawn.

use super::{
    expr::may_read,
    function::Gen,
    scope::{Kind, State, Var},
    types::{Mode, Param, Ty},
};
use millstream_graph::ty::Scalar;

const USIZE: Ty = Ty::Scalar(Scalar::Usize);
const BOOL: Ty = Ty::Scalar(Scalar::Bool);

/// Whether a variable's memory may be written.
pub(super) fn may_write(v: &Var) -> bool {
    v.hidden == 0 && v.writable && v.state == State::Free
}

impl Gen<'_> {
    /// Up to so many statements.
    pub(super) fn block(&mut self, most: u32) {
        let count = self.c.below(most + 1);
        for _ in 0..count {
            if !self.alive || self.statements_left == 0 {
                break;
            }
            self.statements_left -= 1;
            self.statement();
        }
    }

    /// A last effect of a task that returns nothing.
    pub(super) fn after_all(&mut self) {
        if self.wants_emit() {
            return self.emit();
        }
        let last = |v: &Var| match &v.kind {
            Kind::Atomic(s) => Some(Ty::Scalar(*s)),
            Kind::Ref { target, .. } if may_write(v) => Some(target.clone()),
            _ => None,
        };
        let found: Vec<(Var, Ty)> = self
            .vars
            .iter()
            .filter_map(|v| Some((v.clone(), last(v)?)))
            .collect();
        if found.is_empty() || self.c.chance(30) {
            return;
        }
        let (v, ty) = self.c.pick(&found);
        let value = self.expr(&ty, 0);
        self.line(&match v.kind {
            Kind::Atomic(s) => format!(
                "{}.{}({value}, Ordering::Relaxed);",
                v.name,
                self.shape.atomic_op(s)
            ),
            _ => format!("*{} = {value};", v.name),
        });
    }

    fn statement(&mut self) {
        if self.wants_emit() {
            return self.emit();
        }
        if self.task && self.recurses && self.c.chance(45) {
            return self.spawning();
        }
        if self.task && self.shape.fan > 0 && self.c.chance(6) {
            return self.sync();
        }
        let nested = self.around.len() < 3 && self.nesting() < 6;
        // Where nothing is spawned the loops are what it is about.
        if self.shape.fan == 0 && nested && self.weight <= 60 && self.c.chance(25) {
            return self.parallel_loop();
        }
        match self.c.below(31) {
            27 | 28 if nested => self.if_let(),
            29 if self.rounds.is_none() => self.let_else(),
            30 => self.while_let(),
            24 | 25 if nested && self.weight <= 60 => self.parallel_loop(),
            26 if self.rounds.is_some() => self.gather_statement(),
            26 if self.task && self.weight == 1 && self.c.chance(15) => self.wide_loop(),
            0..=2 => self.let_value(),
            3 | 4 => self.assign(),
            5 => self.assign_part(),
            6 => self.call_statement(),
            7 => self.slice_statement(),
            8 => self.touch_atomic(),
            9 => self.take_apart(),
            10 => self.assertion(),
            11..=13 if nested => self.if_statement(),
            14 if nested => self.match_statement(),
            15 | 16 if nested && self.weight <= 16 => self.for_range(),
            17 if nested && self.weight <= 8 => self.for_slice(),
            18 if nested && self.weight <= 16 => self.counted_loop(),
            19 if nested => self.labelled_block(),
            20 if nested => {
                self.open("{");
                let from = self.vars.len();
                self.block(4);
                self.leave(from);
                self.close("}");
            }
            21 if nested && self.c.chance(30) => self.views_block(),
            21 if nested => self.split_block(),
            22 if !self.around.is_empty() => self.leave_loop(),
            23 if self.rounds.is_none() && self.c.chance(40) => {
                let cond = self.expr(&BOOL, 1);
                self.branch(&format!("if {cond} {{"), Gen::give_back);
            }
            _ => self.let_value(),
        }
    }

    pub(super) fn let_value(&mut self) {
        if self.task && self.c.chance(6) && !self.shape.atomics.is_empty() {
            let s = self.c.pick(&[Scalar::U64, Scalar::U64, Scalar::U32]);
            let (name, value) = (self.name("la"), self.new_atomic(s));
            self.line(&format!("let {name} = {value};"));
            self.declare(&name, Kind::OwnAtomic(s), false);
            return;
        }
        let ty = match self.c.below(6) {
            4 | 5 => {
                let elem = self.c.pick(&self.shape.palette.clone());
                Ty::Array(Box::new(elem), 1 + self.c.below(6))
            }
            _ => self.c.pick(&self.shape.palette.clone()),
        };
        let value = self.expr(&ty, 2);
        let (name, typed) = (self.name("v"), self.shape.show(&ty));
        let mutable = self.c.chance(80);
        self.line(&format!(
            "let {}{name}: {typed} = {value};",
            if mutable { "mut " } else { "" }
        ));
        self.declare(&name, Kind::Value(ty), mutable);
    }

    /// Variables that may be assigned as a whole: the place and its type.
    fn targets(&self) -> Vec<(String, Ty)> {
        let place = |v: &Var| match &v.kind {
            Kind::Value(ty) => Some((v.name.clone(), ty.clone())),
            Kind::Ref { target, .. } => Some((format!("*{}", v.name), target.clone())),
            _ => None,
        };
        self.vars
            .iter()
            .filter(|v| may_write(v) && !v.exact)
            .filter_map(place)
            .collect()
    }

    fn assign(&mut self) {
        let targets = self.targets();
        if targets.is_empty() {
            return self.let_value();
        }
        let (place, ty) = self.c.pick(&targets);
        self.store(&place, &ty);
    }

    /// Assigns to a place, or changes it.
    fn store(&mut self, place: &str, ty: &Ty) {
        let value = self.expr(ty, 2);
        let op = match ty {
            Ty::Scalar(Scalar::Bool) => self.c.pick(&["=", "|=", "&=", "^="]),
            Ty::Scalar(s) if s.is_float() => self.c.pick(&["=", "+=", "-=", "*="]),
            Ty::Scalar(_) if self.shape.mode == Mode::Checked && !self.shape.risky => {
                self.c.pick(&["=", "^=", "|=", "&="])
            }
            Ty::Scalar(_) => self.c.pick(&["=", "+=", "-=", "*=", "^=", "|=", "&="]),
            Ty::Struct(_) => self.c.pick(&["=", "=", "^="]),
            _ => "=",
        };
        self.line(&format!("{place} {op} {value};"));
    }

    /// Assigns to an element or a field.
    fn assign_part(&mut self) {
        let vars: Vec<Var> = self
            .vars
            .iter()
            .filter(|v| may_write(v) && !v.exact)
            .cloned()
            .collect();
        let mut places = Vec::new();
        let mut slices = Vec::new();
        for v in vars {
            match &v.kind {
                Kind::Value(Ty::Array(elem, len)) => {
                    places.push((format!("{}[# % {len}]", v.name), (**elem).clone()))
                }
                Kind::Value(ty) | Kind::Ref { target: ty, .. } => {
                    places.extend(
                        self.shape
                            .fields(ty)
                            .into_iter()
                            .map(|(f, t)| (format!("{}.{f}", v.name), t)),
                    );
                }
                Kind::Slice { elem, .. } => slices.push((v.name.clone(), elem.clone())),
                _ => {}
            }
        }
        if !slices.is_empty() && (places.is_empty() || self.c.chance(50)) {
            let (name, elem) = self.c.pick(&slices);
            let index = self.expr(&USIZE, 1);
            self.open(&format!("if !{name}.is_empty() {{"));
            self.line(&format!("let k = {index} % {name}.len();"));
            self.store(&format!("{name}[k]"), &elem);
            return self.close("}");
        }
        if places.is_empty() {
            return self.let_value();
        }
        let (place, ty) = self.c.pick(&places);
        let index = if place.contains('#') {
            self.expr(&USIZE, 1)
        } else {
            String::new()
        };
        self.store(&place.replace('#', &index), &ty);
    }

    /// `let (a, b) = tuple;` and its kin.
    fn take_apart(&mut self) {
        let composed = |t: &&Ty| matches!(t, Ty::Tuple(_) | Ty::Struct(_));
        let types: Vec<Ty> = self
            .shape
            .palette
            .iter()
            .filter(composed)
            .cloned()
            .collect();
        if types.is_empty() {
            return self.let_value();
        }
        let ty = self.c.pick(&types);
        let value = self.expr(&ty, 1);
        let fields = self.shape.fields(&ty);
        let names: Vec<String> = fields.iter().map(|_| self.name("d")).collect();
        let pattern = match &ty {
            Ty::Struct(i) if !self.shape.structs[*i].tuple => {
                let parts: Vec<String> = fields
                    .iter()
                    .zip(&names)
                    .map(|((f, _), n)| format!("{f}: mut {n}"))
                    .collect();
                format!("{} {{ {} }}", self.shape.show(&ty), parts.join(", "))
            }
            _ => {
                let parts: Vec<String> = names.iter().map(|n| format!("mut {n}")).collect();
                let head = if let Ty::Struct(_) = ty {
                    self.shape.show(&ty)
                } else {
                    String::new()
                };
                format!(
                    "{head}({}{})",
                    parts.join(", "),
                    if head.is_empty() && parts.len() == 1 {
                        ","
                    } else {
                        ""
                    }
                )
            }
        };
        let typed = self.shape.show(&ty);
        self.line(&format!("let {pattern}: {typed} = {value};"));
        for (name, (_, ty)) in names.iter().zip(fields) {
            self.declare(name, Kind::Value(ty), true);
        }
    }

    fn assertion(&mut self) {
        let cond = self.expr(&BOOL, 1);
        if self.shape.risky && self.c.chance(30) {
            return self.line(&format!("assert!({cond});"));
        }
        self.line(&format!("assert!({cond} || true);"));
    }

    /// Calls a helper that may take references, or a task as an ordinary function.
    fn call_statement(&mut self) {
        let alone = self.around.is_empty();
        let me = self.func;
        let may = |i: usize| {
            let f = &self.shape.fns[i];
            match (self.task, f.task) {
                (true, true) => self.recurses && self.spawns_left >= self.weight,
                (false, true) => false,
                (true, false) => true,
                // A helper calls those before it, and itself once.
                (false, false) => {
                    i < me || i == me && self.recurses && alone && self.spawns_left > 0
                }
            }
        };
        let fits: Vec<usize> = (0..self.shape.fns.len()).filter(|i| may(*i)).collect();
        if fits.is_empty() || self.calls_left < self.weight {
            return self.let_value();
        }
        let i = self.c.pick(&fits);
        let f = self.shape.fns[i].clone();
        self.calls_left -= self.weight;
        let first = match (f.task, i == me) {
            (true, _) => {
                self.spawns_left -= self.weight;
                "n - 1".to_owned()
            }
            (false, true) => {
                self.spawns_left = 0;
                "n - 1".to_owned()
            }
            _ => self.c.below(5).to_string(),
        };
        let (args, before) = self.arguments(&f, first);
        // It is over when it returns.
        self.restore(&before);
        self.vars[before.len()..]
            .iter_mut()
            .for_each(|v| v.state = State::Free);
        let call = format!("{}({args})", f.name);
        match f.ret {
            Some(ty) => {
                let (name, typed) = (self.name("c"), self.shape.show(&ty));
                self.line(&format!("let mut {name}: {typed} = {call};"));
                self.declare(&name, Kind::Value(ty), true);
            }
            None => self.line(&format!("{call};")),
        }
    }

    fn slice_statement(&mut self) {
        let slice = |v: &Var| match &v.kind {
            Kind::Value(Ty::Array(elem, _)) => {
                may_write(v).then(|| (v.name.clone(), (**elem).clone()))
            }
            Kind::Slice { elem, .. } => may_write(v).then(|| (v.name.clone(), elem.clone())),
            _ => None,
        };
        let found: Vec<(String, Ty)> = self.vars.iter().filter_map(slice).collect();
        if found.is_empty() {
            return self.let_value();
        }
        let (name, elem) = self.c.pick(&found);
        match self.c.below(4) {
            0 => {
                let value = self.expr(&elem, 1);
                let typed = self.shape.show(&elem);
                self.line(&format!("{{ let x: {typed} = {value}; {name}.fill(x); }}"));
            }
            1 => self.line(&format!("{name}.reverse();")),
            2 => self.line(&format!(
                "if {name}.len() > 1 {{ let k = {name}.len() - 1; {name}.swap(0, k); }}"
            )),
            _ => {
                let from: Vec<Var> = self
                    .vars
                    .iter()
                    .filter(|v| may_read(v) && v.name != name)
                    .cloned()
                    .collect();
                let same = |v: &Var| matches!(&v.kind, Kind::Slice { elem: e, .. } if *e == elem);
                match from.into_iter().find(same) {
                    Some(v) => {
                        self.open("{");
                        self.line(&format!("let m = {name}.len().min({}.len());", v.name));
                        self.line(&format!("{name}[..m].copy_from_slice(&{}[..m]);", v.name));
                        self.close("}");
                    }
                    None => self.line(&format!("{name}.reverse();")),
                }
            }
        }
    }

    /// An atomic operation whose result nobody looks at.
    fn touch_atomic(&mut self) {
        let is = |v: &&Var| {
            matches!(
                v.kind,
                Kind::Atomics(_) | Kind::Atomic(_) | Kind::OwnAtomic(_)
            ) && v.hidden == 0
        };
        let found: Vec<Var> = self.vars.iter().filter(is).cloned().collect();
        if found.is_empty() {
            return self.let_value();
        }
        let v = self.c.pick(&found);
        let (Kind::Atomics(s) | Kind::Atomic(s) | Kind::OwnAtomic(s)) = v.kind else {
            return;
        };
        let value = self.expr(&Ty::Scalar(s), 1);
        let op = self.shape.atomic_op(s);
        let name = &v.name;
        if matches!(v.kind, Kind::Atomics(_)) {
            let index = self.expr(&USIZE, 1);
            self.line(&format!("if !{name}.is_empty() {{ {name}[{index} % {name}.len()].{op}({value}, Ordering::Relaxed); }}"));
        } else {
            self.line(&format!("{name}.{op}({value}, Ordering::Relaxed);"));
        }
    }

    /// The arguments of a call after the first, `n`. What is lent is marked; also gives the states before.
    pub(super) fn arguments(
        &mut self,
        f: &super::types::Func,
        first: String,
    ) -> (String, Vec<State>) {
        let mut out = vec![first];
        let before = self.states(self.vars.len());
        for (_, p) in &f.params {
            let arg = match p {
                Param::Value(ty) => self.expr(ty, 1),
                Param::Slice { mutable, elem } => self.slice_argument(*mutable, elem),
                Param::Ref { mutable, target } => self.ref_argument(*mutable, target),
                Param::Atomics(s) => self.named(&Kind::Atomics(*s)),
                Param::Atomic(s) => self.atomic_argument(*s),
            };
            out.push(arg);
        }
        (out.join(", "), before)
    }

    fn named(&self, kind: &Kind) -> String {
        self.vars
            .iter()
            .find(|v| v.kind == *kind)
            .map_or_else(|| "&[]".to_owned(), |v| v.name.clone())
    }

    fn atomic_argument(&mut self, s: Scalar) -> String {
        let own: Vec<usize> = (0..self.vars.len())
            .filter(|&i| self.vars[i].kind == Kind::OwnAtomic(s))
            .collect();
        if own.is_empty() || self.c.chance(40) {
            return self.named(&Kind::Atomic(s));
        }
        let i = self.c.pick(&own);
        self.lend(i, false);
        format!("&{}", self.vars[i].name)
    }

    /// Marks a variable and what it is a part of as lent.
    pub(super) fn lend(&mut self, i: usize, excl: bool) {
        let v = &mut self.vars[i];
        // What nobody may write needs no account.
        if !matches!(
            v.kind,
            Kind::Slice { mutable: false, .. } | Kind::Ref { mutable: false, .. } | Kind::Views(_)
        ) {
            v.state = v
                .state
                .join(if excl { &State::Excl } else { &State::Shared });
        }
        for origin in v.origins.clone() {
            self.lend(origin, excl);
        }
    }

    fn slice_argument(&mut self, mutable: bool, elem: &Ty) -> String {
        let fits = |v: &Var| {
            let open = if mutable { may_write(v) } else { may_read(v) };
            open && match &v.kind {
                Kind::Value(Ty::Array(e, _)) => **e == *elem,
                Kind::Slice { elem: e, .. } => e == elem,
                Kind::Views(e) => e == elem && !mutable,
                _ => false,
            }
        };
        let found: Vec<usize> = (0..self.vars.len())
            .filter(|&i| fits(&self.vars[i]))
            .collect();
        let m = if mutable { "mut " } else { "" };
        if found.is_empty() || self.c.chance(8) {
            return format!("&{m}[]");
        }
        let i = self.c.pick(&found);
        let (mut name, whole) = (
            self.vars[i].name.clone(),
            matches!(self.vars[i].kind, Kind::Value(_)),
        );
        if let Kind::Views(_) = self.vars[i].kind {
            name += self.c.pick(&["[0]", "[1]"]);
        }
        self.lend(i, mutable);
        let part = self.c.below(6);
        let k = self.name("k");
        if part >= 4 {
            let end = if part == 4 {
                "/ 2".to_owned()
            } else {
                format!("% {}", 1 + self.c.below(4))
            };
            self.line(&format!("let {k} = {name}.len() {end};"));
        }
        match part {
            4 => format!("&{m}{name}[{k}..]"),
            5 => format!("&{m}{name}[..{k}]"),
            _ if whole => format!("&{m}{name}"),
            _ => format!("&{m}{name}[..]"),
        }
    }

    fn ref_argument(&mut self, mutable: bool, target: &Ty) -> String {
        let fits = |v: &Var| {
            let open = if mutable {
                may_write(v) && !v.exact
            } else {
                may_read(v)
            };
            open && matches!(&v.kind, Kind::Value(t) | Kind::Ref { target: t, .. } if t == target)
        };
        let found: Vec<usize> = (0..self.vars.len())
            .filter(|&i| fits(&self.vars[i]))
            .collect();
        let m = if mutable { "mut " } else { "" };
        let i = if found.is_empty() || self.c.chance(20) {
            let (name, value) = (self.name("r"), self.literal(target));
            self.line(&format!(
                "let mut {name}: {} = {value};",
                self.shape.show(target)
            ));
            self.declare(&name, Kind::Value(target.clone()), true)
        } else {
            self.c.pick(&found)
        };
        self.lend(i, mutable);
        match self.vars[i].kind {
            Kind::Ref { .. } => format!("&{m}*{}", self.vars[i].name),
            _ => format!("&{m}{}", self.vars[i].name),
        }
    }

    /// Takes a slice or an array apart; a block has the two parts.
    fn split_block(&mut self) {
        let fits = |v: &Var| {
            v.hidden == 0
                && match v.kind {
                    Kind::Value(Ty::Array(..)) | Kind::Slice { mutable: true, .. } => may_write(v),
                    Kind::Slice { mutable: false, .. } => may_read(v),
                    _ => false,
                }
        };
        let found: Vec<usize> = (0..self.vars.len())
            .filter(|&i| fits(&self.vars[i]))
            .collect();
        if found.is_empty() {
            return self.let_value();
        }
        let i = self.c.pick(&found);
        let (elem, mutable) = match &self.vars[i].kind {
            Kind::Value(Ty::Array(elem, _)) => ((**elem).clone(), true),
            Kind::Slice { mutable, elem } => (elem.clone(), *mutable),
            _ => return,
        };
        let (x, y, name) = (self.name("x"), self.name("y"), self.vars[i].name.clone());
        let at = match self.c.below(3) {
            0 => format!("{name}.len() / 2"),
            1 => format!("{name}.len().min(1)"),
            _ => format!("{} % ({name}.len() + 1)", self.expr(&USIZE, 1)),
        };
        self.open("{");
        self.line(&format!("let k = {at};"));
        self.line(&format!(
            "let ({x}, {y}) = {name}.split_at{}(k);",
            if mutable { "_mut" } else { "" }
        ));
        let from = self.vars.len();
        for part in [x, y] {
            self.declare_part(
                &part,
                Kind::Slice {
                    mutable,
                    elem: elem.clone(),
                },
                mutable,
                &[i],
            );
        }
        self.block(5);
        self.leave(from);
        self.close("}");
    }

    /// A block with an array of two slices, which are read through it.
    fn views_block(&mut self) {
        let elem = |v: &Var| match &v.kind {
            Kind::Value(Ty::Array(elem, _)) if may_read(v) => Some((**elem).clone()),
            Kind::Slice { elem, .. } if may_read(v) => Some(elem.clone()),
            _ => None,
        };
        let found: Vec<(usize, Ty)> = self
            .vars
            .iter()
            .enumerate()
            .filter_map(|(i, v)| Some((i, elem(v)?)))
            .collect();
        if found.is_empty() {
            return self.let_value();
        }
        let (first, ty) = self.c.pick(&found);
        let same: Vec<usize> = found
            .into_iter()
            .filter(|(_, t)| *t == ty)
            .map(|f| f.0)
            .collect();
        let second = self.c.pick(&same);
        let name = self.name("u");
        let (a, b) = (
            self.vars[first].name.clone(),
            self.vars[second].name.clone(),
        );
        self.open("{");
        self.line(&format!("let {name} = [&{a}[..], &{b}[{b}.len() / 2..]];"));
        let from = self.vars.len();
        self.declare_part(&name, Kind::Views(ty), false, &[first, second]);
        self.block(5);
        self.leave(from);
        self.close("}");
    }
}
