//! `for` over ranges: half open, closed, backwards, in steps, empty.

#[millstream::program]
pub mod program {
    #[task]
    pub fn sums(lo: i32, hi: i32) -> [i32; 5] {
        let mut out = [0; 5];
        for i in lo..hi {
            out[0] = out[0] * 3 + i;
        }
        for i in lo..=hi {
            out[1] = out[1] * 3 + i;
        }
        for i in (lo..hi).rev() {
            out[2] = out[2] * 3 + i;
        }
        for i in (lo..hi).step_by(3) {
            out[3] = out[3] * 3 + i;
        }
        for i in (lo..=hi).rev().step_by(2) {
            out[4] = out[4] * 3 + i;
        }
        out
    }
}

millstream_tests::cases! {
    sums(0, 5);
    sums(-3, 3);
    sums(4, 4);
    sums(5, 2);
    sums(0, 10);
}
