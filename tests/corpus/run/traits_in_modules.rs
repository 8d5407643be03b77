//! Traits of one name and with functions of one name, told apart by what is in sight and by paths.

#[millstream::program]
pub mod program {
    pub mod a {
        pub trait Speak {
            fn speak(&self) -> u32;
        }
        impl Speak for u32 {
            fn speak(&self) -> u32 {
                *self + 1
            }
        }
        impl Speak for super::D {
            fn speak(&self) -> u32 {
                11
            }
        }
    }
    pub mod b {
        pub trait Speak {
            fn speak(&self) -> u32;
            fn loud(&self) -> u32 {
                self.speak() * 10
            }
        }
        impl Speak for u32 {
            fn speak(&self) -> u32 {
                *self + 2
            }
        }
        impl Speak for super::D {
            fn speak(&self) -> u32 {
                12
            }
        }
    }
    pub struct D;
    mod m1 {
        use super::a::Speak;
        pub fn f(x: u32) -> u32 {
            x.speak() + super::D.speak()
        }
    }
    mod m2 {
        use super::b::*;
        pub fn f(x: u32) -> u32 {
            x.speak() + x.loud() + super::D.speak()
        }
    }
    mod m3 {
        use super::a::Speak as S;
        use super::b::Speak as _;
        pub fn f(x: u32) -> u32 {
            S::speak(&x) + x.loud()
        }
    }
    fn g(x: u32) -> u32 {
        use a::Speak;
        x.speak()
    }
    fn h<T: b::Speak>(x: T) -> u32 {
        x.speak()
    }
    fn i<T>(x: &T) -> u32
    where
        T: a::Speak + b::Speak,
    {
        a::Speak::speak(x) * 100 + <T as b::Speak>::speak(x)
    }
    #[task]
    pub fn run(x: u32) -> (u32, u32, u32, u32, u32, u32) {
        let t = spawn!(two(x));
        sync!();
        (m1::f(x), m2::f(x), m3::f(x), g(x), h(x) + h(D), i(&D) + t)
    }
    #[task]
    pub fn two(x: u32) -> u32 {
        i(&x)
    }
}

millstream_tests::cases! {
    run(5);
}
