//! Children whose results nobody takes, and children without results.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU32, Ordering};

    #[task]
    pub fn touch(seen: &AtomicU32, by: u32) -> u32 {
        seen.fetch_add(by, Ordering::Relaxed);
        by * 2
    }

    #[task]
    pub fn shout(seen: &AtomicU32) {
        seen.fetch_add(1000, Ordering::Relaxed);
    }

    #[task]
    pub fn all(seen: &AtomicU32) -> u32 {
        spawn!(touch(seen, 1));
        let _ = spawn!(touch(seen, 2));
        spawn!(shout(seen));
        let nothing = spawn!(shout(seen));
        let _unused = spawn!(touch(seen, 4));
        let used = spawn!(touch(seen, 8));
        sync!();
        if nothing != () {
            return 0;
        }
        used + seen.load(Ordering::Relaxed)
    }
}

millstream_tests::cases! {
    all(&std::sync::atomic::AtomicU32::new(0));
}
