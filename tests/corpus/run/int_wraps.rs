//! Plain arithmetic wraps, as it does with `--release`.

#[millstream::program]
pub mod program {
    #[task]
    pub fn add(a: u8, b: u8) -> u8 {
        a + b
    }

    #[task]
    pub fn mix(a: i32, b: i32) -> i32 {
        let mut x = a * b;
        x += a;
        x -= b * 7;
        x *= 3;
        -x
    }

    #[task]
    pub fn down(n: u32) -> u32 {
        n - 1
    }
}

millstream_tests::cases! {
    add(200, 100);
    mix(i32::MAX, 3);
    mix(65536, 65536);
    down(0);
}
