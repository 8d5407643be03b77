//! Constants that are references to tables, as slices and as arrays, and ranges that are asked what they contain.

#[millstream::program]
pub mod program {
    const PRIMES: &[u32] = &[2, 3, 5, 7];
    const LETTERS: &[u8; 5] = b"hello";
    const TEXT: &'static [u8] = b"a table";
    const ZEROS: &[[i16; 2]] = &[[0, -1]; N];
    const N: usize = PRIMES.len() - 1;
    const LAST: u32 = PRIMES[N];

    #[derive(Clone, Copy)]
    pub struct Shape;

    impl Shape {
        const SIDES: &[(u8, f32)] = &[(3, 0.5), (4, 1.0)];
    }

    fn sum(values: &[u32]) -> u32 {
        let mut s = 0;
        for v in values {
            s += v;
        }
        s
    }

    fn kind(c: u8) -> u32 {
        if (b'a'..=b'g').contains(&c) {
            1
        } else if (..b'a').contains(&c) || !(..=b'y').contains(&c) {
            2
        } else {
            3
        }
    }

    #[task]
    pub fn look(n: usize, table: &[u32]) -> u32 {
        const OWN: &[u16] = &[7; 3];
        if !(1..table.len()).contains(&n) {
            return OWN[n % 3] as u32;
        }
        let rest = spawn!(look(n - 1, &PRIMES[..n]));
        sync!();
        let (sides, _) = Shape::SIDES[n % 2];
        rest * 3 + table[n] + sides as u32 + kind(LETTERS[n]) + kind(TEXT[n]) + ZEROS[N - 1][0] as u32
    }

    #[task]
    pub fn all(n: usize, x: f32) -> (u32, u32, bool, bool) {
        let seen = spawn!(look(n, PRIMES));
        sync!();
        (seen, sum(PRIMES) + LAST, (0.5..1.5).contains(&x), (n..).contains(&PRIMES.len()))
    }
}

millstream_tests::cases! {
    all(0, 0.5);
    all(3, 1.5);
    all(4, f32::NAN);
}
