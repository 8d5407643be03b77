//! A task whose result is stored by some and gathered by others becomes two.

#[millstream::program]
pub mod program {
    #[task]
    pub fn leaf(n: u32) -> u32 {
        n
    }

    #[task]
    pub fn both(n: u32) -> u32 {
        let a = spawn!(leaf(n));
        let mut best = 0;
        best = best.max(spawn!(leaf(n + 1)));
        best = best.max(spawn!(leaf(n + 2)));
        sync!();
        a + best
    }
}

//~ task leaf(n: u32, return: ptr)
//~   segment 0 pushes nothing
//~ task both(n: u32, return: ptr)
//~   frame a: u32, best: u32, return: ptr
//~   segment 0 pushes leaf x 1, leaf+max x 2, both's frame x 1, both's segment 1 x 1
//~   segment 1 pushes nothing
//~ task leaf+max(n: u32, return: ptr)
//~   segment 0 pushes nothing
