//! Items inside functions, and closures that take what they capture with them.

#[millstream::program]
pub mod program {
    fn helper(x: u32) -> u32 {
        x + 1
    }

    mod deep {
        pub fn run(x: u32) -> u32 {
            fn helper(x: u32) -> u32 {
                other(x) * 2
            }
            helper(x) + super::helper(x)
        }

        fn other(x: u32) -> u32 {
            x + 10
        }
    }

    fn apply(f: impl Fn(u32) -> u32, x: u32) -> u32 {
        f(x) + f(x + 1)
    }

    struct Outer(u32);

    impl Outer {
        fn go(&self) -> u32 {
            fn helper(x: u32) -> u32 {
                x * 100
            }
            helper(self.0)
        }
    }

    #[task]
    pub fn run(n: u32) -> (u32, u32, u32) {
        #[derive(PartialEq)]
        struct Point {
            x: u32,
            y: u32,
        }

        impl Point {
            fn sum(&self) -> u32 {
                helper(self.x) + self.y
            }
        }

        enum Side {
            Left,
            Right,
        }

        fn helper(x: u32) -> u32 {
            x * 7
        }

        let p = Point { x: n, y: 2 };
        let side = if p == (Point { x: 3, y: 2 }) { Side::Left } else { Side::Right };
        let k = match side {
            Side::Left => 1000,
            Side::Right => 2000,
        };
        (p.sum() + self::helper(n) + k, deep::run(n), Outer(n).go())
    }

    #[task]
    pub fn moved(n: u32) -> (u32, u32, u32) {
        let mut k = n;
        let f = move |x: u32| x + k;
        let mut calls = 0;
        let mut count = move || {
            calls += 1;
            calls
        };
        k += 100;
        let (a, b) = (count(), count());
        (f(1) + k, a * 10 + b + calls * 1000, apply(move |x| x * k, 2))
    }
}

millstream_tests::cases! {
    run(3);
    run(4);
    moved(5);
}
