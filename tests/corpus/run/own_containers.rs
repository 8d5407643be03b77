//! A container whose methods have the names of those of slices, options and iterators.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy)]
    pub struct Set<T, const N: usize> {
        a: [T; N],
        n: usize,
    }
    impl<T: Ord + Copy + Default, const N: usize> Set<T, N> {
        fn new() -> Self {
            Set {
                a: [T::default(); N],
                n: 0,
            }
        }
        fn get(&self, i: usize) -> Option<&T> {
            if i < self.n { self.a.get(i) } else { None }
        }
        fn contains(&self, x: &T) -> bool {
            self.a[..self.n].contains(x)
        }
        fn insert(&mut self, x: T) -> bool {
            if self.contains(&x) || self.n == N {
                return false;
            }
            self.a[self.n] = x;
            self.n += 1;
            self.a[..self.n].sort();
            true
        }
        fn first(&self) -> Option<T> {
            self.a[..self.n].first().copied()
        }
        fn last(&self) -> Option<T> {
            self.a[..self.n].last().copied()
        }
        fn max(&self) -> T {
            self.a[..self.n].iter().copied().max().unwrap_or_default()
        }
        fn min(&self, o: T) -> T {
            self.first().map_or(o, |x| x.min(o))
        }
        fn position(&self, x: T) -> Option<usize> {
            self.a[..self.n].iter().position(|y| *y == x)
        }
        fn swap(&mut self, o: &mut Self) {
            std::mem::swap(&mut self.a, &mut o.a);
            std::mem::swap(&mut self.n, &mut o.n);
        }
        fn take(&mut self) -> Option<T> {
            let x = self.last()?;
            self.n -= 1;
            Some(x)
        }
        fn map(&self, f: impl Fn(T) -> T) -> Self {
            let mut s = Self::new();
            for i in 0..self.n {
                s.insert(f(self.a[i]));
            }
            s
        }
        fn count(&self) -> usize {
            self.n
        }
        fn sum(&self) -> usize {
            self.n * 100
        }
        fn len(&self) -> usize {
            self.n
        }
        fn is_some(&self) -> bool {
            self.n > 0
        }
        fn unwrap_or(&self, x: T) -> T {
            self.first().unwrap_or(x)
        }
    }
    #[task]
    pub fn run(n: u32, b: &[u32]) -> (u32, usize, u32, bool, u32, usize) {
        let (mut s, mut t) = (Set::<u32, 8>::new(), Set::<u32, 8>::new());
        for x in [5, n, 3, 5, 8] {
            s.insert(x);
        }
        for &x in b {
            t.insert(x);
        }
        s.swap(&mut t);
        let m = s.map(|x| x / 2);
        let g =
            s.get(0).copied().unwrap_or(77) + t.get(1).map_or(0, |x| *x) + if let Some(x) = m.get(0) { *x } else { 50 };
        let c = s.count() + t.sum() + m.len() + b.len() + b.iter().count();
        let f = match t.first() {
            Some(x) => x,
            None => 9,
        } + t.last().unwrap()
            + *b.first().unwrap_or(&4)
            + t.max()
            + s.min(6)
            + n.min(2)
            + b.iter().copied().max().unwrap_or(1);
        let k = t.take().is_some() && t.is_some() && s.contains(&2) || b.contains(&n);
        let u = spawn!(sub(t.unwrap_or(3), b));
        sync!();
        (
            g,
            c,
            f,
            k,
            u + m.unwrap_or(5),
            t.position(n).unwrap_or(99) + b.iter().position(|x| *x == 2).unwrap_or(9),
        )
    }
    #[task]
    pub fn sub(n: u32, b: &[u32]) -> u32 {
        b.get(n as usize).copied().unwrap_or(n) + b.last().map_or(0, |x| x + 1)
    }
}

millstream_tests::cases! {
    run(4, &[2, 9]);
    run(1, &[]);
}
