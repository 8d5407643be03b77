//! Types that stand in a job: `i32`, `[f32; 3]`, `(u32, bool)`, a struct of the program.

use super::{
    error::{Problem, Result, Text},
    unparsed::too_deep,
};
use millstream_cilk_lower::nesting::{self, ParseError};
use millstream_graph::ty::{Scalar, StructDef, Structs, Type};
use syn::spanned::Spanned;

/// Reads a type.
pub(crate) fn parse(text: &Text, structs: &Structs) -> Result<Type> {
    let parsed: syn::Type = nesting::parse(text.as_str()).map_err(|e| match e {
        ParseError::TooDeep(span) => too_deep(text, span),
        _ => not_a_type(text, text.as_str(), structs),
    })?;
    convert(&parsed, text, structs)
}

fn convert(ty: &syn::Type, text: &Text, structs: &Structs) -> Result<Type> {
    match ty {
        syn::Type::Path(path) if path.qself.is_none() => {
            let name = path
                .path
                .segments
                .last()
                .filter(|_| path.path.segments.len() == 1)
                .map(|s| s.ident.to_string())
                .unwrap_or_default();
            named(&name, structs).ok_or_else(|| {
                not_a_type(&text.part(ty.span().byte_range()), &name, structs).into()
            })
        }
        syn::Type::Array(array) => {
            let wrong = || {
                text.problem_at(
                    array.len.span().byte_range(),
                    "the length of an array type is a number",
                    "not a number",
                )
            };
            let len = match &array.len {
                syn::Expr::Lit(syn::ExprLit {
                    lit: syn::Lit::Int(n),
                    ..
                }) => n.base10_parse().map_err(|_| wrong())?,
                _ => return Err(wrong().into()),
            };
            Ok(Type::Array(
                Box::new(convert(&array.elem, text, structs)?),
                len,
            ))
        }
        syn::Type::Tuple(tuple) => Ok(Type::Tuple(
            tuple
                .elems
                .iter()
                .map(|t| convert(t, text, structs))
                .collect::<Result<_>>()?,
        )),
        syn::Type::Paren(inner) => convert(&inner.elem, text, structs),
        other => Err(not_a_type(&text.part(other.span().byte_range()), "", structs).into()),
    }
}

fn named(name: &str, structs: &Structs) -> Option<Type> {
    let scalar = Scalar::from_name(name)
        .filter(|s| *s != Scalar::Ptr)
        .map(Type::Scalar);
    let atomic = || {
        name.strip_prefix("Atomic")
            .and_then(|n| Scalar::from_name(&n.to_lowercase()))
            .filter(|s| *s != Scalar::Ptr)
    };
    scalar
        .or_else(|| atomic().map(Type::Atomic))
        .or_else(|| structs.find(name).map(Type::Struct))
}

fn not_a_type(text: &Text, name: &str, structs: &Structs) -> Problem {
    let problem = text.problem(
        format!("`{}` is not a type that a buffer can hold", text.as_str()),
        "not a type",
    );
    let known = Scalar::ALL
        .iter()
        .filter(|s| **s != Scalar::Ptr)
        .map(|s| s.name());
    problem.meant(
        name,
        known.chain(structs.iter().map(|(_, d)| d.name.as_str())),
    )
}

/// The ends of a range of that type, if one is written.
pub(super) fn ends<'e>(e: &'e syn::Expr, of: &StructDef) -> Option<Vec<&'e syn::Expr>> {
    let syn::Expr::Range(range) = e else {
        return None;
    };
    let is_open = matches!(range.limits, syn::RangeLimits::HalfOpen(_));
    let is_it = of.is_range() && (of.ident() == "Range") == is_open;
    let ends = [range.start.as_deref()?, range.end.as_deref()?];
    is_it.then(|| ends.to_vec())
}
