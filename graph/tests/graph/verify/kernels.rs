//! Rules 24 to 26: kernels, and what is made of graphs.

use super::*;

const ITEMS: &str = "struct Step { n: u32, path: [u8; 4] } struct Held { p: &u32 } channel c0 \"steps\"(n: u32, path: 4 align 1) \
    uniform a0 \"out\": ptr uniform a1 \"table\": 8 align 8 uniform a2 \"n\": u32 ";

/// A kernel with these parameters, which its text has places for, and a body of these statements.
fn kernel(params: &str, stmts: &str) -> Program {
    parse(&format!(
        "{ITEMS} kernel k({params}) {{ let %0: u32, %1: ptr slot $0: 4 align 1 b0: {stmts} return }}"
    ))
}

const STEP: &str = "from: Step, next: Channel<Step>, more: Channel<u32>) takes %0, $0";

fn step(stmts: &str) -> Program {
    parse(&format!(
        "{ITEMS} kernel k({STEP} {{ let %0: u32, %1: ptr slot $0: 4 align 1 b0: %1 = addr $0 {stmts} return }}"
    ))
}

/// A task of a program that was made of a graph.
fn task(stmts: &str) -> Program {
    parse(&format!(
        "{ITEMS} task k(n: u32) takes %0 {{ let %0: u32, %1: ptr slot $0: 4 align 1 b0: %1 = addr $0 {stmts} return }}"
    ))
}

#[test]
fn rule_24_parameters_of_kernels() {
    assert_eq!(wrong(&kernel("", "")), "a kernel has an element");
    let no_element = "an element has no addresses and no atomics";
    assert_eq!(wrong(&kernel("c: Channel<u32>", "")), no_element);
    for ty in ["Held", "(&[u8],)", "[AtomicU32; 2]"] {
        let errors = messages(verify(&kernel(&format!("a: {ty}"), "")));
        assert_eq!(errors[0], no_element, "{ty}");
    }
    let nested = wrong(&kernel("a: (), c: Channel<Held>", ""));
    assert_eq!(nested, no_element);
    assert_eq!(
        wrong(&kernel("a: (), c: Channel<Channel<u32>>", "")),
        "type of c of `k`: a channel is a parameter"
    );
    assert_eq!(
        reject("task t(c: Channel<u32>) { b0: return }"),
        "only a kernel has channels"
    );
    assert_eq!(
        reject("kernel k(a: ()) -> u32 { b0: return 1u32 }"),
        "a kernel returns nothing"
    );
    assert_eq!(
        reject("kernel k(a: ()) { b0: return } task t() { b0: spawn @k() return }"),
        "only tasks are spawned"
    );
}

#[test]
fn rule_25_emits() {
    verify(&step("emit c0(%0, %1) emit c1(%0)")).unwrap();
    verify(&task("emit c0(%0, %1)")).unwrap();
    assert_eq!(wrong(&step("emit c2(%0)")), "there is no channel c2");
    assert_eq!(wrong(&task("emit c1(%0)")), "there is no channel c1");
    assert_eq!(wrong(&step("emit c0(%0)")), "1 arguments, not 2");
    assert_eq!(
        wrong(&task("emit c0(%0, %0)")),
        "argument 1 is u32, not ptr"
    );
    assert_eq!(
        reject(&format!("{ITEMS} fn f() {{ b0: emit c0() return }}")),
        "there is no channel c0"
    );
}

#[test]
fn rule_26_uniforms() {
    verify(&task(
        "%1 = uniform a0 ptr %1 = uniform a1 ptr %0 = uniform a2 u32",
    ))
    .unwrap();
    assert_eq!(
        wrong(&task("%0 = uniform a3 u32")),
        "there is no uniform a3"
    );
    assert_eq!(wrong(&task("%0 = uniform a0 u32")), "a0 is ptr, not u32");
    assert_eq!(
        wrong(&step("%1 = uniform a0 ptr")),
        "a kernel has parameters, not uniforms"
    );
}

#[test]
fn fields_of_channels_have_layouts() {
    assert_eq!(
        reject("channel c0 \"c\"(a: 3 align 3) fn f() { b0: return }"),
        "field `a` of channel c0 has no layout"
    );
}
