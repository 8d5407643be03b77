//! What a task itself adds to what results are gathered in, and elements that get a result on one way and a value on another.

#[millstream::program]
pub mod program {
    /// Whoever places the last queen counts it itself.
    #[task]
    pub fn queens(n: u32, row: u32, taken: u32, left: u32, right: u32) -> u64 {
        let mut free = !(taken | left | right) & ((1 << n) - 1);
        let mut total = 0;
        while free != 0 {
            let queen = free & free.wrapping_neg();
            free ^= queen;
            if row + 1 == n {
                total += 1;
            } else {
                let next = (left | queen) << 1;
                total += spawn!(queens(n, row + 1, taken | queen, next, (right | queen) >> 1));
            }
        }
        sync!();
        total
    }

    #[task]
    pub fn deepest(n: u64, depth: u64) -> u64 {
        let mut most = 0;
        for i in 0..n {
            if i % 3 == 0 {
                most = most.max(depth + i);
            } else {
                most = most.max(spawn!(deepest(i / 2, depth + 1)));
            }
        }
        sync!();
        most
    }

    #[task]
    fn twice(n: u64) -> u64 {
        2 * n
    }

    #[task]
    fn bits(n: u64) -> u32 {
        1 << (n % 31)
    }

    #[task]
    fn is_seventh(n: u64) -> bool {
        n % 7 == 6
    }

    #[task]
    fn half(n: u64) -> f64 {
        n as f64 * 0.5
    }

    /// All ways of gathering, the sides of an operator as they come.
    #[task]
    pub fn all(n: u64) -> (u64, u32, u32, bool, f64, i32) {
        let mut sum = 0u64;
        let (mut or, mut xor, mut any) = (0u32, 5u32, false);
        let (mut halves, mut least) = (0.0, i32::MAX);
        for i in 0..n {
            sum += if i % 2 == 0 { 3 } else { spawn!(twice(i)) };
            or |= match i % 3 {
                0 => 1 << (i % 32),
                _ => spawn!(bits(i)),
            };
            xor ^= spawn!(bits(i));
            xor ^= (i as u32) << 3;
            any |= if i % 5 == 0 { i == 25 } else { spawn!(is_seventh(i)) };
            halves += if i % 2 == 1 { 1.5 } else { spawn!(half(i)) };
            if i % 2 == 1 {
                least = least.min(1000 - i as i32);
            } else {
                least = least.min(spawn!(twice(i)) as i32);
            }
            sum = 1 + sum;
            sum = sum + i;
        }
        sync!();
        sum -= 1;
        (sum, or, xor, any, halves, least)
    }

    /// Before the first child a sum is a plain variable, and so it is behind a sync.
    #[task]
    pub fn before_and_behind(n: u64) -> u64 {
        let mut sum = n;
        sum += 1;
        if sum > 3 {
            sum += 2;
        }
        sum += spawn!(twice(sum));
        sum += 5;
        sync!();
        sum += 3;
        if sum % 2 == 0 { sum / 2 } else { sum }
    }

    /// Rounds that have sums of their own.
    #[task]
    pub fn rounds(n: u64) -> u64 {
        let mut total = 0;
        #[parallel]
        for i in 0..n {
            let mut own = 0;
            for j in 0..i {
                if j % 3 == 0 {
                    own += 1;
                } else {
                    own += spawn!(twice(j));
                }
            }
            sync!();
            total += own;
        }
        total
    }

    /// Each round has an element, or several, of its own.
    #[task]
    pub fn elements(n: u64, out: &mut [u64]) -> u64 {
        let mut table = [[0u64; 3]; 4];
        for (i, from) in [n, 2, 7, 1].iter().enumerate() {
            for j in 0..3 {
                table[i][j] = if (i + j) % 2 == 0 { spawn!(twice(*from)) } else { i as u64 };
            }
        }
        let mut pairs = [(0u64, 1u64); 5];
        for i in (0..5u32).rev() {
            pairs[i as usize].0 = match i {
                3 => 100,
                _ => spawn!(twice(i as u64)),
            };
        }
        for i in 0..out.len() {
            out[i] = if out[i] > 4 { spawn!(twice(out.len() as u64)) } else { i as u64 };
        }
        sync!();
        let mut all = 0;
        for row in table {
            all = all * 7 + row[0] + row[1] * 2 + row[2] * 3;
        }
        for pair in pairs {
            all = all * 3 + pair.0 + pair.1;
        }
        all
    }
}

millstream_tests::cases! {
    queens(1, 0, 0, 0, 0);
    queens(7, 0, 0, 0, 0);
    deepest(30, 2);
    all(0);
    all(1);
    all(50);
    before_and_behind(0);
    before_and_behind(8);
    rounds(60);
    elements(9, &mut [9, 1, 5, 4, 3, 7]);
}
