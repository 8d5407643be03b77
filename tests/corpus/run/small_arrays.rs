//! Arrays whose elements are named by known numbers, once loops of few turns are written out: they live in registers. And some that cannot.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy)]
    pub struct Pair {
        pub a: u8,
        pub b: u32,
    }

    fn mul(a: &[[f64; 4]; 4], b: &[[f64; 4]; 4]) -> [[f64; 4]; 4] {
        let mut c = [[0.0; 4]; 4];
        for i in 0..4 {
            for j in 0..4 {
                for k in 0..4 {
                    c[i][j] += a[i][k] * b[k][j];
                }
            }
        }
        c
    }

    /// Products of blocks, from the last child to the first.
    #[task]
    pub fn power(of: [[f64; 4]; 4], n: u32) -> [[f64; 4]; 4] {
        if n < 2 {
            return of;
        }
        let x = spawn!(power(of, n / 2));
        let y = spawn!(power(of, n - n / 2));
        sync!();
        mul(&x, &y)
    }

    fn swapped(p: [Pair; 2]) -> [Pair; 2] {
        let q = p;
        [q[1], q[0]]
    }

    /// Holes, whole rows, a loop that goes down, skips and ends early.
    #[task]
    pub fn shapes(data: &mut [u64]) {
        let mut pairs = [Pair { a: 1, b: 2 }, Pair { a: 3, b: 4 }];
        let mut rows = [[0u64; 3]; 2];
        let mut k = 6;
        while k > 0 {
            k -= 1;
            rows[k / 3][k % 3] = data[k];
            if data[k] == 3 {
                continue;
            }
            if k == 1 {
                break;
            }
        }
        rows[1] = rows[0];
        if data[0] > 2 {
            pairs = swapped(pairs);
        }
        for p in 0..2 {
            data[6] += pairs[p].a as u64 * 10 + pairs[p].b as u64 * (p as u64 + 1);
        }
        for row in 0..2 {
            for col in 0..3 {
                data[7] = data[7] * 3 + rows[row][col];
            }
        }
    }

    /// A median of five by a network, and what an index that is not known makes of it.
    #[task]
    pub fn median(of: [i32; 5], at: usize) -> i32 {
        let mut x = of;
        for round in 0..5 {
            for i in 0..4 {
                if (i + round) % 2 == 0 && x[i] > x[i + 1] {
                    let larger = x[i];
                    x[i] = x[i + 1];
                    x[i + 1] = larger;
                }
            }
        }
        let mut seen = [0i32; 5];
        for i in 0..5 {
            seen[(i + at) % 5] = x[i];
        }
        x[2] * 1000 + seen[0]
    }

    /// An index beyond the end, in a turn that comes or does not.
    #[task]
    pub fn windows(data: &[u16], last: usize) -> u32 {
        let mut window = [0u16; 3];
        let mut sum = 0;
        for start in 0..data.len() {
            for i in 0..3 {
                if start + i < last {
                    window[i] = data[start + i];
                }
            }
            sum = sum * 7 + (window[0] ^ window[1] | window[2]) as u32;
        }
        sum
    }

    /// Bits that look like another number, and booleans.
    #[task]
    pub fn bits(x: f32, n: u32) -> u32 {
        let mut flags = [false; 4];
        let mut floats = [x; 3];
        for i in 0..4 {
            flags[i] = n >> i & 1 == 1;
        }
        for i in 1..3 {
            floats[i] = floats[i - 1] * 0.5 - 1.0;
        }
        let mut sum = 0;
        for i in 0..3 {
            if flags[i] != flags[i + 1] {
                sum ^= floats[i].to_bits();
            }
        }
        sum
    }
}

millstream_tests::cases! {
    power([[1.0, 0.5, 0.0, 0.0], [0.0, 1.0, 0.25, 0.0], [0.0, -0.0, 1.0, 2.0], [0.125, 0.0, 0.0, 1.0]], 7);
    shapes(&mut [0, 3, 1, 4, 1, 3, 0, 1]);
    shapes(&mut [3, 1, 3, 4, 1, 5, 0, 2]);
    shapes(&mut [4, 4, 4, 4, 4, 4, 1, 1]);
    median([5, 1, 4, 2, 3], 0);
    median([9, -9, 9, -9, 0], 3);
    windows(&[1, 20, 3, 40, 5], 5);
    windows(&[1, 20, 3, 40, 5], 4);
    bits(3.5, 5);
    bits(-0.0, 3);
}
