//! What has no operator cannot be gathered, nor what has one that does not combine field by field.

#[millstream::program]
pub mod program {
    use std::ops::{Add, AddAssign, BitXorAssign};

    #[task]
    pub fn pair(n: u32) -> (u32, u32) {
        (n, n)
    }

    #[task]
    pub fn sum(n: u32) -> (u32, u32) {
        let mut total = (0, 0);
        for i in 0..n {
            total += spawn!(pair(i));
        }
        sync!();
        total
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Mean {
        pub sum: u32,
        pub count: u32,
    }

    /// Its second field is not one of the other's.
    impl AddAssign for Mean {
        fn add_assign(&mut self, other: Mean) {
            self.sum += other.sum;
            self.count += 1;
        }
    }

    /// It leaves a field as it is.
    impl BitXorAssign for Mean {
        fn bitxor_assign(&mut self, other: Mean) {
            self.sum ^= other.sum;
        }
    }

    /// Fields change places.
    impl Add for Mean {
        type Output = Mean;
        fn add(self, other: Mean) -> Mean {
            Mean { sum: self.count + other.count, count: self.sum + other.sum }
        }
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Least(pub f32, pub [u8; 2]);

    /// An array is not combined.
    impl AddAssign for Least {
        fn add_assign(&mut self, other: Least) {
            self.0 += other.0;
            self.1[0] += other.1[0];
            self.1[1] += other.1[1];
        }
    }

    #[task]
    pub fn mean(n: u32) -> Mean {
        Mean { sum: n, count: 1 }
    }

    #[task]
    pub fn least(n: u32) -> Least {
        Least(n as f32, [0, 1])
    }

    #[task]
    pub fn all(n: u32) -> Mean {
        let mut m = Mean { sum: 0, count: 0 };
        m += spawn!(mean(n));
        m ^= spawn!(mean(n));
        m = m + spawn!(mean(n));
        let mut most = Least(0.0, [0, 0]);
        most += spawn!(least(n));
        most = most.max(spawn!(least(n)));
        sync!();
        m
    }
}

//~ 16:22: results of type `(u32, u32)` cannot be gathered
//~   help: gather numbers, or structs whose operator combines them field by field: `impl AddAssign`; or spawn a task for each field, or store to an array
//~ 76:14: results of type `Mean` cannot be gathered by this operator: it does not combine them field by field
//~   help: let it combine each field, of 16 numbers at most, with the same field of the other, by `+`, `|`, `&`, `^`, `.min(..)` or `.max(..)`, and do nothing else; or store results to an array, and combine them after the `sync!()`
//~ 77:14: results of type `Mean` cannot be gathered by this operator: it does not combine them field by field
//~   help: let it combine each field, of 16 numbers at most, with the same field of the other, by `+`, `|`, `&`, `^`, `.min(..)` or `.max(..)`, and do nothing else; or store results to an array, and combine them after the `sync!()`
//~ 78:17: results of type `Mean` cannot be gathered by this operator: it does not combine them field by field
//~   help: let it combine each field, of 16 numbers at most, with the same field of the other, by `+`, `|`, `&`, `^`, `.min(..)` or `.max(..)`, and do nothing else; or store results to an array, and combine them after the `sync!()`
//~ 80:17: results of type `Least` cannot be gathered by this operator: it does not combine them field by field
//~   help: let it combine each field, of 16 numbers at most, with the same field of the other, by `+`, `|`, `&`, `^`, `.min(..)` or `.max(..)`, and do nothing else; or store results to an array, and combine them after the `sync!()`
//~ 81:25: results of type `Least` cannot be gathered
//~   help: gather numbers, or structs whose operator combines them field by field: `impl AddAssign`; or spawn a task for each field, or store to an array
