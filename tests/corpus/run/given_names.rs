//! Iterators and closures that functions give: names mean what they mean where they stand, and effects come in order.

#[millstream::program]
pub mod program {
    mod inner {
        pub const K: usize = 3;
        pub fn twice(x: usize) -> usize { x * 2 }
        pub fn seq(n: usize) -> impl Iterator<Item = usize> { let k = K; (0..n).map(twice).filter(move |x| x % k != 1).flat_map(move |i| (0..i).map(move |j| j * 2 + k)) }
        pub fn named(n: usize) -> impl Iterator<Item = usize> { (0..n).map(twice) }
    }
    const K: usize = 100;
    fn twice(x: usize) -> usize { x * 1000 }

    #[derive(Clone, Copy)]
    struct Ring<const N: usize> { data: [u32; N], head: usize }
    impl<const N: usize> Ring<N> {
        const SIZE: usize = N;
        fn iter(&self) -> impl Iterator<Item = u32> + '_ { (0..N).map(move |i| self.data[(self.head + i) % Self::SIZE]) }
        fn iter_mut(&mut self) -> std::slice::IterMut<'_, u32> { self.data.iter_mut() }
        fn windows2(&self) -> impl Iterator<Item = (u32, u32)> + '_ { self.iter().zip(self.iter().skip(1)) }
        fn nested(&self) -> impl Iterator<Item = u32> + '_ { (0..2u32).flat_map(move |k| self.data.iter().map(move |x| x + k)) }
    }
    trait Walk { fn steps(&self) -> impl Iterator<Item = u32>; fn total(&self) -> u32 { self.steps().sum() } }
    struct Up(u32);
    struct Down(u32);
    impl Walk for Up { fn steps(&self) -> impl Iterator<Item = u32> { 0..self.0 } }
    impl Walk for Down { fn steps(&self) -> impl Iterator<Item = u32> { (0..self.0).rev().step_by(2) } }

    fn evens<T: Copy>(a: &[T]) -> impl Iterator<Item = T> + '_ { a.iter().step_by(2).copied() }
    fn next(c: &mut u32) -> u32 { *c += 1; *c }
    fn span(lo: u32, hi: u32) -> impl Iterator<Item = u32> + Clone { lo..lo + hi }
    fn sum_twice<I: Iterator<Item = u32> + Clone>(it: I) -> u32 { it.clone().sum::<u32>() * 10 + it.max().unwrap_or(0) }
    fn first_two(mut it: impl Iterator<Item = u32>) -> (Option<u32>, Option<u32>, u32) { let a = it.next(); let b = it.next(); (a, b, it.count() as u32) }
    fn counted(f: impl Fn(u32) -> u32, it: impl IntoIterator<Item = u32>) -> u32 { it.into_iter().map(f).sum() }
    fn adder(by: u32) -> impl Fn(u32) -> u32 { let by = by * 2; move |x| x + by }
    fn compose(f: impl Fn(u32) -> u32, g: impl Fn(u32) -> u32) -> impl Fn(u32) -> u32 { move |x| g(f(x)) }
    fn counter(mut n: u32) -> impl FnMut() -> u32 { move || { n += 3; n } }
    fn find_first(n: u32, skip: u32) -> Option<u32> {
        for x in span(skip, n) { if x % 7 == 0 { return Some(x); } }
        None
    }

    #[task]
    pub fn names(n: usize) -> [usize; 6] {
        let (i, j, k, x) = (50usize, 60usize, 70usize, 80usize);
        let mut out = [0; 6];
        out[0] = inner::seq(n).sum::<usize>() + i + j + k + x;
        for x in inner::named(n) { out[1] += twice(x) + K; }
        out[2] = inner::seq(n).filter(|x| x % k != 3).map(|i| i + j).count();
        let named = inner::named(n);
        let twice = |x: usize| x + 1;
        out[3] = named.map(|x| twice(x)).sum();
        out[4] = (0..3).flat_map(|k| inner::seq(k + 2)).sum::<usize>();
        let ring = Ring { data: [4, 8, 1, 9, 5], head: 2 };
        let data = 7usize;
        out[5] = ring.iter().fold(0, |h, x| h * 10 + x as usize) + data + ring.windows2().map(|(a, b)| (a * b) as usize).sum::<usize>() + ring.nested().sum::<u32>() as usize;
        out
    }
    #[task]
    pub fn effects(n: u32) -> [u32; 12] {
        let mut c = 0;
        let mut out = [0; 12];
        out[0] = span(next(&mut c), next(&mut c)).sum::<u32>() + c * 100;
        let it = span(next(&mut c), next(&mut c));
        c += 50;
        out[1] = it.map(|x| x + c).sum();
        out[2] = sum_twice(span(1, n)) + sum_twice([3, 5].iter().copied());
        let (a, b, left) = first_two(span(next(&mut c), n));
        out[3] = a.unwrap() * 100 + b.unwrap_or(0) * 10 + left;
        let mut seen = 0;
        out[4] = counted(|x| x * 2, span(2, n).inspect(|_| {})) + counted(adder(n), [1, 2, 3]) + counted(compose(adder(1), |x| x * x), 0..4);
        for x in span(0, n) { seen += x; if seen > 5 { break; } }
        'outer: for x in span(1, n) {
            for y in span(x, 3) { if x * y == 6 { continue 'outer; } if x + y > 9 { break 'outer; } out[5] += x * 10 + y; }
        }
        out[6] = find_first(20, n).unwrap_or(999) * 1000 + find_first(2, 8).unwrap_or(seen);
        let mut up = counter(n);
        out[7] = up() * 100 + up();
        let mut other = counter(1);
        out[8] = other() + up();
        out[9] = Up(n).total() * 100 + Down(n).total() + Down(n).steps().count() as u32;
        let mut ring = Ring { data: [1, 2, 3], head: 1 };
        for x in ring.iter_mut() { *x *= n; }
        ring.iter_mut().enumerate().for_each(|(i, x)| *x += i as u32);
        out[10] = ring.iter().fold(0, |h, x| h * 7 + x);
        let (p, q) = ([1u32, 2, 3], [9u32, 8]);
        let (p, q) = (q.iter(), p.iter());
        out[11] = p.fold(0, |h, x| h * 10 + x) * 1000 + q.rev().fold(0, |h, x| h * 10 + x) + evens(&[5u32, 6, 7]).sum::<u32>();
        out
    }
    #[task]
    fn leaf(x: u32) -> u32 { x * x }
    #[task]
    pub fn spawned(n: u32) -> u32 {
        let mut t = 0;
        for x in span(n, 5).filter(|x| x % 2 == 1) {
            if x == n + 3 { continue; }
            t += spawn!(leaf(x));
        }
        sync!();
        let mut it = span(1, n);
        while let Some(x) = it.next() {
            if x % 3 == 0 { it.next(); }
            let y = spawn!(leaf(x));
            sync!();
            t += y;
        }
        t
    }

    fn closed(items: impl Iterator<Item = u32>, step: u32) -> u32 {
        let more = |x: u32| x * 1000 + step;
        items.map(more).sum()
    }

    /// Closures by their names, which mean others where the iterator goes.
    #[task]
    pub fn closures_by_name(a: [u32; 4], n: u32) -> (u32, u32, u32) {
        let more = |x: &u32| *x + n;
        let odd = |x: &u32| x % 2 == 1;
        let kept = a.iter().map(more).filter(odd);
        let odd = |x: &u32| *x > 3;
        (
            closed(a.iter().map(more), 1),
            closed(a.iter().copied().filter(odd), n),
            kept.sum(),
        )
    }
}

millstream_tests::cases! {
    closures_by_name([1, 2, 3, 4], 1);
    closures_by_name([1, 2, 3, 4], 6);
    names(5);
    effects(4);
    effects(9);
    spawned(4);
}
