//! Stores and loads in each order, of each width, and what two tasks may see of each other's.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{
        AtomicBool, AtomicI16, AtomicI64, AtomicU8, AtomicU32, AtomicU64, Ordering,
    };

    #[task]
    pub fn narrow(a: &AtomicBool, b: &AtomicU8, c: &AtomicI16) -> (bool, u8, i16) {
        a.store(true, Ordering::Relaxed);
        b.store(200, Ordering::Release);
        c.store(-300, Ordering::SeqCst);
        (a.load(Ordering::Acquire), b.load(Ordering::Relaxed), c.load(Ordering::SeqCst))
    }

    /// The last of several stores stays, and what is stored is what is read.
    #[task]
    pub fn last(a: &AtomicU32, b: &AtomicI64, n: u32) -> (u32, i64, u32) {
        let mut seen = 0;
        for i in 0..n {
            a.store(i, Ordering::Relaxed);
            b.store(-1, Ordering::Release);
            seen += a.load(Ordering::Relaxed);
            a.store(i + 1, Ordering::Relaxed);
            b.store(b.load(Ordering::Acquire) - i as i64, Ordering::Relaxed);
        }
        (a.load(Ordering::SeqCst), b.load(Ordering::SeqCst), seen)
    }

    /// Who sees what was released sees what was stored before: no pair may have the flag alone.
    #[task]
    pub fn messages(data: &[AtomicU64], flags: &[AtomicU32]) -> u32 {
        spawn!(send(data, flags));
        let wrong = spawn!(receive(data, flags));
        sync!();
        wrong
    }

    #[task]
    pub fn send(data: &[AtomicU64], flags: &[AtomicU32]) {
        for i in 0..flags.len() {
            data[i].store(i as u64 + 1, Ordering::Relaxed);
            flags[i].store(1, Ordering::Release);
        }
    }

    #[task]
    pub fn receive(data: &[AtomicU64], flags: &[AtomicU32]) -> u32 {
        let mut wrong = 0;
        for i in 0..flags.len() {
            if flags[i].load(Ordering::Acquire) == 1
                && data[i].load(Ordering::Relaxed) != i as u64 + 1
            {
                wrong += 1;
            }
        }
        wrong
    }
}

millstream_tests::cases! {
    narrow(&std::sync::atomic::AtomicBool::new(false), &std::sync::atomic::AtomicU8::new(7), &std::sync::atomic::AtomicI16::new(7));
    last(&std::sync::atomic::AtomicU32::new(0), &std::sync::atomic::AtomicI64::new(0), 9);
    messages(&(0..200).map(|_| std::sync::atomic::AtomicU64::new(0)).collect::<Vec<_>>(), &(0..200).map(|_| std::sync::atomic::AtomicU32::new(0)).collect::<Vec<_>>());
}
