//! What the tests of graphs have in common: a program of kernels, and graphs of them.

use super::{GraphCall, GraphProgram, Running};
use crate::{Arg, CpuOptions, Device, ErasedArg, LoadedGraph, RunError, RunReport};
use millstream_cilk_lower::{instantiate::instantiate, parse_file};
use millstream_graph::graph::{Channel, ChannelKey, Graph, Kernel, KernelKey};
use std::sync::Arc;

/// The kernels of all tests.
const SOURCE: &str = r"
#[millstream::program]
mod nodes {
    #[kernel]
    pub fn strict(n: u32, limits: &[u32], out: Channel<u64>) {
        out.emit(limits[n as usize] as u64);
    }

    #[derive(Clone, Copy)]
    pub struct FibObj { pub n: u32 }

    #[kernel]
    pub fn fib(src: FibObj, next: Channel<FibObj>, result: &AtomicU64) {
        if src.n < 2 {
            result.fetch_add(src.n as u64, Ordering::Relaxed);
            return;
        }
        next.emit(FibObj { n: src.n - 1 });
        next.emit(FibObj { n: src.n - 2 });
    }

    #[kernel]
    pub fn down(n: u32, again: Channel<u32>, hits: &AtomicU64) {
        hits.fetch_add(1, Ordering::Relaxed);
        if n > 0 {
            again.emit(n - 1);
        }
    }

    #[kernel]
    pub fn fan(n: u32, evens: Channel<u32>, odds: Channel<(u32, u8)>) {
        for i in 0..n {
            if i % 2 == 0 {
                evens.emit(i);
            } else {
                odds.emit((i, 7u8));
            }
        }
    }

    #[kernel]
    pub fn even(n: u32, out: Channel<u64>) {
        out.emit(n as u64);
    }

    #[kernel]
    pub fn odd(n: (u32, u8), out: Channel<u64>) {
        out.emit(n.0 as u64 * 1000 + n.1 as u64);
    }

    #[kernel]
    pub fn sum(n: u64, result: &AtomicU64) {
        result.fetch_add(n, Ordering::Relaxed);
    }

    #[kernel]
    pub fn pass(n: u64, out: Channel<u64>) {
        out.emit(n);
    }

    #[kernel]
    pub fn round(k: u32, again: Channel<u32>, ended: &AtomicU64) {
        if k == 0 {
            ended.fetch_add(1, Ordering::Relaxed);
        } else {
            again.emit(k - 1);
        }
    }

    #[kernel]
    pub fn stamp(n: u64, clock: &AtomicU64, latest: &AtomicU64) {
        let now = clock.fetch_add(n / n, Ordering::Relaxed);
        latest.fetch_max(now, Ordering::Relaxed);
    }

    #[kernel]
    pub fn hold(n: u64, began: &AtomicU64, go: &AtomicU64) {
        began.store(n, Ordering::Release);
        while go.load(Ordering::Acquire) != n {}
    }

    #[kernel]
    pub fn both(n: u64, left: Channel<u64>, right: Channel<u64>) {
        left.emit(n);
        if n % 3 != 0 {
            right.emit(n + 1);
            right.emit(n + 2);
        }
    }

    #[task]
    pub fn fibonacci(n: u32) -> u64 {
        if n < 2 {
            return n as u64;
        }
        let x = spawn!(fibonacci(n - 1));
        let y = spawn!(fibonacci(n - 2));
        sync!();
        x + y
    }

    #[kernel]
    pub fn spawns(n: u32, out: Channel<u64>) {
        out.emit(n as u64 * 1000000);
        let x = spawn!(fibonacci(n));
        sync!();
        out.emit(x);
    }

    #[kernel]
    pub fn slow(n: u64, out: Channel<u64>) {
        let x = spawn!(fibonacci((n % 8) as u32));
        sync!();
        if x < 1000 {
            out.emit(n);
        }
    }

    pub fn never(waiting: u32, width: u32, more: bool) -> bool {
        waiting > width
    }

    pub fn fails(waiting: u32, width: u32, more: bool) -> bool {
        width / (waiting - waiting) > 1
    }

    pub fn endless(waiting: u32, width: u32, more: bool) -> bool {
        let mut i = waiting;
        while i > 0 {
            i = width;
        }
        true
    }

    pub fn pairs(waiting: u32, width: u32, more: bool) -> bool {
        waiting >= 2 || (!more && width > 0)
    }
}
";

pub(super) fn device(threads: u32) -> Device {
    Device::cpu_with(CpuOptions {
        threads: Some(threads),
        memory: Some(64 << 20),
        ..CpuOptions::default()
    })
    .unwrap()
}

pub(super) fn load(device: &Device, graph: &Graph) -> Result<LoadedGraph, RunError> {
    let program = parse_file(SOURCE, "nodes.rs", None).unwrap();
    let made = instantiate(&program, graph).unwrap();
    let program = GraphProgram {
        graph: graph.clone(),
        source: Arc::new(program),
        levelized: Arc::new(made.program),
        kernels: made.kernels,
    };
    device.load_graph(&Arc::new(program))
}

/// A graph under construction, and what its nodes are given.
#[derive(Default)]
pub(super) struct Built<'a> {
    pub(super) graph: Graph,
    pub(super) call: GraphCall<'a>,
}

impl<'a> Built<'a> {
    pub(super) fn channel(&mut self, name: &str, element: &str, width: u32) -> ChannelKey {
        self.graph.add_channel(Channel {
            width,
            ..Channel::new(name, element)
        })
    }

    pub(super) fn with(&mut self, channel: ChannelKey, change: impl FnOnce(&mut Channel)) {
        change(self.graph.channel_mut(channel).unwrap());
    }

    pub(super) fn input(&mut self, name: &str, element: &str, width: u32) -> ChannelKey {
        let channel = self.channel(name, element, width);
        self.with(channel, |c| c.input = true);
        channel
    }

    pub(super) fn output(&mut self, name: &str, element: &str, width: u32) -> ChannelKey {
        let channel = self.channel(name, element, width);
        self.with(channel, |c| c.output = true);
        channel
    }

    pub(super) fn node(
        &mut self,
        function: &str,
        from: ChannelKey,
        into: &[ChannelKey],
    ) -> KernelKey {
        self.graph.add_kernel(Kernel {
            consumes: Some(from),
            produces: into.to_vec(),
            ..Kernel::device(function)
        })
    }

    pub(super) fn arg(&mut self, node: KernelKey, value: impl Arg<'a>) {
        let args: &mut Vec<ErasedArg<'a>> = self.call.args.entry(node).or_default();
        value.push(args);
        let kernel = self.graph.kernel_mut(node).unwrap();
        kernel.args.push("a value".into());
    }

    pub(super) fn host(
        &mut self,
        name: &str,
        from: Option<ChannelKey>,
        into: &[ChannelKey],
        code: impl FnMut(&[u8], &mut [Vec<u8>]) -> Result<bool, String> + Send + 'a,
    ) {
        let node = self.graph.add_kernel(Kernel {
            consumes: from,
            produces: into.to_vec(),
            ..Kernel::host(name)
        });
        self.call.hosts.insert(node, Box::new(code));
    }

    pub(super) fn run<R>(
        self,
        device: &Device,
        with: impl FnOnce(&Running<'_>) -> Result<R, RunError>,
    ) -> Result<(R, RunReport), RunError> {
        let (result, report) = load(device, &self.graph)?.run(self.call, with)?;
        assert!(report.peak <= report.budget, "{report}");
        Ok((result, report))
    }
}

pub(super) fn words(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_ne_bytes).collect()
}

pub(super) fn longs(bytes: &[u8]) -> Vec<u64> {
    let chunks = bytes.chunks_exact(8);
    chunks
        .map(|c| u64::from_ne_bytes(c.try_into().unwrap()))
        .collect()
}
