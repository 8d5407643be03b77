//! Items that a program cannot have.

#[millstream::program]
pub mod program {
    static mut COUNTER: u32 = 0;

    struct Square(f32);

    impl Drop for Square {
        fn drop(&mut self) {}
    }

    union Bits {
        a: u32,
        b: f32,
    }

    thread_local! {
        static TOTAL: u32 = 0;
    }

    #[task]
    pub fn run() {}
}

//~ 5:5: a `static mut` is not part of the task language
//~   help: leave out the `mut` if nothing writes to it, else pass a buffer as an argument
//~ 9:10: an `impl` of this trait is not part of the task language
//~   help: there are those of the program's own traits, of `Default`, `From`, `TryFrom`, `Deref`, `AsRef`, `Iterator`, `IntoIterator`, `FromIterator`, `Sum`, `Product`, of orders, as `Ord`, and of operators, as `Add`; write other functions as the struct's own: `impl Name { .. }`
//~ 13:5: a union is not part of the task language
//~   help: use a struct, or `to_bits` and `from_bits`
//~ 18:5: a macro is not part of the task language
//~   help: write out what it would expand to, use a function, or write the macro in the program: `macro_rules!`
