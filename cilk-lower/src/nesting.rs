//! How deep a source is nested, asked of its tokens before any of it is parsed.
//!
//! What reads a source calls itself for what stands within: the parser, each pass of the front end, even the end of a tree's life. So
//! the stack that all of this takes is bounded here, by the one thing that is read without calling oneself. Of the room that there is
//! a bracket takes its share, and so does each token that may make the tree one deeper without a bracket: an operator, a `.`, a
//! `return` in front of another one.

use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree, token_stream::IntoIter};
use std::borrow::Cow;
use syn::parse::Parse;

/// All that one place may take: 128 brackets, or 1,024 operators. Without optimisation, as attribute macros are built, that is about
/// 5 MiB of stack.
const ROOM: usize = 1024;
/// What a bracket takes: as much stack as so many operators.
const BRACKET: usize = 8;

/// What is wrong with a source that is nested too deep.
pub const TOO_DEEP: &str = "the source is nested too deep here";
/// What to do about it.
pub const TOO_DEEP_HELP: &str =
    "at most 128 brackets lie in each other, fewer in long expressions: give parts of it a name";

/// Why a text was not parsed.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// Brackets do not match, or a text or a comment has no end.
    #[error("a bracket or a quote has no counterpart")]
    Brackets(Span),
    /// A bracket that is not closed before one around it is.
    #[error("a bracket is not closed")]
    Open(Span),
    /// It is nested deeper than what reads it can go.
    #[error("{TOO_DEEP}")]
    TooDeep(Span),
    /// It is not what it should be.
    #[error("{0}")]
    Syntax(#[from] syn::Error),
}

/// Parses a text that may come from anywhere.
///
/// # Errors
/// If it is something else, or nested too deep.
pub fn parse<T: Parse>(text: &str) -> Result<T, ParseError> {
    let tokens: TokenStream = text.parse().map_err(|e: proc_macro2::LexError| {
        let open = open_bracket(text).and_then(|at| place(text, at));
        open.map_or_else(|| ParseError::Brackets(e.span()), ParseError::Open)
    })?;
    match too_deep(tokens.clone()) {
        Some(span) => Err(ParseError::TooDeep(span)),
        None => Ok(syn::parse2(tokens)?),
    }
}

/// Where a bracket stands that another kind of bracket would close.
fn open_bracket(text: &str) -> Option<usize> {
    let (bytes, mut at, mut open) = (text.as_bytes(), 0, Vec::new());
    let skip_to = |from: usize, end: &str| Some(from + text.get(from..)?.find(end)? + end.len());
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        let hashes = rest.iter().skip(1).take_while(|b| **b == b'#').count();
        at = match byte {
            b'/' if rest.starts_with(b"//") => skip_to(at, "\n")?,
            b'/' if rest.starts_with(b"/*") => skip_to(at, "*/")?,
            b'r' if rest.get(hashes + 1) == Some(&b'"') && !is_word(bytes, at) => {
                skip_to(at + hashes + 2, &format!("\"{}", "#".repeat(hashes)))?
            }
            b'"' => {
                let mut end = at + 1;
                while *bytes.get(end)? != b'"' {
                    end += if bytes[end] == b'\\' { 2 } else { 1 };
                }
                end + 1
            }
            // A character, or a lifetime.
            b'\'' if rest.get(1) == Some(&b'\\') => skip_to(at + 3, "'")?,
            b'\'' => match text.get(at + 1..)?.chars().next() {
                Some(c) if rest.get(1 + c.len_utf8()) == Some(&b'\'') => at + 2 + c.len_utf8(),
                _ => at + 1,
            },
            b'(' | b'[' | b'{' => {
                open.push(at);
                at + 1
            }
            b')' | b']' | b'}' => {
                let last: usize = open.pop()?;
                if !matches!(
                    (bytes[last], byte),
                    (b'(', b')') | (b'[', b']') | (b'{', b'}')
                ) {
                    return Some(last);
                }
                at + 1
            }
            _ => at + 1,
        };
    }
    None
}

/// Whether a letter goes on with a word.
fn is_word(bytes: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map(|at| bytes[at]);
    before.is_some_and(|b| b.is_ascii_alphanumeric() && b != b'b' || b == b'_')
}

/// The place of a byte of a text that is no Rust.
fn place(text: &str, at: usize) -> Option<Span> {
    let blank = text.bytes().enumerate().map(|(i, byte)| match byte {
        _ if i == at => ';',
        b'\n' => '\n',
        _ => ' ',
    });
    let tokens: TokenStream = blank.collect::<String>().parse().ok()?;
    tokens.into_iter().next().map(|token| token.span())
}

/// Parses a whole file. Its first line may name an interpreter.
pub(crate) fn parse_file(text: &str) -> Result<syn::File, ParseError> {
    let text = match text.strip_prefix("#!") {
        Some(rest) if !rest.trim_start().starts_with('[') => Cow::Owned(format!("//{rest}")),
        _ => Cow::Borrowed(text),
    };
    parse(&text)
}

/// The place where tokens are nested too deep, if they are.
#[must_use]
pub fn too_deep(tokens: TokenStream) -> Option<Span> {
    let mut open = vec![Level::new(tokens, 0)];
    while let Some(level) = open.last_mut() {
        let Some(token) = level.tokens.next() else {
            open.pop();
            continue;
        };
        level.pass(&token);
        let mut depth = level.depth;
        let mut span = token.span();
        if let TokenTree::Group(group) = &token {
            (depth, span) = (depth + BRACKET, group.span_open());
            open.push(Level::new(group.stream(), depth));
        }
        if depth > ROOM {
            return Some(span);
        }
    }
    None
}

/// The tokens between two brackets, on the way through them.
struct Level {
    tokens: IntoIter,
    /// How deep the brackets lie.
    base: usize,
    /// How deep the tree may be here: never less than it is.
    depth: usize,
    /// Angle brackets that are open, or signs that look so: a comma between them ends nothing.
    angles: usize,
    last: Last,
}

/// What the token before was.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    Operand,
    /// An operator: its sign, if more of them may follow.
    Operator(char),
    Block,
}

impl Level {
    fn new(tokens: TokenStream, base: usize) -> Self {
        Self {
            tokens: tokens.into_iter(),
            base,
            depth: base,
            angles: 0,
            last: Last::Nothing,
        }
    }

    /// What comes is not part of what was.
    fn begin_anew(&mut self) {
        (self.depth, self.angles) = (self.base, 0);
    }

    fn pass(&mut self, token: &TokenTree) {
        let follows = self.last;
        self.last = match token {
            TokenTree::Punct(p) => {
                let whole = self.punct(p.as_char());
                let joint = p.spacing() == Spacing::Joint && !whole;
                Last::Operator(if joint { p.as_char() } else { ' ' })
            }
            // Words that something follows.
            TokenTree::Ident(i) if i == "mut" || i == "const" => Last::Operator(' '),
            TokenTree::Group(g) if g.delimiter() == Delimiter::Brace => Last::Block,
            _ => Last::Operand,
        };
        match token {
            TokenTree::Punct(_) => {}
            // After a block the next statement, arm or item begins, if there is no word that goes on with it.
            TokenTree::Ident(i) if follows == Last::Block && i != "else" && i != "as" => {
                self.begin_anew();
            }
            TokenTree::Literal(_) if follows == Last::Block => self.begin_anew(),
            // What an operator is applied to; the operator has been counted.
            TokenTree::Ident(_) | TokenTree::Literal(_)
                if matches!(follows, Last::Operator(_) | Last::Nothing) => {}
            TokenTree::Group(_) => self.depth += 1,
            // A word after a word: `return return x`.
            _ => self.depth += 2,
        }
    }

    /// Counts a sign; whether it ends an operator of several.
    fn punct(&mut self, sign: char) -> bool {
        let before = match self.last {
            Last::Operator(sign) => sign,
            _ => ' ',
        };
        let prefix = !matches!(self.last, Last::Operand | Last::Block);
        match (before, sign) {
            (_, ';') => self.begin_anew(),
            (_, ',') if self.angles == 0 => self.begin_anew(),
            (_, '#') if self.last == Last::Block => self.begin_anew(),
            // An arm of a `match`: what looked like angle brackets in front of it were none.
            ('=', '>') => self.angles = 0,
            // `fn() -> fn() -> T`
            ('-', '>') => self.depth += BRACKET,
            // A shift is written for numbers far oftener than two of these for types.
            ('<', '<') => self.angles = self.angles.saturating_sub(1),
            ('&', '&') | ('|', '|') | (':', ':') | ('=', '=') => {}
            ('.', '.') => self.depth += BRACKET / 2,
            // In types these nest as brackets do.
            (_, '&' | '*') if prefix => {
                self.depth += BRACKET;
                return true;
            }
            // A closure's parameters.
            (_, '|') if prefix => {
                self.depth += BRACKET;
                return false;
            }
            (_, '<') => {
                self.angles += 1;
                self.depth += BRACKET;
                return false;
            }
            (_, '>') => {
                self.angles = self.angles.saturating_sub(1);
                self.depth += 1;
                return true;
            }
            _ => {
                self.depth += 1;
                return false;
            }
        }
        true
    }
}
