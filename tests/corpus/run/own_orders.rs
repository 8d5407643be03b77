//! Methods of the program that have names of Rust's: in closures that compare, beside those of `Option`s, and on references.

#[millstream::program]
pub mod program {
    use std::cmp::Ordering;

    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    pub struct X(pub u32, pub u32);

    /// The other way round than Rust's.
    trait Turned {
        fn cmp(&self, other: &Self) -> Ordering;
    }
    impl Turned for f32 {
        fn cmp(&self, other: &f32) -> Ordering {
            other.total_cmp(self)
        }
    }
    fn top<T: Turned>(of: &[T]) -> Option<&T> {
        of.iter().max_by(|x, y| x.cmp(y))
    }

    #[derive(Clone, Copy, PartialEq, PartialOrd)]
    pub struct Y(u32, u32);
    impl Y {
        fn cmp(&self, other: &Y) -> Ordering {
            other.0.cmp(&self.0)
        }
    }

    impl X {
        /// Not asked of a reference: that has an order of its own.
        fn max(self, other: &X) -> X {
            X(self.0 * 100 + other.0, self.1)
        }
    }

    trait State {
        fn is_some(self) -> bool;
        fn take(self) -> Option<u32>;
        fn is_none(&self) -> bool;
    }
    impl State for Option<u32> {
        fn is_some(self) -> bool {
            false
        }
        fn take(self) -> Option<u32> {
            Some(77)
        }
        fn is_none(&self) -> bool {
            true
        }
    }
    fn is_none(of: &Option<u32>) -> bool {
        of.is_none()
    }

    #[task]
    pub fn orders(n: u32) -> [u32; 7] {
        if n > 3 {
            let below = spawn!(orders(n - 1));
            sync!();
            return below;
        }
        let mut of = [Y(n, 2), Y(1, 1), Y(9, 3)];
        let most = of.iter().max_by(|x, y| x.cmp(y)).map_or(0, |y| y.0);
        let least = of.iter().min_by(|x, y| x.cmp(y)).map_or(0, |y| y.0);
        let copied = of.iter().copied().max_by(|x, y| x.cmp(y)).unwrap().0;
        of.sort_by(|x, y| x.cmp(y));
        let float = top(&[1.0f32, n as f32, 2.0]).map_or(0, |x| *x as u32);
        let (x, y) = (X(n, 0), X(2, 1));
        let (r, q) = (&x, &y);
        [most, least, copied, of[0].0, float, r.max(q).0, x.max(q).0]
    }

    #[task]
    pub fn options(n: u32) -> (bool, Option<u32>, bool, bool) {
        let o = Some(n);
        let found = (o.is_some(), o.take(), is_none(&o), State::is_none(&o));
        sync!();
        found
    }
}

millstream_tests::cases! {
    orders(3);
    orders(5);
    options(4);
}
