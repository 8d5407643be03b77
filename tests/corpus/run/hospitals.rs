//! A simulation of health care: queues in structs in a tree of villages that is lent by parts.

#[millstream::program]
pub mod program {
    pub const BRANCH: usize = 3;
    pub const CAP: usize = 8;

    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub struct Patient {
        pub id: u32,
        pub seed: u32,
        pub time_left: u16,
        pub hosps: u8,
        pub time: u32,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Queue {
        pub items: [Patient; CAP],
        pub len: usize,
    }

    impl Default for Queue {
        fn default() -> Self {
            Queue { items: [Patient::default(); CAP], len: 0 }
        }
    }

    impl Queue {
        fn push(&mut self, p: Patient) -> bool {
            if self.len == CAP {
                return false;
            }
            self.items[self.len] = p;
            self.len += 1;
            true
        }

        fn remove(&mut self, i: usize) -> Patient {
            let p = self.items[i];
            self.items.copy_within(i + 1..self.len, i);
            self.len -= 1;
            p
        }

        fn as_slice(&self) -> &[Patient] {
            &self.items[..self.len]
        }
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub struct Village {
        pub population: Queue,
        pub waiting: Queue,
        pub inside: Queue,
        pub free: u8,
        pub seed: u32,
        pub turned_away: u32,
    }

    fn rand(seed: &mut u32) -> f32 {
        *seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12345) & 0x7fff_ffff;
        *seed as f32 / 0x7fff_ffff as f32
    }

    impl Village {
        fn step(&mut self) -> Queue {
            let mut up = Queue::default();
            // Who is treated.
            let mut i = 0;
            while i < self.inside.len {
                let p = &mut self.inside.items[i];
                p.time_left -= 1;
                if p.time_left > 0 {
                    i += 1;
                    continue;
                }
                let mut p = self.inside.remove(i);
                self.free += 1;
                let escalates = rand(&mut p.seed) < 0.3;
                let target = if escalates { &mut up } else { &mut self.population };
                if !target.push(p) {
                    self.turned_away += 1;
                }
            }
            // Who waits.
            while self.free > 0 && self.waiting.len > 0 {
                let mut p = self.waiting.remove(0);
                p.time_left = 2;
                p.hosps += 1;
                self.free -= 1;
                self.inside.push(p);
            }
            for p in &mut self.waiting.items[..self.waiting.len] {
                p.time += 1;
            }
            // Who falls ill.
            let mut i = self.population.len;
            while i > 0 {
                i -= 1;
                if rand(&mut self.seed) < 0.25 {
                    let p = self.population.remove(i);
                    if !self.waiting.push(p) {
                        self.turned_away += 1;
                    }
                }
            }
            up
        }
    }

    /// One step of the subtree whose villages are `all`, the root first.
    #[task]
    pub fn simulate(all: &mut [Village]) -> Queue {
        let Some((root, rest)) = all.split_first_mut() else {
            return Queue::default();
        };
        let mut ups = [Queue::default(); BRANCH];
        if !rest.is_empty() {
            let part = rest.len() / BRANCH;
            for (i, sub) in rest.chunks_mut(part).enumerate() {
                ups[i] = spawn!(simulate(sub));
            }
        }
        let up = root.step();
        sync!();
        for q in &ups {
            for &p in q.as_slice() {
                if !root.waiting.push(p) {
                    root.turned_away += 1;
                }
            }
        }
        up
    }

    #[task]
    pub fn run(all: &mut [Village], steps: u32) -> (u32, u32, u32) {
        for (v, village) in all.iter_mut().enumerate() {
            village.seed = v as u32 * 97 + 5;
            village.free = 1 + (v == 0) as u8;
            for k in 0..4 {
                village.population.push(Patient { id: (v * 4 + k) as u32, seed: (v * 31 + k * 7) as u32, ..Patient::default() });
            }
        }
        for _ in 0..steps {
            let out = spawn!(simulate(all));
            sync!();
            all[0].turned_away += out.len as u32;
        }
        let total = all.iter().map(|v| v.turned_away).sum::<u32>();
        let hosps = all.iter().map(|v| v.population.as_slice().iter().map(|p| p.hosps as u32).sum::<u32>()).sum::<u32>();
        let longest = all.iter().map(|v| v.waiting.as_slice().iter().map(|p| p.time).max().unwrap_or(0)).max().unwrap_or(0);
        (total, hosps, longest)
    }
}
millstream_tests::cases! { run(&mut vec![program::Village::default(); 13], 12); }
