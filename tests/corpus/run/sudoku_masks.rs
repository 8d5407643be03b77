//! Sudoku by constraint propagation with bit masks.
#[millstream::program]
pub mod program {
    type Board = [[u8; 9]; 9];

    #[derive(Clone, Copy)]
    pub struct State {
        pub cells: Board,
        rows: [u16; 9],
        cols: [u16; 9],
        boxes: [u16; 9],
    }

    const fn box_of(r: usize, c: usize) -> usize {
        r / 3 * 3 + c / 3
    }

    impl State {
        fn new(cells: Board) -> State {
            let mut s = State { cells, rows: [0; 9], cols: [0; 9], boxes: [0; 9] };
            for r in 0..9 {
                for c in 0..9 {
                    if cells[r][c] != 0 {
                        s.place(r, c, cells[r][c]);
                    }
                }
            }
            s
        }

        fn place(&mut self, r: usize, c: usize, v: u8) {
            let bit = 1u16 << v;
            self.cells[r][c] = v;
            self.rows[r] |= bit;
            self.cols[c] |= bit;
            self.boxes[box_of(r, c)] |= bit;
        }

        fn options(&self, r: usize, c: usize) -> u16 {
            !(self.rows[r] | self.cols[c] | self.boxes[box_of(r, c)]) & 0x3fe
        }

        fn best_cell(&self) -> Option<(usize, usize, u16)> {
            let mut best: Option<(usize, usize, u16)> = None;
            for r in 0..9 {
                for c in 0..9 {
                    if self.cells[r][c] == 0 {
                        let o = self.options(r, c);
                        let fewer = match best {
                            Some((_, _, b)) => o.count_ones() < b.count_ones(),
                            None => true,
                        };
                        if fewer {
                            best = Some((r, c, o));
                        }
                    }
                }
            }
            best
        }
    }

    #[task]
    pub fn solve(state: State) -> u32 {
        let Some((r, c, mut options)) = state.best_cell() else {
            return 1;
        };
        let mut total = 0;
        while options != 0 {
            let v = options.trailing_zeros() as u8;
            options &= options - 1;
            let mut next = state;
            next.place(r, c, v);
            total += spawn!(solve(next));
        }
        sync!();
        total
    }

    #[task]
    pub fn count(cells: &[u8; 81]) -> u32 {
        let mut board = [[0; 9]; 9];
        for (row, line) in board.iter_mut().zip(cells.chunks(9)) {
            row.copy_from_slice(line);
        }
        let n = spawn!(solve(State::new(board)));
        sync!();
        n
    }
}
millstream_tests::cases! {
    count(&[5,3,0,0,7,0,0,0,0, 6,0,0,1,9,5,0,0,0, 0,9,8,0,0,0,0,6,0, 8,0,0,0,6,0,0,0,3, 4,0,0,8,0,3,0,0,1, 7,0,0,0,2,0,0,0,6, 0,6,0,0,0,0,2,8,0, 0,0,0,4,1,9,0,0,5, 0,0,0,0,8,0,0,7,9]);
}
