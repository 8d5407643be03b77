//! Only numbers can be gathered.

#[millstream::program]
pub mod program {
    #[task]
    pub fn pair(n: u32) -> (u32, u32) {
        (n, n)
    }

    #[task]
    pub fn sum(n: u32) -> (u32, u32) {
        let mut total = (0, 0);
        for i in 0..n {
            total += spawn!(pair(i));
        }
        sync!();
        total
    }
}

//~ 14:22: results of type `(u32, u32)` cannot be gathered
//~   help: gather numbers; spawn a task for each field, or store to an array
