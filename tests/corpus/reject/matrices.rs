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
        for row in a.row_iter_mut() {}
        for row in data.row_iter() {}
        for row in a {}
        for x in a.iter() {}
        for row in b.rows() {}
        for row in a.row_iter().copied() {}
        let i = a.row_iter();
        let n = a.row_iter().collect();
        for &x in b.row_iter_mut() {}
        let (c, d) = (a, b);
        for row in d.row_iter_mut() {}
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
//~ 16:22: `row_iter_mut` of `Mat<f32>`, which is shared
//~   help: take it as `MatMut`
//~ 17:25: `row_iter` of `&mut [f32]`, which is no matrix
//~   help: make one of a slice, `Mat::new(data, rows, columns)`, or run over its parts: `for row in data.chunks(columns)`
//~ 18:20: a `for` cannot run over `Mat<f32>`
//~   help: run over its rows: `for row in m.row_iter()`
//~ 19:18: a `for` cannot run over `Mat<f32>`
//~   help: run over its rows: `for row in m.row_iter()`
//~ 20:20: a `for` cannot run over `usize`
//~   help: write a range: `0..n`
//~ 21:20: only the elements of `.iter()` can be copied
//~   help: leave it out
//~ 23:30: `collect` of an iterator is not part of the task language
//~   help: nothing is allocated in a task: write to an array, or to a slice that is lent
//~ 24:13: a pattern of a reference for `&mut [f32]`
//~   help: leave out the `&`
//~ 26:20: `d` cannot be changed: it is not declared `mut`
//~   note: 25:17: it is declared here
//~   help: write `mut d` there
