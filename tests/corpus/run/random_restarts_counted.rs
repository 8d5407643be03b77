//! Restart points in a loop that waits now and then: between two waits a segment has one child more at most, and room for it beforehand.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU32, Ordering};

    #[task]
    pub fn turns(n: u32, count: &AtomicU32) {
        if n == 0 {
            return;
        }
        count.fetch_add(1, Ordering::Relaxed);
        spawn!(turns(n - 1, count));
        let mut turn = 0u32;
        while turn < 4 {
            turn += 1;
            if n & 1 == 0 {
                spawn!(turns(n - 1, count));
            }
            if turn as u8 & 1 == 1 {
                sync!();
            }
        }
    }
}

millstream_tests::cases! {
    turns(0, &std::sync::atomic::AtomicU32::new(3));
    turns(3, &std::sync::atomic::AtomicU32::new(0));
    turns(6, &std::sync::atomic::AtomicU32::new(1));
}
