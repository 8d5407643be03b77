//! Types while they are being inferred.

use crate::generics::At;
use millstream_graph::ty::{Scalar, StructId, Structs, Type};
use std::{collections::BTreeMap, fmt::Write as _, rc::Rc};

/// A type that may hold inference variables.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Ty {
    Var(usize),
    Scalar(Scalar),
    Tuple(Vec<Ty>),
    Array(Box<Ty>, u64),
    Option(Box<Ty>),
    Result(Box<Ty>, Box<Ty>),
    Struct(StructId),
    Slice {
        mutable: bool,
        elem: Box<Ty>,
    },
    Ref {
        mutable: bool,
        target: Box<Ty>,
    },
    Mat {
        mutable: bool,
        elem: Box<Ty>,
    },
    Atomic(Scalar),
    /// `Channel<T>`: only a parameter of a kernel; a place to emit into, no value.
    Channel(Box<Ty>),
    /// What `compare_exchange` gives where nobody asks what it found: whether it succeeded.
    CasResult,
    /// The type of an expression that does not end; fits everywhere.
    Never,
    /// Something is wrong and has been said; fits everywhere.
    Error,
}

/// What is known of an unbound variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    Any,
    Int,
    Float,
}

/// The inference variables of one function.
#[derive(Debug, Default)]
pub(crate) struct Table {
    vars: Vec<Result<Ty, Class>>,
    /// Of variables that stand for a type as it is written: what is said of it there.
    marks: BTreeMap<usize, Rc<Mark>>,
    /// Integers that nothing had decided on, each with a struct that it was to be one type with.
    met: Vec<(usize, StructId)>,
}

/// What the source says of a type by naming it: a copy of a function knows what a parameter stands for, and the source only what it has.
#[derive(Debug)]
pub(crate) enum Mark {
    /// A parameter's, or a type of one: its bounds, and where they are written.
    Param(Vec<(syn::Path, At)>),
    /// What is named itself, and is no parameter's.
    Itself,
    /// A struct with parameters: what it is given as them; none for numbers.
    Struct(Vec<Option<Ty>>),
}

pub(crate) const BOOL: Ty = Ty::Scalar(Scalar::Bool);
pub(crate) const USIZE: Ty = Ty::Scalar(Scalar::Usize);
pub(crate) const U32: Ty = Ty::Scalar(Scalar::U32);

impl Ty {
    pub(crate) const fn unit() -> Self {
        Self::Tuple(Vec::new())
    }

    pub(crate) fn option(some: Self) -> Self {
        Self::Option(Box::new(some))
    }

    pub(crate) fn result(ok: Self, err: Self) -> Self {
        Self::Result(Box::new(ok), Box::new(err))
    }

    pub(crate) fn is_unit(&self) -> bool {
        matches!(self, Self::Tuple(t) if t.is_empty())
    }

    /// Whether what it borrows may be changed by way of it.
    pub(crate) fn is_mutable(&self, structs: &Structs) -> bool {
        match self {
            Self::Ref { mutable, .. } | Self::Slice { mutable, .. } | Self::Mat { mutable, .. } => {
                *mutable
            }
            Self::Tuple(fields) => fields.iter().any(|t| t.is_mutable(structs)),
            Self::Struct(_) => crate::items::is_mutable(&self.to_type(), structs),
            Self::Array(of, _) | Self::Option(of) => of.is_mutable(structs),
            Self::Result(ok, err) => ok.is_mutable(structs) || err.is_mutable(structs),
            _ => false,
        }
    }

    pub(crate) fn from_type(ty: &Type) -> Self {
        match ty {
            Type::Scalar(s) => Self::Scalar(*s),
            Type::Tuple(t) => Self::Tuple(t.iter().map(Self::from_type).collect()),
            Type::Array(e, n) => Self::Array(Box::new(Self::from_type(e)), *n),
            Type::Option(e) => Self::Option(Box::new(Self::from_type(e))),
            Type::Result(ok, err) => Self::result(Self::from_type(ok), Self::from_type(err)),
            Type::Struct(id) => Self::Struct(*id),
            Type::Slice { mutable, elem } => Self::Slice {
                mutable: *mutable,
                elem: Box::new(Self::from_type(elem)),
            },
            Type::Ref { mutable, target } => Self::Ref {
                mutable: *mutable,
                target: Box::new(Self::from_type(target)),
            },
            Type::Mat { mutable, elem } => Self::Mat {
                mutable: *mutable,
                elem: Box::new(Self::from_type(elem)),
            },
            Type::Atomic(s) => Self::Atomic(*s),
            Type::Channel(e) => Self::Channel(Box::new(Self::from_type(e))),
        }
    }

    /// The final type. Types that have no values of their own become the unit type.
    pub(crate) fn to_type(&self) -> Type {
        match self {
            Self::Scalar(s) => Type::Scalar(*s),
            Self::Tuple(t) => Type::Tuple(t.iter().map(Self::to_type).collect()),
            Self::Array(e, n) => Type::Array(Box::new(e.to_type()), *n),
            Self::Option(e) => Type::Option(Box::new(e.to_type())),
            Self::Result(ok, err) => Type::Result(Box::new(ok.to_type()), Box::new(err.to_type())),
            Self::Struct(id) => Type::Struct(*id),
            Self::Slice { mutable, elem } => Type::Slice {
                mutable: *mutable,
                elem: Box::new(elem.to_type()),
            },
            Self::Ref { mutable, target } => Type::Ref {
                mutable: *mutable,
                target: Box::new(target.to_type()),
            },
            Self::Mat { mutable, elem } => Type::Mat {
                mutable: *mutable,
                elem: Box::new(elem.to_type()),
            },
            Self::Atomic(s) => Type::Atomic(*s),
            Self::Channel(e) => Type::Channel(Box::new(e.to_type())),
            Self::CasResult => Type::Scalar(Scalar::Bool),
            Self::Var(_) | Self::Never | Self::Error => Type::unit(),
        }
    }

    /// Whether a value of it may be copied out of a place behind a reference.
    /// Whether it is an atomic, or holds or refers to some.
    pub(crate) fn holds_atomics(&self) -> bool {
        match self {
            Self::Atomic(_) => true,
            Self::Ref { target, .. } => target.holds_atomics(),
            Self::Slice { elem, .. } | Self::Mat { elem, .. } | Self::Array(elem, _) => {
                elem.holds_atomics()
            }
            _ => false,
        }
    }

    pub(crate) fn is_scalar(&self) -> bool {
        matches!(self, Self::Scalar(_))
    }

    pub(crate) fn scalar(&self) -> Option<Scalar> {
        match self {
            Self::Scalar(s) => Some(*s),
            _ => None,
        }
    }
}

impl Table {
    pub(crate) fn fresh(&mut self, class: Class) -> Ty {
        self.vars.push(Err(class));
        Ty::Var(self.vars.len() - 1)
    }

    /// A type of which the source says this.
    pub(crate) fn marked(&mut self, ty: Ty, mark: Mark) -> Ty {
        self.vars.push(Ok(ty));
        let var = self.vars.len() - 1;
        self.marks.insert(var, Rc::new(mark));
        Ty::Var(var)
    }

    /// What the source says of a type.
    pub(crate) fn mark(&self, ty: &Ty) -> Option<Rc<Mark>> {
        let mut ty = ty;
        while let Ty::Var(v) = ty {
            if let Some(mark) = self.marks.get(v) {
                return Some(Rc::clone(mark));
            }
            ty = self.vars[*v].as_ref().ok()?;
        }
        None
    }

    /// The type with its outermost variable replaced, if it is bound.
    pub(crate) fn shallow(&self, ty: &Ty) -> Ty {
        let mut ty = ty.clone();
        while let Ty::Var(v) = ty {
            match &self.vars[v] {
                Ok(bound) => ty = bound.clone(),
                Err(_) => break,
            }
        }
        ty
    }

    /// The struct that an integer was last to be one type with, if nothing has decided on it.
    pub(crate) fn met(&self, ty: &Ty) -> Option<StructId> {
        let of = self.shallow(ty);
        let mut all = self.met.iter().rev();
        all.find(|(var, _)| self.shallow(&Ty::Var(*var)) == of)
            .map(|(_, id)| *id)
    }

    /// Lets an integer be such a struct, which only what was looked at for types may be.
    pub(crate) fn be(&mut self, var: usize, id: StructId) {
        self.vars[var] = Ok(Ty::Struct(id));
    }

    pub(crate) fn class(&self, var: usize) -> Class {
        match &self.vars[var] {
            Err(class) => *class,
            Ok(_) => Class::Any,
        }
    }

    /// The type with all its bound variables replaced.
    pub(crate) fn resolve(&self, ty: &Ty) -> Ty {
        let ty = self.shallow(ty);
        let deep = |t: &Ty| Box::new(self.resolve(t));
        match &ty {
            Ty::Tuple(t) => Ty::Tuple(t.iter().map(|t| self.resolve(t)).collect()),
            Ty::Array(e, n) => Ty::Array(deep(e), *n),
            Ty::Option(e) => Ty::Option(deep(e)),
            Ty::Result(ok, err) => Ty::Result(deep(ok), deep(err)),
            Ty::Slice { mutable, elem } => Ty::Slice {
                mutable: *mutable,
                elem: deep(elem),
            },
            Ty::Ref { mutable, target } => Ty::Ref {
                mutable: *mutable,
                target: deep(target),
            },
            Ty::Mat { mutable, elem } => Ty::Mat {
                mutable: *mutable,
                elem: deep(elem),
            },
            Ty::Channel(e) => Ty::Channel(deep(e)),
            _ => ty,
        }
    }

    /// The type with integer variables as `i32` and float variables as `f64`, as rustc does at the end; none if something is
    /// still unknown.
    pub(crate) fn finish(&self, ty: &Ty) -> Option<Ty> {
        let ty = self.shallow(ty);
        let deep = |t: &Ty| self.finish(t).map(Box::new);
        Some(match &ty {
            Ty::Var(v) => match self.class(*v) {
                Class::Int => Ty::Scalar(Scalar::I32),
                Class::Float => Ty::Scalar(Scalar::F64),
                Class::Any => return None,
            },
            Ty::Tuple(t) => Ty::Tuple(t.iter().map(|t| self.finish(t)).collect::<Option<_>>()?),
            Ty::Array(e, n) => Ty::Array(deep(e)?, *n),
            Ty::Option(e) => Ty::Option(deep(e)?),
            Ty::Result(ok, err) => Ty::Result(deep(ok)?, deep(err)?),
            Ty::Slice { mutable, elem } => Ty::Slice {
                mutable: *mutable,
                elem: deep(elem)?,
            },
            Ty::Ref { mutable, target } => Ty::Ref {
                mutable: *mutable,
                target: deep(target)?,
            },
            Ty::Mat { mutable, elem } => Ty::Mat {
                mutable: *mutable,
                elem: deep(elem)?,
            },
            Ty::Channel(e) => Ty::Channel(deep(e)?),
            _ => ty,
        })
    }

    /// Makes two types one; false if they differ.
    pub(crate) fn unify(&mut self, a: &Ty, b: &Ty) -> bool {
        // What is said of a type goes with it.
        let (said_a, said_b) = (a, b);
        let (a, b) = (self.shallow(a), self.shallow(b));
        match (&a, &b) {
            (Ty::Error | Ty::Never, _) | (_, Ty::Error | Ty::Never) => true,
            (Ty::Var(x), Ty::Var(y)) if x == y => true,
            (Ty::Var(x), Ty::Var(y)) => match (self.class(*x), self.class(*y)) {
                (cx, cy) if cx == cy || cy == Class::Any => self.bind(*y, a),
                (Class::Any, _) => self.bind(*x, b),
                _ => false,
            },
            (Ty::Var(v), other) | (other, Ty::Var(v)) => {
                let said = match a {
                    Ty::Var(_) => said_b,
                    _ => said_a,
                };
                match (self.class(*v), other) {
                    (Class::Any, _) => self.bind(*v, said.clone()),
                    (Class::Int, Ty::Scalar(s)) if s.is_int() => self.bind(*v, said.clone()),
                    (Class::Float, Ty::Scalar(s)) if s.is_float() => self.bind(*v, said.clone()),
                    (Class::Int, Ty::Struct(id)) => {
                        self.met.push((*v, *id));
                        false
                    }
                    _ => false,
                }
            }
            (Ty::Tuple(x), Ty::Tuple(y)) => {
                x.len() == y.len() && x.iter().zip(y).all(|(x, y)| self.unify(x, y))
            }
            (Ty::Array(x, n), Ty::Array(y, m)) => n == m && self.unify(x, y),
            (Ty::Channel(x), Ty::Channel(y)) | (Ty::Option(x), Ty::Option(y)) => self.unify(x, y),
            (Ty::Result(x, e), Ty::Result(y, f)) => self.unify(x, y) && self.unify(e, f),
            (
                Ty::Slice {
                    mutable: m,
                    elem: x,
                },
                Ty::Slice {
                    mutable: n,
                    elem: y,
                },
            )
            | (
                Ty::Ref {
                    mutable: m,
                    target: x,
                },
                Ty::Ref {
                    mutable: n,
                    target: y,
                },
            )
            | (
                Ty::Mat {
                    mutable: m,
                    elem: x,
                },
                Ty::Mat {
                    mutable: n,
                    elem: y,
                },
            ) => m == n && self.unify(x, y),
            _ => a == b,
        }
    }

    fn bind(&mut self, var: usize, ty: Ty) -> bool {
        if self.occurs(var, &ty) {
            return false;
        }
        self.vars[var] = Ok(ty);
        true
    }

    fn occurs(&self, var: usize, ty: &Ty) -> bool {
        match self.shallow(ty) {
            Ty::Var(v) => v == var,
            Ty::Tuple(t) => t.iter().any(|t| self.occurs(var, t)),
            Ty::Result(ok, err) => self.occurs(var, &ok) || self.occurs(var, &err),
            Ty::Array(e, _)
            | Ty::Option(e)
            | Ty::Channel(e)
            | Ty::Slice { elem: e, .. }
            | Ty::Ref { target: e, .. }
            | Ty::Mat { elem: e, .. } => self.occurs(var, &e),
            _ => false,
        }
    }

    /// The type as a user would write it.
    pub(crate) fn show(&self, ty: &Ty, structs: &Structs) -> String {
        let ty = self.resolve(ty);
        let mut out = String::new();
        show(&ty, self, structs, &mut out);
        out
    }
}

fn show(ty: &Ty, table: &Table, structs: &Structs, out: &mut String) {
    let sub = |prefix: &str, inner: &Ty, suffix: &str, out: &mut String| {
        out.push_str(prefix);
        show(inner, table, structs, out);
        out.push_str(suffix);
    };
    match ty {
        Ty::Var(v) => out.push_str(match table.class(*v) {
            Class::Int => "an integer",
            Class::Float => "a float",
            Class::Any => "_",
        }),
        Ty::Tuple(fields) => {
            out.push('(');
            for (i, field) in fields.iter().enumerate() {
                sub(if i > 0 { ", " } else { "" }, field, "", out);
            }
            out.push_str(if fields.len() == 1 { ",)" } else { ")" });
        }
        Ty::Array(e, n) => sub("[", e, &format!("; {n}]"), out),
        Ty::Slice { mutable, elem } => sub(if *mutable { "&mut [" } else { "&[" }, elem, "]", out),
        Ty::Ref { mutable, target } => sub(if *mutable { "&mut " } else { "&" }, target, "", out),
        Ty::Mat { mutable, elem } => sub(if *mutable { "MatMut<" } else { "Mat<" }, elem, ">", out),
        Ty::Channel(e) => sub("Channel<", e, ">", out),
        Ty::Option(e) => sub("Option<", e, ">", out),
        Ty::Result(ok, err) => {
            sub("Result<", ok, ", ", out);
            sub("", err, ">", out);
        }
        Ty::CasResult => out.push_str("Result<_, _>"),
        Ty::Never => out.push('!'),
        Ty::Error => out.push('?'),
        Ty::Scalar(_) | Ty::Struct(_) | Ty::Atomic(_) => {
            let _ = write!(out, "{}", ty.to_type().display(structs));
        }
    }
}
