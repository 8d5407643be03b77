//! `match` on integers: values, negative ones, ranges, alternatives, guards, names.

#[millstream::program]
pub mod program {
    const LIMIT: i32 = 50;

    #[task]
    pub fn class(n: i32) -> i32 {
        match n {
            i32::MIN..=-100 => 1,
            -99..=-2 => 2,
            -1 | 1 => 3,
            0 => 4,
            LIMIT => 5,
            x if x % 2 == 0 => x / 2,
            x @ 2..=9 => x * 100,
            _ => 6,
        }
    }

    #[task]
    pub fn byte(b: u8) -> u8 {
        match b {
            b'0'..=b'9' => b - b'0',
            b'a'..=b'f' => b - b'a' + 10,
            250.. => 200,
            _ => 255,
        }
    }
}

millstream_tests::cases! {
    class(-1000);
    class(-99);
    class(-2);
    class(-1);
    class(0);
    class(50);
    class(48);
    class(7);
    class(77);
    byte(b'7');
    byte(b'c');
    byte(251);
    byte(b'z');
}
