//! The generated text, compiled for this computer and run with a thread for each CUDA thread, does what the interpreter does: bodies,
//! reservations, both aggregators and their barriers. Needs a C++ compiler, as `c++` or `CXX`; is skipped aloud without.

use super::*;
use crate::cuda::{
    abi::{Control, Dispatch, Mailbox, status},
    arena::Arena,
    policy::{Decision, Done, Policy, Run},
};
use millstream_graph::{
    interp::{ArgValue, Interp},
    ir::Program,
    levelized::StackRef,
    ty::PieceKind,
};
use std::{collections::BTreeMap, path::PathBuf, process::Command, sync::Mutex};

/// The kernels of a program on this computer.
struct Emulated {
    program: Program,
    plan: Plan,
    library: libloading::Library,
}

type Start = unsafe extern "C" fn(*const u8, usize, *mut u8, u32, u32);
type Launch = unsafe extern "C" fn(u32, *const u32, u32);

/// How a run is done.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Aggregator {
    Persistent {
        blocks: u32,
    },
    Host {
        blocks: u32,
    },
    /// A block as long as it can, then the host for so many dispatches.
    Mixed {
        blocks: u32,
        dispatches: u32,
    },
}

const ALL: [Aggregator; 6] = [
    Aggregator::Persistent { blocks: 1 },
    Aggregator::Persistent { blocks: 3 },
    Aggregator::Host { blocks: 1 },
    Aggregator::Host { blocks: 2 },
    Aggregator::Mixed {
        blocks: 2,
        dispatches: 1,
    },
    Aggregator::Mixed {
        blocks: 1,
        dispatches: 4,
    },
];

pub(super) fn compiler() -> String {
    std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned())
}

/// Compiles a program; none, and a line on stderr, where there is no compiler.
fn emulated(text: &str, budget: u64) -> Option<Emulated> {
    if Command::new(compiler()).arg("--version").output().is_err() {
        eprintln!("SKIPPED: no C++ compiler");
        return None;
    }
    let (program, plan) = planned(text, budget);
    let mut source = include_str!("emulate.h").to_owned();
    source += &generate(
        &plan,
        Options {
            lines: false,
            ..Options::default()
        },
    )
    .source;
    source += "\nextern \"C\" void start_persistent(const char* channels, size_t size, char* dispatch, unsigned blocks, unsigned small) {\n  memcpy((void*)&ch, channels, size);\n  launch(blocks, [=] { persistent((Dispatch*)dispatch, small); });\n}\n";
    source += "extern \"C\" void start_dispatch_of(unsigned source, const unsigned* dispatch, unsigned blocks) {\n  const Dispatch d = *(const Dispatch*)dispatch;\n  switch (source) {\n";
    for i in 0..plan.sources.len() + usize::from(plan.gives_back()) {
        source += &format!("    case {i}: launch(blocks, [&] {{ dispatch_{i}(d); }}); break;\n");
    }
    source += "  }\n}\nextern \"C\" void set_channels(const char* channels, size_t size) { memcpy((void*)&ch, channels, size); }\n";
    let folder = tempfile::tempdir().unwrap();
    let (from, to): (PathBuf, PathBuf) = (
        folder.path().join("program.cpp"),
        folder.path().join("program.so"),
    );
    std::fs::write(&from, &source).unwrap();
    let output = Command::new(compiler())
        .args([
            "-std=c++20",
            "-O1",
            "-shared",
            "-fPIC",
            "-pthread",
            "-w",
            "-fno-strict-aliasing",
            "-ffp-contract=off",
            "-o",
        ])
        .args([&to, &from])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}\n{source}",
        String::from_utf8_lossy(&output.stderr)
    );
    // SAFETY: the library was just made from the text above.
    let library = unsafe { libloading::Library::new(&to) }.unwrap();
    Some(Emulated {
        program,
        plan,
        library,
    })
}

/// What came of a run.
#[derive(Debug)]
struct Outcome {
    control: Control,
    results: Vec<u8>,
    tasks: u64,
    levels: u32,
    elements: Vec<u64>,
    /// Elements that found no room at first, as the host saw it.
    given_back: u64,
}

// The text's globals stand for the device's: one run at a time.
static ONE: Mutex<()> = Mutex::new(());

impl Emulated {
    fn run(&self, task: &str, args: &[Vec<Vec<u8>>], budget: u64, how: Aggregator) -> Outcome {
        let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
        let plan = &self.plan;
        let entry = plan.program.find(task).unwrap();
        let arena =
            Arena::new(plan, budget, entry, args.len() as u64).expect("a budget that is enough");
        // What is not zeroed holds anything.
        let mut memory =
            vec![u128::from_ne_bytes([0xa5; 16]); (arena.size as usize).div_ceil(16) + 16];
        let start = memory.as_mut_ptr().cast::<u8>();
        // SAFETY: there are 256 bytes to spare.
        let start = unsafe { start.add(start.align_offset(128)) };
        // SAFETY: inside the block.
        unsafe { start.write_bytes(0, arena.zeroed as usize) };
        let base = start as u64;
        let write = |offset: u64, bytes: &[u8]| {
            assert!(offset + bytes.len() as u64 <= arena.size);
            // SAFETY: inside the block.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    bytes.as_ptr(),
                    start.add(offset as usize),
                    bytes.len(),
                )
            };
        };
        let read = |offset: u64, size: u64| -> Vec<u8> {
            assert!(offset + size <= arena.size);
            // SAFETY: inside the block.
            unsafe { std::slice::from_raw_parts(start.add(offset as usize), size as usize) }
                .to_vec()
        };
        let (dispatch, told) = (Dispatch::new(plan), Mailbox::new(plan));
        let (mut cancel, mut mailbox) = (0u32, told.zeroed());
        let control = Control {
            max_depth: 1000,
            watchdog: 2_000_000_000,
            cancel: (&raw mut cancel) as u64,
            mailbox: mailbox.as_mut_ptr() as u64,
            ..arena.control(base)
        };
        // SAFETY: the record is plain words.
        write(arena.control, unsafe {
            std::slice::from_raw_parts((&raw const control).cast::<u8>(), size_of::<Control>())
        });
        for (offset, bytes) in arena.root_elements(plan, base, args) {
            write(offset, &bytes);
        }
        let channels = arena.channels(base);
        // SAFETY: the text defines them so.
        let (set, start_persistent, launch) = unsafe {
            (
                self.library
                    .get::<unsafe extern "C" fn(*const u8, usize)>(b"set_channels")
                    .unwrap(),
                self.library.get::<Start>(b"start_persistent").unwrap(),
                self.library.get::<Launch>(b"start_dispatch_of").unwrap(),
            )
        };
        // SAFETY: as long as it says.
        unsafe { set(channels.as_ptr(), channels.len()) };
        let bytes_of = |words: Vec<u32>| {
            words
                .into_iter()
                .flat_map(u32::to_le_bytes)
                .collect::<Vec<u8>>()
        };
        let words_at = |offset, bytes| -> Vec<u32> {
            read(offset, bytes)
                .chunks(4)
                .map(|c| u32::from_le_bytes(c.try_into().unwrap()))
                .collect()
        };
        let stack = plan.number_of(StackRef::Entry(entry), false);
        let mut policy =
            Policy::new(plan, &arena.capacities, stack, args.len() as u32, 0).with_block(8);
        let (blocks, device, period) = match how {
            Aggregator::Persistent { blocks } => (blocks, Some((blocks, 0)), 1),
            Aggregator::Host { blocks } => (blocks, None, 1),
            Aggregator::Mixed { blocks, dispatches } => (blocks, Some((1, 1)), dispatches),
        };
        let (mut number, mut by_host, mut pending) = (0, 0, None);
        let (mut full, mut given_back) = (None, 0);
        loop {
            number += 1;
            if let Some((blocks, small)) = device
                && policy.rests()
                && by_host % period == 0
            {
                write(arena.standing, &bytes_of(policy.standing()));
                for (level, record) in (0..).map_while(|l| Some((l, policy.record(l as usize)?))) {
                    write(
                        arena.records + level * plan.record_bytes(),
                        &bytes_of(record),
                    );
                }
                // SAFETY: the block is laid out as the text expects.
                unsafe {
                    start_persistent(
                        channels.as_ptr(),
                        channels.len(),
                        start.add(arena.dispatch as usize),
                        blocks,
                        small,
                    )
                };
                let standing = words_at(arena.standing, plan.standing_bytes());
                policy.resume(
                    &standing,
                    &words_at(
                        arena.records,
                        plan.record_bytes() * Policy::reached(plan, &standing) as u64,
                    ),
                );
                // SAFETY: the record is plain words, and lies aligned in the block.
                if unsafe { start.add(arena.control as usize).cast::<Control>().read() }.over == 0 {
                    break;
                }
                pending = Some(Decision::Run(Run::from_words(
                    plan,
                    &words_at(arena.dispatch, 4 * plan.dispatch_words() as u64),
                )));
            }
            by_host += 1;
            let (run, mut words) = match pending.take().unwrap_or_else(|| policy.decide()) {
                Decision::Run(run) => (Some(run.clone()), run.words(plan, number)),
                Decision::Move(words) => (None, words),
                Decision::Done => break,
                Decision::Full(stack) => {
                    full = Some(stack);
                    break;
                }
            };
            // Now and then there is said to be hardly any room, so that tiles are given back.
            if let Some(run) = &run
                && let Some(loose) = plan.sources[run.source]
                    .pushes
                    .iter()
                    .position(|p| p.max.is_none())
                && plan.sources[run.source].gives_back()
                && run.count > 8
                && number % 3 != 0
            {
                let mut room = dispatch.room.all(&words);
                room[loose] = room[loose].min(40);
                dispatch.room.fill(&mut words, &room);
            }
            // SAFETY: the block is laid out as the text expects, the record has all its words.
            unsafe { launch(dispatch.source.get(&words), words.as_ptr(), blocks) };
            assert_eq!(told.number.get(&mailbox), number);
            if told.status.get(&mailbox) != status::OK {
                break;
            }
            if let Some(run) = run {
                let done = Done::from_words(plan, &mailbox);
                given_back += u64::from(done.left);
                policy.take(&run, &done, number + 1);
            }
        }
        let consumed = plan
            .sources
            .iter()
            .zip(policy.consumed())
            .filter(|(source, _)| source.is_entry());
        // Children that ended where they were spawned, by stack and by level.
        let leaves = read(
            arena.leaves,
            8 * (plan.stacks.len() as u64 + u64::from(arena.levels) + 1),
        );
        let leaves: Vec<u64> = leaves
            .chunks(8)
            .map(|n| u64::from_le_bytes(n.try_into().unwrap()))
            .collect();
        let (leaves, leaves_at) = leaves.split_at(plan.stacks.len());
        let tasks = consumed.map(|(_, n)| n).chain(leaves).sum::<u64>();
        let (levels, elements) = (policy.levels(), policy.elements());
        let at_level = |l: usize| elements.get(l).unwrap_or(&0) + leaves_at[l];
        let elements: Vec<u64> = (0..leaves_at.len())
            .map(at_level)
            .take_while(|n| *n > 0)
            .collect();
        // SAFETY: the record is plain words, and lies aligned in the block.
        let mut control = unsafe { start.add(arena.control as usize).cast::<Control>().read() };
        if let Some(stack) = full {
            (control.status, control.site) = (status::CHANNEL_FULL, stack);
        }
        Outcome {
            control,
            results: read(arena.results, arena.result.size * args.len() as u64),
            tasks,
            levels,
            elements,
            given_back,
        }
    }
}

/// An argument: scalars by their bytes, memory by its words.
#[derive(Clone, Debug)]
enum In {
    U32(u32),
    U64(u64),
    F32(f32),
    F64(f64),
    Array(Vec<u8>),
    Memory(Vec<u8>, u64),
}

/// Runs a call in the interpreter and on the emulated device: results, memory and the number of tasks are the same.
fn agrees(device: &Emulated, task: &str, args: &[In], budget: u64) {
    let mut interp = Interp::new(&device.program);
    let (mut for_interp, mut allocated) = (Vec::new(), Vec::new());
    for arg in args {
        match arg {
            In::U32(x) => for_interp.push(ArgValue::Scalar((*x).into())),
            In::U64(x) => for_interp.push(ArgValue::Scalar(*x)),
            In::F32(x) => for_interp.push(ArgValue::Scalar(x.to_bits().into())),
            In::F64(x) => for_interp.push(ArgValue::Scalar(x.to_bits())),
            In::Array(bytes) => for_interp.push(ArgValue::Blob(bytes.clone())),
            In::Memory(bytes, length) => {
                allocated.push((interp.alloc(bytes.clone(), 8), bytes.clone()));
                for_interp.push(ArgValue::Scalar(allocated[allocated.len() - 1].0));
                for_interp.push(ArgValue::Scalar(*length));
            }
        }
    }
    let expected = interp
        .call(device.program.find(task).unwrap(), &for_interp)
        .unwrap();
    for how in ALL {
        let mut memories: Vec<Vec<u64>> = Vec::new();
        let mut pieces: Vec<Vec<u8>> = Vec::new();
        for arg in args {
            match arg {
                In::U32(x) => pieces.push(x.to_le_bytes().to_vec()),
                In::U64(x) => pieces.push(x.to_le_bytes().to_vec()),
                In::F32(x) => pieces.push(x.to_le_bytes().to_vec()),
                In::F64(x) => pieces.push(x.to_le_bytes().to_vec()),
                In::Array(bytes) => pieces.push(bytes.clone()),
                In::Memory(bytes, length) => {
                    let words = bytes.chunks(8).map(|c| {
                        let mut word = [0; 8];
                        word[..c.len()].copy_from_slice(c);
                        u64::from_le_bytes(word)
                    });
                    memories.push(words.collect());
                    pieces.push(
                        (memories[memories.len() - 1].as_ptr() as u64)
                            .to_le_bytes()
                            .to_vec(),
                    );
                    pieces.push(length.to_le_bytes().to_vec());
                }
            }
        }
        // Bool parameters take one byte.
        let element = &device.plan.program[device.plan.program.find(task).unwrap()].element;
        for (piece, field) in pieces.iter_mut().zip(element) {
            if let PieceKind::Scalar(s) = field.kind {
                piece.truncate(s.size() as usize);
            }
        }
        let outcome = device.run(task, &[pieces], budget, how);
        assert_eq!(outcome.control.status, status::OK, "{how:?} {outcome:?}");
        assert_eq!(outcome.results, expected, "{how:?} {args:?}");
        assert_eq!(outcome.tasks, interp.stats().tasks, "{how:?} {args:?}");
        assert_eq!(
            outcome.tasks,
            outcome.elements.iter().sum::<u64>(),
            "{how:?} {args:?}"
        );
        for ((address, bytes), words) in allocated.iter().zip(&memories) {
            let found: Vec<u8> = words
                .iter()
                .flat_map(|w| w.to_le_bytes())
                .take(bytes.len())
                .collect();
            assert_eq!(interp.read(*address), found, "{how:?} {args:?}");
        }
    }
}

const MEBI: u64 = 1 << 20;

#[test]
fn fib_with_much_and_with_little_memory() {
    let Some(device) = emulated(shared::FIB, MEBI) else {
        return;
    };
    for n in [0, 1, 2, 9] {
        agrees(&device, "fib", &[In::U32(n)], MEBI);
    }
    // Little: runs are short, levels are left and taken up again.
    agrees(&device, "fib", &[In::U32(13)], 24 << 10);
}

#[test]
fn levels_of_one_task_each() {
    let Some(device) = emulated(programs::CHAIN, MEBI) else {
        return;
    };
    // Fewer and more levels than lie in shared memory.
    for n in [1, 3, 4, 5, 6, 30] {
        agrees(&device, "chain", &[In::U32(n), In::U64(7)], MEBI);
        agrees(&device, "again", &[In::U32(n), In::U64(5)], MEBI);
    }
}

#[test]
fn both_aggregators_take_the_same_decisions() {
    let Some(device) = emulated(programs::QUEENS, MEBI) else {
        return;
    };
    let args = vec![
        vec![0xffu32, 0, 0, 0]
            .into_iter()
            .map(|x| x.to_le_bytes().to_vec())
            .collect::<Vec<_>>(),
    ];
    let (mut seen, mut given_back) = (BTreeMap::new(), 0);
    // With little memory tiles find no room, and are given back.
    for (how, budget) in ALL
        .into_iter()
        .flat_map(|how| [MEBI, 120 << 10, 100 << 10].map(|budget| (how, budget)))
    {
        let outcome = device.run("queens", &args, budget, how);
        assert_eq!(outcome.control.status, status::OK, "{outcome:?}");
        println!("{how:?} {budget}: {} given back", outcome.given_back);
        given_back += outcome.given_back;
        assert_eq!(outcome.results, 92u64.to_le_bytes());
        seen.insert(
            format!("{how:?} {budget}"),
            (outcome.tasks, outcome.levels, outcome.elements),
        );
    }
    assert!(given_back > 0, "tiles that found no room were tried");
    let first = seen.values().next().unwrap().clone();
    assert!(seen.values().all(|s| *s == first), "{seen:?}");
}

#[test]
fn a_batch_of_roots() {
    let Some(device) = emulated(shared::FIB, MEBI) else {
        return;
    };
    let args: Vec<Vec<Vec<u8>>> = (0..20u32)
        .map(|n| vec![(n % 9).to_le_bytes().to_vec()])
        .collect();
    for how in ALL {
        let outcome = device.run("fib", &args, MEBI, how);
        let found: Vec<u64> = outcome
            .results
            .chunks(8)
            .map(|c| u64::from_le_bytes(c.try_into().unwrap()))
            .collect();
        let expected: Vec<u64> = (0..20)
            .map(|n| [0, 1, 1, 2, 3, 5, 8, 13, 21][n % 9])
            .collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn syncs_loops_and_branches() {
    for (text, task, most) in [
        (shared::SYNCS, "chain", 5),
        (shared::SYNC_LOOP, "sum", 6),
        (shared::GATHER, "count", 5),
        (shared::BRANCH, "maybe", 6),
    ] {
        let Some(device) = emulated(text, MEBI) else {
            return;
        };
        for n in [0, 1, most] {
            agrees(&device, task, &[In::U64(n)], MEBI);
        }
    }
}

#[test]
fn results_in_elements_structs_and_lent_arrays() {
    let memory = |n: usize, fill: u64| {
        In::Memory((0..n).flat_map(|_| fill.to_le_bytes()).collect(), n as u64)
    };
    for (text, task, args) in [
        (shared::EARLY, "early", vec![In::U64(5), memory(16, 0)]),
        (shared::LENT, "main", vec![In::U64(4)]),
        (shared::ELEMENTS, "main", vec![In::U64(4), memory(8, 7)]),
        (shared::MUTUAL, "even", vec![In::U32(7)]),
        (
            shared::QUEENS,
            "queens",
            vec![In::Array(vec![0; 8]), In::U64(5)],
        ),
        (
            shared::PARAM_ARRAY,
            "main",
            vec![In::Array((1..=16).collect()), In::U32(1)],
        ),
        (shared::PAIRS, "walk", vec![In::U64(4)]),
        (shared::TAIL, "fill", vec![memory(9, 0), In::U64(0)]),
        (shared::SHADOW, "main", vec![In::U64(5)]),
    ] {
        let Some(device) = emulated(text, MEBI) else {
            return;
        };
        agrees(&device, task, &args, MEBI);
    }
}

#[test]
fn arithmetic_at_the_edges() {
    let Some(device) = emulated(programs::OPS, MEBI) else {
        return;
    };
    let ints = [0u32, 1, u32::MAX, 0x8000_0000, 0x7fff_ffff, 77];
    let floats = [0.0, -0.5, 2.5, 1e300, f64::NAN, f64::INFINITY, -3e9];
    for (i, a) in ints.iter().enumerate() {
        for (j, x) in floats.iter().enumerate() {
            let b = ints[(i + j) % ints.len()] >> (j % 3);
            let args = [
                In::U32(*a),
                In::U32(b),
                In::U32(7 * j as u32),
                In::F64(*x),
                In::F32(*x as f32),
            ];
            agrees(&device, "ops", &args, MEBI);
        }
    }
}

#[test]
fn helpers_and_atomics() {
    let Some(device) = emulated(programs::HELPERS, MEBI) else {
        return;
    };
    for n in [0, 1, 2, 4, 5] {
        agrees(&device, "main", &[In::U32(n)], MEBI);
    }
    let Some(device) = emulated(programs::ATOMICS, MEBI) else {
        return;
    };
    let args = [
        In::U32(12),
        In::Memory(vec![0; 20], 5),
        In::Memory(vec![3; 7], 7),
        In::Memory(vec![0; 16], 2),
    ];
    agrees(&device, "spread", &args, MEBI);
}

#[test]
fn runs_that_fail_say_why_and_end() {
    let Some(device) = emulated(programs::FAULTS, MEBI) else {
        return;
    };
    let cells = [1u32, 2, 3, 4];
    for how in ALL {
        let args = vec![
            9u64.to_le_bytes().to_vec(),
            (cells.as_ptr() as u64).to_le_bytes().to_vec(),
            4u64.to_le_bytes().to_vec(),
        ];
        let outcome = device.run("index", &[args], MEBI, how);
        assert_eq!(
            (outcome.control.status, outcome.control.values),
            (status::FAULT, [9, 4])
        );
        let outcome = device.run("spin", &[vec![vec![0; 4]]], MEBI, how);
        assert_eq!(outcome.control.status, status::WATCHDOG);
    }
    for how in &ALL {
        let outcome = device.run("endless", &[vec![vec![0; 4]]], 40 << 10, *how);
        assert!(
            matches!(
                outcome.control.status,
                status::CHANNEL_FULL | status::LEVELS_FULL
            ),
            "{outcome:?}"
        );
    }
}
