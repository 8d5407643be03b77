//! A type's own functions and those that traits give it, of one name: in generic code the bound says which is meant.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    pub struct P {
        pub a: i32,
        pub b: i32,
    }
    impl P {
        fn max(self, other: P) -> P {
            P {
                a: self.a + other.a,
                b: -1,
            }
        }
        fn cmp(&self, _other: &P) -> u32 {
            77
        }
        fn name(&self) -> u32 {
            1
        }
        const N: u32 = 5;
        fn make() -> P {
            P { a: 9, b: 9 }
        }
    }
    trait Named {
        const N: u32;
        fn name(&self) -> u32;
        fn twice(&self) -> u32 {
            self.name() * 2 + Self::N
        }
        fn make() -> Self;
    }
    trait Other {
        fn name(&self) -> u32;
        fn make() -> u32;
    }
    impl Named for P {
        const N: u32 = 100;
        fn name(&self) -> u32 {
            10
        }
        fn make() -> P {
            P { a: 1, b: 2 }
        }
    }
    impl Other for P {
        fn name(&self) -> u32 {
            20
        }
        fn make() -> u32 {
            55
        }
    }
    fn big<T: Ord>(a: T, b: T) -> T {
        a.max(b)
    }
    fn order<T: Ord>(a: &T, b: &T) -> u32 {
        if a.cmp(b).is_lt() { 1 } else { 2 }
    }
    fn named<T: Named>(x: &T) -> u32 {
        x.name() + T::N + x.twice()
    }
    fn other<T>(x: &T) -> u32
    where
        T: Other,
    {
        x.name() + T::make()
    }
    fn both<T: Named + Other>(x: &T) -> u32 {
        Named::name(x) * 1000 + <T as Other>::name(x)
    }
    fn two<A: Named, B: Other>(a: &A, b: &B) -> u32 {
        a.name() * 100 + b.name()
    }
    fn made<T: Named>() -> T {
        T::make()
    }
    #[task]
    pub fn inherent(x: P, y: P) -> (P, u32, u32, u32, P) {
        (x.max(y), x.cmp(&y), x.name(), P::N, P::make())
    }
    #[task]
    pub fn generic(x: P, y: P) -> (P, u32, u32, u32, u32) {
        let a = spawn!(inherent(x, y));
        sync!();
        (
            big(x, y),
            order(&x, &y),
            named(&x),
            other(&x) + a.1,
            both(&x) + two(&x, &y),
        )
    }
    #[task]
    pub fn paths(x: P) -> (u32, u32, u32, u32, P, P, u32) {
        (
            P::name(&x),
            Named::name(&x),
            Other::name(&x),
            <P as Named>::N,
            <P as Named>::make(),
            made(),
            <P as Other>::make(),
        )
    }
}

millstream_tests::cases! {
    inherent(program::P { a: 1, b: 2 }, program::P { a: 1, b: 3 });
    generic(program::P { a: 1, b: 2 }, program::P { a: 1, b: 3 });
    paths(program::P { a: 1, b: 2 });
}
