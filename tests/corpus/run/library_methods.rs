//! Methods of Rust's types that are written in the language itself, ranges as values, and what a compare-exchange found.

use std::sync::atomic::AtomicU32;

#[millstream::program]
pub mod program {
    use std::ops::Range;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Item {
        pub key: u8,
        pub value: i32,
    }

    const HALF: Option<u32> = 9u32.checked_div(2);

    #[task]
    pub fn integers(a: i32, b: i32, c: u8, d: usize) -> (Option<i32>, Option<i32>, [i32; 4], Option<u8>, [Option<usize>; 3], Option<i32>) {
        (
            a.checked_div(b),
            a.checked_rem(b).or(a.checked_neg()),
            [a.wrapping_div(b | 1), a.wrapping_rem(b | 1), a.saturating_pow(3), a.midpoint(b)],
            c.checked_pow(2).or(c.checked_next_power_of_two()).or(c.checked_shl(9)),
            [d.checked_add_signed(-3), d.checked_add_signed(isize::MAX), Some(d.saturating_add_signed(-9).wrapping_add_signed(-1))],
            a.checked_abs().filter(|x| *x > 3).or(HALF.map(|h| h as i32)),
        )
    }

    #[task]
    pub fn more(a: u32, x: f32) -> (u64, u32, bool, bool, Option<u32>, Option<u32>) {
        let wide: u64 = a.into();
        (
            wide * 3 + u64::from(a.midpoint(7)),
            a.checked_ilog2().unwrap_or(99) + a.checked_ilog10().unwrap_or(99),
            x.is_normal(),
            x.is_subnormal(),
            (a > 3).then_some(a),
            (a < 3).then(|| a + 1),
        )
    }

    #[task]
    pub fn slices(items: &mut [Item], by: i32) -> (bool, bool, bool, [i32; 3], [u32; 4]) {
        items.sort_by_key(|i| (i.key, -i.value * by));
        let values = [1, by, 3].map(|x| x * 2);
        let made: [u32; 4] = std::array::from_fn(|i| i as u32 * 3);
        let mut other = [0; 3];
        other.fill_with(|| by);
        other[1] = 2;
        other.swap_with_slice(&mut [7, 8, 9]);
        (
            items.is_sorted_by_key(|i| i.key),
            values.starts_with(&[2]) && values.ends_with(&[6]),
            other.is_sorted() && !values.is_sorted(),
            values,
            made,
        )
    }

    fn middle(r: Range<usize>) -> usize {
        r.start + (r.end - r.start) / 2
    }

    #[task]
    pub fn ranges(a: &[u32], n: usize) -> (u32, usize, u32, bool) {
        let r = 1..n;
        let part = &a[r.clone()];
        let mut sum = 0;
        for i in r.clone() {
            sum += a[i] * 2;
        }
        for i in r.clone().rev() {
            sum = sum * 3 + a[i];
        }
        (sum, middle(r.clone()) + middle(0..a.len()), part.len() as u32, r.contains(&2) && !r.is_empty() && r.len() > 1)
    }

    #[task]
    pub fn found(a: &AtomicU32, by: u32) -> (u32, u32) {
        let first = match a.compare_exchange(5, 6, Ordering::SeqCst, Ordering::SeqCst) {
            Ok(old) => old + 100,
            Err(now) => now * 2,
        };
        let mut seen = a.load(Ordering::Relaxed);
        while let Err(now) = a.compare_exchange_weak(seen, seen + by, Ordering::AcqRel, Ordering::Relaxed) {
            seen = now;
        }
        (first, seen)
    }

    #[task]
    pub fn chains(a: &[u32], limit: u32) -> (u32, Option<u32>, u32, u32) {
        let mut kept = 0;
        for pair in a.windows(2) {
            if let [x, y] = pair && x < y && let Some(d) = y.checked_sub(limit) {
                kept += d + 1;
            } else {
                kept *= 2;
            }
        }
        let value = if let Some(x) = a.first() && *x > limit { *x } else { 7 };
        let mut i = 0;
        while let Some(x) = a.get(i) && *x < 8 {
            i += 1;
        }
        let halves: u32 = a.iter().filter_map(|x| (x % 2 == 0).then_some(x / 2)).sum();
        let options = [Some(limit), None, Some(3)];
        let flat = options.iter().flatten().count() as u32 + options.into_iter().flatten().sum::<u32>();
        (kept + value, a.iter().find_map(|&x| x.checked_sub(limit)), halves + i as u32, flat)
    }
}

millstream_tests::cases! {
    integers(7, 2, 15, 10);
    integers(i32::MIN, -1, 16, 2);
    integers(-7, 0, 200, 0);
    more(0, 1e-40);
    more(1000, 1.5);
    slices(&mut vec![program::Item { key: 3, value: 1 }, program::Item { key: 1, value: 5 }, program::Item { key: 3, value: 4 }, program::Item { key: 1, value: 6 }], 1);
    ranges(&[3, 1, 4, 1, 5], 4);
    found(&AtomicU32::new(5), 3);
    found(&AtomicU32::new(9), 3);
    chains(&[3, 9, 2, 7, 12], 4);
    chains(&[], 4);
}
