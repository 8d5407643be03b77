//! The parameters of items, as they are written.

use crate::items::Module;
use millstream_graph::ty::{Scalar, Type};
use quote::ToTokens;
use std::rc::Rc;
use syn::{parse_quote, spanned::Spanned};

/// A parameter of an item.
#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// What it is if nothing is said.
    pub(crate) default: Option<syn::GenericArgument>,
}

/// What stands for it.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Type,
    Number(Scalar),
    /// A closure or a function, by its name.
    Closure(Rc<Signature>),
}

/// What `Fn(A) -> B` says.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    pub(crate) inputs: Vec<syn::Type>,
    pub(crate) output: Option<syn::Type>,
}

/// What a function gives whose type is not written: a piece of code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Code {
    Iterator,
    Closure,
}

/// Iterators of Rust's that a signature may name.
const ITERATORS: &[&str] = &[
    "Iter",
    "IterMut",
    "Chunks",
    "ChunksExact",
    "Windows",
    "Copied",
    "Cloned",
    "Rev",
    "Take",
    "Skip",
    "Enumerate",
    "Zip",
];

/// Which that is.
pub(crate) fn code(sig: &syn::Signature) -> Option<Code> {
    let syn::ReturnType::Type(_, ty) = &sig.output else {
        return None;
    };
    match behind(ty) {
        syn::Type::ImplTrait(of) if signature(&of.bounds).is_some() => Some(Code::Closure),
        syn::Type::ImplTrait(of) if is_iterator(&of.bounds) => Some(Code::Iterator),
        syn::Type::Path(p) if p.qself.is_none() => {
            let names: Vec<String> = p
                .path
                .segments
                .iter()
                .map(|s| s.ident.to_string())
                .collect();
            match &names[..] {
                [.., module, name] if matches!(module.as_str(), "slice" | "iter") => {
                    ITERATORS.contains(&name.as_str()).then_some(Code::Iterator)
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether that is a range, and one with its end.
pub(crate) fn gives_range(sig: &syn::Signature) -> Option<bool> {
    let syn::ReturnType::Type(_, ty) = &sig.output else {
        return None;
    };
    let syn::Type::Path(p) = behind(ty) else {
        return None;
    };
    match p.path.segments.last()?.ident.to_string().as_str() {
        "Range" => Some(false),
        "RangeInclusive" => Some(true),
        _ => None,
    }
}

/// Whether a function gives a value of a type that only its body says: `-> impl Shape`.
pub(crate) fn is_opaque(sig: &syn::Signature) -> bool {
    let syn::ReturnType::Type(_, ty) = &sig.output else {
        return false;
    };
    matches!(behind(ty), syn::Type::ImplTrait(_)) && code(sig).is_none()
}

/// Whether one of some bounds is that of iterators.
pub(crate) fn is_iterator<'b>(bounds: impl IntoIterator<Item = &'b syn::TypeParamBound>) -> bool {
    bounds.into_iter().any(|bound| match bound {
        syn::TypeParamBound::Trait(bound) => bound.path.segments.last().is_some_and(|last| {
            let name = last.ident.to_string();
            name.ends_with("Iterator") && name != "FromIterator"
        }),
        _ => false,
    })
}

/// Whether a function has parameters that are more than lifetimes, or gives a piece of code.
pub(crate) fn is_generic(sig: &syn::Signature) -> bool {
    struct Search(bool);
    impl syn::visit::Visit<'_> for Search {
        fn visit_type_impl_trait(&mut self, _: &syn::TypeImplTrait) {
            self.0 = true;
        }
    }
    let mut search = Search(false);
    for input in &sig.inputs {
        syn::visit::Visit::visit_fn_arg(&mut search, input);
        search.0 |= matches!(input, syn::FnArg::Typed(p) if stands_for_code(behind(&p.ty)));
    }
    has_params(&sig.generics) || search.0 || code(sig).is_some() || is_opaque(sig)
}

/// Whether a parameter of this type is a piece of code, as a closure is: one of a type of functions, in what does not call itself.
fn stands_for_code(ty: &syn::Type) -> bool {
    matches!(ty, syn::Type::FnPtr(f) if f.abi.is_none())
}

/// Lets the functions that a function takes be values if it calls itself: a body that stands in the place of its call cannot. What has an ABI is one.
pub(crate) fn let_be_values(item: &mut syn::ItemFn) {
    fn calls(tokens: proc_macro2::TokenStream, name: &syn::Ident) -> bool {
        tokens.into_iter().any(|token| match token {
            proc_macro2::TokenTree::Ident(i) => i == *name,
            proc_macro2::TokenTree::Group(g) => calls(g.stream(), name),
            _ => false,
        })
    }
    fn let_be(ty: &mut syn::Type) {
        match ty {
            syn::Type::Reference(r) => let_be(&mut r.elem),
            syn::Type::Paren(p) => let_be(&mut p.elem),
            syn::Type::Group(g) => let_be(&mut g.elem),
            syn::Type::FnPtr(f) => f.abi = Some(parse_quote!(extern)),
            _ => {}
        }
    }
    let takes = |input: &syn::FnArg| matches!(input, syn::FnArg::Typed(p) if stands_for_code(behind(&p.ty)));
    if item.sig.inputs.iter().any(takes) && calls(item.block.to_token_stream(), &item.sig.ident) {
        for input in &mut item.sig.inputs {
            if let syn::FnArg::Typed(p) = input {
                let_be(&mut p.ty);
            }
        }
    }
}

/// Whether there are parameters that are more than lifetimes.
pub(crate) fn has_params(generics: &syn::Generics) -> bool {
    generics
        .params
        .iter()
        .any(|p| !matches!(p, syn::GenericParam::Lifetime(_)))
}

/// A type without the references in front.
pub(crate) fn behind(ty: &syn::Type) -> &syn::Type {
    match ty {
        syn::Type::Reference(r) => behind(&r.elem),
        syn::Type::Paren(p) => behind(&p.elem),
        syn::Type::Group(g) => behind(&g.elem),
        other => other,
    }
}

/// Gives each `impl` in a type a name, as a parameter has.
struct Named {
    start: String,
    params: Vec<syn::TypeParam>,
}

impl syn::visit_mut::VisitMut for Named {
    fn visit_type_mut(&mut self, ty: &mut syn::Type) {
        syn::visit_mut::visit_type_mut(self, ty);
        if let syn::Type::ImplTrait(of) = ty {
            let more = match self.params.len() {
                0 => String::new(),
                n => format!("_{n}"),
            };
            let name = syn::Ident::new(&format!("{}{more}", self.start), of.span());
            self.params.push(syn::TypeParam {
                bounds: of.bounds.clone(),
                ..name.clone().into()
            });
            *ty = parse_quote!(#name);
        }
    }
}

/// The signature in `Fn(A) -> B` and its kin.
fn signature<'b>(bounds: impl IntoIterator<Item = &'b syn::TypeParamBound>) -> Option<Signature> {
    bounds.into_iter().find_map(|bound| {
        let syn::TypeParamBound::Trait(bound) = bound else {
            return None;
        };
        let last = bound.path.segments.last()?;
        let syn::PathArguments::Parenthesized(args) = &last.arguments else {
            return None;
        };
        Some(Signature {
            inputs: args.inputs.iter().map(|a| a.ty.clone()).collect(),
            output: match &args.output {
                syn::ReturnType::Default => None,
                syn::ReturnType::Type(_, ty) => Some((**ty).clone()),
            },
        })
    })
}

impl Module {
    /// The parameters of an item, without its lifetimes.
    pub(crate) fn params(&mut self, generics: &syn::Generics) -> Vec<Param> {
        let mut out = Vec::new();
        for param in &generics.params {
            match param {
                syn::GenericParam::Lifetime(_) => {}
                syn::GenericParam::Type(t) => {
                    let wheres = generics.where_clause.iter().flat_map(|w| &w.predicates);
                    let more = wheres.filter_map(|p| match p {
                        syn::WherePredicate::Type(p) => match &p.bounded_ty {
                            syn::Type::Path(of) if of.path.is_ident(&t.ident) => Some(&p.bounds),
                            _ => None,
                        },
                        _ => None,
                    });
                    let kind = match signature(t.bounds.iter().chain(more.flatten())) {
                        Some(signature) => Kind::Closure(Rc::new(signature)),
                        None => Kind::Type,
                    };
                    out.push(Param {
                        name: t.ident.to_string(),
                        kind,
                        default: t
                            .default
                            .clone()
                            .map(|(_, ty)| syn::GenericArgument::Type(ty)),
                    });
                }
                syn::GenericParam::Const(c) => {
                    let ty = self.resolve_type(&c.ty);
                    let scalar = ty.scalar().filter(|s| !s.is_float());
                    if scalar.is_none() {
                        self.diags
                            .error(
                                c.ty.span(),
                                "a number among the parameters is an integer or a `bool`",
                            )
                            .help("write `const N: usize`");
                    }
                    out.push(Param {
                        name: c.ident.to_string(),
                        kind: Kind::Number(scalar.unwrap_or(Scalar::Usize)),
                        default: c
                            .default
                            .clone()
                            .map(|(_, e)| syn::GenericArgument::Const(e)),
                    });
                }
            }
        }
        out
    }

    /// The parameters of a function. Each `impl` in its arguments is one, and gets a name.
    pub(crate) fn params_of_fn(&mut self, item: &mut syn::ItemFn) -> Vec<Param> {
        let mut params = self.params(&item.sig.generics);
        let mut all = Vec::new();
        for (i, input) in item.sig.inputs.iter_mut().enumerate() {
            let mut named = Named {
                start: format!("Impl{i}"),
                params: Vec::new(),
            };
            // A function that is called is known, as a closure is.
            if let syn::FnArg::Typed(p) = input
                && stands_for_code(behind(&p.ty))
                && let syn::Type::FnPtr(f) = behind(&p.ty)
            {
                let (inputs, output) = (f.inputs.iter().map(|a| &a.ty), &f.output);
                *p.ty = parse_quote!(impl Fn(#(#inputs),*) #output);
            }
            syn::visit_mut::VisitMut::visit_fn_arg_mut(&mut named, input);
            for param in &named.params {
                params.push(Param {
                    name: param.ident.to_string(),
                    kind: match signature(&param.bounds) {
                        Some(signature) => Kind::Closure(Rc::new(signature)),
                        None => Kind::Type,
                    },
                    default: None,
                });
            }
            all.extend(named.params);
        }
        let named = all.into_iter().map(syn::GenericParam::Type);
        item.sig.generics.params.extend(named);
        params
    }

    /// The type of a parameter's number.
    pub(crate) fn param_number(
        &mut self,
        arg: &syn::GenericArgument,
        scalar: Scalar,
    ) -> Option<u64> {
        let expr: syn::Expr = match arg {
            syn::GenericArgument::Const(e) => e.clone(),
            // A name alone may be either.
            syn::GenericArgument::Type(syn::Type::Path(p)) => syn::Expr::Path(syn::ExprPath {
                attrs: Vec::new(),
                qself: p.qself.clone(),
                path: p.path.clone(),
            }),
            other => {
                self.diags
                    .error(other.span(), "expected a number here")
                    .help("write it out, or name a constant");
                return None;
            }
        };
        let bytes = crate::consts::eval(self, &expr, &Type::Scalar(scalar))?;
        let mut bits = [0; 8];
        bits.get_mut(..bytes.len())?.copy_from_slice(&bytes);
        Some(u64::from_le_bytes(bits))
    }
}
