//! Loops that spawn as often as memory says, with effects between: where room is short they stop, and go on where they stopped.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU64, Ordering};

    #[task]
    pub fn child(i: u64, sum: &AtomicU64) {
        sum.fetch_add(i, Ordering::Relaxed);
    }

    #[task]
    pub fn spawner(n: u64, marks: &mut [u8], seen: &AtomicU64, sum: &AtomicU64) {
        let mut i = 0;
        while seen.fetch_add(1, Ordering::Relaxed) < n {
            marks[i] += 1;
            spawn!(child(i as u64, sum));
            i += 1;
        }
    }

    #[task]
    pub fn square(x: u64, sum: &AtomicU64) -> u64 {
        sum.fetch_add(x, Ordering::Relaxed);
        x.wrapping_mul(x)
    }

    // A local array, results that are gathered and some that nobody wants, and a sync in the loop.
    #[task]
    pub fn walk(depth: u64, n: u64, sum: &AtomicU64) -> u64 {
        let mut last = [depth; 4];
        let mut total = 0u64;
        let mut own = n;
        for i in 0..n {
            last[(i % 4) as usize] += own;
            sum.fetch_add(own & 7, Ordering::Relaxed);
            own = own.wrapping_mul(31).wrapping_add(last[(i / 2 % 4) as usize]);
            let mut bits = own & 0x15;
            while bits != 0 {
                bits &= bits - 1;
                if depth > 0 {
                    total += spawn!(walk(depth - 1, bits % 3, sum));
                } else {
                    spawn!(square(own & 0xff, sum));
                }
            }
            if i % 5 == 4 {
                sync!();
                own ^= total;
                total = 0;
            }
        }
        sync!();
        total ^ own ^ last[1]
    }
}

millstream_tests::cases! {
    spawner(0, &mut [0; 1], &std::sync::atomic::AtomicU64::new(0), &std::sync::atomic::AtomicU64::new(0));
    spawner(250, &mut [0; 250], &std::sync::atomic::AtomicU64::new(0), &std::sync::atomic::AtomicU64::new(0));
    walk(2, 11, &std::sync::atomic::AtomicU64::new(0));
    walk(0, 60, &std::sync::atomic::AtomicU64::new(0));
}
