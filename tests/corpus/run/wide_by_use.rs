//! Literals that are `u128` or `i128` by what is done with the variable that they begin, and numbers that are widened before anything says which integers they are.

#[millstream::program]
pub mod program {
    fn power(mut base: u128, mut n: u32) -> u128 {
        let mut all = 1;
        while n > 0 {
            if n & 1 == 1 {
                all *= base;
            }
            base *= base;
            n /= 2;
        }
        all
    }

    /// Divides and gives what is left.
    fn divide(limbs: &mut [u64; 4], by: u64) -> u64 {
        let mut rest = 0;
        for limb in limbs.iter_mut().rev() {
            let all = (rest as u128) << 64 | *limb as u128;
            *limb = (all / by as u128) as u64;
            rest = (all % by as u128) as u64;
        }
        rest
    }

    fn multiply(limbs: &mut [u64; 4], by: u64) -> u64 {
        let mut carry = 0;
        for limb in limbs.iter_mut() {
            let all = *limb as u128 * by as u128 + carry;
            *limb = all as u64;
            carry = all >> 64;
        }
        carry as u64
    }

    #[task]
    pub fn leaf(n: u64) -> u64 {
        n.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    #[task]
    pub fn run(n: u64) -> [u64; 12] {
        let xs = [n, u64::MAX - n, 3, 99];
        let mut limbs = [n, n ^ 55, 77, 1];
        let carry = multiply(&mut limbs, u64::MAX - 5);
        let rest = divide(&mut limbs, 1_000_000_007);
        let mixed = xs.iter().fold(0, |all, &x| (all << 8) ^ x as u128);
        let mut sums = [0; 3];
        for (i, x) in xs.iter().enumerate() {
            sums[i % 3] += *x as u128 * *x as u128;
        }
        let (mut a, mut b) = (0, 1);
        for x in xs {
            (a, b) = (b, a + b * x as u128);
        }
        let (mut most, mut limit) = (0, 10);
        for x in xs {
            most = most.max(x as u128 * 3);
        }
        while limit <= most {
            limit *= 10;
        }
        let mut product = -1;
        for x in xs {
            product = -product * (x as i128 | 1);
        }
        let mut below = 0;
        below -= 5;
        let wide = below as i128 * 4 + (below as u128 >> 120) as i128;
        let own: i64 = below;
        let mut total = 0;
        for i in 0..3 {
            let y = spawn!(leaf(n + i));
            sync!();
            total += (y as u128) << i;
        }
        [
            carry,
            rest ^ limbs[0] ^ limbs[3],
            mixed as u64 ^ (mixed >> 64) as u64,
            (sums[0] >> 5) as u64 ^ sums[1] as u64 ^ (sums[2] >> 64) as u64,
            (a ^ b) as u64,
            (b >> 64) as u64,
            (limit % 1_000_007) as u64,
            product as u64,
            (product >> 64) as u64,
            wide as u64 ^ own as u64,
            (total >> 3) as u64,
            (power(n as u128, 5) >> 40) as u64,
        ]
    }

    /// Literals on ways of conditions, of which another way says that they are wide.
    #[task]
    pub fn ways(n: u64) -> [u64; 5] {
        let x = u64::MAX as u128 * (n as u128 + 9);
        let a = if n > 5 { 0 } else { x >> 64 };
        let b = match n {
            2 => 7,
            3 => { 8 }
            _ => x >> 60,
        };
        let mut c = 3;
        if n > 1 {
            c = if n == 2 { 5 } else { x >> 3 };
        }
        let d = (if n == 7 { 12 } else { x }) + 1;
        let e: u64 = match n {
            0 => 1,
            _ => if n > 4 { 2 } else { 3 },
        };
        [a as u64, b as u64, c as u64, d as u64, e]
    }
}

millstream_tests::cases! {
    ways(0);
    ways(2);
    ways(7);
    run(7);
    run(12_345_678_901_234_567);
    run(u64::MAX);
}
