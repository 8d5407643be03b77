//! Children's results that a `let` takes: one by a name, or by names of its parts; and other ways, which become that.

use super::{
    Binding, Checker,
    answers::may_spawn,
    macros::{CONVERT, is, spawn_macro},
};
use crate::{
    hir::{Expr, ExprKind, Pat, Stmt},
    ty::Ty,
};
use millstream_graph::ir::Combine;
use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;

impl Checker<'_> {
    /// `let pattern: ty = spawn!(..)`: the names stand for the memory that the child writes to.
    pub(super) fn let_spawn(
        &mut self,
        pat: &syn::Pat,
        ty: Option<Ty>,
        value: &syn::Expr,
        stmts: &mut Vec<Stmt>,
    ) {
        let want = ty.as_ref().filter(|_| spawn_macro(value).is_none());
        let Some(child) = self.child_in(value, want, stmts) else {
            // Bind the names all the same, so that their uses are not errors of their own.
            self.pattern(pat, &Ty::Error);
            return;
        };
        let (span, ret) = (child.span, child.ret.clone());
        if let Some(ty) = ty
            && !self.table.unify(&ret, &ty)
        {
            let (have, want) = (self.show(&ret), self.show(&ty));
            self.error(span, format!("expected `{want}`, found `{have}`"))
                .help(CONVERT);
            self.bind_broken(pat);
            return;
        }
        let name = match pat {
            syn::Pat::Ident(p) => p.ident.to_string(),
            _ => "result".to_owned(),
        };
        let var = self.add_var(&name, ret.clone());
        let place = Expr::new(ExprKind::Var(var), ret.clone(), span);
        match pat {
            syn::Pat::Ident(p) => {
                self.fix(var, p);
                self.bind(&name, Binding::Var(var));
            }
            syn::Pat::Wild(_) => {
                stmts.push(Stmt::Expr(child.with(None)));
                return;
            }
            _ => self.name_parts(pat, place.clone()),
        }
        // `()` is known at once.
        let known = ret
            .is_unit()
            .then(|| Expr::new(ExprKind::Tuple(Vec::new()), ret, span));
        stmts.push(Stmt::Let(Pat::Var(var), known));
        stmts.push(Stmt::Expr(child.with(Some((place, Combine::Store)))));
    }

    /// Binds the names of a pattern to parts of a place.
    fn name_parts(&mut self, pat: &syn::Pat, place: Expr) {
        let ty = place.ty.clone();
        let is_struct = matches!(self.shallow(&ty), Ty::Struct(_));
        match pat {
            syn::Pat::Wild(_) => {}
            syn::Pat::Paren(p) => self.name_parts(&p.pat, place),
            syn::Pat::Ident(p) => self.bind(&p.ident.to_string(), Binding::Place(place)),
            syn::Pat::Tuple(t) => {
                let fields = self.tuple_fields(t, &ty);
                self.name_fields(pat, fields, &place);
            }
            syn::Pat::TupleStruct(s) if is_struct => {
                let fields = self.tuple_struct_fields(s, &ty);
                self.name_fields(pat, fields, &place);
            }
            syn::Pat::Struct(s) if is_struct => {
                let fields = self.struct_fields(s, &ty);
                self.name_fields(pat, Some(fields), &place);
            }
            other => {
                self.bind_as_broken(other);
                self.error(
                    other.span(),
                    "a child's result is bound to a name, or to names by a tuple or a struct",
                )
                .help("take it apart after the `sync!()`");
            }
        }
    }

    fn name_fields(
        &mut self,
        pat: &syn::Pat,
        fields: Option<Vec<(usize, &syn::Pat, Ty)>>,
        place: &Expr,
    ) {
        let Some(fields) = fields else {
            return self.bind_as_broken(pat);
        };
        for (i, p, ty) in fields {
            let field = ExprKind::Field(place.clone(), i);
            self.name_parts(p, Expr::new(field, ty, place.span));
        }
    }

    /// `let (a, b) = (spawn!(..), spawn!(..));` is a `let` each, and `let a = if c { spawn!(..) } else { .. };`, or a `match`, one whose value each way gives; unless
    /// a name that is bound means something else in what follows.
    pub(super) fn let_spawns(
        &mut self,
        local: &syn::Local,
        init: &syn::Expr,
        stmts: &mut Vec<Stmt>,
    ) -> bool {
        let span = local.span();
        let (own, ty) = match &local.pat {
            syn::Pat::Type(t) => (&*t.pat, Some(&*t.ty)),
            pat => (pat, None),
        };
        match (own, init) {
            (syn::Pat::Tuple(pats), syn::Expr::Tuple(values)) => {
                let each = || pats.elems.iter().zip(&values.elems);
                let types: Vec<Option<&syn::Type>> = match ty {
                    None => vec![None; values.elems.len()],
                    Some(syn::Type::Tuple(t)) if t.elems.len() == values.elems.len() => {
                        t.elems.iter().map(Some).collect()
                    }
                    Some(_) => return false,
                };
                let hides = |i: usize, pat: &syn::Pat| {
                    let names = self.names(pat);
                    let later = values.elems.iter().skip(i + 1);
                    later
                        .map(ToTokens::to_token_stream)
                        .any(|v| names.iter().any(|n| names_it(v.clone(), &n.ident)))
                };
                if pats.elems.len() != values.elems.len()
                    || !each().any(|(_, value)| may_be_spawn(value))
                    || each().enumerate().any(|(i, (pat, _))| hides(i, pat))
                {
                    return false;
                }
                for ((pat, value), ty) in each().zip(types) {
                    let ty = ty.map(|ty| quote::quote!(: #ty));
                    let one = syn::parse_quote_spanned!(span=> let #pat #ty = #value;);
                    if let syn::Stmt::Local(one) = one {
                        self.local(&one, stmts);
                    }
                }
                true
            }
            (syn::Pat::Ident(p), syn::Expr::If(_) | syn::Expr::Match(_)) if may_be_spawn(init) => {
                if p.subpat.is_some()
                    || p.by_ref.is_some()
                    || names_it(init.to_token_stream(), &p.ident)
                {
                    return false;
                }
                let ty = ty.map(|ty| quote::quote!(: #ty));
                let declared = syn::parse_quote_spanned!(span=> let #p #ty;);
                if let syn::Stmt::Local(declared) = declared {
                    self.local(&declared, stmts);
                }
                let name = &p.ident;
                let to =
                    |value: &dyn ToTokens, span| syn::parse_quote_spanned!(span=> #name = #value);
                let given = self.expr(&given(&to, init), None);
                stmts.push(Stmt::Expr(given));
                true
            }
            _ => false,
        }
    }
}

/// Whether a value is a child's result, or is in one of the ways through a condition.
fn may_be_spawn(e: &syn::Expr) -> bool {
    let ends = |block: &syn::Block| match block.stmts.last() {
        Some(syn::Stmt::Expr(e, None)) => may_be_spawn(e),
        Some(syn::Stmt::Macro(m)) => m.semi_token.is_none() && is(&m.mac, "spawn"),
        _ => false,
    };
    match e {
        syn::Expr::If(i) => {
            let other = i.else_branch.as_ref();
            ends(&i.then_branch) || other.is_some_and(|(_, e)| may_be_spawn(e))
        }
        syn::Expr::Match(m) => m.arms.iter().any(|arm| may_be_spawn(&arm.body)),
        syn::Expr::Block(b) if b.label.is_none() => ends(&b.block),
        e => may_spawn(e),
    }
}

/// `place = if c { spawn!(..) } else { .. }` and its kin, with `+=` for one: the condition, whose ways each give the place what they end with; none if a name in
/// the place means something else there.
pub(super) fn given_by_ways(
    place: &syn::Expr,
    value: &syn::Expr,
    to: &dyn Fn(&dyn ToTokens, Span) -> syn::Expr,
) -> Option<syn::Expr> {
    use syn::visit::Visit;
    let has_ways = matches!(
        value,
        syn::Expr::If(_) | syn::Expr::Match(_) | syn::Expr::Block(_)
    );
    if !has_ways || !may_be_spawn(value) {
        return None;
    }
    let mut bound = Bound(Vec::new());
    bound.visit_expr(value);
    let is_hidden = (bound.0.iter()).any(|name| names_it(place.to_token_stream(), name));
    (!is_hidden).then(|| given(to, value))
}

/// The names that patterns bind.
struct Bound(Vec<syn::Ident>);

impl syn::visit::Visit<'_> for Bound {
    fn visit_pat_ident(&mut self, p: &syn::PatIdent) {
        self.0.push(p.ident.clone());
        syn::visit::visit_pat_ident(self, p);
    }
}

/// The condition, whose ways each give what they end with to a place; those that leave end so.
fn given(to: &dyn Fn(&dyn ToTokens, Span) -> syn::Expr, e: &syn::Expr) -> syn::Expr {
    let block = |block: &syn::Block| {
        let mut block = block.clone();
        let value = match block.stmts.pop() {
            Some(syn::Stmt::Expr(e, None)) => given(to, &e),
            Some(syn::Stmt::Macro(m)) if m.semi_token.is_none() => {
                to(&m.mac, m.mac.path.segments[0].ident.span())
            }
            other => {
                let leaves = other.as_ref().is_some_and(leaves);
                block.stmts.extend(other);
                if leaves {
                    return block;
                }
                {
                    let span = block.span();
                    to(&quote::quote_spanned!(span=> ()), span)
                }
            }
        };
        block
            .stmts
            .push(syn::Stmt::Expr(value, Some(syn::token::Semi::default())));
        block
    };
    match e {
        syn::Expr::If(i) => {
            let mut i = i.clone();
            i.then_branch = block(&i.then_branch);
            match &mut i.else_branch {
                Some((_, other)) => **other = given(to, other),
                // As in Rust, where it is the type that is wrong.
                none => {
                    let span = i.if_token.span;
                    let other = to(&quote::quote_spanned!(span=> ()), span);
                    *none = Some((Default::default(), syn::parse_quote!({ #other; })));
                }
            }
            syn::Expr::If(i)
        }
        syn::Expr::Match(m) => {
            let mut m = m.clone();
            for arm in &mut m.arms {
                *arm.body = given(to, &arm.body);
            }
            syn::Expr::Match(m)
        }
        syn::Expr::Block(b) => syn::Expr::Block(syn::ExprBlock {
            block: block(&b.block),
            ..b.clone()
        }),
        syn::Expr::Return(_) | syn::Expr::Continue(_) | syn::Expr::Break(_) => e.clone(),
        e => to(e, e.span()),
    }
}

/// Whether a statement that is the last of its block leaves it some other way than by a value.
fn leaves(stmt: &syn::Stmt) -> bool {
    match stmt {
        syn::Stmt::Expr(e, _) => matches!(
            e,
            syn::Expr::Return(_)
                | syn::Expr::Continue(_)
                | syn::Expr::Break(_)
                | syn::Expr::Loop(_)
                | syn::Expr::Macro(_)
                | syn::Expr::Block(_)
                | syn::Expr::If(_)
                | syn::Expr::Match(_)
        ),
        // `panic!` and its kin; others are nothing that a place is given.
        syn::Stmt::Macro(m) => !is(&m.mac, "spawn") && !is(&m.mac, "sync"),
        _ => false,
    }
}

/// Whether a name stands somewhere in the tokens.
fn names_it(tokens: proc_macro2::TokenStream, name: &syn::Ident) -> bool {
    tokens.into_iter().any(|t| match t {
        proc_macro2::TokenTree::Ident(i) => i == *name,
        proc_macro2::TokenTree::Group(g) => names_it(g.stream(), name),
        _ => false,
    })
}
