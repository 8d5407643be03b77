//! What one sees of a graph from outside: its timeline, and the dump that it leaves when it is stopped.

use super::{
    bench::{self, Bench, On, bytes, lent},
    fib,
};
use millstream::{dump::Doing, trace};
use millstream_aggregator::{
    GraphCall, RunError, Running,
    cuda::{
        Machine,
        flow::{FlowSettings, run_graph},
    },
    timeline::{Span, What},
};
use millstream_tests::emulator::FlowEmulator;
use std::time::Duration;

/// Each wavefront is a span on its block's track, inside of a kernel's, and all of them together are what the report says.
#[test]
fn a_graph_is_traced_wavefront_by_wavefront() {
    let Some(mut bench) = Bench::new(fib(4096), 2, 256) else {
        return;
    };
    let calls = bench.channel("calls");
    for seed in 1..=6 {
        let mut result = [0u64];
        let args = vec![("fib", lent(&mut result))];
        let (_, report) = bench
            .run(seed, args, vec![], |run| run.send(calls, &bytes([10, 7])))
            .unwrap();
        if let On::Gpu(_) = bench.on {
            return;
        }
        let timeline = &report.timeline;
        assert_eq!(
            (timeline.missing(), &timeline.nodes[..]),
            (0, &["fib".to_owned()][..])
        );
        let [host, thread, blocks @ ..] = &timeline.tracks[..] else {
            panic!("no tracks");
        };
        let run = host.spans.iter().find(|s| s.what == What::Run).unwrap();
        let of = |what| thread.spans.iter().filter(move |s| s.what == what);
        assert_eq!(of(What::Feed).map(|s| s.elements).sum::<u64>(), 2);
        // How many there are is up to the clock: the host may ask a kernel for a pause.
        let kernels: Vec<&Span> = of(What::Kernel).collect();
        assert!(run.begin <= kernels[0].begin && kernels[kernels.len() - 1].end <= run.end);
        assert!(kernels.is_sorted_by(|a, b| a.begin < a.end && a.end <= b.begin));
        let (mut elements, mut wavefronts, mut worked) = (0, 0, 0);
        for track in blocks {
            assert!(track.name.starts_with("block "), "{}", track.name);
            let mut last = run.begin;
            for span in &track.spans {
                assert_eq!(span.what, What::Node(0));
                assert!(last <= span.begin && span.begin <= span.end, "{span:?}");
                let inside = |k: &&Span| k.begin <= span.begin && span.end <= k.end;
                assert!(kernels.iter().any(inside), "{span:?} {kernels:?}");
                assert!(span.elements > 0);
                last = span.end;
                elements += span.elements;
                wavefronts += 1;
                worked += span.end - span.begin;
            }
        }
        assert!(blocks.len() <= 2);
        assert_eq!((elements, wavefronts), (report.total, report.dispatches));
        let node = &report.nodes[0];
        assert_eq!(
            (&*node.name, node.elements, node.dispatches),
            ("fib", elements, wavefronts)
        );
        assert_eq!(node.time.unwrap().as_nanos() as u64, worked);
        assert!(node.lanes_active.is_some() && report.blocked.is_some());
        // As a file: a track each, a span each.
        let mut file = Vec::new();
        trace::write(&report, ("fib", "cuda:0"), &[], &mut file).unwrap();
        let text = String::from_utf8(file).unwrap();
        assert_eq!(text.matches("\"cat\":\"node\"").count() as u64, wavefronts);
        assert!(text.contains("\"name\":\"feed\"") && text.contains("\"name\":\"kernel\""));
    }
}

/// Ctrl-C while the graph's kernel runs, and a kernel that does not end.
#[test]
fn a_graph_that_is_stopped_leaves_a_dump() {
    let program = fib(4);
    let Some(mut bench) = Bench::new(program, 2, 256) else {
        return;
    };
    let calls = bench.channel("calls");
    let On::Fibers(emulator) = &mut bench.on else {
        return;
    };
    let live = emulator.live().clone();
    let program = &bench.program;
    let run = |emulator: &mut FlowEmulator, with: &dyn Fn(&Running<'_>) -> Result<(), RunError>| {
        let settings = FlowSettings {
            watchdog: Duration::from_millis(500),
            ..bench::settings(1, 1 << 24)
        };
        let mut result = [0u64];
        let key = program.graph.find_kernel("fib").unwrap();
        let call = GraphCall {
            args: [(key, lent(&mut result))].into(),
            ..GraphCall::default()
        };
        run_graph(emulator, settings, program, call, with).unwrap_err()
    };
    let error = run(emulator, &|run| {
        run.send(calls, &bytes([3]))?;
        run.cancel();
        run.wait_for_done()
    });
    assert_eq!(error, RunError::Cancelled);
    let dump = live.dump().unwrap();
    assert_eq!(dump.why, Some(error.to_string()));
    assert!(dump.channels[0].waiting.is_some() && dump.missing.is_empty());

    for (readable, says) in [
        (true, "as a second stream saw them"),
        (false, "can not be read any more"),
    ] {
        emulator.stay(Duration::from_secs(600), readable);
        let error = run(emulator, &|run| run.send(calls, &bytes([3])));
        assert!(matches!(error, RunError::Lost(_)), "{error}");
        let dump = live.dump().unwrap();
        assert!(dump.missing[0].contains(says), "{:?}", dump.missing);
        // The kernel had done all of it; before it was started one element lay there.
        assert_eq!(dump.channels[0].waiting, Some(u64::from(!readable)));
        let kernel = dump.workers.iter().find(|w| w.name == "the graph's kernel");
        assert_eq!(kernel.unwrap().last.doing, Doing::Runs);
    }
}
