//! What is wrong with blocks of `PartialEq`, `PartialOrd` and `Ord`.

#[millstream::program]
pub mod program {
    use std::cmp::Ordering;

    #[derive(Clone, Copy, PartialEq)]
    pub struct NoEq(u32);
    impl Ord for NoEq {
        fn cmp(&self, other: &Self) -> Ordering {
            other.0.cmp(&self.0)
        }
    }

    #[derive(Clone, Copy)]
    pub struct Alone(u32);
    impl PartialOrd for Alone {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            other.0.partial_cmp(&self.0)
        }
    }
    impl PartialOrd<u32> for Alone {
        fn partial_cmp(&self, other: &u32) -> Option<Ordering> {
            other.partial_cmp(&self.0)
        }
    }

    #[derive(Clone, Copy, Ord)]
    pub struct Derived(u32);

    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub struct Twice(u32);
    impl Ord for Twice {
        fn cmp(&self, other: &Self) -> Ordering {
            other.0.cmp(&self.0)
        }
    }

    #[derive(Clone, Copy, Eq)]
    pub struct Lacks(u32);
    impl PartialEq for Lacks {
        fn same(&self, other: &Self) -> bool {
            self.0 == other.0
        }
    }

    const ONE: Twice = Twice(1);
    const EQUAL: bool = Alone(2) == Alone(3) || ONE < ONE || Alone(2) < Alone(1);

    #[task]
    pub fn run(a: Twice) -> bool {
        a < a
    }
}

//~ 9:18: `NoEq` has `Ord`, but not `Eq`
//~   help: derive it, or write `impl Eq for NoEq {}`
//~ 9:18: `NoEq` has `Ord`, but not `PartialOrd`
//~   help: write `impl PartialOrd for NoEq { fn partial_cmp(&self, other: &Self) -> Option<Ordering> { Some(self.cmp(other)) } }`
//~ 17:25: `Alone` has `PartialOrd`, but not `PartialEq`
//~   help: derive it, or write `impl PartialEq for Alone { fn eq(&self, other: &Self) -> bool { .. } }`
//~ 22:30: `Alone` has `PartialOrd<u32>`, but not `PartialEq<u32>`
//~   help: write `impl PartialEq<u32> for Alone { fn eq(&self, other: &u32) -> bool { .. } }`
//~ 29:16: `Derived` has `Ord`, but not `Eq`
//~   help: derive `Eq`, too
//~ 29:16: `Derived` has `Ord`, but not `PartialOrd`
//~   help: derive `PartialOrd`, too
//~ 33:18: `Twice` derives `Ord`, and has a block of it
//~   help: leave out one of them
//~ 41:24: this `impl` of `PartialEq` lacks `eq`
//~   help: write it here: `fn eq(&self, other: &Self) -> bool { .. }`
//~ 42:9: Rust's `PartialEq` has no such item
//~   help: write it in an `impl` block of the type's own
//~ 48:49: a constant calls only what is `const`
//~   help: write `const fn`, or write the value out
//~ 48:62: a constant calls only what is `const`
//~   help: write `const fn`, or write the value out
