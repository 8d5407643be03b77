//! 64-bit values where the sign bit matters.

#[millstream::program]
pub mod program {
    #[task]
    pub fn mulhi(a: u64, b: u64) -> u64 {
        let (al, ah) = (a & 0xffff_ffff, a >> 32);
        let (bl, bh) = (b & 0xffff_ffff, b >> 32);
        let mid = ah * bl + (al * bl >> 32);
        let mid2 = al * bh + (mid & 0xffff_ffff);
        ah * bh + (mid >> 32) + (mid2 >> 32)
    }

    #[task]
    pub fn compare(a: u64, b: i64) -> (bool, bool, u64, i64, u64) {
        (a > 1 << 63, (a as i64) < b, a / 3, b / 3, a % 1000)
    }
}

millstream_tests::cases! {
    mulhi(u64::MAX, u64::MAX);
    mulhi(1 << 63, 6);
    compare(u64::MAX, -1);
    compare(1 << 63, i64::MIN);
}
