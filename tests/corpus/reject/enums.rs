//! Enums that hold more than a number, and uses of what they have not.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq)]
    pub enum Colour {
        Red,
        Green,
        Blue,
    }

    #[task]
    pub fn run(c: Colour, n: u32) -> u32 {
        let a = match c {
            Colour::Red => 1,
            Colour::Green => 2,
        };
        let b = Colour::Pink;
        let d = Colour(1);
        let e = c.0;
        let f: Colour = n;
        let g = c + 1;
        let h = if let Colour::Red(x) = c { x } else { 0 };
        let i = match n {
            Colour::Red => 1,
            _ => 2,
        };
        let j = c < Colour::Blue;
        let k = n as Colour;
        a
    }
}

//~ 14:17: this `match` has no arm for `Colour::Blue`
//~   help: add an arm for it, or `_ => ..` for all others
//~ 18:17: the enum `Colour` has no variant `Pink`
//~   help: there are `Red`, `Green`, `Blue`
//~ 19:17: there is no function `Colour` in this program
//~   help: a program calls its own functions; define it in this module
//~ 20:19: the enum `Colour` has no fields
//~   help: its number is `.. as u32`; what it is a `match` says
//~ 21:25: expected `Colour`, found `u32`
//~ 22:19: the two sides differ: `Colour` and `an integer`
//~   help: convert one of them with `as`
//~ 23:24: the variant `Colour::Red` has no data
//~   help: write `Colour::Red`
//~ 25:13: expected `u32`, found `Colour`
//~ 28:17: `<` cannot be applied to `Colour`
//~   help: write an `impl` of the operator's trait, as `std::ops::Add`; for an order, derive `PartialOrd`
//~ 29:17: `as Colour` does not convert anything
//~   help: `as` converts numbers and bools
