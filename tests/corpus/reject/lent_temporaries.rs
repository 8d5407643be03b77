//! What a child is lent has a name; only constants need none.

#[millstream::program]
pub mod program {
    const TABLE: [u32; 2] = [1, 2];

    #[task]
    pub fn sum(values: &[u32]) -> u32 {
        values[0] + values[1]
    }

    #[task]
    pub fn first(value: &u32) -> u32 {
        *value
    }

    #[task]
    pub fn entry(n: u32) -> u32 {
        let mut total = 0;
        for i in 0..n {
            total += spawn!(sum(&[i, 1]));
            total += spawn!(first(&(i + 1)));
            total += spawn!(sum(&[1, 2]));
            total += spawn!(sum(&TABLE));
        }
        sync!();
        total
    }
}

//~ 21:33: a value without a name is lent to a child, which may outlive it
//~   help: give it a name by `let`, outside of loops without a `sync!()`, and lend that
//~ 22:35: a value without a name is lent to a child, which may outlive it
//~   help: give it a name by `let`, outside of loops without a `sync!()`, and lend that
