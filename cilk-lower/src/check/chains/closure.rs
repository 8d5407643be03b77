//! Closures of chains: their bodies, as parts of a loop's.

use super::{super::places::strip, Refused, refused};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{
    spanned::Spanned,
    visit::{self, Visit},
};

/// An attribute of a `let` whose pattern takes the value for a reference to it.
const LENT: &str = "lent";

/// Whether a `let` has it.
pub(in super::super) fn is_lent(attrs: &[syn::Attribute]) -> bool {
    let lent = super::own(LENT, Span::call_site());
    attrs.iter().any(|a| a.path().is_ident(&lent))
}

/// An attribute of a block that is a closure's body.
const CLOSURE: &str = "closure";

/// Whether a block has it: what returns in it leaves that block.
pub(in super::super) fn is_closure(attrs: &[syn::Attribute]) -> bool {
    let closure = super::own(CLOSURE, Span::call_site());
    attrs.iter().any(|a| a.path().is_ident(&closure))
}

/// A block that what returns in it leaves.
pub(super) fn closure_block(body: &syn::Expr, span: Span) -> syn::Expr {
    let closure = super::own(CLOSURE, span);
    syn::parse_quote_spanned!(span=> #[#closure] { #body })
}

/// The closure, or the name of one, that is lent: `&f`, `&mut f`, `&mut *f`.
fn lent(f: &syn::Expr) -> &syn::Expr {
    match strip(f) {
        syn::Expr::Reference(r) => lent(&r.expr),
        syn::Expr::Unary(u) if matches!(u.op, syn::UnOp::Deref(_)) => lent(&u.expr),
        f => f,
    }
}

/// What a closure, or a function, comes to for these arguments. Of one that is lent to it, `true`, the closure has a reference; the loop has the item itself, and
/// knows of its names that `*x` is `x`.
pub(in super::super) fn apply(
    f: &syn::Expr,
    args: &[(&Ident, bool)],
) -> Result<TokenStream, Refused> {
    let (f, span) = (lent(f), f.span());
    if let syn::Expr::Path(function) = f {
        let args = args.iter().map(|(arg, lent)| match lent {
            true => quote_spanned!(span=> &#arg),
            false => arg.to_token_stream(),
        });
        return Ok(quote_spanned!(span=> #function(#(#args),*)));
    }
    let syn::Expr::Closure(closure) = f else {
        return refused(
            span,
            "expected a closure",
            "write it here: `|x| ..`, name a function, or give it a name before: `let f = ..;`",
        );
    };
    if closure.inputs.len() != args.len() {
        return refused(
            span,
            format!(
                "this closure takes {} arguments, and gets {}",
                closure.inputs.len(),
                args.len()
            ),
            "several in one are a tuple: `|(i, x)| ..`",
        );
    }
    if let Some(why) = what_leaves(&closure.body) {
        return Err(why);
    }
    let body = &closure.body;
    let mut lets = TokenStream::new();
    for (pat, (arg, lent)) in closure.inputs.iter().zip(args) {
        let (pat, ty) = match pat {
            syn::Pat::Type(t) => (&*t.pat, Some(&t.ty)),
            pat => (pat, None),
        };
        match (lent, pat) {
            (true, syn::Pat::Reference(r)) => {
                let pat = &r.pat;
                lets.extend(quote_spanned!(span=> let #pat = #arg;));
            }
            (true, pat) => {
                let lent = super::own(LENT, span);
                lets.extend(quote_spanned!(span=> #[#lent] let #pat = #arg;));
            }
            (false, pat) => {
                let ty = ty.map(|ty| quote_spanned!(span=> : #ty));
                lets.extend(quote_spanned!(span=> let #pat #ty = #arg;));
            }
        }
    }
    let closure_attr = super::own(CLOSURE, span);
    // What a statement would end at goes on in an expression.
    let body = match returns(body) {
        true => quote_spanned!(span=> (#[#closure_attr] { #body })),
        false => quote_spanned!(span=> (#body)),
    };
    let syn::ReturnType::Type(_, ty) = &closure.output else {
        return Ok(quote_spanned!(span=> { #lets #body }));
    };
    let made = super::own("made", span);
    Ok(quote_spanned!(span=> { #lets let #made: #ty = #body; #made }))
}

/// Whether something in a closure's body returns from it.
pub(in super::super) fn returns(body: &syn::Expr) -> bool {
    #[derive(Default)]
    struct Returns(bool);

    impl<'e> Visit<'e> for Returns {
        fn visit_expr_return(&mut self, _: &'e syn::ExprReturn) {
            self.0 = true;
        }

        fn visit_expr_try(&mut self, _: &'e syn::ExprTry) {
            self.0 = true;
        }

        // What returns from that leaves it alone.
        fn visit_expr_closure(&mut self, _: &'e syn::ExprClosure) {}

        fn visit_macro(&mut self, m: &'e syn::Macro) {
            self.0 |= leaves_by(m.tokens.clone());
        }
    }

    let mut found = Returns::default();
    found.visit_expr(body);
    found.0
}

/// Whether there is a `return` or `?` among a macro's arguments.
fn leaves_by(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        proc_macro2::TokenTree::Ident(i) => i == "return",
        proc_macro2::TokenTree::Punct(p) => p.as_char() == '?',
        proc_macro2::TokenTree::Group(g) => leaves_by(g.stream()),
        proc_macro2::TokenTree::Literal(_) => false,
    })
}

/// What would leave more than the closure, if anything.
pub(in super::super) fn what_leaves(body: &syn::Expr) -> Option<Refused> {
    let mut leaves = Leaves::default();
    leaves.visit_expr(body);
    leaves.why
}

/// Looks for what would leave more than the closure where that is a loop's body.
#[derive(Default)]
struct Leaves {
    why: Option<Refused>,
    /// Loops around.
    loops: usize,
}

impl Leaves {
    fn refuse(&mut self, span: Span, what: &str) {
        self.why = Some(Refused {
            span,
            message: format!("{what} in a closure"),
            help: "write a loop; a closure ends with its value",
            follows: false,
        });
    }

    fn inside(&mut self, visit: impl FnOnce(&mut Self)) {
        self.loops += 1;
        visit(self);
        self.loops -= 1;
    }
}

impl<'e> Visit<'e> for Leaves {
    fn visit_expr_break(&mut self, b: &'e syn::ExprBreak) {
        if self.loops == 0 {
            self.refuse(b.span(), "`break`");
        }
    }

    fn visit_expr_continue(&mut self, c: &'e syn::ExprContinue) {
        if self.loops == 0 {
            self.refuse(c.span(), "`continue`");
        }
    }

    fn visit_expr_for_loop(&mut self, f: &'e syn::ExprForLoop) {
        self.inside(|all| visit::visit_expr_for_loop(all, f));
    }

    fn visit_expr_while(&mut self, w: &'e syn::ExprWhile) {
        self.inside(|all| visit::visit_expr_while(all, w));
    }

    fn visit_expr_loop(&mut self, l: &'e syn::ExprLoop) {
        self.inside(|all| visit::visit_expr_loop(all, l));
    }

    fn visit_macro(&mut self, m: &'e syn::Macro) {
        let name = m.path.segments.last().map(|s| s.ident.to_string());
        if let Some(name @ ("spawn" | "sync")) = name.as_deref() {
            self.refuse(m.span(), &format!("`{name}!`"));
        }
    }
}
