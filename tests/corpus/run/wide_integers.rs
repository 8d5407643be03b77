//! `u128` and `i128`, `Reverse` and `Wrapping`.

#[millstream::program]
pub mod program {
    use std::cmp::Reverse;
    use std::num::Wrapping;
    const M: u128 = 1_000_000_007;
    fn step(s: &mut u64) -> u64 {
        *s ^= *s << 13; *s ^= *s >> 7; *s ^= *s << 17;
        *s
    }
    fn value(s: &mut u64) -> u128 {
        let x = (step(s) as u128) << 64 | step(s) as u128;
        x >> (step(s) % 128)
    }
    fn mix(h: u64, x: u128) -> u64 { (h.rotate_left(7) ^ x as u64).wrapping_mul(0x9E3779B97F4A7C15) ^ (x >> 64) as u64 }
    fn mixi(h: u64, x: i128) -> u64 { mix(h, x as u128) }
    #[task]
    pub fn unsigned(seed: u64, n: u32) -> [u64; 12] {
        let mut s = seed;
        let mut h = [0u64; 12];
        for _ in 0..n {
            let (a, b) = (value(&mut s), value(&mut s) + 1);
            h[0] = mix(h[0], a + b);
            h[1] = mix(h[1], a.wrapping_sub(b));
            h[2] = mix(h[2], a.wrapping_mul(b));
            h[3] = mix(h[3], if b == 0 { a } else { a / b });
            h[4] = mix(h[4], if b == 0 { a } else { a % b });
            h[5] = mix(h[5], a & b | a ^ !b);
            h[6] = mix(h[6], (a << (b as u32 % 128)) ^ (a >> (b as usize % 128)));
            h[7] = h[7].rotate_left(1) ^ (a < b) as u64 ^ ((a >= b) as u64) << 1 ^ ((a == b) as u64) << 2 ^ (a.max(b) as u64);
            h[8] = mix(h[8], (a.leading_zeros() + a.trailing_zeros() * 3 + a.count_ones()) as u128);
            h[9] ^= (a as f64).to_bits() ^ u64::from((a as f32).to_bits());
            h[10] = mix(h[10], a.abs_diff(b) + a % M + 10 * (b % 1000) + a.pow(3));
            h[11] = mix(h[11], a.checked_add(b).unwrap_or(7) ^ a.checked_sub(b).map_or(1, |x| x >> 3));
        }
        h
    }
    #[task]
    pub fn signed(seed: u64, n: u32) -> [u64; 6] {
        let mut s = seed;
        let mut h = [0u64; 6];
        for _ in 0..n {
            let (a, b) = (value(&mut s) as i128 * if s & 1 == 0 { 1 } else { -1 }, -(value(&mut s) as i128));
            h[0] = mixi(h[0], a.wrapping_add(b));
            h[1] = mixi(h[1], if b == 0 { a } else { a.wrapping_div(b) });
            h[2] = mixi(h[2], if b == 0 { a } else { a % b });
            h[3] = mixi(h[3], a >> (b as u8 % 128));
            h[4] = h[4].rotate_left(1) ^ (a < b) as u64 ^ (a as i64 as u64) ^ (a > 0) as u64;
            h[5] ^= (a as f64).to_bits() ^ (a as i32 as u64) ^ (b as u8 as u64) ^ (a.signum() as i64 as u64) ^ (-3i64 as i128 >> 70) as u64;
        }
        h
    }
    fn mul_mod(a: u64, b: u64, m: u64) -> u64 { (a as u128 * b as u128 % m as u128) as u64 }
    #[task]
    pub fn power(b: u64, e: u64, m: u64) -> u64 {
        if e == 0 { return 1 % m; }
        let half = spawn!(power(b, e / 2, m));
        sync!();
        let sq = mul_mod(half, half, m);
        if e % 2 == 1 { mul_mod(sq, b, m) } else { sq }
    }
    #[task]
    pub fn sums(xs: [u64; 4]) -> (u64, u64, u64, bool) {
        let mut acc = 0u128;
        for &x in &xs { acc += u128::from(x) * 3; acc <<= 1; }
        let total: u128 = xs.iter().map(|&x| x as u128).sum();
        let big: u128 = xs.iter().map(|&x| u128::from(x)).max().unwrap();
        let f = xs.iter().fold(1u128, |a, &x| a * x as u128 % (u64::MAX as u128));
        let arr = [acc, total, f];
        ((acc >> 64) as u64, total as u64 ^ (total >> 64) as u64, arr.iter().fold(0, |h, &x| mix(h, x)), big < u128::MAX)
    }
    #[task]
    pub fn largest_of_pairs(xs: [u64; 14]) -> (u64, u32) {
        let (mut h, mut multiples) = (0, 0);
        for a in xs {
            for b in xs {
                let (a, b) = (a as u128 * a as u128, b as u128);
                let most: u128 = *[a, b, 9].iter().max().unwrap();
                h = mix(h, most);
                multiples += a.is_multiple_of(b) as u32;
            }
        }
        (h, multiples)
    }
    #[task]
    pub fn lcg(seed: u32) -> (u32, u8, [i32; 5], Option<u32>) {
        let mut w = Wrapping(seed);
        let mut b = Wrapping(200u8);
        for _ in 0..10 { w = w * Wrapping(1664525) + Wrapping(1013904223); b += Wrapping(77); b *= Wrapping(3); }
        w ^= w >> 5;
        let mut v = [3i32, -1, 4, 1, -5];
        v.sort_by_key(|&x| Reverse(x));
        let best = v.iter().map(|&x| (Reverse(x.abs()), x)).max().map(|(Reverse(a), _)| a as u32);
        (w.0, b.0, v, best)
    }
}

millstream_tests::cases! {
    unsigned(12345, 1000);
    signed(777, 1000);
    power(3, 1000000007, 18446744073709551557);
    sums([18446744073709551615, 2, 3, 18446744073709551615]);
    largest_of_pairs([0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 1 << 40, 1 << 63, u64::MAX, 12]);
    lcg(7);
}
