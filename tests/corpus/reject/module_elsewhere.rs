//! A program whose module is in another file.

#[millstream::program]
pub mod program;

//~ 3:1: a program needs its module's body here
//~   help: write `mod name { .. }` with the tasks in it, not `mod name;`
