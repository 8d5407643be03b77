//! What is wrong with calls of methods.

#[millstream::program]
pub mod program {
    struct Point {
        x: i32,
    }

    impl Point {
        const ZERO: Self = Self { x: 0 };

        fn new(x: i32) -> Self {
            Self { x }
        }

        fn shift(&mut self, by: i32) {
            self.x += by;
        }
    }

    #[task]
    pub fn run(p: Point, shared: &Point) -> i32 {
        let mut r = Point::ZERO;
        p.shift(1);
        shared.shift(1);
        r.shift(1, 2);
        r.shift(true);
        r.shfit(1);
        let q = Point::make(1);
        let s = p.new(2);
        let f = Point::new;
        Point::ONE.x
    }
}

//~ 24:9: `p` cannot be changed: it is not declared `mut`
//~   note: 22:16: it is declared here
//~   help: write `mut p` there
//~ 25:9: expected `&mut Point`, found `&Point`
//~   help: it is shared: take it as `&mut Point` where it is declared
//~ 26:9: `Point::shift` takes 1 argument, here are 2
//~   help: it takes (`i32`)
//~ 27:17: expected `i32`, found `bool`
//~ 28:11: `Point` has no method `shfit`
//~   help: did you mean `shift`?
//~ 29:17: `Point` has no function `make`
//~   help: write it in an `impl` block of the struct
//~ 30:19: `Point::new` does not take `self`
//~   help: call it by the struct's name: `Point::new(..)`
//~ 31:17: the function `Point::new` is used as a value
//~   help: call it: `Point::new(..)`
//~ 32:9: `Point` has no constant `ONE`
//~   help: write it in an `impl` block of the struct
