//! Constants of numbers, whose operators are Rust's, in a program that has operators of its own: no function is known yet when constants are.

#[millstream::program]
pub mod program {
    use std::ops::{Add, Mul, Neg, Not};

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Vector(pub f32, pub f32);

    impl Add for Vector {
        type Output = Vector;
        fn add(self, other: Vector) -> Vector {
            Vector(self.0 + other.0, self.1 + other.1)
        }
    }

    impl Mul<Vector> for f32 {
        type Output = Vector;
        fn mul(self, v: Vector) -> Vector {
            Vector(self * v.0, self * v.1)
        }
    }

    impl Neg for Vector {
        type Output = Vector;
        fn neg(self) -> Vector {
            Vector(-self.0, -self.1)
        }
    }

    impl Not for Vector {
        type Output = Vector;
        fn not(self) -> Vector {
            Vector(self.1, self.0)
        }
    }

    const DOWN: Vector = Vector(-0.5, HEIGHT * 2.0 + 1.0);
    const HEIGHT: f32 = -3.0;
    const MASK: u32 = !(1 << WIDTH);
    const WIDTH: usize = 2 + 3 * 4;

    #[task]
    pub fn corner(from: Vector, steps: [f32; WIDTH - 12]) -> (Vector, u32) {
        let moved = steps.iter().fold(from, |at, &k| at + k * -DOWN);
        (!moved, MASK)
    }
}

use program::Vector;

millstream_tests::cases! {
    corner(Vector(1.0, 2.0), [2.0, 0.5]);
    corner(Vector(-1.0, 0.0), [0.0, 0.0]);
}
