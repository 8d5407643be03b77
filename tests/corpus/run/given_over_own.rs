//! Iterators that functions give over iterators of the program: digits, primes, bits; products of matrices, and closures that are called at once.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct M<const N: usize>([[i64; N]; N]);
    impl<const N: usize> std::ops::Mul for M<N> { type Output = Self; fn mul(self, o: Self) -> Self { M(std::array::from_fn(|i| std::array::from_fn(|j| (0..N).map(|k| self.0[i][k] * o.0[k][j] % 1_000_007).sum::<i64>() % 1_000_007))) } }
    impl<const N: usize> M<N> { fn id() -> Self { M(std::array::from_fn(|i| std::array::from_fn(|j| (i == j) as i64))) } }
    impl<const N: usize> std::iter::Product for M<N> { fn product<I: Iterator<Item = Self>>(it: I) -> Self { it.fold(Self::id(), |a, b| a * b) } }
    struct Fib { a: u64, b: u64 }
    impl Iterator for Fib { type Item = u64; fn next(&mut self) -> Option<u64> { let r = self.a; (self.a, self.b) = (self.b, self.a + self.b); Some(r) } }
    fn fib() -> Fib { Fib { a: 0, b: 1 } }
    fn evens() -> impl Iterator<Item = u64> { fib().filter(|x| x % 2 == 0) }
    fn primes(n: u32) -> impl Iterator<Item = u32> { (2..n).filter(|&p| (2..p).take_while(|d| d * d <= p).all(|d| p % d != 0)) }
    fn digits(mut n: u64) -> impl Iterator<Item = u64> { std::iter::from_fn(move || if n == 0 { None } else { let d = n % 10; n /= 10; Some(d) }) }
    fn pick<'a>(a: &'a [i32], lo: i32, hi: i32) -> impl Iterator<Item = (usize, &'a i32)> + 'a { a.iter().enumerate().filter(move |(_, x)| (lo..=hi).contains(*x)) }
    fn best<F>(a: &[i32], score: F) -> Option<(usize, i32)> where F: Fn(i32) -> i32 { a.iter().map(|&x| score(x)).enumerate().max_by_key(|&(_, s)| s) }
    fn bits(x: u32) -> impl Iterator<Item = u32> { (0..32).filter(move |i| x >> i & 1 == 1) }
    fn gcd(a: u64, b: u64) -> u64 { if b == 0 { a } else { gcd(b, a % b) } }
    const OPS: [u8; 4] = *b"+-*/";
    fn op(c: u8) -> impl Fn(i64, i64) -> i64 { move |a, b| match c { b'+' => a + b, b'-' => a - b, b'*' => a * b, _ => if b != 0 { a / b } else { 0 } } }

    #[task]
    pub fn walk(set: u32, depth: u32) -> u64 {
        if depth == 0 || set == 0 { return 1; }
        let mut n = 0;
        for b in bits(set) { n += spawn!(walk(set & !(1 << b), depth - 1)); }
        sync!();
        n
    }
    #[task]
    pub fn run(n: u64, a: [i32; 7]) -> ([u64; 8], i64, Option<(usize, i32)>, i64) {
        let m = M([[1, 1], [1, 0]]);
        let p: M<2> = std::iter::repeat(m).take(n as usize).product();
        let out = [
            evens().take_while(|&x| x < 4_000_000).sum(),
            primes(100).map(u64::from).sum(),
            digits(n * 987654321).fold(0, |h, d| h * 10 + d),
            digits(n).zip(digits(n * 7)).map(|(a, b)| a * b).sum(),
            pick(&a, -2, 3).map(|(i, x)| i as u64 * 10 + (*x + 2) as u64).sum(),
            fib().skip(5).step_by(2).nth(3).unwrap(),
            primes(50).last().unwrap_or(0) as u64,
            bits(0b1011).map(|b| fib().nth(b as usize).unwrap()).fold(0, gcd),
        ];
        let v = OPS.iter().enumerate().map(|(i, &c)| op(c)(i as i64 + 5, 3)).sum();
        (out, p.0[0][1], best(&a, |x| x * x - 4 * x), v)
    }
}

millstream_tests::cases! {
    run(10, [3, -1, 4, 1, -5, 9, 2]);
    walk(31, 4);
}
