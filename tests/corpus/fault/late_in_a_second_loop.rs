// run([0, 0, 0, 0, 0, 0, 0, 0, 0, 0]; [0, 0]; 4; 5)
// Two loops that go to the same sum, which the first one computes in each turn for itself.

#[millstream::program]
pub mod program {
    fn both(a: &mut [u64], b: &mut [u64], n: usize, k: usize, depth: usize) -> u64 {
        if depth > 0 {
            return both(b, a, n, k, depth - 1) + 1;
        }
        let mut i = 0;
        while i < n + k {
            a[i] = 1;
            i += 1;
        }
        let mut j = 0;
        while j < n + k {
            b[j] = 1;
            j += 1;
        }
        b.len() as u64
    }

    #[task]
    pub fn run(a: &mut [u64], b: &mut [u64], n: usize, k: usize) -> u64 {
        both(a, b, n, k, 2)
    }
}

//~ index out of bounds: the length is 2 but the index is 2, in `both` at corpus/fault/late_in_a_second_loop.rs:17:13
