//! A shared slice where `&mut` is wanted, and a missing borrow.

#[millstream::program]
pub mod program {
    fn clear(data: &mut [u32]) {
        data[0] = 0;
    }

    fn sum(data: &[u32]) -> u32 {
        data[0]
    }

    #[task]
    pub fn run(data: &[u32]) -> u32 {
        let mut local = [1, 2, 3];
        clear(data);
        clear(local);
        clear(&local);
        sum(local)
    }
}

//~ 16:15: expected `&mut [u32]`, found `&[u32]`
//~   help: it is shared: take it as `&mut [u32]` where it is declared
//~ 17:15: expected `&mut [u32]`, found `[an integer; 3]`
//~   help: borrow it: `&mut ..`
//~ 18:15: expected `&mut [u32]`, found `&[an integer; 3]`
//~   help: borrow it as `&mut ..`
//~ 19:13: expected `&[u32]`, found `[an integer; 3]`
//~   help: borrow it: `&..`
