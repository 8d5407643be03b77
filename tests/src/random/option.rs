//! `Option`s: how they come to be, what is made of them, and statements that take them apart.

use super::{
    function::Gen,
    scope::Kind,
    types::{Mode, Ty},
};
use millstream_graph::ty::Scalar;

const BOOL: Ty = Ty::Scalar(Scalar::Bool);

impl Gen<'_> {
    /// An expression with a name for a value of that type in it.
    pub(super) fn expr_with(&mut self, name: &str, of: &Ty, ty: &Ty, d: u32) -> String {
        self.declare(name, Kind::Value(of.clone()), false);
        let out = self.expr(ty, d);
        self.vars.pop();
        out
    }

    /// A value whose type is said beside it, as `None` does not say its own.
    pub(super) fn place(&mut self, ty: &Ty, d: u32) -> String {
        let (value, name, typed) = (self.expr(ty, d), self.name("o"), self.shape.show(ty));
        if value.contains("None") || value.starts_with('[') {
            return format!("({{ let {name}: {typed} = {value}; {name} }})");
        }
        format!("({value})")
    }

    /// What an `Option` holds that a program asks for: mostly one of the program's own.
    fn some_type(&mut self) -> Ty {
        let own = self.shape.palette.iter().find_map(|t| match t {
            Ty::Option(some) => Some((**some).clone()),
            _ => None,
        });
        own.unwrap_or_else(|| self.scalar_type())
    }

    /// An `Option` of that type.
    pub(super) fn option(&mut self, some: &Ty, d: u32) -> String {
        let ty = Ty::Option(Box::new(some.clone()));
        let name = self.name("o");
        match (self.c.below(9), some) {
            (0, _) => "None".to_owned(),
            (1, _) => {
                let (a, b) = (self.place(&ty, d), self.expr(&ty, d));
                let name = self.c.pick(&["or", "or_else"]);
                let b = if name == "or" { b } else { format!("|| {b}") };
                format!("{a}.{name}({b})")
            }
            (2, _) => {
                let (a, test) = (self.place(&ty, d), self.expr_with(&name, some, &BOOL, d));
                format!("{a}.filter(|&{name}| {test})")
            }
            (3, _) => {
                let from = self.some_type();
                let a = self.place(&Ty::Option(Box::new(from.clone())), d);
                let value = self.expr_with(&name, &from, some, d);
                format!("{a}.map(|{name}| {value})")
            }
            (4, _) => {
                let from = self.some_type();
                let a = self.place(&Ty::Option(Box::new(from.clone())), d);
                let value = self.expr_with(&name, &from, &ty, d);
                format!("{a}.and_then(|{name}| {value})")
            }
            (5, Ty::Scalar(s)) if s.is_int() => {
                let (a, b) = (self.expr(some, d), self.expr(some, d));
                let method = self.c.pick(&["checked_add", "checked_sub", "checked_mul"]);
                format!("({a}).{method}({b})")
            }
            (6, Ty::Scalar(s)) if s.is_int() => {
                self.weight *= 4;
                let value = self.expr_with(&name, some, some, d.min(1));
                let test = self.expr_with(&name, some, &BOOL, d.min(1));
                self.weight /= 4;
                let end = match self.c.below(5) {
                    0 => ".max()".to_owned(),
                    1 => ".min()".to_owned(),
                    2 => ".last()".to_owned(),
                    3 => format!(".find(|&{name}| {test})"),
                    _ => ".reduce(|a, b| a ^ b.rotate_left(3))".to_owned(),
                };
                format!("(0..4{}).map(|{name}| {value}){end}", s.name())
            }
            _ => format!("Some({})", self.expr(some, d)),
        }
    }

    /// A value that an `Option` comes to.
    pub(super) fn of_option(&mut self, ty: &Ty, d: u32) -> String {
        let (some, name) = (self.some_type(), self.name("o"));
        let from = Ty::Option(Box::new(some.clone()));
        let own = Ty::Option(Box::new(ty.clone()));
        match self.c.below(8) {
            0 if *ty == BOOL => {
                let a = self.place(&from, d);
                let test = self.expr_with(&name, &some, &BOOL, d);
                match self.c.below(4) {
                    0 => format!("{a}.is_some()"),
                    1 => format!("{a}.is_none()"),
                    2 => format!("{a}.is_some_and(|{name}| {test})"),
                    _ => format!("matches!({a}, Some({name}) if {test})"),
                }
            }
            1 | 2 => {
                let (a, other) = (self.place(&own, d), self.expr(ty, d));
                match self.c.chance(50) {
                    true => format!("{a}.unwrap_or({other})"),
                    false => format!("{a}.unwrap_or_else(|| {other})"),
                }
            }
            3 if self.shape.risky && self.shape.mode != Mode::Unchecked => {
                format!("{}.unwrap()", self.place(&own, d))
            }
            4 | 5 => {
                let a = self.place(&from, d);
                let (there, other) = (self.expr_with(&name, &some, ty, d), self.expr(ty, d.min(1)));
                format!("{a}.map_or({other}, |{name}| {there})")
            }
            6 => {
                let a = self.place(&from, d);
                let (there, other) = (self.expr_with(&name, &some, ty, d), self.expr(ty, d.min(1)));
                let test = self.expr_with(&name, &some, &BOOL, 1);
                format!("(match {a} {{ Some({name}) if {test} => {there}, _ => {other} }})")
            }
            _ => {
                let a = self.place(&from, d);
                let (there, other) = (self.expr_with(&name, &some, ty, d), self.expr(ty, d.min(1)));
                format!("(if let Some({name}) = {a} {{ {there} }} else {{ {other} }})")
            }
        }
    }

    /// `if let Some(x) = .. { } else { }`
    pub(super) fn if_let(&mut self) {
        let (some, name) = (self.some_type(), self.name("o"));
        let value = self.place(&Ty::Option(Box::new(some.clone())), 2);
        let head = format!("if let Some({name}) = {value} {{");
        let there = |g: &mut Self| {
            g.declare(&name, Kind::Value(some), false);
            g.block(4);
        };
        if self.c.chance(40) {
            return self.branch(&head, there);
        }
        let before = self.states(self.vars.len());
        self.open(&head);
        let some = self.arm(&before, there);
        self.between("} else {");
        let none = self.arm(&before, |g| g.block(4));
        self.close("}");
        self.merge([some, none]);
    }

    /// `let Some(x) = .. else { return .. };`, or `?`.
    pub(super) fn let_else(&mut self) {
        let (some, name) = (self.some_type(), self.name("o"));
        let value = self.place(&Ty::Option(Box::new(some.clone())), 2);
        if matches!(self.signature().ret, Some(Ty::Option(_))) && self.c.chance(60) {
            self.line(&format!("let mut {name} = {value}?;"));
        } else {
            let before = self.states(self.vars.len());
            self.open(&format!("let Some(mut {name}) = {value} else {{"));
            let _ = self.arm(&before, Gen::give_back);
            self.close("};");
            self.merge([Some(before)]);
        }
        self.declare(&name, Kind::Value(some), true);
    }

    /// `while let Some(x) = .. { }`, for some turns.
    pub(super) fn while_let(&mut self) {
        let (some, all) = (self.some_type(), self.scalar_type());
        let ty = Ty::Option(Box::new(some.clone()));
        let [next, turn, sum, item] = ["q", "k", "z", "o"].map(|p| self.name(p));
        let (first, start) = (self.expr(&ty, 1), self.expr(&all, 1));
        self.line(&format!(
            "let (mut {next}, mut {turn}): ({}, u32) = ({first}, 0);",
            self.shape.show(&ty)
        ));
        self.line(&format!(
            "let mut {sum}: {} = {start};",
            self.shape.show(&all)
        ));
        self.declare(&sum, Kind::Value(all.clone()), true);
        self.weight *= 3;
        self.open(&format!("while let Some({item}) = {next} {{"));
        self.declare(&item, Kind::Value(some), false);
        let (then, value) = (self.expr(&ty, 1), self.expr(&all, 1));
        self.vars.pop();
        self.line(&format!("{turn} += 1;"));
        self.line(&format!("{sum} = {value};"));
        self.line(&format!(
            "{next} = if {turn} < 3 {{ {then} }} else {{ None }};"
        ));
        self.close("}");
        self.weight /= 3;
    }
}
