//! The documentation is true: what it says that the front end says, it says; and what it draws and prints is what comes out.
//!
//! That the programs in it run as the page says is tested where they are included: `src/lib.rs` has the pages as doctests.

use millstream_cilk_lower::{SourceError, lower::lower, parse_file};
use millstream_graph::graph::Drawing;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn page(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

/// A fenced block: what stands behind its fence, its line and its text.
struct Block {
    kind: String,
    line: usize,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut out: Vec<Block> = Vec::new();
    let mut inside = false;
    for (i, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), inside) {
            (Some(kind), false) => out.push(Block {
                kind: kind.to_owned(),
                line: i + 1,
                text: String::new(),
            }),
            (None, true) => out.last_mut().unwrap().text.push_str(&format!("{line}\n")),
            _ => {}
        }
        inside ^= line.starts_with("```");
    }
    assert!(!inside, "a block does not end");
    out
}

/// What the front end and the lowering say of a source file; nothing if all is well.
fn said(text: &str) -> String {
    match parse_file(text, "program.rs", None) {
        Ok(program) => lower(&program)
            .map(|_| String::new())
            .unwrap_or_else(|e| e.to_string()),
        Err(error) => error.to_string(),
    }
}

/// What compiles goes through the command's door as well; what does not is refused with the text of the next block, or by rustc alone.
#[test]
fn every_program_of_the_language_reference_is_read_or_refused_as_it_says() {
    let blocks = blocks(&page("docs/language.md"));
    let mut programs = 0;
    for (i, block) in blocks
        .iter()
        .enumerate()
        .filter(|(_, b)| b.kind.starts_with("rust"))
    {
        programs += 1;
        let expected = match block.kind.as_str() {
            "rust,compile_fail" => {
                let next = &blocks[i + 1];
                assert_eq!(
                    next.kind, "text",
                    "line {}: the message should follow",
                    block.line
                );
                next.text.trim_end()
            }
            _ => "",
        };
        assert_eq!(
            said(&block.text),
            expected,
            "the program at line {}",
            block.line
        );
    }
    assert!(programs >= 20, "{programs} programs");
}

/// The rows of the tables of what is not in the language: what is written, the message, the hint.
fn refusals(page: &str) -> [Vec<[String; 3]>; 2] {
    let mut tables = page
        .split("| written | refused with | write instead |\n|---|---|---|\n")
        .skip(1)
        .map(|table| {
            let rows = table.lines().take_while(|l| l.starts_with('|'));
            let cells = |row: &str| {
                let row = row.replace("\\|", "\u{1}");
                let cells: Vec<String> = row
                    .trim_matches('|')
                    .split(" | ")
                    .map(|c| c.trim().replace('\u{1}', "|"))
                    .collect();
                <[String; 3]>::try_from(cells)
                    .unwrap_or_else(|c| panic!("a row of {} cells: {c:?}", c.len()))
            };
            rows.map(cells).collect()
        });
    [tables.next().unwrap(), tables.next().unwrap()]
}

#[test]
fn what_is_not_in_the_language_is_refused_with_the_words_of_the_page() {
    let [items, statements] = refusals(&page("docs/language.md"));
    assert!(
        items.len() > 15 && statements.len() > 20,
        "{} and {} rows",
        items.len(),
        statements.len()
    );
    let helpers = "#[task] fn child(n: u32) -> u32 { n } fn helper(n: u32) -> u32 { n }";
    let in_module = |s: &str| format!("#[program] mod p {{ {s} #[task] fn task() {{}} }}");
    let in_task = |s: &str| {
        format!(
            "#[program] mod p {{ #[task] fn task(a: &mut [u32], n: u32) {{ {s}; }} {helpers} }}"
        )
    };
    let programs = items
        .iter()
        .map(|row| (row, in_module(row[0].trim_matches('`'))));
    let programs = programs.chain(
        statements
            .iter()
            .map(|row| (row, in_task(row[0].trim_matches('`')))),
    );
    let mut wrong = Vec::new();
    for ([written, message, help], program) in programs {
        match parse_file(&program, "program.rs", None) {
            Err(SourceError::Source(found)) if found.0.len() == 1 => {
                let (said, helped) = (
                    &found.0[0].message,
                    found.0[0].help.as_deref().unwrap_or_default(),
                );
                if (said.as_str(), helped) != (message.as_str(), help.as_str()) {
                    wrong.push(format!("| {written} | {said} | {helped} |"));
                }
            }
            other => wrong.push(format!("{written}: {other:?}")),
        }
    }
    assert!(
        wrong.is_empty(),
        "the page should say:\n{}",
        wrong.join("\n")
    );
}

/// Every method that the checker knows is on the page: it names those of the lists in its source.
#[test]
fn every_method_is_on_the_page() {
    let page = page("docs/language.md");
    let mut methods = 0;
    for file in [
        "cilk-lower/src/check/numbers.rs",
        "cilk-lower/src/check/memory.rs",
    ] {
        let source = std::fs::read_to_string(root().join(file)).unwrap();
        for list in source.split(": &[&str] =").skip(1) {
            let list = list.split("];").next().unwrap();
            for name in list.split('"').skip(1).step_by(2) {
                methods += 1;
                assert!(
                    page.contains(&format!("`{name}`")),
                    "{file}: docs/language.md does not name the method `{name}`"
                );
            }
        }
    }
    assert!(methods > 80, "{methods} methods");
}

fn drawing(example: &str) -> Drawing {
    let file = format!("examples/{example}.rs");
    let program = parse_file(&page(&file), &file, None).unwrap();
    let lowered = lower(&program).unwrap();
    Drawing::new(lowered.graph(), &lowered.program)
}

#[test]
fn graphs_are_those_that_the_command_draws() {
    assert!(
        page("docs/fib.svg") == drawing("fib").to_svg(),
        "draw it anew: cargo run -- lower examples/fib.rs --emit svg -o docs/fib.svg"
    );
    let page = page("docs/graph.md");
    let dot = blocks(&page).into_iter().find(|b| b.kind == "dot").unwrap();
    assert_eq!(dot.text.trim_end(), drawing("sort").to_dot().trim_end());
}

/// The first screen: few words, then a whole program, then the command and what it prints.
#[test]
fn the_readme_shows_a_program_by_line_25_and_its_output_by_line_50() {
    let readme = page("README.md");
    let words = readme
        .split("```")
        .next()
        .unwrap()
        .split_whitespace()
        .count();
    assert!(words <= 100, "{words} words before the program");
    let blocks = blocks(&readme);
    let end = |b: &Block| b.line + b.text.lines().count() + 1;
    let [program, command] = &blocks[..2] else {
        panic!("two blocks")
    };
    assert!(program.text.contains("fn main"));
    assert!(
        end(program) <= 26,
        "the program ends at line {}",
        end(program) - 1
    );
    assert_eq!(said(&program.text), "");
    assert!(
        end(command) <= 50,
        "the output ends at line {}",
        end(command)
    );
    let lines: Vec<&str> = command.text.lines().collect();
    assert!(
        lines[0].starts_with("$ cargo run --release -- run examples/fib.ron"),
        "{}",
        lines[0]
    );
    assert_eq!(lines[1], "fib(30) = 832040");
    // What does not depend on the machine.
    assert!(
        lines[2].starts_with("2,692,537 tasks, 30 levels, "),
        "{}",
        lines[2]
    );
    let example: String = page("examples/fib.rs")
        .lines()
        .filter(|l| !l.trim().starts_with("///"))
        .map(|l| format!("{l}\n"))
        .collect();
    assert!(
        example
            .replace("pub mod", "mod")
            .contains(program.text.split("fn main").next().unwrap().trim()),
        "not examples/fib.rs"
    );
}

/// Files and folders that pages point at are there.
#[test]
fn links_lead_somewhere() {
    for name in [
        "README.md",
        "docs/language.md",
        "docs/architecture.md",
        "docs/paper.md",
        "graph/README.md",
        "channels-kernel/README.md",
        "cilk-lower/README.md",
    ] {
        let text = page(name);
        let folder = root().join(name).parent().unwrap().to_owned();
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            let file = link.split('#').next().unwrap();
            if !file.is_empty() && !file.contains("://") {
                assert!(folder.join(file).exists(), "{name} points at `{link}`");
            }
        }
    }
}
