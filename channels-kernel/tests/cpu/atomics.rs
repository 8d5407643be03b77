//! What atomic stores become: a plain one where no more is asked for.

use crate::support::Machine;
use millstream_channels_kernel::cpu::{CompiledProgram, abi::status};
use millstream_cilk_lower::{lower::lower, parse_file};
use std::{
    io,
    sync::{Arc, Mutex},
};
use tracing_subscriber::{filter::LevelFilter, fmt::MakeWriter};

/// Where the compiler's log is kept.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl io::Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Kept {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// The code of a task that stores twice in this order.
fn stores(order: &str) -> String {
    let source = format!(
        "#[millstream::program] mod stores {{
            #[task] pub fn both(a: &AtomicU64, b: &AtomicU64, n: u64) {{
                a.store(n, Ordering::{order});
                b.store(a.load(Ordering::Relaxed) + 1, Ordering::{order});
            }}
        }}"
    );
    let program = lower(&parse_file(&source, "stores.rs", None).unwrap()).unwrap();
    let kept = Kept::default();
    let log = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_ansi(false)
        .with_writer(kept.clone())
        .finish();
    // Of one subscriber alone, a callsite that another thread reaches first asks that thread's, which is none, and stays silent for good.
    let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());
    let code = tracing::subscriber::with_default(log, || CompiledProgram::compile(&program));
    let code = code.unwrap();
    let (mut a, mut b) = (0u64, 0u64);
    let places = [&raw mut a, &raw mut b].map(|place| place.addr() as u64);
    let mut machine = Machine::new(&code, 16, 16);
    machine.push(program.find("both").unwrap(), &[places[0], places[1], 7]);
    assert_eq!(machine.run(), status::OK, "{order}");
    assert_eq!(std::hint::black_box((a, b)), (7, 8), "{order}");
    let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
    assert!(text.contains("atomic_load"), "{text}");
    text
}

#[test]
fn only_what_is_sequentially_consistent_waits() {
    for (order, waits) in [
        ("Relaxed", false),
        ("Release", !cfg!(target_arch = "x86_64")),
        ("SeqCst", true),
    ] {
        let text = stores(order);
        assert_eq!(text.contains("atomic_store"), waits, "{order}: {text}");
    }
}
