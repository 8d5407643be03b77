//! A program's text in parts that are compiled by themselves, at the same time. A kernel of the host thread runs one segment, and needs nothing else. A
//! kernel whose blocks run any segment is linked: the segments, some to a part, and the kernel that calls them. A part is cut out of the one text, so that
//! checks and lines have the same numbers in all of them.

use super::{plan::Plan, unit::Generated};

/// Segments are in no more parts than this: as many as a machine has cores for.
const MOST_PARTS: usize = 16;

/// About so much text of segments is worth a part: what all parts have in common is read again for each.
const PART_BYTES: usize = 12 << 10;

/// What a piece of the text is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Section {
    /// All parts.
    Common,
    /// The segment of this source.
    Segment(usize),
    /// A dispatch of this source, of a block.
    Run(usize),
    /// All kernels.
    Kernels,
    /// The kernels whose blocks run any segment.
    Blocks,
    /// Kernels that decide about levels: how they do.
    Deciding,
    /// The persistent kernel.
    Persistent,
    /// The kernel of subtree dispatches.
    Workers,
    /// All kernels of the host thread.
    Dispatch,
    /// This one.
    Kernel(usize),
}

/// Where a section begins: at which byte, and in which line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cut {
    pub(super) section: Section,
    pub(super) at: usize,
    pub(super) line: u32,
}

/// Kernels whose blocks run any segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Image {
    /// The persistent one.
    Persistent,
    /// Those of subtree dispatches.
    Workers,
}

/// What is compiled together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// The host thread's kernels that have these numbers.
    Dispatches(Vec<usize>),
    /// The segments of the sources that have these numbers, to be linked.
    Segments(Image, Vec<usize>),
    /// The kernels that call them, to be linked.
    Kernels(Image),
}

impl Part {
    /// Whether it is to be linked with others.
    #[must_use]
    pub const fn is_linked(&self) -> bool {
        matches!(self, Self::Segments(..) | Self::Kernels(_))
    }
}

/// Of each source: the one whose segment's text it needs. What waits for itself is one text for both of its channels.
pub(super) fn written(plan: &Plan) -> Vec<usize> {
    let same = |a: &super::plan::Source, b: &super::plan::Source| {
        !b.twin && a.task == b.task && a.segment == b.segment
    };
    let own = |(i, source)| {
        plan.sources
            .iter()
            .position(|s| same(source, s))
            .unwrap_or(i)
    };
    plan.sources.iter().enumerate().map(own).collect()
}

impl Generated {
    /// The host thread's kernels in parts that take about the same time to compile.
    #[must_use]
    pub fn dispatches(&self) -> Vec<Part> {
        let kernels = 0..self.written.len() + usize::from(self.moves);
        self.shared_out(kernels).map(Part::Dispatches).collect()
    }

    /// What is linked to an image; the kernels take longest, and come first.
    #[must_use]
    pub fn linked(&self, image: Image) -> Vec<Part> {
        let segments = self.shared_out(0..self.written.len());
        let segments = segments.map(|of| Part::Segments(image, of));
        std::iter::once(Part::Kernels(image))
            .chain(segments)
            .collect()
    }

    /// Sources, and what comes after them, shared out so that each share is about as much to compile.
    fn shared_out(&self, sources: std::ops::Range<usize>) -> impl Iterator<Item = Vec<usize>> {
        let mut order: Vec<(usize, usize)> = sources
            .map(|source| (self.weight(source), source))
            .collect();
        // The heaviest first, each to where the least is.
        order.sort_by_key(|&(weight, source)| (std::cmp::Reverse(weight), source));
        let all: usize = order.iter().map(|(weight, _)| weight).sum();
        let most = (all / PART_BYTES).clamp(1, MOST_PARTS).min(order.len());
        let mut parts = vec![(0, Vec::new()); most];
        for (weight, source) in order {
            if let Some((sum, of)) = parts.iter_mut().min_by_key(|(sum, _)| *sum) {
                *sum += weight;
                of.push(source);
            }
        }
        parts.into_iter().map(|(_, mut of)| {
            of.sort_unstable();
            of
        })
    }

    /// How much there is to compile of a source: bytes of its segment's text, and for whoever has regions of its own as much as a part is.
    fn weight(&self, source: usize) -> usize {
        let regions = match self.masters.len() > 1 && self.masters.contains(&source) {
            true => PART_BYTES,
            false => 0,
        };
        let segment = self.written.get(source).map(|s| Section::Segment(*s));
        let found = self
            .sections()
            .find(|(cut, _)| Some(cut.section) == segment);
        1 + regions + found.map_or(0, |(_, text)| text.len())
    }

    /// The sections with their texts; what stands before the first one is common.
    fn sections(&self) -> impl Iterator<Item = (&Cut, &str)> {
        let ends = self.cuts.iter().skip(1).map(|c| c.at);
        let ends = ends.chain([self.source.len()]);
        self.cuts
            .iter()
            .zip(ends)
            .map(|(cut, end)| (cut, &self.source[cut.at..end]))
    }

    /// The text of a part.
    #[must_use]
    pub fn part(&self, part: &Part) -> String {
        let defined: &[&str] = match part {
            Part::Segments(Image::Workers, _) => &["SEGMENTS", "WORKERS"],
            Part::Segments(..) => &["SEGMENTS"],
            Part::Kernels(Image::Workers) => &["WORKERS"],
            // Each of its kernels runs one segment, with registers for that alone.
            Part::Dispatches(_) => &["ALONE"],
            Part::Kernels(Image::Persistent) => &[],
        };
        let mut defined: Vec<String> = defined.iter().map(ToString::to_string).collect();
        // Where there is one, each part has all that there is.
        if let (Part::Dispatches(of) | Part::Segments(_, of), 2..) = (part, self.masters.len()) {
            let runs = of.iter().filter(|i| self.masters.contains(i));
            let runs = runs.map(|i| format!("RUNS_{i}"));
            defined.extend(["PARTS".to_owned()].into_iter().chain(runs));
        }
        let kernels_of = match part {
            Part::Kernels(image) => Some(*image),
            Part::Dispatches(_) | Part::Segments(..) => None,
        };
        self.cut(&defined, |section| match section {
            Section::Common => true,
            Section::Segment(s) => match part {
                Part::Dispatches(of) | Part::Segments(_, of) => {
                    of.iter().any(|i| self.written.get(*i) == Some(&s))
                }
                // Narrow levels are run by one warp.
                Part::Kernels(image) => self.decides(*image),
            },
            Section::Run(s) => match part {
                Part::Dispatches(of) | Part::Segments(_, of) => of.contains(&s),
                Part::Kernels(_) => false,
            },
            Section::Kernels => !matches!(part, Part::Segments(..)),
            Section::Blocks => kernels_of.is_some(),
            Section::Deciding => kernels_of.is_some_and(|image| self.decides(image)),
            Section::Persistent => kernels_of == Some(Image::Persistent),
            Section::Workers => kernels_of == Some(Image::Workers),
            Section::Dispatch => matches!(part, Part::Dispatches(_)),
            Section::Kernel(k) => matches!(part, Part::Dispatches(of) if of.contains(&k)),
        })
    }

    /// All that subtree dispatches need, in one text: for who has no linker.
    #[must_use]
    pub fn workers(&self) -> String {
        self.cut(&["WORKERS".to_owned()], |section| match section {
            Section::Deciding => self.decides(Image::Workers),
            Section::Persistent | Section::Dispatch | Section::Kernel(_) => false,
            _ => true,
        })
    }

    /// Whether a kernel of an image decides about levels.
    const fn decides(&self, image: Image) -> bool {
        match image {
            Image::Persistent => true,
            Image::Workers => self.framed,
        }
    }

    /// Some sections, and what is defined for them.
    fn cut(&self, defined: &[String], wanted: impl Fn(Section) -> bool) -> String {
        let first = self.cuts.first().map_or(self.source.len(), |c| c.at);
        let mut out = String::new();
        for name in defined {
            out += &format!("#define {name}\n#line 1 \"generated.cu\"\n");
        }
        out += &self.source[..first];
        let mut left_out = false;
        for (cut, text) in self.sections() {
            if !wanted(cut.section) {
                left_out = true;
                continue;
            }
            if std::mem::take(&mut left_out) {
                out += &format!("#line {} \"generated.cu\"\n", cut.line);
            }
            out += text;
        }
        out
    }
}
