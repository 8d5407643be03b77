// run([1, 2, 3, 4, 5, 6]; 2; 4)
// The column lies behind the end, though the element would not.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(data: &mut [u32], rows: usize, cols: usize) -> u32 {
        let mut m = MatMut::new(data, 2, 3);
        let mut sum = 0;
        for i in 0..rows {
            for j in 0..cols {
                m[(i, j)] += sum;
                sum += m[(i, j)];
            }
        }
        sum
    }
}

//~ index out of bounds: the length is 3 but the index is 3, in `run` at corpus/fault/late_in_a_matrix.rs:12:17
