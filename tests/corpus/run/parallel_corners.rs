//! Parallel loops in odd places: shadowed names, parameters that are gathered in, arms, labelled blocks, helpers in every kind of expression.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU32, Ordering};

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Grid {
        pub side: u32,
        pub scale: f32,
    }

    impl Grid {
        pub fn sum(self, data: &[f32]) -> f32 {
            let mut sum = 0.0;
            #[parallel]
            for x in data {
                sum += x * self.scale;
            }
            sum
        }

        pub fn cells(&self) -> u32 {
            let mut cells = 0;
            #[parallel]
            for y in 0..self.side {
                #[parallel]
                for x in 0..self.side {
                    cells += (x ^ y) & 3;
                }
            }
            cells
        }

        pub fn grow(&mut self, data: &mut [f32]) -> u32 {
            let by = self.scale;
            let mut n = 0;
            #[parallel]
            for x in data.iter_mut() {
                *x += by;
                n += 1;
            }
            self.side += n;
            self.side
        }

        pub fn new(side: u32) -> Self {
            let mut scale = 0.0;
            #[parallel]
            for i in 0..side {
                scale += i as f32 * 0.1;
            }
            Self { side, scale }
        }
    }

    #[task]
    pub fn methods(data: &mut [f32], side: u32) -> (u32, u32, u32, u32) {
        let mut grid = Grid::new(side);
        let a = grid.sum(data);
        let b = grid.cells();
        let c = grid.grow(data);
        (a.to_bits(), b, c, (grid.sum(data) + Grid { side: 1, ..grid }.sum(&data[1..])).to_bits())
    }

    fn count(n: u32, by: u32) -> u32 {
        let mut count = 0;
        #[parallel]
        for i in 0..n {
            count += (i % by == 0) as u32;
        }
        count
    }

    fn pair(n: u32) -> (u32, [u32; 2]) {
        let (mut a, mut b) = (0, 0);
        #[parallel]
        for i in 0..n {
            a ^= i;
            b |= i;
        }
        (a, [b, n])
    }

    /// Helpers with parallel loops where values stand.
    #[task]
    pub fn places(n: u32, out: &mut [u32], hits: &AtomicU32) -> u32 {
        let mut total = 0;
        for i in 0..count(n, 7) {
            total += count(i, 2) * 3 + count(n, i + 1);
        }
        while count(total, 5) > n {
            total /= 2;
        }
        match n {
            x if count(x, 3) > 20 => total += 1000,
            x if x > 3 && count(x, 2) > 4 || count(x, 9) == 1 => total += 2000,
            _ => total += 3000,
        }
        let (a, [b, c]) = pair(n);
        if count(a, 1) > 3 && (b > 0 || count(b, 1) > 1) {
            total ^= a + b + c;
        }
        out[count(n, 1) as usize % 4] += count(n, 2);
        out[pair(n).1[1] as usize % 3] = total;
        hits.fetch_add(count(n, 4), Ordering::Relaxed);
        assert!(count(n, 1) == n, "{} {}", count(n, 1), n);
        let array = [count(n, 2), count(n, 3), count(count(n, 2), 2)];
        for x in array {
            total += x;
        }
        let s = spawn!(shadowed(count(n, 2), total));
        let t = count(n, 10);
        sync!();
        s + t + if count(n, 2) > 5 { count(n, 3) } else { count(n, 5) }
    }

    /// The same name for several variables, a gathered parameter, a label, attributes beside.
    #[task]
    pub fn shadowed(n: u32, mut x: u32) -> u32 {
        let y = x;
        #[allow(unused_variables)]
        #[parallel]
        for i in 0..n {
            let y = i + y;
            {
                let x = y;
                let y = x + 1;
                if y % 3 == 0 {
                    continue;
                }
            }
            x += y;
        }
        let x = x ^ 1;
        let mut sum = 0;
        #[parallel]
        'rounds: for sum2 in 0..n {
            for x in 0..5 {
                if sum2 % 5 == x {
                    continue 'rounds;
                }
                if x == 3 {
                    break;
                }
                if x == 1 {
                    continue;
                }
            }
            let found = 'found: {
                if sum2 > 10 {
                    break 'found 3;
                }
                5
            };
            sum += found + sum2;
        }
        #[parallel]
        for sum in 0..n {
            let _ = sum;
        }
        x + sum + y
    }

    #[task]
    pub fn arms(n: u32, way: u32, data: &mut [u32]) -> i64 {
        let mut total = -5;
        let value = match way {
            0 => {
                let mut s = 0;
                #[parallel]
                for i in 0..n {
                    s += i;
                }
                s
            }
            1 => 'done: {
                let mut most = 0;
                #[parallel]
                for (i, x) in data.iter().enumerate() {
                    most = most.max(*x ^ i as u32);
                }
                if most > 3 {
                    break 'done most;
                }
                7
            }
            w if w > 5 => loop {
                #[parallel]
                for x in data.iter_mut() {
                    *x += 1;
                }
                if data[0] > w {
                    break data[0];
                }
            },
            _ => {
                if let 3 = way {
                    #[parallel]
                    for i in (0..n).step_by(3) {
                        total += i64::from(i) - 10;
                    }
                    return total;
                } else {
                    #[parallel]
                    for (i, x) in data.iter_mut().enumerate() {
                        let i = i as u32;
                        *x = i * i;
                    }
                }
                9
            }
        };
        total + i64::from(value)
    }

    /// Arrays, structs, tuples, atomics of the function, and a matrix, which rounds read.
    #[task]
    pub fn captured(n: usize, g: Grid, data: &[i32], rows: usize) -> (u64, i32, [u32; 4]) {
        let m = Mat::new(data, rows, data.len() / rows);
        let hits = AtomicU32::new(3);
        let mut table = [[0u32; 3]; 4];
        for (i, row) in table.iter_mut().enumerate() {
            row[i % 3] = i as u32 + 1;
        }
        let t = (7u8, [1.5f32, -2.0], g);
        let (mut sum, mut least) = (0, 0);
        #[parallel]
        for i in 0..n {
            let copy = table;
            sum += u64::from(copy[i % 4][i % 3]) + u64::from(t.0) + (t.1[i % 2] * t.2.scale) as u64;
            hits.fetch_add(1, Ordering::Relaxed);
            let mut own = [0; 5];
            own[i % 5] = m[(i % m.rows(), i % m.cols())];
            for x in own {
                least = least.min(x);
            }
        }
        let mut out = [0; 4];
        #[parallel]
        for (x, row) in out.iter_mut().zip(&table) {
            for y in row {
                *x += y;
            }
        }
        out[0] += hits.into_inner();
        (sum, least, out)
    }

    /// All ways of gathering, in types of all widths.
    #[task]
    pub fn widths(n: u8, k: i16) -> (u8, i8, u16, i16, i32, i64, isize, usize, bool, bool, bool) {
        let (mut a, mut b, mut c, mut d) = (200u8, 0i8, u16::MAX, -7i16);
        let (mut e, mut f, mut g, mut h) = (5i32, i64::MIN, 0isize, 0usize);
        let (mut x, mut y, mut z) = (false, true, false);
        #[parallel]
        for i in 0..=n {
            a += i;
            b = b.min(i as i8);
            c &= !(1 << (i % 16));
            d = d.wrapping_add(k * i as i16);
            e ^= i32::from(i) << 3;
            f = f.max(i64::from(i) - 100);
            g |= -isize::from(i);
            h = h.max(usize::from(i) % 13);
            x |= i == 77;
            y &= i != 255;
            z ^= i % 3 == 0;
        }
        (a, b, c, d, e, f, g, h, x, y, z)
    }

    #[task]
    pub fn one_each(n: u8) -> (u8, i8, u16, i16, bool, bool) {
        let (mut a, mut b, mut c, mut d, mut x, mut y) = (250, 100, 0, -30_000, true, true);
        #[parallel]
        for i in 0..=n {
            a += i;
        }
        #[parallel]
        for i in (0..=n).step_by(2) {
            b = b.min(i as i8);
        }
        #[parallel]
        for i in i8::MIN..=i8::MAX {
            c ^= i as u16;
        }
        #[parallel]
        for i in (i16::MIN..i16::MAX).step_by(1000) {
            d = d.max(i);
        }
        #[parallel]
        for i in (u64::MAX - 100..=u64::MAX).step_by(3) {
            x ^= i % 2 == 0;
        }
        #[parallel]
        for _ in 0..n {
            y ^= true;
        }
        (a, b, c, d, x, y)
    }

    /// Signs of zero and what is no number.
    #[task]
    pub fn zeros(n: u32, data: &[f64]) -> (u64, u32, u64, u64, u64) {
        let (mut a, mut b) = (-0.0f64, -0.0f32);
        #[parallel]
        for i in 0..n {
            a += -0.0;
            b = b.min(i as f32 + 0.5);
        }
        let (mut least, mut most, mut sum) = (f64::NAN, f64::NAN, 0.0);
        #[parallel]
        for x in data.iter() {
            least = least.min(*x);
            most = most.max(*x);
            sum += if x.is_nan() { 1e300 } else { *x };
        }
        (a.to_bits(), b.to_bits(), least.to_bits(), most.to_bits(), sum.to_bits())
    }

    /// Rounds that spawn, sync, gather children and values, and lend what is theirs.
    #[task]
    pub fn spawning(n: u32, data: &mut [u32]) -> (u32, u32, u32) {
        let (mut a, mut b, mut c) = (1, 0, u32::MAX);
        #[parallel]
        for (i, part) in data.chunks_mut(3).enumerate() {
            a += spawn!(shadowed(i as u32, n));
            let mut own = [0; 2];
            for (j, x) in own.iter_mut().enumerate() {
                *x = spawn!(shadowed(j as u32 + 3, 1));
            }
            spawn!(fill(part, n));
            sync!();
            for x in part.iter() {
                b ^= x + own[1];
            }
            a += own[0];
            if a_third(i) {
                continue;
            }
            c = c.min(spawn!(shadowed(2, i as u32)));
        }
        (a, b, c)
    }

    fn a_third(i: usize) -> bool {
        i % 3 == 0
    }

    #[task]
    pub fn fill(data: &mut [u32], with: u32) {
        #[parallel]
        for (i, x) in data.iter_mut().enumerate() {
            *x = with + i as u32;
        }
    }

    /// Inner loops that read what may be written to elsewhere.
    #[task]
    pub fn nested(data: &mut [u32], by: &mut u32, m: &mut [u32]) -> (u32, f32) {
        let (mut sum, mut all) = (0, 0.0f32);
        #[parallel]
        for (i, x) in m.iter_mut().enumerate() {
            #[parallel]
            for y in data.iter() {
                sum += *y ^ i as u32 ^ *by;
            }
            #[parallel]
            for j in 0..data.len() {
                all += data[j] as f32 * 0.1;
            }
            *x = data[i % data.len()] + *by;
        }
        *by += 1;
        (sum, all)
    }

    /// Gathers with the variable on either side.
    #[task]
    pub fn sides(n: u32) -> (u32, u32, u32, f64, bool) {
        let (mut a, mut b, mut c, mut d, mut e) = (1, 2, 3, 0.5, false);
        #[parallel]
        for i in 0..n {
            a = a + i;
            b = i ^ b;
            c = i.max(c);
            d = f64::from(i) / 7.0 + d;
            e = e | (i == 50);
        }
        #[parallel]
        for i in [7, 2, 9] {
            a = i + a;
        }
        (a, b, c, d, e)
    }

    /// A ticket each, in the order of rounds: not shared out.
    #[task]
    pub fn tickets(n: usize, out: &mut [u32]) {
        let next = AtomicU32::new(5);
        for i in 0..n {
            let ticket = next.fetch_add(1, Ordering::Relaxed);
            out[i] = spawn!(same(ticket));
        }
        sync!();
    }

    #[task]
    pub fn same(x: u32) -> u32 {
        x
    }
}

use program::Grid;

fn floats(n: usize) -> Vec<f32> {
    (0..n as u32).map(|i| (i.wrapping_mul(2_654_435_769) >> 16) as f32 / 700.0).collect()
}

millstream_tests::cases! {
    methods(&mut floats(100), 9);
    methods(&mut floats(7), 40);
    places(0, &mut [0; 4], &std::sync::atomic::AtomicU32::new(0));
    places(9, &mut [0; 4], &std::sync::atomic::AtomicU32::new(1));
    places(90, &mut [0; 4], &std::sync::atomic::AtomicU32::new(1));
    shadowed(0, 1);
    shadowed(20, 4);
    shadowed(100, 4);
    arms(100, 0, &mut [0; 3]);
    arms(100, 1, &mut [9; 50]);
    arms(100, 1, &mut [0; 1]);
    arms(100, 3, &mut [0; 3]);
    arms(100, 4, &mut [0; 99]);
    arms(100, 9, &mut [0; 99]);
    captured(100, Grid { side: 2, scale: 4.5 }, &[3, -4, 5, -1_000_000, 7, 8], 2);
    captured(5, Grid { side: 2, scale: 4.5 }, &[3, -4, 5, -1_000_000, 7, 8], 3);
    widths(255, 300);
    widths(12, -1);
    widths(100, -1);
    one_each(255);
    one_each(2);
    zeros(0, &[]);
    zeros(3, &[f64::NAN]);
    zeros(100, &[f64::NAN, -3.5, 4.25].repeat(30));
    spawning(4, &mut [0; 100]);
    spawning(4, &mut [0; 5]);
    nested(&mut [7; 40], &mut 4, &mut [1; 20]);
    nested(&mut [7; 4], &mut 4, &mut [1; 2]);
    sides(3);
    sides(100);
    tickets(10, &mut [0; 10]);
    tickets(600, &mut [0; 600]);
}
