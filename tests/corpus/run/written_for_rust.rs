//! What is written for Rust's type checker or its library and means less here: `&dyn` parameters, `PhantomData`, `Extend`, `size_of`.
#[millstream::program]
pub mod program {
    use std::marker::PhantomData;

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Id<T> {
        pub index: u32,
        pub of: PhantomData<T>,
    }

    impl<T> Id<T> {
        const fn new(index: u32) -> Self {
            Self { index, of: PhantomData }
        }
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Node {
        pub weight: u8,
        pub near: [u32; 3],
    }

    trait Shape {
        fn area(&self) -> u64;
    }

    struct Square(u64);

    struct Point;

    impl Shape for Square {
        fn area(&self) -> u64 {
            self.0 * self.0
        }
    }

    impl Shape for Point {
        fn area(&self) -> u64 {
            0
        }
    }

    #[derive(Clone, Copy, Default)]
    struct Set(u64);

    impl Extend<u32> for Set {
        fn extend<I: IntoIterator<Item = u32>>(&mut self, items: I) {
            for item in items {
                self.0 |= 1 << item;
            }
        }
    }

    fn twice(f: &dyn Fn(u64) -> u64, x: u64) -> u64 {
        f(f(x))
    }

    fn each(n: u64, f: &mut dyn FnMut(u64)) {
        (0..n).for_each(|i| f(i));
    }

    fn doubled(shape: &dyn Shape) -> u64 {
        shape.area() * 2
    }

    fn next(x: u64) -> u64 {
        x + 1
    }

    #[task]
    pub fn weight(nodes: &[Node], at: Id<Node>, steps: u32) -> (Id<Node>, u64) {
        let node = nodes[at.index as usize];
        if steps == 0 {
            return (at, u64::from(node.weight));
        }
        let mut best = (at, 0);
        for to in node.near {
            let found = spawn!(weight(nodes, Id::new(to), steps - 1));
            sync!();
            if found.1 >= best.1 {
                best = found;
            }
        }
        (best.0, best.1 + u64::from(node.weight))
    }

    #[task]
    pub fn heaviest(nodes: &[Node], at: u32, steps: u32) -> (u32, u64) {
        let end = spawn!(weight(nodes, Id::new(at), steps));
        sync!();
        (end.0.index, end.1)
    }

    #[task]
    pub fn others(n: u64) -> (u64, u64, u64, usize) {
        let mut sum = 0;
        each(n, &mut |i| sum += i * i);
        let mut set = Set::default();
        set.extend([7, 9]);
        set.extend(0..3);
        let areas = doubled(&Square(n)) + doubled(&Point);
        let sizes = size_of::<Node>() * 100 + std::mem::size_of::<[u16; 3]>();
        (twice(&|x| x * n, 2) + twice(&next, n), sum + areas, set.0, sizes)
    }
}
millstream_tests::cases! {
    heaviest(&vec![program::Node { weight: 3, near: [1, 2, 0] }, program::Node { weight: 9, near: [0, 0, 2] }, program::Node { weight: 5, near: [1, 1, 0] }], 0, 3);
    others(5);
}
