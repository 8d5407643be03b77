//! Who does not ask where it runs.

#[millstream::program]
pub mod program {
    fn width() -> usize {
        if millstream::on_gpu() { 2 } else { 64 }
    }

    #[task]
    pub fn f(n: u32) -> usize {
        if millstream::on_gpu(n) {
            return 0;
        }
        width()
    }
}

//~ 6:12: only a task asks for the device that it runs on
//~   help: ask in the task, and pass what depends on it
//~ 11:12: there is no function `millstream::on_gpu` in the task language
//~   help: a program calls its own functions
