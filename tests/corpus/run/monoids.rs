//! Monoids, also of tuples and of `Option`s: reductions and scans whose results are put together by traits.

#[millstream::program]
pub mod program {

    pub trait Monoid: Copy {
        const IDENTITY: Self;
        fn combine(self, other: Self) -> Self;

        fn concat(items: &[Self]) -> Self where Self: Sized {
            items.iter().fold(Self::IDENTITY, |a, &b| a.combine(b))
        }
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Sum(pub i64);
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Max(pub i64);
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Affine { pub a: i64, pub b: i64 }

    impl Monoid for Sum {
        const IDENTITY: Self = Sum(0);
        fn combine(self, Sum(b): Self) -> Self { Sum(self.0 + b) }
    }
    impl Monoid for Max {
        const IDENTITY: Self = Self(i64::MIN);
        fn combine(self, other: Self) -> Self { Self(self.0.max(other.0)) }
    }
    impl Monoid for Affine {
        const IDENTITY: Self = Affine { a: 1, b: 0 };
        fn combine(self, other: Self) -> Self {
            const P: i64 = 1_000_003;
            Affine { a: self.a * other.a % P, b: (self.b * other.a + other.b) % P }
        }
    }
    impl<A: Monoid, B: Monoid> Monoid for (A, B) {
        const IDENTITY: Self = (A::IDENTITY, B::IDENTITY);
        fn combine(self, other: Self) -> Self { (self.0.combine(other.0), self.1.combine(other.1)) }
    }
    impl<M: Monoid> Monoid for Option<M> {
        const IDENTITY: Self = None;
        fn combine(self, other: Self) -> Self {
            match (self, other) {
                (Some(a), Some(b)) => Some(a.combine(b)),
                (a, b) => a.or(b),
            }
        }
    }

    fn map_reduce<T: Copy, M: Monoid, F: Fn(T) -> M>(items: &[T], f: F) -> M {
        let mut acc = M::IDENTITY;
        for &x in items {
            acc = acc.combine(f(x));
        }
        acc
    }

    #[task]
    pub fn reduce(items: &[i32]) -> ((Sum, Max), Option<Affine>) {
        if items.len() <= 3 {
            return map_reduce(items, |x| ((Sum(x.into()), Max(x as i64)), (x >= 0).then(|| Affine { a: x as i64, b: 1 })));
        }
        let (l, r) = items.split_at(items.len() / 2);
        let a = spawn!(reduce(l));
        let b = spawn!(reduce(r));
        sync!();
        a.combine(b)
    }

    #[task]
    pub fn of_all(items: [i64; 4]) -> (Max, Option<Sum>) {
        (Max::concat(&items.map(Max)), Monoid::concat(&[None, Some(Sum(items[0])), Some(Sum(items[1]))]))
    }

    #[task]
    fn sums(items: &[i64], tree: &mut [i64]) -> i64 {
        let total = if items.len() == 1 {
            items[0]
        } else {
            let mid = items.len() / 2;
            let (a, b) = items.split_at(mid);
            let (_, rest) = tree.split_first_mut().unwrap();
            let (ta, tb) = rest.split_at_mut(2 * mid - 1);
            let x = spawn!(sums(a, ta));
            let y = spawn!(sums(b, tb));
            sync!();
            x + y
        };
        tree[0] = total;
        total
    }

    #[task]
    fn down(items: &mut [i64], tree: &[i64], before: i64) {
        match items {
            [] => {}
            [x] => *x += before,
            many => {
                let mid = many.len() / 2;
                let (a, b) = many.split_at_mut(mid);
                let (ta, tb) = tree[1..].split_at(2 * mid - 1);
                spawn!(down(a, ta, before));
                spawn!(down(b, tb, before + ta[0]));
            }
        }
    }

    #[task]
    pub fn scan(items: &mut [i64], tree: &mut [i64]) -> i64 {
        let total = spawn!(sums(&*items, tree));
        sync!();
        spawn!(down(items, tree, 0));
        sync!();
        total
    }
}
fn items(n: usize) -> Vec<i32> { (0..n).map(|i| ((i * 37) % 23) as i32 - 11).collect() }
fn wide(n: usize) -> Vec<i64> { items(n).into_iter().map(i64::from).collect() }
millstream_tests::cases! { reduce(&items(20)); of_all([3, -4, 9, 2]); scan(&mut wide(13), &mut vec![0; 25]); }
