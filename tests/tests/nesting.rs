//! Sources that are nested deep: what is allowed ends, and what is not is refused before anything calls itself for each level.

use millstream_cilk_lower::{lower::lower, parse_file};

/// A task with this body.
fn task(body: &str) -> String {
    format!(
        "#[millstream::program]
mod p {{
    #[derive(Clone, Copy)]
    pub struct P {{ x: u64 }}
    impl P {{ fn inc(&self) -> P {{ P {{ x: self.x + 1 }} }} }}
    #[task]
    pub fn f(n: u64, a: &[u64]) -> u64 {{
        let mut s = n;
        let p = P {{ x: n }};
        {body}
        s + p.x
    }}
}}"
    )
}

fn nested(open: &str, inside: &str, close: &str, depth: usize) -> String {
    task(&format!(
        "{}{inside}{}",
        open.repeat(depth),
        close.repeat(depth)
    ))
}

/// What takes twice the time for each level never ends here.
#[test]
fn fifty_levels_are_checked_and_lowered() {
    let bodies = [
        ("for x in a {", "s += 1;", "}"),
        ("for i in 0..n {", "s += i;", "}"),
        ("while s < 3 {", "s += 1;", "}"),
        ("loop {", "s += 1;", "break; }"),
        ("if s < 3 {", "s += 1;", "}"),
        ("match s { 0 => {", "s += 1;", "} _ => {} }"),
        ("if let 3 = s {", "s += 1;", "}"),
        ("for x in a {", "s += spawn!(f(n, a)); ", "sync!(); }"),
        ("let p = p", ".inc()", ";"),
    ];
    for (open, inside, close) in bodies {
        // Methods follow each other; the others lie in each other.
        let source = match inside {
            ".inc()" => task(&format!("{open}{}{close}", inside.repeat(50))),
            _ => nested(open, inside, close, 40),
        };
        let program = parse_file(&source, "p.rs", None).unwrap_or_else(|e| panic!("{open} {e}"));
        lower(&program).unwrap();
    }
    let source = nested("for x in a {", "s += 1;", "}", 50);
    lower(&parse_file(&source, "p.rs", None).unwrap()).unwrap();
}

#[test]
fn what_is_nested_too_deep_is_refused_at_its_place() {
    let bodies = [
        ("s = ", "(", "s", ")"),
        ("s = ", "[", "s", "]"),
        ("", "{", "", "}"),
        ("", "for x in a {", "", "}"),
        ("s = ", "!", "s", ""),
        ("s = ", "s + ", "s", ""),
        ("s = ", "return ", "s", ""),
        ("s = s", " as u64", "", ""),
        ("s = s", ".min(3)", "", ""),
        ("let x: ", "&", "u64 = s", ""),
        ("let x: ", "*const ", "u64 = s", ""),
        ("let x: ", "fn() -> ", "u64 = s", ""),
        ("let x: ", "Mat<u64, ", "u64 = s", ""),
        ("", "if s == 1 { s = 2; } else ", "{}", ""),
        ("assert!(matches!(s, _ if ", "(", "s > 1", ")"),
    ];
    for (start, open, inside, close) in bodies {
        let end = if start.starts_with("assert") {
            "));"
        } else {
            ";"
        };
        let depth = 100_000;
        let source = task(&format!(
            "{start}{}{inside}{}{end}",
            open.repeat(depth),
            close.repeat(depth)
        ));
        let error = parse_file(&source, "p.rs", None).unwrap_err().to_string();
        assert!(
            error.starts_with("10:") && error.contains(": the source is nested too deep here\n"),
            "{open}: {}",
            &error[..error.len().min(200)]
        );
    }
}

/// Long is not deep: what follows one another may go on for as long as it likes.
#[test]
fn long_sources_are_not_deep() {
    let repeat = |what: &str| task(&what.repeat(3000));
    let items = "fn g() -> u64 { 1 } ";
    let items: String = (0..2000)
        .map(|i| items.replace('g', &format!("g{i}")))
        .collect();
    let table: Vec<String> = (0..3000).map(|i| format!("{i} << 3")).collect();
    let arms: String = (0..1000)
        .map(|i| format!("{i} if n < 3 => s += {i}, "))
        .collect();
    let sources = [
        repeat("s += n * 3; "),
        repeat("if s > 3 { s += 1; } "),
        task("").replace("#[task]", &format!("{items} #[task]")),
        task(&format!("let t = [{}]; s += t[3];", table.join(", "))),
        task(&format!("match s {{ {arms} _ => {{}} }}")),
    ];
    for source in sources {
        parse_file(&source, "p.rs", None).unwrap_or_else(|e| panic!("{}: {e}", &source[300..400]));
    }
}
