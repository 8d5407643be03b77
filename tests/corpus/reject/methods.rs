//! Methods that slices, numbers, tuples and structs do not have.

#[millstream::program]
pub mod program {
    struct P {
        x: u32,
    }

    #[task]
    pub fn run(data: &[u32], n: u32, x: f32, p: P) -> u32 {
        let a = data.first();
        data.push(3);
        data.sort();
        let b = data.lenght();
        let c = n.checked_add(1);
        let d = x.squrt();
        let e = n.sqrt();
        let f = p.area();
        let g = n.rotate_left();
        let h = x.min(n);
        n
    }
}

//~ 11:22: slices have no method `first`
//~   help: there is no `Option`: index it
//~ 12:14: slices have no method `push`
//~   help: an array has a fixed length: keep a count beside it
//~ 13:14: slices have no method `sort`
//~   help: write a loop over its indices
//~ 14:22: slices have no method `lenght`
//~   help: did you mean `len`?
//~ 15:19: `u32` has no method `checked_add`
//~   help: there is no `Option`: use `wrapping_`, `saturating_` or `overflowing_`
//~ 16:19: `f32` has no method `squrt`
//~   help: did you mean `sqrt`?
//~ 17:19: `u32` has no method `sqrt`
//~   help: floats have it: `(x as f64).sqrt(..)`
//~ 18:19: `P` has no method `area`
//~   help: write a function that takes it as an argument
//~ 19:19: `rotate_left` does not take 0 arguments
//~   help: see docs/language.md
//~ 20:23: expected `f32`, found `u32`
//~   help: convert it: `.. as f32`
