//! Operators that give their parts names, and change what is a copy, or take the name of one part for another.

#[millstream::program]
pub mod program {
    use std::ops::{Add, AddAssign, BitOrAssign};

    #[derive(Clone, Copy, PartialEq, Debug, Default)]
    pub struct Pair {
        pub a: u32,
        pub b: u32,
    }

    /// The names are of copies: nothing is added.
    impl AddAssign for Pair {
        fn add_assign(&mut self, other: Pair) {
            let Pair { mut a, mut b } = *self;
            a += other.a;
            b += other.b;
        }
    }

    /// As above, of a value.
    impl Add for Pair {
        type Output = Pair;
        fn add(self, other: Pair) -> Pair {
            let Pair { mut a, mut b } = self;
            a += other.a;
            b += other.b;
            self
        }
    }

    /// The names are those of the other part.
    impl BitOrAssign for Pair {
        fn bitor_assign(&mut self, Pair { a: b, b: a }: Pair) {
            self.a |= a;
            self.b |= b;
        }
    }

    #[task]
    pub fn pair(n: u32) -> Pair {
        Pair { a: n, b: 1 }
    }

    #[task]
    pub fn all(n: u32) -> (Pair, Pair, Pair) {
        let (mut x, mut y, mut z) = (Pair::default(), Pair::default(), Pair::default());
        x += spawn!(pair(n));
        y = y + spawn!(pair(n));
        z |= spawn!(pair(n));
        sync!();
        (x, y, z)
    }
}

//~ 49:14: results of type `Pair` cannot be gathered by this operator: it does not combine them field by field
//~   help: let it combine each field, of 16 numbers at most, with the same field of the other, by `+`, `|`, `&`, `^`, `.min(..)` or `.max(..)`, and do nothing else; or store results to an array, and combine them after the `sync!()`
//~ 50:17: results of type `Pair` cannot be gathered by this operator: it does not combine them field by field
//~   help: let it combine each field, of 16 numbers at most, with the same field of the other, by `+`, `|`, `&`, `^`, `.min(..)` or `.max(..)`, and do nothing else; or store results to an array, and combine them after the `sync!()`
//~ 51:14: results of type `Pair` cannot be gathered by this operator: it does not combine them field by field
//~   help: let it combine each field, of 16 numbers at most, with the same field of the other, by `+`, `|`, `&`, `^`, `.min(..)` or `.max(..)`, and do nothing else; or store results to an array, and combine them after the `sync!()`
