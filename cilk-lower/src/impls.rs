//! `impl` blocks: their functions and constants as items of the module, named `Struct::name`.

use crate::{diag::Diagnostics, kernels::is_role_attribute, orders::is_order};
use millstream_graph::ty::Scalar;
use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{parse_quote, spanned::Spanned};

/// Of which trait an `impl` block is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Of {
    /// Of none: what it holds is the type's own.
    Itself,
    /// One of the program.
    Own,
    /// One of Rust's, as it is named: `Default`, `Mul<f32>`.
    Rusts(String),
}

/// What an `impl` block holds.
#[derive(Debug, Default)]
pub(crate) struct Members {
    pub(crate) fns: Vec<syn::ItemFn>,
    pub(crate) consts: Vec<syn::ItemConst>,
    pub(crate) types: Vec<syn::ImplItemType>,
}

/// Rust's traits of operators.
const OPERATORS: &[&str] = &[
    "Add", "Sub", "Mul", "Div", "Rem", "BitAnd", "BitOr", "BitXor", "Shl", "Shr", "Neg", "Not",
];

/// Rust's traits by which a value stands for a place, whose functions are told by their names as those of operators are: of each what it takes and what it is for.
const PLACES: &[&str] = &["Index", "IndexMut", "Deref", "DerefMut", "AsRef", "AsMut"];

/// Rust's traits that are for what runs beside a program: text, hashes and threads. What stands in blocks of them is rustc's affair.
const BESIDE: &[&str] = &[
    "Display", "Debug", "Binary", "Octal", "LowerHex", "UpperHex", "LowerExp", "UpperExp", "Error",
    "Hash", "FromStr", "Send", "Sync",
];

/// What a type does by one of Rust's traits that has no operators.
pub(crate) const DEFAULT: &str = "Default";

/// The name under which the module knows a member.
pub(crate) fn full_name(owner: &str, name: &str) -> String {
    format!("{owner}::{name}")
}

/// The name of what a type has by one of Rust's traits.
pub(crate) fn name_by(owner: &str, of: &str, name: &str) -> String {
    format!("<{owner} as {of}>::{name}")
}

/// Whether a function takes `self`, and so is called as a method.
pub(crate) fn takes_self(params: &[(syn::Pat, millstream_graph::ty::Type)]) -> bool {
    matches!(params.first(), Some((syn::Pat::Ident(p), _)) if p.ident == "self")
}

/// Which of Rust's traits a block is of; none if that is for no device, or if there are no blocks of it, which is said.
pub(crate) fn rusts(path: &syn::Path, item: &syn::ItemImpl, diags: &mut Diagnostics) -> Option<Of> {
    let last = path.segments.last()?;
    let name = last.ident.to_string();
    if name == DEFAULT {
        return Some(Of::Rusts(name));
    }
    let places = PLACES.contains(&&*name);
    if OPERATORS.contains(&name.trim_end_matches("Assign")) || is_order(&name) || places {
        return Some(Of::Rusts(name + &operand(last, item)));
    }
    if BESIDE.contains(&&*name) {
        return None;
    }
    if name == "Copy" || name == "Clone" && is_copy(item) {
        return None;
    }
    let (message, help) = match &*name {
        "Clone" => (
            "this `clone` is more than a copy",
            "end it with `*self`, or with the same fields, `Self { x: self.x, .. }`: values are copied as they are; write what makes another value as a function of its own",
        ),
        _ => (
            "an `impl` of this trait is not part of the task language",
            OTHERS,
        ),
    };
    diags.error(last.span(), message).help(help);
    None
}

/// Whether a block of `Clone` says that a value is copied, as all are by themselves: `*self`, or a struct of the same fields.
fn is_copy(item: &syn::ItemImpl) -> bool {
    let this = item.items.iter().find_map(|member| match member {
        syn::ImplItem::Fn(f) if f.sig.ident == "clone" => Some(&f.block),
        _ => None,
    });
    let others = item.items.iter().filter(|member| !matches!(member, syn::ImplItem::Fn(f) if f.sig.ident == "clone" || f.sig.ident == "clone_from"));
    let Some([syn::Stmt::Expr(value, None)]) = this.map(|block| &block.stmts[..]) else {
        return false;
    };
    others.count() == 0 && copies_self(value, item)
}

fn copies_self(value: &syn::Expr, item: &syn::ItemImpl) -> bool {
    let is_this = |path: &syn::Path| match &*item.self_ty {
        syn::Type::Path(p) => {
            let names = [path, &p.path].map(|path| path.segments.last().map(|s| &s.ident));
            path.is_ident("Self") || names[0] == names[1] && path.segments.len() == 1
        }
        _ => false,
    };
    match value {
        syn::Expr::Unary(u) => matches!(u.op, syn::UnOp::Deref(_)) && is_self(&u.expr),
        syn::Expr::Struct(s) => {
            let mut fields = s.fields.iter();
            let rest = s.rest.as_ref().is_none_or(|rest| copies_self(rest, item));
            rest && is_this(&s.path) && fields.all(|f| copies_field(&f.expr, &f.member))
        }
        syn::Expr::Call(call) => {
            let fields = call.args.iter().enumerate();
            let mut fields = fields.map(|(i, value)| (value, syn::Member::from(i)));
            matches!(&*call.func, syn::Expr::Path(p) if is_this(&p.path))
                && fields.all(|(value, member)| copies_field(value, &member))
        }
        _ => false,
    }
}

/// Whether that is this field of `self`, or a clone of it.
fn copies_field(value: &syn::Expr, member: &syn::Member) -> bool {
    match value {
        syn::Expr::MethodCall(m) if m.method == "clone" && m.args.is_empty() => {
            copies_field(&m.receiver, member)
        }
        syn::Expr::Field(f) => f.member == *member && is_self(&f.base),
        _ => false,
    }
}

fn is_self(e: &syn::Expr) -> bool {
    matches!(e, syn::Expr::Path(p) if p.path.is_ident("self"))
}

/// What to write instead of traits that there are not.
const OTHERS: &str = "there are those of the program's own traits, of `Default`, `From`, `TryFrom`, `Deref`, `AsRef`, `Iterator`, `IntoIterator`, `FromIterator`, `Sum`, `Product`, of orders, as `Ord`, and of operators, as `Add`; write other functions as the struct's own: `impl Name { .. }`";

/// An operator of references as one of what they refer to, whose `self` is taken by reference: `impl Mul for &Z` is a second `Mul` of `Z`.
pub(crate) fn take_reference(block: &mut syn::ItemImpl, of: &mut String) {
    struct Spelled(syn::Type);
    impl syn::visit_mut::VisitMut for Spelled {
        fn visit_type_mut(&mut self, ty: &mut syn::Type) {
            match ty {
                syn::Type::Path(p) if p.path.is_ident("Self") => *ty = self.0.clone(),
                _ => syn::visit_mut::visit_type_mut(self, ty),
            }
        }
    }
    let is_operator = |name: &str| OPERATORS.iter().any(|o| name.starts_with(o));
    let syn::Type::Reference(r) = (*block.self_ty).clone() else {
        return;
    };
    if r.mutability.is_some() || !is_operator(of) || matches!(*r.elem, syn::Type::Slice(_)) {
        return;
    }
    let mut spelled = Spelled((*block.self_ty).clone());
    for item in &mut block.items {
        syn::visit_mut::VisitMut::visit_impl_item_mut(&mut spelled, item);
        if let syn::ImplItem::Fn(f) = item
            && let Some(syn::FnArg::Receiver(this)) = f.sig.inputs.first_mut()
        {
            *this = parse_quote!(&self);
        }
    }
    block.self_ty = r.elem;
    of.push_str(" of &");
}

/// Reads a block. `Self` becomes this name, and `self` a parameter like others.
pub(crate) fn read(
    item: &syn::ItemImpl,
    of: &Of,
    this: &Ident,
    diags: &mut Diagnostics,
) -> Members {
    let mut out = Members::default();
    let output = item.items.iter().find_map(|member| match member {
        syn::ImplItem::Type(t) if t.ident == "Output" || t.ident == "Target" => {
            Some((t.ident.clone(), t.ty.to_token_stream()))
        }
        _ => None,
    });
    for member in &item.items {
        if let (Of::Rusts(_), syn::ImplItem::Type(_)) = (of, member) {
            continue;
        }
        let mut tokens = member.to_token_stream();
        if let (Of::Rusts(_), Some(output)) = (of, &output) {
            tokens = outputs(tokens, output);
        }
        let tokens = named(tokens, this);
        match (member, syn::parse2::<syn::ImplItem>(tokens)) {
            (_, Ok(syn::ImplItem::Fn(f))) => {
                if let Some(role) = f.attrs.iter().find(|a| is_role_attribute(a)) {
                    let help = "write a function outside of the `impl` block; it may call methods";
                    diags
                        .error(role.span(), "a method cannot be a task or kernel")
                        .help(help);
                }
                out.fns.push(function(f, this));
            }
            (_, Ok(syn::ImplItem::Const(c))) => out.consts.push(constant(c)),
            (_, Ok(syn::ImplItem::Type(t))) if *of == Of::Own => out.types.push(t),
            (member, _) => {
                diags
                    .error(member.span(), "an `impl` block has functions and constants")
                    .help("write this outside of it");
            }
        }
    }
    out
}

/// Whether parameters that are more than lifetimes are given.
pub(crate) fn has_args(segment: &syn::PathSegment) -> bool {
    match &segment.arguments {
        syn::PathArguments::AngleBracketed(args) => args
            .args
            .iter()
            .any(|a| !matches!(a, syn::GenericArgument::Lifetime(_))),
        _ => false,
    }
}

/// What tells an operator from others of its name: the right operand's type, where that is another.
fn operand(of: &syn::PathSegment, item: &syn::ItemImpl) -> String {
    let other = match &of.arguments {
        syn::PathArguments::AngleBracketed(types) => types.args.to_token_stream().to_string(),
        _ => return String::new(),
    };
    if other == "Self" || other == item.self_ty.to_token_stream().to_string() {
        return String::new();
    }
    // How tokens are spaced depends on who reads them.
    format!("<{}>", other.replace(' ', ""))
}

/// Says that a type has several `AsRef`, or `AsMut`: which is meant would be told by what is wanted of it.
pub(crate) fn one_of_each<T>(blocks: &[(syn::ItemImpl, T)], diags: &mut Diagnostics) {
    let mut known = std::collections::BTreeSet::new();
    for (block, _) in blocks {
        let Some(last) = block
            .trait_
            .as_ref()
            .and_then(|(path, _)| path.segments.last())
        else {
            continue;
        };
        let (name, of) = (&last.ident, block.self_ty.to_token_stream().to_string());
        if (name == "AsRef" || name == "AsMut") && !known.insert((name.to_string(), of)) {
            let shown = block.self_ty.to_token_stream().to_string().replace(' ', "");
            diags
                .error(
                    last.span(),
                    format!("`{shown}` has a second `{name}`, and they are not told apart"),
                )
                .help("leave one, and write the other as a function of the type's own: `fn name(&self) -> &T`");
        }
    }
}

/// Says in each block of `IndexMut` what that of `Index` says that there is, and in those of `DerefMut` what those of `Deref` do.
pub(crate) fn share_outputs<T>(blocks: &mut [(syn::ItemImpl, T)]) {
    // The trait's name, and of what and by what it is.
    fn key(block: &syn::ItemImpl) -> Option<(String, String)> {
        let last = block.trait_.as_ref()?.0.segments.last()?;
        let of = last.arguments.to_token_stream().to_string() + " for ";
        let of = of + &block.self_ty.to_token_stream().to_string();
        Some((last.ident.to_string(), of))
    }
    let mut outputs: Vec<(String, syn::ImplItem)> = Vec::new();
    for (block, _) in blocks.iter() {
        let is_output = |item: &&syn::ImplItem| {
            name_of(item).is_some_and(|name| name == "Output" || name == "Target")
        };
        if let Some((name, of)) = key(block)
            && (name == "Index" || name == "Deref")
            && let Some(output) = block.items.iter().find(is_output)
        {
            outputs.push((name + "Mut" + &of, output.clone()));
        }
    }
    for (block, _) in blocks {
        if let Some((name, of)) = key(block)
            && let Some((_, output)) = outputs
                .iter()
                .find(|(known, _)| *known == name.clone() + &of)
        {
            block.items.push(output.clone());
        }
    }
}

/// The tokens with that type for `Self::Output`, or for what else it is called.
fn outputs(tokens: TokenStream, output: &(Ident, TokenStream)) -> TokenStream {
    let mut out: Vec<TokenTree> = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Ident(i) if i == output.0 && out.len() >= 3 => {
                let path: String = out[out.len() - 3..]
                    .iter()
                    .map(ToString::to_string)
                    .collect();
                if path == "Self::" {
                    out.truncate(out.len() - 3);
                    out.extend(output.1.clone());
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

/// A function of a block whose `Self` is known by that name.
pub(crate) fn function_of_self(f: syn::ImplItemFn) -> syn::ItemFn {
    let this = Ident::new("Self", f.sig.ident.span());
    function(f, &this)
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
        syn::ImplItem::Type(t) => Some(&t.ident),
        _ => None,
    }
}

/// Functions of Rust's integers are called by one of these and one of those: `wrapping_add`.
const WAYS: [&str; 7] = [
    "checked_",
    "wrapping_",
    "saturating_",
    "overflowing_",
    "unchecked_",
    "strict_",
    "unbounded_",
];
const OPERATIONS: &str = "add sub mul div rem neg shl shr pow abs div_euclid rem_euclid add_signed add_unsigned sub_signed sub_unsigned signed_diff \
    next_power_of_two next_multiple_of ilog ilog2 ilog10 isqrt div_exact";
/// What all of Rust's numbers have.
const OF_ALL: &str = "MIN MAX to_be_bytes to_le_bytes to_ne_bytes from_be_bytes from_le_bytes from_ne_bytes div_euclid rem_euclid midpoint";
const OF_SIGNED: &str = "abs signum is_positive is_negative";
const OF_INTEGERS: &str = "BITS pow rotate_left rotate_right from_str_radix count_ones count_zeros leading_zeros leading_ones trailing_zeros trailing_ones swap_bytes reverse_bits from_be from_le \
    to_be to_le isqrt ilog ilog2 ilog10 abs_diff unsigned_abs cast_signed cast_unsigned is_power_of_two next_power_of_two is_multiple_of \
    next_multiple_of div_ceil div_floor bit_width isolate_highest_one isolate_lowest_one highest_one lowest_one eq_ignore_ascii_case \
    to_ascii_uppercase to_ascii_lowercase make_ascii_uppercase make_ascii_lowercase escape_ascii";
const OF_FLOATS: &str = "min max clamp powi powf abs signum RADIX MANTISSA_DIGITS DIGITS EPSILON MIN_POSITIVE MIN_EXP MAX_EXP MIN_10_EXP MAX_10_EXP NAN INFINITY NEG_INFINITY floor ceil \
    round round_ties_even trunc fract copysign mul_add sqrt exp exp2 ln log log2 log10 cbrt hypot sin cos tan asin acos atan atan2 sin_cos exp_m1 \
    ln_1p sinh cosh tanh asinh acosh atanh gamma ln_gamma erf erfc is_nan is_infinite is_finite is_subnormal is_normal classify is_sign_positive \
    is_sign_negative next_up next_down recip to_degrees to_radians maximum minimum to_int_unchecked to_bits from_bits total_cmp";

/// What `Option`, `Result`, arrays and `Ordering` have.
const OF_OPTIONS: &str = "and and_then as_deref as_deref_mut as_mut as_mut_slice as_pin_mut as_pin_ref as_ref as_slice cloned copied err expect expect_err filter flatten get_or_insert \
    get_or_insert_default get_or_insert_with get_or_try_insert_with insert inspect inspect_err into_err into_flat_iter into_ok is_err is_err_and is_none is_none_or is_ok is_ok_and is_some \
    is_some_and iter iter_mut map map_err map_or map_or_default map_or_else ok ok_or ok_or_else or or_else reduce replace take take_if transpose unwrap unwrap_err unwrap_or \
    unwrap_or_default unwrap_or_else unwrap_unchecked unwrap_err_unchecked unzip xor zip";
const OF_ARRAYS: &str = "map try_map zip as_slice as_mut_slice each_ref each_mut";
const OF_ORDERING: &str = "reverse then then_with is_lt is_le is_gt is_ge is_eq is_ne";

fn among(names: &str, name: &str) -> bool {
    names.split_whitespace().any(|n| n == name)
}

pub(crate) fn is_of_options(name: &str) -> bool {
    among(OF_OPTIONS, name)
}

pub(crate) fn is_of_arrays(name: &str) -> bool {
    among(OF_ARRAYS, name)
}

pub(crate) fn is_of_ordering(name: &str) -> bool {
    among(OF_ORDERING, name)
}

/// Whether a number's type has an item of that name by itself in Rust.
pub(crate) fn is_inherent(of: Scalar, name: &str) -> bool {
    if of.is_float() {
        return among(OF_ALL, name) || among(OF_FLOATS, name);
    }
    if of == Scalar::Bool {
        return among("then then_some select_unpredictable", name);
    }
    let mut by_a_way = WAYS.iter().filter_map(|way| name.strip_prefix(way));
    (of.is_signed() && among(OF_SIGNED, name))
        || among(OF_ALL, name)
        || among(OF_INTEGERS, name)
        || name.starts_with("is_ascii")
        || by_a_way.any(|operation| among(OPERATIONS, operation))
}
