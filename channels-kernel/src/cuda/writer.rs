//! Where the text is written: indentation, lines of the user's file, and the places of checks.

use super::parts::{Cut, Section};
use millstream_graph::{
    ir::{CheckKind, Span},
    ty::Scalar,
};
use std::fmt::Write as _;

/// A check in the text: what [`status::FAULT`](super::abi::status::FAULT) numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Site {
    /// What was wrong.
    pub kind: CheckKind,
    /// Types of the values.
    pub types: Vec<Scalar>,
    /// The function it stands in.
    pub function: String,
    /// Where in the source.
    pub span: Span,
}

/// Collects the text: indentation, and which line of which file the compiler thinks it reads.
#[derive(Debug)]
pub(super) struct Writer {
    text: String,
    sites: Vec<Site>,
    indent: usize,
    /// The user's file, if lines are to point there.
    file: Option<String>,
    span: Span,
    /// Lines written, and the line that the compiler counts if it reads the user's file.
    physical: u32,
    counted: Option<u32>,
    cuts: Vec<Cut>,
}

impl Writer {
    pub(super) fn new(file: Option<String>) -> Self {
        Self {
            text: String::new(),
            sites: Vec::new(),
            indent: 0,
            file,
            span: Span::default(),
            physical: 0,
            counted: None,
            cuts: Vec::new(),
        }
    }

    pub(super) fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{:1$}{text}", "", 2 * self.indent);
        self.advance(1);
    }

    fn advance(&mut self, lines: u32) {
        self.physical += lines;
        if let Some(counted) = &mut self.counted {
            *counted += lines;
        }
    }

    pub(super) fn blank(&mut self) {
        self.text.push('\n');
        self.advance(1);
    }

    pub(super) fn open(&mut self, text: &str) {
        self.line(text);
        self.indent += 1;
    }

    pub(super) fn close(&mut self, text: &str) {
        self.indent = self.indent.saturating_sub(1);
        self.line(text);
    }

    pub(super) fn label(&mut self, text: &str) {
        let indent = std::mem::replace(&mut self.indent, 0);
        self.line(text);
        self.indent = indent;
    }

    pub(super) fn text(&mut self, text: &str) {
        self.text += text;
        self.advance(text.lines().count() as u32);
    }

    /// What follows comes from this place of the user's source.
    pub(super) fn place(&mut self, span: Span) {
        self.span = span;
        if let Some(file) = &self.file
            && span.line != 0
            && self.counted != Some(span.line)
        {
            let file = file.replace('\\', "/").replace(['"', '\n'], "_");
            let _ = writeln!(self.text, "#line {} \"{file}\"", span.line);
            self.physical += 1;
            self.counted = Some(span.line);
        }
    }

    /// What follows is the generator's own.
    pub(super) fn generated(&mut self) {
        if self.counted.take().is_some() {
            self.physical += 1;
            let _ = writeln!(self.text, "#line {} \"generated.cu\"", self.physical + 1);
        }
    }

    /// What follows is this section, and the generator's own at first.
    pub(super) fn section(&mut self, section: Section) {
        self.generated();
        let (at, line) = (self.text.len(), self.physical + 1);
        self.cuts.push(Cut { section, at, line });
    }

    /// Where the sections begin.
    pub(super) fn cuts(&mut self) -> Vec<Cut> {
        std::mem::take(&mut self.cuts)
    }

    pub(super) const fn span(&self) -> Span {
        self.span
    }

    /// A number for a check.
    pub(super) fn site(&mut self, site: Site) -> usize {
        self.sites.push(site);
        self.sites.len() - 1
    }

    /// The text, and the places of its checks.
    pub(super) fn done(self) -> (String, Vec<Site>) {
        (self.text, self.sites)
    }
}
