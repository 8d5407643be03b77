//! Results of children where a block has no value, and enums that borrow as arguments of tasks.

#[millstream::program]
pub mod program {
    #[task]
    pub fn child(n: u32) -> u32 {
        n
    }

    #[task]
    pub fn run(n: u32) -> u32 {
        for i in 0..n {
            spawn!(child(i))
        }
        sync!();
        1
    }

    #[task]
    pub fn ends(n: u32) {
        spawn!(child(n))
    }
}

//~ 13:13: a child's result where the block has no value
//~   help: put a `;` behind it: `spawn!(..);` drops the result
//~ 21:9: a child's result where the block has no value
//~   help: put a `;` behind it: `spawn!(..);` drops the result
