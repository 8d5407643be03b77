//! Two segments; the base case pushes nothing and takes no frame.

#[millstream::program]
pub mod program {
    #[task]
    pub fn fib(n: u32) -> u64 {
        if n < 2 {
            return n as u64;
        }
        let x = spawn!(fib(n - 1));
        let y = spawn!(fib(n - 2));
        sync!();
        x + y
    }
}

//~ task fib(n: u32, return: ptr)
//~   frame x: u64, return: ptr
//~   segment 0 pushes fib+add x 2, fib's frame x 1, fib's segment 1 x 1
//~   segment 1 pushes nothing
//~ task fib+add(n: u32, return: ptr)
//~   segment 0 pushes fib+add x 2
