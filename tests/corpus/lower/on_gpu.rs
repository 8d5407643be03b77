//! A task that asks where it runs: on a wide device it spawns, on others it goes on by itself.

#[millstream::program]
pub mod program {
    #[task]
    pub fn fill(data: &mut [u32], x: u32) {
        let most = if millstream::on_gpu() { 2 } else { 1000 };
        if data.len() > most {
            let (low, high) = data.split_at_mut(data.len() / 2);
            spawn!(fill(low, x));
            spawn!(fill(high, x + 1));
        } else if millstream::on_gpu() {
            spawn!(few(data, x));
        } else {
            few(data, x);
        }
    }

    #[task]
    pub fn few(data: &mut [u32], x: u32) {
        data.fill(x);
    }
}

//~ task fill(data: ptr, data.len: usize, x: u32)
//~   segment 0 pushes fill x 2
//~ task few(data: ptr, data.len: usize, x: u32)
//~   segment 0 pushes nothing
//~ where the device is wide
//~ task fill(data: ptr, data.len: usize, x: u32)
//~   segment 0 pushes fill x 2, few x 1
//~ task few(data: ptr, data.len: usize, x: u32)
//~   segment 0 pushes nothing
