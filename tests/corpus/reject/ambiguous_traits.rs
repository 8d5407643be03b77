//! What several traits give a type under one name, traits that a type does not have, and blocks for types that have none.
#[millstream::program]
pub mod program {
    trait A {
        const K: u32;
        fn f(&self) -> u32;
        fn g() -> u32;
    }

    trait B {
        const K: u32;
        fn f(&self) -> u32;
        fn g() -> u32;
    }

    trait Need {
        fn need(&self) -> u32;
    }

    trait Into2<T> {
        fn into2(self) -> T;
    }

    trait Order {
        fn max(self, other: Self) -> Self;
    }

    struct S;

    impl A for S {
        const K: u32 = 1;
        fn f(&self) -> u32 {
            1
        }
        fn g() -> u32 {
            1
        }
    }

    impl B for S {
        const K: u32 = 2;
        fn f(&self) -> u32 {
            2
        }
        fn g() -> u32 {
            2
        }
    }

    impl Into2<f32> for u32 {
        fn into2(self) -> f32 {
            1.0
        }
    }

    impl Into2<u64> for u32 {
        fn into2(self) -> u64 {
            1
        }
    }

    impl Order for i32 {
        fn max(self, _other: i32) -> i32 {
            0
        }
    }

    #[derive(Clone, Copy, PartialEq, PartialOrd, Eq, Ord)]
    struct P {
        x: u32,
    }

    struct Holder {
        p: P,
    }

    impl P {
        fn max(self, _other: P) -> P {
            self
        }
    }

    fn both<T: A + B>(x: &T) -> u32 {
        x.f() + T::g() + T::K
    }

    fn none<T: A>(x: &T) -> u32 {
        x.need()
    }

    fn need<T: Need>(x: &T) -> u32 {
        x.need()
    }

    fn unsaid<T: Ord>(x: T, h: Holder) -> bool {
        h.p.max(h.p).x == 0 && x.max(x) == x
    }

    #[task]
    pub fn run(n: u32, i: i32) -> u32 {
        let s = S;
        let x = s.f() + S::g() + S::K + both(&s) + none(&s) + need(&s);
        let y = A::g() + A::h(&s) + <S as Need>::need(&s);
        let f = n.into2();
        let z = i.max(3);
        let p = P { x: n };
        let u = unsaid(p, Holder { p });
        x + y
    }
}

//~ 84:11: several traits give `S` a `f`
//~   note: 102:41: in `both<S>`, which is used here
//~   help: say which: `<S as A>::f` or `<S as B>::f`
//~ 84:17: several traits give `S` a `g`
//~   help: say which: `<S as A>::g` or `<S as B>::g`
//~ 84:26: several traits give `S` a `K`
//~   help: say which: `<S as A>::K` or `<S as B>::K`
//~ 88:11: `S` has no method `need`
//~   note: 102:52: in `none<S>`, which is used here
//~   help: write it in an `impl` block of the struct
//~ 92:11: `S` does not have the trait `Need`
//~   note: 102:63: in `need<S>`, which is used here
//~   help: write `impl Need for S { .. }`
//~ 96:13: whether this `P` is a parameter's, whose bounds say what `max` is, is not known here
//~   note: 107:17: in `unsaid<P>`, which is used here
//~   help: say which: `P::max` or `Ord::max`; or give a variable the parameter's type
//~ 102:19: several traits give `S` a `f`
//~   help: say which: `<S as A>::f` or `<S as B>::f`
//~ 102:25: several traits give `S` a `g`
//~   help: say which: `<S as A>::g` or `<S as B>::g`
//~ 102:34: several traits give `S` a `K`
//~   help: say which: `<S as A>::K` or `<S as B>::K`
//~ 103:17: of which type `A::g` is, is not known here
//~   help: say it: `<Type as A>::g(..)`
//~ 103:29: the trait `A` has no function `h`
//~   help: a trait's functions stand in it
//~ 103:43: `S` does not have the trait `Need`
//~   help: write `impl Need for S { .. }`
//~ 104:19: several traits give `u32` a `into2`
//~   help: say which: `<u32 as Into2<f32>>::into2` or `<u32 as Into2<u64>>::into2`
//~ 105:19: several traits give `i32` a `max`
//~   help: say which: `Ord::max` or `<i32 as Order>::max`
