//! Below a cut-off children are called, and a wide device spawns them: it is then the program without the cut-off, which nobody is told of.

#[millstream::program]
pub mod program {
    #[task]
    pub fn fib(n: u32, cut: u32) -> u64 {
        if n < 2 {
            return n as u64;
        }
        if n <= cut {
            return fib(n - 1, cut) + fib(n - 2, cut);
        }
        let x = spawn!(fib(n - 1, cut));
        let y = spawn!(fib(n - 2, cut));
        sync!();
        x + y
    }
}

//~ task fib(n: u32, cut: u32, return: ptr)
//~   frame x: u64, return: ptr
//~   segment 0 pushes fib+add x 2, fib's frame x 1, fib's segment 1 x 1
//~   segment 1 pushes nothing
//~ task fib+add(n: u32, cut: u32, return: ptr)
//~   segment 0 pushes fib+add x 2
//~ where the device is wide
//~ task fib(n: u32, cut: u32, return: ptr)
//~   frame child: u64, return: ptr
//~   segment 0 pushes fib+add x 2, fib's frame x 1, fib's segment 1 x 1
//~   segment 1 pushes nothing
//~ task fib+add(n: u32, return: ptr)
//~   segment 0 pushes fib+add x 2
