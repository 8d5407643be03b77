//! A guard that fails for one case of an arm is asked again for the next that fits.
#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum Side {
        Left(u32),
        Right(u32),
    }

    #[task]
    pub fn first_large(a: Option<u32>, b: Option<u32>) -> u32 {
        match (a, b) {
            (Some(x), _) | (_, Some(x)) if x > 3 => x,
            _ => 0,
        }
    }

    /// How often the guard is asked comes to the same, too.
    #[task]
    pub fn asked(a: u32, b: u32) -> (u32, bool) {
        let mut n = 0;
        let found = match (a, b) {
            (1, _) | (_, 2) if {
                n += 1;
                n > 1
            } =>
            {
                true
            }
            _ => false,
        };
        (n, found)
    }

    #[task]
    pub fn sides(a: u32, b: u32) -> u32 {
        let pair = (Side::Left(a), Side::Right(b));
        let small = matches!(pair, (Side::Left(x), _) | (_, Side::Right(x)) if x < 5);
        match pair {
            (Side::Left(x), _) | (_, Side::Right(x)) if x % 7 == 0 => x + small as u32,
            (Side::Left(1 | 2), _) if small => 100,
            _ => 200,
        }
    }
}

millstream_tests::cases! {
    first_large(Some(1), Some(5));
    first_large(Some(4), Some(5));
    first_large(None, Some(3));
    asked(1, 2);
    asked(1, 3);
    asked(3, 2);
    sides(8, 14);
    sides(1, 3);
    sides(9, 4);
}
