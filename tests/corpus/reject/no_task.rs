//! A program without a task.

#[millstream::program]
pub mod program {
    fn main() {
        let x = 3;
    }
}

//~ 4:9: the program `program` has no task and no kernel
//~   help: put `#[task]` or `#[kernel]` in front of a function
