//! Small programs, written as IR: the CUDA text of each does what the interpreter does, by every aggregator, with the same number of tasks.

use super::programs;
use crate::lower::programs as shared;
use millstream_aggregator::{
    Aggregator, ErasedArg, ErasedCall, RunError, RunReport, timeline::What,
};
use millstream_cilk_lower::lower::lower;
use millstream_graph::{
    interp::{ArgValue, Interp},
    ir::Program,
    text::parse_program,
};
use millstream_tests::{
    emulator::{self, Emulator, How},
    engine::launch,
    value::Piece,
};
use std::time::Duration;

/// The kernels of a program on this computer.
pub(super) struct Emulated {
    program: Program,
    pub(super) kernels: Emulator,
}

/// Every aggregator, with one block and with several; and how often the persistent kernel is asked for before it is there.
const ALL: [(Aggregator, u32, u32); 8] = [
    (Aggregator::Persistent, 1, 0),
    (Aggregator::Persistent, 3, 0),
    (Aggregator::HostThread, 1, 0),
    (Aggregator::HostThread, 2, 0),
    (Aggregator::Auto, 1, 0),
    (Aggregator::Auto, 3, 0),
    (Aggregator::Auto, 2, 1),
    (Aggregator::Auto, 2, u32::MAX),
];

/// Compiles a program; none, and a line on stderr, where there is no compiler.
pub(super) fn emulated(text: &str) -> Option<Emulated> {
    if !emulator::is_there() {
        return None;
    }
    let program = parse_program(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    millstream_graph::verify::verify(&program).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let kernels = Emulator::new(&lower(&program).unwrap()).unwrap_or_else(|e| panic!("{e}"));
    Some(Emulated { program, kernels })
}

impl Emulated {
    pub(super) fn launch(
        &mut self,
        how: How,
        task: &str,
        calls: &mut [ErasedCall<'_>],
    ) -> Result<RunReport, RunError> {
        let task = self.kernels.plan().program.find(task).unwrap();
        self.kernels.launch(how, task, calls)
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

/// Runs a call in the interpreter and on the emulated device: results, memory and the number of tasks are the same. How many decisions were
/// compared.
fn agrees(device: &mut Emulated, task: &str, args: &[In], memory: u64) -> u64 {
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
                allocated.push((interp.alloc(bytes.clone(), 8), bytes.len()));
                for_interp.push(ArgValue::Scalar(allocated[allocated.len() - 1].0));
                for_interp.push(ArgValue::Scalar(*length));
            }
        }
    }
    let expected = interp
        .call(device.program.find(task).unwrap(), &for_interp)
        .unwrap();
    let tasks = interp.stats().tasks;
    let after: Vec<Vec<u8>> = allocated
        .iter()
        .map(|(address, len)| interp.read(*address)[..*len].to_vec())
        .collect();
    let mut compared = 0;
    for (aggregator, blocks, late) in ALL {
        let pieces = args.iter().flat_map(|arg| match arg {
            In::U32(x) => vec![Piece::Scalar((*x).into())],
            In::U64(x) => vec![Piece::Scalar(*x)],
            In::F32(x) => vec![Piece::Scalar(x.to_bits().into())],
            In::F64(x) => vec![Piece::Scalar(x.to_bits())],
            In::Array(bytes) => vec![Piece::Blob(bytes.clone())],
            In::Memory(bytes, length) => {
                vec![Piece::Memory(bytes.clone()), Piece::Scalar(*length)]
            }
        });
        let pieces: Vec<Piece> = pieces.collect();
        let how = How {
            late,
            ..How::new(aggregator, blocks, memory)
        };
        let ((result, images), report) = launch(pieces, |calls| device.launch(how, task, calls))
            .unwrap_or_else(|e| panic!("{how:?} {args:?}: {e}"));
        assert_eq!(result, expected, "{how:?} {args:?}");
        assert_eq!(images, after, "{how:?} {args:?}");
        assert_eq!(report.total, tasks, "{how:?} {args:?}");
        assert_eq!(report.elements.iter().sum::<u64>(), tasks, "{how:?}");
        timeline_agrees(&report, blocks, &format!("{how:?} {args:?}"));
        compared += report.compared;
    }
    compared
}

/// How full warps of four lanes were is what the spans say, where nothing was given back.
fn lanes_agree(report: &RunReport, of: &str) {
    let (mut all, mut given_back) = ((0, 0), false);
    for (n, name) in report.timeline.nodes.iter().enumerate() {
        let Some(node) = report.nodes.iter().find(|r| r.name == *name) else {
            continue;
        };
        let spans = report.timeline.tracks[1..].iter().flat_map(|t| &t.spans);
        let own = spans.filter(|s| s.what == What::Node(n as u32));
        let elements = own.map(|s| s.elements);
        let (sum, places) = elements.fold((0, 0), |a, e| (a.0 + e, a.1 + e.next_multiple_of(4)));
        all = (all.0 + sum, all.1 + places);
        given_back |= node.yields > 0;
        if node.yields == 0 {
            let share = sum as f64 / places as f64;
            assert_eq!(node.lanes_active, Some(share), "{of}: {name}");
        }
    }
    if !given_back {
        assert_eq!(
            report.lanes_active,
            Some(all.0 as f64 / all.1 as f64),
            "{of}"
        );
    }
    // One block that does all by itself waits for nobody; a kernel of its own is waited for.
    let blocked = report.blocked.unwrap();
    let by_host = !report.timeline.tracks[1].spans.is_empty();
    assert!(blocked > Duration::ZERO || !by_host, "{of}: {blocked:?}");
}

/// Each dispatch is a span on the track of who decided it, one behind another, and the spans say what the report says.
fn timeline_agrees(report: &RunReport, blocks: u32, of: &str) {
    let timeline = &report.timeline;
    assert_eq!(timeline.missing(), 0, "{of}");
    let [host, decided @ ..] = &timeline.tracks[..] else {
        panic!("{of}: no tracks");
    };
    let run = host.spans.iter().find(|s| s.what == What::Run).unwrap();
    let (mut elements, mut dispatches) = (vec![0; timeline.nodes.len()], 0);
    let (mut begun, mut children) = (0, timeline.roots);
    for track in decided {
        let mut last = run.begin;
        for span in &track.spans {
            assert!(
                last <= span.begin && span.begin <= span.end,
                "{of}: {last}, {span:?}"
            );
            last = span.end;
            let What::Node(node) = span.what else {
                panic!("{of}: {span:?}");
            };
            elements[node as usize] += span.elements;
            dispatches += 1;
            children += span.children;
            if (node as usize) < timeline.entries {
                begun += span.elements;
            }
        }
        assert!(last <= run.end, "{of}: {last}, {run:?}");
    }
    // Each dispatch but the narrow ones is the work of a block or of several.
    let mut shares = 0;
    for (number, track) in timeline.blocks.iter().enumerate() {
        assert_eq!(track.name, format!("block {number}"), "{of}");
        let mut last = run.begin;
        for span in &track.spans {
            assert!(
                last <= span.begin && span.begin <= span.end,
                "{of}: {last}, {span:?}"
            );
            last = span.end;
        }
        assert!(last <= run.end, "{of}: {last}, {run:?}");
        shares += track.spans.len() as u64;
    }
    assert!(timeline.blocks.len() <= blocks as usize, "{of}");
    assert!(shares >= dispatches - report.narrow, "{of}: {shares}");
    assert!(
        shares <= (dispatches - report.narrow) * u64::from(blocks),
        "{of}: {shares}"
    );
    for (node, elements) in timeline.nodes.iter().zip(elements) {
        let told = report.nodes.iter().find(|n| n.name == *node);
        assert_eq!(told.map_or(0, |n| n.elements), elements, "{of}: {node}");
    }
    let told: u64 = report.nodes.iter().map(|n| n.dispatches).sum();
    assert_eq!(told, dispatches, "{of}");
    lanes_agree(report, of);
    // What moves is a dispatch too, of no node.
    assert!(dispatches <= report.dispatches, "{of}");
    assert_eq!(
        (begun, begun + report.leaves),
        (children, report.total),
        "{of}"
    );
}

const MEBI: u64 = 1 << 20;

#[test]
fn fib_with_much_and_with_little_memory() {
    let Some(mut device) = emulated(shared::FIB) else {
        return;
    };
    for n in [0, 1, 2, 9] {
        agrees(&mut device, "fib", &[In::U32(n)], MEBI);
    }
    // Little: runs are short, levels are left and taken up again.
    agrees(&mut device, "fib", &[In::U32(13)], 24 << 10);
}

#[test]
fn levels_of_one_task_each() {
    let Some(mut device) = emulated(programs::CHAIN) else {
        return;
    };
    // Fewer and more levels than lie in shared memory.
    for n in [1, 3, 4, 5, 6, 30] {
        agrees(&mut device, "chain", &[In::U32(n), In::U64(7)], MEBI);
        agrees(&mut device, "again", &[In::U32(n), In::U64(5)], MEBI);
    }
}

#[test]
fn decisions_are_compared_where_tiles_are_given_back() {
    let Some(mut device) = emulated(programs::QUEENS) else {
        return;
    };
    let args = [In::U32(0xff), In::U32(0), In::U32(0), In::U32(0)];
    for memory in [MEBI, 120 << 10, 100 << 10] {
        let compared = agrees(&mut device, "queens", &args, memory);
        assert!(compared > 60, "{compared} decisions");
    }
}

#[test]
fn a_batch_of_roots() {
    let Some(mut device) = emulated(shared::FIB) else {
        return;
    };
    for (aggregator, blocks, late) in ALL {
        let mut calls: Vec<ErasedCall<'_>> = (0..20)
            .map(|n| ErasedCall::new(vec![ErasedArg::Scalar(n % 9)]))
            .collect();
        let how = How {
            late,
            ..How::new(aggregator, blocks, MEBI)
        };
        device.launch(how, "fib", &mut calls).unwrap();
        for (n, call) in calls.iter().enumerate() {
            let expected = [0u64, 1, 1, 2, 3, 5, 8, 13, 21][n % 9];
            assert_eq!(call.result, expected.to_le_bytes());
        }
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
        let Some(mut device) = emulated(text) else {
            return;
        };
        for n in [0, 1, most] {
            agrees(&mut device, task, &[In::U64(n)], MEBI);
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
        let Some(mut device) = emulated(text) else {
            return;
        };
        agrees(&mut device, task, &args, MEBI);
    }
}

#[test]
fn arithmetic_at_the_edges() {
    let Some(mut device) = emulated(programs::OPS) else {
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
            agrees(&mut device, "ops", &args, MEBI);
        }
    }
}

#[test]
fn helpers_and_atomics() {
    let Some(mut device) = emulated(programs::HELPERS) else {
        return;
    };
    for n in [0, 1, 2, 4, 5] {
        agrees(&mut device, "main", &[In::U32(n)], MEBI);
    }
    let Some(mut device) = emulated(programs::ATOMICS) else {
        return;
    };
    let args = [
        In::U32(12),
        In::Memory(vec![0; 20], 5),
        In::Memory(vec![3; 7], 7),
        In::Memory(vec![0; 16], 2),
    ];
    agrees(&mut device, "spread", &args, MEBI);
}

#[test]
fn runs_that_fail_say_why_and_end() {
    let Some(mut device) = emulated(programs::FAULTS) else {
        return;
    };
    for (aggregator, blocks, late) in ALL {
        let how = How {
            late,
            ..How::new(aggregator, blocks, MEBI)
        };
        let pieces = vec![
            Piece::Scalar(9),
            Piece::Memory([1u32, 2, 3, 4].map(u32::to_le_bytes).concat()),
            Piece::Scalar(4),
        ];
        let error = launch(pieces, |calls| device.launch(how, "index", calls)).unwrap_err();
        assert!(
            matches!(&error, RunError::Fault(f) if f.values[0].bits == 9),
            "{error}"
        );
        let one = || vec![ErasedCall::new(vec![ErasedArg::Scalar(0)])];
        let hasty = How {
            watchdog: Duration::from_millis(200),
            ..how
        };
        let error = device.launch(hasty, "spin", &mut one()).unwrap_err();
        assert!(matches!(error, RunError::Watchdog { .. }), "{error}");
        let little = How {
            late,
            ..How::new(aggregator, blocks, 40 << 10)
        };
        let error = device.launch(little, "endless", &mut one()).unwrap_err();
        assert!(millstream_tests::engine::is_memory(&error), "{error}");
    }
}

#[test]
fn without_a_timeline_lanes_are_known_of_what_the_host_decided_alone() {
    let Some(mut device) = emulated(shared::FIB) else {
        return;
    };
    let mut run = |aggregator, timeline| {
        let how = How {
            timeline,
            ..How::new(aggregator, 2, MEBI)
        };
        let one = vec![Piece::Scalar(10)];
        launch(one, |calls| device.launch(how, "fib", calls))
            .unwrap()
            .1
    };
    let (with, without) = (
        run(Aggregator::HostThread, true),
        run(Aggregator::HostThread, false),
    );
    assert!(without.lanes_active.is_some() && without.blocked.is_some());
    assert_eq!(without.lanes_active, with.lanes_active);
    assert_eq!(without.partial_lanes_active, with.partial_lanes_active);
    for (a, b) in with.nodes.iter().zip(&without.nodes) {
        assert_eq!((&a.name, a.lanes_active), (&b.name, b.lanes_active));
    }
    for aggregator in [Aggregator::Persistent, Aggregator::Auto] {
        let report = run(aggregator, false);
        assert_eq!((report.lanes_active, report.blocked), (None, None));
        assert!(report.nodes.iter().all(|n| n.lanes_active.is_none()));
    }
}

#[test]
fn the_host_thread_decides_until_the_persistent_kernel_is_there() {
    let Some(mut device) = emulated(shared::FIB) else {
        return;
    };
    let mut run = |late| {
        let how = How {
            late,
            ..How::new(Aggregator::Auto, 2, MEBI)
        };
        let one = vec![Piece::Scalar(12)];
        let ((result, _), report) = launch(one, |calls| device.launch(how, "fib", calls)).unwrap();
        (result, report)
    };
    let (result, there) = run(0);
    assert!(there.narrow > 0 && !there.early, "{there:?}");
    let (same, never) = run(u32::MAX);
    assert!(never.narrow == 0 && never.early, "{never:?}");
    assert_eq!((&same, never.compared), (&result, never.dispatches));
    // It is asked for at the beginning, and where it could take over.
    let (same, soon) = run(1);
    assert!(soon.narrow > 0 && soon.early, "{soon:?}");
    assert_eq!((&same, soon.compared), (&result, soon.dispatches));
    assert_eq!((soon.total, never.total), (there.total, there.total));
}
