//! Slices that are taken apart in other ways.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(a: &[u32]) -> u32 {
        let x = match a {
            [] => 1,
            [first, ..] if *first > 3 => 2,
            [0, _, ..] => 3,
            [_, _] => 3,
        };
        let y = match a {
            [1] | [2, ..] => 1,
            _ => 3,
        };
        let [first, second] = a else { 3 };
        let z = match a {
            [first, rest @ .., last, ..] => 3,
            _ => 4,
        };
        let w = match a {
            [x, ..] => x + missing,
            _ => *first,
        };
        let [v, ..] = a;
        let u = match a {
            [&v, ..] => v,
            [] => 0,
        };
        x
    }
}

//~ 7:17: this `match` has no arm for `[_]`
//~   help: add an arm for it, or `_ => ..` for all others
//~ 17:40: expected `(&u32, &u32)`, found `an integer`
//~ 19:38: `..` stands twice in this pattern
//~   help: one of them is what the other elements leave: name elements in place of the other
//~ 23:28: there is no `missing` here
//~ 26:13: this pattern leaves slices that are shorter
//~   help: say what happens there: `let [x, rest @ ..] = a else { .. };`, or `match`
//~ 28:14: `&` of a part of what a reference refers to
//~   help: a name there is a reference already: leave out the `&`, and write `*x` for the value
