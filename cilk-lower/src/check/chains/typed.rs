//! What a function says of the items of the iterator that it gives, `-> impl Iterator<Item = u64>`, which decides on literals in it.

use super::{super::Checker, own};
use crate::hir::Stmt;
use proc_macro2::Ident;
use syn::{parse_quote_spanned, spanned::Spanned};

impl Checker<'_> {
    /// An iterator by its name, or the same by another, with items of the type that is written.
    pub(super) fn with_items(
        &mut self,
        name: Ident,
        item: &syn::Type,
        stmts: &mut Vec<Stmt>,
    ) -> Ident {
        let span = item.span();
        let chain: syn::Expr = parse_quote_spanned!(span=> #name);
        let made = self.item_of_chain(&chain);
        if self.closed(&made).is_some() {
            return name;
        }
        let wanted = self.annotated(item);
        self.table.unify(&made, &wanted);
        if self.closed(&made).is_none() {
            return name;
        }
        // A closure's literals are others each time that it stands somewhere.
        let again = self.item_of_chain(&chain);
        if self.closed(&again).is_some() {
            return name;
        }
        let (typed, one) = (self.held_name(span), own("one", span));
        let of = parse_quote_spanned!(span=> #chain.map(|#one: #item| #one));
        match self.let_iterator(&typed, &of, stmts) {
            true => typed,
            false => name,
        }
    }
}
