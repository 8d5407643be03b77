//! Constants that are references to what stands behind them: what a function gives, numbers, structs and tuples.

#[millstream::program]
pub mod program {
    const fn alphabet() -> [u8; 64] {
        let mut t = [0; 64];
        let mut i = 0u8;
        while i < 64 {
            t[i as usize] = match i {
                0..26 => b'A' + i,
                26..52 => b'a' + i - 26,
                52..62 => b'0' + i - 52,
                62 => b'+',
                _ => b'/',
            };
            i += 1;
        }
        t
    }
    const ALPHABET: &[u8; 64] = &alphabet();
    const STEP: &u32 = &7;
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Point {
        x: i32,
        y: (u8, f32),
    }
    impl Point {
        const ORIGIN: &'static Point = &Point { x: 0, y: (1, 0.5) };
        fn dist(&self) -> i32 {
            self.x * 2 + self.y.0 as i32
        }
    }
    static UNIT: &Point = &Point {
        x: 5,
        ..*Point::ORIGIN
    };
    const PAIR: &(u32, [u16; 3]) = &(3, [4, 5, *STEP as u16]);
    const LEN: usize = PAIR.1.len();
    fn sum(a: &[u16; LEN]) -> u16 {
        a.iter().sum()
    }
    #[task]
    pub fn run(n: u32) -> (u32, u8, Point, i32, u16) {
        let by: &u32 = STEP;
        let (a, b) = PAIR;
        (
            n * by + *STEP + STEP.pow(2) + a,
            ALPHABET[n as usize % 64] ^ ALPHABET.iter().fold(0, |x, y| x ^ y),
            *UNIT,
            UNIT.dist() - Point::ORIGIN.dist(),
            sum(&PAIR.1) + b[1],
        )
    }
}
millstream_tests::cases! {
    run(30);
    run(63);
}
