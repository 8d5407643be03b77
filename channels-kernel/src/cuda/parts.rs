//! A program's text in parts that are compiled by themselves, at the same time: the kernel of the persistent aggregator, that of subtree dispatches, and
//! those of the host thread. A part is cut out of the one text, so that checks and lines have the same numbers in all of them.

use super::{plan::Plan, unit::Generated};

/// The host thread's kernels are in no more parts than this: as many as a machine has cores for, and so few that loading them costs little.
const MOST_PARTS: usize = 16;

/// What a piece of the text is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Section {
    /// All kernels.
    Common,
    /// The kernels that run the segment of this source.
    Segment(usize),
    /// The kernels whose blocks run any segment.
    Blocks,
    /// The persistent kernel: how it decides.
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

/// Kernels that are compiled together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// The persistent one.
    Persistent,
    /// That of subtree dispatches.
    Workers,
    /// Those of the host thread that have these numbers.
    Dispatches(Vec<usize>),
}

/// Of each kernel of the host thread: the source whose segment's text it needs; none of the one that moves tiles.
pub(super) fn kernels(plan: &Plan) -> Vec<Option<usize>> {
    let written = |of: usize| {
        let source = &plan.sources[of];
        // What waits for itself is one text for both of its channels.
        let same = |s: &super::plan::Source| {
            !s.twin && s.task == source.task && s.segment == source.segment
        };
        plan.sources.iter().position(same)
    };
    let mut out: Vec<Option<usize>> = (0..plan.sources.len()).map(written).collect();
    out.extend(plan.gives_back().then_some(None));
    out
}

impl Generated {
    /// The host thread's kernels in parts that take about the same time to compile.
    #[must_use]
    pub fn dispatches(&self) -> Vec<Part> {
        let mut order: Vec<(usize, usize)> = (0..self.kernels.len())
            .map(|kernel| (self.weight(kernel), kernel))
            .collect();
        // The heaviest first, each to where the least is.
        order.sort_by_key(|&(weight, kernel)| (std::cmp::Reverse(weight), kernel));
        let mut parts = vec![(0, Vec::new()); order.len().min(MOST_PARTS)];
        for (weight, kernel) in order {
            if let Some((sum, kernels)) = parts.iter_mut().min_by_key(|(sum, _)| *sum) {
                *sum += weight;
                kernels.push(kernel);
            }
        }
        let sorted = |(_, mut kernels): (usize, Vec<usize>)| {
            kernels.sort_unstable();
            Part::Dispatches(kernels)
        };
        parts.into_iter().map(sorted).collect()
    }

    /// How much there is to compile of a kernel: bytes of its segment's text.
    fn weight(&self, kernel: usize) -> usize {
        let segment = self.kernels[kernel].map(Section::Segment);
        let of = |(_, text): (&Cut, &str)| text.len();
        let found = self
            .sections()
            .find(|(cut, _)| Some(cut.section) == segment);
        1 + found.map_or(0, of)
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
        let wanted = |section: Section| match (section, part) {
            (Section::Common, _)
            | (Section::Segment(_) | Section::Blocks, Part::Persistent | Part::Workers)
            | (Section::Deciding | Section::Persistent, Part::Persistent)
            | (Section::Workers, Part::Workers)
            | (Section::Dispatch, Part::Dispatches(_)) => true,
            (Section::Segment(s), Part::Dispatches(of)) => {
                of.iter().any(|k| self.kernels[*k] == Some(s))
            }
            (Section::Kernel(k), Part::Dispatches(of)) => of.contains(&k),
            _ => false,
        };
        let first = self.cuts.first().map_or(self.source.len(), |c| c.at);
        let mut out = String::new();
        if *part == Part::Workers {
            out += "#define WORKERS\n#line 1 \"generated.cu\"\n";
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
