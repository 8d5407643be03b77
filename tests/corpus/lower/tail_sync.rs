//! Nothing comes after the sync: no continuation and no frame.

#[millstream::program]
pub mod program {
    #[task]
    pub fn paint(data: &mut [u8]) {
        if data.len() > 1 {
            let (a, b) = data.split_at_mut(data.len() / 2);
            spawn!(paint(a));
            spawn!(paint(b));
            sync!();
        }
    }
}

//~ task paint(data: ptr, data.len: usize)
//~   segment 0 pushes paint x 2
