//! Segments as structs: what a worker needs to know of one, how its elements are dequeued, and its body.

use super::{
    atomic::combine_text,
    body::{Body, Role},
    long, names,
    parts::Section,
    plan::{Mode, Plan, Source, Stack, StackKind},
    rvalue::binary,
    source::Walked,
    types::{constant, ctype, is_other},
    writer::Writer,
};
use crate::layout::stride;
use millstream_graph::{
    ir::{Arg, Combine, Stmt, StmtKind},
    levelized::StackRole,
    ty::{PieceKind, Scalar},
};

/// Writes the struct of each segment, once for both channels of one that waits for itself.
pub(super) fn write(plan: &Plan, out: &mut Writer) {
    for (number, source) in plan.sources.iter().enumerate().filter(|(_, s)| !s.twin) {
        out.section(Section::Segment(number));
        out.blank();
        write_one(plan, source, out);
    }
}

/// The C++ name of a source's segment.
pub(super) fn name(plan: &Plan, source: &Source) -> String {
    let name = names::segment(&plan.program, source.task, source.segment);
    if has_twin(plan, source) {
        format!("{name}<{}>", source.twin)
    } else {
        name
    }
}

fn has_twin(plan: &Plan, source: &Source) -> bool {
    plan.stacks.iter().any(|s| {
        s.task == source.task
            && s.kind
                == StackKind::Continuation {
                    segment: source.segment,
                    twin: true,
                }
    })
}

/// An expression that is the value of this number.
fn choice(number: &str, values: &[String]) -> String {
    let others = values
        .iter()
        .enumerate()
        .skip(1)
        .map(|(i, value)| format!("{number} == {i} ? {value} : "));
    others.collect::<String>() + values.first().map_or("0", String::as_str)
}

/// A table of constants by number of a push or a slice.
fn table(out: &mut Writer, ty: &str, name: &str, values: &[String]) {
    out.line(&format!(
        "static constexpr __device__ {ty} {name}([[maybe_unused]] u32 i) {{ return {}; }}",
        choice("i", values)
    ));
}

fn write_one(plan: &Plan, source: &Source, out: &mut Writer) {
    let twin = has_twin(plan, source);
    let what = if source.is_entry() {
        "its entry".to_owned()
    } else {
        format!("after sync {}", source.segment.0)
    };
    out.line(&format!(
        "// Task `{}`: {what}.",
        plan.program[source.task].name.replace('\n', " ")
    ));
    if twin {
        out.line("template <bool TWIN>");
    }
    out.open(&format!(
        "struct {} {{",
        names::segment(&plan.program, source.task, source.segment)
    ));
    let (items, heavy) = match source.mode {
        Mode::Scanned { items, heavy, .. } => (items, heavy),
        Mode::Team { .. } => (1, false),
        Mode::Tried { items } => (items, false),
        Mode::Direct { heavy } => (1, heavy),
        Mode::Master => (1, true),
    };
    let staged = source.staged();
    let lanes = match source.mode {
        Mode::Team { .. } => "WARP",
        _ => "1",
    };
    out.line(&format!(
        "static constexpr u32 PUSHED = {}, GROUPS = {}, ITEMS = {items}, LANES = {lanes};",
        source.pushes.len(),
        source.groups.len()
    ));
    let staged_group = staged.map_or(0, |p| source.pushes[p].group);
    out.line(&format!(
        "static constexpr bool STAGED = {}, HEAVY = {heavy};",
        staged.is_some()
    ));
    out.line(&format!(
        "static constexpr u32 STAGE_PUSH = {}, STAGE_GROUP = {staged_group};",
        staged.unwrap_or(0)
    ));
    tables(plan, source, twin, out);
    let loose = source.loose();
    out.line(&format!(
        "static constexpr bool YIELDS = {};  // tiles that find no room are given back",
        !loose.is_empty()
    ));
    out.line(&format!(
        "static constexpr u32 LOOSE = {}, LOOSE_GROUPS = {};  // groups whose units depend on data: the first, and how many",
        loose.first().unwrap_or(&0),
        loose.len()
    ));
    let is_loose = (0..source.groups.len() as u32).map(|g| loose.contains(&g).to_string());
    table(out, "bool", "is_loose", &is_loose.collect::<Vec<_>>());
    stage(plan, source, source.in_shared(), out);
    sum(plan, source, out);
    arguments(plan, source, twin, out);
    walked(plan, source, out);
    write_body(plan, source, source.in_shared(), out);
    out.generated();
    out.close("};");
}

/// What is known of each push and of each group of pushes.
fn tables(plan: &Plan, source: &Source, twin: bool, out: &mut Writer) {
    let of = |f: &dyn Fn(usize) -> String| (0..source.pushes.len()).map(f).collect::<Vec<_>>();
    table(
        out,
        "u32",
        "group",
        &of(&|p| source.pushes[p].group.to_string()),
    );
    table(
        out,
        "u32",
        "ratio",
        &of(&|p| source.pushes[p].ratio.to_string()),
    );
    let own = StackRole::Continuation(source.task, source.segment);
    let stack_of = |p: usize| {
        if twin && source.pushes[p].stack == plan.number_of(own, true) {
            format!(
                "TWIN ? {} : {}",
                plan.number_of(own, false),
                plan.number_of(own, true)
            )
        } else {
            source.pushes[p].stack.to_string()
        }
    };
    table(
        out,
        "u32",
        "stack_of",
        &of(&|p| format!("({})", stack_of(p))),
    );
    table(
        out,
        "u32",
        "turn",
        &of(&|p| source.pushes[p].turn.to_string()),
    );
    out.line(&format!(
        "static constexpr bool RESTARTS = {};  // elements that find no room are given up until there is some",
        source.restarts()
    ));
    table(
        out,
        "u32",
        "lead",
        &source
            .groups
            .iter()
            .map(|(lead, _)| lead.to_string())
            .collect::<Vec<_>>(),
    );
    table(
        out,
        "bool",
        "binary",
        &source
            .groups
            .iter()
            .map(|(_, binary)| binary.to_string())
            .collect::<Vec<_>>(),
    );
    let leafy = |p: usize| {
        let is_leaf = |s: &Stmt| matches!(s.kind, StmtKind::Spawn { func, leaf: Some(_), .. } if plan.program.task_of(func) == Some(plan.stacks[source.pushes[p].stack as usize].task));
        let entry = plan.stacks[source.pushes[p].stack as usize].kind == StackKind::Entry;
        entry
            && plan
                .program
                .segment(source.task, source.segment)
                .body
                .stmts()
                .any(is_leaf)
    };
    table(out, "bool", "leafy", &of(&|p| leafy(p).to_string()));
    out.line(&format!(
        "static constexpr bool HAS_LEAVES = {};  // some children may be leaves",
        (0..source.pushes.len()).any(leafy)
    ));
}

/// The slices that elements walk through, for whoever brings them into shared memory.
fn walked(plan: &Plan, source: &Source, out: &mut Writer) {
    let slices = &source.walked;
    out.line(&format!(
        "static constexpr bool WALKS = {};",
        !slices.is_empty()
    ));
    if slices.is_empty() {
        return;
    }
    let fields = &plan.stacks[source.stack as usize].fields;
    let unit = slices.iter().fold(4, |unit, s| unit.max(s.unit));
    out.line(&format!(
        "static constexpr u32 SLICES = {}, UNIT = {unit};",
        slices.len()
    ));
    let of = |f: &dyn Fn(&Walked) -> String| slices.iter().map(f).collect::<Vec<_>>();
    let field = |field: usize| format!("e.{}", names::field(&fields[field], field));
    table(out, "u32", "unit", &of(&|s| s.unit.to_string()));
    table(out, "bool", "is_mutable", &of(&|s| s.mutable.to_string()));
    let mut function = |head: &str, values: &[String]| {
        out.line(&format!(
            "FN_IN static {head}, [[maybe_unused]] u32 i) {{ return {}; }}",
            choice("i", values)
        ));
    };
    function("ptr& slice(Args& e", &of(&|s| field(s.field)));
    function(
        "u64 bytes(const Args& e",
        &of(&|s| format!("{} * {}ull", field(s.field + 1), s.size)),
    );
}

/// In which order the fields of an element lie in shared memory. What may be kept once comes last, and has no place where it is. The widest first, so that
/// there are no gaps.
fn staged_order(stack: &Stack) -> Vec<usize> {
    let mut order: Vec<usize> = (0..stack.fields.len()).collect();
    order.sort_by_key(|i| {
        (
            stack.inherited[*i].is_some(),
            std::cmp::Reverse(stride(&stack.fields[*i])),
        )
    });
    order
}

/// Bytes from one element in shared memory to the next, an odd number of words, so that neighbours lie in different banks: without what may be kept once,
/// and with it.
pub(super) fn staged_bytes(stack: &Stack) -> (u64, u64) {
    let order = staged_order(stack);
    let widths = order.iter().map(|i| stride(&stack.fields[*i]));
    let unit = widths.fold(4, u64::max);
    let size = |fields: &mut dyn Iterator<Item = &usize>| {
        let bytes = fields.fold(0, |at: u64, i| {
            at.next_multiple_of(stride(&stack.fields[*i])) + stride(&stack.fields[*i])
        });
        (bytes.div_ceil(unit) | 1) * unit
    };
    let own = size(&mut order.iter().filter(|i| stack.inherited[**i].is_none()));
    (own, size(&mut order.iter()))
}

/// Children in shared memory, one after the other.
fn stage(plan: &Plan, source: &Source, staged: Option<usize>, out: &mut Writer) {
    let Some(push) = staged else { return };
    let stack = &plan.stacks[source.pushes[push].stack as usize];
    let channel = plan.channel(source.pushes[push].stack);
    let (own, all) = staged_bytes(stack);
    let (mut members, mut arrays) = (String::new(), String::new());
    let (mut read, mut write) = (String::new(), String::new());
    for i in staged_order(stack) {
        let field = &stack.fields[i];
        let name = names::field(field, i);
        members += &format!(" {} {name};", field_type(field.kind));
        // Where the arrays lie is read once, for a worker's may be written meanwhile as far as the compiler knows.
        arrays += &format!(" auto* const to_{name} = ch.{channel}.{name};");
        let only = match stack.inherited[i] {
            Some(n) => {
                arrays += &format!(" const bool each_{name} = EACH && ch.each[{n}];");
                format!("if (each_{name}) ")
            }
            None => String::new(),
        };
        // All is read before anything is written, for what is written might be where the next is read, as far as the compiler knows.
        match field.kind {
            PieceKind::Scalar(_) => {
                let ty = field_type(field.kind);
                let value = match stack.inherited[i] {
                    Some(_) => format!("each_{name} ? child.{name} : {ty}()"),
                    None => format!("child.{name}"),
                };
                read += &format!(" const {ty} its_{name} = {value};");
                write += &format!(" {only}to_{name}[at] = its_{name};");
            }
            PieceKind::Blob(_) => write += &format!(" {only}to_{name}[at] = child.{name};"),
        }
    }
    let choice = |all: u64, own: u64| {
        if all == own {
            own.to_string()
        } else {
            format!("EACH ? {all} : {own}")
        }
    };
    let mut function = |text: &str| {
        out.line("template <bool EACH>");
        out.line(text);
    };
    function(&format!(
        "FN_IN static u32 stride() {{ return {}; }}",
        choice(all, own)
    ));
    // One place more is for what finds none.
    out.line("template <bool EACH, u32 SHARES = 1>");
    out.line("FN_IN static u32 capacity() { return STAGE_BYTES / SHARES / stride<EACH>() - 1; }");
    out.line(&format!(
        "struct Staged {{{members} }};  // a child in shared memory"
    ));
    out.line("template <bool EACH, u32 SHARES = 1>");
    out.line("FN_IN static Staged& staged(ptr stage, u32 e) { return *(Staged*)(stage + min_of(e, capacity<EACH, SHARES>()) * stride<EACH>()); }");
    out.line("template <class M, bool EACH>");
    out.open("FN_IN static void flush(const Spots& place, u32 count, ptr stage = stage_memory(), u32 first = thread_id(), u32 threads = BLOCK) {");
    out.line(&format!("const auto& ch = *M::channels;{arrays}"));
    // Where a kernel runs one segment the registers of a second one are to be had; where it runs any, they are not: 3 % faster, and 5 % slower.
    out.line("#ifdef ALONE");
    out.line("#pragma unroll 2");
    out.line("#endif");
    out.line(&format!(
        "for (u32 i = first; i < count; i += threads) {{ const u32 at = place(i); const Staged& child = *(const Staged*)(stage + i * stride<EACH>());{read}{write} }}"
    ));
    out.close("}");
}

/// How results are joined before they are handed over, where that does not change them.
fn sum(plan: &Plan, source: &Source, out: &mut Writer) {
    let joined = plan.joined(source.task);
    let returns = plan
        .program
        .segment(source.task, source.segment)
        .ret
        .is_some();
    let stack = &plan.stacks[source.stack as usize];
    let inherited = source.is_entry() && stack.inherited.last().is_some_and(Option::is_some);
    out.line(&format!(
        "static constexpr bool SUMS = {}, ONE_HOME = {inherited};",
        joined.is_some() && returns
    ));
    let Some((combine, ty)) = joined else {
        out.line("typedef NoSum Sum;");
        return;
    };
    write_sum("Sum", combine, ty, out);
}

/// What is added up in lanes, warps and blocks: the value that changes nothing, how two are joined, and how one is given to a place in memory.
pub(super) fn write_sum(name: &str, combine: Combine, ty: Scalar, out: &mut Writer) {
    let (Some(op), Some(none)) = (combine.op(), combine.neutral(ty)) else {
        return;
    };
    let value = ctype(ty);
    out.open(&format!("struct {name} {{"));
    out.line(&format!("typedef {value} Value;"));
    out.line(&format!(
        "FN_IN static Value none() {{ return {}; }}",
        constant(ty, none)
    ));
    out.line(&format!(
        "FN_IN static bool is_some(Value a) {{ return {}; }}",
        is_other("a", ty, none)
    ));
    out.line(&format!(
        "FN_IN static Value join(Value a, Value b) {{ return {}; }}",
        binary(op, ty, "a", "b")
    ));
    out.line("template <class M>");
    out.line(&format!(
        "FN_IN static void give(ptr to, Value value) {{ {} }}",
        combine_text("M", combine, ty, "value", "to")
    ));
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
        out.line("template <class M, bool EACH>");
        if twin {
            let other = plan.channel(
                plan.number_of(StackRole::Continuation(source.task, source.segment), true),
            );
            out.line(&format!("FN_IN static Args deq(u32 i) {{ const auto& ch = *M::channels; return {{(TWIN ? ch.{other}.frame_0 : ch.{channel}.frame_0)[i]}}; }}"));
            out.line("template <class M>");
            out.line(&format!("FN_IN static u32* again() {{ const auto& ch = *M::channels; return TWIN ? ch.{channel}.frame_0 : ch.{other}.frame_0; }}"));
        } else {
            out.line(&format!(
                "FN_IN static Args deq(u32 i) {{ const auto& ch = *M::channels; return {{ch.{channel}.frame_0[i]}}; }}"
            ));
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
                Some(n) => format!(", ch.{channel}.{name}[EACH ? i & ch.each[{n}] : 0]"),
            };
        }
    }
    out.line(&format!("struct Args {{ {members} }};"));
    out.line("template <class M, bool EACH>");
    out.line(&format!(
        "FN_IN static Args deq(u32 i) {{ [[maybe_unused]] const auto& ch = *M::channels; return {{{values}}}; }}"
    ));
    if source.private {
        on_private_stacks(plan, source, out);
    }
    let segment = plan.program.segment(source.task, source.segment);
    let tried = matches!(source.mode, Mode::Tried { .. });
    if (tried || source.private) && segment.ret.is_some() {
        // The return address is the last field.
        let last = stack.fields.len() - 1;
        let name = names::field(&stack.fields[last], last);
        let place = |address: String| match plan.short_returns[source.task.index()] {
            true => format!(
                "ch.memory + (u64){address} * {}ull",
                plan.return_unit(source.task)
            ),
            false => address,
        };
        if tried {
            let index = stack.inherited[last].map_or_else(
                || "i".to_owned(),
                |n| format!("EACH ? i & ch.each[{n}] : 0"),
            );
            let text = place(format!("ch.{channel}.{name}[{index}]"));
            out.line("template <class M, bool EACH>");
            out.line(&format!("FN_IN static ptr home([[maybe_unused]] u32 i) {{ const auto& ch = *M::channels; return {text}; }}  // where an element's result goes"));
        }
        if source.private {
            let text = place(format!("element.{name}"));
            out.line("template <class M>");
            out.line(&format!("FN_IN static ptr home_of(const Args& element) {{ [[maybe_unused]] const auto& ch = *M::channels; return {text}; }}"));
        }
    }
}

/// How an element comes off a private stack and onto it: it is the same there as among the children that are staged.
fn on_private_stacks(plan: &Plan, source: &Source, out: &mut Writer) {
    let stack = &plan.stacks[source.stack as usize];
    let channel = plan.channel(source.stack);
    let (mut values, mut once) = ("0".to_owned(), "0".to_owned());
    let (mut stores, mut shifts) = (String::new(), String::new());
    for (i, field) in stack.fields.iter().enumerate() {
        let name = names::field(field, i);
        let store = format!("to.{name} = element.{name};");
        let shift = format!("ch.{channel}.{name}[to] = ch.{channel}.{name}[from];");
        match stack.inherited[i] {
            None => {
                values += &format!(", from.{name}");
                once += ", {}";
                stores += &format!(" {store}");
                shifts += &format!(" {shift}");
            }
            Some(n) => {
                values += &format!(", EACH && ch.each[{n}] ? from.{name} : once.{name}");
                once += &format!(", ch.{channel}.{name}[0]");
                stores += &format!(" if (EACH && ch.each[{n}]) {store}");
                shifts += &format!(" if (EACH && ch.each[{n}]) {shift}");
            }
        }
    }
    out.line("template <class M>");
    out.line(&format!("FN_IN static Args inherited() {{ [[maybe_unused]] const auto& ch = *M::channels; return {{{once}}}; }}"));
    out.line("template <class M, bool EACH>");
    out.line(&format!("FN_IN static Args unstage(ptr stage, u32 i, [[maybe_unused]] const Args& once) {{ [[maybe_unused]] const auto& ch = *M::channels; const Staged& from = staged<EACH, WARPS>(stage, i); return {{{values}}}; }}"));
    out.line("template <class M, bool EACH>");
    out.line(&format!("FN_IN static void stage_again(ptr stage, u32 i, const Args& element) {{ [[maybe_unused]] const auto& ch = *M::channels; Staged& to = staged<EACH, WARPS>(stage, i);{stores} }}"));
    out.line("template <class M, bool EACH>");
    out.line(&format!(
        "FN_IN static void shift(u32 to, u32 from) {{ const auto& ch = *M::channels;{shifts} }}"
    ));
}

fn write_body(plan: &Plan, source: &Source, staged: Option<usize>, out: &mut Writer) {
    let body = plan.program.segment(source.task, source.segment).body;
    let function = &*plan.regions.crew_of(source.task).code(body);
    let stack = &plan.stacks[source.stack as usize];
    out.line("template <class W>");
    out.open("FN_IN static void run(W& w, const Args& element) {");
    out.line("[[maybe_unused]] const auto& ch = *W::Memory::channels;");
    let role = Role::Segment {
        task: source.task,
        segment: source.segment,
        staged,
    };
    let mut body = Body::new(plan, function, role, out);
    body.long = long::find(plan, source, function);
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
    body.out.generated();
    body.out.close("}");
    body.long_rounds();
}
