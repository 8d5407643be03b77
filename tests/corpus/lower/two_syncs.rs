//! Three segments; what only the first phase needs is not in the frame.

#[millstream::program]
pub mod program {
    #[task]
    pub fn leaf(n: u64) -> u64 {
        n
    }

    #[task]
    pub fn phases(a: u64, b: u64, c: u64) -> u64 {
        let unused = a * b;
        let x = spawn!(leaf(unused));
        sync!();
        let y = spawn!(leaf(x + c));
        sync!();
        x * y
    }
}

//~ task leaf(n: u64, return: ptr)
//~   segment 0 pushes nothing
//~ task phases(a: u64, b: u64, c: u64, return: ptr)
//~   frame x: u64, y: u64, c: u64, return: ptr
//~   segment 0 pushes leaf x 1, phases's frame x 1, phases's segment 1 x 1
//~   segment 1 pushes leaf x 1, phases's segment 2 x 1
//~   segment 2 pushes nothing
