//! Little room in channels, in the stage of a block, and in what it keeps: nothing is lost, and who waits gets on.

use super::{
    PIPE,
    bench::{Bench, bytes, compiles, drain, lent, made},
};
use millstream_aggregator::Running;
use millstream_channels_kernel::cuda::flow::FlowPlan;

/// A producer that emits more than there is room for waits, and all that it holds up goes on downstream.
#[test]
fn a_pipeline_of_narrow_channels_loses_nothing() {
    for (widths, stage) in [
        ([1, 1, 1, 1], 256),
        ([2, 3, 5, 7], 192),
        ([5, 100, 33, 64], 384),
    ] {
        let names = ["starts", "counted", "tripled", "out"];
        let channels: Vec<_> = names
            .iter()
            .zip(widths)
            .map(|(n, w)| (*n, "u32", w))
            .collect();
        let nodes = [
            ("count", "starts", &["counted"][..]),
            ("triple", "counted", &["tripled"]),
            ("tail", "tripled", &["out"]),
        ];
        let program = made(PIPE, &channels, &nodes, |_| {});
        compiles(&program);
        let Some(mut bench) = Bench::new(program, 3, stage) else {
            return;
        };
        let (starts, out) = (bench.channel("starts"), bench.channel("out"));
        for seed in 1..=3 {
            let ((), _) = bench
                .run(seed, vec![], vec![], |run| {
                    run.send(starts, &bytes([40, 0, 7, 100]))?;
                    let mut found = drain(run, out)?;
                    found.sort_unstable();
                    let all = [40u32, 0, 7, 100].iter().flat_map(|n| 0..*n);
                    let mut expected: Vec<u32> =
                        all.map(|i| 3 * i).filter(|x| x % 2 == 0).collect();
                    expected.sort_unstable();
                    assert_eq!(found, expected, "{widths:?}, seed {seed}");
                    Ok(())
                })
                .unwrap();
        }
    }
}

/// What blocks keep for the host is alive no more, and others may say that all is done before these have looked. Each kernel brings some of it on.
#[test]
fn what_is_kept_for_the_host_outlives_all_elements() {
    let channels = [("starts", "u32", 8), ("out", "u32", 3)];
    let nodes = [("count", "starts", &["out"][..])];
    let program = made(PIPE, &channels, &nodes, |_| {});
    let Some(mut bench) = Bench::new(program, 4, 256) else {
        return;
    };
    let (starts, out) = (bench.channel("starts"), bench.channel("out"));
    for seed in 1..=6 {
        let ((), report) = bench
            .run(seed, vec![], vec![], |run| {
                run.send(starts, &bytes([90, 2, 70, 31, 0, 60, 1, 50]))?;
                let mut found = drain(run, out)?;
                found.sort_unstable();
                let all = [90u32, 2, 70, 31, 0, 60, 1, 50].into_iter();
                let mut expected: Vec<u32> = all.flat_map(|n| 0..n).collect();
                expected.sort_unstable();
                assert_eq!(found, expected, "seed {seed}");
                Ok(())
            })
            .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_eq!(report.total, 8, "elements");
    }
}

const LARGE: &str = "
#[kernel]
pub fn cut(x: u32, large: Channel<[u32; 200]>, small: Channel<u32>) {
    let mut i = 0;
    while i < x {
        if i % 3 == 0 { large.emit([i; 200]); }
        small.emit(i);
        i += 1;
    }
}
#[kernel]
pub fn first(x: [u32; 200], sum: &AtomicU64) { sum.fetch_add((x[0] + x[199]) as u64, Ordering::Relaxed); }
";

/// An element that is larger than its channel's even share of the stage, which has room for one of each all the same.
#[test]
fn a_large_element_is_staged_beside_small_ones() {
    let channels = [
        ("starts", "u32", 4),
        ("large", "[u32; 200]", 2),
        ("small", "u32", 3),
    ];
    let nodes = [
        ("cut", "starts", &["large", "small"][..]),
        ("first", "large", &[]),
    ];
    let program = made(LARGE, &channels, &nodes, |_| {});
    compiles(&program);
    // As much as one of each takes, and a little more.
    let least = FlowPlan::of(&program.graph, &program.levelized, &program.kernels).unwrap();
    let least = least.least_stage() as u32;
    for stage in [least, least + 100] {
        let program = made(LARGE, &channels, &nodes, |_| {});
        let Some(mut bench) = Bench::new(program, 2, stage) else {
            return;
        };
        let (starts, small) = (bench.channel("starts"), bench.channel("small"));
        for seed in 1..=3 {
            let mut sum = [0u64];
            let args = vec![("first", lent(&mut sum))];
            let with = |run: &Running<'_>| {
                run.send(starts, &bytes([9, 4]))?;
                drain(run, small)
            };
            let (mut found, _) = bench.run_in(1 << 26, seed, args, vec![], with).unwrap();
            found.sort_unstable();
            assert_eq!(found, [0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8]);
            assert_eq!(sum, [2 * (3 + 6 + 3)], "stage {stage}, seed {seed}");
        }
    }
}

/// Each element's body emits more than its stage holds and than its block can keep: it waits, and those downstream make room.
#[test]
fn a_body_that_emits_without_end_waits_for_room() {
    let source = "
    #[kernel] pub fn count(n: u32, out: Channel<u32>) { let mut i: u32 = 0; while i < n { out.emit(i); i += 1; } }
    #[kernel] pub fn sum(x: u32, total: &AtomicU64) { total.fetch_add(x as u64, Ordering::Relaxed); }";
    let channels = [("starts", "u32", 16), ("counted", "u32", 5)];
    let nodes = [
        ("count", "starts", &["counted"][..]),
        ("sum", "counted", &[]),
    ];
    let program = made(source, &channels, &nodes, |_| {});
    let Some(mut bench) = Bench::new(program, 2, 64) else {
        return;
    };
    let starts = bench.channel("starts");
    for seed in [1, 2, 4] {
        let mut total = [0u64];
        let args = vec![("sum", lent(&mut total))];
        let (_, report) = bench
            .run_in(1 << 20, seed, args, vec![], |run| {
                run.send(starts, &bytes(std::iter::repeat_n(4000, 12)))
            })
            .unwrap();
        assert_eq!(total, [12 * (0..4000u64).sum::<u64>()], "seed {seed}");
        assert_eq!(report.total, 12 * 4001, "seed {seed}");
    }
}
