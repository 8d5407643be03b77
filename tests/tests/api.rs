//! The API from end to end: what a call passes and returns, of every kind of type, is the same on a device as in the elision.

#![allow(
    clippy::too_many_arguments,
    unreachable_pub,
    reason = "programs are written as in a library, with arguments of each type"
)]

use millstream::{Buffer, CpuOptions, Device, Mat, MatMut, RunError};
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

#[millstream::program]
mod shapes {
    use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

    const SIDE: usize = 3;

    /// With padding behind each byte.
    #[derive(Debug, PartialEq, Default)]
    pub struct Point {
        pub tag: u8,
        pub x: f64,
        pub on: bool,
        pub y: f32,
    }

    #[derive(Clone, Debug, PartialEq)]
    #[repr(C)]
    pub struct Grid(pub [[i16; SIDE]; 2], pub Point, pub u8);

    /// Its layout is C's, not that of Rust's tuple.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Holder {
        pub pair: (u8, u32, u8),
        pub r#type: u64,
    }

    #[task]
    pub fn scalars(
        a: bool,
        b: i8,
        c: i16,
        d: i32,
        e: i64,
        f: isize,
        g: u8,
        h: u16,
        i: usize,
        j: f32,
        k: f64,
    ) -> (bool, i8, f32, i64) {
        let sum = b as i64 + c as i64 + d as i64 + e + f as i64 + g as i64 + h as i64 + i as i64;
        (!a, b - 1, j * k as f32, sum)
    }

    #[task]
    pub fn nothing() {}

    #[task]
    pub fn moved(p: Point, by: f64) -> Point {
        Point {
            tag: p.tag + 1,
            x: p.x + by,
            on: !p.on,
            y: p.y * 2.0,
        }
    }

    #[task]
    pub fn turned(g: Grid) -> Grid {
        let mut g = g;
        let point = spawn!(moved(g.1, 0.5));
        for i in 0..SIDE {
            let t = g.0[0][i];
            g.0[0][i] = g.0[1][SIDE - 1 - i];
            g.0[1][SIDE - 1 - i] = t;
        }
        sync!();
        g.1 = point;
        g.2 = 200;
        g
    }

    #[task]
    pub fn held(h: Holder, (a, b): (u16, [u64; 2])) -> ((u8, u64), Holder) {
        (
            (a as u8, b[0] - b[1]),
            Holder {
                pair: (h.pair.2, h.pair.1 + 1, h.pair.0),
                r#type: h.r#type + 1,
            },
        )
    }

    #[task]
    pub fn corners(points: &mut [Point], weights: &[f64; 2]) -> f64 {
        if points.len() == 1 {
            points[0].x *= weights[0];
            return points[0].x + weights[1];
        }
        let (a, b) = points.split_at_mut(points.len() / 2);
        let x = spawn!(corners(a, weights));
        let y = spawn!(corners(b, weights));
        sync!();
        x + y
    }

    #[task]
    pub fn histogram(data: &[u8], bins: &[AtomicU32], total: &AtomicI64) {
        if data.len() <= 4 {
            for &x in data {
                // Relaxed: pairs with the loads behind the run, which its end orders.
                bins[x as usize % bins.len()].fetch_add(1, Ordering::Relaxed);
                total.fetch_add(x as i64, Ordering::Relaxed);
            }
            return;
        }
        let (a, b) = data.split_at(data.len() / 2);
        spawn!(histogram(a, bins, total));
        spawn!(histogram(b, bins, total));
    }

    #[task]
    pub fn transpose(mut to: MatMut<f32>, from: Mat<f32>) {
        if to.rows() <= 2 {
            for i in 0..to.rows() {
                for j in 0..to.cols() {
                    to[(i, j)] = from[(j, i)];
                }
            }
            return;
        }
        let (a, b, c, d) = to.quadrants_mut();
        let (e, f, g, h) = from.quadrants();
        spawn!(transpose(a, e));
        spawn!(transpose(b, g));
        spawn!(transpose(c, f));
        spawn!(transpose(d, h));
        sync!();
    }

    #[task]
    pub fn both((a, b): (&mut [u32], &[u32])) -> u32 {
        for (i, x) in a.iter_mut().enumerate() {
            *x += b[i];
        }
        a[0]
    }

    #[task]
    pub fn bump(x: &mut u64, by: &u64) {
        *x += *by;
    }

    #[task]
    pub fn fib(n: u32) -> u64 {
        if n < 2 {
            return n as u64;
        }
        let x = spawn!(fib(n - 1));
        let y = spawn!(fib(n - 2));
        sync!();
        x + y
    }

    /// A slice of tuples has no layout that the host could promise: only tasks call it.
    #[task]
    pub fn inside(pairs: &mut [(u8, u32)]) {
        pairs[0] = (1, 7);
    }

    #[task]
    pub fn outside() -> u32 {
        let mut pairs = [(0u8, 0u32); 2];
        spawn!(inside(&mut pairs));
        sync!();
        pairs[0].1 + pairs[1].1
    }

    #[task]
    pub fn third(data: &[u32]) -> u32 {
        data[3]
    }
}

fn devices() -> Vec<Device> {
    let device = |threads| {
        Device::cpu_with(CpuOptions {
            threads: Some(threads),
            ..CpuOptions::default()
        })
        .unwrap()
    };
    vec![device(1), device(2)]
}

fn grid() -> shapes::Grid {
    shapes::Grid(
        [[1, 2, -3], [4, -5, 6]],
        shapes::Point {
            tag: 3,
            x: -1.5,
            on: true,
            y: 0.25,
        },
        9,
    )
}

#[test]
fn plain_data_goes_in_and_out() {
    for device in devices() {
        let scalars = device
            .run(shapes::call::scalars(
                true,
                -3,
                -300,
                70_000,
                -1 << 40,
                -5,
                250,
                65_000,
                1 << 33,
                1.5,
                -2.25,
            ))
            .unwrap();
        assert_eq!(
            scalars,
            shapes::scalars(
                true,
                -3,
                -300,
                70_000,
                -1 << 40,
                -5,
                250,
                65_000,
                1 << 33,
                1.5,
                -2.25
            )
        );
        device.run(shapes::call::nothing()).unwrap();
        let grid = grid();
        assert_eq!(
            device.run(shapes::call::moved(grid.1, 2.0)).unwrap(),
            shapes::moved(grid.1, 2.0)
        );
        assert_eq!(
            device.run(shapes::call::turned(grid)).unwrap(),
            shapes::turned(grid)
        );
        let holder = shapes::Holder {
            pair: (1, 2_000_000, 3),
            r#type: 1 << 50,
        };
        assert_eq!(
            device
                .run(shapes::call::held(holder, (300, [9, 5])))
                .unwrap(),
            shapes::held(holder, (300, [9, 5]))
        );
        assert_eq!(
            device.run(shapes::call::outside()).unwrap(),
            shapes::outside()
        );
    }
}

#[test]
fn slices_are_arrays_vectors_and_buffers() {
    let points: Vec<shapes::Point> = (0..13)
        .map(|i| shapes::Point {
            tag: i,
            x: f64::from(i),
            ..Default::default()
        })
        .collect();
    let mut expected = points.clone();
    let sum = shapes::corners(&mut expected, &[2.0, 0.5]);
    for device in devices() {
        let mut vector = points.clone();
        assert_eq!(
            device
                .run(shapes::call::corners(&mut vector, &[2.0, 0.5]))
                .unwrap(),
            sum
        );
        assert_eq!(vector, expected);
        let mut array: [shapes::Point; 13] = points.clone().try_into().unwrap();
        assert_eq!(
            device
                .run(shapes::call::corners(&mut array, &[2.0, 0.5]))
                .unwrap(),
            sum
        );
        assert_eq!(array[..], expected);
        let mut slice = points.clone();
        device
            .run(shapes::call::corners(&mut slice[..7], &[2.0, 0.5]))
            .unwrap();
        assert_eq!((&slice[..7], &slice[7..]), (&expected[..7], &points[7..]));
        let mut buffer: Buffer<shapes::Point> = device.buffer(&points).unwrap();
        assert_eq!(
            device
                .run(shapes::call::corners(&mut buffer, &[2.0, 0.5]))
                .unwrap(),
            sum
        );
        assert_eq!(buffer.read(), expected);
        let (mut a, b) = (vec![1, 2, 3], [10, 20, 30]);
        assert_eq!(
            device
                .run(shapes::call::both((&mut a[..], &b[..])))
                .unwrap(),
            11
        );
        assert_eq!(a, [11, 22, 33]);
        let mut x = 40;
        device.run(shapes::call::bump(&mut x, &2)).unwrap();
        assert_eq!(x, 42);
    }
}

#[test]
fn atomics_are_shared() {
    let data: Vec<u8> = (0..200).collect();
    let bins: [AtomicU32; 7] = Default::default();
    let total = AtomicI64::new(-1);
    shapes::histogram(&data, &bins, &total);
    // Relaxed: one thread wrote it, this one.
    let expected: Vec<u32> = bins.iter().map(|b| b.load(Ordering::Relaxed)).collect();
    for device in devices() {
        let bins: [AtomicU32; 7] = Default::default();
        let total = AtomicI64::new(-1);
        device
            .run(shapes::call::histogram(&data, &bins, &total))
            .unwrap();
        assert_eq!(bins.map(AtomicU32::into_inner)[..], expected);
        assert_eq!(total.into_inner(), 19_899);
        // A buffer of integers is one of atomics, if nobody else has it.
        let mut bins: Buffer<u32> = device.zeros(7).unwrap();
        let input = device.buffer(&data).unwrap();
        device
            .run(shapes::call::histogram(
                &input,
                &mut bins,
                &AtomicI64::new(0),
            ))
            .unwrap();
        assert_eq!(bins.read(), expected);
    }
}

#[test]
fn matrices_are_views_and_buffers() {
    let from: Vec<f32> = (0..64).map(|i| i as f32).collect();
    let mut expected = vec![0.0; 64];
    shapes::transpose(MatMut::new(&mut expected, 8, 8), Mat::new(&from, 8, 8));
    assert_eq!(expected[1], 8.0);
    for device in devices() {
        let mut to = vec![0.0; 64];
        device
            .run(shapes::call::transpose(
                MatMut::new(&mut to, 8, 8),
                Mat::new(&from, 8, 8),
            ))
            .unwrap();
        assert_eq!(to, expected);
        // A part of each: the rest stays as it was.
        let mut part = vec![-1.0; 64];
        let mut m = MatMut::new(&mut part, 8, 8);
        let (_, top_right, ..) = m.quadrants_mut();
        device
            .run(shapes::call::transpose(
                top_right,
                Mat::new(&from, 8, 8).quadrants().2,
            ))
            .unwrap();
        for i in 0..8 {
            for j in 0..8 {
                assert_eq!(
                    part[8 * i + j],
                    if i < 4 && j >= 4 {
                        expected[8 * i + j]
                    } else {
                        -1.0
                    }
                );
            }
        }
        let (input, mut output) = (
            device.buffer(&from).unwrap(),
            device.zeros::<f32>(64).unwrap(),
        );
        device
            .run(shapes::call::transpose((&mut output, 8, 8), (&input, 8, 8)))
            .unwrap();
        assert_eq!(output.read(), expected);
        let refused = device.run(shapes::call::transpose((&mut output, 8, 9), (&input, 8, 8)));
        assert!(
            matches!(refused, Err(RunError::BadArguments(_))),
            "{refused:?}"
        );
    }
}

#[test]
fn many_calls_are_one_run() {
    for device in devices() {
        let (results, report) = device
            .run_all_with_report((0..25).map(shapes::call::fib))
            .unwrap();
        assert_eq!(results, (0..25).map(shapes::fib).collect::<Vec<_>>());
        let all = (0..25).map(|n| 2 * shapes::fib(n + 1) - 1).sum::<u64>();
        assert_eq!(
            (report.total, report.tasks),
            (all, vec![("fib".to_owned(), all)])
        );
        let mut rows = vec![1u32; 12];
        let ones = [1u32; 3];
        let heads = device
            .run_all(
                rows.chunks_mut(3)
                    .map(|row| shapes::call::both((row, &ones[..]))),
            )
            .unwrap();
        assert_eq!((heads, rows), (vec![2; 4], vec![2; 12]));
        assert_eq!(
            device
                .run_all(Vec::<millstream::Call<'_, u64>>::new())
                .unwrap(),
            Vec::<u64>::new()
        );
        let mixed = device.run_all([shapes::call::nothing(), unit_call()]);
        let Err(RunError::BadArguments(message)) = mixed else {
            panic!("{mixed:?}")
        };
        assert_eq!(
            message,
            "the calls of one run are all of one task, and these are of `nothing` and `bump`"
        );
    }
}

fn unit_call() -> millstream::Call<'static, ()> {
    shapes::call::bump(Box::leak(Box::new(1)), &2)
}

#[test]
fn a_report_counts_the_tasks() {
    // How many calls there are at each level: a call of n at level l makes one of n - 1 and one of n - 2 below it.
    fn count(n: u32, level: usize, at: &mut Vec<u64>) {
        at.resize(at.len().max(level + 1), 0);
        at[level] += 1;
        if n >= 2 {
            count(n - 1, level + 1, at);
            count(n - 2, level + 1, at);
        }
    }
    for device in devices() {
        for n in [0, 1, 2, 3, 20] {
            let (result, report) = device.run_with_report(shapes::call::fib(n)).unwrap();
            let mut at = Vec::new();
            count(n, 0, &mut at);
            assert_eq!((result, report.total), (shapes::fib(n), at.iter().sum()));
            assert_eq!(
                (report.levels, report.elements),
                (at.len() as u64, at),
                "leaves are tasks of their level, wherever they end"
            );
        }
    }
}

#[test]
fn what_fails_names_the_users_file_and_line() {
    let device = devices().remove(0);
    let source = include_str!("api.rs")
        .lines()
        .position(|l| l.trim() == "data[3]")
        .unwrap()
        + 1;
    let Err(RunError::Fault(fault)) = device.run(shapes::call::third(&[1, 2, 3])) else {
        panic!("three are enough")
    };
    let message = fault.to_string();
    let place = format!("tests/tests/api.rs:{source}:9");
    assert!(message.contains(&place), "{message}\nand not {place}");
}

#[test]
fn a_program_is_lowered_once() {
    let program = shapes::program();
    assert!(std::ptr::eq(program, shapes::program()));
    assert_eq!(program.name(), "shapes");
    assert!(
        program.text().contains("in \"tests/tests/api.rs\""),
        "{}",
        program.text().lines().next().unwrap()
    );
    let call = shapes::call::fib(3);
    assert_eq!(
        (
            call.task(),
            std::sync::Arc::ptr_eq(call.program(), program.levelized())
        ),
        ("fib", true)
    );
}

#[millstream::program]
mod litmus {
    use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

    /// Goes on a little after the other has come, or after a while.
    fn meet(mine: &AtomicU32, other: &AtomicU32, after: usize) -> u32 {
        mine.store(1, Ordering::Relaxed);
        let mut turns = 0;
        while other.load(Ordering::Relaxed) == 0 && turns < 2000 {
            turns += 1;
        }
        for _ in 0..after {
            turns += mine.load(Ordering::Relaxed);
        }
        turns
    }

    #[task]
    pub fn store_and_look(
        come: &[AtomicU32],
        came: &[AtomicU32],
        mine: &[AtomicU32],
        other: &[AtomicU32],
        saw: &mut [u32],
        beat: usize,
    ) {
        for i in 0..saw.len() {
            meet(&come[i], &came[i], i % beat * 3);
            mine[i].store(1, Ordering::SeqCst);
            saw[i] = other[i].load(Ordering::SeqCst);
        }
    }

    #[task]
    pub fn send(data: &[AtomicU64], flags: &[AtomicU32]) {
        for i in 0..flags.len() {
            data[i].store(i as u64 + 1, Ordering::Relaxed);
            flags[i].store(1, Ordering::Release);
        }
    }

    /// How many messages came without what was stored before.
    #[task]
    pub fn receive(data: &[AtomicU64], flags: &[AtomicU32]) -> u32 {
        let mut wrong = 0;
        for i in 0..flags.len() {
            let seen = flags[i].load(Ordering::Acquire) == 1;
            wrong += (seen && data[i].load(Ordering::Relaxed) != i as u64 + 1) as u32;
        }
        wrong
    }
}

/// Two devices work on the same memory at the same time, as far as the machine lets them.
#[test]
fn orders_hold_between_threads() {
    const CELLS: usize = 1000;
    let fresh = || (0..CELLS).map(|_| AtomicU32::new(0)).collect::<Vec<_>>();
    let pair = [(); 2].map(|()| devices().remove(0));
    let meet = std::sync::Barrier::new(2);
    for round in 0..100 {
        let (left, right) = (fresh(), fresh());
        let data: Vec<_> = (0..CELLS).map(|_| AtomicU64::new(0)).collect();
        let flags = fresh();
        let came = [fresh(), fresh()];
        let look = |device: usize, mine: &[AtomicU32], other: &[AtomicU32]| {
            let mut saw = vec![0; CELLS];
            let (here, there) = (&came[device], &came[1 - device]);
            let call =
                litmus::call::store_and_look(here, there, mine, other, &mut saw, 59 + 2 * device);
            meet.wait();
            pair[device].run(call).unwrap();
            saw
        };
        let (first, second, wrong) = std::thread::scope(|s| {
            let other = s.spawn(|| {
                let saw = look(1, &right, &left);
                meet.wait();
                pair[1].run(litmus::call::send(&data, &flags)).unwrap();
                saw
            });
            let saw = look(0, &left, &right);
            meet.wait();
            let wrong = pair[0].run(litmus::call::receive(&data, &flags)).unwrap();
            (saw, other.join().unwrap(), wrong)
        });
        // All agree on one order: of two who store and then look at the other's, one sees it.
        let neither = first.iter().zip(&second).filter(|(a, b)| **a + **b == 0);
        assert_eq!(neither.count(), 0, "round {round}");
        assert_eq!(wrong, 0, "round {round}");
    }
}
