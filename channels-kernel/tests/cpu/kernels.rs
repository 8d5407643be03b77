//! Kernels of a graph from their source: what they emit lies on the channels' stacks, what is bound to them comes from a table.

use crate::support::Machine;
use millstream_channels_kernel::cpu::{CompiledProgram, abi::status};
use millstream_cilk_lower::{instantiate::instantiate, parse_file};
use millstream_graph::{
    graph::{Channel, Graph, Kernel},
    ir::{ChannelId, TaskId},
};

/// A graph of one kernel, `work`, which emits into the channel that it consumes.
fn compile(source: &str, element: &str, args: usize) -> (CompiledProgram, TaskId) {
    let program = parse_file(source, "test.rs", None).unwrap();
    let mut graph = Graph::new("test");
    let mut channel = Channel::new("items", element);
    channel.input = true;
    let channel = graph.add_channel(channel);
    graph.add_kernel(Kernel {
        consumes: Some(channel),
        produces: vec![channel],
        args: (0..args).map(|i| format!("arg{i}")).collect(),
        ..Kernel::device("work")
    });
    let instance = instantiate(&program, &graph).unwrap();
    let code = CompiledProgram::compile(&instance.program).unwrap();
    (code, instance.kernels[0].1)
}

/// Runs an element and all that comes of it: what lies in the channel goes to the kernel's entry stack, a wavefront at a time.
fn drain(machine: &mut Machine<'_>, task: TaskId, first: &[u64]) {
    machine.push(task, first);
    loop {
        assert_eq!(machine.run(), status::OK);
        let emitted = machine.take(ChannelId(0));
        if emitted.is_empty() {
            return;
        }
        emitted
            .iter()
            .for_each(|element| machine.push(task, element));
    }
}

#[test]
fn figure_6() {
    let source = "
        #[millstream::program]
        mod fib {
            pub struct FibObj { pub n: u32 }
            #[kernel]
            pub fn work(src: FibObj, next: Channel<FibObj>, result: &AtomicU64) {
                if src.n < 2 {
                    result.fetch_add(src.n as u64, Ordering::Relaxed);
                    return;
                }
                next.emit(FibObj { n: src.n - 1 });
                next.emit(FibObj { n: src.n - 2 });
            }
        }";
    let (code, task) = compile(source, "FibObj", 1);
    for width in [1, 7, 500] {
        let mut result = 0u64;
        let mut machine = Machine::new(&code, 100_000, width);
        machine.set_uniforms(vec![(&raw mut result).addr() as u64]);
        drain(&mut machine, task, &[20]);
        assert_eq!(machine.tasks, 21_891);
        assert_eq!(std::hint::black_box(result), 6765);
    }
}

/// What is emitted in a loop is not counted: a run ends where there is no room, and says so.
#[test]
fn emits_in_a_loop_and_uniforms_of_all_kinds() {
    let source = "
        #[millstream::program]
        mod range {
            #[kernel]
            pub fn work(range: (u32, u8), part: u32, halves: Channel<(u32, u8)>, steps: [u8; 3], sums: &[AtomicU32], scale: f32, on: bool, small: i8) {
                let (n, depth) = range;
                for i in 0..n {
                    sums[(i % 2) as usize].fetch_add(part + steps[depth as usize] as u32, Ordering::Relaxed);
                    if on { sums[0].fetch_add((scale * 2.0) as u32 + (small + 4) as u32, Ordering::Relaxed); }
                    if depth < 2 {
                        halves.emit((i, depth + 1));
                    }
                }
            }
        }";
    let (code, task) = compile(source, "(u32, u8)", 6);
    let steps = [1u8, 2, 4];
    // Twice it is 3, and -3 + 4 is 1.
    let scale = u64::from(1.5f32.to_bits());
    for width in [1, 5] {
        let mut sums = [0u32; 2];
        let mut machine = Machine::new(&code, 1000, width);
        let at = (
            steps.as_ptr().addr() as u64,
            sums.as_mut_ptr().addr() as u64,
        );
        machine.set_uniforms(vec![100, at.0, at.1, 2, scale, 1, 0xfd]);
        drain(&mut machine, task, &[6, 0]);
        let mut expected = [0u32; 2];
        let mut add = |i: u32, depth: usize| {
            expected[i as usize % 2] += 100 + u32::from(steps[depth]);
            expected[0] += 3 + 1;
        };
        for i in 0..6 {
            add(i, 0);
            for j in 0..i {
                add(j, 1);
                (0..j).for_each(|k| add(k, 2));
            }
        }
        assert_eq!(std::hint::black_box(sums), expected);
    }
    let mut sums = [0u32; 2];
    let mut machine = Machine::new(&code, 4, 1);
    let at = (
        steps.as_ptr().addr() as u64,
        sums.as_mut_ptr().addr() as u64,
    );
    machine.set_uniforms(vec![100, at.0, at.1, 2, scale, 1, 0xfd]);
    machine.push(task, &[6, 0]);
    assert_eq!(machine.run(), status::CHANNEL_FULL);
}

/// A kernel that spawns and syncs is split as a task is; it emits before and behind its sync.
#[test]
fn a_kernel_that_spawns() {
    let source = "
        #[millstream::program]
        mod rounds {
            #[task]
            pub fn fib(n: u32) -> u64 {
                if n < 2 { return n as u64; }
                let x = spawn!(fib(n - 1));
                let y = spawn!(fib(n - 2));
                sync!();
                x + y
            }

            #[kernel]
            pub fn work(n: u32, less: Channel<u32>, sum: &AtomicU64, factor: u64) {
                if n > 3 { less.emit(n / 2); }
                let x = spawn!(fib(n));
                sync!();
                if n > 5 { less.emit(n - 5); }
                sum.fetch_add(x * factor, Ordering::Relaxed);
            }
        }";
    fn expected(n: u32) -> u64 {
        let fib = (0..n).fold((0u64, 1u64), |(a, b), _| (b, a + b)).0;
        let mut sum = fib * 3;
        if n > 3 {
            sum += expected(n / 2);
        }
        if n > 5 {
            sum += expected(n - 5);
        }
        sum
    }
    let (code, task) = compile(source, "u32", 2);
    for width in [1, 3, 100] {
        let mut sum = 0u64;
        let mut machine = Machine::new(&code, 10_000, width);
        machine.set_uniforms(vec![(&raw mut sum).addr() as u64, 3]);
        drain(&mut machine, task, &[21]);
        assert_eq!(std::hint::black_box(sum), expected(21));
    }
}
