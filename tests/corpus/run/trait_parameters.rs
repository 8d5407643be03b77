//! Traits with parameters, and what follows of them; functions without `self`; random numbers by strategy.

#[millstream::program]
pub mod program {
    trait Layer<const IN: usize, const OUT: usize> {
        const NAME: u8;
        fn apply(&self, x: [i32; IN]) -> [i32; OUT];
        fn cost() -> usize {
            IN * OUT
        }
    }
    struct Dense<const IN: usize, const OUT: usize> {
        w: [[i32; IN]; OUT],
    }
    impl<const IN: usize, const OUT: usize> Layer<IN, OUT> for Dense<IN, OUT> {
        const NAME: u8 = b'd';
        fn apply(&self, x: [i32; IN]) -> [i32; OUT] {
            let mut y = [0; OUT];
            for o in 0..OUT {
                for i in 0..IN {
                    y[o] += self.w[o][i] * x[i];
                }
            }
            y
        }
    }
    struct Relu;
    impl<const N: usize> Layer<N, N> for Relu {
        const NAME: u8 = b'r';
        fn apply(&self, x: [i32; N]) -> [i32; N] {
            let mut y = x;
            for v in y.iter_mut() {
                if *v < 0 {
                    *v = 0;
                }
            }
            y
        }
        fn cost() -> usize {
            N
        }
    }
    fn two<const A: usize, const B: usize, const C: usize, F: Layer<A, B>, G: Layer<B, C>>(
        f: &F,
        g: &G,
        x: [i32; A],
    ) -> [i32; C] {
        g.apply(f.apply(x))
    }
    fn cost<const A: usize, const B: usize, L: Layer<A, B>>(_l: &L) -> usize {
        L::cost() + L::NAME as usize
    }
    trait Rng {
        fn new(seed: u64) -> Self;
        fn next(&mut self) -> u64;
        fn below(&mut self, n: u64) -> u64 {
            self.next() % n
        }
        fn take<const N: usize>(&mut self) -> [u64; N] {
            let mut a = [0; N];
            for x in a.iter_mut() {
                *x = self.below(100);
            }
            a
        }
    }
    #[derive(Clone, Copy)]
    struct Lcg {
        s: u64,
    }
    struct Xor(u64);
    impl Rng for Lcg {
        fn new(seed: u64) -> Self {
            Lcg { s: seed }
        }
        fn next(&mut self) -> u64 {
            self.s = self.s.wrapping_mul(6364136223846793005).wrapping_add(1);
            self.s >> 33
        }
    }
    impl Rng for Xor {
        fn new(seed: u64) -> Self {
            Self(seed | 1)
        }
        fn next(&mut self) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0
        }
        fn below(&mut self, n: u64) -> u64 {
            (self.next() >> 8) % n
        }
    }
    impl Lcg {
        fn next(&self) -> u64 {
            3
        }
        fn new() -> Self {
            Lcg { s: 0 }
        }
    }
    fn pi<R: Rng>(seed: u64, n: u32) -> u32 {
        let mut r = R::new(seed);
        let mut hits = 0;
        for _ in 0..n {
            let (x, y) = (r.below(1000), r.below(1000));
            if x * x + y * y < 1_000_000 {
                hits += 1;
            }
        }
        hits
    }
    fn sum<R: Rng>(r: &mut R) -> u64 {
        let a: [u64; 5] = r.take();
        a.iter().sum::<u64>() + r.take::<2>()[1]
    }
    #[task]
    pub fn monte(seed: u64, n: u32) -> u32 {
        if n <= 100 {
            return pi::<Xor>(seed, n) + pi::<Lcg>(seed, n);
        }
        let a = spawn!(monte(seed * 2, n / 2));
        let b = spawn!(monte(seed * 2 + 1, n / 2));
        sync!();
        a + b
    }
    #[task]
    pub fn run(n: i32) -> ([i32; 3], usize, u32, u64) {
        let d = Dense {
            w: [[1, n], [-2, 1], [n, -1]],
        };
        let l = Lcg::new();
        let m = spawn!(monte(3, 400));
        sync!();
        (
            two(&d, &Relu, [3, 4]),
            cost::<2, 3, _>(&d) + <Relu as Layer<7, 7>>::cost(),
            m,
            sum(&mut Xor::new(5)) + l.next() + sum(&mut <Lcg as Rng>::new(9)),
        )
    }
}

millstream_tests::cases! {
    run(2);
    monte(5, 1000);
}
