//! What the task language refuses is a compile error at its place, several at once.

#[millstream::program(chekced)] //~ there is no program option `chekced` | help: did you mean `checked`?
mod options {
    #[task]
    pub fn f() {}
}

#[millstream::program]
mod items {
    pub enum Shape {
        Empty,
        Round(), //~ the variant `Round` has no data in its brackets | help: leave them out
    }

    #[task]
    pub fn f(n: char) {} //~ there is no type `char` in this program | help: there is no text on a device: use `u8` and `u32`
}

#[millstream::program]
mod bodies {
    #[task]
    pub fn f() -> u32 {
        println!("hello"); //~ `println!` is not part of the task language | help: a device does not print: write values to a buffer
        spawn!(g(1)); //~ `g` is a helper, and only tasks can be spawned | note: line 30: it is defined here | help: put `#[task]` in front of it, or call it without `spawn!`
        let x: u64 = 1u32; //~ expected `u64`, found `u32` | help: convert it: `.. as u64`
        0
    }

    fn g(n: u32) {}
}

#[millstream::program]
mod layout {
    #[repr(packed)] //~ the struct `P` has a layout of its own | help: structs of a program are `#[repr(C)]`: leave this out
    pub struct P {
        pub x: u32,
    }

    #[task]
    pub fn f(p: P) {}
}

#[millstream::program]
mod names {
    #[task]
    pub fn program() {} //~ the name `program` is taken: the macro puts an item of that name here | help: choose another
}

#[millstream::program]
mod no_task {} //~ the program `no_task` has no task and no kernel | help: put `#[task]` or `#[kernel]` in front of a function

#[millstream::program]
fn function() {} //~ a program is a module | help: write `#[millstream::program] mod name { .. }`

#[millstream::task] //~ a task stands in a module | help: put `#[millstream::program]` in front of the module
fn task() {}
