//! Functions whose bodies stand in the place of their calls: those that take closures, since a closure is a piece of code that is no value, and `const` ones in
//! constants.

use super::{
    super::{Binding, Checker, LoopScope, chains, closures::Named, places::strip},
    Guesses,
};
use crate::{
    diag::Diagnostic,
    generics::{At, Code, Signature, Template, TemplateId},
    hir::{Expr, ExprKind, Stmt},
    ty::Ty,
};
use millstream_graph::ir::FunctionKind;
use proc_macro2::Span;
use quote::ToTokens;
use std::{collections::BTreeMap, rc::Rc};
use syn::spanned::Spanned;

/// How deep such functions may stand in each other, and how many a body may have.
const DEEPEST: usize = 16;
const MOST: usize = 4096;

/// What a function is given, each with its parameter: values, closures with what is said of them, and the names of iterators.
#[derive(Clone)]
pub(super) struct Given<'t> {
    pub(super) values: Vec<(&'t syn::Pat, &'t syn::Type, Expr)>,
    pub(super) closures: Vec<(&'t syn::Pat, Rc<Signature>, Named)>,
    pub(super) iterators: Vec<(&'t syn::Pat, syn::Expr)>,
}

impl Given<'_> {
    /// The texts of the closures.
    pub(super) fn texts(&self) -> Vec<String> {
        let all = self.closures.iter();
        all.map(|(_, _, named)| named.syntax().to_token_stream().to_string())
            .collect()
    }
}

impl Checker<'_> {
    /// The call of a function that takes closures, as its body; as a call, if it calls itself.
    pub(super) fn call_with_code(
        &mut self,
        (id, template): (TemplateId, &Template),
        g: &mut Guesses,
        given: Given<'_>,
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let is_code = template.code().is_some() || template.is_opaque();
        if is_code || !given.iterators.is_empty() {
            return self.inline(template, g, given, want, span);
        }
        let again = self.m.recursive.contains(&id);
        if self.calls_itself(id, &given) {
            return match again {
                true => self.call_lifted(id, template, g, given, span),
                // What this body stands in is checked again as a function.
                false => Self::broken(span),
            };
        }
        let (before, vars) = (self.m.diags.0.len(), self.vars.len());
        let mut guesses = g.clone();
        self.around.push((id, given.texts()));
        let value = self.inline(template, &mut guesses, given.clone(), want, span);
        self.around.pop();
        if !self.m.recursive.contains(&id) {
            return value;
        }
        self.m.diags.0.truncate(before);
        self.vars.truncate(vars);
        self.call_lifted(id, template, g, given, span)
    }

    /// The closure that an argument is, or that calls the function it names.
    pub(in super::super) fn closure_of(
        &mut self,
        arg: &syn::Expr,
        takes: usize,
        stmts: &mut Vec<Stmt>,
    ) -> Option<Named> {
        let (mut arg, is_copied) = (strip(arg), self.is_copied_closure(arg));
        // Who is given its name then hands the reference on.
        let is_lent = matches!(arg, syn::Expr::Reference(_));
        loop {
            arg = match arg {
                syn::Expr::Reference(r) => strip(&r.expr),
                // `&mut *f`
                syn::Expr::Unary(u)
                    if matches!(u.op, syn::UnOp::Deref(_)) && !self.is_function(arg) =>
                {
                    strip(&u.expr)
                }
                _ => break,
            };
        }
        let span = arg.span();
        if let Some(named) = self.cloned_closure(arg, stmts) {
            return Some(named.with_lent(is_lent));
        }
        let closure = match arg {
            syn::Expr::Closure(closure) => closure.clone(),
            syn::Expr::Path(p) => {
                let bound = p.path.get_ident().and_then(|i| self.lookup(&i.to_string()));
                if let Some(Binding::Closure(named)) = bound.cloned() {
                    return Some(match is_copied {
                        true => self.closure_copied(&named, span, stmts),
                        false => {
                            let lent = is_lent || named.is_lent();
                            (*named).clone().with_lent(lent)
                        }
                    });
                }
                let names: Vec<syn::Ident> = (0..takes)
                    .map(|i| chains::own(&format!("given{i}"), span))
                    .collect();
                // A function that a variable has is taken as it is now.
                syn::parse_quote_spanned!(span=> move |#(#names),*| #p(#(#names),*))
            }
            call if self.gives(call) == Some(Code::Closure) => {
                let given = self.given_closure(call, stmts)?;
                return Some(given.with_lent(is_lent));
            }
            value if self.is_function(value) => {
                let name = self.evaluated(&value.to_token_stream(), None, span, stmts);
                return self.closure_of(&name, takes, stmts);
            }
            _ => {
                self.refuse(
                    span,
                    "expected a closure or the name of a function",
                    "write it here: `|x| ..`",
                );
                return None;
            }
        };
        if closure.inputs.len() != takes {
            let gets = closure.inputs.len();
            self.refuse(
                span,
                format!("expected a closure that takes {takes} arguments, this one takes {gets}"),
                "several in one are a tuple: `|(i, x)| ..`",
            );
            return None;
        }
        self.may_stand(&closure)
            .then(|| self.closure_named(&closure, stmts).with_lent(is_lent))
    }

    /// The call of a function as its body, with its parameters by `let`.
    pub(super) fn inline(
        &mut self,
        template: &Template,
        g: &mut Guesses,
        mut given: Given<'_>,
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let closures = std::mem::take(&mut given.closures);
        self.inlined += 1;
        if self.inlined > MOST || self.depth >= DEEPEST {
            return self.too_often(span);
        }
        let mut wrong = Vec::new();
        for (_, signature, named) in &closures {
            wrong.extend(self.learn_output(template, signature, named, g));
        }
        let (params, at) = (&template.params, &template.at);
        let code = template.code();
        if code.is_some() && self.giving.is_none() {
            return self.ungiven(code, span);
        }
        let output = match &template.item.sig.output {
            _ if code.is_some() || template.is_opaque() => None,
            syn::ReturnType::Type(_, ty) if !matches!(**ty, syn::Type::Never(_)) => Some(&**ty),
            _ => None,
        };
        if let (Some(ty), Some(want)) = (output, want)
            && let Some(ret) = self.there(at, |c| c.open(ty, g))
            && let Ty::Var(_) = self.shallow(&ret)
        {
            self.table.unify(&ret, want);
        }
        let said = self.m.diags.0.len();
        let Some(known) = self.params_now(params, g, &template.name, span) else {
            // What is wrong in a closure is why it is not known.
            if !wrong.is_empty() {
                self.m.diags.0.truncate(said);
                self.m.diags.0.extend(wrong);
            }
            return Self::broken(span);
        };
        let names = params
            .iter()
            .filter(|p| !matches!(p.kind, crate::generics::Kind::Closure(_)));
        let known = names.map(|p| p.name.clone()).zip(known).collect();
        let at = self.m.at_of(template, known);
        let ret = self.there(&at, |c| match output {
            Some(ty) => c.annotated(ty),
            None if template.is_opaque() => c.fresh_any(),
            None => Ty::unit(),
        });
        let closures: Vec<_> = closures
            .into_iter()
            .map(|(pat, signature, named)| {
                let inside = self.there(&at, |c| match &signature.output {
                    Some(ty) => c.annotated(ty),
                    None => Ty::unit(),
                });
                let inputs = signature.inputs.iter();
                let inputs = inputs
                    .map(|ty| self.outside(template, &at, ty, g))
                    .collect();
                let output = signature.output.as_ref();
                let output = output.map_or_else(Ty::unit, |ty| self.outside(template, &at, ty, g));
                (pat, named.for_signature(inputs, output, inside))
            })
            .collect();
        // Nothing of what stands around the call is in sight.
        let kind = self.kind.map(|_| FunctionKind::Helper);
        let id = self.fresh_loop();
        let scope = LoopScope {
            label: None,
            id,
            value: Some(ret.clone()),
            broken: false,
            is_block: true,
            parallel: false,
            whole: None,
        };
        let held = self.held_names();
        let scopes = std::mem::replace(&mut self.scopes, vec![BTreeMap::new()]);
        let loops = std::mem::replace(&mut self.loops, vec![scope]);
        let around = std::mem::replace(&mut self.ret, ret.clone());
        let returns = self.returns_to.replace(id);
        let kind = std::mem::replace(&mut self.kind, kind);
        self.depth += 1;
        self.callers.push(self.m.at.clone());
        let (stmts, body) = self.there(&at, |c| {
            let mut stmts = c.bind_given(given, closures, held, span);
            if let Some(code) = code {
                stmts.extend(c.give(template, code));
                let body = Expr::new(ExprKind::Block(Vec::new(), None), Ty::unit(), span);
                return (stmts, body);
            }
            let body = c.block(&template.item.block, Some(&ret));
            (stmts, c.coerce(body, &ret))
        });
        self.depth -= 1;
        self.callers.pop();
        self.kind = kind;
        self.returns_to = returns;
        self.ret = around;
        let left = self.loops.first().is_some_and(|l| l.broken);
        self.loops = loops;
        self.scopes = scopes;
        let body = match left {
            true => Expr::new(ExprKind::Labelled(id, body), ret.clone(), span),
            false => body,
        };
        let ret = output.map_or(ret, |ty| self.outside(template, &at, ty, g));
        Expr::new(ExprKind::Block(stmts, Some(body)), ret, span)
    }

    /// Binds the parameters of a body that stands in the place of its call.
    fn bind_given(
        &mut self,
        given: Given<'_>,
        closures: Vec<(&syn::Pat, Named)>,
        held: Vec<(String, Binding)>,
        span: Span,
    ) -> Vec<Stmt> {
        let mut stmts = Vec::new();
        for (pat, ty, value) in given.values {
            let ty = self.annotated(ty);
            let value = self.coerce(value, &ty);
            self.let_argument(pat, &ty, value, false, &mut stmts);
        }
        for (pat, named) in closures {
            if let syn::Pat::Ident(p) = pat {
                self.bind(&p.ident.to_string(), Binding::Closure(Rc::new(named)));
            }
        }
        for (name, binding) in held {
            self.bind(&name, binding);
        }
        for (pat, name) in given.iterators {
            let local: syn::Stmt = syn::parse_quote_spanned!(span=> let #pat = #name;);
            if let (false, syn::Stmt::Local(local)) =
                (self.let_chain(pat, &name, &mut stmts), &local)
            {
                self.local(local, &mut stmts);
            }
        }
        stmts
    }

    /// Says that bodies stand in each other's places without an end.
    fn too_often(&mut self, span: Span) -> Expr {
        let (message, help) = match self.kind {
            None => (
                "a constant's functions call each other too often",
                "write a loop, or write the value out",
            ),
            Some(_) => (
                "functions that take closures call each other too often here",
                "they stand in each other's places: take a value whose type has a trait with that function, `fn apply<F: Function>(f: &F, x: u32)`, or the closure's result",
            ),
        };
        self.refuse(span, message, help)
    }

    /// Says that what a function gives stands where there is no place for it.
    fn ungiven(&mut self, code: Option<Code>, span: Span) -> Expr {
        // What is wrong with what the function gives is said there.
        if !self.m.diags.is_empty() {
            return Self::broken(span);
        }
        let what = match code {
            Some(Code::Closure) => {
                "a closure that a function gives is named or called, as in `let f = ..;`"
            }
            _ => "an iterator that a function gives stands in a `for`, or where a method ends it",
        };
        self.refuse(span, what, "give it a name, `let it = ..;`, and use that")
    }

    /// A type of a function's signature, as its caller says it.
    pub(super) fn outside(
        &mut self,
        template: &Template,
        at: &At,
        ty: &syn::Type,
        g: &Guesses,
    ) -> Ty {
        let known = self.there(at, |c| c.m.resolve_type(ty));
        self.there(&template.at, |c| c.said(ty, &known, g))
    }

    /// Learns from a closure's body what its parameter says that it returns. Gives what is wrong there, which is said again where the body stands.
    pub(super) fn learn_output(
        &mut self,
        template: &Template,
        signature: &Signature,
        named: &Named,
        g: &mut Guesses,
    ) -> Vec<Diagnostic> {
        let at = &template.at;
        let output = signature.output.as_ref();
        let known = match output {
            Some(output) => self.there(at, |c| c.open(output, g)),
            None => Some(Ty::unit()),
        };
        let inputs: Option<Vec<Ty>> = signature
            .inputs
            .iter()
            .map(|ty| self.there(at, |c| c.open(ty, g)))
            .collect();
        let Some(inputs) = inputs else {
            return Vec::new();
        };
        // What it is given may be told by what it does with that: `[1, 2].map(|x| x * n)`.
        let all_known = known.is_some_and(|ty| self.closed(&ty).is_some())
            && inputs.iter().all(|ty| self.closed(ty).is_some());
        if all_known {
            return Vec::new();
        }
        let before = self.m.diags.0.len();
        let ty = self.result_of(named, &inputs);
        let wrong = self.m.diags.0.split_off(before);
        if let Some(output) = output {
            self.there(at, |c| c.learn(output, &ty, g));
        }
        wrong
    }
}
