//! Big numbers in limbs, and primes by products of 128 bits.

#[millstream::program]
pub mod program {
    const LIMBS: usize = 16;
    type Limb = u32;

    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Big { limbs: [Limb; LIMBS] }

    impl From<u64> for Big {
        fn from(x: u64) -> Self {
            let mut limbs = [0; LIMBS];
            limbs[0] = x as Limb;
            limbs[1] = (x >> 32) as Limb;
            Self { limbs }
        }
    }
    impl PartialOrd for Big { fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> { Some(self.cmp(other)) } }
    impl Ord for Big {
        fn cmp(&self, other: &Self) -> std::cmp::Ordering { self.limbs.iter().rev().cmp(other.limbs.iter().rev()) }
    }
    impl std::ops::Add for Big {
        type Output = Self;
        fn add(self, rhs: Self) -> Self {
            let mut carry = false;
            let mut out = Big { limbs: [0; LIMBS] };
            for ((o, &a), &b) in out.limbs.iter_mut().zip(&self.limbs).zip(&rhs.limbs) {
                let (s, c1) = a.overflowing_add(b);
                let (s, c2) = s.overflowing_add(carry as u32);
                *o = s;
                carry = c1 || c2;
            }
            out
        }
    }
    impl std::ops::Mul for Big {
        type Output = Self;
        fn mul(self, rhs: Self) -> Self {
            let mut out = [0u32; LIMBS];
            for i in 0..LIMBS {
                let mut carry = 0u64;
                for j in 0..LIMBS - i {
                    let t = u64::from(self.limbs[i]) * u64::from(rhs.limbs[j]) + u64::from(out[i + j]) + carry;
                    out[i + j] = t as u32;
                    carry = t >> 32;
                }
            }
            Self { limbs: out }
        }
    }
    impl Big {
        const ONE: Self = Self { limbs: { let mut l = [0; LIMBS]; l[0] = 1; l } };
        fn bits(&self) -> u32 {
            self.limbs.iter().rposition(|&l| l != 0).map_or(0, |i| i as u32 * 32 + 32 - self.limbs[i].leading_zeros())
        }
        fn digit_sum(mut self) -> u32 {
            let mut sum = 0;
            while self.limbs.iter().any(|&l| l != 0) {
                let mut rem = 0u64;
                for l in self.limbs.iter_mut().rev() {
                    let cur = (rem << 32) | *l as u64;
                    *l = (cur / 10) as u32;
                    rem = cur % 10;
                }
                sum += rem as u32;
            }
            sum
        }
    }

    #[task]
    fn product(lo: u64, hi: u64) -> Big {
        if hi - lo < 4 { return (lo..hi).map(Big::from).fold(Big::ONE, |a, b| a * b); }
        let mid = (lo + hi) / 2;
        let a = spawn!(product(lo, mid));
        let b = spawn!(product(mid, hi));
        sync!();
        a * b
    }

    #[task]
    pub fn factorial(n: u64) -> (u32, u32) {
        let p = spawn!(product(1, n + 1));
        sync!();
        (p.bits(), p.digit_sum())
    }

    #[task]
    pub fn fib_cmp(n: u32) -> (u32, bool) {
        let (mut a, mut b) = (Big::from(0), Big::from(1));
        for _ in 0..n { (a, b) = (b, a + b); }
        (a.digit_sum(), a < b && b.max(a) == b)
    }

    pub fn mul_mod(a: u64, b: u64, m: u64) -> u64 { (a as u128 * b as u128 % m as u128) as u64 }
    pub fn pow_mod(mut base: u64, mut exp: u64, m: u64) -> u64 {
        let mut acc = 1;
        base %= m;
        while exp > 0 {
            if exp & 1 == 1 { acc = mul_mod(acc, base, m); }
            base = mul_mod(base, base, m);
            exp >>= 1;
        }
        acc
    }
    #[task]
    pub fn is_prime(n: u64) -> bool {
        const WITNESSES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
        if n < 2 { return false; }
        for p in WITNESSES { if n % p == 0 { return n == p; } }
        let s = (n - 1).trailing_zeros();
        let d = (n - 1) >> s;
        WITNESSES.iter().all(|&a| {
            let mut x = pow_mod(a, d, n);
            if x == 1 || x == n - 1 { return true; }
            for _ in 1..s {
                x = mul_mod(x, x, n);
                if x == n - 1 { return true; }
            }
            false
        })
    }
}

millstream_tests::cases! {
    factorial(50);
    fib_cmp(300);
    is_prime(18446744073709551557);
    is_prime(18446744073709551556);
    is_prime(3825123056546413051);
}
