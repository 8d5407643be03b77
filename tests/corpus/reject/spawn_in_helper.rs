//! A helper spawns and syncs.

#[millstream::program]
pub mod program {
    #[task]
    pub fn leaf(n: u32) {
        help(n);
    }

    fn help(n: u32) {
        spawn!(leaf(n));
        sync!();
    }
}

//~ 11:9: only a task or kernel can spawn
//~   help: put `#[task]` in front of the function
//~ 12:9: only a task or kernel can sync
//~   help: put `#[task]` in front of the function
