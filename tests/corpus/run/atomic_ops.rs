//! Every atomic operation, on every width.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};

    #[task]
    pub fn ints(a: &[AtomicI32]) -> [i32; 10] {
        let mut out = [0; 10];
        out[0] = a[0].load(Ordering::Acquire);
        a[1].store(-7, Ordering::Release);
        out[2] = a[2].swap(20, Ordering::AcqRel);
        out[3] = a[3].fetch_add(5, Ordering::Relaxed);
        out[4] = a[4].fetch_sub(5, Ordering::SeqCst);
        out[5] = a[5].fetch_and(0b1100, Ordering::Relaxed);
        out[6] = a[6].fetch_or(0b1100, Ordering::Relaxed);
        out[7] = a[7].fetch_xor(0b1100, Ordering::Relaxed);
        out[8] = a[8].fetch_min(-1, Ordering::Relaxed);
        out[9] = a[9].fetch_max(-1, Ordering::Relaxed);
        out
    }

    #[task]
    pub fn wide(a: &AtomicU64, b: &AtomicUsize, c: &AtomicBool) -> (u64, usize, bool, u64) {
        let x = a.fetch_add(u64::MAX, Ordering::Relaxed);
        let y = b.fetch_nand(6, Ordering::Relaxed);
        let z = c.fetch_xor(true, Ordering::Relaxed);
        (x, y, z, a.load(Ordering::Relaxed))
    }
}

millstream_tests::cases! {
    ints(&(0..10).map(|i| std::sync::atomic::AtomicI32::new(i * 3)).collect::<Vec<_>>());
    wide(&std::sync::atomic::AtomicU64::new(10), &std::sync::atomic::AtomicUsize::new(5), &std::sync::atomic::AtomicBool::new(true));
}
