use millstream_graph::text::parse_program;
use millstream_graph::{interp::*, ir::*};

fn parse(body: &str) -> Program {
    let program = parse_program(&format!("program p in \"p.rs\"\n{body}"))
        .unwrap_or_else(|e| panic!("{e}\n{body}"));
    millstream_graph::verify::verify(&program).unwrap_or_else(|errors| {
        panic!(
            "{}\n{body}",
            errors.iter().map(|e| format!("{e}\n")).collect::<String>()
        )
    });
    program
}

fn scalar(bits: u64) -> ArgValue {
    ArgValue::Scalar(bits)
}

fn call(program: &Program, name: &str, args: &[u64]) -> Result<Vec<u8>, InterpError> {
    let args: Vec<ArgValue> = args.iter().map(|a| scalar(*a)).collect();
    Interp::new(program).call(program.find(name).unwrap(), &args)
}

fn call_u64(program: &Program, name: &str, args: &[u64]) -> u64 {
    u64::from_le_bytes(call(program, name, args).unwrap().try_into().unwrap())
}

const FIB: &str = "
task fib(n: u32) -> u64 takes %0 {
    let %0 n: u32, %1: bool, %2: u32, %3: ptr, %4: ptr, %5: u64, %6: u64
    slot $0 x: u64, $1 y: u64
b0:
    %1 = lt %0, 2u32
    branch %1 b1 b2
b1:
    %5 = cast u64 %0
    return %5
b2:
    %2 = sub %0, 1u32
    %3 = addr $0
    spawn @fib(%2) -> %3 store
    %2 = sub %0, 2u32
    %4 = addr $1
    spawn @fib(%2) -> %4 store
    sync b3
b3:
    %5 = load u64 %3
    %6 = load u64 %4
    %5 = add %5, %6
    return %5
}";

#[test]
fn fib() {
    let program = parse(FIB);
    assert_eq!(call_u64(&program, "fib", &[20]), 6765);
    let mut interp = Interp::new(&program);
    interp.call(FuncId(0), &[scalar(10)]).unwrap();
    assert_eq!(interp.stats().tasks, 177);
    assert_eq!(interp.stats().depth, 10);
}

#[test]
fn a_loop_with_atomics_and_gathered_results() {
    let program = parse(
        "task count(cells: &[AtomicU32], n: usize) -> i32 takes %0, %1, %2 {
            let %0 cells: ptr, %1: usize, %2 n: usize, %3 i: usize, %4: bool, %5: ptr, %6: u32, %7 total: ptr, %8: i32
            slot $0 total: i32
        b0:
            %7 = addr $0
            store -5i32 -> %7
            %3 = 0usize
            goto b1
        b1:
            %4 = lt %3, %2
            branch %4 b2 b3
        b2:
            %1 = rem %3, %1
            %5 = ptr_add %0, %1 * 4
            %1 = 3usize
            %6 = atomic add u32 %5(1u32) relaxed
            spawn @leaf(%3) -> %7 add
            %3 = add %3, 1usize
            goto b1
        b3:
            sync b4
        b4:
            %8 = load i32 %7
            %6 = atomic cas u32 %0(4u32, 100u32) seq_cst
            %6 = atomic load u32 %0() acquire
            %5 = ptr_add %0, 1usize * 4
            atomic store u32 %5(7u32) release
            return %8
        }
        task leaf(i: usize) -> i32 takes %0 {
            let %0: usize, %1: i32
        b0:
            %1 = cast i32 %0
            %1 = neg %1
            return %1
        }",
    );
    let mut interp = Interp::new(&program);
    let cells = interp.alloc(vec![0; 12], 4);
    let result = interp
        .call(FuncId(0), &[scalar(cells), scalar(3), scalar(10)])
        .unwrap();
    assert_eq!(result, (-50i32).to_le_bytes());
    assert_eq!(interp.read(cells), [100, 0, 0, 0, 7, 0, 0, 0, 3, 0, 0, 0]);
    assert_eq!(interp.read(cells + 8), [3, 0, 0, 0]);
}

#[test]
fn structs_and_arrays_by_value() {
    let program = parse(
        "struct Pair { a: u8, b: u64, c: [u16; 2] }
        fn swap(p: Pair, by: u64) -> Pair takes %0, %1, $0, %2 {
            let %0: u8, %1: u64, %2 by: u64, %3: ptr, %4: u16
            slot $0 c: 4 align 2
        b0:
            %3 = addr $0
            %4 = load u16 %3
            store %4 -> %3 + 2
            store 9u16 -> %3
            %1 = add %1, %2
            return %0, %1, %3
        }
        task outer(c: [u16; 2]) -> (Pair, [u16; 2]) takes $0 {
            let %0: ptr, %1: ptr, %2: u8, %3: u64, %4: ptr
            slot $0 c: 4 align 2, $1 p: 24 align 8, $2: 32 align 8
        b0:
            %0 = addr $0
            %1 = addr $1
            call @swap(1u8, 2u64, %0, 40u64) -> %1
            %2 = load u8 %1
            %3 = load u64 %1 + 8
            %4 = ptr_add %1, 0usize * 1 + 16
            return %2, %3, %4, %0
        }
        task parent() -> u64 {
            let %0: ptr, %1: u64, %2: u16, %3: ptr
            slot $0: 32 align 8, $1: 4 align 2
        b0:
            %0 = addr $0
            %3 = addr $1
            zero %3 4
            store 3u16 -> %3 + 2
            spawn @outer(%3) -> %0 store
            store 77u16 -> %3
            sync b1
        b1:
            %1 = load u64 %0 + 8
            %2 = load u16 %0 + 26
            store %2 -> %3
            return %1
        }",
    );
    let mut interp = Interp::new(&program);
    let result = interp
        .call(
            program.find("outer").unwrap(),
            &[ArgValue::Blob(vec![5, 6, 7, 8])],
        )
        .unwrap();
    let expected = [
        1, 0, 0, 0, 0, 0, 0, 0, 42, 0, 0, 0, 0, 0, 0, 0, 9, 0, 5, 6, 0, 0, 0, 0, 5, 6, 7, 8, 0, 0,
        0, 0,
    ];
    assert_eq!(result, expected);
    assert_eq!(call_u64(&program, "parent", &[]), 42);
    let wrong = interp
        .call(program.find("outer").unwrap(), &[ArgValue::Blob(vec![5])])
        .unwrap_err();
    assert_eq!(wrong.to_string(), "`outer` takes 4 bytes as piece 0, not 1");
    let wrong = interp
        .call(program.find("outer").unwrap(), &[])
        .unwrap_err();
    assert_eq!(wrong.to_string(), "`outer` takes 1 pieces, not 0");
    let wrong = interp
        .call(program.find("outer").unwrap(), &[scalar(1)])
        .unwrap_err();
    assert_eq!(wrong.to_string(), "`outer` takes an array as piece 0");
}

#[test]
fn recursive_helpers_switches_and_constants() {
    let program = parse(
        "data d0 TABLE align 8 \"0a00000000000000 1400000000000000\"
        fn ack(m: u64, n: u64) -> u64 takes %0, %1 {
            let %0 m: u64, %1 n: u64, %2: u64, %3: u64
        b0:
            switch %0 { 0: b1, _: b2 }
        b1:
            %2 = add %1, 1u64
            return %2
        b2:
            %3 = sub %0, 1u64
            switch %1 { 0: b3, _: b4 }
        b3:
            %2 = call @ack(%3, 1u64)
            return %2
        b4:
            %2 = sub %1, 1u64
            %2 = call @ack(%0, %2)
            %2 = call @ack(%3, %2)
            return %2
        }
        fn table(i: usize) -> u64 takes %0 {
            let %0: usize, %1: ptr, %2: u64, %3: bool
        b0:
            %1 = addr d0
            %1 = ptr_add %1, %0 * 8
            %2 = load u64 %1
            %3 = gt %2, 15u64
            %2 = select %3, 1u64, %2
            call @table(0usize)
            return %2
        }
        fn endless() {
        b0:
            call @endless()
            return
        }
        fn spin() {
        b0:
            goto b1
        b1:
            goto b1
        }
        fn never() {
        b0:
            unreachable @3:4
        }",
    );
    assert_eq!(call_u64(&program, "ack", &[2, 3]), 9);
    let limits = Limits {
        steps: 1_000_000,
        depth: 1000,
        memory: 1 << 20,
    };
    let mut interp = Interp::new(&program).with_limits(limits);
    let run = |interp: &mut Interp<'_>, name: &str| {
        interp.call(program.find(name).unwrap(), &[]).unwrap_err()
    };
    assert_eq!(
        run(&mut interp, "endless"),
        InterpError::RecursionLimit(1000)
    );
    assert_eq!(interp.stats().depth, 1000);
    assert_eq!(
        run(&mut interp, "never").to_string(),
        "reached what is unreachable, in `never` at 3:4"
    );
    assert_eq!(run(&mut interp, "spin"), InterpError::StepLimit(1_000_000));
    assert_eq!(run(&mut interp, "spin"), InterpError::StepLimit(1_000_000));
}

#[test]
fn every_kind_of_check() {
    let checks = [
        (
            "bounds(5usize, 3usize)",
            "index out of bounds: the length is 3 but the index is 5",
        ),
        (
            "range_order(4usize, 2usize)",
            "range starts at 4 but ends at 2",
        ),
        (
            "range_end(9usize, 8usize)",
            "range out of bounds: it ends at 9 but the length is 8",
        ),
        (
            "split(9usize, 8usize)",
            "split point 9 lies beyond the length 8",
        ),
        ("lengths(1usize, 2usize)", "lengths differ: 1 and 2"),
        ("overflow add(100i8, 100i8)", "overflow: 100 + 100"),
        ("neg_overflow(-128i8)", "overflow: negation of -128"),
        ("division_by_zero(7u32)", "division by zero: 7 / 0"),
        ("division_overflow(-128i8, -1i8)", "overflow: -128 / -1"),
        ("remainder_by_zero(7u32)", "division by zero: 7 % 0"),
        ("remainder_overflow(-128i8, -1i8)", "overflow: -128 % -1"),
        ("assert \"x > 0\"()", "assertion failed: x > 0"),
        (
            "assert_eq \"a == b\"(1.5f32, true)",
            "assertion failed: a == b: left is 1.5, right is true",
        ),
        (
            "assert_ne \"a != b\"(2u8, 2u8)",
            "assertion failed: a != b: both are 2",
        ),
        ("panic \"no\"()", "panic: no"),
    ];
    for (check, message) in checks {
        let program = parse(&format!(
            "fn f(ok: bool) takes %0 {{\n let %0: bool\nb0:\n check %0 {check} @7:9\n return\n}} task t(ok: bool) takes %0 {{ let %0: bool b0: call @f(%0) return }}"
        ));
        assert_eq!(call(&program, "t", &[1]), Ok(vec![]));
        let error = call(&program, "t", &[0]).unwrap_err();
        assert!(
            matches!(&error, InterpError::Fault(fault) if fault.span == Span { line: 7, col: 9 })
        );
        assert_eq!(error.to_string(), format!("{message}, in `f` at p.rs:7:9"));
    }
}

/// Runs these statements with `%0` the address of 16 bytes of the host's, `%1` that of an undefined slot of 16 bytes.
fn wild(stmts: &str) -> Problem {
    let program = parse(&format!(
        "data d0 D align 1 \"07\"
        fn f(p: &[u64]) takes %0, %4 {{
            let %0: ptr, %1: ptr, %2: u64, %3: bool, %4: usize, %5: ptr
            slot $0: 16 align 8
        b0:
            %1 = addr $0
            {stmts}
            return
        }}
        fn leak() -> &u64 {{
            let %0: ptr
            slot $0: 8 align 8
        b0:
            %0 = addr $0
            return %0
        }}"
    ));
    let mut interp = Interp::new(&program);
    let host = interp.alloc(vec![2; 16], 8);
    match interp.call(FuncId(0), &[scalar(host), scalar(2)]) {
        Err(InterpError::Wild {
            problem, function, ..
        }) => {
            assert_eq!(function, "f");
            problem
        }
        other => panic!("{stmts}: {other:?}"),
    }
}

#[test]
fn wild_accesses_are_errors() {
    assert_eq!(wild("%2 = load u64 0ptr"), Problem::NotAllocated);
    assert_eq!(
        wild("store 1u64 -> ptr#ffffff0000000000"),
        Problem::NotAllocated
    );
    assert_eq!(wild("%2 = load u64 %0 + 16"), Problem::OutOfBounds);
    assert_eq!(
        wild("%2 = load u64 %0 + 18446744073709551608"),
        Problem::OutOfBounds
    );
    assert_eq!(wild("store 1u64 -> %0 + 9"), Problem::OutOfBounds);
    assert_eq!(wild("store 1u64 -> %0 + 4"), Problem::Misaligned);
    assert_eq!(wild("zero %0 17"), Problem::OutOfBounds);
    assert_eq!(wild("copy %0 -> %1 17"), Problem::OutOfBounds);
    assert_eq!(wild("%2 = load u64 %1"), Problem::Undefined);
    assert_eq!(
        wild("store 1u32 -> %1 + 8 %2 = load u64 %1 + 8"),
        Problem::Undefined
    );
    assert_eq!(
        wild("store 1u64 -> %1 + 8 %5 = ptr_add %1, 1usize * 8 copy %1 -> %5 8 %2 = load u64 %5"),
        Problem::Undefined
    );
    assert_eq!(wild("%3 = load bool %0"), Problem::NotABool);
    assert_eq!(wild("%5 = addr d0 store 1u8 -> %5"), Problem::ReadOnly);
    assert_eq!(
        wild("%5 = ptr_add %0, 1usize * 4 copy %0 -> %5 8"),
        Problem::Overlap
    );
    assert_eq!(wild("%5 = call @leak() %2 = load u64 %5"), Problem::Freed);
    assert_eq!(
        wild("%2 = atomic add u64 %1(1u64) relaxed"),
        Problem::Undefined
    );
}

#[test]
fn memory_of_an_earlier_call_is_gone_and_the_hosts_stays() {
    let program = parse(
        "fn f() -> u64 { let %0: ptr, %1: u64 slot $0: 8 align 8 b0: %0 = addr $0 store 3u64 -> %0 %1 = div 6u64, 0u64 return %1 }",
    );
    let mut interp = Interp::new(&program).with_limits(Limits {
        memory: 100,
        ..Limits::default()
    });
    let host = interp.alloc(vec![1, 2, 3], 1);
    for _ in 0..100 {
        let error = interp.call(FuncId(0), &[]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a division without a result, in `f` at 0:0"
        );
    }
    assert_eq!(interp.read(host), [1, 2, 3]);
    interp.free(host);
    assert_eq!(interp.read(host), [] as [u8; 0]);
    let mut small = Interp::new(&program).with_limits(Limits {
        memory: 10,
        ..Limits::default()
    });
    assert_eq!(
        small.call(FuncId(0), &[]),
        Err(InterpError::MemoryLimit(10))
    );
}

/// The profile of a call.
fn profiled(program: &Program, args: &[u64]) -> Profile {
    let mut interp = Interp::new(program);
    interp.measure(std::sync::Arc::default());
    let args: Vec<ArgValue> = args.iter().map(|a| scalar(*a)).collect();
    interp.call(FuncId(0), &args).unwrap();
    let profile = interp.profile().unwrap();
    let sum = |steps: &mut dyn Iterator<Item = u64>| steps.sum::<u64>();
    // The same as without the measure, and each part is whole.
    let mut plain = Interp::new(program);
    plain.call(FuncId(0), &args).unwrap();
    assert_eq!(profile.work.steps, plain.stats().steps);
    assert_eq!(profile.work.tasks, plain.stats().tasks);
    let lines = sum(&mut profile.lines.iter().map(|l| l.steps));
    assert_eq!(lines, profile.work.steps);
    let path = sum(&mut profile.path.iter().map(|p| p.amount.steps));
    assert_eq!(path, profile.span.steps);
    profile
}

#[test]
fn work_and_span_of_fib_are_their_closed_forms() {
    let program = parse(FIB);
    let fib = |n: u64| (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0;
    for n in 2..15 {
        let profile = profiled(&program, &[n]);
        let leaves = fib(n + 1);
        // A leaf is four steps. Of the others' thirteen, the first child begins after five, the second after eight, and five come after both.
        let steps = 4 * leaves + 13 * (leaves - 1);
        let tasks = 2 * leaves - 1;
        assert_eq!(profile.work, Amount { steps, tasks });
        let steps = 10 * n - 3;
        assert_eq!(profile.span, Amount { steps, tasks: n });
        // The shorter way down saves a spawn and a sync only once: fib(2) waits longest for fib(0).
        assert_eq!(profile.burdened_span, steps + 2 * BURDEN * (n - 1));
        let whole = OnPath {
            task: "fib".into(),
            amount: profile.span,
        };
        assert_eq!(profile.path, [whole]);
        assert!((profile.parallelism_of_tasks() - tasks as f64 / n as f64).abs() < 1e-12);
    }
}

#[test]
fn a_chain_of_tasks_has_a_parallelism_of_one() {
    for wait in ["sync b3", "goto b3"] {
        let program = parse(&format!(
            "task chain(n: u32) takes %0 {{
                let %0 n: u32, %1: bool
            b0:
                %1 = lt %0, 1u32
                branch %1 b1 b2
            b1:
                return
            b2:
                %0 = sub %0, 1u32
                spawn @chain(%0)
                {wait}
            b3:
                return
            }}"
        ));
        let profile = profiled(&program, &[9]);
        assert_eq!(profile.work.tasks, 10);
        assert_eq!(profile.span.tasks, 10);
        // A jump behind the spawn is beside the child; the sync, or the return that waits, is behind it.
        let beside = if wait == "goto b3" { 9 } else { 0 };
        assert_eq!(profile.span.steps + beside, profile.work.steps);
        assert_eq!(profile.burdened_span, profile.span.steps + 18 * BURDEN);
    }
}

#[test]
fn helpers_and_loops_are_a_part_of_who_runs_them_and_the_path_names_its_tasks() {
    let program = parse(
        "task wide(n: u32, m: u32) takes %0, %1 {
            let %0 n: u32, %1 m: u32, %2: bool
        b0:
            spawn @busy(%1)
            goto b1
        b1:
            %2 = lt %0, 1u32
            branch %2 b3 b2
        b2:
            spawn @leaf()
            %0 = sub %0, 1u32
            goto b1
        b3:
            sync b4
        b4:
            spawn @leaf()
            return
        }
        task leaf() {
        b0:
            return
        }
        task busy(n: u32) takes %0 {
            let %0 n: u32
        b0:
            call @count(%0)
            return
        }
        fn count(n: u32) takes %0 {
            let %0 n: u32, %1: bool
        b0:
            goto b1
        b1:
            %1 = lt %0, 1u32
            branch %1 b3 b2
        b2:
            %0 = sub %0, 1u32
            goto b1
        b3:
            return
        }",
    );
    // `busy` is two steps, and four and four a turn in `count`; the loop is four, five a turn, and a leaf is one.
    let profile = profiled(&program, &[10, 2]);
    let path = |profile: &Profile| {
        let named = |p: &OnPath| (p.task.clone(), p.amount.tasks, p.amount.steps);
        profile.path.iter().map(named).collect::<Vec<_>>()
    };
    // The loop is the longest: two steps, ten turns, two for its end; the sync, the spawn, the last leaf, the return.
    let steps = 2 + 50 + 2 + 2 + 1 + 1;
    assert_eq!(profile.span, Amount { steps, tasks: 3 });
    let own = ("wide".into(), 1, steps - 1);
    assert_eq!(path(&profile), [own, ("leaf".into(), 1, 1)]);
    assert_eq!(profile.work.tasks, 13);
    assert_eq!(profile.work.steps, steps - 1 + 11 + 2 + 4 + 8);
    // Of a hundred turns the first child is: the spawn, then it, then what follows the sync.
    let profile = profiled(&program, &[10, 100]);
    let busy = ("busy".into(), 1, 2 + 4 + 400);
    let (wide, leaf) = (("wide".into(), 1, 1 + 3), ("leaf".into(), 1, 1));
    assert_eq!(path(&profile), [busy, wide, leaf]);
    assert_eq!(profile.span.steps, 406 + 4 + 1);
    // Two children that are waited for.
    assert_eq!(profile.burdened_span, profile.span.steps + 4 * BURDEN);
}

#[test]
fn a_run_that_fails_has_no_profile_and_progress_is_told() {
    let program = parse(FIB);
    let mut interp = Interp::new(&program).with_limits(Limits {
        steps: 1_000_000,
        ..Limits::default()
    });
    let progress = std::sync::Arc::new(Progress::default());
    interp.measure(progress.clone());
    let error = interp.call(FuncId(0), &[scalar(40)]).unwrap_err();
    assert_eq!(error, InterpError::StepLimit(1_000_000));
    assert_eq!(interp.profile(), None);
    let told = progress.so_far();
    assert!(told.steps > 500_000 && told.steps <= 1_000_000, "{told:?}");
    assert!(told.tasks > 50_000 && told.tasks < 250_000, "{told:?}");
}

#[test]
fn lanes_go_together_wherever_they_can() {
    let program = parse(
        "task root() {
        b0:
            spawn @busy(0u32)
            spawn @busy(1u32)
            spawn @busy(2u32)
            spawn @busy(3u32)
            sync b1
        b1:
            return
        }
        task busy(n: u32) takes %0 {
            let %0 n: u32, %1: bool
        b0:
            goto b1
        b1:
            %1 = lt %0, 1u32
            branch %1 b3 b2
        b2:
            %0 = sub %0, 1u32
            goto b1
        b3:
            sync b4
        b4:
            return
        }",
    );
    let counted = |lanes, leaves_apart| {
        let mut interp = Interp::new(&program);
        interp.count_lanes(lanes, leaves_apart);
        interp.call(FuncId(0), &[]).unwrap();
        interp.take_lanes().unwrap()
    };
    // The root's six steps are one lane's. Of the loop's test, two steps, there are turns of 4, 3, 2 and 1 lanes, of its body of 3, 2 and 1. The sync
    // behind it waits for nothing.
    let lanes = counted(4, false);
    assert_eq!(lanes.by_active(), [6 + 2 + 2, 2 + 2, 2 + 2, 1 + 2 + 2]);
    let taken = f64::from(10 + 2 * 4 + 3 * 4 + 5 * 4);
    assert_eq!(lanes.share_of_all(), taken / f64::from(4 * 23));
    // Who is there: the root alone; four at the beginning and the end, in four turns and in three.
    let there = f64::from(6 + 4 + 8 + 4 * 2 * 4 + 4 * 2 * 3);
    assert_eq!(lanes.share_of_those_there(), taken / there);
    // In wavefronts of three the fourth is alone: 3 + 2 * 4 + 2 * 3 steps of one lane are its.
    assert_eq!(counted(3, false).by_active()[2], 1 + 2 + 2);
    assert_eq!(counted(3, false).by_active()[0], 6 + 17 + 2 + 2);
    // Those that spawn nothing are in none.
    let apart = counted(4, true);
    assert_eq!(apart.by_active(), [6, 0, 0, 0]);
    assert_eq!(apart.share_of_those_there(), 1.0);
}
