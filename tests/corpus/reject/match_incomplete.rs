//! A `match` that does not name every value.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(n: u32, b: bool, t: (bool, bool)) -> u32 {
        let a = match n {
            0 => 1,
            1..=9 => 2,
        };
        let c = match b {
            true => 1,
        };
        let d = match t {
            (true, _) => 1,
            (false, true) => 2,
        };
        a + c + d
    }
}

//~ 7:17: this `match` has no arm for `10`
//~   help: add an arm for it, or `_ => ..` for all others
//~ 11:17: this `match` has no arm for `false`
//~   help: add an arm for it, or `_ => ..` for all others
//~ 14:17: this `match` has no arm for `(false, false)`
//~   help: add an arm for it, or `_ => ..` for all others
