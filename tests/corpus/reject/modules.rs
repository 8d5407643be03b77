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

//~
