//! What host and device share is declared for the device as the host has it, or the device's text does not compile.

use super::*;
use crate::cuda::abi::Level;
use std::process::Command;

/// Whether a text compiles; none where there is no compiler.
fn compiles(text: &str) -> Option<bool> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shared.cpp");
    std::fs::write(&file, text).unwrap();
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    let output = Command::new(compiler)
        .args(["-std=c++20", "-fsyntax-only", "-w"])
        .arg(&file)
        .output()
        .ok()?;
    Some(output.status.success())
}

/// The declarations of all that a program's device and its host share, from the types of the prelude on.
fn declarations(text: &str) -> String {
    let source = generated(text).1.source;
    let between = |from: &str, to: &str| {
        let at = source.find(from).unwrap();
        let end = source[at..].find(to).unwrap();
        source[at..at + end].to_owned()
    };
    let numbers = between("#ifndef WARP", "#define FN_IN");
    let types = between("typedef signed char", "#ifndef FN");
    let shared = between(
        "// What host and device share.",
        "extern \"C\" __constant__",
    );
    format!("{numbers}{types}{shared}")
}

/// Every text in which two members of a structure that stand one after the other have changed places, and their names.
fn swapped(text: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let is_member = |line: &str| line.starts_with("  ") && line.contains(';');
    let mut out = Vec::new();
    for i in 1..lines.len() {
        if is_member(lines[i - 1]) && is_member(lines[i]) {
            let mut other = lines.clone();
            other.swap(i - 1, i);
            out.push((other.join("\n"), format!("{}\n{}", lines[i - 1], lines[i])));
        }
    }
    out
}

#[test]
fn two_members_that_change_places_do_not_compile() {
    let text = declarations(programs::QUEENS);
    match compiles(&text) {
        None => return eprintln!("SKIPPED: no C++ compiler"),
        Some(does) => assert!(does, "{text}"),
    }
    let all = swapped(&text);
    for (swapped, members) in &all {
        assert_eq!(compiles(swapped), Some(false), "{members}");
    }
    assert!(all.len() > 60, "{} pairs", all.len());
    // The code of a fault for that of a cancelled run; a dispatch record that has a word more.
    for (from, to) in [
        ("FAULT = 1", "FAULT = 4"),
        ("  u32 room[MAX_PUSHES];", "  u32 room[MAX_PUSHES + 1];"),
    ] {
        assert!(text.contains(from));
        assert_eq!(compiles(&text.replace(from, to)), Some(false), "{from}");
    }
}

#[test]
fn values_keep_their_bits() {
    let (_, plan) = planned(shared::FIB, 1 << 20);
    let at = Level::new(&plan);
    let mut words = at.zeroed();
    at.elements.set(&mut words, u64::MAX - 5);
    at.below.fill(&mut words, &[0.25, -1.5]);
    assert_eq!(at.elements.get(&words), u64::MAX - 5);
    assert_eq!(at.below.all(&words), [0.25, -1.5, 0.0]);
    assert_eq!(words.iter().filter(|w| **w != 0).count(), 4);
}
