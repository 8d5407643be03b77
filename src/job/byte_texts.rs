//! Byte texts in expressions: `b"ab"` is written as the reference to an array that it is, so that what reads expressions knows arrays alone.

use syn::{
    Expr, Lit, UnOp,
    visit_mut::{self, VisitMut},
};

/// Writes `b"ab"` as `&[b'a', b'b']`, and `*b"ab"` as the array.
pub(super) struct ByteTexts;

impl VisitMut for ByteTexts {
    fn visit_expr_mut(&mut self, e: &mut Expr) {
        let (of, is_array) = match &*e {
            Expr::Unary(syn::ExprUnary {
                op: UnOp::Deref(_),
                expr,
                ..
            }) => (&**expr, true),
            other => (other, false),
        };
        let Expr::Lit(syn::ExprLit {
            lit: Lit::ByteStr(text),
            ..
        }) = of
        else {
            return visit_mut::visit_expr_mut(self, e);
        };
        let span = text.span();
        let bytes = text.value();
        let bytes = bytes.iter().map(|b| syn::LitByte::new(*b, span));
        *e = match is_array {
            true => syn::parse_quote_spanned!(span=> [#(#bytes),*]),
            false => syn::parse_quote_spanned!(span=> &[#(#bytes),*]),
        };
    }
}
