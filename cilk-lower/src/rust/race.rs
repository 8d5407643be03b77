//! The race check: a version of each task and kernel that is never called, for rustc's borrow checker.
//!
//! In it, each `spawn!(f(a, b))` calls a stand-in of `f` that borrows its arguments for `'s`, the lifetime of `children`, a variable
//! whose drop may look at all that was borrowed. A `sync!()` drops it. So what a child was lent stays borrowed up to the next sync: a
//! second child that wants it `&mut`, or a parent that touches it, is refused by rustc at the user's own code. At the end of a task,
//! its value is computed, then `children` is dropped: so locals may be lent up to the implicit sync.
//!
//! From a sync to the next spawn there is no value in `children`, though which it is on some path is known only to rustc, so each spawn,
//! each result that goes to a place and each sync assigns a new one: that drops the old one, if there is one, and goes on with its borrows, since the lifetime is the
//! same. With a value after a sync, what the parent itself still holds of the borrows from before it would seem lent to children to
//! come: after `let (a, b) = data.split_at_mut(m)`, children that were lent both, and a merge of both, `data` could not be used again.
//!
//! A place that a child's result goes to is held as well, shared: other results may go to its neighbours (that a place is not used
//! before its sync is the front end's affair), but nothing that reaches it by another way may touch it. A plain variable needs no
//! hold: the front end sees all its uses. Being shared, a hold says nothing of a child that was lent the same to read before. So a
//! task with such places is looked at once more, with results that are assigned where their children are spawned.

use super::{LayOut, ParallelLoop, quiet, rounds, types::Writer};
use crate::{check::one_by_one, items::ident, kernels::is_role_attribute};
use millstream_graph::ir::{Function, Program};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{
    Block, Expr, ImplItem, ImplItemFn, Item, ItemFn, ItemMod, Macro, Stmt,
    spanned::Spanned,
    visit::Visit,
    visit_mut::{self, VisitMut},
};

/// The versions of all tasks and kernels, and the stand-ins that they call.
#[must_use]
pub fn check(module: &ItemMod, program: &Program, loops: &[ParallelLoop]) -> TokenStream {
    let stand_ins = program.callable().map(|(_, task)| {
        let name = stand_in(&task.name, Span::mixed_site());
        let (types, ret) = lent(task, program);
        let params = (0..types.len()).map(|i| format_ident!("arg{i}"));
        quote! {
            fn #name<'s>(children: &::millstream::__private::Children<'s>, #(#params: #types),*) -> #ret {
                ::core::unimplemented!()
            }
        }
    });
    let versions = versions(module, loops);
    let quiet = quiet();
    quote! {
        #quiet
        const _: () = {
            #(#stand_ins)*
            #(#versions)*
        };
    }
}

/// Adds to the modules within what is to be checked there: helpers that have parallel loops.
pub fn check_within(module: &mut ItemMod, loops: &[ParallelLoop]) {
    let items = module.content.iter_mut().flat_map(|(_, items)| items);
    for item in items {
        let Item::Mod(within) = item else { continue };
        check_within(within, loops);
        let versions = versions(within, loops);
        if let Some((_, items)) = &mut within.content
            && !versions.is_empty()
        {
            let quiet = quiet();
            items.push(Item::Verbatim(quote! {
                #quiet
                const _: () = { #(#versions)* };
            }));
        }
    }
}

/// The versions of a module's functions that are looked at.
fn versions(module: &ItemMod, loops: &[ParallelLoop]) -> Vec<TokenStream> {
    let items = module.content.iter().flat_map(|(_, items)| items);
    let looked_at = |attrs: &[syn::Attribute], block: &Block| {
        attrs.iter().any(is_role_attribute) || rounds::has_parallel(block)
    };
    let layout = &mut LayOut::of(module);
    let versions = items.filter_map(|item| match item {
        Item::Fn(f) if looked_at(&f.attrs, &f.block) => Some(both(f, loops, layout)),
        Item::Impl(i) => {
            let own = i.items.iter().filter_map(|item| match item {
                ImplItem::Fn(f) if looked_at(&f.attrs, &f.block) => Some(method(f, loops, layout)),
                _ => None,
            });
            let (own, ty) = (own.collect::<Vec<_>>(), &i.self_ty);
            (!own.is_empty()).then(|| quote!(impl #ty { #(#own)* }))
        }
        _ => None,
    });
    versions.collect()
}

/// The types of a task's parameters and of its result, with the lifetime `'s` for all that it borrows.
fn lent(task: &Function, program: &Program) -> (Vec<TokenStream>, TokenStream) {
    let writer = Writer {
        structs: &program.structs,
        path: quote!(),
        lifetime: quote!('s),
    };
    let params = task.params.iter().map(|p| writer.ty(&p.ty)).collect();
    (params, writer.ty(&task.ret))
}

fn stand_in(task: &str, span: Span) -> Ident {
    format_ident!(
        "millstream_spawn_{}",
        task.trim_start_matches("r#"),
        span = span
    )
}

/// A method, as a function of its type is looked at.
fn method(f: &ImplItemFn, loops: &[ParallelLoop], layout: &mut LayOut) -> TokenStream {
    let (sig, block) = (&f.sig, &f.block);
    both(&syn::parse_quote!(#sig #block), loops, layout)
}

/// The versions of a task, or of a helper that has parallel loops: one in which the places of results are held and, where there are such places, one in which results are
/// stored.
fn both(task: &ItemFn, loops: &[ParallelLoop], layout: &mut LayOut) -> TokenStream {
    let mut places = HasPlace(false);
    places.visit_block(&task.block);
    let held = version(task.clone(), loops, layout, Results::Held);
    let stored = places
        .0
        .then(|| version(task.clone(), loops, layout, Results::Stored));
    quote!(#held #stored)
}

/// What is made of a child's result whose place is more than a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Results {
    /// Its place is lent up to the next sync, shared with those of others.
    Held,
    /// It is assigned where the child is spawned: so that no child before it was lent what it is stored to.
    Stored,
}

/// A task with its children's borrows; also a helper that has parallel loops.
fn version(
    mut task: ItemFn,
    loops: &[ParallelLoop],
    layout: &mut LayOut,
    results: Results,
) -> TokenStream {
    let end = task.block.brace_token.span.close();
    let ret = match &task.sig.output {
        syn::ReturnType::Default => Some(quote!(())),
        // The type `!` cannot be written for a variable.
        syn::ReturnType::Type(_, ty) if matches!(**ty, syn::Type::Never(_)) => None,
        syn::ReturnType::Type(_, ty) => Some(quote!(#ty)),
    };
    layout.visit_block_mut(&mut task.block);
    let mut rewrite = Rewrite {
        ret,
        loops,
        results,
        in_closure: false,
    };
    rewrite.visit_block_mut(&mut task.block);
    rewrite.finish_block(&mut task.block, end);
    task.attrs.clear();
    task.vis = syn::Visibility::Inherited;
    let name = ident(&task.sig.ident.to_string(), Span::mixed_site());
    let kind = match results {
        Results::Held => "check",
        Results::Stored => "stores",
    };
    task.sig.ident = format_ident!("millstream_{}_{}", kind, name, span = Span::mixed_site());
    let (sig, stmts, children) = (&task.sig, &task.block.stmts, children(Span::mixed_site()));
    quote! {
        #sig {
            let mut #children: ::millstream::__private::Children<'_>;
            #(#stmts)*
        }
    }
}

/// The variable that holds what children were lent. It is the macro's own by hygiene; in the text that the command makes, which has
/// none, by its name.
fn children(at: Span) -> Ident {
    Ident::new("millstream_children", own(at))
}

/// The variable that holds a task's value, or a child's result.
fn result(at: Span) -> Ident {
    Ident::new("millstream_result", own(at))
}

/// A place in the user's source, for names of the macro's own.
fn own(at: Span) -> Span {
    Span::mixed_site().located_at(at)
}

/// Ends what children were lent.
fn sync(at: Span) -> TokenStream {
    let children = children(at);
    quote_spanned! {own(at)=>
        #children = ::millstream::__private::Children::new();
        ::core::mem::drop(#children);
    }
}

struct Rewrite<'a> {
    ret: Option<TokenStream>,
    loops: &'a [ParallelLoop],
    results: Results,
    /// What returns there leaves the closure alone, not the task.
    in_closure: bool,
}

impl VisitMut for Rewrite<'_> {
    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        if let Stmt::Macro(m) = stmt
            && let Some(tokens) = self.macro_call(&m.mac)
        {
            *stmt = Stmt::Expr(Expr::Verbatim(tokens), m.semi_token);
            return;
        }
        visit_mut::visit_stmt_mut(self, stmt);
    }

    fn visit_expr_mut(&mut self, e: &mut Expr) {
        if let Expr::Macro(m) = e
            && let Some(tokens) = self.macro_call(&m.mac)
        {
            *e = Expr::Verbatim(tokens);
            return;
        }
        if let Expr::Assign(a) = &*e
            && result_place(e).is_some()
            && let Some(each) = one_by_one(a)
        {
            *e = each;
        }
        let place = result_place(e).filter(|_| self.results == Results::Held);
        let place = place.cloned();
        visit_mut::visit_expr_mut(self, e);
        match (place, &*e) {
            (Some(place), Expr::Assign(a)) => *e = Self::hold(&place, &a.right),
            (Some(place), Expr::Binary(b)) => *e = Self::hold(&place, &b.right),
            (_, Expr::Return(r)) if !self.in_closure => {
                let value = r.expr.as_ref().map_or_else(|| quote!(()), |e| quote!(#e));
                let (end, at) = (self.end(&value, r.return_token.span), r.return_token);
                let result = result(at.span);
                *e = Expr::Verbatim(quote!({ #end #at #result; }));
            }
            (_, Expr::Try(t)) if !self.in_closure => {
                let tried = self.tried(&t.expr, t.question_token.span);
                *e = Expr::Verbatim(tried);
            }
            (_, Expr::ForLoop(f)) if rounds::is_parallel(f) => {
                let at = f.for_token.span;
                // Each round has children of its own, and waits for them.
                let (children, last) = (children(at), sync(at));
                let first = quote_spanned! {own(at)=>
                    let mut #children: ::millstream::__private::Children<'_>;
                };
                *e = Expr::Verbatim(match self.results {
                    Results::Held => rounds::beside(f.clone(), self.loops, &first, &last),
                    // Rounds that run side by side may store to elements of their own, which rustc does not tell apart.
                    Results::Stored => rounds::in_turn(f.clone(), &first, &last),
                });
            }
            _ => {}
        }
    }

    fn visit_expr_closure_mut(&mut self, closure: &mut syn::ExprClosure) {
        let around = std::mem::replace(&mut self.in_closure, true);
        visit_mut::visit_expr_closure_mut(self, closure);
        self.in_closure = around;
    }

    fn visit_item_mut(&mut self, _: &mut Item) {}
}

impl Rewrite<'_> {
    /// What stands for a `spawn!` or a `sync!`; none for other macros.
    fn macro_call(&mut self, mac: &Macro) -> Option<TokenStream> {
        let name = &mac.path.segments.last()?.ident;
        let at = mac.path.span();
        let children = children(at);
        if name == "sync" {
            let sync = sync(at);
            return Some(quote_spanned!(own(at)=> { #sync }));
        }
        if name != "spawn" {
            return None;
        }
        let mut e = mac.parse_body::<Expr>().ok()?;
        while let Expr::Paren(syn::ExprParen { expr, .. })
        | Expr::Group(syn::ExprGroup { expr, .. }) = e
        {
            e = *expr;
        }
        let Expr::Call(mut call) = e else { return None };
        call.args
            .iter_mut()
            .for_each(|arg| self.visit_expr_mut(arg));
        let (task, args) = (quote::ToTokens::to_token_stream(&call.func), &call.args);
        let names = task.into_iter().filter_map(|t| match t {
            proc_macro2::TokenTree::Ident(i) => Some(i),
            _ => None,
        });
        let task = names.last()?;
        let name = stand_in(&task.to_string(), own(task.span()));
        Some(quote_spanned! {own(at)=>
            #name({ #children = ::millstream::__private::Children::new(); &#children }, #args)
        })
    }

    /// A result goes to a place. On the way there may have been no child, and then there is nothing in `children`.
    fn hold(place: &Expr, value: &Expr) -> Expr {
        let at = own(place.span());
        let (children, result) = (children(place.span()), result(place.span()));
        Expr::Verbatim(quote_spanned! {at=> {
            let #result = #value;
            #children = ::millstream::__private::Children::new();
            #children.hold(&#place, #result);
        }})
    }

    /// A task's value, then its last sync.
    fn end(&self, value: &TokenStream, at: Span) -> TokenStream {
        let sync = sync(at);
        let (ty, result) = (self.ret.as_ref().map(|ty| quote!(: #ty)), result(at));
        quote_spanned! {own(at)=>
            let #result #ty = #value;
            #sync
        }
    }

    /// `value?`, which syncs where the task ends there. A closure makes of what is left behind what the task returns.
    fn tried(&self, value: &Expr, at: Span) -> TokenStream {
        let (sync, tried) = (sync(at), Ident::new("millstream_tried", own(at)));
        let ret = self.ret.iter();
        quote_spanned! {own(at)=>
            match ::millstream::__private::Tried::tried(#value) {
                ::core::result::Result::Ok(#tried) => #tried,
                ::core::result::Result::Err(#tried) => {
                    #sync
                    return (move || #(-> #ret)* { #tried?; ::core::unreachable!() })();
                }
            }
        }
    }

    /// Lets a block that is a task's value end with the last sync.
    fn finish_block(&self, block: &mut Block, end: Span) {
        if let Some(Stmt::Macro(m)) = block.stmts.last()
            && m.semi_token.is_none()
        {
            let value = Expr::Macro(syn::ExprMacro {
                attrs: Vec::new(),
                mac: m.mac.clone(),
            });
            block.stmts.pop();
            block.stmts.push(Stmt::Expr(value, None));
        }
        match block.stmts.last_mut() {
            Some(Stmt::Expr(value, None)) => {
                let at = value.span();
                self.finish(value, at);
            }
            _ => {
                let sync = sync(end);
                let last = quote_spanned!(own(end)=> { #sync });
                block.stmts.push(Stmt::Expr(
                    Expr::Verbatim(last),
                    Some(syn::token::Semi(end)),
                ));
            }
        }
    }

    /// Lets an expression that is a task's value end with the last sync: each branch by itself, so that what it declares and lends is
    /// still there.
    fn finish(&self, e: &mut Expr, at: Span) {
        match e {
            Expr::If(i) => {
                let end = i.then_branch.brace_token.span.close();
                self.finish_block(&mut i.then_branch, end);
                match &mut i.else_branch {
                    Some((_, other)) => self.finish(other, other.span()),
                    None => {
                        let sync = sync(end);
                        let last = quote_spanned!(own(end)=> { #sync });
                        i.else_branch =
                            Some((syn::token::Else(end), Box::new(Expr::Verbatim(last))));
                    }
                }
            }
            Expr::Match(m) => m.arms.iter_mut().for_each(|arm| {
                let at = arm.body.span();
                self.finish(&mut arm.body, at);
            }),
            Expr::Block(b) if b.label.is_none() => {
                let end = b.block.brace_token.span.close();
                self.finish_block(&mut b.block, end);
            }
            value => {
                let end = self.end(&quote!(#value), at);
                let name = result(at);
                *value = Expr::Verbatim(quote!({ #end #name }));
            }
        }
    }
}

/// The place that a child's result goes to, if it is more than a variable.
fn result_place(e: &Expr) -> Option<&Expr> {
    let (place, value) = match e {
        Expr::Assign(a) => (&*a.left, &*a.right),
        Expr::Binary(b) if is_gathering(&b.op) => (&*b.left, &*b.right),
        _ => return None,
    };
    let variable = matches!(strip(place), Expr::Path(_));
    let mut child = HasChild(false);
    child.visit_expr(value);
    (!variable && child.0).then_some(place)
}

/// Looks for a result's place that is more than a variable.
struct HasPlace(bool);

impl Visit<'_> for HasPlace {
    fn visit_expr(&mut self, e: &Expr) {
        self.0 |= result_place(e).is_some();
        syn::visit::visit_expr(self, e);
    }
}

/// Looks for a child.
struct HasChild(bool);

impl Visit<'_> for HasChild {
    fn visit_macro(&mut self, mac: &Macro) {
        self.0 |= (mac.path.segments.last()).is_some_and(|s| s.ident == "spawn");
    }
}

/// Whether an operator is one of those that gather: `x += y` and its kin.
fn is_gathering(op: &syn::BinOp) -> bool {
    use syn::BinOp::{AddAssign, BitAndAssign, BitOrAssign, BitXorAssign};
    matches!(
        op,
        AddAssign(_) | BitOrAssign(_) | BitAndAssign(_) | BitXorAssign(_)
    )
}

fn strip(e: &Expr) -> &Expr {
    match e {
        Expr::Paren(p) => strip(&p.expr),
        Expr::Group(g) => strip(&g.expr),
        other => other,
    }
}
