// rotate([1, 2, 3]; 4)

#[millstream::program]
pub mod program {
    #[task]
    pub fn rotate(data: &mut [u32], by: usize) {
        data.rotate_left(by);
    }
}

//~ split point 4 lies beyond the length 3, in `rotate` at corpus/fault/rotation.rs:7:9
