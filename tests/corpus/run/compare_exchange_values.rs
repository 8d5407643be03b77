//! What a compare-exchange gives as a value: asked by methods of `Result`, bound, compared, returned and passed on by `?`.
#[millstream::program]
pub mod program {
    use std::sync::atomic::{
        AtomicU8, AtomicU32,
        Ordering::{self, *},
    };

    fn bump(x: &AtomicU32, from: u32) -> Result<u32, u32> {
        x.compare_exchange(from, from + 1, AcqRel, Relaxed)
    }

    #[task]
    pub fn exchange(start: u32, n: u32) -> (u32, u32, Option<u32>, bool, [u32; 4]) {
        let x = AtomicU32::new(start);
        let a = x.compare_exchange(0, 5, SeqCst, Relaxed).unwrap_or_else(|now| now + 100);
        let r = x.compare_exchange(5, 6, Ordering::AcqRel, Ordering::Acquire);
        let (Ok(b) | Err(b)) = r;
        let c = x.compare_exchange(6, n, SeqCst, Relaxed).ok();
        let same = x.compare_exchange_weak(77, 78, SeqCst, Relaxed) == Err(n);
        let _ = x.compare_exchange(n, 9, SeqCst, Relaxed);
        x.compare_exchange(9, 10, SeqCst, Relaxed).ok();
        let mut seen = [0; 4];
        let mut last = Ok(0);
        for s in &mut seen {
            last = bump(&x, 10 + last.unwrap_or(0) % 2);
            *s = last.map_or_else(|e| e * 2, |v| v);
        }
        let e = match x.compare_exchange(0, 1, SeqCst, SeqCst) {
            r @ Ok(_) => r,
            other => other.map_err(|v| v + 1),
        };
        (a, b, c, same && e.is_err_and(|v| v > 1), seen)
    }

    fn claim(slots: &[AtomicU8], at: usize, by: u8) -> Result<(), u8> {
        let was = slots[at].compare_exchange(0, by, AcqRel, Acquire)?;
        assert!(was == 0);
        Ok(())
    }

    #[task]
    pub fn claims(n: u8) -> (u32, [u8; 8]) {
        let slots: [AtomicU8; 8] = Default::default();
        let lost = (0..n)
            .filter_map(|i| claim(&slots, (i * i) as usize % 8, i + 1).err())
            .map(u32::from)
            .sum();
        (lost, slots.each_ref().map(|s| s.load(Relaxed)))
    }

    /// A type of one's own with a method of that name.
    struct Cell(u32);

    impl Cell {
        fn compare_exchange(&self, is: u32, to: u32) -> Result<u32, u32> {
            if self.0 == is { Ok(to) } else { Err(self.0) }
        }
    }

    #[task]
    pub fn own(x: u32) -> u32 {
        let cell = Cell(x);
        let is = cell.compare_exchange(1, 2).is_ok();
        let _ = cell.compare_exchange(1, 2);
        match cell.compare_exchange(1, 2) {
            Ok(v) => v * 10 + u32::from(is),
            Err(v) => v,
        }
    }
}
millstream_tests::cases! {
    exchange(0, 3);
    exchange(4, 4);
    exchange(5, 10);
    claims(6);
    own(1);
    own(7);
}
