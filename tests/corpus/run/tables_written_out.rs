//! Loops that go over constant tables: by reference and by value, within each other, left early, with copies that change, and with tables that are
//! looked up by what nobody knows beforehand.

#[millstream::program]
pub mod program {
    const LINES: [[usize; 3]; 8] =
        [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];
    const STEPS: [(i32, i32); 4] = [(1, 0), (0, 1), (-1, 0), (0, -1)];
    const ODD: [f32; 3] = [f32::NAN, -0.0, f32::INFINITY];
    const WIDE: [u64; 40] = [3; 40];
    const GRID: &[&[u8]] = &[b"ab", b"", b"cde"];
    const FLAGS: [Option<bool>; 3] = [None, Some(true), Some(false)];

    fn winner(cells: [u8; 9]) -> u8 {
        for [a, b, c] in LINES {
            if cells[a] != 0 && cells[a] == cells[b] && cells[b] == cells[c] {
                return cells[a];
            }
        }
        0
    }

    /// The copy changes while it is gone over.
    fn changed(by: usize) -> u64 {
        let mut table = [1u64, 2, 3, 4];
        let mut sum = 0;
        for i in 0..table.len() {
            sum = sum * 10 + table[i];
            table[(i + by) % 4] += 5;
        }
        sum
    }

    /// Two tables come to one place.
    fn either(first: bool) -> u64 {
        let mut table = [7u64, 8, 9];
        if first {
            table = [1, 2, 3];
        }
        table.iter().fold(0, |s, x| s * 10 + x)
    }

    fn odd(at: usize) -> (u32, u32) {
        let mut bits = 0;
        let mut nans = 0;
        for x in ODD {
            bits ^= if x.is_nan() { 1 } else { x.to_bits() };
            nans += x.is_nan() as u32;
        }
        (bits.rotate_left(3) ^ ODD[at].is_sign_negative() as u32, nans)
    }

    fn texts() -> u64 {
        let mut all = 0u64;
        for (i, row) in GRID.iter().enumerate() {
            for c in row.iter() {
                all = all * 31 + *c as u64 * (i as u64 + 1);
            }
        }
        for flag in FLAGS.iter().rev() {
            all = all * 3 + match flag {
                None => 0,
                Some(f) => 1 + *f as u64,
            };
        }
        all
    }

    fn looked_up(mut x: u64) -> u64 {
        let mut sum = 0;
        for _ in 0..5 {
            sum += WIDE[(x % 40) as usize] + LINES[(x % 8) as usize][2] as u64;
            x = x / 3 + 1;
        }
        sum
    }

    #[task]
    pub fn walks(x: i32, y: i32, left: u32) -> u32 {
        if left == 0 {
            return (x == 0 && y == 0) as u32;
        }
        let mut total = 0;
        for (dx, dy) in STEPS {
            if (x + dx).abs() + (y + dy).abs() < left as i32 + 1 {
                total += spawn!(walks(x + dx, y + dy, left - 1));
            }
        }
        sync!();
        total
    }

    /// All boards that `cells` may become in so many moves.
    #[task]
    pub fn games(cells: [u8; 9], player: u8, moves: u32) -> [u32; 3] {
        let won = winner(cells);
        let mut counts = [0; 3];
        if won != 0 || moves == 0 {
            counts[won as usize] = 1;
            return counts;
        }
        let mut parts = [[0u32; 3]; 9];
        for at in 0..9 {
            if cells[at] == 0 {
                let mut next = cells;
                next[at] = player;
                parts[at] = spawn!(games(next, 3 - player, moves - 1));
            }
        }
        sync!();
        for part in parts {
            for i in 0..3 {
                counts[i] += part[i];
            }
        }
        counts
    }

    #[task]
    pub fn all(at: usize, x: u64) -> (u64, u64, (u32, u32), u64, u64) {
        (changed(at), either(x > 5), odd(at), texts(), looked_up(x))
    }
}

millstream_tests::cases! {
    walks(0, 0, 6);
    games([1, 0, 0, 0, 2, 0, 0, 0, 0], 1, 5);
    all(0, 3);
    all(1, 777);
    all(2, 12345678901);
}
