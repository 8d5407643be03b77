//! What functions give is no value.

#[millstream::program]
pub mod program {
    fn either(n: u32, up: bool) -> impl Iterator<Item = u32> {
        if up { 0..n } else { n..2 * n }
    }

    #[task]
    pub fn run(n: u32) -> u32 {
        either(n, true).sum()
    }
}

//~ 6:9: this function gives an iterator, which has to stand here
//~   help: write it here, not in a branch, and what it needs above it; what differs from call to call may stand in its closures
