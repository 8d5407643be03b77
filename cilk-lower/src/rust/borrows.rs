//! A program as a crate of one file for rustc alone, without the macro and without Millstream: its elision and its race check.
//!
//! The text is made token by token, and for each token of the program's file its place there is kept. So what rustc says of a place in
//! the text can be said of the place in the file.

use super::{ParallelLoop, elision, imports, race};
use crate::front::is_program_attribute;
use millstream_graph::ir::Program;
use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::ops::Range;
use syn::ItemMod;

/// The crate's text, and where its tokens come from.
#[derive(Clone, Debug)]
pub struct Crate {
    text: String,
    /// Places in the text, in their order, and in the program's file.
    places: Vec<(Range<usize>, Range<usize>)>,
}

impl Crate {
    /// The crate of a program. `support` is what stands before its module: what the module finds under the name `millstream`.
    #[must_use]
    pub fn new(module: &ItemMod, program: &Program, loops: &[ParallelLoop], support: &str) -> Self {
        let mut module = module.clone();
        module.attrs.retain(|a| !is_program_attribute(a));
        let added = [imports(&module), race::check(&module, program, loops)];
        race::check_within(&mut module, loops);
        elision(&mut module, loops);
        if let Some((_, items)) = &mut module.content {
            items.extend(added.map(syn::Item::Verbatim));
        }
        let mut this = Self {
            text: support.to_owned(),
            places: Vec::new(),
        };
        // In a module of its own, so that it may have any name.
        this.text.push_str("mod millstream_program {\n");
        this.tokens(module.into_token_stream());
        this.text.push_str("}\n");
        this
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What of the program's file stands at these bytes of the text.
    #[must_use]
    pub fn place(&self, at: &Range<usize>) -> Option<Range<usize>> {
        let first = self
            .places
            .partition_point(|(here, _)| here.end <= at.start);
        let last = self
            .places
            .partition_point(|(here, _)| here.start < at.end.max(at.start + 1));
        let within = self.places.get(first..last)?;
        let start = within.iter().map(|(_, there)| there.start).min()?;
        let end = within.iter().map(|(_, there)| there.end).max()?;
        Some(start..end)
    }

    fn tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::None => ("", ""),
                    };
                    self.token(open, group.span_open());
                    self.text.push(' ');
                    self.tokens(group.stream());
                    self.token(close, group.span_close());
                    self.text.push(' ');
                }
                TokenTree::Punct(punct) => {
                    self.token(punct.as_char().encode_utf8(&mut [0; 4]), punct.span());
                    if punct.spacing() == Spacing::Alone {
                        self.text.push(' ');
                    }
                }
                other => {
                    self.token(&other.to_string(), other.span());
                    self.text.push(' ');
                }
            }
        }
    }

    fn token(&mut self, text: &str, span: Span) {
        let (start, there) = (self.text.len(), span.byte_range());
        self.text.push_str(text);
        // What stands nowhere in the file has the empty place.
        if !there.is_empty() && !text.is_empty() {
            self.places.push((start..self.text.len(), there));
        }
    }
}
