//! Enums with parameters: made, taken apart, compared, in structs and tasks; and blocks for what parameters are by default.
#[millstream::program]
pub mod program {
    use std::ops::Add;

    #[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Default)]
    pub enum Tree<T> {
        #[default]
        Empty,
        Leaf(T),
        Pair {
            left: T,
            right: T,
        },
    }

    impl<T: Copy + Add<Output = T> + Default> Tree<T> {
        fn total(&self) -> T {
            match *self {
                Tree::Empty => T::default(),
                Tree::Leaf(x) => x,
                Tree::Pair { left, right } => left + right,
            }
        }

        fn with(self, x: T) -> Self {
            match self {
                Self::Empty => Self::Leaf(x),
                Self::Leaf(y) => Self::Pair { left: y, right: x },
                Self::Pair { left, right } => Self::Pair { left: left + right, right: x },
            }
        }
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum Either<L, R = u32> {
        Left(L),
        Right(R),
    }

    use Either::{Left, Right};

    impl<L: Copy, R: Copy> Either<L, R> {
        fn left(self) -> Option<L> {
            if let Left(l) = self { Some(l) } else { None }
        }

        fn map<S>(self, f: impl FnOnce(R) -> S) -> Either<L, S> {
            match self {
                Left(l) => Left(l),
                Right(r) => Right(f(r)),
            }
        }
    }

    type Part = Either<u8, i64>;

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Vector<T = f32>(pub T, pub T);

    impl Vector {
        fn length(self) -> f32 {
            self.0 + self.1
        }
    }

    fn longest(a: Vector, b: Vector) -> f32 {
        a.length().max(b.length())
    }

    fn wrapped<T: Copy>(xs: &[T], n: usize) -> Either<usize, T> {
        match xs.get(n) {
            Some(&x) => Either::Right(x),
            None => Either::Left(n),
        }
    }

    /// A child's result may be one.
    #[task]
    pub fn gathered(a: &[u32], limit: u32) -> Tree<u32> {
        if a.len() <= 1 {
            return a.first().map_or(Tree::Empty, |&x| if x > limit { Tree::Leaf(x) } else { Tree::Empty });
        }
        let (low, high) = a.split_at(a.len() / 2);
        let (x, y) = (spawn!(gathered(low, limit)), spawn!(gathered(high, limit)));
        sync!();
        match (x, y) {
            (Tree::Empty, other) | (other, Tree::Empty) => other,
            (x, y) if x < y => Tree::Pair { left: x.total(), right: y.total() },
            (x, _) => x.with(1000),
        }
    }

    #[task]
    pub fn run(n: u32) -> (Tree<u32>, f32, Option<u8>, Either<u8, i32>, [Either<usize, u64>; 2], f32, i64) {
        let mut tree = Tree::Leaf(n);
        for i in 0..n {
            tree = tree.with(i);
        }
        let floats: Tree<f32> = Tree::default();
        let one: Either<u8> = if n % 2 == 0 { Left(n as u8) } else { Right(n) };
        let part: Part = Part::Right(n as i64 - 3);
        let Either::<u8, i64>::Right(rest) = part else { return (Tree::Empty, 0.0, None, Left(1), [Left(0); 2], 0.0, 0) };
        let longest = longest(Vector(0.5, 1.5), Vector(n as f32, 0.0));
        let both = [wrapped(&[7u64, 8], 1), wrapped(&[9], n as usize)];
        (tree, floats.with(1.5).with(2.5).total(), one.left(), one.map(|r| -(r as i32)), both, longest, rest)
    }
}

millstream_tests::cases! {
    gathered(&[3, 9, 4, 7, 1, 8], 3);
    gathered(&[3, 9], 20);
    gathered(&[], 0);
    run(7);
    run(8);
}
