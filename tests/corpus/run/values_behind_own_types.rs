//! Types that stand for what they hold, by `Deref`, `DerefMut`, `AsRef` and `AsMut`: stacks that are slices, and structs with more fields than their own.

#[millstream::program]
pub mod program {
    use std::ops::{Deref, DerefMut};
    #[derive(Clone, Copy, Debug)]
    pub struct ArrayVec<T, const N: usize> {
        buf: [T; N],
        len: usize,
    }
    impl<T: Copy + Default, const N: usize> ArrayVec<T, N> {
        fn new() -> Self {
            Self {
                buf: [T::default(); N],
                len: 0,
            }
        }
        fn push(&mut self, t: T) {
            self.buf[self.len] = t;
            self.len += 1;
        }
        fn pop(&mut self) -> Option<T> {
            self.len = self.len.checked_sub(1)?;
            Some(self.buf[self.len])
        }
        fn last_two(&self) -> Option<(T, T)> {
            match **self {
                [.., ref a, ref b] => Some((*a, *b)),
                _ => None,
            }
        }
    }
    impl<T, const N: usize> Deref for ArrayVec<T, N> {
        type Target = [T];
        fn deref(&self) -> &[T] {
            &self.buf[..self.len]
        }
    }
    impl<T, const N: usize> DerefMut for ArrayVec<T, N> {
        fn deref_mut(&mut self) -> &mut Self::Target {
            &mut self.buf[..self.len]
        }
    }
    impl<T, const N: usize> AsRef<[T]> for ArrayVec<T, N> {
        fn as_ref(&self) -> &[T] {
            self
        }
    }
    impl<T, const N: usize> AsMut<[T]> for ArrayVec<T, N> {
        fn as_mut(&mut self) -> &mut [T] {
            &mut *self
        }
    }
    #[derive(Clone, Copy, Default)]
    pub struct Inner {
        a: u32,
        b: [u32; 4],
    }
    impl Inner {
        fn sum(&self) -> u32 {
            self.a + self.b.iter().sum::<u32>()
        }
        fn bump(&mut self, by: u32) {
            self.a += by;
        }
    }
    #[derive(Clone, Copy, Default)]
    pub struct Guard {
        inner: Inner,
        reads: u32,
    }
    impl Deref for Guard {
        type Target = Inner;
        fn deref(&self) -> &Inner {
            &self.inner
        }
    }
    impl DerefMut for Guard {
        fn deref_mut(&mut self) -> &mut Inner {
            self.reads += 1;
            &mut self.inner
        }
    }
    pub struct Shared<'a> {
        all: &'a [u32],
    }
    impl<'a> Deref for Shared<'a> {
        type Target = [u32];
        fn deref(&self) -> &[u32] {
            self.all
        }
    }
    fn total(xs: &[u32]) -> u32 {
        xs.iter().sum()
    }
    fn double(xs: &mut [u32]) {
        for x in xs {
            *x *= 2;
        }
    }
    fn any_total<S: AsRef<[u32]>>(s: &S) -> u32 {
        s.as_ref().iter().map(|x| x + 1).sum()
    }
    fn clear(mut s: impl AsMut<[u32]>) -> u32 {
        let m = s.as_mut();
        m[0] = 100;
        m.iter().sum()
    }
    fn longest<'a, D: Deref<Target = [u32]>>(a: &'a D, b: &'a D) -> &'a [u32] {
        if a.len() >= b.len() { a } else { b }
    }
    #[task]
    pub fn sums(xs: &[u32]) -> u32 {
        if xs.len() <= 1 {
            return xs.first().copied().unwrap_or(0);
        }
        let (a, b) = xs.split_at(xs.len() / 2);
        let (x, y) = (spawn!(sums(a)), spawn!(sums(b)));
        sync!();
        x + 3 * y
    }
    #[task]
    pub fn fill(xs: &mut [u32], by: u32) {
        for (i, x) in xs.iter_mut().enumerate() {
            *x += by * i as u32;
        }
    }
    #[task]
    pub fn behind(n: u32) -> (u32, u32, u32, u32, (u32, u32), u32) {
        let mut v = ArrayVec::<u32, 16>::new();
        for i in 0..n {
            v.push(i * 7 % 11);
        }
        v.sort_unstable();
        v.swap(0, 1);
        v[0] += 5;
        double(&mut v[..2]);
        double(&mut v);
        let t = total(&v) + total(&v[1..]) + v.len() as u32 + v.contains(&4) as u32;
        for x in v.iter_mut().rev() {
            *x += 1;
        }
        if let Some(l) = v.last_mut() {
            *l *= 3;
        }
        let w = v.windows(2).filter(|w| w[0] < w[1]).count() as u32
            + v.iter().max().copied().unwrap()
            + v.first().map_or(0, |x| *x);
        let s = spawn!(sums(&v));
        sync!();
        spawn!(fill(&mut v, 2));
        sync!();
        let (l, r) = v.split_at_mut(1);
        l[0] += r.len() as u32;
        let top = v.pop().unwrap();
        let mut g = Guard::default();
        g.bump(n);
        g.b[2] = 5;
        g.a += 2;
        let gs = g.sum() * 10 + g.reads + g.b.len() as u32 + g.a;
        let sh = Shared { all: &[1, 2, 3] };
        let copy = *g;
        let mut u = v;
        u.pop();
        (
            t,
            w,
            s + top,
            gs + sh.iter().sum::<u32>() + sh[1] + copy.a,
            v.last_two().unwrap_or((9, 9)),
            any_total(&v) + clear(v) + any_total(&[1u32, 2]) + longest(&v, &u).len() as u32,
        )
    }

    // It is no `Clone`, so what it stands for is cloned.
    pub struct Lent<'a> {
        cells: &'a mut [u32; 2],
    }
    impl std::ops::Deref for Lent<'_> {
        type Target = [u32; 2];
        fn deref(&self) -> &[u32; 2] {
            self.cells
        }
    }

    #[task]
    pub fn cloned(n: u32) -> (u32, u32) {
        let mut cells = [n, 2];
        let lent = Lent { cells: &mut cells };
        let own = lent.clone();
        lent.cells[0] = 9;
        (own[0], lent[0])
    }
}

millstream_tests::cases! {
    behind(9);
    behind(2);
    sums(&[1, 2, 3, 4, 5]);
    cloned(5);
}
