//! Segments as structs: what a worker needs to know of one, how its elements are dequeued, and its body.

use super::{
    atomic::combine_text,
    body::{Body, Role},
    names,
    plan::{Mode, Plan, Source, StackKind},
    rvalue::binary,
    types::{constant, ctype},
    unit::Writer,
};
use crate::layout::stride;
use millstream_graph::{
    ir::{Arg, Stmt, StmtKind},
    levelized::StackRef,
    ty::PieceKind,
};

/// Writes the struct of each segment, once for both channels of one that waits for itself.
pub(super) fn write(plan: &Plan, out: &mut Writer) {
    for source in plan.sources.iter().filter(|s| !s.twin) {
        out.blank();
        write_one(plan, source, out);
    }
}

/// The C++ name of a source's segment.
pub(super) fn name(plan: &Plan, source: &Source) -> String {
    let name = names::segment(&plan.program, source.task, source.segment);
    if has_twin(plan, source) { format!("{name}<{}>", source.twin) } else { name }
}

fn has_twin(plan: &Plan, source: &Source) -> bool {
    plan.stacks.iter().any(|s| s.task == source.task && s.kind == StackKind::Continuation { segment: source.segment, twin: true })
}

/// A table of constants by number of a push.
fn table(out: &mut Writer, ty: &str, name: &str, values: &[String]) {
    let mut text = String::new();
    for (i, value) in values.iter().enumerate().skip(1) {
        text = format!("{text}push == {i} ? {value} : ");
    }
    let first = values.first().map_or("0", String::as_str);
    out.line(&format!("static constexpr __device__ {ty} {name}([[maybe_unused]] u32 push) {{ return {text}{first}; }}"));
}

fn write_one(plan: &Plan, source: &Source, out: &mut Writer) {
    let lowered = &plan.program[source.task];
    let twin = has_twin(plan, source);
    let what = if source.is_entry() { "its entry".to_owned() } else { format!("after sync {}", source.segment.0) };
    out.line(&format!("// Task `{}`: {what}.", lowered.name.replace('\n', " ")));
    if twin {
        out.line("template <bool TWIN>");
    }
    out.open(&format!("struct {} {{", names::segment(&plan.program, source.task, source.segment)));
    let (items, staged, heavy) = match source.mode {
        Mode::Scanned { items, staged, heavy } => (items, staged, heavy),
        Mode::Direct { heavy } => (1, None, heavy),
    };
    out.line(&format!("static constexpr u32 PUSHED = {}, GROUPS = {}, ITEMS = {items};", source.pushes.len(), source.groups.len()));
    let staged_group = staged.map_or(0, |p| source.pushes[p].group);
    out.line(&format!("static constexpr bool STAGED = {}, HEAVY = {heavy};", staged.is_some()));
    out.line(&format!("static constexpr u32 STAGE_PUSH = {}, STAGE_GROUP = {staged_group};", staged.unwrap_or(0)));
    let of = |f: &dyn Fn(usize) -> String| (0..source.pushes.len()).map(f).collect::<Vec<_>>();
    table(out, "u32", "group", &of(&|p| source.pushes[p].group.to_string()));
    table(out, "u32", "ratio", &of(&|p| source.pushes[p].ratio.to_string()));
    let own = StackRef::Continuation(source.task, source.segment);
    let stack_of = |p: usize| {
        if twin && source.pushes[p].stack == plan.number_of(own, true) {
            format!("TWIN ? {} : {}", plan.number_of(own, false), plan.number_of(own, true))
        } else {
            source.pushes[p].stack.to_string()
        }
    };
    table(out, "u32", "stack_of", &of(&|p| format!("({})", stack_of(p))));
    table(out, "u32", "lead", &source.groups.iter().map(|(lead, _)| lead.to_string()).collect::<Vec<_>>());
    table(out, "bool", "binary", &source.groups.iter().map(|(_, binary)| binary.to_string()).collect::<Vec<_>>());
    let leafy = |p: usize| {
        let is_leaf = |s: &Stmt| matches!(s.kind, StmtKind::Spawn { func, leaf: Some(_), .. } if plan.program.task_of(func) == Some(plan.stacks[source.pushes[p].stack as usize].task));
        let entry = plan.stacks[source.pushes[p].stack as usize].kind == StackKind::Entry;
        entry && lowered.segments[source.segment.index()].body.blocks.iter().flat_map(|b| &b.stmts).any(is_leaf)
    };
    table(out, "bool", "leafy", &of(&|p| leafy(p).to_string()));
    out.line(&format!("static constexpr bool HAS_LEAVES = {};  // some children may be leaves", (0..source.pushes.len()).any(leafy)));
    let loose = source.loose();
    out.line(&format!("static constexpr bool LEAVES = {};", loose.is_some()));
    out.line(&format!("static constexpr u32 LOOSE = {};  // the group whose units depend on data", loose.unwrap_or(0)));
    stage(plan, source, staged, out);
    sum(plan, source, out);
    arguments(plan, source, twin, out);
    write_body(plan, source, staged, out);
    out.generated();
    out.close("};");
}

fn stage(plan: &Plan, source: &Source, staged: Option<usize>, out: &mut Writer) {
    let Some(push) = staged else {
        out.line("struct Stage {};");
        return;
    };
    let stack = &plan.stacks[source.pushes[push].stack as usize];
    let channel = plan.channel(source.pushes[push].stack);
    let (mut local, mut global, mut flush) = (String::new(), String::new(), String::new());
    // The widest fields first, so that each array is aligned. What is kept once takes no place.
    let mut order: Vec<usize> = (0..stack.fields.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(stride(&stack.fields[*i])));
    let mut bytes = Vec::new();
    for i in order {
        let field = &stack.fields[i];
        let (name, ty) = (names::field(field, i), field_type(field.kind));
        let (size, only) = match stack.inherited[i] {
            None => (stride(field).to_string(), String::new()),
            Some(n) => (format!("(ch.each[{n}] & {})", stride(field)), format!("if (ch.each[{n}]) ")),
        };
        local += &format!(" to.{name} = ({ty}*)memory; memory += capacity() * {size};");
        global += &format!(" to.{name} = ch.{channel}.{name} + at;");
        flush += &format!(" {only}ch.{channel}.{name}[at + i] = to.{name}[i];");
        bytes.push(size);
    }
    out.open("struct Stage {  // children in shared memory, or straight in the channel");
    out.line(&format!("{channel}_channel to;"));
    // One more byte, for an element of nothing.
    out.line(&format!("FN_IN static u32 capacity() {{ return STAGE_BYTES / (u32)(1 + {}) & ~15u; }}", bytes.join(" + ")));
    out.line(&format!("FN_IN void local([[maybe_unused]] ptr memory) {{{local} }}"));
    out.line(&format!("FN_IN void global(u32 at) {{{global} }}"));
    out.line(&format!("FN_IN void flush(u32 at, u32 count) {{ for (u32 i = thread_id(); i < count; i += BLOCK) {{{flush} }} }}"));
    out.close("};");
}

/// How results are joined before they are handed over, where that does not change them.
fn sum(plan: &Plan, source: &Source, out: &mut Writer) {
    let Some((combine, ty)) = plan.joined(source.task) else {
        out.line("typedef NoSum Sum;");
        return;
    };
    let (Some(op), Some(none)) = (combine.op(), combine.neutral(ty)) else { return };
    let value = ctype(ty);
    out.open("struct Sum {");
    out.line(&format!("typedef {value} Value;"));
    out.line(&format!("FN_IN static Value none() {{ return {}; }}", constant(ty, none)));
    out.line(&format!("FN_IN static Value join(Value a, Value b) {{ return {}; }}", binary(op, ty, "a", "b")));
    out.line(&format!("FN_IN static void give(ptr to, Value value) {{ {} }}", combine_text(combine, ty, "value", "to")));
    out.close("};");
}

/// The C++ type of what a field's array holds.
pub(super) const fn field_type(kind: PieceKind) -> &'static str {
    match kind {
        PieceKind::Scalar(ty) => ctype(ty),
        PieceKind::Blob(_) => "char",
    }
}

fn arguments(plan: &Plan, source: &Source, twin: bool, out: &mut Writer) {
    let channel = plan.channel(source.stack);
    if !source.is_entry() {
        out.line("struct Args { u32 frame; };");
        if twin {
            let other = plan.channel(plan.number_of(StackRef::Continuation(source.task, source.segment), true));
            out.line(&format!("FN_IN static Args deq(u32 i) {{ return {{(TWIN ? ch.{other}.frame_0 : ch.{channel}.frame_0)[i]}}; }}"));
            out.line(&format!("FN_IN static u32* again() {{ return TWIN ? ch.{channel}.frame_0 : ch.{other}.frame_0; }}"));
        } else {
            out.line(&format!("FN_IN static Args deq(u32 i) {{ return {{ch.{channel}.frame_0[i]}}; }}"));
        }
        return;
    }
    let stack = &plan.stacks[source.stack as usize];
    let mut members = "u32 number;".to_owned();
    let mut values = "i".to_owned();
    for (i, field) in stack.fields.iter().enumerate() {
        if let PieceKind::Scalar(ty) = field.kind {
            let name = names::field(field, i);
            members += &format!(" {} {name};", ctype(ty));
            values += &match stack.inherited[i] {
                None => format!(", ch.{channel}.{name}[i]"),
                Some(n) => format!(", ch.{channel}.{name}[i & ch.each[{n}]]"),
            };
        }
    }
    out.line(&format!("struct Args {{ {members} }};"));
    out.line(&format!("FN_IN static Args deq(u32 i) {{ return {{{values}}}; }}"));
}

fn write_body(plan: &Plan, source: &Source, staged: Option<usize>, out: &mut Writer) {
    let function = &plan.program[source.task].segments[source.segment.index()].body;
    let stack = &plan.stacks[source.stack as usize];
    out.line("template <class W>");
    out.open("FN_IN static void run(W& w, const Args& element) {");
    let role = Role::Segment { task: source.task, segment: source.segment, staged };
    let mut body = Body::new(plan, function, role, out);
    body.declare();
    if source.is_entry() {
        for (i, (arg, field)) in function.args.iter().zip(&stack.fields).enumerate() {
            let name = names::field(field, i);
            let text = match arg {
                Arg::Local(l) => format!("{} = element.{name};", names::local(function, *l)),
                Arg::Slot(s) => format!(
                    "copy_bytes({}, ch.{}.{name} + (u64)element.number * {}ull, {});",
                    names::slot(function, *s),
                    plan.channel(source.stack),
                    stride(field),
                    function.slots[s.index()].layout.size
                ),
            };
            body.out.line(&text);
        }
    } else {
        body.out.line("w.frame = element.frame;");
    }
    body.blocks();
    out.generated();
    out.close("}");
}
