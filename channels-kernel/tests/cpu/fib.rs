//! Spawns, frames and continuations: fib under several widths and limits.

use crate::support::{Machine, build};
use millstream_channels_kernel::cpu::{CompiledProgram, abi::status};
use millstream_graph::ir::TaskId;

fn fib(n: u64) -> u64 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

#[test]
fn fib_is_right_at_any_width() {
    let code = CompiledProgram::compile(&build::fib(true)).unwrap();
    for width in [1, 2, 3, 64, 1000] {
        for n in [0, 1, 2, 5, 17] {
            let mut machine = Machine::new(&code, 2 * (n + 2) * width, width);
            let mut result = u64::MAX;
            machine.push(TaskId(0), &[n, (&raw mut result).addr() as u64]);
            assert_eq!(machine.run(), status::OK);
            assert_eq!(result, fib(n), "fib({n}) in wavefronts of {width}");
            assert!(machine.states.iter().all(|s| s.top == 0));
        }
    }
}
