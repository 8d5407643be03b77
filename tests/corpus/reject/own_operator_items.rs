//! Traits that a program cannot implement, and operators of what is not there.

#[millstream::program]
pub mod program {
    use std::ops::{Add, Sub};

    #[derive(Clone, Copy, PartialEq)]
    pub struct Point {
        x: i32,
        y: i32,
    }

    impl Sub for Point {
        type Output = Point;
        fn sub(self, other: Point) -> Point {
            self
        }
    }

    impl Drop for Point {
        fn drop(&mut self) {
            self.x = 0;
        }
    }

    impl Point {
        fn sub(self, other: Point) -> Point {
            self
        }
    }

    impl Add<Point> for Missing {
        type Output = Point;
        fn add(self, other: Point) -> Point {
            other
        }
    }

    #[task]
    pub fn run() {}
}

//~ 20:10: an `impl` of this trait is not part of the task language
//~   help: there are those of the program's own traits, of `Default`, `From`, `TryFrom`, `Deref`, `AsRef`, `Iterator`, `IntoIterator`, `FromIterator`, `Sum`, `Product`, of orders, as `Ord`, and of operators, as `Add`; write other functions as the struct's own: `impl Name { .. }`
//~ 32:25: there is no struct `Missing` in this program
//~   help: an `impl` block belongs to a struct of this program
