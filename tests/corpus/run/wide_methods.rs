//! Roots, remainders and saturating arithmetic of integers of 128 bits, beside texts and checksums.

#[millstream::program]
pub mod program {
    // wide ints and float fns, string bytes, shifts
    fn isqrt128(n: u128) -> u128 {
        if n < 2 {
            return n;
        }
        let mut x = 1u128 << ((128 - n.leading_zeros()).div_ceil(2));
        loop {
            let y = (x + n / x) >> 1;
            if y >= x {
                return x;
            }
            x = y;
        }
    }
    fn mul_hi(a: u64, b: u64) -> (u64, u64) {
        let p = u128::from(a) * u128::from(b);
        ((p >> 64) as u64, p as u64)
    }
    fn fnv(data: &[u8]) -> u128 {
        data.iter()
            .fold(0x6c62272e07bb014262b821756295c58du128, |h, &b| {
                (h ^ b as u128).wrapping_mul(0x0000000001000000000000000000013B)
            })
    }
    fn checked(a: i128, b: i128) -> Option<i128> {
        a.checked_add(b)?.checked_sub(1)?.checked_mul(3)
    }
    fn itoa(mut n: u64, buf: &mut [u8; 20]) -> &[u8] {
        let mut i = buf.len();
        loop {
            i -= 1;
            buf[i] = b'0' + (n % 10) as u8;
            n /= 10;
            if n == 0 {
                break;
            }
        }
        &buf[i..]
    }
    fn crc32(data: &[u8]) -> u32 {
        !data.iter().fold(!0u32, |c, &b| {
            (0..8).fold(c ^ b as u32, |c, _| {
                if c & 1 != 0 {
                    c >> 1 ^ 0xEDB88320
                } else {
                    c >> 1
                }
            })
        })
    }
    fn levenshtein(a: &[u8], b: &[u8]) -> usize {
        let mut prev: [usize; 33] = std::array::from_fn(|i| i);
        let mut cur = [0; 33];
        for (i, ca) in a.iter().enumerate() {
            cur[0] = i + 1;
            for (j, cb) in b.iter().enumerate() {
                cur[j + 1] = (prev[j] + usize::from(ca != cb))
                    .min(prev[j + 1] + 1)
                    .min(cur[j] + 1);
            }
            std::mem::swap(&mut prev, &mut cur);
        }
        prev[b.len()]
    }
    #[task]
    pub fn wide(n: u64) -> (u64, u64, u64, u64, usize, u32, usize, i64, u64) {
        let r = isqrt128(u128::MAX / (n as u128 + 1));
        let (hi, lo) = mul_hi(n.wrapping_mul(0x9E3779B97F4A7C15), u64::MAX - n);
        let h = fnv(b"hello world");
        let c = checked(i128::MAX, 5).is_none() as u64
            + checked(-7, 3).map_or(0, |x| x.unsigned_abs() as u64);
        let mut buf = [0; 20];
        let s = itoa(n.pow(7), &mut buf);
        let len = s.len();
        let words = b"the quick  brown fox"
            .split(|b| b.is_ascii_whitespace())
            .filter(|w| !w.is_empty())
            .map(|w| w.len())
            .fold(0, |a, l| a * 10 + l);
        let (q, rem) = (
            (n as i128 - 1000).div_euclid(7),
            (n as i128 - 1000).rem_euclid(7),
        );
        let p = (h >> 64) as u64 ^ h as u64;
        let mx = u128::from(n).max(3).min(1 << 70).pow(2).isqrt() as u64;
        let ov = (u128::MAX.overflowing_add(2).0 as u64)
            + u128::MAX.saturating_add(1).count_ones() as u64
            + (1u128 << 100).trailing_zeros() as u64
            + u64::try_from(1u128 << 64).is_err() as u64;
        (
            (r >> 64) as u64 ^ r as u64,
            hi,
            lo,
            p + c + ov,
            len,
            crc32(s),
            levenshtein(b"kitten sitting", b"sitting kitten") + words,
            q as i64 * 10 + rem as i64,
            mx,
        )
    }

    #[task]
    pub fn ends(n: i64, m: u64) -> (u64, u64, i64, u32) {
        let (a, b) = ((n as i128) << 64, (m as u128) << 66);
        let signed = [
            a.saturating_add(i128::MAX),
            a.saturating_sub(i128::MAX),
            a.saturating_mul(a),
            a.saturating_mul(-1),
        ];
        let over = [
            a.overflowing_add(i128::MIN).1,
            a.overflowing_mul(a).1,
            b.overflowing_sub(u128::MAX).1,
        ];
        let none = [
            a.checked_div(0).is_none(),
            i128::MIN.checked_div(-1).is_none(),
            i128::MIN.checked_rem(-1).is_none(),
            b.checked_pow(3).is_none(),
        ];
        let bits = b.leading_ones()
            + b.trailing_ones() * 3
            + b.count_zeros() * 5
            + (b.swap_bytes() ^ b.reverse_bits()).count_ones();
        let signed = signed.iter().fold(0i64, |h, x| {
            h.wrapping_mul(31) ^ (*x >> 64) as i64 ^ *x as i64
        });
        let flags = over
            .iter()
            .chain(&none)
            .fold(0, |h, x| h * 2 + u64::from(*x));
        (
            (b.isqrt() >> 32) as u64 ^ (u128::MAX - b).isqrt() as u64,
            flags,
            signed,
            bits ^ (a.unsigned_abs() >> 60) as u32,
        )
    }
}

millstream_tests::cases! {
    ends(-5, 77);
    ends(i64::MAX, u64::MAX);
    ends(0, 0);
    ends(i64::MIN, 1);
    wide(9);
    wide(30);
}
