//! Constants that hold references to arrays, structs and numbers, in arrays and tuples.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Step {
        pub row: i32,
        pub column: i32,
    }

    const LINES: [&[u8; 5]; 3] = [b"#..#.", b"..#..", &[b'#', b'.', b'.', b'.', b'#']];
    const WORDS: &[&[u8; 2]] = &[b"ab", b"bc", b"ca"];
    const STEPS: [&Step; 2] = [&Step { row: 1, column: 0 }, &Step { row: -1, column: 2 }];
    const PRIMES: (&u32, [&u32; 2]) = (&2, [&3, &5]);
    const KINDS: [(&[u8; 2], &[u32]); 2] = [(b"xy", &[1, 2, 3]), (b"zw", &[])];
    const GRID: [[&[u8]; 2]; 2] = [[b"a", b"bc"], [b"def", b""]];

    fn walls(line: &[u8; 5]) -> u32 {
        line.iter().filter(|c| **c == b'#').count() as u32
    }

    /// The walls of the lines, and of them all again.
    #[task]
    pub fn all(from: usize, to: usize) -> u32 {
        if to - from == 1 {
            return walls(LINES[from]);
        }
        let middle = (from + to) / 2;
        let [a, b] = [spawn!(all(from, middle)), spawn!(all(middle, to))];
        sync!();
        a + b + LINES.iter().map(|line| walls(line)).sum::<u32>()
    }

    #[task]
    pub fn steps(n: usize) -> i32 {
        let mut at = Step { row: 3, column: 4 };
        for step in STEPS {
            at.row += step.row * n as i32;
            at.column -= step.column;
        }
        let step = STEPS[n % 2];
        at.row * 100 + at.column * 10 + step.row + *PRIMES.1[n % 2] as i32 + *PRIMES.0 as i32
    }

    #[task]
    pub fn words(n: usize) -> u32 {
        let mut sum = 0;
        for word in WORDS {
            sum = sum * 3 + (word[0] + word[1]) as u32;
        }
        let (name, numbers) = KINDS[n % 2];
        let row = GRID[n % 2];
        sum + name[1] as u32 + numbers.iter().sum::<u32>() + row[0].len() as u32 + GRID[0][1][1] as u32
    }
}

millstream_tests::cases! {
    all(0, 1);
    all(0, 3);
    steps(0);
    steps(5);
    words(0);
    words(1);
}
