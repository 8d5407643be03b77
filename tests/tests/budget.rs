//! Small memory: what can be counted runs in little, and no run takes more than it was granted.

use millstream_aggregator::{
    CpuOptions, CudaOptions, Device, ErasedArg, ErasedCall, MemoryArg, RunReport,
};
use millstream_corpus::PROGRAMS;
use millstream_tests::{
    Case, Elision, Listed,
    engine::{Engine, Prepared, call_loaded, is_memory, prepare},
    on_all_cores, on_deep_stack,
};

fn device(threads: u32, memory: u64) -> Device {
    Device::cpu_with(CpuOptions {
        threads: Some(threads),
        memory: Some(memory),
        ..CpuOptions::default()
    })
    .unwrap()
}

fn example(name: &str) -> Prepared {
    let path = format!("{}/examples/{name}.rs", millstream_tests::root().display());
    prepare(&std::fs::read_to_string(&path).unwrap(), &path).unwrap()
}

fn launch(
    device: &Device,
    program: &Prepared,
    task: &str,
    args: Vec<ErasedArg<'_>>,
) -> (u64, RunReport) {
    let loaded = device.load(&program.levelized).unwrap();
    let mut calls = [ErasedCall::new(args)];
    let report = device
        .launch(&loaded, program.levelized.find(task).unwrap(), &mut calls)
        .unwrap();
    assert!(report.peak <= report.budget, "{report}");
    (
        u64::from_ne_bytes(calls[0].result[..].try_into().unwrap_or_default()),
        report,
    )
}

/// Of a GPU where nobody says how much: what runs inside the blocks on private stacks takes little, unless that is not enough, and all else what there is.
#[test]
fn what_runs_inside_the_blocks_takes_little_of_a_gpu() {
    if std::env::var("MILLSTREAM_TEST_DEVICE").as_deref() != Ok("cuda") {
        return eprintln!("SKIPPED: MILLSTREAM_TEST_DEVICE=cuda asks for a GPU");
    }
    let options = CudaOptions {
        early: false,
        ..CudaOptions::default()
    };
    let gpu = Device::cuda_with(options).unwrap();
    let source = "#[millstream::program] mod fans {
        #[task] pub fn fan(n: u64, depth: u64) -> u64 {
            if depth == 0 { return 1; }
            let mut all = 0u64;
            for _ in 0..n { all += spawn!(fan(1, depth - 1)); }
            sync!();
            all
        }
        #[task] pub fn chain(n: u64) -> u64 {
            if n == 0 { return 1; }
            let y = spawn!(chain(n - 1));
            sync!();
            y.wrapping_mul(3)
        }
    }";
    let fans = prepare(source, "fans.rs").unwrap();
    let little = 256 << 20;
    for (program, task, args, is_little, expected) in [
        (&example("fib"), "fib", &[32][..], true, 2_178_309),
        (&fans, "fan", &[1000, 1000], true, 1000),
        // Twenty million elements of one task find no room there.
        (&fans, "fan", &[20_000_000, 2], false, 20_000_000),
        (&fans, "chain", &[20], false, 3_486_784_401),
    ] {
        let args = args.iter().map(|n| ErasedArg::Scalar(*n)).collect();
        let (found, report) = launch(&gpu, program, task, args);
        println!("{task}: {} in {} bytes", report.total, report.budget);
        assert_eq!(found, expected, "{task}");
        assert_eq!(report.modest, is_little, "{report}");
        assert_eq!(report.budget <= little, is_little, "{report}");
    }
}

#[test]
fn fib_38_runs_in_8_mib() {
    let program = example("fib");
    for threads in [1, 2, 4] {
        let (answer, report) = launch(
            &device(threads, 8 << 20),
            &program,
            "fib",
            vec![ErasedArg::Scalar(38)],
        );
        assert_eq!(answer, 39_088_169);
        assert!(
            report.budget == 8 << 20 && report.total == 126_491_971,
            "{report}"
        );
    }
}

/// In its arrays and 16 MiB.
#[test]
fn a_sort_runs_in_its_arrays_and_16_mib() {
    let program = example("sort");
    let mut state = 1u32;
    let len = 3_000_000;
    let numbers = (0..len).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state ^ state >> 16) as i32
    });
    let source: Vec<i32> = numbers.collect();
    let mut expected = source.clone();
    expected.sort_unstable();
    for threads in [1, 2] {
        let (mut data, mut tmp) = (source.clone(), vec![0i32; len]);
        let len = ErasedArg::Scalar(len as u64);
        let args = vec![
            ErasedArg::Memory(MemoryArg::exclusive(&mut data)),
            ErasedArg::Scalar(source.len() as u64),
            ErasedArg::Memory(MemoryArg::exclusive(&mut tmp)),
            len,
            ErasedArg::Scalar(512),
        ];
        launch(&device(threads, 16 << 20), &program, "sort_by", args);
        assert!(data == expected, "with {threads} threads");
    }
}

/// Their rounds are shared out at each depth, and where two variables gather.
#[test]
fn loops_that_only_spawn_run_in_128_kib() {
    for (name, task, args) in [
        ("wide_nested_loops", "pairs", &["900", "40000"][..]),
        ("wide_loops", "both", &["100000"][..]),
    ] {
        let listed = PROGRAMS.iter().find(|p| p.name == name).unwrap();
        let prepared = prepare(listed.source, name).unwrap();
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        let [small, large] = [128 << 10, 1 << 30].map(|memory| {
            Engine::Device("cpu".into(), device(1, memory))
                .call(&prepared, task, &args)
                .unwrap_or_else(|e| panic!("{name}: {e}"))
        });
        assert_eq!(small, large, "{name}");
    }
}

/// Each call at the smallest budget, to a factor of two, at which it runs: with less it says that it needs more, with this it comes to
/// what its elision comes to. What is compiled does not depend on the budget.
fn at_their_smallest_budgets(
    listed: &Listed,
    devices: &[(u64, Device)],
) -> (Vec<(u64, String)>, Vec<String>) {
    let name = listed.name;
    let prepared = prepare(listed.source, &format!("corpus/run/{name}.rs")).unwrap();
    let loaded = devices[0].1.load(&prepared.levelized).unwrap();
    let least = |case: &Case| {
        let Elision {
            before,
            outcome: expected,
        } = on_deep_stack(case.elision);
        let mut last = None;
        for (budget, device) in devices {
            match call_loaded(device, &loaded, &prepared, case.task, &before) {
                Ok((outcome, report)) if outcome != expected || report.peak > *budget => {
                    let peak = report.peak;
                    return Err(format!("in {budget} bytes: {outcome:?}, {peak} at most"));
                }
                Ok(_) => return Ok(*budget),
                Err(e) if is_memory(&e) => last = Some(e),
                Err(e) => return Err(format!("in {budget} bytes: {e}")),
            }
        }
        Err(last.unwrap().to_string())
    };
    let (mut budgets, mut wrong) = (Vec::new(), Vec::new());
    for case in listed.cases {
        match least(case) {
            Ok(budget) => budgets.push((budget, format!("{name}: {}", case.text))),
            Err(why) => wrong.push(format!("{name}: {} {why}", case.text)),
        }
    }
    (budgets, wrong)
}

#[test]
fn every_program_at_its_smallest_budget() {
    let devices: Vec<_> = (6..=30).map(|b| (1 << b, device(1, 1 << b))).collect();
    let all = on_all_cores(PROGRAMS, |listed| {
        at_their_smallest_budgets(listed, &devices)
    });
    let (budgets, wrong): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    let (mut budgets, wrong) = (budgets.concat(), wrong.concat());
    budgets.sort();
    for (budget, call) in budgets.iter().rev().take(10) {
        println!("{budget:>10} bytes  {call}");
    }
    println!(
        "{} calls, half of them in {} bytes or less",
        budgets.len(),
        budgets[budgets.len() / 2].0
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        budgets[budgets.len() / 2].0 <= 4096,
        "half of the calls need more than 4096 bytes"
    );
}
