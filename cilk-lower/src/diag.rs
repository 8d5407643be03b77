//! Errors about the user's source: collected, with a place and a hint each.

use proc_macro2::Span;
use std::fmt;

/// One thing that is wrong in a program.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Where.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What would be right, if there is something to say.
    pub help: Option<String>,
    /// A second place and what it has to do with it.
    pub note: Option<(Span, String)>,
    /// Whether it may follow from another one: a type that is not known, which may be what is wrong elsewhere.
    pub(crate) follows: bool,
}

/// What is wrong in a program; never empty as an error.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Adds an error.
    pub fn error(&mut self, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.0.push(Diagnostic {
            span,
            message: message.into(),
            help: None,
            note: None,
            follows: false,
        });
        let last = self.0.len() - 1;
        &mut self.0[last]
    }

    /// Leaves out what may follow from others, of those from number `first` on, if there are others among them.
    pub(crate) fn without_followers(&mut self, first: usize) {
        let of_function = self.0.split_off(first.min(self.0.len()));
        let some = of_function.iter().any(|d| !d.follows);
        let stays = of_function.into_iter().filter(|d| !some || !d.follows);
        self.0.extend(stays);
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In the order of the source, each once, with Rust's names for its types.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        for d in &mut self.0 {
            let texts = [
                Some(&mut d.message),
                d.help.as_mut(),
                d.note.as_mut().map(|n| &mut n.1),
            ];
            for text in texts.into_iter().flatten() {
                *text = millstream_graph::ty::by_rusts_names(text);
            }
        }
        let key = |d: &Diagnostic| {
            (
                d.span.start().line,
                d.span.start().column,
                d.message.clone(),
            )
        };
        self.0.sort_by_key(key);
        self.0.dedup_by(|a, b| key(a) == key(b));
        self
    }
}

impl Diagnostic {
    /// It may follow from another error.
    pub(crate) const fn may_follow(&mut self) -> &mut Self {
        self.follows = true;
        self
    }

    /// Says what would be right.
    pub fn help(&mut self, help: impl Into<String>) -> &mut Self {
        self.help = Some(help.into());
        self
    }

    /// Points at a second place.
    pub fn note(&mut self, span: Span, note: impl Into<String>) -> &mut Self {
        self.note = Some((span, note.into()));
        self
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.0.iter().enumerate() {
            let at = d.span.start();
            write!(
                f,
                "{}{}:{}: {}",
                if i > 0 { "\n" } else { "" },
                at.line,
                at.column + 1,
                d.message
            )?;
            if let Some((span, note)) = &d.note {
                write!(
                    f,
                    "\n  note: {}:{}: {note}",
                    span.start().line,
                    span.start().column + 1
                )?;
            }
            if let Some(help) = &d.help {
                write!(f, "\n  help: {help}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

/// Where something begins: what tells the parts of a source apart.
pub(crate) fn start(span: Span) -> (usize, usize) {
    (span.start().line, span.start().column)
}

/// A place as the IR keeps it.
pub(crate) fn ir_span(span: Span) -> millstream_graph::ir::Span {
    let at = span.start();
    millstream_graph::ir::Span {
        line: at.line as u32,
        col: at.column as u32 + 1,
    }
}
