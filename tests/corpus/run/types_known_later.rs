//! Variables of structs and enums with parameters that only what is done with them later tells.
#[millstream::program]
pub mod program {
    #[derive(Clone, Copy)]
    struct Stack<T, const N: usize> {
        items: [Option<T>; N],
        len: usize,
    }

    impl<T: Copy, const N: usize> Stack<T, N> {
        fn new() -> Self {
            Self { items: [None; N], len: 0 }
        }

        fn push(&mut self, item: T) {
            self.items[self.len] = Some(item);
            self.len += 1;
        }

        fn pop(&mut self) -> Option<T> {
            self.len = self.len.checked_sub(1)?;
            self.items[self.len].take()
        }

        fn is_empty(&self) -> bool {
            self.len == 0
        }
    }

    /// The least on top.
    struct Heap<K, V, const N: usize> {
        data: [(K, V); N],
        len: usize,
    }

    impl<K: Copy + Default + Ord, V: Copy + Default, const N: usize> Heap<K, V, N> {
        fn new() -> Self {
            Self { data: [(K::default(), V::default()); N], len: 0 }
        }

        fn push(&mut self, key: K, value: V) {
            let mut at = self.len;
            self.data[at] = (key, value);
            self.len += 1;
            while at > 0 && self.data[(at - 1) / 2].0 > self.data[at].0 {
                self.data.swap((at - 1) / 2, at);
                at = (at - 1) / 2;
            }
        }

        fn pop(&mut self) -> Option<(K, V)> {
            let top = *self.data[..self.len].first()?;
            self.len -= 1;
            self.data[0] = self.data[self.len];
            let mut at = 0;
            while let Some(child) = [2 * at + 1, 2 * at + 2].into_iter().filter(|c| *c < self.len).min_by_key(|c| self.data[*c].0)
                && self.data[child].0 < self.data[at].0
            {
                self.data.swap(child, at);
                at = child;
            }
            Some(top)
        }
    }

    #[derive(Clone, Copy, PartialEq)]
    enum Slot<K> {
        Empty,
        Full(K),
    }

    #[derive(Clone, Copy, Default)]
    struct Mean<T> {
        sum: T,
        count: u32,
    }

    impl<T: std::ops::AddAssign> Mean<T> {
        fn add(&mut self, x: T) {
            self.sum += x;
            self.count += 1;
        }
    }

    #[derive(Clone, Copy)]
    struct Pair<A, B> {
        left: A,
        right: B,
    }

    const EDGES: [[(usize, u32); 2]; 4] = [[(1, 4), (2, 1)], [(3, 1), (3, 5)], [(1, 2), (3, 7)], [(3, 0), (3, 0)]];

    #[task]
    pub fn shortest(to: usize) -> u32 {
        let mut far = [u32::MAX; 4];
        let mut heap: Heap<_, _, 16> = Heap::new();
        far[0] = 0;
        heap.push(0, 0);
        while let Some((d, v)) = heap.pop() {
            if d > far[v] {
                continue;
            }
            for (w, length) in EDGES[v] {
                if d + length < far[w] {
                    far[w] = d + length;
                    heap.push(far[w], w);
                }
            }
        }
        far[to]
    }

    fn filled(n: u64) -> Stack<u64, 4> {
        let mut stack = Stack::new();
        stack.push(n);
        stack
    }

    fn fill(stack: &mut Stack<u8, 6>, by: u8) {
        (0..3).for_each(|i| stack.push(by + i));
    }

    #[task]
    fn twice(n: u16) -> u32 {
        u32::from(n) * 2
    }

    #[task]
    pub fn stacks(n: u32) -> (u64, u64, u32, i32) {
        // Two in one statement, and one that is hidden by the next.
        let (mut todo, mut done) = (Stack::<_, 16>::new(), Stack::<_, 32>::new());
        todo.push((n, 0u64));
        while let Some((x, depth)) = todo.pop() {
            match x {
                0 | 1 => done.push(depth),
                _ => [x / 2, x - 2].into_iter().for_each(|next| todo.push((next, depth + 1))),
            }
        }
        let mut depths = 0;
        while !done.is_empty() {
            depths = depths * 3 + done.pop().unwrap();
        }
        let mut bytes = Stack::new();
        fill(&mut bytes, 7);
        let mut work = Stack::<_, 8>::new();
        for i in 0..5u16 {
            work.push(i);
        }
        let mut sum = 0;
        while let Some(i) = work.pop() {
            sum += spawn!(twice(i));
        }
        sync!();
        // Nothing says more of these than that they are integers.
        let mut signs = Stack::<_, 2>::new();
        signs.push(-3);
        (depths, filled(7).pop().unwrap() + u64::from(bytes.pop().unwrap()), sum, signs.pop().unwrap())
    }

    #[task]
    pub fn slots(n: u64) -> (u64, u32, u64, u64) {
        let mut table = [Slot::Empty; 8];
        for key in [n, n + 8, n / 2] {
            let mut at = (key % 8) as usize;
            while table[at] != Slot::Empty {
                at = (at + 1) % 8;
            }
            table[at] = Slot::Full(key);
        }
        let keys = table.iter().map(|slot| if let Slot::Full(key) = slot { *key } else { 0 });
        let mut mean = Mean::default();
        keys.for_each(|key| mean.add(key));
        let mut best = Pair { left: 0, right: None };
        for i in 0..n {
            if i * 7 % 5 > best.left {
                best.left = i * 7 % 5;
                best.right = Some(i);
            }
        }
        let mut counts = Pair { left: 0, right: 1 };
        counts.left += n;
        counts.right += mean.sum;
        (mean.sum, mean.count, best.left * 100 + best.right.unwrap_or(99), counts.left * counts.right)
    }
}
millstream_tests::cases! {
    shortest(3);
    stacks(9);
    slots(11);
    slots(3);
}
