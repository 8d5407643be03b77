//! Results of a loop of children, in the elements of a local array.

#[millstream::program]
pub mod program {
    #[task]
    pub fn cube(x: i64) -> i64 {
        x * x * x
    }

    #[task]
    pub fn cubes(shift: usize) -> [i64; 6] {
        let mut out = [0; 6];
        for i in 0..out.len() {
            out[(i + shift) % 6] = spawn!(cube(i as i64));
        }
        sync!();
        out
    }
}

millstream_tests::cases! {
    cubes(0);
    cubes(4);
}
