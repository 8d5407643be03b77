//! Calls with too few, too many and wrong arguments.

#[millstream::program]
pub mod program {
    fn area(w: f32, h: f32) -> f32 {
        w * h
    }

    #[task]
    pub fn run(n: u32, data: &[u32]) -> f32 {
        spawn!(run(n));
        spawn!(run(data, n));
        area(1.0) + area(1.0, 2.0, 3.0) + area(n, 1)
    }
}

//~ 11:9: `run` takes 2 arguments, here are 1
//~   help: it takes (`u32`, `&[u32]`)
//~ 12:20: expected `u32`, found `&[u32]`
//~ 12:26: expected `&[u32]`, found `u32`
//~ 13:9: `area` takes 2 arguments, here are 1
//~   help: it takes (`f32`, `f32`)
//~ 13:21: `area` takes 2 arguments, here are 3
//~   help: it takes (`f32`, `f32`)
//~ 13:48: expected `f32`, found `u32`
//~   help: convert it: `.. as f32`
//~ 13:51: expected `f32`, found `an integer`
//~   help: write `1.0`
