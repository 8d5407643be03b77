//! Parallel loops as Rust.
//!
//! In the serial elision one is a loop, but that sums of floats are added up in the order in which devices add them. In the race check its
//! rounds are a closure that is `Fn` and `Sync`, so that rustc refuses whatever two of them could do to each other; what they
//! gather is a copy in each.

use crate::{check::is_parallel_attribute, diag::start, items::ident};
use millstream_graph::ir::BinOp;
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{
    Expr, ExprForLoop, Item, ItemMod,
    spanned::Spanned,
    visit_mut::{self, VisitMut},
};

/// What the front end knows of a parallel loop.
#[derive(Clone, Debug)]
pub struct ParallelLoop {
    /// Line and column.
    pub(crate) at: (usize, usize),
    /// How many rounds are a piece at least; none: one is, always.
    pub(crate) least: Option<u64>,
    /// The variables that it gathers in.
    pub(crate) gathers: Vec<Gathered>,
}

/// What a parallel loop gathers in a variable.
#[derive(Clone, Debug)]
pub(crate) struct Gathered {
    pub(crate) name: String,
    /// How what pieces gathered is joined.
    pub(crate) op: BinOp,
    /// Whether the order shows.
    pub(crate) ordered: bool,
}

/// Whether a loop is under `#[parallel]`.
pub(super) fn is_parallel(f: &ExprForLoop) -> bool {
    f.attrs.iter().any(is_parallel_attribute)
}

/// Makes plain loops of the parallel ones.
pub(super) fn elide(module: &mut ItemMod, loops: &[ParallelLoop]) {
    struct Elide<'a>(&'a [ParallelLoop]);
    impl VisitMut for Elide<'_> {
        fn visit_expr_mut(&mut self, e: &mut Expr) {
            visit_mut::visit_expr_mut(self, e);
            if let Expr::ForLoop(f) = e
                && is_parallel(f)
            {
                let at = start(f.span());
                f.attrs.retain(|a| !is_parallel_attribute(a));
                let info = self.0.iter().find(|l| l.at == at);
                if let Some(info) = info.filter(|l| l.gathers.iter().any(|g| g.ordered)) {
                    *e = Expr::Verbatim(added_up(f.clone(), info));
                }
            }
        }
    }
    let items = module.content.iter_mut().flat_map(|(_, items)| items);
    items.for_each(|item| Elide(loops).visit_item_mut(item));
}

/// A loop whose gathers are added up as devices do it, where that shows. What is gathered beside is changed where it lies, as in any loop.
fn added_up(mut f: ExprForLoop, info: &ParallelLoop) -> TokenStream {
    let at = f.for_token.span;
    let own = Span::mixed_site().located_at(at);
    let label = rewrite_continues(&mut f);
    let (pat, items, body) = (&f.pat, &f.expr, &f.body);
    let ordered = || info.gathers.iter().filter(|g| g.ordered);
    let names: Vec<_> = ordered().map(|g| ident(&g.name, at)).collect();
    let how: Vec<_> = ordered().map(|g| how(g.op)).collect();
    let index: Vec<_> = (0..names.len()).map(syn::Index::from).collect();
    let least = info.least.unwrap_or(0) as usize;
    let gathered = quote_spanned!(own=> ::millstream::__private::Gathered);
    quote_spanned! {own=> {
        let gathered = ::millstream::__private::rounds(
            #items,
            #least,
            (#(#gathered::nothing(#names, #how),)*),
            |a, b| (#(#gathered::join(a.#index, #how, b.#index),)*),
            |#pat, gathered| {
                let (#(mut #names,)*) = gathered;
                #label: #body
                (#(#names,)*)
            },
        );
        #(#names = #gathered::join(#names, #how, gathered.#index);)*
    }}
}

fn how(op: BinOp) -> TokenStream {
    let name = match op {
        BinOp::Mul => quote!(Mul),
        BinOp::Min => quote!(Min),
        BinOp::Max => quote!(Max),
        _ => quote!(Add),
    };
    quote!(::millstream::__private::Gather::#name)
}

/// The rounds of a loop as what may run side by side. `first` and `last` are what stands before and after a round.
pub(super) fn beside(
    mut f: ExprForLoop,
    loops: &[ParallelLoop],
    first: &TokenStream,
    last: &TokenStream,
) -> TokenStream {
    let at = f.for_token.span;
    let own = Span::mixed_site().located_at(at);
    let place = start(f.span());
    let info = loops.iter().find(|l| l.at == place);
    let gathers = info.iter().flat_map(|l| &l.gathers);
    let names: Vec<_> = gathers.map(|g| ident(&g.name, at)).collect();
    let label = rewrite_continues(&mut f);
    let (pat, items, body) = (&f.pat, &f.expr, &f.body);
    quote_spanned! {own=> {
        ::millstream::__private::beside(#items, |#pat| {
            #first
            #(let mut #names = #names;)*
            #label: #body
            #last
        });
    }}
}

/// The same rounds one after the other.
pub(super) fn in_turn(mut f: ExprForLoop, first: &TokenStream, last: &TokenStream) -> TokenStream {
    let own = Span::mixed_site().located_at(f.for_token.span);
    let label = rewrite_continues(&mut f);
    let (pat, items, body) = (&f.pat, &f.expr, &f.body);
    quote_spanned! {own=>
        for #pat in #items {
            #first
            #label: #body
            #last
        }
    }
}

/// Lets `continue` leave a block of the label that is given.
fn rewrite_continues(f: &mut ExprForLoop) -> syn::Lifetime {
    struct Continues {
        own: Option<syn::Lifetime>,
        label: syn::Lifetime,
        /// In how many loops of the body this is.
        depth: usize,
    }
    impl VisitMut for Continues {
        fn visit_expr_mut(&mut self, e: &mut Expr) {
            let is_loop = matches!(e, Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_));
            if let Expr::Continue(c) = e {
                let ours = match &c.label {
                    Some(label) => self
                        .own
                        .as_ref()
                        .is_some_and(|own| own.ident == label.ident),
                    None => self.depth == 0,
                };
                if ours {
                    let label = &self.label;
                    *e = syn::parse_quote_spanned!(c.span()=> break #label);
                }
                return;
            }
            self.depth += usize::from(is_loop);
            visit_mut::visit_expr_mut(self, e);
            self.depth -= usize::from(is_loop);
        }

        fn visit_item_mut(&mut self, _: &mut Item) {}
    }
    let own = Span::mixed_site().located_at(f.for_token.span);
    // Rounds within others that run in turn stand in their label's scope.
    let (line, column) = start(f.for_token.span);
    let label = syn::Lifetime::new(&format!("'millstream_round_{line}_{column}"), own);
    let mut continues = Continues {
        own: f.label.take().map(|l| l.name),
        label: label.clone(),
        depth: 0,
    };
    continues.visit_block_mut(&mut f.body);
    label
}

/// Whether a parallel loop stands somewhere in a function.
pub(super) fn has_parallel(block: &syn::Block) -> bool {
    struct Has(bool);
    impl<'ast> syn::visit::Visit<'ast> for Has {
        fn visit_expr_for_loop(&mut self, f: &'ast ExprForLoop) {
            self.0 |= is_parallel(f);
            syn::visit::visit_expr_for_loop(self, f);
        }
    }
    let mut has = Has(false);
    syn::visit::Visit::visit_block(&mut has, block);
    has.0
}
