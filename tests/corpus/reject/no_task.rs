//! A program without a task.

#[millstream::program]
pub mod program {
    fn main() {
        let x = 3;
    }
}

//~ 4:9: the program `program` has no task
//~   help: put `#[task]` in front of a function
