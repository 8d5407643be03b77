//! The translation unit of a graph: what stands in it, in order.

use super::{
    node,
    plan::{FlowPlan, STAGE_BYTES, Wanted},
};
use crate::cuda::{
    Generated, Options,
    abi::{flow, kernel},
    helper, names, unit,
    writer::Writer,
};

/// Writes a graph.
#[must_use]
pub fn generate(plan: &FlowPlan, options: Options) -> Generated {
    let program = &plan.plan.program.program;
    let mut out = Writer::new(options.lines.then(|| program.file.clone()));
    out.line(&format!(
        "// The kernels of the graph `{}` and what runs them.",
        program.name.replace('\n', " ")
    ));
    constants(plan, options, &mut out);
    out.text(include_str!("../device/prelude.cu"));
    out.blank();
    out.text(&flow::header());
    global(plan, &mut out);
    out.text(include_str!("../device/stop.cu"));
    out.text(include_str!("../device/thread.cu"));
    out.text(include_str!("../device/ring.cu"));
    policies(plan, &mut out);
    out.text(include_str!("../device/flow.cu"));
    out.blank();
    unit::data(&plan.plan, &mut out);
    helper::write(&plan.plan, &mut out);
    for node in 0..plan.nodes.len() {
        node::write(plan, node, &mut out);
    }
    held(plan, &mut out);
    tables(plan, &mut out);
    out.text(include_str!("../device/scheduler.cu"));
    let (source, sites) = out.done();
    Generated {
        framed: false,
        source,
        sites,
        recursion: helper::recursion(&plan.plan),
        masters: Vec::new(),
        written: Vec::new(),
        moves: false,
        cuts: Vec::new(),
    }
}

fn constants(plan: &FlowPlan, options: Options, out: &mut Writer) {
    // The emulator of the tests has smaller ones.
    for (name, value) in [
        ("WARP", u64::from(kernel::WARP)),
        ("BLOCK", u64::from(kernel::BLOCK)),
        ("FLOW_STAGE", STAGE_BYTES),
    ] {
        out.line(&format!("#ifndef {name}"));
        out.line(&format!("#define {name} {value}u"));
        out.line("#endif");
    }
    let ports = || plan.nodes.iter().map(|n| n.ports.len());
    out.line("#define STAGE_BYTES FLOW_STAGE");
    for (name, value) in [
        ("CHANNELS", plan.channels.len().max(1)),
        ("NODES", plan.nodes.len().max(1)),
        ("MOST_PORTS", ports().max().unwrap_or(0).max(1)),
        ("ALL_PORTS", ports().sum()),
        ("UNIFORMS", plan.uniforms().max(1)),
        ("MIN_BLOCKS", options.min_blocks as usize),
    ] {
        out.line(&format!("#define {name} {value}u"));
    }
    if options.records {
        out.line("#define RECORDS");
    }
    out.line("#define FN_IN __device__ __forceinline__");
    out.blank();
}

/// A struct of arrays for each channel, and the global that holds where they lie: [`FlowPlan::global`] fills it.
fn global(plan: &FlowPlan, out: &mut Writer) {
    out.blank();
    out.line("// The graph's channels: one array a field.");
    for (c, channel) in plan.channels.iter().enumerate() {
        let fields = channel.fields.iter().enumerate().map(|(f, field)| {
            format!(
                "{}* {};",
                node::field_type(field.kind),
                names::field(field, f)
            )
        });
        let fields: Vec<String> = fields.collect();
        if !fields.is_empty() {
            out.line(&format!(
                "struct {}_data {{ {} }};",
                node::channel(plan, c),
                fields.join(" ")
            ));
        }
    }
    out.open("struct Flow {");
    out.line("Control* control;");
    out.line("FlowState* state;");
    out.line("Ring rings[CHANNELS];");
    for (what, suffix) in [("elements", ""), ("what blocks keep", "_held")] {
        for c in (0..plan.channels.len()).filter(|c| !plan.channels[*c].fields.is_empty()) {
            let name = node::channel(plan, c);
            out.line(&format!("{name}_data {name}{suffix};  // {what}"));
        }
    }
    out.line("u64 uniforms[UNIFORMS];");
    out.close("};");
    out.line(&format!("TAKES(Flow, {});", 8 * plan.words()));
    for linkage in ["extern \"C\" ", ""] {
        out.line(&format!("{linkage}__constant__ Flow {};", kernel::GRAPH));
    }
    out.blank();
}

/// Which channels drop their oldest elements where there is no room, and whose elements a kernel will run.
fn policies(plan: &FlowPlan, out: &mut Writer) {
    let mut predicate = |name: &str, is: &dyn Fn(usize) -> bool| {
        let those = (0..plan.channels.len()).filter(|c| is(*c));
        let text: String = those.map(|c| format!("channel == {c} || ")).collect();
        out.line(&format!(
            "FN constexpr bool {name}([[maybe_unused]] u32 channel) {{ return {text}false; }}"
        ));
    };
    predicate("drops", &|c| plan.channels[c].wire.drops);
    predicate("lives_on", &|c| plan.consumer(c).is_some());
}

/// What is kept goes into its channel.
fn held(plan: &FlowPlan, out: &mut Writer) {
    out.blank();
    out.open("FN void put_held([[maybe_unused]] u32 channel, [[maybe_unused]] u32 slot, [[maybe_unused]] u64 from) {");
    out.open("switch (channel) {");
    for (c, channel) in plan.channels.iter().enumerate() {
        out.open(&format!("case {c}:"));
        for (f, field) in channel.fields.iter().enumerate() {
            let (name, array) = (names::field(field, f), node::channel(plan, c));
            let from = format!(
                "(ptr)device_flow.{array}_held.{name} + from * {}ull",
                crate::layout::stride(field)
            );
            out.line(&node::move_field(
                field,
                &format!("device_flow.{array}.{name}"),
                "slot",
                &from,
            ));
        }
        out.line("break;");
        out.close("");
    }
    out.close("}");
    out.close("}");
}

/// What is known of each channel, and who runs it.
fn tables(plan: &FlowPlan, out: &mut Writer) {
    out.line("enum Wanted : u32 { WANTS_FULL, WANTS_LEAST, WANTS_ANY, WANTS_OWN };");
    out.open("struct ChannelInfo {");
    out.line("u32 most;      // elements of a wavefront; 0: the host consumes it");
    out.line("u32 rank;      // higher ones go first");
    out.line("u32 floor;     // the lowest block that may run them");
    out.line("u32 wanted, least;");
    out.line("u64 outputs;   // channels that its node emits into");
    out.line("u64 upstream;  // channels whose elements may become its own");
    out.close("};");
    let infos = plan.channels.iter().enumerate().map(|(c, channel)| {
        let node = plan.consumer(c);
        let most = node.map_or_else(
            || "0".to_owned(),
            |n| format!("{}::MOST", node::name(plan, n)),
        );
        let (wanted, least) = match channel.wire.wanted {
            Wanted::Full => ("WANTS_FULL", 0),
            Wanted::AtLeast(n) => ("WANTS_LEAST", n),
            Wanted::Any => ("WANTS_ANY", 0),
            Wanted::Own(_) => ("WANTS_OWN", 0),
        };
        format!(
            "{{{most}, {}, {}, {wanted}, {least}, {}ull, {}ull}}",
            channel.rank,
            channel.floor,
            plan.outputs(c),
            plan.upstream(c)
        )
    });
    let infos: Vec<String> = infos.collect();
    out.line(&format!(
        "__constant__ const ChannelInfo channels[CHANNELS] = {{{}}};",
        if infos.is_empty() {
            "{}".to_owned()
        } else {
            infos.join(", ")
        }
    ));
    out.open("FN bool own_predicate([[maybe_unused]] u32 channel, [[maybe_unused]] u32 ready, [[maybe_unused]] u32 width, [[maybe_unused]] bool more) {");
    out.line("[[maybe_unused]] Thread w;");
    out.line("w.control = device_flow.control;");
    out.open("switch (channel) {");
    for (c, channel) in plan.channels.iter().enumerate() {
        if let Wanted::Own(func) = channel.wire.wanted {
            let helper = names::helper(&plan.plan.program.program[func], func);
            out.line(&format!(
                "case {c}: return {helper}(w, ready, width, more);"
            ));
        }
    }
    out.close("}");
    out.line("return false;");
    out.close("}");
    out.open("FN void run_node(u32 channel) {");
    out.open("switch (channel) {");
    for (n, node) in plan.nodes.iter().enumerate() {
        out.line(&format!(
            "case {}: run_flow<{}>(); break;",
            node.consumes,
            node::name(plan, n)
        ));
    }
    out.close("}");
    out.close("}");
    out.blank();
}
