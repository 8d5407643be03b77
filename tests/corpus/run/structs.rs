//! Structs: nested, with arrays, changed field by field, made from another.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Point {
        pub x: f64,
        pub y: f64,
    }

    #[derive(Clone, Copy, Debug)]
    pub struct Body {
        pub at: Point,
        pub speed: Point,
        pub history: [u8; 3],
        pub alive: bool,
    }

    fn step(b: Body, dt: f64) -> Body {
        let at = Point { x: b.at.x + b.speed.x * dt, y: b.at.y + b.speed.y * dt };
        Body { at, ..b }
    }

    #[task]
    pub fn fly(steps: u32) -> Body {
        let mut b = Body { at: Point { x: 0.0, y: 1.0 }, speed: Point { x: 2.0, y: -0.25 }, history: [0; 3], alive: true };
        for i in 0..steps {
            b = step(b, 0.5);
            b.history[i as usize % 3] += 1;
            b.speed.x *= 0.5;
        }
        b.alive = b.at != Point { x: 0.0, y: 1.0 };
        b
    }
}

millstream_tests::cases! {
    fly(0);
    fly(5);
}
