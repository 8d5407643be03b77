//! Queues of two kinds behind a trait in a module, and in tasks.

#[millstream::program]
pub mod program {
    pub mod ds {
        pub trait Queue {
            type T: Copy;
            const ROOM: usize;
            fn put(&mut self, x: Self::T) -> bool;
            fn get(&mut self) -> Option<Self::T>;
            fn is_empty(&self) -> bool;
            fn drain(&mut self) -> usize {
                let mut n = 0;
                while !self.is_empty() {
                    self.get();
                    n += 1;
                }
                n
            }
        }
        #[derive(Clone, Copy)]
        pub struct Ring<T, const N: usize> {
            a: [T; N],
            at: usize,
            len: usize,
        }
        impl<T: Copy + Default, const N: usize> Ring<T, N> {
            pub fn new() -> Self {
                Ring {
                    a: [T::default(); N],
                    at: 0,
                    len: 0,
                }
            }
            pub fn len(&self) -> usize {
                self.len
            }
        }
        impl<T: Copy + Default, const N: usize> Queue for Ring<T, N> {
            type T = T;
            const ROOM: usize = N;
            fn put(&mut self, x: T) -> bool {
                if self.len == Self::ROOM {
                    return false;
                }
                self.a[(self.at + self.len) % N] = x;
                self.len += 1;
                true
            }
            fn get(&mut self) -> Option<T> {
                if self.len == 0 {
                    return None;
                }
                let x = self.a[self.at];
                self.at = (self.at + 1) % N;
                self.len -= 1;
                Some(x)
            }
            fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }
        pub struct Stack {
            a: [u32; Self::MOST],
            n: usize,
        }
        impl Stack {
            const MOST: usize = 4;
            pub fn new() -> Stack {
                Stack {
                    a: [0; Self::MOST],
                    n: 0,
                }
            }
            pub fn get(&self, i: usize) -> u32 {
                self.a[i]
            }
            pub fn is_empty(&self) -> u32 {
                7
            }
        }
        impl Queue for Stack {
            type T = u32;
            const ROOM: usize = Stack::MOST;
            fn put(&mut self, x: u32) -> bool {
                if self.n == Self::ROOM {
                    false
                } else {
                    self.a[self.n] = x;
                    self.n += 1;
                    true
                }
            }
            fn get(&mut self) -> Option<u32> {
                self.n = self.n.checked_sub(1)?;
                Some(self.a[self.n])
            }
            fn is_empty(&self) -> bool {
                self.n == 0
            }
        }
    }
    use ds::{Queue, Ring, Stack};
    fn fill<Q: Queue<T = u32>>(q: &mut Q, from: u32) -> u32 {
        let mut x = from;
        while q.put(x) {
            x += 1;
        }
        x
    }
    fn turn<Q: Queue>(q: &mut Q) -> bool
    where
        Q::T: PartialEq,
    {
        match (q.get(), q.get()) {
            (Some(a), Some(b)) => {
                q.put(a);
                a == b
            }
            _ => q.is_empty(),
        }
    }
    #[task]
    pub fn bfs(n: usize, from: usize) -> u32 {
        let mut q: Ring<(usize, u32), 16> = Ring::new();
        let mut seen = [false; 16];
        q.put((from, 0));
        let mut far = 0;
        while let Some((i, d)) = q.get() {
            if seen[i] {
                continue;
            }
            seen[i] = true;
            far = far.max(d);
            for j in [i * 2 % n, (i + 3) % n] {
                if !seen[j] {
                    q.put((j, d + 1));
                }
            }
        }
        far + q.drain() as u32
    }
    #[task]
    pub fn run(n: usize) -> (u32, u32, u32, bool, usize, u32) {
        let (mut r, mut s) = (Ring::<u32, 5>::new(), Stack::new());
        let a = spawn!(bfs(n, 1));
        let b = spawn!(bfs(n, 2));
        sync!();
        let x = fill(&mut r, 3) + fill(&mut s, 10);
        let g = s.get(1) + s.is_empty();
        let t = turn(&mut s);
        let m = Queue::get(&mut s).unwrap_or(0) + r.get().unwrap_or(9);
        (
            a + b,
            x,
            g + m,
            t,
            r.drain() + r.len() + <Ring<u8, 3> as Queue>::ROOM + Stack::ROOM,
            n as u32,
        )
    }
}

millstream_tests::cases! {
    run(11);
}
