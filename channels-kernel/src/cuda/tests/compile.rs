//! Every program compiles, warnings as errors; and the text says what the paper's would.

use super::*;
use crate::cuda::nvrtc::{self, Arch, How, NvrtcError};

#[test]
fn programs_compile() {
    let nvrtc = match nvrtc::find() {
        Ok(found) => found,
        Err(why) => return eprintln!("SKIPPED: {why}"),
    };
    for (name, text) in all() {
        let (_, generated) = generated(text);
        let how = How {
            check: true,
            ..How::default()
        };
        match nvrtc.compile(&generated.source, Arch(90), how) {
            Ok(compiled) => {
                assert!(compiled.cubin.starts_with(b"\x7fELF"));
                println!("{name}: {} bytes\n{}", compiled.cubin.len(), compiled.log);
            }
            Err(e) => panic!("{name}: {e}\n{}", numbered(&generated.source)),
        }
    }
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
    assert!(log.contains("mine.rs(7)"), "{log}");
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
