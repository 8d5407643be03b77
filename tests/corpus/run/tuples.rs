//! Tuples: nested, indexed, taken apart, assigned to at once, compared.

#[millstream::program]
pub mod program {
    #[task]
    pub fn swap(a: i32, b: i32) -> (i32, i32) {
        let (mut x, mut y) = (a, b);
        (x, y) = (y, x);
        x += 1;
        (x, y)
    }

    #[task]
    pub fn nested(n: u8) -> ((u8, bool), [u16; 2], (f32,)) {
        let t = ((n, n > 3), [n as u16; 2], (n as f32 / 2.0,));
        let ((a, b), mut c, _) = t;
        c[1] += a as u16;
        if b { ((a, b), c, t.2) } else { (t.0, c, (0.5,)) }
    }

    #[task]
    pub fn same(a: i32, b: i32) -> (bool, bool) {
        ((a, b) == (1, 2), (a, b) != (b, a))
    }
}

millstream_tests::cases! {
    swap(1, 2);
    nested(3);
    nested(4);
    same(1, 2);
    same(5, 5);
}
