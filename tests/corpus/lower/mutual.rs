//! Each task has channels of its own.

#[millstream::program]
pub mod program {
    #[task]
    pub fn even(n: u32) -> bool {
        if n == 0 {
            return true;
        }
        let other = spawn!(odd(n - 1));
        sync!();
        other
    }

    #[task]
    pub fn odd(n: u32) -> bool {
        if n == 0 {
            return false;
        }
        let other = spawn!(even(n - 1));
        sync!();
        !other
    }
}

//~ task even(n: u32, return: ptr)
//~   frame other: bool, return: ptr
//~   segment 0 pushes odd x 1, even's frame x 1, even's segment 1 x 1
//~   segment 1 pushes nothing
//~ task odd(n: u32, return: ptr)
//~   frame other: bool, return: ptr
//~   segment 0 pushes even x 1, odd's frame x 1, odd's segment 1 x 1
//~   segment 1 pushes nothing
