//! Structs of references and atomics, and what locks.

#[millstream::program]
pub mod program {
    struct World<'a> {
        walls: &'a [u32],
    }

    struct Part<T> {
        part: T,
    }

    struct Counts {
        all: AtomicU32,
    }

    struct Slice {
        data: &[u32],
    }

    #[task]
    pub fn lock(a: &Mutex<u32>) {}
}

//~ 5:17: the struct `World` has parameters
//~   help: a struct holds no references; a tuple may: `type World<'a> = (&'a [u32], &'a [f32]);`
//~ 9:16: the struct `Part` has parameters
//~   help: structs of a program are plain data: write one struct for each type you need
//~ 14:14: a struct field cannot be `AtomicU32`
//~   help: structs hold plain data; pass atomics beside them, as `&AtomicU32` or `&[AtomicU32; 4]`
//~ 18:15: a struct field cannot be `&[u32]`
//~   help: structs hold plain data: numbers, bools, arrays, tuples and other structs; pass references as arguments, several in a tuple
//~ 22:21: there is no type `Mutex` in this program
//~   help: children share atomics by `&`, and are lent parts of a slice by `&mut`
