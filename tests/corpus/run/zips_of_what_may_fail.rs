//! What calls functions, indexes or divides, beside places that are written.

#[millstream::program]
pub mod program {
    fn twice(x: u32) -> u32 {
        x * 2
    }

    fn more(x: &u32) -> u32 {
        x + 1
    }

    fn scale(a: &[u32], out: &mut [u32]) {
        for (x, o) in a.iter().rev().map(more).zip(out) {
            *o = x;
        }
    }

    struct Sums {
        all: [u32; 4],
    }

    impl Sums {
        fn add(&mut self, n: u32) {
            for (x, o) in (0..=n).map(twice).zip(self.all.iter_mut()) {
                *o += x;
            }
            for (x, o) in [n, 1, 2].into_iter().map(twice).zip(&mut self.all) {
                *o += x;
            }
        }
    }

    #[task]
    pub fn written(n: u32) -> ([u32; 3], [u32; 3], [u32; 4]) {
        let t = [1u32, 2, n + 1];
        let (mut out, mut scaled, mut sums) = ([0u32; 3], [0u32; 3], Sums { all: [1; 4] });
        for (x, o) in (1..=3u32).map(twice).zip(&mut out) {
            *o = x;
        }
        for (x, o) in (0..=2usize).map(|i| t[i]).zip(&mut out) {
            *o += x;
        }
        for (x, o) in t.into_iter().map(|x| 60 / x).zip(&mut out) {
            *o += x + n;
        }
        for (x, o) in t.iter().take(2).map(more).zip(out.iter_mut()) {
            *o += x;
        }
        t.iter().rev().map(|x| t[*x as usize % 3]).zip(&mut out).for_each(|(x, o)| *o += x * n);
        scale(&t, &mut scaled);
        sums.add(n);
        (out, scaled, sums.all)
    }

    /// One more is made than there are places, and changes what it is to change.
    #[task]
    pub fn counted(n: u32) -> (u32, [u32; 2], u32) {
        let (mut out, mut c) = ([0u32; 2], 0);
        let t = [1u32, 2, n];
        for (x, o) in t.iter().rev().map(|x| { c += 1; *x }).zip(&mut out) {
            *o = x;
        }
        let first = c;
        for (x, o) in (1..=n).map(|x| { c += 1; x }).zip(out.iter_mut()) {
            *o += x;
        }
        (first, out, c)
    }
}

millstream_tests::cases! {
    written(0);
    written(5);
    counted(0);
    counted(7);
}
