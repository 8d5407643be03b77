// clamp(5; 7; 3)

#[millstream::program]
pub mod program {
    #[task]
    pub fn clamp(x: i32, lo: i32, hi: i32) -> i32 {
        x.clamp(lo, hi)
    }
}

//~ assertion failed: `clamp` to a range whose ends are not in order, in `clamp` at corpus/fault/clamp_order.rs:7:21
