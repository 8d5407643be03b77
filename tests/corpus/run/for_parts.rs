//! `for` over parts of slices, and over several slices in step.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU32, Ordering};

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Point {
        pub x: f32,
        pub y: f32,
    }

    #[task]
    pub fn dot(a: &[f32], b: &[f32]) -> f32 {
        let mut sum = 0.0;
        for (x, y) in a.iter().zip(b) {
            sum += x * y;
        }
        for (i, (&x, y)) in a.iter().zip(b.iter()).enumerate() {
            sum += (x - *y) * i as f32;
        }
        sum
    }

    #[task]
    pub fn zips(a: &mut [i32], b: &[i32], c: [i32; 3]) -> i32 {
        let mut n = 0;
        for ((x, &y), z) in a.iter_mut().zip(b).zip(c) {
            *x += y * z;
            n += 1;
        }
        for (a, b) in b.iter().copied().zip(&c) {
            n = n * 5 + a * b;
        }
        let (low, high) = a.split_at_mut(1);
        for (x, y) in low.iter_mut().zip(high) {
            std::mem::swap(x, y);
        }
        n
    }

    #[task]
    pub fn parts(a: &[u32], size: usize) -> [u32; 6] {
        let mut out = [0; 6];
        for part in a.chunks(size) {
            out[0] = out[0] * 10 + part.len() as u32 + part[0];
        }
        for part in a.chunks(size).rev() {
            out[1] = out[1] * 10 + part[part.len() - 1];
        }
        for (i, part) in a.chunks_exact(size).enumerate() {
            out[2] += part[size - 1] * i as u32;
        }
        for pair in a.windows(2) {
            out[3] += (pair[0] > pair[1]) as u32;
        }
        for (i, w) in a.windows(size).rev().enumerate() {
            out[4] = out[4] * 3 + w[0] * i as u32;
        }
        for (part, &x) in a.chunks(2).zip(a) {
            if part.len() < 2 {
                break;
            }
            out[5] += part[1] * x;
        }
        out
    }

    #[task]
    pub fn fill(part: &mut [u32], n: u32) {
        for x in part.iter_mut() {
            *x = n;
        }
    }

    #[task]
    pub fn children(data: &mut [u32], sums: &mut [u32], size: usize) -> u32 {
        for (i, part) in data.chunks_mut(size).enumerate() {
            spawn!(fill(part, i as u32));
        }
        sync!();
        for (part, sum) in data.chunks_exact_mut(size).zip(sums.iter_mut()) {
            for x in part.iter_mut() {
                *sum += *x;
                *x *= 2;
            }
        }
        let mut total = 0;
        for x in data.iter().copied() {
            total += x;
        }
        total
    }

    #[task]
    pub fn points(p: &[Point], q: &mut [[f32; 2]]) -> f32 {
        let mut far = 0f32;
        for (Point { x, y }, [a, b]) in p.iter().zip(q.iter_mut()) {
            (*a, *b) = (*b - *x, *a - *y);
            far = far.max(x.abs() + *b);
        }
        far
    }

    #[task]
    pub fn counters(data: &[u8]) -> [u32; 3] {
        let counts = [const { AtomicU32::new(7) }; 3];
        for part in data.chunks(2) {
            spawn!(count(part, &counts));
        }
        sync!();
        let mut out = [0; 3];
        for (o, c) in out.iter_mut().zip(&counts) {
            *o = c.load(Ordering::Relaxed);
        }
        out
    }

    #[task]
    pub fn count(data: &[u8], counts: &[AtomicU32]) {
        for &x in data {
            counts[x as usize % 3].fetch_add(1, Ordering::Relaxed);
        }
    }
}

millstream_tests::cases! {
    dot(&[1.0, 2.0, 3.0], &[4.0, 5.0]);
    dot(&[0.0f32; 0], &[4.0, 5.0]);
    zips(&mut vec![1, 2, 3, 4], &[5, 6, 7, 8, 9], [1, 2, 3]);
    zips(&mut vec![1], &[5, 6], [1, 2, 3]);
    parts(&[3, 1, 4, 1, 5, 9, 2, 6], 3);
    parts(&[3, 1, 4, 1, 5, 9, 2, 6], 4);
    parts(&[3, 1], 5);
    parts(&[0u32; 0], 1);
    children(&mut vec![9; 11], &mut vec![100; 5], 3);
    children(&mut vec![9; 6], &mut vec![100; 2], 2);
    points(&[program::Point { x: 1.0, y: 2.0 }, program::Point { x: -7.0, y: 0.5 }], &mut vec![[3.0, 4.0], [5.0, 6.0], [0.0, 0.0]]);
    counters(&[1u8, 2, 3, 4, 5, 6, 7]);
}
