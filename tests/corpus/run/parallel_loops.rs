//! Parallel loops over ranges and slices, that gather, write to elements and atomics, and lie in each other.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU32, Ordering};

    #[task]
    pub fn scale(data: &mut [i32], by: i32) {
        #[parallel]
        for x in data.iter_mut() {
            *x *= by;
        }
    }

    /// A few rounds, and many; none.
    #[task]
    pub fn sum(n: u64) -> u64 {
        let mut sum = 1;
        #[parallel]
        for i in 0..n {
            if i % 3 == 1 {
                continue;
            }
            sum += i * i;
        }
        sum
    }

    #[task]
    pub fn steps(from: i8, to: i8, by: usize) -> (i64, u8) {
        let (mut sum, mut bits) = (0, 0);
        #[parallel]
        for i in (from..=to).step_by(by) {
            sum += i64::from(i);
            bits ^= i as u8;
        }
        (sum, bits)
    }

    #[task]
    pub fn ends(data: &[i32]) -> (i32, i32, i32, bool, u64) {
        let (mut least, mut most, mut all, mut any, mut count) = (i32::MAX, -5, -1, false, 7u64);
        #[parallel]
        for (i, &x) in data.iter().enumerate() {
            least = least.min(x);
            most = most.max(x);
            all &= x | 1;
            any |= x == 12;
            if i % 2 == 0 {
                count = count.wrapping_add(x as u64);
            }
        }
        (least, most, all, any, count)
    }

    #[task]
    pub fn in_step(a: &[u32], b: &[u32], out: &mut [u32]) {
        let weights = [3, 5, 7];
        #[parallel]
        for (i, ((x, y), z)) in a.iter().zip(b).zip(out.iter_mut()).enumerate() {
            *z = x * weights[i % 3] + y;
        }
    }

    #[task]
    pub fn parts(data: &mut [u16], sums: &mut [u32], each: usize) {
        #[parallel]
        for (part, sum) in data.chunks_mut(each).zip(sums.iter_mut()) {
            for x in part.iter_mut() {
                *sum += u32::from(*x);
                *x = 0;
            }
        }
    }

    #[task]
    pub fn rises(data: &[i32]) -> usize {
        let mut rises = 0;
        #[parallel]
        for pair in data.windows(2) {
            rises += (pair[0] < pair[1]) as usize;
        }
        #[parallel]
        for part in data.chunks_exact(3) {
            rises += 1000 * (part[2] > part[0]) as usize;
        }
        rises
    }

    #[task]
    pub fn histogram(data: &[u32], counts: &[AtomicU32]) {
        #[parallel]
        for x in data {
            counts[*x as usize % counts.len()].fetch_add(1, Ordering::Relaxed);
        }
    }

    #[task]
    pub fn collatz(n: u64) -> u32 {
        let (mut n, mut steps) = (n, 0);
        while n > 1 {
            n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
            steps += 1;
        }
        steps
    }

    /// Rounds that spawn, with and without a sync of their own.
    #[task]
    pub fn longest(n: u64, out: &mut [u32]) -> u32 {
        let mut longest = 0;
        #[parallel]
        for i in 1..n {
            longest = longest.max(spawn!(collatz(i)));
        }
        #[parallel]
        for (i, x) in out.iter_mut().enumerate() {
            let a = spawn!(collatz(i as u64));
            let b = spawn!(collatz(i as u64 + 1));
            sync!();
            *x = a * 1000 + b;
        }
        longest
    }

    /// Loops in loops, and in a helper.
    #[task]
    pub fn table(n: u32) -> u64 {
        let mut total = 0u64;
        #[parallel]
        for i in 0..n {
            #[parallel]
            for j in i..n {
                total += u64::from(i ^ j);
            }
            total += squares(i);
        }
        total + squares(n)
    }

    fn squares(n: u32) -> u64 {
        let mut sum = 0;
        #[parallel]
        for i in 0..n {
            sum += u64::from(i) * u64::from(i);
        }
        sum
    }

    /// The order of additions is stated: the same bits on every device.
    #[task]
    pub fn floats(n: u32) -> (u64, u32, u64) {
        let (mut sum, mut most, mut again) = (0.1f64, f32::MIN, -0.0f64);
        #[parallel]
        for i in 0..n {
            let x = 1.0 / f64::from(i + 1);
            sum += x;
            most = most.max(x as f32 * 1.5);
        }
        #[parallel]
        for i in 0..n {
            again += squares(i % 7) as f64 * 0.3;
        }
        (sum.to_bits(), most.to_bits(), again.to_bits())
    }

    /// Beside children that run on.
    #[task]
    pub fn beside(n: u32) -> u64 {
        let mut total = 0;
        total += spawn!(table(n));
        let mut own = 0;
        #[parallel]
        for i in 0..n {
            own += u64::from(i);
        }
        sync!();
        total + own
    }
}

fn numbers(n: usize) -> Vec<u32> {
    (0..n as u32).map(|i| i.wrapping_mul(2_654_435_769) >> 7).collect()
}

fn signed(n: usize) -> Vec<i32> {
    numbers(n).into_iter().map(|x| x as i32 - (1 << 20)).collect()
}

millstream_tests::cases! {
    sum(0);
    sum(1);
    sum(32);
    sum(33);
    sum(1000);
    sum(100_000);
    steps(-100, 100, 7);
    steps(-128, 127, 1);
    steps(5, 5, 3);
    steps(6, 5, 3);
    ends(&[]);
    ends(&signed(31));
    ends(&signed(1000));
    scale(&mut signed(70), 3);
    in_step(&numbers(90), &numbers(100), &mut numbers(80));
    parts(&mut [3; 100], &mut [1; 20], 7);
    parts(&mut [3; 100], &mut [1; 5], 7);
    rises(&signed(1));
    rises(&signed(200));
    histogram(&numbers(300), &[0, 1, 2, 3, 4].map(std::sync::atomic::AtomicU32::new));
    longest(60, &mut [0; 9]);
    table(0);
    table(40);
    floats(0);
    floats(20);
    floats(1000);
    floats(70_000);
    beside(12);
}
