//! `impl` blocks: their functions and constants as items of the module, named `Struct::name`.

use crate::{diag::Diagnostics, kernels::is_role_attribute};
use millstream_graph::ty::Scalar;
use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{parse_quote, spanned::Spanned};

/// What an `impl` block holds.
#[derive(Debug, Default)]
pub(crate) struct Members {
    /// The struct whose block it is.
    pub(crate) owner: Option<Ident>,
    pub(crate) fns: Vec<syn::ItemFn>,
    pub(crate) consts: Vec<syn::ItemConst>,
    pub(crate) types: Vec<syn::ImplItemType>,
    /// Whether its functions are operators; then what tells them from others of their name: the right operand's type, where that is another.
    pub(crate) operator: Option<String>,
}

/// Rust's traits of operators.
const OPERATORS: &[&str] = &[
    "Add", "Sub", "Mul", "Div", "Rem", "BitAnd", "BitOr", "BitXor", "Shl", "Shr", "Neg", "Not",
];

/// The name under which the module knows a member.
pub(crate) fn full_name(owner: &str, name: &str) -> String {
    format!("{owner}::{name}")
}

/// Whether a function takes `self`, and so is called as a method.
pub(crate) fn takes_self(params: &[(syn::Pat, millstream_graph::ty::Type)]) -> bool {
    matches!(params.first(), Some((syn::Pat::Ident(p), _)) if p.ident == "self")
}

/// Reads a block, perhaps of a trait of the program. `Self` becomes the struct's name, unless that has parameters, and `self` a parameter like others.
pub(crate) fn read(item: &syn::ItemImpl, own_trait: bool, diags: &mut Diagnostics) -> Members {
    let mut out = Members::default();
    let implemented = item
        .trait_
        .as_ref()
        .and_then(|(path, _)| path.segments.last());
    let name = implemented.map(|of| of.ident.to_string());
    match &name {
        Some(name) if !own_trait && OPERATORS.contains(&name.trim_end_matches("Assign")) => {
            out.operator = implemented.map(|of| operand(of, item));
        }
        Some(name) if !own_trait && name != "Default" => {
            diags
                .error(
                    implemented.span(),
                    "an `impl` of this trait is not part of the task language",
                )
                .help("there are those of the program's own traits, of `Default` and of operators, as `Add`; write other functions as the struct's own: `impl Name { .. }`");
            return out;
        }
        _ => {}
    }
    let owner = match &*item.self_ty {
        syn::Type::Path(p) if p.qself.is_none() => p.path.segments.last(),
        _ => None,
    };
    let Some(owner) = owner else {
        diags
            .error(
                item.self_ty.span(),
                "an `impl` block belongs to a struct of this module",
            )
            .help("write a function that takes the value");
        return out;
    };
    // A struct with parameters is known as `Self` in its block.
    let has_args = has_args(owner);
    let this = match has_args {
        true => Ident::new("Self", owner.ident.span()),
        false => owner.ident.clone(),
    };
    let owner = owner.ident.clone();
    let output = item.items.iter().find_map(|member| match member {
        syn::ImplItem::Type(t) if t.ident == "Output" => Some(t.ty.to_token_stream()),
        _ => None,
    });
    for member in &item.items {
        if out.operator.is_some() && matches!(member, syn::ImplItem::Type(_)) {
            continue;
        }
        let mut tokens = member.to_token_stream();
        if let Some(output) = &output {
            tokens = outputs(tokens, output);
        }
        let tokens = named(tokens, &this);
        match (member, syn::parse2::<syn::ImplItem>(tokens)) {
            (_, Ok(syn::ImplItem::Fn(f))) => {
                if let Some(role) = f.attrs.iter().find(|a| is_role_attribute(a)) {
                    let help = "write a function outside of the `impl` block; it may call methods";
                    diags
                        .error(role.span(), "a method cannot be a task or kernel")
                        .help(help);
                }
                out.fns.push(function(f, &this));
            }
            (_, Ok(syn::ImplItem::Const(c))) => out.consts.push(constant(c)),
            (_, Ok(syn::ImplItem::Type(t))) if own_trait => out.types.push(t),
            (member, _) => {
                diags
                    .error(member.span(), "an `impl` block has functions and constants")
                    .help("write this outside of it");
            }
        }
    }
    out.owner = Some(owner);
    out
}

/// Whether parameters that are more than lifetimes are given.
fn has_args(segment: &syn::PathSegment) -> bool {
    match &segment.arguments {
        syn::PathArguments::AngleBracketed(args) => args
            .args
            .iter()
            .any(|a| !matches!(a, syn::GenericArgument::Lifetime(_))),
        _ => false,
    }
}

/// What the name of an operator's function ends with.
fn operand(of: &syn::PathSegment, item: &syn::ItemImpl) -> String {
    let other = match &of.arguments {
        syn::PathArguments::AngleBracketed(types) => types.args.to_token_stream().to_string(),
        _ => return String::new(),
    };
    if other == "Self" || other == item.self_ty.to_token_stream().to_string() {
        return String::new();
    }
    let plain = |c: char| if c.is_alphanumeric() { c } else { '_' };
    format!(".{}", other.chars().map(plain).collect::<String>())
}

/// The tokens with that type for `Self::Output`.
fn outputs(tokens: TokenStream, output: &TokenStream) -> TokenStream {
    let mut out: Vec<TokenTree> = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Ident(i) if i == "Output" && out.len() >= 3 => {
                let path: String = out[out.len() - 3..]
                    .iter()
                    .map(ToString::to_string)
                    .collect();
                if path == "Self::" {
                    out.truncate(out.len() - 3);
                    out.extend(output.clone());
                } else {
                    out.push(TokenTree::Ident(i));
                }
            }
            TokenTree::Group(g) => {
                let mut group = Group::new(g.delimiter(), outputs(g.stream(), output));
                group.set_span(g.span());
                out.push(TokenTree::Group(group));
            }
            other => out.push(other),
        }
    }
    out.into_iter().collect()
}

/// The tokens with the struct's name for `Self`.
fn named(tokens: TokenStream, owner: &Ident) -> TokenStream {
    let one = |token| match token {
        TokenTree::Ident(i) if i == "Self" => {
            let mut name = owner.clone();
            name.set_span(i.span());
            TokenTree::Ident(name)
        }
        TokenTree::Group(g) => {
            let mut group = Group::new(g.delimiter(), named(g.stream(), owner));
            group.set_span(g.span());
            TokenTree::Group(group)
        }
        other => other,
    };
    tokens.into_iter().map(one).collect()
}

fn function(f: syn::ImplItemFn, owner: &Ident) -> syn::ItemFn {
    let mut sig = f.sig;
    if let Some(syn::FnArg::Receiver(r)) = sig.inputs.first() {
        let (ty, mutability): (syn::Type, _) = match &r.kind {
            syn::ReceiverKind::Typed(_, ty) => ((**ty).clone(), r.mutability),
            syn::ReceiverKind::Reference(_, _, mutability) => {
                (parse_quote!(&#mutability #owner), None)
            }
            _ => (parse_quote!(#owner), r.mutability),
        };
        let ident = Ident::new("self", r.self_token.span);
        let pat = syn::Pat::Ident(syn::PatIdent {
            attrs: Vec::new(),
            by_ref: None,
            mutability,
            ident,
            subpat: None,
        });
        let colon_token = syn::Token![:](r.self_token.span);
        let typed = syn::PatType {
            attrs: Vec::new(),
            pat: Box::new(pat),
            colon_token,
            ty: Box::new(ty),
        };
        sig.inputs[0] = syn::FnArg::Typed(typed);
    }
    syn::ItemFn {
        attrs: f.attrs,
        vis: f.vis,
        modifiers: f.modifiers,
        sig,
        block: Box::new(f.block),
    }
}

fn constant(c: syn::ImplItemConst) -> syn::ItemConst {
    syn::ItemConst {
        attrs: c.attrs,
        vis: c.vis,
        modifiers: c.modifiers,
        const_token: c.const_token,
        ident: c.ident,
        generics: c.generics,
        colon_token: c.colon_token,
        ty: Box::new(c.ty),
        eq_token: c.eq_token,
        expr: Box::new(c.expr),
        semi_token: c.semi_token,
    }
}

/// The name of a block's item, if it has one.
pub(crate) fn name_of(item: &syn::ImplItem) -> Option<&syn::Ident> {
    match item {
        syn::ImplItem::Fn(f) => Some(&f.sig.ident),
        syn::ImplItem::Const(c) => Some(&c.ident),
        _ => None,
    }
}

/// Functions of Rust's integers are called by one of these and one of those: `wrapping_add`.
const WAYS: [&str; 6] = [
    "checked_",
    "wrapping_",
    "saturating_",
    "overflowing_",
    "unchecked_",
    "strict_",
];
const OPERATIONS: &str = "add sub mul div rem neg shl shr pow abs div_euclid rem_euclid add_signed add_unsigned sub_signed sub_unsigned signed_diff \
    next_power_of_two next_multiple_of ilog ilog2 ilog10 isqrt div_exact";
/// What all of Rust's numbers have, or get by a trait that is always in sight.
const OF_ALL: &str = "MIN MAX default from to_be_bytes to_le_bytes to_ne_bytes from_be_bytes from_le_bytes from_ne_bytes min max clamp \
    div_euclid rem_euclid midpoint";
const OF_SIGNED: &str = "abs signum is_positive is_negative";
const OF_INTEGERS: &str = "BITS pow rotate_left rotate_right from_str_radix count_ones count_zeros leading_zeros leading_ones trailing_zeros trailing_ones swap_bytes reverse_bits from_be from_le \
    to_be to_le isqrt ilog ilog2 ilog10 abs_diff unsigned_abs cast_signed cast_unsigned is_power_of_two next_power_of_two is_multiple_of \
    next_multiple_of div_ceil div_floor bit_width isolate_highest_one isolate_lowest_one highest_one lowest_one eq_ignore_ascii_case \
    to_ascii_uppercase to_ascii_lowercase make_ascii_uppercase make_ascii_lowercase escape_ascii";
const OF_FLOATS: &str = "powi powf abs signum RADIX MANTISSA_DIGITS DIGITS EPSILON MIN_POSITIVE MIN_EXP MAX_EXP MIN_10_EXP MAX_10_EXP NAN INFINITY NEG_INFINITY floor ceil \
    round round_ties_even trunc fract copysign mul_add sqrt exp exp2 ln log log2 log10 cbrt hypot sin cos tan asin acos atan atan2 sin_cos exp_m1 \
    ln_1p sinh cosh tanh asinh acosh atanh gamma ln_gamma erf erfc is_nan is_infinite is_finite is_subnormal is_normal classify is_sign_positive \
    is_sign_negative next_up next_down recip to_degrees to_radians maximum minimum to_int_unchecked to_bits from_bits total_cmp";

/// Whether a number's type has an item of that name by itself in Rust.
pub(crate) fn is_inherent(of: Scalar, name: &str) -> bool {
    let among = |names: &str, name: &str| names.split_whitespace().any(|n| n == name);
    if of.is_float() {
        return among(OF_ALL, name) || among(OF_FLOATS, name);
    }
    let mut by_a_way = WAYS.iter().filter_map(|way| name.strip_prefix(way));
    (of.is_signed() && among(OF_SIGNED, name))
        || among(OF_ALL, name)
        || among(OF_INTEGERS, name)
        || name.starts_with("is_ascii")
        || by_a_way.any(|operation| among(OPERATIONS, operation))
}
