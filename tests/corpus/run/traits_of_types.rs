//! `impl`s of traits for arrays, tuples, options, types of other modules and all types with a trait; aliases with parameters.

#[millstream::program]
pub mod program {
    mod shapes {
        pub struct Square(pub f32);
        pub enum Kind {
            Big,
            Small(u32),
        }
        impl Kind {
            pub fn n(&self) -> u32 {
                match self {
                    Kind::Big => 100,
                    Kind::Small(x) => *x,
                }
            }
        }
    }
    trait Area {
        fn area(&self) -> f32;
    }
    impl Area for shapes::Square {
        fn area(&self) -> f32 {
            self.0 * Self::unit()
        }
    }
    impl shapes::Square {
        fn unit() -> f32 {
            2.0
        }
    }
    impl Area for shapes::Kind {
        fn area(&self) -> f32 {
            match self {
                Self::Big => 1.0,
                Self::Small(x) => *x as f32,
            }
        }
    }
    pub enum Fault {
        Bad,
        Worse(u32),
    }
    type Res<T> = Result<T, Fault>;
    type Pair<T> = (T, T);
    fn half(x: u32) -> Res<u32> {
        if x % 2 == 0 { Ok(x / 2) } else { Err(Fault::Worse(x)) }
    }
    fn swap<T: Copy>(p: Pair<T>) -> Pair<T> {
        (p.1, p.0)
    }
    fn get<T: Copy>(r: Res<T>, other: T) -> T {
        match r {
            Ok(x) => x,
            Err(Fault::Bad) => other,
            Err(_) => other,
        }
    }
    #[derive(Clone, Copy)]
    struct Tag<const N: usize>;
    impl<const N: usize> Tag<N> {
        fn n(self) -> usize {
            N
        }
    }
    trait Visit {
        const DEPTH: u32;
        fn visit(x: u32) -> u32;
    }
    struct Sum;
    struct Mix<const K: u32>;
    impl Visit for Sum {
        const DEPTH: u32 = 2;
        fn visit(x: u32) -> u32 {
            x + 1
        }
    }
    impl<const K: u32> Visit for Mix<K> {
        const DEPTH: u32 = K;
        fn visit(x: u32) -> u32 {
            x * K
        }
    }
    fn walk<V: Visit>(x: u32) -> u32 {
        let mut x = x;
        for _ in 0..V::DEPTH {
            x = V::visit(x);
        }
        x
    }
    trait Into2<T> {
        fn into2(self) -> T;
    }
    impl Into2<f32> for u32 {
        fn into2(self) -> f32 {
            self as f32 * 0.5
        }
    }
    impl Into2<u64> for u32 {
        fn into2(self) -> u64 {
            self as u64 + 1
        }
    }
    fn conv<T: Into2<f32>>(x: T) -> f32 {
        x.into2()
    }
    fn conv2<U, T: Into2<U>>(x: T) -> U {
        x.into2()
    }
    trait Norm {
        fn norm(&self) -> f32;
        fn dim() -> usize;
    }
    impl Norm for [f32; 3] {
        fn norm(&self) -> f32 {
            self[0] + self[1] + self[2]
        }
        fn dim() -> usize {
            3
        }
    }
    impl Norm for (f32, f32) {
        fn norm(&self) -> f32 {
            self.0 * self.1
        }
        fn dim() -> usize {
            2
        }
    }
    impl<T: Norm> Norm for Option<T> {
        fn norm(&self) -> f32 {
            match self {
                Some(x) => x.norm(),
                None => -1.0,
            }
        }
        fn dim() -> usize {
            T::dim()
        }
    }
    impl<T: Norm + Copy, const N: usize> Norm for [T; N]
    where
        T: Copy,
    {
        fn norm(&self) -> f32 {
            let mut s = 0.0;
            for x in self {
                s += x.norm();
            }
            s
        }
        fn dim() -> usize {
            N * T::dim()
        }
    }
    fn total<T: Norm>(x: &T) -> f32 {
        x.norm() + T::dim() as f32
    }
    trait Describe {
        fn describe(&self) -> f32;
    }
    impl<T: Area> Describe for T {
        fn describe(&self) -> f32 {
            self.area() * 10.0
        }
    }
    struct Wrap<T> {
        x: T,
    }
    impl<T: Area> Area for Wrap<T> {
        fn area(&self) -> f32 {
            self.x.area() + 1.0
        }
    }
    trait Named: Area + Describe {
        fn named(&self) -> f32 {
            self.area() + self.describe()
        }
    }
    impl Named for shapes::Square {}
    #[task]
    pub fn run(n: u32) -> (f32, u32, u32, usize, u32, f32, f32) {
        let s = shapes::Square(n as f32);
        let k = shapes::Kind::Small(n);
        let t = Tag::<3>;
        let w = Wrap { x: shapes::Square(1.5) };
        let p = swap((n, 2));
        let y: u64 = conv2(n);
        (
            s.area() + k.area() + s.describe() + w.area() + w.describe() + s.named(),
            k.n() + get(half(n), 3) + p.0,
            y as u32,
            t.n() + Tag::<5>.n(),
            walk::<Sum>(n) + walk::<Mix<3>>(n),
            conv(n) + total(&[1.0f32, 2.0, 3.0]),
            total(&Some((2.0f32, 3.0f32))) + total(&[(1.0f32, 2.0f32), (3.0, 4.0)]),
        )
    }
    #[task]
    pub fn top(n: u32) -> f32 {
        let a = spawn!(run(n));
        let b = spawn!(run(n + 1));
        sync!();
        a.0 + b.5 + b.6
    }
}

millstream_tests::cases! {
    run(4);
    run(7);
    top(5);
}
