//! Items with parameters that are not part of the language.

#[millstream::program]
pub mod program {
    struct Buffer<'a> {
        data: &'a mut [u32],
    }

    #[task]
    pub fn fill(b: Buffer, bs: &mut [(Buffer, u32)]) {}

    struct Counts {
        all: std::sync::atomic::AtomicU32,
    }

    struct Pair<A, B> {
        a: A,
        b: B,
    }

    fn bare(p: Pair) -> u32 {
        0
    }

    fn many(p: Pair<u32, u32, u32>) -> u32 {
        0
    }

    fn made() -> impl Fn(u32) -> u32 {
        |x| x
    }

    fn later(f: &dyn Fn(u32) -> u32) -> u32 {
        f(1)
    }

    trait Shape<T> {
        fn area(&self) -> T;
    }

    impl Shape<f32> for Counts {
        fn area(&self) -> f32 {
            0.0
        }
    }

    trait Named {
        const ID: u32;
        fn name(&self) -> u32;
    }

    impl Named for Counts {
        const ID: u32 = 1;
    }

    impl Drop for Counts {
        fn drop(&mut self) {
            *self = Counts::default();
        }
    }

    mod inner {
        #[task]
        pub fn hidden() -> u32 {
            0
        }
    }

    mod elsewhere;

    static mut TOTAL: u32 = 0;

    #[task]
    pub fn generic<T: Copy>(x: T) -> u32 {
        0
    }

    struct Row {
        view: View<'static>,
    }

    #[task]
    pub fn held<'a>(data: &'a [u32]) -> View<'a> {
        View { data }
    }

    struct View<'a> {
        data: &'a [u32],
    }
}

//~ 10:17: a task cannot take `Buffer<'_>`, which holds what is written
//~   help: give it the `&mut` itself as an argument, and make the struct in the task
//~ 10:28: a task cannot take `&mut [(Buffer<'_>, u32)]`, which holds what is written
//~   help: give it the `&mut` itself as an argument, and make the struct in the task
//~ 13:14: a struct field cannot be `AtomicU32`
//~   help: a struct holds plain data and what it borrows: give it the atomic by `&`, as `&'a AtomicU32`
//~ 21:16: `Pair` needs its parameters here
//~   help: write `Pair<A, B>`
//~ 25:16: 3 parameters where there are 2
//~ 52:20: this `impl` for `Counts` lacks `name`
//~   note: 49:12: the trait asks for it
//~   help: write it here, or let the trait say what it is for all
//~ 56:10: an `impl` of this trait is not part of the task language
//~   help: there are those of the program's own traits, of `Default`, `From`, `TryFrom`, `Deref`, `AsRef`, `Iterator`, `IntoIterator`, `FromIterator`, `Sum`, `Product`, of orders, as `Ord`, and of operators, as `Add`; write other functions as the struct's own: `impl Name { .. }`
//~ 63:9: a task or kernel stands at the top of the program
//~   help: move it there; it may call what the modules within have
//~ 69:5: a module within a program needs its body here
//~   help: write `mod name { .. }`, not `mod name;`
//~ 71:5: a `static mut` is not part of the task language
//~   help: leave out the `mut` if nothing writes to it, else pass a buffer as an argument
//~ 73:5: `generic` has parameters of types or numbers, and is a task or kernel
//~   help: write a task for each type you need; what they have in common is a helper with parameters
//~ 83:38: a task cannot return `View<'_>`
//~   help: a child's result is plain data; pass a `&mut` slice to write to instead
