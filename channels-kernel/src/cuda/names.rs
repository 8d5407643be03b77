//! C++ identifiers for what the program names: the user's name and a number, so that none is a keyword and none stands twice.

use super::stack::StackKind;
use millstream_graph::{
    ir::{FuncId, Function, LocalId, SegmentId, SlotId, TaskId},
    levelized::{Field, Levelized},
};

pub(super) fn plain(name: &str) -> String {
    let out: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    // Two underscores in a row are the compiler's; an identifier is not to begin with a digit.
    let out = out
        .split('_')
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("_");
    if out.is_empty() || out.starts_with(|c: char| c.is_ascii_digit()) {
        format!("v{out}")
    } else {
        out
    }
}

/// A register.
pub(super) fn local(function: &Function, id: LocalId) -> String {
    format!(
        "{}_{}",
        plain(function.locals[id.index()].name.as_deref().unwrap_or("v")),
        id.0
    )
}

/// Local memory.
pub(super) fn slot(function: &Function, id: SlotId) -> String {
    format!(
        "{}_s{}",
        plain(function.slots[id.index()].name.as_deref().unwrap_or("slot")),
        id.0
    )
}

/// A field of a channel or frame.
pub(super) fn field(field: &Field, index: usize) -> String {
    format!("{}_{index}", plain(&field.name))
}

/// A helper.
pub(super) fn helper(function: &Function, id: FuncId) -> String {
    format!("h{}_{}", id.0, plain(&function.name))
}

/// A task.
pub(super) fn task(program: &Levelized, id: TaskId) -> String {
    format!("t{}_{}", id.0, plain(&program[id].name))
}

/// A segment's struct.
pub(super) fn segment(program: &Levelized, id: TaskId, segment: SegmentId) -> String {
    match segment.0 {
        0 => format!("{}_entry", task(program, id)),
        n => format!("{}_after{n}", task(program, id)),
    }
}

/// A channel, as a member of `ch`: its name, with the task's number.
pub(super) fn channel(program: &Levelized, id: TaskId, kind: StackKind) -> String {
    // By what it holds: what somebody called it may be another's, once only letters are left.
    let name = plain(&kind.role(id).named(&program[id].name));
    let twin = matches!(kind, StackKind::Continuation { twin: true, .. });
    format!("t{}_{name}{}", id.0, if twin { "_too" } else { "" })
}
