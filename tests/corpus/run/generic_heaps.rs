//! A heap in an array, of what has an order.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy)]
    pub struct Heap<T, const N: usize> {
        data: [T; N],
        len: usize,
    }
    impl<T: Ord + Copy + Default, const N: usize> Heap<T, N> {
        fn new() -> Self {
            Self {
                data: [T::default(); N],
                len: 0,
            }
        }
        fn len(&self) -> usize {
            self.len
        }
        fn is_empty(&self) -> bool {
            self.len() == 0
        }
        fn peek(&self) -> Option<&T> {
            if self.is_empty() { None } else { Some(&self.data[0]) }
        }
        fn push(&mut self, x: T) -> bool {
            if self.len == N {
                return false;
            }
            let mut i = self.len;
            self.data[i] = x;
            self.len += 1;
            while i > 0 {
                let p = (i - 1) / 2;
                if self.data[i].cmp(&self.data[p]).is_lt() {
                    self.data.swap(i, p);
                    i = p;
                } else {
                    break;
                }
            }
            true
        }
        fn pop(&mut self) -> Option<T> {
            if self.len == 0 {
                return None;
            }
            let top = self.data[0];
            self.len -= 1;
            self.data[0] = self.data[self.len];
            let mut i = 0;
            loop {
                let (l, r) = (2 * i + 1, 2 * i + 2);
                let mut least = i;
                if l < self.len && self.data[l] < self.data[least] {
                    least = l;
                }
                if r < self.len && self.data[r].cmp(&self.data[least]) == std::cmp::Ordering::Less {
                    least = r;
                }
                if least == i {
                    break;
                }
                self.data.swap(i, least);
                i = least;
            }
            Some(top)
        }
    }
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
    pub struct Job {
        pub cost: u32,
        pub id: u32,
    }
    impl Job {
        fn cmp(&self, _x: &Job) -> bool {
            true
        }
        fn max(self, x: Job) -> Job {
            Job { cost: 0, id: x.id }
        }
        fn push(&self) -> u32 {
            3
        }
        fn len(&self) -> u32 {
            9
        }
    }
    fn top<T: Ord + Copy + Default, const N: usize>(h: &Heap<T, N>) -> T {
        let mut m = T::default();
        for i in 0..h.len() {
            m = m.max(h.data[i]);
        }
        m
    }
    #[task]
    pub fn sorted(seed: u32) -> (Job, Job, u32, bool) {
        let mut h: Heap<Job, 8> = Heap::new();
        let mut x = seed;
        for id in 0..8 {
            x = x.wrapping_mul(1103515245).wrapping_add(12345);
            h.push(Job { cost: x >> 20, id });
        }
        let m = top(&h);
        let first = h.peek().copied().unwrap_or_default();
        let (mut hash, mut ok, mut last) = (0u32, true, Job::default());
        while let Some(j) = h.pop() {
            ok &= last <= j;
            last = j;
            hash = hash.wrapping_mul(31).wrapping_add(j.id);
        }
        (
            first,
            m,
            hash + last.len() + last.push() + u32::from(last.cmp(&first)) + first.max(m).cost,
            ok && last == m,
        )
    }
    #[task]
    pub fn run(n: u32) -> u32 {
        let mut all = 0u32;
        for i in 0..n {
            let r = spawn!(sorted(i));
            sync!();
            all = all.wrapping_add(r.2);
        }
        all
    }
}

millstream_tests::cases! {
    sorted(3);
    run(5);
}
