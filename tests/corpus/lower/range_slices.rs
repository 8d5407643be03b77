//! A slice that parts are cut of stays an address and a length: parts by ranges need no memory of the task.

#[millstream::program]
pub mod program {
    #[task]
    pub fn sums(data: &mut [u32]) {
        let (n, m) = (data.len(), data.len() / 2);
        if n < 2 {
            return;
        }
        spawn!(sums(&mut data[..m]));
        sync!();
        spawn!(sums(&mut data[m..]));
        sync!();
        data[n - 1] += data[m - 1];
    }
}

//~ task sums(data: ptr, data.len: usize)
//~   frame data: ptr, data.2: usize, value: usize
//~   segment 0 pushes sums x 1, sums's frame x 1, sums's segment 1 x 1
//~   segment 1 pushes sums x 1, sums's segment 2 x 1
//~   segment 2 pushes nothing
