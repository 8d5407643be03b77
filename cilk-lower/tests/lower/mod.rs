//! The lowering: what it makes of programs in the IR's text and of sources, and that the interpreter and the simulator come to the same.

mod apart;
mod arrays;
mod bounds;
mod held;
mod kernels;
pub(crate) mod programs;
mod simulate;
mod source;
mod spawns;
mod tables;
mod turns;
mod wide;

use apart::apart;
use millstream_cilk_lower::lower::{check::check, decide::decide, lower};
use millstream_graph::graph::{Drawing, Graph};
use millstream_graph::{
    interp::{ArgValue, Interp},
    ir::{
        Block, BlockId, Function, LocalId, Program, Rvalue, SegmentId, StmtKind, TaskId, Terminator,
    },
    levelized::{Levelized, LoweredTask, StackRole, Tasks},
    text::{parse_program, print_levelized, print_program},
};
use programs::*;
use simulate::Simulation;
use spawns::missing_spawns;

/// An argument, before there is memory for it.
#[derive(Clone, Debug)]
enum In {
    /// A scalar's bits.
    Bits(u64),
    /// A slice of `u64`.
    Slice(Vec<u64>),
    /// An array.
    Array(Vec<u8>),
}

fn args(values: &[In], mut alloc: impl FnMut(Vec<u8>) -> u64) -> (Vec<ArgValue>, Vec<u64>) {
    let (mut out, mut buffers) = (Vec::new(), Vec::new());
    for value in values {
        match value {
            In::Bits(bits) => out.push(ArgValue::Scalar(*bits)),
            In::Array(bytes) => out.push(ArgValue::Blob(bytes.clone())),
            In::Slice(words) => {
                buffers.push(alloc(words.iter().flat_map(|w| w.to_le_bytes()).collect()));
                out.push(ArgValue::Scalar(buffers[buffers.len() - 1]));
                out.push(ArgValue::Scalar(words.len() as u64));
            }
        }
    }
    (out, buffers)
}

/// What came of a run: the result, every buffer, how many tasks ran.
type Outcome = (Vec<u8>, Vec<Vec<u8>>, u64);

/// Runs a task in the interpreter.
fn interpreted(program: &Program, task: &str, values: &[In]) -> Outcome {
    let mut interp = Interp::new(program);
    let (args, buffers) = args(values, |bytes| interp.alloc(bytes, 8));
    let result = interp.call(program.find(task).unwrap(), &args).unwrap();
    let buffers = buffers.iter().map(|b| interp.read(*b).to_vec());
    (result, buffers.collect(), interp.stats().tasks)
}

/// Runs a lowered task in the simulator, where restart points find no room as the seed says: with 0 all find some.
fn simulated(lowered: &Levelized, task: &str, values: &[In], seed: u64) -> Outcome {
    let simulation = Simulation::new(lowered);
    let mut machine = simulation.machine();
    if seed > 0 {
        machine.short_of_room(seed);
    }
    let (args, buffers) = args(values, |bytes| machine.alloc(bytes, 8));
    let result = machine
        .call(task, &args)
        .unwrap_or_else(|e| panic!("{e}\n{}", print_levelized(lowered)));
    let buffers = buffers.iter().map(|b| machine.read(*b).to_vec());
    (result, buffers.collect(), machine.stats().tasks)
}

/// Runs a task in the interpreter and, lowered, in the simulator, as it is for either kind of device: all come to the same, also where restart points
/// find no room.
fn agrees(program: &Program, task: &str, values: &[In]) -> Vec<u8> {
    let [narrow, wide] = [false, true].map(|w| agrees_decided(&decide(program, w), task, values));
    assert_eq!(narrow, wide);
    narrow
}

fn agrees_decided(program: &Program, task: &str, values: &[In]) -> Vec<u8> {
    let lowered = lower(program).unwrap();
    let expected = interpreted(program, task, values);
    for seed in 0..4 {
        assert_eq!(
            simulated(&lowered, task, values, seed),
            expected,
            "{seed}\n{}",
            print_levelized(&lowered)
        );
    }
    expected.0
}

fn parsed(source: &str) -> Program {
    parse_program(source).unwrap_or_else(|e| panic!("{e}"))
}

fn lowered(source: &str) -> Levelized {
    lower(&parsed(source)).unwrap()
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap())
}

#[test]
fn fib_is_two_segments_and_its_base_case_takes_no_frame() {
    insta::assert_snapshot!(print_levelized(&lowered(FIB)));
    assert_eq!(number(&agrees(&parsed(FIB), "fib", &[In::Bits(12)])), 144);
    let lowered = lowered(FIB);
    let simulation = Simulation::new(&lowered);
    let mut machine = simulation.machine();
    machine.call("fib", &[ArgValue::Scalar(10)]).unwrap();
    let stats = machine.stats();
    assert_eq!(
        (stats.tasks, stats.continuations, stats.frames, stats.levels),
        (177, 88, 88, 10)
    );
}

#[test]
fn several_syncs() {
    for n in 0..9 {
        agrees(&parsed(SYNCS), "chain", &[In::Bits(n)]);
    }
    assert_eq!(apart(&lowered(SYNCS)).tasks[0].segments.len(), 4);
}

#[test]
fn sync_in_a_loop() {
    for n in 0..7 {
        assert_eq!(
            number(&agrees(&parsed(SYNC_LOOP), "sum", &[In::Bits(n)])),
            (0..n).map(|i| i * i).sum::<u64>()
        );
    }
}

#[test]
fn spawns_in_a_loop_are_gathered() {
    for n in 0..6 {
        agrees(&parsed(GATHER), "count", &[In::Bits(n)]);
    }
    let lowered = lowered(GATHER);
    let names: Vec<&str> = lowered.tasks().map(|(_, t)| t.name.as_str()).collect();
    assert_eq!(names, ["count", "count+add"]);
    let entry = &apart(&lowered).tasks[0].segments[0];
    let spawned = entry
        .pushes
        .iter()
        .find(|p| matches!(p.stack, StackRole::Entry(_)))
        .unwrap();
    assert_eq!(spawned.max, None);
}

#[test]
fn a_spawn_in_a_branch_then_a_merge() {
    for n in 0..8 {
        agrees(&parsed(BRANCH), "maybe", &[In::Bits(n)]);
    }
}

#[test]
fn an_early_return_after_a_spawn() {
    for n in 0..8 {
        agrees(
            &parsed(EARLY),
            "early",
            &[In::Bits(n), In::Slice(vec![0; 16])],
        );
    }
}

#[test]
fn an_array_lent_to_children() {
    for n in 0..6 {
        agrees(&parsed(LENT), "main", &[In::Bits(n)]);
    }
}

#[test]
fn results_go_to_elements() {
    for n in 0..5 {
        agrees(
            &parsed(ELEMENTS),
            "main",
            &[In::Bits(n), In::Slice(vec![7; 8])],
        );
    }
}

#[test]
fn mutual_recursion() {
    for n in 0..10 {
        agrees(&parsed(MUTUAL), "even", &[In::Bits(n)]);
        agrees(&parsed(MUTUAL), "odd", &[In::Bits(n)]);
    }
}

#[test]
fn arrays_are_passed_by_value() {
    let board: Vec<u8> = vec![0; 8];
    let found = agrees(&parsed(QUEENS), "queens", &[In::Array(board), In::Bits(0)]);
    assert_eq!(number(&found), 4);
    let lowered = lowered(QUEENS);
    // As many children as columns, at most: none has to wait for room.
    let combining = &apart(&lowered).tasks[1];
    assert!(
        combining.frame.is_empty() && combining.segments.len() == 1,
        "{}",
        print_levelized(&lowered)
    );
}

/// Whether a task takes a frame only where it finds no room.
fn frames_are_for_restarts(task: &LoweredTask) -> bool {
    let blocks = &task.segments[0].body.blocks;
    let waits =
        |b: &Block| matches!(b.term, Terminator::Continue(s) if task[s].body.restarts().is_some());
    let frames = |b: &&Block| b.stmts.iter().any(|s| s.kind == StmtKind::FrameAlloc);
    let mut frames = blocks.iter().filter(frames);
    task.segments[0].body.restarts().is_some() && frames.all(waits)
}

#[test]
fn a_parameter_array_that_lives_across_a_sync() {
    agrees(
        &parsed(PARAM_ARRAY),
        "main",
        &[In::Array((1..=16).collect()), In::Bits(1)],
    );
    agrees(
        &parsed(PARAM_ARRAY),
        "main",
        &[In::Array((1..=16).collect()), In::Bits(0)],
    );
}

#[test]
fn pairs_of_results_and_helpers() {
    for n in 0..6 {
        agrees(&parsed(PAIRS), "walk", &[In::Bits(n)]);
    }
}

#[test]
fn a_tail_sync_has_no_continuation() {
    agrees(&parsed(TAIL), "fill", &[In::Slice(vec![0; 9]), In::Bits(0)]);
    assert_eq!(apart(&lowered(TAIL)).tasks[0].segments.len(), 1);
    assert!(apart(&lowered(TAIL)).tasks[0].frame.is_empty());
}

#[test]
fn variables_written_before_between_and_after() {
    for n in 0..8 {
        agrees(&parsed(SHADOW), "main", &[In::Bits(n)]);
    }
}

#[test]
fn the_graph_of_fib_is_the_papers_figure() {
    let lowered = lowered(FIB);
    let drawing = Drawing::new(lowered.graph(), &lowered.program);
    insta::assert_snapshot!(drawing.to_dot());
    let arrows: Vec<_> = drawing.arrows().collect();
    for arrow in [
        ("host", "stack fib (12 B)", "call"),
        ("stack fib (12 B)", "kernel fib", ""),
        ("kernel fib", "stack fib (12 B)", "spawn \u{d7}2"),
        ("kernel fib", "stack fib.1 (4 B)", "continue"),
        ("stack fib.1 (4 B)", "kernel fib.1", ""),
        ("kernel fib", "stack fib.1 (4 B)", "return"),
        ("kernel fib.1", "stack fib.1 (4 B)", "return"),
    ] {
        assert!(arrows.contains(&arrow), "{arrow:?} is not in {arrows:#?}");
    }
    assert_eq!(arrows.len(), 7);
}

#[test]
fn lowered_programs_are_graphs_without_loss() {
    for source in ALL {
        // A graph is one form.
        let mut lowered = lowered(source);
        lowered.wide = None;
        assert_eq!(apart(&lowered).levelized(), lowered);
        let graph = lowered.graph();
        assert_eq!(graph.validate(&lowered.program), []);
        let ron = ron::to_string(graph).unwrap();
        let back: Graph = ron::from_str(&ron).unwrap();
        assert_eq!(back, *graph);
        let text = print_program(&lowered.program).to_string();
        let again = Levelized::new(parse_program(&text).unwrap(), back.clone());
        assert_eq!(again.as_ref(), Ok(&lowered));

        let drawing = Drawing::new(graph, &lowered.program);
        assert_eq!(Drawing::new(&back, &lowered.program), drawing);
        assert!(
            drawing
                .arrows()
                .any(|(from, _, label)| from == "host" && label == "call")
        );
        let roles = lowered.stacks().iter().map(|s| lowered.role(*s));
        let drawn = roles.filter(|s| !matches!(s, StackRole::Frame(_))).count();
        assert_eq!(
            drawing.to_svg().matches("stroke-dasharray=\"6,4\"").count(),
            drawn
        );
        assert_eq!(drawing.to_mermaid().matches(":::channel").count(), drawn);
    }
}

/// Takes out each statement that touches the frame, and each that spawns, one at a time: the checker finds it.
#[test]
fn the_checker_finds_what_is_missing() {
    for source in ALL {
        let good = lowered(source);
        assert_eq!(missing_spawns(&good), []);
        for (t, s, b, i) in statements(&good) {
            let mut bad = apart(&good);
            let stmt = bad.tasks[t].segments[s].body.blocks[b].stmts.remove(i);
            let wanted = match &stmt.kind {
                StmtKind::FrameAlloc => true,
                // Where a local is assigned twice, the old value may stand in for the new one.
                StmtKind::Assign {
                    dst,
                    value: Rvalue::FrameLoad(_) | Rvalue::FrameAddr(_),
                } => {
                    let code = good.segment(TaskId::new(t), SegmentId::new(s)).body;
                    let stmts = code.stmts();
                    stmts.filter(|s| s.kind.def() == Some(*dst)).count() == 1
                }
                StmtKind::FrameStore { .. } => !overwritten(&good, t, &stmt.kind),
                // Of a spawn that stands in two segments, one alone is not missed.
                StmtKind::Spawn { .. } => {
                    spawn_count(apart(&good).tasks[t].segments.iter().map(|s| &s.body))
                        == spawn_count([&good.program[apart(&good).tasks[t].func]])
                }
                _ => false,
            };
            if wanted {
                let bad = bad.levelized();
                assert!(
                    !check(&bad).is_empty() || !missing_spawns(&bad).is_empty(),
                    "{stmt:?} in\n{}",
                    print_levelized(&good)
                );
            }
        }
    }
}

fn spawn_count<'a>(functions: impl IntoIterator<Item = &'a Function>) -> usize {
    let stmts = functions
        .into_iter()
        .flat_map(|f| &f.blocks)
        .flat_map(|b| &b.stmts);
    stmts
        .filter(|s| matches!(s.kind, StmtKind::Spawn { .. }))
        .count()
}

/// Whether a field is written at more than one place, so that one of them may be missed.
fn overwritten(good: &Levelized, task: usize, kind: &StmtKind) -> bool {
    let StmtKind::FrameStore { field, .. } = kind else {
        return false;
    };
    let segments = good.segments(TaskId::new(task));
    let stmts = segments.flat_map(|s| s.body.stmts());
    let writes = stmts.filter(|s| match s.kind {
        StmtKind::FrameStore { field: f, .. } => f == *field,
        StmtKind::Assign {
            value: Rvalue::FrameAddr(f),
            ..
        } => f == *field,
        _ => false,
    });
    writes.count() > 1
}

fn statements(program: &Levelized) -> Vec<(usize, usize, usize, usize)> {
    let mut out = Vec::new();
    for (t, task) in apart(program).tasks.iter().enumerate() {
        for (s, segment) in task.segments.iter().enumerate() {
            for (b, block) in segment.body.blocks.iter().enumerate() {
                out.extend((0..block.stmts.len()).map(|i| (t, s, b, i)));
            }
        }
    }
    out
}

#[test]
fn the_checker_finds_what_is_wrong() {
    let good = lowered(FIB);
    let broken = |edit: &dyn Fn(&mut Tasks)| {
        let mut bad = apart(&good);
        edit(&mut bad);
        check(&bad.levelized())
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    };
    insta::assert_snapshot!(broken(&|p| {
        let block = &mut p.tasks[0].segments[0].body.blocks[2];
        let alloc = block.stmts.iter().position(|s| s.kind == StmtKind::FrameAlloc).unwrap();
        block.stmts.insert(alloc, block.stmts[alloc].clone());
    }), @"`fib`: the frame may be reserved twice");
    insta::assert_snapshot!(broken(&|p| p.tasks[0].segments[1].body.blocks[0].term = Terminator::Continue(SegmentId(2))),
        @"`fib.1`: continues at s2, which is no continuation");
    insta::assert_snapshot!(broken(&|p| p.tasks[0].segments[0].body.blocks[2].term = Terminator::Sync(BlockId(1))), @"`fib`: a sync is left");
    insta::assert_snapshot!(broken(&|p| p.tasks[0].element.swap(0, 1)), @"
    `fib`: the arguments are not the fields of the element
    `fib`: gives [U32, Ptr] to `fib`, which takes [Ptr, U32]
    `fib`: gives [U32, Ptr] to `fib`, which takes [Ptr, U32]
    ");
    insta::assert_snapshot!(broken(&|p| p.tasks[0].segments[1].ret = Some(LocalId(1))), @"`fib.1`: %1 of type u64 is no address");
}

/// A pass that broke a rule would leave such a program.
#[test]
#[should_panic(expected = "`simplify` left a wrong program: t, b0, `return %0`: %0 is used before")]
fn what_a_pass_leaves_is_verified() {
    let text = "program p in \"p.rs\" task t() -> u32 { let %0: u32 b0: return %0 }";
    let program = millstream_graph::text::parse_program(text).unwrap();
    drop(lower(&program));
}
