//! Nodes as structs: how an element is dequeued, what is staged for each port, how that is brought into the channels, and the body.

use super::{
    emit::{Port, staged_at},
    plan::{FlowPlan, Node},
};
use crate::{
    cuda::{
        body::{Body, Role},
        names,
        types::ctype,
        writer::Writer,
    },
    layout::stride,
};
use millstream_graph::{ir::Arg, levelized::Field, ty::PieceKind};

/// Elements a thread that a wavefront has at most.
const ITEMS: u32 = 8;

/// A channel's name in the text.
pub(super) fn channel(plan: &FlowPlan, channel: usize) -> String {
    format!("c{channel}_{}", names::plain(&plan.channels[channel].name))
}

/// A node's name in the text.
pub(super) fn name(plan: &FlowPlan, node: usize) -> String {
    let task = plan.nodes[node].task;
    format!("n{node}_{}", names::plain(&plan.plan.program[task].name))
}

/// The C++ type of what a field's array holds.
pub(super) const fn field_type(kind: PieceKind) -> &'static str {
    match kind {
        PieceKind::Scalar(ty) => ctype(ty),
        PieceKind::Blob(_) => "char",
    }
}

/// A field of element `at` of a channel, set from `from`, or taken from there.
pub(super) fn move_field(field: &Field, array: &str, at: &str, from: &str) -> String {
    match field.kind {
        PieceKind::Scalar(ty) => format!("{array}[{at}] = load<{}>({from});", ctype(ty)),
        PieceKind::Blob(_) => {
            let size = stride(field);
            format!("copy_bytes({array} + (u64)({at}) * {size}ull, {from}, {size}ull);")
        }
    }
}

/// Writes a node.
pub(super) fn write(plan: &FlowPlan, number: usize, out: &mut Writer) {
    let node = &plan.nodes[number];
    let ports: Vec<Port> = node
        .ports
        .iter()
        .map(|(channel, _)| Port {
            channel: *channel,
            name: plan.channels[*channel].name.clone(),
            fields: plan.channels[*channel].fields.clone(),
        })
        .collect();
    let lowered = &plan.plan.program[node.task];
    out.blank();
    out.line(&format!(
        "// Node `{}`: runs the elements of `{}`.",
        lowered.name.replace('\n', " "),
        plan.channels[node.consumes].name.replace('\n', " ")
    ));
    out.open(&format!("struct {} {{", name(plan, number)));
    out.line(&format!(
        "static constexpr u32 NODE = {number}, CONSUMES = {}, PORTS = {}, ITEMS = {ITEMS};",
        node.consumes,
        ports.len()
    ));
    stage(plan, node, &ports, out);
    arguments(plan, node, out);
    body(plan, node, &ports, out);
    out.close("};");
}

fn choice(values: impl Iterator<Item = String>) -> String {
    let mut values: Vec<String> = values.collect();
    let Some(last) = values.pop() else {
        return "0".to_owned();
    };
    let rest = values.iter().enumerate();
    rest.map(|(i, value)| format!("p == {i} ? {value} : "))
        .collect::<String>()
        + &last
}

/// How the stage is shared by the ports. Where each element emits a number that is known at most, a wavefront is as long as what it emits finds room
/// for certain; else each port has the same share, and it is brought away when it is full.
fn stage(plan: &FlowPlan, node: &Node, ports: &[Port], out: &mut Writer) {
    let bytes = |p: &Port| plan.channels[p.channel].bytes();
    let fixed = node.ports.iter().all(|p| p.1.is_some());
    let most = |p: usize| u64::from(node.ports[p].1.unwrap_or(0));
    let unit: u64 = ports
        .iter()
        .enumerate()
        .map(|(p, port)| most(p) * bytes(port))
        .sum();
    // Each array begins at a multiple of 16.
    let gaps: usize = ports.iter().map(|p| 16 * p.fields.len()).sum();
    out.line(&format!(
        "static constexpr u32 UNIT = {}, SPACE = FLOW_STAGE - {gaps};",
        unit.max(1)
    ));
    out.line(&format!(
        "static constexpr bool COUNTED = {fixed} && SPACE / UNIT >= WARP;"
    ));
    out.line(&format!(
        "static constexpr u32 MOST = !COUNTED ? BLOCK : SPACE / UNIT < {ITEMS} * BLOCK ? SPACE / UNIT : {ITEMS} * BLOCK;"
    ));
    // Where an element is larger than an even share, all have room for as many.
    let all: u64 = ports.iter().map(bytes).sum();
    let fit = ports
        .iter()
        .map(|p| format!(" && SPACE / {} / {} > 0", ports.len(), bytes(p).max(1)));
    out.line(&format!(
        "static constexpr bool EVEN = true{};",
        fit.collect::<String>()
    ));
    let mut at = "0".to_owned();
    for (p, port) in ports.iter().enumerate() {
        out.line(&format!(
            "static constexpr u32 ROOM{p} = COUNTED ? MOST * {} : EVEN ? SPACE / {} / {} : SPACE / {};",
            most(p),
            ports.len(),
            bytes(port).max(1),
            all.max(1)
        ));
        for (f, field) in port.fields.iter().enumerate() {
            let here = staged_at(p, f);
            out.line(&format!("static constexpr u32 {here} = {at};"));
            at = format!("({here} + ROOM{p} * {} + 15) / 16 * 16", stride(field));
        }
    }
    out.line(&format!(
        "static_assert({at} <= FLOW_STAGE, \"the stage has room for all ports\");"
    ));
    for (p, _) in ports.iter().enumerate() {
        out.line(&format!(
            "static_assert(ROOM{p} > 0, \"a port has room for an element\");"
        ));
    }
    let mut table = |ty: &str, name: &str, values: Vec<String>| {
        out.line(&format!(
            "static constexpr __device__ {ty} {name}([[maybe_unused]] u32 p) {{ return {}; }}",
            choice(values.into_iter())
        ));
    };
    table(
        "u32",
        "channel",
        ports.iter().map(|p| p.channel.to_string()).collect(),
    );
    table(
        "u32",
        "capacity",
        (0..ports.len()).map(|p| format!("ROOM{p}")).collect(),
    );
    let lives = |p: &Port| plan.consumer(p.channel).is_some().to_string();
    table("bool", "lives", ports.iter().map(lives).collect());
    for (function, to) in [("put", ""), ("keep", "_held")] {
        out.line("template <u32 P>");
        out.open(&format!(
            "FN_IN static void {function}([[maybe_unused]] u64 to, [[maybe_unused]] u32 i) {{"
        ));
        for (p, port) in ports.iter().enumerate() {
            let array = format!("device_flow.{}{to}", channel(plan, port.channel));
            out.open(&format!("if constexpr (P == {p}) {{"));
            for (f, field) in port.fields.iter().enumerate() {
                let from = format!(
                    "stage_memory() + ({} + i * {})",
                    staged_at(p, f),
                    stride(field)
                );
                let array = format!("{array}.{}", names::field(field, f));
                out.line(&move_field(field, &array, "to", &from));
            }
            out.close("}");
        }
        out.close("}");
    }
}

fn arguments(plan: &FlowPlan, node: &Node, out: &mut Writer) {
    let from = &plan.channels[node.consumes];
    let array = format!("device_flow.{}", channel(plan, node.consumes));
    out.open("struct Args {");
    for (f, field) in from.fields.iter().enumerate() {
        let name = names::field(field, f);
        match field.kind {
            PieceKind::Scalar(ty) => out.line(&format!("{} {name};", ctype(ty))),
            PieceKind::Blob(layout) => out.line(&format!(
                "alignas({}) char {name}[{}];",
                layout.align.max(1),
                stride(field).max(1)
            )),
        }
    }
    out.close("};");
    out.open("FN_IN static Args deq([[maybe_unused]] u32 slot) {");
    out.line("Args e;");
    for (f, field) in from.fields.iter().enumerate() {
        let name = names::field(field, f);
        let size = stride(field);
        match field.kind {
            PieceKind::Scalar(_) => out.line(&format!("e.{name} = {array}.{name}[slot];")),
            PieceKind::Blob(_) => out.line(&format!(
                "copy_bytes(e.{name}, {array}.{name} + (u64)slot * {size}ull, {size}ull);"
            )),
        }
    }
    out.line("return e;");
    out.close("}");
    out.open("FN_IN static void tell([[maybe_unused]] u64* to, [[maybe_unused]] const Args& e) {");
    for (f, field) in from.fields.iter().enumerate() {
        if let PieceKind::Scalar(_) = field.kind {
            let name = names::field(field, f);
            out.line(&format!("to[{f}] = bits_of(e.{name});"));
        }
    }
    out.close("}");
}

fn body(plan: &FlowPlan, node: &Node, ports: &[Port], out: &mut Writer) {
    let function = plan.plan.program.entry(node.task).body;
    let fields = &plan.channels[node.consumes].fields;
    out.line("template <class W>");
    out.open(
        "FN_IN static void run([[maybe_unused]] W& w, [[maybe_unused]] const Args& element) {",
    );
    let mut body = Body::new(&plan.plan, function, Role::Node { task: node.task }, out);
    body.ports = ports;
    body.declare();
    for (i, (arg, field)) in function.args.iter().zip(fields).enumerate() {
        let name = names::field(field, i);
        let text = match arg {
            Arg::Local(l) => format!("{} = element.{name};", names::local(function, *l)),
            Arg::Slot(s) => format!(
                "copy_bytes({}, element.{name}, {});",
                names::slot(function, *s),
                function.slots[s.index()].layout.size
            ),
        };
        body.out.line(&text);
    }
    body.blocks();
    out.generated();
    out.close("}");
}
