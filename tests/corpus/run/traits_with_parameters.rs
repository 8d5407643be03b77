//! A trait that a type has for several parameters: which is meant is told by what is given and what is wanted.

#[millstream::program]
pub mod program {
    trait Into2<T> {
        fn into2(self) -> T;
    }
    impl Into2<f32> for u32 {
        fn into2(self) -> f32 {
            self as f32 * 0.5
        }
    }
    impl Into2<u64> for u32 {
        fn into2(self) -> u64 {
            self as u64 + 1
        }
    }
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct V(pub f32, pub f32);
    trait Times<R> {
        type Out;
        fn times(self, r: R) -> Self::Out;
    }
    impl Times<f32> for V {
        type Out = V;
        fn times(self, r: f32) -> V {
            V(self.0 * r, self.1 * r)
        }
    }
    impl Times<V> for V {
        type Out = f32;
        fn times(self, r: V) -> f32 {
            self.0 * r.0 + self.1 * r.1
        }
    }
    impl Times<bool> for V {
        type Out = u8;
        fn times(self, r: bool) -> Self::Out {
            r as u8
        }
    }
    fn sq<T: Times<T> + Copy>(x: T) -> <T as Times<T>>::Out {
        x.times(x)
    }
    fn dbl<T>(x: T) -> T::Out
    where
        T: Times<f32>,
    {
        x.times(2.0)
    }
    fn lerp<T: Copy, U: Copy>(x: T, y: U) -> <T as Times<U>>::Out
    where
        T: Times<U>,
    {
        x.times(y)
    }
    #[task]
    pub fn run(n: u32) -> (f32, u64, V, f32, f32, V, u8) {
        let f: f32 = n.into2();
        let u: u64 = n.into2();
        let v = V(1.0, n as f32);
        let s = spawn!(sub(n));
        sync!();
        (
            f + s,
            u,
            v.times(2.0),
            v.times(v),
            sq(v),
            dbl(v),
            lerp(v, true) + v.times(false),
        )
    }
    #[task]
    pub fn sub(n: u32) -> f32 {
        V(n as f32, 1.0).times(3.0).times(V(1.0, 1.0))
    }
}

millstream_tests::cases! {
    run(6);
}
