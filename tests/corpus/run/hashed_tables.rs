//! Traits for all that is made of what has them, and a table of such keys.

#[millstream::program]
pub mod program {
    trait Size {
        fn size(&self) -> usize;
        fn is_big(&self) -> bool {
            self.size() > 3
        }
    }
    trait Show {
        fn show(&self) -> u32;
    }
    trait Hash2 {
        fn hash(&self, seed: u32) -> u32;
        fn mix(self, o: Self) -> u32
        where
            Self: Sized,
        {
            self.hash(1) ^ o.hash(2)
        }
    }
    impl Hash2 for u32 {
        fn hash(&self, seed: u32) -> u32 {
            (*self ^ seed).wrapping_mul(2654435761)
        }
    }
    impl Hash2 for u8 {
        fn hash(&self, seed: u32) -> u32 {
            u32::from(*self).hash(seed) + 1
        }
    }
    impl Hash2 for bool {
        fn hash(&self, seed: u32) -> u32 {
            if *self { seed } else { !seed }
        }
    }
    impl<T: Hash2, const N: usize> Hash2 for [T; N] {
        fn hash(&self, seed: u32) -> u32 {
            let mut h = seed;
            for x in self.iter() {
                h = x.hash(h);
            }
            h
        }
    }
    impl<A: Hash2, B: Hash2> Hash2 for (A, B) {
        fn hash(&self, seed: u32) -> u32 {
            self.1.hash(self.0.hash(seed))
        }
    }
    impl<T: Hash2> Hash2 for Option<T> {
        fn hash(&self, seed: u32) -> u32 {
            match self {
                None => seed,
                Some(x) => x.hash(seed + 1),
            }
        }
    }
    impl<T: Hash2, E: Hash2> Hash2 for Result<T, E> {
        fn hash(&self, seed: u32) -> u32 {
            match self {
                Ok(x) => x.hash(seed),
                Err(e) => e.hash(!seed),
            }
        }
    }
    #[derive(Clone, Copy)]
    pub struct Key {
        a: u8,
        b: [u32; 2],
        c: Option<bool>,
    }
    impl Hash2 for Key {
        fn hash(&self, seed: u32) -> u32 {
            (self.a, (self.b, self.c)).hash(seed)
        }
    }
    impl<T: Hash2> Show for T {
        fn show(&self) -> u32 {
            self.hash(7) % 1000
        }
    }
    struct Table<K, V, const N: usize> {
        keys: [Option<K>; N],
        vals: [V; N],
    }
    impl<K: Hash2 + PartialEq + Copy, V: Copy + Default, const N: usize> Table<K, V, N> {
        fn new() -> Self {
            Table {
                keys: [None; N],
                vals: [V::default(); N],
            }
        }
        fn slot(&self, k: K) -> usize {
            let mut i = k.hash(3) as usize % N;
            while let Some(o) = self.keys[i] {
                if o == k {
                    break;
                }
                i = (i + 1) % N;
            }
            i
        }
        fn insert(&mut self, k: K, v: V) -> Option<V> {
            let i = self.slot(k);
            let old = self.keys[i].map(|_| self.vals[i]);
            self.keys[i] = Some(k);
            self.vals[i] = v;
            old
        }
        fn get(&self, k: K) -> Option<V> {
            let i = self.slot(k);
            if self.keys[i].is_some() {
                Some(self.vals[i])
            } else {
                None
            }
        }
        fn update(&mut self, k: K, f: impl Fn(V) -> V) {
            let v = self.get(k).unwrap_or_default();
            self.insert(k, f(v));
        }
    }
    impl<K, V, const N: usize> Size for Table<K, V, N> {
        fn size(&self) -> usize {
            self.keys.iter().filter(|k| k.is_some()).count()
        }
    }
    fn count(a: &[u32]) -> Table<u32, u8, 32> {
        let mut t: Table<u32, u8, 32> = Table::new();
        for &x in a {
            t.update(x, |n: u8| n + 1);
        }
        t
    }
    #[task]
    pub fn run(a: &[u32], n: u32) -> (u32, u32, usize, bool, u8, u32) {
        let k = Key {
            a: n as u8,
            b: [n, 1],
            c: Some(true),
        };
        let t = count(a);
        let mut u: Table<(u8, bool), u32, 8> = Table::new();
        let x = u.insert((1, true), 5).unwrap_or(100)
            + u.insert((1, true), 6).unwrap_or(100)
            + u.get((1, true)).unwrap()
            + u.get((2, false)).map_or(50, |x| x);
        let s = spawn!(sub(n));
        sync!();
        let r: Result<u32, u8> = Err(3);
        (
            k.show() + n.show() + s,
            k.mix(k) ^ r.hash(5),
            t.size() + u.size(),
            t.is_big(),
            t.get(n).unwrap_or(0),
            x,
        )
    }
    #[task]
    pub fn sub(n: u32) -> u32 {
        [Some((n, n as u8)), None].show()
    }
}

millstream_tests::cases! {
    run(&[1, 2, 2, 5, 9, 2], 2);
}
