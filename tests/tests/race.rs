//! Programs that must not compile, pinned by error code or text at the line; and programs that must.
//!
//! A line of `ui/reject` that ends in `//~ E0499` has an error of that code (or of each, if there are several), one that ends in
//! `//~ text` an error of that text, its lines joined by ` | `. There are no other errors. What stands in `ui/accept` compiles without a warning.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// An error: its line, and its code or text.
type Error = (usize, String);

/// The facade as a library, built as this test was.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let mut build = Command::new(env!("CARGO"));
        build.args([
            "build",
            "--package",
            "millstream",
            "--lib",
            "--example",
            "fib",
            "--message-format",
            "json-render-diagnostics",
        ]);
        build.current_dir(env!("CARGO_MANIFEST_DIR"));
        // Who asks for the times of tests sets it, and cargo would build all anew for it.
        build.env_remove("RUSTC_BOOTSTRAP");
        if !cfg!(debug_assertions) {
            build.arg("--release");
        }
        let output = build.output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let messages = String::from_utf8(output.stdout).unwrap();
        let artifact = messages
            .lines()
            .rfind(|l| l.contains("compiler-artifact") && l.contains("\"name\":\"millstream\""))
            .unwrap();
        let path = artifact
            .split('"')
            .find(|word| word.ends_with(".rlib"))
            .unwrap();
        path.into()
    })
}

/// Compiles a program as far as errors can come, and says what rustc says.
fn compile(file: &Path, flags: &[&str]) -> (bool, String) {
    let library = library();
    let deps = library.parent().unwrap().join("deps");
    let out = tempfile::tempdir().unwrap();
    let output = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args([
            "--edition",
            "2024",
            "--crate-type",
            "lib",
            "--emit",
            "metadata",
            "--error-format",
            "short",
        ])
        .args(flags)
        .arg("--extern")
        .arg(format!("millstream={}", library.display()))
        .arg("-L")
        .arg(format!("dependency={}", deps.display()))
        .arg("--out-dir")
        .arg(out.path())
        .arg(file)
        .output()
        .unwrap();
    (
        output.status.success(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

/// The errors in what rustc says: `file:line:column: error[code]: text`, where the text may have more lines.
fn errors(said: &str, file: &Path) -> Vec<Error> {
    let start = format!("{}:", file.display());
    let mut out: Vec<Error> = Vec::new();
    let mut inside = false;
    for line in said.lines() {
        if let Some(rest) = line.strip_prefix(&start) {
            let mut parts = rest.splitn(3, ':');
            let (number, text) = (
                parts.next().unwrap().parse().unwrap(),
                parts.nth(1).unwrap().trim(),
            );
            inside = false;
            if let Some(coded) = text.strip_prefix("error[") {
                out.push((number, coded[..5].to_owned()));
            } else if let Some(text) = text.strip_prefix("error: ") {
                out.push((number, text.to_owned()));
                inside = true;
            }
        } else if inside && !line.starts_with("error: aborting") && !line.is_empty() {
            let (_, text) = out.last_mut().unwrap();
            *text += " | ";
            *text += line.trim();
        } else {
            inside = false;
        }
    }
    out.sort();
    // What the elision breaks too, rustc says of both versions.
    out.dedup();
    out
}

fn expected(source: &str) -> Vec<Error> {
    let mut out: Vec<Error> = Vec::new();
    for (i, line) in (1..).zip(source.lines()) {
        match line.split_once("//~ ") {
            Some((_, codes)) if codes.starts_with("E0") => {
                out.extend(codes.split(' ').map(|code| (i, code.to_owned())))
            }
            Some((_, text)) => out.push((i, text.to_owned())),
            None => {}
        }
    }
    out.sort();
    out
}

fn programs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("ui")
        .join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

#[test]
fn what_must_not_compile_has_its_errors_and_no_others() {
    let mut wrong = String::new();
    for file in programs("reject") {
        let (_, said) = compile(&file, &["-A", "warnings"]);
        let (have, want) = (
            errors(&said, &file),
            expected(&fs::read_to_string(&file).unwrap()),
        );
        assert!(!want.is_empty(), "{} expects nothing", file.display());
        if have != want {
            wrong += &format!("{}\nwanted {want:#?}\nhave {have:#?}\n", file.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_must_compile_does_without_a_warning() {
    for file in programs("accept") {
        let flags = [
            "-D",
            "warnings",
            "-D",
            "missing-docs",
            "-D",
            "unreachable-pub",
            "-D",
            "rust-2018-idioms",
            "-A",
            "elided-lifetimes-in-paths",
        ];
        let (ok, said) = compile(&file, &flags);
        assert!(ok && said.is_empty(), "{}:\n{said}", file.display());
    }
}
