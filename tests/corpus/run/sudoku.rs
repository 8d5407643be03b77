//! A search that copies its board, four by four.

#[millstream::program]
pub mod program {
    fn fits(board: &[u8; 16], at: usize, digit: u8) -> bool {
        let (row, column) = (at / 4, at % 4);
        for i in 0..4 {
            let block = (row / 2 * 2 + i / 2) * 4 + column / 2 * 2 + i % 2;
            if board[row * 4 + i] == digit || board[i * 4 + column] == digit || board[block] == digit {
                return false;
            }
        }
        true
    }

    #[task]
    pub fn solve(board: [u8; 16], at: usize) -> u32 {
        if at == 16 {
            return 1;
        }
        if board[at] != 0 {
            let rest = spawn!(solve(board, at + 1));
            sync!();
            return rest;
        }
        let mut count = 0;
        for digit in 1..=4 {
            if fits(&board, at, digit) {
                let mut next = board;
                next[at] = digit;
                count += spawn!(solve(next, at + 1));
            }
        }
        sync!();
        count
    }
}

millstream_tests::cases! {
    solve([0; 16], 0);
    solve([1, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 3], 0);
}
