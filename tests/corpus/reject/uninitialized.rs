//! Variables that have no value on one of the ways to their use.

#[millstream::program]
pub mod program {
    #[task]
    pub fn branch(n: u32) -> u32 {
        let x: u32;
        if n > 1 {
            x = 5;
        }
        x
    }

    #[task]
    pub fn late(n: u32) -> u32 {
        let mut sum: u32;
        for i in 0..n {
            sum += i;
        }
        let mut list: [u32; 4];
        list[0] = 3;
        let mut total: u32;
        total += spawn!(branch(n));
        sync!();
        total
    }
}

//~ 11:9: `x` may have no value yet
//~   help: give it one where it is declared, or on every way here
//~ 18:13: `sum` may have no value yet
//~   help: give it one where it is declared, or on every way here
//~ 21:9: `list` may have no value yet
//~   help: give it one where it is declared, or on every way here
//~ 23:9: `total` may have no value yet
//~   help: give it one where it is declared, or on every way here
