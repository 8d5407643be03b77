//! Functions as values of tasks, which the caller would have to give.

#[millstream::program]
pub mod program {
    fn double(x: u32) -> u32 {
        x * 2
    }

    struct Rule {
        apply: fn(u32) -> u32,
    }

    #[task]
    pub fn given(rule: Rule) -> u32 {
        (rule.apply)(1)
    }

    #[task]
    pub fn lent(rules: &[fn(u32) -> u32]) -> u32 {
        rules[0](1)
    }

    #[task]
    pub fn taken(f: fn(u32) -> u32) -> u32 {
        f(1)
    }
}

//~ 14:9: a task or kernel cannot take or return a function
//~   help: give it what says which function is meant, an enum or a number, and choose it there
//~ 19:9: a task or kernel cannot take or return a function
//~   help: give it what says which function is meant, an enum or a number, and choose it there
//~ 23:5: `taken` takes or gives what only an `impl` or a `fn` type says, and is a task or kernel
//~   help: a task takes and returns values; what is code goes to a helper, which a task calls
