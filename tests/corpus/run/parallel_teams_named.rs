//! Parallel loops whose source says who shares them out on a GPU: alone and in each other.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU64, Ordering};

    // A task that a GPU runs alone, with a loop for each team.
    #[task]
    pub fn each(n: u32, out: &mut [u32], seen: &AtomicU64) -> (u64, f32, u32) {
        let (mut sum, mut floats, mut last) = (0u64, 0.0f32, 0);
        #[parallel(lane)]
        for (i, x) in out.iter_mut().enumerate() {
            *x = i as u32 * n;
            sum += *x as u64;
        }
        #[parallel(warp)]
        for x in out.iter_mut() {
            *x = *x * 3 + 1;
            last = last.max(*x);
        }
        // The order shows.
        #[parallel(block)]
        for x in out.iter() {
            floats += *x as f32 / 3.0;
        }
        #[parallel(threads = 96)]
        for x in out.iter() {
            floats *= 1.0 + (*x % 3) as f32 / 4096.0;
        }
        #[parallel(device)]
        for x in out.iter_mut() {
            *x ^= 5;
            seen.fetch_add(1, Ordering::Relaxed);
        }
        (sum, floats, last)
    }

    // Teams in teams, narrower and wider than the one around.
    #[task]
    pub fn nested(n: u32, out: &mut [u32]) -> (u64, f32) {
        let (mut sum, mut floats) = (0u64, 0.0f32);
        #[parallel(threads = 600)]
        for (i, row) in out.chunks_mut(n as usize).enumerate() {
            let mut most = 0;
            #[parallel(warp)]
            for x in row.iter_mut() {
                *x += i as u32;
                most = most.max(*x);
            }
            #[parallel(device)]
            for x in row.iter_mut() {
                *x = *x * 2 + most;
                sum += *x as u64;
                floats += *x as f32 / 7.0;
            }
            #[parallel(lane)]
            for x in row.iter() {
                sum += *x as u64 / 2;
            }
        }
        #[parallel(block)]
        for row in out.chunks_mut(40) {
            #[parallel]
            for part in row.chunks_mut(8) {
                let mut own = 0;
                #[parallel(block)]
                for x in part.iter() {
                    own += *x;
                }
                part[0] = own;
            }
        }
        #[parallel(warp)]
        for row in out.chunks_mut(25) {
            let first = row[0];
            #[parallel(threads = 1)]
            for x in row.iter_mut() {
                *x += first % 9;
            }
        }
        (sum, floats)
    }

    fn squares(of: &mut [u32]) -> u32 {
        let mut sum = 0;
        #[parallel(warp)]
        for x in of.iter_mut() {
            *x *= *x;
            sum += *x;
        }
        sum
    }

    // Many tasks with such loops, each of which has lanes enough.
    #[task]
    pub fn many(depth: u32, out: &mut [u32]) -> u32 {
        if depth == 0 || out.len() < 4 {
            return squares(out);
        }
        let (a, b) = out.split_at_mut(out.len() / 2);
        let left = spawn!(many(depth - 1, a));
        let right = spawn!(many(depth - 1, b));
        sync!();
        left * 3 + right
    }
}

millstream_tests::cases! {
    each(3, &mut [0; 1000], &std::sync::atomic::AtomicU64::new(0));
    each(7, &mut [0; 5], &std::sync::atomic::AtomicU64::new(1));
    each(1, &mut [0; 0], &std::sync::atomic::AtomicU64::new(1));
    nested(13, &mut [2; 500]);
    nested(300, &mut [1; 3000]);
    nested(2, &mut [1; 4]);
    many(4, &mut [3; 300]);
}
