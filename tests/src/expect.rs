//! Expectations at the end of a file: its last `//~` lines.

use std::path::PathBuf;

/// Whether expectations are to be written anew.
#[must_use]
pub fn blessing() -> bool {
    std::env::var_os("MILLSTREAM_BLESS").is_some_and(|v| v == "1")
}

/// A folder of the corpus.
#[must_use]
pub fn folder(name: &str) -> PathBuf {
    crate::root().join("tests/corpus").join(name)
}

/// Name and text of each program in a folder of the corpus, in order.
#[must_use]
pub fn programs(name: &str) -> Vec<(String, String)> {
    let files = std::fs::read_dir(folder(name))
        .unwrap()
        .map(|f| f.unwrap().path());
    let is_program = |f: &PathBuf| {
        f.extension().is_some_and(|e| e == "rs") && f.file_stem().is_some_and(|n| n != "mod")
    };
    let mut files: Vec<PathBuf> = files.filter(is_program).collect();
    files.sort();
    let read = |f: PathBuf| {
        (
            f.file_stem().unwrap().to_string_lossy().into_owned(),
            std::fs::read_to_string(&f).unwrap(),
        )
    };
    files.into_iter().map(read).collect()
}

/// Splits a file into the program and what is expected of it.
#[must_use]
pub fn split(text: &str) -> (String, String) {
    let (mut program, mut expected) = (String::new(), String::new());
    for line in text.lines() {
        let (to, line) = match line.strip_prefix("//~") {
            Some(rest) => (&mut expected, rest.strip_prefix(' ').unwrap_or(rest)),
            None => (&mut program, line),
        };
        to.push_str(line);
        to.push('\n');
    }
    (program, expected)
}

/// Compares what came with what the file expects, or writes it there. Gives what to say if they differ.
#[must_use]
pub fn compare(folder_name: &str, name: &str, text: &str, found: &str) -> Option<String> {
    let (program, expected) = split(text);
    let found: String = found
        .lines()
        .map(|l| format!("{}\n", l.trim_end()))
        .collect();
    if found == expected {
        return None;
    }
    if blessing() {
        let lines: String = found
            .lines()
            .map(|l| format!("{}\n", format!("//~ {l}").trim_end()))
            .collect();
        std::fs::write(
            folder(folder_name).join(format!("{name}.rs")),
            format!("{}\n\n{lines}", program.trim_end()),
        )
        .unwrap();
        return None;
    }
    Some(format!(
        "corpus/{folder_name}/{name}.rs\n--- expected ---\n{expected}--- found ---\n{found}"
    ))
}
