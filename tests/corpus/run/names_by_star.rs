//! What several `use` with `*` bring in, of modules that are not the program's too.
#[millstream::program]
pub mod program {
    use self::inner::*;
    use std::cmp::Ordering::*;
    use std::ops::*;
    use std::sync::atomic::*;

    mod inner {
        use super::*;

        #[derive(Clone, Copy, PartialEq, Debug)]
        pub enum Side {
            Left,
            Right,
        }

        pub fn side(x: u32) -> Side {
            use Side::*;
            if x % 2 == 0 { Left } else { Right }
        }

        pub fn doubled(n: u32) -> u32 {
            n * factor()
        }
    }

    fn factor() -> u32 {
        2
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Sum(pub u32);

    impl Add for Sum {
        type Output = Sum;
        fn add(self, other: Sum) -> Sum {
            Sum(self.0 + other.0)
        }
    }

    #[task]
    pub fn run(n: u32) -> (Sum, u32, bool) {
        let seen = AtomicU32::new(0);
        #[parallel]
        for i in 0..n {
            let by = match i.cmp(&3) {
                Less => 1,
                Equal => doubled(10),
                Greater => 100,
            };
            seen.fetch_add(by, std::sync::atomic::Ordering::Relaxed);
        }
        (Sum(n) + Sum(1), seen.into_inner(), side(n) == Side::Left)
    }
}

millstream_tests::cases! {
    run(3);
    run(6);
}
