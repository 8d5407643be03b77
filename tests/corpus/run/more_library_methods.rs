//! Methods of Rust's types that are written in the language; numbers of 128 bits in loops; what runs over `Option`s.
#[millstream::program]
pub mod program {
    #[task]
    pub fn integers(a: i32, b: i32, u: u32) -> ([Option<i32>; 6], [i32; 9], (i32, bool), (u32, bool), [Option<u32>; 2]) {
        (
            [
                a.checked_rem_euclid(b),
                a.checked_div_euclid(b),
                a.checked_add_unsigned(u),
                a.checked_sub_unsigned(u),
                u.checked_next_multiple_of(7).map(|x| x as i32),
                u.checked_ilog(3).map(|x| x as i32),
            ],
            [
                if b == 0 { 0 } else { a.wrapping_rem_euclid(b) },
                if b == 0 { 0 } else { a.wrapping_div_euclid(b) },
                if b == 0 { 0 } else { a.saturating_div(b) },
                a.saturating_neg(),
                a.saturating_abs(),
                a.saturating_add_unsigned(u),
                a.saturating_sub_unsigned(u),
                a.wrapping_add_unsigned(u),
                a.wrapping_sub_unsigned(u),
            ],
            a.overflowing_neg(),
            u.overflowing_neg(),
            [u.checked_next_multiple_of(0), u.checked_ilog(1)],
        )
    }

    #[task]
    pub fn floats(a: f64, b: f64) -> (f64, f32) {
        (a.midpoint(b), std::hint::black_box((a as f32).midpoint(b as f32)).min(u16::max_value() as f32))
    }

    #[task]
    pub fn slices(a: &[u8], n: usize) -> (Option<u8>, usize, usize, Option<usize>, bool) {
        let prefix = a.strip_prefix(b"ab").and_then(|rest| rest.first().copied());
        let suffix = a.strip_suffix(b" ").map_or(99, |rest| rest.len());
        let parts = a.split_at_checked(n).map(|(low, high)| low.len() * 100 + high.len());
        (prefix, suffix, a.trim_ascii().len() * 100 + a.trim_ascii_start().len(), parts, a.trim_ascii_end().eq_ignore_ascii_case(b"ABc"))
    }

    #[task]
    pub fn from_behind(a: &[u32]) -> (Option<u32>, u32, Option<u32>, Option<u32>, usize) {
        (
            a.iter().rfind(|x| **x < 5).copied(),
            a.iter().rfold(0, |all, x| all * 3 + x),
            a.iter().next_back().copied(),
            a.iter().map(|x| x + 1).nth_back(1),
            a.chunks(2).len() + (3..9usize).len(),
        )
    }

    #[task]
    pub fn wide(n: u64, low: i64) -> (u64, u64, i64, i64, u64) {
        let (mut product, mut sum, mut none) = (1u128, 0i128, 0);
        for k in 1..=n as u128 {
            product *= k;
        }
        for k in low as i128..low as i128 + 4 {
            sum = sum * 1000 + k;
        }
        for _ in 5..3u128 {
            none += 1;
        }
        ((product >> 64) as u64, product as u64, (sum.rem_euclid(-7)) as i64, sum.div_euclid(-7) as i64, none)
    }

    #[allow(for_loops_over_fallibles)]
    #[task]
    pub fn optional(a: &[u32], x: Option<u32>, y: Result<u32, u8>) -> (u32, u32) {
        let mut all = 0;
        for v in x {
            all += v;
        }
        for v in &y {
            all = all * 10 + v;
        }
        (all, a.iter().copied().chain(x).chain(y).fold(0, |all, x| all * 10 + x))
    }
}

millstream_tests::cases! {
    integers(-17, 5, 9);
    integers(i32::MIN, -1, u32::MAX);
    integers(i32::MAX, 0, 1);
    integers(3, -4, 0);
    floats(1.5, -4.0);
    floats(f64::MAX, f64::MAX / 2.0);
    floats(5e-324, 0.0);
    slices(b"abC ", 3);
    slices(b"  ", 9);
    slices(b"", 0);
    from_behind(&[9, 3, 4, 8]);
    from_behind(&[]);
    wide(33, -2);
    wide(0, 5);
    optional(&[1, 2], Some(3), Ok(4));
    optional(&[], None, Err(4));
}
