//! The compiler for GPUs takes every program of the corpus and every example, without a warning, and makes machine code of some: of all where
//! `MILLSTREAM_ARCHS` is set. Needs NVRTC (see `millstream doctor`), but no GPU; is skipped aloud without, unless `MILLSTREAM_NVRTC` says that there is to
//! be one.

use millstream::job::{Job, Settings};
use millstream_channels_kernel::cuda::{
    Image, Options, Part, Plan,
    flow::{self, FlowPlan},
    generate,
    nvrtc::{self, Arch},
};
use millstream_tests::{
    cubins::{arch, compile_all, compile_with, part_of_processes, read},
    engine::prepare,
    expect, many, none_wrong, root,
    swarm::swarm,
};
use std::time::Instant;

/// Hopper, or those that `MILLSTREAM_ARCHS` names: `sm_80,sm_90,sm_120` are Ampere, Hopper and Blackwell.
fn archs() -> Vec<Arch> {
    let names = std::env::var("MILLSTREAM_ARCHS").unwrap_or_else(|_| "sm_90".to_owned());
    names.split(',').map(arch).collect()
}

/// Whether machine code is made of each program.
fn all_are_made() -> bool {
    std::env::var_os("MILLSTREAM_ARCHS").is_some()
}

/// Else it is made of each program of so many, which takes most of the time; the front end finds what can be wrong with one program alone.
const SAMPLED: usize = 80;

/// Path and text of each program.
fn programs() -> Vec<(String, String)> {
    let mut out = Vec::new();
    for folder in ["run", "fault", "lower"] {
        out.extend(expect::programs(folder).into_iter().map(|(name, text)| {
            (
                format!("tests/corpus/{folder}/{name}.rs"),
                expect::split(&text).0,
            )
        }));
    }
    let examples = std::fs::read_dir(root().join("examples"))
        .unwrap()
        .map(|f| f.unwrap().path());
    let mut examples: Vec<_> = examples
        .filter(|p| p.extension().is_some_and(|e| e == "rs"))
        .collect();
    examples.sort();
    out.extend(examples.iter().map(|p| {
        let name = p.file_name().unwrap().to_string_lossy();
        (
            format!("examples/{name}"),
            std::fs::read_to_string(p).unwrap(),
        )
    }));
    out
}

/// The part of this process, if it is to do some of a test: not where there is no NVRTC, and not where others do all.
fn part_of(test: &str) -> Option<(usize, usize)> {
    match nvrtc::find() {
        Ok(_) => part_of_processes(test),
        Err(why) if std::env::var_os("MILLSTREAM_NVRTC").is_some() => panic!("{why}"),
        Err(why) => {
            eprintln!("SKIPPED: {why}");
            None
        }
    }
}

/// The persistent kernel's levels and the stage of what a tile pushes share what a block has, and the plan says how: the text asserts it.
#[test]
fn what_blocks_share_fits() {
    let Some((part, parts)) = part_of("cubins::what_blocks_share_fits") else {
        return;
    };
    let wrong = (0..48).skip(part).step_by(parts).filter_map(|seed| {
        let tried = swarm(seed, 100_000);
        let program = prepare(&tried.source, &tried.name).unwrap();
        let options = Options {
            records: seed % 2 == 0,
            ..Options::default()
        };
        let wrong = read(&program.levelized, options, Arch(90)).err()?;
        Some(format!("{seed}: {wrong}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_program_compiles_for_gpus_without_a_warning() {
    let Some((part, parts)) = part_of("cubins::every_program_compiles_for_gpus_without_a_warning")
    else {
        return;
    };
    let (start, archs, all) = (Instant::now(), archs(), programs());
    let (mut count, mut wrong, mut sampled) = (0, Vec::new(), Vec::new());
    for (i, (file, text)) in all.iter().enumerate().skip(part).step_by(parts) {
        let program = match prepare(text, file) {
            // Kernels are a graph's: `flow_examples` compiles these.
            Ok(program) if program.levelized.is_empty() => continue,
            Ok(program) => program.levelized,
            Err(error) => {
                wrong.push(format!("{file}: {error}"));
                continue;
            }
        };
        count += 1;
        let plan = Plan::new(program.on_wide(), 1 << 30);
        let alone = plan.loops_of_one_lane();
        if !alone.is_empty() {
            wrong.push(format!("{file}: one lane runs {alone:?}"));
        }
        if !all_are_made()
            && let Err(error) = read(&program, Options::default(), archs[0])
        {
            wrong.push(format!("{file}: {error}"));
        }
        if all_are_made() || (i / parts).is_multiple_of(SAMPLED) {
            sampled.push((file.clone(), program));
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let (bytes, refused) = compile_all(&sampled, &archs, true);
    wrong.extend(refused);
    println!(
        "part {} of {parts}, {count} programs for {archs:?}: read in {seconds:.1} s, and machine code of {} by {:.1} s: {} KiB",
        part + 1,
        sampled.len(),
        start.elapsed().as_secs_f64(),
        bytes >> 10
    );
    none_wrong(&wrong);
    assert!(count * parts > 300, "only {count} programs were found");
}

/// No part of a large program is much larger than another, and none has what only others need.
#[test]
fn a_large_program_is_cut_into_parts_of_about_the_same_size() {
    let file = "many.rs";
    let prepared = prepare(&many::program(60), file).unwrap();
    let text = generate(&Plan::new(&prepared.levelized, 1 << 30), Options::default());
    let segments = text.linked(Image::Persistent).split_off(1);
    for parts in [text.dispatches(), segments] {
        assert_eq!(parts.len(), 16);
        let sizes: Vec<usize> = parts.iter().map(|part| text.part(part).len()).collect();
        let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
        assert!(most - least < least / 10, "{sizes:?}");
        assert!(most * 5 < text.source.len(), "{sizes:?}");
    }
    // The persistent kernel has all bodies, for its narrow levels, and none of the others' kernels.
    let persistent = text.part(&Part::Kernels(Image::Persistent));
    assert!(persistent.contains("persistent(") && !persistent.contains("dispatch_0("));
    let bodies = |text: &str| text.matches("static void run(").count();
    assert_eq!(bodies(&persistent), bodies(&text.source));
    assert_eq!(bodies(&text.part(&Part::Kernels(Image::Workers))), 0);
}

#[test]
fn what_a_timeline_is_made_of_compiles_for_gpus() {
    if let Err(why) = nvrtc::find() {
        assert!(std::env::var_os("MILLSTREAM_NVRTC").is_none(), "{why}");
        return eprintln!("SKIPPED: {why}");
    }
    let options = Options {
        records: true,
        ..Options::default()
    };
    for (file, made) in [
        ("examples/queens.rs", true),
        ("examples/strassen.rs", false),
    ] {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        let program = prepare(&text, file).unwrap().levelized;
        for arch in archs() {
            let compiled = match made || all_are_made() {
                true => compile_with(&program, options, arch, true).map(|_| ()),
                false => read(&program, options, arch),
            };
            compiled.unwrap_or_else(|e| panic!("{file}: {e}"));
        }
    }
}

/// The CUDA text of a program.
fn text_of(file: &str) -> String {
    generated(&std::fs::read_to_string(root().join(file)).unwrap(), file)
}

fn generated(text: &str, file: &str) -> String {
    let prepared = prepare(text, file).unwrap();
    let plan = Plan::new(prepared.levelized.on_wide(), 1 << 30);
    generate(&plan, Options::default()).source
}

/// A program whose task spawns, too, so that its loops are not shared out by all blocks but run as tasks.
fn with_a_child(file: &str, task: &str) -> String {
    let text = std::fs::read_to_string(root().join(file)).unwrap();
    let (before, behind) = text
        .split_once(&format!("    #[task]\n    pub fn {task}("))
        .unwrap();
    let (head, body) = behind.split_once("{\n").unwrap();
    let beside = "    #[task]\n    fn beside() {}\n\n";
    let text = format!(
        "{before}{beside}    #[task]\n    pub fn {task}({head}{{\n        spawn!(beside());\n{body}"
    );
    generated(&text, file)
}

/// How many slices a task's entry walks through.
fn walked(text: &str, task: &str) -> u32 {
    let entry = text.split(&format!("_{task}_entry {{")).nth(1).unwrap();
    let body = entry.split("static void run(").next().unwrap();
    body.split("SLICES = ")
        .nth(1)
        .map_or(0, |n| n.split(',').next().unwrap().parse().unwrap())
}

#[test]
fn slices_are_brought_near_where_they_are_walked_through() {
    let text = text_of("tests/corpus/run/walked_slices.rs");
    assert_eq!(
        walked(&text, "mix"),
        3,
        "all but the table, which is indexed by a remainder"
    );
    assert_eq!(walked(&text, "below"), 0, "a search by halves");
    assert_eq!(walked(&text, "cut"), 0, "its children keep the slices");
    let text = text_of("examples/sort.rs");
    assert_eq!(
        (
            walked(&text, "piece"),
            walked(&text, "small"),
            walked(&text, "merge")
        ),
        (3, 1, 0)
    );
    let text = text_of("tests/corpus/run/breadth_first_search.rs");
    assert!(
        text.contains("WALKS = false") && !text.contains("WALKS = true"),
        "slices of atomics stay where they are"
    );
}

/// How many loops of a task's entry have ways out that join.
fn joined(text: &str, task: &str) -> usize {
    let entry = text.split(&format!("_{task}_entry {{")).nth(1).unwrap();
    entry
        .split("\n};")
        .next()
        .unwrap()
        .matches("regroup();")
        .count()
}

#[test]
fn lanes_go_on_together_behind_loops_that_do_not_wait() {
    let text = text_of("examples/sort.rs");
    assert_eq!(
        (
            joined(&text, "merge"),
            joined(&text, "piece"),
            joined(&text, "sort_by")
        ),
        (3, 4, 0),
        "one of `piece` stands there twice, with checks and without"
    );
    let text = text_of("tests/corpus/run/for_parts.rs");
    assert_eq!(
        joined(&text, "count"),
        1,
        "it adds to counters, and does not ask what they were"
    );
    let text = text_of("tests/corpus/run/atomic_compare_exchange.rs");
    assert_eq!(
        joined(&text, "visit"),
        0,
        "it tries again until it is the one"
    );
}

/// What `docs/cuda.md` quotes of the examples' texts is what they are.
#[test]
fn the_documentation_quotes_what_is_generated() {
    let text = std::fs::read_to_string(root().join("docs/cuda.md")).unwrap();
    let graph = Job::open(
        &root().join("examples/fib_channel.ron"),
        &Settings::default(),
    )
    .unwrap();
    let graph = graph.flow().unwrap();
    let plan = FlowPlan::of(&graph.graph, &graph.levelized, &graph.kernels).unwrap();
    let graph = flow::generate(&plan, Options::default()).source;
    let texts: Vec<String> = ["fib", "queens", "sort", "histogram"]
        .iter()
        .map(|name| text_of(&format!("examples/{name}.rs")))
        .chain([graph, with_a_child("examples/histogram.rs", "apart")])
        .collect();
    let known: std::collections::BTreeSet<&str> = texts
        .iter()
        .flat_map(|g| g.lines())
        .map(str::trim)
        .collect();
    let blocks = text
        .split("```cuda\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next());
    let quoted: Vec<&str> = blocks
        .flat_map(str::lines)
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let gone: Vec<&&str> = quoted
        .iter()
        .filter(|line| !known.contains(*line))
        .collect();
    assert!(
        gone.is_empty() && quoted.len() > 40,
        "docs/cuda.md quotes what `lower --emit cuda` does not print: {gone:#?}"
    );
}

/// Two tasks that one lane runs, each with loops of its own: a part has the loops of its tasks, for each takes the compiler seconds.
#[test]
fn a_part_has_the_regions_of_its_tasks() {
    let source = "#[millstream::program] mod apart {
        #[task] pub fn doubled(a: &mut [u32]) { #[parallel] for x in a.iter_mut() { *x *= 2; } }
        #[task] pub fn squared(a: &mut [u64]) { #[parallel] for x in a.iter_mut() { *x *= *x; } }
    }";
    let program = prepare(source, "apart.rs").unwrap().levelized;
    let text = generate(&Plan::new(&program, 1 << 30), Options::default());
    let parts = text.dispatches();
    assert_eq!(parts.len(), 2, "{parts:?}");
    let mut cases = 0;
    for part in &parts {
        let text = text.part(part);
        let own = text.lines().find_map(|l| l.strip_prefix("#define RUNS_"));
        let own = format!(" || defined(RUNS_{})", own.expect("whose regions it has"));
        let guards = text.lines().filter(|l| l.contains("!defined(PARTS)"));
        let (its, others): (Vec<&str>, Vec<&str>) = guards.partition(|l| l.contains(&own));
        assert_eq!(its.len(), others.len(), "{its:?} {others:?}");
        cases += its.len();
    }
    assert!(cases >= 2, "{cases}");
}
