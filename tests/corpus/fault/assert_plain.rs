// check([3, 2]; 1)
// An assertion without a text names its condition.

#[millstream::program]
pub mod program {
    #[task]
    pub fn check(data: &[u32], n: usize) {
        assert!(!data.is_empty() && data[0] < data[n]);
    }
}

//~ assertion failed: !data.is_empty() &&data[0] < data[n], in `check` at corpus/fault/assert_plain.rs:8:9
