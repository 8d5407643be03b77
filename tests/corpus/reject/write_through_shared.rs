//! Writes through shared references.

#[millstream::program]
pub mod program {
    fn clear(data: &[u32]) {
        data[0] = 0;
    }

    fn bump(x: &u32) {
        *x += 1;
    }

    #[task]
    pub fn run(data: &[u32], mut n: u32) {
        data.swap(0, 1);
        data[1..].fill(0);
        let (a, b) = data.split_at_mut(1);
        bump(&n);
        let part = &mut data[2..];
        for x in data.iter_mut() {
            *x = 1;
        }
    }
}

//~ 6:9: this cannot be written: it lies behind `&[u32]`
//~   help: take it as `&mut [u32]`
//~ 10:9: this cannot be written: it lies behind `&u32`
//~   help: take it as `&mut u32`
//~ 15:9: this cannot be written: it is `&[u32]`
//~   help: take it as `&mut`
//~ 16:9: `&[u32]` is shared and cannot be borrowed as `&mut`
//~   help: take it as `&mut`
//~ 17:22: this cannot be written: it is `&[u32]`
//~   help: take it as `&mut`
//~ 19:20: `&[u32]` is shared and cannot be borrowed as `&mut`
//~   help: take it as `&mut`
//~ 20:18: this cannot be written: it is `&[u32]`
//~   help: take it as `&mut`
