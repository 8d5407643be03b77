//! Macros that write enums and impls, and closures that are handed on to what is handed one itself; literals that only a closure decides on.

#[millstream::program]
pub mod program {
    // macro corner cases and recursion corner cases
    macro_rules! m { ($($a:ident = $b:expr;)+) => { $(let $a = $b;)+ }; }
    macro_rules! hash_map { ($($k:expr => { $($v:expr),* }),* $(,)?) => { [$( ($k, [$($v),*].iter().sum::<u32>()) ),*] }; }
    macro_rules! pat {
        ($p:pat) => {
            |x: u32| matches!(x, $p)
        };
    }
    macro_rules! impl_all { ($tr:ident for $($t:ty),+ ; $body:tt) => { $(impl $tr for $t $body)+ }; }
    trait Twice {
        fn twice(self) -> Self;
    }
    impl_all!(Twice for u32, u64, f32; { fn twice(self) -> Self { self + self } });
    macro_rules! enumm { ($n:ident { $($v:ident),* }) => { #[derive(Clone, Copy, PartialEq, Debug)] pub enum $n { $($v),* } impl $n { const ALL: &'static [$n] = &[$($n::$v),*]; } }; }
    enumm!(Dir { N, E, S, W });
    fn ways(n: u32, f: impl Fn(u32) -> bool + Copy) -> u32 {
        if n == 0 {
            1
        } else {
            let mut s = 0;
            for k in 1..=3.min(n) {
                if f(n - k) {
                    s += ways(n - k, f);
                }
            }
            s
        }
    }
    fn walk<T, F>(xs: &[T], f: &mut F)
    where
        F: FnMut(&T),
        T: Copy,
    {
        if let Some((x, rest)) = xs.split_first() {
            f(x);
            walk(rest, f)
        }
    }
    fn pairs<A: Copy, B: Copy>(a: &[A], b: &[B], mut f: impl FnMut(A, B)) {
        fn go<A: Copy, B: Copy>(a: &[A], b: &[B], f: &mut impl FnMut(A, B)) {
            if let ([x, xs @ ..], [y, ys @ ..]) = (a, b) {
                f(*x, *y);
                go(xs, ys, f);
            }
        }
        go(a, b, &mut f)
    }
    fn nested(n: u32, f: &mut impl FnMut(u32)) {
        if n > 0 {
            walk(&[n, n + 1], &mut |x| f(*x));
            nested(n - 1, f);
        }
    }
    fn count(n: u32, pred: &mut dyn FnMut(u32) -> bool, all: &mut [u32]) -> usize {
        if n == 0 {
            return 0;
        }
        let hit = pred(n);
        if hit {
            all[n as usize % 4] += 1;
        }
        count(n - 1, pred, all) + usize::from(hit)
    }
    #[task]
    pub fn run(
        n: u32,
    ) -> (
        u32,
        [(u32, u32); 2],
        bool,
        f32,
        usize,
        u32,
        u32,
        u32,
        u32,
        usize,
        [u32; 4],
    ) {
        m! { a = n + 1; b = a * 2; }
        let t = hash_map! { 1 => { 1, 2, 3 }, 2 => { n } };
        let p = pat!(1..=5 | 9);
        let bad = [3, 7];
        let w = ways(n + 3, |x| !bad.contains(&x));
        let mut s = 0;
        walk(&[1u8, 2, 3], &mut |x| s = s * 10 + u32::from(*x));
        let mut dot = 0;
        pairs(&[1, 2, 3], &[4u8, 5, 6], |x, y| dot += x * u32::from(y));
        let mut acc = 0;
        nested(n, &mut |x| acc = acc * 3 + x);
        let mut seen = [0; 4];
        let mut last = 0;
        let c = count(
            n * 3,
            &mut |x| {
                let r = x % 3 != last;
                last = x % 2;
                r
            },
            &mut seen,
        );
        (
            a + b,
            t,
            p(n),
            1.5f32.twice() + n.twice() as f32,
            Dir::ALL.len(),
            w,
            s,
            dot,
            acc,
            c,
            seen,
        )
    }
}

millstream_tests::cases! {
    run(5);
    run(2);
}
