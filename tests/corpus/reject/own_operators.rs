//! Operators that a program writes for its types, and those that it does not.

#[millstream::program]
pub mod program {
    use std::ops::{Add, Sub};

    #[derive(Clone, Copy, PartialEq)]
    pub struct Point {
        x: i32,
        y: i32,
    }

    impl Add for Point {
        type Output = Point;
        fn add(self, other: Point) -> Point {
            Point { x: self.x + other.x, y: self.y + other.y }
        }
    }

    impl Sub for Point {
        type Output = Point;
        fn sub(self, other: Point) -> Point {
            self - missing
        }
    }

    #[task]
    pub fn run(a: Point, n: i32) -> bool {
        let sum = a + n;
        let negated = -a;
        let product = a * a;
        let mut b = a;
        b += a;
        a < b
    }
}

//~ 23:20: there is no `missing` here
//~ 29:21: the two sides differ: `Point` and `i32`
//~   help: convert one of them with `as`
//~ 30:23: `neg` cannot be applied to `Point`
//~   help: write an `impl` of the operator's trait, as `std::ops::Add`; for an order, derive `PartialOrd`
//~ 31:23: `*` cannot be applied to `Point`
//~   help: write an `impl` of the operator's trait, as `std::ops::Add`; for an order, derive `PartialOrd`
//~ 33:9: `+` cannot be applied to `Point`
//~   help: write an `impl` of the operator's trait, as `std::ops::Add`; for an order, derive `PartialOrd`
//~ 34:9: `<` cannot be applied to `Point`
//~   help: write an `impl` of the operator's trait, as `std::ops::Add`; for an order, derive `PartialOrd`
