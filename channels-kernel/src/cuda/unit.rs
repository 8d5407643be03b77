//! The translation unit: what stands in it, in order.

use super::{
    abi::{self, Count, kernel},
    helper::{self, Recursion},
    names,
    parts::{self, Cut, Section},
    plan::{Mode, Plan, Source, Stack, StackKind},
    regions, segment,
    shared::SHARED_BYTES,
    tables::{self, in_blocks, list},
    writer::{Site, Writer},
};
use crate::layout::stride;
use millstream_graph::{
    ir::{StmtKind, TaskId},
    ty::PieceKind,
};
use std::fmt::Write as _;

/// What stands above the channels' part of the text.
const CHANNELS: &str = "\
// Channel stacks and the workers that run wavefronts of segments on them.\n\
//\n\
// Dispatches are separated by a barrier, so an element that is reserved is published: `talloc` gives its number, stores fill it,\n\
// and `enq` and `tfree` cost nothing. What a dispatch may push is bounded beforehand by `Dispatch::room`.\n\
\n";

/// What the text depends on beside the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Options {
    /// `#line` directives, so that messages name the user's source. Off for readers.
    pub lines: bool,
    /// Blocks that a multiprocessor should hold at once: bounds the registers of a thread.
    pub min_blocks: u32,
    /// Whether the persistent kernel keeps record of its decisions: for timelines, and for tests.
    pub records: bool,
}

impl Options {
    /// The default of [`min_blocks`](Self::min_blocks).
    pub const MIN_BLOCKS: u32 = 4;

    /// Registers that a thread may have where so many blocks are to fit, of what every multiprocessor has; they are given out by eights.
    #[must_use]
    pub fn registers(&self) -> u32 {
        let threads = kernel::BLOCK.saturating_mul(self.min_blocks.max(1));
        // The compiler wants some for calls.
        (((64 << 10) / threads) & !7).clamp(24, 255)
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            lines: true,
            min_blocks: Self::MIN_BLOCKS,
            records: false,
        }
    }
}

/// A program as CUDA C++.
#[derive(Clone, PartialEq, Debug)]
pub struct Generated {
    /// The text.
    pub source: String,
    /// Its checks, by number.
    pub sites: Vec<Site>,
    /// What threads want of their stacks, if a helper calls itself.
    pub recursion: Option<Recursion>,
    /// Of each source: the one whose segment's text it needs.
    pub(super) written: Vec<usize>,
    /// The sources of tasks that one lane runs.
    pub(super) masters: Vec<usize>,
    /// Whether workers run tasks with frames.
    pub(super) framed: bool,
    /// Whether there is a kernel that moves tiles.
    pub(super) moves: bool,
    /// Where the sections of the text begin.
    pub(super) cuts: Vec<Cut>,
}

/// Writes a program.
#[must_use]
pub fn generate(plan: &Plan, options: Options) -> Generated {
    let mut out = Writer::new(options.lines.then(|| plan.program.program.file.clone()));
    let name = &plan.program.program.name;
    out.line(&format!(
        "// The segments of `{}` and the aggregators that run them.",
        name.replace('\n', " ")
    ));
    constants(plan, options, &mut out);
    out.text(include_str!("device/prelude.cu"));
    out.blank();
    out.text(&abi::header(plan));
    channels(plan, &mut out);
    out.text(CHANNELS);
    out.text(include_str!("device/own.cu"));
    out.text(include_str!("device/stop.cu"));
    out.text(include_str!("device/memory.cu"));
    out.text(include_str!("device/thread.cu"));
    out.text(include_str!("device/long.cu"));
    out.text(include_str!("device/channel.cu"));
    out.text(include_str!("device/tiles.cu"));
    out.text(include_str!("device/private.cu"));
    out.text(include_str!("device/direct.cu"));
    out.text(include_str!("device/shares.cu"));
    out.blank();
    tables::write(plan, &mut out);
    out.section(Section::Common);
    data(plan, &mut out);
    out.blank();
    regions::declare(plan, &mut out);
    helper::write(plan, &mut out);
    regions::write(plan, &mut out);
    segment::write(plan, &mut out);
    runs(plan, &mut out);
    out.section(Section::Kernels);
    out.blank();
    if plan.gives_back() {
        moves(plan, &mut out);
    }
    out.section(Section::Deciding);
    out.text(include_str!("device/policy.cu"));
    out.line(&format!("static_assert(sizeof(Shared) + sizeof(Policy) + sizeof(StageMemory) <= {SHARED_BYTES}, \"a block has no more shared memory\");"));
    out.section(Section::Blocks);
    run_source(plan, &mut out);
    out.section(Section::Deciding);
    out.text(include_str!("device/narrow.cu"));
    run_narrow(plan, &mut out);
    out.text(include_str!("device/levels.cu"));
    out.section(Section::Persistent);
    out.text(include_str!("device/persistent.cu"));
    out.section(Section::Workers);
    workers(plan, &mut out);
    if plan.has_framed() {
        out.line("#ifdef WORKERS");
        out.line(&format!("static_assert(sizeof(Shared) + sizeof(Policy) + sizeof(StageMemory) + sizeof(Own) + sizeof(Found) + 128 <= {SHARED_BYTES}, \"a worker with levels has no more shared memory\");"));
        out.line("#endif");
        out.text(include_str!("device/framed.cu"));
    }
    out.section(Section::Dispatch);
    out.text(include_str!("device/dispatch.cu"));
    dispatches(plan, &mut out);
    let cuts = out.cuts();
    let (source, sites) = out.done();
    Generated {
        source,
        sites,
        written: parts::written(plan),
        masters: regions::masters(plan),
        framed: plan.has_framed(),
        moves: plan.gives_back(),
        cuts,
        recursion: helper::recursion(plan),
    }
}

fn constants(plan: &Plan, options: Options, out: &mut Writer) {
    let (groups, items) = plan.scanned();
    let staged = plan
        .sources
        .iter()
        .any(|s| s.staged().is_some() || !s.walked.is_empty());
    let stage = if staged { plan.stage_bytes() } else { 16 };
    // The emulator of the tests has smaller ones.
    for (name, value) in [
        ("WARP", u64::from(kernel::WARP)),
        ("BLOCK", u64::from(kernel::BLOCK)),
        // Shared memory for the slices that a warp's elements walk through.
        (
            "WALK_BYTES",
            stage / u64::from(kernel::BLOCK / kernel::WARP),
        ),
        // Of private stacks (`device/private.cu`): the most elements, where they find room; and wavefronts.
        ("PRIVATE_PLACES", u64::from(u16::MAX)),
        ("MOST_WAVEFRONTS", 256),
        ("LEAST_WAVEFRONTS", 32),
        ("LOOKS_AROUND", 16),
    ] {
        out.line(&format!("#ifndef {name}"));
        out.line(&format!("#define {name} {value}u"));
        out.line("#endif");
    }
    // Levels that lie in shared memory; a power of two. Workers have more there.
    out.line("#ifndef NEAR");
    out.line("#ifdef WORKERS");
    out.line(&format!("#define NEAR {}u", plan.near(true)));
    out.line("#else");
    out.line(&format!("#define NEAR {}u", plan.near(staged)));
    out.line("#endif");
    out.line("#endif");
    for count in Count::NAMED {
        out.line(&format!("#define {} {}u", count.name(), count.of(plan)));
    }
    for (name, value) in [
        ("SCAN_GROUPS", groups),
        ("MAX_ITEMS", items),
        ("MIN_BLOCKS", u64::from(options.min_blocks)),
    ] {
        out.line(&format!("#define {name} {value}u"));
    }
    // Private stacks lie there too.
    if plan.sources.iter().any(|s| s.private) && !staged {
        out.line("#ifdef WORKERS");
        out.line(&format!("#define STAGE_BYTES {}u", plan.stage_bytes()));
        out.line("#else");
        out.line(&format!("#define STAGE_BYTES {stage}u"));
        out.line("#endif");
    } else {
        out.line(&format!("#define STAGE_BYTES {stage}u"));
    }
    out.line("#ifdef WORKERS");
    out.line("#define NARROW_IF_HEAVY (2 * WARP)");
    out.line("#else");
    out.line("#define NARROW_IF_HEAVY 0");
    out.line("#endif");
    for definition in super::rules::definitions(plan.stacks.len()) {
        out.line(&definition);
    }
    if plan.gives_back() {
        out.line("#define GIVES_BACK");
    }
    if options.records {
        out.line("#define RECORDS");
    }
    out.line("#define FN_IN __device__ __forceinline__");
    out.blank();
}

/// A struct of arrays for each stack, and the global that holds where they lie.
fn channels(plan: &Plan, out: &mut Writer) {
    out.blank();
    out.line("// The program's channels: one array a field.");
    let with_fields: Vec<(usize, &Stack)> = plan
        .stacks
        .iter()
        .enumerate()
        .filter(|(_, s)| !s.fields.is_empty())
        .collect();
    for (i, stack) in &with_fields {
        let fields = stack
            .fields
            .iter()
            .enumerate()
            .map(|(i, f)| format!("{}* {};", segment::field_type(f.kind), names::field(f, i)));
        out.line(&format!(
            "struct {}_channel {{ {} }};",
            plan.channel(*i as u32),
            fields.collect::<Vec<_>>().join(" ")
        ));
    }
    out.open("struct Channels {");
    out.line("Control* control;");
    out.line("ptr memory;  // of the whole run: short return addresses count from here");
    for (i, stack) in &with_fields {
        let channel = plan.channel(*i as u32);
        let what = match stack.kind {
            StackKind::Entry => "entry elements",
            StackKind::Frame => "frames",
            StackKind::Continuation { .. } => "frames that wait",
        };
        out.line(&format!("{channel}_channel {channel};  // {what}"));
    }
    out.line("u32 capacity[STACKS];");
    out.line(
        "u32 each[INHERITED];  // of fields that children inherit: 0 if kept once, else all ones",
    );
    out.line("u32 known;  // of so many levels, the first ones, it is known what they push");
    out.line("Records* records;  // of decisions; null if none are kept");
    out.line("Records* shares;  // of blocks in dispatches; null if none are kept");
    let uniforms = plan.program.program.uniforms.len();
    if uniforms > 0 {
        out.line(&format!(
            "u64 uniforms[{uniforms}];  // what is bound to the graph's kernels"
        ));
    }
    out.close("};");
    let (places, bytes) = (abi::Channels::new(plan), size_of::<u64>());
    for (i, stack) in &with_fields {
        let channel = plan.channel(*i as u32);
        let first = 4 * places.fields.at() + bytes * stack.first_field as usize;
        out.line(&format!("LIES_AT(Channels, {channel}, {first});"));
        for (k, field) in stack.fields.iter().enumerate() {
            let name = names::field(field, k);
            out.line(&format!(
                "LIES_AT({channel}_channel, {name}, {});",
                bytes * k
            ));
        }
    }
    for (name, at) in [
        ("control", places.control.at()),
        ("memory", places.memory.at()),
        ("capacity", places.capacity.at()),
        ("each", places.each.at()),
        ("known", places.known.at()),
        ("records", places.records.at()),
        ("shares", places.shares.at()),
    ] {
        out.line(&format!("LIES_AT(Channels, {name}, {});", 4 * at));
    }
    out.line(&format!("TAKES(Channels, {});", places.bytes()));
    let global = format!("__constant__ Channels {};", kernel::CHANNELS);
    out.line(&format!("extern \"C\" {global}"));
    out.line("#ifndef SEGMENTS");
    out.line(&global);
    out.line("#endif");
    out.blank();
}

pub(super) fn data(plan: &Plan, out: &mut Writer) {
    for (i, data) in plan.program.program.data.iter().enumerate() {
        let mut bytes = String::new();
        for byte in &data.bytes {
            let _ = write!(bytes, "{byte},");
        }
        if bytes.is_empty() {
            bytes.push('0');
        }
        let name = data.name.replace('\n', " ");
        out.line(&format!("[[maybe_unused]] alignas({}) static __device__ const u8 d{i}[] = {{{bytes}}};  // {name}", data.align.max(1)));
    }
}

/// Of each source a function that runs a block's share of a dispatch: what kernels call, and what is compiled by itself.
fn runs(plan: &Plan, out: &mut Writer) {
    for (i, source) in plan.sources.iter().enumerate() {
        out.section(Section::Run(i));
        out.blank();
        out.open(&format!(
            "extern \"C\" __device__ __noinline__ void run_{i}(u32 block, u32 blocks) {{"
        ));
        if source.private {
            let name = segment::name(plan, source);
            let each = Some(each(plan, source)).filter(|each| !each.is_empty());
            let each = each.unwrap_or_else(|| "false".to_owned());
            out.line("#ifdef WORKERS");
            out.line(&format!("if (own().is_private) {{ if ({each}) run_private<{name}, false>(); else run_private<{name}, true>(); return; }}"));
            out.line("#endif");
        }
        out.line(&run_call(plan, source));
        out.close("}");
    }
}

fn run_source(plan: &Plan, out: &mut Writer) {
    out.blank();
    out.open("FN void run_source(u32 block, u32 blocks) {");
    out.line("Shared& sh = shared();");
    out.open("switch (sh.dispatch.source) {");
    for i in 0..plan.sources.len() {
        out.line(&format!("case {i}: run_{i}(block, blocks); break;"));
    }
    if plan.gives_back() {
        out.line("case SOURCES: move_tiles(sh, block, blocks); break;");
    }
    out.close("}");
    out.close("}");
    out.blank();
}

/// Narrow runs, by one warp.
fn run_narrow(plan: &Plan, out: &mut Writer) {
    out.blank();
    out.open(
        "FN void run_narrow([[maybe_unused]] Policy& p, [[maybe_unused]] Shared& sh, Narrow& n) {",
    );
    out.open("switch (n.stack) {");
    let alone = |s: &&Source| !matches!(s.mode, Mode::Team { .. } | Mode::Master);
    for source in plan.sources.iter().filter(alone) {
        let (name, stack, fails) = (
            segment::name(plan, source),
            source.stack,
            may_fail(plan, source),
        );
        if source.is_heavy() {
            out.line("#ifdef WORKERS");
        }
        let call = match source.mode {
            Mode::Direct { .. } if source.pushes.is_empty() => {
                format!("narrow_leaves<{name}, {fails}>(n)")
            }
            // What counts would run it twice.
            Mode::Direct { .. } | Mode::Scanned { heavy: true, .. } => {
                format!("narrow_direct<{name}>(sh, n)")
            }
            _ => format!(
                "narrow_scanned<{name}, {fails}, {}, {stack}>(p, n)",
                source.most()
            ),
        };
        out.line(&format!("case {stack}: {call}; break;"));
        if source.is_heavy() {
            out.line("#endif");
        }
    }
    out.close("}");
    out.close("}");
    out.blank();
}

/// Whether an element's run may end before its body does: by a check, in a helper, or in a loop.
fn may_fail(plan: &Plan, source: &Source) -> bool {
    let blocks = &plan
        .program
        .segment(source.task, source.segment)
        .body
        .blocks;
    blocks.iter().enumerate().any(|(i, block)| {
        block
            .stmts
            .iter()
            .any(|s| matches!(s.kind, StmtKind::Call { .. } | StmtKind::Check { .. }))
            || block.term.targets().any(|to| to.index() <= i)
    })
}

/// The kernel of the tier inside the blocks, and what it needs to know of the program's channels.
fn workers(plan: &Plan, out: &mut Writer) {
    out.blank();
    out.line("#ifdef WORKERS");
    out.line(&format!("static_assert(sizeof(Shared) + sizeof(StageMemory) + sizeof(Own) <= {SHARED_BYTES}, \"a worker has no more shared memory\");"));
    out.blank();
    out.line("// Of each source: how many elements a worker takes at a time, 0 of what it does not run; whether it has them all before it pushes; and whether its");
    out.line("// tiles are tried, and whether all that its elements push lies where they do.");
    out.line("struct Flat { u32 tile, in_place, tried, may_be_private; };");
    let flats = list(plan.sources.iter().map(|s| {
        let (in_place, tried) = match s.mode {
            Mode::Master => return "{0, 0, 0, 0}".to_owned(),
            _ if !s.is_entry() => return "{0, 0, 0, 0}".to_owned(),
            Mode::Scanned { heavy: true, .. } | Mode::Direct { .. } => (0, 0),
            Mode::Scanned { .. } | Mode::Team { .. } => (1, 0),
            Mode::Tried { .. } => (1, 1),
        };
        let private = u32::from(s.private);
        format!(
            "{{{}, {in_place}, {tried}, {private}}}",
            in_blocks(s, Source::tile)
        )
    }));
    out.line(&format!(
        "__constant__ const Flat flats[SOURCES] = {{{flats}}};"
    ));
    let private = plan.sources.iter().any(|s| s.private);
    out.line(&format!("constexpr bool PRIVATE_STACKS = {private};"));
    out.blank();
    out.line("// The run's arrays, from so many elements on.");
    out.open("static __device__ __noinline__ void own_ranges(Channels& own, const u32* at) {");
    for (s, stack) in plan.stacks.iter().enumerate() {
        let channel = plan.channel(s as u32);
        for (i, field) in stack.fields.iter().enumerate() {
            let name = names::field(field, i);
            let first = match (field.kind, stack.inherited[i]) {
                (PieceKind::Blob(_), _) => format!("(u64)at[{s}] * {}ull", stride(field)),
                (PieceKind::Scalar(_), None) => format!("at[{s}]"),
                (PieceKind::Scalar(_), Some(n)) => format!("(at[{s}] & own.each[{n}])"),
            };
            out.line(&format!("own.{channel}.{name} += {first};"));
        }
    }
    out.close("}");
    out.blank();
    out.line("// Copies elements within an entry channel of the run's. All threads call it.");
    out.open("static __device__ __noinline__ void copy_entries(u32 stack, u32 to, u32 from, u32 count) {");
    out.line("const auto& ch = device_channels;");
    let entries =
        (0..plan.stacks.len() as u32).filter(|s| plan.stacks[*s as usize].kind == StackKind::Entry);
    copies(plan, &entries.collect::<Vec<_>>(), out);
    out.close("}");
    out.blank();
    out.line("#endif");
    out.text(include_str!("device/workers.cu"));
}

/// Moves elements within a channel: tiles that found no room close up with what was not taken.
fn moves(plan: &Plan, out: &mut Writer) {
    out.open("static __device__ __noinline__ void move_elements(u32 stack, u32 to, u32 from, u32 count) {");
    out.line("const auto& ch = *DeviceMemory::channels;");
    let mut stacks: Vec<u32> = plan
        .sources
        .iter()
        .filter(|s| s.gives_back())
        .map(|s| s.stack)
        .collect();
    stacks.dedup();
    copies(plan, &stacks, out);
    out.close("}");
    out.blank();
    out.text(include_str!("device/moves.cu"));
}

/// Copies `count` elements of one of these stacks of `ch`, all threads of a block together.
fn copies(plan: &Plan, stacks: &[u32], out: &mut Writer) {
    out.open("switch (stack) {");
    for &stack in stacks {
        let channel = plan.channel(stack);
        out.open(&format!("case {stack}:"));
        for (i, field) in plan.stacks[stack as usize].fields.iter().enumerate() {
            let array = format!("ch.{channel}.{}", names::field(field, i));
            let each = plan.stacks[stack as usize].inherited[i];
            let only = each.map_or_else(String::new, |n| format!("if (ch.each[{n}]) "));
            out.line(&match field.kind {
                PieceKind::Scalar(_) => {
                    format!("{only}copy_elements({array} + to, {array} + from, count);")
                }
                PieceKind::Blob(_) => {
                    let at = |n: &str| format!("{array} + (u64)({n} + i) * {}ull", stride(field));
                    format!(
                        "for (u32 i = thread_id(); i < count; i += BLOCK) copy_bytes({}, {}, {}ull);",
                        at("to"),
                        at("from"),
                        stride(field)
                    )
                }
            });
        }
        out.line("break;");
        out.close("");
    }
    out.close("}");
}

/// Whether anything that a source's elements inherit, or hand on, is not kept once; empty if nothing can be.
fn each(plan: &Plan, source: &Source) -> String {
    let inherited = source
        .pushes
        .iter()
        .map(|p| p.stack)
        .chain([source.stack])
        .flat_map(|s| &plan.stacks[s as usize].inherited);
    let each: std::collections::BTreeSet<String> = inherited
        .flatten()
        .map(|n| format!("{}.each[{n}]", kernel::CHANNELS))
        .collect();
    each.into_iter().collect::<Vec<_>>().join(" | ")
}

fn run_call(plan: &Plan, source: &Source) -> String {
    let name = segment::name(plan, source);
    match source.mode {
        Mode::Scanned { heavy: true, .. } => {
            format!(
                "if (shared().dispatch.count < blocks * BLOCK) run_direct<{name}>(block, blocks); else run_scanned<{name}>(block, blocks);"
            )
        }
        Mode::Scanned { .. } | Mode::Team { .. } => format!("run_scanned<{name}>(block, blocks);"),
        Mode::Tried { .. } => {
            let each = each(plan, source);
            if each.is_empty() {
                format!("run_tried<{name}, true>(block, blocks);")
            } else {
                format!(
                    "if ({each}) run_tried<{name}, false>(block, blocks); else run_tried<{name}, true>(block, blocks);"
                )
            }
        }
        Mode::Direct { .. } => format!("run_direct<{name}>(block, blocks);"),
        Mode::Master => format!("run_master<{name}>(block);"),
    }
}

/// The host-thread aggregator's kernels: one for each source.
fn dispatches(plan: &Plan, out: &mut Writer) {
    for i in 0..plan.sources.len() {
        out.section(Section::Kernel(i));
        out.blank();
        out.open(&format!(
            "extern \"C\" __global__ void __launch_bounds__(BLOCK, MIN_BLOCKS) dispatch_{i}(const __grid_constant__ Dispatch d) {{"
        ));
        out.line("Shared& sh = shared();");
        out.line("start_dispatch(sh, d);");
        out.line(&format!("run_{i}(blockIdx.x, gridDim.x);"));
        out.line("finish_dispatch();");
        out.close("}");
    }
    if plan.gives_back() {
        out.section(Section::Kernel(plan.sources.len()));
        out.blank();
        out.open(&format!(
            "extern \"C\" __global__ void __launch_bounds__(BLOCK, MIN_BLOCKS) dispatch_{}(const __grid_constant__ Dispatch d) {{",
            plan.sources.len()
        ));
        out.line("Shared& sh = shared();");
        out.line("start_dispatch(sh, d);");
        out.line("move_tiles(sh, blockIdx.x, gridDim.x);");
        out.line("finish_dispatch();");
        out.close("}");
    }
}

impl Plan {
    /// Whether any segment gives tiles back; then there is one more kernel, which moves them.
    #[must_use]
    pub fn gives_back(&self) -> bool {
        self.sources.iter().any(Source::gives_back)
    }

    /// Kernels of the host-thread aggregator: one for each source, and one that moves tiles if any segment gives them back.
    #[must_use]
    pub fn kernels(&self) -> usize {
        self.sources.len() + usize::from(self.gives_back())
    }

    /// Of a stack of frames: how many continuation channels stand behind it.
    #[must_use]
    pub fn waiting(&self, stack: usize) -> Option<usize> {
        let task: TaskId = self.stacks[stack].task;
        let after = self.stacks[stack + 1..]
            .iter()
            .take_while(|s| s.task == task && matches!(s.kind, StackKind::Continuation { .. }));
        (self.stacks[stack].kind == StackKind::Frame).then(|| after.count())
    }

    /// Whether some segment may store two neighbours at once in a stack, so that they begin at an even number.
    #[must_use]
    pub fn is_paired(&self, stack: usize) -> bool {
        let mut pushes = self.sources.iter().flat_map(|s| &s.pushes);
        pushes.any(|p| p.stack as usize == stack && p.ratio.is_multiple_of(2))
    }
}
