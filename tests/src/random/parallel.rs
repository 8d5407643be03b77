//! Parallel loops: over ranges and slices, in each other, with what they gather; and loops that spawn so often that they are shared out unasked.

use super::{
    expr::may_read,
    function::Gen,
    scope::{Around, Gather, Kind, Part, State, Var},
    stmt::may_write,
    types::{INTS, Mode, Ty, scalar},
};
use millstream_graph::ty::Scalar;

const USIZE: Ty = Ty::Scalar(Scalar::Usize);
const BOOL: Ty = Ty::Scalar(Scalar::Bool);

/// A variable that the rounds around a statement gather in.
#[derive(Clone, Debug)]
pub(super) struct Gathered {
    name: String,
    ty: Ty,
    how: Gather,
    /// Whether it takes the results of children, and no others.
    children: bool,
}

/// What a loop runs over: the head, how many rounds it has at most, and what its pattern declares.
struct Head {
    text: String,
    times: u32,
    declares: Vec<(String, Kind, bool, Option<usize>)>,
}

/// Who may be asked to share out a loop's rounds.
const TEAMS: &[&str] = &[
    "(lane)",
    "(warp)",
    "(block)",
    "(device)",
    "(threads = 64)",
    "(threads = 700)",
];

impl Gen<'_> {
    /// A parallel loop, with the variables that it gathers in and something that is done with them.
    pub(super) fn parallel_loop(&mut self) {
        let spawns = self.task && self.recurses && self.spawns_left >= 2 * self.weight;
        let few = spawns && self.c.chance(40);
        let Some(head) = self.head(few) else {
            return self.let_value();
        };
        let children = spawns && self.spawns_left >= head.times * self.weight;
        let new: Vec<Gathered> = (0..self.c.pick(&[1, 1, 2, 3, 0]))
            .map(|_| self.new_gather(children))
            .collect();
        let mark = self.vars.len();
        let before = self.states(mark);
        let writable: Vec<bool> = self.vars.iter().map(|v| v.writable).collect();
        for v in &mut self.vars {
            v.writable = false;
            // What other rounds may change meanwhile is not looked at.
            if matches!(v.kind, Kind::OwnAtomic(_)) {
                v.state = v.state.join(&State::Shared);
            }
        }
        let around = std::mem::take(&mut self.around);
        let outer = self.rounds.replace(mark);
        let gathers = self.gathers.clone();
        self.gathers.extend(new.clone());
        let label = self.c.chance(20).then(|| self.name("'r"));
        let team = match self.c.chance(25) {
            true => self.c.pick(TEAMS),
            false => "",
        };
        self.line(&format!("#[parallel{team}]"));
        self.open(&format!(
            "{}for {} {{",
            label.as_ref().map_or(String::new(), |l| format!("{l}: ")),
            head.text
        ));
        self.around.push(Around {
            label,
            vars: mark,
            assumed: self.states(mark),
            exits: None,
            block: false,
            value: None,
        });
        self.weight *= head.times;
        for (name, kind, writable, origin) in head.declares {
            match origin {
                Some(origin) => self.declare_part(&name, kind, writable, &[origin]),
                None => self.declare(&name, kind, writable),
            };
        }
        self.block(4);
        for _ in 0..2 {
            if self.alive {
                self.gather_statement();
            }
        }
        self.leave(mark);
        self.close("}");
        self.weight /= head.times;
        (self.around, self.gathers, self.rounds) = (around, gathers, outer);
        self.alive = true;
        self.restore(&before);
        for (v, writable) in self.vars.iter_mut().zip(writable) {
            v.writable = writable;
        }
        for gather in new {
            if self.shape.fan == 0 && self.task {
                self.keep(&gather);
            }
            self.declare(&gather.name, Kind::Value(gather.ty), true);
        }
    }

    /// Where nothing else may need it, what was gathered is added to what comes back.
    fn keep(&mut self, gather: &Gathered) {
        let name = &gather.name;
        let bits = match gather.ty {
            // Which bits a NaN has is not specified.
            Ty::Scalar(s) if s.is_float() => {
                format!("(if {name}.is_nan() {{ 1 }} else {{ {name}.to_bits() }})")
            }
            _ => name.clone(),
        };
        let op = self.shape.atomic_op(Scalar::U64);
        self.line(&format!("ac.{op}({bits} as u64, Ordering::Relaxed);"));
    }

    /// Declares a variable to gather in. It becomes known behind the loop.
    fn new_gather(&mut self, children: bool) -> Gathered {
        let children = children && self.c.chance(50);
        let results = |g: &Self| {
            let scalar = |f: &super::types::Func| match &f.ret {
                Some(Ty::Scalar(s)) if f.task => Some(*s),
                _ => None,
            };
            g.shape.fns.iter().filter_map(scalar).collect::<Vec<_>>()
        };
        let of_children = if children { results(self) } else { Vec::new() };
        let children = !of_children.is_empty();
        let s = match children {
            true => self.c.pick(&of_children),
            false => match self.c.below(6) {
                0 => Scalar::F64,
                1 => Scalar::F32,
                2 => Scalar::Bool,
                _ => self.c.pick(&INTS),
            },
        };
        use Gather::{Add, And, Max, Min, Mul, Or, Xor};
        let how = self.c.pick(match s {
            Scalar::Bool => &[Or, And, Xor][..],
            s if s.is_float() && !children => &[Add, Add, Mul, Max, Min][..],
            s if s.is_float() => &[Add, Add, Max, Min][..],
            _ if !children => &[Add, Mul, Xor, Max, Min, Or, And][..],
            _ => &[Add, Xor, Max, Min, Or, And][..],
        });
        let ty = Ty::Scalar(s);
        let (name, typed) = (self.name("g"), self.shape.show(&ty));
        let start = match children && s.is_float() {
            true => format!("{}.0", self.c.below(9)),
            false => scalar(self.c, s, true),
        };
        self.line(&format!("let mut {name}: {typed} = {start};"));
        Gathered {
            name,
            ty,
            how,
            children,
        }
    }

    /// Adds to something that the rounds gather.
    pub(super) fn gather_statement(&mut self) {
        if self.gathers.is_empty() {
            return self.let_value();
        }
        let Gathered {
            name,
            ty,
            how,
            children,
        } = self.c.pick(&self.gathers.clone());
        let value = if children {
            let tasks = self.tasks(Some(&ty));
            if self.spawns_left < self.weight || !self.task || !self.recurses {
                return;
            }
            let task = self.c.pick(&tasks);
            self.child(task)
        } else {
            self.expr(&ty, 2)
        };
        let is_int = matches!(ty, Ty::Scalar(s) if s.is_int());
        let checked = self.shape.mode == Mode::Checked && !self.shape.risky;
        let wraps = is_int && (checked || self.c.chance(20));
        // What is taken away is joined with what is added.
        let minus = !children && self.c.chance(40);
        let add = match how {
            Gather::Store | Gather::Add if wraps => {
                let way = if minus { "sub" } else { "add" };
                format!("{name} = {name}.wrapping_{way}({value});")
            }
            Gather::Store | Gather::Add if minus => format!("{name} -= {value};"),
            Gather::Store | Gather::Add => format!("{name} += {value};"),
            Gather::Mul if wraps => format!("{name} = {name}.wrapping_mul({value});"),
            Gather::Mul => format!("{name} *= {value};"),
            Gather::Or => format!("{name} |= {value};"),
            Gather::And => format!("{name} &= {value};"),
            Gather::Xor => format!("{name} ^= {value};"),
            Gather::Min => format!("{name} = {name}.min({value});"),
            Gather::Max => format!("{name} = {name}.max({value});"),
        };
        if self.c.chance(25) {
            let cond = self.expr(&BOOL, 1);
            return self.branch(&format!("if {cond} {{"), |g| g.line(&add));
        }
        self.line(&add);
    }

    /// What a loop runs over. `few`: so few rounds that each may spawn.
    fn head(&mut self, few: bool) -> Option<Head> {
        let most = if few {
            (self.spawns_left / self.weight).min(6)
        } else {
            (800 / self.weight).min(130)
        };
        if most < 2 {
            return None;
        }
        match self.c.below(5) {
            0 | 1 => Some(self.range(most)),
            2 => Some(self.new_array(most)),
            _ => self.slices(most).or_else(|| Some(self.range(most))),
        }
    }

    fn size(&mut self, most: u32) -> u32 {
        self.c
            .pick(&[2, 3, 5, 33, 17, 40, 70, 100, 128, 1])
            .min(most)
    }

    fn range(&mut self, most: u32) -> Head {
        let int = self.c.pick(&INTS);
        let (name, t, most) = (self.name("i"), int.name(), most.min(100));
        let n = self.size(most);
        let (range, times) = match self.c.below(7) {
            0 | 1 => (format!("0..{n}{t}"), n),
            2 => (format!("0..={}{t}", n - 1), n),
            3 => {
                let n = n.min(40);
                (format!("(1..{}{t}).step_by(3)", 1 + 3 * n), n)
            }
            4 => (format!("{t}::MAX - {}..={t}::MAX", n - 1), n),
            5 if int.is_signed() => (format!("(-2..={n}{t}).step_by(2)"), n / 2 + 2),
            _ => (
                format!("0..{} % {}", self.expr(&Ty::Scalar(int), 1), n + 1),
                n,
            ),
        };
        Head {
            text: format!("{name} in {range}"),
            times: times.max(2),
            declares: vec![(name, Kind::Value(Ty::Scalar(int)), false, None)],
        }
    }

    /// An array of some length that is made for the loop.
    fn new_array(&mut self, most: u32) -> Head {
        let len = self.size(most);
        let elem = self.c.pick(&self.shape.palette.clone());
        let (name, value) = (self.name("v"), self.literal(&elem));
        let ty = Ty::Array(Box::new(elem), len);
        let typed = self.shape.show(&ty);
        self.line(&format!("let mut {name}: {typed} = [{value}; {len}];"));
        let id = self.declare(&name, Kind::Value(ty), true);
        if self.rounds.is_none() && self.c.chance(60) {
            self.line(&format!("for k in 0..{len}usize {{"));
            let from = self.vars.len();
            self.declare("k", Kind::Value(USIZE), false);
            let Kind::Value(Ty::Array(elem, _)) = self.vars[id].kind.clone() else {
                return self.range(most);
            };
            self.vars[id].hidden += 1;
            let value = self.expr(&elem, 1);
            self.vars[id].hidden -= 1;
            self.vars.truncate(from);
            self.line(&format!("    {name}[k] = {value};"));
            self.line("}");
        }
        self.over(&[id], most)
    }

    /// Slices and arrays that are there.
    fn slices(&mut self, most: u32) -> Option<Head> {
        let fits = |g: &Self, i: usize| {
            let v = &g.vars[i];
            let is = matches!(&v.kind, Kind::Value(Ty::Array(..)) | Kind::Slice { .. });
            is && may_read(v) && g.length(i) <= most
        };
        let mut found: Vec<usize> = (0..self.vars.len()).filter(|&i| fits(self, i)).collect();
        if found.is_empty() {
            return None;
        }
        let mut chosen = Vec::new();
        for _ in 0..1 + self.c.below(3) {
            if found.is_empty() {
                break;
            }
            let at = self.c.below(found.len() as u32) as usize;
            chosen.push(found.swap_remove(at));
        }
        Some(self.over(&chosen, most))
    }

    /// At most so many elements.
    fn length(&self, i: usize) -> u32 {
        match &self.vars[i].kind {
            Kind::Value(Ty::Array(_, len)) => *len,
            _ => 8,
        }
    }

    /// An array of numbers as a matrix of so many columns, and the type of its elements.
    fn matrix(&self, i: usize, columns: u32, mutable: bool) -> Option<(String, Ty)> {
        let Var { name, kind, .. } = &self.vars[i];
        let Kind::Value(Ty::Array(elem, len)) = kind else {
            return None;
        };
        let number = matches!(**elem, Ty::Scalar(s) if s != Scalar::Bool);
        let (view, and) = match mutable {
            true => ("MatMut", "&mut "),
            false => ("Mat", "&"),
        };
        let rows = len / columns;
        (number && rows * columns == *len).then(|| {
            (
                format!("{view}::new({and}{name}, {rows}, {columns})"),
                (**elem).clone(),
            )
        })
    }

    /// A loop over slices in step.
    fn over(&mut self, ids: &[usize], most: u32) -> Head {
        let (mut pattern, mut text, mut declares) = (String::new(), String::new(), Vec::new());
        let counted = self.c.chance(15).then(|| self.name("i"));
        for (n, &id) in ids.iter().enumerate() {
            let (elem, writable) = match self.vars[id].kind.clone() {
                Kind::Value(Ty::Array(elem, _)) => ((*elem).clone(), may_write(&self.vars[id])),
                Kind::Slice { elem, .. } => (elem, may_write(&self.vars[id])),
                _ => continue,
            };
            let mutable = writable && self.c.chance(50);
            let (over, name, m) = (
                self.vars[id].name.clone(),
                self.name("e"),
                if mutable { "_mut" } else { "" },
            );
            let size = 1 + self.c.below(4);
            let target = elem.clone();
            let part = Kind::Slice { mutable, elem };
            let (item, by, kind, mutable) = match self.c.below(8) {
                0..=3 => {
                    let copied = !mutable && self.c.chance(50);
                    let kind = match copied {
                        true => Kind::Value(target),
                        false => Kind::Ref { mutable, target },
                    };
                    let and = if copied { "&" } else { "" };
                    (format!("{and}{name}"), format!("iter{m}()"), kind, mutable)
                }
                4 | 5 => (name.clone(), format!("chunks{m}({size})"), part, mutable),
                6 => (
                    name.clone(),
                    format!("chunks_exact{m}({size})"),
                    part,
                    mutable,
                ),
                _ => {
                    let Kind::Slice { elem, .. } = part else {
                        continue;
                    };
                    let kind = Kind::Slice {
                        mutable: false,
                        elem,
                    };
                    (name.clone(), format!("windows({size})"), kind, false)
                }
            };
            let (item, by, kind) = match self.matrix(id, size, mutable) {
                Some((view, elem)) if self.c.chance(15) => {
                    let kind = Kind::Slice { mutable, elem };
                    let m = if mutable { "_mut" } else { "" };
                    (name.clone(), format!("{view}.row_iter{m}()"), kind)
                }
                _ => (item, format!("{over}.{by}"), kind),
            };
            (pattern, text) = match n {
                // The first of several may be counted instead of all.
                0 => match counted.clone().filter(|_| ids.len() > 1) {
                    Some(name) => {
                        let both = (format!("({name}, {item})"), format!("{by}.enumerate()"));
                        declares.push((name, Kind::Value(USIZE), false, None));
                        both
                    }
                    None => (item, by),
                },
                _ => (format!("({pattern}, {item})"), format!("{text}.zip({by})")),
            };
            declares.push((name, kind, mutable, Some(id)));
        }
        if counted.is_none() && self.c.chance(35) {
            let name = self.name("i");
            pattern = format!("({name}, {pattern})");
            text += ".enumerate()";
            declares.push((name, Kind::Value(USIZE), false, None));
        }
        let times = ids.iter().map(|&id| self.length(id)).min().unwrap_or(most);
        Head {
            text: format!("{pattern} in {text}"),
            times: times.max(2),
            declares,
        }
    }

    /// A loop that only spawns, of so many rounds that they are shared out.
    pub(super) fn wide_loop(&mut self) {
        let (index, name) = (self.name("i"), self.name("s"));
        let leaf = |g: &mut Self| {
            let value = g.expr(&Ty::Scalar(Scalar::U32), 1);
            format!("spawn!(leaf({index} as u32, {value}))")
        };
        let rounds = self.c.pick(&[300, 257, 256, 5]);
        match self.c.below(3) {
            0 => {
                self.line(&format!("let mut {name} = [0u32; {rounds}];"));
                self.open(&format!("for {index} in 0..{rounds}usize {{"));
                let child = leaf(self);
                self.line(&format!("{name}[{index}] = {child};"));
                self.close("}");
                let ty = Ty::Array(Box::new(Ty::Scalar(Scalar::U32)), rounds);
                let id = self.declare(&name, Kind::Value(ty), true);
                self.vars[id].state.awaits(Part::Whole, Gather::Store);
            }
            _ => {
                let how = self.c.pick(&[Gather::Add, Gather::Xor, Gather::Max]);
                self.line(&format!("let mut {name} = 7u32;"));
                self.open(&format!(
                    "for {index} in (0..{}i64).step_by(2) {{",
                    2 * rounds
                ));
                let child = leaf(self);
                self.line(&match how {
                    Gather::Max => format!("{name} = {name}.max({child});"),
                    Gather::Xor => format!("{name} ^= {child};"),
                    _ => format!("{name} = {name}.wrapping_add({child});"),
                });
                self.close("}");
                let id = self.declare(&name, Kind::Value(Ty::Scalar(Scalar::U32)), true);
                self.vars[id].state.awaits(Part::Whole, how);
            }
        }
        if self.c.chance(80) {
            self.sync();
        }
    }
}
