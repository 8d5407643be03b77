// run([1, 2, 3, 4, 5, 6, 7, 8]; 3; 3)
// The last row of three is not whole: its last column fails, behind what was written before.

#[millstream::program]
pub mod program {
    fn row(data: &mut [u64], i: usize, width: usize) -> u64 {
        let mut sum = 0;
        for j in 0..width {
            data[i * width + j] += sum;
            sum += data[i * width + j];
        }
        sum
    }

    #[task]
    pub fn run(data: &mut [u64], rows: usize, width: usize) -> u64 {
        let mut sum = 0;
        for i in 0..rows {
            for j in 0..width {
                sum = sum * 3 + data[i * width + j];
                data[i * width + j] = sum;
            }
        }
        sum + row(data, rows, width)
    }
}

//~ index out of bounds: the length is 8 but the index is 8, in `run` at corpus/fault/late_in_a_nest.rs:20:33
