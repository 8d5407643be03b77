//! Types that only a later use decides, as in Rust.

#[millstream::program]
pub mod program {
    #[task]
    pub fn infer(s: &mut [u8]) -> (u16, f32, i32, usize) {
        let mut a = 0;
        let mut b = 1.5;
        let c = 7;
        let mut n = 0;
        while n < s.len() {
            a += s[n] as u16;
            b *= 2.0f32;
            n += 1;
        }
        let mut fresh = [0; 3];
        fresh[1] = s[0];
        s[1] = fresh[1];
        (a, b, c, n)
    }
}

millstream_tests::cases! {
    infer(&mut [250, 5, 9]);
}
