//! Two kinds of caches by a trait, driven by the same random keys: a copy of the iterator has the state of the generator in it for itself.

#[millstream::program]
pub mod program {
    const NIL: u8 = !0;
    #[derive(Clone, Copy, Default, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct Stats {
        pub hits: u32,
        pub misses: u32,
        pub evictions: u32,
    }
    impl std::ops::AddAssign for Stats {
        fn add_assign(&mut self, rhs: Self) {
            let Self {
                hits,
                misses,
                evictions,
            } = rhs;
            self.hits += hits;
            self.misses += misses;
            self.evictions += evictions;
        }
    }
    impl std::iter::Sum for Stats {
        fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
            iter.fold(Self::default(), |mut a, b| {
                a += b;
                a
            })
        }
    }

    trait Policy {
        fn touch(&mut self, key: u16) -> bool;
        fn name() -> u8
        where
            Self: Sized;
    }

    #[derive(Clone, Copy)]
    struct Entry {
        key: u16,
        prev: u8,
        next: u8,
    }
    struct Lru<const CAP: usize> {
        entries: [Entry; CAP],
        len: u8,
        head: u8,
        tail: u8,
        stats: Stats,
    }
    impl<const CAP: usize> Lru<CAP> {
        fn new() -> Self {
            Self {
                entries: [Entry {
                    key: 0,
                    prev: NIL,
                    next: NIL,
                }; CAP],
                len: 0,
                head: NIL,
                tail: NIL,
                stats: Stats {
                    ..Default::default()
                },
            }
        }
        fn at(&mut self, i: u8) -> Option<&mut Entry> {
            if i == NIL {
                None
            } else {
                self.entries.get_mut(usize::from(i))
            }
        }
        fn unlink(&mut self, i: u8) {
            let Entry { prev, next, .. } = self.entries[i as usize];
            match self.at(prev) {
                Some(p) => p.next = next,
                None => self.head = next,
            }
            if let Some(n) = self.at(next) {
                n.prev = prev
            } else {
                self.tail = prev
            }
        }
        fn push_front(&mut self, i: u8) {
            let head = std::mem::replace(&mut self.head, i);
            if let Some(h) = self.at(head) {
                h.prev = i;
            }
            let e = &mut self.entries[i as usize];
            e.prev = NIL;
            e.next = head;
            if self.tail == NIL {
                self.tail = i;
            }
        }
        fn keys(&self) -> impl Iterator<Item = u16> {
            std::iter::successors((self.head != NIL).then_some(self.head), |&i| {
                Some(self.entries[i as usize].next).filter(|&n| n != NIL)
            })
            .map(|i| self.entries[usize::from(i)].key)
        }
    }
    impl<const CAP: usize> Policy for Lru<CAP> {
        fn touch(&mut self, key: u16) -> bool {
            let found = self.entries[..self.len as usize]
                .iter()
                .position(|e| e.key == key);
            let (slot, hit) = match found {
                Some(i) => {
                    self.stats.hits += 1;
                    self.unlink(i as u8);
                    (i as u8, true)
                }
                None if (self.len as usize) < CAP => {
                    self.stats.misses += 1;
                    self.len += 1;
                    (self.len - 1, false)
                }
                None => {
                    self.stats.misses += 1;
                    self.stats.evictions += 1;
                    let t = self.tail;
                    self.unlink(t);
                    (t, false)
                }
            };
            self.entries[slot as usize].key = key;
            self.push_front(slot);
            hit
        }
        fn name() -> u8 {
            b'L'
        }
    }
    #[derive(Default)]
    struct Direct {
        tags: [Option<u16>; 8],
        stats: Stats,
    }
    impl Policy for Direct {
        fn touch(&mut self, key: u16) -> bool {
            match &mut self.tags[(key % 8) as usize] {
                Some(t) if *t == key => {
                    self.stats.hits += 1;
                    true
                }
                slot => {
                    self.stats.evictions += slot.replace(key).is_some() as u32;
                    self.stats.misses += 1;
                    false
                }
            }
        }
        fn name() -> u8 {
            b'D'
        }
    }
    fn drive<P: Policy>(p: &mut P, keys: impl IntoIterator<Item = u16>) -> u32 {
        let mut run = 0;
        keys.into_iter()
            .map(|k| p.touch(k))
            .fold(0, |best: u32, hit| {
                run = if hit { run + 1 } else { 0 };
                best.max(run)
            })
            + u32::from(P::name() == b'D') * 100
    }
    #[task]
    pub fn simulate(seed: u32, runs: u32) -> (Stats, u32) {
        if runs > 1 {
            let (a, b) = (
                spawn!(simulate(seed, runs / 2)),
                spawn!(simulate(seed ^ 0x5bd1, runs - runs / 2)),
            );
            sync!();
            return ([a.0, b.0].into_iter().sum(), a.1.max(b.1));
        }
        let mut s = seed | 1;
        let keys = (0..64).map(move |i| {
            s ^= s << 13;
            s ^= s >> 17;
            s ^= s << 5;
            if i % 3 == 0 {
                (s % 4) as u16
            } else {
                (s % 24) as u16
            }
        });
        let mut lru = Lru::<8>::new();
        let mut direct = Direct::default();
        let best = drive(&mut lru, keys.clone()).max(drive(&mut direct, keys));
        let order = lru.keys().zip(1u32..).fold(0u32, |h, (k, i)| {
            h.wrapping_add(u32::from(k).wrapping_mul(i * i))
        });
        (
            [lru.stats, direct.stats].iter().copied().sum::<Stats>(),
            best * 1000 + order % 1000,
        )
    }
}

millstream_tests::cases! {
    simulate(77, 9);
    simulate(5, 1);
}
