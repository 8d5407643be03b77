//! What a lowered program looks like from afar: its channels, frames and what each segment pushes.

use millstream_graph::levelized::{Field, Levelized, StackRef};
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
    for task in &program.tasks {
        let _ = writeln!(out, "task {}({})", task.name, fields(&task.element));
        if !task.frame.is_empty() {
            let _ = writeln!(out, "  frame {}", fields(&task.frame));
        }
        for (i, segment) in task.segments.iter().enumerate() {
            let pushes: Vec<String> = segment
                .pushes
                .iter()
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

fn stack(program: &Levelized, stack: StackRef) -> String {
    match stack {
        StackRef::Entry(t) => program[t].name.clone(),
        StackRef::Frame(t) => format!("{}'s frame", program[t].name),
        StackRef::Continuation(t, s) => format!("{}'s segment {}", program[t].name, s.index()),
        StackRef::Channel(_) => format!("the channel {}", program.name(stack)),
    }
}
