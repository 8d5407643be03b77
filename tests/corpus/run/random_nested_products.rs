//! Products of floats that are gathered through three parallel loops, of which the innermost counts to the end of its type.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU64, Ordering};

    #[task]
    pub fn products(n: u32, p0: &mut [u32], p1: &[i64], p2: (f64, f64), seen: &AtomicU64) -> u32 {
        let (d1, d2) = p2;
        let mut product = 1.0f32;
        #[parallel]
        for (x, y) in p1.windows(1).zip(p0.iter_mut()) {
            let v: [f64; 2] = [if n % 2 == 1 { d2 } else { 3.25 }, if *y % 2 == 1 { d1 } else { d2 }];
            let mut all = true;
            #[parallel]
            for ((i, &a), &b) in v.iter().enumerate().zip(x.iter()) {
                let mut odd = false;
                #[parallel]
                for i in u16::MAX - 24..=u16::MAX {
                    odd |= (b + i as i64) % 7 == 3;
                    product *= 1.0 + ((n + *y + i as u32) % 5) as f32 / 64.0;
                }
                seen.fetch_add(odd as u64 + i as u64, Ordering::Relaxed);
                product *= 1.0 + a as f32 / 128.0;
                all &= odd;
            }
            seen.fetch_add(all as u64, Ordering::Relaxed);
            product *= 1.0 + (*y % 8) as f32 / 32.0;
            *y += 1;
        }
        product.to_bits()
    }

    // A second task that is run alone, with loops of its own.
    #[task]
    pub fn sums(data: &[u32]) -> (u32, f32) {
        let (mut sum, mut floats) = (0u32, 0.0f32);
        #[parallel]
        for part in data.windows(2) {
            #[parallel]
            for x in part.iter() {
                sum += *x;
                floats += *x as f32 / 3.0;
            }
        }
        (sum, floats)
    }
}

millstream_tests::cases! {
    products(1, &mut [14, 5, 0, 8, 3], &[11, -66], (1.0, 1.0), &std::sync::atomic::AtomicU64::new(0));
    products(2, &mut [7; 9], &[3, -2, 5, 70, 1, 0, 4, 4], (2.0, 0.5), &std::sync::atomic::AtomicU64::new(7));
    products(3, &mut [1; 40], &[9; 40], (1.5, 2.5), &std::sync::atomic::AtomicU64::new(0));
    sums(&[5, 6, 7, 8, 9, 10, 11]);
}
