//! Borrows, and so races: what `check` has rustc say, and what it says where there is no rustc.

use crate::support::{Folder, command, ended};

/// The programs of docs/language.md that do not compile because of a race: rustc's code and the text.
fn races() -> Vec<(String, String)> {
    let page = include_str!("../../docs/language.md");
    let section = page.split("## Races do not compile").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let programs = section.split("```rust,compile_fail,").skip(1).map(|rest| {
        let (code, rest) = rest.split_once('\n').unwrap();
        (
            code.to_owned(),
            rest.split("```").next().unwrap().to_owned(),
        )
    });
    programs.collect()
}

#[test]
fn the_races_of_the_page_are_refused_at_their_place() {
    let t = Folder::new();
    let races = races();
    // Where the comment of each is.
    let places = [
        "race.rs:6:26",
        "race.rs:11:9",
        "race.rs:16:9",
        "race.rs:12:25",
    ];
    assert_eq!(races.len(), places.len());
    for ((code, text), place) in races.iter().zip(places) {
        t.write("race.rs", text);
        t.bad(
            1,
            &["check", "race.rs"],
            &[&format!("[{code}]"), place, "it may run up to here"],
        );
        assert!(!t.run(&["check", "race.rs"]).err.contains("millstream_"));
    }
}

/// A borrow that rustc refuses and that no child has: what helps against those of children would mislead.
#[test]
fn borrows_of_no_child_have_no_help_for_those_of_children() {
    let t = Folder::new();
    let program = |wrong: &str| {
        format!(
            "#[millstream::program]
mod heap {{
    #[task]
    fn first(items: &mut [u64]) -> u64 {{
        {wrong}
    }}
    #[task]
    fn two(items: &mut [u64]) -> u64 {{
        let (a, b) = items.split_at_mut(1);
        let x = spawn!(first(a));
        let y = spawn!(first(b));
        sync!();
        x + y
    }}
}}
"
        )
    };
    let lent = "stays borrowed up to the next";
    let own = "let n = &mut items[0]; let m = &mut items[1]; *n = 1; *m = 2; 3";
    t.write("heap.rs", program(own));
    t.bad(1, &["check", "heap.rs"], &["[E0499]", "heap.rs:5:"]);
    assert!(!t.run(&["check", "heap.rs"]).err.contains(lent));
    let childs = "let x = spawn!(first(&mut items[1..])); items[0] = 1; sync!(); x";
    t.write("heap.rs", program(childs));
    t.bad(1, &["check", "heap.rs"], &["heap.rs:5:", lent]);
}

#[test]
fn without_rustc_the_command_says_that_nobody_looked() {
    let t = Folder::new();
    t.write("race.rs", &races()[0].1);
    let check = |rustc: &str| {
        let mut check = command(&t.path(""));
        check
            .args(["check", "race.rs"])
            .env("MILLSTREAM_RUSTC", rustc);
        let ended = ended(&check.output().unwrap());
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        ended.out
    };
    let said = "borrows were not checked: ";
    assert!(check("off").ends_with(&format!("{said}MILLSTREAM_RUSTC is `off`\nno errors\n")));
    let none = t.path("none").display().to_string();
    assert!(check(&none).ends_with(&format!("{said}there is no `{none}` here\nno errors\n")));
    let not_rustc = t.path("fib.rs").display().to_string();
    assert!(check(&not_rustc).contains(said));
    t.write(
        "other.rs",
        crate::support::FIB.replace("mod fib {", "mod fib { use another::One;"),
    );
    assert!(
        t.good(&["check", "other.rs"])
            .contains("borrows were not checked: rustc says: unresolved import")
    );
}

#[test]
fn programs_without_races_are_accepted() {
    let t = Folder::new();
    for name in ["sort.rs", "fib.rs"] {
        assert!(!t.good(&["check", name]).contains("not checked"), "{name}");
    }
    let root = env!("CARGO_MANIFEST_DIR");
    for name in ["strassen", "quickhull", "tree", "tsp", "mergesort"] {
        let file = format!("{root}/examples/{name}.rs");
        assert!(!t.good(&["check", &file]).contains("not checked"), "{name}");
    }
    // Names that a crate around the module might take from it.
    let text = crate::support::FIB
        .replace("mod fib", "mod prelude")
        .replace("fn fib", "fn mat")
        .replace("fib(", "mat(");
    t.write("names.rs", text);
    assert!(!t.good(&["check", "names.rs"]).contains("not checked"));
    // Integers wrap, also where a constant is made.
    let constant =
        "const fn mix(h: u32) -> u32 { (h ^ 0x811c_9dc5) * 0x0100_0193 } const KEY: u32 = mix(7);";
    let text = crate::support::FIB.replace("mod fib {", &format!("mod fib {{ {constant}"));
    t.write("wraps.rs", text);
    assert!(!t.good(&["check", "wraps.rs"]).contains("not checked"));
}

#[test]
fn a_run_says_that_it_looks_for_no_races_where_there_could_be_some() {
    let t = Folder::new();
    let says = |args: &[&str]| t.run(args).err.contains("note: races were not looked for");
    let sort = [
        "run",
        "sort.rs",
        "--buffer",
        "data=iota:i32:9",
        "--buffer",
        "tmp=like:data",
    ];
    assert!(says(&sort));
    assert!(!says(&[&sort[..], &["-q"]].concat()));
    assert!(!says(&["run", "fib.rs", "--set", "n=9"]));
}

/// rustc is shown kernels as the macro makes them: it looks at what they lend to tasks, and at what became of their element.
#[test]
fn kernels_are_checked_too() {
    let t = Folder::new();
    let program = |lend: &str| {
        format!(
            "#[millstream::program]
mod work {{
    #[task]
    pub fn fill(data: &mut [u32]) {{ data[0] = 1; }}

    #[kernel]
    pub fn work(item: Element<u32>, next: Channel<(u32, u32)>) {{
        let mut data = [item.deq(); 4];
        spawn!(fill(&mut data));
        {lend}
        let mut new = next.talloc();
        new.0 = data[0];
        next.enq(new);
        item.tfree();
    }}
}}
"
        )
    };
    t.write("work.rs", program("sync!();"));
    assert!(!t.good(&["check", "work.rs"]).contains("not checked"));
    t.write("work.rs", program(""));
    t.bad(1, &["check", "work.rs"], &["[E0503]", "work.rs:12:17"]);
    t.write(
        "work.rs",
        program("sync!(); item.tfree(); data[1] = item.deq();"),
    );
    t.bad(1, &["check", "work.rs"], &["[E0382]", "work.rs:10:42"]);
}
