//! Every program compiles, warnings as errors; and the text says what the paper's would.

use super::*;
use crate::cuda::{
    Image, Part,
    abi::kernel,
    nvrtc::{self, Arch, How, NvrtcError},
};
use std::collections::HashSet;

#[test]
fn programs_compile() {
    let nvrtc = match nvrtc::find() {
        Ok(found) => found,
        Err(why) => return eprintln!("SKIPPED: {why}"),
    };
    // Machine code is made of the others, in parts, below.
    let in_parts = in_parts();
    let rest = all().into_iter().filter(|one| !in_parts.contains(one));
    for (name, text) in rest {
        let (_, generated) = generated(text);
        let how = How {
            check: true,
            ..How::default()
        };
        // As `cubins` does, of all where architectures are named.
        let compiled = match std::env::var_os("MILLSTREAM_ARCHS") {
            None => nvrtc.read(&generated.source, Arch(90), how),
            Some(_) => nvrtc
                .compile(&generated.source, Arch(90), how)
                .map(|compiled| assert!(compiled.cubin.starts_with(b"\x7fELF"))),
        };
        compiled.unwrap_or_else(|e| panic!("{name}: {e}\n{}", numbered(&generated.source)));
    }
}

/// Programs with all kinds of segments.
fn in_parts() -> Vec<(&'static str, &'static str)> {
    [("fib", shared::FIB)]
        .into_iter()
        .chain(programs::ALL)
        .collect()
}

fn numbered(text: &str) -> String {
    text.lines()
        .enumerate()
        .map(|(i, l)| format!("{:4} {l}\n", i + 1))
        .collect()
}

#[test]
fn a_bad_text_is_an_error_with_its_place() {
    let Ok(nvrtc) = nvrtc::find() else {
        return eprintln!("SKIPPED: no NVRTC");
    };
    let Err(NvrtcError::Compile { log, .. }) =
        nvrtc.compile("#line 7 \"mine.rs\"\nint x = y;", Arch(90), How::default())
    else {
        panic!()
    };
    assert!(log.contains("mine.rs:7: error"), "{log}");
}

#[test]
fn fib_reserves_once_a_tile_and_has_narrow_elements() {
    let (plan, generated) = generated(shared::FIB);
    let entry = &plan.sources[0];
    assert_eq!(
        entry.groups,
        [(0, false), (1, true)],
        "as many children as are no leaves; frame and continuation share one counter"
    );
    assert_eq!(
        entry
            .pushes
            .iter()
            .map(|p| (p.group, p.ratio))
            .collect::<Vec<_>>(),
        [(0, 1), (1, 1), (1, 1)]
    );
    assert_eq!(
        plan.stacks
            .iter()
            .map(super::super::plan::Stack::element_bytes)
            .collect::<Vec<_>>(),
        [8, 20, 4]
    );
    for word in ["talloc", "enq", "deq", "tfree"] {
        assert!(generated.source.contains(word), "{word}");
    }
}

#[test]
fn queens_children_are_staged() {
    let (plan, _) = generated(programs::QUEENS);
    let entry = plan
        .sources
        .iter()
        .find(|s| s.is_entry() && s.pushes.len() > 1)
        .unwrap();
    assert!(entry.staged().is_some(), "{entry:?}");
}

#[test]
fn the_same_text_gives_ptx() {
    let Ok(nvrtc) = nvrtc::find() else {
        return eprintln!("SKIPPED: no NVRTC");
    };
    let (_, generated) = generated(shared::FIB);
    let ptx = nvrtc
        .ptx(&generated.source, Arch(90), How::default())
        .unwrap();
    assert!(
        ptx.contains(".target sm_90") && ptx.contains(".entry persistent"),
        "{ptx}"
    );
}

/// All parts of all images, each once.
fn parts(generated: &Generated) -> Vec<Part> {
    let mut out = generated.dispatches();
    for image in [Image::Persistent, Image::Workers] {
        out.extend(generated.linked(image));
    }
    out
}

/// Names of kernels in machine code.
fn kernels(cubin: &[u8], of: &Plan) -> Vec<String> {
    let holds = |name: &String| {
        let section = format!(".text.{name}\0");
        cubin
            .windows(section.len())
            .any(|w| w == section.as_bytes())
    };
    let names = (0..of.kernels()).map(kernel::dispatch);
    names
        .chain([kernel::PERSISTENT.to_owned(), kernel::WORKERS.to_owned()])
        .filter(holds)
        .collect()
}

#[test]
fn parts_hold_all_kernels_once_and_compile_by_themselves() {
    // The front end takes one text at a time, what makes machine code several.
    std::thread::scope(|scope| {
        for (name, text) in in_parts() {
            scope.spawn(move || look_at_parts(name, text));
        }
    });
}

fn look_at_parts(name: &str, text: &str) {
    let (plan, generated) = generated(text);
    let parts = parts(&generated);
    for kind in [None, Some(Image::Persistent), Some(Image::Workers)] {
        let of = |p: &Part| match p {
            Part::Segments(image, of) if kind == Some(*image) => of.clone(),
            Part::Dispatches(of) if kind.is_none() => of.clone(),
            _ => Vec::new(),
        };
        let all = kind.map_or(plan.kernels(), |_| plan.sources.len());
        let mut numbers: Vec<usize> = parts.iter().flat_map(of).collect();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..all), "{name}");
    }
    let Ok(nvrtc) = nvrtc::find() else {
        eprintln!("SKIPPED: no NVRTC");
        return;
    };
    for part in &parts {
        let how = How {
            check: true,
            linked: part.is_linked().then_some(64),
            ..How::default()
        };
        let text = generated.part(part);
        let compiled = nvrtc
            .compile(&text, Arch(90), how)
            .unwrap_or_else(|e| panic!("{name}, {part:?}: {e}\n{}", numbered(&text)));
        let expected: Vec<String> = match part {
            Part::Kernels(Image::Persistent) => vec![kernel::PERSISTENT.to_owned()],
            Part::Kernels(Image::Workers) => vec![kernel::WORKERS.to_owned()],
            Part::Dispatches(numbers) => numbers.iter().map(|n| kernel::dispatch(*n)).collect(),
            Part::Segments(_, of) => {
                let missing = |i: &&usize| {
                    let section = format!(".text.run_{i}\0");
                    let mut windows = compiled.cubin.windows(section.len());
                    !windows.any(|w| w == section.as_bytes())
                };
                assert_eq!(of.iter().find(missing), None, "{name}, {part:?}");
                Vec::new()
            }
        };
        assert_eq!(
            kernels(&compiled.cubin, &plan),
            expected,
            "{name}, {part:?}"
        );
        // Who has kernels defines what all parts have in common.
        let global = ".nv.constant3\0";
        let mut windows = compiled.cubin.windows(global.len());
        let defined = windows.any(|w| w == global.as_bytes());
        assert!(defined || expected.is_empty(), "{name}, {part:?}");
    }
}

/// What the compiler is told of lines in a part is what it is told of them in the whole.
#[test]
fn lines_have_the_same_numbers_in_all_parts() {
    /// File and number of each line that is no directive.
    fn lines(text: &str) -> Vec<(String, usize, &str)> {
        let (mut file, mut number, mut out) = ("generated.cu".to_owned(), 0, Vec::new());
        for line in text.lines() {
            number += 1;
            if let Some(rest) = line.strip_prefix("#line ") {
                let (at, name) = rest.split_once(' ').unwrap();
                (file, number) = (
                    name.trim_matches('"').to_owned(),
                    at.parse::<usize>().unwrap() - 1,
                );
                continue;
            }
            // It stands before the first line.
            if !matches!(
                line,
                "#define WORKERS" | "#define SEGMENTS" | "#define ALONE"
            ) {
                out.push((file.clone(), number, line));
            }
        }
        out
    }
    for (name, text) in all() {
        let (_, generated) = generated(text);
        let whole: HashSet<_> = lines(&generated.source).into_iter().collect();
        for part in parts(&generated) {
            let text = generated.part(&part);
            let other = lines(&text).into_iter().find(|line| !whole.contains(line));
            assert_eq!(other, None, "{name}, {part:?}");
        }
    }
}

/// A mistake in the code of a segment is told with the line that the code was made for, in whichever part and wherever the line is lost.
#[test]
fn a_planted_mistake_is_told_with_the_line_of_the_source() {
    let Ok(nvrtc) = nvrtc::find() else {
        return eprintln!("SKIPPED: no NVRTC");
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fib.rs");
    std::fs::write(&file, "\n".repeat(4) + "    let it = here;").unwrap();
    let (_, generated) = generated(shared::FIB);
    let place = format!("#line 5 \"{}\"\n", file.display());
    let mistakes = [
        format!("{place}u32 planted = mistake;\n"),
        format!("{place};\n#line 7 \"generated.cu\"\nu32 planted = mistake;\n"),
    ];
    let how = How {
        linked: Some(64),
        ..How::default()
    };
    let segments = Part::Segments(Image::Persistent, vec![0]);
    for part in [segments, Part::Kernels(Image::Persistent)] {
        let text = generated.part(&part);
        let body = text.find("static void run(").unwrap();
        let (before, behind) = text.split_at(body + text[body..].find("{\n").unwrap() + 2);
        for mistake in &mistakes {
            let planted = format!("{before}{mistake}{behind}");
            let refused = nvrtc.compile(&planted, Arch(90), how);
            let error = refused.unwrap_err().to_string();
            let file = file.display();
            let told = format!("{file}:5: error: identifier \"mistake\" is undefined");
            let source = format!("{file}:5 |     let it = here;");
            assert!(
                error.contains(&told) && error.contains(&source),
                "{part:?}: {error}"
            );
        }
    }
}

/// What is linked too.
#[test]
fn parts_compile_quickly_to_the_same_kernels() {
    let Ok(nvrtc) = nvrtc::find() else {
        return eprintln!("SKIPPED: no NVRTC");
    };
    let (plan, generated) = generated(shared::FIB);
    for part in parts(&generated) {
        let full = How {
            linked: part.is_linked().then_some(64),
            ..How::default()
        };
        let quick = How {
            quick: true,
            ..full
        };
        let text = generated.part(&part);
        let [full, quick] = [full, quick].map(|how| {
            let compiled = nvrtc.compile(&text, Arch(90), how);
            compiled.unwrap_or_else(|e| panic!("{part:?}, {how:?}: {e}"))
        });
        assert_eq!(
            kernels(&full.cubin, &plan),
            kernels(&quick.cubin, &plan),
            "{part:?}"
        );
        assert_eq!(full.cubin == quick.cubin, !nvrtc.is_quick(), "{part:?}");
    }
}

#[test]
fn what_is_compiled_later_says_what_is_wrong() {
    let Ok(nvrtc) = nvrtc::find() else {
        return eprintln!("SKIPPED: no NVRTC");
    };
    let text = "#line 7 \"mine.rs\"\nint x = y;".to_owned();
    let later = nvrtc.compile_later(text, Arch(90), How::default()).unwrap();
    let error = later.result().unwrap_err();
    assert!(error.to_string().contains("mine.rs:7: error"), "{error}");
}
