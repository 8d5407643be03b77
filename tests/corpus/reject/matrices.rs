//! Matrices indexed and made wrongly.

#[millstream::program]
pub mod program {
    use millstream::{Mat, MatMut};

    #[task]
    pub fn run(a: Mat<f32>, mut b: MatMut<f32>, data: &mut [f32]) {
        let x = a[0];
        a[(0, 0)] = 1.0;
        let y = b[(1, 2, 3)];
        let q = a.quadrants_mut();
        let m = Mat::new(data, 3);
        let t = b.transpose();
        let z = b[(1.0, 2)];
    }
}

//~ 9:19: a matrix is indexed by row and column
//~   help: write `m[(i, j)]`
//~ 10:9: this cannot be written: it lies behind `Mat<f32>`
//~   help: take it as `MatMut`
//~ 11:19: a matrix is indexed by row and column
//~   help: write `m[(i, j)]`
//~ 12:19: `quadrants_mut` of `Mat<f32>`, which is shared
//~   help: take it as `MatMut`
//~ 13:17: a matrix view is made of a slice, its rows and its columns
//~   help: write `Mat::new(data, rows, cols)`
//~ 14:19: matrices have no method `transpose`
//~   help: docs/language.md lists the methods
//~ 15:20: expected `usize`, found `a float`
//~   help: convert it: `.. as usize`
