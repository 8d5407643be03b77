//! `Some`, `None`, `Ok` and `Err` whose types are written behind their names, or behind that of the type.

#[millstream::program]
pub mod program {
    trait Named {
        const ID: u32;
    }
    impl Named for u8 {
        const ID: u32 = 8;
    }
    impl Named for u32 {
        const ID: u32 = 32;
    }
    impl Named for i64 {
        const ID: u32 = 64;
    }

    fn id<T: Named>(_x: Option<T>) -> u32 {
        T::ID
    }
    fn ids<T: Named, E: Named>(_x: Result<T, E>) -> u32 {
        T::ID * 100 + E::ID
    }

    #[task]
    pub fn variants(n: u32) -> [u32; 9] {
        let a = None::<u8>;
        let b = Option::<i64>::None;
        let c = Some::<i64>(1);
        let d = Ok::<u8, u32>(3);
        let e = Result::<u8, i64>::Err(3);
        let f = match Some::<u8>(4) {
            Some::<u8>(x) => x,
            None::<u8> => 0,
        };
        let most = [id(None::<u8>), id(Some::<u8>(f)), ids(Ok::<u32, u8>(n)), ids(Err::<u8, _>(7i64))];
        [id(a), id(b), id(c), ids(d), ids(e), most[0], most[1], most[2], most[3]]
    }
}

millstream_tests::cases! {
    variants(3);
}
