//! Ranges as fields of structs and as data of variants, taken from, asked and run over where they lie.

#[millstream::program]
pub mod program {
    use std::ops::{Range, RangeInclusive};
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Task {
        span: Range<u32>,
        keep: RangeInclusive<u32>,
        id: u32,
    }
    #[derive(Debug, Clone, PartialEq)]
    pub struct Rect {
        x: Range<i32>,
        y: Range<i32>,
    }
    impl Rect {
        fn contains(&self, (x, y): (i32, i32)) -> bool {
            self.x.contains(&x) && self.y.contains(&y)
        }
        fn is_empty(&self) -> bool {
            self.x.is_empty() || self.y.is_empty()
        }
        fn meet(&self, o: &Rect) -> Rect {
            Rect {
                x: self.x.start.max(o.x.start)..self.x.end.min(o.x.end),
                y: self.y.start.max(o.y.start)..self.y.end.min(o.y.end),
            }
        }
        fn sum(&self) -> i32 {
            let mut s = 0;
            for y in self.y.clone() {
                for x in self.x.clone().rev().step_by(2) {
                    s += x * y;
                }
            }
            s
        }
    }
    pub struct Slab<'a> {
        data: &'a [u32],
        rows: Range<usize>,
    }
    impl<'a> Slab<'a> {
        fn part(&self) -> &'a [u32] {
            &self.data[self.rows.clone()]
        }
        fn grow(&mut self, by: usize) {
            self.rows.end += by;
            self.rows.start -= self.rows.start.min(by);
        }
    }
    struct Counter {
        left: Range<u32>,
    }
    impl Iterator for Counter {
        type Item = u32;
        fn next(&mut self) -> Option<u32> {
            self.left.next().map(|x| x * x)
        }
    }
    struct Stack<const N: usize> {
        items: [Option<Range<u32>>; N],
        len: usize,
    }
    impl<const N: usize> Stack<N> {
        fn push(&mut self, r: Range<u32>) {
            self.items[self.len] = Some(r);
            self.len += 1;
        }
        fn pop(&mut self) -> Option<Range<u32>> {
            if self.len == 0 {
                return None;
            }
            self.len -= 1;
            self.items[self.len].take()
        }
    }
    #[task]
    pub fn structs(n: u32) -> (u32, i32, u32, u32, u32) {
        let t = Task {
            span: 2..n,
            keep: 1..=n,
            id: 3,
        };
        let mut seen = 0;
        for i in t.span.clone() {
            if t.keep.contains(&i) {
                seen += i * t.id;
            }
        }
        for i in t.keep.clone() {
            seen ^= i;
        }
        let u = Task { id: 4, ..t.clone() };
        seen += (t == u) as u32 + (u.span == (2..n)) as u32 * 100;
        let a = Rect {
            x: 0..n as i32,
            y: -3..4,
        };
        let b = Rect { x: 2..9, y: 1..8 };
        let c = a.meet(&b);
        let inside = if c.is_empty() {
            -1
        } else {
            c.sum() + c.contains((3, 3)) as i32
        };
        let data = [1u32, 2, 3, 4, 5, 6, 7, 8];
        let mut s = Slab {
            data: &data,
            rows: 2..4,
        };
        s.grow(1);
        let k: u32 = Counter { left: 1..n }.filter(|x| x % 2 == 1).sum();
        let mut st = Stack::<16> {
            items: [const { None }; 16],
            len: 0,
        };
        st.push(0..n);
        let mut leaves = 0;
        while let Some(r) = st.pop() {
            if r.len() <= 2 {
                leaves = leaves * 3 + r.sum::<u32>();
                continue;
            }
            let mid = r.start + (r.end - r.start) / 2;
            st.push(r.start..mid);
            st.push(mid..r.end);
        }
        (seen, inside, s.part().iter().sum(), k, leaves)
    }
    #[derive(Debug, Clone, PartialEq)]
    enum Job {
        Split(Range<u32>),
        One(u32),
        Both { a: RangeInclusive<u32>, b: u32 },
        Done,
    }
    impl Job {
        fn cost(&self) -> u32 {
            match self {
                Job::Split(r) => r.end - r.start,
                Job::One(x) => *x,
                Job::Both { a, b } => a.end() - a.start() + b,
                Job::Done => 0,
            }
        }
        fn next(self) -> (Job, Option<Job>) {
            match self {
                Job::Split(r) if r.len() > 1 => {
                    let m = (r.start + r.end) / 2;
                    (Job::Split(r.start..m), Some(Job::Split(m..r.end)))
                }
                Job::Split(Range { start, .. }) => (Job::One(start), None),
                Job::One(x) => (Job::Both { a: x..=x + 2, b: x }, None),
                Job::Both { a, b } => (
                    if a.contains(&b) {
                        Job::Done
                    } else {
                        Job::One(7)
                    },
                    None,
                ),
                Job::Done => (Job::Done, None),
            }
        }
    }
    struct Scan {
        at: Range<usize>,
        step: usize,
        tail: (Range<u8>, u8),
    }
    impl Scan {
        fn pull(&mut self) -> Option<usize> {
            let x = self.at.nth(self.step - 1)?;
            Some(x)
        }
        fn rest(&mut self) -> usize {
            let mut s = 0;
            for x in self.at.by_ref().take(2) {
                s += x;
            }
            for x in &mut self.at {
                s = s * 2 + x;
            }
            s
        }
        fn back(&mut self) -> Option<u8> {
            self.tail.0.next_back()
        }
        fn find_even(&mut self) -> Option<u8> {
            self.tail.0.find(|x| x % 2 == 0)
        }
    }
    fn walk(j: Job, depth: u32) -> u32 {
        if depth == 0 || j == Job::Done {
            return j.cost();
        }
        let (a, b) = j.next();
        a.cost() + walk(a, depth - 1) + b.map_or(0, |b| walk(b, depth - 1))
    }
    #[task]
    pub fn variants(n: u32) -> (u32, usize, usize, u8, u32) {
        let mut s = Scan {
            at: 0..n as usize * 2,
            step: 2,
            tail: (1..9, 0),
        };
        let a = s.pull().unwrap_or(99) + s.pull().unwrap_or(100);
        let r = s.rest();
        let c = s.back().unwrap() * 10 + s.find_even().unwrap() + s.tail.0.len() as u8;
        let spans = [0..n, 1..3, n..n + 2];
        let mut total = 0;
        for s in &spans {
            total += s.clone().sum::<u32>();
        }
        let most = spans.iter().map(|s| s.len()).max().unwrap();
        for s in spans {
            total = total * 2 + s.start;
        }
        (walk(Job::Split(0..n), 6), a + most, r, c, total)
    }
}

millstream_tests::cases! {
    structs(12);
    structs(3);
    variants(12);
    variants(3);
}
