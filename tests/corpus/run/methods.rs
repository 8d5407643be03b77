//! Methods and constants of structs, in `impl` blocks.

#[millstream::program]
pub mod program {
    #[derive(Debug, PartialEq)]
    pub struct Point {
        pub x: i32,
        pub y: i32,
    }

    impl Point {
        pub const ORIGIN: Self = Self { x: 0, y: 0 };
        const SIDES: usize = 4;

        pub fn new(x: i32, y: i32) -> Self {
            Self { x, y }
        }

        pub fn plus(self, other: Self) -> Self {
            Self::new(self.x + other.x, self.y + other.y)
        }

        pub fn length(&self) -> i32 {
            self.x.abs() + self.y.abs()
        }

        fn turn(&mut self) {
            std::mem::swap(&mut self.x, &mut self.y);
            self.x = -self.x;
        }

        fn turned(mut self, times: usize) -> Self {
            for _ in 0..times % Self::SIDES {
                self.turn();
            }
            self
        }

        fn neighbours(self: &Self) -> [Point; Self::SIDES] {
            let mut out = [Self::ORIGIN; Self::SIDES];
            for i in 0..Self::SIDES {
                out[i] = self.plus(Point::new(1, 0).turned(i));
            }
            out
        }
    }

    struct Stack {
        items: [u32; 16],
        len: usize,
    }

    impl Stack {
        fn empty() -> Self {
            Stack { items: [0; 16], len: 0 }
        }
        fn push(&mut self, item: u32) -> bool {
            if self.len == self.items.len() {
                return false;
            }
            self.items[self.len] = item;
            self.len += 1;
            true
        }
        fn pop(&mut self) -> u32 {
            self.len -= 1;
            self.items[self.len]
        }
        fn is_empty(&self) -> bool {
            self.len == 0
        }
    }

    struct Rng(u64);

    impl Rng {
        fn next(&mut self) -> u64 {
            let Self(state) = self;
            *state ^= *state << 13;
            *state ^= *state >> 7;
            *state ^= *state << 17;
            *state
        }
    }

    /// Two points, and how often they were asked.
    pub struct Pair {
        ends: [Point; 2],
        asked: u32,
    }

    impl Pair {
        fn far(&mut self) -> &mut Point {
            self.asked += 1;
            let i = (self.ends[1].length() > self.ends[0].length()) as usize;
            &mut self.ends[i]
        }
        fn sum(&self) -> Point {
            self.ends[0].plus(self.ends[1])
        }
        const fn weight() -> i32 {
            3
        }
    }

    impl Pair {
        const START: Pair = Pair { ends: [Point { x: 1, y: 2 }, Point::ORIGIN], asked: Self::NONE };
        const NONE: u32 = 0;
    }

    type Place = Point;

    impl Point {
        fn is_at(&self, other: &Point) -> bool {
            self == other
        }
    }

    /// Ways of so many steps that end where they began.
    #[task]
    pub fn rounds(at: Point, steps: u32) -> u64 {
        if at.length() > steps as i32 {
            return 0;
        }
        if steps == 0 {
            return at.is_at(&Place::ORIGIN) as u64;
        }
        let around = at.neighbours();
        let a = spawn!(rounds(around[0], steps - 1));
        let b = spawn!(rounds(around[1], steps - 1));
        let c = spawn!(rounds(around[2], steps - 1));
        let d = spawn!(rounds(around[3], steps - 1));
        sync!();
        a + b + c + d
    }

    #[task]
    pub fn ends(x: i32, y: i32) -> (Point, u32, i32) {
        let mut pair = Pair { ends: [Point::new(x, y); 2], ..Pair::START };
        pair.ends[1].turn();
        pair.ends[1].x += 1;
        pair.far().turn();
        *pair.far() = Point::new(y, x).turned(3);
        let before = pair.sum();
        // The receiver is copied before its arguments are looked at.
        let mut p = before;
        let q = p.plus({
            p.x = 100;
            p.turn();
            p
        });
        let low = if x < y { pair.ends[0] } else { Place::ORIGIN }.length();
        (q.plus(pair.ends[low as usize % 2]), pair.asked, Pair::weight() * (&p).length() + Point::length(&before))
    }

    #[task]
    pub fn popped(n: u32) -> (u64, usize, bool) {
        let mut stack = Stack::empty();
        let mut all = true;
        for i in 0..n {
            all &= stack.push(i * i);
        }
        let held = stack.len;
        let mut sum = 0;
        while !stack.is_empty() {
            sum = 3 * sum + stack.pop() as u64;
        }
        (sum, held, all)
    }

    #[task]
    pub fn turn_all(points: &mut [Point], seed: u64) -> Point {
        let mut rng = Rng(seed);
        for p in points.iter_mut() {
            if rng.next() % 3 == 0 {
                p.turn();
            }
        }
        let n = points.len();
        points[n - 1].turn();
        let first = &points[0];
        Point::plus(*first, points[n / 2].turned(rng.next() as usize % 7))
    }
}

millstream_tests::cases! {
    rounds(program::Point::ORIGIN, 6);
    rounds(program::Point::new(1, -1), 6);
    ends(3, -4);
    ends(-7, 9);
    popped(5);
    popped(20);
    turn_all(&mut [program::Point::new(1, 2), program::Point::new(-3, 4), program::Point::new(5, 6)], 12345);
}
