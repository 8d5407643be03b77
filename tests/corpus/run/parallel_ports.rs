//! Loops as they are ported from OpenMP, rayon and CUDA: stencils, products by tiles, scans by blocks, sorts by stages.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Body {
        pub at: [f64; 3],
        pub speed: [f64; 3],
        pub mass: f64,
    }

    impl Body {
        const SOFT: f64 = 1e-3;

        fn pull(&self, other: &Body) -> [f64; 3] {
            let mut d = [0.0; 3];
            for i in 0..3 {
                d[i] = other.at[i] - self.at[i];
            }
            let r = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + Self::SOFT;
            let f = other.mass / (r * r.sqrt());
            [d[0] * f, d[1] * f, d[2] * f]
        }

        fn energy(self, all: &[Body]) -> f64 {
            let mut sum = 0.0;
            #[parallel]
            for other in all {
                let p = self.pull(other);
                sum += p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
            }
            sum
        }

        fn shift(&mut self, by: &[f64]) -> f64 {
            let mut sum = 0.0;
            #[parallel]
            for x in by {
                sum += x;
            }
            self.at[0] += sum;
            sum
        }
    }

    #[task]
    pub fn bodies(all: &mut [Body], next: &mut [Body], steps: u32, dt: f64) -> f64 {
        for _ in 0..steps {
            #[parallel]
            for (b, out) in all.iter().zip(next.iter_mut()) {
                let mut a = [0.0; 3];
                for other in all.iter() {
                    let p = b.pull(other);
                    for i in 0..3 {
                        a[i] += p[i];
                    }
                }
                *out = *b;
                for i in 0..3 {
                    out.speed[i] += a[i] * dt;
                    out.at[i] += out.speed[i] * dt;
                }
            }
            all.copy_from_slice(next);
        }
        let mut energy = 0.0;
        #[parallel]
        for b in all.iter() {
            energy += b.energy(all);
        }
        energy + all[0].shift(&[0.5, 0.25])
    }

    /// Lloyd's steps: nearest centre, sums by atomics, new centres.
    #[task]
    pub fn k_means(points: &[[i32; 2]], centres: &mut [[i32; 2]], which: &mut [u32], sums: &[AtomicU64], steps: u32) -> u64 {
        let k = centres.len();
        let mut spread = 0u64;
        for _ in 0..steps {
            spread = 0;
            #[parallel]
            for (&[x, y], w) in points.iter().zip(which.iter_mut()) {
                let (mut best, mut least) = (0, i64::MAX);
                for (i, &[cx, cy]) in centres.iter().enumerate() {
                    let (dx, dy) = ((cx - x) as i64, (cy - y) as i64);
                    let d = dx * dx + dy * dy;
                    if d < least {
                        least = d;
                        best = i;
                    }
                }
                *w = best as u32;
                sums[3 * best].fetch_add(x as u64, Ordering::Relaxed);
                sums[3 * best + 1].fetch_add(y as u64, Ordering::Relaxed);
                sums[3 * best + 2].fetch_add(1, Ordering::Relaxed);
                spread += least as u64;
            }
            #[parallel]
            for (i, c) in centres.iter_mut().enumerate() {
                let count = sums[3 * i + 2].load(Ordering::Relaxed) as i64;
                if count == 0 {
                    continue;
                }
                let x = sums[3 * i].load(Ordering::Relaxed) as i64 / count;
                let y = sums[3 * i + 1].load(Ordering::Relaxed) as i64 / count;
                *c = [x as i32, y as i32];
            }
            #[parallel]
            for s in sums {
                s.store(0, Ordering::Relaxed);
            }
        }
        spread + k as u64
    }

    /// Two buffers that change places by turns.
    #[task]
    pub fn heat(a: &mut [f32], b: &mut [f32], turns: usize) -> f32 {
        let n = a.len();
        for turn in 0..turns {
            if turn % 2 == 0 {
                step(a, b);
            } else {
                step(b, a);
            }
        }
        let mut most = f32::NEG_INFINITY;
        #[parallel]
        for i in 0..n {
            most = most.max(a[i]);
        }
        most
    }

    fn step(from: &[f32], to: &mut [f32]) {
        let n = from.len();
        #[parallel]
        for (x, w) in to[1..n - 1].iter_mut().zip(from.windows(3)) {
            *x = w[1] + 0.25 * (w[0] - 2.0 * w[1] + w[2]);
        }
        to[0] = from[0];
        to[n - 1] = from[n - 1];
    }

    #[task]
    pub fn life(now: &[u8], next: &mut [u8], width: usize) -> u32 {
        let height = now.len() / width;
        let mut alive = 0;
        #[parallel]
        for (y, row) in next.chunks_exact_mut(width).enumerate() {
            #[parallel]
            for (x, cell) in row.iter_mut().enumerate() {
                let mut around = 0;
                for dy in [height - 1, 0, 1] {
                    for dx in [width - 1, 0, 1] {
                        if dx != 0 || dy != 0 {
                            around += now[(y + dy) % height * width + (x + dx) % width];
                        }
                    }
                }
                let lives = around == 3 || around == 2 && now[y * width + x] == 1;
                *cell = lives as u8;
                alive += lives as u32;
            }
        }
        alive
    }

    /// Sums of blocks, a scan of these, and each block from there.
    #[task]
    pub fn prefix(data: &mut [u32], sums: &mut [u32], block: usize) -> u32 {
        #[parallel]
        for (sum, part) in sums.iter_mut().zip(data.chunks(block)) {
            let mut s = 0;
            for x in part {
                s += x;
            }
            *sum = s;
        }
        let mut sum = 0;
        for s in sums.iter_mut() {
            let x = *s;
            *s = sum;
            sum += x;
        }
        #[parallel]
        for (start, part) in sums.iter().zip(data.chunks_mut(block)) {
            let mut sum = *start;
            for x in part {
                sum += *x;
                *x = sum;
            }
        }
        sum
    }

    #[task]
    pub fn tiles(a: &[f32], b: &[f32], out: &mut [f32], n: usize) -> f32 {
        let (a, b) = (Mat::new(a, a.len() / n, n), Mat::new(b, n, b.len() / n));
        let (n, m) = (b.cols(), a.cols());
        #[parallel]
        for (i, band) in out.chunks_mut(4 * n).enumerate() {
            #[parallel]
            for (di, row) in band.chunks_mut(n).enumerate() {
                for (j, x) in row.iter_mut().enumerate() {
                    let mut sum = 0.0;
                    for k in 0..m {
                        sum += a[(4 * i + di, k)] * b[(k, j)];
                    }
                    *x = sum;
                }
            }
        }
        let mut trace = 0.0f32;
        #[parallel]
        for i in 0..n.min(a.rows()) {
            trace += out[i * n + i];
        }
        trace
    }

    #[task]
    pub fn mandelbrot(out: &mut [u16], width: usize, limit: u16) -> u64 {
        let mut total = 0u64;
        let height = out.len() / width;
        #[parallel]
        for (i, pixel) in out.iter_mut().enumerate() {
            let (cx, cy) = (3.0 * (i % width) as f64 / width as f64 - 2.0, 2.0 * (i / width) as f64 / height as f64 - 1.0);
            let (mut x, mut y, mut n) = (0.0, 0.0, 0u16);
            while n < limit && x * x + y * y <= 4.0 {
                (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
                n += 1;
            }
            *pixel = n;
            total += n as u64;
        }
        total
    }

    #[task]
    pub fn dot(a: &[f32], b: &[f32]) -> (f32, f64) {
        let mut sum = 0.0;
        let mut wide = 0.0;
        #[parallel]
        for (x, y) in a.iter().zip(b) {
            sum += x * y;
            wide += f64::from(*x) * f64::from(*y);
        }
        (sum, wide)
    }

    /// The place of the greatest: value and place in one number.
    #[task]
    pub fn argmax(data: &[u32]) -> usize {
        let mut best = 0u64;
        #[parallel]
        for (i, &x) in data.iter().enumerate() {
            best = best.max((x as u64) << 32 | (u32::MAX - i as u32) as u64);
        }
        (u32::MAX - best as u32) as usize
    }

    #[task]
    pub fn counting_sort(data: &[u8], counts: &[AtomicU32], starts: &mut [u32], out: &mut [u8]) {
        #[parallel]
        for &x in data {
            counts[x as usize].fetch_add(1, Ordering::Relaxed);
        }
        let mut sum = 0;
        for (start, count) in starts.iter_mut().zip(counts) {
            *start = sum;
            sum += count.load(Ordering::Relaxed);
        }
        #[parallel]
        for (i, x) in out.iter_mut().enumerate() {
            let (mut lo, mut hi) = (0, starts.len());
            while hi - lo > 1 {
                let middle = (lo + hi) / 2;
                if starts[middle] as usize <= i {
                    lo = middle;
                } else {
                    hi = middle;
                }
            }
            *x = lo as u8;
        }
    }

    /// Rows of very different lengths.
    #[task]
    pub fn sparse(starts: &[usize], columns: &[u32], values: &[f32], x: &[f32], y: &mut [f32]) {
        #[parallel]
        for (row, out) in starts.windows(2).zip(y.iter_mut()) {
            let mut sum = 0.0;
            #[parallel]
            for i in row[0]..row[1] {
                sum += values[i] * x[columns[i] as usize];
            }
            *out = sum;
        }
    }

    #[task]
    pub fn distances(starts: &[u32], edges: &[u32], found: &[AtomicU32], from: usize) -> u32 {
        found[from].store(0, Ordering::Relaxed);
        let mut level = 0;
        loop {
            let mut more = false;
            #[parallel]
            for v in 0..found.len() {
                if found[v].load(Ordering::Relaxed) != level {
                    continue;
                }
                let (first, end) = (starts[v] as usize, starts[v + 1] as usize);
                for &w in &edges[first..end] {
                    let old = found[w as usize].fetch_min(level + 1, Ordering::Relaxed);
                    more |= old > level + 1;
                }
            }
            if !more {
                break;
            }
            level += 1;
        }
        level
    }

    #[task]
    pub fn bitonic(data: &mut [u32], sorted: &mut [u32]) -> bool {
        let n = data.len();
        let mut size = 2;
        while size <= n {
            let mut step = size / 2;
            while step > 0 {
                #[parallel]
                for (i, out) in sorted.iter_mut().enumerate() {
                    let (mine, other) = (data[i], data[i ^ step]);
                    let up = i & size == 0;
                    let low = i & step == 0;
                    *out = if up == low { mine.min(other) } else { mine.max(other) };
                }
                #[parallel]
                for (x, y) in data.iter_mut().zip(sorted.iter()) {
                    *x = *y;
                }
                step /= 2;
            }
            size *= 2;
        }
        let mut right = true;
        #[parallel]
        for pair in data.windows(2) {
            right &= pair[0] <= pair[1];
        }
        right
    }

    /// Stages of a transform of whole numbers modulo 97.
    #[task]
    pub fn stages(data: &mut [u32], root: u32) -> u32 {
        let mut half = data.len() / 2;
        let mut w = root;
        while half > 0 {
            #[parallel]
            for part in data.chunks_exact_mut(2 * half) {
                let (low, high) = part.split_at_mut(half);
                #[parallel]
                for (i, (a, b)) in low.iter_mut().zip(high).enumerate() {
                    let (x, y) = (*a, *b);
                    *a = (x + y) % 97;
                    *b = (x + 97 - y) * power(w, i as u32) % 97;
                }
            }
            w = w * w % 97;
            half /= 2;
        }
        let mut sum = 0u32;
        #[parallel]
        for &x in &*data {
            sum ^= x;
        }
        sum
    }

    fn power(base: u32, n: u32) -> u32 {
        let mut out = 1;
        for _ in 0..n {
            out = out * base % 97;
        }
        out
    }

    /// A layer forth and back.
    #[task]
    pub fn layer(weights: &mut [f32], input: &[f32], goal: &[f32], output: &mut [f32], rate: f32) -> f32 {
        let n = input.len();
        let mut loss = 0.0;
        #[parallel]
        for (((row, out), goal), _) in weights.chunks_exact_mut(n).zip(output.iter_mut()).zip(goal).zip(input) {
            let mut sum = 0.0;
            #[parallel]
            for (w, x) in row.iter().zip(input) {
                sum += w * x;
            }
            *out = sum.max(0.0);
            let error = *out - goal;
            loss += error * error;
            #[parallel]
            for (w, x) in row.iter_mut().zip(input) {
                *w -= rate * error * x;
            }
        }
        loss
    }

    #[task]
    pub fn sieve(composite: &[AtomicBool]) -> u32 {
        let n = composite.len();
        let mut p = 2;
        while p * p < n {
            if !composite[p].load(Ordering::Relaxed) {
                #[parallel]
                for i in (p * p..n).step_by(p) {
                    composite[i].store(true, Ordering::Relaxed);
                }
            }
            p += 1;
        }
        let mut primes = 0;
        #[parallel]
        for c in &composite[2..] {
            primes += !c.load(Ordering::Relaxed) as u32;
        }
        primes
    }

    #[task]
    pub fn floyd(d: &mut [u32], row: &mut [u32], n: usize) {
        for k in 0..n {
            row.copy_from_slice(&d[k * n..(k + 1) * n]);
            #[parallel]
            for line in d.chunks_mut(n) {
                let through = line[k];
                for (x, y) in line.iter_mut().zip(row.iter()) {
                    *x = (*x).min(through.saturating_add(*y));
                }
            }
        }
    }

    #[task]
    pub fn monte_carlo(n: u32, seed: u64) -> f64 {
        let mut inside = 0u32;
        #[parallel]
        for i in 0..n {
            let mut s = seed ^ (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            s ^= s >> 30;
            s = s.wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let (x, y) = ((s >> 32) as f64 / 4294967296.0, (s as u32) as f64 / 4294967296.0);
            if x * x + y * y <= 1.0 {
                inside += 1;
            }
        }
        4.0 * inside as f64 / n as f64
    }

    #[task]
    pub fn variance(data: &[f64]) -> (f64, f64, f64, f64) {
        let (mut sum, mut squares, mut least, mut most) = (0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY);
        #[parallel]
        for &x in data {
            sum += x;
            squares += x * x;
            least = least.min(x);
            most = most.max(x);
        }
        let n = data.len() as f64;
        (sum / n, squares / n - sum / n * sum / n, least, most)
    }

    #[task]
    pub fn reverse_pairs(text: &[u8], pattern: &[u8]) -> u32 {
        let mut found = 0;
        #[parallel]
        for window in text.windows(pattern.len()) {
            let mut same = true;
            for (a, b) in window.iter().zip(pattern) {
                if a != b {
                    same = false;
                    break;
                }
            }
            found += same as u32;
        }
        found
    }
}

use program::Body;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

fn numbers(n: usize) -> Vec<u32> {
    (0..n as u32).map(|i| i.wrapping_mul(2_654_435_769) >> 7).collect()
}

fn floats(n: usize) -> Vec<f32> {
    numbers(n).into_iter().map(|x| (x % 2000) as f32 / 7.0 - 130.0).collect()
}

fn cloud(n: usize) -> Vec<Body> {
    let at = |i: usize| (i * 37 % 101) as f64 / 10.0;
    (0..n).map(|i| Body { at: [at(i), at(i + 3), at(2 * i)], speed: [0.0, 0.125, 0.0], mass: 1.0 + i as f64 }).collect()
}

fn points(n: usize) -> Vec<[i32; 2]> {
    numbers(n).into_iter().map(|x| [(x % 1000) as i32 - 300, (x >> 12) as i32 - 400]).collect()
}

fn words<const N: usize>() -> [AtomicU32; N] {
    [const { AtomicU32::new(0) }; N]
}

millstream_tests::cases! {
    bodies(&mut cloud(20), &mut cloud(20), 3, 0.01);
    k_means(&points(200), &mut [[0, 0], [100, 100], [-100, 50]], &mut [0; 200], &[const { AtomicU64::new(0) }; 9], 4);
    heat(&mut floats(100), &mut floats(100), 5);
    life(&[1, 0, 1, 1, 0, 1, 1, 0, 0, 0, 1, 1].repeat(20), &mut [0; 240], 16);
    prefix(&mut numbers(1000), &mut [0; 32], 32);
    tiles(&floats(90), &floats(70), &mut [0.0; 63], 10);
    mandelbrot(&mut [0; 600], 30, 50);
    dot(&floats(777), &floats(900));
    argmax(&numbers(1000));
    counting_sort(&[3, 1, 4, 1, 5, 9, 2, 6, 5, 3].repeat(9), &words::<10>(), &mut [0; 10], &mut [0; 90]);
    sparse(&[0, 3, 3, 60, 100, 101], &[0, 1, 2, 3, 4, 2, 1, 0, 3, 3].repeat(11), &floats(110), &floats(5), &mut [0.0; 5]);
    distances(&[0, 2, 4, 5, 7, 8, 8], &[1, 2, 3, 0, 4, 1, 4, 5], &[const { AtomicU32::new(u32::MAX) }; 6], 0);
    bitonic(&mut numbers(64), &mut [0; 64]);
    stages(&mut numbers(64), 28);
    layer(&mut floats(80), &floats(10), &floats(8), &mut [0.0; 8], 0.001);
    sieve(&[const { AtomicBool::new(false) }; 500]);
    floyd(&mut numbers(64), &mut [0; 8], 8);
    monte_carlo(2000, 7);
    variance(&[1.5, -0.25, 3.125, 7.75].repeat(60));
    reverse_pairs(&[7, 1, 7, 1, 7].repeat(30), &[7, 1, 7]);
}
