//! Graphs in all their forms.

#[millstream::program]
mod parts {
    use std::sync::atomic::{AtomicU64, Ordering};

    #[derive(Clone, Copy)]
    pub(crate) struct Part {
        pub(crate) from: u32,
    }

    #[kernel]
    pub(crate) fn cut(part: Part, next: Channel<Part>, text: &[u8], total: &AtomicU64, most: u32) {
        if part.from < most && (part.from as usize) < text.len() {
            next.emit(Part { from: part.from + 1 });
            total.fetch_add(1, Ordering::Relaxed);
        }
    }
}

use millstream::{Device, Error, Graph, graph::Predicate};
use parts::{Part, kernel::cut};
use std::sync::atomic::AtomicU64;

/// Each form.
pub fn run() -> Result<(), Error> {
    let (text, total) = (vec![0u8; 4], AtomicU64::new(0));
    let mut seen = 0;
    let mut graph = Graph::new("g");
    let parts = graph.channel::<Part>("parts").width(64);
    let log = graph.channel("log").predicate(Predicate::Any).input();
    let out = graph.channel::<(u32, [f32; 2])>("out").output();
    graph.kernel(cut).consumes(&parts).produces(&parts).arg(&text).arg(&total).arg(3);
    graph.host("log").consumes(&log).run(|batch: &[u32]| seen += batch.len());
    graph.host("source").produces(&log).produces(&out).run(|(mut log, mut out)| {
        log.emit(1);
        out.emit((2, [0.5, 1.5]));
        false
    });
    graph.host("checked").produces(&parts).run(|mut parts| {
        parts.emit(Part { from: 2 });
        false
    });
    graph.send(&parts, (0..3).map(|from| Part { from }));
    let device = Device::cpu()?;
    graph.run(&device)?;
    let _ = graph.take(&out);
    let (received, _report) = graph.start(&device, |run| {
        run.send(&log, [1, 2])?;
        let left = run.try_send(&log, vec![3, 4])?;
        run.send(&log, left)?;
        run.wait_for_done()?;
        run.receive(&out)
    })?;
    drop(received);
    Ok(())
}
