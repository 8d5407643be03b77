//! `Default::default()` of numbers, tuples, arrays and structs that derive it.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Inner {
        pub bits: [u8; 3],
        pub on: bool,
    }

    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Outer {
        pub at: (f32, i64),
        pub inner: Inner,
        pub n: u32,
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Own(pub u32);

    impl Own {
        fn default() -> Self {
            Own(7)
        }
    }

    fn sum(o: Outer, x: u32) -> u32 {
        o.n + x + o.inner.bits[2] as u32
    }

    #[task]
    pub fn all(n: u32) -> (Outer, Outer, u32, [(u8, f64); 2], Own) {
        let mut one = Outer { n, ..Default::default() };
        one.inner = Inner { on: n > 3, ..Inner::default() };
        let two: Outer = Default::default();
        let three = sum(Default::default(), u32::default()) + sum(one, Default::default());
        let mut four: [(u8, f64); 2] = Default::default();
        if n > 100 {
            four = [(1, 2.5); 2];
        }
        (one, two, three, four, Own::default())
    }
}

millstream_tests::cases! {
    all(3);
    all(300);
}
