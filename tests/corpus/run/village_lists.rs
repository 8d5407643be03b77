//! Hospitals of villages, as in BOTS; lists that give iterators.

#[millstream::program]
pub mod program {
    pub const LEVELS: u32 = 4;
    const BRANCH: usize = 3;
    const CAP: usize = 16;
    const IM: i64 = 2147483647;
    const IA: i64 = 16807;

    #[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
    pub struct Patient { id: u32, time: u16, left: u16, hosps: u8 }

    #[derive(Clone, Copy, Debug)]
    struct List<T, const C: usize> { items: [T; C], len: usize }
    impl<T: Copy + Default, const C: usize> Default for List<T, C> { fn default() -> Self { Self { items: [T::default(); C], len: 0 } } }
    impl<T: Copy + Default, const C: usize> List<T, C> {
        fn push(&mut self, t: T) -> Result<(), T> { if self.len == C { return Err(t); } self.items[self.len] = t; self.len += 1; Ok(()) }
        fn swap_remove(&mut self, i: usize) -> T { self.len -= 1; self.items.swap(i, self.len); self.items[self.len] }
        fn as_slice(&self) -> &[T] { &self.items[..self.len] }
        fn iter(&self) -> std::slice::Iter<'_, T> { self.as_slice().iter() }
        fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> { self.items[..self.len].iter_mut() }
    }

    #[derive(Clone, Copy, Default, Debug)]
    pub struct Stats { pub treated: u32, pub time: u32, pub sent_up: u32, pub waiting: u32 }
    impl std::ops::Add for Stats {
        type Output = Self;
        fn add(self, o: Self) -> Self { Stats { treated: self.treated + o.treated, time: self.time + o.time, sent_up: self.sent_up + o.sent_up, waiting: self.waiting + o.waiting } }
    }
    impl std::iter::Sum for Stats { fn sum<I: Iterator<Item = Stats>>(it: I) -> Stats { it.fold(Stats::default(), |a, b| a + b) } }
    impl<'a> std::iter::Sum<&'a Stats> for Stats { fn sum<I: Iterator<Item = &'a Stats>>(it: I) -> Stats { it.copied().sum() } }

    struct Random { seed: i64 }
    impl Random {
        fn next(&mut self) -> f64 { self.seed = self.seed * IA % IM; self.seed as f64 / IM as f64 }
        fn chance(&mut self, p: f64) -> bool { self.next() < p }
    }

    #[task]
    pub fn village(level: u32, id: u32, steps: u32) -> Stats {
        let mut children = [Stats::default(); BRANCH];
        if level > 1 {
            for (i, slot) in (0u32..).zip(0..BRANCH) { children[slot] = spawn!(village(level - 1, id * 4 + i + 1, steps)); }
        }
        let mut rng = Random { seed: i64::from(id) * 31 + 17 };
        let mut waiting: List<Patient, CAP> = List::default();
        let mut inside = List::<Patient, 4>::default();
        let mut own = Stats::default();
        for t in 0..steps {
            if rng.chance(0.5) { let _ = waiting.push(Patient { id: t, ..Default::default() }); }
            for p in waiting.iter_mut() { p.time += 1; }
            let mut i = 0;
            while i < inside.len {
                inside.items[i].left -= 1;
                if inside.items[i].left > 0 { i += 1; continue; }
                let p = inside.swap_remove(i);
                if level < LEVELS && rng.chance(0.2) { own.sent_up += 1; } else { own.treated += 1; own.time += p.time as u32; }
            }
            while let Some(p) = waiting.iter().next().copied() {
                let p = Patient { left: 3, hosps: p.hosps + 1, ..p };
                if let Err(_) = inside.push(p) { break; }
                waiting.swap_remove(0);
            }
        }
        own.waiting = waiting.len as u32;
        sync!();
        own + children.iter().sum()
    }
    #[task]
    pub fn run(steps: u32) -> [u32; 4] {
        let s = spawn!(village(LEVELS, 1, steps));
        sync!();
        let Stats { treated, time, sent_up, waiting } = s;
        [treated, time, sent_up, waiting]
    }
}

millstream_tests::cases! {
    run(30);
}
