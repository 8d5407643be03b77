//! Matrices of no type, and of no number.

#[millstream::program]
pub mod program {
    use millstream::Mat;

    fn plain(m: Mat) {}

    fn of_pairs(m: Mat<(f32, f32)>) {}

    #[task]
    pub fn run() {}
}

//~ 7:17: `Mat` needs the type it holds
//~   help: write `Mat<f32>`
//~ 9:24: a matrix holds numbers
//~   help: write `Mat<f32>`, `Mat<f64>` or another number type
