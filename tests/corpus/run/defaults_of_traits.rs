//! What a trait says for all, in a block that leaves it out and beside what the type has by itself.

#[millstream::program]
pub mod program {
    trait Base {
        const K: u32 = 3;
        const L: u32 = Self::K * 2;
        fn a(&self) -> u32 {
            self.b() + Self::K
        }
        fn b(&self) -> u32 {
            1
        }
        fn st() -> u32 {
            Self::L + Self::other()
        }
        fn other() -> u32 {
            4
        }
    }
    trait Derived: Base {
        fn c(&self) -> u32 {
            self.a() * 10 + self.b() + Self::st()
        }
        fn b2(&self) -> u32 {
            Base::b(self)
        }
    }
    pub struct S;
    pub struct T2 {
        x: u32,
    }
    pub struct U;
    impl Base for S {}
    impl S {
        const K: u32 = 1000;
        fn b(&self) -> u32 {
            5000
        }
        fn other() -> u32 {
            9000
        }
    }
    impl Base for T2 {
        const K: u32 = 7;
        fn b(&self) -> u32 {
            self.x
        }
        fn other() -> u32 {
            Self::K + 1
        }
    }
    impl T2 {
        const L: u32 = 1;
        fn a(&self) -> u32 {
            0
        }
    }
    impl Base for U {
        const L: u32 = 100;
        fn a(&self) -> u32 {
            Self::L + <Self as Base>::K + self.b()
        }
    }
    impl U {
        const L: u32 = 1;
        fn b(&self) -> u32 {
            77
        }
    }
    impl Derived for S {}
    impl Derived for T2 {
        fn c(&self) -> u32 {
            self.a() + self.b2() + Self::L
        }
    }
    impl Derived for U {
        fn b2(&self) -> u32 {
            3
        }
    }
    fn all<D: Derived>(d: &D) -> u32 {
        d.c() * 100 + d.b2() + D::K + D::L + d.b() + D::st() + d.a()
    }
    #[task]
    pub fn run(n: u32) -> (u32, u32, u32, u32, u32, u32) {
        let t = T2 { x: n };
        let s = spawn!(sub(n));
        sync!();
        (
            all(&S),
            all(&t),
            all(&U),
            S::K + S.b() + S::other() + S.a() + S::st(),
            t.a() + t.c() + T2::L + T2::K + s,
            U.a() + U.b() + U::L + U.c(),
        )
    }
    #[task]
    pub fn sub(n: u32) -> u32 {
        all(&T2 { x: n })
    }
}

millstream_tests::cases! {
    run(4);
}
