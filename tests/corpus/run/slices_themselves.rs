//! Patterns of slices themselves, `match *slice` and `let [a, b] = a[..2] else`: names are elements there, not references to them.

#[millstream::program]
pub mod program {
    fn f(xs: &[u32]) -> Option<(u32, u32)> {
        match *xs {
            [.., a, b] => Some((a, b)),
            _ => None,
        }
    }
    fn g(xs: &[u32]) -> u32 {
        if let [a, ..] = *xs { a } else { 0 }
    }
    fn h(xs: &mut [u32]) -> u32 {
        match *xs {
            [ref mut a, .., b] if b > 2 => {
                *a += b;
                *a
            }
            [x] | [x, _] => x,
            [] => 77,
            [ref rest @ .., _] => rest.len() as u32,
        }
    }
    fn k(xs: &[u32]) -> u32 {
        let [a, b] = xs[..2] else { return 5 };
        a * 10 + b
    }
    fn w(xs: &[[u32; 2]]) -> u32 {
        let mut s = 0;
        let mut at = xs;
        while let [[a, b], ref rest @ ..] = *at {
            s = s * 3 + a * b;
            at = rest;
        }
        s
    }
    fn m(xs: &[u8]) -> bool {
        matches!(*xs, [b'a', .., b'z'] | [b'q'])
    }
    #[task]
    pub fn elements(n: u32) -> (u32, u32, u32, u32, u32, bool) {
        let mut v = [n, 2, 3];
        let mut one = [n];
        (
            f(&v).map_or(9, |(a, b)| a + b) + f(&one).map_or(1, |_| 2),
            g(&v) + g(&[]),
            h(&mut v) * 100 + h(&mut one) + v[0] + h(&mut []),
            k(&v) + k(&v[..2]),
            w(&[[1, 2], [n, 4]]),
            m(b"abz") != m(b"q") || m(b"az"),
        )
    }
}

millstream_tests::cases! {
    elements(9);
    elements(2);
}
