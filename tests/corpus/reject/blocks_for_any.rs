//! Blocks for all types are for references, too: which method Rust finds then is not told here.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy)]
    pub struct X(u32);
    impl X {
        fn d(self) -> u32 {
            self.0
        }
    }
    trait D {
        fn d(self) -> u32;
    }
    impl<T> D for T {
        fn d(self) -> u32 {
            1000
        }
    }
    trait A: Copy {
        fn go(&self) -> u32;
    }
    trait G {
        fn go(self) -> u32;
    }
    impl A for u32 {
        fn go(&self) -> u32 {
            *self
        }
    }
    impl<T: Copy> G for T {
        fn go(self) -> u32 {
            1000
        }
    }
    fn by_bound<T: A>(t: T) -> u32 {
        t.go()
    }
    #[task]
    pub fn run(n: u32) -> u32 {
        let x = X(n);
        let r = &x;
        r.d() + x.d() + by_bound(n)
    }
}

//~ 37:11: several traits give `u32` a `go`
//~   note: 43:25: in `by_bound<u32>`, which is used here
//~   help: say which: `<u32 as A>::go` or `<u32 as G>::go`
//~ 43:11: several traits give `X` a `d`
//~   help: say which: `X::d` or `<X as D>::d`
