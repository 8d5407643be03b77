//! What is written of Rust's library and stands for something else here. `std::ops::ControlFlow<B, C>` is a `Result<C, B>`, with what both have in common, `?` above
//! all. What traits of iterators ask of a type beside `next` are methods of its own: `next_back`, and what a `for` over `&bag` calls. A function that takes
//! `&dyn Fn(u32) -> u32` takes any such one, `PhantomData` is nothing, and cases of a `let` stand in parentheses.

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

/// The module as it is read, if there is something in it that stands for something else.
pub(crate) fn respelled(module: &syn::ItemMod, diags: &mut Diagnostics) -> Option<syn::ItemMod> {
    let mut found = Found::default();
    found.visit_item_mod(module);
    let is_control = found.named && !found.own;
    if !is_control
        && !found.blocks
        && !found.dynamic
        && !found.phantom
        && !found.cases
        && !found.lent_twice
    {
        return None;
    }
    let mut module = module.clone();
    if is_control {
        Lies(diags).visit_item_mod(&module);
        Respell {
            bare: found.bare,
            own_methods: found.own_methods,
        }
        .visit_item_mod_mut(&mut module);
    }
    if found.blocks {
        Blocks.visit_item_mod_mut(&mut module);
    }
    if found.dynamic {
        Dynamic.visit_item_mod_mut(&mut module);
    }
    if found.phantom {
        Phantom.visit_item_mod_mut(&mut module);
    }
    if found.cases {
        Cases.visit_item_mod_mut(&mut module);
    }
    if found.lent_twice {
        LentTwice.visit_item_mod_mut(&mut module);
    }
    Some(module)
}

/// What the method is called that a `for` over a reference to a value calls.
pub(crate) const fn runs_over(mutable: bool) -> &'static str {
    match mutable {
        true => "__into_iter_mut",
        false => "__into_iter_ref",
    }
}

/// The last name of the trait that a block is of.
fn trait_of(block: &syn::ItemImpl) -> Option<String> {
    let (path, _) = block.trait_.as_ref()?;
    Some(path.segments.last()?.ident.to_string())
}

/// Traits of which a type's own methods are enough.
const OF_ITERATORS: &[&str] = &[
    "DoubleEndedIterator",
    "ExactSizeIterator",
    "FusedIterator",
    "Extend",
];

/// A function that takes a reference to what has a trait takes any type that has it.
struct Dynamic;

impl VisitMut for Dynamic {
    fn visit_item_fn_mut(&mut self, item: &mut syn::ItemFn) {
        // These have no parameters of types.
        let is_called = |a: &syn::Attribute| !is_task_attribute(a) && !is_kernel_attribute(a);
        if item.attrs.iter().all(is_called) {
            self.visit_signature_mut(&mut item.sig);
        }
        self.visit_block_mut(&mut item.block);
    }

    fn visit_signature_mut(&mut self, sig: &mut syn::Signature) {
        for input in &mut sig.inputs {
            if let syn::FnArg::Typed(p) = input
                && let syn::Type::Reference(r) = &mut *p.ty
                && let syn::Type::TraitObject(of) = behind_parens(&r.elem)
            {
                let (span, bounds) = (of.span(), of.bounds.clone());
                *r.elem = parse_quote_spanned!(span=> impl #bounds);
            }
        }
    }
}

fn behind_parens(ty: &syn::Type) -> &syn::Type {
    match ty {
        syn::Type::Paren(p) => behind_parens(&p.elem),
        ty => ty,
    }
}

/// What says of which type a struct is and has no value.
const PHANTOM: &str = "PhantomData";

struct Phantom;

fn is_phantom(path: &syn::Path) -> bool {
    path.segments.last().is_some_and(|s| s.ident == PHANTOM)
}

impl VisitMut for Phantom {
    fn visit_type_mut(&mut self, ty: &mut syn::Type) {
        visit_mut::visit_type_mut(self, ty);
        if let syn::Type::Path(p) = &*ty
            && is_phantom(&p.path)
        {
            *ty = parse_quote_spanned!(p.span()=> ());
        }
    }

    fn visit_expr_mut(&mut self, e: &mut syn::Expr) {
        visit_mut::visit_expr_mut(self, e);
        if let syn::Expr::Path(p) = &*e
            && is_phantom(&p.path)
        {
            *e = parse_quote_spanned!(p.span()=> ());
        }
    }

    fn visit_pat_mut(&mut self, pat: &mut syn::Pat) {
        visit_mut::visit_pat_mut(self, pat);
        if let syn::Pat::Ident(p) = &*pat
            && p.ident == PHANTOM
        {
            *pat = parse_quote_spanned!(p.span()=> _);
        }
    }
}

/// Makes blocks of a type's own of those of such traits.
struct Blocks;

impl VisitMut for Blocks {
    fn visit_item_impl_mut(&mut self, block: &mut syn::ItemImpl) {
        let of = trait_of(block).unwrap_or_default();
        match (of.as_str(), &*block.self_ty) {
            // How many there are left is for who makes room for them.
            ("Iterator", _) => block
                .items
                .retain(|item| !matches!(item, syn::ImplItem::Fn(f) if f.sig.ident == "size_hint")),
            ("IntoIterator", syn::Type::Reference(to)) => {
                let to = to.clone();
                run_over(block, &to);
            }
            (of, _) if OF_ITERATORS.contains(&of) => block.trait_ = None,
            _ => {}
        }
    }
}

/// Makes a method of a block for references to a type.
fn run_over(block: &mut syn::ItemImpl, to: &syn::TypeReference) {
    let types = block.items.iter().filter_map(|item| match item {
        syn::ImplItem::Type(t) => Some((t.ident.to_string(), t.ty.clone())),
        _ => None,
    });
    let types: Vec<_> = types.collect();
    block
        .items
        .retain(|item| !matches!(item, syn::ImplItem::Type(_)));
    block.trait_ = None;
    *block.self_ty = (*to.elem).clone();
    let (lifetime, mutability) = (&to.lifetime, &to.mutability);
    for item in &mut block.items {
        let syn::ImplItem::Fn(f) = item else { continue };
        let span = f.sig.ident.span();
        f.sig.ident = syn::Ident::new(runs_over(mutability.is_some()), span);
        if let Some(this) = f.sig.inputs.first_mut() {
            *this = parse_quote_spanned!(span=> & #lifetime #mutability self);
        }
        Types(&types).visit_signature_mut(&mut f.sig);
    }
}

/// Writes out the types that a block says, `Self::Item`.
struct Types<'t>(&'t [(String, syn::Type)]);

impl VisitMut for Types<'_> {
    fn visit_type_mut(&mut self, ty: &mut syn::Type) {
        visit_mut::visit_type_mut(self, ty);
        if let syn::Type::Path(p) = &*ty
            && let (Some(first), Some(last)) = (p.path.segments.first(), p.path.segments.last())
            && first.ident == "Self"
            && p.path.segments.len() == 2
            && let Some((_, of)) = self.0.iter().find(|(name, _)| last.ident == name)
        {
            *ty = of.clone();
        }
    }
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
    /// Whether there are blocks of which others are made.
    blocks: bool,
    /// Whether a function takes what is known by a trait alone.
    dynamic: bool,
    phantom: bool,
    /// Whether a pattern of a `let` or a `for` has several cases.
    cases: bool,
    /// Whether a closure with a name takes references to references.
    lent_twice: bool,
}

/// What takes a reference to an item that is one, `let by = |a: &&P, b: &&P| ..;` and `min_by(by)`, takes the item.
struct LentTwice;

fn lent_twice(input: &syn::Pat) -> Option<&syn::Type> {
    match input {
        syn::Pat::Type(p) => match &*p.ty {
            syn::Type::Reference(outer) if matches!(&*outer.elem, syn::Type::Reference(_)) => {
                Some(&outer.elem)
            }
            _ => None,
        },
        _ => None,
    }
}

impl VisitMut for LentTwice {
    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        if let Some(init) = &mut local.init
            && let syn::Expr::Closure(closure) = &mut *init.expr
        {
            for input in &mut closure.inputs {
                if let Some(inner) = lent_twice(input).cloned()
                    && let syn::Pat::Type(p) = input
                {
                    *p.ty = inner;
                }
            }
        }
        visit_mut::visit_local_mut(self, local);
    }
}

/// Cases in a pattern of a `let` or a `for` stand in parentheses: a part of it becomes the pattern of a `let`, where they have to.
struct Cases;

impl VisitMut for Cases {
    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        InParentheses.visit_pat_mut(&mut local.pat);
        visit_mut::visit_local_mut(self, local);
    }

    fn visit_expr_for_loop_mut(&mut self, f: &mut syn::ExprForLoop) {
        InParentheses.visit_pat_mut(&mut f.pat);
        visit_mut::visit_expr_for_loop_mut(self, f);
    }
}

struct InParentheses;

impl VisitMut for InParentheses {
    fn visit_pat_mut(&mut self, pat: &mut syn::Pat) {
        match pat {
            syn::Pat::Or(_) => *pat = parse_quote_spanned!(pat.span()=> (#pat)),
            syn::Pat::Paren(_) => {}
            other => visit_mut::visit_pat_mut(self, other),
        }
    }
}

impl Visit<'_> for Found {
    fn visit_item_impl(&mut self, block: &syn::ItemImpl) {
        let of = trait_of(block).unwrap_or_default();
        self.blocks |= match of.as_str() {
            "Iterator" => block
                .items
                .iter()
                .any(|item| matches!(item, syn::ImplItem::Fn(f) if f.sig.ident == "size_hint")),
            "IntoIterator" => matches!(&*block.self_ty, syn::Type::Reference(_)),
            of => OF_ITERATORS.contains(&of),
        };
        visit::visit_item_impl(self, block);
    }

    fn visit_ident(&mut self, ident: &proc_macro2::Ident) {
        self.named |= ident == NAME;
        self.phantom |= ident == PHANTOM;
    }

    fn visit_type_trait_object(&mut self, of: &syn::TypeTraitObject) {
        self.dynamic = true;
        visit::visit_type_trait_object(self, of);
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

    fn visit_local(&mut self, local: &syn::Local) {
        self.cases |= has_cases(&local.pat);
        if let Some(init) = &local.init
            && let syn::Expr::Closure(closure) = &*init.expr
        {
            self.lent_twice |= closure.inputs.iter().any(|p| lent_twice(p).is_some());
        }
        visit::visit_local(self, local);
    }

    fn visit_expr_for_loop(&mut self, f: &syn::ExprForLoop) {
        self.cases |= has_cases(&f.pat);
        visit::visit_expr_for_loop(self, f);
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

fn has_cases(pat: &syn::Pat) -> bool {
    struct Has(bool);
    impl Visit<'_> for Has {
        fn visit_pat_or(&mut self, _: &syn::PatOr) {
            self.0 = true;
        }
    }
    let mut has = Has(false);
    has.visit_pat(pat);
    has.0
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
