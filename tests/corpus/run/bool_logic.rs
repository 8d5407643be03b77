//! Operators of bools, and which of them look at their right side.

#[millstream::program]
pub mod program {
    fn mark(seen: &mut u32, bit: u32, value: bool) -> bool {
        *seen |= 1 << bit;
        value
    }

    #[task]
    pub fn lazy(a: bool, b: bool) -> (bool, bool, u32) {
        let mut seen = 0;
        let and = mark(&mut seen, 0, a) && mark(&mut seen, 1, b);
        let or = mark(&mut seen, 2, a) || mark(&mut seen, 3, b);
        (and, or, seen)
    }

    #[task]
    pub fn eager(a: bool, b: bool) -> (bool, bool, bool, bool, bool) {
        let mut c = a;
        c |= b;
        (a & b, a | b, a ^ b, !a, c)
    }
}

millstream_tests::cases! {
    lazy(false, false);
    lazy(false, true);
    lazy(true, false);
    lazy(true, true);
    eager(true, false);
}
