//! A lock-free maximum by compare-exchange, from many children.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU32, Ordering};

    fn raise(best: &AtomicU32, value: u32) {
        loop {
            let seen = best.load(Ordering::Relaxed);
            if seen >= value {
                return;
            }
            if best.compare_exchange(seen, value, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                return;
            }
        }
    }

    #[task]
    pub fn visit(lo: u32, hi: u32, best: &AtomicU32) {
        if hi - lo == 1 {
            raise(best, lo * 7919 % 1009);
            return;
        }
        let mid = (lo + hi) / 2;
        spawn!(visit(lo, mid, best));
        spawn!(visit(mid, hi, best));
    }

    #[task]
    pub fn once(flag: &AtomicU32) -> (bool, bool) {
        let first = flag.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        let second = flag.compare_exchange(0, 2, Ordering::SeqCst, Ordering::SeqCst).is_err();
        (first, second)
    }
}

millstream_tests::cases! {
    visit(0, 500, &std::sync::atomic::AtomicU32::new(0));
    once(&std::sync::atomic::AtomicU32::new(0));
    once(&std::sync::atomic::AtomicU32::new(5));
}
