//! Who shares out a parallel loop whose source says so.

use crate::cuda::{Options, Plan, generate};
use millstream_cilk_lower::{lower::lower, parse_file};

/// The text of a task with one such loop, which a GPU runs alone.
fn text(team: &str) -> String {
    let source = format!(
        "#[millstream::program]\nmod p {{\n    #[task]\n    pub fn f(out: &mut [u32]) {{\n        #[parallel{team}]\n        \
         for x in out.iter_mut() {{\n            *x += 1;\n        }}\n    }}\n}}\n"
    );
    let program = parse_file(&source, "p.rs", None).unwrap();
    let plan = Plan::new(&lower(&program).unwrap(), 1 << 30);
    generate(&plan, Options::default()).source
}

/// How it hands its loop out, and how many warps of the crew take part.
fn handed(team: &str) -> (Option<String>, Option<String>) {
    let text = text(team);
    let between = |from: &str, to: &str| {
        let all = text.split(from).nth(1)?;
        Some(all.split(to).next()?.to_owned())
    };
    let most = text.contains("min_of(Part<OfDevice, OfLane>::all(), ");
    let most = most.then(|| between("min_of(Part<OfDevice, OfLane>::all(), ", ")"));
    (between("share_out<OfDevice, ", ">"), most.flatten())
}

#[test]
fn a_loop_is_shared_out_by_whom_its_source_says() {
    let some = |s: &str| Some(s.to_owned());
    assert_eq!(handed(""), (some("IF_FASTER"), None));
    assert_eq!(handed("(lane)"), (None, None));
    assert_eq!(handed("(warp)"), (some("ALWAYS"), some("1u")));
    assert_eq!(handed("(threads = 65)"), (some("ALWAYS"), some("3u")));
    assert_eq!(handed("(block)"), (some("ALWAYS"), some("8u")));
    assert_eq!(handed("(threads = 512)"), (some("NEVER"), some("16u")));
    assert_eq!(handed("(device)"), (some("NEVER"), None));
}
