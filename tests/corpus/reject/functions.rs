//! What a function cannot be: `async`, `unsafe`, foreign, a method.

#[millstream::program]
pub mod program {
    async fn later() {}

    unsafe fn danger() {}

    extern "C" fn foreign() {}

    fn method(self) {}

    #[task]
    pub fn run() {}
}

//~ 5:5: an `async` function is not part of the task language
//~   help: make it a task, and `spawn!` it
//~ 7:5: an `unsafe` function is not part of the task language
//~   help: leave out the `unsafe`
//~ 9:5: a foreign ABI is not part of the task language
//~   help: leave out the `extern`
//~ 11:15: `self` is not part of the task language
//~   help: give the argument a name and a type
