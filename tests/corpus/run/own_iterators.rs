//! Iterators of the program: `impl Iterator`.

#[millstream::program]
pub mod program {
    #[derive(Clone)]
    struct Fib { a: u64, b: u64 }
    impl Iterator for Fib {
        type Item = u64;
        fn next(&mut self) -> Option<Self::Item> {
            let x = self.a;
            (self.a, self.b) = (self.b, x + self.b);
            Some(x)
        }
    }
    struct Grid<'a, T> { data: &'a [T], at: usize, step: usize }
    impl<'a, T: Copy> Iterator for Grid<'a, T> {
        type Item = (usize, &'a T);
        fn next(&mut self) -> Option<(usize, &'a T)> {
            let x = self.data.get(self.at)?;
            let at = self.at;
            self.at += self.step;
            Some((at, x))
        }
    }
    struct Countdown(u32);
    impl Iterator for Countdown {
        type Item = u32;
        fn next(&mut self) -> Option<u32> {
            self.0 = self.0.checked_sub(1)?;
            Some(self.0)
        }
    }
    impl Countdown { fn take(&self, n: u32) -> u32 { self.0 * n } fn twice(&self) -> u32 { self.take(2) } }
    fn every<T>(data: &[T], step: usize) -> Grid<'_, T> { Grid { data, at: 0, step } }
    fn drain(it: &mut Countdown) -> u32 {
        let mut n = 0;
        for x in it { n += x; if x == 7 { break; } }
        n
    }
    fn total(it: impl Iterator<Item = u32>) -> u32 { let mut n = 0; for x in it { n += 2 * x; } n }
    fn longest<I: Iterator<Item = u32>>(it: I) -> Option<u32> { it.filter(|x| x % 3 == 1).max() }

    #[task]
    fn child(x: u64) -> u64 { x * x }

    #[task]
    pub fn all(n: u32) -> ([u64; 8], [u32; 10], Option<u64>) {
        let mut out = [0; 8];
        let mut k = 0;
        for x in (Fib { a: 0, b: 1 }).skip(2).step_by(2).take(8) {
            out[k] = spawn!(child(x));
            k += 1;
        }
        sync!();
        let mut fib = Fib { a: 1, b: 2 };
        let big = fib.find(|x| *x > 50);
        let after = fib.next();
        let some = fib.by_ref().take_while(|x| *x < 1000).count() + fib.by_ref().filter(|x| x % 2 == 0).take(2).count();
        let then = fib.clone().next();
        let data = [3u32, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5];
        let s: u32 = every(&data, 3).map(|(i, x)| i as u32 * *x).sum();
        let z = every(&data, 2).zip(&data).filter(|((_, a), b)| a == b).count() as u32;
        let y = data.iter().zip(Countdown(5)).map(|(a, b)| a * b).sum::<u32>();
        let mut c = Countdown(n);
        let d = drain(&mut c);
        let rest = c.0 + c.twice();
        let nested = (1..5).flat_map(|i| Countdown(i)).sum::<u32>();
        let e = Countdown(6).enumerate().fold(0, |h, (i, x)| h * 3 + i as u32 * x);
        let mut last = 0;
        'outer: for x in Countdown(9) {
            for y in Countdown(x) {
                if x * y == 12 { last = x * 100 + y; break 'outer; }
                if y == 2 { continue 'outer; }
            }
        }
        let mut it = Countdown(4);
        let mut w = 0;
        while let Some(x) = it.next() { w = w * 10 + x; if it.any(|y| y == 2) { w += 500; } }
        let t = total(Countdown(5)) + longest(Countdown(12)).unwrap_or(0);
        (out, [s, z, y, d, rest, nested, e, last, w, t], big.zip(after).map(|(a, b)| a * b + some as u64 + then.unwrap_or(0)))
    }
}

millstream_tests::cases! {
    all(20);
    all(0);
}
