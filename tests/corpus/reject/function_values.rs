//! Functions as values, and variables that are called.

#[millstream::program]
pub mod program {
    fn twice(n: u32) -> u32 {
        n * 2
    }

    #[task]
    pub fn run(n: u32) -> u32 {
        let f = twice;
        let g = n(3);
        let h = (n + 1)(2);
        std::process::exit(1);
        f(n)
    }
}

//~ 12:17: `n` is a variable, not a function
//~   help: a function is a value where a type says so, `fn(..) -> ..`
//~ 13:17: only functions can be called, by their name
//~   help: a function is a value where a type says so, `fn(..) -> ..`
//~ 14:9: there is no function `std::process::exit` in the task language
//~   help: a program calls its own functions
