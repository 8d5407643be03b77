//! Tables in constant memory: what who decides has to know of the program's channels and segments.

use super::{
    parts::Section,
    plan::{Mode, Plan, Shape, Source, StackKind},
    writer::Writer,
};

/// Writes them: what the policy knows of the program.
pub(super) fn write(plan: &Plan, out: &mut Writer) {
    let mut first = 0;
    let sources = list(plan.sources.iter().map(|s| {
        let (stack, entry, pushes, most) =
            (s.stack, u32::from(s.is_entry()), s.pushes.len(), s.most());
        let narrow = narrow(s);
        let tile = match s.gives_back() {
            true => in_blocks(s, Source::tile),
            false => "0".to_owned(),
        };
        let alone = in_blocks(s, Source::alone);
        let text =
            format!("{{{stack}, {entry}, {pushes}, {first}, {most}, {alone}, {narrow}, {tile}}}");
        first += s.pushes.len();
        text
    }));
    let all = plan.sources.iter().flat_map(|s| &s.pushes);
    let pushes = list(all.map(|p| {
        format!(
            "{{{}, {}, {}, {}, {}}}",
            p.stack,
            p.max.unwrap_or(0),
            p.group,
            p.ratio,
            p.turn
        )
    }));
    let entry = list(
        plan.stacks
            .iter()
            .map(|s| u32::from(s.kind == StackKind::Entry).to_string()),
    );
    let frames =
        list((0..plan.stacks.len()).map(|i| plan.waiting(i).map_or(0, |n| n + 1).to_string()));
    out.section(Section::Kernels);
    out.line("__constant__ const Source sources[SOURCES] = {");
    out.line(&format!("    {sources}}};"));
    for i in 0..plan.sources.len() {
        out.line(&format!(
            "extern \"C\" __device__ void run_{i}(u32 block, u32 blocks);"
        ));
    }
    out.section(Section::Blocks);
    out.line("__constant__ const Push pushes[] = {");
    out.line(&format!(
        "    {}}};",
        if pushes.is_empty() {
            "{0, 0, 0, 0, 0}".to_owned()
        } else {
            pushes
        }
    ));
    out.section(Section::Deciding);
    out.line(&format!(
        "__constant__ const u32 stacks_entry[STACKS] = {{{entry}}};"
    ));
    out.line("// Whether a segment may store two neighbours at once there.");
    out.line(&format!(
        "__constant__ const u32 stacks_paired[STACKS] = {{{}}};",
        list((0..plan.stacks.len()).map(|s| u32::from(plan.is_paired(s)).to_string()))
    ));
    let entries = plan.stacks.iter().filter(|s| s.kind == StackKind::Entry);
    out.line("// Whether there is more than one entry channel.");
    out.line(&format!("#define SEVERAL {}", entries.count() > 1));
    let numbers: Vec<Option<usize>> = (0..plan.stacks.len())
        .map(|i| plan.sources.iter().position(|s| s.stack as usize == i))
        .collect();
    let feeds = list(numbers.iter().map(|n| n.map_or(0, |n| n + 1).to_string()));
    out.line("// One more than the number of the source that a stack feeds; 0 of frames.");
    out.line(&format!(
        "__constant__ const u32 stacks_source[STACKS] = {{{feeds}}};"
    ));
    out.line("// The capacity of a stack of which the run has one element at most.");
    out.line(&format!(
        "__constant__ const u32 stacks_few[STACKS] = {{{}}};",
        list(plan.stacks.iter().map(|s| s.few().to_string()))
    ));
    out.line("// Of a stack of frames: one more than the continuation channels behind it.");
    out.line(&format!(
        "__constant__ const u32 stacks_frame[STACKS] = {{{frames}}};"
    ));
    out.line("// The same of stacks that are known when this is compiled: which are entry channels, how many elements are a narrow run, and what each pushes.");
    let is_entry = (0..plan.stacks.len())
        .filter(|i| plan.stacks[*i].kind == StackKind::Entry)
        .map(|i| format!("stack == {i}"));
    out.line(&format!(
        "FN constexpr bool is_entry(u32 stack) {{ return {}; }}",
        is_entry.collect::<Vec<_>>().join(" || ")
    ));
    let of_sources = |value: &dyn Fn(&Source) -> String| {
        plan.sources.iter().rev().fold("0".to_owned(), |rest, s| {
            format!("stack == {} ? {} : {rest}", s.stack, value(s))
        })
    };
    let narrow = of_sources(&|s| narrow(s).to_owned());
    out.line(&format!(
        "FN constexpr u32 narrow_of(u32 stack) {{ return {narrow}; }}"
    ));
    out.line(&format!(
        "FN constexpr u32 most_of(u32 stack) {{ return {}; }}",
        of_sources(&|s| s.most().to_string())
    ));
}

/// How many elements of a source are a narrow run. Few that are much work are spread over a block across the device; of a worker's levels most have one
/// or two, for which a barrier of the block is as much work.
fn narrow(source: &Source) -> &'static str {
    match source.mode {
        Mode::Team { .. } | Mode::Master => "0",
        _ if source.is_heavy() => "NARROW_IF_HEAVY",
        _ => "2 * WARP",
    }
}

/// Values of a table.
pub(super) fn list(values: impl Iterator<Item = String>) -> String {
    values.collect::<Vec<_>>().join(", ")
}

/// A number of elements, as the device counts it in its own blocks and warps.
pub(super) fn in_blocks(source: &Source, of: fn(&Source, Shape) -> u32) -> String {
    let [one, two] = [1, 2].map(|warps| {
        of(
            source,
            Shape {
                block: 32 * warps,
                warp: 32,
            },
        )
    });
    match (two - one, two % 32) {
        (0, _) => one.to_string(),
        (more, 0) => format!("{} * BLOCK", more / 32),
        (more, _) => format!("{more} * WARPS"),
    }
}
