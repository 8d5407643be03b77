//! Names of Rust's library that stand for others here: `std::ops::ControlFlow<B, C>` is a `Result<C, B>`, with what both have in common, `?` above all.

use crate::{check::own_name, diag::Diagnostics, is_task_attribute, kernels::is_kernel_attribute};
use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::{
    parse_quote_spanned,
    spanned::Spanned,
    visit::{self, Visit},
    visit_mut::{self, VisitMut},
};

const NAME: &str = "ControlFlow";

/// Its methods, and what they are of a `Result`.
const METHODS: &[(&str, &str)] = &[
    ("is_break", "is_err"),
    ("is_continue", "is_ok"),
    ("break_value", "err"),
    ("continue_value", "ok"),
    ("map_break", "map_err"),
    ("map_continue", "map"),
];

/// The module as it is read, if it names what stands for something else.
pub(crate) fn respelled(module: &syn::ItemMod, diags: &mut Diagnostics) -> Option<syn::ItemMod> {
    let mut found = Found::default();
    found.visit_item_mod(module);
    if !found.named || found.own {
        return None;
    }
    let mut lies = Lies(diags);
    lies.visit_item_mod(module);
    let mut module = module.clone();
    Respell {
        bare: found.bare,
        own_methods: found.own_methods,
    }
    .visit_item_mod_mut(&mut module);
    Some(module)
}

/// What a module says of the name.
#[derive(Default)]
struct Found {
    named: bool,
    /// Whether it is the program's own.
    own: bool,
    /// Whether its variants are named without it.
    bare: bool,
    /// Functions of the program that are called as its methods are.
    own_methods: Vec<String>,
}

impl Visit<'_> for Found {
    fn visit_ident(&mut self, ident: &proc_macro2::Ident) {
        self.named |= ident == NAME;
    }

    fn visit_item_enum(&mut self, item: &syn::ItemEnum) {
        self.own |= item.ident == NAME;
        visit::visit_item_enum(self, item);
    }

    fn visit_item_struct(&mut self, item: &syn::ItemStruct) {
        self.own |= item.ident == NAME;
        visit::visit_item_struct(self, item);
    }

    fn visit_item_type(&mut self, item: &syn::ItemType) {
        self.own |= item.ident == NAME;
        visit::visit_item_type(self, item);
    }

    fn visit_signature(&mut self, sig: &syn::Signature) {
        self.own_methods.push(sig.ident.to_string());
        visit::visit_signature(self, sig);
    }

    fn visit_use_path(&mut self, path: &syn::UsePath) {
        self.bare |= path.ident == NAME;
        visit::visit_use_path(self, path);
    }
}

/// Says where one would lie in memory, or go to the caller, who has it otherwise.
struct Lies<'d>(&'d mut Diagnostics);

impl Lies<'_> {
    fn refuse(&mut self, of: &impl ToTokens, span: Span, message: &str) {
        let names = of.to_token_stream().to_string();
        if names
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| word == NAME)
        {
            self.0
                .error(span, message)
                .help("write a `Result` there, with what ends it as the error");
        }
    }
}

impl Visit<'_> for Lies<'_> {
    fn visit_item_fn(&mut self, item: &syn::ItemFn) {
        if item
            .attrs
            .iter()
            .any(|a| is_task_attribute(a) || is_kernel_attribute(a))
        {
            let message = "a task or kernel cannot take or return a `ControlFlow`";
            self.refuse(&item.sig, item.sig.span(), message);
        }
        visit::visit_item_fn(self, item);
    }

    fn visit_field(&mut self, field: &syn::Field) {
        let message = "a field cannot be a `ControlFlow`";
        self.refuse(&field.ty, field.ty.span(), message);
    }
}

struct Respell {
    bare: bool,
    own_methods: Vec<String>,
}

impl Respell {
    /// The name of the method that one of its methods is.
    fn method(&self, name: &syn::Ident) -> Option<syn::Ident> {
        let (known, of) = METHODS.iter().find(|(known, _)| name == known)?;
        let is_own = self.own_methods.iter().any(|own| own == known);
        (!is_own).then(|| syn::Ident::new(of, name.span()))
    }

    /// What stands in a macro, which is no syntax yet.
    fn tokens(&self, tokens: TokenStream) -> TokenStream {
        let mut out: Vec<TokenTree> = Vec::new();
        for token in tokens {
            let token = match token {
                TokenTree::Group(g) => {
                    let mut inner = Group::new(g.delimiter(), self.tokens(g.stream()));
                    inner.set_span(g.span());
                    TokenTree::Group(inner)
                }
                TokenTree::Ident(name) => {
                    let before =
                        |back: usize| out.len().checked_sub(back).map(|i| out[i].to_string());
                    let is_of_it = before(3).is_some_and(|of| of == NAME);
                    let is_method = before(1).is_some_and(|dot| dot == ".");
                    match (variant(&name), self.method(&name)) {
                        (Some(of), _) if is_of_it => {
                            out.truncate(out.len() - 3);
                            TokenTree::Ident(of)
                        }
                        (Some(of), _)
                            if self.bare && before(1).is_none_or(|colon| colon != ":") =>
                        {
                            TokenTree::Ident(of)
                        }
                        (_, Some(of)) if is_method => TokenTree::Ident(of),
                        _ => TokenTree::Ident(name),
                    }
                }
                other => other,
            };
            out.push(token);
        }
        out.into_iter().collect()
    }
}

/// The variant of a `Result` that one of its variants is.
fn variant(name: &syn::Ident) -> Option<syn::Ident> {
    let of = match name.to_string().as_str() {
        "Break" => "Err",
        "Continue" => "Ok",
        _ => return None,
    };
    Some(own_name(of, name.span()))
}

impl VisitMut for Respell {
    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        visit_mut::visit_path_mut(self, path);
        let span = path.span();
        if let Some(name) = path.get_ident().filter(|_| self.bare)
            && let Some(of) = variant(name)
        {
            *path = of.into();
            return;
        }
        let Some(at) = path.segments.iter().position(|s| s.ident == NAME) else {
            return;
        };
        match path.segments.iter().nth(at + 1) {
            Some(next) => {
                if let Some(of) = variant(&next.ident) {
                    *path = of.into();
                }
            }
            None => {
                let mut types = match &path.segments[at].arguments {
                    syn::PathArguments::AngleBracketed(args) => args.args.iter(),
                    _ => return,
                };
                let (ends, goes_on) = (types.next(), types.next());
                let goes_on =
                    goes_on.map_or_else(|| quote_spanned!(span=> ()), ToTokens::to_token_stream);
                *path = parse_quote_spanned!(span=> ::core::result::Result<#goes_on, #ends>);
            }
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        mac.tokens = self.tokens(std::mem::take(&mut mac.tokens));
    }

    fn visit_expr_method_call_mut(&mut self, m: &mut syn::ExprMethodCall) {
        visit_mut::visit_expr_method_call_mut(self, m);
        if let Some(of) = self.method(&m.method) {
            m.method = of;
        }
    }
}
