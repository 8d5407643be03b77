//! A local counter that children share.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU64, Ordering};

    #[task]
    pub fn count(n: u32, hits: &AtomicU64) {
        if n % 3 == 0 {
            hits.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[task]
    pub fn multiples(n: u32) -> u64 {
        let hits = AtomicU64::new(0);
        for i in 0..n {
            spawn!(count(i, &hits));
        }
        sync!();
        hits.load(Ordering::Relaxed)
    }

    /// Made in the other ways that there are.
    #[task]
    pub fn made(n: u32) -> u64 {
        let (some, all) = (AtomicU64::default(), AtomicU64::from(u64::from(n) + 7));
        for i in 0..n {
            spawn!(count(i, &some));
            spawn!(count(3 * i, &all));
        }
        sync!();
        some.into_inner() * 1000 + all.load(Ordering::Relaxed)
    }

    /// Methods by their paths, called and handed on.
    #[task]
    pub fn by_paths(n: u32) -> u64 {
        let hits = [const { AtomicU64::new(0) }; 3];
        AtomicU64::fetch_add(&hits[1], 5, Ordering::Relaxed);
        for i in 0..n {
            spawn!(count(i, &hits[i as usize % 3]));
        }
        sync!();
        let before = AtomicU64::load(&hits[0], Ordering::Relaxed);
        let [a, b, c] = hits.map(AtomicU64::into_inner);
        1000 * before + 100 * a + 10 * b + c
    }
}

millstream_tests::cases! {
    multiples(0);
    multiples(1);
    multiples(100);
    made(0);
    made(40);
    by_paths(40);
}
