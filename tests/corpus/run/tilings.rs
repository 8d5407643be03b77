//! All ways to cover a board with pieces of three squares: a loop with ways out of its middle, which spawns where it comes to its end.

#[millstream::program]
pub mod program {
    const PIECES: [[(i32, i32); 3]; 6] = [
        [(0, 0), (0, 1), (0, 2)],
        [(0, 0), (1, 0), (2, 0)],
        [(0, 0), (0, 1), (1, 0)],
        [(0, 0), (0, 1), (1, 1)],
        [(0, 0), (1, 0), (1, 1)],
        [(0, 0), (1, 0), (1, -1)],
    ];
    #[task]
    pub fn tile(board: u64) -> u64 {
        let cell = (!board).trailing_zeros();
        if cell >= 48 {
            return 1;
        }
        let (r, c) = ((cell / 8) as i32, (cell % 8) as i32);
        let mut sum = 0u64;
        for piece in PIECES {
            let mut mask = 0u64;
            let mut fits = true;
            for (dr, dc) in piece {
                let (y, x) = (r + dr, c + dc);
                if y < 0 || y >= 6 || x < 0 || x >= 8 {
                    fits = false;
                    break;
                }
                let bit = 1u64 << (y * 8 + x);
                if board & bit != 0 {
                    fits = false;
                    break;
                }
                mask |= bit;
            }
            if fits {
                sum += spawn!(tile(board | mask));
            }
        }
        sync!();
        sum
    }
}

/// The board, of which so many rows and columns are free.
fn board(rows: u64, columns: u64) -> u64 {
    let row = 0xff << columns & 0xff;
    (0..8).fold(0, |all, r| all | (if r < rows { row } else { 0xff }) << (8 * r))
}

millstream_tests::cases! {
    tile(board(0, 0));
    tile(board(2, 2));
    tile(board(3, 4));
    tile(board(4, 6));
    tile(board(6, 5));
}
