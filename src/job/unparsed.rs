//! Texts that are no expressions.

use super::{
    error::{Problem, Text},
    spec::KINDS,
};
use millstream_cilk_lower::nesting::{self, ParseError};

/// What is wrong with one.
pub(super) fn unparsed(text: &Text, error: &ParseError) -> Problem {
    let at = match error {
        ParseError::TooDeep(span) => return too_deep(text, *span),
        ParseError::Brackets(span) | ParseError::Open(span) => span.byte_range(),
        ParseError::Syntax(e) => e.span().byte_range(),
    };
    // At the end of the text there is nothing to point at.
    let at = if at.is_empty() {
        text.as_str().len()..text.as_str().len()
    } else {
        at
    };
    let before = text.as_str().get(..at.start).unwrap_or_default();
    let makes_buffer = text.as_str()[before.len()..].starts_with(':')
        && KINDS.iter().any(|kind| before.ends_with(kind));
    let problem = text.problem_at(
        at,
        format!("`{}` is not an expression: {error}", text.as_str()),
        "here",
    );
    if makes_buffer {
        problem.help("a call names its data, and `--buffer` says what it is: `--entry 'sum(&data)' --buffer data=zeros:f32:1000`")
    } else {
        problem
    }
}

/// A text that is nested too deep to be read.
pub(crate) fn too_deep(text: &Text, at: proc_macro2::Span) -> Problem {
    text.problem_at(at.byte_range(), nesting::TOO_DEEP, "here")
        .help(nesting::TOO_DEEP_HELP)
}
