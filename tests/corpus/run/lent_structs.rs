//! Structs by which memory that is lent is written: heaps, stacks, matrices, and one that hands out parts.

#[millstream::program]
pub mod program {
    use std::mem;
    /// Hands out parts of what it was given.
    pub struct Bump<'a, T> {
        rest: &'a mut [T],
        used: usize,
    }
    impl<'a, T: Copy + Default> Bump<'a, T> {
        fn new(rest: &'a mut [T]) -> Self {
            Self { rest, used: 0 }
        }
        fn alloc(&mut self, n: usize) -> &'a mut [T] {
            let (head, tail) = mem::take(&mut self.rest).split_at_mut(n);
            self.rest = tail;
            self.used += n;
            head
        }
    }
    struct Stack<'m> {
        items: &'m mut [u32],
        top: &'m mut usize,
    }
    impl Stack<'_> {
        fn push(&mut self, x: u32) -> Result<(), u32> {
            let Some(slot) = self.items.get_mut(*self.top) else {
                return Err(x);
            };
            *slot = x;
            *self.top += 1;
            Ok(())
        }
        fn last(&self) -> Option<&u32> {
            self.items[..*self.top].last()
        }
        fn peek_mut(&mut self) -> Option<&mut u32> {
            self.items[..*self.top].last_mut()
        }
        fn as_slice(&self) -> &[u32] {
            &self.items[..*self.top]
        }
        fn iter(&self) -> impl Iterator<Item = &u32> + '_ {
            self.as_slice().iter()
        }
    }
    #[derive(Debug)]
    struct Matrix<'a> {
        data: &'a mut [i64],
        cols: usize,
    }
    impl std::ops::Index<(usize, usize)> for Matrix<'_> {
        type Output = i64;
        fn index(&self, (r, c): (usize, usize)) -> &i64 {
            &self.data[r * self.cols + c]
        }
    }
    impl std::ops::IndexMut<(usize, usize)> for Matrix<'_> {
        fn index_mut(&mut self, (r, c): (usize, usize)) -> &mut i64 {
            &mut self.data[r * self.cols + c]
        }
    }
    impl Matrix<'_> {
        fn row_mut(&mut self, r: usize) -> &mut [i64] {
            let c = self.cols;
            &mut self.data[r * c..(r + 1) * c]
        }
        fn rows(&self) -> std::slice::ChunksExact<'_, i64> {
            self.data.chunks_exact(self.cols)
        }
        fn scale(&mut self, by: i64) {
            for row in self.data.chunks_mut(self.cols) {
                for x in row {
                    *x *= by;
                }
            }
        }
    }
    struct World<'a, 'b> {
        stack: Stack<'a>,
        matrix: &'b mut Matrix<'a>,
    }
    impl<'a, 'b> World<'a, 'b> {
        fn run(&mut self) -> i64 {
            for i in 0..3 {
                let _ = self.stack.push(i);
                self.matrix[(i as usize, 1)] += i64::from(i) + 7;
            }
            let World { stack, matrix } = self;
            if let Some(x) = stack.peek_mut() {
                *x += 10;
            }
            matrix.row_mut(1)[0] = 5;
            matrix.scale(3);
            matrix.data.iter().sum::<i64>() + stack.iter().map(|&x| x as i64).sum::<i64>()
        }
    }
    fn drive(mut b: Bump<u32>, n: usize) -> (usize, u32) {
        let a = b.alloc(n);
        let c = b.alloc(n + 1);
        a.fill(2);
        c.fill(3);
        c[0] = a[0] + a.len() as u32;
        (b.used, a.iter().chain(c.iter()).sum())
    }
    fn sift(heap: &mut [u32], less: impl Fn(&u32, &u32) -> bool) {
        for i in 1..heap.len() {
            if less(&heap[i], &heap[i - 1]) {
                heap.swap(i, i - 1);
            }
        }
    }
    struct Sorter<'a> {
        a: &'a mut [u32],
        swaps: u32,
    }
    impl<'a> Sorter<'a> {
        fn run(mut self) -> (&'a mut [u32], u32) {
            self.quick(0, self.a.len());
            (self.a, self.swaps)
        }
        fn quick(&mut self, lo: usize, hi: usize) {
            if hi - lo < 2 {
                return;
            }
            let mut m = lo;
            for i in lo + 1..hi {
                if self.a[i] < self.a[lo] {
                    m += 1;
                    self.a.swap(m, i);
                    self.swaps += 1;
                }
            }
            self.a.swap(lo, m);
            self.quick(lo, m);
            self.quick(m + 1, hi);
        }
    }
    #[task]
    pub fn child(a: &mut [u32], n: usize) -> u32 {
        let mut top = 0;
        let mut s = Stack {
            items: a,
            top: &mut top,
        };
        for i in 0..n as u32 {
            if let Err(e) = s.push(i * i % 7) {
                return e * 1000;
            }
        }
        let last = s.last().copied().unwrap_or(0);
        sift(s.items, |x, y| x < y);
        let kept = s.as_slice().len() as u32;
        let (sorted, swaps) = Sorter {
            a: &mut s.items[..n],
            swaps: 0,
        }
        .run();
        let least = sorted[0];
        sorted[0] = 9;
        last + kept * 10 + swaps + least
    }
    #[task]
    pub fn run(n: usize) -> (usize, u32, i64, u32, u32) {
        let mut memory = [0u32; 64];
        let (used, sum) = drive(Bump::new(&mut memory), n);
        let mut items = [0; 8];
        let mut top = 1;
        let mut cells = [1i64; 12];
        let mut matrix = Matrix {
            data: &mut cells,
            cols: 4,
        };
        let total = World {
            stack: Stack {
                items: &mut items,
                top: &mut top,
            },
            matrix: &mut matrix,
        }
        .run();
        let rows = matrix.rows().map(|r| r[1]).max().unwrap();
        let mut bump = Bump::new(&mut memory);
        let (a, b) = (bump.alloc(8), bump.alloc(20));
        let x = spawn!(child(a, n));
        let y = spawn!(child(b, n));
        sync!();
        bump.rest[0] = x;
        bump.rest[1] += 4;
        (
            used + bump.used,
            sum + memory[28] + memory[29] + memory[0],
            total + rows,
            x,
            y,
        )
    }

    /// A binary min-heap over borrowed memory.
    struct Heap<'a> {
        data: &'a mut [(u32, u32)],
        len: usize,
    }

    impl<'a> Heap<'a> {
        fn new(data: &'a mut [(u32, u32)]) -> Self {
            Heap { data, len: 0 }
        }
        fn is_empty(&self) -> bool {
            self.len == 0
        }
        fn push(&mut self, item: (u32, u32)) {
            let mut i = self.len;
            self.data[i] = item;
            self.len += 1;
            while i > 0 {
                let parent = (i - 1) / 2;
                if self.data[parent] <= self.data[i] {
                    break;
                }
                self.data.swap(parent, i);
                i = parent;
            }
        }
        fn pop(&mut self) -> Option<(u32, u32)> {
            if self.is_empty() {
                return None;
            }
            self.len -= 1;
            self.data.swap(0, self.len);
            let mut i = 0;
            loop {
                let mut least = i;
                for child in [2 * i + 1, 2 * i + 2] {
                    if child < self.len && self.data[child] < self.data[least] {
                        least = child;
                    }
                }
                if least == i {
                    break;
                }
                self.data.swap(i, least);
                i = least;
            }
            Some(self.data[self.len])
        }
    }

    fn dijkstra(edges: &[(usize, usize, u32)], source: usize, dist: &mut [u32]) {
        let mut memory = [(0u32, 0u32); 256];
        let mut heap = Heap::new(&mut memory);
        dist.fill(u32::MAX);
        dist[source] = 0;
        heap.push((0, source as u32));
        while let Some((d, u)) = heap.pop() {
            let u = u as usize;
            if d > dist[u] {
                continue;
            }
            for &(_, b, w) in edges.iter().filter(|&&(a, _, _)| a == u) {
                let next = d + w;
                if next < dist[b] {
                    dist[b] = next;
                    heap.push((next, b as u32));
                }
            }
        }
    }

    #[task]
    pub fn far(source: usize, seed: u32) -> u32 {
        let mut edges = [(0, 0, 0u32); 60];
        let mut s = seed;
        for e in edges.iter_mut() {
            s = s.wrapping_mul(1664525).wrapping_add(1013904223);
            *e = ((s >> 8) as usize % 20, (s >> 16) as usize % 20, s >> 28);
        }
        let mut dist = [0; 20];
        dijkstra(&edges, source, &mut dist);
        dist.iter().filter(|d| **d != u32::MAX).sum()
    }
}
millstream_tests::cases! {
    run(5);
    run(9);
    far(3, 9);
    far(0, 7);
}
