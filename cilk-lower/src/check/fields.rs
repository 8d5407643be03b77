//! The fields that patterns of tuples and structs name.

use super::{Checker, expr::member_name, sums::Sum};
use crate::ty::{Class, Ty};
use syn::spanned::Spanned;

impl Checker<'_> {
    /// What a pattern asks of a tuple's fields.
    pub(super) fn tuple_fields<'p>(
        &mut self,
        pat: &'p syn::PatTuple,
        ty: &Ty,
    ) -> Option<Vec<(usize, &'p syn::Pat, Ty)>> {
        let all = match self.shallow(ty) {
            Ty::Tuple(types) => Some(types.len()),
            _ => None,
        };
        let fields = named_fields(&pat.elems, all);
        let types = self.tuple_types(ty, fields.len, pat.span())?;
        Some(fields.with(types))
    }

    /// What a pattern asks of the fields of a struct without names.
    pub(super) fn tuple_struct_fields<'p>(
        &mut self,
        pat: &'p syn::PatTupleStruct,
        ty: &Ty,
    ) -> Option<Vec<(usize, &'p syn::Pat, Ty)>> {
        let all = match self.shallow(ty) {
            Ty::Struct(id) => Some(self.m.structs[id].fields.len()),
            _ => None,
        };
        let fields = named_fields(&pat.elems, all);
        let types = self.struct_types(&pat.path, ty, fields.len, pat.span())?;
        Some(fields.with(types))
    }

    /// Says that a pattern names no struct and no variant.
    fn no_struct(&mut self, path: &syn::Path, ty: &Ty) {
        let name = path.segments.last().map(|s| s.ident.to_string());
        let name = name.unwrap_or_default();
        let (message, help) = match Sum::of(ty, self) {
            Some(Sum::Enum(id)) if path.segments.len() > 1 => {
                let def = &self.m.structs[id];
                let known: Vec<String> = def
                    .variants
                    .iter()
                    .map(|v| format!("`{}`", v.name))
                    .collect();
                (
                    format!("the enum `{}` has no variant `{name}`", def.name),
                    Some(format!("there are {}", known.join(", "))),
                )
            }
            _ => (format!("there is no struct `{name}` in this program"), None),
        };
        self.error(path.span(), message).help = help;
    }

    fn tuple_types(&mut self, ty: &Ty, len: usize, span: proc_macro2::Span) -> Option<Vec<Ty>> {
        match self.shallow(ty) {
            Ty::Tuple(types) if types.len() == len => Some(types),
            Ty::Var(_) => {
                let types: Vec<Ty> = (0..len).map(|_| self.table.fresh(Class::Any)).collect();
                self.same(span, ty, &Ty::Tuple(types.clone()));
                Some(types)
            }
            Ty::Error | Ty::Never => Some(vec![Ty::Error; len]),
            Ty::Ref { target, .. } => {
                let shown = self.show(ty);
                let d = self.error(span, format!("a pattern of {len} fields for `{shown}`"));
                if !matches!(*target, Ty::Tuple(_)) {
                    d.help("to get the index too, write `.iter().enumerate()`");
                }
                None
            }
            other => {
                let shown = self.show(&other);
                self.error(span, format!("a pattern of {len} fields for `{shown}`"));
                None
            }
        }
    }

    fn struct_types(
        &mut self,
        path: &syn::Path,
        ty: &Ty,
        len: usize,
        span: proc_macro2::Span,
    ) -> Option<Vec<Ty>> {
        let name = path
            .segments
            .last()
            .map(|s| s.ident.to_string())
            .unwrap_or_default();
        let Some(id) = self.struct_at(path, Some(ty)) else {
            self.no_struct(path, ty);
            return None;
        };
        self.same(span, ty, &Ty::Struct(id));
        let fields = 0..self.m.structs[id].fields.len();
        let types: Vec<Ty> = fields.map(|i| self.field_type(ty, id, i)).collect();
        if types.len() != len {
            self.error(
                span,
                format!("`{name}` has {} fields, here are {len}", types.len()),
            );
            return None;
        }
        Some(types)
    }

    pub(super) fn struct_fields<'p>(
        &mut self,
        s: &'p syn::PatStruct,
        ty: &Ty,
    ) -> Vec<(usize, &'p syn::Pat, Ty)> {
        let name = s
            .path
            .segments
            .last()
            .map(|s| s.ident.to_string())
            .unwrap_or_default();
        let Some(id) = self.struct_at(&s.path, Some(ty)) else {
            self.no_struct(&s.path, ty);
            return Vec::new();
        };
        self.same(s.span(), ty, &Ty::Struct(id));
        let def = self.m.structs[id].clone();
        let mut out = Vec::new();
        for field in &s.fields {
            let member = member_name(&field.member);
            match def.fields.iter().position(|(n, _)| *n == member) {
                Some(i) => out.push((i, &*field.pat, self.field_type(ty, id, i))),
                None => drop(self.error(
                    field.member.span(),
                    format!("the struct `{name}` has no field `{member}`"),
                )),
            }
        }
        if s.rest.is_none() && out.len() < def.fields.len() {
            self.error(s.span(), "the pattern does not name all fields")
                .help("end it with `..`");
        }
        out
    }
}

/// The fields that a pattern in parentheses names, and how many there are with those that its `..` leaves out.
pub(super) struct NamedFields<'p> {
    pub(super) len: usize,
    pub(super) named: Vec<(usize, &'p syn::Pat)>,
}

impl<'p> NamedFields<'p> {
    fn with(self, types: Vec<Ty>) -> Vec<(usize, &'p syn::Pat, Ty)> {
        let named = self.named.into_iter();
        named
            .filter_map(|(i, p)| Some((i, p, types.get(i)?.clone())))
            .collect()
    }
}

/// `(a, .., b)` names the first field and the last of `all`.
pub(super) fn named_fields<'p>(
    pats: &'p syn::punctuated::Punctuated<syn::Pat, syn::Token![,]>,
    all: Option<usize>,
) -> NamedFields<'p> {
    let is_rest = |p: &syn::Pat| matches!(p, syn::Pat::Rest(_));
    let rest = pats.iter().position(is_rest);
    let given = pats.len() - usize::from(rest.is_some());
    let len = match rest {
        Some(_) => all.unwrap_or(given).max(given),
        None => given,
    };
    let place = |(i, p): (usize, &'p syn::Pat)| match rest {
        Some(rest) if i > rest => (i + len - pats.len(), p),
        _ => (i, p),
    };
    let named = pats.iter().enumerate().filter(|(i, _)| Some(*i) != rest);
    NamedFields {
        len,
        named: named.map(place).collect(),
    }
}
