//! Arrays and structs that are copied and copied again, with changes between, of variables, of slices and of tables.

#[millstream::program]
pub mod program {
    const ROWS: [[u32; 4]; 3] = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]];

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Board {
        cells: [u16; 6],
        turn: u8,
        last: Option<[u8; 3]>,
    }

    impl Board {
        fn play(mut self, at: usize) -> Option<Self> {
            if self.cells[at] != 0 {
                return None;
            }
            self.cells[at] = self.turn as u16 + 1;
            self.last = Some([at as u8, self.turn, at as u8 * 2]);
            self.turn ^= 1;
            Some(self)
        }

        fn swapped(self) -> (Self, [u16; 6]) {
            let before = self.cells;
            let mut cells = before;
            cells.reverse();
            (Board { cells, ..self }, before)
        }

        fn sum(&self) -> u64 {
            let all = self.cells.iter().fold(0u64, |s, c| s * 7 + *c as u64);
            all * 3 + self.turn as u64 + self.last.map_or(0, |l| l[0] as u64 + l[2] as u64 * 5)
        }
    }

    /// The row is the table's or the slice's, and the slice changes behind the copy.
    fn either(rows: &mut [[u32; 4]], table: bool) -> u64 {
        let row = if table { &ROWS[1] } else { &rows[1] };
        let copy = *row;
        rows[1] = [100; 4];
        let again = copy;
        rows[0] = again;
        (again[0] + copy[3] * 2) as u64 * 1000 + rows[0][2] as u64 + rows[1][2] as u64
    }

    /// What is moved about lies in the same array.
    fn moved(rows: &mut [[u32; 4]]) -> u64 {
        let first = rows[0];
        rows[0] = rows[2];
        rows[2] = first;
        let kept = rows[0];
        rows[0] = rows[1];
        rows[1] = kept;
        let mut grid = [[0u32; 4]; 3];
        for (to, from) in grid.iter_mut().zip(rows.iter()) {
            *to = *from;
        }
        let top = grid[0];
        grid[0] = grid[1];
        grid[1] = top;
        grid.iter().fold(0, |s, r| s * 31 + r.iter().fold(0u64, |t, x| t * 3 + *x as u64))
    }

    fn exchanged(n: u32) -> u32 {
        let (mut a, mut b) = ([n, 1, 2], [n + 5, 6, 7]);
        let mut seen = 0;
        for i in 0..3 {
            let t = a;
            a = b;
            b = t;
            a[i] += b[(i + 1) % 3];
            seen = seen * 5 + t[i] + a[2];
        }
        core::mem::swap(&mut a, &mut b);
        seen + a[0] * 100 + b[1]
    }

    #[task]
    pub fn games(board: Board, left: u32) -> u64 {
        if left == 0 {
            return board.sum();
        }
        let (other, before) = board.swapped();
        let mut parts = [0u64; 6];
        for at in 0..6 {
            if let Some(next) = (if left % 2 == 0 { board } else { other }).play(at) {
                parts[at] = spawn!(games(next, left - 1));
            }
        }
        sync!();
        parts.iter().zip(&before).fold(other.sum(), |s, (p, b)| s.wrapping_mul(31) ^ (p + *b as u64))
    }

    #[task]
    pub fn row_of(row: [u32; 4]) -> u32 {
        row[0] * 3 + row[3]
    }

    /// The child gets what was there when it was spawned.
    #[task]
    pub fn given(n: u32) -> (u32, u32, u32) {
        let mut row = ROWS[n as usize % 3];
        let kept = row;
        let a = spawn!(row_of(kept));
        row[0] = 1000;
        let b = spawn!(row_of(row));
        row = kept;
        let c = spawn!(row_of(row));
        row[3] = 77;
        sync!();
        (a, b, c + row[3])
    }

    #[task]
    pub fn all(n: u32) -> (u64, u64, u64, u32) {
        let mut rows = ROWS;
        let first = either(&mut rows, n % 2 == 0);
        let mut others = ROWS;
        others[1][2] = n;
        let second = either(&mut others, n % 3 == 0);
        (first, second, moved(&mut others), exchanged(n))
    }

    #[task]
    pub fn start(n: u32, left: u32) -> u64 {
        let board = Board { cells: [0, n as u16, 0, 0, 2, 0], turn: 0, last: None };
        spawn!(games(board, left))
    }
}

millstream_tests::cases! {
    start(0, 3);
    start(9, 4);
    given(0);
    given(2);
    all(1);
    all(2);
    all(6);
}
