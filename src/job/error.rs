//! What is wrong with a job, with places in the files and arguments that it came from.

use miette::{
    Diagnostic, LabeledSpan, MietteError, MietteSpanContents, NamedSource, SourceCode, SourceSpan,
    SpanContents,
};
use millstream_graph::graph::meant;
use std::{fmt, ops::Range, sync::Arc};

/// A line that is longer is not shown whole.
const LONG_LINE: usize = 1000;
/// Bytes of a long line that are shown: of what is wrong, and on each side of it.
const SHOWN: usize = 60;

/// Text that came from somewhere: a file or an argument of the command.
#[derive(Debug)]
pub(crate) struct Source {
    named: NamedSource<String>,
    argument: bool,
}

impl Source {
    /// A file.
    pub(crate) fn file(name: &str, text: String) -> Arc<Self> {
        Arc::new(Self {
            named: NamedSource::new(name, text),
            argument: false,
        })
    }

    /// An argument of the command, such as `--set`.
    pub(crate) fn argument(name: &str, text: &str) -> Arc<Self> {
        Arc::new(Self {
            named: NamedSource::new(name, text.to_owned()),
            argument: true,
        })
    }

    pub(crate) fn text(&self) -> &str {
        self.named.inner()
    }

    pub(crate) fn name(&self) -> &str {
        self.named.name()
    }

    /// What of a place is pointed at: not all of it where it goes on and on.
    fn pointed_at(&self, range: &Range<usize>) -> Range<usize> {
        let long = |text: &str| text.lines().any(|line| line.len() > LONG_LINE);
        match self.text().get(range.clone()) {
            Some(text) if long(text) => range.start..self.boundary(range.start + SHOWN),
            _ => range.clone(),
        }
    }

    /// The first place between two characters from here on.
    fn boundary(&self, from: usize) -> usize {
        let text = self.text();
        (from..text.len())
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(text.len())
    }
}

/// As miette has it, but for long lines, of which what is around the place is shown.
impl SourceCode for Source {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let lines = self.named.read_span(span, before, after)?;
        let long = |line: &[u8]| line.len() > LONG_LINE;
        if before + after == 0 || !lines.data().split(|b| *b == b'\n').any(long) {
            return Ok(lines);
        }
        let (text, at) = (self.text(), span.offset());
        let begin = text[..at].rfind('\n').map_or(0, |i| i + 1);
        let end = text[at..].find('\n').map_or(text.len(), |i| at + i);
        let start = self.boundary(at.saturating_sub(SHOWN).max(begin));
        let stop = self.boundary(at + span.len() + SHOWN).min(end);
        Ok(Box::new(MietteSpanContents::new_named(
            self.name().to_owned(),
            &text.as_bytes()[start..stop],
            SourceSpan::new(start.into(), stop - start),
            text[..at].matches('\n').count(),
            start - begin,
            1,
        )))
    }
}

/// A piece of a [`Source`].
#[derive(Clone, Debug)]
pub(crate) struct Text {
    text: String,
    source: Arc<Source>,
    /// Where it stands in the source; none if it is not there letter by letter.
    start: Option<usize>,
}

impl Text {
    /// All of a source.
    pub(crate) fn whole(source: &Arc<Source>) -> Self {
        Self {
            text: source.text().to_owned(),
            source: source.clone(),
            start: Some(0),
        }
    }

    /// Whether it is an argument of the command.
    pub(crate) fn is_by_command(&self) -> bool {
        self.source.argument
    }

    /// What `part` says, which is a slice of the source's own text or a copy with its escapes resolved.
    pub(crate) fn within(source: &Arc<Source>, part: &str) -> Self {
        let (outer, inner) = (
            source.text().as_bytes().as_ptr_range(),
            part.as_bytes().as_ptr_range(),
        );
        let inside = outer.start <= inner.start && inner.end <= outer.end;
        let start = inside.then(|| inner.start as usize - outer.start as usize);
        Self {
            text: part.to_owned(),
            source: source.clone(),
            start,
        }
    }

    /// Whether it is of the source of that name.
    pub(crate) fn is_of(&self, source: &str) -> bool {
        self.source.name() == source
    }

    pub(crate) const fn source(&self) -> &Arc<Source> {
        &self.source
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// The part of it at these bytes.
    pub(crate) fn part(&self, range: Range<usize>) -> Self {
        let text = self.text.get(range.clone()).unwrap_or_default().to_owned();
        Self {
            text,
            source: self.source.clone(),
            start: self.start.map(|s| s + range.start),
        }
    }

    /// It without white space around it.
    pub(crate) fn trimmed(&self) -> Self {
        let start = self.text.len() - self.text.trim_start().len();
        self.part(start..start + self.text.trim().len())
    }

    /// A problem with all of it.
    pub(crate) fn problem(&self, message: impl Into<String>, label: impl Into<String>) -> Problem {
        self.problem_at(0..self.text.len(), message, label)
    }

    /// A problem with the bytes of a part of it.
    pub(crate) fn problem_at(
        &self,
        range: Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Problem {
        let problem = Problem::new(message);
        match self.start {
            Some(start) => problem.at(&self.source, start + range.start..start + range.end, label),
            None => Problem {
                source: Some(self.source.clone()),
                ..problem
            },
        }
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug)]
pub struct Problem {
    message: String,
    help: Option<String>,
    source: Option<Arc<Source>>,
    labels: Vec<(Range<usize>, String)>,
    of_data: bool,
}

impl Problem {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
            source: None,
            labels: Vec::new(),
            of_data: false,
        }
    }

    /// Points at a place; all places are in one source.
    pub(crate) fn at(
        mut self,
        source: &Arc<Source>,
        range: Range<usize>,
        label: impl Into<String>,
    ) -> Self {
        self.source = Some(source.clone());
        self.labels.push((range, label.into()));
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// It is about files and memory, wherever they are named.
    pub(crate) const fn of_data(mut self) -> Self {
        self.of_data = true;
        self
    }

    /// Adds the name that was probably meant, or all that there are.
    pub(crate) fn meant<'a>(self, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        match meant(name, known) {
            Some(help) => self.help(help),
            None => self,
        }
    }

    /// Whether it is about the command's own arguments.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        !self.of_data && self.source.as_ref().is_some_and(|s| s.argument)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl Diagnostic for Problem {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help
            .as_ref()
            .map(|h| Box::new(h) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        // Without a place the source's text says nothing.
        self.source
            .as_ref()
            .filter(|_| !self.labels.is_empty())
            .map(|s| &**s as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let labels = self.labels.iter().enumerate().map(|(i, (range, label))| {
            let text = Some(label.clone()).filter(|l| !l.is_empty());
            let range = match &self.source {
                Some(source) => source.pointed_at(range),
                None => range.clone(),
            };
            let span = SourceSpan::new(range.start.into(), range.len());
            if i == 0 {
                LabeledSpan::new_primary_with_span(text, span)
            } else {
                LabeledSpan::new_with_span(text, span)
            }
        });
        (!self.labels.is_empty()).then(|| Box::new(labels) as Box<dyn Iterator<Item = LabeledSpan>>)
    }
}

/// Why a job cannot be read or run: one problem or more, each a [`miette::Diagnostic`] with its places.
#[derive(Clone, Debug)]
pub struct JobError {
    problems: Vec<Problem>,
}

impl JobError {
    pub(crate) fn new(problems: Vec<Problem>) -> Self {
        debug_assert!(!problems.is_empty(), "an error says what is wrong");
        Self { problems }
    }

    /// What is wrong; never empty.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Whether it is the command's arguments that are wrong, rather than a file, a program or a run.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        self.problems.iter().all(Problem::is_usage)
    }
}

impl From<Problem> for JobError {
    fn from(problem: Problem) -> Self {
        Self::new(vec![problem])
    }
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().enumerate() {
            write!(f, "{}{problem}", if i > 0 { "\n" } else { "" })?;
            if let (Some(source), Some((range, _))) = (&problem.source, problem.labels.first()) {
                let before = source.text().get(..range.start).unwrap_or_default();
                let line = before.matches('\n').count() + 1;
                let column = before
                    .rsplit('\n')
                    .next()
                    .unwrap_or_default()
                    .chars()
                    .count()
                    + 1;
                write!(f, " ({}:{line}:{column})", source.name())?;
            }
            if let Some(help) = &problem.help {
                write!(f, "\n  help: {help}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for JobError {}

/// What a step of a job gives.
pub(crate) type Result<T, E = JobError> = std::result::Result<T, E>;
