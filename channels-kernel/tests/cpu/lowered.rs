//! Programs from their source, through the lowering, on private stacks.

use crate::support::Machine;
use millstream_channels_kernel::cpu::{CompiledProgram, abi::status};
use millstream_cilk_lower::{lower::lower, parse_file};

/// Runs the task of that name on scalar arguments at several widths; gives its result, a `u64`.
fn run(source: &str, entry: &str, args: &[u64]) -> u64 {
    let program = parse_file(source, "test.rs", None).unwrap();
    let levelized = lower(&program).unwrap();
    let code = CompiledProgram::compile(&levelized).unwrap();
    let task = levelized.find(entry).unwrap();
    let results = [1, 7, 500].map(|width| {
        let mut machine = Machine::new(&code, 100_000, width);
        let mut result = 0u64;
        machine.push(
            task,
            &[args, &[(&raw mut result).addr() as u64][..]].concat(),
        );
        assert_eq!(machine.run(), status::OK);
        std::hint::black_box(result)
    });
    assert!(results.iter().all(|&r| r == results[0]), "{results:?}");
    results[0]
}

#[test]
fn fib() {
    let source = "
        #[millstream::program]
        mod fib {
            #[task]
            pub fn fib(n: u32) -> u64 {
                if n < 2 { return n as u64; }
                let x = spawn!(fib(n - 1));
                let y = spawn!(fib(n - 2));
                sync!();
                x + y
            }
        }";
    assert_eq!(run(source, "fib", &[20]), 6765);
}

#[test]
fn queens() {
    let source = "
        #[millstream::program]
        mod queens {
            #[task]
            pub fn queens(n: u32, cols: u32, left: u32, right: u32) -> u64 {
                let all = (1u32 << n) - 1;
                if cols == all { return 1; }
                let mut total = 0u64;
                let mut free = all & !(cols | left | right);
                while free != 0 {
                    let bit = free & free.wrapping_neg();
                    free ^= bit;
                    total += spawn!(queens(n, cols | bit, (left | bit) << 1, (right | bit) >> 1));
                }
                sync!();
                total
            }
        }";
    assert_eq!(run(source, "queens", &[8, 0, 0, 0]), 92);
}

#[test]
fn a_sync_in_a_loop_and_two_tasks() {
    let source = "
        #[millstream::program]
        mod rounds {
            #[task]
            pub fn twice(n: u64) -> u64 { n * 2 }

            #[task]
            pub fn rounds(n: u64) -> u64 {
                let mut total = 1u64;
                for i in 0..n {
                    let a = spawn!(twice(total));
                    let b = spawn!(twice(i));
                    sync!();
                    total = a + b;
                }
                total
            }
        }";
    let mut total = 1u64;
    for i in 0..20 {
        total = total * 2 + i * 2;
    }
    assert_eq!(run(source, "rounds", &[20]), total);
}
