//! Children's results that a `let` takes: one by a name, or by names of its parts; and other ways, which become that.

use super::{
    Binding, Checker,
    answers::{may_spawn, plain_first},
    chains::own,
    fields::named_fields,
    macros::{CONVERT, is, spawn_macro},
};
use crate::{
    diag::start,
    hir::{Expr, ExprKind, Pat, Stmt},
    ty::{Ty, USIZE},
};
use millstream_graph::ir::Combine;
use proc_macro2::Span;
use quote::ToTokens;
use syn::{spanned::Spanned, visit::Visit};

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
            syn::Pat::Ident(p) if is_name(p) => {
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
            syn::Pat::Ident(p) if is_name(p) => {
                self.bind(&p.ident.to_string(), Binding::Place(place));
            }
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
            syn::Pat::Slice(s) => match self.shallow(&ty) {
                Ty::Array(elem, len) if reaches(&s.elems, len) => {
                    let fields = named_fields(&s.elems, Some(len as usize));
                    for (i, p) in fields.named {
                        let at = Expr::new(ExprKind::Int(i as u128), USIZE, place.span);
                        let element = ExprKind::Index(place.clone(), at);
                        self.name_parts(p, Expr::new(element, (*elem).clone(), place.span));
                    }
                }
                Ty::Array(..)
                    if s.elems
                        .iter()
                        .any(|p| matches!(p, syn::Pat::Ident(p) if p.subpat.is_some())) =>
                {
                    self.bind_as_broken(pat);
                    self.error(
                        pat.span(),
                        "elements of a child's result have names one by one",
                    )
                    .help("give it a name, and take it apart after the `sync!()`");
                }
                Ty::Array(_, len) if s.elems.iter().any(|p| matches!(p, syn::Pat::Rest(_))) => {
                    self.bind_as_broken(pat);
                    let named = s.elems.len() - 1;
                    self.error(
                        pat.span(),
                        format!("a pattern of {named} elements for an array of {len}"),
                    );
                }
                // Says what is wrong.
                _ => drop(self.pattern(pat, &ty)),
            },
            other => {
                self.bind_as_broken(other);
                self.error(
                    other.span(),
                    "a child's result is bound to a name, or to names by a tuple, an array or a struct",
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

    /// `let (a, b) = (spawn!(..), spawn!(..));`, or of an array, is a `let` each; `let a = [spawn!(..), spawn!(..)];`, or a tuple, one whose parts are given one by one;
    /// and `let a = if c { spawn!(..) } else { .. };`, or a `match`, one whose value each way gives; unless a name that is bound means something else in what follows.
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
            (syn::Pat::Tuple(syn::PatTuple { elems: pats, .. }), syn::Expr::Tuple(values)) => {
                let types: Vec<Option<&syn::Type>> = match ty {
                    None => vec![None; values.elems.len()],
                    Some(syn::Type::Tuple(t)) if t.elems.len() == values.elems.len() => {
                        t.elems.iter().map(Some).collect()
                    }
                    Some(_) => return false,
                };
                self.let_each_spawn(pats, &values.elems, &types, span, stmts)
            }
            (syn::Pat::Slice(syn::PatSlice { elems: pats, .. }), syn::Expr::Array(values)) => {
                let ty = match ty {
                    None => None,
                    Some(syn::Type::Array(a)) => Some(&*a.elem),
                    Some(_) => return false,
                };
                let types = vec![ty; values.elems.len()];
                self.let_each_spawn(pats, &values.elems, &types, span, stmts)
            }
            (syn::Pat::Ident(p), syn::Expr::Tuple(syn::ExprTuple { elems, .. }))
            | (syn::Pat::Ident(p), syn::Expr::Array(syn::ExprArray { elems, .. }))
                if is_name(p) && elems.iter().any(may_spawn) =>
            {
                let parts: Vec<_> = elems.iter().collect();
                match plain_first(&parts) {
                    Ok(order) => {
                        let parts = order.into_iter().map(|i| (i, parts[i]));
                        self.let_parts(p, ty, init, parts, stmts);
                    }
                    Err(i) => {
                        self.error(parts[i].span(), "this is evaluated behind a child's arguments, and takes its place before the child's result does")
                            .help("give it a name by a `let` before, and write that");
                        self.bind_broken(own);
                    }
                }
                true
            }
            (syn::Pat::Ident(p), syn::Expr::If(_) | syn::Expr::Match(_)) if may_be_spawn(init) => {
                if !is_name(p) || names_it(init.to_token_stream(), &p.ident) {
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

    /// Values of a tuple or an array, some of which are children's results, by a `let` each.
    fn let_each_spawn(
        &mut self,
        pats: &Elements<syn::Pat>,
        values: &Elements<syn::Expr>,
        types: &[Option<&syn::Type>],
        span: Span,
        stmts: &mut Vec<Stmt>,
    ) -> bool {
        let each = || pats.iter().zip(values);
        let hides = |i: usize, pat: &syn::Pat| {
            let names = self.names(pat);
            let later = values.iter().skip(i + 1);
            later
                .map(ToTokens::to_token_stream)
                .any(|v| names.iter().any(|n| names_it(v.clone(), &n.ident)))
        };
        if pats.len() != values.len()
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

    /// A tuple or an array under a name, whose parts are given one by one, since some are children's results.
    fn let_parts<'e>(
        &mut self,
        name: &syn::PatIdent,
        ty: Option<&syn::Type>,
        whole: &syn::Expr,
        values: impl ExactSizeIterator<Item = (usize, &'e syn::Expr)>,
        stmts: &mut Vec<Stmt>,
    ) {
        let span = whole.span();
        // The name itself may mean something else in the values.
        let hidden = own("parts", span);
        let is_tuple = matches!(whole, syn::Expr::Tuple(_));
        let ty = match ty {
            Some(ty) => ty.to_token_stream(),
            None if is_tuple => {
                let open = (0..values.len()).map(|_| quote::quote!(_));
                quote::quote!((#(#open,)*))
            }
            None => {
                let len = values.len();
                quote::quote!([_; #len])
            }
        };
        let declared = syn::parse_quote_spanned!(span=> let #hidden: #ty;);
        if let syn::Stmt::Local(declared) = declared {
            self.local(&declared, stmts);
        }
        for (i, value) in values {
            let at = syn::Index::from(i);
            let part: syn::Expr = match is_tuple {
                true => syn::parse_quote_spanned!(span=> #hidden.#at = #value),
                false => syn::parse_quote_spanned!(span=> #hidden[#at] = #value),
            };
            let part = self.expr(&part, None);
            stmts.push(Stmt::Expr(part));
        }
        if let Some(Binding::Var(var)) = self.lookup(&hidden.to_string()).cloned() {
            let shown = name.ident.to_string();
            self.vars[var.0].name.clone_from(&shown);
            self.fix(var, name);
            self.bind(&shown, Binding::Var(var));
        }
    }

    /// `(a, b) = (spawn!(..), spawn!(..));`, or of arrays: one after the other, unless a value names what is assigned to before.
    pub(super) fn assigned_each(&mut self, a: &syn::ExprAssign) -> Option<Expr> {
        let (places, values) = sides(a)?;
        if !values.iter().any(may_be_spawn) {
            return None;
        }
        for (i, place) in places.iter().enumerate() {
            let mut used = Used(Vec::new());
            used.visit_expr(place);
            let mut later = values.iter().skip(i + 1);
            let named = |v: &syn::Expr| used.0.iter().any(|n| names_it(v.to_token_stream(), n));
            if let Some(reads) = later.find(|v| named(v)) {
                let shown = place.to_token_stream();
                return Some(self.refuse(
                    reads.span(),
                    format!("this is meant to read `{shown}` as it was before the child's result goes there"),
                    "take the results by a `let`, and assign them after the `sync!()`",
                ));
            }
        }
        Some(self.expr(&one_by_one(a)?, None))
    }

    /// `place = if c { spawn!(..) } else { .. }` and its kin, with `+=` for one: the condition, whose ways each give the place what they end with.
    pub(super) fn given_by_ways(
        &mut self,
        place: &syn::Expr,
        value: &syn::Expr,
        to: &dyn Fn(&dyn ToTokens, Span) -> syn::Expr,
    ) -> Option<Expr> {
        let has_ways = matches!(
            value,
            syn::Expr::If(_) | syn::Expr::Match(_) | syn::Expr::Block(_)
        );
        if !has_ways || !may_be_spawn(value) {
            return None;
        }
        let mut bound = Bound(Vec::new());
        bound.visit_expr(value);
        let mut used = Used(Vec::new());
        used.visit_expr(place);
        let hides = |name: &&syn::Ident| !self.is_constant(name) && used.0.contains(name);
        Some(match bound.0.iter().find(hides) {
            Some(name) => self.refuse(
                name.span(),
                format!("`{name}` is another variable here than in the place that the child's result goes to"),
                "give one of them another name",
            ),
            None => {
                self.ways.insert(start(place.span()));
                self.expr(&given(to, value), None)
            }
        })
    }
}

/// The places and the values of `(a, b) = (c, d)`, or of arrays, where there are as many.
fn sides(a: &syn::ExprAssign) -> Option<(&Elements<syn::Expr>, &Elements<syn::Expr>)> {
    let elems = |e| match super::places::strip(e) {
        syn::Expr::Tuple(t) => Some(&t.elems),
        syn::Expr::Array(a) => Some(&a.elems),
        _ => None,
    };
    let (places, values) = (elems(&a.left)?, elems(&a.right)?);
    (places.len() == values.len()).then_some((places, values))
}

/// Such an assignment as one after the other, which is what it means where values are children's results; none of another.
pub(crate) fn one_by_one(a: &syn::ExprAssign) -> Option<syn::Expr> {
    let (places, values) = sides(a)?;
    let span = a.span();
    let each = places.iter().zip(values).map(|(place, value)| match place {
        syn::Expr::Infer(_) => quote::quote_spanned!(span=> let _ = #value;),
        place => quote::quote_spanned!(span=> #place = #value;),
    });
    Some(syn::parse_quote_spanned!(span=> { #(#each)* }))
}

/// Whether a pattern of elements is one of an array of so many.
fn reaches(pats: &Elements<syn::Pat>, len: u64) -> bool {
    match pats.iter().any(|p| matches!(p, syn::Pat::Rest(_))) {
        true => pats.len() as u64 <= len + 1,
        false => pats.len() as u64 == len,
    }
}

type Elements<T> = syn::punctuated::Punctuated<T, syn::Token![,]>;

/// Whether a pattern is a name and nothing else.
const fn is_name(p: &syn::PatIdent) -> bool {
    p.subpat.is_none() && p.by_ref.is_none()
}

/// Whether a value is a child's result, or is in one of the ways through a condition.
pub(super) fn may_be_spawn(e: &syn::Expr) -> bool {
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

/// The names that patterns bind.
struct Bound(Vec<syn::Ident>);

impl Visit<'_> for Bound {
    fn visit_pat_ident(&mut self, p: &syn::PatIdent) {
        self.0.push(p.ident.clone());
        syn::visit::visit_pat_ident(self, p);
    }
}

/// The names that stand by themselves in an expression.
struct Used(Vec<syn::Ident>);

impl Visit<'_> for Used {
    fn visit_expr_path(&mut self, p: &syn::ExprPath) {
        self.0.extend(p.path.get_ident().cloned());
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
