//! The types, functions and literals of generated programs.

use super::choices::Choices;
use millstream_graph::{ir::Ways, ty::Scalar};
use std::fmt::Write as _;

/// A type of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Ty {
    Scalar(Scalar),
    Tuple(Vec<Ty>),
    Array(Box<Ty>, u32),
    Struct(usize),
    /// By its number.
    Enum(usize),
    Option(Box<Ty>),
}

/// How many variants an enum has.
pub(super) const VARIANTS: usize = 3;

/// The variants of an enum, without its name: no other enum has these.
pub(super) fn variants(number: usize) -> [String; VARIANTS] {
    ["A", "B", "C"].map(|v| format!("{v}{number}"))
}

/// A parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Param {
    Value(Ty),
    Slice {
        mutable: bool,
        elem: Ty,
    },
    Ref {
        mutable: bool,
        target: Ty,
    },
    /// `&[AtomicU32]` and its kin.
    Atomics(Scalar),
    /// `&AtomicU64` and its kin.
    Atomic(Scalar),
}

/// A struct: its fields, named or not.
#[derive(Clone, Debug)]
pub(super) struct Struct {
    pub(super) name: String,
    pub(super) fields: Vec<(String, Ty)>,
    pub(super) tuple: bool,
}

/// A function's signature. The first parameter, not in the list, is `n: u32`, which every recursion lowers.
#[derive(Clone, Debug)]
pub(super) struct Func {
    pub(super) name: String,
    pub(super) task: bool,
    pub(super) params: Vec<(String, Param)>,
    pub(super) ret: Option<Ty>,
}

impl Func {
    /// Whether it can be called inside an expression: it takes nothing that must be borrowed from a variable.
    pub(super) fn pure(&self) -> bool {
        self.params
            .iter()
            .all(|(_, p)| matches!(p, Param::Value(_)))
    }
}

/// What overflow and bounds mean in the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Arithmetic wraps, bounds are checked.
    Normal,
    /// Overflow ends the run.
    Checked,
    /// Nothing is checked.
    Unchecked,
}

pub(super) const INTS: [Scalar; 10] = [
    Scalar::U32,
    Scalar::I64,
    Scalar::U64,
    Scalar::I32,
    Scalar::U8,
    Scalar::I8,
    Scalar::U16,
    Scalar::I16,
    Scalar::Usize,
    Scalar::Isize,
];

/// What the functions of a program share.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) mode: Mode,
    /// Whether checks may fail.
    pub(super) risky: bool,
    pub(super) structs: Vec<Struct>,
    pub(super) enums: usize,
    /// Constants: name, type, value.
    pub(super) consts: Vec<(String, Ty, String)>,
    pub(super) fns: Vec<Func>,
    /// Types that most values have, so that they can be used for one another.
    pub(super) palette: Vec<Ty>,
    /// The parameters that every task has: atomics, with the one operation on each kind that makes the order of tasks indifferent.
    pub(super) atomics: Vec<(String, Param, &'static str)>,
    /// Spawns that one activation of a task makes at most.
    pub(super) fan: u32,
    /// Greatest `n` of the first call.
    pub(super) depth: u32,
}

impl Shape {
    pub(super) fn show(&self, ty: &Ty) -> String {
        match ty {
            Ty::Scalar(s) => s.name().to_owned(),
            Ty::Tuple(fields) => {
                let fields: Vec<String> = fields.iter().map(|t| self.show(t)).collect();
                format!(
                    "({}{})",
                    fields.join(", "),
                    if fields.len() == 1 { "," } else { "" }
                )
            }
            Ty::Array(elem, len) => format!("[{}; {len}]", self.show(elem)),
            Ty::Struct(i) => self.structs[*i].name.clone(),
            Ty::Enum(i) => format!("E{i}"),
            Ty::Option(some) => format!("Option<{}>", self.show(some)),
        }
    }

    /// Whether it may lie in a caller's memory: no `Option` is in it.
    pub(super) fn may_be_lent(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Scalar(_) | Ty::Enum(_) => true,
            Ty::Option(_) => false,
            Ty::Array(elem, _) => self.may_be_lent(elem),
            Ty::Tuple(_) | Ty::Struct(_) => {
                self.fields(ty).iter().all(|(_, t)| self.may_be_lent(t))
            }
        }
    }

    pub(super) fn show_param(&self, param: &Param) -> String {
        let m = |mutable: &bool| if *mutable { "mut " } else { "" };
        match param {
            Param::Value(ty) => self.show(ty),
            Param::Slice { mutable, elem } => format!("&{}[{}]", m(mutable), self.show(elem)),
            Param::Ref { mutable, target } => format!("&{}{}", m(mutable), self.show(target)),
            Param::Atomics(s) => format!("&[{}]", atomic(*s)),
            Param::Atomic(s) => format!("&{}", atomic(*s)),
        }
    }

    /// The fields of a struct or tuple: how they are named behind the dot, and their types.
    pub(super) fn fields(&self, ty: &Ty) -> Vec<(String, Ty)> {
        match ty {
            Ty::Tuple(fields) => fields
                .iter()
                .enumerate()
                .map(|(i, t)| (i.to_string(), t.clone()))
                .collect(),
            Ty::Struct(i) => self.structs[*i].fields.clone(),
            _ => Vec::new(),
        }
    }

    /// The operation on atomics of that type.
    pub(super) fn atomic_op(&self, scalar: Scalar) -> &'static str {
        let of = |p: &Param| matches!(p, Param::Atomics(s) | Param::Atomic(s) if *s == scalar);
        self.atomics
            .iter()
            .find(|(_, p, _)| of(p))
            .map_or("fetch_add", |a| a.2)
    }

    /// How many scalars are combined where results of a type gather; none if they do not, or if the order might show.
    fn gathered(&self, ty: &Ty) -> Option<usize> {
        match ty {
            Ty::Scalar(s) => (!s.is_float()).then_some(1),
            Ty::Struct(_) => (self.fields(ty).iter())
                .map(|(_, t)| self.gathered(t))
                .sum(),
            _ => None,
        }
    }

    /// Whether results of a type gather whatever the order, those of a struct by its `|=`.
    pub(super) fn gathers(&self, ty: &Ty) -> bool {
        self.gathered(ty).is_some_and(|n| n <= Ways::MOST)
    }

    /// `|=` and `|` of a struct whose results gather, in another way for each field.
    fn gathering(&self, number: usize) -> String {
        if !self.gathers(&Ty::Struct(number)) {
            return String::new();
        }
        let s = &self.structs[number];
        let fields = s.fields.iter().enumerate().map(|(i, (f, ty))| {
            let ways = match ty {
                Ty::Scalar(Scalar::Bool) => {
                    ["|= other", "= self.#f || other", "&= other", "^= other"]
                }
                Ty::Scalar(_) => [
                    "= self.#f.wrapping_add(other.#f)",
                    "= other.#f.max(self.#f)",
                    "= self.#f.min(other.#f)",
                    "^= other",
                ],
                _ => ["|= other"; 4],
            };
            let way = ways[(i + number) % 4].replace("#f", f);
            match way.ends_with("other") {
                true => format!("self.{f} {way}.{f};"),
                false => format!("self.{f} {way};"),
            }
        });
        let fields = fields.collect::<Vec<_>>().join(" ");
        let name = &s.name;
        format!(
            "    impl BitOrAssign for {name} {{ fn bitor_assign(&mut self, other: Self) {{ {fields} }} }}
    impl BitOr for {name} {{ type Output = Self; fn bitor(mut self, other: Self) -> Self {{ self |= other; self }} }}
"
        )
    }

    /// A struct's own operators: `+`, `!` and `^=`, field by field.
    fn operators(&self, s: &Struct) -> String {
        let all = |of: &dyn Fn(&str, &Ty) -> String| {
            let fields = s.fields.iter().map(|(f, t)| format!("{f}: {}", of(f, t)));
            format!("Self {{ {} }}", fields.collect::<Vec<_>>().join(", "))
        };
        let sum = all(&|f, t| match t {
            Ty::Scalar(Scalar::Bool) => format!("self.{f} ^ other.{f}"),
            Ty::Scalar(s) if s.is_float() => format!("self.{f} + other.{f}"),
            Ty::Scalar(_) => format!("self.{f}.wrapping_add(other.{f})"),
            Ty::Option(_) => format!("self.{f}.or(other.{f})"),
            _ => format!("other.{f}"),
        });
        let not = all(&|f, t| match t {
            Ty::Scalar(s) if s.is_float() => format!("-self.{f}"),
            Ty::Scalar(_) => format!("!self.{f}"),
            _ => format!("self.{f}"),
        });
        let name = &s.name;
        format!(
            "    impl Add for {name} {{ type Output = Self; fn add(self, other: Self) -> Self {{ {sum} }} }}
    impl Not for {name} {{ type Output = Self; fn not(self) -> Self {{ {not} }} }}
    impl BitXorAssign for {name} {{ fn bitxor_assign(&mut self, other: Self) {{ *self = !*self + other; }} }}
"
        )
    }

    /// The items before the functions.
    pub(super) fn items(&self) -> String {
        let mut out = String::from(
            "    use std::ops::{Add, BitOr, BitOrAssign, BitXorAssign, Not};\n    use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};\n\n",
        );
        for (number, s) in self.structs.iter().enumerate() {
            let field = |(name, ty): &(String, Ty)| match s.tuple {
                true => format!("pub {}", self.show(ty)),
                false => format!("pub {name}: {}", self.show(ty)),
            };
            let fields = s.fields.iter().map(field).collect::<Vec<_>>().join(", ");
            let body = if s.tuple {
                format!("({fields});")
            } else {
                format!(" {{ {fields} }}")
            };
            let _ = writeln!(
                out,
                "    #[derive(Clone, Copy, PartialEq, Debug)]\n    pub struct {}{body}",
                s.name
            );
            out += &self.operators(s);
            out += &self.gathering(number);
        }
        for i in 0..self.enums {
            let _ = writeln!(
                out,
                "    #[derive(Clone, Copy, PartialEq, Debug)]\n    pub enum E{i} {{ {} }}",
                variants(i).join(", ")
            );
        }
        for (name, ty, value) in &self.consts {
            let _ = writeln!(out, "    const {name}: {} = {value};", self.show(ty));
        }
        out
    }
}

/// The atomic type of a scalar.
pub(super) fn atomic(s: Scalar) -> &'static str {
    match s {
        Scalar::U32 => "AtomicU32",
        Scalar::I64 => "AtomicI64",
        _ => "AtomicU64",
    }
}

/// A value of a scalar type, as a literal of that type. `typed`: with the type's name behind it.
pub(super) fn scalar(c: &mut Choices, s: Scalar, typed: bool) -> String {
    let suffix = if typed { s.name() } else { "" };
    match s {
        Scalar::Bool => c.pick(&["false", "true"]).to_owned(),
        Scalar::F32 | Scalar::F64 => {
            c.pick(&[
                "0.0", "1.0", "0.5", "2.0", "3.25", "100.0", "7.0", "1e-3", "300.5", "1e10",
            ])
            .to_owned()
                + suffix
        }
        _ => match c.below(8) {
            0..=4 => format!("{}{suffix}", c.below(10)),
            5 if s.is_signed() && typed => format!("(-{}{suffix})", 1 + c.below(9)),
            6 if typed => format!("{}::{}", s.name(), c.pick(&["MAX", "MIN"])),
            7 => format!("{}{suffix}", c.below(1 << (s.bits() - 1).min(30))),
            _ => format!("{}{suffix}", 10 + c.below(90)),
        },
    }
}

/// A value of a type as `Debug` text, for a root call.
pub(super) fn debug_value(c: &mut Choices, ty: &Ty, shape: &Shape) -> String {
    match ty {
        Ty::Scalar(s) if s.is_float() => {
            c.pick(&["0.0", "1.0", "-2.5", "0.125", "10.0"]).to_owned()
        }
        Ty::Scalar(Scalar::Bool) => c.pick(&["false", "true"]).to_owned(),
        Ty::Scalar(s) => match (c.below(5), s.is_signed()) {
            (4, true) => format!("-{}", c.below(100)),
            (3, _) => c.below(1 << (s.bits() - 1).min(30)).to_string(),
            _ => c.below(20).to_string(),
        },
        Ty::Tuple(fields) => {
            let values: Vec<String> = fields.iter().map(|t| debug_value(c, t, shape)).collect();
            format!(
                "({}{})",
                values.join(", "),
                if values.len() == 1 { "," } else { "" }
            )
        }
        Ty::Array(elem, len) => format!(
            "[{}]",
            (0..*len)
                .map(|_| debug_value(c, elem, shape))
                .collect::<Vec<_>>()
                .join(", ")
        ),
        Ty::Enum(i) => c.pick(&variants(*i)),
        Ty::Option(_) if c.chance(40) => "None".to_owned(),
        Ty::Option(some) => format!("Some({})", debug_value(c, some, shape)),
        Ty::Struct(i) => {
            let s = shape.structs[*i].clone();
            let values: Vec<String> = s
                .fields
                .iter()
                .map(|(_, t)| debug_value(c, t, shape))
                .collect();
            if s.tuple {
                return format!("{}({})", s.name, values.join(", "));
            }
            let named: Vec<String> = s
                .fields
                .iter()
                .zip(values)
                .map(|((n, _), v)| format!("{n}: {v}"))
                .collect();
            format!("{} {{ {} }}", s.name, named.join(", "))
        }
    }
}
