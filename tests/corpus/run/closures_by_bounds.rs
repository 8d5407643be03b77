//! What a function that takes closures says of its types is for its own body, and what its caller says for the closures.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    pub struct K(pub u32);
    trait A {
        fn name(&self) -> u32;
        fn a(self) -> Self;
    }
    trait B {
        fn name(&self) -> u32;
    }
    impl A for K {
        fn name(&self) -> u32 {
            1
        }
        fn a(self) -> K {
            K(self.0 + 1)
        }
    }
    impl B for K {
        fn name(&self) -> u32 {
            2
        }
    }
    impl K {
        fn name(&self) -> u32 {
            3
        }
        fn own(&self) -> u32 {
            4
        }
    }
    fn pick<T: B + Copy>(x: T, f: impl Fn(T) -> T) -> T {
        if f(x).name() == 2 { f(f(x)) } else { x }
    }
    fn give<T: B, R: A>(x: T, f: impl Fn(T) -> R) -> u32 {
        f(x).name()
    }
    fn user<T: A + Copy>(x: T) -> u32 {
        pick2(x, |y| y.a()).name()
            + give2(x, |y| {
                let z = y.name();
                if z == 1 { y.a() } else { y }
            })
    }
    fn pick2<T: Copy>(x: T, f: impl Fn(T) -> T) -> T {
        f(f(x))
    }
    fn give2<T, R: A>(x: T, f: impl Fn(T) -> R) -> u32 {
        f(x).name()
    }
    fn two<T: A + Copy>(x: T, y: K) -> u32 {
        x.name() * 10 + pick(y, |z| K(z.own() + z.name())).name()
    }
    #[derive(Clone, Copy)]
    struct Bx<T> {
        t: T,
    }
    impl<T: B + Copy> Bx<T> {
        fn get(&self) -> T {
            self.t
        }
        fn with<R>(&self, f: impl Fn(T) -> R) -> R {
            f(self.t)
        }
        fn named(&self) -> u32 {
            self.get().name() + self.with(|t| t).name() + self.with(|t| t.name())
        }
        fn id<U>(&self, u: U) -> (T, U) {
            (self.t, u)
        }
    }
    fn bx<T: A + B + Copy>(b: Bx<T>) -> u32 {
        A::name(&b.get()) * 100 + B::name(&b.id(3).0) + b.named()
    }
    #[task]
    pub fn run(n: u32) -> (u32, u32, u32, u32, u32, u32, u32) {
        let k = K(n);
        let b = Bx { t: k };
        let s = spawn!(sub(n));
        sync!();
        (
            pick(k, |x| K(x.own() + x.0)).name(),
            give(k, |x| K(x.own())) + give(k, |x| x),
            user(k),
            two(k, k),
            [k, K(2)].map(|x| x.own() + x.name()).iter().sum::<u32>() + s,
            b.get().name()
                + b.with(|t| t.own())
                + b.with(|t| t).name()
                + b.named()
                + b.id(k).0.own()
                + b.id(k).1.name(),
            bx(b),
        )
    }
    #[task]
    pub fn sub(n: u32) -> u32 {
        let mut a = [K(n), K(3), K(9)];
        a.sort_by_key(|k| k.own() + k.0);
        a[0].0
            + (n > 3).then(|| K(n)).map_or(0, |k| k.own())
            + std::array::from_fn::<K, 3, _>(|i| K(i as u32))[1].name()
    }
}

millstream_tests::cases! {
    run(6);
}
