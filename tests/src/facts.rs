//! What a lowered program looks like from afar: its channels, frames and what each segment pushes.

use millstream_graph::graph::ChannelKey;
use millstream_graph::levelized::{Field, Levelized, StackRole};
use millstream_graph::ty::PieceKind;
use std::fmt::Write as _;

/// The facts of a program, a few lines for each task; then those of its wide form, if it has one.
#[must_use]
pub fn facts(program: &Levelized) -> String {
    let mut out = String::new();
    of_form(program, &mut out);
    if let Some(wide) = &program.wide {
        out.push_str("where the device is wide\n");
        of_form(wide, &mut out);
    }
    out
}

fn of_form(program: &Levelized, out: &mut String) {
    for (t, task) in program.tasks() {
        let element = fields(program.element(t));
        let _ = writeln!(out, "task {}({element})", task.name);
        let frame = program.frame(t);
        if !frame.is_empty() {
            let _ = writeln!(out, "  frame {}", fields(frame));
        }
        for (i, segment) in program.segments(t).enumerate() {
            let pushes: Vec<String> = segment
                .pushes()
                .map(|p| {
                    format!(
                        "{} x {}",
                        stack(program, p.stack),
                        p.max.map_or("n".to_owned(), |m| m.to_string())
                    )
                })
                .collect();
            let pushes = if pushes.is_empty() {
                "nothing".to_owned()
            } else {
                pushes.join(", ")
            };
            let _ = writeln!(out, "  segment {i} pushes {pushes}");
        }
    }
}

fn fields(fields: &[Field]) -> String {
    let show = |f: &Field| match f.kind {
        PieceKind::Scalar(s) => format!("{}: {s}", f.name),
        PieceKind::Blob(layout) => format!("{}: {} bytes", f.name, layout.size),
    };
    fields.iter().map(show).collect::<Vec<_>>().join(", ")
}

fn stack(program: &Levelized, stack: ChannelKey) -> String {
    match program.role(stack) {
        StackRole::Entry(t) => program[t].name.clone(),
        StackRole::Frame(t) => format!("{}'s frame", program[t].name),
        StackRole::Continuation(t, s) => format!("{}'s segment {}", program[t].name, s.index()),
        StackRole::Channel(_) => format!("the channel {}", program.name(stack)),
    }
}
