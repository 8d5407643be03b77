// run([1, 2])
// The check fails in a helper of a helper.

#[millstream::program]
pub mod program {
    fn deep(data: &mut [i8], i: usize) {
        data[i - 1] = 3;
    }

    fn outer(data: &mut [i8]) {
        deep(data, 0);
    }

    #[task]
    pub fn run(data: &mut [i8]) {
        outer(data);
    }
}

//~ interpreter: index out of bounds: the length is 2 but the index is 18446744073709551615, in `deep` at corpus/fault/index_in_helper.rs:7:9
//~ cpu with 1 threads, cpu with 2 threads, cpu with 4 threads, cpu with 16 threads, cpu with 1 threads, one element a wavefront, cpu with 16 threads, one element a wavefront: index out of bounds: the length is 2 but the index is 18446744073709551615, in `run` at corpus/fault/index_in_helper.rs:7:9
