//! Functions and structs with parameters, and traits of the program.

#[millstream::program]
pub mod program {
    use std::ops::Add;

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Pair<A, B> {
        pub a: A,
        pub b: B,
    }

    impl<A: Copy, B: Copy> Pair<A, B> {
        pub fn new(a: A, b: B) -> Self {
            Self { a, b }
        }

        fn swapped(&self) -> Pair<B, A> {
            Pair { a: self.b, b: self.a }
        }
    }

    impl<A: Add<Output = A>, B: Add<Output = B>> Add for Pair<A, B> {
        type Output = Self;
        fn add(self, other: Self) -> Self {
            Self { a: self.a + other.a, b: self.b + other.b }
        }
    }

    struct Stack<T, const N: usize> {
        data: [T; N],
        len: usize,
    }

    impl<T: Copy + Default, const N: usize> Stack<T, N> {
        const ROOM: usize = N;

        fn new() -> Self {
            Stack { data: [T::default(); N], len: 0 }
        }

        fn push(&mut self, x: T) -> bool {
            if self.len == Self::ROOM {
                return false;
            }
            self.data[self.len] = x;
            self.len += 1;
            true
        }

        fn pop(&mut self) -> Option<T> {
            if self.len == 0 {
                return None;
            }
            self.len -= 1;
            Some(self.data[self.len])
        }
    }

    fn largest<T: PartialOrd + Copy>(a: &[T]) -> T {
        let mut best = a[0];
        for &x in a {
            if x > best {
                best = x;
            }
        }
        best
    }

    fn sum<const N: usize>(a: [u32; N]) -> u32 {
        let mut all = 0;
        for x in a {
            all += x;
        }
        all + N as u32
    }

    fn apply<F: Fn(u32) -> u32>(f: F, x: u32) -> u32 {
        if x > 1000 {
            return 0;
        }
        f(x) + f(x + 1)
    }

    fn twice(f: impl Fn(u32) -> u32, x: u32) -> u32 {
        f(f(x))
    }

    fn map_all<T: Copy, R: Copy + Default, const N: usize>(a: &[T; N], f: impl Fn(T) -> R) -> [R; N] {
        let mut out = [R::default(); N];
        for (to, x) in out.iter_mut().zip(a) {
            *to = f(*x);
        }
        out
    }

    fn double(x: u32) -> u32 {
        2 * x
    }

    trait Shape {
        const SIDES: u32;
        fn area(&self) -> f32;
        fn twice(&self) -> f32 {
            self.area() * 2.0
        }
    }

    #[derive(Clone, Copy)]
    struct Square(f32);
    struct Circle {
        radius: f32,
    }

    impl Shape for Square {
        const SIDES: u32 = 4;
        fn area(&self) -> f32 {
            self.0 * self.0
        }
    }

    impl Shape for Circle {
        const SIDES: u32 = 1;
        fn area(&self) -> f32 {
            3.0 * self.radius * self.radius
        }
        fn twice(&self) -> f32 {
            1.0
        }
    }

    impl Shape for f32 {
        const SIDES: u32 = 0;
        fn area(&self) -> f32 {
            *self
        }
    }

    fn total<S: Shape, T: Shape>(s: &S, t: &T) -> f32 {
        s.area() + t.twice() + (S::SIDES + T::SIDES) as f32
    }

    #[task]
    pub fn generic(n: u32) -> (u32, f32, u64, u32) {
        let a = [3, n, 7];
        let b = [1.5, 0.5f32];
        let c: u64 = largest(&[1, 5, 2]);
        let mut stack: Stack<u32, 4> = Stack::new();
        let mut i = 0;
        while stack.push(i) {
            i += 1;
        }
        let mut all = 0;
        while let Some(x) = stack.pop() {
            all = all * 10 + x;
        }
        let mut other = Stack::<(u32, f32), 2>::new();
        other.push((n, 0.5));
        let top = other.pop().unwrap_or((0, 0.0));
        (largest(&a), largest(&b) + top.1, c, all + top.0 + sum([1, 2, 3]) + sum([4; 7]))
    }

    #[task]
    pub fn closures(n: u32) -> (u32, u32, u32, [f32; 3], u32) {
        let k = n + 1;
        let add = |x: u32| x + k;
        let mut count = 0;
        let mut tally = |x: u32| {
            count += 1;
            x
        };
        let first = tally(1) + tally(2);
        let r = map_all(&[1u32, 2, n], |x| x as f32 * 0.5);
        (apply(add, n), twice(|x| x * k, n), apply(double, 3) + twice(double, n), r, first + count)
    }

    #[task]
    pub fn traits(x: f32) -> f32 {
        let c = Circle { radius: x };
        total(&Square(x), &c) + total(&c, &Square(2.0)) + total(&x, &Square(1.0)) + Shape::area(&c)
    }

    #[task]
    pub fn pairs(p: Pair<u32, f32>) -> Pair<f32, u32> {
        let q = Pair::new(1.5f32, 2u32) + p.swapped();
        let Pair { a, b } = q;
        Pair { a: a + 1.0, b: b + 1 }
    }
}

millstream_tests::cases! {
    generic(5);
    generic(50);
    closures(3);
    closures(2000);
    traits(1.5);
    pairs(program::Pair { a: 3, b: 0.25 });
}
