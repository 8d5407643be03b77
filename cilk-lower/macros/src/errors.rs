//! What the front end refuses, as compile errors at their places.

use millstream_cilk_lower::{Diagnostic, Diagnostics, SourceError};
use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

/// A compile error.
pub(crate) fn compile_error(span: Span, message: &str) -> TokenStream {
    quote_spanned! {span=> ::core::compile_error! { #message } }
}

/// Each error at its place, with its note and its help.
pub(crate) fn diagnostics(errors: &Diagnostics) -> TokenStream {
    errors
        .0
        .iter()
        .map(|e| compile_error(e.span, &text(e)))
        .collect()
}

/// What is wrong with the source, or with Millstream.
pub(crate) fn source(error: &SourceError) -> TokenStream {
    match error {
        SourceError::Source(errors) => diagnostics(errors),
        internal @ SourceError::Internal(_) => {
            compile_error(Span::call_site(), &internal.to_string())
        }
    }
}

fn text(error: &Diagnostic) -> String {
    let mut text = error.message.clone();
    if let Some((span, note)) = &error.note {
        text += &format!("\nnote: line {}: {note}", span.start().line);
    }
    if let Some(help) = &error.help {
        text += &format!("\nhelp: {help}");
    }
    text
}
