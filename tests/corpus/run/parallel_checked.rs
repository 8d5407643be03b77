//! In checked programs what parallel loops gather wraps around, and nothing else does.

#[millstream::program(checked)]
pub mod program {
    #[task]
    pub fn gathered(n: u32) -> (u8, u32, i16, u32) {
        let (mut sum, mut left, mut product, mut own) = (250u8, 3u32, 1i16, 0u32);
        #[parallel]
        for i in 0..n {
            sum = sum.wrapping_add(i as u8);
            left = left.wrapping_sub(i);
            product = product.wrapping_mul(i as i16 | 1);
            own += i;
        }
        (sum, left, product, own)
    }

    /// From more than is taken away in all, which is less than nothing in each piece.
    #[task]
    pub fn left(n: u32) -> (u32, u64) {
        let (mut left, mut down) = (1 << 30, 1u64 << 40);
        #[parallel]
        for i in 0..n {
            left -= i;
        }
        #[parallel]
        for i in 0..n {
            down = down - u64::from(i);
            left += 1;
        }
        (left, down)
    }
}

millstream_tests::cases! {
    gathered(3);
    gathered(2000);
    left(3);
    left(2000);
}
