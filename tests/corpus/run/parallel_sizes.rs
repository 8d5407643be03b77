//! Parallel loops of every number of rounds at which something changes: one piece, few enough to run where the loop stands, several pieces, and parts in
//! parts; whose rounds do little, much, or nobody knows how much; and in which the order of what they gather shows or not.

#[millstream::program]
pub mod program {
    fn mix(x: u32) -> u32 {
        let a = (x ^ x >> 16).wrapping_mul(0x7feb_352d);
        let b = (a ^ a >> 15).wrapping_mul(0x846c_a68b);
        b ^ b >> 16
    }

    /// In the order of rounds: of floats, which are of very different sizes, and of numbers.
    #[task]
    pub fn sums(n: u32) -> (f32, f64, u32, u32) {
        let (mut small, mut large, mut count, mut best) = (0.0, 1.0, 7, 0);
        #[parallel]
        for i in 0..n {
            small += 1.0 / (mix(i) as f32 + 0.5);
        }
        #[parallel]
        for i in 0..n {
            large *= 1.0 + f64::from(mix(i) % 1000) * 1e-6;
        }
        #[parallel]
        for i in 0..n {
            if mix(i) % 3 == 0 {
                count += i;
            }
        }
        #[parallel]
        for i in 0..n {
            best = best.max(mix(i));
        }
        (small, large, count, best)
    }

    /// Several at once, some of which show the order.
    #[task]
    pub fn together(n: usize, data: &mut [f32]) -> (f32, f32, usize) {
        let (mut sum, mut least, mut above) = (0.25, f32::INFINITY, 0);
        #[parallel]
        for (i, x) in data[..n].iter_mut().enumerate() {
            *x = *x * 0.5 + i as f32 * 0.001;
            sum += *x;
            least = least.min(*x);
            above += (*x > 1.0) as usize;
        }
        (sum, least, above)
    }

    /// Rounds in which much is written.
    #[task]
    pub fn large(n: usize, data: &mut [u32]) -> (u32, f32) {
        let (mut all, mut sum) = (0, 0.0);
        #[parallel]
        for x in data[..n].iter_mut() {
            let a = mix(*x).rotate_left(3) ^ mix(*x + 1).rotate_left(5);
            let b = mix(a).rotate_left(7) ^ mix(a + 1).rotate_left(11);
            let c = if a > b { mix(a - b) } else { mix(b - a) };
            let d = (a & 0xff) * (b & 0xff) + (c & 0xff) * (a >> 24) + (b >> 24) * (c >> 24);
            *x = a ^ b ^ c ^ d ^ mix(d);
        }
        #[parallel]
        for x in data[..n].iter() {
            let a = mix(*x).rotate_left(3) ^ mix(*x ^ 1).rotate_left(5);
            let b = mix(a).rotate_left(7) ^ mix(a ^ 1).rotate_left(11);
            let c = if a > b { mix(a - b) } else { mix(b - a) };
            let d = (a & 0xff) * (b & 0xff) + (c & 0xff) * (a >> 24) + (b >> 24) * (c >> 24);
            all ^= d;
            sum += 1.0 / (d as f32 + 1.0);
        }
        (all, sum)
    }

    /// Rounds with loops of their own, parallel and not.
    #[task]
    pub fn rows(width: usize, data: &mut [f32]) -> (f32, u32) {
        let (mut sum, mut steps) = (0.0, 0);
        #[parallel]
        for row in data.chunks_mut(width) {
            let mut of_row = 0.0;
            #[parallel]
            for (j, x) in row.iter_mut().enumerate() {
                *x += j as f32 * 0.125;
                of_row += *x;
            }
            sum += of_row;
        }
        #[parallel]
        for row in data.chunks_mut(width) {
            let mut x = row[0].abs() as u32;
            while x > 0 {
                x /= 3;
                steps += 1;
            }
            row[0] += steps_of(row);
        }
        (sum, steps)
    }

    fn steps_of(row: &[f32]) -> f32 {
        let mut sum = 0.0;
        for x in row {
            sum += x;
        }
        sum
    }

    /// A loop beside children, in a task that comes again.
    #[task]
    pub fn again(depth: u32, n: u32) -> f32 {
        let mut sum = 0.0;
        #[parallel]
        for i in 0..n {
            sum += 1.0 / (mix(i ^ depth) as f32 + 1.0);
        }
        if depth == 0 {
            return sum;
        }
        let a = spawn!(again(depth - 1, n / 2));
        let b = spawn!(again(depth - 1, n + n / 3));
        sync!();
        sum + a - b
    }
}

millstream_tests::cases! {
    sums(0);
    sums(1);
    sums(16);
    sums(31);
    sums(32);
    sums(33);
    sums(64);
    sums(65);
    sums(500);
    sums(1023);
    sums(1024);
    sums(1025);
    sums(1500);
    sums(20000);
    together(0, &mut [3.0; 5000]);
    together(1, &mut [3.0; 5000]);
    together(32, &mut [3.0; 5000]);
    together(33, &mut [3.0; 5000]);
    together(700, &mut [3.0; 5000]);
    together(1024, &mut [3.0; 5000]);
    together(1025, &mut [3.0; 5000]);
    together(5000, &mut [3.0; 5000]);
    large(0, &mut [5; 3000]);
    large(1, &mut [5; 3000]);
    large(15, &mut [5; 3000]);
    large(16, &mut [5; 3000]);
    large(17, &mut [5; 3000]);
    large(80, &mut [5; 3000]);
    large(100, &mut [5; 3000]);
    large(150, &mut [5; 3000]);
    large(200, &mut [5; 3000]);
    large(300, &mut [5; 3000]);
    large(1000, &mut [5; 3000]);
    large(3000, &mut [5; 3000]);
    rows(1, &mut [0.5; 300]);
    rows(40, &mut [0.5; 4000]);
    rows(1000, &mut [2.5; 5000]);
    rows(1100, &mut [2.5; 6000]);
    again(3, 30);
    again(4, 700);
    again(2, 2000);
}
