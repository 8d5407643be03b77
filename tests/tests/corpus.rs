//! Every program of the corpus, on every engine.

use millstream_cilk_lower::lower::lower;
use millstream_corpus::PROGRAMS;
use millstream_graph::{ir::Program, levelized::Levelized, text};
use millstream_tests::{
    Case, Elision, Listed, Outcome, cubins,
    engine::{self, Engine, Prepared, prepare},
    expect,
    facts::facts,
    none_wrong, on_all_cores, on_deep_stack, part,
};
use std::sync::Arc;

fn check_text_form(name: &str, prepared: &Prepared) {
    let printed = text::print_program(&prepared.program);
    let read = text::parse_program(&printed)
        .unwrap_or_else(|e| panic!("{name}: the printed IR does not parse: {e}"));
    assert_eq!(
        read, prepared.program,
        "{name}: the printed IR reads differently"
    );
}

/// What the macro made of the module, and what the file's text gives, are one program. Where they stand may differ.
fn check_macro(file: &str, embedded: &str, prepared: &Prepared) {
    let embedded = text::parse_program(embedded)
        .unwrap_or_else(|e| panic!("{file}: the program of the macro does not parse: {e}"));
    let places = |program: &Program| {
        let printed = text::print_program(&Program {
            file: String::new(),
            ..program.clone()
        });
        let words = printed.split_whitespace().filter(|w| !w.starts_with('@'));
        words.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        places(&embedded),
        places(&prepared.program),
        "{file}: the macro and the file's text give different programs"
    );
}

/// The program as the macro left it, as it is called by [`Case::typed`](millstream_tests::Case::typed).
fn embedded(listed: &Listed) -> Arc<Levelized> {
    Arc::new(lower(&text::parse_program((listed.text)()).unwrap()).unwrap())
}

/// Whether typed calls are tried there: what they run is compiled once more, and how arguments are packed does not depend on a device's settings. So
/// of each kind of device one is enough to see it.
fn typed_on(engine: &Engine) -> bool {
    ["cpu with 2 threads", "cuda, host thread"].contains(&engine.name())
}

/// Compiles a program for the GPUs among the engines, or for one that is elsewhere.
fn compile(listed: &Listed, engines: &[Engine]) {
    if cubins::elsewhere().is_none() && !engines.iter().any(Engine::is_gpu) {
        return;
    }
    let file = format!("corpus/run/{}.rs", listed.name);
    let (plain, typed) = (
        prepare(listed.source, &file).unwrap().levelized,
        embedded(listed),
    );
    if let Some(arch) = cubins::elsewhere() {
        for program in [&plain, &typed] {
            cubins::compile(program, arch, false).unwrap_or_else(|e| panic!("{file}: {e}"));
        }
    }
    for engine in engines.iter().filter(|e| e.is_gpu()) {
        let Engine::Device(name, device) = engine else {
            continue;
        };
        // What cannot be loaded says so when it is run.
        let programs = [Some(&plain), typed_on(engine).then_some(&typed)];
        for program in programs.into_iter().flatten() {
            if let Err(error) = device.load(program) {
                println!("{file} on {name}: {error}");
            }
        }
    }
}

/// One program on every engine: how many cases it has, and what was wrong.
fn check_program(listed: &Listed, engines: &[Engine], wrong: &mut Vec<String>) {
    let Listed {
        name,
        source,
        cases,
        text,
    } = listed;
    let file = format!("corpus/run/{name}.rs");
    let prepared = match prepare(source, &file) {
        Ok(prepared) => prepared,
        Err(error) => return wrong.push(format!("{file}: {error}")),
    };
    check_text_form(name, &prepared);
    check_macro(&file, text(), &prepared);
    assert!(!cases.is_empty(), "{file} has no case");
    for Case {
        text,
        task,
        elision,
        typed,
    } in *cases
    {
        let Elision {
            before,
            outcome: expected,
        } = on_deep_stack(elision);
        let mut check = |engine: &str, came: Result<Outcome, String>| match came {
            Ok(outcome) if outcome == expected => {}
            Ok(outcome) => {
                let (elision, came) = (
                    (&expected.result, &expected.after),
                    (&outcome.result, &outcome.after),
                );
                wrong.push(format!(
                    "{file}: {text} on {engine}\n  elision: {elision:?}\n  engine:  {came:?}"
                ));
            }
            Err(error) => wrong.push(format!("{file}: {text} on {engine}: {error}")),
        };
        for engine in engines {
            check(
                engine.name(),
                engine
                    .call(&prepared, task, &before)
                    .map_err(|e| e.to_string()),
            );
            if let Engine::Device(name, device) = engine
                && typed_on(engine)
            {
                check(
                    &format!("{name}, by a typed call"),
                    typed(device).map_err(|e| e.to_string()),
                );
            }
        }
    }
}

/// Of all programs, or of those in whose source `MILLSTREAM_CONTAINS` stands.
#[test]
fn every_program_agrees_with_its_elision_on_every_engine() {
    let engines = engine::all(None);
    let asked = std::env::var("MILLSTREAM_CONTAINS").unwrap_or_default();
    let is_asked = |listed: &&Listed| listed.source.contains(&asked);
    let programs = PROGRAMS.iter().filter(is_asked);
    let (part, parts) = part().unwrap_or((0, 1));
    let programs: Vec<&Listed> = programs.skip(part).step_by(parts).collect();
    let mut wrong = Vec::new();
    // Runs on a GPU follow one another, each as soon as it is compiled; without one programs go side by side.
    let ran = if engines.iter().any(Engine::is_gpu) {
        cubins::as_ready(
            programs.len(),
            |i| compile(programs[i], &engines),
            |i| {
                let before = wrong.len();
                check_program(programs[i], &engines, &mut wrong);
                // At once, as the time may end before the last compiler does.
                wrong[before..]
                    .iter()
                    .for_each(|text| println!("wrong: {text}"));
            },
        )
    } else {
        let each = on_all_cores(&programs, |listed| {
            compile(listed, &engines);
            let mut wrong = Vec::new();
            check_program(listed, &engines, &mut wrong);
            wrong
        });
        wrong = each.concat();
        programs.len()
    };
    println!(
        "Seen: {ran} of {} programs on the elision and {} engines",
        programs.len(),
        engines.len()
    );
    none_wrong(&wrong);
}

#[test]
fn every_file_is_listed() {
    let listed: Vec<String> = PROGRAMS.iter().map(|p| p.name.to_owned()).collect();
    let files: Vec<String> = expect::programs("run")
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(files, listed, "corpus/run/mod.rs lists the files in order");
}

/// The issue asks for 120 programs at least.
#[test]
fn there_are_enough_programs() {
    let count: usize = ["run", "fault", "reject", "lower"]
        .into_iter()
        .map(|folder| expect::programs(folder).len())
        .sum();
    assert!(count >= 120, "{count} programs");
}

#[test]
fn every_refusal_reads_as_expected() {
    let mut wrong = Vec::new();
    for (name, text) in expect::programs("reject") {
        let source = expect::split(&text).0;
        match prepare(&source, &format!("corpus/reject/{name}.rs")) {
            Ok(_) => wrong.push(format!("corpus/reject/{name}.rs is accepted")),
            Err(error) => wrong.extend(expect::compare("reject", &name, &text, &error.to_string())),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_lowering_has_the_expected_channels_and_frames() {
    let mut wrong = Vec::new();
    for (name, text) in expect::programs("lower") {
        match prepare(&expect::split(&text).0, &format!("corpus/lower/{name}.rs")) {
            Ok(prepared) => wrong.extend(expect::compare(
                "lower",
                &name,
                &text,
                &facts(&prepared.levelized),
            )),
            Err(error) => wrong.push(format!("corpus/lower/{name}.rs: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a device runs after each program that failed on it.
const NEXT: &str = "#[millstream::program] mod next {
    #[task] pub fn next(n: u64) -> u64 {
        if n < 2 { return n; }
        let x = spawn!(next(n - 1));
        let y = spawn!(next(n - 2));
        sync!();
        x + y
    }
}";

/// After each, the same engine runs another program.
///
/// The first line of such a file is the call, its arguments split by semicolons: `// sum([1, 2]; 3)`; ` with 1048576 bytes` may follow.
#[test]
fn every_fault_is_the_same_on_every_engine() {
    let mut wrong = Vec::new();
    let next = prepare(NEXT, "next.rs").unwrap();
    let programs = expect::programs("fault").into_iter().map(|(name, text)| {
        let (file, source) = (format!("corpus/fault/{name}.rs"), expect::split(&text).0);
        let prepared = prepare(&source, &file).unwrap_or_else(|e| panic!("{file}: {e}"));
        (name, text, file, source, prepared)
    });
    let programs: Vec<_> = programs.collect();
    let named = programs
        .iter()
        .map(|(_, _, file, _, prepared)| (file.clone(), prepared.levelized.clone()));
    cubins::ahead(
        &named
            .chain([("next".to_owned(), next.levelized.clone())])
            .collect::<Vec<_>>(),
    );
    for (name, text, file, source, prepared) in programs {
        let first = source
            .lines()
            .next()
            .and_then(|l| l.strip_prefix("// "))
            .unwrap_or_else(|| panic!("{file} names no call"));
        let (call, memory) = first
            .split_once(" with ")
            .map_or((first, None), |(call, rest)| {
                (call, rest.strip_suffix(" bytes"))
            });
        let (task, args) = call
            .strip_suffix(')')
            .and_then(|c| c.split_once('('))
            .unwrap_or_else(|| panic!("{file}: `{call}`"));
        let args: Vec<String> = args
            .split(';')
            .map(|a| a.trim().to_owned())
            .filter(|a| !a.is_empty())
            .collect();
        let mut found: Vec<(String, String)> = Vec::new();
        let mut faults = Vec::new();
        let memory = memory.map(|m| m.parse().unwrap());
        let (gpus, engines): (Vec<Engine>, Vec<Engine>) =
            engine::all(memory).into_iter().partition(Engine::is_gpu);
        let mut short = false;
        for engine in engines.iter().chain(&gpus) {
            let came = engine.call(&prepared, task, &args);
            let text = match &came {
                Ok(outcome) => format!("{} {:?}", outcome.result, outcome.after),
                Err(error) => {
                    faults.extend(
                        error
                            .fault()
                            .map(|f| (f.kind.clone(), f.values.clone(), f.span)),
                    );
                    error.to_string()
                }
            };
            let is_memory = came.is_err_and(|e| e.is_memory());
            match engine.call(&next, "next", &["7".to_owned()]) {
                Ok(outcome) if outcome.result == "13" => {}
                other => wrong.push(format!(
                    "{file}: the next program on {} came to {other:?}",
                    engine.name()
                )),
            }
            if engine.is_gpu() {
                println!("{file} on {}: {text}", engine.name());
            }
            match found.last_mut() {
                // A GPU does as the CPU does, but which of its channels is full first is its own affair.
                Some((names, last))
                    if engine.is_gpu() && *last != text && !(short && is_memory) =>
                {
                    wrong.push(format!(
                        "{file}: {} says `{text}`, {names} say `{last}`",
                        engine.name()
                    ));
                }
                _ if engine.is_gpu() => {}
                Some((names, last)) if *last == text => {
                    names.push_str(&format!(", {}", engine.name()))
                }
                _ => found.push((engine.name().to_owned(), text)),
            }
            short |= is_memory;
        }
        faults.dedup();
        assert!(
            faults.len() <= 1,
            "{file}: engines stop for different reasons: {found:?}"
        );
        let all = found.len() == 1;
        let lines: Vec<String> = found
            .iter()
            .map(|(names, came)| {
                if all {
                    came.clone()
                } else {
                    format!("{names}: {came}")
                }
            })
            .collect();
        wrong.extend(expect::compare("fault", &name, &text, &lines.join("\n")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
