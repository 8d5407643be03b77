//! Iterators that functions give, in loops in loops.

#[millstream::program]
pub mod program {
    fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> { (0..n).flat_map(move |i| (i + 1..n).map(move |j| (i, j))) }
    fn up(n: usize) -> impl Iterator<Item = usize> { (0..n).filter(|x| x % 2 == 0) }
    #[task]
    pub fn f(n: usize) -> usize {
        let a: usize = (0..n).flat_map(|i| up(i)).sum();
        let b: usize = (0..n).flat_map(|i| up(i).map(move |x| x + i)).sum();
        let mut c = 0;
        for x in (0..n).flat_map(|i| pairs(i).map(move |(x, y)| x * i + y)) { c += x; }
        a + b + c
    }
    #[task]
    pub fn g(n: usize) -> usize {
        (0..4usize).flat_map(|i| up(i + n).map(move |y| y)).sum::<usize>()
    }
}

millstream_tests::cases! {
    f(6);
    g(6);
}
