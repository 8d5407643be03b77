//! Constants: arithmetic, tables, structs, lengths.

#[millstream::program]
pub mod program {
    const N: usize = 4;
    const LAST: usize = N * 2 - 1;
    const MASK: u32 = !0 >> (32 - N as u32);
    const PRIMES: [u32; N] = [2, 3, 5, 7];
    const GRID: [[i8; 3]; 2] = [[1, 2, 3], [-1, -2, -3]];
    const ORIGIN: Point = Point { x: 1, y: -1 };
    const NEGATIVE: i64 = -(1 << 40);
    const BIG: bool = N > 3 && LAST == 7;

    #[derive(Clone, Copy)]
    struct Point {
        x: i32,
        y: i32,
    }

    #[task]
    pub fn use_them(i: usize) -> (usize, u32, u32, i8, i32, i64, bool) {
        let mut room = [0u32; LAST];
        room[i] = PRIMES[i % N];
        (room.len(), MASK, room[i], GRID[i % 2][i % 3], ORIGIN.x - ORIGIN.y, NEGATIVE, BIG)
    }
}

millstream_tests::cases! {
    use_them(0);
    use_them(3);
    use_them(5);
}
