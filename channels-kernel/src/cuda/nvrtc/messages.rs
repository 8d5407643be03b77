//! What the compiler says, for who wrote the program: no line of the generated text without the line of the source that it was made for.

use std::{collections::HashMap, fs};

/// What the generated text is called where no line of the source stands for it.
pub(super) const GENERATED: &str = "generated.cu";

/// A place in a file.
type Place<'a> = (&'a str, usize);

/// The place that a message begins with, as in `fib.rs(12): error: ..`, and what follows.
fn place(line: &str) -> Option<(Place<'_>, &str)> {
    let (before, what) = line.split_once("): ")?;
    let (file, number) = before.rsplit_once('(')?;
    Some(((file, number.parse().ok()?), what))
}

/// For each line of the text that is the generator's own: the line of the source that what stands above was made for.
fn origins(text: &str) -> HashMap<usize, Place<'_>> {
    let (mut at, mut last, mut out) = ((GENERATED, 1), None, HashMap::new());
    for line in text.lines() {
        let directive = line.strip_prefix("#line ").and_then(|r| r.split_once(' '));
        if let Some((number, file)) = directive {
            at = (file.trim_matches('"'), number.parse().unwrap_or(0));
            continue;
        }
        if at.0 != GENERATED {
            last = Some(at);
        } else if let Some(last) = last {
            out.insert(at.1, last);
        }
        at.1 += 1;
    }
    out
}

/// The compiler's messages about a text, each with the line of the source.
pub(super) fn explain(log: &str, text: &str) -> String {
    let origins = origins(text);
    let mut out = String::new();
    let mut about: Option<Place<'_>> = None;
    for line in log.lines() {
        if let Some(((file, number), what)) = place(line) {
            close(&mut out, about.take());
            about = if file == GENERATED {
                origins.get(&number).copied()
            } else {
                Some((file, number))
            };
            let (file, number) = about.unwrap_or((file, number));
            out += &format!("{file}:{number}: {what}\n");
        } else if line.trim().is_empty() {
            close(&mut out, about.take());
        } else if about.is_some() {
            out += &format!(
                "  generated | {}\n",
                line.strip_prefix("  ").unwrap_or(line)
            );
        } else {
            out += &format!("{line}\n");
        }
    }
    close(&mut out, about);
    out.trim_end().to_owned()
}

/// Behind what was quoted of the generated text: the line of the source, if there is a file to read it from.
fn close(out: &mut String, about: Option<Place<'_>>) {
    let Some((file, number)) = about else { return };
    let text = fs::read_to_string(file).unwrap_or_default();
    if let Some(line) = number.checked_sub(1).and_then(|n| text.lines().nth(n)) {
        *out += &format!("  {file}:{number} | {line}\n");
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test ends there")]

    use super::*;

    #[test]
    fn generated_lines_come_with_the_line_of_the_source() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("fib.rs");
        let file = file.to_str().unwrap();
        fs::write(file, "fn fib() {\n    let x = 1;\n}\n").unwrap();
        let text = format!(
            "int before;\n#line 2 \"{file}\"\nint x = one;\n#line 4 \"generated.cu\"\nint behind = two;\n"
        );
        let log = format!(
            "generated.cu(1): error: of the prelude\n  int before;\n      ^\n\n\
             {file}(2): error: identifier \"one\" is undefined\n  int x = one;\n          ^\n\n\
             generated.cu(4): error: identifier \"two\" is undefined\n  int behind = two;\n               ^\n\n\
             3 errors detected in the compilation of \"generated.cu\".\n"
        );
        let expected = format!(
            "generated.cu:1: error: of the prelude\n  int before;\n      ^\n\
             {file}:2: error: identifier \"one\" is undefined\n  generated | int x = one;\n  generated |         ^\n  {file}:2 |     let x = 1;\n\
             {file}:2: error: identifier \"two\" is undefined\n  generated | int behind = two;\n  generated |              ^\n  {file}:2 |     let x = 1;\n\
             3 errors detected in the compilation of \"generated.cu\"."
        );
        assert_eq!(explain(&log, &text), expected);
    }
}
