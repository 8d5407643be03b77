//! Tasks without a program around them.

#[task]
pub fn run(n: u32) -> u32 {
    n
}

//~ 1:1: there is no program in this file
//~   help: put `#[millstream::program]` in front of the module with the tasks
