//! Where `#[parallel]` stands: in front of a `for`. Elsewhere it would be read over, and what it is to say would not be so.

use crate::{check::is_parallel_attribute, diag::Diagnostics};
use syn::{
    spanned::Spanned,
    visit::{self, Visit},
};

/// Refuses it in front of all else.
pub(crate) fn refuse_misplaced(module: &syn::ItemMod, diags: &mut Diagnostics) {
    Misplaced { diags }.visit_item_mod(module);
}

struct Misplaced<'d> {
    diags: &'d mut Diagnostics,
}

impl<'e> Visit<'e> for Misplaced<'_> {
    fn visit_attribute(&mut self, attr: &'e syn::Attribute) {
        if is_parallel_attribute(attr) {
            self.diags
                .error(attr.span(), "`#[parallel]` stands in front of a `for`")
                .help("write it at the loop itself: `#[parallel] for i in 0..n { .. }`");
        }
    }

    // What a loop has is asked where it is checked.
    fn visit_expr_for_loop(&mut self, f: &'e syn::ExprForLoop) {
        self.visit_expr(&f.expr);
        self.visit_block(&f.body);
    }

    fn visit_expr_while(&mut self, w: &'e syn::ExprWhile) {
        self.visit_expr(&w.cond);
        self.visit_block(&w.body);
    }

    fn visit_expr_loop(&mut self, l: &'e syn::ExprLoop) {
        visit::visit_block(self, &l.body);
    }
}
