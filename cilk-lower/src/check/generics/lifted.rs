//! Functions that take closures and call themselves. A body that stands in the place of its call has no end then, so such a function is one after all: what the
//! closures capture are parameters of it, behind its own, and where it calls itself it hands them on. There is one for each closure that it is called with.

use super::{
    super::{Binding, Checker, chains, closures::Named},
    Guesses,
    inline::Given,
};
use crate::{
    generics::{At, Kind, Param, Signature, Template, TemplateId},
    hir::{Expr, ExprKind, VarId},
    items::FnItem,
    ty::Ty,
};
use millstream_graph::ty::Type;
use proc_macro2::Span;
use std::{collections::BTreeMap, rc::Rc};

/// How many a program may have: a function that calls itself with a closure of its own makes ever more of them.
const MOST: usize = 256;

/// What a name in a closure means, by what is handed on.
#[derive(Clone, PartialEq, Debug)]
enum Meaning {
    /// What is handed on, or what it refers to.
    Captured {
        index: usize,
        behind: bool,
    },
    Code(Box<Code>),
}

/// A closure without what is around it.
#[derive(Clone, Debug)]
struct Code {
    closure: syn::ExprClosure,
    at: At,
    names: BTreeMap<String, Meaning>,
    /// Whether it is lent, so that who is given its name has no copy.
    lent: bool,
}

impl PartialEq for Code {
    fn eq(&self, other: &Self) -> bool {
        let at = |at: &At| (at.here.clone(), Rc::clone(&at.env));
        let is_alike = self.closure == other.closure && self.lent == other.lent;
        is_alike && at(&self.at) == at(&other.at) && self.names == other.names
    }
}

/// The closures of a function that calls itself, by its parameters.
#[derive(Clone, Debug)]
pub(crate) struct Lifted {
    closures: Vec<(syn::Ident, Rc<Signature>, Code)>,
}

/// One of these functions, for those that are asked for again.
#[derive(Debug)]
pub(crate) struct Made {
    of: TemplateId,
    env: Rc<crate::generics::Env>,
    template: Rc<Template>,
}

/// What closures capture.
#[derive(Default)]
struct Captures {
    values: Vec<(Option<VarId>, Expr)>,
    /// A name that cannot be handed on.
    wrong: Option<String>,
}

impl Checker<'_> {
    /// Whether closures with the same texts are given to this function around this call: it calls itself.
    pub(super) fn calls_itself(&mut self, id: TemplateId, given: &Given<'_>) -> bool {
        if self.m.recursive.contains(&id) {
            return true;
        }
        let texts = given.texts();
        let found = (self.around.iter()).any(|(other, around)| *other == id && *around == texts);
        if found {
            self.m.recursive.insert(id);
        }
        found
    }

    /// The call of a function that calls itself.
    pub(super) fn call_lifted(
        &mut self,
        id: TemplateId,
        template: &Template,
        g: &mut Guesses,
        given: Given<'_>,
        span: Span,
    ) -> Expr {
        let before = self.m.diags.0.len();
        for (_, signature, named) in &given.closures {
            let wrong = self.learn_output(template, signature, named, g);
            self.m.diags.0.extend(wrong);
            self.learn_captured(template, signature, named, g);
        }
        if self.m.diags.0.len() > before {
            return Self::broken(span);
        }
        let Some(known) = self.params_now(&template.params, g, &template.name, span) else {
            return Self::broken(span);
        };
        let names = template.params.iter();
        let names = names.filter(|p| !matches!(p.kind, Kind::Closure(_)));
        let known = names.map(|p| p.name.clone()).zip(known).collect();
        let at = self.m.at_of(template, known);
        let mut captures = Captures::default();
        let mut closures = Vec::new();
        for (pat, signature, named) in &given.closures {
            let code = self.code_of(named, &mut captures, span);
            if let syn::Pat::Ident(p) = pat {
                closures.push((p.ident.clone(), Rc::clone(signature), code));
            }
        }
        if let Some(name) = captures.wrong {
            let message = format!(
                "`{}` calls itself, and this closure names `{name}`, which cannot be handed on",
                template.name
            );
            return self.refuse(span, message, "name a variable, a slice or a struct there");
        }
        let Some(of) = self.lifted_of(id, template, &at, Lifted { closures }, &captures) else {
            let (message, help) = endless(&template.item.sig.ident);
            return self.refuse(span, message, help);
        };
        let mut args = Vec::new();
        for (_, ty, value) in given.values {
            let ty = self.there(&at, |c| c.annotated(ty));
            args.push(self.coerce(value, &ty));
        }
        let known = self.guesses(&of.params);
        for (i, (_, value)) in captures.values.into_iter().enumerate() {
            if let Some(ty) = known.known(&captured(i)) {
                self.table.unify(&ty, &value.ty);
            }
            args.push(value);
        }
        let mut value = self.call_copy(of, known, args, span);
        if let syn::ReturnType::Type(_, ty) = &template.item.sig.output
            && !matches!(**ty, syn::Type::Never(_))
        {
            value.ty = self.outside(template, &at, ty, g);
        }
        value
    }

    /// Learns of a closure's body what the types of the variables are that it captures.
    fn learn_captured(
        &mut self,
        template: &Template,
        signature: &Signature,
        named: &Named,
        g: &Guesses,
    ) {
        let open = |c: &mut Self, ty: &syn::Type| c.there(&template.at, |c| c.open(ty, g));
        let inputs = signature.inputs.iter().map(|ty| open(self, ty));
        let Some(inputs) = inputs.collect::<Option<Vec<Ty>>>() else {
            return;
        };
        let ty = self.result_of(named, &inputs);
        if let Some(said) = signature.output.as_ref().and_then(|ty| open(self, ty)) {
            self.table.unify(&ty, &said);
        }
    }

    /// A closure without what is around it, which is captured.
    fn code_of(&mut self, named: &Named, captures: &mut Captures, span: Span) -> Code {
        let closure = named.syntax();
        let own = chains::bound_in(&closure);
        let mut names = BTreeMap::new();
        for name in super::super::closures::Names::of(&closure.body) {
            let Some(bound) = named.meaning(&name) else {
                continue;
            };
            let meaning = match bound {
                Binding::Var(var) => {
                    let place = Expr::new(ExprKind::Var(var), self.vars[var.0].ty.clone(), span);
                    self.handed_on(place, captures)
                }
                Binding::Place(place) => self.handed_on(place, captures),
                Binding::Closure(inner) => Some(Meaning::Code(Box::new(
                    self.code_of(&inner, captures, span),
                ))),
                Binding::Element(_) | Binding::Chain(_) => None,
            };
            match meaning {
                Some(meaning) => drop(names.insert(name, meaning)),
                None if own.contains(&name) => {}
                None => captures.wrong = Some(name),
            }
        }
        Code {
            closure,
            at: named.at(),
            names,
            lent: named.is_lent(),
        }
    }

    /// Hands on a place: what it holds, or a reference to it.
    fn handed_on(&mut self, place: Expr, captures: &mut Captures) -> Option<Meaning> {
        // What was handed on already.
        let (mut value, mut behind) = match &*place.kind {
            ExprKind::Deref(of) if matches!(*of.kind, ExprKind::Var(_)) => (of.clone(), true),
            _ => (place, false),
        };
        let root = match &*value.kind {
            ExprKind::Var(var) => Some(*var),
            _ => None,
        };
        let fixed = root.is_some_and(|var| self.vars[var.0].fixed.is_some());
        let ty = self.shallow(&value.ty);
        let mutable = match &ty {
            Ty::Channel(_) | Ty::CasResult | Ty::Never | Ty::Error => return None,
            Ty::Ref { .. } | Ty::Slice { .. } | Ty::Mat { .. } => None,
            Ty::Atomic(_) => Some(false),
            Ty::Struct(_) if self.m.is_range(&ty.to_type()) && fixed => None,
            ty @ Ty::Struct(_) if ty.is_mutable(&self.m.structs) => Some(true),
            Ty::Struct(_) | Ty::Array(..) if fixed => Some(false),
            _ => (!fixed).then_some(true),
        };
        // Two names of one variable, or what is named twice.
        let known = (captures.values.iter()).position(|(of, _)| of.is_some() && *of == root);
        if let Some(mutable) = mutable {
            behind = true;
            if known.is_none() {
                let target = Box::new(value.ty.clone());
                let span = value.span;
                let ty = Ty::Ref { mutable, target };
                value = Expr::new(ExprKind::AddrOf(value), ty, span);
            }
        }
        let index = known.unwrap_or_else(|| {
            captures.values.push((root, value));
            captures.values.len() - 1
        });
        Some(Meaning::Captured { index, behind })
    }

    /// The function for these closures, which takes what they capture.
    fn lifted_of(
        &mut self,
        id: TemplateId,
        template: &Template,
        at: &At,
        lifted: Lifted,
        captures: &Captures,
    ) -> Option<Rc<Template>> {
        let is_it = |made: &&Made| {
            made.of == id
                && made.env == at.env
                && (made.template.lifted.as_ref()).is_some_and(|l| l.same(&lifted))
        };
        if let Some(made) = self.m.lifted.iter().find(is_it) {
            return Some(Rc::clone(&made.template));
        }
        let number = self.m.lifted.len() + 1;
        if number > MOST {
            return None;
        }
        let mut item = (*template.item).clone();
        let takes = template.params.iter();
        let takes: Vec<&Param> = takes
            .filter(|p| matches!(p.kind, Kind::Closure(_)))
            .collect();
        let inputs = item.sig.inputs.into_iter();
        item.sig.inputs = inputs
            .filter(|input| match input {
                syn::FnArg::Typed(p) => !takes.iter().any(|of| super::is_param(&p.ty, &of.name)),
                syn::FnArg::Receiver(_) => true,
            })
            .collect();
        let params = (0..captures.values.len()).map(|i| Param {
            name: captured(i),
            kind: Kind::Type,
            default: None,
        });
        let made = Rc::new(Template {
            name: format!("{}|{number}|", template.name),
            params: params.collect(),
            item: Rc::new(item),
            at: at.clone(),
            of: None,
            lifted: Some(Rc::new(lifted)),
        });
        self.m.lifted.push(Made {
            of: id,
            env: Rc::clone(&at.env),
            template: Rc::clone(&made),
        });
        Some(made)
    }

    /// Lets a function's closures have their names in its body, where they call what it is handed on.
    pub(in super::super) fn bind_lifted(&mut self, item: &FnItem) {
        let Some(lifted) = item.lifted.clone() else {
            return;
        };
        let written = item.sig.as_ref().map_or(0, |sig| sig.inputs.len());
        let types: Vec<Type> = item.params.iter().map(|(_, ty)| ty.clone()).collect();
        for (name, signature, code) in &lifted.closures {
            let plain = |c: &mut Self, ty: &syn::Type| Ty::from_type(&c.m.resolve_type(ty));
            let inputs = signature.inputs.iter().map(|ty| plain(self, ty)).collect();
            let output = signature.output.as_ref();
            let output = output.map_or_else(Ty::unit, |ty| plain(self, ty));
            let inside = match &signature.output {
                Some(ty) => self.annotated(ty),
                None => Ty::unit(),
            };
            let named = code.named(written, &types, name.span());
            let named = named.for_signature(inputs, output, inside);
            self.bind(&name.to_string(), Binding::Closure(Rc::new(named)));
        }
    }
}

impl Code {
    /// The closure where what it captures is handed on behind so many parameters.
    fn named(&self, written: usize, types: &[Type], span: Span) -> Named {
        let mut scope = BTreeMap::new();
        for (name, meaning) in &self.names {
            let binding = match meaning {
                Meaning::Code(code) => Binding::Closure(Rc::new(code.named(written, types, span))),
                Meaning::Captured { index, behind } => {
                    let var = VarId(written + index);
                    let ty = types.get(var.0).map_or(Ty::Error, Ty::from_type);
                    match (behind, &ty) {
                        (true, Ty::Ref { target, .. }) => {
                            let value = Expr::new(ExprKind::Var(var), ty.clone(), span);
                            let kind = ExprKind::Deref(value);
                            Binding::Place(Expr::new(kind, (**target).clone(), span))
                        }
                        _ => Binding::Var(var),
                    }
                }
            };
            scope.insert(name.clone(), binding);
        }
        Named::made(self.closure.clone(), scope, self.at.clone()).with_lent(self.lent)
    }
}

impl Lifted {
    /// Whether these are the same closures. What their parameters say is the function's.
    fn same(&self, other: &Self) -> bool {
        let mut pairs = self.closures.iter().zip(&other.closures);
        pairs.all(|((_, _, a), (_, _, b))| a == b)
    }

    /// The names of what is handed on, as parameters.
    pub(crate) fn patterns(count: usize) -> impl Iterator<Item = syn::Pat> {
        (0..count).map(|i| {
            let name = chains::own(&captured(i), Span::call_site());
            syn::parse_quote!(#name)
        })
    }
}

/// Says that there is no last of the functions that one is for the closures it is given.
pub(crate) fn endless(name: &syn::Ident) -> (String, &'static str) {
    (
        format!(
            "`{name}` calls itself with a closure of its own, so that there is one more function at each level"
        ),
        "hand on the closure that it was given, and pass what differs as a value",
    )
}

/// What the type of what is captured is called.
fn captured(i: usize) -> String {
    format!("captured{i}")
}
