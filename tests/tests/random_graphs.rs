//! Random graphs of kernels: the interpreter, devices and rustc make the same of them.
//!
//! `MILLSTREAM_GRAPHS` says how many, `MILLSTREAM_EMULATED` how many on the emulated GPU, `MILLSTREAM_SEED` from which seed on, `MILLSTREAM_SHOW=1` shows them.

use millstream_tests::{
    emulator,
    random::{
        Choices, Devices, GraphSample, Verdict, check_graph, elision_head, elision_module,
        emulate_graph, generate_graph, graph_elision, shrink,
    },
};
use std::{
    env, fs,
    panic::{AssertUnwindSafe, catch_unwind},
    process::Command,
};

fn setting(name: &str, default: u64) -> u64 {
    let value = env::var(name).ok();
    value.map_or(default, |v| v.parse().unwrap())
}

fn describe(sample: &GraphSample) -> String {
    let mut out = sample.source.clone();
    for (name, element) in &sample.channels {
        out += &format!("// channel {name}: {element}\n");
    }
    for n in &sample.nodes {
        out += &format!(
            "// {}: {} consumes {} produces {:?} args {:?}\n",
            n.name, n.kernel, n.consumes, n.produces, n.args
        );
    }
    out + &format!("// first: {:?}\n", sample.first)
}

fn verdict(sample: &GraphSample, seed: u64, devices: &mut Devices) -> Verdict {
    catch_unwind(AssertUnwindSafe(|| check_graph(sample, seed, devices))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Verdict::Failed(format!("panic: {}", text.unwrap_or_default()))
    })
}

/// The graph that fails, made smaller.
fn smaller(choices: &Choices, seed: u64, devices: &mut Devices) -> String {
    let mut last = String::new();
    shrink(choices.made(), 2000, |list| {
        let sample = generate_graph(&mut Choices::given(list.to_vec()));
        match verdict(&sample, seed, devices) {
            Verdict::Failed(message) => {
                last = format!("{message}\n{}", describe(&sample));
                true
            }
            _ => false,
        }
    });
    last
}

#[test]
fn every_engine_agrees() {
    let (first, cases) = (
        setting("MILLSTREAM_SEED", 1),
        setting("MILLSTREAM_GRAPHS", 150),
    );
    let mut devices = Devices::default();
    let (mut agreed, mut too_long, mut faults, mut ran) = (0, 0, 0, 0);
    for seed in first..first + cases {
        let mut choices = Choices::seeded(seed);
        let sample = generate_graph(&mut choices);
        if setting("MILLSTREAM_SHOW", 0) != 0 {
            println!("// seed {seed}\n{}", describe(&sample));
        }
        match verdict(&sample, seed, &mut devices) {
            Verdict::Agreed { tasks, fault, .. } => {
                agreed += 1;
                ran += tasks;
                faults += u64::from(fault);
            }
            Verdict::TooLong => too_long += 1,
            Verdict::Failed(message) => panic!(
                "seed {seed}: {message}\n{}\n--- smaller: {}",
                describe(&sample),
                smaller(&choices, seed, &mut devices)
            ),
        }
    }
    println!(
        "{agreed} graphs, {ran} elements and tasks, {faults} with a fault, {too_long} too long"
    );
    if cases >= 100 {
        assert!(agreed * 10 > cases * 8, "too few graphs end");
        assert!(ran > 20 * cases, "the graphs are too tame: {ran}");
        assert!(faults > 0, "no check ever fails");
    }
}

/// The same on the emulator of a GPU. A C++ compiler reads each.
#[test]
fn the_emulated_gpu_agrees() {
    if !emulator::is_there() {
        return eprintln!("SKIPPED: no C++ compiler");
    }
    let (first, cases) = (
        setting("MILLSTREAM_SEED", 1),
        setting("MILLSTREAM_EMULATED", 5),
    );
    let mut ran = 0;
    for seed in first..first + cases {
        let sample = generate_graph(&mut Choices::seeded(seed));
        match emulate_graph(&sample, seed) {
            Ok(elements) => ran += elements.unwrap_or(0),
            Err(message) => panic!("seed {seed}: {message}\n{}", describe(&sample)),
        }
    }
    println!("{cases} graphs, {ran} elements");
    assert!(ran > 4 * cases, "the graphs are too tame: {ran}");
}

/// What the serial elision finds of the facade.
const CHANNELS: &str = concat!(
    "mod channel {\n",
    include_str!("../../src/channel.rs"),
    "}\n",
    "pub trait TaskValue: Sized { const SIZE: usize = 0; fn read(_: &[u8]) -> Self { unsafe { std::mem::zeroed() } } }\n",
    "impl<T> TaskValue for T {}\n"
);

/// rustc takes the kernels too, and their graph by the serial elision agrees with the interpreter.
#[test]
fn the_serial_elision_agrees() {
    let rustc = || Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    if rustc().arg("--version").output().is_err() {
        return eprintln!("SKIPPED: no rustc");
    }
    let (first, cases) = (
        setting("MILLSTREAM_SEED", 1),
        setting("MILLSTREAM_ELISIONS", 50),
    );
    let mut text = elision_head() + CHANNELS;
    let (mut calls, mut expected) = (String::new(), Vec::new());
    for seed in first..first + 3 * cases {
        if expected.len() as u64 >= cases {
            break;
        }
        let sample = generate_graph(&mut Choices::seeded(seed));
        let Some((module, outcome)) = graph_elision(&sample) else {
            continue;
        };
        text += &elision_module(seed, &module);
        calls += &format!("    p{seed}::calls();\n");
        expected.push((seed, outcome));
    }
    text += &format!("fn main() {{\n{calls}}}\n");
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("elision.rs"), text).unwrap();
    let compiled = rustc()
        .args(["--edition", "2024", "--cap-lints", "allow"])
        .args(["-C", "overflow-checks=off", "-C", "debuginfo=0", "-o"])
        .args([at("elision"), at("elision.rs")])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{said}");
    let output = Command::new(at("elision")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let found = String::from_utf8(output.stdout).unwrap();
    assert_eq!(found.lines().count(), expected.len());
    for ((seed, expected), found) in expected.iter().zip(found.lines()) {
        assert_eq!(
            expected,
            found,
            "seed {seed}: the interpreter and rustc\n{}",
            describe(&generate_graph(&mut Choices::seeded(*seed)))
        );
    }
    assert!(
        expected.len() as u64 >= cases * 8 / 10,
        "only {} graphs",
        expected.len()
    );
}
