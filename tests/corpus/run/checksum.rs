//! A program that is checked for overflow, and has none.

#[millstream::program(checked)]
pub mod program {
    #[task]
    pub fn adler(data: &[u8]) -> u32 {
        let (mut a, mut b) = (1u32, 0u32);
        for &x in data {
            a = (a + x as u32) % 65521;
            b = (b + a) % 65521;
        }
        b << 16 | a
    }

    #[task]
    pub fn signed(n: i32) -> i32 {
        let low = i32::MIN + n;
        let mut x = low / 2;
        x -= n * 3;
        x.wrapping_mul(1000003) ^ (-n).abs()
    }
}

millstream_tests::cases! {
    adler(&b"levelized".to_vec());
    signed(11);
}
