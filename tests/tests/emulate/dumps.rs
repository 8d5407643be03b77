//! Runs on an emulated GPU that are stuck or stopped leave a dump, and tell who watches how far they are.

use super::{kernels::emulated, programs};
use crate::lower::programs as shared;
use millstream::dump::{Doing, Dump, DumpFile, suspicions};
use millstream_aggregator::{Aggregator, ErasedArg, ErasedCall, RunError, cuda::Machine};
use millstream_tests::emulator::{Emulator, How};
use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

const MEBI: u64 = 1 << 20;

fn one(n: u32) -> Vec<ErasedCall<'static>> {
    vec![ErasedCall::new(vec![ErasedArg::Scalar(n.into())])]
}

/// The dump that a run left, when it has been a file.
fn dump(device: &Emulator) -> Dump {
    let file = DumpFile {
        call: "spin(0)".into(),
        device: "cuda:0".into(),
        dump: device.live().dump().expect("the run left a dump"),
        ..DumpFile::default()
    };
    let read = DumpFile::read(file.json().as_bytes()).unwrap();
    assert_eq!(read, file);
    read.dump
}

#[test]
fn a_dispatch_that_does_not_end_leaves_what_the_run_was_at() {
    let Some(mut device) = emulated(programs::FAULTS) else {
        return;
    };
    for aggregator in [
        Aggregator::HostThread,
        Aggregator::Persistent,
        Aggregator::Auto,
    ] {
        let how = How {
            watchdog: Duration::from_millis(200),
            ..How::new(aggregator, 2, MEBI)
        };
        let error = device.launch(how, "spin", &mut one(0)).unwrap_err();
        assert!(matches!(error, RunError::Watchdog { .. }), "{error}");
        let dump = dump(&device.kernels);
        assert_eq!(dump.why, Some(error.to_string()));
        assert!(dump.missing.is_empty(), "{:?}", dump.missing);
        assert!(
            dump.channels
                .iter()
                .all(|c| c.capacity.is_some_and(|n| n > 0) && c.waiting.is_some())
        );
        let who = dump
            .workers
            .iter()
            .find(|w| w.last.doing == Doing::Runs)
            .unwrap();
        if aggregator == Aggregator::HostThread {
            assert_eq!(
                (&*who.name, who.last.at.as_deref(), who.last.level),
                ("host thread", Some("spin"), Some(0))
            );
            assert_eq!(
                (who.in_hand[0].channel.as_str(), who.in_hand[0].elements),
                ("spin", 1)
            );
        } else {
            assert_eq!(who.name, "persistent kernel");
        }
        // A run that ends otherwise leaves none, and takes the last one's away.
        let little = How::new(aggregator, 2, 40 << 10);
        device.launch(little, "endless", &mut one(0)).unwrap_err();
        assert_eq!(device.kernels.live().dump(), None);
    }
}

#[test]
fn a_kernel_that_is_given_up_leaves_what_could_be_read() {
    let Some(mut device) = emulated(shared::FIB) else {
        return;
    };
    for (readable, says) in [(true, "shared memory"), (false, "can not be read any more")] {
        let how = How {
            watchdog: Duration::from_millis(500),
            ..How::new(Aggregator::Persistent, 2, MEBI)
        };
        device.kernels.stay(Duration::from_secs(60), readable);
        let error = device.launch(how, "fib", &mut one(9)).unwrap_err();
        assert!(matches!(error, RunError::Lost(_)), "{error}");
        let dump = dump(&device.kernels);
        assert_eq!(dump.missing.len(), 1, "{:?}", dump.missing);
        assert!(dump.missing[0].contains(says), "{:?}", dump.missing);
        // What the host knows: the call waits, as the kernel was given it.
        let waiting: u64 = dump.channels.iter().filter_map(|c| c.waiting).sum();
        assert_eq!(waiting, 1);
        let kernel = dump
            .workers
            .iter()
            .find(|w| w.name == "persistent kernel")
            .unwrap();
        assert_eq!(kernel.last.doing, Doing::Runs);
        assert_eq!(
            kernel.dispatches.is_some_and(|n| n > 0),
            readable,
            "{kernel:?}"
        );
        assert!(suspicions(&dump).is_empty());
    }
}

#[test]
fn who_watches_sees_the_dispatches_of_a_kernel_that_decides_by_itself() {
    let Some(mut device) = emulated(shared::FIB) else {
        return;
    };
    device.kernels.stay(Duration::from_millis(900), true);
    let live = device.kernels.live().clone();
    let over = AtomicBool::new(false);
    let (report, seen) = thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let (mut seen, mut meanwhile) = (Vec::new(), None);
            // Relaxed: it only ends the loop.
            while !over.load(Ordering::Relaxed) {
                seen.push(live.so_far());
                meanwhile = live.dump().or(meanwhile);
                thread::sleep(Duration::from_millis(20));
            }
            (seen, meanwhile)
        });
        let report = device.launch(
            How::new(Aggregator::Persistent, 2, MEBI),
            "fib",
            &mut one(9),
        );
        over.store(true, Ordering::Relaxed);
        (report.unwrap(), watcher.join().unwrap())
    });
    let (seen, meanwhile) = seen;
    let most = seen.iter().filter_map(|s| s.dispatches).max();
    assert!(
        most.is_some_and(|n| n > 0 && n <= report.dispatches + 1),
        "{most:?} of {}",
        report.dispatches
    );
    // A dump of a run that goes on says so, and who does what.
    let meanwhile = meanwhile.unwrap();
    assert!(
        meanwhile.why.is_none() && meanwhile.missing.len() == 1,
        "{meanwhile:?}"
    );
    assert!(
        meanwhile
            .workers
            .iter()
            .any(|w| w.name == "persistent kernel")
    );
    device.kernels.stay(Duration::ZERO, true);
}

#[test]
fn who_watches_the_host_thread_sees_what_it_reports() {
    let Some(mut device) = emulated(shared::FIB) else {
        return;
    };
    let report = device
        .launch(
            How::new(Aggregator::HostThread, 2, MEBI),
            "fib",
            &mut one(9),
        )
        .unwrap();
    let last = device.kernels.live().so_far();
    assert_eq!(last.tasks + report.leaves, report.total);
    assert_eq!(
        (last.alive, last.dispatches),
        (Some(0), Some(report.dispatches))
    );
    assert!(last.levels > 0 && last.levels <= report.levels, "{last:?}");
}
