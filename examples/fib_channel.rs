//! Fibonacci numbers on one channel: the paper's Figure 6.
//!
//! ```text
//!   20 ──► [ calls ] ──► fib ──► result (atomic)
//!              ▲          │
//!              └── emit ──┘
//! ```

#[millstream::program]
pub mod fib_channel {
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A call: a channel element of the paper's Figure 6.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct FibObj {
        /// Which number is wanted.
        pub n: u32,
    }

    /// Adds up the leaves of the tree of calls.
    #[kernel]
    pub fn fib(src: FibObj, next: Channel<FibObj>, result: &AtomicU64) {
        if src.n < 2 {
            // Relaxed: the result is read when the run is over.
            result.fetch_add(src.n as u64, Ordering::Relaxed);
            return;
        }
        next.emit(FibObj { n: src.n - 1 });
        next.emit(FibObj { n: src.n - 2 });
    }
}

use fib_channel::FibObj;
use millstream::{Device, Graph};
use std::sync::atomic::{AtomicU64, Ordering};

/// The graph: one kernel, which produces into the channel that it consumes.
pub fn graph(n: u32, result: &AtomicU64) -> Graph<'_> {
    let mut graph = Graph::new("fib");
    let calls = graph.channel::<FibObj>("calls").width(32_768);
    graph
        .kernel(fib_channel::kernel::fib)
        .consumes(&calls)
        .produces(&calls)
        .arg(result);
    graph.send(&calls, [FibObj { n }]);
    graph
}

fn main() -> Result<(), millstream::Error> {
    let result = AtomicU64::new(0);
    graph(20, &result).run(&Device::auto()?)?;
    // Relaxed: the run is over.
    let fib = result.load(Ordering::Relaxed);
    assert_eq!(fib, 6765);
    println!("fib(20) = {fib}");
    Ok(())
}
