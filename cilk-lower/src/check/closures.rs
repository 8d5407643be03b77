//! Closures that have a name: `let at = |x, y| grid[y * w + x];`. A call is the closure's body with its parameters, checked where the closure stands: nothing
//! is passed, and there is no value.

use super::{Binding, Checker, chains, places::strip};
use crate::{
    generics::{At, Code},
    hir::{Expr, ExprKind, Pat, Stmt, VarId},
    items::Item,
    ty::Ty,
};
use proc_macro2::Span;
use quote::ToTokens;
use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};
use syn::spanned::Spanned;

/// How many calls of closures a function may have, those in closures counted as often as these are called.
const MOST_CALLS: usize = 4096;

/// A closure, and what its names stand for.
#[derive(Clone, Debug)]
pub(super) struct Named {
    closure: syn::ExprClosure,
    scopes: Vec<BTreeMap<String, Binding>>,
    at: At,
    /// Types of its arguments and of its result, of one that a function takes, as the function's caller says them.
    signature: Option<(Vec<Ty>, Ty)>,
    /// The type of its result, as that function says it.
    inside: Option<Ty>,
    /// Whether the name is that of a reference to it: who is given the name has no copy.
    lent: bool,
}

impl Named {
    /// The statements of its body, and the value that it ends with.
    pub(super) fn ends_with(&self) -> Option<(&[syn::Stmt], &syn::Expr)> {
        ends_with(&self.closure.body)
    }
}

/// The names that stand alone in an expression: of variables, functions and types.
#[derive(Default)]
pub(super) struct Names(BTreeSet<String>);

impl Names {
    pub(super) fn of(e: &syn::Expr) -> BTreeSet<String> {
        let mut names = Self::default();
        names.tokens(e.to_token_stream());
        names.0
    }

    fn tokens(&mut self, tokens: proc_macro2::TokenStream) {
        // Fields and methods are behind one point, ends of ranges behind two.
        let mut points = 0;
        for token in tokens {
            points = match token {
                proc_macro2::TokenTree::Ident(i) if points != 1 => {
                    self.0.insert(i.to_string());
                    0
                }
                proc_macro2::TokenTree::Group(g) => {
                    self.tokens(g.stream());
                    0
                }
                proc_macro2::TokenTree::Punct(p) if p.as_char() == '.' => points + 1,
                _ => 0,
            }
        }
    }
}

impl Named {
    /// As it is written.
    pub(super) fn syntax(&self) -> syn::ExprClosure {
        self.closure.clone()
    }

    /// One that names nothing but this.
    pub(super) fn made(
        closure: syn::ExprClosure,
        names: BTreeMap<String, Binding>,
        at: At,
    ) -> Self {
        Self {
            closure,
            scopes: vec![names],
            at,
            signature: None,
            inside: None,
            lent: false,
        }
    }

    /// The same behind a reference, or itself.
    pub(super) fn with_lent(self, lent: bool) -> Self {
        Self { lent, ..self }
    }

    pub(super) const fn is_lent(&self) -> bool {
        self.lent
    }

    /// What it may change of what it took, of which a copy of it has its own.
    pub(super) fn state(&self) -> BTreeMap<String, Binding> {
        if self.closure.capture.is_none() || self.lent {
            return BTreeMap::new();
        }
        let changed = chains::changed_names(&self.closure.body);
        let taken = self.scopes.last().into_iter().flatten();
        let state = taken.filter(|(name, binding)| match binding {
            Binding::Closure(named) => changed.contains(*name) && !named.state().is_empty(),
            Binding::Var(_) => changed.contains(*name),
            Binding::Place(place) => changed.contains(*name) && is_handed_on(place),
            _ => false,
        });
        state
            .map(|(name, binding)| (name.clone(), binding.clone()))
            .collect()
    }

    /// What a name means in it.
    pub(super) fn meaning(&self, name: &str) -> Option<Binding> {
        self.scopes.iter().rev().find_map(|s| s.get(name)).cloned()
    }

    /// Where its names are looked up that mean nothing around it.
    pub(super) fn at(&self) -> At {
        self.at.clone()
    }

    pub(super) fn for_signature(self, inputs: Vec<Ty>, output: Ty, inside: Ty) -> Self {
        Self {
            signature: Some((inputs, output)),
            inside: Some(inside),
            ..self
        }
    }
}

impl Checker<'_> {
    /// `let name = |..| ..;`, if it is that.
    pub(super) fn let_closure(
        &mut self,
        pat: &syn::Pat,
        value: &syn::Expr,
        stmts: &mut Vec<Stmt>,
    ) -> bool {
        let syn::Pat::Ident(name) = pat else {
            return false;
        };
        let named = match strip(value) {
            syn::Expr::Closure(closure) => {
                self.may_stand(closure);
                self.closure_named(closure, stmts)
            }
            // Another name of a function.
            syn::Expr::Path(p) => {
                let takes = self.function_takes(&p.path);
                let Some(named) = takes.and_then(|takes| self.closure_of(value, takes, stmts))
                else {
                    return false;
                };
                named
            }
            // What stands at the end of a block, with what stands before it there.
            syn::Expr::Block(b) if b.label.is_none() => {
                let mut block = b.block.clone();
                let Some(syn::Stmt::Expr(syn::Expr::Closure(closure), None)) = block.stmts.pop()
                else {
                    return false;
                };
                self.may_stand(&closure);
                self.scoped(|c| {
                    let constants = c.constants_of(&block);
                    let before = c.block_in_scope(&block, None);
                    for name in constants {
                        c.m.names.remove(&name);
                    }
                    stmts.push(Stmt::Expr(before));
                    c.closure_named(&closure, stmts)
                })
            }
            value => match self.cloned_closure(value, stmts) {
                Some(named) => named,
                None => match self.given_closure(value, stmts) {
                    Some(named) => named,
                    None => return false,
                },
            },
        };
        self.bind(&name.ident.to_string(), Binding::Closure(Rc::new(named)));
        true
    }

    /// `f.clone()` of a closure that has a name, or of what refers to one.
    pub(super) fn cloned_closure(
        &mut self,
        value: &syn::Expr,
        stmts: &mut Vec<Stmt>,
    ) -> Option<Named> {
        let syn::Expr::MethodCall(m) = value else {
            return None;
        };
        let (syn::Expr::Path(p), true) = (strip(&m.receiver), m.args.is_empty()) else {
            return None;
        };
        match self.lookup(&p.path.get_ident()?.to_string()).cloned() {
            Some(Binding::Closure(named)) if m.method == "clone" => {
                let named = (*named).clone().with_lent(false);
                Some(self.closure_copied(&named, m.span(), stmts))
            }
            _ => None,
        }
    }

    /// The closure that a function gives.
    pub(super) fn given_closure(
        &mut self,
        call: &syn::Expr,
        stmts: &mut Vec<Stmt>,
    ) -> Option<Named> {
        if self.gives(call) != Some(Code::Closure) {
            return None;
        }
        let name = self.given_by(call, stmts)?;
        match self.lookup(&name.to_string()) {
            Some(Binding::Closure(named)) => Some((**named).clone()),
            _ => None,
        }
    }

    /// How many arguments a function of the program takes, or a closure that has a name; none if a path names neither.
    fn function_takes(&mut self, path: &syn::Path) -> Option<usize> {
        let name = path.get_ident()?.to_string();
        match self.lookup(&name) {
            Some(Binding::Closure(named)) => return Some(named.closure.inputs.len()),
            Some(_) => return None,
            None => {}
        }
        match self.m.named(&name)? {
            Item::Fn(id) => Some(self.m.fns.get(id.0)?.params.len()),
            Item::Template(id) => Some(self.m.templates[id.0].item.sig.inputs.len()),
            _ => None,
        }
    }

    /// Whether a closure's body may stand where it is called; what is wrong is said.
    pub(super) fn may_stand(&mut self, closure: &syn::ExprClosure) -> bool {
        if let Some(why) = chains::what_leaves(&closure.body) {
            self.refuse_why(why);
        } else if closure.asyncness.is_some() {
            self.refuse(
                closure.span(),
                "an `async` closure is not part of the task language",
                "use `spawn!` and `sync!`",
            );
        } else {
            return true;
        }
        false
    }

    /// A closure with what its names stand for here. One that takes what it captures has variables of its own for that.
    pub(super) fn closure_named(
        &mut self,
        closure: &syn::ExprClosure,
        stmts: &mut Vec<Stmt>,
    ) -> Named {
        let mut scopes = self.scopes.clone();
        if closure.capture.is_some() {
            let mut taken = BTreeMap::new();
            for name in Names::of(&closure.body) {
                if let Some(binding) = self.lookup(&name).cloned()
                    && let Some(own) = self.own_binding(&binding, closure.span(), stmts)
                {
                    taken.insert(name, own);
                }
            }
            scopes.push(taken);
        }
        Named {
            closure: closure.clone(),
            scopes,
            at: self.m.at.clone(),
            signature: None,
            inside: None,
            lent: false,
        }
    }

    /// A copy of a closure that is a value: what it changes of what it took, it has for itself.
    pub(super) fn closure_copied(
        &mut self,
        named: &Named,
        span: Span,
        stmts: &mut Vec<Stmt>,
    ) -> Named {
        let mut copy = named.clone();
        for (name, binding) in named.state() {
            if let Some(own) = self.own_binding(&binding, span, stmts)
                && let Some(taken) = copy.scopes.last_mut()
            {
                taken.insert(name, own);
            }
        }
        copy
    }

    /// What a closure has for what it takes.
    fn own_binding(
        &mut self,
        binding: &Binding,
        span: Span,
        stmts: &mut Vec<Stmt>,
    ) -> Option<Binding> {
        Some(match binding {
            Binding::Var(var) => Binding::Var(self.taken(*var, span, stmts)),
            Binding::Place(place) if is_handed_on(place) => {
                let own = self.add_var("taken", place.ty.clone());
                stmts.push(Stmt::Let(Pat::Var(own), Some(place.clone())));
                Binding::Var(own)
            }
            Binding::Closure(named) if !named.state().is_empty() => {
                Binding::Closure(Rc::new(self.closure_copied(named, span, stmts)))
            }
            _ => return None,
        })
    }

    /// The variable that a closure has for one that it takes.
    pub(super) fn taken(&mut self, var: VarId, span: Span, stmts: &mut Vec<Stmt>) -> VarId {
        let old = self.vars[var.0].clone();
        let own = self.add_var(&old.name, old.ty.clone());
        self.vars[own.0].lent = old.lent;
        let value = Expr::new(ExprKind::Var(var), old.ty, span);
        stmts.push(Stmt::Let(Pat::Var(own), Some(value)));
        own
    }

    /// The type of its result for arguments of these types.
    pub(super) fn result_of(&mut self, named: &Named, inputs: &[Ty]) -> Ty {
        self.with_inputs(named, inputs, |c| match &named.closure.output {
            syn::ReturnType::Type(_, ty) => c.annotated(ty),
            syn::ReturnType::Default => c.closure_body(&named.closure.body, None, None).ty,
        })
    }

    /// Looks at a closure where it stands, its arguments being of these types.
    fn with_inputs<T>(
        &mut self,
        named: &Named,
        inputs: &[Ty],
        look: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let around = std::mem::replace(&mut self.scopes, named.scopes.clone());
        self.scopes.push(BTreeMap::new());
        let at = named.at.clone();
        let seen = self.there(&at, |c| {
            for (pat, ty) in named.closure.inputs.iter().zip(inputs) {
                let pat = match pat {
                    syn::Pat::Type(t) => {
                        let said = c.annotated(&t.ty);
                        c.table.unify(&said, ty);
                        &*t.pat
                    }
                    pat => pat,
                };
                c.pattern(pat, ty);
            }
            look(c)
        });
        self.scopes = around;
        seen
    }

    /// What a closure comes to. `return` and `?` in it leave the closure alone, with a value of type `said`, if that is known.
    pub(super) fn closure_body(
        &mut self,
        body: &syn::Expr,
        said: Option<&Ty>,
        want: Option<&Ty>,
    ) -> Expr {
        if !chains::returns(body) {
            return match said {
                Some(said) => self.expr_as(body, said),
                None => self.expr(body, want),
            };
        }
        let ret = said.cloned().unwrap_or_else(|| self.fresh_any());
        let id = self.enter(None, Some(ret.clone()), true);
        let around = std::mem::replace(&mut self.ret, ret.clone());
        let returns = self.returns_to.replace(id);
        let value = self.expr_as(body, &ret);
        self.returns_to = returns;
        self.ret = around;
        self.loops.pop();
        Expr::new(ExprKind::Labelled(id, value), ret, body.span())
    }

    /// Whether a closure's body ends with an iterator that no method ends.
    pub(super) fn gives_chain(&mut self, named: &Named, args: &[&syn::Expr]) -> bool {
        let Some((before, end)) = ends_with(&named.closure.body) else {
            return false;
        };
        // Most do not, as their last method says.
        if !matches!(end, syn::Expr::MethodCall(m) if chains::may_be_chain(m))
            || named.closure.inputs.len() != args.len()
        {
            return false;
        }
        let types: Vec<Ty> = args.iter().map(|arg| self.type_ahead(arg)).collect();
        let (vars, diags) = (self.vars.len(), self.m.diags.0.len());
        let gives = self.with_inputs(named, &types, |c| {
            let before: syn::Block = syn::parse_quote!({ #(#before)* });
            c.block_in_scope(&before, None);
            c.begins_chain(end)
        });
        self.vars.truncate(vars);
        self.m.diags.0.truncate(diags);
        gives
    }

    /// Calls it.
    pub(super) fn call_closure(
        &mut self,
        named: &Named,
        args: &[&syn::Expr],
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let closure = &named.closure;
        if closure.inputs.len() != args.len() {
            let (takes, gets) = (closure.inputs.len(), args.len());
            return self.refuse(
                span,
                format!("this closure takes {takes} arguments, and gets {gets}"),
                "give it as many as stand between its `|`",
            );
        }
        self.closure_calls += 1;
        match self.closure_calls.checked_sub(MOST_CALLS) {
            None | Some(0) => {}
            Some(1) => {
                let message = "closures are called too often in this function";
                return self.refuse(span, message, "write a function in place of one of them");
            }
            // Once is enough.
            Some(_) => return Self::broken(span),
        }
        let wants_chain = self.wants_chain() && self.gives_chain(named, args);
        let giving = if wants_chain {
            self.giving.take()
        } else {
            None
        };
        let mut stmts = Vec::new();
        let given: Vec<_> = closure
            .inputs
            .iter()
            .zip(args)
            .enumerate()
            .map(|(i, (pat, arg))| {
                let said = named
                    .signature
                    .as_ref()
                    .and_then(|(inputs, _)| inputs.get(i));
                self.closure_argument(pat, arg, said)
            })
            .collect();
        let around = std::mem::replace(&mut self.scopes, named.scopes.clone());
        self.scopes.push(BTreeMap::new());
        let at = named.at.clone();
        let body = self.there(&at, |c| {
            for (pat, value, lends) in given {
                let ty = value.ty.clone();
                c.let_argument(pat, &ty, value, lends, &mut stmts);
            }
            if let (true, Some((before, value))) = (giving.is_some(), ends_with(&closure.body)) {
                c.give_chain(before, value, &mut stmts);
                return Expr::new(ExprKind::Block(Vec::new(), None), Ty::unit(), span);
            }
            let body = match &closure.output {
                syn::ReturnType::Type(_, ty) => {
                    let ty = c.annotated(ty);
                    c.closure_body(&closure.body, Some(&ty), None)
                }
                syn::ReturnType::Default => match &named.signature {
                    Some((_, output)) if chains::returns(&closure.body) => {
                        c.closure_body(&closure.body, Some(output), None)
                    }
                    Some((_, output)) => c.expr(&closure.body, Some(output)),
                    None => c.closure_body(&closure.body, None, want),
                },
            };
            match &named.signature {
                Some((_, output)) => c.coerce(body, output),
                None => body,
            }
        });
        self.scopes = around;
        let ty = match (&named.inside, self.shallow(&body.ty)) {
            (Some(inside), ty) if !matches!(ty, Ty::Never | Ty::Error) => inside.clone(),
            _ => body.ty.clone(),
        };
        Expr::new(ExprKind::Block(stmts, Some(body)), ty, span)
    }

    /// A parameter's pattern, its value, and whether that is lent to it: what a chain lends is there itself.
    fn closure_argument<'s>(
        &mut self,
        pat: &'s syn::Pat,
        arg: &syn::Expr,
        said: Option<&Ty>,
    ) -> (&'s syn::Pat, Expr, bool) {
        let (pat, ty) = match pat {
            syn::Pat::Type(t) => (&*t.pat, Some(&t.ty)),
            pat => (pat, None),
        };
        if let Some(said) = said {
            if let Some(ty) = ty {
                let ty = self.annotated(ty);
                self.same(pat.span(), &ty, said);
            }
            let mut value = self.expr_as(arg, said);
            if !matches!(self.shallow(&value.ty), Ty::Never | Ty::Error) {
                value.ty = said.clone();
            }
            return (pat, value, false);
        }
        if let syn::Expr::Reference(r) = arg
            && let syn::Expr::Path(p) = &*r.expr
            && p.path
                .get_ident()
                .is_some_and(|name| chains::is_own(&name.to_string()))
        {
            let value = self.expr(&r.expr, None);
            return match pat {
                syn::Pat::Reference(r) => (&r.pat, value, false),
                pat => (pat, value, true),
            };
        }
        let value = match ty {
            Some(ty) => {
                let ty = self.annotated(ty);
                self.expr_as(arg, &ty)
            }
            None => self.expr(arg, None),
        };
        (pat, value, false)
    }
}

/// Whether that is what a function which calls itself was handed on of a closure's variables, and may change there.
fn is_handed_on(place: &Expr) -> bool {
    matches!(&*place.kind, ExprKind::Deref(of) if matches!(&of.ty, Ty::Ref { mutable: true, .. }))
}

/// The statements of a closure's body, and the value that it ends with.
pub(super) fn ends_with(body: &syn::Expr) -> Option<(&[syn::Stmt], &syn::Expr)> {
    match strip(body) {
        syn::Expr::Block(b) if b.label.is_none() => match b.block.stmts.split_last()? {
            (syn::Stmt::Expr(value, None), before) => Some((before, strip(value))),
            _ => None,
        },
        value => Some((&[], value)),
    }
}
