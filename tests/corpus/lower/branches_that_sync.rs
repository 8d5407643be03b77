//! Syncs in two branches that join again, and a way that has none.

#[millstream::program]
pub mod program {
    #[task]
    pub fn leaf(n: u32) -> u32 {
        n
    }

    #[task]
    pub fn choose(n: u32) -> u32 {
        let mut out = n;
        if n % 2 == 0 {
            let a = spawn!(leaf(n));
            sync!();
            out = a;
        } else if n % 3 == 0 {
            let b = spawn!(leaf(n + 1));
            sync!();
            out += b;
        }
        out + 1
    }
}

//~ task leaf(n: u32, return: ptr)
//~   segment 0 pushes nothing
//~ task choose(n: u32, return: ptr)
//~   frame a: u32, b: u32, n: u32, return: ptr
//~   segment 0 pushes leaf x 1, choose's frame x 1, choose's segment 1 x 1, choose's segment 2 x 1
//~   segment 1 pushes nothing
//~   segment 2 pushes nothing
