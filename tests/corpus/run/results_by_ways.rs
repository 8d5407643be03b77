//! A place is given, or adds, what one of several ways ends with: a child's result, or a value that is there.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    enum Repeat {
        Once,
        Star,
        Plus,
        Maybe,
    }
    const PATTERN: [(u8, Repeat); 5] = [
        (b'a', Repeat::Star),
        (b'.', Repeat::Plus),
        (b'b', Repeat::Maybe),
        (b'.', Repeat::Star),
        (b'a', Repeat::Once),
    ];

    /// In how many ways the pattern matches the whole text.
    #[task]
    pub fn ways(text: &[u8], at: usize, inside: bool) -> u64 {
        let Some(&(byte, repeat)) = PATTERN.get(at) else {
            return text.is_empty() as u64;
        };
        let mut total = 0u64;
        if match repeat {
            Repeat::Star | Repeat::Maybe => true,
            Repeat::Plus => inside,
            Repeat::Once => false,
        } {
            total += spawn!(ways(text, at + 1, false));
        }
        if let [c, rest @ ..] = text
            && (byte == b'.' || byte == *c)
        {
            total += match repeat {
                Repeat::Once | Repeat::Maybe => spawn!(ways(rest, at + 1, false)),
                Repeat::Star | Repeat::Plus => spawn!(ways(rest, at, true)),
            };
        }
        sync!();
        total
    }

    /// Steps to 1 of each number, by ways of their own.
    #[task]
    pub fn steps(n: u64) -> u64 {
        let mut more = 0;
        more = if n % 2 == 0 {
            1 + spawn!(steps(n / 2))
        } else if n > 1 {
            let next = 3 * n + 1;
            spawn!(steps(next)) + 1
        } else {
            return more;
        };
        sync!();
        more
    }

    #[task]
    pub fn all(numbers: &[u64], most: &mut [u64]) -> u64 {
        let mut best = 0;
        for (i, n) in numbers.iter().enumerate() {
            most[i] = match *n {
                0 => continue,
                n if n > 20 => {
                    let half = n / 2;
                    spawn!(steps(half))
                }
                n => spawn!(steps(n)),
            };
            best |= if i % 3 == 1 { spawn!(steps(*n)) } else { spawn!(steps(n + 1)) };
        }
        sync!();
        best
    }

    /// Ways that give nothing, as the task or the run ends there.
    #[task]
    pub fn some(n: u64) -> u64 {
        let mut total = 0;
        total += match n % 5 {
            0 => spawn!(steps(n + 1)),
            1 => {
                if n > 20 {
                    return 6;
                } else {
                    return 7;
                }
            }
            2 => {
                return 8;
            }
            3 => spawn!(steps(n)),
            4 => unreachable!(),
            _ => panic!("a remainder by 5"),
        };
        sync!();
        total
    }
}

millstream_tests::cases! {
    some(10);
    some(21);
    some(11);
    some(7);
    some(13);
    ways(b"", 0, false);
    ways(b"aabacaba", 0, false);
    ways(b"abbababbaaba", 0, false);
    steps(1);
    steps(27);
    all(&[3, 0, 1, 30, 7, 12], &mut [9, 9, 9, 9, 9, 9]);
}
