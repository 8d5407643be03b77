//! Loops that take several turns at once, beside what they mean turn by turn: every length, every distance between what is read and
//! what is written, and checks that fail in the middle.

use crate::support::Machine;
use millstream_channels_kernel::cpu::{CompiledProgram, abi::status};
use millstream_cilk_lower::{lower::lower, parse_file};

const SOURCE: &str = "
    #[millstream::program]
    mod loops {
        // Reads at `i + from`, writes at `i + to` of one array: the distance decides what may be done at once.
        #[task]
        pub fn shift(data: &mut [f32], n: usize, from: usize, to: usize) {
            for i in 0..n {
                data[i + to] = data[i + from] * 1.5 - 1.0;
            }
        }

        #[task]
        pub fn scale(out: &mut [f32], a: &[f32], x: f32, start: usize, end: usize) {
            for i in start..end {
                out[i] += x * a[i];
            }
        }

        #[task]
        pub fn whole(out: &mut [u32], a: &[u32], n: usize) {
            for i in 0..n {
                out[i] = (out[i] ^ 7) * a[i] + (a[i] & 255);
            }
        }

        #[task]
        pub fn wide(out: &mut [f64], a: &[f64], n: usize) {
            for i in 0..n {
                out[i] = (a[i].abs() / 3.0).sqrt();
            }
        }

        #[task]
        pub fn last(out: &mut [u32], a: &[u32], n: usize) -> u64 {
            let mut sum = 0u64;
            for i in 0..n {
                let x = a[i];
                out[i] = x;
                sum += x as u64;
            }
            sum
        }
    }";

struct Loops {
    levelized: millstream_graph::levelized::Levelized,
    code: CompiledProgram,
}

impl Loops {
    fn new() -> Self {
        let levelized = lower(&parse_file(SOURCE, "test.rs", None).unwrap()).unwrap();
        let code = CompiledProgram::compile(&levelized).unwrap();
        Self { levelized, code }
    }

    /// Runs a task; gives its status and, if it failed, the values of the check.
    fn run(&self, task: &str, args: &[u64]) -> (u32, [u64; 2]) {
        let mut machine = Machine::new(&self.code, 16, 16);
        machine.push(self.levelized.find(task).unwrap(), args);
        let status = machine.run();
        (status, machine.ctx.values)
    }
}

fn numbers(len: usize) -> Vec<f32> {
    (0..len).map(|i| (i * i % 17) as f32 - 6.5).collect()
}

#[test]
fn every_distance_within_one_array() {
    let loops = Loops::new();
    for n in [0, 1, 3, 4, 5, 15, 16, 17, 31, 40] {
        for (from, to) in (0..12).flat_map(|from| (0..12).map(move |to| (from, to))) {
            let mut expected = numbers(64);
            for i in 0..n {
                expected[i + to] = expected[i + from] * 1.5 - 1.0;
            }
            let mut data = numbers(64);
            let args = [
                data.as_mut_ptr().addr() as u64,
                64,
                n as u64,
                from as u64,
                to as u64,
            ];
            assert_eq!(loops.run("shift", &args).0, status::OK);
            assert_eq!(
                std::hint::black_box(data),
                expected,
                "{n} from {from} to {to}"
            );
        }
    }
}

#[test]
fn a_check_fails_where_it_would_one_by_one() {
    let loops = Loops::new();
    for (out_len, a_len) in [(40, 40), (40, 21), (13, 40), (13, 13), (0, 5), (5, 0)] {
        for (start, end) in [
            (0, 40),
            (0, 13),
            (3, 22),
            (7, 8),
            (9, 2),
            (20, 41),
            (0, u64::MAX),
        ] {
            let (a, mut expected) = (numbers(a_len), numbers(out_len));
            let mut failed = None;
            for i in start as usize..end as usize {
                if i >= a_len {
                    failed = Some([i as u64, a_len as u64]);
                } else if i >= out_len {
                    failed = Some([i as u64, out_len as u64]);
                }
                if failed.is_some() {
                    break;
                }
                expected[i] += 0.25 * a[i];
            }
            let mut out = numbers(out_len);
            let (to, from) = (out.as_mut_ptr().addr() as u64, a.as_ptr().addr() as u64);
            let args = [
                to,
                out_len as u64,
                from,
                a_len as u64,
                u64::from(0.25f32.to_bits()),
                start,
                end,
            ];
            let (came, values) = loops.run("scale", &args);
            let text = format!("{start}..{end} of {out_len} and {a_len}");
            assert_eq!((came == status::FAULT).then_some(values), failed, "{text}");
            assert_eq!(std::hint::black_box(out), expected, "{text}");
        }
    }
}

#[test]
fn an_index_that_wraps_is_found() {
    let loops = Loops::new();
    let mut data = numbers(64);
    // The first index is the last of all numbers, and the next ones are small again.
    let args = [data.as_mut_ptr().addr() as u64, 64, 32, u64::MAX, 0];
    assert_eq!(loops.run("shift", &args), (status::FAULT, [u64::MAX, 64]));
    assert_eq!(std::hint::black_box(data), numbers(64));
}

#[test]
fn integers_and_doubles() {
    let loops = Loops::new();
    for n in 0..35usize {
        let a: Vec<u32> = (0..n as u32)
            .map(|i| i.wrapping_mul(2_654_435_761))
            .collect();
        let mut out: Vec<u32> = (0..n as u32).map(|i| !i).collect();
        let expected: Vec<u32> = out
            .iter()
            .zip(&a)
            .map(|(o, a)| (o ^ 7).wrapping_mul(*a).wrapping_add(a & 255))
            .collect();
        let args = [
            out.as_mut_ptr().addr() as u64,
            n as u64,
            a.as_ptr().addr() as u64,
            n as u64,
            n as u64,
        ];
        assert_eq!(loops.run("whole", &args).0, status::OK);
        assert_eq!(std::hint::black_box(out), expected);

        let a: Vec<f64> = (0..n).map(|i| i as f64 * 1.7 - 20.0).collect();
        let mut out = vec![0.0f64; n];
        let args = [
            out.as_mut_ptr().addr() as u64,
            n as u64,
            a.as_ptr().addr() as u64,
            n as u64,
            n as u64,
        ];
        assert_eq!(loops.run("wide", &args).0, status::OK);
        assert_eq!(
            std::hint::black_box(out),
            a.iter().map(|x| (x.abs() / 3.0).sqrt()).collect::<Vec<_>>()
        );
    }
}

#[test]
fn a_loop_that_leaves_a_value_behind_stays_as_it_is() {
    let loops = Loops::new();
    let a: Vec<u32> = (0..37).collect();
    let (mut out, mut sum) = (vec![0u32; 37], 0u64);
    let args = [
        out.as_mut_ptr().addr() as u64,
        37,
        a.as_ptr().addr() as u64,
        37,
        37,
        (&raw mut sum).addr() as u64,
    ];
    assert_eq!(loops.run("last", &args).0, status::OK);
    assert_eq!(
        (std::hint::black_box(out), std::hint::black_box(sum)),
        (a, 36 * 37 / 2)
    );
}
