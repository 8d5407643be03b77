//! Modules within.
#[millstream::program]
pub mod program {
    use self::geometry::{area, Point as P};
    use numbers::*;

    pub const SIDE: f32 = 2.0;
    static TABLE: [u32; 4] = [1, 2, 3, 5];

    pub mod geometry {
        use super::SIDE;

        #[derive(Clone, Copy, PartialEq, Debug)]
        pub struct Point {
            pub x: f32,
            y: f32,
        }

        impl Point {
            pub const ORIGIN: Self = Self::new(0.0, 0.0);

            pub const fn new(x: f32, y: f32) -> Self {
                Self { x, y }
            }
            pub fn norm(&self) -> f32 {
                helper(self.x) + helper(self.y)
            }
        }

        fn helper(x: f32) -> f32 {
            let helper = x * SIDE;
            helper * x
        }

        pub(crate) fn area(p: Point) -> f32 {
            p.norm() + super::numbers::SIDE as f32
        }
    }

    mod numbers {
        pub const SIDE: u32 = 7;
        pub const fn square(x: u32) -> u32 {
            let mut all = 0;
            let mut i = 0;
            while i < x {
                all += x;
                i += 1;
            }
            all
        }
        pub mod deep {
            pub fn up() -> u32 {
                super::square(super::super::TABLE[3]) + self::one()
            }
            fn one() -> u32 {
                1
            }
        }
        pub enum Kind {
            Low,
            High,
        }
        impl Kind {
            pub fn of(x: u32) -> Kind {
                if x > 3 { Kind::High } else { Self::Low }
            }
        }
        pub fn helper() -> u32 { 9 }
    }

    const SQUARE: u32 = square(5) + numbers::square(2);
    type Row = [u32; SQUARE as usize];

    fn helper() -> u32 { 1 }

    #[task]
    pub fn run(n: u32) -> (f32, u32, u32, u32) {
        let p = P::new(n as f32, 1.0);
        let row: Row = [n; 29];
        let k = match numbers::Kind::of(n) {
            Kind::Low => 1,
            numbers::Kind::High => 2,
        };
        (area(p) + geometry::Point::ORIGIN.x, numbers::deep::up() + deep::up(), row.len() as u32 + TABLE.len() as u32, k + helper() + numbers::helper() + self::helper())
    }

    #[task]
    pub fn far(p: geometry::Point) -> geometry::Point {
        geometry::Point::new(p.x + SIDE, p.norm())
    }
}

millstream_tests::cases! {
    run(1);
    run(5);
    far(program::geometry::Point::new(1.0, 2.0));
}
