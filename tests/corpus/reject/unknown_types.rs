//! Types that the language does not have.

#[millstream::program]
pub mod program {
    struct Data {
        name: String,
        list: Vec<u32>,
        big: u128,
        maybe: Result<u32, u32>,
    }

    fn get(c: char) -> Boo {
        1
    }

    #[task]
    pub fn run(x: uint32_t, y: &dyn Fn(u32), z: double) {}
}

//~ 6:15: there is no type `String` in this program
//~   help: there is no text on a device: use `u8` and `u32`
//~ 7:15: there is no type `Vec` in this program
//~   help: nothing is allocated in a task: use an array, or pass a slice
//~ 12:15: there is no type `char` in this program
//~   help: there is no text on a device: use `u8` and `u32`
//~ 12:24: there is no type `Boo` in this program
//~   help: did you mean `bool`?
//~ 17:19: there is no type `uint32_t` in this program
//~   help: did you mean `u32`?
//~ 17:33: a `dyn` type is not part of the task language: which function is called is known beforehand
//~   help: take any type that has the trait: `impl Trait`, or `impl Fn(..) -> ..`, without a reference
//~ 17:49: there is no type `double` in this program
//~   help: did you mean `f64`?
