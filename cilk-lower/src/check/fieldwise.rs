//! Operators of the program's own types by which results gather: those that combine each part of a value with the same part of the other in a way in which
//! numbers gather.
//!
//! ```text
//! fn add_assign(&mut self, other: Tally) { self.wins += other.wins; self.best = self.best.max(other.best); }
//! ```
//!
//! They are told by how they are written, and need not be called then: `total += spawn!(f(x))` adds one part of what the child gives, and the greater of the
//! other stays, in whatever order children are done.

use super::{
    Checker,
    expr::member_name,
    macros::{Child, gathering_call},
    overloads,
    places::strip,
};
use crate::ty::Ty;
use millstream_graph::{
    ir::{Combine, Ways},
    ty::{Scalar, Type},
};
use std::collections::BTreeMap;

/// So deep lie operators in each other: one may be written by way of itself.
const DEPTH: usize = 8;

/// The way to a part of a value, by names of fields.
type Path = Vec<String>;

/// How parts are combined.
type Found = BTreeMap<Path, Combine>;

/// The two values of an operator.
struct Operands {
    ty: Ty,
    names: Names,
    depth: usize,
    found: Found,
}

/// What names stand for: a value of the operator, or a part of one, or what it was. The last of a name counts.
struct Names(Vec<(syn::Ident, Side, Path)>);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    /// The value that is there.
    This,
    /// What it is, or was: to change that changes nothing.
    Copied,
    Other,
}

impl Names {
    /// Takes the names of a pattern for a part of a value.
    fn bind(&mut self, pat: &syn::Pat, side: Side, path: &Path) -> Option<()> {
        let part = |name: String| path.iter().cloned().chain([name]).collect::<Path>();
        match pat {
            syn::Pat::Ident(p) if p.subpat.is_none() && p.by_ref.is_none() => {
                self.0.push((p.ident.clone(), side, path.clone()));
                Some(())
            }
            syn::Pat::Wild(_) => Some(()),
            syn::Pat::Type(t) => self.bind(&t.pat, side, path),
            syn::Pat::Struct(s) => (s.fields.iter())
                .try_for_each(|f| self.bind(&f.pat, side, &part(member_name(&f.member)))),
            syn::Pat::TupleStruct(syn::PatTupleStruct { elems, .. })
            | syn::Pat::Tuple(syn::PatTuple { elems, .. }) => (elems.iter().enumerate())
                .try_for_each(|(i, p)| self.bind(p, side, &part(i.to_string()))),
            _ => None,
        }
    }

    /// The value and the way to a part of it that an expression names.
    fn part(&self, e: &syn::Expr) -> Option<(Side, Path)> {
        match strip(e) {
            syn::Expr::Path(p) => {
                let name = p.path.get_ident()?;
                let (_, side, path) = self.0.iter().rfind(|(known, ..)| known == name)?;
                Some((*side, path.clone()))
            }
            syn::Expr::Unary(u) if matches!(u.op, syn::UnOp::Deref(_)) => self.part(&u.expr),
            syn::Expr::Field(f) => {
                let (side, mut path) = self.part(&f.base)?;
                path.push(member_name(&f.member));
                Some((side, path))
            }
            _ => None,
        }
    }

    /// The way to a part of the value that is there.
    fn own(&self, e: &syn::Expr) -> Option<Path> {
        let (side, path) = self.part(e)?;
        (side == Side::This).then_some(path)
    }
}

impl Checker<'_> {
    /// How a child's results gather that are no numbers, by an operator's method: says so if they do not.
    pub(super) fn gathering_ways(&mut self, method: Option<&str>, child: &Child) -> Option<Ways> {
        let ty = &child.ret;
        let ways = method.and_then(|method| self.ways_of(method, ty));
        if ways.is_none() {
            let shown = self.show(ty);
            let own = method.and_then(|method| self.operator(method, &[ty, ty], &[]));
            let (message, help) = match own {
                Some(_) => (
                    format!(
                        "results of type `{shown}` cannot be gathered by this operator: it does not combine them field by field"
                    ),
                    "let it combine each field, of 16 numbers at most, with the same field of the other, by `+`, `|`, `&`, `^`, `.min(..)` or `.max(..)`, and do nothing else; or store results to an array, and combine them after the `sync!()`",
                ),
                None => (
                    format!("results of type `{shown}` cannot be gathered"),
                    "gather numbers, or structs whose operator combines them field by field: `impl AddAssign`; or spawn a task for each field, or store to an array",
                ),
            };
            self.error(child.span, message).help(help);
        }
        ways
    }

    /// How each scalar of such a value is combined by an operator's method, if each is with the same one of the other.
    fn ways_of(&mut self, method: &str, ty: &Ty) -> Option<Ways> {
        let found = self.fieldwise(method, ty, 0)?;
        let mut scalars = Vec::new();
        self.scalars(ty, &mut Vec::new(), &mut scalars)?;
        let ways = scalars.iter().map(|(path, scalar)| {
            let way = found.get(path)?;
            way.op()?.accepts(*scalar).then_some(*way)
        });
        Ways::new(&ways.collect::<Option<Vec<_>>>()?)
    }

    /// The scalars that a value consists of, in the order of its pieces; none if it has others.
    fn scalars(&self, ty: &Ty, path: &mut Path, out: &mut Vec<(Path, Scalar)>) -> Option<()> {
        let parts: Vec<(String, Ty)> = match self.shallow(ty) {
            Ty::Scalar(scalar) => {
                out.push((path.clone(), scalar));
                return Some(());
            }
            Ty::Struct(id) if !self.m.structs[id].is_enum() => {
                let fields = self.m.structs[id].fields.iter();
                let parts = fields.map(|(name, ty)| (name.clone(), Ty::from_type(ty)));
                parts.collect()
            }
            Ty::Tuple(types) => {
                let parts = types.into_iter().enumerate();
                parts.map(|(i, ty)| (i.to_string(), ty)).collect()
            }
            _ => return None,
        };
        for (name, ty) in parts {
            path.push(name);
            self.scalars(&ty, path, out)?;
            path.pop();
        }
        Some(())
    }

    /// What an operator's method combines, if that is all it does.
    fn fieldwise(&mut self, method: &str, ty: &Ty, depth: usize) -> Option<Found> {
        let assigns = method.ends_with("_assign");
        let id = self.operator(method, &[ty, ty], &[assigns, false])?;
        let item = self.m.fns[id.0].clone();
        let [(this, of), (other, Type::Struct(_))] = &item.params[..] else {
            return None;
        };
        if matches!(of, Type::Ref { .. }) != assigns || depth == DEPTH {
            return None;
        }
        let mut names = Names(Vec::new());
        names.bind(this, Side::This, &Path::new())?;
        names.bind(other, Side::Other, &Path::new())?;
        let mut stmts = item.block.stmts.as_slice();
        // `let Tally { wins, best } = other;`
        while let Some((syn::Stmt::Local(local), rest)) = stmts.split_first() {
            let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
            let (side, path) = names.part(&init.expr)?;
            // Of `self` that is a reference names are references.
            let is_lent = assigns && matches!(&*init.expr, syn::Expr::Path(_)) && path.is_empty();
            let side = match side {
                Side::This if !is_lent => Side::Copied,
                side => side,
            };
            names.bind(&local.pat, side, &path)?;
            stmts = rest;
        }
        let mut of = Operands {
            ty: ty.clone(),
            names,
            depth,
            found: Found::new(),
        };
        if !assigns {
            let (syn::Stmt::Expr(value, None), before) = stmts.split_last()? else {
                return None;
            };
            // `self += other; self`
            if of.names.own(value).is_none_or(|path| !path.is_empty()) {
                self.value(&mut of, Path::new(), value)?;
                return before.is_empty().then_some(of.found);
            }
            stmts = before;
        }
        for stmt in stmts {
            let syn::Stmt::Expr(change, _) = stmt else {
                return None;
            };
            self.change(&mut of, change)?;
        }
        Some(of.found)
    }

    /// `self.n += other.n` or `self.n = self.n.max(other.n)`.
    fn change(&mut self, of: &mut Operands, e: &syn::Expr) -> Option<()> {
        match e {
            syn::Expr::Binary(b) => {
                let way = match b.op {
                    syn::BinOp::AddAssign(_) => Combine::Add,
                    syn::BinOp::BitOrAssign(_) => Combine::Or,
                    syn::BinOp::BitAndAssign(_) => Combine::And,
                    syn::BinOp::BitXorAssign(_) => Combine::Xor,
                    _ => return None,
                };
                let path = of.names.own(&b.left)?;
                let is_same = of.names.part(&b.right)? == (Side::Other, path.clone());
                is_same.then(|| self.combined(of, path, way, true))?
            }
            syn::Expr::Assign(a) => {
                let path = of.names.own(&a.left)?;
                self.value(of, path, &a.right)
            }
            _ => None,
        }
    }

    /// What the part there becomes: `self.n + other.n`, or a struct or tuple of such.
    fn value(&mut self, of: &mut Operands, path: Path, e: &syn::Expr) -> Option<()> {
        let numbered = |(i, e): (usize, _)| (i.to_string(), e);
        let parts: Vec<(String, &syn::Expr)> = match strip(e) {
            syn::Expr::Struct(s) if s.rest.is_none() => {
                let fields = s.fields.iter();
                fields.map(|f| (member_name(&f.member), &f.expr)).collect()
            }
            syn::Expr::Tuple(t) => t.elems.iter().enumerate().map(numbered).collect(),
            syn::Expr::Call(c) if is_constructor(&c.func) => {
                c.args.iter().enumerate().map(numbered).collect()
            }
            _ => Vec::new(),
        };
        if !parts.is_empty() {
            return parts.into_iter().try_for_each(|(name, value)| {
                let path = path.iter().cloned().chain([name]).collect();
                self.value(of, path, value)
            });
        }
        let own = |name: &str| self.m.named(name).is_some();
        let (a, way, b) = gathering_call(strip(e), own).or_else(|| lazy(strip(e)))?;
        let ((one, at), (two, to)) = (of.names.part(a)?, of.names.part(b)?);
        let is_same = (one == Side::Other) != (two == Side::Other) && at == path && to == path;
        is_same.then(|| self.combined(of, path, way, false))?
    }

    /// Notes that a part is combined: a scalar, or a value whose type has an operator of its own.
    fn combined(
        &mut self,
        of: &mut Operands,
        path: Path,
        way: Combine,
        assigns: bool,
    ) -> Option<()> {
        let ty = self.part_at(&of.ty, &path)?;
        let parts = match ty {
            Ty::Scalar(_) => [(Path::new(), way)].into(),
            ty => {
                let method = overloads::method(way.op()?)?;
                let method = format!("{method}{}", if assigns { "_assign" } else { "" });
                self.fieldwise(&method, &ty, of.depth + 1)?
            }
        };
        for (part, way) in parts {
            let path = path.iter().cloned().chain(part).collect();
            // Once each.
            if of.found.insert(path, way).is_some() {
                return None;
            }
        }
        Some(())
    }

    fn part_at(&self, ty: &Ty, path: &[String]) -> Option<Ty> {
        let ty = self.shallow(ty);
        let Some((name, rest)) = path.split_first() else {
            return Some(ty);
        };
        let part = match ty {
            Ty::Struct(id) => {
                let mut fields = self.m.structs[id].fields.iter();
                let (_, ty) = fields.find(|(known, _)| known == name)?;
                Ty::from_type(ty)
            }
            Ty::Tuple(types) => types.get(name.parse::<usize>().ok()?)?.clone(),
            _ => return None,
        };
        self.part_at(&part, rest)
    }
}

/// Whether a struct's fields are given so: functions have small letters.
pub(super) fn is_constructor(e: &syn::Expr) -> bool {
    let syn::Expr::Path(p) = e else { return false };
    let last = p.path.segments.last().map(|s| s.ident.to_string());
    last.is_some_and(|name| name.starts_with(char::is_uppercase))
}

/// `a || b` of two names, of which neither does anything.
fn lazy(e: &syn::Expr) -> Option<(&syn::Expr, Combine, &syn::Expr)> {
    let syn::Expr::Binary(b) = e else { return None };
    let way = match b.op {
        syn::BinOp::Or(_) => Combine::Or,
        syn::BinOp::And(_) => Combine::And,
        _ => return None,
    };
    Some((&b.left, way, &b.right))
}
