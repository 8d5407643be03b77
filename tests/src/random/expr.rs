//! Expressions of a wanted type, as text. They use only what may be read where they stand.

use super::{
    function::Gen,
    scope::{Kind, State, Var},
    types::{INTS, Mode, Ty, atomic, scalar, variants},
};
use millstream_graph::ty::Scalar;

const U32: Ty = Ty::Scalar(Scalar::U32);
const USIZE: Ty = Ty::Scalar(Scalar::Usize);
const BOOL: Ty = Ty::Scalar(Scalar::Bool);

impl Gen<'_> {
    /// A value of a type.
    pub(super) fn literal(&mut self, ty: &Ty) -> String {
        match ty {
            Ty::Scalar(s) => scalar(self.c, *s, true),
            Ty::Array(elem, len) if self.c.chance(60) => format!("[{}; {len}]", self.literal(elem)),
            Ty::Array(elem, len) => {
                self.list((0..*len).map(|_| (**elem).clone()).collect(), "[", "]", 0)
            }
            Ty::Tuple(fields) => self.list(
                fields.clone(),
                "(",
                if fields.len() == 1 { ",)" } else { ")" },
                0,
            ),
            Ty::Struct(_) | Ty::Enum(_) | Ty::Option(_) => self.construct(ty, 0),
        }
    }

    fn list(&mut self, types: Vec<Ty>, open: &str, close: &str, d: u32) -> String {
        let values: Vec<String> = types.iter().map(|t| self.expr(t, d)).collect();
        format!("{open}{}{close}", values.join(", "))
    }

    fn construct(&mut self, ty: &Ty, d: u32) -> String {
        match ty {
            Ty::Struct(i) => {
                let s = self.shape.structs[*i].clone();
                if s.tuple {
                    return self.list(
                        s.fields.into_iter().map(|f| f.1).collect(),
                        &format!("{}(", s.name),
                        ")",
                        d,
                    );
                }
                let fields: Vec<String> = s
                    .fields
                    .iter()
                    .map(|(n, t)| format!("{n}: {}", self.expr(t, d)))
                    .collect();
                format!("{} {{ {} }}", s.name, fields.join(", "))
            }
            Ty::Tuple(fields) => self.list(
                fields.clone(),
                "(",
                if fields.len() == 1 { ",)" } else { ")" },
                d,
            ),
            Ty::Array(elem, len) => self.list(
                (0..*len).map(|_| (**elem).clone()).collect(),
                "[",
                "]",
                d.min(1),
            ),
            Ty::Scalar(s) => scalar(self.c, *s, true),
            Ty::Enum(i) => format!("E{i}::{}", self.c.pick(&variants(*i))),
            Ty::Option(_) if self.c.chance(25) => "None".to_owned(),
            Ty::Option(some) => format!("Some({})", self.expr(some, d)),
        }
    }

    /// Places that hold a value of that type and may be read.
    fn readable(&mut self, ty: &Ty) -> Vec<String> {
        let mut out = Vec::new();
        if *ty == U32 {
            out.push("n".to_owned());
        }
        for v in self.vars.iter().filter(|v| may_read(v)) {
            match &v.kind {
                Kind::Value(t) => self.parts(&v.name, t, ty, &mut out),
                Kind::Ref { target, .. } => {
                    if target == ty {
                        out.push(format!("*{}", v.name));
                    } else if !matches!(target, Ty::Scalar(_)) {
                        self.parts(&v.name, target, ty, &mut out);
                    }
                }
                Kind::OwnAtomic(s) if v.state == State::Free && Ty::Scalar(*s) == *ty => {
                    out.push(format!("{}.load(Ordering::Relaxed)", v.name));
                }
                Kind::Slice { .. } if *ty == USIZE => out.push(format!("{}.len()", v.name)),
                _ => {}
            }
        }
        let consts = self.shape.consts.clone();
        for (name, t, _) in &consts {
            self.parts(name, t, ty, &mut out);
        }
        out
    }

    fn parts(&self, name: &str, have: &Ty, want: &Ty, out: &mut Vec<String>) {
        if have == want {
            out.push(name.to_owned());
        }
        for (field, t) in self.shape.fields(have) {
            if t == *want {
                out.push(format!("{name}.{field}"));
            }
        }
        if let Ty::Array(elem, len) = have
            && **elem == *want
        {
            out.push(format!("{name}[{}]", len - 1));
        }
    }

    fn leaf(&mut self, ty: &Ty) -> String {
        let mut places = self.readable(ty);
        if let Ty::Scalar(s) = ty
            && places.is_empty()
        {
            // What a variable holds, not what is known when the program is compiled.
            let from = self.scalar_type();
            let other = self.readable(&from);
            places.extend(other.into_iter().map(|p| match s {
                Scalar::Bool if from == BOOL => p,
                Scalar::Bool => format!("({p} as u8 & 1 == 1)"),
                _ if from == BOOL => format!("({p} as u8 as {})", s.name()),
                _ if s.is_float() => format!("({p} as {} * 1000.5)", s.name()),
                _ => format!("({p} as {})", s.name()),
            }));
        }
        if places.is_empty() || self.c.chance(20) {
            self.literal(ty)
        } else {
            self.c.pick(&places)
        }
    }

    /// An element of an array or slice, at an index that is computed.
    fn element(&mut self, ty: &Ty, d: u32) -> Option<String> {
        let holds = |v: &&Var| match &v.kind {
            Kind::Value(Ty::Array(e, _)) => may_read(v) && **e == *ty,
            Kind::Slice { elem, .. } | Kind::Views(elem) => may_read(v) && elem == ty,
            _ => false,
        };
        let found: Vec<Var> = self.vars.iter().filter(holds).cloned().collect();
        if found.is_empty() {
            return None;
        }
        let mut v = self.c.pick(&found);
        let index = self.expr(&USIZE, d);
        if let Kind::Views(_) = v.kind {
            v.name = format!("{}[{} % 2]", v.name, self.expr(&USIZE, 0));
        }
        Some(match &v.kind {
            Kind::Value(Ty::Array(_, len)) => format!("{}[{index} % {len}]", v.name),
            _ if self.shape.risky && self.c.chance(30) => format!("{}[{index} % 8]", v.name),
            _ => {
                let other = self.literal(ty);
                format!(
                    "(if {0}.is_empty() {{ {other} }} else {{ {0}[{index} % {0}.len()] }})",
                    v.name
                )
            }
        })
    }

    /// An expression of that type, at most so deep.
    pub(super) fn expr(&mut self, ty: &Ty, d: u32) -> String {
        if d == 0 {
            return self.leaf(ty);
        }
        match self.c.below(19) {
            14 => self.of_option(ty, d - 1),
            15 => self.of_enum(ty, d - 1).unwrap_or_else(|| self.leaf(ty)),
            16 => self
                .by_slice_pattern(ty, d - 1)
                .unwrap_or_else(|| self.leaf(ty)),
            17 => self.by_closure(ty, d - 1),
            0 => self.leaf(ty),
            1 => self.element(ty, d - 1).unwrap_or_else(|| self.leaf(ty)),
            2 => {
                let (cond, a, b) = (
                    self.expr(&BOOL, d - 1),
                    self.expr(ty, d - 1),
                    self.expr(ty, d - 1),
                );
                format!("(if {cond} {{ {a} }} else {{ {b} }})")
            }
            3 => self.match_value(ty, d - 1),
            4 => self.call_value(ty, d - 1).unwrap_or_else(|| self.leaf(ty)),
            5 => {
                let inner = self.scalar_type();
                let (name, value) = (self.name("b"), self.expr(&inner, d - 1));
                self.declare(&name, Kind::Value(inner), false);
                let tail = self.expr(ty, d - 1);
                self.vars.pop();
                format!("({{ let {name} = {value}; {tail} }})")
            }
            _ => match ty {
                Ty::Scalar(Scalar::Bool) => self.boolean(d - 1),
                Ty::Scalar(s) if s.is_float() => self.float(*s, d - 1),
                Ty::Scalar(s) => self.integer(*s, d - 1),
                Ty::Option(some) => self.option(some, d - 1),
                Ty::Struct(_) if self.c.chance(30) => {
                    let (a, b) = (self.expr(ty, d - 1), self.expr(ty, d - 1));
                    self.c.pick(&[format!("({a} + {b})"), format!("(!({a}))")])
                }
                _ => self.construct(ty, d - 1),
            },
        }
    }

    pub(super) fn scalar_type(&mut self) -> Ty {
        let scalars: Vec<Ty> = self
            .shape
            .palette
            .iter()
            .filter(|t| matches!(t, Ty::Scalar(_)))
            .cloned()
            .collect();
        self.c.pick(&scalars)
    }

    fn match_value(&mut self, ty: &Ty, d: u32) -> String {
        let int = self.c.pick(&INTS);
        let value = self.expr(&Ty::Scalar(int), d);
        let arms: Vec<String> = (0..4).map(|_| self.expr(ty, d.min(1))).collect();
        match self.c.below(3) {
            0 => format!(
                "(match {value} & 7 {{ 0 => {}, 1 | 2 => {}, 3..=5 => {}, _ => {} }})",
                arms[0], arms[1], arms[2], arms[3]
            ),
            1 => {
                let flag = self.expr(&BOOL, d);
                format!(
                    "(match ({value}, {flag}) {{ (0, true) => {}, (1.., false) => {}, (_, true) => {}, _ => {} }})",
                    arms[0], arms[1], arms[2], arms[3]
                )
            }
            _ => {
                let name = self.name("m");
                let limit = self.expr(&Ty::Scalar(int), 0);
                self.declare(&name, Kind::Value(Ty::Scalar(int)), false);
                let guarded = self.expr(ty, d.min(1));
                self.vars.pop();
                format!(
                    "(match {value} {{ {name} if {name} > {limit} => {guarded}, 0 => {}, _ => {} }})",
                    arms[0], arms[1]
                )
            }
        }
    }

    /// A call of a helper that takes only values.
    fn call_value(&mut self, ty: &Ty, d: u32) -> Option<String> {
        let fits: Vec<usize> = (0..self.shape.fns.len())
            .filter(|&i| {
                let f = &self.shape.fns[i];
                !f.task && f.pure() && f.ret.as_ref() == Some(ty) && (self.task || i < self.func)
            })
            .collect();
        if fits.is_empty() || self.calls_left < self.weight {
            return None;
        }
        self.calls_left -= self.weight;
        let i = self.c.pick(&fits);
        let f = self.shape.fns[i].clone();
        let mut args = vec![format!("{}", self.c.below(5))];
        for (_, p) in &f.params {
            if let super::types::Param::Value(t) = p {
                args.push(self.expr(t, d.min(1)));
            }
        }
        Some(format!("{}({})", f.name, args.join(", ")))
    }

    fn boolean(&mut self, d: u32) -> String {
        let s = self.c.pick(&INTS);
        let ty = if self.c.chance(15) {
            Ty::Scalar(Scalar::F64)
        } else {
            Ty::Scalar(s)
        };
        match self.c.below(9) {
            8 => {
                let whole = self.c.pick(&self.shape.palette.clone());
                let (a, b) = (self.place(&whole, d), self.expr(&whole, d));
                format!("({a} {} {b})", self.c.pick(&["==", "!="]))
            }
            5 => {
                let (op, a, b) = (
                    self.c.pick(&["&&", "||", "^", "&", "|", "=="]),
                    self.expr(&BOOL, d),
                    self.expr(&BOOL, d),
                );
                format!("({a} {op} {b})")
            }
            6 => format!("!{}", self.expr(&BOOL, d)),
            7 => format!("matches!({} & 15, 0..=3 | 9)", self.expr(&Ty::Scalar(s), d)),
            _ => {
                let (op, a, b) = (
                    self.c.pick(&["<", "<=", ">", ">=", "==", "!="]),
                    self.expr(&ty, d),
                    self.expr(&ty, d),
                );
                format!("({a} {op} {b})")
            }
        }
    }

    fn float(&mut self, s: Scalar, d: u32) -> String {
        let ty = Ty::Scalar(s);
        let a = self.expr(&ty, d);
        match self.c.below(8) {
            6 => {
                let from = self.c.pick(&INTS);
                format!("({} as {})", self.expr(&Ty::Scalar(from), d), s.name())
            }
            7 => format!(
                "({a}){}",
                self.c.pick(&[
                    ".floor()",
                    ".abs()",
                    ".abs().sqrt()",
                    ".trunc()",
                    ".ceil()",
                    ".recip()"
                ])
            ),
            5 => format!("(if ({a}).is_nan() {{ 1.0 }} else {{ {a} }})"),
            _ => {
                let b = self.expr(&ty, d);
                format!("({a} {} {b})", self.c.pick(&["+", "-", "*", "/"]))
            }
        }
    }

    /// An operator of integers, or in checked programs mostly its wrapping method.
    fn arithmetic(&mut self, a: &str, b: &str) -> String {
        let plain = self.shape.mode != Mode::Checked || self.shape.risky && self.c.chance(50);
        match (self.c.below(3), plain) {
            (0, true) => format!("({a} + {b})"),
            (1, true) => format!("({a} - {b})"),
            (_, true) => format!("({a} * {b})"),
            (0, false) => format!("({a}).wrapping_add({b})"),
            (1, false) => format!("({a}).wrapping_sub({b})"),
            (_, false) => format!("({a}).wrapping_mul({b})"),
        }
    }

    fn integer(&mut self, s: Scalar, d: u32) -> String {
        let (ty, name) = (Ty::Scalar(s), s.name());
        let a = self.expr(&ty, d);
        match self.c.below(13) {
            12 => self.chain(s, &a, d),
            0..=2 => {
                let b = self.expr(&ty, d);
                self.arithmetic(&a, &b)
            }
            3 | 4 => {
                let b = self.expr(&ty, d);
                format!("({a} {} {b})", self.c.pick(&["^", "&", "|"]))
            }
            5 => {
                let b = self.expr(&U32, d);
                let bits = s.bits();
                match self.c.below(4) {
                    0 => format!("({a} << ({b} % {bits}))"),
                    1 => format!("({a} >> ({b} % {bits}))"),
                    2 => format!("({a}).wrapping_shl({b})"),
                    _ => format!("({a}).rotate_left({b})"),
                }
            }
            6 => {
                let b = self.expr(&ty, d);
                if self.shape.risky && self.c.chance(30) {
                    return format!("({a} % {b})");
                }
                match self.c.below(4) {
                    0 => format!("({a} / (({b} & 7) + 2))"),
                    1 => format!("({a} % (({b} & 7) + 2))"),
                    2 => format!("({a}).rem_euclid(({b} & 7) + 2)"),
                    _ => format!("({a}).div_euclid(({b} & 7) + 2)"),
                }
            }
            7 => {
                let b = self.expr(&ty, d);
                let method = self.c.pick(&[
                    "min",
                    "max",
                    "saturating_add",
                    "saturating_sub",
                    "wrapping_mul",
                ]);
                format!("({a}).{method}({b})")
            }
            8 | 9 => {
                let others = [
                    Scalar::U8,
                    Scalar::I8,
                    Scalar::I64,
                    Scalar::I16,
                    Scalar::I32,
                    Scalar::Bool,
                    Scalar::F64,
                    Scalar::F32,
                ];
                let from = match self.c.below(5) {
                    0 => s,
                    4 if s.size() < 4 => Scalar::F64,
                    _ => self.c.pick(&others),
                };
                format!("({} as {name})", self.expr(&Ty::Scalar(from), d))
            }
            10 => match self.c.below(4) {
                0 => format!("(({a}).count_ones() as {name})"),
                1 => format!("(({a}).leading_zeros() as {name})"),
                2 => format!("(({a}).trailing_zeros() as {name})"),
                _ => format!(
                    "({a}).{}()",
                    self.c.pick(&["swap_bytes", "reverse_bits", "wrapping_neg"])
                ),
            },
            _ => format!("!{a}"),
        }
    }

    /// A chain of an iterator's methods that comes to an integer.
    fn chain(&mut self, s: Scalar, first: &str, d: u32) -> String {
        const ROUNDS: u32 = 5;
        let (ty, name, item) = (Ty::Scalar(s), s.name(), self.name("x"));
        self.weight *= ROUNDS;
        self.declare(&item, Kind::Value(ty.clone()), false);
        let (mapped, test) = (self.expr(&ty, d.min(1)), self.expr(&BOOL, d.min(1)));
        self.vars.pop();
        self.weight /= ROUNDS;
        let adaptor = match self.c.below(5) {
            0 => format!(".filter(|&{item}| {test})"),
            1 => format!(".take_while(|&{item}| {test})"),
            2 => format!(".skip_while(|&{item}| {test})"),
            3 => format!(".skip({}).take(2)", self.c.below(3)),
            _ => String::new(),
        };
        let over = format!("(0..{ROUNDS}{name}){adaptor}.map(|{item}| {mapped})");
        match self.c.below(5) {
            0 => format!("{over}.max().unwrap_or({first})"),
            1 => format!("({over}.count() as {name})"),
            2 => format!("({over}.any(|{item}| {test}) as {name})"),
            3 => format!("({over}.position(|{item}| {test}).unwrap_or(9) as {name})"),
            _ => format!("{over}.fold({first}, |all, x| all.rotate_left(1).wrapping_add(x))"),
        }
    }

    /// A new atomic.
    pub(super) fn new_atomic(&mut self, s: Scalar) -> String {
        let value = self.expr(&Ty::Scalar(s), 1);
        format!("{}::new({value})", atomic(s))
    }
}

/// Whether a variable's memory may be read.
pub(super) fn may_read(v: &Var) -> bool {
    v.hidden == 0 && matches!(v.state, State::Free | State::Shared)
}
