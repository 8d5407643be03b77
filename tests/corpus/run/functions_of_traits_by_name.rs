//! Traits for types of other modules and aliases, by `Self`, and their functions named where a closure stands.

#[millstream::program]
pub mod program {
    mod m {
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub struct Pt {
            pub x: i32,
            pub y: i32,
        }
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub struct Wr(pub i32);
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub enum En {
            Zero,
            One(i32),
            Two { a: i32, b: i32 },
        }
        pub trait Flip: Sized {
            fn flip(self) -> Self;
            fn make(n: i32) -> Self;
            fn twice(self) -> Self {
                self.flip().flip()
            }
        }
    }
    use m::{En, Flip};
    type Pair = (i32, i32);
    type W = m::Wr;
    impl Flip for m::Pt {
        fn flip(self) -> Self {
            let Self { x, y } = self;
            Self { x: y, y: x }
        }
        fn make(n: i32) -> Self {
            Self {
                x: n,
                ..Self { x: 0, y: 1 }
            }
        }
    }
    impl Flip for W {
        fn flip(self) -> Self {
            let Self(n) = self;
            Self(-n)
        }
        fn make(n: i32) -> Self {
            Self(n)
        }
    }
    impl Flip for m::En {
        fn flip(self) -> Self {
            match self {
                Self::Zero => Self::One(1),
                Self::One(n) => Self::Two { a: n, b: 1 },
                Self::Two { a, .. } => {
                    if a > 1 {
                        Self::One(a)
                    } else {
                        En::Zero
                    }
                }
            }
        }
        fn make(n: i32) -> Self {
            if n == 0 { Self::Zero } else { Self::One(n) }
        }
    }
    impl Flip for Pair {
        fn flip(self) -> Self {
            (self.1, self.0)
        }
        fn make(n: i32) -> Pair {
            (n, 1)
        }
    }
    impl<T: Flip + Copy> Flip for [T; 2] {
        fn flip(self) -> Self {
            let [a, b] = self;
            [b.flip(), a]
        }
        fn make(n: i32) -> Self {
            [T::make(n), T::make(n + 1)]
        }
    }
    trait Half {
        fn half(&self) -> i32;
        fn by(self, n: i32) -> i32;
    }
    impl Half for i32 {
        fn half(&self) -> i32 {
            self / 2
        }
        fn by(self, n: i32) -> i32 {
            self * n
        }
    }
    impl Half for m::Wr {
        fn half(&self) -> i32 {
            self.0 / 2
        }
        fn by(self, n: i32) -> i32 {
            self.0 + n
        }
    }
    fn sum<T: Half + Copy>(a: &[T]) -> i32 {
        a.iter().map(T::half).sum::<i32>()
            + a.iter().map(Half::half).sum::<i32>() * 10
            + a.iter().fold(0, |s, x| s + T::by(*x, 3))
            + ap(a[0], T::by)
            + ap(a[0], Half::by)
    }
    fn ap<T>(x: T, f: impl Fn(T, i32) -> i32) -> i32 {
        f(x, 4)
    }
    fn cyc<F: Flip + PartialEq + Copy>(n: i32) -> i32 {
        let s = F::make(n);
        let mut x = s.flip();
        let mut k = 1;
        while x != s && k < 9 {
            x = x.flip();
            k += 1;
        }
        if s.twice() == s.flip().flip() { k } else { -1 }
    }
    fn gen_new<F>() -> F
    where
        F: Flip,
    {
        Flip::make(3)
    }
    fn opt<F: Flip>(x: Option<F>) -> Option<F> {
        x.map(F::flip).map(Flip::flip)
    }
    #[task]
    pub fn run(n: i32) -> (m::Pt, W, En, Pair, i32, i32, [Pair; 2], Option<W>) {
        let e: En = gen_new();
        let p: m::Pt = Flip::make(n);
        let s = spawn!(sub(n));
        sync!();
        (
            p.flip(),
            <W as Flip>::make(n).flip(),
            e.flip().flip(),
            Pair::make(n).flip(),
            sum(&[n, 7]) + sum(&[m::Wr(n), m::Wr(5)]) + s,
            cyc::<m::Pt>(5) + cyc::<W>(n) * 10 + cyc::<En>(n) * 100 + cyc::<Pair>(n) * 1000,
            <[Pair; 2]>::make(n).flip(),
            opt(Some(m::Wr(n))),
        )
    }
    #[task]
    pub fn sub(n: i32) -> i32 {
        cyc::<[m::Wr; 2]>(n)
            + [n, 2].iter().map(i32::half).sum::<i32>()
            + [m::Wr(9)].iter().map(<m::Wr as Half>::half).sum::<i32>()
    }
}

millstream_tests::cases! {
    run(6);
}
