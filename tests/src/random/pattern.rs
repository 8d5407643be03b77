//! Values by patterns of slices and enums, and by closures.

use super::{
    expr::may_read,
    function::Gen,
    scope::{Kind, Var},
    types::{Ty, variants},
};
use millstream_graph::ty::Scalar;

impl Gen<'_> {
    /// A value by which variant an enum is.
    pub(super) fn of_enum(&mut self, ty: &Ty, d: u32) -> Option<String> {
        if self.shape.enums == 0 {
            return None;
        }
        let number = self.c.below(self.shape.enums as u32) as usize;
        let value = self.expr(&Ty::Enum(number), d);
        let [a, b, c] = variants(number).map(|v| format!("E{number}::{v}"));
        if let Ty::Scalar(s) = ty
            && s.is_int()
            && self.c.chance(30)
        {
            return Some(format!("({value} as {})", s.name()));
        }
        let arms: Vec<String> = (0..3).map(|_| self.expr(ty, d.min(1))).collect();
        let (first, second, third) = (&arms[0], &arms[1], &arms[2]);
        Some(match self.c.below(3) {
            0 => format!("(match {value} {{ {a} => {first}, {b} => {second}, {c} => {third} }})"),
            1 => format!("(match {value} {{ {c} | {a} => {first}, {b} => {second} }})"),
            _ => format!("(if {value} == {b} {{ {first} }} else {{ {second} }})"),
        })
    }

    /// A value by how long a slice is and what lies in it.
    pub(super) fn by_slice_pattern(&mut self, ty: &Ty, d: u32) -> Option<String> {
        let elem = |v: &Var| match &v.kind {
            Kind::Value(Ty::Array(elem, _)) if may_read(v) => Some((**elem).clone()),
            Kind::Slice { elem, .. } if may_read(v) => Some(elem.clone()),
            _ => None,
        };
        let found: Vec<(String, Ty)> = self
            .vars
            .iter()
            .filter_map(|v| Some((v.name.clone(), elem(v)?)))
            .collect();
        if found.is_empty() {
            return None;
        }
        let (slice, elem) = self.c.pick(&found);
        let [x, y, rest] = ["x", "y", "w"].map(|p| self.name(p));
        let none = self.expr(ty, d.min(1));
        // What a pattern names behind a reference is a reference.
        let item = Kind::Ref {
            mutable: false,
            target: elem.clone(),
        };
        self.declare(&x, item.clone(), false);
        let one = self.expr(ty, d);
        self.declare(&y, item, false);
        let two = self.expr(ty, d);
        self.vars.pop();
        let kind = Kind::Slice {
            mutable: false,
            elem,
        };
        self.declare(&rest, kind, false);
        let more = self.expr(ty, d);
        self.vars.pop();
        self.vars.pop();
        Some(match self.c.below(4) {
            0 => format!(
                "(match &{slice}[..] {{ [] => {none}, [{x}] => {one}, [{x}, .., {y}] => {two} }})"
            ),
            1 => format!("(match &{slice}[..] {{ [{x}, {rest} @ ..] => {more}, [] => {none} }})"),
            2 => format!("(match &{slice}[..] {{ [{rest} @ .., {x}] => {more}, _ => {none} }})"),
            _ => format!("(if let [{x}, .., {y}] = &{slice}[..] {{ {two} }} else {{ {none} }})"),
        })
    }

    /// A value by a closure with a name, which may be called twice.
    pub(super) fn by_closure(&mut self, ty: &Ty, d: u32) -> String {
        let (from, f, x) = (self.scalar_type(), self.name("f"), self.name("x"));
        self.weight *= 2;
        let body = self.expr_with(&x, &from, ty, d);
        self.weight /= 2;
        let head = format!("let {f} = |{x}: {}| {body};", self.shape.show(&from));
        let once = self.expr(&from, d.min(1));
        let test = self.expr(&Ty::Scalar(Scalar::Bool), d.min(1));
        let twice = self.expr(&from, 0);
        match self.c.chance(50) {
            true => format!("({{ {head} {f}({once}) }})"),
            false => format!("({{ {head} if {test} {{ {f}({once}) }} else {{ {f}({twice}) }} }})"),
        }
    }
}
