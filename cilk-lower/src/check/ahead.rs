//! Variables whose type only what is done with them says: `let mut stack = Stack::new();`, and later `stack.push(1u64)`.
//!
//! A struct with parameters is one copy for what these are, so that its type has to be known where a value of it is made. Where it is not, the statements behind
//! the variable are looked at for what they say of it, and nothing is kept of that but the type; then it is as if that had been written.

use super::{Binding, Checker, generics::Guesses};
use crate::{
    generics::{FamilyId, Known, MemberItem, Param},
    hir::{Expr, ExprKind, Stmt},
    ty::{BOOL, Class, Ty, USIZE},
};
use proc_macro2::{Ident, Span, TokenStream};
use std::{collections::VecDeque, rc::Rc};
use syn::{parse_quote_spanned, spanned::Spanned};

/// A struct with parameters of which not all are known.
#[derive(Clone, Debug)]
struct Unknown {
    family: FamilyId,
    known: Guesses,
}

/// A type that is looked for, and what stands for it meanwhile.
#[derive(Clone, Debug)]
struct Hole {
    ty: Ty,
    /// None of what a function gives that is no such struct: only where its value goes says what that is.
    unknown: Option<Unknown>,
}

/// Types that are looked for.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    holes: Vec<Hole>,
    /// What was made last that is not known.
    made: Option<Option<Unknown>>,
    /// Whether what is not known where it stands may be known by what stands behind it, and whether there was such a thing.
    waits: bool,
    waited: bool,
    /// Whether what is checked is looked at for types alone.
    looks: bool,
    /// Types of ranges that an iterator which has a name takes its numbers from, in order: as they are found when it is looked at,
    ranges: Vec<Ty>,
    /// and as they are known then.
    known_ranges: VecDeque<Ty>,
}

impl Ahead {
    /// Whether literals that nothing has decided on may be decided on later. Notes that, where they may.
    pub(super) const fn leaves_open(&mut self) -> bool {
        self.waited |= self.waits || self.looks;
        self.waits || self.looks
    }
}

impl Checker<'_> {
    /// Notes that a struct is made there whose parameters are not all known.
    pub(super) fn note_unknown(&mut self, family: FamilyId, known: Guesses) {
        self.ahead.made = Some(Some(Unknown { family, known }));
    }

    /// Notes that a function gives what is not known there.
    pub(super) fn note_open(&mut self) {
        self.ahead.made = Some(None);
    }

    /// Whether what is not known here may be known by what stands behind it.
    pub(super) const fn leaves_open(&mut self) -> bool {
        self.ahead.leaves_open()
    }

    /// The value of what was noted, where its type is looked for; else what stands for something wrong, which has been said.
    pub(super) fn unknown_value(&mut self, span: Span) -> Expr {
        match self.ahead.made.take().filter(|_| self.ahead.looks) {
            Some(unknown) => Expr::new(ExprKind::Error, self.hole(unknown), span),
            None => Self::broken(span),
        }
    }

    fn hole(&mut self, unknown: Option<Unknown>) -> Ty {
        let ty = self.fresh_any();
        let hole = Hole {
            ty: ty.clone(),
            unknown,
        };
        self.ahead.holes.push(hole);
        ty
    }

    /// A type that is written with `_` among its parameters, `Heap<_, _, 16>`; none if it is no such one.
    pub(super) fn partly_written(&mut self, ty: &syn::Type) -> Option<Ty> {
        let syn::Type::Path(p) = ty else { return None };
        let (family, last) = (self.family_at(&p.path)?, p.path.segments.last()?);
        if !super::associated::has_open(&last.arguments) {
            return None;
        }
        let params = self.m.families[family.0].params.clone();
        let mut known = self.guesses(&params);
        if !self.take_written(&params, &last.arguments, &mut known, ty.span()) {
            return Some(Ty::Error);
        }
        if !self.ahead.leaves_open() || !self.ahead.looks {
            // Its value says what it is.
            return Some(self.fresh_any());
        }
        Some(self.hole(Some(Unknown { family, known })))
    }

    /// A `let` with the statements that are behind it, of which the last may be the value that is wanted.
    pub(super) fn local_before(
        &mut self,
        local: &syn::Local,
        behind: &[syn::Stmt],
        want: Option<&Ty>,
        stmts: &mut Vec<Stmt>,
    ) {
        let is_made = local
            .init
            .as_ref()
            .is_some_and(|init| init.diverge.is_none());
        let ranges = self.ahead.ranges.len();
        if !is_made || self.ahead.looks {
            self.local(local, stmts);
            // Not the ones of what is looked for.
            self.ahead.ranges.truncate(ranges);
            return;
        }
        let known_ranges = std::mem::take(&mut self.ahead.known_ranges);
        self.local_looked_for(local, behind, want, stmts);
        self.ahead.known_ranges = known_ranges;
    }

    fn local_looked_for(
        &mut self,
        local: &syn::Local,
        behind: &[syn::Stmt],
        want: Option<&Ty>,
        stmts: &mut Vec<Stmt>,
    ) {
        let (errors, vars, done) = (self.m.diags.0.len(), self.vars.len(), stmts.len());
        let names = self.names(&local.pat);
        let hidden = names.into_iter().map(|p| {
            let name = p.ident.to_string();
            let binding = self.scopes.last().and_then(|s| s.get(&name)).cloned();
            (name, binding)
        });
        let hidden: Vec<_> = hidden.collect();
        let (waits, waited) = (self.ahead.waits, self.ahead.waited);
        let calls = (self.inlined, self.closure_calls);
        (self.ahead.waits, self.ahead.waited) = (true, false);
        self.local(local, stmts);
        let is_open = self.ahead.waited;
        (self.ahead.waits, self.ahead.waited) = (waits, waited);
        if !is_open && !self.may_be_wide(local, vars) {
            return;
        }
        self.m.diags.0.truncate(errors);
        self.vars.truncate(vars);
        stmts.truncate(done);
        for (name, binding) in hidden {
            if let Some(scope) = self.scopes.last_mut() {
                match binding {
                    Some(binding) => scope.insert(name, binding),
                    None => scope.remove(&name),
                };
            }
        }
        let known = self.look_ahead(local, behind, want);
        // What was looked at alone is no call.
        (self.inlined, self.closure_calls) = calls;
        self.ahead.waits = false;
        self.local_of(local, known, stmts);
        self.ahead.waits = waits;
    }

    /// Binds the range that an iterator which has a name takes its numbers from.
    pub(super) fn local_range(&mut self, name: &Ident, of: &TokenStream, stmts: &mut Vec<Stmt>) {
        let stmt: syn::Stmt = parse_quote_spanned!(name.span()=> let mut #name = #of;);
        let known = self.ahead.known_ranges.pop_front();
        if let syn::Stmt::Local(local) = &stmt {
            self.local_of(local, known, stmts);
        }
        if let (true, Some(Binding::Var(var))) = (self.ahead.looks, self.lookup(&name.to_string()))
        {
            let ty = self.vars[var.0].ty.clone();
            self.ahead.ranges.push(ty);
        }
    }

    /// A call with the statements that are behind it, which may decide on literals that it is given: `d.sort_by_key(|x| *x);`, and later `d[0] * n`.
    pub(super) fn statement_before(
        &mut self,
        e: &syn::Expr,
        behind: &[syn::Stmt],
        want: Option<&Ty>,
    ) -> Expr {
        let calls = matches!(e, syn::Expr::MethodCall(_) | syn::Expr::Call(_));
        if !calls || behind.is_empty() || self.ahead.looks || self.ahead.waits {
            return self.statement(e);
        }
        let (errors, vars) = (self.m.diags.0.len(), self.vars.len());
        let (inlined, closures) = (self.inlined, self.closure_calls);
        let waited = std::mem::replace(&mut self.ahead.waited, false);
        self.ahead.waits = true;
        let value = self.statement(e);
        self.ahead.waits = false;
        let is_open = std::mem::replace(&mut self.ahead.waited, waited);
        if !is_open {
            return value;
        }
        self.m.diags.0.truncate(errors);
        self.vars.truncate(vars);
        self.look(|c| {
            for (i, stmt) in behind.iter().enumerate() {
                c.fill_holes();
                c.look_at(stmt, want.filter(|_| i + 1 == behind.len()));
            }
        });
        (self.inlined, self.closure_calls) = (inlined, closures);
        self.statement(e)
    }

    /// The type that the statements behind a variable say it has.
    fn look_ahead(
        &mut self,
        local: &syn::Local,
        behind: &[syn::Stmt],
        want: Option<&Ty>,
    ) -> Option<Ty> {
        self.look(|c| c.looked_for(local, behind, want))
    }

    /// Looks at what is only looked at for types: nothing is kept but these.
    fn look<T>(&mut self, at: impl FnOnce(&mut Self) -> T) -> T {
        let (errors, vars) = (self.m.diags.0.len(), self.vars.len());
        let scope = self.scopes.last().cloned();
        self.ahead.looks = true;
        let found = at(self);
        self.ahead.looks = false;
        self.ahead.holes.clear();
        self.ahead.ranges.clear();
        self.vars.truncate(vars);
        self.m.diags.0.truncate(errors);
        if let (Some(scope), Some(before)) = (self.scopes.last_mut(), scope) {
            *scope = before;
        }
        found
    }

    fn looked_for(
        &mut self,
        local: &syn::Local,
        behind: &[syn::Stmt],
        want: Option<&Ty>,
    ) -> Option<Ty> {
        let (pat, written) = match &local.pat {
            syn::Pat::Type(t) => (&*t.pat, Some(&*t.ty)),
            pat => (pat, None),
        };
        let init = local.init.as_ref()?;
        let mut none = Vec::new();
        if written.is_none()
            && (self.let_chain(pat, &init.expr, &mut none)
                || self.let_each(pat, &init.expr, &mut none))
        {
            self.look_for_ranges(behind, want, init.expr.span());
            return None;
        }
        let written = written.map(|ty| self.annotated(ty));
        let value = self.expr(&init.expr, written.as_ref());
        let ty = value.ty.clone();
        if let Some(written) = written {
            self.table.unify(&ty, &written);
        }
        let own = self.ahead.holes.len();
        // Then it is what is given to a call whose type is looked for.
        let is_known = own == 0 || self.closed(&ty).is_some();
        self.pattern(pat, &ty);
        for (i, stmt) in behind.iter().enumerate() {
            self.fill_holes();
            if !is_known && self.closed(&ty).is_some() {
                break;
            }
            self.look_at(stmt, want.filter(|_| i + 1 == behind.len()));
        }
        if is_known {
            return self.met_wide(&ty).then(|| self.table.resolve(&ty));
        }
        self.fill_holes();
        if self.closed(&ty).is_none() {
            self.ahead.looks = false;
            self.decide(own, init.expr.span());
            self.ahead.looks = true;
        }
        let known = self.table.resolve(&ty);
        self.closed(&known).is_some().then_some(known)
    }

    /// The types of the ranges that an iterator takes its numbers from, by what is done with its items.
    fn look_for_ranges(&mut self, behind: &[syn::Stmt], want: Option<&Ty>, span: Span) {
        let (ranges, own) = (self.ahead.ranges.clone(), self.ahead.holes.len());
        for (i, stmt) in behind.iter().enumerate() {
            self.fill_holes();
            if ranges.iter().all(|ty| self.closed(ty).is_some()) {
                break;
            }
            self.look_at(stmt, want.filter(|_| i + 1 == behind.len()));
        }
        self.fill_holes();
        self.ahead.looks = false;
        self.decide(own, span);
        self.ahead.looks = true;
        let known = ranges.iter().map(|ty| self.table.resolve(ty)).collect();
        self.ahead.known_ranges = known;
    }

    /// Literals that nothing has decided on are what they are at the end of a body.
    fn decide(&mut self, own: usize, span: Span) {
        for i in 0..own {
            let Hole {
                ty,
                unknown: Some(unknown),
            } = self.ahead.holes[i].clone()
            else {
                continue;
            };
            let family = Rc::clone(&self.m.families[unknown.family.0]);
            if let Ty::Var(_) = self.shallow(&ty)
                && let Some(known) =
                    self.params_now(&family.params, &unknown.known, &family.name, span)
            {
                self.fill(&ty, unknown.family, &known);
            }
        }
    }

    /// Checks a statement for what it says of variables.
    fn look_at(&mut self, stmt: &syn::Stmt, want: Option<&Ty>) {
        match stmt {
            syn::Stmt::Local(local) => self.local_before(local, &[], None, &mut Vec::new()),
            syn::Stmt::Item(_) => {}
            syn::Stmt::Expr(e, None) => {
                let value = self.expr(e, want);
                if let Some(want) = want {
                    self.coerce(value, want);
                }
            }
            syn::Stmt::Expr(e, Some(_)) => {
                self.statement(e);
            }
            syn::Stmt::Macro(m) => {
                self.macro_statement(&m.mac);
            }
        }
    }

    fn fill(&mut self, ty: &Ty, family: FamilyId, known: &[Known]) {
        let id = self.m.copy_struct(family, known, Span::call_site());
        self.table.unify(ty, &Ty::Struct(id));
    }

    /// Lets the types be known of which all parameters are. What is the same type has the same ones.
    fn fill_holes(&mut self) {
        for i in 0..self.ahead.holes.len() {
            let Hole {
                ty,
                unknown: Some(unknown),
            } = self.ahead.holes[i].clone()
            else {
                continue;
            };
            let params: Vec<Param> = self.m.families[unknown.family.0].params.clone();
            let at = self.shallow(&ty);
            if let Ty::Struct(id) = at {
                let mut known = unknown.known;
                self.learn_copy(&params, unknown.family, id, &mut known);
                continue;
            }
            let mut all = unknown.known;
            for j in 0..i {
                let other = &self.ahead.holes[j];
                if let Some(of) = &other.unknown
                    && of.family == unknown.family
                    && self.shallow(&other.ty) == at
                {
                    let other = of.known.clone();
                    self.merge(&params, &mut all, &other);
                    self.know(j, all.clone());
                }
            }
            self.know(i, all.clone());
            if let Some(known) = self.settled(&params, &all) {
                self.fill(&ty, unknown.family, &known);
            }
        }
    }

    fn know(&mut self, hole: usize, known: Guesses) {
        if let Some(unknown) = &mut self.ahead.holes[hole].unknown {
            unknown.known = known;
        }
    }

    /// Which of those that are looked for a type is, perhaps behind a reference.
    fn hole_of(&mut self, ty: &Ty) -> Option<usize> {
        if self.ahead.holes.is_empty() {
            return None;
        }
        let of = match self.shallow(ty) {
            Ty::Ref { target, .. } => self.shallow(&target),
            ty => ty,
        };
        if !matches!(of, Ty::Var(v) if self.table.class(v) == Class::Any) {
            return None;
        }
        let holes = self.ahead.holes.iter();
        let found = holes
            .map(|hole| self.shallow(&hole.ty))
            .position(|ty| ty == of)?;
        self.fill_holes();
        matches!(self.shallow(&of), Ty::Var(_)).then_some(found)
    }

    /// The family of what is looked for.
    pub(super) fn family_looked_for(&self, ty: &Ty) -> Option<FamilyId> {
        let of = self.shallow(ty);
        let is_open = matches!(of, Ty::Var(v) if self.table.class(v) == Class::Any);
        let mut holes = self.ahead.holes.iter().filter(|_| is_open);
        let hole = holes.find(|hole| self.shallow(&hole.ty) == of)?;
        Some(hole.unknown.as_ref()?.family)
    }

    /// What a method of a range is, and what its argument says of the range's numbers.
    fn method_of_range(&mut self, m: &syn::ExprMethodCall, of: &Ty, number: &Ty) -> Option<Ty> {
        Some(match (&*m.method.to_string(), m.args.first()) {
            ("next" | "next_back", None) => Ty::Option(Box::new(number.clone())),
            ("clone", None) => of.clone(),
            ("len", None) => USIZE,
            ("contains", Some(one)) => {
                let mut one = self.expr(one, None).ty;
                while let Ty::Ref { target, .. } = self.shallow(&one) {
                    one = *target;
                }
                self.table.unify(number, &one);
                BOOL
            }
            _ => return None,
        })
    }

    /// What a method's arguments say of the parameters of what it is called on, where these are looked for.
    pub(super) fn method_of_hole(
        &mut self,
        m: &syn::ExprMethodCall,
        receiver: &Ty,
    ) -> Option<Expr> {
        let hole = self.hole_of(receiver)?;
        let Some(Unknown { family, known }) = self.ahead.holes[hole].unknown.clone() else {
            return Some(Self::broken(m.span()));
        };
        if self.m.ranges.is_some_and(|r| r.is_closed(family).is_some()) {
            let of = Rc::clone(&self.m.families[family.0]);
            let number = of.part(0)?.clone();
            let number = self.there(&of.at, |c| c.open(&number, &known))?;
            let ty = self.method_of_range(m, receiver, &number);
            self.fill_holes();
            let ty = ty.unwrap_or(Ty::Error);
            return Some(Expr::new(ExprKind::Error, ty, m.span()));
        }
        let mut members = self.m.members.iter();
        let member = members.find_map(|member| match &member.item {
            MemberItem::Fn(f) if member.family == family && m.method == member.name => {
                Some((member.clone(), Rc::clone(f)))
            }
            _ => None,
        });
        let Some((member, item)) = member else {
            return Some(Self::broken(m.span()));
        };
        let template = self.m.open_member(&member, &item);
        let template = Rc::clone(&self.m.templates[template.0]);
        let mut g = self.guesses(&template.params);
        let params = self.m.families[family.0].params.clone();
        self.share(&params, &member.of, &known, &mut g);
        for ((_, ty), arg) in template.inputs().skip(1).zip(&m.args) {
            let want = self.there(&template.at, |c| c.open(ty, &g));
            let value = match &want {
                Some(want) => self.expr_as(arg, want),
                None => self.expr(arg, None),
            };
            self.there(&template.at, |c| c.learn(ty, &value.ty, &mut g));
        }
        let mut known = known;
        self.share_back(&params, &member.of, &g, &mut known);
        self.know(hole, known);
        self.fill_holes();
        let ty = match &template.item.sig.output {
            syn::ReturnType::Type(_, ty) => self.there(&template.at, |c| c.open(ty, &g)),
            syn::ReturnType::Default => Some(Ty::unit()),
        };
        Some(Expr::new(
            ExprKind::Error,
            ty.unwrap_or(Ty::Error),
            m.span(),
        ))
    }

    /// The field of what is looked for.
    pub(super) fn field_of_hole(&mut self, of: &Ty, name: &str, e: &syn::Expr) -> Option<Expr> {
        let hole = self.hole_of(of)?;
        let Unknown { family, known } = self.ahead.holes[hole].unknown.clone()?;
        let family = Rc::clone(&self.m.families[family.0]);
        let index = family.fields()?.iter().position(|field| field == name)?;
        let written = family.part(index)?.clone();
        let ty = self.there(&family.at, |c| c.open(&written, &known));
        Some(Expr::new(
            ExprKind::Error,
            ty.unwrap_or(Ty::Error),
            e.span(),
        ))
    }
}
