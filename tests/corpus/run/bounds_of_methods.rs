//! Bounds that a method of a block with parameters asks for, and that follow of those of traits.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
    pub struct K(pub u32);
    impl K {
        fn max(self, _o: K) -> K {
            K(1000)
        }
        fn half(&self) -> u32 {
            2000
        }
        fn cmp(&self, _o: &K) -> u32 {
            9
        }
    }
    trait Half {
        fn half(&self) -> u32;
        fn top(self, o: Self) -> u32
        where
            Self: Ord + Sized + Copy,
        {
            self.max(o).half() + Half::half(&self.min(o))
        }
        fn gene2<X: Half>(&self, x: X) -> u32
        where
            Self: Sized,
        {
            self.half() + x.half()
        }
    }
    impl Half for K {
        fn half(&self) -> u32 {
            self.0 / 2
        }
    }
    struct Bag<T, const N: usize> {
        a: [T; N],
    }
    impl<T, const N: usize> Bag<T, N> {
        fn max(&self) -> T
        where
            T: Ord + Copy,
        {
            let mut m = self.a[0];
            for x in self.a {
                m = m.max(x);
            }
            m
        }
        fn halves(&self) -> u32
        where
            T: Half,
        {
            let mut s = 0;
            for x in self.a.iter() {
                s += x.half();
            }
            s + self.a[N - 1].half()
        }
        fn both<U>(&self, u: U) -> u32
        where
            T: Half + Copy,
            U: Into2<T> + Copy,
        {
            u.into2().half() + self.a[0].half()
        }
        fn order(&self) -> bool
        where
            T: Ord,
        {
            self.a.windows(2).all(|w| w[0].cmp(&w[1]).is_le())
        }
        fn order2(&self) -> bool
        where
            T: PartialOrd,
        {
            (1..N).all(|i| self.a[i - 1].partial_cmp(&self.a[i]).is_some_and(|o| o.is_le()))
        }
    }
    trait Into2<T> {
        fn into2(self) -> T;
    }
    impl Into2<K> for u32 {
        fn into2(self) -> K {
            K(self * 4)
        }
    }
    impl Into2<K> for K {
        fn into2(self) -> K {
            self
        }
    }
    struct S;
    impl S {
        fn gen3<X: Half>(&self, x: X) -> u32
        where
            Self: Sized,
        {
            self.me() + x.half()
        }
        fn me(&self) -> u32 {
            3
        }
    }
    fn sort<T>(a: &mut [T])
    where
        T: Ord + Copy,
    {
        for i in 1..a.len() {
            let mut j = i;
            while j > 0 && a[j].cmp(&a[j - 1]) == std::cmp::Ordering::Less {
                a.swap(j, j - 1);
                j -= 1;
            }
        }
    }
    fn tri<T: Ord>(a: T, b: T) -> u32 {
        match a.cmp(&b) {
            std::cmp::Ordering::Less => 1,
            std::cmp::Ordering::Equal => 2,
            std::cmp::Ordering::Greater => 3,
        }
    }
    fn deref<T: Half>(x: &T, y: &mut T) -> u32 {
        let z = &*x;
        let w: &T = y;
        z.half() + w.half() + (*x).half()
    }
    fn ret<T: Half + Copy>(a: &[T]) -> Option<&T> {
        a.first()
    }
    fn boxed<T: Half + Copy>(a: &[T]) -> u32 {
        let Some(x) = ret(a) else { return 0 };
        let y = if a.len() > 1 { a[1] } else { *x };
        let t = (x.half(), y, [y; 2]);
        t.0 + t.1.half()
            + t.2[1].half()
            + match ret(a) {
                Some(z) if z.half() > 1 => z.half(),
                _ => 5,
            }
    }
    #[task]
    pub fn run(n: u32) -> (K, u32, u32, bool, u32, u32, u32, u32) {
        let b = Bag { a: [K(n), K(9), K(4)] };
        let mut c = [K(5), K(n), K(3)];
        let s = spawn!(sub(n));
        sync!();
        sort(&mut c);
        let mut k = K(8);
        (
            b.max(),
            b.halves(),
            b.both(n) + b.both(K(n)),
            b.order() || b.order2(),
            K(n).top(K(20)) + K(n).gene2(K(30)),
            S.gen3(K(6)) + c[0].0 * 100 + s,
            tri(K(n), K(4)) * 10 + tri(n, 3),
            deref(&K(n), &mut k) + boxed(&c) + boxed(&[K(n)]) + K(3).half() + K(3).max(K(4)).0 + K(3).cmp(&K(4)),
        )
    }
    #[task]
    pub fn sub(n: u32) -> u32 {
        Bag { a: [K(n); 2] }.halves()
    }
}

millstream_tests::cases! {
    run(6);
}
