//! Names of modules within that are not there.

#[millstream::program]
pub mod program {
    mod inner {
        pub struct Point {
            pub x: u32,
        }

        pub fn plain(x: u32) -> u32 {
            x
        }

        pub fn up(x: u32) -> u32 {
            helper(x)
        }
    }

    fn helper(x: u32) -> u32 {
        x
    }

    #[task]
    pub fn run(n: u32) -> u32 {
        let p = Point { x: n };
        inner::missing(n) + inner::MISSING + plain(n) + super::helper(n) + other::helper(n)
    }
}

//~ 15:13: there is no function `helper` in this program
//~   help: it stands further up: `super::helper`, or bring it in by `use super::helper;`
//~ 25:17: there is no struct `Point` in this program
//~   help: it is `inner::Point`, seen from the top of the program: name it by its path, or bring it in by `use`
//~ 26:9: there is no function `inner::missing` in the task language
//~   help: a program calls its own functions
//~ 26:29: there is no `inner::MISSING` in the task language
//~   help: docs/language.md lists what there is
//~ 26:46: there is no function `plain` in this program
//~   help: it is `inner::plain`, seen from the top of the program: name it by its path, or bring it in by `use`
//~ 26:57: there is no function `super::helper` in the task language
//~   help: a program calls its own functions
//~ 26:76: there is no function `other::helper` in the task language
//~   help: a program calls its own functions
